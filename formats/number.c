/* number.c - the exact value of a text; see number.h. */
#include "number.h"

/* ---- integers of limbs, the lowest first; n limbs, of which the highest may be zero ---- */

/* x = x factor + carry. Returns the new number of limbs. */
static size_t times_plus(uint32_t *x, size_t n, uint32_t factor, uint32_t plus) {
    uint64_t carry = plus;
    for (size_t i = 0; i < n; i++) {
        carry += (uint64_t)x[i] * factor;
        x[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) x[n++] = (uint32_t)carry;
    return n;
}

/* x = x 5^k. */
static size_t times_power_of_five(uint32_t *x, size_t n, uint64_t k) {
    for (; k >= 13; k -= 13) n = times_plus(x, n, 1220703125u, 0);
    for (; k > 0; k--) n = times_plus(x, n, 5, 0);
    return n;
}

/* y (n + count + 1) = x 2^(32 count + bits), bits < 32; y may be x. Returns the number of limbs. */
static size_t shift_left(uint32_t *y, const uint32_t *x, size_t n, size_t count, uint32_t bits) {
    y[n + count] = 0;
    for (size_t i = n; i-- > 0;) {
        const uint64_t wide = (uint64_t)x[i] << bits;
        y[i + count + 1] |= (uint32_t)(wide >> 32);
        y[i + count] = (uint32_t)wide;
    }
    for (size_t i = 0; i < count; i++) y[i] = 0;
    return n + count + 1;
}

/* Knuth 1997, The Art of Computer Programming 2, section 4.3.1, algorithm D. */
uint32_t ulp_limb_divide(uint32_t *u, const uint32_t *v, size_t n) {
    const uint64_t top = (uint64_t)u[n] << 32 | u[n - 1], below = n > 1 ? u[n - 2] : 0, next = n > 1 ? v[n - 2] : 0;
    uint64_t q = top / v[n - 1], rest = top % v[n - 1];
    while (q >> 32 != 0 || q * next > (rest << 32 | below)) {
        q--;
        rest += v[n - 1];
        if (rest >> 32 != 0) break;
    }
    uint64_t borrow = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t product = q * v[i] + borrow;
        borrow = (product >> 32) + ((uint32_t)product > u[i]);
        u[i] -= (uint32_t)product;
    }
    const int is_too_large = borrow > u[n];
    u[n] -= (uint32_t)borrow;
    if (!is_too_large) return (uint32_t)q;
    uint64_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        carry += (uint64_t)u[i] + v[i];
        u[i] = (uint32_t)carry;
        carry >>= 32;
    }
    u[n] += (uint32_t)carry;
    return (uint32_t)(q - 1);
}

/* The exact number (-1)^neg (x + s) 2^exp without its bits from 2^modulo on; 0 < s < 1 if sticky, else s = 0. */
static ulp_exact exact_of(uint32_t neg, uint32_t *x, size_t n, uint32_t sticky, int32_t exp, int32_t modulo) {
    if (modulo != ULP_NUMBER_ALL) {
        const int64_t bits = (int64_t)modulo - exp;
        const size_t whole = bits <= 0 ? 0 : (size_t)bits / 32;
        if (whole < n) {
            x[whole] &= bits <= 0 ? 0 : (1u << bits % 32) - 1;
            n = whole + 1;
        }
    }
    while (n > 0 && x[n - 1] == 0) n--;
    if (n == 0 && !sticky) return ulp_exact_special(ULP_EXACT_ZERO, neg);
    if (n == 0) return ulp_exact_pack(neg, 1, 0, 1, exp - 192); /* below 2^exp, far from every number of a format */
    uint64_t top[3] = {0, 0, 0};                                /* the upper six limbs */
    for (size_t i = 0; i < 6 && i < n; i++) top[i / 2] |= (uint64_t)x[n - 1 - i] << (i % 2 ? 0 : 32);
    for (size_t i = 6; i < n; i++) sticky |= (uint32_t)(x[n - 1 - i] != 0);
    const int32_t zeros = ulp_leading_zeros(top[0]);
    const uint64_t hi = zeros ? top[0] << zeros | top[1] >> (64 - zeros) : top[0];
    const uint64_t lo = zeros ? top[1] << zeros | top[2] >> (64 - zeros) : top[1];
    sticky |= (uint32_t)(top[2] << zeros != 0);
    return ulp_exact_pack(neg, hi, lo, sticky, exp + 32 * ((int32_t)n - 4) - zeros);
}

/* ---- texts ---- */

/* The digits of a text, and the exponent of its last digit. */
typedef struct digits {
    const char *first, *end; /* digits and at most one point */
    int64_t exponent;        /* of ten, or of two */
    size_t count;            /* digits from the first that is not zero to the last that is not zero */
    uint32_t neg;
} digits;

enum { FAR = 400, EXPONENT_MOST = 1000000000 };

static int32_t digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/* [+-] digits after e or p: at most EXPONENT_MOST in magnitude. Returns the character after it; `text` if none. */
static const char *read_exponent(int64_t *exponent, const char *text, const char *end) {
    const char *at = text;
    int64_t e = 0;
    const int minus = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *const first = at;
    for (; at < end && *at >= '0' && *at <= '9'; at++) e = e < EXPONENT_MOST ? 10 * e + (*at - '0') : EXPONENT_MOST;
    *exponent = minus ? -e : e;
    return at == first ? text : at;
}

/* Finds the digits of `base`. Returns 0 if the text has another form. */
static int find_digits(digits *d, const char *text, const char *end, int32_t base) {
    const char *at = text, *point = NULL, *last = NULL, *leading = NULL;
    size_t all = 0;
    for (; at < end && (digit_of(*at) < base || (*at == '.' && point == NULL)); at++) {
        if (*at == '.') {
            point = at;
            continue;
        }
        all++;
        if (*at != '0') last = at;
        if (*at != '0' && leading == NULL) leading = at;
    }
    if (all == 0) return 0;
    const char *const after = at;
    int64_t exponent = 0;
    if (at < end && (*at | 0x20) == (base == 10 ? 'e' : 'p')) {
        at = read_exponent(&exponent, at + 1, end);
        if (at == after + 1) return 0;
    }
    if (at != end) return 0;
    d->first = leading == NULL ? after : leading;
    d->end = leading == NULL ? after : last + 1;
    d->count = 0;
    for (at = d->first; at < d->end; at++) d->count += *at != '.';
    /* the digits after the last one that is not zero, up to the point, count */
    const int64_t unit = base == 10 ? 1 : 4;
    int64_t shift = 0;
    if (point == NULL || point >= d->end)
        for (at = d->end; at < (point == NULL ? after : point); at++) shift += 1;
    else shift = -(int64_t)(d->end - 1 - point);
    d->exponent = exponent + unit * shift;
    return 1;
}

/* A number beyond every range, or below every value of a format. */
static ulp_exact far_from_all(uint32_t neg, int is_large) {
    return ulp_exact_pack(neg, 1ull << 63, 0, 1, is_large ? 5000 : -5000);
}

/* The digits as an integer. Returns its number of limbs. */
static size_t read_digits(uint32_t *x, const digits *d, uint32_t base) {
    const uint32_t most = base == 10 ? 1000000000u : 1u << 28;
    uint32_t chunk = 0, power = 1;
    size_t n = 0;
    for (const char *at = d->first; at < d->end; at++) {
        if (*at == '.') continue;
        chunk = base * chunk + (uint32_t)digit_of(*at);
        power *= base;
        if (power == most) {
            n = times_plus(x, n, power, chunk);
            chunk = 0;
            power = 1;
        }
    }
    return times_plus(x, n, power, chunk);
}

static ulp_exact read_hex(const digits *d, int32_t modulo, uint32_t *room) {
    const int64_t top = d->exponent + 4 * (int64_t)d->count; /* the value is below 2^top */
    if (top < -4 * FAR || (top > 4 * FAR && modulo == ULP_NUMBER_ALL)) return far_from_all(d->neg, top > 0);
    if (d->exponent >= 4 * FAR) return ulp_exact_special(ULP_EXACT_ZERO, d->neg); /* a multiple of 2^modulo */
    return exact_of(d->neg, room, read_digits(room, d, 16), 0, (int32_t)d->exponent, modulo);
}

/* The value N 10^-k: N 2^s is divided by 5^k, so that the quotient has 160 bits or more, and its last bit the weight
 * 2^(modulo - 192) or less. */
static ulp_exact read_quotient(const digits *d, size_t n, uint64_t k, int32_t modulo, uint32_t *room) {
    uint32_t *const v = room + n + 1;
    v[0] = 1;
    size_t m = times_power_of_five(v, 1, k);
    uint32_t *const u = v + m + 1;
    uint32_t zeros = (uint32_t)ulp_leading_zeros((uint64_t)v[m - 1] << 32);
    shift_left(v, v, m, 0, zeros);
    size_t shift = n < m + 6 ? m + 6 - n : 0;
    if (modulo != ULP_NUMBER_ALL) {
        const int64_t least = (192 - (int64_t)modulo - (int64_t)k) / 32 + 1;
        if (least > (int64_t)shift) shift = (size_t)least;
    }
    n = shift_left(u, room, n, shift, zeros);
    uint32_t sticky = 0;
    for (size_t i = n - m; i-- > 0;) u[i + m] = ulp_limb_divide(u + i, v, m); /* the limb of the remainder there is 0 */
    for (size_t i = 0; i < m; i++) sticky |= (uint32_t)(u[i] != 0);
    return exact_of(d->neg, u + m, n - m, sticky, -(int32_t)(32 * shift) - (int32_t)k, modulo);
}

static ulp_exact read_decimal(const digits *d, int32_t modulo, uint32_t *room) {
    const int64_t top = d->exponent + (int64_t)d->count; /* the value is below 10^top */
    if (top < -FAR || (top > FAR && modulo == ULP_NUMBER_ALL)) return far_from_all(d->neg, top > 0);
    if (d->exponent > FAR) return ulp_exact_special(ULP_EXACT_ZERO, d->neg); /* a multiple of 2^modulo */
    size_t n = read_digits(room, d, 10);
    if (d->exponent < 0) return read_quotient(d, n, (uint64_t)-d->exponent, modulo, room);
    n = times_power_of_five(room, n, (uint64_t)d->exponent);
    return exact_of(d->neg, room, n, 0, (int32_t)d->exponent, modulo);
}

/* Whether the text is the word, in letters of either case. */
static int is_word(const char *text, const char *end, const char *word) {
    for (; *word != '\0' && text < end; word++, text++)
        if ((*text | 0x20) != *word) return 0;
    return *word == '\0' && text == end;
}

size_t ulp_number_room(size_t length) {
    /* 9.6 decimal digits, 13.7 powers of five or 8 hex digits are a limb; N, 5^k and N 2^s, with k < length + FAR */
    return length / 8 + (length + FAR) / 13 + (length + FAR) / 8 + 64;
}

ulp_status ulp_number_read(ulp_exact *x, const char *text, size_t length, int32_t modulo, uint32_t *room) {
    const char *const end = text + length;
    digits d = {NULL, NULL, 0, 0, 0};
    if (length > ULP_NUMBER_LONGEST) return ULP_BAD_ARGUMENT;
    d.neg = text < end && *text == '-';
    text += text < end && (*text == '-' || *text == '+');
    if (is_word(text, end, "nan")) *x = ulp_exact_special(ULP_EXACT_NAN, 0);
    else if (is_word(text, end, "inf") || is_word(text, end, "infinity")) *x = ulp_exact_special(ULP_EXACT_INF, d.neg);
    else {
        const int32_t base = end - text > 1 && text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
        if (!find_digits(&d, text + (base == 16 ? 2 : 0), end, base)) return ULP_BAD_ARGUMENT;
        if (d.count == 0) *x = ulp_exact_special(ULP_EXACT_ZERO, d.neg);
        else *x = base == 16 ? read_hex(&d, modulo, room) : read_decimal(&d, modulo, room);
    }
    return ULP_OK;
}

int32_t ulp_number_modulo(const ulp_format *format, ulp_rule rule) {
    const int policy = rule.overflow == ULP_OVERFLOW_DEFAULT ? format->overflow : rule.overflow;
    return policy == ULP_OVERFLOW_WRAP ? format->qmin + 64 : ULP_NUMBER_ALL;
}

int ulp_odd_suffices(const ulp_format *format, ulp_rule rule) {
    const int random_bits = rule.random_bits != 0 ? rule.random_bits : 32;
    return ulp_number_modulo(format, rule) == ULP_NUMBER_ALL && format->qmin >= -969 && format->emax < 1000 &&
           format->prec + (ulp_mode_is_stochastic(rule.mode) ? random_bits : 0) <= 51;
}

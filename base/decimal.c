/* decimal.c - reading and printing texts of numbers; see decimal.h. */
#include "decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- powers of ten cut to 128 bits, computed with exact integers ---- */

/* LIMBS hold 5^340, which has 790 bits, and 2^NUMERATOR; 2^NUMERATOR / 5^342 keeps 165 bits. */
enum { LIMBS = 31, NUMERATOR = 32 * (LIMBS - 1) };

/* An integer of 32-bit limbs, the lowest first. */
typedef struct integer {
    uint32_t limb[LIMBS];
} integer;

static void times_five(integer *x) {
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += 5 * (uint64_t)x->limb[i];
        x->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* x = floor(x / 5). A floor of a floor is the floor of the quotient by the product. */
static void over_five(integer *x) {
    uint64_t rest = 0;
    for (int i = LIMBS; i-- > 0;) {
        rest = rest << 32 | x->limb[i];
        x->limb[i] = (uint32_t)(rest / 5);
        rest %= 5;
    }
}

static int bit_length(const integer *x) {
    int i = LIMBS;
    while (x->limb[i - 1] == 0) i--;
    int bits = 32 * i;
    for (uint32_t top = x->limb[i - 1]; top < 0x80000000u; top <<= 1) bits--;
    return bits;
}

/* Bits at .. at + 63 of x; bits below 0 are zero. */
static uint64_t bits_at(const integer *x, int at) {
    uint64_t bits = 0;
    for (int i = 63; i >= 0; i--) {
        const int b = at + i;
        bits = bits << 1 | (b < 0 ? 0u : x->limb[b / 32] >> b % 32 & 1u);
    }
    return bits;
}

/* x 2^exponent, cut to 128 bits. */
static ulp_power_of_ten cut_power(const integer *x, int exponent) {
    const int bits = bit_length(x);
    return (ulp_power_of_ten){bits_at(x, bits - 64), bits_at(x, bits - 128), exponent + bits - 128};
}

const ulp_power_of_ten *ulp_powers_of_ten(void) {
    static ulp_power_of_ten table[ULP_POWERS_LAST - ULP_POWERS_FIRST + 1];
    ulp_power_of_ten *const one = table - ULP_POWERS_FIRST;
    if (one->high != 0) return table;
    integer x = {{1}};
    for (int q = 0; q <= ULP_POWERS_LAST; q++, times_five(&x)) one[q] = cut_power(&x, q);
    memset(&x, 0, sizeof x);
    x.limb[NUMERATOR / 32] = 1;
    for (int q = -1; q >= ULP_POWERS_FIRST; q--) {
        over_five(&x);
        one[q] = cut_power(&x, q - NUMERATOR);
    }
    return table;
}

/* ---- the product of 64 and 128 bits ---- */

/* The upper 128 of 192 bits, and the lower 64. */
typedef struct product {
    uint64_t high, middle, low;
} product;

typedef struct wide {
    uint64_t high, low;
} wide;

static inline wide multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 u128;
    const u128 p = (u128)a * b;
    return (wide){(uint64_t)(p >> 64), (uint64_t)p};
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t m = a1 * b0 + (a0 * b0 >> 32), n = a0 * b1 + (uint32_t)m;
    return (wide){a1 * b1 + (m >> 32) + (n >> 32), a * b};
#endif
}

static inline product times_power(uint64_t m, const ulp_power_of_ten *power) {
    const wide low = multiply(m, power->low), high = multiply(m, power->high);
    product p = {high.high, high.low + low.high, low.low};
    p.high += p.middle < high.low;
    return p;
}

static inline int leading_zeros(uint64_t x) { return __builtin_clzll(x); }

/* ---- eight digits at a time ---- */

enum { MOST_DIGITS = 19, SHORT_ROOM = 1024 }; /* an integer of 19 digits fits 64 bits; limbs on the stack */

#define EACH(byte) (0x0101010101010101u * (byte))

/* Eight characters, the first in the lowest byte. */
static inline uint64_t load_eight(const char *text) {
    uint64_t v;
    memcpy(&v, text, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline void store_eight(char *text, uint64_t v) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(text, &v, 8);
}

/* The top bit of each byte that is no digit, of eight characters XOR '0'. A byte that is no digit may carry into the
 * bytes above it, but the lowest such byte is marked. */
static inline uint64_t other_than_digits(uint64_t v) { return ((v + EACH(0x76)) | v) & EACH(0x80); }

/* The integer of eight bytes 0 .. 9, the first in the lowest byte. */
static inline uint64_t integer_of(uint64_t v) {
    v = v * 10 + (v >> 8); /* pairs, in bytes 0, 2, 4, 6 */
    const uint64_t mask = 0x000000ff000000ffu;
    return (((v & mask) * (100 + (1000000ull << 32))) + ((v >> 16 & mask) * (1 + (10000ull << 32)))) >> 32;
}

static const uint64_t small_power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

/* Append the digits at the text to *w, modulo 2^64. Returns the character after the digits. */
static inline const char *read_digits(uint64_t *w, const char *text) {
    uint64_t v = load_eight(text) ^ EACH('0'), other;
    for (; (other = other_than_digits(v)) == 0; v = load_eight(text) ^ EACH('0')) {
        *w = *w * 100000000 + integer_of(v);
        text += 8;
    }
    const int n = __builtin_ctzll(other) / 8;
    *w = *w * small_power[n] + integer_of(v << (8 * (7 - n)) << 8);
    return text + n;
}

/* ---- reading ---- */

/* Read the exponent after the digits. Returns the character after it; NULL if it has no digits or too many. */
static inline const char *read_exponent(int64_t *exponent, const char *text) {
    if ((*text | 0x20) != 'e') return text;
    const int minus = text[1] == '-';
    const char *const first = text + 1 + (minus || text[1] == '+');
    uint64_t e = 0;
    const char *const end = read_digits(&e, first);
    if (end == first || end - first > 8) return NULL;
    *exponent += minus ? -(int64_t)e : (int64_t)e;
    return end;
}

/* *x = +-w 10^q, or a value that rounds like it. Returns 0 if the bound on the error does not decide. */
static inline int scale(ulp_exact *x, uint64_t w, int64_t q, uint32_t neg, const ulp_power_of_ten *powers) {
    static const uint64_t fives[] = {1u,
                                     5u,
                                     25u,
                                     125u,
                                     625u,
                                     3125u,
                                     15625u,
                                     78125u,
                                     390625u,
                                     1953125u,
                                     9765625u,
                                     48828125u,
                                     244140625u,
                                     1220703125u,
                                     6103515625ull,
                                     30517578125ull,
                                     152587890625ull,
                                     762939453125ull,
                                     3814697265625ull,
                                     19073486328125ull,
                                     95367431640625ull,
                                     476837158203125ull,
                                     2384185791015625ull,
                                     11920928955078125ull,
                                     59604644775390625ull,
                                     298023223876953125ull,
                                     1490116119384765625ull,
                                     7450580596923828125ull};
    if (w == 0) {
        *x = ulp_exact_special(ULP_EXACT_ZERO, neg);
        return 1;
    }
    if (q < ULP_POWERS_FIRST || q > ULP_POWERS_LAST) return 0;
    const ulp_power_of_ten *const power = &powers[q - ULP_POWERS_FIRST];
    const int zeros = leading_zeros(w);
    const product p = times_power(w << zeros, power);
    const int is_exact = q >= 0 && q <= ULP_POWERS_EXACT;
    /* The power adds less than 2^64, so the upper 128 bits may be too small by 1. The upper 96 are right, and bits
     * follow, unless the 32 bits after them are all ones but for the last, or zero. */
    if (!is_exact && (uint32_t)(p.middle + 2) <= 2) {
        const int64_t k = -q;
        if (k < 0 || k >= (int64_t)(sizeof fives / sizeof *fives) || w % fives[k] != 0) return 0;
        *x = ulp_exact_pack(neg, w / fives[k], 0, 0, (int32_t)q - 64);
        return 1;
    }
    const int32_t top = (int32_t)(p.high >> 63);
    const uint64_t high = top ? p.high : p.high << 1 | p.middle >> 63;
    const uint64_t middle = top ? p.middle : p.middle << 1 | p.low >> 63;
    x->hi = high;
    x->lo = middle;
    x->exp = power->exponent - zeros + 63 + top;
    x->neg = (uint8_t)neg;
    x->sticky = (uint8_t)(!is_exact | ((top ? p.low : p.low << 1) != 0));
    x->kind = ULP_EXACT_FINITE;
    return 1;
}

const char *ulp_decimal_read(ulp_exact *x, const char *text, const ulp_power_of_ten *powers) {
    const char *const first = text + (*text == '-' || *text == '+');
    uint64_t w = 0;
    int64_t exponent = 0;
    const char *end = read_digits(&w, first);
    int64_t digits = end - first;
    if (*end == '.') {
        const char *const after = read_digits(&w, end + 1);
        exponent = -(after - (end + 1));
        digits -= exponent;
        end = after;
    }
    if (digits == 0 || digits > MOST_DIGITS) return NULL;
    end = read_exponent(&exponent, end);
    return end != NULL && scale(x, w, exponent, *text == '-', powers) ? end : NULL;
}

ulp_status ulp_exact_read(ulp_exact *x, const char *text, int32_t modulo) {
    uint32_t few[SHORT_ROOM];
    const size_t length = strlen(text), limbs = ulp_number_room(length);
    if (length > ULP_NUMBER_LONGEST) return ULP_BAD_ARGUMENT;
    uint32_t *const room = limbs <= SHORT_ROOM ? few : malloc(limbs * sizeof *room);
    if (room == NULL) return ULP_NO_MEMORY;
    const ulp_status status = ulp_number_read(x, text, length, modulo, room);
    if (room != few) free(room);
    return status;
}

/* ---- printing ---- */

/* A number between 10^exponent and 10^(exponent + 1), rounded to 17 digits. */
typedef struct seventeen {
    uint64_t digits; /* 10^16 .. 10^17 - 1 */
    int exponent;
} seventeen;

static const uint64_t ten_to_16 = 10000000000000000u;

/* The digits of m 2^e, where m has its top bit set. Returns 0 if the bound on the error does not decide. */
static inline int find_digits(seventeen *s, uint64_t m, int e, const ulp_power_of_ten *powers) {
    const int binade = e + 63;          /* floor(log2) */
    s->exponent = binade * 78913 >> 18; /* floor(binade log10(2)), which is floor(log10) or 1 less */
    const ulp_power_of_ten *const next = &powers[s->exponent + 1 - ULP_POWERS_FIRST];
    s->exponent += (binade > next->exponent + 127) |
                   ((binade == next->exponent + 127) & ((m > next->high) | ((m == next->high) & (next->low == 0))));
    const int q = 16 - s->exponent;
    const product p = times_power(m, &powers[q - ULP_POWERS_FIRST]);
    const int drop = -(128 + e + powers[q - ULP_POWERS_FIRST].exponent); /* of the upper 64 bits */
    const uint64_t lost = p.high & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    const int exact = q >= 0 && q <= ULP_POWERS_EXACT;
    s->digits = (p.high >> drop) + (lost >= half);
    if (lost == half && p.middle == 0) {
        if (!exact) return 0;
        s->digits -= p.low == 0 && (s->digits & 1); /* a tie */
    }
    if (lost == half - 1 && p.middle >= UINT64_MAX - 1 && !exact) return 0;
    if (s->digits < 10 * ten_to_16) return 1;
    s->digits = ten_to_16;
    s->exponent++;
    return 1;
}

/* Eight digits as bytes 0 .. 9, the first in the lowest byte. */
static inline uint64_t bytes_of(uint32_t n) {
    const uint64_t fours = n / 10000 | (uint64_t)(n % 10000) << 32;
    const uint64_t hundreds = (fours * 10486 >> 20) & 0x0000007f0000007fu;
    const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000fu;
    return tens | (twos - 10 * tens) << 8;
}

/* Write the 17 digits into `to` (17). Returns their number without zeros at the end. */
static inline int write_digits(char *to, uint64_t digits) {
    const uint64_t rest = digits % ten_to_16;
    const uint64_t high = bytes_of((uint32_t)(rest / 100000000)), low = bytes_of((uint32_t)(rest % 100000000));
    to[0] = (char)('0' + digits / ten_to_16);
    store_eight(to + 1, high | EACH('0'));
    store_eight(to + 9, low | EACH('0'));
    if (low != 0) return 17 - leading_zeros(low) / 8;
    return high != 0 ? 9 - leading_zeros(high) / 8 : 1;
}

static int write_exponent(char *to, int exponent) {
    const int magnitude = exponent < 0 ? -exponent : exponent;
    int n = 0;
    to[n++] = 'e';
    to[n++] = exponent < 0 ? '-' : '+';
    if (magnitude > 99) to[n++] = (char)('0' + magnitude / 100);
    to[n++] = (char)('0' + magnitude / 10 % 10);
    to[n++] = (char)('0' + magnitude % 10);
    return n;
}

/* Lay out the digits as %.17g does. Returns the number of characters. */
static inline int lay_out(char *to, seventeen s) {
    char digits[40] = {0};
    const int n = write_digits(digits, s.digits), x = s.exponent;
    if (x >= -4 && x < 0) {
        memcpy(to, "0.000", 5);
        memcpy(to + 1 - x, digits, 17);
        return 1 - x + n;
    }
    const int before = x >= 0 && x < 17 ? x + 1 : 1; /* digits before the point */
    memcpy(to, digits, 17);
    memcpy(to + before + 1, digits + before, 17);
    int length = before;
    if (n > before) {
        to[before] = '.';
        length = n + 1;
    }
    return x >= 0 && x < 17 ? length : length + write_exponent(to + length, x);
}

int ulp_decimal_print(char *to, double value, const ulp_power_of_ten *powers) {
    const uint64_t bits = ulp_bits64(value), fraction = bits & 0xfffffffffffffu;
    const int field = (int)(bits >> 52 & 0x7ff);
    if (field == 0x7ff && fraction != 0) {
        memcpy(to, "nan", 3); /* printf may print a sign, which has no meaning */
        return 3;
    }
    const int minus = (int)(bits >> 63);
    *to = '-';
    char *const at = to + minus;
    if (field == 0x7ff || (field == 0 && fraction == 0)) {
        memcpy(at, field ? "inf" : "0", field ? 3 : 1);
        return minus + (field ? 3 : 1);
    }
    const uint64_t m = field != 0 ? fraction | 1ull << 52 : fraction;
    const int zeros = leading_zeros(m), e = (field != 0 ? field : 1) - 1075 - zeros;
    seventeen s;
    if (find_digits(&s, m << zeros, e, powers)) return minus + lay_out(at, s);
    char text[ULP_DECIMAL_ROOM];
    const int length = snprintf(text, sizeof text, "%.17g", value);
    memcpy(to, text, (size_t)length);
    return length;
}

const char *ulp_hex_text(char to[ULP_HEX_ROOM], double value) {
    const uint64_t bits = ulp_bits64(value);
    const char *const sign = bits >> 63 ? "-" : "";
    const int field = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & 0xfffffffffffffu;
    if (field == 0x7ff) {
        snprintf(to, ULP_HEX_ROOM, "%s%s", sign, fraction ? "nan" : "inf");
        return to;
    }
    const int exponent = field != 0 ? field - 1023 : fraction != 0 ? -1022 : 0;
    int digits = 13;
    for (; digits > 0 && fraction % 16 == 0; digits--) fraction /= 16;
    if (digits == 0) snprintf(to, ULP_HEX_ROOM, "%s0x%dp%+d", sign, field != 0, exponent);
    else
        snprintf(to, ULP_HEX_ROOM, "%s0x%d.%0*llxp%+d", sign, field != 0, digits, (unsigned long long)fraction,
                 exponent);
    return to;
}

/* code_books.c - code books: their rows, and the code of a number; see quantize.h.
 *
 * To add a code book, add a row.
 */
#include "quantize.h"

const ulp_code_book ulp_code_books[] = {
    /* the quantiles of the normal distribution, as binary32: the table of bitsandbytes, functional.py, get_4bit_type */
    {{"nf4", "normalfloat4", "Dettmers et al. 2023, arXiv:2305.14314"},
     4,
     16,
     {-1.0, -0x1.647362p-1, -0x1.0cd66p-1, -0x1.94654p-2, -0x1.23449ap-2, -0x1.7a6a7ep-3, -0x1.74f0e2p-4, 0.0,
      0x1.45f5fep-4, 0x1.4995c6p-3, 0x1.f809bap-3, 0x1.5a0674p-2, 0x1.c34970p-2, 0x1.200f56p-1, 0x1.722766p-1, 1.0}},
};

const size_t ulp_code_book_count = sizeof ulp_code_books / sizeof ulp_code_books[0];

/* x - value factor: its sign and size. */
static ulp_exact minus(ulp_exact x, double value, double factor) {
    return ulp_exact_add(x, ulp_exact_negate(ulp_exact_mul(ulp_exact_of(value), ulp_exact_of(factor))));
}

static int is_zero(ulp_exact x) { return x.kind < ULP_EXACT_FINITE; }

/* Whether the code that is nearer to zero becomes the next one. x lies between their values, and is neither. */
static int goes_on(ulp_exact x, double factor, double near, double far, int is_odd, ulp_rule rule, uint32_t word) {
    if (ulp_mode_is_stochastic(rule.mode)) {
        const ulp_exact width = ulp_exact_mul(ulp_exact_of(far - near), ulp_exact_of(factor));
        ulp_format units = {.bits = 8, .is_signed = 1, .is_fixed = 1};
        if (ulp_format_init(&units) != ULP_OK) return 0;
        return ulp_round_exact(ulp_exact_div(minus(x, near, factor), width), &units, rule, word) != 0.0;
    }
    ulp_exact twice = x;
    twice.exp += 1;
    const ulp_exact past = minus(twice, near + far, factor);
    const int beyond = !is_zero(past) && past.neg == x.neg;
    switch (rule.mode) {
    case ULP_RZ: return 0;
    case ULP_RU: return !x.neg;
    case ULP_RD: return x.neg;
    case ULP_RO: return !is_odd;
    case ULP_RNA: return is_zero(past) || beyond;
    case ULP_RNU: return is_zero(past) ? !x.neg : beyond;
    case ULP_RNZ: return beyond;
    case ULP_RND: return is_zero(past) ? x.neg : beyond;
    default: return is_zero(past) ? is_odd : beyond;
    }
}

uint32_t ulp_book_code(ulp_exact number, double factor, const ulp_code_book *book, ulp_rule rule, uint32_t word) {
    const ulp_exact x = ulp_exact_cut(number);
    uint32_t zero = 0;
    while (book->value[zero] != 0.0) zero++;
    if (is_zero(x)) return zero;
    if (x.kind == ULP_EXACT_INF) return x.neg ? 0 : book->count - 1;
    const int32_t step = x.neg ? -1 : 1;
    const uint32_t end = x.neg ? 0 : book->count - 1;
    for (uint32_t code = zero; code != end; code = (uint32_t)((int32_t)code + step)) {
        const uint32_t next = (uint32_t)((int32_t)code + step);
        const ulp_exact past = minus(x, book->value[next], factor);
        if (is_zero(past)) return next;
        if (past.neg == x.neg) continue;
        const ulp_exact before = minus(x, book->value[code], factor);
        if (is_zero(before)) return code;
        return goes_on(x, factor, book->value[code], book->value[next], code & 1, rule, word) ? next : code;
    }
    return end;
}

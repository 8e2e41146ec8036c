/* block_oracle.h - for tests of block-scaled formats: formats to loop over, and the scale by its definition. */
#ifndef ULP_TESTS_BLOCK_ORACLE_H
#define ULP_TESTS_BLOCK_ORACLE_H

#include "support.h"

#include "formats/block.h"
#include "kernels/mpfr/reference.h"

enum { E8M0_NAN = 0xff, E4M3_NAN = 0x7f };

static const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
static const ulp_stream no_stream = {0, 0, 0};

static inline ulp_block block_named(const char *name) {
    ulp_block b;
    memset(&b, 0, sizeof b);
    ulp_status status = ulp_block_parse(&b, name);
    if (status != ULP_OK) fail_msg("%s: %s", name, ulp_status_text(status));
    return b;
}

/* The scale rules that need the amax alone; t_block_cast.c tests mse46 and best. */
static const uint32_t amax_rules[] = {ULP_SCALE_FLOOR, ULP_SCALE_CEIL, ULP_SCALE_EVEN, ULP_SCALE_NOCLIP,
                                      ULP_SCALE_AMAX,  ULP_SCALE_TE,   ULP_SCALE_UP17};
enum { AMAX_RULES = sizeof amax_rules / sizeof amax_rules[0] };

/* Combination i of a registered format and one of these rules. Returns 0 past the end. */
static inline int test_block(size_t i, ulp_block *b) {
    memset(b, 0, sizeof *b);
    if (i >= ulp_block_count * AMAX_RULES) return 0;
    assert_ok(ulp_block_get(i / AMAX_RULES, b, NULL));
    b->rule = amax_rules[i % AMAX_RULES];
    return 1;
}

static inline int same_float(float a, float b) {
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : ulp_bits32(a) == ulp_bits32(b);
}

static inline double scale_value(int code, const ulp_block *b) {
    if (b->scale.prec == 1) return code == E8M0_NAN ? NAN : ldexp(1.0, code - 127);
    ulp_reference *ref = ulp_reference_new(&b->scale);
    double value = fabs(ulp_reference_decode(ref, (uint64_t)code));
    ulp_reference_free(ref);
    return value;
}

/* The scale by its definition: a search through all codes, with exact comparisons. Every product is exact in binary64:
 * a scale is at most 2^127, and the tensor scale and the bound together have at most 24 + 9 bits. */
static inline int scale_by_search(float amax, const ulp_block *b, float tensor_scale) {
    static double values[2][E8M0_NAN];
    const int power2 = b->scale.prec == 1, te = b->rule == ULP_SCALE_TE;
    const int first = power2 || te ? 0 : 1, last = power2 ? E8M0_NAN - 1 : E4M3_NAN - 1;
    const double max = b->element.max, top = power2 ? ldexp(1.0, ilogb(max)) : max, t = tensor_scale;
    double *v = values[power2];
    if (v[last] == 0.0)
        for (int c = 0; c <= last; c++) v[c] = scale_value(c, b);
    if (b->rule == ULP_SCALE_FLOOR || (b->rule == ULP_SCALE_EVEN && power2)) {
        double most = amax; /* rule even: amax / t rounded to the element's precision with an unbounded exponent */
        if (b->rule == ULP_SCALE_EVEN) {
            char wide[ULP_NAME_MAX];
            snprintf(wide, sizeof wide, "e11m%dieee", b->element.is_fixed ? b->element.bits - 2 : b->element.prec - 1);
            ulp_format f = named(wide);
            ulp_reference *ref = ulp_reference_new(&f);
            most = t * ulp_reference_arith(ref, (ulp_scalar_op){ULP_DIV, amax, t, 0}, rule_of(ULP_RNE, 0, 0), 0);
            ulp_reference_free(ref);
        }
        int c = last;
        while (c > first && v[c] * top * t > most) c--;
        return c;
    }
    if (b->rule == ULP_SCALE_EVEN || b->rule == ULP_SCALE_AMAX || b->rule == ULP_SCALE_UP17 || (te && !power2)) {
        const double times = b->rule == ULP_SCALE_UP17 ? 17.0 / 16.0 : 1.0, most = times * (double)amax;
        int c = first;
        /* go up while amax is above the middle to the next code, or at the middle if the next code is even */
        while (c < last &&
               (2.0 * most > (v[c] + v[c + 1]) * max * t || (2.0 * most == (v[c] + v[c + 1]) * max * t && c % 2 == 1)))
            c++;
        return c;
    }
    int c = first;
    while (c < last && v[c] * (b->rule == ULP_SCALE_CEIL ? top : max) * t < amax) c++;
    return c;
}

#endif

/* scalar.c - the roundings, operations and sums of single numbers by MPFR, under the names of the functions of formats/
 * and kernels/: a program that is linked with this file computes them by MPFR.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/mpfr/oracle.h"
#include "kernels/mpfr/reference.h"

/* The contexts of the formats that this thread has used last, the latest first. The thread keeps them until it ends. */
enum { KEPT = 8 };
static _Thread_local struct {
    ulp_format format;
    ulp_reference *ref;
} kept[KEPT];

static ulp_reference *reference_of(const ulp_format *format) {
    size_t i = 0;
    while (i + 1 < KEPT && kept[i].ref != NULL && memcmp(&kept[i].format, format, sizeof *format) != 0) i++;
    if (kept[i].ref == NULL || memcmp(&kept[i].format, format, sizeof *format) != 0) {
        ulp_reference_free(kept[i].ref);
        kept[i].format = *format;
        kept[i].ref = ulp_reference_new(format);
        if (kept[i].ref == NULL) abort();
    }
    for (; i > 0; i--) {
        const ulp_format other = kept[i].format;
        ulp_reference *const ref = kept[i].ref;
        kept[i] = kept[i - 1];
        kept[i - 1].format = other;
        kept[i - 1].ref = ref;
    }
    return kept[0].ref;
}

double ulp_round(double x, const ulp_format *format, ulp_rule rule, uint32_t word) {
    return ulp_reference_round(reference_of(format), x, 0.0, rule, word);
}

double ulp_round_pair(double hi, double lo, const ulp_format *format, ulp_rule rule, uint32_t word) {
    return ulp_reference_round(reference_of(format), hi, lo, rule, word);
}

double ulp_arith(ulp_scalar_op op, const ulp_format *format, ulp_rule rule, uint32_t word) {
    return ulp_reference_arith(reference_of(format), op, rule, word);
}

double ulp_dot(const ulp_datapath *datapath, double c, ulp_products products, ulp_stream stream) {
    return ulp_mpfr_sum_of(datapath, c, products, stream);
}

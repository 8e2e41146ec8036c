/* dot.c - a whole sum as a plain function: the definition for every kernel. */
#include <stdlib.h>

#include "multiword.h"
#include "split_k.h"
#include "sum.h"

static double dot_of_unit(const ulp_datapath *d, double c, ulp_products products, ulp_stream stream) {
    ulp_sum sum;
    const size_t per = d->scale_block != 0 ? d->scale_block : 1;
    ulp_sum_start(&sum, d, c, 0);
    for (size_t i = 0; i < products.k; i += d->step) {
        ulp_products next = {products.a + i, products.b + i, products.k - i, NULL, NULL};
        if (next.k > d->step) next.k = d->step;
        if (products.a_scales != NULL) next.a_scales = products.a_scales + i / per;
        if (products.b_scales != NULL) next.b_scales = products.b_scales + i / per;
        ulp_sum_step(&sum, d, &next, stream);
    }
    return ulp_sum_end(&sum, d, stream);
}

/* The sums of all pairs of words, each from the result of the one before. NaN if no memory is left. */
static double dot_of_words(const ulp_datapath *d, double c, ulp_products p) {
    const ulp_rule rule = ulp_word_rule(d);
    ulp_datapath unit;
    double *words = malloc((2 * p.k + 1) * sizeof *words);
    if (words == NULL || ulp_multiword_unit(&unit, d) != ULP_OK) {
        free(words);
        return ulp_quiet_nan();
    }
    double *a = words, *b = words + p.k;
    for (int t = 0; t < ulp_word_pairs(d); t++) {
        const ulp_word_pair pair = ulp_word_pair_of(d, t);
        for (size_t k = 0; k < p.k; k++) {
            a[k] = ulp_operand_word(p.a[k], pair.i, &d->word_a, rule);
            b[k] = ulp_operand_word(p.b[k], pair.j, &d->word_b, rule);
        }
        c = dot_of_unit(&unit, c, (ulp_products){a, b, p.k, NULL, NULL}, (ulp_stream){0, 0, 0});
    }
    free(words);
    return c;
}

/* The sums of all parts, rounded, added in their order, then c. NaN if the datapath has no such part. */
static double dot_of_parts(const ulp_datapath *d, double c, ulp_products p) {
    const size_t length = ulp_split_k_length(d, p.k), per = d->scale_block != 0 ? d->scale_block : 1;
    const ulp_rule nearest = {0};
    ulp_datapath part;
    double total = 0.0;
    if (ulp_split_k_part(&part, d) != ULP_OK) return ulp_quiet_nan();
    for (size_t i = 0; i < p.k; i += length) {
        ulp_products next = {p.a + i, p.b + i, p.k - i < length ? p.k - i : length, NULL, NULL};
        if (p.a_scales != NULL) next.a_scales = p.a_scales + i / per;
        if (p.b_scales != NULL) next.b_scales = p.b_scales + i / per;
        const double sum = dot_of_unit(&part, 0.0, next, (ulp_stream){0, 0, 0});
        total = ulp_split_k_add(d, total, ulp_round(sum, &d->split_k_format, nearest, 0));
    }
    total = ulp_round(ulp_split_k_add(d, total, c), &d->result, nearest, 0);
    return total == total ? total : ulp_quiet_nan();
}

double ulp_dot(const ulp_datapath *d, double c, ulp_products products, ulp_stream stream) {
    if (d->kind == ULP_NATIVE) return ulp_quiet_nan();
    if (d->split_k != 0) return dot_of_parts(d, c, products);
    return d->words != 0 ? dot_of_words(d, c, products) : dot_of_unit(d, c, products, stream);
}

/* multiword.c - the words of an operand, and the order of their products. */
#include "multiword.h"

int ulp_word_pairs(const ulp_datapath *d) { return d->words * (d->words + 1) / 2; }

ulp_word_pair ulp_word_pair_of(const ulp_datapath *d, int t) {
    int i = 1, place = d->words_small_first ? ulp_word_pairs(d) - 1 - t : t;
    for (; place > d->words - i; i++) place -= d->words + 1 - i; /* word i of a meets words 1 to N + 1 - i of b */
    return (ulp_word_pair){(uint8_t)i, (uint8_t)(place + 1)};
}

ulp_status ulp_multiword_unit(ulp_datapath *unit, const ulp_datapath *d) {
    *unit = *d;
    unit->words = unit->words_small_first = unit->words_cut = 0;
    unit->a = d->word_a;
    unit->b = d->word_b;
    return ulp_datapath_init(unit);
}

ulp_rule ulp_word_rule(const ulp_datapath *d) {
    return (ulp_rule){d->words_cut ? ULP_RZ : ULP_RNE, ULP_OVERFLOW_INF, 0};
}

double ulp_operand_word(double x, int i, const ulp_format *format, ulp_rule rule) {
    double word = ulp_round(x, format, rule, 0);
    for (; i > 1; i--) {
        x -= word;
        word = ulp_round(x, format, rule, 0);
    }
    return word;
}

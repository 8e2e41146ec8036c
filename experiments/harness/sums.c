/* sums.c - running sums that are rounded to a format after every addition; see sums.h. */
#include "sums.h"

#include <string.h>

static const ulp_named_rule nearest = {"rne", {0}};

static void add_points(ulp_plan *plan, const ulp_sum_grid *grid, const ulp_format *format) {
    const ulp_sum_costs *costs = format->prec == 24 ? &grid->costs24 : &grid->costs;
    for (size_t m = 0; m < grid->modes->count; m++) {
        const ulp_named_rule *rule = &grid->modes->at[m];
        ulp_plan_add(plan, &(ulp_sum_point){format, rule, ULP_CURE_NONE},
                     ulp_mode_is_stochastic(rule->rule.mode) ? costs->stochastic : costs->plain, "%s %s plain",
                     format->name, rule->name);
    }
    for (size_t c = 0; c < grid->cure_count; c++) {
        const ulp_word cure = ulp_word_of(ULP_CURE_WORDS, grid->cures[c]);
        ulp_plan_add(plan, &(ulp_sum_point){format, &nearest, grid->cures[c]}, costs->cured, "%s rne %s", format->name,
                     cure.text);
    }
}

void ulp_sum_points(ulp_plan *plan, const ulp_sum_grid *grid) {
    for (size_t f = 0; f < grid->formats->count; f++) add_points(plan, grid, &grid->formats->at[f]);
}

ulp_sum ulp_sum_start(const void *point) {
    const ulp_sum_point *p = point;
    ulp_sum s = {.format = p->format, .mode = p->rule->name, .rule = p->rule->rule, .cure = p->cure};
    s.native = strcmp(s.format->name, "binary32") == 0 && s.rule.mode == ULP_RNE;
    s.value = ulp_round(0, s.format, (ulp_rule){0}, 0);
    s.kept = s.cure == ULP_CURE_MASTER ? 0 : s.value;
    return s;
}

static double plus(const ulp_sum *s, double a, double b) { return ulp_sum_plus(s, a, b, 0); }

void ulp_sum_add(ulp_sum *s, double term, uint32_t word) {
    double corrected, next;
    switch (s->cure) {
    case ULP_CURE_KAHAN:
        corrected = plus(s, term, -s->kept);
        next = plus(s, s->value, corrected);
        s->kept = plus(s, plus(s, next, -s->value), -corrected);
        s->value = next;
        break;
    case ULP_CURE_MASTER:
        s->kept = (double)((float)s->kept + (float)term);
        s->value = ulp_round(s->kept, s->format, s->rule, 0);
        break;
    case ULP_CURE_NONE:
    case ULP_CURE_CHUNKS:
    case ULP_CURE_FIRST: s->value = ulp_sum_plus(s, s->value, term, word); break;
    }
}

ulp_sum_key ulp_sum_key_of(const ulp_sum *s, int what, int64_t run) {
    return (ulp_sum_key){s->format->name, s->mode, (int)s->cure, what, run > 0 ? run : ULP_NO_INTEGER};
}

static int matches(const void *row, const void *point, const void *key) {
    const ulp_sum_key *k = row;
    const ulp_sum_point *p = point;
    const ulp_sum_wanted *w = key;
    const int mode = w->rule ? p->rule == w->rule : p->rule->rule.mode == ULP_RNE;
    return p->format == w->format && mode && p->cure == w->cure && k->what == w->what;
}

const void *ulp_sum_find(const ulp_table *table, const ulp_sum_wanted *wanted) {
    size_t i = 0;
    return ulp_table_find(table, &i, matches, wanted);
}

void ulp_sum_summary(ulp_claims *c, const char *quantity, double value, const ulp_format *format, ulp_cure cure) {
    ulp_summary(c, quantity, value, "%s rne %s", format->name, ulp_word_of(ULP_CURE_WORDS, cure).text);
}

const void *ulp_sum_find_at(const ulp_table *table, const ulp_sum_wanted *wanted, size_t at, int64_t n) {
    const char *row;
    for (size_t i = 0; (row = ulp_table_find(table, &i, matches, wanted)) != NULL; i++) {
        int64_t cell;
        memcpy(&cell, row + at, sizeof cell);
        if (cell == n) return row;
    }
    return NULL;
}

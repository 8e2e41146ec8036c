/* sums.c - points and rows of experiments about running sums; see sums.h. */
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
    return ulp_sum_of(p->format, p->rule->name, p->rule->rule, p->cure);
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

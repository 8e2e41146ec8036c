/* sum_claims.c - the judge of experiments about running sums finds rows and walks over sums; see sums.h. */
#include <string.h>

#include "sums.h"

static int matches(const void *row, const void *point, const void *key) {
    const ulp_sum_row *r = row;
    const ulp_sum_point *p = point;
    const ulp_sum_wanted *w = key;
    const int mode = w->rule ? p->rule == w->rule : p->rule->rule.mode == ULP_RNE;
    return p->format == w->format && mode && p->cure == w->cure && r->what == w->what;
}

const ulp_sum_row *ulp_sum_find(const ulp_table *table, const ulp_sum_wanted *wanted) {
    return ulp_table_find(table, &(size_t){0}, matches, wanted);
}

const ulp_sum_row *ulp_sum_find_at(const ulp_table *table, const ulp_sum_wanted *wanted, int64_t n) {
    const ulp_sum_row *row;
    for (size_t i = 0; (row = ulp_table_find(table, &i, matches, wanted)) != NULL; i++)
        if (row->n == n) return row;
    return NULL;
}

const ulp_sum_row *ulp_sum_cured(const ulp_claims *c, const ulp_format *format, ulp_cure cure, int what) {
    return ulp_sum_find(c->table, &(ulp_sum_wanted){format, NULL, cure, what});
}

const ulp_sum_row *ulp_sum_named(const ulp_claims *c, const char *format, ulp_cure cure, int what) {
    const ulp_sum_settings *s = c->settings;
    return ulp_sum_cured(c, ulp_formats_find(&s->formats, format), cure, what);
}

const ulp_sum_row *ulp_sum_after(const ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule, int what,
                                 int64_t n) {
    return rule ? ulp_sum_find_at(c->table, &(ulp_sum_wanted){format, rule, ULP_CURE_NONE, what}, n) : NULL;
}

const ulp_named_rule *ulp_sum_rule(const ulp_claims *c, const char *name) {
    const ulp_sum_settings *s = c->settings;
    return ulp_rules_find(&s->modes, name);
}

void ulp_sum_each_stochastic(ulp_claims *c, ulp_sum_claim *claim) {
    const ulp_sum_settings *s = c->settings;
    for (size_t f = 0; f < s->formats.count; f++)
        for (size_t m = 0; m < s->modes.count; m++)
            if (ulp_mode_is_stochastic(s->modes.at[m].rule.mode) && s->modes.at[m].rule.random_bits == 0)
                claim(c, &s->formats.at[f], &s->modes.at[m]);
}

const ulp_sum_row *ulp_sum_stop_for(ulp_claims *c, const char *format, const char *text, const char *limit,
                                    int64_t steps) {
    const ulp_sum_row *stop = ulp_sum_named(c, format, ULP_CURE_NONE, ULP_SUM_STOP);
    if (!stop && ulp_sum_named(c, format, ULP_CURE_NONE, ULP_SUM_OPEN))
        ulp_claim_skip(c, text, "--%s is %lld", limit, (long long)steps);
    return stop;
}

void ulp_sum_put_ends(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format, const char *modes,
                      const ulp_sum_cures *cures, ulp_sum_put_end *put) {
    ulp_word mode;
    for (size_t i = 0; (mode = ulp_word_of(modes, i)).text[0] != '\0'; i++) {
        const ulp_named_rule *rule = ulp_sum_rule(c, mode.text);
        const ulp_sum_wanted stop = {format, rule, ULP_CURE_NONE, ULP_SUM_STOP},
                             open = {format, rule, ULP_CURE_NONE, ULP_SUM_OPEN};
        put(sheet, rule ? ulp_sum_find(c->table, &stop) : NULL, rule ? ulp_sum_find(c->table, &open) : NULL);
    }
    for (size_t i = 0; i < cures->count; i++)
        put(sheet, ulp_sum_cured(c, format, cures->at[i], ULP_SUM_STOP),
            ulp_sum_cured(c, format, cures->at[i], ULP_SUM_OPEN));
}

void ulp_sum_summarize(ulp_claims *c, const ulp_format *format, const ulp_sum_cures *cures, ulp_sum_summary *summary) {
    for (size_t i = 0; i <= cures->count; i++) {
        const ulp_cure cure = i == 0 ? ULP_CURE_NONE : cures->at[i - 1];
        const ulp_sum_row *stop = ulp_sum_cured(c, format, cure, ULP_SUM_STOP);
        const ulp_word word = ulp_word_of(ULP_CURE_WORDS, cure);
        char of[sizeof format->name + sizeof word.text + 8];
        snprintf(of, sizeof of, "%s rne %s", format->name, word.text);
        if (stop) summary(c, stop, of);
    }
}

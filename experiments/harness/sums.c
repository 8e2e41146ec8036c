/* sums.c - points and rows of experiments about running sums, and the loop that follows one sum; see sums.h. */
#include "sums.h"

static const ulp_named_rule nearest = {"rne", {0}};

static void add_points(ulp_plan *plan, const ulp_sum_grid *grid, const ulp_format *format) {
    const ulp_sum_costs *costs = format->prec == 24 ? &grid->costs24 : &grid->costs;
    const ulp_rule_list *modes = &grid->settings->modes;
    for (size_t m = 0; m < modes->count; m++) {
        const ulp_named_rule *rule = &modes->at[m];
        ulp_plan_add(plan, &(ulp_sum_point){format, rule, ULP_CURE_NONE},
                     ulp_mode_is_stochastic(rule->rule.mode) ? costs->stochastic : costs->plain, "%s %s plain",
                     format->name, rule->name);
    }
    for (size_t c = 0; c < grid->cures->count; c++) {
        ulp_plan_add(plan, &(ulp_sum_point){format, &nearest, grid->cures->at[c]}, costs->cured, "%s rne %s",
                     format->name, ulp_word_of(ULP_CURE_WORDS, grid->cures->at[c]).text);
    }
}

void ulp_sum_points(ulp_plan *plan, const ulp_sum_grid *grid) {
    const ulp_format_list *formats = &grid->settings->formats;
    for (size_t f = 0; f < formats->count; f++) add_points(plan, grid, &formats->at[f]);
}

ulp_sum ulp_sum_start(const void *point) {
    const ulp_sum_point *p = point;
    return ulp_sum_of(p->format, p->rule->name, p->rule->rule, p->cure);
}

ulp_sum_row ulp_sum_row_of(const ulp_rows *rows, const ulp_sum *s, int what, int64_t run, int64_t n, double value) {
    ulp_sum_row r;
    ulp_row_clear(rows, &r);
    r.format = s->format->name;
    r.mode = s->mode;
    r.cure = (int)s->cure;
    r.what = what;
    r.n = n;
    if (run == 0) return r;
    r.run = run;
    r.copy = r.value = value;
    r.code = (ulp_code){s->format, value};
    return r;
}

/* A row of the present state of one sum. */
static ulp_sum_row row_now(const ulp_rows *rows, const ulp_sum *s, int what, int64_t n, double exact) {
    ulp_sum_row r = ulp_sum_row_of(rows, s, what, 1, n, s->value);
    if (s->cure == ULP_CURE_MASTER) r.copy = s->kept;
    r.exact = exact;
    return r;
}

ulp_sum_row ulp_sum_follow(const ulp_task *task, ulp_sum *s, const ulp_sum_way *way) {
    const int64_t limit = way->limit, every = way->every, period = s->period;
    const int by_copy = way->by_copy && s->cure == ULP_CURE_MASTER;
    double value = s->value, kept = s->kept, exact = 0; /* value and kept: one period earlier */
    ulp_sum_row r = row_now(task->rows, s, ULP_SUM_PATH, 0, 0);
    int64_t k = 0, last = 0;
    int moves = 1;
    if (way->first == 0) ulp_row_put(task->rows, &r);
    while (moves && k < limit) {
        way->step(s, ++k, task->settings);
        if (way->exact_term) exact += way->exact_term(k);
        if (period > 1 && k % period != 0) continue;
        const int value_moves = !ulp_same(s->value, value), kept_moves = !ulp_same(s->kept, kept);
        moves = value_moves || kept_moves;
        if (by_copy ? kept_moves : value_moves) last = k;
        if (way->end && ulp_same(s->value, *way->end)) moves = 0;
        value = s->value;
        kept = s->kept;
        if (ulp_sum_has_row(k, every) || !moves) {
            r = row_now(task->rows, s, ULP_SUM_PATH, k, exact);
            ulp_row_put(task->rows, &r);
        }
        if (k % (1 << 16) == 0 && ulp_task_progress(task, (double)k / (double)limit)) break;
    }
    return row_now(task->rows, s, moves ? ULP_SUM_OPEN : ULP_SUM_STOP, moves ? k : last, exact);
}

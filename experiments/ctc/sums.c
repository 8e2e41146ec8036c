/* sums.c - sums over paths of equally probable outputs, by number of steps, and the same sums in closed form. */
#include "ctc.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/harness/claims/spread.h"
#include "kernels/functions/elementary.h"
#include "sim/losses/label_paths.h"

/* log binomial(T + L, 2 L), the number of paths of L labels without equal neighbours. */
static double log_paths(int64_t L, int64_t T) {
    double sum = 0;
    for (int64_t i = 1; i <= 2 * L; i++) sum += ulp_log((double)(T - L + i)) - ulp_log((double)i);
    return sum;
}

double exact_loss(int64_t C, int64_t L, int64_t T) { return (double)T * ulp_log((double)C) - log_paths(L, T); }

typedef struct paths {
    size_t C, L, longest;
    ulp_ctc_form form;
    double *p, *alpha; /* (C,T) and (T,2 L + 1) */
    uint8_t label[100];
} paths;

static double sum_of_paths(const paths *s, size_t T) {
    return ulp_ctc_alpha(s->alpha, s->p, &(ulp_ctc_task){s->label, s->L, s->C, T}, &s->form);
}

static ulp_status paths_new(paths *s, const point *at, size_t longest) {
    *s = (paths){.C = (size_t)at->outputs, .L = (size_t)at->labels, .longest = longest};
    s->form = ulp_ctc_form_of(at->form == LINEAR, (ulp_rounding){.format = at->format, .rule = {.mode = ULP_RNE}});
    for (size_t i = 0; i < s->L; i++) s->label[i] = (uint8_t)(i % (s->C - 1));
    s->p = malloc(s->C * s->longest * sizeof *s->p);
    s->alpha = malloc(s->longest * (2 * s->L + 1) * sizeof *s->alpha);
    if (!s->p || !s->alpha) return ULP_NO_MEMORY;
    double p = s->form.linear ? 1.0 / (double)s->C : -ulp_log((double)s->C);
    if (at->format) p = ulp_round(p, at->format, s->form.rounding.rule, 0);
    for (size_t i = 0; i < s->C * s->longest; i++) s->p[i] = p;
    return ULP_OK;
}

/* The greatest T whose sum over paths did not underflow. The alpha of the longest T begins with the alpha of every
 * shorter T, so that one recursion is enough. */
static size_t last_path(const paths *s) {
    double nothing = s->form.linear ? 0.0 : -INFINITY;
    size_t S = 2 * s->L + 1, T = s->longest;
    sum_of_paths(s, T);
    while (T > 0 && s->alpha[T * S - 1] == nothing && (S == 1 || s->alpha[T * S - 2] == nothing)) T--;
    return T;
}

/* Puts a row of the point. A row of kind SUM gets the loss of T steps. */
static void put_sum(const ulp_task *task, const paths *s, int kind, size_t T) {
    const point *at = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    r.kind = kind;
    r.form = at->form;
    r.format = at->format ? at->format->name : "binary64";
    r.outputs = at->outputs;
    r.labels = at->labels;
    r.steps = (int64_t)T;
    if (kind == SUM) {
        r.loss = ulp_ctc_loss(sum_of_paths(s, T), &s->form);
        r.exact = exact_loss(r.outputs, r.labels, r.steps);
        r.error = r.loss / r.exact - 1;
    }
    ulp_row_put(task->rows, &r);
}

ulp_status compute_sums(const ulp_task *task) {
    paths s;
    ulp_status status = paths_new(&s, task->point, (size_t)((const settings *)task->settings)->longest);
    for (size_t T = s.L ? s.L : 1; T <= s.longest && status == ULP_OK; T++)
        if (ulp_is_thinned_row((int64_t)T) || T == s.longest) put_sum(task, &s, SUM, T);
    if (status == ULP_OK) put_sum(task, &s, GONE, last_path(&s));
    free(s.p);
    free(s.alpha);
    return status;
}

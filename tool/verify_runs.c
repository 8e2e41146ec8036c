/* verify_runs.c - sweeping the cases of ulp verify --exhaustive by runs.
 *
 * A case is the work of one thread, so that its runs come in the order of the inputs and are hashed as they come. The
 * lines of the cases are printed in their order, as soon as all earlier ones are there.
 */
#if defined(ULP_WITH_MPFR)

#include "verify.h"

#include "base/decimal.h"
#include "kernels/mpfr/reference.h"
#include "tool/sweep/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_NAME_MAX = 64, NAME_MAX_LENGTH = 256, SHOWN = 5, MOST = 4096 };

typedef struct outcome {
    sweep_result result;
    int done;
} outcome;

/* Data shared by the threads. */
typedef struct team {
    const verify_runs *v;
    outcome *outcomes; /* (count) */
    size_t printed, failed;
    ulp_status status;
    uint64_t inputs;      /* done so far, of all cases */
    pthread_mutex_t lock; /* protects all of this, messages and the bar */
    ulp_progress bar;
} team;

/* The data of a thread for one case. */
typedef struct worker {
    team *team;
    const verify_runs_case *of;
    ulp_reference *reference;
    void *x, *y; /* (MOST) the backend's memory */
    int wide, shown;
} worker;

static const char *case_name(char to[CASE_NAME_MAX], const verify_runs_case *of) {
    snprintf(to, CASE_NAME_MAX, "%s %s %s", of->format->name, of->mode,
             ulp_overflow_name((ulp_overflow)of->rule.overflow));
    return to;
}

/* ---- the journal ---- */

/* The name of a case: 2 stands for a sweep by runs. */
static void name_case(char to[NAME_MAX_LENGTH], const verify_runs *v, const verify_runs_case *of) {
    char kernels[64], name[CASE_NAME_MAX];
    snprintf(kernels, sizeof kernels, "%s:%s", v->backend->name, v->backend->what);
    for (char *c = kernels; *c != '\0'; c++)
        if (strchr(" \t\n", *c) != NULL) *c = '_';
    snprintf(to, NAME_MAX_LENGTH, "%s 0 4294967296 2 0 %s 0", case_name(name, of), kernels);
}

static void keep(const verify_runs *v, const verify_runs_case *of, const sweep_result *r) {
    char name[NAME_MAX_LENGTH], result[160];
    if (v->journal == NULL) return;
    name_case(name, v, of);
    snprintf(result, sizeof result, "%" PRIu64 " %" PRIu64 " %s", r->mismatches, r->runs, r->hash);
    journal_keep(v->journal, name, result);
}

static int recall(const verify_runs *v, const verify_runs_case *of, sweep_result *r) {
    char name[NAME_MAX_LENGTH];
    if (v->journal == NULL || v->list != NULL) return 0;
    name_case(name, v, of);
    const char *result = journal_find(v->journal, name);
    r->inputs = 1ull << 32;
    return result != NULL &&
           sscanf(result, "%" SCNu64 " %" SCNu64 " %64[0-9a-f]", &r->mismatches, &r->runs, r->hash) == 3;
}

/* ---- functions that a sweep calls ---- */

static ulp_status round_inputs(void *context, void *y, const void *x, size_t n) {
    worker *w = context;
    const ulp_backend *b = w->team->v->backend;
    const size_t bytes = n * (w->wide ? sizeof(double) : sizeof(float));
    const ulp_rounding rounding = {w->of->format, w->of->rule, {1, 0, 0}, NULL};
    ULP_TRY(b->upload(w->x, x, bytes));
    ULP_TRY(w->wide ? ulp_backend_round64(b, w->y, w->x, n, rounding) : ulp_backend_round(b, w->y, w->x, n, rounding));
    return b->download(y, w->y, bytes);
}

static double right(void *context, double x) {
    const worker *w = context;
    return ulp_reference_round(w->reference, x, 0.0, w->of->rule, 0);
}

static void show_wrong(void *context, const sweep_run *run, double x, double got, double want) {
    worker *w = context;
    char name[CASE_NAME_MAX];
    if (++w->shown > SHOWN) return;
    pthread_mutex_lock(&w->team->lock);
    ulp_progress_clear(&w->team->bar);
    ulp_complain(w->team->v->program, "%s: run %08" PRIx32 " to %08" PRIx32 ": x = %s: got %s, want %s",
                 case_name(name, w->of), run->inputs.first, sweep_word(&run->inputs, run->inputs.count - 1), ULP_HEX(x),
                 ULP_HEX(got), ULP_HEX(want));
    pthread_mutex_unlock(&w->team->lock);
}

static void write_list(void *context, const char *lines, size_t length) {
    const worker *w = context;
    fwrite(lines, 1, length, w->team->v->list);
}

static void show_progress(void *context, size_t inputs) {
    const worker *w = context;
    team *t = w->team;
    char name[CASE_NAME_MAX];
    pthread_mutex_lock(&t->lock);
    t->inputs += inputs;
    ulp_progress_show(&t->bar, (double)t->inputs / (0x1p32 * (double)t->v->count), case_name(name, w->of));
    pthread_mutex_unlock(&t->lock);
}

/* ---- cases ---- */

static ulp_status sweep_case(worker *w, sweep_result *result) {
    const ulp_format *f = w->of->format;
    w->wide = !f->fits_binary32;
    w->shown = 0;
    const sweep_question q = {.format = f,
                              .wraps = ulp_overflow_of(f, (ulp_overflow)w->of->rule.overflow) == ULP_OVERFLOW_WRAP,
                              .wide = w->wide,
                              .round = round_inputs,
                              .rounder = w,
                              .oracle = right,
                              .judge = w,
                              .wrong = show_wrong,
                              .list = w->team->v->list ? write_list : NULL,
                              .progress = show_progress,
                              .context = w,
                              .spans = sweep_line,
                              .count = SWEEP_SPANS};
    return sweep_inputs(&q, result);
}

/* Print the lines of the finished cases that follow the printed ones. */
static void print_lines(team *t) {
    ulp_progress_clear(&t->bar);
    for (; t->printed < t->v->count && t->outcomes[t->printed].done; t->printed++) {
        const sweep_result *r = &t->outcomes[t->printed].result;
        char name[CASE_NAME_MAX];
        printf("%s %zu/%zu %s: %" PRIu64 " inputs, %" PRIu64 " mismatch%s, %" PRIu64 " run%s, sha256 %s\n",
               r->mismatches == 0 ? "PASS" : "FAIL", t->printed + 1, t->v->of,
               case_name(name, &t->v->cases[t->printed]), r->inputs, r->mismatches, r->mismatches == 1 ? "" : "es",
               r->runs, ulp_plural(r->runs), r->hash);
        t->failed += r->mismatches != 0;
    }
    fflush(stdout);
}

static void run_cases(void *context, size_t begin, size_t end) {
    team *t = context;
    worker w = {
        .team = t, .x = t->v->backend->alloc(MOST * sizeof(double)), .y = t->v->backend->alloc(MOST * sizeof(double))};
    for (size_t i = begin; i < end && __atomic_load_n(&t->status, __ATOMIC_RELAXED) == ULP_OK; i++) {
        ulp_status status = ULP_OK;
        outcome *o = &t->outcomes[i];
        w.of = &t->v->cases[i];
        const int known = recall(t->v, w.of, &o->result);
        w.reference = known ? NULL : ulp_reference_new(w.of->format);
        if (!known && (w.reference == NULL || w.x == NULL || w.y == NULL)) status = ULP_NO_MEMORY;
        if (!known && status == ULP_OK) status = sweep_case(&w, &o->result);
        if (!known && status == ULP_OK) keep(t->v, w.of, &o->result);
        ulp_reference_free(w.reference);
        pthread_mutex_lock(&t->lock);
        if (known) t->inputs += o->result.inputs;
        if (status != ULP_OK) __atomic_store_n(&t->status, status, __ATOMIC_RELAXED);
        o->done = status == ULP_OK;
        print_lines(t);
        pthread_mutex_unlock(&t->lock);
    }
    if (w.x != NULL) t->v->backend->release(w.x);
    if (w.y != NULL) t->v->backend->release(w.y);
}

ulp_status verify_runs_all(const verify_runs *v, size_t *failed) {
    team t = {.v = v, .outcomes = calloc(v->count + 1, sizeof *t.outcomes), .bar = ulp_progress_start(v->program, 0)};
    if (t.outcomes == NULL) return ULP_NO_MEMORY;
    pthread_mutex_init(&t.lock, NULL);
    ulp_parallel_for(v->count, 1, run_cases, &t);
    pthread_mutex_destroy(&t.lock);
    ulp_progress_clear(&t.bar);
    free(t.outcomes);
    *failed += t.failed;
    return t.status;
}

#else

typedef int verify_runs_needs_mpfr; /* C requires a declaration in every file */

#endif

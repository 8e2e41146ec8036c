/* measure.c - measures the jobs of a group in rounds, and puts their rows.
 *
 * A round measures every job once, for --seconds / --rounds, and the jobs that it is compared with again if their last
 * measurement is older than FRESH seconds. A ratio is therefore a quotient of two measurements that lie close together
 * in time, so that a busy neighbour slows both of them, and the ratio of a row is the median of the ratios of the
 * rounds. The time of work on one thread is the processor time of the thread, which does not count the time that other
 * programs take; the time of work on several threads, and of the work that it is compared with, is that of the clock. A
 * job whose calls take long leaves the rounds when it has taken --seconds, after five rounds at the earliest.
 *
 * The time of work on a device is that of events in its stream. The device is kept busy for --seconds before the first
 * round, so that its clock rises and its caches fill. A row of a device is compared with the median of an earlier row.
 */
#include "bench.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/harness/claims/spread.h"

#define FRESH 0.25
enum { LEAST_ROUNDS = 5, MOST_CALLS = 100000 };

#if defined(ULP_WITH_BLAS)
void openblas_set_num_threads(int n);
#endif

/* ---- groups ---- */

static void set_text(char *to, size_t size, const char *text) {
    if (text) snprintf(to, size, "%.*s", (int)size - 1, text);
}

void job_name(job *j, const char *of, const char *mode, const char *by) {
    set_text(j->of, sizeof j->of, of);
    set_text(j->mode, sizeof j->mode, mode);
    set_text(j->by, sizeof j->by, by);
}

job job_new(const bench *b, const char *what, ulp_status (*run)(job *j), size_t n, int unit, double amount) {
    return (job){.what = what,
                 .by = "ulplab",
                 .threads = 1,
                 .unit = unit,
                 .n = n,
                 .amount = amount,
                 .timer = b->timer,
                 .run = run,
                 .b = b};
}

size_t group_add(group *g, job j) {
    g->jobs = ulp_room_for(g->jobs, g->count, &g->room, sizeof *g->jobs);
    g->jobs[g->count] = j;
    return g->count++;
}

void group_compare(group *g, size_t one, size_t other, const char *name, int relation) {
    g->comparisons = ulp_room_for(g->comparisons, g->pairs, &g->pairs_room, sizeof *g->comparisons);
    g->comparisons[g->pairs++] = (comparison){.one = one, .other = other, .name = name, .relation = relation};
}

void group_compare_offer(group *g, size_t one, const peer_offer *offer, int relation) {
    job theirs = g->jobs[one];
    theirs.offer = offer;
    job_name(&theirs, NULL, NULL, offer->by);
    group_compare(g, one, group_add(g, theirs), offer->by, relation);
}

double kept_rate(const bench *b, const char *name) {
    for (size_t i = 0; i < b->kept->count; i++)
        if (strcmp(b->kept->at[i].name, name) == 0) return b->kept->at[i].rate;
    return 0;
}

static void keep_rate(const bench *b, const char *name, double rate) {
    struct kept_list *k = b->kept;
    k->at = ulp_room_for(k->at, k->count, &k->room, sizeof *k->at);
    set_text(k->at[k->count].name, sizeof k->at->name, name);
    k->at[k->count++].rate = rate;
}

void group_compare_kept(group *g, const bench *b, size_t one, const char *kept_name, const char *name) {
    const double rate = kept_rate(b, kept_name);
    if (!(rate > 0)) return;
    group_compare(g, one, one, name, SPEED);
    g->comparisons[g->pairs - 1].base = rate;
}

static void empty(group *g) {
    for (size_t i = 0; i < g->count; i++) free(g->jobs[i].rates);
    for (size_t i = 0; i < g->pairs; i++) free(g->comparisons[i].ratios);
    free(g->jobs);
    free(g->comparisons);
    *g = (group){0};
}

/* ---- one measurement ---- */

static void keep(double **at, size_t *count, size_t *room, double x) {
    *at = ulp_room_for(*at, *count, room, sizeof **at);
    (*at)[(*count)++] = x;
}

static double thread_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ulp_status time_calls(job *j, size_t calls) {
    ulp_status status = j->timer ? ulp_cuda_timer_start(j->timer) : ULP_OK;
    const double began = ulp_clock(), thread_began = thread_time();
    for (size_t i = 0; i < calls && status == ULP_OK; i++) status = j->run(j);
    double thread = thread_time() - thread_began, clock = ulp_clock() - began;
    if (j->timer && status == ULP_OK) {
        status = ulp_cuda_timer_stop(j->timer, &clock);
        thread = clock;
    }
    j->once.thread = (thread + 1e-9) / (double)calls;
    j->once.clock = (clock + 1e-9) / (double)calls;
    return status;
}

static ulp_status warm_up(job *j, double seconds) {
    const double began = ulp_clock();
    for (size_t calls = 1; j->timer && ulp_clock() - began < seconds; calls *= 2) ULP_TRY(time_calls(j, calls));
    return ULP_OK;
}

/* The seconds of work on one thread are its processor time, unless it is compared with work on several threads. */
static double seconds_of(const job *j, int threads) { return threads == 1 ? j->once.thread : j->once.clock; }

/* The time of a call, from as many calls as fit `slice`. The first call, which fills the caches, does not count unless
 * it is longer than the slice. */
static ulp_status measure(group *g, size_t i, double slice) {
    job *j = &g->jobs[i];
    const double began = ulp_clock();
    ulp_status status = ULP_OK;
    if (j->offer) {
        if (!peer_measure(&j->once, j->offer, j->n, j->threads, slice)) status = ULP_DEVICE_FAILED;
    } else {
        ulp_threads_set(j->threads);
#if defined(ULP_WITH_BLAS)
        openblas_set_num_threads(j->threads);
#endif
        status = time_calls(j, 1);
        for (size_t calls = 1; status == ULP_OK && j->once.clock * (double)calls < slice / 2 && calls < MOST_CALLS;) {
            const double fit = slice / j->once.clock;
            calls = fit < (double)MOST_CALLS ? (size_t)fit + 1 : MOST_CALLS;
            status = time_calls(j, calls);
        }
    }
    j->ended = ulp_clock();
    j->spent += j->ended - began;
    if (status != ULP_OK) g->failed = i;
    else keep(&j->rates, &j->count, &j->room, j->amount / seconds_of(j, j->threads));
    return status;
}

static int is_fresh(const job *j) { return j->count && ulp_clock() - j->ended < FRESH; }

/* Measures a job and the jobs that it is compared with. */
static ulp_status measure_beside(group *g, size_t i, double slice) {
    for (size_t k = 0; k < g->pairs; k++)
        if (g->comparisons[k].one == i && g->comparisons[k].other != i && !is_fresh(&g->jobs[g->comparisons[k].other]))
            ULP_TRY(measure(g, g->comparisons[k].other, slice));
    ULP_TRY(measure(g, i, slice));
    for (size_t k = 0; k < g->pairs; k++) {
        comparison *c = &g->comparisons[k];
        if (c->one != i) continue;
        const job *j = &g->jobs[i], *other = &g->jobs[c->other];
        const int threads = j->threads > other->threads ? j->threads : other->threads;
        const double base = c->base > 0 ? c->base : other->amount / seconds_of(other, threads);
        const double speed = j->amount / seconds_of(j, threads) / base;
        keep(&c->ratios, &c->count, &c->room, c->relation == TIME ? 1 / speed : speed);
    }
    return ULP_OK;
}

/* ---- goals ---- */

/* Patterns of the shell for the work, what it is of, its mode, and the name of what it is compared with; then the least
 * size, and the goal with avx512 or on a device, and with avx2, 0 for none. The first row that fits counts. Arrays in
 * memory have the goals of "round in memory". */
static const struct goal {
    const char *what, *of, *mode, *beside;
    size_t least;
    double avx512, avx2;
} goals[] = {
    {"round in memory", "*", "r*", "memcpy", 0, 1, 1},
    {"round", "*", "*", "copy", 0, 0.9, 0}, /* on a device, where only this row counts */
    {"round", "binary16", "rne", "memcpy", 0, 0.6, 0.6},
    {"round", "bfloat16", "rne", "memcpy", 0, 0.6, 0.6},
    {"round", "*", "rn[ea]", "memcpy", 0, 0.35, 0.35},
    {"round", "*", "r[zudo]", "memcpy", 0, 0.25, 0.25},
    {"round", "*", "sr*", "memcpy", 0, 0.07, 0.07},
    {"count", "*", "*", "uncounted", 0, 1.5, 1.5},
    {"round64", "*", "*", "binary32", 0, 0.5, 0.5},
    {"encode", "posit*", "*", "memcpy", 0, 0.1, 0.1},
    {"encode", "takum*", "*", "memcpy", 0, 0.1, 0.1},
    {"*code", "*", "*", "memcpy", 0, 0.8, 0.8},
    {"quantize", "int8", "*", "memcpy", 0, 0.6, 0.6},
    {"quantize", "*", "*", "memcpy", 0, 0.3, 0.3},
    {"dequantize", "*", "*", "memcpy", 0, 0.6, 0.6},
    {"*code", "*", "*", "one thread", 0, 1.8, 1.8},
    {"*quantize", "*", "*", "one thread", 0, 1.8, 1.8},
    {"product", "fp32", "*", "OpenBLAS", 256, 0.9, 0.9},
    {"product", "serial:binary64:*", "*", "fp32", 256, 2.4, 2.4},
    {"product", "serial:q8.8:*", "*", "fp32", 256, 10, 8},
    {"product", "serial:posit*", "*", "fp32", 256, 200, 220},
    {"product", "serial:takum*", "*", "fp32", 256, 220, 220},
    {"product", "serial:hif8*", "*", "fp32", 256, 300, 350},
    {"product", "block*", "*", "fp32", 256, 12, 16},
    {"product", "serial:*:rn[ea]", "*", "fp32", 256, 8, 8},
    {"product", "serial:*:r[zudo]", "*", "fp32", 256, 12, 12},
    {"product", "serial:*:sr*", "*", "fp32", 256, 30, 30},
    {"product", "kahan:*", "*", "fp32", 256, 60, 60},
    {"product", "exact:*", "*", "fp32", 256, 6, 6},
    {"product", "int8*", "*", "fp32", 256, 0.6, 1.5},
    {"product", "*:*:sr*", "*", "fp32", 256, 30, 30},
    {"product", "split:*", "*", "fp32", 256, 20, 20},
    {"product", "chunk*", "*", "fp32", 256, 20, 20},
    {"product", "pairwise:*", "*", "fp32", 256, 20, 20},
    {"product", "*", "*", "a100-fp16", 256, 2, 2},
    {"product", "mi[0-9]*", "*", "fp32", 0, 0, 0}, /* units of other vendors are compared with a100-fp16 */
    {"product", "avx512-*", "*", "fp32", 0, 0, 0},
    {"product", "arm-*", "*", "fp32", 0, 0, 0},
    {"product", "[a-z]*[0-9]-*", "*", "fp32", 256, 4, 6},
    {"product", "*", "*", "one thread", 512, 1.85, 1.85},
    {"step", "784-*", "fp32", "PyTorch*", 0, 1.1, 1.1},
    {"step", "784-*", "q8.8/rne", "fp32", 0, 1.1, 1.1},
    {"step", "784-*", "q8.8/sra", "fp32", 0, 1.2, 1.2},
    {"step", "*", "mixed:*", "fp32", 0, 1.25, 1.25},
    {"step", "784-*", "*", "one thread", 0, 1.85, 1.85},
};

static int fits(const char *pattern, const char *text) { return fnmatch(pattern, text, 0) == 0; }

/* The least speed or the largest time of a job against another one; ULP_NO_NUMBER if there is no goal. */
static double goal_of(const job *j, const comparison *c) {
    const char *isa = j->b->isa;
    const char *what = j->in_memory ? "round in memory" : j->what;
    const int wide = j->timer || strcmp(isa, "avx512") == 0;
    if ((!wide && strcmp(isa, "avx2") != 0) || j->offer) return ULP_NO_NUMBER;
    if (j->b->timer && strcmp(c->name, "copy") != 0) return ULP_NO_NUMBER;
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        const struct goal *g = &goals[i];
        if (j->n >= g->least && fits(g->what, what) && fits(g->of, j->of) && fits(g->mode, j->mode) &&
            fits(g->beside, c->name))
            return g->avx512 > 0 ? (wide ? g->avx512 : g->avx2) : ULP_NO_NUMBER;
    }
    return ULP_NO_NUMBER;
}

/* ---- rows ---- */

const char *const part_titles[PARTS] = {
    [PART_CACHE] = "rounding in the first-level cache",
    [PART_MEMORY] = "rounding in memory",
    [PART_BITS] = "rounding with some random bits",
    [PART_PRODUCTS] = "products under datapaths",
    [PART_SIZES] = "products by size",
    [PART_NATIVE] = "products of the device",
    [PART_TRAINING] = "training steps",
    [PART_POLICIES] = "training steps under policies",
    [PART_LIBRARIES] = "rounding compared with other libraries",
};

/* The value of a sorted array below which a share lies; between two values it is interpolated. */
static double quantile(const double *sorted, size_t count, double share) {
    const double at = share * (double)(count - 1);
    const size_t i = (size_t)at;
    return i + 1 < count ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

/* The number of units of a rate per second, in the order of UNIT_WORDS. */
static const double units[] = {1e-9, 1e-9, 1, 1e-9, 1e-12};

static void put_row(const ulp_task *task, const job *j, const comparison *c, double clock) {
    const double unit = units[j->unit];
    row r;
    ulp_row_clear(task->rows, &r);
    const int part = ((const point *)task->point)->part;
    r.group = part == PART_SIZES || part == PART_CODES ? task->label : part_titles[part];
    r.what = j->what;
    r.of = *j->of ? j->of : NULL;
    r.mode = *j->mode ? j->mode : NULL;
    r.by = j->by;
    r.threads = j->threads;
    if (j->n) r.n = (int64_t)j->n;
    r.unit = j->unit;
    r.rate = quantile(j->rates, j->count, 0.5) * unit;
    r.q1 = quantile(j->rates, j->count, 0.25) * unit;
    r.q3 = quantile(j->rates, j->count, 0.75) * unit;
    r.rounds = (int64_t)j->count;
    if (c) {
        r.beside = c->name;
        r.relation = c->relation;
        r.ratio = quantile(c->ratios, c->count, 0.5);
        r.ratio_q1 = quantile(c->ratios, c->count, 0.25);
        r.ratio_q3 = quantile(c->ratios, c->count, 0.75);
        r.goal = goal_of(j, c);
    }
    if (j->timer) r.clock = clock;
    ulp_row_put(task->rows, &r);
}

static void put_rows(const ulp_task *task, const group *g, double clock) {
    for (size_t i = 0; i < g->count; i++) {
        const job *j = &g->jobs[i];
        int compared = 0;
        ulp_sort_numbers(j->rates, j->count);
        if (j->keep) keep_rate(task->context, j->keep, quantile(j->rates, j->count, 0.5));
        for (size_t k = 0; k < g->pairs; k++) {
            comparison *c = &g->comparisons[k];
            if (c->one != i) continue;
            compared = 1;
            ulp_sort_numbers(c->ratios, c->count);
            put_row(task, j, c, clock);
        }
        if (!compared) put_row(task, j, NULL, clock);
    }
}

/* The sentence of a device, whose points are single jobs, is that of the point. */
static void fail(const ulp_task *task, const job *j, ulp_status status) {
    if (j->offer)
        ulp_task_fail(task, status, "--peers %s: the worker failed at %s %s %s", peer_command(j->offer), j->what, j->of,
                      j->mode);
    else if (!j->b->timer)
        ulp_task_fail(task, status, "%s %s %s: %s", j->what, j->of, j->mode,
                      *ulp_backend_error() ? ulp_backend_error() : ulp_status_text(status));
}

/* Measures a round. *stopped gets 1 if the run ends. */
static ulp_status measure_round(const ulp_task *task, group *g, int64_t round, int *stopped) {
    const settings *set = task->settings;
    ulp_status status = ULP_OK;
    for (size_t i = 0; i < g->count && status == ULP_OK && !*stopped; i++) {
        if (round < LEAST_ROUNDS || g->jobs[i].spent < set->seconds)
            status = measure_beside(g, i, set->seconds / (double)set->rounds);
        const double done = (double)round + (double)i / (double)g->count;
        *stopped = ulp_task_progress(task, done / (double)set->rounds);
    }
    return status;
}

ulp_status group_measure(const ulp_task *task, group *g) {
    const settings *set = task->settings;
    const bench *b = task->context;
    double hertz = 0;
    ulp_status status = ULP_OK;
    int stopped = 0;
    for (size_t i = 0; i < g->count && status == ULP_OK; i++) status = warm_up(&g->jobs[g->failed = i], set->seconds);
    for (int64_t round = 0; round < set->rounds && status == ULP_OK && !stopped; round++)
        status = measure_round(task, g, round, &stopped);
    if (status == ULP_OK && b->timer) status = ulp_cuda_clock(&hertz);
    if (status != ULP_OK) fail(task, &g->jobs[g->failed], status);
    else if (!stopped) put_rows(task, g, 1e-6 * hertz);
    empty(g);
    return status;
}

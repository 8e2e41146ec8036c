/* rounding.c - rows of rounding: arrays in the first-level cache and in memory, random bits, other libraries. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arrays of n elements; the binary64 arrays only if `wide`. */
typedef struct arrays {
    float *x, *y;
    double *x64, *y64;
    uint32_t *words;
    ulp_stats stats;
} arrays;

static void release(arrays *a) {
    free(a->x);
    free(a->y);
    free(a->x64);
    free(a->y64);
    free(a->words);
}

/* Values in (-2, 2); the quality of the random numbers does not matter. */
static ulp_status take(arrays *a, const ulp_backend *backend, size_t n, int wide) {
    uint32_t state = 1;
    *a = (arrays){.x = backend->alloc(n * sizeof(float)), .y = backend->alloc(n * sizeof(float))};
    if (wide) {
        a->x64 = backend->alloc(n * sizeof(double));
        a->y64 = backend->alloc(n * sizeof(double));
        a->words = backend->alloc(n * sizeof(uint32_t));
    }
    if (!a->x || !a->y || (wide && (!a->x64 || !a->y64 || !a->words))) return ULP_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        a->y[i] = a->x[i] = (float)(int32_t)state * 0x1p-30f;
        if (wide) a->y64[i] = a->x64[i] = (double)(int32_t)state * 0x1p-30;
    }
    return ULP_OK;
}

/* ---- jobs ---- */

static ulp_status run_round(const job *j) { return ulp_backend_round(j->b->backend, j->z, j->x, j->n, j->how); }

static ulp_status run_round64(const job *j) { return ulp_backend_round64(j->b->backend, j->z, j->x, j->n, j->how); }

static job rounding(const bench *b, const arrays *a, size_t n, const ulp_format *format, const ulp_named_rule *rule) {
    job j = {.what = "round",
             .by = "ulplab",
             .threads = 1,
             .n = n,
             .amount = (double)n,
             .run = run_round,
             .b = b,
             .how = {format, rule->rule, (ulp_stream){1, 0, 0}, NULL},
             .x = a->x,
             .z = a->y};
    job_name(&j, format->name, rule->name, NULL);
    return j;
}

/* Adds the rounding of an array, beside memcpy and, where it is stochastic, beside the random words alone. */
static size_t add_rounding(group *g, const job *j, size_t copy, size_t words) {
    const size_t i = group_add(g, j);
    group_compare(g, i, copy, "memcpy", SPEED);
    if (ulp_mode_is_stochastic(j->how.rule.mode)) group_compare(g, i, words, "random words", SPEED);
    return i;
}

/* Adds the counted rounding of the array and the rounding of a binary64 array, beside rounding j. */
static void add_others(group *g, arrays *a, job j, size_t plain) {
    j.what = "count";
    j.how.stats = &a->stats;
    group_compare(g, group_add(g, &j), plain, "uncounted", TIME);
    j.what = "round64";
    j.run = run_round64;
    j.how.stats = NULL;
    j.x = a->x64;
    j.z = a->y64;
    group_compare(g, group_add(g, &j), plain, "binary32", SPEED);
}

/* ---- the parts ---- */

/* The rows of rounding in the first-level cache: the arrays, and the jobs that the rows stand beside. */
typedef struct in_cache {
    arrays a;
    group g;
    size_t copy, words;
} in_cache;

static ulp_status begin_in_cache(in_cache *c, const ulp_task *task) {
    const bench *b = task->context;
    const size_t n = (size_t)((const settings *)task->settings)->cache;
    const ulp_status status = take(&c->a, b->backend, n, 1);
    c->g = (group){0};
    if (status != ULP_OK) return status;
    const job copy = roof_copy(b, c->a.y, c->a.x, n, 1), words = roof_words(b, c->a.words, n);
    c->copy = group_add(&c->g, &copy);
    c->words = group_add(&c->g, &words);
    return ULP_OK;
}

ulp_status put_rounding_in_cache(const ulp_task *task) {
    const settings *set = task->settings;
    in_cache c;
    ulp_status status = begin_in_cache(&c, task);
    if (status == ULP_OK) {
        group_compare(&c.g, c.words, c.copy, "memcpy", SPEED);
        for (size_t f = 0; f < set->formats.count; f++)
            for (size_t m = 0; m < set->modes.count; m++) {
                const job j = rounding(task->context, &c.a, (size_t)set->cache, &set->formats.at[f], &set->modes.at[m]);
                add_others(&c.g, &c.a, j, add_rounding(&c.g, &j, c.copy, c.words));
            }
        status = group_measure(task, &c.g);
    }
    release(&c.a);
    return status;
}

ulp_status put_random_bits(const ulp_task *task) {
    const settings *set = task->settings;
    in_cache c;
    ulp_status status = begin_in_cache(&c, task);
    if (status == ULP_OK) {
        for (size_t f = 0; f < set->formats.count; f++)
            for (size_t r = 0; r < set->bits.count; r++) {
                ulp_named_rule rule = {.rule = {.mode = ULP_SRA, .random_bits = (uint8_t)set->bits.at[r]}};
                snprintf(rule.name, sizeof rule.name, "sra/%d", (int)set->bits.at[r]);
                const job j = rounding(task->context, &c.a, (size_t)set->cache, &set->formats.at[f], &rule);
                add_rounding(&c.g, &j, c.copy, c.words);
            }
        status = group_measure(task, &c.g);
    }
    release(&c.a);
    return status;
}

/* Adds memcpy and the roundings on some number of threads; where it is not the first one, beside those on one thread,
 * which are the first jobs of the group in the same order. */
static void add_threads(group *g, const ulp_task *task, const arrays *a, size_t n, int threads) {
    const settings *set = task->settings;
    const bench *b = task->context;
    const size_t before = g->count;
    const job copy = roof_copy(b, a->y, a->x, n, threads);
    const size_t by_copy = group_add(g, &copy);
    for (size_t f = 0; f < set->formats.count; f++)
        for (size_t m = 0; m < set->modes.count; m++) {
            job j = rounding(b, a, n, &set->formats.at[f], &set->modes.at[m]);
            j.threads = threads;
            j.in_memory = 1;
            group_compare(g, group_add(g, &j), by_copy, "memcpy", SPEED);
        }
    for (size_t i = before; before && i < g->count; i++) group_compare(g, i, i - before, "one thread", SPEED);
}

ulp_status put_rounding_in_memory(const ulp_task *task) {
    const settings *set = task->settings;
    const bench *b = task->context;
    const size_t n = (size_t)set->memory;
    arrays a;
    group g = {0};
    ulp_status status = take(&a, b->backend, n, 0);
    if (status == ULP_OK) {
        add_threads(&g, task, &a, n, 1);
        if (b->threads > 1) add_threads(&g, task, &a, n, b->threads);
        status = group_measure(task, &g);
    }
    release(&a);
    return status;
}

/* The calls of other libraries take a microsecond or more, so arrays have more elements than the first-level cache. */
enum { LIBRARY_ELEMENTS = 65536 };

/* Adds the work that a library offers and ours beside it. An offer in a format or mode that does not exist here has no
 * rows. */
static void add_offer(group *g, const bench *b, const arrays *a, ulp_format *format, const peer_offer *offer) {
    ulp_named_rule rule = {.rule = {0}};
    ulp_mode mode;
    if (ulp_format_parse(format, offer->of) != ULP_OK || ulp_mode_parse(&mode, offer->mode) != ULP_OK) return;
    rule.rule.mode = (uint8_t)mode;
    snprintf(rule.name, sizeof rule.name, "%s", ulp_mode_name(mode));
    job theirs = rounding(b, a, LIBRARY_ELEMENTS, format, &rule), ours = theirs;
    size_t i = 0;
    while (i < g->count &&
           (strcmp(g->jobs[i].of, ours.of) != 0 || strcmp(g->jobs[i].mode, ours.mode) != 0 || g->jobs[i].offer != NULL))
        i++;
    if (i == g->count) group_add(g, &ours);
    theirs.offer = offer;
    job_name(&theirs, NULL, NULL, offer->by);
    group_compare(g, i, group_add(g, &theirs), offer->by, SPEED);
}

ulp_status put_libraries(const ulp_task *task) {
    const bench *b = task->context;
    const peer_offer *offer;
    ulp_format formats[64];
    arrays a;
    group g = {0};
    ulp_status status = take(&a, b->backend, LIBRARY_ELEMENTS, 0);
    size_t at = 0, used = 0;
    while (status == ULP_OK && used < 64 && (offer = peers_find(b->peers, &at, "round", NULL, NULL)) != NULL)
        add_offer(&g, b, &a, &formats[used++], offer);
    if (status == ULP_OK) status = group_measure(task, &g);
    release(&a);
    return status;
}

/* rounding.c - rows of rounding: arrays in the first-level cache and in memory, random bits, other libraries. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

/* ---- jobs ---- */

static ulp_status run_round(job *j) {
    const arrays *a = j->arrays;
    const size_t k = j->turn++ % a->pairs;
    return ulp_backend_round(j->b->backend, a->y[k], a->x[k], a->n, j->how);
}

static ulp_status run_round64(job *j) {
    return ulp_backend_round64(j->b->backend, j->arrays->y64, j->arrays->x64, j->n, j->how);
}

/* An element of an array on a device is read and written, 8 bytes. */
static job rounding(const bench *b, arrays *a, const ulp_format *format, const ulp_named_rule *rule) {
    const double n = (double)a->n;
    job j = job_new(b, "round", run_round, a->n, b->timer ? BYTES : ELEMENTS, b->timer ? 2 * sizeof(float) * n : n);
    j.arrays = a;
    j.how = (ulp_rounding){format, rule->rule, (ulp_stream){1, 0, 0}, NULL};
    job_name(&j, format->name, rule->name, NULL);
    return j;
}

static ulp_named_rule rule_of_bits(int64_t bits) {
    ulp_named_rule rule = {.rule = {.mode = ULP_SRA, .random_bits = (uint8_t)bits}};
    snprintf(rule.name, sizeof rule.name, "sra/%d", (int)bits);
    return rule;
}

static job counting(job j) {
    j.what = "count";
    j.how.stats = &j.arrays->stats;
    return j;
}

/* Adds the rounding of an array, compared with memcpy and, where it is stochastic, with the random words alone. */
static size_t add_rounding(group *g, job j, size_t copy, size_t words) {
    const size_t i = group_add(g, j);
    group_compare(g, i, copy, "memcpy", SPEED);
    if (ulp_mode_is_stochastic(j.how.rule.mode)) group_compare(g, i, words, "random words", SPEED);
    return i;
}

/* Adds the counted rounding of the array and the rounding of a binary64 array, compared with rounding j. */
static void add_others(group *g, job j, size_t plain) {
    group_compare(g, group_add(g, counting(j)), plain, "uncounted", TIME);
    j.what = "round64";
    j.run = run_round64;
    group_compare(g, group_add(g, j), plain, "binary32", SPEED);
}

/* ---- in the first-level cache ---- */

/* The part `cache`, or the part `bits`, whose modes are numbers of random bits. */
ulp_status put_rounding_in_cache(const ulp_task *task) {
    const settings *set = task->settings;
    const bench *b = task->context;
    const int bits = ((const point *)task->point)->part == PART_BITS;
    arrays a;
    group g = {0};
    ulp_status status = arrays_open(&a, b, (size_t)set->cache, 1, 1);
    if (status == ULP_OK) {
        const size_t copy = group_add(&g, roof_copy(b, &a, 1)), words = group_add(&g, roof_words(b, a.words, a.n));
        if (!bits) group_compare(&g, words, copy, "memcpy", SPEED);
        for (size_t f = 0; f < set->formats.count; f++)
            for (size_t m = 0; m < (bits ? set->bits.count : set->modes.count); m++) {
                const ulp_named_rule rule = bits ? rule_of_bits(set->bits.at[m]) : set->modes.at[m];
                const job j = rounding(b, &a, &set->formats.at[f], &rule);
                const size_t plain = add_rounding(&g, j, copy, words);
                if (!bits) add_others(&g, j, plain);
            }
        status = group_measure(task, &g);
    }
    arrays_release(&a, b);
    return status;
}

/* ---- in memory ---- */

/* Adds memcpy and the roundings on some number of threads; where it is not the first one, compared with those on one
 * thread, which are the first jobs of the group in the same order. */
static void add_threads(group *g, const ulp_task *task, arrays *a, int threads) {
    const settings *set = task->settings;
    const bench *b = task->context;
    const size_t before = g->count;
    const size_t by_copy = group_add(g, roof_copy(b, a, threads));
    for (size_t f = 0; f < set->formats.count; f++)
        for (size_t m = 0; m < set->modes.count; m++) {
            job j = rounding(b, a, &set->formats.at[f], &set->modes.at[m]);
            j.threads = threads;
            j.in_memory = 1;
            group_compare(g, group_add(g, j), by_copy, "memcpy", SPEED);
        }
    for (size_t i = before; before && i < g->count; i++) group_compare(g, i, i - before, "one thread", SPEED);
}

ulp_status put_rounding_in_memory(const ulp_task *task) {
    const bench *b = task->context;
    arrays a;
    group g = {0};
    ulp_status status = arrays_open(&a, b, (size_t)b->memory, 1, 0);
    if (status == ULP_OK) {
        add_threads(&g, task, &a, 1);
        if (b->threads > 1) add_threads(&g, task, &a, b->threads);
        status = group_measure(task, &g);
    }
    arrays_release(&a, b);
    return status;
}

/* ---- on a device ---- */

ulp_status put_device_rounding(const ulp_task *task) {
    const bench *b = task->context;
    const point *p = task->point;
    group g = {0};
    const job j = p->format ? rounding(b, b->arrays, p->format, &p->rule) : roof_copy(b, b->arrays, 1);
    const size_t i = group_add(&g, p->counts ? counting(j) : j);
    if (p->format) group_compare_kept(&g, b, i, "copy", "copy");
    return group_measure(task, &g);
}

void plan_device_rounding(ulp_plan *plan, const settings *set, int part) {
    const int bits = part == PART_BITS;
    point p = {.part = part};
    if (!bits || !(set->parts >> PART_MEMORY & 1)) ulp_plan_add(plan, &p, 1, "copy");
    for (size_t f = 0; f < set->formats.count; f++)
        for (size_t m = 0; m < (bits ? set->bits.count : set->modes.count); m++) {
            p.format = &set->formats.at[f];
            p.rule = bits ? rule_of_bits(set->bits.at[m]) : set->modes.at[m];
            p.counts = 0;
            ulp_plan_add(plan, &p, 1, "%s %s %s", bits ? "random bits" : "round", p.format->name, p.rule.name);
            if (bits || f > 0 || m > 0) continue;
            p.counts = 1; /* one row is enough to show the cost of the counters */
            ulp_plan_add(plan, &p, 1, "count %s %s", p.format->name, p.rule.name);
        }
}

/* ---- other libraries ---- */

/* The calls of other libraries take a microsecond or more, so arrays have more elements than the first-level cache. */
enum { LIBRARY_ELEMENTS = 65536 };

/* Adds the work that a library offers, compared with ours. An offer in a format or mode that does not exist here has no
 * rows. */
static void add_offer(group *g, const bench *b, arrays *a, ulp_format *format, const peer_offer *offer) {
    ulp_named_rule rule = {.rule = {0}};
    ulp_mode mode;
    if (ulp_format_parse(format, offer->of) != ULP_OK || ulp_mode_parse(&mode, offer->mode) != ULP_OK) return;
    rule.rule.mode = (uint8_t)mode;
    snprintf(rule.name, sizeof rule.name, "%s", ulp_mode_name(mode));
    const job ours = rounding(b, a, format, &rule);
    size_t i = 0;
    while (i < g->count &&
           (strcmp(g->jobs[i].of, ours.of) != 0 || strcmp(g->jobs[i].mode, ours.mode) != 0 || g->jobs[i].offer != NULL))
        i++;
    if (i == g->count) group_add(g, ours);
    group_compare_offer(g, i, offer, SPEED);
}

ulp_status put_libraries(const ulp_task *task) {
    const bench *b = task->context;
    const peer_offer *offer;
    ulp_format formats[64];
    arrays a;
    group g = {0};
    ulp_status status = arrays_open(&a, b, LIBRARY_ELEMENTS, 1, 0);
    size_t at = 0, used = 0;
    while (status == ULP_OK && used < 64 && (offer = peers_find(b->peers, &at, "round", NULL, NULL)) != NULL)
        add_offer(&g, b, &a, &formats[used++], offer);
    if (status == ULP_OK) status = group_measure(task, &g);
    arrays_release(&a, b);
    return status;
}

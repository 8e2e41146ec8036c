/* sums.c - dot products under every schedule: errors, numbers of different results, batches, the pairwise sum. */
#include "batch_invariance.h"
#include "experiments/harness/claims/spread.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PARTS = 64 };

/* Arrays in backend memory, and copies in host memory. */
typedef struct machine {
    ulp_arena arena;
    size_t sums, k;
    float *a, *b;                     /* (sums,k), (k) */
    float *part;                      /* (MOST_PARTS,sums) */
    double *wide_a, *wide_b, *wide_y; /* a row of a, b, a sum */
} machine;

static void carve(void *own, ulp_arena *arena) {
    machine *m = own;
    m->a = ulp_arena_take(arena, m->sums * m->k);
    m->b = ulp_arena_take(arena, m->k);
    m->part = ulp_arena_take(arena, MOST_PARTS * m->sums);
    m->wide_a = ulp_arena_take64(arena, m->k);
    m->wide_b = ulp_arena_take64(arena, m->k);
    m->wide_y = ulp_arena_take64(arena, 1);
}

typedef struct schedule {
    int64_t tile, parts;
    int join;
} schedule;

/* y = x + z, rounded to binary32. */
static ulp_status add(const machine *m, float *y, const float *x, const float *z, size_t n) {
    ulp_format fp32;
    ULP_TRY(ulp_format_parse(&fp32, "binary32"));
    return ulp_backend_map(m->arena.backend, y, (ulp_array_op){ULP_ADD, x, z, NULL}, n,
                           (ulp_rounding){&fp32, {0}, {0, 0, 0}, NULL});
}

/* y (sums), backend memory = the sums of `length` products from product `from` on, for sums from sum `first` on, in
 * `parts` parts that are added one after the other. */
static ulp_status sum(const machine *m, float *y, const schedule *s, size_t parts, size_t first, size_t sums,
                      size_t from, size_t length) {
    const ulp_gemm_shape shape = {.m = sums, .n = 1, .k = length, .lda = m->k, .ldb = 1, .ldc = 1};
    char name[96], split[48] = "";
    ulp_datapath d;
    if (parts > 1) snprintf(split, sizeof split, ":split-k=%zu:fp32", parts);
    snprintf(name, sizeof name, "block%d:fp32:rne%s", (int)s->tile, split);
    ULP_TRY(ulp_datapath_parse(&d, name));
    return ulp_backend_gemm(m->arena.backend, y, m->a + first * m->k + from, m->b + from, &shape,
                            (ulp_summation){.datapath = &d});
}

/* part (parts,sums): the parts become their sum, pairs of neighbours at a time. */
static ulp_status join(const machine *m, size_t parts, size_t sums) {
    for (; parts > 1; parts = (parts + 1) / 2) {
        for (size_t i = 0; i + 1 < parts; i += 2)
            ULP_TRY(add(m, m->part + i / 2 * sums, m->part + i * sums, m->part + (i + 1) * sums, sums));
        if (parts % 2)
            ULP_TRY(ulp_tensor_copy(m->arena.backend, m->part + parts / 2 * sums, m->part + (parts - 1) * sums, sums));
    }
    return ULP_OK;
}

/* y (sums), host memory = the sums of the first `length` products under a schedule. */
static ulp_status run_schedule(const machine *m, const schedule *s, size_t first, size_t sums, size_t length,
                               float *y) {
    const size_t parts = (size_t)s->parts, each = length / parts;
    if (s->join == SERIAL) ULP_TRY(sum(m, m->part, s, parts, first, sums, 0, length));
    else {
        for (size_t p = 0; p < parts; p++)
            ULP_TRY(sum(m, m->part + p * sums, s, 1, first, sums, p * each, p + 1 < parts ? each : length - p * each));
        ULP_TRY(join(m, parts, sums));
    }
    return m->arena.backend->download(y, m->part, sums * sizeof *y);
}

/* Schedule `number` of the settings: serial ones, then trees of several parts. 0 if there is none. */
static int schedule_at(const settings *s, size_t number, schedule *to) {
    for (int join = 0; join < JOIN_COUNT; join++)
        for (size_t p = 0; p < s->parts.count; p++)
            for (size_t t = 0; t < s->tiles.count; t++) {
                if (join == TREE && s->parts.at[p] == 1) continue;
                if (number-- > 0) continue;
                *to = (schedule){s->tiles.at[t], s->parts.at[p], join};
                return 1;
            }
    return 0;
}

/* exact (sums): the sums, rounded once to binary64. */
static ulp_status exact_sums(const machine *m, const float *a, const float *b, double *wide, double *exact) {
    const ulp_backend *backend = m->arena.backend;
    const size_t k = m->k;
    const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = k, .lda = k, .ldb = 1, .ldc = 1};
    ulp_datapath d;
    ULP_TRY(ulp_datapath_parse(&d, "exact:binary64:rne"));
    for (size_t j = 0; j < k; j++) wide[j] = (double)b[j];
    ULP_TRY(backend->upload(m->wide_b, wide, k * sizeof *wide));
    for (size_t i = 0; i < m->sums; i++) {
        for (size_t j = 0; j < k; j++) wide[j] = (double)a[i * k + j];
        ULP_TRY(backend->upload(m->wide_a, wide, k * sizeof *wide));
        ULP_TRY(ulp_backend_gemm64(backend, m->wide_y, m->wide_a, m->wide_b, &shape, (ulp_summation){.datapath = &d}));
        ULP_TRY(backend->download(exact + i, m->wide_y, sizeof *exact));
    }
    return ULP_OK;
}

static size_t differences(const float *x, const float *y, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += ulp_bits32(x[i]) != ulp_bits32(y[i]);
    return count;
}

/* ---- rows ---- */

static void put_schedule(const ulp_task *task, const schedule *s, const float *y, const double *exact, size_t sums) {
    row r = row_of(task, SCHEDULE);
    double squares = 0;
    for (size_t i = 0; i < sums; i++) squares += ((double)y[i] - exact[i]) * ((double)y[i] - exact[i]);
    r.tile = s->tile, r.parts = s->parts, r.join = s->join;
    r.count = (int64_t)sums;
    r.value = sqrt(squares / (double)sums);
    ulp_row_put(task->rows, &r);
}

/* The number of different numbers in x (n), which is sorted then. */
static int64_t distinct(double *x, size_t n) {
    int64_t count = n > 0;
    ulp_sort_numbers(x, n);
    for (size_t i = 1; i < n; i++) count += x[i] != x[i - 1];
    return count;
}

/* How many results each sum has in a format; all (schedules,sums). */
static void put_distinct(const ulp_task *task, const float *all, size_t schedules, size_t sums, const ulp_format *f,
                         double *room) {
    size_t counts[256] = {0};
    int64_t near = 0, most = 0;
    for (size_t i = 0; i < sums; i++) {
        double least = INFINITY, largest = -INFINITY;
        for (size_t j = 0; j < schedules; j++) {
            const double y = (double)all[j * sums + i];
            least = fmin(least, y), largest = fmax(largest, y);
            room[j] = ulp_round(y, f, (ulp_rule){0}, 0);
        }
        const int is_near = largest - least <= fmin(ulp_spacing(least, f), ulp_spacing(largest, f));
        const int64_t n = distinct(room, schedules);
        counts[n < 255 ? n : 255]++;
        near += is_near;
        if (is_near && n > most) most = n;
    }
    for (int64_t n = 1; n < 256; n++) {
        row r = row_of(task, DISTINCT);
        if (counts[n] == 0) continue;
        r.format = f->name, r.number = n, r.count = (int64_t)counts[n];
        ulp_row_put(task->rows, &r);
    }
    row r = row_of(task, NEAR);
    r.format = f->name, r.number = most, r.count = near;
    ulp_row_put(task->rows, &r);
}

/* The same schedule in batches of other sizes. */
static ulp_status put_batches(const ulp_task *task, const machine *m, const schedule *s, const float *y, float *room) {
    static const size_t sizes[] = {1, 7, 100};
    for (size_t b = 0; b < sizeof sizes / sizeof sizes[0]; b++) {
        row r = row_of(task, BATCH);
        const size_t sums = m->sums < 200 ? m->sums : 200;
        for (size_t i = 0; i < sums; i += sizes[b])
            ULP_TRY(run_schedule(m, s, i, sums - i < sizes[b] ? sums - i : sizes[b], m->k, room + i));
        r.tile = s->tile, r.parts = s->parts, r.join = s->join, r.number = (int64_t)sizes[b];
        r.count = (int64_t)differences(y, room, sums);
        ulp_row_put(task->rows, &r);
    }
    return ULP_OK;
}

/* 64 products: a tree of 64 parts beside the pairwise sum. */
static ulp_status put_pairwise(const ulp_task *task, const machine *m, float *y, float *room) {
    const schedule s = {1, MOST_PARTS, TREE};
    const ulp_gemm_shape shape = {.m = m->sums, .n = 1, .k = MOST_PARTS, .lda = m->k, .ldb = 1, .ldc = 1};
    ulp_datapath d;
    row r = row_of(task, PAIRWISE);
    ULP_TRY(ulp_datapath_parse(&d, "pairwise:fp32:rne"));
    ULP_TRY(run_schedule(m, &s, 0, m->sums, MOST_PARTS, y));
    ULP_TRY(ulp_backend_gemm(m->arena.backend, m->part, m->a, m->b, &shape, (ulp_summation){.datapath = &d}));
    ULP_TRY(m->arena.backend->download(room, m->part, m->sums * sizeof *room));
    r.tile = 1, r.parts = MOST_PARTS, r.join = TREE;
    r.count = (int64_t)differences(y, room, m->sums);
    ulp_row_put(task->rows, &r);
    return ULP_OK;
}

/* Host memory of a run. */
typedef struct host {
    float *a, *b, *all, *room; /* (sums,k), (k), (schedules,sums), (sums) */
    double *exact, *wide;      /* (sums), (k) or (schedules) */
} host;

static ulp_status put_rows(const ulp_task *task, machine *m, const host *h, size_t schedules) {
    static const char *const formats[] = {"binary32", "bfloat16", "binary16"};
    const settings *s = task->settings;
    schedule now;
    ULP_TRY(fill_normal(task, m->a, h->a, m->sums * m->k, "a", 1.0));
    ULP_TRY(fill_normal(task, m->b, h->b, m->k, "b", 1.0));
    ULP_TRY(exact_sums(m, h->a, h->b, h->wide, h->exact));
    for (size_t i = 0; schedule_at(s, i, &now); i++) {
        float *const y = h->all + i * m->sums;
        ULP_TRY(run_schedule(m, &now, 0, m->sums, m->k, y));
        put_schedule(task, &now, y, h->exact, m->sums);
        ULP_TRY(put_batches(task, m, &now, y, h->room));
        if (ulp_task_progress(task, (double)(i + 1) / (double)schedules)) return ULP_OK;
    }
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        ulp_format f;
        ULP_TRY(ulp_format_parse(&f, formats[i]));
        put_distinct(task, h->all, schedules, m->sums, &f, h->wide);
    }
    return put_pairwise(task, m, h->all, h->room);
}

ulp_status put_sums(const ulp_task *task) {
    const settings *s = task->settings;
    machine m = {.sums = (size_t)s->sums, .k = (size_t)s->k};
    size_t schedules = 0;
    schedule now;
    while (schedule_at(s, schedules, &now)) schedules++;
    const size_t wide = m.k > schedules ? m.k : schedules;
    host h = {malloc(m.sums * m.k * sizeof(float)),
              malloc(m.k * sizeof(float)),
              malloc((schedules + 1) * m.sums * sizeof(float)),
              malloc(m.sums * sizeof(float)),
              malloc(m.sums * sizeof(double)),
              malloc(wide * sizeof(double))};
    ulp_status status = h.a && h.b && h.all && h.room && h.exact && h.wide ? ULP_OK : ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_arena_make(&m.arena, s->backend, carve, &m);
    if (status == ULP_OK) status = put_rows(task, &m, &h, schedules);
    ulp_arena_release(&m.arena);
    free(h.a), free(h.b), free(h.all), free(h.room), free(h.exact), free(h.wide);
    return status;
}

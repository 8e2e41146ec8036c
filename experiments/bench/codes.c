/* codes.c - rows of codes: encoding, decoding, scaled blocks and integers, compared with a copy of the same bytes. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "sim/normal.h"

/* The work of a job: `work` has what belongs to it. Rows have ROW elements. */
enum { ROW = 1024 };

typedef struct code_work {
    size_t copied; /* bytes of the copy: half of the bytes that are read and written */
    ulp_format format;
    unsigned width;
    ulp_block block;
    ulp_quantizer quantizer;
    ulp_tiling tiling;
} code_work;

typedef struct code_arrays {
    float *x, *y;
    uint8_t *codes, *scales;
    double *wide_scales;
    code_work work[64];
    size_t count;
} code_arrays;

static ulp_status run_copy(job *j) {
    const code_arrays *a = j->x;
    const code_work *w = j->y;
    memcpy(a->y, a->x, w->copied);
    return ULP_OK;
}

static ulp_status run_encode(job *j) {
    const code_arrays *a = j->x;
    const code_work *w = j->y;
    return ulp_backend_encode(j->b->backend, a->codes, a->x, j->n, w->width, j->how);
}

static ulp_status run_decode(job *j) {
    const code_arrays *a = j->x;
    const code_work *w = j->y;
    return ulp_backend_decode(j->b->backend, a->y, a->codes, j->n, w->width, &w->format);
}

static ulp_status run_block_encode(job *j) {
    const code_arrays *a = j->x;
    const code_work *w = j->y;
    return ulp_backend_block_encode(j->b->backend, a->codes, a->scales, a->x, j->n / ROW,
                                    (ulp_block_array){&w->block, ROW, 1.0f}, (ulp_rule){0}, (ulp_stream){0});
}

static ulp_status run_block_decode(job *j) {
    const code_arrays *a = j->x;
    const code_work *w = j->y;
    return ulp_backend_block_decode(j->b->backend, a->y, a->codes, a->scales, j->n / ROW,
                                    (ulp_block_array){&w->block, ROW, 1.0f});
}

static ulp_status run_quantize(job *j) {
    const code_arrays *a = j->x;
    const code_work *w = j->y;
    return ulp_backend_quantize(j->b->backend, a->codes, a->wide_scales, NULL, a->x, &w->quantizer, &w->tiling,
                                (ulp_rule){0}, (ulp_stream){0});
}

/* Adds a job and the copy of as many bytes, which is added once for each number of bytes. */
static size_t add(group *g, code_arrays *a, job j, const code_work *w) {
    size_t copy = 0;
    while (copy < g->count &&
           !(g->jobs[copy].run == run_copy && ((const code_work *)g->jobs[copy].y)->copied == w->copied))
        copy++;
    if (copy == g->count) {
        job c = job_new(j.b, "copy", run_copy, j.n, ELEMENTS, (double)j.n);
        job_name(&c, NULL, NULL, "memcpy");
        c.x = a;
        c.y = w;
        copy = group_add(g, c);
    }
    j.x = a;
    j.y = w;
    const size_t i = group_add(g, j);
    group_compare(g, i, copy, "memcpy", SPEED);
    return i;
}

static void add_threads(group *g, const bench *b, job j, const code_work *w, code_arrays *a) {
    const size_t one = add(g, a, j, w);
    if (b->threads < 2) return;
    j.x = a;
    j.y = w;
    j.threads = b->threads;
    group_compare(g, group_add(g, j), one, "one thread", SPEED);
}

static code_work *next_work(code_arrays *a, size_t copied) {
    code_work *const w = &a->work[a->count++];
    *w = (code_work){.copied = copied};
    return w;
}

static ulp_status add_codes(group *g, const bench *b, code_arrays *a, size_t n) {
    static const struct {
        const char *name, *stored;
        unsigned width;
    } formats[] = {{"binary16", "", 16}, {"bfloat16", "", 16}, {"e4m3", "", 8},       {"e5m2", "", 8},
                   {"e3m2", "", 8},      {"e2m1", "", 8},      {"e2m1", "packed", 4}, {"q8.8", "", 16},
                   {"uq8.0", "", 8},     {"posit16", "", 16},  {"takum16", "", 16},   {"hif8", "", 8}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        code_work *const w = next_work(a, (4 * n + n * formats[i].width / 8) / 2);
        w->width = formats[i].width;
        ULP_TRY(ulp_format_parse(&w->format, formats[i].name));
        job j = job_new(b, "encode", run_encode, n, ELEMENTS, (double)n);
        j.how = (ulp_rounding){&w->format, {0}, {0}, NULL};
        job_name(&j, w->format.name, formats[i].stored, NULL);
        if (i == 2) add_threads(g, b, j, w, a);
        else add(g, a, j, w);
        if (!w->format.fits_binary32) continue;
        j.what = "decode";
        j.run = run_decode;
        if (i == 2) add_threads(g, b, j, w, a);
        else add(g, a, j, w);
    }
    return ULP_OK;
}

static ulp_status add_blocks(group *g, const bench *b, code_arrays *a, size_t n) {
    static const char *const names[] = {"mxfp8", "mxfp6", "mxfp4", "mxint8", "nvfp4", "nvint4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        code_work *const w = next_work(a, 5 * n / 2);
        ULP_TRY(ulp_block_parse(&w->block, names[i]));
        job j = job_new(b, "quantize", run_block_encode, n, ELEMENTS, (double)n);
        job_name(&j, names[i], NULL, NULL);
        add_threads(g, b, j, w, a);
        j.what = "dequantize";
        j.run = run_block_decode;
        add_threads(g, b, j, w, a);
    }
    return ULP_OK;
}

static ulp_status add_integers(group *g, const bench *b, code_arrays *a, size_t n) {
    static const char *const parts[] = {"tensor", "row", "column"};
    for (int i = 0; i < 3; i++) {
        code_work *const w = next_work(a, 5 * n / 2);
        ULP_TRY(ulp_quantizer_parse(&w->quantizer, "int8", NULL));
        const size_t rows = n / ROW;
        w->tiling = (ulp_tiling){{1, rows, ROW}, {1, i == 1 ? 1 : rows, i == 2 ? 1 : ROW}};
        job j = job_new(b, "quantize", run_quantize, n, ELEMENTS, (double)n);
        job_name(&j, "int8", parts[i], NULL);
        add_threads(g, b, j, w, a);
    }
    return ULP_OK;
}

ulp_status put_codes(const ulp_task *task) {
    const bench *b = task->context;
    const size_t n = (size_t)((const point *)task->point)->size / ROW * ROW;
    code_arrays a = {.x = malloc(4 * n),
                     .y = malloc(4 * n),
                     .codes = calloc(n, 2),
                     .scales = malloc(n),
                     .wide_scales = malloc(n / ROW * 8 + ROW * 8)};
    group g = {0};
    ulp_status status = a.x && a.y && a.codes && a.scales && a.wide_scales ? ULP_OK : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        memset(a.scales, 127, n);
        memset(a.y, 0, 4 * n);
        for (size_t i = 0; i < n; i++) a.x[i] = (float)ulp_random_normal((ulp_stream){1, 0, 0}, i);
        status = add_codes(&g, b, &a, n);
    }
    if (status == ULP_OK) status = add_blocks(&g, b, &a, n);
    if (status == ULP_OK) status = add_integers(&g, b, &a, n);
    if (status == ULP_OK) status = group_measure(task, &g);
    free(a.wide_scales);
    free(a.scales);
    free(a.codes);
    free(a.y);
    free(a.x);
    return status;
}

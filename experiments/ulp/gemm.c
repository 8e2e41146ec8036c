/* gemm.c - ulp gemm: checksum, error and speed of one matrix product under a datapath, on seeded data. */
#include "experiments/harness/cli/progress.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum data_kind { UNIFORM, NORMAL, POSITIVE } data_kind;

typedef struct job {
    tool_product product;
    ulp_datapath datapath;
    ulp_format a_format, b_format, in;
    int kind; /* data_kind */
    uint64_t m, n, k, seed, threads;
    const char *tile;
    size_t blocks;              /* number of scales along k */
    double *a, *b, *c;          /* (m,k), (k,n), (m,n); host memory */
    float *a_scales, *b_scales; /* (m,blocks), (n,blocks), or NULL; host memory */
    const ulp_backend *backend;
} job;

/* ---- data ---- */

/* The value of element i before its rounding. A normal value is the sum of twelve uniform numbers minus 6, so that it
 * has the same bits on every machine. */
static double draw(int kind, ulp_stream stream, uint64_t i) {
    if (kind == POSITIVE) return ulp_random_uniform(stream, i);
    if (kind == UNIFORM) return 2 * ulp_random_uniform(stream, i) - 1;
    double sum = -6;
    for (uint64_t j = 0; j < 12; j++) sum += ulp_random_uniform(stream, 12 * i + j);
    return sum;
}

/* x (count) = random elements in the format f. Integers use the whole range of their format. */
static void fill(const job *w, double *x, size_t count, const ulp_format *f, uint64_t stream) {
    const double scale = f->is_fixed ? (w->kind == NORMAL ? f->max / 4 : f->max) : 1;
    for (size_t i = 0; i < count; i++)
        x[i] = ulp_round(scale * draw(w->kind, (ulp_stream){w->seed, stream, 0}, i), f,
                         (ulp_rule){ULP_RNE, ULP_OVERFLOW_SAT, 0}, 0);
}

static void fill_scales(const job *w, float *x, size_t count, uint64_t stream) {
    for (size_t i = 0; i < count; i++)
        x[i] = (float)ulp_round(0.5 + 1.5 * ulp_random_uniform((ulp_stream){w->seed, stream, 0}, i), &w->datapath.scale,
                                (ulp_rule){0}, 0);
}

static void *require_memory(void *memory, size_t count) {
    if (memory != NULL) return memory;
    ulp_complain(tool_gemm.command.name, "out of memory for %zu elements; smaller --m, --n, --k need less", count);
    exit(ULP_EXIT_FAILED);
}

static void *room(size_t count, size_t size) {
    return require_memory(count <= SIZE_MAX / size ? malloc(count * size + 1) : NULL, count);
}

/* Backend memory for `count` elements, with a copy of x (count) if x is not NULL. */
static void *backend_room(const job *w, const void *x, size_t count, size_t size) {
    void *memory = require_memory(count <= SIZE_MAX / size ? w->backend->alloc(count * size) : NULL, count);
    if (x == NULL || w->backend->upload(memory, x, count * size) == ULP_OK) return memory;
    ulp_complain(tool_gemm.command.name, "copying %zu elements to %s %s failed", count, w->backend->name,
                 w->backend->what);
    exit(ULP_EXIT_FAILED);
}

static void prepare(job *w) {
    w->a = room(w->m * w->k, sizeof *w->a);
    w->b = room(w->k * w->n, sizeof *w->b);
    w->c = room(w->m * w->n, sizeof *w->c);
    fill(w, w->a, w->m * w->k, &w->a_format, 1);
    fill(w, w->b, w->k * w->n, &w->b_format, 2);
    if (w->datapath.scale_block == 0) return;
    w->blocks = (w->k + w->datapath.scale_block - 1) / w->datapath.scale_block;
    w->a_scales = room(w->m * w->blocks, sizeof *w->a_scales);
    w->b_scales = room(w->n * w->blocks, sizeof *w->b_scales);
    fill_scales(w, w->a_scales, w->m * w->blocks, 3);
    fill_scales(w, w->b_scales, w->n * w->blocks, 4);
}

/* ---- the product ---- */

/* Update the fastest and the total time of the runs. Returns 1 if another run is wanted: up to 0.2 s in total. */
static int wants_another_run(double *fastest, double *total, double seconds) {
    *fastest = *total == 0 || seconds < *fastest ? seconds : *fastest;
    *total += seconds;
    return *total < 0.2;
}

/* Multiply on float arrays; ULP_UNSUPPORTED if a format does not fit binary32. The scales of the shape are in backend
 * memory. */
static ulp_status multiply_float(const job *w, const ulp_gemm_shape *shape, double *seconds) {
    if (!w->a_format.fits_binary32 || !w->b_format.fits_binary32 || !w->datapath.result.fits_binary32)
        return ULP_UNSUPPORTED;
    const size_t an = w->m * w->k, bn = w->k * w->n, cn = w->m * w->n;
    float *a = room(an, sizeof *a), *b = room(bn, sizeof *b), *c = room(cn, sizeof *c);
    for (size_t i = 0; i < an; i++) a[i] = (float)w->a[i];
    for (size_t i = 0; i < bn; i++) b[i] = (float)w->b[i];
    float *device_a = backend_room(w, a, an, sizeof *a), *device_b = backend_room(w, b, bn, sizeof *b);
    float *device_c = backend_room(w, NULL, cn, sizeof *c);
    ulp_status status;
    double start, total = 0;
    do {
        start = ulp_clock();
        status = ulp_backend_gemm(w->backend, device_c, device_a, device_b, shape,
                                  (ulp_summation){&w->datapath, (ulp_stream){w->seed, 0, 0}});
    } while (status == ULP_OK && wants_another_run(seconds, &total, ulp_clock() - start));
    if (status == ULP_OK) status = w->backend->download(c, device_c, cn * sizeof *c);
    for (size_t i = 0; i < cn && status == ULP_OK; i++) w->c[i] = (double)c[i];
    free(a);
    free(b);
    free(c);
    w->backend->release(device_a);
    w->backend->release(device_b);
    w->backend->release(device_c);
    return status;
}

static ulp_status multiply_double(const job *w, const ulp_gemm_shape *shape, double *seconds) {
    double *a = backend_room(w, w->a, w->m * w->k, sizeof *a), *b = backend_room(w, w->b, w->k * w->n, sizeof *b);
    double *c = backend_room(w, NULL, w->m * w->n, sizeof *c);
    ulp_status status;
    double start, total = 0;
    do {
        start = ulp_clock();
        status =
            ulp_backend_gemm64(w->backend, c, a, b, shape, (ulp_summation){&w->datapath, (ulp_stream){w->seed, 0, 0}});
    } while (status == ULP_OK && wants_another_run(seconds, &total, ulp_clock() - start));
    if (status == ULP_OK) status = w->backend->download(w->c, c, w->m * w->n * sizeof *c);
    w->backend->release(a);
    w->backend->release(b);
    w->backend->release(c);
    return status;
}

static ulp_status multiply(const job *w, double *seconds) {
    ulp_gemm_shape shape = {.m = w->m, .n = w->n, .k = w->k, .lda = w->k, .ldb = w->n, .ldc = w->n};
    float *a_scales = NULL, *b_scales = NULL;
    if (w->a_scales != NULL) a_scales = backend_room(w, w->a_scales, w->m * w->blocks, sizeof *a_scales);
    if (w->b_scales != NULL) b_scales = backend_room(w, w->b_scales, w->n * w->blocks, sizeof *b_scales);
    shape.a_scales = a_scales;
    shape.b_scales = b_scales;
    ulp_status status = multiply_float(w, &shape, seconds);
    if (status == ULP_UNSUPPORTED) status = multiply_double(w, &shape, seconds);
    if (a_scales != NULL) w->backend->release(a_scales);
    if (b_scales != NULL) w->backend->release(b_scales);
    return status;
}

/* The FNV-1a 64 hash of the codes of C, low byte first, in row order (Fowler, Noll, Vo). */
static ulp_status checksum(const job *w, uint64_t *hash) {
    *hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < w->m * w->n; i++) {
        uint64_t code;
        ulp_status status = ulp_datapath_code(&code, w->c[i], &w->datapath);
        if (status != ULP_OK) return status;
        for (int bit = 0; bit < w->datapath.result.bits; bit += 8)
            *hash = (*hash ^ (code >> bit & 0xff)) * 0x100000001b3u;
    }
    return ULP_OK;
}

/* ---- the error ---- */

enum { EXACT_PRODUCTS = 1 << 23 }; /* largest number of products for the exact results */

typedef struct check {
    const job *job;
    ulp_datapath exact;
    size_t count, stride;   /* outputs 0, stride, 2 stride, ... */
    double *exact_c, *size; /* (count) exact results; elements of |A||B| */
} check;

static void exact_part(void *context, size_t begin, size_t end) {
    const check *v = context;
    const job *w = v->job;
    const ulp_datapath *d = &w->datapath;
    double *x = room(2 * w->k, sizeof *x), *y = x + w->k;
    for (size_t i = begin; i < end; i++) {
        const size_t row = i * v->stride / w->n, column = i * v->stride % w->n;
        v->size[i] = 0;
        for (size_t l = 0; l < w->k; l++) { /* a product with a scale has few bits and is exact */
            const size_t block = d->scale_block != 0 ? l / d->scale_block : 0;
            x[l] = (w->a[row * w->k + l] - d->zero_a) *
                   (w->a_scales != NULL ? (double)w->a_scales[row * w->blocks + block] : 1.0);
            y[l] = (w->b[l * w->n + column] - d->zero_b) *
                   (w->b_scales != NULL ? (double)w->b_scales[column * w->blocks + block] : 1.0);
            v->size[i] += fabs(x[l]) * fabs(y[l]);
        }
        v->exact_c[i] = ulp_dot(&v->exact, 0.0, x, y, w->k, (ulp_scales){NULL, NULL}, (ulp_stream){0});
    }
    free(x);
}

static void print_errors(const job *w) {
    const size_t outputs = w->m * w->n, most = EXACT_PRODUCTS / w->k > 0 ? EXACT_PRODUCTS / w->k : 1;
    check v = {.job = w, .stride = (outputs + most - 1) / most};
    double worst = 0, relative = 0, squares = 0, norm = 0;
    size_t not_finite = 0;
    v.count = (outputs + v.stride - 1) / v.stride;
    v.exact_c = room(v.count, sizeof *v.exact_c);
    v.size = room(v.count, sizeof *v.size);
    ulp_datapath_parse(&v.exact, "exact:binary64:rne");
    ulp_parallel_for(v.count, 1, exact_part, &v);
    for (size_t i = 0; i < v.count; i++) {
        const double got = w->c[i * v.stride], error = fabs(got - v.exact_c[i]);
        if (!isfinite(got)) {
            not_finite++;
            continue;
        }
        worst = fmax(worst, error);
        if (v.size[i] > 0) relative = fmax(relative, error / v.size[i]);
        squares += error * error;
        norm += v.exact_c[i] * v.exact_c[i];
    }
    printf("exact       %zu of %zu outputs compared with the exact sum, rounded once to binary64\n", v.count, outputs);
    printf("max error   %.6g\n", worst);
    printf("relative    %.6g, the largest error over |A||B|\n", relative);
    printf("frobenius   %.6g, the norm of the error over that of the exact result\n",
           norm > 0 ? sqrt(squares / norm) : 0.0);
    printf("not finite  %zu of those compared, left out of the errors\n", not_finite);
    free(v.exact_c);
    free(v.size);
}

/* ---- the command ---- */

static job given;

static const ulp_option options[] = {
    {.name = "datapath",
     .type = &tool_type_product,
     ULP_AT(job, product),
     .needed = 1,
     .help = "how sums are formed; native:... with --backend cuda is a GPU's own product"},
    {.name = "backend",
     .type = &ulp_type_backend,
     ULP_AT(job, backend),
     .value = "cpu",
     .help = "the machine that computes: cpu or cuda"},
    {.name = "m",
     .type = &ulp_type_unsigned,
     ULP_AT(job, m),
     .value = "256",
     .min = 1,
     .max = 1 << 20,
     .help = "rows of A and C"},
    {.name = "n",
     .type = &ulp_type_unsigned,
     ULP_AT(job, n),
     .value = "256",
     .min = 1,
     .max = 1 << 20,
     .help = "columns of B and C"},
    {.name = "k",
     .type = &ulp_type_unsigned,
     ULP_AT(job, k),
     .value = "256",
     .min = 1,
     .max = 1 << 24,
     .help = "columns of A, rows of B"},
    {.name = "in",
     .type = &ulp_type_format,
     ULP_AT(job, in),
     .help = "the format of A and B; datapaths with input formats imply it; the accumulator's unless given"},
    {.name = "data",
     .type = &ulp_type_choice,
     ULP_AT(job, kind),
     .value = "uniform",
     .words = "uniform normal positive",
     .help = "uniform on [-1, 1), normal: the sum of 12 uniform numbers minus 6, positive on [0, 1); integers take "
             "these times their "
             "largest value (normal: a quarter of it)"},
    {.name = "seed", .type = &ulp_type_unsigned, ULP_AT(job, seed), .value = "1", .help = "of the data"},
    {.name = "threads",
     .type = &ulp_type_unsigned,
     ULP_AT(job, threads),
     .min = 1,
     .max = 65536,
     .help = "threads; OMP_NUM_THREADS, else all processors, unless given"},
    {.name = "tile",
     .type = &ulp_type_text,
     ULP_AT(job, tile),
     .value_name = "RxC",
     .help = "form the result in tiles of at most R rows and C columns"},
    {0},
};

/* Read ROWSxCOLUMNS and set the tile. */
static int set_tile(const ulp_arguments *a, const char *text) {
    unsigned long rows, columns;
    int end = 0;
    const int plain = strspn(text, "0123456789x") == strlen(text); /* neither signs nor blanks */
    if (!plain || sscanf(text, "%7lux%7lu%n", &rows, &columns, &end) != 2 || text[end] != '\0' || rows == 0 ||
        columns == 0)
        return ulp_usage_error(a->program,
                               "--tile %s: rows and columns of a tile of the result, at least 1, as in 7x13", text);
    ulp_tile_set(rows, columns);
    return ULP_GO_ON;
}

static void print_result(const job *w, const char *data, uint64_t hash, double seconds) {
    printf("datapath    %s\n", w->datapath.name);
    printf("shape       m %llu, n %llu, k %llu\n", (unsigned long long)w->m, (unsigned long long)w->n,
           (unsigned long long)w->k);
    printf("data        %s, seed %llu, a in %s, b in %s%s%s\n", data, (unsigned long long)w->seed, w->a_format.name,
           w->b_format.name, w->a_scales != NULL ? ", scales 0.5 to 2 in " : "",
           w->a_scales != NULL ? w->datapath.scale.name : "");
    printf("checksum    %016llx, FNV-1a 64 of the codes in %s\n", (unsigned long long)hash, w->datapath.result.name);
    print_errors(w);
    printf("time        %.3g s, %.3g giga-products/s, %s %s, %d threads\n", seconds,
           1e-9 * (double)w->m * (double)w->n * (double)w->k / fmax(seconds, 1e-9), w->backend->name, w->backend->what,
           ulp_threads_get());
}

static void release(job *w) {
    free(w->a);
    free(w->b);
    free(w->c);
    free(w->a_scales);
    free(w->b_scales);
}

static int run(const ulp_arguments *a) {
    job *w = &given;
    double seconds = 0;
    uint64_t hash = 0;
    int status = tool_product_resolve(&w->product, w->backend, a->program);
    w->datapath = w->product.datapath;
    if (status == ULP_GO_ON)
        status =
            tool_choose_inputs(&w->a_format, &w->b_format, a, &w->datapath, ulp_setting_given(a, "in") ? &w->in : NULL);
    if (status == ULP_GO_ON && w->tile != NULL) status = set_tile(a, w->tile);
    if (status != ULP_GO_ON) return status;
    ulp_threads_set((int)w->threads);
    prepare(w);
    ulp_status done = multiply(w, &seconds);
    if (done == ULP_OK) done = checksum(w, &hash);
    if (done == ULP_OK) print_result(w, ulp_setting_find(a, "data")->value, hash, seconds);
    release(w);
    if (done == ULP_OK) return ULP_EXIT_FINE;
    return ulp_run_error(a->program, "%s on %s x %s: %s", w->datapath.name, w->a_format.name, w->b_format.name,
                         ulp_status_text(done));
}

const tool_command tool_gemm = {
    .command = {.name = "ulp gemm",
                .usage = "--datapath D [OPTION...]",
                .summary = "a matrix product under a datapath: checksum, error against the exact result, speed",
                .details =
                    "C (m,n) = A (m,k) B (k,n) from +0 on random data that is rounded to the input format. Block "
                    "scales are uniform on [0.5, 2). The checksum is the same on every backend, for any number of "
                    "threads, any instruction set and any tile; that of a GPU's own product beside that of its model "
                    "says whether the bits are those. The exact results are computed for as many outputs, evenly "
                    "spread, as 2^23 products allow. The last line, `time`, is the only one that differs between two "
                    "runs.\n"},
    .groups = {{"options", options, &given}},
    .run = run};

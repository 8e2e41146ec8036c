/* gemm.c - ulp gemm: one matrix product under a datapath on seeded data: checksum, error against the exact result,
 * speed. */
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum data_kind { UNIFORM, NORMAL, POSITIVE } data_kind;

typedef struct job {
    ulp_datapath datapath;
    ulp_format a_format, b_format;
    data_kind kind;
    uint64_t m, n, k, seed;
    size_t blocks;              /* of scales along k */
    double *a, *b, *c;          /* (m,k), (k,n), (m,n): host memory, as what follows */
    float *a_scales, *b_scales; /* (m,blocks), (n,blocks), or NULL */
    const ulp_backend *backend;
} job;

/* ---- data ---- */

/* The number of element i before it is rounded. Normal: twelve uniform numbers minus 6, so that it is the same
 * everywhere. */
static double draw(data_kind kind, ulp_stream stream, uint64_t i) {
    if (kind == POSITIVE) return ulp_random_uniform(stream, i);
    if (kind == UNIFORM) return 2 * ulp_random_uniform(stream, i) - 1;
    double sum = -6;
    for (uint64_t j = 0; j < 12; j++) sum += ulp_random_uniform(stream, 12 * i + j);
    return sum;
}

/* Integers use their whole range. */
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

static void *there_is(void *memory, size_t count) {
    if (memory != NULL) return memory;
    fprintf(stderr, "ulp gemm: out of memory for %zu elements; smaller --m, --n, --k need less\n", count);
    exit(TOOL_FAILED);
}

static void *room(size_t count, size_t size) {
    return there_is(count <= SIZE_MAX / size ? malloc(count * size + 1) : NULL, count);
}

/* Memory of the backend, a copy of x (count) unless that is NULL. */
static void *room_there(const job *w, const void *x, size_t count, size_t size) {
    void *memory = there_is(count <= SIZE_MAX / size ? w->backend->alloc(count * size) : NULL, count);
    if (x == NULL || w->backend->upload(memory, x, count * size) == ULP_OK) return memory;
    fprintf(stderr, "ulp gemm: %zu elements do not get to %s %s\n", count, w->backend->name, w->backend->what);
    exit(TOOL_FAILED);
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

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The fastest of some runs, a fifth of a second at most after the first. */
static int again(double *fastest, double *total, double seconds) {
    *fastest = *total == 0 || seconds < *fastest ? seconds : *fastest;
    *total += seconds;
    return *total < 0.2;
}

/* On float arrays where the operands and results allow it; the shape's scales are backend memory. */
static ulp_status multiply_float(const job *w, const ulp_gemm_shape *shape, double *seconds) {
    if (!w->a_format.fits_binary32 || !w->b_format.fits_binary32 || !w->datapath.result.fits_binary32)
        return ULP_UNSUPPORTED;
    const size_t an = w->m * w->k, bn = w->k * w->n, cn = w->m * w->n;
    float *a = room(an, sizeof *a), *b = room(bn, sizeof *b), *c = room(cn, sizeof *c);
    for (size_t i = 0; i < an; i++) a[i] = (float)w->a[i];
    for (size_t i = 0; i < bn; i++) b[i] = (float)w->b[i];
    float *there_a = room_there(w, a, an, sizeof *a), *there_b = room_there(w, b, bn, sizeof *b);
    float *there_c = room_there(w, NULL, cn, sizeof *c);
    ulp_status status;
    double start, total = 0;
    do {
        start = now();
        status = ulp_backend_gemm(w->backend, there_c, there_a, there_b, shape,
                                  (ulp_summation){&w->datapath, (ulp_stream){w->seed, 0, 0}});
    } while (status == ULP_OK && again(seconds, &total, now() - start));
    if (status == ULP_OK) status = w->backend->download(c, there_c, cn * sizeof *c);
    for (size_t i = 0; i < cn && status == ULP_OK; i++) w->c[i] = (double)c[i];
    free(a);
    free(b);
    free(c);
    w->backend->release(there_a);
    w->backend->release(there_b);
    w->backend->release(there_c);
    return status;
}

static ulp_status multiply_double(const job *w, const ulp_gemm_shape *shape, double *seconds) {
    double *a = room_there(w, w->a, w->m * w->k, sizeof *a), *b = room_there(w, w->b, w->k * w->n, sizeof *b);
    double *c = room_there(w, NULL, w->m * w->n, sizeof *c);
    ulp_status status;
    double start, total = 0;
    do {
        start = now();
        status =
            ulp_backend_gemm64(w->backend, c, a, b, shape, (ulp_summation){&w->datapath, (ulp_stream){w->seed, 0, 0}});
    } while (status == ULP_OK && again(seconds, &total, now() - start));
    if (status == ULP_OK) status = w->backend->download(w->c, c, w->m * w->n * sizeof *c);
    w->backend->release(a);
    w->backend->release(b);
    w->backend->release(c);
    return status;
}

static ulp_status multiply(const job *w, double *seconds) {
    ulp_gemm_shape shape = {.m = w->m, .n = w->n, .k = w->k, .lda = w->k, .ldb = w->n, .ldc = w->n};
    float *a_scales = NULL, *b_scales = NULL;
    if (w->a_scales != NULL) a_scales = room_there(w, w->a_scales, w->m * w->blocks, sizeof *a_scales);
    if (w->b_scales != NULL) b_scales = room_there(w, w->b_scales, w->n * w->blocks, sizeof *b_scales);
    shape.a_scales = a_scales;
    shape.b_scales = b_scales;
    ulp_status status = multiply_float(w, &shape, seconds);
    if (status == ULP_UNSUPPORTED) status = multiply_double(w, &shape, seconds);
    if (a_scales != NULL) w->backend->release(a_scales);
    if (b_scales != NULL) w->backend->release(b_scales);
    return status;
}

/* FNV-1a 64 of the codes, low byte first, in row order (Fowler, Noll, Vo). */
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

enum { EXACT_PRODUCTS = 1 << 23 }; /* that the exact results may cost */

typedef struct check {
    const job *job;
    ulp_datapath exact;
    size_t count, stride;   /* outputs 0, stride, 2 stride, ... */
    double *exact_c, *size; /* (count): exact results, and those of |A||B| */
} check;

static void exact_part(void *context, size_t begin, size_t end) {
    const check *v = context;
    const job *w = v->job;
    const ulp_datapath *d = &w->datapath;
    double *x = room(2 * w->k, sizeof *x), *y = x + w->k;
    for (size_t i = begin; i < end; i++) {
        const size_t row = i * v->stride / w->n, column = i * v->stride % w->n;
        v->size[i] = 0;
        for (size_t l = 0; l < w->k; l++) { /* scales are exact here: products of few bits */
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
    size_t strange = 0;
    v.count = (outputs + v.stride - 1) / v.stride;
    v.exact_c = room(v.count, sizeof *v.exact_c);
    v.size = room(v.count, sizeof *v.size);
    ulp_datapath_parse(&v.exact, "exact:binary64:rne");
    ulp_parallel_for(v.count, 1, exact_part, &v);
    for (size_t i = 0; i < v.count; i++) {
        const double got = w->c[i * v.stride], error = fabs(got - v.exact_c[i]);
        if (!isfinite(got)) {
            strange++;
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
    printf("not finite  %zu of those compared, left out of the errors\n", strange);
    free(v.exact_c);
    free(v.size);
}

/* ---- the command ---- */

static int data_of(const char *text) {
    static const char *const words[] = {"uniform", "normal", "positive"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) return i;
    tool_usage(&tool_gemm, "--data %s: must be uniform, normal or positive", text);
}

static void choose_inputs(job *w, int given) {
    const ulp_datapath *d = &w->datapath;
    if (!given) {
        w->a_format = d->has_inputs ? d->a : d->accumulator;
        w->b_format = d->has_inputs ? d->b : d->accumulator;
        return;
    }
    if (d->has_inputs && (strcmp(w->a_format.name, d->a.name) != 0 || strcmp(w->a_format.name, d->b.name) != 0))
        tool_usage(&tool_gemm, "--in %s: %s takes a in %s and b in %s", w->a_format.name, d->name, d->a.name,
                   d->b.name);
    w->b_format = w->a_format;
}

/* ROWSxCOLUMNS */
static void set_tile(const char *text) {
    unsigned long rows, columns;
    int end = 0;
    const int plain = strspn(text, "0123456789x") == strlen(text); /* no signs, no spaces */
    if (!plain || sscanf(text, "%7lux%7lu%n", &rows, &columns, &end) != 2 || text[end] != '\0' || rows == 0 ||
        columns == 0)
        tool_usage(&tool_gemm, "--tile %s: rows and columns of a tile of the result, at least 1, as in 7x13", text);
    ulp_tile_set(rows, columns);
}

static int run(int argc, char **argv) {
    job w = {.m = 256, .n = 256, .k = 256, .seed = 1};
    int has_in = 0;
    uint64_t threads = 0;
    const char *data = "uniform", *datapath = NULL, *tile = NULL, *backend = NULL;
    const tool_option options[] = {{"datapath", TOOL_TEXT, &datapath, 0, 0, NULL},
                                   {"m", TOOL_NUMBER, &w.m, 1, 1 << 20, NULL},
                                   {"n", TOOL_NUMBER, &w.n, 1, 1 << 20, NULL},
                                   {"k", TOOL_NUMBER, &w.k, 1, 1 << 24, NULL},
                                   {"in", TOOL_FORMAT, &w.a_format, 0, 0, &has_in},
                                   {"seed", TOOL_NUMBER, &w.seed, 0, UINT64_MAX, NULL},
                                   {"data", TOOL_TEXT, &data, 0, 0, NULL},
                                   {"threads", TOOL_NUMBER, &threads, 1, 4096, NULL},
                                   {"tile", TOOL_TEXT, &tile, 0, 0, NULL},
                                   {"backend", TOOL_TEXT, &backend, 0, 0, NULL},
                                   {0}};
    if (tool_parse(&tool_gemm, options, argc, argv) != 0) tool_usage(&tool_gemm, "takes no words: '%s'", argv[0]);
    if (datapath == NULL) tool_usage(&tool_gemm, "--datapath is needed; known:\n%s", ulp_datapath_names());
    w.kind = (data_kind)data_of(data);
    if (!ulp_datapath_is_native(datapath))
        tool_datapath(&tool_gemm, &w.datapath, datapath); /* before anything that a machine may lack */
    w.backend = tool_backend(&tool_gemm, backend);
    tool_product(&tool_gemm, w.backend, &w.datapath, datapath);
    choose_inputs(&w, has_in);
    ulp_threads_set((int)threads);
    if (tile != NULL) set_tile(tile);
    prepare(&w);
    double seconds = 0;
    uint64_t hash = 0;
    ulp_status status = multiply(&w, &seconds);
    if (status == ULP_OK) status = checksum(&w, &hash);
    if (status != ULP_OK) {
        fprintf(stderr, "ulp gemm: %s on %s x %s: %s\n", w.datapath.name, w.a_format.name, w.b_format.name,
                ulp_status_text(status));
        return TOOL_FAILED;
    }
    printf("datapath    %s\n", w.datapath.name);
    printf("shape       m %llu, n %llu, k %llu\n", (unsigned long long)w.m, (unsigned long long)w.n,
           (unsigned long long)w.k);
    printf("data        %s, seed %llu, a in %s, b in %s%s%s\n", data, (unsigned long long)w.seed, w.a_format.name,
           w.b_format.name, w.a_scales != NULL ? ", scales 0.5 to 2 in " : "",
           w.a_scales != NULL ? w.datapath.scale.name : "");
    printf("checksum    %016llx, FNV-1a 64 of the codes in %s\n", (unsigned long long)hash, w.datapath.result.name);
    print_errors(&w);
    printf("time        %.3g s, %.3g giga-products/s, %s %s, %d threads\n", seconds,
           1e-9 * (double)w.m * (double)w.n * (double)w.k / fmax(seconds, 1e-9), w.backend->name, w.backend->what,
           ulp_threads_get());
    free(w.a);
    free(w.b);
    free(w.c);
    free(w.a_scales);
    free(w.b_scales);
    return tool_finish(&tool_gemm);
}

const tool_command tool_gemm = {
    "gemm",
    "gemm --datapath D [--m M] [--n N] [--k K] [--in F] [--data uniform|normal|positive]\n"
    "                [--seed S] [--threads T] [--tile RxC] [--backend cpu|cuda]",
    "a matrix product under a datapath: checksum, error against the exact result, speed",
    "C (m,n) = A (m,k) B (k,n) from +0 on random data that is rounded to the input format; sizes are 256 unless "
    "given.\n\n"
    "native:... with --backend cuda is a GPU's own product; its checksum beside that of its model says whether the "
    "bits are those.\n\n"
    "  --in F     the format of A and B; datapaths with input formats imply it; default: the accumulator's\n"
    "  --data     uniform on [-1, 1), positive on [0, 1), or normal: the sum of 12 uniform numbers minus 6; integers "
    "take\n"
    "             these times their largest value (normal: a quarter of it). Block scales are uniform on [0.5, 2).\n"
    "  --seed S   default 1\n"
    "  --tile RxC form the result in tiles of at most R rows and C columns\n"
    "  --backend  the machine that computes: cpu, the default, or cuda\n\n"
    "The checksum is the same on every backend, for any number of threads, any instruction set and any tile. The exact "
    "results are computed for as many\n"
    "outputs, evenly spread, as 2^23 products allow. The last line, `time`, is the only one that differs between two "
    "runs.\n",
    run};

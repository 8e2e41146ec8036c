/* gemm.c - ulp gemm: checksum, error and speed of one matrix product under a datapath, on seeded data or files. */
#include "experiments/harness/cli/progress.h"
#include "gemm.h"
#include "paths.h"
#include "tool/files/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum data_kind { UNIFORM, NORMAL, POSITIVE } data_kind;

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
static void fill(const gemm_job *w, double *x, size_t count, const ulp_format *f, uint64_t stream) {
    const double scale = f->is_fixed ? (w->kind == NORMAL ? f->max / 4 : f->max) : 1;
    for (size_t i = 0; i < count; i++)
        x[i] = ulp_round(scale * draw(w->kind, (ulp_stream){w->seed, stream, 0}, i), f,
                         (ulp_rule){ULP_RNE, ULP_OVERFLOW_SAT, 0}, 0);
}

static void fill_scales(const gemm_job *w, float *x, size_t count, uint64_t stream) {
    for (size_t i = 0; i < count; i++)
        x[i] = (float)ulp_round(0.5 + 1.5 * ulp_random_uniform((ulp_stream){w->seed, stream, 0}, i), &w->datapath.scale,
                                (ulp_rule){0}, 0);
}

/* Memory for C, and random data if no files are given. */
static ulp_status prepare(gemm_job *w) {
    w->c = gemm_room(w->m * w->n, sizeof *w->c);
    if (w->c == NULL) return ULP_NO_MEMORY;
    if (w->a_file != NULL) return ULP_OK;
    w->a = gemm_room(w->m * w->k, sizeof *w->a);
    w->b = gemm_room(w->k * w->n, sizeof *w->b);
    if (w->a == NULL || w->b == NULL) return ULP_NO_MEMORY;
    fill(w, w->a, w->m * w->k, &w->a_format, 1);
    fill(w, w->b, w->k * w->n, &w->b_format, 2);
    if (w->datapath.scale_block == 0) return ULP_OK;
    w->blocks = (w->k + w->datapath.scale_block - 1) / w->datapath.scale_block;
    w->a_scales = gemm_room(w->m * w->blocks, sizeof *w->a_scales);
    w->b_scales = gemm_room(w->n * w->blocks, sizeof *w->b_scales);
    if (w->a_scales == NULL || w->b_scales == NULL) return ULP_NO_MEMORY;
    fill_scales(w, w->a_scales, w->m * w->blocks, 3);
    fill_scales(w, w->b_scales, w->n * w->blocks, 4);
    return ULP_OK;
}

/* ---- the product ---- */

/* Update the fastest and the total time of the runs. Returns 1 if another run is wanted: up to w->seconds in total. */
static int wants_another_run(const gemm_job *w, double *fastest, double *total, double seconds) {
    *fastest = *total == 0 || seconds < *fastest ? seconds : *fastest;
    *total += seconds;
    return *total < w->seconds;
}

/* Arrays in memory of the backend, or NULL. */
typedef struct operands {
    void *a, *b, *c, *a_scales, *b_scales;
    const void *start; /* (m,n) in host memory, or NULL */
} operands;

/* *to = backend memory for `count` elements, with a copy of x (count) if x is not NULL. Sets *status on failure, and
 * does nothing if *status is a failure already. */
static void copy_to_backend(ulp_status *status, const gemm_job *w, void **to, const void *x, size_t count,
                            size_t size) {
    if (*status != ULP_OK) return;
    *to = count <= SIZE_MAX / size ? w->backend->alloc(count * size) : NULL;
    if (*to == NULL) *status = ULP_NO_MEMORY;
    else if (x != NULL) *status = w->backend->upload(*to, x, count * size);
}

static void release_operands(const gemm_job *w, const operands *o) {
    void *const all[] = {o->a, o->b, o->c, o->a_scales, o->b_scales};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i] != NULL) w->backend->release(all[i]);
}

/* Run the product on the operands, which are floats or doubles, and copy the result to c (m,n) in host memory. */
static ulp_status time_product(const gemm_job *w, const operands *o, void *c, int in_float, double *seconds) {
    const ulp_gemm_shape shape = {.m = w->m,
                                  .n = w->n,
                                  .k = w->k,
                                  .lda = w->k,
                                  .ldb = w->n,
                                  .ldc = w->n,
                                  .accumulate = o->start != NULL,
                                  .a_scales = o->a_scales,
                                  .b_scales = o->b_scales};
    const ulp_summation sum = {&w->datapath, (ulp_stream){w->seed, 0, 0}};
    const size_t bytes = w->m * w->n * (in_float ? sizeof(float) : sizeof(double));
    ulp_status status = ULP_OK;
    double start, total = 0;
    do {
        if (o->start != NULL) status = w->backend->upload(o->c, o->start, bytes);
        if (status != ULP_OK) return status;
        start = ulp_clock();
        status = in_float ? ulp_backend_gemm(w->backend, o->c, o->a, o->b, &shape, sum)
                          : ulp_backend_gemm64(w->backend, o->c, o->a, o->b, &shape, sum);
    } while (status == ULP_OK && wants_another_run(w, seconds, &total, ulp_clock() - start));
    return status == ULP_OK ? w->backend->download(c, o->c, bytes) : status;
}

/* A copy of x (count) as floats; NULL without memory. The caller frees it. */
static float *as_floats(const double *x, size_t count) {
    float *to = gemm_room(count, sizeof *to);
    for (size_t i = 0; to != NULL && i < count; i++) to[i] = (float)x[i];
    return to;
}

/* Multiply on float arrays; ULP_UNSUPPORTED if a format does not fit binary32. */
static ulp_status multiply_float(const gemm_job *w, operands *o, double *seconds) {
    if (!tool_paths_narrow(&w->datapath, &w->a_format, &w->b_format)) return ULP_UNSUPPORTED;
    const size_t an = w->m * w->k, bn = w->k * w->n, cn = w->m * w->n;
    float *a = as_floats(w->a, an), *b = as_floats(w->b, bn), *c = gemm_room(cn, sizeof *c);
    float *const start = w->start != NULL ? as_floats(w->start, cn) : NULL;
    const int has_memory = a != NULL && b != NULL && c != NULL && (start != NULL || w->start == NULL);
    ulp_status status = has_memory ? ULP_OK : ULP_NO_MEMORY;
    o->start = start;
    copy_to_backend(&status, w, &o->a, a, an, sizeof *a);
    copy_to_backend(&status, w, &o->b, b, bn, sizeof *b);
    copy_to_backend(&status, w, &o->c, NULL, cn, sizeof *c);
    if (status == ULP_OK) status = time_product(w, o, c, 1, seconds);
    for (size_t i = 0; i < cn && status == ULP_OK; i++) w->c[i] = (double)c[i];
    free(a);
    free(b);
    free(c);
    free(start);
    return status;
}

static ulp_status multiply_double(const gemm_job *w, operands *o, double *seconds) {
    ulp_status status = ULP_OK;
    o->start = w->start;
    copy_to_backend(&status, w, &o->a, w->a, w->m * w->k, sizeof *w->a);
    copy_to_backend(&status, w, &o->b, w->b, w->k * w->n, sizeof *w->b);
    copy_to_backend(&status, w, &o->c, NULL, w->m * w->n, sizeof *w->c);
    return status == ULP_OK ? time_product(w, o, w->c, 0, seconds) : status;
}

static ulp_status multiply(const gemm_job *w, double *seconds) {
    static ulp_status (*const ways[])(const gemm_job *, operands *, double *) = {multiply_float, multiply_double};
    ulp_status status = ULP_UNSUPPORTED;
    for (int i = 0; i < 2 && status == ULP_UNSUPPORTED; i++) {
        operands o = {0};
        status = ULP_OK;
        if (w->a_scales != NULL)
            copy_to_backend(&status, w, &o.a_scales, w->a_scales, w->m * w->blocks, sizeof *w->a_scales);
        if (w->b_scales != NULL)
            copy_to_backend(&status, w, &o.b_scales, w->b_scales, w->n * w->blocks, sizeof *w->b_scales);
        if (status == ULP_OK) status = ways[i](w, &o, seconds);
        release_operands(w, &o);
    }
    return status;
}

/* FNV-1a 64 of the codes, low byte first, in row order (Fowler, Noll, Vo). */
static ulp_status checksum(const gemm_job *w, uint64_t *hash) {
    *hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < w->m * w->n; i++) {
        uint64_t code;
        ULP_TRY(ulp_datapath_code(&code, w->c[i], &w->datapath));
        for (int bit = 0; bit < w->datapath.result.bits; bit += 8)
            *hash = (*hash ^ (code >> bit & 0xff)) * 0x100000001b3u;
    }
    return ULP_OK;
}

/* ---- the command ---- */

#define GEMM_FILE(field, option, text)                                                                                 \
    { .name = option, .type = &ulp_type_text, ULP_FIELD(gemm_job, field), .value_name = "FILE", .help = text }

static const ulp_option options[] = {
    {.name = "datapath",
     .type = &tool_type_product,
     ULP_FIELD(gemm_job, product),
     .needed = 1,
     .help = "how sums are formed; native:... is the processor's own product, or with --backend cuda a GPU's"},
    ULP_OPTION(gemm_job, backend, backend, "cpu", .help = "the machine that computes"),
    ULP_OPTION(gemm_job, m, unsigned, "256", .min = 1, .max = 1 << 20, .help = "rows of A and C"),
    ULP_OPTION(gemm_job, n, unsigned, "256", .min = 1, .max = 1 << 20, .help = "columns of B and C"),
    ULP_OPTION(gemm_job, k, unsigned, "256", .min = 1, .max = 1 << 24, .help = "columns of A, rows of B"),
    ULP_OPTION(gemm_job, in, format, NULL,
               .help = "the format of A and B; datapaths with input formats imply it; the accumulator's unless given"),
    ULP_OPTION_AS(gemm_job, kind, "data", choice, "uniform", .words = "uniform normal positive",
                  .help = "uniform on [-1, 1), normal: the sum of 12 uniform numbers minus 6, positive on [0, 1); "
                          "integers take these times their largest value (normal: a quarter of it)"),
    ULP_OPTION(gemm_job, seed, unsigned, "1", .help = "of the data"),
    ULP_OPTION(gemm_job, seconds, number, "0.2", .max = 3600,
               .help = "repeat the product for so long, and print the shortest time; 0: once"),
    ULP_OPTION(gemm_job, threads, unsigned, NULL, .min = 1, .max = 65536,
               .help = "threads; OMP_NUM_THREADS, else all processors, unless given"),
    ULP_OPTION(gemm_job, tile, text, NULL, .value_name = "RxC",
               .help = "form the result in tiles of at most R rows and C columns"),
    ULP_OPTION(gemm_job, explain, flag, NULL,
               .help = "print which path computes the product, and on which condition; compute nothing"),
    GEMM_FILE(a_file, "a",
              "A (m,k), a .npy file of floats or signed integers, FILE.npz or FILE.npz:NAME; with --b, in place of "
              "random data"),
    GEMM_FILE(b_file, "b", "B (k,n), as A"),
    GEMM_FILE(c_file, "c", "C (m,n), the values at which sums start, of the result's format; +0 unless given"),
    ULP_OPTION_AS(gemm_job, a_codes, "a-format", format, NULL,
                  .help = "the file of --a holds codes of this format, unsigned integers of 1, 2, 4 or 8 bytes"),
    ULP_OPTION_AS(gemm_job, b_codes, "b-format", format, NULL, .help = "the same for --b"),
    ULP_OPTION_AS(gemm_job, c_codes, "c-format", format, NULL, .help = "the same for --c"),
    GEMM_FILE(out, "out",
              "a .npy file for the result, in binary32, or in binary64 if the result's format needs it; an old file is "
              "replaced"),
    {0},
};

/* Read ROWSxCOLUMNS and set the tile. */
static ulp_status set_tile(const char *text, ulp_error *error) {
    enum { MOST = 9999999 };
    const int plain = strspn(text, "0123456789x") == strlen(text); /* neither signs nor blanks */
    char *end;
    const unsigned long rows = strtoul(text, &end, 10), columns = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
    if (!plain || *end != '\0' || rows == 0 || columns == 0 || rows > MOST || columns > MOST)
        return ulp_refuse(error, "--tile %s: rows and columns of a tile of the result, 1 to %d each, as in 7x13", text,
                          MOST);
    ulp_tile_set(rows, columns);
    return ULP_OK;
}

/* The numbers of one product. */
typedef struct result {
    uint64_t hash;
    double seconds;
    gemm_check check;
} result;

static void print_result(const gemm_job *w, const char *data, const result *r) {
    printf("datapath    %s\n", w->datapath.name);
    printf("shape       m %llu, n %llu, k %llu\n", (unsigned long long)w->m, (unsigned long long)w->n,
           (unsigned long long)w->k);
    if (w->a_file != NULL) printf("data        %s, %s", w->a_file, w->b_file);
    else printf("data        %s, seed %llu", data, (unsigned long long)w->seed);
    printf(", a in %s, b in %s", w->a_format.name, w->b_format.name);
    if (w->a_scales != NULL) printf(", scales 0.5 to 2 in %s", w->datapath.scale.name);
    else if (w->datapath.scale_block != 0) printf(", scales 1");
    if (w->c_file != NULL) printf(", from %s", w->c_file);
    putchar('\n');
    printf("checksum    %016llx, FNV-1a 64 of the codes in %s\n", (unsigned long long)r->hash, w->datapath.result.name);
    gemm_check_print(&r->check);
    printf("time        %.3g s, %.3g giga-products/s, %s %s, %d thread%s\n", r->seconds,
           1e-9 * (double)w->m * (double)w->n * (double)w->k / fmax(r->seconds, 1e-9), w->backend->name,
           w->backend->what, ulp_threads_get(), ulp_plural((size_t)ulp_threads_get()));
}

static void release(gemm_job *w) {
    free(w->a);
    free(w->b);
    free(w->c);
    free(w->start);
    free(w->a_scales);
    free(w->b_scales);
    w->a = w->b = w->c = w->start = NULL;
    w->a_scales = w->b_scales = NULL;
    w->blocks = 0;
}

static ulp_status compute(gemm_job *w, result *r) {
    ULP_TRY(prepare(w));
    ULP_TRY(multiply(w, &r->seconds));
    ULP_TRY(checksum(w, &r->hash));
    r->check = gemm_check_of(w);
    return r->check.lacks_memory ? ULP_NO_MEMORY : ULP_OK;
}

/* The formats, the tile and the data of the job. */
static ulp_status set_job(gemm_job *w, const ulp_arguments *a, ulp_error *error) {
    ulp_status status = tool_product_resolve(&w->product, w->backend, error);
    w->datapath = w->product.datapath;
    if (status == ULP_OK)
        status = tool_choose_inputs(&w->a_format, &w->b_format, &w->datapath,
                                    ulp_setting_given(a, "in") ? &w->in : NULL, error);
    if (status == ULP_OK && w->tile != NULL) status = set_tile(w->tile, error);
    if (status == ULP_OK) status = gemm_files_check(w, a, error);
    return status == ULP_OK ? gemm_files_read(w, a, error) : status;
}

/* Compute, write the result to a file if one is asked for, and print. */
static ulp_status compute_and_print(gemm_job *w, const ulp_arguments *a, FILE *out, ulp_error *error) {
    result r = {0};
    const ulp_status done = compute(w, &r);
    if (done == ULP_OK && out != NULL) gemm_files_write(w, out);
    if (done == ULP_OK) print_result(w, ulp_setting_find(a, "data")->value, &r);
    gemm_check_release(&r.check);
    if (done == ULP_OK) return ULP_OK;
    if (done == ULP_NO_MEMORY)
        return ulp_fail(error, ULP_NO_MEMORY, "out of memory for m %llu, n %llu, k %llu; smaller %s need less",
                        (unsigned long long)w->m, (unsigned long long)w->n, (unsigned long long)w->k,
                        w->a_file != NULL ? "matrices" : "--m, --n, --k");
    return ulp_fail(error, ULP_BAD_FILE, "%s on %s x %s: %s", w->datapath.name, w->a_format.name, w->b_format.name,
                    ulp_status_text(done));
}

static void explain(const gemm_job *w) {
    size_t rows, columns;
    ulp_tile_get(&rows, &columns);
    const ulp_gemm_shape shape = {.m = rows > 0 && rows < w->m ? rows : w->m,
                                  .n = columns > 0 && columns < w->n ? columns : w->n,
                                  .k = w->k,
                                  .lda = w->k,
                                  .ldb = w->n,
                                  .ldc = w->n,
                                  .accumulate = w->start != NULL};
    tool_paths_explain(w->backend, &w->datapath, !tool_paths_narrow(&w->datapath, &w->a_format, &w->b_format), &shape);
}

/* Compute with the file of the result open, if one is asked for. */
static ulp_status compute_to_file(gemm_job *w, const ulp_arguments *a, ulp_error *error) {
    file_output out = {.program = a->program};
    ulp_status status = ULP_OK;
    if (w->out != NULL) status = file_output_open(&out, w->out, NULL, error);
    ulp_threads_set((int)w->threads);
    if (status == ULP_OK) status = compute_and_print(w, a, out.file, error);
    return file_output_close(&out, status, 0, error);
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    gemm_job *w = fields;
    if (w->explain && w->out != NULL) return ulp_refuse(error, "--explain computes nothing for --out");
    ulp_status status = set_job(w, a, error);
    if (status == ULP_OK && w->explain) explain(w);
    else if (status == ULP_OK) status = compute_to_file(w, a, error);
    release(w);
    return status;
}

const tool_command tool_gemm = {
    .command =
        {.name = "ulp gemm",
         .usage = "--datapath D [OPTION...]",
         .summary = "a matrix product under a datapath: checksum, error against the exact result, speed",
         .details =
             "C (m,n) = A (m,k) B (k,n) from +0 on random data that is rounded to the input format. Block scales are "
             "uniform on [0.5, 2). Matrices of files give m, n and k; --in rounds their elements to nearest even, and "
             "without --in an element that the input format does not hold is refused; block scales are 1.\n\n"
             "  ulp gemm --datapath h100-fp16 --in fp16 --a a.npy --b b.npy --out c.npy\n\n"
             "The checksum is the same on every backend, for any number of threads, any instruction set and any tile; "
             "the checksum of a GPU and the checksum of its model say whether the bits are equal. --explain names "
             "the path that computes a product on the processor; `ulp backends --products` lists all paths. The exact "
             "results are computed for as many outputs, evenly spread, as 2^23 products allow. The last line, `time`, "
             "is the only one that differs between two runs.\n"},
    .size = sizeof(gemm_job),
    .groups = {{"options", options, 0}},
    .run = run};

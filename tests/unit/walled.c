/* walled.c - protected memory, and operations that unprotect the memory while they run; see walled.h.
 *
 * Every operation calls enter(), checks its arguments, computes with opened(), and calls left(). */
#define _DEFAULT_SOURCE /* for MAP_ANONYMOUS and MAP_NORESERVE */
#include "walled.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS_MAX = 4096 };

static const size_t arena_bytes = (size_t)1 << 30;

/* A block. Blocks lie one after the other without gaps. A block has `room` bytes; its last user asked for `bytes`. */
typedef struct block {
    unsigned char *at;
    size_t room, bytes;
    int live;
} block;

static unsigned char *arena;
static size_t page, arena_used, blocks, operations;
static block held[BLOCKS_MAX];
static const ulp_backend *inner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *operation, const char *what, const void *at, size_t bytes) {
    fprintf(stderr, "walled %s: %s (%zu bytes at %p)\n", operation, what, bytes, at);
    abort();
}

/* ---- the wall ---- */

/* The pages that an operation unprotects: from the first to the last byte of its arrays. */
static unsigned char *hole, *hole_end;

static void protect(int how) {
    if (hole != NULL && mprotect(hole, (size_t)(hole_end - hole), how) != 0)
        die("memory", "mprotect fails", hole, (size_t)(hole_end - hole));
}

static void widen(const void *at, size_t bytes) {
    const size_t from = (size_t)((const unsigned char *)at - arena) / page * page;
    const size_t to = ((size_t)((const unsigned char *)at - arena) + bytes + page - 1) / page * page;
    if (hole == NULL || arena + from < hole) hole = arena + from;
    if (hole_end == NULL || arena + to > hole_end) hole_end = arena + to;
}

static void enter(void) {
    if (pthread_mutex_lock(&lock) != 0) die("memory", "no lock", NULL, 0);
    operations++;
}

static void leave(void) {
    protect(PROT_NONE);
    hole = hole_end = NULL;
    pthread_mutex_unlock(&lock);
}

static ulp_status left(ulp_status status) {
    leave();
    return status;
}

/* Unprotect the pages of the operation. Returns the backend that computes. */
static const ulp_backend *opened(void) {
    protect(PROT_READ | PROT_WRITE);
    return inner;
}

/* ---- checks of arguments ---- */

/* Check that [at, at + bytes) lies in one live block, and add it to the pages of the operation. */
static void inside(const char *operation, const void *at, size_t bytes) {
    const uintptr_t from = (uintptr_t)at;
    if (bytes == 0) return;
    for (size_t i = 0; i < blocks; i++) {
        const uintptr_t begin = (uintptr_t)held[i].at;
        if (held[i].live && from >= begin && from - begin < held[i].bytes && bytes <= held[i].bytes - (from - begin)) {
            widen(at, bytes);
            return;
        }
    }
    die(operation, "an array is not wholly in one block of the backend's memory", at, bytes);
}

static void inside_or_null(const char *operation, const void *at, size_t bytes) {
    if (at != NULL) inside(operation, at, bytes);
}

/* Check that [at, at + bytes) is no memory of the backend. */
static void outside(const char *operation, const void *at, size_t bytes) {
    const uintptr_t from = (uintptr_t)at, begin = (uintptr_t)arena;
    if (bytes > 0 && from < begin + arena_bytes && from + bytes > begin)
        die(operation, "host memory lies in the backend's", at, bytes);
}

/* ---- memory ---- */

static void *take(size_t bytes) {
    const size_t room = (bytes + page) / page * page;
    for (size_t i = 0; i < blocks; i++)
        if (!held[i].live && held[i].room >= room) {
            held[i].bytes = bytes;
            held[i].live = 1;
            return held[i].at;
        }
    if (blocks == BLOCKS_MAX || room < bytes || arena_used + room > arena_bytes) return NULL;
    held[blocks] = (block){arena + arena_used, room, bytes, 1};
    arena_used += room;
    return held[blocks++].at;
}

static void *alloc(size_t bytes) {
    enter();
    void *memory = take(bytes);
    if (memory != NULL && bytes > 0) {
        widen(memory, bytes);
        opened();
        memset(memory, 0xff, bytes);
    }
    leave();
    return memory;
}

static void release(void *memory) {
    size_t i = 0;
    enter();
    while (memory != NULL && i < blocks && !(held[i].live && held[i].at == memory)) i++;
    if (memory != NULL && i == blocks) die("release", "this is no block of the backend's memory", memory, 0);
    if (memory != NULL) held[i].live = 0;
    leave();
}

static ulp_status upload(void *device, const void *host, size_t bytes) {
    enter();
    inside("upload", device, bytes);
    outside("upload", host, bytes);
    return left(opened()->upload(device, host, bytes));
}

static ulp_status download(void *host, const void *device, size_t bytes) {
    enter();
    outside("download", host, bytes);
    inside("download", device, bytes);
    return left(opened()->download(host, device, bytes));
}

/* ---- operations ---- */

static void inside_steps(const char *operation, const ulp_update_step *step, size_t steps, size_t n) {
    outside(operation, step, steps * sizeof *step);
    for (size_t i = 0; i < steps; i++) {
        const ulp_operand *operand[] = {&step[i].y, &step[i].a, &step[i].b, &step[i].c};
        for (size_t k = 0; k < sizeof operand / sizeof operand[0]; k++)
            if (operand[k]->kind == ULP_OPERAND_ARRAY) inside(operation, operand[k]->at, n * sizeof(float));
    }
}

static void inside_cells(const char *operation, const double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage) {
    const ulp_cell_widths widths = ulp_cell_widths_of(stage);
    const size_t units = arrays->B * arrays->N;
    outside(operation, arrays, sizeof *arrays);
    inside(operation, to, widths.to * units * sizeof *to);
    for (size_t i = 0; i < ULP_CELL_OPERANDS && widths.in[i] > 0; i++)
        inside(operation, arrays->in[i], widths.in[i] * units * sizeof(float));
}

/* The number of elements from the first to the last element of a matrix whose rows are `stride` apart. */
static size_t extent(size_t rows, size_t columns, size_t stride, int transposed) {
    const size_t r = transposed ? columns : rows, c = transposed ? rows : columns;
    return r > 0 && c > 0 ? (r - 1) * stride + c : 0;
}

/* Check the operands other than c; their numbers have `size` bytes. */
static void inside_operands(const char *operation, const void *a, const void *b, size_t size, const ulp_gemm_shape *s) {
    outside(operation, s, sizeof *s);
    inside(operation, a, extent(s->m, s->k, s->lda, s->a_trans) * size);
    inside(operation, b, extent(s->k, s->n, s->ldb, s->b_trans) * size);
}

/* Check the result, the datapath and the block scales. */
static void inside_sums(const char *operation, const void *c, size_t size, const ulp_gemm_shape *s,
                        const ulp_datapath *datapath) {
    outside(operation, datapath, sizeof *datapath);
    const size_t scales = datapath->scale_block ? (s->k + datapath->scale_block - 1) / datapath->scale_block : 0;
    inside(operation, c, extent(s->m, s->n, s->ldc, s->c_trans) * size);
    inside_or_null(operation, s->a_scales, s->m * scales * sizeof(float));
    inside_or_null(operation, s->b_scales, s->n * scales * sizeof(float));
}

/* The numbers of windows and of pixels of all images, and of the numbers of other shapes. */
static size_t windows_of(const ulp_windows *s) { return s->images * (s->h / s->K) * (s->w / s->K); }
static size_t strided_of(const ulp_strided_windows *s) {
    return s->images * ulp_strided_count(s->h, s) * ulp_strided_count(s->w, s);
}
#define pixels_of(s) ((s)->images * (s)->h * (s)->w)
static size_t numbers_of(ulp_channels s) { return s.B * s.c * s.n; }
static size_t permuted_of(ulp_permute_shape s) { return s.count * s.a * s.b * s.n; }
static size_t elements_of(const ulp_tiling *t) { return t->shape[0] * t->shape[1] * t->shape[2]; }
static size_t parts_of(const ulp_tiling *t) {
    size_t groups[3];
    return ulp_tiling_groups(groups, t);
}
static size_t scales_of(size_t rows, size_t columns, const ulp_block_cast *cast) {
    const int is_row = cast->along == ULP_ALONG_ROWS;
    return (is_row ? rows : columns) * ulp_block_scales(is_row ? columns : rows, &cast->block);
}
static size_t outputs_of(ulp_sequences of) { return of.B * of.C * of.T; }

/* Checks: n elements at `at` lie in the memory of the backend; the object at `at` does not. */
#define IN(at, n) inside(operation, at, (n) * sizeof *(at))
#define OUT(at) outside(operation, at, sizeof *(at))
#define ROUNDING(rounding) OUT((rounding).format), OUT((rounding).stats)

/* The checks of each operation of operations.def, in the names of its parameters. */
#define WALL_round IN(y, n), IN(x, n), ROUNDING(rounding)
#define WALL_round64 IN(y, n), IN(x, n), ROUNDING(rounding)
#define WALL_encode inside(operation, codes, (n * width + 7) / 8), IN(x, n), ROUNDING(rounding)
#define WALL_decode IN(y, n), inside(operation, codes, (n * width + 7) / 8), OUT(format)
#define WALL_block_encode                                                                                              \
    OUT(array.block), IN(elements, rows *array.n), IN(scales, rows *ulp_block_scales(array.n, array.block)),           \
        IN(x, rows *array.n)
#define WALL_block_decode                                                                                              \
    OUT(array.block), IN(y, rows *array.n), IN(elements, rows *array.n),                                               \
        IN(scales, rows *ulp_block_scales(array.n, array.block))
#define WALL_quantize                                                                                                  \
    OUT(quantizer), OUT(tiling), IN(codes, elements_of(tiling)), IN(x, elements_of(tiling)),                           \
        IN(scales, parts_of(tiling)), inside_or_null(operation, zero_points, parts_of(tiling) * sizeof *zero_points)
#define WALL_block_cast OUT(cast), IN(y, rows *columns), IN(x, rows *columns)
#define WALL_block_parts                                                                                               \
    OUT(cast), OUT(tensor_scale), IN(elements, rows *columns), IN(scales, scales_of(rows, columns, cast)),             \
        IN(x, rows *columns)
#define WALL_low_bit                                                                                                   \
    OUT(how), IN(y, rows *columns), IN(scale, ulp_low_bit_scales(rows, columns, how)), IN(work, 2 * rows + 1),         \
        IN(x, rows *columns)
#define WALL_scaled_sums                                                                                               \
    OUT(by), IN(c, extent(by->m, by->n, by->ldc, by->c_trans)), IN(sums, by->m * by->n),                               \
        inside_or_null(operation, by->row, (by->row_is_one ? 1 : by->m) * sizeof(float)),                              \
        inside_or_null(operation, by->column, (by->column_is_one ? 1 : by->n) * sizeof(float))
#define WALL_hadamard OUT(how), IN(y, rows *columns), IN(x, rows *columns), ROUNDING(rounding)
#define WALL_map                                                                                                       \
    IN(y, n), IN(op.a, n), inside_or_null(operation, op.b, n * sizeof *op.b),                                          \
        inside_or_null(operation, op.c, n * sizeof *op.c), ROUNDING(rounding)
#define WALL_update inside_steps(operation, step, steps, n)
#define WALL_largest OUT(y), IN(x, n)
#define WALL_squares IN(y, ulp_squares_chunks(n)), IN(x, n)
#define WALL_reduce IN(y, n), IN(x, (size_t)(m * n)), OUT(summation.datapath)
#define WALL_gemm                                                                                                      \
    inside_operands(operation, a, b, sizeof *a, shape), inside_sums(operation, c, sizeof *c, shape, summation.datapath)
#define WALL_gemm64 WALL_gemm
#define WALL_im2col                                                                                                    \
    OUT(geometry), IN(x, geometry->B * geometry->c * geometry->h * geometry->w),                                       \
        IN(y, geometry->c * geometry->kernel * geometry->kernel * geometry->B * geometry->oh * geometry->ow)
#define WALL_permute IN(y, permuted_of(shape)), IN(x, permuted_of(shape))
#define WALL_narrow IN(y, n), IN(x, n)
#define WALL_scale IN(y, n), IN(x, n)
#define WALL_relu IN(y, n), IN(x, n)
#define WALL_relu_slope IN(dx, n), IN(dy, n), IN(y, n)
#define WALL_activate IN(y, n), IN(x, n)
#define WALL_activate_slope IN(dx, n), IN(dy, n), IN(at, n)
#define WALL_pool OUT(windows), IN(y, windows_of(windows)), IN(place, windows_of(windows)), IN(x, pixels_of(windows))
#define WALL_pool_slope                                                                                                \
    OUT(windows), IN(dx, pixels_of(windows)), IN(dy, windows_of(windows)), IN(place, windows_of(windows))
#define WALL_pool_strided                                                                                              \
    OUT(windows), IN(y, strided_of(windows)), IN(place, strided_of(windows)), IN(x, pixels_of(windows))
#define WALL_pool_strided_slope                                                                                        \
    OUT(windows), IN(dx, pixels_of(windows)), IN(dy, strided_of(windows)), IN(place, strided_of(windows))
#define WALL_average OUT(windows), IN(y, windows_of(windows)), IN(x, pixels_of(windows))
#define WALL_average_slope OUT(windows), IN(dx, pixels_of(windows)), IN(dy, windows_of(windows))
#define WALL_upsample OUT(windows), IN(y, pixels_of(windows)), IN(x, windows_of(windows))
#define WALL_upsample_slope OUT(windows), IN(dx, windows_of(windows)), IN(dy, pixels_of(windows))
#define WALL_norm_statistics IN(to, 2 * shape.c), IN(x, numbers_of(shape))
#define WALL_norm_running IN(to, 2 * shape.c), IN(running, 2 * shape.c), IN(batch, 2 * shape.c)
#define WALL_norm                                                                                                      \
    IN(y, numbers_of(by.shape)), IN(x, numbers_of(by.shape)), IN(by.statistics, 2 * by.shape.c),                       \
        IN(by.w, 2 * by.shape.c)
#define WALL_norm_sums                                                                                                 \
    IN(sums, 2 * by.shape.c), IN(dy, numbers_of(by.shape)), IN(x, numbers_of(by.shape)),                               \
        IN(by.statistics, 2 * by.shape.c)
#define WALL_norm_slope                                                                                                \
    IN(dx, numbers_of(by.shape)), IN(dy, numbers_of(by.shape)), IN(x, numbers_of(by.shape)), IN(sums, 2 * by.shape.c), \
        IN(by.statistics, 2 * by.shape.c), IN(by.w, 2 * by.shape.c)
#define WALL_dropout IN(y, n), IN(x, n)
#define WALL_softmax                                                                                                   \
    IN(p, labels.B *labels.C), IN(loss, labels.B), IN(z, labels.B *labels.C), IN(labels.label, labels.B)
#define WALL_softmax_slope IN(dz, labels.B *labels.C), IN(p, labels.B *labels.C), IN(labels.label, labels.B)
#define WALL_cell inside_cells(operation, to, arrays, stage)
#define WALL_ctc_outputs IN(p, outputs_of(sequences)), IN(z, outputs_of(sequences))
#define WALL_ctc                                                                                                       \
    OUT(sums), ROUNDING(sums->rounding), IN(dz, outputs_of(sequences)), IN(loss, sequences.B),                         \
        IN(work, sequences.B *(2 * sequences.T + 1) * (2 * sequences.L + 1)), IN(p, outputs_of(sequences)),            \
        IN(sequences.label, sequences.B *sequences.L)
#define WALL_scaled IN(y, n), IN(x, n)
#define WALL_gather                                                                                                    \
    OUT(by), IN(y, by->rows * by->width), IN(table, by->entries * by->width),                                          \
        inside_or_null(operation, by->index, by->rows * sizeof *by->index)
#define WALL_one_hot                                                                                                   \
    OUT(by), IN(y, by->rows * by->entries), inside_or_null(operation, by->index, by->rows * sizeof *by->index)
#define WALL_token_mean IN(y, shape.B *shape.n), IN(x, shape.B *shape.T *shape.n)
#define WALL_token_mean_slope IN(dx, shape.B *shape.T *shape.n), IN(dy, shape.B *shape.n)
#define WALL_row_moments OUT(how), IN(to, 2 * how->rows), IN(x, how->rows * how->n)
/* the weights: gamma, and beta if there is a mean */
#define ROW_WEIGHTS(of) ((of).n * ((of).no_mean ? 1u : 2u))
#define ROW_MEANS(of) IN((of).statistics, 2 * (of).rows)
#define WALL_row_norm IN(y, by.rows *by.n), IN(x, by.rows *by.n), ROW_MEANS(by), IN(by.w, ROW_WEIGHTS(by))
#define WALL_row_norm_sums IN(sums, ROW_WEIGHTS(by)), IN(dy, by.rows *by.n), IN(x, by.rows *by.n), ROW_MEANS(by)
#define WALL_row_norm_slope                                                                                            \
    IN(dx, by.rows *by.n), IN(dy, by.rows *by.n), IN(x, by.rows *by.n), ROW_MEANS(by), IN(by.w, by.n)
#define WALL_rotate OUT(by), IN(y, by->rows * by->width), IN(x, by->rows * by->width), IN(table, by->T * by->size)
#define WALL_attention_softmax OUT(by), IN(p, by->rows * by->keys), IN(s, by->rows * by->keys)
#define WALL_attention_slope                                                                                           \
    OUT(by), IN(ds, by->rows * by->keys), IN(p, by->rows * by->keys), IN(dp, by->rows * by->keys),                     \
        inside_or_null(operation, d, by->rows * sizeof *d)
#define BLOCK_OF(of) ((of)->rows * ((of)->to - (of)->from))
#define WALL_softmax_maxima OUT(by), IN(maximum, by->rows), IN(factor, by->rows), IN(s, by->rows * by->keys)
#define WALL_softmax_block                                                                                             \
    OUT(by), IN(p, BLOCK_OF(by)), IN(s, by->rows * by->keys), IN(maximum, by->rows),                                   \
        inside_or_null(operation, sum, by->rows * sizeof *sum)
#define WALL_softmax_sums OUT(by), ROUNDING(rounding), IN(sum, by->rows), IN(p, BLOCK_OF(by)), IN(factor, by->rows)
#define WALL_row_scale IN(y, rows *n), IN(x, rows *n), IN(factor, rows)
#define WALL_row_dots IN(to, rows), IN(a, rows *n), IN(b, rows *n)

#define WALLED(name, parameters, arguments)                                                                            \
    static ulp_status wall_##name parameters {                                                                         \
        static const char operation[] = #name;                                                                         \
        enter();                                                                                                       \
        WALL_##name;                                                                                                   \
        return left(opened()->name arguments);                                                                         \
    }
#define ULP_OPERATION(name, cpu, cuda, mpfr, parameters, arguments, check) WALLED(name, parameters, arguments)
#define ULP_COMPOSED_OPERATION(name, cpu, cuda, mpfr, parameters)
#include "kernels/operations.def"
WALLED(reduce, (float *y, const float *x, size_t m, size_t n, ulp_summation summation), (y, x, m, n, summation))
WALLED(gemm, (float *c, const float *a, const float *b, const ulp_gemm_shape *shape, ulp_summation summation),
       (c, a, b, shape, summation))
WALLED(gemm64, (double *c, const double *a, const double *b, const ulp_gemm_shape *shape, ulp_summation summation),
       (c, a, b, shape, summation))
#define wall_gemm_round NULL /* ulp_backend_gemm_round() calls gemm, then round */
#define wall_gemm_batch NULL /* ulp_backend_gemm_batch() calls gemm */

/* Roundings whose first result is wrong if the environment asks for this operation: a test of who would see it. */
#define ROUNDED(name, number)                                                                                          \
    static ulp_status name##_or_wrong(number *y, const number *x, size_t n, ulp_rounding rounding) {                   \
        const ulp_status status = wall_##name(y, x, n, rounding);                                                      \
        const char *wrong = getenv("WALLED_WRONG");                                                                    \
        if (wrong == NULL || strcmp(wrong, #name) != 0 || n == 0) return status;                                       \
        enter();                                                                                                       \
        inside(#name, y, sizeof *y);                                                                                   \
        opened();                                                                                                      \
        y[0] = y[0] == 1 ? 2 : 1;                                                                                      \
        return left(status);                                                                                           \
    }
ROUNDED(round, float)
ROUNDED(round64, double)

/* ---- the table ---- */

const ulp_backend *walled(const ulp_backend *backend) {
    static ulp_backend table_of_walled = {
        .alloc = alloc,
        .release = release,
        .upload = upload,
        .download = download,
#define ULP_OPERATION(name, ...) .name = wall_##name,
#include "kernels/operations.def"
    };
    static char what[64];
    inner = backend;
    table_of_walled.round = round_or_wrong;
    table_of_walled.round64 = round64_or_wrong;
    snprintf(what, sizeof what, "walled %s", inner->what);
    table_of_walled.name = inner->name;
    table_of_walled.machine = inner->machine;
    table_of_walled.what = what;
    if (arena == NULL) {
        void *memory = mmap(NULL, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) die("memory", "mmap fails", NULL, arena_bytes);
        arena = memory;
        page = (size_t)sysconf(_SC_PAGESIZE);
    }
    return &table_of_walled;
}

size_t walled_operations(void) { return operations; }

size_t walled_blocks(void) {
    size_t live = 0;
    for (size_t i = 0; i < blocks; i++) live += (size_t)held[i].live;
    return live;
}

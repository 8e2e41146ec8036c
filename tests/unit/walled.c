/* walled.c - protected memory, and operations that unprotect the memory while they run; see walled.h. */
#define _DEFAULT_SOURCE /* for MAP_ANONYMOUS and MAP_NORESERVE */
#include "walled_inside.h"

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
static block table[BLOCKS_MAX];
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

void walled_enter(void) {
    if (pthread_mutex_lock(&lock) != 0) die("memory", "no lock", NULL, 0);
    operations++;
}

static void leave(void) {
    protect(PROT_NONE);
    hole = hole_end = NULL;
    pthread_mutex_unlock(&lock);
}

ulp_status walled_left(ulp_status status) {
    leave();
    return status;
}

const ulp_backend *walled_open(void) {
    protect(PROT_READ | PROT_WRITE);
    return inner;
}

/* Whether the environment asks for a wrong first result of this operation: a test of who would see it. */
static int is_wrong(const char *operation) {
    const char *wrong = getenv("WALLED_WRONG");
    return wrong != NULL && strcmp(wrong, operation) == 0;
}

/* ---- checks of arguments ---- */

void walled_inside(const char *operation, const void *at, size_t bytes) {
    const uintptr_t from = (uintptr_t)at;
    if (bytes == 0) return;
    for (size_t i = 0; i < blocks; i++) {
        const uintptr_t begin = (uintptr_t)table[i].at;
        if (table[i].live && from >= begin && from - begin < table[i].bytes &&
            bytes <= table[i].bytes - (from - begin)) {
            widen(at, bytes);
            return;
        }
    }
    die(operation, "an array is not wholly in one block of the backend's memory", at, bytes);
}

static void inside_or_null(const char *operation, const void *at, size_t bytes) {
    if (at != NULL) walled_inside(operation, at, bytes);
}

void walled_outside(const char *operation, const void *at, size_t bytes) {
    const uintptr_t from = (uintptr_t)at, begin = (uintptr_t)arena;
    if (bytes > 0 && from < begin + arena_bytes && from + bytes > begin)
        die(operation, "host memory lies in the backend's", at, bytes);
}

/* ---- memory ---- */

static void *take(size_t bytes) {
    const size_t room = (bytes + page) / page * page;
    for (size_t i = 0; i < blocks; i++)
        if (!table[i].live && table[i].room >= room) {
            table[i].bytes = bytes;
            table[i].live = 1;
            return table[i].at;
        }
    if (blocks == BLOCKS_MAX || room < bytes || arena_used + room > arena_bytes) return NULL;
    table[blocks] = (block){arena + arena_used, room, bytes, 1};
    arena_used += room;
    return table[blocks++].at;
}

static void *alloc(size_t bytes) {
    walled_enter();
    void *memory = take(bytes);
    if (memory != NULL && bytes > 0) {
        widen(memory, bytes);
        walled_open();
        memset(memory, 0xff, bytes);
    }
    leave();
    return memory;
}

static void release(void *memory) {
    size_t i = 0;
    walled_enter();
    while (memory != NULL && i < blocks && !(table[i].live && table[i].at == memory)) i++;
    if (memory != NULL && i == blocks) die("release", "this is no block of the backend's memory", memory, 0);
    if (memory != NULL) table[i].live = 0;
    leave();
}

static ulp_status upload(void *device, const void *host, size_t bytes) {
    walled_enter();
    walled_inside("upload", device, bytes);
    walled_outside("upload", host, bytes);
    return walled_left(walled_open()->upload(device, host, bytes));
}

static ulp_status download(void *host, const void *device, size_t bytes) {
    walled_enter();
    walled_outside("download", host, bytes);
    walled_inside("download", device, bytes);
    return walled_left(walled_open()->download(host, device, bytes));
}

/* ---- arithmetic ---- */

static ulp_status round_(float *y, const float *x, size_t n, ulp_rounding rounding) {
    walled_enter();
    walled_inside("round", y, n * sizeof *y);
    walled_inside("round", x, n * sizeof *x);
    walled_outside("round", rounding.format, sizeof *rounding.format);
    walled_outside("round", rounding.stats, sizeof *rounding.stats);
    const ulp_status status = walled_open()->round(y, x, n, rounding);
    if (is_wrong("round") && n > 0) y[0] = y[0] == 1.0f ? 2.0f : 1.0f;
    return walled_left(status);
}

static ulp_status round64(double *y, const double *x, size_t n, ulp_rounding rounding) {
    walled_enter();
    walled_inside("round64", y, n * sizeof *y);
    walled_inside("round64", x, n * sizeof *x);
    walled_outside("round64", rounding.format, sizeof *rounding.format);
    walled_outside("round64", rounding.stats, sizeof *rounding.stats);
    const ulp_status status = walled_open()->round64(y, x, n, rounding);
    if (is_wrong("round64") && n > 0) y[0] = y[0] == 1.0 ? 2.0 : 1.0;
    return walled_left(status);
}

WALLED(map, (float *y, ulp_array_op op, size_t n, ulp_rounding rounding), (y, op, n, rounding), IN(y, n), IN(op.a, n),
       inside_or_null(operation, op.b, n * sizeof *op.b), inside_or_null(operation, op.c, n * sizeof *op.c),
       OUT(rounding.format), OUT(rounding.stats))

static ulp_status update(const ulp_update_step *step, size_t steps, size_t n) {
    walled_enter();
    walled_outside("update", step, steps * sizeof *step);
    for (size_t i = 0; i < steps; i++) {
        const ulp_operand *operand[] = {&step[i].y, &step[i].a, &step[i].b, &step[i].c};
        for (size_t k = 0; k < sizeof operand / sizeof *operand; k++)
            if (operand[k]->kind == ULP_OPERAND_ARRAY) walled_inside("update", operand[k]->at, n * sizeof(float));
    }
    return walled_left(walled_open()->update(step, steps, n));
}

WALLED(largest, (float *y, const float *x, size_t n, int finite), (y, x, n, finite), OUT(y), IN(x, n))

WALLED(reduce, (float *y, const float *x, size_t m, size_t n, ulp_summation summation), (y, x, m, n, summation),
       IN(y, n), IN(x, (size_t)(m *n)), OUT(summation.datapath))

/* The number of elements from the first to the last element of a matrix whose rows are `stride` apart. */
static size_t extent(size_t rows, size_t columns, size_t stride, int transposed) {
    const size_t r = transposed ? columns : rows, c = transposed ? rows : columns;
    return r > 0 && c > 0 ? (r - 1) * stride + c : 0;
}

/* Check the operands other than c; their numbers have `size` bytes. */
static void inside_operands(const char *operation, const void *a, const void *b, size_t size, const ulp_gemm_shape *s) {
    walled_outside(operation, s, sizeof *s);
    walled_inside(operation, a, extent(s->m, s->k, s->lda, s->a_trans) * size);
    walled_inside(operation, b, extent(s->k, s->n, s->ldb, s->b_trans) * size);
}

/* Check the result, the datapath and the block scales. */
static void inside_sums(const char *operation, const void *c, size_t size, const ulp_gemm_shape *s,
                        const ulp_datapath *datapath) {
    walled_outside(operation, datapath, sizeof *datapath);
    const size_t scales = datapath->scale_block ? (s->k + datapath->scale_block - 1) / datapath->scale_block : 0;
    walled_inside(operation, c, extent(s->m, s->n, s->ldc, s->c_trans) * size);
    inside_or_null(operation, s->a_scales, s->m * scales * sizeof(float));
    inside_or_null(operation, s->b_scales, s->n * scales * sizeof(float));
}

WALLED(gemm, (float *c, const float *a, const float *b, const ulp_gemm_shape *shape, ulp_summation summation),
       (c, a, b, shape, summation), inside_operands(operation, a, b, sizeof *a, shape),
       inside_sums(operation, c, sizeof *c, shape, summation.datapath))

WALLED(gemm64, (double *c, const double *a, const double *b, const ulp_gemm_shape *shape, ulp_summation summation),
       (c, a, b, shape, summation), inside_operands(operation, a, b, sizeof *a, shape),
       inside_sums(operation, c, sizeof *c, shape, summation.datapath))

WALLED(im2col, (float *y, const float *x, const ulp_im2col *p), (y, x, p), OUT(p),
       IN(y, p->c * p->kernel * p->kernel * p->B * p->oh * p->ow), IN(x, p->B * p->c * p->h * p->w))

static size_t numbers_of(ulp_permute_shape s) { return s.count * s.a * s.b * s.n; }

WALLED(permute, (float *y, const float *x, ulp_permute_shape s), (y, x, s), IN(y, numbers_of(s)), IN(x, numbers_of(s)))

/* ---- the table ---- */

const ulp_backend *walled(const ulp_backend *backend) {
    static ulp_backend table_of_walled = {.alloc = alloc,
                                          .release = release,
                                          .upload = upload,
                                          .download = download,
                                          .round = round_,
                                          .round64 = round64,
                                          .map = map,
                                          .update = update,
                                          .largest = largest,
                                          .reduce = reduce,
                                          .gemm = gemm,
                                          .gemm64 = gemm64,
                                          .im2col = im2col,
                                          .permute = permute};
    static char what[64];
    inner = backend;
    walled_add_network(&table_of_walled);
    walled_add_sequences(&table_of_walled);
    snprintf(what, sizeof what, "walled %s", inner->what);
    table_of_walled.name = inner->name;
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
    for (size_t i = 0; i < blocks; i++) live += (size_t)table[i].live;
    return live;
}

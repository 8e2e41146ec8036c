/* chain_blocks.h - the product as a chain of fused multiply-adds, k ascending, in register blocks: one text for
 * binary32 and for binary64.
 *
 * A file that includes the text defines before:
 *   CHAIN_NUMBER, CHAIN_VECTOR, CHAIN_WORDS    the types: numbers, a vector of them, a vector of signed words
 *   CHAIN_NAN              the word of the NaN of results
 *   CHAIN_FUSED(a, b, c)   a b + c in vectors, rounded once to nearest
 *   CHAIN_ROUND(job, begin, end)    rounds rows begin .. end - 1 of a result that is complete, if the job asks for it
 *   turn4                  to (4, stride) = the transpose of from (4, ld), four columns of each
 *   column, READ_COLUMN, OF_COLUMN    how a column of A is read, and its element r in every lane
 */
#ifndef ULP_CPU_CHAIN_BLOCKS_H
#define ULP_CPU_CHAIN_BLOCKS_H

#include <string.h>

#include "gemm.h"

/* The elements of a vector, the columns of a panel of B, and the most rows of a block: a block with two vectors of
 * columns has at most 24 registers of sums under AVX-512 and on Arm, and 12 under AVX2. DEPTH products of a panel and
 * of a piece of A fit the second-level cache. */
enum { LANES = ULP_VECTOR_BYTES / sizeof(CHAIN_NUMBER), VECTORS = 2, WIDE = VECTORS * LANES, MOST_ROWS = 12 };
enum { ROWS = ULP_REGISTERS == 32 ? MOST_ROWS : MOST_ROWS / 2 };
enum { DEPTH = 4096 / sizeof(CHAIN_NUMBER) };
enum { CACHE = (1 << 19) / sizeof(CHAIN_NUMBER) }; /* numbers of an operand that stay in the second-level cache */
enum { DIRECT_BLOCKS = 2 };                        /* so few blocks of rows read B where it is */
enum { PIECE_ROWS = 96 };                          /* rows of A that use a panel of B while the panel is in the cache */
enum { SMALL = 1 << 23 }; /* products that one thread forms sooner than a second thread starts */

ULP_INLINE CHAIN_VECTOR load(const CHAIN_NUMBER *from) {
    CHAIN_VECTOR x;
    memcpy(&x, from, sizeof x);
    return x;
}

/* Stores x with one NaN for all NaN. */
ULP_INLINE void store_canonical(CHAIN_NUMBER *to, CHAIN_VECTOR x) {
    const CHAIN_WORDS is_number = (CHAIN_WORDS)(x == x), nan = (CHAIN_WORDS){0} + CHAIN_NAN,
                      y = ((CHAIN_WORDS)x & is_number) | (nan & ~is_number);
    memcpy(to, &y, sizeof y);
}

typedef struct work {
    const ulp_job *job;
    CHAIN_NUMBER *packed; /* B as panels of (k, WIDE), zero-padded; in a wide product each run has a slice of a panel */
    CHAIN_NUMBER *rows;   /* A as blocks of (k, block) */
    size_t block;         /* rows of a block */
    size_t run;           /* panels in a run of a wide product */
} work;

/* A part of the sums: products k0 .. k1 - 1 of the columns of a panel of B. */
typedef struct part {
    size_t panel, k0, k1;
    const CHAIN_NUMBER *b; /* (k1 - k0, WIDE) */
    size_t ldb;
} part;

/* ---- packing ---- */

/* to (columns, stride) = the transpose of from (rows, ld). A line of the cache is read as a whole. */
static void turn(CHAIN_NUMBER *to, size_t stride, const CHAIN_NUMBER *from, size_t ld, size_t rows, size_t columns) {
    enum { LINE = 64 / sizeof(CHAIN_NUMBER) };
    const size_t whole = columns / LINE * LINE, fours = rows / 4 * 4;
    for (size_t k = 0; k < whole; k += LINE)
        for (size_t r = 0; r < fours; r += 4)
            for (size_t i = k; i < k + LINE; i += 4) turn4(to + i * stride + r, stride, from + r * ld + i, ld);
    for (size_t r = fours; r < rows; r++)
        for (size_t k = 0; k < whole; k++) to[k * stride + r] = from[r * ld + k];
    for (size_t k = whole; k < columns; k++)
        for (size_t r = 0; r < rows; r++) to[k * stride + r] = from[r * ld + k];
}

/* to (columns, stride) = from (columns, ld), `rows` numbers of each; rows <= most, which is a constant */
ULP_INLINE void copy(CHAIN_NUMBER *to, size_t stride, const CHAIN_NUMBER *from, size_t ld, size_t rows, size_t columns,
                     size_t most) {
    if (rows == most)
        for (size_t k = 0; k < columns; k++) memcpy(to + k * stride, from + k * ld, most * sizeof *to);
    else
        for (size_t k = 0; k < columns; k++)
            for (size_t r = 0; r < rows; r++) to[k * stride + r] = from[k * ld + r];
}

static size_t width_of(const ulp_job *job, size_t panel) {
    return job->s.n - panel * WIDE < WIDE ? job->s.n - panel * WIDE : WIDE;
}

/* Products k0 .. k1 - 1 of a panel of B. */
static void pack_panel(const ulp_job *job, CHAIN_NUMBER *to, size_t panel, size_t k0, size_t k1) {
    const ulp_gemm_shape *s = &job->s;
    const size_t width = width_of(job, panel);
    if (k0 == k1) return;
    const CHAIN_NUMBER *b = (const CHAIN_NUMBER *)job->b + b_index(job, k0, panel * WIDE);
    if (width < WIDE) memset(to, 0, (k1 - k0) * WIDE * sizeof *to);
    if (s->b_trans) turn(to, WIDE, b, s->ldb, width, k1 - k0);
    else copy(to, WIDE, b, s->ldb, width, k1 - k0, WIDE);
}

static size_t rows_of(const work *w, size_t at) {
    return w->job->s.m - at * w->block < w->block ? w->job->s.m - at * w->block : w->block;
}

static void pack_rows(const work *w, size_t at) {
    const ulp_gemm_shape *s = &w->job->s;
    if (s->k == 0) return;
    const CHAIN_NUMBER *a = (const CHAIN_NUMBER *)w->job->a + a_index(w->job, at * w->block, 0);
    CHAIN_NUMBER *to = w->rows + at * s->k * w->block;
    if (!s->a_trans) turn(to, w->block, a, s->lda, rows_of(w, at), s->k);
    else if (w->block == MOST_ROWS) copy(to, MOST_ROWS, a, s->lda, rows_of(w, at), s->k, MOST_ROWS);
    else copy(to, ROWS, a, s->lda, rows_of(w, at), s->k, ROWS);
}

/* ---- sums ---- */

/* c (rows, vectors) = or += a b, with a (k, stride) and b (k, ldb). rows and vectors are constants. */
ULP_INLINE void block(CHAIN_NUMBER *c, size_t ldc, int add, const CHAIN_NUMBER *a, size_t stride, const CHAIN_NUMBER *b,
                      size_t ldb, size_t k, int rows, int vectors) {
    CHAIN_VECTOR acc[MOST_ROWS][VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++) acc[r][v] = add ? load(c + (size_t)r * ldc + v * LANES) : (CHAIN_VECTOR){0};
    for (size_t i = 0; i < k; i++, a += stride, b += ldb) {
        CHAIN_VECTOR y[VECTORS];
        column at;
        READ_COLUMN(at, a, rows);
        for (int v = 0; v < vectors; v++) y[v] = load(b + v * LANES);
        for (int r = 0; r < rows; r++) {
            const CHAIN_VECTOR x = OF_COLUMN(at, r);
            for (int v = 0; v < vectors; v++) acc[r][v] = CHAIN_FUSED(x, y[v], acc[r][v]);
        }
    }
    ALL_UNROLLED for (int r = 0; r < rows; r++) for (int v = 0; v < vectors; v++)
        store_canonical(c + (size_t)r * ldc + v * LANES, acc[r][v]);
}

static void any_block(CHAIN_NUMBER *c, size_t ldc, int add, const CHAIN_NUMBER *a, size_t stride, const part *p,
                      size_t rows, int vectors) {
    const size_t k = p->k1 - p->k0;
    switch (rows) {
#define CASE(r)                                                                                                        \
    case r:                                                                                                            \
        if (vectors == 1) block(c, ldc, add, a, stride, p->b, p->ldb, k, r, 1);                                        \
        else if (r <= ROWS) block(c, ldc, add, a, stride, p->b, p->ldb, k, r, 2);                                      \
        break;
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
        CASE(7)
        CASE(8)
        CASE(9)
        CASE(10)
        CASE(11)
        CASE(12)
#undef CASE
    default: break;
    }
}

/* Adds a part to a block of rows. C holds the sums between two parts. */
static void advance(const work *w, size_t at, const part *p) {
    const ulp_gemm_shape *s = &w->job->s;
    const size_t rows = rows_of(w, at), width = width_of(w->job, p->panel);
    const int add = s->accumulate || p->k0 > 0, vectors = width <= LANES ? 1 : 2;
    CHAIN_NUMBER sums[MOST_ROWS * WIDE], *c = (CHAIN_NUMBER *)w->job->c + at * w->block * s->ldc + p->panel * WIDE;
    const CHAIN_NUMBER *a = w->rows + (at * s->k + p->k0) * w->block;
    if (width == (size_t)vectors * LANES) {
        any_block(c, s->ldc, add, a, w->block, p, rows, vectors);
        return;
    }
    memset(sums, 0, sizeof sums);
    for (size_t r = 0; r < rows && add; r++) memcpy(sums + r * WIDE, c + r * s->ldc, width * sizeof *sums);
    any_block(sums, WIDE, add, a, w->block, p, rows, vectors);
    for (size_t r = 0; r < rows; r++) memcpy(c + r * s->ldc, sums + r * WIDE, width * sizeof *sums);
}

static size_t panels_of(const ulp_job *job) { return (job->s.n + WIDE - 1) / WIDE; }
static size_t blocks_of(const work *w) { return (w->job->s.m + w->block - 1) / w->block; }
static size_t slice_end(size_t k0, size_t k) { return k - k0 < DEPTH ? k : k0 + DEPTH; }

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t k = w->job->s.k;
    for (size_t panel = begin; panel < end; panel++) pack_panel(w->job, w->packed + panel * k * WIDE, panel, 0, k);
}

static void pack_rows_part(void *context, size_t begin, size_t end) {
    for (size_t at = begin; at < end; at++) pack_rows(context, at);
}

static void round_blocks(const work *w, size_t begin, size_t end) {
    CHAIN_ROUND(w->job, begin * w->block, end * w->block < w->job->s.m ? end * w->block : w->job->s.m);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t k = w->job->s.k;
    size_t k0 = 0;
    pack_rows_part(context, begin, end);
    do {
        part p = {.k0 = k0, .k1 = slice_end(k0, k), .ldb = WIDE};
        const size_t step = (p.k1 - k0) * w->job->s.n <= CACHE ? 1 : end - begin;
        for (size_t first = begin; first < end; first += step) {
            for (p.panel = 0; p.panel < panels_of(w->job); p.panel++) {
                p.b = w->packed + (p.panel * k + k0) * WIDE;
                for (size_t at = first; at < first + step; at++) advance(w, at, &p);
            }
            if (p.k1 == k) round_blocks(w, first, first + step);
        }
        k0 = p.k1;
    } while (k0 < k);
}

/* Whether blocks of rows read a whole panel of B where it is. */
static int is_direct(const work *w, size_t panel) {
    return w->job->s.k > 0 && !w->job->s.b_trans && blocks_of(w) <= DIRECT_BLOCKS && width_of(w->job, panel) == WIDE;
}

/* The order of a wide product: a slice of a panel is packed just before its use, so that it is in the cache. */
static void columns_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t k = w->job->s.k;
    CHAIN_NUMBER *packed = w->packed + begin / w->run * (k < DEPTH ? k : DEPTH) * WIDE;
    for (size_t panel = begin; panel < end; panel++) {
        size_t k0 = 0;
        do {
            part p = {.panel = panel, .k0 = k0, .k1 = slice_end(k0, k), .b = packed, .ldb = WIDE};
            if (is_direct(w, panel)) {
                p.b = (const CHAIN_NUMBER *)w->job->b + b_index(w->job, k0, panel * WIDE);
                p.ldb = w->job->s.ldb;
            } else {
                pack_panel(w->job, packed, panel, k0, p.k1);
            }
            for (size_t at = 0; at < blocks_of(w); at++) advance(w, at, &p);
            k0 = p.k1;
        } while (k0 < k);
    }
}

/* The number of panels, or of blocks of rows, in a piece of work: every thread gets several pieces. */
static size_t pieces_of(const ulp_job *job, size_t n, size_t most) {
    const size_t share = n / (4 * (size_t)ulp_threads_get());
    if (job->s.m * job->s.n * job->s.k < SMALL) return n;
    return share < 1 ? 1 : share > most ? most : share;
}

static ulp_status chain_product(const ulp_job *job) {
    const ulp_gemm_shape *s = &job->s;
    work w = {.job = job, .block = s->n <= LANES ? MOST_ROWS : ROWS};
    const size_t panels = panels_of(job), blocks = blocks_of(&w);
    const int wide = (s->k * s->n > CACHE && s->m < s->n) || (blocks <= DIRECT_BLOCKS && !s->b_trans);
    w.run = pieces_of(job, panels, 16);
    rooms r = {.count = 0};
    w.packed = rooms_take(
        &r, wide ? (panels + w.run - 1) / w.run * (s->k < DEPTH ? s->k : DEPTH) * WIDE : panels * s->k * WIDE,
        sizeof *w.packed);
    w.rows = rooms_take(&r, blocks * s->k * w.block, sizeof *w.rows);
    if (!r.failed && wide) {
        ulp_parallel_for(blocks, pieces_of(job, blocks, blocks), pack_rows_part, &w);
        ulp_parallel_for(panels, w.run, columns_part, &w);
        CHAIN_ROUND(job, 0, s->m);
    } else if (!r.failed) {
        ulp_parallel_for(panels, w.run, pack_part, &w);
        ulp_parallel_for(blocks, pieces_of(job, blocks, PIECE_ROWS / w.block), rows_part, &w);
    }
    return rooms_end(&r);
}

#endif

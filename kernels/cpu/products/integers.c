/* integers.c - products whose numbers and sums are integers: 8- or 16-bit integers into 32-bit integers that wrap or
 * clamp, and Tensor Core rows of e2m1 and e2m3, whose numbers are integers of 8 bits times a power of two.
 *
 * A sum that wraps is one run of products modulo 2^32 (integer_dots.h). A sum that clamps has a run for every `length`
 * products of the datapath and clamps after each run: the numbers minus their zero points are below 2^9, so that a run
 * of up to 2^13 products fits 32 bits. A clamped run of 16-bit integers has two products. If no partial sum can leave
 * the 32 bits, then nothing clamps, and the sum is one run.
 *
 * On a Tensor Core row let a and b be multiples of 2^qa and 2^qb, q = qa + qb. A sum starts at a multiple of 2^q, and
 * no partial sum reaches 2^(q + 24), by the largest operands of the formats. Then no exponent is above E = max(q + 23,
 * emax(a) + emax(b), floor), and if E - F <= q, the alignment truncates nothing. Every partial sum is a multiple of 2^q
 * below 2^(q + 24) and a value of binary32, so that no step rounds and the sum is exact in any order. A sum of zero is
 * +0, as the definition says.
 */
#include "integer_dots.h"

#include <math.h>

#if defined(ULP_ARM)
enum { ROWS = 8 }; /* rows of a tile */
#else
enum { ROWS = ULP_REGISTERS == 32 ? 6 : 4 };
#endif

typedef enum clamping { WRAPS, CLAMPS, CLAMPS_PAIRS } clamping;

/* acc += the sums of a tile. */
typedef void tile_function(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel);

typedef struct work {
    dots d;
    clamping clamps;
    tile_function *add;
    int unit; /* starts and results are integers times 2^unit */
} work;

/* x + y, clamped to the range of 32-bit integers. */
ULP_INLINE vword clamped_sum(vword x, vword y) {
    const vword sum = x + y, over = (vword)((vint)((x ^ sum) & (y ^ sum)) >> 31);
    const vword end = (vword)((vint)x >> 31) ^ 0x7fffffffu;
    return (sum & ~over) | (end & over);
}

/* x + y, clamped, where y is the sum of two products of 16-bit integers: -2^31 stands for 2^31, since no such sum is
 * below -2^31 + 2^16. */
ULP_INLINE vword clamped_pair(vword x, vword y) {
    const vword top = (vword)((vint)y == (vint)((vword){0} + 0x80000000u)), below = (vword)((vint)x >> 31);
    const vword large = ((x + y) & below) | (0x7fffffffu & ~below);
    return (clamped_sum(x, y) & ~top) | (large & top);
}

#if defined(ULP_ARM) && ULP_ARM == 128
#define HAS_MATRICES

enum { MATRIX = 8 }; /* the products of two words */

typedef uint64_t vtwo __attribute__((vector_size(16)));

/* The lower and the upper halves of two vectors: two rows of sums become two matrices, and back. */
ULP_INLINE vtwo lower_of(vtwo x, vtwo y) { return (vtwo){x[0], y[0]}; }
ULP_INLINE vtwo upper_of(vtwo x, vtwo y) { return (vtwo){x[1], y[1]}; }

/* add_run for words of four products, by an instruction that adds two words to 2 x 2 sums. */
ULP_INLINE void add_matrices(vword (*restrict sum)[VECTORS], const uint32_t *a, size_t row, const vword *b,
                             size_t words) {
    vtwo two[ROWS][VECTORS]; /* gcc would keep `sum`, and an array of 32-bit words, in memory */
    ALL_UNROLLED for (int r = 0; r < ROWS; r += 2) ALL_UNROLLED for (int v = 0; v < VECTORS; v++) {
        two[r][v] = lower_of((vtwo)sum[r][v], (vtwo)sum[r + 1][v]);
        two[r + 1][v] = upper_of((vtwo)sum[r][v], (vtwo)sum[r + 1][v]);
    }
    for (size_t p = 0; p + 1 < words; p += 2) {
        arm_ints columns[VECTORS][2];
        ALL_UNROLLED for (int v = 0; v < VECTORS; v++) {
            const uint32x4_t first = (uint32x4_t)b[p * VECTORS + (size_t)v],
                             next = (uint32x4_t)b[(p + 1) * VECTORS + (size_t)v];
            columns[v][0] = (arm_ints)vzip1q_u32(first, next);
            columns[v][1] = (arm_ints)vzip2q_u32(first, next);
        }
        ALL_UNROLLED for (int r = 0; r < ROWS; r += 2) {
            const uint32_t *from = a + (size_t)r * row + p;
            const arm_ints x = (arm_ints)vcombine_u32(vld1_u32(from), vld1_u32(from + row));
            ALL_UNROLLED for (int v = 0; v < VECTORS; v++) ALL_UNROLLED for (int h = 0; h < 2; h++) two[r + h][v] =
                (vtwo)arm_matrix_dot((arm_ints)two[r + h][v], x, columns[v][h]);
        }
    }
    ALL_UNROLLED for (int r = 0; r < ROWS; r += 2) ALL_UNROLLED for (int v = 0; v < VECTORS; v++) {
        sum[r][v] = (vword)lower_of(two[r][v], two[r + 1][v]);
        sum[r + 1][v] = (vword)upper_of(two[r][v], two[r + 1][v]);
    }
    if (words % 2 == 1) add_run(sum[0], a + words - 1, row, b + (words - 1) * VECTORS, 1, ROWS, VECTORS, QUADS);
}
#endif

/* acc += the sums of a tile. `clamps` and `per` are constants. */
ULP_INLINE void add_tile(vword (*restrict acc)[VECTORS], const dots *d, size_t i0, size_t panel, clamping clamps,
                         int per) {
    for (size_t run = 0; run < d->runs; run++) {
        const vword *start = dots_b_start(d, panel, run);
        vword part[ROWS][VECTORS];
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECTORS; v++) part[r][v] = start[v] + d->a_start[(i0 + (size_t)r) * d->runs + run];
#if defined(HAS_MATRICES)
        if (per == MATRIX) add_matrices(part, dots_a(d, i0, run), dots_row(d), dots_b(d, panel, run), d->words);
        else
#endif
            add_run(part[0], dots_a(d, i0, run), dots_row(d), dots_b(d, panel, run), d->words, ROWS, VECTORS, per);
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECTORS; v++)
                acc[r][v] = clamps == WRAPS          ? acc[r][v] + part[r][v]
                            : clamps == CLAMPS_PAIRS ? clamped_pair(acc[r][v], part[r][v])
                                                     : clamped_sum(acc[r][v], part[r][v]);
    }
}

#define TILE(name, clamps, per)                                                                                        \
    static void name(vword(*acc)[VECTORS], const dots *d, size_t i0, size_t panel) {                                   \
        add_tile(acc, d, i0, panel, clamps, per);                                                                      \
    }
TILE(wrap_pairs, WRAPS, PAIRS)
TILE(clamp_pairs, CLAMPS, PAIRS)
TILE(clamp_two, CLAMPS_PAIRS, PAIRS)
TILE(wrap_quads, WRAPS, QUADS)
TILE(clamp_quads, CLAMPS, QUADS)
#if defined(HAS_MATRICES)
TILE(wrap_matrices, WRAPS, MATRIX)
TILE(clamp_matrices, CLAMPS, MATRIX)
#endif

/* The function for the words of the operands. */
static tile_function *tile_function_of(const dots *d, clamping clamps) {
    if (clamps == CLAMPS_PAIRS) return clamp_two;
    if (d->per == PAIRS) return clamps == WRAPS ? wrap_pairs : clamp_pairs;
#if defined(HAS_MATRICES)
    if (arm_has_matrices()) return clamps == WRAPS ? wrap_matrices : clamp_matrices;
#endif
    return clamps == WRAPS ? wrap_quads : clamp_quads;
}

static void tile(const work *w, size_t i0, size_t panel) {
    const ulp_job *job = w->d.job;
    const ulp_gemm_shape *s = &job->s;
    const size_t rows = s->m - i0 < ROWS ? s->m - i0 : ROWS, width = dots_width(&w->d, panel);
    const double unit = ulp_scale(1.0, w->unit), per_unit = ulp_scale(1.0, -w->unit);
    const size_t at = i0 * s->ldc + panel * WIDE;
    union {
        vword v[ROWS][VECTORS];
        uint32_t u[ROWS][WIDE];
    } acc = {{{{0}}}};
    for (size_t r = 0; r < rows && s->accumulate; r++)
        for (size_t j = 0; j < width; j++)
            acc.u[r][j] = (uint32_t)(int64_t)(job_at(job, job->c, at + r * s->ldc + j) * per_unit);
    w->add(acc.v, &w->d, i0, panel);
    for (size_t r = 0; r < rows; r++)
        if (job->wide)
            for (size_t j = 0; j < width; j++)
                ((double *)job->c)[at + r * s->ldc + j] = (double)(int32_t)acc.u[r][j] * unit;
        else
            for (size_t j = 0; j < width; j++)
                ((float *)job->c)[at + r * s->ldc + j] = (float)(int32_t)acc.u[r][j] * (float)unit;
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    dots_pack_blocks(&w->d, begin, end);
    for (size_t panel = 0; panel < dots_panels(&w->d); panel++)
        for (size_t block = begin; block < end; block++) tile(w, block * ROWS, panel);
}

static ulp_status run(work *w) {
    rooms r = {.count = 0};
    dots_begin(&w->d, &r);
    w->add = tile_function_of(&w->d, w->clamps);
    if (!r.failed) ulp_parallel_for(dots_blocks(&w->d), row_grain(dots_blocks(&w->d)), blocks_part, w);
    return rooms_end(&r);
}

/* The largest magnitude of a start value. whole: set to 0 if a start value is no multiple of 2^unit. */
static double largest_start(const ulp_job *job, int unit, int *whole) {
    const ulp_gemm_shape *s = &job->s;
    const double per_unit = ulp_scale(1.0, -unit);
    double most = 0.0;
    for (size_t i = 0; i < s->m && s->accumulate; i++)
        for (size_t j = 0; j < s->n; j++) {
            const double size = fabs(job_at(job, job->c, i * s->ldc + j)), units = size * per_unit;
            *whole &= units < 0x1p32 && (double)(int64_t)(units < 0x1p32 ? units : 0.0) == units;
            most = size > most ? size : most;
        }
    return most;
}

/* ---- 8- and 16-bit integers ---- */

/* Integers of 8 bits without a sign become signed by subtracting 128 from them and from their zero point. */
static int is_packed(const ulp_format *f) { return f->bits <= (f->is_signed ? 16 : 8); }

static int32_t less_of(const ulp_format *f) { return f->is_signed ? 0 : 128; }

static int serves_fixed(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    const ulp_overflow policy = ulp_overflow_of(f, (ulp_overflow)d->rule.overflow);
    return job->wide && d->kind == ULP_SERIAL && d->promote == 0 && d->has_inputs && d->a.is_fixed && d->b.is_fixed &&
           is_packed(&d->a) && is_packed(&d->b) && d->a.frac_bits + d->b.frac_bits == 0 && f->is_fixed &&
           f->bits == 32 && f->frac_bits == 0 && d->length <= 1 << 13 &&
           (policy == ULP_OVERFLOW_SAT || policy == ULP_OVERFLOW_WRAP);
}

/* Whether a partial sum may be beyond the range of 32-bit integers. */
static int may_clamp(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const double a = fmax(-d->a.lowest, d->a.max) + fabs((double)d->zero_a),
                 b = fmax(-d->b.lowest, d->b.max) + fabs((double)d->zero_b);
    int whole = 1;
    if (ulp_overflow_of(&d->accumulator, (ulp_overflow)d->rule.overflow) != ULP_OVERFLOW_SAT) return 0;
    return (double)job->s.k * a * b + largest_start(job, 0, &whole) >= 0x1p31;
}

static ulp_status run_fixed(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const int wide = d->a.bits > 8 || d->b.bits > 8, may = may_clamp(job);
    if (wide && may && (d->length > 2 || d->zero_a != 0 || d->zero_b != 0)) return ULP_UNSUPPORTED;
    work w = {.clamps = !may   ? WRAPS
                        : wide ? CLAMPS_PAIRS
                               : CLAMPS,
              .d = {.job = job,
                    .rows = ROWS,
                    .step = 1,
                    .pairs_only = wide,
                    .a_less = less_of(&d->a),
                    .b_less = less_of(&d->b),
                    .zero_a = d->zero_a - less_of(&d->a),
                    .zero_b = d->zero_b - less_of(&d->b),
                    .a_factor = 1.0,
                    .b_factor = 1.0,
                    .length = may || job->s.k == 0 ? d->length : job->s.k}};
    return run(&w);
}

/* ---- Tensor Core rows ---- */

static int serves_row(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_fused *f = &d->fused;
    if (job->wide || d->kind != ULP_ALIGNED || d->scale_block != 0 || job->s.k == 0 || !d->has_inputs ||
        !fits_byte(&d->a) || !fits_byte(&d->b))
        return 0;
    const int unit = d->a.qmin + d->b.qmin, largest = d->a.emax + d->b.emax,
              top = unit + 23 > largest ? unit + 23 : largest;
    const int open = f->zero_operand != ULP_NO_EXPONENT || f->zero_product != ULP_NO_EXPONENT ||
                     f->zero_c != ULP_NO_EXPONENT || f->signed_zero;
    return f->group == 0 && !f->late && f->join == 0 && !f->c_last && !open && d->accumulator.prec == 24 &&
           d->accumulator.emin == -126 && f->kept == 23 && (top > f->floor ? top : f->floor) - f->fraction <= unit;
}

static ulp_status run_row(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const int unit = d->a.qmin + d->b.qmin;
    int whole = 1;
    const double most = (double)job->s.k * d->a.max * d->b.max + largest_start(job, unit, &whole);
    if (!whole || !(most < ulp_scale(1.0, unit + 24))) return ULP_UNSUPPORTED;
    work w = {.clamps = WRAPS,
              .unit = unit,
              .d = {.job = job,
                    .rows = ROWS,
                    .step = 1,
                    .a_factor = ulp_scale(1.0, -d->a.qmin),
                    .b_factor = ulp_scale(1.0, -d->b.qmin),
                    .length = job->s.k}};
    return run(&w);
}

/* ---- both ---- */

int ULP_CPU(ulp_serves_integers)(const ulp_job *job) { return serves_fixed(job) || serves_row(job); }

ulp_status ULP_CPU(ulp_product_integers)(const ulp_job *job) { return job->wide ? run_fixed(job) : run_row(job); }

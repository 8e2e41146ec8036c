/* gemm_int8.c - the product of 8- or 16-bit integers into 32-bit integers that wrap or clamp.
 *
 * A sum that wraps is one run of products modulo 2^32 (dots.h). A sum that clamps has a run for every `length` products
 * of the datapath and clamps after each run: the numbers minus their zero points are below 2^9, so that a run of up to
 * 2^13 products fits 32 bits. A clamped run of 16-bit integers has two products. If no partial sum can leave the 32
 * bits, then nothing clamps, and the sum is one run.
 */
#include "dots.h"

#include <math.h>

enum { ROWS = ULP_VECTOR_BYTES == 64 ? 6 : 4 }; /* rows of a tile */

typedef enum clamping { WRAPS, CLAMPS, CLAMPS_PAIRS } clamping;

typedef struct work {
    dots d;
    clamping clamps;
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

/* acc += the sums of a tile. `clamps` and `per` are constants. */
ULP_INLINE void add_tile(vword (*restrict acc)[VECTORS], const dots *d, size_t i0, size_t panel, clamping clamps,
                         int per) {
    for (size_t run = 0; run < d->runs; run++) {
        const vword *start = dots_b_start(d, panel, run);
        vword part[ROWS][VECTORS];
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECTORS; v++) part[r][v] = start[v] + d->a_start[(i0 + (size_t)r) * d->runs + run];
        add_run(part[0], dots_a(d, i0, run), dots_row(d), dots_b(d, panel, run), d->words, ROWS, VECTORS, per);
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECTORS; v++)
                acc[r][v] = clamps == WRAPS          ? acc[r][v] + part[r][v]
                            : clamps == CLAMPS_PAIRS ? clamped_pair(acc[r][v], part[r][v])
                                                     : clamped_sum(acc[r][v], part[r][v]);
    }
}

static void wrap_pairs(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel) {
    add_tile(acc, d, i0, panel, WRAPS, PAIRS);
}
static void clamp_pairs(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel) {
    add_tile(acc, d, i0, panel, CLAMPS, PAIRS);
}
static void clamp_two(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel) {
    add_tile(acc, d, i0, panel, CLAMPS_PAIRS, PAIRS);
}
static void wrap_quads(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel) {
    add_tile(acc, d, i0, panel, WRAPS, QUADS);
}
static void clamp_quads(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel) {
    add_tile(acc, d, i0, panel, CLAMPS, QUADS);
}

static void tile(const work *w, size_t i0, size_t panel) {
    const ulp_gemm_shape *s = &w->d.job->s;
    const size_t rows = s->m - i0 < ROWS ? s->m - i0 : ROWS, width = dots_width(&w->d, panel);
    double *c = (double *)w->d.job->c + i0 * s->ldc + panel * WIDE;
    union {
        vword v[ROWS][VECTORS];
        uint32_t u[ROWS][WIDE];
    } acc = {{{{0}}}};
    for (size_t r = 0; r < rows && s->accumulate; r++)
        for (size_t j = 0; j < width; j++) acc.u[r][j] = (uint32_t)(int64_t)c[r * s->ldc + j];
    if (w->clamps == CLAMPS_PAIRS) clamp_two(acc.v, &w->d, i0, panel);
    else if (w->d.per == QUADS) (w->clamps ? clamp_quads : wrap_quads)(acc.v, &w->d, i0, panel);
    else (w->clamps ? clamp_pairs : wrap_pairs)(acc.v, &w->d, i0, panel);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) c[r * s->ldc + j] = (double)(int32_t)acc.u[r][j];
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    dots_pack_blocks(&w->d, begin, end);
    for (size_t panel = 0; panel < dots_panels(&w->d); panel++)
        for (size_t block = begin; block < end; block++) tile(w, block * ROWS, panel);
}

/* Whether a partial sum may be beyond the range of 32-bit integers. */
static int may_clamp(const ulp_job *job) {
    const ulp_gemm_shape *s = &job->s;
    const double a = -job->datapath->a.lowest + fabs((double)job->datapath->zero_a),
                 b = -job->datapath->b.lowest + fabs((double)job->datapath->zero_b);
    double most = 0.0;
    for (size_t i = 0; i < s->m && s->accumulate; i++)
        for (size_t j = 0; j < s->n; j++) {
            const double c = fabs(((const double *)job->c)[i * s->ldc + j]);
            most = c > most ? c : most;
        }
    return (double)s->k * a * b + most >= 0x1p31;
}

ulp_status ULP_CPU(ulp_gemm_int8)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    const ulp_overflow policy = ulp_overflow_of(f, (ulp_overflow)d->rule.overflow);
    if (!job->wide || d->kind != ULP_SERIAL || d->promote != 0 || !d->has_inputs || !d->a.is_fixed || !d->b.is_fixed ||
        d->a.bits > 16 || d->b.bits > 16 || !d->a.is_signed || !d->b.is_signed ||
        d->a.frac_bits + d->b.frac_bits != 0 || !f->is_fixed || f->bits != 32 || f->frac_bits != 0 ||
        d->length > 1 << 13)
        return ULP_UNSUPPORTED;
    if (policy != ULP_OVERFLOW_SAT && policy != ULP_OVERFLOW_WRAP) return ULP_UNSUPPORTED;
    const int wide = d->a.bits > 8 || d->b.bits > 8, may = policy == ULP_OVERFLOW_SAT && may_clamp(job);
    if (wide && may && (d->length > 2 || d->zero_a != 0 || d->zero_b != 0)) return ULP_UNSUPPORTED;
    const clamping clamps = !may ? WRAPS : wide ? CLAMPS_PAIRS : CLAMPS;
    work w = {.clamps = clamps,
              .d = {.job = job,
                    .rows = ROWS,
                    .step = 1,
                    .pairs_only = wide,
                    .zero_a = d->zero_a,
                    .zero_b = d->zero_b,
                    .a_factor = 1.0,
                    .b_factor = 1.0,
                    .length = may || job->s.k == 0 ? d->length : job->s.k}};
    const int enough = dots_begin(&w.d);
    if (enough) ulp_parallel_for(dots_blocks(&w.d), row_grain(dots_blocks(&w.d)), blocks_part, &w);
    dots_end(&w.d);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

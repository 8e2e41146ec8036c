/* pairs.c - products of 8-bit integers whose sums of two are integers of 16 bits that clamp or wrap (VPMADDUBSW), in
 * vectors of 32-bit integers.
 *
 * The operands are packed as pairs of 16-bit integers (integer_dots.h), which hold numbers with and without a sign. The
 * sum of two products is exact in 32 bits, is clamped or cut to 16 bits, and is added modulo 2^32, in any order.
 */
#include "integer_dots.h"

enum { ROWS = ULP_REGISTERS == 32 ? 4 : 2 }; /* rows of a tile */

typedef struct work {
    dots d;
    int wraps;
} work;

int ULP_CPU(ulp_serves_pairs)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    return job->wide && d->kind == ULP_PAIRS && f->is_fixed && f->bits == 32 && f->frac_bits == 0 &&
           ulp_overflow_of(f, (ulp_overflow)d->rule.overflow) == ULP_OVERFLOW_WRAP;
}

/* The sums as integers of 16 bits. */
ULP_INLINE vword clamped_to_16(vword sum) {
    const vint x = (vint)sum, over = (vint)(x > 32767), under = (vint)(x < -32768);
    return (vword)((x & ~over & ~under) | (over & 32767) | (under & -32768));
}
ULP_INLINE vword wrapped_to_16(vword sum) { return (vword)((vint)(sum << 16) >> 16); }

/* acc += the sums of a tile. `wraps` is a constant. */
ULP_INLINE void add_tile(vword (*restrict acc)[VECTORS], const dots *d, size_t i0, size_t panel, int wraps) {
    const uint32_t *a = dots_a(d, i0, 0);
    const vword *b = dots_b(d, panel, 0);
    for (size_t p = 0; p < d->words; p++) ALL_UNROLLED for (size_t r = 0; r < ROWS; r++) {
            const vword x = (vword){0} + a[r * dots_row(d) + p];
            ALL_UNROLLED for (size_t v = 0; v < VECTORS; v++) {
                const vword sum = pair_products(x, b[p * VECTORS + v]);
                acc[r][v] += wraps ? wrapped_to_16(sum) : clamped_to_16(sum);
            }
        }
}

static void tile(const work *w, size_t i0, size_t panel) {
    const ulp_job *job = w->d.job;
    const ulp_gemm_shape *s = &job->s;
    const size_t rows = s->m - i0 < ROWS ? s->m - i0 : ROWS, width = dots_width(&w->d, panel);
    double *const c = (double *)job->c + i0 * s->ldc + panel * WIDE;
    union {
        vword v[ROWS][VECTORS];
        uint32_t u[ROWS][WIDE];
    } acc = {{{{0}}}};
    for (size_t r = 0; r < rows && s->accumulate; r++)
        for (size_t j = 0; j < width; j++) acc.u[r][j] = (uint32_t)(int64_t)c[r * s->ldc + j];
    if (s->k > 0 && w->wraps) add_tile(acc.v, &w->d, i0, panel, 1);
    else if (s->k > 0) add_tile(acc.v, &w->d, i0, panel, 0);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) c[r * s->ldc + j] = (double)(int32_t)acc.u[r][j];
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    dots_pack_blocks(&w->d, begin, end);
    for (size_t panel = 0; panel < dots_panels(&w->d); panel++)
        for (size_t block = begin; block < end; block++) tile(w, block * ROWS, panel);
}

ulp_status ULP_CPU(ulp_product_pairs)(const ulp_job *job) {
    rooms r = {.count = 0};
    work w = {.wraps = job->datapath->pairs_wrap,
              .d = {.job = job,
                    .rows = ROWS,
                    .step = 1,
                    .pairs_only = 1,
                    .a_factor = 1.0,
                    .b_factor = 1.0,
                    .length = job->s.k > 0 ? job->s.k : 1}};
    dots_begin(&w.d, &r);
    if (!r.failed) ulp_parallel_for(dots_blocks(&w.d), row_grain(dots_blocks(&w.d)), blocks_part, &w);
    return rooms_end(&r);
}

/* gemm_narrow.c - the product on Tensor Core rows with inputs of at most 8 bits as integers: e2m1 and e2m3.
 *
 * Let a and b be multiples of 2^qa and 2^qb, q = qa + qb. A sum starts at a multiple of 2^q, and no partial sum reaches
 * 2^(q + 24), by the largest operands of the formats. Then no exponent is above
 * E = max(q + 23, emax(a) + emax(b), floor), and if E - F <= q, the alignment truncates nothing. Every partial sum is a
 * multiple of 2^q below 2^(q + 24) and a value of binary32, so that no step rounds and the sum is exact in any order.
 * It is computed in integers (dots.h). A sum of zero is +0, as the definition says.
 */
#include "dots.h"

#include <math.h>

enum { ROWS = ULP_VECTOR_BYTES == 64 ? 6 : 4 }; /* rows of a tile */

typedef struct work {
    dots d;
    int unit; /* q */
} work;

/* acc += the sums of a tile. `per` is a constant. */
ULP_INLINE void add_tile(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel, int per) {
    vword sum[ROWS][VECTORS];
    memcpy(sum, acc, sizeof sum);
    add_run(sum[0], dots_a(d, i0, 0), dots_row(d), dots_b(d, panel, 0), d->words, ROWS, VECTORS, per);
    memcpy(acc, sum, sizeof sum);
}

static void add_pairs(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel) {
    add_tile(acc, d, i0, panel, PAIRS);
}
static void add_quads(vword (*acc)[VECTORS], const dots *d, size_t i0, size_t panel) {
    add_tile(acc, d, i0, panel, QUADS);
}

static void tile(const work *w, size_t i0, size_t panel) {
    const ulp_gemm_shape *s = &w->d.job->s;
    const size_t rows = s->m - i0 < ROWS ? s->m - i0 : ROWS, width = dots_width(&w->d, panel);
    const float unit = (float)ulp_scale(1.0, w->unit), per_unit = (float)ulp_scale(1.0, -w->unit);
    const vword *start = dots_b_start(&w->d, panel, 0);
    float *c = (float *)w->d.job->c + i0 * s->ldc + panel * WIDE;
    union {
        vword v[ROWS][VECTORS];
        int32_t i[ROWS][WIDE];
    } acc;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t v = 0; v < VECTORS; v++) acc.v[r][v] = start[v];
    for (size_t r = 0; r < rows && s->accumulate; r++)
        for (size_t j = 0; j < width; j++) acc.i[r][j] += (int32_t)(c[r * s->ldc + j] * per_unit);
    (w->d.per == QUADS ? add_quads : add_pairs)(acc.v, &w->d, i0, panel);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) c[r * s->ldc + j] = (float)acc.i[r][j] * unit;
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    dots_pack_blocks(&w->d, begin, end);
    for (size_t panel = 0; panel < dots_panels(&w->d); panel++)
        for (size_t block = begin; block < end; block++) tile(w, block * ROWS, panel);
}

/* Whether the start values are multiples of 2^unit, and no partial sum reaches 2^(unit + 24). */
static int sums_fit(const ulp_job *job, int unit) {
    const ulp_gemm_shape *s = &job->s;
    const double per_unit = ulp_scale(1.0, -unit), reach = (double)s->k * job->datapath->a.max * job->datapath->b.max;
    double most = 0.0;
    int whole = 1;
    for (size_t i = 0; i < s->m && s->accumulate; i++)
        for (size_t j = 0; j < s->n; j++) {
            const double size = fabs((double)((const float *)job->c)[i * s->ldc + j]) * per_unit;
            whole &= size < 0x1p24 && (double)(int32_t)(size < 0x1p24 ? size : 0.0) == size;
            most = size > most ? size : most;
        }
    return whole && reach * per_unit + most < 0x1p24;
}

/* Whether no sum of a job rounds. */
static int is_exact(const ulp_job *job, int unit) {
    const ulp_datapath *d = job->datapath;
    const ulp_fused *f = &d->fused;
    const int largest = d->a.emax + d->b.emax, top = unit + 23 > largest ? unit + 23 : largest;
    const int open = f->zero_operand != ULP_NO_EXPONENT || f->zero_product != ULP_NO_EXPONENT ||
                     f->zero_c != ULP_NO_EXPONENT || f->signed_zero;
    return !open && d->accumulator.prec == 24 && d->accumulator.emin == -126 && f->kept == 23 &&
           (top > f->floor ? top : f->floor) - f->fraction <= unit && sums_fit(job, unit);
}

ulp_status ULP_CPU(ulp_gemm_narrow)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    if (job->wide || d->kind != ULP_ALIGNED || d->fused.group != 0 || d->fused.late || d->fused.join != 0 ||
        d->fused.c_last || d->scale_block != 0 || job->s.k == 0 || !d->has_inputs || !fits_byte(&d->a) ||
        !fits_byte(&d->b) || !is_exact(job, d->a.qmin + d->b.qmin))
        return ULP_UNSUPPORTED;
    work w = {.unit = d->a.qmin + d->b.qmin,
              .d = {.job = job,
                    .rows = ROWS,
                    .step = 1,
                    .a_factor = ulp_scale(1.0, -d->a.qmin),
                    .b_factor = ulp_scale(1.0, -d->b.qmin),
                    .length = job->s.k}};
    const int enough = dots_begin(&w.d);
    if (enough) ulp_parallel_for(dots_blocks(&w.d), row_grain(dots_blocks(&w.d)), blocks_part, &w);
    dots_end(&w.d);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

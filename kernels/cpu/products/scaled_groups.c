/* scaled_groups.c - the product on rows whose groups are summed exactly before their scales apply: mxf4 and nvf4.
 *
 * The sums of groups are integers (integer_dots.h). A term is such a sum times two scales, exact in binary64 and below
 * 2025 2^Emax: 16 products of at most 36 by significands of at most 15/8. The terms of a step and c are together below
 * 8102 2^Emax, so that sums of multiples of 2^(Emax - F), F <= 40, have at most 53 bits. Lanes are columns.
 *
 * Let all terms of a tile and its start values be multiples of 2^low, let no scale product have an exponent above
 * low + F, and let all partial sums be below 2^(low + F + 1) in magnitude. Then Emax <= low + F, the alignment
 * truncates nothing, and a step is an exact sum and one truncation to binary32. The largest partial sum is known at the
 * end of a tile. The scalar definition (kernels/products/fused.h) computes a tile without these properties.
 */
#include "integer_dots.h"
#include "kernels/cpu/doubles.h"
#include "extent.h"

#include <math.h>

/* The rows of a tile, and the vectors of columns that a tile holds at a time. */
enum { ROWS = ULP_VECTOR_BYTES == 64 ? 4 : 2, HELD = 2 };
enum { GROUP = 16, GROUPS = ULP_STEP_MAX / GROUP, NOTHING = -10000 };

/* The exponents of scales that are not zero; last is 1024 if a scale is not finite. */
typedef struct range {
    int32_t first, last;
} range;

typedef struct work {
    dots d;
    size_t blocks;             /* scales of a row or column */
    double unit;               /* of the integers */
    double *a_scale, *b_scale; /* scales of each group: (m, runs), in units, and panels of (runs, WIDE) */
    range *a_range, *b_range;  /* of blocks of rows, of panels */
} work;

/* ---- scales ---- */

/* The exponent of a positive finite double that is not subnormal. */
ULP_INLINE int32_t exponent_of(double x) { return (int32_t)(ulp_bits64(x) >> 52 & 0x7ff) - 1023; }

ULP_INLINE double power(int32_t e) { return ulp_from_bits64((uint64_t)(e + 1023) << 52); }

/* The exponent of a scale in the alignment: subnormals have the exponent emin. */
ULP_INLINE int32_t scale_exponent(double x, int32_t emin) { return exponent_of(x) > emin ? exponent_of(x) : emin; }

/* The scale of a group of a row or column, at least 0. Adds it to the range. */
static double scale_at(const work *w, const float *scales, size_t row, size_t group, range *all) {
    const ulp_datapath *d = w->d.job->datapath;
    const size_t at = group * GROUP / d->scale_block;
    if (at >= w->blocks) return 1.0;
    const double x = scales == NULL ? 1.0 : fabs((double)scales[row * w->blocks + at]);
    if (x == 0.0) return x;
    const int32_t e = scale_exponent(x, d->scale.emin);
    all->first = e < all->first ? e : all->first;
    all->last = e > all->last ? e : all->last;
    return x;
}

static const range no_range = {1 << 20, -(1 << 20)};

static void pack_panels(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t width = dots_width(&w->d, panel);
        double *scale = w->b_scale + panel * w->d.runs * WIDE;
        range all = no_range;
        for (size_t j = 0; j < WIDE; j++)
            for (size_t g = 0; g < w->d.runs; g++)
                scale[g * WIDE + j] = j < width ? scale_at(w, w->d.job->s.b_scales, panel * WIDE + j, g, &all) : 1.0;
        w->b_range[panel] = all;
    }
}

static void pack_blocks(const work *w, size_t begin, size_t end) {
    dots_pack_blocks(&w->d, begin, end);
    for (size_t block = begin; block < end; block++) {
        range all = no_range;
        for (size_t i = block * ROWS; i < (block + 1) * ROWS; i++)
            for (size_t g = 0; g < w->d.runs; g++)
                w->a_scale[i * w->d.runs + g] =
                    i < w->d.job->s.m ? scale_at(w, w->d.job->s.a_scales, i, g, &all) * w->unit : 0.0;
        w->a_range[block] = all;
    }
}

/* ---- tiles whose steps truncate nothing ---- */

/* The halves of a vector of 32-bit integers as numbers. */
ULP_INLINE void doubles_of(vdouble to[2], vword x) {
#if defined(__AVX512F__)
    to[0] = (vdouble)_mm512_cvtepi32_pd(_mm512_castsi512_si256((__m512i)x));
    to[1] = (vdouble)_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64((__m512i)x, 1));
#elif defined(__AVX2__)
    to[0] = (vdouble)_mm256_cvtepi32_pd(_mm256_castsi256_si128((__m256i)x));
    to[1] = (vdouble)_mm256_cvtepi32_pd(_mm256_extracti128_si256((__m256i)x, 1));
#elif defined(__SSE2__)
    to[0] = (vdouble)_mm_cvtepi32_pd((__m128i)x);
    to[1] = (vdouble)_mm_cvtepi32_pd(_mm_unpackhi_epi64((__m128i)x, (__m128i)x));
#else
    typedef int32_t vints __attribute__((vector_size(ULP_VECTOR_BYTES / 2)));
    vints half[2];
    memcpy(half, &x, sizeof half);
    for (int i = 0; i < 2; i++) to[i] = __builtin_convertvector(half[i], vdouble);
#endif
}

/* The columns of a tile that are held together: their first vector, and their sums. */
typedef struct held {
    size_t i0, panel, first;
    vdouble c[ROWS][HELD][2], most;
} held;

/* c += the terms of `merged` groups with equal scales. */
ULP_INLINE void add_terms(vdouble (*restrict c)[HELD][2], const work *w, const held *h, size_t run, int merged,
                          int per) {
    const dots *d = &w->d;
    const vword *start = dots_b_start(d, h->panel, run) + h->first;
    const vdouble *scale =
        (const vdouble *)(const void *)(w->b_scale + (h->panel * d->runs + run) * WIDE) + 2 * h->first;
    vword sum[ROWS][HELD];
    ALL_UNROLLED for (int r = 0; r < ROWS; r++) ALL_UNROLLED for (int v = 0; v < HELD; v++) sum[r][v] =
        merged == 2 ? start[v] + start[VECTORS + v] : start[v];
    add_run(sum[0], dots_a(d, h->i0, run), dots_row(d), dots_b(d, h->panel, run) + h->first,
            (size_t)merged * GROUP / (size_t)per, ROWS, HELD, per);
    ALL_UNROLLED for (int r = 0; r < ROWS; r++) {
        const vdouble x = all_doubles(w->a_scale[(h->i0 + (size_t)r) * d->runs + run]);
        ALL_UNROLLED for (int v = 0; v < HELD; v++) {
            vdouble part[2];
            doubles_of(part, sum[r][v]);
            c[r][v][0] = fused(part[0], x * scale[2 * v], c[r][v][0]);
            c[r][v][1] = fused(part[1], x * scale[2 * v + 1], c[r][v][1]);
        }
    }
}

/* All steps of the held columns. `merged` and `per` are constants. */
ULP_INLINE void hold(held *restrict h, const work *w, int merged, int per) {
    const vbits keep = all_bits(~0ull << (52 - w->d.job->datapath->fused.kept)), size = all_bits(~0ull >> 1);
    vdouble c[ROWS][HELD][2], most = h->most;
    memcpy(c, h->c, sizeof c);
    for (size_t run = 0; run < w->d.runs;) {
        for (int g = 0; g < GROUPS; g += merged, run += (size_t)merged) add_terms(c, w, h, run, merged, per);
        ALL_UNROLLED for (int i = 0; i < ROWS * HELD * 2; i++) {
            vdouble *at = &c[0][0][0] + i;
            *at = (vdouble)((vbits)*at & keep);
            most = larger(most, (vdouble)((vbits)*at & size));
        }
    }
    memcpy(h->c, c, sizeof c);
    h->most = most;
}

static void hold_pairs(held *h, const work *w) { hold(h, w, 1, PAIRS); }
static void hold_two_pairs(held *h, const work *w) { hold(h, w, 2, PAIRS); }
static void hold_quads(held *h, const work *w) { hold(h, w, 1, QUADS); }
static void hold_two_quads(held *h, const work *w) { hold(h, w, 2, QUADS); }

/* The exponent `low` of the properties above for a tile that starts at c, or NOTHING. */
static int32_t low_of(const work *w, const double *c, size_t block, size_t panel) {
    const ulp_datapath *d = w->d.job->datapath;
    const range a = w->a_range[block], b = w->b_range[panel];
    const int empty = a.first > a.last || b.first > b.last;
    const int32_t first = empty ? 0 : a.first + b.first, last = empty ? 0 : a.last + b.last;
    const int32_t fraction = d->fused.fraction, units = exponent_of(w->unit) - 2 * (d->scale.prec - 1);
    extent start = {0, 0, 0, 1};
    for (size_t r = 0; r < ROWS && w->d.job->s.accumulate; r++)
        start = extent_both(start, extent_of(c + r * WIDE, WIDE));
    int32_t low = first + units;
    if (start.bits > 0 && start.low < low) low = start.low;
    const int holds = start.narrow && last <= low + fraction && d->fused.floor <= low + fraction &&
                      (start.bits == 0 || start.top <= low + fraction + 1) && low >= -126 && low + fraction < 126;
    return holds ? low : NOTHING;
}

/* Adds the products to c (ROWS, WIDE). 0, with c as before, if a step may truncate. */
static int add_exact(double *c, const work *w, size_t block, size_t panel) {
    const int32_t low = low_of(w, c, block, panel);
    const int two = w->d.job->datapath->scale_block == 2 * GROUP;
    double sums[ROWS][WIDE], most[DOUBLES], largest = 0.0;
    held h = {.i0 = block * ROWS, .panel = panel, .most = {0}};
    if (low == NOTHING) return 0;
    for (size_t r = 0; r < ROWS; r++) /* a step from -0 never gives -0 */
        for (size_t j = 0; j < WIDE; j++) sums[r][j] = c[r * WIDE + j] + 0.0;
    for (h.first = 0; h.first < VECTORS; h.first += HELD) {
        for (size_t r = 0; r < ROWS; r++) memcpy(h.c[r], sums[r] + h.first * WORDS, sizeof h.c[r]);
        if (w->d.per == QUADS) (two ? hold_two_quads : hold_quads)(&h, w);
        else (two ? hold_two_pairs : hold_pairs)(&h, w);
        for (size_t r = 0; r < ROWS; r++) memcpy(sums[r] + h.first * WORDS, h.c[r], sizeof h.c[r]);
    }
    memcpy(most, &h.most, sizeof most);
    for (int i = 0; i < DOUBLES; i++) largest = most[i] > largest ? most[i] : largest;
    if (largest >= power(low + w->d.job->datapath->fused.fraction + 1)) return 0;
    memcpy(c, sums, sizeof sums);
    return 1;
}

/* ---- by the definition ---- */

/* One step of output (i,j) from c by the scalar definition; `first` is the step's first group. */
static double step_by_definition(double c, const work *w, size_t i, size_t j, size_t first) {
    const ulp_job *job = w->d.job;
    const size_t k0 = first * GROUP, n = job->s.k - k0 < ULP_STEP_MAX ? job->s.k - k0 : ULP_STEP_MAX;
    double a[ULP_STEP_MAX], b[ULP_STEP_MAX], x[GROUPS], y[GROUPS];
    for (size_t k = 0; k < n; k++) {
        a[k] = (double)a_at(job, i, k0 + k);
        b[k] = (double)b_at(job, k0 + k, j);
    }
    for (size_t g = 0; g < GROUPS; g++) {
        x[g] = w->a_scale[i * w->d.runs + first + g] / w->unit;
        y[g] = w->b_scale[(j / WIDE * w->d.runs + first + g) * WIDE + j % WIDE];
    }
    return ulp_scales_hold_nan(x, y, (uint32_t)((n + GROUP - 1) / GROUP))
               ? ulp_quiet_nan()
               : ulp_fused_groups(job->datapath, c, &(ulp_products){a, b, n, x, y});
}

/* Adds the products to c (WIDE), row i of a panel. */
static void add_row(double *c, const work *w, size_t i, size_t panel) {
    for (size_t j = 0; j < dots_width(&w->d, panel); j++)
        for (size_t first = 0; first < w->d.runs; first += GROUPS)
            c[j] = step_by_definition(c[j], w, i, panel * WIDE + j, first);
}

/* ---- the product ---- */

static void tile(const work *w, size_t block, size_t panel) {
    const ulp_gemm_shape *s = &w->d.job->s;
    const size_t i0 = block * ROWS, rows = s->m - i0 < ROWS ? s->m - i0 : ROWS, width = dots_width(&w->d, panel);
    float *out = (float *)w->d.job->c + i0 * s->ldc + panel * WIDE;
    double c[ROWS][WIDE] = {{0}};
    for (size_t r = 0; r < rows && s->accumulate; r++)
        for (size_t j = 0; j < width; j++) c[r][j] = (double)out[r * s->ldc + j];
    if (s->k > 0 && !add_exact(c[0], w, block, panel))
        for (size_t r = 0; r < rows; r++) add_row(c[r], w, i0 + r, panel);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) out[r * s->ldc + j] = canonical((float)c[r][j]);
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    pack_blocks(w, begin, end);
    for (size_t panel = 0; panel < dots_panels(&w->d); panel++)
        for (size_t block = begin; block < end; block++) tile(w, block, panel);
}

/* Allocates and packs the operands, and forms the product. */
static ulp_status run(work *w) {
    rooms r = {.count = 0};
    dots_begin(&w->d, &r);
    const size_t blocks = dots_blocks(&w->d), panels = dots_panels(&w->d);
    w->a_scale = rooms_take(&r, blocks * ROWS * w->d.runs, sizeof *w->a_scale);
    w->b_scale = rooms_take(&r, panels * WIDE * w->d.runs, sizeof *w->b_scale);
    w->a_range = rooms_take(&r, blocks, sizeof *w->a_range);
    w->b_range = rooms_take(&r, panels, sizeof *w->b_range);
    if (!r.failed) {
        ulp_parallel_for(panels, 1, pack_panels, w);
        ulp_parallel_for(blocks, row_grain(blocks), blocks_part, w);
    }
    return rooms_end(&r);
}

int ULP_CPU(ulp_serves_scaled_groups)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_fused *f = &d->fused;
    return !job->wide && d->kind == ULP_ALIGNED && f->group == GROUP && d->step == ULP_STEP_MAX && d->promote == 0 &&
           d->a_prec <= 2 && d->b_prec <= 2 && d->a.emax <= 2 && d->b.emax <= 2 && fits_byte(&d->a) &&
           fits_byte(&d->b) && d->scale.prec <= 4 && f->fraction <= 40 && f->align == ULP_RZ && f->output == ULP_RZ &&
           d->accumulator.prec == 24 && d->accumulator.emin == -126 && f->zero_c == ULP_NO_EXPONENT &&
           f->zero_product == ULP_NO_EXPONENT && !f->signed_zero;
}

ulp_status ULP_CPU(ulp_product_scaled_groups)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    work w = {.blocks = (job->s.k + d->scale_block - 1) / d->scale_block,
              .unit = ulp_scale(1.0, d->a.qmin + d->b.qmin),
              .d = {.job = job,
                    .rows = ROWS,
                    .step = GROUPS,
                    .a_factor = ulp_scale(1.0, -d->a.qmin),
                    .b_factor = ulp_scale(1.0, -d->b.qmin),
                    .length = GROUP}};
    return run(&w);
}

/* nearest_blocks.c - the exact sum of a few products added to c with one rounding to nearest, in lanes of binary64:
 * block sums, AMD CDNA1, and FDOT of Arm; lanes are columns.
 *
 * Where the operands are narrow enough, the sum of the products of a step is exact in binary64. Where the ranges of a
 * piece of the operands and of the sums so far show that sums with c are exact, too, they are rounded at once.
 * Elsewhere the sum with c is rounded to odd, which keeps 53 bits, and then to binary32 (24 bits) or binary16 (11
 * bits); this gives the rounding of the exact sum (Boldo and Melquiond 2008, doi:10.1109/TC.2007.70819). exact.c
 * forms all other block sums.
 */
#include "lanes.h"
#include "kernels/cpu/rounding/ranges.h"

/* The sums that registers hold: vectors of a row, at most, and rows. */
enum { GROUP = 4, ROWS = ULP_VECTOR_BYTES == 64 ? 4 : ULP_VECTOR_BYTES == 32 ? 3 : 2 };
_Static_assert(LANES % (GROUP * DOUBLES) == 0, "a panel is whole groups");

typedef struct work {
    lanes l;
    size_t length;        /* products of a step */
    int half;             /* the accumulator is binary16 */
    int padded;           /* a last step with fewer products has products +0 */
    size_t depth, slices; /* the products of a slice, whole steps; the slices of k */
    range *row, *panel;   /* (blocks of ROWS rows, slices), (panels, slices) */
} work;

/* x + y rounded to odd. Of the two numbers around a sum one is odd. */
ULP_INLINE vdouble odd_sum(vdouble x, vdouble y) {
#if defined(__AVX512F__)
    return odd_between(sum_toward(x, y, ULP_RD), sum_toward(x, y, ULP_RU));
#else
    const vdouble s = x + y, t = s - x, error = (x - (s - t)) + (y - t);
    const vsigned inexact = (vsigned)(error < 0.0) | (vsigned)(error > 0.0), differ = (vsigned)error ^ (vsigned)s;
    const vsigned beyond = (vsigned)((vbits)(differ & inexact) >> 63); /* 1: s is not toward zero */
    return (vdouble)(((vsigned)s - beyond) | (inexact & 1));
#endif
}

ULP_INLINE vdouble to_single(vdouble x) {
#if defined(__AVX512F__)
    return (vdouble)_mm512_cvtps_pd(_mm512_cvtpd_ps((__m512d)x));
#else
    return __builtin_convertvector(__builtin_convertvector(x, vfloats), vdouble);
#endif
}

/* x rounded to binary16. The addition of 1.5 2^(e+42) leaves 11 bits of a number of exponent e; 65536 becomes infinite.
 */
ULP_INLINE vdouble to_half(vdouble x) {
    const vbits u = (vbits)x, sign = u & 0x8000000000000000u, field = u & 0x7ff0000000000000u,
                e = larger_exponents(field, all_bits(0x3f10000000000000u)),
                least = (vbits)smaller((vdouble)e, (vdouble)all_bits(0x4100000000000000u));
    const vdouble anchor = (vdouble)(least + 0x02a8000000000000u), size = (vdouble)(u & ~sign),
                  y = double_anchor_round(size, anchor, 0, ULP_RNE) * 0x1p1008 * 0x1p-1008;
    return (vdouble)((vbits)y | sign);
}

/* The same for |x| < 2^15. The anchor serves both signs. */
ULP_INLINE vdouble to_half_near(vdouble x) {
    const vbits u = (vbits)x, field = u & 0x7ff0000000000000u,
                e = larger_exponents(field, all_bits(0x3f10000000000000u));
    return double_anchor_round(x, (vdouble)(e + 0x02a8000000000000u), 1ull << 63, ULP_RNE);
}

/* How a piece is computed: constants. */
typedef struct way {
    int half, padded; /* as of `work` */
    int exact;        /* c + the products of a step is exact, and below 2^15 in binary16 */
} way;

ULP_INLINE vdouble step_of(vdouble c, const double *a, const double *b, size_t length, way how) {
    const vdouble *const columns = (const vdouble *)(const void *)b;
    const size_t next = LANES / DOUBLES;
    vdouble sum = how.exact ? fused(all_doubles(a[0]), columns[0], c) : all_doubles(a[0]) * columns[0];
    for (size_t t = 1; t < length; t++) sum = fused(all_doubles(a[t]), columns[t * next], sum);
    if (how.padded) sum = sum + 0.0;
    if (!how.exact) sum = odd_sum(sum, c);
    return !how.half ? to_single(sum) : how.exact ? to_half_near(sum) : to_half(sum);
}

/* state (rows, LANES) += `steps` steps of `length` products of rows of A, which are `row` numbers apart, and a panel.
 */
ULP_INLINE void advance(double *state, const double *a, size_t row, const double *b, size_t steps, size_t length,
                        int group, way how) {
    for (size_t g = 0; g < LANES; g += (size_t)group * DOUBLES) {
        vdouble c[ROWS][GROUP];
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < group; v++) c[r][v] =
            ((const vdouble *)(const void *)(state + r * LANES + g))[v];
        for (size_t i = 0; i < steps * length; i += length)
            UNROLLED for (int v = 0; v < group; v++) UNROLLED for (int r = 0; r < ROWS; r++) c[r][v] =
                step_of(c[r][v], a + (size_t)r * row + i, b + i * LANES + g + (size_t)(v * DOUBLES), length, how);
        UNROLLED for (int r = 0; r < ROWS; r++)
            UNROLLED for (int v = 0; v < group; v++)((vdouble *)(void *)(state + r * LANES + g))[v] = c[r][v];
    }
}

/* `half` and `exact` are constants. */
ULP_INLINE void advance_by(double *state, const double *a, size_t row, const double *b, size_t steps, size_t length,
                           way how) {
    if (length == 2) advance(state, a, row, b, steps, 2, GROUP, how);
    else if (length == 4) advance(state, a, row, b, steps, 4, 2, how);
    else advance(state, a, row, b, steps, length, 2, how);
}

static void advance_any(double *state, const double *a, size_t row, const double *b, size_t steps, size_t length,
                        way how) {
    const way half = {1, how.padded, 0}, half_exact = {1, how.padded, 1}, single = {0, how.padded, 0},
              single_exact = {0, how.padded, 1};
    if (how.half) advance_by(state, a, row, b, steps, length, how.exact ? half_exact : half);
    else advance_by(state, a, row, b, steps, length, how.exact ? single_exact : single);
}

/* Whether the sums of ROWS rows and a panel in a slice are exact before they are rounded: they are multiples of 2^low
 * below 2^top. state (ROWS, LANES) */
static int piece_is_exact(const work *w, const double *state, range a, range b) {
    enum { NOTHING = 2000 };
    const vdouble *c = (const vdouble *)(const void *)state;
    watch seen = watch_begin();
    uint32_t each[2][ULP_VECTOR_BYTES / 4], most = 0, least = UINT32_MAX;
    for (size_t i = 0; i < ROWS * LANES / DOUBLES; i += 2) seen = watch_both(seen, c[i], c[i + 1]);
    memcpy(each[0], &seen.most, sizeof each[0]);
    memcpy(each[1], &seen.least, sizeof each[1]);
    for (int i = 0; i < ULP_VECTOR_BYTES / 4; i++) {
        most = each[0][i] > most ? each[0][i] : most;
        least = each[1][i] < least ? each[1][i] : least;
    }
    /* |c| < 2^c_top. c is a multiple of the last place of the least number in the precision of the accumulator. */
    const int zero = most == 0, c_top = zero ? -NOTHING : (int)(most >> 21) - 1022,
              c_low = zero ? NOTHING : (int)((least + 1u) >> 21) - 1023 - (w->half ? 10 : 23);
    const int product = range_top(a) + range_top(b) + ilogb((double)w->depth) + 1,
              top = (c_top > product ? c_top : product) + 1, low = c_low < a.low + b.low ? c_low : a.low + b.low;
    return top < low + 53 && (!w->half || top <= 15);
}

enum { SLICE = 32 * LANES };       /* numbers of a panel that stay in the first-level cache */
enum { PIECE = 32 / ROWS * ROWS }; /* rows that use a slice of a panel */

/* The rows begin .. end - 1 of a panel, at most PIECE. The rows of A are there up to a multiple of ROWS. */
static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    _Alignas(64) double state[PIECE * LANES];
    const size_t k = w->l.job->s.k;
    memset(state, 0, sizeof state);
    for (size_t i = begin; i < end; i++) lanes_start(state + (i - begin) * LANES, &w->l, i, panel);
    for (size_t s = 0; s < w->slices; s++) {
        const size_t k0 = s * w->depth, n = k - k0 < w->depth ? k - k0 : w->depth, steps = n / w->length,
                     rest = n % w->length;
        const double *b = lanes_panel(&w->l, panel) + k0 * LANES;
        for (size_t i = begin; i < end; i += ROWS) {
            const double *a = w->l.rows + i * k + k0;
            double *sums = state + (i - begin) * LANES;
            const int exact =
                piece_is_exact(w, sums, w->row[i / ROWS * w->slices + s], w->panel[panel * w->slices + s]);
            advance_any(sums, a, k, b, steps, w->length, (way){w->half, 0, exact});
            if (rest > 0)
                advance_any(sums, a + steps * w->length, k, b + steps * w->length * LANES, 1, rest,
                            (way){w->half, w->padded, exact});
        }
    }
    for (size_t i = begin; i < end; i++) lanes_store(&w->l, i, panel, state + (i - begin) * LANES);
}

/* The range of x (rows, width), ld numbers from row to row; all are binary32 values. */
static range range_of_doubles(const double *x, size_t rows, size_t width, size_t ld) {
    enum { PART = 64 };
    float part[PART];
    range all = empty_range;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < width; j += PART) {
            const size_t n = width - j < PART ? width - j : PART;
            for (size_t t = 0; t < n; t++) part[t] = (float)x[i * ld + j + t];
            all = range_both(all, range_of(part, n));
        }
    return all;
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t k = w->l.job->s.k;
    for (size_t i = begin * ROWS; i < end * ROWS && i < w->l.job->s.m; i++) lanes_pack_row(&w->l, i);
    for (size_t block = begin; block < end; block++)
        for (size_t s = 0; s < w->slices; s++) {
            const size_t k0 = s * w->depth, n = k - k0 < w->depth ? k - k0 : w->depth;
            w->row[block * w->slices + s] = range_of_doubles(w->l.rows + block * ROWS * k + k0, ROWS, n, k);
        }
    const size_t last = end * ROWS < w->l.job->s.m ? end * ROWS : w->l.job->s.m;
    for (size_t panel = 0; panel < lanes_panels(&w->l); panel++)
        for (size_t i = begin * ROWS; i < last; i += PIECE)
            panel_part(w, i, last - i < PIECE ? last : i + PIECE, panel);
}

/* Packs panels of B and finds their ranges; b times 2^-shift. */
static void panels_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const int shift = w->l.job->datapath->chains.shift;
    const double scale = ulp_scale(1.0, -shift);
    const size_t k = w->l.job->s.k;
    for (size_t panel = begin; panel < end; panel++) {
        double *b = w->l.packed + panel * k * LANES;
        lanes_pack_panel(&w->l, panel);
        for (size_t s = 0; s < w->slices; s++) {
            const size_t k0 = s * w->depth, n = k - k0 < w->depth ? k - k0 : w->depth;
            range r = range_of_doubles(b + k0 * LANES, n, LANES, LANES);
            r.low -= shift;
            w->panel[panel * w->slices + s] = r;
        }
        for (size_t i = 0; i < k * LANES && shift != 0; i++) b[i] *= scale;
    }
}

static int is_finite(matrix of) {
    const float *x = of.x;
    uint32_t special = 0;
    for (size_t i = 0; i < of.rows; i++)
        for (size_t j = 0; j < of.width; j++)
            special |= (uint32_t)((ulp_bits32(x[i * of.ld + j]) & 0x7f800000u) == 0x7f800000u);
    return special == 0;
}

static range range_of_matrix(matrix of) {
    range all = empty_range;
    for (size_t i = 0; i < of.rows; i++) all = range_both(all, range_of((const float *)of.x + i * of.ld, of.width));
    return all;
}

/* Whether the operands are finite, and every sum of `length` products is exact in binary64. */
static int sums_are_exact(const ulp_job *job, size_t length) {
    const range a = range_of_matrix(matrix_a(job)), b = range_of_matrix(matrix_b(job));
    const double most = (double)a.most * (double)b.most * (double)length;
    return is_finite(matrix_a(job)) && is_finite(matrix_b(job)) &&
           (most == 0.0 || (most < ulp_scale(1.0, 53 + a.low + b.low) && most < 0x1p128));
}

int ULP_CPU(ulp_serves_nearest_blocks)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    const ulp_chains *s = &d->chains;
    const int single = f->prec == 24 && f->emin == -126 && f->emax == 127,
              half = f->prec == 11 && f->emin == -14 && f->emax == 15,
              block = d->kind == ULP_SERIAL && d->length > 1 && d->zero_a == 0 && d->zero_b == 0,
              chain = d->kind == ULP_CHAINS && s->term == s->length && s->length > 1 && s->fused && s->lanes == 1 &&
                      !s->c_last && !s->swapped && !s->saturate && s->flush == ULP_KEEP_OUTPUT &&
                      s->flush_c == ULP_KEEP_INPUT && s->flush_ab == ULP_KEEP_INPUT;
    return !job->wide && job->s.k > 0 && (single || half) && f->has_inf && f->has_subnormals && !f->is_fixed &&
           (block || chain) && d->promote == 0 && d->rule.mode == ULP_RNE &&
           ulp_overflow_of(f, (ulp_overflow)d->rule.overflow) == ULP_OVERFLOW_INF;
}

ulp_status ULP_CPU(ulp_product_nearest_blocks)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    work w = {.l = {.job = job}, .length = d->step, .half = d->accumulator.prec == 11, .padded = d->kind == ULP_CHAINS};
    if (!sums_are_exact(job, w.length)) return ULP_UNSUPPORTED;
    w.depth = w.length < SLICE / LANES ? SLICE / LANES / w.length * w.length : w.length;
    w.slices = (job->s.k + w.depth - 1) / w.depth;
    const size_t blocks = (job->s.m + ROWS - 1) / ROWS;
    rooms r = {.count = 0};
    w.l.packed = rooms_take(&r, lanes_panels(&w.l) * job->s.k * LANES, sizeof *w.l.packed);
    w.l.rows = rooms_take(&r, blocks * ROWS * job->s.k, sizeof *w.l.rows);
    w.row = rooms_take(&r, blocks * w.slices, sizeof *w.row);
    w.panel = rooms_take(&r, lanes_panels(&w.l) * w.slices, sizeof *w.panel);
    if (!r.failed) {
        const size_t rows = job->s.m;
        memset(w.l.rows + rows * job->s.k, 0, (blocks * ROWS - rows) * job->s.k * sizeof *w.l.rows);
        ulp_parallel_for(lanes_panels(&w.l), 1, panels_part, &w);
        ulp_parallel_for(blocks, row_grain(blocks), rows_part, &w);
    }
    return rooms_end(&r);
}

/* gemm_blocks.c - the exact sum of a few products added to c with one rounding to nearest, in lanes of binary64: block
 * sums, AMD CDNA1, and FDOT of Arm; lanes are columns.
 *
 * Where the operands are narrow enough, the sum of the products of a step is exact in binary64. The sum with c is
 * rounded to odd, which keeps 53 bits, and then once to binary32 (24 bits) or binary16 (11 bits); this gives the
 * rounding of the exact sum (Boldo and Melquiond 2008, doi:10.1109/TC.2007.70819). gemm_exact.c forms all other block
 * sums.
 */
#include "lanes.h"
#include "ranges.h"

enum { ROWS = ULP_VECTOR_BYTES == 64 ? 4 : 2, GROUP = 4 }; /* the sums that registers hold: rows, and most vectors */
_Static_assert(LANES % (GROUP * DOUBLES) == 0, "a panel is whole groups");

typedef struct work {
    lanes l;
    size_t length; /* products of a step */
    int half;      /* the accumulator is binary16 */
    int padded;    /* a last step with fewer products has products +0 */
} work;

/* x + y rounded to odd. Of the two numbers around a sum one is odd. */
ULP_INLINE vdouble odd_sum(vdouble x, vdouble y) {
#if defined(__AVX512F__)
    const __m512i down =
                      (__m512i)_mm512_add_round_pd((__m512d)x, (__m512d)y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
                  up = (__m512i)_mm512_add_round_pd((__m512d)x, (__m512d)y, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    return (vdouble)_mm512_mask_mov_epi64(up, _mm512_test_epi64_mask(down, _mm512_set1_epi64(1)), down);
#else
    const vdouble s = x + y, t = s - x, error = (x - (s - t)) + (y - t);
    const vbits u = (vbits)s, inexact = (vbits)(error < 0) | (vbits)(error > 0), step = ~u & 1u & inexact,
                down = (vbits)(((vsigned)((vbits)error ^ u)) >> 63);
    return (vdouble)(u + step - ((step & down) << 1));
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
                  y = ((size + anchor) - anchor) * 0x1p1008 * 0x1p-1008;
    return (vdouble)((vbits)y | sign);
}

/* state (rows, LANES) += `steps` steps of `length` products of rows of A, which are `row` numbers apart, and a panel.
 */
ULP_INLINE void advance(double *state, const double *a, size_t row, const double *b, size_t steps, size_t length,
                        int group, int half, int padded) {
    for (size_t g = 0; g < LANES; g += (size_t)group * DOUBLES) {
        vdouble c[ROWS][GROUP];
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < group; v++) c[r][v] =
            ((const vdouble *)(const void *)(state + r * LANES + g))[v];
        for (size_t i = 0; i < steps * length; i += length) {
            const double *at = b + i * LANES + g;
            UNROLLED for (int v = 0; v < group; v++) UNROLLED for (int r = 0; r < ROWS; r++) {
                const double *x = a + (size_t)r * row + i;
                vdouble sum = all_doubles(x[0]) * ((const vdouble *)(const void *)at)[v];
                for (size_t t = 1; t < length; t++)
                    sum = fused(all_doubles(x[t]), ((const vdouble *)(const void *)(at + t * LANES))[v], sum);
                if (padded) sum = sum + 0.0;
                sum = odd_sum(sum, c[r][v]);
                c[r][v] = half ? to_half(sum) : to_single(sum);
            }
        }
        UNROLLED for (int r = 0; r < ROWS; r++)
            UNROLLED for (int v = 0; v < group; v++)((vdouble *)(void *)(state + r * LANES + g))[v] = c[r][v];
    }
}

static void advance_any(double *state, const double *a, size_t row, const double *b, size_t steps, const work *w,
                        size_t length, int padded) {
    if (w->half && length == 2) advance(state, a, row, b, steps, 2, GROUP, 1, padded);
    else if (w->half) advance(state, a, row, b, steps, length, 2, 1, padded);
    else if (length == 2) advance(state, a, row, b, steps, 2, GROUP, 0, padded);
    else if (length == 4) advance(state, a, row, b, steps, 4, 2, 0, padded);
    else advance(state, a, row, b, steps, length, 2, 0, padded);
}

enum { SLICE = 32 * LANES }; /* numbers of a panel that stay in the first-level cache */
enum { PIECE = 32 };         /* rows that use a slice of a panel */

/* The rows begin .. end - 1 of a panel, at most PIECE. The rows of A are there up to a multiple of ROWS. */
static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    _Alignas(64) double state[PIECE * LANES];
    const size_t k = w->l.job->s.k, slice = SLICE / LANES / w->length * w->length,
                 depth = slice > 0 ? slice : w->length;
    memset(state, 0, sizeof state);
    for (size_t i = begin; i < end; i++) lanes_start(state + (i - begin) * LANES, &w->l, i, panel);
    for (size_t k0 = 0; k0 < k; k0 += depth) {
        const size_t n = k - k0 < depth ? k - k0 : depth, steps = n / w->length, rest = n % w->length;
        const double *b = lanes_panel(&w->l, panel) + k0 * LANES;
        for (size_t i = begin; i < end; i += ROWS) {
            const double *a = w->l.rows + i * k + k0;
            double *sums = state + (i - begin) * LANES;
            advance_any(sums, a, k, b, steps, w, w->length, 0);
            if (rest > 0)
                advance_any(sums, a + steps * w->length, k, b + steps * w->length * LANES, 1, w, rest, w->padded);
        }
    }
    for (size_t i = begin; i < end; i++) lanes_store(&w->l, i, panel, state + (i - begin) * LANES);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin * ROWS; i < end * ROWS && i < w->l.job->s.m; i++) lanes_pack_row(&w->l, i);
    const size_t last = end * ROWS < w->l.job->s.m ? end * ROWS : w->l.job->s.m;
    for (size_t panel = 0; panel < lanes_panels(&w->l); panel++)
        for (size_t i = begin * ROWS; i < last; i += PIECE)
            panel_part(w, i, last - i < PIECE ? last : i + PIECE, panel);
}

static void scale_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const double scale = ulp_scale(1.0, -(int32_t)w->l.job->datapath->chains.shift);
    for (size_t panel = begin; panel < end; panel++) lanes_pack_panel(&w->l, panel);
    for (size_t i = begin * w->l.job->s.k * LANES; i < end * w->l.job->s.k * LANES; i++) w->l.packed[i] *= scale;
}

/* Whether x (rows, width) is finite. */
static int rows_are_finite(const float *x, size_t rows, size_t width, size_t ld) {
    uint32_t special = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < width; j++)
            special |= (uint32_t)((ulp_bits32(x[i * ld + j]) & 0x7f800000u) == 0x7f800000u);
    return special == 0;
}

static int all_finite(const ulp_job *job) {
    const ulp_gemm_shape *s = &job->s;
    return rows_are_finite(job->a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k, s->lda) &&
           rows_are_finite(job->b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n, s->ldb);
}

/* Whether the operands are finite, and every sum of `length` products is exact in binary64. */
static int sums_are_exact(const ulp_job *job, size_t length) {
    const ulp_gemm_shape *s = &job->s;
    const range a = range_of_rows(job->a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k, s->lda),
                b = range_of_rows(job->b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n, s->ldb);
    const double most = (double)a.most * (double)b.most * (double)length;
    return all_finite(job) && (most == 0.0 || (most < ulp_scale(1.0, 53 + a.low + b.low) && most < 0x1p128));
}

static int is_offered(const ulp_datapath *d) {
    const ulp_format *f = &d->accumulator;
    const ulp_chains *s = &d->chains;
    const int single = f->prec == 24 && f->emin == -126 && f->emax == 127,
              half = f->prec == 11 && f->emin == -14 && f->emax == 15,
              block = d->kind == ULP_SERIAL && d->length > 1 && d->zero_a == 0 && d->zero_b == 0,
              chain = d->kind == ULP_CHAINS && s->term == s->length && s->length > 1 && s->fused && s->lanes == 1 &&
                      !s->c_last && !s->swapped && !s->saturate && s->flush == ULP_KEEP_OUTPUT &&
                      s->flush_c == ULP_KEEP_INPUT && s->flush_ab == ULP_KEEP_INPUT;
    return (single || half) && f->has_inf && f->has_subnormals && !f->is_fixed && (block || chain) && d->promote == 0 &&
           d->rule.mode == ULP_RNE && ulp_overflow_of(f, (ulp_overflow)d->rule.overflow) == ULP_OVERFLOW_INF;
}

ulp_status ULP_CPU(ulp_gemm_blocks)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    if (job->wide || job->s.k == 0 || !is_offered(d)) return ULP_UNSUPPORTED;
    work w = {.l = {.job = job}, .length = d->step, .half = d->accumulator.prec == 11, .padded = d->kind == ULP_CHAINS};
    if (!sums_are_exact(job, w.length)) return ULP_UNSUPPORTED;
    const size_t blocks = (job->s.m + ROWS - 1) / ROWS;
    w.l.packed = ULP_CPU(ulp_gemm_room)(lanes_panels(&w.l) * job->s.k * LANES, sizeof *w.l.packed);
    w.l.rows = ULP_CPU(ulp_gemm_room)(blocks * ROWS * job->s.k, sizeof *w.l.rows);
    const int enough = w.l.packed != NULL && w.l.rows != NULL;
    if (enough) {
        const size_t rows = job->s.m;
        memset(w.l.rows + rows * job->s.k, 0, (blocks * ROWS - rows) * job->s.k * sizeof *w.l.rows);
        ulp_parallel_for(lanes_panels(&w.l), 1, scale_part, &w);
        ulp_parallel_for(blocks, row_grain(blocks), rows_part, &w);
    }
    lanes_free(&w.l);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

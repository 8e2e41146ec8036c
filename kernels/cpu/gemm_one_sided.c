/* gemm_one_sided.c - the product on rows with one-sided sums, AMD CDNA3, and with sums rounded to odd, RISC-V, in
 * vectors; lanes are columns.
 *
 * The vectors compute the integer definitions of kernels/products/one_sided.h and fused.h. The largest exponent of the
 * products of a step is the largest product of the powers of two below the operands. A product times 2^(F - e) is exact
 * in binary32; its conversion to an integer truncates it. Sums of the integers are below 2^30. Where the sum meets c,
 * binary64 holds all bits. The scalar definition computes tiles with special values, or with exponents near the ends of
 * the range of binary32.
 */
#include "doubles.h"
#include "float_panels.h"
#include "floats.h"
#include "odd_sums.h"
#include "ranges.h"

#include <limits.h>

enum { ROWS = 2, PARTS = 2, HALVES = 2 };

/* Bounds of the exponents of operands' products and of c in vectors. */
enum { LEAST = -90, MOST = 90 };

/* The constants of a row. */
typedef struct plan {
    int length, parts, c_cut, odd;
    uint64_t normal;                    /* in the exponent field of binary64 */
    float scale;                        /* 2^fraction */
    double more, fraction, cut, joined; /* 2^(join - fraction), 2^fraction, 2^(-fraction - 1), 2^-join */
} plan;

typedef struct work {
    const ulp_job *job;
    plan plan;
    size_t padded, panels;  /* k rounded up to whole steps */
    float *b, *b_power;     /* panels of (padded, LANES): elements, and powers of two below them, 0 for zeros */
    float *a, *a_power;     /* (m rounded up, padded) */
    int *a_least, *b_least; /* the least exponent of a block of rows and of a panel */
    range *row, *panel;
} work;

/* ---- vectors ---- */

ULP_INLINE vfloat all_floats(float x) { return x - (vfloat){0}; }

ULP_INLINE vfloat larger_floats(vfloat a, vfloat b) { return (vfloat)larger_numbers((vuint)a, (vuint)b); }

/* 2^-e for powers of two 2^e. */
ULP_INLINE vfloat reciprocal(vfloat power) { return (vfloat)((254 << 23) - (vint)power); }

ULP_INLINE vdouble half_of(vfloat x, int h) {
#if defined(__AVX512F__)
    const __m512d all = (__m512d)x;
    return wide_floats((vfloats)(h == 0 ? _mm512_castpd512_pd256(all) : _mm512_extractf64x4_pd(all, 1)));
#elif defined(__AVX2__)
    return wide_floats((vfloats)(h == 0 ? _mm256_castps256_ps128((__m256)x) : _mm256_extractf128_ps((__m256)x, 1)));
#else
    vfloats part;
    memcpy(&part, (const char *)&x + (size_t)h * sizeof part, sizeof part);
    return wide_floats(part);
#endif
}

/* A vector of two halves. A load of two stored halves would wait for both stores. */
ULP_INLINE vfloat whole_of(vfloats low, vfloats high) {
#if defined(__AVX512F__)
    return (vfloat)_mm512_insertf64x4(_mm512_castpd256_pd512((__m256d)low), (__m256d)high, 1);
#elif defined(__AVX2__)
    return (vfloat)_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)low), (__m128)high, 1);
#else
    vfloat x;
    memcpy(&x, &low, sizeof low);
    memcpy((char *)&x + sizeof low, &high, sizeof high);
    return x;
#endif
}

typedef int32_t vints __attribute__((vector_size(ULP_VECTOR_BYTES / 2)));

ULP_INLINE vdouble half_of_ints(vint x, int h) {
#if defined(__AVX512F__)
    const __m512i all = (__m512i)x;
    return (vdouble)_mm512_cvtepi32_pd(h == 0 ? _mm512_castsi512_si256(all) : _mm512_extracti64x4_epi64(all, 1));
#elif defined(__AVX2__)
    const __m256i all = (__m256i)x;
    return (vdouble)_mm256_cvtepi32_pd(h == 0 ? _mm256_castsi256_si128(all) : _mm256_extracti128_si256(all, 1));
#else
    vints part;
    memcpy(&part, (const char *)&x + (size_t)h * sizeof part, sizeof part);
    return __builtin_convertvector(part, vdouble);
#endif
}

/* The largest integer that is not above x; |x| < 2^51. */
ULP_INLINE vdouble floor_of(vdouble x) {
#if defined(__AVX512F__)
    return (vdouble)_mm512_roundscale_pd((__m512d)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif defined(__AVX2__)
    return (vdouble)_mm256_floor_pd((__m256d)x);
#else
    const vdouble near = (x + 0x1.8p52) - 0x1.8p52;
    return near + (vdouble)((vbits)(near > x) & ulp_bits64(-1.0));
#endif
}

ULP_INLINE vfloats narrow_doubles(vdouble x) {
#if defined(__AVX512F__)
    return (vfloats)_mm512_cvtpd_ps((__m512d)x);
#elif defined(__AVX2__)
    return (vfloats)_mm256_cvtpd_ps((__m256d)x);
#else
    return __builtin_convertvector(x, vfloats);
#endif
}

/* ---- one sum ---- */

/* The sum of the products times 2^(fraction - e), and c: sum 2^(e - fraction) + c, cut and rounded. e: 2^e, or 0 if all
 * products are zero. */
ULP_INLINE vfloat join(vint sum, vfloat e, vfloat c, const plan *p) {
    const vfloat own = larger_floats((vfloat)((vint)c & 0x7f800000), all_floats(0x1p-126f)),
                 meet = larger_floats(e, own), ratio = e * reciprocal(meet);
    vfloats results[HALVES];
    UNROLLED for (int h = 0; h < HALVES; h++) {
        const vdouble unit = half_of(meet, h), inverse = half_of(reciprocal(meet), h),
                      high = floor_of(half_of_ints(sum, h) * (half_of(ratio, h) * p->more));
        vdouble low = floor_of(half_of(c, h) * (inverse * p->fraction));
        if (p->c_cut) {
            const vdouble least = unit * p->cut;
            low = (vdouble)((vbits)low & (vbits)(half_of(own, h) >= least));
        }
        const vdouble total = fused(low, all_doubles(p->more), high);
        /* a multiple of 2^(exponent - normal), rounded down; at least 1 */
        const vbits field = (vbits)total & 0x7ff0000000000000u;
        const vdouble grain = larger((vdouble)(field - p->normal), all_doubles(1.0)),
                      inverse_grain = (vdouble)(0x7fe0000000000000u - (vbits)grain),
                      cut = floor_of(total * inverse_grain) * grain;
        results[h] = narrow_doubles(cut * (unit * p->joined));
    }
    return whole_of(results[0], results[1]);
}

/* The products of a step: their sums by part, in units of 2^(e - fraction), and 2^e, or 0 if all products are zero. */
typedef struct dot {
    vint sum;
    vfloat e;
} dot;

/* The products of a row from x, powers from `power`, and a vector of columns. length and parts are constants. */
ULP_INLINE dot dot_of(const float *x, const float *power, const float *b, const float *b_power, const plan *p,
                      int length, int parts, int odd) {
    vfloat e[PARTS] = {{0}, {0}}, scale[PARTS];
    vint sum[PARTS] = {{0}, {0}};
    UNROLLED for (int k = 0; k < length; k++) e[k % parts] =
        larger_floats(e[k % parts], all_floats(power[k]) * *(const vfloat *)(const void *)(b_power + k * LANES));
    for (int q = 0; q < parts; q++) /* with a power of zero, all products are zero */
        scale[q] = reciprocal(larger_floats(e[q], all_floats(0x1p-100f))) * p->scale;
    UNROLLED for (int k = 0; k < length; k++) {
        const vfloat x_b = (all_floats(x[k]) * *(const vfloat *)(const void *)(b + k * LANES)) * scale[k % parts];
        sum[k % parts] += odd ? odd_ints(x_b) : __builtin_convertvector(x_b, vint);
    }
    if (parts == 1) return (dot){sum[0], e[0]};
    const vfloat top = larger_floats(e[0], e[1]), least = larger_floats(top, all_floats(0x1p-100f));
    vint both = {0};
    for (int q = 0; q < parts; q++) { /* rounded down to the larger exponent */
        const vfloat part = e[q] * reciprocal(least);
        vfloats down[HALVES]; /* bits of integers */
        UNROLLED for (int h = 0; h < HALVES; h++) down[h] =
            (vfloats) __builtin_convertvector(floor_of(half_of_ints(sum[q], h) * half_of(part, h)), vints);
        both += (vint)whole_of(down[0], down[1]);
    }
    return (dot){both, top};
}

/* The sum of the products of a step on RISC-V, rounded to odd. Each integer is below 2^(F + 2), so that the sum of four
 * is below 2^31 for F = 27, and of eight for F = 26 and numbers below 2. */
ULP_INLINE vfloat odd_dot(const float *x, const float *power, const float *b, const float *b_power, const plan *p,
                          int length) {
    if (length == 8) {
        const dot d = dot_of(x, power, b, b_power, p, 8, 1, 1);
        return odd_single(d.sum) * (d.e * (1.0f / p->scale));
    }
    vfloat e = {0};
    vint sum[4] = {{0}, {0}, {0}, {0}};
    UNROLLED for (int k = 0; k < 16; k++) e =
        larger_floats(e, all_floats(power[k]) * *(const vfloat *)(const void *)(b_power + k * LANES));
    const vfloat scale = reciprocal(larger_floats(e, all_floats(0x1p-90f))) * p->scale;
    UNROLLED for (int k = 0; k < 16; k++) sum[k % 4] +=
        odd_ints((all_floats(x[k]) * *(const vfloat *)(const void *)(b + k * LANES)) * scale);
    return odd_long_single(long_sum_of(sum)) * (e * (1.0f / p->scale));
}

enum { COUNT = LANES / FLOATS * ROWS }; /* the vectors of a tile */

/* All steps of ROWS rows and a panel; state (ROWS, LANES). length and parts are constants. All products of a step come
 * first: a sum with c has a long latency, and the sums of the vectors of a tile do not wait for each other. */
ULP_INLINE void steps(float *state, const work *w, size_t i, size_t panel, int length, int parts, int odd) {
    const plan p = w->plan;
    const float *a = w->a + i * w->padded, *a_power = w->a_power + i * w->padded, *b = w->b + panel * w->padded * LANES,
                *b_power = w->b_power + panel * w->padded * LANES;
    vfloat *c = (vfloat *)(void *)state;
    for (size_t k = 0; k < w->padded; k += (size_t)length) {
        dot dots[COUNT];
        vfloat odds[COUNT];
        for (size_t r = 0; r < ROWS; r++)
            for (size_t v = 0; v < LANES / FLOATS; v++) {
                const size_t at = r * w->padded + k, from = k * LANES + v * FLOATS;
                const size_t t = r * (LANES / FLOATS) + v;
                if (odd) odds[t] = odd_dot(a + at, a_power + at, b + from, b_power + from, &p, length);
                else dots[t] = dot_of(a + at, a_power + at, b + from, b_power + from, &p, length, parts, 0);
            }
        for (size_t t = 0; t < COUNT; t++)
            c[t] = odd ? odd_float_sum(c[t], odds[t]) : join(dots[t].sum, dots[t].e, c[t], &p);
    }
}

static void steps_4(float *state, const work *w, size_t i, size_t panel) { steps(state, w, i, panel, 4, 1, 0); }
static void steps_8(float *state, const work *w, size_t i, size_t panel) { steps(state, w, i, panel, 8, 1, 0); }
static void odd_8(float *state, const work *w, size_t i, size_t panel) { steps(state, w, i, panel, 8, 1, 1); }
static void odd_16(float *state, const work *w, size_t i, size_t panel) { steps(state, w, i, panel, 16, 1, 1); }
static void steps_16(float *state, const work *w, size_t i, size_t panel) { steps(state, w, i, panel, 16, 2, 0); }

/* ---- the product ---- */

/* The power of two below |x|; that of a subnormal number is 2^emin. */
ULP_INLINE float power_below(float x, float least) {
    const float power = ulp_from_bits32(ulp_bits32(x) & 0x7f800000u), own = power > least ? power : least;
    return x == 0.0f ? 0.0f : own;
}

/* Powers of x (n). Returns the least exponent of a number that is not zero, 1000 if there is none. */
static int powers_of(float *power, const float *x, size_t n, const ulp_format *f) {
    const float normal = (float)f->min_normal;
    uint32_t least = 0x7f800000u;
    for (size_t i = 0; i < n; i++) {
        power[i] = power_below(x[i], normal);
        const uint32_t u = ulp_bits32(power[i]), some = u == 0 ? 0x7f800000u : u;
        least = some < least ? some : least;
    }
    return least == 0x7f800000u ? 1000 : (int)(least >> 23) - 127;
}

/* Whether the vectors compute a tile: finite values and moderate exponents. */
static int is_plain(const work *w, size_t block, size_t panel, const float *c) {
    const range a = w->row[block], b = w->panel[panel], start = range_of(c, ROWS * LANES);
    const int product = range_top(a) + range_top(b);
    int log_k = 0;
    while ((size_t)1 << log_k < w->padded) log_k++;
    for (size_t i = 0; i < ROWS * LANES; i++)
        if (c[i] - c[i] != 0.0f || (c[i] != 0.0f && fabsf(c[i]) < 0x1p-90f)) return 0;
    return a.low != INT_MIN && b.low != INT_MIN && w->a_least[block] + w->b_least[panel] >= LEAST &&
           product + log_k < MOST && range_top(start) < MOST;
}

static void tile_by_definition(const work *w, float *c, size_t i0, size_t rows, size_t panel) {
    const ulp_job *job = w->job;
    const size_t all = job->s.k, j0 = panel * LANES, per = job->datapath->step;
    double a[ULP_STEP_MAX], b[ULP_STEP_MAX];
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < LANES && j0 + j < job->s.n; j++)
            for (size_t k = 0; k < all; k += per) {
                const size_t n = all - k < per ? all - k : per;
                for (size_t t = 0; t < n; t++) {
                    a[t] = (double)w->a[(i0 + r) * w->padded + k + t];
                    b[t] = (double)w->b[(panel * w->padded + k + t) * LANES + j];
                }
                float *at = c + r * LANES + j;
                *at = (float)ulp_sum_fused(job->datapath, (double)*at, &(ulp_products){a, b, n, NULL, NULL});
            }
}

static void tile(const work *w, size_t block, size_t panel) {
    const ulp_job *job = w->job;
    const ulp_gemm_shape *s = &job->s;
    const size_t i0 = block * ROWS, rows = s->m - i0 < ROWS ? s->m - i0 : ROWS, j0 = panel * LANES,
                 width = s->n - j0 < LANES ? s->n - j0 : LANES;
    _Alignas(ULP_VECTOR_BYTES) float c[ROWS * LANES] = {0};
    float *out = (float *)job->c + i0 * s->ldc + j0;
    for (size_t r = 0; r < rows && s->accumulate; r++) memcpy(c + r * LANES, out + r * s->ldc, width * sizeof *c);
    if (!is_plain(w, block, panel, c)) tile_by_definition(w, c, i0, rows, panel);
    else if (w->plan.odd && w->plan.length == 8) odd_8(c, w, i0, panel);
    else if (w->plan.odd) odd_16(c, w, i0, panel);
    else if (w->plan.length == 4) steps_4(c, w, i0, panel);
    else if (w->plan.length == 8) steps_8(c, w, i0, panel);
    else steps_16(c, w, i0, panel);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) out[r * s->ldc + j] = canonical(c[r * LANES + j]);
}

/* The range of x (n); low is INT_MIN if a value is special. */
static range finite_range(const float *x, size_t n) {
    uint32_t special = 0;
    range all = range_of(x, n);
    for (size_t i = 0; i < n; i++) special |= (uint32_t)((ulp_bits32(x[i]) & 0x7f800000u) == 0x7f800000u);
    if (special) all.low = INT_MIN;
    return all;
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_job *job = w->job;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t j0 = panel * LANES, width = job->s.n - j0 < LANES ? job->s.n - j0 : LANES, n = w->padded * LANES;
        float *to = w->b + panel * n;
        memset(to, 0, n * sizeof *to);
        for (size_t k = 0; k < job->s.k; k++)
            for (size_t j = 0; j < width; j++) to[k * LANES + j] = b_at(job, k, j0 + j);
        w->panel[panel] = finite_range(to, n);
        w->b_least[panel] = powers_of(w->b_power + panel * n, to, n, &job->datapath->b);
    }
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_job *job = w->job;
    for (size_t block = begin; block < end; block++) {
        const size_t n = ROWS * w->padded;
        float *to = w->a + block * n;
        memset(to, 0, n * sizeof *to);
        for (size_t r = 0; r < ROWS && block * ROWS + r < job->s.m; r++)
            for (size_t k = 0; k < job->s.k; k++) to[r * w->padded + k] = a_at(job, block * ROWS + r, k);
        w->row[block] = finite_range(to, n);
        w->a_least[block] = powers_of(w->a_power + block * n, to, n, &job->datapath->a);
    }
    for (size_t panel = 0; panel < w->panels; panel++)
        for (size_t block = begin; block < end; block++) tile(w, block, panel);
}

/* Whether the row rounds products to odd, and adds c last: RISC-V. */
static int is_odd(const ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    const int lengths = f->length == 8 ? f->fraction <= 26 : f->length == 16 && f->fraction <= 27;
    return f->c_last && lengths && f->align == ULP_RO && f->output == ULP_RO && f->zero_c == ULP_NO_EXPONENT &&
           f->floor == ULP_NO_EXPONENT && d->a_prec <= 8 && d->b_prec <= 8 && f->fraction >= 16;
}

static int is_one_sided(const ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    const int lengths = f->parts == 1 ? f->length == 4 || f->length == 8 : f->length == 16;
    return f->join != 0 && lengths && f->fraction == 24 && f->signed_zero && f->normal <= f->join && f->join <= 40 &&
           f->align == ULP_RZ && f->output == ULP_RNE && f->zero_c == -126;
}

static int is_offered(const ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    return d->kind == ULP_ALIGNED && (is_odd(d) || is_one_sided(d)) && f->kept == 23 && d->scale_block == 0 &&
           f->zero_operand == ULP_NO_EXPONENT && f->zero_product == ULP_NO_EXPONENT && d->promote == 0 &&
           d->a_prec <= 11 && d->b_prec <= 11 && d->accumulator.prec == 24 && d->accumulator.emin == -126 &&
           d->accumulator.emax == 127;
}

ulp_status ULP_CPU(ulp_gemm_one_sided)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    if (job->wide || job->s.k == 0 || !is_offered(d)) return ULP_UNSUPPORTED;
    work w = {.job = job, .panels = (job->s.n + LANES - 1) / LANES};
    w.plan = (plan){.length = d->fused.length,
                    .parts = d->fused.parts,
                    .c_cut = d->fused.c_cut,
                    .odd = d->fused.c_last,
                    .normal = (uint64_t)d->fused.normal << 52,
                    .scale = (float)ulp_scale(1.0, d->fused.fraction),
                    .more = ulp_scale(1.0, d->fused.join - d->fused.fraction),
                    .fraction = ulp_scale(1.0, d->fused.fraction),
                    .cut = ulp_scale(1.0, -d->fused.fraction - 1),
                    .joined = ulp_scale(1.0, -d->fused.join)};
    w.padded = (job->s.k + d->step - 1) / d->step * d->step;
    const size_t blocks = (job->s.m + ROWS - 1) / ROWS, of_b = w.panels * w.padded * LANES,
                 of_a = blocks * ROWS * w.padded;
    w.b = ULP_CPU(ulp_gemm_room)(2 * of_b, sizeof *w.b);
    w.a = ULP_CPU(ulp_gemm_room)(2 * of_a, sizeof *w.a);
    w.row = ULP_CPU(ulp_gemm_room)(blocks + w.panels, sizeof *w.row);
    w.a_least = ULP_CPU(ulp_gemm_room)(blocks + w.panels, sizeof *w.a_least);
    const int enough = w.b != NULL && w.a != NULL && w.row != NULL && w.a_least != NULL;
    if (enough) {
        w.b_power = w.b + of_b, w.a_power = w.a + of_a;
        w.panel = w.row + blocks, w.b_least = w.a_least + blocks;
        ulp_parallel_for(w.panels, 1, pack_part, &w);
        ulp_parallel_for(blocks, row_grain(blocks), blocks_part, &w);
    }
    free(w.a_least);
    free(w.row);
    free(w.a);
    free(w.b);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

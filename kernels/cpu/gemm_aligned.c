/* gemm_aligned.c - the product on Tensor Core rows: the integer definition of kernels/fused.h in binary32 lanes.
 *
 * Columns of the result are the lanes. The inputs have at most 11 significant bits, so a product is exact in binary32, and
 * so is its multiple by the power of two 2^(F - Emax); conversion to integer truncates toward zero, which is the alignment.
 * Exponents are packed as 16-bit integers beside the values: Emax is an addition and a maximum. Sums of up to 2^(29-F)
 * terms fit an int32_t. All that needs more care is found beforehand, per block of products: special values when a panel is
 * packed, exponents near the ends of binary32's range when Emax is known; such a block takes the definition itself.
 */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)

#if defined(__AVX512BW__)
enum { BYTES = 64, ROWS = 2 };
#elif defined(__AVX2__)
enum { BYTES = 32, ROWS = 1 };
#else
enum { BYTES = 16, ROWS = 1 };
#endif

/* LANES floats make a vector, two vectors a panel: as many columns as a vector holds 16-bit exponents. */
enum { LANES = BYTES / 4, HALVES = 2, WIDTH = HALVES * LANES };

typedef float vfloat __attribute__((vector_size(BYTES)));
typedef int32_t vint __attribute__((vector_size(BYTES)));
typedef int16_t vshort __attribute__((vector_size(BYTES)));
typedef int16_t vhalf __attribute__((vector_size(BYTES / 2))); /* exponents of one vector of floats */

enum {
    SKIPPED = -16384, /* the exponent of zero: it never wins, and two of them fit an int16_t */
    LOWEST = -100,    /* Emax for which scale factors, aligned terms and results stay normal binary32 numbers */
    HIGHEST = 119
};

typedef struct work {
    const ulp_job *job;
    size_t padded;        /* k rounded up to whole steps */
    size_t steps, panels;
    float *b;             /* (panels, padded, WIDTH), in the order in which products are summed, zero-padded */
    int16_t *b_exponent;  /* the same shape */
    int16_t *b_scale;     /* (panels, steps, WIDTH): exponents of the block scales */
    uint8_t *b_special;   /* (panels, steps) */
} work;

ULP_INLINE vint select32(vint yes, vint a, vint b) { return (a & yes) | (b & ~yes); }
ULP_INLINE vint max32(vint a, vint b) { return select32(a > b, a, b); }
ULP_INLINE vint min32(vint a, vint b) { return select32(a < b, a, b); }

ULP_INLINE vshort max16(vshort a, vshort b) {
    vshort yes = a > b;
    return (a & yes) | (b & ~yes);
}

ULP_INLINE vint bits_of(vfloat x) { return (vint)x; }
ULP_INLINE vfloat float_of(vint u) { return (vfloat)u; }

/* ---- packing ---- */

/* The place in its step of product k: fp8 on fp16 units takes k = 0, 1 (mod 4) first. */
static size_t place(const ulp_datapath *d, size_t k) {
    if (!d->fused.late) return k;
    const size_t at = k % d->step, half = at / 2 % 2;
    return k - at + half * d->fused.length + at / 4 * 2 + at % 2;
}

/* The exponent with which x takes part in the alignment. */
static int16_t exponent_of(float x, int32_t emin) {
    const uint32_t a = ulp_bits32(x) & 0x7fffffffu;
    if (a == 0) return SKIPPED;
    ulp_term t = ulp_term_of((double)x, 24, emin);
    return (int16_t)t.e;
}

static int is_special(float x) { return !(x - x == 0.0f); }

/* The exponent of a block's scale, 0 where there are none; NaN makes the block special. */
static int16_t scale_of(const float *scales, size_t at, const ulp_datapath *d, uint8_t *special) {
    if (d->scale_block == 0 || scales == NULL) return 0;
    if (is_special(scales[at])) {
        *special = 1;
        return 0;
    }
    return (int16_t)ulp_term_of((double)scales[at], 1, d->scale.emin).e;
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_datapath *d = w->job->datapath;
    const ulp_gemm_shape *s = &w->job->s;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t j0 = panel * WIDTH, width = s->n - j0 < WIDTH ? s->n - j0 : WIDTH;
        float *b = w->b + panel * w->padded * WIDTH;
        int16_t *e = w->b_exponent + panel * w->padded * WIDTH, *scale = w->b_scale + panel * w->steps * WIDTH;
        uint8_t *special = w->b_special + panel * w->steps;
        memset(b, 0, w->padded * WIDTH * sizeof *b);
        memset(scale, 0, w->steps * WIDTH * sizeof *scale);
        memset(special, 0, w->steps);
        for (size_t i = 0; i < w->padded * WIDTH; i++) e[i] = SKIPPED;
        for (size_t k = 0; k < s->k; k++)
            for (size_t j = 0; j < width; j++) {
                const float x = b_at(w->job, k, j0 + j);
                const size_t at = place(d, k) * WIDTH + j;
                b[at] = x;
                e[at] = exponent_of(x, d->b_emin);
                special[k / d->step] |= (uint8_t)is_special(x);
            }
        for (size_t i = 0; i < w->steps; i++)
            for (size_t j = 0; j < width; j++)
                scale[i * WIDTH + j] = scale_of(s->b_scales, (j0 + j) * w->steps + i, d, special + i);
    }
}

/* ROWS rows of A. */
typedef struct rows {
    float *a;            /* (padded, ROWS) */
    int16_t *exponent;   /* the same shape */
    int16_t *scale;      /* (steps, ROWS) */
    uint8_t *special;    /* (steps) */
} rows;

static void pack_rows(const work *w, const rows *r, size_t i0, size_t count) {
    const ulp_datapath *d = w->job->datapath;
    const ulp_gemm_shape *s = &w->job->s;
    memset(r->a, 0, w->padded * ROWS * sizeof *r->a);
    memset(r->scale, 0, w->steps * ROWS * sizeof *r->scale);
    memset(r->special, 0, w->steps);
    for (size_t i = 0; i < w->padded * ROWS; i++) r->exponent[i] = SKIPPED;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < s->k; k++) {
            const float x = a_at(w->job, i0 + i, k);
            const size_t at = place(d, k) * ROWS + i;
            r->a[at] = x;
            r->exponent[at] = exponent_of(x, d->a_emin);
            r->special[k / d->step] |= (uint8_t)is_special(x);
        }
        for (size_t k = 0; k < w->steps; k++)
            r->scale[k * ROWS + i] = scale_of(s->a_scales, (i0 + i) * w->steps + k, d, r->special + k);
    }
}

/* ---- one step ---- */

/* The constants of a row as the vectors want them. */
typedef struct plan {
    int32_t length, fraction, floor;
    int32_t keep;   /* mask of the kept bits of a binary32 result */
    int32_t emin;   /* of the accumulator */
    int scaled, narrow, late;
} plan;

/* Where a step's operands lie. */
typedef struct operands {
    const float *a, *b;
    const int16_t *a_exponent, *b_exponent, *a_scale, *b_scale;
} operands;

/* hi 1024 + lo rounded toward zero to 24 bits; *inexact: -1 where bits were lost. |hi| < 2^24, 0 <= lo < 2^12. */
ULP_INLINE vfloat truncate(vint hi, vint lo, vint *inexact) {
    const vfloat x = __builtin_convertvector(hi, vfloat) * 1024.0f, y = __builtin_convertvector(lo, vfloat);
    const vfloat sum = x + y, error = y - (sum - x); /* exact: |x| >= |y|, or all is small */
    *inexact = (vint)(error != 0.0f);
    return float_of(bits_of(sum) + (((bits_of(error) ^ bits_of(sum)) >> 31) & *inexact)); /* one unit back if too far */
}

/* A binary32 value, rounded to odd there, to binary16 by nearest even: an addition of 3 2^(e+12) leaves 11 bits. */
ULP_INLINE vfloat to_half(vfloat x) {
    const vint e = max32(bits_of(x) & 0x7f800000, (vint){0} + (113 << 23));
    const vfloat anchor = float_of(e + ((13 << 23) | 0x400000));
    const vfloat y = (x + anchor) - anchor;
    const vint u = bits_of(y), infinite = (u & (int32_t)0x80000000) | 0x7f800000;
    return float_of(select32((u & 0x7fffffff) >= (143 << 23), infinite, u));
}

/* One fused sum of p->length products for ROWS x WIDTH outputs, in place. 0 where the definition has to be asked. */
ULP_INLINE int fuse(vfloat c[ROWS][HALVES], const operands *o, const plan *p, int span, int narrow, int scaled) {
    vshort emax[ROWS], bad16 = {0};
    for (int r = 0; r < ROWS; r++) emax[r] = (vshort){0} + (int16_t)(2 * SKIPPED);
    for (int k = 0; k < p->length; k++)
        for (int r = 0; r < ROWS; r++)
            emax[r] = max16(emax[r], *(const vshort *)(const void *)(o->b_exponent + k * WIDTH) + o->a_exponent[k * ROWS + r]);
    vint factor[ROWS][HALVES], top[ROWS][HALVES], bad = {0};
    for (int r = 0; r < ROWS; r++) {
        vshort shift = {0};
        if (scaled) shift = *(const vshort *)(const void *)o->b_scale + o->a_scale[r];
        const vshort e = emax[r] + shift;
        bad16 |= (e > HIGHEST) | ((e < LOWEST) & (emax[r] > SKIPPED));
        union { vshort whole; vhalf half[HALVES]; } parts = {e}, shifts = {shift};
        for (int h = 0; h < HALVES; h++) {
            const vint u = bits_of(c[r][h]) & 0x7fffffff, zero = u == 0, field = u & 0x7f800000;
            bad |= ~zero & ((u < ((127 + LOWEST) << 23)) | (u >= ((128 + HIGHEST) << 23)));
            vint t = __builtin_convertvector(parts.half[h], vint);
            t = max32(t, (vint){0} + p->floor);
            t = (t + 127) << 23;
            t = max32(t, narrow ? max32(field, ~zero & ((p->emin + 127) << 23)) : field);
            top[r][h] = t;
            vint f = ((254 + p->fraction) << 23) - t;
            if (scaled) {
                vint x = (f >> 23) + __builtin_convertvector(shifts.half[h], vint);
                f = max32(min32(x, (vint){0} + 254), (vint){0} + 1) << 23;
            }
            factor[r][h] = f;
        }
    }
    union { vshort whole; uint64_t word[BYTES / 8]; } any = {bad16 | (vshort)bad};
    uint64_t strange = 0;
    for (int i = 0; i < BYTES / 8; i++) strange |= any.word[i];
    if (strange != 0) return 0;

    vint hi[ROWS][HALVES], lo[ROWS][HALVES];
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) {
            const vint t = __builtin_convertvector(c[r][h] * float_of(((254 + p->fraction) << 23) - top[r][h]), vint);
            hi[r][h] = t >> 10;
            lo[r][h] = t & 1023;
        }
    for (int k0 = 0; k0 < p->length; k0 += span) {
        vint sum[ROWS][HALVES];
        for (int r = 0; r < ROWS; r++)
            for (int h = 0; h < HALVES; h++) sum[r][h] = (vint){0};
        for (int k = k0; k < k0 + span; k++) {
            const vfloat *b = (const vfloat *)(const void *)(o->b + k * WIDTH);
            for (int r = 0; r < ROWS; r++)
                for (int h = 0; h < HALVES; h++)
                    sum[r][h] += __builtin_convertvector(o->a[k * ROWS + r] * b[h] * float_of(factor[r][h]), vint);
        }
        for (int r = 0; r < ROWS; r++)
            for (int h = 0; h < HALVES; h++) {
                hi[r][h] += sum[r][h] >> 10;
                lo[r][h] += sum[r][h] & 1023;
            }
    }
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) {
            vint inexact;
            const vfloat total = truncate(hi[r][h], lo[r][h], &inexact);
            const vfloat unit = float_of(top[r][h] - (p->fraction << 23));
            if (narrow) c[r][h] = to_half(float_of(bits_of(total) | (inexact & 1)) * unit);
            else c[r][h] = float_of(bits_of(total) & p->keep) * unit;
        }
    return 1;
}

/* fp8 on fp16 units: two sums from zero, c added last. binary16 sums are exact enough in binary32: 24 >= 2 11 + 2 bits
 * (Figueroa 1995, doi:10.1145/221332.221334). */
ULP_INLINE int fuse_late(vfloat c[ROWS][HALVES], const operands *o, const plan *p, int span, int narrow) {
    vfloat partial[ROWS][HALVES];
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) partial[r][h] = (vfloat){0};
    operands second = *o;
    second.a += p->length * ROWS, second.a_exponent += p->length * ROWS;
    second.b += p->length * WIDTH, second.b_exponent += p->length * WIDTH;
    if (!fuse(partial, o, p, span, narrow, 0) || !fuse(partial, &second, p, span, narrow, 0)) return 0;
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) {
            const vfloat sum = c[r][h] + partial[r][h];
            c[r][h] = narrow ? to_half(sum) : sum;
        }
    return 1;
}

ULP_INLINE int step_of(vfloat c[ROWS][HALVES], const operands *o, const plan *p, int span, int narrow) {
    if (p->late) return fuse_late(c, o, p, span, narrow);
    return p->scaled ? fuse(c, o, p, span, narrow, 1) : fuse(c, o, p, span, narrow, 0);
}

/* One function for each width of the unrolled sum. */
#define STEP(span)                                                                                                \
    static int step##span(vfloat c[ROWS][HALVES], const operands *o, const plan *p) { return step_of(c, o, p, span, 0); } \
    static int step##span##_narrow(vfloat c[ROWS][HALVES], const operands *o, const plan *p) { return step_of(c, o, p, span, 1); }
STEP(4)
STEP(8)
STEP(16)

typedef int (*step_function)(vfloat c[ROWS][HALVES], const operands *o, const plan *p);

static step_function step_for(const ulp_datapath *d) {
    const int narrow = d->accumulator.prec < 24, n = d->fused.length;
    if (n % 16 == 0) return narrow ? step16_narrow : step16;
    if (n == 8) return narrow ? step8_narrow : step8;
    return n == 4 ? (narrow ? step4_narrow : step4) : NULL;
}

/* The definition for one step of all outputs of a block. */
static void step_exactly(const work *w, float *c, const operands *o, size_t at, size_t i0, size_t count, size_t j0, size_t width) {
    const ulp_datapath *d = w->job->datapath;
    const ulp_gemm_shape *s = &w->job->s;
    const size_t n = s->k - at * d->step < d->step ? s->k - at * d->step : d->step;
    double a[ULP_STEP_MAX], b[ULP_STEP_MAX];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++) {
            for (size_t k = 0; k < n; k++) {
                a[k] = (double)o->a[place(d, k) * ROWS + i];
                b[k] = (double)o->b[place(d, k) * WIDTH + j];
            }
            const double sa = s->a_scales == NULL ? 1.0 : (double)s->a_scales[(i0 + i) * w->steps + at];
            const double sb = s->b_scales == NULL ? 1.0 : (double)s->b_scales[(j0 + j) * w->steps + at];
            c[i * WIDTH + j] = (float)ulp_sum_fused(d, (double)c[i * WIDTH + j], a, b, (uint32_t)n, &sa, &sb);
        }
}

/* ---- the product ---- */

static plan plan_of(const ulp_datapath *d) {
    plan p = {.length = d->fused.length, .fraction = d->fused.fraction, .scaled = d->scale_block != 0, .late = d->fused.late};
    p.floor = d->fused.floor > LOWEST ? d->fused.floor : LOWEST;
    p.keep = (int32_t)(0xffffffffu << (23 - d->fused.kept));
    p.emin = d->accumulator.emin;
    p.narrow = d->accumulator.prec < 24;
    return p;
}

/* A block of count x width outputs. */
static void block(const work *w, const rows *r, size_t i0, size_t count, size_t panel) {
    const ulp_job *job = w->job;
    const ulp_datapath *d = job->datapath;
    const ulp_gemm_shape *s = &job->s;
    const plan p = plan_of(d);
    const step_function step = step_for(d);
    const size_t j0 = panel * WIDTH, width = s->n - j0 < WIDTH ? s->n - j0 : WIDTH;
    const size_t every = d->promote / d->step; /* steps from one promotion to the next */
    union { vfloat v[ROWS][HALVES]; float f[ROWS * WIDTH]; } c = {.f = {0}}, start = {.f = {0}}, before;
    float *out = (float *)job->c + i0 * s->ldc + j0;
    for (size_t i = 0; i < count && s->accumulate; i++) memcpy(start.f + i * WIDTH, out + i * s->ldc, width * sizeof *out);
    if (every == 0) c = start;
    for (size_t at = 0; at < w->steps; at++) {
        const size_t k = at * d->step, b = (panel * w->padded + k) * WIDTH;
        const operands o = {r->a + k * ROWS,   w->b + b, r->exponent + k * ROWS, w->b_exponent + b, r->scale + at * ROWS,
                            w->b_scale + (panel * w->steps + at) * WIDTH};
        before = c;
        if (r->special[at] || w->b_special[panel * w->steps + at] || !step(c.v, &o, &p)) {
            c = before;
            step_exactly(w, c.f, &o, at, i0, count, j0, width);
        }
        if (every != 0 && ((at + 1) % every == 0 || at + 1 == w->steps))
            for (size_t i = 0; i < ROWS * WIDTH; i++) {
                start.f[i] += c.f[i];
                c.f[i] = 0.0f;
            }
    }
    const float *y = every != 0 ? start.f : c.f;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++) out[i * s->ldc + j] = canonical(y[i * WIDTH + j]);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t n = w->padded * ROWS, scales = w->steps * ROWS;
    float *room = ULP_CPU(ulp_gemm_room)(n + (n + scales + 1) / 2 + (w->steps + 3) / 4 + 1, sizeof *room);
    rows r = {.a = room, .exponent = (int16_t *)(void *)(room + n)};
    r.scale = r.exponent + n;
    r.special = (uint8_t *)(r.scale + scales);
    for (size_t at = begin; at < end; at++) {
        const size_t i0 = at * ROWS, count = w->job->s.m - i0 < ROWS ? w->job->s.m - i0 : ROWS;
        pack_rows(w, &r, i0, count);
        for (size_t panel = 0; panel < w->panels; panel++) block(w, &r, i0, count, panel);
    }
    free(room);
}

/* The rows that this source computes: what the head of the file says holds for them. */
static int offered(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_fused *f = &d->fused;
    const int open = f->zero_operand != ULP_NO_EXPONENT || f->zero_product != ULP_NO_EXPONENT || f->zero_c != ULP_NO_EXPONENT ||
                     f->signed_zero;
    const int half = d->accumulator.prec == 11 && d->accumulator.emin == -14 && f->kept == 10 && f->output == ULP_RNE;
    const int single = d->accumulator.prec == 24 && d->accumulator.emin == -126 && f->output == ULP_RZ;
    return !job->wide && d->kind == ULP_ALIGNED && d->a_prec <= 11 && d->b_prec <= 11 && f->group == 0 && f->align == ULP_RZ && !open &&
           (half || single) && f->fraction >= 10 && f->fraction <= 25 && f->floor <= 0 && step_for(d) != NULL;
}

ulp_status ULP_CPU(ulp_gemm_aligned)(const ulp_job *job) {
    if (!offered(job)) return ULP_UNSUPPORTED;
    work w = {.job = job};
    w.steps = (job->s.k + job->datapath->step - 1) / job->datapath->step;
    w.padded = w.steps * job->datapath->step;
    w.panels = (job->s.n + WIDTH - 1) / WIDTH;
    const size_t n = w.panels * w.padded * WIDTH, scales = w.panels * w.steps * WIDTH;
    w.b = ULP_CPU(ulp_gemm_room)(n, sizeof *w.b);
    w.b_exponent = ULP_CPU(ulp_gemm_room)(n + scales, sizeof *w.b_exponent);
    w.b_special = ULP_CPU(ulp_gemm_room)(w.panels * w.steps, 1);
    const int enough = w.b != NULL && w.b_exponent != NULL && w.b_special != NULL;
    if (enough) {
        w.b_scale = w.b_exponent + n;
        ulp_parallel_for(w.panels, 1, pack_part, &w);
        ulp_parallel_for((job->s.m + ROWS - 1) / ROWS, 1, rows_part, &w);
    }
    free(w.b_special);
    free(w.b_exponent);
    free(w.b);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

#else

ulp_status ULP_CPU(ulp_gemm_aligned)(const ulp_job *job) {
    (void)job;
    return ULP_UNSUPPORTED;
}

#endif

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

#if (defined(__GNUC__) || defined(__clang__)) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#if defined(__AVX512BW__)
enum { BYTES = 64, ROWS = 4 };
#elif defined(__AVX2__)
enum { BYTES = 32, ROWS = 1 };
#else
enum { BYTES = 16, ROWS = 1 };
#endif

/* LANES floats make a vector, two vectors a panel: as many columns as a vector holds 16-bit exponents. Vector h holds the
 * columns 2 i + h, so that its exponents are the lower (h = 0) or upper halves of 32-bit words. */
enum { LANES = BYTES / 4, HALVES = 2, WIDTH = HALVES * LANES };

typedef float vfloat __attribute__((vector_size(BYTES)));
typedef int32_t vint __attribute__((vector_size(BYTES)));
typedef uint32_t vuint __attribute__((vector_size(BYTES)));
typedef int16_t vshort __attribute__((vector_size(BYTES)));
typedef uint16_t vushort __attribute__((vector_size(BYTES)));

enum {
    SKIPPED = -16384, /* the exponent of zero: it never wins, and two of them fit an int16_t */
    ABSENT = -20000,  /* below every product with one zero; a scale may be added */
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
    char *a;              /* blocks of `struct rows` arrays, a_bytes each */
    size_t a_bytes;
} work;

/* max and min of vectors, in the form that each compiler turns into one instruction. */
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll_count(4)")
#define VECTOR_PICK(name, type, order, elements)      \
    ULP_INLINE type name(type a, type b) {            \
        type yes = (type)(a order b);                 \
        return (a & yes) | (b & ~yes);                \
    }
#else
#define UNROLLED _Pragma("GCC unroll 8")
#define VECTOR_PICK(name, type, order, elements)                                 \
    ULP_INLINE type name(type a, type b) {                                       \
        for (int i = 0; i < (elements); i++) a[i] = a[i] order b[i] ? a[i] : b[i]; \
        return a;                                                                \
    }
#endif
VECTOR_PICK(max16, vshort, >, WIDTH)
VECTOR_PICK(min16, vshort, <, WIDTH)
VECTOR_PICK(min_u16, vushort, <, WIDTH)
VECTOR_PICK(max32, vint, >, LANES)
VECTOR_PICK(min32, vint, <, LANES)
VECTOR_PICK(min_u32, vuint, <, LANES)

ULP_INLINE vint bits_of(vfloat x) { return (vint)x; }
ULP_INLINE vfloat float_of(vint u) { return (vfloat)u; }

/* ---- packing ---- */

/* The place of column j among the floats of a panel. */
ULP_INLINE size_t lane(size_t j) { return j % HALVES * LANES + j / HALVES; }

/* The place in its step of product k: fp8 on fp16 units takes k = 0, 1 (mod 4) first. */
static size_t place(const ulp_datapath *d, size_t k) {
    if (!d->fused.late) return k;
    const size_t at = k % d->step, half = at / 2 % 2;
    return k - at + half * d->fused.length + at / 4 * 2 + at % 2;
}

/* The exponent with which x takes part in the alignment; the inputs' lowest one is -126 or more. */
ULP_INLINE int16_t exponent_of(float x, int32_t emin) {
    const uint32_t a = ulp_bits32(x) & 0x7fffffffu;
    const int32_t e = (int32_t)(a >> 23) - 127, at_least = e > emin ? e : emin;
    return (int16_t)(a == 0 ? SKIPPED : at_least);
}

ULP_INLINE uint32_t is_special(float x) { return (uint32_t)((ulp_bits32(x) & 0x7f800000u) == 0x7f800000u); }

/* The exponent of a block's scale, 0 where there are none; NaN makes the block special. */
static int16_t scale_of(const float *scales, size_t at, const ulp_datapath *d, uint8_t *special) {
    if (d->scale_block == 0 || scales == NULL) return 0;
    if (is_special(scales[at])) {
        *special = 1;
        return 0;
    }
    return (int16_t)ulp_term_of((double)scales[at], 1, d->scale.emin).e;
}

/* The exponents of x (n); whether one is special. */
ULP_INLINE uint8_t describe(int16_t *restrict exponent, const float *restrict x, size_t n, int32_t emin) {
    uint32_t special = 0;
    for (size_t i = 0; i < n; i++) {
        exponent[i] = exponent_of(x[i], emin);
        special |= is_special(x[i]);
    }
    return (uint8_t)special;
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
        for (size_t i = (w->padded - (w->steps > 0 ? d->step : 0)) * WIDTH; i < w->padded * WIDTH; i++) e[i] = SKIPPED;
        for (size_t k = 0; k < s->k; k++) {
            float *to = b + place(d, k) * WIDTH;
            float x[WIDTH] = {0};
            if (s->b_trans)
                for (size_t j = 0; j < width; j++) x[j] = b_at(w->job, k, j0 + j);
            else
                memcpy(x, (const float *)w->job->b + b_index(w->job, k, j0), width * sizeof *x);
            for (size_t h = 0; h < HALVES; h++)
                for (size_t i = 0; i < LANES; i++) to[h * LANES + i] = x[i * HALVES + h];
            special[k / d->step] |= describe(e + (to - b), x, WIDTH, d->b_emin);
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
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < s->k; k++) r->a[place(d, k) * ROWS + i] = a_at(w->job, i0 + i, k);
        for (size_t k = 0; k < w->steps; k++)
            r->scale[k * ROWS + i] = scale_of(s->a_scales, (i0 + i) * w->steps + k, d, r->special + k);
    }
    for (size_t k = 0; k < w->steps; k++) {
        const size_t at = k * d->step * ROWS;
        r->special[k] |= describe(r->exponent + at, r->a + at, d->step * ROWS, d->a_emin);
    }
}

/* ---- one step ---- */

/* The constants of a row as the vectors want them. */
typedef struct plan {
    int32_t length, fraction, floor;
    int32_t keep;   /* mask of the kept bits of a binary32 result */
    int32_t emin;   /* of the accumulator */
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
    return y * 0x1p112f * 0x1p-112f; /* 2^16 and beyond to infinity */
}

/* Bits set where an exponent is out of the range in which these lanes are exact: Emax of a lane's products (`least`, offset
 * by 1000 so that absent products lie above), of a lane (`most`, an exponent field), of c alone (`tiny`, |c| less one). */
ULP_INLINE uint64_t strange(vushort least, vint most, vuint tiny) {
    const vint wide = (most >= ((128 + HIGHEST) << 23)) | (vint)(tiny < (uint32_t)(((127 + LOWEST) << 23) - 1));
    union { vint whole; uint64_t word[BYTES / 8]; } any = {wide | (vint)(least < 1000)};
    uint64_t all = 0;
    for (int i = 0; i < BYTES / 8; i++) all |= any.word[i];
    return all;
}

/* The halves of 32-bit words, half 0 the lower one, as 32-bit integers times 2^16. */
ULP_INLINE vint half_of(vshort x, int h) { return h == 0 ? (vint)x << 16 : (vint)((vuint)x & 0xffff0000u); }

/* One fused sum of p->length products for ROWS x WIDTH outputs, in place. 0 where the definition has to be asked. */
ULP_INLINE int fuse(vfloat c[ROWS][HALVES], const operands *o, const plan *p, int span, int narrow, int scaled) {
    vshort emax[ROWS];
    for (int r = 0; r < ROWS; r++) emax[r] = (vshort){0} + (int16_t)ABSENT;
    for (int k0 = 0; k0 < p->length; k0 += span)
        UNROLLED for (int k = k0; k < k0 + span; k++)
            for (int r = 0; r < ROWS; r++)
                emax[r] = max16(emax[r], *(const vshort *)(const void *)(o->b_exponent + k * WIDTH) + o->a_exponent[k * ROWS + r]);
    vint factor[ROWS][HALVES], top[ROWS][HALVES], most = {0};
    vushort least = (vushort){0} + 1000;
    vuint tiny = ~(vuint){0};
    for (int r = 0; r < ROWS; r++) {
        vshort shift = {0}, e = emax[r];
        if (scaled) {
            shift = *(const vshort *)(const void *)o->b_scale + o->a_scale[r];
            e += shift;
        }
        least = min_u16(least, (vushort)(e + (int16_t)(1000 - LOWEST)));
        e = (min16(max16(e, (vshort){0} + (int16_t)p->floor), (vshort){0} + (HIGHEST + 1)) + 127) << 7;
        for (int h = 0; h < HALVES; h++) {
            const vint u = bits_of(c[r][h]) & 0x7fffffff, field = u & 0x7f800000;
            tiny = min_u32(tiny, (vuint)u - 1u);
            vint t = max32(half_of(e, h), field);
            if (narrow) t = max32(t, (u != 0) & ((p->emin + 127) << 23));
            most = max32(most, t);
            top[r][h] = t;
            factor[r][h] = ((254 + p->fraction) << 23) - t;
            if (scaled) {
                const vint x = (factor[r][h] >> 23) + (half_of(shift, h) >> 16);
                factor[r][h] = max32(min32(x, (vint){0} + 254), (vint){0} + 1) << 23;
            }
        }
    }
    if (strange(least, most, tiny) != 0) return 0;

    vint hi[ROWS][HALVES], lo[ROWS][HALVES], sum[ROWS][HALVES];
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) {
            sum[r][h] = __builtin_convertvector(c[r][h] * float_of(((254 + p->fraction) << 23) - top[r][h]), vint);
            hi[r][h] = sum[r][h] >> 10;
            lo[r][h] = sum[r][h] & 1023;
        }
    for (int k0 = 0; k0 < p->length; k0 += span) {
        for (int r = 0; r < ROWS; r++)
            for (int h = 0; h < HALVES && span == 16; h++) sum[r][h] = (vint){0}; /* 8 products and c fit one integer */
        UNROLLED for (int k = k0; k < k0 + span; k++) {
            const vfloat *b = (const vfloat *)(const void *)(o->b + k * WIDTH);
            for (int r = 0; r < ROWS; r++)
                for (int h = 0; h < HALVES; h++)
                    sum[r][h] += __builtin_convertvector(o->a[k * ROWS + r] * b[h] * float_of(factor[r][h]), vint);
        }
        for (int r = 0; r < ROWS; r++)
            for (int h = 0; h < HALVES; h++) {
                hi[r][h] = (span == 16 ? hi[r][h] : (vint){0}) + (sum[r][h] >> 10);
                lo[r][h] = (span == 16 ? lo[r][h] : (vint){0}) + (sum[r][h] & 1023);
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

enum { PLAIN, LATE, SCALED };

/* Steps, one after the other, until `count` are done, one holds special values or one is out of range; returns how many were done. */
ULP_INLINE size_t run_of(vfloat c[ROWS][HALVES], operands o, const plan *given, const uint8_t *a_special, const uint8_t *b_special,
                         size_t count, int kind, int span, int narrow) {
    const plan p = *given;
    const int step = kind == LATE ? 2 * p.length : p.length;
    vfloat now[ROWS][HALVES];
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) now[r][h] = c[r][h];
    size_t at = 0;
    for (; at < count; at++) {
        if (a_special[at] | b_special[at]) break;
        if (!(kind == LATE ? fuse_late(now, &o, &p, span, narrow) : fuse(now, &o, &p, span, narrow, kind == SCALED))) break;
        o.a += step * ROWS, o.a_exponent += step * ROWS, o.a_scale += ROWS;
        o.b += step * WIDTH, o.b_exponent += step * WIDTH, o.b_scale += WIDTH;
    }
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) c[r][h] = now[r][h];
    return at;
}

typedef size_t (*run_function)(vfloat c[ROWS][HALVES], operands o, const plan *p, const uint8_t *a_special,
                               const uint8_t *b_special, size_t count);

/* One function for each kind, width of the unrolled sum and width of the result: X(name, kind, span, narrow). */
#define RUNS(X)                                                                                                       \
    X(plain4, PLAIN, 4, 0) X(plain8, PLAIN, 8, 0) X(plain16, PLAIN, 16, 0) X(narrow4, PLAIN, 4, 1)                    \
    X(narrow8, PLAIN, 8, 1) X(narrow16, PLAIN, 16, 1) X(late16, LATE, 16, 0) X(late_narrow16, LATE, 16, 1)            \
    X(scaled16, SCALED, 16, 0)

#define RUN(name, kind, span, narrow)                                                                                 \
    static size_t name(vfloat c[ROWS][HALVES], operands o, const plan *p, const uint8_t *a_special,                   \
                       const uint8_t *b_special, size_t count) {                                                      \
        return run_of(c, o, p, a_special, b_special, count, kind, span, narrow);                                      \
    }
RUNS(RUN)

/* The function for a row, NULL if there is none. */
static run_function run_for(const ulp_datapath *d) {
    const int n = d->fused.length, span = n % 16 == 0 ? 16 : n, narrow = d->accumulator.prec < 24;
    const int kind = d->fused.late ? LATE : (d->scale_block != 0 ? SCALED : PLAIN);
#define MATCH(name, kind_, span_, narrow_) \
    if (kind == kind_ && span == span_ && narrow == narrow_) return name;
    RUNS(MATCH)
    return NULL;
}

/* The definition for one step of all outputs of a block. */
static void step_exactly(const work *w, float *c, const rows *r, size_t block, size_t panel, size_t at) {
    const ulp_datapath *d = w->job->datapath;
    const ulp_gemm_shape *s = &w->job->s;
    const size_t i0 = block * ROWS, count = s->m - i0 < ROWS ? s->m - i0 : ROWS;
    const size_t j0 = panel * WIDTH, width = s->n - j0 < WIDTH ? s->n - j0 : WIDTH;
    const float *pa = r->a + at * d->step * ROWS, *pb = w->b + (panel * w->padded + at * d->step) * WIDTH;
    const size_t n = s->k - at * d->step < d->step ? s->k - at * d->step : d->step;
    double a[ULP_STEP_MAX], b[ULP_STEP_MAX];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++) {
            for (size_t k = 0; k < n; k++) {
                a[k] = (double)pa[place(d, k) * ROWS + i];
                b[k] = (double)pb[place(d, k) * WIDTH + lane(j)];
            }
            const double sa = s->a_scales == NULL ? 1.0 : (double)s->a_scales[(i0 + i) * w->steps + at];
            const double sb = s->b_scales == NULL ? 1.0 : (double)s->b_scales[(j0 + j) * w->steps + at];
            float *at_c = c + i * WIDTH + lane(j);
            *at_c = (float)ulp_sum_fused(d, (double)*at_c, a, b, (uint32_t)n, &sa, &sb);
        }
}

/* ---- the product ---- */

static plan plan_of(const ulp_datapath *d) {
    plan p = {.length = d->fused.length, .fraction = d->fused.fraction};
    p.floor = d->fused.floor > LOWEST ? d->fused.floor : LOWEST;
    p.keep = (int32_t)(0xffffffffu << (23 - d->fused.kept));
    p.emin = d->accumulator.emin;
    return p;
}

/* Sums of a block of ROWS x WIDTH outputs under way. */
typedef union state {
    vfloat v[ROWS][HALVES];
    float f[ROWS * WIDTH];
} state;

static rows rows_at(const work *w, size_t at) {
    void *room = w->a + at * w->a_bytes;
    rows r = {.a = room, .exponent = (int16_t *)(void *)((float *)room + w->padded * ROWS)};
    r.scale = r.exponent + w->padded * ROWS;
    r.special = (uint8_t *)(r.scale + w->steps * ROWS);
    return r;
}

/* Steps first .. last - 1 of a block: c is the sum under way, total what was promoted. */
static void advance(const work *w, state *c, state *total, size_t block, size_t panel, size_t first, size_t last) {
    const ulp_datapath *d = w->job->datapath;
    const plan p = plan_of(d);
    const run_function run = run_for(d);
    const rows r = rows_at(w, block);
    const size_t every = d->promote / d->step; /* steps from one promotion to the next */
    for (size_t at = first; at < last;) {
        const size_t k = at * d->step, b = (panel * w->padded + k) * WIDTH;
        const operands o = {r.a + k * ROWS,   w->b + b, r.exponent + k * ROWS, w->b_exponent + b, r.scale + at * ROWS,
                            w->b_scale + (panel * w->steps + at) * WIDTH};
        size_t left = last - at; /* to the end or the next promotion */
        if (every != 0 && left > every - at % every) left = every - at % every;
        const size_t done = run(c->v, o, &p, r.special + at, w->b_special + panel * w->steps + at, left);
        at += done;
        if (done < left) step_exactly(w, c->f, &r, block, panel, at++);
        if (every != 0 && (at % every == 0 || at == w->steps))
            for (size_t i = 0; i < ROWS * WIDTH; i++) {
                total->f[i] += c->f[i];
                c->f[i] = 0.0f;
            }
    }
}

enum { DEPTH = 1024, MOST_BLOCKS = 16 }; /* about DEPTH products of a panel stay in the second-level cache */

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const ulp_gemm_shape *s = &w->job->s;
    const size_t j0 = panel * WIDTH, width = s->n - j0 < WIDTH ? s->n - j0 : WIDTH, depth = DEPTH / w->job->datapath->step;
    const int promotes = w->job->datapath->promote != 0;
    state c[MOST_BLOCKS], total[MOST_BLOCKS];
    memset(c, 0, sizeof c);
    memset(total, 0, sizeof total);
    float *out = (float *)w->job->c + j0;
    for (size_t i = begin * ROWS; i < end * ROWS && i < s->m && s->accumulate; i++)
        for (size_t j = 0; j < width; j++)
            (promotes ? total : c)[i / ROWS - begin].f[i % ROWS * WIDTH + lane(j)] = out[i * s->ldc + j];
    for (size_t at = 0; at < w->steps; at += depth)
        for (size_t block = begin; block < end; block++)
            advance(w, c + block - begin, total + block - begin, block, panel, at, w->steps - at < depth ? w->steps : at + depth);
    for (size_t i = begin * ROWS; i < end * ROWS && i < s->m; i++)
        for (size_t j = 0; j < width; j++)
            out[i * s->ldc + j] = canonical((promotes ? total : c)[i / ROWS - begin].f[i % ROWS * WIDTH + lane(j)]);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t block = begin; block < end; block++) {
        const rows r = rows_at(w, block);
        pack_rows(w, &r, block * ROWS, w->job->s.m - block * ROWS < ROWS ? w->job->s.m - block * ROWS : ROWS);
    }
    for (size_t panel = 0; panel < w->panels; panel++) panel_part(w, begin, end, panel);
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
           (half || single) && f->fraction >= 10 && f->fraction <= 25 && f->floor <= 0 && run_for(d) != NULL;
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
    const size_t blocks = (job->s.m + ROWS - 1) / ROWS;
    w.a_bytes = (w.padded * ROWS * (sizeof(float) + sizeof(int16_t)) + w.steps * (ROWS * sizeof(int16_t) + 1) + 63) / 64 * 64;
    w.a = ULP_CPU(ulp_gemm_room)(blocks, w.a_bytes);
    const int enough = w.b != NULL && w.b_exponent != NULL && w.b_special != NULL && w.a != NULL;
    if (enough) {
        w.b_scale = w.b_exponent + n;
        ulp_parallel_for(w.panels, 1, pack_part, &w);
        ulp_parallel_for(blocks, row_grain(blocks), rows_part, &w);
    }
    free(w.a);
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

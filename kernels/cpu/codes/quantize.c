/* quantize.c - scaled quantisation of arrays of floats to codes of up to 8 bits, a group at a time.
 *
 * The bits are those of formats/quantize.c, whose function gets the groups with special numbers and the settings that
 * no loop serves. An integer is x / s rounded to nearest, ties to even, for a scale s of up to 24 bits:
 *   - with fused multiply-adds: k = x (1 / s) rounded is at most one away from it. The remainder x - k s is exact: a
 *     multiple of the last bit of x or of s, about s / 2 at most. Its double, compared with s, corrects k
 *   - else the quotient in binary64 is rounded: a tie has 9 bits and s 24, so that 53 bits keep the side of a tie
 */
#include "codes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    uint8_t *codes;
    double *scales;
    int32_t *zero_points;
    const float *x;
    const ulp_quantizer *q;
    ulp_tiling tiling;
    size_t groups[3];
    ulp_rule rule;
    ulp_stream stream;
    int serves;         /* whether loops of integers serve */
    float divisor;      /* a scale is the amax / divisor in binary32; 0: the definition computes it */
    _Atomic int status; /* the last failure */
} job;

/* Group `number`, where runs that follow each other in memory are one run. */
static ulp_group group_at(const job *j, size_t number) {
    const size_t *const shape = j->tiling.shape;
    ulp_group g = ulp_tiling_group(&j->tiling, j->groups, number);
    for (int d = 1; d >= 0 && g.size[2] == shape[2] * (d == 0 ? shape[1] : 1); d--) {
        g.size[2] *= g.size[d];
        g.size[d] = 1;
    }
    return g;
}

/* ---- by the definition ---- */

/* Part g of the array, which has groups of its own by the tiling; the first of them has this number. The elements of
 * the part are the elements 0, 1, ... of the stream. */
static ulp_status define(const job *j, const ulp_group *g, ulp_tiling tiling, size_t number) {
    const size_t runs = g->size[0] * g->size[1], length = g->size[2], n = runs * length;
    double *const wide = calloc(n + (n == 0), sizeof *wide);
    uint16_t *const codes = malloc((n + (n == 0)) * sizeof *codes);
    ulp_status status = wide != NULL && codes != NULL ? ULP_OK : ULP_NO_MEMORY;
    for (size_t r = 0; r < runs && status == ULP_OK; r++)
        for (size_t i = 0, at = ulp_group_run(g, &j->tiling, r); i < length; i++)
            wide[r * length + i] = (double)j->x[at + i];
    const ulp_quantized part = {j->q, tiling, codes, j->scales + number,
                                j->zero_points != NULL ? j->zero_points + number : NULL};
    if (status == ULP_OK) status = ulp_quantize(&part, wide, j->rule, j->stream);
    for (size_t r = 0; r < runs && status == ULP_OK; r++)
        for (size_t i = 0, at = ulp_group_run(g, &j->tiling, r); i < length; i++)
            j->codes[at + i] = (uint8_t)codes[r * length + i];
    free(codes);
    free(wide);
    return status;
}

/* A group alone, in deterministic modes. */
static ulp_status define_group(const job *j, size_t number) {
    const ulp_group g = group_at(j, number);
    const size_t n = g.size[0] * g.size[1] * g.size[2];
    return define(j, &g, (ulp_tiling){{1, 1, n}, {1, 1, n}}, number);
}

static ulp_status define_all(const job *j) {
    const size_t *const shape = j->tiling.shape;
    return define(j, &(ulp_group){{0, 0, 0}, {shape[0], shape[1], shape[2]}}, j->tiling, 0);
}

/* ---- integers ---- */

/* Numbers as integers in the same order; -0 is below 0. */
ULP_INLINE int32_t order_of(float x) {
    const int32_t u = (int32_t)ulp_bits32(x);
    return u ^ (u >> 31 & 0x7fffffff);
}

static float number_of(int32_t order) { return ulp_from_bits32((uint32_t)(order ^ (order >> 31 & 0x7fffffff))); }

/* The least and the largest order of numbers and 0; or 0 and the largest magnitude. */
typedef struct ends {
    int32_t low, high;
} ends;

static void widen(ends *to, const float *x, size_t n, int has_zero_point) {
    int32_t low = to->low, high = to->high;
    for (size_t i = 0; i < n && has_zero_point; i++) {
        const int32_t order = order_of(x[i]);
        low = order < low ? order : low;
        high = order > high ? order : high;
    }
    for (size_t i = 0; i < n && !has_zero_point; i++) {
        const int32_t size = (int32_t)(ulp_bits32(x[i]) & 0x7fffffffu);
        high = size > high ? size : high;
    }
    *to = (ends){low, high};
}

/* Whether every number is finite. */
static int are_finite(ends e) { return e.high < 0x7f800000 && e.low > -0x7f800001; }

/* A scale and the integers of its codes. */
typedef struct integers {
    float step, inverse; /* what an integer counts, and about 1 / step */
    int32_t zero, low, high;
    uint32_t mask;
} integers;

ULP_INLINE int32_t integer_of(float x, const integers *k) {
#if FUSED_IS_FAST
    const float far = x * k->inverse, above = far < 1024.0f ? far : 1024.0f, near = above > -1024.0f ? above : -1024.0f;
    const float whole = (near + 0x1.8p23f) - 0x1.8p23f, rest = 2.0f * fmaf(-whole, k->step, x);
    const int32_t i = (int32_t)whole, odd = i & 1;
    return i + ((rest > k->step) | ((rest == k->step) & odd)) - ((rest < -k->step) | ((rest == -k->step) & odd));
#else
    const double far = (double)x / (double)k->step, above = far < 1024.0 ? far : 1024.0;
    return (int32_t)(((above > -1024.0 ? above : -1024.0) + 0x1.8p52) - 0x1.8p52);
#endif
}

ULP_INLINE uint8_t code_of(float x, integers k) {
    const int32_t code = integer_of(x, &k) + k.zero, above = code > k.low ? code : k.low;
    return (uint8_t)((uint32_t)(above < k.high ? above : k.high) & k.mask);
}

/* The code from x (1 / s), which is off by less than 2^-15 where it is below 256; `near` grows beyond ULP_NEAR_TIE
 * where it could lie on the other side of a tie. */
ULP_INLINE uint8_t near_code_of(uint32_t *near, float x, float inverse, float low, float high, int32_t zero) {
    const float q = x * inverse, above = q > low ? q : low, inside = above < high ? above : high;
    const float sum = inside + 0x1.8p23f, rest = inside - (sum - 0x1.8p23f);
    const uint32_t size = ulp_bits32(rest) & 0x7fffffffu;
    *near = (int32_t)size > (int32_t)*near ? size : *near;
    return (uint8_t)(ulp_bits32(sum) + (uint32_t)zero);
}

enum { NEARBY = 128 }; /* elements that are computed again where one of them is near to a tie */

static void quantize_run(uint8_t *restrict codes, const float *restrict x, size_t n, const integers *of) {
    const integers k = *of;
    const float low = (float)(k.low - k.zero), high = (float)(k.high - k.zero);
    for (size_t at = 0; at < n; at += NEARBY) {
        const size_t end = n - at < NEARBY ? n : at + NEARBY;
        uint32_t near = 0;
        for (size_t i = at; i < end; i++)
            codes[i] = near_code_of(&near, x[i], k.inverse, low, high, k.zero) & (uint8_t)k.mask;
        for (size_t i = at; i < end && near >= ULP_NEAR_TIE; i++) codes[i] = code_of(x[i], k);
    }
}

/* Pieces of one run, for several threads. */
typedef struct long_run {
    uint8_t *codes;
    const float *x;
    int has_zero_point;
    ends *each; /* of the pieces */
    integers integers;
} long_run;

enum { LONG = 4 * ULP_GRAIN }; /* elements of a run for several threads */

static void widen_part(void *context, size_t begin, size_t end) {
    const long_run *const l = context;
    for (size_t at = begin; at < end; at += ULP_GRAIN)
        widen(&l->each[at / ULP_GRAIN], l->x + at, end - at < ULP_GRAIN ? end - at : ULP_GRAIN, l->has_zero_point);
}

static void long_run_part(void *context, size_t begin, size_t end) {
    const long_run *const l = context;
    quantize_run(l->codes + begin, l->x + begin, end - begin, &l->integers);
}

/* The ends of a long run; 0 without memory. */
static int widen_long(ends *e, const float *x, size_t n, int has_zero_point) {
    const size_t pieces = n / ULP_GRAIN + 1;
    long_run l = {.x = x, .has_zero_point = has_zero_point, .each = calloc(pieces, sizeof *l.each)};
    if (l.each == NULL) return 0;
    ulp_parallel_for(n, ULP_GRAIN, widen_part, &l);
    for (size_t i = 0; i < pieces; i++) {
        e->low = l.each[i].low < e->low ? l.each[i].low : e->low;
        e->high = l.each[i].high > e->high ? l.each[i].high : e->high;
    }
    free(l.each);
    return 1;
}

/* Whether a scale is the quotient of two numbers of binary32, rounded to binary32; then the divisor. */
static float divisor_of(const ulp_quantizer *q) {
    const ulp_format *const s = &q->block.scale;
    const ulp_rule rule = ulp_scale_rounding((ulp_scale_rule)q->block.rule);
    const float divisor = (float)q->block.element.max;
    const int serves = !q->has_zero_point && s->bits == 32 && s->prec == 24 && s->bias == 127 && s->flushes == 0 &&
                       rule.mode == ULP_RNE && (double)divisor == q->block.element.max;
    return serves ? divisor : 0.0f;
}

/* The scale and zero point of finite ends. 0 if no loop serves this scale. */
static int scale_of(integers *k, const job *j, ends e, size_t number) {
    const ulp_quantizer *const q = j->q;
    int32_t zero = 0;
    double scale = (double)(number_of(e.high) / j->divisor);
    if (!(j->divisor > 0.0f && e.high > 0))
        ulp_quantizer_scaling(&scale, &zero, q, (double)number_of(e.low < 0 ? e.low : 0), (double)number_of(e.high));
    const double step = ulp_scale(scale, -q->block.element.frac_bits);
    if (!(step > 0x1p-100 && step < 0x1p100 && (double)(float)step == step)) return 0;
    *k = (integers){(float)step, 1.0f / (float)step, zero, q->low, q->high, (1u << q->bits) - 1u};
    j->scales[number] = scale;
    if (j->zero_points != NULL) j->zero_points[number] = zero;
    return 1;
}

static ulp_status quantize_group(const job *j, size_t number) {
    const ulp_group g = group_at(j, number);
    const size_t runs = g.size[0] * g.size[1];
    const int has_zero_point = j->q->has_zero_point, is_long = g.size[2] >= LONG;
    ends e = {0, 0};
    integers k;
    if (!j->serves) return define_group(j, number);
    if (is_long && !widen_long(&e, j->x + ulp_group_run(&g, &j->tiling, 0), g.size[2], has_zero_point))
        return ULP_NO_MEMORY;
    for (size_t r = is_long ? 1 : 0; r < runs; r++)
        widen(&e, j->x + ulp_group_run(&g, &j->tiling, r), g.size[2], has_zero_point);
    if (!are_finite(e) || !scale_of(&k, j, e, number)) return define_group(j, number);
    for (size_t r = 0; r < runs; r++) {
        const size_t at = ulp_group_run(&g, &j->tiling, r);
        long_run l = {.codes = j->codes + at, .x = j->x + at, .integers = k};
        if (is_long) ulp_parallel_for(g.size[2], ULP_GRAIN, long_run_part, &l);
        else quantize_run(j->codes + at, j->x + at, g.size[2], &k);
    }
    return ULP_OK;
}

/* ---- a group for each column ---- */

enum { COLUMNS = 512 };

/* The ends and the integers of some columns. */
typedef struct columns {
    int32_t least[COLUMNS], most[COLUMNS]; /* as in `ends` */
    integers of[COLUMNS];
    float inverse[COLUMNS], low[COLUMNS], high[COLUMNS]; /* of near_code_of */
    int32_t zero[COLUMNS];
    uint8_t defined[COLUMNS]; /* whether the definition computes the column */
} columns;

static void widen_columns(columns *c, const float *restrict x, size_t n, int has_zero_point) {
    if (!has_zero_point) {
        for (size_t i = 0; i < n; i++) {
            const int32_t size = (int32_t)(ulp_bits32(x[i]) & 0x7fffffffu);
            c->most[i] = size > c->most[i] ? size : c->most[i];
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t order = order_of(x[i]);
        c->most[i] = order > c->most[i] ? order : c->most[i];
        c->least[i] = order < c->least[i] ? order : c->least[i];
    }
}

/* Columns begin .. end - 1, at most NEARBY, of a row. */
static void columns_row(uint8_t *restrict codes, const float *restrict x, size_t begin, size_t end, const columns *c,
                        const job *j) {
    const uint32_t mask = (1u << j->q->bits) - 1u;
    const float low = (float)j->q->low, high = (float)j->q->high;
    uint32_t near = 0;
    if (!j->q->has_zero_point)
        for (size_t i = begin; i < end; i++)
            codes[i] = near_code_of(&near, x[i], c->inverse[i], low, high, 0) & (uint8_t)mask;
    else
        for (size_t i = begin; i < end; i++)
            codes[i] = near_code_of(&near, x[i], c->inverse[i], c->low[i], c->high[i], c->zero[i]) & (uint8_t)mask;
    for (size_t i = begin; i < end && near >= ULP_NEAR_TIE; i++) codes[i] = code_of(x[i], c->of[i]);
}

/* Columns begin .. end - 1, at most COLUMNS, of a matrix of `rows` rows. */
static ulp_status quantize_columns(const job *j, size_t rows, size_t begin, size_t end) {
    const size_t n = end - begin, width = j->tiling.shape[2];
    columns c = {.of = {{0}}};
    for (size_t r = 0; r < rows; r++) widen_columns(&c, j->x + r * width + begin, n, j->q->has_zero_point);
    for (size_t i = 0; i < n; i++) {
        const ends e = {c.least[i], c.most[i]};
        c.of[i] = (integers){1.0f, 0.0f, 0, 0, 0, 0};
        c.defined[i] = !are_finite(e) || !scale_of(&c.of[i], j, e, begin + i);
        c.inverse[i] = c.defined[i] ? 0.0f : c.of[i].inverse;
        c.low[i] = (float)(c.of[i].low - c.of[i].zero);
        c.high[i] = (float)(c.of[i].high - c.of[i].zero);
        c.zero[i] = c.of[i].zero;
    }
    for (size_t r = 0; r < rows; r++) {
        const size_t at = r * width + begin;
        for (size_t i = 0; i < n; i += NEARBY)
            columns_row(j->codes + at, j->x + at, i, n - i < NEARBY ? n : i + NEARBY, &c, j);
    }
    for (size_t i = 0; i < n; i++)
        if (c.defined[i]) ULP_TRY(define_group(j, begin + i));
    return ULP_OK;
}

static void columns_part(void *context, size_t begin, size_t end) {
    job *const j = context;
    for (size_t at = begin; at < end; at += COLUMNS) {
        const ulp_status status =
            quantize_columns(j, j->tiling.shape[0] * j->tiling.shape[1], at, end - at < COLUMNS ? end : at + COLUMNS);
        if (status != ULP_OK) j->status = (int)status;
    }
}

/* ---- arrays ---- */

static void quantize_part(void *context, size_t begin, size_t end) {
    job *const j = context;
    for (size_t i = begin; i < end; i++) {
        const ulp_status status = quantize_group(j, i);
        if (status != ULP_OK) j->status = (int)status;
    }
}

ulp_status ULP_CPU(ulp_cpu_quantize)(uint8_t *codes, double *scales, int32_t *zero_points, const float *x,
                                     const ulp_quantizer *q, const ulp_tiling *tiling, ulp_rule rule,
                                     ulp_stream stream) {
    job j = {.codes = codes,
             .scales = scales,
             .zero_points = zero_points,
             .x = x,
             .q = q,
             .tiling = *tiling,
             .rule = rule,
             .stream = stream,
             .status = ULP_OK};
    if (tiling->shape[2] == 1) /* columns are the last dimension */
        j.tiling = (ulp_tiling){{1, tiling->shape[0], tiling->shape[1]}, {1, tiling->tile[0], tiling->tile[1]}};
    const size_t groups = ulp_tiling_groups(j.groups, &j.tiling);
    if (ulp_mode_is_stochastic(rule.mode)) return define_all(&j);
    j.serves = q->low < q->high && q->bits <= 8 && rule.mode == ULP_RNE && !q->searches && q->tensor_scale == 1.0f &&
               q->percentile == ULP_ALL_PERCENT &&
               (rule.overflow == ULP_OVERFLOW_DEFAULT || rule.overflow == ULP_OVERFLOW_SAT);
    j.divisor = divisor_of(q);
    /* a thread takes about ULP_GRAIN elements at a time */
    const size_t n = tiling->shape[0] * tiling->shape[1] * tiling->shape[2], each = groups > 0 ? n / groups : 0;
    const size_t grain = each > 0 && each < ULP_GRAIN ? ULP_GRAIN / each : 1;
    if (j.serves && j.tiling.tile[2] == 1 && j.groups[0] == 1 && j.groups[1] == 1)
        ulp_parallel_for(groups, (grain + COLUMNS - 1) / COLUMNS * COLUMNS, columns_part, &j);
    else if (groups < 16) quantize_part(&j, 0, groups); /* their runs have several threads if they are long */
    else ulp_parallel_for(groups, grain, quantize_part, &j);
    return (ulp_status)j.status;
}

/* blocks.c - the backend "mpfr": blocks of a matrix by the definitions of block.h, and the Hadamard transform.
 *
 * Quotients are rounded by the oracle of the scale format and of the element format. Squared errors are compared as GMP
 * integers; the rule best looks at every code of the scale format. In the transform the oracle of binary64 rounds every
 * operation of the defined order.
 */
#include "exact_sum.h"
#include "operations.h"
#include "steps.h"
#include "words.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A block format in a thread. */
typedef struct oracle {
    const ulp_block *block;
    ulp_reference *element, *scale, *wide;
    ulp_mpfr_sum sum;
    double max, tensor_scale;
} oracle;

static int open_oracle(oracle *o, const ulp_block *b) {
    *o = (oracle){.block = b, .tensor_scale = 1.0};
    o->element = ulp_reference_new(&b->element);
    o->scale = ulp_reference_new(&b->scale);
    o->wide = ulp_reference_new(&ulp_binary64);
    ulp_mpfr_sum_open(&o->sum);
    if (o->element == NULL || o->scale == NULL || o->wide == NULL) return 0;
    o->max = ulp_reference_max(o->element);
    return 1;
}

static void close_oracle(oracle *o) {
    ulp_mpfr_sum_close(&o->sum);
    ulp_reference_free(o->element);
    ulp_reference_free(o->scale);
    ulp_reference_free(o->wide);
}

/* The numbers of a block. */
typedef struct numbers {
    const float *x;
    size_t first, rows, columns, length; /* length: of a row of the matrix */
} numbers;

static size_t place(const numbers *n, size_t k) { return n->first + k / n->columns * n->length + k % n->columns; }
static size_t count_of(const numbers *n) { return n->rows * n->columns; }

static double amax_of(const numbers *n) {
    double most = 0.0;
    for (size_t k = 0; k < count_of(n); k++) {
        const double size = fabs((double)n->x[place(n, k)]);
        if (isfinite(size) && size > most) most = size;
    }
    return most;
}

/* ---- elements ---- */

static double element_of(const oracle *o, double x, double factor, ulp_rule rule, uint32_t word) {
    const int own = rule.overflow == ULP_OVERFLOW_DEFAULT;
    if (own && isinf(x)) return o->block->element.has_inf ? x : NAN;
    if (own) rule.overflow = ULP_OVERFLOW_SAT;
    if (factor == 0.0) { /* zeros stay, other numbers are beyond every range */
        factor = 1.0;
        if (x != 0.0 && isfinite(x)) x = copysign(DBL_MAX, x);
    }
    const double e = ulp_reference_arith(o->element, (ulp_scalar_op){ULP_DIV, x, factor, 0.0}, rule, word);
    return own && e < -o->max ? -o->max : e;
}

/* ---- scales ---- */

/* a / (b tensor scale) to the scale format; the least positive scale at least, unless zero may stay. */
static double scale_of_quotient(const oracle *o, double a, double b, ulp_mode mode, int zero_stays) {
    const ulp_rule rule = {(uint8_t)mode, ULP_OVERFLOW_SAT, 0};
    const double s = ulp_reference_arith(o->scale, (ulp_scalar_op){ULP_DIV, a, b * o->tensor_scale, 0.0}, rule, 0);
    const double least = ulp_reference_min_positive(o->scale);
    return s < least && !zero_stays ? least : s;
}

/* 2^k within the range of the scales. */
static double power_of(const oracle *o, int k) {
    const double s = ldexp(1.0, k), most = ulp_reference_max(o->scale), least = ulp_reference_min_positive(o->scale);
    return s > most ? most : s < least ? least : s;
}

/* Powers of two by their meanings. */
static double power_scale(const oracle *o, double amax) {
    const ulp_format *const e = &o->block->element;
    const int emax = ilogb(o->max), p = e->is_fixed ? e->bits - 1 : e->prec;
    const double a = amax / o->tensor_scale; /* a tensor scale of a caller; block_cast has 1 */
    int down, fraction_bits;
    if (amax == 0.0) return ulp_reference_min_positive(o->scale);
    switch ((ulp_scale_rule)o->block->rule) {
    case ULP_SCALE_FLOOR: return power_of(o, ilogb(a) - emax);
    case ULP_SCALE_CEIL: return power_of(o, ilogb(a) - emax + (frexp(a, &down) != 0.5));
    case ULP_SCALE_EVEN: return power_of(o, ilogb(rint(ldexp(frexp(a, &fraction_bits), p))) - p + fraction_bits - emax);
    case ULP_SCALE_NOCLIP:
    case ULP_SCALE_TE: {
        int k = ilogb(a) - emax;
        while (ldexp(o->max, k) < a) k++;
        return power_of(o, k);
    }
    default: return 0.0;
    }
}

/* The sign of (error under a) - (error under b). */
static int compare(oracle *o, const numbers *n, double a, double b) {
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    ulp_mpfr_sum_clear(&o->sum);
    for (size_t k = 0; k < count_of(n); k++) {
        const double x = (double)n->x[place(n, k)], fa = a * o->tensor_scale, fb = b * o->tensor_scale;
        if (!isfinite(x)) continue;
        const double qa = element_of(o, x, fa, nearest, 0) * fa, qb = element_of(o, x, fb, nearest, 0) * fb;
        ulp_mpfr_sum_add(&o->sum, x, -2.0 * qa);
        ulp_mpfr_sum_add(&o->sum, qa, qa);
        ulp_mpfr_sum_add(&o->sum, x, 2.0 * qb);
        ulp_mpfr_sum_add(&o->sum, qb, -qb);
    }
    const double sign = ulp_mpfr_sum_round(&o->sum, o->wide, (ulp_rule){.mode = ULP_RO}, 0);
    return (sign > 0.0) - (sign < 0.0);
}

static int all_zero(const oracle *o, const numbers *n, double scale) {
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    for (size_t k = 0; k < count_of(n); k++) {
        const double x = (double)n->x[place(n, k)];
        if (isfinite(x) && element_of(o, x, scale * o->tensor_scale, nearest, 0) != 0.0) return 0;
    }
    return 1;
}

static double best_scale(oracle *o, const numbers *n) {
    const double least = ulp_reference_min_positive(o->scale);
    double best = least;
    if (all_zero(o, n, least)) return least;
    for (uint32_t code = 0; code < 1u << o->block->scale.bits; code++) {
        const double s = ulp_reference_decode(o->scale, code);
        if (!(s > 0.0 && isfinite(s))) continue;
        const int sign = compare(o, n, s, best);
        if (sign < 0 || (sign == 0 && s > best)) best = s;
    }
    return best;
}

static double scale_of(oracle *o, const numbers *n) {
    const double amax = amax_of(n);
    const int is_power = o->block->scale.prec == 1;
    switch ((ulp_scale_rule)o->block->rule) {
    case ULP_SCALE_UP17: return scale_of_quotient(o, 17.0 * amax, 16.0 * o->max, ULP_RNE, 0);
    case ULP_SCALE_BEST: return best_scale(o, n);
    case ULP_SCALE_MSE46: {
        const double six = scale_of_quotient(o, amax, o->max, ULP_RNE, 0),
                     four = scale_of_quotient(o, 3.0 * amax, 2.0 * o->max, ULP_RNE, 0);
        return compare(o, n, six, four) > 0 ? four : six;
    }
    case ULP_SCALE_AMAX: return scale_of_quotient(o, amax, o->max, ULP_RNE, 0);
    default: break;
    }
    if (is_power) return power_scale(o, amax);
    switch ((ulp_scale_rule)o->block->rule) {
    case ULP_SCALE_FLOOR: return scale_of_quotient(o, amax, o->max, ULP_RZ, 0);
    case ULP_SCALE_CEIL:
    case ULP_SCALE_NOCLIP: return scale_of_quotient(o, amax, o->max, ULP_RU, 0);
    default: return scale_of_quotient(o, amax, o->max, ULP_RNE, o->block->rule == ULP_SCALE_TE);
    }
}

/* amax / (max * largest scale) in binary32; under mse46 the largest scale is a power of two whose 3/2 is in range. */
static double tensor_scale_of(const oracle *o, double amax) {
    ulp_reference *const narrow = ulp_reference_new(&ulp_binary32);
    double most = ulp_reference_max(o->scale);
    if (o->block->rule == ULP_SCALE_MSE46) {
        double power = ldexp(1.0, ilogb(most));
        while (1.5 * power > most) power /= 2.0;
        most = power;
    }
    if (narrow == NULL || amax == 0.0) return ulp_reference_free(narrow), 1.0;
    const double t = ulp_reference_arith(narrow, (ulp_scalar_op){ULP_DIV, amax, o->max * most, 0.0},
                                         (ulp_rule){ULP_RNE, ULP_OVERFLOW_SAT, 0}, 0);
    ulp_reference_free(narrow);
    return t < 0x1p-149 ? 0x1p-149 : t;
}

/* ---- matrices ---- */

typedef struct work {
    float *y;                 /* values, or NULL */
    float *elements, *scales; /* of the sums, or NULL */
    const float *x;
    size_t rows, columns, high, wide; /* high, wide: of a unit, a block or a group with a correction */
    const ulp_block_cast *cast;
    double tensor_scale;
    ulp_status status; /* of all threads */
} work;

/* Write number i of the matrix: element e under a scale. */
static void put(const work *w, size_t i, double e, double scale) {
    const size_t row = i / w->columns, column = i % w->columns, size = w->cast->block.size;
    const int is_row = w->cast->along == ULP_ALONG_ROWS;
    const size_t sum = is_row ? row : column, at = is_row ? column : row, length = is_row ? w->columns : w->rows;
    if (w->y != NULL) w->y[i] = isnan(e * scale) ? NAN : (float)(e * (scale * w->tensor_scale));
    if (w->elements != NULL) w->elements[sum * length + at] = (float)e;
    if (w->scales != NULL) w->scales[sum * ((length + size - 1) / size) + at / size] = (float)scale;
}

/* Convert a block under a scale; `written` is the scale that stands beside the elements. */
static void cast_block(oracle *o, const work *w, const numbers *n, double scale, double written) {
    const double factor = scale * o->tensor_scale;
    int is_nan = 0;
    for (size_t k = 0; k < count_of(n); k++) {
        const size_t i = place(n, k);
        const uint32_t word = ulp_mode_is_stochastic(w->cast->rule.mode) ? ulp_mpfr_word(w->cast->stream, i) : 0;
        const double e = element_of(o, (double)w->x[i], factor, w->cast->rule, word);
        is_nan |= isnan(e);
        put(w, i, e, written);
    }
    if (!is_nan || o->block->element.nan_codes != ULP_NAN_NONE) return;
    for (size_t k = 0; k < count_of(n); k++) put(w, place(n, k), 0.0, NAN);
}

/* The scales of a group before and after its correction S = <x,x> / <x,q>, whose steps are those of binary64. */
static void cast_group(oracle *o, const work *w, const numbers *group) {
    const size_t size = w->cast->block.size, n = count_of(group);
    const int is_row = w->cast->along == ULP_ALONG_ROWS;
    double xx = 0.0, xq = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        const double quotient = ulp_mpfr_over(o->wide, xx, xq),
                     correction = quotient > 0.0 && isfinite(quotient) ? quotient : 1.0;
        for (size_t at = 0; at < n; at += size) {
            const size_t some = n - at < size ? n - at : size;
            const numbers block = {w->x, place(group, at), is_row ? 1 : some, is_row ? some : 1, w->columns};
            const double scale = scale_of_quotient(o, 17.0 * 93.0 * amax_of(&block), 1600.0 * o->max, ULP_RNE, 0),
                         factor = scale * o->tensor_scale;
            for (size_t k = 0; k < some && pass == 0; k++) {
                const double x = (double)w->x[place(&block, k)],
                             q = element_of(o, x, factor, w->cast->rule, 0) * factor;
                xx = ulp_mpfr_plus(o->wide, xx, ulp_mpfr_times(o->wide, x, x));
                xq = ulp_mpfr_plus(o->wide, xq, ulp_mpfr_times(o->wide, x, q));
            }
            if (pass == 0) continue;
            const double written = ulp_reference_arith(
                o->scale, (ulp_scalar_op){ULP_MUL, ulp_mpfr_times(o->wide, scale, correction), 1, 0},
                (ulp_rule){ULP_SRA, ULP_OVERFLOW_SAT, 0}, ulp_mpfr_word(w->cast->stream, block.first));
            cast_block(o, w, &block, scale, written);
        }
    }
}

static void cast_part(void *context, size_t begin, size_t end) {
    work *const w = context;
    const size_t across = (w->columns + w->wide - 1) / w->wide;
    oracle o;
    if (!open_oracle(&o, &w->cast->block)) {
        __atomic_store_n((int *)&w->status, ULP_NO_MEMORY, __ATOMIC_RELAXED);
        end = begin;
    }
    o.tensor_scale = w->tensor_scale;
    for (size_t k = begin; k < end; k++) {
        const size_t i = k / across * w->high, j = k % across * w->wide;
        const numbers n = {w->x, i * w->columns + j, w->rows - i < w->high ? w->rows - i : w->high,
                           w->columns - j < w->wide ? w->columns - j : w->wide, w->columns};
        if (w->cast->eden > 0) {
            cast_group(&o, w, &n);
            continue;
        }
        const double scale = scale_of(&o, &n);
        cast_block(&o, w, &n, scale, scale);
    }
    close_oracle(&o);
}

static ulp_status convert(work *w) {
    const ulp_block_cast *cast = w->cast;
    const size_t n = w->rows * w->columns;
    w->high = w->wide = cast->eden > 0 ? cast->eden : cast->block.size;
    w->tensor_scale = 1.0;
    if (n == 0) return ULP_OK;
    if (!cast->tiles) *(cast->along == ULP_ALONG_ROWS ? &w->high : &w->wide) = 1;
    if (cast->has_tensor_scale) {
        const numbers all = {w->x, 0, 1, n, 0};
        ulp_block block = cast->block;
        if (cast->eden > 0) block.rule = ULP_SCALE_MSE46; /* for the room above the scales */
        oracle o;
        w->status = open_oracle(&o, &block) ? ULP_OK : ULP_NO_MEMORY;
        if (w->status == ULP_OK) w->tensor_scale = tensor_scale_of(&o, amax_of(&all));
        close_oracle(&o);
    }
    const size_t units = ((w->rows + w->high - 1) / w->high) * ((w->columns + w->wide - 1) / w->wide);
    if (w->status == ULP_OK) ulp_parallel_for(units, 1, cast_part, w);
    return w->status;
}

ulp_status ulp_mpfr_block_cast(float *y, const float *x, size_t rows, size_t columns, const ulp_block_cast *cast) {
    work w = {.y = y, .x = x, .rows = rows, .columns = columns, .cast = cast};
    return convert(&w);
}

ulp_status ulp_mpfr_block_parts(float *elements, float *scales, float *tensor_scale, const float *x, size_t rows,
                                size_t columns, const ulp_block_cast *cast) {
    work w = {.elements = elements, .scales = scales, .x = x, .rows = rows, .columns = columns, .cast = cast};
    const ulp_status status = convert(&w);
    *tensor_scale = (float)w.tensor_scale;
    return status;
}

/* ---- the Hadamard transform ---- */

typedef struct transform {
    double *y;
    const float *x;
    size_t columns;
    const ulp_hadamard *how;
    ulp_status status; /* of all threads */
} transform;

static double operate(ulp_reference *wide, ulp_op op, double a, double b) {
    return ulp_reference_arith(wide, (ulp_scalar_op){op, a, b, 0.0}, (ulp_rule){0}, 0);
}

/* The signs of Transformer Engine, and those of a stream. */
static double sign_of(const ulp_hadamard *how, size_t j) {
    static const int fixed[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
    if (how->signs == ULP_SIGNS_FIXED) return fixed[j];
    return how->signs == ULP_SIGNS_STREAM && ulp_mpfr_word(how->sign_stream, j) >= 0x80000000u ? -1.0 : 1.0;
}

/* The stages of halves: those inside each half come first, the last one joins the halves. */
static void join_halves(ulp_reference *wide, double *v, size_t g) {
    if (g > 2) {
        join_halves(wide, v, g / 2);
        join_halves(wide, v + g / 2, g / 2);
    }
    for (size_t i = 0; i < g / 2; i++) {
        const double a = v[i], b = v[i + g / 2];
        v[i] = operate(wide, ULP_ADD, a, b);
        v[i + g / 2] = operate(wide, ULP_SUB, a, b);
    }
}

static void transform_part(void *context, size_t begin, size_t end) {
    transform *const t = context;
    const size_t g = t->how->g, step = t->how->along == ULP_ALONG_ROWS ? 1 : t->columns;
    ulp_reference *const wide = ulp_reference_new(&ulp_binary64);
    double v[ULP_HADAMARD_MOST];
    if (wide == NULL) __atomic_store_n((int *)&t->status, ULP_NO_MEMORY, __ATOMIC_RELAXED);
    const double factor = wide != NULL ? operate(wide, ULP_SQRT, 1.0 / (double)g, 0.0) : 0.0;
    for (size_t k = begin; k < end && wide != NULL; k++) {
        const size_t first = t->how->along == ULP_ALONG_ROWS ? k * g : k / t->columns * g * t->columns + k % t->columns;
        for (size_t j = 0; j < g; j++)
            v[j] = (double)t->x[first + j * step] * (t->how->inverse ? 1.0 : sign_of(t->how, j));
        join_halves(wide, v, g);
        for (size_t j = 0; j < g; j++)
            t->y[first + j * step] =
                operate(wide, ULP_MUL, v[j], factor) * (t->how->inverse ? sign_of(t->how, j) : 1.0);
    }
    ulp_reference_free(wide);
}

ulp_status ulp_mpfr_hadamard(float *y, const float *x, size_t rows, size_t columns, const ulp_hadamard *how,
                             ulp_rounding rounding) {
    const size_t n = rows * columns;
    if (n == 0) return ULP_OK;
    transform t = {malloc(n * sizeof *t.y), x, columns, how, ULP_OK};
    if (t.y == NULL) return ULP_NO_MEMORY;
    ulp_parallel_for(n / how->g, 1, transform_part, &t);
    if (t.status == ULP_OK) t.status = ulp_mpfr_round64(t.y, t.y, n, rounding);
    for (size_t i = 0; i < n && t.status == ULP_OK; i++) y[i] = (float)t.y[i];
    free(t.y);
    return t.status;
}

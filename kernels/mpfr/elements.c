/* elements.c - the backend "mpfr": elementwise operations, each the exact result rounded once by MPFR. */
#include "operations.h"
#include "reference.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The elements of a piece of work. */
enum { GRAIN = 512 };

/* An operation on the elements of arrays: the rounding of x or x64, or op(a, b, c). */
typedef struct work {
    float *y;
    double *y64;
    const float *x;
    const double *x64;
    ulp_array_op op;
    int is_map;
    ulp_rounding how;
    ulp_status status; /* of all threads */
} work;

/* The counts of ulp_stats for an exact value that became y. `exact` has the sign, the zero, the infinity and the NaN of
 * the exact value. */
static void count(ulp_stats *stats, const ulp_reference *ref, double exact, double y, const ulp_rounding *how) {
    const uint8_t policy = how->rule.overflow == ULP_OVERFLOW_DEFAULT ? how->format->overflow : how->rule.overflow;
    const int overflow = isfinite(exact) && ulp_reference_overflowed(ref), beyond = overflow || isinf(exact);
    const double low =
        policy == ULP_OVERFLOW_SYM && how->format->is_signed ? -ulp_reference_max(ref) : ulp_reference_lowest(ref);
    const int end = y == ulp_reference_max(ref) || y == low;
    stats->count++;
    stats->overflow += (uint64_t)overflow;
    stats->saturated += (uint64_t)(beyond && policy != ULP_OVERFLOW_WRAP && end);
    stats->underflow += (uint64_t)(isfinite(exact) && exact != 0.0 && y == 0.0 && !beyond);
    stats->subnormal += (uint64_t)(y != 0.0 && fabs(y) < ulp_reference_min_normal(ref));
    stats->zero += (uint64_t)(y == 0.0);
    stats->nan += (uint64_t)isnan(y);
}

/* Counts of all threads. */
static void add_counts(ulp_stats *to, const ulp_stats *from) {
    uint64_t *const counts[] = {&to->count,     &to->overflow, &to->saturated, &to->underflow,
                                &to->subnormal, &to->zero,     &to->nan};
    const uint64_t more[] = {from->count,     from->overflow, from->saturated, from->underflow,
                             from->subnormal, from->zero,     from->nan};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) __atomic_fetch_add(counts[i], more[i], __ATOMIC_RELAXED);
}

/* A binary64 number with the class and the sign of the exact result of an operation: zero, a finite number, an infinity
 * or NaN. The exact result is zero exactly where the rounding to odd in binary64 is: no result of binary32 operands
 * underflows there. */
static double class_of(ulp_scalar_op op) {
    switch (op.op) {
    case ULP_ADD: return op.a + op.b;
    case ULP_SUB: return op.a - op.b;
    case ULP_MUL: return op.a * op.b;
    case ULP_DIV: return op.a / op.b;
    case ULP_SQRT: return sqrt(op.a);
    case ULP_FUSED: return op.a * op.b + op.c;
    case ULP_OP_COUNT: break;
    }
    return NAN;
}

static double map_element(ulp_reference *ref, const work *w, size_t i, uint32_t word, double *exact) {
    const ulp_array_op *o = &w->op;
    ulp_scalar_op op = {o->op, (double)o->a[i], 0.0, 0.0};
    if (o->op != ULP_SQRT) op.b = (double)o->b[i];
    if (o->op == ULP_FUSED) op.c = (double)o->c[i];
    *exact = class_of(op);
    return ulp_reference_arith(ref, op, w->how.rule, word);
}

static void run_part(void *context, size_t begin, size_t end) {
    work *w = context;
    ulp_stats stats = {0};
    ulp_reference *ref = ulp_reference_new(w->how.format);
    if (ref == NULL) {
        __atomic_store_n((int *)&w->status, ULP_NO_MEMORY, __ATOMIC_RELAXED);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        const uint32_t word = ulp_mode_is_stochastic(w->how.rule.mode) ? ulp_mpfr_word(w->how.stream, i) : 0;
        double exact = w->x64 != NULL ? w->x64[i] : w->x != NULL ? (double)w->x[i] : 0.0, y;
        if (w->is_map) y = map_element(ref, w, i, word, &exact);
        else y = ulp_reference_round(ref, exact, 0.0, w->how.rule, word);
        if (w->y64 != NULL) w->y64[i] = y;
        else w->y[i] = (float)y;
        if (w->how.stats != NULL) count(&stats, ref, exact, y, &w->how);
    }
    if (w->how.stats != NULL) add_counts(w->how.stats, &stats);
    ulp_reference_free(ref);
}

static ulp_status run(work w, size_t n) {
    ulp_parallel_for(n, GRAIN, run_part, &w);
    return w.status;
}

ulp_status ulp_mpfr_round(float *y, const float *x, size_t n, ulp_rounding how) {
    return run((work){.y = y, .x = x, .how = how}, n);
}

ulp_status ulp_mpfr_round64(double *y, const double *x, size_t n, ulp_rounding how) {
    return run((work){.y64 = y, .x64 = x, .how = how}, n);
}

ulp_status ulp_mpfr_map(float *y, ulp_array_op op, size_t n, ulp_rounding how) {
    return run((work){.y = y, .op = op, .is_map = 1, .how = how}, n);
}

/* ---- updates: each step on whole arrays ---- */

/* Arrays of n elements for the operands that are scratch arrays or one value. */
typedef struct room {
    float *scratch[ULP_UPDATE_SCRATCH], *value[3];
} room;

static float *elements(room *r, const ulp_operand *operand, size_t n, int which) {
    float **at = operand->kind == ULP_OPERAND_SCRATCH ? &r->scratch[operand->slot] : &r->value[which];
    if (operand->kind == ULP_OPERAND_ARRAY) return operand->at;
    if (*at == NULL) *at = calloc(n + 1, sizeof **at);
    for (size_t i = 0; operand->kind == ULP_OPERAND_VALUE && *at != NULL && i < n; i++) (*at)[i] = operand->value;
    return *at;
}

static ulp_status run_step(room *r, const ulp_update_step *s, size_t n) {
    const ulp_rounding how = {&s->format, s->rule, s->stream, NULL};
    const int third = s->op == ULP_FUSED, second = s->op != ULP_SQRT && s->op != ULP_STEP_ROUND;
    float *y = elements(r, &s->y, n, 0);
    const float *a = elements(r, &s->a, n, 0), *b = second ? elements(r, &s->b, n, 1) : a,
                *c = third ? elements(r, &s->c, n, 2) : a;
    if (y == NULL || a == NULL || b == NULL || c == NULL) return ULP_NO_MEMORY;
    if (s->op == ULP_STEP_ROUND) return ulp_mpfr_round(y, a, n, how);
    if (s->op == ULP_STEP_LIMIT) {
        for (size_t i = 0; i < n; i++) y[i] = fabsf(a[i]) > b[i] ? copysignf(b[i], a[i]) : a[i];
        return ulp_mpfr_round(y, y, n, how);
    }
    return ulp_mpfr_map(y, (ulp_array_op){(ulp_op)s->op, a, b, c}, n, how);
}

ulp_status ulp_mpfr_update(const ulp_update_step *step, size_t steps, size_t n) {
    room r;
    ulp_status status = ULP_OK;
    memset(&r, 0, sizeof r);
    for (size_t k = 0; k < steps && status == ULP_OK; k++) status = run_step(&r, &step[k], n);
    for (size_t i = 0; i < ULP_UPDATE_SCRATCH; i++) free(r.scratch[i]);
    for (size_t i = 0; i < 3; i++) free(r.value[i]);
    return status;
}

/* ---- operations that choose an element or a number ---- */

ulp_status ulp_mpfr_largest(float *y, const float *x, size_t n, int finite) {
    float most = 0.0f;
    int nan = 0;
    for (size_t i = 0; i < n; i++) {
        if (finite && !isfinite(x[i])) continue;
        nan |= isnan(x[i]);
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    }
    *y = nan ? NAN : most;
    return ULP_OK;
}

ulp_status ulp_mpfr_narrow(float *y, const double *x, size_t n) {
    ulp_reference *ref = ulp_reference_new(&ulp_binary32);
    for (size_t i = 0; ref != NULL && i < n; i++) y[i] = (float)ulp_reference_round(ref, x[i], 0.0, (ulp_rule){0}, 0);
    ulp_reference_free(ref);
    return ref != NULL ? ULP_OK : ULP_NO_MEMORY;
}

ulp_status ulp_mpfr_relu(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(x[i] < 0.0f)) y[i] = x[i]; /* -0 and NaN stay */
        else y[i] = 0.0f;
    return ULP_OK;
}

ulp_status ulp_mpfr_relu_slope(float *dx, const float *dy, const float *y, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (y[i] > 0.0f || isnan(y[i])) dx[i] = dy[i];
        else dx[i] = 0.0f;
    return ULP_OK;
}

/* Whether the candidate is the maximum instead of `most`: it is larger, or it is the first NaN. */
static int wins(float candidate, float most) { return candidate > most || (isnan(candidate) && !isnan(most)); }

ulp_status ulp_mpfr_pool(float *y, float *place, const float *x, const ulp_windows *s) {
    const size_t rows = s->h / s->K, columns = s->w / s->K;
    for (size_t i = 0; i < s->images * rows * columns; i++) {
        const size_t image = i / (rows * columns), row = i / columns % rows, column = i % columns;
        const float *window = x + (image * s->h + row * s->K) * s->w + column * s->K;
        size_t best = 0;
        for (size_t j = 1; j < s->K * s->K; j++)
            if (wins(window[j / s->K * s->w + j % s->K], window[best / s->K * s->w + best % s->K])) best = j;
        y[i] = window[best / s->K * s->w + best % s->K];
        place[i] = (float)best;
    }
    return ULP_OK;
}

ulp_status ulp_mpfr_pool_slope(float *dx, const float *dy, const float *place, const ulp_windows *s) {
    const size_t rows = s->h / s->K, columns = s->w / s->K;
    for (size_t i = 0; i < s->images * s->h * s->w; i++) dx[i] = 0.0f;
    for (size_t i = 0; i < s->images * rows * columns; i++) {
        const size_t image = i / (rows * columns), row = i / columns % rows, column = i % columns,
                     at = (size_t)place[i];
        dx[(image * s->h + row * s->K + at / s->K) * s->w + column * s->K + at % s->K] = dy[i];
    }
    return ULP_OK;
}

ulp_status ulp_mpfr_pool_strided(float *y, float *place, const float *x, const ulp_strided_windows *s) {
    const size_t rows = s->h + 2 * s->pad < s->K ? 0 : (s->h + 2 * s->pad - s->K) / s->stride + 1,
                 columns = s->w + 2 * s->pad < s->K ? 0 : (s->w + 2 * s->pad - s->K) / s->stride + 1;
    for (size_t i = 0; i < s->images * rows * columns; i++) {
        const float *image = x + i / columns / rows * s->h * s->w;
        int found = 0;
        for (size_t j = 0; j < s->K * s->K; j++) {
            const size_t row = i / columns % rows * s->stride + j / s->K, column = i % columns * s->stride + j % s->K;
            if (row < s->pad || row >= s->h + s->pad || column < s->pad || column >= s->w + s->pad) continue;
            const float candidate = image[(row - s->pad) * s->w + column - s->pad];
            if (found && !wins(candidate, y[i])) continue;
            found = 1;
            y[i] = candidate;
            place[i] = (float)j;
        }
    }
    return ULP_OK;
}

ulp_status ulp_mpfr_upsample(float *y, const float *x, const ulp_windows *s) {
    const size_t rows = s->h / s->K, columns = s->w / s->K;
    for (size_t i = 0; i < s->images * s->h * s->w; i++) {
        const size_t image = i / (s->h * s->w), row = i / s->w % s->h / s->K, column = i % s->w / s->K;
        y[i] = row < rows && column < columns ? x[(image * rows + row) * columns + column] : 0.0f;
    }
    return ULP_OK;
}

/* hadamard.c - the Hadamard transform of groups along rows or columns, a panel at a time; see functions/hadamard.h. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/hadamard_steps.h"
#include "kernels/rounding/count.h"

/* A matrix, cut into panels: `high` rows of `wide` columns. */
typedef struct job {
    float *y;
    const float *x;
    size_t columns, high, wide, across; /* across: the panels of a row of panels */
    const ulp_hadamard *how;
    ulp_rounding rounding;
    double sign[ULP_HADAMARD_MOST], factor;
} job;

enum { ROOM = 4 * ULP_PIECE }; /* numbers of a panel */

/* One stage on rows of n numbers: a + b and a - b. */
ULP_INLINE void butterfly(double *restrict a, double *restrict b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double sum = a[i] + b[i], difference = a[i] - b[i];
        a[i] = sum;
        b[i] = difference;
    }
}

/* The stages of groups that follow each other in v (n), and of a group of g rows of n numbers. */
static void transform_row(double *v, size_t n, size_t g) {
    for (size_t i = 0; i < n; i += 2) {
        const double a = v[i], b = v[i + 1];
        v[i] = a + b;
        v[i + 1] = a - b;
    }
    if (g >= 4) {
        for (size_t i = 0; i < n; i += 4) {
            const double a = v[i], b = v[i + 1], c = v[i + 2], d = v[i + 3];
            v[i] = a + c;
            v[i + 1] = b + d;
            v[i + 2] = a - c;
            v[i + 3] = b - d;
        }
    }
    for (size_t h = 4; h < g; h *= 2)
        for (size_t i = 0; i < n; i += 2 * h) butterfly(v + i, v + i + h, h);
}

static void transform_rows(double *v, size_t n, size_t g) {
    for (size_t h = 1; h < g; h *= 2)
        for (size_t i = 0; i < g; i++)
            if ((i & h) == 0) butterfly(v + i * n, v + (i + h) * n, n);
}

/* v = x and y = v, of n numbers in a row, times the signs from the first on, or times the sign of the row. */
static void load_row(double *restrict v, const float *restrict x, size_t n, const double *sign, size_t g) {
    for (size_t i = 0; i < n; i += g)
        for (size_t j = 0; j < g; j++) v[i + j] = (double)x[i + j] * sign[j];
}

static void scale_row(double *restrict v, size_t n, double factor, const double *sign, size_t g) {
    for (size_t i = 0; i < n; i += g)
        for (size_t j = 0; j < g; j++) v[i + j] = v[i + j] * factor * sign[j];
}

static void scale_by_one(double *restrict v, size_t n, double factor) {
    for (size_t i = 0; i < n; i++) v[i] *= factor;
}

static void load_by_one(double *restrict v, const float *restrict x, size_t n, double factor) {
    for (size_t i = 0; i < n; i++) v[i] = (double)x[i] * factor;
}

/* y (n) = v (n) rounded; `at` is the place of y in the matrix. */
static ulp_status store(const job *w, double *v, size_t n, size_t at, ulp_stats *stats) {
    ulp_rounding how = w->rounding;
    float *restrict const y = w->y + at;
    how.stats = how.stats != NULL ? stats : NULL;
    how.stream.first += at;
    ULP_TRY(ULP_CPU(ulp_cpu_round64)(v, v, n, how));
    for (size_t i = 0; i < n; i++) y[i] = (float)v[i];
    return ULP_OK;
}

/* Groups in rows: n numbers from `at` on. */
static void panel_of_rows(const job *w, size_t at, size_t n, ulp_stats *stats) {
    const size_t g = w->how->g;
    double v[ROOM];
    if (w->how->inverse) load_by_one(v, w->x + at, n, 1.0);
    else load_row(v, w->x + at, n, w->sign, g);
    transform_row(v, n, g);
    if (w->how->inverse) scale_row(v, n, w->factor, w->sign, g);
    else scale_by_one(v, n, w->factor);
    (void)store(w, v, n, at, stats);
}

/* A group in each of n columns: g rows from `at` on. */
static void panel_of_columns(const job *w, size_t at, size_t n, ulp_stats *stats) {
    const size_t g = w->how->g;
    const int inverse = w->how->inverse;
    double v[ROOM];
    for (size_t i = 0; i < g; i++) load_by_one(v + i * n, w->x + at + i * w->columns, n, inverse ? 1.0 : w->sign[i]);
    transform_rows(v, n, g);
    for (size_t i = 0; i < g; i++) {
        scale_by_one(v + i * n, n, w->factor);
        if (inverse) scale_by_one(v + i * n, n, w->sign[i]);
        (void)store(w, v + i * n, n, at + i * w->columns, stats);
    }
}

static void transform_panels(void *context, size_t begin, size_t end) {
    const job *const w = context;
    ulp_stats stats = {0};
    for (size_t k = begin; k < end; k++) {
        const size_t j = k % w->across * w->wide, n = w->columns - j < w->wide ? w->columns - j : w->wide;
        const size_t at = k / w->across * w->high * w->columns + j;
        if (w->how->along == ULP_ALONG_ROWS) panel_of_rows(w, at, n, &stats);
        else panel_of_columns(w, at, n, &stats);
    }
    if (w->rounding.stats != NULL) ulp_stats_add(w->rounding.stats, &stats);
}

ulp_status ULP_CPU(ulp_cpu_hadamard)(float *y, const float *x, size_t rows, size_t columns, const ulp_hadamard *how,
                                     ulp_rounding rounding) {
    job w = {.y = y, .x = x, .columns = columns, .high = how->g, .how = how, .rounding = rounding};
    if (rows * columns == 0) return ULP_OK;
    w.factor = ulp_hadamard_factor(how->g);
    for (size_t j = 0; j < how->g; j++) w.sign[j] = ulp_hadamard_sign(how, j) ? -1.0 : 1.0;
    if (how->along == ULP_ALONG_ROWS) { /* whole groups: the rows are one row */
        w.columns = rows * columns;
        w.high = rows = 1;
    }
    w.wide = (how->along == ULP_ALONG_ROWS ? ULP_PIECE : ROOM / how->g);
    w.across = w.columns / w.wide + (w.columns % w.wide != 0);
    ulp_parallel_for(rows / w.high * w.across, ULP_GRAIN / (w.high * w.wide), transform_panels, &w);
    return ULP_OK;
}

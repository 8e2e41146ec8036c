/* breakpoints.c - ulp vectors: values, midpoints, their neighbours, and the edges of a format; see vectors.h. */
#include "vectors.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The numbers that go with a point: the nearest binary32 numbers below and above, and the nearest binary64 numbers. */
enum { BINARY32 = 1, BINARY64 = 2, BOTH = 3 };

static int is_finite(double x) { return x - x == 0.0; }

static void add(vectors_numbers *to, double x) {
    to->at = ulp_room_for(to->at, to->count, &to->room, sizeof *to->at);
    to->at[to->count++] = x;
}

/* -0 comes before +0, and NaN last. */
static int compare(const void *p, const void *q) {
    double x, y;
    memcpy(&x, p, sizeof x);
    memcpy(&y, q, sizeof y);
    if (x != x || y != y) return (x != x) - (y != y);
    if (x != y) return x < y ? -1 : 1;
    return (signbit(x) == 0) - (signbit(y) == 0);
}

static void sort(vectors_numbers *to) {
    size_t kept = 0;
    if (to->count == 0) return;
    qsort(to->at, to->count, sizeof *to->at, compare);
    for (size_t i = 0; i < to->count; i++)
        if (kept == 0 || compare(&to->at[kept - 1], &to->at[i]) != 0) to->at[kept++] = to->at[i];
    to->count = kept;
}

static void add_point(vectors_numbers *to, double x, int which) {
    if (!is_finite(x)) return;
    add(to, x);
    if ((which & BINARY32) != 0 && fabs(x) <= FLT_MAX) {
        const float f = (float)x;
        const double below = (double)f < x ? (double)f : (double)nextafterf(f, -HUGE_VALF);
        const double above = (double)f > x ? (double)f : (double)nextafterf(f, HUGE_VALF);
        if (is_finite(below)) add(to, below);
        if (is_finite(above)) add(to, above);
    }
    if ((which & BINARY64) != 0) {
        const double below = nextafter(x, -HUGE_VAL), above = nextafter(x, HUGE_VAL);
        if (is_finite(below)) add(to, below);
        if (is_finite(above)) add(to, above);
    }
}

/* The midpoint of two values. A format with the precision of binary64 has values whose midpoint is no binary64 number;
 * then the result is one of the two. */
static double middle(double x, double y) { return 0.5 * x + 0.5 * y; }

/* A value, its neighbours in the format, and the midpoints between. */
static void add_around(vectors_numbers *to, double v, const ulp_format *f) {
    const double below = ulp_next_down(v, f), above = ulp_next_up(v, f);
    add_point(to, v, BOTH);
    if (is_finite(below)) add_point(to, below, BOTH), add_point(to, middle(below, v), BOTH);
    if (is_finite(above)) add_point(to, above, BOTH), add_point(to, middle(v, above), BOTH);
}

/* ---- values ---- */

static void add_all_values(vectors_numbers *to, const ulp_format *f) {
    for (uint64_t code = 0; code < 1ull << f->bits; code++) {
        const double v = ulp_decode(code, f);
        if (is_finite(v)) add(to, v == 0.0 ? 0.0 : v);
    }
}

/* The value of a random code. */
static double random_value(const ulp_format *f, vectors_draw *draw) {
    for (;;) {
        const uint64_t high = vectors_word(draw), code = high << 32 | vectors_word(draw);
        const double v = ulp_decode(code, f);
        if (is_finite(v)) return v == 0.0 ? 0.0 : v;
    }
}

/* The ends of the range, of the subnormal values, and of the binades; of every eighth binade in formats of more than 16
 * bits, of every 32nd in binary64. */
static void add_ends(vectors_numbers *to, const ulp_format *f) {
    const double ends[] = {f->max, f->lowest, f->min_normal, f->min_positive};
    const int stride = f->bits <= 16 ? 1 : f->bits <= 32 ? 8 : 32;
    for (size_t i = 0; i < 4; i++) add(to, ends[i]);
    if (f->has_zero) add(to, 0.0);
    if (f->is_signed) add(to, -f->min_normal), add(to, -f->min_positive);
    for (int e = f->qmin; e <= f->emax; e += stride) {
        const double v = ulp_scale(1.0, e);
        if (v < f->min_positive || v > f->max) continue;
        add(to, v);
        if (f->is_signed) add(to, -v);
    }
}

void vectors_values(vectors_numbers *to, const ulp_format *f, const vectors_request *request) {
    vectors_draw draw = vectors_draw_for(request->seed, f->name);
    if (f->bits <= 8) {
        add_all_values(to, f);
    } else {
        add_ends(to, f);
        for (uint64_t i = 0; i < request->sample; i++) add(to, random_value(f, &draw));
    }
    sort(to);
}

/* ---- inputs ---- */

static void add_both(vectors_numbers *to, double x) {
    add_point(to, x, BOTH);
    add_point(to, -x, BOTH);
}

/* Inputs outside of the values. */
static void add_outside(vectors_numbers *to, const ulp_format *f) {
    const double gap = ulp_spacing(f->max, f), least = f->min_positive;
    const double beyond[] = {0.25 * gap, 0.5 * gap, 0.75 * gap, gap, 1.5 * gap};
    const double others[] = {0.0, 0.25 * least, 0.5 * least, 0.75 * least, 1.0, 2.0 * f->max, 4.0 * f->max};
    const double extremes[] = {FLT_MAX, DBL_MAX, FLT_MIN, FLT_TRUE_MIN, DBL_MIN, HUGE_VAL};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        add_both(to, f->max + beyond[i]);
        if (f->is_signed) add_point(to, f->lowest - beyond[i], BOTH);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) add_both(to, others[i]);
    for (size_t i = 0; i < sizeof extremes / sizeof extremes[0]; i++) add(to, extremes[i]), add(to, -extremes[i]);
    if (f->nan_codes != ULP_NAN_NONE) add(to, ulp_quiet_nan());
}

static void add_sample(vectors_numbers *to, const ulp_format *f, const vectors_request *request) {
    vectors_draw draw = vectors_draw_for(request->seed, f->name);
    for (uint64_t i = 0; i < request->sample; i++) {
        const double v = random_value(f, &draw), above = ulp_next_up(v, f);
        const int is_middle = (i & 1) != 0 && is_finite(above);
        add_point(to, is_middle ? middle(v, above) : v, (i & 2) != 0 ? BINARY32 : BINARY64);
    }
}

void vectors_inputs(vectors_numbers *to, const ulp_format *f, const vectors_request *request) {
    vectors_numbers values = {0};
    if (f->bits <= 8) add_all_values(&values, f);
    else add_ends(&values, f), add_sample(to, f, request);
    sort(&values);
    for (size_t i = 0; i < values.count; i++) add_around(to, values.at[i], f);
    free(values.at);
    add_outside(to, f);
    sort(to);
}

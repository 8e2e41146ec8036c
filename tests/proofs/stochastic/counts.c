/* counts.c - stochastic rounding over all 2^r words: the number of words that round away from zero is the integer of
 * the definition, for every gap of every registered format of at most 8 bits.
 *
 * A line for each format, then the counts of formats; the exit status is the verdict. `--every N` takes every N-th gap
 * and four numbers of bits. README.md says what is covered.
 *
 * The position of a value in its gap is nu = j / 2^40. The definition (IEEE P3109 v4.0, section 4.6) gives the number
 * of R in 0 .. 2^r - 1 that round up: A, floor(nu 2^r); B, those with floor(nu 2^(r+1)) + 2R + 1 >= 2^(r+1); C, nu 2^r
 * rounded to the nearest integer, ties to even.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/rng.h"
#include "kernels/backend.h"

enum { PARTS = 40, BITS_MAX = 16, ISAS = 8, PLACES = 14 };

static const uint64_t one = (uint64_t)1 << PARTS;

/* Two neighbouring magnitudes of a format, and the results at both ends. Above the largest number the upper end is what
 * overflow gives. */
typedef struct gap {
    double low, width, down, up;
    int negative;
    ulp_overflow policy;
} gap;

typedef struct job {
    ulp_format format;
    gap *gaps;
    size_t count, every;
    uint64_t cases, roundings, elements, failures;
    pthread_mutex_t lock;
} job;

static int same(double a, double b) { return ulp_bits64(a) == ulp_bits64(b) || (a != a && b != b); }

/* ---- the definition ---- */

static uint64_t ups_of(int mode, uint64_t j, int r) {
    const uint64_t whole = j >> (PARTS - r), rest = j & ((one >> r) - 1), half = one >> r >> 1;
    uint64_t twice = 0;
    switch (mode) {
    case ULP_SRA: return whole;
    case ULP_SRB: /* R >= (2^(r+1) - floor(nu 2^(r+1)) - 1) / 2 */ twice = j >> (PARTS - r - 1); return (twice + 1) / 2;
    default: return whole + (rest > half || (rest == half && whole % 2 == 1));
    }
}

/* ---- gaps ---- */

/* The result of a number beyond the range in a stochastic mode. */
static double beyond(const ulp_format *f, ulp_overflow policy, int negative) {
    const double end = negative ? f->lowest : f->max;
    switch (policy) {
    case ULP_OVERFLOW_SAT: return end;
    case ULP_OVERFLOW_INF:
        if (negative && !f->is_signed) return NAN;
        if (f->has_inf) return negative ? -INFINITY : INFINITY;
        return f->nan_codes == ULP_NAN_NONE ? end : NAN;
    case ULP_OVERFLOW_WRAP: return negative ? f->max : f->lowest;
    default: return NAN;
    }
}

static void add_gap(job *j, double low, double width, int negative, ulp_overflow policy) {
    const ulp_format *f = &j->format;
    const double high = low + width, sign = negative ? -1 : 1, last = negative ? -f->lowest : f->max;
    gap g = {low, width, sign * low, sign * high, negative, policy};
    if (low == 0) g.down = !f->has_zero ? f->min_positive : negative && f->has_neg_zero ? -0.0 : 0.0;
    if (high > last || (negative && !f->is_signed)) g.up = beyond(f, policy, negative);
    j->gaps = realloc(j->gaps, (j->count + 1) * sizeof *j->gaps);
    if (!j->gaps) abort();
    j->gaps[j->count++] = g;
}

/* A gap with every policy if its upper end is out of range, else with the format's own. */
static void add_gaps(job *j, double low, double width, int negative) {
    const ulp_format *f = &j->format;
    const int out = low + width > (negative ? -f->lowest : f->max) || (negative && !f->is_signed);
    for (int p = ULP_OVERFLOW_INF; p <= (f->is_fixed ? ULP_OVERFLOW_WRAP : ULP_OVERFLOW_NAN); p++)
        if (out || p == f->overflow) add_gap(j, low, width, negative, (ulp_overflow)p);
}

/* Whether the fraction of the code is the fraction of the gap: not where exponent bits of a tapered format are cut. */
static int is_linear(const ulp_format *f, double low, double high) {
    return f->taper == ULP_TAPER_NONE || f->taper == ULP_TAPER_HIF8 || (low > 0 && high <= 2 * low);
}

static void find_gaps(job *j) {
    const ulp_format *f = &j->format;
    const int clamps = f->taper == ULP_TAPER_POSIT || f->taper == ULP_TAPER_TAKUM;
    for (int negative = 0; negative < 2; negative++) {
        double low = 0;
        const double last = negative ? -f->lowest : f->max;
        if (negative && !f->is_signed) {
            add_gaps(j, 0, f->min_positive, 1);
            continue;
        }
        for (double high; low < last; low = high) {
            high = ulp_next_up(low, f); /* positive magnitudes: the gaps of both signs are equal, but for the last of */
            if (low >= f->max) high = last; /* fixed point, whose lowest number is -2^(I-1) */
            if (is_linear(f, low, high)) add_gaps(j, low, high - low, negative);
        }
        /* hif8 has one fraction bit from 2^8 on, so that the number after 2^15 would be 1.5 2^15 */
        const double width = f->taper == ULP_TAPER_HIF8 ? 0x1p14 : f->is_fixed ? f->min_positive : ulp_spacing(last, f);
        if (!clamps) add_gaps(j, last, width, negative);
    }
}

/* ---- counts ---- */

static void fail(job *j, const gap *g, ulp_rule rule, double x, const char *what) {
    pthread_mutex_lock(&j->lock);
    if (j->failures++ < 5)
        printf("not right: %s %s/%d %s: %a in the gap from %a of width %a: %s\n", j->format.name,
               ulp_mode_name((ulp_mode)rule.mode), rule.random_bits, ulp_overflow_name(g->policy), x, g->low, g->width,
               what);
    pthread_mutex_unlock(&j->lock);
}

/* Round the value at place p of the gap with all words, and compare the count with the definition. */
static void check_place(job *j, const gap *g, uint64_t p, int mode, int r) {
    const ulp_rule rule = {(uint8_t)mode, (uint8_t)g->policy, (uint8_t)r};
    const double x = (g->negative ? -1 : 1) * (g->low + g->width * ldexp((double)p, -PARTS));
    const int equal = same(g->up, g->down);
    uint64_t ups = 0, strange = 0;
    uint32_t below = (uint32_t)(p * 0x9e3779b9u);
    char text[100];
    for (uint64_t R = 0; R < (uint64_t)1 << r; R++) {
        below = below * 1664525u + 1013904223u; /* the bits below the top r bits must not matter */
        const double y = ulp_round(x, &j->format, rule, (uint32_t)(R << (32 - r)) | below >> r);
        const int up = same(y, g->up);
        ups += (uint64_t)up;
        strange += !up && !same(y, g->down);
    }
    const uint64_t want = equal ? (uint64_t)1 << r : ups_of(mode, p, r);
    snprintf(text, sizeof text, "%" PRIu64 " words round up, not %" PRIu64 "; %" PRIu64 " results are no neighbour",
             ups, want, strange);
    if (ups != want || strange != 0) fail(j, g, rule, x, text);
    __atomic_add_fetch(&j->cases, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&j->roundings, (uint64_t)1 << r, __ATOMIC_RELAXED);
}

/* Places for r bits: the ends, beside the ends, multiples of 2^-r, 2^-(r+1) and 2^-(r+2) with one step to each side,
 * and any place. */
static void places_of(uint64_t places[PLACES], int r, uint64_t any) {
    const uint64_t cell = one >> r, at = any % ((uint64_t)1 << r) * cell;
    const uint64_t list[PLACES] = {0,
                                   1,
                                   one - 1,
                                   one / 2,
                                   at,
                                   at + 1,
                                   at + cell - 1,
                                   at + cell / 2,
                                   at + cell / 2 - 1,
                                   at + cell / 2 + 1,
                                   at + cell / 4,
                                   at + cell / 4 * 3,
                                   (any >> 20) % one,
                                   one / 3};
    memcpy(places, list, sizeof list);
}

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

static void check_gaps(void *context, size_t begin, size_t end) {
    job *j = context;
    for (size_t i = begin; i < end; i++) {
        const int is_edge = i == 0 || i + 1 == j->count || j->gaps[i].low == 0;
        uint64_t seed = i + 1;
        if (i % j->every != 0 && !is_edge) continue;
        for (int r = 1; r <= BITS_MAX; r += j->every > 1 ? 4 : 1) {
            const int bits = j->every > 1 && r > 12 ? 12 : r;
            uint64_t places[PLACES];
            places_of(places, bits, next(&seed));
            for (size_t k = 0; k < PLACES; k++)
                for (int mode = ULP_SRA; mode <= ULP_SRC; mode++)
                    if (j->every == 1 || (k + i + (size_t)mode) % 4 == 0 || bits < 6)
                        check_place(j, &j->gaps[i], places[k], mode, bits);
        }
    }
}

/* ---- arrays ---- */

/* Arrays with a value of every gap: each element is the scalar's with the word of its index. */
static void check_arrays(job *j, const ulp_backend *b) {
    const size_t n = j->count * PLACES;
    double *x = malloc(2 * n * sizeof *x);
    float *x32 = malloc(2 * n * sizeof *x32);
    if (!x || !x32) abort();
    double *y = x + n;
    float *y32 = x32 + n;
    for (int r = 1; r <= BITS_MAX; r += j->every > 1 ? 5 : 1)
        for (int mode = ULP_SRA; mode <= ULP_SRC; mode++)
            for (int p = ULP_OVERFLOW_INF; p <= (j->format.is_fixed ? ULP_OVERFLOW_WRAP : ULP_OVERFLOW_NAN); p++) {
                const ulp_rule rule = {(uint8_t)mode, (uint8_t)p, (uint8_t)r};
                const ulp_stream stream = {(uint64_t)r, (uint64_t)(mode * 8 + p), 3};
                for (size_t i = 0; i < n; i++) {
                    const gap *g = &j->gaps[i / PLACES];
                    uint64_t places[PLACES], seed = i + (uint64_t)r;
                    places_of(places, r, next(&seed));
                    x[i] = (g->negative ? -1 : 1) * (g->low + g->width * ldexp((double)places[i % PLACES], -PARTS));
                    x32[i] = (float)x[i];
                }
                if (ulp_backend_round64(b, y, x, n, (ulp_rounding){&j->format, rule, stream, NULL}) != ULP_OK) abort();
                if (j->format.fits_binary32 &&
                    ulp_backend_round(b, y32, x32, n, (ulp_rounding){&j->format, rule, stream, NULL}) != ULP_OK)
                    abort();
                for (size_t i = 0; i < n; i++) {
                    const uint32_t word = ulp_random_word(stream, i);
                    const gap *g = &j->gaps[i / PLACES];
                    if (!same(y[i], ulp_round(x[i], &j->format, rule, word))) fail(j, g, rule, x[i], b->what);
                    if (j->format.fits_binary32 &&
                        !same((double)y32[i], ulp_round((double)x32[i], &j->format, rule, word)))
                        fail(j, g, rule, (double)x32[i], b->what);
                }
                j->elements += n * (1u + j->format.fits_binary32);
            }
    free(x);
    free(x32);
}

int main(int argc, char **argv) {
    const size_t every = argc == 3 && strcmp(argv[1], "--every") == 0 ? strtoul(argv[2], NULL, 10) : 1;
    int passed = 0, failed = 0, isas = 0;
    uint64_t roundings = 0;
    if ((argc != 1 && argc != 3) || every == 0) return fprintf(stderr, "usage: check_counts [--every N]\n"), 2;
    for (size_t i = 0; i < ulp_format_count; i++) {
        job j = {.every = every};
        ulp_format_get(i, &j.format, NULL);
        if (j.format.bits > 8) continue;
        pthread_mutex_init(&j.lock, NULL);
        find_gaps(&j);
        ulp_parallel_for(j.count, 1, check_gaps, &j);
        isas = 0;
        for (size_t k = 0; k < ISAS; k++)
            if (ulp_cpu_backend(k)) check_arrays(&j, ulp_cpu_backend(k)), isas++;
        printf("%s %s: %zu gaps, %" PRIu64 " counts over %" PRIu64 " words, %" PRIu64 " elements of arrays\n",
               j.failures == 0 && j.cases > 0 ? "ok -" : "not ok -", j.format.name, j.count, j.cases, j.roundings,
               j.elements);
        fflush(stdout);
        if (j.failures == 0 && j.cases > 0) passed++;
        else failed++;
        roundings += j.roundings;
        pthread_mutex_destroy(&j.lock);
        free(j.gaps);
    }
    printf("%" PRIu64 " words, %d instruction sets\n", roundings, isas);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0 || passed == 0;
}

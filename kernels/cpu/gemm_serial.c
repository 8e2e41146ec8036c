/* gemm_serial.c - the product with every partial sum rounded, k ascending: columns of the result are the lanes.
 *
 * Ways to the same bits: in mode rne an addition that rounds by itself (nearest64), after one binary64 fma where rounding to
 * binary64 first is proved to change nothing (one_fma), else after the exact sum folded to odd; in the other modes the exact
 * sum folded to odd and the core of kernels/core.h.
 */
#include "exact_step.h"
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 64 };

ULP_INLINE void serial_run(double *restrict acc, double a, const double *restrict b, const ulp_core *core,
                           const uint32_t *restrict words, uint32_t mode) {
    const ulp_core c = *core;
    for (size_t j = 0; j < LANES; j++)
        acc[j] = ulp_core_round64(odd_sum(a * b[j], acc[j], mode), &c, mode, words == NULL ? 0u : words[j]);
}

static void serial_step(double *acc, double a, const double *b, const ulp_core *core, const uint32_t *words) {
    switch (core->mode) {
#define CASE(id, name, meaning)                                                                      \
    case id: serial_run(acc, a, b, core, ulp_mode_is_stochastic(id) ? words : NULL, id); break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* ---- rne ---- */

/* What nearest64 needs of a format. */
typedef struct nearest {
    double least, most; /* 2^emin, and 2^(emax+1), beyond which every value rounds alike */
    uint64_t anchor;    /* added to the word of a binade 2^e: 1.5 2^(e+53-p), whose last place is the format's quantum */
    double up, down;    /* inverse powers of two; up takes 2^(emax+1) to infinity */
    double max;         /* where values saturate */
    uint64_t zero_sign; /* the sign bit if zeros keep it */
} nearest;

static nearest nearest_of(const ulp_format *f) {
    nearest n = {.least = ulp_scale(1.0, f->emin), .most = ulp_scale(1.0, f->emax + 1)};
    n.anchor = (uint64_t)(53 - f->prec) << 52 | 1ull << 51;
    n.up = ulp_scale(1.0, 1023 - f->emax);
    n.down = 1.0 / n.up;
    n.max = f->max;
    n.zero_sign = f->has_neg_zero ? 0x8000000000000000u : 0u;
    return n;
}

/* The larger of two non-negative doubles as words; which comparison is one instruction depends on the set. */
ULP_INLINE uint64_t larger(uint64_t a, uint64_t b) {
#if defined(__AVX512F__)
    return (int64_t)a > (int64_t)b ? a : b;
#else
    const double x = ulp_from_bits64(a), y = ulp_from_bits64(b);
    return ulp_bits64(x > y ? x : y);
#endif
}

/* What is done about values beyond the range. */
enum { WATCHED, OPEN, CLOSED };

/* x rounded to nearest even: adding the anchor rounds at the format's last place. OPEN overflows to infinity, CLOSED
 * saturates, Inf and NaN pass; WATCHED holds while *peak, the largest binade met, stays below that of the largest value. */
ULP_INLINE double nearest64(double x, const nearest *n, int range, uint64_t *peak) {
    uint64_t binade = ulp_bits64(x) & 0x7ff0000000000000u;
    if (range == WATCHED) *peak = larger(binade, *peak);
    binade = larger(binade, ulp_bits64(n->least));
    if (range != WATCHED) {
        const double b = ulp_from_bits64(binade);
        binade = ulp_bits64(n->most < b ? n->most : b);
    }
    const double anchor = ulp_from_bits64(binade + n->anchor);
    double y = (x + anchor) - anchor;
    if (range == CLOSED) {
        y = n->max < y ? n->max : y;
        y = -n->max > y ? -n->max : y;
    }
    if (range == OPEN) y = y * n->up * n->down;
    return ulp_from_bits64(ulp_bits64(y) | (ulp_bits64(x) & n->zero_sign));
}

/* Whether RN53(acc + a b) rounds like acc + a b, a and b of at most pa and pb significant bits. A difference needs
 * RN53(x) = T != x for a tie T of the format, in a binade e <= emax + 1, so 0 < |x - T| <= 2^(e-53). With quantum q there,
 * acc lies q/2 or more from T, so |a b| >= q/4 = 2^(e-p-1), and x - T is a multiple of the last places of a b, at least
 * 2^(e-p-pa-pb), or of 2^(qmin-1). */
static int one_fma(const ulp_format *f, int pa, int pb) {
    return f->prec + pa + pb <= 52 && f->emax - f->qmin <= 50;
}

/* The significant bits that values of an array have at most. */
static int significant_bits(const float *x, size_t rows, size_t width, size_t ld) {
    uint32_t all = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < width; j++) all |= ulp_bits32(x[i * ld + j]);
    int bits = 24;
    for (uint32_t u = all & 0x7fffffu; bits > 1 && (u & 1u) == 0; u >>= 1) bits--;
    return bits;
}

/* LANES sums over k in registers; a: a row of A (k). Returns the largest binade met, if watched. */
ULP_INLINE uint64_t nearest_run(double *restrict sums, const double *restrict a, const double *restrict b, size_t k,
                                const nearest *given, int fused, int range) {
    const nearest n = *given;
    double acc[LANES];
    uint64_t peak[LANES], most = 0;
    for (int j = 0; j < LANES; j++) acc[j] = sums[j];
    for (int j = 0; j < LANES; j++) peak[j] = 0;
    for (size_t i = 0; i < k; i++)
        for (int j = 0; j < LANES; j++) {
            const double x = a[i], y = b[i * LANES + (size_t)j];
#if defined(__FMA__)
            const double fast = __builtin_fma(x, y, acc[j]);
#else
            const double fast = x * y + acc[j]; /* the product is exact */
#endif
            acc[j] = nearest64(fused ? fast : odd_sum(x * y, acc[j], ULP_RNE), &n, range, &peak[j]);
        }
    for (int j = 0; j < LANES; j++) sums[j] = acc[j];
    for (int j = 0; j < LANES; j++) most = peak[j] > most ? peak[j] : most;
    return most;
}

/* X(name, fused, range) */
#define NEAREST(X)                                                                                                    \
    X(fused_watched, 1, WATCHED) X(fused_open, 1, OPEN) X(fused_closed, 1, CLOSED)                                    \
    X(odd_watched, 0, WATCHED) X(odd_open, 0, OPEN) X(odd_closed, 0, CLOSED)
#define FUNCTION(name, fused, range)                                                                                  \
    static uint64_t name(double *sums, const double *a, const double *b, size_t k, const nearest *n) {                \
        return nearest_run(sums, a, b, k, n, fused, range);                                                           \
    }
NEAREST(FUNCTION)

typedef uint64_t (*nearest_function)(double *sums, const double *a, const double *b, size_t k, const nearest *n);

/* ---- the product ---- */

typedef struct work {
    const ulp_job *job;
    ulp_core core;
    double *packed, *rows;             /* B as panels of (k, LANES), zero-padded; A (m, k) */
    nearest_function watched, guarded; /* NULL if the core rounds */
    nearest format;
} work;

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_gemm_shape *s = &w->job->s;
    for (size_t panel = begin; panel < end; panel++) {
        double *to = w->packed + panel * s->k * LANES;
        const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
        memset(to, 0, s->k * LANES * sizeof *to);
        for (size_t k = 0; k < s->k; k++)
            for (size_t j = 0; j < width; j++) to[k * LANES + j] = (double)b_at(w->job, k, j0 + j);
    }
}

enum { STEPS = 64 }; /* whose random words are made at once */

/* words (STEPS, LANES): those of steps k0 .. k0 + count - 1 of columns j0 .. j0 + width - 1 of row i. */
static void make_words(uint32_t *words, const ulp_job *w, size_t i, size_t j0, size_t width, size_t k0, size_t count) {
    uint32_t column[STEPS];
    for (size_t j = 0; j < width; j++) {
        const uint64_t index = w->stream.first + word_index(w, i, j0 + j) + k0;
        ULP_CPU(ulp_words)(column, count, w->stream.seed, w->stream.stream, index);
        for (size_t k = 0; k < count; k++) words[k * LANES + j] = column[k];
    }
}

/* Products k0 .. k1 - 1 of row i and a panel, for sums that wait in acc. */
static void advance(const work *w, double *acc, size_t i, size_t panel, size_t k0, size_t k1) {
    const ulp_gemm_shape *s = &w->job->s;
    const double *a = w->rows + i * s->k, *b = w->packed + panel * s->k * LANES;
    if (w->watched != NULL) {
        double again[LANES];
        memcpy(again, acc, sizeof again);
        if (w->watched(acc, a + k0, b + k0 * LANES, k1 - k0, &w->format) < ulp_bits64(w->format.most * 0.5)) return;
        w->guarded(again, a + k0, b + k0 * LANES, k1 - k0, &w->format);
        memcpy(acc, again, sizeof again);
        return;
    }
    const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
    const int stochastic = ulp_mode_is_stochastic(w->core.mode);
    uint32_t words[STEPS * LANES];
    if (stochastic) memset(words, 0, sizeof words);
    for (size_t k = k0; k < k1; k++) {
        const size_t step = (k - k0) % STEPS;
        if (stochastic && step == 0) make_words(words, w->job, i, j0, width, k, k1 - k < STEPS ? k1 - k : STEPS);
        serial_step(acc, a[k], b + k * LANES, &w->core, words + step * LANES);
    }
}

enum { DEPTH = 512, MOST_ROWS = 16 }; /* DEPTH products of a panel stay in the second-level cache */

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const ulp_gemm_shape *s = &w->job->s;
    const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
    double acc[MOST_ROWS][LANES];
    memset(acc, 0, sizeof acc);
    for (size_t i = begin; i < end && s->accumulate; i++)
        for (size_t j = 0; j < width; j++) acc[i - begin][j] = (double)((const float *)w->job->c)[i * s->ldc + j0 + j];
    for (size_t k = 0; k < s->k; k += DEPTH)
        for (size_t i = begin; i < end; i++) advance(w, acc[i - begin], i, panel, k, s->k - k < DEPTH ? s->k : k + DEPTH);
    for (size_t i = begin; i < end; i++)
        for (size_t j = 0; j < width; j++) ((float *)w->job->c)[i * s->ldc + j0 + j] = canonical((float)acc[i - begin][j]);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_gemm_shape *s = &w->job->s;
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < s->k; k++) w->rows[i * s->k + k] = (double)a_at(w->job, i, k);
    for (size_t panel = 0; panel * LANES < s->n; panel++) panel_part(w, begin, end, panel);
}

/* Find the functions for this job; none if nearest64 is not the rounding of its rule: rne that saturates, or overflows to
 * an infinity that the format has. */
static void choose(work *w) {
    const ulp_datapath *d = w->job->datapath;
    const ulp_format *f = &d->accumulator;
    const ulp_gemm_shape *s = &w->job->s;
    const ulp_overflow policy = ulp_overflow_of(f, (ulp_overflow)d->rule.overflow);
    const int open = policy == ULP_OVERFLOW_INF && f->has_inf && f->max == ulp_scale(2.0 - ulp_scale(1.0, 1 - f->prec), f->emax);
    const int closed = policy == ULP_OVERFLOW_SAT && f->lowest == -f->max;
    if (d->rule.mode != ULP_RNE || !f->has_subnormals || f->emax < f->emin || !(open || closed) || s->k == 0) return;
    const int pa = significant_bits(w->job->a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k, s->lda);
    const int pb = significant_bits(w->job->b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n, s->ldb);
    const int fused = one_fma(f, pa, pb);
    w->format = nearest_of(f);
    w->watched = fused ? fused_watched : odd_watched;
    if (fused) w->guarded = open ? fused_open : fused_closed;
    else w->guarded = open ? odd_open : odd_closed;
}

ulp_status ULP_CPU(ulp_gemm_serial)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_gemm_shape *s = &job->s;
    work w = {.job = job};
    if (job->wide || d->kind != ULP_SERIAL || d->length != 1 || d->promote != 0 || d->has_inputs ||
        !ulp_core_init(&w.core, &d->accumulator, d->rule) || !ulp_core64_decides(&w.core))
        return ULP_UNSUPPORTED;
    choose(&w);
    const size_t panels = (s->n + LANES - 1) / LANES;
    w.packed = ULP_CPU(ulp_gemm_room)(panels * s->k * LANES, sizeof *w.packed);
    w.rows = ULP_CPU(ulp_gemm_room)(s->m * s->k, sizeof *w.rows);
    const int enough = w.packed != NULL && w.rows != NULL;
    if (enough) {
        ulp_parallel_for(panels, 1, pack_part, &w);
        ulp_parallel_for(s->m, row_grain(s->m), rows_part, &w);
    }
    free(w.rows);
    free(w.packed);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

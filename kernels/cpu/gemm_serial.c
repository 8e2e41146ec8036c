/* gemm_serial.c - products with every partial sum rounded, k ascending: whole, chunked, promoted; lanes are columns.
 *
 * Three methods give equal bits. In mode rne the addition of an anchor rounds (kernels/rounding/nearest.h). The sum is
 * first formed by one binary64 fma where a proof shows that the rounding of the fma changes no result, else as the
 * exact sum folded to odd. In the other modes kernels/rounding/core.h rounds the exact sum folded to odd: first without
 * overflow, and once more with it where a value was out of range.
 */
#include "lanes.h"

ULP_INLINE void serial_run(double *restrict acc, double a, const double *restrict b, const ulp_core *core,
                           const uint32_t *restrict words, uint32_t mode) {
    const ulp_core c = *core;
    for (size_t j = 0; j < LANES; j++)
        acc[j] = ulp_core_round64(ulp_odd_sum(a * b[j], acc[j], mode), &c, mode,
                                  ulp_mode_is_stochastic(mode) ? words[j] : 0u);
}

static void serial_step(double *acc, double a, const double *b, const ulp_core *core, const uint32_t *words) {
    switch (core->mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: serial_run(acc, a, b, core, words, id); break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* Adds a product to sums without overflow. The sign bit of the result is set if a value was out of range, infinite or
 * NaN. */
ULP_INLINE uint64_t watched_run(double *restrict acc, double a, const double *restrict b, const ulp_core *core,
                                const uint32_t *restrict words, uint32_t mode) {
    const ulp_core c = *core;
    uint64_t beyond = 0;
    for (size_t j = 0; j < LANES; j++)
        acc[j] = ulp_core_watched64(ulp_odd_sum(a * b[j], acc[j], mode), &c, mode,
                                    ulp_mode_is_stochastic(mode) ? words[j] : 0u, &beyond);
    return beyond;
}

static uint64_t watched_step(double *acc, double a, const double *b, const ulp_core *core, const uint32_t *words) {
    switch (core->mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: return watched_run(acc, a, b, core, words, id);
        ULP_MODES(CASE)
#undef CASE
    default: return ~(uint64_t)0;
    }
}

/* Adds products to sums: without overflow, and once more with it if a value was out of range. words (k, LANES) in the
 * stochastic modes */
static void serial_products(double *sums, const lanes_products *of, const ulp_core *core, const uint32_t *words) {
    double before[LANES];
    uint64_t beyond = 0;
    memcpy(before, sums, sizeof before);
    if (core->watched) {
        for (size_t k = 0; k < of->k; k++)
            beyond |= watched_step(sums, of->a[k], of->b + k * LANES, core, words + k * LANES);
        if (beyond >> 63 == 0) return;
        memcpy(sums, before, sizeof before);
    }
    for (size_t k = 0; k < of->k; k++) serial_step(sums, of->a[k], of->b + k * LANES, core, words + k * LANES);
}

/* ---- rne ---- */

/* The largest number of significant bits of the binary32 values of an array. */
static int significant_bits(const ulp_job *w, const void *x, size_t rows, size_t width, size_t ld) {
    uint32_t all = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < width; j++) all |= ulp_bits32((float)job_at(w, x, i * ld + j));
    int bits = 24;
    for (uint32_t u = all & 0x7fffffu; bits > 1 && (u & 1u) == 0; u >>= 1) bits--;
    return bits;
}

/* sums (LANES) over k in registers. Returns the largest binade if the range is WATCHED. */
ULP_INLINE uint64_t nearest_run(double *restrict sums, const lanes_products *of, const ulp_nearest *constants,
                                int fused, int range) {
    const ulp_nearest n = *constants;
    const double *restrict a = of->a, *restrict b = of->b;
    const size_t k = of->k;
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
            acc[j] = ulp_nearest64(fused ? fast : ulp_odd_sum(x * y, acc[j], ULP_RNE), &n, range, &peak[j]);
        }
    for (int j = 0; j < LANES; j++) sums[j] = acc[j];
    for (int j = 0; j < LANES; j++) most = peak[j] > most ? peak[j] : most;
    return most;
}

/* X(name, fused, range) */
#define NEAREST(X)                                                                                                     \
    X(fused_watched, 1, ULP_RANGE_WATCHED)                                                                             \
    X(fused_open, 1, ULP_RANGE_OPEN)                                                                                   \
    X(fused_closed, 1, ULP_RANGE_CLOSED)                                                                               \
    X(odd_watched, 0, ULP_RANGE_WATCHED)                                                                               \
    X(odd_open, 0, ULP_RANGE_OPEN)                                                                                     \
    X(odd_closed, 0, ULP_RANGE_CLOSED)
#define FUNCTION(name, fused, range)                                                                                   \
    static uint64_t name(double *sums, const lanes_products *of, const ulp_nearest *n) {                               \
        return nearest_run(sums, of, n, fused, range);                                                                 \
    }
NEAREST(FUNCTION)

typedef uint64_t (*nearest_function)(double *sums, const lanes_products *of, const ulp_nearest *n);

/* ---- the product ---- */

typedef struct work {
    lanes l;
    ulp_core core;
    nearest_function watched, guarded; /* watched finds the largest binade, guarded treats overflow; NULL: core */
    ulp_nearest format;
    size_t every; /* products of a partial sum that joins the total; 0: there is no total */
} work;

/* The sums of LANES outputs: the current partial sums and the totals. */
typedef struct sums {
    double acc[LANES], total[LANES];
} sums;

enum { STEPS = 64 }; /* products whose random words are computed together */

/* Adds products to the sums of row i in a panel. The random words start at `first`. */
static void add_products(const work *w, double *acc, const lanes_products *of, size_t i, size_t panel, uint64_t first) {
    if (w->watched != NULL) {
        double retry[LANES];
        memcpy(retry, acc, sizeof retry);
        if (w->watched(acc, of, &w->format) < ulp_bits64(w->format.most * 0.5)) return;
        w->guarded(retry, of, &w->format);
        memcpy(acc, retry, sizeof retry);
        return;
    }
    const int stochastic = ulp_mode_is_stochastic(w->core.mode);
    uint32_t words[STEPS * LANES];
    for (size_t k = 0, end; k < of->k; k = end) {
        end = of->k - k < STEPS ? of->k : k + STEPS;
        if (stochastic) lanes_words(words, &w->l, i, panel, first + k, end - k);
        serial_products(acc, &(lanes_products){of->a + k, of->b + k * LANES, end - k}, &w->core, words);
    }
}

/* Adds the partial sum of a chunk or of a promotion, which ends after `end` products, to the total and clears the
 * partial sum. */
static void add_to_total(const work *w, sums *to, size_t i, size_t panel, size_t end) {
    if (w->l.job->datapath->promote != 0) {
        lanes_promote(to->total, to->acc);
        return;
    }
    const double one = 1.0;
    double chunk[LANES];
    const lanes_products sum = {&one, chunk, 1};
    memcpy(chunk, to->acc, sizeof chunk);
    add_products(w, to->total, &sum, i, panel, end + (end - 1) / w->every);
    memset(to->acc, 0, sizeof to->acc);
}

/* Adds products k0 .. k1 - 1 of row i and a panel. */
static void advance(const work *w, sums *to, size_t i, size_t panel, size_t k0, size_t k1) {
    const size_t all = w->l.job->s.k, chunk = w->l.job->datapath->kind == ULP_CHUNKED ? w->every : 0;
    for (size_t k = k0, end; k < k1; k = end) {
        end = w->every == 0 || k1 - k < w->every - k % w->every ? k1 : k - k % w->every + w->every;
        const lanes_products products = lanes_products_of(&w->l, i, panel, k, end);
        add_products(w, to->acc, &products, i, panel, chunk == 0 ? k : k + k / chunk);
        if (w->every != 0 && (end % w->every == 0 || end == all)) add_to_total(w, to, i, panel, end);
    }
}

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const size_t all = w->l.job->s.k;
    sums s[MOST_ROWS];
    for (size_t i = begin; i < end; i++) {
        memset(s[i - begin].acc, 0, sizeof s[0].acc);
        lanes_start(w->every != 0 ? s[i - begin].total : s[i - begin].acc, &w->l, i, panel);
    }
    for (size_t k = 0; k < all; k += DEPTH)
        for (size_t i = begin; i < end; i++)
            advance(w, s + (i - begin), i, panel, k, all - k < DEPTH ? all : k + DEPTH);
    for (size_t i = begin; i < end; i++)
        lanes_store(&w->l, i, panel, w->every != 0 ? s[i - begin].total : s[i - begin].acc);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin; i < end; i++) lanes_pack_row(&w->l, i);
    for (size_t panel = 0; panel < lanes_panels(&w->l); panel++) panel_part(w, begin, end, panel);
}

/* Chooses the functions of this job, or leaves NULL if ulp_nearest64 does not round as the rule says. */
static void choose(work *w) {
    const ulp_job *job = w->l.job;
    const ulp_gemm_shape *s = &job->s;
    const int range = s->k == 0 ? ULP_RANGE_WATCHED : nearest_range(&w->format, job);
    if (range == ULP_RANGE_WATCHED) return;
    const int pa = significant_bits(job, job->a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k, s->lda);
    const int pb = significant_bits(job, job->b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n, s->ldb);
    const int fused = ulp_nearest_by_fma(&job->datapath->accumulator, pa, pb);
    w->watched = fused ? fused_watched : odd_watched;
    if (fused) w->guarded = range == ULP_RANGE_OPEN ? fused_open : fused_closed;
    else w->guarded = range == ULP_RANGE_OPEN ? odd_open : odd_closed;
}

ulp_status ULP_CPU(ulp_gemm_serial)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const int chunked = d->kind == ULP_CHUNKED;
    work w = {.l = {.job = job}, .every = chunked ? d->length : d->promote};
    if (!(chunked || (d->kind == ULP_SERIAL && d->length == 1)) || d->has_inputs ||
        !ulp_core_init(&w.core, &d->accumulator, d->rule) || !ulp_core64_decides(&w.core) || !job_fits_binary32(job))
        return ULP_UNSUPPORTED;
    choose(&w);
    const int enough = lanes_room(&w.l);
    if (enough) {
        ulp_parallel_for(lanes_panels(&w.l), 1, lanes_pack_part, &w.l);
        ulp_parallel_for(job->s.m, row_grain(job->s.m), rows_part, &w);
    }
    lanes_free(&w.l);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

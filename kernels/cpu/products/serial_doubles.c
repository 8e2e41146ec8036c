/* serial_doubles.c - products with every partial sum rounded, k ascending: whole, chunked, promoted; lanes are columns.
 *
 * Two methods give equal bits. The fast method rounds vectors of sums in a few instructions (serial_doubles.h) and
 * watches their range. Where the watch finds a value outside the range, or no proof covers the operands, the sums are
 * formed by the other method (serial_any.h).
 */
#include "serial_any.h"
#include "serial_doubles.h"

/* ---- the product ---- */

typedef struct work {
    lanes l;
    ulp_core core;
    lane_format format;
    ulp_nearest nearest;
    int range;           /* of `nearest`; WATCHED: core.h rounds */
    int members;         /* whether the start values are values of the format */
    extent *row, *panel; /* (m), (panels) */
    size_t every;        /* products of a partial sum that joins the total; 0: there is no total */
} work;

/* The fast method for a row and a panel. */
typedef struct fast {
    vector_function products, total; /* NULL: no proof covers the operands */
    limits within;
} fast;

/* The sums of LANES outputs: the current partial sums and the totals. */
typedef struct sums {
    _Alignas(ULP_VECTOR_BYTES) double acc[LANES];
    _Alignas(ULP_VECTOR_BYTES) double total[LANES];
} sums;

enum { STEPS = 64 }; /* products whose random words are computed together */

/* Mode rne: the function and the limits for operands of the extents a and b. */
static fast fast_nearest(const work *w, const extent *a, const extent *b) {
    const ulp_gemm_shape *s = &w->l.job->s;
    const ulp_format *f = &w->l.job->datapath->accumulator;
    const int low = a->low + b->low, top = a->top + b->top;
    const int lowest = s->accumulate || low < f->qmin ? f->qmin : low;
    fast x = {NULL, w->range == ULP_RANGE_CLOSED ? rne_saturated : rne_not_large, {0, watch_limit(w->core.within64)}};
    if (!s->accumulate && sums_fit(top, s->k, 2, f)) x.total = low >= f->qmin ? rne_multiples : rne_small;
    if (!w->members || !f->has_subnormals || f->emax < f->emin) return (fast){0};
    if (ulp_nearest_by_fma(f, a->bits, b->bits) || nearest_by_fused(f, a, b, lowest)) {
        x.products = x.total;
    } else if (nearest_by_fused(f, a, b, top)) {
        x.products = rne_watched;
        x.within.least = watch_limit(ulp_bits64(ulp_scale(1.0, top - 52)));
    }
    return x;
}

/* The other modes. */
static fast fast_toward(const work *w, const extent *a, const extent *b) {
    static const vector_function by_mode[ULP_MODE_COUNT] = {
        [ULP_RNA] = rna_watched, [ULP_RZ] = rz_watched, [ULP_RU] = ru_watched,
        [ULP_RD] = rd_watched,   [ULP_RO] = ro_watched, [ULP_SRA] = sra_watched};
    enum { USUAL = 12, START = -149 }; /* sums are often that many binades below the largest product; see below */
    const ulp_format *f = &w->l.job->datapath->accumulator;
    const int low = w->l.job->s.accumulate && START < a->low + b->low ? START : a->low + b->low;
    const uint32_t exact = watch_limit(ulp_bits64(ulp_scale(1.0, low + 52))), most = watch_limit(w->core.within64);
    const vector_function run = by_mode[w->core.mode];
    if (f->emin > a->top + b->top - USUAL || (w->core.mode == ULP_RD && !f->has_neg_zero) ||
        (w->core.mode == ULP_SRA && f->prec > 21))
        return (fast){0};
    /* sums of multiples of 2^low below 2^(low + 53) are exact */
    return (fast){
        run, run, {watch_limit(ulp_bits64(ulp_scale(1.0, f->emin))), ROUNDS_TOWARD || most < exact ? most : exact}};
}

static fast fast_for(const work *w, size_t i, size_t panel) {
    const ulp_format *f = &w->l.job->datapath->accumulator;
    const extent *a = w->row + i, *b = w->panel + panel;
    const int full = f->max == ulp_scale(2.0 - ulp_scale(1.0, 1 - f->prec), f->emax);
    /* the upper half of a word says whether a value of the format is beyond the largest value */
    if (!a->narrow || !b->narrow || !(full || (uint32_t)w->core.within64 == 0)) return (fast){0};
    return w->core.mode == ULP_RNE ? fast_nearest(w, a, b) : fast_toward(w, a, b);
}

/* Adds products to sums: by the fast function, and by the other method if a sum was out of range. */
static void add_part(const work *w, vector_function run, limits within, double *acc, const lanes_products *of,
                     const uint32_t *words) {
    double before[LANES];
    if (run != NULL) {
        memcpy(before, acc, sizeof before);
        if (run(acc, of, words, &w->format, within)) return;
        memcpy(acc, before, sizeof before);
    }
    add_folded(acc, of, &w->core, &w->nearest, w->range, words);
}

/* Adds products to the sums of row i in a panel. The random words start at `first`. */
static void add_products(const work *w, vector_function run, limits within, double *acc, const lanes_products *of,
                         size_t i, size_t panel, uint64_t first) {
    const int stochastic = ulp_mode_is_stochastic(w->core.mode);
    uint32_t words[STEPS * LANES];
    for (size_t k = 0, end; k < of->k; k = end) {
        end = of->k - k < STEPS ? of->k : k + STEPS;
        if (stochastic) lanes_words(words, w->l.job, i, panel, first + k, end - k);
        add_part(w, run, within, acc, &(lanes_products){of->a + k, of->b + k * LANES, end - k}, words);
    }
}

/* Adds the partial sum of a chunk or of a promotion, which ends after `end` products, to the total and clears the
 * partial sum. */
static void add_to_total(const work *w, const fast *by, sums *to, size_t i, size_t panel, size_t end) {
    if (w->l.job->datapath->promote != 0) {
        lanes_promote(to->total, to->acc);
        return;
    }
    const double one = 1.0;
    _Alignas(ULP_VECTOR_BYTES) double chunk[LANES];
    const lanes_products sum = {&one, chunk, 1};
    memcpy(chunk, to->acc, sizeof chunk);
    add_products(w, by->total, by->within, to->total, &sum, i, panel, end + (end - 1) / w->every);
    memset(to->acc, 0, sizeof to->acc);
}

/* Adds products k0 .. k1 - 1 of row i and a panel. */
static void advance(const work *w, sums *to, size_t i, size_t panel, size_t k0, size_t k1) {
    const size_t all = w->l.job->s.k, chunk = w->l.job->datapath->kind == ULP_CHUNKED ? w->every : 0;
    const fast by = fast_for(w, i, panel);
    for (size_t k = k0, end; k < k1; k = end) {
        end = w->every == 0 || k1 - k < w->every - k % w->every ? k1 : k - k % w->every + w->every;
        const lanes_products products = lanes_products_of(&w->l, i, panel, k, end);
        add_products(w, by.products, by.within, to->acc, &products, i, panel, chunk == 0 ? k : k + k / chunk);
        if (w->every != 0 && (end % w->every == 0 || end == all)) add_to_total(w, &by, to, i, panel, end);
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
    for (size_t i = begin; i < end; i++) {
        lanes_pack_row(&w->l, i);
        w->row[i] = extent_of(w->l.rows + i * w->l.job->s.k, w->l.job->s.k);
    }
    for (size_t panel = 0; panel < lanes_panels(&w->l); panel++) panel_part(w, begin, end, panel);
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t panel = begin; panel < end; panel++) {
        lanes_pack_panel(&w->l, panel);
        w->panel[panel] = extent_of(lanes_panel(&w->l, panel), w->l.job->s.k * LANES);
    }
}

int ULP_CPU(ulp_serves_serial_doubles)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    return (d->kind == ULP_CHUNKED || (d->kind == ULP_SERIAL && d->length == 1)) && !d->has_inputs && lanes_round(d);
}

ulp_status ULP_CPU(ulp_product_serial_doubles)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    work w = {.l = {.job = job}, .every = d->kind == ULP_CHUNKED ? d->length : d->promote};
    if (!ulp_core_init(&w.core, &d->accumulator, d->rule) || !job_fits_binary32(job)) return ULP_UNSUPPORTED;
    w.format = lane_format_of(&d->accumulator, w.core.random);
    w.nearest = ulp_nearest_of(&d->accumulator);
    w.members = starts_are_members(job, &w.nearest, ULP_RANGE_OPEN);
    w.range = w.members ? ulp_nearest_range(&w.nearest, &d->accumulator, d->rule) : ULP_RANGE_OTHER;
    rooms r = {.count = 0};
    lanes_room(&w.l, &r);
    w.row = rooms_take(&r, job->s.m, sizeof *w.row);
    w.panel = rooms_take(&r, lanes_panels(&w.l), sizeof *w.panel);
    if (!r.failed) {
        ulp_parallel_for(lanes_panels(&w.l), 1, pack_part, &w);
        ulp_parallel_for(job->s.m, row_grain(job->s.m), rows_part, &w);
    }
    return rooms_end(&r);
}

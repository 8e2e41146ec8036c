/* serial_floats.c - serial and chunked sums in lanes of binary32: where additions round in a direction, and in mode
 * sra.
 *
 * serial_floats.h rounds the sums, in mode sra stochastic_floats.h. A vector holds twice the sums of serial_doubles.c.
 * Where a sum can be out of range, a watch looks for it, and the sums are formed once more in binary64. Lanes are
 * columns of the result.
 */
#include "stochastic_floats.h"
#include "float_panels.h"
#include "serial_floats.h"

#if defined(MM_HAS_FMA) && defined(MM_HAS_AVX2)

#include "serial_any.h"

typedef struct work {
    float_panels p;
    odd_format odd;
    run_function run; /* NULL: mode sra */
    decided_format decided;
    ulp_core core;
    ulp_nearest nearest;
    int range;    /* of `nearest` */
    size_t every; /* products of a partial sum that joins the total; 0: there is no total */
} work;

/* The sums of a group of rows in a panel. */
typedef struct sums {
    group_sums acc, total;
} sums;

enum { STEPS = 64, FEW_STEPS = 8 }; /* products between two looks at the watch; in mode sra */

/* Adds at most STEPS products to the sums of row r of a group in binary64. words (k, LANES) in mode sra */
static void add_row_again(const work *w, group_sums *to, const odd_products *of, int r, const uint32_t *words) {
    double a[STEPS], b[STEPS * LANES], acc[LANES];
    for (size_t k = 0; k < of->k; k++) a[k] = (double)of->a[r][k];
    for (size_t i = 0; i < of->k * LANES; i++) b[i] = (double)of->b[i];
    for (int j = 0; j < LANES; j++) acc[j] = (double)to->at[r][j];
    add_folded(acc, &(lanes_products){a, b, of->k}, &w->core, &w->nearest, w->range, words);
    for (int j = 0; j < LANES; j++) to->at[r][j] = (float)acc[j];
}

/* Where sums are: row 0 of a group, the panel, and the number of the first random word of these products. */
typedef struct place {
    size_t row, panel;
    uint64_t first;
} place;

/* Adds at most STEPS products to `rows` rows in mode sra. */
static void add_decided(const work *w, group_sums *to, const odd_products *of, place at, size_t rows) {
    _Alignas(ULP_VECTOR_BYTES) uint32_t words[STEPS * LANES];
    for (size_t r = 0; r < rows; r++) {
        odd_products part = *of;
        lanes_words(words, w->p.job, at.row + r, at.panel, at.first, of->k);
        for (size_t k = 0; k < of->k; k += part.k, part.a[r] += part.k, part.b += part.k * LANES) {
            float before[LANES];
            memcpy(before, to->at[r], sizeof before);
            part.k = of->k - k < FEW_STEPS ? of->k - k : FEW_STEPS;
            const decided_products products = {part.a[r], part.b, words + k * LANES, part.k};
            if (decided_run(to->at[r], &products, &w->decided)) continue;
            memcpy(to->at[r], before, sizeof before);
            add_row_again(w, to, &part, (int)r, words + k * LANES);
        }
    }
}

static void add_products(const work *w, group_sums *to, odd_products of, place at, size_t rows) {
    for (size_t left = of.k; left > 0; left -= of.k) {
        of.k = left < STEPS ? left : STEPS;
        if (w->run == NULL) {
            add_decided(w, to, &of, at, rows);
        } else {
            const group_sums before = *to;
            if (!w->run(to, &of, &w->odd)) {
                *to = before;
                for (int r = 0; r < ROWS; r++) add_row_again(w, to, &of, r, NULL);
            }
        }
        for (int r = 0; r < ROWS; r++) of.a[r] += of.k;
        of.b += of.k * LANES;
        at.first += of.k;
    }
}

/* Adds the partial sums of a chunk or of a promotion, which ends after `end` products, to the totals and clears them.
 */
static void add_to_total(const work *w, sums *s, place at, size_t rows, size_t end) {
    static const float one = 1.0f;
    at.first = end + (end - 1) / w->every;
    for (size_t r = 0; r < rows; r++, at.row++) {
        group_sums total = {.at = {{0}}};
        memcpy(total.at[0], s->total.at[r], sizeof total.at[0]);
        if (w->p.job->datapath->promote == 0)
            add_products(w, &total, (odd_products){{&one, &one, &one, &one}, s->acc.at[r], 1}, at, 1);
        else
            for (int j = 0; j < LANES; j++) total.at[0][j] += s->acc.at[r][j];
        memcpy(s->total.at[r], total.at[0], sizeof total.at[0]);
    }
    memset(&s->acc, 0, sizeof s->acc);
}

/* Adds products k0 .. k1 - 1 of a group of rows. The last row takes the place of rows past the end. */
static void advance(const work *w, sums *s, size_t group, size_t panel, size_t k0, size_t k1) {
    const size_t all = w->p.job->s.k, m = w->p.job->s.m, row = group * ROWS, rows = m - row < ROWS ? m - row : ROWS;
    const size_t chunk = w->p.job->datapath->kind == ULP_CHUNKED ? w->every : 0;
    for (size_t k = k0, end; k < k1; k = end) {
        end = w->every == 0 || k1 - k < w->every - k % w->every ? k1 : k - k % w->every + w->every;
        odd_products of = {.b = w->p.packed + (panel * all + k) * LANES, .k = end - k};
        const place at = {row, panel, chunk == 0 ? k : k + k / chunk};
        for (size_t r = 0; r < ROWS; r++) of.a[r] = w->p.rows + (r < rows ? row + r : m - 1) * all + k;
        add_products(w, &s->acc, of, at, rows);
        if (w->every != 0 && (end % w->every == 0 || end == all)) add_to_total(w, s, at, rows, end);
    }
}

/* The sums that start and end as the elements of row i of C. */
static float *outer_row(const work *w, sums *s, size_t i) {
    return w->every != 0 ? s->total.at[i % ROWS] : s->acc.at[i % ROWS];
}

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const size_t m = w->p.job->s.m, all = w->p.job->s.k;
    sums at[MOST_ROWS];
    memset(at, 0, (end - begin) * sizeof *at);
    for (size_t i = begin * ROWS; i < end * ROWS && i < m && w->p.job->s.accumulate; i++)
        float_panels_move(&w->p, outer_row(w, at + (i / ROWS - begin), i), i, panel, 0);
    for (size_t k = 0; k < all; k += DEPTH)
        for (size_t group = begin; group < end; group++)
            advance(w, at + (group - begin), group, panel, k, all - k < DEPTH ? all : k + DEPTH);
    for (size_t i = begin * ROWS; i < end * ROWS && i < m; i++)
        float_panels_move(&w->p, outer_row(w, at + (i / ROWS - begin), i), i, panel, 1);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t m = w->p.job->s.m;
    for (size_t i = begin * ROWS; i < end * ROWS && i < m; i++) float_panels_row(&w->p, i);
    for (size_t panel = 0; panel < w->p.panels; panel++) panel_part(w, begin, end, panel);
}

#if defined(__AVX512F__)
static const run_function watched[ULP_MODE_COUNT] = {
    [ULP_RNE] = rne_watched, [ULP_RNA] = rna_watched, [ULP_RZ] = rz_watched,
    [ULP_RU] = ru_watched,   [ULP_RD] = rd_watched,   [ULP_RO] = ro_watched};
static const run_function small[ULP_MODE_COUNT] = {[ULP_RNE] = rne_small, [ULP_RNA] = rna_small, [ULP_RZ] = rz_small,
                                                   [ULP_RU] = ru_small,   [ULP_RD] = rd_small,   [ULP_RO] = ro_small};

/* Whether serial_floats.h has functions for a mode. */
static int has_functions(uint32_t mode) { return watched[mode] != NULL; }

/* Sets the function and the constants for products below 2^top that are multiples of 2^low, where sums are accepted up
 * to `below.max`. */
static void choose_function(work *w, int top, int low, const ulp_format *below) {
    const ulp_gemm_shape *s = &w->p.job->s;
    const ulp_format *f = &w->p.job->datapath->accumulator;
    const uint32_t mode = w->core.mode;
    const int fits = s->k > 0 && !s->accumulate && sums_fit(top, s->k, 4, below); /* a rounding: at most 2^(1-p) */
    if (fits && mode == ULP_RNE && low >= f->qmin) w->run = rne_multiples;
    else if (fits) w->run = small[mode];
    else if (w->range == ULP_RANGE_CLOSED && f->max < 0x1p100 && !s->accumulate) w->run = rne_saturated; /* loses NaN */
    else w->run = watched[mode];
    w->odd = (odd_format){float_format_of(f, 0), .most = (float)f->max, .limit = ulp_bits32((float)below->max)};
}
#else
static int has_functions(uint32_t mode) {
    (void)mode;
    return 0;
}
static void choose_function(const work *w, int top, int low, const ulp_format *below) {
    (void)w, (void)top, (void)low, (void)below;
}
#endif

/* Sets the function and the constants for the operands of a job. 0: these lanes do not serve the operands. */
static int choose(work *w) {
    enum { TOP = 100 }; /* products and accepted sums are below 2^TOP */
    const ulp_format *f = &w->p.job->datapath->accumulator;
    const extent a = matrix_extent(w->p.job, matrix_a(w->p.job)), b = matrix_extent(w->p.job, matrix_b(w->p.job));
    const int top = a.top + b.top, low = a.low + b.low;
    w->nearest = ulp_nearest_of(f);
    w->range = ulp_nearest_range(&w->nearest, f, w->p.job->datapath->rule);
    ulp_format below = *f;
    if (below.max > 0x1p100) below.max = 0x1p100;
    if (!a.narrow || !b.narrow || top >= TOP || !starts_are_members(w->p.job, &w->nearest, ULP_RANGE_OPEN)) return 0;
    w->run = NULL;
    if (w->core.mode == ULP_SRA) return decided_format_of(&w->decided, f, w->core.random, top, low, below.max);
    choose_function(w, top, low, &below);
    return 1;
}

int ULP_CPU(ulp_serves_serial_floats)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    return (d->kind == ULP_CHUNKED || (d->kind == ULP_SERIAL && d->length == 1)) && !d->has_inputs && job->s.m > 1 &&
           f->prec <= 22 && f->fits_binary32 && f->emin >= -126 && f->has_subnormals && f->emax >= f->emin &&
           lanes_round(d) &&
           (d->rule.mode == ULP_SRA ? f->has_neg_zero || !job->s.accumulate /* a sum of zeros would be -0 */
                                    : has_functions(d->rule.mode));
}

ulp_status ULP_CPU(ulp_product_serial_floats)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    work w = {.p = {.job = job}, .every = d->kind == ULP_CHUNKED ? d->length : d->promote};
    if (!ulp_core_init(&w.core, &d->accumulator, d->rule) || !job_fits_binary32(job) || !choose(&w))
        return ULP_UNSUPPORTED;
    const size_t groups = (job->s.m + ROWS - 1) / ROWS;
    rooms r = {.count = 0};
    float_panels_room(&w.p, &r);
    if (!r.failed) {
        ulp_parallel_for(w.p.panels, 1, float_panels_pack, &w.p);
        ulp_parallel_for(groups, row_grain(groups), rows_part, &w);
    }
    return rooms_end(&r);
}

#else

ULP_PATH_ABSENT(serial_floats)

#endif

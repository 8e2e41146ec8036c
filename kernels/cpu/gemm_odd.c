/* gemm_odd.c - serial and chunked sums in mode rne, in lanes of binary32, where additions round in a direction.
 *
 * A sum acc + a b that is rounded to odd with 24 bits rounds to a format of at most 22 bits like the exact sum (Boldo
 * and Melquiond 2008, doi:10.1109/TC.2007.70819). It needs no proof for the operands, and a vector holds twice the sums
 * of gemm_serial.c. Sums rounded down and up have the odd one where they differ. An anchor, whose last place is the
 * quantum, rounds the odd sum. Where a sum can be too large, a watch looks for it, and the sums are formed once more in
 * binary64. Lanes are columns of the result.
 */
#include "lanes.h"

#if defined(__AVX512F__)

enum { ROWS = 4, WORDS = ULP_VECTOR_BYTES / 4, VECTORS = LANES / WORDS };

typedef float vfloat __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef uint32_t vword __attribute__((vector_size(ULP_VECTOR_BYTES)));

/* What is known of the sums: none is too large; the same, and all are multiples of the least quantum; large sums are
 * saturated; the watch is to find out whether one is too large. */
enum { SMALL, MULTIPLES, SATURATED, WATCHED };

/* The constants of a format: the word of 2^emin, the word that turns a binade into its anchor, the sign bit if zeros
 * keep their sign, the largest value, and twice the word of the largest magnitude that the watch accepts. */
typedef struct narrow_format {
    uint32_t least, anchor, signs;
    float most;
    uint32_t limit;
} narrow_format;

/* Products of ROWS rows of A, (k) each, and a panel of B (k, LANES). */
typedef struct narrow_products {
    const float *a[ROWS], *b;
    size_t k;
} narrow_products;

typedef struct group_sums {
    _Alignas(ULP_VECTOR_BYTES) float at[ROWS][LANES];
} group_sums;

/* ---- vectors ---- */

/* a b + acc rounded to odd. */
ULP_INLINE vfloat odd_sum(vfloat a, vfloat b, vfloat acc) {
    const __m512 x = (__m512)a, y = (__m512)b, z = (__m512)acc;
    const __m512 down = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 up = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
    return (vfloat)_mm512_mask_blend_ps(odd, up, down); /* an exact sum is both */
}

ULP_INLINE vword larger_words(vword a, vword b) { return (vword)_mm512_max_epu32((__m512i)a, (__m512i)b); }

ULP_INLINE vfloat round_odd(vfloat x, const narrow_format *f, int range) {
    vword binade = (vword)x & 0x7f800000u;
    if (range != MULTIPLES) binade = larger_words(binade, (vword){0} + f->least);
    const vfloat anchor = (vfloat)(binade + f->anchor);
    vfloat y = (x + anchor) - anchor;
    if (range == MULTIPLES) return y;
    y = (vfloat)((vword)y | ((vword)x & f->signs));
    if (range != SATURATED) return y;
    return (vfloat)_mm512_range_ps((__m512)y, _mm512_set1_ps(f->most), 2); /* the smaller magnitude, the sign of y */
}

/* Adds products to the sums of a group. Returns 0 if a sum was too large; then the sums are of no use. `range` is a
 * constant. */
ULP_INLINE int run(group_sums *sums, const narrow_products *of, const narrow_format *format, int range) {
    const narrow_format f = *format;
    vfloat acc[ROWS][VECTORS];
    vword most = {0};
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < VECTORS; v++) acc[r][v] =
        *(const vfloat *)(const void *)(sums->at[r] + v * WORDS);
    for (size_t k = 0; k < of->k; k++) {
        const vfloat *b = (const vfloat *)(const void *)(of->b + k * LANES);
        UNROLLED for (int r = 0; r < ROWS; r++) {
            const vfloat a = of->a[r][k] - (vfloat){0}; /* the sign of a zero stays */
            UNROLLED for (int v = 0; v < VECTORS; v++) {
                acc[r][v] = round_odd(odd_sum(a, b[v], acc[r][v]), &f, range);
                if (range == WATCHED) most = larger_words(most, (vword)acc[r][v] + (vword)acc[r][v]);
            }
        }
    }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < VECTORS; v++) *
        (vfloat *)(void *)(sums->at[r] + v * WORDS) = acc[r][v];
    uint32_t all = 0;
    for (int i = 0; i < WORDS; i++) all = most[i] > all ? most[i] : all;
    return all <= f.limit;
}

typedef int (*run_function)(group_sums *sums, const narrow_products *of, const narrow_format *format);

static int run_small(group_sums *s, const narrow_products *of, const narrow_format *f) { return run(s, of, f, SMALL); }
static int run_multiples(group_sums *s, const narrow_products *of, const narrow_format *f) {
    return run(s, of, f, MULTIPLES);
}
static int run_saturated(group_sums *s, const narrow_products *of, const narrow_format *f) {
    return run(s, of, f, SATURATED);
}
static int run_watched(group_sums *s, const narrow_products *of, const narrow_format *f) {
    return run(s, of, f, WATCHED);
}

/* ---- the product ---- */

typedef struct work {
    const ulp_job *job;
    size_t panels;
    float *packed, *rows; /* B as panels of (k, LANES), zero-padded; A (m, k) */
    narrow_format format;
    run_function run;
    ulp_nearest nearest;
    int range;    /* of `nearest` */
    size_t every; /* products of a partial sum that joins the total; 0: there is no total */
} work;

/* The sums of a group of rows in a panel. */
typedef struct sums {
    group_sums acc, total;
} sums;

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_gemm_shape *s = &w->job->s;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
        float *to = w->packed + panel * s->k * LANES;
        for (size_t k = 0; k < s->k; k++, to += LANES) {
            if (width < LANES) memset(to, 0, LANES * sizeof *to);
            if (!w->job->wide && !s->b_trans)
                memcpy(to, (const float *)w->job->b + b_index(w->job, k, j0), width * sizeof *to);
            else
                for (size_t j = 0; j < width; j++) to[j] = (float)job_at(w->job, w->job->b, b_index(w->job, k, j0 + j));
        }
    }
}

/* Adds products in binary64, where the odd sums have 53 bits. */
static void add_again(const work *w, group_sums *to, const narrow_products *of) {
    for (int r = 0; r < ROWS; r++) {
        double acc[LANES];
        for (int j = 0; j < LANES; j++) acc[j] = (double)to->at[r][j];
        for (size_t k = 0; k < of->k; k++)
            for (int j = 0; j < LANES; j++) {
                const double sum =
                    ulp_odd_sum((double)of->a[r][k] * (double)of->b[k * LANES + (size_t)j], acc[j], ULP_RNE);
                acc[j] = ulp_nearest64(sum, &w->nearest, w->range);
            }
        for (int j = 0; j < LANES; j++) to->at[r][j] = (float)acc[j];
    }
}

enum { STEPS = 64 }; /* products between two looks at the watch */

static void add_products(const work *w, group_sums *to, narrow_products of) {
    for (size_t left = of.k; left > 0; left -= of.k) {
        of.k = left < STEPS ? left : STEPS;
        const group_sums before = *to;
        if (!w->run(to, &of, &w->format)) {
            *to = before;
            add_again(w, to, &of);
        }
        for (int r = 0; r < ROWS; r++) of.a[r] += of.k;
        of.b += of.k * LANES;
    }
}

/* Adds the partial sums of a chunk or of a promotion to the totals and clears them. */
static void add_to_total(const work *w, sums *s) {
    static const float one = 1.0f;
    for (int r = 0; r < ROWS; r++) {
        group_sums total = {.at = {{0}}};
        memcpy(total.at[0], s->total.at[r], sizeof total.at[0]);
        if (w->job->datapath->promote == 0)
            add_products(w, &total, (narrow_products){{&one, &one, &one, &one}, s->acc.at[r], 1});
        else
            for (int j = 0; j < LANES; j++) total.at[0][j] += s->acc.at[r][j];
        memcpy(s->total.at[r], total.at[0], sizeof total.at[0]);
    }
    memset(&s->acc, 0, sizeof s->acc);
}

/* Adds products k0 .. k1 - 1 of a group of rows. The last row takes the place of rows past the end. */
static void advance(const work *w, sums *s, size_t group, size_t panel, size_t k0, size_t k1) {
    const size_t all = w->job->s.k, m = w->job->s.m;
    for (size_t k = k0, end; k < k1; k = end) {
        end = w->every == 0 || k1 - k < w->every - k % w->every ? k1 : k - k % w->every + w->every;
        narrow_products of = {.b = w->packed + (panel * all + k) * LANES, .k = end - k};
        for (size_t r = 0, i = group * ROWS; r < ROWS; r++, i++) of.a[r] = w->rows + (i < m ? i : m - 1) * all + k;
        add_products(w, &s->acc, of);
        if (w->every != 0 && (end % w->every == 0 || end == all)) add_to_total(w, s);
    }
}

/* Reads the start values of row i into sums (LANES), or stores the sums as the result. */
static void move_row(const work *w, float *at, size_t i, size_t panel, int store) {
    const ulp_gemm_shape *s = &w->job->s;
    const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
    for (size_t j = 0; j < width; j++) {
        const size_t place = i * s->ldc + j0 + j;
        if (!store) at[j] = (float)job_at(w->job, w->job->c, place);
        else if (w->job->wide) ((double *)w->job->c)[place] = at[j] == at[j] ? (double)at[j] : ulp_quiet_nan();
        else ((float *)w->job->c)[place] = canonical(at[j]);
    }
}

/* The sums that start and end as the elements of row i of C. */
static float *outer_row(const work *w, sums *s, size_t i) {
    return w->every != 0 ? s->total.at[i % ROWS] : s->acc.at[i % ROWS];
}

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const size_t m = w->job->s.m, all = w->job->s.k;
    sums at[MOST_ROWS];
    memset(at, 0, (end - begin) * sizeof *at);
    for (size_t i = begin * ROWS; i < end * ROWS && i < m && w->job->s.accumulate; i++)
        move_row(w, outer_row(w, at + (i / ROWS - begin), i), i, panel, 0);
    for (size_t k = 0; k < all; k += DEPTH)
        for (size_t group = begin; group < end; group++)
            advance(w, at + (group - begin), group, panel, k, all - k < DEPTH ? all : k + DEPTH);
    for (size_t i = begin * ROWS; i < end * ROWS && i < m; i++)
        move_row(w, outer_row(w, at + (i / ROWS - begin), i), i, panel, 1);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t m = w->job->s.m, all = w->job->s.k;
    for (size_t i = begin * ROWS; i < end * ROWS && i < m; i++)
        for (size_t k = 0; k < all; k++) w->rows[i * all + k] = (float)job_at(w->job, w->job->a, a_index(w->job, i, k));
    for (size_t panel = 0; panel < w->panels; panel++) panel_part(w, begin, end, panel);
}

/* Sets the function and the constants for the operands of a job. 0: these lanes do not serve. */
static int choose(work *w) {
    enum { TOP = 100 }; /* products and accepted sums are below 2^TOP: no anchor overflows */
    const ulp_gemm_shape *s = &w->job->s;
    const ulp_format *f = &w->job->datapath->accumulator;
    const extent a = array_extent(w->job, w->job->a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k, s->lda);
    const extent b = array_extent(w->job, w->job->b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n, s->ldb);
    const int top = a.top + b.top, full = f->max == ulp_scale(2.0 - ulp_scale(1.0, 1 - f->prec), f->emax);
    ulp_format below = *f;
    if (below.max > 0x1p100) below.max = 0x1p100;
    if (!a.narrow || !b.narrow || top >= TOP || f->emin < -126 || !(full || w->range == ULP_RANGE_CLOSED)) return 0;
    if (s->k > 0 && !s->accumulate && sums_fit(top, s->k, 2, &below))
        w->run = a.low + b.low >= f->qmin ? run_multiples : run_small;
    else w->run = w->range == ULP_RANGE_CLOSED && f->max < 0x1p100 ? run_saturated : run_watched;
    w->format = (narrow_format){.least = ulp_bits32((float)ulp_scale(1.0, f->emin)),
                                .anchor = (24u - f->prec) << 23 | 1u << 22,
                                .signs = f->has_neg_zero ? 1u << 31 : 0,
                                .most = (float)f->max,
                                .limit = 2 * ulp_bits32((float)below.max)};
    return 1;
}

ulp_status ULP_CPU(ulp_gemm_odd)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const int chunked = d->kind == ULP_CHUNKED;
    work w = {.job = job, .panels = (job->s.n + LANES - 1) / LANES, .every = chunked ? d->length : d->promote};
    if (!(chunked || (d->kind == ULP_SERIAL && d->length == 1)) || d->has_inputs || d->accumulator.prec > 22 ||
        !d->accumulator.fits_binary32 || !job_fits_binary32(job))
        return ULP_UNSUPPORTED;
    w.range = nearest_range(&w.nearest, job);
    if (w.range == ULP_RANGE_OTHER || !choose(&w)) return ULP_UNSUPPORTED;
    const size_t groups = (job->s.m + ROWS - 1) / ROWS;
    w.packed = ULP_CPU(ulp_gemm_room)(w.panels * job->s.k * LANES, sizeof *w.packed);
    w.rows = ULP_CPU(ulp_gemm_room)(job->s.m * job->s.k, sizeof *w.rows);
    const int enough = w.packed != NULL && w.rows != NULL;
    if (enough) {
        ulp_parallel_for(w.panels, 1, pack_part, &w);
        ulp_parallel_for(groups, row_grain(groups), rows_part, &w);
    }
    free(w.rows);
    free(w.packed);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

#else

ulp_status ULP_CPU(ulp_gemm_odd)(const ulp_job *job) {
    (void)job;
    return ULP_UNSUPPORTED;
}

#endif

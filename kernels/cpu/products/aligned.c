/* aligned.c - the product on rows with aligned sums, those of Tensor Cores, CDNA3 and RISC-V: packing, blocks, and
 * the scalar definition for special data.
 *
 * The lanes are columns of the result. Blocks of ROWS x WIDTH outputs go through k together (aligned.h). Packing finds
 * special values and the range of the exponents. If the range can be too large for the lanes, or there are special
 * values, each step of the block is watched: the scalar definition computes a step that holds special values or an
 * exponent out of range.
 */
#include "gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if (defined(__GNUC__) || defined(__clang__)) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include "aligned_pack.h"

/* The bound of a sum of n aligned products and c, in units of 2^(Emax - F). */
static double largest_sum(const ulp_datapath *d, int n) {
    const double a = 2.0 - ldexp(1.0, 1 - d->a.prec), b = 2.0 - ldexp(1.0, 1 - d->b.prec);
    return ldexp(n * a * b + 2.0, d->fused.fraction);
}

static int kind_of(const ulp_datapath *d) {
    if (d->fused.join != 0) return ONE_SIDED;
    if (d->fused.c_last) return ODD;
    return d->fused.late ? LATE : (d->scale_block != 0 ? SCALED : PLAIN);
}

/* Whether the sums of a row have a size. */
static int has_size(const ulp_datapath *d, int size) {
    const int n = d->fused.length;
    const double c = ldexp(2.0, d->fused.fraction);
    if (kind_of(d) == ODD) return largest_sum(d, size == FITS_FOUR ? 4 : n) - c < 0x1p31;
    if (kind_of(d) == ONE_SIDED) return largest_sum(d, n) < 0x1p30;
    if (size != FITS_TWO) return largest_sum(d, n) <= (size == FITS_FLOAT ? 0x1p24 : 0x1p31);
    return largest_sum(d, 16) - c < 0x1p31 && largest_sum(d, n - 16) <= 0x1p31;
}

/* The function of aligned_runs.h for a row. NULL if there is none. */
static run_function run_for(const ulp_datapath *d, int care) {
    const int n = d->fused.length, span = n % 16 == 0 ? 16 : n, narrow = d->accumulator.prec < 24;
#define MATCH(name, kind_, span_, narrow_, size)                                                                       \
    if (kind_of(d) == kind_ && span == span_ && narrow == narrow_ && has_size(d, size))                                \
        return care == WATCHED ? name##_watched : care == FAR ? name##_far : name##_near;
    RUNS(MATCH)
    return NULL;
}

/* Whether sums are cut to fewer bits than a result has, which only the watched functions do for longer sums. */
static int only_watched_cuts(const ulp_datapath *d) {
    const int short_sums = kind_of(d) == PLAIN && d->fused.length % 16 == 0 && has_size(d, FITS_FLOAT);
    return d->fused.kept < 23 && d->accumulator.prec == 24 && !short_sums;
}

/* The care of blocks whose steps are all computed by the scalar definition. */
enum { BY_DEFINITION = CARES };

/* Whether a product can be so far below Emax that its multiple by 2^(F - Emax) is zero in binary32, or the product
 * itself. A truncated product is zero then, but one that is rounded to odd is not. Operands have at most 8 bits, so a
 * product of subnormal operands is at least 2^-14 times its least exponent. */
static int loses_odd_products(const plan *p, const range *a, const range *b) {
    enum { LEAST = -149 + 14 };
    if (a->empty || b->empty) return 0;
    const int least = a->least + b->least, most = a->most + b->most;
    return least < LEAST || least + p->fraction - most < LEAST;
}

/* The care that the steps of a block need; all steps of a row with block scales are watched. start: the range of the
 * sums before the first product. Without a watch, Emax is plan.lowest or more, or all terms are zero: a sum that is not
 * zero is a multiple of the least unit of an earlier step. |a b| < 2^most, and roundings to binary16 enlarge a sum by
 * 2^-11 of it at most. */
static int care_of(const work *w, const range *a, const range *b, const range *start) {
    const ulp_datapath *d = w->job->datapath;
    const int empty = a->empty || b->empty, narrow = d->accumulator.prec < 24;
    const int least = empty ? w->plan.least : a->least + b->least, most = empty ? w->plan.least : a->most + b->most + 2;
    const int sum = most + w->log_k,
              largest = sum > start->most + 1 ? sum : start->most + 1; /* |c| < 2^(largest + 1) */
    if (kind_of(d) == ODD && loses_odd_products(&w->plan, a, b)) return BY_DEFINITION;
    const int fits = narrow ? largest < 15 && w->steps <= 1024 / 3 : largest <= HIGHEST;
    if (d->scale_block != 0 || a->special || b->special || start->special || least < w->plan.least ||
        start->least < w->plan.least || !fits || w->cuts)
        return WATCHED;
    return largest <= d->fused.fraction ? NEAR : FAR;
}

/* Computes one step of all outputs of a block by the scalar definition. */
static void step_by_definition(const work *w, float *c, const rows *r, size_t block, size_t panel, size_t at) {
    const ulp_datapath *d = w->job->datapath;
    const ulp_gemm_shape *s = &w->job->s;
    const size_t i0 = block * ROWS, count = s->m - i0 < ROWS ? s->m - i0 : ROWS;
    const size_t j0 = panel * WIDTH, width = s->n - j0 < WIDTH ? s->n - j0 : WIDTH;
    const float *pa = r->a + at * d->step * ROWS, *pb = w->b + (panel * w->padded + at * d->step) * WIDTH;
    const size_t n = s->k - at * d->step < d->step ? s->k - at * d->step : d->step;
    double a[ULP_STEP_MAX], b[ULP_STEP_MAX];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++) {
            for (size_t k = 0; k < n; k++) {
                a[k] = (double)pa[place(d, k) * ROWS + i];
                b[k] = (double)pb[place(d, k) * WIDTH + j];
            }
            const double sa = s->a_scales == NULL ? 1.0 : (double)s->a_scales[(i0 + i) * w->steps + at];
            const double sb = s->b_scales == NULL ? 1.0 : (double)s->b_scales[(j0 + j) * w->steps + at];
            float *at_c = c + i * WIDTH + j;
            *at_c = (float)ulp_sum_fused(d, (double)*at_c, &(ulp_products){a, b, n, &sa, &sb});
        }
}

/* ---- the product ---- */

static plan plan_of(const ulp_datapath *d) {
    enum { LOWEST = -100, ONE_SIDED_LOWEST = -90, ONE_SIDED_LEAST = -80 };
    const ulp_fused *f = &d->fused;
    const int core = f->join == 0 && !f->c_last, guard = f->join - f->fraction;
    plan p = {.length = f->length, .fraction = f->fraction, .emin = d->accumulator.emin};
    p.lowest = core ? LOWEST : ONE_SIDED_LOWEST; /* units of one-sided and odd sums are 2^-32 and 2^-27 of 2^Emax */
    p.least = core ? LOWEST : ONE_SIDED_LEAST;   /* their multiples are multiples of 2^(lowest - F) */
    p.floor = f->floor > p.lowest ? f->floor : p.lowest;
    p.keep = (int32_t)(0xffffffffu << (23 - f->kept));
    p.kept_rest = guard > 0 && guard <= GUARD ? (LOW_BITS << GUARD) - (1 << (GUARD - guard)) : 0;
    p.grain = -(float)ulp_scale(1.0, GUARD - f->normal);
    p.least_c = f->c_cut ? 0.5f : 0.0f;
    return p;
}

/* One number for each output of a block of ROWS x WIDTH. */
typedef union outputs {
    vfloat v[ROWS][HALVES];
    float f[ROWS * WIDTH];
} outputs;

static void clear(outputs *c) {
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) c->v[r][h] = (vfloat){0};
}

/* The sums of a block. */
typedef struct sums {
    outputs now, total; /* the current sums, and the promoted sums */
    int care;
} sums;

/* Computes steps first .. last - 1 of a block. */
static void advance(const work *w, sums *s, size_t block, size_t panel, size_t first, size_t last) {
    const ulp_datapath *d = w->job->datapath;
    const rows r = rows_at(w, block);
    const range *ra = r.range, *rb = &w->b_range[panel];
    const int reach = ra->most - ra->least + rb->most - rb->least; /* the largest distance of a product */
    const size_t every = d->promote / d->step;                     /* steps from one promotion to the next */
    for (size_t at = first; at < last;) {
        const size_t k = at * d->step, b = (panel * w->padded + k) * WIDTH;
        size_t left = last - at; /* steps to `last` or to the next promotion */
        if (every != 0 && left > every - at % every) left = every - at % every;
        const operands o = {.a = r.a + k * ROWS,
                            .b = w->b + b,
                            .a_distance = r.distance + k * ROWS,
                            .b_distance = w->b_distance + 2 * b,
                            .a_scale = r.scale + at * ROWS,
                            .b_scale = w->b_scale + (panel * w->steps + at) * WIDTH,
                            .a_special = r.special + at,
                            .b_special = w->b_special + panel * w->steps + at,
                            .count = left,
                            .top = ra->most + rb->most + 127,
                            .zero = reach < FARTHEST ? ABSENT : TOO_LOW};
        const size_t done = s->care == BY_DEFINITION ? 0 : w->run[s->care](s->now.v, o, &w->plan);
        at += done;
        if (done < left) step_by_definition(w, s->now.f, &r, block, panel, at++);
        if (every != 0 && (at % every == 0 || at == w->steps))
            for (size_t i = 0; i < ROWS * WIDTH; i++) {
                s->total.f[i] += s->now.f[i];
                s->now.f[i] = 0.0f;
            }
    }
}

enum { DEPTH = 1024, MOST_BLOCKS = 16 }; /* about DEPTH products of a panel fit the second-level cache */

/* The sums that start and end as the elements of C. */
ULP_INLINE float *outer_sums(const work *w, sums *s) { return w->job->datapath->promote != 0 ? s->total.f : s->now.f; }

/* Stores the first `width` of WIDTH results. */
ULP_INLINE void put_row(float *restrict to, const float *restrict from, size_t width) {
    if (width == WIDTH)
        for (size_t j = 0; j < WIDTH; j++) to[j] = canonical(from[j]);
    else
        for (size_t j = 0; j < width; j++) to[j] = canonical(from[j]);
}

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const ulp_gemm_shape *s = &w->job->s;
    const size_t j0 = panel * WIDTH, width = s->n - j0 < WIDTH ? s->n - j0 : WIDTH,
                 depth = DEPTH / w->job->datapath->step;
    sums blocks[MOST_BLOCKS];
    for (size_t i = 0; i < end - begin; i++) {
        clear(&blocks[i].now);
        if (w->job->datapath->promote != 0) clear(&blocks[i].total);
    }
    float *out = (float *)w->job->c + j0;
    for (size_t i = begin * ROWS; i < end * ROWS && i < s->m && s->accumulate; i++)
        for (size_t j = 0; j < width; j++)
            outer_sums(w, &blocks[i / ROWS - begin])[i % ROWS * WIDTH + j] = out[i * s->ldc + j];
    for (size_t block = begin; block < end; block++) {
        sums *to = &blocks[block - begin];
        const range start =
            s->accumulate ? range_of(to->now.f, ROWS * WIDTH, -127) : (range){INT16_MAX, INT16_MIN, 0, 1};
        to->care = care_of(w, rows_at(w, block).range, &w->b_range[panel], &start);
    }
    for (size_t at = 0; at < w->steps; at += depth)
        for (size_t block = begin; block < end; block++)
            advance(w, &blocks[block - begin], block, panel, at, w->steps - at < depth ? w->steps : at + depth);
    for (size_t i = begin * ROWS; i < end * ROWS && i < s->m; i++) {
        const float *from = outer_sums(w, &blocks[i / ROWS - begin]) + i % ROWS * WIDTH;
        put_row(out + i * s->ldc, from, width);
    }
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t block = begin; block < end; block++) {
        const rows r = rows_at(w, block);
        pack_rows(w, &r, block * ROWS);
    }
    for (size_t panel = 0; panel < w->panels; panel++) panel_part(w, begin, end, panel);
}

/* Whether aligned_one_sided.h computes the row. */
static int is_one_sided(const ulp_fused *f) {
    const int lengths = f->parts == 1 ? f->length == 4 || f->length == 8 : f->length == 16,
              guard = f->join - f->fraction;
    return lengths && f->fraction == 24 && guard > 1 && guard <= GUARD && f->normal >= 24 && f->normal <= f->join &&
           f->signed_zero && f->align == ULP_RZ && f->output == ULP_RNE && f->zero_c == -126;
}

/* Whether aligned_odd.h computes the row. */
static int is_odd(const ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    return (f->length == 8 || f->length == 16) && f->align == ULP_RO && f->output == ULP_RO && !f->signed_zero &&
           f->zero_c == ULP_NO_EXPONENT && f->floor == ULP_NO_EXPONENT && d->a_prec <= 8 && d->b_prec <= 8 &&
           f->fraction >= 16 && f->fraction <= 27;
}

/* Whether aligned_fused.h computes the row. */
static int is_core(const ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    const int half = d->accumulator.prec == 11 && d->accumulator.emin == -14 && f->kept == 10 && f->output == ULP_RNE;
    const int single = d->accumulator.prec == 24 && d->accumulator.emin == -126 && f->output == ULP_RZ;
    return f->align == ULP_RZ && (half || single) && f->zero_c == ULP_NO_EXPONENT && !f->signed_zero &&
           f->fraction <= 25 && f->floor <= 0;
}

int ULP_CPU(ulp_serves_aligned)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_fused *f = &d->fused;
    const int simple = d->accumulator.prec == 24 && d->accumulator.emin == -126 && d->accumulator.emax == 127 &&
                       f->kept == 23 && d->scale_block == 0 && d->promote == 0;
    const int by_kind = f->join != 0 ? simple && is_one_sided(f) : f->c_last ? simple && is_odd(d) : is_core(d);
    return !job->wide && d->kind == ULP_ALIGNED && d->a_prec <= 11 && d->b_prec <= 11 && f->group == 0 &&
           f->zero_operand == ULP_NO_EXPONENT && f->zero_product == ULP_NO_EXPONENT && by_kind &&
           run_for(d, WATCHED) != NULL;
}

ulp_status ULP_CPU(ulp_product_aligned)(const ulp_job *job) {
    work w = {.job = job, .plan = plan_of(job->datapath)};
    for (int care = 0; care < CARES; care++) w.run[care] = run_for(job->datapath, care);
    w.steps = (job->s.k + job->datapath->step - 1) / job->datapath->step;
    w.padded = w.steps * job->datapath->step;
    w.panels = (job->s.n + WIDTH - 1) / WIDTH;
    while ((size_t)1 << w.log_k < w.padded) w.log_k++;
    w.cuts = only_watched_cuts(job->datapath);
    rooms r = {.count = 0};
    const size_t n = w.panels * w.padded * WIDTH, scales = w.panels * w.steps * WIDTH;
    w.b = rooms_take(&r, n, sizeof *w.b);
    w.b_distance = rooms_take(&r, 2 * n, 1);
    w.b_scale = rooms_take(&r, scales, sizeof *w.b_scale);
    w.b_special = rooms_take(&r, w.panels * w.steps, 1);
    w.b_range = rooms_take(&r, w.panels, sizeof *w.b_range);
    const size_t blocks = (job->s.m + ROWS - 1) / ROWS;
    w.a_bytes = (ROOM_OF_RANGE * sizeof(float) + w.padded * ROWS * (sizeof(float) + 1) +
                 w.steps * (ROWS * sizeof(int16_t) + 1) + 63) /
                64 * 64;
    w.a = rooms_take(&r, blocks, w.a_bytes);
    if (!r.failed) {
        ulp_parallel_for(w.panels, 1, pack_part, &w);
        ulp_parallel_for(blocks, row_grain(blocks), rows_part, &w);
    }
    return rooms_end(&r);
}

#else

ULP_PATH_ABSENT(aligned)

#endif

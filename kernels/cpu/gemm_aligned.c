/* gemm_aligned.c - the product on Tensor Core rows: packing, blocks, and the scalar definition for special data.
 *
 * The lanes are columns of the result. Blocks of ROWS x WIDTH outputs go through k together (aligned.h). The scalar
 * definition computes a step of a block if the step holds special values or an exponent is out of range. Packing a
 * panel finds special values; aligned.h finds exponents out of range.
 */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

#if (defined(__GNUC__) || defined(__clang__)) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include "aligned.h"

typedef struct work {
    const ulp_job *job;
    size_t padded; /* k rounded up to whole steps */
    size_t steps, panels;
    float *b;            /* (panels, padded, WIDTH), in the order of the summation, zero-padded */
    int16_t *b_exponent; /* (panels, padded, WIDTH) */
    int16_t *b_scale;    /* (panels, steps, WIDTH), exponents of the block scales */
    uint8_t *b_special;  /* (panels, steps) */
    char *a;             /* blocks for the arrays of `struct rows`, of a_bytes each */
    size_t a_bytes;
} work;

/* ---- packing ---- */

/* The place of column j among the floats of a panel. */
ULP_INLINE size_t lane(size_t j) { return j % HALVES * LANES + j / HALVES; }

/* The place of product k in the order of the summation: fp8 on fp16 units adds k = 0, 1 (mod 4) first. */
static size_t place(const ulp_datapath *d, size_t k) {
    if (!d->fused.late) return k;
    const size_t at = k % d->step, half = at / 2 % 2;
    return k - at + half * d->fused.length + at / 4 * 2 + at % 2;
}

/* The exponent of x in the alignment. emin is -126 or more. */
ULP_INLINE int16_t exponent_of(float x, int32_t emin) {
    const uint32_t a = ulp_bits32(x) & 0x7fffffffu;
    const int32_t e = (int32_t)(a >> 23) - 127, at_least = e > emin ? e : emin;
    return (int16_t)(a == 0 ? SKIPPED : at_least);
}

ULP_INLINE uint32_t is_special(float x) { return (uint32_t)((ulp_bits32(x) & 0x7f800000u) == 0x7f800000u); }

/* The exponent of a block's scale, 0 in a datapath without scales. A NaN scale makes the block special. */
static int16_t scale_of(const float *scales, size_t at, const ulp_datapath *d, uint8_t *special) {
    if (d->scale_block == 0 || scales == NULL) return 0;
    if (is_special(scales[at])) {
        *special = 1;
        return 0;
    }
    return (int16_t)ulp_term_of((double)scales[at], 1, d->scale.emin).e;
}

/* Sets the exponents of x (n). Returns whether an element is special. */
ULP_INLINE uint8_t find_exponents(int16_t *restrict exponent, const float *restrict x, size_t n, int32_t emin) {
    uint32_t special = 0;
    for (size_t i = 0; i < n; i++) {
        exponent[i] = exponent_of(x[i], emin);
        special |= is_special(x[i]);
    }
    return (uint8_t)special;
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_datapath *d = w->job->datapath;
    const ulp_gemm_shape *s = &w->job->s;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t j0 = panel * WIDTH, width = s->n - j0 < WIDTH ? s->n - j0 : WIDTH;
        float *b = w->b + panel * w->padded * WIDTH;
        int16_t *e = w->b_exponent + panel * w->padded * WIDTH, *scale = w->b_scale + panel * w->steps * WIDTH;
        uint8_t *special = w->b_special + panel * w->steps;
        memset(b, 0, w->padded * WIDTH * sizeof *b);
        memset(scale, 0, w->steps * WIDTH * sizeof *scale);
        memset(special, 0, w->steps);
        for (size_t i = (w->padded - (w->steps > 0 ? d->step : 0)) * WIDTH; i < w->padded * WIDTH; i++) e[i] = SKIPPED;
        for (size_t k = 0; k < s->k; k++) {
            float *to = b + place(d, k) * WIDTH;
            float x[WIDTH] = {0};
            if (s->b_trans)
                for (size_t j = 0; j < width; j++) x[j] = b_at(w->job, k, j0 + j);
            else memcpy(x, (const float *)w->job->b + b_index(w->job, k, j0), width * sizeof *x);
            for (size_t h = 0; h < HALVES; h++)
                for (size_t i = 0; i < LANES; i++) to[h * LANES + i] = x[i * HALVES + h];
            special[k / d->step] |= find_exponents(e + (to - b), x, WIDTH, d->b_emin);
        }
        for (size_t i = 0; i < w->steps; i++)
            for (size_t j = 0; j < width; j++)
                scale[i * WIDTH + j] = scale_of(s->b_scales, (j0 + j) * w->steps + i, d, special + i);
    }
}

/* ROWS rows of A. */
typedef struct rows {
    float *a;          /* (padded, ROWS) */
    int16_t *exponent; /* (padded, ROWS) */
    int16_t *scale;    /* (steps, ROWS) */
    uint8_t *special;  /* (steps) */
} rows;

static void pack_rows(const work *w, const rows *r, size_t i0, size_t count) {
    const ulp_datapath *d = w->job->datapath;
    const ulp_gemm_shape *s = &w->job->s;
    memset(r->a, 0, w->padded * ROWS * sizeof *r->a);
    memset(r->scale, 0, w->steps * ROWS * sizeof *r->scale);
    memset(r->special, 0, w->steps);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < s->k; k++) r->a[place(d, k) * ROWS + i] = a_at(w->job, i0 + i, k);
        for (size_t k = 0; k < w->steps; k++)
            r->scale[k * ROWS + i] = scale_of(s->a_scales, (i0 + i) * w->steps + k, d, r->special + k);
    }
    for (size_t k = 0; k < w->steps; k++) {
        const size_t at = k * d->step * ROWS;
        r->special[k] |= find_exponents(r->exponent + at, r->a + at, d->step * ROWS, d->a_emin);
    }
}

/* The function of aligned.h for a row. NULL if there is none. */
static run_function run_for(const ulp_datapath *d) {
    const int n = d->fused.length, span = n % 16 == 0 ? 16 : n, narrow = d->accumulator.prec < 24;
    const int kind = d->fused.late ? LATE : (d->scale_block != 0 ? SCALED : PLAIN);
#define MATCH(name, kind_, span_, narrow_)                                                                             \
    if (kind == kind_ && span == span_ && narrow == narrow_) return name;
    RUNS(MATCH)
    return NULL;
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
                b[k] = (double)pb[place(d, k) * WIDTH + lane(j)];
            }
            const double sa = s->a_scales == NULL ? 1.0 : (double)s->a_scales[(i0 + i) * w->steps + at];
            const double sb = s->b_scales == NULL ? 1.0 : (double)s->b_scales[(j0 + j) * w->steps + at];
            float *at_c = c + i * WIDTH + lane(j);
            *at_c = (float)ulp_sum_fused(d, (double)*at_c, &(ulp_products){a, b, n, &sa, &sb});
        }
}

/* ---- the product ---- */

static plan plan_of(const ulp_datapath *d) {
    plan p = {.length = d->fused.length, .fraction = d->fused.fraction};
    p.floor = d->fused.floor > LOWEST ? d->fused.floor : LOWEST;
    p.keep = (int32_t)(0xffffffffu << (23 - d->fused.kept));
    p.emin = d->accumulator.emin;
    return p;
}

/* One number for each output of a block of ROWS x WIDTH. */
typedef union outputs {
    vfloat v[ROWS][HALVES];
    float f[ROWS * WIDTH];
} outputs;

/* The sums of a block. */
typedef struct sums {
    outputs now, total; /* the current sums, and the promoted sums */
} sums;

static rows rows_at(const work *w, size_t at) {
    void *room = w->a + at * w->a_bytes;
    rows r = {.a = room, .exponent = (int16_t *)(void *)((float *)room + w->padded * ROWS)};
    r.scale = r.exponent + w->padded * ROWS;
    r.special = (uint8_t *)(r.scale + w->steps * ROWS);
    return r;
}

/* Computes steps first .. last - 1 of a block. */
static void advance(const work *w, sums *s, size_t block, size_t panel, size_t first, size_t last) {
    const ulp_datapath *d = w->job->datapath;
    const plan p = plan_of(d);
    const run_function run = run_for(d);
    const rows r = rows_at(w, block);
    const size_t every = d->promote / d->step; /* steps from one promotion to the next */
    for (size_t at = first; at < last;) {
        const size_t k = at * d->step, b = (panel * w->padded + k) * WIDTH;
        size_t left = last - at; /* steps to `last` or to the next promotion */
        if (every != 0 && left > every - at % every) left = every - at % every;
        const operands o = {.a = r.a + k * ROWS,
                            .b = w->b + b,
                            .a_exponent = r.exponent + k * ROWS,
                            .b_exponent = w->b_exponent + b,
                            .a_scale = r.scale + at * ROWS,
                            .b_scale = w->b_scale + (panel * w->steps + at) * WIDTH,
                            .a_special = r.special + at,
                            .b_special = w->b_special + panel * w->steps + at,
                            .count = left};
        const size_t done = run(s->now.v, o, &p);
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

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const ulp_gemm_shape *s = &w->job->s;
    const size_t j0 = panel * WIDTH, width = s->n - j0 < WIDTH ? s->n - j0 : WIDTH,
                 depth = DEPTH / w->job->datapath->step;
    sums blocks[MOST_BLOCKS];
    memset(blocks, 0, sizeof blocks);
    float *out = (float *)w->job->c + j0;
    for (size_t i = begin * ROWS; i < end * ROWS && i < s->m && s->accumulate; i++)
        for (size_t j = 0; j < width; j++)
            outer_sums(w, &blocks[i / ROWS - begin])[i % ROWS * WIDTH + lane(j)] = out[i * s->ldc + j];
    for (size_t at = 0; at < w->steps; at += depth)
        for (size_t block = begin; block < end; block++)
            advance(w, &blocks[block - begin], block, panel, at, w->steps - at < depth ? w->steps : at + depth);
    for (size_t i = begin * ROWS; i < end * ROWS && i < s->m; i++)
        for (size_t j = 0; j < width; j++)
            out[i * s->ldc + j] = canonical(outer_sums(w, &blocks[i / ROWS - begin])[i % ROWS * WIDTH + lane(j)]);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t block = begin; block < end; block++) {
        const rows r = rows_at(w, block);
        pack_rows(w, &r, block * ROWS, w->job->s.m - block * ROWS < ROWS ? w->job->s.m - block * ROWS : ROWS);
    }
    for (size_t panel = 0; panel < w->panels; panel++) panel_part(w, begin, end, panel);
}

/* Whether this source computes the row: the conditions of aligned.h. */
static int is_offered(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_fused *f = &d->fused;
    const int open = f->zero_operand != ULP_NO_EXPONENT || f->zero_product != ULP_NO_EXPONENT ||
                     f->zero_c != ULP_NO_EXPONENT || f->signed_zero;
    const int half = d->accumulator.prec == 11 && d->accumulator.emin == -14 && f->kept == 10 && f->output == ULP_RNE;
    const int single = d->accumulator.prec == 24 && d->accumulator.emin == -126 && f->output == ULP_RZ;
    return !job->wide && d->kind == ULP_ALIGNED && d->a_prec <= 11 && d->b_prec <= 11 && f->group == 0 &&
           f->align == ULP_RZ && !open && (half || single) && f->fraction >= 10 && f->fraction <= 25 && f->floor <= 0 &&
           run_for(d) != NULL;
}

ulp_status ULP_CPU(ulp_gemm_aligned)(const ulp_job *job) {
    if (!is_offered(job)) return ULP_UNSUPPORTED;
    work w = {.job = job};
    w.steps = (job->s.k + job->datapath->step - 1) / job->datapath->step;
    w.padded = w.steps * job->datapath->step;
    w.panels = (job->s.n + WIDTH - 1) / WIDTH;
    const size_t n = w.panels * w.padded * WIDTH, scales = w.panels * w.steps * WIDTH;
    w.b = ULP_CPU(ulp_gemm_room)(n, sizeof *w.b);
    w.b_exponent = ULP_CPU(ulp_gemm_room)(n + scales, sizeof *w.b_exponent);
    w.b_special = ULP_CPU(ulp_gemm_room)(w.panels * w.steps, 1);
    const size_t blocks = (job->s.m + ROWS - 1) / ROWS;
    w.a_bytes =
        (w.padded * ROWS * (sizeof(float) + sizeof(int16_t)) + w.steps * (ROWS * sizeof(int16_t) + 1) + 63) / 64 * 64;
    w.a = ULP_CPU(ulp_gemm_room)(blocks, w.a_bytes);
    const int enough = w.b != NULL && w.b_exponent != NULL && w.b_special != NULL && w.a != NULL;
    if (enough) {
        w.b_scale = w.b_exponent + n;
        ulp_parallel_for(w.panels, 1, pack_part, &w);
        ulp_parallel_for(blocks, row_grain(blocks), rows_part, &w);
    }
    free(w.a);
    free(w.b_special);
    free(w.b_exponent);
    free(w.b);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

#else

ulp_status ULP_CPU(ulp_gemm_aligned)(const ulp_job *job) {
    (void)job;
    return ULP_UNSUPPORTED;
}

#endif

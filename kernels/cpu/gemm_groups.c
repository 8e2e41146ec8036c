/* gemm_groups.c - the product on rows whose groups are summed exactly before their scales apply: mxf4 and nvf4.
 *
 * The source computes the integer definition of kernels/products/fused.h in binary64 lanes, which are columns of the
 * result. The sum of a group of e2m1 products is exact in binary32 (multiples of 1/4 up to 576). Its multiple by two
 * scales is exact in binary64. A term in units of 2^(Emax - F) is below 2^(F + 12), so that conversion to int64_t
 * truncates the term as the alignment does. The scalar definition computes steps with a value that is not finite and
 * steps with a result outside the normal range of binary32.
 */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 32, GROUPS = ULP_STEP_MAX / 16, NOTHING = -10000 };

typedef struct work {
    const ulp_job *job;
    size_t steps, groups;      /* steps of k, groups in a step */
    size_t blocks;             /* scales of a row or column */
    float *a, *b;              /* rows of A (m, padded), B as panels of (padded, LANES), zero-padded */
    double *a_scale, *b_scale; /* scales of each group: (m, steps groups), and panels of (steps groups, LANES) */
} work;

static double scale_at(const work *w, const float *scales, size_t row, size_t group) {
    const ulp_datapath *d = w->job->datapath;
    const size_t at = group * d->fused.group / d->scale_block;
    if (scales == NULL || at >= w->blocks) return 1.0;
    const double x = (double)scales[row * w->blocks + at];
    return x < 0.0 ? -x : x;
}

static void pack_panel(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_gemm_shape *s = &w->job->s;
    const size_t padded = w->steps * w->job->datapath->step, groups = w->steps * w->groups;
    for (size_t panel = begin; panel < end; panel++) {
        float *b = w->b + panel * padded * LANES;
        double *scale = w->b_scale + panel * groups * LANES;
        const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
        memset(b, 0, padded * LANES * sizeof *b);
        for (size_t k = 0; k < s->k; k++)
            for (size_t j = 0; j < width; j++) b[k * LANES + j] = b_at(w->job, k, j0 + j);
        for (size_t g = 0; g < groups; g++)
            for (size_t j = 0; j < LANES; j++)
                scale[g * LANES + j] = j < width ? scale_at(w, s->b_scales, j0 + j, g) : 1.0;
    }
}

/* sums (LANES) = the n products of a group; exact in any order */
static void group_sums(float *restrict sums, const float *restrict a, const float *restrict b, size_t n) {
    float part[LANES] = {0};
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < LANES; j++) part[j] += a[k] * b[k * LANES + j];
    for (size_t j = 0; j < LANES; j++) sums[j] = part[j];
}

/* The exponent of a positive finite double that is not subnormal. */
ULP_INLINE int32_t exponent_of(double x) { return (int32_t)(ulp_bits64(x) >> 52 & 0x7ff) - 1023; }

ULP_INLINE double power(int32_t e) { return ulp_from_bits64((uint64_t)(e + 1023) << 52); }

/* One step for LANES outputs: y from c. terms holds the scaled sums of the groups, exponents the exponents of their
 * scales. Returns 0 where an output needs the scalar definition. */
static int step(double *restrict y, const double *restrict c, double terms[GROUPS][LANES],
                int32_t exponents[GROUPS][LANES], const work *w) {
    const ulp_datapath *d = w->job->datapath;
    const int32_t fraction = d->fused.fraction, floor = d->fused.floor == ULP_NO_EXPONENT ? NOTHING : d->fused.floor;
    const uint64_t keep = ~0ull << (52 - d->fused.kept);
    int32_t emax[LANES];
    uint32_t out_of_range = 0;
    for (size_t j = 0; j < LANES; j++) {
        const int32_t e = exponent_of(c[j]), own = e > -126 ? e : -126;
        emax[j] = c[j] == 0.0 || own < floor ? floor : own;
        out_of_range |= (uint32_t)(e == 1024);
    }
    for (size_t g = 0; g < w->groups; g++)
        for (size_t j = 0; j < LANES; j++) {
            const int32_t e = terms[g][j] == 0.0 ? NOTHING : exponents[g][j];
            emax[j] = e > emax[j] ? e : emax[j];
        }
    if (out_of_range) return 0;
    for (size_t j = 0; j < LANES; j++) {
        const int32_t e = emax[j] == NOTHING ? 0 : emax[j];
        const double factor = power(fraction - e);
        int64_t total = (int64_t)(c[j] * factor);
        for (size_t g = 0; g < w->groups; g++) total += (int64_t)(terms[g][j] * factor);
        const double exact = (double)total * power(e - fraction), size = exact < 0.0 ? -exact : exact;
        out_of_range |= (uint32_t)(size != 0.0) & ((uint32_t)(size < 0x1p-126) | (uint32_t)(size >= 0x1p128));
        y[j] = ulp_from_bits64(ulp_bits64(exact) & keep);
    }
    return !out_of_range;
}

static void row_panel(const work *w, size_t i, size_t panel) {
    const ulp_job *job = w->job;
    const ulp_datapath *d = job->datapath;
    const ulp_gemm_shape *s = &job->s;
    const size_t padded = w->steps * d->step, all = w->steps * w->groups, size = d->fused.group;
    const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
    const float *a = w->a + i * padded, *b = w->b + panel * padded * LANES;
    float *out = (float *)job->c + i * s->ldc + j0, sums[LANES];
    double c[LANES] = {0}, y[LANES], terms[GROUPS][LANES];
    int32_t exponents[GROUPS][LANES];
    for (size_t j = 0; j < width && s->accumulate; j++) c[j] = (double)out[j];
    for (size_t at = 0; at < w->steps; at++) {
        const double *sa = w->a_scale + i * all + at * w->groups,
                     *sb = w->b_scale + (panel * all + at * w->groups) * LANES;
        int finite = 1;
        for (size_t g = 0; g < w->groups; g++) {
            const size_t k = at * d->step + g * size;
            const int32_t lowest = d->scale.emin, ea = exponent_of(sa[g]) > lowest ? exponent_of(sa[g]) : lowest;
            group_sums(sums, a + k, b + k * LANES, size);
            for (size_t j = 0; j < LANES; j++) {
                const double scale = sb[g * LANES + j];
                const int32_t eb = exponent_of(scale) > lowest ? exponent_of(scale) : lowest;
                terms[g][j] = (double)sums[j] * (sa[g] * scale);
                exponents[g][j] = ea + eb;
                finite &= scale == scale;
            }
            finite &= sa[g] == sa[g];
        }
        if (finite && step(y, c, terms, exponents, w)) {
            memcpy(c, y, sizeof c);
            continue;
        }
        const size_t n = s->k - at * d->step < d->step ? s->k - at * d->step : d->step;
        for (size_t j = 0; j < width; j++) {
            double pa[ULP_STEP_MAX], pb[ULP_STEP_MAX], ga[GROUPS], gb[GROUPS];
            for (size_t k = 0; k < n; k++) {
                pa[k] = (double)a[at * d->step + k];
                pb[k] = (double)b[(at * d->step + k) * LANES + j];
            }
            for (size_t g = 0; g < w->groups; g++) ga[g] = sa[g], gb[g] = sb[g * LANES + j];
            c[j] = ulp_scales_hold_nan(ga, gb, (uint32_t)((n + size - 1) / size))
                       ? ulp_quiet_nan()
                       : ulp_fused_groups(d, c[j], &(ulp_products){pa, pb, n, ga, gb});
        }
    }
    for (size_t j = 0; j < width; j++) out[j] = canonical((float)c[j]);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_gemm_shape *s = &w->job->s;
    const size_t padded = w->steps * w->job->datapath->step, groups = w->steps * w->groups;
    for (size_t i = begin; i < end; i++) {
        float *a = w->a + i * padded;
        for (size_t k = 0; k < padded; k++) a[k] = k < s->k ? a_at(w->job, i, k) : 0.0f;
        for (size_t g = 0; g < groups; g++) w->a_scale[i * groups + g] = scale_at(w, s->a_scales, i, g);
    }
    for (size_t panel = 0; panel * LANES < s->n; panel++)
        for (size_t i = begin; i < end; i++) row_panel(w, i, panel);
}

ulp_status ULP_CPU(ulp_gemm_groups)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_fused *f = &d->fused;
    if (job->wide || d->kind != ULP_ALIGNED || f->group != 16 || d->step != ULP_STEP_MAX || d->promote != 0 ||
        d->a_prec > 2 || d->b_prec > 2 || d->a.emax > 2 || d->b.emax > 2 || d->scale.prec > 4 || f->fraction > 40 ||
        f->align != ULP_RZ || f->output != ULP_RZ || d->accumulator.prec != 24 || d->accumulator.emin != -126 ||
        f->zero_c != ULP_NO_EXPONENT || f->signed_zero)
        return ULP_UNSUPPORTED;
    work w = {.job = job, .groups = d->step / f->group, .blocks = (job->s.k + d->scale_block - 1) / d->scale_block};
    w.steps = (job->s.k + d->step - 1) / d->step;
    const size_t padded = w.steps * d->step, groups = w.steps * w.groups, panels = (job->s.n + LANES - 1) / LANES;
    w.a = ULP_CPU(ulp_gemm_room)(job->s.m * padded, sizeof *w.a);
    w.b = ULP_CPU(ulp_gemm_room)(panels * padded * LANES, sizeof *w.b);
    w.a_scale = ULP_CPU(ulp_gemm_room)(job->s.m * groups, sizeof *w.a_scale);
    w.b_scale = ULP_CPU(ulp_gemm_room)(panels * groups * LANES, sizeof *w.b_scale);
    const int enough = w.a != NULL && w.b != NULL && w.a_scale != NULL && w.b_scale != NULL;
    if (enough) {
        ulp_parallel_for(panels, 1, pack_panel, &w);
        ulp_parallel_for(job->s.m, row_grain(job->s.m), rows_part, &w);
    }
    free(w.b_scale);
    free(w.a_scale);
    free(w.b);
    free(w.a);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

/* block_groups.c - matrices in block-scaled formats, as values, with one correction for each group of blocks (MS-EDEN).
 *
 * The bits are those of ulp_eden_convert. A group is copied to a run of numbers; its quotients are rounded to odd in
 * binary64. Groups with NaN or Inf, groups that are longer than a piece, and rules with an overflow of their own are
 * computed by the definition.
 */
#include "block_plan.h"
#include "formats/block_units.h"

/* A matrix, and the plan of its blocks: scales to nearest, whatever the rule of the block. */
typedef struct job {
    ulp_block_matrix matrix;
    ulp_block block;
    block_plan plan;
} job;

/* The numbers x of a group, in the order of the sum. */
typedef struct group {
    size_t first, stride, n; /* first: the index of the first number in the matrix */
    uint8_t scales[ULP_PIECE];
    float x[ULP_PIECE];
    double factor[ULP_PIECE], element[ULP_PIECE];
} group;

/* Copies the numbers. 0 if one of them is NaN or Inf. */
static int gather(group *g, const ulp_block_matrix *m, const ulp_block_part *part) {
    const int is_row = m->cast.along == ULP_ALONG_ROWS;
    uint32_t special = 0;
    g->first = part->first;
    g->stride = is_row ? 1 : m->columns;
    g->n = is_row ? part->size[2] : part->size[1];
    for (size_t i = 0; i < g->n; i++) {
        g->x[i] = m->x[g->first + i * g->stride];
        special |= (ulp_bits32(g->x[i]) & 0x7f800000u) == 0x7f800000u;
    }
    return special == 0;
}

/* The scales before the correction, as ulp_eden_scale gives them, and the factors of the numbers. */
static ulp_status find_scales(group *g, const job *w) {
    const ulp_block *const b = &w->block;
    blocks k;
    ULP_CPU(ulp_blocks_most)(&k, g->x, g->n, b->size);
    ULP_TRY(ULP_CPU(ulp_blocks_quotients)(&k, g->scales, 1581.0,
                                          1600.0 * b->element.max * (double)w->matrix.tensor_scale, &w->plan));
    for (size_t j = 0, i = 0; j < k.count; j++)
        for (const size_t end = i + b->size; i < end && i < g->n; i++) g->factor[i] = k.factor[j];
    return ULP_OK;
}

/* The elements under these scales. */
static ulp_status find_elements(group *g, const job *w) {
    const ulp_format *const f = &w->block.element;
    ulp_rounding how = {f, w->matrix.cast.rule, {0, 0, 0}, NULL};
    how.rule.overflow = f->is_fixed ? ULP_OVERFLOW_SYM : ULP_OVERFLOW_SAT;
    ulp_blocks_divide(g->element, g->x, g->factor, g->n);
    return ULP_CPU(ulp_cpu_round64)(g->element, g->element, g->n, how);
}

static double correction_of(const group *g) {
    double sum[2] = {0.0, 0.0};
    for (size_t i = 0; i < g->n; i++) {
        const double x = (double)g->x[i];
        sum[0] += x * x;
        sum[1] += x * (g->element[i] * g->factor[i]);
    }
    return ulp_eden_correction(sum);
}

static ulp_status convert_group(const job *w, const ulp_block_part *part) {
    const ulp_block_matrix *const m = &w->matrix;
    const size_t size = w->block.size;
    group g;
    if (!gather(&g, m, part)) return ulp_eden_convert(m, part), ULP_OK;
    ULP_TRY(find_scales(&g, w));
    ULP_TRY(find_elements(&g, w));
    const double correction = correction_of(&g);
    for (size_t begin = 0; begin < g.n; begin += size) {
        const double scale = ulp_block_scale_value(g.scales[begin / size], &w->block),
                     written = ulp_eden_written(scale, correction, &m->cast, g.first + begin * g.stride),
                     factor = written * (double)m->tensor_scale;
        float *const y = m->to.values + g.first;
        for (size_t i = begin; i < g.n && i < begin + size; i++) y[i * g.stride] = (float)(g.element[i] * factor);
    }
    return ULP_OK;
}

static void convert_groups(void *context, size_t begin, size_t end) {
    const job *const w = context;
    const ulp_block_cast *const c = &w->matrix.cast;
    const int has_loops = c->eden <= ULP_PIECE && c->rule.overflow == ULP_OVERFLOW_DEFAULT;
    for (size_t number = begin; number < end; number++) {
        const ulp_block_part part = ulp_block_unit_part(&w->matrix, number);
        if (!has_loops || convert_group(w, &part) != ULP_OK) ulp_eden_convert(&w->matrix, &part);
    }
}

ulp_status ULP_CPU(ulp_block_groups)(float *y, const float *x, size_t rows, size_t columns,
                                     const ulp_block_cast *cast) {
    job w = {.matrix = ulp_block_matrix_of(x, rows, columns, cast, 1.0f, (ulp_block_results){.values = y}),
             .block = cast->block};
    const size_t n = rows * columns, each = ULP_GRAIN / (cast->eden < ULP_GRAIN ? cast->eden : ULP_GRAIN);
    float amax = 0.0f;
    if (n == 0) return ULP_OK;
    if (cast->has_tensor_scale) ULP_TRY(ULP_CPU(ulp_cpu_largest)(&amax, x, n, 1));
    w.matrix.tensor_scale = ulp_block_cast_tensor_scale(cast, amax);
    w.block.rule = ULP_SCALE_AMAX;
    ULP_CPU(ulp_block_plan_of)
    (&w.plan, (ulp_block_array){&w.block, n, w.matrix.tensor_scale}, cast->rule, cast->stream);
    ulp_parallel_for(ulp_block_units(&w.matrix), each, convert_groups, &w);
    return ULP_OK;
}

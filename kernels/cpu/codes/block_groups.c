/* block_groups.c - matrices in block-scaled formats, as values, with one correction for each group of blocks (MS-EDEN).
 *
 * The bits are those of ulp_eden_convert. A group is copied to a run of numbers; its quotients are rounded to odd in
 * binary64. Groups with NaN or Inf, groups that are longer than a piece, and rules with an overflow of their own are
 * computed by the definition.
 */
#include "block_plan.h"
#include "formats/block_units.h"

/* The numbers x of a group, in the order of the sum. */
typedef struct group {
    size_t first, stride, n, blocks; /* first: the index of the first number in the matrix */
    float x[ULP_PIECE];
    double scale[ULP_PIECE], factor[ULP_PIECE], element[ULP_PIECE]; /* scale: of a block; the others: of a number */
} group;

static size_t block_length(const group *g, size_t k, size_t size) {
    return g->n - k * size < size ? g->n - k * size : size;
}

/* Copies the numbers. 0 if one of them is NaN or Inf. */
static int gather(group *g, const ulp_block_matrix *m, const ulp_block_part *part) {
    const int is_row = m->cast.along == ULP_ALONG_ROWS;
    uint32_t special = 0;
    g->first = part->first;
    g->stride = is_row ? 1 : m->columns;
    g->n = is_row ? part->size[2] : part->size[1];
    g->blocks = g->n / m->cast.block.size + (g->n % m->cast.block.size != 0);
    for (size_t i = 0; i < g->n; i++) {
        g->x[i] = m->x[g->first + i * g->stride];
        special |= (ulp_bits32(g->x[i]) & 0x7f800000u) == 0x7f800000u;
    }
    return special == 0;
}

/* The scales before the correction, by the steps of ulp_eden_scale. */
static ulp_status find_scales(group *g, const ulp_block_matrix *m) {
    const ulp_block *const b = &m->cast.block;
    const double divisor = 1600.0 * b->element.max * (double)m->tensor_scale;
    for (size_t k = 0; k < g->blocks; k++) {
        const float *const x = g->x + k * b->size;
        uint32_t most = 0;
        for (size_t i = 0, n = block_length(g, k, b->size); i < n; i++) {
            const uint32_t magnitude = ulp_bits32(x[i]) & 0x7fffffffu;
            most = (int32_t)magnitude > (int32_t)most ? magnitude : most;
        }
        const double number = 1581.0 * (double)ulp_from_bits32(most), quotient = number / divisor;
        g->scale[k] = ulp_to_odd(quotient, ULP_FMA(-quotient, divisor, number));
    }
    ULP_TRY(ULP_CPU(ulp_cpu_round64)(g->scale, g->scale, g->blocks,
                                     (ulp_rounding){&b->scale, {ULP_RNE, ULP_OVERFLOW_SAT, 0}, {0, 0, 0}, NULL}));
    for (size_t k = 0; k < g->blocks; k++)
        g->scale[k] = g->scale[k] < b->scale.min_positive ? b->scale.min_positive : g->scale[k];
    return ULP_OK;
}

/* The elements under these scales. */
static ulp_status find_elements(group *g, const ulp_block_matrix *m) {
    const ulp_block *const b = &m->cast.block;
    ulp_rounding how = {&b->element, m->cast.rule, {0, 0, 0}, NULL};
    how.rule.overflow = b->element.is_fixed ? ULP_OVERFLOW_SYM : ULP_OVERFLOW_SAT;
    for (size_t k = 0; k < g->blocks; k++)
        for (size_t i = k * b->size, end = i + block_length(g, k, b->size); i < end; i++)
            g->factor[i] = g->scale[k] * (double)m->tensor_scale;
    for (size_t i = 0; i < g->n; i++) {
        const double quotient = (double)g->x[i] / g->factor[i];
        g->element[i] = ulp_to_odd(quotient, ULP_FMA(-quotient, g->factor[i], (double)g->x[i]));
    }
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

static ulp_status convert_group(const ulp_block_matrix *m, const ulp_block_part *part) {
    const size_t size = m->cast.block.size;
    group g;
    if (!gather(&g, m, part)) return ulp_eden_convert(m, part), ULP_OK;
    ULP_TRY(find_scales(&g, m));
    ULP_TRY(find_elements(&g, m));
    const double correction = correction_of(&g);
    for (size_t k = 0; k < g.blocks; k++) {
        const double written = ulp_eden_written(g.scale[k], correction, &m->cast, g.first + k * size * g.stride),
                     factor = written * (double)m->tensor_scale;
        float *const y = m->to.values + g.first + k * size * g.stride;
        const double *const e = g.element + k * size;
        for (size_t i = 0, n = block_length(&g, k, size); i < n; i++) y[i * g.stride] = (float)(e[i] * factor);
    }
    return ULP_OK;
}

static void convert_groups(void *context, size_t begin, size_t end) {
    const ulp_block_matrix *const m = context;
    const int has_loops = m->cast.eden <= ULP_PIECE && m->cast.rule.overflow == ULP_OVERFLOW_DEFAULT;
    for (size_t number = begin; number < end; number++) {
        const ulp_block_part part = ulp_block_unit_part(m, number);
        if (!has_loops || convert_group(m, &part) != ULP_OK) ulp_eden_convert(m, &part);
    }
}

ulp_status ULP_CPU(ulp_block_groups)(float *y, const float *x, size_t rows, size_t columns,
                                     const ulp_block_cast *cast) {
    ulp_block_matrix m = ulp_block_matrix_of(x, rows, columns, cast, 1.0f, (ulp_block_results){.values = y});
    const size_t n = rows * columns, each = ULP_GRAIN / (cast->eden < ULP_GRAIN ? cast->eden : ULP_GRAIN);
    float amax = 0.0f;
    if (n == 0) return ULP_OK;
    if (cast->has_tensor_scale) ULP_TRY(ULP_CPU(ulp_cpu_largest)(&amax, x, n, 1));
    m.tensor_scale = ulp_block_cast_tensor_scale(cast, amax);
    ulp_parallel_for(ulp_block_units(&m), each, convert_groups, &m);
    return ULP_OK;
}

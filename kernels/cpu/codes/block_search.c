/* block_search.c - the scales of the rules mse46 and best: squared errors of elements of 4 bits in vectors.
 *
 * The scales are those of formats/block_steps.h. An error here is a sum of rounded squares in another order; where two
 * errors are too near to each other for such sums, the exact comparison of block_steps.h decides.
 */
#include "block_plan.h"
#include "formats/block_steps.h"

/* A block in a row: its numbers, all finite. */
typedef struct row {
    const float *x;
    size_t n;
    ulp_block_numbers numbers;
} row;

enum { SUMS = 8 };

static ulp_scale_error error_of(const row *r, double scale, const block_plan *p) {
    ulp_scale_error s = {scale, scale * (double)p->array.tensor_scale, 0.0};
    uint8_t codes[ULP_PIECE];
    double sum[SUMS] = {0};
    size_t i = 0;
    count_block(codes, r->x, r->n, s.factor, &p->search_bounds);
    for (; i + SUMS <= r->n; i += SUMS)
        for (size_t l = 0; l < SUMS; l++) {
            const double d = (double)r->x[i + l] - p->element_values[codes[i + l]] * s.factor;
            sum[l] += d * d;
        }
    for (; i < r->n; i++) {
        const double d = (double)r->x[i] - p->element_values[codes[i]] * s.factor;
        sum[0] += d * d;
    }
    for (size_t l = 0; l < SUMS; l++) s.error += sum[l];
    return s;
}

static int is_worse(const row *r, const ulp_scale_error *a, const ulp_scale_error *b, const block_plan *p) {
    return ulp_compare_errors(&r->numbers, &p->array.block->element, a, b) > 0;
}

/* best, over the codes of a scale format whose codes have the order of their values. */
static double best_of(const row *r, double amax, const block_plan *p) {
    const ulp_block *const b = p->array.block;
    const double t = (double)p->array.tensor_scale, *const value = p->scale_values;
    int last = (int)b->scale.max_code, first = 1;
    if (!p->scale_is_nearest || amax < 2.0 * b->scale.min_positive * t * b->element.min_positive)
        return ulp_scale_of_all(&r->numbers, amax, b, p->array.tensor_scale);
    /* from the least scale under which every element is zero */
    while (first < last && value[first] * t * b->element.min_positive < 2.0 * amax) first++;
    ulp_scale_error best = error_of(r, value[first], p);
    for (int code = first - 1; code >= 1; code--) {
        const double clipped = amax - b->element.max * (value[code] * t);
        if (clipped > 0.0 &&
            clipped * clipped * (1.0 - 0x1p-40) > best.error * (1.0 + ulp_error_doubt(&r->numbers.part)))
            break;
        const ulp_scale_error tried = error_of(r, value[code], p);
        if (is_worse(r, &best, &tried, p)) best = tried;
    }
    return best.scale;
}

/* The scale of block j of x. `room` takes a block that is not in a row. */
static double scale_of(const blocks *k, size_t j, const float *x, const ulp_block_part *part, double six, double four,
                       float room[ULP_PIECE], const block_plan *p) {
    const size_t n = part->size[0] * part->size[1] * part->size[2];
    const float *from = x + part->first;
    if (!p->search_counts || n > ULP_PIECE)
        return ulp_block_scale_of_part(x, part, p->array.block, p->array.tensor_scale);
    if (part->size[0] * part->size[1] > 1) {
        size_t at = 0;
        ULP_BLOCK_EACH(part, i) room[at++] = x[i];
        from = room;
    }
    const row r = {from, n, {from, NULL, NULL, {0, {1, 1, n}, {0, 0}}}};
    if (p->array.block->rule == ULP_SCALE_BEST) return best_of(&r, (double)ulp_from_bits32(k->most[j]), p);
    const ulp_scale_error of_six = error_of(&r, six, p), of_four = error_of(&r, four, p);
    return is_worse(&r, &of_six, &of_four, p) ? four : six;
}

/* The scales amax / max and 3/2 of it, without the tensor scale. */
static ulp_status find_two(double *six, double *four, const blocks *k, const block_plan *p) {
    const ulp_block *const b = p->array.block;
    const double max = b->element.max * (double)p->array.tensor_scale;
    blocks two = *k;
    uint8_t codes[ULP_PIECE];
    for (int which = 0; which < 2 && p->division == BY_NUMBER && p->scale_is_nearest; which++) {
        double *const to = which == 0 ? six : four;
        ULP_TRY(ULP_CPU(ulp_blocks_quotients)(&two, codes, which == 0 ? 1.0 : 3.0, which == 0 ? max : 2.0 * max, p));
        for (size_t j = 0; j < k->count; j++) to[j] = p->scale_values[codes[j]];
    }
    if (p->division == BY_NUMBER && p->scale_is_nearest) return ULP_OK;
    for (size_t j = 0; j < k->count; j++) {
        const ulp_exact amax = ulp_exact_of((double)ulp_from_bits32(k->most[j] < 0x7f800000u ? k->most[j] : 0));
        const ulp_rule rule = ulp_scale_rounding_step(ULP_SCALE_MSE46);
        six[j] = ulp_scale_quotient(amax, 1.0, max, &b->scale, rule, b->scale.min_positive);
        four[j] = ulp_scale_quotient(amax, 3.0, 2.0 * max, &b->scale, rule, b->scale.min_positive);
    }
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_blocks_search)(blocks *k, uint8_t *scales, const float *x, const ulp_block_part *part,
                                      const block_plan *p) {
    const ulp_block *const b = p->array.block;
    double six[ULP_PIECE], four[ULP_PIECE];
    float room[ULP_PIECE];
    const int of_two = b->rule == ULP_SCALE_MSE46 && p->search_counts;
    if (of_two) ULP_TRY(find_two(six, four, k, p));
    for (size_t j = 0; j < k->count; j++) {
        const uint32_t word = k->most[j];
        uint64_t code = 0;
        double scale = b->scale.min_positive;
        k->special[j] = word >= 0x7f800000u;
        if (!k->special[j] && of_two && six[j] == four[j]) scale = six[j];
        else if (!k->special[j])
            scale = scale_of(k, j, x, &part[j], of_two ? six[j] : 0.0, of_two ? four[j] : 0.0, room, p);
        (void)ulp_encode(&code, scale, &b->scale);
        scales[j] = (uint8_t)code;
        k->factor[j] = scale * (double)p->array.tensor_scale;
        if (p->division != BY_POWER) continue;
        k->special[j] |= (uint8_t)((word - 1u < 0x7fffffu) | (code > 253));
        k->power[j] = ulp_from_bits32((254u - (uint32_t)code) << 23);
    }
    return ULP_OK;
}

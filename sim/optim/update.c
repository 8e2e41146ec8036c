/* update.c - building the list of steps of an update; see update.h. */
#include "update.h"

double ulp_power(double x, uint64_t k) {
    double y = 1.0;
    for (; k; k >>= 1, x *= x)
        if (k & 1) y *= x;
    return y;
}

ulp_operand ulp_update_array(const ulp_update_plan *p, const float *at) {
    /* operands and results have one type; the steps do not write to an array that is only read */
    ulp_operand operand = {.kind = ULP_OPERAND_ARRAY, .at = (float *)at + p->span.first};
    return operand;
}

void ulp_update_add(ulp_update_plan *p, ulp_update_step step, ulp_point_kind point, uint32_t use) {
    const ulp_update_part *part = p->part;
    const ulp_cast *cast = point == ULP_AT_WEIGHT   ? &part->weight
                           : point == ULP_AT_MASTER ? &part->master
                                                    : &part->state;
    step.format = cast->format;
    step.rule = cast->rule;
    step.stream = (ulp_stream){p->pass->run.seed, ulp_stream_id(use, 0, 0, p->pass->now.step), p->span.first};
    p->step[p->steps++] = step;
}

void ulp_update_add_state(ulp_update_plan *p, ulp_update_step step, uint32_t use) {
    ulp_update_add(p, step, ULP_AT_STATE, use);
}

/* update.h - functions with which optimizers build an update: a list of steps for the backend. */
#ifndef ULP_UPDATE_H
#define ULP_UPDATE_H

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The scratch arrays of an update. G holds the gradient and then the direction, T holds terms, S holds sums, and E
 * holds the part of a term by which a sum changed (e in optim.h). */
enum { ULP_UPDATE_STEPS = 20, ULP_SCRATCH_G = 0, ULP_SCRATCH_T = 1, ULP_SCRATCH_S = 2, ULP_SCRATCH_E = 3 };

/* The steps of one span. */
typedef struct ulp_update_plan {
    const ulp_optimizer *o;
    const ulp_pass *pass;
    const ulp_update_part *part; /* the span lies in it */
    ulp_span span;
    ulp_update_step step[ULP_UPDATE_STEPS];
    size_t steps;
} ulp_update_plan;

/* The operand for the span's part of the array at (n). */
ulp_operand ulp_update_array(const ulp_update_plan *plan, const float *at);

static inline ulp_operand ulp_operand_value(double x) {
    return (ulp_operand){.kind = ULP_OPERAND_VALUE, .value = (float)x};
}

static inline ulp_operand ulp_operand_scratch(int slot) {
    return (ulp_operand){.kind = ULP_OPERAND_SCRATCH, .slot = (uint8_t)slot};
}

/* Steps of one, two and three operands. ulp_update_add() sets their rounding. */
static inline ulp_update_step ulp_step_unary(int op, ulp_operand y, ulp_operand a) {
    return (ulp_update_step){.op = (uint8_t)op, .y = y, .a = a};
}

static inline ulp_update_step ulp_step_binary(int op, ulp_operand y, ulp_operand a, ulp_operand b) {
    return (ulp_update_step){.op = (uint8_t)op, .y = y, .a = a, .b = b};
}

/* y = a b + c */
static inline ulp_update_step ulp_step_fused(ulp_operand y, ulp_operand a, ulp_operand b, ulp_operand c) {
    return (ulp_update_step){.op = ULP_FUSED, .y = y, .a = a, .b = b, .c = c};
}

/* Append a step. Its result is rounded at `point`, with the random words of `use`. */
void ulp_update_add(ulp_update_plan *plan, ulp_update_step step, ulp_point_kind point, uint32_t use);

/* Append a step that is rounded at ULP_AT_STATE. */
void ulp_update_add_state(ulp_update_plan *plan, ulp_update_step step, uint32_t use);

/* x^k by squaring, in a fixed order. */
double ulp_power(double x, uint64_t k);

#ifdef __cplusplus
}
#endif
#endif

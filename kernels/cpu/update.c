/* update.c - several elementwise operations in one pass over memory, and the largest magnitude of an array.
 *
 * All steps run on one piece while the piece is in the first-level cache. A step calls the array operation of map.c or
 * round.c on the piece. The index of its random words starts at the piece's place, so that the bits are those of whole
 * arrays.
 */
#include "cpu.h"

typedef struct work {
    const ulp_update_step *step;
    size_t steps;
} work;

/* The state of a search for the largest magnitude, which the threads share. */
typedef struct search {
    const float *x;
    uint32_t most; /* binary32 bits without the sign */
} search;

/* Buffers for the operands of one piece. */
typedef struct buffers {
    float scratch[ULP_UPDATE_SCRATCH][ULP_PIECE], value[3][ULP_PIECE];
} buffers;

/* The elements of an operand from `at` on. `which` selects the buffer of a, b or c. */
static float *elements(buffers *r, const ulp_operand *operand, size_t at, size_t n, int which) {
    switch (operand->kind) {
    case ULP_OPERAND_ARRAY: return operand->at + at;
    case ULP_OPERAND_SCRATCH: return r->scratch[operand->slot];
    case ULP_OPERAND_VALUE:
        for (size_t i = 0; i < n; i++) r->value[which][i] = operand->value;
        return r->value[which];
    default: return NULL;
    }
}

/* The formats and rules have been checked. */
static void run_step(buffers *r, const ulp_update_step *s, size_t at, size_t n) {
    float *y = elements(r, &s->y, at, n, 0);
    ulp_rounding how = {&s->format, s->rule, s->stream, NULL};
    how.stream.first += at;
    if (s->op == ULP_STEP_ROUND) {
        ULP_CPU(ulp_cpu_round)(y, elements(r, &s->a, at, n, 0), n, how);
    } else {
        const int operands = ulp_op_operands((ulp_op)s->op);
        const float *a = elements(r, &s->a, at, n, 0), *b = operands > 1 ? elements(r, &s->b, at, n, 1) : NULL;
        const float *c = operands > 2 ? elements(r, &s->c, at, n, 2) : NULL;
        ULP_CPU(ulp_cpu_map)(y, (ulp_array_op){(ulp_op)s->op, a, b, c}, n, how);
    }
}

static void update_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    buffers r;
    for (size_t at = begin; at < end; at += ULP_PIECE)
        for (size_t k = 0; k < w->steps; k++)
            run_step(&r, &w->step[k], at, end - at < ULP_PIECE ? end - at : ULP_PIECE);
}

ulp_status ULP_CPU(ulp_cpu_update)(const ulp_update_step *step, size_t steps, size_t n) {
    work w = {step, steps};
    ulp_parallel_for(n, ULP_GRAIN, update_part, &w);
    return ULP_OK;
}

/* The bits of magnitudes have the order of the magnitudes; Inf is above the numbers and NaN is above Inf. */
static void largest_part(void *context, size_t begin, size_t end) {
    search *s = context;
    uint32_t most = 0;
    for (size_t i = begin; i < end; i++) most = ulp_max_u32(most, ulp_bits32(s->x[i]) & 0x7fffffffu);
    uint32_t current = __atomic_load_n(&s->most, __ATOMIC_RELAXED);
    while (most > current &&
           !__atomic_compare_exchange_n(&s->most, &current, most, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

ulp_status ULP_CPU(ulp_cpu_largest)(float *y, const float *x, size_t n) {
    search s = {x, 0};
    ulp_parallel_for(n, ULP_GRAIN, largest_part, &s);
    *y = ulp_from_bits32(s.most > 0x7f800000u ? 0x7fc00000u : s.most);
    return ULP_OK;
}

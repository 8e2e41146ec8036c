/* pass_memory.c - the memory of a pass: scratch arrays, and the history of largest magnitudes; see pass.h. */
#include "pass.h"
#include "policy/operand_parts.h"

#include <stdlib.h>

static void carve_products(ulp_pass_scratch *s, ulp_arena *arena, unsigned flags, size_t n) {
    for (int i = 0; i < 2 && (flags & ULP_SCRATCH_OPERANDS); i++) s->operand[i] = ulp_arena_take(arena, n);
    for (int i = 0; i < 2 && (flags & ULP_SCRATCH_SCALES); i++) s->scale[i] = ulp_arena_take(arena, n);
    if (flags & ULP_SCRATCH_SCALES) s->work = ulp_arena_take64(arena, 2 * n + 1);
    if (flags & ULP_SCRATCH_SUMS) s->sums = ulp_arena_take(arena, n);
    for (int i = 0; i < 3 && (flags & ULP_SCRATCH_WIDE); i++) s->integer[i] = ulp_arena_take64(arena, n);
}

size_t ulp_pass_scratch_bytes(unsigned flags, size_t operands) {
    ulp_pass_scratch none = {0};
    ulp_arena counted;
    ulp_arena_init(&counted, NULL);
    carve_products(&none, &counted, flags, operands);
    return counted.used;
}

void ulp_pass_carve(ulp_pass *pass, ulp_arena *arena, size_t elements, size_t operands) {
    pass->scratch.wide = ulp_arena_take64(arena, elements);
    carve_products(&pass->scratch, arena, ulp_policy_scratch(pass->run.policy) | pass->run.later, operands);
}

size_t ulp_longest_history(const ulp_policy *policy, const ulp_layer_policy *rows, size_t tensors) {
    size_t most = 0;
    for (size_t i = 0; i < ULP_AT_COUNT * (rows ? tensors : 1); i++) {
        const ulp_cast *at = rows ? rows[i / ULP_AT_COUNT].at : policy->at;
        most = ulp_larger(most, at[i % ULP_AT_COUNT].history);
    }
    return most;
}

ulp_status ulp_pass_alloc(ulp_pass *pass, size_t elements, size_t tensors) {
    ulp_pass_scratch *s = &pass->scratch;
    ulp_amax_history *h = &pass->history;
    ulp_datapath_fp32(&pass->plain);
    h->tensors = tensors;
    h->steps = ulp_larger(h->steps, ulp_longest_history(pass->run.policy, pass->run.rows, tensors));
    s->raw = calloc(elements, sizeof *s->raw);
    s->rounded = calloc(elements, sizeof *s->rounded);
    s->host = calloc(elements, sizeof *s->host);
    h->amax = calloc(ULP_AT_COUNT * tensors * (h->steps + 1), sizeof *h->amax);
    return s->raw && s->rounded && s->host && h->amax ? ULP_OK : ULP_NO_MEMORY;
}

void ulp_pass_release(ulp_pass *pass) {
    free(pass->scratch.raw);
    free(pass->scratch.rounded);
    free(pass->scratch.host);
    free(pass->history.amax);
    pass->scratch = (ulp_pass_scratch){0};
    pass->history = (ulp_amax_history){0};
}

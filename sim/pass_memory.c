/* pass_memory.c - the memory of a pass: scratch arrays, and the history of largest magnitudes; see pass.h. */
#include "pass.h"

#include <stdlib.h>

void ulp_pass_carve(ulp_pass *pass, ulp_arena *arena, size_t elements) {
    pass->scratch.wide = ulp_arena_take64(arena, elements);
}

ulp_status ulp_pass_alloc(ulp_pass *pass, size_t elements, size_t tensors) {
    ulp_pass_scratch *s = &pass->scratch;
    ulp_amax_history *h = &pass->history;
    *h = (ulp_amax_history){.tensors = tensors};
    for (size_t i = 0; i < ULP_AT_COUNT * (pass->run.rows ? tensors : 1); i++) {
        const ulp_cast *at = pass->run.rows ? pass->run.rows[i / ULP_AT_COUNT].at : pass->run.policy->at;
        size_t steps = at[i % ULP_AT_COUNT].history;
        h->steps = h->steps > steps ? h->steps : steps;
    }
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

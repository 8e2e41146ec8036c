/* loss.c - finding losses by name, and the memory of a loss; see loss.h. */
#include "loss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ulp_status ulp_loss_parse(const ulp_loss_kind **kind, const char *name, ulp_error *error) {
    char known[128] = "";
    for (size_t i = 0, used = 0; (*kind = ulp_loss_kind_get(i)); i++) {
        if (strcmp((*kind)->name, name) == 0) return ULP_OK;
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", (*kind)->name);
    }
    return ulp_fail(error, ULP_BAD_NAME, "no loss '%s'; known: %s", name, known);
}

ulp_status ulp_loss_init(ulp_loss *loss, const ulp_loss_kind *kind, ulp_dims out, const ulp_data *data,
                         ulp_error *error) {
    memset(loss, 0, sizeof *loss);
    loss->kind = kind ? kind : data->labels > 1 && !data->positions ? &ulp_loss_ctc : &ulp_loss_softmax;
    loss->out = out;
    loss->classes = data->classes;
    loss->labels = data->labels;
    loss->rows = data->positions ? data->labels : 1;
    return loss->kind->check(out, data, error);
}

void ulp_loss_carve(ulp_loss *loss, ulp_arena *arena, size_t batch, size_t room) {
    loss->p = ulp_arena_take(arena, room * ulp_dims_size(loss->out));
    loss->row = ulp_arena_take(arena, room * loss->rows);
    loss->wide = ulp_arena_take64(arena, room * loss->rows);
    loss->exact = ulp_arena_take64(arena, room * ulp_dims_size(loss->out));
    loss->label = ulp_arena_take8(arena, room * loss->labels);
    loss->work = ulp_arena_take64(arena, loss->kind->work ? batch * loss->kind->work(loss) : 0);
}

ulp_status ulp_loss_ready(ulp_loss *loss, size_t room) {
    size_t n = room * ulp_dims_size(loss->out), rows = room * loss->rows,
           more = loss->kind->scratch ? loss->kind->scratch(loss) : 0;
    loss->host = calloc(rows + more, sizeof *loss->host);
    loss->host_z = calloc(n, sizeof *loss->host_z);
    if (!loss->host || !loss->host_z) return ULP_NO_MEMORY;
    loss->scratch = loss->host + rows;
    return ULP_OK;
}

void ulp_loss_release(ulp_loss *loss) {
    free(loss->host);
    free(loss->host_z);
    memset(loss, 0, sizeof *loss);
}

/* output.c - ulp round: the file that results are written to; see output.h. */
#include "output.h"

#include <errno.h>

#include "tool/files/npy.h"

static void write_header(const round_group *g, uint64_t count) {
    npy_write_header(g->out, &(npy_array){.kind = g->npy_kind, .size = round_size(g), .dims = 1, .shape = {count}});
}

int round_output_open(round_output *o, round_group *g, int from, const char *path) {
    int status = file_output_choose(&o->to, o->program, path);
    if (status != ULP_GO_ON) return status;
    o->has_header_late = g->is_npy && from < FROM_NPY;
    if (g->is_npz && o->to.place.direct)
        return ulp_usage_error(o->program,
                               "the list of arrays of a .npz file stands at its end; name a file with --out");
    if (o->has_header_late && o->to.place.direct)
        return ulp_usage_error(o->program,
                               "the header of a .npy file holds the number of elements, which is known at the "
                               "end; name a file with --out");
    status = file_output_open(&o->to);
    if (status == ULP_GO_ON) g->out = o->to.file;
    if (status == ULP_GO_ON && g->to >= TO_F32LE) status = file_output_refuse_terminal(&o->to);
    if (status != ULP_GO_ON) return status;
    g->archive.file = g->out;
    if (o->has_header_late && g->is_npz) npz_begin(&g->archive, "arr_0");
    if (o->has_header_late) write_header(g, 0);
    return ULP_GO_ON;
}

/* Write the header at the beginning of the array again. */
static void complete_header(round_group *g) {
    if (fseek(g->out, g->is_npz ? npz_first(&g->archive) : 0, SEEK_SET) != 0) g->archive.failed = errno;
    write_header(g, g->index);
    if (fseek(g->out, 0, SEEK_END) != 0) g->archive.failed = errno;
    if (g->is_npz) npz_end(&g->archive);
}

int round_output_close(round_output *o, round_group *g, int status) {
    if (o->to.file != NULL && o->has_header_late && status == ULP_EXIT_FINE) complete_header(g);
    if (o->to.file != NULL && g->is_npz) npz_finish(&g->archive);
    return file_output_close(&o->to, status, status == ULP_EXIT_FINE ? g->archive.failed : 0);
}

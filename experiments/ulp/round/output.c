/* output.c - ulp round: the file that results are written to; see output.h. */
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "npy.h"

static void write_header(const round_group *g, uint64_t count) {
    npy_write_header(g->out, &(npy_array){.kind = g->npy_kind, .size = round_size(g), .dims = 1, .shape = {count}});
}

static int open_file(round_output *o, round_group *g) {
    if (!o->place.direct) o->name = ulp_path_replace(o->place.file, "", ".tmp");
    g->out = fopen(o->name != NULL ? o->name : o->place.file, "w");
    return g->out != NULL ? ULP_GO_ON : ulp_cannot_write(o->program, o->place.path, 1);
}

int round_output_open(round_output *o, round_group *g, int from, const char *path) {
    int status = ulp_place_choose(&o->place, o->program, path);
    if (status != ULP_GO_ON) return status;
    o->has_header_late = g->is_npy && from != FROM_NPY;
    if (o->has_header_late && o->place.direct)
        return ulp_usage_error(o->program,
                               "the header of a .npy file holds the number of elements, which is known at the "
                               "end; name a file with --out");
    if (strcmp(path, "-") != 0) status = open_file(o, g);
    if (status != ULP_GO_ON) return status;
    if (g->to >= TO_F32LE && isatty(fileno(g->out)))
        return ulp_usage_error(o->program, "binary numbers do not go to a terminal; redirect them, or name a file with "
                                           "--out");
    if (o->has_header_late) write_header(g, 0);
    return ULP_GO_ON;
}

int round_output_close(round_output *o, const round_group *g, int status) {
    if (g->out != NULL && g->out != stdout) {
        if (o->has_header_late && status == ULP_EXIT_FINE) {
            rewind(g->out);
            write_header(g, g->index);
        }
        const int bad = ferror(g->out);
        if (fclose(g->out) != 0 || bad ||
            (status == ULP_EXIT_FINE && o->name != NULL && rename(o->name, o->place.file) != 0))
            status = ulp_cannot_write(o->program, o->place.path, 0);
        if (status != ULP_EXIT_FINE && o->name != NULL) remove(o->name);
    }
    free(o->name);
    ulp_place_free(&o->place);
    return status;
}

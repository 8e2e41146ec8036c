/* output.c - a binary file that is written whole or not at all; see output.h. */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/ulp/tool.h"

int file_output_choose(file_output *o, const char *program, const char *path) {
    *o = (file_output){.program = program};
    return ulp_place_choose(&o->place, program, path);
}

int file_output_open(file_output *o, const char *mode) {
    if (strcmp(o->place.path, "-") == 0) {
        o->file = stdout;
        return ULP_GO_ON;
    }
    if (!o->place.direct) o->name = ulp_path_replace(o->place.file, "", ".tmp");
    o->file = fopen(o->name != NULL ? o->name : o->place.file, mode);
    return o->file != NULL ? ULP_GO_ON : ulp_cannot_write(o->program, o->place.path, 1);
}

int file_output_refuse_terminal(const file_output *o) {
    if (!isatty(fileno(o->file))) return ULP_GO_ON;
    return ulp_usage_error(o->program, "binary numbers do not go to a terminal; redirect them, or name a file with "
                                       "--out");
}

int file_output_close(file_output *o, int status, int failed) {
    if (o->file != NULL && o->file != stdout) {
        const int bad = ferror(o->file) || failed;
        if (failed) errno = failed;
        const int closed = fclose(o->file) == 0;
        if (failed) errno = failed;
        if (!closed || bad || (status == ULP_EXIT_FINE && o->name != NULL && rename(o->name, o->place.file) != 0))
            status = ulp_cannot_write(o->program, o->place.path, 0);
        if (status != ULP_EXIT_FINE && o->name != NULL) remove(o->name);
    }
    free(o->name);
    ulp_place_free(&o->place);
    *o = (file_output){0};
    return status;
}

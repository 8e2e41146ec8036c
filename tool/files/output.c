/* output.c - a binary file that is written whole or not at all; see output.h. */
#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tool/tool.h"

int file_output_choose(file_output *o, const char *program, const char *path) {
    *o = (file_output){.program = program};
    return ulp_place_choose(&o->place, program, path);
}

int file_output_open(file_output *o) {
    if (strcmp(o->place.path, "-") == 0) {
        o->file = stdout;
        return ULP_GO_ON;
    }
    if (!o->place.direct) {
        const int status = ulp_replacement_begin(&o->whole, o->program, o->place.file, o->place.path, 1);
        if (status == ULP_GO_ON) o->file = o->whole->file;
        return status;
    }
    o->file = fopen(o->place.file, "w");
    return o->file != NULL ? ULP_GO_ON : ulp_cannot_write(o->program, o->place.path, 1);
}

int file_output_refuse_terminal(const file_output *o) {
    if (!isatty(fileno(o->file))) return ULP_GO_ON;
    return ulp_usage_error(o->program, "binary numbers do not go to a terminal; redirect them, or name a file with "
                                       "--out");
}

static int report(const file_output *o, int failed, int status) {
    if (!failed) return status;
    errno = failed;
    return ulp_cannot_write(o->program, o->place.path, 0);
}

/* End the file that gets its name now, or not: after a failure. */
static int close_whole(file_output *o, int status, int failed) {
    failed = ulp_stream_failure(o->file, failed);
    if (status != ULP_EXIT_FINE || failed) ulp_replacement_drop(o->whole);
    else if (!ulp_replacement_finish(o->whole)) failed = errno;
    return report(o, failed, status);
}

static int close_direct(const file_output *o, int status, int failed) {
    failed = ulp_stream_failure(o->file, failed);
    if (fclose(o->file) != 0 && !failed) failed = errno;
    return report(o, failed, status);
}

int file_output_close(file_output *o, int status, int failed) {
    if (o->whole != NULL) status = close_whole(o, status, failed);
    else if (o->file != NULL && o->file != stdout) status = close_direct(o, status, failed);
    ulp_place_free(&o->place);
    *o = (file_output){0};
    return status;
}

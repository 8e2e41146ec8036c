/* output.c - a binary file that is written whole or not at all; see output.h. */
#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tool/tool.h"

ulp_status file_output_open(file_output *o, const char *path, const char *needs_file, ulp_error *error) {
    ULP_TRY(ulp_place_choose(&o->place, path, error));
    if (needs_file != NULL && o->place.direct) return ulp_refuse(error, "%s", needs_file);
    if (strcmp(o->place.path, "-") == 0) {
        o->file = stdout;
    } else if (o->place.direct) {
        o->file = fopen(o->place.file, "w");
        if (o->file == NULL) return ulp_cannot_write(error, o->place.path, 1);
    } else {
        ULP_TRY(ulp_replacement_begin(&o->whole, o->place.file, o->place.path, 1, error));
        o->file = o->whole->file;
    }
    return ULP_OK;
}

ulp_status file_output_refuse_terminal(const file_output *o, ulp_error *error) {
    if (!isatty(fileno(o->file))) return ULP_OK;
    return ulp_refuse(error, "binary numbers do not go to a terminal; redirect them, or name a file with --out");
}

ulp_status file_output_close(file_output *o, ulp_status status, int failed, ulp_error *error) {
    const int is_own = o->file != NULL && o->file != stdout;
    if (is_own) failed = ulp_stream_failure(o->file, failed);
    if (o->whole != NULL) {
        if (status != ULP_OK || failed) ulp_replacement_drop(o->whole);
        else if (!ulp_replacement_finish(o->whole)) failed = errno;
    } else if (is_own && fclose(o->file) != 0 && !failed) failed = errno;
    if (is_own && failed) {
        if (status != ULP_OK && error->text[0] != '\0') ulp_complain(o->program, "%s", error->text);
        errno = failed;
        status = ulp_cannot_write(error, o->place.path, 0);
    }
    ulp_place_free(&o->place);
    *o = (file_output){0};
    return status;
}

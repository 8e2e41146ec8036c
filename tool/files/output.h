/* output.h - a binary file that is written whole or not at all: stdout, or a file that is renamed at the end. */
#ifndef ULP_TOOL_FILES_OUTPUT_H
#define ULP_TOOL_FILES_OUTPUT_H

#include "experiments/harness/table/output.h"

typedef struct file_output {
    const char *program; /* for messages; set by the caller */
    ulp_place place;
    ulp_replacement *whole; /* NULL: stdout or a device, or not open yet */
    FILE *file;             /* NULL: not open yet */
} file_output;

/* Open the file `path`, which is stdout for "-"; a file that gets its name at the end is for reading, too. If
 * `needs_file` is not NULL, stdout and devices are refused with this sentence. file_output_close() is called in any
 * case. */
ulp_status file_output_open(file_output *o, const char *path, const char *needs_file, ulp_error *error);

/* Why an archive needs a file. */
#define FILE_OUTPUT_NPZ "the list of arrays of a .npz file stands at its end; name a file with --out"

/* Refuse a terminal for binary numbers. */
ulp_status file_output_refuse_terminal(const file_output *o, ulp_error *error);

/* Close the file, and free the place. If `status`, that of the run, is ULP_OK, the file gets its name, else it is
 * removed and an old file stays. `failed` is an errno of an earlier failure, or 0. Returns `status`, or the failure to
 * write; then the sentence of a run that had failed before is written here. */
ulp_status file_output_close(file_output *o, ulp_status status, int failed, ulp_error *error);

#endif

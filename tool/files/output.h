/* output.h - a binary file that is written whole or not at all: stdout, or a file that is renamed at the end. */
#ifndef ULP_TOOL_FILES_OUTPUT_H
#define ULP_TOOL_FILES_OUTPUT_H

#include "experiments/harness/table/output.h"

typedef struct file_output {
    const char *program;
    ulp_place place;
    ulp_replacement *whole; /* NULL: stdout or a device, or not open yet */
    FILE *file;             /* NULL: not open yet */
} file_output;

/* Choose the place for `path`; "-" is stdout. Returns ULP_GO_ON, or the exit status after a message. After this
 * function file_output_close() is called in any case. */
int file_output_choose(file_output *o, const char *program, const char *path);

/* Open the file; a file that gets its name at the end is for reading, too. Returns ULP_GO_ON, or the exit status after
 * a message. */
int file_output_open(file_output *o);

/* Refuse a terminal for binary numbers. Returns ULP_GO_ON, or the exit status after a message. */
int file_output_refuse_terminal(const file_output *o);

/* Close the file. If `status` is ULP_EXIT_FINE the file gets its name, else it is removed and an old file stays.
 * `failed` is an errno of an earlier failure, or 0. Returns `status`, or ULP_EXIT_FAILED after a message if the file
 * could not be written. */
int file_output_close(file_output *o, int status, int failed);

#endif

/* output.h - ulp round: the file that results are written to, whole or not at all. */
#ifndef ULP_TOOL_ROUND_OUTPUT_H
#define ULP_TOOL_ROUND_OUTPUT_H

#include "tool/files/output.h"
#include "tool/round/group.h"

typedef struct round_output {
    const char *program;
    file_output to;
    int has_header_late; /* 1: the number of elements in the header is known at the end */
} round_output;

/* Open `path` for the results of the group ("-": stdout). `from` is a round_from. Returns ULP_GO_ON, or the exit status
 * after a message, after which round_output_close() is called, too. */
int round_output_open(round_output *o, round_group *g, int from, const char *path);

/* Close the file. If `status` is ULP_EXIT_FINE the file gets its name, else it is removed and an old file stays.
 * Returns `status`, or ULP_EXIT_FAILED after a message if the file could not be written. */
int round_output_close(round_output *o, round_group *g, int status);

#endif

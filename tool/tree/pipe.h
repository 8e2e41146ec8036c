/* pipe.h - a user's program that forms sums, as a device: one line of operands in, one line with the result out. */
#ifndef ULP_TOOL_PIPE_H
#define ULP_TOOL_PIPE_H

#include "kernels/products/unit.h"

typedef struct tool_pipe tool_pipe;

/* A program: the command for the shell, the seconds that an answer may take, the formats of a and b and of
 * results. */
typedef struct tool_pipe_plan {
    const char *command;
    double timeout;
    ulp_format in, result;
} tool_pipe_plan;

/* Start the program, in a process group of its own. Returns ULP_NO_MEMORY or ULP_DEVICE_FAILED if it cannot be
 * started. The caller ends it with tool_pipe_close. */
ulp_status tool_pipe_open(tool_pipe **pipe, const tool_pipe_plan *plan);

/* The program as a device. A program that ends, gives no answer in time or answers with no number makes dot return
 * ULP_DEVICE_FAILED, then and in all later calls. */
ulp_unit tool_pipe_unit(tool_pipe *pipe);

/* Read the answer (n) to one line of operands, in which there is a line break: the code of the number in `result`.
 * Returns NULL, or what is wrong with the answer, for a sentence; `why` is room for it. The answer is changed. */
const char *tool_answer_read(uint64_t *code, char *answer, size_t n, const ulp_format *result, char why[200]);

/* The mistake of the program, in a sentence without its subject: "ended with exit status 3 after 12 answers"; "" if
 * nothing. */
const char *tool_pipe_problem(const tool_pipe *pipe);

/* Close the program's input, wait a moment for its end, and end what is left of its process group. */
void tool_pipe_close(tool_pipe *pipe);

#endif

/* tree.h - the options --tree and --exec of ulp probe: the order of a sum, and sums of other programs. */
#ifndef ULP_TOOL_TREE_H
#define ULP_TOOL_TREE_H

#include "tool/tool.h"
#include "kernels/probe/probe.h"
#include "kernels/products/summation_tree.h"
#include "pipe.h"

typedef struct tool_tree_settings {
    int tree, plain;
    int64_t k, m, n;
    const char *exec;
    ulp_format in, result;
    double timeout;
} tool_tree_settings;

extern const ulp_option tool_tree_options[];

/* Check which options and words go together. */
ulp_status tool_tree_check(const tool_tree_settings *g, const ulp_arguments *a, ulp_error *error);

/* Print the tree of a sum: of the program of --exec, of the function or datapath that the command line names by a word,
 * or of `product`, unless it is NULL. */
ulp_status tool_tree_run(const tool_tree_settings *g, const ulp_arguments *a, tool_product *product,
                         const ulp_backend *backend, int csv, ulp_error *error);

/* Start the program of --exec. */
ulp_status tool_exec_open(tool_pipe **pipe, const tool_tree_settings *g, ulp_error *error);

/* Close the program of --exec, `command`, whose last sum gave `status`. Returns ULP_DEVICE_FAILED if the program or the
 * sum failed, else ULP_OK. */
ulp_status tool_exec_close(tool_pipe *pipe, const char *command, ulp_status status, ulp_error *error);

/* draw.c: print the tree with one line for each term. Returns 0, and prints nothing, if it is wider than the columns or
 * longer than the lines. */
int tool_tree_draw(const ulp_order *order, int columns, int lines);

/* draw.c: print the nodes as rows of a CSV. */
void tool_tree_csv(const char *device, const ulp_order *order);

/* ---- blas.c: functions of OpenBLAS as devices ---- */

/* The product whose element (0,0) is the sum: A (m,k) times B (k,n). */
typedef struct tool_blas_size {
    size_t m, n;
} tool_blas_size;

/* Whether the name is that of a function of OpenBLAS. */
int tool_blas_is_name(const char *name);

/* The function called `name` as a device; `size` must exist as long as the device. The library is loaded at the first
 * call, because every start of the tool would otherwise load it. Returns ULP_NO_DEVICE without OpenBLAS, ULP_BAD_NAME.
 * *with_c: whether the function takes a start value. */
ulp_status tool_blas_unit(ulp_unit *unit, const char *name, const tool_blas_size *size, int *with_c);

/* The library's kernels: "OpenBLAS 0.3.21, SkylakeX". */
const char *tool_blas_what(void);

#endif

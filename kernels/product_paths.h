/* product_paths.h - the table of product paths on the processor: which datapaths a path serves, and on which condition.
 *
 * Each instruction set has a table. The rows stand in kernels/cpu/products/paths.h. A product runs on the first row
 * that serves it. Where the data do not meet the condition of this row, the next row that serves the product is tried.
 * The last row serves every datapath except native products. All rows have the same bits, those of
 * kernels/products/sum.h.
 */
#ifndef ULP_PRODUCT_PATHS_H
#define ULP_PRODUCT_PATHS_H

#include "backend.h"

/* A product, or a tile of one. */
typedef struct ulp_job {
    void *c; /* float, or double if wide */
    const void *a, *b;
    int wide;
    ulp_gemm_shape s;
    size_t i0, j0,
        columns; /* the tile's place in the whole result, and the result's columns; random words depend on them */
    const ulp_datapath *datapath;
    ulp_stream stream;
    const ulp_rounding *rounding; /* of C, a whole result with ldc = n; NULL: none. Only fp32_chain.c rounds C. */
} ulp_job;

typedef struct ulp_product_path {
    const char *name;      /* what the path does: the name of its source in kernels/cpu/products/ */
    const char *what;      /* the datapaths that the path serves, in words */
    const char *condition; /* what has to hold of operands and start values, in words; "": nothing */
    const char *example;   /* a datapath that the path serves */

    /* Whether the path serves a job. Reads only datapath, wide and s. */
    int (*serves)(const ulp_job *job);

    /* Computes a job that the path serves. Returns ULP_UNSUPPORTED if the data do not meet the condition; then c is
     * unchanged. */
    ulp_status (*run)(const ulp_job *job);
} ulp_product_path;

/* backend.c: the table of a backend, *count rows. NULL for a backend that is none of the processor. */
const ulp_product_path *ulp_product_paths(const ulp_backend *backend, size_t *count);

/* The first row from `first` on that serves a job; `count` if no row serves the job. */
size_t ulp_product_path_for(const ulp_product_path *paths, size_t count, size_t first, const ulp_job *job);

/* Computes a job by the first row that serves the job and whose condition holds. Returns ULP_UNSUPPORTED if there is no
 * such row. */
ulp_status ulp_product_run(const ulp_product_path *paths, size_t count, const ulp_job *job);

#endif

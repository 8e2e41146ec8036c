/* threads.h - a parallel loop over pieces of an index range, and the number of its threads. */
#ifndef ULP_THREADS_H
#define ULP_THREADS_H

#include <stddef.h>

#include "formats/c_linkage.h"

ULP_C_BEGIN

/* The number of threads for array operations, at most 1024. 0 restores the default (OMP_NUM_THREADS, else all
 * processors). A loop never uses more threads than it has pieces. Results never depend on the number of threads. */
void ulp_threads_set(int n);
int ulp_threads_get(void);

/* Runs body(context, begin, end) over [0, n) on the threads of ulp_threads_get(). All pieces but the last are multiples
 * of `grain`. Inside a parallel region only the calling thread runs the pieces. */
void ulp_parallel_for(size_t n, size_t grain, void (*body)(void *context, size_t begin, size_t end), void *context);

/* Whether the calling thread is inside a parallel region. */
int ulp_parallel_inside(void);

ULP_C_END
#endif

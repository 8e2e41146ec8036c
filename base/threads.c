/* threads.c - the only file that uses OpenMP: a parallel loop over pieces of an index range. */
#include "threads.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

/* ThreadSanitizer does not see the barriers of libgomp. Two marks around a parallel region tell ThreadSanitizer the
 * order that the barriers give. The function that contains the region is not instrumented. */
#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *);
void __tsan_release(void *);
#define ORDER_BEFORE(p) __tsan_release(p)
#define ORDER_AFTER(p) __tsan_acquire(p)
#define NOT_INSTRUMENTED __attribute__((no_sanitize_thread))
#else
#define ORDER_BEFORE(p) (void)(p)
#define ORDER_AFTER(p) (void)(p)
#define NOT_INSTRUMENTED
#endif

/* MOST_THREADS exceeds the number of processors of most machines. libgomp keeps a list of the threads on the stack,
 * which has no room for many more threads. */
enum { MOST_THREADS = 1024 };

static int requested; /* the number of ulp_threads_set(); 0: the default */

static int at_most(int n, int most) { return n < most ? n : most; }

void ulp_threads_set(int n) { requested = n > 0 ? at_most(n, MOST_THREADS) : 0; }

int ulp_threads_get(void) {
#if defined(_OPENMP)
    return requested > 0 ? requested : at_most(omp_get_max_threads(), MOST_THREADS);
#else
    return 1;
#endif
}

int ulp_parallel_inside(void) {
#if defined(_OPENMP)
    return omp_in_parallel();
#else
    return 0;
#endif
}

static NOT_INSTRUMENTED void run_pieces(size_t n, size_t step, void (*body)(void *context, size_t begin, size_t end),
                                        void *context) {
    const size_t pieces = (n + step - 1) / step;
#if defined(_OPENMP)
    const int most = ulp_threads_get(), threads = pieces < (size_t)most ? (int)pieces : most;
    if (threads > 1 && !omp_in_parallel()) {
        char fork = 0, join = 0;
        ORDER_BEFORE(&fork);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (size_t piece = 0; piece < pieces; piece++) {
            ORDER_AFTER(&fork);
            body(context, piece * step, piece + 1 < pieces ? (piece + 1) * step : n);
            ORDER_BEFORE(&join);
        }
        ORDER_AFTER(&join);
        return;
    }
#endif
    for (size_t piece = 0; piece < pieces; piece++)
        body(context, piece * step, piece + 1 < pieces ? (piece + 1) * step : n);
}

void ulp_parallel_for(size_t n, size_t grain, void (*body)(void *context, size_t begin, size_t end), void *context) {
    if (n > 1 && n > grain) run_pieces(n, grain > 0 ? grain : 1, body, context);
    else if (n > 0) body(context, 0, n); /* without a division, which takes as long as ten elements */
}

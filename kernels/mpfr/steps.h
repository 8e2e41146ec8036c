/* steps.h - loops of the backend "mpfr" whose every step MPFR rounds: a context for each thread, and the operations. */
#ifndef ULP_MPFR_STEPS_H
#define ULP_MPFR_STEPS_H

#include "base/threads.h"
#include "reference.h"

static inline double ulp_mpfr_step(ulp_reference *ref, ulp_op op, double a, double b) {
    return ulp_reference_arith(ref, (ulp_scalar_op){op, a, b, 0.0}, (ulp_rule){0}, 0);
}
static inline double ulp_mpfr_plus(ulp_reference *ref, double a, double b) { return ulp_mpfr_step(ref, ULP_ADD, a, b); }
static inline double ulp_mpfr_minus(ulp_reference *ref, double a, double b) {
    return ulp_mpfr_step(ref, ULP_SUB, a, b);
}
static inline double ulp_mpfr_times(ulp_reference *ref, double a, double b) {
    return ulp_mpfr_step(ref, ULP_MUL, a, b);
}
static inline double ulp_mpfr_over(ulp_reference *ref, double a, double b) { return ulp_mpfr_step(ref, ULP_DIV, a, b); }

/* A loop, the arrays of its operation, and the format of its roundings. */
typedef struct ulp_mpfr_loop {
    void (*body)(const void *arrays, ulp_reference *ref, size_t i);
    const void *arrays;
    const ulp_format *format;
    ulp_status status; /* of all threads */
} ulp_mpfr_loop;

static inline void ulp_mpfr_loop_part(void *context, size_t begin, size_t end) {
    ulp_mpfr_loop *loop = context;
    ulp_reference *ref = ulp_reference_new(loop->format);
    if (ref == NULL) __atomic_store_n((int *)&loop->status, ULP_NO_MEMORY, __ATOMIC_RELAXED);
    for (size_t i = begin; ref != NULL && i < end; i++) loop->body(loop->arrays, ref, i);
    ulp_reference_free(ref);
}

/* body(arrays, context of the format, i) for i < n, in pieces of `grain`. */
static inline ulp_status ulp_mpfr_each(size_t n, size_t grain, const ulp_format *format, const void *arrays,
                                       void (*body)(const void *arrays, ulp_reference *ref, size_t i)) {
    ulp_mpfr_loop loop = {body, arrays, format, ULP_OK};
    ulp_parallel_for(n, grain, ulp_mpfr_loop_part, &loop);
    return loop.status;
}

#endif

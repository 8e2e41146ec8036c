/* gemm_check.c - how far the results of ulp gemm are from the exact ones. */
#include "gemm.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_PRODUCTS = 1 << 23 }; /* largest number of products for the exact results */

static void exact_part(void *context, size_t begin, size_t end) {
    gemm_check *v = context;
    const gemm_job *w = v->job;
    const ulp_datapath *d = &w->datapath;
    double *x = gemm_room(2 * w->k, sizeof *x);
    if (x == NULL) {
        __atomic_store_n(&v->lacks_memory, 1, __ATOMIC_RELAXED);
        return;
    }
    double *y = x + w->k;
    for (size_t i = begin; i < end; i++) {
        const size_t row = i * v->stride / w->n, column = i * v->stride % w->n;
        const double start = w->start != NULL ? w->start[i * v->stride] : 0.0;
        v->size[i] = fabs(start);
        for (size_t l = 0; l < w->k; l++) { /* a product with a scale has few bits and is exact */
            const size_t block = d->scale_block != 0 ? l / d->scale_block : 0;
            x[l] = (w->a[row * w->k + l] - d->zero_a) *
                   (w->a_scales != NULL ? (double)w->a_scales[row * w->blocks + block] : 1.0);
            y[l] = (w->b[l * w->n + column] - d->zero_b) *
                   (w->b_scales != NULL ? (double)w->b_scales[column * w->blocks + block] : 1.0);
            v->size[i] += fabs(x[l]) * fabs(y[l]);
        }
        v->exact_c[i] = ulp_dot(&v->exact, start, (ulp_products){x, y, w->k, NULL, NULL}, (ulp_stream){0});
    }
    free(x);
}

gemm_check gemm_check_of(const gemm_job *w) {
    const size_t outputs = w->m * w->n, most = EXACT_PRODUCTS / w->k > 0 ? EXACT_PRODUCTS / w->k : 1;
    gemm_check v = {.job = w, .stride = (outputs + most - 1) / most};
    v.count = (outputs + v.stride - 1) / v.stride;
    v.exact_c = gemm_room(v.count, sizeof *v.exact_c);
    v.size = gemm_room(v.count, sizeof *v.size);
    ulp_datapath_parse(&v.exact, "exact:binary64:rne");
    if (v.exact_c == NULL || v.size == NULL) v.lacks_memory = 1;
    else ulp_parallel_for(v.count, 1, exact_part, &v);
    return v;
}

void gemm_check_release(gemm_check *v) {
    free(v->exact_c);
    free(v->size);
}

void gemm_check_print(const gemm_check *v) {
    const gemm_job *w = v->job;
    double worst = 0, relative = 0, squares = 0, norm = 0;
    size_t not_finite = 0;
    for (size_t i = 0; i < v->count; i++) {
        const double got = w->c[i * v->stride], error = fabs(got - v->exact_c[i]);
        if (!isfinite(got)) {
            not_finite++;
            continue;
        }
        worst = fmax(worst, error);
        if (v->size[i] > 0) relative = fmax(relative, error / v->size[i]);
        squares += error * error;
        norm += v->exact_c[i] * v->exact_c[i];
    }
    printf("exact       %zu of %zu outputs compared with the exact sum, rounded once to binary64\n", v->count,
           (size_t)(w->m * w->n));
    printf("max error   %.6g\n", worst);
    printf("relative    %.6g, the largest error over |A||B|%s\n", relative, w->start != NULL ? " + |C|" : "");
    printf("frobenius   %.6g, the norm of the error over that of the exact result\n",
           norm > 0 ? sqrt(squares / norm) : 0.0);
    printf("not finite  %zu of those compared, left out of the errors\n", not_finite);
}

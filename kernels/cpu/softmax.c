/* softmax.c - softmax with cross-entropy, and its gradient. */
#include "cpu.h"
#include "kernels/arguments.h"
#include "kernels/functions/softmax.h"

typedef struct work {
    double *p, *loss; /* of softmax */
    double *dz;       /* of its gradient */
    const float *z;   /* or the probabilities */
    const uint8_t *label;
    size_t B, C;
    double scale;
} work;

/* Rows of a piece. */
static size_t grain(size_t C) { return ULP_PIECE / C + 1; }

static void softmax_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t C = w->C;
    for (size_t b = begin; b < end; b++) {
        const float *z = w->z + b * C;
        double *p = w->p + b * C;
        const double largest = ulp_softmax_largest(z, C);
        for (size_t c = 0; c < C; c++) p[c] = ulp_exp((double)z[c] - largest);
        const double sum = ulp_softmax_sum(p, C);
        for (size_t c = 0; c < C; c++) p[c] = ulp_quieted(p[c] / sum);
        w->loss[b] = ulp_softmax_loss(z, w->label[b], C, largest, sum);
    }
}

ulp_status ULP_CPU(ulp_cpu_softmax)(double *p, double *loss, const float *z, const uint8_t *label, size_t B, size_t C) {
    work w = {.p = p, .loss = loss, .z = z, .label = label, .B = B, .C = C};
    ulp_status status = ulp_asked_softmax(p, loss, z, label, B, C);
    if (status == ULP_OK) ulp_parallel_for(B, grain(C), softmax_part, &w);
    return status;
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t C = w->C;
    for (size_t b = begin; b < end; b++)
        for (size_t c = 0; c < C; c++)
            w->dz[b * C + c] = ulp_softmax_slope(w->z[b * C + c], (uint32_t)(c == w->label[b]), w->scale, w->B);
}

ulp_status ULP_CPU(ulp_cpu_softmax_slope)(double *dz, const float *p, const uint8_t *label, size_t B, size_t C,
                                          double scale) {
    work w = {.dz = dz, .z = p, .label = label, .B = B, .C = C, .scale = scale};
    ulp_status status = ulp_asked_softmax_slope(dz, p, label, B, C);
    if (status == ULP_OK) ulp_parallel_for(B, grain(C), slope_part, &w);
    return status;
}

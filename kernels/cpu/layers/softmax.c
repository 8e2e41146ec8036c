/* softmax.c - softmax with cross-entropy, and its gradient. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/softmax.h"

typedef struct work {
    double *p, *loss; /* results of softmax */
    double *dz;       /* result of the gradient */
    const float *z;   /* the logits; for the gradient the probabilities */
    ulp_labels labels;
    double scale;
} work;

/* The number of rows in a piece. */
static size_t grain(size_t C) { return ULP_PIECE / C + 1; }

static void softmax_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t C = w->labels.C;
    for (size_t b = begin; b < end; b++) {
        const float *z = w->z + b * C;
        double *p = w->p + b * C;
        const double largest = ulp_softmax_largest(z, C);
        for (size_t c = 0; c < C; c++) p[c] = ulp_exp((double)z[c] - largest);
        const double sum = ulp_softmax_sum(p, C);
        for (size_t c = 0; c < C; c++) p[c] = ulp_quieted(p[c] / sum);
        w->loss[b] = ulp_softmax_loss(z, w->labels.label[b], C, largest, sum);
    }
}

ulp_status ULP_CPU(ulp_cpu_softmax)(double *p, double *loss, const float *z, ulp_labels labels) {
    work w = {.p = p, .loss = loss, .z = z, .labels = labels};
    ulp_parallel_for(labels.B, grain(labels.C), softmax_part, &w);
    return ULP_OK;
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t C = w->labels.C;
    for (size_t b = begin; b < end; b++)
        for (size_t c = 0; c < C; c++)
            w->dz[b * C + c] =
                ulp_softmax_slope(w->z[b * C + c], (uint32_t)(c == w->labels.label[b]), w->scale, w->labels.B);
}

ulp_status ULP_CPU(ulp_cpu_softmax_slope)(double *dz, const float *p, ulp_labels labels, double scale) {
    work w = {.dz = dz, .z = p, .labels = labels, .scale = scale};
    ulp_parallel_for(labels.B, grain(labels.C), slope_part, &w);
    return ULP_OK;
}

/* ctc.c - the loss of sequences of labels and its gradient: connectionist temporal classification. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/ctc.h"
#include "kernels/rounding/count.h"

typedef struct work {
    double *to; /* p of ctc_outputs, dz of ctc */
    double *loss, *memory;
    const float *from; /* z of ctc_outputs, p of ctc */
    ulp_sequences sequences;
    ulp_ctc_form form;
    double scale;
    uint64_t beta_stream;
} work;

static void outputs_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t C = w->sequences.C, T = w->sequences.T;
    for (size_t i = begin; i < end; i++) {
        const size_t at = i / T * C * T + i % T;
        ulp_ctc_outputs(w->to + at, w->from + at, C, T, w->form.linear);
    }
}

ulp_status ULP_CPU(ulp_cpu_ctc_outputs)(double *p, const float *z, ulp_sequences sequences, int linear) {
    work w = {.to = p, .from = z, .sequences = sequences, .form = {.linear = linear != 0}};
    ulp_parallel_for(sequences.B * sequences.T, ULP_PIECE / sequences.C + 1, outputs_part, &w);
    return ULP_OK;
}

/* A sample. dz holds p in binary64 during the sums, and then e. */
static void sample(const work *w, size_t b, const ulp_ctc_form *form) {
    const ulp_sequences *of = &w->sequences;
    const ulp_ctc_task task = ulp_ctc_task_at(of, b);
    const size_t n = of->C * of->T, room = 2 * of->L + 1;
    const float *p = w->from + b * n;
    double *dz = w->to + b * n, *alpha = w->memory + b * (2 * of->T + 1) * room, *beta = alpha + of->T * room;
    ulp_ctc_form backward = *form;
    backward.rounding.stream.stream = w->beta_stream;
    for (size_t i = 0; i < n; i++) dz[i] = (double)p[i];
    const double P = ulp_ctc_alpha(alpha, dz, &task, form);
    ulp_ctc_beta(beta, beta + of->T * room, dz, &task, &backward);
    ulp_ctc_expected(dz, alpha, beta, P, &task, form);
    for (size_t i = 0; i < n; i++) dz[i] = ulp_ctc_slope((double)p[i], dz[i], form, w->scale, of->B);
    w->loss[b] = ulp_ctc_loss(P, form);
}

static void samples_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    ulp_stats *const stats = w->form.rounding.stats;
    for (size_t b = begin; b < end; b++) {
        ulp_stats counts = {0};
        ulp_ctc_form form = ulp_ctc_form_at(&w->form, &w->sequences, b);
        if (stats != NULL) form.rounding.stats = &counts;
        sample(w, b, &form);
        if (stats != NULL) ulp_stats_add(stats, &counts);
    }
}

ulp_status ULP_CPU(ulp_cpu_ctc)(double *dz, double *loss, double *memory, const float *p, ulp_sequences sequences,
                                const ulp_path_sums *sums) {
    work w = {.to = dz,
              .loss = loss,
              .memory = memory,
              .from = p,
              .sequences = sequences,
              .form = ulp_ctc_form_of(sums->linear, sums->rounding),
              .scale = sums->scale,
              .beta_stream = sums->beta_stream};
    ulp_parallel_for(sequences.B, 1, samples_part, &w);
    return ULP_OK;
}

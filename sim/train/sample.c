/* sample.c - new text from a trained net; see sample.h. */
#include "sample.h"

#include <stdlib.h>

#include "formats/rng.h"
#include "kernels/functions/elementary.h"

size_t ulp_likeliest(const float *z, size_t C) {
    size_t best = 0;
    for (size_t i = 1; i < C; i++)
        if (z[i] > z[best]) best = i;
    return best;
}

/* sums is room for C numbers. */
static size_t choose(const float *z, size_t C, double temperature, uint32_t word, double *sums) {
    const size_t best = ulp_likeliest(z, C);
    double sum = 0.0;
    if (temperature == 0.0) return best;
    for (size_t i = 0; i < C; i++) sums[i] = sum += ulp_exp(((double)z[i] - (double)z[best]) / temperature);
    const double bound = ((double)word + 0.5) * 0x1p-32 * sum;
    size_t i = 0;
    while (i + 1 < C && !(sums[i] > bound)) i++;
    return i;
}

ulp_status ulp_trainer_outputs(ulp_trainer *t, float *z, const uint8_t *token, size_t n, uint64_t sample) {
    const size_t T = t->model.net.in.h, C = t->model.net.out.w;
    const ulp_backend *backend = t->pass.run.backend;
    for (size_t i = 0; i < T; i++) z[i] = i < n ? (float)token[i] : 0.0f;
    t->pass.now = (ulp_pass_now){.step = t->step, .evaluation = 1, .B = 1, .first = sample};
    ULP_TRY(backend->upload(t->model.tensor[0], z, T * sizeof *z));
    ULP_TRY(ulp_model_forward(&t->model, &t->pass, t->optimizer.weight));
    return backend->download(z, t->model.tensor[t->model.net.count], T * C * sizeof *z);
}

ulp_status ulp_trainer_sample(ulp_trainer *t, uint8_t *token, size_t given, size_t count, ulp_sampling how) {
    const ulp_net *net = &t->model.net;
    const size_t T = net->in.h, C = net->out.w;
    if (!t->data || !t->data->tokens || net->out.c != 1 || net->out.h != T || C != t->data->classes)
        return ULP_UNSUPPORTED;
    if (!(how.temperature >= 0.0 && how.temperature <= 1e6) || given < 1 || given > count) return ULP_BAD_ARGUMENT;
    const ulp_stream stream = {how.seed, ulp_stream_id(ULP_USE_SAMPLE, 1, 0, 0), 0};
    double *sums = malloc(C * sizeof *sums);
    float *z = malloc(T * C * sizeof *z);
    ulp_status status = sums && z ? ULP_OK : ULP_NO_MEMORY;
    for (size_t k = given; k < count && status == ULP_OK; k++) {
        const size_t used = k < T ? k : T;
        const float *const last = z + (used - 1) * C;
        status = ulp_trainer_outputs(t, z, token + k - used, used, t->data->n + k);
        if (status == ULP_OK) token[k] = (uint8_t)choose(last, C, how.temperature, ulp_random_word(stream, k), sums);
    }
    free(sums);
    free(z);
    return status;
}

// ctc.cu - the loss of sequences of labels and its gradient: connectionist temporal classification.
//
// A block handles a sample. Half of its threads form alpha from the first step on, and the other half form beta from
// the last step on; the places s of a step are shared among the threads of a half. A step has two barriers, because
// beta needs the products q of its step. Then a thread handles a step of the gradient.
#define ULP_CALLS /* an operation on a path is rounded in many places */
#include "counting.h"
#include "operations.h"
#include "kernels/functions/ctc.h"

namespace {

enum { HALF = 64 };

struct job {
    double *dz, *loss, *work;
    const float *p;
    ulp_sequences of;
    ulp_format format;
    ulp_ctc_form form; /* form.rounding.format and form.rounding.stats are set on the device */
    uint64_t beta_stream;
    double scale;
};

/* The sums over paths of one sample, in alpha (T,S), beta (T,S) and q (S). Returns P in the threads of alpha. */
__device__ double path_sums(double *alpha, double *beta, double *q, const double *p, const ulp_ctc_task &task,
                            const ulp_ctc_form &form) {
    const size_t S = 2 * task.L + 1, T = task.T, own = threadIdx.x % HALF;
    const bool forward = threadIdx.x < HALF;
    for (size_t s = own; s < S; s += HALF) {
        if (forward) alpha[s] = ulp_ctc_alpha_at(alpha, p, &task, &form, 0, s);
        else beta[(T - 1) * S + s] = ulp_ctc_beta_end(&task, &form, s);
    }
    __syncthreads();
    for (size_t k = 1; k < T; k++) {
        const size_t back = T - 1 - k;
        for (size_t s = own; s < S; s += HALF) {
            if (forward) alpha[k * S + s] = ulp_ctc_alpha_at(alpha, p, &task, &form, k, s);
            else q[s] = ulp_ctc_q_at(beta, p, &task, &form, back, s);
        }
        __syncthreads();
        for (size_t s = own; s < S && !forward; s += HALF)
            beta[back * S + s] = ulp_ctc_beta_at(q, &task, &form, back, s);
        __syncthreads();
    }
    return threadIdx.x == 0 ? ulp_ctc_end(alpha, &task, &form) : 0.0;
}

/* One sample. dz holds p in binary64 during the sums, and then e. */
__device__ void sample(const job &w, size_t b, ulp_ctc_form form) {
    __shared__ double shared_P;
    const ulp_ctc_task task = ulp_ctc_task_at(&w.of, b);
    const size_t C = w.of.C, T = w.of.T, n = C * T, room = 2 * w.of.L + 1;
    const float *const p = w.p + b * n;
    double *const dz = w.dz + b * n, *const alpha = w.work + b * (2 * T + 1) * room, *const beta = alpha + T * room;
    if (threadIdx.x >= HALF) form.rounding.stream.stream = w.beta_stream;
    for (size_t i = threadIdx.x; i < n; i += 2 * HALF) dz[i] = (double)p[i];
    __syncthreads();
    const double own_P = path_sums(alpha, beta, beta + T * room, dz, task, form);
    if (threadIdx.x == 0) shared_P = own_P;
    __syncthreads();
    const double P = shared_P;
    for (size_t t = threadIdx.x; t < T; t += 2 * HALF) {
        ulp_ctc_expected_at(dz, alpha, beta, P, &task, &form, t);
        for (size_t i = t; i < n; i += T) dz[i] = ulp_ctc_slope((double)p[i], dz[i], &form, w.scale, w.of.B);
    }
    if (threadIdx.x == 0) w.loss[b] = ulp_ctc_loss(P, &form);
    __syncthreads();
}

template <bool COUNT>
__global__ void __launch_bounds__(2 * HALF) ctc_kernel(const __grid_constant__ job w, ulp_stats *stats) {
    ulp_stats own = {};
    ulp_ctc_form form = w.form;
    form.rounding.format = &w.format;
    form.rounding.stats = COUNT ? &own : NULL;
    for (size_t b = blockIdx.x; b < w.of.B; b += gridDim.x) sample(w, b, ulp_ctc_form_at(&form, &w.of, b));
    if (!COUNT) return;
    ulp_cuda_add_counters(stats, ulp_cuda_counters_of(&own));
    if (own.count != 0) atomicAdd((unsigned long long *)&stats->count, (unsigned long long)own.count);
}

} // namespace

ulp_status ulp_cuda_ctc_outputs(double *p, const float *z, ulp_sequences of, int linear) {
    return ulp_cuda_each(of.B * of.T, "outputs of ctc", [=] __device__(size_t i) {
        const size_t at = i / of.T * of.C * of.T + i % of.T;
        ulp_ctc_outputs(p + at, z + at, of.C, of.T, linear);
    });
}

ulp_status ulp_cuda_ctc(double *dz, double *loss, double *work, const float *p, ulp_sequences of,
                        const ulp_path_sums *sums) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || of.B == 0) return status;
    const job w = {dz,
                   loss,
                   work,
                   p,
                   of,
                   *sums->rounding.format,
                   ulp_ctc_form_of(sums->linear, sums->rounding),
                   sums->beta_stream,
                   sums->scale};
    const unsigned blocks = (unsigned)(of.B < 1u << 30 ? of.B : 1u << 30);
    ulp_cuda_counting counting;
    status = ulp_cuda_counting_begin(&counting, sums->rounding.stats);
    auto *const kernel = sums->rounding.stats != NULL ? ctc_kernel<true> : ctc_kernel<false>;
    if (status == ULP_OK) status = ulp_cuda_launch("ctc", kernel, blocks, 2 * HALF, w, counting.device);
    return ulp_cuda_counting_end(&counting, 0, status);
}

// norm.cu - batch normalisation of channels: statistics, values and gradients.
//
// The order of a channel's sum is fixed. A warp forms the sum: its lanes load neighbouring numbers and put their terms
// into shared memory as a tile, and then every lane adds the tile in order; all lanes read equal addresses at one time.
// The loads of the next tile are on their way during the additions. The other operations have a thread for a place in
// the (c,n) numbers of a sample. The thread goes through the samples, so that it computes the factors of its channel
// once, and neighbouring threads access neighbouring numbers.
#include "device.h"
#include "operations.h"

namespace {

enum { LANES = 32, EACH = 4, TILE = LANES * EACH };

/* A lane's way through the numbers of a channel, from number `lane` in steps of LANES. */
struct walk {
    size_t number, b, i; /* b, i: its sample and position */
    __device__ walk(const ulp_channels &s) : number(threadIdx.x), b(threadIdx.x / s.n), i(threadIdx.x % s.n) {}
    __device__ void next(const ulp_channels &s, size_t samples, size_t positions) { /* LANES / n, LANES mod n */
        number += LANES;
        b += samples;
        i += positions;
        if (i >= s.n) i -= s.n, b++;
    }
};

/* sum[k] = the sums over a channel of the terms that Terms computes from the numbers of its KINDS arrays. */
template <int KINDS, typename Terms>
__device__ void add_channel(double *sum, double (*tile)[TILE], const ulp_channels &s, size_t c, const Terms &terms) {
    const size_t M = s.B * s.n, samples = LANES / s.n, positions = LANES % s.n;
    walk at(s);
    float loaded[EACH][KINDS] = {};
#pragma unroll
    for (int k = 0; k < KINDS; k++) sum[k] = 0.0;
    for (size_t from = 0; from < M + TILE; from += TILE) { /* loads tile `from`, adds the tile before it */
        double term[EACH][KINDS];
#pragma unroll
        for (int e = 0; e < EACH; e++) terms.of(term[e], loaded[e]);
        __syncwarp();
#pragma unroll
        for (int e = 0; e < EACH; e++)
#pragma unroll
            for (int k = 0; k < KINDS; k++) tile[k][e * LANES + threadIdx.x] = term[e][k];
        __syncwarp();
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (at.number < M) terms.load(loaded[e], (at.b * s.c + c) * s.n + at.i);
            at.next(s, samples, positions);
        }
        if (from == 0) continue;
        const size_t left = M - (from - TILE);
        const int count = left < TILE ? (int)left : TILE;
#pragma unroll 16
        for (int j = 0; j < count; j++)
#pragma unroll
            for (int k = 0; k < KINDS; k++) sum[k] += tile[k][j];
    }
}

struct plain_terms {
    const float *x;
    __device__ void load(float *to, size_t at) const { to[0] = x[at]; }
    __device__ void of(double *term, const float *from) const { term[0] = (double)from[0]; }
};

struct square_terms {
    const float *x;
    double mean;
    __device__ void load(float *to, size_t at) const { to[0] = x[at]; }
    __device__ void of(double *term, const float *from) const { term[0] = ulp_norm_square(from[0], mean); }
};

struct gradient_terms {
    const float *dy, *x;
    double mean, inverse;
    __device__ void load(float *to, size_t at) const { to[0] = dy[at], to[1] = x[at]; }
    __device__ void of(double *term, const float *from) const {
        term[0] = (double)from[0] * ulp_norm_z(from[1], mean, inverse);
        term[1] = (double)from[0];
    }
};

__global__ void __launch_bounds__(LANES) statistics_kernel(double *to, const float *x, ulp_channels s) {
    __shared__ double tile[1][TILE];
    const double M = (double)(s.B * s.n);
    for (size_t c = blockIdx.x; c < s.c; c += gridDim.x) {
        double sum[1], squares[1];
        add_channel<1>(sum, tile, s, c, plain_terms{x});
        const double mean = sum[0] / M;
        add_channel<1>(squares, tile, s, c, square_terms{x, mean});
        if (threadIdx.x != 0) continue;
        to[c] = ulp_quieted(mean);
        to[s.c + c] = ulp_quieted(squares[0] / M);
    }
}

__global__ void __launch_bounds__(LANES)
    sums_kernel(double *sums, const float *dy, const float *x, const __grid_constant__ ulp_norm by) {
    __shared__ double tile[2][TILE];
    const ulp_channels &s = by.shape;
    for (size_t c = blockIdx.x; c < s.c; c += gridDim.x) {
        const double mean = (double)by.statistics[c], inverse = ulp_norm_inverse(by.statistics[s.c + c]);
        double sum[2];
        add_channel<2>(sum, tile, s, c, gradient_terms{dy, x, mean, inverse});
        if (threadIdx.x != 0) continue;
        sums[c] = ulp_quieted(sum[0]);
        sums[s.c + c] = ulp_quieted(sum[1]);
    }
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    value_kernel(double *__restrict__ y, const float *__restrict__ x, const __grid_constant__ ulp_norm by) {
    const ulp_channels &s = by.shape;
    const size_t sample = s.c * s.n;
    for (size_t p = ulp_cuda_thread(); p < sample; p += ulp_cuda_threads()) {
        const size_t c = p / s.n;
        const double mean = (double)by.statistics[c], inverse = ulp_norm_inverse(by.statistics[s.c + c]);
        const double gamma = (double)by.w[c], beta = (double)by.w[s.c + c];
#pragma unroll 4
        for (size_t b = blockIdx.y; b < s.B; b += gridDim.y)
            y[b * sample + p] = ulp_norm_value(ulp_norm_z(x[b * sample + p], mean, inverse), gamma, beta);
    }
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    slope_kernel(double *__restrict__ dx, const float *__restrict__ dy, const float *__restrict__ x,
                 const double *__restrict__ sums, const __grid_constant__ ulp_norm by) {
    const ulp_channels &s = by.shape;
    const size_t sample = s.c * s.n;
    const double M = (double)(s.B * s.n);
    for (size_t p = ulp_cuda_thread(); p < sample; p += ulp_cuda_threads()) {
        const size_t c = p / s.n;
        const double mean = (double)by.statistics[c], inverse = ulp_norm_inverse(by.statistics[s.c + c]);
        const double scale = (double)by.w[c] * inverse, dgamma = sums[c] / M, dbeta = sums[s.c + c] / M;
#pragma unroll 4
        for (size_t b = blockIdx.y; b < s.B; b += gridDim.y) {
            const size_t at = b * sample + p;
            dx[at] = ulp_norm_slope(dy[at], ulp_norm_z(x[at], mean, inverse), scale, dbeta, dgamma);
        }
    }
}

/* ---- launches ---- */

bool is_empty(const ulp_channels &s) { return s.B == 0 || s.c == 0 || s.n == 0; }

/* A block for each channel. */
unsigned channel_blocks(const ulp_channels &s) { return (unsigned)(s.c < 65535 ? s.c : 65535); }

/* Blocks for the numbers of a sample, times blocks that share the samples so that the device is full. */
dim3 sample_blocks(const ulp_channels &s) {
    const size_t x = ulp_cuda_blocks(s.c * s.n), full = (size_t)ulp_cuda_device()->processors * 8,
                 y = (full + x - 1) / x, most = s.B < 65535 ? s.B : 65535;
    return dim3((unsigned)x, (unsigned)(y < most ? y : most));
}

} // namespace

ulp_status ulp_cuda_norm_statistics(double *to, const float *x, ulp_channels shape) {
    ULP_TRY(ulp_cuda_open());
    if (is_empty(shape)) return ULP_OK;
    return ulp_cuda_launch("norm_statistics", statistics_kernel, channel_blocks(shape), LANES, to, x, shape);
}

ulp_status ulp_cuda_norm_running(double *to, const float *running, const float *batch, ulp_channels s) {
    const double unbiased = ulp_norm_unbiased(s.B * s.n);
    return ulp_cuda_each(is_empty(s) ? 0 : 2 * s.c, "norm_running", [=] __device__(size_t i) {
        to[i] = ulp_norm_running(running[i], batch[i], i < s.c ? 1.0 : unbiased);
    });
}

ulp_status ulp_cuda_norm(double *y, const float *x, ulp_norm by) {
    ULP_TRY(ulp_cuda_open());
    if (is_empty(by.shape)) return ULP_OK;
    return ulp_cuda_launch("norm", value_kernel, sample_blocks(by.shape), ULP_CUDA_THREADS, y, x, by);
}

ulp_status ulp_cuda_norm_sums(double *sums, const float *dy, const float *x, ulp_norm by) {
    ULP_TRY(ulp_cuda_open());
    if (is_empty(by.shape)) return ULP_OK;
    return ulp_cuda_launch("norm_sums", sums_kernel, channel_blocks(by.shape), LANES, sums, dy, x, by);
}

ulp_status ulp_cuda_norm_slope(double *dx, const float *dy, const float *x, const double *sums, ulp_norm by) {
    ULP_TRY(ulp_cuda_open());
    if (is_empty(by.shape)) return ULP_OK;
    return ulp_cuda_launch("norm_slope", slope_kernel, sample_blocks(by.shape), ULP_CUDA_THREADS, dx, dy, x, sums, by);
}

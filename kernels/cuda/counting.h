/* counting.h - the counters of a rounding pass on the device, and their way to the caller's. */
#ifndef ULP_CUDA_COUNTING_H
#define ULP_CUDA_COUNTING_H

#include "device.h"
#include "kernels/rounding/count.h"

/* What a thread counts of its own elements. */
typedef struct ulp_cuda_counters {
    uint32_t overflow, saturated, underflow, subnormal, zero, nan;
} ulp_cuda_counters;

/* The counters of a thread that counts by ulp_stats_count. */
static __device__ inline ulp_cuda_counters ulp_cuda_counters_of(const ulp_stats *s) {
    return {(uint32_t)s->overflow,  (uint32_t)s->saturated, (uint32_t)s->underflow,
            (uint32_t)s->subnormal, (uint32_t)s->zero,      (uint32_t)s->nan};
}

/* Every thread of a warp adds its counters to those of the launch: whole numbers, whose order does not matter. */
static __device__ inline void ulp_cuda_add_counters(ulp_stats *to, ulp_cuda_counters c) {
    const uint32_t mine[] = {c.overflow, c.saturated, c.underflow, c.subnormal, c.zero, c.nan};
    uint64_t *const place[] = {&to->overflow, &to->saturated, &to->underflow, &to->subnormal, &to->zero, &to->nan};
    for (int i = 0; i < (int)(sizeof mine / sizeof *mine); i++) {
        const uint32_t sum = __reduce_add_sync(0xffffffffu, mine[i]);
        if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd((unsigned long long *)place[i], (unsigned long long)sum);
    }
}

/* The counters of one launch: on the device, zeros first, NULL where nobody asked. */
typedef struct ulp_cuda_counting {
    ulp_stats *host, *device;
} ulp_cuda_counting;

static inline ulp_status ulp_cuda_counting_begin(ulp_cuda_counting *c, ulp_stats *stats) {
    c->host = stats;
    c->device = NULL;
    if (stats == NULL) return ULP_OK;
    c->device = static_cast<ulp_stats *>(ulp_cuda_room(sizeof *c->device));
    if (c->device == NULL) return ULP_NO_MEMORY;
    return ulp_cuda_check(cudaMemsetAsync(c->device, 0, sizeof *c->device, ulp_cuda_stream()), "cudaMemsetAsync");
}

/* n elements were counted if `status` is ULP_OK; gives the status back, or what fetching the counters says. */
static inline ulp_status ulp_cuda_counting_end(ulp_cuda_counting *c, size_t n, ulp_status status) {
    ulp_stats seen;
    if (c->device != NULL && status == ULP_OK) status = ulp_cuda_download(&seen, c->device, sizeof seen);
    if (c->device != NULL && status == ULP_OK) {
        seen.count = n;
        ulp_stats_add(c->host, &seen);
    }
    ulp_cuda_release(c->device);
    return status;
}

#endif

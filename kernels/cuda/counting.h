/* counting.h - the counts of a rounding pass on the device, and their addition to the caller's counts. */
#ifndef ULP_CUDA_COUNTING_H
#define ULP_CUDA_COUNTING_H

#include "device.h"
#include "kernels/rounding/count.h"

/* The counts of a thread's elements. */
typedef struct ulp_cuda_counters {
    uint32_t overflow, saturated, underflow, subnormal, zero, nan;
} ulp_cuda_counters;

/* The counts of a thread that uses ulp_stats_count. */
static __device__ inline ulp_cuda_counters ulp_cuda_counters_of(const ulp_stats *s) {
    return {(uint32_t)s->overflow,  (uint32_t)s->saturated, (uint32_t)s->underflow,
            (uint32_t)s->subnormal, (uint32_t)s->zero,      (uint32_t)s->nan};
}

/* Adds the counts of all threads of a warp to the counts of the launch. The counts are integers, so that the order does
 * not matter. */
static __device__ inline void ulp_cuda_add_counters(ulp_stats *to, ulp_cuda_counters c) {
    const uint32_t own[] = {c.overflow, c.saturated, c.underflow, c.subnormal, c.zero, c.nan};
    uint64_t *const place[] = {&to->overflow, &to->saturated, &to->underflow, &to->subnormal, &to->zero, &to->nan};
    for (int i = 0; i < (int)(sizeof own / sizeof *own); i++) {
        const uint32_t sum = __reduce_add_sync(0xffffffffu, own[i]);
        if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd((unsigned long long *)place[i], (unsigned long long)sum);
    }
}

/* The counts of one launch, on the device. `device` is NULL if the caller has no counts. */
typedef struct ulp_cuda_counting {
    ulp_stats *host, *device;
} ulp_cuda_counting;

static inline ulp_status ulp_cuda_counting_begin(ulp_cuda_counting *c, ulp_stats *stats) {
    c->host = stats;
    c->device = NULL;
    if (stats == NULL) return ULP_OK;
    c->device = static_cast<ulp_stats *>(ulp_cuda_room(sizeof *c->device));
    if (c->device == NULL) return ULP_NO_MEMORY;
    return ulp_cuda_zero(c->device, sizeof *c->device);
}

/* Adds the counts to the caller's if `status` is ULP_OK: n elements, and the elements that the kernel counted itself.
 * Returns `status`, or the status of the download. */
static inline ulp_status ulp_cuda_counting_end(ulp_cuda_counting *c, size_t n, ulp_status status) {
    ulp_stats counts;
    if (c->device != NULL && status == ULP_OK) status = ulp_cuda_download(&counts, c->device, sizeof counts);
    if (c->device != NULL && status == ULP_OK) {
        counts.count += n;
        ulp_stats_add(c->host, &counts);
    }
    ulp_cuda_release(c->device);
    return status;
}

#endif

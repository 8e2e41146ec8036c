/* barriers.h - barriers in shared memory that count arrivals and bytes, and copies to shared memory that arrive there.
 *
 * A barrier is complete when all its arrivals and all bytes that were announced are there; then it counts anew. A wait
 * names the completion by its number, from 0 on. A barrier knows only whether this number is even: the wait for
 * completion n has to begin when completion n - 1 is there, and completion n + 1 may not come before its end.
 * Instructions that read shared memory by themselves (wgmma, tcgen05) see the bytes of a copy after the wait, without a
 * fence. The copies are of compute capability 9.0; on lesser ones nothing below may be called.
 */
#ifndef ULP_CUDA_BARRIERS_H
#define ULP_CUDA_BARRIERS_H

#include <cuda_runtime.h>
#include <stdint.h>

#if defined(ULP_EMULATED_DEVICE)
static inline unsigned char *ulp_dynamic_shared(void) { return ulp_emulated_dynamic_shared(); }
static inline uint32_t ulp_shared_address(const void *p) { return ulp_emulated_shared_address(p); }
static inline void ulp_barrier_init(uint64_t *b, uint32_t arrivals) { ulp_emulated_barrier_init(b, arrivals); }
static inline void ulp_barrier_init_fence(void) { ulp_emulated_barrier_init_fence(); }
static inline void ulp_barrier_arrive(uint64_t *b) { ulp_emulated_barrier_arrive(b, 0); }
static inline void ulp_barrier_expect(uint64_t *b, uint32_t bytes) { ulp_emulated_barrier_arrive(b, bytes); }
static inline void ulp_barrier_wait(uint64_t *b, uint32_t number) { ulp_emulated_barrier_wait(b, number & 1); }
static inline void ulp_copy_begin(void *to, const void *from, uint32_t bytes, uint64_t *b) {
    ulp_emulated_copy(to, from, bytes, b);
}
#else
/* The dynamic shared memory of the block, aligned to 128 bytes. */
static __device__ inline unsigned char *ulp_dynamic_shared(void) {
    extern __shared__ __align__(128) unsigned char ulp_dynamic[];
    return ulp_dynamic;
}
static __device__ inline uint32_t ulp_shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

/* One thread begins barriers, then calls the fence; the other threads use them after a barrier of the block. */
static __device__ inline void ulp_barrier_init(uint64_t *b, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ulp_shared_address(b)), "r"(arrivals) : "memory");
}
static __device__ inline void ulp_barrier_init_fence(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ inline void ulp_barrier_arrive(uint64_t *b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ulp_shared_address(b)) : "memory");
}
/* Arrives, and announces bytes. */
static __device__ inline void ulp_barrier_expect(uint64_t *b, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ulp_shared_address(b)), "r"(bytes)
                 : "memory");
}
static __device__ inline void ulp_barrier_wait(uint64_t *b, uint32_t number) {
    asm volatile(
        "{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra WAIT;\n}\n" ::"r"(
            ulp_shared_address(b)),
        "r"(number & 1)
        : "memory");
}
/* Begins a copy from global to shared memory. Addresses and `bytes` are multiples of 16. The bytes arrive at the
 * barrier. */
static __device__ inline void ulp_copy_begin(void *to, const void *from, uint32_t bytes, uint64_t *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     ulp_shared_address(to)),
                 "l"(from), "r"(bytes), "r"(ulp_shared_address(b))
                 : "memory");
}
#endif

#endif

/* cuda_runtime.h - the part of the CUDA runtime that kernels/cuda uses, on the CPU: tests run kernels without a GPU.
 *
 * The sources of kernels/cuda compile as C++17 with this file in place of CUDA's own. A launch runs its blocks one
 * after the other. The threads of a block are coroutines; they switch only at barriers, and their order differs from
 * block to block. A kernel that lacks a barrier therefore gives wrong results. Only kernels and copies can access
 * device memory, and nobody can access the page after an allocation. A copy from the host is made at the next call, as
 * late as CUDA may read pageable memory. Nothing here is meant to be fast. */
#ifndef ULP_EMULATED_CUDA_RUNTIME_H
#define ULP_EMULATED_CUDA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <tuple>
#include <utility>

#define ULP_EMULATED_DEVICE 1
#define CUDART_VERSION 13000

#define __global__
#define __device__
#define __host__
#define __shared__ static /* blocks run one after the other */
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct __align__(16) float4 {
    float x, y, z, w;
};
struct __align__(16) uint4 {
    unsigned x, y, z, w;
};
struct __align__(16) int4 {
    int x, y, z, w;
};
struct __align__(8) float2 {
    float x, y;
};
struct __align__(8) uint2 {
    unsigned x, y;
};
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

/* ---- inside kernels ---- */

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
enum { warpSize = 32 };

void __syncthreads(void);

/* Each lane of the warp gives `size` bytes (mine) and gets the bytes of all lanes: all (32,size). The functions below
 * treat every mask as full. */
void ulp_emulated_exchange(void *all, const void *mine, size_t size);

static inline void __syncwarp(unsigned = 0xffffffffu) {
    char all[32], mine = 0;
    ulp_emulated_exchange(all, &mine, 1);
}
unsigned ulp_emulated_lane(void);

static inline unsigned __reduce_add_sync(unsigned, unsigned value) {
    unsigned all[32], sum = 0;
    ulp_emulated_exchange(all, &value, sizeof value);
    for (unsigned x : all) sum += x;
    return sum;
}
static inline unsigned __reduce_or_sync(unsigned, unsigned value) {
    unsigned all[32], some = 0;
    ulp_emulated_exchange(all, &value, sizeof value);
    for (unsigned x : all) some |= x;
    return some;
}
static inline unsigned __reduce_max_sync(unsigned, unsigned value) {
    unsigned all[32], most = 0;
    ulp_emulated_exchange(all, &value, sizeof value);
    for (unsigned x : all) most = x > most ? x : most;
    return most;
}

template <typename T> T atomicAdd(T *at, T by) {
    const T before = *at;
    *at = before + by;
    return before;
}
template <typename T> T atomicMax(T *at, T by) {
    const T before = *at;
    *at = before > by ? before : by;
    return before;
}
template <typename T> T atomicOr(T *at, T by) {
    const T before = *at;
    *at = before | by;
    return before;
}
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
/* Addition and fma, rounded toward zero (rz), upward (ru) or downward (rd). */
double __dadd_rz(double a, double b);
double __dadd_ru(double a, double b);
double __dadd_rd(double a, double b);
double __fma_rz(double a, double b, double c);
/* max(a + b, c) of each half, signed */
static inline unsigned __viaddmax_s16x2(unsigned a, unsigned b, unsigned c) {
    unsigned all = 0;
    for (int half = 0; half < 32; half += 16) {
        const short sum = (short)(unsigned short)((a >> half) + (b >> half)),
                    least = (short)(unsigned short)(c >> half);
        all |= (unsigned)(unsigned short)(sum > least ? sum : least) << half;
    }
    return all;
}
/* max(a + b, c); the sum may wrap around */
static inline int __viaddmax_s32(int a, int b, int c) {
    const int sum = (int)((unsigned)a + (unsigned)b);
    return sum > c ? sum : c;
}
/* a clock of nanoseconds; that of the processors goes as fast */
uint64_t ulp_emulated_nanoseconds(void);
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline int __ffs(int x) { return __builtin_ffs(x); }

/* ---- Tensor Cores (tensor.cpp) ---- */

/* mma.sync.aligned.INSTRUCTION: d = a b + d, on the registers of the warp. */
void ulp_emulated_mma(const char *instruction, uint32_t *d, const uint32_t *a, const uint32_t *b);
void ulp_emulated_mma64(const char *instruction, double *d, double a, double b);

/* wgmma.mma_async.sync.aligned.INSTRUCTION, its fences, commit and wait. Some warps read the operands at once, and
 * others at the wait. Until the wait D holds wrong values. An instruction without a fence before it, or without a
 * commit after it, ends the program. */
extern unsigned ulp_emulated_launches; /* number of launches so far */
uint32_t ulp_emulated_shared_address(const void *p);
void ulp_emulated_wgmma_fence(void);
void ulp_emulated_wgmma(const char *instruction, uint32_t *d, uint64_t a, uint64_t b, int keep);
void ulp_emulated_wgmma_commit(void);
void ulp_emulated_wgmma_wait(unsigned left);
/* The dynamic shared memory of the launch; its bytes are 0xba at the begin of each block. */
unsigned char *ulp_emulated_dynamic_shared(void);
extern size_t ulp_emulated_dynamic_bytes;
/* Barriers in shared memory (barriers.cpp): they count arrivals, and bytes of copies that were announced. Some copies
 * are made at once, others at the wait; until then the bytes there are wrong. */
void ulp_emulated_barrier_init(uint64_t *at, unsigned count);
void ulp_emulated_barrier_init_fence(void);
void ulp_emulated_barrier_arrive(uint64_t *at, uint32_t bytes);
void ulp_emulated_barrier_wait(uint64_t *at, unsigned parity);
void ulp_emulated_copy(void *to, const void *from, uint32_t bytes, uint64_t *at);

/* tcgen05 (tcgen05.cpp): tensor memory of 128 lanes and 512 columns, loads and stores of a thread's lane, fences,
 * instructions and copies of scales. Some of them are carried out at once, others at a wait.
 * Columns that the block does not have or does not give back, lanes of another warp, and a fence that is missing end
 * the program. */
void ulp_emulated_tensor_alloc(uint32_t *to, uint32_t columns);
void ulp_emulated_tensor_free(uint32_t base, uint32_t columns);
void ulp_emulated_tensor_before(void);
void ulp_emulated_tensor_after(void);
void ulp_emulated_tensor_store(uint32_t address, const uint32_t *d, unsigned count);
void ulp_emulated_tensor_store_wait(void);
void ulp_emulated_tensor_load(uint32_t *d, uint32_t address, unsigned count);
void ulp_emulated_tensor_load_wait(void);
void ulp_emulated_tensor_copy(const char *text, uint32_t to, uint64_t from);
void ulp_emulated_tcgen05(const char *text, uint32_t d, uint64_t a, uint64_t b, uint32_t descriptor, uint32_t a_scales,
                          uint32_t b_scales, uint32_t keep);
void ulp_emulated_tcgen05_commit(uint64_t *at);
/* For tcgen05.cpp and barriers.cpp: barriers of the block that were opened so far; other threads run; the end of a
 * block. */
extern unsigned ulp_emulated_barriers;
void ulp_emulated_yield(void);
void ulp_emulated_tensor_end(void);

/* ---- the host's side ---- */

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorLaunchFailure = 719
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum cudaDeviceAttr { cudaDevAttrClockRate = 13 };
enum { cudaStreamNonBlocking = 1 };
typedef struct ulp_emulated_stream *cudaStream_t;
typedef struct ulp_emulated_event *cudaEvent_t;

struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount;
    size_t totalGlobalMem;
};

struct cudaLaunchAttribute {
    int unused;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaMalloc(void **memory, size_t bytes);
template <typename T> cudaError_t cudaMalloc(T **memory, size_t bytes) { return cudaMalloc((void **)memory, bytes); }
cudaError_t cudaFree(void *memory);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);

/* For tests: the number of copies from the host and to the host so far, and their bytes; the memory of the device, of
 * which the live allocations take a part; the memory that a launch needs besides them. */
extern unsigned ulp_emulated_uploads, ulp_emulated_downloads;
extern size_t ulp_emulated_uploaded, ulp_emulated_downloaded;
extern size_t ulp_emulated_memory, ulp_emulated_local;

/* body(context) is the kernel with its arguments, for the thread that threadIdx and blockIdx name. */
cudaError_t ulp_emulated_launch(const cudaLaunchConfig_t *config, const void *kernel, void (*body)(void *context),
                                void *context);

template <typename... Expected, typename... Given>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Expected...), Given &&...given) {
    struct call {
        void (*kernel)(Expected...);
        std::tuple<Expected...> values;
        static void body(void *context) {
            const call *c = static_cast<const call *>(context);
            std::apply(c->kernel, c->values);
        }
    } c = {kernel, std::tuple<Expected...>(std::forward<Given>(given)...)};
    return ulp_emulated_launch(config, reinterpret_cast<const void *>(kernel), call::body, &c);
}

/* The offset of `at` in the allocation that holds [at, at + bytes); -1 if this is not device memory. */
ptrdiff_t ulp_emulated_place(const void *at, size_t bytes);

/* The compute capability 10 major + minor: the value of the environment variable EMULATED_CAPABILITY, or 90 without it.
 * 0: there is no device. */
int ulp_emulated_capability(void);

#endif

// device.cu - the device in use: its choice, its memory, its stream and its errors.
#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCE = 320, MOST_FREE = 256 };

/* A block of device memory. A free block is kept for a later request of its size. */
typedef struct block {
    struct block *next;
    void *memory;
    size_t bytes;
    int taken;
} block;

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    ulp_status status;
    char lacks[SENTENCE], error[SENTENCE];
    int ordinal;
    ulp_cuda_info info;
    cudaStream_t stream;
    block *blocks;
} device = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_ONCE_INIT, ULP_OK, "", "", 0, {}, NULL, NULL};

/* ---- errors ---- */

void ulp_cuda_say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    pthread_mutex_lock(&device.lock);
    vsnprintf(device.error, sizeof device.error, format, list);
    pthread_mutex_unlock(&device.lock);
    va_end(list);
}

const char *ulp_cuda_error(void) { return device.error; }

ulp_status ulp_cuda_check(cudaError_t error, const char *call) {
    if (error == cudaSuccess) return ULP_OK;
    (void)cudaGetLastError(); /* this call clears an error that is not sticky */
    ulp_cuda_say("%s: %s", call, cudaGetErrorString(error));
    switch (error) {
    case cudaErrorMemoryAllocation: return ULP_NO_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
    case cudaErrorNoKernelImageForDevice: return ULP_NO_DEVICE;
    default: return ULP_DEVICE_FAILED;
    }
}

/* ---- the choice of the device ---- */

__global__ void nothing(void) {}

static ulp_status lack(ulp_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(device.lacks, sizeof device.lacks, format, list);
    va_end(list);
    return status;
}

/* The number in ULPLAB_CUDA_DEVICE. -1 if it is not a number below `count`. */
static int requested_device(int count) {
    const char *text = getenv("ULPLAB_CUDA_DEVICE");
    if (text == NULL || text[0] == '\0') return 0;
    if (strspn(text, "0123456789") != strlen(text) || strlen(text) > 4) return -1;
    const int number = atoi(text);
    return number < count ? number : -1;
}

static ulp_status describe(int ordinal) {
    cudaDeviceProp prop;
    ulp_cuda_info *info = &device.info;
    ULP_TRY(ulp_cuda_check(cudaGetDeviceProperties(&prop, ordinal), "cudaGetDeviceProperties"));
    snprintf(info->name, sizeof info->name, "%s", prop.name);
    info->capability = 10 * prop.major + prop.minor;
    info->processors = prop.multiProcessorCount;
    info->memory = prop.totalGlobalMem;
    if (cudaDeviceGetAttribute(&info->clock_khz, cudaDevAttrClockRate, ordinal) != cudaSuccess) info->clock_khz = 0;
    if (cudaDriverGetVersion(&info->driver) != cudaSuccess || cudaRuntimeGetVersion(&info->runtime) != cudaSuccess)
        return ULP_NO_DEVICE;
    return ULP_OK;
}

static ulp_status choose(void) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver)
        return lack(ULP_NO_DEVICE, "no CUDA driver, or one older than this build's CUDA %d.%d", CUDART_VERSION / 1000,
                    CUDART_VERSION % 1000 / 10);
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
        return lack(ULP_NO_DEVICE, "this machine has no CUDA device");
    if (error != cudaSuccess) return lack(ULP_NO_DEVICE, "CUDA does not start: %s", cudaGetErrorString(error));
    const int ordinal = requested_device(count);
    if (ordinal < 0)
        return lack(ULP_NOT_IN_RANGE, "ULPLAB_CUDA_DEVICE=%s: has to be from 0 to %d", getenv("ULPLAB_CUDA_DEVICE"),
                    count - 1);
    device.ordinal = ordinal;
    ulp_status status = ulp_cuda_check(cudaSetDevice(ordinal), "cudaSetDevice");
    if (status == ULP_OK) status = describe(ordinal);
    if (status == ULP_OK)
        status = ulp_cuda_check(cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking),
                                "cudaStreamCreateWithFlags");
    if (status != ULP_OK) return lack(ULP_NO_DEVICE, "CUDA device %d: %s", ordinal, device.error);
    status = ulp_cuda_launch("a first kernel", nothing, 1, 1);
    if (status == ULP_OK) status = ulp_cuda_check(cudaStreamSynchronize(device.stream), "cudaStreamSynchronize");
    if (status != ULP_OK)
        return lack(ULP_NO_DEVICE,
                    "CUDA device %d, %s, compute capability %d.%d: this build's code does not run there (%s)", ordinal,
                    device.info.name, device.info.capability / 10, device.info.capability % 10, device.error);
    return ULP_OK;
}

static void open_once(void) { device.status = choose(); }

/* The device is chosen once for the process, but CUDA requires that every thread sets it. */
ulp_status ulp_cuda_open(void) {
    static __thread int named;
    pthread_once(&device.once, open_once);
    if (device.status == ULP_OK && !named) {
        ULP_TRY(ulp_cuda_check(cudaSetDevice(device.ordinal), "cudaSetDevice"));
        named = 1;
    }
    return device.status;
}

const char *ulp_cuda_lacks(void) {
    ulp_cuda_open();
    return device.lacks;
}

cudaStream_t ulp_cuda_stream(void) { return device.stream; }

const ulp_cuda_info *ulp_cuda_device(void) { return &device.info; }

ulp_status ulp_cuda_describe(ulp_cuda_info *info) {
    if (info == NULL) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_cuda_open());
    *info = device.info;
    return ULP_OK;
}

/* ---- memory ---- */

/* Takes a free block of this size. NULL if there is none. */
static void *reuse(size_t bytes) {
    for (block *b = device.blocks; b != NULL; b = b->next)
        if (!b->taken && b->bytes == bytes) {
            b->taken = 1;
            return b->memory;
        }
    return NULL;
}

/* Gives all free blocks back to the device. */
static void trim(void) {
    for (block **at = &device.blocks; *at != NULL;) {
        block *b = *at;
        if (b->taken) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        (void)cudaFree(b->memory);
        free(b);
    }
}

/* *error is the result of cudaMalloc, which may report the fault of an earlier kernel. */
static void *allocate(size_t bytes, cudaError_t *error) {
    void *memory = reuse(bytes);
    *error = cudaSuccess;
    if (memory != NULL) return memory;
    block *b = static_cast<block *>(malloc(sizeof *b));
    *error = b == NULL ? cudaErrorMemoryAllocation : cudaMalloc(&memory, bytes);
    if (b != NULL && *error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        trim();
        *error = cudaMalloc(&memory, bytes);
    }
    if (*error != cudaSuccess) {
        free(b);
        return NULL;
    }
    *b = {device.blocks, memory, bytes, 1};
    device.blocks = b;
    return memory;
}

void ulp_cuda_trim(void) {
    pthread_mutex_lock(&device.lock);
    trim();
    pthread_mutex_unlock(&device.lock);
}

void *ulp_cuda_room(size_t bytes) {
    if (ulp_cuda_open() != ULP_OK) return NULL;
    const size_t whole = bytes == 0 ? 64 : (bytes + 63) / 64 * 64;
    pthread_mutex_lock(&device.lock);
    cudaError_t error;
    void *memory = allocate(whole, &error);
    pthread_mutex_unlock(&device.lock);
    char call[64];
    snprintf(call, sizeof call, "cudaMalloc of %zu bytes", whole);
    (void)ulp_cuda_check(error, call);
    return memory;
}

void ulp_cuda_release(void *memory) {
    if (memory == NULL) return;
    pthread_mutex_lock(&device.lock);
    int unused = 0;
    for (block *b = device.blocks; b != NULL; b = b->next) {
        if (b->memory == memory) b->taken = 0;
        unused += !b->taken;
    }
    if (unused > MOST_FREE) trim(); /* too many blocks of sizes that are no longer in use */
    pthread_mutex_unlock(&device.lock);
}

size_t ulp_cuda_room_of(const void *memory) {
    size_t bytes = 0;
    pthread_mutex_lock(&device.lock);
    for (const block *b = device.blocks; b != NULL && memory != NULL; b = b->next)
        if (b->memory == memory) bytes = b->bytes;
    pthread_mutex_unlock(&device.lock);
    return bytes;
}

/* The runtime may read pageable memory after the call, so that this function waits. */
static ulp_status copy_now(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, const char *call) {
    if (bytes == 0) return ULP_OK;
    ULP_TRY(ulp_cuda_check(cudaMemcpyAsync(to, from, bytes, kind, device.stream), call));
    return ulp_cuda_check(cudaStreamSynchronize(device.stream), "work on the device");
}

ulp_status ulp_cuda_upload(void *to, const void *host, size_t bytes) {
    return copy_now(to, host, bytes, cudaMemcpyHostToDevice, "cudaMemcpyAsync to the device");
}

ulp_status ulp_cuda_zero(void *memory, size_t bytes) {
    if (bytes == 0) return ULP_OK;
    return ulp_cuda_check(cudaMemsetAsync(memory, 0, bytes, device.stream), "cudaMemsetAsync");
}

ulp_status ulp_cuda_download(void *host, const void *from, size_t bytes) {
    return copy_now(host, from, bytes, cudaMemcpyDeviceToHost, "cudaMemcpyAsync from the device");
}

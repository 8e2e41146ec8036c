/* runtime.cpp - launches, barriers and memory of the emulated device; see cuda_runtime.h.
 *
 * The file is long because a launch, a barrier, a copy and a wrong access change one state: which threads run, and
 * which memory the host may touch. */
#include "cuda_runtime.h"

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

unsigned ulp_emulated_launches, ulp_emulated_barriers;
size_t ulp_emulated_dynamic_bytes;
uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

/* ---- arithmetic ---- */

/* Sets the rounding of doubles. fesetround() also sets the rounding of the x87 unit, which takes ten times as long. */
static void set_rounding(int mode) {
#if defined(__SSE2__)
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0x6000u) | (unsigned)mode << 3);
#else
    fesetround(mode);
#endif
}

/* The operands and the result are volatile, so that the compiler moves no arithmetic past set_rounding(). */
double __fma_rz(double a, double b, double c) {
    volatile double x = a, y = b, z = c, r;
    set_rounding(FE_TOWARDZERO);
    r = __builtin_fma(x, y, z);
    set_rounding(FE_TONEAREST);
    return r;
}

static double add(double a, double b, int mode) {
    volatile double x = a, y = b, r;
    set_rounding(mode);
    r = x + y;
    set_rounding(FE_TONEAREST);
    return r;
}

double __dadd_rz(double a, double b) { return add(a, b, FE_TOWARDZERO); }
double __dadd_ru(double a, double b) { return add(a, b, FE_UPWARD); }
double __dadd_rd(double a, double b) { return add(a, b, FE_DOWNWARD); }

/* ---- coroutines ---- */

enum { MOST_THREADS = 1024, STACK = 256 * 1024, WORDS = 512 };
enum state { READY, AT_BLOCK, AT_WARP, DONE };

/* A coroutine runs threads of the device. A thread that waits at a barrier keeps its coroutine. After the end of a
 * thread the coroutine runs the next thread, so that a block without barriers needs one coroutine. */
struct coroutine {
    ucontext_t context;
    jmp_buf jump;
    bool started;
    char *stack;
    void *fake;
};

struct thread {
    uint3 at;
    state where;
    coroutine *on; /* null before the thread starts */
    unsigned char given[WORDS];
};

static struct {
    thread threads[MOST_THREADS];
    unsigned count, current;
    unsigned block, position; /* the number of the block, and the next position in this round of its threads */
    coroutine coroutines[MOST_THREADS];
    coroutine *idle[MOST_THREADS]; /* (idle_count) */
    unsigned made, idle_count;
    ucontext_t scheduler;
    jmp_buf jump;
    void (*body)(void *);
    void *context, *fake;
    const void *bottom;
    size_t size;
    unsigned char seen[MOST_THREADS / 32][32 * WORDS]; /* what the lanes of each warp gave in the last exchange */
} run;

static void fail(const char *text) {
    fprintf(stderr, "emulated device: %s\n", text);
    abort();
}

/* The number of the thread at a position of a round. The order is forward, backward or with strides, and depends on the
 * number of the block. */
static unsigned turn(unsigned i) {
    const unsigned n = run.count;
    if (run.block % 3 == 1) return n - 1 - i;
    if (run.block % 3 == 2 && n % 7 != 0) return i * 7 % n;
    return i;
}

/* Sets run.current to the next thread of this round that is READY. Returns false at the end of the round. */
static bool next_thread(void) {
    for (; run.position < run.count; run.position++) {
        const unsigned t = turn(run.position);
        if (run.threads[t].where != READY) continue;
        run.current = t;
        threadIdx = run.threads[t].at;
        return true;
    }
    return false;
}

/* A change between coroutines by jumps costs no system call, but AddressSanitizer understands only changes of context.
 */
static void switch_to_scheduler(coroutine *f) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&f->fake, run.bottom, run.size);
    swapcontext(&f->context, &run.scheduler);
    __sanitizer_finish_switch_fiber(f->fake, nullptr, nullptr);
#else
    if (_setjmp(f->jump) == 0) _longjmp(run.jump, 1);
#endif
}

/* Runs the current thread and then the next threads of the round, up to a thread that waits on another coroutine. */
static void run_threads(coroutine *self) {
    do {
        run.threads[run.current].on = self;
        run.position++;
        run.body(run.context);
        run.threads[run.current].where = DONE;
    } while (next_thread() && run.threads[run.current].on == nullptr);
}

static void enter(void) {
    coroutine *self = run.threads[run.current].on;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &run.bottom, &run.size);
#endif
    for (;;) {
        run_threads(self);
        run.idle[run.idle_count++] = self;
        switch_to_scheduler(self);
    }
}

static coroutine *make_coroutine(void) {
    coroutine *f = &run.coroutines[run.made++];
    void *stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) fail("no memory for stacks");
    f->stack = static_cast<char *>(stack);
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = nullptr;
    makecontext(&f->context, enter, 0);
    return f;
}

/* Starts or continues the current thread. */
static void resume(void) {
    thread *t = &run.threads[run.current];
    if (t->on == nullptr) t->on = run.idle_count ? run.idle[--run.idle_count] : make_coroutine();
    else run.position++;
    coroutine *f = t->on;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&run.fake, f->stack, STACK);
    swapcontext(&run.scheduler, &f->context);
    __sanitizer_finish_switch_fiber(run.fake, nullptr, nullptr);
#else
    if (_setjmp(run.jump) != 0) return;
    if (f->started) _longjmp(f->jump, 1);
    f->started = true;
    setcontext(&f->context);
#endif
}

/* The current thread waits, and its coroutine waits with it. */
static void wait_at(state where) {
    thread *t = &run.threads[run.current];
    t->where = where;
    switch_to_scheduler(t->on);
}

void __syncthreads(void) { wait_at(AT_BLOCK); }

void ulp_emulated_yield(void) { wait_at(READY); }

unsigned ulp_emulated_lane(void) { return run.current % 32; }

void ulp_emulated_exchange(void *all, const void *mine, size_t size) {
    if (size > WORDS) fail("an exchange of too many bytes");
    const unsigned self = run.current;
    memcpy(run.threads[self].given, mine, size);
    wait_at(AT_WARP);
    for (unsigned lane = 0; lane < 32; lane++)
        memcpy((char *)all + lane * size, run.seen[self / 32] + lane * WORDS, size);
}

static bool all_at(unsigned begin, unsigned end, state where) {
    bool any = false;
    for (unsigned i = begin; i < end; i++) {
        if (run.threads[i].where != where && run.threads[i].where != DONE) return false;
        any |= run.threads[i].where == where;
    }
    return any;
}

static void release(unsigned begin, unsigned end) {
    for (unsigned i = begin; i < end; i++)
        if (run.threads[i].where != DONE) run.threads[i].where = READY;
}

/* Open every barrier that all its threads have reached. Returns whether a barrier was opened. */
static bool open_barriers(void) {
    bool any = false;
    for (unsigned begin = 0; begin < run.count; begin += 32) {
        const unsigned end = begin + 32 < run.count ? begin + 32 : run.count;
        if (!all_at(begin, end, AT_WARP)) continue;
        for (unsigned i = begin; i < end; i++)
            memcpy(run.seen[begin / 32] + (i - begin) * WORDS, run.threads[i].given, WORDS);
        release(begin, end);
        any = true;
    }
    if (all_at(0, run.count, AT_BLOCK)) {
        release(0, run.count);
        ulp_emulated_barriers++;
        any = true;
    }
    return any;
}

static void run_block(void) {
    for (unsigned i = 0; i < run.count; i++) {
        thread *t = &run.threads[i];
        t->at = {i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
        t->where = READY;
        t->on = nullptr;
    }
    for (;;) {
        bool ran = false, left = false;
        for (run.position = 0; next_thread(); ran = true) resume();
        for (unsigned i = 0; i < run.count; i++) left |= run.threads[i].where != DONE;
        if (!left) return;
        if (!open_barriers() && !ran) fail("not all threads of a block reach a barrier");
    }
}

/* ---- memory ---- */

enum { PAGE = 4096, MOST_BLOCKS = 4096, LARGE = 4 << 20 };
static const size_t ARENA = (size_t)4 << 30;
unsigned ulp_emulated_uploads, ulp_emulated_downloads;
size_t ulp_emulated_uploaded, ulp_emulated_downloaded;
size_t ulp_emulated_memory = ARENA, ulp_emulated_local;

struct block {
    char *memory, *pages;
    size_t bytes, length;
    bool listed; /* in device.unprotected */
};

static struct {
    char *base;
    size_t used;
    block blocks[MOST_BLOCKS];
    unsigned count;
    bool open;                       /* kernels and copies may use the memory */
    block *unprotected[MOST_BLOCKS]; /* (unprotected_count) the blocks used since the memory was opened */
    unsigned unprotected_count;
} device;

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

static void protect(const block *b, int rights) {
    if (mprotect(b->pages, b->length, rights) != 0) fail("mprotect");
}

static void unprotect(block *b) {
    protect(b, PROT_READ | PROT_WRITE);
    if (!b->listed) device.unprotected[device.unprotected_count++] = b;
    b->listed = true;
}

/* While the memory is open, the first access to a live block unprotects the block. Any other access ends the program.
 */
static void on_fault(int, siginfo_t *info, void *) {
    const char *p = static_cast<const char *>(info->si_addr);
    for (unsigned i = 0; i < device.count && device.open; i++) {
        block *b = &device.blocks[i];
        if (b->bytes == 0 || p < b->pages || p >= b->pages + b->length) continue;
        unprotect(b);
        return;
    }
    signal(SIGSEGV, SIG_DFL); /* the access is repeated */
}

/* Allow access to device memory. Access stays allowed until the host waits for the device. */
static void open_memory(void) { device.open = true; }

static void close_memory(void) {
    device.open = false;
    while (device.unprotected_count > 0) {
        block *b = device.unprotected[--device.unprotected_count];
        b->listed = false;
        protect(b, PROT_NONE);
    }
}

/* The allocation that holds [at, at + bytes), or NULL. */
static block *holder(const void *at, size_t bytes) {
    const char *p = static_cast<const char *>(at);
    for (unsigned i = 0; i < device.count; i++) {
        block *b = &device.blocks[i];
        if (b->bytes != 0 && p >= b->memory && p + bytes <= b->memory + b->bytes) return b;
    }
    return nullptr;
}

static size_t live_bytes(void) {
    size_t sum = 0;
    for (unsigned i = 0; i < device.count; i++) sum += device.blocks[i].bytes;
    return sum;
}

/* The copy from the host that is still to be made. */
static struct {
    void *to;
    const void *from;
    size_t bytes;
} late;

static void copy_now(void) {
    if (late.bytes == 0) return;
    open_memory();
    memmove(late.to, late.from, late.bytes);
    late.bytes = 0;
}

ptrdiff_t ulp_emulated_place(const void *at, size_t bytes) {
    const block *b = holder(at, bytes);
    return b == nullptr ? -1 : static_cast<const char *>(at) - b->memory;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    if (ulp_emulated_capability() == 0) return cudaErrorNoDevice;
    copy_now();
    if (live_bytes() + bytes > ulp_emulated_memory) return cudaErrorMemoryAllocation;
    if (device.base == nullptr) {
        void *base = mmap(nullptr, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) fail("no address space");
        device.base = static_cast<char *>(base);
        struct sigaction action = {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO;
        if (sigaction(SIGSEGV, &action, nullptr) != 0) fail("sigaction");
    }
    const size_t kept = (bytes + 63) / 64 * 64, length = whole_pages(kept == 0 ? 64 : kept);
    unsigned at = device.count;
    for (unsigned i = 0; i < device.count && at == device.count; i++)
        if (device.blocks[i].bytes == 0 && device.blocks[i].length == length) at = i;
    block *b = &device.blocks[at];
    if (at == device.count) {
        if (at == MOST_BLOCKS || device.used + length + PAGE > ARENA) return cudaErrorMemoryAllocation;
        *b = {nullptr, device.base + device.used, 0, length, false};
        device.used += length + PAGE; /* no access to the page after the allocation */
        device.count++;
    }
    b->bytes = kept == 0 ? 64 : kept;
    b->memory = b->pages + length - b->bytes;
    if (length >= LARGE) (void)madvise(b->pages, length, MADV_HUGEPAGE); /* mprotect() is faster */
    protect(b, PROT_READ | PROT_WRITE);
    memset(b->pages, 0x7f, length); /* memory that nobody has written holds 3.4e38 */
    protect(b, PROT_NONE);
    *memory = b->memory;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
    if (memory == nullptr) return cudaSuccess;
    copy_now();
    block *b = holder(memory, 0);
    if (b == nullptr || b->memory != memory) return cudaErrorInvalidValue;
    b->bytes = 0;
    protect(b, PROT_NONE);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    if (bytes == 0) return cudaSuccess;
    if ((kind != cudaMemcpyDeviceToHost) != (holder(to, bytes) != nullptr)) return cudaErrorInvalidValue;
    if ((kind != cudaMemcpyHostToDevice) != (holder(from, bytes) != nullptr)) return cudaErrorInvalidValue;
    copy_now();
    if (kind == cudaMemcpyHostToDevice) {
        late = {to, from, bytes};
        ulp_emulated_uploads++;
        ulp_emulated_uploaded += bytes;
        return cudaSuccess;
    }
    open_memory();
    memmove(to, from, bytes);
    if (kind != cudaMemcpyDeviceToHost) return cudaSuccess;
    ulp_emulated_downloads++;
    ulp_emulated_downloaded += bytes;
    close_memory();
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t) {
    if (bytes == 0) return cudaSuccess;
    if (holder(to, bytes) == nullptr) return cudaErrorInvalidValue;
    copy_now();
    open_memory();
    memset(to, value, bytes);
    return cudaSuccess;
}

/* ---- launches ---- */

/* A kernel has 48 KB of dynamic shared memory, or as much as it asks for, up to 227 KB. */
enum { USUAL_SHARED = 48 << 10, MOST_SHARED = 227 << 10, MOST_KERNELS = 512 };
alignas(1024) static unsigned char dynamic_shared[MOST_SHARED];
static struct {
    const void *kernel;
    size_t shared;
} asked[MOST_KERNELS];
static unsigned asked_count;

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > MOST_SHARED)
        return cudaErrorInvalidValue;
    unsigned i = 0;
    while (i < asked_count && asked[i].kernel != kernel) i++;
    if (i == MOST_KERNELS) return cudaErrorInvalidValue;
    asked[i] = {kernel, (size_t)value};
    if (i == asked_count) asked_count++;
    return cudaSuccess;
}

static size_t shared_of(const void *kernel) {
    for (unsigned i = 0; i < asked_count; i++)
        if (asked[i].kernel == kernel) return asked[i].shared;
    return USUAL_SHARED;
}

unsigned char *ulp_emulated_dynamic_shared(void) { return dynamic_shared; }

/* For tests: a device that is lost runs no kernel after the first EMULATED_LOST_AFTER ones. */
static bool is_lost(void) {
    const char *after = getenv("EMULATED_LOST_AFTER");
    return after != nullptr && ulp_emulated_launches >= strtoul(after, nullptr, 10);
}

cudaError_t ulp_emulated_launch(const cudaLaunchConfig_t *config, const void *kernel, void (*body)(void *context),
                                void *context) {
    const dim3 grid = config->gridDim, block = config->blockDim;
    const size_t threads = (size_t)block.x * block.y * block.z;
    if (ulp_emulated_capability() == 0) return cudaErrorNoDevice;
    if (is_lost()) return cudaErrorLaunchFailure;
    if (threads == 0 || threads > MOST_THREADS || grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 ||
        grid.z > 65535 || config->dynamicSmemBytes > shared_of(kernel))
        return cudaErrorInvalidConfiguration;
    if (live_bytes() + ulp_emulated_local > ulp_emulated_memory) return cudaErrorMemoryAllocation;
    copy_now();
    gridDim = grid;
    blockDim = block;
    ulp_emulated_launches++;
    run.count = (unsigned)threads;
    run.body = body;
    run.context = context;
    open_memory();
    run.block = 0;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = {x, y, z};
                memset(dynamic_shared, 0xba, config->dynamicSmemBytes);
                ulp_emulated_dynamic_bytes = config->dynamicSmemBytes;
                run_block();
                ulp_emulated_tensor_end();
                run.block++;
            }
    return cudaSuccess;
}

/* ---- the rest of the runtime ---- */

int ulp_emulated_capability(void) {
    const char *text = getenv("EMULATED_CAPABILITY");
    return text == NULL || text[0] == '\0' ? 90 : atoi(text);
}

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    default: return "an error";
    }
}

cudaError_t cudaGetLastError(void) { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int *count) {
    *count = ulp_emulated_capability() == 0 ? 0 : 1;
    return ulp_emulated_capability() == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaSetDevice(int ordinal) {
    return ordinal == 0 && ulp_emulated_capability() != 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int ordinal) {
    if (ordinal != 0 || ulp_emulated_capability() == 0) return cudaErrorInvalidDevice;
    const int capability = ulp_emulated_capability();
    memset(prop, 0, sizeof *prop);
    strcpy(prop->name, "emulated device");
    prop->major = capability / 10;
    prop->minor = capability % 10;
    prop->multiProcessorCount = 2;
    prop->totalGlobalMem = ARENA;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
    *value = 1000000;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}

struct ulp_emulated_stream {
    int unused;
};
struct ulp_emulated_event {
    double seconds;
};

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    static ulp_emulated_stream only;
    *stream = &only;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
    copy_now();
    close_memory();
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = static_cast<cudaEvent_t>(calloc(1, sizeof **event));
    return *event != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

uint64_t ulp_emulated_nanoseconds(void) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    event->seconds = 1e-9 * (double)ulp_emulated_nanoseconds();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    *milliseconds = (float)(1e3 * (to->seconds - from->seconds));
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return cudaSuccess;
}

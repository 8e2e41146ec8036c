/* t_gpu_tensor.cpp - tensor memory of the emulated device: what a kernel may do, and what ends the program. */
#include "kernels/cuda/tcgen05.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

enum fault {
    NONE,
    COLUMNS_48,
    NOT_FREED,
    OTHER_LANES,
    OTHER_COLUMNS,
    NO_STORE_WAIT,
    NO_FENCE_BEFORE,
    NO_FENCE_AFTER,
    NO_INIT,
    NO_INIT_FENCE,
    NO_COMMIT,
    NO_FENCE_AFTER_WAIT,
    NO_WAIT,
    NO_CONSTANT,
    M_64,
    A_OF_BFLOAT16,
    COPY_OUTSIDE,
    COPY_LEFT
};

struct shared {
    unsigned char a[128 * ULP_OPERAND_BYTES], b[16 * ULP_OPERAND_BYTES];
    uint64_t done;
    uint32_t tensor;
};

/* D (128,16) = A B + C with two instructions: A and B are ones in binary16, C is 2 in binary32, the sums are 34. */
void kernel(float *to, fault f) {
    shared *m = reinterpret_cast<shared *>(ulp_dynamic_shared());
    const uint32_t warp = threadIdx.x / 32;
    for (uint32_t i = threadIdx.x; i < sizeof m->a / 2; i += 128) reinterpret_cast<uint16_t *>(m->a)[i] = 0x3c00;
    for (uint32_t i = threadIdx.x; i < sizeof m->b / 2; i += 128) reinterpret_cast<uint16_t *>(m->b)[i] = 0x3c00;

    if (warp == 0) ulp_tensor_alloc(&m->tensor, f == COLUMNS_48 ? 48 : 32);
    if (threadIdx.x == 0 && f != NO_INIT) ulp_barrier_init(&m->done, 1);
    if (threadIdx.x == 0 && f != NO_INIT_FENCE) ulp_barrier_init_fence();
    __syncthreads();
    if (threadIdx.x == 0 && f == COPY_OUTSIDE) ulp_copy_begin(m->a + sizeof *m / 16 * 16, to, 16, &m->done);
    if (threadIdx.x == 0 && f == COPY_LEFT) ulp_copy_begin(m->a, to, 16, &m->done);
    if (f != NO_FENCE_AFTER) ulp_tensor_after();
    const uint32_t mine =
        ulp_tensor_address(m->tensor, warp * 32 + (f == OTHER_LANES ? 32 : 0), f == OTHER_COLUMNS ? 17 : 0);
    uint32_t d[ULP_TENSOR_WORDS];
    for (uint32_t &word : d) word = ulp_bits32(2.0f);
    ulp_tensor_store(mine, d);
    if (f != NO_STORE_WAIT) ulp_tensor_store_wait();
    if (f != NO_FENCE_BEFORE) ulp_tensor_before();
    __syncthreads();
    if (threadIdx.x == 0) {
        ulp_tcgen05_operands o = {};
        ulp_tensor_after();
        o.d = m->tensor;
        o.a = ulp_tcgen05_descriptor(ulp_shared_address(m->a));
        o.b = ulp_tcgen05_descriptor(ulp_shared_address(m->b));
        if (f == NO_CONSTANT) o.a = ulp_wgmma_descriptor(ulp_shared_address(m->a));
        o.instruction = ulp_tcgen05_instruction(ULP_TCGEN05_FIELD_F32, f == A_OF_BFLOAT16, 0, 16);
        if (f == M_64) o.instruction -= 64 / 16 << 24;
        o.keep = 1;
        for (int step = 0; step < 2; step++) ulp_tcgen05_KIND_F16::run(o);
        if (f != NO_COMMIT) ulp_instructions_commit(&m->done);
    }
    if (f != NO_WAIT) ulp_barrier_wait(&m->done, 0);
    if (f != NO_FENCE_AFTER_WAIT) ulp_tensor_after();
    ulp_tensor_load(d, mine);
    ulp_tensor_load_wait(d);
    for (int j = 0; j < 16; j++) to[threadIdx.x * 16 + j] = ulp_from_bits32(d[j]);
    ulp_tensor_before();
    __syncthreads();
    ulp_tensor_after();
    if (warp == 0 && f != NOT_FREED) ulp_tensor_free(m->tensor, 32);
}

/* 0: the sums are right. The process ends with a sentence where the emulated device sees a fault. */
int run(fault f) {
    float sums[128 * 16];
    float *device = static_cast<float *>(ulp_cuda_room(sizeof sums));
    if (device == NULL || ulp_cuda_launch_with("a product", kernel, 1, 128, sizeof(shared), device, f) != ULP_OK ||
        ulp_cuda_download(sums, device, sizeof sums) != ULP_OK)
        return 2;
    for (float sum : sums)
        if (sum != 34.0f) return 1;
    return 0;
}

const struct {
    fault f;
    const char *says; /* on standard error; NULL: nothing, and the sums are right */
    const char *what;
} cases[] = {{NONE, NULL, "a product"},
             {COLUMNS_48, "the number of columns", "48 columns"},
             {NOT_FREED, "a block ends and has tensor memory", "columns that are not given back"},
             {OTHER_LANES, "belong to another warp", "lanes of another warp"},
             {OTHER_COLUMNS, "that the block does not have", "columns of nobody"},
             {NO_STORE_WAIT, "were not waited for", "no wait for a store"},
             {NO_FENCE_BEFORE, "before_thread_sync", "no fence before the barrier"},
             {NO_FENCE_AFTER, "after_thread_sync", "no fence after the barrier"},
             {NO_INIT, "that was not begun", "no init of a barrier"},
             {NO_INIT_FENCE, "without a fence after its init", "no fence after the init"},
             {NO_COMMIT, "what nobody begins", "no commit"},
             {NO_FENCE_AFTER_WAIT, "after_thread_sync", "no fence after the wait for instructions"},
             {NO_WAIT, "instructions are not done", "no wait for instructions"},
             {NO_CONSTANT, "another constant", "a matrix descriptor of wgmma"},
             {M_64, "M and N", "M = 64"},
             {A_OF_BFLOAT16, "no row b200-bf16.fp16", "A in bfloat16 and B in binary16"},
             {COPY_OUTSIDE, "a copy to outside the shared memory", "a copy to a place behind the block's memory"},
             {COPY_LEFT, "more bytes at a barrier than were announced", "bytes that nobody announced"}};

/* Whether a case, in a process of its own, ends as it has to. */
bool holds(size_t i) {
    int ends[2], status = 0;
    char text[400] = "";
    if (pipe(ends) != 0) return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        _exit(run(cases[i].f));
    }
    close(ends[1]);
    size_t size = 0;
    for (ssize_t n; size < sizeof text - 1 && (n = read(ends[0], text + size, sizeof text - 1 - size)) > 0;)
        size += (size_t)n;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child) return false;
    if (cases[i].says == NULL) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return WIFSIGNALED(status) && strstr(text, cases[i].says) != NULL;
}

} // namespace

int main() {
    int failed = setenv("EMULATED_CAPABILITY", "100", 1) != 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool fine = holds(i);
        printf("%sok - tensor memory: %s%s\n", fine ? "" : "not ", cases[i].what,
               cases[i].says == NULL ? " gives the sums" : " ends the program");
        failed |= !fine;
    }
    return failed;
}

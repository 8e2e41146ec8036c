/* roofs.c - the work that bounds the rows: copies, the random words alone, a loop of products in registers, sgemm. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* ---- copies ---- */

static void copy_part(void *own, size_t begin, size_t end) {
    const arrays *a = own;
    memcpy(a->y[0] + begin, a->x[0] + begin, (end - begin) * sizeof(float));
}

static ulp_status run_copy(job *j) {
    ulp_parallel_for(j->n, (size_t)1 << 20, copy_part, j->arrays);
    return ULP_OK;
}

static ulp_status run_device_copy(job *j) {
    const arrays *a = j->arrays;
    const size_t k = j->turn++ % a->pairs;
    return ulp_cuda_copy(a->y[k], a->x[k], a->n * sizeof(float));
}

job roof_copy(const bench *b, arrays *a, int threads) {
    const double n = (double)a->n;
    const int device = b->timer != NULL;
    job j = job_new(b, "copy", device ? run_device_copy : run_copy, a->n, device ? BYTES : ELEMENTS,
                    device ? 2 * sizeof(float) * n : n);
    job_name(&j, NULL, NULL, device ? "device" : "memcpy");
    j.threads = threads;
    j.arrays = a;
    if (device) j.keep = "copy";
    return j;
}

/* ---- random words ---- */

/* The generator of each instruction set, as kernels/cpu/cpu.h declares it for one of them; n is at most PIECE. */
enum { PIECE = 1024 };
typedef void words_function(uint32_t *words, size_t n, uint64_t seed, uint64_t stream, uint64_t index);
words_function ulp_words_baseline, ulp_words_neon, ulp_words_sve256, ulp_words_avx2, ulp_words_avx512;

static words_function *words_of(const char *isa) {
#if defined(ULP_WITH_neon)
    if (strcmp(isa, "neon") == 0) return ulp_words_neon;
#endif
#if defined(ULP_WITH_sve256)
    if (strcmp(isa, "sve256") == 0) return ulp_words_sve256;
#endif
#if defined(ULP_WITH_avx2)
    if (strcmp(isa, "avx2") == 0) return ulp_words_avx2;
#endif
#if defined(ULP_WITH_avx512)
    if (strcmp(isa, "avx512") == 0) return ulp_words_avx512;
#endif
    (void)isa;
    return ulp_words_baseline;
}

static ulp_status run_words(job *j) {
    words_function *words = words_of(j->b->backend->what);
    for (size_t i = 0; i < j->n; i += PIECE) words((uint32_t *)j->z + i, j->n - i < PIECE ? j->n - i : PIECE, 1, 0, i);
    return ULP_OK;
}

job roof_words(const bench *b, uint32_t *words, size_t n) {
    job j = job_new(b, "words", run_words, n, ELEMENTS, (double)n);
    job_name(&j, ULP_RNG_NAME, NULL, NULL);
    j.z = words;
    return j;
}

/* ---- products in registers ---- */

/* CHAINS vectors of sums s = s x + y, STEPS_OF_LOOP times: as many as the registers of avx2 hold, and more than the
 * latency of a fused multiply-add times two of them in a cycle. */
enum { CHAINS = 12, STEPS_OF_LOOP = 20000 };
static volatile float factor = 0.99f, term = 1e-3f;
static _Thread_local volatile float sink;

/* The loop over vectors of a type. */
#define SUMS(vector, fused)                                                                                            \
    vector s[CHAINS], x = (vector){0} + factor, y = (vector){0} + term;                                                \
    for (int i = 0; i < CHAINS; i++) s[i] = y * (float)i;                                                              \
    for (int k = 0; k < STEPS_OF_LOOP; k++)                                                                            \
        for (int i = 0; i < CHAINS; i++) s[i] = fused(s[i], x, y);                                                     \
    for (int i = 1; i < CHAINS; i++) s[0] += s[i];                                                                     \
    sink = s[0][0]

typedef float vector4 __attribute__((vector_size(16)));
static vector4 fused4(vector4 a, vector4 b, vector4 c) { return a * b + c; }
static void loop_baseline(void) { SUMS(vector4, fused4); }
#if defined(__aarch64__)
static float32x4_t fused_neon(float32x4_t a, float32x4_t b, float32x4_t c) { return vfmaq_f32(c, a, b); }
static void loop_neon(void) { SUMS(float32x4_t, fused_neon); }
#endif
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void loop_avx2(void) { SUMS(__m256, _mm256_fmadd_ps); }
__attribute__((target("avx512f"))) static void loop_avx512(void) { SUMS(__m512, _mm512_fmadd_ps); }
#endif

/* The loop of an instruction set, and the lanes of its vectors. */
static void (*loop_of(const char *isa, int *lanes))(void) {
#if defined(__x86_64__)
    if (strcmp(isa, "avx512") == 0) return *lanes = 16, loop_avx512;
    if (strcmp(isa, "avx2") == 0) return *lanes = 8, loop_avx2;
#endif
#if defined(__aarch64__)
    if (strcmp(isa, "baseline") != 0) return *lanes = 4, loop_neon;
#endif
    (void)isa;
    return *lanes = 4, loop_baseline;
}

static void fma_part(void *own, size_t begin, size_t end) {
    const job *j = own;
    int lanes;
    for (; begin < end; begin++) loop_of(j->b->backend->what, &lanes)();
}

static ulp_status run_fma(job *j) {
    ulp_parallel_for((size_t)j->threads, 1, fma_part, j);
    return ULP_OK;
}

job roof_fma(const bench *b, int threads) {
    int lanes;
    loop_of(b->backend->what, &lanes);
    job j = job_new(b, "fma", run_fma, 0, PRODUCTS, (double)threads * (double)(CHAINS * STEPS_OF_LOOP) * lanes);
    job_name(&j, NULL, NULL, "registers");
    j.threads = threads;
    return j;
}

/* ---- sgemm ---- */

#if defined(ULP_WITH_BLAS)
char *openblas_get_corename(void);
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc);

/* A job of OpenBLAS. It chooses kernels for the processor, or those of OPENBLAS_CORETYPE; their name belongs to the
 * row. */
static job blas_job(job j, const char *of, int threads, const float *x, const float *y, float *c) {
    char by[64];
    snprintf(by, sizeof by, "OpenBLAS %.40s", openblas_get_corename());
    job_name(&j, of, NULL, by);
    j.threads = threads;
    j.x = x;
    j.y = y;
    j.z = c;
    return j;
}

static ulp_status run_sgemm(job *j) {
    const int n = (int)j->n;
    cblas_sgemm(101, 111, 111, n, n, n, 1.0f, j->x, n, j->y, n, 0.0f, j->z, n);
    return ULP_OK;
}

job roof_sgemm(const bench *b, float *c, const float *x, const float *y, size_t n, int threads) {
    const job j = job_new(b, "product", run_sgemm, n, PRODUCTS, (double)n * (double)n * (double)n);
    return blas_job(j, "fp32", threads, x, y, c);
}

/* Forward: (batch,out) of every layer. Backward: the gradients of all weights, and of all inputs but the first. */
static ulp_status run_step(job *j) {
    static const int widths[] = {784, 1000, 1000, 10};
    const int batch = (int)j->n;
    for (int l = 0; l < 3; l++) {
        const int in = widths[l], out = widths[l + 1];
        cblas_sgemm(101, 111, 111, batch, out, in, 1.0f, j->x, in, j->y, out, 0.0f, j->z, out);
        cblas_sgemm(101, 112, 111, in, out, batch, 1.0f, j->x, in, j->y, out, 0.0f, j->z, out);
        if (l) cblas_sgemm(101, 111, 112, batch, in, out, 1.0f, j->x, out, j->y, out, 0.0f, j->z, in);
    }
    return ULP_OK;
}

job roof_step(const bench *b, float *c, const float *x, const float *y, size_t batch, int threads) {
    job j = blas_job(job_new(b, "step", run_step, batch, STEPS, 1), "784-1000-1000-10", threads, x, y, c);
    job_name(&j, NULL, "products alone", NULL);
    return j;
}
#endif

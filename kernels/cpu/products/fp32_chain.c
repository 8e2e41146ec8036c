/* fp32_chain.c - the product as a chain of fused multiply-adds in binary32, k ascending, in register blocks. */
#include "gemm.h"

#include <string.h>

int ULP_CPU(ulp_serves_fp32_chain)(const ulp_job *w) {
    const ulp_datapath *d = w->datapath;
    const ulp_format *f = &d->accumulator;
    return !w->wide && d->kind == ULP_SERIAL && d->length == 1 && d->promote == 0 && d->zero_a == 0 && d->zero_b == 0 &&
           f->prec == 24 && f->emin == -126 && f->emax == 127 && f->has_subnormals && f->has_inf &&
           d->rule.mode == ULP_RNE && ulp_overflow_of(f, (ulp_overflow)d->rule.overflow) == ULP_OVERFLOW_INF;
}

/* Rounds rows begin .. end - 1 of the result if the job asks for it. */
static void round_rows(const ulp_job *job, size_t begin, size_t end) {
    if (job->rounding == NULL) return;
    ulp_rounding how = *job->rounding;
    float *c = (float *)job->c + begin * job->s.n;
    how.stream.first += begin * job->s.n;
    ULP_CPU(ulp_cpu_round)(c, c, (end - begin) * job->s.n, how);
}

#if defined(MM_HAS_FMA)

#include "kernels/cpu/floats.h"

/* to (4, stride) = the transpose of from (4, ld), four columns of each */
ULP_INLINE void turn4(float *to, size_t stride, const float *from, size_t ld) {
#if defined(ULP_ARM)
    const float32x4x2_t a = vzipq_f32(vld1q_f32(from), vld1q_f32(from + 2 * ld)),
                        b = vzipq_f32(vld1q_f32(from + ld), vld1q_f32(from + 3 * ld));
    const float32x4x2_t first = vzipq_f32(a.val[0], b.val[0]), last = vzipq_f32(a.val[1], b.val[1]);
    vst1q_f32(to, first.val[0]);
    vst1q_f32(to + stride, first.val[1]);
    vst1q_f32(to + 2 * stride, last.val[0]);
    vst1q_f32(to + 3 * stride, last.val[1]);
#else
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + ld), c = _mm_loadu_ps(from + 2 * ld),
           d = _mm_loadu_ps(from + 3 * ld);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + stride, b);
    _mm_storeu_ps(to + 2 * stride, c);
    _mm_storeu_ps(to + 3 * stride, d);
#endif
}

/* Element r of a column of A in every lane. NEON multiplies by an element of a vector: one load serves four rows. A
 * block has MOST_ROWS numbers to a column there. */
#if defined(ULP_ARM) && ULP_ARM == 128
typedef vfloat column[3]; /* of at most 12 rows */
#define READ_COLUMN(to, a, rows)                                                                                       \
    for (int q = 0; q < ((rows) + 3) / 4; q++) (to)[q] = (vfloat)vld1q_f32((a) + 4 * q)
#define OF_COLUMN(from, r) ((from)[(r) / 4][(r) % 4] - (vfloat){0})
#else
typedef const float *column;
#define READ_COLUMN(to, a, rows) (to) = (a)
#define OF_COLUMN(from, r) ((from)[r] - (vfloat){0}) /* the sign of a zero stays */
#endif

#define CHAIN_NUMBER float
#define CHAIN_VECTOR vfloat
#define CHAIN_WORDS vint
#define CHAIN_NAN 0x7fc00000
#define CHAIN_FUSED float_fused
#define CHAIN_ROUND round_rows
#include "chain_blocks.h"

ulp_status ULP_CPU(ulp_product_fp32_chain)(const ulp_job *job) { return chain_product(job); }

#else

/* Without a fused multiply-add instruction the chain runs in binary64. A product is exact in binary64, and so is the
 * error of one binary64 addition. The only rounding is the conversion to binary32 of the sum rounded to odd. */

#include "kernels/products/exact_step.h"

enum { LANES = 64 };

static void float_step(double *restrict acc, double a, const float *restrict b) {
    for (size_t j = 0; j < LANES; j++) acc[j] = (double)(float)ulp_odd_sum(a * (double)b[j], acc[j], ULP_RNE);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const ulp_job *job = context;
    const ulp_gemm_shape *s = &job->s;
    for (size_t i = begin; i < end; i++)
        for (size_t j0 = 0; j0 < s->n; j0 += LANES) {
            const size_t width = s->n - j0 < LANES ? s->n - j0 : LANES;
            float *c = (float *)job->c + i * s->ldc + j0, b[LANES] = {0};
            double acc[LANES] = {0};
            for (size_t j = 0; j < width && s->accumulate; j++) acc[j] = (double)c[j];
            for (size_t k = 0; k < s->k; k++) {
                for (size_t j = 0; j < width; j++) b[j] = b_at(job, k, j0 + j);
                float_step(acc, (double)a_at(job, i, k), b);
            }
            for (size_t j = 0; j < width; j++) c[j] = canonical((float)acc[j]);
        }
}

ulp_status ULP_CPU(ulp_product_fp32_chain)(const ulp_job *job) {
    ulp_job copy = *job;
    ulp_parallel_for(job->s.m, 1, rows_part, &copy);
    round_rows(job, 0, job->s.m);
    return ULP_OK;
}

#endif

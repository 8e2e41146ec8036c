/* fp64_chain.c - the product as a chain of fused multiply-adds in binary64, k ascending, in register blocks. */
#include "gemm.h"

#if defined(MM_HAS_FMA)

#include "kernels/cpu/doubles.h"

int ULP_CPU(ulp_serves_fp64_chain)(const ulp_job *w) {
    const ulp_datapath *d = w->datapath;
    const ulp_format *f = &d->accumulator;
    return w->wide && d->kind == ULP_SERIAL && d->length == 1 && d->promote == 0 && d->zero_a == 0 && d->zero_b == 0 &&
           f->prec == 53 && f->emin == -1022 && f->emax == 1023 && f->is_signed && f->has_subnormals &&
           f->has_neg_zero && f->has_inf && d->rule.mode == ULP_RNE &&
           ulp_overflow_of(f, (ulp_overflow)d->rule.overflow) == ULP_OVERFLOW_INF;
}

ULP_INLINE void turn4(double *to, size_t stride, const double *from, size_t ld) {
#if defined(__AVX2__)
    const __m256d a = _mm256_loadu_pd(from), b = _mm256_loadu_pd(from + ld), c = _mm256_loadu_pd(from + 2 * ld),
                  d = _mm256_loadu_pd(from + 3 * ld);
    const __m256d ab0 = _mm256_unpacklo_pd(a, b), ab1 = _mm256_unpackhi_pd(a, b), cd0 = _mm256_unpacklo_pd(c, d),
                  cd1 = _mm256_unpackhi_pd(c, d);
    _mm256_storeu_pd(to, _mm256_permute2f128_pd(ab0, cd0, 0x20));
    _mm256_storeu_pd(to + stride, _mm256_permute2f128_pd(ab1, cd1, 0x20));
    _mm256_storeu_pd(to + 2 * stride, _mm256_permute2f128_pd(ab0, cd0, 0x31));
    _mm256_storeu_pd(to + 3 * stride, _mm256_permute2f128_pd(ab1, cd1, 0x31));
#else
    for (size_t i = 0; i < 4; i++)
        for (size_t r = 0; r < 4; r++) to[i * stride + r] = from[r * ld + i];
#endif
}

typedef const double *column;
#define READ_COLUMN(to, a, rows) (to) = (a)
#define OF_COLUMN(from, r) all_doubles((from)[r])

#define CHAIN_NUMBER double
#define CHAIN_VECTOR vdouble
#define CHAIN_WORDS vsigned
#define CHAIN_NAN 0x7ff8000000000000
#define CHAIN_FUSED fused
#define CHAIN_ROUND(job, begin, end) (void)(begin), (void)(end) /* no job in binary64 asks for it */
#include "chain_blocks.h"

ulp_status ULP_CPU(ulp_product_fp64_chain)(const ulp_job *job) { return chain_product(job); }

#else

ULP_PATH_ABSENT(fp64_chain)

#endif

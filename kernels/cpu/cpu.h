/* cpu.h - declarations that the sources of one instruction set share: names, pieces of work, operations.
 *
 * Every source in kernels/cpu is compiled once for each instruction set, with ULP_ISA set to the name of the set.
 * ULP_CPU(f) is the function f of this compilation. The C code is equal for all sets; only compiler flags differ.
 */
#ifndef ULP_CPU_H
#define ULP_CPU_H

#include "kernels/backend.h"
#include "kernels/rounding/core.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define ULP_PASTE2(a, b) a##_##b
#define ULP_PASTE(a, b) ULP_PASTE2(a, b)
#define ULP_CPU(name) ULP_PASTE(name, ULP_ISA)

#define ULP_INLINE static inline __attribute__((always_inline))

/* Before a loop over at most eight registers. With a loop that stays, clang keeps the registers in memory. */
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll_count(8)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/* Before a loop over all registers of a tile. */
#if defined(__clang__)
#define ALL_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define ALL_UNROLLED _Pragma("GCC unroll 16")
#endif

/* The assembler's letter for a register of a vector. */
#if defined(__SSE2__)
#define VECTOR_REGISTER "+v"
#elif defined(ULP_ARM)
#define VECTOR_REGISTER "+w"
#endif

/* Keeps a vector in a register here. gcc moves sums to memory and back in loops where all fit the registers. */
#if defined(VECTOR_REGISTER)
#define IN_REGISTER(x) __asm__("" : VECTOR_REGISTER(x))
#else
#define IN_REGISTER(x) (void)(x)
#endif

#if defined(__AVX512F__)
/* An operation of AVX-512, its operands and its direction: that of mode rz, ru or rd, a constant. */
#define ULP_TOWARD(mode, operation, ...)                                                                               \
    ((mode) == ULP_RU   ? operation(__VA_ARGS__, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)                            \
     : (mode) == ULP_RD ? operation(__VA_ARGS__, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)                            \
                        : operation(__VA_ARGS__, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))
#endif

/* Keeps the computation of a vector after that of the vector before it, where a loop interleaves long chains. clang
 * would form one chain after the other. */
#if defined(VECTOR_REGISTER)
#define IN_ORDER(x) __asm__ volatile("" : VECTOR_REGISTER(x))
#else
#define IN_ORDER(x) (void)(x)
#endif

/* Asks gcc for four vectors in each turn of the loop that follows. clang would unroll the scalar loop, which it does
 * not vectorise then. */
#if defined(__GNUC__) && !defined(__clang__)
#define FOUR_VECTORS _Pragma("GCC unroll 4")
#else
#define FOUR_VECTORS
#endif

/* Before a loop over elements whose result may be the array of an operand, and overlaps it in no other way. */
#if defined(__clang__)
#define ELEMENTWISE _Pragma("clang loop vectorize(assume_safety)")
#else
#define ELEMENTWISE _Pragma("GCC ivdep")
#endif

/* The lanes of two vectors at the indices in the list, as a vector of type `of`, whose lanes are integers. */
#if defined(__clang__) || __GNUC__ >= 12
#define LANES_AT(of, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define LANES_AT(of, a, b, ...) __builtin_shuffle(a, b, (of){__VA_ARGS__})
#endif

/* The bytes of a vector of this instruction set. An instruction that is there for each width from SSE2 or AVX2 on, and
 * the types of its operands, by one name: MM(max_ps) is _mm512_max_ps, _mm256_max_ps, or _mm_max_ps, and
 * MM(max_epu8) also arm_max_epu8. */
#if defined(__AVX512F__)
#define ULP_VECTOR_BYTES 64
#define MM(name) _mm512_##name
#define MM_INTS __m512i
#define MM_FLOATS __m512
#define MM_DOUBLES __m512d
#elif defined(__AVX2__)
#define ULP_VECTOR_BYTES 32
#define MM(name) _mm256_##name
#define MM_INTS __m256i
#define MM_FLOATS __m256
#define MM_DOUBLES __m256d
#elif defined(ULP_ARM)
#include "arm.h"
#define ULP_VECTOR_BYTES (ULP_ARM / 8)
#define MM(name) arm_##name
#define MM_INTS arm_ints
#define MM_FLOATS arm_floats
#define MM_DOUBLES arm_doubles
#else
#define ULP_VECTOR_BYTES 16
#define MM(name) _mm_##name
#define MM_INTS __m128i
#define MM_FLOATS __m128
#define MM_DOUBLES __m128d
#endif

/* The registers for vectors. */
#if defined(__AVX512F__) || defined(ULP_ARM)
enum { ULP_REGISTERS = 32 };
#else
enum { ULP_REGISTERS = 16 };
#endif

/* Whether MM() names the instructions that x86 has from SSE2, from AVX2, and with fused multiply-adds on; on Arm those
 * of arm.h. */
#if defined(__SSE2__) || defined(ULP_ARM)
#define MM_HAS_SSE2
#endif
#if defined(__AVX2__) || defined(ULP_ARM)
#define MM_HAS_AVX2
#endif
#if defined(__FMA__) || defined(ULP_ARM)
#define MM_HAS_FMA
#endif

/* Whether the instruction set has a fused multiply-add. */
#if defined(__FMA__) || defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA)
#define FUSED_IS_FAST 1
#else
#define FUSED_IS_FAST 0
#endif

/* The elements of a piece of work. The words and counts of a piece fit the first-level cache. */
enum { ULP_PIECE = 1024, ULP_GRAIN = 32 * ULP_PIECE };

/* The largest magnitude, as binary32 bits, that is in the range of a format with both signs. */
static inline uint32_t largest_in_range(const ulp_format *f) {
    return ulp_bits32((float)(f->max < -f->lowest ? f->max : -f->lowest));
}

/* NULL if computations of this instruction set have the bits of IEEE arithmetic, else ulp_arithmetic_fault(). */
const char *ULP_CPU(ulp_arithmetic_fault)(void);

/* words (n) = the random words of elements index .. index + n - 1 of (seed, stream). The benchmark times it. */
void ULP_CPU(ulp_words)(uint32_t *words, size_t n, uint64_t seed, uint64_t stream, uint64_t index);

/* y (n) = x (n) rounded, for a format and rule that ulp_core_offers, without counts. Element 0 has the index
 * how.stream.first. y may be x. */
void ULP_CPU(ulp_round64_core)(double *y, const double *x, size_t n, ulp_rounding how);

/* The same for the formats and rules that ulp_general_offers. */
void ULP_CPU(ulp_round_general32)(float *y, const float *x, size_t n, ulp_rounding how);
void ULP_CPU(ulp_round_general64)(double *y, const double *x, size_t n, ulp_rounding how);

/* The same for the formats that ulp_tapered_offers, with counts. */
void ULP_CPU(ulp_round_tapered32)(float *y, const float *x, size_t n, ulp_rounding how);
void ULP_CPU(ulp_round_tapered64)(double *y, const double *x, size_t n, ulp_rounding how);

/* ulp_cpu_NAME for each row NAME of operations.def, which documents it. */
#define ULP_OPERATION(name, cpu, cuda, mpfr, parameters, ...) ulp_status ULP_CPU(ulp_cpu_##name) parameters;
#include "kernels/operations.def"

#endif

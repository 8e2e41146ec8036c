/* format.h - the numbers of a format: the descriptor, the registry, the names.
 *
 * A format is the set { +-m 2^(e-p+1) : 0 <= m < 2^p, emin <= e <= emax } and its special codes (IEEE P3109 interim
 * report v4.0, section 4). Fixed point is a set of this kind in which every value is subnormal. A tapered format holds
 * only some members of the set: p is its largest precision (taper.h). A descriptor is plain data without pointers: it
 * can be copied, and it can be sent to a device. round.h rounds a real number to a member of the set, descriptor.c
 * computes the value of a code, and codec.c computes the code of a value.
 */
#ifndef ULP_FORMAT_H
#define ULP_FORMAT_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

/* Flags of a compiler that change bits. No macro tells some of them: ulp_arithmetic_fault() of kernels/backend.h. With
 * FLT_EVAL_METHOD 16 (ISO/IEC TS 18661-3) float and double are as they are; it is about _Float16. */
#if defined(__FAST_MATH__)
#error "ulplab needs IEEE arithmetic, and -ffast-math or -Ofast changes it: compile without this flag"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0
#error "ulplab needs NaN and infinity, and -ffinite-math-only takes them away: add -fno-finite-math-only"
#elif defined(__ASSOCIATIVE_MATH__)
#error "ulplab needs sums in the order of the source, and -fassociative-math changes it: add -fno-associative-math"
#elif defined(__RECIPROCAL_MATH__)
#error "ulplab needs divisions, and -freciprocal-math makes products of them: add -fno-reciprocal-math"
#elif defined(__NO_SIGNED_ZEROS__)
#error "ulplab needs the sign of zero, and -fno-signed-zeros takes it away: add -fsigned-zeros"
#elif (FLT_EVAL_METHOD > 0 && FLT_EVAL_METHOD != 16) || (FLT_EVAL_METHOD < 0 && !defined(__clang__))
#error "ulplab needs float and double as they are: add -msse2 -mfpmath=sse on x86, -fexcess-precision=fast on s390x"
#elif FLT_EVAL_METHOD < 0
#error "ulplab needs sums and quotients as the source has them: omit -fassociative-math and -freciprocal-math"
#elif defined(__GCC_IEC_559) && __GCC_IEC_559 == 0
#error                                                                                                                 \
    "ulplab needs IEEE math: no -ffp-contract=fast, -fsingle-precision-constant or part of -funsafe-math-optimizations"
#endif

/* ULP_FN marks a function that a header defines for host and device. ULP_CORE marks a function that the compiler has to
 * inline: the loop that calls a ULP_CORE function does not vectorise otherwise. ULP_CALLED marks a long ULP_FN: a CUDA
 * source that defines ULP_CALLS before its headers calls one copy of the function, because nvcc inlines every call
 * otherwise, and a kernel of many calls takes a minute to compile. */
#if defined(__CUDACC__)
#define ULP_FN static __host__ __device__ inline
#define ULP_CORE static __host__ __device__ __forceinline__
#if defined(ULP_CALLS)
#define ULP_CALLED static __host__ __device__ __noinline__
#endif
#elif defined(__GNUC__) || defined(__clang__)
#define ULP_FN static inline
#define ULP_CORE static inline __attribute__((always_inline))
#else
#define ULP_FN static inline
#define ULP_CORE static inline
#endif
#if !defined(ULP_CALLED)
#define ULP_CALLED ULP_FN
#endif

#include "c_linkage.h"

ULP_C_BEGIN

/* The result of a library call. Numerical events are results, never errors. */
typedef enum ulp_status {
    ULP_OK = 0,
    ULP_BAD_ARGUMENT, /* a null pointer, or a size or an option out of range */
    ULP_BAD_NAME,     /* no format, mode, policy, datapath, backend, ... has this name */
    ULP_NOT_IN_RANGE, /* a name of the right form whose numbers are out of range: e12m3, q30.30 */
    ULP_NO_CODE,      /* the format does not hold the value, and encoding does not round */
    ULP_NO_NAN,       /* the value is NaN and the format has no NaN code */
    ULP_UNSUPPORTED,  /* the combination is not offered: wrap on floating point, a format on a backend */
    ULP_NO_MEMORY,
    ULP_NO_DEVICE,    /* the machine lacks an instruction set or a GPU */
    ULP_BAD_FILE,     /* a file is missing, truncated or of another kind */
    ULP_DEVICE_FAILED /* a device reported an error */
} ulp_status;

/* Return from the calling function, whose result is a ulp_status, if the call does not return ULP_OK. Nothing that the
 * calling function owns is released. */
#define ULP_TRY(call)                                                                                                  \
    do {                                                                                                               \
        const ulp_status status_of_call = (call);                                                                      \
        if (status_of_call != ULP_OK) return status_of_call;                                                           \
    } while (0)

/* The sentence that describes a status. Never NULL. */
const char *ulp_status_text(ulp_status status);

/* The overflow policies: the result of a rounded value r with |r| > max (IEEE 754-2019, 7.4). */
typedef enum ulp_overflow {
    ULP_OVERFLOW_DEFAULT, /* the policy of the format's suffix, else inf where the format has infinities or is tapered,
                             else sat */
    ULP_OVERFLOW_INF,     /* IEEE 754: max where the mode rounds inward, else infinity; a format without Inf gives NaN,
                             without NaN max */
    ULP_OVERFLOW_SAT,     /* the nearest end of the range, for infinite input also */
    ULP_OVERFLOW_NAN,     /* NaN, for infinite input also */
    ULP_OVERFLOW_WRAP,    /* modulo 2^bits; for fixed point only; infinite input saturates */
    ULP_OVERFLOW_SYM,     /* as SAT, but the least value is -max: two's complement without its lowest number */
    ULP_OVERFLOW_ZERO,    /* zero, for infinite input also */
    ULP_OVERFLOW_COUNT
} ulp_overflow;

/* The positions of the NaN codes. */
typedef enum ulp_nan_codes {
    ULP_NAN_NONE,     /* no NaN: e3m2, e2m3, e2m1, fixed point */
    ULP_NAN_IEEE,     /* exponent field all ones, fraction not zero, both signs */
    ULP_NAN_ALL_ONES, /* every magnitude bit is one, in both signs if signed: e4m3, dlfloat16, e8m0, unsigned P3109 */
    ULP_NAN_NEG_ZERO  /* the single code of -0 in other formats: fnuz, signed P3109, posits, takums, hif8 */
} ulp_nan_codes;

/* The kinds of tapered formats, whose precision depends on the exponent: taper.h. */
typedef enum ulp_taper {
    ULP_TAPER_NONE,
    ULP_TAPER_POSIT, /* regime, exponent, fraction: Posit Standard 2022 */
    ULP_TAPER_TAKUM, /* direction, regime, characteristic, fraction: the linear takum of Hunhold 2024 */
    ULP_TAPER_HIF8,  /* dot, exponent, fraction: HiFloat8 of Luo et al. 2024 */
    ULP_TAPER_COUNT
} ulp_taper;

/* Flushing of subnormals, DAZ and FTZ of processors: a subnormal operand is a zero of its sign, and so is a result that
 * is tiny after rounding (IEEE 754-2019, 7.5). Single operations and the rounding of arrays offer it. */
enum { ULP_FLUSH_INPUTS = 1, ULP_FLUSH_RESULTS = 2 };

enum {
    ULP_NAME_MAX = 32,
    ULP_FIXED_MOST = 53 /* bits of a fixed-point format: a double holds every value */
};

/* The descriptor of a format. The first group of fields decides; ulp_format_init derives the second group. */
typedef struct ulp_format {
    char name[ULP_NAME_MAX]; /* lower case, as on the command line, with suffixes */
    uint8_t bits;            /* code width, 1..64 */
    uint8_t prec;            /* p, significand bits with the hidden bit; fixed point: bits; tapered: the most */
    int16_t bias;            /* bias of the exponent field; fixed point and tapered: 0, not used */
    uint8_t is_signed;       /* the format has negative values */
    uint8_t is_fixed;        /* a value is an integer times 2^-frac_bits, in two's complement if signed */
    uint8_t frac_bits;       /* F of qI.F and uqI.F; 0 for floating point */
    uint8_t has_inf;         /* +Inf, and -Inf if signed */
    uint8_t has_zero;        /* 1 in every format except e8m0 */
    uint8_t has_neg_zero;
    uint8_t has_subnormals;
    uint8_t zero_binade;   /* exponent field 0 holds normal numbers, and its fraction 0 is zero: dlfloat16 */
    uint8_t nan_codes;     /* ulp_nan_codes */
    uint8_t overflow;      /* the ulp_overflow of a rule with the default policy; never DEFAULT */
    uint8_t taper;         /* ulp_taper */
    uint8_t exponent_bits; /* es of posits; else 0, not used */
    uint8_t flushes;       /* ULP_FLUSH_INPUTS, ULP_FLUSH_RESULTS, or both: subnormals become zero there */

    int16_t emin, emax;    /* exponents of normal numbers 1.f 2^e; fixed point: both are bits - 1 - frac_bits;
                              tapered: floor(log2) of the least positive and of the largest value */
    int16_t qmin;          /* the smallest quantum is 2^qmin: qmin = emin - prec + 1, or emin without subnormals;
                              tapered: every value is a multiple of 2^qmin */
    uint8_t fits_binary32; /* every value is a binary32 value, so that float arrays can hold the values */
    uint64_t max_code;     /* magnitude code of the largest finite value */
    uint64_t inf_code;     /* magnitude code of +Inf; 0 if none */
    uint64_t nan_code;     /* code of the canonical NaN; 0 if none */
    double max;            /* largest finite value */
    double lowest;         /* most negative finite value; of an unsigned format the smallest value (0 or 2^emin) */
    double min_normal;     /* smallest positive normal value; fixed point: the smallest positive value */
    double min_positive;   /* smallest positive value */
} ulp_format;

/* The texts of a registered format. */
typedef struct ulp_format_row {
    const char *name, *aliases; /* aliases separated by spaces, "" if none */
    const char *source;         /* the standard or paper that defines it */
} ulp_format_row;

/* The number of registered formats. */
extern const size_t ulp_format_count;

/* The texts and the descriptor of registered format `i`. Either pointer may be NULL. ULP_BAD_ARGUMENT past the end. */
ulp_status ulp_format_get(size_t i, ulp_format *format, const ulp_format_row **row);

/* A name of a format in other tools. */
typedef struct ulp_other_name {
    const char *name;   /* in lower case */
    const char *format; /* its name here; NULL: no format here has these numbers */
    const char *where;  /* the tools; if `format` is NULL, why there is none */
} ulp_other_name;

/* Row i of the names in other tools, which are names here, too. NULL past the end. */
const ulp_other_name *ulp_other_name_get(size_t i);

/* Derives the second group of fields of *format from the first group and checks both groups. Every value has to be a
 * binary64 value. */
ulp_status ulp_format_init(ulp_format *format);

/* Makes every value 2^k times as large: reduces the exponent bias, or the number of fraction bits, by k. The name does
 * not change. Returns ULP_NOT_IN_RANGE and leaves *format unchanged where a value would leave the range of binary64 or
 * the number of fraction bits would leave its range. Returns ULP_UNSUPPORTED for tapered formats, which have no bias.
 */
ulp_status ulp_format_shift(ulp_format *format, int k);

/* The format called `text`: a registered name or alias, a name of another tool, eXmY (IEEE-like; eXmYieee where eXmY is
 * a registered name), qI.F (I counts the sign), uqI.F (no sign), binaryKpP{s,u}{e,f}, positN (2 exponent bits),
 * positNesE, or takumN. Each name may have suffixes :nosub :daz :ftz :bias=N :sat :inf :nan :wrap :sym :zero. The
 * function writes *format only if it returns ULP_OK. */
ulp_status ulp_format_parse(ulp_format *format, const char *text);

/* The numbers that a name of the family of `text` may contain: "qI.F takes ...". "" if `text` belongs to no family. */
const char *ulp_format_limits(const char *text);

/* The registered formats that code needs without a command line. */
extern const ulp_format ulp_binary64, ulp_binary32, ulp_binary16, ulp_bfloat16, ulp_e4m3, ulp_e5m2;

/* Whether two descriptors are the same format: the name with its suffixes, and the numbers. */
int ulp_format_equal(const ulp_format *a, const ulp_format *b);

/* Whether every value of `inner`, Inf and NaN included, is a value of `outer`. The sign of zero does not count. */
int ulp_format_holds(const ulp_format *outer, const ulp_format *inner);

/* The policy that `policy` means for `format`: the format's own policy if `policy` is the default, else `policy`. */
ulp_overflow ulp_overflow_of(const ulp_format *format, ulp_overflow policy);

/* "default", "inf", "sat", "nan", "wrap", "sym", "zero". */
const char *ulp_overflow_name(ulp_overflow policy);
ulp_status ulp_overflow_parse(ulp_overflow *policy, const char *text);

/* Values and codes. A code is the low `bits` bits of a uint64_t. */

/* The value of a code. NaN codes give NaN. The function ignores bits above the width. */
double ulp_decode(uint64_t code, const ulp_format *format);

/* The code of a value of the format. Returns ULP_NO_CODE if the format does not hold the value, and ULP_NO_NAN for NaN
 * in a format without NaN. Every NaN gives the canonical NaN. -0 gives +0 in a format without -0. */
ulp_status ulp_encode(uint64_t *code, double value, const ulp_format *format);

/* The number of a finite value among the values of the format in ascending order: zeros have 0, the least positive
 * value has 1. In a format without zero the numbers of the positive values begin at 0. The difference of the numbers of
 * two values is their distance in units in the last place. Returns ULP_NO_CODE if the format does not hold the value.
 */
ulp_status ulp_ordinal(int64_t *ordinal, double value, const ulp_format *format);

/* The codes of an array of values of the format, for example of results of a rounding; a number that the format does
 * not hold gets any code. Returns n; or, if a NaN or an infinity has no code, the index of the first such element. */
size_t ulp_encode_array(uint64_t *code /* (n) */, const double *value /* (n) */, size_t n, const ulp_format *format);

typedef enum ulp_class { ULP_ZERO, ULP_SUBNORMAL, ULP_NORMAL, ULP_INFINITE, ULP_NAN } ulp_class;

/* One letter for each bit of a code from the left, and '\0': s sign, e exponent, f fraction, i integer; in tapered
 * formats also r regime, d direction of a takum, c characteristic, d dot of hif8. In a negative posit or takum these
 * are the fields of the code itself, not of its two's complement (Posit Standard 2022, section 3.3). */
void ulp_code_letters(char *letters /* (bits + 1) */, uint64_t code, const ulp_format *format);

/* The class of a code. A code of fixed point is zero or normal. */
ulp_class ulp_classify(uint64_t code, const ulp_format *format);

/* The least value of the format above x, and the greatest value below x, for any real x. Past the largest value the
 * result is Inf where the format has Inf, else the largest value. NaN gives NaN. IEEE 754-2019, 5.3.1 */
double ulp_next_up(double x, const ulp_format *format);
double ulp_next_down(double x, const ulp_format *format);

/* The spacing of the format at x. Fixed point: 2^-F. Floating point: 2^(floor(log2 |x|) - p + 1) from 2^emin on, and
 * 2^qmin where |x| < 2^emin; qmin = emin in a format without subnormals. dlfloat16 between 0 and its least value:
 * 2^emin. Tapered formats: the distance of the two magnitudes of the format around |x|, above the largest value that of
 * the largest two; no power of two where exponent bits are cut. NaN and Inf give NaN. */
double ulp_spacing(double x, const ulp_format *format);

ULP_C_END
#endif

/* format.h - which numbers a format has: the descriptor, the registry, the names.
 *
 * A format is the set { +-m 2^(e-p+1) : 0 <= m < 2^p, emin <= e <= emax } and its special codes
 * (IEEE P3109 interim report v4.0, section 4). Fixed point is the same set with every value
 * subnormal. A descriptor is const plain data without pointers: copy it, send it to a device.
 * How a real number becomes a member of the set is round.h; descriptor.c gives the value of a code, codec.c the code of
 * a value.
 */
#ifndef ULP_FORMAT_H
#define ULP_FORMAT_H

#if defined(__FAST_MATH__)
#error "ulplab's arithmetic needs IEEE semantics: compile without -ffast-math"
#endif

#include <stddef.h>
#include <stdint.h>

/* ULP_FN: a function of a header, host and device. ULP_CORE: one that has to dissolve into the loop that
 * calls it, or the loop does not vectorise. */
#if defined(__CUDACC__)
#define ULP_FN static __host__ __device__ inline
#define ULP_CORE static __host__ __device__ __forceinline__
#elif defined(__GNUC__) || defined(__clang__)
#define ULP_FN static inline
#define ULP_CORE static inline __attribute__((always_inline))
#else
#define ULP_FN static inline
#define ULP_CORE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a library call reports. Numerical events are results, never errors. */
typedef enum ulp_status {
    ULP_OK = 0,
    ULP_BAD_ARGUMENT, /* a null pointer, a size or an option out of its range */
    ULP_BAD_NAME,     /* no format, mode, policy, datapath, backend, ... of that name */
    ULP_NOT_IN_RANGE, /* a name of the right form whose numbers do not fit: e12m3, q20.20 */
    ULP_NO_CODE,      /* the value is not in the format: encode does not round */
    ULP_NO_NAN,       /* the value is NaN and the format has no NaN code */
    ULP_UNSUPPORTED,  /* the combination is not offered: wrap on floating point, a format on a backend */
    ULP_NO_MEMORY,
    ULP_NO_DEVICE,    /* the machine lacks something: an instruction set, a GPU */
    ULP_BAD_FILE,     /* a file is missing, truncated or foreign */
    ULP_DEVICE_FAILED /* a device that is there reported an error */
} ulp_status;

/* One sentence for a status; never NULL. */
const char *ulp_status_text(ulp_status status);

/* What happens to a rounded value r with |r| > max (IEEE 754-2019, 7.4). */
typedef enum ulp_overflow {
    ULP_OVERFLOW_DEFAULT, /* the format's own: inf where it has infinities, else sat */
    ULP_OVERFLOW_INF,  /* IEEE: infinity, or max where the mode faces inward; NaN where there is no Inf; max where there
                          is neither */
    ULP_OVERFLOW_SAT,  /* the nearest end of the range, for infinite input too */
    ULP_OVERFLOW_NAN,  /* NaN, for infinite input too */
    ULP_OVERFLOW_WRAP, /* two's complement, modulo 2^bits; fixed point only; infinite input saturates */
    ULP_OVERFLOW_COUNT
} ulp_overflow;

/* Where the NaN codes are. */
typedef enum ulp_nan_codes {
    ULP_NAN_NONE,     /* no NaN: e3m2, e2m3, e2m1, fixed point */
    ULP_NAN_IEEE,     /* exponent field all ones, fraction not zero, both signs */
    ULP_NAN_ALL_ONES, /* every magnitude bit one, both signs if signed: e4m3, dlfloat16, e8m0, unsigned P3109 */
    ULP_NAN_NEG_ZERO  /* the single code that would be -0: fnuz, signed P3109 */
} ulp_nan_codes;

enum { ULP_NAME_MAX = 32 };

/* A set of numbers. The first block decides, the second is derived by ulp_format_init. */
typedef struct ulp_format {
    char name[ULP_NAME_MAX]; /* lower case, as written on the command line, suffixes included */
    uint8_t bits;            /* code width, 1..64 */
    uint8_t prec;            /* p, significand bits with the hidden one; fixed point: bits */
    int16_t bias;            /* of the exponent field; fixed point: unused, 0 */
    uint8_t is_signed;       /* has negative values */
    uint8_t is_fixed;        /* two's complement integer times 2^-frac_bits */
    uint8_t frac_bits;       /* F of qI.F; 0 for floating point */
    uint8_t has_inf;         /* +Inf, and -Inf if signed */
    uint8_t has_zero;        /* all but e8m0 */
    uint8_t has_neg_zero;
    uint8_t has_subnormals;
    uint8_t zero_binade; /* exponent field 0 holds normal numbers, its fraction 0 is zero: dlfloat16 */
    uint8_t nan_codes;   /* ulp_nan_codes */
    uint8_t overflow;    /* ulp_overflow in force where a rule says default; never DEFAULT itself */

    int16_t emin, emax;    /* of normal numbers 1.f 2^e; fixed point: both bits - 1 - frac_bits */
    int16_t qmin;          /* the smallest quantum is 2^qmin: emin - prec + 1, or emin without subnormals */
    uint8_t fits_binary32; /* every value is a binary32 value: float arrays can carry it */
    uint64_t max_code;     /* magnitude code of the largest finite value */
    uint64_t inf_code;     /* magnitude code of +Inf; 0 if none */
    uint64_t nan_code;     /* the canonical NaN; 0 if none */
    double max;            /* largest finite value */
    double lowest;         /* most negative finite value; smallest value (0 or 2^emin) if unsigned */
    double min_normal;     /* smallest positive normal value; fixed point: the smallest positive value */
    double min_positive;   /* smallest positive value */
} ulp_format;

/* A row of the registry: a name, its other names, and the deciding parameters. */
typedef struct ulp_format_row {
    const char *name, *aliases; /* aliases separated by spaces, "" if none */
    const char *source;         /* the standard or paper that defines it */
} ulp_format_row;

/* The number of registered formats. */
extern const size_t ulp_format_count;

/* Row `i` of the registry and its descriptor; ULP_BAD_ARGUMENT past the end. Either pointer may be NULL. */
ulp_status ulp_format_get(size_t i, ulp_format *format, const ulp_format_row **row);

/* Derive the second block of *format from the first and check both; every value has to be a binary64 value. */
ulp_status ulp_format_init(ulp_format *format);

/* Make every value 2^k times as large: the exponent bias, or the number of fraction bits, becomes smaller by k. The
 * name stays. ULP_NOT_IN_RANGE, and *format as it was, where a value would leave binary64 or the fraction bits their
 * range. */
ulp_status ulp_format_shift(ulp_format *format, int k);

/* The format called `text`: a registered name or alias, eXmY (IEEE-like; eXmYieee where eXmY names a
 * registered row), qI.F (I counts the sign), binaryKpP{s,u}{e,f}, each with suffixes :nosub :sat :inf
 * :nan :wrap. *format is written only on ULP_OK. */
ulp_status ulp_format_parse(ulp_format *format, const char *text);

/* Which numbers a name of the family of `text` may have: "qI.F takes ..."; "" if it is of no family. */
const char *ulp_format_limits(const char *text);

/* Whether every value of `inner`, Inf and NaN included, is a value of `outer`; a zero counts without its sign. */
int ulp_format_holds(const ulp_format *outer, const ulp_format *inner);

/* The policy that `policy` means for `format`: itself, or the format's default. */
ulp_overflow ulp_overflow_of(const ulp_format *format, ulp_overflow policy);

/* "default", "inf", "sat", "nan", "wrap". */
const char *ulp_overflow_name(ulp_overflow policy);
ulp_status ulp_overflow_parse(ulp_overflow *policy, const char *text);

/* Values and codes. A code is the low `bits` bits of a uint64_t. */

/* The value of a code; NaN codes give NaN. Bits above the width are ignored. */
double ulp_decode(uint64_t code, const ulp_format *format);

/* The code of a value that is in the format: ULP_NO_CODE if it is not, ULP_NO_NAN for NaN where there is
 * none. Any NaN gives the canonical NaN; -0 gives +0 where there is no -0. */
ulp_status ulp_encode(uint64_t *code, double value, const ulp_format *format);

typedef enum ulp_class { ULP_ZERO, ULP_SUBNORMAL, ULP_NORMAL, ULP_INFINITE, ULP_NAN } ulp_class;

/* What a code stands for. Fixed point: zero or normal. */
ulp_class ulp_classify(uint64_t code, const ulp_format *format);

/* The least value of the format above x (any real x), and the greatest below it. Past the largest value:
 * Inf where the format has it, else the largest value itself. NaN gives NaN. IEEE 754-2019, 5.3.1 */
double ulp_next_up(double x, const ulp_format *format);
double ulp_next_down(double x, const ulp_format *format);

/* The spacing of the format at x: 2^(floor(log2 |x|) - p + 1), and 2^qmin where |x| < 2^emin, so 2^emin without
 * subnormals; fixed point: 2^-F. dlfloat16 between 0 and its least value: 2^emin. NaN or Inf gives NaN. */
double ulp_spacing(double x, const ulp_format *format);

#ifdef __cplusplus
}
#endif
#endif

/* codes.h - codes of formats of up to 16 bits, as the operations on codes and on scaled blocks make and read them. */
#ifndef ULP_CPU_CODES_H
#define ULP_CPU_CODES_H

#include "kernels/cpu/cpu.h"

/* codes (n), of `width` bits each (8 or 16), of x (n), values of the format. Returns ULP_NO_NAN where an element is NaN
 * and the format has no NaN. */
ulp_status ULP_CPU(ulp_codes_of_values)(void *codes, const float *x, size_t n, unsigned width, const ulp_format *f);

/* The same for n <= ULP_PIECE values of any format. */
ulp_status ULP_CPU(ulp_codes_of_doubles)(void *codes, const double *x, size_t n, unsigned width, const ulp_format *f);

/* A format prepared for codes of numbers rounded to nearest, ties to even. */
typedef struct ulp_nearest {
    uint32_t least, anchor; /* word of 2^emin; anchor + word of 2^e is the anchor of binade e */
    uint32_t limit;         /* magnitudes from there on are not served */
    uint32_t shift, sign, sign_shift;
    int bare_zero;        /* whether zero has no sign */
    int is_word;          /* whether the code is the word without low bits */
    int32_t most, beyond; /* the largest magnitude code, and that of an overflow */
} ulp_nearest;

/* Whether the loops serve the format and rule: mode rne, where the result of an overflow is a number or Inf. */
int ULP_CPU(ulp_nearest_begin)(ulp_nearest *r, const ulp_format *f, ulp_rule rule);

/* codes (n), of `width` bits each (8 or 16), of x (n) rounded. 0 if an element is too large for the loops, infinite or
 * NaN; then the codes mean nothing. */
int ULP_CPU(ulp_nearest_codes)(void *codes, const float *x, size_t n, unsigned width, const ulp_nearest *r);

/* Calls an inlined function with the usual sizes of blocks as constants. */
#define BY_SIZE(call, size)                                                                                            \
    switch (size) {                                                                                                    \
    case 16: call(16); break;                                                                                          \
    case 32: call(32); break;                                                                                          \
    default: call(size); break;                                                                                        \
    }

/* packed (ceil(n / 2)) = the codes (n) of 4 bits, the first of two in the low half of a byte. */
void ULP_CPU(ulp_codes_pack)(uint8_t *packed, const uint8_t *codes, size_t n);

/* tapered.c: whether it serves a posit or a takum; codes of values of a posit or of a takum; values of posits. */
int ULP_CPU(ulp_tapered_codes_serve)(const ulp_format *f);
void ULP_CPU(ulp_posit_codes)(void *codes, const float *x, size_t n, unsigned width, const ulp_format *f);
void ULP_CPU(ulp_takum_codes)(void *codes, const double *x, size_t n, unsigned width, const ulp_format *f);
void ULP_CPU(ulp_posit_values)(float *y, const void *codes, size_t n, unsigned width, const ulp_format *f);

/* A format prepared for the loops that read codes. */
typedef struct ulp_reading {
    const ulp_format *format;
    int32_t normal;     /* the least magnitude code of a normal number */
    int32_t nan_above;  /* larger magnitude codes are NaN */
    int32_t nan, inf;   /* another code that is NaN, and the magnitude code of infinity; -1: none */
    uint32_t magnitude; /* mask of the magnitude code */
    uint32_t shift, bias, sign_shift, signs;
    float quantum;
    int is_posit;
    const float *table; /* the values of all codes, where no loop computes them */
} ulp_reading;

enum { ULP_READING_ROOM = 256 };

/* Prepares the reading of n codes. `room` takes the table of a format of up to 8 bits; for more bits the table is
 * allocated. The caller ends with ulp_reading_end. Returns ULP_NO_MEMORY. */
ulp_status ULP_CPU(ulp_reading_begin)(ulp_reading *r, float room[ULP_READING_ROOM], const ulp_format *f);
void ULP_CPU(ulp_reading_end)(ulp_reading *r, const float room[ULP_READING_ROOM]);

/* y (n) = the values of codes (n), of `width` bits each (8 or 16). */
void ULP_CPU(ulp_values_of_codes)(float *y, const void *codes, size_t n, unsigned width, const ulp_reading *r);

/* codes (n), a byte each = packed (ceil(n / 2)) codes of 4 bits. */
void ULP_CPU(ulp_codes_unpack)(uint8_t *codes, const uint8_t *packed, size_t n);

#endif

/* codes.h - codes of formats of up to 16 bits, as the operations on codes and on scaled blocks make and read them. */
#ifndef ULP_CPU_CODES_H
#define ULP_CPU_CODES_H

#include "kernels/cpu/cpu.h"

/* codes (n), of `width` bits each (8 or 16), of x (n), values of the format. Returns ULP_NO_NAN where an element is NaN
 * and the format has no NaN. */
ulp_status ULP_CPU(ulp_codes_of_values)(void *codes, const float *x, size_t n, unsigned width, const ulp_format *f);

/* The same for n <= ULP_PIECE values of any format. */
ulp_status ULP_CPU(ulp_codes_of_doubles)(void *codes, const double *x, size_t n, unsigned width, const ulp_format *f);

/* The constants of a format whose codes are of numbers rounded to nearest. */
typedef struct ulp_nearest_constants {
    /* by anchors: the word of 2^emin, a part of the anchors, and the word of the largest magnitude that counts */
    uint32_t least, anchor, clamp, shift, sign, sign_shift;
    int32_t most, beyond; /* the largest magnitude code, and that of an overflow */
    int32_t skipped;      /* what is taken from magnitude codes where the lowest binade holds zero */
    int32_t first;        /* the code of the least value above a gap */
    uint32_t gap;         /* magnitudes up to there become zero */
    int32_t nan;          /* the code of an overflow that is NaN; -1: it is a number */
    uint32_t negative_zero, negative, negative_keeps; /* codes of negative numbers: of zero; bits set and kept */
    /* fixed point: quanta are x `quanta`, from low to high */
    float quanta, low, high;
    uint32_t mask;
    uint32_t bits; /* of a takum */
    uint32_t away; /* hif8: what is added to a rank with its last bit */
} ulp_nearest_constants;

/* A format prepared for codes of numbers rounded to nearest. */
typedef struct ulp_nearest ulp_nearest;
struct ulp_nearest {
    /* codes (n) of 8 and of 16 bits of x (n) that are no NaN, and the largest magnitude as a word; if that is `limit`
     * or more, the codes mean nothing */
    uint32_t (*run[2])(void *codes, const float *x, size_t n, const ulp_nearest *r);
    uint32_t limit;
    ulp_nearest_constants constants;
    uint8_t codes[256]; /* hif8: of ranks and signs */
};

/* Whether the loops serve the format and rule: mode rne, and rna of hif8. */
int ULP_CPU(ulp_nearest_begin)(ulp_nearest *r, const ulp_format *f, ulp_rule rule);

/* The same for tapered formats. */
int ULP_CPU(ulp_nearest_tapered)(ulp_nearest *r, const ulp_format *f, ulp_rule rule);

/* codes (n), of `width` bits each (8 or 16), of x (n) rounded; n <= ULP_PIECE. 0 if an element is NaN or, for a takum,
 * infinite or a subnormal number of binary32; then the codes mean nothing. */
int ULP_CPU(ulp_nearest_codes)(void *codes, const float *x, size_t n, unsigned width, const ulp_nearest *r);

/* The codes (n), a byte each, of x[i] factor[i / size], where ulp_nearest_products_serve the format and the size of
 * blocks; NaN has any code. With is_near, a product is off by two units in the last place at most; 0 if one of them
 * could then have another code. */
int ULP_CPU(ulp_nearest_products_serve)(size_t size, const ulp_nearest *r);
int ULP_CPU(ulp_nearest_products)(uint8_t *codes, const float *x, size_t n, size_t size, const float *factor,
                                  int is_near, const ulp_nearest *r);

/* A quotient that is off by less than 2^-15 could lie on the other side of a tie if its distance from an integer has
 * this word, of 1/2 - 2^-15, or a larger one. */
#define ULP_NEAR_TIE 0x3efffc00u

/* Rows of whole blocks are one row. Returns the number of rows. */
ULP_INLINE size_t ulp_join_rows(ulp_block_array *array, size_t rows) {
    if (array->n % array->block->size != 0 || rows == 0) return rows;
    array->n *= rows;
    return 1;
}

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

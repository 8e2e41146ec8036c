/* block_plan.h - how the blocks of a format are converted: what all pieces of an array need, and the blocks of a piece.
 */
#ifndef ULP_CPU_BLOCK_PLAN_H
#define ULP_CPU_BLOCK_PLAN_H

#include "bounds.h"
#include "codes.h"

/* The ways to divide by a scale: with the definition, by a power of two, by any number. */
typedef enum division { BY_DEFINITION, BY_POWER, BY_NUMBER } division;

typedef struct block_plan {
    ulp_block_array array; /* the block format and the tensor scale */
    size_t size;           /* elements of a block; the last block of a piece may have fewer */
    ulp_rule rule;
    ulp_stream stream;
    division division;
    int is_wide;  /* 1: stochastic elements of scales that are no powers of two, which only the loop over quotients of
                     block_cast.c serves */
    int searches; /* 1: the rule of the scale needs all numbers of a block */
    /* by a power of two: scale code = ((word of amax + carry) >> 23) + offset, from 0 to 254; with the fraction
     * `tie` an odd code is one more */
    uint32_t carry, tie;
    int32_t offset;
    /* by a number: the scale is times amax / divisor rounded by the rule, at least `least` */
    double times, divisor, least;
    uint8_t least_code;
    ulp_rule scale_rule;
    int scale_is_nearest; /* whether `scale_nearest` serves the scales; then `scale_values` are the values of codes */
    ulp_nearest scale_nearest;
    double scale_values[256];
    int is_nearest; /* whether `nearest` serves the elements, and whether it multiplies them */
    int multiplies;
    ulp_nearest nearest;
    int counts_bounds; /* whether `bounds` serves the elements */
    element_bounds bounds;
    int search_counts; /* whether `search_bounds` and `element_values` serve the errors of scales */
    element_bounds search_bounds;
    double element_values[16];
} block_plan;

/* Of the blocks of a piece: the words of the largest magnitudes, the factors, and whether the definition has to do. */
typedef struct blocks {
    size_t count;
    uint32_t most[ULP_PIECE];
    float power[ULP_PIECE]; /* 1 / scale */
    double factor[ULP_PIECE];
    uint8_t special[ULP_PIECE];
} blocks;

/* Fills the plan of a format and a rule. */
void ULP_CPU(ulp_block_plan_of)(block_plan *p, ulp_block_array array, ulp_rule rule, ulp_stream stream);

/* Sets count and most of k for the blocks of x (n), which follow each other; n <= ULP_PIECE. */
void ULP_CPU(ulp_blocks_most)(blocks *k, const float *x, size_t n, size_t size);

/* The scale codes, and special and the power or factor of k, from count and most. For a rule that searches, block j is
 * part[j] of x. */
ulp_status ULP_CPU(ulp_blocks_scales)(blocks *k, uint8_t *scales, const float *x, const ulp_block_part *part,
                                      const block_plan *p);

/* The scales times amax / divisor of blocks, rounded by the plan's rule of scales. */
ulp_status ULP_CPU(ulp_blocks_quotients)(blocks *k, uint8_t *scales, double times, double divisor, const block_plan *p);

/* ulp_blocks_scales of a rule that searches. */
ulp_status ULP_CPU(ulp_blocks_search)(blocks *k, uint8_t *scales, const float *x, const ulp_block_part *part,
                                      const block_plan *p);

/* The element codes of x (n), whose blocks follow each other, under the scales of k. Blocks that are special then have
 * any codes. `at` is the place of x in the array, for random words. */
ulp_status ULP_CPU(ulp_blocks_elements)(uint8_t *to, blocks *k, const float *x, size_t n, size_t at,
                                        const block_plan *p);

/* The codes of x (n), whole blocks and at most one short block at the end; n <= ULP_PIECE. */
ulp_status ULP_CPU(ulp_blocks_codes)(uint8_t *to, uint8_t *scales, const float *x, size_t n, size_t at,
                                     const block_plan *p);

/* q (n) = x (n) / f (n), rounded to odd. */
ULP_INLINE void ulp_blocks_divide(double *restrict q, const float *restrict x, const double *restrict f, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double quotient = (double)x[i] / f[i], remainder = ULP_FMA(-quotient, f[i], (double)x[i]);
        q[i] = ulp_to_odd(quotient, remainder);
    }
}

/* y (rows,columns) = the values of x (rows,columns), of a cast with groups of blocks that have one correction. */
ulp_status ULP_CPU(ulp_block_groups)(float *y, const float *x, size_t rows, size_t columns, const ulp_block_cast *cast);

/* A format and a tensor scale prepared for the loops that make values from codes. */
typedef struct block_reading {
    ulp_reading element;
    size_t size;
    int wide;  /* whether factors need binary64 */
    int plain; /* whether a product is NaN for the quiet NaN of a factor alone */
    double factor[256];
    float room[ULP_READING_ROOM];
} block_reading;

/* Prepares; the caller ends with ulp_block_reading_end. Returns ULP_NO_MEMORY. */
ulp_status ULP_CPU(ulp_block_reading_begin)(block_reading *r, const ulp_block *block, float tensor_scale);
void ULP_CPU(ulp_block_reading_end)(block_reading *r);

/* y (n) = the values of codes, of blocks that follow each other. */
void ULP_CPU(ulp_blocks_values)(float *y, const uint8_t *elements, const uint8_t *scales, size_t n,
                                const block_reading *r);

#endif

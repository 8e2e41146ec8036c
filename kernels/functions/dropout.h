/* dropout.h - dropout of an element, in binary64: one definition for every backend.
 *
 * An element is kept if its random word is at least percent/100 2^32, rounded up. A kept element is multiplied by
 * 100 / (100 - percent): the product by 100 is exact for binary32, and the quotient is rounded once. Other elements
 * become +0.
 */
#ifndef ULP_DROPOUT_H
#define ULP_DROPOUT_H

#include "elementary.h"
#include "formats/round.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_DROPOUT_MOST = 99 };

/* The random word of element i has index stream.first + i. */
typedef struct ulp_dropout {
    uint32_t percent; /* 0 to ULP_DROPOUT_MOST */
    ulp_stream stream;
} ulp_dropout;

/* The least random word of an element that is kept. */
ULP_CORE uint32_t ulp_dropout_least(uint32_t percent) {
    return (uint32_t)((percent * (uint64_t)0x100000000u + 99) / 100);
}

ULP_CORE double ulp_dropout_value(float x, uint32_t word, uint32_t least, uint32_t percent) {
    const double kept = ulp_quieted((double)x * 100.0 / (double)(100 - percent));
    return word >= least ? kept : 0.0;
}

#ifdef __cplusplus
}
#endif
#endif

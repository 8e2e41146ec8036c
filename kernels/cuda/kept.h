/* kept.h - knowledge of operands: codes of arrays that do not change, and the answer to whether they have codes. */
#ifndef ULP_CUDA_KEPT_H
#define ULP_CUDA_KEPT_H

#include "device.h"
#include "native.h"

/* ---- whether the elements of operands are values of their formats ---- */

/* A word on the device that is 1 if an element is no value of its format: a word of its own, or, if the answer is
 * deferred, the word that ulp_cuda_settle asks. */
typedef struct ulp_cuda_question {
    uint32_t *found;
    bool deferred;
} ulp_cuda_question;

ulp_status ulp_cuda_question_begin(ulp_cuda_question *q, bool deferred);
/* Returns `status`, or ULP_NO_CODE if an answer that is not deferred is yes. If it does not return ULP_OK, nothing that
 * was derived from kept arrays stays. */
ulp_status ulp_cuda_question_end(ulp_cuda_question *q, ulp_status status);

/* ---- kept arrays ---- */

/* The data derived from an array: codes, or, where all_rows is 0, the knowledge that its elements are values of the
 * format. */
typedef enum ulp_kept {
    ULP_KEPT_NOT, /* the array is not kept: nothing is derived for later */
    ULP_KEPT_NEW, /* *codes is memory for the codes, which the caller fills */
    ULP_KEPT_OLD  /* *codes has the codes */
} ulp_kept;

/* Looks an array of floats up. The codes belong to this source. ULP_KEPT_NOT also where there is no memory. */
ulp_kept ulp_cuda_kept_codes(unsigned char **codes, const float *x, const ulp_native_array *array,
                             const ulp_format *format);
static inline ulp_kept ulp_cuda_kept_codes(unsigned char **, const double *, const ulp_native_array *,
                                           const ulp_format *) {
    return ULP_KEPT_NOT;
}

#endif

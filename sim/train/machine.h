/* machine.h - peaks and memory bandwidths of GPUs from their data sheets, and the time that a roofline predicts.
 *
 * A roofline (Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785) predicts that an operation takes the
 * longer of two times: the time of its products at the peak of the machine, and the time of its bytes at the bandwidth
 * of the memory. It is a prediction and not a measurement: real operations reach neither limit.
 */
#ifndef ULP_MACHINE_H
#define ULP_MACHINE_H

#include "base/error.h"

ULP_C_BEGIN

/* The types of operands for which data sheets give peaks. */
typedef enum ulp_peak_type {
    ULP_PEAK_FP32,
    ULP_PEAK_TF32,
    ULP_PEAK_FP16,
    ULP_PEAK_BF16,
    ULP_PEAK_FP8,
    ULP_PEAK_TYPES
} ulp_peak_type;

typedef struct ulp_machine {
    const char *name, *what, *source;
    double peak[ULP_PEAK_TYPES]; /* 10^12 operations per second; a multiply-add is two; matrices without sparsity;
                                       0: the machine lacks the type */
    double bandwidth;            /* of the memory, 10^9 bytes per second */
} ulp_machine;

extern const char ulp_machine_words[]; /* the names of the machines, each with a blank before it */

/* The i-th machine; NULL past the end. */
const ulp_machine *ulp_machine_get(size_t i);

/* The machine of that name. On failure `error` (may be NULL) gets a sentence that lists the known names. */
ulp_status ulp_machine_find(const ulp_machine **machine, const char *name, ulp_error *error);

/* "fp32", "tf32", ...; NULL past the end. */
const char *ulp_peak_type_name(ulp_peak_type type);

/* The narrowest type that holds both operands of a product; fp32 if no other type does. tf32 is never the result,
 * because a machine takes binary32 operands in tf32 only on demand, and then rounds them. */
ulp_peak_type ulp_peak_type_of(const ulp_format *a, const ulp_format *b);

/* The type in which a machine multiplies operands of a type: the type, or, if the machine lacks it, the next one that
 * holds it: fp16 for fp8, fp32 for the others. */
ulp_peak_type ulp_machine_type(const ulp_machine *machine, ulp_peak_type type);

/* The intensity, in operations per byte, above which products take longer than bytes. */
double ulp_machine_balance(const ulp_machine *machine, ulp_peak_type type);

/* The predicted seconds of an operation with so many multiply-adds and bytes. */
double ulp_machine_seconds(const ulp_machine *machine, ulp_peak_type type, double products, double bytes);

ULP_C_END
#endif

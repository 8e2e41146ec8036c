/* scaler.h - loss scaling: by how much the loss is multiplied, and what happens on overflow.
 *
 * Scales are powers of two: scaling and unscaling are exact but for the ends of the range. The rules are rows:
 *
 *   none     2^0                      static   2^init for good; a step with Inf or NaN is not skipped
 *   pytorch  torch.amp.GradScaler: 2^16, doubled after 2000 good steps in a row, halved on overflow
 *   apex     NVIDIA Apex amp LossScaler: the same with at most 2^24
 *   keras    tf.keras LossScaleOptimizer: 2^15, 2000, at least 2^0
 *   megatron Megatron-LM DynamicGradScaler: 2^32, 1000, at least 2^0, halved on the second overflow
 *   backoff  2^24, only ever halved
 *
 * Text: NAME, static:K for static,init=K, and overrides: pytorch,interval=50,init=24. Keys: init, interval
 * (0: never grows), max, min (of log2), hysteresis, skip (0 or 1).
 *
 * A scaler sees Inf and NaN in the gradients of weights and nothing else; where gradients saturate it is blind (policy.h).
 */
#ifndef ULP_SCALER_H
#define ULP_SCALER_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scales stay where 2^k and 2^-k are normal binary32 numbers. */
enum { ULP_SCALE_MIN = -126, ULP_SCALE_MAX = 126 };

typedef struct ulp_scaler_rule {
    const char *name;
    uint8_t dynamic;     /* changes the scale */
    uint8_t skip;        /* leaves weights and momentum alone in a step with Inf or NaN */
    int16_t init, min, max; /* log2 */
    uint32_t interval;   /* good steps in a row before the scale is doubled; 0: never */
    uint32_t hysteresis; /* overflows before the scale is halved; growth restores the count */
} ulp_scaler_rule;

typedef struct ulp_scaler {
    ulp_scaler_rule rule;
    int log2;          /* the scale in force is 2^log2 */
    uint32_t good;     /* good steps since the last growth or overflow */
    uint32_t patience; /* overflows left before the scale is halved */
    uint64_t overflows, skipped, grown, backed; /* steps so far */
} ulp_scaler;

/* The i-th row of the table; NULL past the end. */
const ulp_scaler_rule *ulp_scaler_rule_get(size_t i);

/* The scaler called `text` in its initial state; a sentence in `error` (may be NULL) otherwise. */
ulp_status ulp_scaler_parse(ulp_scaler *scaler, const char *text, char *error, size_t error_size);

/* After a backward pass: whether the gradients held Inf or NaN. Returns 1 if the step is to be skipped. The scale
 * that these gradients carry is scaler->log2 before the call. */
int ulp_scaler_update(ulp_scaler *scaler, int overflow);

#ifdef __cplusplus
}
#endif
#endif

/* scaler.h - loss scales: by how much the loss is multiplied, and what happens on overflow.
 *
 * Loss scales are powers of two: multiplying and dividing by them is exact but for the ends of the range. The rules are
 * rows of a table in scaler.c, with the numbers of PyTorch, Apex, Keras, Megatron-LM and OpenSeq2Seq (logmax: Kuchaiev
 * et al. 2018, arXiv:1805.10387). The rule layer stands for a loss scale of its own for every layer with parameters
 * (loss_scale.h).
 *
 * logmax: x is log2 of the largest |weight gradient| of a step, unscaled; of a step with Inf or NaN, x = log_max. mu is
 * the exponential average of x with beta1; sigma^2 = E[x^2] - E[x]^2 of the averages with beta2; all are divided by 1 -
 * beta^steps. The scale is 2^floor(log_max - (mu + overflow_std_dev sigma)) within min and max: floor, because ours are
 * powers of two, theirs are any number. A step whose gradients are all zero has no x and is left out; theirs takes the
 * logarithm of 0. Of a step with Inf or NaN theirs has x = 2^log_max, which is no logarithm and pins the scale to its
 * least for long.
 *
 * Text: NAME, static:K for static,init=K, and overrides: "pytorch,interval=50,init=24". The keys are those of
 * ulp_scaler_help().
 *
 * A scaler sees the largest gradient of the weights and nothing else (layer: of each layer, with the activation
 * gradient that enters it backward); where gradients saturate there is no Inf and it is blind (policy.h).
 */
#ifndef ULP_SCALER_H
#define ULP_SCALER_H

#include "kernels/key_values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scales stay where 2^k and 2^-k are normal binary32 numbers. */
enum { ULP_SCALE_MIN = -126, ULP_SCALE_MAX = 126 };
/* Of two layers the quotient of the scales, too, is a normal number. */
enum { ULP_LAYER_SCALE_MIN = -62, ULP_LAYER_SCALE_MAX = 62 };

typedef enum ulp_scaler_way { ULP_SCALE_FIXED, ULP_SCALE_BY_OVERFLOW, ULP_SCALE_BY_SIZE } ulp_scaler_way;

typedef struct ulp_scaler_rule {
    const char *name, *what;
    uint8_t way; /* ulp_scaler_way: never changes, grows and backs off, logmax */
    uint8_t
        per_layer; /* counts steps, and stands for one scaler with 0 here per layer with parameters (loss_scale.h) */
    uint8_t skip;  /* leaves weights and momentum alone in a step with Inf or NaN */
    int16_t init, min, max; /* log2 */
    uint32_t interval;      /* good steps in a row before the scale is doubled; 0: never */
    uint32_t hysteresis;    /* overflows before the scale is halved; growth restores the count */
    double log_max, overflow_std_dev, beta1, beta2; /* of logmax */
} ulp_scaler_rule;

/* The averages of logmax, not yet divided by 1 - beta^steps. */
typedef struct ulp_log_averages {
    double mean, slow_mean, slow_square;
    double left1, left2; /* beta1^steps, beta2^steps */
} ulp_log_averages;

typedef struct ulp_scaler {
    ulp_scaler_rule rule;
    int log2;                                   /* the scale in force is 2^log2 */
    uint32_t good;                              /* good steps since the last growth or overflow */
    uint32_t patience;                          /* overflows left before the scale is halved */
    uint64_t overflows, skipped, grown, backed; /* steps so far */
    ulp_log_averages averages;
} ulp_scaler;

/* The i-th row of the table; NULL past the end. */
const ulp_scaler_rule *ulp_scaler_rule_get(size_t i);

/* The row of that name; NULL if there is none. */
const ulp_scaler_rule *ulp_scaler_rule_find(const char *name);

/* The rule that `text` describes; a sentence in `error` (may be NULL) otherwise. */
ulp_status ulp_scaler_parse(ulp_scaler_rule *rule, const char *text, char *error, size_t error_size);

/* The reference text of `ulp help scalers`. */
void ulp_scaler_help(const ulp_help *to);

/* The rule `static` with the loss scale 2^log2. */
ulp_scaler_rule ulp_scaler_static(int log2);

/* A scaler in the initial state of a rule. ULP_BAD_NAME and a sentence in `error` (may be NULL) if the rule begins
 * outside of its own limits. */
ulp_status ulp_scaler_init(ulp_scaler *scaler, const ulp_scaler_rule *rule, char *error, size_t error_size);

/* After a backward pass: the largest magnitude among the gradients, which carry 2^scaler->log2 (before the call); Inf
 * or NaN: they overflowed. Returns 1 if the step is to be skipped. */
int ulp_scaler_update(ulp_scaler *scaler, float largest);

#ifdef __cplusplus
}
#endif
#endif

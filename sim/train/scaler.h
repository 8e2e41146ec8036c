/* scaler.h - scalers: rules that choose the loss scale, and the action after an overflow.
 *
 * Loss scales are powers of two. Multiplication and division by a loss scale are exact except at the ends of the range.
 * The rules are rows of a table in scaler.c, with the numbers of PyTorch, Apex, Keras, Megatron-LM and OpenSeq2Seq
 * (logmax: Kuchaiev et al. 2018, arXiv:1805.10387). The rule `layer` gives every layer with parameters a loss scale of
 * its own (loss_scale.h).
 *
 * logmax: x is log2 of the largest |weight gradient| of a step, unscaled. In a step with Inf or NaN, x = log_max. mu is
 * the exponential average of x with beta1, and sigma^2 = E[x^2] - E[x]^2 uses averages with beta2; all averages are
 * divided by 1 - beta^steps. The scale is 2^floor(log_max - (mu + overflow_std_dev sigma)), limited to min and max.
 * OpenSeq2Seq differs in three points:
 *
 *  - Its scales are any number; here floor makes them powers of two.
 *  - It takes the logarithm of 0 in a step whose gradients are all zero; here the step has no x and is left out.
 *  - In a step with Inf or NaN it has x = 2^log_max, which is no logarithm and keeps the scale at its minimum for long.
 *
 * The text of a scaler is NAME, or static:K for static,init=K, then key=value pairs: "pytorch,interval=50,init=24".
 * ulp_scaler_help() lists the keys.
 *
 * A scaler sees the largest gradient of the weights alone. The scalers of `layer` see the largest gradient of the
 * weights of their layer and of the layer's output. If gradients saturate, there is no Inf, and a scaler sees no
 * overflow (policy.h).
 */
#ifndef ULP_SCALER_H
#define ULP_SCALER_H

#include "base/error.h"
#include "base/key_values.h"

ULP_C_BEGIN

/* The limits of log2 of a loss scale: 2^k and 2^-k are normal binary32 numbers. */
enum { ULP_SCALE_MIN = -126, ULP_SCALE_MAX = 126 };
/* The limits of log2 of a layer's loss scale: the quotient of two scales is a normal binary32 number, too. */
enum { ULP_LAYER_SCALE_MIN = -62, ULP_LAYER_SCALE_MAX = 62 };

typedef enum ulp_scaler_way { ULP_SCALE_FIXED, ULP_SCALE_BY_OVERFLOW, ULP_SCALE_BY_SIZE } ulp_scaler_way;

typedef struct ulp_scaler_rule {
    const char *name, *what;
    uint8_t way;       /* ulp_scaler_way: constant; doubled and halved by overflow; logmax */
    uint8_t per_layer; /* 1: every layer with parameters has a scaler with 0 here; this scaler counts steps alone */
    uint8_t skip;      /* 1: a step with Inf or NaN does not change weights and momentum */
    int16_t init, min, max; /* log2 of the scale */
    uint32_t interval;      /* good steps in a row before the scale is doubled; 0: never */
    uint32_t hysteresis;    /* overflows before the scale is halved; a growth starts the count again */
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
    uint32_t patience;                          /* further overflows before the scale is halved */
    uint64_t overflows, skipped, grown, backed; /* steps so far; backed: the scale was reduced */
    ulp_log_averages averages;
} ulp_scaler;

/* The rows of the table. */
typedef enum ulp_scaler_name {
    ULP_SCALER_NONE,
    ULP_SCALER_STATIC,
    ULP_SCALER_PYTORCH,
    ULP_SCALER_APEX,
    ULP_SCALER_KERAS,
    ULP_SCALER_MEGATRON,
    ULP_SCALER_DEEPSPEED,
    ULP_SCALER_FAIRSEQ,
    ULP_SCALER_BACKOFF,
    ULP_SCALER_LOGMAX,
    ULP_SCALER_LAYER,
    ULP_SCALER_COUNT
} ulp_scaler_name;
extern const ulp_scaler_rule ulp_scaler_rules[ULP_SCALER_COUNT];

/* The i-th row of the table; NULL past the end. */
const ulp_scaler_rule *ulp_scaler_rule_get(size_t i);

/* The row of that name; NULL if there is none. */
const ulp_scaler_rule *ulp_scaler_rule_find(const char *name);

/* The rule that `text` describes. On failure `error` (may be NULL) gets a sentence. */
ulp_status ulp_scaler_parse(ulp_scaler_rule *rule, const char *text, ulp_error *error);

/* The reference text of `ulp help scalers`. */
void ulp_scaler_help(const ulp_help *to);

/* The rule `static` with the loss scale 2^log2. */
ulp_scaler_rule ulp_scaler_static(int log2);

/* A scaler in the initial state of a rule. ULP_BAD_NAME: init is not between min and max; `error` (may be NULL) gets a
 * sentence. */
ulp_status ulp_scaler_init(ulp_scaler *scaler, const ulp_scaler_rule *rule, ulp_error *error);

/* Update a scaler after a backward pass. `largest` is the largest magnitude of the gradients, which carry
 * 2^scaler->log2; Inf or NaN means overflow. Returns 1 if the step must be skipped. */
int ulp_scaler_update(ulp_scaler *scaler, float largest);

ULP_C_END
#endif

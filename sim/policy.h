/* policy.h - every rounding point of a training run, declared as plain data, and its text form.
 *
 * A network computes real numbers; a policy says where they are rounded, to which format, by which rule,
 * and how the sums of products are formed. Nothing else rounds. The points:
 *
 *   weight  what the layers multiply with         wgrad  gradients of weights, as the layers hand them on
 *   act     inputs and outputs of layers          agrad  gradients of activations, from the loss backward
 *   state   unscaled gradients and momentum       master the weights that updates are added to, or none:
 *   loss    probabilities and losses                     then an update is rounded into the weight format
 *   norm    means and variances of batch normalisation
 *
 * Text: an optional preset, then key=value pairs, separated by commas, for example
 * "mixed:fp16,master=none,act=e4m3/sr". The presets and keys are those of ulp_policy_help().
 *
 * Gradients overflow to Inf, or to NaN where a format has no Inf, unless the format's name says otherwise
 * (agrad=e4m3:sat): a loss scaler sees Inf and NaN, not saturation. Fixed point has neither and saturates, and what has
 * a scale of its own overflows as its format does.
 */
#ifndef ULP_POLICY_H
#define ULP_POLICY_H

#include "kernels/key_values.h"
#include "kernels/products/datapath.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rounding points. The numbers are part of the stream ids below: fixed for good. */
typedef enum ulp_point_kind {
    ULP_AT_WEIGHT = 0,
    ULP_AT_ACT = 1,
    ULP_AT_WGRAD = 2,
    ULP_AT_AGRAD = 3,
    ULP_AT_STATE = 4, /* of the unscaled gradient; decay and momentum have uses of their own */
    ULP_AT_MASTER = 5,
    ULP_AT_LOSS = 6,
    ULP_AT_NORM = 7,
    ULP_AT_COUNT = 8
} ulp_point_kind;

/* How the values of a tensor are moved into a format's range before they are rounded: by a power of two, so that the
 * tensor's largest magnitude comes close to the format's largest number and not beyond it. Micikevicius et al. 2022,
 * arXiv:2209.05433, section 3; powers of two as in NVIDIA Transformer Engine's first recipe. */
typedef enum ulp_tensor_scale {
    ULP_UNSCALED,
    ULP_SCALED_NOW,    /* just in time: by the largest magnitude of this tensor */
    ULP_SCALED_DELAYED /* by the largest of the last `history` training steps; in the first one, of this tensor */
} ulp_tensor_scale;

enum { ULP_HISTORY_MAX = 1024 };

typedef struct ulp_cast {
    ulp_format format;
    ulp_rule rule;
    uint8_t tensor_scale; /* ulp_tensor_scale; a tensor is what one layer rounds at one point */
    uint16_t history;     /* steps, of ULP_SCALED_DELAYED */
} ulp_cast;

typedef struct ulp_policy {
    ulp_cast at[ULP_AT_COUNT];
    uint8_t has_master;
    uint8_t has_out;
    ulp_cast out; /* if has_out: at ULP_AT_ACT of the net's output, with its random words */
    ulp_datapath forward, backward;
} ulp_policy;

/* "weight", "act", ...; NULL past the end. */
const char *ulp_point_name(ulp_point_kind point);

/* The policy called `text`. On failure `error` (may be NULL) gets a sentence that names the bad word and
 * what is known, and *policy is left alone. Formats have to fit binary32, and a datapath with input formats has to hold
 * those of its operands (ULP_UNSUPPORTED). */
ulp_status ulp_policy_parse(ulp_policy *policy, const char *text, char *error, size_t error_size);

/* Whether the tensors of a point may have tensor scales: weights, activations and their gradients. */
int ulp_point_takes_scale(ulp_point_kind point);

/* Round the tensors of a point into another format; the rule of the point stays. A gradient whose format saturates
 * unasked gets the form of the format that overflows, unless it has a tensor scale. `history` is the number of steps of
 * ULP_SCALED_DELAYED, else 0. The point ULP_AT_MASTER gives the policy master weights. ULP_UNSUPPORTED: the format does
 * not fit binary32, or the point has no tensor scales. */
ulp_status ulp_policy_set(ulp_policy *policy, ulp_point_kind point, const ulp_format *format, ulp_tensor_scale when,
                          int history);

/* Whether the parts of a policy fit each other, however it was made: each format offers its rule, scaled weights have
 * master weights, and datapaths take the formats of their operands. A status and a sentence that names the parts. */
ulp_status ulp_policy_check(const ulp_policy *policy, char *error, size_t error_size);

/* Whether its products are offered by the backend of that name: a device's own products need that device.
 * ULP_UNSUPPORTED and a sentence. */
ulp_status ulp_policy_runs_on(const ulp_policy *policy, const char *backend, char *error, size_t error_size);

/* The canonical text, every key spelt out; parsing it gives the same policy. ULP_BAD_ARGUMENT if it does not fit. */
ulp_status ulp_policy_print(char *text, size_t size, const ulp_policy *policy);

enum { ULP_POLICY_TEXT_MAX = 640 };

/* The reference text of `ulp help policies`. */
void ulp_policy_help(const ulp_help *to);

/* Whether rounding there leaves every binary32 value as it is. */
int ulp_cast_is_identity(const ulp_cast *cast);

/* Whether rounding there is the conversion to binary32 of C, to nearest even. */
int ulp_cast_is_binary32(const ulp_cast *cast);

/* Uses of random words beyond the rounding points. */
enum {
    ULP_USE_FORWARD = 16,  /* forward products of a layer */
    ULP_USE_BIAS = 17,     /* its bias as the start of the sums */
    ULP_USE_BACKWARD = 18, /* products for the gradient of its input */
    ULP_USE_WPRODUCT = 19, /* products for the gradient of its weights */
    ULP_USE_BPRODUCT = 20, /* sums for the gradient of its bias */
    ULP_USE_DECAY = 21,    /* weight decay added to a gradient */
    ULP_USE_MOMENTUM = 22,
    ULP_USE_UPDATE = 23,    /* update of master weights, or of weights without them */
    ULP_USE_MEAN_TERM = 24, /* adam, in the order of optim.h */
    ULP_USE_MEAN = 25,
    ULP_USE_SQUARE = 26,
    ULP_USE_SQUARE_TERM = 27,
    ULP_USE_SQUARES = 28,
    ULP_USE_ROOT = 29,
    ULP_USE_DENOMINATOR = 30,
    ULP_USE_DIRECTION = 31,
    ULP_USE_INIT = 32,      /* initial weights */
    ULP_USE_SHUFFLE = 33,   /* order of the samples, one per epoch */
    ULP_USE_SPLIT = 34,     /* training and test part of a data set */
    ULP_USE_DROP = 35,      /* which elements dropout keeps */
    ULP_USE_SHRINK = 48,    /* decoupled weight decay */
    ULP_USE_KAHAN_SUM = 49, /* compensated update, in the order of optim.h */
    ULP_USE_KAHAN_MOVED = 50,
    ULP_USE_KAHAN_LOST = 51
};

/* The stream of one use: use in bits 56..62, evaluation in bit 63, layer in bits 40..55, lane in 28..39, step in 0..27.
 * Layer is the layer's number; for activations and their gradients the number of the layer they enter, the
 * number of layers for the net's output; 0 where all parameters are one array, then the element's index
 * is its place among all parameters. Lane tells apart what a layer rounds or multiplies several times in a pass (time
 * steps of a recurrent layer); else 0. Step counts from 0 and includes skipped steps; for SHUFFLE, epochs. */
static inline uint64_t ulp_stream_id(uint32_t use, uint32_t evaluation, uint64_t layer, uint64_t step) {
    return (uint64_t)(evaluation & 1u) << 63 | (uint64_t)(use & 0x7fu) << 56 | (layer & 0xffffu) << 40 |
           (step & 0xffffffffffu);
}

#ifdef __cplusplus
}
#endif
#endif

/* policy.h - the policy of a training run: every rounding point as plain data, and the text form of a policy.
 *
 * A policy says where a network rounds its numbers, to which format and by which rule, and how the sums of products are
 * formed. Nothing else rounds. The rounding points:
 *
 *   weight  weights as the layers use them         wgrad  gradients of weights, as the layers compute them
 *   act     inputs and outputs of layers           agrad  gradients of activations, from the loss backward
 *   state   unscaled gradients and momentum        loss   probabilities and losses
 *   norm    means and variances of normalisations; factors and sums of a softmax in blocks
 *   score   scores of attention before the softmax      prob   weights of attention, the results of the softmax
 *   master  the weights that updates are added to; without master weights an update is rounded into the weight format
 *
 * The text of a policy is an optional preset, then key=value pairs, separated by commas, for example
 * "mixed:fp16,master=none,act=e4m3/sr". A key with a selector before it is for some layers alone:
 * "mixed:fp16,bn.*=fp32,first.weight=bf16,3.act=e4m3@amax". A key without a selector is for all layers. Later words win
 * over earlier words. ulp_policy_help() lists the presets, keys and selectors.
 *
 * Which layer a tensor belongs to:
 *
 *  - weight, wgrad, state, master and norm: the layer that has the weights or statistics
 *  - act and agrad: the layer whose output the tensor is, and inner tensors of the layer. The input of the net is the
 *    output of no layer; the selector `input` selects it.
 *  - fwd and bwd: the layer that forms the products
 *
 * Gradients overflow to Inf, or to NaN if the format has no Inf, because a loss scaler sees Inf and NaN, but not
 * saturation. A gradient saturates if the name of its format says so (agrad=e4m3:sat) or if its format is fixed point,
 * which has neither Inf nor NaN. A gradient with a tensor scale overflows as its format does.
 */
#ifndef ULP_POLICY_H
#define ULP_POLICY_H

#include "base/error.h"
#include "base/key_values.h"
#include "kernels/backend.h"

ULP_C_BEGIN

typedef struct ulp_net ulp_net; /* net.h */

/* The rounding points. The numbers are part of the stream ids below and must not change. */
typedef enum ulp_point_kind {
    ULP_AT_WEIGHT = 0,
    ULP_AT_ACT = 1,
    ULP_AT_WGRAD = 2,
    ULP_AT_AGRAD = 3,
    ULP_AT_STATE = 4, /* as a use: the unscaled gradient; decay and momentum have uses of their own */
    ULP_AT_MASTER = 5,
    ULP_AT_LOSS = 6,
    ULP_AT_NORM = 7,
    ULP_AT_SCORE = 8, /* this and the next follow ULP_AT_ACT unless the policy has a cast of their own */
    ULP_AT_PROB = 9,
    ULP_AT_COUNT = 10
} ulp_point_kind;

/* How a tensor scale is chosen. A tensor scale is a power of two that moves the values of a tensor into the range of a
 * format before they are rounded: the largest magnitude comes close to the largest number of the format, but not beyond
 * this number. Micikevicius et al. 2022, arXiv:2209.05433, section 3; powers of two as in NVIDIA Transformer Engine's
 * first recipe. */
typedef enum ulp_tensor_scale {
    ULP_UNSCALED,
    ULP_SCALED_NOW,    /* from the largest magnitude of this tensor */
    ULP_SCALED_DELAYED /* from the largest magnitude in the last `history` training steps; in the first step as NOW */
} ulp_tensor_scale;

enum { ULP_HISTORY_MAX = 1024 };

/* The operands of the three products of a layer with weights, see operand_cast.h. */
typedef enum ulp_operand_use {
    ULP_FORWARD_X,
    ULP_FORWARD_W,
    ULP_DGRAD_G,
    ULP_DGRAD_W,
    ULP_WGRAD_X,
    ULP_WGRAD_G,
    ULP_OPERANDS
} ulp_operand_use;

enum { ULP_OPERAND_AS_IT_IS, ULP_OPERAND_FORMAT, ULP_OPERAND_BLOCK, ULP_OPERAND_LOW_BIT };

typedef struct ulp_cast {
    ulp_format format;
    ulp_rule rule;
    uint8_t tensor_scale; /* ulp_tensor_scale; the values that one layer rounds at one point are one tensor */
    uint16_t history;     /* number of steps of ULP_SCALED_DELAYED */
} ulp_cast;

/* A cast of an operand of a product. */
typedef struct ulp_operand_cast {
    uint8_t kind;         /* ULP_OPERAND_AS_IT_IS, ... */
    uint8_t tiles;        /* of BLOCK, 1: square tiles share a scale */
    uint8_t random_signs; /* of a transform */
    uint16_t transform;   /* size of the Hadamard matrix; 0: none */
    uint8_t fits;         /* of a transform, 1: the largest size up to 128 that divides the sum */
    uint8_t eden;         /* of BLOCK, 1: groups of blocks have a correction (block_cast.h) */
    uint8_t has_tensor_scale;
    uint8_t low_bit;  /* of LOW_BIT: ulp_low_bit_kind */
    double threshold; /* of LOW_BIT, ternary */
    ulp_cast cast;    /* of FORMAT; of the others its rule alone counts */
    ulp_block block;  /* of BLOCK */
} ulp_operand_cast;

/* The target of a word with a selector: a rounding point by its number, or one of these. */
typedef enum ulp_selected {
    ULP_SELECT_ALL = 16,  /* KEY is *: every point and both datapaths of a layer, as the preset `cast.format` */
    ULP_SELECT_MIXED,     /* as ULP_SELECT_ALL, as the preset mixed:`cast.format` */
    ULP_SELECT_MODE,      /* KEY is mode: the mode of every point whose format is not binary32 */
    ULP_SELECT_NO_MASTER, /* master=none */
    ULP_SELECT_FORWARD,
    ULP_SELECT_BACKWARD,
    ULP_SELECT_OPERAND = 32 /* this and the next five: the operands */
} ulp_selected;

enum { ULP_SELECTOR_MAX = 16, ULP_SELECTIONS_MAX = 64, ULP_PATHS_MAX = 12 };

/* A word "SELECTOR.KEY=VALUE" of a policy. */
typedef struct ulp_selection {
    char layers[ULP_SELECTOR_MAX]; /* a kind of layer, the number of a layer from 0, first, last, input, or * for all */
    uint8_t what;                  /* a ulp_point_kind or a ulp_selected */
    uint8_t path;                  /* of FORWARD, BACKWARD, ALL and MIXED: index of the datapath in the policy; of an
                                      operand: index of its cast */
    uint8_t own_mode;              /* 1: the word gives a mode; 0: mode= gives it */
    ulp_cast cast;                 /* of a point, ALL and MIXED; of MODE its rule alone counts */
} ulp_selection;

typedef struct ulp_policy {
    ulp_cast at[ULP_AT_COUNT];
    uint16_t own; /* 1 << point for a point that would follow another one but has a cast of its own */
    uint8_t has_master;
    uint8_t has_out;
    ulp_cast out; /* if has_out: replaces the cast of ULP_AT_ACT for the net's output, with the same random words */
    ulp_datapath forward, backward;
    size_t selections, paths;
    ulp_selection selection[ULP_SELECTIONS_MAX]; /* in the order in which they apply */
    ulp_datapath path[ULP_PATHS_MAX];            /* of the selections */
    size_t casts;
    ulp_operand_cast cast[ULP_PATHS_MAX];   /* of the selections */
    ulp_operand_cast operand[ULP_OPERANDS]; /* of all layers */
    uint8_t has_operands;                   /* 1: the policy has casts of operands, here or in a selection */
} ulp_policy;

/* The policy of one layer: the selections that select the layer, applied to the rest of a ulp_policy. Both structs are
 * large; functions take them by pointer. */
typedef struct ulp_layer_policy {
    ulp_cast at[ULP_AT_COUNT];
    uint16_t own; /* as in ulp_policy */
    uint8_t has_master;
    ulp_datapath forward, backward;
    ulp_operand_cast operand[ULP_OPERANDS];
} ulp_layer_policy;

/* Whether a point follows the point act where a policy gives it no cast. */
static inline int ulp_point_follows(int point) { return point == ULP_AT_SCORE || point == ULP_AT_PROB; }

/* The point whose cast a point has: itself, or act. */
static inline int ulp_point_source(uint16_t own, int point) {
    return ulp_point_follows(point) && !(own >> point & 1) ? (int)ULP_AT_ACT : point;
}

/* "weight", "act", ...; NULL past the end. */
const char *ulp_point_name(ulp_point_kind point);

/* The policy that `text` describes. On failure `error` (may be NULL) gets a sentence that names the bad word and lists
 * the known words, and *policy is unchanged. ULP_UNSUPPORTED: a format does not fit binary32, or a datapath has input
 * formats that do not hold the formats of its operands. */
ulp_status ulp_policy_parse(ulp_policy *policy, const char *text, ulp_error *error);

/* The policy "fp32": binary32 to nearest even everywhere, and no master weights. */
void ulp_policy_binary32(ulp_policy *policy);

/* Whether the tensors of a point may have tensor scales: only weights, activations and their gradients may. */
int ulp_point_takes_scale(ulp_point_kind point);

/* Set the format and the tensor scale of a point in all layers; the rule of the point stays. If the format of a
 * gradient saturates and its name does not say ":sat", the gradient gets the variant of the format that overflows to
 * Inf, unless it has a tensor scale. `history` is the number of steps of ULP_SCALED_DELAYED, else 0. The point
 * ULP_AT_MASTER gives the policy master weights. ULP_UNSUPPORTED: the format does not fit binary32, or the point has no
 * tensor scales. ULP_BAD_ARGUMENT: the policy has no room for another selection. */
ulp_status ulp_policy_set(ulp_policy *policy, ulp_point_kind point, const ulp_format *format, ulp_tensor_scale when,
                          int history);

/* Check that the parts of a policy fit each other: each format offers its rule, weights with a tensor scale have master
 * weights, and datapaths take the formats of their operands. If not, the status is not ULP_OK, and `error` (may be
 * NULL) gets a sentence that names the parts. Of a policy with selections only the rules are checked here; the rest
 * depends on the net (ulp_policy_resolve). */
ulp_status ulp_policy_check(const ulp_policy *policy, ulp_error *error);

/* Check that the backend offers the products of a policy: native products need their machine. If not,
 * the status is ULP_UNSUPPORTED, and `error` (may be NULL) gets a sentence. */
ulp_status ulp_policy_runs_on(const ulp_policy *policy, const ulp_backend *backend, ulp_error *error);

/* Write the canonical text with every key; parsing the text gives the same policy. ULP_BAD_ARGUMENT: `size` is too
 * small. */
ulp_status ulp_policy_print(char *text, size_t size, const ulp_policy *policy);

enum { ULP_POLICY_TEXT_MAX = 4096 };

/* The reference text of `ulp help policies`. */
void ulp_policy_help(const ulp_help *to);

/* The index of a cast among those of the selections, where it is added if it is new; ULP_PATHS_MAX: there is no room.
 */
size_t ulp_policy_place_cast(ulp_policy *policy, const ulp_operand_cast *cast);

/* Add a selection at the end; `path` (may be NULL) is the datapath of FORWARD, BACKWARD, ALL and MIXED.
 * ULP_BAD_ARGUMENT: the policy has no room for another selection or datapath. */
ulp_status ulp_policy_select(ulp_policy *policy, const ulp_selection *selection, const ulp_datapath *path);

/* Remove the selections that lose against a later word for all layers; `what` is as in ulp_selection. */
void ulp_policy_forget(ulp_policy *policy, int what);

/* A gradient's format becomes its variant `:inf` if the format saturates and its name does not say `:sat`. The formats
 * of other points stay. */
ulp_status ulp_point_let_overflow(ulp_format *format, ulp_point_kind point);

/* Whether the cast changes no binary32 value. */
static inline int ulp_cast_is_identity(const ulp_cast *cast) {
    return ulp_format_equal(&cast->format, &ulp_binary32) && !cast->tensor_scale &&
           ulp_overflow_of(&cast->format, (ulp_overflow)cast->rule.overflow) == ULP_OVERFLOW_INF;
}

/* Whether the cast is the conversion of C to binary32, to nearest even. */
static inline int ulp_cast_is_binary32(const ulp_cast *cast) {
    return cast->rule.mode == ULP_RNE && ulp_cast_is_identity(cast);
}

/* ---- the layers of a net ---- */

/* The policies of the layers of a net, from one policy with selections. The table has a row for the input of the net,
 * and a row for each layer, so that row t is the policy of the layer whose output is tensor t. A policy without
 * selections needs no table: all rows would be equal.
 *
 * *rows [1 + net->count] = the policies of the input and of the layers; free() them. NULL if the policy has no
 * selections. On failure `error` (may be NULL) gets a sentence:
 *
 *  - ULP_BAD_NAME: a selector selects no layer of the net, and the sentence lists the selectors of the net; or no
 *    selected layer has the tensors or products that the word is about, as in relu.weight=bf16.
 *  - ULP_UNSUPPORTED: the datapath of a layer does not take the formats of its operands, or weights with a tensor scale
 *    have no master weights.
 *  - ULP_NO_MEMORY */
ulp_status ulp_policy_resolve(ulp_layer_policy **rows, const ulp_policy *policy, const ulp_net *net, ulp_error *error);

/* ---- random words ---- */

/* Uses of random words other than the rounding points. */
enum {
    ULP_USE_FORWARD = 16,  /* forward products of a layer */
    ULP_USE_BIAS = 17,     /* the bias of a layer as the start of the sums */
    ULP_USE_BACKWARD = 18, /* products for the gradient of a layer's input */
    ULP_USE_WPRODUCT = 19, /* products for the gradient of a layer's weights */
    ULP_USE_BPRODUCT = 20, /* sums for the gradient of a layer's bias */
    ULP_USE_DECAY = 21,    /* weight decay added to a gradient */
    ULP_USE_MOMENTUM = 22,
    ULP_USE_UPDATE = 23,    /* update of the master weights, or of the weights if there are no master weights */
    ULP_USE_MEAN_TERM = 24, /* this and the next seven: adam, in the order of optim.h */
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
    ULP_USE_LATENT = 36,    /* inputs of a generator (gan.h) */
    ULP_USE_SHRINK = 48,    /* decoupled weight decay */
    ULP_USE_KAHAN_SUM = 49, /* this and the next two: compensated update, in the order of optim.h */
    ULP_USE_KAHAN_MOVED = 50,
    ULP_USE_KAHAN_LOST = 51,
    ULP_USE_CLIP = 52,       /* gradients times the coefficient of clipping */
    ULP_USE_ACCUMULATE = 53, /* sums of the gradients of micro-batches */
    ULP_USE_TAIL = 54,       /* weights and master weights that a second policy rounds anew */
    ULP_USE_LIMIT = 55,      /* weights that stay within a limit */
    ULP_USE_REDUCE = 56,     /* reduction of the gradients over ranks (reduction.h) */
    ULP_USE_SAMPLE = 57,     /* tokens of new text (sample.h) */
    ULP_USE_OPERAND = 64, /* this and the next five: casts of operands of products, in the order of ulp_operand_use */
    ULP_USE_SIGNS = 72    /* this and the next two: random signs of transforms: fwd, dgrad, wgrad */
};

/* The stream of one use. In data-parallel training, the words of rank r begin at index r 2^48 of every stream that a
 * rank uses alone. With N micro-batches in a step, micro-batch m of rank r has the words of rank r N + m. The bits of a
 * stream, from the top:
 *
 *  - evaluation (63): 1 in an evaluation, 0 in training
 *  - use (56..62): a rounding point or one of the uses above
 *  - layer (40..55): the number of the layer. Activations and their gradients have the number of the layer whose input
 *    they are; the net's output has the number of layers. Where all parameters are one array, layer is 0, and the
 *    index of an element is its place among all parameters.
 *  - lane (28..39): distinguishes tensors that a layer rounds or multiplies in one pass, as the time steps of a
 *    recurrent layer; else 0
 *  - step (0..27): counts from 0 and includes skipped steps; the epoch for ULP_USE_SHUFFLE */
static inline uint64_t ulp_stream_id(uint32_t use, uint32_t evaluation, uint64_t layer, uint64_t step) {
    return (uint64_t)(evaluation & 1u) << 63 | (uint64_t)(use & 0x7fu) << 56 | (layer & 0xffffu) << 40 |
           (step & 0xffffffffffu);
}

ULP_C_END
#endif

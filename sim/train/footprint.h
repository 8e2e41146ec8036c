/* footprint.h - bytes and products of a training step, counted from the shapes of a net and the formats of a policy.
 *
 * These are the numbers of a machine that stores every number in the format of its rounding point, bits / 8 bytes each;
 * memory.h counts what our emulation allocates. The loss and its gradient are left out: they are small. The batch is
 * one pass: micro-batches (accumulate= of the optimizer), clipping and a second policy are not counted.
 *
 * Bytes of memory, per layer:
 *
 *  - weights, master weights, weight gradients: each parameter once; master weights if the policy has them
 *  - optimizer state: the arrays of the optimizer; the array of kahan in the format of weights
 *  - statistics: running statistics of batch normalisation
 *  - activations: the tensors that backward needs, each once: the output of the layer, if the layer or the next one
 *    reads it, and inner numbers of the layer. The net's input belongs to its first layer. A fork and a shortcut have
 * no memory of their own: their output is the fork's input.
 *  - activation gradients: the gradient of the input. Of a net: the largest sum of the gradients that are alive at one
 *    time, from the layer that computes a gradient to the last one that reads it.
 *
 * Products are multiply-adds of sums: convolutions, fully connected and recurrent layers. Bytes moved: every operation
 * reads each of its operands from memory once and writes its results once, without fusion with its neighbours. Batch
 * normalisation reads its input twice. A recurrent layer reads its recurrent weights at every step; the gradients
 * inside it are not counted. Forks, joins backward and shortcuts move nothing, but a fork adds two gradients.
 *
 * Casts are the numbers that a step converts between formats: master weights to weights, gradients of weights to the
 * format of the optimizer, and a tensor with its gradient where the output of a layer other than a product, or the
 * loss, has another format than the tensor; the net's input, if its format is not binary32.
 */
#ifndef ULP_FOOTPRINT_H
#define ULP_FOOTPRINT_H

#include "base/error.h"
#include "machine.h"
#include "sim/net.h"
#include "sim/optim/optim.h"

ULP_C_BEGIN

typedef enum ulp_bytes_kind {
    ULP_BYTES_WEIGHT,
    ULP_BYTES_MASTER,
    ULP_BYTES_STATE,
    ULP_BYTES_NORM,
    ULP_BYTES_ACT,
    ULP_BYTES_WGRAD,
    ULP_BYTES_AGRAD,
    ULP_BYTES_KINDS
} ulp_bytes_kind;

/* The operations of a layer in a step. */
typedef enum ulp_effort_kind {
    ULP_EFFORT_FORWARD,
    ULP_EFFORT_WGRAD, /* gradients of the weights */
    ULP_EFFORT_AGRAD, /* the gradient of the input; of a recurrent layer also the way back through time */
    ULP_EFFORT_UPDATE,
    ULP_EFFORT_KINDS
} ulp_effort_kind;

typedef struct ulp_effort {
    uint64_t products, bytes; /* multiply-adds, bytes moved */
    ulp_peak_type type;       /* of the operands of the products */
} ulp_effort;

typedef struct ulp_footprint {
    uint64_t bytes[ULP_BYTES_KINDS];
    ulp_effort effort[ULP_EFFORT_KINDS];
    uint64_t casts;
} ulp_footprint;

/* A training whose bytes and work are counted. */
typedef struct ulp_footprint_run {
    const ulp_net *net;
    const ulp_policy *policy;
    const ulp_optimizer_rule *optimizer;
    size_t batch;
} ulp_footprint_run;

/* layer [net->count] = the footprints of the layers; *whole = that of the net, whose efforts are sums, with the type of
 * no single layer. On failure `error` (may be NULL) gets a sentence: the statuses are those of ulp_policy_resolve(). */
ulp_status ulp_footprint_count(ulp_footprint *layer, ulp_footprint *whole, const ulp_footprint_run *run,
                               ulp_error *error);

/* "weights", "master weights", ...; "forward", ...; NULL past the end. */
const char *ulp_bytes_kind_name(ulp_bytes_kind kind);
const char *ulp_effort_kind_name(ulp_effort_kind kind);

/* The seconds that the roofline of a machine predicts for a step: the sum over layers and operations. tf32: 1 if the
 * machine multiplies binary32 operands in tf32 where it can. */
double ulp_footprint_seconds(const ulp_footprint *layer, size_t count, const ulp_machine *machine, int tf32);

/* The number of arrays of an optimizer that have an element per parameter, besides weights, master weights and the
 * array of kahan. */
size_t ulp_optimizer_arrays(const ulp_optimizer_rule *rule);

ULP_C_END
#endif

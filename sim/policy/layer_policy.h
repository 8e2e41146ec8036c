/* layer_policy.h - the policies of the layers of a net, from one policy with selections.
 *
 * The table has a row for the input of the net, and a row for each layer, so that row t is the policy of the layer
 * whose output is tensor t. A policy without selections needs no table: all rows would be equal.
 */
#ifndef ULP_LAYER_POLICY_H
#define ULP_LAYER_POLICY_H

#include "sim/net.h"
#include "policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *rows [1 + net->count] = the policies of the input and of the layers; free() them. NULL if the policy has no
 * selections. On failure `error` (may be NULL) gets a sentence:
 *
 *  - ULP_BAD_NAME: a selector selects no layer of the net, and the sentence lists the selectors of the net; or no
 *    selected layer has the tensors or products that the word is about, as in relu.weight=bf16.
 *  - ULP_UNSUPPORTED: the datapath of a layer does not take the formats of its operands, or weights with a tensor scale
 *    have no master weights.
 *  - ULP_NO_MEMORY */
ulp_status ulp_policy_resolve(ulp_layer_policy **rows, const ulp_policy *policy, const ulp_net *net, char *error,
                              size_t error_size);

/* The policy of layer i: its row, or, if `rows` is NULL, the policy of all layers. */
ulp_layer_policy ulp_policy_of_layer(const ulp_policy *policy, const ulp_layer_policy *rows, size_t i);

#ifdef __cplusplus
}
#endif
#endif

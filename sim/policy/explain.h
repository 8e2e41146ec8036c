/* explain.h - which casts and datapaths the products of a net have, and which words of a policy gave them. */
#ifndef ULP_POLICY_EXPLAIN_H
#define ULP_POLICY_EXPLAIN_H

#include "operand_cast.h"
#include "sim/net.h"

ULP_C_BEGIN

/* One operand of a product, or the datapath of a product. */
typedef struct ulp_policy_line {
    size_t layer;
    const char *word;    /* of the layer */
    const char *product; /* "fwd", "dgrad", "wgrad" */
    const char *operand; /* "x", "w", "g"; "sums" for the datapath */
    char how[160];       /* the cast, with the format of the tensor where the operand is taken as it is; the datapath */
    char from[48];       /* the word's selector and key, as "last.fwd.x"; "fwd.x" for a word for all layers; "preset" */
} ulp_policy_line;

/* Call see() for the products with weights of each layer, operand by operand. Statuses and sentences are those of
 * ulp_policy_resolve(). */
ulp_status ulp_policy_explain(const ulp_policy *policy, const ulp_net *net,
                              void (*see)(void *context, const ulp_policy_line *line), void *context, ulp_error *error);

ULP_C_END
#endif

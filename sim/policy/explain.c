/* explain.c - the casts and datapaths of the products of a net, in words; see explain.h. */
#include "explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "operand_parts.h"
#include "policy_words.h"

/* What a layer has, and what the policy gives all layers if it has no words with selectors. */
typedef struct found {
    const ulp_cast *at;
    const ulp_operand_cast *operand;
    const ulp_datapath *forward, *backward;
} found;

static found find(const ulp_policy *policy, const ulp_layer_policy *rows, size_t row) {
    if (!rows) return (found){policy->at, policy->operand, &policy->forward, &policy->backward};
    return (found){rows[row].at, rows[row].operand, &rows[row].forward, &rows[row].backward};
}

/* The last word about `what` that selects a layer, else the word for all layers. */
static void write_source(char *to, size_t size, const ulp_policy *policy, const ulp_net *net, size_t layer, int what,
                         const char *key) {
    const int of_path = what == ULP_SELECT_FORWARD || what == ULP_SELECT_BACKWARD;
    snprintf(to, size, "%s", key);
    for (size_t i = policy->selections; i-- > 0;) {
        const ulp_selection *s = &policy->selection[i];
        const int preset = s->what == ULP_SELECT_ALL || s->what == ULP_SELECT_MIXED;
        if ((s->what != what && !(preset && of_path)) || !ulp_policy_selects(s->layers, net, layer + 1)) continue;
        snprintf(to, size, "%s.%s", s->layers, preset ? "*" : key);
        return;
    }
}

/* The format of the tensor that an operand is. */
static const ulp_cast *tensor_of(const ulp_policy *policy, const ulp_layer_policy *rows, const ulp_layer *layer,
                                 int operand) {
    const size_t own = layer->index + 1, table = (layer->kind->ties ? layer->partner : layer->index) + 1;
    if (operand == ULP_FORWARD_W || operand == ULP_DGRAD_W) return &find(policy, rows, table).at[ULP_AT_WEIGHT];
    if (operand == ULP_DGRAD_G || operand == ULP_WGRAD_G) return &find(policy, rows, own).at[ULP_AT_AGRAD];
    return &find(policy, rows, layer->index).at[ULP_AT_ACT];
}

static void explain_layer(const ulp_policy *policy, const ulp_layer_policy *rows, const ulp_net *net, size_t i,
                          void (*see)(void *context, const ulp_policy_line *line), void *context) {
    static const char *const products[] = {"fwd", "dgrad", "wgrad"}, *const operands[] = {"x", "w", "g", "w", "x", "g"};
    const found own = find(policy, rows, i + 1);
    ulp_policy_line line = {.layer = i, .word = net->layers[i].word};
    for (int p = 0; p < 3; p++) {
        line.product = products[p];
        for (int side = 0; side < 2; side++) {
            const int operand = 2 * p + side;
            const ulp_operand_cast *cast = &own.operand[operand];
            char format[ULP_VALUE_MAX];
            line.operand = operands[operand];
            ulp_cast_write(format, sizeof format, tensor_of(policy, rows, &net->layers[i], operand));
            if (cast->kind == ULP_OPERAND_AS_IT_IS) snprintf(line.how, sizeof line.how, "as it is, %.100s", format);
            else ulp_operand_cast_write(line.how, sizeof line.how, cast);
            write_source(line.from, sizeof line.from, policy, net, i, ULP_SELECT_OPERAND + operand,
                         ulp_operand_name(operand));
            if (cast->kind == ULP_OPERAND_AS_IT_IS) snprintf(line.from, sizeof line.from, "the tensor");
            see(context, &line);
        }
        line.operand = "sums";
        const ulp_datapath *path = p ? own.backward : own.forward;
        snprintf(line.how, sizeof line.how, "%.90s%s", path->name,
                 ulp_product_has_parts(path, &own.operand[2 * p]) ? ", of elements, then times scales" : "");
        write_source(line.from, sizeof line.from, policy, net, i, p ? ULP_SELECT_BACKWARD : ULP_SELECT_FORWARD,
                     p ? "bwd" : "fwd");
        see(context, &line);
    }
}

ulp_status ulp_policy_explain(const ulp_policy *policy, const ulp_net *net,
                              void (*see)(void *context, const ulp_policy_line *line), void *context,
                              ulp_error *error) {
    ulp_layer_policy *rows = NULL;
    ULP_TRY(ulp_policy_resolve(&rows, policy, net, error));
    for (size_t i = 0; i < net->count; i++)
        if (net->layers[i].kind->casts) explain_layer(policy, rows, net, i, see, context);
    free(rows);
    return ULP_OK;
}

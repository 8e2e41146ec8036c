/* layer_policy.c - which layers a selector selects, and whether the policies of neighbours fit; see policy.h. */
#include "policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operand_parts.h"
#include "policy_words.h"
#include "sim/net.h"

/* Give the points of a preset their casts. A mixed preset has binary32 with master weights, but for four points. */
static void apply_preset(ulp_layer_policy *layer, const ulp_selection *s) {
    const int mixed = s->what == ULP_SELECT_MIXED;
    for (int i = 0; i < ULP_AT_COUNT; i++) {
        const int low = !mixed || i == ULP_AT_WEIGHT || i == ULP_AT_ACT || ulp_point_is_gradient(i);
        ulp_cast cast = {.format = ulp_binary32};
        if (i == ULP_AT_LOSS || ulp_point_follows(i)) continue; /* of the whole net; as act */
        if (low) cast = s->cast;
        ulp_point_let_overflow(&cast.format, (ulp_point_kind)i);
        layer->at[i] = cast;
    }
    layer->has_master = (uint8_t)mixed;
    layer->own = 0;
}

static void apply(ulp_layer_policy *layer, const ulp_policy *policy, const ulp_selection *s) {
    const ulp_datapath *path = &policy->path[s->path];
    const int preset = s->what == ULP_SELECT_ALL || s->what == ULP_SELECT_MIXED;
    if (preset) apply_preset(layer, s);
    if (preset || s->what == ULP_SELECT_FORWARD) layer->forward = *path;
    if (preset || s->what == ULP_SELECT_BACKWARD) layer->backward = *path;
    if (s->what == ULP_SELECT_NO_MASTER) layer->has_master = 0;
    if (s->what == ULP_AT_MASTER) layer->has_master = 1;
    if (s->what < ULP_AT_COUNT) layer->at[s->what] = s->cast;
    if (ulp_point_follows(s->what)) layer->own |= (uint16_t)(1u << s->what);
    if (s->what >= ULP_SELECT_OPERAND) layer->operand[s->what - ULP_SELECT_OPERAND] = policy->cast[s->path];
    for (int i = 0; i < ULP_AT_COUNT && s->what == ULP_SELECT_MODE; i++) {
        ulp_cast *cast = &layer->at[i];
        if (i == ULP_AT_LOSS || ulp_format_equal(&cast->format, &ulp_binary32)) continue;
        cast->rule.mode = s->cast.rule.mode;
        cast->rule.random_bits = s->cast.rule.random_bits;
    }
}

/* The first and the last layer with parameters; net->count if no layer has any. */
static size_t first_layer(const ulp_net *net) {
    size_t i = 0;
    while (i < net->count && !net->layers[i].params) i++;
    return i;
}

static size_t last_layer(const ulp_net *net) {
    size_t i = net->count;
    while (i > 0 && !net->layers[i - 1].params) i--;
    return i ? i - 1 : net->count;
}

/* Whether a selector selects row t of the table. */
int ulp_policy_selects(const char *selector, const ulp_net *net, size_t t) {
    if (strcmp(selector, "*") == 0) return 1;
    if (strcmp(selector, "input") == 0) return t == 0;
    if (t == 0) return 0;
    if (strcmp(selector, "first") == 0) return t - 1 == first_layer(net);
    if (strcmp(selector, "last") == 0) return t - 1 == last_layer(net);
    if (*selector >= '0' && *selector <= '9') return strtoull(selector, NULL, 10) == t - 1;
    return strcmp(selector, net->layers[t - 1].kind->name) == 0;
}

/* Write the kinds of the net's layers as "conv, bn, relu". */
static void list_kinds(char *text, size_t size, const ulp_net *net) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < net->count && used < size; i++) {
        size_t before = 0;
        while (net->layers[before].kind != net->layers[i].kind) before++;
        if (before == i) used += (size_t)snprintf(text + used, size - used, "%s, ", net->layers[i].kind->name);
    }
}

static int has_norm(const ulp_layer *layer) {
    const ulp_operation operation = layer->kind->operation;
    return operation == ULP_OPERATION_NORM || operation == ULP_OPERATION_LAYER_NORM || layer->kind->products == 3;
}

/* The part that a layer lacks, so that a selection changes nothing in it; NULL if it lacks none. */
static const char *lacked_by(const ulp_layer *layer, const ulp_selection *s) {
    switch (s->what) {
    case ULP_AT_WEIGHT:
    case ULP_AT_WGRAD:
    case ULP_AT_STATE:
    case ULP_AT_MASTER:
    case ULP_SELECT_NO_MASTER: return layer->params ? NULL : "weights (weight, wgrad, state and master need weights)";
    case ULP_AT_NORM:
        return has_norm(layer) ? NULL : "means, variances or sums (norm needs bn, ln, rms, or attn:block=)";
    case ULP_AT_SCORE:
    case ULP_AT_PROB: return layer->kind->products == 3 ? NULL : "scores (score and prob need a layer attn)";
    case ULP_SELECT_FORWARD:
    case ULP_SELECT_BACKWARD: return layer->kind->products ? NULL : "products (fwd, bwd and acc need products)";
    default: break;
    }
    if (s->what < ULP_SELECT_OPERAND || layer->kind->casts) return NULL;
    return "products with weights whose operands have casts (fc, lin, conv, tconv, swiglu, attn and unembed have)";
}

static ulp_status fail_lacking(const ulp_policy *policy, const ulp_selection *s, const char *lacked, ulp_error *error) {
    char word[ULP_VALUE_MAX + ULP_SELECTOR_MAX];
    ulp_selection_print(word, sizeof word, policy, s);
    return ulp_fail(error, ULP_BAD_NAME, "policy: '%s' changes nothing: no layer '%s' has %s", word, s->layers, lacked);
}

static ulp_status fail_selector(const char *selector, const ulp_net *net, ulp_error *error) {
    char kinds[256];
    list_kinds(kinds, sizeof kinds, net);
    return ulp_fail(error, ULP_BAD_NAME,
                    "policy: '%s.' selects no layer; this net has %snumbers 0 to %zu, first and last (layers with "
                    "parameters), input, and * for all",
                    selector, kinds, net->count - 1);
}

/* Check the operands of the products of layer i. */
static ulp_status check_layer(const ulp_layer_policy *rows, const ulp_layer *layer, ulp_error *error) {
    const ulp_layer_policy *own = &rows[layer->index + 1];
    const ulp_cast *x = &rows[layer->index].at[ULP_AT_ACT],
                   *w = &rows[(layer->kind->ties ? layer->partner : layer->index) + 1].at[ULP_AT_WEIGHT],
                   *y = &own->at[ULP_AT_ACT], *dy = &own->at[ULP_AT_AGRAD];
    const ulp_operand_cast *by = own->operand;
    const ulp_cast *prob = &own->at[ulp_point_source(own->own, ULP_AT_PROB)];
    const ulp_operands products[] = {
        {"fwd", &own->forward, ULP_AT_ACT, ULP_AT_WEIGHT, x, w, by, ULP_FORWARD_X},
        {"bwd", &own->backward, ULP_AT_ACT, ULP_AT_AGRAD, x, dy, by + ULP_WGRAD_X, ULP_WGRAD_X},
        {"bwd", &own->backward, ULP_AT_AGRAD, ULP_AT_WEIGHT, dy, w, by + ULP_DGRAD_G, ULP_DGRAD_G},
        {"fwd", &own->forward, ULP_AT_ACT, ULP_AT_WEIGHT, y, w, NULL, 0},
        {"bwd", &own->backward, ULP_AT_ACT, ULP_AT_AGRAD, y, dy, NULL, 0},
        {"fwd", &own->forward, ULP_AT_PROB, ULP_AT_ACT, prob, y, NULL, 0},
        {"bwd", &own->backward, ULP_AT_PROB, ULP_AT_AGRAD, prob, dy, NULL, 0}};
    static const size_t counts[] = {0, 3, 5, 7};
    const size_t count = counts[layer->kind->products];
    const int forward_parts = ulp_product_has_parts(&own->forward, by),
              backward_parts = ulp_product_has_parts(&own->backward, by + ULP_DGRAD_G) ||
                               ulp_product_has_parts(&own->backward, by + ULP_WGRAD_X);
    ulp_error why;
    ulp_status status = ulp_operand_casts_check(by, &why);
    for (size_t i = 0; i < count && status == ULP_OK; i++) {
        const int is_fp32 = !products[i].by && (products[i].path == &own->forward ? forward_parts : backward_parts);
        if (!is_fp32) status = ulp_operands_check(&products[i], &why);
    }
    if (status != ULP_OK)
        return ulp_fail(error, status, "policy: layer %zu (%s): %s", layer->index, layer->word, why.text);
    if (layer->params && w->tensor_scale && !own->has_master)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "policy: layer %zu (%s): weight=%s with a scale per tensor needs master weights", layer->index,
                        layer->word, w->format.name);
    return ULP_OK;
}

static ulp_status fill(ulp_layer_policy *rows, const ulp_policy *policy, const ulp_net *net, ulp_error *error) {
    for (size_t t = 0; t <= net->count; t++) {
        rows[t] = (ulp_layer_policy){.own = policy->own,
                                     .has_master = policy->has_master,
                                     .forward = policy->forward,
                                     .backward = policy->backward};
        memcpy(rows[t].at, policy->at, sizeof rows[t].at);
        memcpy(rows[t].operand, policy->operand, sizeof rows[t].operand);
    }
    for (size_t i = 0; i < policy->selections; i++) {
        const ulp_selection *s = &policy->selection[i];
        const char *lacked = NULL;
        size_t selected = 0, changed = 0;
        for (size_t t = 0; t <= net->count; t++) {
            const char *lack = t && *s->layers != '*' ? lacked_by(&net->layers[t - 1], s) : NULL;
            if (!ulp_policy_selects(s->layers, net, t)) continue;
            apply(&rows[t], policy, s);
            selected++;
            changed += !lack;
            if (lack) lacked = lack;
        }
        if (!selected) return fail_selector(s->layers, net, error);
        if (!changed) return fail_lacking(policy, s, lacked, error);
    }
    if (policy->has_out) rows[net->count].at[ULP_AT_ACT] = policy->out;
    for (size_t i = 0; i < net->count; i++) ULP_TRY(check_layer(rows, &net->layers[i], error));
    return ULP_OK;
}

ulp_status ulp_policy_resolve(ulp_layer_policy **rows, const ulp_policy *policy, const ulp_net *net, ulp_error *error) {
    *rows = NULL;
    if (!policy->selections) return ULP_OK;
    *rows = malloc((net->count + 1) * sizeof **rows);
    if (!*rows) return ulp_fail(error, ULP_NO_MEMORY, "no memory for the policies of the layers");
    ulp_status status = fill(*rows, policy, net, error);
    if (status == ULP_OK) return ULP_OK;
    free(*rows);
    *rows = NULL;
    return status;
}

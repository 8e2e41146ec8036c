/* loss_scale.c - which layer has which loss scale, and at which layer an overflow begins; see loss_scale.h. */
#include "loss_scale.h"

#include <stdlib.h>

static int is_finite(float x) { return x - x == 0.0f; }

static ulp_status largest(const ulp_pass *pass, float *y, const float *x, size_t n) {
    return ulp_backend_largest(pass->run.backend, y, x, n, 0);
}

void ulp_loss_scales_release(ulp_loss_scales *s) {
    free(s->layer);
    free(s->owner);
    free(s->log2);
    free(s->span);
    *s = (ulp_loss_scales){0};
}

ulp_status ulp_loss_scales_start(ulp_loss_scales *s, const ulp_scaler *scaler, const ulp_net *net) {
    size_t owner = 0;
    *s = (ulp_loss_scales){0};
    if (!scaler->rule.per_layer) return ULP_OK;
    s->count = net->count;
    s->layer = calloc(net->count, sizeof *s->layer);
    s->owner = calloc(net->count, sizeof *s->owner);
    s->log2 = calloc(net->count, sizeof *s->log2);
    s->span = calloc(net->count, sizeof *s->span);
    if (!s->layer || !s->owner || !s->log2 || !s->span) {
        ulp_loss_scales_release(s);
        return ULP_NO_MEMORY;
    }
    while (owner + 1 < net->count && net->layers[owner].params == 0) owner++;
    for (size_t i = 0; i < net->count; i++) {
        if (net->layers[i].params) owner = i;
        s->owner[i] = owner;
        s->layer[i] = *scaler;
        s->layer[i].rule.per_layer = 0;
        if (net->layers[i].params)
            s->span[s->spans++] = (ulp_span){net->layers[i].first_param, net->layers[i].params, 0};
    }
    return ULP_OK;
}

ulp_pass_scales ulp_loss_scales_begin(ulp_loss_scales *s, const ulp_scaler *scaler) {
    size_t span = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->log2[i] = s->layer[s->owner[i]].log2;
        if (s->owner[i] == i && span < s->spans) s->span[span++].scale_log2 = s->log2[i];
    }
    return (ulp_pass_scales){
        .log2 = s->count ? s->log2[s->count - 1] : scaler->log2, .layer = s->log2, .layers = s->count};
}

/* Update the scalers of the layers from the loss backward, up to the first gradient that is not finite. */
static ulp_status end_layers(ulp_loss_scales *s, const ulp_pass *pass, const ulp_model *m, float *most) {
    ulp_status status = ULP_OK;
    for (size_t i = s->count; i-- > 0 && s->owner[i] <= i && is_finite(*most) && status == ULP_OK;) {
        const ulp_layer *layer = &m->net.layers[i];
        float weights = 0.0f;
        status = largest(pass, most, m->grad[i + 1], pass->now.B * ulp_dims_size(layer->out));
        if (status == ULP_OK && layer->params)
            status = largest(pass, &weights, m->wgrad + layer->first_param, layer->params);
        if (!is_finite(weights)) *most = weights;
        if (status == ULP_OK && (s->owner[i] == i || !is_finite(*most)))
            ulp_scaler_update(&s->layer[s->owner[i]], *most);
    }
    return status;
}

ulp_status ulp_loss_scales_end(ulp_loss_scales *s, ulp_scaler *scaler, const ulp_pass *pass, const ulp_model *model,
                               ulp_gradient_check *check) {
    float most = 0.0f;
    ulp_status status =
        s->count ? end_layers(s, pass, model, &most) : largest(pass, &most, model->wgrad, model->net.params);
    if (status != ULP_OK) return status;
    check->overflow = !is_finite(most);
    check->skip = ulp_scaler_update(scaler, most);
    if (!s->count) return ULP_OK;
    scaler->log2 = s->layer[s->owner[s->count - 1]].log2;
    scaler->grown = scaler->backed = 0;
    for (size_t i = 0; i < s->count; i++) {
        scaler->grown += s->layer[i].grown;
        scaler->backed += s->layer[i].backed;
    }
    return ULP_OK;
}

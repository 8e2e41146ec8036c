/* optim.c - the update, one backend operation per line; see optim.h. */
#include "optim.h"

void ulp_optimizer_carve(ulp_optimizer *o, ulp_family *family, size_t n, const ulp_policy *policy) {
    o->n = n;
    o->weight = ulp_family_take(family, n);
    o->master = policy->has_master ? ulp_family_take(family, n) : NULL;
    o->momentum = o->sgd.momentum != 0.0 ? ulp_family_take(family, n) : NULL;
    o->grad = ulp_family_take(family, n);
    o->rate.at = ulp_family_take(family, n);
    o->mu.at = o->sgd.momentum != 0.0 ? ulp_family_take(family, n) : NULL;
    o->decay.at = ulp_family_take(family, n);
    o->unscale.at = ulp_family_take(family, n);
}

/* The constant as an array; families start as zeros. */
static ulp_status set(ulp_pass *pass, ulp_constant *constant, size_t n, float value) {
    if (constant->value == value) return ULP_OK;
    constant->value = value;
    return ulp_tensor_fill(pass->backend, constant->at, n, value);
}

static ulp_status map(ulp_pass *pass, ulp_op op, float *y, const float *a, const float *b, const float *c, size_t n,
                      ulp_point_kind point, uint32_t use) {
    const ulp_cast *cast = &pass->policy->at[point];
    ulp_stream stream = {pass->seed, ulp_stream_id(use, 0, 0, pass->step), 0};
    if (!pass->backend->map) return ULP_UNSUPPORTED;
    return pass->backend->map(op, y, a, b, c, n, &cast->format, cast->rule, stream, NULL);
}

/* weight = master rounded. */
static ulp_status round_weights(ulp_optimizer *o, ulp_pass *pass) {
    /* weights with a scale per tensor are rounded layer by layer afterwards: until then they are the master weights */
    const ulp_cast *cast = &pass->policy->at[pass->policy->at[ULP_AT_WEIGHT].scaling ? ULP_AT_MASTER : ULP_AT_WEIGHT];
    ulp_stream stream = {pass->seed, ulp_stream_id(ULP_AT_WEIGHT, 0, 0, pass->step), 0};
    return pass->backend->round(o->weight, o->master, o->n, &cast->format, cast->rule, stream, NULL);
}

ulp_status ulp_optimizer_start(ulp_optimizer *o, ulp_pass *pass, const float *w) {
    ulp_point_kind point = o->master ? ULP_AT_MASTER : ULP_AT_WEIGHT;
    float *first = o->master ? o->master : o->weight;
    ulp_status status = pass->backend->upload(first, w, o->n * sizeof *w);
    if (status == ULP_OK) status = ulp_pass_round(pass, point, 0, first, o->n, 0);
    if (status == ULP_OK && o->master) status = round_weights(o, pass);
    return status;
}

ulp_status ulp_optimizer_overflow(ulp_optimizer *o, ulp_pass *pass, const float *dw, int *overflow) {
    /* rounding binary32 to itself under policy nan changes nothing but Inf, and counts what is not finite */
    static const ulp_rule rule = {.mode = ULP_RNE, .overflow = ULP_OVERFLOW_NAN};
    ulp_stats stats = {0};
    ulp_format format;
    ulp_status status = ulp_format_parse(&format, "binary32");
    if (status == ULP_OK) status = pass->backend->round(o->grad, dw, o->n, &format, rule, (ulp_stream){0}, &stats);
    *overflow = stats.nan != 0;
    return status;
}

ulp_status ulp_optimizer_step(ulp_optimizer *o, ulp_pass *pass, const float *dw) {
    size_t n = o->n;
    float *w = o->master ? o->master : o->weight, *g = o->grad;
    ulp_point_kind point = o->master ? ULP_AT_MASTER : ULP_AT_WEIGHT;
    ulp_status status = set(pass, &o->rate, n, (float)-o->sgd.rate);
    if (status == ULP_OK) status = set(pass, &o->unscale, n, (float)ulp_scale(1.0, -pass->scale_log2));
    if (status == ULP_OK) status = map(pass, ULP_MUL, g, dw, o->unscale.at, NULL, n, ULP_AT_STATE, ULP_AT_STATE);
    if (status == ULP_OK && o->sgd.decay != 0.0) {
        status = set(pass, &o->decay, n, (float)o->sgd.decay);
        if (status == ULP_OK) status = map(pass, ULP_FUSED, g, o->decay.at, w, g, n, ULP_AT_STATE, ULP_USE_DECAY);
    }
    if (status == ULP_OK && o->momentum) {
        status = set(pass, &o->mu, n, (float)o->sgd.momentum);
        if (status == ULP_OK)
            status = map(pass, ULP_FUSED, o->momentum, o->mu.at, o->momentum, g, n, ULP_AT_STATE, ULP_USE_MOMENTUM);
        g = o->momentum;
    }
    if (status == ULP_OK) status = map(pass, ULP_FUSED, w, o->rate.at, g, w, n, point, ULP_USE_UPDATE);
    if (status == ULP_OK && o->master) status = round_weights(o, pass);
    return status;
}

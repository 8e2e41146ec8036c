/* pass_products.c - products through the backend: their datapaths, casts of their operands, and roundings of their
 * parts; see pass.h and policy/operand_cast.h. */
#include "pass_inner.h"

static int is_forward(const ulp_site *site) { return site->use == ULP_USE_FORWARD || site->use == ULP_USE_BIAS; }

const ulp_datapath *ulp_pass_datapath(const ulp_pass *pass, size_t layer, int forward) {
    const ulp_policy *policy = pass->run.policy;
    const ulp_layer_policy *own = pass->run.rows ? &pass->run.rows[layer + 1] : NULL;
    return forward ? own ? &own->forward : &policy->forward : own ? &own->backward : &policy->backward;
}

/* The casts of the operands of a layer's products. */
static const ulp_operand_cast *casts_of(const ulp_pass *pass, size_t layer) {
    return pass->run.rows ? pass->run.rows[layer + 1].operand : pass->run.policy->operand;
}

int ulp_pass_casts(const ulp_pass *pass, size_t layer) {
    const ulp_operand_cast *by = casts_of(pass, layer);
    int any = 0;
    for (int i = 0; i < ULP_OPERANDS && pass->run.policy->has_operands; i++) any |= by[i].kind != ULP_OPERAND_AS_IT_IS;
    return any;
}

/* Whether a product of the layer in this direction has parts: other sums are then those of fp32. */
static int has_parts(const ulp_pass *pass, const ulp_datapath *path, size_t layer, int forward) {
    const ulp_operand_cast *by = casts_of(pass, layer);
    if (!pass->run.policy->has_operands || !path->has_inputs) return 0;
    if (forward) return ulp_product_has_parts(path, by + ULP_FORWARD_X);
    return ulp_product_has_parts(path, by + ULP_DGRAD_G) || ulp_product_has_parts(path, by + ULP_WGRAD_X);
}

static ulp_summation summation_of(const ulp_pass *pass, const ulp_site *site, const ulp_gemm_shape *shape) {
    const int forward = is_forward(site);
    const ulp_datapath *path = ulp_pass_datapath(pass, site->layer, forward);
    if (site->operands == ULP_SITE_AS_IT_IS && has_parts(pass, path, site->layer, forward)) path = &pass->plain;
    const size_t words = site->per_sample * shape->n * ulp_datapath_words(path, shape->k);
    return (ulp_summation){path, ulp_pass_stream(pass, site, words)};
}

static ulp_gemm_shape deferring(const ulp_pass *pass, const ulp_gemm_shape *shape) {
    ulp_gemm_shape own = *shape;
    own.deferred = pass->now.deferred;
    return own;
}

/* ---- casts of operands ---- */

static ulp_status cast_format(ulp_pass *pass, float *y, const ulp_pass_operand *o, ulp_stream stream) {
    const size_t n = o->rows * o->columns;
    ulp_cast cast = o->how->cast;
    if (cast.tensor_scale) ULP_TRY(ulp_pass_scaled_cast(pass, &cast, o->x, n, NULL));
    const ulp_rounding rounding = {.format = &cast.format, .rule = cast.rule, .stream = stream};
    return ulp_backend_round(pass->run.backend, y, o->x, n, rounding);
}

static ulp_status cast_low_bit(ulp_pass *pass, const ulp_site *site, float *y, const ulp_pass_operand *o, int side) {
    ulp_low_bit how = ulp_pass_low_bit(pass, site, o);
    how.values = 1;
    return ulp_backend_low_bit(pass->run.backend, y, pass->scratch.scale[side], pass->scratch.work, o->x, o->rows,
                               o->columns, &how);
}

static const ulp_operand_cast none = {.kind = ULP_OPERAND_AS_IT_IS};

/* Scores take the weights themselves, the means of stochastic signs. */
static const ulp_operand_cast *cast_of(const ulp_pass *pass, const ulp_operand_cast *how) {
    const int is_drawn = how->kind == ULP_OPERAND_LOW_BIT && ulp_mode_is_stochastic(how->cast.rule.mode);
    return pass->now.evaluation && is_drawn ? &none : how;
}

ulp_status ulp_pass_cast_kernels(ulp_pass *pass, ulp_site *site, const float **w, size_t rows, size_t columns) {
    const ulp_operand_use use = site->use == ULP_USE_FORWARD ? ULP_FORWARD_W : ULP_DGRAD_W;
    const ulp_operand_cast *how = cast_of(pass, &casts_of(pass, site->layer)[use]);
    const ulp_pass_operand kernels = {*w, rows, columns, ULP_ALONG_ROWS, use, how};
    if (!pass->run.policy->has_operands || kernels.how->kind != ULP_OPERAND_LOW_BIT) return ULP_OK;
    ULP_TRY(cast_low_bit(pass, site, pass->scratch.operand[1], &kernels, 1));
    *w = pass->scratch.operand[1];
    site->operands = ULP_SITE_CAST;
    return ULP_OK;
}

/* *x = the values of the operand after its cast. */
static ulp_status cast_operand(ulp_pass *pass, const ulp_site *site, const float **x, const ulp_pass_operand *o,
                               int side) {
    float *room = pass->scratch.operand[side];
    if (o->how->kind == ULP_OPERAND_AS_IT_IS) return ULP_OK;
    *x = room;
    if (o->how->kind == ULP_OPERAND_FORMAT) return cast_format(pass, room, o, ulp_pass_operand_stream(pass, site, o));
    if (o->how->kind == ULP_OPERAND_LOW_BIT) return cast_low_bit(pass, site, room, o, side);
    const ulp_block_cast cast = ulp_pass_block_cast(pass, site, o);
    const float *from;
    ULP_TRY(ulp_pass_transform(pass, site, &from, o, room));
    return ulp_backend_block_cast(pass->run.backend, room, from, o->rows, o->columns, &cast);
}

/* The operands of a product of a layer's weights. */
static void find_operands(const ulp_pass *pass, const ulp_site *site, ulp_pass_operand to[2], const float *a,
                          const float *b, const ulp_gemm_shape *s) {
    const int first = site->use == ULP_USE_FORWARD    ? ULP_FORWARD_X
                      : site->use == ULP_USE_BACKWARD ? ULP_DGRAD_G
                                                      : ULP_WGRAD_X,
              swapped = site->operands == ULP_SITE_SWAPPED;
    const ulp_operand_cast *casts = casts_of(pass, site->layer);
    to[0] = (ulp_pass_operand){a,
                               s->a_trans ? s->k : s->m,
                               s->a_trans ? s->m : s->k,
                               s->a_trans ? ULP_ALONG_COLUMNS : ULP_ALONG_ROWS,
                               (ulp_operand_use)(first + swapped),
                               cast_of(pass, &casts[first + swapped])};
    to[1] = (ulp_pass_operand){b,
                               s->b_trans ? s->n : s->k,
                               s->b_trans ? s->k : s->n,
                               s->b_trans ? ULP_ALONG_ROWS : ULP_ALONG_COLUMNS,
                               (ulp_operand_use)(first + !swapped),
                               site->operands == ULP_SITE_CAST ? &none : cast_of(pass, &casts[first + !swapped])};
}

/* The product of operands after their casts: rounded where `rounding` has a format. */
static ulp_status multiply(ulp_pass *pass, const ulp_site *site, float *c, const float *a, const float *b,
                           const ulp_gemm_shape *shape, const ulp_rounding *rounding) {
    const ulp_summation by = summation_of(pass, site, shape);
    const ulp_backend *backend = pass->run.backend;
    ulp_pass_operand operand[2];
    if (pass->run.policy->has_operands && site->operands != ULP_SITE_AS_IT_IS) {
        find_operands(pass, site, operand, a, b, shape);
        const ulp_operand_cast pair[2] = {*operand[0].how, *operand[1].how};
        if (ulp_product_has_parts(by.datapath, pair)) {
            ULP_TRY(ulp_pass_parts_gemm(pass, site, c, operand, shape, by));
            return rounding ? ulp_backend_round(backend, c, c, shape->m * shape->n, *rounding) : ULP_OK;
        }
        ULP_TRY(cast_operand(pass, site, &a, &operand[0], 0));
        ULP_TRY(cast_operand(pass, site, &b, &operand[1], 1));
    }
    const ulp_gemm_shape own = deferring(pass, shape);
    return rounding ? ulp_backend_gemm_round(backend, c, a, b, &own, by, *rounding)
                    : ulp_backend_gemm(backend, c, a, b, &own, by);
}

/* ---- products ---- */

ulp_status ulp_pass_gemm(ulp_pass *pass, ulp_site site, float *c, const float *a, const float *b,
                         const ulp_gemm_shape *shape) {
    const double began = ulp_pass_begin_time(pass);
    const ulp_status status = multiply(pass, &site, c, a, b, shape, NULL);
    ulp_profile_end(pass->run.profile, is_forward(&site) ? ULP_TIME_FORWARD : ULP_TIME_BACKWARD, began);
    return status;
}

ulp_status ulp_pass_gemm_batch(ulp_pass *pass, ulp_site site, float *c, const float *a, const float *b,
                               const ulp_gemm_batch *batch) {
    const double began = ulp_pass_begin_time(pass);
    ulp_gemm_batch own = *batch;
    own.shape = deferring(pass, &batch->shape);
    const ulp_summation by = summation_of(pass, &site, &own.shape);
    const ulp_status status = ulp_backend_gemm_batch(pass->run.backend, c, a, b, &own, by);
    ulp_profile_end(pass->run.profile, is_forward(&site) ? ULP_TIME_FORWARD : ULP_TIME_BACKWARD, began);
    return status;
}

ulp_rounding ulp_pass_rounding(const ulp_pass *pass, ulp_site site) {
    const ulp_cast *cast = ulp_pass_cast(pass, &site);
    return (ulp_rounding){
        .format = &cast->format, .rule = cast->rule, .stream = ulp_pass_stream(pass, &site, site.per_sample)};
}

/* Whether products round the parts of a tensor. */
static int rounds_in_parts(const ulp_pass *pass, const ulp_site *site) {
    const ulp_cast *cast = ulp_pass_cast(pass, site);
    const int is_timed = pass->run.profile && pass->run.profile->clock && !pass->now.evaluation;
    return !is_timed && !ulp_cast_is_identity(cast) && !cast->tensor_scale && !ulp_pass_is_observed(pass, site) &&
           ulp_pass_rescaling(pass, site) == 0;
}

ulp_status ulp_pass_gemm_part(ulp_pass *pass, ulp_site site, float *c, const float *a, const float *b,
                              const ulp_gemm_shape *shape, const ulp_pass_whole *whole) {
    ulp_stats counted = {0};
    if (!rounds_in_parts(pass, &whole->site)) return ulp_pass_gemm(pass, site, c, a, b, shape);
    ulp_rounding rounding = ulp_pass_rounding_of(pass, &whole->site, ulp_pass_cast(pass, &whole->site), &counted);
    rounding.stream.first += (uint64_t)(c - whole->x);
    const ulp_status status = multiply(pass, &site, c, a, b, shape, &rounding);
    ulp_pass_add_counts(pass, &whole->site, &counted);
    return status;
}

ulp_status ulp_pass_round_whole(ulp_pass *pass, const ulp_pass_whole *whole, size_t n) {
    return rounds_in_parts(pass, &whole->site) ? ULP_OK : ulp_pass_round(pass, whole->site, whole->x, n);
}

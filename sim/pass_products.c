/* pass_products.c - products through the backend: their datapaths, casts of their operands, and roundings of their
 * parts; see pass.h and policy/operand_cast.h. */
#include "pass_inner.h"
#include "sim/policy/operand_cast.h"

static int is_forward(const ulp_site *site) { return site->use == ULP_USE_FORWARD || site->use == ULP_USE_BIAS; }

const ulp_datapath *ulp_pass_datapath(const ulp_pass *pass, size_t layer, int forward) {
    const ulp_policy *policy = pass->run.policy;
    const ulp_layer_policy *own = pass->run.rows ? &pass->run.rows[layer + 1] : NULL;
    return forward ? own ? &own->forward : &policy->forward : own ? &own->backward : &policy->backward;
}

static ulp_summation summation_of(const ulp_pass *pass, const ulp_site *site, const ulp_gemm_shape *shape) {
    const ulp_datapath *datapath = ulp_pass_datapath(pass, site->layer, is_forward(site));
    const size_t words = site->per_sample * shape->n * ulp_datapath_words(datapath, shape->k);
    return (ulp_summation){datapath, ulp_pass_stream(pass, site, words)};
}

static ulp_gemm_shape deferring(const ulp_pass *pass, const ulp_gemm_shape *shape) {
    ulp_gemm_shape own = *shape;
    own.deferred = pass->now.deferred;
    return own;
}

/* ---- casts of operands ---- */

/* A matrix (rows,columns) of an operand, the sum of the product along one of its sides. */
typedef struct operand {
    const float *x;
    size_t rows, columns;
    ulp_along along;
    ulp_operand_use use;
} operand;

static ulp_stream operand_stream(const ulp_pass *pass, const ulp_site *site, uint32_t use, size_t words) {
    ulp_site own = *site;
    own.use = use;
    return ulp_pass_stream(pass, &own, words);
}

static ulp_status cast_format(ulp_pass *pass, float *y, const operand *o, const ulp_operand_cast *how,
                              ulp_stream stream) {
    const size_t n = o->rows * o->columns;
    ulp_cast cast = how->cast;
    if (cast.tensor_scale) ULP_TRY(ulp_pass_scaled_cast(pass, &cast, o->x, n));
    const ulp_rounding rounding = {.format = &cast.format, .rule = cast.rule, .stream = stream};
    return ulp_backend_round(pass->run.backend, y, o->x, n, rounding);
}

static ulp_status cast_blocks(ulp_pass *pass, float *y, const operand *o, const ulp_operand_cast *how,
                              ulp_stream stream, ulp_stream signs) {
    const float *x = o->x;
    const ulp_block_cast cast = {.block = how->block,
                                 .rule = how->cast.rule,
                                 .stream = stream,
                                 .has_tensor_scale = how->has_tensor_scale,
                                 .along = (uint8_t)o->along,
                                 .tiles = how->tiles};
    if (how->transform) {
        const ulp_hadamard transform = {.g = how->transform,
                                        .along = (uint8_t)o->along,
                                        .signs = (uint8_t)(how->random_signs      ? ULP_SIGNS_STREAM
                                                           : how->transform == 16 ? ULP_SIGNS_FIXED
                                                                                  : ULP_SIGNS_NONE),
                                        .sign_stream = signs};
        const ulp_rounding rounding = {.format = &ulp_bfloat16};
        ULP_TRY(ulp_backend_hadamard(pass->run.backend, y, x, o->rows, o->columns, &transform, rounding));
        x = y;
    }
    return ulp_backend_block_cast(pass->run.backend, y, x, o->rows, o->columns, &cast);
}

/* *x = the operand after its cast, in `room`. The elements of samples have words of their own; all samples and ranks
 * have the same weights and the same signs. */
static ulp_status cast_operand(ulp_pass *pass, const ulp_site *site, const float **x, const operand *o, float *room) {
    const ulp_layer_policy *row = pass->run.rows ? &pass->run.rows[site->layer + 1] : NULL;
    const ulp_operand_cast *how = row ? &row->operand[o->use] : &pass->run.policy->operand[o->use];
    const int is_weight = o->use == ULP_FORWARD_W || o->use == ULP_DGRAD_W;
    const size_t length = o->along == ULP_ALONG_ROWS ? o->columns : o->rows; /* of a sum */
    ulp_stream stream = operand_stream(pass, site, ULP_USE_OPERAND + (uint32_t)o->use, site->per_sample * length),
               signs = operand_stream(pass, site, ULP_USE_SIGNS + (uint32_t)o->use / 2, 0);
    if (is_weight) stream.first = 0;
    signs.first = 0;
    if (how->kind == ULP_OPERAND_AS_IT_IS) return ULP_OK;
    *x = room;
    return how->kind == ULP_OPERAND_FORMAT ? cast_format(pass, room, o, how, stream)
                                           : cast_blocks(pass, room, o, how, stream, signs);
}

/* Give the operands of a product of a layer's weights their casts. */
static ulp_status cast_operands(ulp_pass *pass, const ulp_site *site, const float **a, const float **b,
                                const ulp_gemm_shape *s) {
    const int first = site->use == ULP_USE_FORWARD    ? ULP_FORWARD_X
                      : site->use == ULP_USE_BACKWARD ? ULP_DGRAD_G
                                                      : ULP_WGRAD_X,
              swapped = site->operands == ULP_SITE_SWAPPED;
    if (!pass->run.policy->has_operands || site->operands == ULP_SITE_AS_IT_IS) return ULP_OK;
    const operand left = {*a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k,
                          s->a_trans ? ULP_ALONG_COLUMNS : ULP_ALONG_ROWS, (ulp_operand_use)(first + swapped)},
                  right = {*b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n,
                           s->b_trans ? ULP_ALONG_ROWS : ULP_ALONG_COLUMNS, (ulp_operand_use)(first + !swapped)};
    ULP_TRY(cast_operand(pass, site, a, &left, pass->scratch.operand[0]));
    return cast_operand(pass, site, b, &right, pass->scratch.operand[1]);
}

/* ---- products ---- */

ulp_status ulp_pass_gemm(ulp_pass *pass, ulp_site site, float *c, const float *a, const float *b,
                         const ulp_gemm_shape *shape) {
    const double began = ulp_pass_begin_time(pass);
    const ulp_gemm_shape own = deferring(pass, shape);
    ULP_TRY(cast_operands(pass, &site, &a, &b, shape));
    const ulp_status status = ulp_backend_gemm(pass->run.backend, c, a, b, &own, summation_of(pass, &site, shape));
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
    const ulp_gemm_shape own = deferring(pass, shape);
    ULP_TRY(cast_operands(pass, &site, &a, &b, shape));
    ulp_rounding rounding = ulp_pass_rounding_of(pass, &whole->site, ulp_pass_cast(pass, &whole->site), &counted);
    rounding.stream.first += (uint64_t)(c - whole->x);
    const ulp_status status =
        ulp_backend_gemm_round(pass->run.backend, c, a, b, &own, summation_of(pass, &site, shape), rounding);
    ulp_pass_add_counts(pass, &whole->site, &counted);
    return status;
}

ulp_status ulp_pass_round_whole(ulp_pass *pass, const ulp_pass_whole *whole, size_t n) {
    return rounds_in_parts(pass, &whole->site) ? ULP_OK : ulp_pass_round(pass, whole->site, whole->x, n);
}

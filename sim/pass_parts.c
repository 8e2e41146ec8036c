/* pass_parts.c - products of elements and scales, as matrix units form them; see policy/operand_parts.h. */
#include "pass_inner.h"

#include <math.h>

/* An operand as elements and scales. */
typedef struct part {
    const float *x;      /* the elements */
    int turned;          /* 1: they lie as (sums,length) */
    const float *blocks; /* the scales of a unit with block scales, (sums,blocks); else NULL */
    const float *scale;  /* of the sums, or one for all; NULL: 1 */
    int scale_is_one;
    float factor; /* of the tensor */
} part;

static ulp_status take_blocks(ulp_pass *pass, const ulp_site *site, part *p, const ulp_pass_operand *o, int side,
                              const ulp_datapath *path) {
    const ulp_block_cast cast = ulp_pass_block_cast(pass, site, o);
    const float *from;
    float *elements = pass->scratch.operand[side], *scales = pass->scratch.scale[side];
    if (!path->scale_block && (cast.tiles || cast.block.size < ulp_pass_length(o))) return ULP_UNSUPPORTED;
    ULP_TRY(ulp_pass_transform(pass, site, &from, o, pass->scratch.sums)); /* the sums come later */
    ULP_TRY(ulp_backend_block_parts(pass->run.backend, elements, scales, &p->factor, from, o->rows, o->columns, &cast));
    p->x = elements;
    p->turned = 1;
    *(path->scale_block ? &p->blocks : &p->scale) = scales;
    return ULP_OK;
}

static ulp_status take_format(ulp_pass *pass, const ulp_site *site, part *p, const ulp_pass_operand *o, int side) {
    const size_t n = o->rows * o->columns;
    ulp_cast cast = o->how->cast;
    int log2 = 0;
    if (cast.tensor_scale) ULP_TRY(ulp_pass_scaled_cast(pass, &cast, o->x, n, &log2));
    const ulp_rounding rounding = {
        .format = &cast.format, .rule = cast.rule, .stream = ulp_pass_operand_stream(pass, site, o)};
    p->x = pass->scratch.operand[side];
    p->factor = (float)ulp_scale(1.0, log2);
    ULP_TRY(ulp_backend_round(pass->run.backend, pass->scratch.operand[side], o->x, n, rounding));
    return log2 ? ulp_pass_rescale(pass, pass->scratch.operand[side], p->x, n, -log2) : ULP_OK;
}

static ulp_status take_low_bits(ulp_pass *pass, const ulp_site *site, part *p, const ulp_pass_operand *o, int side) {
    const ulp_low_bit how = ulp_pass_low_bit(pass, site, o);
    p->x = pass->scratch.operand[side];
    p->scale = pass->scratch.scale[side];
    p->scale_is_one = how.kind != ULP_LOW_XNOR;
    return ulp_backend_low_bit(pass->run.backend, pass->scratch.operand[side], pass->scratch.scale[side],
                               pass->scratch.work, o->x, o->rows, o->columns, &how);
}

static ulp_status take(ulp_pass *pass, const ulp_site *site, part *p, const ulp_pass_operand *o, int side,
                       const ulp_datapath *path) {
    *p = (part){.x = o->x, .factor = 1.0f};
    if (o->how->kind == ULP_OPERAND_BLOCK) return take_blocks(pass, site, p, o, side, path);
    if (o->how->kind == ULP_OPERAND_FORMAT) return take_format(pass, site, p, o, side);
    return o->how->kind == ULP_OPERAND_LOW_BIT ? take_low_bits(pass, site, p, o, side) : ULP_OK;
}

/* The shape of C' = B' A': the operands have changed places. */
static ulp_gemm_shape turned_shape(const ulp_gemm_shape *s) {
    ulp_gemm_shape t = *s;
    t.m = s->n, t.n = s->m;
    t.lda = s->ldb, t.ldb = s->lda;
    t.a_trans = !s->b_trans, t.b_trans = !s->a_trans, t.c_trans = !s->c_trans;
    t.a_scales = s->b_scales, t.b_scales = s->a_scales;
    return t;
}

/* c = the sums of integers of up to 32 bits, rounded to binary32. An operand that has a NaN makes all of them NaN. */
static ulp_status integer_sums(ulp_pass *pass, float *c, const float *a, const float *b, const ulp_gemm_shape *s,
                               ulp_summation by) {
    const ulp_backend *backend = pass->run.backend;
    double *const *room = pass->scratch.integer;
    ULP_TRY(ulp_backend_scaled(backend, room[0], a, s->m * s->k, 1.0));
    ULP_TRY(ulp_backend_scaled(backend, room[1], b, s->n * s->k, 1.0));
    ulp_gemm_shape now = *s;
    now.deferred = 0;
    const ulp_status status = ulp_backend_gemm64(backend, room[2], room[0], room[1], &now, by);
    if (status == ULP_NO_CODE) return ulp_tensor_fill(backend, c, s->m * s->n, NAN);
    ULP_TRY(status);
    return ulp_backend_narrow(backend, c, room[2], s->m * s->n);
}

ulp_status ulp_pass_parts_gemm(ulp_pass *pass, const ulp_site *site, float *c, const ulp_pass_operand operand[2],
                               const ulp_gemm_shape *shape, ulp_summation by) {
    const ulp_operand_cast casts[2] = {*operand[0].how, *operand[1].how};
    const int is_turned = ulp_product_is_turned(by.datapath, casts), is_integer = ulp_datapath_is_integer(by.datapath);
    ulp_gemm_shape s = *shape;
    part p[2];
    for (int side = 0; side < 2; side++) ULP_TRY(take(pass, site, &p[side], &operand[side], side, by.datapath));
    if (p[0].turned) s.a_trans = 0, s.lda = s.k;
    if (p[1].turned) s.b_trans = 1, s.ldb = s.k;
    s.a_scales = p[0].blocks, s.b_scales = p[1].blocks;
    s.deferred = pass->now.deferred;
    const ulp_sum_scales scales = {.row = p[0].scale,
                                   .column = p[1].scale,
                                   .row_is_one = (uint8_t)p[0].scale_is_one,
                                   .column_is_one = (uint8_t)p[1].scale_is_one,
                                   .factor = p[0].factor * p[1].factor,
                                   .m = s.m,
                                   .n = s.n,
                                   .ldc = s.ldc,
                                   .c_trans = s.c_trans,
                                   .accumulate = s.accumulate};
    const int has_scales = scales.row || scales.column || scales.factor != 1.0f || is_integer;
    float *sums = has_scales ? pass->scratch.sums : c;
    if (has_scales) s.accumulate = s.c_trans = 0, s.ldc = s.n;
    const float *a = p[is_turned].x, *b = p[!is_turned].x;
    if (is_turned) s = turned_shape(&s);
    ULP_TRY(is_integer ? integer_sums(pass, sums, a, b, &s, by)
                       : ulp_backend_gemm(pass->run.backend, sums, a, b, &s, by));
    return has_scales ? ulp_backend_scaled_sums(pass->run.backend, c, sums, &scales) : ULP_OK;
}

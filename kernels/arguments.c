/* arguments.c - what the operations of a backend ask of their arguments. */
#include "arguments.h"

#include "kernels/functions/im2col.h"

/* ---- elements ---- */

/* What rounding to arrays of floats asks of a format and a rule. */
static ulp_status in_floats(const ulp_format *format, ulp_rule rule) {
    ulp_status status = ulp_rule_check(format, rule);
    return status == ULP_OK && !format->fits_binary32 ? ULP_UNSUPPORTED : status;
}

ulp_status ulp_asked_round(const float *y, const float *x, size_t n, const ulp_format *format, ulp_rule rule) {
    return format == NULL || (n > 0 && (y == NULL || x == NULL)) ? ULP_BAD_ARGUMENT : in_floats(format, rule);
}

ulp_status ulp_asked_round64(const double *y, const double *x, size_t n, const ulp_format *format, ulp_rule rule) {
    return format == NULL || (n > 0 && (y == NULL || x == NULL)) ? ULP_BAD_ARGUMENT : ulp_rule_check(format, rule);
}

ulp_status ulp_asked_map(ulp_op op, const float *y, const float *a, const float *b, const float *c, size_t n,
                         const ulp_format *format, ulp_rule rule) {
    const int operands = ulp_op_operands(op);
    if (operands == 0 || format == NULL) return ULP_BAD_ARGUMENT;
    if (n > 0 && (y == NULL || a == NULL || (operands > 1 && b == NULL) || (operands > 2 && c == NULL)))
        return ULP_BAD_ARGUMENT;
    return in_floats(format, rule);
}

static int is_place(const ulp_operand *operand) {
    if (operand->kind == ULP_OPERAND_SCRATCH) return operand->slot < ULP_UPDATE_SCRATCH;
    return operand->kind == ULP_OPERAND_ARRAY && operand->at != NULL;
}

static int is_operand(const ulp_operand *operand) { return operand->kind == ULP_OPERAND_VALUE || is_place(operand); }

static ulp_status asked_step(const ulp_update_step *s) {
    const int operands = s->op == ULP_STEP_ROUND ? 1 : ulp_op_operands((ulp_op)s->op);
    if (operands == 0 || !is_place(&s->y) || !is_operand(&s->a)) return ULP_BAD_ARGUMENT;
    if ((operands > 1 && !is_operand(&s->b)) || (operands > 2 && !is_operand(&s->c))) return ULP_BAD_ARGUMENT;
    return in_floats(&s->format, s->rule);
}

ulp_status ulp_asked_update(const ulp_update_step *step, size_t steps) {
    if (steps > 0 && step == NULL) return ULP_BAD_ARGUMENT;
    ulp_status status = ULP_OK;
    for (size_t k = 0; k < steps && status == ULP_OK; k++) status = asked_step(&step[k]);
    return status;
}

ulp_status ulp_asked_largest(const float *y, const float *x, size_t n) {
    return y == NULL || (n > 0 && x == NULL) ? ULP_BAD_ARGUMENT : ULP_OK;
}

/* ---- products ---- */

ulp_status ulp_asked_shape(const void *a, const void *b, const ulp_gemm_shape *s) {
    if (s->m == 0 || s->n == 0) return ULP_OK;
    if (s->ldc < (s->c_trans ? s->m : s->n)) return ULP_BAD_ARGUMENT;
    if (s->k == 0) return ULP_OK;
    const int fits = s->lda >= (s->a_trans ? s->m : s->k) && s->ldb >= (s->b_trans ? s->k : s->n);
    return a == NULL || b == NULL || !fits ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status asked_product(const void *c, const void *a, const void *b, const ulp_gemm_shape *s,
                                const ulp_datapath *d) {
    if (s->m == 0 || s->n == 0) return ULP_OK;
    if (c == NULL || ulp_asked_shape(a, b, s) != ULP_OK) return ULP_BAD_ARGUMENT;
    if ((s->a_scales != NULL || s->b_scales != NULL) && d->scale_block == 0) return ULP_BAD_ARGUMENT;
    return ulp_rule_check(&d->accumulator, d->rule);
}

ulp_status ulp_asked_gemm(const float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                          const ulp_datapath *datapath) {
    if (shape == NULL || datapath == NULL) return ULP_BAD_ARGUMENT;
    return datapath->result.fits_binary32 ? asked_product(c, a, b, shape, datapath) : ULP_UNSUPPORTED;
}

ulp_status ulp_asked_gemm64(const double *c, const double *a, const double *b, const ulp_gemm_shape *shape,
                            const ulp_datapath *datapath) {
    return shape == NULL || datapath == NULL ? ULP_BAD_ARGUMENT : asked_product(c, a, b, shape, datapath);
}

ulp_status ulp_asked_reduce(const float *y, const float *x, size_t m, size_t n, const ulp_datapath *datapath) {
    if (datapath == NULL || (n > 0 && y == NULL) || (m > 0 && n > 0 && x == NULL)) return ULP_BAD_ARGUMENT;
    if (!datapath->result.fits_binary32) return ULP_UNSUPPORTED;
    return n == 0 ? ULP_OK : ulp_rule_check(&datapath->accumulator, datapath->rule);
}

/* ---- moves ---- */

ulp_status ulp_asked_patches(const float *y, const float *x, const ulp_places *places) {
    if (places == NULL || places->stride == 0 || places->dilate == 0) return ULP_BAD_ARGUMENT;
    return ulp_places_size(places) > 0 && (y == NULL || x == NULL) ? ULP_BAD_ARGUMENT : ULP_OK;
}

ulp_status ulp_asked_permute(const float *y, const float *x, size_t count, size_t a, size_t b, size_t n) {
    return count * a * b * n > 0 && (y == NULL || x == NULL) ? ULP_BAD_ARGUMENT : ULP_OK;
}

/* ---- between products ---- */

/* Up to three arrays of n elements, all of them there. */
static ulp_status asked_arrays(const void *a, const void *b, const void *c, size_t n) {
    return n > 0 && (a == NULL || b == NULL || c == NULL) ? ULP_BAD_ARGUMENT : ULP_OK;
}

ulp_status ulp_asked_narrow(const float *y, const double *x, size_t n) { return asked_arrays(y, x, x, n); }

ulp_status ulp_asked_relu(const float *y, const float *x, size_t n) { return asked_arrays(y, x, x, n); }

ulp_status ulp_asked_relu_slope(const float *dx, const float *dy, const float *y, size_t n) {
    return asked_arrays(dx, dy, y, n);
}

ulp_status ulp_asked_curve(ulp_curve f, const double *y, const float *x, size_t n) {
    return f.kind < ULP_CURVE_COUNT ? asked_arrays(y, x, x, n) : ULP_BAD_ARGUMENT;
}

ulp_status ulp_asked_slope(ulp_curve f, const double *dx, const float *dy, const float *at, size_t n) {
    return f.kind < ULP_CURVE_COUNT ? asked_arrays(dx, dy, at, n) : ULP_BAD_ARGUMENT;
}

static ulp_status asked_windows(const void *a, const void *b, const void *c, const ulp_windows *s) {
    return s != NULL && s->K > 0 && s->K <= ULP_WINDOW_MAX ? asked_arrays(a, b, c, s->images) : ULP_BAD_ARGUMENT;
}

ulp_status ulp_asked_pool(const float *y, const float *place, const float *x, const ulp_windows *windows) {
    return asked_windows(y, place, x, windows);
}

ulp_status ulp_asked_pool_slope(const float *dx, const float *dy, const float *place, const ulp_windows *windows) {
    return asked_windows(dx, dy, place, windows);
}

ulp_status ulp_asked_softmax(const double *p, const double *loss, const float *z, const uint8_t *label, size_t B,
                             size_t C) {
    return C > 0 && (B == 0 || loss != NULL) ? asked_arrays(p, z, label, B) : ULP_BAD_ARGUMENT;
}

ulp_status ulp_asked_softmax_slope(const double *dz, const float *p, const uint8_t *label, size_t B, size_t C) {
    return C > 0 ? asked_arrays(dz, p, label, B) : ULP_BAD_ARGUMENT;
}

/* operations.c - the operations on arrays: each function checks its arguments for all backends and calls the backend.
 *
 * The functions are made from the rows of operations.def, at the end of this file. Before them stand the checks that
 * the rows name. The composed operations are products: see product_operations.c.
 */
#include "backend.h"

#include "kernels/cuda/cuda.h"
#include "kernels/functions/im2col.h"

#include <stdio.h>
#include <string.h>

const char *ulp_backend_error(void) { return ulp_cuda_error(); }

static ulp_status offered(int offers) { return offers ? ULP_OK : ULP_UNSUPPORTED; }

/* ---- elements ---- */

/* Checks up to three arrays of n elements: no array may be NULL. */
static ulp_status check_arrays(const void *a, const void *b, const void *c, size_t n) {
    return n > 0 && (a == NULL || b == NULL || c == NULL) ? ULP_BAD_ARGUMENT : ULP_OK;
}

/* Checks a format and a rule for results in arrays of floats. */
static ulp_status check_float_rounding(const ulp_format *format, ulp_rule rule) {
    ULP_TRY(ulp_rule_check(format, rule));
    return !format->fits_binary32 ? ULP_UNSUPPORTED : ULP_OK;
}

static ulp_status check_round(const void *y, const void *x, size_t n, const ulp_rounding *r) {
    if (r->format == NULL || check_arrays(y, x, x, n) != ULP_OK) return ULP_BAD_ARGUMENT;
    return ulp_rule_check_single(r->format, r->rule);
}

static ulp_status check_round32(const float *y, const float *x, size_t n, const ulp_rounding *r) {
    ULP_TRY(check_round(y, x, n, r));
    return r->format->fits_binary32 ? ULP_OK : ULP_UNSUPPORTED;
}

/* Codes of `width` bits. */
static ulp_status check_width(unsigned width, const ulp_format *f) {
    if (f->bits > 16) return ULP_UNSUPPORTED;
    return (width == 4 || width == 8 || width == 16) && f->bits <= width ? ULP_OK : ULP_BAD_ARGUMENT;
}

static ulp_status check_encode(const void *codes, const float *x, size_t n, unsigned width, const ulp_rounding *r) {
    ULP_TRY(check_round(codes, x, n, r));
    return check_width(width, r->format);
}

static ulp_status check_decode(const float *y, const void *codes, size_t n, unsigned width, const ulp_format *f) {
    if (f == NULL || check_arrays(y, codes, codes, n) != ULP_OK) return ULP_BAD_ARGUMENT;
    return f->fits_binary32 ? check_width(width, f) : ULP_UNSUPPORTED;
}

static ulp_status check_block(const void *x, const void *elements, const void *scales, size_t rows,
                              const ulp_block_array *array) {
    ULP_TRY(ulp_block_check(array->block));
    if (!(array->tensor_scale > 0.0f && array->tensor_scale <= 0x1.fffffep127f)) return ULP_BAD_ARGUMENT;
    return check_arrays(x, elements, scales, array->n == 0 ? 0 : rows);
}

static ulp_status check_block_encode(const void *elements, const void *scales, const float *x, size_t rows,
                                     const ulp_block_array *array, ulp_rule rule) {
    ULP_TRY(check_block(x, elements, scales, rows, array));
    return ulp_element_check(&array->block->element, rule);
}

static ulp_status check_quantize(const void *codes, const void *scales, const void *zero_points, const float *x,
                                 const ulp_quantizer *q, const ulp_tiling *t, ulp_rule rule) {
    if (q == NULL || t == NULL || check_arrays(codes, scales, x, 1) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (q->has_zero_point && zero_points == NULL) return ULP_BAD_ARGUMENT;
    for (int d = 0; d < 3; d++)
        if (t->tile[d] < 1) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_quantizer_check(q, rule));
    return offered(q->bits <= 8);
}

/* Checks two matrices: no more elements than size_t counts. */
static ulp_status check_matrices(const void *y, const void *x, size_t rows, size_t columns) {
    if (columns > 0 && rows > SIZE_MAX / columns) return ULP_BAD_ARGUMENT;
    return check_arrays(y, x, x, rows * columns);
}

static ulp_status check_block_cast(const float *y, const float *x, size_t rows, size_t columns,
                                   const ulp_block_cast *cast) {
    ULP_TRY(ulp_block_cast_check(cast));
    return check_matrices(y, x, rows, columns);
}

static ulp_status check_block_parts(const float *elements, const float *scales, const float *tensor_scale,
                                    const float *x, size_t rows, size_t columns, const ulp_block_cast *cast) {
    if (tensor_scale == NULL || (rows * columns > 0 && scales == NULL)) return ULP_BAD_ARGUMENT;
    return check_block_cast(elements, x, rows, columns, cast);
}

static ulp_status check_low_bit(const float *y, const float *scale, const double *work, const float *x, size_t rows,
                                size_t columns, const ulp_low_bit *how) {
    if (how == NULL || how->kind >= ULP_LOW_COUNT || how->along >= ULP_ALONG_COUNT) return ULP_BAD_ARGUMENT;
    if (how->stochastic > (how->kind == ULP_LOW_SIGN) || how->values > 1) return ULP_BAD_ARGUMENT;
    if (!(how->threshold >= 0.0 && how->threshold <= 1000.0)) return ULP_BAD_ARGUMENT;
    ULP_TRY(check_matrices(y, x, rows, columns));
    return check_arrays(scale, work, work, rows * columns);
}

static ulp_status check_scaled_sums(const float *c, const float *sums, const ulp_sum_scales *by) {
    if (by == NULL || (by->n > 0 && by->m > SIZE_MAX / by->n)) return ULP_BAD_ARGUMENT;
    if (by->m > 1 && by->n > 0 && by->ldc < (by->c_trans ? by->m : by->n)) return ULP_BAD_ARGUMENT;
    return check_arrays(c, sums, sums, by->m * by->n);
}

static ulp_status check_hadamard(const float *y, const float *x, size_t rows, size_t columns, const ulp_hadamard *how,
                                 const ulp_rounding *r) {
    if (how == NULL || how->g < 2 || how->g > ULP_HADAMARD_MOST || (how->g & (how->g - 1)) != 0)
        return ULP_BAD_ARGUMENT;
    if (how->along >= ULP_ALONG_COUNT || how->signs >= ULP_SIGNS_COUNT || how->inverse > 1) return ULP_BAD_ARGUMENT;
    if (how->signs == ULP_SIGNS_FIXED && how->g != 16) return ULP_BAD_ARGUMENT;
    if ((how->along == ULP_ALONG_ROWS ? columns : rows) % how->g != 0) return ULP_BAD_ARGUMENT;
    ULP_TRY(check_matrices(y, x, rows, columns));
    return check_round32(y, x, rows * columns, r);
}

static ulp_status check_map(const float *y, const ulp_array_op *op, size_t n, const ulp_rounding *r) {
    const int operands = ulp_op_operands(op->op);
    if (operands == 0 || r->format == NULL) return ULP_BAD_ARGUMENT;
    const float *const b = operands > 1 ? op->b : op->a, *const c = operands > 2 ? op->c : op->a;
    if (n > 0 && (y == NULL || check_arrays(op->a, b, c, n) != ULP_OK)) return ULP_BAD_ARGUMENT;
    return check_float_rounding(r->format, r->rule);
}

static int is_result(const ulp_operand *operand) {
    if (operand->kind == ULP_OPERAND_SCRATCH) return operand->slot < ULP_UPDATE_SCRATCH;
    return operand->kind == ULP_OPERAND_ARRAY && operand->at != NULL;
}

static int is_operand(const ulp_operand *operand) { return operand->kind == ULP_OPERAND_VALUE || is_result(operand); }

static ulp_status check_step(const ulp_update_step *s) {
    const int operands = ulp_step_operands(s->op);
    if (operands == 0 || !is_result(&s->y) || !is_operand(&s->a)) return ULP_BAD_ARGUMENT;
    if ((operands > 1 && !is_operand(&s->b)) || (operands > 2 && !is_operand(&s->c))) return ULP_BAD_ARGUMENT;
    return check_float_rounding(&s->format, s->rule);
}

static ulp_status check_update(const ulp_update_step *step, size_t steps) {
    if (steps > 0 && step == NULL) return ULP_BAD_ARGUMENT;
    for (size_t k = 0; k < steps; k++) ULP_TRY(check_step(&step[k]));
    return ULP_OK;
}

/* ---- movement ---- */

static ulp_status check_im2col(const float *y, const float *x, const ulp_im2col *g) {
    if (g == NULL || g->stride == 0 || g->dilate == 0) return ULP_BAD_ARGUMENT;
    return check_arrays(y, x, x, ulp_im2col_size(g));
}

/* ---- networks between matrix products ---- */

static ulp_status check_activation(const void *a, const void *b, const void *c, size_t n, ulp_activation f) {
    return f.kind < ULP_ACTIVATION_COUNT ? check_arrays(a, b, c, n) : ULP_BAD_ARGUMENT;
}

static ulp_status check_windows(const void *a, const void *b, const void *c, const ulp_windows *s) {
    return s != NULL && s->K > 0 && s->K <= ULP_WINDOW_MAX ? check_arrays(a, b, c, s->images) : ULP_BAD_ARGUMENT;
}

static ulp_status check_strided(const void *a, const void *b, const void *c, const ulp_strided_windows *s) {
    if (s == NULL || s->K == 0 || s->K > ULP_WINDOW_MAX || s->stride == 0 || s->pad >= s->K) return ULP_BAD_ARGUMENT;
    return check_arrays(a, b, c, s->images);
}

/* Checks two arrays and windows of any size. */
static ulp_status check_any_windows(const void *a, const void *b, const ulp_windows *s) {
    return s != NULL && s->K > 0 ? check_arrays(a, b, b, s->images) : ULP_BAD_ARGUMENT;
}

static size_t numbers_of(ulp_channels s) { return s.B * s.c * s.n; }

/* Checks three arrays and the statistics. */
static ulp_status check_norm(const void *a, const void *b, const void *c, const ulp_norm *by) {
    ULP_TRY(check_arrays(a, b, c, numbers_of(by->shape)));
    return check_arrays(by->statistics, a, a, numbers_of(by->shape));
}

static ulp_status check_norm_slope(const double *dx, const float *dy, const float *x, const double *sums,
                                   const ulp_norm *by) {
    ULP_TRY(check_norm(dx, dy, x, by));
    return check_arrays(by->w, sums, sums, numbers_of(by->shape));
}

static ulp_status check_labels(const void *to, const float *from, const ulp_labels *l) {
    return l->C > 0 ? check_arrays(to, from, l->label, l->B) : ULP_BAD_ARGUMENT;
}

static ulp_status check_softmax(const void *p, const void *loss, const float *z, const ulp_labels *l) {
    return l->B > 0 && loss == NULL ? ULP_BAD_ARGUMENT : check_labels(p, z, l);
}

/* ---- cells of recurrent layers, sequences of labels ---- */

static ulp_status check_cell(const double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage) {
    if (arrays == NULL || stage >= ULP_CELL_STAGE_COUNT) return ULP_BAD_ARGUMENT;
    const ulp_cell_widths widths = ulp_cell_widths_of(stage);
    const size_t n = arrays->B * arrays->N;
    ULP_TRY(check_arrays(to, to, to, n));
    for (size_t i = 0; i < ULP_CELL_OPERANDS && widths.in[i] > 0; i++) ULP_TRY(check_arrays(arrays->in[i], to, to, n));
    return ULP_OK;
}

static ulp_status check_sequences(const double *to, const float *from, const ulp_sequences *s) {
    return s->C > 0 && s->T > 0 ? check_arrays(to, from, from, s->B) : ULP_BAD_ARGUMENT;
}

static ulp_status check_ctc(const double *dz, const double *loss, const double *work, const float *p,
                            const ulp_sequences *s, const ulp_path_sums *sums) {
    if (sums == NULL || sums->rounding.format == NULL || s->L > ULP_LABELS_MAX) return ULP_BAD_ARGUMENT;
    const void *const label = s->L > 0 ? (const void *)s->label : (const void *)p;
    if (check_sequences(dz, p, s) != ULP_OK || check_arrays(loss, work, label, s->B) != ULP_OK) return ULP_BAD_ARGUMENT;
    return check_float_rounding(sums->rounding.format, sums->rounding.rule);
}

/* ---- tokens and attention ---- */

static ulp_status check_table(const float *y, const float *table, const ulp_row_table *t) {
    if (t == NULL || t->entries == 0) return ULP_BAD_ARGUMENT;
    return check_arrays(y, table, table, t->rows * t->width);
}

static ulp_status check_one_hot(const float *y, const ulp_row_table *t) {
    return t == NULL || t->entries == 0 ? ULP_BAD_ARGUMENT : check_arrays(y, y, y, t->rows);
}

static ulp_status check_tokens(const void *a, const void *b, ulp_token_shape s) {
    return s.T > 0 ? check_arrays(a, b, b, s.B * s.n) : ULP_BAD_ARGUMENT;
}

static ulp_status check_row_moments(const double *to, const float *x, const ulp_row_moments *how) {
    if (how == NULL || how->n == 0 || how->method >= ULP_MOMENTS_COUNT) return ULP_BAD_ARGUMENT;
    if (how->method != ULP_MOMENTS_WIDE) ULP_TRY(check_float_rounding(&how->format, how->rule));
    return check_arrays(to, x, x, how->rows);
}

static ulp_status check_row_norm(const void *a, const void *b, const void *c, const ulp_row_norm *by) {
    ULP_TRY(check_arrays(a, b, c, by->rows * by->n));
    return check_arrays(by->statistics, a, a, by->rows * by->n);
}

static ulp_status check_row_norm_slope(const double *dx, const float *dy, const float *x, const ulp_row_norm *by) {
    ULP_TRY(check_row_norm(dx, dy, x, by));
    return check_arrays(by->w, dx, dx, by->rows * by->n);
}

static ulp_status check_rotation(const double *y, const float *x, const float *table, const ulp_rotation *r) {
    if (r == NULL || r->T == 0 || r->size % 2 != 0 || r->from + r->heads * r->size > r->width) return ULP_BAD_ARGUMENT;
    return check_arrays(y, x, table, r->rows * r->width);
}

static ulp_status check_scores(const void *a, const void *b, const void *c, const ulp_scores *s) {
    if (s == NULL || s->queries == 0 || s->from > s->to || s->to > s->keys || !(s->beta >= 1.0f))
        return ULP_BAD_ARGUMENT;
    return check_arrays(a, b, c, s->rows);
}

static ulp_status check_softmax_sums(const float *sum, const float *p, const float *factor, const ulp_scores *s,
                                     const ulp_rounding *r) {
    ULP_TRY(check_scores(sum, p, factor, s));
    return r->format == NULL ? ULP_BAD_ARGUMENT : check_float_rounding(r->format, r->rule);
}

/* ---- the functions of the rows ---- */

#define ULP_OPERATION(name, cpu, cuda, mpfr, parameters, arguments, check)                                             \
    ulp_status ulp_backend_##name(const ulp_backend *backend, ULP_PARAMETERS parameters) {                             \
        ULP_TRY(offered(backend->name != NULL));                                                                       \
        ULP_TRY(check);                                                                                                \
        return backend->name arguments;                                                                                \
    }
#define ULP_COMPOSED_OPERATION(name, cpu, cuda, mpfr, parameters)
#include "kernels/operations.def"

/* ---- operations that a backend lacks ---- */

/* Adds the name of an operation to a list, unless the backend offers it. */
static void list_unless(char list[ULP_ERROR_TEXT], int offers, const char *name) {
    const size_t used = strlen(list);
    if (!offers) snprintf(list + used, ULP_ERROR_TEXT - used, "%s%s", used > 0 ? ", " : "", name);
}

void ulp_backend_explain(ulp_error *error, const ulp_backend *backend, ulp_status status) {
    char list[ULP_ERROR_TEXT] = "";
    ulp_error_clear(error);
#define ULP_OPERATION(name, ...) list_unless(list, backend->name != NULL, #name);
#define ULP_PROCESSOR_OPERATION(name, ...)                                                                             \
    list_unless(list, backend->name != NULL || backend->machine != ULP_OF_PROCESSOR, #name);
#define ULP_COMPOSED_OPERATION(name, ...)
#include "kernels/operations.def"
    list_unless(list, backend->reduce != NULL, "reduce");
    list_unless(list, backend->gemm != NULL, "gemm");
    list_unless(list, backend->gemm64 != NULL, "gemm64");
    if (status == ULP_UNSUPPORTED && list[0] != '\0')
        ulp_fail(error, status, "the backend %s does not offer the operation%s %s", backend->name,
                 strchr(list, ',') != NULL ? "s" : "", list);
    else if (ulp_cuda_error()[0] != '\0') ulp_fail(error, status, "%s", ulp_cuda_error());
}

/* ---- data that a backend derives from arrays ---- */

ulp_status ulp_backend_keep(const ulp_backend *backend, const float *x, size_t n) {
    if (x == NULL && n > 0) return ULP_BAD_ARGUMENT;
    return backend->keep != NULL ? backend->keep(x, n) : ULP_OK;
}

void ulp_backend_forget(const ulp_backend *backend, const float *x, size_t n) {
    if (backend->forget != NULL) backend->forget(x, n);
}

ulp_status ulp_backend_settle(const ulp_backend *backend) {
    return backend->settle != NULL ? backend->settle() : ULP_OK;
}

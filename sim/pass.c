/* pass.c - rounding, multiplying and showing through the backend; see pass.h. */
#include "pass.h"

#include "formats/exact.h"
#include "formats/scale.h"
#include "kernels/rounding/count.h"

static int watched(const ulp_pass *pass, ulp_point_kind point) {
    return pass->observer && pass->observer->points >> point & 1u;
}

int ulp_pass_scale(const ulp_pass *pass, ulp_point_kind point, size_t layer) {
    if (!pass->layer_scale || (point != ULP_AT_WGRAD && point != ULP_AT_AGRAD)) return pass->scale_log2;
    return pass->layer_scale[point == ULP_AT_AGRAD && layer > 0 && !pass->lane ? layer - 1 : layer];
}

/* log2 of what a gradient is to be multiplied by before it is rounded: not that of the loss, which starts with its
 * scale. */
static int rescale_of(const ulp_pass *pass, ulp_point_kind point, size_t layer) {
    if (!pass->layer_scale || point != ULP_AT_AGRAD || pass->lane || layer == 0 || layer >= pass->layers) return 0;
    return pass->layer_scale[layer - 1] - pass->layer_scale[layer];
}

/* y (n) = x (n) times 2^log2; y may be x. */
static ulp_status rescale(const ulp_pass *pass, float *y, const float *x, size_t n, int log2) {
    ulp_update_step step = {.op = ULP_MUL,
                            .y = {.kind = ULP_OPERAND_ARRAY, .at = y},
                            .a = {.kind = ULP_OPERAND_ARRAY, .at = (float *)x},
                            .b = {.kind = ULP_OPERAND_VALUE, .value = (float)ulp_scale(1.0, log2)}};
    ulp_status status = ulp_format_parse(&step.format, "binary32");
    return status == ULP_OK ? ulp_backend_update(pass->backend, &step, 1, n) : status;
}

ulp_status ulp_pass_bring(ulp_pass *pass, const float **brought, float *room, const float *x, size_t n, size_t from,
                          size_t to) {
    int log2 = pass->layer_scale ? pass->layer_scale[to] - pass->layer_scale[from] : 0;
    *brought = log2 ? room : x;
    return log2 ? rescale(pass, room, x, n, log2) : ULP_OK;
}

static void show(const ulp_pass *pass, ulp_point_kind point, size_t layer, const float *raw, const float *rounded,
                 size_t n) {
    ulp_sight sight = {point, layer, pass->step, ulp_pass_scale(pass, point, layer), n, raw, rounded};
    pass->observer->see(pass->observer->context, &sight);
}

/* Where a rounding counts; `seen` is the caller's and zero. */
static ulp_stats *counter(const ulp_pass *pass, ulp_stats *seen) { return pass->counting ? seen : NULL; }

static void tally(ulp_pass *pass, ulp_point_kind point, const ulp_stats *seen) {
    pass->all[point].count += seen->count;
    pass->all[point].zero += seen->zero;
}

/* What a rounding has counted belongs to its point. */
static void add_counts(ulp_pass *pass, ulp_point_kind point, const ulp_stats *seen) {
    ulp_stats_add(&pass->stats[point], seen);
    tally(pass, point, seen);
}

/* Count x (n), host memory, which no rounding has counted. */
static void count_host(ulp_pass *pass, ulp_point_kind point, const float *x, size_t n) {
    ulp_stats seen = {.count = n};
    for (size_t i = 0; i < n; i++) seen.zero += x[i] == 0.0f;
    if (pass->counting) tally(pass, point, &seen);
}

/* The same of x (n) in backend memory: the counters of its rounding to binary32, which changes nothing. */
static ulp_status count_exact(ulp_pass *pass, ulp_point_kind point, const float *x, size_t n) {
    ulp_format binary32;
    ulp_stats seen = {0};
    if (!pass->counting) return ULP_OK;
    ulp_status status = ulp_format_parse(&binary32, "binary32");
    if (status == ULP_OK)
        status = ulp_backend_round(pass->backend, (float *)(void *)pass->wide, x, n,
                                   (ulp_rounding){.format = &binary32, .stats = &seen});
    if (status == ULP_OK) tally(pass, point, &seen);
    return status;
}

static ulp_stream stream_of(const ulp_pass *pass, uint32_t use, size_t layer, size_t row) {
    uint64_t step = (pass->step & 0xfffffffu) | (uint64_t)(pass->lane & 0xfffu) << 28;
    ulp_stream stream = {pass->seed, ulp_stream_id(use, pass->evaluation, layer, step), (uint64_t)pass->first * row};
    return stream;
}

void ulp_pass_begin(ulp_pass *pass) {
    size_t columns = pass->history + 1;
    for (size_t i = 0; pass->amax && i < ULP_AT_COUNT * pass->tensors; i++)
        pass->amax[i * columns + pass->step % columns] = 0.0f;
}

/* The cast of a tensor. */
static const ulp_cast *cast_of(const ulp_pass *pass, ulp_point_kind point, size_t layer) {
    const ulp_policy *policy = pass->policy;
    return policy->has_out && point == ULP_AT_ACT && layer + 1 == pass->tensors ? &policy->out : &policy->at[point];
}

/* The largest magnitude that decides a tensor's scale, given its own; a training pass notes its own. */
static float deciding_amax(ulp_pass *pass, const ulp_cast *cast, ulp_point_kind point, size_t layer, float own) {
    size_t columns = pass->history + 1, now = pass->step % columns;
    float *row = pass->amax + (point * pass->tensors + layer) * columns, most = 0.0f;
    if (cast->scaling == ULP_SCALED_NOW) return own;
    for (size_t back = 1; back <= cast->history && back <= pass->step; back++) {
        float past = row[(now + columns - back) % columns];
        most = past > most ? past : most;
    }
    if (!pass->evaluation && own > row[now]) row[now] = own;
    return most > 0.0f ? most : own;
}

/* *most = the largest finite magnitude of x (n), backend memory; host_a is used where not all of it is finite. */
static ulp_status own_amax(ulp_pass *pass, float *most, const float *x, size_t n) {
    const ulp_backend *backend = pass->backend;
    ulp_status status = ulp_backend_largest(backend, most, x, n);
    if (status != ULP_OK || *most - *most == 0.0f) return status;
    status = backend->download(pass->host_a, x, n * sizeof *x);
    if (status == ULP_OK) *most = ulp_amax(pass->host_a, n, 1);
    return status;
}

/* *moved is the cast of a tensor with the largest magnitude `own`: its format moved by the tensor's scale. */
static void move_cast(ulp_cast *moved, ulp_pass *pass, const ulp_cast *cast, ulp_point_kind point, size_t layer,
                      float own) {
    const ulp_format *f = &cast->format;
    ulp_scaling s = ulp_scaling_of(deciding_amax(pass, cast, point, layer, own), f, ULP_SCALING_POWER2);
    int k = (int)(ulp_bits64((double)s.inverse) >> 52) - 1023, low = -126 - f->emin, high = 127 - f->emax;
    *moved = *cast;
    ulp_format_shift(&moved->format, k < low ? low : k > high ? high : k); /* out of a fixed point's range: not moved */
}

ulp_status ulp_pass_round(ulp_pass *pass, ulp_point_kind point, size_t layer, float *x, size_t n, size_t row) {
    const ulp_backend *backend = pass->backend;
    const ulp_cast *cast = cast_of(pass, point, layer);
    ulp_cast moved;
    int log2 = rescale_of(pass, point, layer);
    ulp_status status = log2 ? rescale(pass, x, x, n, log2) : ULP_OK;
    if (status != ULP_OK) return status;
    if (ulp_cast_is_identity(cast)) return ulp_pass_show(pass, point, layer, x, n);
    if (cast->scaling) {
        float own;
        status = own_amax(pass, &own, x, n);
        if (status != ULP_OK) return status;
        move_cast(&moved, pass, cast, point, layer, own);
        cast = &moved;
    }
    ulp_stats seen = {0};
    int shown = watched(pass, point);
    if (shown) status = backend->download(pass->host_a, x, n * sizeof *x);
    if (status == ULP_OK)
        status = ulp_backend_round(
            backend, x, x, n,
            (ulp_rounding){&cast->format, cast->rule, stream_of(pass, point, layer, row), counter(pass, &seen)});
    add_counts(pass, point, &seen);
    if (shown && status == ULP_OK) status = backend->download(pass->host_b, x, n * sizeof *x);
    if (shown && status == ULP_OK) show(pass, point, layer, pass->host_a, pass->host_b, n);
    return status;
}

ulp_status ulp_pass_round_wide(ulp_pass *pass, ulp_point_kind point, size_t layer, float *x, size_t n, size_t row) {
    const ulp_backend *backend = pass->backend;
    const ulp_cast *cast = cast_of(pass, point, layer);
    ulp_cast moved;
    int shown = watched(pass, point), log2 = rescale_of(pass, point, layer);
    for (size_t i = 0; i < n && log2; i++) pass->host_wide[i] *= ulp_scale(1.0, log2);
    for (size_t i = 0; i < n; i++) pass->host_a[i] = (float)pass->host_wide[i];
    if (cast->scaling) {
        move_cast(&moved, pass, cast, point, layer, ulp_amax(pass->host_a, n, 1));
        cast = &moved;
    }
    if (ulp_cast_is_binary32(cast)) { /* the conversion was the one rounding */
        ulp_status done = backend->upload(x, pass->host_a, n * sizeof *x);
        count_host(pass, point, pass->host_a, n);
        if (shown && done == ULP_OK) show(pass, point, layer, pass->host_a, pass->host_a, n);
        return done;
    }
    ulp_stats seen = {0};
    ulp_status status = backend->upload(pass->wide, pass->host_wide, n * sizeof(double));
    if (status == ULP_OK)
        status = ulp_backend_round64(
            backend, pass->wide, pass->wide, n,
            (ulp_rounding){&cast->format, cast->rule, stream_of(pass, point, layer, row), counter(pass, &seen)});
    add_counts(pass, point, &seen);
    if (status == ULP_OK) status = backend->download(pass->host_wide, pass->wide, n * sizeof(double));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < n; i++) pass->host_b[i] = (float)pass->host_wide[i]; /* exact: formats fit binary32 */
    if (shown) show(pass, point, layer, pass->host_a, pass->host_b, n);
    return backend->upload(x, pass->host_b, n * sizeof *x);
}

ulp_status ulp_pass_round_from(ulp_pass *pass, ulp_point_kind point, size_t layer, float *x, const double *wide,
                               size_t n, size_t row) {
    const ulp_backend *backend = pass->backend;
    const ulp_cast *cast = cast_of(pass, point, layer);
    ulp_cast moved;
    if (watched(pass, point) || rescale_of(pass, point, layer) != 0) { /* the host has to see it */
        ulp_status seen = backend->download(pass->host_wide, wide, n * sizeof *wide);
        return seen == ULP_OK ? ulp_pass_round_wide(pass, point, layer, x, n, row) : seen;
    }
    if (cast->scaling) {
        float own;
        ulp_status found = ulp_backend_narrow(backend, x, wide, n);
        if (found == ULP_OK) found = own_amax(pass, &own, x, n);
        if (found != ULP_OK) return found;
        move_cast(&moved, pass, cast, point, layer, own);
        cast = &moved;
    }
    if (ulp_cast_is_binary32(cast)) {
        ulp_status done = ulp_backend_narrow(backend, x, wide, n);
        return done == ULP_OK ? count_exact(pass, point, x, n) : done;
    }
    ulp_stats seen = {0};
    ulp_status status = ulp_backend_round64(
        backend, pass->wide, wide, n,
        (ulp_rounding){&cast->format, cast->rule, stream_of(pass, point, layer, row), counter(pass, &seen)});
    add_counts(pass, point, &seen);
    return status == ULP_OK ? ulp_backend_narrow(backend, x, pass->wide, n) : status;
}

ulp_status ulp_pass_add(ulp_pass *pass, ulp_point_kind point, size_t layer, float *y, const float *a, const float *b,
                        size_t B, size_t row) {
    const ulp_backend *backend = pass->backend;
    const ulp_cast *cast = cast_of(pass, point, layer);
    size_t n = B * row;
    ulp_stats seen = {0};
    if (cast->scaling) { /* the sums have to be there before their scale is known */
        ulp_status found = backend->download(pass->host_a, a, n * sizeof *a);
        if (found == ULP_OK) found = backend->download(pass->host_b, b, n * sizeof *b);
        for (size_t i = 0; i < n; i++)
            pass->host_wide[i] = ulp_sum_to_odd((double)pass->host_a[i], (double)pass->host_b[i]);
        return found == ULP_OK ? ulp_pass_round_wide(pass, point, layer, y, n, row) : found;
    }
    ulp_status status = ulp_backend_map(
        backend, y, (ulp_array_op){ULP_ADD, a, b, NULL}, n,
        (ulp_rounding){&cast->format, cast->rule, stream_of(pass, point, layer, row), counter(pass, &seen)});
    if (ulp_cast_is_identity(cast)) tally(pass, point, &seen);
    else add_counts(pass, point, &seen);
    if (status != ULP_OK || !watched(pass, point)) return status;
    status = backend->download(pass->host_a, a, n * sizeof *a);
    if (status == ULP_OK) status = backend->download(pass->host_b, b, n * sizeof *b);
    for (size_t i = 0; i < n; i++) pass->host_a[i] += pass->host_b[i];
    if (status == ULP_OK) status = backend->download(pass->host_b, y, n * sizeof *y);
    if (status == ULP_OK) show(pass, point, layer, pass->host_a, pass->host_b, n);
    return status;
}

ulp_status ulp_pass_curve(ulp_pass *pass, size_t layer, ulp_activation f, float *y, const float *x, size_t row) {
    const size_t n = pass->B * row;
    ulp_status status = ulp_backend_activate(pass->backend, pass->wide, x, n, f);
    return status == ULP_OK ? ulp_pass_round_from(pass, ULP_AT_ACT, layer, y, pass->wide, n, row) : status;
}

ulp_status ulp_pass_slope(ulp_pass *pass, size_t layer, ulp_activation f, float *dx, const float *dy, const float *at,
                          size_t row) {
    const size_t n = pass->B * row;
    ulp_status status = ulp_backend_activate_slope(pass->backend, pass->wide, dy, at, n, f);
    return status == ULP_OK ? ulp_pass_round_from(pass, ULP_AT_AGRAD, layer, dx, pass->wide, n, row) : status;
}

ulp_status ulp_pass_show(ulp_pass *pass, ulp_point_kind point, size_t layer, const float *x, size_t n) {
    ulp_status status = count_exact(pass, point, x, n);
    if (status != ULP_OK || !watched(pass, point)) return status;
    status = pass->backend->download(pass->host_a, x, n * sizeof *x);
    if (status == ULP_OK) show(pass, point, layer, pass->host_a, pass->host_a, n);
    return status;
}

ulp_status ulp_pass_gemm(ulp_pass *pass, uint32_t use, size_t layer, const ulp_datapath *datapath, float *c,
                         const float *a, const float *b, const ulp_gemm_shape *shape, size_t rows) {
    return ulp_backend_gemm(
        pass->backend, c, a, b, shape,
        (ulp_summation){datapath,
                        stream_of(pass, use, layer, rows * shape->n * ulp_datapath_words(datapath, shape->k))});
}

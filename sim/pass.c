/* pass.c - rounding, counting and observing through the backend; see pass.h. */
#include "pass_inner.h"

#include <string.h>

#include "formats/exact.h"
#include "formats/scale.h"
#include "kernels/rounding/count.h"

/* ---- scales of gradients ---- */

int ulp_pass_scale(const ulp_pass *pass, const ulp_site *site) {
    const ulp_pass_scales *scales = &pass->now.scales;
    if (!scales->layer || (site->use != ULP_AT_WGRAD && site->use != ULP_AT_AGRAD)) return scales->log2;
    return scales->layer[site->use == ULP_AT_AGRAD && site->layer > 0 && !site->lane ? site->layer - 1 : site->layer];
}

int ulp_pass_scale_between(const ulp_pass *pass, size_t from, size_t to) {
    const int *layer = pass->now.scales.layer;
    return layer ? layer[to] - layer[from] : 0;
}

/* log2 of the factor by which a gradient is multiplied before its rounding. The gradient of the net's output has no
 * factor, because the loss computes it with its scale. */
int ulp_pass_rescaling(const ulp_pass *pass, const ulp_site *site) {
    if (site->use != ULP_AT_AGRAD || site->lane || site->layer == 0 || site->layer >= pass->now.scales.layers) return 0;
    return ulp_pass_scale_between(pass, site->layer, site->layer - 1);
}

ulp_status ulp_pass_rescale(const ulp_pass *pass, float *y, const float *x, size_t n, int log2) {
    ulp_update_step step = {.op = ULP_MUL,
                            .y = {.kind = ULP_OPERAND_ARRAY, .at = y},
                            .a = {.kind = ULP_OPERAND_ARRAY, .at = (float *)x}, /* read only */
                            .b = {.kind = ULP_OPERAND_VALUE, .value = (float)ulp_scale(1.0, log2)},
                            .format = ulp_binary32};
    return ulp_backend_update(pass->run.backend, &step, 1, n);
}

/* ---- observing and counting ---- */

void ulp_pass_begin(ulp_pass *pass) {
    const ulp_amax_history *h = &pass->history;
    size_t columns = h->steps + 1;
    memset(&pass->counts, 0, sizeof pass->counts);
    for (size_t i = 0; h->amax && i < ULP_AT_COUNT * h->tensors; i++)
        h->amax[i * columns + pass->now.step % columns] = 0.0f;
}

int ulp_pass_is_observed(const ulp_pass *pass, const ulp_site *site) {
    return pass->now.observer && pass->now.observer->points >> site->use & 1u;
}

/* raw and rounded (n): host memory. */
static void show(const ulp_pass *pass, const ulp_site *site, const float *raw, const float *rounded, size_t n) {
    ulp_observation observed = {
        (ulp_point_kind)site->use, site->layer, pass->now.step, ulp_pass_scale(pass, site), n, raw, rounded};
    pass->now.observer->see(pass->now.observer->context, &observed);
}

static void add_tally(ulp_pass *pass, const ulp_site *site, const ulp_stats *counted) {
    pass->counts.all[site->use].count += counted->count;
    pass->counts.all[site->use].zero += counted->zero;
}

void ulp_pass_add_counts(ulp_pass *pass, const ulp_site *site, const ulp_stats *counted) {
    ulp_stats_add(&pass->counts.rounded[site->use], counted);
    add_tally(pass, site, counted);
}

/* Count x (n), host memory, that no rounding has counted. */
static void count_host(ulp_pass *pass, const ulp_site *site, const float *x, size_t n) {
    ulp_stats counted = {.count = n};
    if (!pass->now.counting) return;
    for (size_t i = 0; i < n; i++) counted.zero += x[i] == 0.0f;
    add_tally(pass, site, &counted);
}

/* Count x (n), backend memory, by a rounding to binary32, which changes no value. */
static ulp_status count_exact(ulp_pass *pass, const ulp_site *site, const float *x, size_t n) {
    ulp_stats counted = {0};
    float *unused = (float *)(void *)pass->scratch.wide;
    if (!pass->now.counting) return ULP_OK;
    const ulp_rounding none = {.format = &ulp_binary32, .stats = &counted};
    const ulp_status status = ulp_backend_round(pass->run.backend, unused, x, n, none);
    add_tally(pass, site, &counted);
    return status;
}

/* Count x (n), backend memory, and show it to the observer. */
static ulp_status show_exact(ulp_pass *pass, const ulp_site *site, const float *x, size_t n) {
    ULP_TRY(count_exact(pass, site, x, n));
    if (!ulp_pass_is_observed(pass, site)) return ULP_OK;
    ULP_TRY(pass->run.backend->download(pass->scratch.raw, x, n * sizeof *x));
    show(pass, site, pass->scratch.raw, pass->scratch.raw, n);
    return ULP_OK;
}

/* ---- casts ---- */

/* The random stream of a tensor whose samples take `words` words each. */
ulp_stream ulp_pass_stream(const ulp_pass *pass, const ulp_site *site, size_t words) {
    uint64_t step = (pass->now.step & 0xfffffffu) | (uint64_t)(site->lane & 0xfffu) << 28;
    return (ulp_stream){pass->run.seed, ulp_stream_id(site->use, pass->now.evaluation, site->layer, step),
                        ulp_pass_first_word(pass) + (uint64_t)(pass->now.first + site->skip) * words};
}

/* The rounding of a tensor by a cast. If the pass counts, the rounding counts in `counted`, which starts at zero. */
ulp_rounding ulp_pass_rounding_of(const ulp_pass *pass, const ulp_site *site, const ulp_cast *cast,
                                  ulp_stats *counted) {
    return (ulp_rounding){.format = &cast->format,
                          .rule = cast->rule,
                          .stream = ulp_pass_stream(pass, site, site->per_sample),
                          .stats = pass->now.counting ? counted : NULL};
}

/* The row of the policies of layers that a tensor belongs to (policy.h). */
static size_t row_of(const ulp_site *site) {
    const int is_tensor_of_net = site->use == ULP_AT_ACT || (site->use == ULP_AT_AGRAD && !site->lane);
    return site->layer + !is_tensor_of_net;
}

/* The cast that the policy gives a tensor. */
const ulp_cast *ulp_pass_cast(const ulp_pass *pass, const ulp_site *site) {
    const ulp_policy *policy = pass->run.policy;
    const ulp_layer_policy *row = pass->run.rows && site->use != ULP_AT_LOSS ? &pass->run.rows[row_of(site)] : NULL;
    if (row) return &row->at[ulp_point_source(row->own, (int)site->use)];
    const int is_output = site->use == ULP_AT_ACT && site->layer + 1 == pass->history.tensors;
    return policy->has_out && is_output ? &policy->out : &policy->at[ulp_point_source(policy->own, (int)site->use)];
}

/* The largest magnitude that decides the scale of a tensor whose own largest magnitude is `own`. A training pass enters
 * `own` in the history. */
static float deciding_amax(ulp_pass *pass, const ulp_cast *cast, const ulp_site *site, float own) {
    const ulp_amax_history *h = &pass->history;
    size_t columns = h->steps + 1, now = pass->now.step % columns;
    float *row = h->amax + (site->use * h->tensors + site->layer) * columns, most = 0.0f;
    if (cast->tensor_scale == ULP_SCALED_NOW) return own;
    for (size_t back = 1; back <= cast->history && back <= pass->now.step; back++) {
        float past = row[(now + columns - back) % columns];
        most = past > most ? past : most;
    }
    if (!pass->now.evaluation && own > row[now]) row[now] = own;
    return most > 0.0f ? most : own;
}

/* The cast of a tensor whose scale follows from the magnitude `amax`: the format is shifted by the tensor scale. A
 * fixed-point format that cannot be shifted so far stays unchanged. */
static ulp_cast shifted_cast(const ulp_cast *cast, float amax) {
    const ulp_format *f = &cast->format;
    ulp_scaling s = ulp_scaling_of(amax, f, ULP_SCALING_POWER2);
    int k = (int)(ulp_bits64((double)s.inverse) >> 52) - 1023, low = -126 - f->emin, high = 127 - f->emax;
    ulp_cast moved = *cast;
    ulp_format_shift(&moved.format, k < low ? low : k > high ? high : k);
    return moved;
}

/* The cast of a tensor whose own largest magnitude is `own`. */
static ulp_cast moved_cast(ulp_pass *pass, const ulp_cast *cast, const ulp_site *site, float own) {
    return shifted_cast(cast, deciding_amax(pass, cast, site, own));
}

ulp_status ulp_pass_scaled_cast(ulp_pass *pass, ulp_cast *cast, const float *x, size_t n, int *log2) {
    const int qmin = cast->format.qmin;
    float own;
    ULP_TRY(ulp_backend_largest(pass->run.backend, &own, x, n, 1));
    *cast = shifted_cast(cast, own);
    if (log2) *log2 = cast->format.qmin - qmin;
    return ULP_OK;
}

/* Give the cast of x (n), backend memory, its tensor scale. */
static ulp_status move_cast(ulp_pass *pass, ulp_cast *cast, const ulp_site *site, const float *x, size_t n) {
    float own;
    ULP_TRY(ulp_backend_largest(pass->run.backend, &own, x, n, 1));
    *cast = moved_cast(pass, cast, site, own);
    return ULP_OK;
}

/* ---- rounding ---- */

/* The time of an operation begins. Evaluations are not timed. */
double ulp_pass_begin_time(const ulp_pass *pass) {
    return pass->now.evaluation ? -1.0 : ulp_profile_begin(pass->run.profile);
}

static ulp_status timed_round(ulp_pass *pass, ulp_site site, float *x, size_t n) {
    const ulp_backend *backend = pass->run.backend;
    const int log2 = ulp_pass_rescaling(pass, &site), shown = ulp_pass_is_observed(pass, &site);
    ulp_cast cast = *ulp_pass_cast(pass, &site);
    ulp_stats counted = {0};
    if (log2) ULP_TRY(ulp_pass_rescale(pass, x, x, n, log2));
    if (ulp_cast_is_identity(&cast)) return show_exact(pass, &site, x, n);
    if (cast.tensor_scale) ULP_TRY(move_cast(pass, &cast, &site, x, n));
    if (shown) ULP_TRY(backend->download(pass->scratch.raw, x, n * sizeof *x));
    ULP_TRY(ulp_backend_round(backend, x, x, n, ulp_pass_rounding_of(pass, &site, &cast, &counted)));
    ulp_pass_add_counts(pass, &site, &counted);
    if (!shown) return ULP_OK;
    ULP_TRY(backend->download(pass->scratch.rounded, x, n * sizeof *x));
    show(pass, &site, pass->scratch.raw, pass->scratch.rounded, n);
    return ULP_OK;
}

ulp_status ulp_pass_round(ulp_pass *pass, ulp_site site, float *x, size_t n) {
    const double began = ulp_pass_begin_time(pass);
    const ulp_status status = timed_round(pass, site, x, n);
    ulp_profile_end(pass->run.profile, (int)site.use, began);
    return status;
}

/* Whether tensor number `from`, an activation or a gradient of the net, has another cast than the tensor of a site. */
static int is_converted(const ulp_pass *pass, const ulp_site *site, size_t from) {
    const ulp_layer_policy *rows = pass->run.rows;
    if (!rows || (site->use != ULP_AT_ACT && site->use != ULP_AT_AGRAD)) return 0;
    const ulp_cast *a = &rows[from].at[site->use], *b = &rows[site->layer].at[site->use];
    return !ulp_format_equal(&a->format, &b->format) || a->tensor_scale != b->tensor_scale || a->history != b->history;
}

ulp_status ulp_pass_show(ulp_pass *pass, ulp_site site, float *x, size_t n) {
    const size_t from = site.use == ULP_AT_ACT ? site.layer - 1 : site.layer + 1; /* the other side of the layer */
    return is_converted(pass, &site, from) ? ulp_pass_round(pass, site, x, n) : show_exact(pass, &site, x, n);
}

ulp_status ulp_pass_copied(ulp_pass *pass, ulp_site site, size_t from, float *x, size_t n) {
    return is_converted(pass, &site, from) ? ulp_pass_round(pass, site, x, n) : ULP_OK;
}

/* x (n) = raw (n), host memory. The conversion of raw to binary32 was the one rounding. */
static ulp_status hand_over(ulp_pass *pass, const ulp_site *site, float *x, const float *raw, size_t n) {
    ULP_TRY(pass->run.backend->upload(x, raw, n * sizeof *x));
    count_host(pass, site, raw, n);
    if (ulp_pass_is_observed(pass, site)) show(pass, site, raw, raw, n);
    return ULP_OK;
}

/* x (n) = exact (n), host memory, rounded by a cast other than a conversion to binary32. */
static ulp_status round_uploaded(ulp_pass *pass, const ulp_site *site, const ulp_cast *cast, float *x,
                                 const double *exact, size_t n) {
    const ulp_backend *backend = pass->run.backend;
    double *wide = pass->scratch.wide;
    ulp_stats counted = {0};
    ULP_TRY(backend->upload(wide, exact, n * sizeof *exact));
    ULP_TRY(ulp_backend_round64(backend, wide, wide, n, ulp_pass_rounding_of(pass, site, cast, &counted)));
    ulp_pass_add_counts(pass, site, &counted);
    return ulp_backend_narrow(backend, x, wide, n); /* exact: formats fit binary32 */
}

static ulp_status timed_round_host(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n) {
    const ulp_pass_scratch *s = &pass->scratch;
    const int log2 = ulp_pass_rescaling(pass, &site), shown = ulp_pass_is_observed(pass, &site);
    const double factor = ulp_scale(1.0, log2);
    ulp_cast cast = *ulp_pass_cast(pass, &site);
    const int is_binary32 = ulp_cast_is_binary32(&cast);
    for (size_t i = 0; i < n && log2; i++) s->host[i] = exact[i] * factor;
    if (log2) exact = s->host;
    for (size_t i = 0; i < n && (shown || cast.tensor_scale || is_binary32); i++) s->raw[i] = (float)exact[i];
    if (cast.tensor_scale) cast = moved_cast(pass, &cast, &site, ulp_amax(s->raw, n, 1));
    if (ulp_cast_is_binary32(&cast)) return hand_over(pass, &site, x, s->raw, n);
    ULP_TRY(round_uploaded(pass, &site, &cast, x, exact, n));
    if (shown) ULP_TRY(pass->run.backend->download(s->rounded, x, n * sizeof *x));
    if (shown) show(pass, &site, s->raw, s->rounded, n);
    return ULP_OK;
}

ulp_status ulp_pass_round_host(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n) {
    const double began = ulp_pass_begin_time(pass);
    const ulp_status status = timed_round_host(pass, site, x, exact, n);
    ulp_profile_end(pass->run.profile, (int)site.use, began);
    return status;
}

static ulp_status timed_round64(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_pass_scratch *s = &pass->scratch;
    const int log2 = ulp_pass_rescaling(pass, &site);
    ulp_cast cast = *ulp_pass_cast(pass, &site);
    ulp_stats counted = {0};
    if (ulp_pass_is_observed(pass, &site)) { /* the host needs the values */
        ULP_TRY(backend->download(s->host, exact, n * sizeof *exact));
        return timed_round_host(pass, site, x, s->host, n);
    }
    if (log2) {
        ULP_TRY(ulp_backend_scale(backend, s->wide, exact, n, ulp_scale(1.0, log2)));
        exact = s->wide;
    }
    const int is_binary32 = ulp_cast_is_binary32(&cast);
    if (cast.tensor_scale || is_binary32) ULP_TRY(ulp_backend_narrow(backend, x, exact, n));
    if (is_binary32) return count_exact(pass, &site, x, n);
    if (cast.tensor_scale) ULP_TRY(move_cast(pass, &cast, &site, x, n));
    ULP_TRY(ulp_backend_round64(backend, s->wide, exact, n, ulp_pass_rounding_of(pass, &site, &cast, &counted)));
    ulp_pass_add_counts(pass, &site, &counted);
    return ulp_backend_narrow(backend, x, s->wide, n);
}

ulp_status ulp_pass_round64(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n) {
    const double began = ulp_pass_begin_time(pass);
    const ulp_status status = timed_round64(pass, site, x, exact, n);
    ulp_profile_end(pass->run.profile, (int)site.use, began);
    return status;
}

/* ---- operations that end in one rounding ---- */

static ulp_status timed_add(ulp_pass *pass, ulp_site site, float *y, const float *a, const float *b, size_t n) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_pass_scratch *s = &pass->scratch;
    const ulp_cast *cast = ulp_pass_cast(pass, &site);
    const int shown = ulp_pass_is_observed(pass, &site);
    ulp_stats counted = {0};
    if (cast->tensor_scale) { /* the scale depends on the sums */
        const ulp_cell_arrays arrays = {n, 1, {a, b}};
        ULP_TRY(ulp_backend_cell(backend, s->wide, &arrays, ULP_CELL_SUM_TO_ODD));
        return timed_round64(pass, site, y, s->wide, n);
    }
    if (shown) { /* y may be a or b */
        ULP_TRY(backend->download(s->raw, a, n * sizeof *a));
        ULP_TRY(backend->download(s->rounded, b, n * sizeof *b));
        for (size_t i = 0; i < n; i++) s->raw[i] += s->rounded[i];
    }
    ULP_TRY(ulp_backend_map(backend, y, (ulp_array_op){ULP_ADD, a, b, NULL}, n,
                            ulp_pass_rounding_of(pass, &site, cast, &counted)));
    if (ulp_cast_is_identity(cast)) add_tally(pass, &site, &counted);
    else ulp_pass_add_counts(pass, &site, &counted);
    if (!shown) return ULP_OK;
    ULP_TRY(backend->download(s->rounded, y, n * sizeof *y));
    show(pass, &site, s->raw, s->rounded, n);
    return ULP_OK;
}

ulp_status ulp_pass_add_n(ulp_pass *pass, ulp_site site, float *y, const float *a, const float *b, size_t n) {
    const double began = ulp_pass_begin_time(pass);
    const ulp_status status = timed_add(pass, site, y, a, b, n);
    ulp_profile_end(pass->run.profile, (int)site.use, began);
    return status;
}

ulp_status ulp_pass_add(ulp_pass *pass, ulp_site site, float *y, const float *a, const float *b) {
    return ulp_pass_add_n(pass, site, y, a, b, pass->now.B * site.per_sample);
}

ulp_status ulp_pass_curve(ulp_pass *pass, ulp_site site, ulp_activation f, float *y, const float *x) {
    const size_t n = pass->now.B * site.per_sample;
    double *exact = pass->scratch.wide;
    ULP_TRY(ulp_backend_activate(pass->run.backend, exact, x, n, f));
    return ulp_pass_round64(pass, site, y, exact, n);
}

ulp_status ulp_pass_slope(ulp_pass *pass, ulp_site site, ulp_activation f, float *dx, const float *dy,
                          const float *at) {
    const size_t n = pass->now.B * site.per_sample;
    double *exact = pass->scratch.wide;
    ULP_TRY(ulp_backend_activate_slope(pass->run.backend, exact, dy, at, n, f));
    return ulp_pass_round64(pass, site, dx, exact, n);
}

/* t_network.c - activation functions, pooling, normalisation, dropout, softmax with cross-entropy, and conversion to
 * binary32.
 *
 * Every instruction set is compared with scalar definitions, and softmax with MPFR. */
#include "support.h"
#include "instruction_sets.h"

#include <mpfr.h>

enum { N = 40000, ROWS = 700, MOST = 300 };

static float x[N], dy[N], y[N], want[N];
static double wide[N], wide_want[N], loss[N];
static uint8_t label[ROWS];

/* Values in the usual range of activations, and with any != 0 some with random bits. */
static void fill(float *to, uint64_t stream, int any) {
    const ulp_stream s = {11, stream, 0};
    for (uint64_t i = 0; i < N; i++) {
        const uint32_t word = ulp_random_word(s, i);
        to[i] = any && word % 5 == 0 ? ulp_from_bits32(ulp_random_word(s, N + i))
                                     : (float)(ulp_random_uniform(s, 2 * N + i) * 16.0 - 8.0);
    }
    if (!any) return;
    to[7] = 0.0f, to[8] = -0.0f, to[9] = INFINITY, to[10] = -INFINITY, to[11] = NAN, to[12] = -NAN;
}

static void same_floats(const char *what, const ulp_backend *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ulp_bits32(y[i]) != ulp_bits32(want[i]))
            fail_msg("%s, %s: element %zu of %zu is %a, not %a", what, b->what, i, n, (double)y[i], (double)want[i]);
}

static void same_doubles(const char *what, const ulp_backend *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ulp_bits64(wide[i]) != ulp_bits64(wide_want[i]) ||
            (wide[i] != wide[i] && ulp_bits64(wide[i]) != 0x7ff8000000000000u))
            fail_msg("%s, %s: element %zu of %zu is %a, not %a", what, b->what, i, n, wide[i], wide_want[i]);
}

static const size_t sizes[] = {0, 1, 17, 1025, N};
enum { SIZES = COUNT_OF(sizes) };

static void check_relu(const ulp_backend *b, size_t n) {
    assert_ok(ulp_backend_relu(b, y, x, n));
    for (size_t i = 0; i < n; i++) want[i] = x[i] < 0.0f ? 0.0f : x[i];
    same_floats("relu", b, n);
    assert_ok(ulp_backend_relu_slope(b, y, dy, x, n));
    for (size_t i = 0; i < n; i++) want[i] = x[i] > 0.0f || x[i] != x[i] ? dy[i] : 0.0f;
    same_floats("gradient of relu", b, n);
}

static void check_curve(const ulp_backend *b, ulp_activation f, size_t n) {
    assert_ok(ulp_backend_activate(b, wide, x, n, f));
    for (size_t i = 0; i < n; i++) wide_want[i] = ulp_activation_value((ulp_activation_kind)f.kind, f.a, (double)x[i]);
    same_doubles("curve", b, n);
    assert_ok(ulp_backend_activate_slope(b, wide, dy, x, n, f));
    for (size_t i = 0; i < n; i++)
        wide_want[i] = ulp_activation_slope((ulp_activation_kind)f.kind, f.a, (double)dy[i], (double)x[i]);
    same_doubles("slope", b, n);
}

static void check_narrow(const ulp_backend *b, size_t n) {
    for (size_t i = 0; i < n; i++) wide[i] = (double)x[i] + (double)dy[i] * 0x1p-30;
    assert_ok(ulp_backend_narrow(b, y, wide, n));
    for (size_t i = 0; i < n; i++) want[i] = wide[i] != wide[i] ? ulp_from_bits32(0x7fc00000u) : (float)wide[i];
    same_floats("narrow", b, n);
}

static void check_scale(const ulp_backend *b, size_t n, double factor) {
    for (size_t i = 0; i < n; i++) wide_want[i] = ulp_quieted(((double)x[i] + (double)dy[i] * 0x1p-30) * factor);
    for (size_t i = 0; i < n; i++) wide[i] = (double)x[i] + (double)dy[i] * 0x1p-30;
    assert_ok(ulp_backend_scale(b, wide, wide, n, factor));
    same_doubles("scale", b, n);
}

/* Check that pooling takes the first of the largest values or the first NaN; the windows leave out the last row and
 * column. */
static void check_pool(const ulp_backend *b, size_t images, size_t K) {
    const size_t oh = 5, ow = 4, h = oh * K + (K > 1), w = ow * K + (K > 1), all = images * h * w;
    const ulp_windows s = {images, h, w, K};
    static float place[N];
    for (size_t i = 0; i < all; i++)
        if (i % 3 != 0) y[i] = (float)(i * 7 % 5);
        else y[i] = dy[i];
    assert_true(all <= N);
    assert_ok(ulp_backend_pool(b, want, place, y, &s));
    memset(wide_want, 0, sizeof wide_want);
    for (size_t window = 0; window < images * oh * ow; window++) {
        const size_t first = (window / ow / oh * h + window / ow % oh * K) * w + window % ow * K;
        size_t best = first;
        for (size_t j = 0; j < K * K; j++) {
            const size_t at = first + j / K * w + j % K;
            if (y[best] == y[best] && (y[at] > y[best] || y[at] != y[at])) best = at;
        }
        if (ulp_bits32(want[window]) != ulp_bits32(y[best]) ||
            first + (size_t)place[window] / K * w + (size_t)place[window] % K != best)
            fail_msg("%s: window %zu of %zux%zu is %a at %g", b->what, window, K, K, (double)want[window],
                     (double)place[window]);
        wide_want[best] = (double)x[window];
    }
    assert_ok(ulp_backend_pool_slope(b, y, x, place, &s));
    for (size_t i = 0; i < all; i++) wide[i] = (double)y[i];
    for (size_t i = 0; i < all; i++)
        if (wide[i] == wide[i] || wide_want[i] == wide_want[i])
            assert_true(ulp_bits64(wide[i]) == ulp_bits64(wide_want[i]));
}

/* Check means and their gradient; the windows leave out the last row and column. */
static void check_average(const ulp_backend *b, size_t images, size_t K) {
    const size_t oh = 3, ow = 4, h = oh * K + (K > 1), w = ow * K + (K > 1), all = images * h * w;
    const ulp_windows s = {images, h, w, K};
    assert_true(all <= N);
    assert_ok(ulp_backend_average(b, wide, x, &s));
    for (size_t i = 0; i < images * oh * ow; i++) {
        const float *window = x + (i / ow / oh * h + i / ow % oh * K) * w + i % ow * K;
        double sum = 0.0;
        for (size_t j = 0; j < K * K; j++) sum += (double)window[j / K * w + j % K];
        wide_want[i] = ulp_quieted(sum / (double)(K * K));
    }
    same_doubles("average", b, images * oh * ow);
    assert_ok(ulp_backend_average_slope(b, wide, dy, &s));
    for (size_t i = 0; i < all; i++) {
        const size_t p = i / w % h / K, q = i % w / K, image = i / w / h;
        wide_want[i] = 0.0;
        if (p < oh && q < ow) wide_want[i] = ulp_quieted((double)dy[(image * oh + p) * ow + q] / (double)(K * K));
    }
    same_doubles("gradient of average", b, all);
}

/* The index of number i of channel c. */
static size_t place(const ulp_channels *s, size_t c, size_t i) { return (i / s->n * s->c + c) * s->n + i % s->n; }

/* Check the statistics and their effect on the running statistics `w`. */
static void check_statistics(const ulp_backend *b, ulp_channels s, const float *w) {
    const double M = (double)(s.B * s.n);
    for (size_t c = 0; c < s.c; c++) {
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < s.B * s.n; i++) sum += (double)x[place(&s, c, i)];
        for (size_t i = 0; i < s.B * s.n; i++) {
            const double d = (double)x[place(&s, c, i)] - sum / M;
            squares += d * d;
        }
        wide_want[c] = ulp_quieted(sum / M);
        wide_want[s.c + c] = ulp_quieted(squares / M);
    }
    assert_ok(ulp_backend_norm_statistics(b, wide, x, s));
    same_doubles("statistics", b, 2 * s.c);
    for (size_t i = 0; i < 2 * s.c; i++) {
        const double batch = i < s.c || M < 2.0 ? (double)dy[i] : (double)dy[i] * (M / (M - 1.0));
        wide_want[i] = ulp_quieted(0.9 * (double)w[i] + 0.1 * batch);
    }
    assert_ok(ulp_backend_norm_running(b, wide, w, dy, s));
    same_doubles("running statistics", b, 2 * s.c);
}

/* Check normalised values and gradients, for statistics and parameters that are no values of x. */
static void check_norm(const ulp_backend *b, ulp_channels s) {
    const size_t n = s.B * s.c * s.n;
    const double M = (double)(s.B * s.n);
    float *statistics = want, *w = want + 2 * s.c;
    double sums[2 * MOST];
    assert_true(n <= N && s.c <= MOST);
    for (size_t i = 0; i < 2 * s.c; i++) {
        statistics[i] = i % 7 == 6 ? dy[i] : fabsf(dy[i]);
        w[i] = x[N - 1 - i];
    }
    check_statistics(b, s, w);
    for (size_t c = 0; c < s.c; c++) {
        const double inverse = 1.0 / sqrt((double)statistics[s.c + c] + 1e-5);
        sums[c] = sums[s.c + c] = 0.0;
        for (size_t i = 0; i < s.B * s.n; i++) {
            const size_t at = place(&s, c, i);
            const double z = ((double)x[at] - (double)statistics[c]) * inverse;
            wide_want[at] = ulp_quieted((double)w[c] * z + (double)w[s.c + c]);
            sums[c] += (double)dy[at] * z;
            sums[s.c + c] += (double)dy[at];
        }
    }
    const ulp_norm by = {s, statistics, w};
    assert_ok(ulp_backend_norm(b, wide, x, by));
    same_doubles("normalised values", b, n);
    for (size_t i = 0; i < 2 * s.c; i++) wide_want[i] = ulp_quieted(sums[i]);
    assert_ok(ulp_backend_norm_sums(b, wide, dy, x, by));
    same_doubles("sums of gradients", b, 2 * s.c);
    for (size_t i = 0; i < n; i++) {
        const size_t c = i / s.n % s.c;
        const double inverse = 1.0 / sqrt((double)statistics[s.c + c] + 1e-5);
        const double z = ((double)x[i] - (double)statistics[c]) * inverse, mean = sums[s.c + c] / M;
        wide_want[i] = ulp_quieted((double)w[c] * inverse * ((double)dy[i] - mean - z * (sums[c] / M)));
    }
    assert_ok(ulp_backend_norm_slope(b, wide, dy, x, sums, by));
    same_doubles("gradients through a normalisation", b, n);
}

/* Check that every element's own word decides, for words that begin anywhere in a block. */
static void check_dropout(const ulp_backend *b, size_t n, uint32_t percent) {
    const ulp_dropout how = {percent, {5, percent, (uint64_t)percent * 3 + 1}};
    size_t kept = 0;
    assert_ok(ulp_backend_dropout(b, wide, x, n, how));
    for (size_t i = 0; i < n; i++) {
        const int stays = ulp_random_uniform(how.stream, i) >= (double)percent / 100.0;
        wide_want[i] = stays ? ulp_quieted((double)x[i] * 100.0 / (100.0 - (double)percent)) : 0.0;
        kept += (size_t)stays;
    }
    same_doubles("dropout", b, n);
    assert_true(n < 1000 || (kept > 0 && (kept < n || percent == 0)));
}

static void check_softmax(const ulp_backend *b, size_t B, size_t C) {
    double losses[ROWS];
    for (size_t i = 0; i < B; i++) label[i] = (uint8_t)(i % 9 == 8 ? C : i * 7 % C);
    assert_ok(ulp_backend_softmax(b, wide, losses, x, (ulp_labels){label, B, C}));
    for (size_t r = 0; r < B; r++) {
        const float *z = x + r * C;
        const double largest = ulp_softmax_largest(z, C);
        double sum = 0.0;
        for (size_t c = 0; c < C; c++) sum += ulp_exp((double)z[c] - largest);
        for (size_t c = 0; c < C; c++) wide_want[r * C + c] = ulp_quieted(ulp_exp((double)z[c] - largest) / sum);
        const double l = label[r] < C ? ulp_quieted(ulp_log(sum) - ((double)z[label[r]] - largest)) : ulp_quiet_nan();
        if (ulp_bits64(losses[r]) != ulp_bits64(l))
            fail_msg("%s: loss %zu of (%zu,%zu) is %a, not %a", b->what, r, B, C, losses[r], l);
    }
    same_doubles("softmax", b, B * C);
    assert_ok(ulp_backend_softmax_slope(b, wide, dy, (ulp_labels){label, B, C}, 0x1p9));
    for (size_t i = 0; i < B * C; i++)
        wide_want[i] = ulp_quieted(((double)dy[i] - (i % C == label[i / C] ? 1.0 : 0.0)) * 0x1p9 / (double)B);
    same_doubles("gradient of softmax", b, B * C);
}

/* Every operation on one instruction set. */
static void check_all(const ulp_backend *b) {
    static const ulp_channels shapes[] = {{1, 1, 1},  {2, 3, 1},     {1, 4, 5},   {3, 1, 7},
                                          {4, 7, 50}, {100, 300, 1}, {2, 299, 2}, {5, 3, 2000}};
    for (size_t s = 0; s < SIZES; s++) {
        check_relu(b, sizes[s]);
        check_narrow(b, sizes[s]);
        check_scale(b, sizes[s], 0x1p-40);
        check_scale(b, sizes[s], -0.0);
        for (uint8_t kind = 0; kind < ULP_ACTIVATION_COUNT; kind++)
            check_curve(b, (ulp_activation){.kind = kind, .a = 0.25}, sizes[s]);
        check_dropout(b, sizes[s], 0);
        check_dropout(b, sizes[s], 37);
        check_dropout(b, sizes[s], 99);
    }
    check_pool(b, 3, 1);
    check_pool(b, 40, 2);
    check_pool(b, 90, 3);
    check_average(b, 3, 1);
    check_average(b, 40, 2);
    check_average(b, 20, 5);
    for (size_t k = 0; k < COUNT_OF(shapes); k++) {
        ulp_threads_set((int)(k % 3));
        check_norm(b, shapes[k]);
    }
    ulp_threads_set(0);
    check_softmax(b, 1, 1);
    check_softmax(b, ROWS, 10);
    check_softmax(b, 130, MOST);
}

/* A channel with a NaN has NaN in all its results, so that numbers without NaN are tried, too. */
TEST(instruction_sets) {
    for (int any = 1; any >= 0; any--) {
        fill(x, 1, any);
        fill(dy, 2, any);
        on_every_instruction_set(check_all);
    }
}

/* |got - exact| / |exact|; exact is not 0 */
static double relative(double got, mpfr_t exact, mpfr_t room) {
    mpfr_sub_d(room, exact, got, MPFR_RNDN);
    mpfr_div(room, room, exact, MPFR_RNDN);
    return fabs(mpfr_get_d(room, MPFR_RNDN));
}

TEST(accuracy) {
    enum { B = 40, C = 200 };
    const ulp_backend *b;
    mpfr_t e[C], sum, room;
    double most = 0.0, most_loss = 0.0;
    assert_ok(ulp_backend_get(&b, NULL));
    mpfr_inits2(200, sum, room, (mpfr_ptr)0);
    for (size_t c = 0; c < C; c++) mpfr_init2(e[c], 200);
    for (size_t i = 0; i < B * C; i++) x[i] = (float)(ulp_random_uniform((ulp_stream){3, 3, 0}, i) * 60.0 - 30.0);
    for (size_t r = 0; r < B; r++) label[r] = (uint8_t)(r * 5 % C);
    assert_ok(ulp_backend_softmax(b, wide, loss, x, (ulp_labels){label, B, C}));
    for (size_t r = 0; r < B; r++) {
        mpfr_set_zero(sum, 1);
        for (size_t c = 0; c < C; c++) {
            mpfr_set_d(e[c], (double)x[r * C + c], MPFR_RNDN);
            mpfr_exp(e[c], e[c], MPFR_RNDN);
            mpfr_add(sum, sum, e[c], MPFR_RNDN);
        }
        for (size_t c = 0; c < C; c++) {
            mpfr_div(e[c], e[c], sum, MPFR_RNDN);
            most = fmax(most, relative(wide[r * C + c], e[c], room));
        }
        mpfr_log(sum, e[label[r]], MPFR_RNDN);
        mpfr_neg(sum, sum, MPFR_RNDN);
        most_loss = fmax(most_loss, relative(loss[r], sum, room));
    }
    for (size_t c = 0; c < C; c++) mpfr_clear(e[c]);
    mpfr_clears(sum, room, (mpfr_ptr)0);
    print_message("softmax: relative error 2^%.1f at most, of the loss 2^%.1f\n", log2(most), log2(most_loss));
    assert_true(most < 0x1p-48);
    assert_true(most_loss < 0x1p-48);
}

TESTS(NULL, NULL)

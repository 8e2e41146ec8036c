/* t_enlarge.c - transposed convolution, up-sampling and reshaping against direct loops, bit for bit. */
#include "layering.h"

enum { B = 3, LONGEST = 4096 };

static double a[LONGEST], b[LONGEST];

/* ---- transposed convolution ---- */

typedef struct kernel {
    size_t N, K, S, P, G;
    int no_bias;
} kernel;

/* The index of the input row (or column) whose kernel puts its row `i` on output row `at`; `size` if there is none. */
static size_t source(size_t at, size_t i, kernel q, size_t size) {
    const size_t corner = at + q.P - i;
    return at + q.P >= i && corner % q.S == 0 && corner / q.S < size ? corner / q.S : size;
}

/* The gradient of the output at a row and a column that are counted from the uncut output's corner; 0 outside. */
static double cut(const rig *r, size_t sample, size_t n, size_t row, size_t column, size_t P) {
    const ulp_dims o = r->model.net.out;
    if (row < P || column < P || row - P >= o.h || column - P >= o.w) return 0.0;
    return (double)rig_output_gradient(r)[((sample * o.c + n) * o.h + row - P) * o.w + column - P];
}

static void check_output(const rig *r, kernel q) {
    const ulp_dims o = r->model.net.out, m = r->model.net.in;
    const ulp_datapath *d = &r->policy.forward;
    const size_t C = m.c / q.G, N = q.N / q.G, k = C * q.K * q.K;
    for (size_t i = 0; i < B * ulp_dims_size(o); i++) {
        const size_t column = i % o.w, row = i / o.w % o.h, n = i / o.w / o.h % o.c, sample = i / ulp_dims_size(o);
        const uint64_t pixel = (sample * o.h + row) * o.w + column;
        for (size_t j = 0; j < k; j++) {
            const size_t c = n / N * C + j / q.K / q.K, y = source(row, j / q.K % q.K, q, m.h),
                         x = source(column, j % q.K, q, m.w);
            const int meets = y < m.h && x < m.w;
            a[j] = meets ? (double)rig_input(r)[((sample * m.c + c) * m.h + y) * m.w + x] : 0.0;
            b[j] = (double)r->w[(c * N + n % N) * q.K * q.K + j % (q.K * q.K)];
        }
        const double one = 1.0, bias = q.no_bias ? 0.0 : (double)r->w[m.c * N * q.K * q.K + n];
        const double sum = q.no_bias ? 0.0
                                     : rig_dot(r, (rig_element){ULP_USE_BIAS, pixel * o.c + n, 0}, d, 0.0,
                                               (ulp_products){&one, &bias, 1, NULL, NULL});
        rig_check(r, "y", i, rig_output(r)[i],
                  rig_dot(r, (rig_element){ULP_USE_FORWARD, pixel * N + n % N, n / N}, d, sum,
                          (ulp_products){a, b, k, NULL, NULL}));
    }
}

static void check_weights(const rig *r, kernel q) {
    const ulp_dims o = r->model.net.out, m = r->model.net.in;
    const ulp_datapath *d = &r->policy.backward;
    const size_t C = m.c / q.G, N = q.N / q.G, k = N * q.K * q.K, pixels = m.h * m.w, area = o.h * o.w;
    for (size_t i = 0; i < m.c * k; i++) {
        const size_t c = i / k, n = c / C * N + i % k / q.K / q.K, u = i / q.K % q.K, v = i % q.K;
        for (size_t s = 0; s < B * pixels; s++) {
            const size_t sample = s / pixels, row = s % pixels / m.w, column = s % m.w;
            a[s] = (double)rig_input(r)[(sample * m.c + c) * pixels + s % pixels];
            b[s] = cut(r, sample, n, row * q.S + u, column * q.S + v, q.P);
        }
        rig_check(r, "dW", i, r->model.wgrad[i],
                  rig_dot(r, (rig_element){ULP_USE_WPRODUCT, i % (C * k), c / C}, d, 0.0,
                          (ulp_products){a, b, B * pixels, NULL, NULL}));
    }
    for (size_t n = 0; n < q.N && !q.no_bias; n++) {
        for (size_t s = 0; s < B * area; s++) {
            a[s] = 1.0;
            b[s] = (double)rig_output_gradient(r)[(s / area * o.c + n) * area + s % area];
        }
        rig_check(
            r, "db", n, r->model.wgrad[m.c * k + n],
            rig_dot(r, (rig_element){ULP_USE_BPRODUCT, n, 0}, d, 0.0, (ulp_products){a, b, B * area, NULL, NULL}));
    }
}

static void check_input(const rig *r, kernel q) {
    const ulp_dims m = r->model.net.in;
    const ulp_datapath *d = &r->policy.backward;
    const size_t C = m.c / q.G, N = q.N / q.G, k = N * q.K * q.K;
    for (size_t i = 0; i < B * ulp_dims_size(m); i++) {
        const size_t column = i % m.w, row = i / m.w % m.h, c = i / m.w / m.h % m.c, sample = i / ulp_dims_size(m);
        const uint64_t place = ((sample * m.h + row) * m.w + column) * C + c % C;
        for (size_t j = 0; j < k; j++) {
            const size_t n = c / C * N + j / q.K / q.K, u = j / q.K % q.K, v = j % q.K;
            a[j] = cut(r, sample, n, row * q.S + u, column * q.S + v, q.P);
            b[j] = (double)r->w[c * k + j];
        }
        rig_check(
            r, "dx", i, r->model.grad[0][i],
            rig_dot(r, (rig_element){ULP_USE_BACKWARD, place, c / C}, d, 0.0, (ulp_products){a, b, k, NULL, NULL}));
    }
}

static const struct net {
    ulp_dims in, out;
    const char *word;
    kernel q;
} nets[] = {
    {{1, 4, 4}, {2, 6, 6}, "tconv2@3", {2, 3, 1, 0, 1, 0}},
    {{2, 3, 4}, {3, 5, 7}, "tconv3@3p1s2", {3, 3, 2, 1, 1, 0}},
    {{3, 2, 3}, {4, 6, 10}, "tconv4@4s4p1", {4, 4, 4, 1, 1, 0}},
    {{1, 1, 1}, {1, 1, 1}, "tconv1@1", {1, 1, 1, 0, 1, 0}},
    {{2, 4, 3}, {5, 3, 1}, "tconv5@5p4s2", {5, 5, 2, 4, 1, 0}},
    {{4, 2, 3}, {9, 4, 7}, "tconv9@1s3", {9, 1, 3, 0, 1, 0}},
    {{2, 4, 4}, {3, 8, 8}, "tconv3@4s2p1", {3, 4, 2, 1, 1, 0}},
    {{2, 4, 4}, {3, 4, 4}, "tconv3@7p3", {3, 7, 1, 3, 1, 0}},
    {{1, 5, 5}, {40, 5, 5}, "tconv40@3p1", {40, 3, 1, 1, 1, 0}},
    {{6, 1, 1}, {2, 2, 2}, "tconv2@2s7", {2, 2, 7, 0, 1, 0}},
    {{4, 2, 3}, {6, 3, 5}, "tconv6@3s2p1g2", {6, 3, 2, 1, 2, 0}},
    {{3, 3, 2}, {6, 4, 3}, "tconv6@2g3nobias", {6, 2, 1, 0, 3, 1}},
    {{2, 2, 2}, {5, 2, 2}, "tconv5@1nobias", {5, 1, 1, 0, 1, 1}},
};

TEST(transposed) {
    for (size_t i = 0; i < COUNT_OF(nets); i++)
        for (size_t p = 0; p < COUNT_OF(rig_policies); p++)
            for (int threads = 1; threads <= 2; threads++) {
                const struct net *net = &nets[i];
                rig r;
                rig_start(&r, net->word, net->in, B, rig_policies[p]);
                rig_numbers(r.w, r.model.net.params, 4);
                ulp_threads_set(threads);
                rig_forward(&r);
                rig_backward(&r);
                assert_int_equal(r.model.net.params,
                                 net->q.N * (net->in.c / net->q.G * net->q.K * net->q.K + (size_t)!net->q.no_bias));
                assert_memory_equal(&r.model.net.out, &net->out, sizeof net->out);
                check_output(&r, net->q);
                check_weights(&r, net->q);
                check_input(&r, net->q);
                rig_end(&r);
            }
    ulp_threads_set(0);
}

/* tconv with the weights of conv is the gradient of conv with respect to its input, and the other way round. */
TEST(adjoint) {
    rig conv, tconv;
    const ulp_dims image = {2, 7, 9}, positions = {3, 3, 4};
    rig_start(&conv, "conv3@3s2", image, B, "fp32,acc=exact:fp32:rne");
    rig_start(&tconv, "tconv2@3s2", positions, B, "fp32,acc=exact:fp32:rne");
    assert_memory_equal(&conv.model.net.out, &positions, sizeof positions);
    assert_memory_equal(&tconv.model.net.out, &image, sizeof image);
    memcpy(tconv.w, conv.w, 3 * 2 * 9 * sizeof(float));
    for (size_t i = 0; i < 3; i++) conv.w[3 * 2 * 9 + i] = 0.0f;
    for (size_t i = 0; i < 2; i++) tconv.w[3 * 2 * 9 + i] = 0.0f;
    memcpy(rig_input(&tconv), rig_output_gradient(&conv), B * ulp_dims_size(positions) * sizeof(float));
    memcpy(rig_output_gradient(&tconv), rig_input(&conv), B * ulp_dims_size(image) * sizeof(float));
    rig_forward(&conv), rig_backward(&conv);
    rig_forward(&tconv), rig_backward(&tconv);
    for (size_t i = 0; i < B * ulp_dims_size(image); i++) assert_true(rig_output(&tconv)[i] == conv.model.grad[0][i]);
    for (size_t i = 0; i < B * ulp_dims_size(positions); i++)
        assert_true(tconv.model.grad[0][i] == rig_output(&conv)[i]);
    rig_end(&conv), rig_end(&tconv);
}

/* The output is rounded as the policy says, and an evaluation in pieces rounds like one batch. */
TEST(rounding_points) {
    rig plain, rounded, piece;
    const ulp_dims dims = {2, 3, 3};
    const ulp_format fp16 = named("fp16");
    rig_start(&plain, "tconv2@3s2", dims, B, "fp32,acc=serial:fp16:sr");
    rig_start(&rounded, "tconv2@3s2", dims, B, "fp32,acc=serial:fp16:sr,act=e5m2,wgrad=fp16,agrad=fp16/rz");
    rig_start(&piece, "tconv2@3s2", dims, B, "fp32,acc=serial:fp16:sr");
    const size_t m = ulp_dims_size(dims), n = ulp_dims_size(plain.model.net.out);
    rig_forward(&plain), rig_backward(&plain);
    rig_forward(&rounded), rig_backward(&rounded);
    const ulp_format e5m2 = named("e5m2");
    for (size_t i = 0; i < B * n; i++)
        rig_check(&rounded, "y", i, rig_output(&rounded)[i],
                  ulp_round((double)rig_output(&plain)[i], &e5m2, rule_of(ULP_RNE, 0, 0), 0));
    for (size_t i = 0; i < plain.model.net.params; i++)
        rig_check(&rounded, "dw", i, rounded.model.wgrad[i],
                  ulp_round((double)plain.model.wgrad[i], &fp16, rule_of(ULP_RNE, 0, 0), 0));
    for (size_t i = 0; i < B * m; i++)
        rig_check(&rounded, "dx", i, rounded.model.grad[0][i],
                  ulp_round((double)plain.model.grad[0][i], &fp16, rule_of(ULP_RZ, 0, 0), 0));
    piece.pass.now.first = 1;
    piece.pass.now.B = B - 1;
    memmove(rig_input(&piece), rig_input(&plain) + m, (B - 1) * m * sizeof(float));
    rig_forward(&piece);
    assert_memory_equal(rig_output(&piece), rig_output(&plain) + n, (B - 1) * n * sizeof(float));
    rig_end(&plain), rig_end(&rounded), rig_end(&piece);
}

/* ---- up-sampling ---- */

__extension__ typedef __int128 fixed; /* multiples of 2^-90 */

/* n as a binary32 number: 26 of its bits and one for all that is smaller, rounded once by the conversion of the
 * processor. (Valgrind converts integers of 64 bits to float by way of double, which rounds twice.) */
static float nearest(fixed n) {
    const fixed magnitude = n < 0 ? -n : n;
    int cut = 0;
    while (magnitude >> cut >> 26 != 0) cut++;
    const int32_t kept = (int32_t)(magnitude >> cut) | ((fixed)(magnitude >> cut) << cut != magnitude);
    return ldexpf((float)(n < 0 ? -kept : kept), cut);
}

/* The sum of a window as a binary32 number. */
static float exact_sum(const float *x, size_t w, size_t F) {
    fixed sum = 0;
    for (size_t j = 0; j < F * F; j++) {
        int exponent;
        const double significand = frexp((double)x[j / F * w + j % F], &exponent);
        sum += (fixed)ldexp(significand, 24) * ((fixed)1 << (exponent + 66));
    }
    return ldexpf(nearest(sum), -90);
}

TEST(up) {
    const size_t F = 3, h = 2, w = 3, W = w * F, n = B * 2 * h * w;
    size_t hard = 0;
    uint64_t seed = 9;
    rig r;
    rig_start(&r, "up3", (ulp_dims){2, h, w}, B, "fp32");
    float *dy = rig_output_gradient(&r);
    for (size_t i = 0; i < n * F * F; i++) dy[i] = ldexpf(dy[i], (int)(next_random(&seed) % 50) - 25);
    /* the sum is just above the middle of two binary32 numbers; in binary64 it is the middle */
    for (size_t i = 0; i < F * F; i++)
        dy[i / F * W + i % F] = i == 0 ? 1.0f : i == 1 ? 0x1p-24f : i == 2 ? 0x1p-60f : 0;
    rig_forward(&r);
    rig_backward(&r);
    for (size_t i = 0; i < n * F * F; i++)
        rig_check(&r, "y", i, rig_output(&r)[i], (double)rig_input(&r)[i / (F * W) * w + i % W / F]);
    for (size_t i = 0; i < n; i++) {
        const float *window = dy + i / w * F * W + i % w * F;
        double sum = 0;
        for (size_t j = 0; j < F * F; j++) sum += (double)window[j / F * W + j % F];
        hard += (float)sum != exact_sum(window, W, F);
        rig_check(&r, "dx", i, r.model.grad[0][i], (double)exact_sum(window, W, F));
    }
    assert_true(hard > 0);
    dy[0] = INFINITY;
    dy[F] = NAN;
    rig_backward(&r);
    assert_true(isinf(r.model.grad[0][0]) && isnan(r.model.grad[0][1]));
    rig_end(&r);
}

/* ---- reshaping and words ---- */

TEST(reshape) {
    rig r;
    rig_start(&r, "reshape3x1x4", (ulp_dims){1, 2, 6}, B, "fp32");
    rig_forward(&r), rig_backward(&r);
    assert_true(r.model.net.out.c == 3 && r.model.net.out.h == 1 && r.model.net.out.w == 4);
    assert_memory_equal(rig_output(&r), rig_input(&r), B * 12 * sizeof(float));
    assert_memory_equal(r.model.grad[0], rig_output_gradient(&r), B * 12 * sizeof(float));
    rig_end(&r);
}

TEST(words) {
    static const struct {
        const char *word, *why;
    } bad[] = {
        {"tconv", "'tconv' does not fit the form of its kind, tconvN@K[sS][pP][gG][nobias]"},
        {"tconv8", "does not fit the form"},
        {"tconv0@3", "does not fit the form"},
        {"tconv8@3s0", "does not fit the form"},
        {"tconv8@3p3", "does not fit the form"},
        {"tconv8@3s1s1", "does not fit the form"},
        {"tconv8@3x", "does not fit the form"},
        {"tconv8@3g3", "does not fit the form"},
        {"tconv8@3g2", "it wants a height h and a width so that"},
        {"tconv1048577@1", "does not fit the form"},
        {"pool4 tconv8@3p2", "'tconv8@3p2' does not take an input of 1 x 1 x 1 (channels, height, width): it wants"},
        {"tconv4096@1048576", "it wants a height h and a width so that (h - 1) S + K - 2 P is 1 or more"},
        {"up", "'up' does not fit the form of its kind, upF"},
        {"up0", "does not fit the form"},
        {"up1025", "does not fit the form"},
        {"up2x", "does not fit the form"},
        {"up1024 up1024 up1024", "it wants an image that gives at most 2^40 pixels"},
        {"reshape", "'reshape' does not fit the form of its kind, reshapeCxHxW"},
        {"reshape16", "does not fit the form"},
        {"reshape4x4", "does not fit the form"},
        {"reshape1x4x4x1", "does not fit the form"},
        {"reshape0x4x4", "does not fit the form"},
        {"reshape1x4x", "does not fit the form"},
        {"reshape1x4x5", "does not take an input of 1 x 4 x 4 (channels, height, width): it wants an input of C H W"},
        {"reshape9999x9999x9999", "it wants an input of C H W"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) refused(bad[i].word, (ulp_dims){1, 4, 4}, bad[i].why);
}

TESTS(NULL, NULL)

/* t_conv.c - convolution and its operations against direct loops, bit for bit, on every instruction set. */
#include "layering.h"

enum { B = 3, LONGEST = 4096 };

/* ---- patches, permute, transposed results ---- */

static float in[LONGEST], got[16 * LONGEST], want[16 * LONGEST];

static void same_arrays(const char *what, const ulp_backend *backend, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ulp_bits32(got[i]) != ulp_bits32(want[i]))
            fail_msg("%s %s, element %zu of %zu: %a, not %a", backend->what, what, i, n, (double)got[i],
                     (double)want[i]);
}

/* The patches by the definition of ulp_im2col: x is spread over an array of zeros, over which the kernel moves. */
static void naive_patches(const ulp_im2col *p) {
    static float canvas[LONGEST];
    const size_t K = p->kernel, h = p->oh * p->stride + K + p->pad + p->h * p->dilate,
                 w = p->ow * p->stride + K + p->pad + p->w * p->dilate;
    size_t to = 0;
    assert_true(h * w <= LONGEST);
    for (size_t c = 0; c < p->c; c++)
        for (size_t i = 0; i < K * K; i++)
            for (size_t b = 0; b < p->B; b++) {
                memset(canvas, 0, sizeof canvas);
                for (size_t y = 0; y < p->h; y++)
                    for (size_t x = 0; x < p->w; x++)
                        canvas[(p->pad + y * p->dilate) * w + p->pad + x * p->dilate] =
                            in[((b * p->c + c) * p->h + y) * p->w + x];
                const size_t row = p->flip ? K - 1 - i / K : i / K, column = p->flip ? K - 1 - i % K : i % K;
                for (size_t y = 0; y < p->oh; y++)
                    for (size_t x = 0; x < p->ow; x++)
                        want[to++] = canvas[(y * p->stride + row) * w + x * p->stride + column];
            }
}

static const ulp_im2col places[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0}, {2, 3, 5, 7, 3, 3, 5, 1, 0, 1, 0}, {2, 2, 5, 7, 3, 5, 7, 1, 1, 1, 0},
    {3, 1, 6, 5, 2, 3, 2, 2, 0, 1, 0}, {2, 2, 7, 4, 5, 4, 3, 2, 3, 1, 0}, {2, 3, 3, 2, 3, 7, 5, 1, 2, 2, 1},
    {1, 2, 2, 4, 2, 6, 9, 1, 1, 3, 1}, {2, 1, 4, 4, 3, 3, 3, 3, 2, 2, 1}, {2, 1, 3, 3, 2, 9, 9, 1, 0, 1, 1},
    {1, 1, 2, 2, 4, 1, 1, 1, 9, 1, 0}, {0, 1, 2, 2, 1, 2, 2, 1, 0, 1, 0}, {1, 1, 9, 40, 3, 9, 40, 1, 1, 1, 0}};

TEST(moves) {
    static const size_t blocks[][4] = {{1, 1, 1, 1},  {1, 3, 4, 1}, {3, 5, 4, 1}, {1, 5, 2, 7},  {4, 1, 9, 3},
                                       {2, 8, 3, 64}, {1, 2, 0, 3}, {0, 2, 2, 3}, {1, 40, 60, 1}};
    size_t cases = 0;
    rig_numbers(in, LONGEST, 5);
    for (size_t isa = 0; ulp_cpu_isa_name(isa); isa++)
        for (int threads = 1; threads <= 3 && ulp_cpu_backend(isa); threads++) {
            const ulp_backend *backend = ulp_cpu_backend(isa);
            ulp_threads_set(threads);
            for (size_t i = 0; i < COUNT_OF(places); i++, cases++) {
                const ulp_im2col *p = &places[i];
                memset(got, 0xff, sizeof got);
                memset(want, 0xff, sizeof want);
                naive_patches(p);
                assert_ok(ulp_backend_im2col(backend, got, in, p));
                same_arrays("patches", backend, p->c * p->kernel * p->kernel * p->B * p->oh * p->ow + 64);
            }
            for (size_t i = 0; i < COUNT_OF(blocks); i++, cases++) {
                const size_t count = blocks[i][0], a = blocks[i][1], b = blocks[i][2], n = blocks[i][3],
                             block = a * b * n;
                memset(got, 0xff, sizeof got);
                memset(want, 0xff, sizeof want);
                for (size_t k = 0; k < count; k++)
                    for (size_t j = 0; j < block; j++)
                        want[k * block + (j / n % b * a + j / n / b) * n + j % n] = in[k * block + j];
                assert_ok(ulp_backend_permute(backend, got, in, (ulp_permute_shape){count, a, b, n}));
                same_arrays("permute", backend, count * block + 64);
            }
            const ulp_im2col still = {1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0}, dense = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0};
            const ulp_im2col none = {0, 1, 2, 2, 1, 2, 2, 1, 0, 1, 0};
            assert_int_equal(ulp_backend_im2col(backend, got, in, &still), ULP_BAD_ARGUMENT);
            assert_int_equal(ulp_backend_im2col(backend, got, in, &dense), ULP_BAD_ARGUMENT);
            assert_int_equal(ulp_backend_im2col(backend, got, in, NULL), ULP_BAD_ARGUMENT);
            assert_int_equal(ulp_backend_im2col(backend, NULL, in, &places[0]), ULP_BAD_ARGUMENT);
            assert_int_equal(ulp_backend_im2col(backend, got, NULL, &places[0]), ULP_BAD_ARGUMENT);
            assert_ok(ulp_backend_im2col(backend, NULL, NULL, &none));
            assert_int_equal(ulp_backend_permute(backend, NULL, in, (ulp_permute_shape){1, 2, 3, 4}), ULP_BAD_ARGUMENT);
            assert_int_equal(ulp_backend_permute(backend, got, NULL, (ulp_permute_shape){1, 2, 3, 4}),
                             ULP_BAD_ARGUMENT);
            assert_ok(ulp_backend_permute(backend, NULL, NULL, (ulp_permute_shape){1, 2, 0, 4}));
        }
    ulp_threads_set(0);
    assert_true(cases >= COUNT_OF(places));
}

/* A product with a transposed result has the same elements as a product without. */
TEST(transposed_result) {
    static const char *const datapaths[] = {"fp32",           "serial:fp16:rne", "serial:fp16:sr/8", "serial:bf16:rd",
                                            "chunk4:fp16:sr", "split:fp32:rne",  "pairwise:bf16:rz", "exact:fp32:rne",
                                            "h100-fp16",      "h100-e4m3.e5m2",  "h100-e4m3",        "serial:fp64:rne"};
    static const size_t shapes[][3] = {{1, 1, 1},    {70, 3, 9},   {3, 70, 40}, {13, 33, 5},
                                       {200, 8, 25}, {8, 200, 25}, {5, 4, 0}};
    static double a64[LONGEST * 2], b64[LONGEST * 2], c64[LONGEST], d64[LONGEST];
    static float a[LONGEST * 2], b[LONGEST * 2], c[LONGEST], d[LONGEST];
    rig_numbers(a, 2 * LONGEST, 6), rig_numbers(b, 2 * LONGEST, 7);
    for (size_t i = 0; i < 2 * LONGEST; i++) { /* values of e4m3 and e5m2 */
        a[i] = truncf(4.0f * a[i]) / 4.0f, b[i] = truncf(2.0f * b[i]) / 2.0f;
        a64[i] = (double)a[i], b64[i] = (double)b[i];
    }
    for (size_t i = 0; i < COUNT_OF(datapaths); i++)
        for (size_t s = 0; s < 16 * COUNT_OF(shapes); s++) {
            const size_t m = shapes[s / 16][0], n = shapes[s / 16][1], k = shapes[s / 16][2], pad = s & 8 ? 3 : 0;
            ulp_gemm_shape straight = {
                .m = m, .n = n, .k = k, .ldc = n, .a_trans = s & 1, .b_trans = s >> 1 & 1, .accumulate = s >> 2 & 1};
            straight.lda = (straight.a_trans ? m : k) + pad, straight.ldb = (straight.b_trans ? k : n) + 2 * pad;
            ulp_gemm_shape turned = straight;
            turned.c_trans = 1, turned.ldc = m + pad;
            ulp_datapath path = datapath_named(datapaths[i]);
            const ulp_stream stream = {9, 8, 77};
            const ulp_backend *backend;
            assert_ok(ulp_backend_get(&backend, NULL));
            for (size_t j = 0; j < LONGEST; j++) c64[j] = d64[j] = -1.0, c[j] = d[j] = -1.0f;
            for (size_t j = 0; j < m * n; j++) {
                c[j] = (float)(j % 17) / 8.0f, c64[j] = (double)c[j];
                d[j % n * (m + pad) + j / n] = c[j], d64[j % n * (m + pad) + j / n] = c64[j];
            }
            const int wide = !path.result.fits_binary32;
            ulp_status first =
                wide ? ulp_backend_gemm64(backend, c64, a64, b64, &straight, (ulp_summation){&path, stream})
                     : ulp_backend_gemm(backend, c, a, b, &straight, (ulp_summation){&path, stream});
            ulp_status second =
                wide ? ulp_backend_gemm64(backend, d64, a64, b64, &turned, (ulp_summation){&path, stream})
                     : ulp_backend_gemm(backend, d, a, b, &turned, (ulp_summation){&path, stream});
            assert_ok(first);
            assert_ok(second);
            size_t written = 0;
            for (size_t j = 0; j < LONGEST; j++) {
                const size_t row = j % (m + pad), column = j / (m + pad);
                const int inside = row < m && column < n;
                const double expected = inside ? wide ? c64[row * n + column] : (double)c[row * n + column] : -1.0;
                written += (size_t)inside;
                if (ulp_bits64(expected) != ulp_bits64(wide ? d64[j] : (double)d[j]))
                    fail_msg("%s, m %zu n %zu k %zu, layout %zu: (%zu,%zu) %a, not %a", path.name, m, n, k, s % 16, row,
                             column, wide ? d64[j] : (double)d[j], expected);
            }
            assert_int_equal(written, m * n);
            turned.ldc = m - 1;
            assert_int_equal(ulp_backend_gemm(backend, d, a, b, &turned, (ulp_summation){&path, stream}),
                             wide ? ULP_UNSUPPORTED : ULP_BAD_ARGUMENT);
        }
}

/* ---- the layer ---- */

typedef struct kernel {
    size_t N, K, S, P, G;
    int no_bias;
} kernel;

static double a[LONGEST], b[LONGEST];

/* x at (row, column) of the image with its padding of zeros. */
static double padded(const rig *r, size_t sample, size_t c, size_t row, size_t column, size_t P) {
    const ulp_dims d = r->model.net.in;
    if (row < P || column < P || row - P >= d.h || column - P >= d.w) return 0.0;
    return (double)rig_input(r)[((sample * d.c + c) * d.h + row - P) * d.w + column - P];
}

static void check_output(const rig *r, kernel q) {
    const ulp_dims o = r->model.net.out;
    const ulp_datapath *d = &r->policy.forward;
    const size_t c = r->model.net.in.c / q.G, N = q.N / q.G, k = c * q.K * q.K;
    for (size_t i = 0; i < B * ulp_dims_size(o); i++) {
        const size_t column = i % o.w, row = i / o.w % o.h, n = i / o.w / o.h % o.c, sample = i / ulp_dims_size(o);
        const uint64_t position = (sample * o.h + row) * o.w + column;
        for (size_t j = 0; j < k; j++) {
            a[j] = padded(r, sample, n / N * c + j / q.K / q.K, row * q.S + j / q.K % q.K, column * q.S + j % q.K, q.P);
            b[j] = (double)r->w[n * k + j];
        }
        const double one = 1.0, bias = q.no_bias ? 0.0 : (double)r->w[q.N * k + n];
        double sum = q.no_bias ? 0.0
                               : rig_dot(r, (rig_element){ULP_USE_BIAS, position * o.c + n, 0}, d, 0.0,
                                         (ulp_products){&one, &bias, 1, NULL, NULL});
        rig_check(r, "y", i, rig_output(r)[i],
                  rig_dot(r, (rig_element){ULP_USE_FORWARD, position * N + n % N, n / N}, d, sum,
                          (ulp_products){a, b, k, NULL, NULL}));
    }
}

static void check_weights(const rig *r, kernel q) {
    const ulp_dims o = r->model.net.out;
    const ulp_datapath *d = &r->policy.backward;
    const size_t c = r->model.net.in.c / q.G, N = q.N / q.G, k = c * q.K * q.K, positions = o.h * o.w;
    for (size_t n = 0; n < q.N; n++) {
        for (size_t i = 0; i <= k - (size_t)q.no_bias; i++) {
            for (size_t s = 0; s < B * positions; s++) {
                const size_t row = s % positions / o.w, column = s % o.w;
                a[s] = i == k ? 1.0
                              : padded(r, s / positions, n / N * c + i / q.K / q.K, row * q.S + i / q.K % q.K,
                                       column * q.S + i % q.K, q.P);
                b[s] = (double)rig_output_gradient(r)[(s / positions * o.c + n) * positions + s % positions];
            }
            if (i < k)
                rig_check(r, "dW", n * k + i, r->model.wgrad[n * k + i],
                          rig_dot(r, (rig_element){ULP_USE_WPRODUCT, i * N + n % N, n / N}, d, 0.0,
                                  (ulp_products){a, b, B * positions, NULL, NULL}));
            else
                rig_check(r, "db", n, r->model.wgrad[q.N * k + n],
                          rig_dot(r, (rig_element){ULP_USE_BPRODUCT, n, 0}, d, 0.0,
                                  (ulp_products){a, b, B * positions, NULL, NULL}));
        }
    }
}

static void check_input(const rig *r, kernel q) {
    const ulp_dims o = r->model.net.out, m = r->model.net.in;
    const ulp_datapath *d = &r->policy.backward;
    const size_t C = m.c / q.G, N = q.N / q.G, k = N * q.K * q.K;
    for (size_t i = 0; i < B * ulp_dims_size(m); i++) {
        const size_t column = i % m.w, row = i / m.w % m.h, c = i / m.w / m.h % m.c, sample = i / ulp_dims_size(m);
        for (size_t j = 0; j < k; j++) {
            const size_t n = c / C * N + j / q.K / q.K, u = j / q.K % q.K, v = j % q.K;
            const size_t y = (row + q.P - u) / q.S, x = (column + q.P - v) / q.S;
            const int meets = row + q.P >= u && column + q.P >= v && (row + q.P - u) % q.S == 0 &&
                              (column + q.P - v) % q.S == 0 && y < o.h && x < o.w;
            a[j] = meets ? (double)rig_output_gradient(r)[((sample * o.c + n) * o.h + y) * o.w + x] : 0.0;
            b[j] = (double)r->w[((n * C + c % C) * q.K + u) * q.K + v];
        }
        const uint64_t place = ((sample * m.h + row) * m.w + column) * C + c % C;
        rig_check(
            r, "dx", i, r->model.grad[0][i],
            rig_dot(r, (rig_element){ULP_USE_BACKWARD, place, c / C}, d, 0.0, (ulp_products){a, b, k, NULL, NULL}));
    }
}

static const struct net {
    ulp_dims in;
    const char *word;
    kernel q;
} nets[] = {
    {{1, 4, 4}, "conv2@3", {2, 3, 1, 0, 1, 0}},     {{2, 5, 7}, "conv3@3p1s2", {3, 3, 2, 1, 1, 0}},
    {{3, 6, 5}, "conv7@2s3p1", {7, 2, 3, 1, 1, 0}}, {{1, 1, 1}, "conv1@1", {1, 1, 1, 0, 1, 0}},
    {{2, 7, 7}, "conv5@5p4s2", {5, 5, 2, 4, 1, 0}}, {{4, 3, 9}, "conv9@1s2", {9, 1, 2, 0, 1, 0}},
    {{2, 8, 8}, "conv8@5", {8, 5, 1, 0, 1, 0}},     {{2, 4, 4}, "conv3@7p3", {3, 7, 1, 3, 1, 0}},
    {{1, 9, 9}, "conv40@3p1", {40, 3, 1, 1, 1, 0}}, {{6, 4, 4}, "conv2@2s1p0g1", {2, 2, 1, 0, 1, 0}},
    {{4, 5, 4}, "conv6@3p1g2", {6, 3, 1, 1, 2, 0}}, {{6, 5, 5}, "conv3@2g3s2p1nobias", {3, 2, 2, 1, 3, 1}},
    {{4, 3, 3}, "conv8@3g4p1", {8, 3, 1, 1, 4, 0}}, {{2, 4, 4}, "conv5@1nobias", {5, 1, 1, 0, 1, 1}},
};

TEST(conv) {
    for (size_t i = 0; i < COUNT_OF(nets); i++)
        for (size_t p = 0; p < COUNT_OF(rig_policies); p++)
            for (int threads = 1; threads <= 3; threads++) {
                const struct net *net = &nets[i];
                rig r;
                rig_start(&r, net->word, net->in, B, rig_policies[p]);
                rig_numbers(r.w, r.model.net.params, 4);
                /* biases are not values of the accumulator's format if the datapath allows this */
                const size_t biases = r.model.net.params - (net->q.no_bias ? 0 : net->q.N);
                for (size_t j = biases; j < r.model.net.params && !r.policy.forward.has_inputs; j++) r.w[j] *= 1.001f;
                ulp_threads_set(threads);
                rig_forward(&r);
                rig_backward(&r);
                assert_int_equal(biases, net->in.c / net->q.G * net->q.K * net->q.K * net->q.N);
                check_output(&r, net->q);
                check_weights(&r, net->q);
                check_input(&r, net->q);
                rig_end(&r);
            }
    ulp_threads_set(0);
}

/* The output is rounded as the policy says; activations and weights are values of the policy's formats. */
TEST(rounding_points) {
    rig plain, rounded;
    ulp_format bf16 = named("bf16");
    rig_start(&plain, "conv5@3p1", (ulp_dims){2, 6, 6}, B, "fp32");
    rig_start(&rounded, "conv5@3p1", (ulp_dims){2, 6, 6}, B, "fp32,act=bf16,wgrad=e5m2,agrad=bf16/rz");
    rig_forward(&plain), rig_backward(&plain);
    rig_forward(&rounded), rig_backward(&rounded);
    ulp_format e5m2 = named("e5m2:inf");
    for (size_t i = 0; i < B * ulp_dims_size(plain.model.net.out); i++)
        rig_check(&rounded, "y", i, rig_output(&rounded)[i],
                  ulp_round((double)rig_output(&plain)[i], &bf16, rule_of(ULP_RNE, 0, 0), 0));
    for (size_t i = 0; i < plain.model.net.params; i++)
        rig_check(&rounded, "dw", i, rounded.model.wgrad[i],
                  ulp_round((double)plain.model.wgrad[i], &e5m2, rule_of(ULP_RNE, 0, 0), 0));
    for (size_t i = 0; i < B * 72; i++)
        rig_check(&rounded, "dx", i, rounded.model.grad[0][i],
                  ulp_round((double)plain.model.grad[0][i], &bf16, rule_of(ULP_RZ, 0, 0), 0));
    rig_end(&plain), rig_end(&rounded);
}

/* An evaluation in pieces gives the results of one batch, with the same random words; also if the layer uses slices. */
static void check_pieces(const char *net, ulp_dims dims, size_t all) {
    static const char policy[] = "fp32,act=fp16/sr,acc=serial:fp16:sr";
    rig whole, part;
    rig_start(&whole, net, dims, all, policy);
    rig_start(&part, net, dims, all, policy);
    for (size_t i = 0; i < whole.model.net.params;
         i++) /* biases that the accumulator does not hold, and that are larger than the products */
        part.w[i] = whole.w[i] +=
            i < whole.model.net.layers[0].params - whole.model.net.layers[0].out.c ? 0.001f : 17.0049f;
    whole.pass.now.evaluation = part.pass.now.evaluation = 1;
    const size_t m = ulp_dims_size(dims), n = ulp_dims_size(whole.model.net.out);
    rig_forward(&whole);
    for (size_t first = 0; first < all; first += part.pass.now.B) {
        part.pass.now.first = first;
        part.pass.now.B = first == 0 ? all / 2 : all - all / 2;
        memmove(rig_input(&part), rig_input(&whole) + first * m, part.pass.now.B * m * sizeof(float));
        rig_forward(&part);
        assert_memory_equal(rig_output(&part), rig_output(&whole) + first * n, part.pass.now.B * n * sizeof(float));
    }
    rig_end(&whole), rig_end(&part);
}

TEST(pieces) {
    check_pieces("conv6@3p1s2 relu conv4@2", (ulp_dims){2, 6, 7}, 5);
    ulp_threads_set(1);
    check_pieces("conv2@15p7", (ulp_dims){2, 32, 32}, 2); /* the sums of a sample have 460800 products */
    ulp_threads_set(0);
}

TEST(words) {
    static const char bad[] = "conv8 conv conv@3 conv0@3 conv8@0 conv8@3s0 conv8@3p3 conv8@3p conv8@3s conv8@3s1s1 "
                              "conv8@3p1p1 conv8@3x conv8@ conv-1@3 conv8@3p-1 conv1e3@3 conv99999999999@3 "
                              "conv8@9223372036854775 conv8@3s4294967296 conv1048577@1 conv8@3g conv8@3g0 conv8@3g3 "
                              "conv8@3g2g2 conv8192@3g8192 conv8@3nobiass conv8@3nobiasp1 conv8@3no";
    static const char *const too_large[] = {"conv8@9", "conv1048576@1023p1022", "conv8@5p0", "conv8@3g2"};
    ulp_net net;
    for (size_t i = 0; *word_of(bad, i); i++) {
        refused(word_of(bad, i), (ulp_dims){1, 4, 4},
                "does not fit the form of its kind, convN@K[sS][pP][gG][nobias]: ");
        refused(word_of(bad, i), (ulp_dims){1, 4, 4}, word_of(bad, i));
    }
    for (size_t i = 0; i < COUNT_OF(too_large); i++) {
        refused(too_large[i], (ulp_dims){1, 4, 4},
                "does not take an input of 1 x 4 x 4 (channels, height, width): it wants ");
        refused(too_large[i], (ulp_dims){1, 4, 4}, too_large[i]);
    }
    refused("conv2@2 conv3@4", (ulp_dims){1, 4, 4},
            "'conv3@4' does not take an input of 2 x 3 x 3 (channels, height, width)");
    assert_ok(ulp_net_parse(&net, "conv8@3p1s2", (ulp_dims){3, 9, 8}, NULL));
    assert_true(net.out.c == 8 && net.out.h == 5 && net.out.w == 4);
    ulp_net_release(&net);
}

TESTS(NULL, NULL)

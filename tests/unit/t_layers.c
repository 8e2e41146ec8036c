/* t_layers.c - pooling, batch normalisation, sigmoid, leaky relu, dropout, and training of convolutional nets.
 *
 * t_gradients.c tests the gradients of the layers. */
#include "layering.h"
#include "training.h"

enum { B = 4 };

static float rounded(double x, const rig *r, ulp_point_kind point) {
    return (float)ulp_round(x, &r->policy.at[point].format, r->policy.at[point].rule, 0);
}

static void same_value(const char *what, size_t i, float have, float expected) {
    if (ulp_bits32(have) != ulp_bits32(expected) && !(isnan(have) && isnan(expected)))
        fail_msg("%s, element %zu: %a, not %a", what, i, (double)have, (double)expected);
}

/* ---- pooling ---- */

/* Windows one by one; the maximum of each is at the given index. */
TEST(pool) {
    static const float window[][4] = {{1, 2, 3, 4},
                                      {4, 3, 2, 1},
                                      {2, 2, 2, 2},
                                      {-0.0f, 0, -1, 0},
                                      {0, -0.0f, -1, -2},
                                      {-5, -4, -4, -6},
                                      {NAN, 1, 2, 3},
                                      {1, 9, NAN, NAN},
                                      {9, 8, 7, NAN},
                                      {INFINITY, NAN, 0, 0},
                                      {-INFINITY, -INFINITY, 0x1p-149f, 0}};
    static const size_t place[] = {3, 0, 0, 0, 0, 1, 0, 2, 3, 1, 2};
    rig r;
    for (size_t i = 0; i < COUNT_OF(place); i++) {
        rig_start(&r, "pool2", (ulp_dims){1, 2, 3}, 1, "fp32"); /* the third column fills no window */
        const float image[6] = {window[i][0], window[i][1], 99, window[i][2], window[i][3], NAN};
        memcpy(rig_input(&r), image, sizeof image);
        rig_output_gradient(&r)[0] = 7.0f;
        assert_int_equal(ulp_dims_size(r.model.net.out), 1);
        rig_forward(&r);
        rig_backward(&r);
        same_value("pool", i, rig_output(&r)[0], window[i][place[i]]);
        for (size_t j = 0; j < 6; j++)
            same_value("gradient", i, r.model.grad[0][j], j == place[i] / 2 * 3 + place[i] % 2 ? 7.0f : 0.0f);
        rig_end(&r);
    }
}

/* Whole batches against loops, also with rows and columns that fill no window. */
TEST(pool_shapes) {
    static const struct {
        ulp_dims in;
        const char *word;
        size_t K, S, P, h, w; /* h, w: of the output */
    } cases[] = {{{3, 7, 5}, "pool2", 2, 2, 0, 3, 2},     {{2, 9, 9}, "pool3", 3, 3, 0, 3, 3},
                 {{1, 5, 8}, "pool5", 5, 5, 0, 1, 1},     {{2, 3, 3}, "pool1", 1, 1, 0, 3, 3},
                 {{5, 4, 7}, "pool4", 4, 4, 0, 1, 1},     {{2, 7, 6}, "pool3s2", 3, 2, 0, 3, 2},
                 {{2, 7, 6}, "pool3s2p1", 3, 2, 1, 4, 3}, {{1, 4, 5}, "pool2p1s1", 2, 1, 1, 5, 6},
                 {{3, 5, 5}, "pool2s3", 2, 3, 0, 2, 2},   {{1, 2, 3}, "pool4p3s2", 4, 2, 3, 3, 3},
                 {{2, 4, 4}, "pool2p1", 2, 2, 1, 3, 3}};
    for (size_t k = 0; k < 3 * COUNT_OF(cases); k++) {
        const ulp_dims in = cases[k / 3].in;
        const size_t K = cases[k / 3].K, S = cases[k / 3].S, P = cases[k / 3].P, h = cases[k / 3].h, w = cases[k / 3].w;
        static double dx[4096];
        rig r;
        rig_start(&r, cases[k / 3].word, in, B, "fp32");
        ulp_threads_set((int)(k % 3) + 1);
        rig_forward(&r);
        rig_backward(&r);
        assert_true(r.model.net.out.h == h && r.model.net.out.w == w && r.model.net.out.c == in.c);
        memset(dx, 0, sizeof dx);
        for (size_t i = 0; i < B * in.c * h * w; i++) {
            size_t best = SIZE_MAX;
            for (size_t y = i / w % h * S; y < i / w % h * S + K; y++)
                for (size_t x = i % w * S; x < i % w * S + K; x++) {
                    const size_t at = (i / (h * w) * in.h + y - P) * in.w + x - P;
                    if (y < P || x < P || y >= in.h + P || x >= in.w + P) continue;
                    if (best == SIZE_MAX || rig_input(&r)[at] > rig_input(&r)[best]) best = at;
                }
            same_value(cases[k / 3].word, i, rig_output(&r)[i], rig_input(&r)[best]);
            dx[best] += (double)rig_output_gradient(&r)[i];
        }
        for (size_t i = 0; i < B * ulp_dims_size(in); i++)
            same_value("pool gradient", i, r.model.grad[0][i], (float)dx[i]);
        rig_end(&r);
    }
    ulp_threads_set(0);
}

/* Where windows overlap, the sum of their gradients is rounded once; NaN and the first of equal numbers win as in
 * adjacent windows. */
TEST(pool_overlap) {
    static const float image[] = {1, 2, 2, NAN, 5, 6, -INFINITY, -INFINITY},
                       largest[] = {2, 2, NAN, NAN, 6, 6, -INFINITY};
    static const size_t place[] = {1, 1, 3, 3, 5, 5, 6};
    rig r;
    float want[8] = {0};
    rig_start(&r, "pool2s1p1", (ulp_dims){1, 1, 8}, 1, "fp32,agrad=fp16");
    assert_int_equal(ulp_dims_size(r.model.net.out), 18); /* two rows with the same windows, and windows at the ends */
    memcpy(rig_input(&r), image, sizeof image);
    for (size_t i = 0; i < 18; i++) rig_output_gradient(&r)[i] = 1.0f + (float)(i * i) / 1024.0f;
    rig_forward(&r);
    rig_backward(&r);
    for (size_t i = 0; i < 18; i++) {
        const size_t window = i % 9;
        const size_t at = window == 0 ? 0 : window == 8 ? 7 : place[window - 1];
        same_value("overlap", i, rig_output(&r)[i], window == 0 ? 1 : window == 8 ? -INFINITY : largest[window - 1]);
        want[at] += 1.0f + (float)(i * i) / 1024.0f; /* exact */
    }
    for (size_t i = 0; i < 8; i++) {
        same_value("overlap gradient", i, r.model.grad[0][i], rounded((double)want[i], &r, ULP_AT_AGRAD));
        assert_true(i != 1 || r.model.grad[0][i] != want[i]); /* a sum that fp16 does not hold */
    }
    rig_end(&r);
}

/* The mean against a mean in extended precision, within the layer's documented bound plus half a unit of the format. */
TEST(avg) {
    rig r;
    uint64_t seed = 4;
    size_t wide = 0;
    rig_start(&r, "avg3", (ulp_dims){2, 7, 6}, B, "fp32");
    for (size_t i = 0; i < B * 84; i++) /* the range of exponents is so large that binary64 sums are not exact */
        rig_input(&r)[i] = ldexpf(rig_input(&r)[i], (int)(next_random(&seed) % 120) - 60);
    rig_forward(&r);
    rig_backward(&r);
    for (size_t i = 0; i < B * 2 * 4; i++) {
        long double sum = 0, size = 0;
        for (size_t j = 0; j < 9; j++) {
            const size_t at = (i / 4 * 7 + i / 2 % 2 * 3 + j / 3) * 6 + i % 2 * 3 + j % 3;
            sum += (long double)rig_input(&r)[at];
            size += fabsl((long double)rig_input(&r)[at]);
            same_value("avg gradient", at, r.model.grad[0][at], (float)((double)rig_output_gradient(&r)[i] / 9.0));
        }
        const long double off = fabsl((long double)rig_output(&r)[i] - sum / 9);
        assert_true(off <=
                    fabsl(sum / 9) * 0x1p-24L + 0x1p-53L * size); /* half a unit of binary32, and 9 2^-53 size / 9 */
        wide += size > 0x1p40L * fabsl((long double)rig_input(&r)[i / 4 * 42]);
    }
    assert_true(wide > 0);
    for (size_t i = 0; i < B * 84; i++) /* row 6 is left out */
        if (i / 6 % 7 == 6) same_value("avg gradient", i, r.model.grad[0][i], 0.0f);
    rig_end(&r);
    rig_start(&r, "avg3", (ulp_dims){1, 3, 3}, B, "fp16");
    rig_forward(&r);
    for (size_t i = 0; i < B; i++) {
        double sum = 0;
        for (size_t j = 0; j < 9; j++) sum += (double)rig_input(&r)[9 * i + j];
        same_value("avg3 fp16", i, rig_output(&r)[i], rounded(sum / 9.0, &r, ULP_AT_ACT));
    }
    rig_end(&r);
}

/* ---- batch normalisation ---- */

enum { C = 3, H = 2, W = 3, M = B * H * W };

/* x rounded at ULP_AT_NORM as element i; the lane is 0 for statistics of the batch, 1 for running statistics. */
static float normed(double x, const rig *r, size_t i, uint64_t lane) {
    const ulp_cast *cast = &r->policy.at[ULP_AT_NORM];
    const ulp_stream stream = {r->pass.run.seed, ulp_stream_id(ULP_AT_NORM, 0, 0, r->pass.now.step | lane << 28), 0};
    return (float)ulp_round(x, &cast->format, cast->rule,
                            ulp_mode_is_stochastic(cast->rule.mode) ? ulp_random_word(stream, i) : 0);
}

static double channel(const rig *r, size_t c, size_t i) {
    return (double)rig_input(r)[(i / (H * W) * C + c) * H * W + i % (H * W)];
}

static void batch_statistics(const rig *r, size_t c, double *mean, double *variance) {
    long double sum = 0, squares = 0;
    for (size_t i = 0; i < M; i++) sum += (long double)channel(r, c, i);
    for (size_t i = 0; i < M; i++)
        squares +=
            ((long double)channel(r, c, i) - sum / (double)M) * ((long double)channel(r, c, i) - sum / (double)M);
    *mean = (double)(sum / (double)M), *variance = (double)(squares / (double)M);
}

/* Check the outputs of channels against rounded binary64 values; where binary64 errors decide, a neighbour is right. */
static void check_normalised(const rig *r, const float *mean, const float *variance) {
    for (size_t c = 0; c < C; c++)
        for (size_t i = 0; i < M; i++) {
            const double y = (double)r->w[c] * (channel(r, c, i) - (double)mean[c]) / sqrt((double)variance[c] + 1e-5) +
                             (double)r->w[C + c];
            const float have = rig_output(r)[(i / (H * W) * C + c) * H * W + i % (H * W)];
            if (have != rounded(y, r, ULP_AT_ACT) && have != rounded(y + 1e-14, r, ULP_AT_ACT) &&
                have != rounded(y - 1e-14, r, ULP_AT_ACT))
                fail_msg("bn, channel %zu, element %zu: %a, not %a", c, i, (double)have, y);
        }
}

TEST(bn) {
    static const char *const policies[] = {"fp32", "fp32,norm=bf16,act=fp16", "fp16", "fp32,norm=bf16/sr"};
    for (size_t k = 0; k < 3 * COUNT_OF(policies); k++) {
        rig r;
        float running[2 * C] = {0, 0, 0, 1, 1, 1}, batch[2 * C];
        rig_start(&r, "bn", (ulp_dims){C, H, W}, B, policies[k / 3]);
        ulp_threads_set((int)(k % 3) + 1);
        assert_int_equal(r.model.net.states, 2 * C);
        assert_memory_equal(r.model.state, running, sizeof running);
        assert_true(r.w[0] == 1.0f && r.w[C - 1] == 1.0f && r.w[C] == 0.0f);
        r.w[0] = 1.5f, r.w[1] = -0.75f, r.w[C + 1] = 0.25f;
        for (uint64_t step = 0; step < 4; step++) {
            r.pass.now.step = step;
            rig_numbers(rig_input(&r), B * C * H * W, 90 + step);
            rig_forward(&r);
            for (size_t c = 0; c < C; c++) {
                double mean, variance;
                batch_statistics(&r, c, &mean, &variance);
                batch[c] = normed(mean, &r, c, 0), batch[C + c] = normed(variance, &r, C + c, 0);
                running[c] = normed(0.9 * (double)running[c] + 0.1 * (double)batch[c], &r, c, 1);
                running[C + c] = normed(
                    0.9 * (double)running[C + c] + 0.1 * ((double)batch[C + c] * ((double)M / (M - 1))), &r, C + c, 1);
            }
            for (size_t i = 0; i < 2 * C; i++) same_value("running statistics", i, r.model.state[i], running[i]);
            check_normalised(&r, batch, batch + C);
        }
        r.pass.now.evaluation = 1;
        rig_forward(&r);
        check_normalised(&r, running, running + C);
        assert_memory_equal(r.model.state, running, sizeof running);
        rig_end(&r);
    }
    ulp_threads_set(0);
}

/* A batch of one without positions: the mean of one number is this number, and its variance is 0. */
TEST(bn_alone) {
    rig r;
    rig_start(&r, "bn", (ulp_dims){2, 1, 1}, 1, "fp32");
    r.w[2] = 0.5f;
    rig_forward(&r);
    rig_backward(&r);
    assert_true(rig_output(&r)[0] == 0.5f && rig_output(&r)[1] == 0.0f && r.model.grad[0][0] == 0.0f);
    same_value("running mean", 0, r.model.state[0], (float)(0.1 * (double)rig_input(&r)[0]));
    same_value("running variance", 0, r.model.state[2], 0.9f);
    rig_end(&r);
}

/* The policy's points round the gradients of the parameters and of the input. */
TEST(bn_gradients) {
    rig wide, narrow;
    rig_start(&wide, "bn", (ulp_dims){C, H, W}, B, "fp32");
    rig_start(&narrow, "bn", (ulp_dims){C, H, W}, B, "fp32,wgrad=bf16,agrad=fp16");
    rig_forward(&wide), rig_backward(&wide);
    rig_forward(&narrow), rig_backward(&narrow);
    for (size_t i = 0; i < 2 * C; i++)
        same_value("dw", i, narrow.model.wgrad[i], rounded((double)wide.model.wgrad[i], &narrow, ULP_AT_WGRAD));
    for (size_t i = 0; i < M * C; i++)
        same_value("dx", i, narrow.model.grad[0][i], rounded((double)wide.model.grad[0][i], &narrow, ULP_AT_AGRAD));
    for (size_t c = 0; c < C; c++) {
        double sum = 0;
        for (size_t i = 0; i < M; i++)
            sum += (double)rig_output_gradient(&wide)[(i / (H * W) * C + c) * H * W + i % (H * W)];
        same_value("dbeta", c, wide.model.wgrad[C + c], (float)sum);
    }
    rig_end(&wide), rig_end(&narrow);
}

/* ---- elementwise ---- */

TEST(sigmoid_and_leaky) {
    rig s, l;
    rig_start(&s, "sigmoid", (ulp_dims){1, 9, 9}, B, "fp16");
    rig_start(&l, "leaky0.3", (ulp_dims){1, 9, 9}, B, "fp16");
    rig_input(&s)[0] = rig_input(&l)[0] = NAN;
    rig_input(&s)[1] = rig_input(&l)[1] = -INFINITY;
    rig_forward(&s), rig_backward(&s);
    rig_forward(&l), rig_backward(&l);
    for (size_t i = 0; i < B * 81; i++) {
        const double x = (double)rig_input(&s)[i], dy = (double)rig_output_gradient(&s)[i],
                     y = (double)rig_output(&s)[i];
        same_value("sigmoid", i, rig_output(&s)[i], rounded(ulp_sigmoid(x), &s, ULP_AT_ACT));
        same_value("sigmoid gradient", i, s.model.grad[0][i], rounded(dy * (y * (1.0 - y)), &s, ULP_AT_AGRAD));
        same_value("leaky", i, rig_output(&l)[i], x > 0 ? (float)x : rounded(x * (double)0.3f, &l, ULP_AT_ACT));
        same_value("leaky gradient", i, l.model.grad[0][i], rounded(x > 0 ? dy : dy * (double)0.3f, &l, ULP_AT_AGRAD));
    }
    assert_true(rig_output(&s)[1] == 0.0f && isnan(rig_output(&s)[0]) && isnan(rig_output(&l)[0]));
    rig_end(&s), rig_end(&l);
    rig_start(&l, "leaky", (ulp_dims){1, 1, 1}, 1, "fp32");
    rig_input(&l)[0] = -2.0f;
    rig_forward(&l);
    same_value("leaky 0.01", 0, rig_output(&l)[0], -2.0f * 0.01f);
    rig_end(&l);
}

TEST(drop) {
    enum { N = 64 * 64 };
    static float first[B * N];
    rig r;
    rig_start(&r, "drop30", (ulp_dims){1, 64, 64}, B, "fp16");
    size_t kept = 0, changed = 0;
    for (size_t i = 0; i < B * N; i++) rig_input(&r)[i] = 1.0f + (float)(i % 64) / 64.0f;
    for (uint64_t step = 0; step < 2; step++) {
        r.pass.now.step = step;
        rig_forward(&r), rig_backward(&r);
        for (size_t i = 0; i < B * N; i++) {
            const double x = (double)rig_input(&r)[i], dy = (double)rig_output_gradient(&r)[i];
            const int stays = rig_output(&r)[i] != 0.0f;
            kept += (size_t)stays;
            same_value("drop", i, rig_output(&r)[i], stays ? rounded(x * 100.0 / 70.0, &r, ULP_AT_ACT) : 0.0f);
            same_value("drop gradient", i, r.model.grad[0][i],
                       stays ? rounded(dy * 100.0 / 70.0, &r, ULP_AT_AGRAD) : 0.0f);
            changed += step == 1 && stays != (first[i] != 0.0f);
        }
        memcpy(first, rig_output(&r), sizeof first);
    }
    /* five standard errors of binomial shares: 0.7 are kept, and 2 0.3 0.7 differ between two steps */
    assert_true(fabs((double)kept / (2 * B * N) - 0.7) < 5 * sqrt(0.21 / (2 * B * N)));
    assert_true(fabs((double)changed / (B * N) - 0.42) < 5 * sqrt(0.42 * 0.58 / (B * N)));
    /* the words of a sample follow from its number, in whichever part of a batch the sample is */
    r.pass.now.first = 1;
    rig_forward(&r);
    assert_memory_equal(rig_output(&r), first + N, (B - 1) * N * sizeof *first);
    r.pass.now.evaluation = 1;
    rig_forward(&r);
    assert_memory_equal(rig_output(&r), rig_input(&r), B * N * sizeof(float));
    rig_end(&r);
}

TEST(words) {
    static const char *const bad[] = {"pool0",    "pool",     "pool-1",    "pool2x",    "pool99999999999999",
                                      "pool2s",   "pool2s0",  "pool2p2",   "pool2s1s1", "pool2p1p1",
                                      "pool3p1x", "avg0",     "avg",       "avg2.0",    "avg18446744073709551618",
                                      "bn1",      "bn@",      "sigmoid2",  "leaky2",    "leaky-0.1",
                                      "leakynan", "leaky0x1", "leaky0.1f", "leaky1e9",  "drop",
                                      "drop100",  "drop-1",   "drop0.5"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        refused(bad[i], (ulp_dims){1, 4, 4},
                strcmp(bad[i], "leakynan") ? "does not fit the form of its kind, " : "no layer called");
    refused("drop100", (ulp_dims){1, 4, 4},
            "net: 'drop100' does not fit the form of its kind, dropP: dropout, P percent (0 to 99)");
    refused(
        "fc6 pool2", (ulp_dims){1, 4, 4},
        "net: 'pool2' does not take an input of 6 x 1 x 1 (channels, height, width): it wants a height and a width, "
        "the pixels around the image included, of K or more");
    for (size_t i = 0; i < 2; i++)
        refused(i ? "pool5" : "avg5", (ulp_dims){1, 4, 6}, "does not take an input of 1 x 4 x 6 ");
    for (size_t i = 0; i < 2; i++)
        refused(i ? "pool5" : "avg5", (ulp_dims){1, 6, 4}, "does not take an input of 1 x 6 x 4 ");
}

/* ---- nets ---- */

static double accuracy(const char *net, const char *policy, const char *scaler, uint64_t steps) {
    const training_texts o = {net, policy, scaler, "sgd,rate=0.02,momentum=0.9", .batch = 32, .seed = 1};
    ulp_train_result result;
    if (run_from_texts(&result, &digits, &o, steps, &error) != ULP_OK) fail_msg("%s", error.text);
    print_message("%s, %s: %.4f\n", net, policy, result.test.accuracy);
    return result.test.accuracy;
}

TEST(training) {
    static const char plain[] = "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc64 relu fc10";
    static const char residual[] = "conv8@3p1 bn relu fork conv8@3p1 bn relu conv8@3p1 bn join relu pool2 "
                                   "fork conv8@3p1 bn relu conv8@3p1 bn join relu avg4 fc10";
    if (THINNED) skip();
    assert_true(accuracy(plain, "fp32", "none", 900) > 0.97);
    assert_true(accuracy(residual, "mixed:fp16", "pytorch", 225) > 0.9); /* five epochs, not converged yet */
}

TESTS(load_digits, free_digits)

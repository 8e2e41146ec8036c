/* t_gradients.c - every kind of layer, and whole nets, against central finite differences in binary64. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/rng.h"
#include "tests/training.h"

enum { B = 5, WIDEST = 64, PARAMS = 1024 };

/* r . layer(x, w): a scalar whose gradients with respect to x and w a backward pass from dy = r gives. */
static double scalar_of(const ulp_net *net, const double *x, const double *w, const double *r) {
    static double y[B * WIDEST], scratch[2 * B * WIDEST];
    double sum = 0.0;
    ulp_net_forward64(net, y, x, w, B, scratch);
    for (size_t i = 0; i < B * ulp_dims_size(net->out); i++) sum += r[i] * y[i];
    return sum;
}

/* Central difference by h in element i of v (part of x or w). */
static double slope(const ulp_net *net, const double *x, const double *w, const double *r, double *v, size_t i) {
    double h = 1e-5, at = v[i];
    v[i] = at + h;
    double up = scalar_of(net, x, w, r);
    v[i] = at - h;
    double down = scalar_of(net, x, w, r);
    v[i] = at;
    return (up - down) / (2 * h);
}

/* Seeded numbers of magnitude 0.2 to 1.2: away from relu's corner, and binary32 values. */
static void numbers(double *x, float *f, size_t n, uint64_t stream) {
    for (size_t i = 0; i < n; i++) {
        double u = 2.0 * ulp_random_uniform((ulp_stream){5, stream, 0}, i) - 1.0;
        f[i] = (float)(u + (u < 0.0 ? -0.2 : 0.2));
        x[i] = (double)f[i];
    }
}

/* One layer of this kind alone: forward against forward64, dx and dw against finite differences. */
static void check_layer(const ulp_layer_kind *kind) {
    static double x[B * WIDEST], w[PARAMS], r[B * WIDEST], y64[B * WIDEST], scratch[2 * B * WIDEST], wide[PARAMS];
    static float fx[B * WIDEST], fw[PARAMS], fr[B * WIDEST], y[B * WIDEST], dx[B * WIDEST], dw[PARAMS], ha[PARAMS], hb[PARAMS], ones[B];
    ulp_net net;
    ulp_policy policy;
    ulp_pass pass = {.policy = &policy, .seed = 1, .B = B, .ones = ones, .wide = wide, .host_a = ha, .host_b = hb, .host_wide = scratch};
    assert_int_equal(ulp_net_parse(&net, kind->example, (ulp_dims){1, 4, 4}, error, sizeof error), ULP_OK);
    assert_int_equal(ulp_policy_parse(&policy, "fp32", error, sizeof error), ULP_OK);
    assert_int_equal(ulp_backend_get(&pass.backend, "cpu"), ULP_OK); /* its memory is the host's */
    size_t m = ulp_dims_size(net.in), n = ulp_dims_size(net.out);
    assert_true(m <= WIDEST && n <= WIDEST && net.params <= PARAMS);
    for (size_t b = 0; b < B; b++) ones[b] = 1.0f;
    numbers(x, fx, B * m, 1);
    numbers(w, fw, net.params, 2);
    numbers(r, fr, B * n, 3);
    ulp_layer_tensors t = {fx, y, fw, fr, dx, dw};
    assert_int_equal(kind->forward(net.layers, &pass, &t), ULP_OK);
    assert_int_equal(kind->backward(net.layers, &pass, &t), ULP_OK);
    static double s2[2 * B * WIDEST];
    ulp_net_forward64(&net, y64, x, w, B, s2);
    /* bound: sums of at most WIDEST terms of size at most 2, in binary32, and h^2 f''' / 6 of the difference */
    double bound = WIDEST * 2.0 * WIDEST * 0x1p-24 + 1e-9;
    for (size_t i = 0; i < B * n; i++) assert_true(fabs((double)y[i] - y64[i]) <= bound);
    for (size_t i = 0; i < B * m; i++) assert_true(fabs((double)dx[i] - slope(&net, x, w, r, x, i)) <= bound);
    for (size_t i = 0; i < net.params; i++) assert_true(fabs((double)dw[i] - slope(&net, x, w, r, w, i)) <= bound);
    ulp_net_release(&net);
}

static void test_layer_gradients(void **state) {
    size_t kinds = 0;
    (void)state;
    for (; ulp_layer_kind_get(kinds); kinds++) check_layer(ulp_layer_kind_get(kinds));
    assert_true(kinds >= 3);
}

/* Mean cross-entropy of the whole net in binary64 with libm, from the words of the net: independent of sim/. */
static double loss_of(const ulp_trainer *t, const double *w, const float *x, const uint8_t *label, size_t n) {
    static double a[B * WIDEST], c[WIDEST];
    double loss = 0.0;
    for (size_t b = 0; b < n; b++) {
        size_t m = ulp_dims_size(t->net.in);
        for (size_t i = 0; i < m; i++) a[i] = (double)x[b * m + i];
        for (size_t k = 0; k < t->net.count; k++) {
            const char *word = t->net.layers[k].word;
            const double *v = w + t->net.layers[k].first_param;
            if (strncmp(word, "fc", 2) == 0) {
                size_t out = (size_t)atoi(word + 2);
                for (size_t j = 0; j < out; j++) {
                    c[j] = v[m * out + j];
                    for (size_t i = 0; i < m; i++) c[j] += a[i] * v[i * out + j];
                }
                m = out;
                memcpy(a, c, m * sizeof *a);
            }
            for (size_t i = 0; i < m && strcmp(word, "relu") == 0; i++) a[i] = fmax(a[i], 0.0);
            for (size_t i = 0; i < m && strcmp(word, "tanh") == 0; i++) a[i] = tanh(a[i]);
        }
        double sum = 0.0;
        for (size_t i = 0; i < m; i++) sum += exp(a[i] - a[0]);
        loss += log(sum) - (a[label[b]] - a[0]);
    }
    return loss / (double)n;
}

/* Whole nets, loss included: the trainer's weight gradients, at a scale, against finite differences. */
static void test_net_gradients(void **state) {
    static const char *const nets[] = {"fc10", "fc12 relu fc10", "fc9 tanh fc8 relu fc10", "fc6 fc7 tanh tanh fc11 relu relu fc10"};
    (void)state;
    for (size_t k = 0; k < sizeof nets / sizeof *nets; k++) {
        ulp_train_options o = {.net = nets[k], .scaler = "static:5", .sgd = {0.0, 0.0, 0.0}, .batch = B, .seed = 3};
        ulp_trainer *t = trainer_of(&digits, &o);
        float *f = calloc(2 * t->net.params, sizeof *f), *g = f + t->net.params, x[B * 64];
        double *w = calloc(t->net.params, sizeof *w), loss;
        ulp_step step;
        assert_int_equal(ulp_trainer_weights(t, f, NULL), ULP_OK);
        for (size_t i = 0; i < t->net.params; i++) w[i] = (double)f[i];
        assert_int_equal(ulp_trainer_step(t, &step), ULP_OK);
        assert_int_equal(t->pass.backend->download(x, t->tensor[0], sizeof x), ULP_OK);
        assert_int_equal(t->pass.backend->download(g, t->wgrad, t->net.params * sizeof *g), ULP_OK);
        loss = loss_of(t, w, x, t->label, B);
        assert_true(fabs(step.loss - loss) < 1e-5);
        for (size_t i = 0; i < t->net.params; i += 7) {
            double at = w[i], h = 1e-5;
            w[i] = at + h;
            double up = loss_of(t, w, x, t->label, B);
            w[i] = at - h;
            double want = (up - loss_of(t, w, x, t->label, B)) / (2 * h);
            w[i] = at;
            assert_true(fabs((double)g[i] / 32.0 - want) < 2e-5);
        }
        free(f);
        free(w);
        ulp_trainer_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layer_gradients), cmocka_unit_test(test_net_gradients)};
    return cmocka_run_group_tests(tests, load_digits, free_digits);
}

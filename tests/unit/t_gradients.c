/* t_gradients.c - every kind of layer, and whole nets, against central finite differences in binary64. */

#include "layering.h"
#include "training.h"

enum { B = 5, WIDEST = 64, PARAMS = 1024 };

/* The model and the arrays of a check of one net. */
typedef struct bench {
    rig of;
    double *x, *w, *r, *y, *scratch; /* (B,in), (params), (B,out), (B,out), scratch of ulp_net_forward64() */
} bench;

/* r . net(x, w). A backward pass from dy = r gives the gradients of this scalar with respect to x and w. */
static double scalar_of(const bench *t) {
    double sum = 0.0;
    ulp_net_forward64(&t->of.model.net, t->y, t->x, t->w, B, t->scratch);
    for (size_t i = 0; i < B * ulp_dims_size(t->of.model.net.out); i++) sum += t->r[i] * t->y[i];
    return sum;
}

/* The central difference with respect to *v, an element of x or w. */
static double slope(const bench *t, double *v) {
    double h = 1e-5, at = *v;
    *v = at + h;
    double up = scalar_of(t);
    *v = at - h;
    double down = scalar_of(t);
    *v = at;
    return (up - down) / (2 * h);
}

/* Seeded binary32 numbers of magnitude 0.2 to 1.2, which are not near 0, where relu and similar functions have a
 * corner. */
static void numbers(double *x, float *f, size_t n, uint64_t stream) {
    for (size_t i = 0; i < n; i++) {
        double u = 2.0 * ulp_random_uniform((ulp_stream){5, stream, 0}, i) - 1.0;
        f[i] = (float)(u + (u < 0.0 ? -0.2 : 0.2));
        x[i] = (double)f[i];
    }
}

/* The model of a net, with seeded weights, input and gradient of the output. */
static void bench_start(bench *t, const char *text, ulp_dims in) {
    rig_start(&t->of, text, in, B, "fp32");
    const ulp_net *net = &t->of.model.net;
    size_t m = B * ulp_dims_size(net->in), n = B * ulp_dims_size(net->out);
    t->x = calloc(m + net->params + 2 * n + (2 + net->depth) * B * net->widest, sizeof *t->x);
    assert_non_null(t->x);
    t->w = t->x + m;
    t->r = t->w + net->params;
    t->y = t->r + n;
    t->scratch = t->y + n;
    if (net->layers->kind->reads_tokens)
        for (size_t i = 0; i < m; i++) t->x[i] = (double)rig_input(&t->of)[i];
    else numbers(t->x, rig_input(&t->of), m, 1);
    numbers(t->w, t->of.w, net->params, 2);
    numbers(t->r, rig_output_gradient(&t->of), n, 3);
}

static void bench_end(bench *t) {
    free(t->x);
    rig_end(&t->of);
}

static void near(const ulp_layer_kind *kind, const char *what, size_t i, float have, double expected, double bound) {
    if (!(fabs((double)have - expected) <= bound))
        fail_msg("%s: %s %zu is %g, not %g (bound %g)", kind->example, what, i, (double)have, expected, bound);
}

/* Check the example net of a kind: forward against forward64, dx and dw against finite differences. */
static void check_layer(const ulp_layer_kind *kind) {
    bench t;
    bench_start(&t, kind->example, example_dims(kind));
    const ulp_net *net = &t.of.model.net;
    size_t m = B * ulp_dims_size(net->in), n = B * ulp_dims_size(net->out);
    assert_true(net->widest <= WIDEST && net->params <= PARAMS);
    rig_forward(&t.of);
    rig_backward(&t.of);
    scalar_of(&t);
    /* bound: binary32 sums of at most WIDEST terms of at most 2, and h^2 f''' / 6 of the finite difference */
    double bound = (double)(2 * WIDEST * WIDEST) * 0x1p-24 + 1e-9;
    for (size_t i = 0; i < n; i++) near(kind, "output", i, rig_output(&t.of)[i], t.y[i], bound);
    for (size_t i = 0; i < m && !net->layers->kind->reads_tokens; i++)
        near(kind, "gradient of the input", i, t.of.model.grad[0][i], slope(&t, &t.x[i]), bound);
    for (size_t i = 0; i < net->params; i++)
        near(kind, "gradient of weight", i, t.of.model.wgrad[i], slope(&t, &t.w[i]), bound);
    bench_end(&t);
}

TEST(layer_gradients) {
    size_t kinds = 0;
    for (; ulp_layer_kind_get(kinds); kinds++) /* dropout depends on random words; t_layers.c tests it */
        if (ulp_layer_kind_get(kinds)->forward64) check_layer(ulp_layer_kind_get(kinds));
    assert_true(kinds >= 3);
}

/* The mean cross-entropy of a net in binary64 with libm, computed from the words of the net without sim/. */
static double loss_of(const ulp_trainer *t, const double *w, const float *x, const uint8_t *label, size_t n) {
    static double a[B * WIDEST], c[WIDEST];
    double loss = 0.0;
    for (size_t b = 0; b < n; b++) {
        size_t m = ulp_dims_size(t->model.net.in);
        for (size_t i = 0; i < m; i++) a[i] = (double)x[b * m + i];
        for (size_t k = 0; k < t->model.net.count; k++) {
            const char *word = t->model.net.layers[k].word;
            const double *v = w + t->model.net.layers[k].first_param;
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

/* Whole nets with their loss: the trainer's scaled weight gradients against finite differences. */
TEST(net_gradients) {
    static const char *const nets[] = {"fc10", "fc12 relu fc10", "fc9 tanh fc8 relu fc10",
                                       "fc6 fc7 tanh tanh fc11 relu relu fc10"};
    for (size_t k = 0; k < COUNT_OF(nets); k++) {
        training_texts o = {.net = nets[k], .scaler = "static:5", .optimizer = "sgd,rate=0", .batch = B, .seed = 3};
        ulp_trainer *t = trainer_of(&digits, &o);
        float *f = calloc(2 * t->model.net.params, sizeof *f), *g = f + t->model.net.params, x[B * 64];
        double *w = calloc(t->model.net.params, sizeof *w), loss;
        ulp_step step;
        assert_ok(ulp_trainer_weights(t, f, NULL));
        for (size_t i = 0; i < t->model.net.params; i++) w[i] = (double)f[i];
        assert_ok(ulp_trainer_step(t, &step));
        assert_ok(t->pass.run.backend->download(x, t->model.tensor[0], sizeof x));
        assert_ok(t->pass.run.backend->download(g, t->model.wgrad, t->model.net.params * sizeof *g));
        loss = loss_of(t, w, x, t->label, B);
        assert_true(fabs(step.loss - loss) < 1e-5);
        for (size_t i = 0; i < t->model.net.params; i += 7) {
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

TESTS(load_digits, free_digits)

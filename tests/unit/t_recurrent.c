/* t_recurrent.c - recurrent layers against scalar loops, bit for bit; their initial weights, and training with them. */

#include "layering.h"
#include "training.h"

/* ---- a model under a policy; inputs and weights are values of the policy's formats ---- */

enum { B = 3, T = 4, F = 5, N = 3, GATES = 4, MANY = 64 };

/* x (n) = seeded numbers of magnitude up to `size`, rounded at a point. */
static void numbers(const rig *r, float *x, size_t n, ulp_point_kind point, uint64_t stream, double size) {
    for (size_t i = 0; i < n; i++) {
        double u = size * (2.0 * ulp_random_uniform((ulp_stream){5, stream, 0}, i) - 1.0);
        x[i] = (float)ulp_round(u, &r->policy.at[point].format, (ulp_rule){0}, 0);
    }
}

static void start(rig *r, const char *net, const char *policy) {
    rig_start(r, net, (ulp_dims){F, 1, T}, B, policy);
    r->pass.run.seed = 77;
    numbers(r, r->w, r->model.net.params, ULP_AT_WEIGHT, 1, 0.8);
    numbers(r, rig_input(r), B * ulp_dims_size(r->model.net.in), ULP_AT_ACT, 2, 2.0);
    numbers(r, rig_output_gradient(r), B * ulp_dims_size(r->model.net.out), ULP_AT_AGRAD, 3, 1.0);
}

static void trip(rig *r) {
    rig_forward(r);
    rig_backward(r);
}

/* ---- the formulas in the head comments of rnn.c, gru.c and lstm.c, one number at a time ---- */

static const ulp_policy *policy;
static const float *W, *U, *bias;

static ulp_stream stream_of(uint32_t use, size_t layer, size_t lane, uint64_t first) {
    return (ulp_stream){77, ulp_stream_id(use, 0, layer, (uint64_t)lane << 28 | 3), first};
}

/* x rounded at a point as element i of an array of layer 0. */
static double at(ulp_point_kind point, size_t lane, size_t i, double x) {
    ulp_stream stream = stream_of(point, point == ULP_AT_ACT, lane, 0);
    return ulp_round(x, &policy->at[point].format, policy->at[point].rule, ulp_random_word(stream, i));
}

/* c + a (k) b (k) as element i of a product. */
static double dot(const ulp_datapath *datapath, uint32_t use, size_t lane, size_t i, double c, ulp_products products) {
    return ulp_dot(datapath, c, products, stream_of(use, 0, lane, i * ulp_datapath_words(datapath, products.k)));
}

/* The numbers of one pass through a layer. Gradients have zeros at index T, forward tensors at index T + 1. */
typedef struct direct {
    size_t gates, w_from, u_to; /* G / N, and the gates in which W and U take part */
    double x[T][B][F], s[T][B][GATES * N], g[T + 2][B][GATES * N], c[T + 2][B][N], h[T + 2][B][N]; /* step t at t + 1 */
    double dh[T + 1][B][N], dc[T + 1][B][N], ds[T + 1][B][GATES * N];
} direct;

static void direct_sums(direct *d, size_t t, size_t b) {
    const ulp_datapath *path = &policy->forward;
    size_t G = d->gates * N, w = (d->gates - d->w_from) * N, u = d->u_to * N;
    for (size_t j = 0; j < G; j++) {
        double one = 1.0, first = (double)bias[j], column[MANY], *s = &d->s[t][b][j];
        *s = dot(path, ULP_USE_BIAS, 8 * t, b * G + j, 0.0, (ulp_products){&one, &first, 1, NULL, NULL});
        if (j >= G - w) {
            for (size_t i = 0; i < F; i++) column[i] = (double)W[i * w + j - (G - w)];
            *s = dot(path, ULP_USE_FORWARD, 8 * t, b * w + j - (G - w), *s,
                     (ulp_products){d->x[t][b], column, F, NULL, NULL});
        }
        if (j < u) {
            for (size_t i = 0; i < N; i++) column[i] = (double)U[i * u + j];
            *s =
                dot(path, ULP_USE_FORWARD, 8 * t + 1, b * u + j, *s, (ulp_products){d->h[t][b], column, N, NULL, NULL});
        }
    }
}

static void rnn_forward(direct *d, size_t t, size_t b, size_t j) {
    d->h[t + 1][b][j] = at(ULP_AT_ACT, 8 * t, b * N + j, ulp_tanh(d->s[t][b][j]));
}

static void gru_forward(direct *d, size_t t, size_t b, size_t j) {
    double *s = d->s[t][b], *g = d->g[t + 1][b];
    double q = g[j] = at(ULP_AT_ACT, 8 * t, b * 3 * N + j, s[j]);
    double r = g[N + j] = at(ULP_AT_ACT, 8 * t, b * 3 * N + N + j, ulp_sigmoid(s[N + j]));
    double z = g[2 * N + j] = at(ULP_AT_ACT, 8 * t, b * 3 * N + 2 * N + j, ulp_sigmoid(s[2 * N + j]));
    double n = g[3 * N + j] = at(ULP_AT_ACT, 8 * t + 1, b * N + j, ulp_tanh(s[3 * N + j] + r * q));
    d->h[t + 1][b][j] = at(ULP_AT_ACT, 8 * t + 2, b * N + j, (1.0 - z) * n + z * d->h[t][b][j]);
}

static void lstm_forward(direct *d, size_t t, size_t b, size_t j) {
    double *s = d->s[t][b], *g = d->g[t + 1][b];
    for (size_t k = 0; k < 4; k++)
        g[k * N + j] =
            at(ULP_AT_ACT, 8 * t, b * 4 * N + k * N + j, k < 3 ? ulp_sigmoid(s[k * N + j]) : ulp_tanh(s[k * N + j]));
    double c = d->c[t + 1][b][j] = at(ULP_AT_ACT, 8 * t + 1, b * N + j, g[N + j] * d->c[t][b][j] + g[j] * g[3 * N + j]);
    d->h[t + 1][b][j] = at(ULP_AT_ACT, 8 * t + 2, b * N + j, g[2 * N + j] * ulp_tanh(c));
}

/* The gradients of step t from dy and p, the product of step t + 1. */
static void rnn_backward(direct *d, size_t t, size_t b, size_t j, double dy, double p) {
    double h = d->h[t + 1][b][j], dh = d->dh[t][b][j] = at(ULP_AT_AGRAD, 8 * t + 1, b * N + j, dy + p);
    d->ds[t][b][j] = at(ULP_AT_AGRAD, 8 * t + 2, b * N + j, dh * (1.0 - h * h));
}

static void gru_backward(direct *d, size_t t, size_t b, size_t j, double dy, double p) {
    const double *g = d->g[t + 1][b];
    double q = g[j], r = g[N + j], z = g[2 * N + j], n = g[3 * N + j];
    double dh = d->dh[t][b][j] =
        at(ULP_AT_AGRAD, 8 * t + 1, b * N + j, dy + p + d->dh[t + 1][b][j] * d->g[t + 2][b][2 * N + j]);
    double dn = dh * (1.0 - z) * (1.0 - n * n);
    double ds[4] = {dn * r, dn * q * r * (1.0 - r), dh * (d->h[t][b][j] - n) * z * (1.0 - z), dn};
    for (size_t k = 0; k < 4; k++) d->ds[t][b][k * N + j] = at(ULP_AT_AGRAD, 8 * t + 2, b * 4 * N + k * N + j, ds[k]);
}

static void lstm_backward(direct *d, size_t t, size_t b, size_t j, double dy, double p) {
    const double *gate = d->g[t + 1][b];
    double i = gate[j], f = gate[N + j], o = gate[2 * N + j], g = gate[3 * N + j], tc = ulp_tanh(d->c[t + 1][b][j]);
    double dh = d->dh[t][b][j] = at(ULP_AT_AGRAD, 8 * t + 1, b * N + j, dy + p);
    double dc = d->dc[t][b][j] =
        at(ULP_AT_AGRAD, 8 * t + 2, b * N + j, d->dc[t + 1][b][j] * d->g[t + 2][b][N + j] + dh * o * (1.0 - tc * tc));
    double ds[4] = {dc * g * i * (1.0 - i), dc * d->c[t][b][j] * f * (1.0 - f), dh * tc * o * (1.0 - o),
                    dc * i * (1.0 - g * g)};
    for (size_t k = 0; k < 4; k++) d->ds[t][b][k * N + j] = at(ULP_AT_AGRAD, 8 * t + 3, b * 4 * N + k * N + j, ds[k]);
}

typedef struct cell {
    const char *word;
    size_t gates, w_from, u_to;
    void (*forward)(direct *, size_t, size_t, size_t);
    void (*backward)(direct *, size_t, size_t, size_t, double, double);
} cell;

static const cell cells[] = {
    {"rnn3", 1, 0, 1, rnn_forward, rnn_backward},
    {"gru3", 4, 1, 3, gru_forward, gru_backward},
    {"lstm3", 4, 0, 4, lstm_forward, lstm_backward},
};

/* p = ds_(t+1) U' of unit j. */
static double direct_product(const direct *d, size_t t, size_t b, size_t j) {
    size_t u = d->u_to * N;
    double row[MANY];
    for (size_t i = 0; i < u; i++) row[i] = (double)U[j * u + i];
    return t + 1 == T ? 0.0
                      : dot(&policy->backward, ULP_USE_BACKWARD, 8 * t + 1, b * N + j, 0.0,
                            (ulp_products){d->ds[t + 1][b], row, u, NULL, NULL});
}

/* Check the gradient of one weight: element i of the product of a, over samples and time, and column j of ds. */
static void check_wgrad(const direct *d, float got, size_t param, uint32_t use, size_t lane, size_t i, const double *a,
                        size_t j) {
    double column[T * B];
    for (size_t k = 0; k < T * B; k++) column[k] = d->ds[k / B][k % B][j];
    double sum = dot(&policy->backward, use, lane, i, 0.0, (ulp_products){a, column, T * B, NULL, NULL});
    assert_true((double)got == at(ULP_AT_WGRAD, 0, param, sum));
}

static void check_wgrads(const direct *d, const float *dw) {
    size_t G = d->gates * N, w = (d->gates - d->w_from) * N, u = d->u_to * N;
    double a[T * B];
    for (size_t i = 0; i < F; i++)
        for (size_t j = 0; j < w; j++) {
            for (size_t k = 0; k < T * B; k++) a[k] = d->x[k / B][k % B][i];
            check_wgrad(d, dw[i * w + j], i * w + j, ULP_USE_WPRODUCT, 0, i * w + j, a, G - w + j);
        }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < u; j++) {
            for (size_t k = 0; k < T * B; k++) a[k] = d->h[k / B][k % B][i];
            check_wgrad(d, dw[F * w + i * u + j], F * w + i * u + j, ULP_USE_WPRODUCT, 1, i * u + j, a, j);
        }
    for (size_t k = 0; k < T * B; k++) a[k] = 1.0;
    for (size_t j = 0; j < G; j++)
        check_wgrad(d, dw[F * w + N * u + j], F * w + N * u + j, ULP_USE_BPRODUCT, 0, j, a, j);
}

static void check_dx(const direct *d, const float *dx) {
    size_t G = d->gates * N, w = (d->gates - d->w_from) * N;
    double row[MANY];
    for (size_t t = 0; t < T; t++)
        for (size_t b = 0; b < B; b++)
            for (size_t i = 0; i < F; i++) {
                for (size_t j = 0; j < w; j++) row[j] = (double)W[i * w + j];
                double sum = dot(&policy->backward, ULP_USE_BACKWARD, 0, (t * B + b) * F + i, 0.0,
                                 (ulp_products){d->ds[t][b] + G - w, row, w, NULL, NULL});
                size_t place = (b * F + i) * T + t;
                /* the net's input is tensor 0 */
                assert_true((double)dx[place] == at(ULP_AT_AGRAD, 0, place, sum));
            }
}

static void check_cell(const cell *c, const char *name) {
    static direct d;
    rig t;
    start(&t, c->word, name);
    trip(&t);
    memset(&d, 0, sizeof d);
    d.gates = c->gates;
    d.w_from = c->w_from;
    d.u_to = c->u_to;
    policy = &t.policy;
    W = t.w;
    U = W + F * (c->gates - c->w_from) * N;
    bias = U + N * c->u_to * N;
    for (size_t i = 0; i < B * F * T; i++) d.x[i % T][i / (F * T)][i / T % F] = (double)t.model.tensor[0][i];
    for (size_t s = 0; s < T; s++)
        for (size_t b = 0; b < B; b++) {
            direct_sums(&d, s, b);
            for (size_t j = 0; j < N; j++) c->forward(&d, s, b, j);
            for (size_t j = 0; j < N; j++)
                assert_true((double)t.model.tensor[1][(b * N + j) * T + s] == d.h[s + 1][b][j]);
        }
    for (size_t s = T; s-- > 0;)
        for (size_t b = 0; b < B; b++)
            for (size_t j = 0; j < N; j++)
                c->backward(&d, s, b, j, (double)t.model.grad[1][(b * N + j) * T + s], direct_product(&d, s, b, j));
    check_wgrads(&d, t.model.wgrad);
    check_dx(&d, t.model.grad[0]);
    rig_end(&t);
}

TEST(cells_bit_for_bit) {
    static const char *const names[] = {"fp32", "mixed:bf16", "mixed:fp16,acc=serial:bf16:sr/8,mode=sr/5",
                                        "mixed:e4m3,acc=chunk4:fp16:srb/6,agrad=e5m2,mode=sra"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (size_t k = 0; k < COUNT_OF(cells); k++) check_cell(&cells[k], names[i]);
}

/* to (rows,T) = from (rows,T) against time. */
static void turned(float *to, const float *from, size_t rows) {
    for (size_t i = 0; i < rows * T; i++) to[i] = from[i / T * T + T - 1 - i % T];
}

/* Copy half `which` of the outputs of a bidirectional layer, or of their gradients, from (B,2,n) to (B,n). */
static void half_of(float *to, const float *from, size_t which, size_t n) {
    for (size_t b = 0; b < B; b++) memcpy(to + b * n, from + (2 * b + which) * n, n * sizeof *to);
}

/* A bidirectional layer is two layers: one reads the sequence, the other reads it against time. Each direction has
 * random words of its own. */
static void check_directions(const char *name) {
    enum { M = F * T, H = N * T };
    rig both, one[2];
    float y[B * H], dy[B * H], back[B * M], sum[B * M];
    char word[16];
    snprintf(word, sizeof word, "bigru%d", N);
    start(&both, word, name);
    trip(&both);
    const size_t params = both.model.net.params / 2;
    const int random = ulp_mode_is_stochastic(both.policy.at[ULP_AT_ACT].rule.mode);
    for (size_t which = 0; which < 2; which++) {
        rig *t = &one[which];
        start(t, word + 2, name);
        assert_int_equal(t->model.net.params, params);
        memcpy(t->w, both.w + which * params, params * sizeof *t->w);
        half_of(dy, both.model.grad[1], which, H);
        memcpy(t->model.tensor[0], both.model.tensor[0], B * M * sizeof *y);
        memcpy(t->model.grad[1], dy, sizeof dy);
        if (which) turned(t->model.tensor[0], both.model.tensor[0], B * F), turned(t->model.grad[1], dy, B * N);
        trip(t);
        half_of(y, both.model.tensor[1], which, H);
        if (which) memcpy(dy, y, sizeof y), turned(y, dy, B * N);
        const int same = memcmp(y, t->model.tensor[1], sizeof y) == 0 &&
                         memcmp(both.model.wgrad + which * params, t->model.wgrad, params * sizeof *y) == 0;
        assert_int_equal(same, !(random && which));
    }
    turned(back, one[1].model.grad[0], B * F);
    for (size_t i = 0; i < B * M; i++) sum[i] = one[0].model.grad[0][i] + back[i];
    /* where a layer rounds its dx to fewer bits than binary32, dx is not the sum of two rounded gradients */
    assert_int_equal(memcmp(sum, both.model.grad[0], sizeof sum) == 0, strcmp(name, "fp32") == 0);
    rig_end(&both), rig_end(&one[0]), rig_end(&one[1]);
}

TEST(directions) {
    static const char *const names[] = {"fp32", "mixed:bf16", "mixed:fp16,acc=serial:bf16:sr/8,mode=sr/5"};
    ulp_net net;
    for (size_t i = 0; i < COUNT_OF(names); i++) check_directions(names[i]);
    assert_ok(ulp_net_parse(&net, "bigru3", (ulp_dims){2, 1, 256}, &error));
    ulp_net_release(&net);
    assert_int_equal(ulp_net_parse(&net, "bigru3", (ulp_dims){2, 1, 257}, &error), ULP_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "'bigru3' does not take an input of 2 x 1 x 257"));
    assert_int_equal(ulp_net_parse(&net, "bigru0", (ulp_dims){2, 1, 9}, &error), ULP_BAD_ARGUMENT);
}

/* ---- training ---- */

static const char stochastic[] = "mixed:fp16,acc=serial:bf16:sr/8,mode=sr";

TEST(threads) {
    static float w[3][8192];
    for (int threads = 1; threads <= 3; threads++) {
        training_texts o = {"rows bigru9 gru17 lstm9 conv5@1 last fc10",
                            stochastic,
                            "static:4",
                            "sgd,rate=0.05,momentum=0.9",
                            .batch = 31,
                            .seed = 9};
        ulp_threads_set(threads);
        ulp_trainer *t = trainer_of(&digits, &o);
        for (int i = 0; i < 5; i++) assert_ok(ulp_trainer_step(t, NULL));
        assert_true(t->model.net.params <= 8192);
        assert_ok(ulp_trainer_weights(t, w[threads - 1], NULL));
        ulp_trainer_free(t);
    }
    ulp_threads_set(0);
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    assert_memory_equal(w[0], w[2], sizeof w[0]);
}

/* Initial weights: the bias of the forget gate is 1, every other bias 0; standard deviations are as documented. */
TEST(initial_weights) {
    enum { IN = 40, UNITS = 50, G = 4 * UNITS };
    ulp_net net;
    double sum[2] = {0};
    assert_ok(ulp_net_parse(&net, "lstm50", (ulp_dims){IN, 1, 2}, &error));
    float *w = calloc(net.params, sizeof *w);
    assert_non_null(w);
    ulp_net_init(&net, w, NULL, 1, 0.0);
    for (size_t i = 0; i < (IN + UNITS) * G; i++) sum[i >= IN * G] += (double)w[i] * (double)w[i];
    /* five standard errors of a variance */
    assert_true(fabs(sum[0] / (IN * G) * (IN + UNITS) / 2.0 - 1.0) < 5.0 * sqrt(2.0 / (IN * G)));
    assert_true(fabs(sum[1] / (double)G - 1.0) < 5.0 * sqrt(2.0 / (double)(UNITS * G)));
    for (size_t j = 0; j < G; j++) assert_true(w[(IN + UNITS) * G + j] == (j / UNITS == 1 ? 1.0f : 0.0f));
    free(w);
    ulp_net_release(&net);
}

TEST(learns) {
    static const char *const nets[] = {"rows rnn24 last fc10", "rows gru16 last fc10", "columns lstm16 last fc10"};
    ulp_threads_set(1); /* the products of a step are too small for several threads */
    for (size_t i = 0; i < COUNT_OF(nets); i++) {
        training_texts o = {nets[i],     "mixed:fp16",
                            "pytorch",   i ? "sgd,rate=0.1,momentum=0.9" : "sgd,rate=0.03,momentum=0.9",
                            .batch = 32, .seed = 1};
        ulp_train_result r;
        assert_ok(run_from_texts(&r, &digits, &o, 250, &error));
        print_message("%s: test %.2f %%, %d skipped\n", nets[i], 100 * r.test.accuracy, (int)r.skipped);
        assert_true(!r.diverged && r.test.accuracy > 0.85);
    }
    ulp_threads_set(0);
}

TESTS(load_digits, free_digits)

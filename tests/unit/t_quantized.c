/* t_quantized.c - the integer engine of quantized_inference against a network computed in 64-bit integers. */
#include "support.h"
#include "texts.h"

#include "experiments/quantized_inference/engine.c"

/* The outputs of fc6 have both signs, and both are rounded. */
#define NET "conv3@3 relu pool2 fc6 fc10"

enum { CONV, FC6 = 3, FC10 = 4, COUNT = 5 }; /* indices of layers */
enum {
    SIDE = 8,
    PLACES = 6,
    KERNELS = 3,
    POOLED = 3,
    FLAT = KERNELS * POOLED * POOLED,
    HIDDEN = 6,
    CLASSES = 10,
    WEIGHTS_MAX = 512
};

static ulp_data data;
static float weights[WEIGHTS_MAX];

static int load(void **state) {
    ulp_error why;
    ulp_trainer *t;
    (void)state;
    ulp_threads_set(1); /* the products are too small for several threads */
    const training_texts options = {.net = NET, .optimizer = "sgd,rate=0.05,momentum=0.9", .batch = 32, .seed = 3};
    if (ulp_data_load(&data, "digits", NULL, 1, &why) != ULP_OK ||
        trainer_from_texts(&t, &data, &options, &why) != ULP_OK)
        return 1;
    for (int i = 0; i < 150; i++)
        if (ulp_trainer_step(t, NULL) != ULP_OK) return 1;
    int failed = t->model.net.params > WEIGHTS_MAX || ulp_trainer_weights(t, weights, NULL) != ULP_OK;
    ulp_trainer_free(t);
    return failed;
}

static int unload(void **state) {
    (void)state;
    ulp_data_release(&data);
    return 0;
}

/* ---- the network in 64-bit integers ---- */

typedef struct accumulator {
    int bits, saturates; /* bits = 0: there is no limit */
} accumulator;

static int64_t add(int64_t sum, int64_t term, accumulator a) {
    const int64_t least = -((int64_t)1 << 15), most = -least - 1;
    sum += term;
    if (a.bits == 0) return sum;
    if (a.saturates) return sum < least ? least : sum > most ? most : sum;
    while (sum > most) sum -= 65536;
    while (sum < least) sum += 65536;
    return sum;
}

/* floor(sum S + 1/2) with S rounded to 31 bits, limited to the codes of y. A search finds it without a shift. */
static int64_t rescaled(int64_t sum, double scale, const code *y) {
    int e;
    const int64_t twice = 2 * sum * llrint(frexp(scale, &e) * 0x1p31); /* 2 sum S 2^(31 - e) */
    int64_t low = (int64_t)y->low, high = (int64_t)y->high;
    while (low < high) { /* the largest code q with q - 1/2 <= sum S */
        const int64_t q = high - (high - low) / 2;
        const double bound = ldexp((double)(2 * q - 1), 31 - e); /* exact */
        const int above = fabs(bound) >= 0x1p62 ? bound > 0 : (int64_t)bound > twice;
        if (above) high = q - 1;
        else low = q;
    }
    return low;
}

static int64_t quantized(double x, const code *c) {
    const double q = nearbyint(x / c->scale);
    return (int64_t)fmax(c->low, fmin(c->high, q));
}

/* The integers of all layers: for each layer its weights, then its biases. */
static int64_t fixed[WEIGHTS_MAX];

static void fix(const code *x, const code *w) {
    static const struct {
        size_t layer, weights, biases;
    } layers[] = {{CONV, KERNELS * 9, KERNELS}, {FC6, FLAT * HIDDEN, HIDDEN}, {FC10, HIDDEN * CLASSES, CLASSES}};
    size_t at = 0;
    for (size_t k = 0; k < COUNT_OF(layers); k++) {
        const code *in = &x[layers[k].layer], *own = &w[layers[k].layer];
        for (size_t i = 0; i < layers[k].weights; i++, at++) fixed[at] = quantized((double)weights[at], own);
        for (size_t i = 0; i < layers[k].biases; i++, at++)
            fixed[at] = llrint((double)weights[at] / (in->scale * own->scale));
    }
}

/* z (CLASSES) = the sums of the last layer for one sample. */
static void naive(int64_t *z, const uint8_t *pixel, const code *x, const code *w, accumulator a) {
    int64_t image[SIDE * SIDE], flat[FLAT], hidden[HIDDEN];
    size_t first = 0;
    for (size_t i = 0; i < SIDE * SIDE; i++)
        image[i] = quantized((double)((float)pixel[i] / (float)data.white), &x[CONV]);
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t p = 0; p < POOLED * POOLED; p++) {
            int64_t most = 0; /* of relu */
            for (size_t place = 0; place < 4; place++) {
                const size_t r = p / POOLED * 2 + place / 2, c = p % POOLED * 2 + place % 2;
                int64_t sum = 0;
                for (size_t i = 0; i < 9; i++)
                    sum = add(sum, image[(r + i / 3) * SIDE + c + i % 3] * fixed[k * 9 + i], a);
                const int64_t y =
                    rescaled(sum + fixed[KERNELS * 9 + k], x[CONV].scale * w[CONV].scale / x[FC6].scale, &x[FC6]);
                most = y > most ? y : most;
            }
            flat[k * POOLED * POOLED + p] = most;
        }
    first = KERNELS * 10;
    for (size_t j = 0; j < HIDDEN; j++) {
        int64_t sum = 0;
        for (size_t i = 0; i < FLAT; i++) sum = add(sum, flat[i] * fixed[first + i * HIDDEN + j], a);
        hidden[j] =
            rescaled(sum + fixed[first + FLAT * HIDDEN + j], x[FC6].scale * w[FC6].scale / x[FC10].scale, &x[FC10]);
    }
    first += (FLAT + 1) * HIDDEN;
    for (size_t j = 0; j < CLASSES; j++) {
        z[j] = 0;
        for (size_t i = 0; i < HIDDEN; i++) z[j] = add(z[j], hidden[i] * fixed[first + i * CLASSES + j], a);
        z[j] += fixed[first + HIDDEN * CLASSES + j];
    }
}

/* ---- tests ---- */

static void start(engine *e) {
    const ulp_backend *backend;
    ulp_net net;
    assert_ok(ulp_backend_get(&backend, NULL));
    assert_ok(ulp_net_parse(&net, NET, data.dims, NULL));
    assert_ok(engine_start(e, backend, &data, &net, weights));
    ulp_net_release(&net);
    assert_ok(engine_round_weights(e));
    assert_ok(engine_run_floating(e, 1));
    engine_begin(e);
    assert_ok(engine_run_floating(e, 0));
}

/* The result of every sample in 2 to 8 bits, for both schemes and three accumulators; every sum of the last batch. */
TEST(integers) {
    static const struct {
        accumulator a;
        const char *datapath;
    } kinds[] = {{{0, 0}, NULL}, {{16, 0}, "serial:q16.0:wrap:rne"}, {{16, 1}, "serial:q16.0:sat:rne"}};
    const size_t tests = data.n - data.n_train, last = (tests - 1) / BATCH * BATCH;
    size_t narrowed = 0;
    engine e;
    start(&e);
    assert_true(e.agreed == tests && e.right > tests / 2);
    for (int bits = 2; bits <= 8; bits++)
        for (int scheme = AFFINE; scheme <= SYMMETRIC; scheme++)
            for (size_t kind = 0; kind < COUNT_OF(kinds); kind++) {
                code x[COUNT], w[COUNT];
                ulp_datapath datapath;
                size_t right = 0;
                for (size_t i = 0; i < COUNT; i++) x[i] = engine_code_of(e.low[i], e.high[i], bits, scheme);
                assert_ok(engine_put_weights(&e, w, bits, scheme));
                if (kinds[kind].datapath) assert_ok(ulp_datapath_parse(&datapath, kinds[kind].datapath));
                fix(x, w);
                engine_begin(&e);
                assert_ok(engine_run_integers(&e, x, w, kinds[kind].datapath ? &datapath : NULL));
                for (size_t s = 0; s < tests; s++) {
                    int64_t z[CLASSES];
                    size_t best = 0;
                    naive(z, data.pixel + (data.n_train + s) * data.features, x, w, kinds[kind].a);
                    for (size_t j = 0; j < CLASSES; j++) {
                        if (z[j] > z[best]) best = j;
                        if (s >= last) assert_true((double)e.sums[(s - last) * CLASSES + j] == (double)z[j]);
                    }
                    right += best == data.label[data.n_train + s];
                }
                assert_int_equal(e.right, right);
                if (kind == 0) assert_int_equal(e.changed, 0);
                narrowed += e.changed;
            }
    assert_true(narrowed > 0); /* some sum does not fit 16 bits */
    engine_end(&e);
}

/* The codes cover the range up to half a step, 0 has a code, and only the symmetric scheme leaves one code unused. */
TEST(codes) {
    static const double ranges[][2] = {{0, 1}, {-0.3, 2}, {-5, -1}, {2, 3}, {0, 0}, {-1e-8, 1e-9}};
    for (size_t i = 0; i < COUNT_OF(ranges); i++)
        for (int bits = 2; bits <= 8; bits++) {
            const double low = fmin(ranges[i][0], 0), high = fmax(ranges[i][1], 0);
            const code a = engine_code_of(ranges[i][0], ranges[i][1], bits, AFFINE),
                       s = engine_code_of(ranges[i][0], ranges[i][1], bits, SYMMETRIC);
            assert_true(a.low <= 0 && a.high >= 0 && a.high - a.low == ldexp(1, bits) - 1);
            assert_true(fabs(a.low * a.scale - low) <= 0.501 * a.scale || high == low);
            assert_true(fabs(a.high * a.scale - high) <= 0.501 * a.scale || high == low);
            assert_true(s.low == -s.high && s.high == ldexp(1, bits - 1) - 1);
            if (high > low) assert_true(fabs(s.high * s.scale - fmax(-low, high)) <= 1e-12 * high - 1e-12 * low);
        }
}

/* Agreement counts results equal to those of binary32, whether they are right or not. */
TEST(agreement) {
    engine e;
    start(&e);
    const size_t tests = data.n - data.n_train, right = e.right;
    e.pass.now.step = 1;
    for (size_t i = 0; i < tests; i++) e.answer[i] = (uint8_t)(e.answer[i] == 3 ? 4 : e.answer[i]);
    size_t threes = 0;
    engine_begin(&e);
    assert_ok(engine_run_floating(&e, 0));
    for (size_t i = 0; i < tests; i++) threes += data.label[data.n_train + i] == 3;
    assert_true(e.right == right && e.agreed < tests && tests - e.agreed < 2 * threes);
    engine_end(&e);
}

TESTS(load, unload)

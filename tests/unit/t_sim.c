/* t_sim.c - small functions of sim/: relu, softmax, the number of right answers, arenas and tensors, the order of
 * epochs. */

#include "sim/losses/answers.h"
#include "training.h"

TEST(relu) {
    static const float x[] = {-1.0f, -0.0f, 0.0f, 2.0f, INFINITY, -INFINITY, NAN}, dy[] = {1, 2, 3, 4, 5, 6, 7};
    float y[7], dx[7];
    const ulp_backend *backend;
    assert_ok(ulp_backend_get(&backend, NULL));
    assert_ok(ulp_backend_relu(backend, y, x, 7));
    assert_ok(ulp_backend_relu_slope(backend, dx, dy, y, 7));
    assert_true(y[0] == 0.0f && y[1] == 0.0f && y[2] == 0.0f && y[3] == 2.0f && isinf(y[4]) && y[5] == 0.0f &&
                isnan(y[6]));
    assert_true(dx[0] == 0.0f && dx[1] == 0.0f && dx[2] == 0.0f && dx[3] == 4.0f && dx[4] == 5.0f && dx[5] == 0.0f &&
                dx[6] == 7.0f);
}

TEST(softmax) {
    static const float z[] = {0, 0, 0, 1000, 0, -1000, 1, 2, 3, NAN, 0, 0, INFINITY, 0, 0};
    static const uint8_t label[] = {0, 2, 1, 0, 0};
    double p[15], loss[5], dz[15];
    float rounded[15];
    const ulp_backend *backend;
    assert_ok(ulp_backend_get(&backend, NULL));
    assert_ok(ulp_backend_softmax(backend, p, loss, z, (ulp_labels){label, 5, 3}));
    assert_true(fabs(p[0] - 1.0 / 3) < 1e-15 && fabs(loss[0] - log(3.0)) < 1e-15);
    assert_true(p[3] == 1.0 && p[5] == 0.0 && loss[1] == 2000.0);
    assert_true(fabs(loss[2] - (log(1 + exp(-1) + exp(1)) + 0)) < 1e-14);
    assert_true(isnan(p[9]) && isnan(p[10]) && isnan(loss[3]) && isnan(loss[4]));
    for (int i = 0; i < 15; i++) rounded[i] = (float)p[i];
    assert_ok(ulp_backend_softmax_slope(backend, dz, rounded, (ulp_labels){label, 5, 3}, 1024.0));
    assert_true(fabs(dz[1] - 1024.0 / 15) < 1e-5 && fabs(dz[0] + 2048.0 / 15) < 1e-5);
    assert_true(dz[3] == 1024.0 / 5 && dz[5] == -1024.0 / 5);
}

TEST(count_right) {
    static const float z[] = {1, 2, 3, 3, 3, 1, NAN, 0, 0, 0, 0, NAN, NAN, NAN, NAN, -INFINITY, -INFINITY, -INFINITY};
    assert_int_equal(ulp_count_right(z, (const uint8_t[]){2, 0, 0, 0, 0, 0}, 6, 3),
                     3); /* a row with NaN is never right */
    assert_int_equal(ulp_count_right(z, (const uint8_t[]){1, 1, 1, 1, 1, 1}, 6, 3), 0);
}

TEST(family) {
    const ulp_backend *backend;
    ulp_arena f;
    float *a = NULL, *b = NULL;
    double *c = NULL;
    assert_ok(ulp_backend_get(&backend, NULL));
    ulp_arena_init(&f, backend);
    for (int pass = 0; pass < 2; pass++) {
        a = ulp_arena_take(&f, 3);
        b = ulp_arena_take(&f, 3000);
        c = ulp_arena_take64(&f, 5);
        if (pass == 0) assert_true(!a && !b && !c);
        if (pass == 0) assert_ok(ulp_arena_alloc(&f));
    }
    assert_true(a && b == a + 16 && (uintptr_t)c % 64 == 0 && (float *)(void *)c >= b + 3000);
    assert_null(ulp_arena_take(&f, 1)); /* the array was not counted, so there is no room */
    float host[3000];
    assert_ok(backend->download(host, b, sizeof host));
    for (int i = 0; i < 3000; i++) assert_true(host[i] == 0.0f);
    assert_ok(ulp_tensor_fill(backend, b, 2500, 1.5f));
    assert_ok(backend->download(host, b, sizeof host));
    for (int i = 0; i < 3000; i++) assert_true(host[i] == (i < 2500 ? 1.5f : 0.0f));
    host[0] = NAN, host[1] = -0.0f, host[2] = -INFINITY;
    assert_ok(backend->upload(b, host, 3 * sizeof *host));
    assert_ok(ulp_tensor_copy(backend, b + 1000, b, 999)); /* up to b[1998] */
    assert_ok(ulp_tensor_copy(backend, b, b + 2500, 0));
    float copied[2500];
    assert_ok(backend->download(copied, b, sizeof copied));
    assert_memory_equal(copied, host, 1000 * sizeof *host);
    assert_memory_equal(copied + 1000, host, 999 * sizeof *host);
    assert_memory_equal(copied + 1999, host + 1999, 501 * sizeof *host);
    ulp_backend lacking = *backend;
    lacking.permute = NULL;
    assert_int_equal(ulp_tensor_copy(&lacking, b, b + 1000, 3), ULP_UNSUPPORTED);
    ulp_arena_release(&f);
    ulp_arena_release(&f);
}

/* Each epoch has an order of its own. At rate 0 the loss of a step depends on its samples alone. */
TEST(epochs) {
    enum { EPOCHS = 3, BATCHES = 3 };
    double loss[EPOCHS][BATCHES];
    const training_texts o = {.net = "fc10", .policy = "fp32", .optimizer = "sgd,rate=0", .batch = 479, .seed = 1};
    assert_int_equal(load_digits(NULL), 0);
    ulp_trainer *t = trainer_of(&digits, &o);
    assert_int_equal(digits.n_train, BATCHES * o.batch);
    for (int i = 0; i < EPOCHS * BATCHES; i++) {
        ulp_step s;
        assert_ok(ulp_trainer_step(t, &s));
        loss[i / BATCHES][i % BATCHES] = s.loss;
    }
    for (int e = 1; e < EPOCHS; e++) {
        double differ = 0;
        assert_memory_not_equal(loss[e], loss[e - 1], sizeof loss[e]);
        for (int i = 0; i < BATCHES; i++) differ += loss[e][i] - loss[0][i];
        assert_true(fabs(differ) < 1e-5); /* an epoch has all samples once */
    }
    ulp_trainer_free(t);
    free_digits(NULL);
}

TESTS(NULL, NULL)

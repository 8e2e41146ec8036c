/* t_ctc.c - CTC: probabilities against sums over all paths, gradients, rounding, underflow, decoding. */

#include "sim/losses/answers.h"
#include "support.h"
#include "texts.h"

static ulp_error error;

enum { C_MAX = 5, T_MAX = 7, L_MAX = 4, S_MAX = 2 * L_MAX + 1, NO = ULP_NO_LABEL };

/* Sequences of labels 0 .. 2: empty, single, repeated, mixed; the last sequence needs 7 steps. */
static const uint8_t sequences[][L_MAX] = {{NO, NO, NO, NO}, {1, NO, NO, NO}, {0, 0, NO, NO},
                                           {0, 1, NO, NO},   {2, 1, 2, NO},   {1, 1, 1, 1}};
enum { SEQUENCES = COUNT_OF(sequences) };

/* ---- every path ---- */

/* The sequence of labels of a path: repetitions are merged, then blanks are removed. */
static size_t collapse(uint8_t *label, const size_t *path, size_t T, size_t blank) {
    size_t n = 0;
    for (size_t t = 0; t < T; t++)
        if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) label[n++] = (uint8_t)path[t];
    return n;
}

/* Returns the probability P of the labels for the probabilities p (C,T). e (C,T) = the share of P that comes from paths
 * with output c in step t. */
static double every_path(double *e, const double *p, const uint8_t *label, size_t L, size_t C, size_t T) {
    size_t path[T_MAX] = {0}, paths = 1;
    double P = 0.0;
    memset(e, 0, C * T * sizeof *e);
    for (size_t t = 0; t < T; t++) paths *= C;
    for (size_t k = 0; k < paths; k++) {
        uint8_t got[T_MAX];
        double product = 1.0;
        for (size_t t = 0, rest = k; t < T; t++, rest /= C) path[t] = rest % C;
        for (size_t t = 0; t < T; t++) product *= p[path[t] * T + t];
        if (collapse(got, path, T, C - 1) != L || memcmp(got, label, L) != 0) continue;
        P += product;
        for (size_t t = 0; t < T; t++) e[path[t] * T + t] += product;
    }
    for (size_t i = 0; i < C * T; i++) e[i] /= P;
    return P;
}

/* Seeded probabilities p (C,T); the sum of each step is 1. */
static void probabilities(double *p, size_t C, size_t T, uint64_t seed) {
    for (size_t t = 0; t < T; t++) {
        double sum = 0.0;
        for (size_t c = 0; c < C; c++)
            sum += p[c * T + t] = 0.02 + ulp_random_uniform((ulp_stream){seed, 1, 0}, c * T + t);
        for (size_t c = 0; c < C; c++) p[c * T + t] /= sum;
    }
}

static void logarithms(double *to, const double *p, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = log(p[i]);
}

static void check_sums(const double *p, const uint8_t *label, size_t C, size_t T, int linear) {
    double want_e[C_MAX * T_MAX], e[C_MAX * T_MAX], q[C_MAX * T_MAX], alpha[T_MAX * S_MAX], beta[T_MAX * S_MAX],
        row[S_MAX];
    size_t L = ulp_label_count(label, L_MAX), S = 2 * L + 1;
    const ulp_ctc_form form = {.linear = (uint8_t)linear};
    double want = every_path(want_e, p, label, L, C, T);
    if (linear) memcpy(q, p, sizeof q);
    else logarithms(q, p, C * T);
    double P = ulp_ctc_alpha(alpha, q, &(ulp_ctc_task){label, L, C, T}, &form);
    ulp_ctc_beta(beta, row, q, &(ulp_ctc_task){label, L, C, T}, &form);
    ulp_ctc_expected(e, alpha, beta, P, &(ulp_ctc_task){label, L, C, T}, &form);
    if (want == 0.0) { /* no path is long enough */
        assert_true(ulp_ctc_loss(P, &form) == INFINITY);
        for (size_t i = 0; i < C * T; i++) assert_true(isnan(e[i]));
        return;
    }
    /* bound: 4 operations for each of T steps, on sums of positive terms whose logarithms are below 64 */
    double bound = 4.0 * (double)T * 64.0 * 0x1p-52;
    assert_true(fabs(ulp_ctc_loss(P, &form) + log(want)) <= bound);
    for (size_t i = 0; i < C * T; i++) assert_true(fabs(e[i] - want_e[i]) <= 2.0 * bound);
    for (size_t t = 0; t < T; t++) { /* the sum of alpha beta is P in every step */
        double sum = 0.0;
        for (size_t s = 0; s < S; s++)
            sum += linear ? alpha[t * S + s] * beta[t * S + s] / P : exp(alpha[t * S + s] + beta[t * S + s] - P);
        assert_true(fabs(sum - 1.0) <= 2.0 * bound);
    }
}

TEST(every_path) {
    double p[C_MAX * T_MAX];
    for (size_t T = 1; T <= T_MAX; T++)
        for (size_t C = 4; C <= (T < 6 ? C_MAX : 4u); C++)
            for (size_t k = 0; k < SEQUENCES; k++)
                for (int linear = 0; linear < 2; linear++) {
                    probabilities(p, C, T, 10 * T + C);
                    check_sums(p, sequences[k], C, T, linear);
                }
}

/* ---- the loss in a pass ---- */

enum { B = 3, C = 4, T = 6 };

typedef struct bench {
    ulp_pass pass;
    ulp_policy policy;
    ulp_model model; /* any model that is large enough: it allocates the memory of the pass */
    ulp_arena arena;
    ulp_loss loss;
    float *z, *dz; /* (B,C,T) */
} bench;

static const ulp_data three = {.name = "three", .classes = 3, .labels = L_MAX};

static void bench_carve(void *own, ulp_arena *arena) {
    bench *t = own;
    ulp_loss_carve(&t->loss, arena, B, B);
    t->z = ulp_arena_take(arena, B * C * T);
    t->dz = ulp_arena_take(arena, B * C * T);
}

static void bench_start(bench *t, const char *policy, const char *loss) {
    const ulp_loss_kind *kind;
    memset(t, 0, sizeof *t);
    assert_ok(ulp_policy_parse(&t->policy, policy, &error));
    assert_ok(ulp_backend_get(&t->pass.run.backend, "cpu"));
    assert_ok(model_from_text(&t->model, "tanh", (ulp_dims){C, 1, T}, B, B, &error));
    assert_ok(ulp_loss_parse(&kind, loss, &error));
    assert_ok(ulp_loss_init(&t->loss, kind, t->model.net.out, &three, &error));
    t->pass.run.policy = &t->policy;
    t->pass.now.B = B;
    t->pass.run.seed = 5;
    assert_ok(ulp_model_alloc(&t->model, &t->pass, &t->arena, bench_carve, t));
    assert_ok(ulp_loss_ready(&t->loss, B));
    for (size_t i = 0; i < B * C * T; i++) t->z[i] = (float)(4.0 * ulp_random_uniform((ulp_stream){3, 1, 0}, i) - 2.0);
}

static void bench_end(bench *t) {
    ulp_loss_release(&t->loss);
    ulp_model_release(&t->model, &t->pass);
    ulp_arena_release(&t->arena);
}

static double step_of(bench *t, const uint8_t *label) {
    const ulp_loss_batch batch = {.layer = 1, .z = t->z, .dz = t->dz, .label = label};
    double mean;
    assert_ok(t->loss.kind->step(&t->loss, &t->pass, &batch, &mean));
    return mean;
}

/* The mean loss of B samples from z in binary64, by sums over all paths. */
static double mean_of(const double *z, const uint8_t *label) {
    double sum = 0.0, p[C * T], e[C * T];
    for (size_t b = 0; b < B; b++, z += C * T) {
        for (size_t t = 0; t < T; t++) {
            double total = 0.0;
            for (size_t c = 0; c < C; c++) total += exp(z[c * T + t]);
            for (size_t c = 0; c < C; c++) p[c * T + t] = exp(z[c * T + t]) / total;
        }
        sum -= log(every_path(e, p, label + b * L_MAX, ulp_label_count(label + b * L_MAX, L_MAX), C, T));
    }
    return sum / (double)B;
}

TEST(gradient) {
    for (int linear = 0; linear < 2; linear++)
        for (size_t k = 0; k + B < SEQUENCES; k++) {
            bench t;
            double z[B * C * T];
            const uint8_t *label = sequences[k];
            bench_start(&t, "fp32", linear ? "ctc-linear" : "ctc");
            t.pass.now.scales.log2 = 5;
            double mean = step_of(&t, label);
            for (size_t i = 0; i < B * C * T; i++) z[i] = (double)t.z[i];
            /* bound: 4 T roundings of logarithms below 32; the gradient is at most 1, with the errors of alpha and beta
             */
            double bound = 4 * T * 32 * 0x1p-24;
            assert_true(fabs(mean - mean_of(z, label)) <= bound);
            for (size_t i = 0; i < B * C * T; i++) {
                double at = z[i], h = 1e-5;
                z[i] = at + h;
                double up = mean_of(z, label);
                z[i] = at - h;
                double want = (up - mean_of(z, label)) / (2 * h);
                z[i] = at;
                assert_true(fabs((double)t.dz[i] / 32.0 - want) <= 2 * bound + 1e-9);
            }
            bench_end(&t);
        }
}

/* The loss of an impossible sequence is Inf, and its gradient is NaN; the other samples are not affected. */
TEST(impossible) {
    for (int linear = 0; linear < 2; linear++) {
        bench t;
        uint8_t label[B][L_MAX];
        ulp_score score = {0};
        memcpy(label[0], sequences[3], L_MAX);
        memcpy(label[1], sequences[5], L_MAX); /* 1 1 1 1 needs 7 steps, but there are 6 */
        memcpy(label[2], sequences[4], L_MAX);
        bench_start(&t, "fp32", linear ? "ctc-linear" : "ctc");
        assert_true(step_of(&t, label[0]) == INFINITY);
        for (size_t i = 0; i < B * C * T; i++) assert_true((i / (C * T) == 1) == (isnan(t.dz[i]) != 0));
        assert_ok(t.loss.kind->score(&t.loss, &t.pass, &score, t.z, label[0]));
        assert_true(score.loss == INFINITY && score.labels == 2 + 4 + 3 && score.edits >= 1);
        bench_end(&t);
    }
}

/* The two forms in binary32 agree within the bounds of their roundings. */
TEST(forms_agree) {
    enum { LONG = 60, CLASSES = 11, L = 6 };
    static double p[CLASSES * LONG], q[CLASSES * LONG], alpha[LONG * (2 * L + 1)];
    static const uint8_t label[L] = {3, 3, 1, 4, 1, 5};
    const ulp_format fp32 = named("fp32");
    const ulp_rounding rounding = {.format = &fp32};
    const ulp_ctc_form linear = ulp_ctc_form_of(1, rounding), logs = ulp_ctc_form_of(0, rounding);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (size_t i = 0; i < CLASSES * LONG; i++)
            p[i] = (double)(float)(0.3 + 0.6 * ulp_random_uniform((ulp_stream){seed, 1, 0}, i));
        for (size_t i = 0; i < CLASSES * LONG; i++) q[i] = (double)(float)log(p[i]);
        double a = ulp_ctc_loss(ulp_ctc_alpha(alpha, p, &(ulp_ctc_task){label, L, CLASSES, LONG}, &linear), &linear);
        double b = ulp_ctc_loss(ulp_ctc_alpha(alpha, q, &(ulp_ctc_task){label, L, CLASSES, LONG}, &logs), &logs);
        /* linear: relative errors of 3 roundings per step; logarithmic: absolute errors of 3 roundings per step, each
         * half of 2^-17, for numbers below 128 */
        double bound = 3 * LONG * 0x1p-24 * 1.01 + (3 * LONG + 1) * 0x1p-18;
        assert_true(isfinite(a) && fabs(a - b) <= bound);
    }
}

/* A sum that binary64 does not hold is rounded once: a directed mode rounds 1 + 2^-60 away from 1, in both forms. */
TEST(rounds_once) {
    static const uint8_t label[1] = {0};
    static const double p[4] = {1.0, 1.0, 0x1p-60, 0.0},
                        logs[4] = {-1.0, -1.0, -1.0, -0x1p-60}; /* (2,2); the second output is the blank */
    const ulp_format fp32 = named("fp32");
    const ulp_ctc_form linear = ulp_ctc_form_of(1, (ulp_rounding){&fp32, rule_of(ULP_RU, 0, 0), {0}, NULL}),
                       logarithmic = ulp_ctc_form_of(0, (ulp_rounding){&fp32, rule_of(ULP_RD, 0, 0), {0}, NULL});
    double alpha[2 * 3];
    ulp_ctc_alpha(alpha, p, &(ulp_ctc_task){label, 1, 2, 2}, &linear);
    assert_true(alpha[3 + 1] == 1.0 + 0x1p-23);
    ulp_ctc_alpha(alpha, logs, &(ulp_ctc_task){label, 1, 2, 2}, &logarithmic);
    assert_true(alpha[3] == -1.0 - 0x1p-23);
}

/* ---- underflow of the linear form ---- */

/* The loss of an empty sequence: T blanks with probability 1/2, so alpha_t = 2^-(t+1) exactly. */
static double halves(const char *format, size_t steps, int linear, ulp_stats *stats) {
    static double p[2 * 512], alpha[512];
    const ulp_format f = named(format);
    const ulp_ctc_form form = ulp_ctc_form_of(linear, (ulp_rounding){.format = &f, .stats = stats});
    for (size_t i = 0; i < 2 * steps; i++) p[i] = linear ? 0.5 : ulp_round(log(0.5), &f, (ulp_rule){0}, 0);
    return ulp_ctc_loss(ulp_ctc_alpha(alpha, p, &(ulp_ctc_task){NULL, 0, 2, steps}, &form), &form);
}

TEST(underflow) {
    static const struct {
        const char *format;
        size_t last;
    } ends[] = {{"fp16", 24}, {"bf16", 133}, {"fp32", 149}, {"e5m2", 16}, {"e4m3", 9}};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        /* 2^-last is the least positive number; its half is a tie and rounds to 0 */
        size_t last = ends[i].last;
        ulp_stats stats = {0};
        assert_true(named(ends[i].format).min_positive == ldexp(1.0, -(int)last));
        assert_true(fabs(halves(ends[i].format, last, 1, NULL) - (double)last * log(2.0)) <= 1e-12);
        assert_true(halves(ends[i].format, last + 1, 1, &stats) == INFINITY);
        assert_int_equal(stats.underflow, 1);
        assert_int_equal(stats.count, last);
        assert_true(isfinite(halves(ends[i].format, last + 1, 0, NULL)));
    }
}

/* Stochastic rounding of sums, and of products with constants, is unbiased if every operation has its own random
 * word. */
TEST(stochastic) {
    enum { RUNS = 40000, L = 3, STEPS = 7 };
    double p[4 * STEPS], exact[STEPS * S_MAX], alpha[STEPS * S_MAX], beta[STEPS * S_MAX], row[S_MAX],
        sum = 0.0, squares = 0.0, back = 0.0, back_squares = 0.0;
    const ulp_format e8m1 = named("e8m1");
    const ulp_ctc_form plain = {.linear = 1};
    ulp_ctc_form form = ulp_ctc_form_of(1, (ulp_rounding){&e8m1, rule_of(ULP_SRA, 0, 0), {0}, NULL});
    probabilities(p, 4, STEPS, 8);
    double want = ulp_ctc_alpha(exact, p, &(ulp_ctc_task){sequences[4], L, 4, STEPS}, &plain);
    ulp_ctc_beta(beta, row, p, &(ulp_ctc_task){sequences[4], L, 4, STEPS}, &plain);
    double want_back = beta[0] * exact[0] + beta[1] * exact[1];
    for (int k = 0; k < RUNS; k++) {
        form.rounding.stream = (ulp_stream){9, 1, (uint64_t)k * ulp_ctc_words(L, STEPS)};
        double P = ulp_ctc_alpha(alpha, p, &(ulp_ctc_task){sequences[4], L, 4, STEPS}, &form) / want - 1.0;
        ulp_ctc_beta(beta, row, p, &(ulp_ctc_task){sequences[4], L, 4, STEPS}, &form);
        double Q = (beta[0] * exact[0] + beta[1] * exact[1]) / want_back - 1.0;
        sum += P;
        squares += P * P;
        back += Q;
        back_squares += Q * Q;
    }
    assert_true(squares > 0.0 && fabs(sum) <= 5.0 * sqrt(squares));
    assert_true(back_squares > 0.0 && fabs(back) <= 5.0 * sqrt(back_squares));
}

/* Every instruction set and number of threads gives the same losses, gradients and counts. */
TEST(instruction_sets) {
    enum { SAMPLES = 7, N = SAMPLES * C * T };
    static double got[2][N], loss[2][SAMPLES], work[SAMPLES * (2 * T + 1) * S_MAX];
    uint8_t label[SAMPLES][L_MAX];
    float z[N], p[N];
    const ulp_format e8m1 = named("e8m1");
    const ulp_sequences of = {label[0], SAMPLES, C, T, L_MAX};
    for (size_t i = 0; i < N; i++) z[i] = (float)(4.0 * ulp_random_uniform((ulp_stream){3, 1, 0}, i) - 2.0);
    for (size_t b = 0; b < SAMPLES; b++) memcpy(label[b], sequences[b % SEQUENCES], L_MAX);
    for (int way = 0; way < 2 * 2 * 8; way++) {
        const ulp_backend *backend = ulp_cpu_backend((size_t)way / 4);
        ulp_stats counts[2] = {{0}, {0}};
        if (!backend) continue;
        ulp_path_sums sums = {.linear = (uint8_t)(way % 2), .scale = 8.0, .beta_stream = 2};
        sums.rounding = (ulp_rounding){&e8m1, rule_of(ULP_SRA, 0, 0), {9, 1, 5}, NULL};
        for (int side = 0; side < 2; side++) { /* side 0: the slowest instruction set on one thread */
            const ulp_backend *b = side ? backend : ulp_cpu_backend(0);
            ulp_threads_set(side ? 1 + way / 2 % 2 * 2 : 1);
            sums.rounding.stats = &counts[side];
            assert_ok(ulp_backend_ctc_outputs(b, got[side], z, of, sums.linear));
            assert_ok(ulp_backend_narrow(b, p, got[side], N));
            assert_ok(ulp_backend_ctc(b, got[side], loss[side], work, p, of, &sums));
        }
        assert_memory_equal(got[0], got[1], sizeof got[0]);
        assert_memory_equal(loss[0], loss[1], sizeof loss[0]);
        assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
        assert_true(counts[0].count > 0 && isfinite(loss[0][0]));
    }
    ulp_threads_set(0);
}

/* ---- decoding ---- */

static size_t distance(const uint8_t *a, size_t n, const uint8_t *b, size_t m) {
    if (!n || !m) return n + m;
    size_t change = distance(a + 1, n - 1, b + 1, m - 1) + (a[0] != b[0]), drop = distance(a + 1, n - 1, b, m) + 1,
           add = distance(a, n, b + 1, m - 1) + 1, least = change < drop ? change : drop;
    return add < least ? add : least;
}

TEST(edit_distance) {
    uint64_t random = 4;
    assert_int_equal(ulp_edit_distance((const uint8_t *)"kitten", 6, (const uint8_t *)"sitting", 7), 3);
    assert_int_equal(ulp_edit_distance((const uint8_t *)"", 0, (const uint8_t *)"abc", 3), 3);
    assert_int_equal(ulp_edit_distance((const uint8_t *)"abc", 3, (const uint8_t *)"", 0), 3);
    for (int k = 0; k < 500; k++) {
        uint8_t a[6], b[6];
        size_t n = next_random(&random) % 7, m = next_random(&random) % 7;
        for (int i = 0; i < 6; i++)
            a[i] = (uint8_t)(next_random(&random) % 3), b[i] = (uint8_t)(next_random(&random) % 3);
        assert_int_equal(ulp_edit_distance(a, n, b, m), distance(a, n, b, m));
    }
}

TEST(decode) {
    /* the output with the largest z in each of 8 steps: blank 0 0 blank 0 1 1 blank */
    static const size_t path[8] = {2, 0, 0, 2, 0, 1, 1, 2};
    float z[3 * 8];
    uint8_t label[8];
    for (size_t i = 0; i < 24; i++) z[i] = path[i % 8] == i / 8 ? 1.0f : -1.0f;
    assert_int_equal(ulp_ctc_decode(label, z, 3, 8), 3);
    assert_memory_equal(label, "\0\0\1", 3);
    z[0] = 1.0f; /* label 0 ties with the blank; the first one counts */
    assert_int_equal(ulp_ctc_decode(label, z, 3, 8), 3);
    z[12] = NAN;
    assert_int_equal(ulp_ctc_decode(label, z, 3, 8), 0);
    static const uint8_t labels[4] = {7, 8, NO, NO};
    assert_int_equal(ulp_label_count(labels, 4), 2);
    assert_int_equal(ulp_label_count(labels, 1), 1);
}

TESTS(NULL, NULL)

/* t_reduction.c - reductions over ranks against an oracle, simulated and by messages, and their texts. */
#include "rank_team.h"
#include "reduction_oracle.h"

static const char *const formats[] = {"binary32", "binary16", "bfloat16", "e5m2", "e4m3"};
static const size_t counts[] = {1, 2, 3, 5, 8, 17, 64};
enum { FORMATS = COUNT_OF(formats), COUNTS = COUNT_OF(counts), N = 37 };

/* Numbers of many sizes and both signs; some are zero, some overflow small formats, few are Inf. */
static void fill(float *x, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t random = next_random(&seed);
        x[i] = ldexpf((float)((int)(random % 4001) - 2000), (int)(random >> 20 & 15) - 16);
        if ((random >> 40) % 64 == 0) x[i] = 0;
        if ((random >> 32) % 997 == 0) x[i] = INFINITY;
    }
}

static ulp_reduction reduction(const char *format, ulp_mode mode, int order, int mean) {
    const ulp_format f = named(format);
    ulp_reduction r;
    assert_ok(ulp_reduction_init(&r, &f, (ulp_rule){.mode = (uint8_t)mode}, NULL));
    r.order = (uint8_t)order;
    r.mean = (uint8_t)mean;
    r.node = 4;
    return r;
}

/* sum (N) = the mean over simulated ranks of x (R,N). */
static void simulate(const ulp_reduction_job *job, float *sum, const float *x) {
    float *rows = malloc(job->ranks * N * sizeof *rows);
    for (size_t r = 0; r < job->ranks; r++) assert_ok(ulp_reduction_enter(job, rows + r * N, x + r * N, N, r));
    assert_ok(ulp_reduction_sum(job, rows, N));
    memcpy(sum, rows, N * sizeof *sum);
    free(rows);
}

/* ---- ranks on threads ---- */

typedef struct work {
    const ulp_reduction_job *job;
    const float *x;
    float *result; /* (ranks,N) */
} work;

static void rank_body(void *own, const ulp_ranks *ranks) {
    const work *w = own;
    float *x = w->result + ranks->rank * N;
    if (ulp_reduction_enter(w->job, x, w->x + ranks->rank * N, N, ranks->rank) != ULP_OK) abort();
    if (ulp_reduction_sum_over(w->job, ranks, x, N) != ULP_OK) abort();
}

/* result (ranks,N) = the mean as every rank gets it by messages. */
static void exchange_all(const ulp_reduction_job *job, float *result, const float *x) {
    work w = {job, x, result};
    rank_team_run(job->ranks, rank_body, &w);
}

/* ---- against the oracle ---- */

static void check_means(const ulp_reduction_job *job, const float *sum, const float *x, ulp_reference *ref,
                        ulp_reference *single) {
    char text[ULP_REDUCTION_TEXT_MAX];
    assert_ok(ulp_reduction_print(text, sizeof text, job->how));
    for (size_t i = 0; i < N; i++) {
        const mean_of m = {job->how, ref, single, job->stream, x, job->ranks, N, i};
        const double want = mean_oracle(&m), got = (double)sum[i];
        if (!same_result(got, want))
            fail_msg("%s over %zu ranks, element %zu: got %a, want %a", text, job->ranks, i, got, want);
    }
}

static void check_reduction(const ulp_reduction *how, size_t R, ulp_reference *ref, ulp_reference *single) {
    const ulp_backend *backend;
    float *x = malloc(R * N * sizeof *x), *by_messages = malloc(R * N * sizeof *x), sum[N];
    assert_ok(ulp_backend_get(&backend, "cpu"));
    const ulp_reduction_job job = {how, backend, {7, 11, 5}, R};
    fill(x, R * N, R + how->order);
    simulate(&job, sum, x);
    check_means(&job, sum, x, ref, single);
    if (R <= 17 && how->mean == ULP_MEAN_BEFORE) {
        exchange_all(&job, by_messages, x);
        for (size_t r = 0; r < R; r++)
            for (size_t i = 0; i < N; i++)
                if (!same_result((double)by_messages[r * N + i], (double)sum[i]))
                    fail_msg("order %d, rank %zu of %zu, element %zu: %a by messages, %a", how->order, r, R, i,
                             (double)by_messages[r * N + i], (double)sum[i]);
    }
    free(by_messages);
    free(x);
}

TEST(oracle) {
    static const ulp_mode modes[] = {ULP_RNE, ULP_SRA, ULP_RD};
    const ulp_format binary32 = named("binary32");
    ulp_reference *single = ulp_reference_new(&binary32);
    for (int f = 0; f < FORMATS; f++) {
        const ulp_format format = named(formats[f]);
        ulp_reference *ref = ulp_reference_new(&format);
        for (size_t m = 0; m < COUNT_OF(modes); m++)
            for (int order = 0; order < ULP_REDUCE_ORDERS; order++)
                for (int mean = 0; mean < ULP_MEANS; mean++)
                    for (size_t r = 0; r < COUNTS; r += THINNED && m ? 2 : 1) {
                        const ulp_reduction how = reduction(formats[f], modes[m], order, mean);
                        check_reduction(&how, counts[r], ref, single);
                    }
        ulp_reference_free(ref);
    }
    ulp_reference_free(single);
}

/* Many elements, so that chunks are cut into blocks: the bits do not depend on threads, and those of doubling are those
 * of the tree where R is a power of two. */
TEST(blocks) {
    enum { LONG = 9001, R = 4 };
    const ulp_backend *backend;
    float *x = malloc(R * LONG * sizeof *x), *one = malloc(R * LONG * sizeof *x), *many = malloc(R * LONG * sizeof *x);
    assert_ok(ulp_backend_get(&backend, "cpu"));
    fill(x, R * LONG, 3);
    for (int order = 0; order < ULP_REDUCE_ORDERS; order++) {
        const ulp_reduction how = reduction("bfloat16", ULP_SRA, order, ULP_MEAN_AFTER),
                            tree = reduction("bfloat16", ULP_SRA, ULP_REDUCE_TREE, ULP_MEAN_AFTER);
        const ulp_reduction_job job = {&how, backend, {7, 11, 5}, R}, as_tree = {&tree, backend, {7, 11, 5}, R};
        for (int threads = 1; threads <= 3; threads += 2) {
            float *to = threads == 1 ? one : many;
            ulp_threads_set(threads);
            for (size_t r = 0; r < R; r++) assert_ok(ulp_reduction_enter(&job, to + r * LONG, x + r * LONG, LONG, r));
            assert_ok(ulp_reduction_sum(threads > 1 && order == ULP_REDUCE_DOUBLING ? &as_tree : &job, to, LONG));
        }
        assert_memory_equal(one, many, LONG * sizeof *one);
    }
    ulp_threads_set(0);
    free(x), free(one), free(many);
}

/* ---- texts ---- */

TEST(texts) {
    static const char *const same_text[][2] = {
        {"ring:bf16", "ring:bfloat16:rne"},
        {"tree:e4m3:sr/8:mean=half", "tree:e4m3:sra/8:mean=half"},
        {"two-level:fp16:node=4:mean=before", "two-level:binary16:rne:mean=before:node=4"},
        {"doubling:e4m3:sat:rz", "doubling:e4m3:sat:rz"},
        {"ring:fp32:mean=after", "ring:binary32:rne"},
    };
    static const char *const refused[][2] = {
        {"rings:bf16", "did you mean 'ring'"},
        {"star:bf16", "known: ring, tree, doubling, two-level"},
        {"ring", "a format follows the order"},
        {"ring:mean=after", "a format follows the order"},
        {"ring:bf17", "no format has this name"},
        {"ring:bf16:up", "no mode has this name"},
        {"ring:e8m0", "a sign and a zero"},
        {"tree:binary8p3uf", "a sign and a zero"},
        {"ring:binary64", "does not fit"},
        {"ring:bf16:mean=now", "known: after, before, half"},
        {"ring:bf16:node=4", "is of two-level only"},
        {"two-level:bf16:node=0", "from 1 to 4096"},
        {"tree:bf16:mean=half:mean=half", "given twice"},
    };
    ulp_reduction r;
    ulp_error why;
    char text[ULP_REDUCTION_TEXT_MAX];
    for (size_t i = 0; i < COUNT_OF(same_text); i++) {
        if (ulp_reduction_parse(&r, same_text[i][0], &why) != ULP_OK) fail_msg("%s", why.text);
        assert_ok(ulp_reduction_print(text, sizeof text, &r));
        assert_string_equal(text, same_text[i][1]);
    }
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (ulp_reduction_parse(&r, refused[i][0], &why) == ULP_OK) fail_msg("%s is taken", refused[i][0]);
        if (!strstr(why.text, refused[i][1])) fail_msg("'%s' does not say '%s'", why.text, refused[i][1]);
    }
}

/* Gradients overflow to Inf or NaN; a format whose name says :sat saturates. */
TEST(overflow) {
    static const struct {
        const char *text;
        double mean;
    } cases[] = {{"tree:fp16", INFINITY}, {"ring:e4m3", NAN}, {"ring:e4m3:sat", 224}, {"tree:q8.8", 64}};
    const ulp_backend *backend;
    assert_ok(ulp_backend_get(&backend, "cpu"));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        float x[2] = {60000, 60000};
        ulp_reduction r;
        assert_ok(ulp_reduction_parse(&r, cases[i].text, NULL));
        const ulp_reduction_job job = {&r, backend, {0}, 2};
        for (size_t k = 0; k < 2; k++) assert_ok(ulp_reduction_enter(&job, x + k, x + k, 1, k));
        assert_ok(ulp_reduction_sum(&job, x, 1));
        assert_true(same_result((double)x[0], cases[i].mean));
    }
}

TESTS(NULL, NULL)

/* t_sequences.c - layers on sequences: random words that are used once, batches in pieces, moves, refused words. */
#include "layering.h"

static ulp_error error;

/* ---- no random word is used twice ---- */

enum { USES_MAX = 20000 };
typedef struct span {
    uint64_t stream, first, count;
} span;
static span used[USES_MAX];
static size_t uses;
static const ulp_backend *below;

static void use(ulp_stream stream, uint64_t count) {
    assert_true(uses < USES_MAX);
    used[uses++] = (span){stream.stream, stream.first, count};
}

static ulp_status spy_round(float *y, const float *x, size_t n, ulp_rounding rounding) {
    use(rounding.stream, n);
    return below->round(y, x, n, rounding);
}

static ulp_status spy_round64(double *y, const double *x, size_t n, ulp_rounding rounding) {
    use(rounding.stream, n);
    return below->round64(y, x, n, rounding);
}

static ulp_status spy_gemm(float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                           ulp_summation summation) {
    use(summation.stream, shape->m * shape->n * ulp_datapath_words(summation.datapath, shape->k));
    return below->gemm(c, a, b, shape, summation);
}

static int by_place(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Put the spy in the place of the backend of the pass. */
static void spy_on(ulp_pass *pass, ulp_backend *spy) {
    below = pass->run.backend;
    *spy = *below;
    spy->round = spy_round;
    spy->round64 = spy_round64;
    spy->gemm = spy_gemm;
    pass->run.backend = spy;
    uses = 0;
}

static void assert_distinct(void) {
    qsort(used, uses, sizeof *used, by_place);
    for (size_t i = 1; i < uses; i++)
        assert_true(used[i].stream != used[i - 1].stream || used[i].first >= used[i - 1].first + used[i - 1].count);
}

static const char stochastic[] = "mixed:fp16,acc=serial:bf16:sr/8,mode=sr";

TEST(words_are_used_once) {
    rig t;
    ulp_backend spy;
    rig_start(&t, "rows conv3@1 gru4 lstm3 rnn2 gru3 conv2@1 last fc3", (ulp_dims){1, 9, 5}, 6, stochastic);
    const ulp_backend *own = t.pass.run.backend;
    spy_on(&t.pass, &spy);
    rig_forward(&t);
    rig_backward(&t);
    assert_true(uses > 9 * 4 * 8);
    assert_distinct();
    /* an evaluation in two pieces */
    uses = 0;
    t.pass.now.evaluation = 1;
    t.pass.now.B = 4;
    assert_ok(ulp_model_forward(&t.model, &t.pass, t.w));
    t.pass.now.first = 4;
    t.pass.now.B = 2;
    assert_ok(ulp_model_forward(&t.model, &t.pass, t.w));
    assert_distinct();
    t.pass.run.backend = own;
    rig_end(&t);
}

/* A batch in pieces gives the bits of the whole batch. */
TEST(pieces) {
    enum { ALL = 6, CUT = 2 };
    rig t;
    float whole[ALL * 3];
    rig_start(&t, "columns2 conv3@1 gru4 lstm3 rnn3 last", (ulp_dims){2, 3, 8}, ALL, stochastic);
    size_t m = ulp_dims_size(t.model.net.in), count = t.model.net.count;
    assert_ok(ulp_model_forward(&t.model, &t.pass, t.w));
    memcpy(whole, t.model.tensor[count], sizeof whole);
    memmove(t.model.tensor[0], t.model.tensor[0] + CUT * m, (ALL - CUT) * m * sizeof(float));
    t.pass.now.first = CUT;
    t.pass.now.B = ALL - CUT;
    assert_ok(ulp_model_forward(&t.model, &t.pass, t.w));
    assert_memory_equal(whole + CUT * 3, t.model.tensor[count], (ALL - CUT) * 3 * sizeof(float));
    rig_end(&t);
}

/* ---- layers that move values ---- */

TEST(moves) {
    static const float image[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; /* (2,2,3) */
    static const float rows[12] = {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11};  /* (6,1,2) */
    static const float pairs[12] = {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11}; /* (1,3,4) by columns2: (6,1,2) */
    static const float ends[4] = {2, 5, 8, 11};
    static const struct {
        const char *net;
        ulp_dims in, out;
        const float *want;
    } moves[] = {
        {"rows", {2, 2, 3}, {6, 1, 2}, rows},
        {"columns", {2, 2, 3}, {4, 1, 3}, image},
        {"columns2", {1, 3, 4}, {6, 1, 2}, pairs},
        {"last", {4, 1, 3}, {4, 1, 1}, ends},
    };
    for (size_t i = 0; i < COUNT_OF(moves); i++) {
        rig t;
        rig_start(&t, moves[i].net, moves[i].in, 1, "fp32");
        memcpy(t.model.tensor[0], image, sizeof image);
        rig_forward(&t);
        rig_backward(&t);
        ulp_dims out = t.model.net.out;
        assert_true(out.c == moves[i].out.c && out.h == moves[i].out.h && out.w == moves[i].out.w);
        assert_memory_equal(t.model.tensor[1], moves[i].want, ulp_dims_size(out) * sizeof(float));
        rig_end(&t);
    }
}

TEST(bad_words) {
    static const char sequence[] = "an image becomes a sequence by rows or columns";
    static const struct {
        const char *net;
        ulp_dims in;
        const char *why;
    } bad[] = {
        {"gru3", {4, 2, 3}, sequence},
        {"gru0", {4, 1, 3}, "gruN: gated recurrent layer, N units (1 to 2^20)"},
        {"gru", {4, 1, 3}, "gruN: "},
        {"lstm3x", {4, 1, 3}, "lstmN: "},
        {"rnn3",
         {4, 1, 513},
         "an input of 4 x 1 x 513 (channels, height, width): it wants a sequence of at most 512 steps"},
        {"last", {4, 2, 3}, sequence},
        {"last2", {4, 1, 3}, "last: "},
        {"rows2", {1, 4, 4}, "rows: "},
        {"columns3", {1, 4, 4}, "1 x 4 x 4 (channels, height, width): it wants a width that K divides"},
        {"columns5", {1, 4, 4}, "that K divides"},
        {"columns0", {1, 4, 4}, "columnsK: "},
    };
    ulp_net net;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(ulp_net_parse(&net, bad[i].net, bad[i].in, &error), ULP_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, bad[i].net));
        assert_non_null(strstr(error.text, bad[i].why));
    }
    assert_ok(ulp_net_parse(&net, "rnn3", (ulp_dims){4, 1, 512}, &error));
    ulp_net_release(&net);
}

TESTS(NULL, NULL)

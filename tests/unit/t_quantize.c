/* t_quantize.c - scaled quantisation: names, known results, groups, code books, exact texts, layouts, refusals.
 *
 * python/tests/test_quantize.py compares all parts, scales and rules with exact rationals.
 */
#include <float.h>

#include "support.h"

#include "formats/layouts.h"
#include "formats/quantize.h"

static const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
static const ulp_stream no_stream = {0, 0, 0};

enum { MOST = 64 };

static ulp_quantizer quantizer_named(const char *name, const char *scale) {
    ulp_quantizer q;
    const ulp_status status = ulp_quantizer_parse(&q, name, scale);
    if (status != ULP_OK) fail_msg("%s, %s: %s", name, scale, ulp_status_text(status));
    return q;
}

/* Results of one array. */
typedef struct results {
    uint16_t codes[MOST];
    double scales[MOST];
    int32_t zero_points[MOST];
    float y[MOST];
} results;

static ulp_quantized array_of(results *r, const ulp_quantizer *q, ulp_tiling tiling) {
    return (ulp_quantized){q, tiling, r->codes, r->scales, r->zero_points};
}

static results quantize(const ulp_quantizer *q, const double *x, ulp_tiling tiling, ulp_rule rule) {
    results r = {.codes = {0}};
    const ulp_quantized array = array_of(&r, q, tiling);
    assert_ok(ulp_quantize(&array, x, rule, no_stream));
    assert_ok(ulp_dequantize(r.y, &array));
    return r;
}

static ulp_tiling vector_of(size_t n) { return (ulp_tiling){{1, 1, n}, {1, 1, n}}; }

/* ---- names ---- */

TEST(names) {
    static const struct {
        const char *text, *element, *scale;
        int bits, low, high, size;
        double max;
    } want[] = {
        {"int8", "q8.0", "binary32", 8, -128, 127, 0, 127},
        {"UINT8", "uint8", "binary32", 8, 0, 255, 0, 255},
        {"uint4", "uint4", "binary32", 4, 0, 15, 0, 15},
        {"int12", "q12.0", "binary32", 12, -2048, 2047, 0, 2047},
        {"uq1.7", "uq1.7", "binary32", 8, 0, 255, 0, 1.9921875},
        {"q2.6", "q2.6", "binary32", 8, -128, 127, 0, 1.984375},
        {"nf4", "nf4", "binary32", 4, 0, 0, 0, 1},
        {"e4m3", "e4m3", "binary32", 8, 0, 0, 0, 448},
        {"mxint8", "q2.6", "e8m0", 8, -127, 127, 32, 1.984375},
        {"nvint4", "q4.0", "e4m3", 4, -7, 7, 16, 7},
        {"bfp8", "e1m6fn", "e8m0", 8, 0, 0, 16, 1.984375},
        {"block:nf4,64,bf16", "nf4", "bfloat16", 4, 0, 0, 64, 1},
        {"block:uint8,2,e4m3:te", "uint8", "e4m3", 8, 0, 255, 2, 255},
    };
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        const ulp_quantizer q = quantizer_named(want[i].text, NULL);
        assert_string_equal(q.block.element.name, want[i].element);
        assert_string_equal(q.block.scale.name, want[i].scale);
        assert_int_equal(q.bits, want[i].bits);
        assert_int_equal(q.low, want[i].low);
        assert_int_equal(q.high, want[i].high);
        assert_int_equal(q.block.size, want[i].size);
        assert_true(q.block.element.max == want[i].max);
        assert_ok(ulp_quantizer_check(&q, nearest));
    }
    assert_int_equal(quantizer_named("block:e2m1,16,e4m3", NULL).block.rule, ULP_SCALE_EVEN);
    assert_int_equal(quantizer_named("block:e2m1,16,e8m0", NULL).block.rule, ULP_SCALE_FLOOR);
    assert_true(quantizer_named("int8", "ue5m3").block.scale.max == 114688.0);
    static const struct {
        const char *text, *scale;
        ulp_status status;
    } bad[] = {
        {"", NULL, ULP_BAD_NAME},
        {"int1", NULL, ULP_NOT_IN_RANGE},
        {"int17", NULL, ULP_NOT_IN_RANGE},
        {"uint0", NULL, ULP_NOT_IN_RANGE},
        {"uq8.9", NULL, ULP_NOT_IN_RANGE},
        {"uq8.", NULL, ULP_BAD_NAME},
        {"int8x", NULL, ULP_BAD_NAME},
        {"binary32", NULL, ULP_UNSUPPORTED},
        {"int8", "int8", ULP_UNSUPPORTED},
        {"int8", "e2m1", ULP_UNSUPPORTED},
        {"int8", "binary64", ULP_UNSUPPORTED},
        {"int8", "posit16", ULP_UNSUPPORTED},
        {"block:", NULL, ULP_BAD_NAME},
        {"block:int8,0,e8m0", NULL, ULP_NOT_IN_RANGE},
        {"block:int8,99999999999,e8m0", NULL, ULP_NOT_IN_RANGE},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_quantizer q;
        if (ulp_quantizer_parse(&q, bad[i].text, bad[i].scale) != bad[i].status)
            fail_msg("%s: %s", bad[i].text, ulp_status_text(ulp_quantizer_parse(&q, bad[i].text, bad[i].scale)));
    }
}

/* ---- known results ---- */

TEST(integers) {
    const double x[] = {1.0, -0.5, 0.25, 0.0, 100.0 / 127, -100.0 / 127};
    const ulp_quantizer q = quantizer_named("int8", NULL);
    results r = quantize(&q, x, vector_of(6), nearest);
    const uint16_t codes[] = {127, 256 - 64, 32, 0, 100, 256 - 100};
    assert_memory_equal(r.codes, codes, sizeof codes);
    assert_true(r.scales[0] == (double)(1.0f / 127.0f) && r.y[0] == 127.0f * (1.0f / 127.0f));

    /* 2.5 and 3.5 at a scale of 1 are ties; -128 is within the codes, and not within the narrow range */
    const double ties[] = {127.0, 2.5, 3.5, -2.5, -126.5};
    const uint16_t even[] = {127, 2, 4, 254, 256 - 126};
    r = quantize(&q, ties, vector_of(5), nearest);
    assert_memory_equal(r.codes, even, sizeof even);
    ulp_quantizer clipped = q;
    const double spread[] = {-300.0, 300.0, 100.0, 127.0, 1.0};
    clipped.percentile = 60 * ULP_PERCENT; /* number 3 of 1 100 127 300 300 */
    r = quantize(&clipped, spread, vector_of(5), nearest);
    assert_true(r.scales[0] == 1.0 && r.codes[0] == 128 && r.codes[1] == 127 && r.y[0] == -128.0f);
    /* ranks 0.05, 1, 1.05, 2.5 and 4.05 of 5 numbers go up */
    static const struct {
        uint32_t percentile;
        double amax;
    } ranks[] = {{1, 1}, {20, 1}, {21, 100}, {50, 127}, {81, 300}};
    for (size_t i = 0; i < COUNT_OF(ranks); i++) {
        clipped.percentile = ranks[i].percentile * ULP_PERCENT;
        r = quantize(&clipped, spread, vector_of(5), nearest);
        assert_true(r.scales[0] == (double)((float)ranks[i].amax / 127.0f));
    }
    clipped.percentile = 60 * ULP_PERCENT;
    r = quantize(&clipped, spread, vector_of(5), rule_of(ULP_RNE, ULP_OVERFLOW_SYM, 0));
    assert_true(r.codes[0] == 129 && r.codes[1] == 127);
    r = quantize(&clipped, spread, vector_of(5), rule_of(ULP_RNE, ULP_OVERFLOW_ZERO, 0));
    assert_true(r.codes[0] == 0 && r.codes[1] == 0 && r.codes[2] == 100);
    assert_ok(ulp_quantizer_narrow(&clipped));
    r = quantize(&clipped, spread, vector_of(5), nearest);
    assert_true(r.codes[0] == 129 && r.y[0] == -127.0f);
}

TEST(zero_points) {
    ulp_quantizer q = quantizer_named("uint8", NULL);
    q.has_zero_point = 1;
    const double x[] = {-64.0, 191.0, 0.0, 0.5, 1.5};
    results r = quantize(&q, x, vector_of(5), nearest);
    const uint16_t codes[] = {0, 255, 64, 64, 66};
    assert_true(r.scales[0] == 1.0 && r.zero_points[0] == 64);
    assert_memory_equal(r.codes, codes, sizeof codes);
    assert_true(r.y[0] == -64.0f && r.y[1] == 191.0f && r.y[4] == 2.0f);

    /* low / s = -0.5, -1.5: ties to the even zero point */
    const double half[] = {-0.5, 254.5}, more[] = {-1.5, 253.5};
    assert_int_equal(quantize(&q, half, vector_of(2), nearest).zero_points[0], 0);
    assert_int_equal(quantize(&q, more, vector_of(2), nearest).zero_points[0], 2);

    /* the ends include 0; zeros have scale 1 and the least code */
    const double above[] = {255.0, 100.0}, below[] = {-255.0, -100.0}, zeros[] = {0.0, -0.0};
    r = quantize(&q, above, vector_of(2), nearest);
    assert_true(r.scales[0] == 1.0 && r.zero_points[0] == 0 && r.codes[1] == 100);
    r = quantize(&q, below, vector_of(2), nearest);
    assert_true(r.scales[0] == 1.0 && r.zero_points[0] == 255 && r.codes[0] == 0);
    r = quantize(&q, zeros, vector_of(2), nearest);
    assert_true(r.scales[0] == 1.0 && r.zero_points[0] == 0 && r.codes[0] == 0 && r.y[1] == 0.0f);
    q = quantizer_named("int8", NULL);
    q.has_zero_point = 1;
    assert_int_equal(quantize(&q, zeros, vector_of(2), nearest).zero_points[0], -128);
}

/* A matrix (2, 5) in tiles (2, 2), in rows and in columns: parts at the ends are short. */
TEST(groups) {
    const ulp_quantizer q = quantizer_named("int8", NULL);
    const double x[] = {1, 2, 4, 8, 16, -32, 64, 127, 254, 508};
    static const struct {
        ulp_tiling tiling;
        size_t count;
        double most[5]; /* of the groups */
    } want[] = {
        {{{1, 2, 5}, {1, 2, 2}}, 3, {64, 254, 508}},
        {{{1, 2, 5}, {1, 1, 5}}, 2, {16, 508}},
        {{{2, 5, 1}, {2, 1, 1}}, 5, {32, 64, 127, 254, 508}},
        {{{1, 1, 10}, {1, 1, 4}}, 3, {8, 127, 508}},
        {{{1, 1, 10}, {1, 1, 99}}, 1, {508}},
    };
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        size_t groups[3];
        assert_int_equal(ulp_tiling_groups(groups, &want[i].tiling), want[i].count);
        const results r = quantize(&q, x, want[i].tiling, nearest);
        for (size_t k = 0; k < want[i].count; k++)
            assert_true(r.scales[k] == (double)((float)want[i].most[k] / 127.0f));
    }
    const ulp_tiling empty = {{1, 0, 5}, {1, 2, 2}};
    size_t groups[3];
    assert_int_equal(ulp_tiling_groups(groups, &empty), 0);
    quantize(&q, x, empty, nearest);
}

TEST(code_book) {
    const ulp_quantizer q = quantizer_named("nf4", NULL);
    const ulp_code_book *const book = q.book;
    double x[16];
    for (int i = 0; i < 16; i++) x[i] = 2.0 * book->value[i];
    const results r = quantize(&q, x, vector_of(16), nearest);
    for (int i = 0; i < 16; i++) assert_true(r.codes[i] == i && r.y[i] == (float)x[i]);
    assert_true(r.scales[0] == 2.0);
    /* between 2 values, a tie goes to the even code; the modes of one number on each side of zero */
    for (uint32_t i = 0; i < 15; i++) {
        const double tie = (book->value[i] + book->value[i + 1]) * 0.75 / 2;
        const uint32_t even = i % 2 == 0 ? i : i + 1;
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, nearest, 0), even);
        assert_int_equal(ulp_book_code(ulp_exact_of(nextafter(tie, 2)), 0.75, book, nearest, 0), i + 1);
        assert_int_equal(ulp_book_code(ulp_exact_of(nextafter(tie, -2)), 0.75, book, nearest, 0), i);
        const uint32_t away = i < 7 ? i : i + 1;
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_RNA, 0, 0), 0), away);
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_RZ, 0, 0), 0), i < 7 ? i + 1 : i);
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_RU, 0, 0), 0), i + 1);
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_RD, 0, 0), 0), i);
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_RO, 0, 0), 0), 2 * i + 1 - even);
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_RNU, 0, 0), 0), i + 1);
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_RNZ, 0, 0), 0), i < 7 ? i + 1 : i);
        assert_int_equal(ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_RND, 0, 0), 0), i);
        /* half of the words of one bit go on */
        uint32_t ones = 0;
        for (uint32_t word = 0; word < 2; word++)
            ones += ulp_book_code(ulp_exact_of(tie), 0.75, book, rule_of(ULP_SRA, 0, 1), word << 31) == i + 1;
        assert_int_equal(ones, 1);
    }
    assert_int_equal(ulp_book_code(ulp_exact_of(5), 1, book, nearest, 0), 15);
    assert_int_equal(ulp_book_code(ulp_exact_of(-INFINITY), 1, book, nearest, 0), 0);
}

/* Numbers of more than 53 bits beside a tie: one rounding of the exact number. */
TEST(exact_numbers) {
    const ulp_quantizer q = quantizer_named("int8", NULL);
    const ulp_exact x[] = {ulp_exact_of(127), ulp_exact_pack(0, 5ull << 61, 1, 0, -126),
                           ulp_exact_pack(0, 5ull << 61, 0, 1, -126), ulp_exact_of(2.5)};
    results r = {.codes = {0}};
    const ulp_quantized array = array_of(&r, &q, vector_of(4));
    assert_ok(ulp_quantize_exact(&array, x, nearest, no_stream));
    const uint16_t codes[] = {127, 3, 3, 2};
    assert_memory_equal(r.codes, codes, sizeof codes);
    const double wide[] = {127, 2.5};
    const ulp_exact same[] = {ulp_exact_of(127), ulp_exact_of(2.5)};
    ulp_quantizer zero = q;
    zero.has_zero_point = zero.searches = 1;
    results s = quantize(&zero, wide, vector_of(2), nearest);
    const ulp_quantized other = array_of(&r, &zero, vector_of(2));
    assert_ok(ulp_quantize_exact(&other, same, nearest, no_stream));
    assert_memory_equal(r.codes, s.codes, 4);
    assert_true(r.scales[0] == s.scales[0] && r.zero_points[0] == s.zero_points[0]);
}

/* 2^100 / 7 modulo 256: the quotient has more bits than binary64. 2^100 = 7 k + 2, and k mod 256 = (2^100 - 2) / 7. */
TEST(wrapped_quotients) {
    ulp_quantizer q = quantizer_named("int8", NULL);
    const double x[] = {7.0 * 127, 0x1p100};
    q.percentile = 50 * ULP_PERCENT; /* the first number: a scale of 7 */
    const results r = quantize(&q, x, vector_of(2), rule_of(ULP_RNE, ULP_OVERFLOW_WRAP, 0));
    assert_true(r.scales[0] == 7.0);
    uint32_t inverse = 1; /* of 7 modulo 2^8, by Newton's iteration */
    for (int i = 0; i < 4; i++) inverse *= 2 - 7 * inverse;
    assert_int_equal(r.codes[1], (0u - 2u) * inverse & 255u);
}

/* ---- special values and refusals ---- */

TEST(special) {
    const double x[] = {1.0, NAN, 2.0}, infinite[] = {2.0, INFINITY, -INFINITY};
    const ulp_quantizer q = quantizer_named("int8", NULL), e4m3 = quantizer_named("e4m3", NULL);
    results r = quantize(&q, x, vector_of(3), nearest);
    assert_true(isnan(r.scales[0]) && r.codes[0] == 0 && isnan(r.y[2]));
    r = quantize(&q, infinite, vector_of(3), nearest);
    assert_true(isnan(r.scales[0]));
    r = quantize(&q, infinite, vector_of(3), rule_of(ULP_RNE, ULP_OVERFLOW_SAT, 0));
    assert_true(r.codes[0] == 127 && r.codes[1] == 127 && r.codes[2] == 128);
    r = quantize(&e4m3, x, vector_of(3), nearest);
    assert_true(r.y[2] == 2.0f && isnan(r.y[1]) && r.codes[1] == 0x7f);
    /* te: a scale of 0 */
    ulp_quantizer te = quantizer_named("nvfp4:te", NULL);
    const double tiny[] = {0.0, -0x1p-40, 0x1p-41};
    r = quantize(&te, tiny, vector_of(3), nearest);
    assert_true(r.scales[0] == 0.0 && r.codes[0] == 0 && r.codes[1] == 0xf && r.codes[2] == 7 && r.y[2] == 0.0f);
}

TEST(errors) {
    ulp_quantizer q = quantizer_named("int8", NULL), bad = q;
    const double x[] = {1.0};
    results r = {.codes = {0}};
    const ulp_quantized array = array_of(&r, &q, vector_of(1)), wrong = array_of(&r, &bad, vector_of(1));
    assert_int_equal(ulp_quantize(&array, NULL, nearest, no_stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_quantize(NULL, x, nearest, no_stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_dequantize(NULL, &array), ULP_BAD_ARGUMENT);
    ulp_quantized none = array;
    none.tiling.tile[1] = 0;
    assert_int_equal(ulp_quantize(&none, x, nearest, no_stream), ULP_BAD_ARGUMENT);
    bad.percentile = 0;
    assert_int_equal(ulp_quantize(&wrong, x, nearest, no_stream), ULP_BAD_ARGUMENT);
    bad.percentile = ULP_ALL_PERCENT + 1;
    assert_int_equal(ulp_quantize(&wrong, x, nearest, no_stream), ULP_BAD_ARGUMENT);
    bad = q, bad.tensor_scale = 0.0f;
    assert_int_equal(ulp_quantize(&wrong, x, nearest, no_stream), ULP_BAD_ARGUMENT);
    bad = quantizer_named("e4m3", NULL), bad.has_zero_point = 1;
    assert_int_equal(ulp_quantize(&wrong, x, nearest, no_stream), ULP_UNSUPPORTED);
    bad = quantizer_named("nf4", NULL), bad.tensor_scale = 2.0f;
    assert_int_equal(ulp_quantize(&wrong, x, nearest, no_stream), ULP_UNSUPPORTED);
    bad.tensor_scale = 1.0f;
    assert_int_equal(ulp_quantize(&wrong, x, rule_of(0, ULP_OVERFLOW_WRAP, 0), no_stream), ULP_UNSUPPORTED);
    bad = quantizer_named("uint8", NULL);
    assert_int_equal(ulp_quantizer_narrow(&bad), ULP_UNSUPPORTED);
    assert_int_equal(ulp_quantizer_rule(&bad, "max"), ULP_BAD_NAME);
    assert_ok(ulp_quantizer_rule(&bad, "MSE"));
    bad = q, bad.has_zero_point = 1;
    ulp_quantized lacks = wrong;
    lacks.zero_points = NULL;
    assert_int_equal(ulp_quantize(&lacks, x, nearest, no_stream), ULP_BAD_ARGUMENT);
}

/* ---- layouts ---- */

TEST(layouts) {
    const uint16_t codes[] = {1, 2, 15, 9, 7};
    uint8_t packed[3];
    uint16_t back[5];
    ulp_pack4(packed, codes, 5);
    assert_true(packed[0] == 0x21 && packed[1] == 0x9f && packed[2] == 0x07);
    ulp_unpack4(back, packed, 5);
    assert_memory_equal(back, codes, sizeof codes);
    /* cuBLAS: a tile is 128 rows of 4 scales; rows 32 apart lie 4 bytes apart */
    assert_int_equal(ulp_swizzled_place(0, 3, 8), 3);
    assert_int_equal(ulp_swizzled_place(1, 0, 8), 16);
    assert_int_equal(ulp_swizzled_place(32, 0, 8), 4);
    assert_int_equal(ulp_swizzled_place(127, 3, 8), 511);
    assert_int_equal(ulp_swizzled_place(0, 4, 8), 512);
    assert_int_equal(ulp_swizzled_place(128, 0, 8), 1024);
    assert_int_equal(ulp_swizzled_size(129, 5), 2048);
    assert_int_equal(ulp_swizzled_size(0, 5), 0);
    assert_true(ulp_swizzled_size(SIZE_MAX, SIZE_MAX) == SIZE_MAX);
}

TEST(ggml) {
    float x[32], y[32];
    uint8_t bytes[64];
    size_t bad = 9;
    for (int i = 0; i < 32; i++) x[i] = (float)(i - 16);
    assert_ok(ulp_ggml_encode(bytes, NULL, x, 1, ULP_GGML_Q4_0)); /* d = -16 / -8 = 2 */
    assert_true(bytes[0] == 0x00 && bytes[1] == 0x40);
    assert_int_equal(bytes[2], 0x80); /* -16 -> 0; 0 -> 8 */
    ulp_ggml_decode(y, bytes, 1, ULP_GGML_Q4_0);
    assert_true(y[0] == -16.0f && y[16] == 0.0f && y[31] == 14.0f);
    assert_ok(ulp_ggml_encode(bytes, NULL, x, 1, ULP_GGML_Q4_1)); /* d = 31 / 15, m = -16 */
    assert_true(bytes[2] == 0x00 && bytes[3] == 0xcc && bytes[4] == 0x80 && bytes[19] == 0xf7);
    for (int i = 0; i < 32; i++) x[i] = i == 5 ? -127.0f : (float)i + 0.5f;
    assert_ok(ulp_ggml_encode(bytes, NULL, x, 1, ULP_GGML_Q8_0)); /* d = 1: ties away from zero */
    assert_true(bytes[1] == 0x3c && bytes[2] == 1 && bytes[3] == 2 && bytes[7] == 0x81);
    memset(x, 0, sizeof x);
    assert_ok(ulp_ggml_encode(bytes, NULL, x, 1, ULP_GGML_Q4_0)); /* 0 / -8 = -0 */
    assert_true(bytes[1] == 0x80 && bytes[2] == 0x88);
    const float refused[] = {NAN, INFINITY, 0x1p127f, 0x1p-130f};
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        x[7] = refused[i];
        assert_int_equal(ulp_ggml_encode(bytes, &bad, x, 1, ULP_GGML_Q8_0), ULP_NOT_IN_RANGE);
        assert_int_equal(bad, 0);
    }
    assert_int_equal(ulp_ggml_parse("Q4_1"), ULP_GGML_Q4_1);
    assert_int_equal(ulp_ggml_parse("q4_2"), ULP_GGML_COUNT);
    assert_int_equal(ulp_ggml_parse("q4_11"), ULP_GGML_COUNT);
    assert_int_equal(ulp_ggml_encode(bytes, NULL, x, 1, ULP_GGML_COUNT), ULP_BAD_ARGUMENT);
}

TESTS(NULL, NULL)

/* t_conversion.c - conversions of hardware against additions to the bits of a number, as the manuals describe them: all
 * random bits, all numbers of 16 bits; the layout of random words; saturation. */
#include "support.h"

#include "formats/conversion.h"

static ulp_format format_of(const char *name) {
    ulp_format f;
    assert_ok(ulp_format_parse(&f, name));
    return f;
}

static const ulp_conversion *conversion_of(const char *name) {
    const ulp_conversion *c = ulp_conversion_find(name);
    if (c == NULL) fail_msg("%s: no conversion", name);
    return c;
}

/* |x| with `random` added below the cut of `dropped` bits, and cut: the code of a number with the same exponents. */
static uint64_t added(uint64_t code, int dropped, uint64_t random) { return (code + random) >> dropped; }

/* cvt.rs to binary16 and bfloat16: the random bits are added to the bits that are dropped (PTX ISA, rbits). */
TEST(two) {
    static const struct {
        const char *name;
        int bits, dropped, bias;
    } two[] = {{"cvt.rs.f16x2", 13, 13, 127 - 15}, {"cvt.rs.bf16x2", 16, 16, 0}};
    for (size_t t = 0; t < 2; t++) {
        const ulp_conversion *c = conversion_of(two[t].name);
        const ulp_format to = format_of(c->to);
        uint64_t seed = 5;
        for (int i = 0; i < 200000; i++) {
            const uint32_t word = (uint32_t)next_random(&seed), mask = (1u << two[t].bits) - 1;
            const float x[2] = {(float)(1 + (double)(next_random(&seed) >> 40) * 0x1p-24),
                                -(float)(1 + (double)(next_random(&seed) >> 40) * 0x1p-24)};
            const uint32_t random[2] = {word >> 16 & mask, word & mask};
            for (uint32_t v = 0; v < 2; v++) {
                uint64_t code;
                const double y = ulp_convert(c, v, (double)x[v], word, &to);
                assert_ok(ulp_encode(&code, y, &to));
                const uint32_t u = ulp_bits32(x[v]) & 0x7fffffffu;
                const uint64_t want = added(u - ((uint32_t)two[t].bias << 23), two[t].dropped, random[v]);
                assert_int_equal(code & 0x7fff, want);
            }
        }
    }
}

/* cvt.rs to four values of 8 bits: both readings of the word. */
TEST(four) {
    const ulp_conversion *shared = conversion_of("cvt.rs.satfinite.e4m3x4:shared"),
                         *split = conversion_of("cvt.rs.satfinite.e4m3x4:split"),
                         *fp4 = conversion_of("cvt.rs.satfinite.e2m1x4:shared"),
                         *fp4_split = conversion_of("cvt.rs.satfinite.e2m1x4:split");
    const ulp_format e4m3 = format_of("e4m3"), e2m1 = format_of("e2m1");
    uint64_t seed = 6;
    for (int i = 0; i < 200000; i++) {
        const uint32_t word = (uint32_t)next_random(&seed),
                       byte[4] = {word >> 24, word >> 16 & 255, word >> 8 & 255, word & 255};
        const uint32_t half[4] = {word >> 16, word >> 16, word & 0xffff, word & 0xffff};
        const uint32_t fp4_half[4] = {byte[0] << 8 | byte[2], byte[0] << 8 | byte[2], byte[1] << 8 | byte[3],
                                      byte[1] << 8 | byte[3]};
        const uint32_t fp4_byte[4] = {byte[0], byte[2], byte[1], byte[3]};
        for (uint32_t v = 0; v < 4; v++) {
            const float x = (float)(1 + (double)(next_random(&seed) >> 41) * 0x1p-23);
            const uint32_t u = ulp_bits32(x) - 0x3f800000u; /* 23 bits of the fraction */
            const double e = 1 + (double)added(u, 20, (uint64_t)half[v] << 4) / 8,
                         s = 1 + (double)added(u, 20, (uint64_t)byte[v] << 12) / 8,
                         f = 1 + (double)added(u, 22, (uint64_t)fp4_half[v] << 6) / 2,
                         g = 1 + (double)added(u, 22, (uint64_t)fp4_byte[v] << 14) / 2;
            assert_true(ulp_convert(shared, v, (double)x, word, &e4m3) == e);
            assert_true(ulp_convert(split, v, (double)x, word, &e4m3) == s);
            assert_true(ulp_convert(fp4, v, (double)x, word, &e2m1) == f);
            assert_true(ulp_convert(fp4_split, v, (double)x, word, &e2m1) == g);
        }
    }
}

/* VCVTBIASPH2BF8: the 8 bits are added below the cut of every binary16 number. Infinities and NaN stay. */
TEST(bf8) {
    const ulp_conversion *c = conversion_of("vcvtbiasph2bf8"), *s = conversion_of("vcvtbiasph2bf8s");
    const ulp_format half = format_of("binary16"), bf8 = format_of("e5m2");
    for (uint64_t code = 0; code < 0x7c00; code++)
        for (uint32_t bias = 0; bias < 256; bias += code % 7 == 0 ? 1 : 17) {
            const double x = ulp_decode(code, &half), y = ulp_convert(c, 0, x, bias, &bf8),
                         z = ulp_convert(s, 0, x, bias, &bf8);
            const uint64_t want = added(code, 8, bias);
            if (want >= 0x7c) assert_true(y - y != 0 && y > 0 && z == 57344);
            else assert_true(y == ulp_decode(want, &bf8) && z == y);
        }
}

/* VCVTBIASPH2HF8: bias >> 1 is added to the 7 bits below the cut; for a subnormal result the 8 bits lie at the cut. */
TEST(hf8) {
    const ulp_conversion *c = conversion_of("vcvtbiasph2hf8"), *s = conversion_of("vcvtbiasph2hf8s");
    const ulp_format half = format_of("binary16"), hf8 = format_of("e4m3");
    for (uint64_t code = 0; code < 0x7c00; code++)
        for (uint32_t bias = 0; bias < 256; bias += code % 7 == 0 ? 1 : 17) {
            const double x = ulp_decode(code, &half), y = ulp_convert(c, 0, x, bias, &hf8),
                         z = ulp_convert(s, 0, x, bias, &hf8);
            double want;
            if (x >= 0x1p-6)
                want = ulp_decode(added(code, 7, bias >> 1) - (8 << 3), &hf8); /* the biases are 15 and 7 */
            else want = (double)(((uint64_t)(x * 0x1p24) * 256 + ((uint64_t)bias << 15)) >> 23) * 0x1p-9;
            if (added(code, 7, bias >> 1) - (8 << 3) >= 0x7f && x >= 0x1p-6) assert_true(y != y && z == 448);
            else if (y != want || z != want) fail_msg("%a with %u: %a, %a, not %a", x, bias, y, z, want);
        }
}

/* VCVTNEPS2BF16 as its manual has it: a bias of 7fff and the last kept bit is added to the word (Intel SDM 325462). */
TEST(neps) {
    const ulp_conversion *c = conversion_of("vcvtneps2bf16");
    const ulp_format bf16 = format_of(c->to);
    for (uint64_t u = 0; u < 1ull << 32; u += 0x3fff) {
        const uint32_t word = (uint32_t)u, size = word & 0x7fffffffu;
        const double y = ulp_convert(c, 0, (double)ulp_from_bits32(word), 0, &bf16);
        uint64_t code;
        assert_ok(ulp_encode(&code, y, &bf16));
        uint32_t want = (word + 0x7fffu + (word >> 16 & 1u)) >> 16;
        if (size < 0x800000u) want = word >> 16 & 0x8000u;
        if (size > 0x7f800000u) want = 0x7fc0u;
        if (code != want) fail_msg("%08x: %04x, not %04x", word, (unsigned)code, want);
    }
    assert_true(ulp_convert(c, 0, -0x1p-127, 0, &bf16) == 0 && signbit(ulp_convert(c, 0, -0x1p-127, 0, &bf16)));
    assert_true(ulp_convert(c, 3, 0x1p-126, 0, &bf16) == 0x1p-126);
}

TEST(table) {
    size_t n = 0;
    for (const ulp_conversion *c; (c = ulp_conversion_get(n)) != NULL; n++) {
        const ulp_format to = format_of(c->to), from = format_of(c->from);
        assert_ptr_equal(ulp_conversion_find(c->name), c);
        assert_true(c->values >= 1 && c->values <= ULP_CONVERSION_VALUES && from.prec > to.prec);
        assert_ok(ulp_rule_check(&to, ulp_conversion_rule(c, 0)));
        const double y = ulp_convert(c, 0, 1e6, 0xffffffffu, &to);
        if (c->overflow == ULP_OVERFLOW_SAT) assert_true(y == to.max);
        else if (to.emax < 19) assert_true(y - y != 0);
    }
    assert_int_equal(n, 23);
    assert_null(ulp_conversion_find("cvt.rs"));
    assert_null(ulp_conversion_find(NULL));
}

TESTS(NULL, NULL)

/* t_codes.c - the operations on codes of up to 16 bits against the definitions, in every instruction set. */
#include <stdlib.h>

#include "support.h"

#include "instruction_sets.h"
#include "kernels/backend.h"

enum { MOST = 65536, CASES = 3072 };

static float x[MOST], y[MOST];
static uint16_t codes[MOST], want[MOST];
static uint8_t bytes[MOST], packed[MOST];

static unsigned least_width(const ulp_format *f) { return f->bits <= 4 ? 4 : f->bits <= 8 ? 8 : 16; }

/* The codes (n) as they are stored, with `width` bits each. */
static const void *stored(const uint16_t *from, size_t n, unsigned width) {
    if (width == 16) return from;
    for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)from[i];
    if (width == 8) return bytes;
    memset(packed, 0, sizeof packed);
    for (size_t i = 0; i < n; i++) packed[i / 2] = (uint8_t)(packed[i / 2] | (from[i] & 15) << (i % 2 * 4));
    return packed;
}

/* Every code of every format, by each width that holds it, has the value of ulp_decode. */
TEST(decode) {
    ulp_format f;
    size_t formats = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (f.bits > 16 || !f.fits_binary32) continue;
        const size_t n = (size_t)1 << f.bits;
        for (size_t code = 0; code < n; code++) codes[code] = (uint16_t)code;
        for (unsigned width = least_width(&f); width <= 16; width *= 2) {
            const void *from = stored(codes, n, width);
            for (size_t isa = 0; isa < offered; isa++) {
                const ulp_backend *const b = backends[isa];
                memset(y, 0x55, sizeof y);
                assert_ok(ulp_backend_decode(b, y, from, n, width, &f));
                for (size_t code = 0; code < n; code++)
                    if (ulp_bits32(y[code]) != ulp_bits32((float)ulp_decode(code, &f)))
                        fail_msg("%s, %s, %u bits: code %zx is %a, not %a", b->what, f.name, width, code,
                                 (double)y[code], ulp_decode(code, &f));
            }
        }
        formats++;
    }
    if (formats < 70) fail_msg("%zu formats", formats);
}

/* A number that is as near to two neighbours of the format: the mean of their values, or of their ranks. */
static double middle_of(const ulp_format *f, uint64_t bits) {
    ulp_format finer = *f;
    const uint64_t last = f->bits > 1 ? ((uint64_t)1 << (f->bits - 1)) - 2 : 0, some = (bits >> 32) % (last + 1);
    const uint64_t ones = bits % 8 < 4 ? ((uint64_t)1 << (bits >> 56) % f->bits) - 1 : 0; /* before a carry */
    const uint64_t code = bits % 8 == 0 ? 0 : (some | ones) < last ? some | ones : last;
    finer.bits++;
    if (f->taper == ULP_TAPER_POSIT || f->taper == ULP_TAPER_TAKUM)
        return ulp_format_init(&finer) == ULP_OK ? ulp_decode(2 * code + 1, &finer) : 1.0;
    const double low = ulp_decode(code, f), high = ulp_decode(code + 1, f);
    return isfinite(low) && isfinite(high) ? (low + high) / 2 : 1.0;
}

/* Numbers near the values of a format, in the middle of two of them and beside it, far away, and special ones; tame:
 * numbers of the size of the values alone. */
static void fill(const ulp_format *f, size_t n, uint64_t seed, int tame) {
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, -NAN, 0x1p-149f, -0x1p-149f, 3e38f, -3e38f};
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = next_random(&seed);
        const double value = ulp_decode(bits >> 32, f);
        x[i] = i < sizeof special / sizeof *special ? special[i]
               : i % 3 == 0                         ? ulp_from_bits32((uint32_t)bits)
               : i % 3 == 1 && i % 2 == 0           ? (float)value
               : i % 3 == 1 ? ulp_from_bits32(ulp_bits32((float)middle_of(f, bits)) + (uint32_t)(bits >> 60 & 1) -
                                              (uint32_t)(bits >> 61 & 1))
                            : (float)(value * (1.0 + (double)(int32_t)bits * 0x1p-38));
        if (tame && i % 3 == 0) x[i] = (float)ldexp((double)(int32_t)bits, f->qmin - 33 + (int)(bits >> 60));
        if (tame && !(fabsf(x[i]) < 0x1p90f)) x[i] = i % 2 ? -0.0f : 1.0f;
        if (tame && f->taper == ULP_TAPER_TAKUM && fabsf(x[i]) < 0x1p-120f) x[i] = (float)(int32_t)bits * 0x1p-30f;
        if (i % 12 == 1) x[i] = -x[i];
        if (f->nan_codes == ULP_NAN_NONE && isnan(x[i])) x[i] = 1.0f;
    }
}

static void encode_case(const ulp_format *f, ulp_rule rule, size_t n, unsigned width, ulp_stream stream) {
    const ulp_rounding how = {f, rule, stream, NULL};
    for (size_t i = 0; i < n; i++) {
        uint64_t code = 0;
        const uint32_t word = ulp_mode_is_stochastic(rule.mode) ? ulp_random_word(stream, i) : 0;
        assert_ok(ulp_encode(&code, ulp_round((double)x[i], f, rule, word), f));
        want[i] = (uint16_t)code;
    }
    const size_t size = (n * width + 7) / 8;
    static uint8_t expected[2 * MOST];
    memcpy(expected, stored(want, n, width), size);
    for (size_t isa = 0; isa < offered; isa++) {
        const ulp_backend *const b = backends[isa];
        memset(codes, 0x55, sizeof codes);
        assert_ok(ulp_backend_encode(b, codes, x, n, width, how));
        if (memcmp(codes, expected, size) != 0) {
            size_t at = 0;
            while (((uint8_t *)codes)[at] == expected[at]) at++;
            fail_msg("%s, %s, mode %s, %u bits: byte %zu is %x, not %x", b->what, f->name,
                     ulp_mode_name((ulp_mode)rule.mode), width, at, ((uint8_t *)codes)[at], expected[at]);
        }
        assert_int_equal(((uint8_t *)codes)[size], 0x55);
    }
}

/* Every format, mode and policy: the codes are those of ulp_round and ulp_encode. */
TEST(encode) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (f.bits > 16) continue;
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
            const ulp_rule rule = {(uint8_t)mode, (uint8_t)((i + (size_t)mode) % ULP_OVERFLOW_COUNT), 0};
            if (ulp_rule_check_single(&f, rule) != ULP_OK) continue;
            if (f.nan_codes == ULP_NAN_NONE && ulp_overflow_of(&f, rule.overflow) == ULP_OVERFLOW_NAN) continue;
            fill(&f, CASES, i * 64 + (uint64_t)mode, 1);
            encode_case(&f, rule, CASES, least_width(&f), (ulp_stream){i, 8, 0});
            fill(&f, CASES, i * 64 + (uint64_t)mode, 0);
            encode_case(&f, rule, CASES - (i + (size_t)mode) % 5, least_width(&f), (ulp_stream){i, 7, 1000});
            if (least_width(&f) == 8) encode_case(&f, rule, 77, 16, (ulp_stream){i, 7, 0});
        }
    }
}

/* The same codes by one thread and by two, and in long arrays. */
TEST(threads) {
    const ulp_format f = named("e2m1"), g = named("binary16");
    const ulp_rounding how = {&f, {ULP_SRA, 0, 0}, {3, 1, 5}, NULL}, wide = {&g, {ULP_RNE, 0, 0}, {0}, NULL};
    static uint8_t one[MOST], two[MOST];
    const ulp_backend *b;
    fill(&g, MOST, 9, 0);
    for (size_t i = 0; i < MOST; i++) x[i] = isfinite(x[i]) ? x[i] : 1.0f;
    assert_ok(ulp_backend_get(&b, "cpu"));
    ulp_threads_set(1);
    assert_ok(ulp_backend_encode(b, one, x, MOST - 1, 4, how));
    assert_ok(ulp_backend_encode(b, codes, x, MOST, 16, wide));
    ulp_threads_set(2);
    assert_ok(ulp_backend_encode(b, two, x, MOST - 1, 4, how));
    assert_ok(ulp_backend_encode(b, want, x, MOST, 16, wide));
    ulp_threads_set(0);
    assert_memory_equal(one, two, MOST / 2);
    assert_memory_equal(codes, want, sizeof codes);
}

TEST(errors) {
    const ulp_format f = named("e2m1"), wide = named("binary32"), takum = named("takum16");
    const ulp_rounding how = {&f, {ULP_RNE, 0, 0}, {0}, NULL}, of_wide = {&wide, {ULP_RNE, 0, 0}, {0}, NULL};
    const ulp_backend *b;
    assert_ok(ulp_backend_get(&b, "cpu"));
    x[0] = 1.0f, x[1] = NAN;
    assert_int_equal(ulp_backend_encode(b, codes, x, 2, 8, how), ULP_NO_NAN);
    assert_int_equal(ulp_backend_encode(b, codes, x, 1, 32, how), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_encode(b, NULL, x, 1, 8, how), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_encode(b, codes, x, 1, 16, of_wide), ULP_UNSUPPORTED);
    assert_int_equal(ulp_backend_decode(b, y, codes, 1, 2, &f), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_decode(b, y, codes, 1, 8, NULL), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_decode(b, y, codes, 1, 16, &takum), ULP_UNSUPPORTED);
    assert_ok(ulp_backend_encode(b, NULL, NULL, 0, 4, how));
    assert_ok(ulp_backend_decode(b, NULL, NULL, 0, 4, &f));
}

TESTS(find_backends, NULL)

/* t_close.c - results next to a breakpoint, where the last of hundreds of bits or one random word decides.
 *
 * The results are those of scalar operations and of operations on arrays. */
#include "support.h"
#include "instruction_sets.h"

#include "kernels/mpfr/reference.h"

enum { WORDS = 20000 };

static uint64_t cells;

/* ---- scalar ---- */

static void check(ulp_reference *ref, ulp_scalar_op of, const ulp_format *f, ulp_rule rule, uint32_t word) {
    double got = ulp_arith(of, f, rule, word), want = ulp_reference_arith(ref, of, rule, word);
    if (!same_result(got, want)) fail_case(ulp_op_name(of.op), of.a, of.b, of.c, f, rule, word, got, want);
}

/* Results so close to a breakpoint that hundreds of bits or the remainder decide. The first two results are 2^-106
 * above b, where b^2 = -7 modulo 2^53. In the stochastic cases nu 2^32 differs from a tie by 2^-15 or less; the result
 * of mode src depends on this difference. */
TEST(close) {
    static const struct {
        ulp_op op;
        double a, b, down, up;
        uint32_t first_up; /* the least word that mode src rounds up */
    } close[] = {
        {ULP_SQRT, 0x1.73c5b0360fbffp+105, 0, 0x1.b449c63673f4bp+52, 0x1.b449c63673f4cp+52, 0},
        {ULP_SQRT, 0x1.add0bb2567c3cp+104, 0, 0x1.4bb639c98c0b5p+52, 0x1.4bb639c98c0b6p+52, 0},
        {ULP_DIV, 0x1.c2f0fe6e7223p+51, 0x1.859cd7ed4d57bp+52, 0x1.284bfc30e4ce7p-1, 0x1.284bfc30e4ce8p-1,
         0u - 36445991u},
        {ULP_SQRT, 0x1.075d76d30140cp+52, 0, 0, 0, 0u - 2889900691u},
        {ULP_SQRT, 0x1.ded2113d4183bp+52, 0, 0, 0, 0u - 3335899925u},
    };
    ulp_format f = named("binary64");
    ulp_reference *ref = ulp_reference_new(&f);
    for (size_t i = 0; i < COUNT_OF(close); i++) {
        double a = close[i].a, b = close[i].b,
               down = ulp_arith((ulp_scalar_op){close[i].op, a, b, 0}, &f, rule_of(ULP_RD, 0, 0), 0);
        double up = ulp_arith((ulp_scalar_op){close[i].op, a, b, 0}, &f, rule_of(ULP_RU, 0, 0), 0);
        assert_true(down < up && (close[i].down == 0 || (down == close[i].down && up == close[i].up)));
        for (int m = 0; m < ULP_MODE_COUNT; m++)
            for (uint32_t turn = 0; turn < 4; turn++)
                check(ref, (ulp_scalar_op){close[i].op, a, b, 0}, &f, rule_of(m, 0, 0), close[i].first_up + turn - 2);
        const ulp_rule src = rule_of(ULP_SRC, 0, 0);
        if (close[i].first_up == 0) continue;
        assert_true(ulp_arith((ulp_scalar_op){close[i].op, a, b, 0}, &f, src, close[i].first_up - 1) == down);
        assert_true(ulp_arith((ulp_scalar_op){close[i].op, a, b, 0}, &f, src, close[i].first_up) == up);
    }
    ulp_reference_free(ref);
}

/* ---- sums of arrays ---- */

/* Check 1 + b for the least b that the word of element `index` rounds up; b is a multiple of 2^-(r+1) quanta. A kernel
 * that reduces the sum to 53 bits too early is wrong for this b. Random operands find this error once in 2^r cases. */
static void check_threshold(const ulp_datapath *d, uint64_t index, uint32_t word) {
    const uint32_t r = d->rule.random_bits, quarter = word >> (32 - r) & 3;
    const uint64_t up = 2 * (((uint64_t)1 << r) - (word >> (32 - r))) - quarter;
    if (up > 1 << 24) return; /* more bits than a binary32 operand has */
    const float one = 1.0f, b = (float)ldexp((double)up * ulp_spacing(1.0, &d->accumulator), -(int)r - 1);
    const double expected = ulp_arith((ulp_scalar_op){ULP_FUSED, 1.0, (double)b, 1.0}, &d->accumulator, d->rule, word);
    const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1, .accumulate = 1};
    const ulp_stream s = {1, 1, index};
    for (size_t isa = 0; isa < offered; isa++) {
        const ulp_backend *k = backends[isa];
        float sum, product = 1.0f;
        assert_ok(ulp_backend_map(k, &sum, (ulp_array_op){ULP_ADD, &one, &b, NULL}, 1,
                                  (ulp_rounding){&d->accumulator, d->rule, s, NULL}));
        assert_ok(ulp_backend_gemm(k, &product, &one, &b, &shape, (ulp_summation){d, s}));
        if (!same((double)sum, expected))
            fail_case("map add", 1, (double)b, 0, &d->accumulator, d->rule, word, (double)sum, expected);
        if (!same((double)product, expected))
            fail_case("gemm add", 1, (double)b, 0, &d->accumulator, d->rule, word, (double)product, expected);
    }
    cells++;
}

TEST(thresholds) {
    static const char *const accumulators[] = {"fp32", "q2.22", "q8.14", "q10.12", "fp24", "tf32", "fp16", "bf16"};
    for (size_t i = 0; i < COUNT_OF(accumulators); i++)
        for (int mode = ULP_SRA; mode <= ULP_SRC; mode++)
            for (int r = 20; r <= 32; r++) {
                ulp_datapath d = {
                    .kind = ULP_SERIAL, .accumulator = named(accumulators[i]), .rule = rule_of(mode, 0, r)};
                assert_ok(ulp_datapath_init(&d));
                uint64_t before = cells;
                for (uint64_t index = 0; index < 12000 && cells < before + 200; index++)
                    check_threshold(&d, index, ulp_random_word((ulp_stream){1, 1, 0}, index));
                if (cells < before + 10) fail_msg("%s r %d: %d cases", accumulators[i], r, (int)(cells - before));
            }
}

/* ---- quotients and roots of arrays that are below a threshold by less than half a unit of binary64 ----
 *
 * An intermediate rounding to nearest would give the threshold itself. */

enum { BITS = 26, FINE = 23 + BITS }; /* for binary32 in [1, 2) and 26 random bits, thresholds are multiples of 2^-49 */

static void check_map(ulp_op op, float a, float b, uint64_t index) {
    const ulp_stream s = {1, 1, index};
    const ulp_rule rule = rule_of(ULP_SRA, 0, BITS);
    const ulp_format f = named("binary32");
    const uint32_t word = ulp_random_word(s, 0);
    const double expected = ulp_arith((ulp_scalar_op){op, (double)a, (double)b, 0}, &f, rule, word);
    for (size_t isa = 0; isa < offered; isa++) {
        float y = 0;
        assert_ok(
            ulp_backend_map(backends[isa], &y, (ulp_array_op){op, &a, &b, NULL}, 1, (ulp_rounding){&f, rule, s, NULL}));
        if (!same((double)y, expected))
            fail_case(backends[isa]->what, (double)a, (double)b, 0, &f, rule, word, (double)y, expected);
    }
    cells++;
}

/* The least multiple of 2^-FINE above 1, times 2^FINE, that the word rounds up. */
static uint64_t threshold_of(uint64_t index) {
    uint32_t word = ulp_random_word((ulp_stream){1, 1, 0}, index);
    return ((uint64_t)1 << FINE) + ((uint64_t)1 << BITS) - (word >> (32 - BITS));
}

/* Fractions a / b just below a threshold t / 2^FINE are among the convergents of its continued fraction. t b - a 2^FINE
 * is small, so its value modulo 2^64 is right. */
TEST(quotients) {
    cells = 0;
    for (uint64_t index = 0; index < WORDS; index++) {
        const uint64_t t = threshold_of(index), one = (uint64_t)1 << FINE;
        uint64_t n = t, d = one, a = 1, b = 0, last_a = 0, last_b = 1;
        while (d != 0) {
            uint64_t q = n / d, rest = n % d, next_a = q * a + last_a, next_b = q * b + last_b;
            if (next_a >> 24 != 0) break;
            last_a = a, last_b = b, a = next_a, b = next_b, n = d, d = rest;
            int64_t below = (int64_t)(t * b - a * one);
            if (below > 0 && below < (int64_t)(b >> (54 - FINE))) check_map(ULP_DIV, (float)a, (float)b, index);
        }
    }
    assert_true(cells > 20);
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* For a in [1, 4): if the next multiple of 2^-FINE is just above the root of a, search this multiple among the
 * thresholds. */
TEST(roots) {
    static uint64_t thresholds[WORDS]; /* the last BITS bits of a threshold, then its index */
    const uint64_t in_ulp = ((uint64_t)1 << BITS) - 1;
    for (uint64_t index = 0; index < WORDS; index++) thresholds[index] = (threshold_of(index) & in_ulp) << 32 | index;
    qsort(thresholds, WORDS, sizeof thresholds[0], by_value);
    cells = 0;
    for (uint32_t i = 0; i < 3u << 23; i += (uint32_t)thinned(3)) {
        const double a = i < 1u << 23 ? 1 + i * 0x1p-23 : 2 + (i - (1u << 23)) * 0x1p-22, root = sqrt(a);
        const double scaled = root * 0x1p49; /* exact; an integer means that the root is within half a unit of it */
        if (scaled != floor(scaled) || fma(-root, root, a) >= 0.0) continue; /* the root must be below it */
        const uint64_t key = ((uint64_t)scaled & in_ulp) << 32;
        size_t low = 0, high = WORDS;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (thresholds[middle] < key) low = middle + 1;
            else high = middle;
        }
        if (low < WORDS && thresholds[low] >> 32 == key >> 32)
            check_map(ULP_SQRT, (float)a, 0, thresholds[low] & 0xffffffffu);
    }
    assert_true(cells > 20);
}

TESTS(find_backends, NULL)

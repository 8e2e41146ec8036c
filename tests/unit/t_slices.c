/* t_slices.c - exact sums of products whose operands are cut into slices, at the edges of the ranges of slices.
 *
 * One to three slices serve operands whose bits span few binades, and other loops serve wider operands. The spans here
 * pass every number of slices, sums reach the largest values of a slice, and last bits decide the rounding. All results
 * have the bits of the definition (ulp_dot), on every instruction set and one thread.
 */
#include "support.h"
#include "instruction_sets.h"

enum { M = 3, N = 5, DEPTH = 1100, KINDS = 5 };

static size_t sums;
static double a[M * DEPTH], b[N * DEPTH], start[M * N], c[M * N];
static float a_narrow[M * DEPTH], b_narrow[N * DEPTH], c_narrow[M * N];
static uint64_t seed = 1;

static int below(int n) { return (int)(next_random(&seed) >> 33) % n; }

/* A number with at most `bits` significant bits, a multiple of 1 below 2^span. */
static double operand(int kind, int span, int bits) {
    const double ones = ldexp(1, bits) - 1, sign = below(2) ? 1 : -1, top = ldexp(ones, span - bits);
    switch (kind) {
    case 0: return top; /* sums grow to the largest ones */
    case 1: return below(2) ? top : sign;
    case 2: return sign * (below(2) ? ones : ldexp(1, below(span)));
    case 3: return below(3) ? 0.0 : sign * ldexp(1, span - 1); /* ties beside last bits */
    default: return sign * ldexp(floor(ldexp((double)(next_random(&seed) >> 11), bits - 53)), below(span - bits + 1));
    }
}

static void fill(int kind, const int span[2], int bits, size_t k) {
    for (size_t i = 0; i < M * k; i++) a[i] = ldexp(operand(kind, span[0], bits < span[0] ? bits : span[0]), -30);
    for (size_t i = 0; i < N * k; i++) b[i] = ldexp(operand(kind, span[1], bits < span[1] ? bits : span[1]), 5);
    if (kind == 3 && k > 1) a[below((int)(M * k))] = 0x1p-30, b[below((int)(N * k))] = 0x1p5;
}

static void check(const ulp_datapath *d, size_t k, int accumulate, int wide) {
    const ulp_stream stream = {5, k, 3};
    const uint64_t words = ulp_datapath_words(d, k);
    double want[M * N];
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++, sums++) {
            ulp_stream own = stream;
            own.first += (i * N + j) * words;
            want[i * N + j] = ulp_dot(d, accumulate ? start[i * N + j] : 0.0,
                                      (ulp_products){a + i * k, b + j * k, k, NULL, NULL}, own);
        }
    for (size_t i = 0; i < M * k; i++) a_narrow[i] = (float)a[i];
    for (size_t i = 0; i < N * k; i++) b_narrow[i] = (float)b[i];
    const ulp_gemm_shape s = {
        .m = M, .n = N, .k = k, .lda = k, .ldb = k, .ldc = N, .b_trans = 1, .accumulate = (uint8_t)accumulate};
    for (size_t isa = 0; isa < offered; isa++) {
        for (size_t i = 0; i < M * N; i++) c[i] = start[i], c_narrow[i] = (float)start[i];
        assert_ok(wide ? ulp_backend_gemm64(backends[isa], c, a, b, &s, (ulp_summation){d, stream})
                       : ulp_backend_gemm(backends[isa], c_narrow, a_narrow, b_narrow, &s, (ulp_summation){d, stream}));
        for (size_t i = 0; i < M * N; i++) {
            const double got = wide ? c[i] : (double)c_narrow[i];
            if (!same_result(got, want[i]))
                fail_msg("%s %s, k %zu, accumulate %d from %a, wide %d: element %zu is %a, not %a", backends[isa]->what,
                         d->name, k, accumulate, start[i], wide, i, got, want[i]);
        }
    }
}

static const char names[] = "exact:fp32:rne exact:fp16:sr exact:fp32:rd exact:fp64:rne exact:bf16:ro exact:e4m3:rna "
                            "exact:fp32:ru exact:q8.8:rne exact:fp24:rz exact:e5m2:rne exact:fp32:rne:promote=64";

TEST(spans) {
    const double starts[] = {0, -0.0, 0x1p-25, -1, 0x1.fffffep20, INFINITY, NAN};
    size_t turn = 0;
    for (size_t t = 0; *word_of(names, t); t++) {
        ulp_datapath d = datapath_named(word_of(names, t));
        for (int x = 1; x <= 60; x += 1 + below(4))
            for (int y = 1; y <= 48; y += 1 + below(3) * (int)thinned(4), turn++) {
                const int span[2] = {x, y}, wide = !d.result.fits_binary32 || turn % 3 == 0;
                const size_t k = turn % 40 == 0 ? 1020 + (size_t)below(10) : (size_t)below(70); /* about 2^10 */
                const double from = starts[below(7)];
                for (size_t i = 0; i < M * N; i++)
                    start[i] = ulp_round(from, &d.result, rule_of(ULP_RNE, ULP_OVERFLOW_DEFAULT, 0), 0);
                fill((int)(turn % KINDS), span, wide ? 26 : 24, k);
                check(&d, k, (int)(turn / 5 % 2), wide);
            }
    }
    print_message("%zu sums\n", sums);
}

/* All operands are the largest ones, with odd last bits, and the number of products is a power of two. */
TEST(largest) {
    ulp_datapath d = datapath_named("exact:fp32:rne");
    for (int g = 0; g <= 10; g += 1 + (int)thinned(2))
        for (int x = 1; x <= 24; x++)
            for (int y = 1; y <= 24; y += (int)thinned(3)) {
                const int span[2] = {x, y};
                fill(0, span, 24, (size_t)1 << g);
                if (y % 2) a[below(1 << g)] = 0x1p-30 * (1ull << 40); /* more slices */
                check(&d, (size_t)1 << g, 0, 0);
            }
    assert_ok(ulp_datapath_parse(&d, "exact:fp64:rne"));
    for (int y = 1; y <= 48; y++) {
        const int span[2] = {60, y};
        fill(0, span, 53, 1024);
        for (int i = 0; i < M * 1024; i++) a[i] = ldexp(ldexp(1, 60) - ldexp(1, 60 - (44 - y)), -30); /* odd slices */
        if (y < 43) check(&d, 1024, 0, 1);
    }
}

/* The upper slices of the products sum up to -c and to a tie, and the lowest slice adds one unit 2^54 times smaller:
 * two parts in the place of three slices would lose it, and with it the direction of the result. */
TEST(fold) {
    enum { K = 8 };
    static const char *const toward[] = {"exact:fp32:ru", "exact:fp32:rd", "exact:fp32:ro"};
    for (size_t t = 0; t < COUNT_OF(toward); t++)
        for (int sign = -1; sign <= 1; sign += 2) {
            ulp_datapath d = datapath_named(toward[t]);
            for (size_t i = 0; i < M * K; i++) {
                const size_t k = i % K;
                a[i] = sign * (k < 6 ? 127 * 0x1p-10 : k == 6 ? 0x1p-32 : 0x1p-86);
            }
            for (size_t i = 0; i < N * K; i++) b[i] = i % K < 6 ? 15 * 0x1p18 : 1.0;
            for (size_t i = 0; i < M * N; i++) start[i] = -sign * 6 * 127 * 15 * 0x1p8;
            check(&d, K, 1, 0);
        }
}

int main(void) {
    ulp_threads_set(1);
    return run_listed_tests(find_backends, NULL);
}

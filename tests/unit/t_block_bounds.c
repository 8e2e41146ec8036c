/* t_block_bounds.c - block sums in binary32 against the definition, where the exact sum of a step is near a tie,
 * cancels, is a zero of either sign, overflows, or holds special values: in few sums and in many.
 */
#include "support.h"
#include "instruction_sets.h"

enum { M = 6, N = 67, K = 150 };
static float a[M * K], b[K * N], start[M * N], c[M * N], want[M * N];

typedef enum kind { UNIFORM, SPARSE, TIES, FEW_TIES, CANCELLED, WIDE, TINY, HUGE_SUMS, SPECIAL, ALL_ZERO, KINDS } kind;
static const char *const kind_names[KINDS] = {"uniform", "sparse",      "ties",      "few ties",       "cancelled",
                                              "wide",    "tiny values", "huge sums", "special values", "zeros"};
static uint64_t seed = 1;

static double uniform(void) { return (double)(next_random(&seed) >> 40) * 0x1p-23 - 1.0; }
static int below(int n) { return (int)(next_random(&seed) >> 33) % n; }

/* Operand k of a row, or of column j. */
static double operand(kind of, int is_a, size_t k, size_t j) {
    static const double specials[] = {INFINITY, -INFINITY, NAN, 0x1.fffffep127, 0x1p-149, -0.0};
    switch (of) {
    case SPARSE: return below(2) ? (below(2) ? 0.0 : -0.0) : uniform();
    case FEW_TIES:
        if (j % 16 != 0) return uniform();
        /* fall through */
    case TIES: /* 1 + 2^-24 is a tie, and stays one beside 2^-80 in binary64 */
        if (is_a) return 1.0;
        return k == 0 ? 1.0 : k % 4 == 1 ? 0x1p-24 : k % 4 == 2 ? 0x1p-80 * below(3) - 0x1p-80 : -0x1p-24 * below(2);
    case CANCELLED:
        return is_a ? (k % 2 ? -1.0 : 1.0) + (k % 7 == 6 ? 0x1p-23 : 0.0) : 1.0 + (double)(k / 2 % 5) * 0x1p-23;
    case WIDE: return ldexp(uniform(), below(121) - 60);
    case TINY: return ldexp(uniform(), -70 - below(9));
    case HUGE_SUMS: return ldexp(uniform(), 62 + below(3));
    case SPECIAL: return below(60) == 0 ? specials[below(COUNT_OF(specials))] : uniform();
    case ALL_ZERO: return below(4) ? -0.0 : 0.0;
    default: return uniform();
    }
}

static void fill(kind of) {
    for (size_t i = 0; i < M; i++)
        for (size_t k = 0; k < K; k++) a[i * K + k] = (float)operand(of, 1, k, 0);
    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < N; j++) b[k * N + j] = (float)operand(of, 0, k, j);
    for (size_t i = 0; i < M * N; i++) start[i] = i % 3 == 0 ? -0.0f : (float)operand(of, 0, i % K, i % N);
}

static void define(const ulp_datapath *d, size_t k, int accumulate) {
    double x[K], y[K];
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            for (size_t t = 0; t < k; t++) x[t] = (double)a[i * K + t], y[t] = (double)b[t * N + j];
            want[i * N + j] = (float)ulp_dot(d, accumulate ? (double)start[i * N + j] : 0.0,
                                             (ulp_products){x, y, k, NULL, NULL}, (ulp_stream){0, 0, 0});
        }
}

static void check(const char *name, kind of, size_t k, int accumulate) {
    const ulp_datapath d = datapath_named(name);
    const ulp_gemm_shape s = {.m = M, .n = N, .k = k, .lda = K, .ldb = N, .ldc = N, .accumulate = (uint8_t)accumulate};
    fill(of);
    define(&d, k, accumulate);
    for (size_t isa = 0; isa < offered; isa++) {
        memcpy(c, start, sizeof c);
        assert_ok(ulp_backend_gemm(backends[isa], c, a, b, &s, (ulp_summation){&d, {0, 0, 0}}));
        for (size_t i = 0; i < M * N; i++)
            if (ulp_bits32(c[i]) != ulp_bits32(want[i]) && !(isnan(want[i]) && ulp_bits32(c[i]) == 0x7fc00000u))
                fail_msg("%s %s, %s, k %zu, accumulate %d: element (%zu,%zu) is %a, not %a", backends[isa]->what, name,
                         kind_names[of], k, accumulate, i / N, i % N, (double)c[i], (double)want[i]);
    }
}

TEST(blocks) {
    static const char names[] = "block2:fp32:rne block3:fp32:rne block4:fp32:rne block8:fp32:rne block16:fp32:rne";
    for (size_t i = 0; *word_of(names, i); i++)
        for (kind of = UNIFORM; of < KINDS; of++)
            for (int accumulate = 0; accumulate < 2; accumulate++)
                check(word_of(names, i), of, i % 2 == 0 ? K : K - 6 + i, accumulate);
}

TESTS(find_backends, NULL)

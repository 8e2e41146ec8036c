/* reductions.c - texts of all-reduces: the canonical text, the sentence of a refusal, a mean over ranks. */
#include "kernels/reduction/reduction.h"
#include "tests/proofs/fuzz/support/fuzz.h"

static int is_valid(const char *text) {
    ulp_reduction r;
    return ulp_reduction_parse(&r, text, NULL) == ULP_OK;
}

/* The mean of equal numbers that a format holds exactly, of a power of two of ranks. */
static void check_mean(const ulp_reduction *how, const char *text) {
    enum { RANKS = 4, N = 3 };
    float x[RANKS * N];
    const ulp_backend *cpu;
    uint64_t code;
    if (ulp_backend_get(&cpu, "cpu") != ULP_OK) return;
    const ulp_reduction_job job = {how, cpu, {1, 2, 3}, RANKS};
    for (int i = 0; i < RANKS * N; i++) x[i] = i % N ? 1.0f : 0.0f;
    for (size_t r = 0; r < RANKS; r++)
        fuzz_check(ulp_reduction_enter(&job, x + r * N, x + r * N, N, r) == ULP_OK, "'%s': rank %zu", text, r);
    fuzz_check(ulp_reduction_sum(&job, x, N) == ULP_OK, "'%s': no sum", text);
    for (int i = 0; i < N; i++)
        fuzz_check(x[i] != x[i] || ulp_encode(&code, (double)x[i], &how->format) == ULP_OK,
                   "'%s': the mean %a is no number of %s", text, (double)x[i], how->format.name);
}

static void run(const uint8_t *data, size_t size) {
    const char *text = fuzz_text(data, size);
    ulp_error error = {0};
    char printed[ULP_REDUCTION_TEXT_MAX];
    ulp_reduction r, before, again;
    memset(&r, 0x5a, sizeof r);
    before = again = r;
    const ulp_status status = ulp_reduction_parse(&r, text, &error);
    fuzz_check_status(status, error.text, text);
    if (status != ULP_OK) {
        fuzz_check(memcmp(&r, &before, sizeof r) == 0, "'%s' is refused, but the reduction was written", text);
        return;
    }
    fuzz_passed();
    fuzz_check(ulp_reduction_print(printed, sizeof printed, &r) == ULP_OK, "'%s' cannot be printed", text);
    fuzz_check(ulp_reduction_parse(&again, printed, &error) == ULP_OK, "'%s' is '%s': %s", text, printed, error.text);
    fuzz_check(memcmp(&r.format, &again.format, sizeof r.format) == 0 &&
                   memcmp(&r.rule, &again.rule, sizeof r.rule) == 0 && r.order == again.order && r.mean == again.mean &&
                   r.node == again.node,
               "'%s' is '%s', which is another reduction", text, printed);
    check_mean(&r, text);
}

static void seeds(void) {
    static const char *const orders[] = {"ring", "tree", "doubling", "two-level"};
    static const char rest[] = "fp32 bf16:sr/8 fp16:rne:mean=before e4m3:rz:mean=half:node=4 bfloat16:srb:mean=after "
                               "e5m2:ru:node=2 fp16:sat:rne e8m3:sra/1";
    int n;
    for (size_t i = 0; i < 4; i++)
        for (const char *at = fuzz_word(rest, 0, &n); n > 0; at = fuzz_word(at, 1, &n))
            fuzz_seed_text("%s:%.*s", orders[i], n, at);
}

const fuzz_target fuzz_target_reductions = {FUZZ_TEXT("reductions", 128, 1 << 16, 4)};

/* t_functions.c - functions of one number against MPFR: 120 bits of the exact value, and every rounding of it.
 *
 * tests/golden/functions.txt lists arguments whose results lie next to a middle of two numbers, or next to a number, of
 * a format: function, format, code.
 *
 *   t_functions          formats of up to 8 bits whole, the arguments of the golden file, a sample of the others
 *   t_functions --all    all codes of the registered formats of 9 to 16 bits, and 10^7 random codes of binary32
 *   t_functions --write  writes the golden file; it takes as long as --all
 */
#include "function_oracle.h"

#include "base/threads.h"
#include "kernels/mpfr/reference.h"

#define GOLDEN "tests/golden/functions.txt"

enum { HARDEST = 4, WIDE_CASES = 10000000 };

/* ---- a format ---- */

typedef struct target {
    ulp_format format;
    ulp_reference *reference;
    oracle oracle;
    uint64_t seed, roundings;
    char wrong[256];
} target;

static void open_target(target *t, const ulp_format *f) {
    memset(t, 0, sizeof *t);
    t->format = *f;
    t->reference = ulp_reference_new(f);
    begin(&t->oracle);
}

static void close_target(target *t) {
    ulp_reference_free(t->reference);
    end(&t->oracle);
    mpfr_free_cache();
}

/* Compare the result for a code in the modes of the set; the first wrong one is written to t->wrong. */
static void compare(target *t, ulp_function f, uint64_t code, uint32_t modes) {
    const double x = ulp_decode(code, &t->format);
    const ulp_exact exact = ulp_exact_function(f, x);
    double hi, lo;
    compute(&t->oracle, f, x);
    pair_of(&hi, &lo, &t->oracle);
    for (int m = 0; m < ULP_MODE_COUNT; m++) {
        if (!ulp_mode_in((uint32_t)m, modes)) continue;
        const uint64_t bits = next_random(&t->seed);
        const ulp_rule rule = rule_of(m, ULP_OVERFLOW_DEFAULT,
                                      ulp_mode_is_stochastic((uint32_t)m) && bits & 1 ? (int)(bits >> 1 & 31) : 0);
        const uint32_t word = bits & 64 ? (uint32_t)(bits >> 32) : bits & 128 ? UINT32_MAX : 0x80000000u;
        if (ulp_function_check(f, &t->format, rule) != ULP_OK) continue;
        const double got = ulp_round_exact(exact, &t->format, rule, word);
        const double want = ulp_reference_round(t->reference, hi, lo, rule, word);
        t->roundings++;
        if (same_result(got, want) || t->wrong[0] != '\0') continue;
        snprintf(t->wrong, sizeof t->wrong, "%s %s, code %0*llx = %a, mode %s, bits %d, word %08x: %a, not %a",
                 ulp_function_name(f), t->format.name, (t->format.bits + 3) / 4, (unsigned long long)code, x,
                 ulp_mode_name((ulp_mode)m), rule.random_bits, (unsigned)word, got, want);
    }
}

enum { ALL_MODES = (1 << ULP_MODE_COUNT) - 1 };

/* ---- 120 bits ---- */

/* A random binary64 number: of any exponent, of an exponent about 1, of few bits, or near 1. */
static double random_argument(uint64_t *seed) {
    const uint64_t bits = next_random(seed), choice = next_random(seed);
    const int e = (int)(choice >> 8 & 0xffffff);
    const double sign = choice & 128 ? -1 : 1;
    switch (choice % 5) {
    case 0: return ulp_from_bits64(bits);
    case 1: return sign * ldexp((double)(bits >> 11), e % 160 - 203);
    case 2: return sign * ldexp((double)(bits >> 54), e % 160 - 160);
    case 3: return sign * ldexp((double)(bits >> 40), e % 16 - 32);
    default: return 1 + sign * ldexp((double)(bits >> 52), -12 - e % 40);
    }
}

static void check_bits(oracle *o, ulp_function f, double x) {
    const ulp_exact y = ulp_exact_function(f, x);
    compute(o, f, x);
    if (!mpfr_regular_p(o->value)) {
        const ulp_kind kind = mpfr_nan_p(o->value)   ? ULP_EXACT_NAN
                              : mpfr_inf_p(o->value) ? ULP_EXACT_INF
                                                     : ULP_EXACT_ZERO;
        const int same_sign = kind == ULP_EXACT_NAN || y.neg == mpfr_signbit(o->value);
        if (y.kind != kind || !same_sign) fail_msg("%s %a: kind %d", ulp_function_name(f), x, y.kind);
        return;
    }
    const mpfr_exp_t e = mpfr_get_exp(o->value);
    if (e < -1150 || e > 1150) {
        const int far = y.kind == ULP_EXACT_FINITE && (e < 0 ? y.exp + 128 < -1100 : y.exp + 128 > 1100);
        if (!far || y.neg != mpfr_signbit(o->value)) fail_msg("%s %a: not beyond the range", ulp_function_name(f), x);
        return;
    }
    mpfr_t got, low;
    mpfr_inits2(128, got, low, (mpfr_ptr)NULL);
    mpfr_set_ui(got, y.hi, MPFR_RNDN);
    mpfr_mul_2ui(got, got, 64, MPFR_RNDN);
    mpfr_set_ui(low, y.lo, MPFR_RNDN);
    mpfr_add(got, got, low, MPFR_RNDN);
    mpfr_mul_2si(got, got, y.exp, MPFR_RNDN);
    if (y.neg) mpfr_neg(got, got, MPFR_RNDN);
    const int more = y.sticky | (mpfr_prec_round(got, BITS, MPFR_RNDZ) != 0);
    if (y.kind != ULP_EXACT_FINITE || !mpfr_equal_p(got, o->value) || more != (o->inexact != 0)) {
        char texts[2][80];
        mpfr_snprintf(texts[0], 80, "%Ra", got);
        mpfr_snprintf(texts[1], 80, "%Ra", o->value);
        fail_msg("%s %a: %s%s, not %s%s", ulp_function_name(f), x, texts[0], more ? "..." : "", texts[1],
                 o->inexact ? "..." : "");
    }
    mpfr_clears(got, low, (mpfr_ptr)NULL);
}

TEST(bits) {
    oracle o;
    uint64_t seed = 12;
    static const double ends[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, -0x1p-1074, DBL_MAX, -DBL_MAX, 1, -1};
    begin(&o);
    for (int f = 0; f < ULP_FUNCTION_COUNT; f++) {
        for (size_t i = 0; i < COUNT_OF(ends); i++) check_bits(&o, (ulp_function)f, ends[i]);
        for (int e = -200; e < 64; e++)
            for (int k = -3; k < 4; k++) check_bits(&o, (ulp_function)f, ldexp(k, e));
        for (size_t i = 0; i < 4000 / thinned(10); i++) check_bits(&o, (ulp_function)f, random_argument(&seed));
    }
    end(&o);
    mpfr_free_cache();
}

/* ---- formats ---- */

TEST(small_formats) {
    ulp_format f;
    uint64_t roundings = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (f.bits > 8) continue;
        target t;
        open_target(&t, &f);
        for (int function = 0; function < ULP_FUNCTION_COUNT; function++)
            for (uint64_t code = 0; code < (uint64_t)1 << f.bits; code += thinned(7))
                compare(&t, (ulp_function)function, code, ALL_MODES);
        if (t.wrong[0] != '\0') fail_msg("%s", t.wrong);
        roundings += t.roundings;
        close_target(&t);
    }
    assert_true(roundings > 200000 / thinned(7));
}

/* Random codes of the wider formats whose numbers the pair holds. */
TEST(wide_formats) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (f.bits <= 8 || f.qmin < -700 || f.prec > 26) continue;
        target t;
        open_target(&t, &f);
        t.seed = i;
        for (int function = 0; function < ULP_FUNCTION_COUNT; function++)
            for (size_t j = 0; j < 300 / thinned(10); j++)
                compare(&t, (ulp_function)function, next_random(&t.seed) >> (64 - f.bits), ALL_MODES);
        if (t.wrong[0] != '\0') fail_msg("%s", t.wrong);
        close_target(&t);
    }
}

TEST(hard_cases) {
    char line[128], name[40], format[40];
    unsigned long long code;
    size_t lines = 0;
    target t;
    memset(&t, 0, sizeof t);
    FILE *in = fopen(GOLDEN, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL) {
        ulp_function f;
        if (line[0] == '#') continue;
        if (sscanf(line, "%39s %39s %llx", name, format, &code) != 3) fail_msg("%s: %s", GOLDEN, line);
        assert_ok(ulp_function_parse(&f, name));
        if (strcmp(format, t.format.name) != 0) {
            const ulp_format found = named(format);
            if (t.reference != NULL) close_target(&t);
            open_target(&t, &found);
        }
        compare(&t, f, code, ALL_MODES);
        if (t.wrong[0] != '\0') fail_msg("%s", t.wrong);
        lines++;
    }
    fclose(in);
    close_target(&t);
    assert_true(lines > 300);
}

TEST(facts) {
    static const struct {
        ulp_function f;
        double x, want;
    } fact[] = {{ULP_FUNCTION_EXP, -0.0, 1},       {ULP_FUNCTION_EXP2, -24, 0x1p-24},
                {ULP_FUNCTION_EXP2, -25, 0},       {ULP_FUNCTION_LOG, 1, 0.0},
                {ULP_FUNCTION_LOG2, 0x1p-24, -24}, {ULP_FUNCTION_SIN, -0.0, -0.0},
                {ULP_FUNCTION_COS, 0, 1},          {ULP_FUNCTION_TANH, -0.0, -0.0},
                {ULP_FUNCTION_SIGMOID, 0, 0.5},    {ULP_FUNCTION_GELU, -0.0, -0.0},
                {ULP_FUNCTION_RSQRT, 16, .25},     {ULP_FUNCTION_RSQRT, -0.0, -INFINITY},
                {ULP_FUNCTION_RECIPROCAL, 4, .25}, {ULP_FUNCTION_GELU, 1, 0x1.aecp-1},
                {ULP_FUNCTION_LOG, 0, -INFINITY},  {ULP_FUNCTION_SILU, -INFINITY, -0.0}};
    const ulp_format f = named("fp16");
    for (size_t i = 0; i < COUNT_OF(fact); i++) {
        const double got = ulp_evaluate(fact[i].f, fact[i].x, &f, (ulp_rule){0}, 0);
        if (!same_result(got, fact[i].want)) fail_msg("%s %a: %a", ulp_function_name(fact[i].f), fact[i].x, got);
    }
    for (int i = 0; i < ULP_FUNCTION_COUNT; i++) {
        ulp_function parsed;
        assert_ok(ulp_function_parse(&parsed, ulp_function_name((ulp_function)i)));
        assert_true((int)parsed == i && ulp_function_meaning(parsed) != NULL);
        assert_true(isnan(ulp_evaluate(parsed, NAN, &f, (ulp_rule){0}, 0)));
    }
    ulp_function other;
    assert_int_equal(ulp_function_parse(&other, "ex"), ULP_BAD_NAME);
    assert_null(ulp_function_name(ULP_FUNCTION_COUNT));
    const ulp_format wraps = named("q8.8:wrap");
    assert_int_equal(ulp_function_check(ULP_FUNCTION_EXP, &wraps, (ulp_rule){0}), ULP_UNSUPPORTED);
    assert_int_equal(ulp_function_check(ULP_FUNCTION_TANH, &wraps, (ulp_rule){0}), ULP_OK);
}

/* ---- every code ---- */

typedef struct hard {
    uint64_t code;
    uint32_t distance; /* of the result from the nearest number or middle of two, in 2^-32 of half a gap */
} hard;

/* Codes of a format: all from `begin` to `end`, or as many random ones of binary32. */
typedef struct job {
    const ulp_format *format;
    ulp_function function;
    uint64_t begin, end, roundings;
    hard hardest[HARDEST];
    char wrong[256];
} job;

static int compares; /* else hard cases are looked for */

static void keep_hardest(job *j, uint64_t code) {
    const ulp_exact y = ulp_exact_function(j->function, ulp_decode(code, j->format));
    const int32_t e = y.exp + 127;
    if (y.kind != ULP_EXACT_FINITE || e < j->format->qmin || e > j->format->emax || j->format->taper != ULP_TAPER_NONE)
        return;
    const uint32_t nu = ulp_cut_at(y, e < j->format->emin ? j->format->qmin : e - j->format->prec + 1).lost.nu << 1;
    hard h = {code, nu < 0 - nu ? nu : 0 - nu};
    if (h.distance == 0) return; /* a short number, or one next to it by a rule */
    for (int i = 0; i < HARDEST; i++)
        if (h.distance < j->hardest[i].distance) {
            const hard other = j->hardest[i];
            j->hardest[i] = h;
            h = other;
        }
}

/* Code i of a job. Of the random ones half are any code, and half have an exponent from -12 to 7. */
static uint64_t code_of(const job *j, uint64_t i, uint64_t *seed) {
    if (j->format->bits <= 16) return i;
    const uint64_t word = next_random(seed);
    return i % 2 ? word & UINT32_MAX : (word & 0x807fffff) | (115 + (word >> 32) % 20) << 23;
}

static void run_jobs(void *context, size_t begin_at, size_t end_at) {
    for (job *j = (job *)context + begin_at; j < (job *)context + end_at; j++) {
        target t;
        open_target(&t, j->format);
        t.seed = j->begin * ULP_FUNCTION_COUNT + j->function;
        for (int i = 0; i < HARDEST; i++) j->hardest[i].distance = UINT32_MAX;
        for (uint64_t i = j->begin; i < j->end; i++) {
            const uint64_t code = code_of(j, i, &t.seed);
            const uint32_t modes =
                j->format->bits <= 16 ? (uint32_t)ALL_MODES : 1u << ULP_RNE | 1u << i / 2 % ULP_MODE_COUNT;
            if (compares) compare(&t, j->function, code, modes);
            else if (i % 2 == 0 || j->format->bits <= 16) keep_hardest(j, code);
        }
        j->roundings = t.roundings;
        memcpy(j->wrong, t.wrong, sizeof j->wrong);
        close_target(&t);
    }
}

/* The jobs, ordered by function and format. */
static job *list_jobs(size_t *n, const ulp_format *formats) {
    enum { PART = 1 << 13, WIDE_PART = 100000, ROOM = ULP_FUNCTION_COUNT * (100 * 8 + WIDE_CASES / WIDE_PART) };
    job *jobs = calloc(ROOM, sizeof *jobs);
    if (jobs == NULL) abort();
    *n = 0;
    for (int f = 0; f < ULP_FUNCTION_COUNT; f++)
        for (const ulp_format *format = formats; format->bits != 0; format++) {
            const uint64_t codes = format->bits > 16 ? WIDE_CASES : (uint64_t)1 << format->bits;
            const uint64_t part = format->bits > 16 ? WIDE_PART : PART;
            for (uint64_t at = 0; at < codes; at += part)
                jobs[(*n)++] = (job){.format = format,
                                     .function = (ulp_function)f,
                                     .begin = at,
                                     .end = at + part < codes ? at + part : codes};
        }
    return jobs;
}

/* Write the hardest codes of the jobs from `first` to the one before `last`, which have one function and format. */
static void write_hardest(FILE *out, const job *first, const job *last) {
    job all = *first;
    for (const job *j = first + 1; j < last; j++)
        for (int i = 0; i < HARDEST; i++)
            for (int k = 0; k < HARDEST; k++)
                if (j->hardest[i].distance < all.hardest[k].distance) {
                    memmove(all.hardest + k + 1, all.hardest + k, (size_t)(HARDEST - 1 - k) * sizeof(hard));
                    all.hardest[k] = j->hardest[i];
                    break;
                }
    for (int i = 0; i < HARDEST && all.hardest[i].distance != UINT32_MAX; i++)
        fprintf(out, "%s %s %0*llx\n", ulp_function_name(all.function), all.format->name, (all.format->bits + 3) / 4,
                (unsigned long long)all.hardest[i].code);
}

static int sweep(int writes) {
    static ulp_format formats[101];
    size_t n, count = 0, wrong = 0;
    uint64_t roundings = 0;
    for (size_t i = 0; i < ulp_format_count; i++) {
        assert_ok(ulp_format_get(i, &formats[count], NULL));
        count +=
            (formats[count].bits > 8 && formats[count].bits <= 16) || ulp_format_equal(&formats[count], &ulp_binary32);
    }
    memset(&formats[count], 0, sizeof formats[count]);
    job *const jobs = list_jobs(&n, formats);
    compares = !writes;
    ulp_parallel_for(n, 1, run_jobs, jobs);
    FILE *const out = writes ? fopen(GOLDEN ".tmp", "w") : stdout;
    if (out == NULL) return 1;
    if (writes)
        fprintf(out, "# Written by build/test/t_functions --write: function, format, code; the head of "
                     "tests/unit/t_functions.c says which.\n");
    for (size_t i = 0, next; i < n; i = next) {
        uint64_t here = 0;
        for (next = i; next < n && jobs[next].format == jobs[i].format && jobs[next].function == jobs[i].function;
             next++) {
            here += jobs[next].roundings;
            wrong += jobs[next].wrong[0] != '\0';
            if (jobs[next].wrong[0] != '\0') printf("FAIL %s\n", jobs[next].wrong);
        }
        roundings += here;
        if (writes) write_hardest(out, jobs + i, jobs + next);
        else
            printf("%s %s: %llu roundings\n", ulp_function_name(jobs[i].function), jobs[i].format->name,
                   (unsigned long long)here);
    }
    free(jobs);
    if (writes) return fclose(out) == 0 && rename(GOLDEN ".tmp", GOLDEN) == 0 ? 0 : 1;
    printf("%llu roundings, %zu wrong\n", (unsigned long long)roundings, wrong);
    return wrong != 0 || roundings == 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--write") == 0) return sweep(1);
    if (argc == 2 && strcmp(argv[1], "--all") == 0) return sweep(0);
    if (argc > 1) {
        fprintf(stderr, "t_functions: %s: the options are --all and --write\n", argv[1]);
        return 2;
    }
    return run_listed_tests(NULL, NULL);
}

/* t_update.c - updates of several steps against single scalar operations; the largest magnitude of an array.
 *
 * The updates run on every instruction set and with several thread counts. */
#include "support.h"

#include <float.h>

#include "kernels/backend.h"

enum { N = 2 * 16 * 1024 + 777, ARRAYS = 4, STEPS = 12, MARGIN = 16 };

static float start[ARRAYS][N], want[ARRAYS][N], kept[ULP_UPDATE_SCRATCH][N], got[ARRAYS][N + MARGIN];

static ulp_operand array(int k) { return (ulp_operand){.kind = ULP_OPERAND_ARRAY, .at = got[k]}; }
static ulp_operand scratch(int k) { return (ulp_operand){.kind = ULP_OPERAND_SCRATCH, .slot = (uint8_t)k}; }
static ulp_operand value(float x) { return (ulp_operand){.kind = ULP_OPERAND_VALUE, .value = x}; }

/* Steps with every operation and every kind of operand; later steps read earlier results. The last steps have another
 * cast. */
static void fill_steps(ulp_update_step *step, const ulp_format *f, ulp_rule rule, const ulp_format *last,
                       ulp_rule last_rule) {
    const ulp_operand none = {0}, y[STEPS] = {scratch(0), array(1),   scratch(1), array(2), scratch(1), scratch(1),
                                              scratch(0), scratch(2), array(3),   array(0), array(1),   array(2)};
    const ulp_operand a[STEPS] = {array(0), value(0.9f), scratch(0),   value(0.99f), array(2),    scratch(1),
                                  array(1), array(0),    value(-0.1f), scratch(2),   value(0.5f), array(2)};
    const ulp_operand b[STEPS] = {value(0.125f), array(1),   scratch(0), array(2), none,          value(1e-3f),
                                  scratch(1),    scratch(0), scratch(0), none,     value(-0.25f), value(0.75f)};
    const ulp_operand c[STEPS] = {none, scratch(0), none,     scratch(1), none,     none,
                                  none, none,       array(3), none,       array(0), value(0.375f)};
    static const uint8_t op[STEPS] = {ULP_MUL, ULP_FUSED, ULP_MUL,   ULP_FUSED,      ULP_SQRT,  ULP_ADD,
                                      ULP_DIV, ULP_SUB,   ULP_FUSED, ULP_STEP_ROUND, ULP_FUSED, ULP_FUSED};
    for (size_t k = 0; k < STEPS; k++) {
        ulp_stream stream = {7, 100 + k, 1000003 * k + 2};
        step[k] =
            (ulp_update_step){op[k], y[k], a[k], b[k], c[k], k < 8 ? *f : *last, k < 8 ? rule : last_rule, stream};
    }
}

static float *place(const ulp_operand *o, size_t i) {
    if (o->kind == ULP_OPERAND_SCRATCH) return &kept[o->slot][i];
    for (int k = 0; k < ARRAYS; k++)
        if (o->at == got[k]) return &want[k][i];
    return NULL;
}

static double operand(const ulp_operand *o, size_t i) {
    return o->kind == ULP_OPERAND_NONE ? 0.0 : o->kind == ULP_OPERAND_VALUE ? (double)o->value : (double)*place(o, i);
}

/* Compute `want`: one step after the other, each on whole arrays. */
static void expect(const ulp_update_step *step) {
    memcpy(want, start, sizeof want);
    for (size_t k = 0; k < STEPS; k++)
        for (size_t i = 0; i < N; i++) {
            const ulp_update_step *s = &step[k];
            uint32_t word = ulp_mode_is_stochastic(s->rule.mode) ? ulp_random_word(s->stream, i) : 0;
            double a = operand(&s->a, i), b = operand(&s->b, i), c = operand(&s->c, i);
            double y = s->op == ULP_STEP_ROUND
                           ? ulp_round(a, &s->format, s->rule, word)
                           : ulp_arith((ulp_scalar_op){(ulp_op)s->op, a, b, c}, &s->format, s->rule, word);
            *place(&s->y, i) = (float)y;
        }
}

static void check_size(const ulp_backend *backend, const ulp_update_step *step, size_t n) {
    memset(got, 0xa5, sizeof got);
    for (int k = 0; k < ARRAYS; k++) memcpy(got[k], start[k], n * sizeof(float));
    assert_ok(ulp_backend_update(backend, step, STEPS, n));
    for (int k = 0; k < ARRAYS; k++) {
        for (size_t i = 0; i < n; i++) {
            uint32_t g = ulp_bits32(got[k][i]), w = isnan(want[k][i]) ? 0x7fc00000u : ulp_bits32(want[k][i]);
            if (g != w)
                fail_msg("%s, %d threads, %s %s, array %d, element %zu of %zu: got %a, want %a", backend->what,
                         ulp_threads_get(), step[0].format.name, ulp_mode_name((ulp_mode)step[0].rule.mode), k, i, n,
                         (double)got[k][i], (double)want[k][i]);
        }
        for (size_t i = n; i < n + MARGIN; i++) assert_true(ulp_bits32(got[k][i]) == 0xa5a5a5a5u);
    }
}

static void fill_start(void) {
    static const uint32_t special[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001,
                                       1, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800000};
    uint64_t seed = 5;
    for (int k = 0; k < ARRAYS; k++)
        for (size_t i = 0; i < N; i++) {
            uint64_t bits = next_random(&seed);
            uint32_t u = i % 16 == 1 ? special[bits % (COUNT_OF(special))] : (uint32_t)(bits >> 32);
            if (i % 2 == 0) u = (u & 0x80ffffffu) | 0x3a000000u; /* as large as weights and gradients */
            memcpy(&start[k][i], &u, sizeof u);
        }
}

TEST(update) {
    static const char *const formats[] = {"fp32",  "fp16",       "bf16",      "e4m3",
                                          "q2.14", "tf32:nosub", "dlfloat16", "fp32:sat"};
    static const size_t sizes[] = {0, 1, 7, 1023, 1025, 16385};
    size_t cells = 0;
    fill_start();
    for (size_t k = 0; k < COUNT_OF(formats); k++)
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
            ulp_format f = named(formats[k]), last = named(formats[(k + (size_t)mode) % 5]);
            ulp_update_step step[STEPS];
            if ((k + (size_t)mode) % thinned(7)) continue;
            fill_steps(step, &f, rule_of(mode, 0, mode == ULP_SRB ? 8 : 0), &last,
                       rule_of((mode + 6) % ULP_MODE_COUNT, 0, 0));
            expect(step);
            for (size_t isa = 0; ulp_cpu_isa_name(isa); isa++) {
                const ulp_backend *backend = ulp_cpu_backend(isa);
                if (!backend) continue;
                for (int threads = 1; threads <= 3; threads++) {
                    ulp_threads_set(threads);
                    check_size(backend, step, N);
                }
                for (size_t s = 0; s < COUNT_OF(sizes); s++) check_size(backend, step, sizes[s]);
                cells++;
            }
        }
    ulp_threads_set(0);
    assert_true(cells >= 9);
}

/* Numbers in the domain of kernels/cpu/layers/spaced.h: w is a multiple of the quantum, and many a (f g) are at a tie
 * or beside it. Piece 2 has results out of range, piece 3 a w between multiples, piece 4 a NaN and an infinity. */
static void fill_spaced(float *w, float *g, double factor, const ulp_format *f, size_t n) {
    uint64_t seed = 11;
    const double quantum = ulp_scale(1.0, f->qmin);
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = next_random(&seed);
        const double whole = (double)(bits % (1u << (f->prec - 2))) - (double)(1u << (f->prec - 3));
        const double half = (double)((bits >> 20) % 64) - 32.0, tiny = ulp_scale(1.0, -(int)((bits >> 32) % 60));
        w[i] = (float)(whole * quantum);
        if ((bits >> 52) % 4 == 0) w[i] = 0.0f;
        g[i] = (float)((bits >> 50) % 2 ? half * quantum / factor : half * quantum * (1.0 + tiny) / factor);
        if ((bits >> 54) % 8 == 0) g[i] = (float)(half * tiny * quantum / factor);
    }
    g[2 * 1024 + 5] = (float)(4.0 * f->max / factor);
    w[3 * 1024 + 6] = (float)(0.25 * quantum);
    w[4 * 1024 + 7] = NAN, g[4 * 1024 + 9] = INFINITY;
}

enum { SPACED = 5 * 1024 + 333 };

/* The map of the same operation in place gives the bits of the update. */
static void check_map(const ulp_backend *backend, const ulp_format *f, ulp_rule rule, ulp_stream stream, float a) {
    float *y = got[2], *rate = start[2];
    for (size_t i = 0; i < SPACED; i++) rate[i] = a;
    memcpy(y, start[0], SPACED * sizeof *y);
    const ulp_array_op op = {ULP_FUSED, rate, start[1], y};
    assert_ok(ulp_backend_map(backend, y, op, SPACED, (ulp_rounding){f, rule, stream, NULL}));
    for (size_t i = 0; i < SPACED; i++)
        if (ulp_bits32(y[i]) != ulp_bits32(got[0][i]) && !(isnan(y[i]) && isnan(got[0][i])))
            fail_msg("%s, %s %s, element %zu: the map gives %a, the update %a", backend->what, f->name,
                     ulp_mode_name((ulp_mode)rule.mode), i, (double)y[i], (double)got[0][i]);
}

/* w + a (factor g), with the product by the factor as a step of its own if `steps` is 2. */
static void check_spaced(const ulp_backend *backend, const ulp_format *f, ulp_rule rule, float a, float factor,
                         size_t steps) {
    const ulp_stream stream = {3, 77 + rule.random_bits, 1000003};
    const ulp_format binary32 = named("binary32");
    const ulp_update_step step[2] = {
        {.op = ULP_MUL, .y = scratch(1), .a = array(1), .b = value(factor), .format = binary32},
        {ULP_FUSED, array(0), value(a), steps == 2 ? scratch(1) : array(1), array(0), *f, rule, stream}};
    float *w = start[0], *g = start[1], *y = got[0];
    fill_spaced(w, g, (double)factor, f, SPACED);
    memcpy(y, w, SPACED * sizeof *y);
    memcpy(got[1], g, SPACED * sizeof *g);
    assert_ok(ulp_backend_update(backend, step + 2 - steps, steps, SPACED));
    if (steps == 1) check_map(backend, f, rule, stream, a);
    for (size_t i = 0; i < SPACED; i++) {
        const uint32_t word = rule.mode == ULP_RNE ? 0 : ulp_random_word(stream, i);
        const float by = steps == 2 ? g[i] * factor : g[i];
        const ulp_scalar_op op = {ULP_FUSED, (double)a, (double)by, (double)w[i]};
        const float want_y = (float)ulp_arith(op, f, rule, word);
        if (ulp_bits32(y[i]) != ulp_bits32(want_y) && !(isnan(y[i]) && isnan(want_y)))
            fail_msg("%s, %s %s, element %zu: %a + %a %a gives %a, want %a", backend->what, f->name,
                     ulp_mode_name((ulp_mode)rule.mode), i, (double)w[i], (double)a, (double)by, (double)y[i],
                     (double)want_y);
    }
}

TEST(spaced) {
    static const char *const formats[] = {"q8.8", "q2.14", "q4.4", "q1.7"};
    static const int modes[] = {ULP_RNE, ULP_SRA, ULP_SRC};
    static const float rates[] = {0.5f, -0.5f, -0.01f, -0x1.000002p-1f, 0x1.fffffep-8f};
    for (size_t k = 0; k < COUNT_OF(formats); k++)
        for (size_t m = 0; m < 6; m++)
            for (size_t r = 0; r < COUNT_OF(rates); r++)
                for (size_t isa = 0; ulp_cpu_isa_name(isa); isa++) {
                    const ulp_format f = named(formats[k]);
                    const ulp_rule rule = rule_of(modes[m / 2], 0, modes[m / 2] != ULP_RNE && m % 2 ? 8 : 0);
                    const ulp_backend *backend = ulp_cpu_backend(isa);
                    if (!backend) continue;
                    check_spaced(backend, &f, rule, rates[r], 0x1p-7f, 2);
                    check_spaced(backend, &f, rule, rates[r], 1.0f, 1);
                }
}

TEST(refusals) {
    const ulp_backend *backend;
    ulp_format f = named("fp16"), wide = named("binary64");
    ulp_update_step good[STEPS], bad;
    fill_steps(good, &f, rule_of(0, 0, 0), &f, rule_of(0, 0, 0));
    assert_ok(ulp_backend_get(&backend, NULL));
    memset(got, 0xa5, sizeof got);
    for (int which = 0; which < 9; which++) {
        bad = good[1];
        if (which == 0) bad.a.kind = ULP_OPERAND_NONE;
        if (which == 1) bad.b.kind = ULP_OPERAND_NONE;
        if (which == 2) bad.c.kind = ULP_OPERAND_NONE;
        if (which == 3) bad.y = value(1.0f);
        if (which == 4) bad.c.slot = ULP_UPDATE_SCRATCH;
        if (which == 5) bad.b.at = NULL;
        if (which == 6) bad.op = ULP_STEP_LIMIT + 1;
        if (which == 7) bad.format = wide;
        if (which == 8) bad.rule.mode = ULP_MODE_COUNT;
        ulp_update_step both[2] = {good[8], bad};
        assert_int_equal(ulp_backend_update(backend, both, 2, 5), which == 7 ? ULP_UNSUPPORTED : ULP_BAD_ARGUMENT);
        for (int k = 0; k < ARRAYS; k++)
            assert_true(ulp_bits32(got[k][0]) == 0xa5a5a5a5u); /* the valid step did not run */
    }
    assert_int_equal(ulp_backend_update(backend, NULL, 1, 5), ULP_BAD_ARGUMENT);
    assert_ok(ulp_backend_update(backend, NULL, 0, 5));
    ulp_update_step both[2] = {good[1], good[1]};
    both[0].format = wide, both[1].op = ULP_STEP_LIMIT + 1;
    assert_int_equal(ulp_backend_update(backend, both, 2, 5), ULP_UNSUPPORTED); /* the status of the first refusal */
    assert_int_equal(ulp_backend_update(backend, both, 2, 0), ULP_UNSUPPORTED);
    both[0].a.kind = ULP_OPERAND_NONE;
    assert_int_equal(ulp_backend_update(backend, both, 1, 5), ULP_BAD_ARGUMENT); /* operands before formats */
}

TEST(largest) {
    static const size_t sizes[] = {0, 1, 3, 17, 1025, 16384, N};
    static float x[N];
    for (size_t isa = 0; ulp_cpu_isa_name(isa); isa++) {
        const ulp_backend *b = ulp_cpu_backend(isa);
        for (size_t s = 0; b && s < COUNT_OF(sizes); s++) {
            uint64_t seed = s + 1;
            size_t n = sizes[s];
            float most = 0.0f, y;
            for (size_t i = 0; i < n; i++) {
                x[i] = (float)((double)(next_random(&seed) >> 40) * 0x1p-150 * (i % 2 ? 1 : -1));
                most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
            }
            ulp_threads_set(1 + (int)s % 3);
            for (int finite = 0; finite <= 1; finite++) {
                assert_ok(ulp_backend_largest(b, &y, x, n, finite));
                assert_true(y == most && !signbit(y));
            }
            if (n == 0) continue;
            x[n / 2] = -INFINITY;
            assert_ok(ulp_backend_largest(b, &y, x, n, 0));
            assert_true(y == INFINITY);
            x[n - 1] = ulp_from_bits32(0xff800001u);
            assert_ok(ulp_backend_largest(b, &y, x, n, 0));
            assert_true(ulp_bits32(y) == 0x7fc00000u);
            x[0] = n > 2 ? FLT_MAX : x[0];
            assert_ok(ulp_backend_largest(b, &y, x, n, 1));
            assert_true(y == (n > 2 ? FLT_MAX : 0.0f));
            assert_int_equal(ulp_backend_largest(b, &y, NULL, n, 0), ULP_BAD_ARGUMENT);
            assert_int_equal(ulp_backend_largest(b, NULL, x, n, 1), ULP_BAD_ARGUMENT);
        }
    }
    ulp_threads_set(0);
}

TESTS(NULL, NULL)

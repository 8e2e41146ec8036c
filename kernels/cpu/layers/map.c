/* map.c - elementwise operations on arrays, the exact result rounded once. */
#include "kernels/cpu/philox.h"
#include "kernels/rounding/count.h"
#include "kernels/products/exact_step.h"

typedef struct work {
    float *y;
    const float *a, *b, *c;
    ulp_op op;
    ulp_rounding how;
    ulp_core core;
} work;

ULP_INLINE double operand(const float *x, size_t i) { return x == NULL ? 0.0 : (double)x[i]; }

/* op is a constant in each instance. mode is rd, which has other zeros, or rne, which stands for all other modes. */
ULP_INLINE void exact_run(double *z, const work *w, size_t at, size_t n, ulp_op op, uint32_t mode) {
    const float *a = w->a + at, *b = ulp_op_operands(op) > 1 ? w->b + at : NULL,
                *c = op == ULP_FUSED ? w->c + at : NULL;
    for (size_t i = 0; i < n; i++) z[i] = ulp_odd_op(op, operand(a, i), operand(b, i), operand(c, i), mode);
}

static void exact_piece(double *z, const work *w, size_t at, size_t n) {
    switch (w->op) {
#define CASE(id, name, operands)                                                                                       \
    case id:                                                                                                           \
        if (w->how.rule.mode == ULP_RD) exact_run(z, w, at, n, id, ULP_RD);                                            \
        else exact_run(z, w, at, n, id, ULP_RNE);                                                                      \
        break;
        ULP_OPS(CASE)
#undef CASE
    case ULP_OP_COUNT: break;
    }
}

ULP_INLINE void round_run(float *y, const double *z, size_t n, const ulp_core *core, const uint32_t *words,
                          uint32_t mode) {
    const ulp_core c = *core;
    uint64_t beyond = 0;
    if (c.watched) {
        for (size_t i = 0; i < n; i++)
            y[i] = (float)ulp_core_watched64(z[i], &c, mode, ulp_mode_is_stochastic(mode) ? words[i] : 0u, &beyond);
        if (beyond >> 63 == 0) return;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = (float)ulp_core_round64(z[i], &c, mode, ulp_mode_is_stochastic(mode) ? words[i] : 0u);
}

static void round_piece(float *y, const double *z, size_t n, const ulp_core *core, const uint32_t *words) {
    switch (core->mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: round_run(y, z, n, core, words, id); break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

static void core_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    double z[ULP_PIECE];
    uint32_t words[ULP_PIECE];
    philox source;
    ulp_stats stats = {0};
    const int stochastic = ulp_mode_is_stochastic(w->how.rule.mode);
    philox_begin(&source, w->how.stream.seed, w->how.stream.stream);
    for (size_t at = begin; at < end; at += ULP_PIECE) {
        size_t n = end - at < ULP_PIECE ? end - at : ULP_PIECE;
        if (stochastic) ULP_CPU(ulp_philox_words)(words, n, &source, w->how.stream.first + at);
        exact_piece(z, w, at, n);
        round_piece(w->y + at, z, n, &w->core, words);
        for (size_t i = 0; w->how.stats != NULL && i < n; i++)
            ulp_stats_count(&stats, ulp_exact_of(z[i]), (double)w->y[at + i], w->how.format, w->how.rule,
                            stochastic ? words[i] : 0);
    }
    if (w->how.stats != NULL) ulp_stats_add(w->how.stats, &stats);
}

/* ---- in binary32 and mode rne the processor itself rounds ---- */

static int is_native(const work *w) {
    if (w->op == ULP_FUSED && !FUSED_IS_FAST) return 0;
    return w->how.stats == NULL && ulp_core_is_binary32(&w->core);
}

ULP_INLINE float native_op(ulp_op op, float a, float b, float c) {
    switch (op) {
    case ULP_ADD: return a + b;
    case ULP_SUB: return a - b;
    case ULP_MUL: return a * b;
    case ULP_DIV: return a / b;
    case ULP_SQRT: return __builtin_sqrtf(a);
    case ULP_FUSED: return __builtin_fmaf(a, b, c);
    case ULP_OP_COUNT: break;
    }
    return 0.0f;
}

ULP_INLINE void native_run(const work *w, size_t begin, size_t end, ulp_op op) {
    const float *a = w->a, *b = ulp_op_operands(op) > 1 ? w->b : w->a, *c = op == ULP_FUSED ? w->c : w->a;
    ELEMENTWISE
    for (size_t i = begin; i < end; i++) {
        float y = native_op(op, a[i], b[i], c[i]);
        w->y[i] = y == y ? y : ulp_from_bits32(0x7fc00000u);
    }
}

static void native_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    switch (w->op) {
#define CASE(id, name, operands)                                                                                       \
    case id: native_run(w, begin, end, id); break;
        ULP_OPS(CASE)
#undef CASE
    case ULP_OP_COUNT: break;
    }
}

static void scalar_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    ulp_stats stats = {0};
    for (size_t i = begin; i < end; i++) {
        uint32_t word = ulp_mode_is_stochastic(w->how.rule.mode) ? ulp_random_word(w->how.stream, i) : 0;
        double a = operand(w->a, i), b = operand(w->b, i), c = operand(w->c, i);
        double y = ulp_arith((ulp_scalar_op){w->op, a, b, c}, w->how.format, w->how.rule, word);
        if (w->how.stats != NULL)
            ulp_stats_count(&stats, ulp_exact_of(ulp_odd_op(w->op, a, b, c, w->how.rule.mode)), y, w->how.format,
                            w->how.rule, word);
        w->y[i] = (float)y;
    }
    if (w->how.stats != NULL) ulp_stats_add(w->how.stats, &stats);
}

ulp_status ULP_CPU(ulp_cpu_map)(float *y, ulp_array_op op, size_t n, ulp_rounding how) {
    const int operands = ulp_op_operands(op.op);
    work w = {
        .y = y, .a = op.a, .b = operands > 1 ? op.b : NULL, .c = operands > 2 ? op.c : NULL, .op = op.op, .how = how};
    const int vector = ulp_core_init(&w.core, how.format, how.rule) && ulp_core64_decides(&w.core);
    ulp_parallel_for(n, ULP_GRAIN, !vector ? scalar_part : is_native(&w) ? native_part : core_part, &w);
    return ULP_OK;
}

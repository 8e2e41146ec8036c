/* rounding.c - rounding of arrays and arithmetic on arrays, for other languages. */
#include "message.h"

#include "base/decimal.h"
#include "formats/function.h"
#include "formats/rng.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(ulp_stats) == 7 * sizeof(uint64_t), "counts of other languages are 7 numbers");

/* ---- rounders ---- */

/* Keeps the sentence about a word that a list does not have; `alias` is another word of the list. */
static ulp_status unknown_word(const char *kind, const char *word, int list, const char *alias) {
    ulp_foreign_words words = {0};
    for (size_t i = 0; ulp_foreign_word(list, i) != NULL; i++) ulp_foreign_add_word(&words, ulp_foreign_word(list, i));
    ulp_foreign_add_word(&words, alias);
    return ulp_foreign_unknown(kind, word, words.text);
}

static ulp_status rule_of(ulp_rule *rule, const char *mode, const char *overflow, int bits) {
    ulp_mode m = ULP_RNE;
    ulp_overflow policy = ULP_OVERFLOW_DEFAULT;
    if (mode != NULL && ulp_mode_parse(&m, mode) != ULP_OK) return unknown_word("mode", mode, ULP_FOREIGN_MODES, "sr");
    if (overflow != NULL && ulp_overflow_parse(&policy, overflow) != ULP_OK)
        return unknown_word("overflow policy", overflow, ULP_FOREIGN_POLICIES, "");
    if (bits < 0 || bits > 32) return ulp_foreign_fail(ULP_BAD_ARGUMENT, "bits is %d; random bits are 1 to 32", bits);
    *rule = (ulp_rule){(uint8_t)m, (uint8_t)policy, (uint8_t)bits};
    return ULP_OK;
}

ulp_status ulp_foreign_rounder(ulp_rounder **rounder, const char *format, const char *mode, const char *overflow,
                               int bits, const char *backend) {
    ulp_rounder made;
    ULP_TRY(ulp_foreign_parse(&made.format, format));
    ULP_TRY(rule_of(&made.rule, mode, overflow, bits));
    ULP_TRY(ulp_foreign_backend(&made.backend, backend));
    if (ulp_rule_check_single(&made.format, made.rule) != ULP_OK)
        return ulp_foreign_fail(ULP_UNSUPPORTED,
                                "%s does not take the overflow policy %s: only fixed point wraps around",
                                made.format.name, ulp_overflow_name((ulp_overflow)made.rule.overflow));
    ulp_rounder *const r = ulp_foreign_object(sizeof *r);
    if (r == NULL) return ULP_NO_MEMORY;
    *r = made;
    *rounder = r;
    return ULP_OK;
}

/* ---- rounding ---- */

ulp_status ulp_foreign_round(const ulp_rounder *r, float *y, const float *x, size_t n) {
    return ulp_foreign_status(ulp_backend_round(r->backend, y, x, n, (ulp_rounding){&r->format, r->rule, {0}, NULL}),
                              r->backend, r->format.name);
}

ulp_status ulp_foreign_round64(const ulp_rounder *r, double *y, const double *x, size_t n) {
    return ulp_foreign_status(ulp_backend_round64(r->backend, y, x, n, (ulp_rounding){&r->format, r->rule, {0}, NULL}),
                              r->backend, r->format.name);
}

ulp_status ulp_foreign_round_any(const ulp_rounder *r, void *y, const void *x, size_t n, int wide, uint64_t seed,
                                 uint64_t stream, uint64_t first, uint64_t *counts) {
    ulp_stats stats = {0};
    const ulp_rounding how = {&r->format, r->rule, {seed, stream, first}, counts != NULL ? &stats : NULL};
    const ulp_status status =
        wide ? ulp_backend_round64(r->backend, y, x, n, how) : ulp_backend_round(r->backend, y, x, n, how);
    if (counts != NULL) {
        uint64_t more[7];
        memcpy(more, &stats, sizeof more);
        for (int i = 0; i < 7; i++) counts[i] += more[i];
    }
    if (status == ULP_UNSUPPORTED && !wide && !r->format.fits_binary32)
        return ulp_foreign_fail(status, "binary32 does not hold every value of %s; give an array of binary64",
                                r->format.name);
    return ulp_foreign_status(status, r->backend, r->format.name);
}

ulp_status ulp_foreign_encode_rounded(const ulp_rounder *r, void *codes, size_t width, const float *x, size_t n,
                                      uint64_t seed, uint64_t stream, uint64_t first) {
    const ulp_rounding how = {&r->format, r->rule, {seed, stream, first}, NULL};
    return ulp_foreign_status(ulp_backend_encode(r->backend, codes, x, n, (unsigned)(8 * width), how), r->backend,
                              r->format.name);
}

ulp_status ulp_foreign_round_texts(const ulp_rounder *r, double *y, const char *texts, size_t n, uint64_t seed,
                                   uint64_t stream, uint64_t first, size_t *at) {
    const int stochastic = ulp_mode_is_stochastic(r->rule.mode);
    const int32_t modulo = ulp_number_modulo(&r->format, r->rule);
    for (size_t i = 0; i < n; i++, texts += strlen(texts) + 1) {
        ulp_exact x;
        const ulp_status status = ulp_exact_read(&x, texts, modulo);
        *at = i;
        if (status == ULP_NO_MEMORY) return ulp_foreign_status(status, r->backend, r->format.name);
        if (status != ULP_OK && strlen(texts) > ULP_NUMBER_LONGEST)
            return ulp_foreign_fail(status, "a number of %zu characters: at most %d are read", strlen(texts),
                                    ULP_NUMBER_LONGEST);
        if (status != ULP_OK)
            return ulp_foreign_fail(status, "'%.60s' is no number; allowed: decimal, hex float, inf, nan", texts);
        y[i] = ulp_round_exact(ulp_flush_operand(x, &r->format), &r->format, r->rule,
                               stochastic ? ulp_random_word((ulp_stream){seed, stream, first}, i) : 0);
    }
    return ULP_OK;
}

/* ---- arithmetic ---- */

typedef struct map64 {
    const ulp_rounder *r;
    ulp_op op;
    double *y;
    const double *a, *b, *c;
    ulp_stream stream;
} map64;

static void map64_part(void *context, size_t begin, size_t end) {
    const map64 *m = context;
    const int stochastic = ulp_mode_is_stochastic(m->r->rule.mode), operands = ulp_op_operands(m->op);
    for (size_t i = begin; i < end; i++) {
        const ulp_scalar_op op = {m->op, m->a[i], operands > 1 ? m->b[i] : 0.0, operands > 2 ? m->c[i] : 0.0};
        m->y[i] = ulp_arith(op, &m->r->format, m->r->rule, stochastic ? ulp_random_word(m->stream, i) : 0u);
    }
}

typedef struct function_map {
    const ulp_rounder *r;
    ulp_function function;
    int wide;
    void *y;
    const void *x;
    ulp_stream stream;
} function_map;

static void function_part(void *context, size_t begin, size_t end) {
    const function_map *m = context;
    const int stochastic = ulp_mode_is_stochastic(m->r->rule.mode);
    for (size_t i = begin; i < end; i++) {
        const double x = m->wide ? ((const double *)m->x)[i] : (double)((const float *)m->x)[i];
        const double y =
            ulp_evaluate(m->function, x, &m->r->format, m->r->rule, stochastic ? ulp_random_word(m->stream, i) : 0u);
        if (m->wide) ((double *)m->y)[i] = y;
        else ((float *)m->y)[i] = (float)y;
    }
}

/* The functions are computed on the processor, one number at a time. */
static ulp_status map_function(function_map m, size_t n) {
    enum { GRAIN = 64 };
    const ulp_backend *processor;
    ULP_TRY(ulp_foreign_backend(&processor, NULL));
    if (m.r->backend != processor)
        return ulp_foreign_fail(ULP_UNSUPPORTED, "functions are computed by the backend cpu alone");
    if (ulp_function_check(m.function, &m.r->format, m.r->rule) != ULP_OK)
        return ulp_foreign_fail(ULP_UNSUPPORTED, "%s is not offered with wrap-around: its result has too many bits",
                                ulp_function_name(m.function));
    if (!m.wide && !m.r->format.fits_binary32)
        return ulp_foreign_fail(ULP_UNSUPPORTED, "binary32 does not hold every value of %s; give arrays of binary64",
                                m.r->format.name);
    ulp_parallel_for(n, GRAIN, function_part, &m);
    return ULP_OK;
}

ulp_status ulp_foreign_map(const ulp_rounder *r, int op, void *y, const void *a, const void *b, const void *c, size_t n,
                           int wide, uint64_t seed, uint64_t stream, uint64_t first) {
    enum { GRAIN = 1024 };
    const ulp_stream words = {seed, stream, first};
    if (op >= ULP_OP_COUNT && op < ULP_OPERATION_COUNT)
        return map_function((function_map){r, (ulp_function)(op - ULP_OP_COUNT), wide, y, a, words}, n);
    if (op < 0 || op >= ULP_OP_COUNT) return ulp_foreign_fail(ULP_BAD_ARGUMENT, "there is no operation %d", op);
    if (!wide)
        return ulp_foreign_status(ulp_backend_map(r->backend, y, (ulp_array_op){(ulp_op)op, a, b, c}, n,
                                                  (ulp_rounding){&r->format, r->rule, words, NULL}),
                                  r->backend, r->format.name);
    map64 m = {r, (ulp_op)op, y, a, b, c, words};
    ulp_parallel_for(n, GRAIN, map64_part, &m);
    return ULP_OK;
}

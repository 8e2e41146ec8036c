/* round.c - rounding as plain functions, and the names of modes and operations. */
#include "round.h"

double ulp_round(double x, const ulp_format *format, ulp_rule rule, uint32_t word) {
    return ulp_round_exact(ulp_flush_operand(ulp_exact_of(x), format), format, rule, word);
}

double ulp_round_pair(double hi, double lo, const ulp_format *format, ulp_rule rule, uint32_t word) {
    return ulp_round_exact(ulp_exact_of_pair(hi, lo), format, rule, word);
}

static double operand_of(double x, const ulp_format *f) {
    return ulp_flush_operand(ulp_exact_of(x), f).kind == ULP_EXACT_ZERO ? x * 0.0 : x;
}

ulp_scalar_op ulp_op_of_operands(ulp_scalar_op op, const ulp_format *f) {
    if (f->flushes & ULP_FLUSH_INPUTS)
        op.a = operand_of(op.a, f), op.b = operand_of(op.b, f), op.c = operand_of(op.c, f);
    return op;
}

double ulp_arith(ulp_scalar_op op, const ulp_format *format, ulp_rule rule, uint32_t word) {
    return ulp_round_exact(ulp_exact_op(ulp_op_of_operands(op, format)), format, rule, word);
}

static int same(const char *a, const char *b) {
    while (*a != '\0' && *a == *b) a++, b++;
    return *a == *b;
}

static const char *const mode_names[] = {
#define ULP_MODE_NAME(id, name, meaning, stochastic, inward) name,
    ULP_MODES(ULP_MODE_NAME)
#undef ULP_MODE_NAME
};

static const char *const mode_meanings[] = {
#define ULP_MODE_MEANING(id, name, meaning, stochastic, inward) meaning,
    ULP_MODES(ULP_MODE_MEANING)
#undef ULP_MODE_MEANING
};

const char *ulp_mode_name(ulp_mode mode) { return (unsigned)mode < ULP_MODE_COUNT ? mode_names[mode] : NULL; }

const char *ulp_mode_meaning(ulp_mode mode) { return (unsigned)mode < ULP_MODE_COUNT ? mode_meanings[mode] : NULL; }

ulp_status ulp_mode_parse(ulp_mode *mode, const char *text) {
    if (mode == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    if (same(text, "sr")) text = "sra";
    for (int i = 0; i < ULP_MODE_COUNT; i++) {
        if (!same(text, mode_names[i])) continue;
        *mode = (ulp_mode)i;
        return ULP_OK;
    }
    return ULP_BAD_NAME;
}

ulp_status ulp_rule_check(const ulp_format *format, ulp_rule rule) {
    const ulp_status status = ulp_rule_check_single(format, rule);
    return status == ULP_OK && format->flushes != 0 ? ULP_UNSUPPORTED : status;
}

ulp_status ulp_rule_check_single(const ulp_format *format, ulp_rule rule) {
    if (rule.mode >= ULP_MODE_COUNT || rule.overflow >= ULP_OVERFLOW_COUNT || rule.random_bits > 32)
        return ULP_BAD_ARGUMENT;
    if (ulp_overflow_of(format, (ulp_overflow)rule.overflow) == ULP_OVERFLOW_WRAP && !format->is_fixed)
        return ULP_UNSUPPORTED;
    return ULP_OK;
}

static const struct op_text {
    const char *name;
    int operands;
} ops[] = {
#define ULP_OP_TEXT(id, name, operands) {name, operands},
    ULP_OPS(ULP_OP_TEXT)
#undef ULP_OP_TEXT
};

const char *ulp_op_name(ulp_op op) { return (unsigned)op < ULP_OP_COUNT ? ops[op].name : NULL; }

int ulp_op_operands(ulp_op op) { return (unsigned)op < ULP_OP_COUNT ? ops[op].operands : 0; }

ulp_status ulp_op_parse(ulp_op *op, const char *text) {
    if (op == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    for (int i = 0; i < ULP_OP_COUNT; i++) {
        if (!same(text, ops[i].name)) continue;
        *op = (ulp_op)i;
        return ULP_OK;
    }
    return ULP_BAD_NAME;
}

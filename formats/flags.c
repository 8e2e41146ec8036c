/* flags.c - the exceptions of an operation, from its exact result and its rounded one. */
#include "flags.h"

#include "number.h"

static unsigned flags_of_finite(ulp_exact x, double y, const ulp_format *f, ulp_rule rule, uint32_t word) {
    unsigned flags = ulp_exact_is(x, y) ? 0 : ULP_FLAG_INEXACT;
    if (ulp_rounding_overflows(x, f, rule, word)) return flags | ULP_FLAG_OVERFLOW | ULP_FLAG_INEXACT;
    if (flags == 0 || f->is_fixed) return flags;
    const int tiny = f->taper != ULP_TAPER_NONE ? y == 0.0 : ulp_is_tiny(x, f, rule, word);
    return tiny ? flags | ULP_FLAG_UNDERFLOW : flags;
}

unsigned ulp_flags_of_rounding(ulp_exact x, double y, const ulp_format *f, ulp_rule rule, uint32_t word) {
    switch (x.kind) {
    case ULP_EXACT_NAN: return 0;
    case ULP_EXACT_INF: return y - y != 0.0 && y == y ? 0 : ULP_FLAG_INVALID;
    case ULP_EXACT_FINITE: return flags_of_finite(x, y, f, rule, word);
    default: return y == 0.0 ? 0 : ULP_FLAG_INEXACT; /* e8m0 has no zero */
    }
}

static int is_finite(double x) { return x - x == 0.0; }

unsigned ulp_flags_of_op(ulp_scalar_op op, double y, const ulp_format *f, ulp_rule rule, uint32_t word) {
    const int n = ulp_op_operands(op.op);
    op = ulp_op_of_operands(op, f);
    const int has_nan = op.a != op.a || (n > 1 && op.b != op.b) || (n > 2 && op.c != op.c);
    const ulp_exact x = ulp_exact_op(op);
    if (has_nan) return 0;
    if (x.kind == ULP_EXACT_NAN) return ULP_FLAG_INVALID;
    if (op.op == ULP_DIV && op.b == 0.0 && is_finite(op.a)) return ULP_FLAG_DIVBYZERO;
    return ulp_flags_of_rounding(x, y, f, rule, word);
}

int ulp_flags_text(char *text, unsigned flags) {
    static const char *const names[ULP_FLAG_COUNT] = {
#define ULP_FLAG_NAME(id, name) name,
        ULP_FLAGS(ULP_FLAG_NAME)
#undef ULP_FLAG_NAME
    };
    int at = 0;
    for (int i = 0; i < ULP_FLAG_COUNT; i++) {
        if ((flags >> i & 1u) == 0) continue;
        if (at > 0) text[at++] = '|';
        for (const char *name = names[i]; *name != '\0'; name++) text[at++] = *name;
    }
    if (at == 0) text[at++] = '-';
    text[at] = '\0';
    return at;
}

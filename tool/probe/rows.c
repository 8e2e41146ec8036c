/* rows.c - the rows of hardware: the properties that the fields of a datapath give, and the list of the rows. */
#include "rows.h"

#include "tool/tool.h"

#include <string.h>

/* ---- properties ---- */

/* Each function writes the value of a property and returns 1 if the vectors of the prober can show this value. */

static int max_of(int a, int b) { return a > b ? a : b; }
static int min_of(int a, int b) { return a < b ? a : b; }

/* The code of a NaN result: the row's, or the canonical one of the format. */
static int64_t nan_code_of(const ulp_datapath *d) {
    return (int64_t)(d->nan_code != 0 ? d->nan_code : d->result.nan_code);
}

static int is_directed(uint32_t mode) { return mode == ULP_RD || mode == ULP_RU; }

/* The effect of a c far below the products on a rounding of their sum. */
static int64_t small_c_under(uint32_t mode) {
    switch (mode) {
    case ULP_RZ: return ULP_SMALL_TO_ZERO;
    case ULP_RD: return ULP_SMALL_DOWN;
    case ULP_RU: return ULP_SMALL_UP;
    case ULP_RO: return ULP_SMALL_TO_ODD;
    default: return ULP_SMALL_LOST;
    }
}

/* The same in an aligned sum, where the alignment may cut c before the sum is rounded. The vectors have a c that is
 * 2^(prec + 3) times smaller than the product. */
static int small_c_of_aligned(const ulp_datapath *d, int64_t *value) {
    const ulp_fused *f = &d->fused;
    const int cut = f->fraction < d->result.prec + 3;
    *value = ULP_SMALL_LOST;
    if (f->join != 0) {
        if (!f->c_cut) *value = ULP_SMALL_DOWN;
        return cut;
    }
    if (f->late) return 1;
    if (f->c_last || !cut) *value = small_c_under(f->output);
    return f->c_last || (cut ? f->align : f->output) == ULP_RZ || (cut ? f->align : f->output) == ULP_RNE;
}

static int aligned_value(const ulp_datapath *d, ulp_property_id id, int64_t *value) {
    const ulp_fused *f = &d->fused;
    /* with some values of the fields the vectors cannot show a property */
    const int whole = f->kept == d->accumulator.prec - 1,
              plain_late = !f->late || (f->length % 2 == 0 && f->fraction <= 26),
              cut = max_of(max_of(f->zero_operand, f->zero_product), f->zero_c) > -60;
    switch (id) {
    case ULP_P_LENGTH: *value = f->length; return plain_late;
    case ULP_P_PROMOTION:
        if (f->c_last) return 0; /* sums that leave for an outer one may look the same */
        *value = f->late ? 2 * f->length : 0;
        return !f->late || (plain_late && d->accumulator.prec >= 24);
    case ULP_P_ORDER: *value = f->late; return plain_late;
    case ULP_P_PLACE: *value = f->late || f->c_last; return 1;
    case ULP_P_CARRY: *value = 0; return !cut;
    case ULP_P_CANCEL: *value = f->join != 0; return f->fraction > 2 && f->length > 1;
    case ULP_P_SCALE: *value = 0; return f->fraction > 2;
    case ULP_P_GROUP: *value = f->group != 0 ? f->group : 1; return 1;
    case ULP_P_FRACTION:
    case ULP_P_FRACTION_C: *value = f->fraction; return 1;
    case ULP_P_ALIGN: *value = f->align; return 1;
    case ULP_P_KEPT: /* late: the second sum truncates the result of the first sum */
        *value = f->late && f->fraction < f->kept ? f->fraction : f->kept;
        return 1;
    case ULP_P_OUTPUT:
        *value = f->output;
        if (f->join != 0 && f->normal < f->kept + 3) return 0; /* most sums are rounded down before */
        return !f->late || f->fraction >= f->kept || f->align == f->output;
    case ULP_P_LAST: *value = f->c_last ? f->output : ULP_RNE; return 1;
    case ULP_P_MONOTONIC:
        *value = (int64_t)f->length << f->kept > (int64_t)1 << f->fraction;
        return f->output == ULP_RZ && f->align == ULP_RZ && f->group == 0 && (f->length & (f->length - 1)) == 0;
    case ULP_P_NAN: *value = nan_code_of(d); return 1;
    case ULP_P_OVERFLOW:
        *value = f->output == ULP_RNE;
        return whole && f->fraction > f->kept - (f->output == ULP_RZ) && (f->output == ULP_RNE || f->output == ULP_RZ);
    case ULP_P_UNDERFLOW: *value = f->signed_zero; return f->join == 0 && (f->output == ULP_RNE || f->output == ULP_RZ);
    case ULP_P_FLOOR: /* c = 0 differs from a floor only if its exponent is above the exponents of all other c */
        *value = f->zero_c > d->result.emin && !f->late ? f->floor : max_of(f->floor, f->zero_c);
        return f->join == 0; /* products alone do not align with c */
    case ULP_P_ZERO_C: *value = f->zero_c; return f->join == 0;
    case ULP_P_ZERO_PRODUCT:
        *value = f->zero_operand != ULP_NO_EXPONENT ? 2 * f->zero_operand : f->zero_product;
        return 1;
    case ULP_P_ZERO_OPERAND: *value = f->zero_operand; return 1;
    case ULP_P_SCALE_BLOCK: *value = d->scale_block; return 1;
    case ULP_P_SIGNS:
        *value = f->join != 0;
        if (f->join != 0 && f->fraction > d->result.prec + 2) return 0; /* no c of the vectors is rounded down */
        return f->align != ULP_RD && f->align != ULP_RU && f->output != ULP_RD && f->output != ULP_RU;
    case ULP_P_SMALL_C: return small_c_of_aligned(d, value);
    case ULP_P_PARTS: *value = f->parts; return f->join != 0;
    case ULP_P_BESIDE_C: *value = min_of(f->join, f->normal + 1); return f->join != 0;
    case ULP_P_BEFORE: *value = min_of(f->join, f->normal); return f->join != 0;
    case ULP_P_PAIR:
    case ULP_P_SUBNORMAL_C:
    case ULP_P_TINY:
    case ULP_P_FLUSH:
    case ULP_P_NEGATIVE_C: return 0;
    default: *value = 0; return id < ULP_PROPERTY_COUNT;
    }
}

/* Each instruction is a sum of its own: the vectors show what happens to c, to tiny numbers, and how sums are rounded.
 */
static int chains_value(const ulp_datapath *d, ulp_property_id id, int64_t *value) {
    const ulp_chains *s = &d->chains;
    switch (id) {
    case ULP_P_PLACE: /* the vectors of c need a product, or all products, beside c */
        *value = s->c_last;
        return s->c_last || (s->fused && (s->term == 1 || s->term == s->length));
    case ULP_P_KEPT: *value = d->accumulator.prec - 1; return 1;
    case ULP_P_OUTPUT: *value = d->rule.mode; return 1;
    case ULP_P_LAST: *value = d->rule.mode; return s->c_last;
    case ULP_P_BETWEEN: *value = 0; return 1;
    case ULP_P_SUBNORMAL_IN: *value = s->flush_ab != ULP_KEEP_INPUT; return d->a.emin <= d->result.emin;
    case ULP_P_SUBNORMAL_OUT: *value = s->flush_c != ULP_KEEP_INPUT || s->flush != ULP_KEEP_OUTPUT; return 1;
    case ULP_P_INF_ZERO:
    case ULP_P_INF_INF: *value = 0; return 1;
    case ULP_P_NAN: *value = nan_code_of(d); return 1;
    case ULP_P_SIGNS: *value = is_directed(d->rule.mode); return 1;
    case ULP_P_SMALL_C: *value = small_c_under(d->rule.mode); return 1;
    case ULP_P_PAIR:
        *value = s->c_last || s->term > 1 ? ULP_PAIR_TOGETHER : s->swapped ? ULP_PAIR_SECOND_FIRST : ULP_PAIR_ASCENDING;
        return d->rule.mode == ULP_RNE && s->fused && (s->lanes == 1 || s->c_last);
    case ULP_P_SUBNORMAL_C: *value = s->flush_c != ULP_KEEP_INPUT; return 1;
    case ULP_P_TINY: *value = s->flush != ULP_KEEP_OUTPUT; return 1;
    case ULP_P_FLUSH: *value = s->flush - ULP_FLUSH_BEFORE; return s->flush != ULP_KEEP_OUTPUT;
    case ULP_P_SHIFT: *value = s->shift; return 1;
    case ULP_P_MINUS_ZERO: /* -0 if all terms are: chains that start at +0 are not */
        *value = s->flush_c != ULP_FLUSH_POSITIVE && (s->c_last ? s->length == s->lanes && !s->fused : s->lanes == 1);
        return s->term == 1 && (d->rule.mode == ULP_RNE || d->rule.mode == ULP_RO);
    case ULP_P_NEGATIVE_C: /* a second product of zero makes -0 a +0 */
        *value = s->flush_c != ULP_KEEP_INPUT ? 2 : s->flush == ULP_KEEP_OUTPUT ? 0 : s->c_last ? 1 : 2;
        return 1;
    default: return 0;
    }
}

static int serial_value(const ulp_datapath *d, ulp_property_id id, int64_t *value) {
    switch (id) {
    case ULP_P_LENGTH: *value = d->length; return 1;
    case ULP_P_ORDER:
    case ULP_P_PLACE: *value = 0; return 1;
    case ULP_P_KEPT: *value = d->accumulator.prec - 1; return 1;
    case ULP_P_OUTPUT: *value = d->rule.mode; return !ulp_mode_is_stochastic(d->rule.mode);
    case ULP_P_PROMOTION:
    case ULP_P_SHIFT:
    case ULP_P_NEGATIVE_C: *value = 0; return 1;
    case ULP_P_MINUS_ZERO: *value = 1; return d->length == 1 && !is_directed(d->rule.mode);
    case ULP_P_SIGNS: *value = is_directed(d->rule.mode); return 1;
    case ULP_P_SMALL_C: *value = small_c_under(d->rule.mode); return 1;
    case ULP_P_PAIR: *value = d->length > 1 ? ULP_PAIR_TOGETHER : ULP_PAIR_ASCENDING; return d->rule.mode == ULP_RNE;
    default: return 0;
    }
}

int tool_row_value(const ulp_datapath *d, ulp_property_id id, int64_t *value) {
    if (id == ULP_P_PROMOTION && d->promote != 0 && d->promote < 8192) {
        *value = d->promote;
        return (d->kind == ULP_ALIGNED && !d->fused.late) || d->kind == ULP_SERIAL || d->kind == ULP_SPLIT;
    }
    if (d->promote != 0 || d->result.is_fixed) return 0;
    if (d->kind == ULP_ALIGNED) return aligned_value(d, id, value);
    if (d->kind == ULP_CHAINS) return chains_value(d, id, value);
    return d->kind == ULP_SERIAL && serial_value(d, id, value);
}

/* ---- ulp probe --list ---- */

/* The instruction of a row: given by the end of its name, else the instruction of its machine. */
static const char *unit_of(const char *name) {
    static const struct {
        const char *begin, *end, *unit;
    } units[] = {
        {"", "-mma", "mma.sync"},
        {"", "-k4", "mma.sync, k = 4"},
        {"", "-k8", "mma.sync, k = 8"},
        {"", "-k16", "mma.sync, k = 16"},
        {"", "-mx", "mma, mxf8f6f4"},
        {"", "-mxf4", "mma, mxf4"},
        {"", "-mxf4x16", "mma, mxf4nvf4"},
        {"", "-nvf4", "mma, mxf4nvf4"},
        {"h100-", "", "wgmma"},
        {"b200-", "", "tcgen05"},
        {"mi250-bf16", "-p2", "MFMA bf16"},
        {"mi250-bf16", "", "MFMA bf16_1k"},
        {"mi", "", "MFMA"},
        {"avx512-bf16", "", "VDPBF16PS"},
        {"avx512-fp16", "", "VDPPHPS"},
        {"amx-bf16", "", "TDPBF16PS"},
        {"amx-fp16", "", "TDPFP16PS"},
        {"amx-e", "", "TDPBF8PS, ..."},
        {"arm-bf16", "-ebf", "BFDOT, EBF = 1"},
        {"arm-", "-fmlal", "FMLAL"},
        {"arm-", "-fmopa", "FMOPA"},
        {"arm-bf16", "", "BFDOT, EBF = 0"},
        {"arm-e", "", "FDOT"},
        {"riscv-", "", "Zvdota, draft 0.2"},
        {"", "", "mma.sync"},
    };
    for (size_t i = 0;; i++) {
        const size_t n = strlen(name), m = strlen(units[i].end);
        if (strncmp(name, units[i].begin, strlen(units[i].begin)) == 0 && n > m &&
            strcmp(name + n - m, units[i].end) == 0)
            return units[i].unit;
    }
}

/* The fields of a row in at most 20 characters. */
static void describe_row(char *to, size_t size, const ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    const ulp_chains *s = &d->chains;
    const int chains = d->kind == ULP_CHAINS, length = chains ? s->length : (int)d->step;
    if (d->kind == ULP_ALIGNED)
        snprintf(to, size, "L %-3d F %-3d %s %-3d", f->length, f->fraction, f->join != 0 ? "join" : "bits",
                 f->join != 0 ? f->join : f->kept);
    else
        snprintf(to, size, "L %-3d %s%s", length, chains ? "chains " : "exact",
                 chains ? (s->c_last ? "c last" : "from c") : "");
}

void tool_row_list(void) {
    ulp_datapath d;
    char fields[40];
    for (size_t i = 0; ulp_datapath_get(i, &d) == ULP_OK; i++) {
        describe_row(fields, sizeof fields, &d);
        printf("%-22s %-20s acc %-5s %-4s %s\n", d.name, fields, d.accumulator.prec < 24 ? "fp16" : "fp32",
               ulp_mode_name((ulp_mode)(d.kind == ULP_ALIGNED ? d.fused.output : d.rule.mode)), unit_of(d.name));
    }
}

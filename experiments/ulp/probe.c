/* probe.c - ulp probe: the properties of a fused sum, found by vectors, beside what the datapath's row says. */
#include "kernels/probe.h"
#include "tool.h"

#include <string.h>

/* ---- what a row says: the fields of the datapath, and what the table of generations holds for all of them ---- */

static int max_of(int a, int b) { return a > b ? a : b; }

static int aligned_value(const ulp_datapath *d, ulp_property_id id, int64_t *value) {
    const ulp_fused *f = &d->fused;
    /* what the vectors cannot show of altered fields is not said */
    const int whole = f->kept == d->accumulator.prec - 1,
              plain_late = !f->late || (f->length % 2 == 0 && f->fraction <= 26),
              cut = max_of(max_of(f->zero_operand, f->zero_product), f->zero_c) > -60;
    switch (id) {
    case ULP_P_LENGTH: *value = f->length; return plain_late;
    case ULP_P_PROMOTION:
        *value = f->late ? 2 * f->length : 0;
        return !f->late || (plain_late && d->accumulator.prec >= 24);
    case ULP_P_ORDER: *value = f->late; return plain_late;
    case ULP_P_PLACE: *value = f->late; return 1;
    case ULP_P_CARRY: *value = 0; return !cut;
    case ULP_P_CANCEL: *value = 0; return f->fraction > 2 && f->length > 1;
    case ULP_P_SCALE: *value = 0; return f->fraction > 2;
    case ULP_P_GROUP: *value = f->group != 0 ? f->group : 1; return 1;
    case ULP_P_FRACTION:
    case ULP_P_FRACTION_C: *value = f->fraction; return 1;
    case ULP_P_ALIGN: *value = f->align; return 1;
    case ULP_P_KEPT: /* of two sums the second cuts the first one's result */
        *value = f->late && f->fraction < f->kept ? f->fraction : f->kept;
        return 1;
    case ULP_P_OUTPUT: *value = f->output; return !f->late || f->fraction >= f->kept || f->align == f->output;
    case ULP_P_LAST: *value = ULP_RNE; return 1;
    case ULP_P_MONOTONIC:
        *value = (int64_t)f->length << f->kept > (int64_t)1 << f->fraction;
        return f->output == ULP_RZ && f->align == ULP_RZ && f->group == 0 && (f->length & (f->length - 1)) == 0;
    case ULP_P_NAN: *value = (int64_t)d->nan_code; return 1;
    case ULP_P_OVERFLOW:
        *value = f->output == ULP_RNE;
        return whole && f->fraction > f->kept - (f->output == ULP_RZ) && (f->output == ULP_RNE || f->output == ULP_RZ);
    case ULP_P_UNDERFLOW: *value = f->signed_zero; return f->output == ULP_RNE || f->output == ULP_RZ;
    case ULP_P_FLOOR: /* only above the exponent of every other c is c = 0 told from a floor */
        *value = f->zero_c > d->result.emin && !f->late ? f->floor : max_of(f->floor, f->zero_c);
        return 1;
    case ULP_P_ZERO_C: *value = f->zero_c; return 1;
    case ULP_P_ZERO_PRODUCT:
        *value = f->zero_operand != ULP_NO_EXPONENT ? 2 * f->zero_operand : f->zero_product;
        return 1;
    case ULP_P_ZERO_OPERAND: *value = f->zero_operand; return 1;
    case ULP_P_SCALE_BLOCK: *value = d->scale_block; return 1;
    default: *value = 0; return id < ULP_PROPERTY_COUNT;
    }
}

static int serial_value(const ulp_datapath *d, ulp_property_id id, int64_t *value) {
    switch (id) {
    case ULP_P_LENGTH: *value = d->length; return 1;
    case ULP_P_ORDER:
    case ULP_P_PLACE: *value = 0; return 1;
    case ULP_P_KEPT: *value = d->accumulator.prec - 1; return 1;
    case ULP_P_OUTPUT: *value = d->rule.mode; return !ulp_mode_is_stochastic(d->rule.mode);
    case ULP_P_PROMOTION: *value = 0; return 1;
    default: return 0;
    }
}

static int row_value(const ulp_datapath *d, ulp_property_id id, int64_t *value) {
    if (id == ULP_P_PROMOTION && d->promote != 0 && d->promote < 8192) {
        *value = d->promote;
        return (d->kind == ULP_ALIGNED && !d->fused.late) || d->kind == ULP_SERIAL || d->kind == ULP_SPLIT;
    }
    if (d->promote != 0 || d->result.is_fixed) return 0;
    if (d->kind == ULP_ALIGNED) return aligned_value(d, id, value);
    return d->kind == ULP_SERIAL && serial_value(d, id, value);
}

static int agrees(const ulp_property *p, int64_t value) {
    if (p->found == ULP_AT_LEAST) return value >= p->value;
    return p->found == ULP_AT_MOST ? value <= p->value : value == p->value;
}

/* ---- printing ---- */

static int print_property(const ulp_datapath *d, ulp_property_id id, const ulp_property *p, int csv) {
    char found[64], wanted[64] = "-";
    int64_t value;
    const int known = p->found != ULP_NOT_REACHABLE && row_value(d, id, &value);
    ulp_property_text(found, id, p->found, p->value);
    if (known) ulp_property_text(wanted, id, ULP_FOUND, value);
    if (known && value <= ULP_NO_EXPONENT) strcpy(wanted, "none");
    const char *verdict = !known ? "-" : (agrees(p, value) ? "ok" : "DIFFERS");
    if (csv) printf("%s,%s,%s,%s,%s,\"%s\"\n", d->name, ulp_property_name(id), found, wanted, verdict, p->how);
    else printf("%-20s %-24s %-24s %-8s %s\n", ulp_property_name(id), found, wanted, verdict, p->how);
    return known && !agrees(p, value);
}

/* The instruction that a row stands for: its generation's own, or what the end of its name says. */
static const char *unit_of(const char *name) {
    static const struct { const char *end, *unit; } units[] = {
        {"-mma", "mma.sync"},      {"-k4", "mma.sync, k = 4"},   {"-k8", "mma.sync, k = 8"},
        {"-k16", "mma.sync, k = 16"}, {"-mx", "mma, mxf8f6f4"}, {"-mxf4", "mma, mxf4"}, {"-nvf4", "mma, mxf4nvf4"},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t n = strlen(name), m = strlen(units[i].end);
        if (n > m && strcmp(name + n - m, units[i].end) == 0) return units[i].unit;
    }
    return strncmp(name, "h100-", 5) == 0 ? "wgmma" : (strncmp(name, "b200-", 5) == 0 ? "tcgen05" : "mma.sync");
}

static int list_rows(void) {
    ulp_datapath d;
    for (size_t i = 0; ulp_datapath_get(i, &d) == ULP_OK; i++)
        printf("%-22s L %-3d F %-3d bits %-3d acc %-5s %-4s %s\n", d.name, d.fused.length, d.fused.fraction,
               d.fused.kept, d.accumulator.prec < 24 ? "fp16" : "fp32",
               ulp_mode_name((ulp_mode)d.fused.output), unit_of(d.name));
    return tool_finish(&tool_probe);
}

static int run(int argc, char **argv) {
    ulp_datapath d;
    ulp_probe probe;
    int csv = 0, list = 0, given = 0, differ = 0;
    const tool_option options[] = {{"datapath", TOOL_DATAPATH, &d, 0, 0, &given},
                                   {"list", TOOL_FLAG, &list, 0, 0, NULL},
                                   {"csv", TOOL_FLAG, &csv, 0, 0, NULL},
                                   {0}};
    if (tool_parse(&tool_probe, options, argc, argv) != 0) {
        const int meant = !given && ulp_datapath_parse(&d, argv[0]) == ULP_OK;
        tool_usage(&tool_probe, meant ? "takes no words: '%s'; did you mean --datapath %s?" : "takes no words: '%s'",
                   argv[0], argv[0]);
    }
    if (list && (given || csv)) tool_usage(&tool_probe, "--list stands alone");
    if (list) return list_rows();
    if (!given)
        tool_usage(&tool_probe, "--datapath is needed; --list names the rows of hardware, and these are known:\n%s",
                   ulp_datapath_names());
    const ulp_unit unit = ulp_unit_of(&d);
    const ulp_status status = ulp_probe_unit(&probe, &unit);
    if (status != ULP_OK) tool_usage(&tool_probe, "%s: %s", d.name, ulp_status_text(status));
    if (csv) puts("device,property,found,row,verdict,vector");
    else {
        printf("model of %s: products %s x %s, results %s; %llu sums%s\n\n", d.name, unit.a.name, unit.b.name,
               unit.result.name, (unsigned long long)probe.runs,
               d.scale_block != 0 ? "; scales are ones except where a vector names them" : "");
        printf("%-20s %-24s %-24s %-8s %s\n", "property", "found", "the row says", "", "vector");
    }
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++)
        differ += print_property(&d, (ulp_property_id)i, &probe.property[i], csv);
    if (!csv && differ > 0)
        printf("\n%d %s from the row\n", differ, differ == 1 ? "property differs" : "properties differ");
    const int written = tool_finish(&tool_probe);
    return differ > 0 ? TOOL_FAILED : written;
}

const tool_command tool_probe = {
    "probe", "probe --datapath D [--csv]\n       ulp probe --list",
    "finds out how a fused sum is formed: block length, bits, rounding, special values",
    "Feeds the datapath vectors that tell the cases apart, as one would a Tensor Core, and prints what they show: products\n"
    "in one sum (L), bits kept below the largest term (F), where c enters, rounding, special values, floors. Nothing is\n"
    "read from the datapath's row; its fields are printed beside. `at least`, `at most`: the input formats reach no further;\n"
    "`not reachable`: no vector of these formats tells, and why. Block scales are ones except in the lines about scales.\n"
    "`another`: none of the answers that the line knows. `-`: the row does not say. Where roundings are by chance, what\n"
    "depends on one is not reachable. Exit status 1 if something found differs from the row.\n\n"
    "A row stands for the instruction that the end of its name says: -mma is mma.sync (fp8 there runs on fp16 units), -k4,\n"
    "-k8 and -k16 are mma.sync with that k, -mx is mxf8f6f4, -mxf4 and -nvf4 are those of e2m1; without an end it is\n"
    "mma.sync on v100, t4, a100, l40s and rtx5090, wgmma on h100 and tcgen05 on b200.\n\n"
    "  --list     the rows that stand for hardware: name, L, F, fraction bits kept, accumulator, rounding, instruction\n"
    "  --csv      device,property,found,row,verdict,vector\n",
    run};

/* row_list.c - ulp probe --list: the rows of hardware, their fields, and their instructions. */
#include "row_list.h"

#include "tool/tool.h"

#include <string.h>

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

int tool_row_list(void) {
    ulp_datapath d;
    char fields[40];
    for (size_t i = 0; ulp_datapath_get(i, &d) == ULP_OK; i++) {
        describe_row(fields, sizeof fields, &d);
        printf("%-22s %-20s acc %-5s %-4s %s\n", d.name, fields, d.accumulator.prec < 24 ? "fp16" : "fp32",
               ulp_mode_name((ulp_mode)(d.kind == ULP_ALIGNED ? d.fused.output : d.rule.mode)), unit_of(d.name));
    }
    return ULP_EXIT_FINE;
}

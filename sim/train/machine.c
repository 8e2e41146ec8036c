/* machine.c - the table of machines, and the roofline; see machine.h. */
#include "machine.h"

#include <stdio.h>
#include <string.h>

/* X(name, full name, bandwidth, source, peaks in the order of ulp_peak_type). Where a source gives peaks with sparsity,
 * the row has half of them. */
#define MACHINES(X)                                                                                                    \
    X(p100, "Tesla P100 SXM2", 732,                                                                                    \
      "NVIDIA, Tesla P100 data sheet 2016: 10.6 and 21.2 TFLOPS, 732 GB/s; no Tensor Cores", 10.6, 0, 21.2, 0, 0)      \
    X(v100, "Tesla V100 SXM2", 900, "NVIDIA, Tesla V100 data sheet 2018: 15.7 and 125 TFLOPS, 900 GB/s", 15.7, 0, 125, \
      0, 0)                                                                                                            \
    X(a100, "A100 80GB SXM", 2039, "NVIDIA, A100 data sheet 2021: 19.5, 156, 312 and 312 TFLOPS, 2039 GB/s", 19.5,     \
      156, 312, 312, 0)                                                                                                \
    X(h100, "H100 SXM", 3350, "NVIDIA, H100 data sheet 2023: 67, 989/2, 1979/2, 1979/2 and 3958/2 TFLOPS, 3.35 TB/s",  \
      67, 494.5, 989.5, 989.5, 1979)                                                                                   \
    X(b200, "B200 in HGX B200", 7700,                                                                                  \
      "NVIDIA, Blackwell architecture technical brief 2.1, 2025: 75, 2200/2, 4500/2, 4500/2 and 9000/2 TFLOPS, "       \
      "7.7 TB/s",                                                                                                      \
      75, 1100, 2250, 2250, 4500)
#define ROW(name, what, bandwidth, source, ...) {#name, what, source, {__VA_ARGS__}, bandwidth},
#define WORD(name, ...) " " #name

static const ulp_machine rows[] = {MACHINES(ROW)};
enum { MACHINES = sizeof rows / sizeof rows[0] };
const char ulp_machine_words[] = MACHINES(WORD);

const ulp_machine *ulp_machine_get(size_t i) { return i < MACHINES ? &rows[i] : NULL; }

ulp_status ulp_machine_find(const ulp_machine **machine, const char *name, ulp_error *error) {
    char known[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < MACHINES; i++) {
        if (strcmp(rows[i].name, name) == 0) return *machine = &rows[i], ULP_OK;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", rows[i].name);
    }
    return ulp_fail(error, ULP_BAD_NAME, "no machine '%s'; known: %s", name, known);
}

const char *ulp_peak_type_name(ulp_peak_type type) {
    static const char *const names[ULP_PEAK_TYPES] = {"fp32", "tf32", "fp16", "bf16", "fp8"};
    return (unsigned)type < ULP_PEAK_TYPES ? names[type] : NULL;
}

/* Whether the operands of a type include all numbers of a format. */
static int holds(ulp_peak_type type, const ulp_format *f) {
    switch (type) {
    case ULP_PEAK_FP8: return ulp_format_holds(&ulp_e4m3, f) || ulp_format_holds(&ulp_e5m2, f);
    case ULP_PEAK_FP16: return ulp_format_holds(&ulp_binary16, f);
    case ULP_PEAK_BF16: return ulp_format_holds(&ulp_bfloat16, f);
    default: return 0;
    }
}

ulp_peak_type ulp_peak_type_of(const ulp_format *a, const ulp_format *b) {
    static const ulp_peak_type narrowest_first[] = {ULP_PEAK_FP8, ULP_PEAK_FP16, ULP_PEAK_BF16};
    for (size_t i = 0; i < sizeof narrowest_first / sizeof *narrowest_first; i++)
        if (holds(narrowest_first[i], a) && holds(narrowest_first[i], b)) return narrowest_first[i];
    return ULP_PEAK_FP32;
}

ulp_peak_type ulp_machine_type(const ulp_machine *machine, ulp_peak_type type) {
    if (machine->peak[type] > 0) return type;
    return type == ULP_PEAK_FP8 ? ulp_machine_type(machine, ULP_PEAK_FP16) : ULP_PEAK_FP32;
}

static double peak_of(const ulp_machine *machine, ulp_peak_type type) {
    return machine->peak[ulp_machine_type(machine, type)] * 1e12;
}

double ulp_machine_balance(const ulp_machine *machine, ulp_peak_type type) {
    return peak_of(machine, type) / (machine->bandwidth * 1e9);
}

double ulp_machine_seconds(const ulp_machine *machine, ulp_peak_type type, double products, double bytes) {
    const double compute = 2 * products / peak_of(machine, type), move = bytes / (machine->bandwidth * 1e9);
    return compute > move ? compute : move;
}

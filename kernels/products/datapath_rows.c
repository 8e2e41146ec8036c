/* datapath_rows.c - the rows of datapaths that model hardware: GPU-INPUT[.INPUT][-ACCUMULATOR][-UNIT]. */
#include "datapath.h"

#include <string.h>

enum { NONE = ULP_NO_EXPONENT };

/* A unit of a GPU generation. `inputs` lists formats: a datapath for each format, or for each pair of formats if
 * `mixed`. Khattak and Mikaitis 2025 (arXiv 2512.07004) measured the floors of Emax on V100, A100, L40S, H100 and B200
 * with fp16 and bf16. For tf32 the floors are assumed to be equal. RTX Blackwell and fp8 show no floor. The other
 * fields are from Xie et al. 2025 (arXiv 2511.10909), and from the machine code of ptxas 13.0 for fp8 of `mma` on
 * h100 and b200. */
typedef struct row {
    const char *gpu, *unit;
    const char *also; /* other names of the unit: h100-fp16-wgmma is h100-fp16 */
    const char *inputs, *accumulator;
    uint8_t mixed, length, fraction, kept; /* kept = 0: all bits of the accumulator */
    int16_t floor;
    uint8_t late, group, scale_block;
    const char *scale;
} row;

#define FP8 "e4m3 e5m2"
#define FP864 "e4m3 e5m2 e3m2 e2m3 e2m1"

static const row rows[] = {
    /* gpu, unit, its other names, inputs, accumulator, mixed, L, F, kept, floor, late, group, scale block and format */
    {"v100", "", "mma", "fp16", "fp32", 0, 4, 23, 0, -131, 0, 0, 0, ""},
    {"v100", "", "mma", "fp16", "fp16", 0, 4, 23, 0, -19, 0, 0, 0, ""},
    {"t4", "", "mma", "fp16", "fp32", 0, 8, 24, 0, -132, 0, 0, 0, ""},
    {"t4", "", "mma", "fp16", "fp16", 0, 8, 24, 0, -20, 0, 0, 0, ""},
    {"a100", "", "mma", "fp16 bf16", "fp32", 0, 8, 24, 0, -132, 0, 0, 0, ""},
    {"a100", "", "mma", "fp16", "fp16", 0, 8, 24, 0, -20, 0, 0, 0, ""},
    {"a100", "", "mma", "tf32", "fp32", 0, 4, 24, 0, -132, 0, 0, 0, ""},
    {"l40s", "", "mma", "fp16 bf16", "fp32", 0, 8, 24, 0, -132, 0, 0, 0, ""},
    {"l40s", "", "mma", "fp16", "fp16", 0, 8, 24, 0, -20, 0, 0, 0, ""},
    {"l40s", "", "mma", "tf32", "fp32", 0, 4, 24, 0, -132, 0, 0, 0, ""},
    {"l40s", "", "mma", FP8, "fp32", 1, 16, 13, 13, NONE, 0, 0, 0, ""},
    {"l40s", "", "mma", FP8, "fp16", 1, 16, 13, 0, NONE, 0, 0, 0, ""},
    {"h100", "", "wgmma mma", "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""},
    {"h100", "", "wgmma mma", "fp16", "fp16", 0, 16, 25, 0, -21, 0, 0, 0, ""},
    {"h100", "", "wgmma mma", "tf32", "fp32", 0, 8, 25, 0, -133, 0, 0, 0, ""},
    {"h100", "", "wgmma", FP8, "fp32", 1, 32, 13, 13, NONE, 0, 0, 0, ""},
    {"h100", "", "wgmma", FP8, "fp16", 1, 32, 13, 0, NONE, 0, 0, 0, ""},
    {"h100", "k8", "", "fp16 bf16", "fp32", 0, 8, 25, 0, -133, 0, 0, 0, ""}, /* mma.m16n8k8 */
    {"h100", "k4", "", "tf32", "fp32", 0, 4, 25, 0, -133, 0, 0, 0, ""},      /* mma.m16n8k4 */
    {"h100", "mma", "", FP8, "fp32", 1, 16, 25, 0, -133, 1, 0, 0, ""},       /* mma.sync on fp16 units */
    {"h100", "mma", "", FP8, "fp16", 1, 16, 25, 0, -21, 1, 0, 0, ""},
    {"b200", "", "tcgen05", "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""}, /* tcgen05 */
    {"b200", "", "tcgen05", "fp16", "fp16", 0, 16, 25, 0, -21, 0, 0, 0, ""},
    {"b200", "", "tcgen05", "tf32", "fp32", 0, 8, 25, 0, -133, 0, 0, 0, ""},
    {"b200", "", "tcgen05", FP864, "fp32", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"b200", "", "tcgen05", FP864, "fp16", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"b200", "mma", "", "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""},
    {"b200", "mma", "", "fp16", "fp16", 0, 16, 25, 0, -21, 0, 0, 0, ""},
    {"b200", "mma", "", "tf32", "fp32", 0, 8, 25, 0, -133, 0, 0, 0, ""},
    {"b200", "mma", "", FP8, "fp32", 1, 16, 25, 0, -133, 1, 0, 0, ""},
    {"b200", "mma", "", FP8, "fp16", 1, 16, 25, 0, -21, 1, 0, 0, ""},
    {"b200", "mx", "", FP864, "fp32", 1, 32, 25, 0, NONE, 0, 0, 32, "e8m0"}, /* mxf8f6f4 */
    {"b200", "mxf4", "", "e2m1", "fp32", 0, 64, 35, 0, NONE, 0, 16, 32, "e8m0"},
    {"b200", "nvf4", "", "e2m1", "fp32", 0, 64, 35, 0, NONE, 0, 16, 16, "e4m3"},
    {"rtx5090", "", "mma", "fp16 bf16", "fp32", 0, 16, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "", "mma", "fp16", "fp16", 0, 16, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "", "mma", "tf32", "fp32", 0, 8, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "", "mma", FP864, "fp32", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "", "mma", FP864, "fp16", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "k16", "", FP8, "fp32", 1, 16, 25, 0, NONE, 0, 0, 0, ""}, /* mma.m16n8k16 */
    {"rtx5090", "mx", "", FP864, "fp32", 1, 32, 25, 0, NONE, 0, 0, 32, "e8m0"},
    {"rtx5090", "mxf4", "", "e2m1", "fp32", 0, 64, 35, 0, NONE, 0, 16, 32, "e8m0"},
    {"rtx5090", "nvf4", "", "e2m1", "fp32", 0, 64, 35, 0, NONE, 0, 16, 16, "e4m3"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Word i of a list separated by spaces. 0 past the end. */
static int word_at(char to[ULP_NAME_MAX], const char *list, size_t i) {
    for (;; i--) {
        size_t n = strcspn(list, " ");
        if (n == 0) return 0;
        if (i == 0) {
            memcpy(to, list, n);
            to[n] = '\0';
            return 1;
        }
        list += n + (list[n] == ' ');
    }
}

static size_t word_count(const char *list) {
    char word[ULP_NAME_MAX];
    size_t n = 0;
    while (word_at(word, list, n)) n++;
    return n;
}

static size_t pair_count(const row *r) {
    size_t n = word_count(r->inputs);
    return r->mixed ? n * n : n;
}

/* Name `u` of a row's unit; the name in canonical names comes first. 0 past the end. */
static int unit_at(char to[ULP_NAME_MAX], const row *r, size_t u) {
    if (u > 0) return word_at(to, r->also, u - 1);
    strcpy(to, r->unit);
    return 1;
}

/* The formats of pair `i` of a row, and the pair's name with name `u` of the unit. 0 past the last name. */
static int pair_at(const row *r, size_t i, size_t u, char name[ULP_DATAPATH_NAME_MAX], char formats[2][ULP_NAME_MAX]) {
    const size_t n = word_count(r->inputs);
    char unit[ULP_NAME_MAX];
    if (!unit_at(unit, r, u)) return 0;
    word_at(formats[0], r->inputs, r->mixed ? i / n : i);
    word_at(formats[1], r->inputs, r->mixed ? i % n : i);
    strcpy(name, r->gpu);
    strcat(strcat(name, "-"), formats[0]);
    if (strcmp(formats[0], formats[1]) != 0) strcat(strcat(name, "."), formats[1]);
    if (strcmp(r->accumulator, "fp32") != 0) strcat(strcat(name, "-"), r->accumulator);
    if (unit[0] != '\0') strcat(strcat(name, "-"), unit);
    return 1;
}

/* Sets *d and its name to pair `i` of a row. */
static ulp_status from_row(ulp_datapath *d, const row *r, size_t i) {
    char formats[2][ULP_NAME_MAX];
    pair_at(r, i, 0, d->name, formats);
    ulp_status status = ulp_format_parse(&d->accumulator, r->accumulator);
    if (status == ULP_OK) status = ulp_format_parse(&d->a, formats[0]);
    if (status == ULP_OK) status = ulp_format_parse(&d->b, formats[1]);
    if (status == ULP_OK && r->scale_block != 0) status = ulp_format_parse(&d->scale, r->scale);
    const int narrow = d->accumulator.prec < 24;
    d->kind = ULP_ALIGNED;
    d->has_inputs = 1;
    d->scale_block = r->scale_block;
    d->nan_code = narrow ? 0x7fffu : 0x7fffffffu;
    d->fused = (ulp_fused){
        .length = r->length, .fraction = r->fraction, .floor = r->floor, .late = r->late, .group = r->group};
    d->fused.kept = r->kept != 0 ? r->kept : (uint8_t)(d->accumulator.prec - 1);
    d->fused.align = ULP_RZ;
    d->fused.output = narrow ? ULP_RNE : ULP_RZ;
    d->fused.zero_operand = d->fused.zero_product = d->fused.zero_c = NONE;
    return status;
}

ulp_status ulp_datapath_row(ulp_datapath *d, const char *text) {
    char name[ULP_DATAPATH_NAME_MAX], formats[2][ULP_NAME_MAX];
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < pair_count(&rows[r]); i++)
            for (size_t u = 0; pair_at(&rows[r], i, u, name, formats); u++)
                if (strcmp(name, text) == 0) return from_row(d, &rows[r], i);
    return ULP_BAD_NAME;
}

ulp_status ulp_datapath_get(size_t i, ulp_datapath *datapath) {
    if (!datapath) return ULP_BAD_ARGUMENT;
    for (size_t r = 0; r < ROWS; r++) {
        const size_t n = pair_count(&rows[r]);
        if (i < n) {
            *datapath = (ulp_datapath){.length = 1};
            ulp_status status = from_row(datapath, &rows[r], i);
            return status == ULP_OK ? ulp_datapath_init(datapath) : status;
        }
        i -= n;
    }
    return ULP_BAD_ARGUMENT;
}

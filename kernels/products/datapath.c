/* datapath.c - the rows of datapaths that stand for hardware, and what follows from a datapath's fields. */
#include "datapath.h"
#include "sum.h"

#include <string.h>

/* ---- Tensor Cores: GPU-INPUT[.INPUT][-ACCUMULATOR][-UNIT] ---- */

enum { NONE = ULP_NO_EXPONENT };

/* A generation's unit. `inputs`: every format listed, and under `mixed` every pair of them. Evidence and what is open:
 * Khattak and Mikaitis 2025 (arXiv 2512.07004) measured the floors of Emax on V100, A100, L40S, H100 and B200 with fp16
 * and bf16; those of tf32 are taken as the same, RTX Blackwell and fp8 show none. The rest: Xie et al. 2025 (arXiv
 * 2511.10909). */
typedef struct row {
    const char *gpu, *unit, *inputs, *accumulator;
    uint8_t mixed, length, fraction, kept; /* kept 0: all bits of the accumulator */
    int16_t floor;
    uint8_t late, group, scale_block;
    const char *scale;
} row;

#define FP8 "e4m3 e5m2"
#define FP864 "e4m3 e5m2 e3m2 e2m3 e2m1"

static const row rows[] = {
    /* gpu      unit      inputs       acc     mix  L  F kept floor */
    {"v100", "", "fp16", "fp32", 0, 4, 23, 0, -131, 0, 0, 0, ""},
    {"v100", "", "fp16", "fp16", 0, 4, 23, 0, -19, 0, 0, 0, ""},
    {"t4", "", "fp16", "fp32", 0, 8, 24, 0, -132, 0, 0, 0, ""},
    {"t4", "", "fp16", "fp16", 0, 8, 24, 0, -20, 0, 0, 0, ""},
    {"a100", "", "fp16 bf16", "fp32", 0, 8, 24, 0, -132, 0, 0, 0, ""},
    {"a100", "", "fp16", "fp16", 0, 8, 24, 0, -20, 0, 0, 0, ""},
    {"a100", "", "tf32", "fp32", 0, 4, 24, 0, -132, 0, 0, 0, ""},
    {"l40s", "", "fp16 bf16", "fp32", 0, 8, 24, 0, -132, 0, 0, 0, ""},
    {"l40s", "", "fp16", "fp16", 0, 8, 24, 0, -20, 0, 0, 0, ""},
    {"l40s", "", "tf32", "fp32", 0, 4, 24, 0, -132, 0, 0, 0, ""},
    {"l40s", "", FP8, "fp32", 1, 16, 13, 13, NONE, 0, 0, 0, ""},
    {"l40s", "", FP8, "fp16", 1, 16, 13, 0, NONE, 0, 0, 0, ""},
    {"h100", "", "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""},
    {"h100", "", "fp16", "fp16", 0, 16, 25, 0, -21, 0, 0, 0, ""},
    {"h100", "", "tf32", "fp32", 0, 8, 25, 0, -133, 0, 0, 0, ""},
    {"h100", "", FP8, "fp32", 1, 32, 13, 13, NONE, 0, 0, 0, ""},
    {"h100", "", FP8, "fp16", 1, 32, 13, 0, NONE, 0, 0, 0, ""},
    {"h100", "k8", "fp16 bf16", "fp32", 0, 8, 25, 0, -133, 0, 0, 0, ""}, /* mma.m16n8k8 */
    {"h100", "k4", "tf32", "fp32", 0, 4, 25, 0, -133, 0, 0, 0, ""},      /* mma.m16n8k4 */
    {"h100", "mma", FP8, "fp32", 1, 16, 25, 0, -133, 1, 0, 0, ""},       /* mma.sync: fp16 units */
    {"h100", "mma", FP8, "fp16", 1, 16, 25, 0, -21, 1, 0, 0, ""},
    {"b200", "", "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""}, /* tcgen05 */
    {"b200", "", "fp16", "fp16", 0, 16, 25, 0, -21, 0, 0, 0, ""},
    {"b200", "", "tf32", "fp32", 0, 8, 25, 0, -133, 0, 0, 0, ""},
    {"b200", "", FP864, "fp32", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"b200", "", FP864, "fp16", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"b200", "mma", "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""},
    {"b200", "mma", "fp16", "fp16", 0, 16, 25, 0, -21, 0, 0, 0, ""},
    {"b200", "mma", "tf32", "fp32", 0, 8, 25, 0, -133, 0, 0, 0, ""},
    {"b200", "mma", FP8, "fp32", 1, 16, 25, 0, -133, 1, 0, 0, ""},
    {"b200", "mma", FP8, "fp16", 1, 16, 25, 0, -21, 1, 0, 0, ""},
    {"b200", "mx", FP864, "fp32", 1, 32, 25, 0, NONE, 0, 0, 32, "e8m0"}, /* mxf8f6f4 */
    {"b200", "mxf4", "e2m1", "fp32", 0, 64, 35, 0, NONE, 0, 16, 32, "e8m0"},
    {"b200", "nvf4", "e2m1", "fp32", 0, 64, 35, 0, NONE, 0, 16, 16, "e4m3"},
    {"rtx5090", "", "fp16 bf16", "fp32", 0, 16, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "", "fp16", "fp16", 0, 16, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "", "tf32", "fp32", 0, 8, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "", FP864, "fp32", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "", FP864, "fp16", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "k16", FP8, "fp32", 1, 16, 25, 0, NONE, 0, 0, 0, ""}, /* mma.m16n8k16 */
    {"rtx5090", "mx", FP864, "fp32", 1, 32, 25, 0, NONE, 0, 0, 32, "e8m0"},
    {"rtx5090", "mxf4", "e2m1", "fp32", 0, 64, 35, 0, NONE, 0, 16, 32, "e8m0"},
    {"rtx5090", "nvf4", "e2m1", "fp32", 0, 64, 35, 0, NONE, 0, 16, 16, "e4m3"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Word i of a list with spaces between; 0 past the end. */
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

/* The name and formats of pair `i` of a row. */
static void pair_at(const row *r, size_t i, char name[ULP_DATAPATH_NAME_MAX], char a[ULP_NAME_MAX],
                    char b[ULP_NAME_MAX]) {
    const size_t n = word_count(r->inputs);
    word_at(a, r->inputs, r->mixed ? i / n : i);
    word_at(b, r->inputs, r->mixed ? i % n : i);
    strcpy(name, r->gpu);
    strcat(strcat(name, "-"), a);
    if (strcmp(a, b) != 0) strcat(strcat(name, "."), b);
    if (strcmp(r->accumulator, "fp32") != 0) strcat(strcat(name, "-"), r->accumulator);
    if (r->unit[0] != '\0') strcat(strcat(name, "-"), r->unit);
}

static ulp_status from_row(ulp_datapath *d, const row *r, const char *a, const char *b) {
    ulp_status status = ulp_format_parse(&d->accumulator, r->accumulator);
    if (status == ULP_OK) status = ulp_format_parse(&d->a, a);
    if (status == ULP_OK) status = ulp_format_parse(&d->b, b);
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
    char name[ULP_DATAPATH_NAME_MAX], a[ULP_NAME_MAX], b[ULP_NAME_MAX];
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < pair_count(&rows[r]); i++) {
            pair_at(&rows[r], i, name, a, b);
            if (strcmp(name, text) == 0) return from_row(d, &rows[r], a, b);
        }
    }
    return ULP_BAD_NAME;
}

ulp_status ulp_datapath_get(size_t i, ulp_datapath *datapath) {
    char name[ULP_DATAPATH_NAME_MAX], a[ULP_NAME_MAX], b[ULP_NAME_MAX];
    for (size_t r = 0; r < ROWS; r++) {
        const size_t n = pair_count(&rows[r]);
        if (i < n) {
            pair_at(&rows[r], i, name, a, b);
            return ulp_datapath_parse(datapath, name);
        }
        i -= n;
    }
    return ULP_BAD_ARGUMENT;
}

/* ---- what follows from the deciding fields ---- */

static ulp_status init_fused(ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    const int fits = f->length >= 1 && f->length <= (f->late ? ULP_STEP_MAX / 2 : ULP_STEP_MAX) && f->fraction <= 40 &&
                     f->kept >= 1 && f->kept < d->accumulator.prec;
    const int grouped = f->group != 0 || d->scale_block != 0;
    if (!d->has_inputs || !fits) return ULP_NOT_IN_RANGE;
    if (grouped &&
        (d->scale_block == 0 || f->length % d->scale_block != 0 || (f->group == 0 && f->length != d->scale_block)))
        return ULP_NOT_IN_RANGE;
    if (f->group != 0 && (f->length % f->group != 0 || d->scale_block % f->group != 0)) return ULP_NOT_IN_RANGE;
    d->step = f->late ? 2u * f->length : f->length;
    d->rounded = d->accumulator;
    d->rounded.prec = (uint8_t)(f->kept + 1);
    d->rounded.bits = (uint8_t)(d->rounded.bits - (d->accumulator.prec - d->rounded.prec));
    ulp_status status = ulp_format_init(&d->rounded);
    /* fp8 codes on fp16 units are fp16 numbers, their subnormals normalised */
    d->a_prec = f->late ? 11 : d->a.prec;
    d->b_prec = f->late ? 11 : d->b.prec;
    d->a_emin = f->late ? -14 : d->a.emin;
    d->b_emin = f->late ? -14 : d->b.emin;
    return status;
}

ulp_status ulp_datapath_init(ulp_datapath *d) {
    if (d == NULL || d->kind > ULP_ALIGNED) return ULP_BAD_ARGUMENT;
    if (d->length == 0) d->length = 1;
    d->step = d->kind == ULP_SERIAL ? d->length : 1;
    if (d->step > ULP_STEP_MAX) return ULP_NOT_IN_RANGE;
    ulp_status status = ulp_rule_check(&d->accumulator, d->rule);
    if (status == ULP_OK && d->kind == ULP_ALIGNED) status = init_fused(d);
    if (status == ULP_OK && d->promote != 0) {
        if (d->kind == ULP_CHUNKED) return ULP_UNSUPPORTED; /* chunks have their own outer sum */
        if (d->promote % d->step != 0) return ULP_NOT_IN_RANGE;
        if (!d->accumulator.fits_binary32) return ULP_UNSUPPORTED;
        status = ulp_format_parse(&d->result, "binary32");
        if (d->nan_code != 0) d->nan_code = 0x7fffffffu;
    } else {
        d->result = d->accumulator;
    }
    return status;
}

uint64_t ulp_datapath_words(const ulp_datapath *d, uint64_t k) {
    if (!ulp_mode_is_stochastic(d->rule.mode)) return 0;
    switch (d->kind) {
    case ULP_SERIAL: return (k + d->length - 1) / d->length;
    case ULP_SPLIT:
    case ULP_PAIRWISE: return 2 * k;
    case ULP_CHUNKED: return k + (k + d->length - 1) / d->length;
    case ULP_KAHAN: return 4 * k;
    case ULP_EXACT: return d->promote == 0 ? 1 : (k + d->promote - 1) / d->promote;
    default: return 0;
    }
}

/* ---- the definition as plain functions ---- */

double ulp_dot(const ulp_datapath *d, double c, const double *a, const double *b, size_t k, ulp_scales scales,
               ulp_stream stream) {
    ulp_sum sum;
    const size_t per = d->scale_block != 0 ? d->scale_block : 1;
    if (d->kind == ULP_NATIVE) return ulp_quiet_nan();
    ulp_sum_start(&sum, d, c, 0);
    for (size_t i = 0; i < k; i += d->step) {
        const size_t n = k - i < d->step ? k - i : d->step;
        ulp_sum_step(&sum, d, a + i, b + i, (uint32_t)n, scales.a == NULL ? NULL : scales.a + i / per,
                     scales.b == NULL ? NULL : scales.b + i / per, stream);
    }
    return ulp_sum_end(&sum, d, stream);
}

ulp_status ulp_datapath_code(uint64_t *code, double result, const ulp_datapath *d) {
    if (code == NULL || d == NULL) return ULP_BAD_ARGUMENT;
    if (result != result && d->nan_code != 0) {
        *code = d->nan_code;
        return ULP_OK;
    }
    return ulp_encode(code, result, &d->result);
}

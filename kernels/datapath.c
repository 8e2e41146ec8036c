/* datapath.c - the rows of datapaths and the parser of their names. */
#include "datapath.h"
#include "sum.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tensor Cores: GPU-INPUT[.INPUT][-ACCUMULATOR][-UNIT] ---- */

enum { NONE = ULP_NO_EXPONENT };

/* A generation's unit. `inputs`: every format listed, and under `mixed` every pair of them. Evidence and what is open:
 * Khattak and Mikaitis 2025 (arXiv 2512.07004) measured the floors of Emax on V100, A100, L40S, H100 and B200 with fp16 and
 * bf16; those of tf32 are taken as the same, RTX Blackwell and fp8 show none. The rest: Xie et al. 2025 (arXiv 2511.10909). */
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
    {"v100",    "",       "fp16",      "fp32", 0,  4, 23, 0, -131, 0, 0, 0, ""},
    {"v100",    "",       "fp16",      "fp16", 0,  4, 23, 0,  -19, 0, 0, 0, ""},
    {"t4",      "",       "fp16",      "fp32", 0,  8, 24, 0, -132, 0, 0, 0, ""},
    {"t4",      "",       "fp16",      "fp16", 0,  8, 24, 0,  -20, 0, 0, 0, ""},
    {"a100",    "",       "fp16 bf16", "fp32", 0,  8, 24, 0, -132, 0, 0, 0, ""},
    {"a100",    "",       "fp16",      "fp16", 0,  8, 24, 0,  -20, 0, 0, 0, ""},
    {"a100",    "",       "tf32",      "fp32", 0,  4, 24, 0, -132, 0, 0, 0, ""},
    {"l40s",    "",       "fp16 bf16", "fp32", 0,  8, 24, 0, -132, 0, 0, 0, ""},
    {"l40s",    "",       "fp16",      "fp16", 0,  8, 24, 0,  -20, 0, 0, 0, ""},
    {"l40s",    "",       "tf32",      "fp32", 0,  4, 24, 0, -132, 0, 0, 0, ""},
    {"l40s",    "",       FP8,         "fp32", 1, 16, 13, 13, NONE, 0, 0, 0, ""},
    {"l40s",    "",       FP8,         "fp16", 1, 16, 13, 0, NONE, 0, 0, 0, ""},
    {"h100",    "",       "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""},
    {"h100",    "",       "fp16",      "fp16", 0, 16, 25, 0,  -21, 0, 0, 0, ""},
    {"h100",    "",       "tf32",      "fp32", 0,  8, 25, 0, -133, 0, 0, 0, ""},
    {"h100",    "",       FP8,         "fp32", 1, 32, 13, 13, NONE, 0, 0, 0, ""},
    {"h100",    "",       FP8,         "fp16", 1, 32, 13, 0, NONE, 0, 0, 0, ""},
    {"h100",    "k8",     "fp16 bf16", "fp32", 0,  8, 25, 0, -133, 0, 0, 0, ""}, /* mma.m16n8k8 */
    {"h100",    "k4",     "tf32",      "fp32", 0,  4, 25, 0, -133, 0, 0, 0, ""}, /* mma.m16n8k4 */
    {"h100",    "mma",    FP8,         "fp32", 1, 16, 25, 0, -133, 1, 0, 0, ""}, /* mma.sync: fp16 units */
    {"h100",    "mma",    FP8,         "fp16", 1, 16, 25, 0,  -21, 1, 0, 0, ""},
    {"b200",    "",       "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""}, /* tcgen05 */
    {"b200",    "",       "fp16",      "fp16", 0, 16, 25, 0,  -21, 0, 0, 0, ""},
    {"b200",    "",       "tf32",      "fp32", 0,  8, 25, 0, -133, 0, 0, 0, ""},
    {"b200",    "",       FP864,       "fp32", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"b200",    "",       FP864,       "fp16", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"b200",    "mma",    "fp16 bf16", "fp32", 0, 16, 25, 0, -133, 0, 0, 0, ""},
    {"b200",    "mma",    "fp16",      "fp16", 0, 16, 25, 0,  -21, 0, 0, 0, ""},
    {"b200",    "mma",    "tf32",      "fp32", 0,  8, 25, 0, -133, 0, 0, 0, ""},
    {"b200",    "mma",    FP8,         "fp32", 1, 16, 25, 0, -133, 1, 0, 0, ""},
    {"b200",    "mma",    FP8,         "fp16", 1, 16, 25, 0,  -21, 1, 0, 0, ""},
    {"b200",    "mx",     FP864,       "fp32", 1, 32, 25, 0, NONE, 0, 0, 32, "e8m0"}, /* mxf8f6f4 */
    {"b200",    "mxf4",   "e2m1",      "fp32", 0, 64, 35, 0, NONE, 0, 16, 32, "e8m0"},
    {"b200",    "nvf4",   "e2m1",      "fp32", 0, 64, 35, 0, NONE, 0, 16, 16, "e4m3"},
    {"rtx5090", "",       "fp16 bf16", "fp32", 0, 16, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "",       "fp16",      "fp16", 0, 16, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "",       "tf32",      "fp32", 0,  8, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "",       FP864,       "fp32", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "",       FP864,       "fp16", 1, 32, 25, 0, NONE, 0, 0, 0, ""},
    {"rtx5090", "k16",    FP8,         "fp32", 1, 16, 25, 0, NONE, 0, 0, 0, ""}, /* mma.m16n8k16 */
    {"rtx5090", "mx",     FP864,       "fp32", 1, 32, 25, 0, NONE, 0, 0, 32, "e8m0"},
    {"rtx5090", "mxf4",   "e2m1",      "fp32", 0, 64, 35, 0, NONE, 0, 16, 32, "e8m0"},
    {"rtx5090", "nvf4",   "e2m1",      "fp32", 0, 64, 35, 0, NONE, 0, 16, 16, "e4m3"},
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
static void pair_at(const row *r, size_t i, char name[ULP_DATAPATH_NAME_MAX], char a[ULP_NAME_MAX], char b[ULP_NAME_MAX]) {
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
    d->fused = (ulp_fused){.length = r->length, .fraction = r->fraction, .floor = r->floor, .late = r->late, .group = r->group};
    d->fused.kept = r->kept != 0 ? r->kept : (uint8_t)(d->accumulator.prec - 1);
    d->fused.align = ULP_RZ;
    d->fused.output = narrow ? ULP_RNE : ULP_RZ;
    d->fused.zero_operand = d->fused.zero_product = d->fused.zero_c = NONE;
    return status;
}

/* ---- forms with parameters ---- */

/* MODE or MODE/R */
static ulp_status parse_rule(ulp_rule *rule, const char *text) {
    char name[16];
    ulp_mode mode;
    const char *slash = strchr(text, '/');
    size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
    if (n >= sizeof name) return ULP_BAD_NAME;
    memcpy(name, text, n);
    name[n] = '\0';
    ulp_status status = ulp_mode_parse(&mode, name);
    if (status != ULP_OK) return status;
    rule->mode = (uint8_t)mode;
    if (slash == NULL) return ULP_OK;
    char *end;
    long bits = strtol(slash + 1, &end, 10);
    if (end == slash + 1 || *end != '\0' || !ulp_mode_is_stochastic(mode)) return ULP_BAD_NAME;
    if (bits < 1 || bits > 32) return ULP_NOT_IN_RANGE;
    rule->random_bits = (uint8_t)bits;
    return ULP_OK;
}

/* FORMAT:MODE, where FORMAT may itself hold suffixes: the mode follows the last colon. */
static ulp_status parse_accumulator(ulp_datapath *d, const char *text) {
    char format[ULP_NAME_MAX];
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof format) return ULP_BAD_NAME;
    memcpy(format, text, (size_t)(colon - text));
    format[colon - text] = '\0';
    ulp_status status = ulp_format_parse(&d->accumulator, format);
    return status != ULP_OK ? status : parse_rule(&d->rule, colon + 1);
}

/* The forms KIND:FORMAT:MODE; with a number, KINDN:FORMAT:MODE. */
static const struct form {
    const char *name;
    uint8_t kind, numbered;
    uint32_t length; /* without a number */
} forms[] = {
    {"serial", ULP_SERIAL, 0, 1},   {"split", ULP_SPLIT, 0, 1}, {"chunk", ULP_CHUNKED, 1, 0}, {"pairwise", ULP_PAIRWISE, 0, 1},
    {"kahan", ULP_KAHAN, 0, 1},     {"exact", ULP_EXACT, 0, 1}, {"block", ULP_SERIAL, 1, 0},
};

enum { FORMS = sizeof forms / sizeof forms[0] };

static ulp_status parse_form(ulp_datapath *d, const char *text) {
    for (size_t i = 0; i < FORMS; i++) {
        const size_t n = strlen(forms[i].name);
        if (strncmp(text, forms[i].name, n) != 0) continue;
        char *end = (char *)(uintptr_t)(text + n);
        unsigned long length = forms[i].length;
        if (forms[i].numbered) {
            if (*end < '0' || *end > '9') return ULP_BAD_NAME;
            length = strtoul(end, &end, 10);
        }
        if (*end != ':') return ULP_BAD_NAME;
        if (length < 1 || length > 1u << 24) return ULP_NOT_IN_RANGE;
        d->kind = forms[i].kind;
        d->length = (uint32_t)length;
        return parse_accumulator(d, end + 1);
    }
    return ULP_BAD_NAME;
}

/* int8, and int8:sat that clamps after every 32 products, the k of one mma instruction (PTX: .satfinite) */
static ulp_status parse_int8(ulp_datapath *d, const char *text) {
    const int clamps = strcmp(text, "int8:sat") == 0;
    if (!clamps && strcmp(text, "int8") != 0) return ULP_BAD_NAME;
    ulp_status status = ulp_format_parse(&d->a, "int8");
    if (status == ULP_OK) status = ulp_format_parse(&d->accumulator, clamps ? "q32.0:sat" : "q32.0:wrap");
    d->b = d->a;
    d->kind = ULP_SERIAL;
    d->length = clamps ? 32 : 1;
    d->has_inputs = 1;
    return status;
}

static ulp_status parse_row(ulp_datapath *d, const char *text) {
    char name[ULP_DATAPATH_NAME_MAX], a[ULP_NAME_MAX], b[ULP_NAME_MAX];
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < pair_count(&rows[r]); i++) {
            pair_at(&rows[r], i, name, a, b);
            if (strcmp(name, text) == 0) return from_row(d, &rows[r], a, b);
        }
    }
    return ULP_BAD_NAME;
}

/* ---- settings at the end of a name: ...:KEY=VALUE ---- */

/* The number or word behind `=`: exponents may be "none", modes are names. */
static ulp_status read_setting(long *value, const char *text, int names_mode) {
    if (names_mode) {
        ulp_mode mode;
        ulp_status status = ulp_mode_parse(&mode, text);
        if (status == ULP_OK && ulp_mode_is_stochastic(mode)) return ULP_UNSUPPORTED;
        *value = status == ULP_OK ? (long)mode : 0;
        return status;
    }
    char *end;
    if (strcmp(text, "none") == 0) {
        *value = NONE;
        return ULP_OK;
    }
    *value = strtol(text, &end, 10);
    return end != text && *end == '\0' ? ULP_OK : ULP_BAD_NAME;
}

static ulp_status set(ulp_datapath *d, const char *key, const char *text) {
    long v;
    ulp_fused *f = &d->fused;
    const int mode = strcmp(key, "align") == 0 || strcmp(key, "output") == 0;
    const int point = strcmp(key, "za") == 0 || strcmp(key, "zb") == 0;
    ulp_status status = read_setting(&v, text, mode);
    if (status != ULP_OK) return status;
    if (strcmp(key, "promote") == 0) {
        if (v < 1 || v > 1 << 24) return ULP_NOT_IN_RANGE;
        d->promote = (uint32_t)v;
        return ULP_OK;
    }
    if (point) {
        if (!d->has_inputs || !d->a.is_fixed) return ULP_UNSUPPORTED;
        if (v < -255 || v > 255) return ULP_NOT_IN_RANGE;
        *(key[1] == 'a' ? &d->zero_a : &d->zero_b) = (int32_t)v;
        return ULP_OK;
    }
    if (d->kind != ULP_ALIGNED) return ULP_UNSUPPORTED;
    const struct { const char *key; uint8_t *byte; int16_t *exponent; } fields[] = {
        {"L", &f->length, NULL},   {"F", &f->fraction, NULL},        {"kept", &f->kept, NULL},
        {"align", &f->align, NULL}, {"output", &f->output, NULL},     {"signed_zero", &f->signed_zero, NULL},
        {"floor", NULL, &f->floor}, {"zero_operand", NULL, &f->zero_operand},
        {"zero_product", NULL, &f->zero_product}, {"zero_c", NULL, &f->zero_c},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(key, fields[i].key) != 0) continue;
        if (fields[i].byte != NULL && (v < 0 || v > 64)) return ULP_NOT_IN_RANGE;
        if (fields[i].byte == &f->signed_zero && v > 1) return ULP_NOT_IN_RANGE;
        if (fields[i].exponent != NULL && v != NONE && (v < -1000 || v > 1000)) return ULP_NOT_IN_RANGE;
        if (fields[i].byte != NULL) *fields[i].byte = (uint8_t)v;
        else *fields[i].exponent = (int16_t)v;
        return ULP_OK;
    }
    return ULP_BAD_NAME;
}

/* Apply and cut off the settings at the end of `text`. */
static ulp_status apply_settings(ulp_datapath *d, char *settings) {
    while (*settings != '\0') {
        char *key = settings + 1, *equals = strchr(key, '='), *end = key + strcspn(key, ":");
        if (equals == NULL || equals > end) return ULP_BAD_NAME;
        settings = end;
        char value[ULP_NAME_MAX];
        if ((size_t)(end - equals) > sizeof value) return ULP_BAD_NAME;
        memcpy(value, equals + 1, (size_t)(end - equals - 1));
        value[end - equals - 1] = '\0';
        *equals = '\0';
        ulp_status status = set(d, key, value);
        if (status != ULP_OK) return status;
    }
    return ULP_OK;
}

/* The first colon that a KEY= follows, or the end. */
static char *settings_of(char *text) {
    char *equals = strchr(text, '=');
    if (equals == NULL) return text + strlen(text);
    while (equals > text && *equals != ':') equals--;
    return equals;
}

ulp_status ulp_datapath_parse(ulp_datapath *datapath, const char *text) {
    if (datapath == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    ulp_datapath d = {.kind = ULP_SERIAL, .length = 1};
    char base[ULP_DATAPATH_NAME_MAX], settings[ULP_DATAPATH_NAME_MAX];
    if (strlen(text) >= sizeof base) return ULP_BAD_NAME;
    strcpy(base, text);
    char *cut = settings_of(base);
    strcpy(settings, cut);
    *cut = '\0';
    ulp_status status = strcmp(base, "fp32") == 0 ? parse_accumulator(&d, "binary32:rne") : parse_form(&d, base);
    if (status == ULP_BAD_NAME) status = parse_int8(&d, base);
    if (status == ULP_BAD_NAME) status = parse_row(&d, base);
    if (status == ULP_OK) status = apply_settings(&d, settings);
    if (status == ULP_OK) status = ulp_datapath_init(&d);
    if (status != ULP_OK) return status;
    strcpy(d.name, text);
    *datapath = d;
    return ULP_OK;
}

const char *ulp_datapath_names(void) {
    return "fp32                   serial fused multiply-add in binary32, the reference\n"
           "serial:FORMAT:MODE     acc <- round(acc + a b), any accumulator format and mode; MODE/R for R random bits\n"
           "split:FORMAT:MODE      acc <- round(acc + round(a b))\n"
           "chunkN:FORMAT:MODE     serial sums of N products, and a serial sum of these\n"
           "blockN:FORMAT:MODE     the exact sum of N products added with one rounding\n"
           "pairwise:FORMAT:MODE   a binary tree over the rounded products\n"
           "kahan:FORMAT:MODE      compensated\n"
           "exact:FORMAT:MODE      one rounding of the exact sum\n"
           "int8, int8:sat         int8 products in int32 that wraps, or clamps every 32 products; :za=N :zb=N zero points\n"
           "GPU-INPUT[.INPUT][-ACCUMULATOR][-UNIT]  Tensor Cores; `ulp probe --list` names them: v100 t4 a100 l40s h100 b200\n"
           "                       rtx5090; h100-fp16, a100-fp16-fp16, h100-e4m3.e5m2, h100-e4m3-mma, b200-e2m1-nvf4, ...\n"
           "...:promote=N          every N products the sum is added to one in binary32 and starts again\n"
           "...:KEY=VALUE          a field of a Tensor Core row: L F kept align output floor zero_operand zero_product zero_c\n"
           "                       signed_zero; h100-e4m3:F=20:kept=20\n";
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
    const int fits = f->length >= 1 && f->length <= (f->late ? ULP_STEP_MAX / 2 : ULP_STEP_MAX) && f->fraction <= 40 && f->kept >= 1 &&
                     f->kept < d->accumulator.prec;
    const int grouped = f->group != 0 || d->scale_block != 0;
    if (!d->has_inputs || !fits) return ULP_NOT_IN_RANGE;
    if (grouped && (d->scale_block == 0 || f->length % d->scale_block != 0 || (f->group == 0 && f->length != d->scale_block)))
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

double ulp_dot(const ulp_datapath *d, double c, const double *a, const double *b, size_t k, ulp_scales scales, ulp_stream stream) {
    ulp_sum sum;
    const size_t per = d->scale_block != 0 ? d->scale_block : 1;
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

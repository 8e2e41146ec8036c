/* tensor_rows.h - the Tensor Core rows of the oracle: formats, and the parameters of a row from its name.
 *
 * The oracle has its own formats and parameters. It shares only names with the tested code. */
#ifndef ULP_TESTS_TENSOR_ROWS_H
#define ULP_TESTS_TENSOR_ROWS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats ---- */

typedef enum { ORACLE_IEEE, ORACLE_NAN_ONLY, ORACLE_FINITE } oracle_specials;

/* A format with a sign, `e` exponent bits with the bias 2^(e-1) - 1, and `f` fraction bits. */
typedef struct oracle_format {
    const char *name;
    int e, f;
    oracle_specials specials;
} oracle_format;

static const oracle_format oracle_formats[] = {
    {"fp32", 8, 23, ORACLE_IEEE},  {"fp16", 5, 10, ORACLE_IEEE},  {"bf16", 8, 7, ORACLE_IEEE},
    {"tf32", 8, 10, ORACLE_IEEE},  {"e5m2", 5, 2, ORACLE_IEEE},   {"e4m3", 4, 3, ORACLE_NAN_ONLY},
    {"e3m2", 3, 2, ORACLE_FINITE}, {"e2m3", 2, 3, ORACLE_FINITE}, {"e2m1", 2, 1, ORACLE_FINITE},
};

static const oracle_format *oracle_format_of(const char *name, size_t length) {
    for (size_t i = 0; i < COUNT_OF(oracle_formats); i++)
        if (strlen(oracle_formats[i].name) == length && memcmp(name, oracle_formats[i].name, length) == 0)
            return &oracle_formats[i];
    return NULL;
}

/* The number (-1)^neg m 2^(e-w). Subnormals and zero have the lowest exponent. */
typedef struct oracle_number {
    int nan, inf, neg, e, w;
    int64_t m;
} oracle_number;

static inline int oracle_emin(const oracle_format *f) { return 2 - (1 << (f->e - 1)); }
static inline int oracle_emax(const oracle_format *f) { return (1 << (f->e - 1)) - 1; } /* of accumulators */

static inline oracle_number oracle_decode(uint32_t code, const oracle_format *f) {
    const int fraction = (int)(code & ((1u << f->f) - 1)), top = (1 << f->e) - 1, field = (int)(code >> f->f) & top;
    oracle_number x = {.neg = (int)(code >> (f->e + f->f)) & 1, .w = f->f};
    x.nan = field == top && ((f->specials == ORACLE_IEEE && fraction != 0) ||
                             (f->specials == ORACLE_NAN_ONLY && fraction == (1 << f->f) - 1));
    x.inf = f->specials == ORACLE_IEEE && field == top && fraction == 0;
    x.m = field == 0 ? fraction : fraction + (1 << f->f);
    x.e = field == 0 ? oracle_emin(f) : field + oracle_emin(f) - 1;
    return x;
}

static inline double oracle_value(oracle_number x) {
    const double m = x.nan ? (double)NAN : x.inf ? (double)INFINITY : ldexp((double)x.m, x.e - x.w);
    return x.neg ? -m : m;
}

/* ---- parameters ---- */

enum { ORACLE_NONE = -100000, ORACLE_LENGTH = 64 };

/* One line per GPU, accumulator and unit. Each pair of formats in `inputs` is a row; after "=" only pairs of equal
 * formats are rows. late: the products k = 0, 1 and then k = 2, 3 (mod 4) are summed from zero, and C is added at the
 * end with a rounding to nearest. group: number of products that are summed before they are scaled. Scales are powers
 * of two (e8m0), or numbers of e4m3 if e4m3_scales. */
typedef struct oracle_line {
    const char *gpu, *inputs, *acc, *unit;
    int length, fraction, kept, floor, late, group, scale_block, e4m3_scales;
} oracle_line;

#define ORACLE_FP8 "e4m3 e5m2"
#define ORACLE_FP864 "e4m3 e5m2 e3m2 e2m3 e2m1"
static const oracle_line oracle_lines[] = {
    {"v100", "=fp16", "fp32", "", 4, 23, 23, -131, 0, 0, 0, 0},
    {"v100", "=fp16", "fp16", "", 4, 23, 10, -19, 0, 0, 0, 0},
    {"t4", "=fp16", "fp32", "", 8, 24, 23, -132, 0, 0, 0, 0},
    {"t4", "=fp16", "fp16", "", 8, 24, 10, -20, 0, 0, 0, 0},
    {"t4", "=fp16", "fp32", "k4", 4, 23, 23, -131, 0, 0, 0, 0},
    {"t4", "=fp16", "fp16", "k4", 4, 23, 10, -19, 0, 0, 0, 0},
    {"a100", "=fp16 bf16", "fp32", "", 8, 24, 23, -132, 0, 0, 0, 0},
    {"a100", "=fp16", "fp16", "", 8, 24, 10, -20, 0, 0, 0, 0},
    {"a100", "=tf32", "fp32", "", 4, 24, 23, -132, 0, 0, 0, 0},
    {"l40s", "=fp16 bf16", "fp32", "", 8, 24, 23, -132, 0, 0, 0, 0},
    {"l40s", "=fp16", "fp16", "", 8, 24, 10, -20, 0, 0, 0, 0},
    {"l40s", "=tf32", "fp32", "", 4, 24, 23, -132, 0, 0, 0, 0},
    {"l40s", ORACLE_FP8, "fp32", "", 16, 13, 13, -132, 0, 0, 0, 0},
    {"l40s", ORACLE_FP8, "fp16", "", 16, 13, 10, -20, 0, 0, 0, 0},
    {"h100", "=fp16 bf16", "fp32", "", 16, 25, 23, -133, 0, 0, 0, 0},
    {"h100", "=fp16", "fp16", "", 16, 25, 10, -21, 0, 0, 0, 0},
    {"h100", "=tf32", "fp32", "", 8, 25, 23, -133, 0, 0, 0, 0},
    {"h100", "=fp16 bf16", "fp32", "k8", 8, 25, 23, -133, 0, 0, 0, 0},
    {"h100", "=tf32", "fp32", "k4", 4, 25, 23, -133, 0, 0, 0, 0},
    {"h100", ORACLE_FP8, "fp32", "", 32, 13, 13, -133, 0, 0, 0, 0},
    {"h100", ORACLE_FP8, "fp16", "", 32, 13, 10, -21, 0, 0, 0, 0},
    {"h100", ORACLE_FP8, "fp32", "mma", 16, 25, 23, -133, 1, 0, 0, 0},
    {"h100", ORACLE_FP8, "fp16", "mma", 16, 25, 10, -21, 1, 0, 0, 0},
    {"b200", "=fp16 bf16", "fp32", "", 16, 25, 23, -133, 0, 0, 0, 0},
    {"b200", "=fp16", "fp16", "", 16, 25, 10, -21, 0, 0, 0, 0},
    {"b200", "=tf32", "fp32", "", 8, 25, 23, -133, 0, 0, 0, 0},
    {"b200", "=fp16 bf16", "fp32", "mma", 16, 25, 23, -133, 0, 0, 0, 0},
    {"b200", "=fp16", "fp16", "mma", 16, 25, 10, -21, 0, 0, 0, 0},
    {"b200", "=tf32", "fp32", "mma", 8, 25, 23, -133, 0, 0, 0, 0},
    {"b200", ORACLE_FP8, "fp32", "mma", 16, 25, 23, -133, 1, 0, 0, 0},
    {"b200", ORACLE_FP8, "fp16", "mma", 16, 25, 10, -21, 1, 0, 0, 0},
    {"b200", ORACLE_FP864, "fp32", "", 32, 25, 23, -133, 0, 0, 0, 0},
    {"b200", ORACLE_FP864, "fp16", "", 32, 25, 10, -21, 0, 0, 0, 0},
    {"b200", ORACLE_FP864, "fp32", "mx", 32, 25, 23, -133, 0, 0, 32, 0},
    {"b200", "=e2m1", "fp32", "mxf4", 64, 35, 23, -139, 0, 16, 32, 0},
    {"b200", "=e2m1", "fp32", "mxf4x16", 64, 35, 23, -139, 0, 16, 16, 0},
    {"b200", "=e2m1", "fp32", "nvf4", 64, 35, 23, -139, 0, 16, 16, 1},
    {"rtx5090", "=fp16 bf16", "fp32", "", 16, 25, 23, -133, 0, 0, 0, 0},
    {"rtx5090", "=fp16", "fp16", "", 16, 25, 10, -21, 0, 0, 0, 0},
    {"rtx5090", "=tf32", "fp32", "", 8, 25, 23, -133, 0, 0, 0, 0},
    {"rtx5090", ORACLE_FP864, "fp32", "", 32, 25, 23, -133, 0, 0, 0, 0},
    {"rtx5090", ORACLE_FP864, "fp16", "", 32, 25, 10, -21, 0, 0, 0, 0},
    {"rtx5090", ORACLE_FP8, "fp32", "k16", 16, 25, 23, -133, 0, 0, 0, 0},
    {"rtx5090", ORACLE_FP864, "fp32", "mx", 32, 25, 23, -133, 0, 0, 32, 0},
    {"rtx5090", "=e2m1", "fp32", "mxf4", 64, 35, 23, -139, 0, 16, 32, 0},
    {"rtx5090", "=e2m1", "fp32", "mxf4x16", 64, 35, 23, -139, 0, 16, 16, 0},
    {"rtx5090", "=e2m1", "fp32", "nvf4", 64, 35, 23, -139, 0, 16, 16, 1},
};
enum { ORACLE_LINES = COUNT_OF(oracle_lines) };

/* One row: the values of its line, its formats, and the settings that a name may change. */
typedef struct oracle {
    const oracle_format *a, *b, *acc;
    int length, fraction, kept, floor, late, group, scale_block, e4m3_scales;
    int nearest, floor_align, zero_operand, zero_product, zero_c, signed_zero, promote;
} oracle;

static inline int oracle_listed(const char *inputs, const char *name, size_t length) {
    for (inputs += *inputs == '='; *inputs != '\0'; inputs += strcspn(inputs, " "), inputs += *inputs == ' ')
        if (strcspn(inputs, " ") == length && memcmp(inputs, name, length) == 0) return 1;
    return 0;
}

/* The name of row i, GPU-A[.B][-fp16][-UNIT]. Returns 0 past the end. */
static inline int oracle_name(size_t i, char *name, size_t size) {
    for (size_t line = 0; line < ORACLE_LINES; line++) {
        const oracle_line *l = &oracle_lines[line];
        for (const char *a = l->inputs + (*l->inputs == '='); *a != '\0'; a += strcspn(a, " "), a += *a == ' ')
            for (const char *b = l->inputs + (*l->inputs == '='); *b != '\0'; b += strcspn(b, " "), b += *b == ' ') {
                if ((*l->inputs == '=' && a != b) || i-- > 0) continue;
                int n = snprintf(name, size, "%s-%.*s", l->gpu, (int)strcspn(a, " "), a);
                if (a != b) n += snprintf(name + n, size - (size_t)n, ".%.*s", (int)strcspn(b, " "), b);
                snprintf(name + n, size - (size_t)n, "%s%s%s", strcmp(l->acc, "fp16") == 0 ? "-fp16" : "",
                         *l->unit ? "-" : "", l->unit);
                return 1;
            }
    }
    return 0;
}

/* Apply KEY=VALUE. */
static inline int oracle_set(oracle *o, const char *text) {
    static const char *const keys[] = {"L",      "F",           "kept",   "floor", "zero_operand", "zero_product",
                                       "zero_c", "signed_zero", "promote"};
    int *const fields[] = {&o->length,       &o->fraction, &o->kept,        &o->floor,  &o->zero_operand,
                           &o->zero_product, &o->zero_c,   &o->signed_zero, &o->promote};
    const size_t key = strcspn(text, "=");
    const char *value = text + key + 1;
    const size_t length = strcspn(value, ":");
    if (key == 5 && memcmp(text, "align", 5) == 0) return o->floor_align = memcmp(value, "rd", 2) == 0, length == 2;
    if (key == 6 && memcmp(text, "output", 6) == 0) return o->nearest = memcmp(value, "rne", 3) == 0, length >= 2;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (strlen(keys[i]) == key && memcmp(text, keys[i], key) == 0) {
            *fields[i] = length == 4 && memcmp(value, "none", 4) == 0 ? ORACLE_NONE : (int)strtol(value, NULL, 10);
            return 1;
        }
    return 0;
}

/* The row called `name`, with the settings in the name. Returns 0 if there is no such row. */
static inline int oracle_find(oracle *o, const char *name) {
    const size_t length = strcspn(name, ":");
    const char *part[4] = {name, "", "", ""};
    size_t size[4] = {0}, parts = 0;
    for (const char *at = name; parts < 4; at += size[parts - 1] + 1) {
        part[parts] = at;
        size[parts++] = strcspn(at, "-:");
        if (at + size[parts - 1] == name + length) break;
    }
    const size_t first = strcspn(part[1], ".-:");
    const char *second = part[1][first] == '.' ? part[1] + first + 1 : part[1];
    const size_t rest = part[1][first] == '.' ? size[1] - first - 1 : first;
    const int has_acc = size[2] == 4 && memcmp(part[2], "fp16", 4) == 0;
    const char *unit = part[2 + has_acc];
    const size_t unit_size = size[2 + has_acc];
    for (size_t i = 0; i < ORACLE_LINES; i++) {
        const oracle_line *l = &oracle_lines[i];
        if (strlen(l->gpu) != size[0] || memcmp(l->gpu, name, size[0]) != 0) continue;
        if (strcmp(l->acc, has_acc ? "fp16" : "fp32") != 0) continue;
        if (strlen(l->unit) != unit_size || memcmp(l->unit, unit, unit_size) != 0) continue;
        if (!oracle_listed(l->inputs, part[1], first) || !oracle_listed(l->inputs, second, rest)) continue;
        *o = (oracle){.a = oracle_format_of(part[1], first),
                      .b = oracle_format_of(second, rest),
                      .acc = oracle_format_of(l->acc, 4),
                      .length = l->length,
                      .fraction = l->fraction,
                      .kept = l->kept,
                      .floor = l->floor,
                      .late = l->late,
                      .group = l->group,
                      .scale_block = l->scale_block,
                      .e4m3_scales = l->e4m3_scales,
                      .nearest = has_acc,
                      .zero_operand = ORACLE_NONE,
                      .zero_product = ORACLE_NONE,
                      .zero_c = ORACLE_NONE};
        for (const char *at = name + length; *at == ':'; at += 1 + strcspn(at + 1, ":"))
            if (!oracle_set(o, at + 1)) return 0;
        return o->a != NULL && o->b != NULL && o->acc != NULL;
    }
    return 0;
}

#endif

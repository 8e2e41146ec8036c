/* datapath_names.c - the parser of datapath names, and its tables of forms and of integer rows. */
#include "datapath_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the forms KIND:FORMAT:MODE, and KINDN:FORMAT:MODE with a number N ---- */

static const ulp_datapath_form forms[] = {
    {"serial", ULP_SERIAL, 0}, {"split", ULP_SPLIT, 0}, {"chunk", ULP_CHUNKED, 1}, {"pairwise", ULP_PAIRWISE, 0},
    {"kahan", ULP_KAHAN, 0},   {"exact", ULP_EXACT, 0}, {"block", ULP_SERIAL, 1},
};

enum { FORMS = sizeof forms / sizeof forms[0] };

ulp_status ulp_datapath_rule(ulp_rule *rule, const char *text) {
    char name[16];
    ulp_mode mode;
    const char *slash = strchr(text, '/');
    size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
    if (n >= sizeof name) return ULP_BAD_NAME;
    memcpy(name, text, n);
    name[n] = '\0';
    ULP_TRY(ulp_mode_parse(&mode, name));
    rule->mode = (uint8_t)mode;
    if (slash == NULL) return ULP_OK;
    char *end;
    long bits = strtol(slash + 1, &end, 10);
    if (strspn(slash + 1, "-0123456789") == 0 || *end != '\0' || !ulp_mode_is_stochastic(mode)) return ULP_BAD_NAME;
    if (bits < 1 || bits > 32) return ULP_NOT_IN_RANGE;
    rule->random_bits = (uint8_t)bits;
    return ULP_OK;
}

const char *ulp_datapath_split(char format[ULP_NAME_MAX], const char *text) {
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= ULP_NAME_MAX) return NULL;
    memcpy(format, text, (size_t)(colon - text));
    format[colon - text] = '\0';
    return colon + 1;
}

static ulp_status parse_accumulator(ulp_datapath *d, const char *text) {
    char format[ULP_NAME_MAX];
    const char *mode = ulp_datapath_split(format, text);
    if (mode == NULL) return ULP_BAD_NAME;
    ULP_TRY(ulp_format_parse(&d->accumulator, format));
    return ulp_datapath_rule(&d->rule, mode);
}

const ulp_datapath_form *ulp_datapath_form_of(const char *text, const char **rest) {
    for (size_t i = 0; i < FORMS; i++) {
        const size_t n = strlen(forms[i].name);
        if (strncmp(text, forms[i].name, n) != 0) continue;
        *rest = text + n;
        return &forms[i];
    }
    return NULL;
}

/* Sets the name to FORM:FORMAT:MODE with plain numbers of products and of random bits. FORMAT and MODE are as in
 * `rest`, which is ":FORMAT:MODE". */
static void name_form(ulp_datapath *d, const ulp_datapath_form *form, const char *rest) {
    char length[12] = "", bits[8] = "";
    if (form->numbered) snprintf(length, sizeof length, "%u", d->length);
    if (d->rule.random_bits != 0) snprintf(bits, sizeof bits, "/%u", d->rule.random_bits);
    snprintf(d->name, sizeof d->name, "%s%s%.*s%s", form->name, length, (int)strcspn(rest, "/"), rest, bits);
}

static ulp_status parse_form(ulp_datapath *d, const char *text) {
    const char *rest;
    const ulp_datapath_form *form = ulp_datapath_form_of(text, &rest);
    unsigned long length = 1;
    if (form == NULL) return ULP_BAD_NAME;
    if (form->numbered) {
        char *end;
        if (*rest < '0' || *rest > '9') return ULP_BAD_NAME;
        length = strtoul(rest, &end, 10);
        rest = end;
    }
    if (*rest != ':') return ULP_BAD_NAME;
    if (length < 1 || length > ULP_LONGEST_SUM) return ULP_NOT_IN_RANGE;
    d->kind = form->kind;
    d->length = (uint32_t)length;
    ULP_TRY(parse_accumulator(d, rest + 1));
    name_form(d, form, rest);
    return ULP_OK;
}

void ulp_datapath_fp32(ulp_datapath *d) {
    *d = (ulp_datapath){.name = "fp32",
                        .kind = ULP_SERIAL,
                        .accumulator = ulp_binary32,
                        .length = 1,
                        .result = ulp_binary32,
                        .step = 1};
}

int ulp_datapath_equal(const ulp_datapath *a, const ulp_datapath *b) { return strcmp(a->name, b->name) == 0; }

/* Products of integers in 32 bits: the operands, the products after which the sum wraps or clamps, and the zero point
 * of a. int8:sat clamps after the products of one mma instruction (PTX: .satfinite). vnni is AVX512_VNNI: VPDPBUSD,
 * whose a is unsigned, VPDPWSSD, and their saturating forms, which clamp c + the exact sum of 4 or 2 products. maddubs
 * is AVX2 without VNNI: VPMADDUBSW clamps the sum of two products to 16 bits, VPMADDWD by ones adds two such sums, and
 * VPADDD wraps (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2). */
static const struct integers {
    const char *name, *a, *b, *accumulator;
    uint8_t kind, length;
    int16_t zero_a;
    uint8_t pairs_wrap;
} integers[] = {
    {"int8", "int8", "int8", "q32.0:wrap", ULP_SERIAL, 1, 0, 0},
    {"int8:sat", "int8", "int8", "q32.0:sat", ULP_SERIAL, 32, 0, 0},
    {"uint8", "uint8", "uint8", "q32.0:wrap", ULP_SERIAL, 1, 0, 0},
    {"uint8:sat", "uint8", "uint8", "q32.0:sat", ULP_SERIAL, 32, 0, 0},
    {"uint8.int8", "uint8", "int8", "q32.0:wrap", ULP_SERIAL, 1, 0, 0},
    {"uint8.int8:sat", "uint8", "int8", "q32.0:sat", ULP_SERIAL, 32, 0, 0},
    {"int8.uint8", "int8", "uint8", "q32.0:wrap", ULP_SERIAL, 1, 0, 0},
    {"int8.uint8:sat", "int8", "uint8", "q32.0:sat", ULP_SERIAL, 32, 0, 0},
    {"vnni-int8", "int8", "int8", "q32.0:wrap", ULP_SERIAL, 4, -128, 0},
    {"vnni-int8-sat", "int8", "int8", "q32.0:sat", ULP_SERIAL, 4, -128, 0},
    {"vnni-int16", "q16.0", "q16.0", "q32.0:wrap", ULP_SERIAL, 2, 0, 0},
    {"vnni-int16-sat", "q16.0", "q16.0", "q32.0:sat", ULP_SERIAL, 2, 0, 0},
    {"maddubs-int8", "uint8", "int8", "q32.0:wrap", ULP_PAIRS, 4, 0, 0},
    {"maddubs-int8-wrap", "uint8", "int8", "q32.0:wrap", ULP_PAIRS, 4, 0, 1},
};

static ulp_status parse_integers(ulp_datapath *d, const char *text) {
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        const struct integers *row = &integers[i];
        if (strcmp(text, row->name) != 0) continue;
        ULP_TRY(ulp_format_parse(&d->a, row->a));
        ULP_TRY(ulp_format_parse(&d->b, row->b));
        ULP_TRY(ulp_format_parse(&d->accumulator, row->accumulator));
        strcpy(d->name, text);
        d->kind = row->kind;
        d->length = row->length;
        d->zero_a = row->zero_a;
        d->pairs_wrap = row->pairs_wrap;
        d->has_inputs = 1;
        return ULP_OK;
    }
    return ULP_BAD_NAME;
}

/* Writes the name of `base`, then the settings in which *d differs from *base. */
static ulp_status print_unlike(char *text, size_t size, const ulp_datapath *d, const ulp_datapath *base) {
    char settings[ULP_DATAPATH_NAME_MAX];
    ULP_TRY(ulp_datapath_settings_print(settings, sizeof settings, d, base));
    const int length = snprintf(text, size, "%s%s%s", base->name, settings[0] != '\0' ? ":" : "", settings);
    return length < 0 || (size_t)length >= size ? ULP_BAD_ARGUMENT : ULP_OK;
}

/* The first colon before a key=, or the end. bias= belongs to the name of a format. */
static char *settings_of(char *text) {
    char *colon = strchr(text, ':');
    for (; colon != NULL; colon = strchr(colon + 1, ':')) {
        const size_t key = strcspn(colon + 1, ":=");
        if (colon[1 + key] == '=' && strncmp(colon + 1, "bias=", 5) != 0) return colon;
    }
    return strchr(text, '=') != NULL && strchr(text, ':') == NULL ? text : text + strlen(text);
}

int ulp_datapath_cut(ulp_datapath_parts *p, const char *text) {
    if (strlen(text) >= sizeof p->base) return 0;
    for (size_t i = 0; i <= strlen(text); i++)
        p->base[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
    char *cut = settings_of(p->base);
    strcpy(p->settings, cut);
    *cut = '\0';
    return 1;
}

ulp_status ulp_datapath_base(ulp_datapath *d, const char *base) {
    ulp_status status = ULP_OK;
    if (strcmp(base, "fp32") == 0) ulp_datapath_fp32(d);
    else status = parse_form(d, base);
    if (status == ULP_BAD_NAME) status = parse_integers(d, base);
    return status == ULP_BAD_NAME ? ulp_datapath_row(d, base) : status;
}

ulp_status ulp_datapath_parse(ulp_datapath *datapath, const char *text) {
    if (datapath == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    ulp_datapath base = {.kind = ULP_SERIAL, .length = 1};
    ulp_datapath_parts p;
    if (!ulp_datapath_cut(&p, text)) return ULP_BAD_NAME;
    ULP_TRY(ulp_datapath_base(&base, p.base));
    ulp_datapath d = base;
    ULP_TRY(ulp_datapath_settings(&d, &p, NULL));
    ULP_TRY(ulp_datapath_init(&d));
    ULP_TRY(print_unlike(d.name, sizeof d.name, &d, &base));
    *datapath = d;
    return ULP_OK;
}

ulp_status ulp_datapath_print(char *text, size_t size, const ulp_datapath *datapath) {
    ulp_datapath base = {.kind = ULP_SERIAL, .length = 1};
    ulp_datapath_parts p;
    if (text == NULL || datapath == NULL) return ULP_BAD_ARGUMENT;
    if (!ulp_datapath_cut(&p, datapath->name)) return ULP_BAD_NAME;
    if (datapath->kind == ULP_NATIVE) strcpy(base.name, p.base);
    else ULP_TRY(ulp_datapath_base(&base, p.base));
    return print_unlike(text, size, datapath, &base);
}

int ulp_datapath_is_native(const char *text) { return strncasecmp(text, "native:", 7) == 0; }

/* datapath_names.c - the parser of the names of datapaths, and the tables of what it knows. */
#include "datapath_names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the forms KIND:FORMAT:MODE; with a number, KINDN:FORMAT:MODE ---- */

static const ulp_datapath_form forms[] = {
    {"serial", ULP_SERIAL, 0}, {"split", ULP_SPLIT, 0}, {"chunk", ULP_CHUNKED, 1}, {"pairwise", ULP_PAIRWISE, 0},
    {"kahan", ULP_KAHAN, 0},   {"exact", ULP_EXACT, 0}, {"block", ULP_SERIAL, 1},
};

enum { FORMS = sizeof forms / sizeof forms[0] };

/* MODE or MODE/R */
ulp_status ulp_datapath_rule(ulp_rule *rule, const char *text) {
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

/* FORMAT:MODE cut at the last colon, since FORMAT may itself hold suffixes; NULL without one. */
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
    ulp_status status = ulp_format_parse(&d->accumulator, format);
    return status != ULP_OK ? status : ulp_datapath_rule(&d->rule, mode);
}

/* The form whose name `text` begins with, and the rest of the text behind it; NULL if there is none. */
const ulp_datapath_form *ulp_datapath_form_of(const char *text, const char **rest) {
    for (size_t i = 0; i < FORMS; i++) {
        const size_t n = strlen(forms[i].name);
        if (strncmp(text, forms[i].name, n) != 0) continue;
        *rest = text + n;
        return &forms[i];
    }
    return NULL;
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
    return parse_accumulator(d, rest + 1);
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

/* ---- settings at the end of a name: ...:KEY=VALUE ---- */

static const ulp_datapath_setting known[] = {
#define FIELD(key, member, value, of, min, max)                                                                        \
    {                                                                                                                  \
        key, value, of, (uint16_t)offsetof(ulp_datapath, member), (uint16_t)sizeof(((ulp_datapath *)0)->member), min,  \
            max                                                                                                        \
    }
    FIELD("promote", promote, ULP_SETTING_NUMBER, ULP_SETTING_OF_ANY, 1, ULP_LONGEST_SUM),
    FIELD("za", zero_a, ULP_SETTING_NUMBER, ULP_SETTING_OF_INTEGERS, -255, 255),
    FIELD("zb", zero_b, ULP_SETTING_NUMBER, ULP_SETTING_OF_INTEGERS, -255, 255),
    FIELD("L", fused.length, ULP_SETTING_NUMBER, ULP_SETTING_OF_TENSOR_CORES, 1, ULP_STEP_MAX),
    FIELD("F", fused.fraction, ULP_SETTING_NUMBER, ULP_SETTING_OF_TENSOR_CORES, 0, 40),
    FIELD("kept", fused.kept, ULP_SETTING_NUMBER, ULP_SETTING_OF_TENSOR_CORES, 1, 23),
    FIELD("align", fused.align, ULP_SETTING_MODE, ULP_SETTING_OF_TENSOR_CORES, 0, 0),
    FIELD("output", fused.output, ULP_SETTING_MODE, ULP_SETTING_OF_TENSOR_CORES, 0, 0),
    FIELD("signed_zero", fused.signed_zero, ULP_SETTING_NUMBER, ULP_SETTING_OF_TENSOR_CORES, 0, 1),
    FIELD("floor", fused.floor, ULP_SETTING_EXPONENT, ULP_SETTING_OF_TENSOR_CORES, -1000, 1000),
    FIELD("zero_operand", fused.zero_operand, ULP_SETTING_EXPONENT, ULP_SETTING_OF_TENSOR_CORES, -1000, 1000),
    FIELD("zero_product", fused.zero_product, ULP_SETTING_EXPONENT, ULP_SETTING_OF_TENSOR_CORES, -1000, 1000),
    FIELD("zero_c", fused.zero_c, ULP_SETTING_EXPONENT, ULP_SETTING_OF_TENSOR_CORES, -1000, 1000),
#undef FIELD
};

const ulp_datapath_setting *ulp_datapath_setting_at(size_t i) {
    return i < sizeof known / sizeof known[0] ? &known[i] : NULL;
}

const ulp_datapath_setting *ulp_datapath_setting_of(const char *key) {
    const ulp_datapath_setting *s;
    for (size_t i = 0; (s = ulp_datapath_setting_at(i)) != NULL; i++) {
        size_t n = 0; /* in any case */
        while (key[n] != '\0' && (key[n] | 32) == (s->key[n] | 32)) n++;
        if (key[n] == '\0' && s->key[n] == '\0') return s;
    }
    return NULL;
}

/* The number behind `=`: exponents may be "none", modes are names. */
static ulp_status read_value(long *value, const ulp_datapath_setting *s, const char *text) {
    if (s->value == ULP_SETTING_MODE) {
        ulp_mode mode;
        ulp_status status = ulp_mode_parse(&mode, text);
        *value = status == ULP_OK ? (long)mode : 0;
        return status == ULP_OK && ulp_mode_is_stochastic(mode) ? ULP_UNSUPPORTED : status;
    }
    if (s->value == ULP_SETTING_EXPONENT && strcmp(text, "none") == 0) {
        *value = ULP_NO_EXPONENT;
        return ULP_OK;
    }
    char *end;
    *value = strtol(text, &end, 10);
    if (end == text || *end != '\0') return ULP_BAD_NAME;
    return *value < s->min || *value > s->max ? ULP_NOT_IN_RANGE : ULP_OK;
}

ulp_status ulp_datapath_setting_apply(ulp_datapath *d, const char *key, const char *text) {
    long v;
    const ulp_datapath_setting *s = ulp_datapath_setting_of(key);
    if (s == NULL) return ULP_BAD_NAME;
    if ((s->of == ULP_SETTING_OF_TENSOR_CORES && d->kind != ULP_ALIGNED) ||
        (s->of == ULP_SETTING_OF_INTEGERS && !(d->has_inputs && d->a.is_fixed)))
        return ULP_UNSUPPORTED;
    ulp_status status = read_value(&v, s, text);
    if (status != ULP_OK) return status;
    char *field = (char *)d + s->offset;
    if (s->size == 1) *(uint8_t *)field = (uint8_t)v;
    else if (s->size == 2) *(int16_t *)(void *)field = (int16_t)v;
    else *(int32_t *)(void *)field = (int32_t)v;
    return ULP_OK;
}

/* The settings of a name, one after the other: the next one's key and value; NULL at the end or where there is none. */
char *ulp_datapath_setting_next(char **at, char **value) {
    if (**at == '\0') return NULL;
    char *key = *at + 1, *end = key + strcspn(key, ":"), *equals = memchr(key, '=', (size_t)(end - key));
    *value = NULL;
    *at = end;
    if (*end != '\0') { /* make the key and value strings of their own, the next begins at a terminator */
        memmove(end + 1, end, strlen(end) + 1);
        *end = '\0';
        *at = end + 1;
    }
    if (equals == NULL) return key;
    *equals = '\0';
    *value = equals + 1;
    return key;
}

/* The first colon that a KEY= follows, or the end. */
static char *settings_of(char *text) {
    char *equals = strchr(text, '=');
    if (equals == NULL) return text + strlen(text);
    while (equals > text && *equals != ':') equals--;
    return equals;
}

int ulp_datapath_cut(ulp_datapath_parts *p, const char *text) {
    if (strlen(text) >= sizeof p->base) return 0;
    strcpy(p->base, text);
    char *cut = settings_of(p->base);
    strcpy(p->settings, cut);
    *cut = '\0';
    for (char *c = p->base; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
    return 1;
}

ulp_status ulp_datapath_base(ulp_datapath *d, const char *base) {
    ulp_status status = strcmp(base, "fp32") == 0 ? parse_accumulator(d, "binary32:rne") : parse_form(d, base);
    if (status == ULP_BAD_NAME) status = parse_int8(d, base);
    return status == ULP_BAD_NAME ? ulp_datapath_row(d, base) : status;
}

/* Whether a key stands again behind. */
int ulp_datapath_setting_repeats(const char *key, char *settings) {
    char copy[2 * ULP_DATAPATH_NAME_MAX], *at = copy, *value, *other;
    strcpy(copy, settings);
    while ((other = ulp_datapath_setting_next(&at, &value)) != NULL)
        if (ulp_datapath_setting_of(other) != NULL && ulp_datapath_setting_of(other) == ulp_datapath_setting_of(key))
            return 1;
    return 0;
}

ulp_status ulp_datapath_parse(ulp_datapath *datapath, const char *text) {
    if (datapath == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    ulp_datapath d = {.kind = ULP_SERIAL, .length = 1};
    ulp_datapath_parts p;
    if (!ulp_datapath_cut(&p, text)) return ULP_BAD_NAME;
    ulp_status status = ulp_datapath_base(&d, p.base);
    char *at = p.settings, *key, *value;
    while (status == ULP_OK && (key = ulp_datapath_setting_next(&at, &value)) != NULL)
        status = value == NULL || ulp_datapath_setting_repeats(key, at) ? ULP_BAD_NAME
                                                                        : ulp_datapath_setting_apply(&d, key, value);
    if (status == ULP_OK) status = ulp_datapath_init(&d);
    if (status != ULP_OK) return status;
    if (d.name[0] == '\0') strcpy(d.name, p.base); /* rows have names of their own */
    strcat(d.name, text + strlen(p.base));
    *datapath = d;
    return ULP_OK;
}

int ulp_datapath_is_native(const char *text) { return strncasecmp(text, "native:", 7) == 0; }

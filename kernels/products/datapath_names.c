/* datapath_names.c - the names of datapaths: the parser, what it knows, and why it refuses. */
#include "datapath.h"

#include <stdlib.h>
#include <string.h>

/* ---- the forms KIND:FORMAT:MODE; with a number, KINDN:FORMAT:MODE ---- */

static const struct form {
    const char *name;
    uint8_t kind, numbered;
} forms[] = {
    {"serial", ULP_SERIAL, 0}, {"split", ULP_SPLIT, 0}, {"chunk", ULP_CHUNKED, 1}, {"pairwise", ULP_PAIRWISE, 0},
    {"kahan", ULP_KAHAN, 0},   {"exact", ULP_EXACT, 0}, {"block", ULP_SERIAL, 1},
};

enum { FORMS = sizeof forms / sizeof forms[0], LONGEST = 1 << 24 };

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

/* FORMAT:MODE cut at the last colon, since FORMAT may itself hold suffixes; NULL without one. */
static const char *split_accumulator(char format[ULP_NAME_MAX], const char *text) {
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= ULP_NAME_MAX) return NULL;
    memcpy(format, text, (size_t)(colon - text));
    format[colon - text] = '\0';
    return colon + 1;
}

static ulp_status parse_accumulator(ulp_datapath *d, const char *text) {
    char format[ULP_NAME_MAX];
    const char *mode = split_accumulator(format, text);
    if (mode == NULL) return ULP_BAD_NAME;
    ulp_status status = ulp_format_parse(&d->accumulator, format);
    return status != ULP_OK ? status : parse_rule(&d->rule, mode);
}

/* The form whose name `text` begins with, and the rest of the text behind it; NULL if there is none. */
static const struct form *form_of(const char *text, const char **rest) {
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
    const struct form *form = form_of(text, &rest);
    unsigned long length = 1;
    if (form == NULL) return ULP_BAD_NAME;
    if (form->numbered) {
        char *end;
        if (*rest < '0' || *rest > '9') return ULP_BAD_NAME;
        length = strtoul(rest, &end, 10);
        rest = end;
    }
    if (*rest != ':') return ULP_BAD_NAME;
    if (length < 1 || length > LONGEST) return ULP_NOT_IN_RANGE;
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

enum { NUMBER, MODE, EXPONENT }; /* what a value is; an exponent may be "none" */
enum { OF_ANY, OF_INTEGERS, OF_TENSOR_CORES };

/* A field that a name may change: its type is told by its size. */
static const struct setting {
    const char *key;
    uint8_t value, of;
    uint16_t offset, size;
    int32_t min, max;
} known[] = {
#define FIELD(key, member, value, of, min, max)                                                                        \
    {                                                                                                                  \
        key, value, of, (uint16_t)offsetof(ulp_datapath, member), (uint16_t)sizeof(((ulp_datapath *)0)->member), min,  \
            max                                                                                                        \
    }
    FIELD("promote", promote, NUMBER, OF_ANY, 1, LONGEST),
    FIELD("za", zero_a, NUMBER, OF_INTEGERS, -255, 255),
    FIELD("zb", zero_b, NUMBER, OF_INTEGERS, -255, 255),
    FIELD("L", fused.length, NUMBER, OF_TENSOR_CORES, 1, ULP_STEP_MAX),
    FIELD("F", fused.fraction, NUMBER, OF_TENSOR_CORES, 0, 40),
    FIELD("kept", fused.kept, NUMBER, OF_TENSOR_CORES, 1, 23),
    FIELD("align", fused.align, MODE, OF_TENSOR_CORES, 0, 0),
    FIELD("output", fused.output, MODE, OF_TENSOR_CORES, 0, 0),
    FIELD("signed_zero", fused.signed_zero, NUMBER, OF_TENSOR_CORES, 0, 1),
    FIELD("floor", fused.floor, EXPONENT, OF_TENSOR_CORES, -1000, 1000),
    FIELD("zero_operand", fused.zero_operand, EXPONENT, OF_TENSOR_CORES, -1000, 1000),
    FIELD("zero_product", fused.zero_product, EXPONENT, OF_TENSOR_CORES, -1000, 1000),
    FIELD("zero_c", fused.zero_c, EXPONENT, OF_TENSOR_CORES, -1000, 1000),
#undef FIELD
};

enum { SETTINGS = sizeof known / sizeof known[0] };

static const struct setting *setting_of(const char *key) {
    for (size_t i = 0; i < SETTINGS; i++) {
        size_t n = 0; /* in any case */
        while (key[n] != '\0' && (key[n] | 32) == (known[i].key[n] | 32)) n++;
        if (key[n] == '\0' && known[i].key[n] == '\0') return &known[i];
    }
    return NULL;
}

/* The number behind `=`: exponents may be "none", modes are names. */
static ulp_status read_value(long *value, const struct setting *s, const char *text) {
    if (s->value == MODE) {
        ulp_mode mode;
        ulp_status status = ulp_mode_parse(&mode, text);
        *value = status == ULP_OK ? (long)mode : 0;
        return status == ULP_OK && ulp_mode_is_stochastic(mode) ? ULP_UNSUPPORTED : status;
    }
    if (s->value == EXPONENT && strcmp(text, "none") == 0) {
        *value = ULP_NO_EXPONENT;
        return ULP_OK;
    }
    char *end;
    *value = strtol(text, &end, 10);
    if (end == text || *end != '\0') return ULP_BAD_NAME;
    return *value < s->min || *value > s->max ? ULP_NOT_IN_RANGE : ULP_OK;
}

static ulp_status set(ulp_datapath *d, const char *key, const char *text) {
    long v;
    const struct setting *s = setting_of(key);
    if (s == NULL) return ULP_BAD_NAME;
    if ((s->of == OF_TENSOR_CORES && d->kind != ULP_ALIGNED) ||
        (s->of == OF_INTEGERS && !(d->has_inputs && d->a.is_fixed)))
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
static char *next_setting(char **at, char **value) {
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

/* A name taken apart: base in lower case; settings with room for the terminators between them. */
typedef struct parts {
    char base[ULP_DATAPATH_NAME_MAX], settings[2 * ULP_DATAPATH_NAME_MAX];
} parts;

static int take_apart(parts *p, const char *text) {
    if (strlen(text) >= sizeof p->base) return 0;
    strcpy(p->base, text);
    char *cut = settings_of(p->base);
    strcpy(p->settings, cut);
    *cut = '\0';
    for (char *c = p->base; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
    return 1;
}

static ulp_status parse_base(ulp_datapath *d, const char *base) {
    ulp_status status = strcmp(base, "fp32") == 0 ? parse_accumulator(d, "binary32:rne") : parse_form(d, base);
    if (status == ULP_BAD_NAME) status = parse_int8(d, base);
    return status == ULP_BAD_NAME ? ulp_datapath_row(d, base) : status;
}

/* Whether a key stands again behind. */
static int again(const char *key, char *settings) {
    char copy[2 * ULP_DATAPATH_NAME_MAX], *at = copy, *value, *other;
    strcpy(copy, settings);
    while ((other = next_setting(&at, &value)) != NULL)
        if (setting_of(other) != NULL && setting_of(other) == setting_of(key)) return 1;
    return 0;
}

ulp_status ulp_datapath_parse(ulp_datapath *datapath, const char *text) {
    if (datapath == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    ulp_datapath d = {.kind = ULP_SERIAL, .length = 1};
    parts p;
    if (!take_apart(&p, text)) return ULP_BAD_NAME;
    ulp_status status = parse_base(&d, p.base);
    char *at = p.settings, *key, *value;
    while (status == ULP_OK && (key = next_setting(&at, &value)) != NULL)
        status = value == NULL || again(key, at) ? ULP_BAD_NAME : set(&d, key, value);
    if (status == ULP_OK) status = ulp_datapath_init(&d);
    if (status != ULP_OK) return status;
    strcpy(d.name, text);
    memcpy(d.name, p.base, strlen(p.base));
    *datapath = d;
    return ULP_OK;
}

/* ---- help ---- */

const char *ulp_datapath_names(void) {
    return "fp32                   serial fused multiply-add in binary32, the reference\n"
           "serial:FORMAT:MODE     acc <- round(acc + a b), any accumulator format and mode; MODE/R for R random bits\n"
           "split:FORMAT:MODE      acc <- round(acc + round(a b))\n"
           "chunkN:FORMAT:MODE     serial sums of N products, and a serial sum of these\n"
           "blockN:FORMAT:MODE     the exact sum of N products (1 to 64) added with one rounding\n"
           "pairwise:FORMAT:MODE   a binary tree over the rounded products\n"
           "kahan:FORMAT:MODE      compensated\n"
           "exact:FORMAT:MODE      one rounding of the exact sum\n"
           "int8, int8:sat         int8 products in int32 that wraps, or clamps every 32 products; zero points :za=N "
           ":zb=N,\n"
           "                       -255 to 255 (za=-128: a is unsigned, less 128)\n"
           "GPU-INPUT[.INPUT][-ACCUMULATOR][-UNIT]  Tensor Cores; `ulp probe --list` names them: v100 t4 a100 l40s "
           "h100 b200\n"
           "                       rtx5090; h100-fp16, a100-fp16-fp16, h100-e4m3.e5m2, b200-e2m1-nvf4, ... Without a "
           "unit:\n"
           "                       wgmma on h100, tcgen05 on b200, else mma.sync; -mma: mma.sync there (fp8 runs on "
           "fp16\n"
           "                       units); -k4 -k8 -k16: mma.sync with that k; -mx -mxf4 -nvf4: block-scaled\n"
           "...:promote=N          every N products, a multiple of those of one sum, the sum is added to one in "
           "binary32 and\n"
           "                       starts again\n"
           "...:KEY=VALUE          a field of a Tensor Core row changed, h100-e4m3:F=20:kept=20. L products in a sum, "
           "1 to 64;\n"
           "                       F bits kept below the largest exponent, 0 to 40; kept fraction bits of the result; "
           "align,\n"
           "                       output: rounding modes; floor the lowest exponent, zero_operand, zero_product, "
           "zero_c the\n"
           "                       exponents that zeros count with: numbers or none; signed_zero 0 or 1\n"
           "mma f64 is serial:fp64:rne\n"
           "native:...             with --backend cuda, in `ulp gemm`, `ulp probe` and policies: a GPU's own "
           "products.\n"
           "                       native:mma:INPUT[.INPUT][-ACCUMULATOR][-UNIT]  by mma.sync: fp16 bf16 tf32 e4m3 "
           "e5m2 int8 fp64,\n"
           "                       fp16-fp16 e4m3-fp16 ..., e4m3.e5m2 ..., fp16-k8 bf16-k8 tf32-k4, int8:sat\n"
           "                       native:wgmma:...[:promote=N]  by wgmma: fp16 bf16 tf32 e4m3 e5m2, fp16-fp16 "
           "e4m3-fp16 ...,\n"
           "                       e4m3.e5m2 ...; N a multiple of the products of one instruction\n"
           "                       native:INPUT...  by cuBLASLt: fp32 tf32 fp16 fp16-fp16 bf16 e4m3 e4m3.e5m2 "
           "e5m2.e4m3 int8, fp8\n"
           "                       also with :fast, fast accumulation\n";
}

/* Append to a text of ULP_EXPLAIN_MAX bytes what fits. */
static void say(char *to, const char *text) { strncat(to, text, ULP_EXPLAIN_MAX - 1 - strlen(to)); }

static void say_number(char *to, long n) {
    char digits[24], *at = digits + sizeof digits - 1;
    unsigned long rest = n < 0 ? 0ul - (unsigned long)n : (unsigned long)n;
    *at = '\0';
    do *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (n < 0) *--at = '-';
    say(to, at);
}

static void say_modes(char *to, int stochastic) {
    for (int m = 0; m < ULP_MODE_COUNT; m++) {
        if (!stochastic && ulp_mode_is_stochastic((uint32_t)m)) continue;
        say(to, " ");
        say(to, ulp_mode_name((ulp_mode)m));
    }
}

/* KIND:FORMAT:MODE that is none. */
static void explain_form(char *to, const struct form *form, const char *rest) {
    char format[ULP_NAME_MAX];
    ulp_format f;
    ulp_rule rule = {0, 0, 0};
    const unsigned long length = form->numbered ? strtoul(rest, NULL, 10) : 1;
    const int digits = (int)strspn(rest, "0123456789");
    const char *mode = split_accumulator(format, rest[digits] == ':' ? rest + digits + 1 : "");
    if ((form->numbered ? digits == 0 : digits > 0) || mode == NULL) {
        say(to, form->name);
        say(to, form->numbered ? "N:FORMAT:MODE, N a number of products" : ":FORMAT:MODE is the form");
    } else if (length < 1 || length > LONGEST) {
        say(to, form->name);
        say(to, "N: N is 1 to 16777216, of block 1 to 64");
    } else if (ulp_format_parse(&f, format) != ULP_OK) {
        say(to, "no format '");
        say(to, format);
        say(to, "'; `ulp formats` names them, or eXmY, qI.F");
    } else if (parse_rule(&rule, mode) != ULP_OK) {
        say(to, "no mode '");
        say(to, mode);
        say(to, "'; modes are");
        say_modes(to, 1);
        say(to, ", the last three with /R for 1 to 32 random bits");
    }
}

/* A name of no row: the rows that begin like it. */
static void explain_row(char *to, const char *base) {
    ulp_datapath d;
    size_t count = 0;
    const size_t n = strcspn(base, "-") + 1;
    for (size_t i = 0; base[n - 1] != '\0' && ulp_datapath_get(i, &d) == ULP_OK; i++) {
        if (strncmp(d.name, base, n) != 0 || ++count > 12) continue;
        say(to, count == 1 ? "no row of that name; there are " : " ");
        say(to, d.name);
    }
    if (count > 12) say(to, " ...; `ulp probe --list` names all");
}

static void explain_setting(char *to, const ulp_datapath *d, const char *key, const char *value) {
    const struct setting *s = setting_of(key);
    say(to, key);
    if (s == NULL) {
        say(to, ": no such setting; there are");
        for (size_t i = 0; i < SETTINGS; i++) {
            say(to, " ");
            say(to, known[i].key);
        }
        return;
    }
    say(to, "=");
    say(to, value == NULL ? "" : value);
    if (s->of == OF_TENSOR_CORES && d->kind != ULP_ALIGNED) say(to, ": of Tensor Core rows only");
    else if (s->of == OF_INTEGERS && !(d->has_inputs && d->a.is_fixed)) say(to, ": of int8 only");
    else if (s->value == MODE) {
        say(to, ": one of");
        say_modes(to, 0);
    } else {
        say(to, ": ");
        say_number(to, s->min);
        say(to, " to ");
        say_number(to, s->max);
        if (s->value == EXPONENT) say(to, ", or none");
    }
}

void ulp_datapath_explain(char to[ULP_EXPLAIN_MAX], const char *text) {
    ulp_datapath d = {.kind = ULP_SERIAL, .length = 1};
    parts p;
    const char *rest;
    char *at = p.settings, *key, *value;
    to[0] = '\0';
    if (ulp_datapath_parse(&d, text) == ULP_OK) return;
    if (!take_apart(&p, text)) {
        say(to, "a name has at most 95 characters");
        return;
    }
    d = (ulp_datapath){.kind = ULP_SERIAL, .length = 1};
    const ulp_status status = parse_base(&d, p.base);
    const struct form *form = form_of(p.base, &rest);
    if (status != ULP_OK) {
        if (ulp_datapath_is_native(p.base))
            say(to, "native: names are a GPU's own products: for `ulp gemm`, `ulp probe` and policies with --backend "
                    "cuda, where there is a device");
        else if (form != NULL) explain_form(to, form, rest);
        else explain_row(to, p.base);
        return;
    }
    while ((key = next_setting(&at, &value)) != NULL) {
        const int twice = value != NULL && again(key, at);
        if (twice || value == NULL || set(&d, key, value) != ULP_OK) {
            if (twice) say(to, "given twice: ");
            if (twice) say(to, key);
            else explain_setting(to, &d, key, value);
            return;
        }
    }
    if (d.promote != 0 && d.kind == ULP_CHUNKED) say(to, "promote: chunks have an outer sum of their own");
    else if (d.promote != 0) say(to, "promote: a multiple of the products of one sum, into a sum that fits binary32");
    else if (d.kind == ULP_ALIGNED)
        say(to, "kept: less than the bits of the accumulator; L: a multiple of the scales' block");
    else say(to, "blockN: N is 1 to 64; wrap-around is for fixed point");
}

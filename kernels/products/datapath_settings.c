/* datapath_settings.c - the settings ":key=value" at the end of a datapath's name: their table, parser and help. */
#include "datapath_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "multiword.h"
#include "split_k.h"

static void list_modes(char *to, size_t size) {
    for (int m = 0, used = 0; m < ULP_MODE_COUNT && used < (int)size; m++)
        if (!ulp_mode_is_stochastic((uint32_t)m))
            used += snprintf(to + used, size - (size_t)used, " %s", ulp_mode_name((ulp_mode)m));
}

static ulp_status read_mode(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    char modes[100];
    ulp_mode mode = ULP_RNE;
    ulp_status status = ulp_mode_parse(&mode, value);
    if (status == ULP_OK && ulp_mode_is_stochastic(mode)) status = ULP_UNSUPPORTED;
    list_modes(modes, sizeof modes);
    if (status != ULP_OK) return ulp_fail(error, status, "'%s=%s': %s is one of%s", key->name, value, key->name, modes);
    ((uint8_t *)to)[key->at] = (uint8_t)mode;
    return ULP_OK;
}

static int print_mode(char *text, size_t size, const void *from, const ulp_key *key) {
    return snprintf(text, size, "%s", ulp_mode_name((ulp_mode)((const uint8_t *)from)[key->at]));
}

/* A word of the list key->form, "none|signed|positive", is the number of its place. */
static ulp_status read_word(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    const size_t n = strlen(value);
    uint8_t place = 0;
    for (const char *at = key->form; *at != '\0'; at += strcspn(at, "|"), at += *at == '|', place++)
        if (n > 0 && strcspn(at, "|") == n && strncmp(at, value, n) == 0) {
            ((uint8_t *)to)[key->at] = place;
            return ULP_OK;
        }
    return ulp_fail(error, ULP_BAD_NAME, "'%s=%s': %s is one of %s", key->name, value, key->name, key->form);
}

static int print_word(char *text, size_t size, const void *from, const ulp_key *key) {
    const char *at = key->form;
    for (uint8_t place = ((const uint8_t *)from)[key->at]; place > 0 && *at != '\0'; place--)
        at += strcspn(at, "|"), at += *at == '|';
    return snprintf(text, size, "%.*s", (int)strcspn(at, "|"), at);
}

/* The largest magnitude of a zero point. */
enum { ZERO_MOST = 255 };

/* ZA,ZB: codes of a and of b, or their number where a format has a sign. */
static ulp_status read_zero_points(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    ulp_datapath *d = to;
    const ulp_format *const f[2] = {&d->a, &d->b};
    const char *at = value;
    long zero[2];
    for (int i = 0; i < 2; i++) {
        char *end;
        const int is_number = at[*at == '-'] >= '0' && at[*at == '-'] <= '9';
        zero[i] = strtol(at, &end, 10);
        if (!is_number || *end != ",\0"[i])
            return ulp_fail(error, ULP_BAD_NAME, "'%s=%s': %s is ZA,ZB, two whole numbers, as 128,0", key->name, value,
                            key->name);
        at = end + 1;
    }
    for (int i = 0; i < 2; i++) {
        const double most = ZERO_MOST, low = f[i]->lowest > -most ? f[i]->lowest : -most,
                     high = f[i]->max < most ? f[i]->max : most;
        if ((double)zero[i] < low || (double)zero[i] > high)
            return ulp_fail(error, ULP_NOT_IN_RANGE, "'%s=%s': the zero point of %c is %s, %.0f to %.0f", key->name,
                            value, "ab"[i], f[i] -> name, low, high);
    }
    d->zero_a = (int32_t)zero[0];
    d->zero_b = (int32_t)zero[1];
    return ULP_OK;
}

/* N:FORMAT of split-k, where FORMAT may have suffixes. */
static ulp_status read_split_k(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    ulp_datapath *d = to;
    char *end;
    const char *colon = strchr(value, ':');
    const int is_number = *value >= '0' && *value <= '9';
    const unsigned long parts = is_number ? strtoul(value, &end, 10) : 0;
    if (!is_number || (*end != ':' && *end != '\0') || colon == NULL)
        return ulp_fail(error, ULP_BAD_NAME, "'%s=%s': %s is N:FORMAT, N parts and the format of their sums, as 4:fp32",
                        key->name, value, key->name);
    if (parts < 1 || parts > ULP_SPLIT_K_MAX)
        return ulp_fail(error, ULP_NOT_IN_RANGE, "'%s=%s': N of %s=N:FORMAT is a whole number from 1 to %d", key->name,
                        value, key->name, ULP_SPLIT_K_MAX);
    const ulp_status status = ulp_format_parse(&d->split_k_format, colon + 1);
    if (status != ULP_OK)
        return ulp_fail(error, status, "'%s=%s': no format '%s'; `ulp formats` names them, or eXmY, qI.F", key->name,
                        value, colon + 1);
    d->split_k = (uint32_t)parts;
    return ULP_OK;
}

static int print_split_k(char *text, size_t size, const void *from, const ulp_key *key) {
    const ulp_datapath *d = from;
    (void)key;
    return d->split_k == 0 ? 0 : snprintf(text, size, "%u:%s", d->split_k, d->split_k_format.name);
}

/* FORMAT of split-k, and its suffixes. */
static int split_k_goes_on(const char *key, const char *text) {
    const size_t word = strcspn(text, ":=");
    return strcasecmp(key, "split-k") == 0 && (text[word] != '=' || strncmp(text, "bias=", 5) == 0);
}

#define FIELD(field) ULP_KEY_FIELD(ulp_datapath, field)
#define INTEGER(name, help, field, least, most)                                                                        \
    { name, help, ULP_KEY_INTEGER, FIELD(field), least, most, NULL, 0, NULL, NULL }
#define FLAG(name, help, field)                                                                                        \
    { name, help, ULP_KEY_FLAG, FIELD(field), 0, 1, NULL, 0, NULL, NULL }
#define EXPONENT(name, help, field)                                                                                    \
    { name, help, ULP_KEY_INTEGER, FIELD(field), -1000, 1000, "none", ULP_NO_EXPONENT, NULL, NULL }
#define WORD(name, help, field, words)                                                                                 \
    { name, help, ULP_KEY_OWN, FIELD(field), 0, 0, words, 0, read_word, print_word }
#define MODE(name, help, field)                                                                                        \
    { name, help, ULP_KEY_OWN, FIELD(field), 0, 0, "a rounding mode that is not stochastic", 0, read_mode, print_mode }

static const ulp_key any_keys[] = {
    INTEGER(
        "promote",
        "every so many products, a multiple of those of one sum, the sum is added to one in binary32 and starts again",
        promote, 1, ULP_LONGEST_SUM),
    {"split-k",
     "split-K kernels: k is divided into N parts of whole instructions; each part is a sum from +0, rounded to FORMAT. "
     "In binary32 the parts are added in their order, then c; the result is rounded to nearest even. fp32 is "
     "cuBLASLt's "
     "reduction in the compute type, the format of the results its reduction in the output type",
     ULP_KEY_OWN, FIELD(split_k), 1, ULP_SPLIT_K_MAX, "N:FORMAT, N from 1 to 65536", 0, read_split_k, print_split_k},
    {.name = NULL},
};

static const ulp_key word_keys[] = {
    INTEGER("words",
            "operands are binary32 codes, each a sum of N words of the unit's format: word 1 is the rounded operand, "
            "the next word is the rounded remainder. Products of word i of a and word j of b with i + j <= N + 1 are "
            "summed, pair by pair, each sum over all k from the result of the one before, c first. NaN where word 1 is "
            "infinite",
            words, 1, ULP_WORDS_MAX),
    WORD("split", "with words: how a word is rounded", words_cut, "rne|rz"),
    WORD("first", "with words: large begins with word 1 of both, small with the smallest words, which is more exact",
         words_small_first, "large|small"),
    {.name = NULL},
};

static const ulp_key integer_keys[] = {
    INTEGER("za", "zero point of a; -128: a is unsigned, less 128", zero_a, -ZERO_MOST, ZERO_MOST),
    INTEGER("zb", "zero point of b", zero_b, -ZERO_MOST, ZERO_MOST),
    {"zero-points",
     "za and zb at once, each a value of its operand's format, as ONNX MatMulInteger defines them: sums of "
     "(a - ZA)(b - ZB). Names that programs print have za and zb, and so have names in lists with commas",
     ULP_KEY_OWN, FIELD(zero_a), 0, 0, "ZA,ZB", 0, read_zero_points, NULL},
    {.name = NULL},
};

static const ulp_key tensor_core_keys[] = {
    INTEGER("L", "products in one sum", fused.length, 1, ULP_STEP_MAX),
    INTEGER("F", "bits kept below the largest exponent", fused.fraction, 0, 40),
    INTEGER("kept", "fraction bits of the result", fused.kept, 1, 23),
    MODE("align", "how terms are cut to F bits", fused.align),
    MODE("output", "how the sum is rounded", fused.output),
    FLAG("signed_zero", "1: a negative sum that becomes zero is -0", fused.signed_zero),
    EXPONENT("floor", "the lowest exponent to which terms are aligned", fused.floor),
    EXPONENT("zero_operand", "the exponent that an operand of zero counts with", fused.zero_operand),
    EXPONENT("zero_product", "the exponent that a product of zero counts with", fused.zero_product),
    EXPONENT("zero_c", "the exponent that a start value of zero counts with", fused.zero_c),
    FLAG("c_last", "1: the sum starts at +0, and c is added last", fused.c_last),
    INTEGER("join", "bits kept where the products' sum meets c, rounded down: F to F + 12; 0: c is a term of the sum",
            fused.join, 0, 52),
    INTEGER("normal", "with join: bits kept of the normalised sum, rounded down, at most join", fused.normal, 0, 52),
    INTEGER("parts", "with join: products k mod parts are aligned apart", fused.parts, 0, 2),
    FLAG("c_cut", "with join: 1: c far below the sum is zero", fused.c_cut),
    {.name = NULL},
};

static const ulp_key chain_keys[] = {
    INTEGER("length", "products of an instruction", chains.length, 1, ULP_STEP_MAX),
    INTEGER("term", "products of a term, which is their exact sum", chains.term, 1, ULP_STEP_MAX),
    FLAG("fused", "1: chain + term is rounded once; 0: a term is rounded first", chains.fused),
    INTEGER("lanes", "number of chains, a power of two", chains.lanes, 1, ULP_STEP_MAX),
    FLAG("swapped", "1: the second term of a pair comes first", chains.swapped),
    FLAG("last", "1: c is added to the sum of the chains; 0: the first chain starts at c", chains.c_last),
    MODE("mode", "how every sum is rounded", rule.mode),
    WORD("flush_ab", "the zero that a subnormal operand becomes", chains.flush_ab, "none|signed|positive"),
    WORD("flush_c", "the zero that a subnormal start value becomes", chains.flush_c, "none|signed|positive"),
    WORD("flush", "which results become zero: tiny before rounding, after rounding, or rounded to a subnormal",
         chains.flush, "none|before|after|rounded"),
    INTEGER("shift", "products are times 2^-shift", chains.shift, 0, 127),
    FLAG("saturate", "1: a finite sum beyond the range becomes the largest number", chains.saturate),
    {.name = NULL},
};

static int holds(const ulp_key *keys, const ulp_key *key) {
    while (keys->name && keys != key) keys++;
    return keys->name != NULL;
}

static const char *lacks_key(const void *to, const ulp_key *key) {
    const ulp_datapath *d = to;
    if (holds(tensor_core_keys, key) && d->kind != ULP_ALIGNED) return "is of rows with aligned sums only";
    if (holds(chain_keys, key) && d->kind != ULP_CHAINS) return "is of rows with chains only";
    if (holds(word_keys, key) && (!d->has_inputs || d->a.is_fixed || d->scale_block != 0))
        return "is of rows with narrow floating-point operands without block scales only";
    if (holds(integer_keys, key) && !(d->has_inputs && d->a.is_fixed && d->kind == ULP_SERIAL))
        return "is of int8, uint8 and vnni only";
    return NULL;
}

static const ulp_key *const all_keys[] = {any_keys, word_keys, integer_keys, tensor_core_keys, chain_keys, NULL};
static const ulp_key_reader settings_reader = {
    .lists = all_keys, .between = ':', .plain = 1, .lacks = lacks_key, .goes_on = split_k_goes_on};

ulp_status ulp_datapath_settings(ulp_datapath *d, const ulp_datapath_parts *parts, ulp_error *error) {
    const uint8_t joined = d->fused.join;
    if (*parts->settings == '\0') return ULP_OK;
    const ulp_status status = ulp_keys_read(d, &settings_reader, parts->settings + 1, parts->base, error);
    if (joined != 0 && d->fused.join == 0) d->fused.normal = d->fused.parts = d->fused.c_cut = 0;
    return status;
}

ulp_status ulp_datapath_settings_print(char *text, size_t size, const ulp_datapath *d, const ulp_datapath *unlike) {
    return ulp_keys_print(text, size, &settings_reader, d, unlike);
}

void ulp_datapath_settings_help(const ulp_help *to) {
    static const char *const titles[] = {
        "", "rows with floating-point operands (multi-word products, h100-bf16:words=3)", "int8, uint8 and vnni",
        "rows with aligned sums (NVIDIA, CDNA3, RISC-V)", "rows with chains (x86, Arm, CDNA2)"}; /* of all_keys */
    ulp_help_line(to,
                  "Settings stand at the end of a name: NAME:key=value:key=value, as h100-e4m3:F=20:kept=20. Programs "
                  "print the settings that differ from the row's own values, in this order.");
    ulp_help_keys(to, (const ulp_key *const[]){any_keys, NULL}, NULL);
    for (size_t i = 1; all_keys[i] != NULL; i++) {
        ulp_help_line(to, "%s", "");
        ulp_help_line(to, "Settings of %s:", titles[i]);
        ulp_help_keys(to, (const ulp_key *const[]){all_keys[i], NULL}, NULL);
    }
}

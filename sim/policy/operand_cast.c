/* operand_cast.c - the texts of casts of operands; see operand_cast.h. */
#include "operand_cast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy_words.h"

static const char *const names[ULP_OPERANDS] = {"fwd.x", "fwd.w", "dgrad.g", "dgrad.w", "wgrad.x", "wgrad.g"};

const char *ulp_operand_name(int operand) { return (unsigned)operand < ULP_OPERANDS ? names[operand] : NULL; }

int ulp_operand_find(const char *name) {
    for (int i = 0; i < ULP_OPERANDS; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

/* Cut ":WORD" off the end of a text, if it ends so. */
static int cut(char *text, const char *word) {
    char *at = strrchr(text, ':');
    if (!at || strcmp(at + 1, word) != 0) return 0;
    *at = 0;
    return 1;
}

/* Cut :rhtG, :hadG or :rht off the end. */
static int cut_transform(ulp_operand_cast *cast, char *text) {
    static const uint16_t sizes[] = {16, 32, 128};
    if (cut(text, "rht")) {
        cast->transform = 128;
        cast->fits = cast->random_signs = 1;
        return 1;
    }
    for (size_t i = 0; i < 3; i++)
        for (int random = 0; random < 2; random++) {
            char word[16];
            snprintf(word, sizeof word, "%s%u", random ? "rht" : "had", sizes[i]);
            if (!cut(text, word)) continue;
            cast->transform = sizes[i];
            cast->random_signs = (uint8_t)random;
            return 1;
        }
    return 0;
}

static ulp_status fail(int operand, const char *text, ulp_error *error) {
    return ulp_fail(error, ULP_BAD_NAME,
                    "policy: %s=%s: a cast of an operand is none, FORMAT[@amax][/MODE], "
                    "BLOCK[:2d][:eden][:rhtG, :hadG or :rht][/MODE] with G = 16, 32 or 128, as nvfp4:2d or "
                    "nvfp4:rht16/sr, sign, xnor or ternary",
                    ulp_operand_name(operand), text);
}

static ulp_status fail_mode(int operand, const char *text, ulp_status status, ulp_error *error) {
    return ulp_fail(error, status, "policy: %s=%s: the elements of the format do not offer the mode",
                    ulp_operand_name(operand), text);
}

/* Cut the suffixes off a block format, in any order, each once. */
static void cut_suffixes(ulp_operand_cast *cast, char *word) {
    for (int more = 1; more;) {
        more = !cast->transform && cut_transform(cast, word);
        if (!cast->tiles && cut(word, "2d")) cast->tiles = 1, more = 1;
        if (!cast->eden && cut(word, "eden")) cast->eden = 1, more = 1;
    }
}

static ulp_status read_block(ulp_operand_cast *cast, int operand, char *word, const char *text, ulp_error *error) {
    cut_suffixes(cast, word);
    const ulp_status status = ulp_block_parse(&cast->block, word);
    if (status == ULP_BAD_NAME && (cast->tiles || cast->transform || cast->eden)) return fail(operand, text, error);
    if (status != ULP_OK) return status;
    cast->kind = ULP_OPERAND_BLOCK;
    cast->has_tensor_scale = (uint8_t)(cast->block.scale.prec > 1);
    if (cast->eden && (cast->tiles || ulp_mode_is_stochastic(cast->cast.rule.mode)))
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "policy: %s=%s: eden is for blocks along the sum, and its elements are not stochastic",
                        ulp_operand_name(operand), text);
    const ulp_status fits = ulp_element_check(&cast->block.element, cast->cast.rule);
    return fits == ULP_OK ? ULP_OK : fail_mode(operand, text, fits, error);
}

/* Read sign, xnor or ternary[:T]; ULP_BAD_NAME: it is none of them. */
static ulp_status read_low_bit(ulp_operand_cast *cast, int operand, const char *word, const char *text,
                               ulp_error *error) {
    const ulp_rule rule = cast->cast.rule;
    const int stochastic = ulp_mode_is_stochastic(rule.mode);
    char *end;
    cast->kind = ULP_OPERAND_LOW_BIT;
    cast->low_bit = ULP_LOW_SIGN;
    cast->threshold = 0.7;
    if (strcmp(word, "xnor") == 0) cast->low_bit = ULP_LOW_XNOR;
    else if (strncmp(word, "ternary", 7) == 0 && (!word[7] || word[7] == ':')) cast->low_bit = ULP_LOW_TERNARY;
    else if (strcmp(word, "sign") != 0) return ULP_BAD_NAME;
    if (cast->low_bit == ULP_LOW_TERNARY && word[7]) {
        cast->threshold = strtod(word + 8, &end);
        if (end == word + 8 || *end || !(cast->threshold >= 0.0 && cast->threshold <= 1000.0))
            return ulp_fail(error, ULP_BAD_NAME, "policy: %s=%s: the threshold is a number from 0 to 1000, as 0.7",
                            ulp_operand_name(operand), text);
    }
    const int good = rule.overflow == ULP_OVERFLOW_DEFAULT && !rule.random_bits &&
                     (rule.mode == ULP_RNE || (stochastic && cast->low_bit == ULP_LOW_SIGN));
    return good ? ULP_OK : fail_mode(operand, text, ULP_UNSUPPORTED, error);
}

ulp_status ulp_operand_cast_read(ulp_operand_cast *to, int operand, const char *text, ulp_error *error) {
    char word[ULP_CAST_TEXT_MAX];
    ulp_operand_cast cast;
    ulp_cast_text about = {.name = ulp_operand_name(operand), .takes_scale = 1};
    memset(&cast, 0, sizeof cast);
    if (strcmp(text, "none") == 0) {
        *to = cast;
        return ULP_OK;
    }
    if (strlen(text) >= sizeof word) return fail(operand, text, error);
    snprintf(word, sizeof word, "%s", text);
    char *slash = strchr(word, '/');
    if (slash) {
        *slash = 0;
        ULP_TRY(ulp_rule_read(&cast.cast.rule, slash + 1, error));
    }
    ulp_status status = read_low_bit(&cast, operand, word, text, error);
    if (status == ULP_BAD_NAME && cast.low_bit == ULP_LOW_SIGN) status = read_block(&cast, operand, word, text, error);
    if (status == ULP_BAD_NAME && !cast.tiles && !cast.transform && !cast.eden && cast.low_bit == ULP_LOW_SIGN) {
        ulp_error why;
        cast.kind = ULP_OPERAND_FORMAT;
        if (ulp_cast_read(&cast.cast, &about, text, &why) != ULP_OK || cast.cast.tensor_scale == ULP_SCALED_DELAYED)
            return fail(operand, text, error);
        if (ulp_rule_check(&cast.cast.format, cast.cast.rule) != ULP_OK)
            return ulp_fail(error, ULP_UNSUPPORTED, "policy: %s=%s: the format does not offer the rule",
                            ulp_operand_name(operand), text);
    } else if (status != ULP_OK) return status;
    *to = cast;
    return ULP_OK;
}

int ulp_operand_cast_write(char *text, size_t size, const ulp_operand_cast *cast) {
    static const char *const low_bits[ULP_LOW_COUNT] = {"sign", "xnor", "ternary"};
    char rule[24], transform[16] = "";
    if (cast->kind == ULP_OPERAND_AS_IT_IS) return snprintf(text, size, "none");
    if (cast->kind == ULP_OPERAND_FORMAT) return ulp_cast_write(text, size, &cast->cast);
    if (cast->kind == ULP_OPERAND_LOW_BIT && cast->threshold != 0.7)
        return snprintf(text, size, "%s:%.17g", low_bits[cast->low_bit], cast->threshold);
    ulp_rule_write(rule, sizeof rule, cast->cast.rule);
    if (cast->kind == ULP_OPERAND_LOW_BIT) return snprintf(text, size, "%s/%s", low_bits[cast->low_bit], rule);
    if (cast->fits) snprintf(transform, sizeof transform, ":rht");
    else if (cast->transform)
        snprintf(transform, sizeof transform, ":%s%u", cast->random_signs ? "rht" : "had", cast->transform);
    return snprintf(text, size, "%s%s%s%s/%s", cast->block.name, cast->tiles ? ":2d" : "", cast->eden ? ":eden" : "",
                    transform, rule);
}

int ulp_operand_casts_equal(const ulp_operand_cast *a, const ulp_operand_cast *b) {
    char one[ULP_VALUE_MAX], other[ULP_VALUE_MAX];
    ulp_operand_cast_write(one, sizeof one, a);
    ulp_operand_cast_write(other, sizeof other, b);
    return strcmp(one, other) == 0;
}

size_t ulp_operand_transform(const ulp_operand_cast *cast, size_t length) {
    size_t g = cast->transform;
    while (cast->fits && g > 0 && length % g != 0) g /= 2;
    return g > 1 ? g : 0;
}

ulp_status ulp_operand_casts_check(const ulp_operand_cast cast[ULP_OPERANDS], ulp_error *error) {
    for (int i = 0; i < ULP_OPERANDS; i += 2) {
        const ulp_operand_cast *a = &cast[i], *b = &cast[i + 1];
        if (a->transform != b->transform || a->random_signs != b->random_signs || a->fits != b->fits)
            return ulp_fail(error, ULP_BAD_ARGUMENT,
                            "policy: %s and %s need the same Hadamard transform, so that their product stays",
                            ulp_operand_name(i), ulp_operand_name(i + 1));
    }
    return ULP_OK;
}

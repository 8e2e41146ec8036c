/* operand_cast.c - the texts of casts of operands; see operand_cast.h. */
#include "operand_cast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy_words.h"
#include "sim/layers/layer.h"

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

/* Cut :rhtG or :hadG off the end. */
static int cut_transform(ulp_operand_cast *cast, char *text) {
    static const uint16_t sizes[] = {16, 32, 128};
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
                    "policy: %s=%s: a cast of an operand is none, FORMAT[@amax][/MODE] or "
                    "BLOCK[:2d][:rhtG or :hadG][/MODE] with G = 16, 32 or 128, as nvfp4:2d or nvfp4:rht16/sr",
                    ulp_operand_name(operand), text);
}

static ulp_status read_block(ulp_operand_cast *cast, int operand, char *word, const char *text, ulp_error *error) {
    const int has_transform = cut_transform(cast, word);
    cast->tiles = (uint8_t)cut(word, "2d");
    if (!has_transform) cut_transform(cast, word);
    const ulp_status status = ulp_block_parse(&cast->block, word);
    if (status == ULP_BAD_NAME && (cast->tiles || cast->transform)) return fail(operand, text, error);
    if (status != ULP_OK) return status;
    cast->kind = ULP_OPERAND_BLOCK;
    cast->has_tensor_scale = (uint8_t)(cast->block.scale.prec > 1);
    const ulp_status fits = ulp_element_check(&cast->block.element, cast->cast.rule);
    if (fits == ULP_OK) return ULP_OK;
    return ulp_fail(error, fits, "policy: %s=%s: the elements of the format do not offer the mode",
                    ulp_operand_name(operand), text);
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
    const ulp_status status = read_block(&cast, operand, word, text, error);
    if (status == ULP_BAD_NAME && !cast.tiles && !cast.transform) {
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
    char rule[24], transform[16] = "";
    if (cast->kind == ULP_OPERAND_AS_IT_IS) return snprintf(text, size, "none");
    if (cast->kind == ULP_OPERAND_FORMAT) return ulp_cast_write(text, size, &cast->cast);
    ulp_rule_write(rule, sizeof rule, cast->cast.rule);
    if (cast->transform)
        snprintf(transform, sizeof transform, ":%s%u", cast->random_signs ? "rht" : "had", cast->transform);
    return snprintf(text, size, "%s%s%s/%s", cast->block.name, cast->tiles ? ":2d" : "", transform, rule);
}

int ulp_operand_casts_equal(const ulp_operand_cast *a, const ulp_operand_cast *b) {
    char one[ULP_VALUE_MAX], other[ULP_VALUE_MAX];
    ulp_operand_cast_write(one, sizeof one, a);
    ulp_operand_cast_write(other, sizeof other, b);
    return strcmp(one, other) == 0;
}

ulp_status ulp_operand_lengths_check(const ulp_operand_cast cast[ULP_OPERANDS], const ulp_layer *layer, size_t batch,
                                     ulp_error *error) {
    for (int i = 0; i < ULP_OPERANDS && layer->kind->casts; i++) {
        const size_t length = layer->sums[i / 2] * (i < ULP_WGRAD_X ? 1 : batch), G = cast[i].transform;
        if (!G || !length || length % G == 0) continue;
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "policy: %s: layer %zu (%s) forms these sums over parts of %zu numbers, which the Hadamard "
                        "transform of %zu does not divide%s",
                        ulp_operand_name(i), layer->index, layer->word, length, G,
                        i < ULP_WGRAD_X ? "" : "; another batch may fit");
    }
    return ULP_OK;
}

ulp_status ulp_operand_casts_check(const ulp_operand_cast cast[ULP_OPERANDS], ulp_error *error) {
    for (int i = 0; i < ULP_OPERANDS; i += 2) {
        const ulp_operand_cast *a = &cast[i], *b = &cast[i + 1];
        if (a->transform != b->transform || a->random_signs != b->random_signs)
            return ulp_fail(error, ULP_BAD_ARGUMENT,
                            "policy: %s and %s need the same Hadamard transform, so that their product stays",
                            ulp_operand_name(i), ulp_operand_name(i + 1));
    }
    return ULP_OK;
}

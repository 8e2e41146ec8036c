/* cast_text.c - reading and writing the texts of casts and rules; see policy_words.h. */
#include "policy_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Write the names of the known formats as "a, b, c". */
static void list_formats(char *text, size_t size) {
    const ulp_format_row *row;
    size_t used = 0;
    for (size_t i = 0; i < ulp_format_count && used < size; i++)
        if (ulp_format_get(i, NULL, &row) == ULP_OK)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", row->name);
}

static void list_modes(char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < ULP_MODE_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", ulp_mode_name((ulp_mode)i));
}

ulp_status ulp_rule_read(ulp_rule *rule, const char *text, ulp_error *error) {
    char word[ULP_CAST_TEXT_MAX], known[256];
    ulp_mode mode;
    unsigned long bits = 0;
    snprintf(word, sizeof word, "%s", text);
    char *slash = strchr(word, '/');
    if (slash) *slash = 0;
    if (ulp_mode_parse(&mode, word) != ULP_OK) {
        list_modes(known, sizeof known);
        return ulp_fail(error, ULP_BAD_NAME, "no rounding mode '%s'; known: %s", word, known);
    }
    if (slash) {
        char *end;
        bits = strtoul(slash + 1, &end, 10);
        if (*end || slash[1] < '0' || slash[1] > '9' || bits < 1 || bits > 32 || !ulp_mode_is_stochastic(mode))
            return ulp_fail(error, ULP_BAD_ARGUMENT, "'%s': random bits are 1 to 32, of a stochastic mode", text);
    }
    rule->mode = (uint8_t)mode;
    rule->random_bits = (uint8_t)bits;
    return ULP_OK;
}

/* Read the part of `word` after @ as a tensor scale, and cut `word` before @. */
static ulp_status read_tensor_scale(ulp_cast *cast, const ulp_cast_text *about, char *word, ulp_error *error) {
    char *at = strchr(word, '@'), *end;
    if (!at) return ULP_OK;
    *at++ = 0;
    if (!about->takes_scale)
        return ulp_fail(error, ULP_UNSUPPORTED, "%s=%s@%s: only weight, act, wgrad and agrad have scales per tensor",
                        about->name, word, at);
    if (strcmp(at, "amax") == 0) {
        cast->tensor_scale = ULP_SCALED_NOW;
        return ULP_OK;
    }
    unsigned long history = strncmp(at, "delayed", 7) != 0 ? 0 : at[7] == 0 ? 16 : strtoul(at + 7, &end, 10);
    if (history < 1 || history > ULP_HISTORY_MAX || (at[7] && (at[7] < '0' || at[7] > '9' || *end)))
        return ulp_fail(error, ULP_BAD_NAME,
                        "%s=%s@%s: no such tensor scale; known: amax, delayed, delayedN with N from 1 to %d",
                        about->name, word, at, ULP_HISTORY_MAX);
    cast->tensor_scale = ULP_SCALED_DELAYED;
    cast->history = (uint16_t)history;
    return ULP_OK;
}

ulp_status ulp_cast_read(ulp_cast *to, ulp_cast_text *about, const char *text, ulp_error *error) {
    char word[ULP_CAST_TEXT_MAX], known[768];
    ulp_cast cast;
    memset(&cast, 0, sizeof cast); /* the padding, too: casts are compared byte by byte in tests */
    snprintf(word, sizeof word, "%s", text);
    char *slash = strchr(word, '/');
    if (slash) *slash = 0;
    about->has_mode = slash != NULL;
    ULP_TRY(read_tensor_scale(&cast, about, word, error));
    const ulp_status status = ulp_format_parse(&cast.format, word);
    if (status != ULP_OK) {
        list_formats(known, sizeof known);
        return ulp_fail(error, status, "no format '%s' for %s; known: %s, eXmY, qI.F", word, about->name, known);
    }
    if (!cast.format.fits_binary32)
        return ulp_fail(error, ULP_UNSUPPORTED, "%s=%s: arrays carry binary32, the format does not fit", about->name,
                        word);
    if (cast.tensor_scale && cast.format.taper != ULP_TAPER_NONE)
        return ulp_fail(error, ULP_UNSUPPORTED, "%s=%s: a tapered format has no bias that a scale moves", about->name,
                        word);
    if (slash) ULP_TRY(ulp_rule_read(&cast.rule, slash + 1, error));
    *to = cast;
    return ULP_OK;
}

int ulp_rule_write(char *text, size_t size, ulp_rule rule) {
    const char *mode = ulp_mode_name((ulp_mode)rule.mode);
    return rule.random_bits ? snprintf(text, size, "%s/%u", mode, rule.random_bits) : snprintf(text, size, "%s", mode);
}

int ulp_cast_write(char *text, size_t size, const ulp_cast *cast) {
    char rule[24], scale[16] = "";
    ulp_rule_write(rule, sizeof rule, cast->rule);
    if (cast->tensor_scale == ULP_SCALED_NOW) snprintf(scale, sizeof scale, "@amax");
    if (cast->tensor_scale == ULP_SCALED_DELAYED) snprintf(scale, sizeof scale, "@delayed%u", cast->history);
    return snprintf(text, size, "%s%s/%s", cast->format.name, scale, rule);
}

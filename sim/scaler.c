/* scaler.c - the table of loss scaling rules and their one state machine; see scaler.h. */
#include "scaler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ulp_scaler_rule rules[] = {
    /* name, dynamic, skip, init, min, max, interval, hysteresis */
    {"none", 0, 0, 0, ULP_SCALE_MIN, ULP_SCALE_MAX, 0, 1},
    {"static", 0, 0, 0, ULP_SCALE_MIN, ULP_SCALE_MAX, 0, 1},
    {"pytorch", 1, 1, 16, ULP_SCALE_MIN, ULP_SCALE_MAX, 2000, 1},
    {"apex", 1, 1, 16, ULP_SCALE_MIN, 24, 2000, 1},
    {"keras", 1, 1, 15, 0, ULP_SCALE_MAX, 2000, 1},
    {"megatron", 1, 1, 32, 0, ULP_SCALE_MAX, 1000, 2},
    {"backoff", 1, 1, 24, ULP_SCALE_MIN, 24, 0, 1},
};

const ulp_scaler_rule *ulp_scaler_rule_get(size_t i) { return i < sizeof rules / sizeof *rules ? &rules[i] : NULL; }

static ulp_status fail(const char *what, const char *word, char *error, size_t error_size) {
    size_t used = 0;
    if (!error || !error_size) return ULP_BAD_NAME;
    used = (size_t)snprintf(error, error_size, "scaler: %s '%s'; known: static:K", what, word);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && used < error_size; i++)
        used += (size_t)snprintf(error + used, error_size - used, ", %s", rules[i].name);
    if (used < error_size)
        snprintf(error + used, error_size - used, "; keys init, min, max (%d to %d), interval, hysteresis, skip", ULP_SCALE_MIN, ULP_SCALE_MAX);
    return ULP_BAD_NAME;
}

static int set_key(ulp_scaler_rule *rule, const char *key, const char *value) {
    char *end;
    long v = strtol(value, &end, 10);
    int scale = v >= ULP_SCALE_MIN && v <= ULP_SCALE_MAX;
    if (*end || end == value) return 0;
    if (strcmp(key, "init") == 0 && scale) rule->init = (int16_t)v;
    else if (strcmp(key, "min") == 0 && scale) rule->min = (int16_t)v;
    else if (strcmp(key, "max") == 0 && scale) rule->max = (int16_t)v;
    else if (strcmp(key, "interval") == 0 && v >= 0 && v <= 1000000000) rule->interval = (uint32_t)v;
    else if (strcmp(key, "hysteresis") == 0 && v >= 1 && v <= 1000000) rule->hysteresis = (uint32_t)v;
    else if (strcmp(key, "skip") == 0 && (v == 0 || v == 1)) rule->skip = (uint8_t)v;
    else return 0;
    return 1;
}

static int find_rule(ulp_scaler_rule *rule, char *word) {
    char *colon = strchr(word, ':');
    if (colon) *colon = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, word) == 0) {
            *rule = rules[i];
            return !colon || (strcmp(word, "static") == 0 && set_key(rule, "init", colon + 1));
        }
    return 0;
}

ulp_status ulp_scaler_parse(ulp_scaler *scaler, const char *text, char *error, size_t error_size) {
    ulp_scaler_rule rule = rules[0];
    for (int i = 0;; i++) {
        char word[64], copy[64];
        size_t length = text ? strcspn(text, ",") : 0;
        if (length == 0 || length >= sizeof word) return fail("no word at", text ? text : "", error, error_size);
        memcpy(word, text, length);
        word[length] = 0;
        memcpy(copy, word, length + 1);
        if (i == 0) {
            if (!find_rule(&rule, word)) return fail("no rule", copy, error, error_size);
        } else {
            char *equals = strchr(word, '=');
            if (equals) *equals = 0;
            if (!equals || !set_key(&rule, word, equals + 1)) return fail("cannot take", copy, error, error_size);
        }
        text += length;
        if (!*text) break;
        text++;
    }
    if (rule.init < rule.min || rule.init > rule.max) return fail("init is not between min and max in", rule.name, error, error_size);
    memset(scaler, 0, sizeof *scaler);
    scaler->rule = rule;
    scaler->log2 = rule.init;
    scaler->patience = rule.hysteresis;
    return ULP_OK;
}

int ulp_scaler_update(ulp_scaler *s, int overflow) {
    int skip = overflow && s->rule.skip;
    s->overflows += overflow != 0;
    s->skipped += (uint64_t)skip;
    if (!s->rule.dynamic) return skip;
    if (overflow) {
        s->good = 0;
        if (s->patience > 0) s->patience--;
        if (s->patience == 0 && s->log2 > s->rule.min) {
            s->log2--;
            s->backed++;
        }
    } else if (s->rule.interval && ++s->good >= s->rule.interval) {
        s->good = 0;
        s->patience = s->rule.hysteresis;
        if (s->log2 < s->rule.max) {
            s->log2++;
            s->grown++;
        }
    }
    return skip;
}

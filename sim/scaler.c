/* scaler.c - the table of loss scaling rules and their state machines; see scaler.h. */
#include "scaler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/functions/elementary.h"

static const ulp_scaler_rule rules[] = {
    /* name, way, per_layer, skip, init, min, max, interval, hysteresis, logmax's own */
    {"none", ULP_SCALE_FIXED, 0, 0, 0, ULP_SCALE_MIN, ULP_SCALE_MAX, 0, 1, 0, 0, 0, 0},
    {"static", ULP_SCALE_FIXED, 0, 0, 0, ULP_SCALE_MIN, ULP_SCALE_MAX, 0, 1, 0, 0, 0, 0},
    {"pytorch", ULP_SCALE_BY_OVERFLOW, 0, 1, 16, ULP_SCALE_MIN, ULP_SCALE_MAX, 2000, 1, 0, 0, 0, 0},
    {"apex", ULP_SCALE_BY_OVERFLOW, 0, 1, 16, ULP_SCALE_MIN, 24, 2000, 1, 0, 0, 0, 0},
    {"keras", ULP_SCALE_BY_OVERFLOW, 0, 1, 15, 0, ULP_SCALE_MAX, 2000, 1, 0, 0, 0, 0},
    {"megatron", ULP_SCALE_BY_OVERFLOW, 0, 1, 32, 0, ULP_SCALE_MAX, 1000, 2, 0, 0, 0, 0},
    {"backoff", ULP_SCALE_BY_OVERFLOW, 0, 1, 24, ULP_SCALE_MIN, 24, 0, 1, 0, 0, 0, 0},
    {"logmax", ULP_SCALE_BY_SIZE, 0, 1, 0, 0, 24, 0, 1, 16, 3.09, 0.99, 0.999},
    {"layer", ULP_SCALE_BY_OVERFLOW, 1, 1, 16, ULP_LAYER_SCALE_MIN, ULP_LAYER_SCALE_MAX, 2000, 1, 0, 0, 0, 0},
};

const ulp_scaler_rule *ulp_scaler_rule_get(size_t i) { return i < sizeof rules / sizeof *rules ? &rules[i] : NULL; }

const ulp_scaler_rule *ulp_scaler_rule_find(const char *name) {
    const ulp_scaler_rule *rule = NULL;
    for (size_t i = 0; (rule = ulp_scaler_rule_get(i)) && strcmp(rule->name, name) != 0;) i++;
    return rule;
}

static ulp_status fail(const char *what, const char *word, char *error, size_t error_size) {
    size_t used = 0;
    if (!error || !error_size) return ULP_BAD_NAME;
    used = (size_t)snprintf(error, error_size, "scaler: %s '%s'; known: static:K", what, word);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && used < error_size; i++)
        used += (size_t)snprintf(error + used, error_size - used, ", %s", rules[i].name);
    if (used < error_size)
        snprintf(error + used, error_size - used,
                 "; keys init, min, max (%d to %d, of layer %d to %d), interval, hysteresis, skip; of logmax, in place "
                 "of interval and "
                 "hysteresis, log_max (-126 to 126), overflow_std_dev (0 to 100), beta1, beta2 (0 to 0.9999999)",
                 ULP_SCALE_MIN, ULP_SCALE_MAX, ULP_LAYER_SCALE_MIN, ULP_LAYER_SCALE_MAX);
    return ULP_BAD_NAME;
}

/* The keys of logmax that take any number. */
static int set_number(ulp_scaler_rule *rule, const char *key, const char *value) {
    char *end;
    double v = strtod(value, &end);
    int share = v >= 0.0 && v <= 0.9999999;
    if (*end || end == value || rule->way != ULP_SCALE_BY_SIZE) return 0;
    if (strcmp(key, "log_max") == 0 && v >= ULP_SCALE_MIN && v <= ULP_SCALE_MAX) rule->log_max = v;
    else if (strcmp(key, "overflow_std_dev") == 0 && v >= 0.0 && v <= 100.0) rule->overflow_std_dev = v;
    else if (strcmp(key, "beta1") == 0 && share) rule->beta1 = v;
    else if (strcmp(key, "beta2") == 0 && share) rule->beta2 = v;
    else return 0;
    return 1;
}

static int set_key(ulp_scaler_rule *rule, const char *key, const char *value) {
    char *end;
    long v = strtol(value, &end, 10), least = rule->per_layer ? ULP_LAYER_SCALE_MIN : ULP_SCALE_MIN;
    int scale = v >= least && v <= (rule->per_layer ? ULP_LAYER_SCALE_MAX : ULP_SCALE_MAX),
        counts = rule->way != ULP_SCALE_BY_SIZE;
    if (set_number(rule, key, value)) return 1;
    if (*end || end == value) return 0;
    if (strcmp(key, "init") == 0 && scale) rule->init = (int16_t)v;
    else if (strcmp(key, "min") == 0 && scale) rule->min = (int16_t)v;
    else if (strcmp(key, "max") == 0 && scale) rule->max = (int16_t)v;
    else if (strcmp(key, "interval") == 0 && counts && v >= 0 && v <= 1000000000) rule->interval = (uint32_t)v;
    else if (strcmp(key, "hysteresis") == 0 && counts && v >= 1 && v <= 1000000) rule->hysteresis = (uint32_t)v;
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

static ulp_status check_limits(const ulp_scaler_rule *rule, char *error, size_t error_size) {
    return rule->init >= rule->min && rule->init <= rule->max
               ? ULP_OK
               : fail("init is not between min and max in", rule->name, error, error_size);
}

ulp_status ulp_scaler_parse(ulp_scaler_rule *to, const char *text, char *error, size_t error_size) {
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
    ulp_status status = check_limits(&rule, error, error_size);
    if (status == ULP_OK) *to = rule;
    return status;
}

ulp_scaler_rule ulp_scaler_static(int log2) {
    ulp_scaler_rule rule = *ulp_scaler_rule_find("static");
    rule.init = (int16_t)log2;
    return rule;
}

ulp_status ulp_scaler_init(ulp_scaler *scaler, const ulp_scaler_rule *rule, char *error, size_t error_size) {
    ulp_status status = check_limits(rule, error, error_size);
    if (status != ULP_OK) return status;
    memset(scaler, 0, sizeof *scaler);
    scaler->rule = *rule;
    scaler->log2 = rule->init;
    scaler->patience = rule->hysteresis;
    scaler->averages.left1 = scaler->averages.left2 = 1.0;
    return ULP_OK;
}

/* Double after enough good steps, halve after enough bad ones. */
static void count_step(ulp_scaler *s, int overflow) {
    if (overflow) {
        s->good = 0;
        if (s->patience > 0) s->patience--;
        if (s->patience == 0 && s->log2 > s->rule.min) s->log2--;
    } else if (s->rule.interval && ++s->good >= s->rule.interval) {
        s->good = 0;
        s->patience = s->rule.hysteresis;
        if (s->log2 < s->rule.max) s->log2++;
    }
}

/* x: log2 of the largest unscaled gradient. */
static void average_step(ulp_scaler *s, double x) {
    const ulp_scaler_rule *r = &s->rule;
    ulp_log_averages *a = &s->averages;
    a->left1 *= r->beta1;
    a->left2 *= r->beta2;
    a->mean = r->beta1 * a->mean + (1.0 - r->beta1) * x;
    a->slow_mean = r->beta2 * a->slow_mean + (1.0 - r->beta2) * x;
    a->slow_square = r->beta2 * a->slow_square + (1.0 - r->beta2) * (x * x);
    double slow = a->slow_mean / (1.0 - a->left2), variance = a->slow_square / (1.0 - a->left2) - slow * slow;
    double sigma = variance > 0.0 ? sqrt(variance) : 0.0;
    double want = floor(r->log_max - (a->mean / (1.0 - a->left1) + r->overflow_std_dev * sigma));
    s->log2 = want < r->min ? r->min : want > r->max ? r->max : (int)want;
}

static double log2_of(float x) { return ulp_log((double)x) * 0x1.71547652b82fep+0; /* 1 / ln 2 */ }

int ulp_scaler_update(ulp_scaler *s, float largest) {
    int overflow = !(largest - largest == 0.0f), skip = overflow && s->rule.skip, before = s->log2;
    s->overflows += overflow != 0;
    s->skipped += (uint64_t)skip;
    if (s->rule.way == ULP_SCALE_BY_OVERFLOW && !s->rule.per_layer) count_step(s, overflow);
    if (s->rule.way == ULP_SCALE_BY_SIZE && overflow) average_step(s, s->rule.log_max);
    if (s->rule.way == ULP_SCALE_BY_SIZE && !overflow && largest > 0.0f)
        average_step(s, log2_of(largest) - (double)s->log2);
    s->grown += s->log2 > before;
    s->backed += s->log2 < before;
    return skip;
}

/* optim_text.c - the table of optimizers and the words that describe one; see optim.h. */
#include "optim.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADAM .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .rate = 1e-3

static const ulp_optimizer_kind kinds[] = {
    {"sgd", "stochastic gradient descent", " momentum ", ULP_DIRECTION_SGD, 0, {.rate = 0.1}},
    {"adam", "Adam; decay is part of the gradient", " beta1 beta2 eps ", ULP_DIRECTION_ADAM, 0, {ADAM}},
    {"adamw", "Adam with decoupled decay", " beta1 beta2 eps ", ULP_DIRECTION_ADAM, 1, {ADAM, .decay = 1e-2}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* What a key sets, and between which numbers. */
static const struct key {
    const char *name;
    double min, max;
    size_t at;
    enum { NUMBER, STEPS, FLAG } type;
    int common; /* of every kind */
} keys[] = {
    {"rate", 0, 1e6, offsetof(ulp_optimizer_rule, rate), NUMBER, 1},
    {"decay", 0, 1e6, offsetof(ulp_optimizer_rule, decay), NUMBER, 1},
    {"kahan", 0, 1, offsetof(ulp_optimizer_rule, kahan), FLAG, 1},
    {"warmup", 0, 1e9, offsetof(ulp_optimizer_rule, warmup), STEPS, 1},
    {"cosine", 0, 1e9, offsetof(ulp_optimizer_rule, cosine), STEPS, 1},
    {"momentum", 0, 1, offsetof(ulp_optimizer_rule, momentum), NUMBER, 0},
    {"beta1", 0, 0.9999999, offsetof(ulp_optimizer_rule, beta1), NUMBER, 0},
    {"beta2", 0, 0.9999999, offsetof(ulp_optimizer_rule, beta2), NUMBER, 0},
    {"eps", 0, 1, offsetof(ulp_optimizer_rule, eps), NUMBER, 0},
};

enum { KEYS = sizeof keys / sizeof *keys, WORD = 64 };

const ulp_optimizer_kind *ulp_optimizer_kind_get(size_t i) { return i < KINDS ? &kinds[i] : NULL; }

const ulp_optimizer_kind *ulp_optimizer_kind_find(const char *name) {
    const ulp_optimizer_kind *kind = NULL;
    for (size_t i = 0; (kind = ulp_optimizer_kind_get(i)) && strcmp(kind->name, name) != 0;) i++;
    return kind;
}

static int takes(const ulp_optimizer_kind *kind, const struct key *key) {
    char word[16];
    snprintf(word, sizeof word, " %s ", key->name);
    return key->common || strstr(kind->keys, word) != NULL;
}

/* A sentence that ends with what is known: the kinds, and the keys of one of them. */
static ulp_status fail(const char *what, const char *word, const ulp_optimizer_kind *kind, char *error,
                       size_t error_size) {
    if (!error || !error_size) return ULP_BAD_NAME;
    size_t used = (size_t)snprintf(error, error_size, "optimizer: %s '%s'; known: ", what, word);
    for (size_t i = 0; i < KINDS && used < error_size; i++)
        used += (size_t)snprintf(error + used, error_size - used, "%s%s", i ? ", " : "", kinds[i].name);
    if (kind && used < error_size)
        used += (size_t)snprintf(error + used, error_size - used, "; keys of %s:", kind->name);
    for (size_t i = 0; kind && i < KEYS && used < error_size; i++)
        if (takes(kind, &keys[i]))
            used += (size_t)snprintf(error + used, error_size - used, " %s (%s%.7g to %.7g),", keys[i].name,
                                     keys[i].type == STEPS ? "steps, " : "", keys[i].min, keys[i].max);
    if (kind && used < error_size)
        snprintf(error + used, error_size - used, " drop=FACTOR/EVERY (0 to 1, 1 to 1e+09 steps)");
    return ULP_BAD_NAME;
}

/* A number between min and max, whole if asked, and what follows it. */
static int number(double *to, const char *text, double min, double max, int whole, char **end) {
    double v = strtod(text, end);
    if (*end == text || !(v >= min && v <= max) || (whole && v != (double)(uint32_t)v)) return 0;
    *to = v;
    return 1;
}

static int set_drop(ulp_optimizer_rule *rule, const char *text) {
    double factor, every;
    char *end;
    if (!number(&factor, text, 0, 1, 0, &end) || *end != '/') return 0;
    if (!number(&every, end + 1, 1, 1e9, 1, &end) || *end) return 0;
    rule->factor = factor;
    rule->every = (uint32_t)every;
    return 1;
}

static int set_key(ulp_optimizer_rule *rule, const ulp_optimizer_kind *kind, const char *name, const char *text) {
    double v;
    char *end;
    if (strcmp(name, "drop") == 0) return set_drop(rule, text);
    for (size_t i = 0; i < KEYS; i++) {
        const struct key *key = &keys[i];
        unsigned char *to = (unsigned char *)rule + key->at;
        if (strcmp(key->name, name) != 0 || !takes(kind, key)) continue;
        if (!number(&v, text, key->min, key->max, key->type != NUMBER, &end) || *end) return 0;
        if (key->type == NUMBER) memcpy(to, &v, sizeof v);
        if (key->type == STEPS) memcpy(to, &(uint32_t){(uint32_t)v}, sizeof(uint32_t));
        if (key->type == FLAG) *to = (uint8_t)v;
        return 1;
    }
    return 0;
}

ulp_optimizer_rule ulp_optimizer_rule_of(const ulp_optimizer_kind *kind) {
    ulp_optimizer_rule rule = kind->rule;
    rule.kind = kind;
    return rule;
}

ulp_status ulp_optimizer_parse(ulp_optimizer_rule *to, const char *text, char *error, size_t error_size) {
    const ulp_optimizer_kind *kind = NULL;
    ulp_optimizer_rule rule = {0};
    for (int i = 0;; i++) {
        char word[WORD], copy[WORD];
        size_t length = text ? strcspn(text, ",") : 0;
        if (length == 0 || length >= sizeof word)
            return fail("words between commas have 1 to 63 characters, not", text ? text : "", kind, error, error_size);
        memcpy(word, text, length);
        word[length] = 0;
        memcpy(copy, word, length + 1);
        if (i == 0) {
            kind = ulp_optimizer_kind_find(word);
            if (!kind) return fail("none is called", copy, NULL, error, error_size);
            rule = ulp_optimizer_rule_of(kind);
        } else {
            char *equals = strchr(word, '=');
            if (equals) *equals = 0;
            if (!equals || !set_key(&rule, kind, word, equals + 1))
                return fail("cannot take", copy, kind, error, error_size);
        }
        text += length;
        if (!*text) break;
        text++;
    }
    *to = rule;
    return ULP_OK;
}

/* optim_text.c - the keys of an optimizer's text, and reading and explaining the text; see optim.h. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optim.h"
#include "sim/policy/policy_words.h"

#define FIELD(field) ULP_KEY_FIELD(ulp_optimizer_rule, field)

/* Read FACTOR/EVERY. */
static ulp_status read_drop(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    ulp_optimizer_rule *rule = to;
    char *end;
    const double factor = strtod(value, &end);
    const char *second = *end == '/' ? end + 1 : value;
    const double every = strtod(second, &end);
    if (second == value || end == second || *end || !(factor >= 0 && factor <= 1 && every >= 1 && every <= 1e9) ||
        every != (double)(uint32_t)every)
        return ulp_fail(error, ULP_BAD_NAME, "optimizer %s: '%s=%s': %s is %s", rule->kind->name, key->name, value,
                        key->name, key->form);
    rule->factor = factor;
    rule->every = (uint32_t)every;
    return ULP_OK;
}

static int print_drop(char *text, size_t size, const void *from, const ulp_key *key) {
    const ulp_optimizer_rule *rule = from;
    (void)key;
    return rule->every ? snprintf(text, size, "%.17g/%u", rule->factor, (unsigned)rule->every) : 0;
}

/* Read one of the two words of the key's form, "FIRST or SECOND"; the field at key->at gets its number. */
static ulp_status read_word(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    const char *first = key->form, *second = strstr(key->form, " or ") + 4;
    const size_t length = (size_t)(second - first) - 4;
    const int is_second = strcmp(value, second) == 0;
    if (!is_second && (strlen(value) != length || strncmp(value, first, length) != 0))
        return ulp_fail(error, ULP_BAD_NAME, "optimizer %s: '%s=%s': %s is %s",
                        ((const ulp_optimizer_rule *)to)->kind->name, key->name, value, key->name, key->form);
    *((uint8_t *)to + key->at) = (uint8_t)is_second;
    return ULP_OK;
}

/* The first word is the default, which the canonical text leaves out. */
static int print_word(char *text, size_t size, const void *from, const ulp_key *key) {
    return *((const uint8_t *)from + key->at) ? snprintf(text, size, "%s", strstr(key->form, " or ") + 4) : 0;
}

/* Read N:FORMAT[/MODE]. As the formats of gradients in a policy, the format overflows to Inf unless its name says :sat.
 */
static ulp_status read_sum(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    ulp_optimizer_rule *rule = to;
    ulp_cast_text about = {.name = key->name};
    size_t n;
    const char *at = value;
    if (ulp_args_read(&n, &at, 1, ULP_MICRO_MAX) != ULP_OK || *at++ != ':' || !*at)
        return ulp_fail(error, ULP_BAD_NAME, "optimizer %s: '%s=%s': %s is %s", rule->kind->name, key->name, value,
                        key->name, key->form);
    ulp_status status = ulp_cast_read(&rule->sum, &about, at, error);
    if (status == ULP_OK) status = ulp_point_let_overflow(&rule->sum.format, ULP_AT_WGRAD);
    if (status == ULP_OK && ulp_rule_check(&rule->sum.format, rule->sum.rule) != ULP_OK)
        status = ulp_fail(error, ULP_UNSUPPORTED, "%s: the format has no mode %s", value,
                          ulp_mode_name((ulp_mode)rule->sum.rule.mode));
    if (status != ULP_OK) return ulp_fail_within(error, ULP_BAD_NAME, "optimizer %s", rule->kind->name);
    rule->accumulate = (uint32_t)n;
    return ULP_OK;
}

static int print_sum(char *text, size_t size, const void *from, const ulp_key *key) {
    const ulp_optimizer_rule *rule = from;
    (void)key;
    if (!rule->accumulate) return 0;
    const int used = snprintf(text, size, "%u:", (unsigned)rule->accumulate);
    return used < (int)size ? used + ulp_cast_write(text + used, size - (size_t)used, &rule->sum) : used;
}

static const ulp_key common_keys[] = {
    {"rate", "learning rate, without the schedule", ULP_KEY_NUMBER, FIELD(rate), 0, 1e6, NULL, 0, NULL, NULL},
    {"decay", "weight decay", ULP_KEY_NUMBER, FIELD(decay), 0, 1e6, NULL, 0, NULL, NULL},
    {"kahan", "1 makes an update a Kahan sum, in place of master weights", ULP_KEY_FLAG, FIELD(kahan), 0, 1, NULL, 0,
     NULL, NULL},
    {"warmup", "steps in which the rate rises to its full size", ULP_KEY_INTEGER, FIELD(warmup), 0, 1e9, NULL, 0, NULL,
     NULL},
    {"cosine", "steps in which the rate falls to 0 along half a cosine, 0: none", ULP_KEY_INTEGER, FIELD(cosine), 0,
     1e9, NULL, 0, NULL, NULL},
    {.name = "drop",
     .help = "the rate is multiplied by FACTOR after every EVERY steps",
     .type = ULP_KEY_OWN,
     .form = "FACTOR/EVERY, a number from 0 to 1 and a whole number of steps from 1 to 1e+09",
     .read = read_drop,
     .print = print_drop},
    {"floor", "share of the rate that is left when the cosine ends", ULP_KEY_NUMBER, FIELD(floor), 0, 1, NULL, 0, NULL,
     NULL},
    {"clip", "largest norm of the gradients of all parameters together, 0: no limit", ULP_KEY_NUMBER, FIELD(clip), 0,
     1e30, NULL, 0, NULL, NULL},
    {.name = "clip-at",
     .help = "whether the norm is that of the gradients after their loss scale is removed, or before",
     .type = ULP_KEY_OWN,
     .at = offsetof(ulp_optimizer_rule, clip_scaled),
     .form = "unscaled or scaled",
     .read = read_word,
     .print = print_word},
    {.name = "decays",
     .help = "which parameters decay: all of them, or not biases and parameters of normalisations",
     .type = ULP_KEY_OWN,
     .at = offsetof(ulp_optimizer_rule, decays_weights),
     .form = "all or weights",
     .read = read_word,
     .print = print_word},
    {"limit", "weights stay within -C .. C after each update, but for those that do not decay; 0: no limit",
     ULP_KEY_NUMBER, FIELD(limit), 0, 1e30, NULL, 0, NULL, NULL},
    {.name = "accumulate",
     .help = "a step has N micro-batches, and the sum of their gradients is rounded to FORMAT",
     .type = ULP_KEY_OWN,
     .form = "N:FORMAT[/MODE], a whole number from 1 to 4096 and a format, as 4:bf16 or 8:fp16/sr",
     .read = read_sum,
     .print = print_sum},
    {.name = NULL},
};

const ulp_optimizer_kind *ulp_optimizer_kind_find(const char *name) {
    const ulp_optimizer_kind *kind = NULL;
    for (size_t i = 0; (kind = ulp_optimizer_kind_get(i)) && strcmp(kind->name, name) != 0;) i++;
    return kind;
}

ulp_optimizer_rule ulp_optimizer_rule_of(const ulp_optimizer_kind *kind) {
    ulp_optimizer_rule rule = kind->rule;
    rule.kind = kind;
    return rule;
}

static ulp_status refuse_name(const char *word, ulp_error *error) {
    const char *names[ULP_KEYS_MAX + 1] = {NULL};
    for (size_t i = 0; i < ULP_KEYS_MAX && ulp_optimizer_kind_get(i); i++) names[i] = ulp_optimizer_kind_get(i)->name;
    return ulp_name_refuse(error, "optimizer: none is called", word, names);
}

ulp_status ulp_optimizer_parse(ulp_optimizer_rule *to, const char *text, ulp_error *error) {
    char word[64], of[80];
    const size_t length = text ? strcspn(text, ",") : 0;
    snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, text ? text : "");
    const ulp_optimizer_kind *kind = ulp_optimizer_kind_find(word);
    if (!kind || length >= sizeof word) return refuse_name(word, error);
    ulp_optimizer_rule rule = ulp_optimizer_rule_of(kind);
    snprintf(of, sizeof of, "optimizer %s", kind->name);
    text += length;
    if (*text && !*++text) return ulp_fail(error, ULP_BAD_NAME, "%s: nothing follows the last comma", of);
    const ulp_key *const lists[] = {common_keys, kind->keys, NULL};
    ULP_TRY(ulp_keys_read(&rule, &(ulp_key_reader){.lists = lists}, text, of, error));
    *to = rule;
    return ULP_OK;
}

void ulp_optimizer_help(const ulp_help *to) {
    ulp_help_line(to,
                  "An optimizer says how gradients move the weights: NAME, then key=value pairs between commas, for "
                  "example sgd,rate=0.1,momentum=0.9.");
    ulp_help_line(to, "%s", "");
    const ulp_optimizer_kind *kind;
    for (size_t i = 0; (kind = ulp_optimizer_kind_get(i)); i++) ulp_help_entry(to, kind->name, kind->what);
    ulp_help_line(to, "%s", "");
    ulp_help_line(to, "Keys of every optimizer:");
    ulp_help_keys(to, (const ulp_key *const[]){common_keys, NULL}, NULL);
    for (size_t i = 0; (kind = ulp_optimizer_kind_get(i)); i++) {
        ulp_help_line(to, "%s", "");
        ulp_help_line(to, "Keys of %s (default rate %.7g, decay %.7g):", kind->name, kind->rule.rate, kind->rule.decay);
        ulp_help_keys(to, (const ulp_key *const[]){kind->keys, NULL}, &kind->rule);
    }
}

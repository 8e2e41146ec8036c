/* scaler.c - the rules for loss scales: their table, their texts and their state machines; see scaler.h. */
#include "scaler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/functions/elementary.h"

const ulp_scaler_rule ulp_scaler_rules[ULP_SCALER_COUNT] = {
    /* name, what, way, per_layer, skip, init, min, max, interval, hysteresis, the four numbers of logmax */
    [ULP_SCALER_NONE] = {"none", "no loss scale, 2^0", ULP_SCALE_FIXED, 0, 0, 0, ULP_SCALE_MIN, ULP_SCALE_MAX, 0, 1, 0,
                         0, 0, 0},
    [ULP_SCALER_STATIC] = {"static", "2^init for good; a step with Inf or NaN is not skipped", ULP_SCALE_FIXED, 0, 0, 0,
                           ULP_SCALE_MIN, ULP_SCALE_MAX, 0, 1, 0, 0, 0, 0},
    [ULP_SCALER_PYTORCH] = {"pytorch",
                            "torch.amp.GradScaler: doubled after 2000 good steps in a row, halved on overflow",
                            ULP_SCALE_BY_OVERFLOW, 0, 1, 16, ULP_SCALE_MIN, ULP_SCALE_MAX, 2000, 1, 0, 0, 0, 0},
    [ULP_SCALER_APEX] = {"apex", "NVIDIA Apex amp LossScaler: as pytorch, with at most 2^24", ULP_SCALE_BY_OVERFLOW, 0,
                         1, 16, ULP_SCALE_MIN, 24, 2000, 1, 0, 0, 0, 0},
    [ULP_SCALER_KERAS] = {"keras", "tf.keras LossScaleOptimizer: as pytorch, from 2^15, at least 2^0",
                          ULP_SCALE_BY_OVERFLOW, 0, 1, 15, 0, ULP_SCALE_MAX, 2000, 1, 0, 0, 0, 0},
    [ULP_SCALER_MEGATRON] =
        {"megatron",
         "Megatron-LM DynamicGradScaler: from 2^32, after 1000 steps, at least 2^0, halved on the second overflow",
         ULP_SCALE_BY_OVERFLOW, 0, 1, 32, 0, ULP_SCALE_MAX, 1000, 2, 0, 0, 0, 0},
    [ULP_SCALER_DEEPSPEED] = {"deepspeed", "DeepSpeed DynamicLossScaler: as megatron, but from 2^16",
                              ULP_SCALE_BY_OVERFLOW, 0, 1, 16, 0, ULP_SCALE_MAX, 1000, 2, 0, 0, 0, 0},
    [ULP_SCALER_FAIRSEQ] =
        {"fairseq",
         "fairseq DynamicLossScaler on one GPU: from 2^7, after 2^14 steps, at least 2^-13, where fairseq stops",
         ULP_SCALE_BY_OVERFLOW, 0, 1, 7, -13, ULP_SCALE_MAX, 16384, 1, 0, 0, 0, 0},
    [ULP_SCALER_BACKOFF] = {"backoff", "from 2^24, only ever halved", ULP_SCALE_BY_OVERFLOW, 0, 1, 24, ULP_SCALE_MIN,
                            24, 0, 1, 0, 0, 0, 0},
    [ULP_SCALER_LOGMAX] = {"logmax", "OpenSeq2Seq LogMaxScaler: follows the size of the gradients", ULP_SCALE_BY_SIZE,
                           0, 1, 0, 0, 24, 0, 1, 16, 3.09, 0.99, 0.999},
    [ULP_SCALER_LAYER] = {"layer",
                          "a loss scale of its own for every layer with parameters, each by the rule of pytorch",
                          ULP_SCALE_BY_OVERFLOW, 1, 1, 16, ULP_LAYER_SCALE_MIN, ULP_LAYER_SCALE_MAX, 2000, 1, 0, 0, 0,
                          0},
};

const ulp_scaler_rule *ulp_scaler_rule_get(size_t i) { return i < ULP_SCALER_COUNT ? &ulp_scaler_rules[i] : NULL; }

const ulp_scaler_rule *ulp_scaler_rule_find(const char *name) {
    const ulp_scaler_rule *rule = NULL;
    for (size_t i = 0; (rule = ulp_scaler_rule_get(i)) && strcmp(rule->name, name) != 0;) i++;
    return rule;
}

/* ---- texts ---- */

#define FIELD(field) ULP_KEY_FIELD(ulp_scaler_rule, field)

/* The keys of a scale, with its limits; used for a scale of the whole loss and for a scale of one layer. */
#define SCALES(min_, max_)                                                                                             \
    {"init", "log2 of the loss scale at the start", ULP_KEY_INTEGER, FIELD(init), min_, max_, NULL, 0, NULL, NULL},    \
        {"min", "log2 of the least loss scale", ULP_KEY_INTEGER, FIELD(min), min_, max_, NULL, 0, NULL, NULL},         \
        {"max", "log2 of the largest loss scale", ULP_KEY_INTEGER, FIELD(max), min_, max_, NULL, 0, NULL, NULL}, {     \
        "skip", "1 skips the update of a step with Inf or NaN", ULP_KEY_FLAG, FIELD(skip), 0, 1, NULL, 0, NULL, NULL   \
    }
static const ulp_key loss_keys[] = {SCALES(ULP_SCALE_MIN, ULP_SCALE_MAX), {.name = NULL}};
static const ulp_key layer_keys[] = {SCALES(ULP_LAYER_SCALE_MIN, ULP_LAYER_SCALE_MAX), {.name = NULL}};

static const ulp_key count_keys[] = {
    {"interval", "good steps in a row before the loss scale is doubled, 0: never", ULP_KEY_INTEGER, FIELD(interval), 0,
     1e9, NULL, 0, NULL, NULL},
    {"hysteresis", "overflows before the loss scale is halved", ULP_KEY_INTEGER, FIELD(hysteresis), 1, 1e6, NULL, 0,
     NULL, NULL},
    {.name = NULL},
};

static const ulp_key size_keys[] = {
    {"log_max", "log2 of what the largest gradient is scaled to", ULP_KEY_NUMBER, FIELD(log_max), ULP_SCALE_MIN,
     ULP_SCALE_MAX, NULL, 0, NULL, NULL},
    {"overflow_std_dev", "standard deviations between the mean and log_max", ULP_KEY_NUMBER, FIELD(overflow_std_dev), 0,
     100, NULL, 0, NULL, NULL},
    {"beta1", "share of the past in the average of the largest gradients", ULP_KEY_NUMBER, FIELD(beta1), 0, 0.9999999,
     NULL, 0, NULL, NULL},
    {"beta2", "share of the past in the averages of their variance", ULP_KEY_NUMBER, FIELD(beta2), 0, 0.9999999, NULL,
     0, NULL, NULL},
    {.name = NULL},
};

enum { LISTS = 3 };

/* lists [LISTS] = the lists of keys that a rule takes, with NULL at the end. */
static void keys_of(const ulp_key **lists, const ulp_scaler_rule *rule) {
    lists[0] = rule->per_layer ? layer_keys : loss_keys;
    lists[1] = rule->way == ULP_SCALE_BY_SIZE ? size_keys : count_keys;
    lists[2] = NULL;
}

static ulp_status refuse_name(const char *word, ulp_error *error) {
    const char *names[ULP_SCALER_COUNT + 1] = {NULL};
    for (size_t i = 0; i < ULP_SCALER_COUNT; i++) names[i] = ulp_scaler_rules[i].name;
    return ulp_name_refuse(error, "scaler: no rule", word, names);
}

static ulp_status check_limits(const ulp_scaler_rule *rule, ulp_error *error) {
    if (rule->init >= rule->min && rule->init <= rule->max) return ULP_OK;
    return ulp_fail(error, ULP_BAD_NAME, "scaler %s: init %d is not between min %d and max %d", rule->name, rule->init,
                    rule->min, rule->max);
}

/* Parse NAME, or static:K as static with init=K. *rest points after the word. */
static ulp_status parse_name(ulp_scaler_rule *rule, const char *text, const char **rest, ulp_error *error) {
    char word[64], init[80];
    const ulp_key *lists[LISTS];
    const size_t length = strcspn(text, ",");
    snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, text);
    *rest = text + length;
    char *colon = strncmp(word, "static:", 7) == 0 ? word + 6 : NULL;
    if (colon) *colon = 0;
    const ulp_scaler_rule *row = ulp_scaler_rule_find(word);
    if (!row || length >= sizeof word) return refuse_name(word, error);
    *rule = *row;
    if (!colon) return ULP_OK;
    keys_of(lists, rule);
    snprintf(init, sizeof init, "init=%s", colon + 1);
    return ulp_keys_read(rule, &(ulp_key_reader){.lists = lists}, init, "scaler static", error);
}

ulp_status ulp_scaler_parse(ulp_scaler_rule *to, const char *text, ulp_error *error) {
    ulp_scaler_rule rule;
    const ulp_key *lists[LISTS];
    char of[40];
    ULP_TRY(parse_name(&rule, text ? text : "", &text, error));
    snprintf(of, sizeof of, "scaler %s", rule.name);
    if (*text && !*++text) return ulp_fail(error, ULP_BAD_NAME, "%s: nothing follows the last comma", of);
    keys_of(lists, &rule);
    ULP_TRY(ulp_keys_read(&rule, &(ulp_key_reader){.lists = lists}, text, of, error));
    ULP_TRY(check_limits(&rule, error));
    *to = rule;
    return ULP_OK;
}

void ulp_scaler_help(const ulp_help *to) {
    ulp_help_line(to, "A scaler chooses the power of two by which the loss is multiplied: NAME, then key=value pairs "
                      "between commas, for example pytorch,interval=50,init=24. static:K is static,init=K.");
    ulp_help_line(to, "%s", "");
    for (size_t i = 0; i < ULP_SCALER_COUNT; i++)
        ulp_help_entry(to, ulp_scaler_rules[i].name, ulp_scaler_rules[i].what);
    ulp_help_line(to, "%s", "");
    ulp_help_keys(to, (const ulp_key *const[]){loss_keys, count_keys, NULL}, &ulp_scaler_rules[ULP_SCALER_PYTORCH]);
    ulp_help_line(to, "(the defaults are those of pytorch; a scale of layer lies between %d and %d)",
                  ULP_LAYER_SCALE_MIN, ULP_LAYER_SCALE_MAX);
    ulp_help_line(to, "%s", "");
    ulp_help_line(to, "logmax has other keys in place of interval and hysteresis:");
    ulp_help_keys(to, (const ulp_key *const[]){size_keys, NULL}, &ulp_scaler_rules[ULP_SCALER_LOGMAX]);
}

ulp_scaler_rule ulp_scaler_static(int log2) {
    ulp_scaler_rule rule = ulp_scaler_rules[ULP_SCALER_STATIC];
    rule.init = (int16_t)log2;
    return rule;
}

ulp_status ulp_scaler_init(ulp_scaler *scaler, const ulp_scaler_rule *rule, ulp_error *error) {
    ULP_TRY(check_limits(rule, error));
    memset(scaler, 0, sizeof *scaler);
    scaler->rule = *rule;
    scaler->log2 = rule->init;
    scaler->patience = rule->hysteresis;
    scaler->averages.left1 = scaler->averages.left2 = 1.0;
    return ULP_OK;
}

/* Double the scale after `interval` good steps in a row; halve the scale after `hysteresis` overflows. */
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

/* One step of logmax; x is log2 of the largest unscaled gradient. */
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

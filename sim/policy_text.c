/* policy_text.c - the text of a policy: keys, presets, parsing and printing; see policy.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "kernels/key_values.h"
#include "policy.h"

enum { WORD_MAX = 128 };

/* A policy while its text is parsed. */
typedef struct draft {
    ulp_policy policy;                  /* the first field: a pointer to a draft is printed as a policy */
    uint8_t own_mode[ULP_AT_COUNT + 1]; /* 1: the text gives the cast a mode of its own */
    uint8_t has_mode;
    ulp_rule mode; /* if has_mode: the value of mode= */
    char *error;
    size_t error_size;
} draft;

/* A cast has the number of its point; the cast of out= has the number after the last point. */
enum { AT_OUT = ULP_AT_COUNT };

static const char *cast_name(int i) { return i < AT_OUT ? ulp_point_name((ulp_point_kind)i) : "out"; }

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

/* Parse MODE[/BITS]. */
static ulp_status parse_rule(draft *d, ulp_rule *rule, const char *text) {
    char word[WORD_MAX], known[256];
    ulp_mode mode;
    unsigned long bits = 0;
    snprintf(word, sizeof word, "%s", text);
    char *slash = strchr(word, '/');
    if (slash) *slash = 0;
    if (ulp_mode_parse(&mode, word) != ULP_OK) {
        list_modes(known, sizeof known);
        return ulp_fail(d->error, d->error_size, ULP_BAD_NAME, "no rounding mode '%s'; known: %s", word, known);
    }
    if (slash) {
        char *end;
        bits = strtoul(slash + 1, &end, 10);
        if (*end || slash[1] < '0' || slash[1] > '9' || bits < 1 || bits > 32 || !ulp_mode_is_stochastic(mode))
            return ulp_fail(d->error, d->error_size, ULP_BAD_ARGUMENT,
                            "'%s': random bits are 1 to 32, of a stochastic mode", text);
    }
    rule->mode = (uint8_t)mode;
    rule->random_bits = (uint8_t)bits;
    return ULP_OK;
}

/* Parse the part of `word` after @ as a tensor scale, and cut `word` before @. */
static ulp_status parse_tensor_scale(draft *d, ulp_cast *cast, int i, char *word) {
    char *at = strchr(word, '@'), *end;
    if (!at) return ULP_OK;
    *at++ = 0;
    if (i == AT_OUT || !ulp_point_takes_scale((ulp_point_kind)i))
        return ulp_fail(d->error, d->error_size, ULP_UNSUPPORTED,
                        "%s=%s@%s: only weight, act, wgrad and agrad have scales per tensor", cast_name(i), word, at);
    if (strcmp(at, "amax") == 0) {
        cast->tensor_scale = ULP_SCALED_NOW;
        return ULP_OK;
    }
    unsigned long history = strncmp(at, "delayed", 7) != 0 ? 0 : at[7] == 0 ? 16 : strtoul(at + 7, &end, 10);
    if (history < 1 || history > ULP_HISTORY_MAX || (at[7] && (at[7] < '0' || at[7] > '9' || *end)))
        return ulp_fail(d->error, d->error_size, ULP_BAD_NAME,
                        "%s=%s@%s: no such tensor scale; known: amax, delayed, delayedN with N from 1 to %d",
                        cast_name(i), word, at, ULP_HISTORY_MAX);
    cast->tensor_scale = ULP_SCALED_DELAYED;
    cast->history = (uint16_t)history;
    return ULP_OK;
}

/* Parse FORMAT[@WHEN][/MODE[/BITS]] as the cast with number i. */
static ulp_status parse_cast(draft *d, int i, const char *text) {
    char word[WORD_MAX], known[768];
    ulp_cast cast = {.rule = {0}};
    snprintf(word, sizeof word, "%s", text);
    char *slash = strchr(word, '/');
    if (slash) *slash = 0;
    ulp_status status = parse_tensor_scale(d, &cast, i, word);
    if (status != ULP_OK) return status;
    status = ulp_format_parse(&cast.format, word);
    if (status != ULP_OK) {
        list_formats(known, sizeof known);
        return ulp_fail(d->error, d->error_size, status, "no format '%s' for %s; known: %s, eXmY, qI.F", word,
                        cast_name(i), known);
    }
    if (!cast.format.fits_binary32)
        return ulp_fail(d->error, d->error_size, ULP_UNSUPPORTED,
                        "%s=%s: arrays carry binary32, the format does not fit", cast_name(i), word);
    if (slash) status = parse_rule(d, &cast.rule, slash + 1);
    if (status != ULP_OK) return status;
    d->own_mode[i] = slash != NULL;
    if (i == AT_OUT) {
        d->policy.has_out = 1;
        d->policy.out = cast;
        return ULP_OK;
    }
    status =
        ulp_policy_set(&d->policy, (ulp_point_kind)i, &cast.format, (ulp_tensor_scale)cast.tensor_scale, cast.history);
    d->policy.at[i].rule = cast.rule;
    return status;
}

static ulp_status parse_datapath(draft *d, ulp_datapath *datapath, const char *text) {
    ulp_datapath parsed;
    char why[ULP_EXPLAIN_MAX];
    const int native = ulp_datapath_is_native(text);
    ulp_status status = native ? ulp_datapath_native(&parsed, text, why) : ulp_datapath_parse(&parsed, text);
    if (status != ULP_OK && native) return ulp_fail(d->error, d->error_size, status, "datapath %s", why);
    ulp_datapath_explain(why, text);
    if (status != ULP_OK)
        return ulp_fail(d->error, d->error_size, status, "no datapath '%s'%s%s; `ulp help datapaths` lists them", text,
                        why[0] ? ": " : "", why);
    if (!parsed.result.fits_binary32)
        return ulp_fail(d->error, d->error_size, ULP_UNSUPPORTED,
                        "datapath '%s': arrays carry binary32, its accumulator does not fit", text);
    *datapath = parsed;
    return ULP_OK;
}

/* ---- the keys ---- */

/* The bits of the index of the keys fwd, bwd and acc. */
enum { FORWARD = 1, BACKWARD = 2 };

static ulp_status read_cast(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    (void)error, (void)error_size; /* the draft has error and error_size, too */
    return parse_cast(to, key->index, value);
}

static ulp_status read_master(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    draft *d = to;
    if (strcmp(value, "none") != 0) return read_cast(to, key, value, error, error_size);
    d->policy.has_master = 0;
    return ULP_OK;
}

static ulp_status read_products(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    draft *d = to;
    ulp_datapath path;
    ulp_status status = parse_datapath(d, &path, value);
    (void)error, (void)error_size;
    if (status == ULP_OK && key->index & FORWARD) d->policy.forward = path;
    if (status == ULP_OK && key->index & BACKWARD) d->policy.backward = path;
    return status;
}

static ulp_status read_mode(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    draft *d = to;
    (void)key, (void)error, (void)error_size;
    d->has_mode = 1;
    return parse_rule(d, &d->mode, value);
}

static int print_cast(char *text, size_t size, const void *from, const ulp_key *key) {
    const ulp_policy *policy = from;
    const ulp_cast *cast = key->index == AT_OUT ? &policy->out : &policy->at[key->index];
    char bits[8] = "", scale[16] = "";
    if (key->index == AT_OUT && !policy->has_out) return 0;
    if (key->index == ULP_AT_MASTER && !policy->has_master) return snprintf(text, size, "none");
    if (cast->tensor_scale == ULP_SCALED_NOW) snprintf(scale, sizeof scale, "@amax");
    if (cast->tensor_scale == ULP_SCALED_DELAYED) snprintf(scale, sizeof scale, "@delayed%u", cast->history);
    if (cast->rule.random_bits) snprintf(bits, sizeof bits, "/%u", cast->rule.random_bits);
    return snprintf(text, size, "%s%s/%s%s", cast->format.name, scale, ulp_mode_name((ulp_mode)cast->rule.mode), bits);
}

static int print_products(char *text, size_t size, const void *from, const ulp_key *key) {
    const ulp_policy *policy = from;
    return snprintf(text, size, "%s", key->index & FORWARD ? policy->forward.name : policy->backward.name);
}

#define CAST(name_, index_, help_, form_)                                                                              \
    {                                                                                                                  \
        .name = name_, .help = help_, .type = ULP_KEY_OWN, .form = form_, .index = index_, .read = read_cast,          \
        .print = print_cast                                                                                            \
    }
#define PLAIN "FORMAT[/MODE[/BITS]]"
#define SCALED "FORMAT[@amax|@delayedN][/MODE[/BITS]]"

/* In the order of the canonical text. */
static const ulp_key keys[] = {
    CAST("weight", ULP_AT_WEIGHT, "what the layers multiply with", SCALED),
    CAST("act", ULP_AT_ACT, "inputs and outputs of layers", SCALED),
    CAST("wgrad", ULP_AT_WGRAD, "gradients of weights, as the layers hand them on", SCALED),
    CAST("agrad", ULP_AT_AGRAD, "gradients of activations, from the loss backward", SCALED),
    CAST("state", ULP_AT_STATE, "unscaled gradients, and the momentum of the optimizer", PLAIN),
    {.name = "master",
     .help = "the weights that updates are added to; without them an update is rounded into the weight format",
     .type = ULP_KEY_OWN,
     .form = "none, or " PLAIN,
     .index = ULP_AT_MASTER,
     .read = read_master,
     .print = print_cast},
    CAST("loss", ULP_AT_LOSS, "probabilities and losses", PLAIN),
    CAST("norm", ULP_AT_NORM, "means and variances of batch normalisation", PLAIN),
    CAST("out", AT_OUT, "as act=, for the output of the net alone: out=fp32 hands the loss what the sums hold", PLAIN),
    {.name = "fwd",
     .help = "how the sums of forward products are formed",
     .type = ULP_KEY_OWN,
     .form = "a datapath",
     .index = FORWARD,
     .read = read_products,
     .print = print_products},
    {.name = "bwd",
     .help = "how the sums of backward products are formed",
     .type = ULP_KEY_OWN,
     .form = "a datapath",
     .index = BACKWARD,
     .read = read_products,
     .print = print_products},
    {.name = "acc",
     .help = "fwd= and bwd= at once",
     .type = ULP_KEY_OWN,
     .form = "a datapath",
     .index = FORWARD | BACKWARD,
     .read = read_products},
    {.name = "mode",
     .help = "how to round at every point whose format is not binary32 and that has no mode of its own",
     .type = ULP_KEY_OWN,
     .form = "MODE[/BITS]",
     .read = read_mode},
    {.name = NULL},
};

static const ulp_key *const lists[] = {keys, NULL};
static const ulp_key_reader reader = {.lists = lists};

/* ---- presets ---- */

/* Set every point to one format; if not `all`, only the points that are narrow in mixed precision. */
static ulp_status set_format(draft *d, const char *format, int all) {
    static const uint8_t low[ULP_AT_COUNT] = {
        [ULP_AT_WEIGHT] = 1, [ULP_AT_ACT] = 1, [ULP_AT_WGRAD] = 1, [ULP_AT_AGRAD] = 1};
    const uint8_t has_master = d->policy.has_master;
    ulp_status status = ULP_OK;
    for (int i = 0; i < ULP_AT_COUNT && status == ULP_OK; i++)
        if (all || low[i]) status = parse_cast(d, i, format);
    d->policy.has_master = has_master;
    return status;
}

/* Parse a preset: "fp32", the name of a format, or "mixed:FORMAT". */
static ulp_status parse_preset(draft *d, const char *text) {
    char datapath[WORD_MAX + 16];
    ulp_format format;
    int mixed = strncmp(text, "mixed:", 6) == 0;
    ulp_status status = set_format(d, "fp32", 1);
    if (status == ULP_OK) status = parse_datapath(d, &d->policy.forward, "fp32");
    d->policy.backward = d->policy.forward;
    d->policy.has_master = (uint8_t)mixed;
    if (status != ULP_OK || strcmp(text, "fp32") == 0) return status;
    if (mixed) return set_format(d, text + 6, 0);
    if (ulp_format_parse(&format, text) != ULP_OK) {
        char known[256];
        ulp_keys_list(known, sizeof known, lists, "= ");
        return ulp_fail(d->error, d->error_size, ULP_BAD_NAME,
                        "no policy '%s'; known: a format for everything (fp32, fp16, bf16, ...), mixed:FORMAT, "
                        "then %s=",
                        text, known);
    }
    status = set_format(d, text, 1);
    snprintf(datapath, sizeof datapath, "serial:%s:rne", text);
    if (status == ULP_OK && strcmp(format.name, d->policy.forward.accumulator.name) != 0) {
        status = parse_datapath(d, &d->policy.forward, datapath);
        d->policy.backward = d->policy.forward;
    }
    return status;
}

/* ---- whole texts ---- */

/* Parse the optional preset and the keys. */
static ulp_status parse_words(draft *d, const char *text) {
    char word[WORD_MAX];
    const size_t length = strcspn(text, ",");
    ulp_status status = parse_preset(d, "fp32");
    if (length == 0 || length >= sizeof word)
        return ulp_fail(d->error, d->error_size, ULP_BAD_NAME,
                        "a policy is words between commas, of 1 to %d characters each: '%s'", WORD_MAX - 1, text);
    memcpy(word, text, length);
    word[length] = 0;
    if (!strchr(word, '=')) {
        if (status == ULP_OK) status = parse_preset(d, word);
        text += length;
        if (*text && !*++text)
            return ulp_fail(d->error, d->error_size, ULP_BAD_NAME,
                            "policy: nothing follows the last comma; words stand "
                            "between commas");
    }
    return status == ULP_OK ? ulp_keys_read(d, &reader, text, "policy", d->error, d->error_size) : status;
}

ulp_status ulp_policy_parse(ulp_policy *policy, const char *text, char *error, size_t error_size) {
    draft d;
    memset(&d, 0, sizeof d);
    d.error = error;
    d.error_size = error_size;
    if (error && error_size) error[0] = 0;
    if (!policy || !text) return ulp_fail(error, error_size, ULP_BAD_ARGUMENT, "no policy text");
    ulp_status status = parse_words(&d, text);
    if (status != ULP_OK)
        return error && *error ? status
                               : ulp_fail(error, error_size, status, "'%s': %s", text, ulp_status_text(status));
    for (int i = 0; i < ULP_AT_COUNT + d.policy.has_out; i++) {
        ulp_cast *cast = i < AT_OUT ? &d.policy.at[i] : &d.policy.out;
        if (d.has_mode && !d.own_mode[i] && strcmp(cast->format.name, "binary32") != 0) cast->rule = d.mode;
    }
    status = ulp_policy_check(&d.policy, error, error_size);
    if (status == ULP_OK) *policy = d.policy;
    return status;
}

ulp_status ulp_policy_print(char *text, size_t size, const ulp_policy *policy) {
    return ulp_keys_print(text, size, &reader, policy, NULL);
}

void ulp_policy_help(const ulp_help *to) {
    ulp_policy fp32;
    ulp_help_line(to,
                  "A policy says where a training run rounds, to which format and how: a preset, then key=value pairs "
                  "between commas, for example mixed:fp16,master=none,weight=fp16/sr.");
    ulp_help_line(to, "%s", "");
    ulp_help_entry(to, "FORMAT",
                   "everything in that format, accumulation too; no master weights. Without a preset: fp32");
    ulp_help_entry(to, "mixed:FORMAT",
                   "weight, act, wgrad and agrad in FORMAT; accumulation, state, master, loss and "
                   "norm in binary32");
    ulp_help_line(to, "%s", "");
    ulp_help_keys(to, lists, ulp_policy_parse(&fp32, "fp32", NULL, 0) == ULP_OK ? &fp32 : NULL);
    ulp_help_line(to, "%s", "");
    ulp_help_line(to,
                  "@amax gives a tensor a scale of its own, chosen by its largest magnitude; @delayedN chooses it by "
                  "the largest magnitude of the last N training steps, 1 to %d, 16 if N is left out.",
                  ULP_HISTORY_MAX);
    ulp_help_line(to,
                  "A gradient overflows to Inf, or to NaN where its format has no Inf, so that a loss scaler sees the "
                  "overflow; agrad=e4m3:sat saturates.");
}

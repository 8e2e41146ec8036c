/* policy_text.c - the text of a policy: keys, presets, parsing and printing; see policy.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cast_text.h"
#include "fail.h"
#include "policy_draft.h"

enum { WORD_MAX = ULP_CAST_TEXT_MAX };

static const char *cast_name(int i) { return i < AT_OUT ? ulp_point_name((ulp_point_kind)i) : "out"; }

/* Parse a cast as the cast with number i. */
static ulp_status parse_cast(draft *d, int i, const char *text) {
    const int takes_scale = i != AT_OUT && ulp_point_takes_scale((ulp_point_kind)i);
    ulp_cast_text about = {.name = cast_name(i), .takes_scale = takes_scale};
    ulp_cast cast;
    ulp_status status = ulp_cast_read(&cast, &about, text, d->error, d->error_size);
    if (status != ULP_OK) return status;
    d->own_mode[i] = (uint8_t)about.has_mode;
    if (i == AT_OUT) {
        d->policy.has_out = 1;
        d->policy.out = cast;
        return ULP_OK;
    }
    status =
        ulp_policy_set(&d->policy, (ulp_point_kind)i, &cast.format, (ulp_tensor_scale)cast.tensor_scale, cast.history);
    d->policy.at[i].rule = cast.rule;
    if (status == ULP_OK && d->policy.selections) { /* ulp_policy_set() has added one for all layers */
        ulp_selection *last = &d->policy.selection[d->policy.selections - 1];
        last->cast.rule = cast.rule;
        last->own_mode = (uint8_t)about.has_mode;
    }
    return status;
}

ulp_status ulp_draft_datapath(const draft *d, ulp_datapath *datapath, const char *text) {
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

/* A word without a selector is for all layers. After words with selectors it becomes a selection of all layers. */
static ulp_status for_all(draft *d, ulp_selected what, const ulp_datapath *path) {
    const ulp_selection all = {.layers = "*", .what = (uint8_t)what};
    if (!d->policy.selections || ulp_policy_select(&d->policy, &all, path) == ULP_OK) return ULP_OK;
    return ulp_draft_full(d, path ? path->name : "master=none");
}

static ulp_status read_cast(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    (void)error, (void)error_size; /* the draft has error and error_size, too */
    return parse_cast(to, key->index, value);
}

static ulp_status read_master(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    draft *d = to;
    if (strcmp(value, "none") != 0) return read_cast(to, key, value, error, error_size);
    d->policy.has_master = 0;
    return for_all(d, ULP_SELECT_NO_MASTER, NULL);
}

static ulp_status read_products(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    draft *d = to;
    ulp_datapath path;
    ulp_status status = ulp_draft_datapath(d, &path, value);
    (void)error, (void)error_size;
    if (status == ULP_OK && key->index & FORWARD) {
        d->policy.forward = path;
        status = for_all(d, ULP_SELECT_FORWARD, &path);
    }
    if (status == ULP_OK && key->index & BACKWARD) {
        d->policy.backward = path;
        status = for_all(d, ULP_SELECT_BACKWARD, &path);
    }
    return status;
}

static ulp_status read_mode(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    draft *d = to;
    (void)key, (void)error, (void)error_size;
    d->has_mode = 1;
    return ulp_rule_read(&d->mode, value, d->error, d->error_size);
}

static int print_cast(char *text, size_t size, const void *from, const ulp_key *key) {
    const ulp_policy *policy = from;
    const ulp_cast *cast = key->index == AT_OUT ? &policy->out : &policy->at[key->index];
    if (key->index == AT_OUT && !policy->has_out) return 0;
    if (key->index == ULP_AT_MASTER && !policy->has_master) return snprintf(text, size, "none");
    return ulp_cast_write(text, size, cast);
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
const ulp_key ulp_policy_keys[] = {
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
     .index = AT_PRODUCTS | FORWARD,
     .read = read_products,
     .print = print_products},
    {.name = "bwd",
     .help = "how the sums of backward products are formed",
     .type = ULP_KEY_OWN,
     .form = "a datapath",
     .index = AT_PRODUCTS | BACKWARD,
     .read = read_products,
     .print = print_products},
    {.name = "acc",
     .help = "fwd= and bwd= at once",
     .type = ULP_KEY_OWN,
     .form = "a datapath",
     .index = AT_PRODUCTS | FORWARD | BACKWARD,
     .read = read_products},
    {.name = "mode",
     .help = "how to round at every point whose format is not binary32 and that has no mode of its own",
     .type = ULP_KEY_OWN,
     .form = "MODE[/BITS]",
     .index = AT_MODE,
     .read = read_mode},
    {.name = NULL},
};

static const ulp_key *const lists[] = {ulp_policy_keys, NULL};

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
    if (status == ULP_OK) status = ulp_draft_datapath(d, &d->policy.forward, "fp32");
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
        status = ulp_draft_datapath(d, &d->policy.forward, datapath);
        d->policy.backward = d->policy.forward;
    }
    return status;
}

/* ---- whole texts ---- */

static const ulp_key_reader reader = {.lists = lists, .dotted = ulp_draft_select};

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
    ulp_draft_settle_modes(&d);
    status = ulp_policy_check(&d.policy, error, error_size);
    if (status == ULP_OK) *policy = d.policy;
    return status;
}

ulp_status ulp_policy_print(char *text, size_t size, const ulp_policy *policy) {
    ulp_status status = ulp_keys_print(text, size, &reader, policy, NULL);
    size_t used = status == ULP_OK ? strlen(text) : size;
    for (size_t i = 0; i < policy->selections && used < size; i++) {
        char word[ULP_VALUE_MAX + ULP_SELECTOR_MAX];
        ulp_selection_print(word, sizeof word, policy, &policy->selection[i]);
        used += (size_t)snprintf(text + used, size - used, ",%s", word);
    }
    return used < size ? status : ULP_BAD_ARGUMENT;
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
    ulp_help_line(
        to,
        "A selector and a point before a key choose layers: mixed:fp16,bn.*=fp32,first.weight=bf16,3.act=e4m3@amax. "
        "A key without a selector is for all layers. Later words win over earlier words; out= wins over "
        "all. A selector that selects no layer of the net is refused.");
    ulp_help_line(to, "%s", "");
    ulp_help_entry(to, "KIND", "the layers of a kind, as conv or bn (see the help of nets)");
    ulp_help_entry(to, "NUMBER", "one layer; the first word of the net is layer 0");
    ulp_help_entry(to, "first", "the first layer with parameters");
    ulp_help_entry(to, "last", "the last layer with parameters (a layer of the kind last: by its number)");
    ulp_help_entry(to, "input", "the input of the net; input.act= alone");
    ulp_help_entry(to, "*", "all layers and the input");
    ulp_help_line(to, "%s", "");
    ulp_help_line(
        to, "SELECTOR.*=FORMAT and SELECTOR.*=mixed:FORMAT give a layer every point and both datapaths as the preset "
            "does. SELECTOR.mode= is for the points of the layer that are not binary32. loss= and out= take no "
            "selector. act and agrad of a layer are its output and the gradient of its output.");
    ulp_help_line(to, "%s", "");
    ulp_help_line(to,
                  "@amax gives a tensor a scale of its own, chosen by its largest magnitude; @delayedN chooses it by "
                  "the largest magnitude of the last N training steps, 1 to %d, 16 if N is left out.",
                  ULP_HISTORY_MAX);
    ulp_help_line(to,
                  "A gradient overflows to Inf, or to NaN where its format has no Inf, so that a loss scaler sees the "
                  "overflow; agrad=e4m3:sat saturates.");
}

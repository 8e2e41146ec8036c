/* policy_keys.c - the keys of a policy's text: reading a value into a draft, and printing it; see policy_draft.h. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "policy_draft.h"

ulp_status ulp_draft_full(const draft *d, const char *word) {
    return ulp_fail(d->error, d->error_size, ULP_BAD_ARGUMENT,
                    "policy: '%s' is too much: at most %d words with selectors, with at most %d datapaths", word,
                    ULP_SELECTIONS_MAX, ULP_PATHS_MAX);
}

enum { WORD_MAX = ULP_CAST_TEXT_MAX };

static const char *cast_name(int i) { return i < AT_OUT ? ulp_point_name((ulp_point_kind)i) : "out"; }

ulp_status ulp_draft_cast(draft *d, int i, const char *text) {
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
    if (status == ULP_OK && d->policy.selections && i != ULP_AT_LOSS) { /* ulp_policy_set() has added one for all */
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
    ulp_policy_forget(&d->policy, (int)what);
    if (!d->policy.selections || ulp_policy_select(&d->policy, &all, path) == ULP_OK) return ULP_OK;
    return ulp_draft_full(d, path ? path->name : "master=none");
}

static ulp_status read_cast(void *to, const ulp_key *key, const char *value, char *error, size_t error_size) {
    (void)error, (void)error_size; /* the draft has error and error_size, too */
    return ulp_draft_cast(to, key->index, value);
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

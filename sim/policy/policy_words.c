/* policy_words.c - the words of a policy: KEY=VALUE for all layers, SELECTOR.KEY=VALUE for some; see policy_words.h. */
#include "operand_parts.h"
#include "policy_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ulp_status ulp_draft_full(const draft *d, const char *word) {
    return ulp_fail(d->error, ULP_BAD_ARGUMENT,
                    "policy: '%s' is too much: at most %d words with selectors, with at most %d datapaths", word,
                    ULP_SELECTIONS_MAX, ULP_PATHS_MAX);
}

ulp_status ulp_draft_cast(draft *d, int i, const char *text) {
    const int takes_scale = i != AT_OUT && ulp_point_takes_scale((ulp_point_kind)i);
    ulp_cast_text about = {.name = ulp_cast_name(i), .takes_scale = takes_scale};
    ulp_cast cast;
    ULP_TRY(ulp_cast_read(&cast, &about, text, d->error));
    d->own_mode[i] = (uint8_t)about.has_mode;
    if (i == AT_OUT) {
        d->policy.has_out = 1;
        d->policy.out = cast;
        return ULP_OK;
    }
    const ulp_status status =
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
    ulp_error why;
    const int native = ulp_datapath_is_native(text);
    ulp_status status = native ? ulp_datapath_native(&parsed, text, &why) : ulp_datapath_parse(&parsed, text);
    if (status != ULP_OK && native) return ulp_fail(d->error, status, "datapath %s", why.text);
    ulp_datapath_explain(&why, text);
    if (status != ULP_OK)
        return ulp_fail(d->error, status, "no datapath '%s'%s%s; `ulp help datapaths` lists them", text,
                        why.text[0] ? ": " : "", why.text);
    if (!parsed.result.fits_binary32 && !(ulp_datapath_is_integer(&parsed) && parsed.result.is_fixed))
        return ulp_fail(d->error, ULP_UNSUPPORTED, "datapath '%s': arrays carry binary32, its accumulator does not fit",
                        text);
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

static ulp_status read_cast(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    (void)error; /* the draft has it, too */
    return ulp_draft_cast(to, key->index, value);
}

static ulp_status read_master(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    draft *d = to;
    if (strcmp(value, "none") != 0) return read_cast(to, key, value, error);
    d->policy.has_master = 0;
    return for_all(d, ULP_SELECT_NO_MASTER, NULL);
}

static ulp_status read_products(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    draft *d = to;
    ulp_datapath path;
    (void)error;
    ULP_TRY(ulp_draft_datapath(d, &path, value));
    if (key->index & FORWARD) {
        d->policy.forward = path;
        ULP_TRY(for_all(d, ULP_SELECT_FORWARD, &path));
    }
    if (!(key->index & BACKWARD)) return ULP_OK;
    d->policy.backward = path;
    return for_all(d, ULP_SELECT_BACKWARD, &path);
}

static ulp_status read_mode(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    draft *d = to;
    (void)key, (void)error;
    d->has_mode = 1;
    return ulp_rule_read(&d->mode, value, d->error);
}

static int print_cast(char *text, size_t size, const void *from, const ulp_key *key) {
    const ulp_policy *policy = from;
    const ulp_cast *cast = key->index == AT_OUT ? &policy->out : &policy->at[key->index];
    if (key->index == AT_OUT && !policy->has_out) return 0;
    if (ulp_point_follows(key->index) && !(policy->own >> key->index & 1)) return 0;
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
    CAST("norm", ULP_AT_NORM, "means and variances of normalisations, sums of a softmax in blocks", PLAIN),
    CAST("score", ULP_AT_SCORE, "scores of attention; without the word as act", PLAIN),
    CAST("prob", ULP_AT_PROB, "weights of attention, the results of the softmax; without the word as act", PLAIN),
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

/* ---- words with selectors ---- */

/* A word SELECTOR.KEY=VALUE. */
typedef struct selected_word {
    const char *name, *key, *value; /* name: SELECTOR.KEY */
    char layers[ULP_SELECTOR_MAX];
} selected_word;

static ulp_status fail_word(const draft *d, const selected_word *w, const char *why) {
    return ulp_fail(d->error, ULP_BAD_NAME, "policy: '%s=%s': %s", w->name, w->value, why);
}

/* Take the selector from w->name. Whether a net has such a layer is known later. */
static ulp_status take_selector(const draft *d, selected_word *w) {
    const size_t length = strcspn(w->name, "."), letters = strspn(w->name, "abcdefghijklmnopqrstuvwxyz_"),
                 digits = strspn(w->name, "0123456789");
    const int good = letters == length || digits == length || (length == 1 && *w->name == '*');
    if (length == 0 || length >= sizeof w->layers || !good)
        return fail_word(d, w,
                         "before the point stands a kind of layer (conv, bn, ...), the number of a layer from 0, "
                         "first, last, input, or * for all");
    memcpy(w->layers, w->name, length);
    w->layers[length] = 0;
    w->key = w->name + length + 1;
    return ULP_OK;
}

/* The key of a word: SELECTOR.*= and SELECTOR.master= have two kinds of values. */
static int key_of(int what) {
    return what == ULP_SELECT_MIXED ? ULP_SELECT_ALL : what == ULP_SELECT_NO_MASTER ? ULP_AT_MASTER : what;
}

static ulp_status add_selection(draft *d, const selected_word *w, const ulp_selection *selection,
                                const ulp_datapath *path) {
    for (size_t i = 0; i < d->policy.selections; i++) {
        const ulp_selection *other = &d->policy.selection[i];
        const int same_key = key_of(other->what) == key_of(selection->what);
        if (same_key && strcmp(other->layers, w->layers) == 0)
            return ulp_fail(d->error, ULP_BAD_NAME, "policy: %s is given twice", w->name);
    }
    if (ulp_policy_select(&d->policy, selection, path) == ULP_OK) return ULP_OK;
    return ulp_draft_full(d, w->name);
}

/* SELECTOR.*=FORMAT or mixed:FORMAT, with a mode or without. */
static ulp_status add_preset(draft *d, const selected_word *w, ulp_selection *selection) {
    const int mixed = strncmp(w->value, "mixed:", 6) == 0;
    ulp_cast_text about = {.name = w->name};
    char name[ULP_CAST_TEXT_MAX + 16];
    ulp_datapath path;
    ULP_TRY(ulp_cast_read(&selection->cast, &about, w->value + (mixed ? 6 : 0), d->error));
    selection->what = mixed ? ULP_SELECT_MIXED : ULP_SELECT_ALL;
    selection->own_mode = (uint8_t)about.has_mode;
    const int wide = mixed || ulp_format_equal(&selection->cast.format, &ulp_binary32);
    snprintf(name, sizeof name, "serial:%s:rne", selection->cast.format.name);
    if (wide) ulp_datapath_fp32(&path);
    else ULP_TRY(ulp_draft_datapath(d, &path, name));
    return add_selection(d, w, selection, &path);
}

/* Add the selection of a key that the draft `one` has read alone. */
static ulp_status add_key(draft *d, const selected_word *w, const draft *one, ulp_selection *s) {
    const ulp_key *key = ulp_policy_keys;
    while (strcmp(key->name, w->key) != 0) key++;
    if (key->index == AT_MODE) {
        s->what = ULP_SELECT_MODE;
        s->cast.rule = one->mode;
        return add_selection(d, w, s, NULL);
    }
    if (key->index & AT_PRODUCTS) {
        if (key->index & FORWARD) {
            s->what = ULP_SELECT_FORWARD;
            ULP_TRY(add_selection(d, w, s, &one->policy.forward));
        }
        if (!(key->index & BACKWARD)) return ULP_OK;
        s->what = ULP_SELECT_BACKWARD;
        return add_selection(d, w, s, &one->policy.backward);
    }
    s->what = (uint8_t)key->index;
    s->cast = one->policy.at[key->index];
    s->own_mode = one->own_mode[key->index];
    if (key->index == ULP_AT_MASTER && strcmp(w->value, "none") == 0) s->what = ULP_SELECT_NO_MASTER;
    return add_selection(d, w, s, NULL);
}

/* OPERAND=CAST for all layers; after words with selectors a selection of all layers. */
static ulp_status read_operand(draft *d, int operand, const char *value) {
    ulp_policy *p = &d->policy;
    ULP_TRY(ulp_operand_cast_read(&p->operand[operand], operand, value, d->error));
    p->has_operands |= p->operand[operand].kind != ULP_OPERAND_AS_IT_IS;
    ulp_policy_forget(p, ULP_SELECT_OPERAND + operand);
    if (!p->selections) return ULP_OK;
    const size_t at = ulp_policy_place_cast(p, &p->operand[operand]);
    const ulp_selection all = {.layers = "*", .what = (uint8_t)(ULP_SELECT_OPERAND + operand), .path = (uint8_t)at};
    return at < ULP_PATHS_MAX && ulp_policy_select(p, &all, NULL) == ULP_OK
               ? ULP_OK
               : ulp_draft_full(d, ulp_operand_name(operand));
}

/* SELECTOR.OPERAND=CAST. */
static ulp_status add_operand(draft *d, const selected_word *w, int operand, ulp_selection *s) {
    ulp_operand_cast cast;
    ULP_TRY(ulp_operand_cast_read(&cast, operand, w->value, d->error));
    d->policy.has_operands |= cast.kind != ULP_OPERAND_AS_IT_IS;
    const size_t at = ulp_policy_place_cast(&d->policy, &cast);
    s->what = (uint8_t)(ULP_SELECT_OPERAND + operand);
    s->path = (uint8_t)at;
    return at < ULP_PATHS_MAX ? add_selection(d, w, s, NULL) : ulp_draft_full(d, w->name);
}

static const ulp_key *const lists[] = {ulp_policy_keys, NULL};
static const ulp_key_reader reader = {.lists = lists};

ulp_status ulp_draft_select(void *to, const char *name, const char *value, ulp_error *error) {
    draft *d = to;
    char pair[ULP_VALUE_MAX];
    ulp_selection selection;
    selected_word w = {.name = name, .value = value};
    memset(&selection, 0, sizeof selection);
    if (ulp_operand_find(name) >= 0) return read_operand(d, ulp_operand_find(name), value);
    ULP_TRY(take_selector(d, &w));
    memcpy(selection.layers, w.layers, sizeof w.layers);
    const int of_input = strcmp(w.layers, "input") == 0, of_all = strcmp(w.layers, "*") == 0;
    if (of_input && strcmp(w.key, "act") != 0)
        return fail_word(d, &w, "the input of the net is rounded at act alone: input.act=FORMAT");
    if (strcmp(w.key, "out") == 0 || strcmp(w.key, "loss") == 0)
        return fail_word(d, &w, "out= and loss= are of the whole net and take no selector");
    if (strcmp(w.key, "*") == 0) return add_preset(d, &w, &selection);
    if (ulp_operand_find(w.key) >= 0) return add_operand(d, &w, ulp_operand_find(w.key), &selection);
    if (of_all && strcmp(w.key, "mode") == 0) return fail_word(d, &w, "for all layers write mode= without a selector");
    draft *one = calloc(1, sizeof *one);
    if (!one) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a policy");
    one->error = error;
    snprintf(pair, sizeof pair, "%s=%s", w.key, value);
    ulp_status status = ulp_keys_read(one, &reader, pair, "policy", error);
    if (status == ULP_OK) status = add_key(d, &w, one, &selection);
    free(one);
    return status;
}

/* The mode of a selector moves before the other words of the selector, because a mode that a word gives wins over the
 * mode of the selector. */
void ulp_draft_settle_modes(draft *d) {
    ulp_policy *p = &d->policy;
    for (size_t i = 0; i < p->selections; i++) {
        const ulp_selection mode = p->selection[i];
        size_t first = 0;
        if (mode.what != ULP_SELECT_MODE) continue;
        while (strcmp(p->selection[first].layers, mode.layers) != 0) first++;
        memmove(&p->selection[first + 1], &p->selection[first], (i - first) * sizeof mode);
        p->selection[first] = mode;
    }
    for (size_t i = 0; i < p->selections; i++) {
        ulp_selection *s = &p->selection[i];
        const ulp_rule *rule = d->has_mode ? &d->mode : NULL;
        if (s->what >= ULP_AT_COUNT && s->what != ULP_SELECT_ALL && s->what != ULP_SELECT_MIXED) continue;
        for (size_t j = 0; j < p->selections; j++)
            if (p->selection[j].what == ULP_SELECT_MODE && strcmp(p->selection[j].layers, s->layers) == 0)
                rule = &p->selection[j].cast.rule;
        if (rule && !s->own_mode && !ulp_format_equal(&s->cast.format, &ulp_binary32)) s->cast.rule = *rule;
        s->own_mode = 1;
    }
}

int ulp_selection_print(char *text, size_t size, const ulp_policy *policy, const ulp_selection *s) {
    char value[ULP_VALUE_MAX];
    const char *key = s->what < ULP_AT_COUNT ? ulp_point_name((ulp_point_kind)s->what) : "*";
    const char *path = policy->path[s->path].name;
    if (s->what >= ULP_SELECT_OPERAND) {
        ulp_operand_cast_write(value, sizeof value, &policy->cast[s->path]);
        return snprintf(text, size, "%s.%s=%s", s->layers, ulp_operand_name(s->what - ULP_SELECT_OPERAND), value);
    }
    ulp_cast_write(value, sizeof value, &s->cast);
    switch (s->what) {
    case ULP_SELECT_MODE:
        ulp_rule_write(value, sizeof value, s->cast.rule);
        return snprintf(text, size, "%s.mode=%s", s->layers, value);
    case ULP_SELECT_NO_MASTER: return snprintf(text, size, "%s.master=none", s->layers);
    case ULP_SELECT_FORWARD: return snprintf(text, size, "%s.fwd=%s", s->layers, path);
    case ULP_SELECT_BACKWARD: return snprintf(text, size, "%s.bwd=%s", s->layers, path);
    case ULP_SELECT_MIXED: return snprintf(text, size, "%s.*=mixed:%s", s->layers, value);
    default: return snprintf(text, size, "%s.%s=%s", s->layers, key, value);
    }
}

/* policy_selected.c - words of a policy that are for some layers alone, SELECTOR.KEY=VALUE; see policy.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "policy_draft.h"

enum { WORD_MAX = ULP_CAST_TEXT_MAX };

/* A word SELECTOR.KEY=VALUE. */
typedef struct selected_word {
    const char *name, *key, *value; /* name: SELECTOR.KEY */
    char layers[ULP_SELECTOR_MAX];
} selected_word;

static ulp_status fail_word(const draft *d, const selected_word *w, const char *why) {
    return ulp_fail(d->error, d->error_size, ULP_BAD_NAME, "policy: '%s=%s': %s", w->name, w->value, why);
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
            return ulp_fail(d->error, d->error_size, ULP_BAD_NAME, "policy: %s is given twice", w->name);
    }
    if (ulp_policy_select(&d->policy, selection, path) == ULP_OK) return ULP_OK;
    return ulp_draft_full(d, w->name);
}

/* SELECTOR.*=FORMAT or mixed:FORMAT, with a mode or without. */
static ulp_status add_preset(draft *d, const selected_word *w, ulp_selection *selection) {
    const int mixed = strncmp(w->value, "mixed:", 6) == 0;
    ulp_cast_text about = {.name = w->name};
    char name[WORD_MAX + 16];
    ulp_datapath path;
    ulp_status status = ulp_cast_read(&selection->cast, &about, w->value + (mixed ? 6 : 0), d->error, d->error_size);
    if (status != ULP_OK) return status;
    selection->what = mixed ? ULP_SELECT_MIXED : ULP_SELECT_ALL;
    selection->own_mode = (uint8_t)about.has_mode;
    const int wide = mixed || strcmp(selection->cast.format.name, "binary32") == 0;
    snprintf(name, sizeof name, "serial:%s:rne", selection->cast.format.name);
    status = ulp_draft_datapath(d, &path, wide ? "fp32" : name);
    return status == ULP_OK ? add_selection(d, w, selection, &path) : status;
}

/* Add the selection of a key that the draft `one` has read alone. */
static ulp_status add_key(draft *d, const selected_word *w, const draft *one, ulp_selection *s) {
    const ulp_key *key = ulp_policy_keys;
    ulp_status status = ULP_OK;
    while (strcmp(key->name, w->key) != 0) key++;
    if (key->index == AT_MODE) {
        s->what = ULP_SELECT_MODE;
        s->cast.rule = one->mode;
        return add_selection(d, w, s, NULL);
    }
    if (key->index & AT_PRODUCTS) {
        if (key->index & FORWARD) {
            s->what = ULP_SELECT_FORWARD;
            status = add_selection(d, w, s, &one->policy.forward);
        }
        if (status == ULP_OK && key->index & BACKWARD) {
            s->what = ULP_SELECT_BACKWARD;
            status = add_selection(d, w, s, &one->policy.backward);
        }
        return status;
    }
    s->what = (uint8_t)key->index;
    s->cast = one->policy.at[key->index];
    s->own_mode = one->own_mode[key->index];
    if (key->index == ULP_AT_MASTER && strcmp(w->value, "none") == 0) s->what = ULP_SELECT_NO_MASTER;
    return add_selection(d, w, s, NULL);
}

static const ulp_key *const lists[] = {ulp_policy_keys, NULL};
static const ulp_key_reader reader = {.lists = lists};

ulp_status ulp_draft_select(void *to, const char *name, const char *value, char *error, size_t error_size) {
    draft *d = to;
    char pair[ULP_VALUE_MAX];
    ulp_selection selection;
    selected_word w = {.name = name, .value = value};
    memset(&selection, 0, sizeof selection);
    ulp_status status = take_selector(d, &w);
    if (status != ULP_OK) return status;
    memcpy(selection.layers, w.layers, sizeof w.layers);
    const int of_input = strcmp(w.layers, "input") == 0, of_all = strcmp(w.layers, "*") == 0;
    if (of_input && strcmp(w.key, "act") != 0)
        return fail_word(d, &w, "the input of the net is rounded at act alone: input.act=FORMAT");
    if (strcmp(w.key, "out") == 0 || strcmp(w.key, "loss") == 0)
        return fail_word(d, &w, "out= and loss= are of the whole net and take no selector");
    if (strcmp(w.key, "*") == 0) return add_preset(d, &w, &selection);
    if (of_all && strcmp(w.key, "mode") == 0) return fail_word(d, &w, "for all layers write mode= without a selector");
    draft *one = calloc(1, sizeof *one);
    if (!one) return ulp_fail(error, error_size, ULP_NO_MEMORY, "no memory for a policy");
    one->error = error;
    one->error_size = error_size;
    snprintf(pair, sizeof pair, "%s=%s", w.key, value);
    status = ulp_keys_read(one, &reader, pair, "policy", error, error_size);
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
        if (rule && !s->own_mode && strcmp(s->cast.format.name, "binary32") != 0) s->cast.rule = *rule;
        s->own_mode = 1;
    }
}

int ulp_selection_print(char *text, size_t size, const ulp_policy *policy, const ulp_selection *s) {
    char value[ULP_VALUE_MAX];
    const char *key = s->what < ULP_AT_COUNT ? ulp_point_name((ulp_point_kind)s->what) : "*";
    const char *path = policy->path[s->path].name;
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

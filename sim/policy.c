/* policy.c - parsing and printing of policies; see policy.h. */
#include "policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

static const char *const point_names[ULP_AT_COUNT] = {"weight", "act",    "wgrad", "agrad",
                                                      "state",  "master", "loss",  "norm"};

enum { WORD_MAX = 128 };

/* A policy on its way from text: which points were given a mode of their own, and what mode= says. */
typedef struct draft {
    ulp_policy policy;
    uint8_t own_mode[ULP_AT_COUNT + 1];
    uint8_t has_mode;
    ulp_rule mode;
    char *error;
    size_t error_size;
} draft;

const char *ulp_point_name(ulp_point_kind point) { return (unsigned)point < ULP_AT_COUNT ? point_names[point] : NULL; }

/* The casts of a policy are its points', and as the last one that of out=. */
enum { AT_OUT = ULP_AT_COUNT };

static const char *cast_name(int i) { return i < AT_OUT ? point_names[i] : "out"; }
static ulp_cast *cast_at(ulp_policy *policy, int i) { return i < AT_OUT ? &policy->at[i] : &policy->out; }

/* Append "a, b, c" to a message. */
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

/* MODE[/BITS] */
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
        if (*end || end == slash + 1 || bits < 1 || bits > 32 || !ulp_mode_is_stochastic(mode))
            return ulp_fail(d->error, d->error_size, ULP_BAD_ARGUMENT,
                            "'%s': random bits are 1 to 32, of a stochastic mode", text);
    }
    rule->mode = (uint8_t)mode;
    rule->random_bits = (uint8_t)bits;
    return ULP_OK;
}

/* A gradient's format with `:inf` in its name where it would saturate without having been asked to. */
static ulp_status let_overflow(ulp_format *format) {
    char name[2 * ULP_NAME_MAX];
    if (format->overflow != ULP_OVERFLOW_SAT || format->nan_codes == ULP_NAN_NONE || strstr(format->name, ":sat"))
        return ULP_OK;
    snprintf(name, sizeof name, "%s:inf", format->name);
    return ulp_format_parse(format, name);
}

static int is_gradient(int i) { return i == ULP_AT_WGRAD || i == ULP_AT_AGRAD; }
static int takes_tensor_scale(int i) { return i == ULP_AT_WEIGHT || i == ULP_AT_ACT || is_gradient(i); }

ulp_status ulp_policy_set(ulp_policy *policy, ulp_point_kind point, const ulp_format *format, ulp_scaling_time when,
                          int history) {
    ulp_cast cast = {.format = *format, .scaling = (uint8_t)when, .history = (uint16_t)history};
    if ((when == ULP_SCALED_DELAYED) != (history > 0) || history > ULP_HISTORY_MAX) return ULP_BAD_ARGUMENT;
    if (!format->fits_binary32 || (when && !takes_tensor_scale((int)point))) return ULP_UNSUPPORTED;
    ulp_status status = !when && is_gradient((int)point) ? let_overflow(&cast.format) : ULP_OK;
    if (status != ULP_OK) return status;
    cast.rule = policy->at[point].rule;
    policy->at[point] = cast;
    if (point == ULP_AT_MASTER) policy->has_master = 1;
    return ULP_OK;
}

/* What follows @ in `word`, which is cut there. */
static ulp_status parse_scaling(draft *d, ulp_cast *cast, int i, char *word) {
    char *at = strchr(word, '@'), *end;
    if (!at) return ULP_OK;
    *at++ = 0;
    if (!takes_tensor_scale(i))
        return ulp_fail(d->error, d->error_size, ULP_UNSUPPORTED,
                        "%s=%s@%s: only weight, act, wgrad and agrad have scales per tensor", cast_name(i), word, at);
    if (strcmp(at, "amax") == 0) {
        cast->scaling = ULP_SCALED_NOW;
        return ULP_OK;
    }
    unsigned long history = strncmp(at, "delayed", 7) != 0 ? 0 : at[7] == 0 ? 16 : strtoul(at + 7, &end, 10);
    if (history < 1 || history > ULP_HISTORY_MAX || (at[7] && (at[7] < '0' || at[7] > '9' || *end)))
        return ulp_fail(d->error, d->error_size, ULP_BAD_NAME,
                        "%s=%s@%s: no such scaling; known: amax, delayed, delayedN with N from 1 to %d", cast_name(i),
                        word, at, ULP_HISTORY_MAX);
    cast->scaling = ULP_SCALED_DELAYED;
    cast->history = (uint16_t)history;
    return ULP_OK;
}

/* FORMAT[@SCALING][/MODE[/BITS]] as cast i. */
static ulp_status parse_cast(draft *d, int i, const char *text) {
    char word[WORD_MAX], known[768];
    ulp_cast cast = {.rule = {0}};
    snprintf(word, sizeof word, "%s", text);
    char *slash = strchr(word, '/');
    if (slash) *slash = 0;
    ulp_status status = parse_scaling(d, &cast, i, word);
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
    if (cast.scaling == ULP_UNSCALED && is_gradient(i)) status = let_overflow(&cast.format);
    if (status == ULP_OK && slash) status = parse_rule(d, &cast.rule, slash + 1);
    if (status != ULP_OK) return status;
    d->own_mode[i] = slash != NULL;
    *cast_at(&d->policy, i) = cast;
    return ULP_OK;
}

static ulp_status parse_datapath(draft *d, ulp_datapath *datapath, const char *text) {
    ulp_datapath parsed;
    char why[ULP_EXPLAIN_MAX];
    const int native = ulp_datapath_is_native(text);
    ulp_status status = native ? ulp_datapath_native(&parsed, text, why) : ulp_datapath_parse(&parsed, text);
    if (status != ULP_OK && native) return ulp_fail(d->error, d->error_size, status, "datapath %s", why);
    ulp_datapath_explain(why, text);
    if (status != ULP_OK)
        return ulp_fail(d->error, d->error_size, status,
                        "no datapath '%s'%s%s; `ulp dot --help` lists the forms of their names", text,
                        why[0] ? ": " : "", why);
    if (!parsed.result.fits_binary32)
        return ulp_fail(d->error, d->error_size, ULP_UNSUPPORTED,
                        "datapath '%s': arrays carry binary32, its accumulator does not fit", text);
    *datapath = parsed;
    return ULP_OK;
}

/* Every point in one format: `all` false leaves what mixed precision keeps in binary32. */
static ulp_status set_format(draft *d, const char *format, int all) {
    static const uint8_t low[ULP_AT_COUNT] = {
        [ULP_AT_WEIGHT] = 1, [ULP_AT_ACT] = 1, [ULP_AT_WGRAD] = 1, [ULP_AT_AGRAD] = 1};
    ulp_status status = ULP_OK;
    for (int i = 0; i < ULP_AT_COUNT && status == ULP_OK; i++)
        if (all || low[i]) status = parse_cast(d, i, format);
    return status;
}

/* "fp32", a format's name, "mixed:FORMAT". */
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
    if (ulp_format_parse(&format, text) != ULP_OK)
        return ulp_fail(d->error, d->error_size, ULP_BAD_NAME,
                        "no policy '%s'; known: a format for everything (fp32, fp16, bf16, ...), mixed:FORMAT, "
                        "then weight= act= wgrad= agrad= state= master= loss= norm= out= acc= fwd= bwd= mode=",
                        text);
    status = set_format(d, text, 1);
    snprintf(datapath, sizeof datapath, "serial:%s:rne", text);
    if (status == ULP_OK && strcmp(format.name, d->policy.forward.accumulator.name) != 0) {
        status = parse_datapath(d, &d->policy.forward, datapath);
        d->policy.backward = d->policy.forward;
    }
    return status;
}

static ulp_status parse_pair(draft *d, const char *key, const char *value) {
    ulp_status status;
    if (strcmp(key, "fwd") == 0) return parse_datapath(d, &d->policy.forward, value);
    if (strcmp(key, "bwd") == 0) return parse_datapath(d, &d->policy.backward, value);
    if (strcmp(key, "acc") == 0) {
        status = parse_datapath(d, &d->policy.forward, value);
        if (status == ULP_OK) d->policy.backward = d->policy.forward;
        return status;
    }
    if (strcmp(key, "out") == 0) {
        d->policy.has_out = 1;
        return parse_cast(d, AT_OUT, value);
    }
    if (strcmp(key, "mode") == 0) {
        d->has_mode = 1;
        return parse_rule(d, &d->mode, value);
    }
    if (strcmp(key, "master") == 0) {
        d->policy.has_master = strcmp(value, "none") != 0;
        if (!d->policy.has_master) return ULP_OK;
    }
    for (int i = 0; i < ULP_AT_COUNT; i++)
        if (strcmp(key, point_names[i]) == 0) return parse_cast(d, i, value);
    return ulp_fail(d->error, d->error_size, ULP_BAD_NAME,
                    "no key '%s' in a policy; known: weight, act, wgrad, agrad, state, master, loss, norm, out, acc, "
                    "fwd, bwd, mode",
                    key);
}

static ulp_status parse_words(draft *d, const char *text) {
    char word[WORD_MAX];
    ulp_status status = parse_preset(d, "fp32");
    for (int i = 0; status == ULP_OK; i++) {
        size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof word)
            return ulp_fail(d->error, d->error_size, ULP_BAD_NAME,
                            "a policy is words between commas, of 1 to %d characters each: '%s'", WORD_MAX - 1, text);
        memcpy(word, text, length);
        word[length] = 0;
        char *equals = strchr(word, '=');
        if (equals) {
            *equals = 0;
            status = parse_pair(d, word, equals + 1);
        } else if (i == 0) {
            status = parse_preset(d, word);
        } else {
            status =
                ulp_fail(d->error, d->error_size, ULP_BAD_NAME, "'%s' is not key=value; a preset comes first", word);
        }
        text += length;
        if (!*text) break;
        text++;
    }
    return status;
}

/* The sentence of a check. */
typedef struct report {
    const ulp_policy *policy;
    char *error;
    size_t error_size;
} report;

/* A product's datapath takes what the tensors at two points hold. */
static ulp_status check_operands(const report *r, const char *key, const ulp_datapath *path, ulp_point_kind a,
                                 ulp_point_kind b) {
    const ulp_point_kind points[] = {a, b};
    const ulp_format *takes[] = {&path->a, &path->b};
    for (int i = 0; path->has_inputs && i < 2; i++) {
        const ulp_cast *cast = &r->policy->at[points[i]];
        if (cast->scaling)
            return ulp_fail(
                r->error, r->error_size, ULP_UNSUPPORTED,
                "%s=%s: takes operands in %s, and a scale per tensor, %s=%s@..., moves numbers out of every "
                "format",
                key, path->name, takes[i]->name, cast_name((int)points[i]), cast->format.name);
        if (!ulp_format_holds(takes[i], &cast->format))
            return ulp_fail(r->error, r->error_size, ULP_UNSUPPORTED,
                            "%s=%s: takes operands in %s, which does not hold all of %s=%s", key, path->name,
                            takes[i]->name, cast_name((int)points[i]), cast->format.name);
    }
    return ULP_OK;
}

/* y = x w; dw = x' dy, dx = dy w'. */
static ulp_status check_products(const report *r) {
    const ulp_policy *p = r->policy;
    ulp_status status = check_operands(r, "fwd", &p->forward, ULP_AT_ACT, ULP_AT_WEIGHT);
    if (status == ULP_OK) status = check_operands(r, "bwd", &p->backward, ULP_AT_ACT, ULP_AT_AGRAD);
    return status == ULP_OK ? check_operands(r, "bwd", &p->backward, ULP_AT_AGRAD, ULP_AT_WEIGHT) : status;
}

ulp_status ulp_policy_check(const ulp_policy *policy, char *error, size_t error_size) {
    for (int i = 0; i < ULP_AT_COUNT + policy->has_out; i++) {
        const ulp_cast *cast = i < AT_OUT ? &policy->at[i] : &policy->out;
        ulp_status status = ulp_rule_check(&cast->format, cast->rule);
        if (status != ULP_OK)
            return ulp_fail(error, error_size, status, "%s=%s: the format does not offer the rule", cast_name(i),
                            cast->format.name);
    }
    if (policy->at[ULP_AT_WEIGHT].scaling && !policy->has_master)
        return ulp_fail(error, error_size, ULP_UNSUPPORTED,
                        "weight=%s with a scale per tensor: needs master weights, since a weight that is moved "
                        "with every step's scale could not take small updates",
                        policy->at[ULP_AT_WEIGHT].format.name);
    return check_products(&(report){policy, error, error_size});
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
        ulp_cast *cast = cast_at(&d.policy, i);
        if (d.has_mode && !d.own_mode[i] && strcmp(cast->format.name, "binary32") != 0) cast->rule = d.mode;
    }
    status = ulp_policy_check(&d.policy, error, error_size);
    if (status != ULP_OK) return status;
    *policy = d.policy;
    return ULP_OK;
}

ulp_status ulp_policy_runs_on(const ulp_policy *policy, const char *backend, char *error, size_t error_size) {
    const ulp_datapath *of[] = {&policy->forward, &policy->backward};
    for (int i = 0; i < 2; i++)
        if (of[i]->kind == ULP_NATIVE && strcmp(backend, "cuda") != 0)
            return ulp_fail(error, error_size, ULP_UNSUPPORTED,
                            "datapath %s: a GPU's own product, which takes the backend cuda; the backend is %s",
                            of[i]->name, backend);
    return ULP_OK;
}

ulp_status ulp_policy_print(char *text, size_t size, const ulp_policy *policy) {
    size_t used = 0;
    for (int i = 0; i < ULP_AT_COUNT + policy->has_out && used < size; i++) {
        const ulp_cast *cast = i < ULP_AT_COUNT ? &policy->at[i] : &policy->out;
        char bits[8] = "", scaling[16] = "";
        if (cast->scaling == ULP_SCALED_NOW) snprintf(scaling, sizeof scaling, "@amax");
        if (cast->scaling == ULP_SCALED_DELAYED) snprintf(scaling, sizeof scaling, "@delayed%u", cast->history);
        if (cast->rule.random_bits) snprintf(bits, sizeof bits, "/%u", cast->rule.random_bits);
        if (i == ULP_AT_MASTER && !policy->has_master)
            used += (size_t)snprintf(text + used, size - used, "master=none,");
        else
            used += (size_t)snprintf(text + used, size - used, "%s=%s%s/%s%s,", cast_name(i), cast->format.name,
                                     scaling, ulp_mode_name((ulp_mode)cast->rule.mode), bits);
    }
    if (used < size)
        used +=
            (size_t)snprintf(text + used, size - used, "fwd=%s,bwd=%s", policy->forward.name, policy->backward.name);
    return used < size ? ULP_OK : ULP_BAD_ARGUMENT;
}

int ulp_cast_is_identity(const ulp_cast *cast) {
    uint8_t policy = (uint8_t)ulp_overflow_of(&cast->format, (ulp_overflow)cast->rule.overflow);
    return strcmp(cast->format.name, "binary32") == 0 && !cast->scaling && policy == ULP_OVERFLOW_INF;
}

int ulp_cast_is_binary32(const ulp_cast *cast) { return cast->rule.mode == ULP_RNE && ulp_cast_is_identity(cast); }

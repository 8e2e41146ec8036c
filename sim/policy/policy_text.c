/* policy_text.c - the text of a policy: presets, parsing, printing, help; see policy.h and policy_words.h. */
#include "operand_cast.h"
#include "policy_words.h"

#include <stdio.h>
#include <string.h>

static const ulp_key *const lists[] = {ulp_policy_keys, NULL};

static ulp_status parse_recipe(draft *d, const char *text);

/* ---- presets ---- */

/* Set every point to one format; if not `all`, only the points that are narrow in mixed precision. */
static ulp_status set_format(draft *d, const char *format, int all) {
    static const uint8_t low[ULP_AT_COUNT] = {
        [ULP_AT_WEIGHT] = 1, [ULP_AT_ACT] = 1, [ULP_AT_WGRAD] = 1, [ULP_AT_AGRAD] = 1};
    const uint8_t has_master = d->policy.has_master;
    ulp_status status = ULP_OK;
    for (int i = 0; i < ULP_AT_COUNT && status == ULP_OK; i++)
        if ((all && !ulp_point_follows(i)) || low[i]) status = ulp_draft_cast(d, i, format);
    d->policy.has_master = has_master;
    return status;
}

#define OPERANDS(x, w, g) "fwd.x=" x ",fwd.w=" w ",dgrad.g=" g ",dgrad.w=" w ",wgrad.x=" x ",wgrad.g=" g

/* Recipes by their names: bfloat16 tensors with binary32 master weights and sums, and casts of operands. */
static const struct {
    const char *name, *text, *from;
} recipes[] = {
    {"mxfp8", "mixed:bf16," OPERANDS("mxfp8", "mxfp8", "mxfp8"),
     "e4m3 in blocks of 32 with power-of-two scales, all six operands; OCP MX v1.0, torchao's MXFP8 training"},
    {"nvfp4",
     "mixed:bf16,fwd.x=nvfp4,fwd.w=nvfp4:2d,dgrad.g=nvfp4/sr,dgrad.w=nvfp4:2d,wgrad.x=nvfp4:rht16,"
     "wgrad.g=nvfp4:rht16/sr",
     "arXiv:2509.25149: 2-D scales of weights, stochastic gradients, Hadamard transforms for the gradients of weights; "
     "the paper keeps some layers in bf16, as with unembed.fwd.x=none,..."},
    {"deepseek",
     "mixed:bf16," OPERANDS("mxfp8:128:noclip", "mxfp8:128:noclip:2d",
                            "mxfp8:128:noclip") ",fwd=chunk128:fp32:rne,bwd=chunk128:fp32:rne",
     "arXiv:2412.19437: e4m3 with scales of 1x128 of activations and gradients and 128x128 of weights, powers of two; "
     "sums of 128 products are added in binary32"},
    {"fp8-tensorwise",
     "mixed:bf16,fwd.x=e4m3@amax,fwd.w=e4m3@amax,dgrad.g=e5m2@amax,dgrad.w=e4m3@amax,wgrad.x=e4m3@amax,"
     "wgrad.g=e5m2@amax",
     "one power-of-two scale per tensor; e5m2 gradients, arXiv:2209.05433"},
    {"quartet2",
     "mixed:bf16,fwd.x=nvfp4:mse46,fwd.w=nvfp4:mse46,dgrad.g=nvfp4:eden:rht,dgrad.w=nvfp4:eden:rht,"
     "wgrad.x=nvfp4:eden:rht,wgrad.g=nvfp4:eden:rht",
     "arXiv:2601.22813: Four Over Six forward; MS-EDEN backward, Hadamard transforms of up to 128 and stochastic "
     "scales"},
    {"binaryconnect", "fp32,fwd.w=sign,dgrad.w=sign",
     "arXiv:1511.00363: signs of weights whose binary32 copy learns; the optimizer's limit=1 keeps the copy within "
     "-1 .. 1; sign/sr draws the signs, and scores take the copy"},
    {"xnor", "fp32,fwd.w=xnor,dgrad.w=xnor",
     "arXiv:1603.05279: signs of weights, and one scale for each output; fwd.x=sign,wgrad.x=sign for activations, too"},
    {"ternary", "fp32,fwd.w=ternary,dgrad.w=ternary",
     "arXiv:1605.04711: weights of -1, 0 and 1 with one scale for a layer"},
    {"fp8-rowwise", "mixed:bf16," OPERANDS("mxfp8:1048576:noclip", "mxfp8:1048576:noclip", "mxfp8:1048576:noclip"),
     "e4m3 with one power-of-two scale per row along the sum, as torchao's rowwise recipe"},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

/* Parse a preset: the name of a format, or "mixed:FORMAT"; the draft is the policy fp32. */
static ulp_status parse_preset(draft *d, const char *text) {
    char datapath[ULP_CAST_TEXT_MAX + 16];
    ulp_format format;
    const int mixed = strncmp(text, "mixed:", 6) == 0;
    d->policy.has_master = (uint8_t)mixed;
    if (mixed) return set_format(d, text + 6, 0);
    for (int i = 0; i < RECIPES; i++)
        if (strcmp(recipes[i].name, text) == 0) return parse_recipe(d, recipes[i].text);
    if (ulp_format_parse(&format, text) != ULP_OK) {
        char known[256], names[128];
        size_t used = 0;
        for (int i = 0; i < RECIPES && used < sizeof names; i++)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s, ", recipes[i].name);
        ulp_keys_list(known, sizeof known, lists, "= ");
        return ulp_fail(d->error, ULP_BAD_NAME,
                        "no policy '%s'; known: a format for everything (fp32, fp16, bf16, ...), mixed:FORMAT, %sthen "
                        "%s=",
                        text, names, known);
    }
    ulp_status status = set_format(d, text, 1);
    snprintf(datapath, sizeof datapath, "serial:%s:rne", text);
    if (status == ULP_OK && !ulp_format_equal(&format, &ulp_binary32)) {
        status = ulp_draft_datapath(d, &d->policy.forward, datapath);
        d->policy.backward = d->policy.forward;
    }
    return status;
}

/* ---- whole texts ---- */

static const ulp_key_reader reader = {.lists = lists, .dotted = ulp_draft_select};

/* A recipe is a text of its own: a preset of format, then words. */
static ulp_status parse_recipe(draft *d, const char *text) {
    char preset[32];
    const size_t length = strcspn(text, ",");
    snprintf(preset, sizeof preset, "%.*s", (int)length, text);
    ULP_TRY(parse_preset(d, preset));
    return ulp_keys_read(d, &reader, text + length + 1, "policy", d->error);
}

/* Parse the optional preset and the keys. */
static ulp_status parse_words(draft *d, const char *text) {
    char word[ULP_CAST_TEXT_MAX];
    const size_t length = strcspn(text, ",");
    ulp_status status = ULP_OK;
    if (length == 0 || length >= sizeof word)
        return ulp_fail(d->error, ULP_BAD_NAME, "a policy is words between commas, of 1 to %d characters each: '%s'",
                        ULP_CAST_TEXT_MAX - 1, text);
    memcpy(word, text, length);
    word[length] = 0;
    if (!strchr(word, '=')) {
        status = parse_preset(d, word);
        text += length;
        if (*text && !*++text)
            return ulp_fail(d->error, ULP_BAD_NAME,
                            "policy: nothing follows the last comma; words stand "
                            "between commas");
    }
    return status == ULP_OK ? ulp_keys_read(d, &reader, text, "policy", d->error) : status;
}

ulp_status ulp_policy_parse(ulp_policy *policy, const char *text, ulp_error *error) {
    draft d;
    memset(&d, 0, sizeof d);
    ulp_policy_binary32(&d.policy);
    d.error = error;
    ulp_error_clear(error);
    if (!policy || !text) return ulp_fail(error, ULP_BAD_ARGUMENT, "no policy text");
    const ulp_status status = parse_words(&d, text);
    if (status != ULP_OK) return ulp_fail_default(error, status, "'%s': %s", text, ulp_status_text(status));
    for (int i = 0; i < ULP_AT_COUNT + d.policy.has_out; i++) {
        ulp_cast *cast = i < AT_OUT ? &d.policy.at[i] : &d.policy.out;
        if (d.has_mode && !d.own_mode[i] && !ulp_format_equal(&cast->format, &ulp_binary32)) cast->rule = d.mode;
    }
    ulp_draft_settle_modes(&d);
    ULP_TRY(ulp_policy_check(&d.policy, error));
    *policy = d.policy;
    return ULP_OK;
}

ulp_status ulp_policy_print(char *text, size_t size, const ulp_policy *policy) {
    ulp_status status = ulp_keys_print(text, size, &reader, policy, NULL);
    size_t used = status == ULP_OK ? strlen(text) : size;
    for (int i = 0; i < ULP_OPERANDS && used < size; i++) {
        char word[ULP_VALUE_MAX];
        if (policy->operand[i].kind == ULP_OPERAND_AS_IT_IS) continue;
        ulp_operand_cast_write(word, sizeof word, &policy->operand[i]);
        used += (size_t)snprintf(text + used, size - used, ",%s=%s", ulp_operand_name(i), word);
    }
    for (size_t i = 0; i < policy->selections && used < size; i++) {
        char word[ULP_VALUE_MAX + ULP_SELECTOR_MAX];
        ulp_selection_print(word, sizeof word, policy, &policy->selection[i]);
        used += (size_t)snprintf(text + used, size - used, ",%s", word);
    }
    return used < size ? status : ULP_BAD_ARGUMENT;
}

void ulp_policy_help(const ulp_help *to) {
    ulp_policy fp32;
    ulp_policy_binary32(&fp32);
    ulp_help_line(to,
                  "A policy says where a training run rounds, to which format and how: a preset, then key=value pairs "
                  "between commas, for example mixed:fp16,master=none,weight=fp16/sr.");
    ulp_help_line(to, "%s", "");
    ulp_help_entry(to, "FORMAT",
                   "everything in that format, accumulation too; no master weights. Without a preset: fp32");
    ulp_help_entry(to, "mixed:FORMAT",
                   "weight, act, wgrad and agrad in FORMAT; accumulation, state, master, loss and "
                   "norm in binary32");
    for (int i = 0; i < RECIPES; i++) ulp_help_entry(to, recipes[i].name, recipes[i].from);
    ulp_help_line(to, "%s", "");
    ulp_help_keys(to, lists, &fp32);
    ulp_help_entry(
        to, "OPERAND",
        "a cast of an operand of the products with weights: fwd.x, fwd.w (y = x w), dgrad.g, dgrad.w (dx = g "
        "w'), wgrad.x, wgrad.g (dw = x' g); none, FORMAT[@amax][/MODE], or BLOCK[:2d][:eden][:rhtG, "
        ":hadG or :rht][/MODE], as fwd.w=nvfp4:2d or wgrad.g=nvfp4:rht16/sr. Blocks run along the sum; :2d: square "
        "tiles share a scale; :rhtG: a Hadamard transform of 16, 32 or 128 with random signs, which both "
        "operands need; :rht: of up to 128; :hadG: with fixed signs; :eden: stochastic scales that make the mean "
        "right. Or sign[/sr], xnor, ternary[:T]: one or two bits");
    ulp_help_line(to, "%s", "");
    ulp_help_line(
        to,
        "Where fwd or bwd is the datapath of a matrix unit, it takes the elements of the casts, and the scales apart: "
        "mxfp8,acc=b200-e4m3-mx; nvfp4,acc=b200-e2m1-nvf4; fp8-tensorwise,fwd=h100-e4m3,bwd=h100-e5m2.e4m3; "
        "fwd.x=int8@amax,fwd.w=sign,fwd=int8. Biases and products of activations are then summed as fp32 does.");
    ulp_help_line(to, "%s", "");
    ulp_help_line(
        to,
        "A selector and a point before a key choose layers: mixed:fp16,bn.*=fp32,first.weight=bf16,3.act=e4m3@amax. "
        "A key without a selector is for all layers. Later words win over earlier words; out= wins over "
        "all. A selector that selects no layer of the net is refused, and so is a word about something that "
        "no selected layer has, as relu.weight=bf16.");
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

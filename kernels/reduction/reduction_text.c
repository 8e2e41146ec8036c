/* reduction_text.c - the text of a reduction, ORDER:FORMAT[:MODE][:key=value...]; see reduction.h. */
#include "kernels/products/datapath_names.h"
#include "reduction.h"

#include <stdio.h>
#include <string.h>

const char ulp_reduction_orders[] = "ring tree doubling two-level", ulp_reduction_means[] = "after before half";

static const char *const orders[] = {"ring", "tree", "doubling", "two-level", NULL};
static const char *const means[] = {"after", "before", "half", NULL};

static ulp_status refuse(ulp_error *error, ulp_status status, const char *text, const char *why) {
    return ulp_fail(error, status, "reduction '%.60s': %s", text, why);
}

/* The index of a word in a list that ends with NULL; -1 if the list does not contain it. */
static int index_of(const char *const *words, const char *word) {
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0) return i;
    return -1;
}

/* ---- settings ---- */

static ulp_status read_mean(void *to, const ulp_key *key, const char *value, ulp_error *error) {
    const int i = index_of(means, value);
    (void)key;
    if (i < 0) return ulp_name_refuse(error, "reduction: no mean", value, means);
    ((ulp_reduction *)to)->mean = (uint8_t)i;
    return ULP_OK;
}

static int print_mean(char *text, size_t size, const void *from, const ulp_key *key) {
    (void)key;
    return snprintf(text, size, "%s", means[((const ulp_reduction *)from)->mean]);
}

enum { MEAN, NODE };
static const ulp_key keys[] = {
    [MEAN] = {"mean", "where the sum becomes a mean", ULP_KEY_OWN, ULP_KEY_FIELD(ulp_reduction, mean), 0, 0,
              "after, before or half", 0, read_mean, print_mean},
    [NODE] = {"node", "ranks of a node, which adds in binary32; of two-level only", ULP_KEY_INTEGER,
              ULP_KEY_FIELD(ulp_reduction, node), 1, ULP_RANKS_MAX, NULL, 0, NULL, NULL},
    {.name = NULL},
};

static const char *lacks_key(const void *to, const ulp_key *key) {
    return key == &keys[NODE] && ((const ulp_reduction *)to)->order != ULP_REDUCE_TWO_LEVEL ? "is of two-level only"
                                                                                            : NULL;
}

static const ulp_key *const lists[] = {keys, NULL};
static const ulp_key_reader settings_reader = {.lists = lists, .between = ':', .plain = 1, .lacks = lacks_key};

/* ---- parts ---- */

/* Gradients overflow: a format that saturates takes the overflow of IEEE 754, unless its name says :sat. */
static void let_overflow(ulp_reduction *r) {
    const ulp_format *f = &r->format;
    if (f->overflow == ULP_OVERFLOW_SAT && f->nan_codes != ULP_NAN_NONE && !strstr(f->name, ":sat"))
        r->rule.overflow = ULP_OVERFLOW_INF;
}

ulp_status ulp_reduction_init(ulp_reduction *to, const ulp_format *format, ulp_rule rule, ulp_error *error) {
    ulp_reduction r = {.format = *format, .rule = rule, .inside = ulp_binary32, .node = 8};
    if (!format->fits_binary32)
        return refuse(error, ULP_UNSUPPORTED, format->name, "arrays carry binary32, and the format does not fit");
    if (!format->is_signed || !format->has_zero)
        return refuse(error, ULP_UNSUPPORTED, format->name,
                      "gradients need a format with a sign and a zero, as bf16, fp16, e5m2 and e4m3 have");
    if (rule.overflow == ULP_OVERFLOW_DEFAULT) let_overflow(&r);
    const ulp_status status = ulp_rule_check(format, r.rule);
    if (status != ULP_OK) return refuse(error, status, format->name, "the format does not offer the rule");
    *to = r;
    return ULP_OK;
}

/* Read FORMAT or FORMAT:MODE. */
static ulp_status read_sum(ulp_reduction *to, const char *text, ulp_error *error) {
    char name[ULP_NAME_MAX];
    ulp_format format;
    ulp_rule rule = {0};
    if (ulp_format_parse(&format, text) == ULP_OK) return ulp_reduction_init(to, &format, rule, error);
    const char *mode = ulp_datapath_split(name, text);
    if (!mode) snprintf(name, sizeof name, "%.31s", text);
    if (ulp_format_parse(&format, name) != ULP_OK)
        return refuse(error, ULP_BAD_NAME, name,
                      "no format has this name; ORDER:FORMAT takes fp32, fp16, bf16, e5m2, e4m3 or another of `ulp "
                      "help formats`");
    if (mode && ulp_datapath_rule(&rule, mode) != ULP_OK)
        return refuse(error, ULP_BAD_NAME, mode,
                      "no mode has this name; `ulp help modes` lists them, sr/8 takes 8 random bits");
    return ulp_reduction_init(to, &format, rule, error);
}

/* The settings of a text: they begin with the part before the first '='. */
static const char *settings_of(const char *text) {
    const char *equals = strchr(text, '='), *at = text + strlen(text);
    for (const char *c = text; equals && c < equals; c++)
        if (*c == ':') at = c;
    return at;
}

ulp_status ulp_reduction_parse(ulp_reduction *reduction, const char *text, ulp_error *error) {
    char order[16], sum[ULP_REDUCTION_TEXT_MAX];
    ulp_reduction r;
    const char *rest = strchr(text, ':'), *settings = settings_of(text);
    const size_t length = rest ? (size_t)(rest - text) : strlen(text);
    snprintf(order, sizeof order, "%.*s", length < 15 ? (int)length : 15, text);
    const int i = index_of(orders, order);
    if (i < 0) return ulp_name_refuse(error, "reduction: no order", order, orders);
    if (!rest || settings <= rest || settings - rest > (ptrdiff_t)sizeof sum)
        return refuse(error, ULP_BAD_NAME, text, "a format follows the order, as in ring:bf16");
    snprintf(sum, sizeof sum, "%.*s", (int)(settings - rest - 1), rest + 1);
    ULP_TRY(read_sum(&r, sum, error));
    r.order = (uint8_t)i;
    if (*settings) ULP_TRY(ulp_keys_read(&r, &settings_reader, settings + 1, "reduction", error));
    *reduction = r;
    return ULP_OK;
}

ulp_status ulp_reduction_print(char *text, size_t size, const ulp_reduction *r) {
    char settings[64], bits[8] = "";
    ulp_reduction plain = *r;
    plain.mean = ULP_MEAN_AFTER;
    plain.node = 8;
    ulp_status status = ulp_keys_print(settings, sizeof settings, &settings_reader, r, &plain);
    if (r->rule.random_bits) snprintf(bits, sizeof bits, "/%u", r->rule.random_bits);
    const int n = snprintf(text, size, "%s:%s:%s%s%s%s", orders[r->order], r->format.name,
                           ulp_mode_name((ulp_mode)r->rule.mode), bits, settings[0] ? ":" : "", settings);
    return status == ULP_OK && n > 0 && (size_t)n < size ? ULP_OK : ULP_BAD_ARGUMENT;
}

void ulp_reduction_help(const ulp_help *to) {
    ulp_reduction plain = {.node = 8};
    ulp_help_line(to, "A reduction says how the gradients of R ranks become one mean: ORDER:FORMAT, then :MODE and "
                      "settings, for example ring:bf16, tree:fp16:mean=before, two-level:e5m2:sr:node=4. Every "
                      "partial sum is rounded once to the format.");
    ulp_help_line(to, "%s", "");
    ulp_help_entry(to, "ring",
                   "the array is cut into R chunks; chunk c starts at rank c + 1, takes the ranks one "
                   "after another, and ends at rank c");
    ulp_help_entry(to, "tree", "a binary tree: ranks 1, 2, 4, ... apart are added in turn");
    ulp_help_entry(to, "doubling",
                   "recursive doubling: ranks 1, 2, 4, ... apart exchange and add; the sums of tree "
                   "if R is a power of two");
    ulp_help_entry(to, "two-level", "nodes of 8 ranks add in binary32, then the nodes add in the format as a ring");
    ulp_help_line(to, "%s", "");
    ulp_help_line(to, "FORMAT is a format with a sign and a zero that fits binary32, MODE a rounding mode (default "
                      "rne). Sums overflow to Inf, or to NaN in a format without Inf, unless the name of the format "
                      "says :sat.");
    ulp_help_line(to, "%s", "");
    ulp_help_keys(to, lists, &plain);
    ulp_help_line(to, "%s", "");
    ulp_help_entry(to, "after", "the sum is divided by R");
    ulp_help_entry(
        to, "before",
        "every gradient is divided by R and rounded first; in two-level the nodes divide and add in binary32");
    ulp_help_entry(to, "half",
                   "every gradient and then the sum are divided by the square root of R, rounded to "
                   "binary32");
}

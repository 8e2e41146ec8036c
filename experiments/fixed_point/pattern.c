/* pattern.c - policies with places for a format and a rounding mode; see pattern.h. */
#include "pattern.h"

#include <string.h>

/* Appends the text with FORMAT/MODE, or MODE, in place of every %. */
static void put_into(ulp_text *to, const char *text, const char *format, const char *mode) {
    for (const char *c = text; *c; c++)
        if (*c != '%') ulp_text_add(to, c, 1);
        else if (c > text && c[-1] == '/') ulp_text_print(to, "%s", mode);
        else ulp_text_print(to, "%s/%s", format, mode);
}

static ulp_status read_with(ulp_policy *policy, const char *text, const char *format, const char *mode,
                            ulp_error *error) {
    ulp_error why;
    ulp_text whole = {0};
    put_into(&whole, text, format, mode);
    const ulp_status status = ulp_policy_parse(policy, ulp_text_of(&whole), &why);
    ulp_text_free(&whole);
    if (status == ULP_OK) return ULP_OK;
    return ulp_refuse(error, ": %s", why.text);
}

static uint8_t formats_differ(const ulp_cast *a, const ulp_cast *b) {
    return strcmp(a->format.name, b->format.name) != 0;
}

static uint8_t rules_differ(const ulp_cast *a, const ulp_cast *b) { return a->rule.mode != b->rule.mode; }

/* Reads the pattern twice, with different formats and modes. A point has a place in the pattern if the two readings
 * differ at the point. Every format that a datapath takes as input holds all numbers of q2.1 and of q2.0, so that no
 * pattern is refused because of the formats of the readings. */
static ulp_status read_pattern(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    pattern *p = field;
    ulp_policy other;
    (void)option;
    p->text = text;
    ULP_TRY(read_with(&p->policy, text, "q2.1", "rne", error));
    ULP_TRY(read_with(&other, text, "q2.0", "rz", error));
    for (int i = 0; i < ULP_AT_COUNT; i++) {
        p->takes_format[i] = formats_differ(&p->policy.at[i], &other.at[i]);
        p->takes_rule[i] = rules_differ(&p->policy.at[i], &other.at[i]);
    }
    p->out_takes_format = p->policy.has_out && formats_differ(&p->policy.out, &other.out);
    p->out_takes_rule = p->policy.has_out && rules_differ(&p->policy.out, &other.out);
    return ULP_OK;
}

static void print_pattern(ulp_text *to, const void *field, const ulp_option *option) {
    (void)option;
    ulp_text_print(to, "%s", ((const pattern *)field)->text);
}

const ulp_option_type type_pattern = {
    .value_name = "POLICY", .size = sizeof(pattern), .read = read_pattern, .print = print_pattern, .topic = "policies"};

ulp_status pattern_fill(ulp_policy *policy, const pattern *p, const ulp_format *format, ulp_rule rule) {
    *policy = p->policy;
    for (int i = 0; i < ULP_AT_COUNT; i++) {
        const ulp_cast *cast = &p->policy.at[i];
        const ulp_status status =
            p->takes_format[i]
                ? ulp_policy_set(policy, (ulp_point_kind)i, format, (ulp_tensor_scale)cast->tensor_scale, cast->history)
                : ULP_OK;
        if (status != ULP_OK) return status;
        if (p->takes_rule[i]) policy->at[i].rule = rule;
    }
    if (p->out_takes_format) policy->out.format = *format;
    if (p->out_takes_rule) policy->out.rule = rule;
    return ULP_OK;
}

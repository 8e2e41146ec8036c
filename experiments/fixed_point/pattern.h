/* pattern.h - the value of an option of fixed_point: a policy with places for a format and a rounding mode.
 *
 * In the text, % stands for FORMAT/MODE. After a / it stands for MODE: "weight=%,act=q6.10/%,out=fp32".
 */
#ifndef ULP_EXPERIMENT_FIXED_POINT_PATTERN_H
#define ULP_EXPERIMENT_FIXED_POINT_PATTERN_H

#include "experiments/harness/cli/options.h"
#include "sim/policy/policy.h"

typedef struct pattern {
    const char *text;
    ulp_policy policy;                                            /* the places hold some format and rule */
    uint8_t takes_format[ULP_AT_COUNT], takes_rule[ULP_AT_COUNT]; /* 1 for a point with such a place */
    uint8_t out_takes_format, out_takes_rule;                     /* the same for policy.out */
} pattern;

extern const ulp_option_type type_pattern; /* pattern */

/* Fills the places of the policy with a format and a rule. */
ulp_status pattern_fill(ulp_policy *policy, const pattern *p, const ulp_format *format, ulp_rule rule);

#endif

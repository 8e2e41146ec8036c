/* fixed_point.h - settings, points, rows, the two networks, shared by the trainings and the claims of fixed_point. */
#ifndef ULP_EXPERIMENT_FIXED_POINT_H
#define ULP_EXPERIMENT_FIXED_POINT_H

#include "experiments/harness/training/lesson.h"

/* The networks and the policies of Gupta et al. 2015. */
#define MLP "fc1000 relu fc1000 relu fc10"
#define CNN "conv8@5 relu pool2 conv16@5 relu pool2 fc128 relu fc10"
#define POLICY "weight=%,act=%,out=fp32,agrad=%,wgrad=%"
#define POLICY_OF_CNN "weight=%,act=q6.10/%,out=fp32,agrad=%,wgrad=%"

/* The value of --policy: a policy with places for a format and a rounding mode. In the text, % stands for FORMAT/MODE.
 * After a / it stands for MODE: "weight=%,act=q6.10/%,out=fp32". */
typedef struct pattern {
    const char *text;
    ulp_policy policy;                                            /* the places hold some format and rule */
    uint8_t takes_format[ULP_AT_COUNT], takes_rule[ULP_AT_COUNT]; /* 1 for a point with such a place */
    uint8_t out_takes_format, out_takes_rule;                     /* the same for policy.out */
} pattern;

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    pattern policy;
    ulp_named_optimizer optimizer;
    ulp_lesson_settings lesson;
    int64_t scale;
    double std;
} settings;

/* The rule of a training by --amp, which the policy of each layer replaces. */
#define BY_LISTS "amp"

/* A training: in a format with a rule, or in binary32 if both are NULL. */
typedef struct point {
    const ulp_format *format;
    const ulp_named_rule *rule;
    uint64_t seed;
} point;

enum { EPOCH, FINAL };
#define WHAT_WORDS "epoch final"

typedef struct row {
    const char *format, *mode;
    int64_t seed;
    int what;
    int64_t epoch;
    double loss, train_error, test_error, moved;
    int64_t diverged;
} row;

#endif

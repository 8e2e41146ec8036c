/* all_reduce.h - settings, points and rows, shared by the grid, the points and the claims of all_reduce. */
#ifndef ULP_EXPERIMENT_ALL_REDUCE_H
#define ULP_EXPERIMENT_ALL_REDUCE_H

#include "experiments/harness/training/lesson.h"
#include "experiments/harness/training/options.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    uint64_t orders, means; /* bit i stands for word i of ulp_reduction_orders, ulp_reduction_means */
    ulp_integer_list ranks;
    int64_t node, elements;
    ulp_lesson_settings lesson;
    ulp_reduction_list reductions;
    ulp_integer_list train_ranks;
    int64_t steps, scale;
    double rate, momentum;
} settings;

/* The numbers of the ranks: all 1, all 64, all 2^-20, random, or the gradients of a training. */
enum { ONES, LARGE, TINY, NORMAL, UNIFORM, TRAINING };
#define ORDER_WORDS "ring tree doubling two-level"
#define MEAN_WORDS "after before half"
#define DATA_WORDS "1 64 2^-20 normal uniform training"

typedef struct point {
    int data;
    ulp_reduction how;
    size_t ranks;
    uint64_t seed;
} point;

typedef struct row {
    int data;
    const char *reduction, *format, *mode; /* the text of the reduction; its format and mode */
    int order, mean;
    int64_t ranks, seed;
    double value;               /* mean over the elements */
    double error, worst, bound; /* |result - mean| / mean of |x| : root mean square and largest over the elements */
    double loss, accuracy;      /* of the training part, of the test part */
    double loss_change, moved;  /* to one rank: difference of the losses, |w - w1| / |w1| */
    int64_t skipped, scale_log2, diverged;
} row;

#endif

/* amp.h - settings, points and rows, shared by the runs and the claims of amp. */
#ifndef ULP_EXPERIMENT_AMP_H
#define ULP_EXPERIMENT_AMP_H

#include "experiments/harness/training/training.h"
#include "experiments/harness/training/networks.h"
#include "experiments/harness/training/options.h"
#include "sim/policy/amp.h"

/* The ways to train in a format: binary32 as the reference, automatic mixed precision, everything in the format, and
 * the recipe written by hand, which treats all layers alike. */
enum { FP32, AMP, RECIPE, LOW, WAYS };
#define WAY_WORDS "fp32 amp recipe low"

typedef struct settings {
    ulp_format_list formats;
    uint64_t ways; /* bit i stands for AMP + i */
    ulp_networks_settings networks;
    int64_t steps, interval, weight;
    ulp_named_policy policy; /* its text is empty if the option is not given */
    const char *scaler;
    uint64_t seed;
    int64_t seeds;
    double checkpoint;
    const ulp_backend *backend;
    int profile;
} settings;

/* A way to train a network in a format, with what it costs. */
typedef struct method {
    ulp_policy policy;
    ulp_scaler_rule scaler;
    int64_t casts;               /* numbers that a step converts */
    double kept, weights, moved; /* bytes: activations and their gradients; weights of all kinds; moved in a step */
} method;

typedef struct point {
    const ulp_network *network;
    const ulp_format *format; /* NULL: binary32 */
    int way;
    uint64_t seed;
    const method *method;
} point;

typedef struct row {
    const char *net, *format;
    int way;
    int64_t seed;
    ulp_training_cells cells;
    int64_t casts;
    double kept, weights, moved;
} row;

#endif

/* gradient_underflow.h - settings, points and rows, shared by the runs and the claims of gradient_underflow. */
#ifndef ULP_EXPERIMENT_GRADIENT_UNDERFLOW_H
#define ULP_EXPERIMENT_GRADIENT_UNDERFLOW_H

#include "experiments/harness/training/networks.h"
#include "experiments/harness/training/profile.h"
#include "experiments/harness/training/tensor_counts.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_networks_settings networks;
    int64_t steps, every, seeds;
    ulp_integer_list scales; /* log2 */
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* A run. */
typedef struct point {
    const ulp_network *network;
    uint64_t seed;
} point;

enum { ACT, WEIGHT, KINDS }; /* gradients of activations, of weights */
#define KIND_WORDS "agrad wgrad"
#define STAGE_WORDS "begin middle end all" /* ULP_STAGE_BEGIN, ... */
#define ALL_LAYERS "all"                   /* stands in place of the index of a layer */

enum { BIN, ZERO, SHARE, TENSOR, ACCURACY };
#define WHAT_WORDS "bin zero share tensor accuracy"

typedef struct row {
    const char *net;
    int64_t seed;
    int kind;
    const char *layer, *name;
    int stage, what;
    const char *format;
    int64_t scale_log2;
    ulp_bin bin;
    int64_t zero, flushed, overflowed, kept;
} row;

#endif

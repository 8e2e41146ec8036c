/* loss_scaling.h - what the grid and the claims of loss_scaling share: settings, points and rows. */
#ifndef ULP_EXPERIMENT_LOSS_SCALING_H
#define ULP_EXPERIMENT_LOSS_SCALING_H

#include "experiments/harness/training/cells.h"
#include "experiments/harness/training/networks.h"
#include "experiments/harness/training/policy_option.h"

/* What keeps gradients in range: nothing (binary32), a scale of --scales, rules of sim/scaler.h, scales per tensor. */
enum { NONE, STATIC, PYTORCH, APEX, KERAS, MEGATRON, BACKOFF, LOGMAX, LAYER, AMAX, DELAYED16, DELAYED16_INF, SCALERS };
#define DYNAMIC_WORDS "pytorch apex keras megatron backoff logmax layer amax delayed16 delayed16-inf"
#define SCALER_WORDS "none static " DYNAMIC_WORDS

/* What the first network gets, and what the others get. */
typedef struct grid {
    ulp_integer_list scales; /* log2 */
    uint64_t scalers;        /* bit i: PYTORCH + i */
    int64_t seeds;
} grid;

typedef struct settings {
    ulp_format_list formats;
    ulp_networks_settings networks;
    grid grid[2];
    int64_t other_formats, interval, steps, every;
    ulp_named_policy policy;
    double points, checkpoint;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* A run. */
typedef struct point {
    const ulp_network *network;
    const ulp_format *format; /* of the gradients; NULL: everything is binary32 */
    int scaler;
    int64_t scale; /* log2, of STATIC; else 0 */
    uint64_t seed;
} point;

enum { FINAL, STEP };

typedef struct row {
    const char *net, *format;
    int scaler, what;
    int64_t static_log2, seed;
    ulp_training_cells cells;
} row;

/* Prints the table and tests the claims. */
void judge(ulp_claims *claims);

#endif

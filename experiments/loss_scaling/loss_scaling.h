/* loss_scaling.h - settings, points and rows, shared by the grid and the claims of loss_scaling. */
#ifndef ULP_EXPERIMENT_LOSS_SCALING_H
#define ULP_EXPERIMENT_LOSS_SCALING_H

#include "experiments/harness/training/training.h"
#include "experiments/harness/training/networks.h"
#include "experiments/harness/training/options.h"

/* The ways to keep gradients in range: none (binary32), a static loss scale, the scalers of sim/train/scaler.h, and
 * tensor scales from AMAX on. */
enum { NONE, STATIC, PYTORCH, APEX, KERAS, MEGATRON, BACKOFF, LOGMAX, LAYER, AMAX, DELAYED16, DELAYED16_INF, SCALERS };
#define DYNAMIC_WORDS "pytorch apex keras megatron backoff logmax layer amax delayed16 delayed16-inf"
#define SCALER_WORDS "none static " DYNAMIC_WORDS

/* The runs of the first network (grid[0]) and of the other networks (grid[1]). */
typedef struct grid {
    ulp_integer_list scales; /* log2 */
    uint64_t scalers;        /* bit i stands for PYTORCH + i */
    int64_t seeds;
} grid;

typedef struct settings {
    ulp_format_list formats;
    ulp_networks_settings networks;
    grid grid[2];
    int64_t other_formats, interval, steps, every;
    ulp_named_policy policy;
    double checkpoint;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

typedef struct point {
    const ulp_network *network;
    const ulp_format *format; /* the format of the gradients; NULL: everything is in binary32 */
    int scaler;
    int64_t scale; /* log2 of the scale for STATIC, otherwise 0 */
    uint64_t seed;
} point;

enum { FINAL, STEP }; /* what a row is about: a whole run, a step */
typedef struct row {
    const char *net, *format;
    int scaler, what;
    int64_t static_log2, seed;
    ulp_training_cells cells;
} row;

#endif

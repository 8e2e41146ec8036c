/* quantized_inference.h - settings, points, rows, shared by the answers and the claims of quantized_inference. */
#ifndef ULP_EXPERIMENT_QUANTIZED_INFERENCE_H
#define ULP_EXPERIMENT_QUANTIZED_INFERENCE_H

#include "engine.h"
#include "experiments/harness/training/options.h"

/* How codes stand for values. AFFINE and SYMMETRIC of engine.h are for integers. PLAIN and SCALED are for floating
 * point. */
enum { PLAIN = SYMMETRIC + 1, SCALED };
#define INTEGER_SCHEMES "affine symmetric"
#define SCHEME_WORDS INTEGER_SCHEMES " plain scaled"

/* The accumulator of a sum of products. */
enum { INT32, INT16, INT16_SAT, INTEGER_ACCUMULATORS, BINARY32 = INTEGER_ACCUMULATORS };
#define INTEGER_ACCUMULATOR_WORDS "int32 int16 int16-sat"
#define ACCUMULATOR_WORDS INTEGER_ACCUMULATOR_WORDS " binary32"

typedef struct settings {
    ulp_format_list formats;
    ulp_integer_list bits;
    uint64_t schemes, accumulators; /* bit i: word i */
    ulp_named_optimizer optimizer;
    const char *nets, *set, *data;
    int64_t epochs, batch, seeds;
    uint64_t seed;
    const ulp_backend *backend;
    ulp_training_settings how;
} settings;

enum { NETS_MAX = 8 };

/* Data shared by all points. */
typedef struct context {
    ulp_data data;
    ulp_net net[NETS_MAX];
    ulp_policy policy[NETS_MAX]; /* of the trainings */
    ulp_scaler_rule scaler[NETS_MAX];
    int64_t nets;
    ulp_policy binary32; /* with master weights, so that weights may have a tensor scale */
    ulp_datapath narrow[INTEGER_ACCUMULATORS];
} context;

/* A trained network. */
typedef struct point {
    int64_t net; /* index into context.net */
    uint64_t seed;
} point;

/* The way in which a network answers. `kind` is the name of a format, or INTEGER. */
#define INTEGER "integer"
typedef struct way {
    const char *kind;
    int scheme;
    int64_t bits;
    int accumulator;
} way;

typedef struct row {
    int64_t net; /* from 1 */
    int64_t seed;
    way way;
    double accuracy, agreement, changed;
} row;

#endif

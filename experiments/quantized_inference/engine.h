/* engine.h - a trained network run again: in floating point under any policy, or in integers (quantized_inference.c).
 */
#ifndef ULP_QUANTIZED_ENGINE_H
#define ULP_QUANTIZED_ENGINE_H

#include "sim/data.h"
#include "sim/model.h"

enum { BATCH = 256 }; /* samples at a time */
enum { AFFINE, SYMMETRIC };

/* x = S (q - Z); q - Z from low to high. */
typedef struct code {
    double scale;
    double low, high;
} code;

typedef struct engine {
    const ulp_data *data;
    const float *trained; /* (params): the binary32 weights, host memory */
    ulp_model model;
    ulp_pass pass;
    ulp_policy policy;
    ulp_family family;
    float *weight;             /* (params) backend memory */
    float *host, *sums, *wide; /* host memory: (params), (BATCH widest) of a narrow accumulator and of int32 */
    double *low, *high;        /* (count + 1): the range of each tensor over the training part */
    uint8_t *answer;           /* (n tests) of binary32 */
    size_t right, agreed, changed, formed; /* of the run under way */
} engine;

/* For a network and its trained weights (params), which have to outlive it. An engine of zeros may be ended. */
ulp_status engine_start(engine *e, const ulp_backend *backend, const ulp_data *data, const ulp_net *net,
                        const float *trained);
void engine_end(engine *e);

/* Start counting right answers, agreement and changed sums anew. */
void engine_begin(engine *e);

/* The trained weights, rounded layer by layer under the policy in force. */
ulp_status engine_round_weights(engine *e);

/* Forward in floating point over the training part, to learn the ranges, or over the test part, to score; the first
 * scoring, with pass.now.step 0, gives the answers that later ones are compared with. */
ulp_status engine_run_floating(engine *e, int learn);

/* S and Z for values from low to high. */
code engine_code_of(double low, double high, int bits, int scheme);

/* The integer weights of every layer, biases 0 (they are added after the sums), and their codes w (count). */
ulp_status engine_put_weights(engine *e, code *w, int bits, int scheme);

/* Score the test part in integers: x (count) and w (count) are the codes of each layer's input and weights; sums in
 * `narrow`, or in int32 if it is NULL. */
ulp_status engine_run_integers(engine *e, const code *x, const code *w, const ulp_datapath *narrow);

#endif

/* engine.h - runs a trained network in floating point under any policy, or in integers (quantized_inference.c). */
#ifndef ULP_QUANTIZED_ENGINE_H
#define ULP_QUANTIZED_ENGINE_H

#include "sim/data/data.h"
#include "sim/model.h"

enum { BATCH = 256 }; /* samples of one pass */
enum { AFFINE, SYMMETRIC };

/* x = S (q - Z). `scale` is S; `low` and `high` are the bounds of q - Z. */
typedef struct code {
    double scale;
    double low, high;
} code;

typedef struct engine {
    const ulp_data *data;
    const float *trained; /* (params) the binary32 weights, in host memory */
    ulp_model model;
    ulp_pass pass;
    ulp_policy policy;
    ulp_arena arena;
    float *weight;              /* (params) in backend memory */
    float *host, *sums, *exact; /* host memory: (params); (BATCH widest) sums of a narrow accumulator, of int32 */
    double *low, *high;         /* (count + 1) the range of each tensor over the training part */
    uint8_t *answer;            /* (test samples) the answers of binary32 */
    size_t right, agreed, changed, formed; /* the counts of the current run */
} engine;

/* Prepares a network with its trained weights (params). Both have to outlive the engine. engine_end() accepts an engine
 * of zeros. */
ulp_status engine_start(engine *e, const ulp_backend *backend, const ulp_data *data, const ulp_net *net,
                        const float *trained);
void engine_end(engine *e);

/* Sets the counts of right answers, agreement and changed sums to 0. */
void engine_begin(engine *e);

/* Rounds the trained weights, layer by layer, under the current policy. */
ulp_status engine_round_weights(engine *e);

/* Runs the network forward in floating point: over the training part to learn the ranges (learn = 1), or over the test
 * part to count right answers (learn = 0). The run over the test part with pass.now.step = 0 gives the answers that
 * later runs are compared with. */
ulp_status engine_run_floating(engine *e, int learn);

/* S and the bounds of q - Z for values from low to high. */
code engine_code_of(double low, double high, int bits, int scheme);

/* Puts the integer weights of every layer into the backend, and their codes into w (count). The biases are 0 there;
 * they are added after the sums. */
ulp_status engine_put_weights(engine *e, code *w, int bits, int scheme);

/* Runs the test part in integers. x (count) and w (count) are the codes of the input and of the weights of each layer.
 * Sums are formed in `narrow`, or in int32 if `narrow` is NULL. */
ulp_status engine_run_integers(engine *e, const code *x, const code *w, const ulp_datapath *narrow);

#endif

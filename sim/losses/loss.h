/* loss.h - the interface of a kind of loss, and the table of kinds.
 *
 * A loss has a value for a batch, a gradient and a score. A kind is a const ulp_loss_kind ulp_loss_NAME that
 * a file of sim/losses exports; the Makefile makes the table from the files of the folder. These rules hold for all
 * kinds:
 *
 *  - Probabilities and each sample's loss are computed in binary64 and rounded once at ULP_AT_LOSS, as layers 0 and 1
 *    of its random streams.
 *  - The gradient of the mean over the batch, times 2^scale, is rounded once at ULP_AT_AGRAD.
 *  - The reported mean is the binary64 sum of the rounded losses, in the order of the samples, divided by B.
 *  - Scores are not rounded.
 *
 * Where labels belong to positions (data.h), each position of a sample has a loss of its own, and means are over the
 * positions of all samples.
 */
#ifndef ULP_LOSS_H
#define ULP_LOSS_H

#include "base/error.h"
#include "sim/data/data.h"
#include "sim/pass.h"
#include "sim/tensor.h"

ULP_C_BEGIN

typedef struct ulp_score {
    double loss;        /* mean, in binary64 from the net's rounded output, in nats */
    double bits;        /* the loss divided by ln 2: of a text, bits per character */
    double accuracy;    /* share of the samples of which every label is right; of positions, if labels belong to them */
    double label_error; /* edits / labels, edits that turn outputs into labels; 1 - accuracy of single labels */
    size_t n, right, labels, edits; /* n: samples */
} ulp_score;

typedef struct ulp_loss ulp_loss;

/* The tensors of one step. */
typedef struct ulp_loss_batch {
    size_t layer;         /* tensor number of the net's output */
    const float *z;       /* (B,out) the net's output */
    float *dz;            /* (B,out) the gradient of the net's output */
    const uint8_t *label; /* (B,labels) host memory */
} ulp_loss_batch;

typedef struct ulp_loss_kind {
    const char *name; /* "softmax" */
    const char *what;
    /* Check whether the net's output fits the data; error gets a sentence if it does not. */
    ulp_status (*check)(ulp_dims out, const ulp_data *data, ulp_error *error);
    /* The number of doubles of `scratch`, and of `work` for one sample; NULL: none. */
    size_t (*scratch)(const ulp_loss *loss);
    size_t (*work)(const ulp_loss *loss);
    /* Compute batch->dz and the mean loss. */
    ulp_status (*step)(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean);
    /* Add a batch to sum: its losses to sum->loss, its counts to sum->right, sum->labels and sum->edits. */
    ulp_status (*score)(const ulp_loss *loss, ulp_pass *pass, ulp_score *sum, const float *z, const uint8_t *label);
} ulp_loss_kind;

/* A loss in use. */
struct ulp_loss {
    const ulp_loss_kind *kind;
    ulp_dims out;           /* of the net */
    size_t classes, labels; /* of the data */
    size_t rows;            /* losses of a sample: its positions, if labels belong to positions, else 1 */
    float *p;               /* (room,out) backend memory */
    float *row;             /* (room,rows) backend memory */
    double *wide;           /* (room,rows) backend memory: the loss of each sample or position */
    double *exact;          /* (room,out) backend memory: probabilities or gradients before their rounding */
    uint8_t *label;         /* (room,labels) backend memory */
    double *work;           /* (batch, work of the kind) backend memory, for a step */
    double *host;           /* (room,rows) host memory */
    float *host_z;          /* (room,out) host memory */
    double *scratch;        /* for use by the kind; host memory */
};

/* The i-th kind; NULL past the end. */
const ulp_loss_kind *ulp_loss_kind_get(size_t i);

/* The kinds that code names. */
extern const ulp_loss_kind ulp_loss_softmax, ulp_loss_ctc;

/* The kind called `name`; on failure error (may be NULL) has a sentence that lists the known names. */
ulp_status ulp_loss_parse(const ulp_loss_kind **kind, const char *name, ulp_error *error);

/* A loss of a kind on the output of a net. NULL as kind: ctc for data with sequences of labels without positions, else
 * softmax. On failure error (may be NULL) gets a sentence. */
ulp_status ulp_loss_init(ulp_loss *loss, const ulp_loss_kind *kind, ulp_dims out, const ulp_data *data,
                         ulp_error *error);

/* Carve the tensors for steps of up to `batch` and scores of up to `room` samples (it runs twice, see tensor.h);
 * allocate the host's memory; free it. */
void ulp_loss_carve(ulp_loss *loss, ulp_arena *arena, size_t batch, size_t room);
ulp_status ulp_loss_ready(ulp_loss *loss, size_t room);
void ulp_loss_release(ulp_loss *loss);

/* ---- for the kinds ---- */

/* End a step: round loss->wide (B,rows) at ULP_AT_LOSS as layer 1, and compute the mean. */
ulp_status ulp_loss_mean(const ulp_loss *loss, ulp_pass *pass, double *mean);

/* The factor of the gradient of the mean: the loss scale; divided by the number of micro-batches, in binary64, because
 * the mean is over the samples of all of them. */
static inline double ulp_loss_factor(const ulp_pass *pass) {
    const double scale = ulp_scale(1.0, pass->now.scales.log2);
    return pass->now.parts ? scale / (double)pass->now.parts : scale;
}

ULP_C_END
#endif

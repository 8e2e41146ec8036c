/* loss.h - the loss of a batch, its gradient and its score: the interface of a kind of loss, and the table of kinds.
 *
 * A kind is one file sim/losses/NAME.c that exports one const ulp_loss_kind ulp_loss_NAME; the Makefile makes the table
 * from the files of the folder. All kinds: probabilities and each sample's loss are computed in binary64 and rounded
 * once at ULP_AT_LOSS (layers 0 and 1 of its streams), the gradient of the mean over the batch, times 2^scale, once at
 * ULP_AT_AGRAD. The reported mean is the binary64 sum of the rounded losses, samples ascending, over B. Scores are not
 * rounded.
 */
#ifndef ULP_LOSS_H
#define ULP_LOSS_H

#include "data.h"
#include "pass.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulp_score {
    double loss;        /* mean, in binary64 from the net's rounded output */
    double accuracy;    /* share of samples that are right as a whole */
    double label_error; /* edits that turn the answers into the labels, over the number of labels; of single labels 1 -
                           accuracy */
    size_t n, right, labels, edits;
} ulp_score;

typedef struct ulp_loss ulp_loss;

/* What a step works on. */
typedef struct ulp_loss_batch {
    size_t layer;         /* number of the net's output as a tensor */
    const float *z;       /* (B,out) the net's output */
    float *dz;            /* (B,out) its gradient */
    const uint8_t *label; /* (B,labels) host memory */
} ulp_loss_batch;

typedef struct ulp_loss_kind {
    const char *name; /* "softmax" */
    const char *what;
    /* Whether the net's output fits the data; a sentence if not. */
    ulp_status (*check)(ulp_dims out, const ulp_data *data, char *error, size_t error_size);
    /* Doubles of host memory for `scratch`; NULL: none. */
    size_t (*scratch)(const ulp_loss *loss);
    /* batch->dz and the mean loss. */
    ulp_status (*step)(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean);
    /* Add the batch to sum: losses to loss, and right, labels and edits. */
    ulp_status (*score)(const ulp_loss *loss, ulp_pass *pass, ulp_score *sum, const float *z, const uint8_t *label);
} ulp_loss_kind;

/* A loss in use. */
struct ulp_loss {
    const ulp_loss_kind *kind;
    ulp_dims out;           /* of the net */
    size_t classes, labels; /* of the data */
    float *p;               /* (room,out) backend memory */
    float *row;             /* (room) backend memory */
    double *wide;           /* (room) backend memory: each sample's loss */
    double *exact;          /* (room,out) backend memory: probabilities or gradients before their rounding */
    uint8_t *label;         /* (room,labels) backend memory */
    double *host;           /* (room) host memory */
    float *host_z;          /* (room,out) host memory */
    double *host_exact;     /* (room,out) host memory */
    double *scratch;        /* of the kind; host memory */
};

/* The i-th kind; NULL past the end. */
const ulp_loss_kind *ulp_loss_kind_get(size_t i);

/* The kind called `name`; on failure error (may be NULL) has a sentence that lists the known names. */
ulp_status ulp_loss_parse(const ulp_loss_kind **kind, const char *name, char *error, size_t error_size);

/* A loss of that kind (NULL: ctc for data with sequences of labels, else softmax) on the output of a net. On
 * failure error (may be NULL) has a sentence. */
ulp_status ulp_loss_init(ulp_loss *loss, const ulp_loss_kind *kind, ulp_dims out, const ulp_data *data, char *error,
                         size_t error_size);

/* Carve its tensors for up to `room` samples (tensor.h says how: runs twice), get the host's memory, give that back. */
void ulp_loss_carve(ulp_loss *loss, ulp_family *family, size_t room);
ulp_status ulp_loss_ready(ulp_loss *loss, size_t room);
void ulp_loss_release(ulp_loss *loss);

/* ---- for the kinds ---- */

/* The end of a step: loss->wide (B), rounded at ULP_AT_LOSS as layer 1, and the mean. */
ulp_status ulp_loss_mean(const ulp_loss *loss, ulp_pass *pass, double *mean);

#ifdef __cplusplus
}
#endif
#endif

/* classifier.h - a classifier, trained in binary32 on the same digits, that judges generated samples. */
#ifndef ULP_EXPERIMENT_GAN_CLASSIFIER_H
#define ULP_EXPERIMENT_GAN_CLASSIFIER_H

#include "experiments/harness/experiment.h"
#include "sim/data/data.h"
#include "sim/net.h"

typedef struct classifier {
    const ulp_data *data;
    const ulp_net *net;
    const ulp_backend *backend;
    float *w;                  /* (params) the trained weights */
    size_t features;           /* inputs of the last layer */
    double *mean, *covariance; /* (features), (features,features) of the test part */
    double accuracy;           /* on the test part */
} classifier;

/* What the classifier says about samples. */
typedef struct verdict {
    double distance; /* Frechet distance between the features of the samples and those of the test part */
    double classes;  /* number of classes that have at least a fifth of their fair share of the samples, surely */
    double sure;     /* share of the samples with a class of probability SURE or more */
} verdict;

#define SURE 0.9

/* Trains the classifier, and takes the features of the test part. The caller calls classifier_end() in all cases. */
ulp_status classifier_start(classifier *c, const ulp_plan *plan, const ulp_data *data, const ulp_net *net,
                            uint64_t steps, uint64_t seed, const ulp_backend *backend);
void classifier_end(classifier *c);

/* Judges x (n,features of the data), host memory. */
ulp_status classifier_judge(const classifier *c, verdict *v, const float *x, size_t n);

#endif

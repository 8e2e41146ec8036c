/* networks.h - the networks that experiments know by name, how each is trained, and the options that choose them.
 *
 * An experiment lists ULP_TAKES_NETWORKS, ULP_TAKES_SEED and ULP_TAKES_DATA. --nets are names of the table in
 * networks.c; --net is a text of sim/net.h in their place, called `own`. Each network has a batch, a rate and a
 * schedule with which it learns the digits in 300 steps and, more slowly, from them on; `own` has those of mlp, which
 * nobody chose for it. --batch and --rate, if they are not 0, replace them, for all networks.
 *
 *     prepare: status = ulp_networks_load(run, context);
 *     compute: ulp_network network;
 *              ulp_run_network(&network, run, (size_t)point->at[AT_NET]);
 *              ulp_optimizer_rule optimizer = ulp_network_optimizer(run, &network, steps);
 */
#ifndef ULP_NETWORKS_H
#define ULP_NETWORKS_H

#include "load.h"

#define ULP_TAKES_NETWORKS(default_, quick_)                                                                           \
    {.name = "nets",                                                                                                   \
     .type = ULP_OPTION_CHOICES,                                                                                       \
     .value = default_,                                                                                                \
     .quick = quick_,                                                                                                  \
     .help = "networks by name, separated by commas, or all",                                                          \
     .words = "mlp small cnn resnet gru lstm"},                                                                        \
        {.name = "net",                                                                                                \
         .type = ULP_OPTION_TEXT,                                                                                      \
         .value = "",                                                                                                  \
         .help = "one network, layer by layer, in place of --nets, with mlp's batch and rate unless they are given"},  \
        {.name = "batch",                                                                                              \
         .type = ULP_OPTION_INTEGER,                                                                                   \
         .value = "0",                                                                                                 \
         .help = "samples per step; 0: each network's own",                                                            \
         .max = 60000},                                                                                                \
        {.name = "rate",                                                                                               \
         .type = ULP_OPTION_NUMBER,                                                                                    \
         .value = "0",                                                                                                 \
         .help = "learning rate; 0: each network's own",                                                               \
         .max = 1000},                                                                                                 \
        {.name = "momentum", .type = ULP_OPTION_NUMBER, .value = "0.9", .help = "momentum", .max = 1}, ULP_TAKES_SET

typedef struct ulp_network {
    const char *name; /* as in --nets, or own */
    const char *text; /* sim/net.h */
    double rate;
    int cosine; /* the rate falls to 0 along half a cosine, so that the end of a short run is no accident of its last
                   step */
    size_t batch;
} ulp_network;

/* The i-th network of a run, in the order of the table; 0 past the end. */
int ulp_run_network(ulp_network *network, const ulp_run *run, size_t i);
size_t ulp_run_networks(const ulp_run *run);

/* Its optimizer for a run of so many steps. */
ulp_optimizer_rule ulp_network_optimizer(const ulp_run *run, const ulp_network *network, int64_t steps);

/* From prepare(): *context = the data of --set, and header lines about them and the networks. Fails with a sentence if
 * they cannot be loaded or a network does not take them. ulp_context_release() frees them. */
ulp_status ulp_networks_load(ulp_run *run, void **context);

#endif

/* networks.h - the networks that experiments know by name, how each is trained, and the options that choose them.
 *
 * --nets gives names of the table in sim/named_nets.c. --net gives a text of sim/net.h in their place; this network has
 * the name `own`. Each network of the table has a batch, a rate and a schedule with which it learns the digits in 300
 * steps; more steps improve it slowly. `own` has the batch, the rate and the schedule of mlp, which are not chosen for
 * it. --batch and --rate replace the batch and the rate of all networks if they are not 0.
 *
 *     typedef struct settings {
 *         ulp_networks_settings networks;    options: ULP_OPTIONS_NETWORKS(settings, networks, "all", NULL, NULL),
 *         ...                                         ULP_OPTION_DATA(settings, networks.data)
 *     plan:    status = ulp_networks_load(plan, networks, &settings->networks, settings->seed, settings->steps);
 *     compute: const ulp_train_options options = ulp_network_options(&networks->at[i], seed, backend);
 *
 * An experiment whose context is a ulp_networks has ulp_networks_release as its `release`.
 */
#ifndef ULP_NETWORKS_H
#define ULP_NETWORKS_H

#include "options.h"
#include "sim/named_nets.h"
#include "sim/train/train.h"

typedef struct ulp_networks_settings {
    uint64_t nets;   /* bit i stands for row i of the table */
    const char *net; /* empty: --nets counts */
    int64_t batch;
    double rate, momentum;
    const char *set, *data;
    ulp_training_settings how; /* of ULP_OPTIONS_TRAINING(), for experiments that have it */
} ulp_networks_settings;

enum { ULP_NETWORKS_ALL = (1 << ULP_NETS_OF_ALL) - 1 }; /* "all"; vit and gpt are given by name */

/* Six options, bound to a field (ulp_networks_settings) of the settings `s`. */
#define ULP_OPTIONS_NETWORKS(s, field, value_, quick_, full_)                                                          \
    ULP_OPTION_AS(                                                                                                     \
        s, field.nets, "nets", choices, value_, .quick = quick_, .full = full_,                                        \
        .help = "networks by name, separated by commas, or all, which leaves out vit and gpt; gpt alone reads text",   \
        .words = ulp_net_names + 1, .all = ULP_NETWORKS_ALL),                                                          \
        ULP_OPTION_AS(                                                                                                 \
            s, field.net, "net", text, "", .topic = "nets",                                                            \
            .help =                                                                                                    \
                "one network, layer by layer, in place of --nets, with mlp's batch and rate unless they are given"),   \
        ULP_OPTION_AS(s, field.batch, "batch", integer, "0", .help = "samples per step; 0: each network's own",        \
                      .max = 60000),                                                                                   \
        ULP_OPTION_AS(s, field.rate, "rate", number, "0", .help = "learning rate; 0: each network's own",              \
                      .max = 1000),                                                                                    \
        ULP_OPTION_AS(s, field.momentum, "momentum", number, "0.9", .help = "momentum", .max = 1),                     \
        ULP_OPTION_SET(s, field.set)

typedef struct ulp_network {
    const char *name; /* a name of --nets, or "own" */
    ulp_net net;      /* takes the samples of the data set */
    size_t batch;
    double cost; /* of a step, relative to that of mlp; for ulp_plan_add() */
    ulp_optimizer_rule optimizer;
    ulp_policy policy; /* binary32, or that of --amp */
    ulp_scaler_rule scaler;
} ulp_network;

typedef struct ulp_networks {
    ulp_data data;
    ulp_network *at; /* (count) in the order of the table */
    size_t count;
} ulp_networks;

/* Called by plan(). Loads the data and the networks for runs of `steps` steps, and adds header lines about them. If the
 * data cannot be loaded, or if a network does not take the data, the failure is reported in a sentence. The caller
 * calls ulp_networks_release() after success and after failure. */
ulp_status ulp_networks_load(ulp_plan *plan, ulp_networks *networks, const ulp_networks_settings *settings,
                             uint64_t seed, int64_t steps);
void ulp_networks_release(void *networks); /* a ulp_networks */

/* The options for a trainer of the network: in binary32 without a loss scale, or as --amp says. */
ulp_train_options ulp_network_options(const ulp_network *network, uint64_t seed, const ulp_backend *backend);

#endif

/* help.h - the topics of `ulp help TOPIC` about sim/, and their texts. */
#ifndef ULP_SIM_HELP_H
#define ULP_SIM_HELP_H

#include "base/key_values.h"

ULP_C_BEGIN

typedef struct ulp_help_topic {
    const char *name, *what;
    void (*write)(const ulp_help *to);
} ulp_help_topic;

/* The i-th topic: policies, nets, optimizers, scalers, losses, data; NULL past the end. */
const ulp_help_topic *ulp_sim_topic_get(size_t i);

/* The texts about layers, losses and data sets, made from their registries. */
void ulp_net_help(const ulp_help *to);
void ulp_loss_help(const ulp_help *to);
void ulp_data_help(const ulp_help *to);

ULP_C_END
#endif

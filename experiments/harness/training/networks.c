/* networks.c - how plan() loads networks by name; see networks.h. */
#include "networks.h"

#include <stdio.h>
#include <stdlib.h>

static ulp_status add_network(ulp_plan *plan, ulp_networks *to, ulp_named_net row, const ulp_networks_settings *s,
                              int64_t steps) {
    ulp_error error;
    char key[32], layers[ULP_NAMED_LAYERS_MAX];
    ulp_network *next = &to->at[to->count];
    if (s->batch) row.batch = (size_t)s->batch;
    if (s->rate > 0) row.rate = s->rate;
    *next = (ulp_network){.name = row.name, .batch = row.batch, .cost = row.cost};
    const char *words = ulp_named_net_words(layers, *s->net ? s->net : row.name, &to->data);
    ulp_optimizer_parse(&next->optimizer, row.optimizer, NULL);
    next->optimizer.rate = row.rate;
    if (next->optimizer.kind == &ulp_optimizer_sgd) next->optimizer.momentum = s->momentum;
    next->optimizer.cosine = row.cosine ? (uint32_t)steps : 0;
    const ulp_status status = ulp_net_parse(&next->net, words, to->data.dims, &error);
    if (status != ULP_OK)
        return ulp_plan_fail(plan, status, "%s%s: %s", *s->net ? "--" : "network ", *s->net ? "net" : row.name,
                             ulp_after_subject(error.text, "net"));
    ulp_policy_parse(&next->policy, "fp32", NULL);
    next->scaler = *ulp_scaler_rule_find("none");
    to->count++;
    snprintf(key, sizeof key, "network %s", row.name);
    ulp_plan_note(plan, key, "%s; %zu parameters; batch %zu; rate %.17g%s", words, next->net.params, row.batch,
                  row.rate, row.cosine ? ", to 0 along half a cosine" : "");
    return ulp_plan_amp(plan, &next->policy, &next->scaler, &s->how.amp, &next->net, row.name);
}

ulp_status ulp_networks_load(ulp_plan *plan, ulp_networks *networks, const ulp_networks_settings *s, uint64_t seed,
                             int64_t steps) {
    if (*s->net && ulp_setting_given(plan->arguments, "nets"))
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--net is one network in place of --nets: give one of the two");
    int of_text = !*s->net || ulp_named_net_reads_text(s->net); /* whether all networks read text */
    for (size_t i = 0; i < ULP_NETS_NAMED && !*s->net; i++)
        of_text &= !(s->nets >> i & 1) || ulp_named_net_reads_text(ulp_named_net_get(i)->name);
    const char *set = of_text && !ulp_setting_given(plan->arguments, "set") ? "text" : s->set;
    ULP_TRY(ulp_set_load(plan, &networks->data, &(ulp_set){set, s->data, seed}));
    networks->at = ulp_grow(NULL, ULP_NETS_NAMED * sizeof *networks->at);
    if (*s->net) {
        ulp_named_net own = *ulp_named_net_get(0);
        own.name = "own";
        return add_network(plan, networks, own, s, steps);
    }
    for (size_t i = 0; i < ULP_NETS_NAMED; i++)
        if (s->nets >> i & 1) ULP_TRY(add_network(plan, networks, *ulp_named_net_get(i), s, steps));
    return ULP_OK;
}

void ulp_networks_release(void *own) {
    ulp_networks *networks = own;
    for (size_t i = 0; i < networks->count; i++) ulp_net_release(&networks->at[i].net);
    free(networks->at);
    ulp_data_release(&networks->data);
}

ulp_train_options ulp_network_options(const ulp_network *network, uint64_t seed, const ulp_backend *backend) {
    return (ulp_train_options){.net = &network->net,
                               .policy = &network->policy,
                               .scaler = &network->scaler,
                               .optimizer = &network->optimizer,
                               .batch = network->batch,
                               .seed = seed,
                               .backend = backend};
}

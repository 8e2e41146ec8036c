/* networks.c - the table of networks, and how plan() loads them; see networks.h. */
#include "networks.h"

#include <stdlib.h>

/* X(name, layers, rate, cosine, batch, cost of a step). With cosine = 1 the rate falls to 0 along half a cosine, so
 * that the end of a short run does not depend on the accidents of its last step. */
#define NETWORKS(X)                                                                                                    \
    X(mlp, "fc128 relu fc128 relu fc64 relu fc10", 0.1, 0, 256, 1)                                                     \
    X(small, "fc64 relu fc64 relu fc10", 0.1, 0, 128, 1)                                                               \
    X(cnn, "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc10", 0.05, 1, 32, 1)                                          \
    X(resnet, "conv8@3p1 bn relu pool2 fork conv8@3p1 bn relu conv8@3p1 bn join relu pool2 fc10", 0.03, 1, 32, 2)      \
    X(gru, "rows gru16 last fc10", 0.3, 1, 32, 1)                                                                      \
    X(lstm, "rows lstm16 last fc10", 0.3, 1, 32, 1)
#define ROW(name, ...) {#name, __VA_ARGS__},
#define WORD(name, ...) " " #name

typedef struct network_row {
    const char *name, *text;
    double rate;
    int cosine;
    size_t batch;
    double cost;
} network_row;

static const network_row table[] = {NETWORKS(ROW)};
enum { NETWORKS_MAX = sizeof table / sizeof table[0] };
const char ulp_network_words[] = NETWORKS(WORD);

static ulp_status add_network(ulp_plan *plan, ulp_networks *to, network_row row, const ulp_networks_settings *s,
                              int64_t steps) {
    ulp_error error;
    char key[32];
    ulp_network *next = &to->at[to->count];
    if (s->batch) row.batch = (size_t)s->batch;
    if (s->rate > 0) row.rate = s->rate;
    *next = (ulp_network){.name = row.name, .batch = row.batch, .cost = row.cost};
    next->optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    next->optimizer.rate = row.rate;
    next->optimizer.momentum = s->momentum;
    next->optimizer.cosine = row.cosine ? (uint32_t)steps : 0;
    const ulp_status status = ulp_net_parse(&next->net, row.text, to->data.dims, &error);
    if (status != ULP_OK)
        return ulp_plan_fail(plan, status, "%s%s: %s", *s->net ? "--" : "network ", *s->net ? "net" : row.name,
                             ulp_after_subject(error.text, "net"));
    ulp_policy_parse(&next->policy, "fp32", NULL);
    next->scaler = *ulp_scaler_rule_find("none");
    to->count++;
    snprintf(key, sizeof key, "network %s", row.name);
    ulp_plan_note(plan, key, "%s; %zu parameters; batch %zu; rate %.17g%s", row.text, next->net.params, row.batch,
                  row.rate, row.cosine ? ", to 0 along half a cosine" : "");
    return ulp_plan_amp(plan, &next->policy, &next->scaler, &s->how.amp, &next->net, row.name);
}

ulp_status ulp_networks_load(ulp_plan *plan, ulp_networks *networks, const ulp_networks_settings *s, uint64_t seed,
                             int64_t steps) {
    if (*s->net && ulp_setting_given(plan->arguments, "nets"))
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--net is one network in place of --nets: give one of the two");
    ULP_TRY(ulp_set_load(plan, &networks->data, &(ulp_set){s->set, s->data, seed}));
    networks->at = ulp_grow(NULL, NETWORKS_MAX * sizeof *networks->at);
    if (*s->net) {
        network_row own = table[0];
        own.name = "own";
        own.text = s->net;
        return add_network(plan, networks, own, s, steps);
    }
    for (size_t i = 0; i < NETWORKS_MAX; i++)
        if (s->nets >> i & 1) ULP_TRY(add_network(plan, networks, table[i], s, steps));
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

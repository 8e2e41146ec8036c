/* networks.c - the table of networks, and how plan() loads them; see networks.h. */
#include "networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPT_BLOCK "fork ln attn4 causal join fork ln lin256 gelu lin64 join "
#define VIT_BLOCK "fork ln attn4 join fork ln lin64 gelu lin32 join "
#define ADAMW "adamw,beta2=0.99,decay=0.1,decays=weights,clip=1,warmup=50"

/* X(name, layers, rate, cosine, batch, cost of a step, optimizer). With cosine = 1 the rate falls to 0 along half a
 * cosine, so that the end of a short run does not depend on the accidents of its last step. # stands for the number of
 * tokens of the data. */
#define NETWORKS_OF_ALL(X)                                                                                             \
    X(mlp, "fc128 relu fc128 relu fc64 relu fc10", 0.1, 0, 256, 1, "sgd")                                              \
    X(small, "fc64 relu fc64 relu fc10", 0.1, 0, 128, 1, "sgd")                                                        \
    X(cnn, "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc10", 0.05, 1, 32, 1, "sgd")                                   \
    X(resnet, "conv8@3p1 bn relu pool2 fork conv8@3p1 bn relu conv8@3p1 bn join relu pool2 fc10", 0.03, 1, 32, 2,      \
      "sgd")                                                                                                           \
    X(gru, "rows gru16 last fc10", 0.3, 1, 32, 1, "sgd")                                                               \
    X(lstm, "rows lstm16 last fc10", 0.3, 1, 32, 1, "sgd")
#define NETWORKS(X)                                                                                                    \
    NETWORKS_OF_ALL(X)                                                                                                 \
    X(vit, "patch2 lin32 pos16 " VIT_BLOCK VIT_BLOCK "ln mean fc10", 3e-3, 1, 64, 4, ADAMW)                            \
    X(gpt, "embed64:# pos64 " GPT_BLOCK GPT_BLOCK GPT_BLOCK GPT_BLOCK "ln unembed", 3e-3, 1, 16, 40, ADAMW)
#define ROW(name, ...) {#name, __VA_ARGS__},
#define ONE(name, ...) +1
#define WORD(name, ...) " " #name

typedef struct network_row {
    const char *name, *text;
    double rate;
    int cosine;
    size_t batch;
    double cost;
    const char *optimizer;
} network_row;

static const network_row table[] = {NETWORKS(ROW)};
enum { NETWORKS_MAX = sizeof table / sizeof table[0] };
const char ulp_network_words[] = NETWORKS(WORD);
_Static_assert(((uint64_t)1 << (0 NETWORKS_OF_ALL(ONE))) - 1 == ULP_NETWORKS_ALL,
               "networks.h: the networks before vit");

/* The layers of a row, with the number of tokens in the place of #. */
static void write_layers(char *text, size_t size, const char *layers, const ulp_data *data) {
    const char *mark = strchr(layers, '#');
    if (!mark) snprintf(text, size, "%s", layers);
    else snprintf(text, size, "%.*s%zu%s", (int)(mark - layers), layers, data->classes, mark + 1);
}

static ulp_status add_network(ulp_plan *plan, ulp_networks *to, network_row row, const ulp_networks_settings *s,
                              int64_t steps) {
    ulp_error error;
    char key[32], layers[1024];
    ulp_network *next = &to->at[to->count];
    if (s->batch) row.batch = (size_t)s->batch;
    if (s->rate > 0) row.rate = s->rate;
    *next = (ulp_network){.name = row.name, .batch = row.batch, .cost = row.cost};
    write_layers(layers, sizeof layers, row.text, &to->data);
    row.text = layers;
    ulp_optimizer_parse(&next->optimizer, row.optimizer, NULL);
    next->optimizer.rate = row.rate;
    if (next->optimizer.kind == &ulp_optimizer_sgd) next->optimizer.momentum = s->momentum;
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
    const int of_text = !*s->net && s->nets == (uint64_t)1 << (NETWORKS_MAX - 1); /* gpt alone */
    const char *set = of_text && !ulp_setting_given(plan->arguments, "set") ? "text" : s->set;
    ULP_TRY(ulp_set_load(plan, &networks->data, &(ulp_set){set, s->data, seed}));
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

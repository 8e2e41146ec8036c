/* networks.c - the table of networks, and what a run does with it; see networks.h. */
#include "networks.h"

#include <string.h>

#include "experiments/harness/run.h"

static const ulp_network networks[] = {
    {"mlp", "fc128 relu fc128 relu fc64 relu fc10", 0.1, 0, 256},
    {"small", "fc64 relu fc64 relu fc10", 0.1, 0, 128},
    {"cnn", "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc10", 0.05, 1, 32},
    {"resnet", "conv8@3p1 bn relu pool2 fork conv8@3p1 bn relu conv8@3p1 bn join relu pool2 fc10", 0.03, 1, 32},
    {"gru", "rows gru16 last fc10", 0.3, 1, 32},
    {"lstm", "rows lstm16 last fc10", 0.3, 1, 32},
};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

int ulp_run_network(ulp_network *network, const ulp_run *run, size_t i) {
    const char *own = ulp_option_text(run, "net");
    const ulp_network *found = NULL;
    size_t batch = (size_t)ulp_option_integer(run, "batch");
    double rate = ulp_option_number(run, "rate");
    for (size_t k = 0; !*own && k < NETWORKS && !found; k++)
        if (ulp_option_chosen(run, "nets", networks[k].name) && i-- == 0) found = &networks[k];
    if (*own && i == 0) found = &networks[0];
    if (!found) return 0;
    *network = *found;
    if (*own) network->name = "own", network->text = own;
    if (batch) network->batch = batch;
    if (rate > 0) network->rate = rate;
    return 1;
}

size_t ulp_run_networks(const ulp_run *run) {
    ulp_network network;
    size_t n = 0;
    while (ulp_run_network(&network, run, n)) n++;
    return n;
}

ulp_optimizer_rule ulp_network_optimizer(const ulp_run *run, const ulp_network *network, int64_t steps) {
    ulp_optimizer_rule rule = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    rule.rate = network->rate;
    rule.momentum = ulp_option_number(run, "momentum");
    rule.cosine = network->cosine ? (uint32_t)steps : 0;
    return rule;
}

static ulp_status add_network(ulp_run *run, const ulp_data *data, const ulp_network *network) {
    ulp_net net;
    char key[32];
    ulp_status status = ulp_net_read(run, &net, network->text, data->dims);
    if (status != ULP_OK) return status;
    snprintf(key, sizeof key, "network %s", network->name);
    ulp_header_add(run, key, "%s; %zu parameters; batch %zu; rate %.17g%s", network->text, net.params, network->batch,
                   network->rate, network->cosine ? ", to 0 along half a cosine" : "");
    ulp_net_release(&net);
    return ULP_OK;
}

ulp_status ulp_networks_load(ulp_run *run, void **context) {
    ulp_network network;
    if (!*ulp_option_text(run, "net") && ulp_setting_given(ulp_run_plan(run)->arguments, "net"))
        return ulp_run_fail(run, ULP_BAD_ARGUMENT,
                            "--net '': an empty text is no network; give its layers, \"fc64 relu fc10\" for example");
    if (*ulp_option_text(run, "net") && ulp_setting_given(ulp_run_plan(run)->arguments, "nets"))
        return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net is one network in place of --nets: give one of the two");
    ulp_status status = ulp_context_prepare(run, context, ulp_option_text(run, "set"));
    for (size_t i = 0; status == ULP_OK && ulp_run_network(&network, run, i); i++)
        status = add_network(run, *context, &network);
    return status;
}

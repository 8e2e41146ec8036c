/* load.c - data and policies of a run, loaded, checked and named in its header; see prepare.h. */
#include "load.h"

#include <stdlib.h>

ulp_status ulp_data_prepare(ulp_run *run, ulp_data *data, const char *set) {
    char error[1024];
    ulp_status status = ulp_data_load(data, set, ulp_run_data(run), ulp_run_seed(run), error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    ulp_header_add(run, "data", "%s, crc32 %08x, %zu for training, %zu for tests", data->name, data->checksum,
                   data->n_train, data->n - data->n_train);
    return ULP_OK;
}

ulp_status ulp_context_prepare(ulp_run *run, void **context, const char *set) {
    *context = calloc(1, sizeof(ulp_data));
    return *context ? ulp_data_prepare(run, *context, set) : ULP_NO_MEMORY;
}

void ulp_context_release(void *context) {
    if (context != NULL) ulp_data_release(context);
    free(context);
}

ulp_status ulp_net_read(const ulp_run *run, ulp_net *net, const char *text, ulp_dims in) {
    char error[1536];
    ulp_status status = ulp_net_parse(net, text, in, error, sizeof error);
    return status == ULP_OK ? ULP_OK : ulp_run_fail(run, status, "%s", error);
}

ulp_status ulp_policy_read(const ulp_run *run, ulp_policy *policy, const char *text, const char *of) {
    char error[1024];
    ulp_status status = ulp_policy_parse(policy, text, error, sizeof error);
    return status == ULP_OK ? ULP_OK : ulp_run_fail(run, status, "%s: %s", of, error);
}

ulp_status ulp_optimizer_read(const ulp_run *run, ulp_optimizer_rule *rule, const char *text) {
    char error[1024];
    ulp_status status = ulp_optimizer_parse(rule, text, error, sizeof error);
    return status == ULP_OK ? ULP_OK : ulp_run_fail(run, status, "%s", error);
}

ulp_status ulp_policy_prepare(const ulp_run *run, char full[ULP_POLICY_TEXT_MAX], const ulp_policy *policy,
                              const char *of) {
    char error[1024];
    ulp_status status = ulp_policy_check(policy, error, sizeof error);
    if (status == ULP_OK) status = ulp_policy_runs_on(policy, ulp_run_backend(run)->name, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s: %s", of, error);
    return ulp_policy_print(full, ULP_POLICY_TEXT_MAX, policy);
}

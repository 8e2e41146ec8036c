/* fixed_point.c - can a network be trained in 16-bit fixed point, with nearest and with stochastic rounding? */
#include "harness/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/train.h"

#define MLP "fc1000 relu fc1000 relu fc10"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("q2.14,q6.10,q8.8", NULL),
    ULP_TAKES_MODES("rne,sra", NULL),
    {"policy", ULP_OPTION_TEXT, "weight=%,act=%,out=fp32,agrad=%,wgrad=%", NULL, NULL, "what is rounded; % stands for FORMAT/MODE", 0, 0, NULL, 0},
    {"scale", ULP_OPTION_INTEGER, "7", NULL, NULL, "log2 of what the mean loss is multiplied by", -126, 126, NULL, 0},
    {"net", ULP_OPTION_TEXT, "fc100 relu fc100 relu fc10", NULL, MLP, "the network, layer by layer", 0, 0, NULL, 0},
    {"std", ULP_OPTION_NUMBER, "0.1", NULL, "0.01", "standard deviation of the initial weights; 0: He and Glorot", 0, 100, NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "100", NULL, NULL, "samples per step", 1, 60000, NULL, 0},
    {"epochs", ULP_OPTION_INTEGER, "30", "10", "30", "trips through the training part", 1, 1e5, NULL, 0},
    {"rate", ULP_OPTION_NUMBER, "0.4", NULL, NULL, "learning rate", 0, 1000, NULL, 0},
    {"set", ULP_OPTION_TEXT, "digits", NULL, NULL, "the data set: digits or mnist", 0, 0, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("5", "2", "3"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { REFERENCE = -1, AT_FORMAT = 0, AT_MODE, AT_SEED };

/* The policy of one setting: the text of --policy with FORMAT/MODE in place of every %. */
static void policy_text(const ulp_run *run, char *text, size_t size, const ulp_point *point) {
    size_t formats, modes, used = 0;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    text[0] = 0;
    if (point->at[AT_FORMAT] == REFERENCE) {
        snprintf(text, size, "fp32");
        return;
    }
    for (const char *c = ulp_option_text(run, "policy"); *c && used < size; c++) {
        if (*c == '%') used += (size_t)snprintf(text + used, size - used, "%s/%s", format[point->at[AT_FORMAT]].name, mode[point->at[AT_MODE]].name);
        else used += (size_t)snprintf(text + used, size - used, "%c", *c);
    }
}

static ulp_status add_run(ulp_run *run, int64_t format, int64_t mode, int64_t seed) {
    char text[512], full[ULP_POLICY_TEXT_MAX], error[1024];
    size_t formats, modes;
    const ulp_format *f = ulp_run_formats(run, &formats);
    const ulp_named_rule *m = ulp_run_modes(run, &modes);
    ulp_policy policy;
    ulp_point point = {.at = {format, mode, seed}};
    policy_text(run, text, sizeof text, &point);
    ulp_status status = ulp_policy_parse(&policy, text, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "--policy: %s", error);
    if (seed == (int64_t)ulp_run_seed(run)) {
        status = ulp_policy_print(full, sizeof full, &policy);
        if (status == ULP_OK) ulp_header_add(run, "policy in full", "%s", full);
    }
    if (format == REFERENCE) ulp_point_add(run, point, "binary32 seed %lld", (long long)seed);
    else ulp_point_add(run, point, "%s %s seed %lld", f[format].name, m[mode].name, (long long)seed);
    return status;
}

static ulp_status prepare(ulp_run *run, void **context) {
    char error[1024];
    size_t formats, modes;
    ulp_data *data = calloc(1, sizeof *data);
    if (data == NULL) return ULP_NO_MEMORY;
    *context = data;
    ulp_run_formats(run, &formats);
    ulp_run_modes(run, &modes);
    ulp_status status = ulp_data_load(data, ulp_option_text(run, "set"), ulp_run_data(run), ulp_run_seed(run), error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    ulp_header_add(run, "data", "%s, crc32 %08x, %zu for training, %zu for tests", data->name, data->checksum, data->n_train, data->n - data->n_train);
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds") && status == ULP_OK; s++) {
        int64_t seed = (int64_t)ulp_run_seed(run) + s;
        status = add_run(run, REFERENCE, 0, seed);
        for (size_t f = 0; f < formats; f++)
            for (size_t m = 0; m < modes && status == ULP_OK; m++) status = add_run(run, (int64_t)f, (int64_t)m, seed);
    }
    return status;
}

static void put_row(const ulp_run *run, const ulp_point *point, ulp_rows *rows, const char *what, int64_t epoch, double loss, double train, double test, double moved, int diverged) {
    size_t formats, modes;
    const ulp_format *f = ulp_run_formats(run, &formats);
    const ulp_named_rule *m = ulp_run_modes(run, &modes);
    ulp_put_text(rows, point->at[AT_FORMAT] == REFERENCE ? "binary32" : f[point->at[AT_FORMAT]].name);
    if (point->at[AT_FORMAT] == REFERENCE) ulp_put_none(rows);
    else ulp_put_text(rows, m[point->at[AT_MODE]].name);
    ulp_put_integer(rows, point->at[AT_SEED]);
    ulp_put_text(rows, what);
    ulp_put_integer(rows, epoch);
    ulp_put_number(rows, loss);
    if (isnan(train)) ulp_put_none(rows);
    else ulp_put_number(rows, train);
    ulp_put_number(rows, test);
    ulp_put_number(rows, moved);
    ulp_put_integer(rows, diverged);
    ulp_row_end(rows);
}

static ulp_status train(const ulp_run *run, ulp_trainer *t, const ulp_point *point, ulp_rows *rows) {
    int64_t epochs = ulp_option_integer(run, "epochs");
    uint64_t per_epoch = t->data->n_train / t->model.batch;
    size_t n = t->model.net.params;
    float *before = malloc(2 * n * sizeof *before), *after = before + n;
    int diverged = 0;
    double moved = 0;
    ulp_score test = {0}, learned = {0};
    ulp_status status = before ? ULP_OK : ULP_NO_MEMORY;
    for (int64_t e = 1; e <= epochs && status == ULP_OK; e++) {
        double loss = 0;
        for (uint64_t i = 0; i < per_epoch && status == ULP_OK; i++) {
            ulp_step step = {0};
            if (i + 1 == per_epoch) status = ulp_trainer_weights(t, before, NULL);
            if (status == ULP_OK) status = ulp_trainer_step(t, &step);
            loss += step.loss;
            diverged |= !isfinite(step.loss);
            if (i % 32 == 0 && ulp_rows_progress(rows, ((double)(e - 1) + (double)i / (double)per_epoch) / (double)epochs)) goto out;
        }
        if (status == ULP_OK) status = ulp_trainer_weights(t, after, NULL);
        size_t changed = 0;
        for (size_t i = 0; i < n; i++) changed += before[i] != after[i];
        moved = (double)changed / (double)n;
        if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &test);
        if (status == ULP_OK) put_row(run, point, rows, "epoch", e, loss / (double)per_epoch, NAN, 100 * (1 - test.accuracy), moved, diverged);
        if (getenv("FP_TRACE")) fprintf(stderr, "%s epoch %lld loss %.4f test %.2f moved %.4f\n", point->label, (long long)e, loss / (double)per_epoch, 100 * (1 - test.accuracy), moved);
    }
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TRAIN_PART, &learned);
    if (status == ULP_OK) put_row(run, point, rows, "final", epochs, learned.loss, 100 * (1 - learned.accuracy), 100 * (1 - test.accuracy), moved, diverged);
out:
    free(before);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    char policy[512], scaler[32], error[1024];
    policy_text(run, policy, sizeof policy, point);
    snprintf(scaler, sizeof scaler, "static:%lld", (long long)ulp_option_integer(run, "scale"));
    ulp_train_options o = {
        .net = ulp_option_text(run, "net"),
        .policy = policy,
        .scaler = scaler,
        .sgd = {ulp_option_number(run, "rate"), 0, 0},
        .batch = (size_t)ulp_option_integer(run, "batch"),
        .init_std = ulp_option_number(run, "std"),
        .seed = (uint64_t)point->at[AT_SEED],
        .backend = ulp_run_backend(run),
    };
    ulp_trainer *t;
    ulp_status status = ulp_trainer_new(&t, context, &o, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    status = train(run, t, point, rows);
    ulp_trainer_free(t);
    return status;
}

static void release(void *context) {
    if (context != NULL) ulp_data_release(context);
    free(context);
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    for (long row = 0; (row = ulp_row_find(run, row, "what", "final", (const char *)NULL)) != ULP_NO_ROW; row++)
        printf("%s %s %s loss %s train %s test %s\n", ulp_row_text(run, row, "format"), ulp_row_text(run, row, "mode"), ulp_row_text(run, row, "seed"), ulp_row_text(run, row, "loss"), ulp_row_text(run, row, "train_error"), ulp_row_text(run, row, "test_error"));
}

static const ulp_experiment experiment = {
    .name = "fixed_point",
    .question = "can a network be trained in 16-bit fixed point, with nearest and with stochastic rounding?",
    .columns = "format,mode,seed,what,epoch,loss,train_error,test_error,moved,diverged",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }

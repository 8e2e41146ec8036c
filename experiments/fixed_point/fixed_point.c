/* fixed_point.c - can a network be trained in 16-bit fixed point, with nearest and with stochastic rounding?
 *
 * A fully connected network learns digits with weights, biases, activations and all gradients in qI.F, without master
 * weights, once rounded to nearest and once stochastically, beside binary32. Rows `epoch` are the learning curve: mean
 * training loss of the epoch's steps, errors in percent, and moved, the share of the weights that the epoch's last step
 * changed. Rows `final` hold the loss over the whole training part.
 *
 * What the policy of every setting says: a sum of products is formed in binary32 and rounded once; what enters the
 * softmax is not rounded (out=fp32); an update w - rate g is formed exactly and rounded once into the weight's format,
 * so that one smaller than half a quantum is lost to nearest rounding. The gradients are those of 2^7 times the mean
 * over 100 samples, which is 1.28 times their sum: the paper does not say whether its gradients are of the sum or of
 * the mean, but with those of the mean, 100 times smaller, most of them vanish in q8.8 and nothing is learned. The rate
 * divides the factor out again. Its value is not published either; 0.4, with initial weights N(0, 0.01^2), is constant
 * over the run. Ties go to even, the paper's toward minus infinity; fixed point saturates.
 *
 * After Gupta et al. 2015, "Deep learning with limited numerical precision", arXiv:1502.02551, section 4, whose run is
 * --full --set mnist. Its convolutional one, of which weights and gradients change their format and layer outputs are
 * <6,10> in all cases, adds --net "conv8@5 relu pool2 conv16@5 relu pool2 fc128 relu fc10" --formats q2.14,q4.12
 * --policy weight=%,act=q6.10/%,out=fp32,agrad=%,wgrad=% --optimizer
 * sgd,rate=0.03,momentum=0.9,decay=5e-4,drop=0.95/600 --scale 0. The paper's rate is 0.1, which in our form of
 * momentum, a sum and not a mean, ends at 2.5 % in binary32. With --scale 7 nearest rounding learns in q2.14, too.
 * <IL,FL> there is qIL.FL here, the sign counted in IL. The claims about the digits, with a smaller network and larger
 * initial weights, are about the training loss: 360 test samples cannot tell 3 % from 3.5 %. There q2.14 is worst in
 * both modes, for the activations of that network go beyond 2 and saturate: with act=fp32 in --policy and all else in
 * q2.14 the loss is that of binary32. The convolutional network learns nothing with activations in q2.14.
 */
#include "experiments/harness/training/load.h"
#include "experiments/harness/training/training.h"

#include <math.h>
#include <string.h>

#define MLP "fc1000 relu fc1000 relu fc10"
#define CNN "conv8@5 relu pool2 conv16@5 relu pool2 fc128 relu fc10"
#define POLICY "weight=%,act=%,out=fp32,agrad=%,wgrad=%"
#define POLICY_OF_CNN "weight=%,act=q6.10/%,out=fp32,agrad=%,wgrad=%"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("q2.14,q6.10,q8.8", NULL),
    ULP_TAKES_MODES("rne,sra", NULL),
    {"policy", ULP_OPTION_TEXT, POLICY, NULL, NULL, "what is rounded; % stands for FORMAT/MODE, after a / for MODE", 0,
     0, NULL, 0},
    {"scale", ULP_OPTION_INTEGER, "7", NULL, NULL, "log2 of what the mean loss is multiplied by", -126, 126, NULL, 0},
    {"net", ULP_OPTION_TEXT, "fc100 relu fc100 relu fc10", NULL, MLP, "the network, layer by layer", 0, 0, NULL, 0},
    {"std", ULP_OPTION_NUMBER, "0.1", NULL, "0.01", "standard deviation of the initial weights; 0: He and Glorot", 0,
     100, NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "100", NULL, NULL, "samples per step", 1, 60000, NULL, 0},
    {"epochs", ULP_OPTION_INTEGER, "50", "50", "30", "trips through the training part", 1, 1e5, NULL, 0},
    {"optimizer", ULP_OPTION_TEXT, "sgd,rate=0.4", NULL, NULL, "and its rate; sim/optim.h", 0, 0, NULL, 0},
    ULP_TAKES_SET,
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "2", "3"),
    ULP_TAKES_CHECKPOINT,
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { REFERENCE = -1, AT_FORMAT = 0, AT_MODE, AT_SEED };

/* ---- the grid ---- */

/* The policy of one setting: the text of --policy with FORMAT/MODE in place of every %, MODE where a / stands before
 * it. */
static void policy_text(const ulp_run *run, char *text, size_t size, const ulp_point *point) {
    size_t formats, modes, used = 0;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    text[0] = 0;
    if (point->at[AT_FORMAT] == REFERENCE) {
        snprintf(text, size, "fp32");
        return;
    }
    const char *given = ulp_option_text(run, "policy");
    for (const char *c = given; *c && used < size; c++) {
        if (*c == '%' && c > given && c[-1] == '/')
            used += (size_t)snprintf(text + used, size - used, "%s", mode[point->at[AT_MODE]].name);
        else if (*c == '%')
            used += (size_t)snprintf(text + used, size - used, "%s/%s", format[point->at[AT_FORMAT]].name,
                                     mode[point->at[AT_MODE]].name);
        else used += (size_t)snprintf(text + used, size - used, "%c", *c);
    }
}

static ulp_status read_setting(ulp_training_rules *to, const ulp_run *run, const ulp_data *data,
                               const ulp_point *point) {
    char policy[512];
    policy_text(run, policy, sizeof policy, point);
    to->scaler = ulp_scaler_static((int)ulp_option_integer(run, "scale"));
    to->options = (ulp_train_options){.net = &to->net,
                                      .policy = &to->policy,
                                      .scaler = &to->scaler,
                                      .optimizer = &to->optimizer,
                                      .batch = (size_t)ulp_option_integer(run, "batch"),
                                      .init_std = ulp_option_number(run, "std"),
                                      .seed = (uint64_t)point->at[AT_SEED],
                                      .backend = ulp_run_backend(run)};
    ulp_status status = ulp_net_read(run, &to->net, ulp_option_text(run, "net"), data->dims);
    if (status == ULP_OK) status = ulp_policy_read(run, &to->policy, policy, "--policy");
    return status == ULP_OK ? ulp_optimizer_read(run, &to->optimizer, ulp_option_text(run, "optimizer")) : status;
}

static ulp_status add_run(ulp_run *run, const ulp_data *data, int64_t format, int64_t mode, int64_t seed) {
    ulp_training_rules r;
    char full[ULP_POLICY_TEXT_MAX];
    size_t formats, modes;
    const ulp_format *f = ulp_run_formats(run, &formats);
    const ulp_named_rule *m = ulp_run_modes(run, &modes);
    ulp_point point = {.at = {format, mode, seed}};
    ulp_status status = read_setting(&r, run, data, &point);
    if (status == ULP_OK) status = ulp_policy_prepare(run, full, &r.policy, "--policy");
    if (status == ULP_OK) status = ulp_training_check(ulp_run_plan(run), data, &r.options);
    ulp_net_release(&r.net);
    if (status != ULP_OK) return status;
    if (seed == (int64_t)ulp_run_seed(run)) ulp_header_add(run, "policy in full", "%s", full);
    if (format == REFERENCE) ulp_point_add(run, point, "binary32 seed %lld", (long long)seed);
    else ulp_point_add(run, point, "%s %s seed %lld", f[format].name, m[mode].name, (long long)seed);
    return ULP_OK;
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, modes;
    ulp_run_formats(run, &formats);
    ulp_run_modes(run, &modes);
    ulp_status status = ulp_context_prepare(run, context, ulp_option_text(run, "set"));
    if (status != ULP_OK) return status;
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds") && status == ULP_OK; s++) {
        int64_t seed = (int64_t)ulp_run_seed(run) + s;
        status = add_run(run, *context, REFERENCE, 0, seed);
        for (size_t f = 0; f < formats; f++)
            for (size_t m = 0; m < modes && status == ULP_OK; m++)
                status = add_run(run, *context, (int64_t)f, (int64_t)m, seed);
    }
    return status;
}

/* ---- one run ---- */

/* A run's place in the grid, for its rows. */
typedef struct key {
    const ulp_run *run;
    const ulp_point *point;
} key;

static void put_row(const key *k, ulp_rows *rows, const ulp_stretch *s, int summary) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(k->run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(k->run, &modes);
    int reference = k->point->at[AT_FORMAT] == REFERENCE;
    ulp_put_text(rows, reference ? "binary32" : format[k->point->at[AT_FORMAT]].name);
    if (reference) ulp_put_none(rows);
    else ulp_put_text(rows, mode[k->point->at[AT_MODE]].name);
    ulp_put_integer(rows, k->point->at[AT_SEED]);
    ulp_put_text(rows, summary ? "final" : "epoch");
    ulp_put_integer(rows, (int64_t)s->epochs);
    ulp_put_number(rows, summary ? s->learned.loss : s->loss);
    if (summary) ulp_put_number(rows, 100 * (1 - s->learned.accuracy));
    else ulp_put_none(rows);
    ulp_put_number(rows, 100 * (1 - s->test.accuracy));
    ulp_put_number(rows, s->moved);
    ulp_put_integer(rows, s->diverged);
    ulp_row_end(rows);
}

/* After every epoch; after the last one also the summary. */
static ulp_status record(void *own, ulp_trainer *t, const ulp_stretch *s, ulp_rows *rows) {
    (void)t;
    for (int summary = 0; summary <= s->last; summary++) put_row(own, rows, s, summary);
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    ulp_training_rules r;
    key k = {run, point};
    const uint64_t per_epoch = ulp_epoch_steps(context, (size_t)ulp_option_integer(run, "batch"));
    ulp_status status = read_setting(&r, run, context, point);
    const ulp_training training = {
        .checkpoint = ulp_option_number(run, "checkpoint"),
        .data = context,
        .options = r.options,
        .steps = per_epoch * (uint64_t)ulp_option_integer(run, "epochs"),
        .every = per_epoch,
        .want_moved = 1,
        .want_learned = 1,
        .record = record,
        .own = &k,
    };
    if (status == ULP_OK) status = ulp_training_run(ulp_rows_task(rows), &training);
    ulp_net_release(&r.net);
    return status;
}

/* ---- claims ---- */

static ulp_spread spread_of(const ulp_run *run, const char *column, const char *format, const char *mode) {
    return ulp_row_spread(run, column, "what", "final", "format", format, "mode", mode, (const char *)NULL);
}

static double mean_of(const ulp_run *run, const char *column, const char *format, const char *mode) {
    return spread_of(run, column, format, mode).mean;
}

static void put_setting(ulp_sheet *table, const ulp_run *run, const char *format, const char *mode) {
    ulp_spread test = spread_of(run, "test_error", format, mode), diverged = spread_of(run, "diverged", format, mode);
    ulp_sheet_put(table, "%s", format);
    ulp_sheet_put(table, "%s", *mode ? mode : "-");
    ulp_sheet_put(table, "%.2f", test.mean);
    ulp_sheet_put(table, "%.2f", test.least);
    ulp_sheet_put(table, "%.2f", test.most);
    ulp_sheet_put(table, "%.5f", mean_of(run, "loss", format, mode));
    ulp_sheet_put(table, "%.2f", 100 * mean_of(run, "moved", format, mode));
    ulp_sheet_put(table, "%.0f of %d", diverged.mean * diverged.n, diverged.n);
}

static void print_table(const ulp_run *run) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    ulp_sheet *table = ulp_sheet_new("after the last epoch, over the seeds; errors and moved weights in percent",
                                     "format,mode,test error,least,most,training loss,moved,diverged");
    put_setting(table, run, "binary32", "");
    for (size_t f = 0; f < formats; f++)
        for (size_t m = 0; m < modes; m++) put_setting(table, run, format[f].name, mode[m].name);
    ulp_sheet_print(table, ulp_run_people(run));
}

/* What the claims about a set and a network are for. */
static const ulp_wanted common[] = {{"batch", "100", 0}, {0}};
static const ulp_wanted of_digits[] = {{"set", "digits", 0}, {"policy", POLICY, 0},
                                       {"scale", "7", 0},    {"net", "fc100 relu fc100 relu fc10", 0},
                                       {"std", "0.1", 0},    {"optimizer", "sgd,rate=0.4", 0},
                                       {"epochs", "50", 1},  {0}};
static const ulp_wanted of_mnist[] = {{"set", "mnist", 0}, {"policy", POLICY, 0}, {"scale", "7", 0},
                                      {"net", MLP, 0},     {"std", "0.01", 0},    {"optimizer", "sgd,rate=0.4", 0},
                                      {"epochs", "30", 0}, {"seeds", "3", 1},     {0}};
static const ulp_wanted of_cnn[] = {{"set", "mnist", 0}, {"policy", POLICY_OF_CNN, 0}, {"scale", "0", 0},
                                    {"net", CNN, 0},     {"epochs", "10", 1},          {0}};

static int has_rows(const ulp_run *run, const char *format, const char *mode) {
    return spread_of(run, "loss", format, mode).n > 0;
}

/* A claim that needs settings of the grid: skipped without them. */
static int lacks(ulp_run *run, const char *text, const char *const pairs[], size_t count) {
    for (size_t i = 0; i < count; i += 2)
        if (!has_rows(run, pairs[i], pairs[i + 1])) {
            ulp_claim_skip(ulp_run_claims(run), text, "it needs %s %s", pairs[i], pairs[i + 1]);
            return 1;
        }
    return 0;
}

#define NEEDS(...)                                                                                                     \
    lacks(run, text, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void claim_digits(ulp_run *run) {
    double loss = mean_of(run, "loss", "binary32", "");
    const char *text = "stochastic q6.10 and q8.8 end with the training loss of binary32, within 10 %";
    if (!NEEDS("q6.10", "sra", "q8.8", "sra")) {
        double ten = mean_of(run, "loss", "q6.10", "sra"), eight = mean_of(run, "loss", "q8.8", "sra");
        ulp_claim(ulp_run_claims(run), fabs(ten / loss - 1) <= 0.1 && fabs(eight / loss - 1) <= 0.1, text,
                  "%.5f, %.5f; binary32 %.5f", ten, eight, loss);
    }
    text = "rounded to nearest, fewer fractional bits leave more loss: q8.8 at least 1.5 times that of binary32, q6.10 "
           "between them";
    if (!NEEDS("q6.10", "rne", "q8.8", "rne")) {
        double ten = mean_of(run, "loss", "q6.10", "rne"), eight = mean_of(run, "loss", "q8.8", "rne");
        ulp_claim(ulp_run_claims(run), eight >= 1.5 * loss && ten > loss && ten < eight, text,
                  "%.5f, %.5f; binary32 %.5f", ten, eight, loss);
    }
    text = "updates vanish: over the epochs a step in q8.8 moves fewer weights with nearest than with stochastic "
           "rounding, by a fifth or more";
    if (!NEEDS("q8.8", "rne", "q8.8", "sra")) {
        ulp_spread nearest =
            ulp_row_spread(run, "moved", "what", "epoch", "format", "q8.8", "mode", "rne", (const char *)NULL);
        ulp_spread stochastic =
            ulp_row_spread(run, "moved", "what", "epoch", "format", "q8.8", "mode", "sra", (const char *)NULL);
        ulp_claim(ulp_run_claims(run), nearest.mean <= 0.8 * stochastic.mean, text, "%.2f %% and %.2f %%",
                  100 * nearest.mean, 100 * stochastic.mean);
    }
    text = "q2.14, with the finest steps but a range that ends at 2, ends above binary32 in both modes";
    if (!NEEDS("q2.14", "rne", "q2.14", "sra")) {
        double nearest = mean_of(run, "loss", "q2.14", "rne"), stochastic = mean_of(run, "loss", "q2.14", "sra");
        ulp_claim(ulp_run_claims(run), nearest > loss && stochastic > loss, text, "%.5f, %.5f; binary32 %.5f", nearest,
                  stochastic, loss);
    }
}

/* Gupta et al. 2015, figures 1 and 2, read at 30 epochs, and the convolutional network of figure 3. Of binary32 the
 * error itself is claimed, of a format how far it is above that of the same run's binary32, in points: what counts is
 * the order and the gaps, within 0.25 points of the published ones; of stochastic q2.14 to q8.8, 0.1 above binary32
 * there, within 0.35. */
typedef struct fact {
    const char *format, *mode, *published;
    double low, high;
} fact;

static const fact facts[] = {
    {"binary32", "", "1.4", 1.15, 1.65},
    {"q2.14", "rne", "1.45", 0.05 - 0.25, 0.05 + 0.25},
    {"q6.10", "rne", "1.7", 0.3 - 0.25, 0.3 + 0.25},
    {"q8.8", "rne", "3.0 and worse", 1.6 - 0.25, 100},
    {"q2.14", "sra", "1.45 to 1.5", -0.35, 0.35},
    {"q6.10", "sra", "1.45 to 1.5", -0.35, 0.35},
    {"q8.8", "sra", "1.45 to 1.5", -0.35, 0.35},
};
static const fact facts_of_cnn[] = {{"binary32", "", "0.77", 0.52, 1.02},
                                    {"q2.14", "sra", "0.83", 0.06 - 0.25, 0.06 + 0.25},
                                    {"q4.12", "sra", "0.90", 0.13 - 0.25, 0.13 + 0.25}};

static void claim_facts(ulp_run *run, const fact *f, size_t count) {
    double reference = mean_of(run, "test_error", "binary32", "");
    for (const fact *end = f + count; f < end; f++) {
        char text[160], what[64];
        double error = mean_of(run, "test_error", f->format, f->mode), gap = error - reference;
        int is_reference = !*f->mode;
        if (isnan(error)) continue;
        snprintf(what, sizeof what, "%s%s%s: test error, %%", f->format, *f->mode ? " " : "", f->mode);
        ulp_beside(ulp_run_claims(run), &(ulp_published){what, "Gupta et al. 2015", f->published}, "%.2f", error);
        if (is_reference)
            snprintf(text, sizeof text, "%s: the mean test error is from %.2f %% to %.2f %%", f->format, f->low,
                     f->high);
        else if (f->high < 100)
            snprintf(text, sizeof text, "%s %s: the mean test error is %.2f to %.2f points above that of binary32",
                     f->format, f->mode, f->low, f->high);
        else
            snprintf(text, sizeof text, "%s %s: the mean test error is %.2f points or more above that of binary32",
                     f->format, f->mode, f->low);
        double judged = is_reference ? error : gap;
        ulp_claim(ulp_run_claims(run), judged >= f->low && judged <= f->high, text,
                  "%.2f %%; published %s; binary32 %.2f %%", error, f->published, reference);
    }
}

static void claim_mnist(ulp_run *run) {
    claim_facts(run, facts, sizeof facts / sizeof facts[0]);
    const char *text = "rounded to nearest, fewer fractional bits mean more errors: q2.14 below q6.10 below q8.8";
    if (!NEEDS("q2.14", "rne", "q6.10", "rne", "q8.8", "rne")) {
        double a = mean_of(run, "test_error", "q2.14", "rne"), b = mean_of(run, "test_error", "q6.10", "rne"),
               c = mean_of(run, "test_error", "q8.8", "rne");
        ulp_claim(ulp_run_claims(run), a < b && b < c, text, "%.2f %%, %.2f %%, %.2f %%", a, b, c);
    }
}

static void claim_cnn(ulp_run *run) {
    claim_facts(run, facts_of_cnn, sizeof facts_of_cnn / sizeof facts_of_cnn[0]);
    static const char *const formats[] = {"q2.14", "q4.12"};
    for (size_t i = 0; i < 2; i++) {
        char text[160];
        snprintf(text, sizeof text, "%s to nearest: the network fails, 50 %% of the tests or more are wrong",
                 formats[i]);
        double nearest = mean_of(run, "test_error", formats[i], "rne");
        if (!NEEDS(formats[i], "rne")) ulp_claim(ulp_run_claims(run), nearest >= 50, text, "%.2f %%", nearest);
        snprintf(text, sizeof text, "%s errs more rounded to nearest than stochastically", formats[i]);
        double stochastic = mean_of(run, "test_error", formats[i], "sra");
        if (!NEEDS(formats[i], "rne", formats[i], "sra"))
            ulp_claim(ulp_run_claims(run), nearest > stochastic, text, "%.2f %%, %.2f %%", nearest, stochastic);
    }
}

static void check(ulp_run *run, const void *context) {
    int cnn = strcmp(ulp_option_text(run, "net"), CNN) == 0;
    int mnist = strcmp(ulp_option_text(run, "set"), "mnist") == 0;
    char why[320];
    (void)context;
    print_table(run);
    if (ulp_options_are_other(ulp_run_claims(run), common, why, sizeof why) ||
        ulp_options_are_other(ulp_run_claims(run),
                              cnn     ? of_cnn
                              : mnist ? of_mnist
                                      : of_digits,
                              why, sizeof why))
        ulp_claim_skip(ulp_run_claims(run),
                       mnist ? "the published test errors" : "stochastic rounding keeps what nearest rounding loses",
                       "%s", why);
    else if (cnn) claim_cnn(run);
    else if (mnist) claim_mnist(run);
    else claim_digits(run);
}

static const ulp_experiment experiment = {
    .name = "fixed_point",
    .question = "can a network be trained in 16-bit fixed point, with nearest and with stochastic rounding?",
    .columns = "format,mode,seed,what,epoch,loss,train_error,test_error,moved,diverged",
    .options = options,
    .takes_format = ulp_format_with_sign,
    .format_wants = ULP_WANTS_WITH_SIGN,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }

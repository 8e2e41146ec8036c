/* claims.c - the table of fixed_point, and the claims about its rows. */
#include "fixed_point.h"

#include <math.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"

/* The names of a format and a rounding mode. Without a mode, `named` stands for binary32. */
typedef struct named {
    const char *format, *mode;
} named;

static const named binary32 = {"binary32", NULL};

static int is_of(const point *p, named n) {
    if (!n.mode) return !p->format;
    return p->format && strcmp(p->format->name, n.format) == 0 && strcmp(p->rule->name, n.mode) == 0;
}

/* The spread, over the seeds, of the column at offset `at` (a double in the row struct), for the rows of one kind
 * (`what`) and one epoch (ANY: of all epochs). */
enum { ANY = -1 };
static ulp_spread spread_of(const ulp_claims *c, int what, int64_t epoch, named n, size_t at) {
    const row *rows = c->table->rows;
    ulp_numbers numbers = {0};
    for (size_t i = 0; i < c->table->count; i++)
        if (rows[i].what == what && (epoch == ANY || rows[i].epoch == epoch) && is_of(c->table->points[i], n))
            ulp_numbers_add(&numbers, *(const double *)(const void *)((const char *)&rows[i] + at));
    return ulp_numbers_take(&numbers);
}

static double loss_of(const ulp_claims *c, named n) { return spread_of(c, FINAL, ANY, n, offsetof(row, loss)).mean; }
static double error_of(const ulp_claims *c, named n) {
    return spread_of(c, FINAL, ANY, n, offsetof(row, test_error)).mean;
}

/* The number of runs of a setting that diverged. *runs gets the number of runs of the setting. */
static int diverged(const ulp_claims *c, named n, int *runs) {
    const row *rows = c->table->rows;
    int count = 0;
    *runs = 0;
    for (size_t i = 0; i < c->table->count; i++)
        if (rows[i].what == FINAL && is_of(c->table->points[i], n)) {
            count += rows[i].diverged != 0;
            ++*runs;
        }
    return count;
}

/* The curve of a setting in the figure: the test error for MNIST, which is large enough to show differences of test
 * errors, else the loss. */
static void sum_up_curve(ulp_claims *c, named n) {
    const settings *set = c->settings;
    const size_t drawn = strcmp(set->lesson.set, "mnist") == 0 ? offsetof(row, test_error) : offsetof(row, loss);
    const char *mode = n.mode ? n.mode : "-";
    for (int64_t epoch = 1; epoch <= set->lesson.epochs; epoch++) {
        const ulp_spread spread = spread_of(c, EPOCH, epoch, n, drawn);
        if (spread.n == 0) continue;
        ulp_summary(c, "median at an epoch", spread.median, "%s %s %lld", n.format, mode, (long long)epoch);
        ulp_summary(c, "least at an epoch", spread.least, "%s %s %lld", n.format, mode, (long long)epoch);
        ulp_summary(c, "largest at an epoch", spread.most, "%s %s %lld", n.format, mode, (long long)epoch);
    }
}

static void put_setting(ulp_sheet *table, ulp_claims *c, named n) {
    const ulp_spread test = spread_of(c, FINAL, ANY, n, offsetof(row, test_error));
    int runs, lost = diverged(c, n, &runs);
    ulp_sheet_put_row(table, "%s,%s,%.2f,%.2f,%.2f,%.5f,%.2f,%d of %d", n.format, n.mode ? n.mode : "-", test.mean,
                      test.least, test.most, loss_of(c, n),
                      100 * spread_of(c, FINAL, ANY, n, offsetof(row, moved)).mean, lost, runs);
    sum_up_curve(c, n);
}

static void print_table(ulp_claims *c) {
    const settings *set = c->settings;
    ulp_sheet *table = ulp_sheet_new("after the last epoch, over the seeds; errors and moved weights in percent",
                                     "format,mode,test error,least,most,training loss,moved,diverged");
    put_setting(table, c, binary32);
    if (set->lesson.how.amp.bits) put_setting(table, c, (named){set->lesson.how.amp.name, BY_LISTS});
    for (size_t f = 0; f < set->formats.count; f++)
        for (size_t m = 0; m < set->modes.count; m++)
            put_setting(table, c, (named){set->formats.at[f].name, set->modes.at[m].name});
    ulp_sheet_print(table, c->file);
}

/* Skips the claim `text` and returns 1 if this run lacks one of the needed settings. The list of settings ends with
 * {0}. */
static int lacks(ulp_claims *c, const char *text, const named *needed) {
    for (const named *n = needed; n->format; n++)
        if (spread_of(c, FINAL, ANY, *n, offsetof(row, loss)).n == 0) {
            ulp_claim_skip(c, text, "it needs %s %s", n->format, n->mode);
            return 1;
        }
    return 0;
}

/* ---- the digits ---- */

static const named q2_14_near = {"q2.14", "rne"}, q2_14_random = {"q2.14", "sra"};
static const named q6_10_near = {"q6.10", "rne"}, q6_10_random = {"q6.10", "sra"};
static const named q8_8_near = {"q8.8", "rne"}, q8_8_random = {"q8.8", "sra"};

static void claim_stochastic(ulp_claims *c, double loss) {
    const char *text = "stochastic q6.10 and q8.8 end with the training loss of binary32, within 10 %";
    if (lacks(c, text, (const named[]){q6_10_random, q8_8_random, {0}})) return;
    const double ten = loss_of(c, q6_10_random), eight = loss_of(c, q8_8_random);
    ulp_claim(c, fabs(ten / loss - 1) <= 0.1 && fabs(eight / loss - 1) <= 0.1, text, "%.5f, %.5f; binary32 %.5f", ten,
              eight, loss);
}

static void claim_nearest(ulp_claims *c, double loss) {
    const char *text = "rounded to nearest, fewer fractional bits leave more loss: q8.8 at least 1.5 times that of "
                       "binary32, q6.10 between them";
    if (lacks(c, text, (const named[]){q6_10_near, q8_8_near, {0}})) return;
    const double ten = loss_of(c, q6_10_near), eight = loss_of(c, q8_8_near);
    ulp_claim(c, eight >= 1.5 * loss && ten > loss && ten < eight, text, "%.5f, %.5f; binary32 %.5f", ten, eight, loss);
}

static void claim_moved(ulp_claims *c) {
    const char *text = "updates vanish: over the epochs a step in q8.8 moves fewer weights with nearest than with "
                       "stochastic rounding, by a fifth or more";
    if (lacks(c, text, (const named[]){q8_8_near, q8_8_random, {0}})) return;
    const double nearest = spread_of(c, EPOCH, ANY, q8_8_near, offsetof(row, moved)).mean,
                 stochastic = spread_of(c, EPOCH, ANY, q8_8_random, offsetof(row, moved)).mean;
    ulp_claim(c, nearest <= 0.8 * stochastic, text, "%.2f %% and %.2f %%", 100 * nearest, 100 * stochastic);
}

static void claim_range(ulp_claims *c, double loss) {
    const char *text = "q2.14, with the finest steps but a range that ends at 2, ends above binary32 in both modes";
    if (lacks(c, text, (const named[]){q2_14_near, q2_14_random, {0}})) return;
    const double nearest = loss_of(c, q2_14_near), stochastic = loss_of(c, q2_14_random);
    ulp_claim(c, nearest > loss && stochastic > loss, text, "%.5f, %.5f; binary32 %.5f", nearest, stochastic, loss);
}

static void claim_digits(ulp_claims *c) {
    const double loss = loss_of(c, binary32);
    claim_stochastic(c, loss);
    claim_nearest(c, loss);
    claim_moved(c);
    claim_range(c, loss);
}

/* ---- the published errors ---- */

/* The published errors of Gupta et al. 2015: figures 1 and 2, read at 30 epochs, and the convolutional network of
 * figure 3. For binary32 the claim is about the error itself. For a format the claim is about the difference, in
 * points, between the error of the format and the error of binary32 in the same run. The order and the gaps count, so
 * that the difference has to be within 0.25 points of the published difference. For stochastic q2.14 to q8.8, which the
 * figures show 0.1 points above binary32, the difference may be up to 0.35 points. */
typedef struct fact {
    named of;
    const char *published;
    double at; /* the value that the figure marks */
    double low, high;
} fact;

static const fact facts[] = {
    {{"binary32", NULL}, "1.4", 1.4, 1.15, 1.65},           {{"q2.14", "rne"}, "1.45", 1.45, 0.05 - 0.25, 0.05 + 0.25},
    {{"q6.10", "rne"}, "1.7", 1.7, 0.3 - 0.25, 0.3 + 0.25}, {{"q8.8", "rne"}, "3.0 and worse", 3.0, 1.6 - 0.25, 100},
    {{"q2.14", "sra"}, "1.45 to 1.5", 1.475, -0.35, 0.35},  {{"q6.10", "sra"}, "1.45 to 1.5", 1.475, -0.35, 0.35},
    {{"q8.8", "sra"}, "1.45 to 1.5", 1.475, -0.35, 0.35},   {{0}, NULL, 0, 0, 0},
};
static const fact facts_of_cnn[] = {
    {{"binary32", NULL}, "0.77", 0.77, 0.52, 1.02},
    {{"q2.14", "sra"}, "0.83", 0.83, 0.06 - 0.25, 0.06 + 0.25},
    {{"q4.12", "sra"}, "0.90", 0.90, 0.13 - 0.25, 0.13 + 0.25},
    {{0}, NULL, 0, 0, 0},
};

/* The published errors for the set and the network of the run. NULL if there are none. */
static const fact *facts_of(const settings *set) {
    if (strcmp(set->lesson.set, "mnist") != 0) return NULL;
    return strcmp(set->lesson.net, CNN) == 0 ? facts_of_cnn : strcmp(set->lesson.net, MLP) == 0 ? facts : NULL;
}

/* The published errors that the figure marks at the edge of its curves. */
static void sum_up(ulp_claims *c) {
    for (const fact *f = facts_of(c->settings); f && f->published; f++)
        ulp_summary(c, "published test error", f->at, "%s%s%s", f->of.format, f->of.mode ? " " : "",
                    f->of.mode ? f->of.mode : "");
}

static void claim_fact(ulp_claims *c, const fact *f) {
    char text[160], what[64];
    const char *format = f->of.format, *mode = f->of.mode;
    const double reference = error_of(c, binary32), error = error_of(c, f->of);
    const double judged = mode ? error - reference : error;
    if (isnan(error)) return;
    snprintf(what, sizeof what, "%s%s%s: test error, %%", format, mode ? " " : "", mode ? mode : "");
    ulp_beside(c, &(ulp_published){what, "Gupta et al. 2015", f->published}, "%.2f", error);
    if (!mode)
        snprintf(text, sizeof text, "%s: the mean test error is from %.2f %% to %.2f %%", format, f->low, f->high);
    else if (f->high < 100)
        snprintf(text, sizeof text, "%s %s: the mean test error is %.2f to %.2f points above that of binary32", format,
                 mode, f->low, f->high);
    else
        snprintf(text, sizeof text, "%s %s: the mean test error is %.2f points or more above that of binary32", format,
                 mode, f->low);
    ulp_claim(c, judged >= f->low && judged <= f->high, text, "%.2f %%; published %s; binary32 %.2f %%", error,
              f->published, reference);
}

static void claim_order(ulp_claims *c) {
    const char *text = "rounded to nearest, fewer fractional bits mean more errors: q2.14 below q6.10 below q8.8";
    if (lacks(c, text, (const named[]){q2_14_near, q6_10_near, q8_8_near, {0}})) return;
    const double two = error_of(c, q2_14_near), six = error_of(c, q6_10_near), eight = error_of(c, q8_8_near);
    ulp_claim(c, two < six && six < eight, text, "%.2f %%, %.2f %%, %.2f %%", two, six, eight);
}

/* The claims about the convolutional network in one format. */
static void claim_failure(ulp_claims *c, const char *format) {
    const named near = {format, "rne"}, random = {format, "sra"};
    const double nearest = error_of(c, near), stochastic = error_of(c, random);
    const char *text =
        ulp_claim_text(c, "%s to nearest: the network fails, 50 %% of the tests or more are wrong", format);
    if (!lacks(c, text, (const named[]){near, {0}})) ulp_claim(c, nearest >= 50, text, "%.2f %%", nearest);
    text = ulp_claim_text(c, "%s errs more rounded to nearest than stochastically", format);
    if (!lacks(c, text, (const named[]){near, random, {0}}))
        ulp_claim(c, nearest > stochastic, text, "%.2f %%, %.2f %%", nearest, stochastic);
}

static void claim_mnist(ulp_claims *c, int cnn) {
    for (const fact *f = facts_of(c->settings); f && f->published; f++) claim_fact(c, f);
    if (!cnn) claim_order(c);
    else {
        claim_failure(c, "q2.14");
        claim_failure(c, "q4.12");
    }
}

/* ---- the choice of claims ---- */

/* The options that the claims about a set and a network need. */
static const char *const of_digits = "batch=100, set=digits, policy=" POLICY ", scale=7, "
                                     "net=fc100 relu fc100 relu fc10, std=0.1, optimizer=sgd,rate=0.4, epochs>=50";
static const char *const of_mnist = "batch=100, set=mnist, policy=" POLICY ", scale=7, net=" MLP ", std=0.01, "
                                    "optimizer=sgd,rate=0.4, epochs=30, seeds>=3";
static const char *const of_cnn = "batch=100, set=mnist, policy=" POLICY_OF_CNN ", scale=0, net=" CNN ", epochs>=10";

void judge(ulp_claims *c) {
    const settings *set = c->settings;
    const int cnn = strcmp(set->lesson.net, CNN) == 0, mnist = strcmp(set->lesson.set, "mnist") == 0;
    const char *why = ulp_claim_reason(c, cnn ? of_cnn : mnist ? of_mnist : of_digits);
    print_table(c);
    sum_up(c);
    if (*why)
        ulp_claim_skip(c, mnist ? "the published test errors" : "stochastic rounding keeps what nearest rounding loses",
                       "%s", why);
    else if (cnn || mnist) claim_mnist(c, cnn);
    else claim_digits(c);
}

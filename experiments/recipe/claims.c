/* claims.c - the table of recipe, and the claims about its variants. */
#include "recipe.h"

#include <math.h>

#include "experiments/harness/claims/spread.h"

/* The row of a run at an epoch, or at the end of the run (epoch 0). NULL if there is none. */
static const row *row_of(const ulp_claims *c, int variant, int64_t seed, int64_t epoch) {
    const row *rows = c->table->rows;
    for (size_t i = 0; i < c->table->count; i++)
        if (rows[i].variant == variant && rows[i].seed == seed && rows[i].what == (epoch ? EPOCH : FINAL) &&
            (!epoch || rows[i].epoch == epoch))
            return &rows[i];
    return NULL;
}

/* A number taken from a row and from the row `base` of another variant with the same seed. The loss of a diverged run
 * is infinite. */
typedef double (*reading)(const row *r, const row *base);
static double loss_of(const row *r, const row *base) { return (void)base, isnan(r->loss) ? HUGE_VAL : r->loss; }
static double accuracy_of(const row *r, const row *base) { return (void)base, 100 * r->test_accuracy; }
static double ratio_of(const row *r, const row *base) { return loss_of(r, base) / base->loss; }
static double distance(const row *r, const row *base) { return fabs(loss_of(r, base) - base->loss); }
static double more_accuracy(const row *r, const row *base) { return 100 * (r->test_accuracy - base->test_accuracy); }

/* The spread, over the seeds, of a number taken from the rows of two variants, at an epoch or at the end (epoch 0). */
static ulp_spread compare(const ulp_claims *c, reading of, int64_t epoch, int variant, int base) {
    const settings *s = c->settings;
    ulp_numbers n = {0};
    for (int64_t seed = (int64_t)s->lesson.seed; seed < (int64_t)s->lesson.seed + s->lesson.seeds; seed++) {
        const row *r = row_of(c, variant, seed, epoch), *b = row_of(c, base, seed, epoch);
        if (r && b) ulp_numbers_add(&n, of(r, b));
    }
    return ulp_numbers_take(&n);
}

/* The curve of a variant in the figure. */
static void sum_up_curve(ulp_claims *c, int v, const char *name) {
    const settings *s = c->settings;
    for (int64_t next = s->every; next < s->epochs + s->every; next += s->every) {
        const int64_t epoch = next < s->epochs ? next : s->epochs;
        const ulp_spread ratio = compare(c, ratio_of, epoch, v, FP32);
        if (ratio.n == 0) continue;
        ulp_summary(c, "loss over fp32 at an epoch", ratio.median, "%s %lld", name, (long long)epoch);
        ulp_summary(c, "least loss over fp32 at an epoch", ratio.least, "%s %lld", name, (long long)epoch);
        ulp_summary(c, "largest loss over fp32 at an epoch", ratio.most, "%s %lld", name, (long long)epoch);
    }
}

static void put_variant(ulp_claims *c, ulp_sheet *sheet, int v, const char *name, const char *words) {
    const ulp_spread loss = compare(c, loss_of, 0, v, v), test = compare(c, accuracy_of, 0, v, v),
                     ratio = compare(c, ratio_of, 0, v, FP32);
    if (test.n == 0) return;
    ulp_sheet_put(sheet, "%s", name);
    ulp_sheet_put(sheet, "%s", words); /* some have commas, which ulp_sheet_put_row() takes as separators */
    ulp_sheet_put_row(sheet, "%.5f,%.3f,%.3f,%.3f,%.2f,%.2f,%.2f", loss.median, ratio.median, ratio.least, ratio.most,
                      test.median, test.least, test.most);
    ulp_summary(c, "test accuracy", test.median, "%s", name);
    ulp_summary(c, "least test accuracy", test.least, "%s", name);
    ulp_summary(c, "largest test accuracy", test.most, "%s", name);
    ulp_summary(c, "loss over fp32", ratio.median, "%s", name);
    ulp_summary(c, "least loss over fp32", ratio.least, "%s", name);
    ulp_summary(c, "largest loss over fp32", ratio.most, "%s", name);
    sum_up_curve(c, v, name);
}

/* Prints the table, and the differences in accuracy to fp32 beside the published differences for far larger
 * networks. */
static void print_table(ulp_claims *c) {
    static const ulp_published beside[] = {
        {"recipe less fp32, points of accuracy (there ResNet-50)", "Micikevicius et al. 2018", "+0.12"},
        {"bfloat16, stochastic rounding, less fp32, points (there seven applications)", "Zamirai et al. 2020",
         "-0.1 to +0.2"},
        {"bfloat16, Kahan update, less fp32, points (there seven applications)", "Zamirai et al. 2020", "-0.1 to +0.2"},
    };
    static const int compared[] = {FP16_RECIPE, BF16_SR, BF16_KAHAN};
    ulp_sheet *sheet =
        ulp_sheet_new("at the end, over the seeds; loss / fp32 is seed by seed; test accuracy in percent",
                      "variant,what,loss,loss / fp32,least,most,accuracy,least,most");
#define PUT(index, name, words, ...) put_variant(c, sheet, index, name, words);
    VARIANTS(PUT)
    ulp_sheet_print(sheet, c->file);
    for (int i = 0; i < 3; i++) {
        const ulp_spread more = compare(c, more_accuracy, 0, compared[i], FP32);
        if (more.n) ulp_beside(c, &beside[i], "%+.2f", more.median);
    }
}

/* ---- claims that compare two variants ---- */

typedef struct claim {
    void (*test)(ulp_claims *c, const struct claim *claim);
    int variant, base;
    int64_t epochs, seeds; /* the claim needs at least so many */
    const char *text;
} claim;

/* Claims more loss in every seed. If the ingredient had no effect, each seed would have more loss with probability
 * 1/2. */
static void is_worse(ulp_claims *c, const claim *k) {
    const ulp_spread p = compare(c, ratio_of, 0, k->variant, k->base);
    ulp_claim(c, p.least > 1, k->text, "%.3f times, %.3f to %.3f over %d seeds, by chance 1 in %.0f", p.median, p.least,
              p.most, p.n, ldexp(1, p.n));
}

static void falls_behind(ulp_claims *c, const claim *k) {
    const settings *s = c->settings;
    const int64_t half = s->epochs / 2 / s->every * s->every;
    const ulp_spread at_half = compare(c, ratio_of, half, k->variant, k->base),
                     at_end = compare(c, ratio_of, s->epochs, k->variant, k->base);
    ulp_claim(c, at_end.least > at_half.most, k->text, "%.3f to %.3f times at epoch %lld, %.3f to %.3f at the end",
              at_half.least, at_half.most, (long long)half, at_end.least, at_end.most);
}

/* If no weight moves, every row of a run has the same test accuracy. */
static void is_frozen(ulp_claims *c, const claim *k) {
    const row *r = c->table->rows;
    int n = 0, moved = 0;
    for (size_t i = 1; i < c->table->count; i++) {
        if (r[i].variant != k->variant || r[i - 1].variant != k->variant || r[i].seed != r[i - 1].seed) continue;
        n++;
        moved += r[i].test_accuracy != r[i - 1].test_accuracy;
    }
    ulp_claim(c, n > 0 && moved == 0, k->text, "%d rows, %d of them differ from the row before", n, moved);
}

/* Compares the distances between the loss of a variant and the loss of fp32 with the same seed. The largest distance of
 * the variant is smaller than the median distance of `base`. */
static void is_nearer(ulp_claims *c, const claim *k) {
    const ulp_spread near = compare(c, distance, 0, k->variant, FP32), far = compare(c, distance, 0, k->base, FP32);
    ulp_claim(c, near.most < far.median, k->text, "loss off by at most %.6f, and by %.6f in the median", near.most,
              far.median);
}

enum { LATE = 72 }; /* the number of epochs after which updates are small enough for the claim */
#define NEARER "every seed is nearer to fp32 than the median of "
static const claim claims[] = {
    {is_nearer, FP16_RECIPE, FP16, LATE, 5, "the whole recipe in binary16: " NEARER "everything in binary16"},
    {is_nearer, FP16_RECIPE, FP16_MASTER, LATE, 5,
     "the whole recipe in binary16: " NEARER "binary16 without loss scaling"},
    {is_nearer, FP16_LOWSUMS, FP16_MASTER, LATE, 5,
     "the recipe with sums of at most --batch terms in binary16: " NEARER "binary16 without loss scaling"},
    {is_worse, FP16_SUMS, FP16_MASTER, LATE, 5,
     "binary16 without master weights: more loss than with them in every seed"},
    {is_worse, FP16_MASTER, FP16_RECIPE, LATE, 5,
     "binary16 without loss scaling: more loss than with it in every seed"},
    {is_worse, FP16_NOMASTER, FP16_RECIPE, LATE, 5,
     "the recipe without master weights: more loss than with them in every seed"},
    {is_nearer, FP16_SR, FP16_NOMASTER, LATE, 5,
     "binary16 with stochastic rounding instead: " NEARER "binary16 without master weights"},
    {is_nearer, FP16_KAHAN, FP16_NOMASTER, LATE, 5,
     "binary16 with a Kahan update instead: " NEARER "binary16 without master weights"},
    {is_nearer, BF16_RECIPE, BF16_NOMASTER, LATE, 5,
     "bfloat16 needs no scaling, its recipe: " NEARER "bfloat16 without master weights"},
    {is_nearer, BF16_LOWSUMS, BF16_NOMASTER, LATE, 5,
     "the recipe with sums of at most --batch terms in bfloat16: " NEARER "bfloat16 without master weights"},
    {is_worse, BF16_NOMASTER, BF16_RECIPE, 60, 2,
     "bfloat16 without master weights: more loss than with them in every seed"},
    {is_nearer, BF16_SR, BF16_NOMASTER, LATE, 5,
     "bfloat16 with stochastic rounding instead: " NEARER "bfloat16 without master weights"},
    {is_nearer, BF16_KAHAN, BF16_NOMASTER, LATE, 5,
     "bfloat16 with a Kahan update instead: " NEARER "bfloat16 without master weights"},
    {is_worse, BF16, FP32, LATE, 5, "everything in bfloat16: more loss than fp32 in every seed"},
    {falls_behind, BF16, FP32, LATE, 5, "everything in bfloat16 falls behind fp32 in the second half, in every seed"},
    {is_frozen, FP8, FP8, 0, 1, "fp8 without any scale learns nothing: the answers to the test digits never change"},
    {is_nearer, FP8_LOSS, FP8, 0, 5, "fp8 with one scale for the loss: " NEARER "fp8 without a scale"},
    {is_nearer, FP8_NOW, FP8, 0, 5, "fp8 with scales per tensor just in time: " NEARER "fp8 without a scale"},
    {is_nearer, FP8_DELAYED, FP8, 0, 5, "fp8 with delayed scales per tensor: " NEARER "fp8 without a scale"},
};

static void test(ulp_claims *c, const claim *k) {
    const settings *s = c->settings;
    const uint64_t needed = UINT64_C(1) << k->variant | UINT64_C(1) << k->base | 1 << FP32;
    if ((s->variants & needed) != needed) ulp_claim_skip(c, k->text, "a variant is not in --variants");
    else if (s->epochs < k->epochs || s->lesson.seeds < k->seeds)
        ulp_claim_skip(c, k->text, "it takes %lld epochs and %lld seeds", (long long)k->epochs, (long long)k->seeds);
    else k->test(c, k);
}

/* Most claims are about long runs, with default values for the other options. */
void judge(ulp_claims *c) {
    static const ulp_wanted long_enough[] = {{"epochs", "60", 1}, {0}};
    size_t held = 0, tested = 0;
    char why[320];
    print_table(c);
    if (ulp_options_differ(c, "net batch rate momentum weight interval set", why, sizeof why) ||
        ulp_options_are_other(c, long_enough, why, sizeof why))
        ulp_claim_skip(c, "the recipe ends where fp32 ends, and does not without master weights or scaling", "%s", why);
    else
        for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
            test(c, &claims[i]);
            held += c->entries[c->count - 1].verdict == ULP_PASS;
            tested += c->entries[c->count - 1].verdict != ULP_SKIP;
        }
    if (tested) ulp_summary(c, "share of claims that hold", (double)held / (double)tested, "all");
}

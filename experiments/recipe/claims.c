/* claims.c - the table of recipe, and the claims about its variants. */
#include "recipe.h"

#include <math.h>

#include "experiments/harness/claims/spread.h"

enum { END = -2, ANY = -1 }; /* in place of an epoch: the row at the end of the run; the rows of all epochs */

static int is_of(const row *r, int index, int64_t epoch) {
    return r->variant == index && r->what == (epoch == END) && (epoch < 0 || r->cells.epoch == epoch);
}

/* A number taken from a row and from the row `b` of another variant with the same seed. The loss of a diverged run
 * is infinite. */
typedef double (*reading)(const row *r, const row *base);
static double loss_of(const row *r, const row *b) { return (void)b, isnan(r->cells.loss) ? HUGE_VAL : r->cells.loss; }
static double accuracy_of(const row *r, const row *b) { return (void)b, 100 * r->cells.test_accuracy; }
static double ratio_of(const row *r, const row *b) { return loss_of(r, b) / b->cells.loss; }
static double distance(const row *r, const row *b) { return fabs(loss_of(r, b) - b->cells.loss); }
static double gain(const row *r, const row *b) { return accuracy_of(r, b) - accuracy_of(b, b); }

/* The spread, over the seeds, of a number taken from the rows of two variants. */
static ulp_spread compare(const ulp_claims *c, reading of, int64_t epoch, int index, int base) {
    const row *r = c->table->rows, *end = r + c->table->count;
    ulp_numbers n = {0};
    for (; r < end; r++)
        for (const row *b = c->table->rows; is_of(r, index, epoch) && b < end; b++)
            if (is_of(b, base, epoch == ANY ? END : epoch) && b->seed == r->seed) ulp_numbers_add(&n, of(r, b));
    return ulp_numbers_take(&n);
}

/* Test accuracies less those of fp32, published for far larger networks. */
static const ulp_published published[COUNT + 1] = {
    [FP16_RECIPE] = {"fp16-recipe less fp32, points (there ResNet-50)", "Micikevicius et al. 2018", "+0.12"},
    [BF16_SR] = {"bf16-sr less fp32, points (there seven tasks)", "Zamirai et al. 2020", "-0.1 to +0.2"},
    [BF16_KAHAN] = {"bf16-kahan less fp32, points (there seven tasks)", "Zamirai et al. 2020", "-0.1 to +0.2"},
};

static void put_variant(ulp_claims *c, ulp_sheet *sheet, int index) {
    const ulp_word name = variant_name(index);
    const ulp_spread loss = compare(c, loss_of, END, index, index), test = compare(c, accuracy_of, END, index, index),
                     ratio = compare(c, ratio_of, END, index, FP32), more = compare(c, gain, END, index, FP32);
    if (test.n == 0) return;
    ulp_sheet_put_row(sheet, "%s,%s,%.5f,%.3f,%.3f,%.3f,%.2f,%.2f,%.2f", name.text, variants[index].words, loss.median,
                      ratio.median, ratio.least, ratio.most, test.median, test.least, test.most);
    if (published[index].what && more.n) ulp_beside(c, &published[index], "%+.2f", more.median);
    ulp_summary_spread(c, "test accuracy", test.median, &test, "%s", name.text);
    ulp_summary_spread(c, "loss over fp32", ratio.median, &ratio, "%s", name.text);
    for (int64_t epoch = 1; epoch <= ((const settings *)c->settings)->lesson.epochs; epoch++) {
        const ulp_spread at = compare(c, ratio_of, epoch, index, FP32);
        if (at.n) ulp_summary_spread(c, "loss over fp32 at an epoch", at.median, &at, "%s %d", name.text, (int)epoch);
    }
}

/* Claims with the name and the words of a variant, and the name of the variant that it is compared with. */
enum { WORSE, BEHIND, FROZEN, NEARER };
static const char *const sentences[] = {
    [WORSE] = "%s (%s): more loss than %s in every seed",
    [BEHIND] = "%s (%s) falls behind %s in the second half, in every seed",
    [FROZEN] = "%s (%s) learns nothing: the answers to the test digits never change",
    [NEARER] = "%s (%s): every seed is nearer to fp32 than the median of %s",
};

typedef struct claim {
    int kind, of, base;    /* variants */
    int64_t epochs, seeds; /* the claim needs at least so many; after 72 epochs updates are small */
} claim;

static const claim claims[] = {
    {NEARER, FP16_RECIPE, FP16, 72, 5},
    {NEARER, FP16_RECIPE, FP16_MASTER, 72, 5},
    {NEARER, FP16_LOWSUMS, FP16_MASTER, 72, 5},
    {WORSE, FP16_SUMS, FP16_MASTER, 72, 5},
    {WORSE, FP16_MASTER, FP16_RECIPE, 72, 5},
    {WORSE, FP16_NOMASTER, FP16_RECIPE, 72, 5},
    {NEARER, FP16_SR, FP16_NOMASTER, 72, 5},
    {NEARER, FP16_KAHAN, FP16_NOMASTER, 72, 5},
    {NEARER, BF16_RECIPE, BF16_NOMASTER, 72, 5},
    {NEARER, BF16_LOWSUMS, BF16_NOMASTER, 72, 5},
    {WORSE, BF16_NOMASTER, BF16_RECIPE, 60, 2},
    {NEARER, BF16_SR, BF16_NOMASTER, 72, 5},
    {NEARER, BF16_KAHAN, BF16_NOMASTER, 72, 5},
    {WORSE, BF16, FP32, 72, 5},
    {BEHIND, BF16, FP32, 72, 5},
    {FROZEN, FP8, FP8, 0, 1},
    {NEARER, FP8_LOSS, FP8, 0, 5},
    {NEARER, FP8_NOW, FP8, 0, 5},
    {NEARER, FP8_DELAYED, FP8, 0, 5},
};

static void test(ulp_claims *c, const claim *k) {
    const settings *s = c->settings;
    const int64_t end = s->lesson.epochs, half = end / 2 / s->every * s->every;
    const ulp_word of = variant_name(k->of), base = variant_name(k->base);
    const char *text = ulp_claim_text(c, sentences[k->kind], of.text, variants[k->of].words, base.text);
    const ulp_spread ratio = compare(c, ratio_of, END, k->of, k->base),
                     middle = compare(c, ratio_of, half, k->of, k->base),
                     late = compare(c, ratio_of, end, k->of, k->base), moved = compare(c, gain, ANY, k->of, k->base),
                     off = compare(c, distance, END, k->of, FP32), other = compare(c, distance, END, k->base, FP32);
    if (off.n + off.lost == 0 || other.n + other.lost == 0) ulp_claim_skip(c, text, "a variant is not in --variants");
    else if (end < k->epochs || s->lesson.seeds < k->seeds)
        ulp_claim_skip(c, text, "it takes %lld epochs and %lld seeds", (long long)k->epochs, (long long)k->seeds);
    else if (k->kind == WORSE) /* without effect of the ingredient, a seed has more loss with probability 1/2 */
        ulp_claim(c, ratio.least > 1, text, "%.3f times, %.3f to %.3f over %d seeds, by chance 1 in %.0f", ratio.median,
                  ratio.least, ratio.most, ratio.n, ldexp(1, ratio.n));
    else if (k->kind == BEHIND)
        ulp_claim(c, late.least > middle.most, text, "%.3f to %.3f times at epoch %lld, %.3f to %.3f at the end",
                  middle.least, middle.most, (long long)half, late.least, late.most);
    else if (k->kind == FROZEN) /* if no weight moves, every row of a run has the same test accuracy */
        ulp_claim(c, moved.n > 0 && moved.least == 0 && moved.most == 0, text,
                  "%d test accuracies are %+.2f to %+.2f points off those at the end", moved.n, moved.least,
                  moved.most);
    else
        ulp_claim(c, off.most < other.median, text, "loss off by at most %.6f, and by %.6f in the median of the other",
                  off.most, other.median);
}

void judge(ulp_claims *c) {
    const char *why = ulp_claim_reason(c, "net, batch, every, rate, momentum, weight, interval, set, epochs>=60");
    ulp_sheet *sheet = ulp_sheet_new("at the end, over the seeds; loss / fp32 seed by seed; test accuracy in percent",
                                     "variant,what,loss,loss / fp32,least,most,accuracy,least,most");
    for (int v = 0; v <= AMP; v++) put_variant(c, sheet, v);
    ulp_sheet_print(sheet, c->file);
    if (*why)
        ulp_claim_skip(c, "the recipe ends where fp32 ends, and does not without master weights or scaling", "%s", why);
    else
        for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) test(c, &claims[i]);
    const double held = ulp_claims_count(c, ULP_PASS), tested = held + ulp_claims_count(c, ULP_FAIL);
    if (tested > 0) ulp_summary(c, "share of claims that hold", held / tested, "all");
}

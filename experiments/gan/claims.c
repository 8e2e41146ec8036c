/* claims.c - the table of gan, and the claims about its variants. */
#include "gan.h"

#include <math.h>

#include "experiments/harness/claims/spread.h"

/* A number of a row. */
typedef double (*reading)(const row *r);
static double distance_of(const row *r) { return r->verdict.distance; }
static double classes_of(const row *r) { return r->verdict.classes; }
static double sure_of(const row *r) { return 100 * r->verdict.sure; }
static double generator_scale_of(const row *r) { return (double)r->generator_scale; }
static double discriminator_scale_of(const row *r) { return (double)r->discriminator_scale; }
static double steps_of(const row *r) { return (double)r->step; }
static double nan_of(const row *r) { return isnan(r->discriminator_loss) != 0; }

/* The spread of a number over the seeds, from the rows of a kind of a variant; `step` is 0 for all steps. */
static ulp_spread spread_of(const ulp_claims *c, reading of, int variant, int what, int64_t step) {
    const row *r = c->table->rows;
    ulp_numbers numbers = {0};
    for (size_t i = 0; i < c->table->count; i++)
        if (r[i].variant == variant && r[i].what == what && (step == 0 || r[i].step == step))
            ulp_numbers_add(&numbers, of(&r[i]));
    return ulp_numbers_take(&numbers);
}

static ulp_spread end_of(const ulp_claims *c, reading of, int variant) { return spread_of(c, of, variant, FINAL, 0); }

static const struct variant *variant_at(int v) {
    static const struct variant by_lists = {.name = "amp", .words = "formats by lists of operations"};
    return v == AMP ? &by_lists : &variants[v];
}

static void put_variant(ulp_claims *c, ulp_sheet *sheet, int v) {
    const struct variant *of = variant_at(v);
    const settings *s = c->settings;
    const ulp_spread distance = end_of(c, distance_of, v), classes = end_of(c, classes_of, v),
                     sure = end_of(c, sure_of, v);
    if (distance.n == 0) return;
    ulp_sheet_put_row(sheet, "%s,%s,%.2f,%.2f,%.2f,%g,%g,%g,%.1f", of->name, of->words, distance.median, distance.least,
                      distance.most, classes.median, classes.least, classes.most, sure.median);
    ulp_summary_spread(c, "distance", distance.median, &distance, "%s", of->name);
    ulp_summary_spread(c, "classes", classes.median, &classes, "%s", of->name);
    ulp_summary(c, "sure", sure.median, "%s", of->name);
    const double steps = end_of(c, steps_of, v).median;
    if (v != DIGITS) ulp_summary(c, "steps", steps, "%s", of->name);
    if (v != DIGITS && steps < (double)s->steps)
        ulp_summary(c, "steps before NaN", steps - (double)PATIENCE, "%s", of->name);
    for (int64_t next = s->every; v != DIGITS && next < s->steps + s->every; next += s->every) {
        const int64_t step = next < s->steps ? next : s->steps;
        const ulp_spread at = spread_of(c, distance_of, v, CURVE, step);
        if (at.n) ulp_summary_spread(c, "distance at a step", at.median, &at, "%s %d", of->name, (int)step);
    }
}

/* ---- claims ---- */

static void claim_learned(ulp_claims *c, const char *why) {
    const ulp_spread distance = end_of(c, distance_of, FP32), classes = end_of(c, classes_of, FP32),
                     start = end_of(c, distance_of, FP16_ALL);
    const char *text = "binary32 learns to write: every seed covers at least 6 of 10 classes, and the distance is at "
                       "most a tenth of that of a generator that has learned nothing";
    if (distance.n == 0 || start.n == 0) ulp_claim_skip(c, text, "fp32 or fp16-all is not in --variants");
    else
        ulp_claim_if(c, why, classes.least >= 6 && 10 * distance.most <= start.least, text,
                     "%g to %g classes, distance %.2f to %.2f against %.1f", classes.least, classes.most,
                     distance.least, distance.most, start.least);
}

/* A variant ends within the spread of binary32 over the seeds. Medians of a few seeds scatter: two standard errors of
 * the mean of the binary32 seeds are allowed beyond. */
static void claim_within(ulp_claims *c, const char *why, int v) {
    const ulp_spread distance = end_of(c, distance_of, v), classes = end_of(c, classes_of, v),
                     distance32 = end_of(c, distance_of, FP32), classes32 = end_of(c, classes_of, FP32);
    const double root = sqrt(distance32.n), farthest = distance32.most + 2 * distance32.sd / root,
                 fewest = classes32.least - 2 * classes32.sd / root;
    const char *text =
        ulp_claim_text(c,
                       "%s (%s): the median distance and the median number of classes are within the spread of "
                       "binary32 over the seeds (two standard errors aside), or better",
                       variant_at(v)->name, variant_at(v)->words);
    if (distance.n == 0 || distance32.n == 0)
        ulp_claim_skip(c, text, "fp32 or %s is not in --variants", variant_at(v)->name);
    else
        ulp_claim_if(c, why, distance.median <= farthest && classes.median >= fewest, text,
                     "distance %.2f, binary32 up to %.2f; %g classes, binary32 from %g on", distance.median,
                     distance32.most, classes.median, classes32.least);
}

/* Whether all verdicts on a run are the same, as on a generator that never changes. */
static int is_frozen(const ulp_claims *c, const row *end) {
    const row *r = c->table->rows;
    for (size_t i = 0; i < c->table->count; i++)
        if (r[i].variant == end->variant && r[i].what == CURVE && r[i].seed == end->seed &&
            r[i].verdict.distance != end->verdict.distance)
            return 0;
    return 1;
}

static void claim_noise(ulp_claims *c, const char *why) {
    const row *r = c->table->rows;
    const ulp_spread distance = end_of(c, distance_of, FP16), distance32 = end_of(c, distance_of, FP32);
    const char *text = "mixed binary16 without a loss scale: the generator stays at noise; every seed is farther from "
                       "real digits than any seed of binary32, the median ten times as far";
    int frozen = 0;
    for (size_t i = 0; i < c->table->count; i++)
        frozen += r[i].variant == FP16 && r[i].what == FINAL && is_frozen(c, &r[i]);
    if (distance.n == 0 || distance32.n == 0) ulp_claim_skip(c, text, "fp32 or fp16 is not in --variants");
    else
        ulp_claim_if(c, why, distance.least > distance32.most && distance.median > 10 * distance32.most, text,
                     "distance %.1f to %.1f, binary32 up to %.2f; in %d of %d seeds the samples never change",
                     distance.least, distance.most, distance32.most, frozen, distance.n);
}

/* Adam's eps = 1e-8 is 0 in binary16, and so is its average of squares for gradients below 1/200 in the first step. The
 * update divides by this average plus eps. */
static void claim_nan(ulp_claims *c, const char *why) {
    const ulp_spread nan = end_of(c, nan_of, FP16_ALL), steps = end_of(c, steps_of, FP16_ALL);
    const char *text = "all but sums in binary16: NaN at once, in spite of loss scales, because Adam divides by small "
                       "squares and by 1e-8, which are 0 in binary16";
    if (nan.n == 0) ulp_claim_skip(c, text, "fp16-all is not in --variants");
    else
        ulp_claim_if(c, why, nan.least == 1 && steps.most <= 50, text, "%g of %d seeds, the first NaN at step %g to %g",
                     nan.mean * nan.n, nan.n, steps.least - (double)PATIENCE + 1, steps.most - (double)PATIENCE + 1);
}

/* The weight 2^W takes away W bits at the small end; the scalers give them back. */
static void claim_scales(ulp_claims *c, const char *why) {
    const double weight = (double)((const settings *)c->settings)->weight;
    const ulp_spread g = end_of(c, generator_scale_of, FP16_SCALED), d = end_of(c, discriminator_scale_of, FP16_SCALED);
    const char *text = "both dynamic scales give back at least what the weight of the loss has taken";
    if (g.n == 0) ulp_claim_skip(c, text, "fp16-scaled is not in --variants");
    else
        ulp_claim_if(c, why, g.least >= -weight && d.least >= -weight, text,
                     "the weight is 2^%g; generator 2^%g to 2^%g, discriminator 2^%g to 2^%g", weight, g.least, g.most,
                     d.least, d.most);
}

void judge(ulp_claims *c) {
    const context *x = c->context;
    const char *why = ulp_claim_reason(c, "generator-net, discriminator-net, classifier-net, generator-optimizer, "
                                          "discriminator-optimizer, latents, batch, weight, interval, samples, set, "
                                          "classifier-steps, steps>=800, seeds>=5");
    ulp_sheet *sheet =
        ulp_sheet_new(ulp_claim_text(c, "at the end, over the seeds; the classifier reads %.1f %% of the test digits",
                                     100 * x->classifier.accuracy),
                      "variant,what,distance,least,most,classes,least,most,sure (%)");
    for (int v = 0; v <= AMP; v++) put_variant(c, sheet, v);
    ulp_sheet_print(sheet, c->file);
    claim_learned(c, why);
    claim_within(c, why, FP16_SCALED);
    claim_within(c, why, BF16);
    claim_within(c, why, FP8);
    claim_within(c, why, BF16_ALL);
    if (end_of(c, distance_of, AMP).n) claim_within(c, why, AMP);
    claim_noise(c, why);
    claim_nan(c, why);
    claim_scales(c, why);
    const double held = ulp_claims_count(c, ULP_PASS), tested = held + ulp_claims_count(c, ULP_FAIL);
    if (tested > 0) ulp_summary(c, "share of claims that hold", held / tested, "all");
}

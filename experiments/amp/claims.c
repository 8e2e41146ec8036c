/* claims.c - the table of amp, and the claims about its rows. */
#include "amp.h"

#include <math.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"

/* A network, a format (NULL: binary32) and a way. */
typedef struct choice {
    const ulp_network *network;
    const ulp_format *format;
    int way;
} choice;

static int is_of(const void *r, const void *at, const void *key) {
    const point *p = at;
    const choice *k = key;
    (void)r;
    return p->network == k->network && p->format == k->format && p->way == k->way;
}

/* A number of a row, and of the row of binary32 with the same seed. A loss that is not finite is infinite. */
typedef double (*reading)(const row *r, const row *base);
static double loss_of(const row *r, const row *b) {
    return (void)b, isfinite(r->cells.loss) ? r->cells.loss : HUGE_VAL;
}
static double accuracy_of(const row *r, const row *b) { return (void)b, 100 * r->cells.test_accuracy; }
static double ratio_of(const row *r, const row *b) { return loss_of(r, r) / b->cells.loss; }

/* The spread of a reading over the seeds. */
static ulp_spread spread_of(const ulp_claims *c, reading of, choice key) {
    const choice base = {key.network, NULL, FP32};
    ulp_numbers n = {0};
    const row *r, *b;
    for (size_t i = 0; (r = ulp_table_find(c->table, &i, is_of, &key)) != NULL; i++)
        for (size_t k = 0; (b = ulp_table_find(c->table, &k, is_of, &base)) != NULL; k++)
            if (b->seed == r->seed) ulp_numbers_add(&n, of(r, b));
    return ulp_numbers_take(&n);
}

/* The number of seeds of a choice whose reading is above `limit`, out of *n. */
static int count_above(const ulp_claims *c, reading of, choice key, double limit, int *n) {
    const choice base = {key.network, NULL, FP32};
    const row *r, *b;
    int above = 0;
    for (size_t i = 0; (r = ulp_table_find(c->table, &i, is_of, &key)) != NULL; i++)
        for (size_t k = 0; (b = ulp_table_find(c->table, &k, is_of, &base)) != NULL; k++)
            if (b->seed == r->seed) above += of(r, b) > limit, ++*n;
    return above;
}

static const row *first_of(const ulp_claims *c, choice key) {
    return ulp_table_find(c->table, &(size_t){0}, is_of, &key);
}

/* ---- the table ---- */

static void put(ulp_claims *c, ulp_sheet *sheet, choice key) {
    const row *r = first_of(c, key);
    if (!r) return;
    const ulp_spread right = spread_of(c, accuracy_of, key), ratio = spread_of(c, ratio_of, key);
    const char *way = ulp_word_of(WAY_WORDS, (size_t)key.way).text;
    const row *base = first_of(c, (choice){key.network, NULL, FP32});
    ulp_sheet_put_row(sheet, "%s,%s,%s,%.2f,%.2f,%.2f,%.3f,%lld,%.3f,%.3f,%.3f", r->net, r->format, way, right.mean,
                      right.least, right.most, ratio.median, (long long)r->casts, r->kept / base->kept,
                      r->weights / base->weights, r->moved / base->moved);
    ulp_summary_spread(c, "accuracy", right.mean, &right, "%s %s %s", r->net, r->format, way);
    ulp_summary_spread(c, "loss over binary32", ratio.median, &ratio, "%s %s %s", r->net, r->format, way);
    ulp_summary(c, "activations over binary32", r->kept / base->kept, "%s %s %s", r->net, r->format, way);
    ulp_summary(c, "weights over binary32", r->weights / base->weights, "%s %s %s", r->net, r->format, way);
    ulp_summary(c, "moved over binary32", r->moved / base->moved, "%s %s %s", r->net, r->format, way);
    ulp_summary(c, "casts", (double)r->casts, "%s %s %s", r->net, r->format, way);
}

static void print_table(ulp_claims *c) {
    const settings *s = c->settings;
    const ulp_networks *networks = c->context;
    ulp_sheet *sheet =
        ulp_sheet_new("test accuracy in percent over the seeds; median of loss / loss of binary32 with the "
                      "same seed; casts of a step; bytes / bytes of binary32",
                      "net,format,way,accuracy,least,most,loss,casts,activations,weights,moved");
    for (size_t i = 0; i < networks->count; i++) {
        put(c, sheet, (choice){&networks->at[i], NULL, FP32});
        for (size_t f = 0; f < s->formats.count; f++)
            for (int way = AMP; way < WAYS; way++) put(c, sheet, (choice){&networks->at[i], &s->formats.at[f], way});
    }
    ulp_sheet_print(sheet, c->file);
}

/* ---- claims ---- */

/* Whether the mean of a way lies between the least and the largest number of binary32. */
static int is_within(const ulp_spread *x, const ulp_spread *binary32) {
    return x->mean >= binary32->least && x->mean <= binary32->most;
}

/* Amp and the recipe end within the spread of binary32. */
static void claim_same(ulp_claims *c, const char *why, const ulp_format *format, int way) {
    const ulp_networks *networks = c->context;
    ulp_finding found = {0};
    for (size_t i = 0; i < networks->count; i++) {
        const choice key = {&networks->at[i], format, way}, base = {key.network, NULL, FP32};
        const ulp_spread right = spread_of(c, accuracy_of, key), reference = spread_of(c, accuracy_of, base),
                         loss = spread_of(c, loss_of, key), reference_loss = spread_of(c, loss_of, base);
        if (right.n)
            ulp_finding_add(&found, is_within(&right, &reference) && is_within(&loss, &reference_loss),
                            "%s %.2f %% in %.2f to %.2f", key.network->name, right.mean, reference.least,
                            reference.most);
    }
    ulp_claim_found(c, why, &found, "%s in %s ends within the seeds' spread of binary32, in loss and accuracy",
                    way == AMP ? "amp" : "the recipe by hand", format->name);
}

/* Everything in binary16 loses small gradients. */
static void claim_flushed(ulp_claims *c, const char *why, const ulp_format *format) {
    const ulp_networks *networks = c->context;
    const settings *s = c->settings;
    ulp_finding found = {0};
    int below = 0;
    for (size_t i = 0; i < networks->count; i++) {
        const choice key = {&networks->at[i], format, LOW}, base = {key.network, NULL, FP32};
        const ulp_spread right = spread_of(c, accuracy_of, key), reference = spread_of(c, accuracy_of, base);
        below += right.n && right.mean < reference.least;
        if (right.n)
            ulp_finding_note(&found, "%s %.2f %%, compared with %.2f", key.network->name, right.mean, reference.least);
    }
    const int wanted = networks->count < 2 ? 1 : 2;
    if (found.count || s->ways >> (LOW - AMP) & 1)
        ulp_finding_add(&found, below >= wanted, "%d of %zu networks below", below, networks->count);
    ulp_claim_found(c, why, &found,
                    "everything in %s ends below the seeds' spread of binary32 on at least %d network%s", format->name,
                    wanted, ulp_plural((size_t)wanted));
}

/* Everything in bfloat16 keeps gradients, but loses small updates: more loss than binary32 with the same seed. Without
 * an effect each seed has more loss with probability 1/2. */
static void claim_lost_updates(ulp_claims *c, const char *why, const ulp_format *format) {
    const ulp_networks *networks = c->context;
    int n = 0, more = 0;
    for (size_t i = 0; i < networks->count; i++)
        more += count_above(c, ratio_of, (choice){&networks->at[i], format, LOW}, 1, &n);
    const char *text = ulp_claim_text(c, "everything in %s has more loss than binary32 in most runs", format->name);
    const double limit = 0.5 * n + 1.163 * sqrt(n); /* exceeded by chance in 1 of 100 cases */
    if (n == 0) ulp_claim_skip(c, text, "low is not in --ways");
    else
        ulp_claim_if(c, why, more >= limit, text, "%d of %d runs; by chance %.0f or more in 1 of 100 cases", more, n,
                     ceil(limit));
}

/* Whether a net has layers that perform one of two operations. */
static int performs(const ulp_net *net, ulp_operation a, ulp_operation b) {
    int found = 0;
    for (size_t k = 0; k < net->count; k++)
        found |= net->layers[k].kind->operation == a || net->layers[k].kind->operation == b;
    return found;
}

/* Without normalisation amp and the recipe are one policy, so every number is the same. */
static void claim_recipe(ulp_claims *c, const ulp_format *format) {
    const ulp_networks *networks = c->context;
    ulp_finding found = {0};
    for (size_t i = 0; i < networks->count; i++) {
        const ulp_net *net = &networks->at[i].net;
        const choice amp = {&networks->at[i], format, AMP}, recipe = {&networks->at[i], format, RECIPE};
        const int normalised = performs(net, ULP_OPERATION_NORM, ULP_OPERATION_LAYER_NORM);
        int same = 0, runs = 0;
        const row *a, *b;
        for (size_t k = 0; (a = ulp_table_find(c->table, &k, is_of, &amp)) != NULL; k++)
            for (size_t j = 0; (b = ulp_table_find(c->table, &j, is_of, &recipe)) != NULL; j++)
                if (a->seed == b->seed) runs++, same += a->cells.loss == b->cells.loss;
        if (runs && !normalised) ulp_finding_add(&found, same == runs, "%s %d of %d", amp.network->name, same, runs);
    }
    const char *why = ulp_setting_given(c->arguments, "policy") ? "--policy is given" : "";
    ulp_claim_found(c, why, &found, "%s: without normalisation amp is the recipe: the same loss, bit for bit",
                    format->name);
}

/* The saving by 16 bits: half of the activations, nothing of the weights, since master weights take what is saved.
 * The claim leaves out nets that normalise tokens, because normalised tokens stay in binary32. */
static void claim_bytes(ulp_claims *c, const ulp_format *format) {
    const ulp_networks *networks = c->context;
    ulp_finding kept = {0}, weights = {0};
    for (size_t i = 0; i < networks->count; i++) {
        const row *r = first_of(c, (choice){&networks->at[i], format, AMP}),
                  *b = first_of(c, (choice){&networks->at[i], NULL, FP32});
        if (!r || !b) continue;
        const double share = r->kept / b->kept;
        if (!performs(&networks->at[i].net, ULP_OPERATION_LAYER_NORM, ULP_OPERATION_LAYER_NORM))
            ulp_finding_add(&kept, share >= 0.5 && share < 0.52, "%s %.3f", r->net, share);
        ulp_finding_add(&weights, r->weights == b->weights, "%s %.0f", r->net, r->weights);
    }
    const char *why = format->bits != 16                          ? "the claim is about 16 bits"
                      : ulp_setting_given(c->arguments, "policy") ? "--policy is given"
                                                                  : ulp_claim_reason(c, "net");
    ulp_claim_found(c, why, &kept, "amp in %s keeps half of the bytes of activations and their gradients",
                    format->name);
    ulp_claim_found(c, why, &weights, "amp in %s saves no byte of weights: master weights take what is saved",
                    format->name);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    const char *why =
        ulp_claim_reason(c, "nets, net, batch, steps>=100, rate, momentum, weight, interval, set, seeds>=5");
    print_table(c);
    for (size_t f = 0; f < s->formats.count; f++) {
        const ulp_format *format = &s->formats.at[f];
        const int wide = format->emin <= -126;
        const char *of = *why ? why : format->bits != 16 ? "the claim is about binary16 and bfloat16" : "";
        claim_same(c, of, format, AMP);
        if (f == 0) claim_same(c, of, format, RECIPE);
        if (wide) claim_lost_updates(c, of, format);
        else claim_flushed(c, of, format);
        if (f == 0) claim_recipe(c, format);
        claim_bytes(c, format);
    }
}

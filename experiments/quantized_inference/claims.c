/* claims.c - the tables of quantized_inference, and the claims about its rows. */
#include "quantized_inference.h"

#include <math.h>
#include <string.h>

/* Means over the seeds. NaN if there are no rows. */
typedef struct mean {
    double accuracy, agreement, changed;
    int n;
} mean;

static const way binary32 = {"binary32", PLAIN, 32, BINARY32};

static int is_way(const way *a, const way *b) {
    return strcmp(a->kind, b->kind) == 0 && a->scheme == b->scheme && a->bits == b->bits &&
           a->accumulator == b->accumulator;
}

static mean mean_of(const ulp_claims *c, int64_t net, const way *of) {
    mean m = {0};
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->net != net || !is_way(&r->way, of)) continue;
        m.accuracy += r->accuracy;
        m.agreement += r->agreement;
        m.changed += r->changed;
        m.n++;
    }
    const double n = m.n ? (double)m.n : (double)NAN;
    return (mean){m.accuracy / n, m.agreement / n, m.changed / n, m.n};
}

/* The first row, from row *i on, of the first seed of a network. The first seed has one row for every way. NULL if
 * there are no more rows. */
static const row *next_way(const ulp_claims *c, int64_t net, size_t *i) {
    const row *rows = c->table->rows;
    const int64_t seed = (int64_t)((const settings *)c->settings)->seed;
    for (; *i < c->table->count; ++*i)
        if (rows[*i].net == net && rows[*i].seed == seed) return &rows[*i];
    return NULL;
}

static void print_table(const ulp_claims *c, int64_t net) {
    ulp_sheet *table = ulp_sheet_new(
        "test accuracy in percent, mean over the seeds; changed: sums that the accumulator got wrong, in percent",
        "net,numbers,scheme,accumulator,accuracy,as binary32,changed");
    const row *r;
    for (size_t i = 0; (r = next_way(c, net, &i)) != NULL; i++) {
        const mean m = mean_of(c, net, &r->way);
        ulp_sheet_put(table, "%lld", (long long)net);
        if (strcmp(r->way.kind, INTEGER) == 0) ulp_sheet_put(table, "%lld bits", (long long)r->way.bits);
        else ulp_sheet_put(table, "%s", r->way.kind);
        ulp_sheet_put_row(table, "%s,%s,%.2f,%.2f,%.3g", ulp_word_of(SCHEME_WORDS, (size_t)r->way.scheme).text,
                          ulp_word_of(ACCUMULATOR_WORDS, (size_t)r->way.accumulator).text, m.accuracy, m.agreement,
                          m.changed);
    }
    ulp_sheet_print(table, c->file);
}

/* Puts the means, which the figure draws as lines. Their names are of the form "1 integer affine 8 int32" and
 * "1 binary32 plain 32 binary32". */
static void sum_up(ulp_claims *c, int64_t net) {
    const row *r;
    for (size_t i = 0; (r = next_way(c, net, &i)) != NULL; i++) {
        ulp_summary(c, "mean accuracy", mean_of(c, net, &r->way).accuracy, "%lld %s %s %lld %s", (long long)net,
                    r->way.kind, ulp_word_of(SCHEME_WORDS, (size_t)r->way.scheme).text, (long long)r->way.bits,
                    ulp_word_of(ACCUMULATOR_WORDS, (size_t)r->way.accumulator).text);
    }
}

/* ---- the loss of a way against binary32 of the same network ---- */

/* A loss of up to `most` points of the mean accuracy, in every network, with two standard errors of the comparison
 * beyond. */
typedef struct loss {
    way of;
    double most;
    const char *text;
} loss;

/* The standard error, in points, of the difference between the accuracy of a way and that of binary32. Only answers
 * that differ count. Each of them moves the accuracy by at most one answer, in either direction. */
static double standard_error(const ulp_claims *c, const mean *m) {
    const ulp_data *data = &((const context *)c->context)->data;
    const double answers = (double)(data->n - data->n_train) * m->n;
    return 100 * sqrt((1 - m->agreement / 100) / answers);
}

static const loss losses[] = {
    {{INTEGER, AFFINE, 8, INT32},
     0.5,
     "8 bits, affine, int32: within half a point of binary32, without training again"},
    {{INTEGER, SYMMETRIC, 8, INT32}, 0.5, "8 bits, symmetric, int32: within half a point"},
    {{INTEGER, AFFINE, 5, INT32}, 1.5, "5 bits, affine, int32: within 1.5 points"},
    {{"binary16", PLAIN, 16, BINARY32}, 0.2, "binary16: within 0.2 points, no scale needed"},
    {{"e4m3", PLAIN, 8, BINARY32}, 0.5, "e4m3, sums in binary32: within half a point, no scale needed"},
};

static void claim_loss(ulp_claims *c, int64_t nets, const loss *claimed) {
    ulp_text measured = {0};
    int within = 1;
    int has_rows = 1;
    for (int64_t net = 1; net <= nets && has_rows; net++) {
        const mean m = mean_of(c, net, &claimed->of), reference = mean_of(c, net, &binary32);
        has_rows = m.n > 0;
        const double error = standard_error(c, &m);
        within &= reference.accuracy - m.accuracy <= claimed->most + 2 * error;
        ulp_text_print(&measured, "%snet %lld: %.2f %% against %.2f %%, standard error %.2f", net > 1 ? "; " : "",
                       (long long)net, m.accuracy, reference.accuracy, error);
    }
    const char *text = ulp_claim_text(c, "%s (two standard errors aside)", claimed->text);
    if (!has_rows) ulp_claim_skip(c, text, "not in this run");
    else ulp_claim(c, within, text, "%s", ulp_text_of(&measured));
    ulp_text_free(&measured);
}

/* ---- the gain of one way over another ---- */

typedef struct gain {
    way of, than;
    double more_than; /* points, in the mean over the networks */
    const char *text;
} gain;

static const gain gains[] = {
    {{INTEGER, AFFINE, 3, INT32},
     {INTEGER, SYMMETRIC, 3, INT32},
     2,
     "3 bits: affine codes beat symmetric ones by over 2 points (after relu nothing is negative: half of the symmetric "
     "codes is idle)"},
    {{INTEGER, AFFINE, 8, INT32},
     {INTEGER, AFFINE, 8, INT16},
     20,
     "8 bits, affine: an int16 accumulator that wraps around costs over 20 points (codes reach 255, and their products "
     "2^16)"},
    {{INTEGER, SYMMETRIC, 8, INT32}, {INTEGER, SYMMETRIC, 8, INT16}, 2, "8 bits, symmetric: it costs over 2 points"},
    {{INTEGER, SYMMETRIC, 8, INT16_SAT},
     {INTEGER, SYMMETRIC, 8, INT16},
     2,
     "8 bits, symmetric: one that saturates gives back over 2 of them"},
};

static void claim_gain(ulp_claims *c, int64_t nets, const gain *claimed) {
    double sum = 0;
    for (int64_t net = 1; net <= nets; net++)
        sum += (mean_of(c, net, &claimed->of).accuracy - mean_of(c, net, &claimed->than).accuracy) / (double)nets;
    if (isnan(sum)) ulp_claim_skip(c, claimed->text, "not in this run");
    else ulp_claim(c, sum > claimed->more_than, claimed->text, "%+.2f points in the mean of the networks", sum);
}

/* For symmetric codes of b bits, a sum of k products stays in the range of int16 while k 2^(2 b - 2) < 2^15. */
static void claim_room(ulp_claims *c) {
    int tested = 0, wrong = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->way.scheme != SYMMETRIC || r->way.accumulator != INT16) continue;
        const double half = ldexp(1, (int)r->way.bits - 1) - 1;
        if (256 * half * half >= 32768) continue;
        tested++;
        wrong += r->changed != 0;
    }
    if (tested)
        ulp_claim(c, wrong == 0, "where 256 products of two codes stay below 2^15, no int16 sum differs from int32",
                  "%d run%s, %d against it", tested, ulp_plural((size_t)tested), wrong);
}

void judge(ulp_claims *c) {
    if (((const settings *)c->settings)->how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);
    const int64_t nets = ((const context *)c->context)->nets;
    for (int64_t net = 1; net <= nets; net++) {
        print_table(c, net);
        sum_up(c, net);
    }
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) claim_loss(c, nets, &losses[i]);
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++) claim_gain(c, nets, &gains[i]);
    claim_room(c);
}

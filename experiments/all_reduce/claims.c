/* claims.c - the tables of all_reduce, and the claims about its rows. */
#include "all_reduce.h"

#include <math.h>
#include <string.h>

/* ---- rows ---- */

/* The subject of a row. */
typedef struct key {
    int data, order, mean;
    const char *format, *mode;
    int64_t ranks;
} key;

static int is_row(const void *own, const void *at, const void *wanted) {
    const row *r = own;
    const key *k = wanted;
    (void)at;
    return r->data == k->data && r->ranks == k->ranks && r->order == k->order && r->mean == k->mean &&
           strcmp(r->format, k->format) == 0 && strcmp(r->mode, k->mode) == 0;
}

static const row *find(const ulp_claims *c, key k) { return ulp_table_find(c->table, &(size_t){0}, is_row, &k); }

static const char *order_name(int order) {
    static const char *const names[] = {"ring", "tree", "doubling", "two-level"};
    return names[order];
}

static int is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/* Formats in which 2^p and the quotients of the claims are numbers. */
static int is_claimed(const ulp_format *f) {
    return ulp_word_index("binary32 binary16 bfloat16 e5m2 e4m3", f->name) >= 0;
}

/* ---- equal gradients ---- */

/* The largest sum of ones that an order reaches: a ring stops at 2^p, a ring of nodes at 2^p nodes. */
static double reach(const settings *s, const ulp_format *f, int order, int64_t ranks) {
    const double limit = order == ULP_REDUCE_RING        ? ldexp(1, f->prec)
                         : order == ULP_REDUCE_TWO_LEVEL ? (double)s->node * ldexp(1, f->prec)
                                                         : (double)ranks;
    return limit < (double)ranks ? limit : (double)ranks;
}

/* Claims that 1 + 1 + ... over R ranks, R a power of two, has the exact mean of the order, or overflows. */
static void claim_ones(ulp_claims *c, int order) {
    const settings *s = c->settings;
    ulp_finding found = {0};
    for (size_t f = 0; f < s->formats.count; f++) {
        const ulp_format *format = &s->formats.at[f];
        int wrong = 0, seen = 0;
        int64_t stop = 0, most = 0;
        double mean = 0;
        for (size_t i = 0; i < s->ranks.count && is_claimed(format); i++) {
            const int64_t R = s->ranks.at[i];
            const row *r = find(c, (key){ONES, order, ULP_MEAN_AFTER, format->name, "rne", R});
            const double sum = reach(s, format, order, R);
            if (!r || !is_power_of_two(R)) continue;
            const int right = sum > format->max ? !isfinite(r->value) : r->value == sum / (double)R;
            wrong += !right;
            seen++;
            if (r->value == 1 && R > stop) stop = R;
            if (R > most) most = R, mean = r->value;
        }
        if (seen)
            ulp_finding_add(&found, !wrong, "%s up to %lld ranks, %g at %lld", format->name, (long long)stop, mean,
                            (long long)most);
    }
    ulp_claim_found(c, is_power_of_two(s->node) ? "" : "--node is no power of two", &found,
                    order == ULP_REDUCE_RING ? "%s of equal gradients: exact up to 2^p ranks, then 2^p / R of the mean"
                    : order == ULP_REDUCE_TWO_LEVEL
                        ? "%s of equal gradients: exact up to 2^p nodes, then 2^p nodes / R of the mean"
                        : "%s of equal gradients: exact for every power of two, until the sum overflows",
                    order_name(order));
}

/* The case of the text books: 1024 ranks in bfloat16. */
static void claim_quarter(ulp_claims *c) {
    ulp_finding found = {0};
    for (int order = 0; order < ULP_REDUCE_ORDERS; order++) {
        const row *r = find(c, (key){ONES, order, ULP_MEAN_AFTER, "bfloat16", "rne", 1024});
        if (r)
            ulp_finding_add(&found, r->value == (order == ULP_REDUCE_RING ? 0.25 : 1), "%s %g", order_name(order),
                            r->value);
    }
    ulp_claim_found(c, ulp_claim_reason(c, "node"), &found,
                    "1024 equal gradients in bfloat16: a ring gives a quarter of the mean, other orders the mean");
}

/* 1024 gradients of 64 or of 2^-20 in binary16, divided at each place. */
static void claim_range(ulp_claims *c, int data) {
    static const char *const places[] = {"after", "before", "half"};
    const double x = data == LARGE ? 64 : 0x1p-20;
    ulp_finding found = {0};
    for (int mean = 0; mean < ULP_MEANS; mean++)
        for (int order = 0; order < ULP_REDUCE_ORDERS; order++) {
            const row *r = find(c, (key){data, order, mean, "binary16", "rne", 1024});
            const int lost =
                data == TINY && (mean == ULP_MEAN_BEFORE || (mean == ULP_MEAN_HALF && order != ULP_REDUCE_TWO_LEVEL));
            const double want = data == LARGE && mean == ULP_MEAN_AFTER ? INFINITY : lost ? 0 : x;
            if (r) ulp_finding_add(&found, r->value == want, "%s %s %g", places[mean], order_name(order), r->value);
        }
    if (data == LARGE)
        ulp_claim_found(c, ulp_claim_reason(c, "node"), &found,
                        "1024 gradients of 64 overflow binary16 in every order, unless divided by 1024 or 32 first");
    else
        ulp_claim_found(c, ulp_claim_reason(c, "node"), &found,
                        "1024 gradients of 2^-20 in binary16: 0 if divided by 1024 first, 2^-20 if divided last; "
                        "divided by 32 first, they survive only in nodes that add in binary32");
}

/* For a power of two of ranks, doubling forms the sums of the tree, with the same random words. */
static void claim_doubling(ulp_claims *c) {
    size_t same = 0, other = 0;
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = (const row *)c->table->rows + i;
        if (r->order != ULP_REDUCE_TREE || r->data == TRAINING || !is_power_of_two(r->ranks)) continue;
        const row *d = find(c, (key){r->data, ULP_REDUCE_DOUBLING, r->mean, r->format, r->mode, r->ranks});
        if (!d || ulp_mode_is_stochastic(((const point *)c->table->points[i])->how.rule.mode)) continue;
        const int equal = ulp_bits64(d->value) == ulp_bits64(r->value) && ulp_bits64(d->error) == ulp_bits64(r->error);
        same += (size_t)equal;
        other += (size_t)!equal;
    }
    if (same + other)
        ulp_claim(c, !other, "recursive doubling over a power of two of ranks gives the bits of the tree",
                  "%zu of %zu results", same, same + other);
}

/* ---- random gradients ---- */

static void claim_bound(ulp_claims *c) {
    ulp_finding found = {0};
    double closest[2] = {0, 0};
    size_t beyond[2] = {0, 0}, n[2] = {0, 0};
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = (const row *)c->table->rows + i;
        const point *p = c->table->points[i];
        if ((r->data != NORMAL && r->data != UNIFORM) || !is_claimed(&p->how.format) || !isfinite(r->value)) continue;
        const int k = r->data == UNIFORM;
        const double share = r->worst / r->bound;
        n[k]++;
        beyond[k] += share > 1;
        if (share > closest[k]) closest[k] = share;
    }
    for (int k = 0; k < 2; k++)
        if (n[k])
            ulp_finding_add(&found, !beyond[k], "%s: %zu of %zu, at most %.2f of the bound", k ? "uniform" : "normal",
                            n[k] - beyond[k], n[k], closest[k]);
    ulp_claim_found(c, "", &found, "no error of a finite mean of random gradients exceeds (1 + u)^k - 1");
}

/* Compare the errors of two rows in every format, at the largest number of ranks. */
static void claim_better(ulp_claims *c, key worse, key better, double factor, const char *text) {
    const settings *s = c->settings;
    ulp_finding found = {0};
    worse.ranks = better.ranks = ulp_integers_most(&s->ranks);
    for (size_t f = 0; f < s->formats.count; f++) {
        const ulp_format *format = &s->formats.at[f];
        worse.format = better.format = format->name;
        const row *a = find(c, worse), *b = find(c, better);
        if (!a || !b || !is_claimed(format) || !isfinite(b->value)) continue;
        if (ldexp(4, format->prec) > (double)worse.ranks) continue; /* the ring does not stagnate */
        ulp_finding_add(&found, b->error * factor <= a->error, "%s %.3g and %.3g", format->name, a->error, b->error);
    }
    ulp_claim_found(c, worse.ranks < 4096 ? "--ranks ends below 4096" : "", &found, "%s", text);
}

/* ---- trainings ---- */

/* Means over the seeds. */
typedef struct trained {
    double accuracy, loss, moved, skipped;
    int n;
} trained;

static trained trained_of(const ulp_claims *c, const char *reduction, int64_t ranks) {
    trained t = {0};
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->data != TRAINING || r->ranks != ranks || strcmp(r->reduction, reduction) != 0) continue;
        t.accuracy += 100 * r->accuracy;
        t.loss += r->loss;
        t.moved += r->moved;
        t.skipped += (double)r->skipped;
        t.n++;
    }
    const double n = t.n ? t.n : 1;
    return (trained){t.accuracy / n, t.loss / n, t.moved / n, t.skipped / n, t.n};
}

static void print_trainings(ulp_claims *c) {
    const settings *s = c->settings;
    ulp_sheet *sheet =
        ulp_sheet_new("trainings: means over the seeds; moved: |w - w1| / |w1|, w1 the weights of one rank",
                      "reduction,ranks,accuracy,training loss,moved,skipped steps");
    for (size_t i = 0; i < s->reductions.count; i++)
        for (size_t k = 0; k < s->train_ranks.count; k++) {
            const char *name = s->reductions.at[i].name;
            const trained t = trained_of(c, name, s->train_ranks.at[k]);
            ulp_sheet_put_row(sheet, "%s,%lld,%.2f %%,%.4g,%.3g,%.1f", name, (long long)s->train_ranks.at[k],
                              t.accuracy, t.loss, t.moved, t.skipped);
            ulp_summary(c, "accuracy", t.accuracy, "%s %lld", name, (long long)s->train_ranks.at[k]);
            ulp_summary(c, "moved", t.moved, "%s %lld", name, (long long)s->train_ranks.at[k]);
        }
    ulp_sheet_print(sheet, c->file);
}

#define TRAINING_OPTIONS "net, batch, steps, rate, momentum, scale, set, train-ranks"

/* Every order and format learns: at most `points` below the ring in binary32. */
static void claim_accuracy(ulp_claims *c) {
    const settings *s = c->settings;
    const int64_t most = ulp_integers_most(&s->train_ranks);
    const trained reference = trained_of(c, "ring:binary32:rne", most);
    const double points = 4 * 1.0 / sqrt(reference.n ? reference.n : 1);
    ulp_finding found = {0};
    for (size_t i = 0; i < s->reductions.count && reference.n; i++) {
        const trained t = trained_of(c, s->reductions.at[i].name, most);
        ulp_finding_add(&found, t.accuracy >= reference.accuracy - points, "%s %.2f %%", s->reductions.at[i].name,
                        t.accuracy);
    }
    ulp_claim_found(c, ulp_claim_reason(c, TRAINING_OPTIONS), &found,
                    "with %lld ranks every reduction ends at most %.2g points below a ring in binary32",
                    (long long)most, points);
}

/* The ring leads further away from one rank than the tree, in the same format. */
static void claim_moved(ulp_claims *c) {
    static const char *const formats[] = {"bfloat16", "e5m2", "e4m3"};
    const settings *s = c->settings;
    const int64_t most = ulp_integers_most(&s->train_ranks), least = ulp_integers_least(&s->train_ranks);
    ulp_finding apart = {0}, grows = {0};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        char ring[64], tree[64];
        snprintf(ring, sizeof ring, "ring:%s:rne", formats[f]);
        snprintf(tree, sizeof tree, "tree:%s:rne", formats[f]);
        const trained r = trained_of(c, ring, most), t = trained_of(c, tree, most), few = trained_of(c, ring, least);
        if (!r.n || !t.n) continue;
        ulp_finding_add(&apart, r.moved > t.moved, "%s %.3g and %.3g", formats[f], r.moved, t.moved);
        if (f > 0) /* bfloat16 does not stagnate over so few ranks */
            ulp_finding_add(&grows, r.moved > 2 * few.moved, "%s %.3g and %.3g", formats[f], few.moved, r.moved);
    }
    const trained exact = trained_of(c, "ring:binary32:rne", most);
    const char *why = ulp_claim_reason(c, TRAINING_OPTIONS);
    if (exact.n)
        ulp_claim_if(c, why, exact.moved < 1e-3, "ranks that reduce in binary32 end where one rank ends",
                     "|w - w1| / |w1| is %.2g", exact.moved);
    ulp_claim_found(c, why, &apart, "with %lld ranks a ring ends further from one rank than a tree", (long long)most);
    ulp_claim_found(c, why, &grows,
                    "in a ring of 8 bits the distance to one rank more than doubles from %lld to %lld ranks",
                    (long long)least, (long long)most);
}

/* ---- the table of equal gradients ---- */

static void print_ones(ulp_claims *c) {
    const settings *s = c->settings;
    ulp_sheet *sheet =
        ulp_sheet_new("mean of equal gradients, as a share of the true mean, to nearest, divided after the sum",
                      "format,ranks,ring,tree,doubling,two-level");
    for (size_t f = 0; f < s->formats.count; f++)
        for (size_t i = 0; i < s->ranks.count; i++) {
            const int64_t R = s->ranks.at[i];
            if (R != 256 && R != 1024 && R != ulp_integers_most(&s->ranks)) continue;
            ulp_sheet_put_row(sheet, "%s,%lld", s->formats.at[f].name, (long long)R);
            for (int order = 0; order < ULP_REDUCE_ORDERS; order++) {
                const row *r = find(c, (key){ONES, order, ULP_MEAN_AFTER, s->formats.at[f].name, "rne", R});
                ULP_SHEET_PUT_IF(r, sheet, "%g", r->value);
            }
        }
    ulp_sheet_print(sheet, c->file);
}

void judge(ulp_claims *c) {
    if (((const settings *)c->settings)->lesson.how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);
    const key ring = {UNIFORM, ULP_REDUCE_RING, ULP_MEAN_AFTER, NULL, "rne", 0};
    key tree = ring, stochastic = ring;
    tree.order = ULP_REDUCE_TREE;
    stochastic.mode = "sra";
    print_ones(c);
    print_trainings(c);
    for (int order = 0; order < ULP_REDUCE_ORDERS; order++) claim_ones(c, order);
    claim_quarter(c);
    claim_range(c, LARGE);
    claim_range(c, TINY);
    claim_doubling(c);
    claim_bound(c);
    claim_better(
        c, ring, tree, 10,
        "U[0,1] over 4096 ranks, to nearest: where the ring stagnates, the tree has at most a tenth of its error");
    claim_better(c, ring, stochastic, 2,
                 "U[0,1] over 4096 ranks: where the ring stagnates, stochastic rounding halves its error or better");
    claim_accuracy(c);
    claim_moved(c);
}

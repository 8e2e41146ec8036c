/* claims.c - the table of loss_scaling, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loss_scaling.h"

/* Whether a row is the end of a run with the network, the format and the scaler of the key, for any seed. */
static int is_run(const void *r, const void *at, const void *key) {
    const point *p = at, *k = key;
    return ((const row *)r)->what == FINAL && p->network == k->network && p->format == k->format &&
           p->scaler == k->scaler && p->scale == k->scale;
}

static ulp_training_mean mean_of(const ulp_claims *c, const ulp_network *network, const ulp_format *format, int scaler,
                                 int64_t scale) {
    const point key = {network, format, scaler, scale, 0};
    return ulp_training_mean_of(c->table, offsetof(row, cells), is_run, &key);
}

/* Prints a row for every run of the first seed, with means over all seeds, and puts the means into the summary. */
static void print_table(ulp_claims *c, const char *interval) {
    const char *title = ulp_claim_text(
        c, "means over the seeds; test accuracy (NaN answers are wrong) and zero gradients in percent; %s", interval);
    ulp_sheet *table = ulp_sheet_new(title, "net,gradients,scaler," ULP_TRAINING_MEAN_COLUMNS);
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = (const row *)c->table->rows + i;
        const point *p = c->table->points[i];
        const ulp_training_mean m = mean_of(c, p->network, p->format, p->scaler, p->scale);
        if (r->what != FINAL || r->seed != (int64_t)((const settings *)c->settings)->seed) continue;
        ulp_word name = ulp_word_of(SCALER_WORDS, (size_t)r->scaler);
        if (r->scaler == STATIC) snprintf(name.text, sizeof name.text, "2^%lld", (long long)r->static_log2);
        ulp_sheet_put_row(table, "%s,%s,%s", r->net, r->format, name.text);
        ulp_training_mean_put(table, &m);
        ulp_summary(c, "accuracy", m.accuracy, "%s %s %s", r->net, r->format, name.text);
        ulp_summary(c, "loss", m.loss, "%s %s %s", r->net, r->format, name.text);
    }
    ulp_sheet_print(table, c->file);
}

/* Data for the claims about one network. */
typedef struct judged {
    ulp_claims *c;
    const settings *s;
    const ulp_network *network;
    const ulp_integer_list *scales;
    ulp_training_mean reference;
    double points; /* accuracies that are at most so far below binary32 count as equal; in percent of the test part */
    const char *interval; /* what the table says about growth intervals */
    const char *why;      /* how the set-up differs from that of the claims; "" if it does not */
} judged;

/* The accepted distance to binary32: four standard errors of the mean over the seeds. A deviation is the root mean
 * square difference of a run to binary32 with the same seed, over the runs between the walls (300 steps, three seeds:
 * 132 of mlp, 141 of small, 42 to 52 of the others; vit: 30 runs of the scaler pytorch). A network of --net, which has
 * no claims, takes that of mlp, and so does gpt. */
static double points_of(const judged *j) {
    static const double deviations[] = {0.35, 0.46, 0.59, 0.94, 0.83, 1.55, 0.52};
    const int i = ulp_word_index("mlp small cnn resnet gru lstm vit", j->network->name);
    return 4 * deviations[i < 0 ? 0 : i] / sqrt(j->reference.n);
}

static int is_claimed(const ulp_format *f) { return ulp_word_index("binary16 e5m2 e4m3", f->name) >= 0; }

/* The widest range of neighbouring static scales at which the accuracy of a format is within `points` of binary32. */
typedef struct window {
    const ulp_format *format;
    int64_t low, high, room; /* log2; the last is high - low, or -1 if there is no such scale */
    double wall;             /* log2 of the least scale from which on every run diverges; NaN if there is none */
} window;

static window window_of(const judged *j, const ulp_format *format) {
    window best = {format, 1, 0, -1, NAN};
    int64_t low = 0;
    int good = 0;
    for (size_t i = 0; i < j->scales->count; i++) {
        const int64_t k = j->scales->at[i];
        const ulp_training_mean m = mean_of(j->c, j->network, format, STATIC, k);
        if (!good) low = k;
        good = m.accuracy >= j->reference.accuracy - j->points;
        if (good && k - low > best.room) best = (window){format, low, k, k - low, best.wall};
        best.wall = m.n == 0 || m.diverged < m.n ? NAN : isnan(best.wall) ? (double)k : best.wall;
    }
    return best;
}

/* Claims about the two walls of every format and the scales between them; the figure draws the right walls. On a fine
 * grid, a format with a wider range has more such scales. */
static void claim_walls(const judged *j, int fine) {
    const char *net = j->network->name;
    const double binary32 = j->reference.accuracy;
    const long long low = ulp_integers_least(j->scales), high = ulp_integers_most(j->scales);
    ulp_finding within = {0}, at_low = {0}, at_high = {0}, narrower = {0};
    window last = {0};
    for (size_t f = 0; f < j->s->formats.count; f++) {
        const ulp_format *format = &j->s->formats.at[f];
        const ulp_training_mean left = mean_of(j->c, j->network, format, STATIC, low),
                                right = mean_of(j->c, j->network, format, STATIC, high);
        const window w = window_of(j, format);
        if (!isnan(w.wall))
            ulp_summary(j->c, "log2 of the scale from which on all diverge", w.wall, "%s %s", net, format->name);
        if (left.n == 0 || !is_claimed(format)) continue;
        if (w.room < 0) ulp_finding_add(&within, 0, "%s no scale", format->name);
        else ulp_finding_add(&within, 1, "%s 2^%lld to 2^%lld", format->name, (long long)w.low, (long long)w.high);
        ulp_finding_add(&at_low, left.accuracy <= binary32 - 5 && left.zero > 95, "%s %.2f %% with %.2f %% zero",
                        format->name, left.accuracy, left.zero);
        ulp_finding_add(&at_high, right.diverged == right.n && right.accuracy <= binary32 - 5,
                        "%s %d of %d runs, %.2f %%", format->name, right.diverged, right.n, right.accuracy);
        if (fine && last.format) {
            const int wider = format->emax - format->qmin - (last.format->emax - last.format->qmin);
            ulp_finding_add(&narrower, wider > 0 ? w.room > last.room : wider == 0 || w.room < last.room,
                            "%s %lld and %s %lld octaves", last.format->name, (long long)last.room, format->name,
                            (long long)w.room);
        }
        last = w;
    }
    ulp_finding_note(&within, "binary32 %.2f %%", binary32);
    ulp_finding_note(&at_low, "binary32 %.2f %% with %.2f %%", binary32, j->reference.zero);
    ulp_claim_found(j->c, j->why, &within,
                    "%s: in every format there are static scales at most %.2g points below binary32", net, j->points);
    ulp_claim_found(j->c, j->why, &at_low,
                    "%s, left wall: at 2^%lld nearly all gradients are zero and 5 points or more are lost", net, low);
    ulp_claim_found(j->c, j->why, &at_high, "%s, right wall: at 2^%lld every run overflows and diverges", net, high);
    ulp_claim_found(j->c, j->why, &narrower, "%s: the fewer powers of two a format has, the closer its walls", net);
}

static int has_attention(const ulp_network *network) {
    size_t i = 0;
    while (i < network->net.count && network->net.layers[i].kind->operation != ULP_OPERATION_ATTENTION) i++;
    return i < network->net.count;
}

/* Claims that one scaler needs no scale chosen by hand, in every format of the claims. */
static void claim_scaler(const judged *j, int scaler) {
    const char *const why = *j->why || scaler != LAYER || !has_attention(j->network)
                                ? j->why
                                : "a layer of attention has one scale for tensors of many magnitudes";
    const char *net = j->network->name;
    const ulp_word name = ulp_word_of(SCALER_WORDS, (size_t)scaler);
    const double binary32 = j->reference.accuracy;
    ulp_finding found = {0};
    double skipped = 0;
    for (size_t f = 0; f < j->s->formats.count; f++) {
        const ulp_format *format = &j->s->formats.at[f];
        const ulp_training_mean m = mean_of(j->c, j->network, format, scaler, 0),
                                unscaled = mean_of(j->c, j->network, format, STATIC, 0);
        const int good = m.accuracy >= binary32 - j->points && m.diverged == 0;
        if (m.n == 0 || !is_claimed(format)) continue;
        skipped += m.skipped;
        if (scaler == DELAYED16_INF)
            ulp_finding_add(&found, m.diverged == m.n, "%s %d of %d runs", format->name, m.diverged, m.n);
        else if (scaler >= AMAX)
            ulp_finding_add(&found, good && (unscaled.n == 0 || m.zero < unscaled.zero), "%s %.2f %%", format->name,
                            m.accuracy);
        else
            ulp_finding_add(&found, good && m.scale >= (double)window_of(j, format).low, "%s %.2f %% at 2^%.1f",
                            format->name, m.accuracy, m.scale);
    }
    ulp_finding_note(&found, "binary32 %.2f %%", binary32);
    if (scaler < AMAX && found.count) ulp_finding_note(&found, "%.1f steps skipped per run", skipped / found.count);
    if (scaler == DELAYED16_INF)
        ulp_claim_found(j->c, why, &found,
                        "%s, %s: late scales let a gradient overflow, and every run diverges where that gives Inf", net,
                        name.text);
    else if (scaler >= AMAX)
        ulp_claim_found(j->c, why, &found,
                        "%s, %s: with a scale per tensor and no loss scale 8-bit gradients end at most %.2g points "
                        "below binary32, and fewer are zero than at 2^0",
                        net, name.text, j->points);
    else
        ulp_claim_found(j->c, why, &found,
                        "%s, %s: at most %.2g points below binary32 in every format with no scale chosen by hand; %s",
                        net, name.text, j->points,
                        scaler == BACKOFF  ? "its scale only ever halved"
                        : scaler == LOGMAX ? "its scale followed the gradients"
                                           : j->interval);
}

void judge(ulp_claims *c) {
    if (((const settings *)c->settings)->networks.how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);
    const settings *s = c->settings;
    const ulp_networks *networks = c->context;
    char interval[96];
    snprintf(interval, sizeof interval, "growth intervals of 2000 steps (megatron: 1000), %s %lld",
             s->interval ? "cut to" : "not cut:", (long long)s->interval);
    print_table(c, interval);
    for (size_t f = 0; f < s->formats.count; f++)
        if (!is_claimed(&s->formats.at[f]))
            ulp_claim_skip(c, ulp_claim_text(c, "%s gradients: walls and scalers", s->formats.at[f].name),
                           "the claims are about binary16, e5m2 and e4m3");
    for (size_t i = 0; i < networks->count; i++) {
        const ulp_network *network = &networks->at[i];
        judged j = {.c = c, .s = s, .network = network, .scales = &s->grid[i > 0].scales, .interval = interval};
        j.reference = mean_of(c, network, NULL, NONE, 0);
        j.points = points_of(&j);
        ulp_summary(c, "points", j.points, "%s", network->name);
        j.why = ulp_claim_reason(c, i ? "policy, net, batch, steps, rate, momentum, interval, set, other-scales"
                                      : "policy, net, batch, steps, rate, momentum, interval, set, scales");
        if (strcmp(network->name, "gpt") == 0 && !*j.why)
            j.why = "how far single runs of gpt lie from binary32 was not measured";
        claim_walls(&j, i == 0);
        for (int scaler = PYTORCH; scaler < SCALERS; scaler++) claim_scaler(&j, scaler);
    }
}

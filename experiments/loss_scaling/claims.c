/* claims.c - the table of loss_scaling, and the claims about its rows. */
#include <math.h>
#include <stdio.h>

#include "loss_scaling.h"

/* The mean over the seeds of a run; accuracies and gradients in percent. */
typedef struct mean {
    double accuracy, loss, zero, skipped, scale;
    int diverged, n;
} mean;

static mean mean_of(const ulp_claims *c, point p) {
    const row *r = c->table->rows;
    mean m = {0};
    for (size_t i = 0; i < c->table->count; i++) {
        const point *q = c->table->points[i];
        if (r[i].what != FINAL || q->network != p.network || q->format != p.format || q->scaler != p.scaler ||
            q->scale != p.scale)
            continue;
        m.accuracy += 100 * r[i].test_accuracy;
        m.loss += r[i].loss;
        m.zero += 100 * r[i].gradients.zero;
        m.skipped += (double)r[i].skipped;
        m.scale += (double)r[i].scale_log2;
        m.diverged += !isfinite(r[i].loss);
        m.n++;
    }
    const double n = m.n ? m.n : 1;
    return (mean){m.accuracy / n, m.loss / n, m.zero / n, m.skipped / n, m.scale / n, m.diverged, m.n};
}

/* What was done to the scalers' growth intervals. */
static void tell_interval(char *text, size_t size, const settings *s) {
    if (s->interval == 0) snprintf(text, size, "growth intervals of 2000 steps (megatron: 1000)");
    else snprintf(text, size, "growth intervals cut from 2000 steps (megatron: 1000) to %lld", (long long)s->interval);
}

static void print_table(ulp_claims *c) {
    const settings *s = c->settings;
    char interval[96], name[32];
    tell_interval(interval, sizeof interval, s);
    ulp_sheet *table = ulp_sheet_new(
        ulp_claim_text(
            c,
            "means over the seeds; accuracy on the test part (NaN answers are wrong) and zero gradients in percent; %s",
            interval),
        "net,gradients,scaler,accuracy,training loss,diverged,zero,skipped,last scale");
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = (const row *)c->table->rows + i;
        const mean m = mean_of(c, *(const point *)c->table->points[i]);
        if (r->what != FINAL || r->seed != (int64_t)s->seed) continue;
        ulp_word_at(name, sizeof name, SCALER_WORDS, (size_t)r->scaler);
        if (r->scaler == STATIC) snprintf(name, sizeof name, "2^%lld", (long long)r->static_log2);
        ulp_sheet_put_row(table, "%s,%s,%s,%.2f,%.4g,%d of %d,%.2f,%.1f,2^%.1f", r->net, r->format, name, m.accuracy,
                          m.loss, m.diverged, m.n, m.zero, m.skipped, m.scale);
        ulp_summary(c, "accuracy", m.accuracy, "%s %s %s", r->net, r->format, name);
        ulp_summary(c, "loss", m.loss, "%s %s %s", r->net, r->format, name);
    }
    ulp_sheet_print(table, c->file);
}

/* ---- claims ---- */

/* What the claims about one network need. */
typedef struct judged {
    ulp_claims *c;
    const settings *s;
    const ulp_network *network;
    const ulp_integer_list *scales;
    mean reference;
    double points; /* how far below binary32 counts as the same, in percent of the test part */
    char why[320]; /* if another set-up than that of the claims: in which way */
} judged;

/* Networks but mlp and small: four standard errors of the mean over the seeds. The deviation of one run from that of
 * binary32 with its seed is the root of the mean square of 42 to 52 such deviations, those of the runs between the
 * walls with mlp first, 300 steps and three seeds. */
static double points_of(const judged *j) {
    static const double deviations[] = {0.59, 0.94, 0.83, 1.55};
    const int i = ulp_word_index("cnn resnet gru lstm", j->network->name);
    return i < 0 ? j->s->points : 4 * deviations[i] / sqrt(j->reference.n);
}

static mean static_mean(const judged *j, const ulp_format *format, int64_t scale) {
    return mean_of(j->c, (point){j->network, format, STATIC, scale, 0});
}

static int is_claimed(const ulp_format *f) { return ulp_word_index("binary16 e5m2 e4m3", f->name) >= 0; }

/* The static scales of a format within the points of binary32: the widest run of neighbours on the grid. */
typedef struct window {
    int64_t low, high; /* log2; low > high: none */
} window;

static window window_of(const judged *j, const ulp_format *format) {
    window best = {1, 0}, now = best;
    for (size_t i = 0; i < j->scales->count; i++) {
        const int64_t k = j->scales->at[i];
        const int good = static_mean(j, format, k).accuracy >= j->reference.accuracy - j->points;
        now = !good ? (window){1, 0} : (window){now.low > now.high ? k : now.low, k};
        if (good && (best.low > best.high || now.high - now.low > best.high - best.low)) best = now;
    }
    return best;
}

/* Both walls in every format, what lies between, and, on a fine grid, that a wider range leaves more room. */
static void claim_walls(const judged *j, int fine) {
    ulp_claims *c = j->c;
    const char *net = j->network->name;
    const mean all = j->reference;
    char within[300] = "", at_left[300] = "", at_right[300] = "";
    int64_t low = INT64_MAX, high = INT64_MIN, last = 0;
    int found = 0, last_range = 0, some = 1, left_wall = 1, right_wall = 1, narrower = 1;
    for (size_t i = 0; i < j->scales->count; i++) {
        low = j->scales->at[i] < low ? j->scales->at[i] : low;
        high = j->scales->at[i] > high ? j->scales->at[i] : high;
    }
    for (size_t f = 0; f < j->s->formats.count; f++) {
        const ulp_format *format = &j->s->formats.at[f];
        const mean left = static_mean(j, format, low), right = static_mean(j, format, high);
        const window w = window_of(j, format);
        const int range = format->emax - format->qmin;
        if (left.n == 0 || !is_claimed(format)) continue;
        if (w.low > w.high) ulp_list_add(within, sizeof within, "%s no scale", format->name);
        else
            ulp_list_add(within, sizeof within, "%s 2^%lld to 2^%lld", format->name, (long long)w.low,
                         (long long)w.high);
        ulp_list_add(at_left, sizeof at_left, "%s %.2f %% with %.2f %% zero", format->name, left.accuracy, left.zero);
        ulp_list_add(at_right, sizeof at_right, "%s %d of %d runs, %.2f %%", format->name, right.diverged, right.n,
                     right.accuracy);
        some &= w.low <= w.high;
        left_wall &= left.accuracy <= all.accuracy - 5 && left.zero > 95;
        right_wall &= right.diverged == right.n && right.accuracy <= all.accuracy - 5;
        narrower &=
            !found || (range > last_range ? w.high - w.low > last : range == last_range || w.high - w.low < last);
        last = w.high - w.low;
        last_range = range;
        found++;
    }
    if (!found) return;
    ulp_claim_if(c, j->why, some,
                 ulp_claim_text(c, "%s: in every format there are static scales at most %.2g points below binary32",
                                net, j->points),
                 "%s; binary32 %.2f %%", within, all.accuracy);
    ulp_claim_if(c, j->why, left_wall,
                 ulp_claim_text(c,
                                "%s, left wall: at 2^%lld nearly all gradients are zero and 5 points or more are lost",
                                net, (long long)low),
                 "%s; binary32 %.2f %% with %.2f %%", at_left, all.accuracy, all.zero);
    ulp_claim_if(c, j->why, right_wall,
                 ulp_claim_text(c, "%s, right wall: at 2^%lld every run overflows and diverges", net, (long long)high),
                 "%s", at_right);
    if (fine && found > 1)
        ulp_claim_if(c, j->why, narrower,
                     ulp_claim_text(c, "%s: the fewer powers of two a format has, the closer its walls", net), "%s",
                     within);
}

/* Nothing chosen by hand: one scaler, every format that claims are about. */
static void claim_scaler(const judged *j, int scaler) {
    ulp_claims *c = j->c;
    char measured[300] = "", where[300] = "", name[24], how[96];
    int good = 1, found = 0, diverged = 0, runs = 0;
    double skipped = 0;
    for (size_t f = 0; f < j->s->formats.count; f++) {
        const ulp_format *format = &j->s->formats.at[f];
        const mean m = mean_of(c, (point){j->network, format, scaler, 0, 0}), one = static_mean(j, format, 0);
        if (m.n == 0 || !is_claimed(format)) continue;
        ulp_list_add(measured, sizeof measured, "%s %.2f %%", format->name, m.accuracy);
        ulp_list_add(where, sizeof where, "%s 2^%.1f", format->name, m.scale);
        good &= m.accuracy >= j->reference.accuracy - j->points && m.diverged == 0;
        good &= scaler < AMAX ? m.scale >= (double)window_of(j, format).low : one.n == 0 || m.zero < one.zero;
        skipped += m.skipped;
        diverged += m.diverged;
        runs += m.n;
        found++;
    }
    if (!found) return;
    ulp_word_at(name, sizeof name, SCALER_WORDS, (size_t)scaler);
    tell_interval(how, sizeof how, j->s);
    if (scaler == BACKOFF) snprintf(how, sizeof how, "its scale only ever halved");
    if (scaler == LOGMAX) snprintf(how, sizeof how, "its scale followed the gradients");
    if (scaler == DELAYED16_INF)
        ulp_claim_if(c, j->why, diverged == runs,
                     ulp_claim_text(
                         c, "%s, %s: late scales let a gradient overflow, and every run diverges where that gives Inf",
                         j->network->name, name),
                     "%d of %d runs", diverged, runs);
    else if (scaler >= AMAX)
        ulp_claim_if(c, j->why, good,
                     ulp_claim_text(c,
                                    "%s, %s: with a scale per tensor and no loss scale 8-bit gradients end at most "
                                    "%.2g points below binary32, and fewer are zero than at 2^0",
                                    j->network->name, name, j->points),
                     "%s; binary32 %.2f %%", measured, j->reference.accuracy);
    else
        ulp_claim_if(c, j->why, good,
                     ulp_claim_text(
                         c,
                         "%s, %s: at most %.2g points below binary32 in every format with no scale chosen by hand; %s",
                         j->network->name, name, j->points, how),
                     "%s; binary32 %.2f %%; last scales %s; %.1f steps skipped per run", measured,
                     j->reference.accuracy, where, skipped / found);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    const ulp_networks *networks = c->context;
    print_table(c);
    for (size_t f = 0; f < s->formats.count; f++)
        if (!is_claimed(&s->formats.at[f]))
            ulp_claim_skip(c, ulp_claim_text(c, "%s gradients: walls and scalers", s->formats.at[f].name),
                           "the claims are about binary16, e5m2 and e4m3");
    for (size_t i = 0; i < networks->count; i++) {
        judged j = {.c = c,
                    .s = s,
                    .network = &networks->at[i],
                    .scales = &s->grid[i > 0].scales,
                    .reference = mean_of(c, (point){.network = &networks->at[i]})};
        j.points = points_of(&j);
        ulp_summary(c, "points", j.points, "%s", j.network->name);
        if (!ulp_options_differ(c, "policy net batch steps rate momentum interval points set", j.why, sizeof j.why))
            ulp_options_differ(c, i ? "other-scales" : "scales", j.why, sizeof j.why);
        claim_walls(&j, i == 0);
        for (int scaler = PYTORCH; scaler < SCALERS; scaler++) claim_scaler(&j, scaler);
    }
}

/* claims.c - the table of loss_scaling.c, and the claims about its rows. */
#include "loss_scaling.h"

#include <math.h>
#include <string.h>

#include "experiments/harness/training/networks.h"

/* ---- the table ---- */

/* The mean over seeds of a kind of run; accuracies in percent. */
typedef struct mean {
    double accuracy, loss, zero, skipped, scale, diverged;
    int n;
} mean;

static mean mean_of(const ulp_run *run, const char *net, const char *format, const char *scaler, const char *scale) {
    mean m = {0};
    for (long row = 0; (row = ulp_row_find(run, row, "what", "final", "net", net, "format", format, "scaler", scaler,
                                           "static_log2", scale, (const char *)NULL)) != ULP_NO_ROW;
         row++) {
        double loss = ulp_row_number(run, row, "loss");
        m.accuracy += 100 * ulp_row_number(run, row, "test_accuracy");
        m.loss += loss;
        m.zero += 100 * ulp_row_number(run, row, "zero");
        m.skipped += ulp_row_number(run, row, "skipped");
        m.scale += ulp_row_number(run, row, "scale_log2");
        m.diverged += isnan(loss) || isinf(loss);
        m.n++;
    }
    double n = m.n ? m.n : 1;
    mean result = {m.accuracy / n, m.loss / n, m.zero / n, m.skipped / n, m.scale / n, m.diverged, m.n};
    return result;
}

static mean static_mean(const ulp_run *run, const char *net, const char *format, double scale) {
    char text[24];
    snprintf(text, sizeof text, "%d", (int)scale);
    return mean_of(run, net, format, "static", text);
}

static void put_mean(ulp_sheet *table, const char *net, const char *format, const char *scaler, mean m) {
    if (m.n == 0) return;
    ulp_sheet_put(table, "%s", net);
    ulp_sheet_put(table, "%s", format);
    ulp_sheet_put(table, "%s", scaler);
    ulp_sheet_put(table, "%.2f", m.accuracy);
    ulp_sheet_put(table, "%.4g", m.loss);
    ulp_sheet_put(table, "%.0f of %d", m.diverged, m.n);
    ulp_sheet_put(table, "%.2f", m.zero);
    ulp_sheet_put(table, "%.1f", m.skipped);
    ulp_sheet_put(table, "2^%.1f", m.scale);
}

/* What was done to the scalers' growth intervals. */
static void interval_text(const ulp_run *run, char *text, size_t size) {
    long long interval = (long long)ulp_option_integer(run, "interval");
    if (interval) snprintf(text, size, "growth intervals cut from 2000 steps (megatron: 1000) to %lld", interval);
    else snprintf(text, size, "growth intervals of 2000 steps (megatron: 1000)");
}

static void print_table(const ulp_run *run) {
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    char cut[160], title[320], name[64];
    ulp_network network;
    interval_text(run, cut, sizeof cut);
    snprintf(
        title, sizeof title,
        "means over the seeds; accuracy on the test part (NaN answers are wrong) and zero gradients in percent; %s",
        cut);
    ulp_sheet *table =
        ulp_sheet_new(title, "net,gradients,scaler,accuracy,training loss,diverged,zero,skipped,last scale");
    for (size_t i = 0; ulp_run_network(&network, run, i); i++) {
        const double *k = scales_of(run, i, &scales);
        put_mean(table, network.name, "binary32", "none", mean_of(run, network.name, "binary32", "none", ""));
        for (size_t f = 0; f < formats; f++) {
            for (size_t j = 0; j < scales; j++) {
                snprintf(name, sizeof name, "2^%.0f", k[j]);
                put_mean(table, network.name, format[f].name, name,
                         static_mean(run, network.name, format[f].name, k[j]));
            }
            for (int s = 0; s < SCALERS; s++) {
                scaler_label(run, name, sizeof name, s, &format[f]);
                put_mean(table, network.name, format[f].name, name,
                         mean_of(run, network.name, format[f].name, scalers[s].name, ""));
            }
        }
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* ---- claims ---- */

/* What the claims about one network need. */
typedef struct judge {
    ulp_run *run;
    ulp_network network;
    mean reference;
    double points;
    const double *scale; /* (scales) */
    size_t scales;
    const char *scalers; /* the option that names them */
    char why[320];       /* if another set-up than that of the claims: in which way */
} judge;

/* How far below binary32 counts as the same, in percent of the test part. Networks but mlp and small: four standard
 * errors of the mean over the seeds. The deviation of one run from that of binary32 with its seed is the root of the
 * mean square of 42 to 52 such deviations, those of the runs between the walls of the default run with three seeds. */
static double points_of(const ulp_run *run, const char *net, int seeds) {
    static const struct {
        const char *net;
        double deviation;
    } known[] = {{"cnn", 0.59}, {"resnet", 0.94}, {"gru", 0.83}, {"lstm", 1.55}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(net, known[i].net) == 0) return 4 * known[i].deviation / sqrt(seeds > 0 ? seeds : 1);
    return ulp_option_number(run, "points");
}

static judge judge_of(ulp_run *run, size_t net, const ulp_network *network) {
    judge j = {.run = run,
               .network = *network,
               .scalers = net ? "other-scalers" : "scalers",
               .reference = mean_of(run, network->name, "binary32", "none", "")};
    j.points = points_of(run, network->name, j.reference.n);
    j.scale = scales_of(run, net, &j.scales);
    if (!ulp_options_differ(ulp_run_claims(run), "policy net batch steps rate momentum interval points set", j.why,
                            sizeof j.why))
        ulp_options_differ(ulp_run_claims(run), net ? "other-scales" : "scales", j.why, sizeof j.why);
    return j;
}

static int is_claimed(const char *format) {
    return strcmp(format, "binary16") == 0 || strcmp(format, "e5m2") == 0 || strcmp(format, "e4m3") == 0;
}

/* The static scales of a format within the points of binary32: the widest run of neighbours on the grid. */
typedef struct window {
    double low, high; /* log2; low > high: none */
} window;

static window window_of(const judge *j, const char *format) {
    window best = {1, 0};
    for (size_t i = 0; i < j->scales; i++) {
        size_t end = i;
        while (end < j->scales && static_mean(j->run, j->network.name, format, j->scale[end]).accuracy >=
                                      j->reference.accuracy - j->points)
            end++;
        if (end == i) continue;
        if (best.low > best.high || j->scale[end - 1] - j->scale[i] > best.high - best.low)
            best = (window){j->scale[i], j->scale[end - 1]};
        i = end;
    }
    return best;
}

static const char *window_text(char *text, size_t size, window w) {
    if (w.low > w.high) snprintf(text, size, "no scale");
    else snprintf(text, size, "2^%.0f to 2^%.0f", w.low, w.high);
    return text;
}

/* Both walls in every format, what lies between, and, on a fine grid, that a wider range leaves more room. */
static void claim_walls(const judge *j, int fine) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(j->run, &formats);
    char text[200], room[64], within[300] = "", at_left[300] = "", at_right[300] = "";
    double low = INFINITY, high = -INFINITY, last = 0;
    int found = 0, last_range = 0, some = 1, left_wall = 1, right_wall = 1, narrower = 1;
    for (size_t i = 0; i < j->scales; i++) low = fmin(low, j->scale[i]), high = fmax(high, j->scale[i]);
    for (size_t f = 0; f < formats; f++) {
        mean left = static_mean(j->run, j->network.name, format[f].name, low),
             right = static_mean(j->run, j->network.name, format[f].name, high);
        window w = window_of(j, format[f].name);
        if (left.n == 0 || !is_claimed(format[f].name)) continue;
        ulp_list_add(within, sizeof within, "%s %s", format[f].name, window_text(room, sizeof room, w));
        ulp_list_add(at_left, sizeof at_left, "%s %.2f %% with %.2f %% zero", format[f].name, left.accuracy, left.zero);
        ulp_list_add(at_right, sizeof at_right, "%s %.0f of %d runs, %.2f %%", format[f].name, right.diverged, right.n,
                     right.accuracy);
        some &= w.low <= w.high;
        left_wall &= left.accuracy <= j->reference.accuracy - 5 && left.zero > 95;
        right_wall &= right.diverged == right.n && right.accuracy <= j->reference.accuracy - 5;
        int range = format[f].emax - format[f].qmin;
        narrower &=
            found == 0 || (range > last_range ? w.high - w.low > last : range == last_range || w.high - w.low < last);
        last = w.high - w.low;
        last_range = range;
        found++;
    }
    if (!found) return;
    snprintf(text, sizeof text, "%s: in every format there are static scales at most %.2g points below binary32",
             j->network.name, j->points);
    ulp_claim_if(ulp_run_claims(j->run), j->why, some, text, "%s; binary32 %.2f %%", within, j->reference.accuracy);
    snprintf(text, sizeof text, "%s, left wall: at 2^%.0f nearly all gradients are zero and 5 points or more are lost",
             j->network.name, low);
    ulp_claim_if(ulp_run_claims(j->run), j->why, left_wall, text, "%s; binary32 %.2f %% with %.2f %%", at_left,
                 j->reference.accuracy, j->reference.zero);
    snprintf(text, sizeof text, "%s, right wall: at 2^%.0f every run overflows and diverges", j->network.name, high);
    ulp_claim_if(ulp_run_claims(j->run), j->why, right_wall, text, "%s", at_right);
    snprintf(text, sizeof text, "%s: the fewer powers of two a format has, the closer its walls", j->network.name);
    if (fine && found > 1) ulp_claim_if(ulp_run_claims(j->run), j->why, narrower, text, "%s", within);
}

/* Nothing chosen by hand: one scaler, every format that claims are about. */
static void claim_scaler(const judge *j, int s) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(j->run, &formats);
    char text[320], measured[300] = "", where[300] = "", cut[160];
    int good = 1, found = 0;
    double skipped = 0, diverged = 0, runs = 0;
    for (size_t f = 0; f < formats; f++) {
        mean m = mean_of(j->run, j->network.name, format[f].name, scalers[s].name, "");
        if (m.n == 0 || !is_claimed(format[f].name)) continue;
        ulp_list_add(measured, sizeof measured, "%s %.2f %%", format[f].name, m.accuracy);
        ulp_list_add(where, sizeof where, "%s 2^%.1f", format[f].name, m.scale);
        good &= m.accuracy >= j->reference.accuracy - j->points && m.diverged == 0 &&
                (scalers[s].tensor || m.scale >= window_of(j, format[f].name).low);
        mean one = static_mean(j->run, j->network.name, format[f].name, 0);
        if (scalers[s].tensor && one.n) good &= m.zero < one.zero;
        skipped += m.skipped;
        diverged += m.diverged;
        runs += m.n;
        found++;
    }
    if (!found) return;
    if (scalers[s].tensor && strcmp(scalers[s].name, "delayed16-inf") == 0) {
        snprintf(text, sizeof text,
                 "%s, %s: late scales let a gradient overflow, and every run diverges where that gives Inf",
                 j->network.name, scalers[s].name);
        ulp_claim_if(ulp_run_claims(j->run), j->why, diverged == runs, text, "%.0f of %.0f runs", diverged, runs);
    } else if (scalers[s].tensor) {
        snprintf(text, sizeof text,
                 "%s, %s: with a scale per tensor and no loss scale 8-bit gradients end at most %.2g points below "
                 "binary32, and fewer are zero than at 2^0",
                 j->network.name, scalers[s].name, j->points);
        ulp_claim_if(ulp_run_claims(j->run), j->why, good, text, "%s; binary32 %.2f %%", measured,
                     j->reference.accuracy);
    } else {
        snprintf(cut, sizeof cut, "%s", scalers[s].way);
        if (scalers[s].grows) interval_text(j->run, cut, sizeof cut);
        snprintf(text, sizeof text,
                 "%s, %s: at most %.2g points below binary32 in every format with no scale chosen by hand; %s",
                 j->network.name, scalers[s].name, j->points, cut);
        ulp_claim_if(ulp_run_claims(j->run), j->why, good, text,
                     "%s; binary32 %.2f %%; last scales %s; %.1f steps skipped per run", measured,
                     j->reference.accuracy, where, skipped / found);
    }
}

void loss_scaling_check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    ulp_network network;
    char text[96];
    (void)context;
    print_table(run);
    for (size_t f = 0; f < formats; f++) {
        snprintf(text, sizeof text, "%s gradients: walls and scalers", format[f].name);
        if (!is_claimed(format[f].name))
            ulp_claim_skip(ulp_run_claims(run), text, "the claims are about binary16, e5m2 and e4m3");
    }
    for (size_t i = 0; ulp_run_network(&network, run, i); i++) {
        const judge j = judge_of(run, i, &network);
        claim_walls(&j, i == 0);
        for (int s = 0; s < SCALERS; s++) claim_scaler(&j, s);
    }
}

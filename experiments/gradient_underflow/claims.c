/* claims.c - the tables of gradient_underflow.c, and the claims about its rows. */
#include "gradient_underflow.h"

#include <string.h>

#include "experiments/harness/training/networks.h"

/* ---- tables ---- */

/* Counts of one network, kind, format and scale, over seeds. */
typedef struct total {
    double count, zero, flushed, overflow;
} total;

enum { NO_SCALE = -1000, PER_TENSOR = 1000 }; /* beside the numbers of --scales */

static total total_of(const ulp_run *run, const char *net, const char *kind, const char *layer, const char *stage,
                      const char *format, double scale) {
    total t = {0};
    char k[24] = "";
    if (scale < PER_TENSOR) snprintf(k, sizeof k, "%d", (int)scale);
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "scale_log2", k, "layer", layer, "format", format, "kind", kind, "stage", stage,
                           "net", net, (const char *)NULL);
        if (row == ULP_NO_ROW) return t;
        t.count += ulp_row_number(run, row, "count");
        t.zero += ulp_row_number(run, row, "zero");
        t.flushed += ulp_row_number(run, row, "flushed");
        t.overflow += ulp_row_number(run, row, "overflowed");
    }
}

static total whole_of(const ulp_run *run, const char *net, const char *kind, const char *format, double scale) {
    return total_of(run, net, kind, "all", "all", format, scale);
}

/* Share of the non-zero gradients that a format flushes, in percent. */
static double flushed_share(total t) { return t.count - t.zero > 0 ? 100 * t.flushed / (t.count - t.zero) : 0; }

static double flushed(const ulp_run *run, const char *net, const char *kind, const char *format, double scale) {
    return flushed_share(whole_of(run, net, kind, format, scale));
}

/* The largest scale of the grid at which nothing overflows; NO_SCALE if there is none. */
static double safe_scale(const ulp_run *run, const char *net, const char *format) {
    size_t scales;
    const double *k = ulp_option_numbers(run, "scales", &scales);
    double best = NO_SCALE;
    for (size_t i = 0; i < scales; i++) {
        double over =
            whole_of(run, net, "agrad", format, k[i]).overflow + whole_of(run, net, "wgrad", format, k[i]).overflow;
        if (over == 0 && k[i] > best) best = k[i];
    }
    return best;
}

static const char *scale_name(char *text, size_t size, double scale) {
    if (scale > NO_SCALE) snprintf(text, size, "2^%.0f", scale);
    else snprintf(text, size, "no scale");
    return text;
}

/* A dash where the scales of the grid leave it out. */
static void put_percent(ulp_sheet *table, double part, double whole) {
    if (whole > 0) ulp_sheet_put(table, "%.4g", 100 * part / whole);
    else ulp_sheet_put(table, "-");
}

static void print_formats(const ulp_run *run) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    ulp_network network;
    ulp_sheet *table = ulp_sheet_new(
        "percent of the gradients that are not zero in binary32, rounded to nearest even; zero in fp32: percent of all",
        "net,kind,format,zero in fp32,flushed at 1,at 2^8,at 2^16,at 2^24,overflowed at 2^16,at 2^24,safe "
        "scale,flushed there,with a scale per tensor");
    for (size_t i = 0; ulp_run_network(&network, run, i); i++)
        for (size_t row = 0; row < ULP_WATCH_KINDS * formats; row++) {
            const char *net = network.name, *kind = gradient_kind_names[row / formats],
                       *name = format[row % formats].name;
            char text[24];
            double safe = safe_scale(run, net, name);
            total t = whole_of(run, net, kind, name, PER_TENSOR);
            ulp_sheet_put(table, "%s", net);
            ulp_sheet_put(table, "%s", kind);
            ulp_sheet_put(table, "%s", name);
            put_percent(table, t.zero, t.count);
            for (int k = 0; k <= 40; k += 8) { /* flushed at 0, 8, 16, 24, overflowed at 16, 24 */
                t = whole_of(run, net, kind, name, k <= 24 ? k : k - 16);
                put_percent(table, k <= 24 ? t.flushed : t.overflow, t.count - t.zero);
            }
            ulp_sheet_put(table, "%s", scale_name(text, sizeof text, safe));
            t = whole_of(run, net, kind, name, safe);
            put_percent(table, t.flushed, t.count - t.zero);
            t = whole_of(run, net, kind, name, PER_TENSOR);
            put_percent(table, t.flushed, t.count - t.zero);
        }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* Of the first network. */
static void print_layers(const ulp_run *run, const char *net, const char *format) {
    ulp_sheet *table = ulp_sheet_new("by layer and stage at scale 1, percent of the gradients that are not zero in "
                                     "binary32; zero in fp32: percent of all",
                                     "net,kind,layer,name,zero in fp32,format,flushed: begin,middle,end");
    char seed[24];
    snprintf(seed, sizeof seed, "%lld", (long long)ulp_run_seed(run));
    for (long row = 0; row < ulp_row_count(run); row++) {
        row = ulp_row_find(run, row, "scale_log2", "0", "net", net, "seed", seed, "format", format, "stage", "all",
                           (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const char *kind = ulp_row_text(run, row, "kind"), *layer = ulp_row_text(run, row, "layer");
        total all = total_of(run, net, kind, layer, "all", format, 0);
        ulp_sheet_put(table, "%s", net);
        ulp_sheet_put(table, "%s", kind);
        ulp_sheet_put(table, "%s", layer);
        ulp_sheet_put(table, "%s", ulp_row_text(run, row, "name"));
        put_percent(table, all.zero, all.count);
        ulp_sheet_put(table, "%s", format);
        for (int stage = 0; stage < ULP_WATCH_ALL; stage++) {
            total t = total_of(run, net, kind, layer, gradient_stage_names[stage], format, 0);
            put_percent(table, t.flushed, t.count - t.zero);
        }
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* ---- claims ---- */

static const char *const setup = "net batch steps every rate momentum set";

/* The largest safe scale is known if every power of two from 2^0 to 2^24 was tried. */
static int lacks_scales(const ulp_run *run, char *why, size_t size) {
    size_t scales;
    const double *k = ulp_option_numbers(run, "scales", &scales);
    for (int want = 0; want <= 24; want++) {
        int found = 0;
        for (size_t i = 0; i < scales; i++) found |= k[i] == want;
        if (found) continue;
        snprintf(why, size, "--scales lacks some of 0..24");
        return 1;
    }
    return 0;
}

/* Why a claim cannot be expected: another set-up or, if it is `of_safe`, scales that are not there; "" if it can. */
static void find_why(const ulp_run *run, int of_safe, char *why, size_t size) {
    if (!ulp_options_differ(ulp_run_claims(run), setup, why, size) && of_safe) lacks_scales(run, why, size);
}

/* What is said of the multilayer perceptron alone. */
static void claim_binary16(ulp_run *run) {
    static const char *const name = "binary16";
    char why[256], text[24];
    double at_one = flushed(run, "mlp", "agrad", name, 0), of_weights = flushed(run, "mlp", "wgrad", name, 0);
    double late = flushed_share(total_of(run, "mlp", "agrad", "all", "end", name, 0)),
           early = flushed_share(total_of(run, "mlp", "agrad", "all", "begin", name, 0));
    double safe = safe_scale(run, "mlp", name), there = flushed(run, "mlp", "agrad", name, safe);
    find_why(run, 0, why, sizeof why);
    ulp_claim_if(ulp_run_claims(run), why, at_one >= 10,
                 "mlp: binary16 at scale 1 flushes to zero at least a tenth of the activation gradients that are "
                 "not zero in binary32",
                 "%.2f %%", at_one);
    ulp_claim_if(
        ulp_run_claims(run), why, at_one > 2 * of_weights,
        "mlp: activation gradients suffer more than twice as much as weight gradients, which are sums over the batch",
        "%.2f %% of the non-zero activation gradients, %.2f %% of the non-zero weight gradients", at_one, of_weights);
    ulp_claim_if(ulp_run_claims(run), why, late > early,
                 "mlp: the share grows as the network learns and its loss shrinks",
                 "%.2f %% in the first third, %.2f %% in the last", early, late);
    find_why(run, 1, why, sizeof why);
    ulp_claim_if(ulp_run_claims(run), why, safe >= 0 && there <= at_one / 2,
                 "mlp: a power of two as loss scale brings back more than half of them and overflows none",
                 "%s: %.2f %% instead of %.2f %%", scale_name(text, sizeof text, safe), there, at_one);
}

static void claim_eight_bits(ulp_run *run) {
    char why[256], name[24], wide_name[24];
    double safe = safe_scale(run, "mlp", "e4m3"), there = flushed(run, "mlp", "agrad", "e4m3", safe);
    double wide = safe_scale(run, "mlp", "e5m2"), kept = flushed(run, "mlp", "agrad", "e5m2", wide);
    find_why(run, 1, why, sizeof why);
    ulp_claim_if(
        ulp_run_claims(run), why, there > kept && there >= 20,
        "mlp: no one scale saves e4m3: the largest safe one still flushes a fifth or more, and more than e5m2's",
        "e4m3 at %s %.2f %%, e5m2 at %s %.2f %%", scale_name(name, sizeof name, safe), there,
        scale_name(wide_name, sizeof wide_name, wide), kept);
}

static void claim_order(ulp_run *run, const char *net) {
    static const char *const names[] = {"bfloat16", "binary16", "e5m2", "e4m3", "q8.8"};
    char measured[200] = "", text[120], why[256];
    double last = -1;
    int good = 1, found = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!ulp_run_has_format(run, names[i])) continue;
        double share = flushed(run, net, "agrad", names[i], 0);
        ulp_list_add(measured, sizeof measured, "%s %.3f %%", names[i], share);
        found++;
        good &= share > last || (share == last && share == 0);
        last = share;
    }
    find_why(run, 0, why, sizeof why);
    snprintf(text, sizeof text, "%s: at scale 1 the flushed share grows as the least positive value does", net);
    if (found > 1) ulp_claim_if(ulp_run_claims(run), why, good, text, "%s", measured);
}

/* More scale, less underflow: for every network and format, over the whole grid of scales. */
static void claim_monotone(ulp_run *run) {
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *k = ulp_option_numbers(run, "scales", &scales);
    ulp_network network;
    int steps = 0, wrong = 0;
    for (size_t n = 0; ulp_run_network(&network, run, n); n++)
        for (size_t f = 0; f < formats; f++)
            for (size_t i = 1; i < scales; i++) {
                total a = whole_of(run, network.name, "agrad", format[f].name, k[i - 1]),
                      b = whole_of(run, network.name, "agrad", format[f].name, k[i]);
                steps++;
                wrong += k[i] > k[i - 1] && (b.flushed > a.flushed || b.overflow < a.overflow);
            }
    if (steps)
        ulp_claim(ulp_run_claims(run), wrong == 0, "doubling the scale never flushes more and never overflows less",
                  "%d steps, %d against it", steps, wrong);
}

/* What one claim says of every network: a share that is at most `most` and, times `factor`, no more than another one.
 */
typedef struct rule {
    const char *format, *text;
    double scale, other; /* NO_SCALE: the safe one */
    double factor, most;
} rule;

static const rule rules[] = {
    {"bfloat16", "every network: bfloat16 needs no scale: it flushes at most one activation gradient in 10000", 0, 0, 1,
     0.01},
    {"binary16", "every network: the largest safe scale leaves at most half of what binary16 flushes at 1", NO_SCALE, 0,
     2, 100},
    {"e5m2", "every network: a scale per tensor leaves at most half of what e5m2 flushes at its largest safe scale",
     PER_TENSOR, NO_SCALE, 2, 100},
    {"e4m3", "every network: a scale per tensor leaves at most half of what e4m3 flushes at its largest safe scale",
     PER_TENSOR, NO_SCALE, 2, 100},
};

static void claim_networks(ulp_run *run, const rule *r) {
    char measured[400] = "", why[256];
    int good = 1;
    ulp_network network;
    for (size_t i = 0; ulp_run_network(&network, run, i); i++) {
        double safe = safe_scale(run, network.name, r->format);
        double share = flushed(run, network.name, "agrad", r->format, r->scale == NO_SCALE ? safe : r->scale);
        double other = flushed(run, network.name, "agrad", r->format, r->other == NO_SCALE ? safe : r->other);
        ulp_list_add(measured, sizeof measured, "%s %.3g %% of %.3g %%", network.name, share, other);
        good &= share <= r->most && share * r->factor <= other;
    }
    find_why(run, r->scale == NO_SCALE || r->other == NO_SCALE, why, sizeof why);
    ulp_claim_if(ulp_run_claims(run), why, good, r->text, "%s", measured);
}

void gradient_underflow_check(ulp_run *run, const void *context) {
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *k = ulp_option_numbers(run, "scales", &scales);
    ulp_network network;
    int has_one = 0;
    (void)context;
    for (size_t i = 0; i < scales; i++) has_one |= k[i] == 0;
    ulp_run_network(&network, run, 0);
    print_formats(run);
    print_layers(run, network.name, ulp_run_has_format(run, "binary16") ? "binary16" : format[0].name);
    claim_monotone(run);
    if (!has_one) {
        ulp_claim_skip(ulp_run_claims(run), "what is flushed at scale 1", "0 is not in --scales");
        return;
    }
    if (strcmp(network.name, "mlp") != 0)
        ulp_claim_skip(ulp_run_claims(run), "what is said of mlp alone", "it is not the first network");
    else {
        if (ulp_run_has_format(run, "binary16")) claim_binary16(run);
        if (ulp_run_has_format(run, "e4m3") && ulp_run_has_format(run, "e5m2")) claim_eight_bits(run);
    }
    claim_order(run, network.name);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (ulp_run_has_format(run, rules[i].format)) claim_networks(run, &rules[i]);
}

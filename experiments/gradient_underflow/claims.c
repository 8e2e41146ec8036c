/* claims.c - the tables of gradient_underflow, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gradient_underflow.h"

/* ---- counts ---- */

/* Values of wanted.scale in addition to those of --scales. */
#define PER_TENSOR INT64_MAX
#define NO_SCALE INT64_MIN

/* The rows that a sum over the seeds includes. */
typedef struct wanted {
    const ulp_network *network;
    int kind, stage;
    const char *layer;
    const ulp_format *format;
    int64_t scale; /* log2 */
} wanted;

typedef struct total {
    int64_t count, zero, flushed, overflowed;
} total;

static total total_of(const ulp_claims *c, wanted w) {
    const int what = w.scale == PER_TENSOR ? TENSOR : SHARE;
    total t = {0};
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = (const row *)c->table->rows + i;
        if (r->what != what || r->kind != w.kind || r->stage != w.stage ||
            ((const point *)c->table->points[i])->network != w.network)
            continue;
        if ((what == SHARE && r->scale_log2 != w.scale) || strcmp(r->layer, w.layer) != 0 ||
            strcmp(r->format, w.format->name) != 0)
            continue;
        t.count += r->bin.count;
        t.zero += r->zero;
        t.flushed += r->flushed;
        t.overflowed += r->overflowed;
    }
    return t;
}

static total with_scale(const ulp_claims *c, wanted w, int64_t scale) {
    w.scale = scale;
    return total_of(c, w);
}

/* All layers and all stages of one kind. */
static wanted whole(const ulp_network *network, int kind, const ulp_format *format) {
    return (wanted){network, kind, ULP_STAGE_ALL, ALL_LAYERS, format, 0};
}

/* The flushed share of the gradients that are not zero in binary32, in percent. NaN if there are no such gradients. */
static double percent(total t) { return 100 * (double)t.flushed / (double)(t.count - t.zero); }

/* The same share at a scale. 0 if there are no such gradients. */
static double flushed(const ulp_claims *c, wanted w, int64_t scale) {
    const total t = with_scale(c, w, scale);
    return t.count > t.zero ? percent(t) : 0;
}

/* The largest scale of the grid at which no gradient of either kind overflows. NO_SCALE if there is none. */
static int64_t safe_scale(const ulp_claims *c, const ulp_network *network, const ulp_format *format) {
    const ulp_integer_list *scales = &((const settings *)c->settings)->scales;
    int64_t best = NO_SCALE, over;
    for (size_t i = 0; i < scales->count; i++) {
        over = 0;
        for (int kind = 0; kind < KINDS; kind++)
            over += with_scale(c, whole(network, kind, format), scales->at[i]).overflowed;
        if (over == 0 && scales->at[i] > best) best = scales->at[i];
    }
    return best;
}

static int has_scale(const settings *s, int64_t scale) {
    for (size_t i = 0; i < s->scales.count; i++)
        if (s->scales.at[i] == scale) return 1;
    return 0;
}

static const ulp_format *format_of(const ulp_claims *c, const char *name) {
    return ulp_formats_find(&((const settings *)c->settings)->formats, name);
}

/* ---- tables ---- */

static const char *scale_name(char *text, size_t size, int64_t scale) {
    if (scale == NO_SCALE) snprintf(text, size, "no scale");
    else snprintf(text, size, "2^%lld", (long long)scale);
    return text;
}

/* Puts a percentage, or a dash if `whole` is 0, for example at a scale that is not in the grid. */
static void put_percent(ulp_sheet *table, int64_t part, int64_t whole) {
    ULP_SHEET_PUT_IF(whole > 0, table, "%.4g", 100 * (double)part / (double)whole);
}

/* Puts the row of a format and one kind of gradients. The figure takes its numbers from the summary. */
static void put_format(ulp_claims *c, ulp_sheet *table, wanted w) {
    const int64_t safe = safe_scale(c, w.network, w.format);
    const total tensor = with_scale(c, w, PER_TENSOR), at_safe = with_scale(c, w, safe), unscaled = with_scale(c, w, 0);
    char scale[24];
    const ulp_word kind = ulp_word_of(KIND_WORDS, (size_t)w.kind);
    ulp_sheet_put_row(table, "%s,%s,%s", w.network->name, kind.text, w.format->name);
    put_percent(table, tensor.zero, tensor.count);
    for (int k = 0; k <= 40; k += 8) { /* flushed at 2^0, 2^8, 2^16, 2^24; overflowed at 2^16, 2^24 */
        const total t = with_scale(c, w, k <= 24 ? k : k - 16);
        put_percent(table, k <= 24 ? t.flushed : t.overflowed, t.count - t.zero);
    }
    ulp_sheet_put(table, "%s", scale_name(scale, sizeof scale, safe));
    put_percent(table, at_safe.flushed, at_safe.count - at_safe.zero);
    put_percent(table, tensor.flushed, tensor.count - tensor.zero);
    ulp_summary(c, "safe scale", safe == NO_SCALE ? (double)NAN : (double)safe, "%s %s %s", w.network->name, kind.text,
                w.format->name);
    ulp_summary(c, "flushed unscaled", percent(unscaled), "%s %s %s", w.network->name, kind.text, w.format->name);
    ulp_summary(c, "flushed at the safe scale", percent(at_safe), "%s %s %s", w.network->name, kind.text,
                w.format->name);
    ulp_summary(c, "flushed with a scale per tensor", percent(tensor), "%s %s %s", w.network->name, kind.text,
                w.format->name);
}

static void print_formats(ulp_claims *c) {
    const settings *s = c->settings;
    const ulp_networks *networks = c->context;
    ulp_sheet *table = ulp_sheet_new(
        "percent of the gradients that are not zero in binary32, rounded to nearest even; zero in fp32: percent of all",
        "net,kind,format,zero in fp32,flushed at 1,at 2^8,at 2^16,at 2^24,overflowed at 2^16,at 2^24,safe "
        "scale,flushed there,with a scale per tensor");
    for (size_t i = 0; i < networks->count; i++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t f = 0; f < s->formats.count; f++)
                put_format(c, table, whole(&networks->at[i], kind, &s->formats.at[f]));
    ulp_sheet_print(table, c->file);
}

/* Prints a table of the first network: one row for each layer of the first seed, with the counts of all seeds. */
static void print_layers(const ulp_claims *c, const ulp_network *network, const ulp_format *format) {
    const settings *s = c->settings;
    ulp_sheet *table = ulp_sheet_new("by layer and stage at scale 1, percent of the gradients that are not zero in "
                                     "binary32; zero in fp32: percent of all",
                                     "net,kind,layer,name,zero in fp32,format,flushed: begin,middle,end");
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = (const row *)c->table->rows + i;
        const point *p = c->table->points[i];
        if (p->network != network || p->seed != s->seed || r->what != SHARE || r->scale_log2 != 0 ||
            r->stage != ULP_STAGE_ALL || strcmp(r->format, format->name) != 0)
            continue;
        wanted w = {network, r->kind, ULP_STAGE_ALL, r->layer, format, 0};
        const total all = with_scale(c, w, 0);
        const ulp_word kind = ulp_word_of(KIND_WORDS, (size_t)r->kind);
        ulp_sheet_put_row(table, "%s,%s,%s,%s", r->net, kind.text, r->layer, r->name);
        put_percent(table, all.zero, all.count);
        ulp_sheet_put(table, "%s", format->name);
        for (w.stage = 0; w.stage < ULP_STAGE_ALL; w.stage++) {
            const total t = with_scale(c, w, 0);
            put_percent(table, t.flushed, t.count - t.zero);
        }
    }
    ulp_sheet_print(table, c->file);
}

/* ---- claims ---- */

/* The largest safe scale is known if the grid has every power of two from 2^0 to 2^24. */
static int lacks_scales(const settings *s) {
    for (int64_t want = 0; want <= 24; want++)
        if (!has_scale(s, want)) return 1;
    return 0;
}

/* Why a claim cannot be expected to hold: the set-up differs or, for claims about the safe scale (of_safe), scales are
 * missing. "" if there is no reason. */
static const char *reason(ulp_claims *c, int of_safe) {
    const char *why = ulp_claim_reason(c, "net, batch, steps, every, rate, momentum, set");
    return !*why && of_safe && lacks_scales(c->settings) ? "--scales lacks some of 0..24" : why;
}

/* Rounding to nearest even flushes magnitudes up to 2^-25, half of the least positive number, to zero. The magnitude
 * 2^-25 itself is flushed, but the histogram has it in one bin with larger magnitudes, which are not. */
static void claim_flushed(ulp_claims *c, const ulp_format *binary16) {
    const ulp_networks *networks = c->context;
    ulp_finding found = {0};
    for (size_t n = 0; n < networks->count; n++) {
        const total t = with_scale(c, whole(&networks->at[n], ACT, binary16), 0);
        int64_t below = 0, beside = 0;
        for (size_t i = 0; i < c->table->count; i++) {
            const row *r = (const row *)c->table->rows + i;
            const point *p = c->table->points[i];
            if (r->what != BIN || r->kind != ACT || r->stage != ULP_STAGE_ALL || p->network != &networks->at[n] ||
                strcmp(r->layer, ALL_LAYERS) != 0)
                continue;
            if (r->bin.x < -25) below += r->bin.count;
            if (r->bin.x == -25) beside += r->bin.count;
        }
        ulp_finding_add(&found, below <= t.flushed && t.flushed <= below + beside,
                        "%s %lld of at least %lld and at most %lld", networks->at[n].name, (long long)t.flushed,
                        (long long)below, (long long)(below + beside));
    }
    ulp_claim_found(
        c, "", &found,
        "every network: binary16 at scale 1 flushes every activation gradient below 2^-25 and none from 2^-24 on");
}

/* Claims about the multilayer perceptron alone. */
static void claim_binary16(ulp_claims *c, const ulp_network *mlp, const ulp_format *binary16) {
    const wanted weights = whole(mlp, WEIGHT, binary16);
    wanted w = whole(mlp, ACT, binary16);
    const int64_t safe = safe_scale(c, mlp, binary16);
    const double unscaled = flushed(c, w, 0), of_weights = flushed(c, weights, 0), at_safe = flushed(c, w, safe);
    const char *why = reason(c, 0);
    char text[24];
    ulp_claim_if(
        c, why, unscaled > 2 * of_weights,
        "mlp: activation gradients suffer more than twice as much as weight gradients, which are sums over the batch",
        "%.2f %% of the non-zero activation gradients, %.2f %% of the non-zero weight gradients", unscaled, of_weights);
    w.stage = ULP_STAGE_BEGIN;
    const double early = flushed(c, w, 0);
    w.stage = ULP_STAGE_END;
    const double late = flushed(c, w, 0);
    ulp_claim_if(c, why, late > early, "mlp: the share grows as the network learns and its loss shrinks",
                 "%.2f %% in the first third, %.2f %% in the last", early, late);
    ulp_claim_if(c, reason(c, 1), safe >= 0 && at_safe <= unscaled / 2,
                 "mlp: a power of two as loss scale brings back more than half of them and overflows none",
                 "%s: %.2f %% instead of %.2f %%", scale_name(text, sizeof text, safe), at_safe, unscaled);
}

static void claim_eight_bits(ulp_claims *c, const ulp_network *mlp, const ulp_format *e4m3, const ulp_format *e5m2) {
    const int64_t safe_e4m3 = safe_scale(c, mlp, e4m3), safe_e5m2 = safe_scale(c, mlp, e5m2);
    const double share_e4m3 = flushed(c, whole(mlp, ACT, e4m3), safe_e4m3),
                 share_e5m2 = flushed(c, whole(mlp, ACT, e5m2), safe_e5m2);
    char name_e4m3[24], name_e5m2[24];
    ulp_claim_if(
        c, reason(c, 1), share_e4m3 > share_e5m2 && share_e4m3 >= 20,
        "mlp: no one scale saves e4m3: the largest safe one still flushes a fifth or more, and more than e5m2's",
        "e4m3 at %s %.2f %%, e5m2 at %s %.2f %%", scale_name(name_e4m3, sizeof name_e4m3, safe_e4m3), share_e4m3,
        scale_name(name_e5m2, sizeof name_e5m2, safe_e5m2), share_e5m2);
}

static void claim_order(ulp_claims *c, const ulp_network *network) {
    static const char *const names[] = {"bfloat16", "binary16", "e5m2", "e4m3", "q8.8"};
    ulp_finding found = {0};
    double last = -1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const ulp_format *format = format_of(c, names[i]);
        if (!format) continue;
        const double share = flushed(c, whole(network, ACT, format), 0);
        ulp_finding_add(&found, share > last || (share == last && share == 0), "%s %.3f %%", names[i], share);
        last = share;
    }
    if (found.count == 1) found.count = 0; /* one format has nothing to be compared with */
    ulp_claim_found(c, reason(c, 0), &found, "%s: at scale 1 the flushed share grows as the least positive value does",
                    network->name);
}

/* Claims, for every network and format and over the whole grid, that a larger scale means less underflow. */
static void claim_monotone(ulp_claims *c) {
    const settings *s = c->settings;
    const ulp_networks *networks = c->context;
    int steps = 0, wrong = 0;
    for (size_t n = 0; n < networks->count; n++)
        for (size_t f = 0; f < s->formats.count; f++)
            for (size_t i = 1; i < s->scales.count; i++) {
                const wanted w = whole(&networks->at[n], ACT, &s->formats.at[f]);
                const total a = with_scale(c, w, s->scales.at[i - 1]), b = with_scale(c, w, s->scales.at[i]);
                steps++;
                wrong +=
                    s->scales.at[i] > s->scales.at[i - 1] && (b.flushed > a.flushed || b.overflowed < a.overflowed);
            }
    if (steps)
        ulp_claim(c, wrong == 0, "doubling the scale never flushes more and never overflows less",
                  "%d steps, %d against it", steps, wrong);
}

/* A claim about every network: a share is at most `most`, and `factor` times the share is at most another share. */
typedef struct rule {
    const char *format, *text;
    int64_t scale, other; /* NO_SCALE stands for the safe scale */
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

static void claim_networks(ulp_claims *c, const rule *r, const ulp_format *format) {
    const ulp_networks *networks = c->context;
    ulp_finding found = {0};
    for (size_t i = 0; i < networks->count; i++) {
        const wanted w = whole(&networks->at[i], ACT, format);
        const int64_t safe = safe_scale(c, w.network, format);
        const double share = flushed(c, w, r->scale == NO_SCALE ? safe : r->scale),
                     other = flushed(c, w, r->other == NO_SCALE ? safe : r->other);
        ulp_finding_add(&found, share <= r->most && share * r->factor <= other, "%s %.3g %% of %.3g %%",
                        w.network->name, share, other);
    }
    ulp_claim_found(c, reason(c, r->scale == NO_SCALE || r->other == NO_SCALE), &found, "%s", r->text);
}

void judge(ulp_claims *c) {
    if (((const settings *)c->settings)->networks.how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);
    const settings *s = c->settings;
    const ulp_network *first = ((const ulp_networks *)c->context)->at;
    const ulp_format *binary16 = format_of(c, "binary16"), *e4m3 = format_of(c, "e4m3"), *e5m2 = format_of(c, "e5m2");
    print_formats(c);
    print_layers(c, first, binary16 ? binary16 : s->formats.at);
    claim_monotone(c);
    if (!has_scale(s, 0)) {
        ulp_claim_skip(c, "what is flushed at scale 1", "0 is not in --scales");
        return;
    }
    if (binary16) claim_flushed(c, binary16);
    if (strcmp(first->name, "mlp") != 0) ulp_claim_skip(c, "what is said of mlp alone", "it is not the first network");
    else {
        if (binary16) claim_binary16(c, first, binary16);
        if (e4m3 && e5m2) claim_eight_bits(c, first, e4m3, e5m2);
    }
    claim_order(c, first);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const ulp_format *format = format_of(c, rules[i].format);
        if (format) claim_networks(c, &rules[i], format);
    }
}

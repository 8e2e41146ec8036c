/* claims.c - the tables of footprint, and the claims about its rows. */
#include "footprint.h"

#include <math.h>
#include <string.h>

/* ---- reading the rows ---- */

/* Which rows: NULL or -1 stands for any value. */
typedef struct key {
    int what;
    const char *net;
    int policy;
    const char *machine, *part;
} key;

static int is_of(const row *r, const key *k) {
    return r->what == k->what && strcmp(r->net, k->net) == 0 && (k->policy < 0 || r->policy == k->policy) &&
           (!k->machine || strcmp(r->machine, k->machine) == 0) && (!k->part || strcmp(r->part, k->part) == 0);
}

typedef enum cell { BYTES, PRODUCTS, SECONDS } cell;

/* The sum of a column over rows about a whole net; NaN if there are none. */
static double sum_of(const ulp_claims *c, key k, cell column) {
    const row *r = c->table->rows, *end = r + c->table->count;
    double sum = NAN;
    for (; r < end; r++) {
        if (r->layer != ULP_NO_INTEGER || !is_of(r, &k)) continue;
        const double x = column == SECONDS ? r->seconds : column == PRODUCTS ? (double)r->products : (double)r->bytes;
        sum = isnan(sum) ? x : sum + x;
    }
    return sum;
}

/* The bytes of a kind; of all kinds if `kind` is ULP_BYTES_KINDS. */
static double bytes_of(const ulp_claims *c, const char *net, int policy, ulp_bytes_kind kind) {
    const double bytes = sum_of(c, (key){MEMORY, net, policy, NULL, ulp_bytes_kind_name(kind)}, BYTES);
    return isnan(bytes) && kind < ULP_BYTES_KINDS ? 0 : bytes;
}

static double seconds_of(const ulp_claims *c, const char *net, int policy, const char *machine) {
    return sum_of(c, (key){STEP, net, policy, machine, NULL}, SECONDS);
}

static const char *policy_name(int policy) { return policy == OWN ? "own" : variants[policy].name; }

/* Calls `visit` for every network of the run, in the order of the rows. */
static void each_net(ulp_claims *c, void (*visit)(ulp_claims *c, const char *net, void *own), void *own) {
    const row *rows = c->table->rows;
    for (size_t i = 0; i < c->table->count; i++)
        if (i == 0 || strcmp(rows[i].net, rows[i - 1].net) != 0) visit(c, rows[i].net, own);
}

/* ---- tables and the numbers of the figure ---- */

static void put_memory(ulp_claims *c, const char *net, void *sheet) {
    for (int p = 0; p < POLICY_COUNT; p++) {
        const double all = bytes_of(c, net, p, ULP_BYTES_KINDS);
        if (isnan(all) || p == TF32) continue; /* the bytes of fp32 */
        ulp_sheet_put_row(sheet, "%s,%s", net, policy_name(p));
        for (int k = 0; k < ULP_BYTES_KINDS; k++) {
            const double bytes = bytes_of(c, net, p, (ulp_bytes_kind)k);
            ulp_sheet_put(sheet, "%.3g", bytes / 1e6);
            ulp_summary(c, "bytes", bytes, "%s %s %s", net, policy_name(p), ulp_bytes_kind_name((ulp_bytes_kind)k));
        }
        ulp_sheet_put(sheet, "%.4g", all / 1e6);
        ulp_summary(c, "all bytes", all, "%s %s", net, policy_name(p));
    }
}

/* The policies whose predicted times are compared on a machine: binary32 in tf32 where the machine has it. */
static int base_of(const ulp_machine *m) { return m->peak[ULP_PEAK_TF32] > 0 ? TF32 : FP32; }

static void put_times(ulp_claims *c, const char *net, void *sheet) {
    const ulp_machine *m;
    for (size_t i = 0; (m = ulp_machine_get(i)) != NULL; i++) {
        const int base = base_of(m);
        const double all = seconds_of(c, net, base, m->name);
        if (isnan(all)) continue;
        ulp_sheet_put_row(sheet, "%s,%s,%s,%.3g", net, m->name, policy_name(base), 1e3 * all);
        for (int p = FP32; p < POLICY_COUNT; p++) {
            const double seconds = seconds_of(c, net, p, m->name);
            for (int b = 0; b < BOUNDS && !isnan(seconds) && (p == FP32 || p == MIXED_FP16); b++) {
                const ulp_word bound = ulp_word_of(BOUND_WORDS, (size_t)b);
                ulp_summary(c, "predicted seconds", sum_of(c, (key){STEP, net, p, m->name, bound.text}, SECONDS),
                            "%s %s %s %s", net, policy_name(p), m->name, bound.text);
            }
            if (!isnan(seconds))
                ulp_summary(c, "predicted speedup", all / seconds, "%s %s %s", net, m->name, policy_name(p));
            if (p > TF32 && is_chosen(c->settings, p)) ulp_sheet_put(sheet, "%.2f", all / seconds);
        }
        for (int of = 0; of <= is_chosen(c->settings, MIXED_FP16); of++) {
            const int p = of ? MIXED_FP16 : base;
            const double bound = sum_of(c, (key){STEP, net, p, m->name, "products"}, SECONDS);
            ulp_sheet_put(sheet, "%.0f", 100 * bound / seconds_of(c, net, p, m->name));
        }
    }
}

/* The limits of the machine of --roofline, in 10^12 per second, and the intensity at which they meet. */
static void put_machine(ulp_claims *c) {
    const ulp_machine *m = ulp_machine_get((size_t)((const settings *)c->settings)->roofline);
    ulp_summary(c, "bandwidth", m->bandwidth * 1e-3, "%s", m->name);
    for (int t = 0; t < ULP_PEAK_TYPES; t++) {
        const char *type = ulp_peak_type_name((ulp_peak_type)t);
        if (m->peak[t] <= 0) continue;
        ulp_summary(c, "peak", m->peak[t], "%s %s", m->name, type);
        ulp_summary(c, "balance", ulp_machine_balance(m, (ulp_peak_type)t), "%s %s", m->name, type);
    }
}

/* The predicted images per second of one side of a measurement; NaN if the run lacks it. */
static double predicted_rate(const ulp_claims *c, const struct measurement *m, int of) {
    const double seconds = sum_of(c, (key){THROUGHPUT, m->net, of ? m->to : m->from, m->machine, m->source}, SECONDS);
    return (double)m->batch[of] / seconds;
}

static void put_measurement(ulp_claims *c, const struct measurement *m) {
    const double from = predicted_rate(c, m, 0), to = predicted_rate(c, m, 1);
    char what[96], number[48];
    if (isnan(from) || isnan(to)) return;
    snprintf(what, sizeof what, "%s on %s, %s over %s, images per second", m->net, m->machine, variants[m->to].name,
             variants[m->from].name);
    snprintf(number, sizeof number, "%.2f (%.0f over %.0f)", m->throughput[1] / m->throughput[0], m->throughput[1],
             m->throughput[0]);
    ulp_beside(c, &(ulp_published){what, m->source, number}, "predicted %.2f (%.0f over %.0f)", to / from, to, from);
    const char *policy = variants[m->to].name;
    ulp_summary(c, "published speedup", m->throughput[1] / m->throughput[0], "%s %s %s %s", m->net, m->machine, policy,
                m->source);
    ulp_summary(c, "prediction beside it", to / from, "%s %s %s %s", m->net, m->machine, policy, m->source);
}

/* ---- claims ---- */

static void claim_published_counts(ulp_claims *c) {
    for (size_t i = 0; i < LARGE_COUNT; i++) {
        const struct large *l = &large[i];
        const row *r = c->table->rows, *end = r + c->table->count;
        key k = {MEMORY, l->name, -1, NULL, ulp_bytes_kind_name(ULP_BYTES_WEIGHT)};
        if (!l->params) continue;
        while (r < end && (r->layer != ULP_NO_INTEGER || !is_of(r, &k))) r++;
        if (r == end) {
            ulp_claim_skip(c, ulp_claim_text(c, "%s: the published parameters and multiply-adds", l->name),
                           "--large does not name it");
            continue;
        }
        k = (key){WORK, l->name, r->policy, NULL, ulp_effort_kind_name(ULP_EFFORT_FORWARD)};
        const double adds = sum_of(c, k, PRODUCTS) / (double)r->batch * 1e-9;
        ulp_claim(c, r->params == (int64_t)l->params,
                  ulp_claim_text(c, "%s has its published parameters, %llu", l->name, (unsigned long long)l->params),
                  "the layer shapes give %lld", (long long)r->params);
        ulp_claim(c, fabs(adds / l->multiply_adds - 1) < 0.02,
                  ulp_claim_text(c, "%s has its published multiply-adds per image within 2 %%, %.3g 10^9", l->name,
                                 l->multiply_adds),
                  "%.3f 10^9", adds);
    }
}

/* Counts of trainers against the places of their arrays. */
static void claim_trainers(ulp_claims *c) {
    const row *r = c->table->rows, *end = r + c->table->count;
    int rows = 0, equal = 0;
    double bytes = 0;
    for (; r < end; r++) {
        if (r->what != TRAINER) continue;
        rows++;
        equal += r->bytes == r->allocated;
        bytes += (double)r->allocated;
    }
    if (rows)
        ulp_claim(c, equal == rows, "the memory that trainers of the small networks allocate is the counted one",
                  "%d of %d numbers, %.1f MB, are equal to the byte", equal, rows, bytes / 1e6);
}

/* The effect of mixed precision on the bytes of every network. */
typedef struct halves {
    ulp_finding gradients, activations, weights, whole;
} halves;

static void compare_bytes(ulp_claims *c, const char *net, void *own) {
    halves *found = own;
    double b[2][ULP_BYTES_KINDS + 1];
    for (int k = 0; k <= ULP_BYTES_KINDS; k++)
        for (int of = 0; of < 2; of++) b[of][k] = bytes_of(c, net, of ? MIXED_FP16 : FP32, (ulp_bytes_kind)k);
    if (isnan(b[0][ULP_BYTES_KINDS]) || isnan(b[1][ULP_BYTES_KINDS])) return;
    const double act = b[1][ULP_BYTES_ACT] / b[0][ULP_BYTES_ACT],
                 weights = (b[1][ULP_BYTES_WEIGHT] + b[1][ULP_BYTES_MASTER]) / b[0][ULP_BYTES_WEIGHT],
                 whole = b[1][ULP_BYTES_KINDS] / b[0][ULP_BYTES_KINDS],
                 share =
                     (b[0][ULP_BYTES_WEIGHT] + b[0][ULP_BYTES_STATE] + b[0][ULP_BYTES_WGRAD]) / b[0][ULP_BYTES_KINDS];
    ulp_finding_add(&found->gradients,
                    2 * b[1][ULP_BYTES_WGRAD] == b[0][ULP_BYTES_WGRAD] &&
                        2 * b[1][ULP_BYTES_AGRAD] == b[0][ULP_BYTES_AGRAD],
                    "%s %.4g of %.4g MB", net, (b[1][ULP_BYTES_WGRAD] + b[1][ULP_BYTES_AGRAD]) / 1e6,
                    (b[0][ULP_BYTES_WGRAD] + b[0][ULP_BYTES_AGRAD]) / 1e6);
    ulp_finding_add(&found->weights, weights == 1.5, "%s %.4g", net, weights);
    if (strcmp(net, "own") == 0) return; /* a network of --net may be little more than pooling */
    ulp_finding_add(&found->activations, act >= 0.5 && act < 0.54, "%s %.1f %%", net, 100 * act);
    ulp_finding_add(&found->whole, fabs(whole - (1 + share) / 2) < 0.02, "%s %.1f %% with %.1f %%", net, 100 * whole,
                    100 * share);
}

static void claim_bytes(ulp_claims *c) {
    halves found = {0};
    const char *why = ulp_claim_reason(c, "momentum>=0.0001");
    each_net(c, compare_bytes, &found);
    ulp_claim_found(c, "", &found.gradients, "mixed:fp16 halves the gradients of weights and activations, to the byte");
    ulp_claim_found(
        c, "", &found.activations,
        "mixed:fp16 keeps 50 to 54 %% of the activations' bytes: the places of maxima and the statistics stay");
    ulp_claim_found(c, "", &found.weights, "mixed:fp16 needs 1.5 times the bytes for weights, with the master weights");
    ulp_claim_found(
        c, why, &found.whole,
        "all memory under mixed:fp16 is (1 + s) / 2 of that under fp32, within 2 points, if s of it belongs to "
        "weights, their gradients and momentum");
}

/* Products bound binary32; bytes bound mixed precision. */
static void claim_bounds(ulp_claims *c) {
    static const char *const nets[] = {"resnet50", "alexnet"};
    ulp_finding found = {0};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        const double all = seconds_of(c, nets[i], FP32, "v100"), mixed = seconds_of(c, nets[i], MIXED_FP16, "v100"),
                     from = sum_of(c, (key){STEP, nets[i], FP32, "v100", "products"}, SECONDS) / all,
                     to = sum_of(c, (key){STEP, nets[i], MIXED_FP16, "v100", "products"}, SECONDS) / mixed;
        if (isnan(from) || isnan(to)) continue;
        ulp_finding_add(&found, from > 0.5 && to < 0.5, "%s %.0f %% to %.0f %% of the predicted time", nets[i],
                        100 * from, 100 * to);
    }
    ulp_claim_found(c, ulp_claim_reason(c, "large-batch, momentum"), &found,
                    "V100: products take most of the predicted time in fp32, and less than half of it in mixed:fp16");
}

/* Predictions for ResNet-50 against measurements. VGG-16 is not among the claims: its programs form fewer products than
 * the definition of a convolution (Lavin and Gray 2016, arXiv:1509.09308), so that they may be faster. */
static void claim_measurements(ulp_claims *c) {
    ulp_finding below = {0}, near = {0};
    for (size_t i = 0; i < MEASUREMENTS; i++) {
        const struct measurement *m = &measurements[i];
        const double from = predicted_rate(c, m, 0), to = predicted_rate(c, m, 1),
                     speedup = m->throughput[1] / m->throughput[0];
        put_measurement(c, m);
        if (isnan(from) || isnan(to) || strcmp(m->net, "resnet50") != 0) continue;
        ulp_finding_add(&below, m->throughput[0] <= from && m->throughput[1] <= to, "%s %.0f and %.0f %%", m->machine,
                        100 * m->throughput[0] / from, 100 * m->throughput[1] / to);
        ulp_finding_add(&near, speedup * from / to < 1.4 && to / from / speedup < 1.4, "%s %.2f (predicted %.2f)",
                        m->machine, speedup, to / from);
    }
    ulp_claim_found(c, "", &below, "no published throughput of resnet50 is above the predicted one");
    ulp_claim_found(c, "", &near, "published speedups of resnet50 are within a factor of 1.4 of the predicted ones");
}

/* The table of times, with a column for each policy of the run. */
static ulp_sheet *times_sheet(const settings *s) {
    ulp_text columns = {0};
    ulp_text_print(&columns, "net,machine,base,ms");
    for (int p = MIXED_FP16; p < POLICY_COUNT; p++)
        if (is_chosen(s, p)) ulp_text_print(&columns, ",%s", policy_name(p));
    ulp_text_print(&columns, ",products: base%s", is_chosen(s, MIXED_FP16) ? ",mixed-fp16" : "");
    ulp_sheet *sheet =
        ulp_sheet_new("PREDICTED times of a step: ms of binary32 (fp32, or tf32 where the machine has it); "
                      "times as fast under other policies; percent of the time that products take",
                      ulp_text_of(&columns));
    ulp_text_free(&columns);
    return sheet;
}

void judge(ulp_claims *c) {
    ulp_sheet *memory =
                  ulp_sheet_new("memory of a training step in MB, as a machine stores the formats",
                                "net,policy,weights,master,optimizer,statistics,activations,weight grad,act. grad,all"),
              *times = times_sheet(c->settings);
    each_net(c, put_memory, memory);
    each_net(c, put_times, times);
    put_machine(c);
    ulp_sheet_print(memory, c->file);
    ulp_sheet_print(times, c->file);
    claim_published_counts(c);
    claim_trainers(c);
    claim_bytes(c);
    claim_bounds(c);
    claim_measurements(c);
}

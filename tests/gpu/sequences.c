/* sequences.c - the stages of cells, and losses of sequences of labels, on the device and on the CPU. */
#include "check.h"

#include "kernels/functions/ctc.h"

/* ---- cells ---- */

static const char *const stages[] = {
#define NAME(id, unit, to, a, b, c, d, e) #id,
    ULP_CELL_STAGES(NAME)
#undef NAME
};

/* x (n) = numbers of the usual range of cells, one in five of any bits: NaN, infinite, subnormal. */
static void fill_cell(float *x, size_t n, uint64_t seed) {
    fill_normal(x, n, 1.5, seed);
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = word_of(seed + 1, i);
        if (word_of(seed + 2, i) % 5 == 0) memcpy(&x[i], &bits, sizeof bits);
    }
}

static void check_stage(const check *c, row *r, ulp_cell_stage stage, size_t B, size_t N) {
    const ulp_cell_widths widths = ulp_cell_widths_of(stage);
    const size_t n = widths.to * B * N;
    ulp_cell_arrays host = {.B = B, .N = N}, device = host;
    double *want = room(n, sizeof *want), *to = to_device(c, r, want, n * sizeof *want);
    float *x[ULP_CELL_OPERANDS] = {NULL}, *on_device[ULP_CELL_OPERANDS] = {NULL};
    int ready = to != NULL;
    for (size_t i = 0; i < ULP_CELL_OPERANDS && widths.in[i] > 0; i++) {
        const size_t elements = widths.in[i] * B * N;
        host.in[i] = x[i] = room(elements, sizeof *x[i]);
        fill_cell(x[i], elements, 100 * B + N + 10 * i);
        device.in[i] = on_device[i] = to_device(c, r, x[i], elements * sizeof *x[i]);
        ready &= on_device[i] != NULL;
    }
    if (ready && row_ok(r, ulp_backend_cell(c->cpu, want, &host, stage), "the CPU's %s", stages[stage]))
        device_doubles(c, r, ulp_backend_cell(c->gpu, to, &device, stage), to, want, n, "%s of (%zu,%zu)",
                       stages[stage], B, N);
    for (size_t i = 0; i < ULP_CELL_OPERANDS; i++) {
        c->gpu->release(on_device[i]);
        free(x[i]);
    }
    c->gpu->release(to);
    free(want);
}

static void check_cells(const check *c) {
    static const size_t sizes[][2] = {{1, 1}, {1, 7}, {5, 1}, {3, 8}, {17, 31}, {2, 129}, {1, 513}, {256, 1024}};
    for (int stage = 0; stage < ULP_CELL_STAGE_COUNT; stage++) {
        char name[64];
        snprintf(name, sizeof name, "cell: %s", stages[stage]);
        row r = row_of(name);
        for (size_t s = 0; s < (c->small ? 7 : sizeof sizes / sizeof *sizes) && !r.skipped && !r.stopped; s++)
            check_stage(c, &r, (ulp_cell_stage)stage, sizes[s][0], sizes[s][1]);
        row_end(&r);
    }
}

/* ---- sequences of labels ---- */

/* A batch on one side. */
typedef struct sequences {
    const ulp_backend *b;
    ulp_sequences of;
    float *z, *p;
    double *exact, *loss, *work;
    uint8_t *label;
} sequences;

static void *memory_of(row *r, const ulp_backend *b, const void *from, size_t bytes) {
    void *at = b->alloc(bytes);
    if (row_ok(r, at != NULL ? ULP_OK : ULP_NO_MEMORY, "alloc")) row_ok(r, b->upload(at, from, bytes), "upload");
    return at;
}

static sequences sequences_open(row *r, const ulp_backend *b, ulp_sequences of, const float *z, const uint8_t *label) {
    const size_t n = of.B * of.C * of.T, work = of.B * (2 * of.T + 1) * (2 * of.L + 1);
    double *zeros = room(n + work + of.B, sizeof *zeros);
    sequences s = {.b = b, .of = of};
    s.z = memory_of(r, b, z, n * sizeof *z);
    s.p = memory_of(r, b, zeros, n * sizeof *s.p);
    s.exact = memory_of(r, b, zeros, n * sizeof *s.exact);
    s.loss = memory_of(r, b, zeros, of.B * sizeof *s.loss);
    s.work = memory_of(r, b, zeros, work * sizeof *s.work);
    s.of.label = s.label = memory_of(r, b, label, of.B * of.L + 1);
    free(zeros);
    return s;
}

static void sequences_close(sequences *s) {
    void *const all[] = {s->z, s->p, s->exact, s->loss, s->work, s->label};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) s->b->release(all[i]);
}

/* The outputs, their rounding, and the sums over paths; exact and loss in host memory. */
static int compute(row *r, sequences *s, const ulp_path_sums *sums, double *outputs, double *exact, double *loss) {
    const size_t n = s->of.B * s->of.C * s->of.T;
    ulp_rounding rounding = sums->rounding;
    rounding.stats = NULL;
    rounding.stream.stream++;
    return row_ok(r, ulp_backend_ctc_outputs(s->b, s->exact, s->z, s->of, sums->linear), "outputs") &&
           row_ok(r, s->b->download(outputs, s->exact, n * sizeof *outputs), "download") &&
           row_ok(r, ulp_backend_round64(s->b, s->exact, s->exact, n, rounding), "round64") &&
           row_ok(r, ulp_backend_narrow(s->b, s->p, s->exact, n), "narrow") &&
           row_ok(r, ulp_backend_ctc(s->b, s->exact, s->loss, s->work, s->p, s->of, sums), "ctc") &&
           row_ok(r, s->b->download(exact, s->exact, n * sizeof *exact), "download") &&
           row_ok(r, s->b->download(loss, s->loss, s->of.B * sizeof *loss), "download");
}

/* The labels of a batch: sequences of L labels, one less and so on, in which every second label equals the one before
 * it; one sequence in nine has a number that is not a label. */
static void fill_labels(uint8_t *label, ulp_sequences of, uint64_t seed) {
    for (size_t b = 0; b < of.B; b++)
        for (size_t k = 0; k < of.L; k++) {
            uint8_t *at = label + b * of.L + k;
            *at = (uint8_t)(of.C > 1 ? word_of(seed, b * of.L + k) % (of.C - 1) : 0);
            if (k > 0 && word_of(seed + 1, b * of.L + k) % 2) *at = at[-1];
            if (k == 0 && b % 9 == 8) *at = (uint8_t)(of.C < 250 ? of.C + b % 3 : 0);
            if (k >= of.L - b % (of.L + 1)) *at = ULP_NO_LABEL;
        }
}

static void check_batch(const check *c, row *r, ulp_sequences of, const ulp_path_sums *sums, uint64_t seed) {
    const size_t n = of.B * of.C * of.T;
    float *z = room(n, sizeof *z);
    uint8_t *label = room(of.B * of.L + 1, 1);
    double *outputs[2], *exact[2], *loss[2];
    ulp_stats counts[2] = {{0}, {0}};
    int fine = 1;
    fill_normal(z, n, 3.0, seed);
    fill_labels(label, of, seed + 1);
    for (size_t i = 0; i < n && of.B > 2; i++) /* a sample has special values */
        if (i / (of.C * of.T) == 1 && word_of(seed + 2, i) % 7 == 0) z[i] = word_of(seed + 3, i) % 2 ? NAN : INFINITY;
    for (int side = 0; side < 2; side++) {
        sequences s = sequences_open(r, side ? c->gpu : c->cpu, of, z, label);
        ulp_path_sums own = *sums;
        own.rounding.stats = sums->rounding.stats != NULL ? &counts[side] : NULL;
        outputs[side] = room(n, sizeof(double));
        exact[side] = room(n, sizeof(double));
        loss[side] = room(of.B, sizeof(double));
        fine = fine && !r->stopped && compute(r, &s, &own, outputs[side], exact[side], loss[side]);
        sequences_close(&s);
    }
    if (fine) {
        row_doubles(r, outputs[1], outputs[0], n, "outputs of (%zu,%zu,%zu)", of.B, of.C, of.T);
        row_doubles(r, loss[1], loss[0], of.B, "losses of (%zu,%zu,%zu), %zu labels", of.B, of.C, of.T, of.L);
        row_doubles(r, exact[1], exact[0], n, "gradient of (%zu,%zu,%zu), %zu labels", of.B, of.C, of.T, of.L);
        row_counters(r, &counts[1], &counts[0], sums->rounding.format->name, "sequences");
    }
    for (int side = 0; side < 2; side++) free(outputs[side]), free(exact[side]), free(loss[side]);
    free(z);
    free(label);
}

static void check_losses(const check *c) {
    static const struct {
        const char *format;
        ulp_rule rule;
    } roundings[] = {{"fp32", {0, 0, 0}},       {"fp16", {0, 0, 0}},
                     {"bf16", {ULP_SRA, 0, 7}}, {"e4m3", {0, ULP_OVERFLOW_SAT, 0}},
                     {"fp32", {ULP_RU, 0, 0}},  {"e5m2", {ULP_SRC, 0, 0}},
                     {"q6.10", {ULP_RD, 0, 0}}};
    static const ulp_sequences shapes[] = {{NULL, 1, 4, 1, 1},   {NULL, 3, 5, 6, 0},     {NULL, 12, 4, 9, 5},
                                           {NULL, 10, 11, 7, 8}, {NULL, 2, 256, 3, 2},   {NULL, 3, 4, 140, 50},
                                           {NULL, 2, 1, 5, 0},   {NULL, 64, 11, 120, 20}};
    for (int linear = 0; linear < 2; linear++)
        for (size_t k = 0; k < sizeof roundings / sizeof *roundings; k++) {
            char name[96];
            ulp_format f;
            ulp_stats counted = {0};
            snprintf(name, sizeof name, "ctc%s: %s, %s", linear ? "-linear" : "", roundings[k].format,
                     ulp_mode_name((ulp_mode)roundings[k].rule.mode));
            row r = row_of(name);
            if (!r.skipped && row_ok(&r, ulp_format_parse(&f, roundings[k].format), "%s", roundings[k].format)) {
                const ulp_path_sums sums = {.linear = (uint8_t)linear,
                                            .scale = 1024.0,
                                            .rounding = {&f, roundings[k].rule, {3, 5, 7}, k % 2 ? &counted : NULL},
                                            .beta_stream = 6};
                for (size_t s = 0; s < (c->small ? 7 : sizeof shapes / sizeof *shapes) && !r.stopped; s++)
                    check_batch(c, &r, shapes[s], &sums, 100 * s + k);
            }
            row_end(&r);
        }
}

void check_sequences(const check *c) {
    check_cells(c);
    check_losses(c);
}

/* tokens.c - rows of numbers, their normalisation, tables and rotations, and attention, against the CPU. */
#include "check.h"

/* Arrays of `n` floats on both sides, and room for as many results. */
typedef struct both {
    const check *c;
    row *r;
    size_t n;
    float *x, *y, *w, *to, *dx, *dy, *dw, *dto; /* on the host, on the device */
    double *want, *got;                         /* results: the CPU's, and on the device */
} both;

static void fill(const both *t, float *host, float *device, double scale, int special, uint64_t seed) {
    ulp_format binary32;
    fill_normal(host, t->n, scale, seed);
    if (row_ok(t->r, ulp_format_parse(&binary32, "fp32"), "fp32"))
        for (size_t i = 0; special && i < t->n; i++)
            if (word_of(seed + 1, i) % 101 == 0) fill_any(host + i, 1, &binary32, seed + 2 + i);
    row_ok(t->r, t->c->gpu->upload(device, host, t->n * sizeof *host), "upload");
}

static both both_open(const check *c, row *r, size_t n, double scale, int special, uint64_t seed) {
    both t = {.c = c, .r = r, .n = n};
    float **const host[] = {&t.x, &t.y, &t.w, &t.to}, **const device[] = {&t.dx, &t.dy, &t.dw, &t.dto};
    for (int k = 0; k < 4; k++) {
        *host[k] = room(n, sizeof(float));
        *device[k] = to_device(c, r, *host[k], n * sizeof(float));
        if (!r->stopped) fill(&t, *host[k], *device[k], scale, special, seed + 10 * (uint64_t)k);
    }
    t.want = room(n, sizeof *t.want);
    t.got = to_device(c, r, t.want, n * sizeof *t.want);
    return t;
}

static void both_close(const both *t) {
    float *const host[] = {t->x, t->y, t->w, t->to}, *const device[] = {t->dx, t->dy, t->dw, t->dto};
    for (int k = 0; k < 4; k++) free(host[k]), t->c->gpu->release(device[k]);
    free(t->want), t->c->gpu->release(t->got);
}

/* Runs an operation on both sides and compares `n` doubles: the arguments after the result, on the CPU and the device.
 */
#define HOST(...) __VA_ARGS__
#define DOUBLES(what, n, operation, on_host, on_device)                                                                \
    do {                                                                                                               \
        row_ok(t->r, ulp_backend_##operation(t->c->cpu, t->want, HOST on_host), what " on the CPU");                   \
        device_doubles(t->c, t->r, ulp_backend_##operation(t->c->gpu, t->got, HOST on_device), t->got, t->want, n,     \
                       what " of (%zu,%zu)", shown[0], shown[1]);                                                      \
    } while (0)
#define FLOATS(what, n, operation, on_host, on_device)                                                                 \
    do {                                                                                                               \
        row_ok(t->r, ulp_backend_##operation(t->c->cpu, t->to, HOST on_host), what " on the CPU");                     \
        device_floats(t->c, t->r, ulp_backend_##operation(t->c->gpu, t->dto, HOST on_device), t->dto, t->to, n,        \
                      what " of (%zu,%zu)", shown[0], shown[1]);                                                       \
    } while (0)

/* One row, one number, rows that tiles of 128 numbers hold or not; large sizes last. */
static const size_t shapes[][2] = {{1, 1},   {1, 5},    {5, 1},    {9, 33},   {3, 127},    {2, 128},
                                   {2, 129}, {33, 40},  {70, 7},   {2, 300},  {1, 1025},   {300, 2},
                                   {65, 64}, {512, 96}, {40, 999}, {4096, 8}, {2048, 256}, {3, 70000}};
enum { SHAPES = sizeof shapes / sizeof shapes[0], SMALL_SHAPES = 13 };

/* Runs a check on arrays of each shape, with and without special numbers. */
static void on_shapes(const check *c, const char *name, void (*run)(const both *t, const size_t *shown, uint64_t k)) {
    row r = row_of(name);
    for (uint64_t k = 0; k < 2 * (c->small ? SMALL_SHAPES : SHAPES) && !r.skipped && !r.stopped; k++) {
        const size_t *shown = shapes[k / 2], rows = shown[0], width = shown[1];
        const both t = both_open(c, &r, rows * width + 2 * (rows + width) + 4, 3.0, k % 2, 1000 + 100 * k);
        if (!r.stopped) run(&t, shown, k);
        both_close(&t);
    }
    row_end(&r);
}

/* ---- rows ---- */

static void factors(const both *t, const size_t *shown, uint64_t k) {
    const size_t rows = shown[0], n = shown[1];
    const double factor = k % 3 == 0 ? -0.0 : 0.7;
    DOUBLES("products with a factor", rows * n, scaled, (t->x, rows * n, factor), (t->dx, rows * n, factor));
    DOUBLES("rows times factors", rows * n, row_scale, (t->x, t->w, rows, n, 0), (t->dx, t->dw, rows, n, 0));
    DOUBLES("rows by divisors", rows * n, row_scale, (t->x, t->w, rows, n, 1), (t->dx, t->dw, rows, n, 1));
    DOUBLES("products of rows", rows, row_dots, (t->x, t->y, rows, n), (t->dx, t->dy, rows, n));
}

static void tables(const both *t, const size_t *shown, uint64_t k) {
    const size_t rows = shown[0], n = shown[1], entries = 1 + word_of(k, 0) % rows;
    for (size_t i = 0; i < rows; i++) /* some indices are none of the table */
        if (word_of(k, i) % 5) t->w[i] = (float)(word_of(k + 1, i) % (entries + entries / 9));
    row_ok(t->r, t->c->gpu->upload(t->dw, t->w, t->n * sizeof *t->w), "upload");
    for (int indexed = 0; indexed < 2; indexed++) {
        const ulp_row_table by = {rows, n, entries, indexed ? t->w : NULL},
                            on = {rows, n, entries, indexed ? t->dw : NULL};
        FLOATS("rows of a table", rows * n, gather, (t->x, &by), (t->dx, &on));
        const ulp_row_table wide = {rows, 1, n, indexed ? t->w : NULL}, wide_on = {rows, 1, n, indexed ? t->dw : NULL};
        FLOATS("ones in columns", rows * n, one_hot, (&wide), (&wide_on));
    }
}

static void means(const both *t, const size_t *shown, uint64_t k) {
    const size_t T = 1 + word_of(k, 1) % shown[0];
    const ulp_token_shape s = {shown[0] / T, T, shown[1]};
    DOUBLES("means over tokens", s.B * s.n, token_mean, (t->x, s), (t->dx, s));
    DOUBLES("gradients of means", s.B * s.T * s.n, token_mean_slope, (t->x, s), (t->dx, s));
}

static void normalised(const both *t, const size_t *shown, uint64_t k) {
    const size_t rows = shown[0], n = shown[1];
    for (size_t i = 0; i < rows; i++) /* few variances are negative */
        if (word_of(k, i) % 7) t->w[rows + i] = fabsf(t->w[rows + i]);
    row_ok(t->r, t->c->gpu->upload(t->dw, t->w, t->n * sizeof *t->w), "upload");
    for (uint8_t no_mean = 0; no_mean < 2; no_mean++) {
        const ulp_row_norm by = {rows, n, no_mean, t->w, t->y}, on = {rows, n, no_mean, t->dw, t->dy};
        DOUBLES("normalised rows", rows * n, row_norm, (t->x, by), (t->dx, on));
        FLOATS("copies", rows * n, narrow, (t->want, rows * n),
               (t->got, rows * n)); /* for gradients of other numbers */
        DOUBLES("sums of gradients", (2 - (size_t)no_mean) * n, row_norm_sums, (t->to, t->x, by), (t->dto, t->dx, on));
        DOUBLES("gradients", rows * n, row_norm_slope, (t->to, t->x, by), (t->dto, t->dx, on));
    }
}

static void rotations(const both *t, const size_t *shown, uint64_t k) {
    ulp_rotation by = {.rows = shown[0], .width = shown[1], .from = word_of(k, 0) % (shown[1] + 1)};
    by.size = 2 * (word_of(k, 1) % 9), by.back = (uint8_t)(k / 2 % 2);
    by.heads = by.size == 0 ? 0 : (shown[1] - by.from) / by.size;
    by.T = 1 + word_of(k, 2) % (by.size == 0 ? shown[0] : 1 + shown[0] * shown[1] / (by.size * 2));
    DOUBLES("rotated rows", by.rows * by.width, rotate, (t->x, t->y, &by), (t->dx, t->dy, &by));
}

/* Every method under roundings that meet every end of a format; moments are doubles (2,rows). */
static void check_moments(const check *c) {
    static const struct {
        const char *format;
        ulp_rule rule;
    } roundings[] = {{"fp32", {0, 0, 0}},       {"bf16", {0, 0, 0}},
                     {"fp16", {ULP_SRA, 0, 7}}, {"e4m3", {0, ULP_OVERFLOW_SAT, 0}},
                     {"q6.10", {ULP_RD, 0, 0}}, {"posit16", {0, 0, 0}},
                     {"e5m2", {ULP_SRC, 0, 0}}};
    row r = row_of("mean and variance of rows");
    for (size_t k = 0; k < sizeof roundings / sizeof *roundings; k++)
        for (size_t s = 0; s < (c->small ? SMALL_SHAPES : SHAPES) && !r.skipped && !r.stopped; s++) {
            const size_t *shown = shapes[s], rows = shown[0], n = shown[1];
            const both own = both_open(c, &r, rows * n + 2 * rows, 3.0, s % 3 == 2, 500 + 20 * s), *const t = &own;
            ulp_row_moments how = {.rows = rows, .n = n, .rule = roundings[k].rule, .stream = {3, 4, 5 + k}};
            row_ok(&r, ulp_format_parse(&how.format, roundings[k].format), "%s", roundings[k].format);
            for (int m = 0; m < 2 * ULP_MOMENTS_COUNT && !r.stopped; m++) {
                how.method = (uint8_t)(m / 2), how.no_mean = (uint8_t)(m % 2);
                DOUBLES("moments", 2 * rows, row_moments, (t->x, &how), (t->dx, &how));
            }
            both_close(t);
        }
    row_end(&r);
}

/* ---- attention ---- */

static ulp_scores scores_of(const size_t *shown, uint64_t k) {
    ulp_scores s = {.rows = shown[0], .queries = 1 + word_of(k, 3) % shown[0], .keys = shown[1], .beta = 1.0f};
    s.causal = (uint8_t)(k / 2 % 2), s.base2 = (uint8_t)(k / 4 % 2), s.whole_maxima = (uint8_t)(k / 8 % 2);
    if (word_of(k, 4) % 2) s.beta = 1.25f;
    s.from = word_of(k, 5) % s.keys, s.to = s.from + word_of(k, 6) % (s.keys - s.from + 1);
    return s;
}

static void softmax(const both *t, const size_t *shown, uint64_t k) {
    const ulp_scores s = scores_of(shown, k);
    const size_t n = s.rows * s.keys;
    DOUBLES("softmax over keys", n, attention_softmax, (t->x, &s), (t->dx, &s));
    FLOATS("weights", n, narrow, (t->want, n), (t->got, n));
    DOUBLES("its slope", n, attention_slope, (t->to, t->y, NULL, &s, 0.3), (t->dto, t->dy, NULL, &s, 0.3));
    DOUBLES("its slope by given sums", n, attention_slope, (t->to, t->y, t->w, &s, 0.3),
            (t->dto, t->dy, t->dw, &s, 0.3));
}

static void blocks(const both *t, const size_t *shown, uint64_t k) {
    static const char *const formats[] = {"fp32", "bf16", "fp16", "e4m3"};
    static const ulp_rule rules[] = {{0, 0, 0}, {ULP_SRA, 0, 9}, {ULP_RZ, 0, 0}};
    const ulp_scores s = scores_of(shown, k);
    const size_t n = s.rows * (s.to - s.from), rows = s.rows;
    ulp_format f;
    for (size_t r = 0; r < rows; r++)
        if (word_of(k, r + 9) % 3 == 0) t->w[r] = -INFINITY;
    row_ok(t->r, t->c->gpu->upload(t->dw, t->w, rows * sizeof *t->w), "upload");
    row_ok(t->r, ulp_backend_softmax_maxima(t->c->cpu, t->w, t->want, t->x, &s), "maxima on the CPU");
    const ulp_status status = ulp_backend_softmax_maxima(t->c->gpu, t->dw, t->got, t->dx, &s);
    device_doubles(t->c, t->r, status, t->got, t->want, rows, "factors of (%zu,%zu)", shown[0], shown[1]);
    device_floats(t->c, t->r, status, t->dw, t->w, rows, "maxima of (%zu,%zu)", shown[0], shown[1]);
    FLOATS("factors", rows, narrow, (t->want, rows), (t->got, rows));
    DOUBLES("divided weights", n, softmax_block, (t->x, t->w, t->y, &s), (t->dx, t->dw, t->dy, &s));
    DOUBLES("weights of a block", n, softmax_block, (t->x, t->w, NULL, &s), (t->dx, t->dw, NULL, &s));
    float *const p = t->to + rows, *const dp = t->dto + rows; /* behind the factors */
    row_ok(t->r, ulp_backend_narrow(t->c->cpu, p, t->want, n), "narrow on the CPU");
    row_ok(t->r, ulp_backend_narrow(t->c->gpu, dp, t->got, n), "narrow");
    row_ok(t->r, ulp_format_parse(&f, formats[k % 4]), "%s", formats[k % 4]);
    const ulp_rounding how = {&f, rules[k % 3], {7, 8, 9}, NULL};
    row_ok(t->r, ulp_backend_softmax_sums(t->c->cpu, t->y, p, t->to, &s, how), "sums on the CPU");
    device_floats(t->c, t->r, ulp_backend_softmax_sums(t->c->gpu, t->dy, dp, t->dto, &s, how), t->dy, t->y, rows,
                  "sums of (%zu,%zu) in %s", shown[0], shown[1], f.name);
}

void check_tokens(const check *c) {
    on_shapes(c, "rows of numbers with factors", factors);
    on_shapes(c, "rows of tables", tables);
    on_shapes(c, "means over tokens and their gradient", means);
    check_moments(c);
    on_shapes(c, "normalised rows and their gradient", normalised);
    on_shapes(c, "rotated rows", rotations);
    on_shapes(c, "attention: softmax and its slope", softmax);
    on_shapes(c, "attention: blocks of keys", blocks);
}

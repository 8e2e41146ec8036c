/* sr_bits.c - how many random bits does stochastic rounding need: where do sums stop, how biased is a rounding?
 *
 * The experiment measures the modes A, B and C of P3109 (formats/round.h) with r = 1 .. 16 random bits. Let s be the
 * spacing of the format at the exact result, and nu s the part of the result that rounding cuts off. A mode rounds up
 * for f(2^r nu) of the 2^r random words, so with probability f(2^r nu) 2^-r. f is floor for A, floor(. + 1/2) for B,
 * and round to nearest, ties to even, for C. There are three kinds of rows.
 *
 * stop: Terms x are added to +0 until no random word moves the sum. Only the largest term and the largest word decide
 * this, because a larger term or word never rounds further down. A sum moves if f(2^r x / s) reaches 1: 2^r x / s is at
 * least 1 for A, at least 1/2 for B, and more than 1/2 for C. In precision p, the least power of two at which nothing
 * moves is
 *
 *  - for terms in (0,1), some of them greater than 1/2: 2^(p-1+r) for A, 2^(p+r) for B and C
 *  - for ones, which lie exactly on the limits above: 2^(p+r) for A, 2^(p+r+1) for B, 2^(p+r) for C
 *
 * Under round to nearest, both sums stop at 2^p. Sums stop at exactly these powers: the spacing below the power is at
 * least 1 and divides the power, and a step raises the sum by at most one spacing. The terms in (0,1) are 4096 odd
 * multiples of 2^-24, added in turn. The column first_stuck comes from single additions to the values of the format
 * from 1 on. The columns least and most come from sums that are run until they stop.
 *
 * bias: The mean of (rounded - exact) / s over all 2^r words and over inputs with evenly spread fractions nu.
 *
 *  - midpoints: nu = (i + 1/2) 2^-g, i < 2^g, g = r + 1. Their mean equals the mean over a continuous uniform nu, and
 *    they have no ties for B and C. The bias is exactly -2^-(r+1) for A, and 0 for B and C.
 *  - lattice: nu = i 2^-g, the fractions of inputs of p + g bits. For g <= r the bias of all modes is 0, because 2^r nu
 *    is an integer. For g = r + 1 the bias is -2^-(r+2) for A; +2^-(r+2) for B, whose ties all go up; and 0 for C,
 *    whose ties go up and down equally often.
 *
 * A bisection counts the words that round up: the decision changes from down to up once as the word grows.
 *
 * error: Sums of n terms of U(0,1). The columns are the mean and the root mean square of the relative error over the
 * runs, and the mean error that the biases predict. Where s <= 2^r, the mean of a step is 1/2 - s 2^-(r+1) for A and
 * 1/2 for B and C, so a sum leaves the binade [2^e, 2^(e+1)) after 2^e / mean terms. At the stop the sum stays.
 */
#include "sr_bits.h"

#include <math.h>
#include <stdlib.h>

#include "sim/tensor.h"

enum { BLOCK = 4096 };

static int takes_format(const ulp_format *f) {
    return f->fits_binary32 && !f->is_fixed && f->taper == ULP_TAPER_NONE && f->prec >= 2 && f->prec <= 16 &&
           f->emin <= -24 && f->emax >= (int)f->prec + 18;
}

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(
        settings, formats, "e8m2,e8m4,bfloat16", "bfloat16", takes_format,
        "needs 2 to 16 significant bits p and exponents from -24 to p + 18, as e8m3 has, " ULP_WANTS_ONE_PRECISION),
    ULP_OPTION(settings, modes, choices, "all", .words = MODE_WORDS, .help = "stochastic modes"),
    ULP_OPTION(settings, bits, integers, "1..16", .help = "random bits r", .min = 1, .max = 16),
    ULP_OPTION(settings, reach, integer, "17", .quick = "14", .full = "21",
               .help = "sums run to their stop if it is below two to this", .min = 4, .max = 40),
    ULP_OPTION(settings, terms, integer, "1e5", .help = "terms of the sums whose error is measured", .min = 100,
               .max = 1e7),
    ULP_OPTION(settings, runs, integer, "16", .full = "64", .help = "sums with random words of their own", .min = 4,
               .max = 1024),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, kind, KIND_WORDS),
    ULP_COLUMNS(row, format, p),
    ULP_WORDS(row, mode, MODE_WORDS),
    ULP_COLUMNS(row, bits),
    ULP_WORDS(row, input, INPUT_WORDS),
    ULP_COLUMNS(row, cut_bits, first_stuck, least, most),
    ULP_COLUMNS(row, terms, bias, mean_error, rms, predicted),
    {0},
};

static double cost_of(const settings *s, const point *p) {
    const int stop = (int)p->format->prec + (int)p->bits;
    if (p->kind == ERROR) return (double)s->terms;
    if (p->kind == STOP) return stop <= s->reach ? ldexp(4, stop) : 1;
    return ldexp(1, (int)p->bits);
}

static void plan_mode(ulp_plan *plan, const settings *s, const ulp_format *format, int mode) {
    for (size_t i = 0; i < s->bits.count; i++)
        for (int kind = STOP; kind < KIND_COUNT; kind++) {
            const point p = {format, mode, kind, s->bits.at[i]};
            ulp_plan_add(plan, &p, cost_of(s, &p), "%s %s/%lld %s", format->name,
                         ulp_word_of(MODE_WORDS, (size_t)mode).text, (long long)p.bits,
                         ulp_word_of(KIND_WORDS, (size_t)kind).text);
        }
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    for (size_t f = 0; f < s->formats.count; f++)
        for (int m = 0; m < MODE_COUNT; m++)
            if (s->modes >> m & 1) plan_mode(plan, s, &s->formats.at[f], m);
    return ULP_OK;
}

/* A stochastic mode with its number of random bits, in a format. */
typedef struct rounding {
    const ulp_format *format;
    ulp_rule rule;
    int mode, bits;
} rounding;

/* ---- where sums stop ---- */

/* Whether no random word moves `sum` when a term of at most `most` is added. */
static int is_stuck(const rounding *r, double sum, double most) {
    return ulp_arith((ulp_scalar_op){ULP_ADD, sum, most, 0}, r->format, r->rule, UINT32_MAX) == sum;
}

/* The least value of the format from 1 on that no random word moves; 0 if there is no such value. */
static double first_stuck(const rounding *r, double most) {
    for (double sum = 1; sum < r->format->max; sum += ulp_spacing(sum, r->format))
        if (is_stuck(r, sum, most)) return sum;
    return 0;
}

static double draw_terms(float *x, int input, uint64_t seed) {
    const ulp_stream stream = ulp_stream_named(seed, "sr_bits terms");
    double most = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        x[i] = input == ONES ? 1.0f : (float)(ulp_random_word(stream, i) >> 9) * 0x1p-23f + 0x1p-24f;
        most = fmax(most, (double)x[i]);
    }
    return most;
}

/* The sums of all runs, which have the same terms. */
typedef struct sums {
    const ulp_backend *backend;
    size_t runs;
    ulp_datapath serial;
    ulp_stream words;
    float *x, *sum; /* (BLOCK), (runs) */
    struct {
        float *x, *ones, *sum; /* (BLOCK), (BLOCK,runs), (runs), in backend memory */
    } device;
    ulp_arena arena;
    double least, most;
} sums;

static void carve(void *own, ulp_arena *arena) {
    sums *s = own;
    s->device.x = ulp_arena_take(arena, BLOCK);
    s->device.ones = ulp_arena_take(arena, BLOCK * s->runs);
    s->device.sum = ulp_arena_take(arena, s->runs);
}

static ulp_stream words_of(const settings *set, const rounding *r, const char *what) {
    return ulp_stream_named(set->seed, "sr_bits %s %s/%d %s", r->format->name,
                            ulp_word_of(MODE_WORDS, (size_t)r->mode).text, r->bits, what);
}

static ulp_status sums_new(sums *s, const settings *set, const rounding *r, const char *what) {
    s->backend = set->backend;
    s->runs = (size_t)set->runs;
    s->serial = (ulp_datapath){.kind = ULP_SERIAL, .accumulator = *r->format, .rule = r->rule};
    s->words = words_of(set, r, what);
    s->x = calloc(BLOCK + s->runs, sizeof *s->x);
    if (s->x == NULL) return ULP_NO_MEMORY;
    s->sum = s->x + BLOCK;
    ULP_TRY(ulp_arena_make(&s->arena, s->backend, carve, s));
    ULP_TRY(ulp_tensor_fill(s->backend, s->device.ones, BLOCK * s->runs, 1.0f));
    return ulp_datapath_init(&s->serial);
}

static void sums_free(sums *s) {
    ulp_arena_release(&s->arena);
    free(s->x);
}

/* Adds the first `count` terms of device.x to every sum. */
static ulp_status add(sums *s, size_t count) {
    const ulp_gemm_shape shape = {
        .m = 1, .n = s->runs, .k = count, .lda = BLOCK, .ldb = s->runs, .ldc = s->runs, .accumulate = 1};
    ULP_TRY(ulp_backend_gemm(s->backend, s->device.sum, s->device.x, s->device.ones, &shape,
                             (ulp_summation){&s->serial, s->words}));
    ULP_TRY(s->backend->download(s->sum, s->device.sum, s->runs * sizeof *s->sum));
    s->words.first += count * s->runs;
    s->least = s->most = (double)s->sum[0];
    for (size_t i = 1; i < s->runs; i++) {
        s->least = (double)s->sum[i] < s->least ? (double)s->sum[i] : s->least;
        s->most = (double)s->sum[i] > s->most ? (double)s->sum[i] : s->most;
    }
    return ULP_OK;
}

/* A row without measurements. */
static row row_of(const ulp_rows *rows, int kind, const rounding *r, int input) {
    row new;
    ulp_row_clear(rows, &new);
    new.kind = kind;
    new.format = r->format->name;
    new.p = r->format->prec;
    new.mode = r->mode;
    new.bits = r->bits;
    new.input = input;
    return new;
}

static int all_stuck(const sums *s, const rounding *r, double most) {
    for (size_t i = 0; i < s->runs; i++)
        if (!is_stuck(r, (double)s->sum[i], most)) return 0;
    return 1;
}

/* Adds blocks of the terms, which are at most `most`, until no sum can move. Sets least, most and terms of the row;
 * terms counts whole blocks. */
static ulp_status run_to_stop(const ulp_task *task, sums *s, const rounding *r, double most, row *to) {
    to->terms = 0;
    ULP_TRY(s->backend->upload(s->device.x, s->x, BLOCK * sizeof *s->x));
    for (int stopped = 0; !stopped;) {
        ULP_TRY(add(s, BLOCK));
        to->terms += BLOCK;
        stopped = all_stuck(s, r, most);
        if ((to->terms / BLOCK) % 64 == 0 && ulp_task_progress(task, fmin(1, s->least / to->first_stuck))) break;
    }
    to->least = s->least;
    to->most = s->most;
    return ULP_OK;
}

static ulp_status put_stop(const ulp_task *task, const rounding *r, int input) {
    const settings *set = task->settings;
    sums s = {0};
    ulp_status status = sums_new(&s, set, r, ulp_word_of(INPUT_WORDS, (size_t)input).text);
    if (status == ULP_OK) {
        const double most = draw_terms(s.x, input, set->seed);
        row new = row_of(task->rows, STOP, r, input);
        new.first_stuck = first_stuck(r, most);
        if (new.first_stuck > 0 && new.first_stuck <= ldexp(1, (int)set->reach))
            status = run_to_stop(task, &s, r, most, &new);
        ulp_row_put(task->rows, &new);
    }
    sums_free(&s);
    return status;
}

/* ---- bias ---- */

/* The number of the 2^r words that round x to a value above `down`. */
static uint32_t count_up(const rounding *r, double x, double down) {
    uint32_t low = 0, high = 1u << r->bits; /* words below `low` round down, words from `high` on round up */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2, word = middle << (32 - r->bits);
        if (ulp_round(x, r->format, r->rule, word) > down) high = middle;
        else low = middle + 1;
    }
    return (1u << r->bits) - low;
}

/* The total is exact: it is a multiple of 2^-18 below 2^18. */
static void put_bias(ulp_rows *rows, const rounding *r, int input, int g) {
    const double spacing = ulp_spacing(1.0, r->format), shift = input == MIDPOINTS ? 0.5 : 0;
    double total = 0;
    for (uint32_t i = 0; i < 1u << g; i++) {
        const double nu = ldexp((double)i + shift, -g);
        total += ldexp((double)count_up(r, 1 + nu * spacing, 1), -r->bits) - nu;
    }
    row new = row_of(rows, BIAS, r, input);
    new.cut_bits = g;
    new.bias = ldexp(total, -g);
    ulp_row_put(rows, &new);
}

/* ---- errors ---- */

/* The sum of n terms of mean 1/2, as predicted by the means of the steps. */
static double predict(const rounding *r, double n) {
    const int p = (int)r->format->prec;
    double sum = 0;
    for (int e = 0;; e++) { /* from 0 to 1, then through the binades [2^(e-1), 2^e) */
        const double from = e == 0 ? 0 : ldexp(1, e - 1), scaled = ldexp(1, e - p - r->bits); /* s 2^-r */
        const double mean = r->mode == A ? 0.5 - scaled / 2 : scaled > 1 ? 0 : 0.5;
        const double terms = (ldexp(1, e) - from) / mean;
        if (mean <= 0) return from;
        if (n <= terms) return sum + n * mean;
        n -= terms;
        sum = ldexp(1, e);
    }
}

/* Draws the terms from number `at` on to x (count), and returns their sum. */
static double draw_uniform(float *x, size_t count, ulp_stream stream, size_t at) {
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        x[i] = (float)(ulp_random_word(stream, at + i) >> 9) * 0x1p-23f + 0x1p-24f;
        total += (double)x[i];
    }
    return total;
}

/* Puts a row with the relative errors of the sums; `exact` is the exact sum. */
static void put_errors(ulp_rows *rows, const rounding *r, const sums *s, size_t n, double exact) {
    row new = row_of(rows, ERROR, r, UNIFORM);
    double total = 0, squares = 0;
    for (size_t i = 0; i < s->runs; i++) {
        const double error = ((double)s->sum[i] - exact) / exact;
        total += error;
        squares += error * error;
    }
    new.least = s->least;
    new.most = s->most;
    new.terms = (int64_t)n;
    new.mean_error = total / (double)s->runs;
    new.rms = sqrt(squares / (double)s->runs);
    new.predicted = predict(r, 2 * exact) / exact - 1;
    ulp_row_put(rows, &new);
}

static ulp_status put_error(const ulp_task *task, const rounding *r) {
    const settings *set = task->settings;
    const size_t n = (size_t)set->terms;
    const ulp_stream stream = ulp_stream_named(set->seed, "sr_bits error terms");
    sums s = {0};
    double exact = 0; /* without error: multiples of 2^-24 below 2^24 */
    int stopped = 0;
    ulp_status status = sums_new(&s, set, r, "error");
    for (size_t at = 0; at < n && status == ULP_OK && !stopped; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        exact += draw_uniform(s.x, count, stream, at);
        status = s.backend->upload(s.device.x, s.x, count * sizeof *s.x);
        if (status == ULP_OK) status = add(&s, count);
        stopped = ulp_task_progress(task, (double)at / (double)n);
    }
    if (status == ULP_OK) put_errors(task->rows, r, &s, n, exact);
    sums_free(&s);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    static const uint8_t ids[MODE_COUNT] = {ULP_SRA, ULP_SRB, ULP_SRC};
    const point *p = task->point;
    const rounding r = {p->format, {ids[p->mode], 0, (uint8_t)p->bits}, p->mode, (int)p->bits};
    ulp_status status;
    switch (p->kind) {
    case BIAS:
        put_bias(task->rows, &r, LATTICE, r.bits);
        put_bias(task->rows, &r, LATTICE, r.bits + 1);
        put_bias(task->rows, &r, MIDPOINTS, r.bits + 1);
        return ULP_OK;
    case ERROR: return put_error(task, &r);
    default: status = put_stop(task, &r, BELOW_ONE); return status == ULP_OK ? put_stop(task, &r, ONES) : status;
    }
}

const ulp_experiment experiment = {
    .name = "sr_bits",
    .question = "how many random bits does stochastic rounding need: where do sums stop, how biased is a rounding?",
    ULP_EXPERIMENT_OF(settings, point, row),
};

/* sr_bits.c - how many random bits does stochastic rounding need: where do sums stop, how biased is a rounding?
 *
 * The modes A, B, C of P3109 (formats/round.h) with r = 1 .. 16 bits. With nu the part of a spacing s that is cut, a
 * mode rounds up with probability f(2^r nu) 2^-r over all words, where f is floor for A, floor(. + 1/2) for B, and to
 * nearest even for C. Three kinds of rows:
 *
 * stop   Terms x are added to +0 until no random word moves the sum. The largest term and the largest word decide, as
 *   both only push upward. A sum moves if f(2^r x / s) reaches 1: 2^r x / s at least 1 for A, at least 1/2 for B, over
 *   1/2 for C. The least power of two where nothing moves is, in precision p,
 *       terms in (0,1), some over 1/2:  A 2^(p-1+r), B and C 2^(p+r)
 *       ones, which sit on the limits:  A 2^(p+r), B 2^(p+r+1), C 2^(p+r)
 *   (to nearest, both stop at 2^p). Sums stop exactly there: the spacing below is 1 or more and divides that power,
 *   and a step ends at most one spacing higher. Terms in (0,1) are odd multiples of 2^-24, 4096 of them in turn.
 *   first_stuck asks the rounding at all values of the format; least and most are sums that were run till they stopped.
 * bias   The mean of (rounded - exact) / s over all 2^r words and over inputs with evenly spread fractions nu.
 *   midpoints: (i + 1/2) 2^-g, i < 2^g, g = r + 1, which average as a continuous law does, with no ties for B and C:
 *       exactly -2^-(r+1) for A, 0 for B and C;
 *   lattice: i 2^-g, what inputs of p + g bits have: 0 for all while g <= r, where 2^r nu is whole; for g = r + 1, A
 *       has -2^-(r+2), and B +2^-(r+2), since its ties all go up; C has 0, its ties go up and down alike.
 *   Words that go up are counted by halving: the decision turns from down to up once as the word grows.
 * error  Sums of n terms of U(0,1): mean and root mean square of the relative error over the runs, and the mean that
 *   the biases predict: where s <= 2^r, a step has the mean 1/2 - s 2^-(r+1) for A and 1/2 for B and C, so that a
 *   sum leaves the binade [2^e, 2^(e+1)) after 2^e / mean terms; at the stop it stays.
 * The claims that test these laws are in sr_bits/claims.c.
 */
#include "sr_bits.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdlib.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("e8m2,e8m4,bfloat16", "bfloat16"),
    {.name = "modes", .type = ULP_OPTION_CHOICES, .value = "all", .words = "sra srb src", .help = "stochastic modes"},
    {"bits", ULP_OPTION_INTEGERS, "1..16", NULL, NULL, "random bits r", 1, 16, NULL, 0},
    {"reach", ULP_OPTION_INTEGER, "17", "14", "21", "sums run to their stop if it is below two to this", 4, 40, NULL,
     0},
    {"terms", ULP_OPTION_INTEGER, "1e5", NULL, NULL, "terms of the sums whose error is measured", 100, 1e7, NULL, 0},
    {"runs", ULP_OPTION_INTEGER, "16", NULL, "64", "sums with random words of their own", 4, 1024, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_BACKEND,
    {0},
};

enum { STOP, BIAS, ERROR, KIND_COUNT };
static const char *const kind_names[KIND_COUNT] = {"stop", "bias", "error"};
const char *const sr_bits_inputs[INPUT_COUNT] = {"below-one", "ones", "lattice", "midpoints"};
const char *const sr_bits_modes[MODE_COUNT] = {"sra", "srb", "src"};
enum { AT_FORMAT, AT_MODE, AT_BITS, AT_KIND, BLOCK = 4096 };

static int takes_format(const ulp_format *f) {
    return f->fits_binary32 && !f->is_fixed && f->prec >= 2 && f->prec <= 16 && f->emin <= -24 &&
           f->emax >= (int)f->prec + 18;
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, bits;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *r = ulp_option_numbers(run, "bits", &bits);
    (void)context;
    for (size_t f = 0; f < formats; f++) {
        for (int m = 0; m < MODE_COUNT; m++)
            for (size_t i = 0; i < bits && ulp_option_chosen(run, "modes", sr_bits_modes[m]); i++)
                for (int kind = STOP; kind < KIND_COUNT; kind++) {
                    const int stop = (int)format[f].prec + (int)r[i], run_to = (int)ulp_option_integer(run, "reach");
                    ulp_point point = {.at = {(int64_t)f, m, (int64_t)r[i], kind}, .cost = ldexp(1, (int)r[i])};
                    if (kind == ERROR) point.cost = (double)ulp_option_integer(run, "terms");
                    if (kind == STOP) point.cost = stop <= run_to ? ldexp(4, stop) : 1;
                    ulp_point_add(run, point, "%s %s/%.0f %s", format[f].name, sr_bits_modes[m], r[i],
                                  kind_names[kind]);
                }
    }
    return ULP_OK;
}

/* A mode with its bits, in a format. */
typedef struct rounding {
    const ulp_format *format;
    ulp_rule rule;
    int mode, bits;
} rounding;

/* ---- where sums stop ---- */

/* No random word moves `sum` when a term up to `most` is added. */
static int is_stuck(const rounding *r, double sum, double most) {
    return ulp_arith(ULP_ADD, sum, most, 0, r->format, r->rule, UINT32_MAX) == sum;
}

/* The least value of the format from 1 on that no word moves, all values below it being moved; 0 if there is none. */
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

/* Runs beside each other, all with the same terms. */
typedef struct sums {
    const ulp_backend *backend;
    size_t runs;
    ulp_datapath serial;
    ulp_stream words;
    float *x, *sum; /* (BLOCK), (runs) */
    struct {
        float *x, *ones, *sum; /* (BLOCK), (BLOCK,runs), (runs): backend memory */
    } there;
    ulp_family family;
    double least, most;
} sums;

static void carve(sums *s) {
    s->there.x = ulp_family_take(&s->family, BLOCK);
    s->there.ones = ulp_family_take(&s->family, BLOCK * s->runs);
    s->there.sum = ulp_family_take(&s->family, s->runs);
}

static ulp_status sums_new(sums *s, const ulp_run *run, const rounding *r, const char *what) {
    s->backend = ulp_run_backend(run);
    s->runs = (size_t)ulp_option_integer(run, "runs");
    s->serial = (ulp_datapath){.kind = ULP_SERIAL, .accumulator = *r->format, .rule = r->rule};
    s->words = ulp_stream_named(ulp_run_seed(run), "sr_bits %s %s/%d %s", r->format->name, sr_bits_modes[r->mode],
                                r->bits, what);
    ulp_family_init(&s->family, s->backend);
    carve(s);
    s->x = calloc(BLOCK + s->runs, sizeof *s->x);
    ulp_status status = s->x != NULL ? ulp_family_alloc(&s->family) : ULP_NO_MEMORY;
    if (status != ULP_OK) return status;
    carve(s);
    s->sum = s->x + BLOCK;
    status = ulp_tensor_fill(s->backend, s->there.ones, BLOCK * s->runs, 1.0f);
    return status == ULP_OK ? ulp_datapath_init(&s->serial) : status;
}

static void sums_free(sums *s) {
    ulp_family_release(&s->family);
    free(s->x);
}

/* Adds the first `count` of the BLOCK terms, which are in backend memory, to every sum. */
static ulp_status add(sums *s, size_t count) {
    const ulp_gemm_shape shape = {
        .m = 1, .n = s->runs, .k = count, .lda = BLOCK, .ldb = s->runs, .ldc = s->runs, .accumulate = 1};
    ulp_status status = ulp_backend_gemm(s->backend, s->there.sum, s->there.x, s->there.ones, &shape,
                                         (ulp_summation){&s->serial, s->words});
    if (status == ULP_OK) status = s->backend->download(s->sum, s->there.sum, s->runs * sizeof *s->sum);
    s->words.first += count * s->runs;
    s->least = s->most = (double)s->sum[0];
    for (size_t i = 1; i < s->runs; i++) {
        s->least = fmin(s->least, (double)s->sum[i]);
        s->most = fmax(s->most, (double)s->sum[i]);
    }
    return status;
}

static void put_key(ulp_rows *rows, int kind, const rounding *r, const char *input) {
    ulp_put_text(rows, kind_names[kind]);
    ulp_put_text(rows, r->format->name);
    ulp_put_integer(rows, r->format->prec);
    ulp_put_text(rows, sr_bits_modes[r->mode]);
    ulp_put_integer(rows, r->bits);
    ulp_put_text(rows, input);
}

/* The sums run until all have stopped: least, most and the number of terms, in whole blocks. */
static ulp_status put_stop(const ulp_run *run, ulp_rows *rows, const rounding *r, int input) {
    sums s = {0};
    ulp_status status = sums_new(&s, run, r, sr_bits_inputs[input]);
    if (status == ULP_OK) {
        const double most = draw_terms(s.x, input, ulp_run_seed(run)), stuck = first_stuck(r, most);
        const double reach = ldexp(1, (int)ulp_option_integer(run, "reach"));
        int64_t terms = 0;
        int runs = stuck > 0 && stuck <= reach, stopped = !runs;
        status = s.backend->upload(s.there.x, s.x, BLOCK * sizeof *s.x);
        while (!stopped && status == ULP_OK) {
            status = add(&s, BLOCK);
            terms += BLOCK;
            stopped = is_stuck(r, s.least, most) && is_stuck(r, s.most, most);
            for (size_t i = 0; i < s.runs && stopped; i++) stopped = is_stuck(r, (double)s.sum[i], most);
            if ((terms / BLOCK) % 64 == 0 && ulp_rows_progress(rows, fmin(1, s.least / stuck))) runs = 0, stopped = 1;
        }
        put_key(rows, STOP, r, sr_bits_inputs[input]);
        ulp_put_none(rows);
        ulp_put_number(rows, stuck);
        if (runs) {
            ulp_put_number(rows, s.least);
            ulp_put_number(rows, s.most);
            ulp_put_integer(rows, terms);
        } else ulp_put_nones(rows, 3);
        ulp_put_nones(rows, 4);
        ulp_row_end(rows);
    }
    sums_free(&s);
    return status;
}

/* ---- bias ---- */

/* How many of the 2^r words round `x` up from `down`. */
static uint32_t count_up(const rounding *r, double x, double down) {
    uint32_t low = 0, high = 1u << r->bits; /* words below `low` round down, from `high` on up */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2, word = middle << (32 - r->bits);
        if (ulp_round(x, r->format, r->rule, word) > down) high = middle;
        else low = middle + 1;
    }
    return (1u << r->bits) - low;
}

/* Sums are multiples of 2^-18 below 2^18, and exact. */
static void put_bias(ulp_rows *rows, const rounding *r, int input, int g) {
    const double spacing = ulp_spacing(1.0, r->format), shift = input == MIDPOINTS ? 0.5 : 0;
    double total = 0;
    for (uint32_t i = 0; i < 1u << g; i++) {
        const double nu = ldexp((double)i + shift, -g);
        total += ldexp((double)count_up(r, 1 + nu * spacing, 1), -r->bits) - nu;
    }
    put_key(rows, BIAS, r, sr_bits_inputs[input]);
    ulp_put_integer(rows, g);
    ulp_put_nones(rows, 4);
    ulp_put_number(rows, ldexp(total, -g));
    ulp_put_nones(rows, 3);
    ulp_row_end(rows);
}

/* ---- errors ---- */

/* The sum of n terms of mean 1/2 that the means of the steps predict. */
static double predict(const rounding *r, double n) {
    const int p = (int)r->format->prec;
    double sum = 0;
    for (int e = 0;; e++) { /* from 0 to 1, and on through [2^(e-1), 2^e) */
        const double from = e == 0 ? 0 : ldexp(1, e - 1), scaled = ldexp(1, e - p - r->bits); /* s 2^-r */
        const double mean = r->mode == A ? 0.5 - scaled / 2 : scaled > 1 ? 0 : 0.5;
        const double terms = (ldexp(1, e) - from) / mean;
        if (mean <= 0) return from;
        if (n <= terms) return sum + n * mean;
        n -= terms;
        sum = ldexp(1, e);
    }
}

static ulp_status put_error(const ulp_run *run, ulp_rows *rows, const rounding *r) {
    sums s = {0};
    const size_t n = (size_t)ulp_option_integer(run, "terms");
    const ulp_stream stream = ulp_stream_named(ulp_run_seed(run), "sr_bits error terms");
    double exact = 0, total = 0, squares = 0; /* multiples of 2^-24 below 2^24: exact */
    ulp_status status = sums_new(&s, run, r, "error");
    int stopped = 0;
    for (size_t at = 0; at < n && status == ULP_OK && !stopped; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        for (size_t i = 0; i < count; i++) {
            s.x[i] = (float)(ulp_random_word(stream, at + i) >> 9) * 0x1p-23f + 0x1p-24f;
            exact += (double)s.x[i];
        }
        status = s.backend->upload(s.there.x, s.x, count * sizeof *s.x);
        if (status == ULP_OK) status = add(&s, count);
        stopped = ulp_rows_progress(rows, (double)at / (double)n);
    }
    for (size_t i = 0; i < s.runs && status == ULP_OK; i++) {
        const double error = ((double)s.sum[i] - exact) / exact;
        total += error;
        squares += error * error;
    }
    put_key(rows, ERROR, r, "uniform");
    ulp_put_nones(rows, 2);
    ulp_put_number(rows, s.least);
    ulp_put_number(rows, s.most);
    ulp_put_integer(rows, (int64_t)n);
    ulp_put_none(rows);
    ulp_put_number(rows, total / (double)s.runs);
    ulp_put_number(rows, sqrt(squares / (double)s.runs));
    ulp_put_number(rows, predict(r, 2 * exact) / exact - 1);
    ulp_row_end(rows);
    sums_free(&s);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    static const uint8_t ids[MODE_COUNT] = {ULP_SRA, ULP_SRB, ULP_SRC};
    size_t formats;
    rounding r = {.mode = (int)point->at[AT_MODE], .bits = (int)point->at[AT_BITS]};
    r.format = &ulp_run_formats(run, &formats)[point->at[AT_FORMAT]];
    r.rule = (ulp_rule){ids[r.mode], 0, (uint8_t)r.bits};
    (void)context;
    switch (point->at[AT_KIND]) {
    case BIAS:
        put_bias(rows, &r, LATTICE, r.bits);
        put_bias(rows, &r, LATTICE, r.bits + 1);
        put_bias(rows, &r, MIDPOINTS, r.bits + 1);
        return ULP_OK;
    case ERROR: return put_error(run, rows, &r);
    default: {
        const ulp_status status = put_stop(run, rows, &r, BELOW_ONE);
        return status == ULP_OK ? put_stop(run, rows, &r, ONES) : status;
    }
    }
}

static const ulp_experiment experiment = {
    .name = "sr_bits",
    .question = "how many random bits does stochastic rounding need: where do sums stop, how biased is a rounding?",
    .columns = "kind,format,p,mode,bits,input,cut_bits,first_stuck,least,most,terms,bias,mean_error,rms,predicted",
    .options = options,
    .takes_format = takes_format,
    .format_wants = "needs 2 to 16 significant bits p and exponents from -24 to p + 18, as e8m3 has",
    .prepare = prepare,
    .compute = compute,
    .check = sr_bits_check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }

/* swamping.c - sums of positive-mean data in a small accumulator: where do they stop, what do chunks and chance cure?
 *
 * After Wang et al. 2018 (arXiv 1812.08011), figure 3: terms from U[1 - sqrt 3, 1 + sqrt 3] (mean 1, standard deviation
 * 1), rounded to the accumulator's format first, so that only the additions err. Sums of 2^4, 2^5, ... terms: a longer
 * sum begins with the terms and the random words of the shorter ones. Chunk N: serial sums of N terms, and a serial sum
 * of these (section 3.1 there).
 * Where a sum to nearest stops, in precision p: on [2^e, 2^(e+1)) numbers are 2^(e-p+1) apart, and what is smaller than
 * half of that moves nothing. A single term is below 2.74, a chunk of N >= 32 terms below 2 N (its mean is N, its
 * standard deviation sqrt N; for N = 32 that is 5.6 of them, passed by less than one chunk in 10^8). So the sum stops
 * at 2^(p+2) without chunks and at 2 N 2^p with them, exactly there, since the steps on the way divide these powers.
 */
#include "experiments/harness/harness.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("e6m9", NULL),
    ULP_TAKES_MODES("rne,sra", NULL),
    {"chunks", ULP_OPTION_INTEGERS, "1,8,32,64,256", NULL, NULL, "terms in a chunk; 1: one serial sum", 1, 65536, NULL,
     0},
    {"longest", ULP_OPTION_INTEGER, "18", NULL, "20", "log2 of the longest sum; the shortest has 2^4 terms", 4, 24,
     NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("10", "2", "50"),
    ULP_TAKES_BACKEND,
    {0},
};

enum { AT_FORMAT, AT_MODE, AT_CHUNK, AT_SEED, SHORTEST = 4 };

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, modes, chunks;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const double *chunk = ulp_option_numbers(run, "chunks", &chunks);
    const int64_t seeds = ulp_option_integer(run, "seeds");
    (void)context;
    for (size_t f = 0; f < formats; f++) {
        for (int64_t s = 0; s < seeds; s++) {
            const int64_t seed = (int64_t)ulp_run_seed(run) + s;
            for (size_t m = 0; m < modes; m++)
                for (size_t i = 0; i < chunks; i++) {
                    ulp_point point = {.at = {(int64_t)f, (int64_t)m, (int64_t)chunk[i], seed}, .cost = 16};
                    ulp_point_add(run, point, "%s %s chunk %.0f seed %lld", format[f].name, mode[m].name, chunk[i],
                                  (long long)seed);
                }
            ulp_point point = {.at = {(int64_t)f, 0, 0, seed}};
            ulp_point_add(run, point, "%s data in binary32 seed %lld", format[f].name, (long long)seed);
        }
    }
    return ULP_OK;
}

/* How a point sums: in a format by a mode and chunks, or (chunk 0) the same terms in binary32. */
static ulp_status datapath_of(const ulp_format *format, const char *mode, int64_t chunk, ulp_datapath *datapath) {
    char name[2 * ULP_DATAPATH_NAME_MAX];
    if (chunk == 0) snprintf(name, sizeof name, "fp32");
    else if (chunk == 1) snprintf(name, sizeof name, "serial:%s:%s", format->name, mode);
    else snprintf(name, sizeof name, "chunk%lld:%s:%s", (long long)chunk, format->name, mode);
    return ulp_datapath_parse(datapath, name);
}

/* The terms of a seed, what they are multiplied by, and their sums: backend memory. */
typedef struct terms {
    float *x, *ones, *sum;        /* (n), (n), (1) */
    double *x64, *ones64, *truth; /* the same */
} terms;

static void carve(terms *t, ulp_family *family, size_t n) {
    t->x = ulp_family_take(family, n);
    t->ones = ulp_family_take(family, n);
    t->sum = ulp_family_take(family, 1);
    t->x64 = ulp_family_take64(family, n);
    t->ones64 = ulp_family_take64(family, n);
    t->truth = ulp_family_take64(family, 1);
}

static ulp_status fill(const ulp_backend *backend, const terms *t, size_t n, const ulp_format *format, uint64_t seed) {
    const ulp_stream stream = ulp_stream_named(seed, "swamping terms");
    float *x = malloc(n * sizeof *x);
    double *x64 = malloc(n * sizeof *x64);
    ulp_status status = x != NULL && x64 != NULL ? ulp_tensor_fill(backend, t->ones, n, 1.0f) : ULP_NO_MEMORY;
    for (size_t i = 0; i < n && status == ULP_OK; i++) {
        const double u = ulp_random_uniform(stream, i);
        x64[i] = ulp_round(1 + sqrt(3) * (2 * u - 1), format, (ulp_rule){0}, 0);
        x[i] = (float)x64[i];
    }
    if (status == ULP_OK) status = backend->upload(t->x, x, n * sizeof *x);
    if (status == ULP_OK) status = backend->upload(t->x64, x64, n * sizeof *x64);
    for (size_t i = 0; i < n && status == ULP_OK; i++) x64[i] = 1;
    if (status == ULP_OK) status = backend->upload(t->ones64, x64, n * sizeof *x64);
    free(x);
    free(x64);
    return status;
}

static ulp_status put_lengths(const ulp_run *run, ulp_rows *rows, const terms *t, const ulp_format *format,
                              const char *mode, const ulp_point *point) {
    const ulp_backend *backend = ulp_run_backend(run);
    const int64_t chunk = point->at[AT_CHUNK], longest = ulp_option_integer(run, "longest");
    const ulp_stream stream = ulp_stream_named((uint64_t)point->at[AT_SEED], "swamping %s %s chunk %lld", format->name,
                                               mode, (long long)chunk);
    ulp_datapath datapath, exact;
    ulp_status status = datapath_of(format, mode, chunk, &datapath);
    if (status == ULP_OK) status = ulp_datapath_parse(&exact, "exact:binary64:rne");
    for (int64_t e = SHORTEST; e <= longest && status == ULP_OK; e++) {
        const size_t n = (size_t)1 << e;
        const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = n, .lda = n, .ldb = 1, .ldc = 1};
        float sum;
        double truth;
        status = ulp_backend_gemm(backend, t->sum, t->x, t->ones, &shape, (ulp_summation){&datapath, stream});
        if (status == ULP_OK)
            status = ulp_backend_gemm64(backend, t->truth, t->x64, t->ones64, &shape, (ulp_summation){&exact, stream});
        if (status == ULP_OK) status = backend->download(&sum, t->sum, sizeof sum);
        if (status == ULP_OK) status = backend->download(&truth, t->truth, sizeof truth);
        if (status != ULP_OK) break;
        ulp_put_text(rows, format->name);
        ulp_put_text(rows, datapath.name);
        ulp_put_text(rows, mode);
        ulp_put_integer(rows, chunk);
        ulp_put_integer(rows, point->at[AT_SEED]);
        ulp_put_integer(rows, (int64_t)n);
        ulp_put_number(rows, (double)sum);
        ulp_put_code(rows, (double)sum, &datapath.result);
        ulp_put_number(rows, truth);
        ulp_put_number(rows, ((double)sum - truth) / truth);
        ulp_row_end(rows);
        if (ulp_rows_progress(rows, (double)n / (double)((size_t)1 << longest))) break;
    }
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t formats, modes;
    const ulp_format *format = &ulp_run_formats(run, &formats)[point->at[AT_FORMAT]];
    const char *mode = point->at[AT_CHUNK] == 0 ? "rne" : ulp_run_modes(run, &modes)[point->at[AT_MODE]].name;
    const size_t n = (size_t)1 << ulp_option_integer(run, "longest");
    ulp_family family;
    terms t;
    (void)context;
    ulp_family_init(&family, ulp_run_backend(run));
    carve(&t, &family, n);
    ulp_status status = ulp_family_alloc(&family);
    if (status == ULP_OK) {
        carve(&t, &family, n);
        status = fill(family.backend, &t, n, format, (uint64_t)point->at[AT_SEED]);
        if (status == ULP_OK) status = put_lengths(run, rows, &t, format, mode, point);
    }
    ulp_family_release(&family);
    return status;
}

/* ---- claims ---- */

/* Of all seeds, at lengths 2^from .. 2^to. */
typedef struct reach {
    long rows;
    double least, most; /* sums */
    double error;       /* the largest |relative error| */
    double error_at_longest, mean_at_longest;
} reach;

static reach reach_of(const ulp_run *run, const char *format, const char *mode, int64_t chunk, int from, int to) {
    char text[24];
    reach r = {.least = INFINITY, .most = -INFINITY};
    double total = 0;
    long last = 0;
    snprintf(text, sizeof text, "%lld", (long long)chunk);
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "chunk", text, "format", format, "mode", mode, (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const double n = ulp_row_number(run, row, "n"), sum = ulp_row_number(run, row, "sum");
        const double error = ulp_row_number(run, row, "error"), size = isnan(error) ? INFINITY : fabs(error);
        if (n < ldexp(1, from) || n > ldexp(1, to)) continue;
        r.rows++;
        r.least = isnan(sum) ? -INFINITY : fmin(r.least, sum);
        r.most = isnan(sum) ? INFINITY : fmax(r.most, sum);
        r.error = fmax(r.error, size);
        if (n < ldexp(1, to)) continue;
        r.error_at_longest = fmax(r.error_at_longest, size);
        total += error;
        last++;
    }
    r.mean_at_longest = total / (double)last;
    return r;
}

/* Where sums in e6m9 to nearest stop, and from which length on all of them have: twice as many terms as the stop, so
 * that chance (a few percent) cannot be in the way; without chunks, 4096 is left behind by 2 standard deviations more.
 */
static const struct stop {
    int chunk, from;
    double at;
} stops[] = {{1, 13, 4096}, {32, 17, 65536}, {64, 18, 131072}, {256, 20, 524288}};

static void claim_stops(ulp_run *run, int longest) {
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        char text[160], how[40], what[96], exact[16];
        const struct stop *s = &stops[i];
        const reach r = reach_of(run, "e6m9", "rne", s->chunk, s->from, longest);
        if (reach_of(run, "e6m9", "rne", s->chunk, 0, longest).rows == 0) continue;
        snprintf(how, sizeof how, s->chunk == 1 ? "without chunks" : "in chunks of %d", s->chunk);
        snprintf(text, sizeof text, "e6m9 to nearest, %s: every sum of 2^%d terms or more is exactly %.0f", how,
                 s->from, s->at);
        if (r.rows == 0) {
            ulp_claim_skip(ulp_run_claims(run), text, "--longest is %d", longest);
            continue;
        }
        snprintf(what, sizeof what, "where a sum of mean 1 stops in e6m9, %s", how);
        snprintf(exact, sizeof exact, "%.0f", (double)s->at);
        ulp_beside(ulp_run_claims(run), &(ulp_published){what, "exact; Wang et al. 2018", exact}, "%.17g", r.most);
        ulp_claim(ulp_run_claims(run), r.least == s->at && r.most == s->at, text, "%ld sums, from %.17g to %.17g",
                  r.rows, r.least, r.most);
    }
}

/* A stochastic step at the sum S errs with variance |x| (s - |x|), s <= S 2^(1-p) the spacing, and E|x| = 2 / sqrt 3:
 * over n terms of mean 1 the standard deviation is below n sqrt(2^-p 2 / sqrt 3), 3.36 % of the sum in e6m9. */
static void claim_stochastic(ulp_run *run, int longest) {
    const double sd = sqrt(ldexp(2 / sqrt(3), -10));
    const reach r = reach_of(run, "e6m9", "sra", 1, 10, longest),
                nearest = reach_of(run, "e6m9", "rne", 1, 10, longest);
    if (r.rows == 0) return;
    ulp_claim(
        ulp_run_claims(run), r.error <= 4 * sd,
        "e6m9 stochastic, without chunks: no sum of 2^10 terms or more errs by over 4 standard deviations, 13.4 %",
        "%ld sums, the farthest off by %.2f %%", r.rows, 100 * r.error);
    if (nearest.rows > 0 && longest >= 14)
        ulp_claim(ulp_run_claims(run), r.error_at_longest < nearest.error_at_longest / 5,
                  "at the longest sums, stochastic errs less than a fifth of what nearest does",
                  "2^%d terms: stochastic %.2f %% at most, nearest %.2f %%", longest, 100 * r.error_at_longest,
                  100 * nearest.error_at_longest);
}

static void claim_close(ulp_run *run, int longest) {
    const reach wide = reach_of(run, "e6m9", "rne", 0, 4, longest), chunked = reach_of(run, "e6m9", "rne", 256, 10, 18);
    if (chunked.rows > 0)
        ulp_claim(ulp_run_claims(run), chunked.error <= 0.02,
                  "e6m9 to nearest, in chunks of 256: sums of 2^10 to 2^18 terms err by 2 % at most",
                  "%ld sums, the farthest off by %.2f %%", chunked.rows, 100 * chunked.error);
    ulp_claim(ulp_run_claims(run), wide.error <= 1e-3, "binary32 sums the same terms within 0.1 % at every length",
              "%ld sums, the farthest off by %.2g %%", wide.rows, 100 * wide.error);
}

static void print_cells(ulp_sheet *table, const ulp_run *run, const char *format, const char *mode, int64_t chunk) {
    const int longest = (int)ulp_option_integer(run, "longest"), lengths[] = {10, 12, 14, 16, 18, 20};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        if (lengths[i] > longest) continue;
        const reach r = reach_of(run, format, mode, chunk, lengths[i], lengths[i]);
        if (r.rows == 0) ulp_sheet_put(table, "-");
        else ulp_sheet_put(table, r.least == r.most ? "%.7g" : "%.7g .. %.7g", r.least, r.most);
    }
    const reach r = reach_of(run, format, mode, chunk, longest, longest);
    ulp_sheet_put(table, "%.3g %%", 100 * r.mean_at_longest);
}

static void print_table(const ulp_run *run) {
    size_t formats, modes, chunks;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const double *chunk = ulp_option_numbers(run, "chunks", &chunks);
    const int longest = (int)ulp_option_integer(run, "longest");
    char columns[160] = "format,mode,chunk";
    for (int e = 10; e <= longest && e <= 20; e += 2) snprintf(columns + strlen(columns), 16, ",n = 2^%d", e);
    strcat(columns, ",mean error at the end");
    ulp_sheet *table = ulp_sheet_new("sums of n terms of mean 1, least .. most over the seeds", columns);
    for (size_t f = 0; f < formats; f++) {
        for (size_t m = 0; m < modes; m++)
            for (size_t i = 0; i < chunks; i++) {
                ulp_sheet_put(table, "%s", format[f].name);
                ulp_sheet_put(table, "%s", mode[m].name);
                ulp_sheet_put(table, chunk[i] == 1 ? "none" : "%.0f", chunk[i]);
                print_cells(table, run, format[f].name, mode[m].name, (int64_t)chunk[i]);
            }
        ulp_sheet_put(table, "binary32");
        ulp_sheet_put(table, "rne");
        ulp_sheet_put(table, "none");
        print_cells(table, run, format[f].name, "rne", 0);
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void check(ulp_run *run, const void *context) {
    const int longest = (int)ulp_option_integer(run, "longest");
    (void)context;
    print_table(run);
    if (reach_of(run, "e6m9", "rne", 0, 0, longest).rows == 0) {
        ulp_claim_skip(ulp_run_claims(run), "where sums stop", "the claims are about e6m9, which is not in --formats");
        return;
    }
    claim_stops(run, longest);
    claim_stochastic(run, longest);
    claim_close(run, longest);
}

static const ulp_experiment experiment = {
    .name = "swamping",
    .question = "at which length does a sum of positive-mean data stop growing, and what do chunks and stochastic "
                "rounding cure?",
    .columns = "format,datapath,mode,chunk,seed,n,sum,code,exact,error",
    .options = options,
    .takes_format = ulp_format_within_binary32,
    .format_wants = ULP_WANTS_WITHIN_BINARY32,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }

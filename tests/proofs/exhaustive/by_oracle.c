/* by_oracle.c - the golden lines of complete sweeps from MPFR alone: no rounding of ulplab takes part.
 *
 * A correct rounding is monotone in each span of inputs, so that the end of a run is found by bisection: a few hundred
 * or thousand questions to the oracle give the list of runs of all 2^32 inputs. Printed is a line for each case:
 * format, mode, policy, runs, SHA-256. Left out are wrap, which is not monotone, and formats of more than BITS bits
 * (19 unless `--bits BITS` is given), whose lists need more questions than a sweep takes.
 */
#include "tool/sweep/sweep.h"
#include "kernels/backend.h"
#include "kernels/mpfr/reference.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The golden file has lines of the modes up to src. */
enum { MODES = ULP_SRC + 1 };

typedef struct job {
    ulp_format format;
    ulp_rule rule;
    char line[200];
} job;

typedef struct list {
    ulp_reference *reference;
    const job *of;
    const sweep_span *span;
    sha256 hash;
    uint64_t runs;
    /* the run that is not listed yet: its ends and their results; own: every input is a number of the format, and none
     * has the result of a neighbour */
    uint32_t first, last;
    uint64_t of_first, of_last;
    int own, open;
} list;

static double input(const list *l, uint32_t i) { return (double)ulp_from_bits32(sweep_word(l->span, i)); }

/* The right result for input i, with the bits that every NaN has. */
static uint64_t result(const list *l, uint32_t i) {
    const double y = ulp_reference_round(l->reference, input(l, i), 0.0, l->of->rule, 0);
    return ulp_bits64(y == y ? y : ulp_quiet_nan());
}

/* The last input of the run that begins with input i. */
static uint32_t run_end(const list *l, uint32_t i, uint64_t r) {
    uint32_t inside = i, step = 1;
    while (step < l->span->count - inside && result(l, inside + step) == r) {
        inside += step;
        step *= 2;
    }
    uint32_t beyond = step < l->span->count - inside ? inside + step : l->span->count;
    while (beyond - inside > 1) {
        const uint32_t middle = inside + (beyond - inside) / 2;
        if (result(l, middle) == r) inside = middle;
        else beyond = middle;
    }
    return inside;
}

static void put_result(list *l, uint64_t r) {
    char word[24];
    const int n = l->of->format.fits_binary32
                      ? snprintf(word, sizeof word, " %08" PRIx32, ulp_bits32((float)ulp_from_bits64(r)))
                      : snprintf(word, sizeof word, " %016" PRIx64, r);
    sha256_add(&l->hash, word, (size_t)n);
}

/* List the open run. */
static void close_run(list *l) {
    char ends[24];
    if (!l->open) return;
    const int n = snprintf(ends, sizeof ends, "%08" PRIx32 " %08" PRIx32, sweep_word(l->span, l->first),
                           sweep_word(l->span, l->last));
    sha256_add(&l->hash, ends, (size_t)n);
    put_result(l, l->of_first);
    if (l->own && l->first != l->last) put_result(l, l->of_last); /* an exact run */
    sha256_add(&l->hash, "\n", 1);
    l->runs++;
    l->open = 0;
}

/* Add a row of inputs with the result r: a run, or one more input of an exact run. */
static void add_run(list *l, uint32_t first, uint32_t last, uint64_t r) {
    const int own = first == last && r == ulp_bits64(input(l, first));
    if (!(own && l->open && l->own)) {
        close_run(l);
        l->first = first;
        l->of_first = r;
        l->own = own;
        l->open = 1;
    }
    l->last = last;
    l->of_last = r;
}

static void make_line(job *j) {
    list l = {.reference = ulp_reference_new(&j->format), .of = j};
    char hash[SHA256_TEXT];
    if (!l.reference) abort();
    sha256_begin(&l.hash);
    for (size_t s = 0; s < SWEEP_SPANS; s++) {
        l.span = &sweep_line[s];
        for (uint32_t i = 0, last; i < l.span->count; i = last + 1) {
            const uint64_t r = result(&l, i);
            last = run_end(&l, i, r);
            add_run(&l, i, last, r);
        }
        close_run(&l);
    }
    sha256_end(&l.hash, hash);
    ulp_reference_free(l.reference);
    snprintf(j->line, sizeof j->line, "%s %s %s %" PRIu64 " %s\n", j->format.name,
             ulp_mode_name((ulp_mode)j->rule.mode), ulp_overflow_name((ulp_overflow)j->rule.overflow), l.runs, hash);
}

static void make_lines(void *context, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) make_line((job *)context + i);
}

int main(int argc, char **argv) {
    const int most = argc == 3 && strcmp(argv[1], "--bits") == 0 ? atoi(argv[2]) : 19;
    size_t count = 0;
    if ((argc != 1 && argc != 3) || most < 1) return fprintf(stderr, "usage: by_oracle [--bits BITS]\n"), 2;
    job *jobs = calloc(ulp_format_count * MODES * ULP_OVERFLOW_COUNT, sizeof *jobs);
    if (!jobs) return 1;
    for (size_t i = 0; i < ulp_format_count; i++)
        for (uint8_t mode = 0; mode < MODES; mode++)
            for (uint8_t policy = ULP_OVERFLOW_DEFAULT; policy < ULP_OVERFLOW_WRAP; policy++) {
                job *j = &jobs[count];
                ulp_format_get(i, &j->format, NULL);
                j->rule = (ulp_rule){mode, policy, 0};
                count += j->format.bits <= most && !ulp_mode_is_stochastic(mode);
            }
    ulp_parallel_for(count, 1, make_lines, jobs);
    for (size_t i = 0; i < count; i++) fputs(jobs[i].line, stdout);
    free(jobs);
    return count == 0;
}

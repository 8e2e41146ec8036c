/* check_sweep.c - planted faults: over all 2^32 inputs, the sweep by runs counts the wrong results of the plain sweep.
 *
 * A line for each fault, then the counts; the exit status is the verdict. `--only TEXT` chooses faults by their names.
 */
#include "faults.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PIECES = 1024 };

/* The plain sweep of the inputs with the words piece 2^22 .. (piece + 1) 2^22 - 1, in any order of pieces. */
typedef struct plain {
    size_t first, n, done;
    uint64_t counts[FAULTS];
    ulp_status status;
    pthread_mutex_t lock;
} plain;

static void plain_pieces(void *context, size_t begin, size_t end) {
    plain *p = context;
    for (size_t i = begin; i < end; i++) {
        uint64_t counts[FAULTS] = {0};
        const sweep_span span = {(uint32_t)i << 22, 1u << 22, 1};
        const ulp_status status = fault_plain(&span, p->first, p->n, counts);
        pthread_mutex_lock(&p->lock);
        for (size_t k = 0; k < p->n; k++) p->counts[k] += counts[k];
        if (status != ULP_OK) p->status = status;
        if (++p->done % 64 == 0)
            fprintf(stderr, "plain sweep of %s %s: %zu %%\n", faults[p->first].format, faults[p->first].mode,
                    100 * p->done / PIECES);
        pthread_mutex_unlock(&p->lock);
    }
}

/* Both sweeps with one fault. Returns 1 if they agree. */
static int check(size_t i, uint64_t plainly) {
    faulty by = fault_case(&faults[i]);
    sweep_result r;
    by.change = faults[i].change;
    const ulp_status status = fault_sweep(sweep_line, SWEEP_SPANS, &by, &r);
    const int good = status == ULP_OK && plainly > 0 && r.mismatches == plainly && r.wrong_runs > 0;
    printf("%s %s %s %s, %s: %" PRIu64 " wrong results by the plain sweep, %" PRIu64 " by runs, in %" PRIu64
           " of %" PRIu64 " runs\n",
           good ? "PASS" : "FAIL", faults[i].format, faults[i].mode, faults[i].policy, faults[i].what, plainly,
           r.mismatches, r.wrong_runs, r.runs);
    fflush(stdout);
    return good;
}

int main(int argc, char **argv) {
    const char *only = argc == 3 && strcmp(argv[1], "--only") == 0 ? argv[2] : "";
    int passed = 0, failed = 0;
    if (argc != 1 && *only == '\0') {
        fprintf(stderr, "usage: check_sweep [--only TEXT]\n");
        return 2;
    }
    for (size_t first = 0; first < FAULTS; first += fault_group(first)) {
        const size_t n = fault_group(first);
        plain p = {.first = first, .n = n, .status = ULP_OK};
        int wanted = 0;
        for (size_t i = first; i < first + n; i++) wanted += strstr(faults[i].what, only) != NULL;
        if (wanted == 0) continue;
        pthread_mutex_init(&p.lock, NULL);
        ulp_parallel_for(PIECES, 1, plain_pieces, &p);
        pthread_mutex_destroy(&p.lock);
        if (p.status != ULP_OK) return fprintf(stderr, "%s\n", ulp_status_text(p.status)), 1;
        for (size_t i = first; i < first + n; i++) {
            if (strstr(faults[i].what, only) == NULL) continue;
            if (check(i, p.counts[i - first])) passed++;
            else failed++;
        }
    }
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0 || passed == 0;
}

/* claims.h - what a figure says, tested: verdicts on a typed table, published numbers, and the numbers of the summary.
 *
 * An experiment's judge() reads `settings`, `context` and `table`, and calls the functions below. NAME.summary.csv gets
 * every number that claims and figures share; figures compute none of them again.
 */
#ifndef ULP_CLAIMS_CLAIMS_H
#define ULP_CLAIMS_CLAIMS_H

#include "experiments/harness/cli/options.h"
#include "experiments/harness/table/output.h"
#include "experiments/harness/table/table.h"

typedef enum ulp_verdict { ULP_FAIL, ULP_PASS, ULP_SKIP, ULP_PUBLISHED } ulp_verdict;

/* A claim, or a published number (whose `text` says the quantity). */
typedef struct ulp_claim_entry {
    ulp_verdict verdict;
    char *text, *measured, *published, *source; /* the last two are NULL but for published numbers */
} ulp_claim_entry;

typedef struct ulp_claims {
    const void *settings, *context;
    const ulp_table *table; /* the rows of the whole plan */
    /* the rest is for the functions below */
    const ulp_arguments *arguments;
    ulp_preset preset;
    FILE *file; /* where people read; NULL under --quiet: only failed claims are printed, to `loud` */
    FILE *loud;
    ulp_claim_entry *entries; /* (count) */
    size_t count, room;
    ulp_text summary; /* lines of NAME.summary.csv */
    ulp_text text;    /* of ulp_claim_text() */
} ulp_claims;

/* PASS or FAIL; `text` says what is claimed, the rest what was measured. Any FAIL makes the program return 1. */
void ulp_claim(ulp_claims *c, int pass, const char *text, const char *measured, ...) ULP_PRINTF(4, 5);

/* For the `text` of a claim that has names or numbers in it: valid until the next call. */
const char *ulp_claim_text(ulp_claims *c, const char *text, ...) ULP_PRINTF(2, 3);

/* A claim that the chosen options cannot test; printed, not counted as failed. */
void ulp_claim_skip(ulp_claims *c, const char *text, const char *why, ...) ULP_PRINTF(3, 4);

/* A number of the literature and ours beside it. It judges nothing: a claim does. */
typedef struct ulp_published {
    const char *what, *source, *number; /* the quantity; author and year; the number as printed there */
} ulp_published;
void ulp_beside(ulp_claims *c, const ulp_published *published, const char *measured, ...) ULP_PRINTF(3, 4);

/* A line of NAME.summary.csv: a quantity, what it is of (words with blanks between them, which figures look for), and
 * its value. */
void ulp_summary(ulp_claims *c, const char *quantity, double value, const char *of, ...) ULP_PRINTF(4, 5);

/* ---- conditions: claims that hold for a certain set-up skip themselves elsewhere ---- */

/* Whether one of the options `names` (blanks between them) is set to something else than its default; the sentence in
 * `why` (size) says which, and is empty otherwise. */
int ulp_options_differ(const ulp_claims *c, const char *names, char *why, size_t size);

/* The same for values that are not the defaults: ends with {0}; `or_more`: a larger number is as good. */
typedef struct ulp_wanted {
    const char *name, *value;
    int or_more;
} ulp_wanted;
int ulp_options_are_other(const ulp_claims *c, const ulp_wanted *wanted, char *why, size_t size);

/* A claim, skipped where `why` is a sentence; the measured numbers are told in either case. */
void ulp_claim_if(ulp_claims *c, const char *why, int pass, const char *text, const char *measured, ...)
    ULP_PRINTF(5, 6);

/* ---- for the program's main ---- */

/* Prints published numbers and verdicts; returns the number of failed claims. */
int ulp_claims_print(const ulp_claims *c, const char *program);

/* For ulp_place_write_beside(): NAME.claims.tsv (kind, text, measured, published, source) and NAME.summary.csv. */
void ulp_claims_write_tsv(FILE *file, const void *claims);
void ulp_claims_write_summary(FILE *file, const void *claims);
void ulp_claims_free(ulp_claims *c);

#endif

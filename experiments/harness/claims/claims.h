/* claims.h - tests of the statements of a figure: verdicts, published numbers, and the summary.
 *
 * The judge() of an experiment reads `settings`, `context` and `table`, and calls the functions below. NAME.summary.csv
 * gets every number that claims and figures share; figures do not compute these numbers again.
 */
#ifndef ULP_CLAIMS_CLAIMS_H
#define ULP_CLAIMS_CLAIMS_H

#include "experiments/harness/cli/options.h"
#include "experiments/harness/table/output.h"
#include "experiments/harness/table/table.h"

typedef enum ulp_verdict { ULP_FAIL, ULP_PASS, ULP_SKIP, ULP_PUBLISHED } ulp_verdict;

/* A claim, or a published number, whose `text` is the quantity. */
typedef struct ulp_claim_entry {
    ulp_verdict verdict;
    char *text, *here, *published, *source; /* here: the numbers of this run; of claims the last two are NULL */
} ulp_claim_entry;

typedef struct ulp_claims {
    const void *settings, *context;
    const ulp_table *table; /* the rows of the whole plan */
    /* the other fields are for the functions below */
    const ulp_arguments *arguments;
    ulp_preset preset;
    FILE *file; /* for the report; NULL under --quiet, when only failed claims are printed, to `loud` */
    FILE *loud;
    ulp_claim_entry *entries; /* (count) */
    size_t count, room;
    ulp_text summary;  /* lines of NAME.summary.csv */
    ulp_text text;     /* of ulp_claim_text() */
    ulp_text why;      /* of ulp_claim_reason() */
    const char *other; /* of ulp_claims_skip_all(), or NULL */
} ulp_claims;

/* Add a verdict, PASS or FAIL. `text` is the claim; the other arguments form the measured values. After a FAIL the
 * program returns 1. */
void ulp_claim(ulp_claims *c, int pass, const char *text, const char *measured, ...) ULP_PRINTF(4, 5);

/* A formatted text for the `text` of a claim; it is valid until the next call. */
const char *ulp_claim_text(ulp_claims *c, const char *text, ...) ULP_PRINTF(2, 3);

/* Add a claim that the chosen options cannot test. It is printed and does not count as failed. */
void ulp_claim_skip(ulp_claims *c, const char *text, const char *why, ...) ULP_PRINTF(3, 4);

/* Skip every claim from now on, for one reason. The reason has to outlive the claims. */
void ulp_claims_skip_all(ulp_claims *c, const char *why);

/* Add a published number and the number of this run, which is measured, computed or predicted. It is no verdict; claims
 * give verdicts. */
typedef struct ulp_published {
    const char *what, *source, *number; /* the quantity; author and year; the number as it is published */
} ulp_published;
void ulp_beside(ulp_claims *c, const ulp_published *published, const char *here, ...) ULP_PRINTF(3, 4);

/* Add a line of NAME.summary.csv: a quantity, the words that tell its lines apart (`of`, separated by blanks), and a
 * value. Figures find a line by the quantity and the words. */
void ulp_summary(ulp_claims *c, const char *quantity, double value, const char *of, ...) ULP_PRINTF(4, 5);

/* ---- conditions: a claim about certain options is skipped under other options ---- */

/* Why a claim about `wanted` is skipped: a sentence about the first option that is not as wanted, valid until the next
 * call, or "". Items, separated by a comma and a blank: NAME (the option has its default value), NAME=VALUE, and
 * NAME>=NUMBER (a larger number is accepted, too). */
const char *ulp_claim_reason(ulp_claims *c, const char *wanted);

/* Add a verdict; if `why` is not empty, the claim is skipped. The measured values are printed in both cases. */
void ulp_claim_if(ulp_claims *c, const char *why, int pass, const char *text, const char *measured, ...)
    ULP_PRINTF(5, 6);

/* How many claims have this verdict so far. */
int ulp_claims_count(const ulp_claims *c, ulp_verdict verdict);

/* ---- findings: a claim about several things, such as formats or networks; it passes if it holds for each of them ----
 *
 *     ulp_finding found = {0};
 *     for (...) ulp_finding_add(&found, share > 95, "%s %.2f %%", format->name, share);
 *     ulp_finding_note(&found, "binary32 %.2f %%", reference);
 *     ulp_claim_found(claims, why, &found, "%s: nearly all gradients are zero", network->name);
 */

/* {0} is empty. */
typedef struct ulp_finding {
    int count, against; /* things so far, and those for which the claim does not hold */
    ulp_text measured, notes;
} ulp_finding;

/* Adds a thing; `measured` and its arguments are an item of the list of measured values. */
void ulp_finding_add(ulp_finding *f, int holds, const char *measured, ...) ULP_PRINTF(3, 4);

/* Adds a value that belongs to none of the things. It stands after the list, after a semicolon. */
void ulp_finding_note(ulp_finding *f, const char *note, ...) ULP_PRINTF(2, 3);

/* Adds the verdict as ulp_claim_if() does, or no claim if there were no things. The finding is empty afterwards. */
void ulp_claim_found(ulp_claims *c, const char *why, ulp_finding *f, const char *text, ...) ULP_PRINTF(4, 5);

/* ---- for the program's main ---- */

/* Print published numbers and verdicts; returns the number of failed claims. */
int ulp_claims_print(const ulp_claims *c, const char *program);

/* Write NAME.claims.tsv: kind, text, here, published, source. The last row has the kind `run`, the text `command`
 * and the command line. */
void ulp_claims_write_tsv(FILE *file, const ulp_claims *c, const char *command);
void ulp_claims_write_summary(FILE *file, const void *claims); /* NAME.summary.csv, by ulp_place_write_beside() */
void ulp_claims_free(ulp_claims *c);

#endif

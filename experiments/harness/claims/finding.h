/* finding.h - a claim about several things, such as formats or networks: it passes if it holds for each of them.
 *
 *     ulp_finding found = {0};
 *     for (...) ulp_finding_add(&found, share > 95, "%s %.2f %%", format->name, share);
 *     ulp_finding_note(&found, "binary32 %.2f %%", reference);
 *     ulp_claim_found(claims, why, &found, "%s: nearly all gradients are zero", network->name);
 */
#ifndef ULP_CLAIMS_FINDING_H
#define ULP_CLAIMS_FINDING_H

#include "claims.h"

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

#endif

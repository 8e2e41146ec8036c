/* cast_text.h - the text of a cast: FORMAT[@WHEN][/MODE[/BITS]], and the text of a rule: MODE[/BITS].
 *
 * Functions that read write a sentence to `error` (may be NULL) on failure.
 */
#ifndef ULP_CAST_TEXT_H
#define ULP_CAST_TEXT_H

#include "policy.h"

enum { ULP_CAST_TEXT_MAX = 128 };

/* MODE[/BITS]. BITS, 1 to 32, is for stochastic modes alone. The overflow of *rule stays. */
ulp_status ulp_rule_read(ulp_rule *rule, const char *text, char *error, size_t error_size);

/* The text of a cast as it is read. */
typedef struct ulp_cast_text {
    const char *name; /* of the rounding point, for the sentence */
    int takes_scale;  /* 1: the point takes a tensor scale */
    int has_mode;     /* set by ulp_cast_read(): the text gives a mode */
} ulp_cast_text;

/* FORMAT[@amax|@delayed[N]][/MODE[/BITS]]. Without a mode the rule is to nearest even. */
ulp_status ulp_cast_read(ulp_cast *cast, ulp_cast_text *about, const char *text, char *error, size_t error_size);

/* Writes the text of a cast with its mode, and returns the length. */
int ulp_cast_write(char *text, size_t size, const ulp_cast *cast);

/* Writes the text of a rule, and returns the length. */
int ulp_rule_write(char *text, size_t size, ulp_rule rule);

#endif

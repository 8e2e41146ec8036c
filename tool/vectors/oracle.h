/* oracle.h - ulp vectors: whether a code is the one that MPFR gives. */
#ifndef ULP_TOOL_VECTORS_ORACLE_H
#define ULP_TOOL_VECTORS_ORACLE_H

#include "base/error.h"

#include "formats/round.h"

typedef struct vectors_oracle {
    const char *program;
    struct ulp_reference *reference; /* NULL: nothing is compared */
    uint64_t compared, wrong;
} vectors_oracle;

/* Whether this build has the oracle. */
int vectors_oracle_offered(void);

/* An oracle for a format, or, without `check`, one that compares nothing. */
ulp_status vectors_oracle_open(vectors_oracle *oracle, const char *program, const ulp_format *format, int check,
                               ulp_error *error);
void vectors_oracle_close(vectors_oracle *oracle);

/* Compare the value of `code` with x, rounded by `rule` with the random word. The first few differences are printed. */
void vectors_oracle_compare(vectors_oracle *oracle, uint64_t code, double x, ulp_rule rule, uint32_t word);

/* Compare `value` with the value that the oracle gives to `code`. */
void vectors_oracle_compare_value(vectors_oracle *oracle, uint64_t code, double value);

#endif

/* verify_files.h - ulp verify: results in a file, of any program, compared with the MPFR oracle. */
#ifndef ULP_TOOL_VERIFY_FILES_H
#define ULP_TOOL_VERIFY_FILES_H

#include "base/error.h"

#include "formats/rng.h"
#include "formats/round.h"

typedef struct verify_files {
    const char *inputs, *results; /* paths of arrays of the same shape */
    ulp_format format;
    const char *mode;  /* as the user spells it */
    ulp_rule rule;     /* that the results are said to follow */
    ulp_stream stream; /* the random word of element i is ulp_random_word(stream, i) */
} verify_files;

/* Round each input by the oracle and compare the bits with the result; NaN equals NaN. Prints a line of PASS or FAIL
 * and shows the first differences on stderr. */
ulp_status verify_files_run(const verify_files *job, const char *program, ulp_error *error);

#endif

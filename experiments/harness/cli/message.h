/* message.h - what programs say and how they end: sentences on stderr, exit statuses, the terminal. */
#ifndef ULP_CLI_MESSAGE_H
#define ULP_CLI_MESSAGE_H

#include <stdio.h>

#include "formats/round.h"
#include "text.h"

/* What a program returns: fine; the run or a check failed; usage or bad input; the machine lacks something. */
enum { ULP_EXIT_FINE = 0, ULP_EXIT_FAILED = 1, ULP_EXIT_USAGE = 2, ULP_EXIT_LACKING = 3 };

/* "PROGRAM: ..." and a line break on stderr, after everything that stdout holds so far; wrapped on a terminal. A word
 * of more than 200 characters is shortened to its beginning and its length. `program` NULL: silent (MPI ranks other
 * than 0). */
void ulp_complain(const char *program, const char *text, ...) ULP_PRINTF(2, 3);

/* The same, and the exit status to return. */
int ulp_usage_error(const char *program, const char *text, ...) ULP_PRINTF(2, 3); /* ULP_EXIT_USAGE */
int ulp_run_error(const char *program, const char *text, ...) ULP_PRINTF(2, 3);   /* ULP_EXIT_FAILED */

/* The exit status of a library's status. */
int ulp_exit_of(ulp_status status);

/* Flushes stdout; ULP_EXIT_FAILED with a sentence if anything could not be written, else `status`. Every program ends
 * with it, --help and --version too. */
int ulp_finish_stdout(const char *program, int status);

/* Whether escape sequences for colours may be written to the file (a terminal, NO_COLOR is not set). */
int ulp_colour_on(FILE *file);

/* Whether a line on the file can be erased and written again: it is a terminal, and no dumb one. */
int ulp_bar_on(FILE *file);

/* Columns of the terminal behind the file: its width, $COLUMNS, or 80. */
int ulp_columns_of(FILE *file);

/* The version of the build, and a word that identifies it: CRC-32 of its sources, compiler and flags, 8 hex digits. */
const char *ulp_build_version(void);
const char *ulp_build_id(void);
/* What else a record of a run names. */
const char *ulp_build_commit(void);
const char *ulp_build_compiler(void);
const char *ulp_build_flags(void);

#endif

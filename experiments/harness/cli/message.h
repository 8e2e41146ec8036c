/* message.h - messages on stderr, exit statuses, properties of the terminal, and the identity of the build. */
#ifndef ULP_CLI_MESSAGE_H
#define ULP_CLI_MESSAGE_H

#include <stdio.h>

#include "base/error.h"
#include "formats/round.h"
#include "text.h"

/* The exit statuses of programs: success; the run or a check failed; wrong usage or bad input; the machine lacks
 * something. */
enum { ULP_EXIT_FINE = 0, ULP_EXIT_FAILED = 1, ULP_EXIT_USAGE = 2, ULP_EXIT_LACKING = 3 };

/* Flush stdout, then write "PROGRAM: ..." and a line break to stderr. On a terminal the lines are wrapped. A word of
 * more than 200 characters is shortened to its beginning and its length. If `program` is NULL, nothing is written (MPI
 * ranks other than 0). */
void ulp_complain(const char *program, const char *text, ...) ULP_PRINTF(2, 3);

/* As ulp_fail() with ULP_BAD_ARGUMENT, or as ulp_fail_list(), for a sentence that quotes words of the user: long words
 * are shortened here, as in messages, and the middle of a sentence that does not fit is left out. */
ulp_status ulp_refuse(ulp_error *error, const char *what, ...) ULP_PRINTF(2, 3);
ulp_status ulp_refuse_list(ulp_error *error, ulp_status status, const char *what, va_list arguments);

/* Append to the sentence of ulp_refuse(). Returns ULP_BAD_ARGUMENT. */
ulp_status ulp_refuse_more(ulp_error *error, const char *more);

/* Write the sentence as ulp_complain() does, and nothing if there is none. Returns the exit status that belongs to the
 * error's status. */
int ulp_complain_of(const char *program, const ulp_error *error);

/* A library's sentence without its subject "SUBJECT: ", for a message that names an option in its place. */
const char *ulp_after_subject(const char *sentence, const char *subject);

/* The exit status that belongs to a library's status. */
int ulp_exit_of(ulp_status status);

/* Keep the reason of a failure for ulp_finish_stdout(): of a flush before the end, and, called after a write, of that
 * write. */
void ulp_flush_stdout(void);
void ulp_note_stdout(void);

/* Flush stdout at the end of a program, also after --help and --version. Returns `status`, or ULP_EXIT_FAILED after a
 * message if something could not be written. */
int ulp_finish_stdout(const char *program, int status);

/* Whether colours may be written to the file: it is a terminal, and NO_COLOR is not set. */
int ulp_colour_on(FILE *file);

/* Whether a line on the file can be erased and written again: it is a terminal, and TERM is not "dumb". */
int ulp_bar_on(FILE *file);

/* The number of columns of the file's terminal; if it is unknown, $COLUMNS or 80. */
int ulp_columns_of(FILE *file);

/* The version of the build, and its identity: the CRC-32 of sources, compiler and flags as 8 hex digits. */
const char *ulp_build_version(void);
const char *ulp_build_id(void);
/* Further properties of the build, for the record of a run. */
const char *ulp_build_commit(void);
const char *ulp_build_compiler(void);
const char *ulp_build_flags(void);

#endif

/* journal.h - a file in which ulp verify keeps finished pieces of all cases, and finds them again by name.
 *
 * The file is a file of pieces (harness/table/pieces.h). Each piece has one line, its result. The head names the build;
 * a file of another build is refused. One process at a time has the file open.
 */
#ifndef ULP_TOOL_JOURNAL_H
#define ULP_TOOL_JOURNAL_H

#include "base/error.h"

typedef struct journal journal;

/* Read the file if it exists, and open it for more pieces. A symbolic link stands for the file behind it. A damaged
 * piece is skipped with a message. A file that is not a journal, or that another process has open, is refused and stays
 * unchanged. */
ulp_status journal_open(journal **j, const char *program, const char *path, ulp_error *error);

/* The result of the piece called `name`, valid until journal_close(); NULL if the journal does not have the piece. */
const char *journal_find(const journal *j, const char *name);

/* Keep a result, a line of words. Several threads may call it at the same time. */
void journal_keep(journal *j, const char *name, const char *result);

/* Close the file. Returns ULP_BAD_FILE if a piece could not be written. */
ulp_status journal_close(journal *j, ulp_error *error);

#endif

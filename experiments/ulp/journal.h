/* journal.h - the finished pieces that ulp verify keeps in a file, whatever their case, and finds again by name.
 *
 * The file is one of pieces (harness/table/pieces.h), each with one line: mismatches and hash. Its build is named in
 * its head: pieces of another build are refused.
 */
#ifndef ULP_TOOL_JOURNAL_H
#define ULP_TOOL_JOURNAL_H

#include <stdint.h>

typedef struct journal journal;

/* Reads the file, if it is there, and opens it for more pieces. A damaged piece is passed over with a message; a file
 * that is no journal is refused and stays as it is. -1 to go on, or the exit status after a message. */
int journal_open(journal **j, const char *program, const char *path);

/* The result of the piece called `name`; 0 if the journal has none. */
int journal_find(const journal *j, const char *name, uint64_t *mismatches, uint64_t *hash);

/* Keeps a result; threads may call it at once. */
void journal_keep(journal *j, const char *name, uint64_t mismatches, uint64_t hash);

/* -1, or the exit status after a message. */
int journal_close(journal *j);

#endif

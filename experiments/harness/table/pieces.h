/* pieces.h - files of finished pieces of work: of a run in progress, of a shard, of ulp verify.
 *
 * The file begins with a head: lines with everything that the numbers depend on, and `# build: ID`, which names the
 * build. The pieces follow in any order:
 *
 *     # piece 17: LABEL
 *     lines, none of which begins with #
 *     # end 17: NUMBER OF LINES crc32 EIGHT HEX DIGITS
 *
 * The CRC-32 covers the label, a line break and the lines. If the file ends within a piece, this piece was not
 * finished and is not used; a merge says so, because a shard ends with a whole piece. A piece that does not match its
 * end line, or that is in the file twice, is damaged. A resumed run skips a damaged piece with a message and computes
 * it again; a merge refuses the file. A file with another head holds other numbers, or the numbers of another build,
 * and is refused. `# shard:` lines of a head are not compared. CRLF line ends and a byte order mark are accepted.
 */
#ifndef ULP_TABLE_PIECES_H
#define ULP_TABLE_PIECES_H

#include <stdio.h>

#include "experiments/harness/cli/message.h"
#include "experiments/harness/cli/text.h"

typedef struct ulp_piece {
    size_t index;
    const char *label; /* one line */
    const char *lines; /* (length) with all line breaks; NULL if length is 0 */
    size_t length, count;
} ulp_piece;

/* Write the last line of a head, `# build: ID`. */
void ulp_pieces_begin(FILE *file);
void ulp_piece_write(FILE *file, const ulp_piece *piece);

typedef struct ulp_piece_reader {
    const char *program, *path; /* for messages */
    FILE *file;
    const char *head; /* the required head of the file, without the line of the build */
    int forgiving;    /* 1: the file of a run in progress: damaged pieces are skipped, the last may be unfinished */
    void *own;
    /* Whether the program has a piece with this index and label. */
    int (*knows)(void *own, size_t index, const char *label);
    /* Take a piece; its texts are valid during the call. A failure, with its sentence, ends the reading. */
    ulp_status (*take)(void *own, const ulp_piece *piece, ulp_error *error);
} ulp_piece_reader;

/* Read a file. Damaged pieces that are skipped have messages of their own. */
ulp_status ulp_pieces_read(const ulp_piece_reader *reader, ulp_error *error);

#endif

/* pieces.h - finished pieces of work in a file: of a run that goes on, of a shard, of ulp verify.
 *
 * The file begins with a head: lines of the program that decide the numbers, and `# build: ID`, which names the build.
 * Then come pieces in any order:
 *     # piece 17: LABEL
 *     lines, none of which begins with #
 *     # end 17: NUMBER OF LINES crc32 EIGHT HEX DIGITS
 * The CRC-32 is of the label, a line break and the lines. A file that ends within a piece was cut: that piece was not
 * finished. A piece that does not match its end line, or stands in the file twice, is damaged: a resumed run passes
 * over it with a message and computes it again; a merge refuses the file. A file whose head differs holds other
 * numbers, or those of another build, and is refused. `# shard:` lines of a head do not count. CRLF line ends and a
 * byte order mark are accepted.
 */
#ifndef ULP_TABLE_PIECES_H
#define ULP_TABLE_PIECES_H

#include <stdio.h>

#include "experiments/harness/cli/message.h"
#include "experiments/harness/cli/text.h"

typedef struct ulp_piece {
    size_t index;
    const char *label; /* one line */
    const char *lines; /* (length) each with its line break; NULL if length is 0 */
    size_t length, count;
} ulp_piece;

/* Writes the head's last line, `# build: ID`. */
void ulp_pieces_begin(FILE *file);
void ulp_piece_write(FILE *file, const ulp_piece *piece);

typedef struct ulp_piece_reader {
    const char *program, *path; /* for messages */
    FILE *file;
    const char *head; /* the lines that the file has to begin with, without the build's */
    int forgiving;    /* damaged pieces are passed over: the file of a run that goes on */
    void *own;
    /* Whether the program has a piece of this index and label. */
    int (*knows)(void *own, size_t index, const char *label);
    /* Takes a piece, whose texts live until it returns. ULP_GO_ON (-1), or the exit status after a message. */
    int (*take)(void *own, const ulp_piece *piece);
} ulp_piece_reader;

/* -1, or the exit status after a message. *torn, if not NULL, gets where an unfinished last piece begins, else -1. */
int ulp_pieces_read(const ulp_piece_reader *reader, long *torn);

#endif

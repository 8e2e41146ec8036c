/* lines.h - input with one item per line, on stdin or in files; lines that begin with # and blank lines are skipped. */
#ifndef ULP_CLI_LINES_H
#define ULP_CLI_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "options.h"

typedef struct ulp_line {
    char *text;          /* without the line break */
    const char *program; /* for messages */
    const char *file;    /* "stdin" or the path */
    unsigned long number;
    uint64_t index; /* of the data line, counted from 0 over all files */
} ulp_line;

/* Call each() for every data line of the files that the command line names. "-" is stdin; without files stdin is read.
 * Reading ends when each() returns an exit status other than ULP_GO_ON, which it does after a message. A byte order
 * mark and CRLF line ends are not part of a line. Returns the status of each(), or, after a message, ULP_EXIT_USAGE if
 * a file cannot be opened or is not a text with lines of up to 16 MiB, and ULP_EXIT_FAILED if reading fails or memory
 * is out. Returns ULP_EXIT_FINE at the end. */
int ulp_each_line(const ulp_arguments *a, int (*each)(void *context, const ulp_line *line), void *context);

/* What ulp_filter_lines() calls. */
typedef struct ulp_line_filter {
    int (*each)(void *context, const ulp_line *line); /* as in ulp_each_line() */
    /* Take plain lines, as many as possible: move *text over them and their line breaks. `end` is after a line break,
     * and the characters after it up to ULP_DECIMAL_BEHIND are readable. At the call, number and index of `line` are
     * those of the line at *text; the function keeps them so. Returns ULP_GO_ON, or an exit status after a message.
     * NULL: each() takes every line. */
    int (*plain)(void *context, const char **text, const char *end, ulp_line *line);
    /* Finish the lines that were taken; called before the filter waits for input, before a message about a line, and at
     * the end of each file. Returns ULP_GO_ON, or an exit status after a message. May be NULL. */
    int (*pause)(void *context);
    void *context;
} ulp_line_filter;

/* As ulp_each_line(), with lines taken in groups. */
int ulp_filter_lines(const ulp_arguments *a, const ulp_line_filter *filter);

/* Call each() for every file that the command line names, and for "-" if it names none. Returns the status of each(),
 * and ULP_EXIT_FINE instead of ULP_GO_ON. */
int ulp_each_file(const ulp_arguments *a, int (*each)(void *context, const char *path), void *context);

/* Open a file for reading; "-" is stdin. Returns ULP_GO_ON, or the exit status after a message. */
int ulp_input_open(FILE **file, const char *program, const char *path);
void ulp_input_close(FILE *file); /* leaves stdin open */

/* The name of a file in messages: "stdin" or the path. */
const char *ulp_input_name(const char *path);

/* As ulp_each_line(), for one file; *index is the index of its first data line, and then of the line after its last.
 * Returns ULP_GO_ON at the end. */
int ulp_each_line_of(const char *program, const char *path, uint64_t *index,
                     int (*each)(void *context, const ulp_line *line), void *context);

/* Flush stdout, and write "PROGRAM: FILE:LINE: ..." to stderr. Returns ULP_EXIT_USAGE. */
int ulp_bad_line(const ulp_line *line, const char *text, ...) ULP_PRINTF(2, 3);

/* As ulp_bad_line(), when memory is out. Returns ULP_EXIT_FAILED. */
int ulp_no_line_memory(const ulp_line *line, const char *what);

/* Refuse a text of words, the line or a part of it, with an empty field before, between or after commas. Returns
 * ULP_GO_ON, or ULP_EXIT_USAGE after a message. */
int ulp_refuse_empty_field(const ulp_line *line, const char *text);

/* The next word of a line, or NULL at the end. Blanks, tabs and commas separate words. The function writes into the
 * line. */
char *ulp_line_word(char **rest);

/* Read a code of up to `bits` bits in hex digits, with an optional 0x. Returns 0 if the word is anything else. */
int ulp_read_hex(uint64_t *code, const char *word, int bits);

/* Read a decimal or hex-float number, correctly rounded to binary64, or inf or nan. Returns 0 if the word is anything
 * else. */
int ulp_read_number(double *value, const char *word);

#endif

/* lines.h - input with one item per line, on stdin or in files; lines that begin with # and blank lines are skipped. */
#ifndef ULP_CLI_LINES_H
#define ULP_CLI_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "base/decimal.h"
#include "options.h"

typedef struct ulp_line {
    char *text;       /* without the line break */
    const char *file; /* "stdin" or the path */
    unsigned long number;
    uint64_t index; /* of the data line, counted from 0 over all files */
} ulp_line;

/* The functions that ulp_filter_lines() calls. Reading ends at the first status other than ULP_OK. */
typedef struct ulp_line_filter {
    ulp_status (*each)(void *context, const ulp_line *line, ulp_error *error); /* take a data line */
    /* Take plain lines, as many as possible: move *text over them and their line breaks. `end` is after a line break,
     * and the characters after it up to ULP_DECIMAL_AFTER are readable. At the call, number and index of `line` are
     * those of the line at *text; the function keeps them so. NULL: each() takes every line. */
    ulp_status (*plain)(void *context, const char **text, const char *end, ulp_line *line, ulp_error *error);
    /* Finish the lines that were taken; called before the filter waits for input, before a line is refused, and at the
     * end of each file. May be NULL. */
    ulp_status (*pause)(void *context, ulp_error *error);
    void *context;
} ulp_line_filter;

/* Take the data lines of the files that the command line names. A byte order mark and CRLF line ends are not part of a
 * line. Returns the status of a function of the filter; ULP_BAD_ARGUMENT if a file cannot be opened or is not a text
 * with lines of up to 16 MiB; ULP_BAD_FILE if reading fails; ULP_NO_MEMORY. */
ulp_status ulp_filter_lines(const ulp_arguments *a, const ulp_line_filter *filter, ulp_error *error);

/* The path of file i that the command line names, "-" if it names none; NULL after the last file. */
const char *ulp_input_path(const ulp_arguments *a, size_t i);

/* Open a file for reading; "-" is stdin. *file is NULL after a failure. `program` is the name that a sentence about an
 * argument that is no file shows. */
ulp_status ulp_input_open(FILE **file, const char *program, const char *path, ulp_error *error);
void ulp_input_close(FILE *file); /* leaves stdin open; takes NULL */

/* The name of a file in messages: "stdin" or the path. */
const char *ulp_input_name(const char *path);

/* As ulp_refuse(), with "FILE:LINE: " before the sentence. */
ulp_status ulp_bad_line(ulp_error *error, const ulp_line *line, const char *text, ...) ULP_PRINTF(3, 4);

/* The same, when memory is out. Returns ULP_NO_MEMORY. */
ulp_status ulp_no_line_memory(ulp_error *error, const ulp_line *line, const char *what);

/* Refuse a text of words, the line or a part of it, with an empty field before, between or after commas. */
ulp_status ulp_refuse_empty_field(ulp_error *error, const ulp_line *line, const char *text);

/* The next word of a line, or NULL at the end. Blanks, tabs and commas separate words. The function writes into the
 * line. */
char *ulp_line_word(char **rest);

/* Read a code of up to `bits` bits in hex digits, with an optional 0x. Returns 0 if the word is anything else. */
int ulp_read_hex(uint64_t *code, const char *word, int bits);

/* Read the exact value of a decimal or a hex float of any length, or inf or nan (ulp_exact_read). Returns 0 if the word
 * is anything else. */
int ulp_read_exact(ulp_exact *x, const char *word, int32_t modulo);

/* Refuse a word of a line that is no number. */
ulp_status ulp_bad_number(ulp_error *error, const ulp_line *line, const char *word);

#endif

/* tool.h - what the subcommands of the tool share: options, input lines, errors, printing of values. */
#ifndef ULP_TOOL_H
#define ULP_TOOL_H

#include "formats/rng.h"
#include "kernels/backend.h"

#include <stdio.h>

enum { TOOL_FINE = 0, TOOL_FAILED = 1, TOOL_USAGE = 2, TOOL_LACKING = 3 };

/* A subcommand: a row of the table in ulp.c. */
typedef struct tool_command {
    const char *name, *synopsis, *summary;
    const char *help; /* the rest of `ulp NAME --help` */
    int (*run)(int argc, char **argv);
} tool_command;

extern const tool_command tool_formats, tool_show, tool_round, tool_arith, tool_dot, tool_gemm, tool_probe, tool_block,
    tool_verify, tool_backends;

/* ---- options ---- */

typedef enum tool_type {
    TOOL_FLAG,
    TOOL_FORMAT,
    TOOL_MODE,
    TOOL_POLICY,
    TOOL_NUMBER,
    TOOL_OP,
    TOOL_DATAPATH,
    TOOL_TEXT
} tool_type;

/* One option: where its value goes (int, ulp_format, ulp_rule's mode, ... by type) and, for numbers, its range. */
typedef struct tool_option {
    const char *name; /* without the dashes */
    tool_type type;
    void *value;
    uint64_t min, max; /* TOOL_NUMBER: uint64_t */
    int *given;        /* set to 1 when the option was given; may be NULL */
} tool_option;

/* Read the options, up to a row without a name; the words that are none of them are moved to the front of argv and
 * their number returned. What begins with a dash is a word if it is "-" or a number, or follows "--"; else it has to be
 * an option. On --help prints the command's page, with the known datapaths if it takes one, and exits 0; on bad input
 * says why and exits 2. */
int tool_parse(const tool_command *command, const tool_option *options, int argc, char **argv);

/* "ulp NAME: ..." on stderr, then exit 2. */
_Noreturn void tool_usage(const tool_command *command, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* --bits under a mode that reads no random bits is refused; bits 0: not given. */
void tool_check_bits(const tool_command *command, uint64_t bits, ulp_mode mode);

/* Explain why `text` is no format, with the names that are. */
_Noreturn void tool_bad_format(const tool_command *command, const char *text, ulp_status status);

/* The backend called `name`, NULL the default. If it is not there this says why and exits 3, or 2 if there is none of
 * that name. */
const ulp_backend *tool_backend(const tool_command *command, const char *name);

/* The datapath of that name, and for a matrix product on `backend` also a device's own; else a sentence and exit 2, or
 * 3 where the device lacks it. */
void tool_datapath(const tool_command *command, ulp_datapath *datapath, const char *text);
void tool_product(const tool_command *command, const ulp_backend *backend, ulp_datapath *datapath, const char *text);

/* ---- input: one item per line on stdin or in files; '#' lines and blank lines are skipped ---- */

typedef struct tool_line {
    char *text;       /* without the line break */
    const char *file; /* "stdin" or the path */
    unsigned long number;
    uint64_t index; /* of this data line, from 0 over all files */
} tool_line;

/* Call each() for every data line of the files (stdin if there are none, "-" is stdin). Exits 2 when a file cannot be
 * opened or is no text of lines up to 16 MiB, 1 when reading fails or memory ends. */
void tool_each_line(const tool_command *command, int files, char **paths,
                    void (*each)(void *context, const tool_line *line), void *context);

/* "ulp NAME: FILE:LINE: ..." on stderr after what was printed so far, then exit 2. */
_Noreturn void tool_bad_line(const tool_command *command, const tool_line *line, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* "ulp NAME: FILE:LINE: ..." on stderr after what was printed so far, then exit 1: memory or the machine failed, not
 * the input. `line` may be NULL. */
_Noreturn void tool_failed(const tool_command *command, const tool_line *line, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* The next word of a line, separated by spaces, tabs or commas; NULL at the end. Writes into the line. */
char *tool_word(char **rest);

/* A code of `digits` hex digits at most (an optional 0x before them), no larger than `bits` bits; 0 if it is not one.
 */
int tool_hex(uint64_t *code, const char *word, int bits);

/* A decimal or hex-float number, correctly rounded to binary64; inf and nan too; 0 if it is not one. */
int tool_number(double *value, const char *word);

/* ---- output ---- */

/* %.17g, or nan, inf, -inf, -0. */
void tool_print_value(FILE *to, double value);

/* The exact decimal where it has at most `width` characters, else a hex float; `to` holds 40 characters. */
void tool_exact_text(char to[40], double value, int width);

/* Hex digits of a code of `format`, ceil(bits / 4) of them. */
void tool_print_code(FILE *to, uint64_t code, const ulp_format *format);

/* Flush stdout; exit 1 with a message if something could not be written. */
int tool_finish(const tool_command *command);

#endif

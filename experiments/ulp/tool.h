/* tool.h - what the subcommands of the tool share: their table, input lines, the options of rounding, printed values.
 */
#ifndef ULP_TOOL_H
#define ULP_TOOL_H

#include "experiments/harness/cli/options.h"
#include "formats/rng.h"

#include <stdio.h>

/* A subcommand: a row of the table in ulp.c. */
typedef struct tool_command {
    ulp_command command;                /* of the name "ulp NAME" */
    ulp_option_group groups[2];         /* an empty one has no options */
    int (*run)(const ulp_arguments *a); /* with the fields filled; the exit status */
} tool_command;

extern const tool_command tool_formats, tool_show, tool_round, tool_arith, tool_dot, tool_gemm, tool_probe, tool_block,
    tool_verify, tool_backends;

/* The name of a command behind "ulp ". */
const char *tool_name(const tool_command *command);

/* ---- help.c: ulp help TOPIC ---- */

/* Prints the overview to `out`, or the topic or command that argv[1] names to stdout; the exit status. */
int tool_help(FILE *out, const tool_command *const *commands, size_t count, int argc, char **argv);

/* ---- rounding.c: the options of commands that round, with these defaults ---- */

typedef struct tool_rounding {
    ulp_mode mode;
    ulp_overflow overflow;
    uint64_t bits; /* 0: all 32 */
    uint64_t seed, stream;
} tool_rounding;

extern tool_rounding tool_rounding_given;
extern const ulp_option tool_rounding_options[]; /* fill tool_rounding_given */
#define TOOL_ROUNDING                                                                                                  \
    { "rounding", tool_rounding_options, &tool_rounding_given }

/* The rule, checked: ULP_GO_ON, or the exit status after a sentence: random bits under a mode that reads none. */
int tool_rule(ulp_rule *rule, const ulp_arguments *a);
/* Refuses --overflow wrap for `name`. */
int tool_refuse_wrap(const ulp_arguments *a, ulp_overflow policy, const char *name);
/* Where the words of the data lines come from. */
ulp_stream tool_stream(void);

/* ---- product.c: --datapath of products, which may be a device's own ---- */

typedef struct tool_product {
    const char *native; /* its name; NULL: the datapath is known */
    ulp_datapath datapath;
} tool_product;

extern const ulp_option_type tool_type_product;

/* Finds a device's own product: ULP_GO_ON, or the exit status after a sentence. */
int tool_product_resolve(tool_product *product, const ulp_backend *backend, const char *program);

/* The formats of a and b: `in` for both (NULL: not given), else what the datapath implies; refuses an `in` that the
 * datapath does not take. dot.c */
int tool_choose_inputs(ulp_format *a, ulp_format *b, const ulp_arguments *arguments, const ulp_datapath *d,
                       const ulp_format *in);

/* ---- lines.c: input, one item per line on stdin or in files; '#' lines and blank lines are skipped ---- */

typedef struct tool_line {
    char *text;          /* without the line break */
    const char *program; /* for messages */
    const char *file;    /* "stdin" or the path */
    unsigned long number;
    uint64_t index; /* of this data line, from 0 over all files */
} tool_line;

/* Calls each() for every data line of the files that are the words of the command line (stdin if there are none, "-" is
 * stdin), until it returns something other than ULP_GO_ON: the exit status after a message. A byte order mark at the
 * beginning of a file and CRLF line ends are no part of a line. ULP_EXIT_USAGE when a file cannot be opened or is no
 * text of lines up to 16 MiB, ULP_EXIT_FAILED when reading fails or memory ends. ULP_EXIT_FINE at the end. */
int tool_each_line(const ulp_arguments *a, int (*each)(void *context, const tool_line *line), void *context);

/* "PROGRAM: FILE:LINE: ..." on stderr after what was printed so far; ULP_EXIT_USAGE. */
int tool_bad_line(const tool_line *line, const char *text, ...) ULP_PRINTF(2, 3);

/* The same for what is not the input's fault: ULP_EXIT_FAILED. */
int tool_no_memory(const tool_line *line, const char *what);

/* The next word of a line, separated by spaces, tabs or commas; NULL at the end. Writes into the line. */
char *tool_word(char **rest);

/* ---- values.c ---- */

/* A code in hex digits (an optional 0x before them), no larger than `bits` bits; 0 if it is not one. */
int tool_hex(uint64_t *code, const char *word, int bits);

/* A decimal or hex-float number, correctly rounded to binary64; inf and nan too; 0 if it is not one. */
int tool_number(double *value, const char *word);

/* %.17g, or nan, inf, -inf, -0. */
void tool_print_value(FILE *to, double value);

/* The exact decimal where it has at most `width` characters, else a hex float; `to` holds 40 characters. */
void tool_exact_text(char to[40], double value, int width);

/* Hex digits of a code of `format`, ceil(bits / 4) of them. */
void tool_print_code(FILE *to, uint64_t code, const ulp_format *format);

#endif

/* tool.h - declarations that the subcommands share: their table, input lines, rounding options, printed values. */
#ifndef ULP_TOOL_H
#define ULP_TOOL_H

#include "experiments/harness/cli/lines.h"
#include "formats/rng.h"
#include "kernels/products/unit.h"

#include <stdio.h>
#include <string.h>

/* Options under one heading, and where the settings of the command have the struct that the options fill. */
typedef struct tool_group {
    const char *heading;
    const ulp_option *options;
    size_t at;
} tool_group;

enum { TOOL_GROUPS = 2 };

/* A subcommand: a row of the table in ulp.c. */
typedef struct tool_command {
    ulp_command command;            /* its name is "ulp NAME" */
    size_t size;                    /* of the settings, a struct of the command; all bytes are 0 at first */
    tool_group groups[TOOL_GROUPS]; /* an empty group has no options */
    /* Runs after the settings are filled. ulp.c writes the sentence of a failure. */
    ulp_status (*run)(void *settings, const ulp_arguments *a, ulp_error *error);
} tool_command;

extern const tool_command tool_formats, tool_show, tool_round, tool_convert, tool_arith, tool_dot, tool_gemm,
    tool_probe, tool_block, tool_quantize, tool_decode, tool_compare, tool_verify, tool_backends, tool_amp, tool_course,
    tool_vectors, tool_train;

/* The name of a command without "ulp ". */
static inline const char *tool_name(const tool_command *command) { return command->command.name + strlen("ulp "); }

/* The groups of a command whose settings are at `settings` (NULL: for --help). Returns their number. */
static inline size_t tool_groups(ulp_option_group groups[TOOL_GROUPS], const tool_command *c, void *settings) {
    size_t n = 0;
    for (const tool_group *g = c->groups; n < TOOL_GROUPS && g[n].options; n++)
        groups[n] = (ulp_option_group){g[n].heading, g[n].options, settings ? (char *)settings + g[n].at : NULL};
    return n;
}

/* A failure without a sentence: the output or earlier messages say what failed (a check: exit status 1; input: 2). */
enum tool_verdict { TOOL_CHECK_FAILED = ULP_DEVICE_FAILED, TOOL_INPUT_REFUSED = ULP_BAD_ARGUMENT };
static inline ulp_status tool_failed(ulp_error *error, enum tool_verdict verdict) {
    return ulp_fail(error, (ulp_status)verdict, "%s", "");
}

/* Make a failure of the library one of the input, with its sentence: exit status 2. */
static inline ulp_status tool_refused(ulp_error *error) { return error->status = ULP_BAD_ARGUMENT; }

/* ---- help.c: ulp help TOPIC ---- */

/* Print the overview to `out`, or the topic or command argv[1] to stdout. */
ulp_status tool_help(FILE *out, const tool_command *const *commands, size_t count, int argc, char **argv,
                     ulp_error *error);

/* The sources of the rows that model hardware, and the rows that tests compare with measurements. */
#define TOOL_DATAPATH_SOURCES                                                                                          \
    "A row is a model of a machine, not the machine. The rows of NVIDIA follow Xie et al. 2025 (arXiv 2511.10909). "   \
    "Their floors follow Khattak and Mikaitis 2025 (arXiv 2512.07004), who measured v100, a100, l40s, h100 and b200 "  \
    "with fp16 and bf16; the other floors are assumed. The rows -mma of h100 and b200 with fp8 follow the machine "    \
    "code of ptxas 13.0. The rows of AMD follow MMA-Sim 2.1.1 (Xie et al.). The rows of x86, Arm and RISC-V follow "   \
    "the manuals, the open emulators Bochs and QEMU, and the draft of Zvdota; `make check-silicon` compares the "      \
    "first ones with the processor.\n"                                                                                 \
    "The tests compare eleven rows, bit for bit, with 55,000 sums that Khattak and Mikaitis measured: v100-fp16, "     \
    "v100-fp16-fp16, a100-fp16, a100-fp16-fp16, a100-bf16, a100-tf32, l40s-fp16, l40s-fp16-fp16, l40s-bf16, "          \
    "l40s-e4m3, l40s-e5m2. The other rows, with all of t4, h100, b200 and rtx5090, rest on the publications alone.\n"

/* ---- rounding.c: the options of commands that round ---- */

typedef struct tool_rounding {
    ulp_mode mode;
    ulp_overflow overflow;
    uint64_t bits; /* random bits; 0: 32 */
    uint64_t seed, stream;
} tool_rounding;

/* What --flags of `ulp round` and `ulp arith` says of itself. */
#define TOOL_FLAGS_HELP                                                                                                \
    "end each line with the exceptions of IEEE 754 that the operation raises, | between them, or -: invalid, "         \
    "divbyzero, overflow (also where the result saturates or wraps), underflow (inexact, and tiny after rounding), "   \
    "inexact"

extern const ulp_option tool_rounding_options[];
#define TOOL_ROUNDING(settings, field)                                                                                 \
    { "rounding", tool_rounding_options, offsetof(settings, field) }

/* Set the rule, and the random stream of the data lines. --bits is refused for a mode without random bits. */
ulp_status tool_rule(ulp_rule *rule, ulp_stream *stream, const tool_rounding *options, ulp_error *error);
/* Refuse --overflow wrap for `name`. */
ulp_status tool_refuse_wrap(ulp_overflow policy, const char *name, ulp_error *error);
/* Refuse --bits for a mode that is not stochastic. */
ulp_status tool_refuse_bits(uint64_t bits, const char *mode, ulp_error *error);
/* Format, rule and random stream for the data lines of a filter. */
typedef struct tool_target {
    tool_rounding options;
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
} tool_target;

/* Set the rule and the stream of the target from its options; --overflow wrap is refused for a format without it. */
ulp_status tool_target_set(tool_target *to, ulp_error *error);

/* ---- form.c: the form of input ---- */

/* A word of the option, which may name the format of codes: "npy:e4m3". The words "code:F" and "npy[:F]" of the option
 * say that a format has to follow, or that it may. */
typedef struct tool_form {
    int form; /* the number of the word */
    int has_codes;
    ulp_format codes;
} tool_form;

extern const ulp_option_type tool_type_form;

/* The format of the codes, or NULL. */
static inline const ulp_format *tool_form_codes(const tool_form *form) { return form->has_codes ? &form->codes : NULL; }

/* ---- product.c: the option --datapath of products, which also takes a device's own product ---- */

typedef struct tool_product {
    const char *native; /* the name of a device's own product; NULL: `datapath` is set */
    ulp_datapath datapath;
} tool_product;

extern const ulp_option_type tool_type_product;

/* Set `datapath` of a device's own product. */
ulp_status tool_product_resolve(tool_product *product, const ulp_backend *backend, ulp_error *error);

/* The model of a datapath as a device: the definition's, or, for the backend "mpfr", MPFR's. */
ulp_unit tool_model_unit(const ulp_datapath *datapath, const ulp_backend *backend);

/* dot.c: the formats of a and b are `in`, or, if `in` is NULL, the formats that the datapath implies. Refused
 * is an `in` that the datapath does not take. */
ulp_status tool_choose_inputs(ulp_format *a, ulp_format *b, const ulp_datapath *d, const ulp_format *in,
                              ulp_error *error);

/* ---- of lines ---- */

/* The exact numbers of lines. */
typedef struct tool_numbers {
    ulp_exact *x; /* (n), which the caller frees */
    size_t n, room;
} tool_numbers;

/* Add the number of a line. */
ulp_status tool_numbers_add(tool_numbers *numbers, const ulp_line *line, ulp_error *error);

/* The random word of a line under the rule of a target; 0 if the rule takes no random word. */
uint32_t tool_random_word(const tool_target *to, const ulp_line *line);

/* Refuse y, a result without a code in the format. The caller adds where this is, by ulp_fail_within(). */
ulp_status tool_refuse_result(double y, const ulp_format *format, ulp_error *error);

/* Print y, the result of a line, in `format`, in the form. A y without a code is refused. */
ulp_status tool_print_encoded(const ulp_line *line, double y, const ulp_format *format, int form, ulp_error *error);

/* ---- print.c ---- */

/* The forms in which results are printed, the words of an option --to. */
typedef enum tool_result_form { TOOL_CODE, TOOL_VALUE, TOOL_BOTH, TOOL_SHORT, TOOL_EXACT } tool_result_form;
#define TOOL_RESULT_FORMS "code value both short exact"
#define TOOL_RESULT_HELP                                                                                               \
    "the code in hex; the value as %.17g, or nan, inf, -inf, -0; both; short: the shortest decimal that rounds to "    \
    "the code; exact: all digits of the value"

/* Print the code in the form. */
void tool_print_result(FILE *to, uint64_t code, const ulp_format *format, int form);

/* Print one line on stdout. On a terminal, a line wider than the terminal goes on in the next line, after `indent`
 * blanks. */
void tool_print_folded(int indent, const char *text, ...) ULP_PRINTF(2, 3);

/* Print a value as %.17g, or as nan, inf, -inf, -0. */
void tool_print_value(FILE *to, double value);

/* Write the exact decimal value if it has at most `width` characters, else a hex float. */
void tool_exact_text(char to[40], double value, int width);

/* Print a code of `format` as ceil(bits / 4) hex digits. */
void tool_print_code(FILE *to, uint64_t code, const ulp_format *format);

#endif

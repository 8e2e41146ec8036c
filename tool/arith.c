/* arith.c - ulp arith: a filter that computes on codes, one operation per line. */
#include "tool.h"

#include <stdlib.h>

typedef struct settings {
    tool_target to;
    int form; /* tool_result_form */
    ulp_op op;
} settings;

static const ulp_option options[] = {
    ULP_OPTION_AS(settings, to.format, "format", format, NULL, .needed = 1,
                  .help = "the format of operands and results"),
    ULP_OPTION(settings, op, op, NULL, .needed = 1, .help = "the operation"),
    ULP_OPTION_AS(settings, form, "to", choice, "code", .words = TOOL_RESULT_FORMS,
                  .help = "output: " TOOL_RESULT_HELP),
    {0},
};

enum { OPERANDS_MAX = 3 };

/* Read the codes of a line as values. *n gets the number of codes; v gets the first three values. */
static ulp_status read_codes(double v[OPERANDS_MAX], size_t *n, const ulp_format *f, const ulp_line *line,
                             ulp_error *error) {
    char *at = line->text, *word;
    for (*n = 0; (word = ulp_line_word(&at)) != NULL; ++*n) {
        uint64_t code;
        if (!ulp_read_hex(&code, word, f->bits))
            return ulp_bad_line(error, line, "'%s' is no code of %s: %d bits in hex", word, f->name, f->bits);
        if (*n < OPERANDS_MAX) v[*n] = ulp_decode(code, f);
    }
    return ULP_OK;
}

static ulp_status arith_line(void *context, const ulp_line *line, ulp_error *error) {
    const settings *s = context;
    const size_t want = (size_t)ulp_op_operands(s->op);
    double v[OPERANDS_MAX] = {0};
    size_t n;
    ULP_TRY(ulp_refuse_empty_field(error, line, line->text));
    ULP_TRY(read_codes(v, &n, &s->to.format, line, error));
    if (n != want)
        return ulp_bad_line(error, line, "%s takes %zu operand%s, the line has %zu", ulp_op_name(s->op), want,
                            ulp_plural(want), n);
    const double y =
        ulp_arith((ulp_scalar_op){s->op, v[0], v[1], v[2]}, &s->to.format, s->to.rule, tool_random_word(&s->to, line));
    ULP_TRY(tool_print_encoded(line, y, &s->to.format, s->form, error));
    putchar('\n');
    return ULP_OK;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    ULP_TRY(tool_target_set(&s->to, error));
    return ulp_filter_lines(a, &(ulp_line_filter){.each = arith_line, .context = s}, error);
}

const tool_command tool_arith = {
    .command = {.name = "ulp arith",
                .usage = "--format F --op OP [OPTION...] [FILE...]",
                .summary = "computes on codes, one operation a line, each result rounded once",
                .details = "Each line holds the operands as codes of F in hex, separated by spaces or commas: a b, or "
                           "a for sqrt, or a b c for fma (a b + c). Prints the code of the result.\n\n"
                           "  printf '3c00 1400\\n' | ulp arith --format fp16 --op add\n"
                           "  3c01\n",
                .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"the operation", options, 0}, TOOL_ROUNDING(settings, to.options)},
    .run = run};

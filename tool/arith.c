/* arith.c - ulp arith: a filter that computes on codes, one operation or function per line. */
#include "tool.h"

#include "formats/flags.h"
#include "formats/function.h"

#include <stdlib.h>

typedef struct settings {
    tool_target to;
    int op;   /* ulp_operation_name */
    int from; /* from_kind */
    int form; /* tool_result_form */
    int flags;
} settings;

typedef enum from_kind { FROM_CODE, FROM_TEXT } from_kind;

static const ulp_option options[] = {
    ULP_OPTION_AS(settings, to.format, "format", format, NULL, .needed = 1,
                  .help = "the format of operands and results"),
    ULP_OPTION(settings, op, op, NULL, .needed = 1, .help = "the operation"),
    ULP_OPTION(settings, from, choice, "code", .words = "code text",
               .help =
                   "input: codes of F in hex; or text: numbers of any length, which are rounded to F first, to nearest "
                   "even"),
    ULP_OPTION_AS(settings, form, "to", choice, "code", .words = TOOL_RESULT_FORMS,
                  .help = "output: " TOOL_RESULT_HELP),
    ULP_OPTION(settings, flags, flag, NULL, .help = TOOL_FLAGS_HELP),
    {0},
};

enum { OPERANDS_MAX = 3 };

static ulp_status read_operand(double *v, const char *word, const settings *s, const ulp_line *line, ulp_error *error) {
    const ulp_format *const f = &s->to.format;
    ulp_exact number;
    uint64_t code;
    if (s->from == FROM_TEXT) {
        if (!ulp_read_exact(&number, word, ULP_NUMBER_ALL))
            return ulp_bad_line(error, line, "'%s' is no number: decimal, hex float, inf or nan", word);
        *v = ulp_round_exact(number, f, (ulp_rule){0}, 0);
        return ULP_OK;
    }
    if (!ulp_read_hex(&code, word, f->bits))
        return ulp_bad_line(error, line, "'%s' is no code of %s: %d bits in hex%s", word, f->name, f->bits,
                            ulp_read_exact(&number, word, ULP_NUMBER_ALL) ? "; --from text takes numbers" : "");
    *v = ulp_decode(code, f);
    return ULP_OK;
}

/* Read the operands of a line. *n gets their number; v gets the first three values. */
static ulp_status read_operands(double v[OPERANDS_MAX], size_t *n, const settings *s, const ulp_line *line,
                                ulp_error *error) {
    char *at = line->text, *word;
    double value = 0.0;
    for (*n = 0; (word = ulp_line_word(&at)) != NULL; ++*n) {
        ULP_TRY(read_operand(&value, word, s, line, error));
        if (*n < OPERANDS_MAX) v[*n] = value;
    }
    return ULP_OK;
}

/* The flags of a function; at a pole it is a division by zero (IEEE 754-2019, 9.2.1). */
static unsigned flags_of_function(const settings *s, double v, double y, uint32_t word) {
    v = ulp_op_of_operands((ulp_scalar_op){ULP_SQRT, v, 0.0, 0.0}, &s->to.format).a;
    const ulp_exact x = ulp_exact_function((ulp_function)(s->op - ULP_OP_COUNT), v);
    if (v != v) return 0;
    if (x.kind == ULP_EXACT_NAN) return ULP_FLAG_INVALID;
    if (x.kind == ULP_EXACT_INF && v - v == 0.0) return ULP_FLAG_DIVBYZERO;
    return ulp_flags_of_rounding(x, y, &s->to.format, s->to.rule, word);
}

static ulp_status arith_line(void *context, const ulp_line *line, ulp_error *error) {
    const settings *s = context;
    const int function = s->op - ULP_OP_COUNT;
    const size_t want = function >= 0 ? 1 : (size_t)ulp_op_operands((ulp_op)s->op);
    const uint32_t word = tool_random_word(&s->to, line);
    double v[OPERANDS_MAX] = {0};
    size_t n;
    ULP_TRY(ulp_refuse_empty_field(error, line, line->text));
    ULP_TRY(read_operands(v, &n, s, line, error));
    if (n != want)
        return ulp_bad_line(error, line, "%s takes %zu operand%s, the line has %zu", ulp_operation_name(s->op), want,
                            ulp_plural(want), n);
    const ulp_scalar_op op = {(ulp_op)s->op, v[0], v[1], v[2]};
    const double y = function >= 0 ? ulp_evaluate((ulp_function)function, v[0], &s->to.format, s->to.rule, word)
                                   : ulp_arith(op, &s->to.format, s->to.rule, word);
    ULP_TRY(tool_print_encoded(line, y, &s->to.format, s->form, error));
    if (s->flags) {
        char text[ULP_FLAGS_TEXT];
        ulp_flags_text(text, function >= 0 ? flags_of_function(s, v[0], y, word)
                                           : ulp_flags_of_op(op, y, &s->to.format, s->to.rule, word));
        printf(" %s", text);
    }
    putchar('\n');
    return ULP_OK;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    ULP_TRY(tool_target_set(&s->to, error));
    if (s->op >= ULP_OP_COUNT &&
        ulp_function_check((ulp_function)(s->op - ULP_OP_COUNT), &s->to.format, s->to.rule) != ULP_OK)
        return ulp_refuse(error,
                          "--op %s is not offered with wrap-around: its result has too many bits; take "
                          "--overflow sat",
                          ulp_operation_name(s->op));
    return ulp_filter_lines(a, &(ulp_line_filter){.each = arith_line, .context = s}, error);
}

const tool_command tool_arith = {
    .command = {.name = "ulp arith",
                .usage = "--format F --op OP [OPTION...] [FILE...]",
                .summary = "computes on codes, one operation a line, each result rounded once",
                .details =
                    "Each line holds the operands as codes of F in hex, separated by spaces or commas: a b, or "
                    "a for sqrt and the functions, or a b c for fma (a b + c); or as numbers, with --from text, which "
                    "are rounded to F before the operation. Prints the code of the result. "
                    "The functions, exp and those after it, are correctly rounded, in every mode; `ulp help "
                    "functions` says what each is.\n\n"
                    "  printf '3c00 1400\\n' | ulp arith --format fp16 --op add\n"
                    "  3c01\n\n"
                    "  echo 0.3 | ulp arith --format bf16 --op tanh --from text --to both\n"
                    "  3e96 0.29296875   # tanh(0.30078125): 0.3 in bf16\n\n"
                    "  printf '3c00 0000\\n' | ulp arith --format fp16 --op div --flags\n"
                    "  7c00 divbyzero\n",
                .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"the operation", options, 0}, TOOL_ROUNDING(settings, to.options)},
    .run = run};

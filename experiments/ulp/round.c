/* round.c - ulp round: a filter that rounds numbers to a format. */
#include "tool.h"

#include <string.h>

typedef enum from_kind { FROM_TEXT, FROM_F32, FROM_F64 } from_kind;
typedef enum to_kind { TO_CODE, TO_VALUE, TO_BOTH } to_kind;

typedef struct settings {
    tool_target target;
    int from; /* from_kind */
    int to;   /* to_kind */
} settings;

static settings given;

static const ulp_option options[] = {
    {.name = "format",
     .type = &ulp_type_format,
     ULP_AT(settings, target.format),
     .needed = 1,
     .help = "the format to round to; qI.F is fixed point of I + F bits, I counts the sign (ARM writes q8.8 as Q7.8)"},
    ULP_OPTION(
        settings, from, choice, "text", .words = "text f32 f64",
        .help =
            "input: text is a decimal or hex float, correctly rounded to binary64 first; f32 and f64 are 8 or 16 hex "
            "digits, the bits of a binary32 or binary64 value"),
    ULP_OPTION(settings, to, choice, "code", .words = "code value both",
               .help = "output: the code in lower-case hex; the value as %.17g, or nan, inf, -inf, -0"),
    {0},
};

static int read_value(double *value, const settings *s, const tool_line *line) {
    uint64_t bits;
    if (s->from == FROM_TEXT) {
        if (tool_number(value, line->text)) return ULP_GO_ON;
        return tool_bad_line(line, "'%s' is no number; allowed: decimal, hex float, inf, nan", line->text);
    }
    const int digits = s->from == FROM_F32 ? 8 : 16;
    if ((int)strlen(line->text) != digits || line->text[1] == 'x' || line->text[1] == 'X' ||
        !tool_hex(&bits, line->text, 64))
        return tool_bad_line(line, "'%s' is not %d hex digits, the bits of a binary%d value", line->text, digits,
                             4 * digits);
    *value = s->from == FROM_F32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
    return ULP_GO_ON;
}

static int round_line(void *context, const tool_line *line) {
    const settings *s = context;
    double x;
    int status = read_value(&x, s, line);
    if (status != ULP_GO_ON) return status;
    const tool_target *target = &s->target;
    const double y = ulp_round(x, &target->format, target->rule, tool_random_word(target, line));
    if (s->to != TO_VALUE) status = tool_print_encoded(line, y, &target->format);
    if (status != ULP_GO_ON) return status;
    if (s->to == TO_BOTH) putchar(' ');
    if (s->to != TO_CODE) tool_print_value(stdout, y);
    putchar('\n');
    return ULP_GO_ON;
}

static int run(const ulp_arguments *a) {
    const int status = tool_target_set(&given.target, a);
    return status != ULP_GO_ON ? status : tool_each_line(a, round_line, &given);
}

const tool_command tool_round = {
    .command = {.name = "ulp round",
                .usage = "--format F [OPTION...] [FILE...]",
                .summary = "rounds numbers, one a line, to a format",
                .details = "Reads stdin when no file is given; '#' lines and blank lines are skipped. The first bad "
                           "line ends it with exit 2.\n\n"
                           "  printf '0.01\\n' | ulp round --format fp16 --to both\n"
                           "  211f 0.01000213623046875\n",
                .takes_words = 1},
    .groups = {{"input and output", options, &given}, TOOL_ROUNDING},
    .run = run};

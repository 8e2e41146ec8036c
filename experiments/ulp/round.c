/* round.c - ulp round: a filter that rounds numbers to a format. */
#include "tool.h"

#include <string.h>

typedef enum from_kind { FROM_TEXT, FROM_F32, FROM_F64 } from_kind;
typedef enum to_kind { TO_CODE, TO_VALUE, TO_BOTH } to_kind;

typedef struct settings {
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
    from_kind from;
    to_kind to;
} settings;

static double read_value(const settings *s, const tool_line *line) {
    uint64_t bits;
    double value;
    if (s->from == FROM_TEXT) {
        if (!tool_number(&value, line->text))
            tool_bad_line(&tool_round, line, "'%s' is no number; allowed: decimal, hex float, inf, nan", line->text);
        return value;
    }
    const int digits = s->from == FROM_F32 ? 8 : 16;
    if ((int)strlen(line->text) != digits || line->text[1] == 'x' || line->text[1] == 'X' ||
        !tool_hex(&bits, line->text, 64))
        tool_bad_line(&tool_round, line, "'%s' is not %d hex digits, the bits of a binary%d value", line->text, digits,
                      4 * digits);
    return s->from == FROM_F32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
}

static void round_line(void *context, const tool_line *line) {
    const settings *s = context;
    uint32_t word = ulp_mode_is_stochastic(s->rule.mode) ? ulp_random_word(s->stream, line->index) : 0;
    double y = ulp_round(read_value(s, line), &s->format, s->rule, word);
    uint64_t code = 0;
    if (s->to != TO_VALUE) {
        ulp_status status = ulp_encode(&code, y, &s->format);
        if (status != ULP_OK)
            tool_bad_line(&tool_round, line, "'%s' has no code in %s: %s", line->text, s->format.name,
                          ulp_status_text(status));
        tool_print_code(stdout, code, &s->format);
    }
    if (s->to == TO_BOTH) putchar(' ');
    if (s->to != TO_CODE) tool_print_value(stdout, y);
    putchar('\n');
}

static int choose(const char *option, const char *text, const char *const words[3]) {
    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) return i;
    tool_usage(&tool_round, "--%s %s: must be %s, %s or %s", option, text, words[0], words[1], words[2]);
}

static int run(int argc, char **argv) {
    settings s = {.stream = {1, 0, 0}};
    ulp_mode mode = ULP_RNE;
    ulp_overflow policy = ULP_OVERFLOW_DEFAULT;
    uint64_t bits = 0; /* all 32 */
    const char *from = "text", *to = "code";
    int has_format = 0;
    const tool_option options[] = {{"format", TOOL_FORMAT, &s.format, 0, 0, &has_format},
                                   {"mode", TOOL_MODE, &mode, 0, 0, NULL},
                                   {"overflow", TOOL_POLICY, &policy, 0, 0, NULL},
                                   {"bits", TOOL_NUMBER, &bits, 1, 32, NULL},
                                   {"seed", TOOL_NUMBER, &s.stream.seed, 0, UINT64_MAX, NULL},
                                   {"stream", TOOL_NUMBER, &s.stream.stream, 0, UINT64_MAX, NULL},
                                   {"from", TOOL_TEXT, &from, 0, 0, NULL},
                                   {"to", TOOL_TEXT, &to, 0, 0, NULL},
                                   {0}};
    int files = tool_parse(&tool_round, options, argc, argv);
    if (!has_format) tool_usage(&tool_round, "--format is needed: the format to round to, fp16 for example");
    tool_check_bits(&tool_round, bits, mode);
    s.from = (from_kind)choose("from", from, (const char *const[]){"text", "f32", "f64"});
    s.to = (to_kind)choose("to", to, (const char *const[]){"code", "value", "both"});
    s.rule = (ulp_rule){(uint8_t)mode, (uint8_t)policy, (uint8_t)bits};
    if (ulp_rule_check(&s.format, s.rule) != ULP_OK)
        tool_usage(&tool_round, "--overflow %s is not offered by %s: only fixed point wraps around",
                   ulp_overflow_name(policy), s.format.name);
    tool_each_line(&tool_round, files, argv, round_line, &s);
    return tool_finish(&tool_round);
}

const tool_command tool_round = {
    "round",
    "round --format F [--mode M] [--overflow P] [--bits R] [--seed S] [--stream T]\n"
    "                 [--from text|f32|f64] [--to code|value|both] [FILE...]",
    "rounds numbers, one a line, to a format",
    "  --format F    the format; qI.F is fixed point of I + F bits where I counts the sign (ARM writes q8.8 as Q7.8)\n"
    "  --mode M      rne rna rz ru rd ro sra srb src (sr is sra); default rne\n"
    "  --overflow P  default inf sat nan wrap; default: the format's own\n"
    "  --bits R      random bits of the stochastic modes, 1 to 32; default 32\n"
    "  --seed S --stream T   what the random word of data line i (from 0) is a function of; defaults 1 and 0\n"
    "  --from        text: decimal or hex float, correctly rounded to binary64 first; f32, f64: 8 or 16 hex digits,\n"
    "                the bits of a binary32 or binary64 value; default text\n"
    "  --to          code: lower-case hex; value: %.17g, or nan, inf, -inf, -0; both; default code\n\n"
    "Reads stdin when no file is given; '#' lines and blank lines are skipped. The first bad line ends it with exit "
    "2.\n\n"
    "  printf '0.01\\n' | ulp round --format fp16 --to both     211f 0.01000213623046875\n",
    run};

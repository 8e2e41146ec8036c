/* arith.c - ulp arith and ulp dot: filters that compute on codes. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    ulp_format format; /* of the operands */
    ulp_op op;
    ulp_rule rule;
    ulp_stream stream;
    ulp_datapath datapath;
    double *values;
    size_t room;
} settings;

/* The words of a line as values: the first in `first`, the others in `rest`. Returns their number. */
static size_t read_codes(settings *s, const tool_command *command, const tool_line *line, const ulp_format *first, const ulp_format *rest) {
    size_t n = 0;
    char *at = line->text, *word;
    while ((word = tool_word(&at)) != NULL) {
        const ulp_format *f = n == 0 ? first : rest;
        uint64_t code;
        if (!tool_hex(&code, word, f->bits)) tool_bad_line(command, line, "'%s' is no code of %s: %d bits in hex", word, f->name, f->bits);
        if (n == s->room) {
            s->room = s->room == 0 ? 64 : 2 * s->room;
            double *more = realloc(s->values, s->room * sizeof *more);
            if (more == NULL) tool_bad_line(command, line, "out of memory");
            s->values = more;
        }
        s->values[n++] = ulp_decode(code, f);
    }
    return n;
}

static void print_result(const tool_command *command, const tool_line *line, double y, const ulp_format *f) {
    uint64_t code;
    ulp_status status = ulp_encode(&code, y, f);
    if (status != ULP_OK) tool_bad_line(command, line, "the result has no code in %s: %s", f->name, ulp_status_text(status));
    tool_print_code(stdout, code, f);
    putchar('\n');
}

static void arith_line(void *context, const tool_line *line) {
    settings *s = context;
    const size_t want = (size_t)ulp_op_operands(s->op);
    size_t n = read_codes(s, &tool_arith, line, &s->format, &s->format);
    if (n != want) tool_bad_line(&tool_arith, line, "%s takes %zu operand%s, the line has %zu", ulp_op_name(s->op), want, want == 1 ? "" : "s", n);
    const double *v = s->values;
    uint32_t word = ulp_mode_is_stochastic(s->rule.mode) ? ulp_random_word(s->stream, line->index) : 0;
    print_result(&tool_arith, line, ulp_arith(s->op, v[0], n > 1 ? v[1] : 0, n > 2 ? v[2] : 0, &s->format, s->rule, word), &s->format);
}

static int run_arith(int argc, char **argv) {
    settings s = {.stream = {1, 0, 0}};
    ulp_mode mode = ULP_RNE;
    ulp_overflow policy = ULP_OVERFLOW_DEFAULT;
    uint64_t bits = 32;
    int has_format = 0, has_op = 0;
    const tool_option options[] = {{"format", TOOL_FORMAT, &s.format, 0, 0, &has_format},
                                   {"op", TOOL_OP, &s.op, 0, 0, &has_op},
                                   {"mode", TOOL_MODE, &mode, 0, 0, NULL},
                                   {"overflow", TOOL_POLICY, &policy, 0, 0, NULL},
                                   {"bits", TOOL_NUMBER, &bits, 1, 32, NULL},
                                   {"seed", TOOL_NUMBER, &s.stream.seed, 0, UINT64_MAX, NULL},
                                   {"stream", TOOL_NUMBER, &s.stream.stream, 0, UINT64_MAX, NULL},
                                   {0}};
    int files = tool_parse(&tool_arith, options, argc, argv);
    if (!has_format || !has_op) tool_usage(&tool_arith, "--format and --op are needed");
    s.rule = (ulp_rule){(uint8_t)mode, (uint8_t)policy, (uint8_t)bits};
    if (ulp_rule_check(&s.format, s.rule) != ULP_OK)
        tool_usage(&tool_arith, "--overflow %s is not offered by %s: only fixed point wraps around", ulp_overflow_name(policy), s.format.name);
    tool_each_line(&tool_arith, files, argv, arith_line, &s);
    free(s.values);
    return tool_finish(&tool_arith);
}

static void dot_line(void *context, const tool_line *line) {
    settings *s = context;
    const ulp_datapath *d = &s->datapath;
    size_t n = read_codes(s, &tool_dot, line, &d->result, &s->format);
    if (n % 2 == 0) tool_bad_line(&tool_dot, line, "c a1 ... ak b1 ... bk is an odd number of codes, the line has %zu", n);
    const size_t k = n / 2;
    ulp_stream stream = s->stream;
    stream.first += line->index * ulp_datapath_words(d, k);
    const double y = ulp_dot(d, s->values[0], s->values + 1, s->values + 1 + k, k, (ulp_scales){NULL, NULL}, stream);
    uint64_t code;
    ulp_status status = ulp_datapath_code(&code, y, d);
    if (status != ULP_OK) tool_bad_line(&tool_dot, line, "the result has no code in %s: %s", d->result.name, ulp_status_text(status));
    tool_print_code(stdout, code, &d->result);
    putchar('\n');
}

static int run_dot(int argc, char **argv) {
    settings s = {.stream = {1, 0, 0}};
    int has_datapath = 0, has_format = 0;
    const tool_option options[] = {{"datapath", TOOL_DATAPATH, &s.datapath, 0, 0, &has_datapath},
                                   {"in", TOOL_FORMAT, &s.format, 0, 0, &has_format},
                                   {"seed", TOOL_NUMBER, &s.stream.seed, 0, UINT64_MAX, NULL},
                                   {"stream", TOOL_NUMBER, &s.stream.stream, 0, UINT64_MAX, NULL},
                                   {0}};
    int files = tool_parse(&tool_dot, options, argc, argv);
    if (!has_datapath) tool_usage(&tool_dot, "--datapath is needed; known:\n%s", ulp_datapath_names());
    if (!has_format) s.format = s.datapath.has_inputs ? s.datapath.a : s.datapath.accumulator;
    tool_each_line(&tool_dot, files, argv, dot_line, &s);
    free(s.values);
    return tool_finish(&tool_dot);
}

const tool_command tool_arith = {
    "arith",
    "arith --format F --op add|sub|mul|div|sqrt|fma [--mode M] [--overflow P]\n"
    "                 [--bits R] [--seed S] [--stream T] [FILE...]",
    "computes on codes, one operation a line, each result rounded once",
    "Each line holds the operands as codes of F in hex, separated by spaces or commas: a b, or a for sqrt, or a b c for\n"
    "fma (a b + c). Prints the code of the result. The other options are those of ulp round.\n\n"
    "  printf '3c00 1400\\n' | ulp arith --format fp16 --op add     3c01\n",
    run_arith};

const tool_command tool_dot = {
    "dot", "dot --datapath D [--in F] [--seed S] [--stream T] [FILE...]", "forms sums of products under a datapath",
    "Each line: c a1 ... ak b1 ... bk, codes in hex; c in the accumulator's format, a and b in F (default: the\n"
    "accumulator's). Prints the code of c + a1 b1 + ... + ak bk as the datapath forms it, in the accumulator's format.\n"
    "Step j of data line i uses the random word of index i k + j.\n\n"
    "  D = fp32               serial fused multiply-add in binary32\n"
    "  D = serial:FORMAT:MODE acc <- round(acc + a b) in any format and mode; MODE/R for R random bits\n",
    run_dot};

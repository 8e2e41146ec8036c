/* arith.c - ulp arith and ulp dot: filters that compute on codes. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    ulp_format format, second; /* of the operands; dot: of a and of b */
    ulp_op op;
    ulp_rule rule;
    ulp_stream stream;
    ulp_datapath datapath;
    double *values;
    size_t room;
    char **words;
    size_t word_room;
} settings;

/* The words of a line as values: the first in `first`, the others in `rest`. Returns their number. */
static size_t read_codes(settings *s, const tool_command *command, const tool_line *line, const ulp_format *first,
                         const ulp_format *rest) {
    size_t n = 0;
    char *at = line->text, *word;
    while ((word = tool_word(&at)) != NULL) {
        const ulp_format *f = n == 0 ? first : rest;
        uint64_t code;
        if (!tool_hex(&code, word, f->bits))
            tool_bad_line(command, line, "'%s' is no code of %s: %d bits in hex", word, f->name, f->bits);
        if (n == s->room) {
            s->room = s->room == 0 ? 64 : 2 * s->room;
            double *more = realloc(s->values, s->room * sizeof *more);
            if (more == NULL) tool_failed(command, line, "out of memory");
            s->values = more;
        }
        s->values[n++] = ulp_decode(code, f);
    }
    return n;
}

static void print_result(const tool_command *command, const tool_line *line, double y, const ulp_format *f) {
    uint64_t code;
    ulp_status status = ulp_encode(&code, y, f);
    if (status != ULP_OK)
        tool_bad_line(command, line, "the result has no code in %s: %s", f->name, ulp_status_text(status));
    tool_print_code(stdout, code, f);
    putchar('\n');
}

static void arith_line(void *context, const tool_line *line) {
    settings *s = context;
    const size_t want = (size_t)ulp_op_operands(s->op);
    size_t n = read_codes(s, &tool_arith, line, &s->format, &s->format);
    if (n != want)
        tool_bad_line(&tool_arith, line, "%s takes %zu operand%s, the line has %zu", ulp_op_name(s->op), want,
                      want == 1 ? "" : "s", n);
    const double *v = s->values;
    uint32_t word = ulp_mode_is_stochastic(s->rule.mode) ? ulp_random_word(s->stream, line->index) : 0;
    print_result(&tool_arith, line,
                 ulp_arith(s->op, v[0], n > 1 ? v[1] : 0, n > 2 ? v[2] : 0, &s->format, s->rule, word), &s->format);
}

static int run_arith(int argc, char **argv) {
    settings s = {.stream = {1, 0, 0}};
    ulp_mode mode = ULP_RNE;
    ulp_overflow policy = ULP_OVERFLOW_DEFAULT;
    uint64_t bits = 0; /* all 32 */
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
    tool_check_bits(&tool_arith, bits, mode);
    s.rule = (ulp_rule){(uint8_t)mode, (uint8_t)policy, (uint8_t)bits};
    if (ulp_rule_check(&s.format, s.rule) != ULP_OK)
        tool_usage(&tool_arith, "--overflow %s is not offered by %s: only fixed point wraps around",
                   ulp_overflow_name(policy), s.format.name);
    tool_each_line(&tool_arith, files, argv, arith_line, &s);
    free(s.values);
    return tool_finish(&tool_arith);
}

/* ---- dot ---- */

static void *grown(const tool_line *line, void *array, size_t *room, size_t need, size_t size) {
    if (need <= *room) return array;
    *room = 2 * need;
    void *more = realloc(array, *room * size);
    if (more == NULL) tool_failed(&tool_dot, line, "out of memory");
    return more;
}

/* The words of `text` into s->words; their number. */
static size_t split_words(settings *s, const tool_line *line, char *text) {
    size_t n = 0;
    char *word;
    while ((word = tool_word(&text)) != NULL) {
        s->words = grown(line, s->words, &s->word_room, n + 1, sizeof *s->words);
        s->words[n++] = word;
    }
    return n;
}

static double value_of(const tool_line *line, const char *word, const ulp_format *f, const char *what) {
    uint64_t code;
    if (!tool_hex(&code, word, f->bits))
        tool_bad_line(&tool_dot, line, "%s: '%s' is no code of %s: %d bits in hex", what, word, f->name, f->bits);
    return ulp_decode(code, f);
}

/* The part of the line behind the next '/', or NULL; the part before it ends there. */
static char *cut(char *text) {
    char *slash = text != NULL ? strchr(text, '/') : NULL;
    if (slash == NULL) return NULL;
    *slash = '\0';
    return slash + 1;
}

static void read_scales(settings *s, const tool_line *line, char *text, double *to, size_t n, const char *what) {
    const size_t words = split_words(s, line, text);
    if (words != n)
        tool_bad_line(&tool_dot, line, "%s: %zu products take %zu scale%s, one for each %d, the line has %zu", what,
                      s->room, n, n == 1 ? "" : "s", s->datapath.scale_block, words);
    for (size_t i = 0; i < n; i++) to[i] = value_of(line, s->words[i], &s->datapath.scale, what);
}

static void dot_line(void *context, const tool_line *line) {
    settings *s = context;
    const ulp_datapath *d = &s->datapath;
    char *a_scales = cut(line->text), *b_scales = cut(a_scales);
    const size_t n = split_words(s, line, line->text), k = n / 2;
    if (n % 2 == 0)
        tool_bad_line(&tool_dot, line, "c a1 ... ak b1 ... bk is an odd number of codes, the line has %zu", n);
    if (a_scales != NULL && d->scale_block == 0)
        tool_bad_line(&tool_dot, line, "%s has no block scales: nothing may follow a '/'", d->name);
    if (a_scales != NULL && b_scales == NULL)
        tool_bad_line(&tool_dot, line, "scales are given for a and for b: '/ sa1 ... / sb1 ...'");
    const size_t blocks = d->scale_block != 0 ? (k + d->scale_block - 1) / d->scale_block : 0, need = n + 2 * blocks;
    double *values = malloc(need * sizeof *values);
    if (values == NULL) tool_failed(&tool_dot, line, "out of memory");
    for (size_t i = 0; i < n; i++)
        values[i] = value_of(line, s->words[i], i == 0 ? &d->result : (i <= k ? &s->format : &s->second),
                             i == 0 ? "c" : (i <= k ? "a" : "b"));
    ulp_scales scales = {NULL, NULL};
    if (a_scales != NULL) {
        s->room = k;
        read_scales(s, line, a_scales, values + n, blocks, "scales of a");
        read_scales(s, line, b_scales, values + n + blocks, blocks, "scales of b");
        scales = (ulp_scales){values + n, values + n + blocks};
    }
    ulp_stream stream = s->stream;
    stream.first += line->index * ulp_datapath_words(d, k);
    const double y = ulp_dot(d, values[0], values + 1, values + 1 + k, k, scales, stream);
    free(values);
    uint64_t code;
    ulp_status status = ulp_datapath_code(&code, y, d);
    if (status != ULP_OK)
        tool_bad_line(&tool_dot, line, "the result has no code in %s: %s", d->result.name, ulp_status_text(status));
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
    if (has_format && s.datapath.has_inputs &&
        (strcmp(s.format.name, s.datapath.a.name) != 0 || strcmp(s.format.name, s.datapath.b.name) != 0))
        tool_usage(&tool_dot, "--in %s: %s takes a in %s and b in %s", s.format.name, s.datapath.name,
                   s.datapath.a.name, s.datapath.b.name);
    s.second = s.format;
    if (!has_format) s.format = s.datapath.has_inputs ? s.datapath.a : s.datapath.accumulator;
    if (!has_format) s.second = s.datapath.has_inputs ? s.datapath.b : s.datapath.accumulator;
    tool_each_line(&tool_dot, files, argv, dot_line, &s);
    free(s.words);
    return tool_finish(&tool_dot);
}

const tool_command tool_arith = {
    "arith",
    "arith --format F --op add|sub|mul|div|sqrt|fma [--mode M] [--overflow P]\n"
    "                 [--bits R] [--seed S] [--stream T] [FILE...]",
    "computes on codes, one operation a line, each result rounded once",
    "Each line holds the operands as codes of F in hex, separated by spaces or commas: a b, or a for sqrt, or a b c "
    "for\n"
    "fma (a b + c). Prints the code of the result. The other options are those of ulp round.\n\n"
    "  printf '3c00 1400\\n' | ulp arith --format fp16 --op add     3c01\n",
    run_arith};

const tool_command tool_dot = {
    "dot", "dot --datapath D [--in F] [--seed S] [--stream T] [FILE...]", "forms sums of products under a datapath",
    "Each line: c a1 ... ak b1 ... bk, codes in hex, two's complement for integers. Prints the code of c + a1 b1 + ... "
    "+\n"
    "ak bk as the datapath forms it. c and the result are of the accumulator's format (binary32 under promote=). "
    "Datapaths\n"
    "with input formats take a and b in these (int8, Tensor Cores; a and b may differ: h100-e4m3.e5m2), the others in "
    "F,\n"
    "by default the accumulator's format. Block scales follow the codes, one of a and one of b for each block of "
    "products\n"
    "(b200-e4m3-mx: 32): c a1 ... bk / sa1 ... / sb1 ...; without them they are ones.\n"
    "Stochastic: data line i uses the random words from index i w on, w the roundings of one sum.\n\n"
    "  printf '00000000 3c00 bc00 0001 3c00 3c00 0004\\n' | ulp dot --datapath h100-fp16     00000000: 1 - 1 + 2^-46\n",
    run_dot};

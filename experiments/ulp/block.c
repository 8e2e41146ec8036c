/* block.c - ulp block: a filter that converts an array to a block-scaled format, and its codes back. */
#include "tool.h"

#include "formats/block.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef enum to_kind { TO_CODE, TO_VALUE, TO_BOTH } to_kind;

typedef struct settings {
    ulp_block block;
    ulp_rule rule;
    ulp_stream stream; /* first: the elements printed so far */
    to_kind to;
    int whole; /* the tensor scale follows from the whole input */
    float tensor_scale;
    float *x; /* (n) elements that were read and not yet printed */
    size_t n, room;
    uint8_t *elements; /* (block.size) codes */
    uint64_t scale;    /* decode: the code that the first line of the block has */
} settings;

/* ---- numbers to codes ---- */

/* A number, rounded once to binary32; 0 if it is not one. */
static int read_number(float *value, const char *word) {
    double wide;
    if (!tool_number(&wide, word)) return 0;
    *value = strtof(word, NULL); /* (float)wide would be a second rounding */
    return 1;
}

static void print_element(const settings *s, uint8_t scale, uint8_t element) {
    if (s->to != TO_VALUE) {
        tool_print_code(stdout, scale, &s->block.scale);
        putchar(' ');
        tool_print_code(stdout, element, &s->block.element);
    }
    if (s->to == TO_BOTH) putchar(' ');
    if (s->to != TO_CODE) {
        float y;
        ulp_block_decode(&y, &element, &scale, 1, &s->block, s->tensor_scale);
        tool_print_value(stdout, (double)y);
    }
    putchar('\n');
}

/* All that was read, block by block. */
static void print_blocks(settings *s) {
    for (size_t at = 0; at < s->n; at += s->block.size) {
        const size_t n = s->n - at < s->block.size ? s->n - at : s->block.size;
        uint8_t scale;
        ulp_block_encode(s->elements, &scale, s->x + at, n, &s->block, s->tensor_scale, s->rule, s->stream);
        for (size_t i = 0; i < n; i++) print_element(s, scale, s->elements[i]);
        s->stream.first += n;
    }
    s->n = 0;
}

static void encode_line(void *context, const tool_line *line) {
    settings *s = context;
    if (s->n == s->room) {
        s->room = s->room == 0 ? 64 : 2 * s->room;
        float *more = s->room <= SIZE_MAX / sizeof *more ? realloc(s->x, s->room * sizeof *more) : NULL;
        if (more == NULL) tool_failed(&tool_block, line, "out of memory");
        s->x = more;
    }
    if (!read_number(&s->x[s->n], line->text))
        tool_bad_line(&tool_block, line, "'%s' is no number; allowed: decimal, hex float, inf, nan", line->text);
    s->n++;
    if (!s->whole && s->n == s->block.size) print_blocks(s);
}

static void encode(settings *s, int files, char **paths) {
    s->elements = malloc(s->block.size);
    if (s->elements == NULL) tool_failed(&tool_block, NULL, "out of memory for a block of %u", (unsigned)s->block.size);
    tool_each_line(&tool_block, files, paths, encode_line, s);
    if (s->whole) {
        char text[40];
        s->tensor_scale = ulp_block_tensor_scale(ulp_amax(s->x, s->n, 1), &s->block);
        tool_exact_text(text, (double)s->tensor_scale, 24);
        fprintf(stderr, "ulp block: tensor scale %s\n", text);
    }
    print_blocks(s);
    free(s->x);
    free(s->elements);
}

/* ---- codes to values ---- */

static uint64_t read_code(const tool_line *line, const char *word, const ulp_format *f, const char *what) {
    uint64_t code;
    if (!tool_hex(&code, word, f->bits))
        tool_bad_line(&tool_block, line, "'%s' is no %s code: %d bits of %s in hex", word, what, f->bits, f->name);
    return code;
}

static void decode_line(void *context, const tool_line *line) {
    settings *s = context;
    char *at = line->text, *word = tool_word(&at), *second = word != NULL ? tool_word(&at) : NULL;
    if (second == NULL || tool_word(&at) != NULL)
        tool_bad_line(&tool_block, line, "a line holds two codes, of the scale and of the element");
    const uint64_t scale = read_code(line, word, &s->block.scale, "scale");
    const uint64_t element = read_code(line, second, &s->block.element, "element");
    if (line->index % s->block.size == 0) s->scale = scale;
    if (scale != s->scale)
        tool_bad_line(&tool_block, line, "scale code %02x in a block that began with %02x; %u lines share a scale",
                      (unsigned)scale, (unsigned)s->scale, (unsigned)s->block.size);
    print_element(s, (uint8_t)scale, (uint8_t)element);
}

/* ---- the registry ---- */

static int list_blocks(void) {
    static const char form[] = "%-12s %-12s %-8s %-6s %-5s %-7s %s\n";
    ulp_block b;
    const ulp_format_row *row;
    char size[16];
    printf(form, "name", "aliases", "element", "scale", "size", "rule", "source");
    for (size_t i = 0; ulp_block_get(i, &b, &row) == ULP_OK; i++) {
        snprintf(size, sizeof size, "%u", (unsigned)b.size);
        printf(form, b.name, row->aliases, b.element.name, b.scale.name, size,
               ulp_scale_rule_name((ulp_scale_rule)b.rule), row->source);
    }
    return tool_finish(&tool_block);
}

static void choose_block(ulp_block *block, const char *text) {
    const ulp_format_row *row;
    if (text == NULL) tool_usage(&tool_block, "--format is needed, mxfp4 for example; --list names all");
    if (ulp_block_parse(block, text) == ULP_OK) return;
    fprintf(stderr, "ulp block: '%s' is no block format; known formats:", text);
    for (size_t i = 0; ulp_block_get(i, NULL, &row) == ULP_OK; i++) {
        fprintf(stderr, " %s", row->name);
        if (row->aliases[0] != '\0') fprintf(stderr, " (%s)", row->aliases);
    }
    fprintf(stderr, "\nand each with a rule for the scale:");
    for (int i = 0; i < ULP_SCALE_RULE_COUNT; i++) fprintf(stderr, " :%s", ulp_scale_rule_name((ulp_scale_rule)i));
    fputc('\n', stderr);
    exit(TOOL_USAGE);
}

/* ---- the command ---- */

static to_kind choose_to(const char *text) {
    static const char *const words[] = {"code", "value", "both"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) return (to_kind)i;
    tool_usage(&tool_block, "--to %s: must be code, value or both", text);
}

static void choose_tensor_scale(settings *s, const char *text, int decode) {
    s->tensor_scale = 1.0f;
    s->whole = strcmp(text, "auto") == 0;
    if (s->whole && decode)
        tool_usage(&tool_block, "--tensor-scale auto: the codes do not hold it, --decode has to be told");
    if (s->whole && s->block.scale.prec == 1)
        tool_usage(&tool_block, "--tensor-scale auto: the scales of %s span binary32 without it; nvfp4 needs it",
                   s->block.name);
    if (s->whole) return;
    if (!read_number(&s->tensor_scale, text) || !(s->tensor_scale > 0.0f && s->tensor_scale <= FLT_MAX))
        tool_usage(&tool_block, "--tensor-scale %s: must be auto or a number, positive and finite in binary32", text);
}

static int run(int argc, char **argv) {
    settings s = {.stream = {1, 0, 0}};
    ulp_mode mode = ULP_RNE;
    ulp_overflow policy = ULP_OVERFLOW_DEFAULT;
    uint64_t bits = 0; /* all 32 */
    const char *format = NULL, *to = "code", *tensor_scale = "1";
    int encoding = 0, decode = 0, list = 0;
    const tool_option options[] = {{"format", TOOL_TEXT, &format, 0, 0, NULL},
                                   {"mode", TOOL_MODE, &mode, 0, 0, &encoding},
                                   {"overflow", TOOL_POLICY, &policy, 0, 0, &encoding},
                                   {"bits", TOOL_NUMBER, &bits, 1, 32, &encoding},
                                   {"seed", TOOL_NUMBER, &s.stream.seed, 0, UINT64_MAX, &encoding},
                                   {"stream", TOOL_NUMBER, &s.stream.stream, 0, UINT64_MAX, &encoding},
                                   {"to", TOOL_TEXT, &to, 0, 0, &encoding},
                                   {"tensor-scale", TOOL_TEXT, &tensor_scale, 0, 0, NULL},
                                   {"decode", TOOL_FLAG, &decode, 0, 0, NULL},
                                   {"list", TOOL_FLAG, &list, 0, 0, NULL},
                                   {0}};
    int files = tool_parse(&tool_block, options, argc, argv);
    if (list && argc > 1) tool_usage(&tool_block, "--list stands alone");
    if (list) return list_blocks();
    choose_block(&s.block, format);
    if (decode && encoding)
        tool_usage(&tool_block, "--decode takes --format and --tensor-scale only; it prints values");
    tool_check_bits(&tool_block, bits, mode);
    s.to = decode ? TO_VALUE : choose_to(to);
    choose_tensor_scale(&s, tensor_scale, decode);
    s.rule = (ulp_rule){(uint8_t)mode, (uint8_t)policy, (uint8_t)bits};
    if (ulp_element_check(&s.block.element, s.rule) != ULP_OK)
        tool_usage(&tool_block, "--overflow %s is not offered by %s: only fixed point wraps around",
                   ulp_overflow_name(policy), s.block.name);
    if (decode) tool_each_line(&tool_block, files, argv, decode_line, &s);
    else encode(&s, files, argv);
    return tool_finish(&tool_block);
}

#define RULE_LINE(id, name, meaning) "                 " name ": " meaning "\n"

const tool_command tool_block = {
    "block",
    "block --format B[:RULE] [--mode M] [--overflow P] [--bits R] [--seed S] [--stream T]\n"
    "                 [--tensor-scale X|auto] [--to code|value|both] [FILE...]\n"
    "       ulp block --format B[:RULE] --decode [--tensor-scale X] [FILE...]\n"
    "       ulp block --list",
    "converts an array to a block-scaled format (MX, NVFP4), and back",
    "The input is one array, a number a line: decimal or hex float, correctly rounded to binary32 first (past its\n"
    "range: infinite). Neighbours share a scale; the last block may be short. Line i of the output is element i.\n\n"
    "  --format B     the block format. RULE finds the scale from amax, the block's largest finite "
    "magnitude:\n" ULP_SCALE_RULES(
        RULE_LINE) "                 max is the element's largest value, emax its exponent, p its significand bits. "
                   "nvfp4's\n"
                   "                 scale is amax / max, rounded down by floor, to nearest by even, up by ceil and "
                   "noclip\n"
                   "  --mode M       how elements are rounded: rne rna rz ru rd ro sra srb src (sr is sra); default "
                   "rne\n"
                   "  --overflow P   default inf sat nan wrap; default: finite values clamp, infinite ones become Inf, "
                   "else NaN.\n"
                   "                 NaN where the element has none makes the scale NaN, and with it the whole block\n"
                   "  --bits R       random bits of the stochastic modes, 1 to 32; default 32\n"
                   "  --seed S --stream T   what the random word of element i (from 0) is a function of; defaults 1 "
                   "and 0\n"
                   "  --tensor-scale X      a factor of the whole array, rounded to binary32; default 1. auto, for "
                   "nvfp4: amax of\n"
                   "                 all the input / (max * largest scale); stderr says what it is, --decode has to be "
                   "told\n"
                   "  --to           code: of the scale and of the element, lower-case hex; value: element * scale * "
                   "tensor scale in\n"
                   "                 binary32, %.17g, or nan, inf, -inf, -0; both: three columns; default code\n"
                   "  --decode       the inverse: lines of a scale code and an element code, as --to code prints them, "
                   "to values\n"
                   "  --list         the block formats: element, scale, elements that share a scale, rule, source\n\n"
                   "Reads stdin when no file is given; '#' lines and blank lines are skipped. The first bad line ends "
                   "it with exit\n"
                   "2; nothing is printed of its block, and under --tensor-scale auto nothing at all.\n\n"
                   "  printf '0.7\\n' | ulp block --format mxfp4 --to both     7c 7 0.75: 6 times 2^-3\n",
    run};

/* block.c - ulp block: a filter that converts an array to codes of a block-scaled format, and codes to values. */
#include "tool/block/arrays.h"

#include "experiments/harness/cli/types.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef enum from_kind { FROM_TEXT, FROM_NPY, FROM_NPZ } from_kind;
typedef enum to_kind { TO_CODE, TO_VALUE, TO_BOTH, TO_NPY, TO_NPZ } to_kind;

typedef struct settings {
    ulp_block block;
    tool_rounding rounding;
    ulp_rule rule;
    ulp_stream stream; /* stream.first is the number of elements printed so far */
    tool_form given;   /* of --from */
    int from;          /* from_kind */
    int to;            /* to_kind */
    const char *out;
    const char *tensor_scale_text, *hadamard_text;
    tool_hadamard hadamard;
    int decode, list, tiles;
    int whole; /* 1: the tensor scale depends on the whole input */
    int waits; /* 1: so do other numbers */
    float tensor_scale;
    tool_numbers numbers; /* elements that were read and are not printed yet */
    uint8_t *elements;    /* (block.size) codes */
    uint64_t scale;       /* decode: the scale code in the first line of the block */
} settings;

/* ---- numbers to codes ---- */

static void print_element(const settings *s, uint8_t scale, uint8_t element) {
    if (s->to != TO_VALUE) {
        tool_print_code(stdout, scale, &s->block.scale);
        putchar(' ');
        tool_print_code(stdout, element, &s->block.element);
    }
    if (s->to == TO_BOTH) putchar(' ');
    if (s->to != TO_CODE) {
        float y;
        ulp_block_decode(&y, &element, &scale, (ulp_block_array){&s->block, 1, s->tensor_scale});
        tool_print_value(stdout, (double)y);
    }
    putchar('\n');
}

/* Print the elements that were read, block by block. */
static void print_blocks(settings *s) {
    for (size_t at = 0; at < s->numbers.n; at += s->block.size) {
        const size_t n = s->numbers.n - at < s->block.size ? s->numbers.n - at : s->block.size;
        uint8_t scale;
        ulp_block_encode_exact(s->elements, &scale, s->numbers.x + at, (ulp_block_array){&s->block, n, s->tensor_scale},
                               s->rule, s->stream);
        for (size_t i = 0; i < n; i++) print_element(s, scale, s->elements[i]);
        s->stream.first += n;
    }
    s->numbers.n = 0;
}

static ulp_status encode_line(void *context, const ulp_line *line, ulp_error *error) {
    settings *s = context;
    ULP_TRY(tool_numbers_add(&s->numbers, line, error));
    if (!s->waits && s->numbers.n == s->block.size) print_blocks(s);
    return ULP_OK;
}

static ulp_status encode(settings *s, const ulp_arguments *a, ulp_error *error) {
    s->elements = ulp_grow(NULL, s->block.size);
    ulp_status status = ulp_filter_lines(a, &(ulp_line_filter){.each = encode_line, .context = s}, error);
    if (status == ULP_OK) status = tool_hadamard_exact(&s->hadamard, s->numbers.x, s->numbers.n, "the input", error);
    if (s->whole && status == ULP_OK) {
        char text[40];
        s->tensor_scale = ulp_block_tensor_scale(ulp_amax_exact(s->numbers.x, s->numbers.n), &s->block);
        tool_exact_text(text, (double)s->tensor_scale, 24);
        ulp_complain(a->program, "tensor scale %s", text);
    }
    if (status == ULP_OK) print_blocks(s);
    free(s->numbers.x);
    free(s->elements);
    s->numbers = (tool_numbers){0};
    return status;
}

/* ---- codes to values ---- */

static ulp_status read_code(uint64_t *code, const ulp_line *line, const char *word, const ulp_format *f,
                            const char *what, ulp_error *error) {
    if (ulp_read_hex(code, word, f->bits)) return ULP_OK;
    return ulp_bad_line(error, line, "'%s' is no %s code: %d bits of %s in hex", word, what, f->bits, f->name);
}

static ulp_status decode_line(void *context, const ulp_line *line, ulp_error *error) {
    settings *s = context;
    ULP_TRY(ulp_refuse_empty_field(error, line, line->text));
    char *at = line->text, *word = ulp_line_word(&at), *second = word != NULL ? ulp_line_word(&at) : NULL;
    uint64_t scale, element;
    if (second == NULL || ulp_line_word(&at) != NULL)
        return ulp_bad_line(error, line, "a line holds two codes, of the scale and of the element");
    ULP_TRY(read_code(&scale, line, word, &s->block.scale, "scale", error));
    ULP_TRY(read_code(&element, line, second, &s->block.element, "element", error));
    if (line->index % s->block.size == 0) s->scale = scale;
    if (scale != s->scale)
        return ulp_bad_line(error, line, "scale code %02x in a block that began with %02x; %u lines share a scale",
                            (unsigned)scale, (unsigned)s->scale, (unsigned)s->block.size);
    print_element(s, (uint8_t)scale, (uint8_t)element);
    return ULP_OK;
}

/* ---- the registry ---- */

static void list_blocks(void) {
    ulp_block b;
    const ulp_format_row *row;
    char size[16];
    tool_print_folded(4, "%-12s %-12s %-8s %-6s %-5s %-7s %s", "name", "aliases", "element", "scale", "size", "rule",
                      "source");
    for (size_t i = 0; ulp_block_get(i, &b, &row) == ULP_OK; i++) {
        snprintf(size, sizeof size, "%u", (unsigned)b.size);
        tool_print_folded(4, "%-12s %-12s %-8s %-6s %-5s %-7s %s", b.name, row->aliases, b.element.name, b.scale.name,
                          size, ulp_scale_rule_name((ulp_scale_rule)b.rule), row->source);
    }
}

/* ---- the command ---- */

static ulp_status read_block(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    const ulp_format_row *row;
    ulp_text known = {0}, rules = {0};
    (void)option;
    if (ulp_block_parse(field, text) == ULP_OK) return ULP_OK;
    for (size_t i = 0; ulp_block_get(i, NULL, &row) == ULP_OK; i++)
        ulp_text_print(&known, "%s%s%s%s", i ? " " : "", row->name, *row->aliases ? " " : "", row->aliases);
    ulp_text_print(&rules, " block:ELEMENT,SIZE,SCALE, each with another :SIZE, and one of");
    for (int i = 0; i < ULP_SCALE_RULE_COUNT; i++)
        ulp_text_print(&rules, " :%s", ulp_scale_rule_name((ulp_scale_rule)i));
    ulp_refuse_word(error, "block format", text, ulp_text_of(&known), ulp_text_of(&rules));
    ulp_text_free(&known);
    ulp_text_free(&rules);
    return ulp_refuse_more(error, " (--list says more)");
}

static void print_block(ulp_text *to, const void *field, const ulp_option *option) {
    (void)option;
    ulp_text_print(to, "%s", ((const ulp_block *)field)->name);
}

static const ulp_option_type block_type = {
    .value_name = "B[:SIZE][:RULE]", .size = sizeof(ulp_block), .read = read_block, .print = print_block};

static const ulp_option options[] = {
    {.name = "format",
     .type = &block_type,
     ULP_FIELD(settings, block),
     .help = "the block format; SIZE elements share a scale; RULE finds the scale"},
    ULP_OPTION_AS(settings, tensor_scale_text, "tensor-scale", text, "1", .value_name = "X|auto",
                  .help = "a factor of the whole array, rounded to binary32; auto, for nvfp4: amax of all the input / "
                          "(max * largest scale); stderr says which, and --decode needs this number"),
    ULP_OPTION(settings, tiles, flag, NULL,
               .help = "SIZE x SIZE elements of the last two dimensions of an array share a scale"),
    ULP_OPTION_AS(settings, hadamard_text, "hadamard", text, NULL, .value_name = "G[:SIGNS]",
                  .help = TOOL_HADAMARD_HELP),
    {.name = "from",
     .type = &tool_type_form,
     ULP_FIELD(settings, given),
     .value = "text",
     .words = "text npy[:F] npz[:F]",
     .help = "input: text has a number a line; npy is a .npy file of floats or signed integers, and npy:F of codes of "
             "the format F; npz is a .npz file, and FILE.npz:NAME names one array of several"},
    ULP_OPTION(settings, to, choice, "code", .words = "code value both npy npz",
               .help = "output: the codes of the scale and of the element in lower-case hex; the value, element * "
                       "scale * tensor scale in binary32, as %.17g, or nan, inf, -inf, -0; both: three columns; from "
                       "npy and npz: npy, a .npy file of the values, or npz, a .npz file of the codes"),
    ULP_OPTION(settings, out, text, "-", .value_name = "FILE",
               .help = "the file for npy and npz, - is stdout; an old file is replaced when all is done"),
    ULP_OPTION(
        settings, decode, flag, NULL,
        .help =
            "the inverse: lines of a scale code and an element code, as --to code prints them, to values; with --from "
            "npz --to npy the arrays that --to npz writes, to values"),
    ULP_OPTION(settings, list, flag, NULL,
               .help = "the block formats: element, scale, elements that share a scale, rule, source"),
    {0},
};

static ulp_status choose_tensor_scale(settings *s, ulp_error *error) {
    const char *text = s->tensor_scale_text;
    s->tensor_scale = 1.0f;
    s->whole = strcmp(text, "auto") == 0 || strcmp(text, "amax") == 0;
    if (s->whole && s->decode)
        return ulp_refuse(
            error,
            "--tensor-scale auto: codes do not hold the number; give --decode the one that encoding wrote to stderr");
    if (s->whole && s->block.scale.prec == 1)
        return ulp_refuse(error, "--tensor-scale auto: the scales of %s span binary32 without it; nvfp4 needs it",
                          s->block.name);
    if (s->whole) return ULP_OK;
    ulp_exact number;
    if (ulp_read_exact(&number, text, ULP_NUMBER_ALL))
        s->tensor_scale = (float)ulp_round_exact(number, &ulp_binary32, (ulp_rule){0}, 0);
    else s->tensor_scale = 0.0f;
    if (!(s->tensor_scale > 0.0f && s->tensor_scale <= FLT_MAX))
        return ulp_refuse(error, "--tensor-scale %s: must be auto or a number, positive and finite in binary32", text);
    return ULP_OK;
}

/* Whether an option is given that belongs to the encoding alone. */
static int encoding_given(const ulp_arguments *a) {
    static const char *const names[] = {"mode", "overflow", "bits", "seed", "stream"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ulp_setting_given(a, names[i])) return 1;
    return 0;
}

/* Refuse forms of input and output that do not go together. */
static ulp_status check_forms(const settings *s, const ulp_arguments *a, ulp_error *error) {
    if ((s->from == FROM_TEXT) != (s->to < TO_NPY))
        return ulp_refuse(error, s->from == FROM_TEXT ? "--to npy and --to npz go with --from npy or --from npz"
                                                      : "--from npy and --from npz go with --to npy or --to npz");
    if (s->from == FROM_TEXT && s->tiles)
        return ulp_refuse(error, "--tiles goes with --from npy and --from npz: lines are one row");
    if (s->from == FROM_TEXT && s->decode && s->hadamard_text != NULL)
        return ulp_refuse(error, "--hadamard: --decode inverts it for --from npz; lines are decoded one by one");
    if (s->from == FROM_TEXT && ulp_setting_given(a, "out"))
        return ulp_refuse(error, "--out goes with --to npy and --to npz; text goes to stdout");
    if (s->from != FROM_TEXT && a->word_count > 1)
        return ulp_refuse(error, "one array is converted; name one file, not %zu", a->word_count);
    if (s->decode && s->from != FROM_TEXT && (s->from != FROM_NPZ || s->to != TO_NPY))
        return ulp_refuse(error, "--decode takes --from npz and --to npy: codes to values");
    return ULP_OK;
}

/* Check the options, and set rule, tensor scale and stream. */
static ulp_status set_job(settings *s, const ulp_arguments *a, ulp_error *error) {
    if (!ulp_setting_given(a, "format"))
        return ulp_refuse(error, "--format is needed, mxfp4 for example; --list names all");
    if (s->decode && (encoding_given(a) || (s->from == FROM_TEXT && ulp_setting_given(a, "to"))))
        return ulp_refuse(error,
                          "--decode takes --format, --tensor-scale, --tiles and --hadamard only; it prints values");
    if (s->decode && s->from == FROM_TEXT) s->to = TO_VALUE;
    ULP_TRY(check_forms(s, a, error));
    ULP_TRY(tool_rule(&s->rule, &s->stream, &s->rounding, error));
    ULP_TRY(choose_tensor_scale(s, error));
    ULP_TRY(tool_hadamard_read(&s->hadamard, s->hadamard_text, s->stream.seed, s->decode, error));
    s->waits = s->whole || s->hadamard_text != NULL;
    if (ulp_element_check(&s->block.element, s->rule) == ULP_OK) return ULP_OK;
    return tool_refuse_wrap(s->rounding.overflow, s->block.name, error);
}

static ulp_status convert_arrays(const settings *s, const ulp_arguments *a, ulp_error *error) {
    block_arrays b = {.program = a->program,
                      .path = a->word_count > 0 ? a->words[0] : "-",
                      .codes = tool_form_codes(&s->given),
                      .out = s->out,
                      .block = &s->block,
                      .rule = s->rule,
                      .stream = s->stream,
                      .tensor_scale = s->tensor_scale,
                      .tiles = s->tiles,
                      .hadamard = s->hadamard,
                      .finds_tensor_scale = s->whole,
                      .is_tensor_scale_told = ulp_setting_given(a, "tensor-scale"),
                      .is_archive = s->from == FROM_NPZ,
                      .to_codes = s->to == TO_NPZ};
    return s->decode ? block_arrays_decode(&b, error) : block_arrays_encode(&b, error);
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    s->from = s->given.form;
    if (s->list && (ulp_setting_given(a, "format") || ulp_setting_given(a, "tensor-scale") || s->decode ||
                    encoding_given(a) || s->tiles || s->hadamard_text != NULL || ulp_setting_given(a, "from") ||
                    ulp_setting_given(a, "to") || ulp_setting_given(a, "out") || a->word_count))
        return ulp_refuse(error, "--list stands alone");
    if (s->list) return list_blocks(), ULP_OK;
    ULP_TRY(set_job(s, a, error));
    if (s->from != FROM_TEXT) return convert_arrays(s, a, error);
    if (!s->decode) return encode(s, a, error);
    return ulp_filter_lines(a, &(ulp_line_filter){.each = decode_line, .context = s}, error);
}

#define RULE_LINE(id, name, meaning) "  " name ": " meaning "\n"
#define RULE_LINES ULP_SCALE_RULES(RULE_LINE)

const tool_command tool_block = {
    .command =
        {.name = "ulp block",
         .usage = "--format B[:SIZE][:RULE] [--decode] [OPTION...] [FILE...]",
         .summary = "converts an array to a block-scaled format (MX, NVFP4), and back",
         .details =
             "`ulp quantize` has these formats too, and packed codes. The input is one array, a number a line: decimal "
             "or hex float of any length, an exact number, whose "
             "quotient by the scale is rounded once. Neighbours share a scale; the last block may be short. Line i "
             "of the output is element i. By default a finite value beyond the range becomes the largest one, "
             "and an infinite value becomes Inf, or NaN in an element without Inf. Where the element has no "
             "NaN, a NaN makes the scale NaN, and with it the whole block.\n\n"
             "RULE finds the scale from amax, the block's largest finite magnitude; max is the element's "
             "largest value, emax its exponent, p its significand bits:\n" RULE_LINES
             "nvfp4's scale is amax / max, rounded down by floor, to nearest by even, amax and up17, up by ceil and "
             "noclip; "
             "zeros and tiny numbers have its least scale, code 01. mse46 is Four Over Six: under the other of its two "
             "scales amax becomes 2/3 max, 4 of e2m1; its --tensor-scale auto is amax / (max * 256). te is Transformer "
             "Engine's and torchao's scale, to "
             "nearest without this limit: code 00. block:ELEMENT,SIZE,SCALE is a block format of any formats of up to "
             "8 bits: block:e2m1,16,e4m3:te.\n\n"
             "Reads stdin when no file is given; '#' lines and blank lines are skipped. The first bad line ends "
             "it with exit 2; nothing is printed of its block, and under --tensor-scale auto nothing at all.\n\n"
             "An array of a .npy or .npz file keeps its shape; blocks lie along its last dimension and end with "
             "it. The number of element i, for random words, is its place in C order. Codes are the arrays "
             "`elements` and `scales` of a .npz file, one byte a code, and `tensor_scale`, where the format has "
             "one or --tensor-scale is given.\n\n"
             "  ulp block --format nvfp4 --tensor-scale auto --from npy --to npz \\\n"
             "      --out codes.npz w.npy\n"
             "  ulp block --format nvfp4 --decode --from npz --to npy codes.npz >w4.npy\n\n"
             "  printf '0.7\\n' | ulp block --format mxfp4 --to both\n"
             "  7c 7 0.75   # scale 2^-3, element 6\n",
         .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"input and output", options, 0}, TOOL_ROUNDING(settings, rounding)},
    .run = run};

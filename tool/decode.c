/* decode.c - ulp decode: the values of codes of a format. */
#include "tool.h"

#include "tool/files/array.h"

typedef struct settings {
    ulp_format format;
    int to; /* tool_result_form */
    const char *file;
} settings;

static const ulp_option options[] = {
    ULP_OPTION(settings, format, format, NULL, .needed = 1, .help = "the format of the codes"),
    ULP_OPTION(settings, to, choice, "exact", .words = TOOL_RESULT_FORMS, .help = "output: " TOOL_RESULT_HELP),
    ULP_OPTION(settings, file, text, NULL, .value_name = "FILE",
               .help = "the codes are in FILE: a .npy file of integers of 1, 2, 4 or 8 bytes, FILE.npz or "
                       "FILE.npz:NAME, in C order, or lines; - is stdin, with lines"),
    {0},
};

static ulp_status refuse_code(const char *text, const ulp_format *f, ulp_error *error) {
    return ulp_refuse(error, "'%s' is no code of %s: %d bits in hex", text, f->name, f->bits);
}

static void print(uint64_t code, const settings *s) {
    tool_print_result(stdout, code, &s->format, s->to);
    putchar('\n');
}

static ulp_status decode_line(void *context, const ulp_line *line, ulp_error *error) {
    const settings *s = context;
    uint64_t code;
    char *at = line->text, *word;
    ULP_TRY(ulp_refuse_empty_field(error, line, line->text));
    while ((word = ulp_line_word(&at)) != NULL) {
        if (!ulp_read_hex(&code, word, s->format.bits))
            return ulp_bad_line(error, line, "'%s' is no code of %s: %d bits in hex", word, s->format.name,
                                s->format.bits);
        print(code, s);
    }
    return ULP_OK;
}

/* An integer of this width with the name of the format: the codes of an array are read as such integers, since the
 * value of a NaN does not say which NaN it is. Formats of more than 53 bits are read as values; their NaN codes are
 * one. */
static ulp_format code_format(const ulp_format *f) {
    ulp_format codes = *f;
    if (f->bits > ULP_FIXED_MOST) return codes;
    codes = (ulp_format){.bits = f->bits, .is_fixed = 1};
    ulp_format_init(&codes);
    strcpy(codes.name, f->name);
    return codes;
}

static ulp_status decode_array(const settings *s, const char *program, ulp_error *error) {
    file_array a;
    const ulp_format codes = code_format(&s->format);
    ulp_status status = file_array_read(&a, program, s->file, NPY_NUMBERS, &codes, error);
    const double *const value = a.elements;
    for (uint64_t i = 0; status == ULP_OK && i < a.header.count; i++) {
        uint64_t code = s->format.nan_code;
        if (codes.bits <= ULP_FIXED_MOST) code = (uint64_t)value[i];
        else (void)ulp_encode(&code, value[i], &s->format);
        print(code, s);
    }
    file_array_free(&a);
    return status;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    const size_t length = s->file != NULL ? strlen(s->file) : 0;
    const int is_array =
        s->file != NULL && (npz_is_named(s->file) || (length > 4 && strcmp(s->file + length - 4, ".npy") == 0));
    uint64_t code;
    if (s->file != NULL && a->word_count > 0)
        return ulp_refuse(error, "--file %s: the codes are in the file, or they are arguments", s->file);
    for (size_t i = 0; i < a->word_count; i++)
        if (!ulp_read_hex(&code, a->words[i], s->format.bits)) return refuse_code(a->words[i], &s->format, error);
    for (size_t i = 0; i < a->word_count; i++) {
        ulp_read_hex(&code, a->words[i], s->format.bits);
        print(code, s);
    }
    if (a->word_count > 0) return ULP_OK;
    if (is_array) return decode_array(s, a->program, error);
    const ulp_arguments files = {
        .command = a->command, .program = a->program, .words = &s->file, .word_count = s->file != NULL};
    return ulp_filter_lines(&files, &(ulp_line_filter){.each = decode_line, .context = s}, error);
}

const tool_command tool_decode = {
    .command = {.name = "ulp decode",
                .usage = "--format F [OPTION...] [CODE...]",
                .summary = "prints the values of codes",
                .details = "A CODE is hex digits with or without 0x. Without a CODE and --file, lines of codes come on "
                           "stdin. Arrays become arrays by `ulp round --from npy:F --format F --to npy`.\n\n"
                           "  ulp decode --format e4m3 7e 01\n"
                           "  448\n"
                           "  0.001953125\n",
                .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};

/* dot.c - ulp dot: a filter that forms sums of products of codes under a datapath. */
#include "kernels/cpu/native/native.h"
#include "dot.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    tool_product product;
    ulp_datapath datapath; /* of the product */
    ulp_cpu_native native; /* of a datapath of kind NATIVE */
    ulp_format a, b;       /* of the operands */
    ulp_format in;
    dot_files files;
    uint64_t seed, stream;
    int form;           /* tool_result_form */
    const char **words; /* (room) the words of the line */
    size_t room;
} settings;

#define DOT_FILE(field, name_, help_)                                                                                  \
    { .name = name_, .type = &ulp_type_text, ULP_FIELD(settings, field), .value_name = "FILE", .help = help_ }

static const ulp_option options[] = {
    {.name = "datapath",
     .type = &tool_type_product,
     ULP_FIELD(settings, product),
     .needed = 1,
     .help = "how the sum is formed"},
    ULP_OPTION(settings, in, format, NULL,
               .help = "the format of a and b; datapaths with input formats imply it; the accumulator's unless given"),
    DOT_FILE(files.a, "a", "a (k) or (..., k), a .npy file, FILE.npz or FILE.npz:NAME; with --b, in place of lines"),
    DOT_FILE(files.b, "b", "b, of the shape of a"),
    DOT_FILE(files.c, "c", "c, a number for each row of a, of the result's format; +0 unless given"),
    ULP_OPTION_AS(settings, files.a_codes, "a-format", format, NULL,
                  .help = "the file of --a holds codes of this format, unsigned integers of 1, 2, 4 or 8 bytes"),
    ULP_OPTION_AS(settings, files.b_codes, "b-format", format, NULL, .help = "the same for --b"),
    ULP_OPTION_AS(settings, files.c_codes, "c-format", format, NULL, .help = "the same for --c"),
    ULP_OPTION(settings, seed, unsigned, "1",
               .help = "stochastic: a sum with w roundings uses w random words; data line or row i begins at word i w"),
    ULP_OPTION(settings, stream, unsigned, "0", .help = "see --seed"),
    ULP_OPTION_AS(settings, form, "to", choice, "code", .words = TOOL_RESULT_FORMS,
                  .help = "output: " TOOL_RESULT_HELP),
    {0},
};

/* Split `text` into s->words; *n gets the number of words. */
static ulp_status split_words(settings *s, const ulp_line *line, char *text, size_t *n, ulp_error *error) {
    char *word;
    ULP_TRY(ulp_refuse_empty_field(error, line, text));
    for (*n = 0; (word = ulp_line_word(&text)) != NULL; s->words[(*n)++] = word) {
        if (*n < s->room) continue;
        s->room = s->room == 0 ? 64 : 2 * s->room;
        const char **more = realloc(s->words, s->room * sizeof *more);
        if (more == NULL) return ulp_no_line_memory(error, line, "");
        s->words = more;
    }
    return ULP_OK;
}

static ulp_status read_value(double *value, const ulp_line *line, const char *word, const ulp_format *f,
                             const char *what, ulp_error *error) {
    uint64_t code;
    if (!ulp_read_hex(&code, word, f->bits))
        return ulp_bad_line(error, line, "%s: '%s' is no code of %s: %d bits in hex", what, word, f->name, f->bits);
    *value = ulp_decode(code, f);
    return ULP_OK;
}

/* End the text at the next '/'. Returns the part after the '/', or NULL if there is none. */
static char *cut(char *text) {
    char *slash = text != NULL ? strchr(text, '/') : NULL;
    if (slash == NULL) return NULL;
    *slash = '\0';
    return slash + 1;
}

/* The parts of a line. */
typedef struct sum {
    char *a_scales, *b_scales; /* the texts of the scales, or NULL */
    size_t k, blocks;
    double *values; /* (1 + 2 k) c, a and b; then (2 blocks) the scales */
} sum;

static ulp_status read_scales(settings *s, const ulp_line *line, const sum *t, char *text, double *to, const char *what,
                              ulp_error *error) {
    size_t words;
    ULP_TRY(split_words(s, line, text, &words, error));
    if (words != t->blocks)
        return ulp_bad_line(error, line, "%s: one for each %d products, here %zu; the line has %zu", what,
                            s->datapath.scale_block, t->blocks, words);
    for (size_t i = 0; i < t->blocks; i++)
        ULP_TRY(read_value(&to[i], line, s->words[i], &s->datapath.scale, what, error));
    return ULP_OK;
}

static ulp_status read_sum(settings *s, const ulp_line *line, sum *t, ulp_error *error) {
    const ulp_datapath *d = &s->datapath;
    size_t n;
    t->a_scales = cut(line->text);
    t->b_scales = cut(t->a_scales);
    ULP_TRY(split_words(s, line, line->text, &n, error));
    if (n % 2 == 0)
        return ulp_bad_line(error, line,
                            "the line has %zu codes; needed is an odd number: c, k codes of a and k codes of b", n);
    if (t->a_scales != NULL && d->scale_block == 0)
        return ulp_bad_line(error, line, "%s has no block scales: nothing may follow a '/'", d->name);
    if (t->a_scales != NULL && t->b_scales == NULL)
        return ulp_bad_line(error, line, "scales are given for a and for b: '/ sa1 ... / sb1 ...'");
    t->k = n / 2;
    t->blocks = d->scale_block != 0 ? (t->k + d->scale_block - 1) / d->scale_block : 0;
    t->values = malloc((n + 2 * t->blocks) * sizeof *t->values);
    if (t->values == NULL) return ulp_no_line_memory(error, line, "");
    for (size_t i = 0; i < n; i++)
        ULP_TRY(read_value(&t->values[i], line, s->words[i], i == 0 ? &d->result : (i <= t->k ? &s->a : &s->b),
                           i == 0 ? "c" : (i <= t->k ? "a" : "b"), error));
    if (t->a_scales == NULL) return ULP_OK;
    ULP_TRY(read_scales(s, line, t, t->a_scales, t->values + n, "scales of a", error));
    return read_scales(s, line, t, t->b_scales, t->values + n + t->blocks, "scales of b", error);
}

/* Prints the sum number `index`. *encoded is the status of its code. */
static void print_sum(const settings *s, double c, ulp_products products, uint64_t index, ulp_status *encoded) {
    const ulp_datapath *const d = &s->datapath;
    const ulp_stream stream = {s->seed, s->stream, index * ulp_datapath_words(d, products.k)};
    uint64_t code;
    if (d->kind == ULP_NATIVE) {
        const ulp_unit unit = ulp_cpu_native_unit(&s->native);
        *encoded = unit.dot(unit.context, &code, c, products);
    } else {
        *encoded = ulp_datapath_code(&code, ulp_dot(d, c, products, stream), d);
    }
    if (*encoded != ULP_OK) return;
    tool_print_result(stdout, code, &d->result, s->form);
    putchar('\n');
}

static ulp_status dot_line(void *context, const ulp_line *line, ulp_error *error) {
    settings *s = context;
    sum t = {0};
    ulp_status status = read_sum(s, line, &t, error), encoded = ULP_OK;
    if (status == ULP_OK) {
        double *a = t.values + 1, *b = a + t.k, *scales = b + t.k;
        ulp_products products = {a, b, t.k, NULL, NULL};
        if (t.a_scales != NULL) products.a_scales = scales, products.b_scales = scales + t.blocks;
        print_sum(s, t.values[0], products, line->index, &encoded);
    }
    free(t.values);
    if (encoded != ULP_OK)
        return ulp_bad_line(error, line, "the result has no code in %s: %s", s->datapath.result.name,
                            ulp_status_text(encoded));
    return status;
}

/* The sums of arrays. */
static ulp_status dot_rows(const settings *s, const char *program, int rounds, ulp_error *error) {
    dot_arrays x;
    ulp_status encoded = ULP_OK;
    ulp_status status = dot_files_read(&x, &s->files, program, &s->a, &s->b, &s->datapath.result, rounds, error);
    for (size_t i = 0; i < x.rows && status == ULP_OK; i++) {
        const ulp_products products = {x.a + i * x.k, x.b + i * x.k, x.k, NULL, NULL};
        print_sum(s, x.c != NULL ? x.c[i] : 0.0, products, i, &encoded);
        if (encoded != ULP_OK)
            status = ulp_refuse(error, "row %zu: the result has no code in %s: %s", i, s->datapath.result.name,
                                ulp_status_text(encoded));
    }
    dot_arrays_release(&x);
    return status;
}

ulp_status tool_choose_inputs(ulp_format *a, ulp_format *b, const ulp_datapath *d, const ulp_format *in,
                              ulp_error *error) {
    if (in == NULL) {
        *a = d->has_inputs ? d->a : d->accumulator;
        *b = d->has_inputs ? d->b : d->accumulator;
        return ULP_OK;
    }
    if (d->has_inputs && (strcmp(in->name, d->a.name) != 0 || strcmp(in->name, d->b.name) != 0))
        return ulp_refuse(error, "--in %s: %s takes a in %s and b in %s", in->name, d->name, d->a.name, d->b.name);
    *a = *b = *in;
    return ULP_OK;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    const ulp_format *in = ulp_setting_given(a, "in") ? &s->in : NULL;
    ULP_TRY(tool_product_resolve(&s->product, NULL, error));
    s->datapath = s->product.datapath;
    if (s->datapath.kind == ULP_NATIVE) ulp_cpu_native_of(&s->native, &s->datapath);
    ULP_TRY(tool_choose_inputs(&s->a, &s->b, &s->datapath, in, error));
    ULP_TRY(dot_files_check(&s->files, a, error));
    if (s->files.a != NULL) return dot_rows(s, a->program, in != NULL, error);
    const ulp_line_filter filter = {.each = dot_line, .context = s};
    const ulp_status status = ulp_filter_lines(a, &filter, error);
    free(s->words);
    s->words = NULL;
    s->room = 0;
    return status;
}

const tool_command tool_dot = {
    .command = {.name = "ulp dot",
                .usage = "--datapath D [OPTION...] [FILE...]",
                .summary = "forms sums of products under a datapath",
                .details =
                    "Each line: c a1 ... ak b1 ... bk, codes in hex, two's complement for integers. Prints the code of "
                    "c + a1 b1 + ... + ak bk as the datapath forms it. c and the result are of the accumulator's "
                    "format (binary32 under promote=). Datapaths with input formats take a and b in these (int8, "
                    "Tensor Cores; a and b may differ: h100-e4m3.e5m2). Block scales follow the codes, one of a and "
                    "one of b for each block of products (b200-e4m3-mx: 32): c a1 ... bk / sa1 ... / sb1 ...; without "
                    "them they are ones.\n\n"
                    "With --a and --b the operands are arrays, and the sums run over the last dimension: a line for "
                    "each row. An element that the format does not hold is refused; --in rounds it to nearest even. "
                    "Block scales are ones.\n\n"
                    "  printf '00000000 3c00 bc00 0001 3c00 3c00 0004\\n' |\n"
                    "      ulp dot --datapath h100-fp16\n"
                    "  00000000   # 1 - 1 + 2^-46: the last term is lost\n",
                .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};

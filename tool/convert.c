/* convert.c - ulp convert: a filter that converts numbers as an instruction of a machine does, with its random bits. */
#include "tool.h"

#include <string.h>

#include "formats/conversion.h"

typedef struct settings {
    const char *by;
    int list;
    const ulp_conversion *conversion;
    ulp_format from, to;
} settings;

static const ulp_option options[] = {
    ULP_OPTION(settings, by, text, "", .value_name = "NAME", .help = "the conversion; --list names them"),
    ULP_OPTION(settings, list, flag, NULL, .help = "list the conversions"),
    {0},
};

static void list(void) {
    const ulp_conversion *c;
    printf("%-30s %-9s %-9s %6s %11s  %-5s %s\n", "name", "from", "to", "values", "random bits", "mode", "overflow");
    for (size_t i = 0; (c = ulp_conversion_get(i)) != NULL; i++) {
        char bits[24] = "none";
        if (c->bits != 0) snprintf(bits, sizeof bits, "%u of %u", c->bits, c->word_bits);
        printf("%-30s %-9s %-9s %6u %11s  %-5s %s\n", c->name, c->from, c->to, c->values, bits,
               ulp_mode_name((ulp_mode)c->mode), ulp_overflow_name((ulp_overflow)c->overflow));
    }
}

/* Set the conversion and its formats. */
static ulp_status choose(settings *s, ulp_error *error) {
    if (s->by[0] == '\0') return ulp_refuse(error, "--by NAME is needed (--list names the conversions)");
    s->conversion = ulp_conversion_find(s->by);
    if (s->conversion == NULL) {
        ulp_text names = {0};
        const ulp_conversion *c;
        for (size_t i = 0; (c = ulp_conversion_get(i)) != NULL; i++)
            ulp_text_print(&names, "%s%s", i == 0 ? "" : " ", c->name);
        const ulp_status status = ulp_refuse(error, "--by: no conversion '%s'%s (--list names the conversions)", s->by,
                                             ulp_guess_of(s->by, ulp_text_of(&names), 1, "", "").text);
        ulp_text_free(&names);
        return status;
    }
    ulp_format_parse(&s->from, s->conversion->from);
    ulp_format_parse(&s->to, s->conversion->to);
    return ULP_OK;
}

static ulp_status convert_line(void *context, const ulp_line *line, ulp_error *error) {
    const settings *s = context;
    const ulp_conversion *c = s->conversion;
    uint64_t random = 0;
    double x[ULP_CONVERSION_VALUES];
    uint32_t n = 0;
    char *at = line->text, *text;
    ULP_TRY(ulp_refuse_empty_field(error, line, line->text));
    if (c->bits != 0 && ((text = ulp_line_word(&at)) == NULL || !ulp_read_hex(&random, text, c->word_bits)))
        return ulp_bad_line(error, line, "'%s' is no random word of %s: %u bits in hex", text == NULL ? "" : text,
                            c->name, c->word_bits);
    for (; (text = ulp_line_word(&at)) != NULL; n++) {
        uint64_t code;
        ulp_exact exact;
        if (n == c->values) return ulp_bad_line(error, line, "%s takes %u values at most", c->name, c->values);
        if (!ulp_read_exact(&exact, text, ULP_NUMBER_ALL)) return ulp_bad_number(error, line, text);
        x[n] = ulp_exact_to_odd(exact);
        if (!ulp_exact_is(exact, x[n]) || ulp_encode(&code, x[n], &s->from) != ULP_OK)
            return ulp_bad_line(error, line, "'%s' is no number of %s, which %s takes", text, s->from.name, c->name);
    }
    if (n == 0) return ulp_bad_line(error, line, "no value follows the random word");
    for (uint32_t v = 0; v < n; v++) {
        if (v > 0) putchar(' ');
        ULP_TRY(tool_print_encoded(line, ulp_convert(c, v, x[v], (uint32_t)random, &s->to), &s->to, TOOL_CODE, error));
    }
    putchar('\n');
    return ULP_OK;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    if (s->list) return list(), ULP_OK;
    ULP_TRY(choose(s, error));
    return ulp_filter_lines(a, &(ulp_line_filter){.each = convert_line, .context = s}, error);
}

const tool_command tool_convert = {
    .command = {.name = "ulp convert",
                .usage = "--by NAME [FILE...] | --list",
                .summary = "converts numbers as an instruction of a machine does, with its random bits",
                .details =
                    "Each line: the random word in hex, if the conversion has one, then one value or more, decimal or "
                    "hex floats that the conversion's input format holds. Prints the codes of the results.\n\n"
                    "cvt.rs is stochastic rounding of NVIDIA's Blackwell (PTX ISA 9.0), with a word of 32 bits. The "
                    "text does not say whether the two values of a pair share 16 bits (:shared) or get 8 bits each "
                    "(:split). vcvtbiasph2bf8 and vcvtbiasph2hf8 add a word of 8 bits (Intel AVX10.2); the names "
                    "with an s at the end saturate. The program hardware_sr counts their biases and variances.\n\n"
                    "  printf '10000000 0x1.002p0 0x1.002p0\\n' | ulp convert --by cvt.rs.f16x2\n"
                    "  3c01 3c00   # 1 + 2^-11 with the words 4096 and 0 of 8192\n",
                .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"the conversion", options, 0}},
    .run = run};

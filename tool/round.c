/* round.c - ulp round: a filter that rounds numbers to a format. */
#include "tool/round/job.h"

#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_OPTION_AS(
        round_job, target.format, "format", format, NULL, .needed = 1,
        .help =
            "the format to round to; qI.F is fixed point of I + F bits, I counts the sign (ARM writes q8.8 as Q7.8)"),
    {.name = "from",
     .type = &tool_type_form,
     ULP_FIELD(round_job, given),
     .value = "text",
     .words = "text f32 f64 code:F f32le f64le codele:F npy[:F] npz[:F]",
     .help = "input: text is a decimal or hex float of any length, an exact number that is rounded once; f32 and f64 "
             "are 8 or 16 hex digits, the bits of a binary32 or binary64 value; code:F is a code of the format F in "
             "hex; f32le, f64le and codele:F are such values and codes in 1, 2, 4 or 8 bytes each, the lowest byte "
             "first; npy is a .npy file of floats or signed integers, and npy:F of codes; npz is a .npz file of such "
             "arrays, and FILE.npz:NAME is one of them"},
    ULP_OPTION(round_job, to, choice, "code", .words = "code value both f32le f64le codele npy npycode npz npzcode",
               .help = "output: the code in lower-case hex; the value as %.17g, or nan, inf, -inf, -0; f32le and "
                       "f64le: values of 4 or 8 bytes; codele: codes as unsigned integers of 1, 2, 4 or 8 bytes, the "
                       "least that hold the bits of the format, the lowest byte first; npy and npycode: a .npy file of "
                       "values or of codes; npz and npzcode: a .npz file of such arrays"),
    ULP_OPTION(round_job, out, text, "-", .value_name = "FILE",
               .help = "the file for the output, - is stdout; an old file is replaced when all is done"),
    {0},
};

/* ---- groups of numbers of lines ---- */

static ulp_status refuse_result(const round_job *j, size_t i, ulp_error *error) {
    tool_refuse_result(j->y[i], &j->target.format, error);
    return ulp_fail_within(error, ULP_BAD_ARGUMENT, "%s:%lu", j->input, j->line[i]);
}

/* Round and write the numbers of the group. */
static ulp_status finish(void *context, ulp_error *error) {
    round_job *j = context;
    const size_t n = j->n;
    if (n == 0) return ULP_OK;
    if (!j->is_rounded) ulp_backend_round64(j->backend, j->y, j->x, n, round_how(j));
    const size_t written = round_write(j);
    if (written < n) return refuse_result(j, written, error);
    return ferror(j->file) ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
}

/* ---- lines of any form ---- */

/* Add number n of the group. An exact number is rounded at once if no binary64 value rounds like it. */
static inline void add_exact(round_job *j, size_t n, ulp_exact x) {
    if (!j->is_rounded) j->x[n] = ulp_exact_to_odd(x);
    else
        j->y[n] = ulp_round_exact(x, &j->target.format, j->target.rule,
                                  j->is_random ? ulp_random_word(j->target.stream, j->index + n) : 0);
}

static int take_value(round_job *j, size_t n, const char *text) {
    uint64_t bits;
    ulp_exact x;
    const int from = j->from;
    if (from == FROM_TEXT) {
        if (!ulp_read_exact(&x, text, j->modulo)) return 0;
        add_exact(j, n, x);
        return 1;
    }
    if (from == FROM_CODE) {
        if (!ulp_read_hex(&bits, text, j->given.codes.bits)) return 0;
        j->x[n] = ulp_decode(bits, &j->given.codes);
        return 1;
    }
    const size_t digits = from == FROM_F32 ? 8 : 16;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) text += 2;
    if (strlen(text) != digits || strchr("xX", text[1]) != NULL || !ulp_read_hex(&bits, text, 64)) return 0;
    j->x[n] = from == FROM_F32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
    return 1;
}

static ulp_status refuse_line(const round_job *j, const ulp_line *line, ulp_error *error) {
    const int from = j->from;
    if (from == FROM_TEXT) return ulp_bad_number(error, line, line->text);
    if (from == FROM_CODE)
        return ulp_bad_line(error, line, "'%s' is no code of %s: %d bits in hex", line->text, j->given.codes.name,
                            j->given.codes.bits);
    return ulp_bad_line(error, line, "'%s' is not %d hex digits, the bits of a binary%d value", line->text,
                        from == FROM_F32 ? 8 : 16, from == FROM_F32 ? 32 : 64);
}

static ulp_status take_line(void *context, const ulp_line *line, ulp_error *error) {
    round_job *j = context;
    if (j->n == ROUND_GROUP) ULP_TRY(finish(j, error));
    if (!take_value(j, j->n, line->text)) {
        ULP_TRY(finish(j, error));
        return refuse_line(j, line, error);
    }
    j->input = line->file;
    j->line[j->n++] = line->number;
    return ULP_OK;
}

/* ---- plain lines: a decimal number, or the hex digits, and a line break ---- */

/* Read `digits` hex digits. Returns 0 if a character is none. */
static inline int read_hex(uint64_t *bits, const char *text, int digits) {
    uint64_t value = 0;
    unsigned bad = 0;
    for (int i = 0; i < digits; i++) {
        const unsigned c = (unsigned char)text[i], letter = (c | 0x20) - 'a', digit = c - '0';
        bad |= (digit > 9) & (letter > 5);
        value = value << 4 | (digit > 9 ? letter + 10 : digit);
    }
    *bits = value;
    return bad == 0;
}

/* Read number n of the form `from`, with at least `room` characters left. Returns the character after it; NULL if the
 * text has another form. */
static inline const char *read_plain(round_job *j, size_t n, const char *text, size_t room, int from,
                                     const ulp_power_of_ten *powers) {
    uint64_t bits;
    ulp_exact x;
    const int digits = from == FROM_F32 ? 8 : from == FROM_F64 ? 16 : (j->given.codes.bits + 3) / 4;
    if (from == FROM_TEXT) {
        const char *const after = ulp_decimal_read(&x, text, powers);
        if (after == NULL || (x.kind == ULP_EXACT_FINITE && x.exp + 128 > j->modulo)) return NULL;
        add_exact(j, n, x);
        return after;
    }
    if (room < (size_t)digits || !read_hex(&bits, text, digits)) return NULL;
    if (from == FROM_CODE && j->given.codes.bits < 64 && bits >> j->given.codes.bits != 0) return NULL;
    if (from == FROM_CODE) {
        j->x[n] = j->reader.values != NULL ? j->reader.values[bits] : ulp_decode(bits, &j->given.codes);
        return text + digits;
    }
    j->x[n] = from == FROM_F32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
    return text + digits;
}

static inline ulp_status take_plain_of(round_job *j, const char **text, const char *end, ulp_line *line, int from,
                                       ulp_error *error) {
    const ulp_power_of_ten *const powers = from == FROM_TEXT ? ulp_powers_of_ten() : NULL;
    const char *at = *text;
    j->input = line->file;
    while (at < end) {
        size_t n = j->n;
        const size_t before = n;
        for (const char *after; n < ROUND_GROUP && at < end; at = after, n++) {
            after = read_plain(j, n, at, (size_t)(end - at), from, powers);
            if (after == NULL) break;
            after += *after == '\r';
            if (*after++ != '\n') break;
            j->line[n] = line->number + n - before;
        }
        j->n = n;
        line->number += n - before;
        line->index += n - before;
        if (n < ROUND_GROUP) break;
        ULP_TRY(finish(j, error));
    }
    *text = at;
    return ULP_OK;
}

static ulp_status take_plain(void *context, const char **text, const char *end, ulp_line *line, ulp_error *error) {
    round_job *j = context;
    switch (j->from) { /* a loop for each form */
    case FROM_F32: return take_plain_of(j, text, end, line, FROM_F32, error);
    case FROM_F64: return take_plain_of(j, text, end, line, FROM_F64, error);
    case FROM_CODE: return take_plain_of(j, text, end, line, FROM_CODE, error);
    default: return take_plain_of(j, text, end, line, FROM_TEXT, error);
    }
}

/* ---- the command ---- */

static ulp_status run(void *settings, const ulp_arguments *a, ulp_error *error) {
    round_job *j = settings;
    const ulp_line_filter lines = {.each = take_line, .plain = take_plain, .pause = finish, .context = j};
    const int bits = j->target.format.bits;
    j->from = j->given.form;
    ULP_TRY(tool_target_set(&j->target, error));
    j->is_random = ulp_mode_is_stochastic(j->target.rule.mode);
    j->modulo = ulp_number_modulo(&j->target.format, j->target.rule);
    j->is_rounded = j->from == FROM_TEXT && !ulp_odd_suffices(&j->target.format, j->target.rule);
    if (ulp_backend_get(&j->backend, "cpu") != ULP_OK)
        return ulp_fail(error, ULP_BAD_FILE, "%s", ulp_backend_lacks("cpu"));
    /* The values of a small format have few texts. Without memory for a table each value is printed. */
    if ((j->to == TO_VALUE || j->to == TO_BOTH) && bits <= 16) j->texts = calloc((size_t)1 << bits, sizeof *j->texts);
    if (j->from == FROM_CODE && !file_reader_open(&j->reader, 'c', 8, &j->given.codes))
        return ulp_fail(error, ULP_NO_MEMORY, "out of memory for the values of %s", j->given.codes.name);
    j->file = stdout;
    const int is_text = j->to < TO_F32LE && strcmp(j->out, "-") == 0;
    ulp_status status = is_text ? ULP_OK : round_open(j, a, error);
    if (status == ULP_OK && j->from < FROM_F32LE) status = ulp_filter_lines(a, &lines, error);
    else if (status == ULP_OK) status = round_binaries(j, a, error);
    free(j->texts);
    file_reader_close(&j->reader);
    return is_text ? status : round_close(j, status, error);
}

const tool_command tool_round = {
    .command = {.name = "ulp round",
                .usage = "--format F [OPTION...] [FILE...]",
                .summary = "rounds numbers, one a line or binary, to a format",
                .details = "Reads stdin when no file is given; '#' lines and blank lines of text are skipped. The "
                           "first bad line ends it with exit 2, and so does a file that ends inside a value.\n\n"
                           "A .npy file keeps its shape and order. The number of element i, for random words, is its "
                           "place in the file. Its values are <f4, or <f8 where binary32 does not hold the format; "
                           "they keep the <f2 or <f8 of the input where it holds the format. Lines of text and plain "
                           "bytes become an array of one dimension, which needs --out.\n\n"
                           "A .npz file, stored or compressed, to a .npz file: each array keeps its name, or the array "
                           "that FILE.npz:NAME names; elements are counted through all arrays that are read. Other "
                           "output takes one array. Other input becomes the array arr_0.\n\n"
                           "  printf '0.01\\n' | ulp round --format fp16 --to both\n"
                           "  211f 0.01000213623046875\n",
                .takes_words = 1},
    .size = sizeof(round_job),
    .groups = {{"input and output", options, 0}, TOOL_ROUNDING(round_job, target.options)},
    .run = run};

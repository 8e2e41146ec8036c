/* lines.c - ulp quantize: lines of numbers to codes and values, and lines of codes to values; see job.h. */
#include <stdlib.h>
#include <string.h>

#include "job.h"

typedef struct lines {
    quantize_job *job;
    tool_numbers numbers; /* of a text */
} lines;

/* ---- text to codes ---- */

static ulp_status read_line(void *context, const ulp_line *line, ulp_error *error) {
    lines *s = context;
    return tool_numbers_add(&s->numbers, line, error);
}

static uint64_t scale_code(double scale, const ulp_format *f) {
    uint64_t code = f->nan_code;
    if (scale == scale) (void)ulp_encode(&code, scale, f);
    return code;
}

static void print_codes(const lines *s, const quantize_codes *c, size_t group, size_t i) {
    const ulp_quantizer *const q = &s->job->quantizer;
    tool_print_code(stdout, scale_code(c->array.scales[group], &q->block.scale), &q->block.scale);
    printf(" %0*x", (q->bits + 3) / 4, (unsigned)c->array.codes[i]);
    if (q->has_zero_point) printf(" %d", (int)c->array.zero_points[group]);
}

/* Print the lines of a vector. */
static ulp_status print_lines(const lines *s, const quantize_codes *c, ulp_error *error) {
    const ulp_tiling *const t = &c->array.tiling;
    const size_t size = t->shape[1] > 1 ? 1 : t->tile[2]; /* channels of a vector are single elements */
    float *const y = s->numbers.n < SIZE_MAX / sizeof *y ? malloc(s->numbers.n * sizeof *y + 1) : NULL;
    if (y == NULL) return ulp_fail(error, ULP_NO_MEMORY, "out of memory for the values");
    ulp_dequantize(y, &c->array);
    for (size_t i = 0; i < s->numbers.n; i++) {
        if (s->job->prints_codes) print_codes(s, c, i / size, i);
        if (s->job->prints_codes && s->job->prints_values) putchar(' ');
        if (s->job->prints_values) tool_print_value(stdout, (double)y[i]);
        putchar('\n');
    }
    free(y);
    return ULP_OK;
}

/* The blocks of GGUF of a vector: the bytes of a block in hex, or values. */
static ulp_status print_ggml(lines *s, ulp_error *error) {
    const ulp_ggml type = s->job->ggml;
    const size_t size = ulp_ggml_bytes(type);
    uint8_t bytes[64];
    float x[ULP_GGML_SIZE];
    if (s->numbers.n % ULP_GGML_SIZE != 0)
        return ulp_refuse(error, "%zu numbers are no multiple of 32, the block of GGUF", s->numbers.n);
    for (size_t at = 0; at < s->numbers.n; at += ULP_GGML_SIZE) {
        for (size_t i = 0; i < ULP_GGML_SIZE; i++)
            x[i] = (float)ulp_round_exact(s->numbers.x[at + i], &ulp_binary32, (ulp_rule){ULP_RNE, ULP_OVERFLOW_INF, 0},
                                          0);
        if (ulp_ggml_encode(bytes, NULL, x, 1, type) != ULP_OK)
            return ulp_refuse(error,
                              "the block from number %zu, counted from 0, has a number that is not finite, or a scale "
                              "beyond binary16 or without a reciprocal in binary32",
                              at);
        ulp_ggml_decode(x, bytes, 1, type);
        for (size_t i = 0; i < size && s->job->prints_codes; i++) printf("%02x", bytes[i]);
        if (s->job->prints_codes) putchar('\n');
        for (size_t i = 0; i < ULP_GGML_SIZE && s->job->prints_values; i++) {
            tool_print_value(stdout, (double)x[i]);
            putchar('\n');
        }
    }
    return ULP_OK;
}

ulp_status quantize_lines(quantize_job *j, const ulp_arguments *a, ulp_error *error) {
    quantize_codes c = {0};
    lines s = {.job = j};
    ulp_status status = ulp_filter_lines(a, &(ulp_line_filter){.each = read_line, .context = &s}, error);
    if (status == ULP_OK && j->ggml < ULP_GGML_COUNT) status = print_ggml(&s, error);
    else if (status == ULP_OK) {
        const npy_array shape = {.dims = 1, .shape = {s.numbers.n}, .count = s.numbers.n};
        status = quantize_prepare(&c, j, &shape, "the vector", error);
        if (status == ULP_OK) status = tool_hadamard_exact(&j->hadamard, s.numbers.x, s.numbers.n, "the vector", error);
        if (status == ULP_OK) status = quantize_fill(&c, j, NULL, s.numbers.x, error);
        if (status == ULP_OK) status = print_lines(&s, &c, error);
        quantize_release(&c);
    }
    free(s.numbers.x);
    return status;
}

/* ---- lines of codes to values ---- */

static ulp_status decode_ggml(lines *s, const ulp_line *line, ulp_error *error) {
    const size_t size = ulp_ggml_bytes(s->job->ggml);
    uint8_t bytes[64];
    float y[ULP_GGML_SIZE];
    if (strlen(line->text) != 2 * size || strspn(line->text, "0123456789abcdefABCDEF") != 2 * size)
        return ulp_bad_line(error, line, "'%.80s' is no block of %s: %zu hex digits", line->text, s->job->name,
                            2 * size);
    for (size_t i = 0; i < size; i++) {
        const char digits[] = {line->text[2 * i], line->text[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    ulp_ggml_decode(y, bytes, 1, s->job->ggml);
    for (size_t i = 0; i < ULP_GGML_SIZE; i++) {
        tool_print_value(stdout, (double)y[i]);
        putchar('\n');
    }
    return ULP_OK;
}

/* The words of a line for messages; zero_point may be NULL. */
typedef struct words {
    const char *scale, *zero_point;
} words;

static ulp_status print_decoded(const lines *s, const ulp_line *line, words w, uint64_t scale, uint16_t code,
                                ulp_error *error) {
    const ulp_quantizer *const q = &s->job->quantizer;
    char *end = NULL;
    double value = ulp_decode(scale, &q->block.scale);
    if (q->block.scale.bits <= 8) value = value < 0.0 ? -value : value;
    if (!quantize_is_scale(value, &q->block.scale))
        return ulp_bad_line(error, line, "scale code '%s' stands for %g; a scale is NaN, or finite and from 0 on",
                            w.scale, value);
    const long zero_point = w.zero_point != NULL ? strtol(w.zero_point, &end, 10) : 0;
    if (w.zero_point != NULL && (*end != '\0' || zero_point < q->low || zero_point > q->high))
        return ulp_bad_line(error, line, "'%s' is no zero point: %d to %d", w.zero_point, (int)q->low, (int)q->high);
    float y;
    int32_t zero = (int32_t)zero_point;
    ulp_dequantize(&y, &(ulp_quantized){q, {{1, 1, 1}, {1, 1, 1}}, &code, &value, &zero});
    tool_print_value(stdout, (double)y);
    putchar('\n');
    return ULP_OK;
}

static ulp_status decode_line(void *context, const ulp_line *line, ulp_error *error) {
    lines *s = context;
    const ulp_quantizer *const q = &s->job->quantizer;
    if (s->job->ggml < ULP_GGML_COUNT) return decode_ggml(s, line, error);
    ULP_TRY(ulp_refuse_empty_field(error, line, line->text));
    char *at = line->text, *scale_word = ulp_line_word(&at), *word = scale_word != NULL ? ulp_line_word(&at) : NULL,
         *zero_word = word != NULL && q->has_zero_point ? ulp_line_word(&at) : NULL;
    uint64_t scale, code;
    if (word == NULL || (q->has_zero_point && zero_word == NULL) || ulp_line_word(&at) != NULL)
        return ulp_bad_line(error, line, "a line holds the codes of the scale and of the element%s",
                            q->has_zero_point ? ", and the zero point" : "");
    if (!ulp_read_hex(&scale, scale_word, q->block.scale.bits))
        return ulp_bad_line(error, line, "'%s' is no scale code: %d bits of %s in hex", scale_word, q->block.scale.bits,
                            q->block.scale.name);
    if (!ulp_read_hex(&code, word, q->bits))
        return ulp_bad_line(error, line, "'%s' is no element code: %d bits of %s in hex", word, q->bits,
                            q->block.element.name);
    return print_decoded(s, line, (words){scale_word, zero_word}, scale, (uint16_t)code, error);
}

ulp_status quantize_lines_decode(quantize_job *j, const ulp_arguments *a, ulp_error *error) {
    lines s = {.job = j};
    return ulp_filter_lines(a, &(ulp_line_filter){.each = decode_line, .context = &s}, error);
}

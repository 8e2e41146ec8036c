/* quantize.c - ulp quantize: numbers to codes of any element format under scales of any shape, and codes to values. */
#include <float.h>
#include <string.h>

#include "experiments/harness/cli/types.h"
#include "tool/quantize/job.h"

typedef enum from_kind { FROM_TEXT, FROM_NPY, FROM_NPZ } from_kind;
typedef enum to_kind { TO_CODE, TO_VALUE, TO_BOTH, TO_NPY, TO_NPZ } to_kind;

typedef struct settings {
    const char *format, *per, *scale, *rule, *percentile, *tensor_scale, *out, *hadamard;
    int64_t axis;
    int zero_point, narrow, packed, swizzled, decode, tiles;
    tool_form given; /* of --from */
    int from, to;    /* from_kind, to_kind */
    tool_rounding rounding;
    quantize_job job;
} settings;

/* ---- options ---- */

static const ulp_option options[] = {
    ULP_OPTION(settings, format, text, NULL, .value_name = "F",
               .help =
                   "the element: a format of up to 16 bits, intN, uintN, uqI.F, or a code book as nf4; or a block "
                   "format, which sets --per, --scale and --rule: mxfp4, nvfp4:te, nvfp4:32:noclip, mxint4, nvint4, "
                   "bfp8, block:ELEMENT,SIZE,SCALE; or a type of GGUF: q8_0, q4_0, q4_1"),
    ULP_OPTION(settings, per, text, "tensor", .value_name = "PART",
               .help = "what shares a scale: tensor, row, channel (see --axis), RxC for tiles of R rows and C columns "
                       "of the last two dimensions, or N for blocks of N neighbours; the last part of a row may have "
                       "fewer elements"),
    ULP_OPTION(settings, tiles, flag, NULL,
               .help = "of a block format: tiles of SIZE x SIZE elements of the last two dimensions share a scale"),
    ULP_OPTION(settings, hadamard, text, NULL, .value_name = "G[:SIGNS]", .help = TOOL_HADAMARD_HELP),
    ULP_OPTION(settings, axis, integer, "0", .min = -64, .max = 63,
               .help = "the dimension of the channels; -1 is the last one"),
    ULP_OPTION(settings, scale, text, "binary32", .value_name = "F",
               .help = "the format of the scales: binary32, bf16, fp16, e8m0, e4m3, ue5m3, or another with NaN"),
    ULP_OPTION(settings, rule, text, NULL, .value_name = "RULE",
               .help = "how the scale is found: amax, floor, ceil, even, noclip, te, mse46, best, up17, mse; amax "
                       "unless a block format "
                       "says another"),
    ULP_OPTION(settings, percentile, text, NULL, .value_name = "P",
               .help = "take this percentile of the magnitudes for amax, as 99.9; with up to 6 digits after the point"),
    ULP_OPTION_AS(settings, zero_point, "zero-point", flag, NULL,
                  .help = "scales and zero points from the least and the largest number; for integers"),
    ULP_OPTION(settings, narrow, flag, NULL,
               .help =
                   "leave out the least code: -127 to 127 of int8, -7 to 7 of int4; without a zero point the scale is "
                   "amax / 127, or amax / 7, with and without this option"),
    ULP_OPTION_AS(
        settings, tensor_scale, "tensor-scale", text, "1", .value_name = "X|auto",
        .help = "a factor of the whole array, rounded to binary32; auto or amax: amax / (max * largest scale), as "
                "Python's ul.quantize does for nvfp4 unless told otherwise"),
    {.name = "from",
     .type = &tool_type_form,
     ULP_FIELD(settings, given),
     .value = "text",
     .words = "text npy[:F] npz[:F]",
     .help = "input: text has a number a line, a vector; npy and npz as in ulp block"},
    ULP_OPTION(settings, to, choice, "code", .words = "code value both npy npz",
               .help = "output: the codes of the scale and of the element in hex, and the zero point; the value as "
                       "%.17g; both; from npy and npz: npy, values, or npz, codes"),
    ULP_OPTION(settings, packed, flag, NULL,
               .help =
                   "to npz: two codes of 4 bits in a byte, the first in the low half: the array `packed`, in place of "
                   "`elements`, and `length`, the codes of a row"),
    ULP_OPTION(settings, swizzled, flag, NULL,
               .help = "to npz: scales of 8 bits in the order that cuBLAS takes, as the array swizzled"),
    ULP_OPTION(settings, out, text, "-", .value_name = "FILE",
               .help = "the file for npy and npz, - is stdout; an old file is replaced when all is done"),
    ULP_OPTION(
        settings, decode, flag, NULL,
        .help =
            "the inverse, under the options that made the codes: lines of --to code, or the archive of --to npz, to "
            "values"),
    {0},
};

/* A number of the text up to `end`, at least 1. Returns 0 if the text has another form. */
static int read_size(size_t *size, const char *text, const char *end) {
    *size = 0;
    if (text == end) return 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || *size > (SIZE_MAX - 9) / 10) return 0;
        *size = 10 * *size + (size_t)(*text - '0');
    }
    return *size > 0;
}

static ulp_status choose_part(settings *s, const ulp_arguments *a, ulp_error *error) {
    static const char *const names[] = {"tensor", "row", "channel"};
    quantize_job *const j = &s->job;
    const char *const per = s->per, *const end = per + strlen(per), *const x = strpbrk(per, "xX");
    int part = 0;
    while (part < PER_TILE && strcmp(per, names[part]) != 0) part++;
    j->per = (quantize_per)part;
    j->axis = s->axis;
    if (part != PER_CHANNEL && ulp_setting_given(a, "axis"))
        return ulp_refuse(error, "--axis goes with --per channel, not with --per %s", per);
    if (part < PER_TILE) return ULP_OK;
    if (x != NULL && read_size(&j->tile[0], per, x) && read_size(&j->tile[1], x + 1, end)) return ULP_OK;
    j->tile[0] = 0;
    if (x == NULL && read_size(&j->tile[1], per, end)) return ULP_OK;
    return ulp_refuse(error, "--per %s: must be tensor, row, channel, RxC as 128x128, or a number of elements from 1",
                      per);
}

/* A block format says what shares a scale. */
static ulp_status set_block(settings *s, const ulp_arguments *a, ulp_error *error) {
    static const char *const names[] = {"per", "scale"};
    for (size_t i = 0; i < 2; i++)
        if (ulp_setting_given(a, names[i]))
            return ulp_refuse(error, "--%s: the block format %s says it; block:ELEMENT,SIZE,SCALE has any", names[i],
                              s->format);
    s->job.per = PER_TILE;
    s->job.tile[0] = s->tiles ? s->job.quantizer.block.size : 0;
    s->job.tile[1] = s->job.quantizer.block.size;
    return ULP_OK;
}

/* Says which of the names is wrong. */
static ulp_status refuse_format(const settings *s, ulp_error *error) {
    ulp_quantizer q;
    ulp_format f;
    if (ulp_quantizer_parse(&q, s->format, NULL) == ULP_OK)
        return ulp_refuse(error,
                          "--scale %s: must be a floating-point format with NaN within binary32: binary32, bf16, "
                          "fp16, e8m0, e4m3, ue5m3, for example",
                          s->scale);
    if (ulp_format_parse(&f, s->format) == ULP_OK && f.bits > 16)
        return ulp_refuse(error, "--format %s: an element has at most 16 bits, not %d", s->format, f.bits);
    return ulp_refuse(error,
                      "--format %s: must be a format of up to 16 bits with a positive value (`ulp help formats`, intN, "
                      "uintN, uqI.F), a code book (nf4), a block format (`ulp block --list`; block:ELEMENT,SIZE,SCALE "
                      "with SIZE from 1 and scales with NaN) or a type of GGUF (q8_0 q4_0 q4_1)",
                      s->format);
}

static ulp_status choose_rule(settings *s, ulp_error *error) {
    ulp_text known = {0};
    if (s->rule == NULL || ulp_quantizer_rule(&s->job.quantizer, s->rule) == ULP_OK) return ULP_OK;
    for (int i = 0; i < ULP_SCALE_RULE_COUNT; i++)
        ulp_text_print(&known, "%s ", ulp_scale_rule_name((ulp_scale_rule)i));
    ulp_text_print(&known, "mse");
    ulp_refuse_word(error, "scale rule", s->rule, ulp_text_of(&known), " (a percentile is --percentile P)");
    ulp_text_free(&known);
    return ULP_BAD_ARGUMENT;
}

/* A decimal of up to 6 digits after the point, in 10^-6. */
static ulp_status choose_percentile(settings *s, ulp_error *error) {
    const char *at = s->percentile;
    uint64_t value = 0;
    int digits = 0, after = -1;
    if (at == NULL) return ULP_OK;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && after < 0); at++) {
        if (*at == '.') after = 0;
        else {
            value = value < ULP_ALL_PERCENT ? 10 * value + (uint64_t)(*at - '0') : ULP_ALL_PERCENT;
            digits++;
            after += after >= 0;
        }
    }
    for (int i = after < 0 ? 0 : after; i < 6; i++) value *= 10;
    if (*at != '\0' || digits == 0 || after > 6 || value < 1 || value > ULP_ALL_PERCENT)
        return ulp_refuse(error,
                          "--percentile %s: must be above 0 and at most 100, with up to 6 digits after the point",
                          s->percentile);
    s->job.quantizer.percentile = (uint32_t)value;
    return ULP_OK;
}

static ulp_status choose_tensor_scale(settings *s, const ulp_arguments *a, ulp_error *error) {
    quantize_job *const j = &s->job;
    ulp_exact number;
    j->finds_tensor_scale = strcmp(s->tensor_scale, "auto") == 0 || strcmp(s->tensor_scale, "amax") == 0;
    if (j->finds_tensor_scale && s->decode && s->from == FROM_NPZ) return ULP_OK; /* the archive holds it */
    if (j->finds_tensor_scale && s->decode)
        return ulp_refuse(error,
                          "--tensor-scale %s: lines of codes do not hold the number; give --decode the one that was "
                          "written to stderr",
                          s->tensor_scale);
    if (j->finds_tensor_scale && j->quantizer.block.scale.bits > 8)
        return ulp_refuse(error, "--tensor-scale %s: scales of %s span the numbers without it", s->tensor_scale,
                          j->quantizer.block.scale.name);
    if (j->finds_tensor_scale) return ULP_OK;
    float scale = 0.0f;
    if (ulp_read_exact(&number, s->tensor_scale, ULP_NUMBER_ALL))
        scale = (float)ulp_round_exact(number, &ulp_binary32, (ulp_rule){0}, 0);
    if (!(scale > 0.0f && scale <= FLT_MAX))
        return ulp_refuse(error, "--tensor-scale %s: must be auto or a number, positive and finite in binary32",
                          s->tensor_scale);
    j->quantizer.tensor_scale = scale;
    j->is_tensor_scale_given = ulp_setting_given(a, "tensor-scale");
    return ULP_OK;
}

/* ---- the command ---- */

/* Refuse forms of input and output that do not go together. */
static ulp_status check_forms(const settings *s, const ulp_arguments *a, ulp_error *error) {
    const int is_text = s->from == FROM_TEXT, is_ggml = s->job.ggml < ULP_GGML_COUNT;
    if (is_text != (s->to < TO_NPY))
        return ulp_refuse(error, is_text ? "--to npy and --to npz go with --from npy or --from npz"
                                         : "--from npy and --from npz go with --to npy or --to npz");
    if (is_text && ulp_setting_given(a, "out"))
        return ulp_refuse(error, "--out goes with --to npy and --to npz; text goes to stdout");
    if (!is_text && a->word_count > 1)
        return ulp_refuse(error, "one array is quantised; name one file, not %zu", a->word_count);
    if (s->decode && !is_text && (s->from != FROM_NPZ || s->to != TO_NPY))
        return ulp_refuse(error, "--decode takes --from npz and --to npy: codes to values");
    if ((s->packed || s->swizzled) && s->to != TO_NPZ)
        return ulp_refuse(error, "--packed and --swizzled go with --to npz; --decode takes both without a word");
    if (s->packed && s->job.quantizer.bits != 4)
        return ulp_refuse(error, "--packed: codes of 4 bits are packed; those of %s have %d", s->format,
                          s->job.quantizer.bits);
    if (s->swizzled && s->job.quantizer.block.scale.bits != 8)
        return ulp_refuse(error, "--swizzled: cuBLAS takes scales of 8 bits, not %s",
                          s->job.quantizer.block.scale.name);
    if (is_ggml && s->to == TO_BOTH)
        return ulp_refuse(error, "--to both: a line of %s is a block, and a line of values is an element", s->format);
    return ULP_OK;
}

/* The types of GGUF have all in their definition. */
static ulp_status check_ggml(const settings *s, const ulp_arguments *a, ulp_error *error) {
    static const char *const names[] = {"per",    "axis",         "scale",  "rule",     "percentile", "zero-point",
                                        "narrow", "tensor-scale", "packed", "swizzled", "tiles",      "hadamard",
                                        "mode",   "overflow",     "bits",   "seed",     "stream"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ulp_setting_given(a, names[i]))
            return ulp_refuse(error, "--%s: the definition of %s leaves no choice", names[i], s->format);
    return ULP_OK;
}

static ulp_status check_quantizer(const settings *s, ulp_error *error) {
    const quantize_job *const j = &s->job;
    const ulp_quantizer *const q = &j->quantizer;
    if (q->has_zero_point && q->low == q->high)
        return ulp_refuse(error, "--zero-point: %s is no integer or fixed-point format", s->format);
    if (q->book != NULL && (q->tensor_scale != 1.0f || j->finds_tensor_scale))
        return ulp_refuse(error, "--tensor-scale: the code book %s takes none", s->format);
    if (q->book != NULL && j->rule.overflow >= ULP_OVERFLOW_NAN)
        return ulp_refuse(error, "--overflow %s is not offered by the code book %s",
                          ulp_overflow_name((ulp_overflow)j->rule.overflow), s->format);
    const char *const rule = ulp_scale_rule_name((ulp_scale_rule)q->block.rule);
    if (!q->searches && q->block.rule >= ULP_SCALE_MSE46 && q->has_zero_point)
        return ulp_refuse(error, "--zero-point: the rule %s scales an amax, and takes no zero point", rule);
    if (!q->searches && ulp_scale_rule_searches(q->block.rule) &&
        (q->book != NULL || q->percentile != ULP_ALL_PERCENT || q->low + q->high != 0 || q->block.element.bits > 8 ||
         q->block.scale.bits > 8))
        return ulp_refuse(
            error,
            "the rule %s takes elements and scales of up to 8 bits: a block format, or --scale e8m0, e4m3; "
            "integers with --narrow, no code book and no --percentile",
            rule);
    const ulp_status status = ulp_quantizer_check(q, j->rule);
    if (status == ULP_UNSUPPORTED) return tool_refuse_wrap(s->rounding.overflow, s->format, error);
    return status == ULP_OK ? ULP_OK : ulp_fail(error, status, "%s", ulp_status_text(status));
}

static ulp_status set_job(settings *s, const ulp_arguments *a, ulp_error *error) {
    quantize_job *const j = &s->job;
    j->program = a->program;
    j->path = a->word_count > 0 ? a->words[0] : "-";
    j->out = s->out;
    s->from = s->given.form;
    j->codes = tool_form_codes(&s->given);
    j->is_archive = s->from == FROM_NPZ;
    j->to_codes = s->to == TO_NPZ;
    j->packs = s->packed;
    j->swizzles = s->swizzled;
    if (s->format == NULL) return ulp_refuse(error, "--format is needed, int8 for example");
    if (s->decode && s->from == FROM_TEXT) s->to = TO_VALUE;
    if (s->decode && s->from == FROM_TEXT && (s->tiles || s->hadamard != NULL))
        return ulp_refuse(error,
                          "--decode of lines takes neither --tiles nor --hadamard: lines are decoded one by one");
    j->name = s->format;
    j->prints_codes = s->to != TO_VALUE;
    j->prints_values = s->to != TO_CODE;
    j->ggml = ulp_ggml_parse(s->format);
    if (j->ggml < ULP_GGML_COUNT) {
        ULP_TRY(check_ggml(s, a, error));
        return check_forms(s, a, error);
    }
    if (ulp_quantizer_parse(&j->quantizer, s->format, s->scale) != ULP_OK) return refuse_format(s, error);
    if (s->tiles && j->quantizer.block.size == 0)
        return ulp_refuse(error, "--tiles goes with a block format; elements take --per RxC");
    ULP_TRY(j->quantizer.block.size > 0 ? set_block(s, a, error) : choose_part(s, a, error));
    if (s->narrow && ulp_quantizer_narrow(&j->quantizer) != ULP_OK)
        return ulp_refuse(error, "--narrow: %s has no negative integers", s->format);
    j->quantizer.has_zero_point = (uint8_t)s->zero_point;
    ULP_TRY(choose_rule(s, error));
    ULP_TRY(choose_percentile(s, error));
    ULP_TRY(choose_tensor_scale(s, a, error));
    ULP_TRY(tool_rule(&j->rule, &j->stream, &s->rounding, error));
    ULP_TRY(check_quantizer(s, error));
    ULP_TRY(tool_hadamard_read(&j->hadamard, s->hadamard, j->stream.seed, s->decode, error));
    return check_forms(s, a, error);
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    ULP_TRY(set_job(s, a, error));
    const int is_ggml = s->job.ggml < ULP_GGML_COUNT;
    if (s->from != FROM_TEXT && s->decode)
        return is_ggml ? quantize_ggml_decode(&s->job, error) : quantize_arrays_decode(&s->job, error);
    if (s->from != FROM_TEXT) return is_ggml ? quantize_ggml(&s->job, error) : quantize_arrays(&s->job, error);
    return s->decode ? quantize_lines_decode(&s->job, a, error) : quantize_lines(&s->job, a, error);
}

const tool_command tool_quantize = {
    .command =
        {.name = "ulp quantize",
         .usage = "--format F [--per PART] [--scale F] [--rule RULE] [OPTION...] [FILE...]",
         .summary = "quantises an array: any element, scales per tensor, channel, row, tile or block, zero points",
         .details =
             "An element code stands for element * scale * tensor scale, of an integer (code - zero point) * scale * "
             "tensor scale. Each quotient is the exact one, rounded once: the scale amax / max, of integers with a "
             "zero "
             "point (high - low) / (largest code - least code), the zero point, least code - low / scale, to nearest "
             "even, and the element, number / scale. An integer is this quotient, rounded by --mode, plus the zero "
             "point, within the codes, as in ONNX's QuantizeLinear. 0 is always between low and high.\n\n"
             "RULE: amax rounds the quotient to the nearest scale, floor toward zero, ceil and noclip up; of power-of-"
             "two scales floor, ceil and even are those of `ulp block --help`. te is Transformer Engine's scale: it "
             "can be 0, so that zero and tiny blocks of nvfp4:te have scale code 00, not 01. mse tries 33 scales, "
             "those "
             "of 16/32 to 48/32 of amax, and keeps the one with the least squared error; mse46 (Four Over Six), best "
             "and up17 are those of `ulp block "
             "--help`. A group of zeros has scale 1, "
             "or "
             "the least scale of a format of up to 8 bits.\n\n"
             "If the element format has a NaN, only an element that is NaN becomes NaN. If it has none, the scale "
             "becomes "
             "NaN, and with it the whole group. The same holds for Inf in formats without Inf; --overflow sat clamps "
             "Inf.\n\n"
             "Codes are the arrays `elements` (|i1 for int8, |u1 for codes), `scales` (codes of up to 8 bits, else "
             "binary32 numbers), `zero_points` and `tensor_scale` of a .npz file; --decode takes the options that made "
             "them, and the tensor scale of the archive. q8_0, q4_0 and q4_1 are the bytes of ggml's reference, the "
             "array `blocks`; from text they are lines, a block a line.\n\n"
             "  printf '1\\n-0.5\\n0.1\\n' | ulp quantize --format int8 --to both\n"
             "  3c010204 7f 1\n"
             "  3c010204 c0 -0.5039370059967041\n"
             "  3c010204 0d 0.10236220061779022\n"
             "  ulp quantize --format e4m3 --per 128x128 \\\n"
             "      --from npy --to npz --out w8.npz w.npy\n"
             "  ulp quantize --format nvfp4 --tensor-scale auto --packed \\\n"
             "      --from npy --to npz --out w4.npz w.npy\n"
             "  ulp quantize --format q8_0 --from npy --to npz --out q.npz w.npy\n"
             "  ulp round --format uint8 --from npz:uint8 --to codele q.npz >q.bin   # its bytes\n"
             "  ulp quantize --format uint4 --zero-point --per 64 --scale bf16 \\\n"
             "      --from npy --to npy w.npy >w4.npy\n",
         .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"quantisation", options, 0}, TOOL_ROUNDING(settings, rounding)},
    .run = run};

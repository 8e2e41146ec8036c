/* block.c - block-scaled formats: the registry, the scale of a block, conversion.
 *
 * To add a block format, add a row to `rows`. block_steps.h has the arithmetic.
 */
#include "block_steps.h"
#include "words.h"

typedef struct row {
    ulp_format_row text;
    const char *element, *scale;
    uint32_t size, rule;
} row;

#define OCPMX "OCP MX v1.0"

static const row rows[] = {
    /* name, aliases, source, element, scale, size, rule */
    {{"mxfp8-e4m3", "mxfp8", OCPMX}, "e4m3", "e8m0", 32, ULP_SCALE_FLOOR},
    {{"mxfp8-e5m2", "", OCPMX}, "e5m2", "e8m0", 32, ULP_SCALE_FLOOR},
    {{"mxfp6-e3m2", "mxfp6", OCPMX}, "e3m2", "e8m0", 32, ULP_SCALE_FLOOR},
    {{"mxfp6-e2m3", "", OCPMX}, "e2m3", "e8m0", 32, ULP_SCALE_FLOOR},
    {{"mxfp4", "mxfp4-e2m1", OCPMX}, "e2m1", "e8m0", 32, ULP_SCALE_FLOOR},
    {{"mxint8", "", OCPMX}, "q2.6", "e8m0", 32, ULP_SCALE_FLOOR},
    {{"nvfp4", "", "NVIDIA 2025, arXiv:2509.25149"}, "e2m1", "e4m3", 16, ULP_SCALE_EVEN},
    {{"mxint4", "", "Chen et al. 2025, arXiv:2510.25602"}, "q2.2", "e8m0", 32, ULP_SCALE_FLOOR},
    {{"nvint4", "", "Chen et al. 2025, arXiv:2510.25602"}, "q4.0", "e4m3", 16, ULP_SCALE_EVEN},
    {{"mxint6", "", "Chen et al. 2025, arXiv:2510.25602"}, "q2.4", "e8m0", 32, ULP_SCALE_FLOOR},
    {{"nvfp6", "", "nvfp4 with elements of 6 bits"}, "e2m3", "e4m3", 16, ULP_SCALE_EVEN},
    {{"bfp8", "", "Tenstorrent BFP8; Darvish Rouhani et al. 2020"}, "e1m6fn", "e8m0", 16, ULP_SCALE_FLOOR},
};

const size_t ulp_block_count = sizeof rows / sizeof rows[0];

/* ---- names ---- */

static const char *const rule_names[] = {
#define ULP_SCALE_RULE_NAME(id, name, meaning) name,
    ULP_SCALE_RULES(ULP_SCALE_RULE_NAME)
#undef ULP_SCALE_RULE_NAME
};

static const char *const rule_meanings[] = {
#define ULP_SCALE_RULE_MEANING(id, name, meaning) meaning,
    ULP_SCALE_RULES(ULP_SCALE_RULE_MEANING)
#undef ULP_SCALE_RULE_MEANING
};

const char *ulp_scale_rule_name(ulp_scale_rule rule) {
    return (unsigned)rule < ULP_SCALE_RULE_COUNT ? rule_names[rule] : NULL;
}

const char *ulp_scale_rule_meaning(ulp_scale_rule rule) {
    return (unsigned)rule < ULP_SCALE_RULE_COUNT ? rule_meanings[rule] : NULL;
}

ulp_status ulp_block_get(size_t i, ulp_block *block, const ulp_format_row **text) {
    if (i >= ulp_block_count) return ULP_BAD_ARGUMENT;
    if (text != NULL) *text = &rows[i].text;
    if (block == NULL) return ULP_OK;
    ulp_block b = {.size = rows[i].size, .rule = rows[i].rule};
    ulp_name_add(b.name, rows[i].text.name, ulp_length(rows[i].text.name));
    ULP_TRY(ulp_format_parse(&b.element, rows[i].element));
    ULP_TRY(ulp_format_parse(&b.scale, rows[i].scale));
    *block = b;
    return ULP_OK;
}

ulp_scale_rule ulp_scale_rule_parse(const char *text) {
    int rule = 0;
    while (rule < ULP_SCALE_RULE_COUNT && !ulp_is_one_of(text, ulp_length(text), rule_names[rule])) rule++;
    return (ulp_scale_rule)rule;
}

/* Copies the characters up to `end` in lower case. Returns the character after `end`; NULL if the text has none or the
 * part is empty or too long. */
static const char *take_part(char part[ULP_NAME_MAX], const char *text, const char *ends) {
    size_t n = 0;
    for (; *text != '\0' && *text != ends[0] && *text != ends[1] && n + 1 < ULP_NAME_MAX; text++, n++)
        part[n] = ulp_lower(*text);
    part[n] = '\0';
    if (n == 0 || (*text != ends[0] && *text != ends[1])) return NULL;
    return *text == '\0' ? text : text + 1;
}

ulp_status ulp_block_split(ulp_block_text *parts, const char *text) {
    char word[ULP_NAME_MAX];
    uint64_t size = 0;
    if (!ulp_is_one_of(text, ulp_word_length(text), "block") || text[5] != ':') return ULP_BAD_NAME;
    if ((text = take_part(parts->element, text + 6, ",,")) == NULL) return ULP_BAD_NAME;
    if ((text = take_part(word, text, ",,")) == NULL) return ULP_BAD_NAME;
    for (const char *at = word; *at != '\0'; at++) {
        if (*at < '0' || *at > '9') return ULP_BAD_NAME;
        if (size <= UINT32_MAX) size = 10 * size + (uint64_t)(*at - '0');
    }
    if (size < 1 || size > UINT32_MAX) return ULP_NOT_IN_RANGE;
    parts->size = (uint32_t)size;
    const char *const rest = take_part(parts->scale, text, ":\0");
    if (rest == NULL) return ULP_BAD_NAME;
    parts->rule = ULP_SCALE_RULE_COUNT;
    if (rest[-1] != ':') return ULP_OK;
    parts->rule = ulp_scale_rule_parse(rest);
    return parts->rule < ULP_SCALE_RULE_COUNT ? ULP_OK : ULP_BAD_NAME;
}

static ulp_status set_rule(ulp_block *b, uint32_t rule) {
    if (rule >= ULP_SCALE_RULE_COUNT) return ULP_BAD_NAME;
    const char *const name = rule_names[rule];
    if (rule != b->rule && !(ulp_name_add(b->name, ":", 1) && ulp_name_add(b->name, name, ulp_length(name))))
        return ULP_BAD_NAME;
    b->rule = rule;
    return ULP_OK;
}

/* Reads the suffix :SIZE and moves *at past it. */
static ulp_status set_size(ulp_block *b, const char **at) {
    const char *const from = *at + 1;
    const size_t n = ulp_word_length(from);
    uint64_t size = 0;
    for (size_t i = 0; i < n; i++) {
        if (from[i] < '0' || from[i] > '9') return ULP_BAD_NAME;
        if (size <= UINT32_MAX) size = 10 * size + (uint64_t)(from[i] - '0');
    }
    if (size < 1 || size > UINT32_MAX) return ULP_NOT_IN_RANGE;
    *at = from + n;
    if (size == b->size) return ULP_OK;
    b->size = (uint32_t)size;
    char digits[12];
    size_t first = sizeof digits;
    for (; size > 0; size /= 10) digits[--first] = (char)('0' + size % 10);
    digits[--first] = ':';
    return ulp_name_add(b->name, digits + first, sizeof digits - first) ? ULP_OK : ULP_BAD_NAME;
}

/* block:ELEMENT,SIZE,SCALE[:RULE] */
static ulp_status parse_text(ulp_block *block, const char *text) {
    ulp_block_text parts;
    ulp_block b = {.rule = ULP_SCALE_FLOOR};
    ULP_TRY(ulp_block_split(&parts, text));
    ULP_TRY(ulp_format_parse(&b.element, parts.element));
    ULP_TRY(ulp_format_parse(&b.scale, parts.scale));
    b.size = parts.size;
    if (b.scale.prec > 1) b.rule = ULP_SCALE_EVEN;
    size_t n = 0, colons = 0;
    while (text[n] != '\0' && (text[n] != ':' || ++colons < 2)) n++;
    if (!ulp_name_add(b.name, text, n)) return ULP_BAD_NAME;
    ULP_TRY(ulp_block_check(&b));
    if (parts.rule < ULP_SCALE_RULE_COUNT) ULP_TRY(set_rule(&b, parts.rule));
    *block = b;
    return ULP_OK;
}

ulp_status ulp_block_parse(ulp_block *block, const char *text) {
    if (block == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    for (size_t i = 0; i < ulp_block_count; i++) {
        const size_t n = ulp_word_length(text);
        if (!ulp_is_one_of(text, n, rows[i].text.name) && !ulp_is_one_of(text, n, rows[i].text.aliases)) continue;
        ulp_block b;
        ULP_TRY(ulp_block_get(i, &b, NULL));
        const char *at = text + n;
        if (at[0] == ':' && at[1] >= '0' && at[1] <= '9') ULP_TRY(set_size(&b, &at));
        if (*at == ':') ULP_TRY(set_rule(&b, ulp_scale_rule_parse(at + 1)));
        *block = b;
        return ULP_OK;
    }
    return parse_text(block, text);
}

/* ---- the scale ---- */

ulp_status ulp_block_check(const ulp_block *b) {
    if (b == NULL || b->size < 1 || b->rule >= ULP_SCALE_RULE_COUNT) return ULP_BAD_ARGUMENT;
    if (b->element.bits > 8 || b->scale.bits > 8) return ULP_UNSUPPORTED;
    return b->scale.is_fixed || b->scale.nan_codes == ULP_NAN_NONE ? ULP_UNSUPPORTED : ULP_OK;
}

static ulp_status check(const ulp_block *b, float tensor_scale) {
    if (!(tensor_scale > 0.0f && tensor_scale <= 0x1.fffffep127f)) return ULP_BAD_ARGUMENT;
    return ulp_block_check(b);
}

size_t ulp_block_scales(size_t n, const ulp_block *b) { return n / b->size + (n % b->size != 0); }

double ulp_block_scale_value(uint8_t code, const ulp_block *b) {
    double value = ulp_decode(code, &b->scale);
    return value < 0.0 ? -value : value == 0.0 ? 0.0 : value;
}

ulp_rule ulp_scale_rounding(ulp_scale_rule rule) { return ulp_scale_rounding_step((uint32_t)rule); }

int ulp_scale_rule_searches(uint32_t rule) { return rule == ULP_SCALE_MSE46 || rule == ULP_SCALE_BEST; }

/* All of an array of n elements. */
static ulp_block_part whole(size_t first, size_t n) { return (ulp_block_part){first, {1, 1, n}, {0, 0}}; }

double ulp_block_scale_of(ulp_exact amax, const ulp_block *b, float tensor_scale) {
    const ulp_block_numbers one = {NULL, NULL, &amax, whole(0, 1)};
    return ulp_block_scale_step(&one, amax, b, tensor_scale);
}

static double scale_of(const ulp_block_numbers *n, const ulp_block *b, float tensor_scale) {
    return ulp_block_scale_step(n, ulp_exact_of(ulp_block_amax(n)), b, tensor_scale);
}

double ulp_block_scale_of_part(const float *x, const ulp_block_part *part, const ulp_block *b, float tensor_scale) {
    const ulp_block_numbers n = {x, NULL, NULL, *part};
    return scale_of(&n, b, tensor_scale);
}

double ulp_block_scale_of_part64(const double *x, const ulp_block_part *part, const ulp_block *b, float tensor_scale) {
    const ulp_block_numbers n = {NULL, x, NULL, *part};
    return scale_of(&n, b, tensor_scale);
}

double ulp_block_scale_of_part_exact(const ulp_exact *x, const ulp_block_part *part, const ulp_block *b,
                                     float tensor_scale) {
    const ulp_block_numbers n = {NULL, NULL, x, *part};
    return scale_of(&n, b, tensor_scale);
}

static uint8_t scale_code(double scale, const ulp_block *b) {
    uint64_t code = b->scale.nan_code;
    (void)ulp_encode(&code, scale, &b->scale); /* the scale is a positive finite value of the format */
    return (uint8_t)code;
}

ulp_status ulp_block_scale(uint8_t *code, const float *x, size_t n, const ulp_block *b, float tensor_scale) {
    if (code == NULL || x == NULL) return ULP_BAD_ARGUMENT;
    ULP_TRY(check(b, tensor_scale));
    const ulp_block_part all = whole(0, n);
    *code = scale_code(ulp_block_scale_of_part(x, &all, b, tensor_scale), b);
    return ULP_OK;
}

double ulp_block_largest_scale(const ulp_block *b) {
    if (b->rule != ULP_SCALE_MSE46) return b->scale.max;
    const int32_t e = ulp_exact_of(b->scale.max).exp + 127;
    const double power = ulp_scale(1.0, e);
    return 1.5 * power <= b->scale.max ? power : power / 2;
}

float ulp_block_tensor_scale(double amax, const ulp_block *b) {
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    if (!(amax > 0.0 && amax <= 0x1.fffffffffffffp1023)) return 1.0f;
    float scale = (float)ulp_arith((ulp_scalar_op){ULP_DIV, amax, b->element.max * ulp_block_largest_scale(b), 0},
                                   &ulp_binary32, nearest, 0);
    return scale < 0x1p-149f ? 0x1p-149f : scale;
}

double ulp_amax64(const double *x, size_t n) {
    uint64_t most = 0; /* a larger magnitude has larger bits */
    for (size_t i = 0; i < n; i++) {
        const uint64_t magnitude = ulp_bits64(x[i]) & 0x7fffffffffffffffu;
        if (magnitude > most && magnitude < 0x7ff0000000000000u) most = magnitude;
    }
    return ulp_from_bits64(most);
}

double ulp_amax_exact(const ulp_exact *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const double odd = ulp_exact_to_odd(x[i]), amax = ulp_amax64(&odd, 1);
        if (amax > most) most = amax;
    }
    return most;
}

/* ---- elements ---- */

double ulp_block_element(ulp_exact quotient, const ulp_format *f, ulp_rule rule, uint32_t word) {
    return ulp_block_element_step(quotient, f, rule, word);
}

/* Numbers that share a scale and what they become: values y, or element codes. A pointer that is NULL is not written.
 */
typedef struct conversion {
    float *y;
    uint8_t *elements, *scales;
    ulp_block_numbers numbers; /* in an array of blocks, of all blocks */
    ulp_block_array array;
    ulp_rule rule;
    ulp_stream stream;
} conversion;

/* Element i / factor. */
static ulp_exact quotient_at(const conversion *c, const ulp_block_numbers *n, size_t i, double factor) {
    if (c->rule.overflow == ULP_OVERFLOW_WRAP && factor != 0.0)
        return ulp_exact_div_wrapped(ulp_block_number(n, i), ulp_exact_of(factor), c->array.block->element.qmin - 40);
    return ulp_block_quotient(n, i, factor);
}

/* Converts the elements of a part, which share a scale. Returns the code of the scale. */
static uint8_t convert(const conversion *c, ulp_block_part part) {
    const ulp_block *b = c->array.block;
    ulp_block_numbers n = c->numbers;
    n.part = part;
    const double scale = scale_of(&n, b, c->array.tensor_scale), factor = scale * (double)c->array.tensor_scale;
    uint8_t code = scale_code(scale, b);
    ULP_BLOCK_EACH(&part, i) {
        const double e = ulp_block_element_step(quotient_at(c, &n, i, factor), &b->element, c->rule,
                                                ulp_element_word(c->rule, c->stream, i));
        uint64_t bits = 0;
        if (c->elements != NULL && ulp_encode(&bits, e, &b->element) == ULP_OK) c->elements[i] = (uint8_t)bits;
        if (c->y != NULL) c->y[i] = ulp_block_value_step(e, factor);
        if (e != e && b->element.nan_codes == ULP_NAN_NONE) code = (uint8_t)b->scale.nan_code;
    }
    if (code != (uint8_t)b->scale.nan_code) return code;
    ULP_BLOCK_EACH(&part, i) {
        if (c->elements != NULL) c->elements[i] = 0;
        if (c->y != NULL) c->y[i] = (float)ulp_quiet_nan();
    }
    return code;
}

void ulp_block_encode_part64(uint8_t *elements, uint8_t *scale, const double *x, const ulp_block_part *part,
                             const ulp_block *block, float tensor_scale, ulp_rule rule, ulp_stream stream) {
    const conversion c = {.elements = elements,
                          .numbers = {.wide = x},
                          .array = {block, 0, tensor_scale},
                          .rule = rule,
                          .stream = stream};
    *scale = convert(&c, *part);
}

void ulp_block_round_scaled(float *y, const float *x, const ulp_block_part *part, const ulp_block *block, double scale,
                            float tensor_scale, ulp_rule rule) {
    const ulp_block_numbers n = {x, NULL, NULL, *part};
    const double factor = scale * (double)tensor_scale;
    ULP_BLOCK_EACH(part, i)
    y[i] = ulp_block_value_step(ulp_block_element_step(ulp_block_quotient(&n, i, factor), &block->element, rule, 0),
                                factor);
}

static ulp_status convert_all(const conversion *c) {
    const ulp_block *b = c->array.block;
    const size_t n = c->array.n;
    ULP_TRY(check(b, c->array.tensor_scale));
    ULP_TRY(ulp_element_check(&b->element, c->rule));
    for (size_t at = 0, block = 0; at < n; at += b->size, block++) {
        const uint8_t code = convert(c, whole(at, n - at < b->size ? n - at : b->size));
        if (c->scales != NULL) c->scales[block] = code;
    }
    return ULP_OK;
}

ulp_status ulp_block_encode(uint8_t *elements, uint8_t *scales, const float *x, ulp_block_array array, ulp_rule rule,
                            ulp_stream stream) {
    if (elements == NULL || scales == NULL || x == NULL) return ULP_BAD_ARGUMENT;
    const conversion to_codes = {NULL, elements, scales, {.x = x}, array, rule, stream};
    return convert_all(&to_codes);
}

ulp_status ulp_block_encode64(uint8_t *elements, uint8_t *scales, const double *x, ulp_block_array array, ulp_rule rule,
                              ulp_stream stream) {
    if (elements == NULL || scales == NULL || x == NULL) return ULP_BAD_ARGUMENT;
    const conversion to_codes = {NULL, elements, scales, {.wide = x}, array, rule, stream};
    return convert_all(&to_codes);
}

ulp_status ulp_block_encode_exact(uint8_t *elements, uint8_t *scales, const ulp_exact *x, ulp_block_array array,
                                  ulp_rule rule, ulp_stream stream) {
    if (elements == NULL || scales == NULL || x == NULL) return ULP_BAD_ARGUMENT;
    const conversion to_codes = {NULL, elements, scales, {.exact = x}, array, rule, stream};
    return convert_all(&to_codes);
}

ulp_status ulp_block_round(float *y, const float *x, ulp_block_array array, ulp_rule rule, ulp_stream stream) {
    if (y == NULL || x == NULL) return ULP_BAD_ARGUMENT;
    const conversion to_values = {y, NULL, NULL, {.x = x}, array, rule, stream};
    return convert_all(&to_values);
}

ulp_status ulp_block_decode(float *y, const uint8_t *elements, const uint8_t *scales, ulp_block_array array) {
    const ulp_block *b = array.block;
    if (y == NULL || elements == NULL || scales == NULL) return ULP_BAD_ARGUMENT;
    ulp_status status = check(b, array.tensor_scale);
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < array.n; i++)
        y[i] = ulp_block_value_step(ulp_decode(elements[i], &b->element),
                                    ulp_block_scale_value(scales[i / b->size], b) * array.tensor_scale);
    return ULP_OK;
}

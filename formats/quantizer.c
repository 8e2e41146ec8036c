/* quantizer.c - scaled quantisation: the quantizer of a name, and its limits; see quantize.h. */
#include "quantize.h"
#include "words.h"

/* ---- names ---- */

/* The number at *text, of at most four digits; -1: none. */
static int take_number(const char **text) {
    int value = -1;
    for (int i = 0; i < 4 && **text >= '0' && **text <= '9'; i++)
        value = (value < 0 ? 0 : 10 * value) + *(*text)++ - '0';
    return value;
}

/* Moves *text past the word, in upper or lower case. Returns 0 if it is another one. */
static int take_word(const char **text, const char *word) {
    const char *at = *text;
    for (; *word != '\0'; word++, at++)
        if (ulp_lower(*at) != *word) return 0;
    *text = at;
    return 1;
}

/* Whether all of the text is one of the words, which have blanks between them. */
static int is_one_of(const char *text, const char *words) { return ulp_is_one_of(text, ulp_length(text), words); }

static void set_name(ulp_quantizer *q, const char *text) {
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < ULP_NAME_MAX; n++) q->block.element.name[n] = ulp_lower(text[n]);
    q->block.element.name[n] = '\0';
}

/* The two's complement format of `bits` bits with F = frac. */
static ulp_status fixed_format(ulp_format *f, int bits, int frac) {
    char name[ULP_NAME_MAX] = "q";
    const int parts[] = {bits - frac, frac};
    size_t n = 1;
    for (int i = 0; i < 2; i++) {
        if (parts[i] >= 10) name[n++] = (char)('0' + parts[i] / 10);
        name[n++] = (char)('0' + parts[i] % 10);
        if (i == 0) name[n++] = '.';
    }
    name[n] = '\0';
    return ulp_format_parse(f, name);
}

/* uintN, intN and uqI.F. */
static ulp_status parse_integer(ulp_quantizer *q, const char *text) {
    const char *at = text;
    const int is_signed = take_word(&at, "int");
    int whole, frac = 0;
    if (!is_signed && !take_word(&at, "uint") && !take_word(&at, "uq")) return ULP_BAD_NAME;
    const int has_fraction = at[-1] == 'q' || at[-1] == 'Q';
    whole = take_number(&at);
    if (has_fraction && (*at++ != '.' || (frac = take_number(&at)) < 0)) return ULP_BAD_NAME;
    if (whole < 0 || *at != '\0') return ULP_BAD_NAME;
    q->bits = (uint8_t)(whole + frac);
    if (whole + frac < 1 + is_signed || whole + frac > 16) return ULP_NOT_IN_RANGE;
    q->high = (1 << (q->bits - is_signed)) - 1;
    q->low = is_signed ? -q->high - 1 : 0;
    ULP_TRY(fixed_format(&q->block.element, q->bits + !is_signed, frac));
    if (!is_signed) set_name(q, text);
    return ULP_OK;
}

/* An element by its name. */
static ulp_status parse_element(ulp_quantizer *q, const char *text) {
    for (size_t i = 0; i < ulp_code_book_count; i++) {
        const ulp_code_book *book = &ulp_code_books[i];
        if (!is_one_of(text, book->text.name) && !is_one_of(text, book->text.aliases)) continue;
        q->book = book;
        q->bits = (uint8_t)book->bits;
        ULP_TRY(fixed_format(&q->block.element, q->bits, q->bits - 1));
        q->block.element.max =
            book->value[book->count - 1] > -book->value[0] ? book->value[book->count - 1] : -book->value[0];
        set_name(q, book->text.name);
        return ULP_OK;
    }
    const ulp_status status = parse_integer(q, text);
    if (status != ULP_BAD_NAME) return status;
    ULP_TRY(ulp_format_parse(&q->block.element, text));
    const ulp_format *const f = &q->block.element;
    if (f->bits > 16 || f->max <= 0.0 || (f->is_fixed && f->frac_bits > 16)) return ULP_UNSUPPORTED;
    q->bits = f->bits;
    if (!f->is_fixed) return ULP_OK;
    q->high = (int32_t)ulp_scale(f->max, f->frac_bits);
    q->low = (int32_t)ulp_scale(f->lowest, f->frac_bits);
    return ULP_OK;
}

static ulp_status check_scale_format(const ulp_format *s) {
    if (s->is_fixed || s->taper != ULP_TAPER_NONE || s->nan_codes == ULP_NAN_NONE) return ULP_UNSUPPORTED;
    return s->prec <= 24 && s->bits <= 32 && s->fits_binary32 ? ULP_OK : ULP_UNSUPPORTED;
}

/* A block format: its integers are symmetric. */
static ulp_status parse_block(ulp_quantizer *q, const char *text) {
    ulp_block_text parts;
    const ulp_status status = ulp_block_split(&parts, text);
    if (status == ULP_BAD_NAME) {
        ULP_TRY(ulp_block_parse(&q->block, text));
        const ulp_block block = q->block;
        ULP_TRY(parse_element(q, block.element.name));
        q->block = block;
    } else {
        ULP_TRY(status);
        ULP_TRY(parse_element(q, parts.element));
        ULP_TRY(ulp_format_parse(&q->block.scale, parts.scale));
        q->block.size = parts.size;
        q->block.rule = parts.rule;
        if (parts.rule >= ULP_SCALE_RULE_COUNT)
            q->block.rule = q->block.scale.prec > 1 ? ULP_SCALE_EVEN : ULP_SCALE_FLOOR;
    }
    if (q->low < 0) q->low = -q->high;
    return ULP_OK;
}

ulp_status ulp_quantizer_parse(ulp_quantizer *quantizer, const char *text, const char *scale) {
    ulp_quantizer q = {.block = {.rule = ULP_SCALE_AMAX}, .percentile = ULP_ALL_PERCENT, .tensor_scale = 1.0f};
    if (quantizer == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    ulp_status status = parse_block(&q, text);
    if (status == ULP_BAD_NAME && q.block.size == 0) {
        ULP_TRY(parse_element(&q, text));
        status = ulp_format_parse(&q.block.scale, scale != NULL ? scale : "binary32");
    }
    ULP_TRY(status);
    ULP_TRY(check_scale_format(&q.block.scale));
    *quantizer = q;
    return ULP_OK;
}

ulp_status ulp_quantizer_rule(ulp_quantizer *q, const char *text) {
    const ulp_scale_rule rule = ulp_scale_rule_parse(text);
    q->searches = (uint8_t)is_one_of(text, "mse");
    if (rule < ULP_SCALE_RULE_COUNT) q->block.rule = rule;
    return q->searches || rule < ULP_SCALE_RULE_COUNT ? ULP_OK : ULP_BAD_NAME;
}

ulp_status ulp_quantizer_narrow(ulp_quantizer *q) {
    if (q->low >= 0) return ULP_UNSUPPORTED;
    q->low = -q->high;
    return ULP_OK;
}

/* The rules up17, mse46 and best start from an amax; mse46 and best form errors of elements as block.h does. */
static ulp_status check_searching_rule(const ulp_quantizer *q) {
    if (q->block.rule < ULP_SCALE_MSE46) return ULP_OK;
    if (q->has_zero_point) return ULP_UNSUPPORTED;
    if (!ulp_scale_rule_searches(q->block.rule)) return ULP_OK;
    if (q->book != NULL || q->percentile != ULP_ALL_PERCENT || q->low + q->high != 0) return ULP_UNSUPPORTED;
    return q->block.element.bits <= 8 && q->block.scale.bits <= 8 ? ULP_OK : ULP_UNSUPPORTED;
}

ulp_status ulp_quantizer_check(const ulp_quantizer *q, ulp_rule rule) {
    if (q->percentile < 1 || q->percentile > ULP_ALL_PERCENT || q->block.rule >= ULP_SCALE_RULE_COUNT)
        return ULP_BAD_ARGUMENT;
    if (!(q->tensor_scale > 0.0f && q->tensor_scale <= 0x1.fffffep127f)) return ULP_BAD_ARGUMENT;
    if (q->bits < 1 || q->bits > 16 || q->low > q->high) return ULP_BAD_ARGUMENT;
    if (q->has_zero_point && q->low == q->high) return ULP_UNSUPPORTED;
    if (q->book != NULL && (q->tensor_scale != 1.0f || rule.overflow >= ULP_OVERFLOW_NAN)) return ULP_UNSUPPORTED;
    ULP_TRY(check_scale_format(&q->block.scale));
    if (q->searches == 0) ULP_TRY(check_searching_rule(q));
    return ulp_element_check(&q->block.element, rule);
}

/* format.c - formats for the page: the lists of formats, modes and policies, and the facts of one format. */
#include "page.h"

static void add_formats(void) {
    web_list("formats");
    for (size_t i = 0; i < ulp_format_count; i++) {
        ulp_format f;
        const ulp_format_row *row;
        ulp_format_get(i, &f, &row);
        web_object();
        web_text_field("name", row->name);
        web_text_field("aliases", row->aliases);
        web_text_field("source", row->source);
        web_integer_field("bits", f.bits);
        web_add("}");
    }
    web_add("]");
}

static void add_modes(void) {
    web_list("modes");
    for (int m = 0; m < ULP_MODE_COUNT; m++) {
        web_object();
        web_text_field("name", ulp_mode_name((ulp_mode)m));
        web_text_field("meaning", ulp_mode_meaning((ulp_mode)m));
        web_integer_field("stochastic", ulp_mode_is_stochastic((uint32_t)m));
        web_add("}");
    }
    web_add("]");
}

WEB_EXPORT(web_lists) const char *web_lists(void) {
    web_begin();
    add_formats();
    add_modes();
    web_list("policies");
    for (int p = 0; p < ULP_OVERFLOW_COUNT; p++) {
        web_item();
        web_string(ulp_overflow_name((ulp_overflow)p));
    }
    web_add("]");
    return web_end();
}

/* The widths of the fields of a code, from the left. */
static void add_fields(const ulp_format *f) {
    const int fraction = f->is_fixed ? f->frac_bits : f->prec - 1, sign = f->is_signed && !f->is_fixed;
    web_integer_field("signBits", sign);
    web_integer_field(f->is_fixed ? "integerBits" : "exponentBits", f->bits - sign - fraction);
    web_integer_field("fractionBits", fraction);
}

WEB_EXPORT(web_format) const char *web_format(const char *name) {
    ulp_format f;
    static const char *const nan_codes[] = {"no NaN", "NaN: exponent bits all 1, fraction not 0",
                                            "NaN: all bits but the sign are 1", "NaN: the code of -0 elsewhere"};
    if (!web_format_read(&f, name)) return web_answer();
    web_begin();
    web_text_field("name", f.name);
    web_integer_field("bits", f.bits);
    web_integer_field("precision", f.prec);
    web_integer_field("fixed", f.is_fixed);
    web_integer_field("tapered", f.taper != ULP_TAPER_NONE);
    web_integer_field("signed", f.is_signed);
    web_integer_field("bias", f.bias);
    web_integer_field("emin", f.emin);
    web_integer_field("emax", f.emax);
    web_integer_field("subnormals", f.has_subnormals && !f.is_fixed);
    web_integer_field("infinities", f.has_inf);
    web_integer_field("negativeZero", f.has_neg_zero);
    web_text_field("nan", nan_codes[f.nan_codes]);
    web_text_field("overflow", ulp_overflow_name((ulp_overflow)f.overflow));
    web_exact_field("max", f.max);
    web_exact_field("lowest", f.lowest);
    web_exact_field("minNormal", f.min_normal);
    web_exact_field("minPositive", f.min_positive);
    add_fields(&f);
    web_float_field("maxHex", f.max);
    return web_end();
}

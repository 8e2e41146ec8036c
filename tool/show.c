/* show.c - ulp show: a number in a format, with its fields, neighbours and roundings. */
#include "course/sheets/sheet.h"
#include "tool.h"

#include <stdio.h>
#include <string.h>

#include "base/decimal.h"

/* VALUE. */
typedef struct number {
    const char *text;
    ulp_exact exact;
    double near;    /* rounded to odd */
    int is_rounded; /* 1: the text is an expression, whose value is rounded to binary64 */
} number;

static void print_exact(const char *label, double value) {
    char text[1200];
    snprintf(text, sizeof text, "%.1100g", value);
    printf("  %-9s ", label);
    if (value != value) printf("nan");
    else if (strlen(text) <= 80) printf("%s", text);
    else printf("%.60s...%s (%s)", text, strchr(text, 'e') ? strchr(text, 'e') : "", ULP_HEX(value));
}

/* Print the bits of a code in fields: sign, exponent, significand; for fixed point integer and fraction. */
static void print_fields(uint64_t code, const ulp_format *f) {
    char each[65], letters[130], bits[130];
    int at = 0;
    ulp_code_letters(each, code, f);
    for (int i = 0; i < f->bits; i++) {
        if (i > 0 && each[i] != each[i - 1]) {
            letters[at] = ' ';
            bits[at++] = f->is_fixed ? '.' : ' ';
        }
        letters[at] = each[i];
        bits[at++] = code >> (f->bits - 1 - i) & 1 ? '1' : '0';
    }
    letters[at] = bits[at] = '\0';
    printf("  fields    %s\n            %s\n", letters, bits);
}

/* The spacing at x; beyond the range, the spacing at the end of the range. */
static double spacing_within(double x, const ulp_format *f) {
    if (x > f->max) x = f->max;
    if (x < f->lowest) x = f->lowest;
    return ulp_spacing(x, f);
}

/* The same for a tapered format, with the precision at the value. */
static void print_tapered(uint64_t code, const ulp_format *f) {
    const double value = ulp_decode(code, f);
    const int e = ulp_exact_of(value).exp + 127;
    char significand[40], letters[65];
    int bits = 1;
    if (value < 0 && ulp_encode(&code, -value, f) != ULP_OK) return; /* each tapered format holds -value */
    ulp_code_letters(letters, code, f);
    for (const char *at = letters; value >= f->min_normal || -value >= f->min_normal ? *at : 0; at++)
        bits += *at == 'f';
    tool_exact_text(significand, ulp_scale(value < 0 ? -value : value, -e), 30);
    printf("%s%s x 2^%d; p = %d here\n", value < 0 ? "-" : "+", significand, e, bits);
}

/* Print the value of a code as a product of significand and power of two. */
static void print_meaning(uint64_t code, const ulp_format *f) {
    double value = ulp_decode(code, f);
    uint64_t magnitude = f->is_signed && !f->is_fixed ? code & ~(1ull << (f->bits - 1)) : code;
    printf("  meaning   ");
    switch (ulp_classify(code, f)) {
    case ULP_NAN: printf("NaN\n"); return;
    case ULP_INFINITE: printf("%sinfinity\n", value < 0 ? "-" : "+"); return;
    case ULP_ZERO: printf("%szero\n", ulp_bits64(value) >> 63 ? "-" : "+"); return;
    case ULP_SUBNORMAL:
        if (f->has_subnormals) {
            printf("%s%llu/%llu x 2^%d, subnormal\n", value < 0 ? "-" : "+", (unsigned long long)magnitude,
                   1ull << (f->prec - 1), f->emin);
            return;
        }
        break;
    case ULP_NORMAL: break;
    }
    if (f->taper != ULP_TAPER_NONE) {
        print_tapered(code, f);
        return;
    }
    if (f->is_fixed) {
        printf("%.0f x 2^-%d, an integer in units of the last place\n", ulp_scale(value, f->frac_bits), f->frac_bits);
        return;
    }
    int e = (int)(magnitude >> (f->prec - 1)) - f->bias;
    char significand[40];
    tool_exact_text(significand, ulp_scale(value < 0 ? -value : value, -e), 30);
    printf("%s%s x 2^%d: exponent field %d - bias %d\n", value < 0 ? "-" : "+", significand, e, e + f->bias, f->bias);
}

static void print_neighbour(const char *label, double value, double y, const ulp_format *f) {
    uint64_t code;
    if (value == y) {
        printf("  %-9s none\n", label);
        return;
    }
    print_exact(label, value);
    if (ulp_encode(&code, value, f) == ULP_OK) {
        printf("  code ");
        tool_print_code(stdout, code, f);
    }
    putchar('\n');
}

/* Whether VALUE is finite and beyond the range of binary64. */
static int is_beyond(const number *n) { return n->exact.kind == ULP_EXACT_FINITE && n->exact.exp + 127 > 1023; }

/* VALUE - y. The last of the 128 bits of VALUE do not count. */
static double difference(const number *n, double y) {
    ulp_exact x = n->exact;
    if (x.kind != ULP_EXACT_FINITE || y - y != 0.0) return n->near - y;
    if (y == 0.0 && x.exp + 127 < -1022) return x.neg ? -0.0 : 0.0;
    x.lo &= ~0x3fffffull;
    x.sticky = 0;
    return ulp_exact_to_odd(ulp_exact_add(x, ulp_exact_of(-y)));
}

/* The share of the random words that round VALUE to `high`. A larger word never rounds to a smaller magnitude. */
static double share_of_words(const number *n, double high, ulp_rule rule, const ulp_format *f) {
    uint64_t least = 0;
    for (uint64_t step = 1ull << 31; step > 0; step >>= 1)
        if (ulp_round_exact(n->exact, f, rule, (uint32_t)(least + step - 1)) != high) least += step;
    return ulp_scale((double)((1ull << 32) - least), -32);
}

static void print_mode(ulp_mode mode, const number *n, const ulp_format *f) {
    const ulp_rule rule = {(uint8_t)mode, ULP_OVERFLOW_DEFAULT, 0};
    const double x = n->near, unit = spacing_within(x, f);
    double low = ulp_round_exact(n->exact, f, rule, 0), high = ulp_round_exact(n->exact, f, rule, 0xffffffffu);
    char text[40], code_text[24] = "-";
    uint64_t code;
    if (ulp_mode_is_stochastic(mode) && !(low == high) && low == low && high == high) {
        char other[40];
        tool_exact_text(text, low, 24);
        tool_exact_text(other, high, 24);
        const double lost = difference(n, low);
        double up = f->taper != ULP_TAPER_NONE ? share_of_words(n, high, rule, f)
                    : high - high == 0.0       ? lost / (high - low)
                                               : (lost < 0 ? -lost : lost) / unit;
        printf("  %-4s      %s or %s; the latter with probability %.9g\n", ulp_mode_name(mode), text, other, up);
        return;
    }
    tool_exact_text(text, low, 24);
    if (ulp_encode(&code, low, f) == ULP_OK)
        snprintf(code_text, sizeof code_text, "%0*llx", (f->bits + 3) / 4, (unsigned long long)code);
    printf("  %-4s      %-26s %-9s", ulp_mode_name(mode), text, code_text);
    double error = is_beyond(n) ? ulp_quiet_nan() : -difference(n, low) / unit;
    if (error == error && error - error == 0.0) printf(" %+.6g", error + 0.0);
    else printf(" -");
    printf("\n");
}

/* The lines of VALUE: the number, and the nearest binary64 number if VALUE is none. */
static void print_number(const number *n) {
    if (ulp_exact_is(n->exact, n->near)) {
        print_exact("value", n->near);
        printf(n->is_rounded ? " (binary64)\n" : "\n");
        return;
    }
    printf("  %-9s %.60s%s\n", "value", n->text, strlen(n->text) > 60 ? "..." : "");
    print_exact("binary64", ulp_round_exact(n->exact, &ulp_binary64, (ulp_rule){0}, 0));
    putchar('\n');
}

static void show(const number *given, const ulp_format *f) {
    number operand = *given; /* a subnormal number is zero in a format that takes it for zero */
    const number *const n = &operand;
    operand.exact = ulp_flush_operand(given->exact, f);
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    const double x = n->near;
    double y = ulp_round_exact(n->exact, f, nearest, 0), unit = x - x == 0.0 ? spacing_within(x, f) : ulp_quiet_nan();
    uint64_t code;
    printf("%s in %s: %d bits, p = %d", n->text, f->name, f->bits, f->prec);
    if (f->is_fixed)
        printf(", %d integer bits (%s), %d fraction bits\n", f->bits - f->frac_bits,
               f->is_signed ? "the sign counts" : "no sign", f->frac_bits);
    else if (f->taper != ULP_TAPER_NONE) printf(" at most, exponents %d to %d\n", f->emin, f->emax);
    else printf(", bias %d, exponents %d to %d\n", f->bias, f->emin, f->emax);
    print_number(given);
    print_exact("nearest", y);
    if (ulp_encode(&code, y, f) == ULP_OK) {
        printf("  code ");
        tool_print_code(stdout, code, f);
        putchar('\n');
        print_fields(code, f);
        print_meaning(code, f);
    } else {
        printf("  (no code: the format has no NaN)\n");
    }
    if (y == y) {
        print_neighbour("below", ulp_next_down(y, f), y, f);
        print_neighbour("above", ulp_next_up(y, f), y, f);
    }
    if (unit == unit) {
        char spacing[40];
        tool_exact_text(spacing, unit, 30);
        const ulp_exact power = ulp_exact_of(unit); /* in a tapered format the spacing need not be a power of two */
        printf("  ulp       %s", spacing);
        if ((power.hi << 1 | power.lo) == 0) printf(" = 2^%d", power.exp + 127);
        printf("%s\n", x > f->max || x < f->lowest ? ", at the end of the range: VALUE is beyond it" : "");
    }
    printf("  mode      result                     code      error in ulp; overflow: %s\n",
           ulp_overflow_name((ulp_overflow)f->overflow));
    for (int m = 0; m < ULP_MODE_COUNT; m++) print_mode((ulp_mode)m, n, f);
}

static void show_all(const number *n) {
    const double x = n->near;
    printf("%s, rounded to nearest even, in every registered format\n%-14s %-10s %-25s %-14s %s\n", n->text, "format",
           "code", "value", "relative error", "ulp");
    for (size_t i = 0; i < ulp_format_count; i++) {
        ulp_format f;
        ulp_format_get(i, &f, NULL);
        const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
        double y = ulp_round_exact(n->exact, &f, nearest, 0), unit = ulp_spacing(x, &f);
        char value[40], spacing[40], code_text[24] = "-", error[32] = "-";
        uint64_t code;
        tool_exact_text(value, y, 24);
        tool_exact_text(spacing, unit, 14);
        if (ulp_encode(&code, y, &f) == ULP_OK)
            snprintf(code_text, sizeof code_text, "%0*llx", (f.bits + 3) / 4, (unsigned long long)code);
        double relative = x == 0.0 ? 0.0 : -difference(n, y) / x;
        if (relative - relative == 0.0) snprintf(error, sizeof error, "%+.3e", relative);
        printf("%-14s %-10s %-25s %-14s %s\n", f.name, code_text, value, error, spacing);
    }
}

typedef struct settings {
    ulp_format format;
    int all;
} settings;

static const ulp_option options[] = {
    ULP_OPTION(settings, format, format, NULL, .help = "the format in which VALUE is drawn"),
    ULP_OPTION_AS(settings, all, "all-formats", flag, NULL,
                  .help = "a table across the registered formats instead, or besides"),
    {0},
};

static int read_value(number *n) {
    ulp_text why = {0};
    if (ulp_read_exact(&n->exact, n->text, ULP_NUMBER_ALL)) {
        n->near = ulp_exact_to_odd(n->exact);
        return 1;
    }
    const course_reading reading = course_read_number(&n->near, n->text, &why);
    n->exact = ulp_exact_of(n->near);
    n->is_rounded = 1;
    ulp_text_free(&why);
    return reading != COURSE_NO_NUMBER;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    const settings *s = fields;
    const int one = ulp_setting_given(a, "format");
    if (!one && !s->all) return ulp_refuse(error, "--format F or --all-formats is needed (see --help)");
    if (a->word_count == 0) return ulp_refuse(error, "a VALUE is needed: 0.1, 0x1p-3, inf, nan");
    for (size_t i = 0; i < a->word_count; i++) {
        number n = {.text = a->words[i]};
        if (!read_value(&n))
            return ulp_refuse(error, "'%s' is no number; allowed: decimal, hex float, 2^-4, 1/3, inf, nan",
                              a->words[i]);
        if (i > 0) putchar('\n');
        if (one) show(&n, &s->format);
        if (one && s->all) putchar('\n');
        if (s->all) show_all(&n);
    }
    return ULP_OK;
}

const tool_command tool_show = {
    .command =
        {.name = "ulp show",
         .usage = "[--format F] [--all-formats] VALUE...",
         .summary = "draws a number in a format, for people",
         .details =
             "Its code in fields, exact decimal value, neighbours, spacing (ulp), and what each rounding mode "
             "makes of VALUE with the error in ulp. VALUE is a decimal or a hex float of any length, exactly, or an "
             "expression as 2^-4, 3*2^-4, 1/3, rounded to binary64 where it is none; -0.1 is a value, no "
             "option.\n\n"
             "  ulp show --format fp16 0.1\n",
         .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};

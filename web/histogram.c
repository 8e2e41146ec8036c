/* histogram.c - magnitudes of many numbers by powers of two, and how they end in a format after a loss scale. */
#include "formats/rng.h"
#include "kernels/functions/elementary.h"
#include "page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number with low = high and its count 1, or a bin: `count` numbers above low and below high. */
typedef struct item {
    double low, high;
    double count;
} item;

static struct data {
    item *at; /* (count) */
    size_t count, room;
    double zeros, special; /* numbers that are 0; that are infinite or NaN */
} data;

enum { LOWEST = -1074, BINS = 2098, LARGEST_DATA = 4000000 };
enum { FLUSHED, SUBNORMAL, KEPT, OVERFLOWED, UNSURE, CLASSES };
static double bins[BINS][CLASSES];

WEB_EXPORT(web_data_clear) void web_data_clear(void) {
    data.count = 0;
    data.zeros = data.special = 0;
}

static int add_item(item of) {
    if (data.count == LARGEST_DATA) return 0;
    if (data.count == data.room) {
        const size_t room = data.room == 0 ? 4096 : 2 * data.room;
        item *more = realloc(data.at, room * sizeof *more);
        if (more == NULL) return 0;
        data.at = more;
        data.room = room;
    }
    data.at[data.count++] = of;
    return 1;
}

static int add_number(double x) {
    if (x - x != 0) return data.special++, 1;
    if (x == 0) return data.zeros++, 1;
    return add_item((item){x, x, 1});
}

/* Adds `count` binary32 numbers of [2^e, 2^(e+1)). A number that is exactly 2^e counts as a little more. */
WEB_EXPORT(web_data_bin) int web_data_bin(int32_t e, double count) {
    return add_item((item){ldexp(1 + 0x1p-23, e), ldexp(2 - 0x1p-23, e), count});
}

WEB_EXPORT(web_data_zeros) void web_data_zeros(double count) { data.zeros += count; }

/* Adds the numbers of the text in web_input(), with blanks, commas or semicolons between them. Answers {} or a sentence
 * about the first word that is not a number; `word` and `line` count the words and lines before this text. */
WEB_EXPORT(web_data_text) const char *web_data_text(double words, double lines) {
    static const char between[] = " \t\r\n,;[]";
    for (char *at = web_input(); *at != '\0';) {
        if (strchr(between, *at) != NULL) {
            lines += *at++ == '\n';
            continue;
        }
        char word[400] = "";
        double x;
        const int begins = at == web_input() || strchr(",[", at[-1]) == NULL || at[-1] == '[';
        if (begins && web_comma_unclear(at, lines + 1)) return web_answer();
        const size_t n = strcspn(at, between);
        memcpy(word, at, n < sizeof word ? n : sizeof word - 1);
        words++;
        if (n >= sizeof word || !web_number_read(&x, word))
            return web_refuse(
                "\"%.40s%s\" in line %.0f is not a number. Allowed are numbers such as 0.1, -2.5e-3 and 2^-14, "
                "with blanks, commas or new lines between them.",
                word, n > 40 ? "..." : "", lines + 1);
        if (!add_number(x)) return web_refuse("The data have more than %d numbers.", LARGEST_DATA);
        at += n;
    }
    web_begin();
    web_key("words");
    web_add("%.0f", words);
    web_key("lines");
    web_add("%.0f", lines);
    return web_end();
}

/* A number of the normal distribution to about 2^-20: the sum of 12 uniform numbers, less 6. */
static double normal(ulp_stream s, uint64_t i) {
    double sum = -6;
    for (uint64_t j = 0; j < 12; j++) sum += ulp_random_uniform(s, 12 * i + j);
    return sum;
}

/* Adds `count` numbers: normal with deviation 2^centre, or with an exponent that is normal around centre with the
 * deviation `width`. */
WEB_EXPORT(web_data_generate)
const char *web_data_generate(const char *kind, double count, double centre, double width, double seed) {
    const int log_normal = strcmp(kind, "lognormal") == 0;
    if (!log_normal && strcmp(kind, "normal") != 0)
        return web_refuse("\"%.40s\" is not a distribution. Allowed: normal, lognormal.", kind);
    if (!(count >= 1 && count <= 100000))
        return web_refuse("%.17g numbers are not possible. Allowed are 1 to 100000.", count);
    if (!(centre >= -140 && centre <= 120))
        return web_refuse("The exponent %.17g is not possible. Allowed are -140 to 120.", centre);
    if (!(width >= 0 && width <= 40)) return web_refuse("The width %.17g is not possible. Allowed are 0 to 40.", width);
    if (!web_seed_read(seed)) return web_answer();
    const ulp_stream s = {(uint64_t)seed, 0, 0};
    for (uint64_t i = 0; i < (uint64_t)count; i++) {
        const double z = normal(s, i);
        add_number(log_normal ? ulp_exp((centre + width * z) * (ULP_LN2_HI + ULP_LN2_LO)) : ldexp(z, (int)centre));
    }
    web_begin();
    return web_end();
}

static int class_of(double x, const ulp_format *f) {
    const double y = ulp_round(x, f, (ulp_rule){ULP_RNE, ULP_OVERFLOW_NAN, 0}, 0);
    if (y != y) return OVERFLOWED;
    if (y == 0) return FLUSHED;
    return fabs(x) < f->min_normal ? SUBNORMAL : KEPT;
}

WEB_EXPORT(web_judge_begin) void web_judge_begin(void) { memset(bins, 0, sizeof bins); }

/* Counts items first .. first + count - 1, times 2^scale, under the format. Returns 0 if there are no more, -1 if the
 * format is none. */
WEB_EXPORT(web_judge) int web_judge(const char *format, int32_t scale, uint32_t first, uint32_t count) {
    ulp_format f;
    if (!web_format_read(&f, format)) return -1;
    for (size_t i = first; i < data.count && i < (size_t)first + count; i++) {
        const item *d = &data.at[i];
        const int low = class_of(ldexp(d->low, scale), &f), high = class_of(ldexp(d->high, scale), &f);
        bins[ilogb(d->low) - LOWEST][low == high ? low : UNSURE] += d->count;
    }
    return (size_t)first + count < data.count;
}

/* Writes the bins that hold numbers to web_values(): exponent, then the counts of each class. Returns their number. */
WEB_EXPORT(web_judge_bins) uint32_t web_judge_bins(void) {
    double *to = web_values();
    uint32_t n = 0;
    for (int b = 0; b < BINS; b++) {
        double sum = 0;
        for (int c = 0; c < CLASSES; c++) sum += bins[b][c];
        if (sum == 0) continue;
        to[n * (CLASSES + 1)] = b + LOWEST;
        memcpy(to + n * (CLASSES + 1) + 1, bins[b], sizeof bins[b]);
        n++;
    }
    return n;
}

WEB_EXPORT(web_judge_report) const char *web_judge_report(void) {
    static const char *const names[CLASSES] = {"flushed", "subnormal", "kept", "overflowed", "unsure"};
    double sum[CLASSES] = {0};
    for (int b = 0; b < BINS; b++)
        for (int c = 0; c < CLASSES; c++) sum[c] += bins[b][c];
    web_begin();
    for (int c = 0; c < CLASSES; c++) web_integer_field(names[c], (int64_t)sum[c]);
    web_integer_field("zeros", (int64_t)data.zeros);
    web_integer_field("special", (int64_t)data.special);
    return web_end();
}

/* conversions.c - ulp vectors: codes, conversions and stochastic conversions of a format; see vectors.h. */
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

/* The tables have columns for the policies up to wrap and for the modes up to src, which other projects read by place.
 */
enum { POLICIES = ULP_OVERFLOW_WRAP, MODES = ULP_SRC + 1, BITS = 8, WORDS = 8, GAPS = 16 };

typedef struct tables {
    const ulp_format *format;
    const vectors_request *request;
    vectors_oracle oracle;
    vectors_file file;
    ulp_text codes, conversions, overflow, stochastic; /* the CSVs */
    vectors_counts counts;
} tables;

/* Whether conversions under a policy always have a code. */
static int offers(const ulp_format *f, int policy) {
    if (policy == ULP_OVERFLOW_WRAP) return f->is_fixed;
    return policy != ULP_OVERFLOW_NAN || f->nan_codes != ULP_NAN_NONE;
}

/* The code of x, rounded. Every value that a rounding gives has a code in the formats and policies that are offered. */
static uint64_t convert(tables *t, double x, int mode, int policy, uint32_t word) {
    const int bits = ulp_mode_is_stochastic((uint32_t)mode) ? BITS : 0;
    const ulp_rule rule = {(uint8_t)mode, (uint8_t)policy, (uint8_t)bits};
    uint64_t code = 0;
    if (ulp_encode(&code, ulp_round(x, t->format, rule, word), t->format) != ULP_OK) t->oracle.wrong++;
    vectors_oracle_compare(&t->oracle, code, x, rule, word);
    return code;
}

/* ---- codes ---- */

static void put_code(tables *t, uint64_t code, vectors_array *codes, vectors_array *values) {
    const double v = ulp_decode(code, t->format);
    vectors_put(codes, code);
    vectors_put(values, ulp_bits64(v));
    vectors_cell(&t->codes, code, t->format->bits);
    if (v != v) ulp_text_print(&t->codes, ",nan,nan\n");
    else ulp_text_print(&t->codes, ",%s,%.17g\n", ULP_HEX(v), v);
    vectors_oracle_compare_value(&t->oracle, code, v);
    t->counts.codes++;
}

static void put_codes(tables *t) {
    const ulp_format *f = t->format;
    vectors_array *codes = vectors_add(&t->file, 'u', vectors_code_bytes(f->bits), "code");
    vectors_array *values = vectors_add(&t->file, 'f', 8, "value");
    vectors_numbers selected = {0};
    uint64_t code;
    ulp_text_print(&t->codes, "code,value,decimal\n");
    if (f->bits <= 8) {
        for (code = 0; code < 1ull << f->bits; code++) put_code(t, code, codes, values);
        return;
    }
    vectors_values(&selected, f, t->request);
    const double specials[] = {-0.0, ulp_from_bits64(0x7ff0000000000000u), ulp_from_bits64(0xfff0000000000000u),
                               ulp_quiet_nan()};
    for (size_t i = 0; i < selected.count; i++)
        if (ulp_encode(&code, selected.at[i], f) == ULP_OK) put_code(t, code, codes, values);
    for (size_t i = f->has_neg_zero ? 0 : 1; i < 4; i++)
        if (ulp_encode(&code, specials[i], f) == ULP_OK) put_code(t, code, codes, values);
    free(selected.at);
}

/* ---- conversions ---- */

/* The bits of x, and those of x in binary32 if x is a binary32 number. */
static void put_input(ulp_text *csv, double x) {
    const float x32 = (float)x;
    vectors_cell(csv, ulp_bits64(x), 64);
    if ((double)x32 == x || x != x) vectors_cell(csv, x != x ? 0x7fc00000u : ulp_bits32(x32), 32);
    else ulp_text_add(csv, ",", 1);
}

/* The arrays of the results: one for each mode where policies do not count, one for each mode and policy elsewhere. */
typedef struct columns {
    vectors_array *x, *overflow_x;
    vectors_array *result[MODES], *overflow[POLICIES + 1][MODES];
} columns;

static void add_columns(tables *t, columns *c) {
    const size_t bytes = vectors_code_bytes(t->format->bits);
    ulp_text_print(&t->conversions, "binary64,binary32");
    ulp_text_print(&t->overflow, "binary64,binary32");
    c->x = vectors_add(&t->file, 'f', 8, "x");
    for (int m = 0; m < MODES; m++) {
        if (ulp_mode_is_stochastic((uint32_t)m)) continue;
        c->result[m] = vectors_add(&t->file, 'u', bytes, "%s", ulp_mode_name((ulp_mode)m));
        ulp_text_print(&t->conversions, ",%s", ulp_mode_name((ulp_mode)m));
    }
    c->overflow_x = vectors_add(&t->file, 'f', 8, "overflow_x");
    for (int p = 1; p <= POLICIES; p++)
        for (int m = 0; m < MODES && offers(t->format, p); m++) {
            const char *mode = ulp_mode_name((ulp_mode)m), *policy = ulp_overflow_name((ulp_overflow)p);
            if (ulp_mode_is_stochastic((uint32_t)m)) continue;
            c->overflow[p][m] = vectors_add(&t->file, 'u', bytes, "overflow_%s_%s", mode, policy);
            ulp_text_print(&t->overflow, ",%s_%s", mode, policy);
        }
    ulp_text_print(&t->conversions, "\n");
    ulp_text_print(&t->overflow, "\n");
}

/* Write x and its results to the table where it belongs: `overflow` if two policies give different codes. */
static void put_conversion(tables *t, columns *c, double x) {
    uint64_t code[POLICIES + 1][MODES];
    const int bits = t->format->bits;
    int differ = 0;
    for (int p = 1; p <= POLICIES; p++)
        for (int m = 0; m < MODES; m++) {
            if (c->overflow[p][m] == NULL) continue;
            code[p][m] = convert(t, x, m, p, 0);
            differ |= code[p][m] != code[1][m];
        }
    ulp_text *const csv = differ ? &t->overflow : &t->conversions;
    *(differ ? &t->counts.overflows : &t->counts.inputs) += 1;
    vectors_put(differ ? c->overflow_x : c->x, ulp_bits64(x));
    put_input(csv, x);
    for (int p = 1; p <= (differ ? POLICIES : 1); p++)
        for (int m = 0; m < MODES; m++) {
            if (c->overflow[p][m] == NULL) continue;
            vectors_put(differ ? c->overflow[p][m] : c->result[m], code[p][m]);
            vectors_cell(csv, code[p][m], bits);
        }
    ulp_text_add(csv, "\n", 1);
}

static void put_conversions(tables *t) {
    columns c = {0};
    vectors_numbers inputs = {0};
    add_columns(t, &c);
    vectors_inputs(&inputs, t->format, t->request);
    for (size_t i = 0; i < inputs.count; i++) put_conversion(t, &c, inputs.at[i]);
    free(inputs.at);
}

/* ---- stochastic conversions ---- */

/* Word i for a fraction of a gap: the ends of the range, the words where 8 bits decide, and random words. */
static uint32_t word_at(int i, double fraction, vectors_draw *draw) {
    const int above = (int)(256 * fraction);
    const uint32_t threshold = above == 0 ? 0x80000000u : (uint32_t)(256 - above) << 24;
    switch (i) {
    case 0: return 0;
    case 1: return 0xffffffffu;
    case 2: return threshold;
    case 3: return threshold - 1;
    case 4: return threshold - (1u << 24);
    default: return vectors_word(draw);
    }
}

static void put_stochastic(tables *t, vectors_array *const *to, double x, uint32_t word) {
    vectors_put(to[0], ulp_bits64(x));
    vectors_put(to[1], word);
    put_input(&t->stochastic, x);
    vectors_cell(&t->stochastic, word, 32);
    for (int m = 0, c = 2; m < MODES; m++) {
        if (!ulp_mode_is_stochastic((uint32_t)m)) continue;
        const uint64_t code = convert(t, x, m, ULP_OVERFLOW_DEFAULT, word);
        vectors_put(to[c++], code);
        vectors_cell(&t->stochastic, code, t->format->bits);
    }
    ulp_text_add(&t->stochastic, "\n", 1);
    t->counts.stochastic++;
}

/* Fractions of gaps between neighbouring values, spread over the range, and of the gap after the largest value. */
static void put_all_stochastic(tables *t) {
    static const double fractions[] = {0x1p-9, 0x3p-9, 0x1p-2, 0x1.55555p-2, 0.5, 0x1.fep-1, 0x1.ffp-1};
    const ulp_format *f = t->format;
    vectors_array *to[2 + MODES] = {vectors_add(&t->file, 'f', 8, "stochastic_x"),
                                    vectors_add(&t->file, 'u', 4, "stochastic_word")};
    vectors_numbers values = {0};
    vectors_draw draw = vectors_draw_for(t->request->seed, f->name);
    size_t arrays = 2;
    ulp_text_print(&t->stochastic, "binary64,binary32,word");
    for (int m = 0; m < MODES; m++) {
        if (!ulp_mode_is_stochastic((uint32_t)m)) continue;
        ulp_text_print(&t->stochastic, ",%s", ulp_mode_name((ulp_mode)m));
        to[arrays++] =
            vectors_add(&t->file, 'u', vectors_code_bytes(f->bits), "stochastic_%s", ulp_mode_name((ulp_mode)m));
    }
    ulp_text_print(&t->stochastic, "\n");
    vectors_values(&values, f, t->request);
    for (size_t g = 0; g < GAPS && f->prec < 53; g++) {
        const double v = values.at[g * (values.count - 1) / (GAPS - 1)];
        const double gap = v == f->max ? ulp_spacing(v, f) : ulp_next_up(v, f) - v;
        for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++)
            for (int w = 0; w < WORDS; w++)
                put_stochastic(t, to, v + fractions[i] * gap, word_at(w, fractions[i], &draw));
    }
    free(values.at);
}

/* ---- files ---- */

static ulp_status write_all(const tables *t, ulp_error *error) {
    const struct {
        const char *ending;
        const ulp_text *text;
    } csvs[] = {{".csv", &t->conversions},
                {".codes.csv", &t->codes},
                {".overflow.csv", &t->overflow},
                {".stochastic.csv", &t->stochastic}};
    char path[160];
    vectors_file_name(path, "formats", t->format->name, ".npz");
    ULP_TRY(vectors_write_npz(t->request, path, &t->file, error));
    for (size_t i = 0; i < sizeof csvs / sizeof csvs[0]; i++) {
        vectors_file_name(path, "formats", t->format->name, csvs[i].ending);
        ULP_TRY(vectors_write_text(t->request, path, csvs[i].text, error));
    }
    return ULP_OK;
}

ulp_status vectors_of_format(vectors_counts *counts, const ulp_format *f, const vectors_request *request,
                             ulp_error *error) {
    tables t = {.format = f, .request = request};
    ULP_TRY(vectors_oracle_open(&t.oracle, request->program, f, request->check, error));
    ulp_status status = ULP_OK;
    put_codes(&t);
    put_conversions(&t);
    put_all_stochastic(&t);
    if (t.oracle.wrong != 0)
        status =
            ulp_fail(error, ULP_BAD_FILE, "%s: %llu conversions have no code or differ from MPFR; nothing is written",
                     f->name, (unsigned long long)t.oracle.wrong);
    if (status == ULP_OK) status = write_all(&t, error);
    t.counts.compared = t.oracle.compared;
    *counts = t.counts;
    vectors_oracle_close(&t.oracle);
    vectors_free(&t.file);
    ulp_text_free(&t.codes);
    ulp_text_free(&t.conversions);
    ulp_text_free(&t.overflow);
    ulp_text_free(&t.stochastic);
    return status;
}

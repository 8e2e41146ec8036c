/* group.c - ulp round: rounding a group of numbers, and writing the results in the form of --to. */
#include "group.h"

#include <stdlib.h>
#include <string.h>

#include "tool/files/numbers.h"

size_t round_size(const round_group *g) {
    if (g->to == TO_F32LE) return 4;
    if (g->to == TO_F64LE) return 8;
    return g->coded.bits <= 8 ? 1 : g->coded.bits <= 16 ? 2 : g->coded.bits <= 32 ? 4 : 8;
}

void round_choose_values(round_group *g, size_t size) {
    ulp_format binary16;
    ulp_format_parse(&binary16, "binary16");
    g->to = size == 8 || !g->target.format.fits_binary32 ? TO_F64LE : TO_F32LE;
    if (size != 2 || !ulp_format_holds(&binary16, &g->target.format)) return;
    g->to = TO_CODELE;
    g->coded = binary16;
}

/* ---- texts ---- */

/* Write the code in hex digits, the last at to[digits - 1]. */
static inline void write_hex(char *to, int digits, uint64_t code) {
    static const char hex[] =
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233343536"
        "3738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d"
        "6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4"
        "a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadb"
        "dcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    for (; digits >= 2; digits -= 2, code >>= 8) memcpy(to + digits - 2, hex + 2 * (code & 255), 2);
    if (digits > 0) *to = hex[2 * (code & 15) + 1];
}

/* Write a value whose code is known; each value is printed once. */
static inline char *write_known(char *to, double y, round_text *known, const ulp_power_of_ten *powers) {
    if (known->length == 0) {
        char text[ULP_DECIMAL_ROOM];
        known->length = ulp_decimal_print(text, y, powers);
        memcpy(known->text, text, (size_t)known->length);
    }
    memcpy(to, known->text, 24);
    return to + known->length;
}

/* Write the lines of n results. `codes` is 1 if the results have codes. */
static void write_lines(round_group *g, size_t n, int codes) {
    const int digits = g->to == TO_VALUE ? 0 : (g->target.format.bits + 3) / 4;
    round_text *const texts = codes ? g->texts : NULL;
    const ulp_power_of_ten *const powers = g->to == TO_CODE ? NULL : ulp_powers_of_ten();
    char *at = g->output.text;
    for (size_t i = 0; i < n; i++) {
        write_hex(at, digits, g->code[i]);
        at += digits;
        if (g->to == TO_BOTH) *at++ = ' ';
        if (g->to != TO_CODE)
            at = texts != NULL ? write_known(at, g->y[i], &texts[g->code[i]], powers)
                               : at + ulp_decimal_print(at, g->y[i], powers);
        *at++ = '\n';
    }
    fwrite(g->output.text, 1, (size_t)(at - g->output.text), g->out);
    ulp_note_stdout();
}

/* ---- bytes ---- */

static void write_numbers(round_group *g, void *numbers, size_t n, size_t size) {
    file_little_endian(numbers, n, size);
    fwrite(numbers, size, n, g->out);
    ulp_note_stdout();
}

static void write_codes(round_group *g, size_t n) {
    const size_t size = round_size(g);
    if (size == 8) {
        write_numbers(g, g->code, n, size);
        return;
    }
    for (size_t i = 0; i < n && size == 1; i++) g->output.code8[i] = (uint8_t)g->code[i];
    for (size_t i = 0; i < n && size == 2; i++) g->output.code16[i] = (uint16_t)g->code[i];
    for (size_t i = 0; i < n && size == 4; i++) g->output.code32[i] = (uint32_t)g->code[i];
    write_numbers(g, &g->output, n, size);
}

/* ---- groups ---- */

void round_add_missing(ulp_text *to, double value, const ulp_format *format) {
    char number[40];
    uint64_t code;
    const ulp_status status = ulp_encode(&code, value, format);
    tool_exact_text(number, value, 24);
    ulp_text_print(to, "the result, %s, has no code in %s: %s", number, format->name, ulp_status_text(status));
}

static void round_numbers(round_group *g) {
    const tool_target *t = &g->target;
    ulp_rounding rounding = {&t->format, t->rule, t->stream, NULL};
    rounding.stream.first += g->index;
    if (!g->is_narrow) {
        ulp_backend_round64(g->backend, g->y, g->x, g->n, rounding);
        return;
    }
    ulp_backend_round(g->backend, g->narrow_y, g->narrow_x, g->n, rounding);
    for (size_t i = 0; i < g->n && g->to != TO_F32LE; i++) g->y[i] = (double)g->narrow_y[i];
}

size_t round_group_write(round_group *g) {
    const int wants_codes = g->to == TO_CODE || g->to == TO_BOTH || g->to == TO_CODELE;
    size_t n = g->n;
    round_numbers(g);
    if (wants_codes || g->texts != NULL) n = ulp_encode_array(g->code, g->y, g->n, &g->coded);
    const int has_codes = n == g->n;
    if (!wants_codes) n = g->n;
    switch (g->to) {
    case TO_F32LE:
        for (size_t i = 0; i < n && !g->is_narrow; i++) g->narrow_y[i] = (float)g->y[i];
        write_numbers(g, g->narrow_y, n, sizeof *g->narrow_y);
        break;
    case TO_F64LE: write_numbers(g, g->y, n, sizeof *g->y); break;
    case TO_CODELE: write_codes(g, n); break;
    default: write_lines(g, n, wants_codes || (g->texts != NULL && has_codes));
    }
    return n;
}

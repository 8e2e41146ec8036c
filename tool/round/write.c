/* write.c - ulp round: the results of a group of numbers as lines of text, or as numbers in binary. */
#include "job.h"

#include <string.h>

#include "tool/files/numbers.h"

/* ---- text ---- */

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

/* Write the lines of n results. texts: of the values of each code; NULL: no table. */
static void write_lines(round_job *j, size_t n, round_text *texts) {
    const int digits = j->to == TO_VALUE ? 0 : (j->target.format.bits + 3) / 4;
    const ulp_power_of_ten *const powers = j->to == TO_CODE ? NULL : ulp_powers_of_ten();
    char *at = j->output.text;
    for (size_t i = 0; i < n; i++) {
        write_hex(at, digits, j->code[i]);
        at += digits;
        if (j->to == TO_BOTH) *at++ = ' ';
        if (j->to != TO_CODE)
            at = texts != NULL ? write_known(at, j->y[i], &texts[j->code[i]], powers)
                               : at + ulp_decimal_print(at, j->y[i], powers);
        if (j->flags) {
            *at++ = ' ';
            at += ulp_flags_text(at, j->raised[i]);
        }
        *at++ = '\n';
    }
    fwrite(j->output.text, 1, (size_t)(at - j->output.text), j->file);
    ulp_note_stdout();
}

/* ---- binary ---- */

size_t round_size(const round_job *j) {
    const int bits = round_code_format(j)->bits;
    if (j->to == TO_F32LE) return 4;
    if (j->to == TO_F64LE) return 8;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static void write_numbers(round_job *j, void *numbers, size_t n, size_t size) {
    file_little_endian(numbers, n, size);
    fwrite(numbers, size, n, j->file);
    ulp_note_stdout();
}

static void write_codes(round_job *j, size_t n) {
    const size_t size = round_size(j);
    if (size == 8) {
        write_numbers(j, j->code, n, size);
        return;
    }
    for (size_t i = 0; i < n && size == 1; i++) j->output.code8[i] = (uint8_t)j->code[i];
    for (size_t i = 0; i < n && size == 2; i++) j->output.code16[i] = (uint16_t)j->code[i];
    for (size_t i = 0; i < n && size == 4; i++) j->output.code32[i] = (uint32_t)j->code[i];
    write_numbers(j, &j->output, n, size);
}

static void write_results(round_job *j, size_t n) {
    round_arrays *r = &j->arrays;
    if (j->to == TO_CODELE) write_codes(j, n);
    else if (j->to == TO_F64LE) write_numbers(j, j->y, n, sizeof *j->y);
    else {
        for (size_t i = 0; i < n && !r->is_narrow; i++) r->y[i] = (float)j->y[i];
        write_numbers(j, r->y, n, sizeof *r->y);
    }
}

/* ---- groups ---- */

size_t round_write(round_job *j) {
    const int wants_codes = j->to == TO_CODE || j->to == TO_BOTH || j->to == TO_CODELE;
    const size_t coded =
        wants_codes || j->texts != NULL ? ulp_encode_array(j->code, j->y, j->n, round_code_format(j)) : 0;
    const size_t n = wants_codes ? coded : j->n;
    if (j->to >= TO_F32LE) write_results(j, n);
    else write_lines(j, n, coded >= n ? j->texts : NULL);
    j->index += j->n;
    j->n = 0;
    return n;
}

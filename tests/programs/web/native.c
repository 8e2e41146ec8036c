/* native.c - random roundings and exact probabilities by libulp, for the test of the page's module against the library.
 *
 * Writes to the file of the first argument: blocks of a text line "format mode overflow bits seed count", `count`
 * numbers, and these numbers rounded (binary64, the byte order of the machine). To stdout: lines
 * "format mode bits x ups" with the number of words of 2^bits that round x away from zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/rng.h"

enum { BLOCKS = 2500, COUNT = 400, COINS = 400 };

static uint64_t at;
static const ulp_stream words = {20261123, 15, 0};

static uint32_t word(void) { return ulp_random_word(words, at++); }
static uint32_t below(uint32_t n) { return word() % n; }

/* A registered format, or one of a family. */
static ulp_format any_format(void) {
    ulp_format f;
    char name[ULP_NAME_MAX];
    if (below(3) > 0) {
        ulp_format_get(below((uint32_t)ulp_format_count), &f, NULL);
        return f;
    }
    do {
        if (below(2)) snprintf(name, sizeof name, "e%um%u%s", 1 + below(11), below(53), below(4) ? "" : ":nosub");
        else snprintf(name, sizeof name, "q%u.%u", 1 + below(16), below(17));
    } while (ulp_format_parse(&f, name) != ULP_OK);
    return f;
}

/* Any bits, a number of the format, the middle of two, or a neighbour of the middle in binary64. */
static double any_number(const ulp_format *f) {
    const uint64_t bits = (uint64_t)word() << 32 | word();
    const uint32_t kind = below(8);
    if (kind == 0) return ulp_from_bits64(bits);
    const double y = ulp_decode(bits, f), next = ulp_next_up(y, f);
    if (kind == 1 || !(next - y > 0) || next - next != 0) return y * (1 + below(3) * 0.5);
    const double middle = y + (next - y) * (kind < 5 ? 0.5 : below(257) / 256.0);
    if (kind % 2) return middle;
    const uint64_t u = ulp_bits64(middle);
    return ulp_from_bits64(below(2) ? u + 1 : u - 1);
}

static ulp_rule any_rule(const ulp_format *f) {
    ulp_rule rule;
    do rule = (ulp_rule){(uint8_t)below(ULP_MODE_COUNT), (uint8_t)below(ULP_OVERFLOW_COUNT), (uint8_t)(1 + below(32))};
    while (ulp_rule_check(f, rule) != ULP_OK);
    return rule;
}

static int write_blocks(FILE *to) {
    static double x[COUNT], y[COUNT];
    int good = 1;
    for (int b = 0; b < BLOCKS; b++) {
        const ulp_format f = any_format();
        const ulp_rule rule = any_rule(&f);
        const ulp_stream stream = {word(), 0, 0};
        for (uint32_t i = 0; i < COUNT; i++) {
            x[i] = any_number(&f);
            y[i] = ulp_round(x[i], &f, rule, ulp_random_word(stream, i));
        }
        good &= fprintf(to, "%s %s %s %u %llu %d\n", f.name, ulp_mode_name((ulp_mode)rule.mode),
                        ulp_overflow_name((ulp_overflow)rule.overflow), rule.random_bits,
                        (unsigned long long)stream.seed, COUNT) > 0;
        good &= fwrite(x, sizeof *x, COUNT, to) == COUNT && fwrite(y, sizeof *y, COUNT, to) == COUNT;
    }
    return good;
}

static void print_coins(void) {
    for (int i = 0; i < COINS;) {
        const ulp_format f = any_format();
        const ulp_rule rule = {(uint8_t)(ULP_SRA + below(3)), ULP_OVERFLOW_DEFAULT, (uint8_t)(1 + below(10))};
        const double x = any_number(&f), low = ulp_round(x, &f, rule, 0);
        uint32_t ups = 0;
        if (x - x != 0) continue;
        for (uint32_t r = 0; r < 1u << rule.random_bits; r++) {
            const double y = ulp_round(x, &f, rule, r << (32 - rule.random_bits));
            ups += !(y == low || (y != y && low != low));
        }
        printf("%s %s %u %.17g %u\n", f.name, ulp_mode_name((ulp_mode)rule.mode), rule.random_bits, x, ups);
        i++;
    }
}

int main(int argc, char **argv) {
    FILE *to = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (!to) return 2;
    const int good = write_blocks(to);
    print_coins();
    return fclose(to) == 0 && good ? 0 : 1;
}

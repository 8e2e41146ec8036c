/* t_arith_tables.c - complete tables of the operations of formats of up to 8 bits against golden checksums and MPFR.
 *
 * tests/golden/arith_tables.txt has a line for each table: format, operation, mode, number of results, CRC-32. A table
 * holds the results for all operands, the codes from 0 on, the last operand fastest. A result is the upper half of its
 * binary64 word, least byte first; the lower half is zero. fma16 is the part of the table of fma whose first operand is
 * 0, 16, 32, ...: small enough for `make check`.
 *
 *   t_arith_tables          all tables of add, sub, mul, div, sqrt, and fma16; fma of formats of up to 6 bits
 *   t_arith_tables --all    every table
 *   t_arith_tables --write  writes the golden file
 */
#include "support.h"

#include "base/checksum.h"
#include "kernels/mpfr/reference.h"

#define GOLDEN "tests/golden/arith_tables.txt"

enum { SAMPLE = 60, PART = 16, LINE = 128 };
static int all_tables;

/* A table: the operation, and the step of its first operand. */
typedef struct table {
    ulp_op op;
    uint64_t step;
    const char *name;
} table;

static const table tables[] = {{ULP_ADD, 1, "add"},       {ULP_SUB, 1, "sub"},   {ULP_MUL, 1, "mul"},
                               {ULP_DIV, 1, "div"},       {ULP_SQRT, 1, "sqrt"}, {ULP_FUSED, 1, "fma"},
                               {ULP_FUSED, PART, "fma16"}};
enum { TABLES = COUNT_OF(tables) };

/* ---- a table ---- */

/* The results for a run of last operands, added to the checksum. */
static uint32_t add_run(uint32_t crc, ulp_op op, const double *v, const double at[2], int last, size_t codes,
                        const ulp_format *f, ulp_rule rule) {
    unsigned char bytes[4 * 256];
    uint64_t low = 0;
    for (size_t i = 0; i < codes; i++) {
        double operand[3] = {at[0], at[1], 0};
        operand[last] = v[i];
        const uint64_t u = ulp_bits64(ulp_arith((ulp_scalar_op){op, operand[0], operand[1], operand[2]}, f, rule, 0));
        low |= u;
        for (int j = 0; j < 4; j++) bytes[4 * i + (size_t)j] = (unsigned char)(u >> (32 + 8 * j));
    }
    if ((uint32_t)low != 0) fail_msg("%s %s: a result has more than 21 bits", f->name, ulp_op_name(op));
    return ulp_crc32(crc, bytes, 4 * codes);
}

static void values_of(double v[256], const ulp_format *f) {
    for (uint64_t code = 0; code < (uint64_t)1 << f->bits; code++) v[code] = ulp_decode(code, f);
}

static uint32_t checksum(const table *t, const ulp_format *f, int mode, uint64_t *count) {
    double v[256];
    values_of(v, f);
    const size_t codes = (size_t)1 << f->bits;
    const int last = ulp_op_operands(t->op) - 1;
    const size_t firsts = last > 0 ? codes : 1, seconds = last > 1 ? codes : 1;
    const ulp_rule rule = rule_of(mode, ULP_OVERFLOW_DEFAULT, 0);
    uint32_t crc = 0;
    *count = 0;
    for (size_t i = 0; i < firsts; i += t->step)
        for (size_t j = 0; j < seconds; j++) {
            crc = add_run(crc, t->op, v, (double[]){v[i], v[j]}, last, codes, f, rule);
            *count += codes;
        }
    return crc;
}

/* The line of a table in the golden file. */
static void line_of(char line[LINE], const table *t, const ulp_format *f, int mode) {
    uint64_t count;
    const uint32_t crc = checksum(t, f, mode, &count);
    snprintf(line, LINE, "%s %s %s %llu %08x\n", f->name, t->name, ulp_mode_name((ulp_mode)mode),
             (unsigned long long)count, (unsigned)crc);
}

/* A sample of the table against MPFR. */
static void check_sample(const table *t, ulp_reference *ref, const ulp_format *f, int mode, uint64_t *seed) {
    const ulp_rule rule = rule_of(mode, ULP_OVERFLOW_DEFAULT, 0);
    double v[256];
    values_of(v, f);
    for (int i = 0; i < SAMPLE; i++) {
        const uint64_t r = next_random(seed), mask = ((uint64_t)1 << f->bits) - 1;
        const ulp_scalar_op of = {t->op, v[r & mask & (0 - t->step)], v[r >> 16 & mask], v[r >> 32 & mask]};
        const double got = ulp_arith(of, f, rule, 0), want = ulp_reference_arith(ref, of, rule, 0);
        if (!same_result(got, want)) fail_case(t->name, of.a, of.b, of.c, f, rule, 0, got, want);
    }
}

/* ---- all tables ---- */

static int is_small(size_t i, ulp_format *f) { return ulp_format_get(i, f, NULL) == ULP_OK && f->bits <= 8; }

/* Whether the table is part of this run. `make check` has a third of the tables, and the whole table of fma
 * of formats of up to 6 bits only. */
static int is_wanted(const table *t, const ulp_format *f, size_t index, int mode) {
    if (all_tables) return 1;
    if (THINNED) return t->op != ULP_FUSED && mode == (int)(index % 6);
    if (((size_t)mode + index) % thinned(4) != 0) return 0;
    return t->op != ULP_FUSED || t->step == PART || f->bits <= 6;
}

/* Whether a line stands in the golden file. */
static int is_golden(const char *golden, const char *line) {
    const char *at = strstr(golden, line);
    return at != NULL && (at == golden || at[-1] == '\n');
}

/* Whether the golden file has lines of a mode. A new mode has none until the file is written again. */
static int has_lines(const char *golden, int mode) {
    char word[16];
    snprintf(word, sizeof word, " %s ", ulp_mode_name((ulp_mode)mode));
    return strstr(golden, word) != NULL;
}

static char *read_golden(void) {
    static char text[1 << 17];
    FILE *in = fopen(GOLDEN, "r");
    if (in == NULL) fail_msg("%s: cannot be read; run the test in the project's folder", GOLDEN);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    return text;
}

TEST(tables) {
    const char *golden = read_golden();
    ulp_format f;
    uint64_t seed = 1, seen = 0;
    for (size_t i = 0; i < ulp_format_count; i++) {
        char lines_of[ULP_NAME_MAX + 3];
        if (!is_small(i, &f)) continue;
        snprintf(lines_of, sizeof lines_of, "\n%s ", f.name);
        if (strstr(golden, lines_of) == NULL) { /* a new format has no lines until the file is written again */
            print_message("# %s has no lines in %s\n", f.name, GOLDEN);
            continue;
        }
        ulp_reference *ref = ulp_reference_new(&f);
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (const table *t = tables; t < tables + TABLES; t++) {
                char line[LINE];
                if (ulp_mode_is_stochastic((uint32_t)mode)) continue;
                check_sample(t, ref, &f, mode, &seed);
                if (!is_wanted(t, &f, i, mode) || !has_lines(golden, mode)) continue;
                line_of(line, t, &f, mode);
                if (!is_golden(golden, line))
                    fail_msg("%s has no line \"%.*s\"", GOLDEN, (int)strcspn(line, "\n"), line);
                if (all_tables) fputs(line, stderr);
                seen++;
            }
        ulp_reference_free(ref);
    }
    assert_true(seen >= 25 * 5);
}

static int write_golden(void) {
    ulp_format f;
    FILE *out = fopen(GOLDEN ".tmp", "w");
    if (out == NULL) {
        fprintf(stderr, "t_arith_tables: %s.tmp: cannot be written\n", GOLDEN);
        return 1;
    }
    fprintf(out,
            "# Written by build/test/t_arith_tables --write: format, operation, mode, results, CRC-32; the head of "
            "tests/unit/t_arith_tables.c says what is summed.\n");
    for (size_t i = 0; i < ulp_format_count; i++)
        for (int mode = 0; is_small(i, &f) && mode < ULP_MODE_COUNT; mode++)
            for (const table *t = tables; t < tables + TABLES; t++) {
                char line[LINE];
                if (ulp_mode_is_stochastic((uint32_t)mode)) continue;
                line_of(line, t, &f, mode);
                fputs(line, out);
                fputs(line, stderr);
            }
    return fclose(out) == 0 && rename(GOLDEN ".tmp", GOLDEN) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--write") == 0) return write_golden();
    if (argc > 1 && (argc > 2 || strcmp(argv[1], "--all") != 0)) {
        fprintf(stderr, "t_arith_tables: %s: the options are --all and --write\n", argv[1]);
        return 2;
    }
    all_tables = argc > 1;
    return run_listed_tests(NULL, NULL);
}

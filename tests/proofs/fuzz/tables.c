/* tables.c - rows of a CSV: a table that is read is written as rows that are read as the same table. */
#include "experiments/harness/table/table.h"
#include "formats/round.h"
#include "tests/proofs/fuzz/support/fuzz.h"

typedef struct row {
    const char *text;
    int word;
    int64_t integer;
    double number;
    const char *more;
} row;

static const ulp_column columns[] = {ULP_COLUMNS(row, text),
                                     ULP_WORDS(row, word, "path spread two-level"),
                                     ULP_COLUMNS(row, integer, number, more),
                                     {0}};

static int is_valid(const char *text) {
    ulp_table table = ulp_table_of(columns, sizeof(row));
    const int good = ulp_table_add(&table, text, strlen(text), NULL) && table.count > 0;
    ulp_table_free(&table);
    return good;
}

static int same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void run(const uint8_t *data, size_t size) {
    const char *text = fuzz_text(data, size);
    ulp_table table = ulp_table_of(columns, sizeof(row)), again = ulp_table_of(columns, sizeof(row));
    ulp_rows rows = {.columns = columns, .label = "fuzz"};
    if (ulp_table_add(&table, text, strlen(text), NULL)) {
        if (table.count) fuzz_passed();
        for (size_t i = 0; i < table.count; i++) ulp_row_put(&rows, (const row *)table.rows + i);
        fuzz_check(ulp_table_add(&again, ulp_text_of(&rows.text), rows.text.length, NULL), "these rows are refused: %s",
                   ulp_text_of(&rows.text));
        fuzz_check(again.count == table.count, "%zu rows of %zu", again.count, table.count);
        for (size_t i = 0; i < table.count; i++) {
            const row *a = (const row *)table.rows + i, *b = (const row *)again.rows + i;
            const int same = (ulp_bits64(a->number) == ulp_bits64(b->number) ||
                              (a->number != a->number && b->number != b->number &&
                               ulp_is_no_number(a->number) == ulp_is_no_number(b->number))) &&
                             a->integer == b->integer && a->word == b->word && same_text(a->text, b->text) &&
                             same_text(a->more, b->more);
            fuzz_check(same, "row %zu of '%s' is written as '%s'", i, text, ulp_text_of(&rows.text));
        }
    }
    ulp_text_free(&rows.text);
    ulp_table_free(&table);
    ulp_table_free(&again);
}

static void seeds(void) {
    fuzz_seed_text("binary16,path,1,0.5,\n");
    fuzz_seed_text(",,,,\n");
    fuzz_seed_text("e4m3,two-level,-5,nan,x\nbf16,spread,9223372036854775807,-inf,y z\n");
    fuzz_seed_text("a,path,0,1.7976931348623157e+308,b\n,spread,,4.9406564584124654e-324,\nc,,7,,d\n");
    fuzz_seed_text("a,path,12,0x1p-3,b");
}

const fuzz_target fuzz_target_tables = {FUZZ_TEXT("tables", 400, 1 << 14, 64)};

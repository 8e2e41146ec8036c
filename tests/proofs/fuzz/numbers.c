/* numbers.c - numbers of command lines, of lines of files and of answers: decimals, hex floats, lists, ranges, sums. */
#include "base/decimal.h"
#include "experiments/harness/cli/options.h"
#include "course/sheets/sheet.h"
#include "tests/proofs/fuzz/support/fuzz.h"

static int same_number(double a, double b) { return ulp_bits64(a) == ulp_bits64(b) || (a != a && b != b); }

/* Read a value of a type that needs no more than its text; limits of both signs, or none. */
static ulp_status reads(void *field, const ulp_option_type *type, const char *text, double limit, ulp_error *error) {
    const ulp_option option = {.name = "n", .type = type, .min = -limit, .max = limit};
    return type->read(field, text, &option, error);
}

static int is_valid(const char *text) {
    ulp_error error;
    ulp_text why = {0};
    ulp_number_list list;
    double value;
    int valid = reads(&list, &ulp_type_numbers, text, 0, &error) == ULP_OK;
    if (valid) ulp_type_numbers.release(&list);
    valid |= course_read_number(&value, text, &why) != COURSE_NO_NUMBER;
    ulp_text_free(&why);
    return valid;
}

/* The readers of exact numbers agree with strtod about the nearest binary64 number and about the end of the number; the
 * fast one may leave a text to the other. */
static void check_decimal(const char *text, size_t size) {
    const ulp_power_of_ten *powers = ulp_powers_of_ten();
    char *padded = ulp_grow(NULL, size + ULP_DECIMAL_AFTER + 1), *end;
    memcpy(padded, text, size);
    memset(padded + size, 0, ULP_DECIMAL_AFTER + 1);
    ulp_exact exact;
    const double right = strtod(padded, &end);
    const char *after = ulp_decimal_read(&exact, padded, powers);
    double read = after ? ulp_round_exact(exact, &ulp_binary64, (ulp_rule){0}, 0) : 0.0;
    if (after && *after != 'x' && *after != 'X') /* of a hex number it reads the first 0 */
        fuzz_check(after == end && same_number(read, right), "'%s' is %a with %td characters, strtod: %a with %td",
                   text, read, after - padded, right, end - padded);
    if (ulp_exact_read(&exact, padded, ULP_NUMBER_ALL) == ULP_OK) {
        read = ulp_round_exact(exact, &ulp_binary64, (ulp_rule){0}, 0);
        fuzz_check(*end == '\0' && same_number(read, right), "'%s' is %a, strtod: %a", text, read, right);
    }
    free(padded);
    char printed[ULP_DECIMAL_ROOM];
    const int length = ulp_decimal_print(printed, right, powers);
    fuzz_check(length > 0 && length <= 24, "%a: %d characters", right, length);
    printed[length] = '\0';
    fuzz_check(same_number(strtod(printed, NULL), right), "%a is printed as %s", right, printed);
}

enum { MANY = 1000 }; /* numbers of a list that is not printed: a range of few characters has up to a million */

/* A value that is taken is printed as a text with the same value; a refusal has a sentence. */
static void check_type(const ulp_option_type *type, const char *text, double limit) {
    union {
        double number;
        int64_t integer;
        uint64_t word;
        ulp_number_list numbers;
        ulp_integer_list integers;
    } field, again;
    const ulp_option option = {.name = "n", .type = type};
    ulp_error error;
    ulp_text first = {0}, second = {0};
    memset(&field, 0, sizeof field);
    memset(&again, 0, sizeof again);
    if (reads(&field, type, text, limit, &error) == ULP_OK) {
        const int is_long = (type == &ulp_type_numbers && field.numbers.count > MANY) ||
                            (type == &ulp_type_integers && field.integers.count > MANY);
        fuzz_passed();
        if (!is_long) {
            type->print(&first, &field, &option);
            fuzz_check(reads(&again, type, ulp_text_of(&first), limit, &error) == ULP_OK,
                       "'%s' is printed as '%s', which is refused: %s", text, ulp_text_of(&first), error.text);
            type->print(&second, &again, &option);
            fuzz_check(strcmp(ulp_text_of(&first), ulp_text_of(&second)) == 0, "'%s' is '%s', which is '%s'", text,
                       ulp_text_of(&first), ulp_text_of(&second));
            if (type->release) type->release(&again);
        }
        if (type->release) type->release(&field);
    } else fuzz_check_sentence(error.text, text);
    ulp_text_free(&first);
    ulp_text_free(&second);
}

static void check_answer(const char *text) {
    ulp_text why = {0};
    double value = 0;
    if (course_read_number(&value, text, &why) == COURSE_NO_NUMBER) fuzz_check_sentence(ulp_text_of(&why), text);
    else {
        char printed[40];
        double again = 0;
        fuzz_passed();
        snprintf(printed, sizeof printed, "%.17g", value);
        fuzz_check(course_read_number(&again, printed, &why) != COURSE_NO_NUMBER && same_number(value, again),
                   "'%s' is %s, which is %a: %s", text, printed, again, ulp_text_of(&why));
    }
    ulp_text_free(&why);
}

static void run(const uint8_t *data, size_t size) {
    static const double limits[] = {0, 100, 0x1p40};
    const char *text = fuzz_text(data, size);
    check_decimal(text, strlen(text));
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        check_type(&ulp_type_number, text, limits[i]);
        check_type(&ulp_type_integer, text, limits[i]);
        check_type(&ulp_type_numbers, text, limits[i]);
        check_type(&ulp_type_integers, text, limits[i]);
    }
    check_type(&ulp_type_unsigned, text, 0);
    check_answer(text);
}

static void seeds(void) {
    fuzz_seed_words("0 -0 0.1 -1.5e-300 1e23 9007199254740993.0 5.12345678901234567890123890 18446744073709551615 "
                    "18446744073709551616 2.2250738585072011e-308 4.9406564584124654e-324 1.7976931348623157e308 1e309 "
                    "0x1.8p-2 0x10 1e6 1..9 -3..3 0.5..4.5 1,2,5..8 0.1,0.2,1e3 3/8 2^-4 2^(-4) 3*2^-3 1+2^-10 "
                    "2^16-2^10 2**10 inf -infinity nan \342\210\2221 3\303\2272^4");
}

/* A range a..b of few characters has up to a million numbers. */
const fuzz_target fuzz_target_numbers = {FUZZ_TEXT("numbers", 64, 4096, 4 << 20)};

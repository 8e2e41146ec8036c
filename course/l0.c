/* l0.c - lab L0: bits and spacing. Codes, exact values, the ends of the range, ties. */
#include "course/sheets/sheet.h"

#include <stdio.h>
#include <string.h>

static void ask_code(course_sheet *s) {
    const ulp_format f = course_format("binary16");
    double x;
    do x = (1000 + course_draw(s, 9000)) / 1000.0;
    while (x == 5.5); /* the example of the page */
    course_question *q =
        course_ask_code(s, course_round(x, &f, ULP_RNE), &f,
                        "Round %.3f to binary16, to nearest, ties to even. Which code has the result? (hex)", x);
    course_other_modes(q, x, &f, ULP_RNE);
    q->hint = "Write the number as 1.f * 2^e. The code is the sign bit, five bits e + 15, ten bits of f.";
}

static void ask_value(course_sheet *s) {
    const ulp_format f = course_format("bfloat16");
    const uint64_t sign = course_draw(s, 2), exponent = 121 + course_draw(s, 13),
                   fraction = 8 * (1 + course_draw(s, 15));
    const uint64_t code = sign << 15 | exponent << 7 | fraction;
    const double x = ulp_decode(code, &f), e = (double)exponent - 127, hidden = ulp_scale(sign ? -1 : 1, (int)e);
    course_question *q =
        course_ask_number(s, x, &f, "Which number has the code %04llx in bfloat16?", (unsigned long long)code);
    course_tempting(q, x - hidden, "The significand has a bit that is not in the code.");
    course_tempting(q, x * ulp_scale(1, 112), "bfloat16 has eight exponent bits with the bias 127.");
    for (int i = -1; i < 2; i += 2)
        course_almost(q, x + i * ulp_spacing(x, &f),
                      "This is one unit in the last place away. Look at the last bits of the code.");
    q->hint = "Cut the bits into a sign, eight exponent bits with the bias 127, and seven bits of a fraction.";
}

static void ask_spacing(course_sheet *s) {
    const char *const names[] = {"binary16", "bfloat16"};
    const ulp_format f = course_format(names[course_draw(s, 2)]);
    double x;
    do x = ulp_scale(65 + course_draw(s, 61), (int)course_draw(s, 9) - 4);
    while (x == 5.5); /* the example of the page */
    const double key = ulp_spacing(x, &f);
    course_question *q =
        course_ask_number(s, key, NULL, "How far is the number %s of %s from the next larger number of the format?",
                          course_show(x).text, f.name);
    course_tempting(q, x + key, "This is the next larger number. The question asks for the distance.");
    course_tempting(q, key / 2, "This is half of the spacing, the largest error of a rounding to nearest.");
    course_tempting(q, ulp_scale(1, 1 - f.prec), "This is the spacing at 1. The spacing grows with the number.");
    q->is_power = 1;
    q->hint = "Find the power of two at or below the number; the spacing is this power times 2^(1-p).";
}

/* The smallest and the largest number of a format that the student has not seen. */
static void ask_ends(course_sheet *s) {
    char name[ULP_NAME_MAX];
    snprintf(name, sizeof name, "e%um%u", 4 + course_draw(s, 3), 4 + course_draw(s, 4));
    const ulp_format f = course_format(name);
    const char *what = "%s is a format like those of IEEE 754 with %d exponent bits and %d fraction bits. ";
    ulp_text head = {0};
    ulp_text_print(&head, what, f.name, f.bits - f.prec, f.prec - 1);
    course_question *q =
        course_ask_number(s, f.min_positive, NULL, "%sWhich is its smallest positive number?", ulp_text_of(&head));
    course_tempting(q, 0, "Zero is not positive.");
    course_tempting(q, f.min_normal, "This is the smallest normal number. Subnormal numbers are smaller.");
    course_tempting(q, f.min_positive / 2,
                    "Subnormal numbers have the exponent of the smallest normal number, 1 - bias.");
    course_tempting(q, f.min_positive * 2, "The fraction has one bit less than the significand.");
    q->is_power = 1;
    q->hint = "The smallest subnormal number has exponent field 0 and only the last bit of the fraction.";
    q = course_ask_number(s, f.max, NULL, "%sWhich is its largest finite number?", ulp_text_of(&head));
    course_tempting(q, f.max * 2, "The exponent field of ones is not for numbers: it holds infinity and NaN.");
    course_tempting(q, ulp_scale(1, f.emax + 1), "The largest number is one spacing below this power of two.");
    course_tempting(q, ulp_scale(1, f.emax), "The fraction of the largest number is not zero.");
    q->hint = "The largest number has the exponent field of ones but for the last bit, and a fraction of ones.";
    ulp_text_free(&head);
}

static void ask_count(course_sheet *s) {
    const char *const names[] = {"binary16", "bfloat16"};
    const ulp_format f = course_format(names[course_draw(s, 2)]);
    const unsigned low = course_draw(s, 5), binades = 2 + course_draw(s, 4);
    const double each = ulp_scale(1, f.prec - 1), key = binades * each;
    course_question *q = course_ask_number(s, key, NULL, "How many numbers x of %s have %u <= x < %u?", f.name,
                                           1u << low, 1u << (low + binades));
    course_tempting(q, 2 * key, "The first bit of the significand is always one, so it does not count.");
    course_tempting(q, (1u << (low + binades)) - (1u << low), "Numbers of the format are not only whole numbers.");
    course_almost(q, key + 1, "One of the two ends does not belong to the question.");
    course_almost(q, key - 1, "One of the two ends belongs to the question.");
    course_tempting(q, each, "This is the count between two neighbouring powers of two.");
    q->hint = "Between two neighbouring powers of two there are equally many numbers, one for each fraction.";
}

static void ask_tie(course_sheet *s) {
    const ulp_format f = course_format("binary16");
    const double low = ulp_scale(1024 + course_draw(s, 1023), (int)course_draw(s, 6) - 8);
    const double x = low + ulp_spacing(low, &f) / 2;
    course_question *q = course_ask_number(s, course_round(x, &f, ULP_RNE), &f,
                                           "The number %s lies halfway between two neighbours of binary16. Which of "
                                           "the two does rounding to nearest, ties to even, give?",
                                           course_show(x).text);
    course_tempting(q, x, "This is the number of the question, and no number of binary16.");
    course_other_modes(q, x, &f, ULP_RNE);
    q->hint = "Write both neighbours as whole numbers times the spacing. One of the whole numbers is even.";
}

static void ask_overflow(course_sheet *s) {
    static const double numbers[] = {65510, 65515, 65519, 65520, 65521, 65525, 65530, 66000, 70000, 100000};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    static const ulp_mode modes[] = {ULP_RNE, ULP_RNE, ULP_RZ, ULP_RU, ULP_RD};
    const ulp_format f = course_format("binary16");
    const double x = numbers[course_draw(s, NUMBERS)];
    const ulp_mode mode = modes[course_draw(s, 5)];
    course_question *q =
        course_ask_choice(s, "65504 inf", course_round(x, &f, mode) != f.max,
                          "The largest number of binary16 is 65504. Does %.0f, rounded %s, become 65504 or inf?", x,
                          mode == ULP_RNE ? "to nearest, ties to even" : ulp_mode_meaning(mode));
    q->hint = "Suppose that 65536 were the next number of the format. Does the number then go to 65504 or to 65536? "
              "Where it goes to 65536 or farther, it overflows.";
}

static void ask(course_sheet *s) {
    ask_code(s);
    ask_value(s);
    ask_spacing(s);
    ask_ends(s);
    ask_count(s);
    ask_tie(s);
    ask_overflow(s);
}

const course_lab course_lab_l0 = {"L0", "bits and spacing", ask};

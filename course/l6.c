/* l6.c - lab L6: few bits. Fixed point, FP8, blocks that share a scale. */
#include "course/sheets/sheet.h"
#include "formats/block.h"

#include <stdio.h>
#include <stdlib.h>

static double wrapped(double x, const ulp_format *f) {
    return ulp_round(x, f, (ulp_rule){.mode = ULP_RNE, .overflow = ULP_OVERFLOW_WRAP}, 0);
}

static void ask_fixed(course_sheet *s) {
    const ulp_format f = course_format("q4.4");
    int hundredths;
    do hundredths = (int)course_draw(s, 1400) - 700;
    while (hundredths % 10 == 0); /* the page has numbers with one decimal */
    const double x = hundredths / 100.0;
    course_question *q = course_ask_number(s, course_round(x, &f, ULP_RNE), &f,
                                           "q4.4 has 8 bits in two's complement, 4 of them after the point. Round "
                                           "%.2f to q4.4, to nearest, ties to even. What is the result?",
                                           x);
    course_tempting(q, x, "This is the number of the question. Is it a number of q4.4?");
    course_other_modes(q, x, &f, ULP_RNE);
    q->hint = "The numbers of q4.4 are the multiples of 1/16.";
}

static void ask_overflow(course_sheet *s) {
    const ulp_format f = course_format("q4.4");
    const int negative = (int)course_draw(s, 2);
    double a = (64 + (int)course_draw(s, 60)) / 16.0, b = (68 + (int)course_draw(s, 56)) / 16.0;
    if (negative) a = -a, b = -b;
    const double end = negative ? f.lowest : f.max;
    const char *text = "What is %s + %s in q4.4 (from -8 to 7.9375) where results beyond the range %s?";
    course_question *q = course_ask_number(s, course_add(a, b, &f, ULP_RNE), NULL, text, course_show(a).text,
                                           course_show(b).text, "become the nearest end of the range (saturation)");
    course_tempting(q, a + b, "This is beyond the range.");
    course_tempting(q, wrapped(a + b, &f), "This wraps around. Saturation stays at the end.");
    course_tempting(q, negative ? f.max : f.lowest, "This is the other end of the range.");
    course_almost(q, negative ? -f.max : -f.lowest, "The two ends of the range differ in size.");
    for (int i = -1; i < 2; i += 2)
        course_almost(q, end + i / 16.0, "Nothing is rounded here. Which is the end of the range?");
    q->hint = "Is the exact sum in the range? The question says what becomes of a result beyond the range.";
    q = course_ask_number(s, wrapped(a + b, &f), NULL, text, course_show(a).text, course_show(b).text,
                          "wrap around (modulo 16)");
    course_tempting(q, a + b, "This is beyond the range.");
    course_tempting(q, end, "This saturates. Wrapping around adds or subtracts the length of the range.");
    course_almost(q, q->key + (negative ? -1 : 1) / 16.0,
                  "The length of the range is 16, not 15.9375: the spacing counts, too.");
    course_almost(q, q->key - (negative ? -1 : 1) / 16.0, "Nothing is rounded here. Add the two numbers once more.");
    q->hint = "Add or subtract 16 until the number is in the range.";
}

static void ask_fp8(course_sheet *s) {
    const ulp_format f = course_format("e4m3");
    double x;
    do x = 200 + course_draw(s, 300);
    while (x == 300 || x == 448 || x == 464 || x == 480); /* on the page */
    course_question *q = course_ask_number(s, course_round(x, &f, ULP_RNE), &f,
                                           "e4m3 has 3 fraction bits and 448 as its largest number, and it saturates. "
                                           "Round %.0f to e4m3, to nearest, ties to even. What is the result?",
                                           x);
    course_tempting(q, x, "This is the number of the question. Is it a number of e4m3?");
    course_other_modes(q, x, &f, ULP_RNE);
    q->hint = "From 2^e to 2^(e+1) the spacing of e4m3 is 2^(e-3).";
}

static void ask_nearer(course_sheet *s) {
    const ulp_format few = course_format("e4m3"), wide = course_format("e5m2");
    double x, error, other;
    do {
        x = course_draw(s, 2) ? (17 + course_draw(s, 400)) / 16.0 : 500 + 100 * course_draw(s, 60);
        error = course_round(x, &few, ULP_RNE) - x;
        other = course_round(x, &wide, ULP_RNE) - x;
    } while (error * error == other * other || x == 500); /* 500 is on the page */
    course_question *q = course_ask_choice(s, "e4m3 e5m2", error * error > other * other,
                                           "Which of e4m3 (largest number 448, saturates) and e5m2 (largest number "
                                           "57344) has a number nearer to %s? (e4m3 or e5m2)",
                                           course_show(x).text);
    q->hint = "Write down the neighbours of the number in both formats, and compare the distances.";
}

enum { ELEMENTS = 4 };

/* A block whose scale is not the scale of the block of the page, and the elements y that it is rounded to. Returns the
 * scale. */
static double draw_block(course_sheet *s, float *x, float *y) {
    ulp_block block;
    uint8_t code;
    double scale;
    if (ulp_block_parse(&block, "mxfp4") != ULP_OK) abort();
    do {
        for (int i = 0; i < ELEMENTS; i++) {
            x[i] = (float)ulp_scale(5 + course_draw(s, 27), -(int)course_draw(s, 4) - (i ? 2 : 0));
            if (course_draw(s, 2)) x[i] = -x[i];
        }
        ulp_block_scale(&code, x, ELEMENTS, &block, 1);
        scale = ulp_block_scale_value(code, &block);
    } while (scale == 1);
    ulp_block_round(y, x, (ulp_block_array){&block, ELEMENTS, 1}, (ulp_rule){0}, (ulp_stream){0});
    return scale;
}

static void ask_block(course_sheet *s) {
    const ulp_format element = course_format("e2m1");
    float x[ELEMENTS], y[ELEMENTS];
    int which;
    ulp_text list = {0};
    double scale;
    do {
        scale = draw_block(s, x, y);
        which = (int)course_draw(s, ELEMENTS);
    } while (x[which] == y[which]); /* a number that stays is no question */
    for (int i = 0; i < ELEMENTS; i++) ulp_text_print(&list, "%s%s", i ? ", " : "", course_show((double)x[i]).text);
    const double given = (double)x[which];
    course_question *q = course_ask_number(
        s, scale, NULL,
        "The elements of a block of MXFP4 are numbers of e2m1 (0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives). The "
        "block has the scale 2^(floor(log2 m) - 2), m the largest magnitude. Which scale has the block %s?",
        ulp_text_of(&list));
    q->is_power = 1;
    course_almost(q, 2 * scale, "floor never goes up, so m divided by the scale can be larger than 4.");
    course_almost(q, scale / 2, "Take the power of two at or below the largest magnitude.");
    course_tempting(q, 4 * scale,
                    "This is the power of two at or below the largest magnitude; subtract 2 from its exponent.");
    q->hint = "Only the largest magnitude of the block counts.";
    q = course_ask_number(s, (double)y[which], NULL,
                          "What becomes of the number %s in the block %s (to nearest, ties to even; elements saturate "
                          "at 6)? Mind the sign, also of a zero.",
                          course_show(given).text, ulp_text_of(&list));
    course_almost(q, (double)y[which] / scale, "This is the element. Multiply it by the scale.");
    course_tempting(q, given, "Divide by the scale: is the quotient a number of e2m1?");
    course_almost(q, scale * course_round(given / scale, &element, ULP_RZ),
                  "This is cut off, not rounded to nearest: compare the distances to both neighbours.");
    course_almost(q, scale * course_round(given / scale, &element, ULP_RNA), "The quotient is a tie.");
    course_almost(q, scale * course_round(given / scale, &element, ULP_RU), "The rounding goes the other way.");
    course_almost(q, scale * course_round(given / scale, &element, ULP_RD), "The rounding goes the other way.");
    q->hint = "Divide by the scale, round to e2m1, multiply by the scale.";
    ulp_text_free(&list);
}

static void ask_size(course_sheet *s) {
    const unsigned size = 8u << course_draw(s, 5), bits = 3 + course_draw(s, 6);
    course_question *q = course_ask_number(s, bits + 8.0 / size, NULL,
                                           "Blocks of %u numbers of %u bits share a scale of 8 bits. How many bits "
                                           "does one number take, its part of the scale included?",
                                           size, bits);
    q->unit = "bits";
    course_tempting(q, bits, "The scale takes bits, too.");
    course_tempting(q, bits + 8, "The numbers of a block share the scale.");
    course_tempting(q, bits * size + 8, "This is the size of a whole block.");
    q->hint = "Count the bits of a whole block, and divide.";
}

static void ask(course_sheet *s) {
    ask_fixed(s);
    ask_overflow(s);
    ask_fp8(s);
    ask_nearer(s);
    ask_block(s);
    ask_size(s);
}

const course_lab course_lab_l6 = {"L6", "few bits: fixed point, FP8, blocks", ask};

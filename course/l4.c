/* l4.c - lab L4: loss scaling and the recipe of mixed precision. */
#include "course/sheets/sheet.h"
#include "sim/train/scaler.h"

#include <stdio.h>

/* A gradient of binary32 as a question shows it: an odd number times a power of two. */
static double draw_gradient(course_sheet *s, int exponent) {
    return ulp_scale(2 * course_draw(s, 8) + 17, exponent - 4);
}

static void ask_smallest_scale(course_sheet *s) {
    const ulp_format f = course_format("binary16");
    const double g = draw_gradient(s, -36 + (int)course_draw(s, 8));
    double scale = 1;
    while (course_round(g * scale, &f, ULP_RNE) == 0) scale *= 2;
    course_question *q = course_ask_number(s, scale, NULL,
                                           "Which is the smallest loss scale, a power of two, with which the gradient "
                                           "%s does not become zero in binary16 (to nearest, ties to even)?",
                                           course_show(g).text);
    q->is_power = 1;
    course_almost(q, 2 * scale,
                  "The gradient does not become zero. What becomes of the numbers between 2^-25 and 2^-24?");
    course_almost(q, scale / 2, "With this scale the gradient still becomes zero.");
    course_sides(q, "With this scale the gradient still becomes zero.",
                 "The gradient does not become zero, but a smaller scale is enough, too.");
    q->hint = "A number above 2^-25 does not become zero in binary16.";
}

static void ask_largest_scale(course_sheet *s) {
    const ulp_format f = course_format("binary16");
    const double g = draw_gradient(s, -8 + (int)course_draw(s, 10));
    double scale = 1;
    while (course_round(g * scale * 2, &f, ULP_RNE) <= f.max) scale *= 2;
    course_question *q = course_ask_number(s, scale, NULL,
                                           "The largest gradient of a step is %s. Which is the largest loss scale, a "
                                           "power of two, with which it does not overflow in binary16?",
                                           course_show(g).text);
    q->is_power = 1;
    course_almost(q, 2 * scale, "With this scale the gradient overflows.");
    course_almost(q, scale / 2, "With this scale the gradient does not overflow. Is this scale the largest?");
    course_sides(q, "A larger scale is possible, too.", "With this scale the gradient overflows.");
    q->hint = "The largest number of binary16 is 65504. Which multiples of the gradient are not above it?";
}

static void ask_scaled(course_sheet *s) {
    const ulp_format f = course_format("binary16");
    const int k = 8 + (int)course_draw(s, 5);
    const double g = ulp_scale(1025 + 2 * course_draw(s, 511), -37 - (int)course_draw(s, 4));
    const double key = ulp_scale(course_round(ulp_scale(g, k), &f, ULP_RNE), -k);
    course_question *q =
        course_ask_number(s, key, NULL,
                          "The gradient %s is multiplied by the loss scale 2^%d, rounded to binary16 (to nearest, ties "
                          "to even) and divided by the scale in binary32. What is the result?",
                          course_show(g).text, k);
    course_tempting(q, course_round(g, &f, ULP_RNE), "This is the gradient without a loss scale.");
    course_tempting(q, g, "This is the gradient itself. Is the scaled gradient a number of binary16?");
    course_almost(q, ulp_scale(course_round(ulp_scale(g, k), &f, ULP_RNA), -k), "The scaled gradient is a tie.");
    course_almost(q, ulp_scale(course_round(ulp_scale(g, k), &f, ULP_RZ), -k),
                  "This is cut off, not rounded to nearest: compare the distances to both neighbours.");
    for (int i = -1; i < 2; i += 2)
        course_almost(q, key + ulp_scale(i, f.qmin - k), "Look once more at the rounding to a multiple of 2^-24.");
    course_almost(q, ulp_scale(key, k),
                  "This is the scaled gradient in binary16. The division by the scale is missing.");
    q->hint = "Scale first: the scaled gradient is a subnormal number of binary16, with the spacing 2^-24.";
}

/* A scaler that overflows as soon as its scale is above a limit. */
static void ask_dynamic(course_sheet *s) {
    const int start = 12 + (int)course_draw(s, 5), limit = 9 + (int)course_draw(s, 5);
    const unsigned interval = 2 + course_draw(s, 3), steps = 16 + course_draw(s, 15);
    ulp_scaler_rule rule = ulp_scaler_static(start);
    ulp_scaler scaler;
    rule.way = ULP_SCALE_BY_OVERFLOW;
    rule.skip = 1;
    rule.min = 0;
    rule.max = 24;
    rule.interval = interval;
    rule.hysteresis = 1;
    ulp_scaler_init(&scaler, &rule, NULL);
    for (unsigned i = 0; i < steps; i++)
        ulp_scaler_update(&scaler, scaler.log2 > limit ? (float)ulp_from_bits64(0x7ff0000000000000u) : 1.0f);
    const char *text =
        "A dynamic loss scale starts at 2^%d. A step with an overflow is skipped and halves the scale; after %u good "
        "steps in a row the scale doubles. Every step with a scale above 2^%d overflows. %s";
    ulp_text end = {0};
    ulp_text_print(&end, "What is the scale after %u steps? (A change at the end of step %u counts.)", steps, steps);
    const double scale = ulp_scale(1, scaler.log2), skipped = (double)scaler.skipped;
    course_question *q = course_ask_number(s, scale, NULL, text, start, interval, limit, ulp_text_of(&end));
    q->is_power = 1;
    course_almost(q, 2 * scale, "Count the good steps since the last change once more.");
    course_almost(q, scale / 2, "Count the good steps since the last change once more.");
    q->hint = "Write down the scale of each step, and beside it whether the step is good.";
    ulp_text_free(&end);
    ulp_text_print(&end, "How many of the first %u steps are skipped?", steps);
    q = course_ask_number(s, skipped, NULL, text, start, interval, limit, ulp_text_of(&end));
    course_almost(q, skipped + 1, "This is nearly the number. Go through the steps once more.");
    course_almost(q, skipped - 1, "This is nearly the number. Go through the steps once more.");
    course_tempting(q, start > limit ? start - limit : 0, "The scale grows again, and overflows again.");
    q->hint = "Write down the scale of each step, and beside it whether the step is good.";
    ulp_text_free(&end);
}

static void ask_master(course_sheet *s) {
    const ulp_format f = course_format("binary16"), wide = course_format("binary32");
    const int k = 12 + (int)course_draw(s, 3), steps = 100 + 10 * (int)course_draw(s, 21);
    const double weight = 1 + course_draw(s, 4) * 0.25, update = ulp_scale(1, -k);
    double alone = weight, master = weight;
    for (int i = 0; i < steps; i++) {
        alone = course_add(alone, update, &f, ULP_RNE);
        master = course_add(master, update, &wide, ULP_RNE);
    }
    course_question *q = course_ask_number(
        s, course_round(master, &f, ULP_RNE), &f,
        "A weight is %s. In each of %d steps 2^-%d is added to its master copy in binary32. Which number is the "
        "binary16 copy of the master weight after the last step (to nearest, ties to even)?",
        course_show(weight).text, steps, k);
    course_tempting(q, alone, "This is the weight without a master copy.");
    course_almost(q, master, "This is the master weight. Round it to binary16.");
    course_other_modes(q, master, &f, ULP_RNE);
    q->hint = "The master copy adds exactly. The spacing of binary16 above 1 is 2^-10.";
}

static void ask_cause(course_sheet *s) {
    static const struct {
        const char *what;
        int right;
    } symptoms[] = {
        {"Gradients in binary16 are finite and not zero, but weights in binary16 stop moving.", 0},
        {"The loss falls at first; then the updates are a thousandth of the spacing of the weights.", 0},
        {"In the first layers nearly all gradients in binary16 are exactly zero.", 1},
        {"Most gradients are less than half of the smallest number of binary16, and in binary32 the network learns.",
         1},
        {"Sums of 4096 positive products stop growing on the way.", 2},
        {"Longer dot products have larger relative errors, and the operands are exact.", 2},
    };
    const uint32_t i = course_draw(s, sizeof symptoms / sizeof symptoms[0]);
    course_question *q =
        course_ask_choice(s, "master scale accumulator", symptoms[i].right,
                          "%s Which part of the recipe is missing: the master weights in binary32, the loss scale, or "
                          "the accumulator in binary32? (master, scale or accumulator)",
                          symptoms[i].what);
    q->also = "weights";
    q->hint = "Ask where the loss happens: when a gradient is stored, when a weight is updated, or inside a sum.";
}

static void ask(course_sheet *s) {
    ask_smallest_scale(s);
    ask_largest_scale(s);
    ask_scaled(s);
    ask_dynamic(s);
    ask_master(s);
    ask_cause(s);
}

const course_lab course_lab_l4 = {"L4", "loss scaling and the recipe", ask};

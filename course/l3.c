/* l3.c - lab L3: gradient underflow. Small gradients in binary16, and updates that are lost. */
#include "course/sheets/sheet.h"

#include <stdio.h>
#include <stdlib.h>

static void ask_gradient(course_sheet *s) {
    static const char *const powers[] = {"e-8", "e-8", "e-7", "e-6"};
    const ulp_format f = course_format("binary16");
    char text[24];
    double x;
    do {
        const unsigned negative = course_draw(s, 2), digits = 11 + course_draw(s, 89);
        snprintf(text, sizeof text, "%s%u.%u%s", negative ? "-" : "", digits / 10, digits % 10,
                 powers[course_draw(s, 4)]);
        x = strtod(text, NULL);
    } while (x == 6e-8 || x == -6e-8); /* on the page */
    course_question *q = course_ask_number(s, course_round(x, &f, ULP_RNE), &f,
                                           "Which number does the gradient %s become in binary16 (to nearest, ties to "
                                           "even)? Mind the sign, also of a zero.",
                                           text);
    course_tempting(q, x, "This is the number of the question. Is it a number of binary16?");
    course_other_modes(q, x, &f, ULP_RNE);
    q->hint = "Divide by the spacing of the subnormal numbers, round to a whole number, and multiply by the spacing.";
}

static void ask_largest_lost(course_sheet *s) {
    char name[ULP_NAME_MAX]; /* no format of the page */
    snprintf(name, sizeof name, "e%um%u", 4 + course_draw(s, 3), 4 + course_draw(s, 5));
    const ulp_format f = course_format(name);
    course_question *q = course_ask_number(s, f.min_positive / 2, NULL,
                                           "The smallest positive number of %s is 2^%d. Which is the largest power of "
                                           "two that rounding to nearest, ties to even, makes zero?",
                                           f.name, f.qmin);
    q->is_power = 1;
    course_almost(q, f.min_positive, "This is a number of the format. It stays.");
    course_almost(q, f.min_positive / 4,
                  "There is a larger one: look at the tie between zero and the smallest number.");
    course_sides(q, "This becomes zero, but a larger power of two does, too.", "This does not become zero.");
    q->hint = "Half of the smallest number is a tie between the smallest number and zero. Which of the two is even?";
}

enum { GRADIENTS = 8 };

static int contains(const double *list, int n, double x) {
    int i = 0;
    while (i < n && list[i] != x) i++;
    return i < n;
}

static void ask_counts(course_sheet *s) {
    const ulp_format f = course_format("binary16");
    ulp_text list = {0};
    double drawn[GRADIENTS];
    int zeros = 0, subnormal = 0, below = 0;
    for (int i = 0; i < GRADIENTS; i++) {
        static const int significands[] = {1, 1, 3, 5};
        do drawn[i] = ulp_scale(significands[course_draw(s, 4)], -30 + (int)course_draw(s, 20));
        while (contains(drawn, i, drawn[i]));
        const double x = drawn[i], y = course_round(x, &f, ULP_RNE);
        ulp_text_print(&list, "%s%s", i ? ", " : "", course_show(x).text);
        zeros += y == 0;
        subnormal += y != 0 && y < f.min_normal;
        below += x < f.min_positive;
    }
    const int has_tie = contains(drawn, GRADIENTS, f.min_positive / 2);
    course_question *q = course_ask_number(s, zeros, NULL, "How many of these gradients become zero in binary16: %s?",
                                           ulp_text_of(&list));
    course_almost(q, below, "Some numbers below the smallest number of the format are rounded up to it.");
    course_almost(q, zeros + 1, "One of them is counted that should not be. Compare each with 2^-25.");
    course_almost(q, zeros - 1,
                  has_tie ? "One of them is missing. Look at the tie."
                          : "One of them is missing. Compare each with 2^-25.");
    q->hint = "Compare each of them with 2^-25.";
    q = course_ask_number(s, subnormal, NULL,
                          "How many of these gradients become a subnormal number of binary16 that is not zero: %s?",
                          ulp_text_of(&list));
    course_almost(q, subnormal + 1, "One of them is counted that should not be.");
    course_almost(q, subnormal - 1, "One of them is missing.");
    course_tempting(q, subnormal + zeros, "Gradients that become zero do not count here.");
    q->hint = "The subnormal numbers of binary16 lie from 2^-24 to below 2^-14.";
    ulp_text_free(&list);
}

static void ask_bits(course_sheet *s) {
    const ulp_format f = course_format("binary16");
    int e;
    do e = -15 - (int)course_draw(s, 9);
    while (e == -16); /* on the page */
    course_question *q = course_ask_number(s, e - f.qmin + 1, NULL,
                                           "How many significant bits does a number of binary16 have whose leading 1 "
                                           "bit has the weight 2^%d? (A normal number has 11.)",
                                           e);
    q->unit = "bits";
    course_almost(q, e - f.qmin, "Count the leading 1, too.");
    course_almost(q, e - f.qmin + 2, "The last bit has the weight 2^-24.");
    course_tempting(q, f.prec, "A normal number has this many bits. The number of the question is subnormal.");
    q->hint = "The last bit of every subnormal number of binary16 has the weight 2^-24.";
}

static void ask_update(course_sheet *s) {
    static const char *const names[] = {"binary16", "bfloat16"};
    const ulp_format f = course_format(names[course_draw(s, 2)]);
    const int k = 1 << (f.prec - 1);
    const double w = ulp_scale(k + 1 + (int)course_draw(s, (uint32_t)k - 2), -(int)course_draw(s, 5) - f.prec);
    const double spacing = ulp_spacing(w, &f);
    double lost = spacing;
    while (course_add(w, lost, &f, ULP_RNE) != w) lost /= 2;
    course_question *q = course_ask_number(s, lost, NULL,
                                           "A weight of %s is %s. Which is the largest power of two that, added as an "
                                           "update, leaves the weight as it is (to nearest, ties to even)?",
                                           f.name, course_show(w).text);
    q->is_power = 1;
    course_almost(q, spacing / 2, "With this update the sum is a tie. Where does it go?");
    course_almost(q, spacing / 4, "Twice this gives a tie. Where does this tie go?");
    course_tempting(q, spacing, "This update moves the weight to its neighbour.");
    course_sides(q, "This leaves the weight as it is, but a larger power of two does, too.",
                 "This changes the weight: compare the update with half of the spacing.");
    q->hint = "Compare the update with half of the spacing at the weight.";
}

static void ask_kind(course_sheet *s) {
    static const char *const names[] = {"binary16", "bfloat16", "e5m2", "e4m3"};
    const ulp_format f = course_format(names[course_draw(s, 4)]);
    int e;
    do e = f.emin < -100 ? -(int)course_draw(s, 40) - 100 : f.emin + 3 - (int)course_draw(s, (uint32_t)f.prec + 5);
    while (e == f.emin || e == f.qmin || e == -25 || e == -16); /* on the page */
    const double y = course_round(ulp_scale(1, e), &f, ULP_RNE);
    course_question *q = course_ask_choice(s, "zero subnormal normal",
                                           y == 0             ? 0
                                           : y < f.min_normal ? 1
                                                              : 2,
                                           "Does 2^%d become zero, a subnormal or a normal number in %s (to nearest, "
                                           "ties to even)? (zero, subnormal or normal)",
                                           e, f.name);
    q->hint = "Find the smallest normal and the smallest subnormal number. The page of the lab has both.";
}

static void ask(course_sheet *s) {
    ask_gradient(s);
    ask_largest_lost(s);
    ask_counts(s);
    ask_bits(s);
    ask_update(s);
    ask_kind(s);
}

const course_lab course_lab_l3 = {"L3", "gradient underflow", ask};

/* l1.c - lab L1: small terms and large sums. Sums that stand still, counting, the harmonic series. */
#include "course/sheets/sheet.h"

#include <stdio.h>

enum { TIMES = 100 };

static double sum_of(double start, double term, int times, const ulp_format *f, ulp_mode mode) {
    double sum = start;
    for (int i = 0; i < times; i++) sum = course_add(sum, term, f, mode);
    return sum;
}

/* Hints for the sums of one addition more and one less, where all additions move the sum by the same distance. */
static void miscount(course_question *q, double start, double last) {
    const double step = (last - start) / (double)TIMES;
    for (int i = -1; i < 2 && step != 0; i += 2)
        course_almost(q, last + i * step,
                      "This is one addition away from the last sum. Count the additions once more.");
}

/* 100 + 0.01 a hundred times, with other numbers, which have another spacing. */
static void ask_sums(course_sheet *s) {
    static const double starts[] = {140, 150, 180, 200, 220, 280, 300, 350,  400,  430,
                                    450, 550, 600, 650, 700, 800, 850, 1200, 1300, 1500};
    enum { STARTS = sizeof starts / sizeof starts[0] };
    const ulp_format f = course_format("binary16");
    const double start = starts[course_draw(s, STARTS)], spacing = ulp_spacing(start, &f);
    int thousandths;
    do { /* a third of the students have a term that moves the sum, by one spacing to nearest and by two upward */
        const double percent = course_draw(s, 3) == 0 ? 105 + course_draw(s, 40) : 5 + course_draw(s, 40);
        thousandths = (int)(percent * spacing * 10 + 0.5);
    } while (thousandths == 10 || thousandths == 31); /* on the page */
    const double decimal = thousandths / 1000.0, t = course_round(decimal, &f, ULP_RNE);
    char term[16];
    snprintf(term, sizeof term, "%.3f", decimal);
    const double exact = start + (double)TIMES * t;
    course_question *q =
        course_ask_number(s, spacing, NULL, "What is the spacing of the numbers of binary16 at %.0f?", start);
    course_tempting(q, spacing / 2, "This is half of the spacing.");
    course_tempting(q, ulp_scale(1, -10), "This is the spacing at 1. The spacing grows with the number.");
    q->is_power = 1;
    q->hint = "Find the power of two at or below the number; the spacing is this power times 2^-10.";

    q = course_ask_number(s, t, &f, "Round %s to binary16, to nearest. Give the exact value of the result.", term);
    course_tempting(q, decimal, "This is the number of the question. Is it a number of binary16?");
    course_other_modes(q, decimal, &f, ULP_RNE);
    q->hint = "`ulp show --format fp16` and the page show the nearest number.";

    const char *text = "Round %s to binary16, to nearest. Add the result to %.0f a hundred times in binary16, each sum "
                       "rounded %s. What is the last sum?";
    const char *exact_hint = "This would be the sum without rounding. Each of the hundred sums is rounded.";
    const double nearest = sum_of(start, t, TIMES, &f, ULP_RNE), upward = sum_of(start, t, TIMES, &f, ULP_RU);
    q = course_ask_number(s, nearest, &f, text, term, start, "to nearest, ties to even");
    course_tempting(q, exact, exact_hint);
    course_tempting(q, course_round(exact, &f, ULP_RNE),
                    "This is the exact sum, rounded once. Each of the sums is rounded.");
    course_tempting(q, start, "Compare the term with half of the spacing.");
    course_tempting(q, start + (double)TIMES * spacing, "Compare the term with half of the spacing.");
    miscount(q, start, nearest);
    q->hint = "What becomes of the first addition? All others round in the same way while the spacing stays.";

    q = course_ask_number(s, upward, &f, text, term, start, "upward");
    course_tempting(q, exact, exact_hint);
    course_tempting(q, course_round(exact, &f, ULP_RU),
                    "This is the exact sum, rounded once. Each of the sums is rounded.");
    course_tempting(q, start, "Upward means: to the next number above, however small the term is.");
    miscount(q, start, upward);
    q->hint = "Each addition goes to a number of the format above, however small the term is.";
}

static void ask_least_change(course_sheet *s) {
    const ulp_format f = course_format("binary16");
    double x;
    do x = ulp_scale(1024 + course_draw(s, 1023), -(int)course_draw(s, 4));
    while (x == 512 || x == 513); /* on the page */
    const double spacing = ulp_spacing(x, &f);
    double least = spacing;
    while (course_add(x, least / 2, &f, ULP_RNE) != x) least /= 2;
    course_question *q = course_ask_number(s, least, NULL,
                                           "Which is the smallest power of two that changes the number %s of binary16 "
                                           "when it is added once (to nearest, ties to even)?",
                                           course_show(x).text);
    q->is_power = 1;
    course_almost(q, spacing / 2, "This is half of the spacing: the sum is a tie. Where do ties go?");
    course_almost(q, spacing, "Half of this gives a tie. Where does this tie go?");
    course_sides(q, "This does not change the number: compare it with half of the spacing.",
                 "This changes the number, but a smaller power of two does, too.");
}

static ulp_format draw_small(course_sheet *s) {
    char name[ULP_NAME_MAX];
    snprintf(name, sizeof name, "e%um%u", 5 + course_draw(s, 3), 4 + course_draw(s, 5));
    return course_format(name);
}

static void ask_counting(course_sheet *s) {
    const ulp_format f = draw_small(s);
    double stop = 0;
    while (course_add(stop, 1, &f, ULP_RNE) != stop) stop = course_add(stop, 1, &f, ULP_RNE);
    course_question *q = course_ask_number(s, stop, NULL,
                                           "Count in %s, which has %d fraction bits: 0 + 1 + 1 + ..., each sum rounded "
                                           "to nearest, ties to even. At which number does the count stop?",
                                           f.name, f.prec - 1);
    course_tempting(q, stop / 2, "The significand has one bit more than the fraction.");
    course_almost(q, stop - 1, "Which sum follows this one, and is the sum a number of the format?");
    course_almost(q, stop + 1, "This sum is a tie. Where does it go?");
    course_tempting(q, stop * 2, "Where is the spacing 2 for the first time?");
    q->hint = "Where does the spacing become so large that 1 is half of it?";
    course_sides(q, "Here the count still goes on: compare 1 with half of the spacing.",
                 "The count stops earlier: compare 1 with half of the spacing.");
}

static void ask_harmonic(course_sheet *s) {
    static const char *const names[] = {"e5m4", "e5m5", "e5m6", "e5m7", "e5m8"};
    const ulp_format f = course_format(names[course_draw(s, 5)]);
    double sum = 0, before;
    int last = 0;
    for (int k = 1; 1.0 / k > ulp_spacing(sum, &f) / 4; k++) {
        before = sum;
        sum = course_add(sum, course_round(1.0 / k, &f, ULP_RNE), &f, ULP_RNE);
        if (sum != before) last = k;
    }
    course_question *q =
        course_ask_number(s, sum, &f,
                          "Add 1 + 1/2 + 1/3 + ... in %s. Each term is rounded to %s, and each sum, to nearest, ties "
                          "to even. At which number does the sum stand still for ever?",
                          f.name, f.name);
    for (int k = last; k <= last + 1; k++)
        course_tempting(q, k, "This is the number of a term. The question asks for the sum.");
    q->hint =
        "Let the page or `harmonic` run it: the sum stands still when the terms are less than half of the spacing.";
}

static void ask(course_sheet *s) {
    ask_sums(s);
    ask_least_change(s);
    ask_counting(s);
    ask_harmonic(s);
}

const course_lab course_lab_l1 = {"L1", "small terms and large sums", ask};

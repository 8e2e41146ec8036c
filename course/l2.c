/* l2.c - lab L2: cures for sums. Stochastic rounding, Kahan's sum, terms first, a master copy, chunks. */
#include "course/sheets/sheet.h"

#include <stdio.h>

enum { TIMES = 100 };

/* The numbers that the questions of a lab on one sum share. */
typedef struct sum {
    ulp_format format;
    double start, term;
    int times;
} sum;

static sum draw_sum(course_sheet *s) {
    static const double starts[] = {136, 144, 150, 168, 180, 200, 210, 264, 272, 290, 300,
                                    320, 340, 360, 400, 420, 440, 528, 544, 600, 640, 700};
    enum { STARTS = sizeof starts / sizeof starts[0] };
    sum t = {.format = course_format("binary16"), .start = starts[course_draw(s, STARTS)], .times = TIMES};
    t.term = ulp_spacing(t.start, &t.format) * (2 * course_draw(s, 8) + 1) / 32;
    return t;
}

static void ask_probability(course_sheet *s) {
    const sum t = draw_sum(s);
    const double spacing = ulp_spacing(t.start, &t.format), part = (1 + 2 * course_draw(s, 8)) / 16.0,
                 term = spacing * part;
    course_question *q = course_ask_number(s, term / spacing, NULL,
                                           "Stochastic rounding goes up with the probability (x - low) / (high - low). "
                                           "With which probability is %.0f + %s rounded up in binary16?",
                                           t.start, course_show(term).text);
    course_tempting(q, 1 - part, "To which of the two neighbours does this probability belong?");
    course_almost(q, 100 * part, "This is in percent. A probability is a number from 0 to 1.");
    course_tempting(q, term, "This is the distance to the lower neighbour. Divide it by the spacing.");
    course_tempting(q, 0.5, "The probability depends on how far the sum is from its neighbours.");
    q->hint = "Find the spacing at the start. The sum lies between the start and its upper neighbour.";
}

static void ask_expectation(course_sheet *s) {
    const sum t = draw_sum(s);
    const double key = t.start + (double)TIMES * t.term;
    course_question *q = course_ask_number(s, key, NULL,
                                           "Add %s to %.0f a hundred times in binary16 with stochastic rounding. What "
                                           "is the expected value of the last sum?",
                                           course_show(t.term).text, t.start);
    course_tempting(q, t.start, "To nearest the sum stands still. Stochastic rounding sometimes goes up.");
    course_almost(q, course_round(key, &t.format, ULP_RNE), "An expected value need not be a number of the format.");
    q->hint = "The expected value of a stochastic rounding is the number that is rounded.";
}

static double kahan(const sum *t) {
    const ulp_format *f = &t->format;
    double total = t->start, error = 0;
    for (int i = 0; i < t->times; i++) {
        const double y = course_add(t->term, -error, f, ULP_RNE), next = course_add(total, y, f, ULP_RNE);
        error = course_add(course_add(next, -total, f, ULP_RNE), -y, f, ULP_RNE);
        total = next;
    }
    return total;
}

static double terms_first(const sum *t) {
    double terms = 0;
    for (int i = 0; i < t->times; i++) terms = course_add(terms, t->term, &t->format, ULP_RNE);
    return course_add(t->start, terms, &t->format, ULP_RNE);
}

static void ask_kahan(course_sheet *s) {
    const sum t = draw_sum(s);
    course_question *q = course_ask_number(
        s, kahan(&t), &t.format,
        "Add %s to %.0f a hundred times in binary16 by Kahan's method: y = t - e; new = sum + y; e = (new - sum) - y; "
        "sum = new. Every operation is rounded to nearest, ties to even; e starts at 0. What is the last sum?",
        course_show(t.term).text, t.start);
    course_tempting(q, t.start, "This is the plain sum. Kahan's method keeps what a rounding has lost.");
    course_almost(q, t.start + (double)TIMES * t.term, "This is the exact sum. Is it a number of binary16?");
    q->hint = "Kahan's method collects the lost parts in e. While e is exact, sum - e is the exact sum.";
}

static void ask_terms_first(course_sheet *s) {
    const sum t = draw_sum(s);
    course_question *q = course_ask_number(s, terms_first(&t), &t.format,
                                           "Add the term %s a hundred times to 0 in binary16, and then the result to "
                                           "%.0f. Every sum is rounded to nearest, ties to even. What is the last sum?",
                                           course_show(t.term).text, t.start);
    course_almost(q, t.start + (double)TIMES * t.term, "This is the exact sum. Is it a number of binary16?");
    course_tempting(q, t.start, "The sum of the terms alone is not small.");
    q->hint = "How large is the sum of the terms alone? Is a bit lost on the way?";
}

static void ask_master(course_sheet *s) {
    const sum t = draw_sum(s);
    const ulp_format wide = course_format("binary32");
    double total = t.start;
    for (int i = 0; i < t.times; i++) total = course_add(total, t.term, &wide, ULP_RNE);
    course_question *q =
        course_ask_number(s, course_round(total, &t.format, ULP_RNE), &t.format,
                          "A sum in binary32 starts at %.0f, and %s is added to it a hundred times; then the sum is "
                          "rounded once to binary16 (to nearest, ties to even). What is the result?",
                          t.start, course_show(t.term).text);
    course_almost(q, total, "This is the sum in binary32. Round it to binary16.");
    course_other_modes(q, total, &t.format, ULP_RNE);
    course_tempting(q, t.start, "The sum in binary32 does not stand still.");
    q->hint = "In binary32 every one of these sums is exact.";
}

static void ask_chunks(course_sheet *s) {
    char name[ULP_NAME_MAX];
    snprintf(name, sizeof name, "e8m%u", 4 + course_draw(s, 3));
    const ulp_format f = course_format(name);
    const int length = 4 << course_draw(s, 3), n = 2048 << course_draw(s, 3);
    double chunk = 0, total = 0;
    for (int i = 0; i < length; i++) chunk = course_add(chunk, 1, &f, ULP_RNE);
    for (int i = 0; i < n / length; i++) total = course_add(total, chunk, &f, ULP_RNE);
    const double alone = ulp_scale(1, f.prec);
    course_question *q =
        course_ask_number(s, total, NULL,
                          "Add %d ones in %s (to nearest, ties to even) in chunks of %d: the sum of each chunk starts "
                          "at 0, and then the sums of the chunks are added one after the other. What is the result?",
                          n, f.name, length);
    course_tempting(q, alone, "Here the plain sum stops. A sum of chunks gets farther.");
    course_tempting(q, n, "This is the exact sum. The sum of the chunks stops, too, only later.");
    course_tempting(q, length * alone, "A sum of these chunks can count as far as this. Are there enough ones?");
    q->hint = "The sum of the chunks counts in steps of one chunk. Where would counting by ones stop?";
}

/* Ones: the terms first are exact up to 2^p ones, and Kahan's method counts to 2^(2p). */
static void ask_choice(course_sheet *s) {
    char name[ULP_NAME_MAX];
    const int p = 4 + (int)course_draw(s, 3), range = (int)course_draw(s, 3);
    snprintf(name, sizeof name, "e8m%d", p - 1);
    const int start = (2 + (int)course_draw(s, 3)) << p, odd = 1 + 2 * (int)course_draw(s, 4);
    const sum t = {.format = course_format(name),
                   .start = start,
                   .term = 1,
                   .times = range == 0   ? (1 << p) - odd
                            : range == 1 ? (2 << p) + odd
                                         : (2 << 2 * p) + odd};
    const double best = course_round(t.start + t.times, &t.format, ULP_RNE);
    const int first = kahan(&t) == best, second = terms_first(&t) == best;
    course_question *q = course_ask_choice(
        s, "kahan terms both neither",
        first    ? second ? 2 : 0
        : second ? 1
                 : 3,
        "Add %d ones to %d in %s, which has p = %d significant bits (to nearest, ties to even). Which method gives the "
        "exact sum rounded once: Kahan's method, the terms first, both, or neither? (kahan, terms, both or neither)",
        t.times, start, name, p);
    q->hint =
        "How far can a sum of ones count in p bits? How far can Kahan's method count, which holds a second number?";
}

static void ask(course_sheet *s) {
    ask_probability(s);
    ask_expectation(s);
    ask_kahan(s);
    ask_terms_first(s);
    ask_master(s);
    ask_chunks(s);
    ask_choice(s);
}

const course_lab course_lab_l2 = {"L2", "cures for sums", ask};

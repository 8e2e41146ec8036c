/* l5.c - lab L5: the sums of a Tensor Core. Aligned sums with a cut, fused steps, short accumulators. */
#include "course/sheets/sheet.h"
#include "kernels/products/datapath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS_MAX = 32 };

/* A sum of products p[0] + p[1] + ... on a datapath, from c. Each product is (value, 1), or (x, x) for a square. */
static double sum_on(const char *name, double c, const double *a, const double *b, size_t k) {
    ulp_datapath d;
    if (ulp_datapath_parse(&d, name) != ULP_OK) abort();
    return ulp_dot(&d, c, (ulp_products){a, b, k, NULL, NULL}, (ulp_stream){0});
}

static const char *const machines[] = {"v100-fp16", "a100-fp16", "h100-fp16"};
static const char *const machine_text = "An aligned sum writes all terms as multiples of 2^(E-F), E the largest "
                                        "exponent among the terms, cuts off what is below, and adds the rest exactly. ";

/* 2^e - 2^e + small + small: the result depends on the bits below the largest exponent. */
static void ask_cut(course_sheet *s) {
    static const int kept[] = {23, 24, 25};
    const int top = 2 + (int)course_draw(s, 6), below = 23 + (int)course_draw(s, 3); /* the page has 2^0 */
    const int units = below == 23 ? 3 : 1 + 2 * (int)course_draw(s, 2); /* the results of v100 and h100 differ */
    const double small = ulp_scale(units, top - below - (units == 3));
    const double a[4] = {ulp_scale(1, top), -ulp_scale(1, top), ulp_scale(units, -10), ulp_scale(units, -10)};
    const double b[4] = {1, 1, small / a[2], small / a[3]};
    for (int i = 0; i < 3; i++) {
        course_question *q = course_ask_number(s, sum_on(machines[i], 0, a, b, 4), NULL,
                                               "%sThe model of the %s keeps F = %d bits. It adds the products 2^%d, "
                                               "-2^%d, %s and %s in one step, with c = 0. What is the result?",
                                               i ? "" : machine_text, machines[i], kept[i], top, top,
                                               course_show(small).text, course_show(small).text);
        course_tempting(q, 2 * small, "This is the exact sum. Is a part of the small terms below the cut?");
        course_tempting(q, 0, "The small terms are not wholly below the cut.");
        course_almost(q, q->key / 2, "There are two small terms.");
        course_tempting(q, small, "Cut each small term first. And there are two of them.");
        q->hint = "The cut is at 2^(E-F). Cut each small term there, and then add.";
    }
    const int F = below + (units == 3); /* the last bit of a small term is 2^(E-F) */
    course_question *q = course_ask_number(s, F, NULL,
                                           "Another machine adds the products 2^%d, -2^%d, %s and %s in one step. "
                                           "Which is the smallest F with which the result is the exact sum?",
                                           top, top, course_show(small).text, course_show(small).text);
    course_almost(q, F - 1, "With this F a bit of each small term is cut off.");
    course_almost(q, F + 1, "With this F the sum is exact. Is this F the smallest?");
    course_sides(q, "With this F bits of the small terms are cut off.",
                 "With this F the sum is exact. Is this F the smallest?");
    q->hint = "The last bit of each small term must not be below 2^(E-F).";
}

static void ask_truncated(course_sheet *s) {
    /* in quarters of the spacing: the last two bits are 3, or 2 above an odd bit, so that the two results differ */
    const int top = (int)course_draw(s, 3), odd = (int)course_draw(s, 2);
    const int units = odd ? 3 + 4 * (int)course_draw(s, 8) : 6 + 8 * (int)course_draw(s, 4);
    const double c = ulp_scale(1, top), small = ulp_scale(units, top - 25);
    const double a = ulp_scale(units, -12), b = small / a;
    const ulp_format wide = course_format("binary32");
    course_question *q = course_ask_number(s, sum_on("a100-fp16", c, &a, &b, 1), &wide,
                                           "The model of the a100-fp16 rounds the sum of a step toward zero to "
                                           "binary32. c is %s and the only product is %s. What is the result?",
                                           course_show(c).text, course_show(small).text);
    course_other_modes(q, c + small, &wide, ULP_RZ);
    course_tempting(q, c + small, "This is the exact sum. Is it a number of binary32?");
    q->hint = "The spacing of binary32 at c is 2^-23 times c. How many spacings is the product?";
    q = course_ask_number(s, sum_on("fp32", c, &a, &b, 1), &wide,
                          "A processor adds the same c and the same product in binary32, to nearest, ties to even. "
                          "What is the result: %s + %s?",
                          course_show(c).text, course_show(small).text);
    course_other_modes(q, c + small, &wide, ULP_RNE);
    course_tempting(q, c + small, "This is the exact sum. Is it a number of binary32?");
    q->hint = "The spacing of binary32 at c is 2^-23 times c. How many spacings is the product?";
}

/* One large and 31 small products in one step of 32 products of e4m3. The small ones have bits below the cut of the
 * h100. */
static void ask_short_accumulator(course_sheet *s) {
    static const int exponents[] = {5, 7, 8, 9, 10}; /* the page has 2^6 */
    const int large = exponents[course_draw(s, 5)], units = 1 + 2 * (int)course_draw(s, 2);
    const double small = ulp_scale(units, large - 14 - (int)course_draw(s, 2)), top = ulp_scale(1, large);
    double a[TERMS_MAX], b[TERMS_MAX];
    for (int k = 0; k < TERMS_MAX; k++) a[k] = units * 0.0625, b[k] = small / a[k];
    a[0] = 4, b[0] = top / 4;
    a[1] = -a[1];
    const double unit = ulp_scale(1, large - 13), cut = small / unit - fmod(small / unit, 1);
    course_question *q = course_ask_number(
        s, sum_on("h100-e4m3", 0, a, b, TERMS_MAX), NULL,
        "The model of the h100-e4m3 adds 32 products in one step with F = 13 and rounds the sum toward zero to 13 bits "
        "after the leading one. The products are 2^%d, once -%s, and thirty times %s; c = 0. What is the result?",
        large, course_show(small).text, course_show(small).text);
    q->nearness = unit;
    course_tempting(q, top + 29 * small, "This is the exact sum. Where is the cut?");
    course_tempting(q, top + 30 * small, "One of the small products is negative.");
    course_tempting(q, top + 31 * small, "One of the small products is negative.");
    course_tempting(q, top, "The small products are not wholly below the cut.");
    if (cut * unit != small)
        course_tempting(q, top + (29 * cut - 1) * unit, "Bits are cut off toward zero, also below zero.");
    q->hint = "Cut each product at 2^(E-F). Then count: one of the small products is negative, thirty are positive.";
}

static void ask(course_sheet *s) {
    ask_cut(s);
    ask_truncated(s);
    ask_short_accumulator(s);
}

const course_lab course_lab_l5 = {"L5", "what a Tensor Core adds", ask};

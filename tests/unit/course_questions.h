/* course_questions.h - the oracle's answer to each question of `ulp course`, from the text of the question alone.
 *
 * Each function reads the sentence by scanf, so that a change of a sentence is noticed, and computes by
 * course_oracle.h. A choice is the index of the right word. */
#ifndef ULP_TESTS_COURSE_QUESTIONS_H
#define ULP_TESTS_COURSE_QUESTIONS_H

#include "course_oracle.h"

enum { WORD = 64 };

/* Take `format` apart by scanf; every question has a fixed number of fields. */
#define SCAN(n, ...)                                                                                                   \
    if (sscanf(text, __VA_ARGS__) != (n)) fail_msg("another question than the oracle expects: %s", text)

static const oracle_format half = {11, -14, 5, 65504}, single = {24, -126, 8, 0};

static double code(const char *text) {
    char x[WORD], f[WORD];
    SCAN(2, "Round %63s to %63[^,], to nearest, ties to even. Which code", x, f);
    return oracle_round_text(x, oracle_named(f), 'n');
}
static double decoded(const char *text) {
    char f[WORD];
    unsigned c;
    SCAN(2, "Which number has the code %x in %63[^?]", &c, f);
    return oracle_decode(c, oracle_named(f));
}
static double spacing(const char *text) {
    char x[WORD], f[WORD];
    SCAN(2, "How far is the number %63s of %63s from the next larger", x, f);
    return oracle_power(oracle_quantum_at(oracle_value(x), oracle_named(f)));
}
static double ends(const char *text) {
    char f[WORD];
    int e, m;
    SCAN(3, "%63s is a format like those of IEEE 754 with %d exponent bits and %d fraction", f, &e, &m);
    const int bias = (1 << (e - 1)) - 1;
    if (strstr(text, "smallest positive")) return oracle_power(1 - bias - m);
    return oracle_value("2") * oracle_power(bias) - oracle_power(bias - m);
}
static double count(const char *text) {
    char f[WORD];
    int low, high, binades = 0;
    SCAN(3, "How many numbers x of %63s have %d <= x < %d", f, &low, &high);
    for (; low < high; low *= 2) binades++;
    return binades * oracle_power(oracle_named(f).p - 1);
}
static double tie(const char *text) {
    char x[WORD], f[WORD];
    SCAN(2, "The number %63s lies halfway between two neighbours of %63[^.]. Which", x, f);
    return oracle_round(oracle_value(x), oracle_named(f), 'n');
}
static double overflow(const char *text) {
    char x[WORD], mode[WORD];
    SCAN(2, "The largest number of binary16 is 65504. Does %63[^,], rounded %63[^,?]", x, mode);
    const char m = strstr(mode, "nearest") ? 'n' : strstr(mode, "zero") || strstr(mode, "-inf") ? 'z' : 'u';
    return oracle_round(oracle_value(x), half, m) > half.max && m != 'z';
}

static double spacing_of_sum(const char *text) {
    char f[WORD];
    int x;
    SCAN(2, "What is the spacing of the numbers of %63s at %d", f, &x);
    return oracle_power(oracle_quantum_at(x, oracle_named(f)));
}
static double term(const char *text) {
    char x[WORD], f[WORD];
    SCAN(2, "Round %63s to %63[^,], to nearest. Give", x, f);
    return oracle_round_text(x, oracle_named(f), 'n');
}
static double times(double start, double t, int n, oracle_format f, char mode) {
    for (int i = 0; i < n; i++) start = oracle_add(start, t, f, mode);
    return start;
}
static double hundred(const char *text) {
    char x[WORD], mode[WORD];
    int start;
    SCAN(3,
         "Round %63s to binary16, to nearest. Add the result to %d a hundred times in binary16, each sum rounded "
         "%63[^.]",
         x, &start, mode);
    return times(start, oracle_round_text(x, half, 'n'), 100, half, strcmp(mode, "upward") == 0 ? 'u' : 'n');
}
static double least_change(const char *text) {
    char x[WORD];
    SCAN(1, "Which is the smallest power of two that changes the number %63s of binary16", x);
    const double at = oracle_value(x);
    int e = 20;
    while (oracle_add(at, oracle_power(e - 1), half, 'n') != at) e--;
    return oracle_power(e);
}
static double stop(double step, oracle_format f) {
    double sum = 0, next;
    while ((next = oracle_add(sum, step, f, 'n')) != sum) sum = next;
    return sum;
}
static double counting(const char *text) {
    char f[WORD];
    SCAN(1, "Count in %63[^,], which has", f);
    return stop(1, oracle_named(f));
}
static double harmonic(const char *text) {
    char name[WORD];
    SCAN(1, "Add 1 + 1/2 + 1/3 + ... in %63[^.]. Each", name);
    const oracle_format f = oracle_named(name);
    double sum = 0;
    for (int k = 1; k < 4000; k++) { /* long after the sum stands still */
        mpfr_set_ui(oracle_x, 1, MPFR_RNDN);
        mpfr_div_ui(oracle_x, oracle_x, (unsigned)k, MPFR_RNDN);
        sum = oracle_add(sum, oracle_round_x(f, 'n'), f, 'n');
    }
    return sum;
}

static double probability(const char *text) {
    char t[WORD];
    int start;
    SCAN(2,
         "Stochastic rounding goes up with the probability (x - low) / (high - low). With which probability is %d + "
         "%63s",
         &start, t);
    const double small = oracle_value(t);
    mpfr_set_d(oracle_y, small, MPFR_RNDN);
    const int q = oracle_quantum_at(start, half);
    mpfr_set_d(oracle_y, small, MPFR_RNDN);
    mpfr_mul_2si(oracle_y, oracle_y, -q, MPFR_RNDN);
    return mpfr_get_d(oracle_y, MPFR_RNDN);
}
static double expectation(const char *text) {
    char t[WORD];
    int start;
    SCAN(2, "Add %63s to %d a hundred times in binary16 with stochastic", t, &start);
    mpfr_set_d(oracle_x, oracle_value(t), MPFR_RNDN);
    mpfr_mul_ui(oracle_x, oracle_x, 100, MPFR_RNDN);
    mpfr_add_si(oracle_x, oracle_x, start, MPFR_RNDN);
    return mpfr_get_d(oracle_x, MPFR_RNDN);
}
static double kahan_of(double sum, double t, int n, oracle_format f) {
    double e = 0;
    for (int i = 0; i < n; i++) {
        const double y = oracle_add(t, -e, f, 'n'), next = oracle_add(sum, y, f, 'n');
        e = oracle_add(oracle_add(next, -sum, f, 'n'), -y, f, 'n');
        sum = next;
    }
    return sum;
}
static double kahan(const char *text) {
    char t[WORD];
    int start;
    SCAN(2, "Add %63s to %d a hundred times in binary16 by Kahan's", t, &start);
    return kahan_of(start, oracle_value(t), 100, half);
}
static double terms_first(const char *text) {
    char t[WORD];
    int start;
    SCAN(2, "Add the term %63s a hundred times to 0 in binary16, and then the result to %d", t, &start);
    return oracle_add(start, times(0, oracle_value(t), 100, half, 'n'), half, 'n');
}
static double master(const char *text) {
    char t[WORD];
    int start;
    SCAN(2, "A sum in binary32 starts at %d, and %63s is added", &start, t);
    return oracle_round(times(start, oracle_value(t), 100, single, 'n'), half, 'n');
}
static double chunks(const char *text) {
    char f[WORD];
    int n, length;
    SCAN(3, "Add %d ones in %63s (to nearest, ties to even) in chunks of %d:", &n, f, &length);
    return times(0, times(0, 1, length, oracle_named(f), 'n'), n / length, oracle_named(f), 'n');
}
static double which_cure(const char *text) {
    char name[WORD];
    int n, start, p;
    SCAN(4, "Add %d ones to %d in %63[^,], which has p = %d significant bits", &n, &start, name, &p);
    const oracle_format f = oracle_named(name);
    assert_int_equal(p, f.p);
    const double best = oracle_round(start + n, f, 'n');
    const int first = kahan_of(start, 1, n, f) == best;
    const int second = oracle_add(start, times(0, 1, n, f, 'n'), f, 'n') == best;
    return first ? second ? 2 : 0 : second ? 1 : 3;
}

static double gradient(const char *text) {
    char x[WORD];
    SCAN(1, "Which number does the gradient %63s become in binary16", x);
    return oracle_round_text(x, half, 'n');
}
static double largest_lost(const char *text) {
    char name[WORD];
    int smallest, e;
    SCAN(2, "The smallest positive number of %63s is 2^%d.", name, &smallest);
    const oracle_format f = oracle_named(name);
    assert_int_equal(smallest, f.emin - f.p + 1);
    for (e = 0; oracle_round(oracle_power(e), f, 'n') != 0;) e--;
    return oracle_power(e);
}
static double gradients(const char *text) {
    char x[WORD];
    const int zeros = strstr(text, "become zero") != NULL;
    int n = 0;
    for (const char *at = strchr(text, ':'); at && sscanf(at, "%*[:, ]%63[^,?]", x) == 1; at = strchr(at + 1, ',')) {
        const double y = fabs(oracle_round(oracle_value(x), half, 'n'));
        n += zeros ? y == 0 : y != 0 && y < 0x1p-14;
    }
    return n;
}
static double significant(const char *text) {
    int e;
    SCAN(1, "How many significant bits does a number of binary16 have whose leading 1 bit has the weight 2^%d?", &e);
    return e - oracle_quantum_at(oracle_power(e), half) + 1;
}
static double lost_update(const char *text) {
    char name[WORD], w[WORD];
    SCAN(2, "A weight of %63s is %63s Which", name, w);
    w[strlen(w) - 1] = '\0';
    const oracle_format f = oracle_named(name);
    const double weight = oracle_value(w);
    int e = 10;
    while (oracle_add(weight, oracle_power(e), f, 'n') != weight) e--;
    return oracle_power(e);
}
static double kind(const char *text) {
    char name[WORD];
    int e;
    SCAN(2, "Does 2^%d become zero, a subnormal or a normal number in %63s", &e, name);
    const oracle_format f = oracle_named(name);
    const double y = oracle_round(oracle_power(e), f, 'n');
    return y == 0 ? 0 : y < oracle_power(f.emin) ? 1 : 2;
}

static double smallest_scale(const char *text) {
    char g[WORD];
    SCAN(1, "Which is the smallest loss scale, a power of two, with which the gradient %63s does", g);
    const double x = oracle_value(g);
    int e = 0;
    while (oracle_round(x * oracle_power(e), half, 'n') == 0) e++;
    return oracle_power(e);
}
static double largest_scale(const char *text) {
    char g[WORD];
    SCAN(1, "The largest gradient of a step is %63s Which", g);
    g[strlen(g) - 1] = '\0';
    const double x = oracle_value(g);
    int e = 40;
    while (oracle_round(x * oracle_power(e), half, 'n') > half.max) e--;
    return oracle_power(e);
}
static double scaled(const char *text) {
    char g[WORD];
    int k;
    SCAN(2, "The gradient %63s is multiplied by the loss scale 2^%d,", g, &k);
    return oracle_round(oracle_value(g) * oracle_power(k), half, 'n') * oracle_power(-k);
}
static double dynamic(const char *text) {
    int log2, interval, limit, last, good = 0, skipped = 0;
    SCAN(3,
         "A dynamic loss scale starts at 2^%d. A step with an overflow is skipped and halves the scale; after %d good "
         "steps "
         "in a row the scale doubles. Every step with a scale above 2^%d overflows.",
         &log2, &interval, &limit);
    const int what = strstr(text, "skipped?") != NULL;
    sscanf(strstr(text, what ? "first " : "after ") + 6, "%d", &last);
    if (!what) sscanf(strstr(text, "scale after") + 11, "%d", &last);
    for (int i = 0; i < last; i++) {
        if (log2 > limit) log2--, skipped++, good = 0;
        else if (++good == interval) log2++, good = 0;
    }
    return what ? skipped : oracle_power(log2);
}
static double master_weight(const char *text) {
    char w[WORD];
    int n, k;
    SCAN(3, "A weight is %63s In each of %d steps 2^-%d is added", w, &n, &k);
    w[strlen(w) - 1] = '\0';
    return oracle_round(times(oracle_value(w), oracle_power(-k), n, single, 'n'), half, 'n');
}

/* The product of an A100, from the question before. */
static double fused_product;

/* The four products of a question. */
static void four_products(double *x, const char *text) {
    char a[4][WORD];
    const char *at = strstr(text, "adds the products ");
    if (!at || sscanf(at, "adds the products %63[^,], %63[^,], %63s and %63s in", a[0], a[1], a[2], a[3]) != 4)
        fail_msg("another question than the oracle expects: %s", text);
    for (int i = 0; i < 4; i++) x[i] = oracle_value(a[i]);
}
static double machine(const char *text) {
    double x[4];
    int bits = 0;
    const char *at = strstr(text, "keeps F = ");
    if (!at || sscanf(at, "keeps F = %d bits. It", &bits) != 1) fail_msg("no F: %s", text);
    four_products(x, text);
    return oracle_aligned(x, 4, bits, 23);
}
static double smallest_f(const char *text) {
    double x[4];
    int F = 1;
    assert_non_null(strstr(text, "Which is the smallest F with which the result is the exact sum?"));
    four_products(x, text);
    while (oracle_aligned(x, 4, F, 23) != x[0] + x[1] + x[2] + x[3]) F++;
    return F;
}
static double truncated(const char *text) {
    char c[WORD], product[WORD];
    SCAN(2,
         "The model of the a100-fp16 rounds the sum of a step toward zero to binary32. c is %63s and the only product "
         "is %63s",
         c, product);
    product[strlen(product) - 1] = '\0';
    fused_product = oracle_value(product);
    const double x[2] = {oracle_value(c), fused_product};
    return oracle_aligned(x, 2, 24, 23);
}
static double nearest(const char *text) {
    char c[WORD], product[WORD];
    SCAN(2,
         "A processor adds the same c and the same product in binary32, to nearest, ties to even. What is the result: "
         "%63s + "
         "%63[^?]",
         c, product);
    assert_true(oracle_value(product) == fused_product);
    return oracle_add(oracle_value(c), oracle_value(product), single, 'n');
}
static double short_sum(const char *text) {
    char name[WORD], one[WORD], small[WORD];
    double x[32];
    int bits, kept, large;
    SCAN(6,
         "The model of the %63s adds 32 products in one step with F = %d and rounds the sum toward zero to %d bits "
         "after the leading one. The products are 2^%d, once %63[^,], and thirty times %63[^;];",
         name, &bits, &kept, &large, one, small);
    for (int i = 0; i < 32; i++) x[i] = i ? oracle_value(small) : oracle_power(large);
    x[1] = oracle_value(one);
    return oracle_aligned(x, 32, bits, kept);
}

static double fixed(const char *text) {
    char x[WORD];
    SCAN(1, "q4.4 has 8 bits in two's complement, 4 of them after the point. Round %63s to", x);
    mpfr_set_str(oracle_x, x, 10, MPFR_RNDN);
    return oracle_to_multiple(-4, 'n') + 0.0;
}
static double beyond(const char *text) {
    char a[WORD], b[WORD];
    SCAN(2, "What is %63s + %63s in q4.4", a, b);
    const double sum = oracle_value(a) + oracle_value(b);
    if (strstr(text, "wrap")) return sum > 7.9375 ? sum - 16 : sum < -8 ? sum + 16 : sum;
    return sum > 7.9375 ? 7.9375 : sum < -8 ? -8 : sum;
}
static double fp8(const char *text) {
    char x[WORD];
    SCAN(1, "e4m3 has 3 fraction bits and 448 as its largest number, and it saturates. Round %63s to", x);
    return oracle_round(oracle_value(x), oracle_named("e4m3"), 'n');
}
static double nearer(const char *text) {
    char x[WORD];
    const char *at = strstr(text, "nearer to ");
    if (!at || sscanf(at, "nearer to %63[^?]", x) != 1) fail_msg("another question: %s", text);
    const double v = oracle_value(x);
    return fabs(oracle_round(v, oracle_named("e4m3"), 'n') - v) > fabs(oracle_round(v, oracle_named("e5m2"), 'n') - v);
}
static double block(const char *text) {
    char x[WORD], which[WORD] = "1";
    double most = 0;
    const int element = sscanf(text, "What becomes of the number %63s in the block", which) == 1;
    for (const char *at = strstr(text, element ? "in the block" : "has the block") + 12; at && *at;
         at = strchr(at + 1, ',')) {
        if (sscanf(at, "%*[ ,k]%63[^,? ]", x) != 1) break;
        const double v = fabs(oracle_value(x));
        most = v > most ? v : most;
        if (at[strcspn(at + 1, ",?(") + 1] != ',') break;
    }
    mpfr_set_d(oracle_x, most, MPFR_RNDN);
    const double scale = oracle_power((int)mpfr_get_exp(oracle_x) - 1 - 2);
    return element ? oracle_round(oracle_value(which) / scale, oracle_named("e2m1"), 'n') * scale : scale;
}
static double size(const char *text) {
    int n, bits;
    SCAN(2, "Blocks of %d numbers of %d bits share", &n, &bits);
    mpfr_set_si(oracle_x, n * bits + 8, MPFR_RNDN);
    mpfr_div_si(oracle_x, oracle_x, n, MPFR_RNDN);
    return mpfr_get_d(oracle_x, MPFR_RNDN);
}

#endif

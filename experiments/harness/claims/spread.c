/* spread.c - statistics of many runs, and the choice of steps of a long run; see spread.h. */
#include "spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

void ulp_sort_numbers(double *value, size_t n) { qsort(value, n, sizeof *value, compare_numbers); }

/* The distribution of value (n), which is sorted and freed. */
static ulp_distribution take(double *value, size_t n) {
    static const double ranks[ULP_QUANTILES] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
    ulp_distribution d;
    double total = 0, squares = 0;
    for (size_t i = 0; i < n; i++) total += value[i];
    d.mean = total / (double)n;
    for (size_t i = 0; i < n; i++) squares += (value[i] - d.mean) * (value[i] - d.mean);
    d.sd = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    ulp_sort_numbers(value, n);
    for (int q = 0; q < ULP_QUANTILES; q++) d.quantile[q] = value[(size_t)(ranks[q] * (double)(n - 1) + 0.5)];
    free(value);
    return d;
}

ulp_distribution ulp_distribution_of(const double *value, size_t n) {
    double *copy = ulp_grow(NULL, n * sizeof *copy);
    memcpy(copy, value, n * sizeof *copy);
    return take(copy, n);
}

int ulp_is_thinned_row(int64_t n) {
    int64_t stride = 1;
    while (n >> 5 >= stride) stride *= 2;
    return n % stride == 0;
}

void ulp_numbers_add(ulp_numbers *numbers, double x) {
    if (isnan(x)) {
        numbers->lost++;
        return;
    }
    numbers->at = ulp_room_for(numbers->at, numbers->count, &numbers->room, sizeof *numbers->at);
    numbers->at[numbers->count++] = x;
}

ulp_spread ulp_numbers_take(ulp_numbers *numbers) {
    ulp_spread s = {NAN, NAN, NAN, NAN, NAN, (int)numbers->count, numbers->lost};
    double total = 0, squares = 0;
    for (size_t i = 0; i < numbers->count; i++) total += numbers->at[i]; /* in the order of their addition */
    if (s.n) {
        s.mean = total / s.n;
        for (int i = 0; i < s.n; i++) squares += (numbers->at[i] - s.mean) * (numbers->at[i] - s.mean);
        s.sd = s.n > 1 ? sqrt(squares / (s.n - 1)) : 0;
        ulp_sort_numbers(numbers->at, numbers->count);
        s.least = numbers->at[0];
        s.most = numbers->at[s.n - 1];
        s.median = 0.5 * (numbers->at[(s.n - 1) / 2] + numbers->at[s.n / 2]);
    }
    free(numbers->at);
    *numbers = (ulp_numbers){0};
    return s;
}

void ulp_summary_spread(ulp_claims *c, const char *quantity, double middle, const ulp_spread *s, const char *of, ...) {
    ulp_text words = {0};
    char name[96];
    va_list arguments;
    va_start(arguments, of);
    ulp_text_print_list(&words, of, arguments);
    va_end(arguments);
    ulp_summary(c, quantity, middle, "%s", ulp_text_of(&words));
    snprintf(name, sizeof name, "least %s", quantity);
    ulp_summary(c, name, s->least, "%s", ulp_text_of(&words));
    snprintf(name, sizeof name, "largest %s", quantity);
    ulp_summary(c, name, s->most, "%s", ulp_text_of(&words));
    ulp_text_free(&words);
}

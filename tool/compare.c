/* compare.c - ulp compare: how far the numbers of two arrays are apart in a format. */
#include "tool.h"

#include <math.h>
#include <stdlib.h>

#include "tool/files/array.h"

enum { BINS = 12 }; /* of distances: 0, 1, 2, 3..4, 5..8, ..., and larger ones */

typedef struct settings {
    ulp_format format, a_codes, b_codes; /* bits = 0: the files hold values */
    uint64_t most;
} settings;

static const ulp_option options[] = {
    ULP_OPTION(settings, format, format, NULL, .needed = 1,
               .help = "the format whose numbers are counted: two values are n units in the last place apart if n - 1 "
                       "numbers of the format lie between them"),
    ULP_OPTION_AS(settings, most, "ulps", unsigned, "0",
                  .help = "a distance that passes; a larger one ends with exit 1"),
    ULP_OPTION_AS(settings, a_codes, "a-format", format, NULL,
                  .help = "A holds codes of this format, integers of 1, 2, 4 or 8 bytes"),
    ULP_OPTION_AS(settings, b_codes, "b-format", format, NULL, .help = "the same for B"),
    {0},
};

/* What was found. */
typedef struct report {
    uint64_t count, equal, zeros_apart, nan_apart, inf_apart, bins[BINS];
    uint64_t largest, at, relative_at, absolute_at; /* of distances, and the elements of the largest ones */
    uint64_t nan_at, inf_at;                        /* the first elements apart */
    double relative, absolute;
} report;

static void count_pair(report *r, double a, double b, uint64_t i, const ulp_format *f) {
    r->count++;
    if (a != a || b != b) {
        if ((a == a) != (b == b) && r->nan_apart++ == 0) r->nan_at = i;
        r->equal += a != a && b != b;
        return;
    }
    r->zeros_apart += a == 0 && b == 0 && signbit(a) != signbit(b);
    if (a == b) {
        r->equal += a != 0 || signbit(a) == signbit(b);
        r->bins[0]++;
        return;
    }
    if (a - a != 0 || b - b != 0) {
        if (r->inf_apart++ == 0) r->inf_at = i;
        return;
    }
    int64_t from = 0, to = 0;
    ulp_ordinal(&from, a, f);
    ulp_ordinal(&to, b, f);
    const uint64_t distance = from > to ? (uint64_t)from - (uint64_t)to : (uint64_t)to - (uint64_t)from;
    const double absolute = fabs(a - b), relative = a != 0 ? absolute / fabs(a) : INFINITY;
    int bin = 0;
    while (bin < BINS - 1 && (bin == 0 ? distance > 0 : distance > 1ull << (bin - 1))) bin++;
    r->bins[bin]++;
    if (distance > r->largest) r->largest = distance, r->at = i;
    if (absolute > r->absolute) r->absolute = absolute, r->absolute_at = i;
    if (relative > r->relative) r->relative = relative, r->relative_at = i;
}

static void print_bins(const report *r) {
    puts("distance in units in the last place");
    for (int i = 0; i < BINS; i++) {
        char label[40];
        if (r->bins[i] == 0) continue;
        if (i < 3) snprintf(label, sizeof label, "%d", i);
        else if (i < BINS - 1) snprintf(label, sizeof label, "%d..%d", (1 << (i - 2)) + 1, 1 << (i - 1));
        else snprintf(label, sizeof label, "over %d", 1 << (i - 2));
        printf("  %-10s %llu\n", label, (unsigned long long)r->bins[i]);
    }
}

static void print_largest(const char *what, double size, uint64_t i, const file_array *a, const file_array *b) {
    ulp_text index = {0};
    const double *const x = a->elements, *const y = b->elements;
    file_array_add_index(&index, &a->header, i);
    printf("%s %.9g at element %s: %.17g and %.17g\n", what, size, ulp_text_of(&index), x[i], y[i]);
    ulp_text_free(&index);
}

static void print_apart(const char *what, const char *text, uint64_t count, uint64_t first, const file_array *a) {
    ulp_text index = {0};
    if (count == 0) return;
    file_array_add_index(&index, &a->header, first);
    printf("%-11s %llu %s, first at element %s\n", what, (unsigned long long)count, text, ulp_text_of(&index));
    ulp_text_free(&index);
}

static void print_report(const report *r, const file_array *a, const file_array *b) {
    printf("elements    %llu, equal %llu\n", (unsigned long long)r->count, (unsigned long long)r->equal);
    if (r->zeros_apart) printf("zeros       %llu of different signs\n", (unsigned long long)r->zeros_apart);
    print_apart("nan", "in one array alone", r->nan_apart, r->nan_at, a);
    print_apart("inf", "in one array alone, or of different signs", r->inf_apart, r->inf_at, a);
    print_bins(r);
    if (r->largest == 0) return;
    print_largest("ulps       ", (double)r->largest, r->at, a, b);
    print_largest("absolute   ", r->absolute, r->absolute_at, a, b);
    print_largest("relative   ", r->relative, r->relative_at, a, b);
}

static ulp_status refuse_value(const file_array *a, uint64_t i, const ulp_format *f, ulp_error *error) {
    ulp_text index = {0};
    file_array_add_index(&index, &a->header, i);
    ulp_refuse(error,
               "%s: element %s, %.17g, is no number of %s, the format of both arrays; round them first: "
               "ulp round --format %s --from npy --to npy FILE",
               a->shown, ulp_text_of(&index), ((const double *)a->elements)[i], f->name, f->name);
    ulp_text_free(&index);
    return ULP_BAD_ARGUMENT;
}

/* Whether the format has the number; NaN and infinities are counted apart. */
static int has_number(double value, const ulp_format *f) {
    int64_t place;
    return value - value != 0 || ulp_ordinal(&place, value, f) == ULP_OK;
}

static ulp_status compare(const settings *s, const file_array *a, const file_array *b, ulp_error *error) {
    report r = {0};
    const double *const x = a->elements, *const y = b->elements;
    ULP_TRY(file_array_same_shape(a, b, error));
    for (uint64_t i = 0; i < a->header.count; i++) {
        if (!has_number(x[i], &s->format)) return refuse_value(a, i, &s->format, error);
        if (!has_number(y[i], &s->format)) return refuse_value(b, i, &s->format, error);
        count_pair(&r, x[i], y[i], i, &s->format);
    }
    print_report(&r, a, b);
    return r.largest > s->most || r.nan_apart || r.inf_apart ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
}

static ulp_status run(void *fields, const ulp_arguments *arguments, ulp_error *error) {
    const settings *s = fields;
    file_array a = {0}, b = {0};
    if (arguments->word_count != 2)
        return ulp_refuse(error, "two arrays are compared, A and B; %zu %s named", arguments->word_count,
                          arguments->word_count == 1 ? "is" : "are");
    ulp_status status = file_array_read(&a, arguments->program, arguments->words[0], NPY_NUMBERS,
                                        s->a_codes.bits > 0 ? &s->a_codes : NULL, error);
    if (status == ULP_OK)
        status = file_array_read(&b, arguments->program, arguments->words[1], NPY_NUMBERS,
                                 s->b_codes.bits > 0 ? &s->b_codes : NULL, error);
    if (status == ULP_OK) status = compare(s, &a, &b, error);
    file_array_free(&a);
    file_array_free(&b);
    return status;
}

const tool_command tool_compare = {
    .command = {.name = "ulp compare",
                .usage = "--format F [OPTION...] A B",
                .summary = "compares two arrays in units in the last place",
                .details =
                    "A and B are .npy files, FILE.npz or FILE.npz:NAME, of the same shape and of values of F. "
                    "Prints a histogram of the distances, and the largest distance, absolute and relative error "
                    "(of A) with their elements. +0 and -0 are 0 apart. The exit status is 1 if a distance is "
                    "larger than --ulps, or if NaN or Inf stand in one array alone. Arrays with other numbers are "
                    "rounded first.\n\n"
                    "  ulp compare --format bf16 --ulps 1 mine.npy theirs.npy\n"
                    "  ulp round --format fp16 --from npy --to npy x.npy >x16.npy\n",
                .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};

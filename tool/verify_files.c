/* verify_files.c - ulp verify: results in a file, of any program, compared with the MPFR oracle; see verify.h. */
#if defined(ULP_WITH_MPFR)

#include "verify.h"

#include "tool/files/array.h"
#include "base/decimal.h"
#include "kernels/mpfr/reference.h"

enum { SHOWN = 5, STEP = 1 << 14 };

static int same(double got, double want) { return want != want ? got != got : ulp_bits64(got) == ulp_bits64(want); }

static void show(const file_array *x, const char *program, uint64_t i, double got, double want) {
    ulp_text index = {0};
    file_array_add_index(&index, &x->header, i);
    ulp_complain(program, "element %s: x = %s: the result is %s, MPFR gives %s", ulp_text_of(&index),
                 ULP_HEX(((const double *)x->elements)[i]), ULP_HEX(got), ULP_HEX(want));
    ulp_text_free(&index);
}

/* A mode that is compared. */
typedef struct candidate {
    const char *name;
    ulp_rule rule;
    int is_only; /* 1: its differences are shown */
} candidate;

/* The number of results that differ from the oracle's. */
static uint64_t count_differences(const verify_files *w, const candidate *c, ulp_reference *ref, const file_array *x,
                                  const file_array *y, const char *program) {
    const double *const input = x->elements, *const result = y->elements;
    const uint64_t n = x->header.count;
    const int stochastic = ulp_mode_is_stochastic(c->rule.mode);
    ulp_progress bar = ulp_progress_start(program, 0.0);
    uint64_t differences = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t word = stochastic ? ulp_random_word(w->stream, i) : 0;
        const double want = ulp_reference_round(ref, input[i], 0.0, c->rule, word);
        if (i % STEP == 0) ulp_progress_show(&bar, (double)i / (double)n, x->shown);
        if (same(result[i], want)) continue;
        ulp_progress_clear(&bar);
        if (differences++ < SHOWN && c->is_only) show(x, program, i, result[i], want);
    }
    ulp_progress_clear(&bar);
    return differences;
}

/* Compare with a mode. *follows is 1 if no result differs. */
static ulp_status compare(int *follows, const verify_files *w, const candidate *c, const file_array *x,
                          const file_array *y, const char *program, ulp_error *error) {
    ulp_reference *const ref = ulp_reference_new(&w->format);
    if (ref == NULL) return ulp_fail(error, ULP_NO_MEMORY, "out of memory for the oracle");
    const uint64_t differences = count_differences(w, c, ref, x, y, program);
    const unsigned long long n = x->header.count;
    ulp_reference_free(ref);
    printf("%s %s %s %s %s: %llu result%s, %llu mismatch%s\n", differences == 0 ? "PASS" : "FAIL", y->shown,
           w->format.name, c->name, ulp_overflow_name((ulp_overflow)c->rule.overflow), n, ulp_plural(n),
           (unsigned long long)differences, differences == 1 ? "" : "es");
    *follows = differences == 0;
    return ULP_OK;
}

/* Compare with every mode. */
static ulp_status compare_all(const verify_files *w, const file_array *x, const file_array *y, const char *program,
                              ulp_error *error) {
    ulp_text found = {0};
    int any = 0;
    ulp_status status = ULP_OK;
    for (size_t i = 0; i < w->modes->count && status == ULP_OK; i++) {
        candidate c = {w->modes->at[i].name, w->modes->at[i].rule, w->modes->count == 1};
        int follows = 0;
        c.rule.overflow = (uint8_t)w->overflow;
        if (c.rule.random_bits == 0 && ulp_mode_is_stochastic(c.rule.mode)) c.rule.random_bits = (uint8_t)w->bits;
        status = compare(&follows, w, &c, x, y, program, error);
        if (follows) ulp_text_print(&found, "%s%s", any ? ", " : "", c.name);
        any |= follows;
    }
    if (status == ULP_OK && w->modes->count > 1) printf("the results follow: %s\n", any ? ulp_text_of(&found) : "none");
    ulp_text_free(&found);
    return status != ULP_OK || any ? status : tool_failed(error, TOOL_CHECK_FAILED);
}

ulp_status verify_files_run(const verify_files *w, const char *program, ulp_error *error) {
    file_array x = {0}, y = {0};
    ulp_status status = file_array_read(&x, program, w->inputs, NPY_NUMBERS, w->inputs_codes, error);
    if (status == ULP_OK) status = file_array_read(&y, program, w->results, NPY_NUMBERS, w->results_codes, error);
    if (status == ULP_OK) status = file_array_same_shape(&x, &y, error);
    if (status == ULP_OK && x.header.count == 0) status = ulp_refuse(error, "%s has no elements", x.shown);
    if (status == ULP_OK) status = compare_all(w, &x, &y, program, error);
    file_array_free(&x);
    file_array_free(&y);
    return status;
}

#else

typedef int verify_files_needs_mpfr; /* C requires a declaration in every file */

#endif

/* t_paths.c - the table of product paths: the first row that serves a datapath runs, and all rows have the same bits.
 */

#include "support.h"

#include "instruction_sets.h"
#include "kernels/product_paths.h"

enum { M = 5, N = 37, DEPTH = 70, MOST_ROWS = 24 };

static const char forms[] =
    "serial:fp16:rne serial:fp16:ru serial:bf16:sra serial:e4m3:rne serial:fp16:srb serial:fp64:rne serial:q8.8:rne "
    "chunk32:e6m9:rne split:fp16:rne split:fp16:ru pairwise:fp16:rne pairwise:bf16:sra kahan:fp16:rne exact:fp32:rne "
    "exact:fp16:rd block4:fp32:rne block4:fp32:ru fp32 int8 int8:sat vnni-int16-sat maddubs-int8 maddubs-int8-wrap "
    "uint8 block4:fp64:rne kahan:fp64:rne "
    "serial:fp16:rne:promote=64 h100-e4m3:promote=128";
enum { MOST = 600 };
static ulp_datapath datapaths[MOST];
static size_t datapath_count;

/* The rows of hardware and the forms above. */
static void list_datapaths(void) {
    for (; ulp_datapath_get(datapath_count, &datapaths[datapath_count]) == ULP_OK; datapath_count++)
        assert_true(datapath_count + 1 < MOST);
    for (size_t i = 0; *word_of(forms, i); i++, datapath_count++) {
        assert_true(datapath_count < MOST);
        assert_ok(ulp_datapath_parse(&datapaths[datapath_count], word_of(forms, i)));
    }
}

static double a[M * DEPTH], b[DEPTH * N], c[M * N], want[M * N];
static float a_narrow[M * DEPTH], b_narrow[DEPTH * N], c_narrow[M * N];

/* Few bits, so that no condition on the data fails where a row can hold the numbers. */
static void fill(double *x, float *narrow, size_t n, const ulp_datapath *d, const ulp_format *f) {
    static const double values[] = {1, -1, 0, 0.5, 2, -2, 1, -0.5};
    uint64_t seed = 1;
    for (size_t i = 0; i < n; i++) {
        const double value = values[next_random(&seed) >> 61];
        x[i] = d->has_inputs ? ulp_round(value, f, (ulp_rule){ULP_RZ, ULP_OVERFLOW_SAT, 0}, 0) : value;
        narrow[i] = (float)x[i];
    }
}

static ulp_job job_of(const ulp_datapath *d) {
    const int wide = !d->result.fits_binary32;
    fill(a, a_narrow, M * DEPTH, d, &d->a);
    fill(b, b_narrow, DEPTH * N, d, &d->b);
    return (ulp_job){.c = wide ? (void *)c : c_narrow,
                     .a = wide ? (const void *)a : a_narrow,
                     .b = wide ? (const void *)b : b_narrow,
                     .wide = wide,
                     .s = {.m = M, .n = N, .k = DEPTH, .lda = DEPTH, .ldb = N, .ldc = N},
                     .columns = N,
                     .datapath = d,
                     .stream = {5, 3, 1}};
}

static void keep_results(double *to, int wide) {
    for (size_t i = 0; i < M * N; i++) to[i] = wide ? c[i] : (double)c_narrow[i];
}

/* ---- the choice ---- */

static size_t computed, refused, others;

static ulp_status compute(const ulp_job *job) { return (void)job, computed++, ULP_OK; }
static ulp_status refuse(const ulp_job *job) { return (void)job, refused++, ULP_UNSUPPORTED; }
static ulp_status other(const ulp_job *job) { return (void)job, others++, ULP_OK; }

/* Exactly the first row that serves a datapath runs; where its condition does not hold, the next one as well. */
static void choose(const ulp_backend *backend) {
    size_t count;
    const ulp_product_path *paths = ulp_product_paths(backend, &count);
    assert_non_null(paths);
    assert_true(count > 1 && count <= MOST_ROWS);
    for (size_t n = 0; n < datapath_count; n++) {
        const ulp_job job = job_of(&datapaths[n]);
        ulp_product_path watched[MOST_ROWS];
        size_t first = 0, second;
        for (size_t i = 0; i < count; i++) watched[i] = paths[i], watched[i].run = other;
        while (first < count && !paths[first].serves(&job)) first++;
        for (second = first + 1; second < count && !paths[second].serves(&job);) second++;
        assert_true(first < count);
        assert_int_equal(ulp_product_path_for(paths, count, 0, &job), first);
        computed = refused = others = 0;
        watched[first].run = compute;
        assert_ok(ulp_product_run(watched, count, &job));
        assert_ok(ulp_product_run(watched + first, count - first, &job)); /* a table whose first row serves */
        assert_true(computed == 2 && others == 0);
        watched[first].run = refuse;
        if (second < count) watched[second].run = compute;
        assert_int_equal(ulp_product_run(watched, count, &job), second < count ? ULP_OK : ULP_UNSUPPORTED);
        assert_true(computed == 2 + (second < count) && refused == 1 && others == 0);
    }
}

static void test_choice(void **state) {
    (void)state;
    on_every_instruction_set(choose);
}

/* ---- the bits ---- */

/* The product, by the backend, has the bits of every row that serves it. A row without a condition computes what it
 * serves. */
static void compare(const ulp_backend *backend) {
    size_t count;
    const ulp_product_path *paths = ulp_product_paths(backend, &count);
    for (size_t n = 0; n < datapath_count; n++) {
        const ulp_job job = job_of(&datapaths[n]);
        const ulp_summation by = {&datapaths[n], job.stream};
        double got[M * N];
        assert_ok(job.wide ? ulp_backend_gemm64(backend, c, a, b, &job.s, by)
                           : ulp_backend_gemm(backend, c_narrow, a_narrow, b_narrow, &job.s, by));
        keep_results(want, job.wide);
        for (size_t i = 0; i < count; i++) {
            if (!paths[i].serves(&job)) continue;
            const ulp_status status = paths[i].run(&job);
            if (status == ULP_UNSUPPORTED && paths[i].condition[0] != '\0') continue;
            assert_ok(status);
            keep_results(got, job.wide);
            if (memcmp(got, want, sizeof want) != 0)
                fail_msg("%s by %s under %s has other bits", datapaths[n].name, paths[i].name, backend->what);
        }
    }
}

static void test_bits(void **state) {
    (void)state;
    on_every_instruction_set(compare);
}

/* ---- the rows ---- */

/* Every row is the first for a datapath above or for its example, or follows rows with a condition; only the fastest
 * instruction sets have all rows. */
static void use(const ulp_backend *backend) {
    ulp_datapath d;
    size_t count, used[MOST_ROWS] = {0};
    ulp_error why;
    const ulp_product_path *paths = ulp_product_paths(backend, &count);
    for (size_t n = 0; n < datapath_count; n++) {
        const ulp_job job = job_of(&datapaths[n]);
        size_t i = ulp_product_path_for(paths, count, 0, &job);
        for (; i < count && paths[i].condition[0] != '\0'; i = ulp_product_path_for(paths, count, i + 1, &job))
            used[i]++;
        if (i < count) used[i]++;
    }
    for (size_t i = 0; i < count; i++) {
        assert_true(paths[i].name[0] != '\0' && paths[i].what[0] != '\0');
        if (ulp_datapath_is_native(paths[i].example)) {
            if (ulp_datapath_native(&d, paths[i].example, &why) == ULP_OK) {
                const ulp_job job = job_of(&d);
                assert_int_equal(ulp_product_path_for(paths, count, 0, &job), i);
            }
            continue;
        }
        assert_ok(ulp_datapath_parse(&d, paths[i].example));
        if (strcmp(backend->what, "baseline") == 0) continue;
        const ulp_job job = job_of(&d);
        if (ulp_product_path_for(paths, count, 0, &job) == i) used[i]++;
        if (used[i] == 0) fail_msg("%s serves nothing under %s", paths[i].name, backend->what);
    }
}

static void test_rows(void **state) {
    (void)state;
    on_every_instruction_set(use);
}

static void test_other_backends(void **state) {
    (void)state;
    const ulp_backend *mpfr = NULL;
    size_t count = 1;
    if (ulp_backend_get(&mpfr, "mpfr") == ULP_OK) assert_null(ulp_product_paths(mpfr, &count));
    assert_null(ulp_product_paths(NULL, &count));
    assert_int_equal(count, 0);
}

static int set_up(void **state) {
    (void)state;
    list_datapaths();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_rows), cmocka_unit_test(test_other_backends)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}

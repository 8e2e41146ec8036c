/* t_sums.c - running sums and their cures, the distribution of runs, and lists of words. */
#include "support.h"

#include "experiments/harness/sums.h"
#include "experiments/harness/claims/claims.h"
#include "experiments/harness/claims/spread.h"

static ulp_sum sum_of(const ulp_format *f, ulp_cure cure) {
    return (ulp_sum){.format = f, .mode = "rne", .cure = cure};
}

/* Sums of ones with precision p end at 2^p; with Kahan's correction at 2^(2p); with a master copy they do not end. */
TEST(cures) {
    const ulp_format f = named("e4m3"), wide = named("bfloat16");
    ulp_sum plain = sum_of(&wide, ULP_CURE_NONE), kahan = sum_of(&wide, ULP_CURE_KAHAN),
            master = sum_of(&f, ULP_CURE_MASTER);
    for (int i = 0; i < 70000; i++) {
        ulp_sum_add(&plain, 1, 0);
        ulp_sum_add(&kahan, 1, 0);
        ulp_sum_add(&master, 1, 0);
        if (i + 1 == 300) assert_true(plain.value == 256 && kahan.value == 300 && master.value == 288);
    }
    assert_true(plain.value == 256 && kahan.value == 65536 && master.kept == 70000 && master.value == 448);
}

/* The random word decides whether an addition changes the sum by a spacing; the share of such words is right. */
TEST(words) {
    const ulp_format f = named("binary16");
    int up = 0;
    for (uint32_t i = 0; i < 256; i++) {
        ulp_sum s = {.format = &f, .mode = "sra", .rule = {.mode = ULP_SRA}, .value = 2048};
        ulp_sum_add(&s, 0.5, i << 24);
        assert_true(s.value == 2048 || s.value == 2050);
        up += s.value == 2050;
    }
    assert_int_equal(up, 64);
}

/* The machine's float gives the same sums as ulp_arith() in binary32. */
TEST(native) {
    static const ulp_cure cures[] = {ULP_CURE_NONE, ULP_CURE_KAHAN, ULP_CURE_MASTER};
    const ulp_format f = named("binary32");
    for (size_t c = 0; c < COUNT_OF(cures); c++) {
        ulp_sum a = sum_of(&f, cures[c]), b = a;
        b.native = 1;
        for (int i = 1; i < 5000; i++) {
            const double term = ulp_round((i % 3 ? 1.0 : -1.0) / i, &f, (ulp_rule){0}, 0);
            ulp_sum_add(&a, term, 0);
            ulp_sum_add(&b, term, 0);
            assert_true(a.value == b.value && a.kept == b.kept);
        }
        assert_true(fabs(a.value) > 0.5);
    }
}

/* The numbers 0 .. 20 in another order: the sum of squares about 10 is 770. */
TEST(distribution) {
    static const double quantiles[ULP_QUANTILES] = {0, 1, 5, 10, 15, 19, 20};
    double value[21], two[] = {5, 3};
    for (int i = 0; i < 21; i++) value[i] = 8 * i % 21;
    ulp_distribution d = ulp_distribution_of(value, 21);
    assert_true(d.mean == 10 && d.sd == sqrt(770 / 20.0));
    for (int q = 0; q < ULP_QUANTILES; q++) assert_true(d.quantile[q] == quantiles[q]);
    assert_true(value[1] == 8); /* unchanged */
    d = ulp_distribution_of(two, 2);
    assert_true(d.mean == 4 && d.sd == sqrt(2) && d.quantile[2] == 3 && d.quantile[3] == 5 && d.quantile[6] == 5);
    d = ulp_distribution_of(two, 1);
    assert_true(d.mean == 5 && d.sd == 0 && d.quantile[0] == 5 && d.quantile[6] == 5);
    double some[] = {NAN, 2, -INFINITY, NAN, -1};
    ulp_sort_numbers(some, 5);
    assert_true(some[0] == -INFINITY && some[1] == -1 && some[2] == 2 && isnan(some[3]) && isnan(some[4]));
}

TEST(thinned) {
    int rows = 0;
    for (int64_t n = 0; n < 32; n++) assert_true(ulp_is_thinned_row(n));
    for (int64_t n = 1024; n < 2048; n++) rows += ulp_is_thinned_row(n);
    assert_int_equal(rows, 16);
    for (int64_t n = 1; n < INT64_C(1) << 40; n *= 2) assert_true(ulp_is_thinned_row(n));
}

TEST(words_of_lists) {
    assert_true(ulp_list_has("binary16 e4m3", "binary16") && ulp_list_has("binary16 e4m3", "e4m3"));
    assert_true(ulp_list_has("tf32,e4m3,q8.8", "e4m3") && ulp_list_has("e4m3:inf,e4m3", "e4m3"));
    assert_false(ulp_list_has("binary16", "binary1") || ulp_list_has("binary16", "inary16") ||
                 ulp_list_has("e4m3:inf", "e4m3"));
    assert_false(ulp_list_has("", "e4m3") || ulp_list_has("binary16 e4m3", "") || ulp_list_has("", ""));
}

/* A search finds the row of its cure, not the first row of its format. */
TEST(find) {
    const ulp_format f = named("e4m3");
    const ulp_named_rule rne = {"rne", {0}};
    const ulp_sum_point points[] = {{&f, &rne, ULP_CURE_NONE}, {&f, &rne, ULP_CURE_KAHAN}};
    ulp_sum_row rows[] = {{.format = "e4m3", .mode = "rne", .cure = ULP_CURE_NONE},
                          {.format = "e4m3", .mode = "rne", .cure = ULP_CURE_KAHAN}};
    const void *at[] = {&points[0], &points[1]};
    const ulp_table table = {.rows = rows, .row_size = sizeof rows[0], .count = 2, .points = at};
    assert_ptr_equal(ulp_sum_find(&table, &(ulp_sum_wanted){.format = &f, .cure = ULP_CURE_KAHAN}), &rows[1]);
    assert_ptr_equal(ulp_sum_find(&table, &(ulp_sum_wanted){.format = &f, .cure = ULP_CURE_NONE}), &rows[0]);
    assert_null(ulp_sum_find(&table, &(ulp_sum_wanted){.format = &f, .cure = ULP_CURE_MASTER}));
}

static void add_one(ulp_sum *s, int64_t k, const void *settings) {
    (void)k, (void)settings;
    ulp_sum_add(s, 1, 0);
}

/* Ones in e4m3 stop at 16 after 16 steps. The row of step 17, which moves nothing, is the last of the path. */
TEST(follow) {
    static const ulp_column columns[] = {ULP_SUM_COLUMNS, ULP_COLUMNS(ulp_sum_row, n, value), {0}};
    const ulp_format f = named("e4m3");
    for (int64_t limit = 10; limit <= 100; limit += 90) {
        ulp_rows rows = {.columns = columns};
        const ulp_task task = {.rows = &rows};
        ulp_sum s = ulp_sum_of(&f, "rne", (ulp_rule){0}, ULP_CURE_NONE);
        const ulp_sum_row end = ulp_sum_follow(&task, &s, &(ulp_sum_way){.step = add_one, .limit = limit});
        assert_int_equal(end.what, limit == 10 ? ULP_SUM_OPEN : ULP_SUM_STOP);
        assert_int_equal(end.n, limit == 10 ? 10 : 16);
        assert_true(end.value == (limit == 10 ? 10 : 16));
        assert_int_equal(rows.count, limit == 10 ? 11 : 18);
        ulp_text_free(&rows.text);
    }
}

/* One verdict about several things fails if one of them does not hold. */
TEST(findings) {
    ulp_claims c = {0};
    for (int against = 0; against < 3; against++) {
        ulp_finding f = {0};
        for (int i = 0; i < 3; i++) ulp_finding_add(&f, i >= against, "%d", i);
        ulp_claim_found(&c, "", &f, "all");
    }
    assert_int_equal(ulp_claims_count(&c, ULP_PASS), 1);
    assert_int_equal(ulp_claims_count(&c, ULP_FAIL), 2);
    ulp_claims_free(&c);
}

/* A claim about 8 or more is judged at 8, and skipped with a reason at 7. */
TEST(reasons) {
    const ulp_option option = {.name = "seeds", .value = "8"};
    ulp_setting setting = {.option = &option};
    ulp_arguments arguments = {.settings = &setting, .count = 1};
    ulp_claims c = {.arguments = &arguments};
    static const struct {
        const char *value;
        int judged;
    } cases[] = {{"7", 0}, {"8", 1}, {"9", 1}, {"8.0", 1}, {"10", 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setting.value = cases[i].value;
        assert_int_equal(*ulp_claim_reason(&c, "seeds>=8") == '\0', cases[i].judged);
    }
    setting.value = "9";
    assert_true(*ulp_claim_reason(&c, "seeds=8") != '\0');
    ulp_claims_free(&c);
}

TEST(median) {
    ulp_numbers numbers = {0};
    static const double values[] = {4.0, 1.0, 8.0, 2.0};
    for (size_t i = 0; i < 4; i++) ulp_numbers_add(&numbers, values[i]);
    const ulp_spread s = ulp_numbers_take(&numbers);
    assert_true(s.n == 4 && s.median == 3.0 && s.least == 1.0 && s.most == 8.0);
}

TESTS(NULL, NULL)

/* t_error.c - errors: which sentence stays, what a long sentence loses, early returns; and the clock. */
#include "support.h"

#include "base/clock.h"

static void test_sentences(void **state) {
    ulp_error e = {0};
    (void)state;
    assert_int_equal(ulp_fail(&e, ULP_BAD_NAME, "no format '%s'", "fp17"), ULP_BAD_NAME);
    assert_int_equal(e.status, ULP_BAD_NAME);
    assert_string_equal(e.text, "no format 'fp17'");
    assert_int_equal(ulp_fail_default(&e, ULP_BAD_FILE, "another"), ULP_BAD_FILE);
    assert_int_equal(e.status, ULP_BAD_NAME);
    assert_string_equal(e.text, "no format 'fp17'"); /* the sentence of the function that knows the reason */
    ulp_fail(&e, ULP_BAD_FILE, "a file");
    assert_string_equal(e.text, "a file");
    ulp_error_clear(&e);
    assert_ok(e.status);
    assert_string_equal(e.text, "");
    ulp_fail_default(&e, ULP_NO_MEMORY, "no memory");
    assert_string_equal(e.text, "no memory");
    /* without a place for the sentence, the status is enough */
    assert_int_equal(ulp_fail(NULL, ULP_UNSUPPORTED, "%d", 1), ULP_UNSUPPORTED);
    assert_int_equal(ulp_fail_default(NULL, ULP_UNSUPPORTED, "%d", 1), ULP_UNSUPPORTED);
    assert_int_equal(ulp_fail_within(NULL, ULP_UNSUPPORTED, "%d", 1), ULP_UNSUPPORTED);
    ulp_error_clear(NULL);
}

static void test_within(void **state) {
    ulp_error e = {0};
    (void)state;
    ulp_fail(&e, ULP_BAD_NAME, "no net");
    assert_int_equal(ulp_fail_within(&e, ULP_BAD_NAME, "layer %d", 3), ULP_BAD_NAME);
    assert_string_equal(e.text, "layer 3: no net");
    ulp_error_clear(&e);
    ulp_fail_within(&e, ULP_NO_MEMORY, "generator");
    assert_true(strncmp(e.text, "generator: ", 11) == 0);
    assert_string_equal(e.text + 11, ulp_status_text(ULP_NO_MEMORY));
}

static void test_long_sentences(void **state) {
    static char words[2 * ULP_ERROR_TEXT];
    ulp_error e = {0};
    (void)state;
    memset(words, 'w', sizeof words - 1);
    ulp_fail(&e, ULP_BAD_NAME, "%s", words);
    assert_int_equal(strlen(e.text), ULP_ERROR_TEXT - 1);
    ulp_fail_within(&e, ULP_BAD_NAME, "where");
    assert_int_equal(strlen(e.text), ULP_ERROR_TEXT - 1);
    assert_true(strncmp(e.text, "where: www", 10) == 0);
    ulp_fail_within(&e, ULP_BAD_NAME, "%s", words);
    assert_int_equal(strlen(e.text), ULP_ERROR_TEXT - 1);
}

static ulp_status go_on(int *calls, ulp_status first) {
    if (*calls == 0) ULP_TRY(ULP_OK);
    else ULP_TRY(ULP_NO_DEVICE);
    ++*calls;
    ULP_TRY(first);
    ++*calls;
    return ULP_OK;
}

static void test_early_return(void **state) {
    int calls = 0;
    (void)state;
    assert_int_equal(go_on(&calls, ULP_BAD_FILE), ULP_BAD_FILE);
    assert_int_equal(calls, 1);
    assert_int_equal(go_on(&calls, ULP_OK), ULP_NO_DEVICE);
    assert_int_equal(calls, 1);
    calls = 0;
    assert_ok(go_on(&calls, ULP_OK));
    assert_int_equal(calls, 2);
}

static void test_clock(void **state) {
    double before = ulp_clock(), thread_before = ulp_clock_of_thread();
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const double now = ulp_clock(), thread_now = ulp_clock_of_thread();
        assert_true(now >= before && thread_now >= thread_before);
        before = now;
        thread_before = thread_now;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sentences), cmocka_unit_test(test_within),
                                       cmocka_unit_test(test_long_sentences), cmocka_unit_test(test_early_return),
                                       cmocka_unit_test(test_clock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

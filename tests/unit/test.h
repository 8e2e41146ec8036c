/* test.h - TEST(name) { ... } defines a test and lists it; TESTS(set_up, tear_down) is the program that runs all of a
 * file. */
#ifndef ULP_TESTS_TEST_H
#define ULP_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define assert_ok(call) assert_int_equal(call, ULP_OK)

/* The tests of this file in the order of their definitions. */
static struct CMUnitTest listed_tests[40];
static size_t listed_count;

static inline void list_test(const char *name, CMUnitTestFunction function) {
    if (listed_count == COUNT_OF(listed_tests)) abort();
    listed_tests[listed_count++] = (struct CMUnitTest){.name = name, .test_func = function};
}

/* Word i of a text, whose words blanks divide; "" after the last. It is valid until 8 calls later. */
static inline const char *word_of(const char *text, size_t i) {
    static char words[8][128];
    static size_t next;
    char *word = words[next++ % 8];
    for (text += strspn(text, " "); i > 0; i--) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    const size_t length = strcspn(text, " ");
    if (length >= sizeof words[0]) abort();
    memset(word, 0, sizeof words[0]);
    return memcpy(word, text, length);
}

#define TEST(name)                                                                                                     \
    static void test_##name(void **state);                                                                             \
    __attribute__((constructor)) static void list_test_##name(void) { list_test("test_" #name, test_##name); }         \
    static void test_##name(void **state __attribute__((unused)))

/* Runs the tests; set_up and tear_down, or NULL, are called before the first and after the last. Returns the number of
 * failures. */
static inline int run_listed_tests(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    return _cmocka_run_group_tests("tests", listed_tests, listed_count, set_up, tear_down);
}

#define TESTS(set_up, tear_down)                                                                                       \
    int main(void) { return run_listed_tests(set_up, tear_down); }

#endif

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

/* The tests of this file in the order of their definitions. */
static struct CMUnitTest listed_tests[40];
static size_t listed_count;

static inline void list_test(const char *name, CMUnitTestFunction function) {
    if (listed_count == sizeof listed_tests / sizeof listed_tests[0]) abort();
    listed_tests[listed_count++] = (struct CMUnitTest){.name = name, .test_func = function};
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

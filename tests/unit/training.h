/* training.h - helpers for tests of training: the shipped digits, loaded once, and starting a trainer. */
#ifndef ULP_TESTS_TRAINING_H
#define ULP_TESTS_TRAINING_H

#include "test.h"

#include "texts.h"

static ulp_error error;
static ulp_data digits;

static inline int load_digits(void **state) {
    (void)state;
    return ulp_data_load(&digits, "digits", NULL, 1, &error) != ULP_OK;
}

static inline int free_digits(void **state) {
    (void)state;
    ulp_data_release(&digits);
    return 0;
}

static inline ulp_trainer *trainer_of(const ulp_data *data, const training_texts *options) {
    ulp_trainer *t;
    if (trainer_from_texts(&t, data, options, &error) != ULP_OK) fail_msg("%s", error.text);
    return t;
}

#endif

/* training.c - training runs on the device against the CPU's. */
#include "check.h"

void check_training(const check *c) {
    row r = row_of("training runs on the device against the CPU's");
    row_skip(&r, "not yet");
    row_end(c, &r);
}

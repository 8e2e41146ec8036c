/* elements.c - rounding, operations, updates and the largest magnitude on the device, against the CPU bit for bit. */
#include "check.h"

void check_elements(const check *c) {
    row r = row_of("elements");
    row_skip(&r, "not yet");
    row_end(c, &r);
}

/* tensor.c - Tensor Core models against the instructions themselves. */
#include "check.h"

void check_tensor_cores(const check *c) {
    row r = row_of("Tensor Core models against the instructions themselves");
    row_skip(&r, "not yet");
    row_end(c, &r);
}

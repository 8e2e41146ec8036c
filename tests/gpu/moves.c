/* moves.c - operations that only move numbers, against the CPU. */
#include "check.h"

void check_moves(const check *c) {
    row r = row_of("operations that only move numbers, against the CPU");
    row_skip(&r, "not yet");
    row_end(c, &r);
}

/* walled.h - a backend whose memory no one but its operations can touch, as if it were on another machine.
 *
 * It computes what the CPU backend that it is made of computes. Its memory is readable and writable inside of an
 * operation only: a load or store from anywhere else ends the program with SIGSEGV. Every operation looks at its
 * arguments first: arrays lie wholly in one live block of that memory, what is host memory lies outside of it; else it
 * says so and aborts. What alloc gives is filled with NaN.
 */
#ifndef ULP_TESTS_WALLED_H
#define ULP_TESTS_WALLED_H

#include "kernels/backend.h"

/* The walled form of a backend that offers every operation; one at a time in a program. */
const ulp_backend *walled(const ulp_backend *inner);

/* Operations so far, and blocks that were allocated and not released. */
size_t walled_operations(void);
size_t walled_blocks(void);

#endif

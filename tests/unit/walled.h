/* walled.h - a backend whose memory only its operations can access, like the memory of another device.
 *
 * The backend computes with the operations of a CPU backend. Its memory is readable and writable during an operation
 * only; a load or store at any other time ends the program with SIGSEGV. Every operation first checks its arguments:
 * arrays must lie wholly in one live block of this memory, and host memory must lie outside of it. If not, the
 * operation prints a message and aborts. alloc fills its memory with NaN.
 */
#ifndef ULP_TESTS_WALLED_H
#define ULP_TESTS_WALLED_H

#include "kernels/backend.h"

/* The walled form of a backend that offers every operation. A program can have one at a time. */
const ulp_backend *walled(const ulp_backend *inner);

/* The number of operations so far, and the number of blocks that are allocated and not released. */
size_t walled_operations(void);
size_t walled_blocks(void);

#endif

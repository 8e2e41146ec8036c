/* piece.h - a piece of binary32 arrays that is rounded at once. */
#ifndef ULP_CPU_PIECE_H
#define ULP_CPU_PIECE_H

#include "kernels/cpu/floats.h"

/* A piece of the arrays, and the random words of its elements. */
typedef struct piece {
    float *y;
    const float *x; /* not y */
    size_t n;       /* at most ULP_PIECE; a multiple of STEP, so that vector loops have no remainder */
    const uint32_t *words;
} piece;

enum { STEP = 64 };
_Static_assert(STEP % (4 * FLOATS) == 0 && ULP_PIECE % STEP == 0, "a step is whole turns of a loop");

/* The vectors that a loop reads before it writes the first of them. A processor may wait with a read for a write before
 * it whose address has the same last 12 bits. */
enum { TOGETHER = ULP_VECTOR_BYTES == 64 ? 4 : 1 };

#endif

/* tensor.h - arenas: one allocation of backend memory, and the tensors carved from it.
 *
 * A tensor is a plain float pointer to numbers in row-major order; a comment at its declaration gives its shape.
 * Tensors with the same lifetime form an arena. The code that carves them runs twice: first on an empty arena, where it
 * only counts, then, after ulp_arena_alloc(), on the memory:
 *
 *     ulp_arena_init(&f, backend);
 *     carve(model, &f); ulp_arena_alloc(&f); carve(model, &f);      or ulp_arena_make(&f, backend, carve, model);
 */
#ifndef ULP_TENSOR_H
#define ULP_TENSOR_H

#include "kernels/backend.h"

ULP_C_BEGIN

typedef struct ulp_arena {
    const ulp_backend *backend;
    unsigned char *memory; /* NULL while counting */
    size_t bytes;          /* of memory */
    size_t used;
} ulp_arena;

/* The larger of two sizes. */
static inline size_t ulp_larger(size_t a, size_t b) { return a > b ? a : b; }

void ulp_arena_init(ulp_arena *arena, const ulp_backend *backend);

/* The next n floats, doubles or bytes, at a multiple of 64 bytes; NULL while counting. */
float *ulp_arena_take(ulp_arena *arena, size_t n);
double *ulp_arena_take64(ulp_arena *arena, size_t n);
uint8_t *ulp_arena_take8(ulp_arena *arena, size_t n);

/* Allocate the counted memory, zeroed, and start again at its beginning. */
ulp_status ulp_arena_alloc(ulp_arena *arena);

/* Make an arena with the tensors that carve(own, arena) takes. Release it also after a failure. */
ulp_status ulp_arena_make(ulp_arena *arena, const ulp_backend *backend, void (*carve)(void *own, ulp_arena *arena),
                          void *own);

/* Free the memory. A zeroed arena may be released, too. */
void ulp_arena_release(ulp_arena *arena);

/* x (n) = value. */
ulp_status ulp_tensor_fill(const ulp_backend *backend, float *x, size_t n, float value);

/* y (n) = x (n); the arrays do not overlap. ULP_UNSUPPORTED: the backend cannot move elements. */
ulp_status ulp_tensor_copy(const ulp_backend *backend, float *y, const float *x, size_t n);

ULP_C_END
#endif

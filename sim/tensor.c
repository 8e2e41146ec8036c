/* tensor.c - carving, filling and copying tensors; see tensor.h. */
#include "tensor.h"

enum { ALIGNMENT = 64 };

void ulp_arena_init(ulp_arena *arena, const ulp_backend *backend) {
    arena->backend = backend;
    arena->memory = NULL;
    arena->bytes = arena->used = 0;
}

static void *take(ulp_arena *arena, size_t bytes) {
    size_t at = arena->used;
    arena->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return arena->memory && arena->used <= arena->bytes ? arena->memory + at : NULL;
}

float *ulp_arena_take(ulp_arena *arena, size_t n) { return take(arena, n * sizeof(float)); }

double *ulp_arena_take64(ulp_arena *arena, size_t n) { return take(arena, n * sizeof(double)); }

uint8_t *ulp_arena_take8(ulp_arena *arena, size_t n) { return take(arena, n); }

ulp_status ulp_arena_alloc(ulp_arena *arena) {
    size_t bytes = arena->used ? arena->used : ALIGNMENT;
    arena->memory = arena->backend->alloc(bytes);
    if (!arena->memory) return ULP_NO_MEMORY;
    arena->bytes = bytes;
    arena->used = 0;
    return ulp_tensor_fill(arena->backend, (float *)(void *)arena->memory, bytes / sizeof(float), 0.0f);
}

ulp_status ulp_arena_make(ulp_arena *arena, const ulp_backend *backend, void (*carve)(void *own, ulp_arena *arena),
                          void *own) {
    ulp_arena_init(arena, backend);
    carve(own, arena);
    ULP_TRY(ulp_arena_alloc(arena));
    carve(own, arena);
    return ULP_OK;
}

void ulp_arena_release(ulp_arena *arena) {
    if (arena->memory) arena->backend->release(arena->memory);
    arena->memory = NULL;
    arena->bytes = arena->used = 0;
}

ulp_status ulp_tensor_fill(const ulp_backend *backend, float *x, size_t n, float value) {
    ulp_update_step step = {.op = ULP_STEP_ROUND,
                            .y = {.kind = ULP_OPERAND_ARRAY, .at = x},
                            .a = {.kind = ULP_OPERAND_VALUE, .value = value},
                            .format = ulp_binary32};
    return ulp_backend_update(backend, &step, 1, n);
}

ulp_status ulp_tensor_copy(const ulp_backend *backend, float *y, const float *x, size_t n) {
    return ulp_backend_permute(backend, y, x, (ulp_permute_shape){1, 1, 1, n});
}

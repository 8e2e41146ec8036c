/* room.c - allocation of memory for the packed operands of matrix products. */
#include "gemm.h"

#include <stdlib.h>

void *ULP_CPU(ulp_gemm_room)(size_t n, size_t size) { return aligned_alloc(64, (n * size + 127) / 64 * 64); }

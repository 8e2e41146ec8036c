/* im2col.h - the index arithmetic of im2col: one text for all backends. */
#ifndef ULP_IM2COL_H
#define ULP_IM2COL_H

#include "kernels/backend.h"

/* The number of elements of the array (c K K, B oh ow) that im2col fills. */
ULP_FN size_t ulp_im2col_size(const ulp_im2col *p) { return p->c * p->kernel * p->kernel * p->B * p->oh * p->ow; }

/* Sets *at to the coordinate in x (of length `size`) at coordinate u of the dilated image. 0 if x has no element
 * there. */
ULP_CORE int ulp_im2col_source(size_t *at, ptrdiff_t u, size_t dilate, size_t size) {
    if (u < 0) return 0;
    *at = dilate == 1 ? (size_t)u : (size_t)u / dilate; /* the division would be the slowest operation here */
    return *at < size && (dilate == 1 || (size_t)u % dilate == 0);
}

#endif

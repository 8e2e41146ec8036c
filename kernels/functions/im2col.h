/* im2col.h - what the elements of a kernel lie on: the arithmetic of ulp_im2col, one text for all backends. */
#ifndef ULP_IM2COL_H
#define ULP_IM2COL_H

#include "kernels/backend.h"

/* Elements of the array (c K K, B oh ow) that patches fills. */
ULP_FN size_t ulp_im2col_size(const ulp_im2col *p) { return p->c * p->kernel * p->kernel * p->B * p->oh * p->ow; }

/* The coordinate in x, of `size`, under coordinate u of the image drawn apart; 0: there is none. */
ULP_CORE int ulp_im2col_source(size_t *at, ptrdiff_t u, size_t dilate, size_t size) {
    if (u < 0) return 0;
    *at = dilate == 1 ? (size_t)u : (size_t)u / dilate; /* divisions take longer than all else here */
    return *at < size && (dilate == 1 || (size_t)u % dilate == 0);
}

#endif

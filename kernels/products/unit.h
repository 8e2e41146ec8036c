/* unit.h - a device that forms fused sums of products, as a callback, and operands to feed it with. */
#ifndef ULP_UNIT_H
#define ULP_UNIT_H

#include "datapath.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device. dot: *code, in `result`, of c + a (k) b (k), the products in the order of k; a, b, c are values of the
 * formats below; scales as in ulp_dot, NULL pointers mean ones. Zeros that fill k up have to be fed as zeros. */
typedef struct ulp_unit {
    ulp_status (*dot)(void *context, uint64_t *code, double c, const double *a, const double *b, size_t k,
                      ulp_scales scales);
    void *context;
    ulp_format a, b, result;
    uint8_t scale_block; /* products that share a scale; 0: no scales */
    ulp_format scale;
} ulp_unit;

/* The model of a datapath as a device; *datapath has to live as long. Without input formats of its own it is fed values
 * of its accumulator's format. Only ulp_dot is asked, no field that says how the sum is formed. */
ulp_unit ulp_unit_of(const ulp_datapath *datapath);

/* Whether x is a value of f, and with `normal` not a subnormal one. */
int ulp_is_member(double x, const ulp_format *f, int normal);

/* value = x y, x a value of a and y of b, both normal if that is possible; 0 if there are none. */
int ulp_factor(double *x, double *y, double value, const ulp_format *a, const ulp_format *b);

#ifdef __cplusplus
}
#endif
#endif

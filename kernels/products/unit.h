/* unit.h - a device that forms fused sums of products, as a callback, and operands with a given product. */
#ifndef ULP_UNIT_H
#define ULP_UNIT_H

#include "datapath.h"

ULP_C_BEGIN

/* A device. dot sets *code to the code, in the format `result`, of c + the products, in the order of k. The operands
 * and c are values of the formats below. A dot that pads k pads with products of zeros. */
typedef struct ulp_unit {
    ulp_status (*dot)(void *context, uint64_t *code, double c, ulp_products products);
    void *context;
    ulp_format a, b, result;
    uint8_t scale_block; /* products that share a scale; 0: no scales */
    ulp_format scale;
} ulp_unit;

/* The model of a datapath as a device. *datapath must exist as long as the device. A datapath without input formats
 * gets values of its accumulator's format. The device calls only ulp_dot and reads no field that says how the sum is
 * formed. */
ulp_unit ulp_unit_of(const ulp_datapath *datapath);

/* Whether x is a value of f. With `normal`, x must not be subnormal. */
int ulp_is_member(double x, const ulp_format *f, int normal);

/* Finds x of format a and y of format b with value = x y, both normal if possible. 0 if there are none. */
int ulp_factor(double *x, double *y, double value, const ulp_format *a, const ulp_format *b);

ULP_C_END
#endif

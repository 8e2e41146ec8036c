/* vectors.h - declarations that the parts of the prober share: the test vector and the results so far. */
#ifndef ULP_VECTORS_H
#define ULP_VECTORS_H

#include "probe.h"
#include "base/error.h"

/* The length of the longest vector: two sums of the largest length, and some more products. */
enum { PROBE_K = 160 };

typedef struct prober {
    const ulp_unit *unit;
    ulp_probe *to;
    ulp_status status; /* status of the device; after the first failure no vector runs */
    /* the vector */
    double c, a[PROBE_K], b[PROBE_K];
    int beyond;    /* 1 if the vector cannot be formed: an element has no factors or is no value of its format */
    uint64_t code; /* code of the latest result */
    /* results so far */
    int shift;          /* the device takes 2^-shift x y for a product of x and y */
    int top, depth;     /* products 2^top, 2^(top-1), ..., 2^(top-depth) can be formed and are results */
    int low;            /* 2^low is a small product */
    int cancels;        /* +big - big + small loses the small term */
    int length, span;   /* L; number of products before the next sum begins */
    int place[PROBE_K]; /* the places of the L products of the first sum */
    int group;          /* products that are added exactly before the alignment; 0: unknown */
    ulp_found f_found;  /* F of products: FOUND, AT_LEAST, or 0 for unknown */
    int fraction;
    int inside;     /* c is in the sum */
    int kept;       /* bits kept; 0: unknown */
    int mode;       /* mode of the final rounding; -1: unknown */
    int stochastic; /* equal terms at another k round differently */
    double one;     /* magnitude of the sums that test bits and rounding */
} prober;

void ulp_vector_start(prober *p, double c);
/* The product of x and y as the device takes it. */
double ulp_vector_product(const prober *p, double x, double y);
/* Finds values *x and *y of the formats whose product the device takes for `product`. Returns 0 if there are none. */
int ulp_vector_factor(const prober *p, double *x, double *y, double product);
void ulp_vector_put(prober *p, int k, double product);
void ulp_vector_put_factors(prober *p, int k, double a, double b);
/* The result of the vector. NaN if the vector cannot be formed, see `beyond`. Zeros fill the last sum up to its length.
 * A sum of only zeros is not added, because it could remove bits of c. */
double ulp_vector_run(prober *p);
/* 1 if the result is `want`, 0 if not, -1 if the vector cannot be formed. */
int ulp_vector_gives(prober *p, double want);

void ulp_report(prober *p, ulp_property_id id, ulp_found found, int64_t value, const char *how, ...) ULP_PRINTF(5, 6);
#define ulp_found_value(p, id, value, ...) ulp_report(p, id, ULP_FOUND, value, __VA_ARGS__)
#define ulp_unreached(p, id, ...) ulp_report(p, id, ULP_NOT_REACHABLE, 0, __VA_ARGS__)

static inline double ulp_power(int e) { return ulp_scale(1.0, e); }

/* 0 for +0, 1 for -0, 2 for all other values. */
static inline int ulp_zero_sign(double y) { return y != 0.0 ? 2 : (int)(ulp_bits64(y) >> 63); }

/* Puts +x y and -x y into the first sum, in different groups and not at place `avoid`. In a sum of two products c is
 * one of the two terms. */
void ulp_vector_pair(prober *p, double x, double y, int avoid);

/* Whether `small` stays in the result of a sum with +x y - x y in one sum: 1, 0, or -1 if the vector cannot be formed.
 * `small` is a product if as_product, else c. */
int ulp_survives(prober *p, double x, double y, double small, int as_product);

/* *modes is the set of modes that fit the results so far. ulp_modes_watch removes the modes that do not round
 * `quarters` / 4 of a unit above an odd or even magnitude up by `up` units. */
void ulp_modes_watch(unsigned *modes, int neg, int odd, int quarters, double up);
int ulp_modes_one(unsigned modes); /* the only mode of the set, or -1 */
void ulp_report_mode(prober *p, ulp_property_id id, unsigned modes, int seen, const char *how);

/* Finds `kept` and `mode`. Uses L and F. An unknown F counts as large enough. */
void ulp_find_rounding(prober *p);

void ulp_probe_shift(prober *p); /* sum.c: whether products are shifted; the vectors of all other tests allow for it */
void ulp_probe_sum(prober *p);   /* sum.c: L, F, alignment, the place of c */
void ulp_probe_rounding(prober *p); /* round.c: bits, rounding, carries, promotion */
void ulp_probe_values(prober *p);   /* values.c: special values, ends of the range, floors, scales */
void ulp_probe_small(prober *p);    /* small.c: signs, small c, tiny results, bits kept beside a larger c */

#endif

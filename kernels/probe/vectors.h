/* vectors.h - what the parts of the prober share: one vector under construction, and what is known so far. */
#ifndef ULP_VECTORS_H
#define ULP_VECTORS_H

#include "probe.h"

/* The longest vector: two sums of the most products, and some more. */
enum { PROBE_K = 160 };

typedef struct prober {
    const ulp_unit *unit;
    ulp_probe *to;
    ulp_status status; /* of the device; nothing is asked after the first failure */
    /* the vector */
    double c, a[PROBE_K], b[PROBE_K];
    int beyond;    /* an element has no factors or is no value of its format */
    uint64_t code; /* of the latest result */
    /* what is known */
    int top, depth;     /* products 2^top, 2^(top-1), ..., 2^(top-depth) can be formed and are results */
    int low;            /* 2^low: a small product */
    int cancels;        /* +big - big + small shows a lost term */
    int length, span;   /* L; products after which the next sum begins */
    int place[PROBE_K]; /* the L products that the first sum takes */
    int group;          /* 0: unknown */
    ulp_found f_found;  /* F of products: FOUND, AT_LEAST or unknown */
    int fraction;
    int inside;     /* c is in the sum */
    int kept;       /* 0: unknown */
    int mode;       /* of the final rounding, -1: unknown */
    int stochastic; /* equal terms at another k round another way */
    double one;     /* the sums that show bits and rounding are this large */
} prober;

void ulp_vector_start(prober *p, double c);
void ulp_vector_put(prober *p, int k, double product);
void ulp_vector_put_factors(prober *p, int k, double a, double b);
/* The result; NaN where the vector cannot be formed, see `beyond`. Whole sums are fed, as far as they hold something: a
 * sum of zeros may cut c. */
double ulp_vector_run(prober *p);
/* 1: the result is `want`; 0: another; -1: the vector cannot be formed. */
int ulp_vector_gives(prober *p, double want);

void ulp_report(prober *p, ulp_property_id id, ulp_found found, int64_t value, const char *how, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;

static inline double ulp_power(int e) { return ulp_scale(1.0, e); }

/* +x y and -x y in the first sum, in different groups and not at place `avoid`; with two products to a sum one is c. */
void ulp_vector_pair(prober *p, double x, double y, int avoid);

/* Whether `small` outlives +x y - x y beside it in one sum, as c or as a product; -1: the vector cannot be formed. */
int ulp_survives(prober *p, double x, double y, double small, int as_product);

/* The modes that fit what was seen, as bits. Cross out those that do not take `quarters` / 4 of a unit above an odd or
 * even magnitude up by `up`. */
void ulp_modes_watch(unsigned *modes, int neg, int odd, int quarters, double up);
int ulp_modes_one(unsigned modes); /* the one that is left, or -1 */
void ulp_report_mode(prober *p, ulp_property_id id, unsigned modes, int seen, const char *how);

/* kept and mode: needs what is known of L and F, and without F takes it as large enough. */
void ulp_find_rounding(prober *p);

void ulp_probe_sum(prober *p);      /* sum.c: L, F, alignment, where c enters */
void ulp_probe_rounding(prober *p); /* round.c: what follows from them */
void ulp_probe_values(prober *p);   /* values.c: special values, ends of the range, floors, scales */

#endif

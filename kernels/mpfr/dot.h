/* dot.h - whole sums of products under a datapath, by MPFR and GMP integers from the definitions of datapath.h. */
#ifndef ULP_MPFR_DOT_H
#define ULP_MPFR_DOT_H

#include "exact_sum.h"
#include "kernels/products/datapath.h"
#include "words.h"

/* The data for the sums of one thread. */
typedef struct ulp_mpfr_dots {
    const ulp_datapath *datapath;
    ulp_reference *accumulator, *single; /* the accumulator's format; binary32, for totals under promotion */
    ulp_reference *part, *parts;         /* with split_k: the formats of a part's sum and of the sum of parts */
    ulp_reference *pair;                 /* PAIRS: integers of 16 bits */
    ulp_reference *result;               /* ALIGNED: the accumulator's format with kept + 1 bits of precision */
    ulp_mpfr_sum exact;
    mpz_t total, aligned;    /* ALIGNED */
    int a_emin, b_emin;      /* ALIGNED: the lowest exponents of significands of operands */
    int c_emin, scale_emin;  /* ALIGNED: those of start values and of scales */
    double a_least, b_least; /* CHAINS: the smallest normal numbers of the operands */
    ulp_stream stream;       /* of the sum that is formed */
    uint64_t used;           /* its random words so far */
} ulp_mpfr_dots;

/* Returns ULP_NO_MEMORY, or ULP_UNSUPPORTED for native products and for operands that are split into words. A caller
 * that got another status than ULP_OK has to close, too. */
ulp_status ulp_mpfr_dots_open(ulp_mpfr_dots *dots, const ulp_datapath *datapath);
void ulp_mpfr_dots_close(ulp_mpfr_dots *dots);

/* c + the products; its random words start at index stream.first. dots->used is the number of these words. */
double ulp_mpfr_dot(ulp_mpfr_dots *dots, double c, const ulp_products *products, ulp_stream stream);

/* One step of an ALIGNED or a CHAINS datapath: c + at most datapath->step products. `first` is 1 for the first step of
 * a sum. */
double ulp_mpfr_fused(ulp_mpfr_dots *dots, double c, const ulp_products *products);
double ulp_mpfr_one_sided(ulp_mpfr_dots *dots, double c, const ulp_products *products);
double ulp_mpfr_chains(ulp_mpfr_dots *dots, double c, const ulp_products *products, int first);

/* For all units. The exponent of x, which is not NaN nor infinite, in a format with lowest exponent emin; for zero
 * this is emin. */
int ulp_mpfr_exponent(double x, int emin);

/* Whether c or a product is NaN or infinite; *value is then c + the products. */
int ulp_mpfr_special(ulp_mpfr_dots *dots, double c, const ulp_products *products, double *value);

/* dots->aligned = a b cut to a multiple of 2^unit by a mode, in units of 2^unit. a and b are finite and not zero. */
void ulp_mpfr_align(ulp_mpfr_dots *dots, double a, double b, long unit, ulp_mode mode);

/* total 2^unit, rounded once to the unit's result; 2^(emax + 1) and more become infinite, also in modes rz and ro. */
double ulp_mpfr_unit_round(ulp_mpfr_dots *dots, mpz_srcptr total, long unit);

#endif

/* oracle.h - the backend "mpfr": the operations of a backend computed by GNU MPFR and GMP integers from their
 * definitions.
 *
 * The backend shares no arithmetic with formats/ and with the other folders of kernels/: of their headers it uses types
 * and names alone. reference.h rounds, dot.h forms sums of products, words.h has random words, functions.c has exp,
 * log, tanh and sigmoid. exp and log are defined by an order of binary64 operations (kernels/functions/elementary.h),
 * so functions.c is a second text of this definition and no other arithmetic; so is cell.c, for the cells of recurrent
 * layers. In layers.c (batch normalisation, gradients of windows, products with a factor, dropout), tokens.c (rows of
 * numbers) and attention.c MPFR rounds every operation of the defined order.
 * Movement of data (im2col, permute) is the CPU's; a product of several words for each operand is formed by
 * kernels/multiword_gemm.c from the operations here.
 *
 * The backend is slow: a rounding takes some 200 ns, and a product and its sum some 300 ns. A build without MPFR has
 * absent.c in its place.
 */
#ifndef ULP_MPFR_ORACLE_H
#define ULP_MPFR_ORACLE_H

#include "kernels/backend.h"
#include "kernels/products/unit.h"

ULP_C_BEGIN

/* The backend "mpfr". Returns ULP_NO_DEVICE in a build without MPFR. */
ulp_status ulp_mpfr_backend(const ulp_backend **backend);

/* The reason, in a sentence, why there is no backend "mpfr". "" if there is one. */
const char *ulp_mpfr_lacks(void);

/* GMP and MPFR cannot report that memory is out: they end the program by a signal. After this call they allocate by
 * `grow`, which works like realloc() and may end the program in its own way. Called before any other use of MPFR. */
void ulp_reference_allocate_by(void *(*grow)(void *memory, size_t bytes));

/* One whole sum, c + the products, as ulp_dot(). NaN for a native product and where no memory is left. */
double ulp_mpfr_sum_of(const ulp_datapath *datapath, double c, ulp_products products, ulp_stream stream);

/* The sums of a datapath as a device, as ulp_unit_of(). */
ulp_unit ulp_mpfr_unit_of(const ulp_datapath *datapath);

ULP_C_END
#endif

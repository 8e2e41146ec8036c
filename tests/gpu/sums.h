/* sums.h - which products, rows, operands, sums of integers, orders, shared by the checks of native products. */
#ifndef ULP_CHECK_SUMS_H
#define ULP_CHECK_SUMS_H

#include "codes.h"

#include "kernels/products/unit.h"

/* The k of sums that are long enough to show promotion; the size of the text of an order. */
enum { LONG_K = 2304, ORDER_TEXT = 8000 };
#define NO_TREE "no tree: the order differs from sum to sum"

static inline int starts(const char *text, const char *with) {
    while (*with != '\0' && *text == *with) text++, with++;
    return *with == '\0';
}

/* ---- which products ---- */

/* Whether a native product is an instruction; the others are calls of the library. */
int is_instruction(const ulp_cuda_native *d);
/* Whether the device lacks the product because it is of another generation; tensor.c has one row for all of these. */
int lacks_generation(const ulp_cuda_native *d);
/* Whether a small run leaves out native product i, one of many pairs of formats. */
int is_left_out(const check *c, const ulp_cuda_native *d, size_t i);

/* ---- sums ---- */

/* The datapath called `name`. The row fails if there is none. */
ulp_datapath path_of(row *r, const char *name);

/* A row about the native product d, skipped if the device lacks it; the next call overwrites its name. */
row row_for(const char *what, const ulp_cuda_native *d);

/* Normal data of the product's formats; C is not set. */
matrices matrices_of(size_t m, size_t n, size_t k, const ulp_cuda_native *d, uint64_t seed);

/* The order of a sum of k products as text (ORDER_TEXT), and the length of its chain in *chain. A device whose sums fit
 * no tree has the text NO_TREE. Returns 0 if the search failed, or if the formats lack the range for it, and the row
 * is skipped; the row says why. */
int find_order(row *r, const ulp_unit *unit, size_t k, char *text, size_t *chain);

/* Compares a product (m,n) of small integers with its exact result. Every partial sum is exact, in every order, with
 * every number of kept bits, and in every type. */
void compare_integers(const check *c, row *r, const ulp_cuda_native *d, size_t m, size_t n, size_t k, int accumulate);

/* Finds the promotion interval with which the model gives every bit of an fp8 product; 0 means no promotion. An
 * instruction's sums start at C. With expected < 0 the product is a call of the library: its order is its own matter,
 * so that the row states what was found. The emulated library has an order that no interval gives. */
void check_promotion(const check *c, const ulp_cuda_native *d, const char *model, int64_t expected);

/* native_scales.c: scales that native products refuse. */
void check_refused_scales(const check *c);

#endif

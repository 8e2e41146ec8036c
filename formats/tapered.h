/* tapered.h - tapered formats inside formats/: derivation, codes, neighbours. Public headers do not include this file.
 */
#ifndef ULP_TAPERED_H
#define ULP_TAPERED_H

#include "round.h"

ULP_C_BEGIN

/* ulp_format_init for a tapered format: `taper`, `bits` and `exponent_bits` decide. */
ulp_status ulp_tapered_init(ulp_format *f);

/* ulp_format_holds where one of the formats is tapered. */
int ulp_tapered_holds(const ulp_format *outer, const ulp_format *inner);

/* The value of a code that is not NaN. */
double ulp_tapered_decode(uint64_t code, const ulp_format *f);

/* The code of a value of the format, zero or finite. */
uint64_t ulp_tapered_encode(ulp_exact x, const ulp_format *f);

/* ulp_code_letters for a tapered format. */
void ulp_tapered_letters(char *letters, uint64_t code, const ulp_format *f);

/* The least value above x, for x >= f->lowest. */
double ulp_tapered_next(double x, const ulp_format *f);

/* ulp_spacing of a number. */
double ulp_tapered_spacing(double x, const ulp_format *f);

ULP_C_END
#endif

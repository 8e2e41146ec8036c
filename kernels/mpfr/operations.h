/* operations.h - the operations of the backend "mpfr", which table.c puts into its table. */
#ifndef ULP_MPFR_OPERATIONS_H
#define ULP_MPFR_OPERATIONS_H

#include "oracle.h"

/* ulp_mpfr_NAME for each row NAME of operations.def, which documents it. */
#define ULP_OPERATION(name, cpu, cuda, mpfr, parameters, ...) ulp_status ulp_mpfr_##name parameters;
#include "kernels/operations.def"

#endif

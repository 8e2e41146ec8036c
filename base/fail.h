/* fail.h - the sentence that explains a status other than ULP_OK. */
#ifndef ULP_FAIL_H
#define ULP_FAIL_H

#include <stddef.h>

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write a sentence to error (error_size), truncated if it is too long. Nothing is written if error is NULL or
 * error_size is 0. Returns the status. */
ulp_status ulp_fail(char *error, size_t error_size, ulp_status status, const char *what, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif

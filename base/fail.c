/* fail.c - writing the sentence that explains a status; see fail.h. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

ulp_status ulp_fail(char *error, size_t error_size, ulp_status status, const char *what, ...) {
    va_list args;
    va_start(args, what);
    if (error && error_size) vsnprintf(error, error_size, what, args);
    va_end(args);
    return status;
}

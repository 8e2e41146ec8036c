/* error.c - a status and the sentence that explains it; see error.h. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static void say(ulp_error *error, ulp_status status, const char *what, va_list arguments) {
    if (!error) return;
    error->status = status;
    vsnprintf(error->text, sizeof error->text, what, arguments);
}

ulp_status ulp_fail(ulp_error *error, ulp_status status, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    say(error, status, what, arguments);
    va_end(arguments);
    return status;
}

ulp_status ulp_fail_at_last(ulp_error *error, ulp_status status, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    if (error && error->status == ULP_OK) say(error, status, what, arguments);
    va_end(arguments);
    return status;
}

void ulp_error_clear(ulp_error *error) {
    if (!error) return;
    error->status = ULP_OK;
    error->text[0] = 0;
}

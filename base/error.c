/* error.c - a status and the sentence that explains it; see error.h. */
#include "error.h"

#include <stdio.h>
#include <string.h>

ulp_status ulp_fail_list(ulp_error *error, ulp_status status, const char *what, va_list arguments) {
    if (!error) return status;
    error->status = status;
    vsnprintf(error->text, sizeof error->text, what, arguments);
    return status;
}

ulp_status ulp_fail(ulp_error *error, ulp_status status, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    ulp_fail_list(error, status, what, arguments);
    va_end(arguments);
    return status;
}

ulp_status ulp_fail_default(ulp_error *error, ulp_status status, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    if (error && error->status == ULP_OK) ulp_fail_list(error, status, what, arguments);
    va_end(arguments);
    return status;
}

ulp_status ulp_fail_within(ulp_error *error, ulp_status status, const char *where, ...) {
    char inner[ULP_ERROR_TEXT];
    va_list arguments;
    if (!error) return status;
    strcpy(inner, error->status != ULP_OK ? error->text : ulp_status_text(status));
    va_start(arguments, where);
    ulp_fail_list(error, status, where, arguments);
    va_end(arguments);
    const size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, ": %s", inner);
    return status;
}

void ulp_error_clear(ulp_error *error) {
    if (!error) return;
    error->status = ULP_OK;
    error->text[0] = 0;
}

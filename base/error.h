/* error.h - the one way to carry an error: a status, and the sentence that explains it.
 *
 * The function that knows the reason calls ulp_fail(). The functions above it return the status as it is, with ULP_TRY
 * or, if they own resources, with a single exit. A caller that needs no sentence gives NULL.
 *
 * An operation of a backend returns the status alone: ulp_backend_explain() gives the reason. The functions for other
 * languages keep the sentence for the thread (ulp_foreign_error()). formats/ has no sentences.
 */
#ifndef ULP_ERROR_H
#define ULP_ERROR_H

#include <stdarg.h>

#include "formats/format.h"

ULP_C_BEGIN

#if defined(__MINGW32__) && !defined(__clang__)
#define ULP_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__) || defined(__clang__)
#define ULP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ULP_PRINTF(text, first)
#endif

enum { ULP_ERROR_TEXT = 2048 };

typedef struct ulp_error {
    ulp_status status;         /* ULP_OK: nothing failed, and the text is empty */
    char text[ULP_ERROR_TEXT]; /* the sentence; its end is cut off if it is longer */
} ulp_error;

/* Write a status and its sentence to error (may be NULL). Returns the status. */
ulp_status ulp_fail(ulp_error *error, ulp_status status, const char *what, ...) ULP_PRINTF(3, 4);
ulp_status ulp_fail_list(ulp_error *error, ulp_status status, const char *what, va_list arguments);

/* As ulp_fail(), but a sentence that another function has written since ulp_error_clear() stays. */
ulp_status ulp_fail_default(ulp_error *error, ulp_status status, const char *what, ...) ULP_PRINTF(3, 4);

/* Put "WHERE: " before the sentence that another function has written since ulp_error_clear(); without a sentence
 * before the text of the status. Returns the status. */
ulp_status ulp_fail_within(ulp_error *error, ulp_status status, const char *where, ...) ULP_PRINTF(3, 4);

/* Empty an error (may be NULL). */
void ulp_error_clear(ulp_error *error);

ULP_C_END
#endif

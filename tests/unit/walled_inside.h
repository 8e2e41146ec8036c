/* walled_inside.h - what the operations of the walled backend share: one operation at a time, checks of arguments.
 *
 * Every operation calls walled_enter(), checks its arguments, computes with walled_open(), and calls walled_left().
 */
#ifndef ULP_TESTS_WALLED_INSIDE_H
#define ULP_TESTS_WALLED_INSIDE_H

#include "walled.h"

void walled_enter(void);
ulp_status walled_left(ulp_status status);

/* Unprotect the pages of the operation. Returns the backend that computes. */
const ulp_backend *walled_open(void);

/* Check that [at, at + bytes) lies in one live block, and add it to the pages of the operation. */
void walled_inside(const char *operation, const void *at, size_t bytes);
/* Check that [at, at + bytes) is no memory of the backend. */
void walled_outside(const char *operation, const void *at, size_t bytes);

/* An operation whose arguments are checked by the expressions at the end, which may name the operation. */
#define WALLED(name, parameters, arguments, ...)                                                                       \
    static ulp_status name parameters {                                                                                \
        static const char operation[] = #name;                                                                         \
        walled_enter();                                                                                                \
        __VA_ARGS__;                                                                                                   \
        return walled_left(walled_open()->name arguments);                                                             \
    }
/* Checks of WALLED: n elements at `at` lie in the memory of the backend; the object at `at` does not. */
#define IN(at, n) walled_inside(operation, at, (n) * sizeof *(at))
#define OUT(at) walled_outside(operation, at, sizeof *(at))

/* Put the operations of walled_network.c and of walled_sequences.c into the table. */
void walled_add_network(ulp_backend *table);
void walled_add_sequences(ulp_backend *table);

#endif

/* walled_get.c - a ulp_backend_get() that returns the walled backend in place of the CPU backend.
 *
 * Programs are linked with -Wl,--wrap=ulp_backend_get. */
#include "walled.h"

#include <string.h>

/* names of the linker: calls of ulp_backend_get() go to __wrap_...; __real_... is the original function */
ulp_status __wrap_ulp_backend_get(const ulp_backend **backend, const char *name);
ulp_status __real_ulp_backend_get(const ulp_backend **backend, const char *name);

ulp_status __wrap_ulp_backend_get(const ulp_backend **backend, const char *name) {
    const ulp_status status = __real_ulp_backend_get(backend, name);
    if (status == ULP_OK && (name == NULL || strcmp(name, "cpu") == 0)) *backend = walled(*backend);
    return status;
}

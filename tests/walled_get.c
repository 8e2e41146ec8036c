/* walled_get.c - puts the walled backend in the place of the CPU's where a program asks for it; linked with
 * -Wl,--wrap=ulp_backend_get. */
#include "walled.h"

#include <string.h>

/* the linker's names: what calls ulp_backend_get() gets the first, the second is ulp_backend_get() itself */
ulp_status __wrap_ulp_backend_get(const ulp_backend **backend, const char *name);
ulp_status __real_ulp_backend_get(const ulp_backend **backend, const char *name);

ulp_status __wrap_ulp_backend_get(const ulp_backend **backend, const char *name) {
    const ulp_status status = __real_ulp_backend_get(backend, name);
    if (status == ULP_OK && (name == NULL || strcmp(name, "cpu") == 0)) *backend = walled(*backend);
    return status;
}

/* walled_get.c - puts the walled backend in the place of the one that a program asks for; linked with -Wl,--wrap=ulp_backend_get. */
#include "walled.h"

/* the linker's names: what calls ulp_backend_get() gets the first, the second is ulp_backend_get() itself */
ulp_status __wrap_ulp_backend_get(const ulp_backend **backend, const char *name);
ulp_status __real_ulp_backend_get(const ulp_backend **backend, const char *name);

ulp_status __wrap_ulp_backend_get(const ulp_backend **backend, const char *name) {
    const ulp_status status = __real_ulp_backend_get(backend, name);
    if (status == ULP_OK) *backend = walled(*backend);
    return status;
}

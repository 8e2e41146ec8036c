/* absent.c - the interface of the backend "mpfr" in a build without MPFR: every call returns ULP_NO_DEVICE. */
#include "oracle.h"

ulp_status ulp_mpfr_backend(const ulp_backend **backend) {
    (void)backend;
    return ULP_NO_DEVICE;
}

const char *ulp_mpfr_lacks(void) {
    return "this build has no MPFR; in the source tree install libmpfr-dev and run make again";
}

void ulp_reference_allocate_by(void *(*grow)(void *memory, size_t bytes)) { (void)grow; }

double ulp_mpfr_sum_of(const ulp_datapath *datapath, double c, ulp_products products, ulp_stream stream) {
    (void)datapath, (void)c, (void)products, (void)stream;
    return ulp_quiet_nan();
}

ulp_unit ulp_mpfr_unit_of(const ulp_datapath *datapath) { return ulp_unit_of(datapath); }

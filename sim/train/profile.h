/* profile.h - where the time of training steps goes: seconds by layer and by operation of the policy.
 *
 * The caller gives a clock, so that the library itself reads none. Operations that wait for no result, as those of a
 * GPU, are not timed well; a profile is for a backend whose operations end before they return.
 */
#ifndef ULP_PROFILE_H
#define ULP_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/format.h"
#include "sim/policy/policy.h"

ULP_C_BEGIN

/* The operations: the rounding at each point of the policy by its number, products, and the exact rest. */
enum {
    ULP_TIME_FORWARD = ULP_AT_COUNT, /* forward products */
    ULP_TIME_BACKWARD,               /* backward products */
    ULP_TIME_ALL,                    /* everything; the rest is ALL without the others */
    ULP_TIME_COUNT
};

/* The rows after those of the layers. */
enum { ULP_TIME_INPUT, ULP_TIME_LOSS, ULP_TIME_CHECK, ULP_TIME_UPDATE, ULP_TIME_ENDS };

typedef struct ulp_profile {
    double (*clock)(void);             /* seconds */
    double (*seconds)[ULP_TIME_COUNT]; /* [layers + ULP_TIME_ENDS] */
    size_t layers;
    uint64_t steps;
    size_t row; /* the row that is timed now */
    int inside; /* 1: an operation is timed; operations within it belong to it */
} ulp_profile;

/* A profile for a net of so many layers. Returns ULP_NO_MEMORY. */
ulp_status ulp_profile_init(ulp_profile *profile, size_t layers, double (*clock)(void));
void ulp_profile_release(ulp_profile *profile);

/* Begin and end an operation of the row that is timed now; `profile` may be NULL. ulp_profile_end() gets the result of
 * ulp_profile_begin(). */
double ulp_profile_begin(ulp_profile *profile);
void ulp_profile_end(ulp_profile *profile, int operation, double began);

/* Begin and end a row: a layer, or ULP_TIME_INPUT to ULP_TIME_UPDATE after the layers. */
double ulp_profile_enter(ulp_profile *profile, size_t row);
void ulp_profile_leave(ulp_profile *profile, double began);

/* "weight" to "norm", "forward", "backward", "all"; "input", "loss", "check", "update"; NULL past the end. */
const char *ulp_profile_operation(int operation);
const char *ulp_profile_end_name(int row);

ULP_C_END
#endif

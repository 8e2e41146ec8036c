/* clock.h - the time in seconds. */
#ifndef ULP_CLOCK_H
#define ULP_CLOCK_H

#include "formats/c_linkage.h"

ULP_C_BEGIN

/* The time in seconds, which never goes back. */
double ulp_clock(void);

/* The processor time of the calling thread in seconds. */
double ulp_clock_of_thread(void);

ULP_C_END
#endif

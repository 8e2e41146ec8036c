/* rounder.h - a format, a rule and a backend: the object of the rounding functions of foreign.h. */
#ifndef ULP_FOREIGN_ROUNDER_H
#define ULP_FOREIGN_ROUNDER_H

#include "message.h"

struct ulp_rounder {
    ulp_format format;
    ulp_rule rule;
    const ulp_backend *backend;
};

#endif

/* row_value.h - the properties of a row, from the fields of its datapath, for the comparison with what the prober
 * finds.
 */
#ifndef ULP_TOOL_ROW_VALUE_H
#define ULP_TOOL_ROW_VALUE_H

#include "kernels/probe/probe.h"

/* Writes the value that a datapath's fields give a property. Returns 1 if the fields say it and the vectors of the
 * prober can show it, else 0. */
int tool_row_value(const ulp_datapath *datapath, ulp_property_id id, int64_t *value);

#endif

/* rows.h - the rows of hardware: their properties, for the comparison with the findings of the prober, and their list.
 */
#ifndef ULP_TOOL_PROBE_ROWS_H
#define ULP_TOOL_PROBE_ROWS_H

#include "kernels/probe/probe.h"

/* Writes the value that a datapath's fields give a property. Returns 1 if the fields say it and the vectors of the
 * prober can show it, else 0. */
int tool_row_value(const ulp_datapath *datapath, ulp_property_id id, int64_t *value);

/* Prints a line for each row: fields, accumulator, rounding, instruction. */
void tool_row_list(void);

#endif

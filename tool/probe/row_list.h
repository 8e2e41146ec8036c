/* row_list.h - the list of the rows of hardware. */
#ifndef ULP_ROW_LIST_H
#define ULP_ROW_LIST_H

/* Prints a line for each row. Returns an exit status. */
int tool_row_list(void);

#endif

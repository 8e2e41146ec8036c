/* sheet.h - tables for the terminal: cells of text in columns, split into blocks on a narrow terminal. */
#ifndef ULP_CLAIMS_SHEET_H
#define ULP_CLAIMS_SHEET_H

#include <stdio.h>

#include "experiments/harness/cli/text.h"

typedef struct ulp_sheet ulp_sheet;

/* `title` is printed above the table; `columns` are names separated by commas. Cells fill rows from left to right. */
ulp_sheet *ulp_sheet_new(const char *title, const char *columns);
void ulp_sheet_put(ulp_sheet *sheet, const char *cell, ...) ULP_PRINTF(2, 3);
/* Put a cell, or a dash if `has` is false; then the arguments of the cell are not evaluated. */
#define ULP_SHEET_PUT_IF(has, sheet, ...) ((has) ? ulp_sheet_put(sheet, __VA_ARGS__) : ulp_sheet_put(sheet, "-"))
/* Put several cells, separated by commas; a cell must not contain a comma. */
void ulp_sheet_put_row(ulp_sheet *sheet, const char *cells, ...) ULP_PRINTF(2, 3);

/* Print the sheet to `file` (NULL: nowhere), not wider than the terminal, and free the sheet. */
void ulp_sheet_print(ulp_sheet *sheet, FILE *file);

#endif

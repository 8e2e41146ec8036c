/* sheet.h - tables for people: cells of text in columns, cut into blocks where the terminal is narrow. */
#ifndef ULP_CLAIMS_SHEET_H
#define ULP_CLAIMS_SHEET_H

#include <stdio.h>

#include "experiments/harness/cli/text.h"

typedef struct ulp_sheet ulp_sheet;

/* `title` is printed above; columns are separated by commas. Cells fill rows from left to right. */
ulp_sheet *ulp_sheet_new(const char *title, const char *columns);
void ulp_sheet_put(ulp_sheet *sheet, const char *cell, ...) ULP_PRINTF(2, 3);
/* Several cells at once, separated by commas; none of them may hold a comma. */
void ulp_sheet_put_row(ulp_sheet *sheet, const char *cells, ...) ULP_PRINTF(2, 3);

/* Prints to `file` (NULL: nowhere), no wider than its terminal, and frees the sheet. */
void ulp_sheet_print(ulp_sheet *sheet, FILE *file);

#endif

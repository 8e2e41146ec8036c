/* types.h - refusals that several types of options share; each writes a sentence and returns ULP_EXIT_USAGE. */
#ifndef ULP_CLI_TYPES_H
#define ULP_CLI_TYPES_H

#include "text.h"

int ulp_refuse_item(ulp_text *error, const char *list);                   /* an item is empty or too long */
int ulp_refuse_twin(ulp_text *error, const char *list, const char *item); /* an item is in the list twice */

#endif

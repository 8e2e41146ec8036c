/* types.h - the sentences that several types of options refuse a text with; each returns ULP_EXIT_USAGE. */
#ifndef ULP_CLI_TYPES_H
#define ULP_CLI_TYPES_H

#include "text.h"

int ulp_refuse_item(ulp_text *error, const char *list);                   /* an item that is empty or too long */
int ulp_refuse_twin(ulp_text *error, const char *list, const char *item); /* an item that stands there twice */

#endif

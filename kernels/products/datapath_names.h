/* datapath_names.h - declarations for the parser of datapath names and for the explanation of bad names. */
#ifndef ULP_DATAPATH_NAMES_H
#define ULP_DATAPATH_NAMES_H

#include "base/error.h"
#include "datapath.h"

ULP_C_BEGIN

/* The largest number of products in a name. */
enum { ULP_LONGEST_SUM = 1 << 24 };

/* A form KIND:FORMAT:MODE, or KINDN:FORMAT:MODE with a number of products N. */
typedef struct ulp_datapath_form {
    const char *name;
    uint8_t kind, numbered;
} ulp_datapath_form;

/* The form at the start of `text`, and the rest of the text. NULL if there is none. */
const ulp_datapath_form *ulp_datapath_form_of(const char *text, const char **rest);

/* Cuts FORMAT:MODE at the last colon, since FORMAT may have suffixes. Copies FORMAT and returns MODE. NULL without a
 * colon. */
const char *ulp_datapath_split(char format[ULP_NAME_MAX], const char *text);

/* Reads MODE or MODE/R. */
ulp_status ulp_datapath_rule(ulp_rule *rule, const char *text);

/* A name in two parts, in lower case: the base, and the settings ":key=value:key=value" or "". */
typedef struct ulp_datapath_parts {
    char base[ULP_DATAPATH_NAME_MAX], settings[ULP_DATAPATH_NAME_MAX];
} ulp_datapath_parts;

/* Cuts a name into its parts. 0 if `text` is too long. */
int ulp_datapath_cut(ulp_datapath_parts *parts, const char *text);

/* Sets the name and the fields that the base of a name determines. */
ulp_status ulp_datapath_base(ulp_datapath *d, const char *base);

/* Sets the fields that the settings determine. A failure writes a sentence to error (may be NULL). */
ulp_status ulp_datapath_settings(ulp_datapath *d, const ulp_datapath_parts *parts, ulp_error *error);

/* Writes "key=value:key=value", the settings in which *d differs from *unlike. */
ulp_status ulp_datapath_settings_print(char *text, size_t size, const ulp_datapath *d, const ulp_datapath *unlike);

ULP_C_END
#endif

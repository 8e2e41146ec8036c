/* datapath_names.h - what the parser of the names of datapaths shares with the explanation of a refusal. */
#ifndef ULP_DATAPATH_NAMES_H
#define ULP_DATAPATH_NAMES_H

#include "datapath.h"

/* The most products in a sum that a number in a name may say. */
enum { ULP_LONGEST_SUM = 1 << 24 };

/* A form KIND:FORMAT:MODE, or KINDN:FORMAT:MODE with a number of products N. */
typedef struct ulp_datapath_form {
    const char *name;
    uint8_t kind, numbered;
} ulp_datapath_form;

/* The form whose name `text` begins with, and the rest of the text behind the name; NULL if there is none. */
const ulp_datapath_form *ulp_datapath_form_of(const char *text, const char **rest);

/* FORMAT:MODE cut at the last colon, since FORMAT may hold suffixes: copies FORMAT, returns MODE; NULL without a colon.
 */
const char *ulp_datapath_split(char format[ULP_NAME_MAX], const char *text);

/* MODE or MODE/R */
ulp_status ulp_datapath_rule(ulp_rule *rule, const char *text);

/* A name in two parts: the base in lower case, and ":key=value:key=value" or nothing. */
typedef struct ulp_datapath_parts {
    char base[ULP_DATAPATH_NAME_MAX], settings[ULP_DATAPATH_NAME_MAX];
} ulp_datapath_parts;

/* 0 if `text` is too long. */
int ulp_datapath_cut(ulp_datapath_parts *parts, const char *text);

/* The fields that the base of a name says. */
ulp_status ulp_datapath_base(ulp_datapath *d, const char *base);

/* The fields that the settings say. On failure a sentence in error (may be NULL). */
ulp_status ulp_datapath_settings(ulp_datapath *d, const ulp_datapath_parts *parts, char *error, size_t error_size);

#endif

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

/* What the value of a setting is; an exponent may be "none". */
enum { ULP_SETTING_NUMBER, ULP_SETTING_MODE, ULP_SETTING_EXPONENT };
/* Which datapaths have the setting. */
enum { ULP_SETTING_OF_ANY, ULP_SETTING_OF_INTEGERS, ULP_SETTING_OF_TENSOR_CORES };

/* A field that KEY=VALUE at the end of a name changes; the size of the field tells its type. */
typedef struct ulp_datapath_setting {
    const char *key;
    uint8_t value, of;
    uint16_t offset, size;
    int32_t min, max;
} ulp_datapath_setting;

/* Setting `i`, NULL past the end; the setting called `key`, in any case, or NULL. */
const ulp_datapath_setting *ulp_datapath_setting_at(size_t i);
const ulp_datapath_setting *ulp_datapath_setting_of(const char *key);

/* KEY=VALUE on a datapath. */
ulp_status ulp_datapath_setting_apply(ulp_datapath *d, const char *key, const char *text);

/* The next key of settings ":KEY=VALUE:KEY=VALUE" at *at, and its value (NULL without "="); NULL at the end. Keys and
 * values become strings of their own inside the text, which needs room for the terminators. */
char *ulp_datapath_setting_next(char **at, char **value);

/* Whether the key stands again in the settings behind it. */
int ulp_datapath_setting_repeats(const char *key, char *settings);

/* A name in two parts: the base in lower case, and the settings with room for the terminators between them. */
typedef struct ulp_datapath_parts {
    char base[ULP_DATAPATH_NAME_MAX], settings[2 * ULP_DATAPATH_NAME_MAX];
} ulp_datapath_parts;

/* 0 if `text` is too long. */
int ulp_datapath_cut(ulp_datapath_parts *parts, const char *text);

/* The fields that the base of a name says. */
ulp_status ulp_datapath_base(ulp_datapath *d, const char *base);

#endif

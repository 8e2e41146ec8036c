/* options.h - the command line of all programs: a table of options, each bound to a field of a struct.
 *
 *     typedef struct settings {
 *         double start;
 *         int64_t steps;
 *         ulp_format_list formats;
 *     } settings;
 *
 *     static const ulp_option options[] = {
 *         {.name = "start", .type = &ulp_type_number, ULP_FIELD(settings, start), .value = "100",
 *          .help = "the value that is added to", .min = -1e30, .max = 1e30},
 *         ...
 *         {0},
 *     };
 *
 * The table determines parsing, --help, the messages that refuse a value, and the header lines of a CSV. A text is
 * parsed once: after ulp_arguments_resolve() programs read the fields of their struct.
 */
#ifndef ULP_CLI_OPTIONS_H
#define ULP_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/backend.h"
#include "kernels/products/datapath.h"
#include "message.h"
#include "text.h"

typedef struct ulp_option ulp_option;
struct ulp_named_list;

/* A type of values. The types that need sim/ (policies, nets) have the same form, but are not defined in cli/. */
typedef struct ulp_option_type {
    const char *value_name; /* in --help: "N", "LIST"; NULL: a flag, which takes no value */
    size_t size;            /* of the field */
    int many;               /* 1: all following words that are no options are values, too (FILE...) */
    /* Read `text` into the field. A failure writes a sentence to `error` (may be NULL) that names the text and says
     * what is allowed. The message is "--NAME " and the sentence, or "--NAME" and the sentence if the sentence begins
     * with ": ". A refused field needs no release. NULL for flags and for types with `many`, whose field is a
     * ulp_text_list. */
    ulp_status (*read)(void *field, const char *text, const ulp_option *option, ulp_error *error);
    /* Add the canonical text of the field, as in header lines. */
    void (*print)(ulp_text *to, const void *field, const ulp_option *option);
    void (*release)(void *field); /* NULL: the field owns no memory */
    const char *topic;            /* `ulp help TOPIC` lists the allowed values; NULL: no list */
    void (*list)(ulp_text *to);   /* add the allowed words, for --help, from the table that defines them; may be NULL */
    /* Of lists of things with names: the type of a thing; and, if "all" is no name, what adds all things (types.h). */
    const struct ulp_option_type *item;
    void (*add_all)(struct ulp_named_list *list, const ulp_option *option);
} ulp_option_type;

/* A row of a table of options, which ends with {0}. */
struct ulp_option {
    const char *name; /* without the dashes */
    const ulp_option_type *type;
    /* The default; quick and full replace it under --quick and --full (NULL: they do not). If `value` is NULL, there is
     * no default, and the field becomes zero unless the option is given. */
    const char *value, *quick, *full;
    const char *help;                       /* one sentence without a full stop */
    double min, max;                        /* limits of a number; both 0: no limits */
    const char *words;                      /* the words of a choice, separated by blanks */
    uint64_t all;                           /* of choices: the bits that "all" stands for; 0: every word */
    int silent;                             /* 1: the option changes no number and has no header line */
    size_t at, size;                        /* the field: ULP_FIELD(struct, field) */
    int (*takes)(const ulp_format *format); /* which formats the option takes; NULL: all */
    const char *wants;                      /* for messages: what a format needs that `takes` refuses */
    const char *value_name;                 /* replaces value_name of the type in --help; NULL: it does not */
    const char *topic;                      /* replaces topic of the type; NULL: it does not */
    int needed;                             /* 1: the option must be given */
};

#define ULP_FIELD(type, field) .at = offsetof(type, field), .size = sizeof(((type *)0)->field)

/* A short form of a row. The option has the name of the field; further initializers follow.
 *
 *     ULP_OPTION(settings, steps, integer, "300", .quick = "100", .min = 1, .max = 1e7, .help = "training steps"), */
#define ULP_OPTION(s, field, type_, value_, ...) ULP_OPTION_AS(s, field, #field, type_, value_, __VA_ARGS__)
#define ULP_OPTION_AS(s, field, name_, type_, value_, ...)                                                             \
    { .name = name_, .type = &ulp_type_##type_, ULP_FIELD(s, field), .value = value_, __VA_ARGS__ }

/* ---- types and their fields ---- */

typedef struct ulp_number_list {
    double *at; /* (count) */
    size_t count;
} ulp_number_list;

typedef struct ulp_integer_list {
    int64_t *at; /* (count) */
    size_t count;
} ulp_integer_list;

typedef struct ulp_format_list {
    ulp_format *at; /* (count) */
    size_t count;
} ulp_format_list;

/* A rounding mode and its random bits, with their name in CSV and plots: "rne", "sra", "sra/8". The overflow of the
 * rule is the default of the format. */
typedef struct ulp_named_rule {
    char name[16];
    ulp_rule rule;
} ulp_named_rule;

typedef struct ulp_rule_list {
    ulp_named_rule *at; /* (count) */
    size_t count;
} ulp_rule_list;

typedef struct ulp_datapath_list {
    ulp_datapath *at; /* (count) */
    size_t count;
} ulp_datapath_list;

typedef struct ulp_text_list {
    const char **at; /* (count); the texts belong to argv */
    size_t count;
} ulp_text_list;

extern const ulp_option_type ulp_type_flag;      /* int: 1 if given, else 0 */
extern const ulp_option_type ulp_type_integer;   /* int64_t in [min, max]; may be written as 1e6 or 0x10 */
extern const ulp_option_type ulp_type_unsigned;  /* uint64_t in [min, max], or up to 2^64 - 1 if min and max are 0 */
extern const ulp_option_type ulp_type_number;    /* double, finite, in [min, max] */
extern const ulp_option_type ulp_type_numbers;   /* ulp_number_list: x and a..b (steps of 1) with commas, none twice */
extern const ulp_option_type ulp_type_integers;  /* ulp_integer_list: as ulp_type_numbers, with whole numbers */
extern const ulp_option_type ulp_type_text;      /* const char *: one line of text */
extern const ulp_option_type ulp_type_place;     /* const char *: a folder or a file that exists, or "" by default */
extern const ulp_option_type ulp_type_folder;    /* const char *: a folder that exists, or "" by default */
extern const ulp_option_type ulp_type_texts;     /* ulp_text_list: this word and the following words */
extern const ulp_option_type ulp_type_choice;    /* int: the index of the word in `words` */
extern const ulp_option_type ulp_type_choices;   /* uint64_t: bit i is set for word i of `words`; or "all" */
extern const ulp_option_type ulp_type_format;    /* ulp_format */
extern const ulp_option_type ulp_type_formats;   /* ulp_format_list; "all": all registered formats that `takes` takes */
extern const ulp_option_type ulp_type_mode;      /* ulp_mode */
extern const ulp_option_type ulp_type_modes;     /* ulp_rule_list: rne,srb,sr/8; or "all" */
extern const ulp_option_type ulp_type_overflow;  /* ulp_overflow */
extern const ulp_option_type ulp_type_op;        /* int: an operation (ulp_operation_name) */
extern const ulp_option_type ulp_type_datapath;  /* ulp_datapath */
extern const ulp_option_type ulp_type_datapaths; /* ulp_datapath_list */
extern const ulp_option_type ulp_type_backend;   /* const ulp_backend *: changes the speed, but no number */

/* The format, rule or datapath of that name; NULL if the list has none. */
const ulp_format *ulp_formats_find(const ulp_format_list *list, const char *name);
const ulp_named_rule *ulp_rules_find(const ulp_rule_list *list, const char *name);
const ulp_datapath *ulp_datapaths_find(const ulp_datapath_list *list, const char *name);

/* The smallest and the largest number of a list that is not empty. */
int64_t ulp_integers_least(const ulp_integer_list *list);
int64_t ulp_integers_most(const ulp_integer_list *list);

/* The index of a word in the `words` of an option; -1 if `words` does not contain it. */
int ulp_word_index(const char *words, const char *word);
/* Word i of `words`; empty if i is past the end. */
typedef struct ulp_word {
    char text[64];
} ulp_word;
ulp_word ulp_word_of(const char *words, size_t i);

/* Add the names of the modes that take random bits, with blanks between them. */
void ulp_add_stochastic_modes(ulp_text *to);

/* For `takes`: whether a format lies within binary32; whether it also has a sign and a zero, which gradients need. */
int ulp_format_within_binary32(const ulp_format *format);
int ulp_format_with_sign(const ulp_format *format);
#define ULP_WANTS_WITHIN_BINARY32 "has to lie within binary32"
#define ULP_WANTS_ONE_PRECISION "and not to be tapered: the claims take one precision for all exponents"
#define ULP_WANTS_WITH_SIGN "has to lie within binary32, which carries the numbers, and to have a sign and a zero"

/* ---- a command line ---- */

/* A table of options and the struct that the options fill. */
typedef struct ulp_option_group {
    const char *heading; /* for --help: "this experiment" */
    const ulp_option *options;
    void *fields;
} ulp_option_group;

typedef struct ulp_command {
    const char *name;    /* "stagnation", "ulp round": the beginning of every message */
    const char *kind;    /* the word before the name in --version: "experiment"; NULL: none */
    const char *usage;   /* the text after the name: "[OPTION...]", "--format F [FILE...]" */
    const char *summary; /* one sentence */
    const char *details; /* paragraphs at the end of --help, which wraps them; NULL: none */
    int takes_words;     /* 1: takes words that are no options: files, values, -1, "-", and all words after "--" */
    /* Options that other commands take and this command does not: pairs of a name and the text after "--NAME " in the
     * message. A pair of NULL ends the list; may be NULL. */
    const char *const (*elsewhere)[2];
    /* Options, with a blank between two names, that this command need not have: where no table lists them, their value
     * is left aside with a note. NULL: none. */
    const char *idle;
} ulp_command;

/* One option of the command line, and its state. */
typedef struct ulp_setting {
    const ulp_option *option;
    void *field;       /* in the group's struct */
    const char *value; /* the given text, else the default of the preset; NULL: there is neither */
    int given;
    ulp_text_list values; /* of a type with `many` */
    int filled;           /* 1: the field was read and needs a release */
} ulp_setting;

typedef enum ulp_preset { ULP_PRESET_DEFAULT, ULP_PRESET_QUICK, ULP_PRESET_FULL } ulp_preset;

typedef struct ulp_arguments {
    const ulp_command *command;
    const char *program;            /* the name for messages; NULL: no messages */
    const ulp_option_group *groups; /* (group_count) */
    size_t group_count;
    ulp_setting *settings; /* (count) of all groups in their order */
    size_t count;
    const char **words; /* (word_count) */
    size_t word_count;
    int is_done; /* 1: --help or --version was printed, and nothing is left to do */
} ulp_arguments;

/* Split argv, from argv[1] on, into options and words, and check the environment. The caller sets the command and the
 * groups of *a, and sets all other fields to zero. No value is read yet. With `silent` no message is written (MPI ranks
 * other than 0). Every command takes --help and --version; no table lists them; after them a->is_done is 1. Refused are
 * an unknown option, a missing value, an option given twice, and a bad environment variable. Call ulp_arguments_free()
 * in every case. */
ulp_status ulp_arguments_read(ulp_arguments *a, int argc, char **argv, int silent, ulp_error *error);

/* Read every given text, or else the default of the preset, into its field. */
ulp_status ulp_arguments_resolve(ulp_arguments *a, ulp_preset preset, ulp_error *error);

/* Free the arguments, and release the fields. */
void ulp_arguments_free(ulp_arguments *a);

/* The setting of that name; NULL if there is none. */
const ulp_setting *ulp_setting_find(const ulp_arguments *a, const char *name);
int ulp_setting_given(const ulp_arguments *a, const char *name);

/* The default text of an option under a preset. */
const char *ulp_option_default(const ulp_option *option, ulp_preset preset);

/* Print --help, wrapped at 80 columns, or at the width of a narrower terminal. */
void ulp_help_print(FILE *to, const ulp_command *command, const ulp_option_group *groups, size_t group_count);
/* Add the end of every help: the environment variables and the exit statuses. */
void ulp_help_tail(ulp_text *to, int width);

#endif

/* options.h - the one command line of experiments and of ulp: a table of options, each bound to a field of a struct.
 *
 *     typedef struct settings {
 *         double start;
 *         int64_t steps;
 *         ulp_format_list formats;
 *     } settings;
 *
 *     static const ulp_option options[] = {
 *         {.name = "start", .type = &ulp_type_number, ULP_AT(settings, start), .value = "100",
 *          .help = "the value that is added to", .min = -1e30, .max = 1e30},
 *         ...
 *         {0},
 *     };
 *
 * The table drives parsing, --help, the sentences that refuse a value, and the header lines of a CSV. Text is read
 * once: behind ulp_arguments_resolve() programs read the fields of their struct.
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

/* A type of values. Types that need sim (policies, nets) are defined above the cli, in the same form. */
typedef struct ulp_option_type {
    const char *value_name; /* in --help: "N", "LIST"; NULL: a flag, which takes no value */
    size_t size;            /* of the field */
    int many;               /* every following word that is no option belongs to it, too (FILE...) */
    /* Reads `text` into the field. ULP_EXIT_FINE; else another exit status and the sentence in `error`, which names the
     * text that was given and says what is allowed: it stands behind "--NAME ", or behind "--NAME" if it begins with a
     * colon. A field that was refused needs no release. NULL: of flags, and of types with `many`, whose field is an
     * ulp_text_list. */
    int (*read)(void *field, const char *text, const ulp_option *option, ulp_text *error);
    /* The canonical text of the field, as header lines have it. */
    void (*print)(ulp_text *to, const void *field, const ulp_option *option);
    void (*release)(void *field); /* NULL: the field owns no memory */
    const char *topic;            /* `ulp help TOPIC` lists what is allowed; NULL: no list */
} ulp_option_type;

/* A row of a table of options, which ends with {0}. */
struct ulp_option {
    const char *name; /* without the dashes */
    const ulp_option_type *type;
    const char *value, *quick, *full; /* the default; in its place under --quick and --full (NULL: the same). `value`
                                         NULL: there is no default; the field stays as it is unless given */
    const char *help;                 /* one sentence, no full stop */
    double min, max;                  /* of numbers; both 0: any */
    const char *words;                /* of choices, blanks between them */
    int silent;                       /* decides no number: no header line */
    size_t at, size;                  /* the field: ULP_AT(struct, field) */
    int (*takes)(const ulp_format *format); /* of formats: NULL, or what others lack is said by `wants` */
    const char *wants;
    const char *value_name; /* in --help in place of the type's; NULL: the type's */
    int needed;             /* has to be given */
};

#define ULP_AT(type, field) .at = offsetof(type, field), .size = sizeof(((type *)0)->field)

/* A row in short: the option has the field's name, and further initializers follow.
 *
 *     ULP_OPTION(settings, steps, integer, "300", .quick = "100", .min = 1, .max = 1e7, .help = "training steps"), */
#define ULP_OPTION(s, field, type_, value_, ...) ULP_OPTION_AS(s, field, #field, type_, value_, __VA_ARGS__)
#define ULP_OPTION_AS(s, field, name_, type_, value_, ...)                                                             \
    { .name = name_, .type = &ulp_type_##type_, ULP_AT(s, field), .value = value_, __VA_ARGS__ }

/* ---- types, with their fields ---- */

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

/* A rounding mode and its random bits, with the one spelling of CSV and plots: "rne", "sra", "sra/8". `overflow` is
 * left at the format's default. */
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
    const char **at; /* (count); the texts are argv's */
    size_t count;
} ulp_text_list;

extern const ulp_option_type ulp_type_flag;      /* int: 0, or 1 if given */
extern const ulp_option_type ulp_type_integer;   /* int64_t, within [min, max]; 1e6 and 0x10 are understood */
extern const ulp_option_type ulp_type_unsigned;  /* uint64_t, the same up to 2^64 - 1 where min and max are 0 */
extern const ulp_option_type ulp_type_number;    /* double, finite, within [min, max] */
extern const ulp_option_type ulp_type_numbers;   /* ulp_number_list: commas between them, a..b counts; none twice */
extern const ulp_option_type ulp_type_integers;  /* ulp_integer_list: the same of whole numbers */
extern const ulp_option_type ulp_type_text;      /* const char *: anything on one line */
extern const ulp_option_type ulp_type_texts;     /* ulp_text_list: this word and those that follow */
extern const ulp_option_type ulp_type_choice;    /* int: the place of the word in `words` */
extern const ulp_option_type ulp_type_choices;   /* uint64_t: bit i is set for word i of `words`; or "all" */
extern const ulp_option_type ulp_type_format;    /* ulp_format */
extern const ulp_option_type ulp_type_formats;   /* ulp_format_list; "all": those of the registry that `takes` takes */
extern const ulp_option_type ulp_type_mode;      /* ulp_mode */
extern const ulp_option_type ulp_type_modes;     /* ulp_rule_list: rne,srb,sr/8; or "all" */
extern const ulp_option_type ulp_type_overflow;  /* ulp_overflow */
extern const ulp_option_type ulp_type_op;        /* ulp_op */
extern const ulp_option_type ulp_type_datapath;  /* ulp_datapath */
extern const ulp_option_type ulp_type_datapaths; /* ulp_datapath_list */
extern const ulp_option_type ulp_type_backend;   /* const ulp_backend *: changes speed and never a number */

/* The place of a word in the `words` of an option; -1 if it is none of them. */
int ulp_word_index(const char *words, const char *word);
/* Word i of `words`, copied to `word` (size); empty past the end. */
void ulp_word_at(char *word, size_t size, const char *words, size_t i);

/* For `takes` of formats: whether a format lies within binary32; and has a sign and a zero, as gradients need. */
int ulp_format_within_binary32(const ulp_format *format);
int ulp_format_with_sign(const ulp_format *format);
#define ULP_WANTS_WITHIN_BINARY32 "has to lie within binary32"
#define ULP_WANTS_WITH_SIGN "has to lie within binary32, which carries the numbers, and to have a sign and a zero"

/* ---- a command line ---- */

/* A table of options and the struct that they fill. */
typedef struct ulp_option_group {
    const char *heading; /* in --help: "this experiment" */
    const ulp_option *options;
    void *fields;
} ulp_option_group;

typedef struct ulp_command {
    const char *name;    /* "stagnation", "ulp round": begins every message */
    const char *kind;    /* stands before the name in --version: "experiment"; NULL: nothing */
    const char *usage;   /* behind the name: "[OPTION...]", "--format F [FILE...]" */
    const char *summary; /* one sentence */
    const char *details; /* paragraphs at the end of --help, wrapped there; NULL: none */
    int takes_words;     /* words that are no options are taken: files, values. Numbers such as -1 and "-" are words,
                            and everything behind "--" */
    /* Options that other commands take and this one does not: pairs of a name and of what is said behind "--NAME ", up
     * to a pair of NULL; may be NULL. */
    const char *const (*elsewhere)[2];
} ulp_command;

/* One option of the command line, and its state. */
typedef struct ulp_setting {
    const ulp_option *option;
    void *field;       /* of the group's struct */
    const char *value; /* the text in force: given, else the default of the preset; NULL: neither */
    int given;
    ulp_text_list values; /* of a type with `many` */
    int filled;           /* the field was read: release it */
} ulp_setting;

typedef enum ulp_preset { ULP_PRESET_DEFAULT, ULP_PRESET_QUICK, ULP_PRESET_FULL } ulp_preset;

typedef struct ulp_arguments {
    const ulp_command *command;
    const char *program;            /* the name for messages; NULL: silent */
    const ulp_option_group *groups; /* (group_count) */
    size_t group_count;
    ulp_setting *settings; /* (count), group after group */
    size_t count;
    const char **words; /* (word_count) */
    size_t word_count;
} ulp_arguments;

enum { ULP_GO_ON = -1 };

/* Sorts argv, from argv[1] on, into options and words; reads no value yet. `silent`: says nothing (an MPI rank).
 * ULP_GO_ON; or the exit status, after --help or --version, which every command takes and no table lists, or a refusal:
 * an unknown option, a value that is missing, an option given twice, a bad variable of the environment.
 * ulp_arguments_free() in every case. */
int ulp_arguments_read(ulp_arguments *a, const ulp_command *command, const ulp_option_group *groups, size_t group_count,
                       int argc, char **argv, int silent);

/* Reads every text into its field: the given ones and the defaults of the preset. ULP_GO_ON or the exit status. */
int ulp_arguments_resolve(ulp_arguments *a, ulp_preset preset);

/* Releases the fields as well. */
void ulp_arguments_free(ulp_arguments *a);

/* The setting of that name; NULL if there is none. */
const ulp_setting *ulp_setting_find(const ulp_arguments *a, const char *name);
int ulp_setting_given(const ulp_arguments *a, const char *name);

/* The default text of an option under a preset. */
const char *ulp_option_default(const ulp_option *option, ulp_preset preset);

/* Whether the variables of the environment that all programs read mean something: ULPLAB_ISA, ULPLAB_DATA,
 * OMP_NUM_THREADS. ULP_GO_ON or the exit status, after a sentence; ulp_arguments_read() asks. */
int ulp_environment_check(const char *program);

/* --help, wrapped at 80 columns, or at the terminal's if it has less. */
void ulp_help_print(FILE *to, const ulp_command *command, const ulp_option_group *groups, size_t group_count);
/* What every help ends with: the variables of the environment, the exit statuses. */
void ulp_help_tail(ulp_text *to, int width);

#endif

/* harness.h - the one harness of all experiments: options, grid of points, CSV, claims.
 *
 * An experiment is a const ulp_experiment and a main of one line:
 *
 *     int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
 *
 * The harness reads the options, calls prepare() once to list the points of the grid, computes the points
 * on threads or MPI ranks in any order, writes results/NAME.csv with the rows in grid order, and calls
 * check() to test the claims and print the table. It owns --resume, --restart, --shard, --merge, --list, progress
 * and the record of the run. What an experiment has to promise: the rows of a point depend on the options in
 * the experiment's own table and on nothing else: not on other points, threads, time or the machine; and
 * check() reads rows only, so that a resumed or merged run is checked like any other.
 */
#ifndef ULP_HARNESS_H
#define ULP_HARNESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/rng.h"
#include "kernels/backend.h"
#include "kernels/products/datapath.h"

#if defined(__GNUC__) || defined(__clang__)
#define ULP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ULP_PRINTF(text, first)
#endif

/* What the program returns: fine; the run or a check failed; usage or bad input; the machine lacks something. */
enum { ULP_EXIT_FINE = 0, ULP_EXIT_FAILED = 1, ULP_EXIT_USAGE = 2, ULP_EXIT_LACKING = 3 };

typedef struct ulp_run ulp_run;   /* one execution of one experiment */
typedef struct ulp_rows ulp_rows; /* the rows that one point emits */

/* ---- options: one table drives parsing, --help and the CSV's header lines ---- */

typedef enum ulp_option_type {
    ULP_OPTION_FLAG,      /* no value; off unless given */
    ULP_OPTION_INTEGER,   /* 64-bit, within [min, max]; 1e6 and 0x10 are understood */
    ULP_OPTION_NUMBER,    /* finite, within [min, max] */
    ULP_OPTION_NUMBERS,   /* a list of numbers, commas between them, each within [min, max]; a..b counts */
    ULP_OPTION_INTEGERS,  /* the same of whole numbers */
    ULP_OPTION_TEXT,      /* anything on one line */
    ULP_OPTION_CHOICE,    /* one of the words in `words` */
    ULP_OPTION_CHOICES,   /* a list of them, or "all" */
    ULP_OPTION_FORMATS,   /* a list of format names, or "all" for those of the registry that the experiment takes */
    ULP_OPTION_MODES,     /* a list of modes, each with its random bits if wanted: rne,sr,srb/8; or "all" */
    ULP_OPTION_DATAPATHS, /* a list of datapaths */
    ULP_OPTION_BACKEND    /* cpu, cuda: changes speed and never a number, so it is not in the CSV */
} ulp_option_type;

/* A row of an experiment's table, which ends with {0}. `value` is the default as it would be written on the command
 * line; `quick` and `full` replace it under --quick and --full (NULL: the same). Every row but text rows marked
 * `silent` becomes a header line of the CSV. */
typedef struct ulp_option {
    const char *name; /* without the dashes */
    ulp_option_type type;
    const char *value, *quick, *full;
    const char *help;  /* one line */
    double min, max;   /* of numbers; both 0: any */
    const char *words; /* of choices, separated by spaces */
    int silent;        /* decides no number (a path, for example): no header line */
} ulp_option;

/* The options that every experiment spells alike; an experiment lists those that it uses, with its defaults. An
 * option it does not list is refused with a sentence, since it would change nothing. */
#define ULP_TAKES_FORMATS(default_, quick_)                                                                            \
    {                                                                                                                  \
        .name = "formats", .type = ULP_OPTION_FORMATS, .value = default_, .quick = quick_,                             \
        .help = "formats or aliases (fp16, bf16, any eXmY or qI.F), separated by commas, or all"                       \
    }
#define ULP_TAKES_MODES(default_, quick_)                                                                              \
    {                                                                                                                  \
        .name = "modes", .type = ULP_OPTION_MODES, .value = default_, .quick = quick_,                                 \
        .help = "rounding modes, separated by commas, or all; sr/8: 8 random bits"                                     \
    }
#define ULP_TAKES_DATAPATHS(default_, quick_)                                                                          \
    {                                                                                                                  \
        .name = "datapath", .type = ULP_OPTION_DATAPATHS, .value = default_, .quick = quick_,                          \
        .help = "how a sum of products is formed, separated by commas"                                                 \
    }
#define ULP_TAKES_SEED                                                                                                 \
    {                                                                                                                  \
        .name = "seed", .type = ULP_OPTION_INTEGER, .value = "1", .help = "the first seed of all randomness",          \
        .max = 0x1p53                                                                                                  \
    }
#define ULP_TAKES_SEEDS(default_, quick_, full_)                                                                       \
    {                                                                                                                  \
        .name = "seeds", .type = ULP_OPTION_INTEGER, .value = default_, .quick = quick_, .full = full_,                \
        .help = "number of seeds: seed, seed + 1, ...", .min = 1, .max = 1e6                                           \
    }
#define ULP_TAKES_BACKEND                                                                                              \
    {                                                                                                                  \
        .name = "backend", .type = ULP_OPTION_BACKEND, .value = "cpu",                                                 \
        .help = "the machine that computes: cpu or cuda; never changes a number", .silent = 1                          \
    }
#define ULP_TAKES_DATA                                                                                                 \
    {                                                                                                                  \
        .name = "data", .type = ULP_OPTION_TEXT, .value = "",                                                          \
        .help = "folder of the data sets (default $ULPLAB_DATA, then the set that ships)", .silent = 1                 \
    }
/* Always there, handled by the harness: threads out quick full list shard merge resume restart quiet help version. */

/* The value of an option. A name that is in no table, or of another type, is a bug: the program stops. */
int ulp_option_flag(const ulp_run *run, const char *name);
int64_t ulp_option_integer(const ulp_run *run, const char *name);
double ulp_option_number(const ulp_run *run, const char *name);
const char *ulp_option_text(const ulp_run *run, const char *name); /* of any option: as given, or its default */

/* Lists. Arrays live as long as the run; *count gets their length. */
typedef struct ulp_named_rule {
    char name[16]; /* "rne", "sra", "sra/8": the one spelling for CSV and plots */
    ulp_rule rule; /* overflow is left at the format's default */
} ulp_named_rule;

const ulp_format *ulp_run_formats(const ulp_run *run, size_t *count);
/* For ulp_experiment.takes_format: whether a format lies in binary32; and has a sign and a zero, as gradients need. */
int ulp_format_within_binary32(const ulp_format *format);
int ulp_format_with_sign(const ulp_format *format);
#define ULP_WANTS_WITHIN_BINARY32 "has to lie within binary32"
#define ULP_WANTS_WITH_SIGN "has to lie within binary32, which carries the numbers, and to have a sign and a zero"
const ulp_named_rule *ulp_run_modes(const ulp_run *run, size_t *count);
const ulp_datapath *ulp_run_datapaths(const ulp_run *run, size_t *count);
const double *ulp_option_numbers(const ulp_run *run, const char *name, size_t *count);
int ulp_option_chosen(const ulp_run *run, const char *name, const char *word); /* of CHOICE and CHOICES */

uint64_t ulp_run_seed(const ulp_run *run); /* --seed */
const ulp_backend *ulp_run_backend(const ulp_run *run);
/* --data, for ulp_data_load(); empty if it was not given: then $ULPLAB_DATA counts, then where the set ships. */
const char *ulp_run_data(const ulp_run *run);

/* A stream of its own for every use: its number is the FNV-1a 64 hash of the formatted name. Name what is random and
 * what it belongs to, "stagnation %s %s run %d", never a point's place in the grid. */
ulp_stream ulp_stream_named(uint64_t seed, const char *format, ...) ULP_PRINTF(2, 3);

/* ---- the grid ---- */

enum { ULP_POINT_AXES = 8 };

typedef struct ulp_point {
    int64_t at[ULP_POINT_AXES]; /* where on the grid: indices or numbers, the experiment's own meaning */
    double cost;                /* relative work, for the time left; 0 means 1 */
    char label[96];             /* "binary16 rne": unique in the grid; names the point in --list and messages */
    size_t index;               /* its place in the grid; never let a number depend on it */
} ulp_point;

/* From prepare(): append a point; the rest of the arguments form its label. Grid order is the order of the CSV. */
void ulp_point_add(ulp_run *run, ulp_point point, const char *label, ...) ULP_PRINTF(3, 4);

/* From prepare(): one more `# key: value` line for the CSV: data set and checksum, network, everything that decides
 * the numbers and is not an option. */
void ulp_header_add(ulp_run *run, const char *key, const char *value, ...) ULP_PRINTF(3, 4);

typedef struct ulp_experiment {
    const char *name;          /* the key of the binary, the CSV and the plot */
    const char *question;      /* one sentence */
    const char *columns;       /* the CSV's header row: "format,mode,step,value" */
    const ulp_option *options; /* ends with {0} */
    int threads_inside;        /* points are computed one by one, each with all threads for its array operations */
    int whole; /* its numbers belong to one process at one time (timings): never cut, merged or resumed */

    /* Which formats it takes (NULL: every one), and what the others lack: --formats all leaves them out, and one that
     * is named is refused with that sentence. */
    int (*takes_format)(const ulp_format *format);
    const char *format_wants;
    /* Lists the points. Data that all points share may be loaded here and kept in *context. */
    ulp_status (*prepare)(ulp_run *run, void **context);
    /* Computes one point and emits its rows; runs on several threads at once unless threads_inside. */
    ulp_status (*compute)(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows);
    /* Prints the table and tests the claims on the rows of the whole grid. */
    void (*check)(ulp_run *run, const void *context);
    /* Frees the context; may be NULL. */
    void (*release)(void *context);
} ulp_experiment;

int ulp_experiment_main(const ulp_experiment *experiment, int argc, char **argv);

/* From prepare() and compute(), for the sentence behind a status that is not ULP_OK: returns that status. The sentence
 * is all that is printed: say what failed and why; a status that speaks for itself needs no sentence. */
ulp_status ulp_run_fail(const ulp_run *run, ulp_status status, const char *what, ...) ULP_PRINTF(3, 4);

/* ---- rows: cells are put in the order of the columns ---- */

void ulp_put_text(ulp_rows *rows, const char *text); /* no comma, quote or line break */
void ulp_put_number(ulp_rows *rows, double value);   /* %.17g; inf, -inf, nan */
void ulp_put_integer(ulp_rows *rows, int64_t value);
void ulp_put_code(ulp_rows *rows, double value,
                  const ulp_format *f); /* its code in hex, ceil(bits/4) digits; empty if it has none */
void ulp_put_none(ulp_rows *rows);      /* an empty cell */
void ulp_put_nones(ulp_rows *rows, int cells);
void ulp_row_end(ulp_rows *rows); /* all columns have to be there */

/* For points that take long: the share of this point that is done. Non-zero means the run is being stopped: return
 * any status soon, the point is thrown away and a resumed run computes it again. */
int ulp_rows_progress(ulp_rows *rows, double share);

/* ---- reading rows back, in check() ---- */

enum { ULP_NO_ROW = -1 };

long ulp_row_count(const ulp_run *run);
const char *ulp_row_text(const ulp_run *run, long row, const char *column);
double ulp_row_number(const ulp_run *run, long row, const char *column); /* an empty cell gives NaN */
/* The first row at or after `from` whose cells equal the texts: pairs of column and text, then NULL. ULP_NO_ROW if
 * none. */
long ulp_row_find(const ulp_run *run, long from, ...);
/* Of a column's numbers in all rows whose cells equal the texts, as for ulp_row_find: a setting over its seeds, say. */
typedef struct ulp_spread {
    double least, median, most, mean; /* NaN if n is 0; the median of an even n lies between the middle two */
    int n, lost;                      /* numbers; NaN and empty cells, which are left out */
} ulp_spread;
ulp_spread ulp_row_spread(const ulp_run *run, const char *column, ...);
int ulp_row_is(const ulp_run *run, long row, const char *column, const char *text);

/* ---- claims: what the figure says, tested ---- */

/* PASS or FAIL; `text` says what is claimed, the rest what was measured. Any FAIL makes the program return 1. */
void ulp_claim(ulp_run *run, int pass, const char *text, const char *measured, ...) ULP_PRINTF(4, 5);
/* A claim that the chosen options cannot test; printed, not counted as failed. */
void ulp_claim_skip(ulp_run *run, const char *text, const char *why, ...) ULP_PRINTF(3, 4);

/* From check(): a number of the literature and ours beside it, for the table that is printed and for the gallery. It
 * judges nothing: a claim does. `published` is the number as printed there, `source` author and year. */
void ulp_beside(ulp_run *run, const char *what, const char *source, const char *published, const char *measured, ...)
    ULP_PRINTF(5, 6);

/* ---- tables for people ---- */

typedef struct ulp_table ulp_table;

/* `title` is printed above; columns are separated by commas. Cells fill rows from left to right. */
ulp_table *ulp_table_new(const char *title, const char *columns);
void ulp_table_put(ulp_table *table, const char *cell, ...) ULP_PRINTF(2, 3);
/* Prints to stdout (stderr when the CSV goes to stdout, nowhere under --quiet) and frees the table. */
void ulp_table_print(ulp_table *table, const ulp_run *run);

#endif

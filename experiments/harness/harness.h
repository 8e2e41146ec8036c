/* harness.h - the interface of experiments that are not yet written for experiment.h: options by name, rows by cells.
 */
#ifndef ULP_HARNESS_H
#define ULP_HARNESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "claims/spread.h"
#include "experiment.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define ulp_experiment ulp_named_experiment
#define ulp_experiment_main ulp_named_experiment_main

typedef struct ulp_named_run ulp_named_run;
#define ulp_run ulp_named_run

#define ULP_OPTION_FLAG &ulp_type_flag
#define ULP_OPTION_INTEGER &ulp_type_integer
#define ULP_OPTION_NUMBER &ulp_type_number
#define ULP_OPTION_NUMBERS &ulp_type_numbers
#define ULP_OPTION_INTEGERS &ulp_type_integers
#define ULP_OPTION_TEXT &ulp_type_text
#define ULP_OPTION_CHOICE &ulp_type_choice
#define ULP_OPTION_CHOICES &ulp_type_choices
#define ULP_OPTION_FORMATS &ulp_type_formats
#define ULP_OPTION_MODES &ulp_type_modes
#define ULP_OPTION_DATAPATHS &ulp_type_datapaths
#define ULP_OPTION_BACKEND &ulp_type_backend

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

#define ULP_TAKES_CHECKPOINT                                                                                           \
    {                                                                                                                  \
        .name = "checkpoint", .type = ULP_OPTION_NUMBER, .value = "60",                                                \
        .help = "seconds between checkpoints of a training under way; 0: none", .max = 1e6, .silent = 1                \
    }

int ulp_option_flag(const ulp_run *run, const char *name);
int64_t ulp_option_integer(const ulp_run *run, const char *name);
double ulp_option_number(const ulp_run *run, const char *name);
const char *ulp_option_text(const ulp_run *run, const char *name);
const ulp_format *ulp_run_formats(const ulp_run *run, size_t *count);
const ulp_named_rule *ulp_run_modes(const ulp_run *run, size_t *count);
const ulp_datapath *ulp_run_datapaths(const ulp_run *run, size_t *count);
const double *ulp_option_numbers(const ulp_run *run, const char *name, size_t *count);
int ulp_option_chosen(const ulp_run *run, const char *name, const char *word);
uint64_t ulp_run_seed(const ulp_run *run);
const ulp_backend *ulp_run_backend(const ulp_run *run);
const char *ulp_run_data(const ulp_run *run);
int ulp_run_has_format(const ulp_run *run, const char *name);

enum { ULP_POINT_AXES = 8 };
typedef struct ulp_point {
    int64_t at[ULP_POINT_AXES];
    double cost;
    char label[96];
    size_t index;
} ulp_point;
void ulp_point_add(ulp_run *run, ulp_point point, const char *label, ...) ULP_PRINTF(3, 4);
void ulp_header_add(ulp_run *run, const char *key, const char *value, ...) ULP_PRINTF(3, 4);

typedef struct ulp_experiment {
    const char *name, *question, *columns;
    const ulp_option *options;
    int threads_inside, whole;
    int (*takes_format)(const ulp_format *format);
    const char *format_wants;
    ulp_status (*prepare)(ulp_run *run, void **context);
    ulp_status (*compute)(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows);
    void (*check)(ulp_run *run, const void *context);
    void (*release)(void *context);
} ulp_experiment;
int ulp_experiment_main(const ulp_experiment *experiment, int argc, char **argv);
ulp_status ulp_run_fail(const ulp_run *run, ulp_status status, const char *what, ...) ULP_PRINTF(3, 4);

void ulp_put_text(ulp_rows *rows, const char *text);
void ulp_put_number(ulp_rows *rows, double value);
void ulp_put_integer(ulp_rows *rows, int64_t value);
void ulp_put_code(ulp_rows *rows, double value, const ulp_format *f);
void ulp_put_none(ulp_rows *rows);
void ulp_put_nones(ulp_rows *rows, int cells);
void ulp_row_end(ulp_rows *rows);
#define ULP_QUANTILE_COLUMNS "min,q05,q25,median,q75,q95,max"
#define ULP_SPREAD_COLUMNS "mean,sd," ULP_QUANTILE_COLUMNS
enum { ULP_SPREAD_CELLS = 2 + ULP_QUANTILES };
#define ULP_TAKES_RUNS(default_, quick_, full_)                                                                        \
    {                                                                                                                  \
        .name = "runs", .type = ULP_OPTION_INTEGER, .value = default_, .quick = quick_, .full = full_,                 \
        .help = "runs of every stochastic mode", .min = 1, .max = 1e6                                                  \
    }
#define ULP_TAKES_PATHS(default_)                                                                                      \
    {                                                                                                                  \
        .name = "paths", .type = ULP_OPTION_INTEGER, .value = default_,                                                \
        .help = "stochastic runs that are written one by one", .max = 1000                                             \
    }
void ulp_put_quantiles(ulp_rows *rows, const ulp_distribution *d);
void ulp_put_spread(ulp_rows *rows, const float *value, size_t n);
void ulp_put_no_spread(ulp_rows *rows);
int ulp_rows_progress(ulp_rows *rows, double share);
/* The task that this thread computes; `rows` are its rows. */
const ulp_task *ulp_rows_task(const ulp_rows *rows);

enum { ULP_NO_ROW = -1 };
long ulp_row_count(const ulp_run *run);
const char *ulp_row_text(const ulp_run *run, long row, const char *column);
double ulp_row_number(const ulp_run *run, long row, const char *column);
long ulp_row_find(const ulp_run *run, long from, ...);
ulp_spread ulp_row_spread(const ulp_run *run, const char *column, ...);
int ulp_row_is(const ulp_run *run, long row, const char *column, const char *text);

ulp_plan *ulp_run_plan(const ulp_run *run);
/* The claims of this run, and where its tables go. */
ulp_claims *ulp_run_claims(const ulp_run *run);
FILE *ulp_run_people(const ulp_run *run);

#endif

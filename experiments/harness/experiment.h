/* experiment.h - the framework of an experiment: settings, plan, computation of points, claims.
 *
 * The folder of an experiment defines `experiment`, a const ulp_experiment; the main of all experiments is in
 * experiments/main.c. A run has these steps:
 *
 *  - The command line fills the settings struct of the experiment.
 *  - plan() lists the grid points, each a small struct.
 *  - compute() puts the rows of one point; it runs on threads or MPI ranks in any order.
 *  - results/NAME.csv gets the rows in the order of the plan.
 *  - judge() reads the rows back as a typed table, prints a table and tests the claims.
 *
 * The harness implements --resume, --restart, --shard, --merge, --list, the progress line and the record of the run.
 * The rows of a point must depend on settings, context and point alone, and not on other points, threads, time or the
 * machine.
 */
#ifndef ULP_HARNESS_EXPERIMENT_H
#define ULP_HARNESS_EXPERIMENT_H

#include "experiments/harness/claims/claims.h"
#include "experiments/harness/claims/sheet.h"
#include "experiments/harness/cli/options.h"
#include "experiments/harness/sweep/sweep.h"
#include "experiments/harness/table/table.h"

typedef struct ulp_experiment {
    const char *name;                                         /* the name of program, CSV and plot */
    const char *question;                                     /* one sentence */
    const ulp_option *options;                                /* ends with {0}, bound to the settings struct */
    size_t settings_size, point_size, row_size, context_size; /* sizes of the experiment's structs */
    const ulp_column *columns;                                /* columns of the row struct, ends with {0} */
    int threads_inside; /* 1: points are computed one by one, each with all threads for its array operations */
    int whole;          /* 1: all points belong to one process (timings); no shards, no merging, no resuming */
    int goes_on; /* 1, with threads_inside and whole: a point that fails leaves the others. A head line of the CSV says
                    why it has no rows: `# left out: ` if compute() returns ULP_UNSUPPORTED, else `# failed: ` and exit
                    status 1. ULP_NO_DEVICE means that the device is lost, and ends the run. */

    /* List the points. plan->context (context_size bytes, zero) may get data that all points share. */
    ulp_status (*plan)(ulp_plan *plan);
    /* Compute one point and put its rows. Several threads call it at the same time, unless threads_inside. */
    ulp_status (*compute)(const ulp_task *task);
    /* The number of ranks that a point is about. If mpirun starts as many processes, all of them compute the point
     * together: task->ranks exchanges their messages, all call ulp_task_progress() equally often, and the rows are the
     * same as those of one process. May be NULL. */
    size_t (*ranks)(const void *point);
    /* Print the table, and test the claims on the rows of the whole plan. May be NULL. */
    void (*judge)(ulp_claims *claims);
    /* Free the data in the context. May be NULL. */
    void (*release)(void *context);
} ulp_experiment;

/* The members that nearly every experiment has, under their usual names: the tables `options` and `columns`, the
 * functions plan, compute and judge, and the types of settings, points and rows. */
#define ULP_EXPERIMENT_OF(settings, point, row)                                                                        \
    .options = options, .columns = columns, .settings_size = sizeof(settings), .point_size = sizeof(point),            \
    .row_size = sizeof(row), .plan = plan, .compute = compute, .judge = judge

/* Every experiment defines them. judge(), in claims.c if the experiment has that file, prints the tables and tests the
 * claims. */
extern const ulp_experiment experiment;
void judge(ulp_claims *claims);

int ulp_experiment_main(const ulp_experiment *e, int argc, char **argv);

/* ---- options of many experiments: rows for their tables, bound to a field of the settings `s` ---- */

#define ULP_OPTION_FORMATS_OF(s, field, value_, quick_) ULP_OPTION_FORMATS_IF(s, field, value_, quick_, NULL, NULL)
/* For experiments that do not take every format: `takes_` is the test, `wants_` says what a refused format lacks. */
#define ULP_OPTION_FORMATS_IF(s, field, value_, quick_, takes_, wants_)                                                \
    ULP_OPTION_AS(s, field, "formats", formats, value_, .quick = quick_, .takes = takes_, .wants = wants_,             \
                  .help = "formats or aliases (fp16, bf16, any eXmY or qI.F), separated by commas, or all")
#define ULP_OPTION_MODES_OF(s, field, value_, quick_)                                                                  \
    ULP_OPTION_AS(s, field, "modes", modes, value_, .quick = quick_,                                                   \
                  .help = "rounding modes, separated by commas, or all; sr/8: 8 random bits")
#define ULP_OPTION_DATAPATHS_OF(s, field, value_, quick_)                                                              \
    ULP_OPTION_AS(s, field, "datapath", datapaths, value_, .quick = quick_,                                            \
                  .help = "how a sum of products is formed, separated by commas")
#define ULP_OPTION_SEED(s, field) /* uint64_t */                                                                       \
    ULP_OPTION_AS(s, field, "seed", unsigned, "1", .help = "the first seed of all randomness", .max = 0x1p53)
#define ULP_OPTION_SEEDS(s, field, value_, quick_, full_) /* int64_t */                                                \
    ULP_OPTION_AS(s, field, "seeds", integer, value_, .quick = quick_, .full = full_,                                  \
                  .help = "number of seeds: seed, seed + 1, ...", .min = 1, .max = 1e6)
#define ULP_OPTION_BACKEND_OF(s, field) /* const ulp_backend * */                                                      \
    ULP_OPTION_AS(s, field, "backend", backend, "cpu", .help = "the machine that computes, which changes no number",   \
                  .silent = 1)
#define ULP_OPTION_DATA(s, field) /* const char *; empty: $ULPLAB_DATA, then the set that ships */                     \
    ULP_OPTION_AS(s, field, "data", place, "",                                                                         \
                  .help =                                                                                              \
                      "folder of the data sets (default $ULPLAB_DATA, then the set that ships), or a file of text "    \
                      "for the set text",                                                                              \
                  .silent = 1)

#endif

/* run.h - what the harness's own sources share; experiments include harness.h only. */
#ifndef ULP_RUN_H
#define ULP_RUN_H

#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>

#ifndef ULP_DATA_DIR
#define ULP_DATA_DIR "experiments/data"
#endif

/* A string that grows. {0} is empty; data is NUL-terminated once anything was added. */
typedef struct ulp_text {
    char *data;
    size_t length, room;
} ulp_text;

void ulp_text_add(ulp_text *text, const char *data, size_t length);
void ulp_text_print(ulp_text *text, const char *format, ...) ULP_PRINTF(2, 3);
void ulp_text_print_list(ulp_text *text, const char *format, va_list arguments);
const char *ulp_text_of(const ulp_text *text); /* never NULL */
void ulp_text_free(ulp_text *text);

/* Memory or the end of the program: a laboratory run that lacks memory has nothing better to do. */
void *ulp_grow(void *memory, size_t bytes);
char *ulp_copy_text(const char *text);
/* Room for one element more: doubles *room as needed. */
void *ulp_room_for(void *array, size_t count, size_t *room, size_t size);

/* An option and what it was set to. */
typedef struct ulp_setting {
    const ulp_option *option;
    const char *value; /* in force: given, else the default of --quick, --full or the table */
    int given;
    int64_t integer;
    double number;
    double *numbers;
    size_t number_count;
} ulp_setting;

typedef enum ulp_verdict { ULP_FAIL, ULP_PASS, ULP_SKIP } ulp_verdict;

typedef struct ulp_claim_entry {
    ulp_verdict verdict;
    char *text, *measured;
} ulp_claim_entry;

typedef struct ulp_beside_entry {
    char *what, *source, *published, *measured;
} ulp_beside_entry;

/* The rows of one point, as lines of the CSV. */
struct ulp_rows {
    const ulp_run *run;
    const ulp_point *point;
    ulp_text text;
    size_t cell, count; /* cells of the row that is being written; finished rows */
    int cut;            /* the point was told to stop early: its rows do not count */
    int kept;           /* it has a checkpoint file (training.h) */
};

/* What threads change while a run is const to the experiment. */
typedef struct ulp_shared {
    pthread_mutex_t lock;
    ulp_status status; /* the first failure */
    ulp_text failure;
    double *share; /* per point, done so far, 0..1 */
    double started, shown;
    double cost_total, cost_before; /* of the points to compute; of those found finished */
    size_t finished;
    int bar; /* a bar is on the terminal's line */
} ulp_shared;

struct ulp_run {
    const ulp_experiment *experiment;
    int argc;
    char **argv;
    ulp_setting *settings;
    size_t setting_count;
    const char **merge;
    size_t merge_count;
    size_t shard, shards; /* this run computes points k with k mod shards = shard */
    ulp_format *formats;
    ulp_named_rule *modes;
    ulp_datapath *datapaths;
    size_t format_count, mode_count, datapath_count;
    const ulp_backend *backend;
    char *out, *part;
    int direct; /* out is standard output or a device: no .part, no rename */
    int threads, rank, ranks;

    ulp_text header; /* the CSV's "# key: value" lines */
    size_t column_count;
    ulp_point *points;
    size_t point_count, point_room;
    struct ulp_rows *rows; /* per point */
    unsigned char *done;   /* per point */
    size_t resumed;
    FILE *part_file; /* OUT.part, locked from ulp_csv_open() to ulp_csv_close() */

    char *cells;        /* all rows of the grid, every cell NUL-terminated */
    const char **index; /* row by row, the cells */
    long row_count;

    ulp_claim_entry *claims;
    size_t claim_count, claim_room;
    ulp_beside_entry *besides;
    size_t beside_count, beside_room;
    double wall_seconds;
    ulp_shared *shared;
};

/* options.c */
ulp_setting *ulp_setting_find(const ulp_run *run, const char *name);
/* Reads argv. Returns -1 to go on, else the program's exit status (--help, --version, usage errors). */
int ulp_options_read(ulp_run *run, int argc, char **argv);
/* Complains on stderr with "NAME: ", returns ULP_EXIT_USAGE. */
int ulp_usage_error(const ulp_run *run, const char *what, ...) ULP_PRINTF(2, 3);
void ulp_options_free(ulp_run *run);
/* The word of `words` (separated by spaces) nearest to `text`, if near enough to be meant; copied to `near`. */
int ulp_suggest(char *near_word, size_t size, const char *text, const char *words);

/* settings.c: from text to values. */
int ulp_settings_resolve(ulp_run *run); /* -1, or the exit status */
void ulp_settings_header(ulp_run *run);

/* rows.c */
void ulp_rows_index(ulp_run *run);
size_t ulp_count_fields(const char *list, char separator);

/* csv.c, part.c: all return -1 to go on, or the exit status after a message. */
int ulp_csv_open(ulp_run *run); /* checks the place, locks it, reads .part or merged files, opens .part */
int ulp_csv_keep(ulp_run *run, const ulp_rows *rows); /* appends a finished point to .part */
int ulp_csv_write(ulp_run *run);                      /* the CSV, or the shard's file */
void ulp_csv_close(ulp_run *run);                     /* removes .part and its lock: nothing in it is needed any more */
/* Takes the finished points of a file; damaged ones are refused, or of a resumed file passed over. */
int ulp_part_read(ulp_run *run, const char *path, FILE *file, int resumed);
void ulp_part_put(FILE *file, const ulp_rows *rows);
/* `path` with `ending` replaced by `by`, or `by` appended where it ends otherwise. The caller frees it. */
char *ulp_path_replace(const char *path, const char *ending, const char *by);
void ulp_text_quote(ulp_text *to, const char *word); /* as one word of a shell command */

/* sweep.c */
void ulp_ranks_start(ulp_run *run, int *argc, char ***argv);
void ulp_ranks_dismiss(ulp_run *run); /* rank 0 gives up: the others end */
void ulp_ranks_end(const ulp_run *run);
void ulp_sweep(ulp_run *run, const void *context);  /* what happened is in run->done and run->shared->status */
int ulp_run_mine(const ulp_run *run, size_t point); /* the point belongs to this shard */

/* training.c */
void ulp_training_forget(const ulp_rows *rows); /* the point is kept: its checkpoint is not needed any more */
char *ulp_training_file(const ulp_run *run, size_t point); /* of its checkpoint; NULL: there is no place. free() it. */

/* progress.c */
double ulp_clock(void); /* seconds, monotonic */
void ulp_progress_start(ulp_run *run);
void ulp_progress_show(const ulp_run *run, int last); /* with the lock held; last: also erases the bar */
int ulp_stopping(void);
void ulp_point_finish(ulp_run *run, size_t point, ulp_status status, const char *failure); /* with the lock held */
void ulp_stop_on_signals(void);

/* report.c */
int ulp_colour_on(FILE *file);
FILE *ulp_report_file(const ulp_run *run); /* where tables and claims go */
void ulp_besides_print(const ulp_run *run);
int ulp_claims_print(const ulp_run *run); /* number of failed claims */

/* provenance.c: NAME.run.json beside the CSV. */
int ulp_record_write(const ulp_run *run);
const char *ulp_build_version(void);

#endif

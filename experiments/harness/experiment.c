/* experiment.c - one run of an experiment, from argv to the exit status; see experiment.h. */
#include "experiment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run.h"

/* ---- the options of every experiment ---- */

static ulp_status read_shard(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    enum { MOST = 1000000 };
    ulp_shard *shard = field;
    char *end;
    int good = *text >= '0' && *text <= '9';
    errno = 0;
    shard->index = good ? strtoull(text, &end, 10) : 0;
    good = good && *end == '/' && end[1] >= '0' && end[1] <= '9';
    shard->count = good ? strtoull(end + 1, &end, 10) : 0;
    if (good && !errno && !*end && shard->count <= MOST && shard->index < shard->count) return ULP_OK;
    (void)option;
    return ulp_refuse(error, "'%s': has to be I/N with 0 <= I < N <= %d", text, MOST);
}

static void print_shard(ulp_text *to, const void *field, const ulp_option *option) {
    const ulp_shard *shard = field;
    (void)option;
    ulp_text_print(to, "%llu/%llu", (unsigned long long)shard->index, (unsigned long long)shard->count);
}

static const ulp_option_type type_shard = {
    .value_name = "I/N", .size = sizeof(ulp_shard), .read = read_shard, .print = print_shard};

static const ulp_option common_options[] = {
    ULP_OPTION(ulp_common, threads, integer, "0",
               .help = "threads; 0: OMP_NUM_THREADS, else all processors; never changes a number", .max = 65536),
    ULP_OPTION(ulp_common, out, text, "", .value_name = "FILE",
               .help = "the CSV (default results/NAME.csv); - for standard output"),
    ULP_OPTION(ulp_common, quick, flag, NULL, .help = "a small run, seconds"),
    ULP_OPTION(ulp_common, full, flag, NULL, .help = "the published size"),
    ULP_OPTION(ulp_common, list, flag, NULL, .help = "print one command per point, for GNU parallel or a job array"),
    ULP_OPTION(ulp_common, restart, flag, NULL,
               .help = "forget the points that a stopped run has left at OUT, and begin anew"),
    ULP_OPTION(ulp_common, quiet, flag, NULL, .help = "no progress, no table; failed claims are still printed"),
    {0},
};

/* Options for runs that consist of several processes. */
static const ulp_option cut_options[] = {
    {.name = "shard",
     .type = &type_shard,
     ULP_FIELD(ulp_common, shard),
     .help = "only points I, I+N, I+2N, ...; a file of its own, for --merge"},
    ULP_OPTION(ulp_common, merge, texts, NULL, .value_name = "FILE...",
               .help = "take finished points from shards; points that are missing are computed"),
    ULP_OPTION(ulp_common, resume, flag, NULL, .help = "go on from OUT.part, which a stopped run leaves"),
    {0},
};

/* Options of many experiments: the message of an experiment that does not have the option. */
#define NO_CHANGE "would change nothing here: this experiment does not depend on it (see --help)"
#define RUN_WHOLE "is not taken: the numbers of this experiment belong to one run on one machine; run it whole"
static const char *const elsewhere[][2] = {{"formats", NO_CHANGE}, {"modes", NO_CHANGE}, {"datapath", NO_CHANGE},
                                           {"seed", NO_CHANGE},    {"seeds", NO_CHANGE}, {"backend", NO_CHANGE},
                                           {"data", NO_CHANGE},    {"shard", RUN_WHOLE}, {"merge", RUN_WHOLE},
                                           {"resume", RUN_WHOLE},  {NULL, NULL}};

#define SHARDS                                                                                                         \
    "Shards: run --shard 0/N ... --shard N-1/N anywhere, then --merge FILE... with the same options gives the CSV of " \
    "one run.\n"
#define FILES                                                                                                          \
    "Files: OUT; beside it OUT's .summary.csv (the numbers that claims and figures share), .claims.tsv and .run.json " \
    "(what may differ between two runs of the same numbers)."

/* Refuse two options that exclude each other. */
static ulp_status refuse_pairs(const ulp_run *run, ulp_error *error) {
    static const char *const pairs[][2] = {{"quick", "full"}, {"resume", "restart"}, {"list", "shard"},
                                           {"list", "merge"}, {"list", "resume"},    {"list", "restart"},
                                           {"shard", "merge"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (ulp_setting_given(&run->arguments, pairs[i][0]) && ulp_setting_given(&run->arguments, pairs[i][1]))
            return ulp_refuse(error, "--%s and --%s exclude each other", pairs[i][0], pairs[i][1]);
    if (run->experiment->whole && run->sweep.ranks > 1)
        return ulp_refuse(error,
                          "the numbers of this experiment belong to one run on one machine; run it without mpirun");
    return ULP_OK;
}

static ulp_status read_options(ulp_run *run, ulp_error *error) {
    run->command = (ulp_command){.name = run->experiment->name,
                                 .kind = "experiment",
                                 .usage = "[OPTION...]",
                                 .summary = run->experiment->question,
                                 .details = run->experiment->whole ? FILES : SHARDS FILES,
                                 .elsewhere = elsewhere,
                                 .idle = "seed"};
    const int silent = run->sweep.rank > 0;
    run->sweep.program = silent ? NULL : run->experiment->name;
    run->groups[0] = (ulp_option_group){"This experiment", run->experiment->options, run->settings};
    run->groups[1] = (ulp_option_group){"Every experiment", common_options, &run->common};
    run->groups[2] = (ulp_option_group){"Several processes", cut_options, &run->common};
    run->arguments =
        (ulp_arguments){.command = &run->command, .groups = run->groups, .group_count = run->experiment->whole ? 2 : 3};
    ULP_TRY(ulp_arguments_read(&run->arguments, run->argc, run->argv, silent, error));
    if (run->arguments.is_done) return ULP_OK;
    ULP_TRY(refuse_pairs(run, error));
    run->preset = ulp_setting_given(&run->arguments, "quick")  ? ULP_PRESET_QUICK
                  : ulp_setting_given(&run->arguments, "full") ? ULP_PRESET_FULL
                                                               : ULP_PRESET_DEFAULT;
    return ulp_arguments_resolve(&run->arguments, run->preset, error);
}

/* ---- the run ---- */

static int report_failure(const ulp_run *run, ulp_status status) {
    const char *what = run->sweep.failure.error.text;
    ulp_complain(run->sweep.program, "%s", *what ? what : ulp_status_text(status));
    return ulp_exit_of(status);
}

static int report_stop(ulp_run *run) {
    const size_t finished = run->sweep.finished, all = run->plan.count;
    if (run->sweep.place.direct)
        ulp_complain(run->sweep.program, "stopped after %zu of %zu point%s; nothing was written", finished, all,
                     ulp_plural(all));
    else
        ulp_complain(run->sweep.program, "stopped after %zu of %zu point%s; %s keeps all finished points%s", finished,
                     all, ulp_plural(all), run->sweep.part,
                     run->experiment->whole ? "" : ": the same command with --resume goes on");
    return ULP_EXIT_FAILED;
}

/* Read the rows back and test the claims; returns the number of failed claims. */
static int judge_run(ulp_run *run) {
    FILE *report_file = strcmp(run->common.out, "-") == 0 ? stderr : stdout;
    run->table = ulp_table_of(run->experiment->columns, run->experiment->row_size);
    run->claims = (ulp_claims){.settings = run->settings,
                               .context = run->context,
                               .table = &run->table,
                               .arguments = &run->arguments,
                               .preset = run->preset,
                               .file = run->common.quiet ? NULL : report_file,
                               .loud = report_file};
    for (size_t k = 0; k < run->plan.count; k++) {
        const ulp_text *text = &run->sweep.work[k].rows.text;
        if (!ulp_table_add(&run->table, ulp_text_of(text), text->length, run->plan.points[k].point)) {
            ulp_complain(run->sweep.program, "internal error: a row of point '%s' cannot be read back",
                         run->plan.points[k].label);
            abort();
        }
    }
    if (run->experiment->judge) run->experiment->judge(&run->claims);
    return ulp_claims_print(&run->claims, run->experiment->name);
}

static ulp_status write_results(ulp_run *run, ulp_error *error) {
    const ulp_place *place = &run->sweep.place;
    if (!run->common.shard.count) {
        ULP_TRY(ulp_place_write_beside(place, ".summary.csv", ulp_claims_write_summary, &run->claims, error));
        ULP_TRY(ulp_place_write_beside(place, ".claims.tsv", ulp_run_write_claims, run, error));
    }
    return ulp_place_write_beside(place, ".run.json", ulp_run_write_record, run, error);
}

/* Write and print the report of the plan, such as a profile. */
static ulp_status write_report(const ulp_run *run, ulp_error *error) {
    const ulp_plan_report *report = &run->plan.report;
    if (!report->own) return ULP_OK;
    if (report->print && !run->common.quiet)
        report->print(report->own, strcmp(run->common.out, "-") == 0 ? stderr : stdout);
    return ulp_place_write_beside(&run->sweep.place, report->ending, report->write, report->own, error);
}

/* "46 points, 46 rows, 16.1 s -> results/bench_gpu.csv", with the points that have no rows. */
static void report_end(const ulp_run *run) {
    const ulp_sweep *s = &run->sweep;
    ulp_text missing = {0};
    if (s->failed) ulp_text_print(&missing, ", %zu failed", s->failed);
    if (s->left_out) ulp_text_print(&missing, ", %zu left out", s->left_out);
    ulp_complain(s->program, "%zu point%s, %zu row%s%s, %.1f s -> %s%s", s->finished, ulp_plural(s->finished),
                 run->row_count, ulp_plural(run->row_count), ulp_text_of(&missing), run->wall_seconds, s->place.path,
                 run->common.shard.count ? " (claims are tested when the shards are merged)" : "");
    ulp_text_free(&missing);
}

static int finish(ulp_run *run) {
    int failed = 0;
    ulp_error error;
    const int shard = run->common.shard.count > 0;
    run->wall_seconds = ulp_clock() - run->sweep.started;
    for (size_t k = 0; k < run->plan.count; k++) run->row_count += run->sweep.work[k].rows.count;
    ulp_status status = shard ? ulp_sweep_write_shard(&run->sweep, &error)
                              : ulp_place_write(&run->sweep.place, ulp_run_write_csv, run, &error);
    if (status != ULP_OK) return ulp_complain_of(run->sweep.program, &error);
    if (!shard) failed = judge_run(run);
    status = write_results(run, &error);
    if (status == ULP_OK) status = write_report(run, &error);
    /* after a failure --resume uses the finished points to write the files again */
    if (status == ULP_OK || run->experiment->whole) ulp_sweep_close(&run->sweep);
    if (status != ULP_OK) return ulp_complain_of(run->sweep.program, &error);
    if (!run->common.quiet) report_end(run);
    return failed || run->sweep.failed ? ULP_EXIT_FAILED : ULP_EXIT_FINE;
}

/* Choose the file of the CSV: --out, else results/NAME.csv, else, for a shard, results/NAME.shard-I-of-N.csv. */
static ulp_status choose_place(ulp_run *run, ulp_error *error) {
    ulp_text path = {0};
    const ulp_shard *shard = &run->common.shard;
    if (*run->common.out) ulp_text_print(&path, "%s", run->common.out);
    else if (shard->count)
        ulp_text_print(&path, "results/%s.shard-%zu-of-%zu.csv", run->experiment->name, (size_t)shard->index,
                       (size_t)shard->count);
    else ulp_text_print(&path, "results/%s.csv", run->experiment->name);
    ulp_status status = ULP_OK;
    if (!*run->common.out && mkdir("results", 0777) != 0 && errno != EEXIST)
        status = ulp_cannot_write(error, "into a new folder results", 1);
    if (status == ULP_OK) status = ulp_place_choose(&run->sweep.place, path.data, error);
    ulp_text_free(&path);
    ULP_TRY(status);
    static const char *const endings[] = {".summary.csv", ".claims.tsv", ".run.json"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        ULP_TRY(ulp_place_check_beside(&run->sweep.place, endings[i], error));
    if (run->sweep.place.direct && run->common.resume)
        return ulp_refuse(error, "--resume needs --out to be a file; '%s' keeps nothing", run->sweep.place.path);
    return ULP_OK;
}

static int compute(ulp_run *run) {
    ulp_sweep *s = &run->sweep;
    if (s->rank == 0) {
        ulp_error error;
        ulp_status status = choose_place(run, &error);
        if (status == ULP_OK) status = ulp_sweep_open(s, &error);
        if (status != ULP_OK) {
            ulp_ranks_dismiss(s);
            return ulp_complain_of(s->program, &error);
        }
    }
    ulp_stop_on_signals();
    const size_t missing = run->plan.count - s->resumed;
    if (s->merge.count && missing)
        ulp_complain(s->program, "%zu of %zu point%s %s in the files to merge; computing the other %zu", s->resumed,
                     run->plan.count, ulp_plural(run->plan.count), run->plan.count == 1 ? "is" : "are", missing);
    ulp_sweep_run(s);
    if (s->rank) return ULP_EXIT_FINE;
    if (s->status != ULP_OK) {
        if (!s->finished) ulp_sweep_close(s);
        const int status = report_failure(run, s->status);
        return s->goes_on && s->finished ? report_stop(run) : status;
    }
    if (s->goes_on && !s->finished && ulp_sweep_complete(s)) {
        ulp_sweep_close(s);
        ulp_complain(s->program, "no point has rows; nothing was written");
        return s->failed ? ULP_EXIT_FAILED : ULP_EXIT_LACKING;
    }
    return ulp_sweep_complete(s) ? finish(run) : report_stop(run);
}

/* Set the fields of the sweep from the options, and the head of files of pieces: the header and columns of the CSV. */
static void set_up_sweep(ulp_run *run) {
    ulp_sweep *s = &run->sweep;
    const ulp_experiment *e = run->experiment;
    char *columns = ulp_columns_text(e->columns);
    ulp_text head = {0};
    s->plan = &run->plan;
    s->columns = e->columns;
    s->compute = e->compute;
    s->ranks_of = e->ranks;
    s->threads_inside = e->threads_inside;
    s->uncut = e->whole;
    s->goes_on = e->goes_on;
    s->shard = (size_t)run->common.shard.index;
    s->shards = (size_t)run->common.shard.count;
    s->resume = run->common.resume;
    s->restart = run->common.restart;
    s->quiet = run->common.quiet;
    s->merge = run->common.merge;
    ulp_text_print(&head, "%s# columns: %s\n", ulp_text_of(&run->plan.header), columns);
    ulp_sweep_begin(s, ulp_text_of(&head));
    ulp_text_free(&head);
    free(columns);
}

static int execute(ulp_run *run) {
    const ulp_experiment *e = run->experiment;
    ulp_error error;
    if (read_options(run, &error) != ULP_OK) return ulp_complain_of(run->sweep.program, &error);
    if (run->arguments.is_done) return ULP_EXIT_FINE;
    ulp_threads_set((int)run->common.threads);
    run->sweep.threads = ulp_threads_get();
    ulp_run_begin_header(run);
    const ulp_status planned = e->plan(&run->plan);
    if (planned != ULP_OK) { /* a bad file in plan() is bad input; later the run writes files */
        const int status = report_failure(run, planned);
        return planned == ULP_BAD_FILE ? ULP_EXIT_USAGE : status;
    }
    ulp_plan_check(&run->plan);
    if (run->common.list) {
        if (run->sweep.rank == 0 && ulp_run_list(run, &error) != ULP_OK)
            return ulp_complain_of(run->sweep.program, &error);
        return ULP_EXIT_FINE;
    }
    set_up_sweep(run);
    return compute(run);
}

static void release(ulp_run *run) {
    if (run->experiment->release) run->experiment->release(run->context);
    ulp_claims_free(&run->claims);
    ulp_table_free(&run->table);
    ulp_sweep_free(&run->sweep);
    ulp_plan_free(&run->plan);
    ulp_arguments_free(&run->arguments);
    free(run->settings);
    free(run->context);
    pthread_mutex_destroy(&run->sweep.lock);
    pthread_mutex_destroy(&run->sweep.failure.lock);
}

int ulp_experiment_main(const ulp_experiment *e, int argc, char **argv) {
    ulp_run run = {.experiment = e};
    const char *fault = ulp_arithmetic_fault();
    if (fault != NULL) {
        ulp_complain(e->name, "%s", fault);
        return ULP_EXIT_LACKING;
    }
    pthread_mutex_init(&run.sweep.lock, NULL);
    pthread_mutex_init(&run.sweep.failure.lock, NULL);
    run.plan.point_size = e->point_size;
    run.plan.failure = &run.sweep.failure;
    run.plan.arguments = &run.arguments;
    run.settings = calloc(1, e->settings_size + 1);
    run.context = calloc(1, e->context_size + 1);
    if (!run.settings || !run.context) {
        free(run.settings);
        free(run.context);
        ulp_complain(e->name, "out of memory");
        return ULP_EXIT_FAILED;
    }
    run.plan.settings = run.settings;
    run.plan.context = run.context;
    ulp_ranks_start(&run.sweep, e->name, &argc, &argv);
    run.argc = argc;
    run.argv = argv;
    int status = execute(&run);
    if (run.sweep.rank == 0) status = ulp_finish_stdout(e->name, status);
    release(&run);
    ulp_ranks_end();
    return status;
}

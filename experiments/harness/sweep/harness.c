/* harness.c - one execution of an experiment, from argv to the exit status. */
#include "experiments/harness/run.h"

#include <stdlib.h>
#include <string.h>

static int exit_of(ulp_status status) {
    switch (status) {
    case ULP_OK: return ULP_EXIT_FINE;
    case ULP_NO_DEVICE: return ULP_EXIT_LACKING;
    case ULP_BAD_ARGUMENT:
    case ULP_BAD_NAME:
    case ULP_NOT_IN_RANGE:
    case ULP_UNSUPPORTED: return ULP_EXIT_USAGE;
    default: return ULP_EXIT_FAILED;
    }
}

static int report_failure(const ulp_run *run, ulp_status status) {
    const char *what = ulp_text_of(&run->shared->failure);
    if (run->rank == 0) fprintf(stderr, "%s: %s\n", run->experiment->name, *what ? what : ulp_status_text(status));
    return exit_of(status);
}

/* Files that prepare() reads are input; those of later failures are what the run writes. */
static int report_unprepared(const ulp_run *run, ulp_status status) {
    int code = report_failure(run, status);
    return status == ULP_BAD_FILE ? ULP_EXIT_USAGE : code;
}

static int compare_labels(const void *a, const void *b) {
    return strcmp((*(const ulp_point *const *)a)->label, (*(const ulp_point *const *)b)->label);
}

/* Labels identify points in files: two alike would be one. */
static void check_labels(const ulp_run *run) {
    const ulp_point **sorted = ulp_grow(NULL, run->point_count * sizeof *sorted);
    for (size_t k = 0; k < run->point_count; k++) sorted[k] = &run->points[k];
    qsort(sorted, run->point_count, sizeof *sorted, compare_labels);
    for (size_t k = 1; k < run->point_count; k++) {
        if (strcmp(sorted[k]->label, sorted[k - 1]->label) != 0) continue;
        fprintf(stderr, "%s: internal error: two points '%s'\n", run->experiment->name, sorted[k]->label);
        abort();
    }
    free(sorted);
}

static void prepare_grid(ulp_run *run) {
    check_labels(run);
    run->rows = ulp_grow(NULL, run->point_count * sizeof *run->rows);
    run->done = ulp_grow(NULL, run->point_count);
    memset(run->done, 0, run->point_count);
    for (size_t k = 0; k < run->point_count; k++) run->rows[k] = (ulp_rows){.run = run, .point = &run->points[k]};
}

/* The options that were given, without those that say where, what part, or how loud. */
static void print_given(const ulp_run *run) {
    static const char *const not_these[] = {"out", "list", "shard", "merge", "resume", "restart", "quiet"};
    ulp_text text = {0};
    ulp_text_quote(&text, run->argv[0]);
    for (size_t i = 0; i < run->setting_count; i++) {
        const ulp_setting *s = &run->settings[i];
        int skip = !s->given;
        for (size_t j = 0; j < sizeof not_these / sizeof not_these[0]; j++)
            skip |= strcmp(s->option->name, not_these[j]) == 0;
        if (skip) continue;
        ulp_text_print(&text, " --%s", s->option->name);
        if (s->option->type == ULP_OPTION_FLAG) continue;
        ulp_text_add(&text, " ", 1);
        ulp_text_quote(&text, s->value);
    }
    fputs(ulp_text_of(&text), stdout);
    ulp_text_free(&text);
}

static int list_points(const ulp_run *run) {
    const char *given = ulp_option_text(run, "out");
    ulp_text base = {0}, stem = {0};
    if (run->experiment->whole) {
        print_given(run);
        if (*given) {
            ulp_text_quote(&base, given);
            printf(" --out %s", ulp_text_of(&base));
        }
        printf(" # all %zu points: this experiment is not cut into shards\n", run->point_count);
        ulp_text_free(&base);
        return ULP_EXIT_FINE;
    }
    if (strcmp(given, "-") == 0) return ulp_usage_error(run, "--list with --out -: the shards need files");
    if (*given) ulp_text_print(&base, "%s", given);
    else ulp_text_print(&base, "results/%s.csv", run->experiment->name);
    char *cut = ulp_path_replace(ulp_text_of(&base), ".csv", ".shard-");
    ulp_text_quote(&stem, cut);
    for (size_t k = 0; k < run->point_count; k++) {
        print_given(run);
        printf(" --quiet --shard %zu/%zu --out %s%zu-of-%zu.csv # %s\n", k, run->point_count, ulp_text_of(&stem), k,
               run->point_count, run->points[k].label);
    }
    printf("# then: ");
    print_given(run);
    if (*given) {
        ulp_text_free(&base);
        ulp_text_quote(&base, given);
        printf(" --out %s", ulp_text_of(&base));
    }
    printf(" --merge %s*-of-%zu.csv\n", ulp_text_of(&stem), run->point_count);
    free(cut);
    ulp_text_free(&base);
    ulp_text_free(&stem);
    return ULP_EXIT_FINE;
}

static int all_done(const ulp_run *run) {
    for (size_t k = 0; k < run->point_count; k++)
        if (!run->done[k] && ulp_run_mine(run, k)) return 0;
    return 1;
}

static int report_stop(ulp_run *run) {
    fprintf(stderr, "%s: stopped after %zu of %zu points; ", run->experiment->name, run->shared->finished,
            run->point_count);
    if (run->experiment->whole) ulp_csv_close(run);
    if (run->direct || run->experiment->whole) fprintf(stderr, "nothing was written\n");
    else fprintf(stderr, "they are kept in %s: the same command with --resume goes on\n", run->part);
    return ULP_EXIT_FAILED;
}

static int finish(ulp_run *run, const void *context) {
    int failed = 0;
    size_t rows = 0;
    run->wall_seconds = ulp_clock() - run->shared->started;
    int status = ulp_csv_write(run);
    if (status >= 0) return status;
    if (!run->shards) {
        ulp_rows_index(run);
        if (run->experiment->check) run->experiment->check(run, context);
        ulp_besides_print(run);
        failed = ulp_claims_print(run);
    }
    for (size_t k = 0; k < run->point_count; k++) rows += run->rows[k].count;
    status = ulp_record_write(run);
    ulp_csv_close(run);
    if (status >= 0) return status;
    if (!ulp_option_flag(run, "quiet"))
        fprintf(stderr, "%s: %zu points, %zu rows, %.1f s -> %s%s\n", run->experiment->name, run->shared->finished,
                rows, run->wall_seconds, run->out,
                run->shards ? " (claims are tested when the shards are merged)" : "");
    return failed ? ULP_EXIT_FAILED : ULP_EXIT_FINE;
}

static int compute_all(ulp_run *run, const void *context) {
    if (run->rank == 0) {
        int status = ulp_csv_open(run);
        if (status >= 0) {
            ulp_ranks_dismiss(run);
            return status;
        }
    }
    ulp_stop_on_signals();
    ulp_progress_start(run);
    if (run->merge_count && !all_done(run))
        fprintf(stderr, "%s: %zu of %zu points are in the files to merge; computing the rest\n", run->experiment->name,
                run->resumed, run->point_count);
    ulp_sweep(run, context);
    ulp_progress_show(run, 1);
    if (run->rank) return ULP_EXIT_FINE;
    if (run->shared->status != ULP_OK) {
        if (!run->shared->finished) ulp_csv_close(run);
        return report_failure(run, run->shared->status);
    }
    return all_done(run) ? finish(run, context) : report_stop(run);
}

static int execute(ulp_run *run, int argc, char **argv) {
    const ulp_experiment *experiment = run->experiment;
    void *context = NULL;
    int status = ulp_options_read(run, argc, argv);
    if (status < 0) status = ulp_settings_resolve(run);
    if (status >= 0) return status;
    if (experiment->whole && run->ranks > 1)
        return ulp_usage_error(
            run, "the numbers of this experiment belong to one run on one machine; run it without mpirun");
    ulp_threads_set((int)ulp_option_integer(run, "threads"));
    run->threads = ulp_threads_get();
    run->column_count = ulp_count_fields(experiment->columns, ',');
    ulp_settings_header(run);
    ulp_status prepared = experiment->prepare(run, &context);
    if (prepared == ULP_OK) {
        prepare_grid(run);
        if (ulp_option_flag(run, "list")) status = run->rank ? ULP_EXIT_FINE : list_points(run);
        else status = compute_all(run, context);
    } else {
        status = report_unprepared(run, prepared);
    }
    if (experiment->release) experiment->release(context);
    return status;
}

static void free_run(ulp_run *run) {
    for (size_t k = 0; run->rows && k < run->point_count; k++) ulp_text_free(&run->rows[k].text);
    for (size_t i = 0; i < run->beside_count; i++) {
        free(run->besides[i].what), free(run->besides[i].source);
        free(run->besides[i].published), free(run->besides[i].measured);
    }
    free(run->besides);
    for (size_t i = 0; i < run->claim_count; i++) free(run->claims[i].text), free(run->claims[i].measured);
    if (run->part_file) fclose(run->part_file);
    ulp_options_free(run);
    ulp_text_free(&run->header);
    ulp_text_free(&run->shared->failure);
    free(run->shared->share);
    void *owned[] = {run->formats, run->modes, run->datapaths, run->out,   run->part,  run->points,
                     run->rows,    run->done,  run->cells,     run->index, run->claims};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

int ulp_experiment_main(const ulp_experiment *experiment, int argc, char **argv) {
    ulp_shared shared = {.status = ULP_OK};
    ulp_run run = {.experiment = experiment, .shared = &shared};
    pthread_mutex_init(&shared.lock, NULL);
    ulp_ranks_start(&run, &argc, &argv);
    int status = execute(&run, argc, argv);
    free_run(&run);
    ulp_ranks_end(&run);
    pthread_mutex_destroy(&shared.lock);
    return status;
}

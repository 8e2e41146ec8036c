/* points.c - the points of a sweep: functions for their tasks, their steps (take, compute, finish), and the progress.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/cli/message.h"
#include "inside.h"

ulp_stream ulp_stream_named(uint64_t seed, const char *format, ...) {
    ulp_text name = {0};
    va_list arguments;
    va_start(arguments, format);
    ulp_text_print_list(&name, format, arguments);
    va_end(arguments);
    const ulp_stream stream = ulp_stream_of_text(seed, name.data, name.length);
    ulp_text_free(&name);
    return stream;
}

ulp_status ulp_task_fail(const ulp_task *task, ulp_status status, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    ulp_fail_shared(&task->sweep->failure, status, what, arguments);
    va_end(arguments);
    return status;
}

int ulp_sweep_complete(const ulp_sweep *s) {
    for (size_t k = 0; k < s->plan->count; k++)
        if (!s->work[k].done && ulp_sweep_mine(s, k)) return 0;
    return 1;
}

void ulp_sweep_begin(ulp_sweep *s, const char *head) {
    const size_t count = s->plan->count;
    s->head = ulp_copy_text(head);
    s->work = ulp_grow(NULL, count * sizeof *s->work);
    memset(s->work, 0, count * sizeof *s->work);
    for (size_t k = 0; k < count; k++)
        s->work[k].rows = (ulp_rows){.columns = s->columns, .label = s->plan->points[k].label};
}

void ulp_sweep_free(ulp_sweep *s) {
    for (size_t k = 0; s->work && k < s->plan->count; k++) {
        ulp_text_free(&s->work[k].rows.text);
        free(s->work[k].file);
        free(s->work[k].missing);
    }
    if (s->part_file) fclose(s->part_file);
    ulp_place_free(&s->place);
    free(s->work);
    free(s->head);
    free(s->part);
}

/* ---- progress ---- */

static double cost_done(const ulp_sweep *s) {
    double done = 0;
    for (size_t k = 0; k < s->plan->count; k++)
        if (ulp_sweep_mine(s, k)) done += s->work[k].share * s->plan->points[k].cost;
    return done;
}

void ulp_sweep_started(ulp_sweep *s) {
    s->started = ulp_clock();
    for (size_t k = 0; k < s->plan->count; k++) {
        s->work[k].share = s->work[k].done;
        if (!ulp_sweep_mine(s, k)) continue;
        s->cost_total += s->plan->points[k].cost;
        s->finished += s->work[k].done != 0;
    }
    s->progress =
        ulp_progress_start(s->quiet ? NULL : s->program, s->cost_total > 0 ? cost_done(s) / s->cost_total : 0);
}

static void show_progress(ulp_sweep *s) {
    char detail[40];
    snprintf(detail, sizeof detail, "%zu point%s", s->finished, ulp_plural(s->finished));
    ulp_progress_show(&s->progress, s->cost_total > 0 ? cost_done(s) / s->cost_total : 1, detail);
}

int ulp_task_progress(const ulp_task *task, double share) {
    ulp_sweep *s = task->sweep;
    ulp_work *work = &s->work[task->index];
    pthread_mutex_lock(&s->lock);
    work->share = share < 0 ? 0 : share > 1 ? 1 : share;
    show_progress(s);
    const int stop = ulp_stopping() || s->status != ULP_OK;
    if (s->agree ? s->agree(stop) : stop) work->cut = 1;
    const int cut = work->cut;
    pthread_mutex_unlock(&s->lock);
    return cut;
}

/* ---- points ---- */

size_t ulp_sweep_take(ulp_sweep *s, size_t *next) {
    const size_t count = s->plan->count;
    if (ulp_stopping() || s->status != ULP_OK) return count;
    while (*next < count && (s->work[*next].done || !ulp_sweep_mine(s, *next))) ++*next;
    return *next < count ? (*next)++ : count;
}

ulp_status ulp_sweep_compute(ulp_sweep *s, size_t k) {
    const ulp_task task = {.settings = s->plan->settings,
                           .context = s->plan->context,
                           .point = s->plan->points[k].point,
                           .label = s->plan->points[k].label,
                           .rows = &s->work[k].rows,
                           .file = s->work[k].file,
                           .resumed = s->resume,
                           .sweep = s,
                           .ranks = s->together,
                           .index = k};
    const ulp_status status = s->compute(&task);
    return s->work[k].cut ? ULP_OK : status;
}

/* Takes a point without rows out of the sweep, and says why. The sweep ends if the device is lost. */
static void miss_point(ulp_sweep *s, size_t k, ulp_status status) {
    const int lacks = status == ULP_UNSUPPORTED;
    const char *why = s->failure.error.text[0] ? s->failure.error.text : ulp_status_text(status);
    ulp_work *work = &s->work[k];
    ulp_text line = {0};
    ulp_text_print(&line, "%s: %s: %s", lacks ? "left out" : "failed", s->plan->points[k].label, why);
    for (char *c = line.data; *c; c++)
        if (*c == '\n') *c = ' ';
    ulp_progress_clear(&s->progress);
    ulp_complain(s->program, "%s", line.data);
    ulp_error_clear(&s->failure.error);
    ulp_text_free(&work->rows.text);
    work->rows.count = 0;
    work->missing = line.data;
    *(lacks ? &s->left_out : &s->failed) += 1;
    if (status != ULP_NO_DEVICE) return;
    s->status = ulp_fail(&s->failure.error, ULP_DEVICE_FAILED, "the device is lost");
}

void ulp_sweep_finish(ulp_sweep *s, size_t k, ulp_status status, const char *failure) {
    ulp_work *work = &s->work[k];
    ulp_error error;
    if (work->cut) return;
    if (status != ULP_OK && s->goes_on) {
        miss_point(s, k, status);
        status = ULP_OK;
    }
    if (status != ULP_OK) {
        if (s->status == ULP_OK && failure && *failure) ulp_fail_default(&s->failure.error, status, "%s", failure);
        if (s->status == ULP_OK) s->status = status;
        return;
    }
    work->done = 1;
    work->share = 1;
    s->finished += !work->missing;
    if (ulp_keep_point(s, k, &error) != ULP_OK) {
        ulp_complain_of(s->program, &error);
        if (s->status == ULP_OK)
            s->status = ulp_fail(&s->failure.error, ULP_BAD_FILE, "stopped at point '%s'", s->plan->points[k].label);
    }
    if (s->status == ULP_OK) ulp_keep_forget(s, k);
    show_progress(s);
}

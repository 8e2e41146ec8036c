/* points.c - the points of a sweep: which points this run computes, and functions for their tasks; see sweep.h. */
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

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

int ulp_sweep_mine(const ulp_sweep *s, size_t point) { return !s->shards || point % s->shards == s->shard; }

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

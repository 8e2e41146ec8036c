/* plan.c - building the plan of a run; see plan.h. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ulp_plan_add(ulp_plan *plan, const void *point, double cost, const char *label, ...) {
    ulp_text text = {0};
    va_list arguments;
    va_start(arguments, label);
    ulp_text_print_list(&text, label, arguments);
    va_end(arguments);
    void *copy = ulp_grow(NULL, plan->point_size);
    memcpy(copy, point, plan->point_size);
    plan->points = ulp_room_for(plan->points, plan->count, &plan->room, sizeof *plan->points);
    plan->points[plan->count++] = (ulp_planned){copy, cost > 0 ? cost : 1, text.data};
}

void ulp_plan_note(ulp_plan *plan, const char *key, const char *value, ...) {
    va_list arguments;
    ulp_text_print(&plan->header, "# %s: ", key);
    va_start(arguments, value);
    ulp_text_print_list(&plan->header, value, arguments);
    va_end(arguments);
    ulp_text_add(&plan->header, "\n", 1);
}

ulp_status ulp_fail_shared(ulp_failure *failure, ulp_status status, const char *what, va_list arguments) {
    pthread_mutex_lock(&failure->lock);
    if (failure->error.status == ULP_OK) ulp_refuse_list(&failure->error, status, what, arguments);
    pthread_mutex_unlock(&failure->lock);
    return status;
}

ulp_status ulp_plan_fail(const ulp_plan *plan, ulp_status status, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    ulp_fail_shared(plan->failure, status, what, arguments);
    va_end(arguments);
    return status;
}

static int compare_labels(const void *a, const void *b) {
    return strcmp((*(const ulp_planned *const *)a)->label, (*(const ulp_planned *const *)b)->label);
}

void ulp_plan_check(const ulp_plan *plan) {
    const ulp_planned **sorted = ulp_grow(NULL, plan->count * sizeof *sorted);
    for (size_t k = 0; k < plan->count; k++) sorted[k] = &plan->points[k];
    qsort(sorted, plan->count, sizeof *sorted, compare_labels);
    for (size_t k = 1; k < plan->count; k++) {
        if (strcmp(sorted[k]->label, sorted[k - 1]->label) != 0) continue;
        fprintf(stderr, "internal error: two points '%s'\n", sorted[k]->label);
        abort();
    }
    free(sorted);
}

void ulp_plan_free(ulp_plan *plan) {
    for (size_t k = 0; k < plan->count; k++) {
        free(plan->points[k].point);
        free(plan->points[k].label);
    }
    if (plan->report.release) plan->report.release(plan->report.own);
    free(plan->points);
    ulp_text_free(&plan->header);
}

/* profile.c - times of trainings by network, policy, layer and operation: adding, printing, writing; see profile.h. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/harness/claims/sheet.h"

enum { PRINTED = 3 }; /* tables on the screen; the file has all of them */

/* The times of all trainings with one network and one policy. */
typedef struct times {
    char *net, *policy; /* words of the layers with blanks; canonical text */
    char **word;        /* [layers] */
    size_t layers;
    uint64_t steps, trainings;
    double (*seconds)[ULP_TIME_COUNT]; /* [layers + ULP_TIME_ENDS] */
} times;

typedef struct report {
    times *at; /* (count) */
    size_t count;
} report;

static const char *row_name(const times *t, size_t row) {
    return row < t->layers ? t->word[row] : ulp_profile_end_name((int)(row - t->layers));
}

/* The microseconds per step of an operation; the rest for ULP_TIME_ALL if `rest`. */
static double microseconds(const times *t, size_t row, int operation, int rest) {
    double s = t->seconds[row][operation];
    for (int i = 0; i < ULP_TIME_ALL && rest; i++) s -= t->seconds[row][i];
    return 1e6 * s / (double)(t->steps ? t->steps : 1);
}

/* ---- printing ---- */

static void print_times(const times *t, FILE *screen) {
    ulp_text title = {0}, columns = {0};
    int used[ULP_TIME_COUNT] = {0};
    double total = 0;
    for (size_t row = 0; row < t->layers + ULP_TIME_ENDS; row++)
        for (int i = 0; i < ULP_TIME_ALL; i++) used[i] |= t->seconds[row][i] > 0;
    for (size_t row = 0; row < t->layers + ULP_TIME_ENDS; row++) total += microseconds(t, row, ULP_TIME_ALL, 0);
    ulp_text_print(&title, "microseconds per step (%llu steps of %llu training%s): %s; %s",
                   (unsigned long long)t->steps, (unsigned long long)t->trainings, ulp_plural((size_t)t->trainings),
                   t->net, t->policy);
    ulp_text_print(&columns, "no.,layer,all,share");
    for (int i = 0; i < ULP_TIME_ALL; i++)
        if (used[i]) ulp_text_print(&columns, ",%s", ulp_profile_operation(i));
    ulp_text_print(&columns, ",rest");
    ulp_sheet *sheet = ulp_sheet_new(ulp_text_of(&title), ulp_text_of(&columns));
    for (size_t row = 0; row < t->layers + ULP_TIME_ENDS; row++) {
        const double all = microseconds(t, row, ULP_TIME_ALL, 0);
        if (row < t->layers) ulp_sheet_put(sheet, "%zu", row);
        else ulp_sheet_put(sheet, "%s", "");
        ulp_sheet_put(sheet, "%s", row_name(t, row));
        ulp_sheet_put(sheet, "%.1f", all);
        ulp_sheet_put(sheet, "%.1f %%", total > 0 ? 100 * all / total : 0);
        for (int i = 0; i < ULP_TIME_ALL; i++)
            if (used[i]) ulp_sheet_put(sheet, "%.1f", microseconds(t, row, i, 0));
        ulp_sheet_put(sheet, "%.1f", microseconds(t, row, ULP_TIME_ALL, 1));
    }
    ulp_sheet_print(sheet, screen);
    ulp_text_free(&title);
    ulp_text_free(&columns);
}

static void print(const void *own, FILE *screen) {
    const report *r = own;
    for (size_t i = 0; i < r->count && i < PRINTED; i++) print_times(&r->at[i], screen);
    if (r->count > PRINTED)
        fprintf(screen, "and %zu more pairs of network and policy in the file .profile.csv\n", r->count - PRINTED);
}

static void write_all(FILE *file, const void *own) {
    const report *r = own;
    fprintf(file, "net,policy,trainings,steps,number,layer,operation,seconds\n");
    for (size_t k = 0; k < r->count; k++)
        for (size_t row = 0; row < r->at[k].layers + ULP_TIME_ENDS; row++)
            for (int i = 0; i < ULP_TIME_COUNT; i++) {
                const times *t = &r->at[k];
                fprintf(file, "%s,\"%s\",%llu,%llu,", t->net, t->policy, (unsigned long long)t->trainings,
                        (unsigned long long)t->steps);
                if (row < t->layers) fprintf(file, "%zu", row);
                fprintf(file, ",%s,%s,%.9g\n", row_name(t, row), ulp_profile_operation(i), t->seconds[row][i]);
            }
}

static void release(void *own) {
    report *r = own;
    for (size_t k = 0; k < r->count; k++) {
        times *t = &r->at[k];
        for (size_t i = 0; i < t->layers; i++) free(t->word[i]);
        free(t->word);
        free(t->net);
        free(t->policy);
        free(t->seconds);
    }
    free(r->at);
    free(r);
}

void ulp_profile_plan(ulp_plan *plan) {
    if (!ulp_setting_given(plan->arguments, "profile") || plan->report.own) return;
    plan->report = (ulp_plan_report){.ending = ".profile.csv", .print = print, .write = write_all, .release = release};
    plan->report.own = ulp_grow(NULL, sizeof(report));
    *(report *)plan->report.own = (report){0};
}

/* ---- adding ---- */

/* The times for a network and a policy, zero at first. */
static times *times_of(report *r, const ulp_net *net, const char *policy) {
    ulp_text words = {0};
    for (size_t i = 0; i < net->count; i++) ulp_text_print(&words, "%s%s", i ? " " : "", net->layers[i].word);
    for (size_t k = 0; k < r->count; k++)
        if (strcmp(r->at[k].net, ulp_text_of(&words)) == 0 && strcmp(r->at[k].policy, policy) == 0) {
            ulp_text_free(&words);
            return &r->at[k];
        }
    r->at = ulp_grow(r->at, (r->count + 1) * sizeof *r->at);
    times *t = &r->at[r->count++];
    *t = (times){.net = ulp_copy_text(ulp_text_of(&words)), .policy = ulp_copy_text(policy), .layers = net->count};
    t->word = ulp_grow(NULL, (net->count + 1) * sizeof *t->word);
    for (size_t i = 0; i < net->count; i++) t->word[i] = ulp_copy_text(net->layers[i].word);
    t->seconds = ulp_grow(NULL, (net->count + ULP_TIME_ENDS) * sizeof *t->seconds);
    memset(t->seconds, 0, (net->count + ULP_TIME_ENDS) * sizeof *t->seconds);
    ulp_text_free(&words);
    return t;
}

ulp_status ulp_training_open(ulp_trainer **trainer, const ulp_task *task, const ulp_data *data,
                             const ulp_train_options *options) {
    ulp_error error;
    ulp_train_options o = *options;
    *trainer = NULL;
    if (task->sweep->plan->report.own) {
        if (o.backend && strcmp(o.backend->name, "cpu") != 0)
            return ulp_task_fail(task, ULP_BAD_ARGUMENT,
                                 "--profile with the backend %s: operations there end later than they return; it takes "
                                 "--backend cpu",
                                 o.backend->name);
        o.clock = ulp_profile_clock(task);
    }
    const ulp_status status = ulp_trainer_new(trainer, data, &o, &error);
    return status == ULP_OK ? ULP_OK : ulp_task_fail(task, status, "%s", error.text);
}

double (*ulp_profile_clock(const ulp_task *task))(void) { return task->sweep->plan->report.own ? ulp_clock : NULL; }

void ulp_profile_add(const ulp_task *task, const ulp_net *net, const ulp_policy *policy, const ulp_profile *profile) {
    char text[ULP_POLICY_TEXT_MAX];
    report *r = task->sweep->plan->report.own;
    if (!r || !profile->seconds || ulp_policy_print(text, sizeof text, policy) != ULP_OK) return;
    pthread_mutex_lock(&task->sweep->lock);
    times *to = times_of(r, net, text);
    to->steps += profile->steps;
    to->trainings++;
    for (size_t row = 0; row < to->layers + ULP_TIME_ENDS; row++)
        for (int i = 0; i < ULP_TIME_COUNT; i++) to->seconds[row][i] += profile->seconds[row][i];
    pthread_mutex_unlock(&task->sweep->lock);
}

void ulp_training_close(const ulp_task *task, ulp_trainer *t) {
    if (t) ulp_profile_add(task, &t->model.net, t->policy, &t->profile);
    ulp_trainer_free(t);
}

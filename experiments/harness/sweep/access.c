/* access.c - what an experiment asks of its run: option values, lists, streams, points, header lines. */
#include "experiments/harness/run.h"

#include <stdlib.h>
#include <string.h>

static const ulp_setting *setting_of(const ulp_run *run, const char *name, ulp_option_type type,
                                     ulp_option_type other) {
    const ulp_setting *setting = ulp_setting_find(run, name);
    if (setting && (setting->option->type == type || setting->option->type == other)) return setting;
    fprintf(stderr, "%s: internal error: no option --%s of that type\n", run->experiment->name, name);
    abort();
}

int ulp_option_flag(const ulp_run *run, const char *name) {
    return setting_of(run, name, ULP_OPTION_FLAG, ULP_OPTION_FLAG)->given;
}

int64_t ulp_option_integer(const ulp_run *run, const char *name) {
    return setting_of(run, name, ULP_OPTION_INTEGER, ULP_OPTION_INTEGER)->integer;
}

double ulp_option_number(const ulp_run *run, const char *name) {
    return setting_of(run, name, ULP_OPTION_NUMBER, ULP_OPTION_INTEGER)->number;
}

const char *ulp_option_text(const ulp_run *run, const char *name) {
    const ulp_setting *setting = ulp_setting_find(run, name);
    return setting ? setting->value : setting_of(run, name, ULP_OPTION_TEXT, ULP_OPTION_TEXT)->value;
}

const double *ulp_option_numbers(const ulp_run *run, const char *name, size_t *count) {
    const ulp_setting *setting = setting_of(run, name, ULP_OPTION_NUMBERS, ULP_OPTION_INTEGERS);
    *count = setting->number_count;
    return setting->numbers;
}

int ulp_option_chosen(const ulp_run *run, const char *name, const char *word) {
    const ulp_setting *setting = setting_of(run, name, ULP_OPTION_CHOICES, ULP_OPTION_CHOICE);
    size_t length = strlen(word);
    if (setting->option->type == ULP_OPTION_CHOICES && strcmp(setting->value, "all") == 0) return 1;
    for (const char *at = setting->value; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strcspn(at, ",") == length && memcmp(at, word, length) == 0) return 1;
    }
    return 0;
}

const ulp_format *ulp_run_formats(const ulp_run *run, size_t *count) {
    return *count = run->format_count, run->formats;
}
int ulp_format_within_binary32(const ulp_format *f) { return f->fits_binary32; }
int ulp_format_with_sign(const ulp_format *f) { return f->fits_binary32 && f->is_signed && f->has_zero; }
const ulp_named_rule *ulp_run_modes(const ulp_run *run, size_t *count) { return *count = run->mode_count, run->modes; }
const ulp_datapath *ulp_run_datapaths(const ulp_run *run, size_t *count) {
    return *count = run->datapath_count, run->datapaths;
}
uint64_t ulp_run_seed(const ulp_run *run) { return (uint64_t)ulp_option_integer(run, "seed"); }
const ulp_backend *ulp_run_backend(const ulp_run *run) { return run->backend; }

const char *ulp_run_data(const ulp_run *run) { return ulp_option_text(run, "data"); }

ulp_stream ulp_stream_named(uint64_t seed, const char *format, ...) {
    ulp_text name = {0};
    va_list arguments;
    va_start(arguments, format);
    ulp_text_print_list(&name, format, arguments);
    va_end(arguments);
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, 64 bits: offset basis and prime */
    for (size_t i = 0; i < name.length; i++) hash = (hash ^ (unsigned char)name.data[i]) * 0x100000001b3u;
    ulp_text_free(&name);
    return (ulp_stream){seed, hash, 0};
}

void ulp_point_add(ulp_run *run, ulp_point point, const char *label, ...) {
    va_list arguments;
    va_start(arguments, label);
    vsnprintf(point.label, sizeof point.label, label, arguments);
    va_end(arguments);
    point.index = run->point_count;
    run->points = ulp_room_for(run->points, run->point_count, &run->point_room, sizeof *run->points);
    run->points[run->point_count++] = point;
}

void ulp_header_add(ulp_run *run, const char *key, const char *value, ...) {
    va_list arguments;
    ulp_text_print(&run->header, "# %s: ", key);
    va_start(arguments, value);
    ulp_text_print_list(&run->header, value, arguments);
    va_end(arguments);
    ulp_text_add(&run->header, "\n", 1);
}

ulp_status ulp_run_fail(const ulp_run *run, ulp_status status, const char *what, ...) {
    ulp_shared *shared = run->shared;
    va_list arguments;
    pthread_mutex_lock(&shared->lock);
    if (!shared->failure.length) {
        va_start(arguments, what);
        ulp_text_print_list(&shared->failure, what, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&shared->lock);
    return status;
}

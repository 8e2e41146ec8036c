/* named.c - experiments that ask for options, rows and cells by name, on experiment.h; see harness.h. */
#include "harness.h"

#undef ulp_experiment
#undef ulp_experiment_main

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ulp_named_run {
    const ulp_named_experiment *experiment;
    ulp_experiment made;
    ulp_option *options;
    ulp_column *columns;
    char *names;
    size_t column_count;
    const char *settings;
    void *context;
    ulp_plan *plan;
    ulp_claims *claims;
};

static ulp_named_run the_run;
static _Thread_local const ulp_task *the_task;
static _Thread_local size_t the_cell;

static _Noreturn void stop_for_bug(const char *what, const char *which) {
    fprintf(stderr, "%s: internal error: %s: %s\n", the_run.experiment->name, what, which);
    abort();
}

static const ulp_option *option_of(const ulp_named_run *run, const char *name) {
    for (const ulp_option *o = run->options; o->name; o++)
        if (strcmp(o->name, name) == 0) return o;
    stop_for_bug("no option", name);
}

static const void *field_of(const ulp_named_run *run, const char *name, const ulp_option_type *a,
                            const ulp_option_type *b) {
    const ulp_option *o = option_of(run, name);
    if (o->type != a && o->type != b) stop_for_bug("option of another type", name);
    return run->settings + o->at;
}

static const void *list_of(const ulp_named_run *run, const ulp_option_type *type) {
    static const ulp_format_list none = {NULL, 0};
    for (const ulp_option *o = run->options; o->name; o++)
        if (o->type == type) return run->settings + o->at;
    return &none;
}

int ulp_option_flag(const ulp_named_run *run, const char *name) {
    if (ulp_word_index("quick full list quiet", name) >= 0) return ulp_setting_given(run->plan->arguments, name);
    return *(const int *)field_of(run, name, &ulp_type_flag, NULL);
}
int64_t ulp_option_integer(const ulp_named_run *run, const char *name) {
    return *(const int64_t *)field_of(run, name, &ulp_type_integer, NULL);
}
double ulp_option_number(const ulp_named_run *run, const char *name) {
    const ulp_option *o = option_of(run, name);
    if (o->type == &ulp_type_integer) return (double)ulp_option_integer(run, name);
    return *(const double *)field_of(run, name, &ulp_type_number, NULL);
}

/* The text of any option as header lines have it. */
const char *ulp_option_text(const ulp_named_run *run, const char *name) {
    static _Thread_local ulp_text texts[8];
    static _Thread_local int next;
    const ulp_option *o = option_of(run, name);
    if (o->type == &ulp_type_text) return *(const char *const *)(const void *)(run->settings + o->at);
    ulp_text *text = &texts[next++ % 8];
    ulp_text_free(text);
    o->type->print(text, run->settings + o->at, o);
    return ulp_text_of(text);
}

const ulp_format *ulp_run_formats(const ulp_named_run *run, size_t *count) {
    const ulp_format_list *list = list_of(run, &ulp_type_formats);
    return *count = list->count, list->at;
}
const ulp_named_rule *ulp_run_modes(const ulp_named_run *run, size_t *count) {
    const ulp_rule_list *list = list_of(run, &ulp_type_modes);
    return *count = list->count, list->at;
}
const ulp_datapath *ulp_run_datapaths(const ulp_named_run *run, size_t *count) {
    const ulp_datapath_list *list = list_of(run, &ulp_type_datapaths);
    return *count = list->count, list->at;
}

const double *ulp_option_numbers(const ulp_named_run *run, const char *name, size_t *count) {
    static _Thread_local double *kept[4];
    static _Thread_local int next;
    if (option_of(run, name)->type == &ulp_type_numbers) {
        const ulp_number_list *list = field_of(run, name, &ulp_type_numbers, NULL);
        return *count = list->count, list->at;
    }
    const ulp_integer_list *list = field_of(run, name, &ulp_type_integers, NULL);
    double **to = &kept[next++ % 4];
    *to = ulp_grow(*to, list->count * sizeof **to);
    for (size_t i = 0; i < list->count; i++) (*to)[i] = (double)list->at[i];
    return *count = list->count, *to;
}

int ulp_option_chosen(const ulp_named_run *run, const char *name, const char *word) {
    const ulp_option *o = option_of(run, name);
    const int index = ulp_word_index(o->words, word);
    if (o->type == &ulp_type_choice) return *(const int *)field_of(run, name, &ulp_type_choice, NULL) == index;
    return index >= 0 && (*(const uint64_t *)field_of(run, name, &ulp_type_choices, NULL) >> index & 1);
}

uint64_t ulp_run_seed(const ulp_named_run *run) { return (uint64_t)ulp_option_integer(run, "seed"); }

const ulp_backend *ulp_run_backend(const ulp_named_run *run) {
    const ulp_backend *backend = NULL;
    for (const ulp_option *o = run->options; o->name; o++)
        if (o->type == &ulp_type_backend) backend = *(const ulp_backend *const *)(const void *)(run->settings + o->at);
    if (!backend) ulp_backend_get(&backend, NULL);
    return backend;
}

const char *ulp_run_data(const ulp_named_run *run) { return ulp_option_text(run, "data"); }

int ulp_run_has_format(const ulp_named_run *run, const char *name) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    for (size_t f = 0; f < formats; f++)
        if (strcmp(format[f].name, name) == 0) return 1;
    return 0;
}

/* ---- plan ---- */

void ulp_point_add(ulp_named_run *run, ulp_point point, const char *label, ...) {
    va_list arguments;
    va_start(arguments, label);
    vsnprintf(point.label, sizeof point.label, label, arguments);
    va_end(arguments);
    point.index = run->plan->count;
    ulp_plan_add(run->plan, &point, point.cost, "%s", point.label);
}

void ulp_header_add(ulp_named_run *run, const char *key, const char *value, ...) {
    ulp_text text = {0};
    va_list arguments;
    va_start(arguments, value);
    ulp_text_print_list(&text, value, arguments);
    va_end(arguments);
    ulp_plan_note(run->plan, key, "%s", ulp_text_of(&text));
    ulp_text_free(&text);
}

ulp_status ulp_run_fail(const ulp_named_run *run, ulp_status status, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    ulp_fail_with(run->plan->failure, status, what, arguments);
    va_end(arguments);
    return status;
}

/* ---- rows ---- */

static void put_cell(ulp_rows *rows, const char *cell) {
    if (the_cell == the_run.column_count) stop_for_bug("more cells than columns", rows->label);
    if (the_cell++) ulp_text_add(&rows->text, ",", 1);
    ulp_text_add(&rows->text, cell, strlen(cell));
}

void ulp_put_text(ulp_rows *rows, const char *text) {
    if (strpbrk(text, ",\"\r\n#")) stop_for_bug("a cell with a comma, quote, # or line break", text);
    put_cell(rows, text);
}

void ulp_put_number(ulp_rows *rows, double value) {
    char cell[40];
    if (isnan(value)) snprintf(cell, sizeof cell, "nan");
    else snprintf(cell, sizeof cell, "%.17g", value);
    put_cell(rows, cell);
}

void ulp_put_integer(ulp_rows *rows, int64_t value) {
    char cell[24];
    snprintf(cell, sizeof cell, "%lld", (long long)value);
    put_cell(rows, cell);
}

void ulp_put_code(ulp_rows *rows, double value, const ulp_format *f) {
    char cell[24] = "";
    uint64_t code = 0;
    if (ulp_encode(&code, value, f) == ULP_OK)
        snprintf(cell, sizeof cell, "%0*llx", (f->bits + 3) / 4, (unsigned long long)code);
    put_cell(rows, cell);
}

void ulp_put_none(ulp_rows *rows) { put_cell(rows, ""); }

void ulp_put_nones(ulp_rows *rows, int cells) {
    for (int i = 0; i < cells; i++) ulp_put_none(rows);
}

void ulp_row_end(ulp_rows *rows) {
    if (the_cell != the_run.column_count) stop_for_bug("fewer cells than columns", rows->label);
    ulp_text_add(&rows->text, "\n", 1);
    the_cell = 0;
    rows->count++;
}

const ulp_task *ulp_rows_task(const ulp_rows *rows) {
    (void)rows;
    return the_task;
}

int ulp_rows_progress(ulp_rows *rows, double share) { return ulp_task_progress(ulp_rows_task(rows), share); }

/* ---- reading ---- */

long ulp_row_count(const ulp_named_run *run) { return (long)run->claims->table->count; }

static size_t column_of(const ulp_named_run *run, const char *name) {
    for (size_t i = 0; i < run->column_count; i++)
        if (strcmp(run->columns[i].name, name) == 0) return i;
    stop_for_bug("no such column", name);
}

static const char *cell_at(const ulp_named_run *run, long row, size_t column) {
    if (row < 0 || row >= ulp_row_count(run)) stop_for_bug("no such row, column", run->columns[column].name);
    const char *text = ((const char *const *)run->claims->table->rows)[(size_t)row * run->column_count + column];
    return text ? text : "";
}

const char *ulp_row_text(const ulp_named_run *run, long row, const char *column) {
    return cell_at(run, row, column_of(run, column));
}

double ulp_row_number(const ulp_named_run *run, long row, const char *column) {
    const char *text = ulp_row_text(run, row, column);
    return *text ? strtod(text, NULL) : (double)NAN;
}

int ulp_row_is(const ulp_named_run *run, long row, const char *column, const char *text) {
    return strcmp(ulp_row_text(run, row, column), text) == 0;
}

typedef struct conditions {
    size_t column[16], count;
    const char *wanted[16];
} conditions;

static conditions read_conditions(const ulp_named_run *run, va_list arguments) {
    conditions c = {.count = 0};
    const char *name;
    while ((name = va_arg(arguments, const char *)) != NULL) {
        if (c.count == 16) stop_for_bug("more conditions than a search takes", name);
        c.column[c.count] = column_of(run, name);
        c.wanted[c.count++] = va_arg(arguments, const char *);
    }
    return c;
}

static long find_row(const ulp_named_run *run, long from, const conditions *c) {
    for (long row = from; row < ulp_row_count(run); row++) {
        size_t i = 0;
        while (i < c->count && strcmp(cell_at(run, row, c->column[i]), c->wanted[i]) == 0) i++;
        if (i == c->count) return row;
    }
    return ULP_NO_ROW;
}

long ulp_row_find(const ulp_named_run *run, long from, ...) {
    va_list arguments;
    va_start(arguments, from);
    conditions c = read_conditions(run, arguments);
    va_end(arguments);
    return find_row(run, from, &c);
}

ulp_spread ulp_row_spread(const ulp_named_run *run, const char *column, ...) {
    ulp_numbers values = {0};
    va_list arguments;
    va_start(arguments, column);
    conditions c = read_conditions(run, arguments);
    va_end(arguments);
    for (long row = 0; (row = find_row(run, row, &c)) != ULP_NO_ROW; row++)
        ulp_numbers_add(&values, ulp_row_number(run, row, column));
    return ulp_numbers_take(&values);
}

ulp_plan *ulp_run_plan(const ulp_named_run *run) { return run->plan; }
ulp_claims *ulp_run_claims(const ulp_named_run *run) { return run->claims; }
FILE *ulp_run_people(const ulp_named_run *run) { return run->claims->file; }

void ulp_put_quantiles(ulp_rows *rows, const ulp_distribution *d) {
    for (int q = 0; q < ULP_QUANTILES; q++) ulp_put_number(rows, d->quantile[q]);
}

void ulp_put_spread(ulp_rows *rows, const float *value, size_t n) {
    double *copy = ulp_grow(NULL, n * sizeof *copy);
    for (size_t i = 0; i < n; i++) copy[i] = (double)value[i];
    const ulp_distribution d = ulp_distribution_of(copy, n);
    free(copy);
    ulp_put_number(rows, d.mean);
    ulp_put_number(rows, d.sd);
    ulp_put_quantiles(rows, &d);
}

void ulp_put_no_spread(ulp_rows *rows) { ulp_put_nones(rows, ULP_SPREAD_CELLS); }

/* ---- the experiment as experiment.h has it ---- */

static ulp_status plan(ulp_plan *to, const void *settings, void *context) {
    the_run.settings = settings;
    the_run.plan = to;
    the_run.context = context;
    return the_run.experiment->prepare(&the_run, context);
}

static ulp_status compute(const ulp_task *task) {
    the_task = task;
    the_cell = 0;
    return the_run.experiment->compute(&the_run, *(void *const *)the_run.context, task->point, task->rows);
}

static void judge(ulp_claims *claims) {
    the_run.claims = claims;
    if (the_run.experiment->check) the_run.experiment->check(&the_run, *(void *const *)the_run.context);
}

static void release(void *context) {
    if (the_run.experiment->release) the_run.experiment->release(*(void **)context);
}

/* Options get places one behind the other in a struct that only this file knows. */
static size_t place_options(const ulp_named_experiment *e) {
    size_t count = 0, at = 0;
    while (e->options && e->options[count].name) count++;
    the_run.options = ulp_grow(NULL, (count + 1) * sizeof *the_run.options);
    memset(the_run.options, 0, (count + 1) * sizeof *the_run.options);
    for (size_t i = 0; i < count; i++) {
        ulp_option *o = &the_run.options[i];
        *o = e->options[i];
        o->at = at;
        o->size = o->type->size;
        if (o->type == &ulp_type_formats) o->takes = e->takes_format, o->wants = e->format_wants;
        if (strcmp(o->name, "data") == 0) o->value_name = "DIR";
        at += (o->size + 15) / 16 * 16;
    }
    return at;
}

static void name_columns(const char *columns) {
    the_run.names = ulp_copy_text(columns);
    the_run.column_count = ulp_count_fields(columns, ',');
    the_run.columns = ulp_grow(NULL, (the_run.column_count + 1) * sizeof *the_run.columns);
    char *at = the_run.names;
    for (size_t i = 0; i < the_run.column_count; i++) {
        the_run.columns[i] = (ulp_column){.name = at, .type = ULP_CELL_TEXT, .at = i * sizeof(char *)};
        at += strcspn(at, ",");
        if (*at) *at++ = '\0';
    }
    the_run.columns[the_run.column_count] = (ulp_column){0};
}

int ulp_named_experiment_main(const ulp_named_experiment *e, int argc, char **argv) {
    the_run.experiment = e;
    const size_t settings = place_options(e);
    name_columns(e->columns);
    the_run.made = (ulp_experiment){.name = e->name,
                                    .question = e->question,
                                    .options = the_run.options,
                                    .settings_size = settings,
                                    .point_size = sizeof(ulp_point),
                                    .row_size = the_run.column_count * sizeof(char *),
                                    .context_size = sizeof(void *),
                                    .columns = the_run.columns,
                                    .threads_inside = e->threads_inside,
                                    .whole = e->whole,
                                    .plan = plan,
                                    .compute = compute,
                                    .judge = judge,
                                    .release = release};
    const int status = ulp_experiment_main(&the_run.made, argc, argv);
    free(the_run.options);
    free(the_run.columns);
    free(the_run.names);
    return status;
}

/* options.c - reading a command line into the fields of structs; see options.h.
 *
 * First argv is split into settings and words; then the text of each setting is read into its field. `--name value` and
 * `--name=value` mean the same. An option that is given twice is refused.
 */
#include "options.h"
#include "types.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void add_settings(ulp_arguments *a, const ulp_option_group *group) {
    for (const ulp_option *o = group->options; o && o->name; o++) {
        a->settings = ulp_grow(a->settings, (a->count + 1) * sizeof *a->settings);
        a->settings[a->count++] = (ulp_setting){.option = o, .field = (char *)group->fields + o->at};
        if (o->size == o->type->size) continue;
        ulp_complain(a->command->name, "bug: the field of --%s is of another type", o->name);
        abort();
    }
}

static ulp_setting *find(const ulp_arguments *a, const char *name, size_t length) {
    for (size_t i = 0; i < a->count; i++) {
        const char *known = a->settings[i].option->name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) return &a->settings[i];
    }
    return NULL;
}

const ulp_setting *ulp_setting_find(const ulp_arguments *a, const char *name) { return find(a, name, strlen(name)); }

int ulp_setting_given(const ulp_arguments *a, const char *name) {
    const ulp_setting *s = ulp_setting_find(a, name);
    return s && s->given;
}

const char *ulp_option_default(const ulp_option *option, ulp_preset preset) {
    if (preset == ULP_PRESET_QUICK && option->quick) return option->quick;
    if (preset == ULP_PRESET_FULL && option->full) return option->full;
    return option->value;
}

static ulp_status unknown_option(const ulp_arguments *a, const char *argument, ulp_error *error) {
    static const char always[] = "help version"; /* options that no table lists */
    const char *name = argument + strspn(argument, "-");
    const int length = (int)strcspn(name, "=");
    ulp_text given = {0}, known = {0};
    for (size_t i = 0; a->command->elsewhere && a->command->elsewhere[i][0]; i++) {
        const char *other = a->command->elsewhere[i][0];
        if ((int)strlen(other) == length && strncmp(other, name, (size_t)length) == 0)
            return ulp_refuse(error, "--%s %s", other, a->command->elsewhere[i][1]);
    }
    ulp_text_print(&given, "%.*s", length, name);
    for (size_t i = 0; i < a->count; i++) ulp_text_print(&known, "%s ", a->settings[i].option->name);
    ulp_text_print(&known, "%s", always);
    if (name[length] && ulp_list_has(always, ulp_text_of(&given)))
        ulp_refuse(error, "--%s takes no value", ulp_text_of(&given));
    else
        ulp_refuse(error, "no option %.*s%s (--help lists the options)", (int)strcspn(argument, "="), argument,
                   ulp_guess_of(ulp_text_of(&given), ulp_text_of(&known), 1, "--", "").text);
    ulp_text_free(&given);
    ulp_text_free(&known);
    return ULP_BAD_ARGUMENT;
}

static const char *value_name(const ulp_option *o) { return o->value_name ? o->value_name : o->type->value_name; }

static int is_option(const char *argument) { return strncmp(argument, "--", 2) == 0; }

static void add_value(ulp_setting *s, const char *value) {
    const size_t count = s->values.count;
    s->values.at = ulp_grow(s->values.at, (count + 1) * sizeof *s->values.at);
    s->values.at[s->values.count++] = value;
}

/* Leave aside an option that the command does not have, and its value. Returns 0 if it is no such option. */
static int is_left_aside(const ulp_arguments *a, int argc, char **argv, int *i) {
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    ulp_text given = {0};
    ulp_text_print(&given, "%.*s", (int)strcspn(name, "="), name);
    const int is_idle = a->command->idle && ulp_list_has(a->command->idle, ulp_text_of(&given)) &&
                        (equals ? equals[1] != '\0' : *i + 1 < argc && !is_option(argv[*i + 1]));
    if (is_idle && a->program)
        ulp_complain(a->program, "note: --%s changes nothing here: this command has no random numbers",
                     ulp_text_of(&given));
    if (is_idle && !equals) ++*i;
    ulp_text_free(&given);
    return is_idle;
}

/* Read the option at argv[*i], and move *i to the last word that belongs to the option. */
static ulp_status read_option(ulp_arguments *a, int argc, char **argv, int *i, ulp_error *error) {
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    ulp_setting *s = find(a, name, equals ? (size_t)(equals - name) : strlen(name));
    if (!s && is_left_aside(a, argc, argv, i)) return ULP_OK;
    if (!s) return unknown_option(a, argv[*i], error);
    const ulp_option *o = s->option;
    const int flag = !o->type->value_name;
    if (s->given && (flag || !s->value)) return ulp_refuse(error, "--%s is given twice", o->name);
    if (flag && equals) return ulp_refuse(error, "--%s takes no value", o->name);
    if (!flag && !equals && (*i + 1 == argc || is_option(argv[*i + 1])))
        return ulp_refuse(error, "--%s needs a value: --%s %s, %s", o->name, o->name, value_name(o), o->help);
    const char *value = flag ? NULL : equals ? equals + 1 : argv[++*i];
    if (s->given) return ulp_refuse(error, "--%s is given twice: '%s' and '%s'", o->name, s->value, value);
    s->given = 1;
    s->value = value;
    if (!o->type->many) return ULP_OK;
    add_value(s, value);
    while (*i + 1 < argc && !is_option(argv[*i + 1])) add_value(s, argv[++*i]);
    return ULP_OK;
}

/* Whether an argument is a word: "-", a number such as -1 or -inf, or a text that does not begin with a dash. */
static int is_word(const char *argument) {
    char *end;
    if (argument[0] != '-' || !argument[1] || strchr(".0123456789", argument[1])) return 1;
    (void)strtod(argument, &end);
    return end != argument && !*end;
}

/* --help or --version: print what is asked for, after which nothing is left to do. */
static void print_and_end(ulp_arguments *a, int is_help) {
    const ulp_command *c = a->command;
    a->is_done = 1;
    if (!a->program) return;
    if (is_help) ulp_help_print(stdout, c, a->groups, a->group_count);
    else
        printf("ulplab %s (build %s), %s%s%s\n", ulp_build_version(), ulp_build_id(), c->kind ? c->kind : "",
               c->kind ? " " : "", c->name);
}

/* ---- the environment ---- */

static ulp_status check_isa(const char *isa, ulp_error *error) {
    const char *known;
    char offered[80] = "";
    int exists = 0;
    for (size_t i = 0; (known = ulp_cpu_isa_name(i)) != NULL; i++) {
        if (strcmp(isa, known) == 0 && ulp_cpu_isa_offered(i)) return ULP_OK;
        exists |= strcmp(isa, known) == 0;
        if (ulp_cpu_isa_offered(i)) ulp_list_add(offered, sizeof offered, "%s", known);
    }
    return ulp_fail(error, exists ? ULP_NO_DEVICE : ULP_BAD_NAME, "ULPLAB_ISA=%s: %s; instruction sets here: %s", isa,
                    exists ? "this machine does not run it" : "no instruction set of that name", offered);
}

/* OMP_NUM_THREADS is a list with a number of threads for each level of nesting (OpenMP 5.2, section 21.1.2). */
static ulp_status check_threads(const char *list, ulp_error *error) {
    for (const char *at = list;;) {
        at += strspn(at, " \t");
        const size_t digits = strspn(at, "0123456789");
        const int positive = strspn(at, "0") < digits;
        if (!positive || digits > 9) break;
        at += digits + strspn(at + digits, " \t");
        if (!*at) return ULP_OK;
        if (*at++ != ',') break;
    }
    return ulp_refuse(error, "OMP_NUM_THREADS=%s: has to be a number of threads from 1 to 999999999", list);
}

/* Check the environment variables that all programs read. */
static ulp_status check_environment(ulp_error *error) {
    const char *const isa = getenv("ULPLAB_ISA"), *const data = getenv("ULPLAB_DATA"),
                      *const threads = getenv("OMP_NUM_THREADS");
    if (isa && *isa) ULP_TRY(check_isa(isa, error));
    if (data && *data && !ulp_is_folder(data))
        return ulp_refuse(error, "ULPLAB_DATA=%s: there is no such folder", data);
    return threads && *threads ? check_threads(threads, error) : ULP_OK;
}

/* ---- from argv to settings and words ---- */

ulp_status ulp_arguments_read(ulp_arguments *a, int argc, char **argv, int silent, ulp_error *error) {
    signal(SIGXFSZ, SIG_IGN); /* writing beyond the limit of the shell fails with EFBIG, which gets a message */
    a->program = silent ? NULL : a->command->name;
    for (size_t g = 0; g < a->group_count; g++) add_settings(a, &a->groups[g]);
    a->words = ulp_grow(NULL, ((size_t)argc + 1) * sizeof *a->words);
    for (int i = 1; i < argc && !a->is_done; i++) {
        const char *argument = argv[i];
        const int is_help = strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0;
        const int is_last = strcmp(argument, "--") == 0; /* only words follow */
        if (is_help || strcmp(argument, "--version") == 0) print_and_end(a, is_help);
        else if (is_option(argument) && !is_last) ULP_TRY(read_option(a, argc, argv, &i, error));
        else if (!is_word(argument) && !is_last) return unknown_option(a, argument, error);
        else if (!a->command->takes_words)
            return ulp_refuse(error, "'%s' is not an option, and %s takes no words besides (see --help)", argument,
                              a->command->name);
        else if (!is_last) a->words[a->word_count++] = argument;
        else
            while (i + 1 < argc) a->words[a->word_count++] = argv[++i];
    }
    return a->is_done ? ULP_OK : check_environment(error);
}

/* ---- from texts to fields ---- */

static ulp_status refuse_missing(const ulp_arguments *a, ulp_error *error) {
    ulp_text missing = {0};
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        const ulp_setting *s = &a->settings[i];
        if (!s->option->needed || s->given) continue;
        ulp_text_print(&missing, "%s--%s %s", count++ ? " and " : "", s->option->name, value_name(s->option));
    }
    ulp_refuse(error, "%s %s needed (see --help)", ulp_text_of(&missing), count > 1 ? "are" : "is");
    ulp_text_free(&missing);
    return ULP_BAD_ARGUMENT;
}

static ulp_status refuse_empty(const ulp_option *o, ulp_error *error) {
    const char *name = value_name(o);
    const char *what = strncmp(name, "FILE", 4) == 0 ? "file's name"
                       : strcmp(name, "DIR") == 0    ? "folder's name"
                       : strcmp(name, "PATH") == 0   ? "path"
                                                     : "value";
    return ulp_refuse(error, "--%s: the %s is empty", o->name, what);
}

/* Put "--NAME" before the sentence of a type. */
static ulp_status name_option(ulp_error *error, ulp_status status, const ulp_option *o) {
    const ulp_error why = *error;
    return ulp_fail(error, status, "--%s%s%s", o->name, strncmp(why.text, ": ", 2) == 0 ? "" : " ", why.text);
}

static ulp_status resolve(ulp_setting *s, ulp_error *error) {
    const ulp_option *o = s->option;
    if (!o->type->value_name) *(int *)s->field = s->given;
    else if (o->type->many) *(ulp_text_list *)s->field = s->values;
    else if (!s->value) memset(s->field, 0, o->size);
    else if (s->given && !*s->value &&
             (o->type == &ulp_type_text || o->type == &ulp_type_folder || o->type == &ulp_type_place))
        return refuse_empty(o, error);
    else {
        const ulp_status status = o->type->read(s->field, s->value, o, error);
        s->filled = status == ULP_OK;
        if (status != ULP_OK) return name_option(error, status, o);
    }
    return ULP_OK;
}

ulp_status ulp_arguments_resolve(ulp_arguments *a, ulp_preset preset, ulp_error *error) {
    for (size_t i = 0; i < a->count; i++)
        if (a->settings[i].option->needed && !a->settings[i].given) return refuse_missing(a, error);
    for (size_t i = 0; i < a->count; i++) {
        ulp_setting *s = &a->settings[i];
        if (!s->given) s->value = ulp_option_default(s->option, preset);
        ULP_TRY(resolve(s, error));
    }
    return ULP_OK;
}

void ulp_arguments_free(ulp_arguments *a) {
    for (size_t i = 0; i < a->count; i++) {
        ulp_setting *s = &a->settings[i];
        if (s->filled && s->option->type->release) s->option->type->release(s->field);
        free(s->values.at);
    }
    free(a->settings);
    free(a->words);
    *a = (ulp_arguments){0};
}

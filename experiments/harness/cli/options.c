/* options.c - reading a command line into the fields of structs; see options.h.
 *
 * First argv is split into settings and words; then the text of each setting is read into its field. `--name value` and
 * `--name=value` mean the same. An option that is given twice is refused.
 */
#include "options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static size_t options_in(const ulp_option_group *group) {
    size_t count = 0;
    while (group->options && group->options[count].name) count++;
    return count;
}

static void collect_settings(ulp_arguments *a) {
    for (size_t g = 0; g < a->group_count; g++) a->count += options_in(&a->groups[g]);
    a->settings = ulp_grow(NULL, a->count * sizeof *a->settings);
    ulp_setting *s = a->settings;
    for (size_t g = 0; g < a->group_count; g++) {
        const ulp_option *options = a->groups[g].options;
        for (size_t i = 0; i < options_in(&a->groups[g]); i++, s++) {
            *s = (ulp_setting){.option = &options[i], .field = (char *)a->groups[g].fields + options[i].at};
            if (options[i].size == options[i].type->size) continue;
            ulp_complain(a->command->name, "bug: the field of --%s is of another type", options[i].name);
            abort();
        }
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

static int unknown_option(const ulp_arguments *a, const char *argument) {
    static const char always[] = "help version"; /* options that no table lists */
    const char *name = argument + strspn(argument, "-");
    const int length = (int)strcspn(name, "=");
    ulp_text given = {0}, known = {0}, near = {0};
    for (size_t i = 0; a->command->elsewhere && a->command->elsewhere[i][0]; i++) {
        const char *other = a->command->elsewhere[i][0];
        if ((int)strlen(other) == length && strncmp(other, name, (size_t)length) == 0)
            return ulp_usage_error(a->program, "--%s %s", other, a->command->elsewhere[i][1]);
    }
    ulp_text_print(&given, "%.*s", length, name);
    if (name[length] && ulp_list_has(always, ulp_text_of(&given))) {
        const int status = ulp_usage_error(a->program, "--%s takes no value", ulp_text_of(&given));
        ulp_text_free(&given);
        return status;
    }
    for (size_t i = 0; i < a->count; i++) ulp_text_print(&known, "%s ", a->settings[i].option->name);
    ulp_text_print(&known, "%s", always);
    const int found = ulp_nearest_words(&near, ulp_text_of(&given), ulp_text_of(&known), 1);
    int status =
        ulp_usage_error(a->program, "no option %.*s%s%s%s (--help lists the options)", (int)strcspn(argument, "="),
                        argument, found ? "; did you mean --" : "", ulp_text_of(&near), found ? "?" : "");
    ulp_text_free(&given);
    ulp_text_free(&known);
    ulp_text_free(&near);
    return status;
}

static const char *value_name(const ulp_option *o) { return o->value_name ? o->value_name : o->type->value_name; }

static int is_option(const char *argument) { return strncmp(argument, "--", 2) == 0; }

static void add_value(ulp_setting *s, const char *value) {
    const size_t count = s->values.count;
    s->values.at = ulp_grow(s->values.at, (count + 1) * sizeof *s->values.at);
    s->values.at[s->values.count++] = value;
}

/* Read the option at argv[*i], and move *i to the last word that belongs to the option. */
static int read_option(ulp_arguments *a, int argc, char **argv, int *i) {
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    ulp_setting *s = find(a, name, equals ? (size_t)(equals - name) : strlen(name));
    if (!s) return unknown_option(a, argv[*i]);
    const ulp_option *o = s->option;
    const int flag = !o->type->value_name;
    if (s->given && (flag || !s->value)) return ulp_usage_error(a->program, "--%s is given twice", o->name);
    if (flag && equals) return ulp_usage_error(a->program, "--%s takes no value", o->name);
    if (!flag && !equals && (*i + 1 == argc || is_option(argv[*i + 1])))
        return ulp_usage_error(a->program, "--%s needs a value: --%s %s, %s", o->name, o->name, value_name(o), o->help);
    const char *value = flag ? NULL : equals ? equals + 1 : argv[++*i];
    if (s->given) return ulp_usage_error(a->program, "--%s is given twice: '%s' and '%s'", o->name, s->value, value);
    s->given = 1;
    s->value = value;
    if (!o->type->many) return ULP_GO_ON;
    add_value(s, value);
    while (*i + 1 < argc && !is_option(argv[*i + 1])) add_value(s, argv[++*i]);
    return ULP_GO_ON;
}

/* Whether an argument is a word: "-", a number such as -1 or -inf, or a text that does not begin with a dash. */
static int is_word(const char *argument) {
    char *end;
    if (argument[0] != '-' || !argument[1] || strchr(".0123456789", argument[1])) return 1;
    (void)strtod(argument, &end);
    return end != argument && !*end;
}

static int print_version(const ulp_arguments *a) {
    const ulp_command *c = a->command;
    if (!a->program) return ULP_EXIT_FINE;
    printf("ulplab %s (build %s), %s%s%s\n", ulp_build_version(), ulp_build_id(), c->kind ? c->kind : "",
           c->kind ? " " : "", c->name);
    return ulp_finish_stdout(a->program, ULP_EXIT_FINE);
}

static int print_help(const ulp_arguments *a) {
    if (!a->program) return ULP_EXIT_FINE;
    ulp_help_print(stdout, a->command, a->groups, a->group_count);
    return ulp_finish_stdout(a->program, ULP_EXIT_FINE);
}

static int read_argument(ulp_arguments *a, int argc, char **argv, int *i) {
    const char *argument = argv[*i];
    if (strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0) return print_help(a);
    if (strcmp(argument, "--version") == 0) return print_version(a);
    if (is_option(argument) && argument[2]) return read_option(a, argc, argv, i);
    if (!is_word(argument) && strcmp(argument, "--") != 0) return unknown_option(a, argument);
    if (!a->command->takes_words)
        return ulp_usage_error(a->program, "'%s' is not an option, and %s takes no words besides (see --help)",
                               argument, a->command->name);
    if (strcmp(argument, "--") != 0) a->words[a->word_count++] = argument;
    else
        while (*i + 1 < argc) a->words[a->word_count++] = argv[++*i];
    return ULP_GO_ON;
}

int ulp_arguments_read(ulp_arguments *a, int argc, char **argv, int silent) {
    signal(SIGXFSZ, SIG_IGN); /* writing beyond the limit of the shell fails with EFBIG, which gets a message */
    a->program = silent ? NULL : a->command->name;
    collect_settings(a);
    a->words = ulp_grow(NULL, ((size_t)argc + 1) * sizeof *a->words);
    for (int i = 1; i < argc; i++) {
        const int status = read_argument(a, argc, argv, &i);
        if (status != ULP_GO_ON) return status;
    }
    return ulp_environment_check(a->program);
}

/* ---- from texts to fields ---- */

static int refuse_missing(const ulp_arguments *a) {
    ulp_text missing = {0};
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        const ulp_setting *s = &a->settings[i];
        if (!s->option->needed || s->given) continue;
        ulp_text_print(&missing, "%s--%s %s", count++ ? " and " : "", s->option->name, value_name(s->option));
    }
    int status = ULP_GO_ON;
    if (count)
        status =
            ulp_usage_error(a->program, "%s %s needed (see --help)", ulp_text_of(&missing), count > 1 ? "are" : "is");
    ulp_text_free(&missing);
    return status;
}

static int refuse_empty(const ulp_arguments *a, const ulp_option *o) {
    const char *name = value_name(o);
    const char *what = strncmp(name, "FILE", 4) == 0 ? "file's name"
                       : strcmp(name, "DIR") == 0    ? "folder's name"
                                                     : "value";
    return ulp_usage_error(a->program, "--%s: the %s is empty", o->name, what);
}

static int resolve(const ulp_arguments *a, ulp_setting *s) {
    const ulp_option *o = s->option;
    ulp_error error;
    if (!o->type->value_name) {
        *(int *)s->field = s->given;
        return ULP_GO_ON;
    }
    if (o->type->many) {
        *(ulp_text_list *)s->field = s->values;
        return ULP_GO_ON;
    }
    if (!s->value) {
        memset(s->field, 0, o->size);
        return ULP_GO_ON;
    }
    if (s->given && !*s->value && (o->type == &ulp_type_text || o->type == &ulp_type_folder)) return refuse_empty(a, o);
    const ulp_status status = o->type->read(s->field, s->value, o, &error);
    s->filled = status == ULP_OK;
    if (s->filled) return ULP_GO_ON;
    ulp_complain(a->program, "--%s%s%s", o->name, strncmp(error.text, ": ", 2) == 0 ? "" : " ", error.text);
    return ulp_exit_of(status);
}

int ulp_arguments_resolve(ulp_arguments *a, ulp_preset preset) {
    int status = refuse_missing(a);
    for (size_t i = 0; i < a->count && status == ULP_GO_ON; i++) {
        ulp_setting *s = &a->settings[i];
        if (!s->given) s->value = ulp_option_default(s->option, preset);
        status = resolve(a, s);
    }
    return status;
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

/* help.c - the text of --help, made from the tables of options. */
#include <string.h>

#include "options.h"

enum { WIDEST = 80, NARROWEST = 24 };

static int width_for(FILE *to) {
    const int columns = ulp_columns_of(to);
    return columns > WIDEST ? WIDEST : columns < NARROWEST ? NARROWEST : columns;
}

static void add_default(ulp_text *to, const char *name, const char *value) {
    if (value && *value) ulp_text_print(to, " [%s%s]", name, value);
}

/* Add "  --name VALUE    help: words [default]", with a hanging indent. */
static void add_option(ulp_text *to, const ulp_option *o, int width) {
    const int indent = width < 60 ? 6 : 24;
    const char *value = o->value_name ? o->value_name : o->type->value_name;
    ulp_text left = {0}, right = {0};
    ulp_text_print(&left, "  --%s%s%s", o->name, value ? " " : "", value ? value : "");
    ulp_text_print(&right, "%s", o->help);
    if (o->words || o->type->list) ulp_text_print(&right, ": %s", o->words ? o->words : "");
    if (o->type->list) o->type->list(&right);
    if (value) add_default(&right, "", o->value);
    add_default(&right, "--quick: ", o->quick);
    add_default(&right, "--full: ", o->full);
    if (o->needed) ulp_text_print(&right, " [needed]");
    if ((int)left.length + 2 > indent) ulp_text_print(to, "%s\n%*s", ulp_text_of(&left), indent, "");
    else ulp_text_print(to, "%-*s", indent, ulp_text_of(&left));
    ulp_text_wrap(to, ulp_text_of(&right), indent, indent, width);
    ulp_text_add(to, "\n", 1);
    ulp_text_free(&left);
    ulp_text_free(&right);
}

/* Add the help topics of the options, each topic once. */
static void add_topics(ulp_text *to, const ulp_option_group *groups, size_t group_count, int width) {
    char topics[200] = "";
    ulp_text line = {0};
    for (size_t g = 0; g < group_count; g++)
        for (const ulp_option *o = groups[g].options; o && o->name; o++) {
            const char *topic = o->topic ? o->topic : o->type->topic;
            if (topic && !ulp_list_has(topics, topic)) ulp_list_add(topics, sizeof topics, "%s", topic);
        }
    if (topics[0]) {
        ulp_text_print(&line, "names: `ulp help TOPIC` lists them; topics here: %s\n", topics);
        ulp_text_wrap(to, ulp_text_of(&line), 0, 4, width);
    }
    ulp_text_free(&line);
}

static const ulp_option always[] = {
    {.name = "help", .type = &ulp_type_flag, .help = "this text"},
    {.name = "version", .type = &ulp_type_flag, .help = "the version and the build"},
};

static void add_options(ulp_text *to, const ulp_option_group *groups, size_t group_count, int width) {
    for (size_t g = 0; g < group_count; g++) {
        if (!groups[g].options || !groups[g].options->name) continue;
        ulp_text_print(to, "%s\n", groups[g].heading ? groups[g].heading : "options");
        for (const ulp_option *o = groups[g].options; o->name; o++) add_option(to, o, width);
        if (g + 1 < group_count) ulp_text_add(to, "\n", 1);
    }
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) add_option(to, &always[i], width);
    ulp_text_add(to, "\n", 1);
}

void ulp_help_tail(ulp_text *to, int width) {
    ulp_text line = {0};
    const char *isa;
    ulp_text_print(&line, "environment: ULPLAB_ISA (");
    for (size_t i = 0; (isa = ulp_cpu_isa_name(i)) != NULL; i++) ulp_text_print(&line, "%s%s", i ? ", " : "", isa);
    ulp_text_print(&line, "), ULPLAB_CUDA_DEVICE (which GPU, from 0), ULPLAB_CUBLASLT (the file of cuBLASLt), "
                          "OMP_NUM_THREADS, ULPLAB_DATA (folder of the data "
                          "sets), NO_COLOR.\n");
    ulp_text_wrap(to, ulp_text_of(&line), 0, 4, width);
    ulp_text_free(&line);
    ulp_text_wrap(to,
                  "exit: 0 fine, 1 the run or a check failed, 2 usage or bad input, 3 the machine lacks something.\n",
                  0, 4, width);
}

void ulp_help_print(FILE *to, const ulp_command *command, const ulp_option_group *groups, size_t group_count) {
    const int width = width_for(to);
    ulp_text text = {0}, line = {0};
    ulp_text_print(&line, "%s - %s\n", command->name, command->summary);
    ulp_text_wrap(&text, ulp_text_of(&line), 0, 4, width);
    ulp_text_free(&line);
    ulp_text_add(&text, "\n", 1);
    ulp_text_print(&line, "usage: %s %s\n", command->name, command->usage);
    ulp_text_wrap(&text, ulp_text_of(&line), 0, 11, width);
    ulp_text_add(&text, "\n", 1);
    add_options(&text, groups, group_count, width);
    if (command->details) {
        ulp_text_wrap(&text, command->details, 0, 0, width);
        ulp_text_add(&text, "\n", 1);
    }
    add_topics(&text, groups, group_count, width);
    ulp_help_tail(&text, width);
    fputs(ulp_text_of(&text), to);
    ulp_text_free(&text);
    ulp_text_free(&line);
}

/* tool.c - options, input lines, errors and printing for the subcommands of the tool. */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

_Noreturn void tool_usage(const tool_command *command, const char *text, ...) {
    va_list args;
    fflush(stdout);
    fprintf(stderr, "ulp %s: ", command->name);
    va_start(args, text);
    vfprintf(stderr, text, args);
    va_end(args);
    fprintf(stderr, "\n(ulp %s --help says more)\n", command->name);
    exit(TOOL_USAGE);
}

_Noreturn void tool_bad_line(const tool_command *command, const tool_line *line, const char *text, ...) {
    va_list args;
    fflush(stdout);
    fprintf(stderr, "ulp %s: %s:%lu: ", command->name, line->file, line->number);
    va_start(args, text);
    vfprintf(stderr, text, args);
    va_end(args);
    fputc('\n', stderr);
    exit(TOOL_USAGE);
}

_Noreturn void tool_failed(const tool_command *command, const tool_line *line, const char *text, ...) {
    va_list args;
    fflush(stdout);
    fprintf(stderr, "ulp %s: ", command->name);
    if (line != NULL) fprintf(stderr, "%s:%lu: ", line->file, line->number);
    va_start(args, text);
    vfprintf(stderr, text, args);
    va_end(args);
    fputc('\n', stderr);
    exit(TOOL_FAILED);
}

static void list_formats(int names) {
    if (names) fprintf(stderr, "known formats:");
    for (size_t i = 0; names && i < ulp_format_count; i++) {
        const ulp_format_row *row;
        ulp_format_get(i, NULL, &row);
        fprintf(stderr, " %s", row->name);
        if (row->aliases[0] != '\0') fprintf(stderr, " (%s)", row->aliases);
    }
    fprintf(stderr,
            "%s any eXmY (1 <= X <= 11, 0 <= Y <= 52; eXmYieee for the IEEE-like one of a listed name),\n"
            "qI.F (1 <= I, I + F <= 32, the sign counts in I), binaryKpP{s,u}{e,f} (3 <= K <= 16, values within "
            "binary64),\n"
            "each with suffixes :nosub :sat :inf :nan, and :wrap for qI.F\n",
            names ? "\nand" : "allowed:");
}

_Noreturn void tool_bad_format(const tool_command *command, const char *text, ulp_status status) {
    fflush(stdout);
    fprintf(stderr, "ulp %s: '%s' is no format: %s\n", command->name, text, ulp_status_text(status));
    list_formats(status == ULP_BAD_NAME);
    exit(TOOL_USAGE);
}

void tool_check_bits(const tool_command *command, uint64_t bits, ulp_mode mode) {
    if (bits != 0 && !ulp_mode_is_stochastic(mode))
        tool_usage(command, "--bits %llu: random bits are of the stochastic modes (sra, srb, src), not of %s",
                   (unsigned long long)bits, ulp_mode_name(mode));
}

const ulp_backend *tool_backend(const tool_command *command, const char *name) {
    const ulp_backend *backend;
    const ulp_status status = ulp_backend_get(&backend, name);
    const char *isa = getenv("ULPLAB_ISA");
    if (status == ULP_OK) return backend;
    if (status == ULP_BAD_NAME && name != NULL && strcmp(name, "cpu") != 0)
        tool_usage(command, "--backend %s: no backend of that name; known: %s", name, ulp_backend_names());
    fflush(stdout);
    if (name != NULL && strcmp(name, "cpu") != 0)
        fprintf(stderr, "ulp %s: --backend %s: %s\n", command->name, name, ulp_backend_lacks(name));
    else
        fprintf(stderr, "ulp %s: ULPLAB_ISA=%s: %s; ulp backends says what is offered\n", command->name,
                isa != NULL ? isa : "", ulp_status_text(status));
    exit(status == ULP_NO_DEVICE ? TOOL_LACKING : TOOL_USAGE);
}

void tool_datapath(const tool_command *command, ulp_datapath *datapath, const char *text) {
    char why[ULP_EXPLAIN_MAX];
    const ulp_status status = ulp_datapath_parse(datapath, text);
    if (status == ULP_OK) return;
    ulp_datapath_explain(why, text);
    tool_usage(command, "--datapath %s: %s; %s%sknown datapaths:\n%s", text, ulp_status_text(status), why,
               why[0] != '\0' ? "\n" : "", ulp_datapath_names());
}

void tool_product(const tool_command *command, const ulp_backend *backend, ulp_datapath *datapath, const char *text) {
    char why[ULP_EXPLAIN_MAX];
    if (!ulp_datapath_is_native(text)) {
        tool_datapath(command, datapath, text);
        return;
    }
    if (strcmp(backend->name, "cuda") != 0)
        tool_usage(command, "--datapath %s: a GPU's own product, which takes --backend cuda", text);
    const ulp_status status = ulp_datapath_native(datapath, text, why);
    if (status == ULP_OK) return;
    fprintf(stderr, "ulp %s: --datapath %s\n", command->name, why);
    exit(status == ULP_NO_DEVICE ? TOOL_LACKING : TOOL_USAGE);
}

/* ---- options ---- */

static void parse_mode(const tool_command *command, ulp_mode *mode, const char *text) {
    if (ulp_mode_parse(mode, text) == ULP_OK) return;
    fprintf(stderr, "ulp %s: '%s' is no rounding mode; known modes:\n", command->name, text);
    for (int i = 0; i < ULP_MODE_COUNT; i++)
        fprintf(stderr, "  %-4s %s\n", ulp_mode_name((ulp_mode)i), ulp_mode_meaning((ulp_mode)i));
    fprintf(stderr, "  sr   another name for sra\n");
    exit(TOOL_USAGE);
}

static void parse_number(const tool_command *command, const tool_option *option, const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < option->min || value > option->max)
        tool_usage(command, "--%s %s: must be a whole number from %llu to %llu", option->name, text,
                   (unsigned long long)option->min, (unsigned long long)option->max);
    *(uint64_t *)option->value = value;
}

static void take_value(const tool_command *command, const tool_option *option, const char *text) {
    ulp_status status = ULP_OK;
    switch (option->type) {
    case TOOL_FLAG: break;
    case TOOL_FORMAT:
        status = ulp_format_parse(option->value, text);
        if (status != ULP_OK) tool_bad_format(command, text, status);
        break;
    case TOOL_MODE: parse_mode(command, option->value, text); break;
    case TOOL_POLICY:
        if (ulp_overflow_parse(option->value, text) != ULP_OK)
            tool_usage(command, "--%s %s: must be default, inf, sat, nan or wrap", option->name, text);
        break;
    case TOOL_NUMBER: parse_number(command, option, text); break;
    case TOOL_OP:
        if (ulp_op_parse(option->value, text) != ULP_OK)
            tool_usage(command, "--%s %s: must be add, sub, mul, div, sqrt or fma", option->name, text);
        break;
    case TOOL_DATAPATH: tool_datapath(command, option->value, text); break;
    case TOOL_TEXT: *(const char **)option->value = text; break;
    }
}

static const tool_option *find_option(const tool_option *options, const char *name, size_t length) {
    for (const tool_option *o = options; o->name != NULL; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    return NULL;
}

static _Noreturn void unknown_option(const tool_command *command, const tool_option *options, const char *arg) {
    fprintf(stderr, "ulp %s: unknown option %s; known:", command->name, arg);
    for (const tool_option *o = options; o->name != NULL; o++) fprintf(stderr, " --%s", o->name);
    fprintf(stderr, " --help\n");
    exit(TOOL_USAGE);
}

static _Noreturn void print_help(const tool_command *command, const tool_option *options) {
    printf("usage: ulp %s\n%s\n\n%s", command->synopsis, command->summary, command->help);
    for (const tool_option *o = options; o->name != NULL; o++)
        if (strcmp(o->name, "datapath") == 0) printf("\nDatapaths:\n%s", ulp_datapath_names());
    exit(tool_finish(command));
}

/* -1, -.5 and -inf are words, "-" is stdin; -x is meant as an option. */
static int is_word(const char *arg) {
    double number;
    return arg[0] != '-' || arg[1] == '\0' || strchr(".0123456789", arg[1]) != NULL || tool_number(&number, arg);
}

int tool_parse(const tool_command *command, const tool_option *options, int argc, char **argv) {
    int words = 0, only_words = 0;
    for (int i = 0; i < argc; i++) {
        char *arg = argv[i];
        if (!only_words && strcmp(arg, "-h") == 0) print_help(command, options);
        if (only_words || is_word(arg)) {
            argv[words++] = arg;
            continue;
        }
        if (arg[1] != '-') unknown_option(command, options, arg);
        if (arg[2] == '\0') {
            only_words = 1;
            continue;
        }
        if (strcmp(arg, "--help") == 0) print_help(command, options);
        const char *equals = strchr(arg, '=');
        size_t length = equals != NULL ? (size_t)(equals - arg - 2) : strlen(arg + 2);
        const tool_option *option = find_option(options, arg + 2, length);
        if (option == NULL) unknown_option(command, options, arg);
        if (option->given != NULL) *option->given = 1;
        if (option->type == TOOL_FLAG) {
            if (equals != NULL) tool_usage(command, "--%s takes no value", option->name);
            *(int *)option->value = 1;
        } else if (equals != NULL) {
            take_value(command, option, equals + 1);
        } else {
            if (i + 1 >= argc) tool_usage(command, "--%s needs a value", option->name);
            take_value(command, option, argv[++i]);
        }
    }
    return words;
}

/* ---- input ---- */

enum { LINE_LIMIT = 16 << 20 }; /* characters of a line: a product of 1.6 million binary16 codes with as many */

typedef struct reader {
    FILE *file;
    char *text; /* (length + 1) of the line, without its '\n' */
    size_t length, room;
} reader;

static void append(const tool_command *command, const tool_line *line, reader *r, int c) {
    if (r->length + 1 >= r->room) {
        r->room = r->room == 0 ? 256 : 2 * r->room;
        char *more = realloc(r->text, r->room);
        if (more == NULL) tool_failed(command, line, "out of memory for the line");
        r->text = more;
    }
    r->text[r->length++] = (char)c;
    r->text[r->length] = '\0';
}

/* The next line of the file; 0 behind the last. */
static int next_line(const tool_command *command, tool_line *line, reader *r) {
    int c;
    line->number++;
    r->length = 0;
    while ((c = getc_unlocked(r->file)) != EOF && c != '\n') {
        if (c == '\0') tool_bad_line(command, line, "the line holds a zero byte; this is no text file");
        if (r->length == LINE_LIMIT)
            tool_bad_line(command, line, "the line is longer than %d MiB, the most that is read", LINE_LIMIT >> 20);
        append(command, line, r, c);
    }
    if (ferror(r->file)) tool_failed(command, line, "cannot read: %s", strerror(errno));
    return c == '\n' || r->length > 0;
}

static void each_of_file(const tool_command *command, const char *path, uint64_t *index,
                         void (*each)(void *context, const tool_line *line), void *context) {
    const int is_stdin = strcmp(path, "-") == 0;
    reader r = {.file = is_stdin ? stdin : fopen(path, "r")};
    if (r.file == NULL) tool_usage(command, "cannot read %s: %s", path, strerror(errno));
    tool_line line = {NULL, is_stdin ? "stdin" : path, 0, 0};
    while (next_line(command, &line, &r)) {
        if (r.length == 0) continue;
        size_t n = r.length;
        while (n > 0 && (r.text[n - 1] == '\r' || r.text[n - 1] == ' ' || r.text[n - 1] == '\t')) r.text[--n] = '\0';
        line.text = r.text + strspn(r.text, " \t");
        if (line.text[0] == '\0' || line.text[0] == '#') continue;
        line.index = (*index)++;
        each(context, &line);
    }
    free(r.text);
    if (!is_stdin) fclose(r.file);
}

void tool_each_line(const tool_command *command, int files, char **paths,
                    void (*each)(void *context, const tool_line *line), void *context) {
    static char dash[] = "-";
    char *only_stdin[] = {dash};
    uint64_t index = 0;
    if (files == 0) paths = only_stdin;
    for (int i = 0; i < (files == 0 ? 1 : files); i++) each_of_file(command, paths[i], &index, each, context);
}

char *tool_word(char **rest) {
    char *word = *rest + strspn(*rest, " \t,");
    if (*word == '\0') return NULL;
    char *end = word + strcspn(word, " \t,");
    *rest = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

int tool_hex(uint64_t *code, const char *word, int bits) {
    static const char hex[] = "0123456789abcdef0123456789ABCDEF";
    uint64_t value = 0;
    if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) word += 2;
    if (*word == '\0') return 0;
    for (; *word != '\0'; word++) {
        const char *digit = strchr(hex, *word);
        if (digit == NULL || value >> 60 != 0) return 0;
        value = value << 4 | (uint64_t)((digit - hex) % 16);
    }
    if (bits < 64 && value >> bits != 0) return 0;
    *code = value;
    return 1;
}

int tool_number(double *value, const char *word) {
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && strchr(" \t\n", word[0]) == NULL && strchr(word, '(') == NULL;
}

/* ---- output ---- */

void tool_print_value(FILE *to, double value) {
    if (value != value) fputs("nan", to); /* printf may add a sign that means nothing */
    else fprintf(to, "%.17g", value);
}

void tool_exact_text(char to[40], double value, int width) {
    char text[1200];
    snprintf(text, sizeof text, "%.1100g", value);
    if (value != value) strcpy(to, "nan");
    else if ((int)strlen(text) <= width && width < 40) strcpy(to, text);
    else if ((ulp_bits64(value) & 0x7ff0000000000000u) == 0)
        snprintf(to, 40, "0x%llxp-1074", (unsigned long long)ulp_bits64(value) & 0xfffffffffffffu); /* subnormal */
    else snprintf(to, 40, "%a", value);
}

void tool_print_code(FILE *to, uint64_t code, const ulp_format *format) {
    fprintf(to, "%0*llx", (format->bits + 3) / 4, (unsigned long long)code);
}

int tool_finish(const tool_command *command) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return TOOL_FINE;
    fprintf(stderr, "ulp %s: cannot write the output: %s\n", command->name, strerror(errno));
    return TOOL_FAILED;
}

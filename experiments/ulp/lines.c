/* lines.c - the input of the filters: data lines of files or stdin, with file and line number for messages. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE_LIMIT = 16 << 20 }; /* characters of a line, enough for a sum of 1.6 million binary16 products */

typedef struct reader {
    FILE *file;
    char *text; /* (length + 1) the line without its line break */
    size_t length, room;
} reader;

int tool_bad_line(const tool_line *line, const char *text, ...) {
    ulp_text message = {0};
    va_list arguments;
    va_start(arguments, text);
    ulp_text_print_list(&message, text, arguments);
    va_end(arguments);
    ulp_complain(line->program, "%s:%lu: %s", line->file, line->number, ulp_text_of(&message));
    ulp_text_free(&message);
    return ULP_EXIT_USAGE;
}

static int failed_line(const tool_line *line, const char *what, const char *why) {
    return ulp_run_error(line->program, "%s:%lu: %s%s", line->file, line->number, what, why);
}

int tool_no_memory(const tool_line *line, const char *what) { return failed_line(line, "out of memory", what); }

static int append(const tool_line *line, reader *r, int c) {
    if (r->length + 1 >= r->room) {
        r->room = r->room == 0 ? 256 : 2 * r->room;
        char *more = realloc(r->text, r->room);
        if (more == NULL) return tool_no_memory(line, " for the line");
        r->text = more;
    }
    r->text[r->length++] = (char)c;
    r->text[r->length] = '\0';
    return ULP_GO_ON;
}

static void drop_byte_order_mark(reader *r) {
    static const char mark[] = "\xef\xbb\xbf";
    if (r->length < 3 || memcmp(r->text, mark, 3) != 0) return;
    r->length -= 3;
    memmove(r->text, r->text + 3, r->length + 1);
}

/* Read the next line of the file; *more gets 0 after the last line. */
static int next_line(tool_line *line, reader *r, int *more) {
    int c, status = ULP_GO_ON;
    line->number++;
    r->length = 0;
    while (status == ULP_GO_ON && (c = getc_unlocked(r->file)) != EOF && c != '\n') {
        if (c == '\0')
            status = tool_bad_line(
                line, "the line holds a zero byte; this is no text file (a file in UTF-16 has to be saved as UTF-8)");
        else if (r->length == LINE_LIMIT)
            status = tool_bad_line(line, "the line is longer than %d MiB, the most that is read", LINE_LIMIT >> 20);
        else status = append(line, r, c);
    }
    if (status != ULP_GO_ON) return status;
    if (ferror(r->file)) return failed_line(line, "cannot read: ", strerror(errno));
    *more = c == '\n' || r->length > 0;
    if (line->number == 1) drop_byte_order_mark(r);
    return ULP_GO_ON;
}

static int is_folder(FILE *file) {
    struct stat about;
    return fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode);
}

/* Numbers and codes come in lines of a file, but users try them as arguments. */
static int cannot_open(const char *program, const char *path) {
    const char *why = strerror(errno);
    double number;
    uint64_t code;
    if (!*path) return ulp_usage_error(program, "the name of a file is empty");
    if (errno == ENOENT && (tool_number(&number, path) || tool_hex(&code, path, 64)))
        return ulp_usage_error(program,
                               "cannot read %s: %s; an argument is the name of a file, and numbers come on standard "
                               "input: echo %s | %s OPTION...",
                               path, why, path, program);
    return ulp_usage_error(program, "cannot read %s: %s", path, why);
}

int tool_each_line_of(const char *program, const char *path, uint64_t *index,
                      int (*each)(void *context, const tool_line *line), void *context) {
    const int is_stdin = strcmp(path, "-") == 0;
    reader r = {.file = is_stdin ? stdin : fopen(path, "r")};
    if (r.file == NULL) return cannot_open(program, path);
    if (is_folder(r.file)) {
        if (!is_stdin) fclose(r.file);
        return ulp_usage_error(program, "cannot read %s: it is a folder", path);
    }
    tool_line line = {.program = program, .file = is_stdin ? "stdin" : path};
    int more = 0, status;
    while ((status = next_line(&line, &r, &more)) == ULP_GO_ON && more) {
        if (r.length == 0) continue;
        size_t n = r.length;
        while (n > 0 && (r.text[n - 1] == '\r' || r.text[n - 1] == ' ' || r.text[n - 1] == '\t')) r.text[--n] = '\0';
        line.text = r.text + strspn(r.text, " \t");
        if (line.text[0] == '\0' || line.text[0] == '#') continue;
        line.index = (*index)++;
        status = each(context, &line);
        if (status != ULP_GO_ON) break;
    }
    free(r.text);
    if (!is_stdin) fclose(r.file);
    return status;
}

int tool_each_line(const ulp_arguments *a, int (*each)(void *context, const tool_line *line), void *context) {
    static const char *const only_stdin[] = {"-"};
    const char *const *paths = a->word_count ? a->words : only_stdin;
    uint64_t index = 0;
    int status = ULP_GO_ON;
    for (size_t i = 0; i < (a->word_count ? a->word_count : 1) && status == ULP_GO_ON; i++)
        status = tool_each_line_of(a->program, paths[i], &index, each, context);
    return status == ULP_GO_ON ? ULP_EXIT_FINE : status;
}

int tool_refuse_empty_field(const tool_line *line, const char *text) {
    static const char blanks[] = " \t";
    const char *at = text + strspn(text, blanks);
    if (!*at) return ULP_GO_ON;
    for (size_t field = 1; *at != ','; field++) {
        at += strcspn(at, " \t,");
        at += strspn(at, blanks);
        if (!*at) return ULP_GO_ON;
        if (*at != ',') continue;
        at++;
        at += strspn(at, blanks);
        if (!*at || *at == ',') return tool_bad_line(line, "field %zu of '%s' is empty", field + 1, text);
    }
    return tool_bad_line(line, "field 1 of '%s' is empty", text);
}

char *tool_word(char **rest) {
    char *word = *rest + strspn(*rest, " \t,");
    if (*word == '\0') return NULL;
    char *end = word + strcspn(word, " \t,");
    *rest = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

/* lines.c - data lines of files or of stdin, with file and line number for messages, and the numbers in them. */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decimal.h"

enum { LINE_LIMIT = 16 << 20 }; /* characters of a line, enough for a sum of 1.6 million binary16 products */
enum { FIRST_ROOM = 1 << 18 };

/* A file, and the part of it that is in memory and was not handled yet: text[begin .. end - 1]. */
typedef struct reader {
    int file;                /* descriptor */
    int ended, failed;       /* 1 at the end of the file; errno of a read() that failed, which is an end, too */
    char *text;              /* (room + ULP_DECIMAL_BEHIND) zero bytes follow the end */
    size_t begin, end, room; /* of the text */
    size_t whole;            /* the end of the last whole line; less than begin or equal to it if there is none */
} reader;

int ulp_bad_line(const ulp_line *line, const char *text, ...) {
    ulp_text message = {0};
    va_list arguments;
    va_start(arguments, text);
    ulp_text_print_list(&message, text, arguments);
    va_end(arguments);
    ulp_complain(line->program, "%s:%lu: %s", line->file, line->number, ulp_text_of(&message));
    ulp_text_free(&message);
    return ULP_EXIT_USAGE;
}

static int failed_line(const ulp_line *line, const char *what, const char *why) {
    return ulp_run_error(line->program, "%s:%lu: %s%s", line->file, line->number, what, why);
}

int ulp_no_line_memory(const ulp_line *line, const char *what) { return failed_line(line, "out of memory", what); }

/* Read more of the file after the text in memory. Returns ULP_GO_ON, also at the end of the file; or an exit status
 * after a message that memory is out. */
static int read_more(const ulp_line *line, reader *r) {
    if (r->begin > 0) memmove(r->text, r->text + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->whole = r->begin = 0;
    if (r->end == r->room) {
        const size_t room = r->room == 0 ? FIRST_ROOM : 2 * r->room;
        char *more = realloc(r->text, room + ULP_DECIMAL_BEHIND);
        if (more == NULL) return ulp_no_line_memory(line, " for the line");
        r->text = more;
        r->room = room;
    }
    ssize_t n;
    do n = read(r->file, r->text + r->end, r->room - r->end);
    while (n < 0 && errno == EINTR);
    if (n < 0) r->failed = errno;
    if (n <= 0) r->ended = 1;
    else r->end += (size_t)n;
    memset(r->text + r->end, 0, ULP_DECIMAL_BEHIND);
    for (size_t at = r->end; at > r->end - (n > 0 ? (size_t)n : 0) && r->whole == 0; at--)
        if (r->text[at - 1] == '\n') r->whole = at;
    return ULP_GO_ON;
}

static int pause_filter(const ulp_line_filter *f) { return f->pause != NULL ? f->pause(f->context) : ULP_GO_ON; }

/* Refuse a line with a zero byte, a line that is too long, and a file that cannot be read. */
static int check_line(const ulp_line *line, const reader *r, size_t length, const ulp_line_filter *f) {
    const char *const text = r->text + r->begin;
    const int has_zero = memchr(text, '\0', length > LINE_LIMIT ? LINE_LIMIT + 1 : length) != NULL;
    const int is_long = length > LINE_LIMIT, is_cut = r->failed != 0 && text + length == r->text + r->end;
    if (!has_zero && !is_long && !is_cut) return ULP_GO_ON;
    const int status = pause_filter(f);
    if (status != ULP_GO_ON) return status;
    if (has_zero)
        return ulp_bad_line(
            line, "the line holds a zero byte; this is no text file (a file in UTF-16 has to be saved as UTF-8)");
    if (is_long) return ulp_bad_line(line, "the line is longer than %d MiB, the most that is read", LINE_LIMIT >> 20);
    return failed_line(line, "cannot read: ", strerror(r->failed));
}

/* Set the text of the next line, without its line break; NULL after the last line. */
static int next_line(ulp_line *line, reader *r, const ulp_line_filter *f) {
    size_t length = 0; /* of the characters before the line break, as far as they are known */
    const char *end = NULL;
    for (;;) {
        const size_t rest = r->end - r->begin;
        if (rest > length) end = memchr(r->text + r->begin + length, '\n', rest - length);
        length = end != NULL ? (size_t)(end - r->text) - r->begin : rest;
        if (end != NULL || r->ended || length > LINE_LIMIT) break;
        int status = pause_filter(f);
        if (status == ULP_GO_ON) status = read_more(line, r);
        if (status != ULP_GO_ON) return status;
    }
    const int status = check_line(line, r, length, f);
    if (status != ULP_GO_ON) return status;
    line->text = end != NULL || length > 0 ? r->text + r->begin : NULL;
    r->text[r->begin + length] = '\0';
    r->begin += length + (end != NULL);
    return ULP_GO_ON;
}

/* Take a byte order mark, and blanks and a carriage return at the ends, off a line. */
static void trim(ulp_line *line) {
    static const char mark[] = "\xef\xbb\xbf";
    char *text = line->text, *end = text + strlen(text);
    if (line->number == 1 && strncmp(text, mark, 3) == 0) text += 3;
    while (end > text && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t')) *--end = '\0';
    line->text = text + strspn(text, " \t");
}

static int filter_lines(ulp_line *line, reader *r, const ulp_line_filter *f) {
    for (;; line->number++) {
        int status = ULP_GO_ON;
        if (f->plain != NULL && r->begin < r->whole) {
            const char *text = r->text + r->begin;
            status = f->plain(f->context, &text, r->text + r->whole, line);
            r->begin = (size_t)(text - r->text);
        }
        if (status == ULP_GO_ON) status = next_line(line, r, f);
        if (status != ULP_GO_ON || line->text == NULL) return status;
        trim(line);
        if (line->text[0] == '\0' || line->text[0] == '#') continue;
        status = f->each(f->context, line);
        if (status != ULP_GO_ON) return status;
        line->index++;
    }
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
    if (errno == ENOENT && (ulp_read_number(&number, path) || ulp_read_hex(&code, path, 64)))
        return ulp_usage_error(program,
                               "cannot read %s: %s; an argument is the name of a file, and numbers come on standard "
                               "input: echo %s | %s OPTION...",
                               path, why, path, program);
    return ulp_usage_error(program, "cannot read %s: %s", path, why);
}

int ulp_input_open(FILE **file, const char *program, const char *path) {
    const int is_stdin = strcmp(path, "-") == 0;
    *file = is_stdin ? stdin : fopen(path, "r");
    if (*file == NULL) return cannot_open(program, path);
    if (!is_folder(*file)) return ULP_GO_ON;
    ulp_input_close(*file);
    return ulp_usage_error(program, "cannot read %s: it is a folder", path);
}

void ulp_input_close(FILE *file) {
    if (file != stdin) fclose(file);
}

const char *ulp_input_name(const char *path) { return strcmp(path, "-") == 0 ? "stdin" : path; }

static int filter_file(const char *program, const char *path, uint64_t *index, const ulp_line_filter *f) {
    FILE *file;
    int status = ulp_input_open(&file, program, path);
    if (status != ULP_GO_ON) return status;
    reader r = {.file = fileno(file)};
    ulp_line line = {.program = program, .file = ulp_input_name(path), .number = 1, .index = *index};
    status = filter_lines(&line, &r, f);
    if (status == ULP_GO_ON) status = pause_filter(f);
    *index = line.index;
    free(r.text);
    ulp_input_close(file);
    return status;
}

int ulp_each_line_of(const char *program, const char *path, uint64_t *index,
                     int (*each)(void *context, const ulp_line *line), void *context) {
    return filter_file(program, path, index, &(ulp_line_filter){.each = each, .context = context});
}

int ulp_each_file(const ulp_arguments *a, int (*each)(void *context, const char *path), void *context) {
    int status = a->word_count == 0 ? each(context, "-") : ULP_GO_ON;
    for (size_t i = 0; i < a->word_count && status == ULP_GO_ON; i++) status = each(context, a->words[i]);
    return status == ULP_GO_ON ? ULP_EXIT_FINE : status;
}

typedef struct filter_run {
    const char *program;
    const ulp_line_filter *filter;
    uint64_t index; /* of the next data line */
} filter_run;

static int filter_next(void *context, const char *path) {
    filter_run *run = context;
    return filter_file(run->program, path, &run->index, run->filter);
}

int ulp_filter_lines(const ulp_arguments *a, const ulp_line_filter *filter) {
    return ulp_each_file(a, filter_next, &(filter_run){a->program, filter, 0});
}

int ulp_each_line(const ulp_arguments *a, int (*each)(void *context, const ulp_line *line), void *context) {
    return ulp_filter_lines(a, &(ulp_line_filter){.each = each, .context = context});
}

int ulp_refuse_empty_field(const ulp_line *line, const char *text) {
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
        if (!*at || *at == ',') return ulp_bad_line(line, "field %zu of '%s' is empty", field + 1, text);
    }
    return ulp_bad_line(line, "field 1 of '%s' is empty", text);
}

char *ulp_line_word(char **rest) {
    char *word = *rest + strspn(*rest, " \t,");
    if (*word == '\0') return NULL;
    char *end = word + strcspn(word, " \t,");
    *rest = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

int ulp_read_hex(uint64_t *code, const char *word, int bits) {
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

int ulp_read_number(double *value, const char *word) {
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && strchr(" \t\n", word[0]) == NULL && strchr(word, '(') == NULL;
}

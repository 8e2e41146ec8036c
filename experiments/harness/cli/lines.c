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
    char *text;              /* (room + ULP_DECIMAL_AFTER) zero bytes follow the end */
    size_t begin, end, room; /* of the text */
    size_t whole;            /* the end of the last whole line; less than begin or equal to it if there is none */
} reader;

ulp_status ulp_bad_line(ulp_error *error, const ulp_line *line, const char *text, ...) {
    ulp_text message = {0};
    va_list arguments;
    va_start(arguments, text);
    ulp_text_print_list(&message, text, arguments);
    va_end(arguments);
    ulp_refuse(error, "%s:%lu: %s", line->file, line->number, ulp_text_of(&message));
    ulp_text_free(&message);
    return ULP_BAD_ARGUMENT;
}

ulp_status ulp_no_line_memory(ulp_error *error, const ulp_line *line, const char *what) {
    return ulp_fail(error, ULP_NO_MEMORY, "%s:%lu: out of memory%s", line->file, line->number, what);
}

/* Read more of the file after the text in memory, if it has not ended. */
static ulp_status read_more(const ulp_line *line, reader *r, ulp_error *error) {
    if (r->begin > 0) memmove(r->text, r->text + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->whole = r->begin = 0;
    if (r->end == r->room) {
        const size_t room = r->room == 0 ? FIRST_ROOM : 2 * r->room;
        char *more = realloc(r->text, room + ULP_DECIMAL_AFTER);
        if (more == NULL) return ulp_no_line_memory(error, line, " for the line");
        r->text = more;
        r->room = room;
    }
    ssize_t n;
    do n = read(r->file, r->text + r->end, r->room - r->end);
    while (n < 0 && errno == EINTR);
    if (n < 0) r->failed = errno;
    if (n <= 0) r->ended = 1;
    else r->end += (size_t)n;
    memset(r->text + r->end, 0, ULP_DECIMAL_AFTER);
    for (size_t at = r->end; n > 0 && r->whole == 0; at--, n--)
        if (r->text[at - 1] == '\n') r->whole = at;
    return ULP_OK;
}

/* Refuse a line with a zero byte, a line that is too long, and a file that cannot be read. */
static ulp_status refuse_line(const ulp_line *line, const reader *r, size_t length, ulp_error *error) {
    if (memchr(r->text + r->begin, '\0', length > LINE_LIMIT ? LINE_LIMIT + 1 : length) != NULL)
        return ulp_bad_line(
            error, line,
            "the line holds a zero byte; this is no text file (a file in UTF-16 has to be saved as UTF-8)");
    if (length > LINE_LIMIT)
        return ulp_bad_line(error, line, "the line is longer than %d MiB, the most that is read", LINE_LIMIT >> 20);
    return ulp_fail(error, ULP_BAD_FILE, "%s:%lu: cannot read: %s", line->file, line->number, strerror(r->failed));
}

/* Set the text of the next line, without its line break; NULL after the last line. The lines before a wait for input
 * and before a bad line are finished first. */
static ulp_status next_line(ulp_line *line, reader *r, const ulp_line_filter *f, ulp_error *error) {
    while (r->begin >= r->whole && !r->ended && r->end - r->begin <= LINE_LIMIT) {
        if (f->pause != NULL) ULP_TRY(f->pause(f->context, error));
        ULP_TRY(read_more(line, r, error));
    }
    char *const text = r->text + r->begin;
    const char *const end = memchr(text, '\n', r->end - r->begin);
    const size_t length = end != NULL ? (size_t)(end - text) : r->end - r->begin;
    if (length > LINE_LIMIT || (end == NULL && r->failed != 0) || memchr(text, '\0', length) != NULL) {
        if (f->pause != NULL) ULP_TRY(f->pause(f->context, error));
        return refuse_line(line, r, length, error);
    }
    line->text = end != NULL || length > 0 ? text : NULL;
    text[length] = '\0';
    r->begin += length + (end != NULL);
    return ULP_OK;
}

/* Take a byte order mark, and blanks and a carriage return at the ends, off a line. */
static void trim(ulp_line *line) {
    static const char mark[] = "\xef\xbb\xbf";
    char *text = line->text, *end = text + strlen(text);
    if (line->number == 1 && strncmp(text, mark, 3) == 0) text += 3;
    while (end > text && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t')) *--end = '\0';
    line->text = text + strspn(text, " \t");
}

static ulp_status filter_lines(ulp_line *line, reader *r, const ulp_line_filter *f, ulp_error *error) {
    for (;; line->number++) {
        if (f->plain != NULL && r->begin < r->whole) {
            const char *text = r->text + r->begin;
            ULP_TRY(f->plain(f->context, &text, r->text + r->whole, line, error));
            r->begin = (size_t)(text - r->text);
        }
        ULP_TRY(next_line(line, r, f, error));
        if (line->text == NULL) return f->pause != NULL ? f->pause(f->context, error) : ULP_OK;
        trim(line);
        if (line->text[0] == '\0' || line->text[0] == '#') continue;
        ULP_TRY(f->each(f->context, line, error));
        line->index++;
    }
}

/* Numbers and codes come in lines of a file, but users try them as arguments. */
static ulp_status cannot_open(const char *program, const char *path, ulp_error *error) {
    const char *why = strerror(errno);
    ulp_exact number;
    uint64_t code;
    if (!*path) return ulp_refuse(error, "the name of a file is empty");
    if (errno == ENOENT && (ulp_read_exact(&number, path, ULP_NUMBER_ALL) || ulp_read_hex(&code, path, 64)))
        return ulp_refuse(error,
                          "cannot read %s: %s; an argument is the name of a file, and numbers come on standard input: "
                          "echo %s | %s OPTION...",
                          path, why, path, program);
    return ulp_refuse(error, "cannot read %s: %s", path, why);
}

ulp_status ulp_input_open(FILE **file, const char *program, const char *path, ulp_error *error) {
    struct stat about;
    *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (*file == NULL) return cannot_open(program, path, error);
    if (fstat(fileno(*file), &about) != 0 || !S_ISDIR(about.st_mode)) return ULP_OK;
    ulp_input_close(*file);
    *file = NULL;
    return ulp_refuse(error, "cannot read %s: it is a folder", path);
}

void ulp_input_close(FILE *file) {
    if (file != NULL && file != stdin) fclose(file);
}

const char *ulp_input_name(const char *path) { return strcmp(path, "-") == 0 ? "stdin" : path; }

const char *ulp_input_path(const ulp_arguments *a, size_t i) {
    if (i < a->word_count) return a->words[i];
    return i == 0 ? "-" : NULL;
}

ulp_status ulp_filter_lines(const ulp_arguments *a, const ulp_line_filter *filter, ulp_error *error) {
    ulp_line line = {0};
    ulp_status status = ULP_OK;
    for (size_t i = 0; status == ULP_OK && (line.file = ulp_input_path(a, i)) != NULL; i++) {
        FILE *file;
        ULP_TRY(ulp_input_open(&file, a->program, line.file, error));
        reader r = {.file = fileno(file)};
        line.file = ulp_input_name(line.file);
        line.number = 1;
        status = filter_lines(&line, &r, filter, error);
        free(r.text);
        ulp_input_close(file);
    }
    return status;
}

ulp_status ulp_refuse_empty_field(ulp_error *error, const ulp_line *line, const char *text) {
    static const char blanks[] = " \t";
    const char *at = text + strspn(text, blanks);
    if (!*at) return ULP_OK;
    for (size_t field = 1; *at != ','; field++) {
        at += strcspn(at, " \t,");
        at += strspn(at, blanks);
        if (!*at) return ULP_OK;
        if (*at != ',') continue;
        at++;
        at += strspn(at, blanks);
        if (!*at || *at == ',') return ulp_bad_line(error, line, "field %zu of '%s' is empty", field + 1, text);
    }
    return ulp_bad_line(error, line, "field 1 of '%s' is empty", text);
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

int ulp_read_exact(ulp_exact *x, const char *word, int32_t modulo) { return ulp_exact_read(x, word, modulo) == ULP_OK; }

ulp_status ulp_bad_number(ulp_error *error, const ulp_line *line, const char *word) {
    const size_t length = strlen(word);
    if (length > ULP_NUMBER_LONGEST)
        return ulp_bad_line(error, line, "a number of %zu characters: at most %d are read", length, ULP_NUMBER_LONGEST);
    return ulp_bad_line(error, line, "'%s' is no number; allowed: decimal, hex float, inf, nan", word);
}

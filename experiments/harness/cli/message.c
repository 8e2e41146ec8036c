/* message.c - messages on stderr, exit statuses, and properties of the terminal; see message.h. */
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LONG_WORD = 200, SHOWN_OF_LONG_WORD = 60 };
enum { BEGIN_OF_LONG = 1600, END_OF_LONG = 400 }; /* what an error keeps of a longer sentence */

/* Add a text. A long word is shortened to its beginning and its length, and '?' replaces each control character. */
static void add_readable(ulp_text *to, const char *text) {
    while (*text) {
        const size_t blanks = strspn(text, " \n"), length = strcspn(text + blanks, " \n");
        ulp_text_add(to, text, blanks);
        text += blanks;
        const size_t shown = length > LONG_WORD ? SHOWN_OF_LONG_WORD : length;
        for (size_t i = 0; i < shown; i++) {
            const unsigned char c = (unsigned char)text[i];
            ulp_text_add(to, c < 0x20 || c == 0x7f ? "?" : text + i, 1);
        }
        const size_t quotes = text[0] == '\'' && text[length - 1] == '\'' ? 2 : 0;
        if (shown < length) ulp_text_print(to, "... (%zu characters)", length - quotes);
        text += length;
    }
}

static int stdout_failed; /* errno of the first write that failed; 0: none */

void ulp_flush_stdout(void) {
    if (fflush(stdout) != 0 && !stdout_failed) stdout_failed = errno;
}

void ulp_note_stdout(void) {
    if (ferror(stdout) && !stdout_failed) stdout_failed = errno;
}

void ulp_complain(const char *program, const char *text, ...) {
    ulp_text message = {0}, line = {0}, wrapped = {0};
    va_list arguments;
    if (!program) return;
    ulp_text_print(&message, "%s: ", program);
    va_start(arguments, text);
    ulp_text_print_list(&message, text, arguments);
    va_end(arguments);
    add_readable(&line, ulp_text_of(&message));
    if (isatty(STDERR_FILENO)) ulp_text_wrap(&wrapped, ulp_text_of(&line), 0, 2, ulp_columns_of(stderr));
    else ulp_text_add(&wrapped, ulp_text_of(&line), line.length);
    ulp_text_add(&wrapped, "\n", 1);
    ulp_flush_stdout();
    fwrite(wrapped.data, 1, wrapped.length, stderr);
    fflush(stderr);
    ulp_text_free(&message);
    ulp_text_free(&line);
    ulp_text_free(&wrapped);
}

ulp_status ulp_refuse_list(ulp_error *error, ulp_status status, const char *what, va_list arguments) {
    ulp_text whole = {0}, shown = {0};
    ulp_text_print_list(&whole, what, arguments);
    add_readable(&shown, ulp_text_of(&whole));
    const char *text = ulp_text_of(&shown);
    if (shown.length < ULP_ERROR_TEXT) ulp_fail(error, status, "%s", text);
    else ulp_fail(error, status, "%.*s ... %s", BEGIN_OF_LONG, text, text + shown.length - END_OF_LONG);
    ulp_text_free(&whole);
    ulp_text_free(&shown);
    return status;
}

ulp_status ulp_refuse(ulp_error *error, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    ulp_refuse_list(error, ULP_BAD_ARGUMENT, what, arguments);
    va_end(arguments);
    return ULP_BAD_ARGUMENT;
}

ulp_status ulp_refuse_more(ulp_error *error, const char *more) {
    if (error) strncat(error->text, more, sizeof error->text - 1 - strlen(error->text));
    return ULP_BAD_ARGUMENT;
}

const char *ulp_after_subject(const char *sentence, const char *subject) {
    const size_t n = strlen(subject);
    return strncmp(sentence, subject, n) == 0 && strncmp(sentence + n, ": ", 2) == 0 ? sentence + n + 2 : sentence;
}

int ulp_exit_of(ulp_status status) {
    switch (status) {
    case ULP_OK: return ULP_EXIT_FINE;
    case ULP_NO_DEVICE: return ULP_EXIT_LACKING;
    case ULP_BAD_ARGUMENT:
    case ULP_BAD_NAME:
    case ULP_NOT_IN_RANGE:
    case ULP_UNSUPPORTED: return ULP_EXIT_USAGE;
    default: return ULP_EXIT_FAILED;
    }
}

int ulp_complain_of(const char *program, const ulp_error *error) {
    if (error->text[0]) ulp_complain(program, "%s", error->text);
    return ulp_exit_of(error->status);
}

int ulp_finish_stdout(const char *program, int status) {
    ulp_flush_stdout();
    if (!stdout_failed && !ferror(stdout)) return status;
    const char *why = stdout_failed ? strerror(stdout_failed) : "an earlier write failed";
    ulp_complain(program, "cannot write the output: %s", why);
    return ULP_EXIT_FAILED;
}

static int is_terminal(FILE *file) {
    const char *kind = getenv("TERM");
    return kind && strcmp(kind, "dumb") != 0 && isatty(fileno(file));
}

int ulp_bar_on(FILE *file) { return is_terminal(file); }

int ulp_colour_on(FILE *file) {
    const char *off = getenv("NO_COLOR");
    return (!off || !*off) && is_terminal(file);
}

int ulp_columns_of(FILE *file) {
    struct winsize size;
    const char *columns_variable = getenv("COLUMNS");
    if (isatty(fileno(file)) && ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const long columns = columns_variable ? strtol(columns_variable, NULL, 10) : 0;
    return columns > 0 && columns < 10000 ? (int)columns : 80;
}

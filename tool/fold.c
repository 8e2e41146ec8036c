/* fold.c - lines on stdout that are folded at the width of a terminal. */
#include "tool.h"

#include <stdarg.h>
#include <unistd.h>

void tool_print_folded(int indent, const char *text, ...) {
    ulp_text line = {0}, folded = {0};
    va_list arguments;
    va_start(arguments, text);
    ulp_text_print_list(&line, text, arguments);
    va_end(arguments);
    if (isatty(STDOUT_FILENO)) ulp_text_wrap(&folded, ulp_text_of(&line), 0, indent, ulp_columns_of(stdout));
    else ulp_text_add(&folded, ulp_text_of(&line), line.length);
    puts(ulp_text_of(&folded));
    ulp_text_free(&line);
    ulp_text_free(&folded);
}

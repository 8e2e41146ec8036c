/* print.c - printing codes, numbers and folded lines in the tool. */
#include "tool.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"

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

void tool_print_value(FILE *to, double value) {
    if (value != value) fputs("nan", to); /* printf may print a sign, which has no meaning */
    else fprintf(to, "%.17g", value);
}

void tool_print_result(FILE *to, uint64_t code, const ulp_format *format, int form) {
    const double value = ulp_decode(code, format);
    char text[1200];
    if (form == TOOL_CODE || form == TOOL_BOTH) tool_print_code(to, code, format);
    if (form == TOOL_BOTH) putc(' ', to);
    if (form == TOOL_VALUE || form == TOOL_BOTH) tool_print_value(to, value);
    if (form == TOOL_SHORT) ulp_short_text(text, value, format);
    if (form == TOOL_EXACT) snprintf(text, sizeof text, "%.1100g", value);
    if (form >= TOOL_SHORT) fputs(value != value ? "nan" : text, to);
}

void tool_exact_text(char to[40], double value, int width) {
    char text[1200];
    snprintf(text, sizeof text, "%.1100g", value);
    if (value != value) strcpy(to, "nan");
    else if ((int)strlen(text) <= width && width < 40) strcpy(to, text);
    else if ((ulp_bits64(value) & 0x7ff0000000000000u) == 0)
        snprintf(to, 40, "%s0x%llxp-1074", value < 0 ? "-" : "", /* subnormal */
                 (unsigned long long)ulp_bits64(value) & 0xfffffffffffffu);
    else ulp_hex_text(to, value);
}

void tool_print_code(FILE *to, uint64_t code, const ulp_format *format) {
    fprintf(to, "%0*llx", (format->bits + 3) / 4, (unsigned long long)code);
}

/* values.c - reading and printing codes and numbers in the tool. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

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

void tool_print_value(FILE *to, double value) {
    if (value != value) fputs("nan", to); /* printf may print a sign, which has no meaning */
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

/* course_pages.h - the numbers and formats of a page of the course, and whether a page shows the numbers of a question.
 *
 * A number counts without its sign: a decimal, a power of two, a product with a power of two, or a fraction, of which
 * both parts count, too. A word counts in lower case, and the usual names of formats are one name. */
#ifndef ULP_TESTS_COURSE_PAGES_H
#define ULP_TESTS_COURSE_PAGES_H

#include <ctype.h>

#include "support.h"

enum { TOKENS_MAX = 1024, TOKEN = 40 };

/* The numbers and words of a text, in their order. */
typedef struct tokens {
    char text[TOKENS_MAX][TOKEN];
    int count;
} tokens;

static void add_number_token(tokens *to, double x) {
    if (to->count == TOKENS_MAX) fail_msg("a page has more than %d numbers and words", TOKENS_MAX);
    snprintf(to->text[to->count++], TOKEN, "%.17g", x);
}

static const char *add_number(tokens *to, const char *at) {
    char *end;
    double x = strtod(at, &end), y = 0;
    if (x == 2 && *end == '^' && (isdigit((unsigned char)end[1]) || end[1] == '-'))
        x = ldexp(1, (int)strtol(end + 1, &end, 10));
    if (strncmp(end, "*2^", 3) == 0) x = ldexp(x, (int)strtol(end + 3, &end, 10));
    add_number_token(to, x);
    if (*end == '/' && isdigit((unsigned char)end[1]) && (y = strtod(end + 1, &end)) != 0) {
        add_number_token(to, y);
        add_number_token(to, x / y);
    }
    return end;
}

static const char *add_word(tokens *to, const char *at) {
    static const char *const names[][2] = {{"fp16", "binary16"}, {"bf16", "bfloat16"}, {"fp32", "binary32"}};
    char word[TOKEN];
    size_t n = 0;
    for (; isalnum((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])); at++)
        if (n + 1 < TOKEN) word[n++] = (char)tolower((unsigned char)*at);
    word[n] = '\0';
    if (to->count == TOKENS_MAX) fail_msg("a page has more than %d numbers and words", TOKENS_MAX);
    const char *name = word;
    for (int i = 0; i < 3; i++)
        if (strcmp(word, names[i][0]) == 0) name = names[i][1];
    snprintf(to->text[to->count++], TOKEN, "%s", name);
    return at;
}

/* Add the numbers, and the words that have a digit. */
static void add_tokens(tokens *to, const char *text) {
    while (*text) {
        const char *begin = text;
        if (isdigit((unsigned char)*text)) text = add_number(to, text);
        else if (!isalpha((unsigned char)*text)) text++;
        else {
            text = add_word(to, text);
            if (strcspn(begin, "0123456789") >= (size_t)(text - begin)) to->count--;
        }
    }
}

static int has_token(const tokens *t, const char *text) {
    int i = 0;
    while (i < t->count && strcmp(t->text[i], text) != 0) i++;
    return i < t->count;
}

/* Whether a token is a number that is no power of two, and no multiple of a power of two below 64. */
static int is_long_number(const char *token) {
    int e;
    char *end;
    const double x = strtod(token, &end);
    if (*end || x == 0 || x - x != 0) return 0;
    return frexp(x, &e) * 64 != floor(frexp(x, &e) * 64);
}

/* Whether a token makes a question special: a number that is not whole and below 64, or a format that few
 * questions have. */
static int is_telling(const char *token) {
    char *end;
    const double x = strtod(token, &end);
    if (*end) return strcmp(token, "binary16") != 0 && strcmp(token, "bfloat16") != 0 && strcmp(token, "binary32") != 0;
    return x != floor(x) || x >= 64;
}

/* Add a file of text, or the titles of the figure of a lab in a file of gnuplot. The signs of typesetters become signs
 * of questions: 6 x 10^-8 is 6e-8, 3 x 2^-4 is 3*2^-4, 2^{-4} is 2^-4, and the two characters \n are a blank. */
static void add_file_tokens(tokens *to, const char *path, const char *figure) {
    enum { SIGNS = 5 };
    static const char *const signs[SIGNS][2] = {
        {" \xc3\x97 10^", "e"}, {" \xc3\x97 ", "*"}, {"{", ""}, {"}", ""}, {"\\n", " "}};
    char line[512], plain[512], lab[8] = "";
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s cannot be read", path);
    while (fgets(line, sizeof line, file)) {
        size_t n = 0;
        sscanf(line, "eval open(\"%7[A-Z0-9]", lab);
        if (figure && (strcmp(lab, figure) != 0 || strncmp(line, "set title", 9) != 0)) continue;
        for (const char *at = line; *at;) {
            int i = 0;
            while (i < SIGNS && strncmp(at, signs[i][0], strlen(signs[i][0])) != 0) i++;
            if (i < SIGNS) n += (size_t)sprintf(plain + n, "%s", signs[i][1]);
            else plain[n++] = *at;
            at += i < SIGNS ? strlen(signs[i][0]) : 1;
        }
        plain[n] = '\0';
        add_tokens(to, plain);
    }
    fclose(file);
}

/* Fill in the numbers and words of the page of a lab, and of the title of its figure. */
static void read_page(tokens *page, const char *lab) {
    char path[64];
    page->count = 0;
    snprintf(path, sizeof path, "course/%s.md", lab);
    add_file_tokens(page, path, NULL);
    add_file_tokens(page, "course/figures.gp", lab);
}

#endif

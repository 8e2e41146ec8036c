/* text.c - ulp round: numbers of lines of text. */
#include "group.h"

#include <stdlib.h>
#include <string.h>

typedef struct texts {
    round_group *group;
    int from; /* round_from */
    const char *file;
    unsigned long number[ROUND_GROUP]; /* of the line of each number of the group */
} texts;

static ulp_status finish(void *context, ulp_error *error) {
    texts *t = context;
    round_group *g = t->group;
    if (g->n == 0) return ULP_OK;
    const size_t n = g->n, written = round_group_write(g);
    g->index += n;
    g->n = 0;
    if (written == n) return ferror(g->out) ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
    ulp_text why = {0};
    round_add_missing(&why, g->y[written], &g->target.format);
    ulp_refuse(error, "%s:%lu: %s", t->file, t->number[written], ulp_text_of(&why));
    ulp_text_free(&why);
    return ULP_BAD_ARGUMENT;
}

/* ---- lines of any form ---- */

static int is_value(double *value, const texts *t, const char *text) {
    uint64_t bits;
    if (t->from == FROM_TEXT) return ulp_read_number(value, text);
    const size_t digits = t->from == FROM_F32 ? 8 : 16;
    if (strlen(text) != digits || text[1] == 'x' || text[1] == 'X' || !ulp_read_hex(&bits, text, 64)) return 0;
    *value = t->from == FROM_F32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
    return 1;
}

static ulp_status take_line(void *context, const ulp_line *line, ulp_error *error) {
    texts *t = context;
    round_group *g = t->group;
    double value = 0;
    const int good = is_value(&value, t, line->text);
    if (!good || g->n == ROUND_GROUP) ULP_TRY(finish(t, error));
    t->file = line->file;
    if (!good && t->from == FROM_TEXT)
        return ulp_bad_line(error, line, "'%s' is no number; allowed: decimal, hex float, inf, nan", line->text);
    if (!good)
        return ulp_bad_line(error, line, "'%s' is not %d hex digits, the bits of a binary%d value", line->text,
                            t->from == FROM_F32 ? 8 : 16, t->from == FROM_F32 ? 32 : 64);
    t->number[g->n] = line->number;
    g->x[g->n++] = value;
    return ULP_OK;
}

/* ---- plain lines: a decimal number, or the hex digits, and a line break ---- */

/* Read `digits` hex digits. Returns 0 if a character is none. */
static inline int read_hex(uint64_t *bits, const char *text, int digits) {
    uint64_t value = 0;
    unsigned bad = 0;
    for (int i = 0; i < digits; i++) {
        const unsigned c = (unsigned char)text[i], letter = (c | 0x20) - 'a', digit = c - '0';
        bad |= (digit > 9) & (letter > 5);
        value = value << 4 | (digit > 9 ? letter + 10 : digit);
    }
    *bits = value;
    return bad == 0;
}

/* Read a number of the form `from`, with at least `room` characters left. Returns the character after it; NULL if the
 * text has another form. */
static inline const char *read_plain(double *value, const char *text, size_t room, int from,
                                     const ulp_power_of_ten *powers) {
    uint64_t bits;
    const int digits = from == FROM_F32 ? 8 : 16;
    if (from == FROM_TEXT) return ulp_decimal_read(value, text, powers);
    if (room < (size_t)digits || !read_hex(&bits, text, digits)) return NULL;
    *value = from == FROM_F32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
    return text + digits;
}

static inline ulp_status take_plain_of(texts *t, const char **text, const char *end, ulp_line *line, int from,
                                       ulp_error *error) {
    round_group *g = t->group;
    const ulp_power_of_ten *const powers = from == FROM_TEXT ? ulp_powers_of_ten() : NULL;
    const char *at = *text;
    t->file = line->file;
    while (at < end) {
        size_t n = g->n;
        const size_t before = n;
        for (const char *behind; n < ROUND_GROUP && at < end; at = behind, n++) {
            behind = read_plain(&g->x[n], at, (size_t)(end - at), from, powers);
            if (behind == NULL) break;
            behind += *behind == '\r';
            if (*behind++ != '\n') break;
            t->number[n] = line->number + n - before;
        }
        g->n = n;
        line->number += n - before;
        line->index += n - before;
        if (n < ROUND_GROUP) break;
        ULP_TRY(finish(t, error));
    }
    *text = at;
    return ULP_OK;
}

static ulp_status take_plain(void *context, const char **text, const char *end, ulp_line *line, ulp_error *error) {
    texts *t = context;
    switch (t->from) { /* a loop for each form */
    case FROM_F32: return take_plain_of(t, text, end, line, FROM_F32, error);
    case FROM_F64: return take_plain_of(t, text, end, line, FROM_F64, error);
    default: return take_plain_of(t, text, end, line, FROM_TEXT, error);
    }
}

ulp_status round_texts(round_group *g, int from, const ulp_arguments *a, ulp_error *error) {
    static texts t;
    const ulp_line_filter filter = {.each = take_line, .plain = take_plain, .pause = finish, .context = &t};
    t.group = g;
    t.from = from;
    return ulp_filter_lines(a, &filter, error);
}

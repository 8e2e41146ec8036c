/* pieces.c - reading and writing files of finished pieces; see pieces.h. */
#include "pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"

static uint32_t checksum_of(const ulp_piece *p) {
    uint32_t crc = ulp_crc32(0, p->label, strlen(p->label));
    crc = ulp_crc32(crc, "\n", 1);
    return p->length ? ulp_crc32(crc, p->lines, p->length) : crc;
}

void ulp_pieces_begin(FILE *file) { fprintf(file, "# build: %s\n", ulp_build_id()); }

static int print_end(char *text, size_t size, const ulp_piece *p) {
    return snprintf(text, size, "# end %zu: %zu crc32 %08x", p->index, p->count, (unsigned)checksum_of(p));
}

void ulp_piece_write(FILE *file, const ulp_piece *p) {
    char end[96];
    print_end(end, sizeof end, p);
    fprintf(file, "# piece %zu: %s\n", p->index, p->label);
    if (p->length) fwrite(p->lines, 1, p->length, file);
    fprintf(file, "%s\n", end);
}

/* ---- reading ---- */

/* A file and its current line. */
typedef struct cursor {
    const ulp_piece_reader *reader;
    char *line; /* without its line break */
    size_t room, number;
    size_t length;       /* of line */
    int more;            /* 1: line is a whole line; 0: the end of the file, or a line without its line break */
    unsigned char *seen; /* (seen_room) not 0 for the pieces of this file so far */
    size_t seen_room;
} cursor;

static void next_line(cursor *c) {
    const ssize_t length = getline(&c->line, &c->room, c->reader->file);
    c->number++;
    c->more = length > 0 && c->line[length - 1] == '\n';
    c->length = length > 0 ? (size_t)length : 0;
    if (c->line) c->line[c->length] = '\0'; /* at the end of the file the line is empty */
    while (c->length && (c->line[c->length - 1] == '\n' || c->line[c->length - 1] == '\r')) c->line[--c->length] = '\0';
    if (c->number == 1 && c->length >= 3 && memcmp(c->line, "\xef\xbb\xbf", 3) == 0) {
        c->length -= 3;
        memmove(c->line, c->line + 3, c->length + 1);
    }
}

/* Check "# build: ID", the last line of the head. */
static int read_build(const cursor *c) {
    static const char key[] = "# build: ";
    if (!c->more || strncmp(c->line, key, strlen(key)) != 0)
        return ulp_usage_error(c->reader->program, "%s: the head of this file is not complete: it names no build",
                               c->reader->path);
    if (strcmp(c->line + strlen(key), ulp_build_id()) == 0) return -1;
    return ulp_usage_error(c->reader->program,
                           "%s was made by another build: there %s, here %s; pieces of two builds are not mixed",
                           c->reader->path, c->line + strlen(key), ulp_build_id());
}

static int read_head(cursor *c) {
    const ulp_piece_reader *r = c->reader;
    const char *head = r->head;
    for (next_line(c); c->more && *head; next_line(c)) {
        if (strncmp(c->line, "# shard: ", 9) == 0) continue;
        const size_t length = strcspn(head, "\n");
        if (c->line[0] != '#' && (r->forgiving || c->number == 1))
            return ulp_usage_error(r->program, "%s, line %zu: this is no file of a stopped run", r->path, c->number);
        if (c->line[0] != '#')
            return ulp_usage_error(r->program,
                                   "%s, line %zu: a row that belongs to no point of this grid; give shards or "
                                   ".part files, not a finished CSV",
                                   r->path, c->number);
        if (c->length != length || memcmp(c->line, head, length) != 0)
            return ulp_usage_error(r->program, "%s was made with other options: there '%s', here '%.*s'", r->path,
                                   c->line, (int)length, head);
        head += length + (head[length] == '\n');
    }
    while (c->more && strncmp(c->line, "# shard: ", 9) == 0) next_line(c);
    if (ferror(r->file)) return ulp_usage_error(r->program, "cannot read %s: %s", r->path, strerror(errno));
    if (*head)
        return ulp_usage_error(r->program, "%s: the head of this file is not complete, and no point follows: remove it",
                               r->path);
    return read_build(c);
}

/* Whether the line begins a known piece; then *index and *label are set. */
static int is_piece(const cursor *c, size_t *index, const char **label) {
    static const char begin[] = "# piece ";
    if (strncmp(c->line, begin, sizeof begin - 1) != 0) return 0;
    const char *number = c->line + sizeof begin - 1;
    if (*number < '0' || *number > '9') return 0;
    char *end;
    *index = strtoul(number, &end, 10);
    if (strncmp(end, ": ", 2) != 0) return 0;
    *label = end + 2;
    return c->reader->knows(c->reader->own, *index, *label);
}

static int is_repeated(cursor *c, size_t index) {
    if (index >= c->seen_room) {
        const size_t room = 2 * index + 64;
        c->seen = ulp_grow(c->seen, room);
        memset(c->seen + c->seen_room, 0, room - c->seen_room);
        c->seen_room = room;
    }
    return c->seen[index]++ != 0;
}

/* Report a damaged piece. ULP_GO_ON (-1): reading continues after the damage. */
static int damaged(const cursor *c, size_t number, const char *what, const char *wrong) {
    const ulp_piece_reader *r = c->reader;
    if (!r->forgiving)
        return ulp_usage_error(r->program, "%s, line %zu: %s is damaged: %s; make that file again", r->path, number,
                               what, wrong);
    ulp_complain(r->program, "%s, line %zu: %s is damaged: %s; it is computed again", r->path, number, what, wrong);
    return -1;
}

/* Report a line that begins no piece, although a piece must begin there. */
static int misplaced(const cursor *c) {
    if (!c->reader->forgiving && c->line[0] != '#')
        return ulp_usage_error(c->reader->program,
                               "%s, line %zu: a row that belongs to no point of this grid; give shards or .part "
                               "files, not a finished CSV",
                               c->reader->path, c->number);
    return damaged(c, c->number, "a piece", "this line names none of this run");
}

/* Say that the last piece of a merged file is not whole, and go on without this piece. */
static void report_cut(const cursor *c) {
    if (!c->reader->forgiving)
        ulp_complain(c->reader->program, "%s is cut off at line %zu: its last point is not whole and is not used",
                     c->reader->path, c->number - !c->length);
}

/* Read the lines of a piece; the cursor then has the end line, which is the last line of the piece. *cut gets 1 if the
 * file ends before it. Returns NULL, or the reason if the piece is damaged. */
static const char *read_lines(cursor *c, ulp_piece *piece, ulp_text *lines, int *cut) {
    char end[96];
    for (next_line(c); c->more && c->line[0] != '#'; next_line(c)) {
        ulp_text_add(lines, c->line, c->length);
        ulp_text_add(lines, "\n", 1);
        piece->count++;
    }
    piece->lines = lines->data;
    piece->length = lines->length;
    print_end(end, sizeof end, piece);
    if (strcmp(c->line, end) == 0) return NULL; /* a file may end without a line break */
    *cut = !c->more;
    if (*cut) return NULL;
    return strncmp(c->line, "# end ", 6) != 0 ? "its end line is missing"
                                              : "its lines do not match the number and the CRC-32 of its end line";
}

static int read_pieces(cursor *c) {
    int status = -1, cut = 0, in_order = 1; /* in_order: the previous piece is not damaged */
    next_line(c);
    while (c->more && status < 0) {
        ulp_piece piece = {0};
        const char *label;
        const size_t number = c->number;
        if (!is_piece(c, &piece.index, &label)) {
            if (in_order) status = misplaced(c);
            in_order = 0;
            next_line(c);
            continue;
        }
        ulp_text lines = {0}, what = {0};
        char *copy = ulp_copy_text(label);
        piece.label = copy;
        const char *wrong = read_lines(c, &piece, &lines, &cut);
        if (!wrong && !cut && is_repeated(c, piece.index)) wrong = "it stands in this file twice";
        if (!wrong && !cut) status = c->reader->take(c->reader->own, &piece);
        ulp_text_print(&what, "point '%s'", copy);
        if (wrong) status = damaged(c, number, ulp_text_of(&what), wrong);
        in_order = !wrong;
        if (!cut && !(wrong && strncmp(c->line, "# piece ", 8) == 0)) next_line(c);
        ulp_text_free(&lines);
        ulp_text_free(&what);
        free(copy);
    }
    if (status < 0 && ferror(c->reader->file))
        return ulp_run_error(c->reader->program, "cannot read %s: %s", c->reader->path, strerror(errno));
    if (status < 0 && (cut || c->length)) report_cut(c); /* the file ends within a piece, or within its first line */
    return status;
}

int ulp_pieces_read(const ulp_piece_reader *reader) {
    cursor c = {.reader = reader};
    int status = read_head(&c);
    if (status < 0) status = read_pieces(&c);
    free(c.line);
    free(c.seen);
    return status;
}

/* part.c - finished points in a file: OUT.part of a run that goes on, and the output of a shard.
 *
 * Both are the CSV's header lines and columns, then per point, in any order:
 *     # point 17: LABEL
 *     rows
 *     # end 17: NUMBER OF ROWS crc32 EIGHT HEX DIGITS OF THE ROWS
 * A file that ends within a record was cut: that point was not finished. A record whose rows do not fit its end line is
 * damaged: a run that goes on computes the point again, a merge refuses the file. End lines without a CRC-32, as
 * earlier versions wrote them, count by their number of rows. Files whose header lines differ belong to other numbers
 * and are refused; # shard: does not count.
 */
#include "experiments/harness/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/data.h"

static uint32_t checksum_of(const ulp_text *rows) {
    return ulp_crc32(0, (const unsigned char *)ulp_text_of(rows), rows->length);
}

void ulp_part_put(FILE *file, const ulp_rows *rows) {
    fprintf(file, "# point %zu: %s\n", rows->point->index, rows->point->label);
    if (rows->text.length) fwrite(rows->text.data, 1, rows->text.length, file);
    fprintf(file, "# end %zu: %zu crc32 %08x\n", rows->point->index, rows->count, (unsigned)checksum_of(&rows->text));
}

/* A file that is being read. */
typedef struct part_reader {
    ulp_run *run;
    const char *path;
    FILE *file;
    int resumed; /* damaged records are passed over */
    char *line;
    size_t room, number;
    ssize_t length; /* of line, its line break included; -1 at the end */
} part_reader;

static int next_line(part_reader *r) {
    r->length = getline(&r->line, &r->room, r->file);
    if (r->length > 0 && r->line[r->length - 1] != '\n') r->length = -1; /* torn */
    r->number++;
    return r->length > 0;
}

static int read_head(part_reader *r) {
    const char *ours = ulp_text_of(&r->run->header);
    const char *columns = r->run->experiment->columns;
    while (next_line(r) && r->line[0] == '#') {
        if (strncmp(r->line, "# shard: ", 9) == 0) continue;
        size_t length = strcspn(ours, "\n") + 1;
        if (!*ours || (size_t)r->length != length || memcmp(r->line, ours, length) != 0) {
            r->line[r->length - 1] = '\0';
            return ulp_usage_error(r->run, "%s was made with other options: there '%s', here '%.*s'", r->path, r->line,
                                   (int)(*ours ? length - 1 : 0), ours);
        }
        ours += length;
    }
    if (ferror(r->file)) return ulp_usage_error(r->run, "cannot read %s: %s", r->path, strerror(errno));
    if (*ours || r->length < 0 || (size_t)r->length != strlen(columns) + 1 ||
        memcmp(r->line, columns, strlen(columns)) != 0)
        return ulp_usage_error(r->run, "%s: not a file of this experiment's points: its head is not complete", r->path);
    return -1;
}

/* The point that the line begins; its place in *k. */
static int is_point(const part_reader *r, size_t *k) {
    int used = 0;
    if (sscanf(r->line, "# point %zu: %n", k, &used) != 1 || used == 0 || *k >= r->run->point_count) return 0;
    const char *label = r->run->points[*k].label;
    return strlen(label) + 1 == (size_t)(r->length - used) && memcmp(r->line + used, label, strlen(label)) == 0;
}

/* Whether the line is the end line of these rows: NULL, or what is wrong. */
static const char *check_end(const part_reader *r, size_t k, const ulp_rows *rows) {
    char with[80], without[80];
    snprintf(without, sizeof without, "# end %zu: %zu\n", k, rows->count);
    snprintf(with, sizeof with, "# end %zu: %zu crc32 %08x\n", k, rows->count, (unsigned)checksum_of(&rows->text));
    if (strcmp(r->line, with) == 0 || strcmp(r->line, without) == 0) return NULL;
    if (strncmp(r->line, "# end ", 6) != 0) return "its end line is missing";
    return "its rows do not match the number and the CRC-32 of its end line";
}

/* The rows up to the next line that begins with #, which is then the reader's. NULL, or what is wrong with them. */
static const char *read_rows(part_reader *r, size_t k, ulp_rows *rows) {
    const char *wrong = NULL;
    while (next_line(r) && r->line[0] != '#') {
        if (ulp_count_fields(r->line, ',') != r->run->column_count || strlen(r->line) != (size_t)r->length)
            wrong = "a row has not as many cells as there are columns";
        ulp_text_add(&rows->text, r->line, (size_t)r->length);
        rows->count++;
    }
    return wrong || r->length < 0 ? wrong : check_end(r, k, rows);
}

/* -1: the reading goes on behind the damage. */
static int damaged(const part_reader *r, const char *what, size_t number, const char *wrong) {
    if (!r->resumed)
        return ulp_usage_error(r->run, "%s, line %zu: %s is damaged: %s; make that file again", r->path, number, what,
                               wrong);
    fprintf(stderr, "%s: %s, line %zu: %s is damaged: %s; it is computed again\n", r->run->experiment->name, r->path,
            number, what, wrong);
    return -1;
}

static int damaged_point(const part_reader *r, size_t k, size_t number, const char *wrong) {
    char what[sizeof r->run->points[k].label + 16];
    snprintf(what, sizeof what, "point '%s'", r->run->points[k].label);
    return damaged(r, what, number, wrong);
}

/* Takes over the text of a finished point. */
static int keep(part_reader *r, size_t k, ulp_rows *found) {
    ulp_rows *rows = &r->run->rows[k];
    if (!r->run->done[k]) {
        rows->text = found->text;
        rows->count = found->count;
        r->run->done[k] = 1;
        return -1;
    }
    int same = rows->text.length == found->text.length &&
               (!found->text.length || memcmp(rows->text.data, found->text.data, found->text.length) == 0);
    ulp_text_free(&found->text);
    if (same) return -1;
    fprintf(stderr, "%s: %s: point '%s' differs from another file's\n", r->run->experiment->name, r->path,
            r->run->points[k].label);
    return ULP_EXIT_FAILED;
}

/* A line that begins no point where one should begin. */
static int misplaced(const part_reader *r) {
    if (!r->resumed && r->line[0] != '#')
        return ulp_usage_error(r->run,
                               "%s, line %zu: a row that belongs to no point of this grid; give shards or .part "
                               "files, not a finished CSV",
                               r->path, r->number);
    return damaged(r, "a point", r->number, "this line names none of the grid");
}

static int read_records(part_reader *r) {
    int status = -1, in_order = 1; /* in order: between two records, not behind a damaged one */
    for (int more = next_line(r); more && status < 0;) {
        size_t k, number = r->number;
        if (!is_point(r, &k)) {
            if (in_order) status = misplaced(r);
            in_order = 0;
            more = next_line(r);
            continue;
        }
        ulp_rows found = {.run = r->run};
        const char *wrong = read_rows(r, k, &found);
        in_order = !wrong;
        if (!wrong && r->length > 0) status = keep(r, k, &found);
        else ulp_text_free(&found.text);
        if (wrong) status = damaged_point(r, k, number, wrong);
        else more = next_line(r);
        if (r->length < 0) more = 0;
    }
    return status;
}

int ulp_part_read(ulp_run *run, const char *path, FILE *file, int resumed) {
    part_reader r = {.run = run, .path = path, .file = file, .resumed = resumed};
    int status = read_head(&r);
    if (status < 0) status = read_records(&r);
    free(r.line);
    return status;
}

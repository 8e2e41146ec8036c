/* part.c - finished points in a file: OUT.part of a run that goes on, and the output of a shard.
 *
 * Both are the CSV's header lines and columns, then per point, in any order:
 *     # point 17: LABEL
 *     rows
 *     # end 17: NUMBER OF ROWS
 * A record without its end line is a point that was not finished. Files whose header lines differ belong to other
 * numbers and are refused; # shard: does not count.
 */
#include "run.h"

#include <stdlib.h>
#include <string.h>

void ulp_part_put(FILE *file, const ulp_rows *rows) {
    fprintf(file, "# point %zu: %s\n", rows->point->index, rows->point->label);
    if (rows->text.length) fwrite(rows->text.data, 1, rows->text.length, file);
    fprintf(file, "# end %zu: %zu\n", rows->point->index, rows->count);
}

/* A file that is being read. */
typedef struct part_reader {
    ulp_run *run;
    const char *path;
    FILE *file;
    char *line;
    size_t room;
    ssize_t length; /* of line, its line break included; -1 at the end */
} part_reader;

static int next_line(part_reader *r) {
    r->length = getline(&r->line, &r->room, r->file);
    if (r->length > 0 && r->line[r->length - 1] != '\n') r->length = -1; /* torn */
    return r->length > 0;
}

static int refuse(const part_reader *r, const char *why, const char *ours, int length) {
    return ulp_usage_error(r->run, "%s: %s%s%.*s", r->path, why, ours ? ": here " : "", length, ours ? ours : "");
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
    if (*ours || r->length < 0 || (size_t)r->length != strlen(columns) + 1 ||
        memcmp(r->line, columns, strlen(columns)) != 0)
        return refuse(r, "not a file of this experiment's points: its head is not complete", NULL, 0);
    return -1;
}

/* The point that a line begins; its place in *k. */
static int is_point(const part_reader *r, size_t *k) {
    int used = 0;
    if (sscanf(r->line, "# point %zu: %n", k, &used) != 1 || used == 0 || *k >= r->run->point_count) return 0;
    const char *label = r->run->points[*k].label;
    return strlen(label) + 1 == (size_t)(r->length - used) && memcmp(r->line + used, label, strlen(label)) == 0;
}

/* The rows up to the end line; 1 if the record is whole. */
static int read_rows(part_reader *r, size_t k, ulp_text *text, size_t *count) {
    size_t end_k, end_count;
    *count = 0;
    while (next_line(r) && r->line[0] != '#') {
        ulp_text_add(text, r->line, (size_t)r->length);
        if (ulp_count_fields(r->line, ',') != r->run->column_count) return 0;
        ++*count;
    }
    return r->length > 0 && sscanf(r->line, "# end %zu: %zu", &end_k, &end_count) == 2 && end_k == k &&
           end_count == *count;
}

static int read_records(part_reader *r) {
    size_t k, count, foreign = 0;
    while (next_line(r)) {
        ulp_text text = {0};
        if (!is_point(r, &k)) {
            foreign++;
            continue;
        }
        if (!read_rows(r, k, &text, &count)) { /* not finished */
            ulp_text_free(&text);
            continue;
        }
        ulp_rows *rows = &r->run->rows[k];
        if (r->run->done[k]) {
            int same = rows->text.length == text.length &&
                       (!text.length || memcmp(rows->text.data, text.data, text.length) == 0);
            ulp_text_free(&text);
            if (same) continue;
            fprintf(stderr, "%s: %s: point '%s' differs from another file's\n", r->run->experiment->name, r->path,
                    r->run->points[k].label);
            return ULP_EXIT_FAILED;
        }
        rows->text = text;
        rows->count = count;
        r->run->done[k] = 1;
    }
    return foreign
               ? refuse(
                     r,
                     "holds rows that belong to no point of this grid; give shards or .part files, not a finished CSV",
                     NULL, 0)
               : -1;
}

int ulp_part_read(ulp_run *run, const char *path, FILE *file) {
    part_reader r = {.run = run, .path = path, .file = file};
    int status = read_head(&r);
    if (status < 0) status = read_records(&r);
    free(r.line);
    return status;
}

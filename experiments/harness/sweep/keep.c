/* keep.c - the files of a sweep: the points of OUT.part, merged files, shards and checkpoints; see sweep.h. */
#include "keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/harness/cli/message.h"
#include "experiments/harness/table/pieces.h"
#include "base/replace.h"

/* Open OUT.part, new or of an earlier run, and lock it. */
static int lock_part(ulp_sweep *s) {
    switch (ulp_lock_open(&s->part_file, s->part)) {
    case ULP_LOCK_OURS: return -1;
    case ULP_LOCK_FAILED: return ulp_cannot_write(s->program, s->part, 1);
    case ULP_LOCK_SPECIAL:
        return ulp_usage_error(s->program, "%s is a device or a pipe: choose another place with --out", s->part);
    case ULP_LOCK_TAKEN: break;
    }
    return ulp_usage_error(s->program, "another run is writing %s: let it end, or choose another place with --out",
                           s->place.path);
}

/* ---- pieces ---- */

static ulp_piece piece_of(const ulp_sweep *s, size_t k) {
    const ulp_rows *rows = &s->work[k].rows;
    return (ulp_piece){.index = k,
                       .label = s->plan->points[k].label,
                       .lines = rows->text.data,
                       .length = rows->text.length,
                       .count = rows->count};
}

static void write_head(const ulp_sweep *s, FILE *file) {
    fputs(s->head, file);
    if (s->shards) fprintf(file, "# shard: %zu/%zu\n", s->shard, s->shards);
    ulp_pieces_begin(file);
}

static int knows(void *own, size_t index, const char *label) {
    const ulp_plan *plan = ((const ulp_sweep *)own)->plan;
    return index < plan->count && strcmp(plan->points[index].label, label) == 0;
}

/* The file of a piece, for the message about a point that differs between two files. */
typedef struct source {
    ulp_sweep *sweep;
    const char *path;
    int forgiving; /* as of the reader */
} source;

static int knows_from(void *own, size_t index, const char *label) {
    return knows(((const source *)own)->sweep, index, label);
}

static int take_piece(void *own, const ulp_piece *piece) {
    const source *from = own;
    ulp_sweep *s = from->sweep;
    ulp_work *work = &s->work[piece->index];
    const char *lines = piece->lines ? piece->lines : "";
    if (!ulp_rows_fit(s->columns, lines, piece->length)) {
        if (!from->forgiving)
            return ulp_usage_error(s->program,
                                   "%s: the lines of point '%s' are no rows of this experiment; make that file again",
                                   from->path, piece->label);
        ulp_complain(s->program, "%s: the lines of point '%s' are no rows of this experiment; it is computed again",
                     from->path, piece->label);
        return -1;
    }
    if (!work->done) {
        ulp_text_add(&work->rows.text, lines, piece->length);
        work->rows.count = piece->count;
        work->done = 1;
        return -1;
    }
    if (work->rows.text.length == piece->length &&
        (!piece->length || memcmp(work->rows.text.data, lines, piece->length) == 0))
        return -1;
    return ulp_run_error(s->program, "%s: point '%s' differs from another file's", from->path, piece->label);
}

static int read_points(ulp_sweep *s, const char *path, FILE *file, int forgiving) {
    source from = {s, path, forgiving};
    const ulp_piece_reader reader = {.program = s->program,
                                     .path = path,
                                     .file = file,
                                     .head = s->head,
                                     .forgiving = forgiving,
                                     .own = &from,
                                     .knows = knows_from,
                                     .take = take_piece};
    return ulp_pieces_read(&reader);
}

/* Whether the open file is the one that the run will replace. */
static int is_own_place(const ulp_sweep *s, FILE *file) {
    struct stat merged, place;
    return !s->place.direct && fstat(fileno(file), &merged) == 0 && stat(s->place.file, &place) == 0 &&
           merged.st_dev == place.st_dev && merged.st_ino == place.st_ino;
}

static int merge_file(ulp_sweep *s, const char *path) {
    struct stat about;
    if (!*path) return ulp_usage_error(s->program, "--merge: the name of a file is empty");
    FILE *file = fopen(path, "r");
    if (file && fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode)) {
        fclose(file);
        file = NULL;
        errno = EISDIR;
    }
    if (!file) return ulp_usage_error(s->program, "--merge: cannot read %s: %s", path, strerror(errno));
    const int status =
        is_own_place(s, file)
            ? ulp_usage_error(s->program, "--merge: %s is the output, too, and would be replaced: give another --out",
                              path)
            : read_points(s, path, file, 0);
    fclose(file);
    return status;
}

/* ---- the files of a stopped run ---- */

static int is_empty(FILE *file) {
    struct stat about;
    return fstat(fileno(file), &about) == 0 && about.st_size == 0;
}

/* Read the points of OUT.part through the stream that holds the lock. Closing another stream on the file would drop the
 * lock. */
static int resume_part(ulp_sweep *s, int was_there) {
    if (!is_empty(s->part_file)) return read_points(s, s->part, s->part_file, 1);
    ulp_complain(s->program,
                 was_there ? "%s is empty, nothing to resume: starting from the first point"
                           : "no %s to resume: starting from the first point",
                 s->part);
    return -1;
}

/* The points in the file of a stopped run; *is_run gets 0 if the file has another origin, and -1 if it cannot be read.
 */
static size_t finished_points(FILE *file, int *is_run) {
    char *line = NULL;
    size_t room = 0, count = 0;
    *is_run = is_empty(file);
    while (getline(&line, &room, file) > 0) {
        count += strncmp(line, "# end ", 6) == 0;
        *is_run |= strncmp(line, "# build: ", 9) == 0;
    }
    free(line);
    if (ferror(file)) *is_run = -1;
    return count;
}

/* Remove OUT.part if this run made it and it is empty. */
static void drop_empty_part(ulp_sweep *s) {
    if (!is_empty(s->part_file)) return;
    remove(s->part);
    fclose(s->part_file);
    s->part_file = NULL;
}

/* Refuse to start if OUT.part is a file of something else, or if a stopped run has kept points: without --resume or
 * --restart the user might lose hours of work. An uncut run cannot use such points. */
static int spare_points(ulp_sweep *s) {
    int status = -1, is_run;
    const size_t count = finished_points(s->part_file, &is_run);
    if (is_run < 0) return ulp_run_error(s->program, "cannot read %s: %s", s->part, strerror(errno));
    if (!is_run)
        return ulp_usage_error(s->program, "%s is no file of a stopped run: move it away, or give another --out",
                               s->part);
    if (s->restart || s->uncut) return -1;
    if (count)
        return ulp_usage_error(s->program,
                               "%s holds %zu finished point%s of a run that was stopped: --resume goes on with %s, "
                               "--restart forgets %s",
                               s->part, count, ulp_plural(count), count > 1 ? "them" : "it", count > 1 ? "them" : "it");
    for (size_t k = 0; k < s->plan->count && status < 0; k++)
        if (s->work[k].file && access(s->work[k].file, F_OK) == 0)
            status = ulp_usage_error(s->program,
                                     "%s is the checkpoint of a run that was stopped: --resume goes on from it, "
                                     "--restart forgets it",
                                     s->work[k].file);
    if (status >= 0) drop_empty_part(s);
    return status;
}

/* Write OUT.part again with the points that are done; an unfinished last piece of a killed run is left out. */
static int rewrite_part(ulp_sweep *s) {
    ulp_replacement *r;
    int status = ulp_replacement_begin(&r, s->program, s->part, s->part, 1);
    if (status < 0) {
        write_head(s, r->file);
        for (size_t k = 0; k < s->plan->count; k++) {
            const ulp_piece piece = piece_of(s, k);
            if (s->work[k].done) ulp_piece_write(r->file, &piece);
        }
        FILE *fresh = ulp_replacement_keep(r), *old = s->part_file;
        if (!fresh) status = ulp_cannot_write(s->program, s->part, 0);
        else {
            s->part_file = fresh;
            fclose(old);
        }
    }
    if (status >= 0) drop_empty_part(s);
    return status;
}

/* Remove the checkpoints that a killed run has left: of points that are done, and without --resume of all points. */
static void forget_files(const ulp_sweep *s) {
    for (size_t k = 0; k < s->plan->count; k++)
        if (s->work[k].done || !s->resume) ulp_keep_forget(s, k);
}

static void name_files(ulp_sweep *s) {
    s->part = ulp_path_replace(s->place.file, "", ".part");
    for (size_t k = 0; k < s->plan->count && s->ranks == 1; k++) {
        ulp_text name = {0};
        ulp_text_print(&name, "%s.%zu.ckpt", s->part, k);
        s->work[k].file = name.data;
    }
}

/* Refuse to replace a whole run or another shard by a shard. */
static int spare_shard(const ulp_sweep *s) {
    char *line = NULL, shard_name[64];
    size_t room = 0;
    int status = -1, is_shard = 0;
    FILE *file = s->shards && !s->place.direct ? fopen(s->place.file, "r") : NULL;
    if (!file) return -1;
    snprintf(shard_name, sizeof shard_name, "%zu/%zu", s->shard, s->shards);
    while (getline(&line, &room, file) > 0 && line[0] == '#') {
        if (strncmp(line, "# shard: ", 9) != 0) continue;
        is_shard = 1;
        line[strcspn(line, "\r\n")] = '\0';
        if (strcmp(line + 9, shard_name) == 0) break;
        status = ulp_usage_error(s->program, "%s holds shard %s: give shard %s a name of its own with --out",
                                 s->place.path, line + 9, shard_name);
        break;
    }
    if (!is_shard && !is_empty(file))
        status = ulp_usage_error(s->program, "%s holds no shard: give shard %s a name of its own with --out",
                                 s->place.path, shard_name);
    free(line);
    fclose(file);
    return status;
}

int ulp_sweep_open(ulp_sweep *s) {
    int status = spare_shard(s);
    if (!s->place.direct) name_files(s);
    const int was_there = !s->place.direct && access(s->part, F_OK) == 0;
    for (size_t i = 0; status < 0 && i < s->merge.count; i++) status = merge_file(s, s->merge.at[i]);
    if (status < 0 && !s->place.direct) status = lock_part(s);
    if (status < 0 && s->resume) status = resume_part(s, was_there);
    else if (status < 0 && !s->place.direct) status = spare_points(s);
    if (status >= 0) return status;
    for (size_t k = 0; k < s->plan->count; k++) s->resumed += s->work[k].done != 0;
    status = s->place.direct ? -1 : rewrite_part(s);
    if (status < 0) forget_files(s);
    return status;
}

int ulp_keep_point(ulp_sweep *s, size_t k) {
    const ulp_piece piece = piece_of(s, k);
    if (!s->part_file) return -1;
    if (s->work[k].missing) fprintf(s->part_file, "# %s\n", s->work[k].missing);
    else ulp_piece_write(s->part_file, &piece);
    return fflush(s->part_file) == 0 ? -1 : ulp_cannot_write(s->program, s->part, 0);
}

void ulp_keep_forget(const ulp_sweep *s, size_t k) {
    if (!s->work[k].file) return;
    char *torn = ulp_path_replace(s->work[k].file, "", ".tmp"); /* a run that was killed while writing leaves it */
    remove(torn);
    remove(s->work[k].file);
    free(torn);
}

void ulp_sweep_close(ulp_sweep *s) {
    if (!s->part_file) return;
    for (size_t k = 0; k < s->plan->count; k++) ulp_keep_forget(s, k);
    remove(s->part);
    fclose(s->part_file);
    s->part_file = NULL;
}

static void write_shard(FILE *file, const void *own) {
    const ulp_sweep *s = own;
    write_head(s, file);
    for (size_t k = 0; k < s->plan->count; k++) {
        const ulp_piece piece = piece_of(s, k);
        if (ulp_sweep_mine(s, k)) ulp_piece_write(file, &piece);
    }
}

int ulp_sweep_write_shard(const ulp_sweep *s) { return ulp_place_write(&s->place, s->program, write_shard, s); }

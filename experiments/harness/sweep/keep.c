/* keep.c - the files of a sweep: the points of OUT.part, merged files, shards and checkpoints; see sweep.h. */
#include "inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/harness/cli/message.h"
#include "experiments/harness/table/pieces.h"
#include "base/replace.h"

/* Open OUT.part, new or of an earlier run, and lock it. */
static ulp_status lock_part(ulp_sweep *s, ulp_error *error) {
    switch (ulp_lock_open(&s->part_file, s->part)) {
    case ULP_LOCK_OURS: return ULP_OK;
    case ULP_LOCK_FAILED: return ulp_cannot_write(error, s->part, 1);
    case ULP_LOCK_SPECIAL:
        return ulp_refuse(error, "%s is a device or a pipe: choose another place with --out", s->part);
    case ULP_LOCK_TAKEN: break;
    }
    return ulp_refuse(error, "another run is writing %s: let it end, or choose another place with --out",
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

static ulp_status take_piece(void *own, const ulp_piece *piece, ulp_error *error) {
    const source *from = own;
    ulp_sweep *s = from->sweep;
    ulp_work *work = &s->work[piece->index];
    const char *lines = piece->lines ? piece->lines : "";
    if (!ulp_rows_fit(s->columns, lines, piece->length)) {
        if (!from->forgiving)
            return ulp_refuse(error, "%s: the lines of point '%s' are no rows of this experiment; make that file again",
                              from->path, piece->label);
        ulp_complain(s->program, "%s: the lines of point '%s' are no rows of this experiment; it is computed again",
                     from->path, piece->label);
        return ULP_OK;
    }
    if (!work->done) {
        ulp_text_add(&work->rows.text, lines, piece->length);
        work->rows.count = piece->count;
        work->done = 1;
        return ULP_OK;
    }
    if (work->rows.text.length == piece->length &&
        (!piece->length || memcmp(work->rows.text.data, lines, piece->length) == 0))
        return ULP_OK;
    return ulp_fail(error, ULP_BAD_FILE, "%s: point '%s' differs from another file's", from->path, piece->label);
}

static ulp_status read_points(ulp_sweep *s, const char *path, FILE *file, int forgiving, ulp_error *error) {
    source from = {s, path, forgiving};
    const ulp_piece_reader reader = {.program = s->program,
                                     .path = path,
                                     .file = file,
                                     .head = s->head,
                                     .forgiving = forgiving,
                                     .own = &from,
                                     .knows = knows_from,
                                     .take = take_piece};
    return ulp_pieces_read(&reader, error);
}

/* Whether the open file is the one that the run will replace. */
static int is_own_place(const ulp_sweep *s, FILE *file) {
    struct stat merged, place;
    return !s->place.direct && fstat(fileno(file), &merged) == 0 && stat(s->place.file, &place) == 0 &&
           merged.st_dev == place.st_dev && merged.st_ino == place.st_ino;
}

static ulp_status merge_file(ulp_sweep *s, const char *path, ulp_error *error) {
    struct stat about;
    if (!*path) return ulp_refuse(error, "--merge: the name of a file is empty");
    FILE *file = fopen(path, "r");
    if (file && fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode)) {
        fclose(file);
        file = NULL;
        errno = EISDIR;
    }
    if (!file) return ulp_refuse(error, "--merge: cannot read %s: %s", path, strerror(errno));
    const ulp_status status =
        is_own_place(s, file)
            ? ulp_refuse(error, "--merge: %s is the output, too, and would be replaced: give another --out", path)
            : read_points(s, path, file, 0, error);
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
static ulp_status resume_part(ulp_sweep *s, int was_there, ulp_error *error) {
    if (!is_empty(s->part_file)) return read_points(s, s->part, s->part_file, 1, error);
    ulp_complain(s->program,
                 was_there ? "%s is empty, nothing to resume: starting from the first point"
                           : "no %s to resume: starting from the first point",
                 s->part);
    return ULP_OK;
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
static ulp_status spare_points(ulp_sweep *s, ulp_error *error) {
    ulp_status status = ULP_OK;
    int is_run;
    const size_t count = finished_points(s->part_file, &is_run);
    if (is_run < 0) return ulp_fail(error, ULP_BAD_FILE, "cannot read %s: %s", s->part, strerror(errno));
    if (!is_run)
        return ulp_refuse(error, "%s is no file of a stopped run: move it away, or give another --out", s->part);
    if (s->restart || s->uncut) return ULP_OK;
    if (count)
        return ulp_refuse(error,
                          "%s holds %zu finished point%s of a run that was stopped: --resume goes on with %s, "
                          "--restart forgets %s",
                          s->part, count, ulp_plural(count), count > 1 ? "them" : "it", count > 1 ? "them" : "it");
    for (size_t k = 0; k < s->plan->count && status == ULP_OK; k++)
        if (s->work[k].file && access(s->work[k].file, F_OK) == 0)
            status = ulp_refuse(error,
                                "%s is the checkpoint of a run that was stopped: --resume goes on from it, "
                                "--restart forgets it",
                                s->work[k].file);
    if (status != ULP_OK) drop_empty_part(s);
    return status;
}

/* Write OUT.part again with the points that are done; an unfinished last piece of a killed run is left out. */
static ulp_status rewrite_part(ulp_sweep *s, ulp_error *error) {
    ulp_replacement *r;
    ulp_status status = ulp_replacement_begin(&r, s->part, s->part, 1, error);
    if (status == ULP_OK) {
        write_head(s, r->file);
        for (size_t k = 0; k < s->plan->count; k++) {
            const ulp_piece piece = piece_of(s, k);
            if (s->work[k].done) ulp_piece_write(r->file, &piece);
        }
        FILE *fresh = ulp_replacement_keep(r), *old = s->part_file;
        if (!fresh) status = ulp_cannot_write(error, s->part, 0);
        else {
            s->part_file = fresh;
            fclose(old);
        }
    }
    if (status != ULP_OK) drop_empty_part(s);
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
static ulp_status spare_shard(const ulp_sweep *s, ulp_error *error) {
    char *line = NULL, shard_name[64];
    size_t room = 0;
    ulp_status status = ULP_OK;
    int is_shard = 0;
    FILE *file = s->shards && !s->place.direct ? fopen(s->place.file, "r") : NULL;
    if (!file) return ULP_OK;
    snprintf(shard_name, sizeof shard_name, "%zu/%zu", s->shard, s->shards);
    while (getline(&line, &room, file) > 0 && line[0] == '#') {
        if (strncmp(line, "# shard: ", 9) != 0) continue;
        is_shard = 1;
        line[strcspn(line, "\r\n")] = '\0';
        if (strcmp(line + 9, shard_name) == 0) break;
        status = ulp_refuse(error, "%s holds shard %s: give shard %s a name of its own with --out", s->place.path,
                            line + 9, shard_name);
        break;
    }
    if (!is_shard && !is_empty(file))
        status = ulp_refuse(error, "%s holds no shard: give shard %s a name of its own with --out", s->place.path,
                            shard_name);
    free(line);
    fclose(file);
    return status;
}

ulp_status ulp_sweep_open(ulp_sweep *s, ulp_error *error) {
    ulp_status status = spare_shard(s, error);
    if (!s->place.direct) name_files(s);
    const int was_there = !s->place.direct && access(s->part, F_OK) == 0;
    for (size_t i = 0; status == ULP_OK && i < s->merge.count; i++) status = merge_file(s, s->merge.at[i], error);
    if (status == ULP_OK && !s->place.direct) status = lock_part(s, error);
    if (status == ULP_OK && s->resume) status = resume_part(s, was_there, error);
    else if (status == ULP_OK && !s->place.direct) status = spare_points(s, error);
    if (status != ULP_OK) return status;
    for (size_t k = 0; k < s->plan->count; k++) s->resumed += s->work[k].done != 0;
    if (!s->place.direct) status = rewrite_part(s, error);
    if (status == ULP_OK) forget_files(s);
    return status;
}

ulp_status ulp_keep_point(ulp_sweep *s, size_t k, ulp_error *error) {
    const ulp_piece piece = piece_of(s, k);
    if (!s->part_file) return ULP_OK;
    if (s->work[k].missing) fprintf(s->part_file, "# %s\n", s->work[k].missing);
    else ulp_piece_write(s->part_file, &piece);
    return fflush(s->part_file) == 0 ? ULP_OK : ulp_cannot_write(error, s->part, 0);
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

ulp_status ulp_sweep_write_shard(const ulp_sweep *s, ulp_error *error) {
    return ulp_place_write(&s->place, write_shard, s, error);
}

/* csv.c - the CSV: its header, its rows in grid order, written whole or not at all.
 *
 * While a run goes on, finished points are appended to OUT.part (part.c). At the end the CSV is written to OUT.tmp
 * and renamed, and OUT.part is removed. A run does not touch what a stopped run has left there, unless --resume takes
 * it up or --restart forgets it; where runs cannot be cut, it is of no use and forgotten. Standard output and devices
 * are written directly and leave no .part.
 *
 * One run at a time writes to a place: it holds a lock on the file that OUT.part names, and whoever replaces or removes
 * that file holds its lock. The system drops the lock with the process, so that what a killed run leaves blocks nobody.
 */
#include "experiments/harness/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *ulp_path_replace(const char *path, const char *ending, const char *by) {
    size_t length = strlen(path), cut = strlen(ending);
    if (length >= cut && strcmp(path + length - cut, ending) == 0) length -= cut;
    ulp_text text = {0};
    ulp_text_print(&text, "%.*s%s", (int)length, path, by);
    return text.data;
}

void ulp_text_quote(ulp_text *to, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
    if (*word && strspn(word, plain) == strlen(word)) {
        ulp_text_add(to, word, strlen(word));
        return;
    }
    ulp_text_add(to, "'", 1);
    for (; *word; word++) *word == '\'' ? ulp_text_add(to, "'\\''", 4) : ulp_text_add(to, word, 1);
    ulp_text_add(to, "'", 1);
}

static int cannot_write(const ulp_run *run, const char *path) {
    fprintf(stderr, "%s: cannot write %s: %s; choose another place with --out\n", run->experiment->name, path,
            strerror(errno));
    return ULP_EXIT_FAILED;
}

/* A place where nothing can be written was named wrongly; one where writing fails later is another matter. */
static int bad_place(const ulp_run *run, const char *path) {
    cannot_write(run, path);
    return ULP_EXIT_USAGE;
}

static void write_head(const ulp_run *run, FILE *file) {
    fputs(ulp_text_of(&run->header), file);
    if (run->shards) fprintf(file, "# shard: %zu/%zu\n", run->shard, run->shards);
    fprintf(file, "%s\n", run->experiment->columns);
}

/* Where the CSV goes: --out, else results/NAME.csv, a shard beside it under a name of its own. */
static void choose_place(ulp_run *run) {
    const char *given = ulp_option_text(run, "out");
    ulp_text path = {0};
    if (*given) ulp_text_add(&path, given, strlen(given));
    else if (run->shards)
        ulp_text_print(&path, "results/%s.shard-%zu-of-%zu.csv", run->experiment->name, run->shard, run->shards);
    else ulp_text_print(&path, "results/%s.csv", run->experiment->name);
    run->out = path.data;
    run->part = ulp_path_replace(run->out, "", ".part");
    if (!*given) mkdir("results", 0777); /* if it fails, opening the file says why */
}

static int check_place(ulp_run *run) {
    struct stat about;
    run->direct = strcmp(run->out, "-") == 0;
    if (!run->direct && stat(run->out, &about) == 0) {
        if (S_ISDIR(about.st_mode)) {
            errno = EISDIR;
            return bad_place(run, run->out);
        }
        run->direct = !S_ISREG(about.st_mode);
        if (run->direct && access(run->out, W_OK) != 0) return bad_place(run, run->out);
    }
    if (run->direct && ulp_option_flag(run, "resume"))
        return ulp_usage_error(run, "--resume needs --out to be a file; '%s' keeps nothing", run->out);
    return -1;
}

/* Takes the lock; 0 if another process has it. A file system without locks lets everyone pass. */
static int lock_file(int file) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN);
}

/* Whether `path` still names the open file. */
static int is_named(int file, const char *path) {
    struct stat held, there;
    return fstat(file, &held) == 0 && stat(path, &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

/* Opens OUT.part, new or left by another run, and locks it. Between the two its owner may have replaced or removed it:
 * then again. */
static int lock_part(ulp_run *run) {
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        int file = open(run->part, O_RDWR | O_CREAT, 0666);
        if (file < 0) return bad_place(run, run->part);
        int ours = lock_file(file);
        if (ours && is_named(file, run->part)) {
            run->part_file = fdopen(file, "r+");
            return run->part_file ? -1 : cannot_write(run, run->part);
        }
        close(file);
        if (!ours) break;
    }
    fprintf(stderr, "%s: another run is writing %s: let it end, or choose another place with --out\n",
            run->experiment->name, run->out);
    return ULP_EXIT_USAGE;
}

/* OUT.part anew, with what is already known: a torn last record of a killed run is left behind. */
static int open_part(ulp_run *run) {
    char *name = ulp_path_replace(run->part, "", ".tmp");
    FILE *fresh = fopen(name, "w"), *old = run->part_file;
    int status = -1;
    if (fresh) {
        write_head(run, fresh);
        for (size_t k = 0; k < run->point_count; k++)
            if (run->done[k]) ulp_part_put(fresh, &run->rows[k]);
    }
    if (!fresh || fflush(fresh) != 0 || !lock_file(fileno(fresh)) || rename(name, run->part) != 0) {
        status = fresh ? cannot_write(run, run->part) : bad_place(run, name);
        if (fresh) fclose(fresh);
        remove(name);
    } else {
        run->part_file = fresh;
        fclose(old);
    }
    free(name);
    return status;
}

static int merge_file(ulp_run *run, const char *path) {
    struct stat about;
    FILE *file = fopen(path, "r");
    if (file && fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode)) {
        fclose(file);
        file = NULL;
        errno = EISDIR;
    }
    if (!file) return ulp_usage_error(run, "--merge: cannot read %s: %s", path, strerror(errno));
    int status = ulp_part_read(run, path, file, 0);
    fclose(file);
    return status;
}

static int is_empty(FILE *file) {
    struct stat about;
    return fstat(fileno(file), &about) == 0 && about.st_size == 0;
}

/* Through the stream that holds the lock: closing another one on the same file would drop it. */
static int resume_part(ulp_run *run, int was_there) {
    if (!is_empty(run->part_file)) return ulp_part_read(run, run->part, run->part_file, 1);
    fprintf(stderr,
            was_there ? "%s: %s is empty, nothing to resume: starting from the first point\n"
                      : "%s: no %s to resume: starting from the first point\n",
            run->experiment->name, run->part);
    return -1;
}

static size_t finished_points(FILE *file) {
    char *line = NULL;
    size_t room = 0, count = 0;
    while (getline(&line, &room, file) > 0) count += strncmp(line, "# end ", 6) == 0;
    free(line);
    return count;
}

/* Hours of work are not lost to a forgotten word: what a stopped run has kept is taken up or forgotten on request only.
 */
static int spare_work(ulp_run *run) {
    size_t count = finished_points(run->part_file);
    int status = -1;
    if (count)
        return ulp_usage_error(run,
                               "%s holds %zu finished point%s of a run that was stopped: --resume goes on with %s, "
                               "--restart forgets %s",
                               run->part, count, count > 1 ? "s" : "", count > 1 ? "them" : "it",
                               count > 1 ? "them" : "it");
    for (size_t k = 0; k < run->point_count && status < 0; k++) {
        char *checkpoint = ulp_training_file(run, k);
        if (checkpoint && access(checkpoint, F_OK) == 0)
            status = ulp_usage_error(run,
                                     "%s is the checkpoint of a run that was stopped: --resume goes on from it, "
                                     "--restart forgets it",
                                     checkpoint);
        free(checkpoint);
    }
    if (status >= 0 && is_empty(run->part_file)) ulp_csv_close(run); /* made here */
    return status;
}

/* A run that was killed between keeping a point and removing its checkpoint has left the latter. */
static void forget_checkpoints(ulp_run *run) {
    for (size_t k = 0; k < run->point_count; k++) {
        run->rows[k].kept |= run->done[k];
        if (run->done[k]) ulp_training_forget(&run->rows[k]);
    }
}

int ulp_csv_open(ulp_run *run) {
    choose_place(run);
    int status = check_place(run);
    for (size_t i = 0; status < 0 && i < run->merge_count; i++) status = merge_file(run, run->merge[i]);
    int was_there = !run->direct && access(run->part, F_OK) == 0;
    if (status < 0 && !run->direct) status = lock_part(run);
    if (status < 0 && ulp_option_flag(run, "resume")) status = resume_part(run, was_there);
    else if (status < 0 && !run->direct && !run->experiment->whole && !ulp_option_flag(run, "restart"))
        status = spare_work(run);
    if (status >= 0) return status;
    for (size_t k = 0; k < run->point_count; k++) run->resumed += run->done[k];
    status = run->direct ? -1 : open_part(run);
    if (status < 0) forget_checkpoints(run);
    return status;
}

int ulp_csv_keep(ulp_run *run, const ulp_rows *rows) {
    if (!run->part_file) return -1;
    ulp_part_put(run->part_file, rows);
    return fflush(run->part_file) == 0 ? -1 : cannot_write(run, run->part);
}

static void write_body(const ulp_run *run, FILE *file) {
    write_head(run, file);
    for (size_t k = 0; k < run->point_count; k++) {
        const ulp_text *text = &run->rows[k].text;
        if (run->shards && ulp_run_mine(run, k)) ulp_part_put(file, &run->rows[k]);
        if (!run->shards && text->length) fwrite(text->data, 1, text->length, file);
    }
}

int ulp_csv_write(ulp_run *run) {
    if (strcmp(run->out, "-") == 0) {
        write_body(run, stdout);
        return fflush(stdout) == 0 && !ferror(stdout) ? -1 : cannot_write(run, "standard output");
    }
    char *path = run->direct ? ulp_copy_text(run->out) : ulp_path_replace(run->out, "", ".tmp");
    FILE *file = fopen(path, "w");
    int status = -1;
    if (!file) status = cannot_write(run, path);
    else {
        write_body(run, file);
        int bad = ferror(file);
        if (fclose(file) != 0 || bad || (!run->direct && rename(path, run->out) != 0)) {
            status = cannot_write(run, run->out);
            if (!run->direct) remove(path);
        }
    }
    free(path);
    return status;
}

void ulp_csv_close(ulp_run *run) {
    if (!run->part_file) return;
    remove(run->part);
    fclose(run->part_file);
    run->part_file = NULL;
}

/* tree.c - the files of a folder in memory; see tree.h. */
#define _GNU_SOURCE
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "replay: %s: %s\n", what, strerror(errno));
    exit(3);
}

void *need(void *memory) {
    if (!memory) fail("out of memory");
    return memory;
}

int ends_with(const char *text, const char *ending) {
    const size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

char *read_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (!file) return NULL;
    if (fstat(fileno(file), &about) != 0) fail(path);
    char *bytes = need(malloc((size_t)about.st_size + 1));
    *size = fread(bytes, 1, (size_t)about.st_size, file);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

/* ---- reading ---- */

static char *join(const char *a, const char *b, const char *c) {
    char *text;
    if (asprintf(&text, "%s%s%s", a, b, c) < 0) fail("out of memory");
    return text;
}

static void add(tree *t, tree_file file) {
    if (t->count == t->room) {
        t->room = 2 * t->room + 16;
        t->at = need(realloc(t->at, t->room * sizeof *t->at));
    }
    t->at[t->count++] = file;
}

static void read_link(tree_file *file, const char *path) {
    char target[1000];
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0) fail(path);
    target[n] = '\0';
    file->bytes = need(strdup(target));
    file->size = (size_t)n;
    file->is_link = 1;
}

static void read_into(tree *t, const char *folder, const char *below) {
    char *path = join(folder, "/", below);
    DIR *list = opendir(path);
    if (!list) fail(path);
    for (struct dirent *e; (e = readdir(list)) != NULL;) {
        struct stat about;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        char *whole = join(path, "", e->d_name);
        if (lstat(whole, &about) != 0) fail(whole);
        tree_file file = {.inode = (unsigned long)about.st_ino};
        file.name = join(below, e->d_name, S_ISDIR(about.st_mode) ? "/" : "");
        if (S_ISLNK(about.st_mode)) read_link(&file, whole);
        else if (!S_ISDIR(about.st_mode)) file.bytes = need(read_bytes(whole, &file.size));
        add(t, file);
        if (S_ISDIR(about.st_mode)) {
            char *name = join(below, e->d_name, "/");
            read_into(t, folder, name);
            free(name);
        }
        free(whole);
    }
    closedir(list);
    free(path);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const tree_file *)a)->name, ((const tree_file *)b)->name);
}

tree tree_read(const char *folder) {
    tree t = {0};
    read_into(&t, folder, "");
    if (t.count) qsort(t.at, t.count, sizeof *t.at, by_name);
    return t;
}

void tree_free(tree *t) {
    for (size_t i = 0; i < t->count; i++) {
        free(t->at[i].name);
        free(t->at[i].bytes);
    }
    free(t->at);
    *t = (tree){0};
}

const tree_file *tree_find(const tree *t, const char *name) {
    const tree_file wanted = {.name = (char *)(size_t)name};
    return t->count ? bsearch(&wanted, t->at, t->count, sizeof *t->at, by_name) : NULL;
}

/* ---- writing ---- */

static void remove_all(const char *folder) {
    tree t = tree_read(folder);
    for (size_t i = t.count; i-- > 0;) { /* a folder stands before its files */
        char *path = join(folder, "/", t.at[i].name);
        if (remove(path) != 0) fail(path);
        free(path);
    }
    tree_free(&t);
}

void tree_write(const tree *t, const char *folder) {
    remove_all(folder);
    for (size_t i = 0; i < t->count; i++) {
        const tree_file *f = &t->at[i];
        char *path = join(folder, "/", f->name);
        if (!f->bytes) {
            if (mkdir(path, 0777) != 0) fail(path);
        } else if (f->is_link) {
            if (symlink(f->bytes, path) != 0) fail(path);
        } else {
            FILE *file = fopen(path, "wb");
            if (!file || fwrite(f->bytes, 1, f->size, file) != f->size || fclose(file) != 0) fail(path);
        }
        free(path);
    }
}

/* ---- comparing ---- */

/* Whether a line of a record may differ between two runs that give the same numbers. */
static int is_free(const char *line) {
    size_t length = strcspn(line, "\n");
    static const char *const keys[] = {"  \"date\": ",           "  \"wall_seconds\": ", "  \"command\": ",
                                       "  \"points_resumed\": ", "run\tcommand\t",       "time  "};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strncmp(line, keys[i], strlen(keys[i])) == 0) return 1;
    if (length > 0 && line[length - 1] == 's') length--; /* "12000 inputs: ..., 0.1 s on 1 thread", or 2 threads */
    return length > 7 && strncmp(line + length - 7, " thread", 7) == 0;
}

static int same_record(const char *a, const char *b) {
    while (*a && *b) {
        const size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (!(is_free(a) && is_free(b)) && (n != m || memcmp(a, b, n) != 0)) return 0;
        if (a[n] != b[m]) return 0;
        a += n + (a[n] != '\0');
        b += m + (b[m] != '\0');
    }
    return !*a && !*b;
}

int same_file(const tree_file *a, const tree_file *b) {
    if (!a || !b) return a == b;
    if (!a->bytes || !b->bytes) return a->bytes == b->bytes;
    if (a->is_link != b->is_link) return 0;
    if (a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0) return 1;
    const int is_record = ends_with(a->name, ".run.json") || ends_with(a->name, ".claims.tsv");
    return (is_record || strcmp(a->name, "(stdout)") == 0) && same_record(a->bytes, b->bytes);
}

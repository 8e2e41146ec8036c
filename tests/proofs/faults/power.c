/* power.c - a loss of power; see power.h.
 *
 * The disk of this model loses as much as it may: of each file all bytes that were written after its last fsync. Names
 * are on the disk at once; that the folder is synced where it matters is checked by judge_order().
 */
#define _GNU_SOURCE
#include "power.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The bytes of a file that are on the disk; -1: all, because nothing was written after the last fsync. */
static long bytes_on_disk(const char *log, unsigned long wanted) {
    long safe = 0, seen = 0, dirty = 0;
    for (const char *line = log; *line; line += strcspn(line, "\n") + 1) {
        char word[20];
        unsigned long inode;
        long size;
        if (sscanf(line, "%19s %lu %ld", word, &inode, &size) < 3) break;
        if (inode != wanted) continue;
        seen = 1;
        if (strcmp(word, "create") == 0) { /* the inode may have belonged to a file that is gone */
            safe = size;
            dirty = 0;
        }
        if (strcmp(word, "cut") == 0 || strcmp(word, "write") == 0) dirty = 1;
        if (strcmp(word, "cut") == 0 && size < safe) safe = size;
        if (strcmp(word, "sync") == 0) {
            safe = size;
            dirty = 0;
        }
    }
    return seen && dirty ? safe : -1;
}

void lose_power(const places *p, outcome *o) {
    char path[1200];
    size_t size;
    snprintf(path, sizeof path, "%s/log", p->meta);
    char *log = read_bytes(path, &size);
    for (size_t i = 0; log && i < o->files.count; i++) {
        tree_file *f = &o->files.at[i];
        const long safe = f->bytes && f->inode ? bytes_on_disk(log, f->inode) : -1;
        if (safe < 0 || (size_t)safe >= f->size) continue;
        snprintf(path, sizeof path, "%s/%s", p->run, f->name);
        if (truncate(path, safe) != 0) perror(path);
        f->size = (size_t)safe;
        f->bytes[safe] = '\0';
    }
    free(log);
}

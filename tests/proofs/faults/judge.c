/* judge.c - the files that a run with a fault may leave; see judge.h. */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[4000];

static const char *wrong(const char *what, const char *name, const char *more) {
    snprintf(text, sizeof text, "%s: %s%s%.1500s", name, what, *more ? ": " : "", more);
    return text;
}

/* Whether two files with times have the same form: the number of lines, and the last byte. */
static int same_form(const tree_file *a, const tree_file *b) {
    size_t lines[2] = {0, 0};
    if (!a || !b || !a->bytes || !b->bytes) return same_file(a, b);
    for (const char *c = a->bytes; *c; c++) lines[0] += *c == '\n';
    for (const char *c = b->bytes; *c; c++) lines[1] += *c == '\n';
    if (strlen(a->bytes) < a->size) return a->size == b->size; /* not a text */
    return lines[0] == lines[1] &&
           (a->size == 0 || b->size == 0 ? a->size == b->size : a->bytes[a->size - 1] == b->bytes[b->size - 1]);
}

/* Two profiles: the times of a resumed run are those of the points that it has computed. */
static int same_head(const tree_file *a, const tree_file *b) {
    if (!a || !b || !a->bytes || !b->bytes) return same_file(a, b);
    const size_t n = strcspn(a->bytes, "\n");
    return strncmp(a->bytes, b->bytes, n + 1) == 0 && ends_with(a->bytes, "\n") && ends_with(b->bytes, "\n");
}

static int is_journal(const expected *e, const char *name) {
    return strstr(e->of->command, "--resume j") && strcmp(name, "j") == 0;
}

static int is_new(const expected *e, const tree_file *file, const char *name) {
    const tree_file *wanted = tree_find(&e->undisturbed.files, name);
    return same_file(file, wanted) ||
           ((e->of->loose || (e->of->threads && is_journal(e, name))) && same_form(file, wanted)) ||
           (ends_with(name, ".profile.csv") && same_head(file, wanted));
}

/* Files of a run that was stopped, which --resume uses, and which the next run removes. */
static int is_kept(const char *name) {
    const char *part = strstr(name, ".part");
    return part &&
           (!part[5] || ends_with(name, ".ckpt") || strcmp(part, ".part.tmp") == 0 || ends_with(name, ".ckpt.tmp"));
}

static int is_unfinished(const char *name) { return ends_with(name, ".tmp"); }

/* Each file is old, new or absent; kept and unfinished files may be there, too. */
static const char *judge_files(const expected *e, const outcome *o, int may_leave_tmp) {
    for (size_t i = 0; i < o->files.count; i++) {
        const tree_file *f = &o->files.at[i];
        if (strcmp(f->name, "(stdout)") == 0 || is_journal(e, f->name)) continue;
        if (is_unfinished(f->name)) {
            if (may_leave_tmp) continue;
            return wrong("is left behind", f->name, "");
        }
        if (is_kept(f->name)) continue;
        if (!is_new(e, f, f->name) && !same_file(f, tree_find(&e->before, f->name)))
            return wrong("is neither old nor new", f->name, o->says);
    }
    for (size_t i = 0; i < e->before.count; i++) {
        const char *name = e->before.at[i].name;
        const int is_lost = !tree_find(&o->files, name) && tree_find(&e->undisturbed.files, name);
        if (is_lost && !is_kept(name)) return wrong("an old file is lost", name, o->says);
    }
    return NULL;
}

/* Whether the outputs are there and whole, perhaps with unfinished files beside them. */
static int has_all(const expected *e, const tree *files) {
    for (size_t i = 0; i < e->undisturbed.files.count; i++) {
        const char *name = e->undisturbed.files.at[i].name;
        if (strcmp(name, "(stdout)") != 0 && !is_new(e, tree_find(files, name), name)) return 0;
    }
    return 1;
}

static const char *judge_whole(const expected *e, const outcome *o) {
    for (size_t i = 0; i < o->files.count; i++) {
        const char *name = o->files.at[i].name;
        if (!is_new(e, &o->files.at[i], name)) return wrong("differs from that of an undisturbed run", name, o->says);
    }
    for (size_t i = 0; i < e->undisturbed.files.count; i++) {
        const char *name = e->undisturbed.files.at[i].name;
        if (!tree_find(&o->files, name)) return wrong("is missing, and the exit status is 0", name, o->says);
    }
    return NULL;
}

/* Whether a failure of this kind has to be explained by the system's text for the errno. */
static const char *wanted_text(const fault_order *order) {
    static const fault_family explained[] = {FAULT_CREATE, FAULT_WRITE,  FAULT_STDOUT, FAULT_SYNC,
                                             FAULT_RENAME, FAULT_FOLDER, FAULT_CUT};
    for (size_t i = 0; i < sizeof explained / sizeof explained[0]; i++)
        if (order->family == explained[i] && atoi(order->how) > 0) return strerror(atoi(order->how));
    return "";
}

static int is_kill(const fault_order *order) { return strncmp(order->how, "kill", 4) == 0; }

const char *judge_fault(const expected *e, const fault_order *order, const outcome *o) {
    if (is_kill(order) && o->status == 128 + 9) return judge_files(e, o, 1);
    if (o->status == e->undisturbed.status) {
        /* a name that cannot be removed stays */
        return order->family == FAULT_REMOVE ? judge_files(e, o, 1) : judge_whole(e, o);
    }
    if (o->status < 1 || o->status > 3) {
        char status[40];
        snprintf(status, sizeof status, "exit status %d", o->status);
        return wrong(status, e->of->name, o->says);
    }
    if (strcmp(order->how, "short") == 0) return wrong("half of the bytes at once is a failure", e->of->name, o->says);
    if (!*o->says) return wrong("fails without a message", e->of->name, "");
    if (!strstr(o->says, wanted_text(order))) return wrong("the message does not say why", e->of->name, o->says);
    return judge_files(e, o, order->family == FAULT_REMOVE);
}

const char *judge_again(const expected *e, const outcome *failed, const outcome *again) {
    if (again->status != e->undisturbed.status) {
        /* a file that is there already may be all that was to be done */
        if (again->status == 2 && has_all(e, &failed->files)) return NULL;
        return wrong("the run that follows fails", e->of->name, again->says);
    }
    return judge_whole(e, again);
}

/* ---- the order of calls ---- */

enum { FILES = 1000 };

typedef struct order_state {
    unsigned long dirty[FILES]; /* inodes with bytes that are not on the disk */
    size_t dirty_count;
    int names_pending;    /* 1: a file has a new name, and the folder is not on the disk */
    unsigned long latest; /* the inode that was written last */
} order_state;

static void set_dirty(order_state *s, unsigned long inode, int is_dirty) {
    size_t i = 0;
    while (i < s->dirty_count && s->dirty[i] != inode) i++;
    if (is_dirty && i == s->dirty_count && i < FILES) s->dirty[s->dirty_count++] = inode;
    if (!is_dirty && i < s->dirty_count) s->dirty[i] = s->dirty[--s->dirty_count];
}

static int is_dirty(const order_state *s, unsigned long inode) {
    for (size_t i = 0; i < s->dirty_count; i++)
        if (s->dirty[i] == inode) return 1;
    return 0;
}

static const char *judge_line(order_state *s, const char *word, unsigned long inode, long size, const char *paths) {
    if (strcmp(word, "write") == 0 || strcmp(word, "cut") == 0) set_dirty(s, s->latest = inode, 1);
    if (strcmp(word, "sync") == 0 && size < 0) s->names_pending = 0;
    if (strcmp(word, "sync") == 0 && size >= 0) set_dirty(s, inode, 0);
    if (strcmp(word, "rename") == 0 || strcmp(word, "link") == 0) {
        if (is_dirty(s, s->latest)) return wrong("gets its name before its bytes are on the disk", paths, "");
        s->names_pending = 1;
    }
    if (strcmp(word, "remove") == 0 && s->names_pending && ends_with(paths, ".part"))
        return wrong("is removed before the new names are on the disk", paths, "");
    return NULL;
}

const char *judge_order(const char *log) {
    order_state s = {0};
    const char *what = NULL;
    for (const char *line = log; *line && !what; line += strcspn(line, "\n") + 1) {
        char word[20] = "", paths[300] = "";
        unsigned long inode = 0;
        long size = 0;
        if (sscanf(line, "%19s %lu %ld %299[^\n]", word, &inode, &size, paths) < 3) break;
        what = judge_line(&s, word, inode, size, paths);
    }
    if (!what && s.names_pending) what = wrong("the new names are not on the disk", "the folder", "");
    return what;
}

/* tree.h - the files of a folder in memory: read, written back, compared. */
#ifndef FAULTS_TREE_H
#define FAULTS_TREE_H

#include <stddef.h>

typedef struct tree_file {
    char *name;  /* from the folder on; a folder ends with / */
    char *bytes; /* of a symbolic link: its target; NULL: a folder */
    size_t size;
    unsigned long inode;
    int is_link;
} tree_file;

typedef struct tree {
    tree_file *at; /* (count) sorted by name */
    size_t count, room;
} tree;

/* Each function ends the program after a message if the disk or memory fails. */
tree tree_read(const char *folder);
void tree_write(const tree *t, const char *folder); /* the folder gets these files and no others */
void tree_free(tree *t);
const tree_file *tree_find(const tree *t, const char *name);

/* The bytes of a file with a zero byte after them; NULL if there is none. */
char *read_bytes(const char *path, size_t *size);

/* Whether two files are equal; both may be NULL, that is, absent. Lines of records that differ between two runs (the
 * date, the time that the run took, its command line) do not count. */
int same_file(const tree_file *a, const tree_file *b);

int ends_with(const char *text, const char *ending);
void *need(void *memory); /* ends the program if it is NULL */

#endif

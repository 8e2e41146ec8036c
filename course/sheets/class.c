/* class.c - marks the files of a class, and decides which file counts for each student and lab. */
#include "class.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Whether a name is the name of a file of answers, or of a spreadsheet, which gets a sentence. */
static int is_handed_in(const char *name) {
    static const char *const endings[] = {".csv", ".csv.txt", ".xlsx", ".xls", ".ods"};
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t length = strlen(endings[i]);
        if (n > length && strcasecmp(name + n - length, endings[i]) == 0) return 1;
    }
    return 0;
}

/* A sentence if the name of the file ends in -LAB.csv and the file has no answers to this lab. */
static void check_name(course_file *file) {
    const char *end = strrchr(file->path, '-');
    for (size_t i = 0; end && file->count && i < course_lab_count(); i++) {
        const char *name = course_lab_get(i)->name;
        const size_t n = strlen(name);
        if (strncasecmp(end + 1, name, n) == 0 && end[1 + n] == '.' && !course_questions(file, course_lab_get(i)))
            course_complain(file, NULL, 0, "the name of the file says %s, and the file has no answers to %s", name,
                            name);
    }
}

/* How the files of a class are marked. */
typedef struct reading {
    course_class *class;
    const course_choice *choice;
    const char *program;
} reading;

static void add_file(const reading *r, const char *path) {
    course_class *c = r->class;
    c->files = ulp_room_for(c->files, c->file_count, &c->file_room, sizeof *c->files);
    course_file *file = &c->files[c->file_count++];
    course_file_mark(file, path, r->program, NULL, r->choice->word);
    check_name(file);
    if (r->choice->ids && *file->id && !ulp_list_has(r->choice->ids, file->id))
        course_complain(file, NULL, 0, "the id '%s' is not in the list of --id", file->id);
}

/* Mark the files of a folder; `depth` is the number of levels of folders below. A folder below that cannot be
 * read becomes a file with a sentence. Returns 0 if the folder cannot be read. */
static int add_folder(const reading *r, const char *folder, int depth) {
    struct dirent **entries;
    const int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) return 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        ulp_text path = {0};
        struct stat about;
        ulp_text_print(&path, "%s/%s", folder, name);
        const int is_folder = stat(ulp_text_of(&path), &about) == 0 && S_ISDIR(about.st_mode);
        if (name[0] != '.' &&
            (is_folder ? depth > 0 && !add_folder(r, ulp_text_of(&path), depth - 1) : is_handed_in(name)))
            add_file(r, ulp_text_of(&path));
        ulp_text_free(&path);
        free(entries[i]);
    }
    free(entries);
    return 1;
}

/* Whether a file has marks of a lab, or sentences about the lab; without a lab, whether it has neither of any lab. */
static int is_about(const course_file *file, const course_lab *lab) {
    int labs = file->count > 0;
    if (lab && course_questions(file, lab)) return 1;
    for (size_t i = 0; i < file->problem_count; i++) {
        if (lab && file->problems[i].lab == lab) return 1;
        labs |= file->problems[i].lab != NULL;
    }
    return !lab && !labs;
}

/* Whether the file at `other` has answers of the student of `file` to the lab. */
static int is_twin(const course_file *other, const course_file *file, const course_lab *lab) {
    return other == file || (lab && strcmp(other->id, file->id) == 0 && is_about(other, lab));
}

static int has_answers(const course_file *file, const course_lab *lab) {
    return course_questions(file, lab) > course_count(file, lab, COURSE_OPEN);
}

/* Whether two files of a student, each with marks of a lab, have the same marks. */
static int same_marks(const course_file *a, const course_file *b, const course_lab *lab) {
    const course_mark *x = a->marks, *y = b->marks;
    while (x->lab != lab) x++;
    while (y->lab != lab) y++;
    for (; x < a->marks + a->count && x->lab == lab; x++, y++)
        if (x->verdict != y->verdict) return 0;
    return 1;
}

/* Find the file that counts for a lab among the files from `first` on. If marks differ, one of the files gets a
 * sentence that names the files. */
static course_file *decide(course_class *class, course_file *first, const course_lab *lab) {
    const course_file *const end = class->files + class->file_count;
    course_file *counts = NULL;
    ulp_text names = {0};
    int answers = 0, differ = 0;
    for (course_file *file = first; file < end; file++)
        if (is_twin(file, first, lab)) answers |= has_answers(file, lab);
    for (course_file *file = first; file < end; file++) {
        if (!is_twin(file, first, lab) || !course_questions(file, lab) || has_answers(file, lab) != answers) continue;
        if (!counts) counts = file;
        else differ |= !same_marks(counts, file, lab);
        ulp_text_print(&names, "%s%s", names.length ? ", " : "", file->path);
    }
    if (differ)
        course_complain(counts, lab, 0,
                        "the files of '%s' give different marks for %s, and none of them counts: keep one of %s",
                        first->id, lab->name, ulp_text_of(&names));
    ulp_text_free(&names);
    return differ ? NULL : counts;
}

static course_entry *add_entry(course_class *class, const char *id, const course_lab *lab) {
    class->entries = ulp_room_for(class->entries, class->count, &class->room, sizeof *class->entries);
    course_entry *entry = &class->entries[class->count++];
    *entry = (course_entry){.id = ulp_copy_text(id), .lab = lab};
    return entry;
}

/* Add the entry of the files with answers to a lab; `first` is the first of them. */
static void add_answers(course_class *class, course_file *first, const course_lab *lab) {
    course_entry *entry = add_entry(class, first->id, lab);
    if (lab) entry->marks = decide(class, first, lab);
    for (const course_file *file = first; file < class->files + class->file_count; file++) {
        if (!is_twin(file, first, lab)) continue;
        ulp_text_print(&entry->files, "%s\n", file->path);
        course_add_problems(&entry->note, file, lab);
    }
}

/* Add an entry for each student of the list who has none. */
static void add_missing(course_class *class, const course_choice *choice) {
    char id[256];
    for (const char *at = choice->ids; at && ulp_next_item(id, sizeof id, &at) > 0;) {
        size_t i = 0;
        while (i < class->count && strcmp(class->entries[i].id, id) != 0) i++;
        if (i < class->count) continue;
        course_entry *entry = add_entry(class, id, choice->lab);
        if (choice->lab) ulp_text_print(&entry->note, "'%s' has no answers to %s\n", id, choice->lab->name);
        else ulp_text_print(&entry->note, "'%s' has no file\n", id);
    }
}

/* The order of entries: students, and the labs of a student. */
static int compare(const void *a, const void *b) {
    const course_entry *x = a, *y = b;
    const int order = strcmp(x->id, y->id);
    if (order != 0 || x->lab == y->lab)
        return order != 0 ? order : strcmp(ulp_text_of(&x->files), ulp_text_of(&y->files));
    return strcmp(x->lab ? x->lab->name : "", y->lab ? y->lab->name : "");
}

int course_class_mark(course_class *class, const course_choice *choice, const char *program) {
    *class = (course_class){0};
    if (!add_folder(&(reading){class, choice, program}, choice->folder, 4)) return 0;
    for (course_file *file = class->files; file < class->files + class->file_count; file++) {
        for (size_t i = 0; i < course_lab_count(); i++) {
            const course_lab *lab = course_lab_get(i);
            const course_file *first = class->files;
            if ((choice->lab && lab != choice->lab) || !is_about(file, lab)) continue;
            while (!is_twin(first, file, lab)) first++;
            if (first == file) add_answers(class, file, lab);
        }
        if (is_about(file, NULL)) add_answers(class, file, NULL);
    }
    add_missing(class, choice);
    if (class->count) qsort(class->entries, class->count, sizeof *class->entries, compare);
    return 1;
}

void course_class_free(course_class *class) {
    for (size_t i = 0; i < class->file_count; i++) course_file_free(&class->files[i]);
    for (size_t i = 0; i < class->count; i++) {
        free(class->entries[i].id);
        ulp_text_free(&class->entries[i].files);
        ulp_text_free(&class->entries[i].note);
    }
    free(class->files);
    free(class->entries);
    *class = (course_class){0};
}

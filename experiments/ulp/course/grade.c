/* grade.c - marks the files of a class: one row of a CSV for each student and lab. */
#include "mark.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct paths {
    char **at; /* (count) */
    size_t count, room;
} paths;

static int is_csv(const char *name) {
    const size_t n = strlen(name);
    return n > 4 && name[0] != '.' && strcasecmp(name + n - 4, ".csv") == 0;
}

/* Collect the files *.csv of a folder; `depth` is the number of levels of folders below. Returns 0 if the folder cannot
 * be read. */
static int collect(paths *to, const char *folder, int depth) {
    struct dirent **entries;
    const int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) return 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        ulp_text path = {0};
        struct stat about;
        ulp_text_print(&path, "%s/%s", folder, name);
        if (name[0] != '.' && stat(ulp_text_of(&path), &about) == 0) {
            if (S_ISDIR(about.st_mode) && depth > 0) collect(to, ulp_text_of(&path), depth - 1);
            else if (!S_ISDIR(about.st_mode) && is_csv(name)) {
                if (to->count == to->room) to->at = ulp_room_for(to->at, to->count, &to->room, sizeof *to->at);
                to->at[to->count++] = ulp_copy_text(ulp_text_of(&path));
            }
        }
        ulp_text_free(&path);
        free(entries[i]);
    }
    free(entries);
    return 1;
}

/* Add a field in quotes; line breaks become blanks. */
static void add_field(ulp_text *to, const char *text) {
    ulp_text_add(to, "\"", 1);
    for (; *text; text++)
        ulp_text_add(to,
                     *text == '"'    ? "\"\""
                     : *text == '\n' ? (text[1] ? "; " : "")
                                     : text,
                     *text == '"'    ? 2
                     : *text == '\n' ? (text[1] ? 2 : 0)
                                     : 1);
    ulp_text_add(to, "\"", 1);
}

/* Add the row of a lab of a file; without a lab, the row of a file that has no marks: its score is empty. */
static void add_row(ulp_text *to, const course_file *file, const course_lab *lab, double almost) {
    size_t verdicts = 0;
    ulp_text_print(to, "%s,%s,", lab ? lab->name : "", file->id);
    if (lab) ulp_text_print(to, "%g,%zu", course_points(file, lab, almost), course_questions(file, lab));
    else ulp_text_add(to, ",", 1);
    for (int v = COURSE_RIGHT; v <= COURSE_UNREADABLE; v++) {
        if (lab) ulp_text_print(to, ",%zu", course_count(file, lab, (course_verdict)v));
        else ulp_text_add(to, ",", 1);
    }
    ulp_text_add(to, ",", 1);
    add_field(to, file->path);
    ulp_text_add(to, ",", 1);
    add_field(to, ulp_text_of(&file->problems));
    for (const course_mark *m = file->marks; lab && m < file->marks + file->count; m++)
        if (m->lab == lab) ulp_text_print(to, ",%s", course_verdict_name(m->verdict)), verdicts++;
    for (; verdicts < COURSE_QUESTIONS_MAX; verdicts++) ulp_text_add(to, ",", 1);
    ulp_text_add(to, "\n", 1);
}

/* A sentence for each lab of this file that an earlier file of the student answers, too. */
static void find_twins(course_file *files, size_t n) {
    course_file *file = &files[n];
    for (size_t i = 0; i < course_lab_count; i++) {
        if (!course_questions(file, course_labs[i])) continue;
        for (size_t k = 0; k < n; k++)
            if (strcmp(files[k].id, file->id) == 0 && course_questions(&files[k], course_labs[i]))
                ulp_text_print(&file->problems, "%s: a second file of '%s' with answers to %s: the first is %s\n",
                               file->path, file->id, course_labs[i]->name, files[k].path);
    }
}

/* A sentence if the name of the file ends in -LAB.csv and the file has no answers to this lab. */
static void check_name(course_file *file) {
    const char *end = strrchr(file->path, '-');
    for (size_t i = 0; end && file->count && i < course_lab_count; i++) {
        const char *name = course_labs[i]->name;
        const size_t n = strlen(name);
        if (strncasecmp(end + 1, name, n) == 0 && end[1 + n] == '.' && !course_questions(file, course_labs[i]))
            ulp_text_print(&file->problems, "%s: the name of the file says %s, and the file has no answers to %s\n",
                           file->path, name, name);
    }
}

int course_grade(ulp_text *to, ulp_text *problems, const char *folder, const char *program, const char *word,
                 double almost) {
    paths found = {0};
    if (!collect(&found, folder, 1)) return -1;
    course_file *files = ulp_grow(NULL, (found.count + 1) * sizeof *files);
    ulp_text_print(to, "assignment,student_id,score,max_score,right,almost,wrong,open,unreadable,file,note");
    for (int i = 1; i <= COURSE_QUESTIONS_MAX; i++) ulp_text_print(to, ",%d", i);
    ulp_text_add(to, "\n", 1);
    for (size_t n = 0; n < found.count; n++) {
        course_file_mark(&files[n], found.at[n], program, NULL, word);
        find_twins(files, n);
        check_name(&files[n]);
        for (size_t i = 0; i < course_lab_count; i++)
            if (course_questions(&files[n], course_labs[i])) add_row(to, &files[n], course_labs[i], almost);
        if (!files[n].count) add_row(to, &files[n], NULL, almost);
        ulp_text_print(problems, "%s", ulp_text_of(&files[n].problems));
    }
    for (size_t n = 0; n < found.count; n++) {
        course_file_free(&files[n]);
        free(found.at[n]);
    }
    free(files);
    free(found.at);
    return (int)found.count;
}

/* class.h - the marks of a class: one entry for each student and lab, and the CSV files for the teacher. */
#ifndef ULP_COURSE_CLASS_H
#define ULP_COURSE_CLASS_H

#include "mark.h"

/* The answers of a student to a lab. */
typedef struct course_entry {
    char *id;
    const course_lab *lab;    /* NULL: a file without answers to any lab, or a student without a file */
    const course_file *marks; /* the file that counts; NULL: no file counts */
    ulp_text files;           /* the paths of all files with these answers, with a line break after each path */
    ulp_text note;            /* the sentences about these answers, with a line break after each sentence */
} course_entry;

typedef struct course_class {
    course_file *files; /* (file_count) in the order of their paths */
    size_t file_count, file_room;
    course_entry *entries; /* (count) in the order of the ids, and of the labs of a student */
    size_t count, room;
} course_class;

/* Which files are marked. */
typedef struct course_choice {
    const char *folder;
    const char *word;      /* the word of the course */
    const char *ids;       /* the students, with commas between them; NULL: the students who have files */
    const course_lab *lab; /* NULL: all labs */
} course_choice;

/* Mark all files *.csv of a folder and of the folders in it, down to four levels. A spreadsheet gets a sentence, and so
 * do a student of `ids` without a file, and a file of another student. `program` is as in course_file_mark(). A student
 * has one mark in each lab. If several files of a student have answers to a lab, a file in which all answers to this
 * lab are open is left out. If the other files have the same marks, the first of them counts. If their marks differ, no
 * file counts, and a sentence names the files. Returns 0 if the folder cannot be read. Call course_class_free()
 * afterwards. */
int course_class_mark(course_class *class, const course_choice *choice, const char *program);
void course_class_free(course_class *class);

/* Add the CSV of the class: a row for each entry. An entry without marks has an empty score. An answer that is almost
 * right has `almost` points. */
void course_class_rows(ulp_text *to, const course_class *class, double almost);

/* Add the CSV of the questions: a row for each question of the labs that the class has answered, with the numbers of
 * students, the share of the points, and the hint that most answers got. */
void course_class_questions(ulp_text *to, const course_class *class, double almost);

#endif

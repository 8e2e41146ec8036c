/* mark.h - marking a file of answers, and the reports: for a student, as JSON, as rows of a class. */
#ifndef ULP_COURSE_MARK_H
#define ULP_COURSE_MARK_H

#include "answer.h"

/* The mark of one answer. */
typedef struct course_mark {
    const course_lab *lab;
    char name[COURSE_NAME_MAX]; /* "L1.3" */
    course_verdict verdict;
    char *answer; /* as given */
    char *note;   /* the hint, or the sentence that says why the answer cannot be read; "" for none */
} course_mark;

/* A file of answers and its marks. A file that is not usable has problems and no marks. */
typedef struct course_file {
    char *path;
    char *id;           /* "" if the file has none */
    course_mark *marks; /* (count) in the order of the labs and of the questions */
    size_t count, room;
    ulp_text problems; /* sentences with a line break behind each, with file and line; empty if the file is in order */
} course_file;

/* Read the answers of `path` and judge them. `word` is the word of the course. If `id` is not NULL, the file has to be
 * the file of this student. `program` is the name for messages about files that cannot be read. The result is in *file,
 * in every case. */
void course_file_mark(course_file *file, const char *path, const char *program, const char *id, const char *word);
void course_file_free(course_file *file);

/* The number of marks of a lab (NULL: all labs) with a verdict; the points, with `almost` points for an answer that is
 * almost right; the number of questions. */
size_t course_count(const course_file *file, const course_lab *lab, course_verdict verdict);
double course_points(const course_file *file, const course_lab *lab, double almost);
size_t course_questions(const course_file *file, const course_lab *lab);

/* Add the report for the student. */
void course_report(ulp_text *to, const course_file *file);

/* Add the report in the form of Gradescope's results.json: score, output, and tests with name, score, max_score,
 * status and output; the sum of max_score and the id are in extra_data. */
void course_report_json(ulp_text *to, const course_file *file, double almost);

/* Mark all files *.csv of a folder and of its folders, in the order of their names, and add one row of a CSV for each
 * file and lab. `problems` gets the sentences about files that are not in order. Returns the number of files, or -1 if
 * the folder cannot be read. */
int course_grade(ulp_text *to, ulp_text *problems, const char *folder, const char *program, const char *word,
                 double almost);

#endif

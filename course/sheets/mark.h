/* mark.h - marking a file of answers, and the reports: for a student, as JSON, as rows of a class. */
#ifndef ULP_COURSE_MARK_H
#define ULP_COURSE_MARK_H

#include "sheet.h"

/* The mark of one answer. */
typedef struct course_mark {
    const course_lab *lab;
    char name[COURSE_NAME_MAX]; /* "L1.3" */
    course_verdict verdict;
    char *answer; /* as given */
    char *note;   /* the hint, or the sentence that says why the answer cannot be read; "" for none */
} course_mark;

/* A sentence about a file that is not in order. */
typedef struct course_problem {
    const course_lab *lab; /* NULL: the sentence is about the whole file */
    int in_note;           /* 1: the note of a mark has the sentence, too */
    char *text;            /* begins with the path, and the line if the sentence is about a line */
} course_problem;

/* A file of answers and its marks. A file that is not usable has problems and no marks. */
typedef struct course_file {
    char *path;
    char *id;           /* "" if the file has none */
    course_mark *marks; /* (count) in the order of the labs and of the questions */
    size_t count, room;
    course_problem *problems; /* (problem_count) */
    size_t problem_count, problem_room;
} course_file;

/* Read the answers of `path` and judge them. `word` is the word of the course. If `id` is not NULL, the file has to be
 * the file of this student. `program` is the name for messages about files that cannot be read. The result is in *file,
 * in every case. */
void course_file_mark(course_file *file, const char *path, const char *program, const char *id, const char *word);
/* Drop the marks of the other labs, and the sentences about them. If nothing is left, a sentence says so. */
void course_file_keep(course_file *file, const course_lab *lab);
void course_file_free(course_file *file);

/* Add a sentence about a line of a file, or, with the line 0, about the file. If `lab` is not NULL, the sentence is
 * about the answers to this lab. The sentence gets the path and the line as its beginning. */
course_problem *course_complain(course_file *file, const course_lab *lab, unsigned long line, const char *text, ...)
    ULP_PRINTF(4, 5);

/* Add the sentences about a file, with a line break after each sentence. If `lab` is not NULL, the sentences about
 * other labs are left out. */
void course_add_problems(ulp_text *to, const course_file *file, const course_lab *lab);

/* The number of marks of a lab (NULL: all labs) with a verdict; the points, with `almost` points for an answer that is
 * almost right; the number of questions. */
size_t course_count(const course_file *file, const course_lab *lab, course_verdict verdict);
double course_points(const course_file *file, const course_lab *lab, double almost);
size_t course_questions(const course_file *file, const course_lab *lab);

/* Add the report for the student. */
void course_report(ulp_text *to, const course_file *file);

/* Add the report in the form of Gradescope's results.json: score, output, and tests with name, score, max_score, status
 * and output; the sum of max_score and the id are in extra_data. The output is text: Gradescope's default is HTML. */
void course_report_json(ulp_text *to, const course_file *file, double almost);

#endif

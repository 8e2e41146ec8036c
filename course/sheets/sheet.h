/* sheet.h - the questions of one student in one lab: drawn from the student's id, with keys computed by the library.
 *
 * A lab is a file of course/ that exports course_lab_NAME; the Makefile makes the table of the labs. The
 * numbers of a question are random words of (seed, stream): the seed is a hash of the word of the course, the id and
 * the lab, and the stream is the index of the question, so that a new question changes no other question.
 */
#ifndef ULP_COURSE_SHEET_H
#define ULP_COURSE_SHEET_H

#include <stdio.h>

#include "experiments/harness/cli/options.h"
#include "formats/round.h"

typedef enum course_verdict {
    COURSE_RIGHT,
    COURSE_ALMOST,
    COURSE_WRONG,
    COURSE_OPEN,
    COURSE_UNREADABLE
} course_verdict;

typedef enum course_kind { COURSE_NUMBER, COURSE_CODE, COURSE_CHOICE } course_kind;

/* An answer that is not right, and the hint that it gets. */
typedef struct course_near {
    double value;
    course_verdict verdict; /* COURSE_ALMOST or COURSE_WRONG */
    const char *hint;
} course_near;

enum { COURSE_NEAR_MAX = 10, COURSE_QUESTIONS_MAX = 12, COURSE_NAME_MAX = 16 };

typedef struct course_question {
    char name[COURSE_NAME_MAX]; /* "L1.3" */
    course_kind kind;
    ulp_text text;
    double key;        /* NUMBER: the number; CODE: the value of the code */
    uint64_t code;     /* CODE */
    const char *words; /* CHOICE: the allowed words, with blanks between them */
    const char *also;  /* CHOICE: a second name of the first word; or NULL */
    int right;         /* CHOICE: the index of the right word */
    const char *unit;  /* NUMBER: a word that may stand after the number; or NULL */
    double nearness;   /* NUMBER: a decimal with too few digits is nearer to the key than this; 0: no limit */
    int is_power;      /* 1: the key is a power of two, and the question asks for one */
    int has_format;    /* 1: the key is a number of `format`, so that an answer can be a unit in the last place away */
    ulp_format format;
    const char *hint;             /* for wrong answers without a hint of their own */
    const char *smaller, *larger; /* for positive answers below and above the key, in the place of `hint`; or NULL */
    course_near near[COURSE_NEAR_MAX];
    size_t near_count;
} course_question;

typedef struct course_lab course_lab;

/* A student. The numbers of a sheet are drawn from the id and the word. */
typedef struct course_student {
    const char *id;
    const char *word; /* the word of the course, part of the seed; "" for none */
} course_student;

typedef struct course_sheet {
    const course_lab *lab;
    course_student student;
    course_question questions[COURSE_QUESTIONS_MAX]; /* (count) */
    size_t count;
    uint64_t seed, drawn; /* drawn: random words that the next question has used */
} course_sheet;

struct course_lab {
    const char *name; /* "L1" */
    const char *title;
    void (*ask)(course_sheet *sheet);
};

/* The labs in the order of their names, from the sources of course/; NULL after the last. */
const course_lab *course_lab_get(size_t i);
size_t course_lab_count(void);

/* The lab of that name, in upper or lower case; NULL if there is none. */
const course_lab *course_lab_find(const char *name);

/* Whether a text can be an id: 1 to 64 letters, digits and . _ @ + -, not beginning with one of these signs. */
int course_id_fits(const char *id);
#define COURSE_ID_FORM "an id is 1 to 64 letters, digits and . _ @ + -, and begins with a letter or a digit"

/* ---- for the files of labs/ ---- */

/* A random number from 0 to n - 1 for the next question. */
uint32_t course_draw(course_sheet *sheet, uint32_t n);

/* Add a question. `format` is the format of the key, or NULL. The question is the newest of the sheet. */
course_question *course_ask_number(course_sheet *sheet, double key, const ulp_format *format, const char *text, ...)
    ULP_PRINTF(4, 5);
course_question *course_ask_code(course_sheet *sheet, double key, const ulp_format *format, const char *text, ...)
    ULP_PRINTF(4, 5);
course_question *course_ask_choice(course_sheet *sheet, const char *words, int right, const char *text, ...)
    ULP_PRINTF(4, 5);

/* Give an answer a hint of its own. An answer that equals the key or an earlier answer is not added. */
void course_almost(course_question *question, double value, const char *hint);
void course_tempting(course_question *question, double value, const char *hint);
/* Give the answers below and above the key hints of their own. */
void course_sides(course_question *question, const char *smaller, const char *larger);
/* Give the results of the other rounding modes of x their hints. */
void course_other_modes(course_question *question, double x, const ulp_format *format, ulp_mode mode);

/* A number as a question shows it: an exact decimal, a power of two, or a product with a power of two. */
typedef struct course_text {
    char text[48];
} course_text;
course_text course_show(double value);

/* A format of that name, which exists. */
ulp_format course_format(const char *name);
/* x rounded once. */
double course_round(double x, const ulp_format *format, ulp_mode mode);
/* a + b rounded once. */
double course_add(double a, double b, const ulp_format *format, ulp_mode mode);

/* ---- whole sheets ---- */

/* Draw the sheet of a student. Call course_sheet_free() afterwards. */
void course_sheet_make(course_sheet *sheet, const course_lab *lab, course_student student);
void course_sheet_free(course_sheet *sheet);

/* 32 bits that depend on the id, the word, the lab and the texts of the questions: what a file of answers names. */
uint32_t course_sheet_tag(const course_sheet *sheet);

/* The key as a student would write it. */
void course_answer_text(ulp_text *to, const course_question *question);

/* How numbers may be written in answers: one sentence. */
#define COURSE_NUMBER_FORMS                                                                                            \
    "A number is a decimal (0.375 or 3e-5), a fraction (3/8), a power of two (2^-4), a product with a power of two "   \
    "(3*2^-3), a hex number (0x1.8p-2) or a sum of these (1+2^-10), without brackets; -0 and inf are numbers, too."

/* ---- number.c, judge.c: reading one answer of a student, and judging it ---- */

/* COURSE_ROUNDED: a decimal of the text is no double, and was rounded to the nearest double. */
typedef enum course_reading { COURSE_NO_NUMBER, COURSE_EXACT, COURSE_ROUNDED } course_reading;

/* Read a number in one of the forms of COURSE_NUMBER_FORMS. If the text is anything else, `why` gets a sentence. */
course_reading course_read_number(double *value, const char *text, ulp_text *why);

/* Judge an answer. `note` gets the hint, or the sentence that says why the answer cannot be read; no hint names the
 * right answer. The empty answer is open. */
course_verdict course_judge(const course_question *question, const char *answer, ulp_text *note);

const char *course_verdict_name(course_verdict verdict);

#endif

/* answer.h - reading one answer of a student, and judging it. */
#ifndef ULP_COURSE_ANSWER_H
#define ULP_COURSE_ANSWER_H

#include "sheet.h"

/* COURSE_ROUNDED: a decimal of the text is no double, and was rounded to the nearest double. */
typedef enum course_reading { COURSE_NO_NUMBER, COURSE_EXACT, COURSE_ROUNDED } course_reading;

/* Read a number in one of the forms of COURSE_NUMBER_FORMS. If the text is anything else, `why` gets a sentence. */
course_reading course_read_number(double *value, const char *text, ulp_text *why);

/* Judge an answer. `note` gets the hint, or the sentence that says why the answer cannot be read; no hint names the
 * right answer. The empty answer is open. */
course_verdict course_judge(const course_question *question, const char *answer, ulp_text *note);

const char *course_verdict_name(course_verdict verdict);

#endif

/* grade.c - the marks of a class as CSV: a row for each student and lab, or a row for each question. */
#include "class.h"

#include <stdlib.h>
#include <string.h>

/* Add a comma and a field in quotes; a line break between two lines becomes "; ". */
static void add_field(ulp_text *to, const char *text) {
    ulp_text_add(to, ",\"", 2);
    for (; *text; text++) {
        if (*text == '"') ulp_text_add(to, "\"\"", 2);
        else if (*text != '\n') ulp_text_add(to, text, 1);
        else if (text[1]) ulp_text_add(to, "; ", 2);
    }
    ulp_text_add(to, "\"", 1);
}

static void add_row(ulp_text *to, const course_entry *entry, double almost) {
    const course_file *file = entry->marks;
    const course_lab *lab = entry->lab;
    size_t verdicts = 0;
    ulp_text_print(to, "%s,%s,", lab ? lab->name : "", entry->id);
    if (file) ulp_text_print(to, "%g,%zu", course_points(file, lab, almost), course_questions(file, lab));
    else ulp_text_add(to, ",", 1);
    for (int v = COURSE_RIGHT; v <= COURSE_UNREADABLE; v++) {
        ulp_text_add(to, ",", 1);
        if (file) ulp_text_print(to, "%zu", course_count(file, lab, (course_verdict)v));
    }
    add_field(to, ulp_text_of(&entry->files));
    add_field(to, ulp_text_of(&entry->note));
    for (size_t i = 0; file && i < file->count; i++)
        if (file->marks[i].lab == lab)
            ulp_text_print(to, ",%s", course_verdict_name(file->marks[i].verdict)), verdicts++;
    for (; verdicts < COURSE_QUESTIONS_MAX; verdicts++) ulp_text_add(to, ",", 1);
    ulp_text_add(to, "\n", 1);
}

void course_class_rows(ulp_text *to, const course_class *class, double almost) {
    ulp_text_print(to, "assignment,student_id,score,max_score,right,almost,wrong,open,unreadable,file,note");
    for (int i = 1; i <= COURSE_QUESTIONS_MAX; i++) ulp_text_print(to, ",%d", i);
    ulp_text_add(to, "\n", 1);
    for (size_t i = 0; i < class->count; i++) add_row(to, &class->entries[i], almost);
}

/* The marks of one question, of the students whose answers count. */
typedef struct answers {
    const course_mark **at; /* (count) */
    size_t count;
} answers;

/* Find the marks of question n of a lab, counted from 0. */
static void find_answers(answers *to, const course_class *class, const course_lab *lab, size_t n) {
    to->count = 0;
    for (const course_entry *e = class->entries; e < class->entries + class->count; e++) {
        if (e->lab != lab || !e->marks || n >= course_questions(e->marks, lab)) continue;
        const course_mark *mark = e->marks->marks;
        while (mark->lab != lab) mark++;
        to->at[to->count++] = mark + n;
    }
}

static int has_hint(const course_mark *mark) { return mark->verdict == COURSE_ALMOST || mark->verdict == COURSE_WRONG; }

/* Find the hint that most answers got; of hints with the same number of answers, the one that comes first in the
 * alphabet. Returns the number of answers. */
static size_t find_hint(const char **hint, const answers *from) {
    size_t most = 0;
    *hint = "";
    for (size_t i = 0; i < from->count; i++) {
        const char *note = from->at[i]->note;
        size_t same = 0;
        if (!has_hint(from->at[i])) continue;
        for (size_t k = 0; k < from->count; k++) same += has_hint(from->at[k]) && strcmp(from->at[k]->note, note) == 0;
        if (same > most || (same == most && strcmp(note, *hint) < 0)) {
            most = same;
            *hint = note;
        }
    }
    return most;
}

static void add_question(ulp_text *to, const answers *from, double almost) {
    size_t count[COURSE_UNREADABLE + 1] = {0};
    const char *hint;
    for (size_t i = 0; i < from->count; i++) count[from->at[i]->verdict]++;
    ulp_text_print(to, "%s,%s,%zu", from->at[0]->lab->name, from->at[0]->name, from->count);
    for (int v = COURSE_RIGHT; v <= COURSE_UNREADABLE; v++) ulp_text_print(to, ",%zu", count[v]);
    const double points = (double)count[COURSE_RIGHT] + almost * (double)count[COURSE_ALMOST];
    ulp_text_print(to, ",%.3f,%zu", points / (double)from->count, find_hint(&hint, from));
    add_field(to, hint);
    ulp_text_add(to, "\n", 1);
}

void course_class_questions(ulp_text *to, const course_class *class, double almost) {
    answers found = {ulp_grow(NULL, (class->count + 1) * sizeof *found.at), 0};
    ulp_text_print(to, "assignment,question,students,right,almost,wrong,open,unreadable,share,hinted,hint\n");
    for (size_t i = 0; i < course_lab_count(); i++)
        for (size_t n = 0; n < COURSE_QUESTIONS_MAX; n++) {
            find_answers(&found, class, course_lab_get(i), n);
            if (found.count) add_question(to, &found, almost);
        }
    free(found.at);
}

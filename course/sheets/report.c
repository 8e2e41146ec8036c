/* report.c - the marks of a file as lines for a student, and as JSON for Gradescope and nbgrader. */
#include "mark.h"

#include <string.h>

size_t course_count(const course_file *file, const course_lab *lab, course_verdict verdict) {
    size_t n = 0;
    for (size_t i = 0; i < file->count; i++)
        n += (!lab || file->marks[i].lab == lab) && file->marks[i].verdict == verdict;
    return n;
}

size_t course_questions(const course_file *file, const course_lab *lab) {
    size_t n = 0;
    for (size_t i = 0; i < file->count; i++) n += !lab || file->marks[i].lab == lab;
    return n;
}

double course_points(const course_file *file, const course_lab *lab, double almost) {
    return (double)course_count(file, lab, COURSE_RIGHT) + almost * (double)course_count(file, lab, COURSE_ALMOST);
}

/* Add "5 of 8 right, 1 almost, 2 wrong". */
static void add_sum(ulp_text *to, const course_file *file) {
    ulp_text_print(to, "%zu of %zu right", course_count(file, NULL, COURSE_RIGHT), file->count);
    for (int v = COURSE_ALMOST; v <= COURSE_UNREADABLE; v++) {
        const size_t n = course_count(file, NULL, (course_verdict)v);
        if (n) ulp_text_print(to, ", %zu %s", n, course_verdict_name((course_verdict)v));
    }
}

void course_report(ulp_text *to, const course_file *file) {
    const course_lab *lab = NULL;
    for (size_t i = 0; i < file->count; i++) {
        const course_mark *m = &file->marks[i];
        const size_t questions = course_questions(file, m->lab);
        const int is_open = questions < file->count && course_count(file, m->lab, COURSE_OPEN) == questions;
        if (m->lab != lab && is_open) ulp_text_print(to, "%s, lab %s: %zu open\n", file->id, m->lab->name, questions);
        else if (m->lab != lab) ulp_text_print(to, "%s, lab %s: %s\n", file->id, m->lab->name, m->lab->title);
        lab = m->lab;
        if (is_open) continue;
        ulp_text_print(to, "  %-5s %-11s", m->name, course_verdict_name(m->verdict));
        if (*m->note) ulp_text_wrap(to, m->note, 19, 19, 80);
        while (to->length && to->data[to->length - 1] == ' ') to->data[--to->length] = '\0';
        ulp_text_add(to, "\n", 1);
    }
    if (!file->count) return;
    add_sum(to, file);
    ulp_text_add(to, "\n", 1);
}

/* Add a text as a string of JSON. A byte that is no part of UTF-8 becomes '?'. */
static void add_string(ulp_text *to, const char *text) {
    ulp_text_add(to, "\"", 1);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        const int more = *c < 0x80                 ? 0
                         : *c >= 0xc2 && *c < 0xe0 ? 1
                         : *c >= 0xe0 && *c < 0xf0 ? 2
                         : *c >= 0xf0 && *c < 0xf5 ? 3
                                                   : -1;
        int good = 0;
        while (good < more && (c[good + 1] & 0xc0) == 0x80) good++;
        if (more < 0 || good < more) ulp_text_add(to, "?", 1);
        else if (*c == '"' || *c == '\\') ulp_text_print(to, "\\%c", *c);
        else if (*c == '\n') ulp_text_add(to, "\\n", 2);
        else if (*c < 0x20) ulp_text_print(to, "\\u%04x", *c);
        else {
            ulp_text_add(to, (const char *)c, (size_t)more + 1);
            c += more;
        }
    }
    ulp_text_add(to, "\"", 1);
}

static void add_test(ulp_text *to, const course_mark *m, double almost) {
    ulp_text output = {0};
    ulp_text_print(&output, "%s%s%s", course_verdict_name(m->verdict), *m->note ? ": " : "", m->note);
    ulp_text_print(to,
                   "    {\"name\": \"%s\", \"score\": %g, \"max_score\": 1, \"status\": \"%s\", \"output\": ", m->name,
                   m->verdict == COURSE_RIGHT    ? 1.0
                   : m->verdict == COURSE_ALMOST ? almost
                                                 : 0.0,
                   m->verdict == COURSE_RIGHT ? "passed" : "failed");
    add_string(to, ulp_text_of(&output));
    ulp_text_print(to, "}");
    ulp_text_free(&output);
}

void course_report_json(ulp_text *to, const course_file *file, double almost) {
    ulp_text output = {0};
    if (file->count) add_sum(&output, file);
    if (file->count && file->problem_count) ulp_text_add(&output, "\n", 1);
    course_add_problems(&output, file, NULL);
    ulp_text_print(
        to, "{\n  \"score\": %g,\n  \"output_format\": \"text\",\n  \"output\": ", course_points(file, NULL, almost));
    add_string(to, ulp_text_of(&output));
    ulp_text_print(to, ",\n  \"extra_data\": {\"student_id\": ");
    add_string(to, file->id);
    ulp_text_print(to, ", \"max_score\": %zu},\n  \"tests\": [\n", file->count);
    for (size_t i = 0; i < file->count; i++) {
        add_test(to, &file->marks[i], almost);
        ulp_text_print(to, i + 1 < file->count ? ",\n" : "\n");
    }
    ulp_text_print(to, "  ]\n}\n");
    ulp_text_free(&output);
}

/* mark.c - reads a file of answers, finds the student's sheets, and judges every answer. */
#include "mark.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "experiments/harness/cli/lines.h"

typedef struct row {
    char *name, *answer;
    unsigned long line;
    int used;
    int semicolon; /* 1: a semicolon stands in the place of the comma, and `answer` is empty */
} row;

typedef struct reading {
    course_file *file;
    const course_lab *lab; /* the lab that is marked, or NULL */
    row *rows;             /* (count) all rows but the row of the id */
    size_t count, room;
    int semicolons, misfits; /* rows without a comma but with a semicolon; sheets that are not the student's */
} reading;

course_problem *course_complain(course_file *file, const course_lab *lab, unsigned long line, const char *text, ...) {
    va_list arguments;
    ulp_text sentence = {0};
    ulp_text_print(&sentence, "%s:", file->path);
    if (line) ulp_text_print(&sentence, "%lu:", line);
    ulp_text_add(&sentence, " ", 1);
    va_start(arguments, text);
    ulp_text_print_list(&sentence, text, arguments);
    va_end(arguments);
    if (file->problem_count == file->problem_room)
        file->problems = ulp_room_for(file->problems, file->problem_count, &file->problem_room, sizeof *file->problems);
    course_problem *problem = &file->problems[file->problem_count++];
    *problem = (course_problem){.lab = lab, .text = ulp_copy_text(ulp_text_of(&sentence))};
    ulp_text_free(&sentence);
    return problem;
}

void course_add_problems(ulp_text *to, const course_file *file, const course_lab *lab) {
    for (size_t i = 0; i < file->problem_count; i++) {
        const course_problem *p = &file->problems[i];
        if (!lab || !p->lab || p->lab == lab) ulp_text_print(to, "%s\n", p->text);
    }
}

/* Cut blanks and one pair of quotes off a field, in place. */
static char *trim(char *text) {
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t", text[n - 1])) text[--n] = '\0';
    if (n >= 2 && text[0] == '"' && text[n - 1] == '"') {
        text[n - 1] = '\0';
        return trim(text + 1);
    }
    return text;
}

static void set_id(course_file *file, unsigned long line, const char *id) {
    if (!course_id_fits(id)) course_complain(file, NULL, line, "the id '%s': " COURSE_ID_FORM, id);
    else if (*file->id && strcmp(file->id, id) != 0)
        course_complain(file, NULL, line, "a second id, '%s': a file belongs to one student, and this one to '%s'", id,
                        file->id);
    else {
        free(file->id);
        file->id = ulp_copy_text(id);
    }
}

/* Take a row NAME,ANSWER. Spreadsheets add commas at the end of rows. */
static ulp_status take_row(void *context, const ulp_line *line, ulp_error *error) {
    reading *r = context;
    (void)error;
    char *text = line->text;
    if (text[0] == '"' && text[1 + strspn(text + 1, " \t")] == '#') return ULP_OK;
    for (size_t n = strlen(text); n > 0 && strchr(", \t", text[n - 1]) && strchr(text, ',') != text + n - 1; n--)
        text[n - 1] = '\0';
    char *comma = strchr(text, ',');
    const size_t name_length = strcspn(text, ",;");
    const int is_row = *r->file->id && text[name_length] == ';' && memchr(text, '.', name_length);
    if (!comma && !is_row) {
        const int semicolon = strchr(text, ';') != NULL;
        if (!semicolon || !r->semicolons++)
            course_complain(r->file, r->lab, line->number, "'%s' has no comma%s", text,
                            semicolon ? ": save the file with commas between the columns, not semicolons"
                                      : ": a row is the name of a question, a comma and the answer, as in L1.3,0.125");
        return ULP_OK;
    }
    *(is_row ? text + name_length : comma) = '\0';
    const char *name = trim(text), *answer = is_row ? "" : trim(comma + 1);
    if (strcasecmp(name, "id") == 0) {
        set_id(r->file, line->number, answer);
        return ULP_OK;
    }
    if (r->count == r->room) r->rows = ulp_room_for(r->rows, r->count, &r->room, sizeof *r->rows);
    r->rows[r->count++] = (row){ulp_copy_text(name), ulp_copy_text(answer), line->number, 0, is_row};
    return ULP_OK;
}

/* The row of that name, which is then used; a second row of the name is a problem. */
static const row *find_row(reading *r, const char *name) {
    const row *found = NULL;
    for (size_t i = 0; i < r->count; i++) {
        row *at = &r->rows[i];
        if (strcasecmp(at->name, name) != 0) continue;
        at->used = 1;
        if (found)
            course_complain(r->file, r->lab, at->line, "a second answer to %s: the first is in line %lu", name,
                            found->line);
        else found = at;
    }
    return found;
}

static course_verdict judge_row(const course_question *q, const row *at, ulp_text *note) {
    if (!at->semicolon) return course_judge(q, at->answer, note);
    ulp_text_print(note, "a semicolon stands after %s: write a comma in its place", q->name);
    return COURSE_UNREADABLE;
}

static void add_mark(reading *r, const course_question *q, const row *at) {
    course_file *file = r->file;
    if (file->count == file->room)
        file->marks = ulp_room_for(file->marks, file->count, &file->room, sizeof *file->marks);
    course_mark *mark = &file->marks[file->count++];
    ulp_text note = {0};
    *mark = (course_mark){.lab = r->lab, .verdict = COURSE_UNREADABLE};
    strcpy(mark->name, q->name);
    if (at) mark->verdict = judge_row(q, at, &note);
    else {
        ulp_text_print(&note, "the row of %s is missing: add the row `%s,` and write the answer after the comma",
                       q->name, q->name);
    }
    if (mark->verdict == COURSE_UNREADABLE) {
        const char *name = at ? q->name : "", *colon = at ? ": " : "";
        course_complain(file, r->lab, at ? at->line : 0, "%s%s%s", name, colon, ulp_text_of(&note))->in_note = 1;
    }
    mark->answer = ulp_copy_text(at ? at->answer : "");
    mark->note = ulp_copy_text(ulp_text_of(&note));
    ulp_text_free(&note);
}

/* A sentence if the answer cannot be read, where it has no mark. */
static void check_answer(reading *r, const course_question *q, const row *at) {
    ulp_text note = {0};
    if (judge_row(q, at, &note) == COURSE_UNREADABLE)
        course_complain(r->file, r->lab, at->line, "%s: %s", q->name, ulp_text_of(&note));
    ulp_text_free(&note);
}

static int has_rows_of(const reading *r, const course_lab *lab) {
    const size_t length = strlen(lab->name);
    for (size_t i = 0; i < r->count; i++) {
        const char *name = r->rows[i].name;
        if (strncasecmp(name, lab->name, length) == 0 && name[length] == '.') return 1;
    }
    return 0;
}

/* Judge the answers to the lab, if the file has any. Without the tag of the student's sheet they get no marks. */
static void mark_lab(reading *r, const char *word) {
    course_file *file = r->file;
    const course_lab *lab = r->lab;
    course_sheet sheet;
    char name[COURSE_NAME_MAX + 8], tag[16];
    snprintf(name, sizeof name, "sheet %s", lab->name);
    const row *given = find_row(r, name);
    if (!given && !has_rows_of(r, lab)) return;
    course_sheet_make(&sheet, lab, (course_student){file->id, word});
    snprintf(tag, sizeof tag, "%08x", course_sheet_tag(&sheet));
    const int fits = given && strcasecmp(given->answer, tag) == 0;
    if (!given)
        course_complain(file, lab, 0,
                        "the row `%s,...` is missing: it says whose questions these are; copy it from the sheet", name);
    else if (!fits && !r->misfits++)
        course_complain(
            file, lab, given->line,
            "the sheet %s of %s is not the sheet of '%s': the answers belong to another student, to another word of "
            "the course, or to another version of ulplab (`ulp course sheet --id %s %s` prints the sheet)",
            given->answer, lab->name, file->id, file->id, lab->name);
    else if (!fits)
        course_complain(file, lab, given->line, "the sheet %s of %s is not the sheet of '%s'", given->answer, lab->name,
                        file->id);
    for (size_t i = 0; i < sheet.count; i++) {
        const row *at = find_row(r, sheet.questions[i].name);
        if (fits) add_mark(r, &sheet.questions[i], at);
        else if (at) check_answer(r, &sheet.questions[i], at);
    }
    course_sheet_free(&sheet);
}

static void complain_about_others(reading *r) {
    for (size_t i = 0; i < r->count; i++)
        if (!r->rows[i].used)
            course_complain(
                r->file, r->lab, r->rows[i].line,
                "there is no question '%s': the names of questions are as L1.3, and a lab is one of %s to %s",
                r->rows[i].name, course_lab_get(0)->name, course_lab_get(course_lab_count() - 1)->name);
}

void course_file_mark(course_file *file, const char *path, const char *program, const char *id, const char *word) {
    reading r = {.file = file};
    *file = (course_file){.path = ulp_copy_text(path), .id = ulp_copy_text("")};
    uint64_t index = 0;
    ulp_error error;
    const ulp_line_filter filter = {.each = take_row, .context = &r};
    const int is_read = ulp_filter_file(program, path, &index, &filter, &error) == ULP_OK;
    if (!is_read) {
        ulp_complain_of(program, &error);
        course_complain(file, NULL, 0, "the file cannot be read");
    } else if (!*file->id && !file->problem_count)
        course_complain(
            file, NULL, 0,
            "there is no row `id,...`: this is no file of answers (`ulp course sheet --id ID L1` prints one)");
    if (id && *file->id && strcmp(id, file->id) != 0)
        course_complain(file, NULL, 0, "this is the file of '%s', not of '%s'", file->id, id);
    else if (is_read && *file->id) {
        const size_t before = file->problem_count;
        for (size_t i = 0; i < course_lab_count(); i++) {
            r.lab = course_lab_get(i);
            mark_lab(&r, word);
        }
        r.lab = NULL;
        complain_about_others(&r);
        if (!file->count && file->problem_count == before)
            course_complain(file, NULL, 0, "there are no answers in the file");
    }
    for (size_t i = 0; i < r.count; i++) {
        free(r.rows[i].name);
        free(r.rows[i].answer);
    }
    free(r.rows);
}

static void free_mark(course_mark *mark) {
    free(mark->answer);
    free(mark->note);
}

void course_file_keep(course_file *file, const course_lab *lab) {
    size_t marks = 0, problems = 0;
    for (size_t i = 0; i < file->count; i++) {
        course_mark *m = &file->marks[i];
        if (m->lab == lab) file->marks[marks++] = *m;
        else free_mark(m);
    }
    for (size_t i = 0; i < file->problem_count; i++) {
        course_problem *p = &file->problems[i];
        if (!p->lab || p->lab == lab) file->problems[problems++] = *p;
        else free(p->text);
    }
    file->count = marks;
    file->problem_count = problems;
    if (!marks && !problems) course_complain(file, NULL, 0, "there are no answers to %s in the file", lab->name);
}

void course_file_free(course_file *file) {
    for (size_t i = 0; i < file->count; i++) free_mark(&file->marks[i]);
    for (size_t i = 0; i < file->problem_count; i++) free(file->problems[i].text);
    free(file->problems);
    free(file->marks);
    free(file->path);
    free(file->id);
}

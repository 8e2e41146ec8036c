/* mark.c - reads a file of answers, finds the student's sheets, and judges every answer. */
#include "mark.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "experiments/ulp/tool.h"

typedef struct row {
    char *name, *answer;
    unsigned long line;
    int used;
} row;

typedef struct reading {
    course_file *file;
    row *rows; /* (count) all rows but the row of the id */
    size_t count, room;
} reading;

/* Add a sentence about a line, or, with the line 0, about the file. */
static void complain(course_file *file, unsigned long line, const char *text, ...) ULP_PRINTF(3, 4);
static void complain(course_file *file, unsigned long line, const char *text, ...) {
    va_list arguments;
    if (line) ulp_text_print(&file->problems, "%s:%lu: ", file->path, line);
    else ulp_text_print(&file->problems, "%s: ", file->path);
    va_start(arguments, text);
    ulp_text_print_list(&file->problems, text, arguments);
    va_end(arguments);
    ulp_text_add(&file->problems, "\n", 1);
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
    if (!course_id_fits(id)) complain(file, line, "the id '%s': " COURSE_ID_FORM, id);
    else if (*file->id && strcmp(file->id, id) != 0)
        complain(file, line, "a second id, '%s': a file belongs to one student, and this one to '%s'", id, file->id);
    else {
        free(file->id);
        file->id = ulp_copy_text(id);
    }
}

/* Take a row NAME,ANSWER. Spreadsheets add commas at the end of rows. */
static int take_row(void *context, const tool_line *line) {
    reading *r = context;
    char *text = line->text;
    if (text[0] == '"' && text[1 + strspn(text + 1, " \t")] == '#') return ULP_GO_ON;
    for (size_t n = strlen(text); n > 0 && strchr(", \t", text[n - 1]) && strchr(text, ',') != text + n - 1; n--)
        text[n - 1] = '\0';
    char *comma = strchr(text, ',');
    if (!comma) {
        complain(r->file, line->number, "'%s' has no comma%s", text,
                 strchr(text, ';') ? ": save the file with commas between the columns, not semicolons"
                                   : ": a row is the name of a question, a comma and the answer, as in L1.3,0.125");
        return ULP_GO_ON;
    }
    *comma = '\0';
    const char *name = trim(text), *answer = trim(comma + 1);
    if (strcasecmp(name, "id") == 0) {
        set_id(r->file, line->number, answer);
        return ULP_GO_ON;
    }
    if (r->count == r->room) r->rows = ulp_room_for(r->rows, r->count, &r->room, sizeof *r->rows);
    r->rows[r->count++] = (row){ulp_copy_text(name), ulp_copy_text(answer), line->number, 0};
    return ULP_GO_ON;
}

/* The row of that name, which is then used; a second row of the name is a problem. */
static const row *find_row(reading *r, const char *name) {
    const row *found = NULL;
    for (row *at = r->rows; at < r->rows + r->count; at++) {
        if (strcasecmp(at->name, name) != 0) continue;
        at->used = 1;
        if (found) complain(r->file, at->line, "a second answer to %s: the first is in line %lu", name, found->line);
        else found = at;
    }
    return found;
}

static void add_mark(course_file *file, const course_lab *lab, const course_question *q, const row *at) {
    if (file->count == file->room)
        file->marks = ulp_room_for(file->marks, file->count, &file->room, sizeof *file->marks);
    course_mark *mark = &file->marks[file->count++];
    ulp_text note = {0};
    *mark = (course_mark){.lab = lab, .verdict = COURSE_UNREADABLE};
    strcpy(mark->name, q->name);
    if (at) mark->verdict = course_judge(q, at->answer, &note);
    else {
        ulp_text_print(&note, "the row of %s is missing: add the row `%s,` and write the answer behind the comma",
                       q->name, q->name);
    }
    if (mark->verdict == COURSE_UNREADABLE)
        complain(file, at ? at->line : 0, "%s%s%s", at ? q->name : "", at ? ": " : "", ulp_text_of(&note));
    mark->answer = ulp_copy_text(at ? at->answer : "");
    mark->note = ulp_copy_text(ulp_text_of(&note));
    ulp_text_free(&note);
}

static int has_rows_of(const reading *r, const course_lab *lab) {
    const size_t length = strlen(lab->name);
    for (const row *at = r->rows; at < r->rows + r->count; at++)
        if (strncasecmp(at->name, lab->name, length) == 0 && at->name[length] == '.') return 1;
    return 0;
}

/* Judge the answers to one lab, if the file has any and its tag is the tag of the student's sheet. */
static void mark_lab(reading *r, const course_lab *lab, const char *word) {
    course_file *file = r->file;
    course_sheet sheet;
    char name[COURSE_NAME_MAX + 8], tag[16];
    snprintf(name, sizeof name, "sheet %s", lab->name);
    const row *given = find_row(r, name);
    if (!given && !has_rows_of(r, lab)) return;
    course_sheet_make(&sheet, lab, (course_student){file->id, word});
    snprintf(tag, sizeof tag, "%08x", course_sheet_tag(&sheet));
    const int fits = given && strcasecmp(given->answer, tag) == 0;
    if (!given)
        complain(file, 0, "the row `%s,...` is missing: it says whose questions these are; copy it from the sheet",
                 name);
    else if (!fits)
        complain(
            file, given->line,
            "the sheet %s of %s is not the sheet of '%s': the answers belong to another student, to another word of "
            "the course, or to another version of ulplab (`ulp course sheet --id %s %s` prints the sheet)",
            given->answer, lab->name, file->id, file->id, lab->name);
    for (size_t i = 0; i < sheet.count; i++) {
        const row *at = find_row(r, sheet.questions[i].name);
        if (fits) add_mark(file, lab, &sheet.questions[i], at);
    }
    course_sheet_free(&sheet);
}

static void complain_about_others(reading *r) {
    for (const row *at = r->rows; at < r->rows + r->count; at++)
        if (!at->used)
            complain(r->file, at->line,
                     "there is no question '%s': the names of questions are as L1.3, and a lab is one of %s to %s",
                     at->name, course_labs[0]->name, course_labs[course_lab_count - 1]->name);
}

void course_file_mark(course_file *file, const char *path, const char *program, const char *id, const char *word) {
    reading r = {.file = file};
    *file = (course_file){.path = ulp_copy_text(path), .id = ulp_copy_text("")};
    uint64_t index = 0;
    const int status = tool_each_line_of(program, path, &index, take_row, &r);
    if (status != ULP_GO_ON) complain(file, 0, "the file cannot be read");
    else if (!*file->id && !file->problems.length)
        complain(file, 0,
                 "there is no row `id,...`: this is no file of answers (`ulp course sheet --id ID L1` prints one)");
    if (id && *file->id && strcmp(id, file->id) != 0)
        complain(file, 0, "this is the file of '%s', not of '%s'", file->id, id);
    else if (status == ULP_GO_ON && *file->id) {
        const size_t before = file->problems.length;
        for (size_t i = 0; i < course_lab_count; i++) mark_lab(&r, course_labs[i], word);
        complain_about_others(&r);
        if (!file->count && file->problems.length == before) complain(file, 0, "there are no answers in the file");
    }
    for (size_t i = 0; i < r.count; i++) {
        free(r.rows[i].name);
        free(r.rows[i].answer);
    }
    free(r.rows);
}

void course_file_free(course_file *file) {
    for (size_t i = 0; i < file->count; i++) {
        free(file->marks[i].answer);
        free(file->marks[i].note);
    }
    free(file->marks);
    free(file->path);
    free(file->id);
    ulp_text_free(&file->problems);
}

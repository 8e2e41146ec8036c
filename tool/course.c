/* course.c - ulp course: the questions of a student, the marks of answers, the CSV of a class, the key. */
#include "course/sheets/class.h"
#include "experiments/harness/table/output.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct settings {
    const char *id, *word, *out;
    double almost;
    int json, questions;
} settings;

static settings given;

static const ulp_option options[] = {
    ULP_OPTION(settings, id, text, NULL, .value_name = "ID",
               .help = "sheet, key: the students, with commas between them; check: the student whose file it must be; "
                       "grade: the students of the class, so that a missing file gets a sentence"),
    ULP_OPTION(settings, word, text, "", .value_name = "TEXT",
               .help = "a word that the teacher chooses; it is part of the seed of all numbers"),
    ULP_OPTION(settings, out, folder, "", .value_name = "FOLDER",
               .help = "sheet, key: write FOLDER/ID.csv or FOLDER/ID-LAB.csv for each student, and never over a file "
                       "that is there"),
    {.name = "json",
     .type = &ulp_type_flag,
     ULP_FIELD(settings, json),
     .help = "check: print results.json of Gradescope, which a cell of nbgrader can read, too"},
    {.name = "questions",
     .type = &ulp_type_flag,
     ULP_FIELD(settings, questions),
     .help = "grade: print a row for each question, with the numbers of students and the most frequent hint, in the "
             "place of a row for each student and lab"},
    ULP_OPTION(settings, almost, number, "0.5", .min = 0, .max = 1,
               .help = "check --json, grade: points of an answer that is almost right"),
    {0}};

/* A part of the command: a word, the options it takes, and the number of words after it. */
typedef struct action {
    const char *name, *options, *wants;
    ulp_status (*run)(const ulp_arguments *a, ulp_error *error);
    size_t least, most;
} action;

static void add_comment(ulp_text *to, const char *text) {
    ulp_text wrapped = {0};
    ulp_text_wrap(&wrapped, text, 0, 0, 78);
    for (const char *line = ulp_text_of(&wrapped); *line; line += strcspn(line, "\n"), line += *line == '\n')
        ulp_text_print(to, "# %.*s\n", (int)strcspn(line, "\n"), line);
    ulp_text_free(&wrapped);
}

/* Add the file of a student: the questions as comments, and a row for each answer, empty or with the key. */
static void add_file(ulp_text *to, const course_lab *only, course_student student, int with_key) {
    ulp_text head = {0};
    ulp_text_print(&head, "ulplab course: the %s of %s", with_key ? "KEY" : "questions", student.id);
    add_comment(to, ulp_text_of(&head));
    ulp_text_free(&head);
    add_comment(to, "Write each answer after the comma of its row. " COURSE_NUMBER_FORMS
                    " A point stands before the decimals. Answers are exact: write all digits of a number.");
    add_comment(to, *student.word ? "Your teacher checks the answers. This command says which of them cannot be read: "
                                    "ulp course check FILE"
                                  : "Then let the file be checked: ulp course check FILE");
    ulp_text_print(to, "id,%s\n", student.id);
    for (size_t i = 0; i < course_lab_count(); i++) {
        course_sheet sheet;
        if (only && course_lab_get(i) != only) continue;
        course_sheet_make(&sheet, course_lab_get(i), student);
        ulp_text_print(to, "\n# ---- lab %s: %s ----\nsheet %s,%08x\n", sheet.lab->name, sheet.lab->title,
                       sheet.lab->name, course_sheet_tag(&sheet));
        for (size_t n = 0; n < sheet.count; n++) {
            const course_question *q = &sheet.questions[n];
            ulp_text text = {0};
            ulp_text_print(&text, "%s  %s", q->name, ulp_text_of(&q->text));
            ulp_text_add(to, "\n", 1);
            add_comment(to, ulp_text_of(&text));
            ulp_text_print(to, "%s,", q->name);
            if (with_key) course_answer_text(to, q);
            ulp_text_add(to, "\n", 1);
            ulp_text_free(&text);
        }
        course_sheet_free(&sheet);
    }
}

/* Write a new file; a file that is there may hold answers. */
static ulp_status write_file(const char *path, const ulp_text *text, ulp_error *error) {
    ulp_replacement *r;
    int there = access(path, F_OK) == 0;
    if (!there) {
        ULP_TRY(ulp_replacement_begin(&r, path, path, 0, error));
        fputs(ulp_text_of(text), r->file);
        if (ulp_replacement_finish_new(r)) return ULP_OK;
        there = errno == EEXIST;
    }
    if (there) return ulp_refuse(error, "%s is there, and may hold answers: remove it first", path);
    return ulp_fail(error, ULP_BAD_FILE, "cannot write %s: %s", path, strerror(errno));
}

static ulp_status write_new(const char *id, const course_lab *lab, const ulp_text *text, ulp_error *error) {
    ulp_text path = {0};
    ulp_text_print(&path, "%s/%s%s%s.csv", given.out, id, lab ? "-" : "", lab ? lab->name : "");
    const ulp_status status = write_file(ulp_text_of(&path), text, error);
    ulp_text_free(&path);
    return status;
}

static ulp_status check_ids(ulp_error *error) {
    char id[256];
    const char *at = given.id;
    int more;
    while ((more = ulp_next_item(id, sizeof id, &at)) > 0)
        if (!course_id_fits(id)) return ulp_refuse(error, "--id: '%s': " COURSE_ID_FORM, id);
    if (more == 0) return ULP_OK;
    return ulp_refuse(error, "--id '%s': an id in the list is empty or too long; " COURSE_ID_FORM, given.id);
}

static ulp_status refuse_lab(const char *name, ulp_error *error) {
    return ulp_refuse(error, "no lab '%s': the labs are %s to %s", name, course_lab_get(0)->name,
                      course_lab_get(course_lab_count() - 1)->name);
}

/* Refuse a student who would get two files. */
static ulp_status refuse_twins(ulp_error *error) {
    char id[256], later[256];
    for (const char *at = given.id; ulp_next_item(id, sizeof id, &at) > 0;)
        for (const char *rest = at; ulp_next_item(later, sizeof later, &rest) > 0;)
            if (strcmp(id, later) == 0) return ulp_refuse(error, "--id: '%s' is given twice", id);
    return ULP_OK;
}

static ulp_status print_files(const ulp_arguments *a, int with_key, ulp_error *error) {
    const course_lab *lab = NULL;
    if (!given.id) return ulp_refuse(error, "--id is missing: the numbers of the questions depend on the student's id");
    ULP_TRY(check_ids(error));
    ULP_TRY(refuse_twins(error));
    if (a->word_count == 2 && !(lab = course_lab_find(a->words[1]))) return refuse_lab(a->words[1], error);
    char id[256];
    ulp_status status = ULP_OK;
    for (const char *at = given.id; status == ULP_OK && ulp_next_item(id, sizeof id, &at) > 0;) {
        ulp_text text = {0};
        add_file(&text, lab, (course_student){id, given.word}, with_key);
        if (*given.out) status = write_new(id, lab, &text, error);
        else fputs(ulp_text_of(&text), stdout);
        ulp_text_free(&text);
    }
    return status;
}

static ulp_status run_sheet(const ulp_arguments *a, ulp_error *error) { return print_files(a, 0, error); }
static ulp_status run_key(const ulp_arguments *a, ulp_error *error) { return print_files(a, 1, error); }

/* Whether what stdout says can be read together with the messages. */
static int is_terminal(void) { return isatty(STDOUT_FILENO) && isatty(STDERR_FILENO); }

/* Write the sentences about a file to stderr. If `lab` is not NULL, leave out the sentences about other labs. With
 * `others`, leave out the sentences that notes of marks have, too. */
static void print_problems(const ulp_arguments *a, const course_file *file, const course_lab *lab, int others) {
    for (const course_problem *p = file->problems; p < file->problems + file->problem_count; p++)
        if ((!others || !p->in_note) && (!lab || !p->lab || p->lab == lab)) ulp_complain(a->program, "%s", p->text);
}

static ulp_status run_check(const ulp_arguments *a, ulp_error *error) {
    course_file file;
    ulp_text report = {0};
    const course_lab *lab = NULL;
    if (a->word_count == 3 && !(lab = course_lab_find(a->words[2]))) return refuse_lab(a->words[2], error);
    course_file_mark(&file, a->words[1], a->program, given.id, given.word);
    if (lab) course_file_keep(&file, lab);
    if (given.json) course_report_json(&report, &file, given.almost);
    else course_report(&report, &file);
    fputs(ulp_text_of(&report), stdout);
    ulp_flush_stdout();
    print_problems(a, &file, NULL, !given.json && is_terminal());
    ulp_status status = ULP_OK;
    if (file.problem_count) status = tool_failed(error, TOOL_INPUT_REFUSED);
    else if (course_count(&file, NULL, COURSE_RIGHT) != file.count) status = tool_failed(error, TOOL_CHECK_FAILED);
    ulp_text_free(&report);
    course_file_free(&file);
    return status;
}

/* Write the sentences about the files of a class to stderr. On a terminal, where the notes of the CSV are above, write
 * the number of notes. Returns the number of notes. */
static size_t print_class_problems(const ulp_arguments *a, const course_class *class, const course_lab *lab) {
    size_t notes = 0;
    const int is_above = !given.questions && is_terminal();
    for (size_t i = 0; i < class->file_count && !is_above; i++) print_problems(a, &class->files[i], lab, 0);
    for (const course_entry *e = class->entries; e < class->entries + class->count; e++) {
        const char *note = ulp_text_of(&e->note);
        notes += *note != '\0';
        if (!e->files.length && !is_above) ulp_complain(a->program, "%.*s", (int)strcspn(note, "\n"), note);
    }
    if (is_above && notes)
        ulp_complain(a->program, "%zu row%s with a note: something there has no mark, or is not in order", notes,
                     ulp_plural(notes));
    return notes;
}

static ulp_status run_grade(const ulp_arguments *a, ulp_error *error) {
    ulp_text rows = {0};
    course_class class;
    const char *folder = a->words[1];
    const course_lab *lab = NULL;
    ulp_status status = ULP_OK;
    if (given.id) ULP_TRY(check_ids(error));
    if (a->word_count == 3 && !(lab = course_lab_find(a->words[2]))) return refuse_lab(a->words[2], error);
    if (!course_class_mark(&class, &(course_choice){folder, given.word, given.id, lab}, a->program))
        status = ulp_refuse(error, "cannot read the folder %s: %s", folder, strerror(errno));
    else if (!class.file_count)
        status = ulp_refuse(error, "%s has no file *.csv: it should hold the files of a class", folder);
    else {
        if (given.questions) course_class_questions(&rows, &class, given.almost);
        else course_class_rows(&rows, &class, given.almost);
        fputs(ulp_text_of(&rows), stdout);
        ulp_flush_stdout();
        if (print_class_problems(a, &class, lab)) status = tool_failed(error, TOOL_INPUT_REFUSED);
    }
    ulp_text_free(&rows);
    course_class_free(&class);
    return status;
}

static const action actions[] = {
    {"sheet", "id word out", "at most one lab", run_sheet, 0, 1},
    {"key", "id word out", "at most one lab", run_key, 0, 1},
    {"check", "id word json almost", "one file of answers and at most one lab", run_check, 1, 2},
    {"grade", "id word almost questions", "one folder and at most one lab", run_grade, 1, 2},
};

static ulp_status run(const ulp_arguments *a, ulp_error *error) {
    enum { ACTIONS = sizeof actions / sizeof actions[0] };
    const action *at = actions;
    if (!a->word_count) return ulp_refuse(error, "a word is missing: sheet, check, grade or key");
    while (at < actions + ACTIONS && strcmp(at->name, a->words[0]) != 0) at++;
    if (at == actions + ACTIONS)
        return ulp_refuse(error, "'%s' is not one of sheet, check, grade and key", a->words[0]);
    for (size_t i = 0; i < a->count; i++)
        if (a->settings[i].given && !ulp_list_has(at->options, a->settings[i].option->name))
            return ulp_refuse(error, "`ulp course %s` takes no --%s", at->name, a->settings[i].option->name);
    const size_t words = a->word_count - 1;
    if (words < at->least || words > at->most)
        return ulp_refuse(error, "`ulp course %s` takes %s, and here are %zu", at->name, at->wants, words);
    return at->run(a, error);
}

const tool_command tool_course = {
    .command =
        {.name = "ulp course",
         .usage = "sheet | check | grade | key [OPTION...] [WORD...]",
         .summary = "prints a student's questions, and marks the answers",
         .details =
             "`ulp course sheet --id ID [LAB]` prints the questions of a student, as comments of the file of answers; "
             "their numbers depend on the id. `ulp course check FILE [LAB]` says of each answer whether it is right, "
             "almost right or wrong, and gives a hint; the exit status is 0 if all answers are right, and 1 if not. "
             "`ulp course grade FOLDER [LAB]` marks the files of a class and of folders in it, and prints a CSV with a "
             "row for each student and lab. If the files of a student give different marks for a lab, none of them "
             "counts, "
             "and a sentence names the files. `ulp course key --id ID [LAB]` prints the sheet with the right answers, "
             "computed each time. The labs are "
             "in the folder course/.\n\n"
             "  ulp course sheet --id anna --out . L1\n"
             "  ulp course check anna-L1.csv\n"
             "  ulp course grade class > marks.csv\n"
             "  ulp course grade --questions class L1 > questions.csv\n",
         .takes_words = 1},
    .groups = {{"options", options, &given}},
    .run = run};

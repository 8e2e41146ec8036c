/* answers.c - files of answers of the course: marks, hints, the reports for the student and for Gradescope. */
#include "course/sheets/mark.h"
#include "tests/proofs/fuzz/support/fuzz.h"

/* The tag of a student's sheet. Drawing a sheet takes longer than reading a file, so the last ones are kept. */
static uint32_t tag_of(const course_lab *lab, const char *id) {
    enum { KEPT = 16 };
    static struct {
        const course_lab *lab;
        char id[65];
        uint32_t tag;
    } kept[KEPT];
    static size_t next;
    for (size_t i = 0; i < KEPT; i++)
        if (kept[i].lab == lab && strcmp(kept[i].id, id) == 0) return kept[i].tag;
    course_sheet sheet;
    course_sheet_make(&sheet, lab, (course_student){id, ""});
    kept[next].lab = lab;
    kept[next].tag = course_sheet_tag(&sheet);
    snprintf(kept[next].id, sizeof kept[next].id, "%s", id);
    course_sheet_free(&sheet);
    const uint32_t tag = kept[next].tag;
    next = (next + 1) % KEPT;
    return tag;
}

/* The sheet of a student is named by a number that depends on the questions; "@" stands for the right one. */
static ulp_text with_tags(const char *text) {
    ulp_text made = {0};
    char id[65] = "anna";
    const char *at = strstr(text, "id,");
    if (at) snprintf(id, sizeof id, "%.*s", (int)strcspn(at + 3, "\r\n, \""), at + 3);
    for (at = text; *at;) {
        const size_t n = strcspn(at, "\n"), whole = n + (at[n] == '\n');
        const course_lab *lab = NULL;
        if (strncmp(at, "sheet ", 6) == 0 && n > 1 && at[n - 1] == '@') {
            char name[8];
            snprintf(name, sizeof name, "%.2s", at + 6);
            lab = course_lab_find(name);
        }
        if (lab && course_id_fits(id)) {
            ulp_text_print(&made, "sheet %s,%08x\n", lab->name, (unsigned)tag_of(lab, id));
        } else ulp_text_add(&made, at, whole);
        at += whole;
    }
    return made;
}

static int is_valid(const char *text) {
    course_file file;
    ulp_text tagged = with_tags(text);
    course_file_mark(&file, fuzz_file(3, (const uint8_t *)ulp_text_of(&tagged), tagged.length), "fuzz", NULL, "");
    const int good = file.count > 0;
    course_file_free(&file);
    ulp_text_free(&tagged);
    return good;
}

static void check_file(const course_file *file) {
    ulp_text report = {0}, json = {0}, problems = {0};
    size_t of_verdicts = 0;
    course_report(&report, file);
    course_report_json(&json, file, 0.5);
    course_add_problems(&problems, file, NULL);
    fuzz_check(fuzz_is_json(ulp_text_of(&json)), "this is no JSON: %s", ulp_text_of(&json));
    fuzz_check(file->count > 0 || file->problem_count > 0, "neither marks nor sentences");
    for (int v = COURSE_RIGHT; v <= COURSE_UNREADABLE; v++) of_verdicts += course_count(file, NULL, (course_verdict)v);
    fuzz_check(of_verdicts == file->count && course_questions(file, NULL) == file->count, "%zu verdicts for %zu marks",
               of_verdicts, file->count);
    const double points = course_points(file, NULL, 0.5);
    fuzz_check(points >= 0 && points <= (double)file->count, "%g points of %zu", points, file->count);
    for (size_t i = 0; i < file->count; i++) {
        const course_mark *m = &file->marks[i];
        fuzz_check(m->verdict != COURSE_UNREADABLE || *m->note, "%s: '%s' cannot be read, without a sentence", m->name,
                   m->answer);
    }
    ulp_text_free(&report);
    ulp_text_free(&json);
    ulp_text_free(&problems);
}

static void run(const uint8_t *data, size_t size) {
    const char *text = fuzz_text(data, size);
    course_file file;
    ulp_text tagged = with_tags(text);
    course_file_mark(&file, fuzz_file(0, (const uint8_t *)ulp_text_of(&tagged), tagged.length), "fuzz", NULL, "");
    if (file.count) fuzz_passed();
    check_file(&file);
    if (course_lab_count()) course_file_keep(&file, course_lab_get(0));
    course_file_free(&file);
    ulp_text_free(&tagged);
}

/* The right answers of a student, and an answer of every other form. */
static void seeds(void) {
    static const char *const forms[] = {"1",     "0.375",   "3/8",  "2^-4",  "3*2^-3", "0x1.8p-2", "1+2^-10", "-0",
                                        "inf",   "nan",     "3c00", "yes",   "0,5",    "50%",      "2^-4.5",  "(1+2)",
                                        "1 ulp", "\"0.5\"", "",     "1e400", "x",      "0x3c00"};
    for (size_t l = 0; l < course_lab_count(); l++) {
        course_sheet sheet;
        ulp_text right = {0}, other = {0};
        course_sheet_make(&sheet, course_lab_get(l), (course_student){"anna", ""});
        ulp_text_print(&right, "id,anna\nsheet %s,@\n", course_lab_get(l)->name);
        ulp_text_print(&other, "id,anna\nsheet %s,@\n", course_lab_get(l)->name);
        for (size_t i = 0; i < sheet.count; i++) {
            ulp_text_print(&right, "%s,", sheet.questions[i].name);
            course_answer_text(&right, &sheet.questions[i]);
            ulp_text_print(&right, "\n");
            ulp_text_print(&other, "%s,%s\n", sheet.questions[i].name,
                           forms[(l + 5 * i) % (sizeof forms / sizeof *forms)]);
        }
        fuzz_seed(ulp_text_of(&right), right.length);
        fuzz_seed(ulp_text_of(&other), other.length);
        ulp_text_free(&right);
        ulp_text_free(&other);
        course_sheet_free(&sheet);
    }
}

/* the room for the first lines of a file */
const fuzz_target fuzz_target_answers = {FUZZ_TEXT("answers", 600, (1 << 18) + 64, 256)};

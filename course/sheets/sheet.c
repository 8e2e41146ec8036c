/* sheet.c - draws the questions of a student; for all labs: asking, hints, numbers as text. */
#include "sheet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/rng.h"

size_t course_lab_count(void) {
    size_t n = 0;
    while (course_lab_get(n) != NULL) n++;
    return n;
}

const course_lab *course_lab_find(const char *name) {
    for (size_t i = 0; i < course_lab_count(); i++)
        if (strcasecmp(name, course_lab_get(i)->name) == 0) return course_lab_get(i);
    return NULL;
}

int course_id_fits(const char *id) {
    const size_t length = strlen(id);
    if (length < 1 || length > 64 || (!isalnum((unsigned char)id[0]) && (unsigned char)id[0] < 0x80)) return 0;
    for (const char *c = id; *c; c++)
        if (!isalnum((unsigned char)*c) && (unsigned char)*c < 0x80 && !strchr("._@+-", *c)) return 0;
    return 1;
}

/* FNV-1a (Fowler, Noll, Vo) of a text and its closing zero. */
static uint64_t hash(uint64_t h, const char *text) {
    do h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    while (*text++);
    return h;
}

static uint64_t hash_of(const course_sheet *s) {
    return hash(hash(hash(0xcbf29ce484222325u, s->student.word), s->student.id), s->lab->name);
}

uint32_t course_draw(course_sheet *sheet, uint32_t n) {
    return ulp_random_word((ulp_stream){sheet->seed, sheet->count, 0}, sheet->drawn++) % n;
}

static course_question *ask(course_sheet *s, course_kind kind, const char *text, va_list arguments) {
    if (s->count == COURSE_QUESTIONS_MAX) abort();
    course_question *q = &s->questions[s->count++];
    s->drawn = 0;
    q->kind = kind;
    q->hint = "";
    snprintf(q->name, sizeof q->name, "%s.%zu", s->lab->name, s->count);
    ulp_text_print_list(&q->text, text, arguments);
    return q;
}

/* Give a question its key, and the format of the key, which can be NULL. */
static course_question *set_key(course_question *q, double key, const ulp_format *format) {
    q->key = key;
    if (format) q->format = *format, q->has_format = 1;
    return q;
}

course_question *course_ask_number(course_sheet *sheet, double key, const ulp_format *format, const char *text, ...) {
    va_list arguments;
    va_start(arguments, text);
    course_question *q = set_key(ask(sheet, COURSE_NUMBER, text, arguments), key, format);
    va_end(arguments);
    return q;
}

course_question *course_ask_code(course_sheet *sheet, double key, const ulp_format *format, const char *text, ...) {
    va_list arguments;
    va_start(arguments, text);
    course_question *q = set_key(ask(sheet, COURSE_CODE, text, arguments), key, format);
    va_end(arguments);
    ulp_encode(&q->code, key, format);
    return q;
}

course_question *course_ask_choice(course_sheet *sheet, const char *words, int right, const char *text, ...) {
    va_list arguments;
    va_start(arguments, text);
    course_question *q = ask(sheet, COURSE_CHOICE, text, arguments);
    va_end(arguments);
    q->words = words;
    q->right = right;
    return q;
}

static void add_near(course_question *q, double value, course_verdict verdict, const char *hint) {
    if (q->near_count == COURSE_NEAR_MAX || ulp_bits64(value) == ulp_bits64(q->key) || value != value) return;
    for (size_t i = 0; i < q->near_count; i++)
        if (ulp_bits64(value) == ulp_bits64(q->near[i].value)) return;
    q->near[q->near_count++] = (course_near){value, verdict, hint};
}

void course_almost(course_question *question, double value, const char *hint) {
    add_near(question, value, COURSE_ALMOST, hint);
}

void course_tempting(course_question *question, double value, const char *hint) {
    add_near(question, value, COURSE_WRONG, hint);
}

void course_sides(course_question *question, const char *smaller, const char *larger) {
    question->smaller = smaller;
    question->larger = larger;
}

void course_other_modes(course_question *question, double x, const ulp_format *format, ulp_mode mode) {
    const double away = course_round(x, format, ULP_RNA), even = course_round(x, format, ULP_RNE);
    if (mode == ULP_RNE && away != even)
        course_almost(question, away, "The number is a tie. Which of its two neighbours has an even last bit?");
    if (mode == ULP_RNE || mode == ULP_RNA)
        course_almost(question, course_round(x, format, ULP_RZ),
                      "This is cut off, not rounded to nearest: compare the distances to both neighbours.");
    else course_almost(question, even, "This is the nearest number. The mode of the question has a fixed direction.");
    course_almost(question, course_round(x, format, ULP_RU), "The rounding goes the other way.");
    course_almost(question, course_round(x, format, ULP_RD), "The rounding goes the other way.");
}

course_text course_show(double value) {
    course_text to;
    char digits[1200];
    uint64_t significand = ulp_bits64(value) & 0xfffffffffffffu;
    int e = (int)(ulp_bits64(value) >> 52 & 0x7ff);
    snprintf(digits, sizeof digits, "%.1100g", value);
    if (value == 0 || value - value != 0 || strlen(digits) <= 10) {
        snprintf(to.text, sizeof to.text, "%.10s", digits);
        return to;
    }
    significand |= e ? 1ull << 52 : 0;
    e = (e ? e : 1) - 1075;
    for (; significand % 2 == 0; significand /= 2) e++;
    const char *sign = value < 0 ? "-" : "";
    if (significand == 1) snprintf(to.text, sizeof to.text, "%s2^%d", sign, e);
    else snprintf(to.text, sizeof to.text, "%s%llu*2^%d", sign, (unsigned long long)significand, e);
    return to;
}

ulp_format course_format(const char *name) {
    ulp_format f;
    if (ulp_format_parse(&f, name) != ULP_OK) abort();
    return f;
}

double course_round(double x, const ulp_format *format, ulp_mode mode) {
    return ulp_round(x, format, (ulp_rule){.mode = (uint8_t)mode}, 0);
}

double course_add(double a, double b, const ulp_format *format, ulp_mode mode) {
    return ulp_arith((ulp_scalar_op){ULP_ADD, a, b, 0}, format, (ulp_rule){.mode = (uint8_t)mode}, 0);
}

void course_sheet_make(course_sheet *sheet, const course_lab *lab, course_student student) {
    *sheet = (course_sheet){.lab = lab, .student = student};
    sheet->seed = hash_of(sheet);
    lab->ask(sheet);
}

void course_sheet_free(course_sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++) ulp_text_free(&sheet->questions[i].text);
    sheet->count = 0;
}

uint32_t course_sheet_tag(const course_sheet *sheet) {
    uint64_t h = hash_of(sheet);
    for (size_t i = 0; i < sheet->count; i++) h = hash(h, ulp_text_of(&sheet->questions[i].text));
    return (uint32_t)(h ^ h >> 32);
}

void course_answer_text(ulp_text *to, const course_question *q) {
    if (q->kind == COURSE_NUMBER) ulp_text_print(to, "%s", course_show(q->key).text);
    if (q->kind == COURSE_CODE) ulp_text_print(to, "%0*llx", (q->format.bits + 3) / 4, (unsigned long long)q->code);
    if (q->kind == COURSE_CHOICE) ulp_text_print(to, "%s", ulp_word_of(q->words, (size_t)q->right).text);
}

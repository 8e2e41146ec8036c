/* judge.c - whether an answer is right, almost right or wrong, and the hint that it gets. */
#include "sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *course_verdict_name(course_verdict verdict) {
    static const char *const names[] = {"right", "almost", "wrong", "open", "unreadable"};
    return names[verdict];
}

static int same(double a, double b) { return ulp_bits64(a) == ulp_bits64(b); }

static int is_power_of_two(double x) {
    int e;
    return x - x == 0 && fabs(frexp(x, &e)) == 0.5;
}

/* Whether x lies between the key and a neighbour, and rounds to the key. */
static int rounds_to_key(const course_question *q, double x) {
    return fabs(x - q->key) < ulp_spacing(q->key, &q->format) && course_round(x, &q->format, ULP_RNE) == q->key;
}

/* Whether x is the key with fewer decimal digits, two or more: rounded to them, or cut off. A number of the format is
 * an answer of its own, and of whole numbers nobody leaves out digits. */
static int is_cut_short(const course_question *q, double x) {
    enum { MOST = 17 };
    char own[64], digits[1200], cut[64];
    int n = 1; /* decimals after the first digit of x */
    if (x - x != 0 || (q->nearness > 0 && fabs(x - q->key) >= q->nearness) ||
        (x == floor(x) && q->key == floor(q->key)) || (q->has_format && course_round(x, &q->format, ULP_RNE) == x))
        return 0;
    while (snprintf(own, sizeof own, "%.*e", n, x), strtod(own, NULL) != x && n < MOST) n++;
    snprintf(digits, sizeof digits, "%.1100e", q->key);
    const size_t first = strcspn(digits, ".") + 1;
    const char *exponent = strchr(digits, 'e');
    if (!exponent || own[first + strspn(own + first, "0")] == 'e') return 0;
    snprintf(cut, sizeof cut, "%.*s%s", (int)first + n, digits, exponent);
    return strtod(cut, NULL) == x ||
           fabs(x - q->key) <= 0.5000001 * pow(10, (double)(strtol(exponent + 1, NULL, 10) - n));
}

/* Whether the magnitude of the key is a power of two and x its exponent. Where the question asks for any number, x can
 * be an answer of its own, but not if the key is small and x is far from it. */
static int is_exponent(const course_question *q, double x) {
    int e;
    frexp(q->key, &e);
    return x == e - 1 && (q->is_power || (is_power_of_two(q->key) && fabs(q->key) <= 0x1p-5));
}

/* The hint to an answer beyond the range of the format of the key; NULL for another answer. */
static const char *hint_beyond(const course_question *q, double x) {
    if (!q->has_format || (isinf(x) && q->format.has_inf)) return NULL;
    if (isinf(x)) return "The format has no infinity.";
    return x > q->format.max || x < q->format.lowest ? "This is beyond the range of the format." : NULL;
}

static course_verdict judge_value(const course_question *q, double x, course_reading reading, ulp_text *note) {
    const char *hint = q->hint;
    course_verdict verdict = COURSE_WRONG;
    if (same(x, q->key) && reading == COURSE_EXACT) return COURSE_RIGHT;
    const course_near *near = q->near;
    while (near < q->near + q->near_count && !same(near->value, x)) near++;
    if (near < q->near + q->near_count) {
        verdict = near->verdict;
        hint = near->hint;
    } else if (is_exponent(q, x))
        hint = q->is_power ? "This is the exponent. The question asks for the power of two."
                           : "This is the exponent of a power of two. The question asks for the number itself.";
    else if (x == 0 && q->key == 0) {
        verdict = COURSE_ALMOST;
        hint = "The value is right. Look at the sign of the zero.";
    } else if (same(x, q->key) || is_cut_short(q, x)) {
        verdict = COURSE_ALMOST;
        hint = "This is near. Answers are exact: write all digits, or a number times a power of two.";
    } else if (q->has_format && rounds_to_key(q, x)) {
        verdict = COURSE_ALMOST;
        hint = "This is near, but it is no number of the format. Give the number of the format exactly.";
    } else if (hint_beyond(q, x)) hint = hint_beyond(q, x);
    else if (q->has_format && (x == ulp_next_up(q->key, &q->format) || x == ulp_next_down(q->key, &q->format))) {
        verdict = COURSE_ALMOST;
        hint = "This is one unit in the last place away. Look at the rounding once more.";
    } else if (x == -q->key) hint = "Look at the sign.";
    else if (q->has_format && q->key != 0 && x / q->key > 0 && is_power_of_two(x / q->key) && !is_power_of_two(q->key))
        hint = "The significand is right, and the power of two is not. Count the exponent again.";
    else if (q->is_power && !is_power_of_two(x)) hint = "This is no power of two.";
    else if (q->smaller && x > 0) hint = x < q->key ? q->smaller : q->larger;
    ulp_text_print(note, "%s", hint);
    return verdict;
}

/* Read a code in hex, with or without 0x, or in binary with 0b. Returns 0 if the text is anything else. */
static int read_code(uint64_t *code, const char *text, int bits) {
    static const char digits[] = "0123456789abcdef";
    const int prefix = text[0] == '0' && text[1] && strchr("xXbB", text[1]) && text[2] &&
                       (strchr("xX", text[1]) || strlen(text) > (size_t)(bits + 3) / 4);
    const int shift = prefix && strchr("bB", text[1]) ? 1 : 4;
    text += prefix ? 2 : 0;
    *code = 0;
    if (!*text) return 0;
    for (; *text; text++) {
        const char *at = memchr(digits, *text >= 'A' && *text <= 'F' ? *text - 'A' + 'a' : *text, (size_t)1 << shift);
        if (!at || *code >> 59) return 0;
        *code = *code << shift | (uint64_t)(at - digits);
    }
    return *code >> bits == 0;
}

static course_verdict judge_code(const course_question *q, const char *answer, ulp_text *note) {
    uint64_t code;
    if (!read_code(&code, answer, q->format.bits)) {
        ulp_text_print(note, "'%s' is no code of %s: a code is %d hex digits, or 0b and %d bits", answer,
                       q->format.name, (q->format.bits + 3) / 4, q->format.bits);
        return COURSE_UNREADABLE;
    }
    if (code == q->code) return COURSE_RIGHT;
    if ((code ^ q->code) == 1ull << (q->format.bits - 1)) {
        ulp_text_print(note, "Only the sign bit is not right.");
        return q->key == 0 ? COURSE_ALMOST : COURSE_WRONG;
    }
    return judge_value(q, ulp_decode(code, &q->format), COURSE_EXACT, note);
}

/* Whether an answer is a word of a choice: the same letters, or, of a number, another form of the number. */
static int is_word(const char *answer, const char *word, size_t length) {
    double given, wanted;
    char text[32];
    if (strlen(answer) == length && strncasecmp(answer, word, length) == 0) return 1;
    if (length >= sizeof text) return 0;
    ulp_text why = {0};
    memcpy(text, word, length);
    text[length] = '\0';
    const int fits =
        course_read_number(&wanted, text, &why) && course_read_number(&given, answer, &why) && same(given, wanted);
    ulp_text_free(&why);
    return fits;
}

static const char *skip_article(const char *answer) {
    static const char *const articles[] = {"the ", "a ", "an "};
    for (int i = 0; i < 3; i++)
        if (strncasecmp(answer, articles[i], strlen(articles[i])) == 0) return answer + strlen(articles[i]);
    return answer;
}

/* The index of the word of a choice that an answer of one word is; -1 if there is none. */
static int find_word(const course_question *q, const char *answer) {
    const char *word = q->words;
    for (int i = 0; *word; i++) {
        const size_t length = strcspn(word, " ");
        if (is_word(answer, word, length)) return i;
        word += length + (word[length] == ' ');
    }
    return q->also && strcasecmp(answer, q->also) == 0 ? 0 : -1;
}

/* Whether a text has a word of `length` letters, in upper or lower case. */
static int has_word(const char *text, const char *word, size_t length) {
    static const char *const ends = " ,.:;?()";
    for (text += strspn(text, ends); *text; text += strspn(text, ends)) {
        const size_t n = strcspn(text, ends);
        if (n == length && strncasecmp(text, word, n) == 0) return 1;
        text += n;
    }
    return 0;
}

/* The index of the word of a choice in an answer of which all other words are in the question, as in "normal number";
 * -1 if there is none, or more than one. */
static int find_choice(const course_question *q, const char *answer) {
    char word[64];
    int found = find_word(q, answer);
    if (found >= 0) return found;
    for (answer += strspn(answer, " "); *answer; answer += strspn(answer, " ")) {
        const size_t length = strcspn(answer, " ");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), answer);
        const int i = find_word(q, word);
        if (i < 0 ? !has_word(ulp_text_of(&q->text), answer, length) : found >= 0 && found != i) return -1;
        found = i < 0 ? found : i;
        answer += length;
    }
    return found;
}

static course_verdict judge_choice(const course_question *q, const char *answer, ulp_text *note) {
    const int i = find_choice(q, skip_article(answer));
    if (i < 0) ulp_text_print(note, "'%s' is not one of the words of the question: %s", answer, q->words);
    else if (i != q->right) ulp_text_print(note, "%s", q->hint);
    return i < 0 ? COURSE_UNREADABLE : i == q->right ? COURSE_RIGHT : COURSE_WRONG;
}

/* Read the number of an answer, without the unit after the number. */
static course_reading read_number(double *value, const course_question *q, const char *answer, ulp_text *note) {
    ulp_text number = {0};
    const size_t length = strlen(answer), unit = q->unit ? strlen(q->unit) : 0;
    const size_t end =
        unit && length > unit && answer[length - unit - 1] == ' ' && strcasecmp(answer + length - unit, q->unit) == 0
            ? length - unit - 1
            : length;
    ulp_text_add(&number, answer, end);
    const course_reading reading = course_read_number(value, ulp_text_of(&number), note);
    ulp_text_free(&number);
    return reading;
}

course_verdict course_judge(const course_question *question, const char *answer, ulp_text *note) {
    double value;
    if (!*answer) {
        ulp_text_print(note, "There is no answer yet.");
        return COURSE_OPEN;
    }
    switch (question->kind) {
    case COURSE_CODE: return judge_code(question, answer, note);
    case COURSE_CHOICE: return judge_choice(question, answer, note);
    case COURSE_NUMBER: break;
    }
    const course_reading reading = read_number(&value, question, answer, note);
    return reading == COURSE_NO_NUMBER ? COURSE_UNREADABLE : judge_value(question, value, reading, note);
}

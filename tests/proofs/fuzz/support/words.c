/* words.c - mutations of texts by words; see words.h. */
#include "words.h"
#include "fuzz.h"

#include <ctype.h>

enum { TRIES = 16, WORDS_MAX = 1 << 16, VALID_MAX = 512 };

/* A word, and the character after it: a separator, or zero at the end of a text. */
typedef struct word {
    char *text;
    size_t length;
    char behind;
} word;

static word *words;
static size_t word_count, word_room;

static int is_of_word(unsigned char c) { return isalnum(c) || c >= 0x80; }

/* The number of characters of the word that begins at `text`, at least 1. A word of one separator is none. */
static size_t word_at(const char *text, size_t size) {
    size_t n = 0;
    while (n < size && is_of_word((unsigned char)text[n])) n++;
    return n;
}

void fuzz_words_add(const void *data, size_t size) {
    const char *text = data;
    for (size_t at = 0; at < size && word_count < WORDS_MAX;) {
        const size_t n = word_at(text + at, size - at);
        if (n) {
            const char behind = at + n < size ? text[at + n] : '\0';
            size_t i = 0;
            while (i < word_count &&
                   !(words[i].length == n && words[i].behind == behind && memcmp(words[i].text, text + at, n) == 0))
                i++;
            if (i == word_count) {
                words = ulp_room_for(words, word_count, &word_room, sizeof *words);
                char *copy = memcpy(ulp_grow(NULL, n + 1), text + at, n);
                copy[n] = '\0';
                words[word_count++] = (word){copy, n, behind};
            }
        }
        at += n + 1;
    }
}

/* ---- random numbers ---- */

static uint64_t state;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static size_t below(size_t n) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (size_t)((z ^ z >> 31) % n);
}

/* ---- one change ---- */

/* Replace text[at .. at + n - 1] by `by`. */
static void replace(ulp_text *text, size_t at, size_t n, const char *by, size_t length) {
    ulp_text made = {0};
    ulp_text_add(&made, ulp_text_of(text), at);
    ulp_text_add(&made, by, length);
    ulp_text_add(&made, ulp_text_of(text) + at + n, text->length - at - n);
    ulp_text_free(text);
    *text = made;
}

/* A place in the text where a word begins, and the length of the word, which may be 0. */
static size_t any_word(const ulp_text *text, size_t *n) {
    const char *at = ulp_text_of(text);
    size_t begin = text->length ? below(text->length + 1) : 0;
    while (begin > 0 && is_of_word((unsigned char)at[begin - 1])) begin--;
    *n = word_at(at + begin, text->length - begin);
    return begin;
}

static const char *any_number(char to[48]) {
    static const char edges[] =
        "0 1 2 3 4 7 8 15 16 31 32 33 52 53 63 64 65 127 128 255 256 1023 1024 4095 4096 65535 65536 2147483647 "
        "2147483648 4294967295 4294967296 9007199254740993 9223372036854775807 9223372036854775808 "
        "18446744073709551615 18446744073709551616 1e308 1e-320 0x1p-1074 inf nan -1 -0 00 1e3 0.5 007";
    enum { EDGES = 47 };
    int n;
    if (below(3) == 0) {
        const char *edge = fuzz_word(edges, below(EDGES), &n);
        snprintf(to, 48, "%.*s", n, edge);
    } else snprintf(to, 48, "%zu", below((size_t)1 << (1 + below(12))));
    return to;
}

static void change_number(ulp_text *text) {
    const char *at = ulp_text_of(text);
    char number[48];
    size_t begin = text->length ? below(text->length) : 0, n;
    while (begin < text->length && !isdigit((unsigned char)at[begin])) begin++;
    while (begin > 0 && begin < text->length && isdigit((unsigned char)at[begin - 1])) begin--;
    for (n = 0; begin + n < text->length && isdigit((unsigned char)at[begin + n]);) n++;
    any_number(number);
    replace(text, begin, n, number, strlen(number));
}

static void change(ulp_text *text) {
    static const char separators[] = ",,,::  //=.-+@\n\t;^*#\"'()<>";
    size_t n, m;
    const size_t at = any_word(text, &n);
    const word *w = word_count ? &words[below(word_count)] : &(word){"1", 1, 0};
    switch (below(9)) {
    case 0:
    case 1: replace(text, at, n, w->text, w->length); break;
    case 2: /* a word and what stands after it, before a word */
        replace(text, at, 0, (char[]){w->behind ? w->behind : ','}, 1);
        replace(text, at, 0, w->text, w->length);
        break;
    case 3: /* the same after a word */
        replace(text, at + n, 0, w->text, w->length);
        replace(text, at + n, 0, (char[]){separators[below(sizeof separators - 1)]}, 1);
        break;
    case 4: replace(text, at, n + (at + n < text->length), "", 0); break;
    case 5: /* a word of this text again */
    {
        const size_t from = any_word(text, &m);
        char *copy = ulp_copy_text(ulp_text_of(text));
        replace(text, at, n, copy + from, m);
        free(copy);
    } break;
    case 6:
    case 7: change_number(text); break;
    default:
        if (at + n < text->length) replace(text, at + n, 1, (char[]){separators[below(sizeof separators - 1)]}, 1);
    }
}

/* ---- valid texts ---- */

/* Texts that were valid: the seeds, and then the latest. Changes of a refused text would be refused, too. */
static char *valid[VALID_MAX];
static size_t valid_count, valid_next;

static void keep_valid(const char *text) {
    if (valid_count < VALID_MAX) valid_count++;
    free(valid[valid_next]);
    valid[valid_next] = ulp_copy_text(text);
    valid_next = (valid_next + 1) % VALID_MAX;
}

size_t fuzz_words_mutate(uint8_t *data, size_t size, size_t room, unsigned seed, int (*is_valid)(const char *text)) {
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL; /* targets read up to it */
    ulp_text from = {0};
    int good = 0;
    state = seed;
    ulp_text_add(&from, (const char *)data, zero ? (size_t)(zero - data) : size);
    if (is_valid(ulp_text_of(&from))) keep_valid(ulp_text_of(&from));
    else if (valid_count) {
        const char *other = valid[below(valid_count)];
        ulp_text_free(&from);
        ulp_text_add(&from, other, strlen(other));
    }
    for (int i = 0; i < TRIES && !good; i++) {
        ulp_text text = {0};
        ulp_text_add(&text, ulp_text_of(&from), from.length);
        for (size_t changes = below(4) ? 1 : 2; changes > 0; changes--) change(&text);
        const int fits = text.length > 0 && text.length <= room && !memchr(text.data, 0, text.length);
        good = fits && (i + 1 == TRIES || is_valid(text.data));
        if (good) memcpy(data, text.data, size = text.length);
        ulp_text_free(&text);
    }
    ulp_text_free(&from);
    return size;
}

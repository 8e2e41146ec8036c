/* near_words.c - the words of a list that are nearest to a misspelt word; see near_words.h. */
#include "near_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 48 }; /* words of more letters are not compared */

static int same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* The edit distance of a (n) and b (m), each of at most LONGEST_WORD letters; an exchange of neighbours is one edit. */
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t d[LONGEST_WORD + 1][LONGEST_WORD + 1];
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            size_t best = d[i - 1][j - 1] + !same(a[i - 1], b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

/* Whether the distance of the text (n) and a word (m) is `wanted`. A word that begins with the text, of two letters or
 * more, has the distance 0. */
static int is_near(const char *text, size_t n, const char *word, size_t m, size_t wanted) {
    size_t common = 0;
    if (m > LONGEST_WORD) return 0;
    while (common < n && common < m && same(text[common], word[common])) common++;
    if (common == n && (n > 1 || m == n)) return wanted == 0;
    /* the difference of the lengths is a lower bound, which is quick to compute */
    return wanted > 0 && (m > n ? m - n : n - m) <= wanted && distance(text, n, word, m) == wanted;
}

int ulp_near_words(char *near, size_t size, const char *text, const char *words, int most) {
    const size_t n = strlen(text), limit = n > LONGEST_WORD ? 0 : (n + 1) / 3 + (n < 2);
    size_t used = 0;
    int found = 0;
    if (size) near[0] = 0;
    for (size_t wanted = 0; wanted <= limit && !found && n <= LONGEST_WORD; wanted++) /* near words come first */
        for (const char *word = words + strspn(words, " "); *word && found < most; word += strspn(word, " ")) {
            const size_t length = strcspn(word, " ");
            if (wanted < length && used < size && is_near(text, n, word, length, wanted)) {
                used += (size_t)snprintf(near + used, size - used, "%s%.*s", found ? ", " : "", (int)length, word);
                found++;
            }
            word += length;
        }
    return found;
}

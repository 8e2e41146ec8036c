/* near_words.c - the words of a list that are nearest to a misspelt word; see near_words.h. */
#include "near_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 48 }; /* words of more letters are not compared */

static int same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* The edit distance of a and b (m); an exchange of neighbours is one edit. 0 if a has two or more letters and b begins
 * with a. */
static size_t distance(const char *a, const char *b, size_t m) {
    size_t d[LONGEST_WORD + 1][LONGEST_WORD + 1], n = strlen(a), common = 0;
    if (n > LONGEST_WORD || m > LONGEST_WORD) return LONGEST_WORD;
    while (common < n && common < m && same(a[common], b[common])) common++;
    if (n > 1 && common == n) return 0;
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

int ulp_near_words(char *near, size_t size, const char *text, const char *words, int most) {
    const size_t limit = (strlen(text) + 1) / 3 + (strlen(text) < 2);
    size_t used = 0;
    int found = 0;
    if (size) near[0] = 0;
    for (size_t wanted = 0; wanted <= limit && !found; wanted++) /* near words come first */
        for (const char *word = words + strspn(words, " "); *word && found < most; word += strspn(word, " ")) {
            const size_t length = strcspn(word, " "), edits = distance(text, word, length);
            if (edits == wanted && edits < length && used < size) {
                used += (size_t)snprintf(near + used, size - used, "%s%.*s", found ? ", " : "", (int)length, word);
                found++;
            }
            word += length;
        }
    return found;
}

/* label_paths.c - best path and edit distance; see label_paths.h. */
#include "sim/losses/label_paths.h"

#include "argmax.h"

size_t ulp_ctc_decode(uint8_t *label, const float *z, size_t C, size_t T) {
    size_t n = 0, before = C - 1;
    for (size_t t = 0; t < T; t++) {
        size_t best = ulp_place_of_largest(z + t, C, T);
        if (best == C) return 0;
        if (best != before && best != C - 1) label[n++] = (uint8_t)best;
        before = best;
    }
    return n;
}

size_t ulp_edit_distance(const uint8_t *a, size_t n, const uint8_t *b, size_t m) {
    size_t row[ULP_LABELS_MAX + 1]; /* distances of a[0..i) to b[0..j) */
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = corner + (a[i - 1] != b[j - 1]), drop = row[j] + 1, add = row[j - 1] + 1;
            corner = row[j];
            row[j] = change < drop ? change : drop;
            if (add < row[j]) row[j] = add;
        }
    }
    return row[m];
}

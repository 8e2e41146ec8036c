/* layouts.c - the places of matrix elements in instructions: products of small integers, which have no rounding. */
#include "sums.h"

/* Sizes that take the small tile of every family, and sizes that take the larger ones. */
static const struct {
    size_t m, n;
} small_sizes[] = {{8, 8}, {13, 7}, {16, 5}, {1, 8}, {16, 8}},
  large_sizes[] = {{65, 9}, {30, 100}, {128, 16}, {17, 128}, {17, 140}};

enum {
    SMALL_SIZES = sizeof small_sizes / sizeof small_sizes[0],
    LARGE_SIZES = sizeof large_sizes / sizeof large_sizes[0],
    MOST_K = 130,
    LONG_CHAIN = 300 /* more stages of operands than shared memory has, and sums that binary16 holds */
};

/* Every k from 1 to 130 with small and larger tiles, with and without C, a long chain in the widest tile, and some
 * products of several whole tiles. In small runs the lengths k that are tried are a part of these. */
static void check_layout(const check *c, const ulp_cuda_native *d) {
    row r = row_for("small integers:", d);
    for (size_t k = 1; k <= MOST_K && !r.skipped && !r.stopped; k++) {
        if (c->small && k % 64 > 1 && k / 2 != 8 && k != 33 && k != 47 && k != MOST_K) continue;
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            compare_integers(c, &r, d, small_sizes[k % SMALL_SIZES].m, small_sizes[k % SMALL_SIZES].n, k, accumulate);
            if (!c->small || k % 48 == 1)
                compare_integers(c, &r, d, large_sizes[k % LARGE_SIZES].m, large_sizes[k % LARGE_SIZES].n, k,
                                 accumulate);
        }
    }
    if (!r.skipped) compare_integers(c, &r, d, 17, 140, LONG_CHAIN, 1);
    for (size_t k = 33; k <= MOST_K && !c->small && !r.skipped && !r.stopped; k += 32)
        for (int accumulate = 0; accumulate < 2; accumulate++) compare_integers(c, &r, d, 260, 270, k, accumulate);
    row_end(&r);
}

void check_layouts(const check *c) {
    ulp_cuda_native d;
    for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK; i++)
        if (is_instruction(&d) && !lacks_generation(&d) && !is_left_out(c, &d, i)) check_layout(c, &d);
}

/* anchor.h - numbers rounded by the addition of an anchor: the text for one type of numbers, scalars or a vector, on
 * the CPU and on the GPU.
 *
 * An anchor is 1.5 2^k whose last place is the quantum at x. For |x| <= 2^(k-1) the sum x + anchor lies in the binade
 * of the anchor, and so it does for x >= 0 and an anchor of 2^k. So the addition rounds x to a multiple of the quantum:
 * to nearest even, or in the direction of an addition that has one. The subtraction of the anchor is exact. The word of
 * the sum counts quanta, up to a constant, and its last bit is the parity of the significand. So the neighbour of the
 * sum in a direction is the next word.
 *
 * Where |x| is beyond the values of the format for which the anchor is made, the result is either right or beyond them,
 * an infinity or NaN.
 *
 * A file includes the text once for each type, after these definitions, which end here:
 *   ANCHOR_NAME(part)      the names of the functions
 *   ANCHOR_NUMBER, ANCHOR_WORD, ANCHOR_MASK    the types: numbers, their words, a word of one number
 *   ANCHOR_BITS(x), ANCHOR_FROM(w), ANCHOR_WHERE(condition)    a number's word, the number of a word, all ones where a
 *                          condition holds. If not defined, those of vectors
 *   ANCHOR_TOWARD(a, b, mode)    optional: a + b in the direction of mode rz, ru or rd
 *   ANCHOR_FN              optional: what stands before a function
 */
#if !defined(ANCHOR_FN)
#define ANCHOR_FN ULP_CORE
#endif
#if !defined(ANCHOR_BITS)
#define ANCHOR_BITS(x) ((ANCHOR_WORD)(x))
#define ANCHOR_FROM(w) ((ANCHOR_NUMBER)(w))
#define ANCHOR_WHERE(condition) ((ANCHOR_WORD)(condition))
#endif

/* x + anchor, rounded in a deterministic mode; in mode rz for a pair of equal signs. */
ANCHOR_FN ANCHOR_NUMBER ANCHOR_NAME(sum)(ANCHOR_NUMBER x, ANCHOR_NUMBER anchor, uint32_t mode) {
    /* rna: a tie becomes a number above the tie; no other result changes, as at least two bits are lost */
    const ANCHOR_NUMBER from = mode == ULP_RNA ? ANCHOR_FROM(ANCHOR_BITS(x) | 1u) : x, sum = from + anchor;
    if (mode == ULP_RNE || mode == ULP_RNA) return sum;
#if defined(ANCHOR_TOWARD)
    if (mode != ULP_RO) return ANCHOR_TOWARD(x, anchor, mode);
    /* the sums in both directions are equal, or one unit of the last place apart */
    const ANCHOR_NUMBER down = ANCHOR_TOWARD(x, anchor, ULP_RD), up = ANCHOR_TOWARD(x, anchor, ULP_RU);
    return ANCHOR_FROM(ANCHOR_BITS(down) | (ANCHOR_BITS(up) & 1u));
#else
    const ANCHOR_NUMBER nearest = sum - anchor;
    if (mode == ULP_RU) return ANCHOR_FROM(ANCHOR_BITS(sum) - ANCHOR_WHERE(nearest < x));
    const ANCHOR_WORD down = ANCHOR_BITS(sum) + ANCHOR_WHERE(nearest > x);
    return ANCHOR_FROM(mode == ULP_RO ? down | (ANCHOR_WHERE(nearest != x) & 1u) : down);
#endif
}

/* A magnitude with the sign of the word u; `signs` as below. */
ANCHOR_FN ANCHOR_NUMBER ANCHOR_NAME(signed)(ANCHOR_NUMBER magnitude, ANCHOR_WORD u, ANCHOR_MASK signs) {
    const ANCHOR_MASK sign = (ANCHOR_MASK)1 << (8 * sizeof(ANCHOR_MASK) - 1);
    const ANCHOR_NUMBER y = ANCHOR_FROM(ANCHOR_BITS(magnitude) | (u & sign));
    return signs != 0 ? y : y + 0.0f; /* no negative zero */
}

/* x rounded to a multiple of the last place of the anchor, in a deterministic mode. `signs` is the sign bit if zeros
 * keep their sign, else 0; a constant of a loop. */
ANCHOR_FN ANCHOR_NUMBER ANCHOR_NAME(round)(ANCHOR_NUMBER x, ANCHOR_NUMBER anchor, ANCHOR_MASK signs, uint32_t mode) {
    const ANCHOR_MASK sign = (ANCHOR_MASK)1 << (8 * sizeof(ANCHOR_MASK) - 1);
    const ANCHOR_WORD u = ANCHOR_BITS(x);
#if defined(ANCHOR_TOWARD)
    if (mode == ULP_RZ) anchor = ANCHOR_FROM(ANCHOR_BITS(anchor) | (u & sign));
#else
    if (mode == ULP_RZ) x = ANCHOR_FROM(u & ~sign);
#endif
    const ANCHOR_NUMBER y = ANCHOR_NAME(sum)(x, anchor, mode) - anchor;
#if !defined(ANCHOR_TOWARD)
    if (mode == ULP_RZ) return ANCHOR_NAME(signed)(y, u, signs);
#endif
    return ANCHOR_FROM(ANCHOR_BITS(y) | (u & signs));
}

#undef ANCHOR_NAME
#undef ANCHOR_NUMBER
#undef ANCHOR_WORD
#undef ANCHOR_MASK
#undef ANCHOR_BITS
#undef ANCHOR_FROM
#undef ANCHOR_WHERE
#undef ANCHOR_TOWARD
#undef ANCHOR_FN

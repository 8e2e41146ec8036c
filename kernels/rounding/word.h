/* word.h - the word of a number rounded at one of its bits: the text for one type of words, scalars or a vector.
 *
 * The last bits of the word are lost. What is added to them carries into the last place that is kept where the
 * magnitude rounds up (away from zero), and a carry out of the significand goes into the exponent by itself.
 *
 * A file includes the text once for each type, after these definitions, which end here:
 *   WORD_NAME       the name of the function
 *   WORD            the type of unsigned words
 *   WORD_PLUS_ODD(x, w, last, odd)   optional: x + 1 where w has the bit `last`. If not defined, x + odd
 *
 * The arguments of the function:
 *   - w: a magnitude, or a finite number with its sign
 *   - ones: the mask of the bits that are lost
 *   - odd: 1 where the last place is odd, else 0; of mode rne
 *   - negative: all ones where the number is negative, else 0; of modes ru and rd
 *   - random: the random bits at their places among the lost bits; of mode sra
 *   - mode: a deterministic one or sra; a constant in loops
 */
#if !defined(WORD_PLUS_ODD)
#define WORD_PLUS_ODD(x, w, last, odd) ((x) + (odd))
#endif

ULP_CORE WORD WORD_NAME(WORD w, WORD ones, WORD odd, WORD negative, WORD random, uint32_t mode) {
    (void)odd; /* for a WORD_PLUS_ODD that looks at w */
    switch (mode) {
    case ULP_RNE: return WORD_PLUS_ODD(w + (ones >> 1), w, ones + 1u, odd) & ~ones;
    case ULP_RNA: return (w + ((ones + 1u) >> 1)) & ~ones;
    case ULP_RU: return (w + (ones & ~negative)) & ~ones;
    case ULP_RD: return (w + (ones & negative)) & ~ones;
    case ULP_RO: return (w | ((w & ones) + ones)) & ~ones;
    case ULP_SRA: return (w + random) & ~ones;
    default: return w & ~ones; /* rz */
    }
}

#undef WORD_NAME
#undef WORD
#undef WORD_PLUS_ODD

/* multiword.h - products of binary32 matrices on a unit for narrow operands: each operand is a sum of words.
 *
 * Word 1 of x is x rounded to the unit's operand format, to nearest or toward zero. Word i + 1 is the rounded remainder
 * of x after i words; all remainders are exact in binary32. The product with N words adds the products of word i of a
 * and word j of b for i + j <= N + 1, N (N + 1) / 2 sums over all k in all. Each of these sums starts at the result of
 * the one before. The order: i = 1, 2, ..., and j = 1, 2, ... within i; or the reverse (Markidis et al. 2018,
 * doi:10.1109/IPDPSW.2018.00091; Fasi et al. 2023, doi:10.1137/21M1465032; Mary and Mikaitis 2024,
 * hal-04671474).
 *
 * Words are not scaled. Words below the format's range are lost, and an operand beyond the range gives NaN. A caller
 * scales the operands by powers of two into the range.
 */
#ifndef ULP_MULTIWORD_H
#define ULP_MULTIWORD_H

#include "datapath.h"

ULP_C_BEGIN

enum { ULP_WORDS_MAX = 12 };

/* A sum of a product with several words: word i of a times word j of b, from 1. */
typedef struct ulp_word_pair {
    uint8_t i, j;
} ulp_word_pair;

/* The number of sums of a datapath with words. */
int ulp_word_pairs(const ulp_datapath *datapath);

/* The words of sum t, from 0, in the order of the datapath. */
ulp_word_pair ulp_word_pair_of(const ulp_datapath *datapath, int t);

/* The datapath of one sum: the unit, whose operands are words. */
ulp_status ulp_multiword_unit(ulp_datapath *unit, const ulp_datapath *datapath);

/* How words are rounded. */
ulp_rule ulp_word_rule(const ulp_datapath *datapath);

/* Word i, from 1, of x in the format. */
double ulp_operand_word(double x, int i, const ulp_format *format, ulp_rule rule);

ULP_C_END
#endif

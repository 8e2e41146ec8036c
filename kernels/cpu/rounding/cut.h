/* cut.h - rounding of a piece of a binary32 array at one bit of the words, while its values are in range.
 *
 * All numbers lose equally many bits if the format has the exponents of binary32, as bfloat16 has, or if a piece has
 * only zeros and normal numbers of the format. kernels/rounding/word.h rounds.
 */
#ifndef ULP_CPU_CUT_H
#define ULP_CPU_CUT_H

#include <string.h>

#include "piece.h"

/* The constants of round_cut. */
typedef struct cut {
    int serves, always; /* whether for pieces of zeros and normal numbers, and whether for all pieces */
    uint32_t lost;      /* mask of the bits that are lost */
    uint32_t most;      /* the largest magnitude that is in range */
    uint32_t random;    /* mask of the bits of a random word that are used */
    uint32_t shift;     /* 32 less the number of lost bits */
} cut;

/* For a format and rule that ulp_core_offers. */
static void cut_of(cut *c, const ulp_format *f, ulp_rule rule, uint32_t most) {
    const uint32_t drop = 24u - f->prec;
    c->serves = drop > 0 && f->has_neg_zero && (ulp_narrow_knows(rule.mode) || rule.mode == ULP_SRA);
    c->always = c->serves && f->has_subnormals && f->emin == -126;
    if (!c->serves) return;
    c->lost = (1u << drop) - 1u;
    c->most = most;
    c->random = ulp_core_random(rule);
    c->shift = 32u - drop;
}

#define WORD_NAME cut_words
#define WORD vuint
#define WORD_PLUS_ODD(x, w, last, odd) one_more_where(w, last, x)
#include "kernels/rounding/word.h"

ULP_INLINE int cut_run(const piece *p, const cut *constants, uint32_t mode, uint32_t *least) {
    const cut c = *constants;
    const piece part = *p;
    vuint most = all_uints(0), small = all_uints(0x7fffffffu);
    for (size_t i = 0; i < part.n; i += 4 * FLOATS) {
        vuint u[4];
        UNROLLED for (size_t v = 0; v < 4; v++) memcpy(&u[v], part.x + i + v * FLOATS, sizeof u[v]);
        UNROLLED for (size_t v = 0; v < 4; v++) {
            vuint word = all_uints(0);
            if (mode == ULP_SRA) memcpy(&word, part.words + i + v * FLOATS, sizeof word);
            most = larger_uints(most, u[v] & 0x7fffffffu);
            word = (word & c.random) >> c.shift;
            u[v] = cut_words(u[v], all_uints(c.lost), all_uints(0), (vuint)((vint)u[v] >> 31), word, mode);
            if (least != NULL) small = smaller_uints(small, u[v] & 0x7fffffffu);
        }
        UNROLLED for (size_t v = 0; v < 4; v++) memcpy(part.y + i + v * FLOATS, &u[v], sizeof u[v]);
    }
    if (least != NULL) *least = least_uint(small);
    return !any_above((vint)most, (int32_t)c.most);
}

/* Rounds a piece whose numbers all lose equally many bits. 0 if a value is not in range; then the results are of no
 * use. *least becomes the least magnitude of the results, if `least` is not NULL. */
static int round_cut(const piece *p, const cut *c, uint32_t mode, uint32_t *least) {
    switch (mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: return least != NULL ? cut_run(p, c, id, least) : cut_run(p, c, id, NULL);
        ULP_MODES(CASE)
#undef CASE
    default: return 0;
    }
}

#endif

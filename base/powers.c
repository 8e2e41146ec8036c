/* powers.c - powers of ten cut to 128 bits, computed with exact integers; see decimal.h. */
#include "decimal.h"

#include <string.h>

/* LIMBS hold 5^340, which has 790 bits, and 2^NUMERATOR; 2^NUMERATOR / 5^342 keeps 165 bits. */
enum { LIMBS = 31, NUMERATOR = 32 * (LIMBS - 1) };

/* An integer of 32-bit limbs, the lowest first. */
typedef struct integer {
    uint32_t limb[LIMBS];
} integer;

static void times_five(integer *x) {
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += 5 * (uint64_t)x->limb[i];
        x->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* x = floor(x / 5). A floor of a floor is the floor of the quotient by the product. */
static void over_five(integer *x) {
    uint64_t rest = 0;
    for (int i = LIMBS; i-- > 0;) {
        rest = rest << 32 | x->limb[i];
        x->limb[i] = (uint32_t)(rest / 5);
        rest %= 5;
    }
}

static int bit_length(const integer *x) {
    int i = LIMBS;
    while (x->limb[i - 1] == 0) i--;
    int bits = 32 * i;
    for (uint32_t top = x->limb[i - 1]; top < 0x80000000u; top <<= 1) bits--;
    return bits;
}

/* Bits at .. at + 63 of x; bits below 0 are zero. */
static uint64_t bits_at(const integer *x, int at) {
    uint64_t bits = 0;
    for (int i = 63; i >= 0; i--) {
        const int b = at + i;
        bits = bits << 1 | (b < 0 ? 0u : x->limb[b / 32] >> b % 32 & 1u);
    }
    return bits;
}

/* x 2^exponent, cut to 128 bits. */
static ulp_power_of_ten cut(const integer *x, int exponent) {
    const int bits = bit_length(x);
    return (ulp_power_of_ten){bits_at(x, bits - 64), bits_at(x, bits - 128), exponent + bits - 128};
}

const ulp_power_of_ten *ulp_powers_of_ten(void) {
    static ulp_power_of_ten table[ULP_POWERS_LAST - ULP_POWERS_FIRST + 1];
    ulp_power_of_ten *const one = table - ULP_POWERS_FIRST;
    if (one->high != 0) return table;
    integer x = {{1}};
    for (int q = 0; q <= ULP_POWERS_LAST; q++, times_five(&x)) one[q] = cut(&x, q);
    memset(&x, 0, sizeof x);
    x.limb[NUMERATOR / 32] = 1;
    for (int q = -1; q >= ULP_POWERS_FIRST; q--) {
        over_five(&x);
        one[q] = cut(&x, q - NUMERATOR);
    }
    return table;
}

/* exact.h - exact results before rounding: error-free transforms and the 128-bit value ulp_exact.
 *
 * A real number that is not rounded yet has two representations:
 *   - the unevaluated pair hi + lo of doubles (two_sum, two_prod), for vectorised loops. ulp_to_odd folds the pair into
 *     one double that rounds like the pair.
 *   - ulp_exact, a 128-bit significand with a sticky bit, for the scalar path: sums, products, quotients, square roots
 *     and fused multiply-adds of any binary64 operands. Intermediate results cannot overflow or underflow.
 * The functions are for host and device. Only the transforms use floating-point operations.
 */
#ifndef ULP_EXACT_H
#define ULP_EXACT_H

#include "format.h"

#if defined(__clang__) || defined(__GNUC__)
#define ULP_FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define ULP_FMA(a, b, c) fma(a, b, c)
#endif

ULP_CORE uint64_t ulp_bits64(double x) {
    union {
        double f;
        uint64_t u;
    } v;
    v.f = x;
    return v.u;
}

ULP_CORE double ulp_from_bits64(uint64_t u) {
    union {
        double f;
        uint64_t u;
    } v;
    v.u = u;
    return v.f;
}

ULP_CORE uint32_t ulp_bits32(float x) {
    union {
        float f;
        uint32_t u;
    } v;
    v.f = x;
    return v.u;
}

ULP_CORE float ulp_from_bits32(uint32_t u) {
    union {
        float f;
        uint32_t u;
    } v;
    v.u = u;
    return v.f;
}

ULP_FN double ulp_quiet_nan(void) { return ulp_from_bits64(0x7ff8000000000000u); }

/* x 2^k, where the result is a binary64 value or beyond the range of binary64; x has at most 53 bits. */
ULP_FN double ulp_scale(double x, int32_t k) {
    for (; k > 1000; k -= 1000) x *= 0x1p1000;
    for (; k < -1000; k += 1000) x *= 0x1p-1000;
    return x * ulp_from_bits64((uint64_t)(k + 1023) << 52);
}

/* ---- error-free transforms ---- */

/* Sets s = RN(a + b) and returns the error: a + b = s + error exactly, barring overflow (Knuth 1969; Moller 1965). */
ULP_CORE double ulp_two_sum(double a, double b, double *s) {
    double t = a + b, bb = t - a;
    *s = t;
    return (a - (t - bb)) + (b - bb);
}

/* Sets p = RN(a b) and returns the error: a b = p + error exactly while the exponents of a b stay above -969 (Handbook
 * of Floating-Point Arithmetic 2018, section 4.4). */
ULP_CORE double ulp_two_prod(double a, double b, double *p) {
    *p = a * b;
    return ULP_FMA(a, b, -*p);
}

/* The pair hi + lo with hi = RN(hi + lo), rounded to odd at 53 bits. Any later rounding to at most 51 bits equals one
 * rounding of the pair (Boldo and Melquiond 2008, doi:10.1109/TC.2007.70819). Branch-free. */
ULP_CORE double ulp_to_odd(double hi, double lo) {
    uint64_t u = ulp_bits64(hi);
    uint64_t inexact = (uint64_t)(lo < 0.0) | (uint64_t)(lo > 0.0); /* NaN, the error of an infinite sum: exact */
    uint64_t step = ~u & 1u & (0u - inexact);                       /* an even hi moves one unit toward lo */
    uint64_t down = (ulp_bits64(lo) ^ u) >> 63;                     /* the magnitude decreases where the signs differ */
    return ulp_from_bits64(u + step - ((step & down) << 1));
}

/* a + b as one double that rounds like the exact sum. Infinite sums and NaN stay. */
ULP_CORE double ulp_sum_to_odd(double a, double b) {
    double sum, error = ulp_two_sum(a, b, &sum);
    return ulp_to_odd(sum, error);
}

/* ---- the 128-bit value ---- */

typedef enum ulp_kind { ULP_EXACT_ZERO, ULP_EXACT_CANCELLED, ULP_EXACT_FINITE, ULP_EXACT_INF, ULP_EXACT_NAN } ulp_kind;

/* FINITE: the value is (-1)^neg (hi 2^64 + lo + s) 2^exp with bit 63 of hi set; 0 < s < 1 if sticky, else s = 0.
 * CANCELLED: the zero of x + (-x); the rounding mode decides its sign (IEEE 754-2019, 6.3).
 */
typedef struct ulp_exact {
    uint64_t hi, lo;
    int32_t exp;
    uint8_t neg, sticky, kind;
} ulp_exact;

ULP_FN int32_t ulp_leading_zeros(uint64_t x) {
    int32_t n = 0;
    for (int32_t step = 32; step > 0; step >>= 1) {
        if (x >> (64 - step) == 0) {
            n += step;
            x <<= step;
        }
    }
    return n;
}

ULP_FN ulp_exact ulp_exact_special(ulp_kind kind, uint32_t neg) {
    ulp_exact x = {0, 0, 0, 0, 0, 0};
    x.kind = (uint8_t)kind;
    x.neg = (uint8_t)neg;
    return x;
}

/* A finite value from hi, lo and sticky, which need not be normalised. Leading zero bits reduce the accuracy of a value
 * with a sticky bit, so callers keep at least 96 significant bits. */
ULP_FN ulp_exact ulp_exact_pack(uint32_t neg, uint64_t hi, uint64_t lo, uint32_t sticky, int32_t exp) {
    ulp_exact x = {hi, lo, exp, 0, 0, ULP_EXACT_FINITE};
    x.neg = (uint8_t)neg;
    x.sticky = (uint8_t)sticky;
    if (x.hi == 0) {
        x.hi = x.lo;
        x.lo = 0;
        x.exp -= 64;
    }
    if (x.hi == 0) return ulp_exact_special(ULP_EXACT_CANCELLED, 0);
    int32_t n = ulp_leading_zeros(x.hi);
    if (n > 0) {
        x.hi = x.hi << n | x.lo >> (64 - n);
        x.lo <<= n;
        x.exp -= n;
    }
    return x;
}

ULP_FN ulp_exact ulp_exact_of(double v) {
    uint64_t u = ulp_bits64(v), frac = u & 0xfffffffffffffu;
    uint32_t neg = (uint32_t)(u >> 63);
    int32_t e = (int32_t)(u >> 52 & 0x7ff);
    if (e == 0x7ff) return ulp_exact_special(frac != 0 ? ULP_EXACT_NAN : ULP_EXACT_INF, neg);
    if (e == 0 && frac == 0) return ulp_exact_special(ULP_EXACT_ZERO, neg);
    uint64_t sig = e == 0 ? frac : frac | 1ull << 52;
    return ulp_exact_pack(neg, sig, 0, 0, (e == 0 ? 1 : e) - 1075 - 64);
}

/* Shifts (hi, lo) right by n, 0 <= n. Sets *sticky if a bit that is set is shifted out. */
ULP_FN void ulp_shift_right(uint64_t *hi, uint64_t *lo, int32_t n, uint32_t *sticky) {
    if (n >= 128) {
        *sticky |= (uint32_t)((*hi | *lo) != 0);
        *hi = *lo = 0;
        return;
    }
    if (n >= 64) {
        *sticky |= (uint32_t)(*lo != 0);
        *lo = *hi;
        *hi = 0;
        n -= 64;
    }
    if (n > 0) {
        *sticky |= (uint32_t)(*lo << (64 - n) != 0);
        *lo = *lo >> n | *hi << (64 - n);
        *hi >>= n;
    }
}

ULP_FN ulp_exact ulp_exact_negate(ulp_exact x) {
    x.neg ^= 1u;
    return x;
}

/* The sum of two operands that are both zero or cancel. */
ULP_FN ulp_exact ulp_exact_zero_sum(ulp_exact x, ulp_exact y) {
    if (x.kind == ULP_EXACT_ZERO && y.kind == ULP_EXACT_ZERO && x.neg == y.neg) return x;
    return ulp_exact_special(ULP_EXACT_CANCELLED, 0);
}

/* x + y. Each operand has at most 106 significant bits and no sticky bit. */
ULP_FN ulp_exact ulp_exact_add(ulp_exact x, ulp_exact y) {
    if (x.kind == ULP_EXACT_NAN || y.kind == ULP_EXACT_NAN) return ulp_exact_special(ULP_EXACT_NAN, 0);
    if (x.kind == ULP_EXACT_INF && y.kind == ULP_EXACT_INF && x.neg != y.neg)
        return ulp_exact_special(ULP_EXACT_NAN, 0);
    if (x.kind == ULP_EXACT_INF) return x;
    if (y.kind == ULP_EXACT_INF) return y;
    if (x.kind != ULP_EXACT_FINITE && y.kind != ULP_EXACT_FINITE) return ulp_exact_zero_sum(x, y);
    if (x.kind != ULP_EXACT_FINITE) return y;
    if (y.kind != ULP_EXACT_FINITE) return x;
    int32_t swap = y.exp > x.exp || (y.exp == x.exp && (y.hi > x.hi || (y.hi == x.hi && y.lo > x.lo)));
    ulp_exact a = swap ? y : x, b = swap ? x : y;
    uint32_t sticky = 0;
    /* one bit of headroom; no operand has more than 106 bits, so no bit is lost here */
    ulp_shift_right(&a.hi, &a.lo, 1, &sticky);
    ulp_shift_right(&b.hi, &b.lo, 1 + (a.exp - b.exp > 200 ? 200 : a.exp - b.exp), &sticky);
    uint64_t lo, hi;
    if (a.neg == b.neg) {
        lo = a.lo + b.lo;
        hi = a.hi + b.hi + (lo < a.lo);
    } else {
        uint64_t blo = b.lo + sticky; /* a - (b + s) = a - (b + 1) + (1 - s) */
        uint64_t bhi = b.hi + (blo < b.lo);
        lo = a.lo - blo;
        hi = a.hi - bhi - (a.lo < blo);
    }
    return ulp_exact_pack(a.neg, hi, lo, sticky, a.exp + 1);
}

/* The 128-bit product of two 64-bit integers. */
ULP_FN void ulp_wide_mul(uint64_t a, uint64_t b, uint64_t *hi, uint64_t *lo) {
    uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
    uint64_t ll = al * bl, lh = al * bh, hl = ah * bl, hh = ah * bh;
    uint64_t mid = (ll >> 32) + (lh & 0xffffffffu) + (hl & 0xffffffffu);
    *lo = mid << 32 | (ll & 0xffffffffu);
    *hi = hh + (lh >> 32) + (hl >> 32) + (mid >> 32);
}

/* x y. Both operands have at most 64 significant bits and no sticky bit. */
ULP_FN ulp_exact ulp_exact_mul(ulp_exact x, ulp_exact y) {
    uint32_t neg = x.neg ^ y.neg;
    uint32_t zero = x.kind < ULP_EXACT_FINITE || y.kind < ULP_EXACT_FINITE;
    uint32_t inf = x.kind == ULP_EXACT_INF || y.kind == ULP_EXACT_INF;
    if (x.kind == ULP_EXACT_NAN || y.kind == ULP_EXACT_NAN || (zero && inf)) return ulp_exact_special(ULP_EXACT_NAN, 0);
    if (inf) return ulp_exact_special(ULP_EXACT_INF, neg);
    if (zero) return ulp_exact_special(ULP_EXACT_ZERO, neg);
    uint64_t hi, lo;
    ulp_wide_mul(x.hi, y.hi, &hi, &lo);
    return ulp_exact_pack(neg, hi, lo, 0, x.exp + y.exp + 128);
}

/* x / y. y has at most 63 significant bits and no sticky bit. Restoring division gives 127 quotient bits and the
 * remainder. */
ULP_FN ulp_exact ulp_exact_div(ulp_exact x, ulp_exact y) {
    uint32_t neg = x.neg ^ y.neg;
    uint32_t xzero = x.kind < ULP_EXACT_FINITE, yzero = y.kind < ULP_EXACT_FINITE;
    uint32_t xinf = x.kind == ULP_EXACT_INF, yinf = y.kind == ULP_EXACT_INF;
    if (x.kind == ULP_EXACT_NAN || y.kind == ULP_EXACT_NAN || (xzero && yzero) || (xinf && yinf))
        return ulp_exact_special(ULP_EXACT_NAN, 0);
    if (xinf || yzero) return ulp_exact_special(ULP_EXACT_INF, neg);
    if (xzero || yinf) return ulp_exact_special(ULP_EXACT_ZERO, neg);
    uint64_t rem = x.hi >> 1, next = x.hi << 63 | x.lo >> 1, last = x.lo << 63; /* the bits of x that follow */
    uint64_t den = y.hi >> 1, qhi = 0, qlo = 0;                                 /* rem < 2 den < 2^64 */
    for (int32_t i = 0; i < 127; i++) {
        uint64_t bit = rem >= den;
        rem = (rem - (bit ? den : 0)) << 1 | next >> 63;
        next = next << 1 | last >> 63;
        last <<= 1;
        qhi = qhi << 1 | qlo >> 63;
        qlo = qlo << 1 | bit;
    }
    return ulp_exact_pack(neg, qhi, qlo, (uint32_t)(rem != 0) | x.sticky, x.exp - y.exp - 126);
}

/* sqrt(x). x has at most 64 significant bits. The digit-by-digit method gives 100 bits of the root and the
 * remainder. */
ULP_FN ulp_exact ulp_exact_sqrt(ulp_exact x) {
    if (x.kind < ULP_EXACT_FINITE || x.kind == ULP_EXACT_NAN) return x;
    if (x.neg) return ulp_exact_special(ULP_EXACT_NAN, 0);
    if (x.kind == ULP_EXACT_INF) return x;
    int32_t exp = x.exp + 64; /* the value is x.hi 2^exp */
    uint64_t next = x.hi, first = 0;
    if (exp & 1) { /* the exponent becomes even; the radicand (first : next) becomes one bit wider */
        first = next >> 63;
        next <<= 1;
        exp -= 1;
    }
    uint64_t rhi = 0, rlo = first, thi = 0, tlo = 0; /* remainder r, root t */
    if (first) {
        tlo = 1;
        rlo = 0;
    }
    for (int32_t i = 0; i < 100; i++) {
        rhi = rhi << 2 | rlo >> 62;
        rlo = rlo << 2 | next >> 62;
        next <<= 2;
        uint64_t chi = thi << 2 | tlo >> 62, clo = tlo << 2 | 1; /* 4 root + 1 */
        uint64_t ge = rhi > chi || (rhi == chi && rlo >= clo);
        if (ge) {
            rhi = rhi - chi - (rlo < clo);
            rlo -= clo;
        }
        thi = thi << 1 | tlo >> 63;
        tlo = tlo << 1 | ge;
    }
    /* 100 digits of a 64-bit radicand: the root is scaled by 2^(100 - 32) */
    return ulp_exact_pack(0, thi, tlo, (rhi | rlo) != 0, exp / 2 - 68);
}

/* a b + c. The operands are results of ulp_exact_of. */
ULP_FN ulp_exact ulp_exact_fma(ulp_exact a, ulp_exact b, ulp_exact c) { return ulp_exact_add(ulp_exact_mul(a, b), c); }

/* hi + lo for any two doubles. The zero of (hi, 0) has the sign of hi. */
ULP_FN ulp_exact ulp_exact_of_pair(double hi, double lo) {
    if (lo == 0.0) return ulp_exact_of(hi);
    return ulp_exact_add(ulp_exact_of(hi), ulp_exact_of(lo));
}

#endif

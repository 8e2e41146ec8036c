/* reference.c - the oracle on MPFR and GMP integers; see reference.h and exact_sum.h. The file is
 * long because no other file of the library includes <mpfr.h>.
 *
 * A value is divided by the quantum, the distance of neighbouring numbers of the format at the value. The quotient is
 * the position of the value. MPFR rounds the position to an integer; the stochastic modes use the formulas of P3109 on
 * GMP integers. All variables have a fixed size, and these precisions make all steps exact:
 *
 *  - NARROW: one binary64 value has 53 bits, and the parity shift of prec = 1 adds one bit.
 *  - ROOM: the bits that a position has more than its value: the parity shift adds one bit, and the code string of a
 *    tapered format has at most 64 bits before the fraction.
 *  - WIDE: a b + c has bits from 2^2048 down to 2^-2148; hi + lo has fewer bits, and a sum of 2^63 products has 63
 * more. A value of at most MIDDLE - ROOM bits takes a variable of fewer bits, which saves time and changes nothing.
 *  - QUOTIENT: quotients and roots are truncated to QUOTIENT bits, and a nonzero remainder sets one bit below. This
 *    changes no decision if the truncation is finer than every breakpoint, a multiple of 2^-34 quantum. In floating
 *    point prec + 34 <= 87 bits are enough. In fixed point the largest quotient is 2^2098, and its low bits matter
 *    under wrap; the bits from there down to 2^(-32-34) are 2164 bits.
 *
 * In a tapered format the position is the code string of the value read as a number, with the binary point after the
 * last bit that a code holds. reference_taper.h writes the strings.
 */
#include "reference.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <mpfr.h>

#include "oracle.h"
#include "exact_sum.h"
#include "reference_taper.h"

enum { NARROW = 64, ROOM = 128, WIDE = 4480, QUOTIENT_FLOAT = 256, QUOTIENT_FIXED = 2240, STICKY = 64 };
enum { MIDDLE = QUOTIENT_FLOAT + STICKY };

/* x is the exact value, then its position. z is the rounded position, then the rounded value. */
typedef struct scratch {
    mpfr_t x, z;
} scratch;

struct ulp_reference {
    ulp_format format;
    long emin;
    uint64_t max_code, inf_code; /* magnitude codes; inf_code UINT64_MAX: no Inf; other codes above max_code are NaN */
    double max, lowest, min_positive, min_normal;
    double ladder[LADDER];     /* hif8: the values in ascending order */
    mpfr_t top, bottom, least; /* max, lowest, min_positive */
    mpfr_t a, b, c, quotient;
    scratch narrow, middle, wide;
    mpz_t integer, random, limit;
    int overflowed; /* the last finite value that was rounded is out of range */
};

/* ---- the format ---- */

static uint64_t low_bits(unsigned n) { return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1; }

/* The value of a finite magnitude code. */
static double magnitude(const ulp_reference *ref, uint64_t code) {
    const ulp_format *f = &ref->format;
    int trailing = f->prec - 1;
    uint64_t fraction = code & low_bits((unsigned)trailing), hidden = (uint64_t)1 << trailing;
    long field = (long)(code >> trailing);
    if (code == 0 && f->has_zero) return 0.0;
    if (field == 0 && f->has_zero && !f->zero_binade)
        return f->has_subnormals ? ldexp((double)fraction, (int)ref->emin - trailing) : 0.0;
    return ldexp((double)(hidden + fraction), (int)(field - f->bias) - trailing);
}

/* Set the magnitude code of Inf and the largest finite magnitude code. */
static void derive_codes(ulp_reference *ref) {
    const ulp_format *f = &ref->format;
    uint64_t last = low_bits((unsigned)f->bits - (f->is_signed ? 1u : 0u));
    ref->inf_code = UINT64_MAX;
    if (f->nan_codes == ULP_NAN_IEEE) {
        uint64_t top_field = last & ~low_bits((unsigned)f->prec - 1u);
        if (f->has_inf) ref->inf_code = top_field;
        ref->max_code = top_field - 1;
        return;
    }
    if (f->nan_codes == ULP_NAN_ALL_ONES) last--;
    if (f->has_inf) ref->inf_code = last--;
    ref->max_code = last;
}

static void derive_float(ulp_reference *ref) {
    const ulp_format *f = &ref->format;
    ref->emin = f->zero_binade || !f->has_zero ? -(long)f->bias : 1 - (long)f->bias;
    derive_codes(ref);
    ref->max = magnitude(ref, ref->max_code);
    ref->min_normal = ldexp(1.0, (int)ref->emin);
    if (f->zero_binade) ref->min_normal = magnitude(ref, 1);
    ref->min_positive = f->has_subnormals && f->has_zero && !f->zero_binade ? magnitude(ref, 1) : ref->min_normal;
    if (f->is_signed) ref->lowest = -ref->max;
    else ref->lowest = f->has_zero ? 0.0 : ref->min_positive;
}

static void derive_fixed(ulp_reference *ref) {
    const ulp_format *f = &ref->format;
    ref->lowest = f->is_signed ? -ldexp(1.0, f->bits - 1 - f->frac_bits) : 0.0;
    ref->max = ldexp((double)low_bits((unsigned)f->bits - (f->is_signed ? 1u : 0u)), -f->frac_bits);
    ref->min_positive = ref->min_normal = ldexp(1.0, -f->frac_bits);
}

static void derive_taper(ulp_reference *ref) {
    const ulp_format *f = &ref->format;
    if (f->taper == ULP_TAPER_HIF8) taper_ladder(ref->ladder);
    ref->inf_code = f->taper == ULP_TAPER_HIF8 ? 0x6f : UINT64_MAX;
    ref->max_code = f->taper == ULP_TAPER_HIF8 ? 0x7f : low_bits(f->bits - 1u);
    ref->max = f->taper == ULP_TAPER_HIF8 ? 0x1p15 : taper_magnitude(f, ref->max_code);
    ref->lowest = -ref->max;
    ref->min_positive = taper_magnitude(f, 1);
    ref->min_normal = f->taper == ULP_TAPER_HIF8 ? 0x1p-15 : ref->min_positive;
}

static void *(*grow_memory)(void *memory, size_t bytes);

static void *allocate(size_t bytes) { return grow_memory(NULL, bytes); }

static void *reallocate(void *memory, size_t old, size_t bytes) {
    (void)old;
    return grow_memory(memory, bytes);
}

static void release(void *memory, size_t bytes) {
    (void)bytes;
    free(memory);
}

void ulp_reference_allocate_by(void *(*grow)(void *memory, size_t bytes)) {
    grow_memory = grow;
    mp_set_memory_functions(allocate, reallocate, release);
}

static void scratch_init(scratch *s, mpfr_prec_t prec) { mpfr_inits2(prec, s->x, s->z, (mpfr_ptr)0); }

static void scratch_clear(scratch *s) { mpfr_clears(s->x, s->z, (mpfr_ptr)0); }

ulp_reference *ulp_reference_new(const ulp_format *format) {
    ulp_reference *ref = format ? calloc(1, sizeof *ref) : NULL;
    if (!ref) return NULL;
    ref->format = *format;
    if (format->taper != ULP_TAPER_NONE) derive_taper(ref);
    else if (format->is_fixed) derive_fixed(ref);
    else derive_float(ref);
    mpfr_inits2(53, ref->top, ref->bottom, ref->least, ref->a, ref->b, ref->c, (mpfr_ptr)0);
    mpfr_set_d(ref->top, ref->max, MPFR_RNDN);
    mpfr_set_d(ref->bottom, ref->lowest, MPFR_RNDN);
    mpfr_set_d(ref->least, ref->min_positive, MPFR_RNDN);
    const mpfr_prec_t prec = format->is_fixed ? QUOTIENT_FIXED : QUOTIENT_FLOAT;
    mpfr_init2(ref->quotient, prec);
    scratch_init(&ref->narrow, NARROW);
    scratch_init(&ref->middle, prec + STICKY);
    scratch_init(&ref->wide, WIDE);
    mpz_init2(ref->integer, WIDE);
    mpz_init2(ref->random, 64);
    mpz_init2(ref->limit, 64);
    return ref;
}

void ulp_reference_free(ulp_reference *ref) {
    if (!ref) return;
    mpfr_clears(ref->top, ref->bottom, ref->least, ref->a, ref->b, ref->c, ref->quotient, (mpfr_ptr)0);
    scratch_clear(&ref->narrow);
    scratch_clear(&ref->middle);
    scratch_clear(&ref->wide);
    mpz_clears(ref->integer, ref->random, ref->limit, (mpz_ptr)0);
    free(ref);
}

double ulp_reference_max(const ulp_reference *ref) { return ref->max; }
double ulp_reference_lowest(const ulp_reference *ref) { return ref->lowest; }
double ulp_reference_min_positive(const ulp_reference *ref) { return ref->min_positive; }
double ulp_reference_min_normal(const ulp_reference *ref) { return ref->min_normal; }
int ulp_reference_overflowed(const ulp_reference *ref) { return ref->overflowed; }

double ulp_reference_decode(const ulp_reference *ref, uint64_t code) {
    const ulp_format *f = &ref->format;
    uint64_t sign = f->is_signed ? (uint64_t)1 << (f->bits - 1) : 0;
    uint64_t bits = code & low_bits(f->bits), mag = bits & ~sign;
    int neg = (bits & sign) != 0;
    if (f->is_fixed) return ldexp((double)mag - (neg ? (double)sign : 0.0), -f->frac_bits);
    if (neg && f->taper != ULP_TAPER_NONE && f->taper != ULP_TAPER_HIF8) mag = (sign - mag) & low_bits(f->bits - 1u);
    if (neg && mag == 0 && f->nan_codes == ULP_NAN_NEG_ZERO) return NAN;
    if (mag == ref->inf_code) return neg ? -INFINITY : INFINITY;
    if (mag > ref->max_code) return NAN;
    double value = f->taper != ULP_TAPER_NONE ? taper_magnitude(f, mag) : magnitude(ref, mag);
    return neg && (value != 0.0 || f->has_neg_zero) ? -value : value;
}

/* ---- rounding a position to an integer ---- */

/* z = x rounded to odd: if x is not an integer, z is the odd one of the two neighbouring integers. */
static void round_to_odd(scratch *s) {
    int sign = mpfr_sgn(s->x);
    if (mpfr_trunc(s->z, s->x) == 0) return;
    mpfr_div_2ui(s->x, s->z, 1, MPFR_RNDN);
    if (mpfr_integer_p(s->x)) mpfr_add_si(s->z, s->z, sign, MPFR_RNDN);
}

/* z = x rounded to nearest. A tie goes in the direction of `ties`. */
static void round_half(scratch *s, mpfr_rnd_t ties) {
    if (mpfr_integer_p(s->x)) {
        mpfr_set(s->z, s->x, MPFR_RNDN);
        return;
    }
    mpfr_mul_2ui(s->x, s->x, 1, MPFR_RNDN);
    const int tie = mpfr_integer_p(s->x);
    mpfr_div_2ui(s->x, s->x, 1, MPFR_RNDN);
    if (tie) mpfr_rint(s->z, s->x, ties);
    else mpfr_round(s->z, s->x);
}

/* z = x rounded by a stochastic mode. P3109 v4.0, section 4.6. The magnitude of x has the fraction nu. It is rounded up
 * if and only if N + R' >= 2^k, with these numbers:
 *
 *  - mode sra: N = floor(nu 2^k), k = r, R' = R
 *  - mode srb: N = floor(nu 2^k), k = r + 1, R' = 2 R + 1
 *  - mode src: N = nu 2^k rounded to nearest even, k = r, R' = R */
static void round_stochastic(ulp_reference *ref, scratch *s, ulp_rule rule, uint32_t word) {
    unsigned r = rule.random_bits, k = rule.mode == ULP_SRB ? r + 1 : r;
    int neg = mpfr_sgn(s->x) < 0;
    mpfr_abs(s->x, s->x, MPFR_RNDN);
    mpfr_trunc(s->z, s->x);
    mpfr_sub(s->x, s->x, s->z, MPFR_RNDN);
    mpfr_mul_2ui(s->x, s->x, k, MPFR_RNDN);
    mpfr_get_z(ref->integer, s->x, rule.mode == ULP_SRC ? MPFR_RNDN : MPFR_RNDD);
    mpz_set_ui(ref->random, word >> (32 - r));
    if (rule.mode == ULP_SRB) {
        mpz_mul_ui(ref->random, ref->random, 2);
        mpz_add_ui(ref->random, ref->random, 1);
    }
    mpz_add(ref->integer, ref->integer, ref->random);
    mpz_set_ui(ref->limit, 0);
    mpz_setbit(ref->limit, k);
    if (mpz_cmp(ref->integer, ref->limit) >= 0) mpfr_add_ui(s->z, s->z, 1, MPFR_RNDN);
    if (neg) mpfr_neg(s->z, s->z, MPFR_RNDN);
}

/* z = x rounded to an integer by the mode. */
static void round_position(ulp_reference *ref, scratch *s, ulp_rule rule, uint32_t word) {
    switch ((ulp_mode)rule.mode) {
    case ULP_RNE: mpfr_roundeven(s->z, s->x); break;
    case ULP_RNA: mpfr_round(s->z, s->x); break;
    case ULP_RZ: mpfr_trunc(s->z, s->x); break;
    case ULP_RU: mpfr_ceil(s->z, s->x); break;
    case ULP_RD: mpfr_floor(s->z, s->x); break;
    case ULP_RO: round_to_odd(s); break;
    case ULP_SRA:
    case ULP_SRB:
    case ULP_SRC: round_stochastic(ref, s, rule, word); break;
    case ULP_RNU: round_half(s, MPFR_RNDU); break;
    case ULP_RNZ: round_half(s, MPFR_RNDZ); break;
    case ULP_RND: round_half(s, MPFR_RNDD); break;
    case ULP_MODE_COUNT: mpfr_set_nan(s->z);
    }
}

/* ---- zero and overflow ---- */

static double zero_of(const ulp_reference *ref, int neg) {
    if (!ref->format.has_zero) return ref->min_positive;
    return neg && ref->format.has_neg_zero ? -0.0 : 0.0;
}

/* Whether a mode rounds an overflow to the largest value, when other modes round it to Inf. IEEE 754-2019, 7.4. */
static int overflow_stays_finite(ulp_mode mode, int neg) {
    switch (mode) {
    case ULP_RZ:
    case ULP_RO: return 1;
    case ULP_RU: return neg;
    case ULP_RD: return !neg;
    case ULP_RNE:
    case ULP_RNA:
    case ULP_RNU:
    case ULP_RNZ:
    case ULP_RND:
    case ULP_SRA:
    case ULP_SRB:
    case ULP_SRC:
    case ULP_MODE_COUNT: break;
    }
    return 0;
}

/* The result for a rounded value that is out of range, or for an infinite value. */
static double out_of_range(ulp_reference *ref, ulp_rule rule, int neg, int infinite) {
    double end = neg ? ref->lowest : ref->max;
    ref->overflowed = !infinite;
    switch (rule.overflow) {
    case ULP_OVERFLOW_ZERO: return zero_of(ref, neg);
    case ULP_OVERFLOW_SYM: return neg && ref->format.is_signed ? -ref->max : end;
    case ULP_OVERFLOW_SAT:
    case ULP_OVERFLOW_WRAP: return end;
    case ULP_OVERFLOW_INF: break;
    default: return NAN;
    }
    if (neg && !ref->format.is_signed) return ref->format.nan_codes == ULP_NAN_NONE ? end : NAN;
    if (overflow_stays_finite((ulp_mode)rule.mode, neg) && !infinite) return end;
    if (ref->format.has_inf) return neg ? -INFINITY : INFINITY;
    return ref->format.nan_codes == ULP_NAN_NONE ? end : NAN;
}

/* z = z modulo 2^bits, in two's complement; z is an integer. */
static void wrap(ulp_reference *ref, mpfr_t z) {
    mp_bitcnt_t bits = ref->format.bits;
    mpfr_get_z(ref->integer, z, MPFR_RNDN);
    if (!ref->format.is_signed) {
        ref->overflowed = mpz_sgn(ref->integer) < 0 || mpz_sizeinbase(ref->integer, 2) > bits;
        mpz_fdiv_r_2exp(ref->integer, ref->integer, bits);
        mpfr_set_z(z, ref->integer, MPFR_RNDN);
        return;
    }
    mpz_set_ui(ref->limit, 0);
    mpz_setbit(ref->limit, bits - 1);
    ref->overflowed = mpz_cmp(ref->integer, ref->limit) >= 0;
    mpz_neg(ref->limit, ref->limit);
    ref->overflowed |= mpz_cmp(ref->integer, ref->limit) < 0;
    mpz_fdiv_r_2exp(ref->integer, ref->integer, bits);
    if (mpz_tstbit(ref->integer, bits - 1)) {
        mpz_set_ui(ref->limit, 0);
        mpz_setbit(ref->limit, bits);
        mpz_sub(ref->integer, ref->integer, ref->limit);
    }
    mpfr_set_z(z, ref->integer, MPFR_RNDN);
}

/* ---- rounding a value to the format ---- */

/* middle.x = the quotient. If the quotient is inexact, half a unit in its last place is added, so that it lies strictly
 * between the same two breakpoints as the exact value. */
static void load_quotient(ulp_reference *ref, int inexact) {
    mpfr_set(ref->middle.x, ref->quotient, MPFR_RNDN);
    if (!inexact) return;
    mpfr_exp_t last = mpfr_get_exp(ref->quotient) - mpfr_get_prec(ref->quotient);
    mpfr_set_si_2exp(ref->quotient, mpfr_sgn(ref->quotient), last - 1, MPFR_RNDN);
    mpfr_add(ref->middle.x, ref->middle.x, ref->quotient, MPFR_RNDN);
}

/* The exponent of the quantum at a value with floor(log2 |x|) = e. */
static long quantum_at(const ulp_reference *ref, long e) {
    const ulp_format *f = &ref->format;
    if (f->is_fixed) return -(long)f->frac_bits;
    if (e >= ref->emin) return e - f->prec + 1;
    return f->has_subnormals ? ref->emin - f->prec + 1 : ref->emin;
}

/* z = x rounded to a multiple of 2^q, wrapped if the rule says so. */
static void round_to_quantum(ulp_reference *ref, scratch *s, ulp_rule rule, uint32_t word, long q) {
    const ulp_format *f = &ref->format;
    long e = mpfr_get_exp(s->x) - 1;
    mpfr_mul_2si(s->x, s->x, -q, MPFR_RNDN);
    if (f->prec == 1 && !f->is_fixed && e == q && (e + f->bias) % 2 == 0) {
        /* with prec = 1 all significands are 1 and odd: add 1 where the code e + bias is even, for the right parity */
        long one = mpfr_sgn(s->x);
        mpfr_add_si(s->x, s->x, one, MPFR_RNDN);
        round_position(ref, s, rule, word);
        mpfr_sub_si(s->z, s->z, one, MPFR_RNDN);
    } else {
        round_position(ref, s, rule, word);
    }
    if (rule.overflow == ULP_OVERFLOW_WRAP) wrap(ref, s->z);
    mpfr_mul_2si(s->z, s->z, q, MPFR_RNDN);
}

/* Whether x, rounded to the precision of the format without a least exponent, is below the least normal number. */
static int is_tiny(ulp_reference *ref, scratch *s, ulp_rule rule, uint32_t word) {
    mpfr_t kept;
    mpfr_init2(kept, mpfr_get_prec(s->x));
    mpfr_set(kept, s->x, MPFR_RNDN);
    round_to_quantum(ref, s, rule, word, mpfr_get_exp(s->x) - ref->format.prec);
    const int tiny = fabs(mpfr_get_d(s->z, MPFR_RNDZ)) < ref->min_normal; /* ends toward zero: no number grows to it */
    mpfr_set(s->x, kept, MPFR_RNDN);
    mpfr_clear(kept);
    return tiny;
}

/* An operand of an operation: a zero where the format flushes subnormals. */
static double operand_of(const ulp_reference *ref, double x) {
    return (ref->format.flushes & ULP_FLUSH_INPUTS) && fabs(x) < ldexp(1.0, (int)ref->emin) ? copysign(0.0, x) : x;
}

/* middle.x = the position of |s->x| in a tapered format; s->x becomes |s->x|. */
static void tapered_position(ulp_reference *ref, scratch *s) {
    const ulp_format *f = &ref->format;
    mpfr_ptr to = s == &ref->narrow ? ref->middle.x : s->x; /* narrow has no room for the bits before the fraction */
    mpfr_abs(to, s->x, MPFR_RNDN);
    if (f->taper == ULP_TAPER_HIF8) {
        size_t i = 0;
        while (i + 2 < LADDER && mpfr_cmp_d(to, ref->ladder[i + 1]) >= 0) i++;
        mpfr_sub_d(to, to, ref->ladder[i], MPFR_RNDN);
        mpfr_div_d(to, to, ref->ladder[i + 1] - ref->ladder[i], MPFR_RNDN); /* a power of two */
        mpfr_add_ui(to, to, i, MPFR_RNDN);
        return;
    }
    const taper_string head = taper_head(f, mpfr_get_exp(to) - 1);
    mpfr_mul_2si(to, to, 1 - mpfr_get_exp(to), MPFR_RNDN);
    mpfr_sub_ui(to, to, 1, MPFR_RNDN);
    if (head.length == 0) mpfr_set_zero(to, 1);
    mpfr_add_d(to, to, (double)head.bits, MPFR_RNDN);
    mpfr_mul_2si(to, to, f->bits - 1 - head.length, MPFR_RNDN);
}

/* s->x, finite and not zero, rounded to a number of a tapered format. */
static double round_tapered(ulp_reference *ref, scratch *s, ulp_rule rule, uint32_t word) {
    const int neg = mpfr_sgn(s->x) < 0, clamped = ref->format.taper != ULP_TAPER_HIF8;
    const double last = clamped ? (double)ref->max_code : LADDER - 3;
    tapered_position(ref, s);
    if (s == &ref->narrow) s = &ref->middle;
    if (neg) mpfr_neg(s->x, s->x, MPFR_RNDN);
    round_position(ref, s, rule, word);
    double rank = fabs(mpfr_get_d(s->z, MPFR_RNDN));
    if (clamped) rank = fmin(fmax(rank, 1), last);
    if (rank == 0) return zero_of(ref, neg);
    if (rank > last) return out_of_range(ref, rule, neg, 0);
    const double value = clamped ? taper_magnitude(&ref->format, (uint64_t)rank) : ref->ladder[(int)rank];
    return neg ? -value : value;
}

/* s->x, finite and not zero, rounded to a number of the format. */
static double round_exact(ulp_reference *ref, scratch *s, ulp_rule rule, uint32_t word) {
    int neg = mpfr_sgn(s->x) < 0;
    if (ref->format.taper != ULP_TAPER_NONE) return round_tapered(ref, s, rule, word);
    if (ref->format.zero_binade && mpfr_cmpabs(s->x, ref->least) < 0) {
        /* the quantum between 0 and the least value is the least value, which is no power of two */
        load_quotient(ref, mpfr_div(ref->quotient, s->x, ref->least, MPFR_RNDZ));
        s = &ref->middle;
        round_position(ref, s, rule, word);
        mpfr_mul(s->z, s->z, ref->least, MPFR_RNDN);
    } else {
        if ((ref->format.flushes & ULP_FLUSH_RESULTS) && is_tiny(ref, s, rule, word)) return zero_of(ref, neg);
        round_to_quantum(ref, s, rule, word, quantum_at(ref, mpfr_get_exp(s->x) - 1));
    }
    if (mpfr_zero_p(s->z)) return zero_of(ref, neg);
    if (mpfr_greater_p(s->z, ref->top) || mpfr_less_p(s->z, ref->bottom)) return out_of_range(ref, rule, neg, 0);
    if (rule.overflow == ULP_OVERFLOW_SYM && ref->format.is_signed && mpfr_cmpabs(s->z, ref->top) > 0)
        return out_of_range(ref, rule, neg, 0);
    return mpfr_get_d(s->z, MPFR_RNDN);
}

/* Fill in the defaults of a rule; returns 0 if the rule does not exist. */
static int fill_defaults(const ulp_reference *ref, ulp_rule *rule) {
    if (rule->overflow == ULP_OVERFLOW_DEFAULT) rule->overflow = ref->format.overflow;
    if (rule->random_bits == 0) rule->random_bits = 32;
    if (rule->overflow == ULP_OVERFLOW_WRAP && !ref->format.is_fixed) return 0;
    return rule->random_bits <= 32 && rule->mode < ULP_MODE_COUNT;
}

/* s->x, any value, rounded to a number of the format. */
static double finish(ulp_reference *ref, scratch *s, ulp_rule rule, uint32_t word) {
    ref->overflowed = 0;
    if (mpfr_regular_p(s->x)) return round_exact(ref, s, rule, word);
    if (mpfr_nan_p(s->x)) return NAN;
    int neg = mpfr_signbit(s->x) != 0;
    return mpfr_inf_p(s->x) ? out_of_range(ref, rule, neg, 1) : zero_of(ref, neg);
}

double ulp_reference_round(ulp_reference *ref, double hi, double lo, ulp_rule rule, uint32_t word) {
    if (!fill_defaults(ref, &rule)) return NAN;
    scratch *s = lo == 0.0 ? &ref->narrow : &ref->wide;
    mpfr_set_d(s->x, lo == 0.0 ? operand_of(ref, hi) : hi, MPFR_RNDN); /* one number is an operand */
    if (lo != 0.0)
        mpfr_add_d(s->x, s->x, lo, rule.mode == ULP_RD ? MPFR_RNDD : MPFR_RNDN); /* decides the sign of zero */
    return finish(ref, s, rule, word);
}

static mpfr_exp_t larger(mpfr_exp_t a, mpfr_exp_t b) { return a > b ? a : b; }

/* The variable for an exact value of so many bits. */
static scratch *scratch_of(ulp_reference *ref, mpfr_exp_t bits) {
    return bits <= MIDDLE - ROOM ? &ref->middle : &ref->wide;
}

/* The most bits of x + y, where the highest bits of x and y are below 2^top and their lowest bits are multiples of
 * 2^(top - bits). */
static mpfr_exp_t bits_of_sum(mpfr_exp_t top_x, mpfr_exp_t bits_x, mpfr_exp_t top_y, mpfr_exp_t bits_y) {
    return larger(top_x, top_y) + larger(bits_x - top_x, bits_y - top_y) + 1;
}

/* The most bits of the exact result of an operation that is not a quotient or a root. Where an operand is zero or not
 * finite, the result is not finite or has the bits of one product or of one operand. */
static mpfr_exp_t bits_of_result(const ulp_reference *ref, ulp_op op) {
    const int third = op == ULP_FUSED;
    if (op == ULP_MUL || !mpfr_regular_p(ref->a) || !mpfr_regular_p(ref->b)) return 106;
    if (third && !mpfr_regular_p(ref->c)) return 106;
    const mpfr_exp_t a = mpfr_get_exp(ref->a), b = mpfr_get_exp(ref->b);
    return third ? bits_of_sum(a + b, 106, mpfr_get_exp(ref->c), 53) : bits_of_sum(a, 53, b, 53);
}

double ulp_reference_arith(ulp_reference *ref, ulp_scalar_op op, ulp_rule rule, uint32_t word) {
    if (!fill_defaults(ref, &rule)) return NAN;
    /* sums and products are exact, so this mode decides only the sign of a zero sum */
    mpfr_rnd_t zero_sign = rule.mode == ULP_RD ? MPFR_RNDD : MPFR_RNDN;
    int inexact = 0;
    mpfr_set_d(ref->a, operand_of(ref, op.a), MPFR_RNDN);
    mpfr_set_d(ref->b, operand_of(ref, op.b), MPFR_RNDN);
    mpfr_set_d(ref->c, operand_of(ref, op.c), MPFR_RNDN);
    scratch *s = op.op == ULP_DIV || op.op == ULP_SQRT ? &ref->middle : scratch_of(ref, bits_of_result(ref, op.op));
    switch (op.op) {
    case ULP_ADD: inexact = mpfr_add(s->x, ref->a, ref->b, zero_sign); break;
    case ULP_SUB: inexact = mpfr_sub(s->x, ref->a, ref->b, zero_sign); break;
    case ULP_MUL: inexact = mpfr_mul(s->x, ref->a, ref->b, zero_sign); break;
    case ULP_FUSED: inexact = mpfr_fma(s->x, ref->a, ref->b, ref->c, zero_sign); break;
    case ULP_DIV: load_quotient(ref, mpfr_div(ref->quotient, ref->a, ref->b, MPFR_RNDZ)); break;
    case ULP_SQRT: load_quotient(ref, mpfr_sqrt(ref->quotient, ref->a, MPFR_RNDZ)); break;
    default: return NAN;
    }
    assert(inexact == 0);
    (void)inexact;
    return finish(ref, s, rule, word);
}

/* ---- exact values given as integers ---- */

/* A variable that holds m 2^e. */
static scratch *load_integer(ulp_reference *ref, mpz_srcptr m, long e) {
    scratch *s = scratch_of(ref, (mpfr_exp_t)mpz_sizeinbase(m, 2));
    const int inexact = mpfr_set_z_2exp(s->x, m, e, MPFR_RNDN);
    assert(inexact == 0);
    (void)inexact;
    return s;
}

double ulp_reference_round_exact(ulp_reference *ref, mpz_srcptr m, long e, ulp_rule rule, uint32_t word) {
    if (!fill_defaults(ref, &rule)) return NAN;
    return finish(ref, load_integer(ref, m, e), rule, word);
}

void ulp_reference_round_integer(ulp_reference *ref, mpz_ptr y, mpz_srcptr m, long e, ulp_mode mode) {
    scratch *s = load_integer(ref, m, e);
    round_position(ref, s, (ulp_rule){(uint8_t)mode, 0, 32}, 0);
    mpfr_get_z(y, s->z, MPFR_RNDN);
}

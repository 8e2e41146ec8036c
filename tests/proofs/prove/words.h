/* words.h - the goals without a registered format: decisions, round to odd, and formats whose parameters are symbolic.
 */
#ifndef PROVE_WORDS_H
#define PROVE_WORDS_H

#if defined(GOAL_decide) /* ulp_round_up: every mode, the stochastic decisions A, B, C with word and bits symbolic */

GOAL_FN int assumed(uint32_t nu, uint32_t tail, uint32_t mode, uint32_t odd, uint32_t neg, uint32_t word, uint32_t r) {
    (void)nu, (void)word;
    return tail < 4 && mode < SPEC_MODES && (GOAL_MODES >> mode & 1) && odd < 2 && neg < 2 && r >= 1 && r <= 32;
}
/* The discarded part in units of 2^-34 of a quantum. What lies below 2^-33 is a fraction of that unit's double; every
 * condition compares with a multiple of 2^-33, so that 2^-34 stands for all of these fractions. */
GOAL_FN uint32_t spec(uint32_t nu, uint32_t tail, uint32_t mode, uint32_t odd, uint32_t neg, uint32_t word,
                      uint32_t r) {
    const spec_asked asked = {mode, SPEC_DEFAULT, word, r};
    return (uint32_t)spec_up(asked, (int)odd, neg, (uint64_t)nu << 2 | tail, 1, 34);
}
GOAL_FN uint32_t code(uint32_t nu, uint32_t tail, uint32_t mode, uint32_t odd, uint32_t neg, uint32_t word,
                      uint32_t r) {
    const ulp_fraction lost = {nu, tail};
    return ulp_round_up(mode, odd, lost, neg, word, r);
}

#elif defined(GOAL_to_odd) /* ulp_to_odd */

/* The exact sum hi + lo for |lo| <= ulp(hi) / 2, in units of a quarter of the last place of hi: the whole units, and
 * whether anything is left. */
typedef struct sum {
    uint64_t whole;
    int rest, fits; /* fits: hi is the sum rounded to nearest even */
} sum;

static inline uint64_t significand(uint64_t u) {
    return (u & (spec_hidden - 1)) + ((u >> 52 & 0x7ff) != 0 ? spec_hidden : 0);
}
static inline int last_place(uint64_t u) { return (int)(u >> 52 & 0x7ff) - ((u >> 52 & 0x7ff) != 0); }

static inline sum sum_of(uint64_t hi, uint64_t lo) {
    const uint64_t H = significand(hi), L = significand(lo);
    const int shift = last_place(hi) - 2 - last_place(lo), less = (int)((hi ^ lo) >> 63);
    sum s = {4 * H, 0, 0};
    if (L == 0) {
        s.fits = 1;
        return s;
    }
    if (H == 0 || shift < -1) return s; /* |lo| is more than half of the last place */
    const uint64_t part = shift < 0 ? L << 1 : shift > 63 ? 0 : L >> shift;
    s.rest = shift > 0 && (shift > 63 || part << shift != L);
    /* half of the last place is 2 units; below a power of two the last place is half as large */
    const uint64_t half = less && H == spec_hidden && last_place(hi) > 0 ? 1 : 2;
    s.fits = part < half || (part == half && !s.rest && H % 2 == 0);
    s.whole = less ? 4 * H - part - (uint64_t)s.rest : 4 * H + part;
    return s;
}

static inline int is_special(uint64_t u) { return (u >> 52 & 0x7ff) == 0x7ff; }

/* two_sum and two_prod give lo = 0 or NaN where hi is infinite or NaN, and a finite lo where hi is finite. */
GOAL_FN int assumed(uint64_t hi, uint64_t lo) {
    if (is_special(hi)) return (lo & ~spec_sign) == 0 || (lo & ~spec_sign) > spec_inf;
    return !is_special(lo) && sum_of(hi, lo).fits;
}
/* The sum cut to 53 bits, with the last bit set where the sum has further bits. */
GOAL_FN uint64_t spec(uint64_t hi, uint64_t lo) {
    if (is_special(hi) || (lo & ~spec_sign) == 0) return hi;
    const sum s = sum_of(hi, lo);
    const int cut = s.whole >= 4 * spec_hidden ? 2 : 1;
    const uint64_t m = s.whole >> cut, lost = s.whole - (m << cut) + (uint64_t)s.rest;
    const uint64_t odd = lost != 0 ? m | (SPEC_FAULT == 0) : m;
    return (hi & spec_sign) | (((uint64_t)(last_place(hi) - 2 + cut) << 52) + odd);
}
GOAL_FN uint64_t code(uint64_t hi, uint64_t lo) {
    return ulp_bits64(ulp_to_odd(ulp_from_bits64(hi), ulp_from_bits64(lo)));
}

#elif defined(GOAL_once) /* a number of 60 bits rounded to odd at 53 bits rounds like itself: ulp_core64_decides */

static inline uint32_t rounded(uint64_t whole, int cut, uint32_t mode, uint32_t neg, uint32_t word, uint32_t r) {
    const spec_asked asked = {mode, SPEC_DEFAULT, word, r};
    const spec_cut at = {whole >> cut, whole - (whole >> cut << cut)};
    return (uint32_t)(at.m + (uint64_t)spec_up(asked, (int)(at.m & 1), neg, at.rem, 1, cut));
}
/* 60 bits of which `prec` are kept; the last bit stands for all that is smaller */
GOAL_FN int assumed(uint64_t whole, uint32_t prec, uint32_t mode, uint32_t neg, uint32_t word, uint32_t r) {
    ulp_core c;
    (void)word;
    if (whole >> 59 != 1 || prec < 1 || prec > 24 || mode >= SPEC_MODES || !(GOAL_MODES >> mode & 1)) return 0;
    if (neg > 1 || r < 1 || r > 32) return 0;
    c.drop = 24 - prec;
    c.mode = mode;
    c.random_bits = r;
    return ulp_core64_decides(&c);
}
GOAL_FN uint32_t spec(uint64_t whole, uint32_t prec, uint32_t mode, uint32_t neg, uint32_t word, uint32_t r) {
    return rounded(whole, 60 - (int)prec, mode, neg, word, r);
}
GOAL_FN uint32_t code(uint64_t whole, uint32_t prec, uint32_t mode, uint32_t neg, uint32_t word, uint32_t r) {
    const uint64_t odd = whole >> 7 | (SPEC_FAULT == 0 && (whole & 127) != 0);
    return rounded(odd << 7, 60 - (int)prec, mode, neg, word, r);
}

#else /* GOAL_formats: ulp_round_exact of formats whose precision, bias, width and special values are symbolic */

/* kind: bits 0 to 4 are the flags signed, Inf, zero, -0, subnormals; bits 6 and 7 are the position of NaN. */
static inline spec_format standard_of(uint32_t bits, uint32_t prec, uint32_t bias, uint32_t kind) {
    spec_format f = {.bits = (int)bits, .prec = (int)prec, .bias = (int)bias, .policy = SPEC_TO_INF};
    f.is_signed = kind & 1;
    f.has_inf = kind >> 1 & 1;
    f.has_zero = kind >> 2 & 1;
    f.has_neg_zero = kind >> 3 & 1;
    f.has_subnormals = kind >> 4 & 1;
    f.nan = kind >> 6 & 3;
    return f;
}

/* The descriptor with its derived numbers from the specification: that ulp_format_init derives the same is part of the
 * goals of registered formats. */
static inline ulp_format format_of(uint32_t bits, uint32_t prec, uint32_t bias, uint32_t kind) {
    const spec_format s = standard_of(bits, prec, bias, kind);
    ulp_format f = {.bits = (uint8_t)bits, .prec = (uint8_t)prec, .bias = (int16_t)bias, .overflow = ULP_OVERFLOW_INF};
    const int emin = s.has_zero - (int)bias;
    f.is_signed = (uint8_t)s.is_signed;
    f.has_inf = (uint8_t)s.has_inf;
    f.has_zero = (uint8_t)s.has_zero;
    f.has_neg_zero = (uint8_t)s.has_neg_zero;
    f.has_subnormals = (uint8_t)s.has_subnormals;
    f.nan_codes = (uint8_t)s.nan;
    f.emin = (int16_t)emin;
    f.qmin = (int16_t)(s.has_subnormals ? emin - (int)prec + 1 : emin);
    f.max = ulp_from_bits64(spec_end(&s, 0));
    f.min_positive = ulp_from_bits64(spec_pattern(1, f.qmin));
    f.lowest = ulp_from_bits64(s.is_signed  ? spec_sign | spec_end(&s, 0)
                               : s.has_zero ? 0
                                            : spec_pattern(1, -(int)bias));
    return f;
}
GOAL_FN int assumed(uint64_t x, uint32_t bits, uint32_t prec, uint32_t bias, uint32_t kind, uint32_t mode,
                    uint32_t policy, uint32_t word, uint32_t r) {
    const uint32_t is_signed = kind & 1, inf = kind >> 1 & 1, zero = kind >> 2 & 1, nan = kind >> 6 & 3;
    (void)x, (void)word;
    if (GOAL_LIMITS || kind > 255 || kind >> 5 & 1) return 0;
    if (bits < 2 || bits > 16 || prec < 1 || prec > 16 || prec + is_signed > bits || bits - prec - is_signed > 8)
        return 0;
    if (mode >= SPEC_MODES || !(GOAL_MODES >> mode & 1) || policy < SPEC_TO_INF || policy > SPEC_TO_NAN) return 0;
    if (spec_is_stochastic(mode) ? r < 1 || r > 32 : r != 32) return 0;
    /* a format without zero has no sign and no subnormals, as e8m0; -0 needs a sign and a zero */
    if (!zero && (is_signed || kind >> 4 & 1)) return 0;
    if (kind >> 3 & 1 && !is_signed) return 0;
    /* NaN of IEEE 754 is above an infinity and has a fraction; NaN at -0 needs a sign and no -0 */
    if (nan == SPEC_NAN_IEEE && (!inf || prec < 2)) return 0;
    if (nan == SPEC_NAN_NEG_ZERO && (!is_signed || kind >> 3 & 1)) return 0;
    /* a number other than zero and below the special codes: with subnormals a code of at least 1, else a field of 1 */
    const spec_format s = standard_of(bits, prec, bias, kind);
    const uint64_t last = spec_last_code(&s);
    return last < 65536 && last >= (s.has_subnormals || !zero ? 1u : 1u << (prec - 1));
}
GOAL_FN uint64_t spec(uint64_t x, uint32_t bits, uint32_t prec, uint32_t bias, uint32_t kind, uint32_t mode,
                      uint32_t policy, uint32_t word, uint32_t r) {
    const spec_asked asked = {mode, policy, word, r};
    const spec_format f = standard_of(bits, prec, bias, kind);
    return spec_round(x, &f, asked);
}
GOAL_FN uint64_t code(uint64_t x, uint32_t bits, uint32_t prec, uint32_t bias, uint32_t kind, uint32_t mode,
                      uint32_t policy, uint32_t word, uint32_t r) {
    const ulp_format f = format_of(bits, prec, bias, kind);
    const ulp_rule rule = {(uint8_t)mode, (uint8_t)policy, (uint8_t)r};
    const uint64_t y = ulp_bits64(ulp_round_exact(ulp_exact_of(ulp_from_bits64(x)), &f, rule, word));
    return (y & ~spec_sign) > spec_inf ? spec_nan : y;
}

#endif
#endif

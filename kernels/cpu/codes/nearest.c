/* nearest.c - codes of numbers rounded to nearest, ties to even, where the rounded significand is a part of the code.
 *
 * The sum of |x| and an anchor of 1.5 2^(e + 24 - p) rounds at the quantum of binade e, and exceeds the anchor, as a
 * word, by the number of quanta. With the significands of the binades below, this number is the code. A format with the
 * exponents of binary32 has the words of binary32 without low bits.
 */
#include "codes.h"

int ULP_CPU(ulp_nearest_begin)(ulp_nearest *r, const ulp_format *f, ulp_rule rule) {
    uint64_t beyond;
    if (f->taper != ULP_TAPER_NONE || !f->fits_binary32 || !f->has_zero || f->is_fixed || f->bits > 16 ||
        rule.mode != ULP_RNE || !f->is_signed || !f->has_subnormals || f->flushes != 0 || f->zero_binade || f->prec < 2)
        return 0;
    const int is_word = f->bits == 16 && f->prec == 8 && f->bias == 127 && f->has_inf && f->has_neg_zero;
    if (!is_word && f->emax + 25 - f->prec > 126) return 0;
    const double overflow = ulp_overflow_value(f, rule.mode, ulp_core_policy(f, rule), 0, 0);
    if (overflow == 0.0 || ulp_encode(&beyond, overflow, f) != ULP_OK || (f->nan_codes && beyond == f->nan_code))
        return 0;
    *r = (ulp_nearest){.least = ulp_bits32((float)ulp_scale(1.0, f->emin)),
                       .anchor = (24u - f->prec) << 23 | 1u << 22,
                       .limit = (uint32_t)(127 + 126 - (24 - f->prec)) << 23,
                       .shift = 24u - f->prec,
                       .sign = 1u << (f->bits - 1),
                       .sign_shift = 32u - f->bits,
                       .bare_zero = !f->has_neg_zero,
                       .is_word = is_word && beyond == f->inf_code,
                       .most = (int32_t)f->max_code,
                       .beyond = (int32_t)beyond};
    if (r->is_word) r->limit = 0x7f800000u;
    return is_word == r->is_word;
}

/* The word without low bits, of a format with the exponents of binary32; beyond the range this is Inf. */
static uint32_t word_shorts(uint16_t *restrict to, const float *restrict x, size_t n, const ulp_nearest *of) {
    const uint32_t shift = of->shift, half = (1u << (shift - 1)) - 1u;
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = ulp_bits32(x[i]), size = u & 0x7fffffffu;
        most = (int32_t)size > (int32_t)most ? size : most;
        to[i] = (uint16_t)((u + half + (u >> shift & 1u)) >> shift);
    }
    return most;
}

ULP_INLINE uint32_t nearest_code_of(uint32_t u, const ulp_nearest *r, int bare) {
    const uint32_t size = u & 0x7fffffffu, field = size & 0x7f800000u;
    const uint32_t binade = (int32_t)field > (int32_t)r->least ? field : r->least, anchor = binade + r->anchor;
    const uint32_t quanta = ulp_bits32(ulp_from_bits32(size) + ulp_from_bits32(anchor)) - anchor;
    const int32_t all = (int32_t)(quanta + ((binade - r->least) >> r->shift)), code = all > r->most ? r->beyond : all;
    const uint32_t sign = (u >> r->sign_shift) & r->sign;
    return (uint32_t)code | (bare && code == 0 ? 0 : sign);
}

/* The codes, and the largest magnitude; if that is above the limit, the codes mean nothing. */
#define RUN(name, type, bare)                                                                                          \
    static uint32_t name(type *restrict to, const float *restrict x, size_t n, const ulp_nearest *of) {                \
        const ulp_nearest r = *of;                                                                                     \
        uint32_t most = 0;                                                                                             \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const uint32_t u = ulp_bits32(x[i]), size = u & 0x7fffffffu;                                               \
            most = (int32_t)size > (int32_t)most ? size : most;                                                        \
            to[i] = (type)nearest_code_of(u, &r, bare);                                                                \
        }                                                                                                              \
        return most;                                                                                                   \
    }
RUN(nearest_bytes, uint8_t, 0)
RUN(nearest_shorts, uint16_t, 0)
RUN(bare_nearest_bytes, uint8_t, 1)
RUN(bare_nearest_shorts, uint16_t, 1)
#undef RUN

int ULP_CPU(ulp_nearest_codes)(void *codes, const float *x, size_t n, unsigned width, const ulp_nearest *r) {
    uint32_t most;
    if (r->is_word) most = word_shorts(codes, x, n, r);
    else if (width == 16) most = (r->bare_zero ? bare_nearest_shorts : nearest_shorts)(codes, x, n, r);
    else most = (r->bare_zero ? bare_nearest_bytes : nearest_bytes)(codes, x, n, r);
    return most < r->limit;
}

/* nearest_tapered.c - codes of numbers rounded to the nearest takum, and to the nearest number of hif8.
 *
 * The rank of a number, rounded to an integer, is the code of a takum and the index of the code of hif8
 * (formats/taper.h).
 */
#include "codes.h"

#include "formats/taper.h"

/* The parts of a takum code are those of tapered.c, from the word of a normal number. The bits below the
 * characteristic's first are rounded where they are cut, and a carry goes on into the characteristic. Every number is
 * between the least and the largest takum. */
ULP_INLINE uint32_t takum_code_of(uint32_t u, const ulp_nearest_constants *t) {
    const uint32_t size = u & 0x7fffffffu, field = size >> 23, up = 0u - (uint32_t)((int32_t)field >= 127);
    const uint32_t e1 = ((field - 126u) & up) | ((127u - field) & ~up);
    const uint32_t r = (ulp_bits32((float)(int32_t)e1) >> 23) - 127u, few = r & 7u, cut = t->shift + few;
    const uint32_t rest = (size + ((2u << 23) & up)) & ((1u << (23u + few)) - 1u);
    const uint32_t kept = (rest + (1u << (cut - 1u)) - 1u + (rest >> cut & 1u)) >> cut;
    const uint32_t first = (8u & up) | (up ? few : 7u - few), code = (first << (t->bits - 5u)) + kept;
    const uint32_t neg = 0u - (u >> 31);
    return size == 0 ? 0u : ((code ^ neg) - neg) & t->mask;
}

/* The rank, up to that of Inf, with the sign as bit 7. The rank is the word, moved by the lift of its exponent and cut
 * at the width (formats/taper.h). */
ULP_INLINE uint32_t hif8_rank_of(uint32_t u, uint32_t away) {
    const uint32_t size = u & 0x7fffffffu;
    const int32_t e = (int32_t)(size >> 23) - 127;
    const uint32_t a = e >= -15, b = e >= -7, c = e >= -3, d = e >= 4, far = e >= 8;
    const uint32_t lift = 23u - 4u * a - 6u * b - 5u * c + 12u * d + 28u * far, cut = 23u - a - b - c + d + far;
    const uint32_t w = size + ((lift - 127u) << 23), odd = (w >> cut & 1u) | away;
    const uint32_t rank = (w + (1u << (cut - 1u)) - 1u + odd) >> cut, most = (int32_t)rank < 127 ? rank : 127u;
    const uint32_t tiny = (int32_t)(size + away) > 0x34000000; /* half of the least value, 2^-22 */
    return (e < -22 ? tiny : e > 15 ? 127u : most) | (u >> 24 & 0x80u);
}

static void hif8_ranks(uint8_t *restrict to, const float *restrict x, size_t n, uint32_t away) {
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)hif8_rank_of(ulp_bits32(x[i]), away);
}

/* The largest magnitude, as a word; a subnormal number counts as NaN. */
static uint32_t largest_of(const float *x, size_t n, int32_t least) {
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t size = ulp_bits32(x[i]) & 0x7fffffffu;
        const uint32_t any = (int32_t)size < least && size != 0 ? 0x7fffffffu : size;
        most = (int32_t)any > (int32_t)most ? any : most;
    }
    return most;
}

#define RUN(name, type)                                                                                                \
    static uint32_t hif8_##name(void *codes, const float *restrict x, size_t n, const ulp_nearest *r) {                \
        type *restrict const to = codes;                                                                               \
        uint8_t ranks[ULP_PIECE];                                                                                      \
        hif8_ranks(ranks, x, n, r->constants.away);                                                                    \
        for (size_t i = 0; i < n; i++) to[i] = r->codes[ranks[i]];                                                     \
        return largest_of(x, n, 0);                                                                                    \
    }                                                                                                                  \
    static uint32_t takum_##name(void *codes, const float *restrict x, size_t n, const ulp_nearest *r) {               \
        const ulp_nearest_constants t = r->constants;                                                                  \
        type *restrict const to = codes;                                                                               \
        for (size_t i = 0; i < n; i++) to[i] = (type)takum_code_of(ulp_bits32(x[i]), &t);                              \
        return largest_of(x, n, 0x800000);                                                                             \
    }
RUN(bytes, uint8_t)
RUN(shorts, uint16_t)
#undef RUN

static int begin_hif8(ulp_nearest *r, const ulp_format *f, ulp_rule rule) {
    uint64_t beyond;
    if (rule.mode != ULP_RNE && rule.mode != ULP_RNA) return 0;
    if (ulp_encode(&beyond, ulp_overflow_value(f, rule.mode, ulp_core_policy(f, rule), 0, 0), f) != ULP_OK) return 0;
    for (uint32_t rank = 0; rank < 128; rank++) {
        const uint32_t code = (uint32_t)(rank < 127 ? ulp_hif8_code(rank) : beyond);
        r->codes[rank] = (uint8_t)code;
        r->codes[rank | 128] = (uint8_t)(rank == 0 || code == f->nan_code ? code : code | 128);
    }
    r->constants.away = rule.mode == ULP_RNA;
    r->run[0] = hif8_bytes;
    r->run[1] = hif8_shorts;
    return 1;
}

static int begin_takum(ulp_nearest *r, const ulp_format *f, ulp_rule rule) {
    if (rule.mode != ULP_RNE || !ULP_CPU(ulp_tapered_codes_serve)(f)) return 0;
    r->limit = 0x7f800000u; /* infinity is NaN */
    r->constants.bits = f->bits;
    r->constants.shift = 28u - f->bits;
    r->constants.mask = 0xffffffffu >> (32 - f->bits);
    r->run[0] = takum_bytes;
    r->run[1] = takum_shorts;
    return 1;
}

int ULP_CPU(ulp_nearest_tapered)(ulp_nearest *r, const ulp_format *f, ulp_rule rule) {
    return f->taper == ULP_TAPER_HIF8    ? begin_hif8(r, f, rule)
           : f->taper == ULP_TAPER_TAKUM ? begin_takum(r, f, rule)
                                         : 0;
}

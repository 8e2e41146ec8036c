/* nearest.c - codes of numbers rounded to nearest, ties to even, where the rounded significand is a part of the code.
 *
 * The sum of |x| and an anchor of 1.5 2^(e + 24 - p) rounds at the quantum of binade e, and exceeds the anchor, as a
 * word, by the number of quanta. An anchor that is larger by a quantum for each significand of the binades below has
 * these in its last bits, so that the last bits of the sum are the code, and a tie goes to an even code. A format with
 * the exponents of binary32 has the words of binary32 without low bits. In fixed point the code is the number of
 * quanta.
 */
#include "codes.h"
#include "vectors.h"

/* ---- loops: each returns the largest magnitude, as a word ---- */

/* The word without low bits, of a format with the exponents of binary32; beyond the range this is Inf. */
static uint32_t word_shorts(void *codes, const float *restrict x, size_t n, const ulp_nearest *of) {
    const uint32_t shift = of->constants.shift, half = (1u << (shift - 1)) - 1u;
    uint16_t *restrict const to = codes;
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = ulp_bits32(x[i]), size = u & 0x7fffffffu;
        most = (int32_t)size > (int32_t)most ? size : most;
        to[i] = (uint16_t)((u + half + (u >> shift & 1u)) >> shift);
    }
    return most;
}

/* The sum of |x| and its anchor, whose last 22 bits are the code of the magnitude. Beyond the clamp |x| is the clamp.
 */
ULP_INLINE uint32_t magnitude_of(uint32_t size, const ulp_nearest_constants *r) {
    const uint32_t inside = (int32_t)size < (int32_t)r->clamp ? size : r->clamp, field = inside & 0x7f800000u;
    const uint32_t binade = (int32_t)field > (int32_t)r->least ? field : r->least;
    const uint32_t anchor = binade + (binade >> r->shift) + r->anchor;
    return ulp_bits32(ulp_from_bits32(inside) + ulp_from_bits32(anchor));
}

/* The code, for formats where zero has no sign. */
ULP_INLINE uint32_t bare_code_of(uint32_t u, const ulp_nearest_constants *r) {
    const uint32_t code = magnitude_of(u & 0x7fffffffu, r) & (r->sign - 1u), sign = (u >> r->sign_shift) & r->sign;
    return code | (code == 0 ? 0 : sign);
}

/* The same for formats without a sign, with a gap below the least value, and for each policy of overflow. */
ULP_INLINE uint32_t any_code_of(uint32_t u, const ulp_nearest_constants *r) {
    const uint32_t size = u & 0x7fffffffu, neg = (uint32_t)((int32_t)u >> 31);
    const int32_t all = (int32_t)(magnitude_of(size, r) & 0x3fffffu) - r->skipped;
    const int32_t least = all > r->first ? all : r->first, inside = (int32_t)size > (int32_t)r->gap ? least : 0;
    const int32_t code = inside > r->most ? r->beyond : inside;
    const uint32_t negative = ((uint32_t)code & r->negative_keeps) | r->negative;
    const uint32_t below = code == 0 ? r->negative_zero : code == r->nan ? (uint32_t)code : negative;
    return ((uint32_t)code & ~neg) | (below & neg);
}

/* Powers of two without zero, of the exponents of binary32: smaller numbers become 2^-127, code 0. */
ULP_INLINE uint32_t power_code_of(uint32_t u, const ulp_nearest_constants *r) {
    const uint32_t size = u & 0x7fffffffu;
    const uint32_t normal = (size + 0x3fffffu + (size >> 23 & 1u)) >> 23, tiny = (int32_t)size > 0x600000;
    const uint32_t any = (int32_t)size < 0x800000 ? tiny : normal;
    const uint32_t code = (int32_t)any > r->most ? (uint32_t)r->beyond : any;
    return (int32_t)u < 0 && (int32_t)size > 0x200000 ? r->negative : code;
}

/* Quanta in two's complement. */
ULP_INLINE uint32_t fixed_code_of(uint32_t u, const ulp_nearest_constants *r) {
    const float q = ulp_from_bits32(u) * r->quanta, above = q > r->low ? q : r->low;
    return ulp_bits32((above < r->high ? above : r->high) + 0x1.8p23f) & r->mask;
}

#define RUN(name, type, code)                                                                                          \
    static uint32_t name(void *codes, const float *restrict x, size_t n, const ulp_nearest *of) {                      \
        const ulp_nearest_constants r = of->constants;                                                                 \
        type *restrict const to = codes;                                                                               \
        uint32_t most = 0;                                                                                             \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const uint32_t u = ulp_bits32(x[i]), size = u & 0x7fffffffu;                                               \
            most = (int32_t)size > (int32_t)most ? size : most;                                                        \
            to[i] = (type)code(u, &r);                                                                                 \
        }                                                                                                              \
        return most;                                                                                                   \
    }
#define RUNS(of)                                                                                                       \
    RUN(of##_bytes, uint8_t, of##_code_of)                                                                             \
    RUN(of##_shorts, uint16_t, of##_code_of)
RUNS(bare)
RUNS(any)
RUNS(power)
RUNS(fixed)
#undef RUNS
#undef RUN

/* ---- formats with signs of their own: vectors ---- */

/* The constants of magnitude_of and the shifts for all lanes. */
typedef struct vector_constants {
    vuint clamp, least, anchor, shift, sign_shift, sign;
} vector_constants;

static vector_constants vector_constants_of(const ulp_nearest_constants *r) {
    return (vector_constants){all_uints(r->clamp), all_uints(r->least),      all_uints(r->anchor),
                              all_uints(r->shift), all_uints(r->sign_shift), all_uints(r->sign)};
}

/* The last bits of each lane are the code. */
ULP_INLINE vuint plain_codes_of(vuint u, vuint *most, const vector_constants *r) {
    const vuint size = u & 0x7fffffffu, inside = smaller_uints(size, r->clamp);
    const vuint binade = larger_uints(inside, r->least) & 0x7f800000u,
                anchor = binade + shifted_right(binade, r->shift) + r->anchor;
    *most = larger_uints(*most, size);
    return (vuint)((vfloat)inside + (vfloat)anchor) | (shifted_right(u, r->sign_shift) & r->sign);
}

enum { MANY = NARROWED * FLOATS };

/* put_: the codes of MANY elements. */
#define RUN(name, type, put)                                                                                           \
    ULP_INLINE void put_##name(type *to, const float *x, vuint *most, const vector_constants *r) {                     \
        vuint v[NARROWED];                                                                                             \
        UNROLLED for (int j = 0; j < NARROWED; j++) {                                                                  \
            memcpy(&v[j], x + j * FLOATS, sizeof v[j]);                                                                \
            v[j] = plain_codes_of(v[j], most, r);                                                                      \
        }                                                                                                              \
        put(to, v);                                                                                                    \
    }                                                                                                                  \
    static uint32_t plain_##name(void *codes, const float *x, size_t n, const ulp_nearest *of) {                       \
        const vector_constants r = vector_constants_of(&of->constants);                                                \
        type *const to = codes, last[MANY];                                                                            \
        float rest[MANY] = {0};                                                                                        \
        vuint most = {0};                                                                                              \
        size_t i = 0;                                                                                                  \
        for (; i + MANY <= n; i += MANY) put_##name(to + i, x + i, &most, &r);                                         \
        if (i < n) {                                                                                                   \
            memcpy(rest, x + i, (n - i) * sizeof *x);                                                                  \
            put_##name(last, rest, &most, &r);                                                                         \
            memcpy(to + i, last, (n - i) * sizeof *to);                                                                \
        }                                                                                                              \
        return largest_uint(most);                                                                                     \
    }
RUN(bytes, uint8_t, put_low_bytes)
RUN(shorts, uint16_t, put_low_halves)
#undef RUN

/* ---- elements times the factors of their blocks ---- */

/* A bound between elements, a number of p + 1 bits, has zeros as low bits. A product that is off by two units in the
 * last place, and so near to a bound that it could lie on the other side, has low bits that differ from zeros by less
 * than NEAR. `near` is the least difference, plus NEAR. */
enum { NEAR = 4 };

ULP_INLINE vuint product_codes_of(const float *x, float factor, vuint *near, vuint low, int is_near,
                                  const vector_constants *r) {
    vfloat y;
    vuint most = {0};
    memcpy(&y, x, sizeof y);
    y *= factor;
    if (is_near) {
        const vuint distance = ((vuint)y + NEAR) & low, size = (vuint)y & 0x7fffffffu;
        *near = smaller_uints(*near, where_equal(size, (vuint){0}, low, distance));
    }
    return plain_codes_of((vuint)y, &most, r);
}

ULP_INLINE int product_codes(uint8_t *codes, const float *x, size_t n, size_t size, const float *factor, int is_near,
                             const ulp_nearest *of) {
    const vector_constants r = vector_constants_of(&of->constants);
    const vuint low = all_uints((1u << (of->constants.shift - 1u)) - 1u);
    vuint near = low, v[NARROWED];
    for (size_t i = 0; i < n; i += MANY) {
        UNROLLED for (size_t j = 0; j < NARROWED; j++) {
            const size_t at = i + j * FLOATS;
            v[j] = product_codes_of(x + at, factor[at / size], &near, low, is_near, &r);
        }
        put_low_bytes(codes + i, v);
    }
    return !is_near || least_uint(near) >= 2 * NEAR;
}

/* The same for fixed point, where a product is below 2^7 quanta: one that is off by 2^-16 and nearer to a tie than
 * 2^-15 could lie on the other side. */
ULP_INLINE int fixed_products(uint8_t *codes, const float *x, size_t n, size_t size, const float *factor, int is_near,
                              const ulp_nearest *of) {
    const ulp_nearest_constants *const r = &of->constants;
    const vfloat low = (vfloat){0} + r->low, high = (vfloat){0} + r->high, quanta = (vfloat){0} + r->quanta;
    const vuint mask = all_uints(r->mask);
    vuint far = {0}, v[NARROWED];
    for (size_t i = 0; i < n; i += MANY) {
        UNROLLED for (size_t j = 0; j < NARROWED; j++) {
            const size_t at = i + j * FLOATS;
            vfloat y;
            memcpy(&y, x + at, sizeof y);
            y = clamped(y * factor[at / size] * quanta, low, high);
            const vfloat sum = y + 0x1.8p23f;
            if (is_near) far = larger_uints(far, (vuint)(y - (sum - 0x1.8p23f)) & 0x7fffffffu);
            v[j] = (vuint)sum & mask;
        }
        put_low_bytes(codes + i, v);
    }
    return !is_near || largest_uint(far) < ULP_NEAR_TIE;
}

int ULP_CPU(ulp_nearest_products_serve)(size_t size, const ulp_nearest *r) {
    const int is_small = r->run[0] == fixed_bytes && r->constants.mask <= 0xff;
    return (r->run[0] == plain_bytes || is_small) && size % FLOATS == 0;
}

ULP_INLINE int products(uint8_t *codes, const float *x, size_t n, size_t size, const float *factor, int is_near,
                        const ulp_nearest *r) {
    if (r->run[0] == fixed_bytes) return fixed_products(codes, x, n, size, factor, is_near, r);
    return product_codes(codes, x, n, size, factor, is_near, r);
}

int ULP_CPU(ulp_nearest_products)(uint8_t *codes, const float *x, size_t n, size_t size, const float *factor,
                                  int is_near, const ulp_nearest *r) {
    uint8_t last[MANY];
    float rest[MANY] = {0}, factors[MANY / FLOATS];
    const size_t whole = n / MANY * MANY;
    int is_right = 1;
#define PRODUCTS(of)                                                                                                   \
    is_right = is_near ? products(codes, x, whole, of, factor, 1, r) : products(codes, x, whole, of, factor, 0, r)
    BY_SIZE(PRODUCTS, size)
#undef PRODUCTS
    if (whole == n) return is_right;
    for (size_t j = 0; j < MANY / FLOATS; j++) {
        const size_t at = whole + j * FLOATS;
        factors[j] = factor[(at < n ? at : n - 1) / size];
    }
    memcpy(rest, x + whole, (n - whole) * sizeof *x);
    is_right &= products(last, rest, MANY, FLOATS, factors, is_near, r);
    memcpy(codes + whole, last, n - whole);
    return is_right;
}

/* ---- formats ---- */

/* The code of an overflow; -1 if it has none. */
static int32_t code_beyond(const ulp_format *f, ulp_rule rule, uint32_t neg) {
    uint64_t code = 0;
    const double value = ulp_overflow_value(f, rule.mode, ulp_core_policy(f, rule), neg, 0);
    return ulp_encode(&code, value, f) == ULP_OK ? (int32_t)code : -1;
}

static int begin_fixed(ulp_nearest *n, const ulp_format *f, ulp_rule rule) {
    ulp_nearest_constants *const r = &n->constants;
    const uint32_t policy = ulp_core_policy(f, rule);
    if (f->frac_bits > 100 || policy == ULP_OVERFLOW_WRAP) return 0;
    const double high = ulp_overflow_value(f, rule.mode, policy, 0, 0);
    const double low = ulp_overflow_value(f, rule.mode, policy, 1, 0);
    if (high != f->max || (low != f->lowest && low != -f->max) || low > 0.0) return 0;
    r->quanta = (float)ulp_scale(1.0, f->frac_bits);
    r->low = (float)low * r->quanta;
    r->high = (float)high * r->quanta;
    r->mask = 0xffffffffu >> (32 - f->bits);
    n->run[0] = fixed_bytes;
    n->run[1] = fixed_shorts;
    return 1;
}

static int begin_powers(ulp_nearest *n, const ulp_format *f, ulp_rule rule) {
    ulp_nearest_constants *const r = &n->constants;
    const int32_t beyond = code_beyond(f, rule, 0), negative = code_beyond(f, rule, 1);
    if (f->is_signed || f->bits != 8 || f->bias != 127 || beyond < 0 || negative < 0) return 0;
    r->most = (int32_t)f->max_code;
    r->beyond = beyond;
    r->negative = (uint32_t)negative;
    n->run[0] = power_bytes;
    n->run[1] = power_shorts;
    return 1;
}

static int begin_words(ulp_nearest *n, const ulp_format *f, ulp_rule rule) {
    ulp_nearest_constants *const r = &n->constants;
    if (f->bits != 16 || f->prec != 8 || f->bias != 127 || code_beyond(f, rule, 0) != (int32_t)f->inf_code) return 0;
    if (!f->has_inf || !f->has_neg_zero || !f->has_subnormals || f->zero_binade) return 0;
    r->shift = 16;
    n->run[1] = word_shorts;
    return 1;
}

static int begin_anchors(ulp_nearest *n, const ulp_format *f, ulp_rule rule) {
    ulp_nearest_constants *const r = &n->constants;
    const uint32_t first = 1u << (f->prec - 1), neg_zero = f->is_signed && f->has_neg_zero ? 1u << (f->bits - 1) : 0;
    const int32_t most = (int32_t)f->max_code, beyond = code_beyond(f, rule, 0);
    const int32_t negative = f->is_signed ? 0 : code_beyond(f, rule, 1);
    if (f->emax + 25 - f->prec > 126 || f->emin < -126 || beyond < 0 || negative < 0) return 0;
    if (!f->has_subnormals && !f->zero_binade) return 0;
    const int is_nan = f->nan_codes != ULP_NAN_NONE && beyond == (int32_t)f->nan_code;
    const int is_inf = f->has_inf && beyond == (int32_t)f->inf_code && beyond == most + 1;
    const int is_any = !f->is_signed || f->zero_binade || !(beyond == most || is_inf);
    const double next = f->max + ulp_scale(1.0, f->emax - f->prec + 1); /* the magnitude of the code most + 1 */
    const uint32_t least = ulp_bits32((float)ulp_scale(1.0, f->emin)), shift = 24u - f->prec;
    *r = (ulp_nearest_constants){.least = least,
                                 .anchor = (shift << 23 | 1u << 22) - (least >> shift),
                                 .clamp = ulp_bits32((float)(beyond == most && !is_any ? f->max : next)),
                                 .shift = shift,
                                 .sign = 1u << (f->bits - 1),
                                 .sign_shift = 32u - f->bits,
                                 .most = most,
                                 .beyond = beyond,
                                 .nan = is_nan ? beyond : -1,
                                 .negative_zero = neg_zero,
                                 .negative = f->is_signed ? 1u << (f->bits - 1) : (uint32_t)negative,
                                 .negative_keeps = f->is_signed ? 0xffffffffu : 0};
    if (f->zero_binade) {
        r->skipped = (int32_t)first;
        r->first = 1;
        r->gap = ulp_bits32((float)(f->min_positive / 2));
    }
    n->run[0] = is_any ? any_bytes : neg_zero ? plain_bytes : bare_bytes;
    n->run[1] = is_any ? any_shorts : neg_zero ? plain_shorts : bare_shorts;
    return 1;
}

int ULP_CPU(ulp_nearest_begin)(ulp_nearest *r, const ulp_format *f, ulp_rule rule) {
    *r = (ulp_nearest){.limit = 0x7f800001u};
    if (f->bits > 16 || f->flushes != 0) return 0;
    if (f->taper != ULP_TAPER_NONE) return ULP_CPU(ulp_nearest_tapered)(r, f, rule);
    if (rule.mode != ULP_RNE || !f->fits_binary32) return 0;
    if (f->is_fixed) return begin_fixed(r, f, rule);
    if (!f->has_zero) return f->prec == 1 && begin_powers(r, f, rule);
    return begin_words(r, f, rule) || begin_anchors(r, f, rule);
}

int ULP_CPU(ulp_nearest_codes)(void *codes, const float *x, size_t n, unsigned width, const ulp_nearest *r) {
    return r->run[width == 16](codes, x, n, r) < r->limit;
}

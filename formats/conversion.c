/* conversion.c - the table of the conversions of hardware, and the random bits of their values. */
#include "conversion.h"

#define RS(name_, to_, overflow_, values_, bits_, ...)                                                                 \
    {                                                                                                                  \
        .name = name_, .from = "binary32", .to = to_, .mode = ULP_SRA, .overflow = overflow_, .values = values_,       \
        .bits = bits_, .tiny_bits = bits_, .word_bits = 32, __VA_ARGS__                                                \
    }
#define SHARED .first = {16, 16, 0, 0}
#define SPLIT .first = {24, 16, 8, 0}
#define SHARED4 .two_parts = 1, .first = {8, 8, 0, 0}, .upper = {24, 24, 16, 16}
#define SPLIT4 .first = {24, 8, 16, 0}
#define BIAS(name_, to_, overflow_, bits_)                                                                             \
    {                                                                                                                  \
        .name = name_, .from = "binary16", .to = to_, .mode = ULP_SRA, .overflow = overflow_, .values = 1,             \
        .bits = bits_, .tiny_bits = 8, .word_bits = 8, .first = {                                                      \
            8 - bits_                                                                                                  \
        }                                                                                                              \
    }
#define NEAREST(name_, from_, to_, overflow_)                                                                          \
    { .name = name_, .from = from_, .to = to_, .mode = ULP_RNE, .overflow = overflow_, .values = 2 }

static const ulp_conversion rows[] = {
    RS("cvt.rs.f16x2", "binary16", ULP_OVERFLOW_INF, 2, 13, .first = {16, 0}),
    RS("cvt.rs.bf16x2", "bfloat16", ULP_OVERFLOW_INF, 2, 16, .first = {16, 0}),
    RS("cvt.rs.satfinite.e4m3x4:shared", "e4m3", ULP_OVERFLOW_SAT, 4, 16, SHARED),
    RS("cvt.rs.satfinite.e4m3x4:split", "e4m3", ULP_OVERFLOW_SAT, 4, 8, SPLIT),
    RS("cvt.rs.satfinite.e5m2x4:shared", "e5m2", ULP_OVERFLOW_SAT, 4, 16, SHARED),
    RS("cvt.rs.satfinite.e5m2x4:split", "e5m2", ULP_OVERFLOW_SAT, 4, 8, SPLIT),
    RS("cvt.rs.satfinite.e3m2x4:shared", "e3m2", ULP_OVERFLOW_SAT, 4, 16, SHARED),
    RS("cvt.rs.satfinite.e3m2x4:split", "e3m2", ULP_OVERFLOW_SAT, 4, 8, SPLIT),
    RS("cvt.rs.satfinite.e2m3x4:shared", "e2m3", ULP_OVERFLOW_SAT, 4, 16, SHARED),
    RS("cvt.rs.satfinite.e2m3x4:split", "e2m3", ULP_OVERFLOW_SAT, 4, 8, SPLIT),
    RS("cvt.rs.satfinite.e2m1x4:shared", "e2m1", ULP_OVERFLOW_SAT, 4, 16, SHARED4),
    RS("cvt.rs.satfinite.e2m1x4:split", "e2m1", ULP_OVERFLOW_SAT, 4, 8, SPLIT4),
    BIAS("vcvtbiasph2bf8", "e5m2", ULP_OVERFLOW_INF, 8),
    BIAS("vcvtbiasph2bf8s", "e5m2", ULP_OVERFLOW_SAT, 8),
    BIAS("vcvtbiasph2hf8", "e4m3", ULP_OVERFLOW_NAN, 7),
    BIAS("vcvtbiasph2hf8s", "e4m3", ULP_OVERFLOW_SAT, 7),
    NEAREST("vcvtph2bf8", "binary16", "e5m2", ULP_OVERFLOW_INF),
    NEAREST("vcvtph2bf8s", "binary16", "e5m2", ULP_OVERFLOW_SAT),
    NEAREST("vcvtph2hf8", "binary16", "e4m3", ULP_OVERFLOW_NAN),
    NEAREST("vcvtph2hf8s", "binary16", "e4m3", ULP_OVERFLOW_SAT),
    NEAREST("cvt.rn.satfinite.e4m3x2", "binary32", "e4m3", ULP_OVERFLOW_SAT),
    NEAREST("cvt.rn.satfinite.e5m2x2", "binary32", "e5m2", ULP_OVERFLOW_SAT),
    {.name = "vcvtneps2bf16",
     .from = "binary32",
     .to = "bfloat16",
     .mode = ULP_RNE,
     .overflow = ULP_OVERFLOW_INF,
     .values = ULP_CONVERSION_VALUES,
     .flushes = 1},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const ulp_conversion *ulp_conversion_get(size_t i) { return i < ROWS ? &rows[i] : 0; }

const ulp_conversion *ulp_conversion_find(const char *name) {
    for (size_t i = 0; name != 0 && i < ROWS; i++) {
        size_t n = 0;
        while (name[n] != '\0' && name[n] == rows[i].name[n]) n++;
        if (name[n] == '\0' && rows[i].name[n] == '\0') return &rows[i];
    }
    return 0;
}

ulp_rule ulp_conversion_rule(const ulp_conversion *c, int tiny) {
    const ulp_rule rule = {c->mode, c->overflow, tiny ? c->tiny_bits : c->bits};
    return rule;
}

uint32_t ulp_conversion_word(const ulp_conversion *c, uint32_t v, uint32_t word, int tiny) {
    const uint32_t bits = tiny ? c->tiny_bits : c->bits, half = bits / 2, first = c->first[v];
    if (bits == 0) return 0;
    if (c->two_parts) {
        const uint32_t mask = (1u << half) - 1u;
        return ((word >> c->upper[v] & mask) << half | (word >> first & mask)) << (32 - bits);
    }
    /* a tiny result of a user's word takes the bits below the first one, too */
    const uint32_t from = first + c->bits - bits;
    return (word >> from & ((1u << bits) - 1u)) << (32 - bits);
}

double ulp_convert(const ulp_conversion *c, uint32_t v, double x, uint32_t word, const ulp_format *to) {
    const double size = x < 0.0 ? -x : x;
    const int tiny = size < to->min_normal;
    if (c->flushes && tiny) return x * 0.0;
    return ulp_round(x, to, ulp_conversion_rule(c, tiny), ulp_conversion_word(c, v, word, tiny));
}

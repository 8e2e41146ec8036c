/* verify_sample.c - the inputs of ulp verify --sample: values near the breakpoints of a format, and random bits. */
#include "verify_sample.h"

#include "formats/rng.h"

static const uint64_t sample_stream = 0x76657269; /* a stream for these inputs alone: "veri" */

/* A value near a breakpoint of the format: the value of a random code, or a point in the gap to the next value, moved
 * by up to two units in the last place of binary32 or binary64. */
static double near_breakpoint(const ulp_format *f, uint64_t seed, uint64_t i, int binary32) {
    uint64_t r0 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i),
             r1 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i + 1);
    uint64_t r2 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i + 2);
    double v = ulp_decode(r0 << 32 | r1, f);
    if (v - v != 0.0) v = f->max;
    double next = ulp_next_up(v, f);
    int where = (int)(r2 % 4); /* the value, or a quarter, the middle or three quarters of the gap */
    if (next - next == 0.0) v += (next - v) * 0.25 * where;
    int64_t nudge = (int64_t)(r2 >> 8 & 7) - 3;
    nudge = nudge < -2 || nudge > 2 ? 0 : nudge;
    if (binary32) return ulp_from_bits32(ulp_bits32((float)v) + (uint32_t)nudge);
    return ulp_from_bits64(ulp_bits64(v) + (uint64_t)nudge);
}

double verify_sample(const ulp_format *f, uint64_t seed, uint64_t i) {
    const ulp_stream s = {seed, sample_stream + 1, 0};
    const int binary32 = (i & 1) == 0 && f->fits_binary32;
    if ((i & 6) != 0) return near_breakpoint(f, seed, i, binary32);
    const uint64_t bits = (uint64_t)ulp_random_word(s, 2 * i) << 32 | ulp_random_word(s, 2 * i + 1);
    return binary32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
}

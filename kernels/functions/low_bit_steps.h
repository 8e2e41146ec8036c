/* low_bit_steps.h - the steps of numbers of one or two bits and of scaled sums, for host and device; see low_bit.h. */
#ifndef ULP_LOW_BIT_STEPS_H
#define ULP_LOW_BIT_STEPS_H

#include "formats/exact.h"
#include "formats/rng.h"
#include "low_bit.h"

ULP_C_BEGIN

/* |x| without a branch; NaN stays. */
ULP_FN float ulp_low_magnitude(float x) { return ulp_from_bits32(ulp_bits32(x) & 0x7fffffffu); }

/* y, or the quiet NaN where x is NaN. */
ULP_FN float ulp_low_quiet(float y, float x) { return x != x ? ulp_from_bits32(0x7fc00000u) : y; }

/* The mean of `count` magnitudes with this sum; 0 of none. */
ULP_FN float ulp_low_mean(double sum, double count) {
    const float mean = count == 0.0 ? 0.0f : (float)(sum / count);
    return ulp_low_quiet(mean, mean);
}

/* The threshold d of ternary numbers, from the sum of all magnitudes. */
ULP_FN float ulp_low_threshold(double sum, double count, double threshold) {
    const float d = (float)(threshold * (double)ulp_low_mean(sum, count));
    return ulp_low_quiet(d, d);
}

ULP_FN float ulp_low_value(float element, float scale) {
    const float value = element * scale;
    return ulp_low_quiet(value, value);
}

ULP_FN float ulp_low_sign(float x) { return ulp_low_quiet(x < 0.0f ? -1.0f : 1.0f, x); }

ULP_FN float ulp_low_sign_by(float x, uint32_t word) {
    const double border = (2.0 * (double)word + 1.0) * 0x1p-32 - 1.0; /* exact */
    return ulp_low_quiet((double)x > border ? 1.0f : -1.0f, x);
}

ULP_FN float ulp_low_ternary(float x, float d) { return ulp_low_magnitude(x) <= d ? 0.0f : ulp_low_sign(x); }

/* What a magnitude adds to the sum of those above the threshold, and to their number. */
ULP_FN double ulp_low_above(float x, float d) { return ulp_low_magnitude(x) <= d ? 0.0 : (double)ulp_low_magnitude(x); }
ULP_FN double ulp_low_is_above(float x, float d) { return ulp_low_magnitude(x) <= d ? 0.0 : 1.0; }

/* The scale of row or column i. */
ULP_FN float ulp_sum_scale_at(const float *scales, int is_one, size_t i) {
    return scales == NULL ? 1.0f : scales[is_one ? 0 : i];
}

/* c = start + sum times the scale of a row and a column. */
ULP_FN float ulp_scaled_sum(float start, float sum, float row, float column, float factor) {
    const float both = row * column, scale = both * factor;
    const double c = ulp_sum_to_odd((double)sum * (double)scale, (double)start);
    return c != c ? ulp_from_bits32(0x7fc00000u) : (float)c;
}

ULP_C_END
#endif

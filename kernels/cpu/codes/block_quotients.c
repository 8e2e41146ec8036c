/* block_quotients.c - scales that are no powers of two: quotients of the largest magnitudes of blocks, rounded once. */
#include "block_plan.h"

/* About times amax / divisor in binary32, from 0 to 2^60: rounded to odd at 24 bits it rounds to a scale as the
 * quotient. */
ULP_INLINE float scale_quotient(uint32_t amax, double times, double divisor) {
    const double quotient = times * (double)ulp_from_bits32(amax) / divisor,
                 least = quotient > 0x1p-60 ? quotient : 0x1p-60;
    const uint64_t u = ulp_bits64(least < 0x1p60 ? least : 0x1p60), cut = u & 0x1fffffffu;
    return amax == 0 ? 0.0f : (float)ulp_from_bits64((u - cut) | (uint64_t)(cut != 0) << 29);
}

/* The scales of blocks, where a loop serves their format. 0 if it does not serve one of the scales. */
static int scale_nearly(blocks *k, uint8_t *scales, double times, double divisor, const block_plan *p) {
    float quotient[ULP_PIECE];
    for (size_t j = 0; j < k->count; j++) {
        k->special[j] = k->most[j] >= 0x7f800000u;
        quotient[j] = k->special[j] ? 0.0f : scale_quotient(k->most[j], times, divisor);
    }
    if (!ULP_CPU(ulp_nearest_codes)(scales, quotient, k->count, 8, &p->scale_nearest)) return 0;
    for (size_t j = 0; j < k->count; j++) {
        scales[j] = scales[j] > p->least_code ? scales[j] : p->least_code;
        k->factor[j] = p->scale_values[scales[j]];
    }
    return 1;
}

ulp_status ULP_CPU(ulp_blocks_quotients)(blocks *k, uint8_t *scales, double times, double divisor,
                                         const block_plan *p) {
    const ulp_format *const f = &p->array.block->scale;
    const ulp_rounding how = {f, p->scale_rule, {0}, NULL};
    double *const scale = k->factor;
    if (!p->scale_is_nearest || !scale_nearly(k, scales, times, divisor, p)) {
        for (size_t j = 0; j < k->count; j++) {
            k->special[j] = k->most[j] >= 0x7f800000u;
            scale[j] = k->special[j] ? 0.0 : times * (double)ulp_from_bits32(k->most[j]) / divisor;
        }
        ULP_TRY(ULP_CPU(ulp_cpu_round64)(scale, scale, k->count, how));
        for (size_t j = 0; j < k->count; j++) scale[j] = scale[j] < p->least ? p->least : scale[j];
        ULP_TRY(ULP_CPU(ulp_codes_of_doubles)(scales, scale, k->count, 8, f));
    }
    for (size_t j = 0; j < k->count; j++) {
        k->special[j] |= scale[j] == 0.0;
        scale[j] *= (double)p->array.tensor_scale;
    }
    return ULP_OK;
}

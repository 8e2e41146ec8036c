/* block_steps.h - the steps of a conversion to a block-scaled format, for host and device: the numbers of a block, the
 * scale of a rule, elements, and squared errors compared exactly. See block.h.
 */
#ifndef ULP_BLOCK_STEPS_H
#define ULP_BLOCK_STEPS_H

#include "block.h"

ULP_C_BEGIN

/* The numbers that share a scale: part of an array of one of the three types. Numbers of more than 53 bits are rounded
 * to odd at 53 bits where squared errors are formed. */
typedef struct ulp_block_numbers {
    const float *x; /* one of these three */
    const double *wide;
    const ulp_exact *exact;
    ulp_block_part part;
} ulp_block_numbers;

/* Calls the statement that follows with the index `i` of each number, in the order of the array. */
#define ULP_BLOCK_EACH(p, i)                                                                                           \
    for (size_t a_ = 0; a_ < (p)->size[0]; a_++)                                                                       \
        for (size_t b_ = 0; b_ < (p)->size[1]; b_++)                                                                   \
            for (size_t i = (p)->first + a_ * (p)->stride[0] + b_ * (p)->stride[1], end_ = i + (p)->size[2]; i < end_; \
                 i++)

/* Number i, and as a binary64 number. */
ULP_FN ulp_exact ulp_block_number(const ulp_block_numbers *n, size_t i) {
    return n->x != NULL ? ulp_exact_of((double)n->x[i]) : n->wide != NULL ? ulp_exact_of(n->wide[i]) : n->exact[i];
}

ULP_FN double ulp_block_number64(const ulp_block_numbers *n, size_t i) {
    return n->x != NULL ? (double)n->x[i] : n->wide != NULL ? n->wide[i] : ulp_exact_to_odd(n->exact[i]);
}

ULP_FN int ulp_is_finite64(double x) { return (ulp_bits64(x) >> 52 & 0x7ff) != 0x7ff; }

/* The largest finite magnitude. */
ULP_FN double ulp_block_amax(const ulp_block_numbers *n) {
    uint64_t most = 0; /* a larger magnitude has larger bits */
    ULP_BLOCK_EACH(&n->part, i) {
        const uint64_t magnitude = ulp_bits64(ulp_block_number64(n, i)) & 0x7fffffffffffffffu;
        if (magnitude > most && magnitude < 0x7ff0000000000000u) most = magnitude;
    }
    return ulp_from_bits64(most);
}

/* ---- elements ---- */

/* x / divisor as a number that rounds like it to an element. The quotient is rounded to odd at 53 bits. 53 bits are
 * more than the 8 bits of an element and the 34 bits of nu and its tail. The divisor has at most 32 bits, so that the
 * remainder is exact. */
ULP_FN ulp_exact ulp_block_quotient32(float x, double divisor) {
    const double quotient = (double)x / divisor, remainder = ULP_FMA(-quotient, divisor, (double)x);
    return ulp_exact_of(ulp_to_odd(quotient, remainder));
}

/* Number i / factor. A quotient by 0 is zero for zero, else beyond every range. */
ULP_FN ulp_exact ulp_block_quotient(const ulp_block_numbers *n, size_t i, double factor) {
    if (factor == 0.0) {
        const ulp_exact x = ulp_block_number(n, i);
        return x.kind == ULP_EXACT_FINITE ? ulp_exact_pack(x.neg, 1ull << 63, 0, 0, 5000) : x;
    }
    if (n->x != NULL) return ulp_block_quotient32(n->x[i], factor);
    if (n->wide != NULL && (double)(float)n->wide[i] == n->wide[i])
        return ulp_block_quotient32((float)n->wide[i], factor);
    return ulp_exact_div(ulp_block_number(n, i), ulp_exact_of(factor));
}

/* ulp_block_element of block.h. */
ULP_FN double ulp_block_element_step(ulp_exact quotient, const ulp_format *f, ulp_rule rule, uint32_t word) {
    int clamps = rule.overflow == ULP_OVERFLOW_DEFAULT;
    if (clamps) {
        const int infinite = quotient.kind == ULP_EXACT_INF;
        rule.overflow = (uint8_t)(!infinite ? ULP_OVERFLOW_SAT : f->has_inf ? ULP_OVERFLOW_INF : ULP_OVERFLOW_NAN);
        clamps = !infinite;
    }
    const double e = ulp_round_exact(quotient, f, rule, word);
    return clamps && e < -f->max ? -f->max : e;
}

/* element * factor in binary32, rounded once. The exact product has at most 8 + 32 bits. */
ULP_FN float ulp_block_value_step(double element, double factor) {
    const double value = element * factor;
    return value != value ? ulp_from_bits32(0x7fc00000u) : (float)value;
}

/* ---- squared errors ---- */

/* A sum of products of binary64 numbers, exact: limb k counts 2^(32 k - 2304). */
enum { ULP_ERROR_LIMBS = 144, ULP_ERROR_LEAST = -2304, ULP_ERROR_MOST = 1 << 28 };
typedef struct ulp_error_sum {
    int64_t limb[ULP_ERROR_LIMBS];
    uint32_t added; /* since the last carry */
} ulp_error_sum;

/* Carries between limbs, and returns the sign of the sum: -1, 0 or 1. The last limb keeps the sign. */
ULP_FN int ulp_error_sum_sign(ulp_error_sum *s) {
    int64_t any = 0;
    for (int k = 0; k + 1 < ULP_ERROR_LIMBS; k++) {
        const int64_t digit = s->limb[k] & 0xffffffff;
        s->limb[k + 1] += (s->limb[k] - digit) / 4294967296;
        s->limb[k] = digit;
        any |= digit;
    }
    s->added = 0;
    const int64_t last = s->limb[ULP_ERROR_LIMBS - 1];
    return last < 0 ? -1 : (last | any) != 0;
}

/* Adds a b, of finite numbers. */
ULP_FN void ulp_error_sum_add(ulp_error_sum *s, double a, double b) {
    const ulp_exact x = ulp_exact_of(a), y = ulp_exact_of(b);
    if (x.kind != ULP_EXACT_FINITE || y.kind != ULP_EXACT_FINITE) return;
    uint64_t hi, lo;
    ulp_wide_mul(x.hi >> 11, y.hi >> 11, &hi, &lo); /* 53 bits each */
    const int32_t place = x.exp + y.exp + 150 - ULP_ERROR_LEAST, at = place / 32, by = place % 32;
    const uint64_t low = lo << by, middle = by == 0 ? hi : hi << by | lo >> (64 - by);
    const int64_t sign = x.neg != y.neg ? -1 : 1;
    s->limb[at] += sign * (int64_t)(low & 0xffffffffu);
    s->limb[at + 1] += sign * (int64_t)(low >> 32);
    s->limb[at + 2] += sign * (int64_t)(middle & 0xffffffffu);
    s->limb[at + 3] += sign * (int64_t)(middle >> 32); /* 106 + 31 bits: nothing lies above */
    s->limb[at + 4] += by == 0 ? 0 : sign * (int64_t)(hi >> (64 - by));
    if (++s->added >= ULP_ERROR_MOST) (void)ulp_error_sum_sign(s);
}

/* A scale with its factor, scale * tensor scale, and about the squared error of the block's values under it: a sum in
 * binary64 of rounded squares. */
typedef struct ulp_scale_error {
    double scale, factor, error;
} ulp_scale_error;

/* The value of number i under a factor, of elements to nearest. */
ULP_FN double ulp_block_nearest(const ulp_block_numbers *n, size_t i, const ulp_format *element, double factor) {
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    return ulp_block_element_step(ulp_block_quotient(n, i, factor), element, nearest, 0) * factor;
}

ULP_FN ulp_scale_error ulp_scale_error_of(const ulp_block_numbers *n, const ulp_format *element, double scale,
                                          float tensor_scale) {
    ulp_scale_error s = {scale, scale * (double)tensor_scale, 0.0};
    ULP_BLOCK_EACH(&n->part, i) {
        const double x = ulp_block_number64(n, i);
        if (!ulp_is_finite64(x)) continue;
        const double d = x - ulp_block_nearest(n, i, element, s.factor);
        s.error += d * d;
    }
    return s;
}

/* Twice the largest relative error of a sum of rounded squares. */
ULP_FN double ulp_error_doubt(const ulp_block_part *p) {
    return ((double)p->size[0] * (double)p->size[1] * (double)p->size[2] + 8.0) * 0x1p-51;
}

/* The sign of (squared error under a) - (squared error under b), exactly. Where the sums in binary64 leave doubt, it is
 * the sign of the sum of 2 x (b' - a') + a'^2 - b'^2 over the values a' and b' of the numbers x. */
ULP_FN int ulp_compare_errors(const ulp_block_numbers *n, const ulp_format *element, const ulp_scale_error *a,
                              const ulp_scale_error *b) {
    const double most = a->error > b->error ? a->error : b->error, gap = a->error - b->error;
    if (a->factor == b->factor) return 0;
    if (most > 0x1p-900 && most < 0x1p900) {
        if (gap > most * ulp_error_doubt(&n->part)) return 1;
        if (-gap > most * ulp_error_doubt(&n->part)) return -1;
    }
    if (most == 0.0 && n->x != NULL) return 0; /* squares of binary32 numbers do not underflow */
    ulp_error_sum s;
    for (int k = 0; k < ULP_ERROR_LIMBS; k++) s.limb[k] = 0;
    s.added = 0;
    ULP_BLOCK_EACH(&n->part, i) {
        const double x = ulp_block_number64(n, i);
        if (!ulp_is_finite64(x)) continue;
        const double of_a = ulp_block_nearest(n, i, element, a->factor),
                     of_b = ulp_block_nearest(n, i, element, b->factor);
        if (of_a == of_b) continue;
        ulp_error_sum_add(&s, x, 2.0 * of_b);
        ulp_error_sum_add(&s, -x, 2.0 * of_a);
        ulp_error_sum_add(&s, of_a, of_a);
        ulp_error_sum_add(&s, -of_b, of_b);
    }
    return ulp_error_sum_sign(&s);
}

/* ---- scales ---- */

/* amax * times / (divisor * tensor scale), rounded once by a rule that saturates, and at least `least`. The product of
 * divisor and tensor scale is exact in binary64: the divisor has at most 10 bits and the tensor scale 24. */
ULP_FN double ulp_scale_quotient(ulp_exact amax, double times, double divisor, const ulp_format *f, ulp_rule rule,
                                 double least) {
    const ulp_exact number = times == 1.0 ? amax : ulp_exact_mul(amax, ulp_exact_of(times));
    const double scale = ulp_round_exact(ulp_exact_div(number, ulp_exact_of(divisor)), f, rule, 0);
    return scale < least ? least : scale;
}

/* ulp_scale_rounding of block.h. */
ULP_FN ulp_rule ulp_scale_rounding_step(uint32_t rule) {
    const uint8_t mode = rule == ULP_SCALE_FLOOR                              ? ULP_RZ
                         : rule == ULP_SCALE_CEIL || rule == ULP_SCALE_NOCLIP ? ULP_RU
                                                                              : ULP_RNE;
    const ulp_rule rounding = {mode, ULP_OVERFLOW_SAT, 0};
    return rounding;
}

/* The scale by a rule that needs the amax alone. The divisor of the rule even is 2^emax (1 - 2^-(p+1)). With this
 * divisor the power of two changes where rounding to p bits changes it: in the middle between the last p-bit value of a
 * binade and the next binade. */
ULP_FN double ulp_scale_of_amax(ulp_exact amax, const ulp_block *b, float tensor_scale) {
    const ulp_format *e = &b->element, *s = &b->scale;
    const int is_power = s->prec == 1;
    ulp_rule rule = ulp_scale_rounding_step(b->rule);
    double divisor = e->max, times = 1.0;
    if (is_power && b->rule == ULP_SCALE_TE) rule.mode = ULP_RU;
    if (is_power && b->rule <= ULP_SCALE_EVEN) {
        divisor = ulp_scale(1.0, ulp_exact_of(e->max).exp + 127); /* 2^emax */
        if (b->rule == ULP_SCALE_EVEN) {
            divisor -= ulp_scale(divisor, -(e->is_fixed ? e->bits - e->is_signed : e->prec) - 1);
            rule.mode = ULP_RZ;
        }
    }
    if (b->rule == ULP_SCALE_UP17) {
        amax = ulp_exact_of(ulp_exact_to_odd(amax));
        times = 17.0;
        divisor *= 16.0;
    }
    return ulp_scale_quotient(amax, times, divisor * (double)tensor_scale, s, rule,
                              b->rule == ULP_SCALE_TE && !is_power ? 0 : s->min_positive);
}

/* The rule mse46. */
ULP_FN double ulp_scale_of_two(const ulp_block_numbers *n, double amax, const ulp_block *b, float tensor_scale) {
    const ulp_format *const s = &b->scale;
    const ulp_rule rule = ulp_scale_rounding_step(ULP_SCALE_MSE46);
    const double max = b->element.max * (double)tensor_scale;
    const double six = ulp_scale_quotient(ulp_exact_of(amax), 1.0, max, s, rule, s->min_positive),
                 four = ulp_scale_quotient(ulp_exact_of(amax), 3.0, 2.0 * max, s, rule, s->min_positive);
    if (four == six) return six;
    const ulp_scale_error of_six = ulp_scale_error_of(n, &b->element, six, tensor_scale),
                          of_four = ulp_scale_error_of(n, &b->element, four, tensor_scale);
    return ulp_compare_errors(n, &b->element, &of_six, &of_four) > 0 ? four : six;
}

/* The largest scale that the rule best has to try: larger ones make every element zero, and so does this one. */
ULP_FN double ulp_largest_tried(double amax, const ulp_block *b, float tensor_scale) {
    const ulp_format *const e = &b->element, *const s = &b->scale;
    const ulp_rule up = {ULP_RU, ULP_OVERFLOW_SAT, 0};
    if (!e->has_zero || !e->has_subnormals || e->taper != ULP_TAPER_NONE || e->flushes != 0) return s->max;
    return ulp_scale_quotient(ulp_exact_of(amax), 2.0, e->min_positive * (double)tensor_scale, s, up, s->min_positive);
}

/* The rule best. Where a smaller scale clips the amax, the error of the amax alone ends the search: it only grows. */
ULP_FN double ulp_scale_of_all(const ulp_block_numbers *n, double amax, const ulp_block *b, float tensor_scale) {
    const ulp_format *const s = &b->scale;
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0}, down = {ULP_RZ, ULP_OVERFLOW_SAT, 0};
    const double least = s->min_positive, t = (double)tensor_scale;
    if (amax == 0.0) return least;
    if (ulp_block_element_step(ulp_exact_div(ulp_exact_of(amax), ulp_exact_of(least * t)), &b->element, nearest, 0) ==
        0.0)
        return least;
    double scale = ulp_largest_tried(amax, b, tensor_scale);
    ulp_scale_error best = ulp_scale_error_of(n, &b->element, scale, tensor_scale);
    while (scale > least) {
        const double next = ulp_round_exact(ulp_exact_of(scale * (1.0 - 0x1p-20)), s, down, 0);
        scale = next < least ? least : next;
        const double clipped = amax - b->element.max * (scale * t);
        const int is_exact = n->x != NULL || best.error > 0x1p-900; /* no square underflows */
        if (is_exact && clipped > 0.0 &&
            clipped * clipped * (1.0 - 0x1p-40) > best.error * (1.0 + ulp_error_doubt(&n->part)))
            break;
        const ulp_scale_error tried = ulp_scale_error_of(n, &b->element, scale, tensor_scale);
        if (ulp_compare_errors(n, &b->element, &best, &tried) > 0) best = tried;
    }
    return best.scale;
}

/* The scale of a block, whose largest finite magnitude is `amax`. */
ULP_FN double ulp_block_scale_step(const ulp_block_numbers *n, ulp_exact amax, const ulp_block *b, float tensor_scale) {
    if (b->rule == ULP_SCALE_MSE46) return ulp_scale_of_two(n, ulp_exact_to_odd(amax), b, tensor_scale);
    if (b->rule == ULP_SCALE_BEST) return ulp_scale_of_all(n, ulp_exact_to_odd(amax), b, tensor_scale);
    return ulp_scale_of_amax(amax, b, tensor_scale);
}

ULP_C_END
#endif

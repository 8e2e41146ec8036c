/* datapath.c - derivation of the second group of fields of a datapath, and the codes of its results. */
#include "datapath.h"
#include "multiword.h"
#include "split_k.h"

static ulp_status init_fused(ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    const int fits = f->length >= 1 && f->length <= (f->late ? ULP_STEP_MAX / 2 : ULP_STEP_MAX) && f->fraction <= 40 &&
                     f->kept >= 1 && f->kept < d->accumulator.prec;
    const int grouped = f->group != 0 || d->scale_block != 0;
    if (!d->has_inputs || !fits) return ULP_NOT_IN_RANGE;
    if (grouped &&
        (d->scale_block == 0 || f->length % d->scale_block != 0 || (f->group == 0 && f->length != d->scale_block)))
        return ULP_NOT_IN_RANGE;
    if (f->c_last && (f->late || grouped)) return ULP_UNSUPPORTED;
    if (f->join == 0 && (f->normal != 0 || f->parts != 0 || f->c_cut)) return ULP_NOT_IN_RANGE;
    if (f->join != 0) {
        const int meets =
            f->fraction <= f->join && f->join <= f->fraction + 12 && f->normal >= 1 && f->normal <= f->join;
        if (!meets || f->parts < 1 || f->parts > 2) return ULP_NOT_IN_RANGE;
        if (grouped || f->late || f->c_last || f->floor != ULP_NO_EXPONENT) return ULP_UNSUPPORTED;
    }
    if (f->group != 0 && (f->length % f->group != 0 || d->scale_block % f->group != 0)) return ULP_NOT_IN_RANGE;
    d->step = f->late ? 2u * f->length : f->length;
    d->rounded = d->accumulator;
    d->rounded.prec = (uint8_t)(f->kept + 1);
    d->rounded.bits = (uint8_t)(d->rounded.bits - (d->accumulator.prec - d->rounded.prec));
    ulp_status status = ulp_format_init(&d->rounded);
    /* fp16 units take fp8 values as fp16 numbers, in which fp8 subnormals are normal */
    d->a_prec = f->late ? 11 : d->a.prec;
    d->b_prec = f->late ? 11 : d->b.prec;
    d->a_emin = f->late ? -14 : d->a.emin;
    d->b_emin = f->late ? -14 : d->b.emin;
    return status;
}

static ulp_status init_chains(ulp_datapath *d) {
    const ulp_chains *s = &d->chains;
    const uint32_t set = (uint32_t)s->term * s->lanes * (s->swapped ? 2u : 1u);
    if (!d->has_inputs || s->term < 1 || s->lanes < 1 || (s->lanes & (s->lanes - 1)) != 0 || s->length < 1 ||
        s->length > ULP_STEP_MAX || s->length % set != 0 || s->flush_ab > ULP_FLUSH_POSITIVE ||
        s->flush_c > ULP_FLUSH_POSITIVE || s->flush > ULP_FLUSH_ROUNDED || s->shift > 127)
        return ULP_NOT_IN_RANGE;
    if (ulp_mode_is_stochastic(d->rule.mode) || d->accumulator.is_fixed) return ULP_UNSUPPORTED;
    d->step = s->length;
    return ULP_OK;
}

/* Sums of two products of 8-bit integers are below 2^17, and instructions have whole pairs. */
static ulp_status check_pairs(const ulp_datapath *d) {
    const ulp_format *a = &d->a, *b = &d->b;
    if (d->length % 2 != 0 || d->pairs_wrap > 1) return ULP_NOT_IN_RANGE;
    const int bytes = d->has_inputs && a->is_fixed && b->is_fixed && a->bits <= 8 && b->bits <= 8;
    const int whole = bytes && a->frac_bits == 0 && b->frac_bits == 0 && d->accumulator.is_fixed;
    return whole && d->zero_a == 0 && d->zero_b == 0 && d->promote == 0 ? ULP_OK : ULP_UNSUPPORTED;
}

/* Operands with words are binary32 values. word_a and word_b get the unit's formats. */
static ulp_status init_words(ulp_datapath *d) {
    if (d->words > ULP_WORDS_MAX || d->words_small_first > 1 || d->words_cut > 1) return ULP_NOT_IN_RANGE;
    if (!d->has_inputs || d->a.is_fixed || d->scale_block != 0) return ULP_UNSUPPORTED;
    if (ulp_format_equal(&d->a, &ulp_binary32)) return ULP_OK;
    d->word_a = d->a;
    d->word_b = d->b;
    d->a = d->b = ulp_binary32;
    return ULP_OK;
}

/* The values of parts and results have to fit the format in which they are added. */
static ulp_status init_split_k(ulp_datapath *d) {
    const ulp_format *part = &d->split_k_format;
    if (d->split_k > ULP_SPLIT_K_MAX) return ULP_NOT_IN_RANGE;
    if (d->words != 0 || ulp_mode_is_stochastic(d->rule.mode)) return ULP_UNSUPPORTED;
    if (d->result.fits_binary32 && !part->fits_binary32) return ULP_UNSUPPORTED;
    d->split_k_total = d->result.fits_binary32 ? ulp_binary32 : ulp_binary64;
    return ulp_rule_check(part, (ulp_rule){0});
}

ulp_status ulp_datapath_init(ulp_datapath *d) {
    if (d == NULL || d->kind >= ULP_NATIVE) return ULP_BAD_ARGUMENT;
    if (d->length == 0) d->length = 1;
    d->step = d->kind == ULP_SERIAL || d->kind == ULP_PAIRS ? d->length : 1;
    if (d->step > ULP_STEP_MAX) return ULP_NOT_IN_RANGE;
    ulp_status status = ulp_rule_check(&d->accumulator, d->rule);
    if (status == ULP_OK && d->kind == ULP_PAIRS) status = check_pairs(d);
    if (status == ULP_OK && d->kind == ULP_ALIGNED) status = init_fused(d);
    if (status == ULP_OK && d->kind == ULP_CHAINS) status = init_chains(d);
    if (status == ULP_OK && d->promote != 0) {
        if (d->kind == ULP_CHUNKED) return ULP_UNSUPPORTED; /* the sums of chunks already have an outer sum */
        if (d->promote % d->step != 0) return ULP_NOT_IN_RANGE;
        if (!d->accumulator.fits_binary32) return ULP_UNSUPPORTED;
        d->result = ulp_binary32;
        if (d->nan_code != 0) d->nan_code = 0x7fffffffu;
    } else {
        d->result = d->accumulator;
    }
    if (status == ULP_OK && (d->words_small_first || d->words_cut) && d->words == 0) return ULP_NOT_IN_RANGE;
    if (status == ULP_OK && d->words != 0) status = init_words(d);
    return status == ULP_OK && d->split_k != 0 ? init_split_k(d) : status;
}

uint64_t ulp_datapath_words(const ulp_datapath *d, uint64_t k) {
    if (!ulp_mode_is_stochastic(d->rule.mode)) return 0;
    switch (d->kind) {
    case ULP_SERIAL: return (k + d->length - 1) / d->length;
    case ULP_SPLIT:
    case ULP_PAIRWISE: return 2 * k;
    case ULP_CHUNKED: return k + (k + d->length - 1) / d->length;
    case ULP_KAHAN: return 4 * k;
    case ULP_EXACT: return d->promote == 0 ? 1 : (k + d->promote - 1) / d->promote;
    default: return 0;
    }
}

ulp_status ulp_datapath_code(uint64_t *code, double result, const ulp_datapath *d) {
    if (code == NULL || d == NULL) return ULP_BAD_ARGUMENT;
    if (result != result && d->nan_code != 0) {
        *code = d->nan_code;
        return ULP_OK;
    }
    return ulp_encode(code, result, &d->result);
}

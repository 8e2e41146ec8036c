/* datapaths.c - names of datapaths with their settings: the canonical text, the reason of a refusal, a sum. */
#include "kernels/products/datapath.h"
#include "tests/proofs/fuzz/support/fuzz.h"

static int is_valid(const char *text) {
    ulp_datapath d;
    return ulp_datapath_parse(&d, text) == ULP_OK;
}

/* Whether two datapaths have the same fields. Bytes between the fields have no meaning. */
static int has_same_sum(const ulp_datapath *x, const ulp_datapath *y) {
    const ulp_fused *f = &x->fused, *g = &y->fused;
    return f->length == g->length && f->fraction == g->fraction && f->kept == g->kept && f->align == g->align &&
           f->output == g->output && f->c_last == g->c_last && f->late == g->late && f->group == g->group &&
           f->signed_zero == g->signed_zero && f->floor == g->floor && f->zero_operand == g->zero_operand &&
           f->zero_product == g->zero_product && f->zero_c == g->zero_c && f->join == g->join &&
           f->normal == g->normal && f->parts == g->parts && f->c_cut == g->c_cut &&
           memcmp(&x->chains, &y->chains, sizeof x->chains) == 0;
}

static int has_same_formats(const ulp_datapath *x, const ulp_datapath *y) {
    return ulp_format_equal(&x->accumulator, &y->accumulator) && ulp_format_equal(&x->a, &y->a) &&
           ulp_format_equal(&x->b, &y->b) && ulp_format_equal(&x->scale, &y->scale) &&
           ulp_format_equal(&x->word_a, &y->word_a) && ulp_format_equal(&x->word_b, &y->word_b) &&
           ulp_format_equal(&x->split_k_format, &y->split_k_format) &&
           ulp_format_equal(&x->split_k_total, &y->split_k_total) && ulp_format_equal(&x->result, &y->result) &&
           ulp_format_equal(&x->rounded, &y->rounded);
}

static int is_same(const ulp_datapath *x, const ulp_datapath *y) {
    return strcmp(x->name, y->name) == 0 && x->kind == y->kind && x->rule.mode == y->rule.mode &&
           x->rule.overflow == y->rule.overflow && x->rule.random_bits == y->rule.random_bits &&
           x->length == y->length && x->promote == y->promote && x->has_inputs == y->has_inputs &&
           x->split_k == y->split_k && x->pairs_wrap == y->pairs_wrap && x->words == y->words &&
           x->words_cut == y->words_cut && x->words_small_first == y->words_small_first && x->zero_a == y->zero_a &&
           x->zero_b == y->zero_b && x->scale_block == y->scale_block && x->native == y->native &&
           x->nan_code == y->nan_code && x->step == y->step && x->a_prec == y->a_prec && x->b_prec == y->b_prec &&
           x->a_emin == y->a_emin && x->b_emin == y->b_emin && has_same_sum(x, y) && has_same_formats(x, y);
}

/* A sum of a few products has a value of the result's format. */
static void check_sum(const ulp_datapath *d) {
    enum { K = 9 };
    double a[K], b[K], scales[K];
    uint64_t code;
    const ulp_format any = d->accumulator;
    const ulp_format *fa = d->has_inputs ? &d->a : &any, *fb = d->has_inputs ? &d->b : &any;
    for (int i = 0; i < K; i++) {
        a[i] = ulp_round(i % 3 ? 1.5 * i : -1.25, fa, (ulp_rule){0}, 0);
        b[i] = ulp_round(i % 2 ? 1.25 : -1e30, fb, (ulp_rule){0}, 0);
        scales[i] = 1;
    }
    const double c = ulp_round(-0.75, &d->result, (ulp_rule){0}, 0);
    for (size_t k = 0; k <= K; k += 3) {
        const int scaled = d->scale_block > 0;
        const double y = ulp_dot(d, c, (ulp_products){a, b, k, scaled ? scales : NULL, scaled ? scales : NULL},
                                 (ulp_stream){1, 2, 3});
        fuzz_check(y != y || ulp_datapath_code(&code, y, d) == ULP_OK, "%s: the sum %a of %zu products has no code",
                   d->name, y, k);
    }
    fuzz_check(ulp_datapath_words(d, K) <= 1000 * K, "%s: %llu random words", d->name,
               (unsigned long long)ulp_datapath_words(d, K));
}

static void run(const uint8_t *data, size_t size) {
    const char *text = fuzz_text(data, size);
    ulp_error why;
    char printed[ULP_DATAPATH_NAME_MAX];
    ulp_datapath d, before, again;
    memset(&d, 0x5a, sizeof d);
    before = again = d;
    const ulp_status status = ulp_datapath_parse(&d, text);
    ulp_datapath_explain(&why, text);
    fuzz_check(strlen(why.text) < ULP_EXPLAIN_MAX, "'%s': the reason has no end", text);
    if (status != ULP_OK) {
        fuzz_check_status(status, "a reason is not always there", text);
        fuzz_check(memcmp(&d, &before, sizeof d) == 0, "'%s' is refused, but the datapath was written", text);
        return;
    }
    fuzz_passed();
    fuzz_check(!*why.text, "'%s' is a datapath, and yet: %s", text, why.text);
    fuzz_check(ulp_datapath_print(printed, sizeof printed, &d) == ULP_OK, "'%s' cannot be printed", d.name);
    fuzz_check(strcmp(printed, d.name) == 0, "'%s' has the name '%s' and is printed '%s'", text, d.name, printed);
    fuzz_check(ulp_datapath_parse(&again, printed) == ULP_OK, "'%s' is '%s', which is refused", text, printed);
    fuzz_check(is_same(&d, &again), "'%s' is '%s', which is another datapath", text, printed);
    check_sum(&d);
}

static void seeds(void) {
    static const char forms[] =
        "serial:fp16:sr/8 chunk64:e4m3:inf:rne block4:bf16:rz kahan:bf16:sr pairwise:fp16:rne:promote=16 "
        "exact:fp64:src/1 split:e5m2:sat:ru int8:za=-255:zb=255 int8:sat:za=1 fp32:promote=7 "
        "h100-fp16:L=64:F=40:kept=1 h100-fp16:align=rd:output=rne:floor=none "
        "h100-bf16:signed_zero=1:zero_operand=-126:zero_product=5 h100-e4m3-mma:L=32:promote=128 serial:posit16:rne "
        "exact:takum16:rd serial:cfloat8_1_4_3:bias=3:rne h100-fp16:zero_c=-1000 native:f16c native:avx512-bf16 "
        "serial:q8.8:wrap:rd serial:fp16:rne:split-k=2:fp16 h100-fp16:split-k=4:e4m3:sat:F=20 "
        "uint8.int8:zero-points=3,-4 "
        "maddubs-int8 maddubs-int8-wrap uint8:sat:za=128";
    ulp_datapath d;
    for (size_t i = 0; ulp_datapath_get(i, &d) == ULP_OK; i++) fuzz_seed_text("%s", d.name);
    fuzz_seed_words(forms);
}

const fuzz_target fuzz_target_datapaths = {FUZZ_TEXT("datapaths", 128, 1 << 16, 2)};

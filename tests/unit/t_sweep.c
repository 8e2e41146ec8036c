/* t_sweep.c - the sweep by runs: its hash, its runs against a plain list of them, and planted faults in windows. */
#include "support.h"

#include <inttypes.h>

#include "kernels/mpfr/reference.h"
#include "tests/proofs/exhaustive/faults.h"

/* ---- SHA-256 ---- */

static void hash_is(const char *text, size_t length, size_t part, const char *want) {
    sha256 s;
    char got[SHA256_TEXT];
    sha256_begin(&s);
    for (size_t at = 0; at < length; at += part) sha256_add(&s, text + at, length - at < part ? length - at : part);
    sha256_end(&s, got);
    assert_string_equal(got, want);
}

/* FIPS 180-4's examples (csrc.nist.gov, SHA256.pdf), the empty text, and a million letters a (FIPS 180-2, B.3). */
TEST(hash) {
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    hash_is("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_is("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t part = 1; part <= 56; part++)
        hash_is(two, 56, part, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    hash_is(million, 1000000, 4097, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

/* ---- the order of the inputs ---- */

TEST(line) {
    uint64_t inputs = 0;
    double before = -INFINITY;
    for (size_t i = 0; i < SWEEP_SPANS; i++) {
        const sweep_span *s = &sweep_line[i];
        const double first = (double)ulp_from_bits32(s->first),
                     last = (double)ulp_from_bits32(sweep_word(s, s->count - 1));
        inputs += s->count;
        if (i < 4) {
            assert_true(first >= before && last >= first);
            before = last;
        } else assert_true(isnan(first) && isnan(last));
    }
    assert_true(inputs == (uint64_t)1 << 32);
    assert_int_equal(sweep_word(&sweep_line[1], sweep_line[1].count - 1), 0x80000000u);
    assert_int_equal(sweep_word(&sweep_line[2], sweep_line[2].count - 1), 0x7f7fffffu);
    assert_int_equal(sweep_word(&sweep_line[4], sweep_line[4].count - 1), 0x7fffffffu);
    assert_int_equal(sweep_word(&sweep_line[5], sweep_line[5].count - 1), 0xffffffffu);
}

/* ---- the runs ---- */

enum { INPUTS = 1 << 17 };

typedef struct listed {
    ulp_reference *reference;
    ulp_format format;
    ulp_rule rule;
    char *text;
    size_t length;
    uint64_t runs;
} listed;

static ulp_status round_right(void *context, void *y, const void *x, size_t n) {
    const listed *l = context;
    for (size_t i = 0; i < n; i++) {
        const double from = l->format.fits_binary32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
        const double to = ulp_round(from, &l->format, l->rule, 0);
        if (l->format.fits_binary32) ((float *)y)[i] = (float)to;
        else ((double *)y)[i] = to;
    }
    return ULP_OK;
}

static double right(void *context, double x) {
    const listed *l = context;
    return ulp_reference_round(l->reference, x, 0.0, l->rule, 0);
}

static void keep_list(void *context, const char *lines, size_t length) {
    listed *l = context;
    l->text = realloc(l->text, l->length + length + 1);
    assert_non_null(l->text);
    memcpy(l->text + l->length, lines, length);
    l->length += length;
    l->text[l->length] = '\0';
}

/* The list of runs by the definition in sweep.h, from arrays of all results: link[i] says how i and i + 1 belong. */
static char *plain_list(const listed *l, const sweep_span *span) {
    const sweep_question q = {.format = &l->format, .wraps = l->rule.overflow == ULP_OVERFLOW_WRAP};
    const uint32_t n = span->count;
    uint64_t *y = malloc((n + 2) * sizeof *y);
    char *own = calloc(n + 2, 1), *constant = calloc(n + 2, 1), *text = malloc((size_t)n * 48 + 1), *to = text;
    assert_true(y && own && constant && text);
    const int digits = l->format.fits_binary32 ? 8 : 16;
    for (uint32_t i = 0; i < n; i++) {
        const double x = (double)ulp_from_bits32(sweep_word(span, i)), r = ulp_round(x, &l->format, l->rule, 0),
                     e = sweep_exact(&q, x);
        y[i] = digits == 8 ? ulp_bits32((float)r) : ulp_bits64(r);
        own[i] = y[i] == (digits == 8 ? ulp_bits32((float)e) : ulp_bits64(e));
    }
    for (uint32_t i = 0; i + 1 < n; i++)
        if (y[i] == y[i + 1]) constant[i] = constant[i + 1] = 1;
    *to = '\0';
    for (uint32_t i = 0, end; i < n; i = end) {
        end = i + 1;
        if (constant[i])
            while (end < n && y[end] == y[i]) end++;
        else
            while (own[i] && end < n && own[end] && !constant[end]) end++;
        to += sprintf(to, "%08" PRIx32 " %08" PRIx32 " %0*" PRIx64, sweep_word(span, i), sweep_word(span, end - 1),
                      digits, y[i]);
        if (!constant[i] && end - i > 1) to += sprintf(to, " %0*" PRIx64, digits, y[end - 1]);
        to += sprintf(to, "\n");
    }
    free(y);
    free(own);
    free(constant);
    return text;
}

/* For every registered format, mode and policy: spans around 1, the ends of the range and the ends of binary32. */
TEST(runs) {
    listed l = {.text = NULL};
    size_t cases = 0;
    for (size_t i = 0; i < ulp_format_count; i++) {
        assert_ok(ulp_format_get(i, &l.format, NULL));
        l.reference = ulp_reference_new(&l.format);
        for (int mode = ULP_RNE; mode <= ULP_RO; mode++)
            for (int policy = ULP_OVERFLOW_DEFAULT;
                 policy <= (l.format.is_fixed ? ULP_OVERFLOW_WRAP : ULP_OVERFLOW_NAN); policy++) {
                const uint32_t max = l.format.max < 0x1p127 ? ulp_bits32((float)l.format.max) : 0x7f7ff000u;
                const sweep_span spans[] = {{0x3f7ff000u, 3000, 1},  {0xbf800fffu, 3000, -1},
                                            {max - 900, 2000, 1},    {(max | 0x80000000u) + 1100, 2000, -1},
                                            {0x800003ffu, 1024, -1}, {0, 777, 1},
                                            {0xff800001u, 300, 1},   {0x5effff00u, 600, 1},
                                            {0x477fff00u, 600, 1}};
                for (size_t k = 0; k < COUNT_OF(spans); k++, cases++) {
                    sweep_result r;
                    const sweep_span *span = &spans[k];
                    l.rule = (ulp_rule){(uint8_t)mode, (uint8_t)policy, 0};
                    l.length = 0;
                    const sweep_question q = {.format = &l.format,
                                              .wraps = policy == ULP_OVERFLOW_WRAP,
                                              .wide = !l.format.fits_binary32,
                                              .round = round_right,
                                              .rounder = &l,
                                              .oracle = right,
                                              .judge = &l,
                                              .list = keep_list,
                                              .context = &l,
                                              .spans = span,
                                              .count = 1};
                    assert_ok(sweep_inputs(&q, &r));
                    char *want = plain_list(&l, span);
                    if (r.mismatches != 0 || strcmp(l.text, want) != 0)
                        fail_msg("%s %s %s: inputs from %08x: %llu mismatches, runs %.200s, not %.200s", l.format.name,
                                 ulp_mode_name((ulp_mode)mode), ulp_overflow_name((ulp_overflow)policy),
                                 (unsigned)span->first, (unsigned long long)r.mismatches, l.text, want);
                    assert_true(r.inputs == span->count && r.wrong_runs == 0);
                    free(want);
                }
            }
        ulp_reference_free(l.reference);
    }
    free(l.text);
    print_message("%zu lists\n", cases);
    assert_true(cases > 9 * 900);
}

/* ---- planted faults ---- */

/* In its window a fault gives as many wrong results by runs as by the plain sweep, and no fault none. */
TEST(faults) {
    for (size_t i = 0; i < FAULTS; i++) {
        faulty by = fault_case(&faults[i]);
        uint64_t plainly = 0;
        sweep_result r;
        assert_ok(fault_sweep(&faults[i].window, 1, &by, &r));
        if (r.mismatches != 0)
            fail_msg("%s: %llu mismatches without the fault", faults[i].what, (unsigned long long)r.mismatches);
        by.change = faults[i].change;
        assert_ok(fault_sweep(&faults[i].window, 1, &by, &r));
        assert_ok(fault_plain(&faults[i].window, i, 1, &plainly));
        print_message("%s: %llu wrong results, %llu wrong runs of %llu\n", faults[i].what, (unsigned long long)plainly,
                      (unsigned long long)r.wrong_runs, (unsigned long long)r.runs);
        if (plainly == 0 || r.mismatches != plainly || r.wrong_runs == 0)
            fail_msg("%s: %llu wrong results by runs, %llu by the plain sweep", faults[i].what,
                     (unsigned long long)r.mismatches, (unsigned long long)plainly);
    }
}

TESTS(NULL, NULL)

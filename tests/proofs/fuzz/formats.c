/* formats.c - names of formats, block formats, modes, overflow policies and operations. */
#include "formats/block.h"
#include "tests/proofs/fuzz/support/fuzz.h"

static int is_valid(const char *text) {
    ulp_format f;
    ulp_block b;
    return ulp_format_parse(&f, text) == ULP_OK || ulp_block_parse(&b, text) == ULP_OK;
}

static int same_number(double a, double b) { return ulp_bits64(a) == ulp_bits64(b) || (a != a && b != b); }

/* Whether the suffixes of the format change the value x of the format: a subnormal that is flushed, a lowest value that
 * is not reached by symmetric saturation. */
static int is_changed(const ulp_format *f, double x) {
    const double size = x < 0 ? -x : x;
    return (f->flushes != 0 && size < f->min_normal) || (f->overflow == ULP_OVERFLOW_SYM && -x > f->max);
}

/* Every code has a value that has this code's value again, and rounding leaves the value as it is. */
static void check_code(const ulp_format *f, uint64_t code) {
    uint64_t again = 0;
    code &= f->bits == 64 ? UINT64_MAX : ((uint64_t)1 << f->bits) - 1;
    const double x = ulp_decode(code, f);
    fuzz_check(ulp_encode(&again, x, f) == ULP_OK && same_number(ulp_decode(again, f), x),
               "%s: code %llx is %a, which has no code of this value", f->name, (unsigned long long)code, x);
    if (x != x) return;
    for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
        const double y = ulp_round(x, f, (ulp_rule){(uint8_t)mode, ULP_OVERFLOW_DEFAULT, 0}, 0x9e3779b9u);
        fuzz_check(same_number(x, y) || x - x != 0 || is_changed(f, x), "%s: %s rounds the value %a to %a", f->name,
                   ulp_mode_name((ulp_mode)mode), x, y);
    }
    const double up = ulp_next_up(x, f), down = ulp_next_down(x, f);
    fuzz_check(up > x || x == f->max || x - x != 0 || up != up, "%s: above %a comes %a", f->name, x, up);
    fuzz_check(down < x || x == f->lowest || x - x != 0 || down != down, "%s: below %a comes %a", f->name, x, down);
    fuzz_check(ulp_spacing(x, f) > 0 || x - x != 0, "%s: spacing %a at %a", f->name, ulp_spacing(x, f), x);
}

static void check_format(const char *text) {
    ulp_format f, again;
    char letters[65];
    memset(&f, 0x5a, sizeof f);
    memset(&again, 0x5a, sizeof again);
    const ulp_status status = ulp_format_parse(&f, text);
    fuzz_check_status(status, "a status has no sentence of its own", text);
    if (status == ULP_NOT_IN_RANGE)
        fuzz_check(*ulp_format_limits(text), "'%s' is out of range, and has no limits", text);
    if (status != ULP_OK) return;
    fuzz_passed();
    fuzz_check(strlen(f.name) < ULP_NAME_MAX, "'%s': the name has no end", text);
    fuzz_check(ulp_format_parse(&again, f.name) == ULP_OK, "'%s' is '%s', which is refused", text, f.name);
    fuzz_check(memcmp(&f, &again, sizeof f) == 0, "'%s' is '%s', which is another format", text, f.name);
    fuzz_check(ulp_format_init(&again) == ULP_OK && ulp_format_holds(&f, &f), "'%s' is no format", f.name);
    for (uint64_t i = 0; i < 4; i++) check_code(&f, i);
    for (int bit = 1; bit < f.bits; bit++) {
        check_code(&f, (uint64_t)1 << bit);
        check_code(&f, ((uint64_t)1 << bit) - 1);
        check_code(&f, 0x9e3779b97f4a7c15u << bit);
        check_code(&f, ~(uint64_t)0 << bit);
    }
    check_code(&f, f.max_code);
    ulp_code_letters(letters, f.max_code, &f);
    fuzz_check(strlen(letters) == f.bits, "'%s': %zu letters for %d bits", f.name, strlen(letters), f.bits);
    const double x = ulp_round(1e300, &f, (ulp_rule){0}, 0);
    check_code(&f, ulp_encode(&(uint64_t){0}, x, &f) == ULP_OK);
}

static void check_block(const char *text) {
    ulp_block b, before, again;
    memset(&b, 0x5a, sizeof b);
    before = again = b;
    const ulp_status status = ulp_block_parse(&b, text);
    if (status != ULP_OK) {
        fuzz_check(memcmp(&b, &before, sizeof b) == 0, "'%s' is refused, but the block format was written", text);
        return;
    }
    fuzz_passed();
    fuzz_check(ulp_block_parse(&again, b.name) == ULP_OK && memcmp(&b, &again, sizeof b) == 0,
               "'%s' is '%s', which is another block format", text, b.name);
    fuzz_check(ulp_block_check(&b) == ULP_OK, "'%s' is no block format", b.name);
}

static void check_words(const char *text) {
    ulp_mode mode;
    ulp_overflow overflow;
    ulp_op op;
    if (ulp_mode_parse(&mode, text) == ULP_OK) {
        ulp_mode again;
        fuzz_check(mode < ULP_MODE_COUNT && ulp_mode_parse(&again, ulp_mode_name(mode)) == ULP_OK && again == mode,
                   "mode '%s'", text);
    }
    if (ulp_overflow_parse(&overflow, text) == ULP_OK) {
        ulp_overflow again;
        fuzz_check(overflow < ULP_OVERFLOW_COUNT && ulp_overflow_parse(&again, ulp_overflow_name(overflow)) == ULP_OK &&
                       again == overflow,
                   "overflow policy '%s'", text);
    }
    if (ulp_op_parse(&op, text) == ULP_OK) fuzz_check((int)op >= 0, "operation '%s'", text);
}

static void run(const uint8_t *data, size_t size) {
    const char *text = fuzz_text(data, size);
    check_format(text);
    check_block(text);
    check_words(text);
}

static void seeds(void) {
    static const char families[] = "e5m10:sat e4m3:nan e8m7:inf e4m11 e4m3ieee q4.12:wrap uq8.8 q1.15:sat binary8p3 "
                                   "binary8p3uf binary6p2se posit16 posit32_1 takum32 hif8 e5m2:nosub "
                                   "cfloat8_1_4_3:bias=3 cfloat8_1_5_2:bias=20:sat E4M3FN q20.12 e11m52 e3m2:ftz";
    const ulp_format_row *row;
    ulp_block b;
    for (size_t i = 0; ulp_format_get(i, NULL, &row) == ULP_OK; i++) {
        fuzz_seed_text("%s", row->name);
        fuzz_seed_words(row->aliases);
    }
    for (size_t i = 0; ulp_block_get(i, &b, &row) == ULP_OK; i++) {
        fuzz_seed_text("%s:%s", b.name, ulp_scale_rule_name((ulp_scale_rule)(i % ULP_SCALE_RULE_COUNT)));
        fuzz_seed_words(row->aliases);
    }
    fuzz_seed_words(families);
    for (int i = 0; i < ULP_MODE_COUNT; i++) fuzz_seed_text("%s", ulp_mode_name((ulp_mode)i));
    for (int i = 0; i < ULP_OVERFLOW_COUNT; i++) fuzz_seed_text("%s", ulp_overflow_name((ulp_overflow)i));
}

const fuzz_target fuzz_target_formats = {FUZZ_TEXT("formats", 64, 4096, 2)};

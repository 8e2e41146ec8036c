/* conversions.c - F16C and VCVTNEPS2BF16 against the rounding of this project, over all inputs. */
#include "check.h"

enum { PART = 1 << 14 };

/* A conversion of binary32 to 16 bits: what is expected is our rounding, then the format's code. */
typedef struct conversion {
    const char *name;
    int bf16; /* VCVTNEPS2BF16, else VCVTPS2PH */
    ulp_f16c_rounding rounding;
    unsigned control;
    ulp_mode mode;
    int daz; /* subnormal inputs count as zeros */
} conversion;

typedef struct sweep {
    const conversion *of;
    const ulp_backend *cpu;
    ulp_format format;
    float *x, *y;   /* (PART) */
    uint16_t *code; /* (PART) */
    uint64_t wrong;
    uint32_t first;
    uint16_t got, want;
} sweep;

/* The code of a rounded number that is a value of the format: binary16 by the widening conversion, which is checked
 * first, bfloat16 by its upper half. */
static uint16_t code_of(const sweep *s, float y) {
    uint64_t code = 0;
    if (s->of->bf16) return (uint16_t)(ulp_bits32(y) >> 16);
    return ulp_encode(&code, (double)y, &s->format) == ULP_OK ? (uint16_t)code : 0xffff;
}

/* The code that a NaN becomes: its upper bits, quiet. */
static uint16_t nan_code(const sweep *s, uint32_t bits) {
    if (s->of->bf16) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits >> 16 & 0x8000u) | 0x7e00u | (bits >> 13 & 0x3ffu));
}

static void compare(sweep *s, uint32_t first) {
    static float wide[PART];
    if (!s->of->bf16) ulp_cpu_f16c_widen(wide, s->code, PART);
    for (size_t i = 0; i < PART; i++) {
        const uint32_t bits = first + (uint32_t)i,
                       back = s->of->bf16 ? (uint32_t)s->code[i] << 16 : ulp_bits32(wide[i]);
        const int nan = (bits & 0x7fffffffu) > 0x7f800000u;
        if (!nan && back == ulp_bits32(s->y[i])) continue;
        if (nan && s->code[i] == nan_code(s, bits)) continue;
        if (s->wrong++ > 0) continue;
        s->first = bits;
        s->got = s->code[i];
        s->want = nan ? nan_code(s, bits) : code_of(s, s->y[i]);
    }
}

static ulp_status sweep_part(sweep *s, uint32_t first) {
    for (size_t i = 0; i < PART; i++) {
        uint32_t bits = first + (uint32_t)i;
        s->x[i] = ulp_from_bits32(bits);
        if (s->of->daz && (bits & 0x7f800000u) == 0) bits &= 0x80000000u;
        s->y[i] = ulp_from_bits32(bits);
    }
    const ulp_rounding rounding = {.format = &s->format, .rule = {(uint8_t)s->of->mode, ULP_OVERFLOW_DEFAULT, 0}};
    const ulp_status status = ulp_backend_round(s->cpu, s->y, s->y, PART, rounding);
    if (status != ULP_OK) return status;
    check_control_set(s->of->control);
    if (s->of->bf16) ulp_cpu_bf16_narrow(s->code, s->x, PART);
    else ulp_cpu_f16c_narrow(s->code, s->x, PART, s->of->rounding);
    check_control_set(CHECK_DEFAULT_CONTROL);
    compare(s, first);
    return ULP_OK;
}

static void run_sweep(check_plan *plan, const conversion *of) {
    sweep s = {.of = of, .x = malloc(PART * sizeof *s.x), .y = malloc(PART * sizeof *s.y), .code = malloc(PART * 2)};
    ulp_status status = ulp_format_parse(&s.format, of->bf16 ? "bf16" : "fp16");
    if (s.x == NULL || s.y == NULL || s.code == NULL) status = ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_backend_get(&s.cpu, "cpu");
    uint64_t inputs = 0;
    /* the short run takes one part of 251: all exponents, and every fraction bit changes */
    for (uint64_t first = 0; status == ULP_OK && first < 1ull << 32; first += PART * (plan->small ? 251u : 1u)) {
        status = sweep_part(&s, (uint32_t)first);
        inputs += PART;
    }
    if (status != ULP_OK) check_row(plan, 0, of->name, "%s", ulp_status_text(status));
    else if (s.wrong == 0) check_row(plan, 1, of->name, "%llu inputs, 0 wrong", (unsigned long long)inputs);
    else
        check_row(plan, 0, of->name, "%llu of %llu wrong; the first: %08x is %04x, our rounding says %04x",
                  (unsigned long long)s.wrong, (unsigned long long)inputs, s.first, s.got, s.want);
    free(s.x);
    free(s.y);
    free(s.code);
}

static void check_widening(check_plan *plan) {
    enum { ALL = 65536 };
    uint16_t *code = malloc(ALL * sizeof *code);
    float *x = malloc(ALL * sizeof *x);
    ulp_format f;
    unsigned wrong = 0;
    if (code == NULL || x == NULL || ulp_format_parse(&f, "fp16") != ULP_OK) exit(1);
    for (unsigned daz = 0; daz < 2; daz++) { /* DAZ must not change anything */
        for (unsigned i = 0; i < ALL; i++) code[i] = (uint16_t)i;
        check_control_set(CHECK_DEFAULT_CONTROL | (daz ? CHECK_DAZ | CHECK_FTZ : 0));
        ulp_cpu_f16c_widen(x, code, ALL);
        check_control_set(CHECK_DEFAULT_CONTROL);
        for (unsigned i = 0; i < ALL; i++) {
            const double y = ulp_decode(i, &f);
            const uint32_t nan = (i & 0x8000u) << 16 | 0x7fc00000u | (i & 0x3ffu) << 13;
            wrong += y == y ? ulp_bits32(x[i]) != ulp_bits32((float)y) : ulp_bits32(x[i]) != nan;
        }
    }
    check_row(plan, wrong == 0, "VCVTPH2PS", "65536 codes, also with MXCSR.DAZ and FTZ, %u wrong", wrong);
    free(code);
    free(x);
}

void check_conversions(check_plan *plan) {
    enum { DEFAULT = CHECK_DEFAULT_CONTROL };
    static const conversion f16c[] = {
        {"VCVTPS2PH to nearest", 0, ULP_F16C_RNE, DEFAULT, ULP_RNE, 0},
        {"VCVTPS2PH down", 0, ULP_F16C_RD, DEFAULT, ULP_RD, 0},
        {"VCVTPS2PH up", 0, ULP_F16C_RU, DEFAULT, ULP_RU, 0},
        {"VCVTPS2PH toward zero", 0, ULP_F16C_RZ, DEFAULT, ULP_RZ, 0},
        {"VCVTPS2PH by MXCSR, to nearest", 0, ULP_F16C_MXCSR, DEFAULT, ULP_RNE, 0},
        {"VCVTPS2PH by MXCSR, down", 0, ULP_F16C_MXCSR, DEFAULT | 1u << CHECK_ROUNDING, ULP_RD, 0},
        {"VCVTPS2PH by MXCSR, up", 0, ULP_F16C_MXCSR, DEFAULT | 2u << CHECK_ROUNDING, ULP_RU, 0},
        {"VCVTPS2PH by MXCSR, toward zero", 0, ULP_F16C_MXCSR, DEFAULT | 3u << CHECK_ROUNDING, ULP_RZ, 0},
        {"VCVTPS2PH with MXCSR.FTZ, which it ignores", 0, ULP_F16C_RNE, DEFAULT | CHECK_FTZ, ULP_RNE, 0},
        {"VCVTPS2PH up with MXCSR.DAZ", 0, ULP_F16C_RU, DEFAULT | CHECK_DAZ, ULP_RU, 1},
    };
    static const conversion bf16[] = {
        {"VCVTNEPS2BF16", 1, ULP_F16C_RNE, DEFAULT, ULP_RNE, 1},
        {"VCVTNEPS2BF16 with MXCSR rounding up", 1, ULP_F16C_RNE, DEFAULT | 2u << CHECK_ROUNDING, ULP_RNE, 1},
        {"VCVTNEPS2BF16 with MXCSR.FTZ and DAZ", 1, ULP_F16C_RNE, DEFAULT | CHECK_FTZ | CHECK_DAZ, ULP_RNE, 1},
    };
    const char *lacks = ulp_cpu_f16c_lacks();
    if (lacks[0] != '\0') check_skip(plan, "native:f16c (VCVTPS2PH, VCVTPH2PS)", lacks);
    else check_widening(plan);
    for (size_t i = 0; lacks[0] == '\0' && i < sizeof f16c / sizeof f16c[0]; i++) run_sweep(plan, &f16c[i]);
    lacks = ulp_cpu_bf16_lacks();
    if (lacks[0] != '\0') check_skip(plan, "VCVTNEPS2BF16", lacks);
    for (size_t i = 0; lacks[0] == '\0' && i < sizeof bf16 / sizeof bf16[0]; i++) run_sweep(plan, &bf16[i]);
}

/* native.c - the list of the processor's own products, and one sum of such a product. */
#include "native.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A native product: name after "native:", instruction, operands, model, codes in a word, words of an instruction. */
typedef struct row {
    const char *name, *what, *a, *b, *result, *model;
    int32_t zero_a;
    uint8_t codes, words;
    const char *(*lacks)(void);
    ulp_native_dot *run;
} row;

/* The functions of an instruction; builds for other processors have none. */
#if defined(__x86_64__) && defined(__linux__)
#define OF_X86(lacks, dot) ulp_lacks_##lacks, ulp_dot_##dot
#else
#define OF_X86(lacks, dot) ulp_cpu_f16c_lacks, NULL
#endif
#if defined(__aarch64__) && defined(__linux__)
#define OF_ARM(lacks, dot) ulp_lacks_arm_##lacks, ulp_dot_arm_##dot
#else
static const char *not_for_arm(void) { return "this build is not for aarch64 on Linux"; }
#define OF_ARM(lacks, dot) not_for_arm, NULL
#endif

static const row rows[] = {
    {"avx512-bf16", "VDPBF16PS", "bf16", "bf16", "fp32", "avx512-bf16", 0, 2, 1, OF_X86(avx512_bf16, avx512_bf16)},
    {"avx512-fp16", "VDPPHPS", "fp16", "fp16", "fp32", "avx512-fp16", 0, 2, 1, OF_X86(avx512_fp16, avx512_fp16)},
    {"vnni-int8", "VPDPBUSD", "int8", "int8", "q32.0", "vnni-int8", -128, 4, 1, OF_X86(vnni, vnni_int8)},
    {"vnni-int8-sat", "VPDPBUSDS", "int8", "int8", "q32.0", "vnni-int8-sat", -128, 4, 1, OF_X86(vnni, vnni_int8_sat)},
    {"vnni-int16", "VPDPWSSD", "q16.0", "q16.0", "q32.0", "vnni-int16", 0, 2, 1, OF_X86(vnni, vnni_int16)},
    {"vnni-int16-sat", "VPDPWSSDS", "q16.0", "q16.0", "q32.0", "vnni-int16-sat", 0, 2, 1, OF_X86(vnni, vnni_int16_sat)},
    {"maddubs-int8", "VPMADDUBSW, VPMADDWD, VPADDD", "uint8", "int8", "q32.0", "maddubs-int8", 0, 4, 1,
     OF_X86(avx2, maddubs_int8)},
    {"amx-bf16", "TDPBF16PS", "bf16", "bf16", "fp32", "amx-bf16", 0, 2, 16, OF_X86(amx_bf16, amx_bf16)},
    {"amx-fp16", "TDPFP16PS", "fp16", "fp16", "fp32", "amx-fp16", 0, 2, 16, OF_X86(amx_fp16, amx_fp16)},
    {"amx-int8", "TDPBSSD", "int8", "int8", "q32.0", "int8", 0, 4, 16, OF_X86(amx_int8, amx_int8)},
    {"arm-bfdot", "BFDOT", "bf16", "bf16", "fp32", "arm-bf16", 0, 2, 1, OF_ARM(bf16, bfdot)},
    {"arm-bfmmla", "BFMMLA", "bf16", "bf16", "fp32", "arm-bf16", 0, 2, 2, OF_ARM(bf16, bfmmla)},
    {"arm-fdot-e4m3", "FDOT", "e4m3", "e4m3", "fp32", "arm-e4m3", 0, 4, 1, OF_ARM(fp8, fdot_e4m3)},
    {"arm-fdot-e5m2", "FDOT", "e5m2", "e5m2", "fp32", "arm-e5m2", 0, 4, 1, OF_ARM(fp8, fdot_e5m2)},
    {"arm-sdot", "SDOT", "int8", "int8", "q32.0", "int8", 0, 4, 1, OF_ARM(dotprod, sdot)},
    {"arm-smmla", "SMMLA", "int8", "int8", "q32.0", "int8", 0, 4, 2, OF_ARM(i8mm, smmla)},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

ulp_status ulp_cpu_native_get(size_t i, ulp_cpu_native *native) {
    if (native == NULL || i >= ROWS) return ULP_BAD_ARGUMENT;
    const row *r = &rows[i];
    memset(native, 0, sizeof *native);
    strcpy(native->name, "native:");
    strcat(native->name, r->name);
    native->what = r->what;
    native->model = r->model;
    native->lacks = r->lacks();
    native->zero_a = r->zero_a;
    native->row = (uint16_t)(ULP_NATIVE_OF_CPU + i);
    native->codes = r->codes;
    native->words = r->words;
    ULP_TRY(ulp_format_parse(&native->a, r->a));
    ULP_TRY(ulp_format_parse(&native->b, r->b));
    return ulp_format_parse(&native->result, r->result);
}

ulp_status ulp_cpu_native_parse(ulp_cpu_native *native, const char *text) {
    if (native == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    if (strncasecmp(text, "native:", 7) != 0) return ULP_BAD_NAME;
    const char *name = strcasecmp(text + 7, "vnni") == 0 ? "vnni-int8" : text + 7;
    for (size_t i = 0; i < ROWS; i++)
        if (strcasecmp(name, rows[i].name) == 0) return ulp_cpu_native_get(i, native);
    return ULP_BAD_NAME;
}

ulp_status ulp_cpu_native_of(ulp_cpu_native *native, const ulp_datapath *d) {
    if (d->kind != ULP_NATIVE || d->native < ULP_NATIVE_OF_CPU) return ULP_UNSUPPORTED;
    ULP_TRY(ulp_cpu_native_get(d->native - (size_t)ULP_NATIVE_OF_CPU, native));
    return native->lacks[0] != '\0' ? ULP_NO_DEVICE : ULP_OK;
}

ulp_status ulp_cpu_native_code(uint32_t *code, double value, const ulp_cpu_native *n, int is_b) {
    uint64_t word;
    ULP_TRY(ulp_encode(&word, value, is_b ? &n->b : &n->a));
    *code = (uint32_t)word;
    if (!is_b && n->zero_a != 0) *code ^= 0x80u; /* the code of value + 128 without a sign */
    return ULP_OK;
}

double ulp_cpu_native_value(uint32_t code, const ulp_cpu_native *n) {
    if (n->result.is_fixed) return (double)(int32_t)code;
    return (double)ulp_from_bits32(code);
}

void ulp_cpu_native_run(const ulp_cpu_native *n, uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words) {
    rows[n->row - ULP_NATIVE_OF_CPU].run(c, a, b, words);
}

/* ---- one sum ---- */

/* Writes the codes of x (k) into words `stride` words apart. Codes of zero fill the last word. */
static ulp_status pack(uint32_t *to, size_t stride, const double *x, size_t k, const ulp_cpu_native *n, int is_b) {
    const unsigned bits = 32u / n->codes;
    ulp_status status = ULP_OK;
    for (size_t i = 0; status == ULP_OK && i < k; i++) {
        uint32_t code = 0;
        status = ulp_cpu_native_code(&code, x[i], n, is_b);
        to[i / n->codes * stride] |= (code & (n->codes == 4 ? 0xffu : 0xffffu)) << bits * (unsigned)(i % n->codes);
    }
    return status;
}

static ulp_status dot(void *context, uint64_t *code, double c, ulp_products products) {
    const ulp_cpu_native *n = context;
    const size_t words = (products.k + n->codes - 1) / n->codes;
    if (products.a_scales != NULL || products.b_scales != NULL) return ULP_UNSUPPORTED;
    if (n->lacks[0] != '\0') return ULP_NO_DEVICE;
    uint32_t *a = calloc(words * (ULP_NATIVE_LANES + 1) + 1, sizeof *a);
    if (a == NULL) return ULP_NO_MEMORY;
    uint32_t *b = a + words, sums[ULP_NATIVE_LANES] = {0};
    uint64_t start;
    ulp_status status = ulp_encode(&start, c, &n->result);
    if (status == ULP_OK) status = pack(a, 1, products.a, products.k, n, 0);
    if (status == ULP_OK) status = pack(b, ULP_NATIVE_LANES, products.b, products.k, n, 1);
    if (status == ULP_OK) {
        sums[0] = (uint32_t)start;
        ulp_cpu_native_run(n, sums, a, b, words);
        *code = sums[0];
    }
    free(a);
    return status;
}

ulp_unit ulp_cpu_native_unit(const ulp_cpu_native *native) {
    ulp_unit unit = {.dot = dot, .a = native->a, .b = native->b, .result = native->result};
    memcpy(&unit.context, &native, sizeof native); /* the context is only read */
    return unit;
}

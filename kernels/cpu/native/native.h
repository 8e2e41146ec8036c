/* native.h - the processor's own dot products and conversions: instructions and their models.
 *
 * An instruction adds groups of products to 16 results at once. Its operands are words of 32 bits with 2 or 4 codes.
 * The list includes instructions that the processor or the build lacks. Intrinsics are in this folder alone, in
 * functions with target attributes.
 */
#ifndef ULP_CPU_NATIVE_H
#define ULP_CPU_NATIVE_H

#include "kernels/products/unit.h"

ULP_C_BEGIN

/* The results of an instruction. */
enum { ULP_NATIVE_LANES = 16 };

/* A native product of the processor: "native:avx512-bf16". */
typedef struct ulp_cpu_native {
    char name[ULP_DATAPATH_NAME_MAX];
    const char *what;  /* the instruction */
    const char *model; /* the datapath that is expected to have its bits */
    const char *lacks; /* the reason why this processor or build does not offer it; "" if offered */
    ulp_format a, b, result;
    int32_t zero_a;       /* -128: codes of a are unsigned, and the value of a code is less by 128 */
    uint16_t row;         /* ULP_NATIVE_OF_CPU + row of the list: `native` of a datapath */
    uint8_t codes, words; /* codes in a word; the most words of an instruction */
} ulp_cpu_native;

/* Native product `i`. Returns ULP_BAD_ARGUMENT past the end. */
ulp_status ulp_cpu_native_get(size_t i, ulp_cpu_native *native);
/* The native product called `text`; native:vnni is native:vnni-int8. Returns ULP_BAD_NAME for an unknown name. */
ulp_status ulp_cpu_native_parse(ulp_cpu_native *native, const char *text);
/* The native product of a datapath of kind NATIVE. Returns ULP_UNSUPPORTED for a device's product, and ULP_NO_DEVICE.
 */
ulp_status ulp_cpu_native_of(ulp_cpu_native *native, const ulp_datapath *datapath);

/* *code = the code of a value of a or of b as the instruction reads it, in the low bits. */
ulp_status ulp_cpu_native_code(uint32_t *code, double value, const ulp_cpu_native *native, int is_b);
/* The value of a result. */
double ulp_cpu_native_value(uint32_t code, const ulp_cpu_native *native);

/* c (16) += a (words) times b (words,16), one instruction for each native->words words; the last one may have fewer.
 * The processor must offer it. */
void ulp_cpu_native_run(const ulp_cpu_native *native, uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words);

/* A native product of the processor as a device; *native must exist as long as the device. Results are the codes that
 * the instruction wrote. */
ulp_unit ulp_cpu_native_unit(const ulp_cpu_native *native);

/* ---- conversions ---- */

/* Why the processor does not offer the conversions of F16C, VCVTPS2PH and VCVTPH2PS, or VCVTNEPS2BF16; "" if it does.
 */
const char *ulp_cpu_f16c_lacks(void);
const char *ulp_cpu_bf16_lacks(void);

/* The rounding of VCVTPS2PH: its immediate operand. */
typedef enum ulp_f16c_rounding {
    ULP_F16C_RNE,
    ULP_F16C_RD,
    ULP_F16C_RU,
    ULP_F16C_RZ,
    ULP_F16C_MXCSR
} ulp_f16c_rounding;

/* n is a multiple of 16. */
void ulp_cpu_f16c_narrow(uint16_t *code, const float *x, size_t n, ulp_f16c_rounding rounding);
void ulp_cpu_f16c_widen(float *x, const uint16_t *code, size_t n);
void ulp_cpu_bf16_narrow(uint16_t *code, const float *x, size_t n);

/* ---- features.c, dots.c, amx.c, arm.c ---- */

typedef void ulp_native_dot(uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words);
ulp_native_dot ulp_dot_avx512_bf16, ulp_dot_avx512_fp16, ulp_dot_vnni_int8, ulp_dot_vnni_int8_sat, ulp_dot_vnni_int16,
    ulp_dot_vnni_int16_sat, ulp_dot_maddubs_int8, ulp_dot_amx_bf16, ulp_dot_amx_fp16, ulp_dot_amx_int8;

const char *ulp_lacks_avx512_bf16(void), *ulp_lacks_vnni(void), *ulp_lacks_avx2(void), *ulp_lacks_amx_bf16(void),
    *ulp_lacks_amx_int8(void), *ulp_lacks_amx_fp16(void), *ulp_lacks_avx512_fp16(void);

/* Instructions of Arm. FDOT is untested: no processor or emulator at hand has it. */
ulp_native_dot ulp_dot_arm_bfdot, ulp_dot_arm_bfmmla, ulp_dot_arm_sdot, ulp_dot_arm_smmla, ulp_dot_arm_fdot_e4m3,
    ulp_dot_arm_fdot_e5m2;

const char *ulp_lacks_arm_bf16(void), *ulp_lacks_arm_dotprod(void), *ulp_lacks_arm_i8mm(void), *ulp_lacks_arm_fp8(void);

ULP_C_END
#endif

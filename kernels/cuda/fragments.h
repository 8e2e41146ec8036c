/* fragments.h - places of matrix elements in Tensor Core instructions: lanes, registers, bytes, shared memory.
 *
 * For host and device. A lane is 0 to 31. All maps of mma.sync m16n8 are equal, because the rows of k of its operands
 * are 16 or 32 bytes for every type (PTX ISA 9.0, section 9.7.15.5). A is (16,k) with k along the row. B is (8,k), with
 * a row for each column of the product. A register holds four neighbouring bytes of a row. Elements of C and D are
 * numbered e = 0 to 3; a register holds two results of 16 bits, with odd e in the upper half.
 */
#ifndef ULP_CUDA_FRAGMENTS_H
#define ULP_CUDA_FRAGMENTS_H

#include "formats/exact.h"

/* ---- mma.sync m16n8k*: registers 0 to 3 of A and 0, 1 of B; half of these registers where k is 16 bytes ---- */

ULP_FN uint32_t ulp_mma_a_row(uint32_t lane, uint32_t reg) { return lane / 4 + reg % 2 * 8; }
ULP_FN uint32_t ulp_mma_a_byte(uint32_t lane, uint32_t reg) { return lane % 4 * 4 + reg / 2 * 16; }
ULP_FN uint32_t ulp_mma_b_column(uint32_t lane) { return lane / 4; }
ULP_FN uint32_t ulp_mma_b_byte(uint32_t lane, uint32_t reg) { return lane % 4 * 4 + reg * 16; }
ULP_FN uint32_t ulp_mma_c_row(uint32_t lane, uint32_t e) { return lane / 4 + e / 2 * 8; }
ULP_FN uint32_t ulp_mma_c_column(uint32_t lane, uint32_t e) { return lane % 4 * 2 + e % 2; }

/* ---- mma.sync m8n8k4 of binary64: one element of A and B, two of C and D ---- */

ULP_FN uint32_t ulp_mma64_a_row(uint32_t lane) { return lane / 4; }
ULP_FN uint32_t ulp_mma64_a_k(uint32_t lane) { return lane % 4; }
ULP_FN uint32_t ulp_mma64_b_column(uint32_t lane) { return lane / 4; }
ULP_FN uint32_t ulp_mma64_b_k(uint32_t lane) { return lane % 4; }
ULP_FN uint32_t ulp_mma64_c_row(uint32_t lane) { return lane / 4; }
ULP_FN uint32_t ulp_mma64_c_column(uint32_t lane, uint32_t e) { return lane % 4 * 2 + e; }

/* ---- wgmma m64nN, k of 32 bytes: thread 0 to 127 of a warpgroup ---- */

/* D: elements e = 0 to N / 2 - 1 of a thread; 16-bit results are stored as in mma.sync. */
ULP_FN uint32_t ulp_wgmma_d_row(uint32_t thread, uint32_t e) {
    return thread / 32 * 16 + thread % 32 / 4 + e / 2 % 2 * 8;
}
ULP_FN uint32_t ulp_wgmma_d_column(uint32_t thread, uint32_t e) { return e / 4 * 8 + thread % 4 * 2 + e % 2; }

/* ---- operands of wgmma and tcgen05 in shared memory ---- */

/* An instruction takes ULP_OPERAND_BYTES of k. Operands are core matrices of 8 rows of 16 bytes, without swizzle.
 * `byte` is 0 to 31 in row `row`. The two core matrices of a row are ULP_OPERAND_LEADING bytes apart. The core matrices
 * of rows 8 apart are ULP_OPERAND_STRIDE bytes apart. */
enum { ULP_OPERAND_BYTES = 32, ULP_OPERAND_LEADING = 128, ULP_OPERAND_STRIDE = 256 };

ULP_FN uint32_t ulp_operand_place(uint32_t row, uint32_t byte) {
    return row / 8 * ULP_OPERAND_STRIDE + byte / 16 * ULP_OPERAND_LEADING + row % 8 * 16 + byte % 16;
}

/* Codes of an operand in memory: slabs of ULP_OPERAND_BYTES of k, one after the other. A slab has all rows of the
 * operand, a multiple of 8, at the places above, so that neighbouring rows of a slab are one copy to shared memory.
 * The row and the first byte of k of the 16 bytes number `piece`: */
ULP_FN size_t ulp_slab_row(size_t rows, size_t piece) { return piece % (2 * rows) / 16 * 8 + piece % 8; }
ULP_FN size_t ulp_slab_byte(size_t rows, size_t piece) {
    return piece / (2 * rows) * ULP_OPERAND_BYTES + piece / 8 % 2 * 16;
}

/* The matrix descriptor of an operand at shared-memory address `address`, a multiple of 16 (PTX ISA 9.0, section
 * 9.7.16.5.1): bits 0 to 13 hold the address, bits 16 to 29 the leading offset and bits 32 to 45 the stride offset, all
 * in units of 16 bytes. Base offset and swizzle are 0. */
ULP_FN uint64_t ulp_wgmma_descriptor(uint32_t address) {
    return (uint64_t)(address >> 4 & 0x3fffu) | (uint64_t)(ULP_OPERAND_LEADING >> 4) << 16 |
           (uint64_t)(ULP_OPERAND_STRIDE >> 4) << 32;
}

/* The same for tcgen05.mma (section 9.7.16.4.1): bits 46 to 48 hold 0b001. */
ULP_FN uint64_t ulp_tcgen05_descriptor(uint32_t address) { return ulp_wgmma_descriptor(address) | 1ull << 46; }

/* ---- tcgen05.mma m128nNkK (PTX ISA 9.0, section 9.7.16) ---- */

/* Element (i,j) of D is in lane i and column j of tensor memory, one element in 32 bits (data path layout D, section
 * 9.7.16.10.5.4). A warp w reads and writes lanes 32 w to 32 w + 31. An address has the lane in its upper half. */
ULP_FN uint32_t ulp_tensor_address(uint32_t base, uint32_t lane, uint32_t column) {
    return base + (lane << 16) + column;
}

/* Fields of the instruction descriptor (section 9.7.16.4.2, tables 42 to 44): the type of D, which block-scaled kinds
 * do not have; saturation; the type of the scales. */
enum {
    ULP_TCGEN05_FIELD_F16 = 0,
    ULP_TCGEN05_FIELD_F32 = 1 << 4,
    ULP_TCGEN05_FIELD_S32 = 2 << 4,
    ULP_TCGEN05_FIELD_S32_SAT = 2 << 4 | 1 << 3,
    ULP_TCGEN05_FIELD_UE4M3 = 0,
    ULP_TCGEN05_FIELD_UE8M0 = 1 << 23
};

/* The instruction descriptor for M = 128; a and b are the codes of the types of A and B. */
ULP_FN uint32_t ulp_tcgen05_instruction(uint32_t field, uint32_t a, uint32_t b, uint32_t n) {
    return field | a << 7 | b << 10 | n / 8 << 17 | 128 / 16 << 24;
}

/* The same with the place of the scales in their word: byte `a` of each word for A, byte `b` for B. */
ULP_FN uint32_t ulp_tcgen05_scale_ids(uint32_t instruction, uint32_t a, uint32_t b) {
    return instruction | a << 29 | b << 4;
}

/* Scales come in groups: four scales, one byte each, for each of 128 rows of A, or columns of B.
 * tcgen05.cp.32x128b.warpx4 copies a group from shared memory, 32 rows of 16 bytes, to the lanes of each warp and four
 * columns (sections 9.7.16.9.2 and 9.7.16.10.7.2). Row `row` is in lane row % 32 and column row / 32. */
enum { ULP_SCALES_ROWS = 128, ULP_SCALES_IN_GROUP = 4, ULP_SCALES_BYTES = 512, ULP_SCALES_COLUMNS = 4 };

ULP_FN uint32_t ulp_scale_place(uint32_t row, uint32_t scale) { return row % 32 * 16 + row / 32 * 4 + scale; }

/* The matrix descriptor of a group of scales: core matrices of 8 rows of 16 bytes, one after the other. */
ULP_FN uint64_t ulp_scales_descriptor(uint32_t address) {
    return (uint64_t)(address >> 4 & 0x3fffu) | (uint64_t)(128 >> 4) << 32 | 1ull << 46;
}

/* ---- codes of operands ---- */

ULP_FN uint32_t ulp_code_of_fixed(double value, const ulp_format *f, uint32_t *bad) {
    if (!(value >= f->lowest && value <= f->max)) { /* NaN also */
        *bad = 1;
        return 0;
    }
    const double units = ulp_scale(value, -f->qmin);
    const int64_t n = (int64_t)units;
    *bad |= (uint32_t)((double)n != units);
    return (uint32_t)n & (uint32_t)((1ull << f->bits) - 1);
}

/* The code of a value of a signed format of at most 32 bits with subnormals: ulp_encode for devices. NaN is canonical.
 * Sets *bad if the format does not hold the value. */
ULP_FN uint32_t ulp_code_of(double value, const ulp_format *f, uint32_t *bad) {
    if (f->is_fixed) return ulp_code_of_fixed(value, f, bad);
    const uint64_t u = ulp_bits64(value), magnitude = u & 0x7fffffffffffffffu;
    const uint32_t sign = (uint32_t)(u >> 63) << (f->bits - 1);
    if (magnitude > 0x7ff0000000000000u) {
        *bad |= (uint32_t)(f->nan_codes == ULP_NAN_NONE);
        return (uint32_t)f->nan_code;
    }
    if (magnitude == 0x7ff0000000000000u) {
        *bad |= (uint32_t)!f->has_inf;
        return sign | (uint32_t)f->inf_code;
    }
    if (magnitude == 0) return f->has_neg_zero ? sign : 0;
    const int32_t e = (int32_t)(magnitude >> 52) - 1023, below = e < f->emin ? f->emin - e : 0,
                  cut = 53 - f->prec + below;
    const uint64_t m = (magnitude & 0xfffffffffffffu) | 1ull << 52, kept = cut < 53 ? m >> cut : 0,
                   hidden = 1ull << (f->prec - 1);
    *bad |= (uint32_t)(e < -1022 || cut > 52 || kept << (cut & 63) != m || ulp_from_bits64(magnitude) > f->max);
    return sign | (uint32_t)(below != 0 ? kept : ((uint64_t)(e + f->bias) << (f->prec - 1)) + kept - hidden);
}

/* The code of the magnitude of a scale. Sets *bad if the format does not hold the magnitude. */
ULP_FN uint32_t ulp_code_of_scale(double value, const ulp_format *f, uint32_t *bad) {
    const double magnitude = value < 0.0 ? -value : value;
    *bad |= (uint32_t)(magnitude == 0.0 && !f->has_zero);
    return ulp_code_of(magnitude, f, bad) & (f->is_signed ? (1u << (f->bits - 1)) - 1 : 0xffu);
}

/* The value of a binary16 code. */
ULP_FN double ulp_value_of_half(uint32_t code) {
    const int32_t field = (int32_t)(code >> 10 & 31u);
    const double fraction = (double)(code & 1023u);
    double magnitude = field == 0 ? fraction * 0x1p-24 : ulp_scale(1024.0 + fraction, field - 25);
    if (field == 31) magnitude = fraction != 0.0 ? ulp_quiet_nan() : ulp_from_bits64(0x7ff0000000000000u);
    return magnitude == magnitude && (code & 0x8000u) != 0 ? -magnitude : magnitude;
}

#endif

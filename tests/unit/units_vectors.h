/* units_vectors.h - directed sums that tell matrix units apart: products by place, a start value, and the result of
 * each row. The results were computed in exact rational numbers from the published rules. */
#ifndef ULP_TESTS_UNITS_VECTORS_H
#define ULP_TESTS_UNITS_VECTORS_H

#include <stdint.h>

enum { VECTOR_PRODUCTS = 5, VECTOR_ROWS = 6, VECTOR_END = -1 };

typedef struct unit_vector {
    const char *name;
    struct {
        int k; /* VECTOR_END ends the list */
        double a, b;
    } product[VECTOR_PRODUCTS];
    double c;
    uint32_t want[VECTOR_ROWS]; /* of the rows of the table */
} unit_vector;

#define END                                                                                                            \
    { VECTOR_END, 0, 0 }

static const char *const fp16_rows[VECTOR_ROWS] = {"mi100-fp16", "mi250-fp16", "mi300-fp16",
                                                   "a100-fp16",  "h100-fp16",  ""};
static const unit_vector fp16_vectors[] = {
    {"2^10, -2^10, 2^-15",
     {{0, 32, 32}, {1, -32, 32}, {2, 0x1p-7, 0x1p-8}, END},
     0,
     {0x38000000, 0x38000000, 0x00000000, 0x00000000, 0x38000000}},
    {"2^10, -2^10, 2^-16",
     {{0, 32, 32}, {1, -32, 32}, {2, 0x1p-8, 0x1p-8}, END},
     0,
     {0x37800000, 0x37800000, 0x00000000, 0x00000000, 0x00000000}},
    {"2^10, 2^-15, -2^10",
     {{0, 32, 32}, {1, 0x1p-7, 0x1p-8}, {2, -32, 32}, END},
     0,
     {0x38000000, 0x00000000, 0x00000000, 0x00000000, 0x38000000}},
    {"1, c = -2^-30", {{0, 1, 1}, END}, -0x1p-30, {0x3f800000, 0x3f800000, 0x3f7fffff, 0x3f800000, 0x3f800000}},
    {"1, c = -2^-149", {{0, 1, 1}, END}, -0x1p-149, {0x3f800000, 0x3f800000, 0x3f7fffff, 0x3f800000, 0x3f800000}},
    {"1, 2^-24, 2^-26",
     {{0, 1, 1}, {1, 0x1p-12, 0x1p-12}, {2, 0x1p-13, 0x1p-13}, END},
     0,
     {0x3f800001, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000}},
    {"2^-24, 2^-28, c = 1",
     {{0, 0x1p-12, 0x1p-12}, {1, 0x1p-14, 0x1p-14}, END},
     1,
     {0x3f800001, 0x3f800001, 0x3f800001, 0x3f800000, 0x3f800000}},
    {"2^10, -2^10, c = 1 + 2^-23",
     {{0, 32, 32}, {1, -32, 32}, END},
     0x1.000002p0,
     {0x3f800001, 0x3f800001, 0x3f800000, 0x3f800000, 0x3f800000}},
    {"2^10, -2^10, c = -(1 + 2^-23)",
     {{0, 32, 32}, {1, -32, 32}, END},
     -0x1.000002p0,
     {0xbf800001, 0xbf800001, 0xbf800200, 0xbf800000, 0xbf800000}},
    {"2^-24 x 2^15", {{0, 0x1p-24, 0x1p15}, END}, 0, {0x3b000000, 0x00000000, 0x3b000000, 0x3b000000, 0x3b000000}},
    {"c = 2^-149", {END}, 0x1p-149, {0x00000001, 0x00000000, 0x00000001, 0x00000001, 0x00000001}},
    {"-1 at 0, 2^-30 at 4, c = 1",
     {{0, -1, 1}, {4, 0x1p-15, 0x1p-15}, END},
     1,
     {0x30800000, 0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"-1 at 0, 2^-30 at 8, c = 1",
     {{0, -1, 1}, {8, 0x1p-15, 0x1p-15}, END},
     1,
     {0x30800000, 0x00000000, 0x30800000, 0x30800000, 0x00000000}},
    {"1, 1, 1, 1, c = 3 2^-23",
     {{0, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 1, 1}, END},
     3 * 0x1p-23,
     {0x40800001, 0x40800001, 0x40800001, 0x40800000, 0x40800000}},
};

static const char *const wide_rows[VECTOR_ROWS] = {"mi100-bf16", "mi250-bf16", "mi300-bf16",
                                                   "a100-bf16",  "h100-bf16",  ""};
static const unit_vector wide_vectors[] = {
    {"2^128, -2^128",
     {{0, 0x1p64, 0x1p64}, {1, -0x1p64, 0x1p64}, END},
     0,
     {0x00000000, 0x7fc00000, 0x7fc00000, 0x00000000, 0x00000000}},
};

static const char *const pair_rows[VECTOR_ROWS] = {"avx512-bf16",  "amx-bf16",   "arm-bf16",
                                                   "arm-bf16-ebf", "mi100-bf16", "mi250-bf16-p2"};
static const unit_vector pair_vectors[] = {
    {"-2^24, 1, c = 2^24",
     {{0, -0x1p12, 0x1p12}, {1, 1, 1}, END},
     0x1p24,
     {0x00000000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000}},
    {"1, 2^-30",
     {{0, 1, 1}, {1, 0x1p-15, 0x1p-15}, END},
     0,
     {0x3f800000, 0x3f800000, 0x3f800001, 0x3f800000, 0x3f800000, 0x3f800000}},
    {"1, -2^-30",
     {{0, 1, 1}, {1, -0x1p-15, 0x1p-15}, END},
     0,
     {0x3f800000, 0x3f800000, 0x3f7fffff, 0x3f800000, 0x3f800000, 0x3f800000}},
    {"2^-24, 2^-24, c = 1",
     {{0, 0x1p-12, 0x1p-12}, {1, 0x1p-12, 0x1p-12}, END},
     1,
     {0x3f800000, 0x3f800001, 0x3f800001, 0x3f800001, 0x3f800001, 0x3f800001}},
    {"2^-24, c = 1",
     {{0, 0x1p-12, 0x1p-12}, END},
     1,
     {0x3f800000, 0x3f800000, 0x3f800001, 0x3f800000, 0x3f800000, 0x3f800000}},
    {"four 2^-25, c = 1",
     {{0, 0x1p-12, 0x1p-13}, {1, 0x1p-12, 0x1p-13}, {2, 0x1p-12, 0x1p-13}, {3, 0x1p-12, 0x1p-13}, END},
     1,
     {0x3f800000, 0x3f800001, 0x3f800001, 0x3f800000, 0x3f800000, 0x3f800000}},
    {"2^-130 x 2^10",
     {{0, 0x1p-130, 0x1p10}, END},
     0,
     {0x00000000, 0x00000000, 0x00000000, 0x03800000, 0x03800000, 0x00000000}},
    {"2^-100 x 2^-27",
     {{0, 0x1p-100, 0x1p-27}, END},
     0,
     {0x00000000, 0x00000000, 0x00000000, 0x00400000, 0x00400000, 0x00000000}},
};

/* Results just below the least normal number: x86 flushes what is tiny after a rounding to 24 bits, CDNA2 what is
 * subnormal. */
static const char *const tiny_rows[VECTOR_ROWS] = {
    "avx512-bf16", "mi250-bf16", "avx512-bf16:flush=rounded", "avx512-bf16:flush=before", "mi250-bf16:flush=before",
    "arm-bf16"};
static const unit_vector tiny_vectors[] = {
    {"-2^-151, c = 2^-126",
     {{0, -0x1p-75, 0x1p-76}, END},
     0x1p-126,
     {0x00800000, 0x00800000, 0x00800000, 0x00000000, 0x00800000, 0x00800000}},
    {"-1.5 2^-151, c = 2^-126",
     {{0, -0x1.8p-75, 0x1p-76}, END},
     0x1p-126,
     {0x00000000, 0x00800000, 0x00800000, 0x00000000, 0x00800000, 0x00800000}},
};

static const char *const fp8_rows[VECTOR_ROWS] = {"mi300-e5m2fnuz",          "mi300-e5m2fnuz:parts=1", "mi300-e4m3fnuz",
                                                  "mi300-e4m3fnuz.e5m2fnuz", "mi300-e5m2fnuz:c_cut=0", ""};
static const unit_vector fp8_vectors[] = {
    {"2^14, 2^-10, -2^14",
     {{0, 0x1p7, 0x1p7}, {1, 0x1p-5, 0x1p-5}, {2, -0x1p7, 0x1p7}, END},
     0,
     {0x3a800000, 0x3a800000, 0x3a800000, 0x3a800000, 0x3a800000}},
    {"2^14, 2^-11, -2^14",
     {{0, 0x1p7, 0x1p7}, {1, 0x1p-5, 0x1p-6}, {2, -0x1p7, 0x1p7}, END},
     0,
     {0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"2^14, -2^-11, -2^14",
     {{0, 0x1p7, 0x1p7}, {1, -0x1p-5, 0x1p-6}, {2, -0x1p7, 0x1p7}, END},
     0,
     {0xba800000, 0x00000000, 0xba800000, 0xba800000, 0xba800000}},
    {"2^14 at 0, -2^14 at 1, 2^-11 at 2",
     {{0, 0x1p7, 0x1p7}, {1, -0x1p7, 0x1p7}, {2, 0x1p-5, 0x1p-6}, END},
     0,
     {0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000}},
    {"1, c = -2^-25", {{0, 1, 1}, END}, -0x1p-25, {0x3f7fffff, 0x3f7fffff, 0x3f7fffff, 0x3f7fffff, 0x3f7fffff}},
    {"1, c = -2^-26", {{0, 1, 1}, END}, -0x1p-26, {0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f7fffff}},
};

/* NVIDIA: what the exponents of zeros decide. */
static const char *const zero_rows[VECTOR_ROWS] = {
    "a100-bf16", "h100-bf16", "rtx5090-bf16", "a100-bf16:zero_operand=-126", "rtx5090-bf16:floor=none", ""};
static const unit_vector zero_vectors[] = {
    {"0 x 2^127, 2^-40",
     {{0, 0, 0x1p127}, {1, 0x1p-20, 0x1p-20}, END},
     0,
     {0x2b800000, 0x2b800000, 0x2b800000, 0x00000000, 0x2b800000}},
};

#undef END

#endif

/* t_fragments.c - the layout of Tensor Core operands against the formulas of the PTX ISA, descriptors, and codes. */
#include "support.h"

#include "kernels/cuda/fragments.h"

/* The place of element i of a thread's fragment of A, B or C, by PTX ISA 9.0, section 9.7.15.5: group = lane >> 2, t =
 * lane % 4. */
typedef struct place {
    unsigned row, column;
} place;

static place a_f16_k8(unsigned group, unsigned t, unsigned i) {
    return (place){i < 2 ? group : group + 8, t * 2 + (i & 1)};
}
static place b_f16_k8(unsigned group, unsigned t, unsigned i) { return (place){t * 2 + i, group}; }

static place a_f16_k16(unsigned group, unsigned t, unsigned i) {
    return (place){i < 2 || (i >= 4 && i < 6) ? group : group + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
}
static place b_f16_k16(unsigned group, unsigned t, unsigned i) {
    return (place){i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, group};
}

static place a_tf32_k4(unsigned group, unsigned t, unsigned i) { return (place){i == 0 ? group : group + 8, t}; }
static place b_tf32_k4(unsigned group, unsigned t, unsigned i) { return (place){t + 0 * i, group}; }

static place a_tf32_k8(unsigned group, unsigned t, unsigned i) {
    return (place){i == 0 || i == 2 ? group : group + 8, i < 2 ? t : t + 4};
}
static place b_tf32_k8(unsigned group, unsigned t, unsigned i) { return (place){i == 0 ? t : t + 4, group}; }

static place a_byte_k16(unsigned group, unsigned t, unsigned i) {
    return (place){i < 4 ? group : group + 8, t * 4 + (i & 3)};
}
static place b_byte_k16(unsigned group, unsigned t, unsigned i) { return (place){t * 4 + i, group}; }

static place a_byte_k32(unsigned group, unsigned t, unsigned i) {
    return (place){i < 4 || (i >= 8 && i < 12) ? group : group + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
}
static place b_byte_k32(unsigned group, unsigned t, unsigned i) {
    return (place){i < 4 ? t * 4 + i : t * 4 + (i & 3) + 16, group};
}

static place c_m16n8(unsigned group, unsigned t, unsigned i) {
    return (place){i < 2 ? group : group + 8, t * 2 + (i & 1)};
}

static const struct shape {
    const char *name;
    unsigned k, size; /* number of elements, bytes of an element */
    place (*a)(unsigned, unsigned, unsigned), (*b)(unsigned, unsigned, unsigned);
} shapes[] = {
    {"f16 k8", 8, 2, a_f16_k8, b_f16_k8},         {"f16 k16", 16, 2, a_f16_k16, b_f16_k16},
    {"tf32 k4", 4, 4, a_tf32_k4, b_tf32_k4},      {"tf32 k8", 8, 4, a_tf32_k8, b_tf32_k8},
    {"bytes k16", 16, 1, a_byte_k16, b_byte_k16}, {"bytes k32", 32, 1, a_byte_k32, b_byte_k32},
};

TEST(ptx) {
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        const struct shape *p = &shapes[s];
        const unsigned a_elements = 16 * p->k / 32, b_elements = 8 * p->k / 32, per = 4 / p->size;
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned i = 0; i < a_elements; i++) {
                const place want = p->a(lane >> 2, lane % 4, i);
                assert_int_equal(ulp_mma_a_row(lane, i / per), want.row);
                assert_int_equal(ulp_mma_a_byte(lane, i / per) + i % per * p->size, want.column * p->size);
            }
            for (unsigned i = 0; i < b_elements; i++) {
                const place want = p->b(lane >> 2, lane % 4, i);
                assert_int_equal(ulp_mma_b_column(lane), want.column);
                assert_int_equal(ulp_mma_b_byte(lane, i / per) + i % per * p->size, want.row * p->size);
            }
        }
    }
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < 4; i++) {
            const place want = c_m16n8(lane >> 2, lane % 4, i);
            assert_int_equal(ulp_mma_c_row(lane, i), want.row);
            assert_int_equal(ulp_mma_c_column(lane, i), want.column);
        }
}

/* Section 9.7.15.5.1, .f64: the row of A is the group, the column is t; of B the row is t, the column is the group; the
 * columns of C are t * 2 + i. */
TEST(ptx_f64) {
    for (unsigned lane = 0; lane < 32; lane++) {
        assert_int_equal(ulp_mma64_a_row(lane), lane >> 2);
        assert_int_equal(ulp_mma64_a_k(lane), lane & 3);
        assert_int_equal(ulp_mma64_b_k(lane), lane & 3);
        assert_int_equal(ulp_mma64_b_column(lane), lane >> 2);
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(ulp_mma64_c_row(lane), lane >> 2);
            assert_int_equal(ulp_mma64_c_column(lane, i), (lane & 3) * 2 + i);
        }
    }
}

/* Check that exactly one place holds each element of a matrix. */
static void all_ones(const unsigned char *held, size_t n, const char *what) {
    for (size_t i = 0; i < n; i++)
        if (held[i] != 1) fail_msg("%s: element %zu is held %d times", what, i, held[i]);
}

TEST(once) {
    for (unsigned half = 0; half < 2; half++) {
        const unsigned bytes = half ? 16 : 32;
        unsigned char a[16 * 32] = {0}, b[8 * 32] = {0}, c[16 * 8] = {0};
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned r = 0; r < bytes / 8; r++)
                for (unsigned i = 0; i < 4; i++) a[ulp_mma_a_row(lane, r) * bytes + ulp_mma_a_byte(lane, r) + i]++;
            for (unsigned r = 0; r < bytes / 16; r++)
                for (unsigned i = 0; i < 4; i++) b[ulp_mma_b_column(lane) * bytes + ulp_mma_b_byte(lane, r) + i]++;
            for (unsigned e = 0; e < 4; e++) c[ulp_mma_c_row(lane, e) * 8 + ulp_mma_c_column(lane, e)]++;
        }
        all_ones(a, 16 * bytes, "A");
        all_ones(b, 8 * bytes, "B");
        all_ones(c, sizeof c, "C");
    }
    for (unsigned n = 8; n <= 256; n *= 2) {
        static unsigned char d[64 * 256];
        memset(d, 0, sizeof d);
        for (unsigned thread = 0; thread < 128; thread++)
            for (unsigned e = 0; e < n / 2; e++) d[ulp_wgmma_d_row(thread, e) * n + ulp_wgmma_d_column(thread, e)]++;
        all_ones(d, 64 * n, "D of wgmma");
    }
}

/* D of wgmma, section 9.7.16.5.2: d[2 i] and d[2 i + 1] of thread 32 w + 4 g + t are the columns 8 (i / 2) + 2 t and
 * 8 (i / 2) + 2 t + 1 of row 16 w + g if i is even, of row 16 w + g + 8 if i is odd. */
TEST(wgmma_d) {
    for (unsigned w = 0; w < 4; w++)
        for (unsigned g = 0; g < 8; g++)
            for (unsigned t = 0; t < 4; t++)
                for (unsigned e = 0; e < 128; e++) {
                    const unsigned thread = 32 * w + 4 * g + t, pair = e >> 1;
                    assert_int_equal(ulp_wgmma_d_row(thread, e), 16 * w + g + (pair & 1 ? 8 : 0));
                    assert_int_equal(ulp_wgmma_d_column(thread, e), 8 * (pair >> 1) + 2 * t + (e & 1));
                }
}

/* A core matrix has 8 rows of 16 bytes, one after the other; the descriptor says where core matrices begin. */
TEST(shared_memory) {
    static unsigned char held[256 * 32];
    memset(held, 0, sizeof held);
    for (unsigned row = 0; row < 256; row++)
        for (unsigned byte = 0; byte < 32; byte++) held[ulp_operand_place(row, byte)]++;
    all_ones(held, sizeof held, "shared memory");
    for (unsigned address = 0; address < 1u << 18; address += 16 * 977) {
        const uint64_t d = ulp_wgmma_descriptor(address);
        const unsigned base = (unsigned)(d & 0x3fff) * 16, leading = (unsigned)(d >> 16 & 0x3fff) * 16,
                       stride = (unsigned)(d >> 32 & 0x3fff) * 16;
        assert_int_equal(base, address);
        assert_true((d & ~(uint64_t)0x00003fff3fff3fffu) == 0); /* no base offset, no swizzle, unused bits zero */
        for (unsigned row = 0; row < 256; row += 8)
            for (unsigned half = 0; half < 2; half++) {
                const unsigned core = ulp_operand_place(row, 16 * half);
                assert_int_equal(core, row / 8 * stride + half * leading);
                for (unsigned r = 0; r < 8; r++)
                    for (unsigned i = 0; i < 16; i++)
                        assert_int_equal(ulp_operand_place(row + r, 16 * half + i), core + 16 * r + i);
            }
    }
}

/* A slab has the bytes of shared memory, for all rows: the 16 bytes that the rows of a tile have in a slab are
 * neighbours. */
TEST(slabs) {
    for (size_t rows = 8; rows <= 264; rows += 64)
        for (size_t piece = 0; piece < 3 * 2 * rows; piece++) {
            const size_t row = ulp_slab_row(rows, piece), byte = ulp_slab_byte(rows, piece);
            assert_true(row < rows && byte % 16 == 0 && byte / 32 < 3);
            assert_int_equal(byte / 32 * rows * 32 + ulp_operand_place((uint32_t)row, byte % 32), piece * 16);
        }
}

/* tcgen05: the matrix descriptors of operands and scales (section 9.7.16.4.1, table 40), the instruction descriptor
 * (section 9.7.16.4.2, tables 42 to 44), addresses of tensor memory. */
TEST(tcgen05) {
    for (unsigned address = 0; address < 1u << 18; address += 16 * 977) {
        assert_true(ulp_tcgen05_descriptor(address) == (ulp_wgmma_descriptor(address) | (uint64_t)1 << 46));
        assert_true(ulp_scales_descriptor(address) ==
                    ((uint64_t)1 << 46 | (uint64_t)8 << 32 | address / 16)); /* 8 rows of 16 bytes */
    }
    /* F16 x F16 on F32, 128 x 256; E4M3 x E5M2 on F16, 128 x 16; S8 x S8 with saturation; E2M1 x E2M1 with UE8M0 */
    assert_int_equal(ulp_tcgen05_instruction(ULP_TCGEN05_FIELD_F32, 0, 0, 256), 0x08400010);
    assert_int_equal(ulp_tcgen05_instruction(ULP_TCGEN05_FIELD_F16, 0, 1, 16), 0x08040400);
    assert_int_equal(ulp_tcgen05_instruction(ULP_TCGEN05_FIELD_S32_SAT, 1, 1, 128), 0x082004a8);
    assert_int_equal(ulp_tcgen05_scale_ids(ulp_tcgen05_instruction(ULP_TCGEN05_FIELD_UE8M0, 1, 1, 128), 2, 2),
                     0x08a00480 | 2u << 29 | 2 << 4);
    assert_int_equal(ulp_tensor_address(32, 96, 7), 0x00600027);
}

/* A group of scales: scale s of row r of 128 is in lane r % 32 of every warp, in byte s of column r / 32. */
TEST(scales) {
    unsigned char held[ULP_SCALES_BYTES] = {0};
    for (unsigned row = 0; row < ULP_SCALES_ROWS; row++)
        for (unsigned s = 0; s < ULP_SCALES_IN_GROUP; s++) {
            const unsigned at = ulp_scale_place(row, s), lane = at / 16, column = at % 16 / 4;
            held[at]++;
            assert_int_equal(lane, row % 32);
            assert_int_equal(column, row / 32);
            assert_int_equal(at % 4, s);
        }
    all_ones(held, sizeof held, "scales");
    static const char *const names[] = {"e8m0", "e4m3"};
    for (size_t n = 0; n < 2; n++) {
        const ulp_format f = named(names[n]);
        for (uint32_t code = 0; code < 256; code++) {
            uint32_t bad = 0;
            const uint32_t want = f.is_signed ? code & 127 : code; /* the sign does not count */
            assert_int_equal(ulp_code_of_scale(ulp_decode(code, &f), &f, &bad), want);
            assert_int_equal(bad, 0);
        }
        const double strange[] = {0.0, 1.0625, 0x1p-128, 0x1p128, INFINITY};
        for (size_t i = f.has_zero; i < COUNT_OF(strange); i++) {
            uint32_t bad = 0;
            (void)ulp_code_of_scale(strange[i], &f, &bad);
            if (bad == 0) fail_msg("%s: the scale %a was taken", f.name, strange[i]);
        }
    }
}

/* ---- codes ---- */

static void check_code(double x, const ulp_format *f) {
    uint64_t want = 0;
    uint32_t strange = 0;
    const ulp_status status = ulp_encode(&want, x, f);
    const uint32_t got = ulp_code_of(x, f, &strange);
    if ((status != ULP_OK) != (strange != 0))
        fail_msg("%s: %a: %s, but ulp_code_of() sets bad = %u", f->name, x, ulp_status_text(status), strange);
    if (status == ULP_OK && got != want)
        fail_msg("%s: %a: got %x, want %llx", f->name, x, got, (unsigned long long)want);
}

TEST(codes) {
    static const char *const names[] = {"fp16", "bf16", "tf32", "e4m3", "e5m2", "e3m2",
                                        "e2m3", "e2m1", "fp32", "q8.0", "q32.0"};
    const double others[] = {0.0,     -0.0,     INFINITY,     -INFINITY,    NAN,          448.0,     464.0,
                             480.0,   -480.0,   65504.0,      65520.0,      0x1p-1060,    0x1p-1074, 0x1.8p-24,
                             0x1p-25, 0x1p-149, 0x1.8p-149,   0x1p-150,     127.0,        128.0,     -128.0,
                             -129.0,  0.5,      2147483647.0, 2147483648.0, -2147483648.0};
    for (size_t n = 0; n < COUNT_OF(names); n++) {
        const ulp_format f = named(names[n]);
        const uint64_t codes = 1ull << f.bits, step = f.bits > 19 ? 65521 : 1;
        for (uint64_t code = 0; code < codes; code += step) {
            const double x = ulp_decode(code, &f);
            check_code(x, &f);
            if (x - x == 0.0) { /* the neighbour in binary64 is not a value; 1.5 x and x / 2 may be */
                check_code(ulp_from_bits64(ulp_bits64(x) ^ 1), &f);
                check_code(x * 1.5, &f);
                check_code(x * 0.5, &f);
            }
        }
        for (size_t i = 0; i < COUNT_OF(others); i++) check_code(others[i], &f);
    }
}

TEST(halves) {
    const ulp_format f = named("fp16");
    for (uint32_t code = 0; code < 1u << 16; code++)
        if (!same_result(ulp_value_of_half(code), ulp_decode(code, &f)))
            fail_msg("%04x: got %a", code, ulp_value_of_half(code));
}

TESTS(NULL, NULL)

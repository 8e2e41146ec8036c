/* bytes.c - prints checksums of roundings and of products by the library alone: the same text on every system.
 *
 * It is for systems for which the command line is not built. A line is a format with a mode, or a datapath. */
#include <stdio.h>

#include "base/checksum.h"
#include "formats/rng.h"
#include "kernels/foreign/foreign.h"

enum { N = 4096, ROWS = 17, COLUMNS = 19, TERMS = 70 };

/* Number i: random bits, in one of three numbers few, and an exponent from `least` for `exponents` binades. */
static double number(size_t i, int least, unsigned exponents) {
    const ulp_stream stream = {.seed = 45};
    const uint32_t word = ulp_random_word(stream, 2 * i), more = ulp_random_word(stream, 2 * i + 1);
    const uint64_t fraction = i % 3 == 0 ? (uint64_t)(more >> 29) << 49 : ((uint64_t)more << 20) | (word & 0xfffff);
    const uint64_t sign = (uint64_t)(word >> 31) << 63, exponent = (uint64_t)(1023 + least) + (word >> 20) % exponents;
    return ulp_from_bits64(sign | exponent << 52 | fraction);
}

/* y (n) = x (n) in a format; any format has the empty name. */
static ulp_status rounded(double *y, const double *x, size_t n, const char *format, const char *mode,
                          const char *policy) {
    ulp_rounder *rounder = NULL;
    if (format[0] == '\0') return ULP_OK;
    ulp_status status = ulp_foreign_rounder(&rounder, format, mode, policy, 0, NULL);
    if (status == ULP_OK) status = ulp_foreign_round_any(rounder, y, x, n, 1, 1, 0, 0, NULL);
    ulp_foreign_release(rounder);
    return status;
}

/* The checksum of y (n), the lowest byte of each number first. */
static void print_checksum(ulp_status status, const double *y, size_t n) {
    uint32_t crc = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[8];
        for (int k = 0; k < 8; k++) bytes[k] = (uint8_t)(ulp_bits64(y[i]) >> 8 * k);
        crc = ulp_crc32(crc, bytes, sizeof bytes);
    }
    if (status != ULP_OK) printf(" %s\n", ulp_foreign_error());
    else printf(" %08x\n", crc);
}

static void print_roundings(const char *format) {
    static double x[N], y[N];
    const char *mode;
    for (size_t i = 0; i < N; i++) x[i] = number(i, -40, 81);
    for (size_t i = 0; (mode = ulp_foreign_word(ULP_FOREIGN_MODES, i)) != NULL; i++) {
        const ulp_status status = rounded(y, x, N, format, mode, NULL);
        printf("%s %s", format, mode);
        print_checksum(status, y, N);
    }
}

static void print_product(const char *name) {
    static double a[ROWS * TERMS], b[TERMS * COLUMNS], c[ROWS * COLUMNS];
    const uint64_t shape[ULP_FOREIGN_SHAPE] = {ROWS, COLUMNS, TERMS, TERMS, COLUMNS, COLUMNS};
    ulp_datapath *d = NULL;
    ulp_status status = ulp_foreign_datapath(&d, name);
    for (size_t i = 0; i < ROWS * TERMS; i++) a[i] = number(i, -6, 13);
    for (size_t i = 0; i < TERMS * COLUMNS; i++) b[i] = number(i + ROWS * TERMS, -6, 13);
    if (status == ULP_OK)
        status = rounded(a, a, ROWS * TERMS, ulp_foreign_datapath_text(d, ULP_FOREIGN_D_A), "rne", "sat");
    if (status == ULP_OK)
        status = rounded(b, b, TERMS * COLUMNS, ulp_foreign_datapath_text(d, ULP_FOREIGN_D_B), "rne", "sat");
    if (status == ULP_OK) status = ulp_foreign_gemm(d, "cpu", c, a, b, shape, 1, NULL, NULL, 1, 0, 0);
    printf("%s", name);
    print_checksum(status, c, ROWS * COLUMNS);
    ulp_foreign_release(d);
}

int main(void) {
    static const char *const kinds[] = {"serial", "split", "chunk32", "block4", "pairwise", "kahan", "exact"};
    static const char *const rules[] = {"fp16:rne",  "bf16:rd",     "fp32:rne", "fp64:rz",
                                        "q6.10:rne", "posit16:rne", "fp16:sr/8"};
    const char *name;
    for (size_t i = 0; (name = ulp_foreign_format_text(i, ULP_FOREIGN_NAME)) != NULL; i++) print_roundings(name);
    for (size_t i = 0; (name = ulp_foreign_datapath_row(i)) != NULL; i++) print_product(name);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            char text[64];
            snprintf(text, sizeof text, "%s:%s", kinds[k], rules[r]);
            print_product(text);
        }
    return 0;
}

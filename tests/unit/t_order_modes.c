/* t_order_modes.c - summation trees where a lost term changes the large one, or products are shifted. */
#include "order.h"

/* In these modes M + u is not M, but a multiple of the last place of M. */
TEST(modes) {
    const char *modes[] = {"rz", "ru", "rd", "ro", "rna"};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        char name[64];
        snprintf(name, sizeof name, "serial:fp32:%s", modes[i]);
        expect_with(name, 20, 1, 0, "{c 0-19}", NULL);
        snprintf(name, sizeof name, "pairwise:fp32:%s", modes[i]);
        expect_with(name, 8, 0, 1, "(((0 1) (2 3)) ((4 5) (6 7)))", NULL);
    }
}

/* A lost term leaves a last place of M where sums are rounded to odd, also in narrow formats and where products are
 * rounded to odd. */
TEST(odd_sums) {
    expect_with("riscv-bf16", 24, 1, 0, "(((c (0-7)) (8-15)) (16-23))", NULL);
    expect_with("riscv-e4m3", 24, 1, 0, "((c (0-15)) (16-23))", NULL);
    expect_with("riscv-e5m2", 32, 0, 0, "((0-15) (16-31))", NULL);
    expect_with("riscv-bf16:L=16:F=27", 40, 0, 0, "(((0-15) (16-31)) (32-39))", NULL);
    expect_with("serial:fp16:ro", 40, 1, 0, "{c 0-39}", NULL);
    expect_with("serial:bf16:ro", 12, 1, 0, "{c 0-11}", NULL);
    expect_with("serial:fp16:ru", 6, 0, 0, "{0-5}", NULL);
    expect_with("chunk4:fp16:ro", 12, 0, 0, "(({0-3} {4-7}) {8-11})", NULL);
    expect_with("pairwise:fp16:ro", 12, 1, 0, "(c <0-11>)", NULL);
}

/* c is not shifted as products are. */
TEST(shifted_products) {
    expect_with("arm-e4m3:shift=3", 12, 1, 0, "{c 0-11:[4]}", NULL);
    expect_with("arm-e5m2-fp16:shift=9", 6, 1, 0, "{c 0-5:[2]}", NULL);
}

TESTS(NULL, NULL)

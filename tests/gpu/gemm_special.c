/* gemm_special.c - matrix products with operands or start values that are no values of the formats, and near ties. */
#include "gemm.h"

/* One operand is no value of the input format. Both backends give the same status, and write nothing if they refuse. */
static void strangers(const check *c) {
    row r = row_of("products: operands that are no values of the input format");
    static const struct {
        const char *name;
        double x;
    } cases[] = {{"h100-e4m3", 0.3}, {"h100-e4m3", INFINITY}, {"h100-fp16", 65536.0},  {"b200-e2m1", NAN},
                 {"b200-e2m1", 5.0}, {"h100-fp16", 0x1p-25},  {"h100-e5m2", INFINITY}, {"h100-bf16", 1.0 + 0x1p-8},
                 {"int8", 128.0},    {"int8", 0.5},           {"int8", -128.0},        {"h100-tf32", NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !r.skipped; i++)
        for (int in_b = 0; in_b < 2; in_b++) {
            ulp_datapath d;
            if (!parsed(&r, &d, cases[i].name)) break;
            const product p = {&d, 9, 35, 34, i % 4, ORDINARY, !d.result.fits_binary32, i + 500};
            arrays x;
            arrays_make(&x, &p);
            put(in_b ? x.b : x.a, in_b ? x.b_size - 1 : 0, cases[i].x, p.wide);
            const ulp_status got = on_device(c, &r, &x, &p, (ulp_stream){1, 0, 0}),
                             want = multiply(c->cpu, x.c, x.a, x.b, &x.s, &p, (ulp_stream){1, 0, 0});
            row_true(&r, got == want, "%s with %g in %s: %s, should be: %s", d.name, cases[i].x, in_b ? "b" : "a",
                     ulp_status_text(got), ulp_status_text(want));
            if (p.wide) row_doubles(&r, x.got, x.c, x.c_size, "%s with %g", d.name, cases[i].x);
            else row_floats(&r, x.got, x.c, x.c_size, "%s with %g", d.name, cases[i].x);
            arrays_drop(&x);
        }
    row_end(&r);
}

/* Start values that are no values of the accumulator's format. The interface promises nothing for them, but both
 * backends form the defined sums. The start value is a tie of the format, and the products are too small to change it
 * in binary64: a kernel that rounds twice gives another result. */
static void strange_starts(const check *c) {
    row r = row_of("products: start values that are no values of the accumulator");
    static const char *const names[] = {"serial:fp16:rne", "serial:e4m3:rne", "serial:bf16:rne",   "chunk4:bf16:rne",
                                        "split:bf16:rne",  "kahan:bf16:rne",  "pairwise:bf16:rne", "serial:fp16:sr"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !r.skipped; i++) {
        ulp_datapath d;
        if (!parsed(&r, &d, names[i])) break;
        for (int in_all = 0; in_all < 2; in_all++) {
            const product p = {&d, 20, 37, 40, ACCUMULATE, ORDINARY, 0, i + 600};
            const ulp_stream stream = {3, 0, 5};
            arrays x;
            arrays_make(&x, &p);
            for (size_t e = 0; e < x.a_size; e++) ((float *)x.a)[e] = 0x1p-50f;
            for (size_t e = 0; e < x.b_size; e++) ((float *)x.b)[e] = 0x1p-50f;
            for (size_t e = in_all ? 0 : x.c_size - 1; e < x.c_size; e++)
                ((float *)x.c)[e] = ((float *)x.got)[e] = 1.0f + ldexpf(1.0f, -(int)d.accumulator.prec);
            row_ok(&r, on_device(c, &r, &x, &p, stream), "%s", d.name);
            row_ok(&r, multiply(c->cpu, x.c, x.a, x.b, &x.s, &p, stream), "%s", d.name);
            row_floats(&r, x.got, x.c, x.c_size, "%s, %s", d.name, in_all ? "all" : "the last");
            arrays_drop(&x);
        }
    }
    row_end(&r);
}

/* Only the last elements of A and B are not zero, so only one sum has a product that is not zero. In binary64 the sum
 * of this product and the start value would be rounded to a tie of the format, because the product has many significant
 * bits or because the start value is small. */
static void lonely_product(const check *c) {
    row r = row_of("products: one that is not zero, beside a tie");
    static const struct {
        const char *name;
        float a, b, start;
    } cases[] = {{"serial:fp16:rne", 1.0f + 0x1p-23f, 0x1p-11f - 0x1p-34f, 1.0f + 0x1p-10f},
                 {"serial:bf16:rne", 1.0f + 0x1p-8f, 1.0f, 0x1p-100f}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !r.skipped; i++) {
        ulp_datapath d;
        const product p = {&d, 20, 37, 40, ACCUMULATE, ORDINARY, 0, 700};
        const ulp_stream stream = {3, 0, 5};
        arrays x;
        if (!parsed(&r, &d, cases[i].name)) break;
        arrays_make(&x, &p);
        for (size_t e = 0; e < x.a_size; e++) ((float *)x.a)[e] = e + 1 == x.a_size ? cases[i].a : 0.0f;
        for (size_t e = 0; e < x.b_size; e++) ((float *)x.b)[e] = e + 1 == x.b_size ? cases[i].b : 0.0f;
        for (size_t e = 0; e < x.c_size; e++) ((float *)x.c)[e] = ((float *)x.got)[e] = cases[i].start;
        row_ok(&r, on_device(c, &r, &x, &p, stream), "%s", d.name);
        row_ok(&r, multiply(c->cpu, x.c, x.a, x.b, &x.s, &p, stream), "%s", d.name);
        row_floats(&r, x.got, x.c, x.c_size, "%s", d.name);
        arrays_drop(&x);
    }
    row_end(&r);
}

void check_special_products(const check *c) {
    strangers(c);
    strange_starts(c);
    lonely_product(c);
}

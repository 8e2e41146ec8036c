/* refusals_products.c - refused arguments of matrix products and column sums: shapes, arrays and datapaths. */
#include "refusals.h"

static const ulp_gemm_shape good = {.m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 3, .ldc = 3};

/* Call gemm and gemm64 for a good shape with one change. */
#define SHAPE(right, change)                                                                                           \
    for (const side *on = w->sides; on < w->sides + 2; on++) {                                                         \
        ulp_gemm_shape s = good;                                                                                       \
        change;                                                                                                        \
        refusals_answered(w, on, ulp_backend_gemm(on->b, on->y, on->x, on->x, &s, SUM(w->sum)), right,                 \
                          "gemm, " #change);                                                                           \
        refusals_answered(w, on, ulp_backend_gemm64(on->b, on->y64, on->x64, on->x64, &s, SUM(w->wide_sum)), right,    \
                          "gemm64, " #change);                                                                         \
        refusals_answered(w, on, ulp_backend_gemm(on->b, on->y, on->x, on->x, &s, SUM(w->wide_sum)), ULP_UNSUPPORTED,  \
                          "gemm of binary64, " #change);                                                               \
    }

static void refused_shapes(both *w) {
    SHAPE(ULP_BAD_ARGUMENT, s.lda = 3);
    SHAPE(ULP_BAD_ARGUMENT, s.ldb = 2);
    SHAPE(ULP_BAD_ARGUMENT, s.ldc = 2);
    SHAPE(ULP_BAD_ARGUMENT, s.ldc = 0);
    SHAPE(ULP_BAD_ARGUMENT, (s.a_trans = 1, s.lda = 1));
    SHAPE(ULP_BAD_ARGUMENT, (s.b_trans = 1, s.ldb = 3));
    SHAPE(ULP_BAD_ARGUMENT, (s.c_trans = 1, s.ldc = 1));
    SHAPE(ULP_BAD_ARGUMENT, (s.k = 0, s.ldc = 2));
    SHAPE(ULP_BAD_ARGUMENT, s.a_scales = on->x);
    SHAPE(ULP_BAD_ARGUMENT, s.b_scales = on->x);
    SHAPE(ULP_BAD_ARGUMENT, (s.k = 0, s.b_scales = on->x));
    SHAPE(ULP_OK, (s.m = 0, s.lda = s.ldb = s.ldc = 0));
    SHAPE(ULP_OK, (s.n = 0, s.lda = s.ldb = s.ldc = 0));
    SHAPE(ULP_OK, (s.m = 0, s.a_scales = on->x));
}

static void refuse_shapes(both *w) {
    if (!w->good) {
        refused_shapes(w);
        return;
    }
    SHAPE(ULP_OK, s.c_trans = 0);
    SHAPE(ULP_OK, (s.a_trans = s.b_trans = s.c_trans = 1, s.lda = 2, s.ldb = 4, s.ldc = 2));
    SHAPE(ULP_OK, (s.k = 0, s.lda = s.ldb = 0));
}

static void refuse_products(both *w) {
    const ulp_gemm_shape empty = {.n = 3, .k = 4}, sumless = {.m = 2, .n = 3, .ldc = 3};
    WITHOUT_EACH(3, ulp_backend_gemm(b, A(0, y), A(1, x), A(2, x), &good, SUM(w->sum)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(b, y, x, x, NULL, SUM(w->sum)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(b, y, x, x, &good, NO_SUM));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(b, NULL, x, x, &sumless, SUM(w->sum)));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_gemm(b, NULL, NULL, NULL, &good, SUM(w->wide_sum)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(b, y, x, x, NULL, SUM(w->wide_sum)));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_gemm(b, NULL, NULL, NULL, &empty, SUM(w->wide_sum)));
    WITHOUT_EACH(3, ulp_backend_gemm64(b, A(0, y64), A(1, x64), A(2, x64), &good, SUM(w->wide_sum)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm64(b, y64, x64, x64, NULL, SUM(w->wide_sum)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm64(b, y64, x64, x64, &good, NO_SUM));
    for (size_t i = 0; i < RULES; i++) {
        ulp_datapath d = w->sum, wide = w->wide_sum;
        d.rule = wide.rule = rules[i].rule;
        EXPECT(rules[i].right, ulp_backend_gemm(b, y, x, x, &good, SUM(d)));
        EXPECT(rules[i].right, ulp_backend_gemm(b, y, NULL, NULL, &sumless, SUM(d)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(b, y, NULL, x, &good, SUM(d)));
        EXPECT(ULP_OK, ulp_backend_gemm(b, NULL, NULL, NULL, &empty, SUM(d)));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_gemm(b, y, x, x, &good, SUM(wide)));
        EXPECT(rules[i].right, ulp_backend_gemm64(b, y64, x64, x64, &good, SUM(wide)));
        EXPECT(ULP_OK, ulp_backend_gemm64(b, NULL, NULL, NULL, &empty, SUM(wide)));
    }
    GOOD(ulp_backend_gemm(b, y, NULL, NULL, &sumless, SUM(w->sum)));
    GOOD(ulp_backend_gemm64(b, y64, NULL, NULL, &sumless, SUM(w->wide_sum)));
}

/* Check what the product of the device itself returns. */
#define NATIVE(right, what, ...) refusals_answered(w, on, ulp_cuda_native_gemm(native, __VA_ARGS__), right, what)

/* Wrong shapes for native products, which have no datapath. */
static void refused_native_shapes(both *w, const ulp_cuda_native *native) {
    static const struct {
        const char *what;
        ulp_gemm_shape s;
    } cases[] = {{"lda 3", {.m = 2, .n = 3, .k = 4, .lda = 3, .ldb = 3, .ldc = 3}},
                 {"ldb 2", {.m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 2, .ldc = 3}},
                 {"ldc 2", {.m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 3, .ldc = 2}},
                 {"ldc 2, no sums", {.m = 2, .n = 3, .ldc = 2}},
                 {"transposed a", {.m = 2, .n = 3, .k = 4, .lda = 1, .ldb = 3, .ldc = 3, .a_trans = 1}},
                 {"transposed b", {.m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 3, .ldc = 3, .b_trans = 1}},
                 {"transposed c", {.m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 3, .ldc = 1, .c_trans = 1}}};
    const side *on = &w->sides[1];
    const ulp_gemm_shape no_rows = {.n = 3, .k = 4}, no_columns = {.m = 2, .k = 4},
                         sumless = {.m = 2, .n = 3, .ldc = 3};
    ulp_gemm_shape s = good;
    if (w->good) {
        NATIVE(ULP_OK, "no sums", on->y, NULL, NULL, &sumless);
        NATIVE(ULP_OK, "good", on->y, on->x, on->x, &good);
        return;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        NATIVE(ULP_BAD_ARGUMENT, cases[i].what, on->y, on->x, on->x, &cases[i].s);
    NATIVE(ULP_BAD_ARGUMENT, "no a", on->y, NULL, on->x, &good);
    NATIVE(ULP_BAD_ARGUMENT, "no b", on->y, on->x, NULL, &good);
    NATIVE(ULP_BAD_ARGUMENT, "no c", NULL, on->x, on->x, &good);
    NATIVE(ULP_BAD_ARGUMENT, "no shape", on->y, on->x, on->x, NULL);
    s.a_scales = on->x;
    NATIVE(ULP_BAD_ARGUMENT, "scales", on->y, on->x, on->x, &s);
    NATIVE(ULP_OK, "no rows", NULL, NULL, NULL, &no_rows);
    NATIVE(ULP_OK, "no columns", NULL, NULL, NULL, &no_columns);
}

static void refuse_native_shapes(both *w) {
    ulp_cuda_native native;
    if (!row_ok(&w->r, ulp_cuda_native_parse(&native, "native:mma:fp16"), "native:mma:fp16")) return;
    if (native.lacks[0] != '\0') row_skip(&w->r, "%s", native.lacks);
    else refused_native_shapes(w, &native);
}

static void refuse_reduce(both *w) {
    const size_t huge = (size_t)1 << 59;
    WITHOUT_EACH(2, ulp_backend_reduce(b, A(0, y), A(1, x), 2, 3, SUM(w->sum)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(b, y, x, 2, 3, NO_SUM));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(b, NULL, NULL, 0, 0, NO_SUM));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(b, NULL, NULL, 0, 3, SUM(w->sum)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(b, NULL, x, 2, 3, SUM(w->wide_sum)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(b, y, NULL, 2, 3, SUM(w->wide_sum)));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_reduce(b, y, x, 2, 3, SUM(w->wide_sum)));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_reduce(b, y, x, huge, 3, SUM(w->wide_sum)));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_reduce(b, NULL, NULL, 2, 0, SUM(w->wide_sum)));
    for (size_t i = 0; i < RULES; i++) {
        ulp_datapath d = w->sum, wide = w->wide_sum;
        d.rule = wide.rule = rules[i].rule;
        EXPECT(rules[i].right, ulp_backend_reduce(b, y, x, 2, 3, SUM(d)));
        EXPECT(rules[i].right, ulp_backend_reduce(b, y, x, huge, 3, SUM(d)));
        EXPECT(rules[i].right, ulp_backend_reduce(b, y, NULL, 0, 3, SUM(d)));
        EXPECT(ULP_OK, ulp_backend_reduce(b, NULL, NULL, 2, 0, SUM(d)));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_reduce(b, y, x, 2, 3, SUM(wide)));
    }
    EXPECT(ULP_OK, ulp_backend_reduce(b, NULL, NULL, 2, 0, SUM(w->sum)));
    EXPECT(ULP_OK, ulp_backend_reduce(b, NULL, NULL, 0, 0, SUM(w->sum)));
    GOOD(ulp_backend_reduce(b, y, NULL, 0, 3, SUM(w->sum)));
}

void check_refused_products(const check *c) {
    static const refusal rows[] = {{"shapes of products", refuse_shapes},
                                   {"arrays and datapaths of products", refuse_products},
                                   {"shapes of native products", refuse_native_shapes},
                                   {"reduce", refuse_reduce}};
    refusals_run(c, rows, sizeof rows / sizeof rows[0]);
}

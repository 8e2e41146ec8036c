/* refusals_products.c - refused arguments of matrix products and column sums: shapes, arrays and datapaths. */
#include "refusals.h"

static const ulp_gemm_shape good = {.m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 3, .ldc = 3};

/* Call gemm and gemm64 for a good shape with one change. */
#define SHAPE(right, change)                                                                                           \
    for (const side *on = w->sides; on < w->sides + 2; on++) {                                                         \
        ulp_gemm_shape s = good;                                                                                       \
        change;                                                                                                        \
        refusals_answered(w, on, ulp_backend_gemm(on->b, on->y, on->x, on->x, &s, (ulp_summation){&w->sum, none}),     \
                          right, "gemm, " #change);                                                                    \
        refusals_answered(                                                                                             \
            w, on, ulp_backend_gemm64(on->b, on->y64, on->x64, on->x64, &s, (ulp_summation){&w->wide_sum, none}),      \
            right, "gemm64, " #change);                                                                                \
        refusals_answered(w, on,                                                                                       \
                          ulp_backend_gemm(on->b, on->y, on->x, on->x, &s, (ulp_summation){&w->wide_sum, none}),       \
                          ULP_UNSUPPORTED, "gemm of binary64, " #change);                                              \
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

static void check_shapes(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: shapes of products")) {
        refused_shapes(w);
        refusals_untouched(w);
        SHAPE(ULP_OK, s.c_trans = 0);
        SHAPE(ULP_OK, (s.a_trans = s.b_trans = s.c_trans = 1, s.lda = 2, s.ldb = 4, s.ldc = 2));
        SHAPE(ULP_OK, (s.k = 0, s.lda = s.ldb = 0));
    }
    refusals_close(w);
}

static void check_products(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: arrays and datapaths of products")) {
        const ulp_gemm_shape empty = {.n = 3, .k = 4}, sumless = {.m = 2, .n = 3, .ldc = 3};
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(on->b, NULL, on->x, on->x, &good, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(on->b, on->y, NULL, on->x, &good, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(on->b, on->y, on->x, NULL, &good, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(on->b, on->y, on->x, on->x, NULL, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(on->b, on->y, on->x, on->x, &good, (ulp_summation){NULL, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(on->b, NULL, on->x, on->x, &sumless, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_gemm(on->b, NULL, NULL, NULL, &good, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_gemm(on->b, on->y, on->x, on->x, NULL, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_gemm(on->b, NULL, NULL, NULL, &empty, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_gemm64(on->b, NULL, on->x64, on->x64, &good, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_gemm64(on->b, on->y64, NULL, on->x64, &good, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_gemm64(on->b, on->y64, on->x64, NULL, &good, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_gemm64(on->b, on->y64, on->x64, on->x64, NULL, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_gemm64(on->b, on->y64, on->x64, on->x64, &good, (ulp_summation){NULL, none}));
        for (size_t i = 0; i < RULES; i++) {
            ulp_datapath d = w->sum, wide = w->wide_sum;
            d.rule = wide.rule = rules[i].rule;
            EXPECT(rules[i].right, ulp_backend_gemm(on->b, on->y, on->x, on->x, &good, (ulp_summation){&d, none}));
            EXPECT(rules[i].right, ulp_backend_gemm(on->b, on->y, NULL, NULL, &sumless, (ulp_summation){&d, none}));
            EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gemm(on->b, on->y, NULL, on->x, &good, (ulp_summation){&d, none}));
            EXPECT(ULP_OK, ulp_backend_gemm(on->b, NULL, NULL, NULL, &empty, (ulp_summation){&d, none}));
            EXPECT(ULP_UNSUPPORTED, ulp_backend_gemm(on->b, on->y, on->x, on->x, &good, (ulp_summation){&wide, none}));
            EXPECT(rules[i].right,
                   ulp_backend_gemm64(on->b, on->y64, on->x64, on->x64, &good, (ulp_summation){&wide, none}));
            EXPECT(ULP_OK, ulp_backend_gemm64(on->b, NULL, NULL, NULL, &empty, (ulp_summation){&wide, none}));
        }
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_gemm(on->b, on->y, NULL, NULL, &sumless, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_OK, ulp_backend_gemm64(on->b, on->y64, NULL, NULL, &sumless, (ulp_summation){&w->wide_sum, none}));
    }
    refusals_close(w);
}

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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refusals_answered(w, on, ulp_cuda_native_gemm(native, on->y, on->x, on->x, &cases[i].s), ULP_BAD_ARGUMENT,
                          cases[i].what);
    refusals_answered(w, on, ulp_cuda_native_gemm(native, on->y, NULL, on->x, &good), ULP_BAD_ARGUMENT, "no a");
    refusals_answered(w, on, ulp_cuda_native_gemm(native, on->y, on->x, NULL, &good), ULP_BAD_ARGUMENT, "no b");
    refusals_answered(w, on, ulp_cuda_native_gemm(native, NULL, on->x, on->x, &good), ULP_BAD_ARGUMENT, "no c");
    refusals_answered(w, on, ulp_cuda_native_gemm(native, on->y, on->x, on->x, NULL), ULP_BAD_ARGUMENT, "no shape");
    s.a_scales = on->x;
    refusals_answered(w, on, ulp_cuda_native_gemm(native, on->y, on->x, on->x, &s), ULP_BAD_ARGUMENT, "scales");
    refusals_answered(w, on, ulp_cuda_native_gemm(native, NULL, NULL, NULL, &no_rows), ULP_OK, "no rows");
    refusals_answered(w, on, ulp_cuda_native_gemm(native, NULL, NULL, NULL, &no_columns), ULP_OK, "no columns");
    refusals_untouched(w);
    refusals_answered(w, on, ulp_cuda_native_gemm(native, on->y, NULL, NULL, &sumless), ULP_OK, "no sums");
    refusals_answered(w, on, ulp_cuda_native_gemm(native, on->y, on->x, on->x, &good), ULP_OK, "good");
}

static void check_native_shapes(const check *c) {
    both pair, *w = &pair;
    ulp_cuda_native native;
    if (refusals_open(w, c, "refused: shapes of native products") &&
        row_ok(&w->r, ulp_cuda_native_parse(&native, "native:mma:fp16"), "native:mma:fp16")) {
        if (native.lacks[0] != '\0') row_skip(&w->r, "%s", native.lacks);
        else refused_native_shapes(w, &native);
    }
    refusals_close(w);
}

static void check_reduce(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: reduce")) {
        const size_t huge = (size_t)1 << 59;
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(on->b, NULL, on->x, 2, 3, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(on->b, on->y, NULL, 2, 3, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(on->b, on->y, on->x, 2, 3, (ulp_summation){NULL, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(on->b, NULL, NULL, 0, 0, (ulp_summation){NULL, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(on->b, NULL, NULL, 0, 3, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(on->b, NULL, on->x, 2, 3, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_reduce(on->b, on->y, NULL, 2, 3, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_reduce(on->b, on->y, on->x, 2, 3, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_reduce(on->b, on->y, on->x, huge, 3, (ulp_summation){&w->wide_sum, none}));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_reduce(on->b, NULL, NULL, 2, 0, (ulp_summation){&w->wide_sum, none}));
        for (size_t i = 0; i < RULES; i++) {
            ulp_datapath d = w->sum, wide = w->wide_sum;
            d.rule = wide.rule = rules[i].rule;
            EXPECT(rules[i].right, ulp_backend_reduce(on->b, on->y, on->x, 2, 3, (ulp_summation){&d, none}));
            EXPECT(rules[i].right, ulp_backend_reduce(on->b, on->y, on->x, huge, 3, (ulp_summation){&d, none}));
            EXPECT(rules[i].right, ulp_backend_reduce(on->b, on->y, NULL, 0, 3, (ulp_summation){&d, none}));
            EXPECT(ULP_OK, ulp_backend_reduce(on->b, NULL, NULL, 2, 0, (ulp_summation){&d, none}));
            EXPECT(ULP_UNSUPPORTED, ulp_backend_reduce(on->b, on->y, on->x, 2, 3, (ulp_summation){&wide, none}));
        }
        EXPECT(ULP_OK, ulp_backend_reduce(on->b, NULL, NULL, 2, 0, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_OK, ulp_backend_reduce(on->b, NULL, NULL, 0, 0, (ulp_summation){&w->sum, none}));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_reduce(on->b, on->y, NULL, 0, 3, (ulp_summation){&w->sum, none}));
        EXPECT(ULP_OK, ulp_backend_reduce(on->b, on->y, on->x, 2, 3, (ulp_summation){&w->sum, none}));
    }
    refusals_close(w);
}

void check_refused_products(const check *c) {
    check_shapes(c);
    check_products(c);
    check_native_shapes(c);
    check_reduce(c);
}

/* multiword_gemm.c - matrix products with several words for each operand, on any backend. */
#include "multiword_gemm.h"

#include "kernels/products/multiword.h"

/* A matrix of operands, and room for one word of each element without gaps between the rows. */
typedef struct operand {
    const float *x; /* (rows, width) with row length ld */
    size_t rows, width, ld;
    const ulp_format *format;
    ulp_rule rule;
    float *word; /* (rows, width) */
} operand;

/* Operands and results of steps: word and remainder are scratch arrays. */
static const ulp_operand rest = {.kind = ULP_OPERAND_SCRATCH, .slot = 0};
static const ulp_operand rounded = {.kind = ULP_OPERAND_SCRATCH, .slot = 1};

static ulp_operand array_of(float *x) { return (ulp_operand){.kind = ULP_OPERAND_ARRAY, .at = x}; }

/* Writes word i of n elements. x is only read. */
static ulp_status take_word(const ulp_backend *backend, const operand *o, float *word, const float *x, size_t n,
                            int i) {
    ulp_update_step step[2 * ULP_WORDS_MAX];
    size_t steps = 0;
    union {
        const float *from;
        float *at;
    } source = {x};
    ulp_operand left = array_of(source.at);
    for (int t = 1; t <= i; t++) {
        step[steps++] = (ulp_update_step){.op = ULP_STEP_ROUND,
                                          .y = t == i ? array_of(word) : rounded,
                                          .a = left,
                                          .format = *o->format,
                                          .rule = o->rule};
        if (t == i) break;
        step[steps++] =
            (ulp_update_step){.op = ULP_SUB, .y = rest, .a = left, .b = rounded, .format = ulp_binary32, .rule = {0}};
        left = rest;
    }
    return backend->update(step, steps, n);
}

/* Writes word i of all elements to o->word. */
static ulp_status take_words(const ulp_backend *backend, const operand *o, int i) {
    if (o->ld == o->width || o->rows <= 1) return take_word(backend, o, o->word, o->x, o->rows * o->width, i);
    for (size_t r = 0; r < o->rows; r++)
        ULP_TRY(take_word(backend, o, o->word + r * o->width, o->x + r * o->ld, o->width, i));
    return ULP_OK;
}

static ulp_status add_products(const ulp_backend *backend, float *c, const operand *a, const operand *b,
                               ulp_gemm_shape s, const ulp_datapath *d) {
    ulp_datapath unit;
    ULP_TRY(ulp_multiword_unit(&unit, d));
    for (int t = 0, i = 0; t < ulp_word_pairs(d); t++) {
        const ulp_word_pair pair = ulp_word_pair_of(d, t);
        if (pair.i != i) ULP_TRY(take_words(backend, a, i = pair.i));
        ULP_TRY(take_words(backend, b, pair.j));
        ULP_TRY(backend->gemm(c, a->word, b->word, &s, (ulp_summation){&unit, {0, 0, 0}}));
        s.accumulate = 1;
    }
    return ULP_OK;
}

ulp_status ulp_multiword_gemm(const ulp_backend *backend, float *c, const float *a, const float *b,
                              const ulp_gemm_shape *shape, const ulp_datapath *d) {
    ulp_gemm_shape s = *shape;
    if (backend->update == NULL || backend->gemm == NULL) return ULP_UNSUPPORTED;
    if (s.m == 0 || s.n == 0) return ULP_OK;
    operand left = {a, s.a_trans ? s.k : s.m, s.a_trans ? s.m : s.k, s.lda, &d->word_a, ulp_word_rule(d), NULL};
    operand right = {b, s.b_trans ? s.n : s.k, s.b_trans ? s.k : s.n, s.ldb, &d->word_b, ulp_word_rule(d), NULL};
    left.word = backend->alloc((left.rows * left.width + 1) * sizeof *left.word);
    right.word = backend->alloc((right.rows * right.width + 1) * sizeof *right.word);
    s.lda = left.width;
    s.ldb = right.width;
    ulp_status status = ULP_NO_MEMORY;
    if (left.word != NULL && right.word != NULL) status = add_products(backend, c, &left, &right, s, d);
    if (right.word != NULL) backend->release(right.word);
    if (left.word != NULL) backend->release(left.word);
    return status;
}

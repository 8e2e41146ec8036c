/* serial_general.c - serial sums in the formats that core.h does not offer: posits, takums, hif8, formats without a
 * sign or with one significant bit; lanes are columns.
 *
 * A product is exact in binary64. Its sum with the partial sum is folded to odd, which keeps 53 bits, and rounds like
 * the exact sum to a format of at most 50 bits: by kernels/rounding/tapered.h or general.h, whose loops over lanes
 * become vectors.
 */
#include "kernels/rounding/general.h"
#include "kernels/rounding/tapered.h"
#include "lanes.h"

/* The texts that round: those of tapered.h, then that of general.h for each kind of format. */
typedef enum text { POSIT, TAKUM, FLOAT, SINGLE, HIF8, TEXTS } text;

typedef struct constants {
    ulp_tapered tapered;
    ulp_general general;
} constants;

typedef void (*run_function)(double *sums, const lanes_products *of, const constants *c, uint32_t mode);

typedef struct work {
    lanes l;
    constants by;
    run_function run;
} work;

/* x rounded; `by` and `mode` are constants. */
ULP_INLINE double rounded(double x, const constants *c, text by, uint32_t mode) {
    if (by == POSIT || by == TAKUM) return ulp_tapered_round64(x, &c->tapered, by == TAKUM, mode, 0);
    const ulp_general_kind kind = by == FLOAT    ? ULP_GENERAL_FLOAT
                                  : by == SINGLE ? ULP_GENERAL_SINGLE
                                                 : ULP_GENERAL_HIF8;
    return ulp_general_round(x, &c->general, (int)kind, mode);
}

/* odd (LANES) = acc (LANES) + a b (LANES), rounded to odd. In mode rd the zero of a cancelled sum is -0. */
ULP_INLINE void odd_sums(double *restrict odd, const double *restrict acc, double a, const double *restrict b,
                         uint32_t mode) {
#if defined(__AVX512F__)
    const vdouble x = all_doubles(a);
    UNROLLED for (size_t j = 0; j < LANES && mode != ULP_RD; j += DOUBLES) {
        const vdouble y = *(const vdouble *)(const void *)(b + j), c = *(const vdouble *)(const void *)(acc + j);
        *(vdouble *)(void *)(odd + j) = odd_between(fused_toward(x, y, c, ULP_RD), fused_toward(x, y, c, ULP_RU));
    }
    if (mode != ULP_RD) return;
#endif
    for (size_t j = 0; j < LANES; j++) odd[j] = ulp_odd_sum(a * b[j], acc[j], mode);
}

/* Adds products to sums (LANES). */
ULP_INLINE void run(double *restrict sums, const lanes_products *of, const constants *from, text by, uint32_t mode) {
    const constants c = *from;
    _Alignas(ULP_VECTOR_BYTES) double acc[LANES], odd[LANES];
    memcpy(acc, sums, sizeof acc);
    for (size_t k = 0; k < of->k; k++) {
        odd_sums(odd, acc, of->a[k], of->b + k * LANES, mode);
        for (size_t j = 0; j < LANES; j++) acc[j] = rounded(odd[j], &c, by, mode);
    }
    memcpy(sums, acc, sizeof acc);
}

/* A function for each text and each deterministic mode; stochastic modes have none. */
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id:                                                                                                           \
        if (!(stochastic)) run(sums, of, c, by, id);                                                                   \
        break;
#define BY_MODE(name, of_text)                                                                                         \
    static void name(double *sums, const lanes_products *of, const constants *c, uint32_t mode) {                      \
        const text by = of_text;                                                                                       \
        switch (mode) {                                                                                                \
            ULP_MODES(CASE)                                                                                            \
        default: break;                                                                                                \
        }                                                                                                              \
    }
BY_MODE(posits, POSIT)
BY_MODE(takums, TAKUM)
BY_MODE(floats, FLOAT)
BY_MODE(singles, SINGLE)
BY_MODE(hif8, HIF8)
static const run_function by_text[TEXTS] = {posits, takums, floats, singles, hif8};

/* The text that rounds to a format; TEXTS: none. */
static text text_of(const ulp_format *f, ulp_rule rule) {
    if (f->prec > 50 || f->emax > 1000 || f->emin < -1000 || f->flushes != 0 || rule.mode >= ULP_MODE_COUNT ||
        ulp_mode_is_stochastic(rule.mode))
        return TEXTS;
    if (f->taper != ULP_TAPER_NONE && ulp_tapered_offers(f, 1)) return f->taper == ULP_TAPER_TAKUM ? TAKUM : POSIT;
    switch (ulp_general_offers(f, rule)) {
    case ULP_GENERAL_FLOAT: return FLOAT;
    case ULP_GENERAL_SINGLE: return SINGLE;
    case ULP_GENERAL_HIF8: return HIF8;
    default: return TEXTS; /* no sum modulo 2^bits: the folding to odd loses bits that count */
    }
}

/* ---- the product ---- */

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t all = w->l.job->s.k;
    double acc[MOST_ROWS][LANES];
    for (size_t i = begin; i < end; i++) lanes_pack_row(&w->l, i);
    for (size_t panel = 0; panel < lanes_panels(&w->l); panel++) {
        for (size_t i = begin; i < end; i++) lanes_start(acc[i - begin], &w->l, i, panel);
        for (size_t k = 0; k < all; k += DEPTH)
            for (size_t i = begin; i < end; i++) {
                const lanes_products of = lanes_products_of(&w->l, i, panel, k, all - k < DEPTH ? all : k + DEPTH);
                w->run(acc[i - begin], &of, &w->by, w->l.job->datapath->rule.mode);
            }
        for (size_t i = begin; i < end; i++) lanes_store(&w->l, i, panel, acc[i - begin]);
    }
}

/* The range of the finite numbers of a matrix of binary64. */
static extent finite_extent(matrix of) {
    enum { PART = 256 };
    const double *x = of.x;
    double part[PART];
    extent all = {0, 0, 0, 1};
    for (size_t i = 0; i < of.rows; i++)
        for (size_t j = 0; j < of.width; j += PART) {
            const size_t n = of.width - j < PART ? of.width - j : PART;
            for (size_t t = 0; t < n; t++) {
                const double v = x[i * of.ld + j + t];
                part[t] = v - v == 0.0 ? v : 0.0;
            }
            all = extent_both(all, extent_of(part, n));
        }
    return all;
}

/* Whether every product is exact in binary64, and every sum with it, too, but for one rounding. */
static int products_are_exact(const ulp_job *job) {
    if (!job->wide || job->s.k == 0) return 1;
    const extent a = finite_extent(matrix_a(job)), b = finite_extent(matrix_b(job));
    const extent c = job->s.accumulate ? finite_extent(matrix_c(job)) : (extent){0, 0, 0, 1};
    return a.narrow && b.narrow && c.narrow && a.bits + b.bits <= 53;
}

int ULP_CPU(ulp_serves_serial_general)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    return d->kind == ULP_SERIAL && d->length == 1 && d->promote == 0 && d->zero_a == 0 && d->zero_b == 0 &&
           !d->has_inputs && text_of(&d->accumulator, d->rule) != TEXTS;
}

ulp_status ULP_CPU(ulp_product_serial_general)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    work w = {.l = {.job = job}, .run = by_text[text_of(&d->accumulator, d->rule)]};
    if (!products_are_exact(job)) return ULP_UNSUPPORTED;
    if (d->accumulator.taper == ULP_TAPER_POSIT || d->accumulator.taper == ULP_TAPER_TAKUM)
        w.by.tapered = ulp_tapered_of(&d->accumulator, d->rule);
    else w.by.general = ulp_general_of(&d->accumulator, d->rule);
    rooms r = {.count = 0};
    lanes_room(&w.l, &r);
    if (!r.failed) {
        ulp_parallel_for(lanes_panels(&w.l), 1, lanes_pack_part, &w.l);
        ulp_parallel_for(job->s.m, row_grain(job->s.m), rows_part, &w);
    }
    return rooms_end(&r);
}

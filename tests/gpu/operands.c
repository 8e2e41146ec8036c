/* operands.c - operands of products by an instruction, of kinds that show different properties. */
#include "operands.h"

#include "formats/rng.h"

const char *kind_name(kind what) {
    static const char *const names[] = {
        "normal data",     "random codes", "special values", "tiny data",          "zeros beside large values",
        "cancelling data", "long sums",    "ties",           "zeros of both signs"};
    return names[what];
}

double in_format(double x, const ulp_format *f) {
    return isfinite(x) ? ulp_round(x, f, (ulp_rule){ULP_RNE, ULP_OVERFLOW_SAT, 0}, 0) : x;
}

/* An array that is filled: A, B or C of a product. */
typedef struct array {
    double *x;
    kind what;
    const ulp_cuda_native *d;
    const ulp_format *f;
    uint64_t seed;
    enum { OF_A, OF_B, START } place;
    size_t step, k; /* the k of element i is i / step % k */
    int limit;      /* random codes are below 2^limit */
} array;

/* The four random words of an element. */
typedef philox4x32_ctr_t words;

/* A number with a random significand of 53 bits and a random sign, from 2^exponent to 2^(exponent + 1). */
static double number(const words *w, int exponent) {
    const uint64_t fraction = ((uint64_t)w->v[0] << 32 | w->v[1]) & (((uint64_t)1 << 52) - 1);
    const double m = 1.0 + (double)fraction * 0x1p-52;
    return ulp_scale(w->v[0] >> 31 ? -m : m, exponent);
}

/* A sum of four uniform numbers, which is nearly normal, with bits below those of the words. */
static double normal(const words *w) {
    double sum = (double)(w->v[0] * 0x9e3779b9u) * 0x1p-62 - 2.0;
    for (int k = 0; k < 4; k++) sum += (double)w->v[k] * 0x1p-32;
    return 1.75 * sum;
}

/* The value of a random code; its magnitude is at most 2^limit. */
static double value_of_code(const ulp_format *f, int limit, uint64_t seed, uint64_t i) {
    for (uint64_t again = 0;; again++) {
        const words w = ulp_random_block(seed, 1 + again, i);
        const uint64_t code = (uint64_t)w.v[0] << 32 | w.v[1];
        const double x = ulp_decode(f->bits < 64 ? code >> (64 - f->bits) : code, f);
        if (fabs(x) <= ulp_scale(1.0, limit)) return x;
    }
}

/* An end of the format, Inf or NaN if it has them, or the value of any code. */
static double special(const ulp_format *f, const words *w) {
    const double ends[] = {INFINITY, -INFINITY, NAN, f->max, f->lowest, f->min_normal, -f->min_positive, -0.0};
    const uint64_t code = (uint64_t)w->v[2] << 32 | w->v[3];
    const double x = w->v[1] & 1 ? ends[w->v[2] % 8] : ulp_decode(f->bits < 64 ? code >> (64 - f->bits) : code, f);
    return (isinf(x) && !f->has_inf) || (isnan(x) && f->nan_codes == ULP_NAN_NONE) ? f->max : x;
}

/* The exponents of the operands of ties: their products are small multiples of half a unit in the last place of C. */
static int tie_exponent(const ulp_cuda_native *d, const ulp_format *f) {
    const int half = -(int)d->result.prec / 2;
    return half > f->qmin ? half : f->qmin;
}

static double start_of(const array *w, const words *r, uint64_t i) {
    const ulp_format *f = w->f;
    if (f->is_fixed && r->v[3] % 4 == 0) return r->v[2] & 1 ? f->max : f->lowest;
    switch (w->what) {
    case SPECIALS:
        if (f->is_fixed) return 1e9 * normal(r);
        return r->v[0] % 32 == 0 ? special(f, r) : value_of_code(f, f->emax + 1, w->seed, i);
    case SIGNS: return r->v[0] & 1 ? -0.0 : 0.0;
    case TINY: return number(r, f->qmin + 4 + (int)(r->v[2] % 16));
    case TIES: return number(r, tie_exponent(w->d, &w->d->a) + tie_exponent(w->d, &w->d->b) + (int)f->prec);
    default: return (f->is_fixed ? 1e9 : 4.0) * normal(r);
    }
}

static double operand_of(const array *w, const words *r, uint64_t i) {
    const ulp_format *f = w->f;
    const int lowest = w->d->result.qmin / 2;
    switch (w->what) {
    case SPECIALS:
        if (r->v[0] % 256 == 0) return special(f, r);
        return value_of_code(f, w->limit, w->seed, i);
    case CODES: return value_of_code(f, w->limit, w->seed, i);
    case TINY: /* products have the lowest exponents of the result */
        return number(r, (lowest > f->qmin + 4 ? lowest : f->qmin + 4) + (int)(r->v[2] % 16) - 8);
    case ZEROS: { /* in every product one factor is large or zero, and the other one is small or zero */
        const int large = i / w->step % w->k % 2 == (w->place == OF_B),
                  e = (large ? f->emax : 0) - 8 + (int)(r->v[2] % 16) - 8;
        if (r->v[3] % 3 == 0) return r->v[3] & 64 ? -0.0 : 0.0;
        return number(r, e > f->qmin ? e : f->qmin);
    }
    case SIGNS: return (r->v[0] & 1 ? -1.0 : 1.0) * (double)(r->v[1] & 1);
    case TIES:
        return ulp_scale((r->v[0] & 1 ? -1.0 : 1.0) * (w->place == OF_A ? 1.0 + (double)(r->v[1] % 3) : 1.0),
                         tie_exponent(w->d, f));
    default: return (f->is_fixed ? 48.0 : 1.0) * normal(r);
    }
}

static void fill_part(void *context, size_t begin, size_t end) {
    const array *w = context;
    for (size_t i = begin; i < end; i++) {
        const words r = ulp_random_block(w->seed, 0, i);
        w->x[i] = in_format(w->place == START ? start_of(w, &r, i) : operand_of(w, &r, i), w->f);
    }
}

/* Most products of odd k are the negative of the product before; in one of eight cases B differs. */
static void make_cancelling(matrices *t, const ulp_format *a) {
    for (size_t i = 0; i < t->m; i++)
        for (size_t k = 1; k < t->k; k += 2) /* 128 is not a value of int8 */
            t->wide_a[i * t->k + k] = in_format(-t->wide_a[i * t->k + k - 1], a);
    for (size_t k = 1; k < t->k; k += 2)
        for (size_t j = 0; j < t->n; j++)
            if (word_of(77, j * t->k + k) % 8 != 0) t->wide_b[k * t->n + j] = t->wide_b[(k - 1) * t->n + j];
}

/* x (n) = block scales: random codes; else numbers around 1, some of them negative, since signs do not count. */
static void fill_scales(float *x, size_t n, kind what, const ulp_format *f, int limit, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        const words r = ulp_random_block(seed, 0, i);
        if (what == SPECIALS && r.v[0] % 64 == 0) {
            x[i] = (float)in_format(special(f, &r), f);
        } else if (what == CODES || what == SPECIALS) {
            x[i] = (float)value_of_code(f, limit, seed, i);
        } else {
            const double fraction = f->prec > 1 ? 1.0 + (double)(r.v[0] & 7u) / 8.0 : 1.0;
            x[i] = (float)ulp_scale(f->is_signed && r.v[2] % 3 == 0 ? -fraction : fraction, (int)(r.v[1] & 7u) - 4);
        }
    }
}

static int least(int x, int y) { return x < y ? x : y; }

void fill_operands(matrices *t, kind what, const ulp_cuda_native *d, uint64_t seed) {
    /* sums of random codes have to be finite: 10 bits are for the number of products */
    const int room = d->result.emax - 10, a = least(d->a.emax + 1, room / 2), b = least(d->b.emax + 1, room / 2);
    array arrays[] = {{t->wide_a, what, d, &d->a, seed, OF_A, 1, t->k, a},
                      {t->wide_b, what, d, &d->b, seed + 1, OF_B, t->n, t->k, b},
                      {t->wide_c, what, d, &d->result, seed + 2, START, 1, 1, 0}};
    const size_t sizes[] = {t->m * t->k, t->k * t->n, t->m * t->n};
    float *const narrow[] = {t->a, t->b, t->c};
    for (size_t p = 0; p < 3; p++) ulp_parallel_for(sizes[p], 1024, fill_part, &arrays[p]);
    if (what == CANCELLING) make_cancelling(t, &d->a);
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < sizes[p]; i++) narrow[p][i] = (float)arrays[p].x[i];
    const int limit = (room - a - b) / 2;
    if (t->a_scales != NULL) fill_scales(t->a_scales, t->m * t->blocks, what, &d->scale, limit, seed + 5);
    if (t->b_scales != NULL) fill_scales(t->b_scales, t->n * t->blocks, what, &d->scale, limit, seed + 6);
}

size_t count_ordinary(const double *x, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += isfinite(x[i]) && x[i] != 0.0;
    return count;
}

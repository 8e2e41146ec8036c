/* fixed.c - serial sums in fixed point of at most 16 bits, every partial sum rounded and saturated or wrapped around,
 * in lanes of 32-bit integers; lanes are columns.
 *
 * Let F be the fraction bits of a format of n bits, 1 <= F < n. An operand is an integer of n bits times 2^-F, and a
 * product is an integer times 2^-2F, below 2^(2n-2) in magnitude or equal to it. A sum is held as an integer times
 * 2^-2F, too: a multiple of 2^F, at most 2^(n-1+F) in magnitude. So a sum plus a product, and what a rounding adds, is
 * below 2^31 in magnitude. Rounding clears the last F bits.
 */
#include "kernels/cpu/floats.h"
#include "gemm.h"

/* The vectors of a row, and the rows of a block: their sums fit the registers beside the constants. */
enum { VECTORS = 2, LANES = VECTORS * FLOATS, ROWS = ULP_REGISTERS == 32 ? 6 : 3 };

typedef struct work {
    const ulp_job *job;
    int32_t *packed, *rows; /* B as panels of (k, LANES), zero-padded; A as blocks of (k, ROWS) */
    double unit;            /* 2^F */
    double low, high;       /* the least and the largest integer of the format */
    int bad;                /* an operand or a start value is no value of the format */
} work;

/* The constants of a rounding; sums are in units of 2^-2F. */
typedef struct limits {
    int32_t least, most; /* of saturated sums */
    int up;              /* wrapped sums: the bits above those of the format */
    uint32_t unit;       /* 2^F */
} limits;

/* The modes that `rounded` knows. */
#define FIXED_MODES(X)                                                                                                 \
    X(ULP_RNE)                                                                                                         \
    X(ULP_RNA)                                                                                                         \
    X(ULP_RZ)                                                                                                          \
    X(ULP_RU)                                                                                                          \
    X(ULP_RD)                                                                                                          \
    X(ULP_RO)                                                                                                          \
    X(ULP_RNU)                                                                                                         \
    X(ULP_RNZ)                                                                                                         \
    X(ULP_RND)
#define BIT(mode) | 1 << mode
enum { MODES = 0 FIXED_MODES(BIT) };

/* ---- vectors ---- */

ULP_INLINE vint all_ints(int32_t x) { return (vint){0} + x; }

/* Products of integers of 16 bits. x86 has an instruction that adds two of them; the upper half of a is zero there. */
#if defined(__SSE2__)
ULP_INLINE vint products(vint a, vint b) { return (vint)MM(madd_epi16)((MM_INTS)a, (MM_INTS)b); }
ULP_INLINE int32_t as_factor(int32_t x) { return x & 0xffff; }
#else
ULP_INLINE vint products(vint a, vint b) { return a * b; }
ULP_INLINE int32_t as_factor(int32_t x) { return x; }
#endif

/* s rounded to a multiple of the unit. The last bits of s, in two's complement, are what s has beyond the multiple
 * below. */
ULP_INLINE vint rounded(vint s, uint32_t unit, uint32_t mode) {
    const vuint u = (vuint)s, one = all_uints(unit), low = one - 1u, half = all_uints(unit >> 1);
    const vuint negative = (vuint)(s >> 31); /* -1 where s is negative */
    vuint more = half;
    if (mode == ULP_RO) {
        const vuint down = u & ~low, up = (u + low) & ~low;
        return (vint)(down | ((down ^ up) & one)); /* of two neighbours one is odd */
    }
    if (mode == ULP_RNE) more = one_more_where(u, one, half - 1u);
    if (mode == ULP_RNA) more = half + negative;
    if (mode == ULP_RZ) more = negative & low;
    if (mode == ULP_RU) more = low;
    if (mode == ULP_RD) return (vint)(u & ~low);
    if (mode == ULP_RNZ) more = (half - 1u) - negative;
    if (mode == ULP_RND) more = half - 1u;
    return (vint)((u + more) & ~low);
}

/* sums (ROWS, LANES) += a (k, ROWS) b (k, LANES). `mode` and `wraps` are constants. */
ULP_INLINE void run(int32_t *sums, const int32_t *a, const int32_t *b, size_t k, const limits *of, uint32_t mode,
                    int wraps) {
    const limits l = *of;
    const vint least = all_ints(l.least), most = all_ints(l.most);
    vint acc[ROWS][VECTORS];
    memcpy(acc, sums, sizeof acc);
    for (size_t i = 0; i < k; i++, a += ROWS, b += LANES) {
        UNROLLED for (int r = 0; r < ROWS; r++) {
            const vint x = all_ints(a[r]);
            UNROLLED for (int v = 0; v < VECTORS; v++) {
                const vint y = ((const vint *)(const void *)b)[v],
                           s = rounded(acc[r][v] + products(x, y), l.unit, mode);
                if (wraps) acc[r][v] = (vint)((vuint)s << l.up) >> l.up;
                else acc[r][v] = larger_ints(smaller_ints(s, most), least);
                IN_REGISTER(acc[r][v]);
            }
        }
    }
    memcpy(sums, acc, sizeof acc);
}

typedef void (*run_function)(int32_t *sums, const int32_t *a, const int32_t *b, size_t k, const limits *of);

#define FUNCTIONS(mode)                                                                                                \
    static void saturated_##mode(int32_t *sums, const int32_t *a, const int32_t *b, size_t k, const limits *of) {      \
        run(sums, a, b, k, of, mode, 0);                                                                               \
    }                                                                                                                  \
    static void wrapped_##mode(int32_t *sums, const int32_t *a, const int32_t *b, size_t k, const limits *of) {        \
        run(sums, a, b, k, of, mode, 1);                                                                               \
    }
FIXED_MODES(FUNCTIONS)

static const run_function by_mode[2][ULP_MODE_COUNT] = {
#define ROW(mode) [mode] = saturated_##mode,
    {FIXED_MODES(ROW)},
#undef ROW
#define ROW(mode) [mode] = wrapped_##mode,
    {FIXED_MODES(ROW)},
#undef ROW
};

/* ---- the product ---- */

static size_t blocks_of(const ulp_job *job) { return (job->s.m + ROWS - 1) / ROWS; }
static size_t panels_of(const ulp_job *job) { return (job->s.n + LANES - 1) / LANES; }

/* x times 2^F. Sets *bad where x is no value of the format. */
ULP_INLINE int32_t integer_of(const work *w, double x, int *bad) {
    const double number = x * w->unit, least = number > w->low ? number : w->low, /* NaN becomes `low` */
        near = least < w->high ? least : w->high;
    const int32_t integer = (int32_t)near;
    *bad |= (double)integer != number;
    return integer;
}

static void tell(work *w, int bad) {
    if (bad) __atomic_store_n(&w->bad, 1, __ATOMIC_RELAXED);
}

static void pack_panels(void *context, size_t begin, size_t end) {
    work *w = context;
    const ulp_job *job = w->job;
    const size_t k = job->s.k;
    int bad = 0;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t j0 = panel * LANES, width = job->s.n - j0 < LANES ? job->s.n - j0 : LANES;
        int32_t *to = w->packed + panel * k * LANES;
        if (width < LANES) memset(to, 0, k * LANES * sizeof *to);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < width; j++)
                to[i * LANES + j] = integer_of(w, job_at(job, job->b, b_index(job, i, j0 + j)), &bad);
    }
    tell(w, bad);
}

static void pack_rows(void *context, size_t begin, size_t end) {
    work *w = context;
    const ulp_job *job = w->job;
    int bad = 0;
    for (size_t block = begin; block < end; block++) {
        int32_t *to = w->rows + block * job->s.k * ROWS;
        for (size_t r = 0; r < ROWS; r++)
            for (size_t i = 0; i < job->s.k; i++) {
                const size_t row = block * ROWS + r;
                to[i * ROWS + r] =
                    row < job->s.m ? as_factor(integer_of(w, job_at(job, job->a, a_index(job, row, i)), &bad)) : 0;
            }
    }
    tell(w, bad);
}

static void check_starts(work *w) {
    const ulp_job *job = w->job;
    int bad = 0;
    for (size_t i = 0; i < job->s.m && job->s.accumulate; i++)
        for (size_t j = 0; j < job->s.n; j++) (void)integer_of(w, job_at(job, job->c, i * job->s.ldc + j), &bad);
    tell(w, bad);
}

static void block_part(const work *w, size_t block, size_t panel, const limits *of, run_function add) {
    const ulp_job *job = w->job;
    const size_t i0 = block * ROWS, j0 = panel * LANES, rows = job->s.m - i0 < ROWS ? job->s.m - i0 : ROWS,
                 width = job->s.n - j0 < LANES ? job->s.n - j0 : LANES, k = job->s.k;
    const double last = 1.0 / (w->unit * w->unit);
    _Alignas(64) int32_t sums[ROWS * LANES] = {0};
    int bad = 0;
    for (size_t r = 0; r < rows && job->s.accumulate; r++)
        for (size_t j = 0; j < width; j++)
            sums[r * LANES + j] =
                integer_of(w, job_at(job, job->c, (i0 + r) * job->s.ldc + j0 + j), &bad) * (int32_t)of->unit;
    add(sums, w->rows + block * k * ROWS, w->packed + panel * k * LANES, k, of);
    for (size_t r = 0; r < rows; r++) {
        const size_t at = (i0 + r) * job->s.ldc + j0;
        const int32_t *from = sums + r * LANES;
        if (job->wide)
            for (size_t j = 0; j < width; j++) ((double *)job->c)[at + j] = (double)from[j] * last;
        else
            for (size_t j = 0; j < width; j++) ((float *)job->c)[at + j] = (float)((double)from[j] * last);
    }
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_datapath *d = w->job->datapath;
    const ulp_format *f = &d->accumulator;
    const uint32_t policy = (uint32_t)ulp_overflow_of(f, (ulp_overflow)d->rule.overflow);
    const int32_t unit = 1 << f->frac_bits, least = policy == ULP_OVERFLOW_SYM ? -(int32_t)w->high : (int32_t)w->low;
    const limits of = {least * unit, (int32_t)w->high * unit, 32 - f->bits - f->frac_bits, (uint32_t)unit};
    const run_function add = by_mode[policy == ULP_OVERFLOW_WRAP][d->rule.mode];
    for (size_t panel = 0; panel < panels_of(w->job); panel++)
        for (size_t block = begin; block < end; block++) block_part(w, block, panel, &of, add);
}

int ULP_CPU(ulp_serves_fixed)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    const uint32_t policy = (uint32_t)ulp_overflow_of(f, (ulp_overflow)d->rule.overflow);
    return d->kind == ULP_SERIAL && d->length == 1 && d->promote == 0 && d->zero_a == 0 && d->zero_b == 0 &&
           job->s.k > 0 && f->is_fixed && f->is_signed && !f->has_neg_zero && f->flushes == 0 && f->bits <= 16 &&
           f->frac_bits >= 1 && f->frac_bits < f->bits && ulp_mode_in(d->rule.mode, MODES) &&
           (policy == ULP_OVERFLOW_SAT || policy == ULP_OVERFLOW_SYM || policy == ULP_OVERFLOW_WRAP);
}

ulp_status ULP_CPU(ulp_product_fixed)(const ulp_job *job) {
    const ulp_format *f = &job->datapath->accumulator;
    const double high = (double)((1 << (f->bits - 1)) - 1);
    work w = {.job = job, .unit = ulp_scale(1.0, f->frac_bits), .low = -high - 1.0, .high = high};
    const size_t panels = panels_of(job), blocks = blocks_of(job);
    rooms r = {.count = 0};
    w.packed = rooms_take(&r, panels * job->s.k * LANES, sizeof *w.packed);
    w.rows = rooms_take(&r, blocks * job->s.k * ROWS, sizeof *w.rows);
    if (!r.failed) {
        check_starts(&w);
        ulp_parallel_for(panels, 1, pack_panels, &w);
        ulp_parallel_for(blocks, 16, pack_rows, &w);
        if (!w.bad) ulp_parallel_for(blocks, row_grain(blocks), blocks_part, &w);
    }
    const ulp_status status = rooms_end(&r);
    return status == ULP_OK && w.bad ? ULP_UNSUPPORTED : status;
}

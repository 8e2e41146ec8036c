/* block_bounds.c - block sums to nearest in binary32 of any operands: c and the products of a step are added in
 * binary64 to a lower and an upper bound of the exact sum; lanes are columns.
 *
 * Products of binary32 values are exact in binary64. Where both bounds round to the same binary32 number, the exact sum
 * rounds to it, too, because rounding is monotone. The other sums, about one in 2^24, are formed by the definition.
 * Where more of them are open, as sums that meet ties or infinities are, exact.c forms the sums.
 *
 * With AVX-512 the bounds are the sums rounded down and up. Elsewhere they are the sum s to nearest, and s - e and s +
 * e with e = (n + 8) 2^-53 m for n products: m is the sum of the magnitudes, to nearest. Each of the n roundings of s
 * errs by 2^-53 m (1 + n 2^-53) at most, those of m, e and the bounds by 2^-53 m each.
 */
#include "lanes.h"

#if defined(MM_HAS_FMA)

/* The sums that registers hold: rows, and vectors of a row. */
enum { ROWS = ULP_REGISTERS == 32 ? 4 : 2, GROUP = 2, WIDTH = GROUP * DOUBLES };
_Static_assert(LANES % WIDTH == 0, "a panel is whole groups");

enum { STEPS = 32 };     /* steps between two looks at the open sums */
enum { MOST_OPEN = 32 }; /* exact.c forms the sums of a block of rows and a panel where one of so many was open */

typedef struct work {
    lanes l;
    double bound;  /* (n + 8) 2^-53 */
    uint8_t *left; /* (blocks of rows, panels): 1 where exact.c is to form the sums */
} work;

typedef struct bounds {
    vfloats low, high;
} bounds;

ULP_INLINE vfloats narrow(vdouble x) {
#if defined(__AVX512F__)
    return (vfloats)_mm512_cvtpd_ps((__m512d)x);
#elif defined(__AVX2__)
    return (vfloats)_mm256_cvtpd_ps((__m256d)x);
#else
    return __builtin_convertvector(x, vfloats);
#endif
}

/* The bounds of c plus n products, rounded. A sum of zeros has one sign, or bounds of both signs. */
ULP_INLINE bounds bounds_of(vdouble c, const double *a, const double *b, size_t n, double bound) {
    const vdouble *const columns = (const vdouble *)(const void *)b;
    const size_t next = LANES / DOUBLES;
#if defined(__AVX512F__)
    (void)bound;
    vdouble low = c, high = c;
    for (size_t t = 0; t < n; t++) {
        const vdouble x = all_doubles(a[t]), y = columns[t * next];
        low = fused_toward(x, y, low, ULP_RD);
        high = fused_toward(x, y, high, ULP_RU);
    }
    return (bounds){narrow(low + 0.0), narrow(high)}; /* the lower bound of a cancelled sum is -0 */
#else
    const vbits size = all_bits(~(1ull << 63));
    vdouble sum = c, most = (vdouble)((vbits)c & size);
    for (size_t t = 0; t < n; t++) {
        const vdouble x = all_doubles(a[t]), y = columns[t * next];
        sum = fused(x, y, sum);
        most = fused((vdouble)((vbits)x & size), (vdouble)((vbits)y & size), most);
    }
    const vdouble e = most * bound;
    return (bounds){narrow(sum - e), narrow(sum + e)};
#endif
}

/* sums (ROWS, LANES) += `steps` steps of n products of rows of A, `row` numbers apart, and columns of a panel. Words of
 * `open` (ROWS, LANES) become other than zero where a sum is open; then it is of no use. */
ULP_INLINE void add_steps(double *sums, uint32_t *open, const double *a, size_t row, const double *b, size_t steps,
                          size_t n, double bound) {
    vdouble acc[ROWS][GROUP];
    vwords differ[ROWS][GROUP];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < GROUP; v++) {
        acc[r][v] = ((const vdouble *)(const void *)(sums + r * LANES))[v];
        differ[r][v] = (vwords){0};
    }
    for (size_t i = 0; i < steps * n; i += n)
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < GROUP; v++) {
            const bounds s = bounds_of(acc[r][v], a + (size_t)r * row + i, b + i * LANES + v * DOUBLES, n, bound);
            differ[r][v] |= (vwords)s.low ^ (vwords)s.high;
            acc[r][v] = wide_floats(s.high);
        }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < GROUP; v++) {
        ((vdouble *)(void *)(sums + r * LANES))[v] = acc[r][v];
        memcpy(open + r * LANES + v * DOUBLES, &differ[r][v], sizeof differ[r][v]);
    }
}

static void add_steps_any(double *sums, uint32_t *open, const double *a, size_t row, const double *b, size_t steps,
                          size_t n, double bound) {
    for (size_t g = 0; g < LANES; g += WIDTH) {
        if (n == 2) add_steps(sums + g, open + g, a, row, b + g, steps, 2, bound);
        else if (n == 4) add_steps(sums + g, open + g, a, row, b + g, steps, 4, bound);
        else if (n == 8) add_steps(sums + g, open + g, a, row, b + g, steps, 8, bound);
        else add_steps(sums + g, open + g, a, row, b + g, steps, n, bound);
    }
}

/* c plus k products of a row and a column of a panel, in steps of n, by the definition. */
static double by_definition(const ulp_datapath *d, double c, const double *a, const double *b, size_t k, size_t n) {
    for (size_t i = 0; i < k; i += n) {
        ulp_wide wide;
        ulp_wide_clear(&wide);
        ulp_wide_add(&wide, c, 1.0);
        for (size_t t = i; t < i + n && t < k; t++) ulp_wide_add(&wide, a[t], b[t * LANES]);
        c = ulp_round_exact(ulp_wide_exact(&wide), &d->accumulator, d->rule, 0);
    }
    return c;
}

/* Forms the open sums from those before, `width` of a row. Returns their number. */
static size_t close_sums(const work *w, double *sums, const double *before, const uint32_t *open, const double *a,
                         const double *b, size_t k, size_t rows, size_t width) {
    const ulp_datapath *d = w->l.job->datapath;
    size_t count = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) {
            const size_t at = r * LANES + j;
            if (open[at] == 0) continue;
            sums[at] = by_definition(d, before[at], a + r * w->l.job->s.k, b + j, k, d->step);
            count++;
        }
    return count;
}

/* The sums of a block of rows and a panel. Returns 0, with C as before, if too many are open. */
static int block_part(const work *w, size_t block, size_t panel) {
    const size_t all = w->l.job->s.k, n = w->l.job->datapath->step, m = w->l.job->s.m, first = block * ROWS,
                 rows = m - first < ROWS ? m - first : ROWS, width = lanes_width(&w->l, panel);
    _Alignas(64) double sums[ROWS * LANES] = {0}, before[ROWS * LANES];
    uint32_t open[ROWS * LANES];
    size_t count = 0, most = 4;
    for (size_t r = 0; r < rows; r++) lanes_start(sums + r * LANES, &w->l, first + r, panel);
    for (size_t k = 0, end; k < all; k = end) {
        /* whole steps, and a last step with fewer products */
        const size_t left = all - k, steps = left / n < STEPS ? left / n : STEPS, part = steps > 0 ? n : left;
        const double *a = w->l.rows + first * all + k, *b = lanes_panel(&w->l, panel) + k * LANES;
        uint32_t any = 0;
        end = k + (steps > 0 ? steps * n : left);
        memcpy(before, sums, sizeof sums);
        add_steps_any(sums, open, a, all, b, steps > 0 ? steps : 1, part, w->bound);
        for (size_t i = 0; i < ROWS * LANES; i++) any |= open[i];
        if (any != 0) count += close_sums(w, sums, before, open, a, b, end - k, rows, width);
        most += rows * width / MOST_OPEN;
        if (count > most) return 0;
    }
    for (size_t r = 0; r < rows; r++) lanes_store(&w->l, first + r, panel, sums + r * LANES);
    return 1;
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t panels = lanes_panels(&w->l);
    for (size_t i = begin * ROWS; i < end * ROWS && i < w->l.job->s.m; i++) lanes_pack_row(&w->l, i);
    for (size_t panel = 0; panel < panels; panel++)
        for (size_t block = begin; block < end; block++) w->left[block * panels + panel] = !block_part(w, block, panel);
}

/* The product of a block of rows and a panel. */
static ulp_job job_of(const ulp_job *job, size_t block, size_t panel) {
    ulp_job part = *job;
    const size_t i = block * ROWS, j = panel * LANES;
    part.i0 += i;
    part.j0 += j;
    part.s.m = job->s.m - i < ROWS ? job->s.m - i : ROWS;
    part.s.n = job->s.n - j < LANES ? job->s.n - j : LANES;
    part.c = (float *)job->c + i * job->s.ldc + j;
    part.a = (const float *)job->a + a_index(job, i, 0);
    part.b = (const float *)job->b + b_index(job, 0, j);
    return part;
}

int ULP_CPU(ulp_serves_block_bounds)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    return !job->wide && job->s.k > 0 && d->kind == ULP_SERIAL && d->length > 1 && d->zero_a == 0 && d->zero_b == 0 &&
           d->promote == 0 && !d->has_inputs && f->prec == 24 && f->emin == -126 && f->emax == 127 && f->is_signed &&
           f->has_inf && f->has_subnormals && f->has_neg_zero && !f->is_fixed && d->rule.mode == ULP_RNE &&
           ulp_overflow_of(f, (ulp_overflow)d->rule.overflow) == ULP_OVERFLOW_INF;
}

ulp_status ULP_CPU(ulp_product_block_bounds)(const ulp_job *job) {
    work w = {.l = {.job = job}, .bound = ulp_scale((double)(job->datapath->step + 8), -53)};
    const size_t blocks = (job->s.m + ROWS - 1) / ROWS, panels = lanes_panels(&w.l), k = job->s.k;
    rooms r = {.count = 0};
    w.l.packed = rooms_take(&r, panels * k * LANES, sizeof *w.l.packed);
    w.l.rows = rooms_take(&r, blocks * ROWS * k, sizeof *w.l.rows);
    w.left = rooms_take(&r, blocks * panels, sizeof *w.left);
    if (!r.failed) {
        memset(w.l.rows + job->s.m * k, 0, (blocks * ROWS - job->s.m) * k * sizeof *w.l.rows);
        ulp_parallel_for(panels, 1, lanes_pack_part, &w.l);
        ulp_parallel_for(blocks, row_grain(blocks), blocks_part, &w);
    }
    for (size_t i = 0; i < blocks * panels && !r.failed; i++) {
        if (!w.left[i]) continue;
        const ulp_job part = job_of(job, i / panels, i % panels);
        r.failed |= ULP_CPU(ulp_product_exact)(&part) != ULP_OK;
    }
    return rooms_end(&r);
}

#else

ULP_PATH_ABSENT(block_bounds)

#endif

/* exact.c - exact sums of products: `exact`, and `block`, which rounds once in N products; lanes are columns.
 *
 * A sum has n products, each a multiple of 2^low below 2^top in magnitude. One to PARTS binary64 numbers, which never
 * round, hold the sum. Let g >= 3, n <= 2^g and u = top + g - 53. The products rounded to multiples of 2^u have partial
 * sums of at most 2^(u+53), which are exact. The remainder of each product is at most 2^(u-1). The remainders are
 * summed in the same way with u - 54 + g in place of u, until u <= low, where no remainder is left. Where the operands
 * are narrow enough, slices of A (slices.h) form the parts of `exact` by fused multiply-adds. The scalar definition
 * (kernels/products/wide_sum.h) computes rows and columns with too wide a range, with Inf or with NaN.
 */
#include "extent.h"
#include "lanes.h"
#include "slices.h"

enum { PARTS = 4 };

/* ---- the parts of a sum ---- */

/* The parts of a sum. parts = 0: the scalar definition computes the sum. */
typedef struct plan {
    int parts;
    int pair;             /* the two parts are the two products of a step, of any range */
    double anchor[PARTS]; /* 1.5 2^(u+52); the addition of an anchor rounds to multiples of 2^u */
} plan;

/* The plan for sums of n products of a row and a panel. */
static plan plan_of(const extent *a, const extent *b, size_t n, int most_parts) {
    plan p = {0, 0, {0.0}};
    int g = 3;
    while (g < 40 && n > (size_t)1 << g) g++;
    if (!a->narrow || !b->narrow || a->bits + b->bits > 53 || n > (size_t)1 << g)
        return p; /* products not exact, or n too large */
    int u = a->top + b->top + g - 53;
    for (int parts = 1; parts <= most_parts; parts++, u -= 54 - g) {
        p.anchor[parts - 1] = ulp_scale(1.5, u + 52);
        if (u <= a->low + b->low) {
            p.parts = parts;
            break;
        }
    }
    if (p.parts == 0 && most_parts == 2 && n <= 2) p.parts = 2, p.pair = 1;
    return p;
}

/* ---- sums of products ---- */

/* sums (parts, LANES) += a (k) b (k, LANES). `parts` is a constant. */
ULP_INLINE void exact_run(double *restrict sums, const double *restrict a, const double *restrict b, size_t k,
                          const plan *p, int parts) {
    enum { GROUP = 32 }; /* lanes with sums in registers */
    double anchor[PARTS], acc[PARTS][GROUP];
    for (int i = 0; i < parts; i++) anchor[i] = p->anchor[i];
    for (int j0 = 0; j0 < LANES; j0 += GROUP) {
        for (int i = 0; i < parts; i++)
            for (int j = 0; j < GROUP; j++) acc[i][j] = sums[i * LANES + j0 + j];
        for (size_t l = 0; l < k; l++) {
            const double x = a[l];
            const double *restrict y = b + l * LANES + j0;
            for (int j = 0; j < GROUP; j++) {
                double rest = x * y[j];
                for (int i = 0; i + 1 < parts; i++) {
                    const double high = (rest + anchor[i]) - anchor[i];
                    acc[i][j] += high;
                    rest -= high;
                }
                acc[parts - 1][j] += rest;
            }
        }
        for (int i = 0; i < parts; i++)
            for (int j = 0; j < GROUP; j++) sums[i * LANES + j0 + j] = acc[i][j];
    }
}

#define EXACT(parts)                                                                                                   \
    static void exact_##parts(double *sums, const double *a, const double *b, size_t k, const plan *p) {               \
        exact_run(sums, a, b, k, p, parts);                                                                            \
    }
EXACT(1)
EXACT(2)
EXACT(3)
EXACT(4)

static void put_pair(double *restrict sums, const double *restrict a, const double *restrict b, size_t k) {
    const double second = k > 1 ? a[1] : 0.0;
    const double *restrict const next = k > 1 ? b + LANES : b;
    for (int j = 0; j < LANES; j++) {
        sums[j] = a[0] * b[j];
        sums[LANES + j] = second * next[j];
    }
}

/* sums (parts, LANES) += the products; the sums of a pair are 0 before. */
static void add_products(double *sums, const lanes_products *of, const plan *p) {
    if (p->pair) {
        put_pair(sums, of->a, of->b, of->k);
        return;
    }
    switch (p->parts) {
    case 1: exact_1(sums, of->a, of->b, of->k, p); break;
    case 2: exact_2(sums, of->a, of->b, of->k, p); break;
    case 3: exact_3(sums, of->a, of->b, of->k, p); break;
    case 4: exact_4(sums, of->a, of->b, of->k, p); break;
    default: break;
    }
}

/* ---- the product ---- */

typedef struct work {
    lanes l;
    extent *row, *panel; /* (m), (panels) */
    int failed;          /* no memory was left */
    int vectors;         /* the results are rounded in vectors, by `how` */
    rounding how;
    slices cut; /* of A; count = 0: none */
} work;

/* The sums of LANES outputs. */
typedef struct sums {
    double part[PARTS * LANES], acc[LANES], total[LANES];
    plan p;
} sums;

/* The exact sum of c and of products in lane j, by the scalar definition. */
static ulp_exact sum_by_definition(double c, const lanes_products *of, size_t j) {
    ulp_wide w;
    ulp_wide_clear(&w);
    ulp_wide_add(&w, c, 1.0);
    for (size_t k = 0; k < of->k; k++) ulp_wide_add(&w, of->a[k], of->b[k * LANES + j]);
    return ulp_wide_exact(&w);
}

/* The exact sum of c and the parts. A sum of zero is -0 if all terms are -0, and in mode rd unless all terms are +0.
 * The parts do not show the signs of zero terms: *known is 0 where these signs decide. */
static ulp_exact combine_parts(double c, const double *part, int parts, uint32_t mode, int *known) {
    ulp_exact x = ulp_exact_of(part[0] + 0.0);
    *known = 1;
    if (parts <= 2) { /* two parts have at most 106 bits each */
        if (parts == 2) x = ulp_exact_add(x, ulp_exact_of(part[LANES] + 0.0));
        x = ulp_exact_add(ulp_exact_of(c), x);
    } else {
        ulp_wide w;
        ulp_wide_clear(&w);
        ulp_wide_add(&w, c, 1.0);
        for (int i = 0; i < parts; i++) ulp_wide_add(&w, part[i * LANES], 1.0);
        x = ulp_wide_exact(&w);
    }
    if (x.kind == ULP_EXACT_ZERO || x.kind == ULP_EXACT_CANCELLED) *known = mode != ULP_RD && ulp_bits64(c) >> 63 == 0;
    return x;
}

/* ---- rounding in vectors ---- */

/* acc <- round(acc + h + l). Let h' + l' = h + l by two_sum, and (t, e) = two_sum(acc, h'). The sum is t + e + l', and
 * t + RO(e + l') rounds to odd like the sum (Boldo and Melquiond 2008, doi:10.1109/TC.2007.70819). Proof: if the inner
 * rounding is inexact, then e != 0, |t| >= |h'|/2 and |e + l'| <= 1.5 ulp(t). The last place of RO(e + l') is then at
 * most 2^-51 of the last place of t. An acc of Inf or NaN stays. */
ULP_INLINE void block_run(double *restrict acc, const double *restrict part, const rounding *how,
                          const uint32_t *restrict words, int two, int way) {
    const rounding constants = *how;
    for (int j = 0; j < LANES; j++) {
        const double c = acc[j];
        double x = ulp_odd_sum(part[j], c, ULP_RNE);
        if (two) {
            double high, t, low = ulp_two_sum(part[j], part[LANES + j], &high), e = ulp_two_sum(c, high, &t);
            const double odd = ulp_odd_sum(t, ulp_odd_sum(e, low, ULP_RNE), ULP_RNE);
            x = ulp_from_bits64(ulp_select((uint64_t)(c - c == 0.0), ulp_bits64(odd), ulp_bits64(c)));
        }
        acc[j] = round_lane(x, &constants.core, &constants.format, way, way_is_stochastic(way) ? words[j] : 0u);
    }
}

#define BLOCKS(way, name, meaning, stochastic, inward)                                                                 \
    static void block_##way(double *acc, const double *part, const rounding *how, const uint32_t *words, int two) {    \
        if (two) block_run(acc, part, how, words, 1, way);                                                             \
        else block_run(acc, part, how, words, 0, way);                                                                 \
    }
ULP_WAYS(BLOCKS)

#define ROW(way, name, meaning, stochastic, inward) [way] = block_##way,
static void (*const by_way[WAYS])(double *, const double *, const rounding *, const uint32_t *, int) = {ULP_WAYS(ROW)};

/* Prepares *how. Returns 0 if the lanes do not offer the rounding of a job. */
static int vectors_round(rounding *how, const ulp_job *job) {
    return (job->datapath->kind == ULP_EXACT ? plain_rounding_of : rounding_of)(how, job) && job_fits_binary32(job);
}

/* Whether the sum of a lane may be a zero whose sign depends on the terms. */
static int zero_signs_matter(const double *acc, const double *part, int two, size_t width, uint32_t mode) {
    const uint64_t always = mode == ULP_RD;
    uint64_t found = 0;
    for (size_t j = 0; j < width; j++) {
        const double sum = acc[j] + (two ? part[j] + part[LANES + j] : part[j]);
        found |= (uint64_t)(sum == 0.0) & (always | ulp_bits64(acc[j]) >> 63);
    }
    return found != 0;
}

/* ---- exact ---- */

/* round_sums in vectors. Returns 0, with acc and the parts as before, where a sign of a zero is open. */
static int round_vectors(const work *w, sums *s, size_t i, size_t panel, size_t sum) {
    const size_t width = lanes_width(&w->l, panel);
    const uint32_t mode = w->l.job->datapath->rule.mode;
    const int two = s->p.parts > 1;
    uint32_t words[LANES] = {0};
    double part[2 * LANES];
    if (s->p.parts == 0 || s->p.parts > (w->cut.count > 0 ? MOST_SLICES : 2)) return 0;
    memcpy(part, s->part, sizeof part);
    if (s->p.parts == 3) slices_fold(part, s->part + 2 * LANES);
    if (zero_signs_matter(s->acc, part, two, width, mode)) return 0;
    if (way_is_stochastic(w->how.way)) lanes_words(words, w->l.job, i, panel, sum, 1);
    by_way[w->how.way](s->acc, part, &w->how, words, two);
    return 1;
}

/* Rounds the sum of products first .. end - 1: acc becomes c plus the products, rounded. */
static void round_sums(const work *w, sums *s, size_t i, size_t panel, size_t first, size_t end) {
    const ulp_job *job = w->l.job;
    const ulp_datapath *d = job->datapath;
    const size_t width = lanes_width(&w->l, panel), sum = d->promote == 0 ? 0 : first / d->promote;
    const int stochastic = ulp_mode_is_stochastic(d->rule.mode);
    const lanes_products products = lanes_products_of(&w->l, i, panel, first, end);
    const int done = w->vectors && round_vectors(w, s, i, panel, sum);
    for (size_t j = 0; j < width && !done; j++) {
        const uint64_t index = word_index(job, i, panel * LANES + j) + sum;
        int known = 0;
        ulp_exact x = {0, 0, 0, 0, 0, ULP_EXACT_ZERO};
        if (s->p.parts > 0) x = combine_parts(s->acc[j], s->part + j, s->p.parts, d->rule.mode, &known);
        if (!known) x = sum_by_definition(s->acc[j], &products, j);
        const uint32_t word = stochastic ? ulp_random_word(job->stream, index) : 0;
        s->acc[j] = ulp_round_exact(x, &d->accumulator, d->rule, word);
    }
    memset(s->part, 0, sizeof s->part);
}

/* Adds products k0 .. k1 - 1 of row i and a panel. */
static void advance_exact(const work *w, sums *s, size_t i, size_t panel, size_t k0, size_t k1) {
    const size_t all = w->l.job->s.k, every = w->l.job->datapath->promote;
    for (size_t k = k0, end; k < k1; k = end) {
        end = every == 0 || k1 - k < every - k % every ? k1 : k - k % every + every;
        const lanes_products products = lanes_products_of(&w->l, i, panel, k, end);
        add_products(s->part, &products, &s->p);
        if (every == 0 || (end % every != 0 && end != all)) continue;
        round_sums(w, s, i, panel, (end - 1) / every * every, end);
        lanes_promote(s->total, s->acc);
    }
}

/* Adds products k0 .. k1 - 1 of rows begin .. end - 1, whose sums are s, and a panel, by slices. */
static void advance_slices(const work *w, sums *s, size_t begin, size_t end, size_t panel, size_t k0, size_t k1) {
    const size_t all = w->l.job->s.k, count = (size_t)w->cut.count;
    double unused[PARTS * LANES] = {0};
    for (size_t i = begin; i < end; i += SLICED_ROWS) {
        const double *row = w->cut.sliced + ((i - begin) * all + k0) * count;
        const int pair = i + 1 < end;
        slices_add(&w->cut, (double *[]){s[i - begin].part, pair ? s[i - begin + 1].part : unused},
                   (const double *[]){row, pair ? row + all * count : row}, lanes_panel(&w->l, panel) + k0 * LANES,
                   k1 - k0);
    }
}

/* ---- block ---- */

/* One step of all lanes, of which `width` are columns. */
static void block_step(const work *w, sums *s, const lanes_products *of, size_t width, const uint32_t *words) {
    const ulp_datapath *d = w->l.job->datapath;
    double before[LANES];
    if (s->p.parts > 0) {
        memset(s->part, 0, 2 * LANES * sizeof *s->part);
        add_products(s->part, of, &s->p);
        const int recheck = zero_signs_matter(s->acc, s->part, s->p.parts == 2, width, d->rule.mode);
        if (recheck) memcpy(before, s->acc, sizeof before);
        by_way[w->how.way](s->acc, s->part, &w->how, words, s->p.parts == 2);
        if (!recheck) return;
    } else {
        memcpy(before, s->acc, sizeof before);
    }
    for (size_t j = 0; j < width; j++)
        s->acc[j] = ulp_round_exact(sum_by_definition(before[j], of, j), &d->accumulator, d->rule,
                                    way_is_stochastic(w->how.way) ? words[j] : 0u);
}

enum { STEPS = 64 }; /* steps whose random words are computed together */

/* Adds products k0 .. k1 - 1 of row i and a panel. k0 is a multiple of the step. */
static void advance_block(const work *w, sums *s, size_t i, size_t panel, size_t k0, size_t k1) {
    const ulp_datapath *d = w->l.job->datapath;
    uint32_t words[STEPS * LANES];
    for (size_t k = k0; k < k1; k += d->step) {
        const size_t n = k1 - k < d->step ? k1 - k : d->step, step = (k - k0) / d->step % STEPS;
        const size_t left = (k1 - k + d->step - 1) / d->step;
        if (way_is_stochastic(w->how.way) && step == 0)
            lanes_words(words, w->l.job, i, panel, k / d->step, left < STEPS ? left : STEPS);
        const lanes_products products = lanes_products_of(&w->l, i, panel, k, k + n);
        block_step(w, s, &products, lanes_width(&w->l, panel), words + step * LANES);
        if (d->promote != 0 && ((k + n) % d->promote == 0 || k + n == w->l.job->s.k)) lanes_promote(s->total, s->acc);
    }
}

/* ---- exact and block ---- */

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const ulp_datapath *d = w->l.job->datapath;
    const int block = d->kind == ULP_SERIAL;
    const size_t all = w->l.job->s.k, depth = w->cut.count > 0 ? SLICED_DEPTH : DEPTH / d->step * d->step;
    sums s[MOST_ROWS];
    for (size_t i = begin; i < end; i++) {
        sums *to = s + (i - begin);
        memset(to, 0, sizeof *to);
        lanes_start(d->promote != 0 ? to->total : to->acc, &w->l, i, panel);
        const size_t n = block ? d->step : (d->promote != 0 && d->promote < all ? d->promote : all);
        to->p = plan_of(w->row + i, w->panel + panel, n, block ? 2 : PARTS);
        if (w->cut.count > 0) to->p.parts = w->cut.count;
    }
    for (size_t k = 0; k < all; k += depth) {
        const size_t k1 = all - k < depth ? all : k + depth;
        if (w->cut.count > 0) advance_slices(w, s, begin, end, panel, k, k1);
        for (size_t i = begin; i < end && w->cut.count == 0; i++)
            (block ? advance_block : advance_exact)(w, s + (i - begin), i, panel, k, k1);
    }
    for (size_t i = begin; i < end; i++) {
        if (!block && d->promote == 0) round_sums(w, s + (i - begin), i, panel, 0, all);
        lanes_store(&w->l, i, panel, d->promote != 0 ? s[i - begin].total : s[i - begin].acc);
    }
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t panel = begin; panel < end; panel++) {
        lanes_pack_panel(&w->l, panel);
        w->panel[panel] = extent_of(lanes_panel(&w->l, panel), w->l.job->s.k * LANES);
    }
}

/* The rows of a piece of work, at most MOST_ROWS, are converted where they stay in the cache. */
static void rows_part(void *context, size_t begin, size_t end) {
    work *w = context, mine = *w;
    const size_t all = w->l.job->s.k, n = (end - begin) * all, count = (size_t)w->cut.count;
    mine.l.first = begin;
    mine.l.rows = ULP_CPU(ulp_gemm_room)(n * (1 + count), sizeof *mine.l.rows);
    if (mine.l.rows == NULL) {
        __atomic_store_n(&w->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    mine.cut.sliced = mine.l.rows + n;
    for (size_t i = begin; i < end; i++) {
        lanes_pack_row(&mine.l, i);
        w->row[i] = extent_of(mine.l.rows + (i - begin) * all, all);
    }
    if (count > 0) slices_cut(mine.cut.sliced, mine.l.rows, n, &w->cut);
    for (size_t panel = 0; panel < lanes_panels(&w->l); panel++) panel_part(&mine, begin, end, panel);
    ulp_aligned_free(mine.l.rows);
}

/* Plans the slices of A if they are exact for all rows. */
static void plan_slices(work *w) {
    const ulp_job *job = w->l.job;
    const extent a = matrix_extent(job, matrix_a(job));
    extent b = {0, 0, 0, 1};
    for (size_t p = 0; p < lanes_panels(&w->l); p++) b = extent_both(b, w->panel[p]);
    w->cut = slices_of(&a, &b, job->s.k);
}

int ULP_CPU(ulp_serves_exact)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const int block = d->kind == ULP_SERIAL && d->length > 1,
              integers = d->has_inputs && (d->a.is_fixed || d->zero_a != 0 || d->zero_b != 0);
    return !integers && (d->kind == ULP_EXACT || (block && lanes_round(d)));
}

ulp_status ULP_CPU(ulp_product_exact)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const int block = d->kind == ULP_SERIAL;
    work w = {.l = {.job = job}};
    w.vectors = vectors_round(&w.how, job);
    if (block && !w.vectors) return ULP_UNSUPPORTED;
    rooms r = {.count = 0};
    w.l.packed = rooms_take(&r, lanes_panels(&w.l) * job->s.k * LANES, sizeof *w.l.packed);
    w.row = rooms_take(&r, job->s.m, sizeof *w.row);
    w.panel = rooms_take(&r, lanes_panels(&w.l), sizeof *w.panel);
    if (!r.failed) {
        ulp_parallel_for(lanes_panels(&w.l), 1, pack_part, &w);
        if (!block && d->promote == 0) plan_slices(&w);
        ulp_parallel_for(job->s.m, row_grain(job->s.m), rows_part, &w);
    }
    r.failed |= w.failed;
    return rooms_end(&r);
}

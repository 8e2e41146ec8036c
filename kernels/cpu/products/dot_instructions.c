/* dot_instructions.c - the instructions of x86, Arm and AMD CDNA2 that round after each addition, in lanes of binary32;
 * lanes are columns.
 *
 * Products of the rows' formats have at most 22 bits. Where no product is below the least bit of binary32, they are
 * exact, and a sum of two products, a product added to a chain, and a sum of chains are one addition of binary32 each.
 * Where all operands and start values are multiples of 2^-126 or more, so are all sums: no result is tiny, and nothing
 * is flushed. A tile without these properties is computed by the scalar definition (kernels/products/chains.h).
 */
#include "float_panels.h"
#include "kernels/cpu/floats.h"
#include "kernels/cpu/rounding/ranges.h"

enum { ROWS = ULP_VECTOR_BYTES == 64 ? 4 : 2, GROUP = 4, PAIR_GROUP = 2 };

/* The forms of instructions that this source offers. */
typedef enum form {
    TREE_2,    /* c + (p0 + p1) */
    ODD_2,     /* the same, rounded to odd */
    TREE_4,    /* c + ((p0 + p1) + (p2 + p3)) */
    SWAPPED_2, /* (c + p1) + p0, each a fused multiply-add: VDPBF16PS, VDPPHPS, FMLAL */
    CHAINS_1,  /* two chains of products, then c */
    CHAINS_2,  /* two chains of sums of two products, then c */
    NO_FORM
} form;

typedef struct work {
    float_panels p;
    form form;
    size_t length;      /* products of an instruction */
    int flushes;        /* tiny results are flushed */
    range *row, *panel; /* of blocks of rows, of panels */
} work;

/* ---- operands ---- */

/* x (n) with zeros for subnormal numbers of the format, as the row flushes them. */
static void flush_operands(float *x, size_t n, const ulp_format *f, int how) {
    const float least = (float)f->min_normal;
    const uint32_t sign = how == ULP_FLUSH_SIGNED ? 0x80000000u : 0u;
    if (how == ULP_KEEP_INPUT) return;
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = ulp_bits32(x[i]), tiny = 0u - (uint32_t)(fabsf(x[i]) < least);
        x[i] = ulp_from_bits32((u & ~tiny) | (u & sign & tiny));
    }
}

/* ---- steps ---- */

ULP_INLINE vfloat all_of(float x) { return x - (vfloat){0}; }

ULP_INLINE vfloat sum_of(vfloat x, vfloat y, form how) { return how == ODD_2 ? odd_float_sum(x, y) : x + y; }

/* The sum of the products k and k + 1. */
ULP_INLINE vfloat pair_sum(const float *a, const vfloat *b, size_t v, form how) {
    const size_t next = LANES / FLOATS;
    const vfloat first = all_of(a[0]) * b[v];
    return how == ODD_2 ? odd_float_fused(all_of(a[1]), b[next + v], first)
                        : float_fused(all_of(a[1]), b[next + v], first);
}

/* c (rows, group) += instructions without chains that go on; a (rows, k). `how` and `rows` are constants. */
ULP_INLINE void trees(float *c, const float *a, size_t lda, const float *panel, size_t k, form how, int rows) {
    const size_t vectors = LANES / FLOATS, length = how == TREE_4 ? 4 : 2;
    for (size_t g = 0; g < vectors; g += GROUP) {
        vfloat acc[ROWS][GROUP];
        UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int v = 0; v < GROUP; v++) acc[r][v] =
            ((const vfloat *)(const void *)(c + r * LANES))[g + (size_t)v];
        for (size_t i = 0; i < k; i += length) {
            const vfloat *b = (const vfloat *)(const void *)(panel + i * LANES) + g;
            UNROLLED for (int v = 0; v < GROUP; v++) UNROLLED for (int r = 0; r < rows; r++) {
                const float *x = a + (size_t)r * lda + i;
                if (how == SWAPPED_2) {
                    acc[r][v] =
                        float_fused(all_of(x[0]), b[v], float_fused(all_of(x[1]), b[vectors + (size_t)v], acc[r][v]));
                    continue;
                }
                vfloat sum = pair_sum(x, b, (size_t)v, how);
                if (how == TREE_4) sum = sum + pair_sum(x + 2, b + 2 * vectors, (size_t)v, how);
                acc[r][v] = sum_of(acc[r][v], sum, how);
            }
        }
        UNROLLED for (int r = 0; r < rows; r++)
            UNROLLED for (int v = 0; v < GROUP; v++)((vfloat *)(void *)(c + r * LANES))[g + (size_t)v] = acc[r][v];
    }
}

/* c (rows, group) += one instruction with two chains. */
ULP_INLINE void two_chains(float *c, const float *a, size_t lda, const float *panel, size_t k, form how, int rows) {
    const size_t vectors = LANES / FLOATS, length = how == CHAINS_2 ? 4 : 2;
    for (size_t g = 0; g < vectors; g += PAIR_GROUP) {
        vfloat chain[2][ROWS][PAIR_GROUP];
        UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int v = 0; v < PAIR_GROUP; v++) chain[0][r][v] =
            chain[1][r][v] = (vfloat){0};
        for (size_t i = 0; i < k; i += length) {
            const vfloat *b = (const vfloat *)(const void *)(panel + i * LANES) + g;
            UNROLLED for (int v = 0; v < PAIR_GROUP; v++) UNROLLED for (int r = 0; r < rows; r++) {
                const float *x = a + (size_t)r * lda + i;
                if (how == CHAINS_2) {
                    chain[0][r][v] += pair_sum(x, b, (size_t)v, how);
                    chain[1][r][v] += pair_sum(x + 2, b + 2 * vectors, (size_t)v, how);
                } else {
                    chain[0][r][v] = float_fused(all_of(x[0]), b[v], chain[0][r][v]);
                    chain[1][r][v] = float_fused(all_of(x[1]), b[vectors + (size_t)v], chain[1][r][v]);
                }
            }
        }
        UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int v = 0; v < PAIR_GROUP; v++) {
            vfloat *to = (vfloat *)(void *)(c + r * LANES) + g + v;
            *to += chain[0][r][v] + chain[1][r][v];
        }
    }
}

/* c (ROWS, LANES) += k products, k a multiple of a set of the form. */
typedef void (*advance)(float *c, const float *a, size_t lda, const float *panel, size_t k);
#define TREES(how)                                                                                                     \
    static void trees_##how(float *c, const float *a, size_t lda, const float *panel, size_t k) {                      \
        trees(c, a, lda, panel, k, how, ROWS);                                                                         \
    }
#define TWO_CHAINS(how)                                                                                                \
    static void chains_##how(float *c, const float *a, size_t lda, const float *panel, size_t k) {                     \
        two_chains(c, a, lda, panel, k, how, ROWS);                                                                    \
    }
TREES(TREE_2)
TREES(ODD_2)
TREES(TREE_4)
TREES(SWAPPED_2)
TWO_CHAINS(CHAINS_1)
TWO_CHAINS(CHAINS_2)

static const advance advances[NO_FORM] = {
    [TREE_2] = trees_TREE_2,       [ODD_2] = trees_ODD_2,        [TREE_4] = trees_TREE_4,
    [SWAPPED_2] = trees_SWAPPED_2, [CHAINS_1] = chains_CHAINS_1, [CHAINS_2] = chains_CHAINS_2};

/* ---- the product ---- */

/* k rounded up to whole sets of products. */
static size_t padded(const work *w, size_t k) {
    const size_t set = w->form == TREE_4 || w->form == CHAINS_2 ? 4 : 2;
    return (k + set - 1) / set * set;
}

/* Whether the vectors compute a tile with the start values c (LANES each). */
static int is_plain(const work *w, size_t block, size_t panel, const float *c, size_t rows) {
    const range a = w->row[block], b = w->panel[panel];
    range start = empty_range;
    for (size_t r = 0; r < rows && w->p.job->s.accumulate; r++)
        start = range_both(start, range_of(c + r * LANES, LANES));
    const int low = w->flushes ? -126 : -149, product = range_top(a) + range_top(b),
              top = product > range_top(start) ? product : range_top(start);
    if (a.low + b.low < low || product > 127 || (w->flushes && start.low < -126)) return 0;
    return w->form != ODD_2 || top + ilogb((double)w->p.job->s.k + 1.0) + 2 < 127;
}

static void tile_by_definition(const work *w, float *c, size_t i0, size_t rows, size_t panel) {
    const ulp_job *job = w->p.job;
    const size_t all = job->s.k, depth = padded(w, all), j0 = panel * LANES;
    double a[ULP_STEP_MAX], b[ULP_STEP_MAX];
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < LANES && j0 + j < job->s.n; j++) {
            ulp_sum sum;
            ulp_sum_start(&sum, job->datapath, (double)c[r * LANES + j], 0);
            for (size_t k = 0; k < all; k += job->datapath->step) {
                const size_t n = all - k < job->datapath->step ? all - k : job->datapath->step;
                for (size_t t = 0; t < n; t++) {
                    a[t] = (double)w->p.rows[(i0 + r) * depth + k + t];
                    b[t] = (double)w->p.packed[(panel * depth + k + t) * LANES + j];
                }
                ulp_sum_step(&sum, job->datapath, &(ulp_products){a, b, n, NULL, NULL}, (ulp_stream){0, 0, 0});
            }
            c[r * LANES + j] = (float)ulp_sum_end(&sum, job->datapath, (ulp_stream){0, 0, 0});
        }
}

static void tile(const work *w, size_t block, size_t panel) {
    const ulp_job *job = w->p.job;
    const size_t i0 = block * ROWS, rows = job->s.m - i0 < ROWS ? job->s.m - i0 : ROWS, depth = padded(w, job->s.k);
    _Alignas(ULP_VECTOR_BYTES) float c[ROWS * LANES] = {0};
    for (size_t r = 0; r < rows && job->s.accumulate; r++) float_panels_move(&w->p, c + r * LANES, i0 + r, panel, 0);
    if (is_plain(w, block, panel, c, rows)) {
        const int positive = job->datapath->chains.flush_c == ULP_FLUSH_POSITIVE;
        for (size_t i = 0; i < ROWS * LANES && positive; i++) c[i] += 0.0f; /* -0 becomes +0 */
        const size_t step = w->form < CHAINS_1 ? depth : w->length;
        for (size_t k = 0; k < depth; k += step)
            advances[w->form](c, w->p.rows + i0 * depth + k, depth, w->p.packed + (panel * depth + k) * LANES,
                              depth - k < step ? depth - k : step);
    } else {
        tile_by_definition(w, c, i0, rows, panel);
    }
    for (size_t r = 0; r < rows; r++) float_panels_move(&w->p, c + r * LANES, i0 + r, panel, 1);
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_job *job = w->p.job;
    const size_t all = job->s.k, depth = padded(w, all);
    for (size_t panel = begin; panel < end; panel++) {
        const size_t j0 = panel * LANES, width = job->s.n - j0 < LANES ? job->s.n - j0 : LANES;
        float *to = w->p.packed + panel * depth * LANES;
        memset(to, 0, depth * LANES * sizeof *to);
        for (size_t k = 0; k < all; k++)
            for (size_t j = 0; j < width; j++) to[k * LANES + j] = b_at(job, k, j0 + j);
        flush_operands(to, depth * LANES, &job->datapath->b, job->datapath->chains.flush_ab);
        w->panel[panel] = range_of(to, depth * LANES);
    }
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_job *job = w->p.job;
    const size_t all = job->s.k, depth = padded(w, all);
    for (size_t block = begin; block < end; block++) {
        float *to = w->p.rows + block * ROWS * depth;
        memset(to, 0, ROWS * depth * sizeof *to);
        for (size_t r = 0; r < ROWS && block * ROWS + r < job->s.m; r++)
            for (size_t k = 0; k < all; k++) to[r * depth + k] = a_at(job, block * ROWS + r, k);
        flush_operands(to, ROWS * depth, &job->datapath->a, job->datapath->chains.flush_ab);
        w->row[block] = range_of(to, ROWS * depth);
    }
    for (size_t panel = 0; panel < w->p.panels; panel++)
        for (size_t block = begin; block < end; block++) tile(w, block, panel);
}

static form form_of(const ulp_datapath *d) {
    const ulp_chains *s = &d->chains;
    const int nearest = d->rule.mode == ULP_RNE, odd = d->rule.mode == ULP_RO;
    if (s->swapped)
        return s->length == 2 && s->term == 1 && s->fused && s->lanes == 1 && !s->c_last && s->shift == 0 &&
                       !s->saturate && nearest
                   ? SWAPPED_2
                   : NO_FORM;
    if (s->shift != 0 || s->saturate || !s->c_last || !(nearest || odd)) return NO_FORM;
    const int single = s->length == s->term * s->lanes, products = s->term * s->lanes;
    if (single && products == 2 && (nearest || s->term == 1)) return nearest ? TREE_2 : ODD_2;
    if (!nearest) return NO_FORM;
    if (single && s->term == 1 && s->lanes == 4) return TREE_4;
    if (!single && s->lanes == 2 && s->term == 1) return CHAINS_1;
    return !single && s->lanes == 2 && s->term == 2 && !s->fused ? CHAINS_2 : NO_FORM;
}

int ULP_CPU(ulp_serves_dot_instructions)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    return !job->wide && d->kind == ULP_CHAINS && d->promote == 0 && job->s.k > 0 && d->a.prec + d->b.prec <= 24 &&
           f->prec == 24 && f->emin == -126 && f->emax == 127 && f->has_inf && f->has_subnormals &&
           form_of(d) != NO_FORM;
}

ulp_status ULP_CPU(ulp_product_dot_instructions)(const ulp_job *job) {
    const size_t blocks = (job->s.m + ROWS - 1) / ROWS;
    work w = {.p = {.job = job, .panels = (job->s.n + LANES - 1) / LANES},
              .form = form_of(job->datapath),
              .length = job->datapath->chains.length,
              .flushes =
                  job->datapath->chains.flush != ULP_KEEP_OUTPUT || job->datapath->chains.flush_c != ULP_KEEP_INPUT};
    const size_t depth = padded(&w, job->s.k);
    rooms r = {.count = 0};
    w.p.packed = rooms_take(&r, w.p.panels * depth * LANES, sizeof *w.p.packed);
    w.p.rows = rooms_take(&r, blocks * ROWS * depth, sizeof *w.p.rows);
    w.row = rooms_take(&r, blocks, sizeof *w.row);
    w.panel = rooms_take(&r, w.p.panels, sizeof *w.panel);
    if (!r.failed) {
        ulp_parallel_for(w.p.panels, 1, pack_part, &w);
        ulp_parallel_for(blocks, row_grain(blocks), blocks_part, &w);
    }
    return rooms_end(&r);
}

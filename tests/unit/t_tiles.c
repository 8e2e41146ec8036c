/* t_tiles.c - matrix products by every kind of sum, compared with the definition, bit for bit.
 *
 * The bits are the same for every tile, number of threads, instruction set and layout. Some data are at the ends of
 * formats and of binary64. */
#include <float.h>

#include "support.h"
#include "instruction_sets.h"

enum { ROOM = 1 << 14, BLOCKS = 1024, DEPTH = 300 };

static size_t runs, compared, sampled;

/* The matrices a (m,k), b (k,n), start (m,n) and the first run's result; then the matrices with a layout. */
static double a[ROOM], b[ROOM], start[ROOM], first[ROOM];
static double a_wide[2 * ROOM], b_wide[2 * ROOM], c_wide[2 * ROOM];
static float a_memory[2 * ROOM], b_memory[2 * ROOM], c_memory[2 * ROOM], a_scales[BLOCKS], b_scales[BLOCKS];

static const char names[] =
    "fp32 serial:fp16:rne serial:bf16:sr serial:e4m3:rz serial:e4m3fnuz:rne serial:e5m2:ro serial:q8.8:wrap:rd "
    "serial:fp32:srb/9 serial:fp64:rne "
    "serial:fp64:sr serial:fp16:rne:promote=32 serial:e4m3:sr:promote=7 split:fp16:rne split:bf16:ru "
    "split:fp32:rne split:e5m2:sr split:fp64:rd split:fp16:sr:promote=5 split:fp24:rna split:q8.8:rne "
    "split:fp32:ro split:dlfloat16:rne chunk1:fp16:rne chunk4:fp16:rne chunk32:e6m9:rne chunk8:bf16:sr "
    "chunk64:fp32:rne chunk5:e4m3:rd chunk7:fp64:rne chunk3:fp24:src/4 chunk16:q4.4:wrap:rne chunk1000:e5m2:rz "
    "chunk8:e4m3:inf:rne chunk9:fp32:sr chunk2:fp16:nosub:rne block4:fp16:rne block4:fp32:rz block16:bf16:sr "
    "block64:e4m3:ru block3:fp64:rne block8:fp32:rne block8:fp32:rne:promote=32 block5:q8.8:rna "
    "block4:e5m2:src/7 block32:fp24:rd pairwise:fp16:rne pairwise:bf16:sr pairwise:fp32:rne pairwise:fp64:rz "
    "pairwise:e4m3:rne pairwise:fp16:rd pairwise:tf32:srb/3 pairwise:fp16:rne:promote=16 pairwise:q8.8:rne "
    "kahan:fp16:rne kahan:bf16:sr kahan:fp32:rne kahan:e4m3fnuz:rne kahan:fp64:rne kahan:e5m2:ro kahan:fp24:sr/6 "
    "kahan:fp16:rne:promote=10 kahan:q8.8:wrap:rne kahan:fp16:sat:ru exact:fp32:rne exact:fp16:sr exact:fp64:rne "
    "exact:fp64:src exact:e4m3:rne exact:bf16:rd exact:q10.12:rz exact:fp32:rne:promote=16 exact:fp16:nosub:ru "
    "exact:e8m0:rna int8 int8:sat int8:za=5:zb=-77 int8:sat:zb=255 v100-fp16 h100-fp16 a100-fp16-fp16 h100-bf16 "
    "b200-tf32 h100-e4m3 h100-e4m3.e5m2 h100-e5m2-mma b200-e2m1 h100-e4m3:promote=64 b200-e4m3-mx b200-e2m1-mxf4 "
    "b200-e2m1-nvf4 rtx5090-e5m2.e2m3-mx h100-e4m3:F=20:kept=20 a100-fp16:F=21:kept=15 a100-fp16-fp16:F=14 "
    "v100-fp16:F=12:kept=10 a100-tf32 h100-bf16:words=3 a100-fp16:words=2:first=small mi250-fp16:words=2 "
    "arm-bf16:words=3:split=rz ";
enum { NAMES = 101 };

/* ---- data ---- */

typedef enum { ORDINARY, SPECIAL, LARGE, SMALL, WIDE, ZEROS, ONE_NAN, CANCELLING, FULL, DATA } data;

static int below(uint64_t *seed, int n) { return (int)(next_random(seed) >> 33) % n; }

/* A random number: if `wide` with 53 bits and any exponent, else a binary32 value. */
static double number(data kind, const ulp_format *f, int wide, uint64_t *seed) {
    static const double special[] = {INFINITY, -INFINITY, NAN,        0.0,      -0.0,
                                     FLT_MAX,  -0x1p-149, 0x1.8p-140, 0x1p-126, -FLT_MAX};
    const int bits = wide && below(seed, 2) ? 52 : below(seed, 3) ? below(seed, f->prec < 24 ? f->prec + 1 : 24) : 23;
    const double m = (double)(next_random(seed) >> 12 | 1ull << 52);
    const double near = ldexp(floor(ldexp(m, bits - 52)), -bits - below(seed, 2)) * (below(seed, 2) ? 1 : -1);
    const int wraps = f->overflow == ULP_OVERFLOW_WRAP, reach = wraps ? 8 : wide ? 1070 : 148;
    const int half = wraps ? 0 : f->prec > 24 && !wide ? 60 : ilogb(f->max) / 2;
    switch (kind) {
    case SPECIAL: return below(seed, 25) ? near : special[below(seed, wraps ? 5 : 10)];
    case LARGE: return ldexp(near, half + below(seed, 3) - 1);
    case SMALL: return ldexp(near, (f->prec > 24 && !wide ? -148 : ilogb(f->min_positive)) / 2 + below(seed, 4) - 2);
    case WIDE: return ldexp(near, below(seed, 2 * reach) - reach);
    case ZEROS: return below(seed, 3) ? (below(seed, 2) ? 0.0 : -0.0) : below(seed, 2) ? ldexp(near, -120) : near;
    case FULL: /* all significant bits are ones: the largest sums of products with equal exponents */
        return ldexp(2.0 - ldexp(1.0, 1 - f->prec), below(seed, 9) == 0) * (below(seed, 40) ? 1 : -1);
    default: return near;
    }
}

/* x rounded to a value of the format. */
static double member(double x, const ulp_format *f) {
    if ((isnan(x) && f->nan_codes == ULP_NAN_NONE) || (isinf(x) && !f->has_inf)) return f->has_zero ? 0.0 : f->max;
    return isfinite(x) ? ulp_round(x, f, rule_of(ULP_RNE, ULP_OVERFLOW_SAT, 0), 0) : x;
}

static double element(data kind, const ulp_datapath *d, const ulp_format *input, int wide, uint64_t *seed) {
    double x = number(kind, d->has_inputs ? input : &d->accumulator, wide, seed);
    if (d->has_inputs && input->is_fixed)
        x = below(seed, kind == ORDINARY ? 256 : 3) - (kind == ORDINARY ? 128 : 127 + below(seed, 2));
    return d->has_inputs ? member(x, input) : wide ? x : (double)(float)x;
}

static void fill(data kind, const ulp_datapath *d, const ulp_gemm_shape *s, int wide, uint64_t *seed) {
    for (size_t i = 0; i < s->m * s->k; i++) a[i] = element(kind, d, &d->a, wide, seed);
    for (size_t i = 0; i < s->k * s->n; i++) b[i] = element(kind, d, &d->b, wide, seed);
    for (size_t i = 0; i < s->m * s->n; i++) {
        start[i] = number(kind, &d->result, wide, seed) *
                   (kind == LARGE || kind == SMALL ? number(kind, &d->result, wide, seed) : 1);
        if (d->result.is_fixed && d->has_inputs) { /* half of them near an end, where sums wrap or clamp */
            const int32_t r = (int32_t)next_random(seed), off = r & 0x3fff;
            start[i] = below(seed, 2) ? r : r < 0 ? INT32_MIN + off : INT32_MAX - off;
        }
        start[i] = member(start[i], &d->result);
    }
    for (size_t p = 1; p < s->k && (kind == CANCELLING || kind == WIDE || kind == LARGE); p++) {
        const size_t q = next_random(seed) % p; /* a product and its negative */
        if (below(seed, 2)) continue;
        for (size_t i = 0; i < s->m; i++)
            a[i * s->k + p] = d->has_inputs ? member(-a[i * s->k + q], &d->a) : -a[i * s->k + q];
        for (size_t j = 0; j < s->n; j++) b[p * s->n + j] = b[q * s->n + j];
    }
    for (size_t j = 0; j < s->n && kind == ZEROS; j += 3) /* columns of zeros of one sign */
        for (size_t p = 0; p < s->k; p++) b[p * s->n + j] = d->has_inputs ? member(0.0, &d->b) : j % 2 ? 0.0 : -0.0;
    if (kind == ONE_NAN && s->m * s->n * s->k > 0) {
        if (!d->has_inputs || d->a.nan_codes != ULP_NAN_NONE) a[next_random(seed) % (s->m * s->k)] = NAN;
        if (!d->has_inputs || d->b.has_inf) b[next_random(seed) % (s->k * s->n)] = -INFINITY;
    }
    if (d->scale_block == 0) return;
    for (size_t i = 0; i < BLOCKS; i++) {
        const int reach = kind == WIDE ? 120 : 6;
        a_scales[i] = (float)member(
            kind == SPECIAL && below(seed, 20) == 0 ? NAN : ldexp(1.25, below(seed, 2 * reach) - reach), &d->scale);
        b_scales[i] = (float)member(ldexp(1.5, below(seed, 2 * reach) - reach), &d->scale);
    }
}

/* Copy the matrices to memory with a layout: transposes, and rows longer than needed with NaN between them. */
static void lay_out(ulp_gemm_shape *s, unsigned layout) {
    const size_t pad = layout & 4 ? 3 : 0;
    s->a_trans = layout & 1, s->b_trans = layout >> 1 & 1;
    s->lda = (s->a_trans ? s->m : s->k) + pad, s->ldb = (s->b_trans ? s->k : s->n) + 2 * pad,
    s->ldc = s->n + (layout & 8 ? 5 : 0);
    for (size_t i = 0; i < 2 * ROOM; i++) a_wide[i] = b_wide[i] = NAN;
    for (size_t i = 0; i < s->m; i++)
        for (size_t p = 0; p < s->k; p++) a_wide[s->a_trans ? p * s->lda + i : i * s->lda + p] = a[i * s->k + p];
    for (size_t p = 0; p < s->k; p++)
        for (size_t j = 0; j < s->n; j++) b_wide[s->b_trans ? j * s->ldb + p : p * s->ldb + j] = b[p * s->n + j];
    for (size_t i = 0; i < 2 * ROOM; i++) a_memory[i] = (float)a_wide[i], b_memory[i] = (float)b_wide[i];
}

/* ---- runs ---- */

typedef struct run_of {
    const ulp_datapath *d;
    const ulp_gemm_shape *s;
    ulp_stream stream;
    data kind;
    int wide, narrow_call; /* wide: values are doubles; narrow_call: gemm, not gemm64 */
    size_t isa;
} run_of;

static const double OUTSIDE = -0x1.23456p-20;

static void wrong(const run_of *r, const char *what, size_t i, size_t j, double got, double want) {
    size_t rows, columns;
    ulp_tile_get(&rows, &columns);
    const ulp_gemm_shape *s = r->s;
    fail_msg("%s %s %s: %s, data %d, m %zu n %zu k %zu, lda %zu ldb %zu ldc %zu, trans %d %d, accumulate %d, scales %d "
             "%d, first %llu, "
             "tile %zu x %zu, %d threads: element (%zu,%zu) is %a (%016llx), not %a (%016llx)",
             r->narrow_call ? "gemm"
             : r->wide      ? "gemm64 of doubles"
                            : "gemm64",
             backends[r->isa]->what, r->d->name, what, (int)r->kind, s->m, s->n, s->k, s->lda, s->ldb, s->ldc,
             s->a_trans, s->b_trans, s->accumulate, s->a_scales != NULL, s->b_scales != NULL,
             (unsigned long long)r->stream.first, rows, columns, ulp_threads_get(), i, j, got,
             (unsigned long long)ulp_bits64(got), want, (unsigned long long)ulp_bits64(want));
}

/* Run one product; c_wide gets the results and the elements around them. */
static void product(const run_of *r) {
    const ulp_gemm_shape *s = r->s;
    const size_t extent = s->m * s->ldc + 100;
    for (size_t i = 0; i < extent; i++) c_wide[i] = OUTSIDE;
    for (size_t i = 0; s->accumulate && i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) c_wide[i * s->ldc + j] = start[i * s->n + j];
    const ulp_backend *k = backends[r->isa];
    ulp_status status;
    if (r->narrow_call) {
        for (size_t i = 0; i < extent; i++) c_memory[i] = (float)c_wide[i];
        status = ulp_backend_gemm(k, c_memory, a_memory, b_memory, s, (ulp_summation){r->d, r->stream});
        for (size_t i = 0; i < extent; i++) {
            c_wide[i] = (double)c_memory[i];
            if (isnan(c_memory[i]) && ulp_bits32(c_memory[i]) != 0x7fc00000u)
                wrong(r, "a NaN that is not the one of results", i, 0, c_wide[i], NAN);
        }
    } else {
        status = ulp_backend_gemm64(k, c_wide, a_wide, b_wide, s, (ulp_summation){r->d, r->stream});
    }
    if (status != ULP_OK) fail_msg("%s %s: %s", k->what, r->d->name, ulp_status_text(status));
    runs++;
}

/* Compare with the definition: all elements of a small result, a sample of a large result. */
static void against_definition(const run_of *r, uint64_t *seed) {
    static double x[DEPTH], y[DEPTH], sa[DEPTH], sb[DEPTH];
    const ulp_gemm_shape *s = r->s;
    const size_t per = r->d->scale_block, blocks = per ? (s->k + per - 1) / per : 0, all = s->m * s->n;
    const size_t n = all * s->k < 16000 / thinned(4) ? all : all / 6;
    for (size_t t = 0; t < n; t++) {
        const size_t at = n == all ? t : next_random(seed) % all, i = at / s->n, j = at % s->n;
        for (size_t p = 0; p < s->k; p++) x[p] = a[i * s->k + p], y[p] = b[p * s->n + j];
        for (size_t p = 0; p < blocks; p++)
            sa[p] = (double)a_scales[i * blocks + p], sb[p] = (double)b_scales[j * blocks + p];
        const ulp_products products = {x, y, s->k, s->a_scales ? sa : NULL, s->b_scales ? sb : NULL};
        ulp_stream stream = r->stream;
        stream.first += ((uint64_t)i * s->n + j) * ulp_datapath_words(r->d, s->k);
        const double want = ulp_dot(r->d, s->accumulate ? start[at] : 0.0, products, stream);
        if (!same_result(c_wide[i * s->ldc + j], want))
            wrong(r, "not the definition", i, j, c_wide[i * s->ldc + j], want);
        sampled++;
    }
}

/* Compare with the first run, whose bits are in `first`, and check that no other element is written. */
static void against_first(const run_of *r, int is_first) {
    const ulp_gemm_shape *s = r->s;
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            const double got = c_wide[i * s->ldc + j];
            if (is_first) first[i * s->n + j] = got;
            else if (!same_result(got, first[i * s->n + j]))
                wrong(r, "not the same as before", i, j, got, first[i * s->n + j]);
        }
    for (size_t i = 0; i < s->m * s->ldc + 100; i++) {
        const size_t row = s->ldc ? i / s->ldc : 0, column = s->ldc ? i % s->ldc : 0;
        if ((row >= s->m || column >= s->n) && c_wide[i] != (r->narrow_call ? (double)(float)OUTSIDE : OUTSIDE))
            wrong(r, "written beyond", row, column, c_wide[i], OUTSIDE);
    }
    compared += s->m * s->n;
}

static const size_t tiles[][2] = {{0, 0},  {1, 1},    {3, 5},  {7, 13},   {31, 33}, {1, 64},
                                  {64, 1}, {5, 1000}, {2, 16}, {1000, 3}, {8, 8}};
static const size_t shapes[][3] = {{1, 1, 1},    {3, 5, 7},    {13, 33, 29}, {19, 65, 21}, {2, 130, 13}, {70, 3, 64},
                                   {5, 31, 100}, {16, 16, 32}, {9, 1, 257},  {1, 67, 70},  {33, 47, 0},  {12, 19, 3},
                                   {0, 5, 3},    {5, 0, 3},    {6, 23, 131}, {6, 32, 5},   {4, 17, 66},  {13, 35, 8}};
enum { TILES = COUNT_OF(tiles), SHAPES = COUNT_OF(shapes) };

/* Check all instruction sets, with different tiles and numbers of threads, in one layout. */
static void check_layout(run_of *r, size_t turn, int *is_first, uint64_t *seed) {
    for (r->isa = 0; r->isa < offered; r->isa++)
        for (int call = 0; call < 2; call++) {
            const size_t *tile = tiles[*is_first ? 0 : (turn + r->isa * 4 + (size_t)call * 5) % TILES];
            r->narrow_call = (call || r->d->words) && !r->wide && r->d->result.fits_binary32;
            if (call && !r->narrow_call && (turn + r->isa) % 3 != 0) continue;
            ulp_tile_set(tile[0], tile[1]);
            /* with many small tiles several threads are slow */
            const int small_tiles = tile[0] * tile[1] > 0 && r->s->m * r->s->n > 200 * tile[0] * tile[1];
            ulp_threads_set(*is_first || small_tiles || turn % 3 ? 1
                                                                 : 1 + (int)((turn / 3 + r->isa + (size_t)call) % 3));
            product(r);
            against_first(r, *is_first);
            if (*is_first) against_definition(r, seed);
            *is_first = 0;
        }
}

static void check_product(const ulp_datapath *d, data kind, size_t shape, int wide, size_t turn, uint64_t *seed) {
    ulp_gemm_shape s = {
        .m = shapes[shape][0], .n = shapes[shape][1], .k = shapes[shape][2], .accumulate = turn / 2 % 2};
    if (d->scale_block != 0 && turn % 5 != 0) s.a_scales = a_scales;
    if (d->scale_block != 0 && turn % 7 != 0) s.b_scales = b_scales;
    run_of r = {.d = d,
                .s = &s,
                .stream = {turn, 7, turn % 3 ? next_random(seed) % (1ull << 36) : 0},
                .kind = kind,
                .wide = wide};
    int is_first = 1;
    /* the numbers of the blocks of words get another upper half, or return to 0 */
    if (turn % 7 == 1) r.stream.first = (turn % 4 << 34) - next_random(seed) % 8192;
    fill(kind, d, &s, wide, seed);
    for (size_t layout = 0; layout < 2; layout++) {
        lay_out(&s, (unsigned)(turn / 3 + layout * 5) % 16);
        check_layout(&r, turn + layout * 3, &is_first, seed);
    }
}

TEST(products) {
    size_t turn = 0, used[NAMES] = {0};
    for (size_t i = 0; i < NAMES; i++) {
        const ulp_datapath d = datapath_named(word_of(names, i));
        uint64_t seed = i + 1;
        for (data kind = 0; kind < DATA; kind++)
            for (size_t n = 0; n < SHAPES; n++) {
                turn++;
                if ((n * 5 + (size_t)kind * 3 + i) % (31 * thinned(2)) != 0 && n != (i + (size_t)kind * 7) % SHAPES)
                    continue;
                check_product(&d, kind, n, 0, turn, &seed);
                if (!d.has_inputs && d.accumulator.overflow != ULP_OVERFLOW_WRAP && turn % 2)
                    check_product(&d, kind, n, 1, turn, &seed);
                used[i]++;
            }
        assert_true(used[i] >= DATA);
    }
    assert_true(*word_of(names, NAMES) == '\0');
    ulp_threads_set(0), ulp_tile_set(0, 0);
    print_message("%zu products of %d datapaths, %zu elements compared, %zu with the definition\n", runs, (int)NAMES,
                  compared, sampled);
    assert_true(offered > 0 && sampled > 10000);
}

/* The tile sizes are kept, and 0 sets the default. */
TEST(setting) {
    size_t rows = 9, columns = 9;
    ulp_tile_set(3, 5);
    ulp_tile_get(&rows, &columns);
    assert_true(rows == 3 && columns == 5);
    ulp_tile_set(0, 0);
    ulp_tile_get(&rows, &columns);
    assert_true(rows == 0 && columns == 0);
}

TESTS(find_backends, NULL)

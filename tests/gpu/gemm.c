/* gemm.c - matrix products and sums of columns under every datapath: the device has the bits of the CPU.
 *
 * The file is long because every row makes its operands and compares its results in one way. */
#include "gemm.h"

/* ---- data ---- */

typedef struct source {
    uint64_t seed, next;
} source;

static uint32_t draw(source *s) { return word_of(s->seed, s->next++); }
static int below(source *s, int n) { return (int)(draw(s) % (uint32_t)n); }

static const char *const data_names[DATA] = {"ordinary", "special", "large", "small", "any", "zeros"};

/* A random operand for sums in the format: a binary32 number, or a binary64 number if wide. */
static double number(source *s, data kind, const ulp_format *f, int wide) {
    static const double special[] = {
        INFINITY, -INFINITY,       NAN,     -NAN, 0.0, -0.0, 0x1.fffffep127, -0x1p-149, 0x1.8p-140,
        0x1p-126, -0x1.fffffep127, INFINITY};
    const int wraps = f->overflow == ULP_OVERFLOW_WRAP, bits = wide && below(s, 2) ? 52
                                                               : below(s, 3) ? below(s, f->prec < 24 ? f->prec : 23) + 1
                                                                             : 23;
    const double m = floor((1.0 + (double)draw(s) * 0x1p-32 + (double)draw(s) * 0x1p-64) * ldexp(1.0, bits)),
                 sign = below(s, 2) ? 1.0 : -1.0;
    const double near = sign * ldexp(m, -bits - below(s, 2));
    const int middle = f->prec > 24 && !wide ? 60 : ilogb(f->max) / 2,
              low = (f->prec > 24 && !wide ? -148 : ilogb(f->min_positive)) / 2;
    switch (wraps && (kind == LARGE || kind == ANY) ? ORDINARY : kind) {
    case SPECIAL: return below(s, 25) ? near : special[below(s, 12)];
    case LARGE: return ldexp(near, middle + below(s, 3) - 1);
    case SMALL: return ldexp(near, low + below(s, 4) - 2);
    case ANY: return ldexp(near, below(s, wide ? 2000 : 250) - (wide ? 1000 : 130));
    case ZEROS: return below(s, 3) ? (below(s, 2) ? 0.0 : -0.0) : near;
    default: return near;
    }
}

/* x rounded to the format. NaN and Inf become 0 or max if the format does not have them. */
static double member(double x, const ulp_format *f) {
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    if ((isnan(x) && f->nan_codes == ULP_NAN_NONE) || (isinf(x) && !f->has_inf)) return f->has_zero ? 0.0 : f->max;
    return isfinite(x) ? ulp_round(x, f, rule, 0) : x;
}

/* A random operand. If the datapath has an input format, the operand is a value of this format, in part from any code.
 */
static double operand(source *s, data kind, const ulp_datapath *d, const ulp_format *input, int wide) {
    if (!d->has_inputs) {
        const double x = number(s, kind, &d->accumulator, wide);
        return wide ? x : (double)(float)x;
    }
    if (kind == ORDINARY || kind == SPECIAL || kind == ANY || input->is_fixed) {
        const double x = ulp_decode(draw(s) & ((1ull << input->bits) - 1), input);
        if (isfinite(x) && (kind == ANY || input->is_fixed || below(s, 4) == 0)) return x;
        if (!isfinite(x) && kind == SPECIAL) return x;
    }
    return member(number(s, kind == SPECIAL ? ORDINARY : kind, input, 0), input);
}

/* A random start value. Start values of integer datapaths are in part near the limits of int32. */
static double start_value(source *s, data kind, const ulp_datapath *d, int wide) {
    if (!d->result.is_fixed || !d->has_inputs) return member(number(s, kind, &d->result, wide), &d->result);
    const double near = (double)(draw(s) % 20000);
    const int where = below(s, 3);
    return where == 0 ? (double)(int32_t)draw(s) : where == 1 ? d->result.max - near : d->result.lowest + near;
}

/* ---- one product on both backends ---- */

void put(void *array, size_t i, double x, int wide) {
    if (wide) ((double *)array)[i] = x;
    else ((float *)array)[i] = (float)x;
}

static ulp_gemm_shape shape_of(const product *p) {
    const size_t pad = p->layout & PADDED ? 3 : 0;
    ulp_gemm_shape s = {.m = p->m, .n = p->n, .k = p->k};
    s.a_trans = (p->layout & A_TRANS) != 0, s.b_trans = (p->layout & B_TRANS) != 0,
    s.c_trans = (p->layout & C_TRANS) != 0;
    s.accumulate = (p->layout & ACCUMULATE) != 0;
    s.lda = (s.a_trans ? p->m : p->k) + pad;
    s.ldb = (s.b_trans ? p->k : p->n) + 2 * pad;
    s.ldc = (s.c_trans ? p->m : p->n) + 2 * pad;
    return s;
}

static float *scales_of(source *s, const product *p, size_t n) {
    float *to = room(n, sizeof *to);
    const int reach = p->kind == ANY || p->kind == ZEROS ? 120 : 6;
    for (size_t i = 0; i < n; i++) {
        const double x = p->kind == SPECIAL && below(s, 20) == 0
                             ? NAN
                             : ldexp(below(s, 2) ? 1.25 : 1.5, below(s, 2 * reach) - reach);
        to[i] = (float)member(x, &p->d->scale);
    }
    return to;
}

/* In every second row and every third column the start and all products are -0, so that the sum is -0. A kernel that
 * adds +0 from padding, or starts at +0, gives +0. */
static void make_zeros(arrays *x, const product *p) {
    const ulp_gemm_shape *s = &x->s;
    const ulp_datapath *d = p->d;
    const double one = d->has_inputs ? member(1.0, &d->a) : 1.0, zero = d->has_inputs ? member(-0.0, &d->b) : -0.0;
    for (size_t i = 0; i < p->m; i += 2)
        for (size_t k = 0; k < p->k; k++) put(x->a, s->a_trans ? k * s->lda + i : i * s->lda + k, one, p->wide);
    for (size_t j = 0; j < p->n; j += 3)
        for (size_t k = 0; k < p->k; k++) put(x->b, s->b_trans ? j * s->ldb + k : k * s->ldb + j, zero, p->wide);
    for (size_t i = 0; i < p->m; i += 2)
        for (size_t j = 0; j < p->n; j += 3)
            put(x->c, s->c_trans ? j * s->ldc + i : i * s->ldc + j, member(-0.0, &d->result), p->wide);
}

void arrays_make(arrays *x, const product *p) {
    source s = {p->seed, 0};
    const ulp_datapath *d = p->d;
    const size_t size = p->wide ? sizeof(double) : sizeof(float),
                 blocks = d->scale_block == 0 ? 0 : (p->k + d->scale_block - 1) / d->scale_block;
    *x = (arrays){.s = shape_of(p)};
    const size_t a_rows = x->s.a_trans ? p->k : p->m, b_rows = x->s.b_trans ? p->n : p->k,
                 c_rows = x->s.c_trans ? p->n : p->m;
    x->a_size = a_rows * x->s.lda, x->b_size = b_rows * x->s.ldb, x->c_size = c_rows * x->s.ldc;
    x->a = room(x->a_size, size), x->b = room(x->b_size, size), x->c = room(x->c_size, size),
    x->got = room(x->c_size, size);
    for (size_t i = 0; i < x->a_size; i++)
        put(x->a, i,
            i % x->s.lda < (x->s.a_trans ? p->m : p->k) ? operand(&s, p->kind, d, &d->a, p->wide) : (double)NAN,
            p->wide);
    for (size_t i = 0; i < x->b_size; i++)
        put(x->b, i,
            i % x->s.ldb < (x->s.b_trans ? p->k : p->n) ? operand(&s, p->kind, d, &d->b, p->wide) : (double)NAN,
            p->wide);
    for (size_t i = 0; i < x->c_size; i++) put(x->c, i, start_value(&s, p->kind, d, p->wide), p->wide);
    if (blocks != 0 && !(p->layout & NO_A_SCALES))
        x->s.a_scales = x->scales[0] = scales_of(&s, p, x->scale_size[0] = p->m * blocks);
    if (blocks != 0 && !(p->layout & NO_B_SCALES))
        x->s.b_scales = x->scales[1] = scales_of(&s, p, x->scale_size[1] = p->n * blocks);
    if (p->kind == ZEROS) make_zeros(x, p);
    memcpy(x->got, x->c, x->c_size * size);
}

void arrays_drop(arrays *x) {
    free(x->a), free(x->b), free(x->c), free(x->got), free(x->scales[0]), free(x->scales[1]);
}

ulp_status multiply(const ulp_backend *k, void *c, const void *a, const void *b, const ulp_gemm_shape *s,
                    const product *p, ulp_stream stream) {
    return p->wide ? ulp_backend_gemm64(k, c, a, b, s, (ulp_summation){p->d, stream})
                   : ulp_backend_gemm(k, c, a, b, s, (ulp_summation){p->d, stream});
}

ulp_status on_device(const check *c, row *r, arrays *x, const product *p, ulp_stream stream) {
    const size_t size = p->wide ? sizeof(double) : sizeof(float);
    ulp_gemm_shape s = x->s;
    void *a = to_device(c, r, x->a, x->a_size * size), *b = to_device(c, r, x->b, x->b_size * size),
         *y = to_device(c, r, x->got, x->c_size * size);
    float *scales[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        if (x->scales[i] != NULL) scales[i] = to_device(c, r, x->scales[i], x->scale_size[i] * sizeof(float));
    s.a_scales = scales[0], s.b_scales = scales[1];
    ulp_status status = r->stopped ? ULP_NO_MEMORY : multiply(c->gpu, y, a, b, &s, p, stream);
    if (!r->stopped) from_device(c, r, x->got, y, x->c_size * size);
    void *all[] = {a, b, y, scales[0], scales[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) c->gpu->release(all[i]);
    return status;
}

/* Compare one product on both backends. The whole arrays are compared: a kernel must not write between the rows of C.
 */
static void compare(const check *c, row *r, const product *p) {
    if (r->skipped || r->stopped) return;
    arrays x;
    arrays_make(&x, p);
    const ulp_stream stream = {p->seed, 11, p->layout & FAR_STREAM ? 0x123456789ull + p->seed : 0};
    const ulp_status got = on_device(c, r, &x, p, stream);
    const ulp_status want = multiply(c->cpu, x.c, x.a, x.b, &x.s, p, stream);
    char text[160];
    snprintf(text, sizeof text, "%s %s, %zu x %zu x %zu, layout %u, data %s, seed %llu", p->wide ? "gemm64" : "gemm",
             p->d->name, p->m, p->n, p->k, p->layout, data_names[p->kind], (unsigned long long)p->seed);
    row_true(r, got == want && want == ULP_OK, "%s: %s, should be: %s; %s", text, ulp_status_text(got),
             ulp_status_text(want), ulp_backend_error());
    if (p->wide) row_doubles(r, x.got, x.c, x.c_size, "%s", text);
    else row_floats(r, x.got, x.c, x.c_size, "%s", text);
    arrays_drop(&x);
}

/* ---- rows ---- */

/* m, n, k. Some shapes are larger than a tile of 128 rows or columns. */
static const size_t shapes[][3] = {{3, 5, 7},    {33, 65, 129}, {1, 1, 1},    {17, 19, 64}, {1, 70, 33}, {70, 1, 5},
                                   {40, 67, 70}, {6, 8, 0},     {65, 63, 32}, {0, 5, 3},    {5, 0, 3},   {9, 2, 257},
                                   {131, 9, 21}, {5, 133, 37},  {64, 64, 16}, {35, 34, 100}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Compare `count` products under d. Each has another kind of data, another shape and another layout. */
static void try_datapath(const check *c, row *r, const ulp_datapath *d, int wide, size_t count) {
    static size_t turn;
    for (size_t i = 0; i < count; i++, turn++) {
        const size_t *s = shapes[(turn * 5 + turn / SHAPES) % SHAPES];
        product p = {
            d,    s[0],    s[1], s[2], (unsigned)(turn * 37 + turn / 7) % LAYOUTS, (data)((turn + turn / DATA) % DATA),
            wide, turn + 1};
        compare(c, r, &p);
    }
}

int parsed(row *r, ulp_datapath *d, const char *name) {
    return row_ok(r, ulp_datapath_parse(d, name), "datapath '%s'", name);
}

/* Compare products under the datapaths `names`, which blanks separate. */
static void try_names(const check *c, const char *title, const char *names, int wide, size_t count) {
    row r = row_of(title);
    for (const char *at = names; *at != '\0' && !r.skipped;) {
        char name[ULP_DATAPATH_NAME_MAX];
        ulp_datapath d;
        const size_t n = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        at += n + (at[n] == ' ');
        if (!parsed(&r, &d, name)) break;
        const int held = wide || d.result.fits_binary32;
        if (row_ok(&r, held ? ULP_OK : ULP_UNSUPPORTED, "%s in floats", name)) try_datapath(c, &r, &d, wide, count);
    }
    row_end(&r);
}

static const char serial_names[] =
    "serial:fp16:rne serial:bf16:sr serial:e4m3:rz serial:q8.8:wrap:rd serial:fp32:srb/9 serial:fp16:srb/8 "
    "serial:fp16:src/1 serial:bf16:rz "
    "serial:e4m3:rne serial:e4m3:inf:ru serial:e4m3:src/5 serial:e5m2:ro serial:e5m2:rd serial:q8.8:rne "
    "serial:q8.8:srb/3 serial:q8.0:wrap:rna "
    "serial:dlfloat16:rne serial:dlfloat16:sr serial:tf32:rna serial:fp24:sr serial:fp32:nan:rne serial:fp32:sat:rne "
    "serial:fp32:sr/9 "
    "serial:q10.12:src serial:fp32:sr serial:e8m0:rne serial:binary8p4se:rd serial:binary8p4uf:ru serial:e2m1:rna "
    "serial:e5m10:nosub:rd "
    "serial:bf16:rne serial:e5m2:rne serial:e4m3:sat:rne serial:e2m1:rne serial:e4m3fnuz:rne serial:tf32:rne";
static const char chunk_names[] =
    "chunk1:fp16:rne chunk4:fp16:rne chunk32:e6m9:rne chunk8:bf16:sr chunk64:fp32:rne chunk5:e4m3:rd chunk3:fp24:src/4 "
    "chunk16:q4.4:wrap:rne "
    "chunk1000:e5m2:rz chunk8:e4m3:inf:rne chunk9:fp32:sr chunk2:fp16:nosub:rne chunk16:e4m3:rne chunk32:bf16:rne";
static const char promote_names[] = "serial:fp16:rne:promote=32 serial:e4m3:sr:promote=7 serial:bf16:rne:promote=16 "
                                    "fp32:promote=8 split:fp16:sr:promote=5 split:fp16:rne:promote=32 "
                                    "pairwise:fp16:rne:promote=16 pairwise:bf16:sr:promote=6 kahan:fp16:rne:promote=10 "
                                    "kahan:e5m2:src:promote=3 exact:fp32:rne:promote=16 "
                                    "block8:fp32:rne:promote=32 h100-e4m3:promote=64 h100-fp16:promote=32 "
                                    "h100-e5m2-mma:promote=32 h100-fp16-fp16:promote=16 v100-fp16:promote=4";
static const char several_names[] = "split:fp16:rne split:bf16:ru split:fp32:rne split:e5m2:sr split:fp24:rna "
                                    "split:q8.8:rne split:fp32:ro split:dlfloat16:rne split:e4m3:rne "
                                    "kahan:fp16:rne kahan:bf16:sr kahan:fp32:rne kahan:e4m3fnuz:rne kahan:e5m2:ro "
                                    "kahan:fp24:sr/6 kahan:q8.8:wrap:rne kahan:fp16:sat:ru "
                                    "kahan:e4m3:rne pairwise:fp16:rne pairwise:bf16:sr pairwise:fp32:rne "
                                    "pairwise:e4m3:rne pairwise:fp16:rd pairwise:tf32:srb/3 pairwise:q8.8:rne";
static const char exact_names[] =
    "block4:fp16:rne block4:fp32:rz block16:bf16:sr block64:e4m3:ru block8:fp32:rne block5:q8.8:rna block4:e5m2:src/7 "
    "block32:fp24:rd "
    "exact:fp32:rne exact:fp16:sr exact:e4m3:rne exact:bf16:rd exact:q10.12:rz exact:fp16:nosub:ru exact:e8m0:rna";
/* Tensor Core rows with other settings: settings that no measurement has decided, and settings that no row has. */
static const char odd_rows[] =
    "h100-fp16:align=rd:output=rne:floor=none:zero_c=-1000 h100-fp16:L=5:F=17:kept=13 "
    "h100-bf16:signed_zero=1:zero_operand=-126:zero_product=5 "
    "h100-e4m3:F=20:kept=20 h100-e4m3:F=13:kept=13 h100-e4m3-mma:L=32 h100-fp16:L=64:F=40:kept=1 h100-fp16:align=rne "
    "a100-bf16:L=3 "
    "h100-fp16-fp16:output=rz h100-bf16:output=rne h100-tf32:floor=10 h100-e5m2:signed_zero=1 h100-e5m2-mma:L=7";
static const char integer_names[] =
    "int8 int8:sat int8:za=5:zb=-77 int8:sat:zb=255 int8:za=-255:zb=255 uint8:za=200:zb=3 uint8.int8:sat:za=128 "
    "int8.uint8:zb=255 maddubs-int8 maddubs-int8-wrap";
static const char parts_names[] =
    "h100-fp16:split-k=4:fp32 a100-fp16-fp16:split-k=3:fp16 serial:bf16:rne:split-k=2:e4m3 fp32:split-k=5:bf16 "
    "h100-e4m3:promote=64:split-k=2:fp32 b200-e2m1-nvf4:split-k=2:fp32 b200-e4m3-mx:split-k=3:bf16";
static const char wide_names[] = "serial:fp64:rne serial:fp64:sr split:fp64:rd chunk7:fp64:rne block3:fp64:rne "
                                 "pairwise:fp64:rz kahan:fp64:rne exact:fp64:rne exact:fp64:src "
                                 "serial:fp16:rne fp32 split:bf16:ru exact:fp32:rne block4:fp16:rne chunk4:fp16:rne "
                                 "h100-fp16 b200-e2m1-nvf4 b200-e4m3-mx serial:e4m3:sr";

static void every_mode(const check *c) {
    row r = row_of("products: sums in binary32 and binary16 in every rounding mode");
    for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
        for (int half = 0; half < 2; half++) {
            char name[64];
            ulp_datapath d;
            snprintf(name, sizeof name, "serial:%s:%s", half ? "fp16" : "fp32", ulp_mode_name((ulp_mode)mode));
            if (!r.skipped && parsed(&r, &d, name)) try_datapath(c, &r, &d, 0, c->small ? 4 : 12);
        }
    row_end(&r);
}

static void every_row(const check *c) {
    row r = row_of("products: every Tensor Core row");
    ulp_datapath d;
    for (size_t i = 0; !r.skipped && ulp_datapath_get(i, &d) == ULP_OK; i++) {
        /* many rows of this length differ only in their input formats */
        const int again = d.scale_block == 0 && d.fused.length == 32;
        const int wide = !d.result.fits_binary32;
        try_datapath(c, &r, &d, wide, d.fused.group != 0 || !c->small ? 2 * DATA : (again ? 2 : 3));
    }
    row_end(&r);
}

/* ---- reduce ---- */

static void reduce_one(const check *c, row *r, const ulp_datapath *d, size_t m, size_t n, data kind, uint64_t seed) {
    const product p = {d, 1, m, n, 0, kind, 0, seed};
    source s = {seed, 0};
    const ulp_stream stream = {seed, 5, seed % 3 * 1000};
    float *x = room(m * n, sizeof *x), *y = room(n, sizeof *y), *want = room(n, sizeof *want);
    for (size_t i = 0; i < m * n; i++) x[i] = (float)operand(&s, p.kind, d, &d->b, 0);
    float *at = to_device(c, r, x, m * n * sizeof *x), *sums = to_device(c, r, y, n * sizeof *y);
    const ulp_status got = ulp_backend_reduce(c->gpu, sums, at, m, n, (ulp_summation){d, stream}),
                     right = ulp_backend_reduce(c->cpu, want, x, m, n, (ulp_summation){d, stream});
    row_true(r, got == right, "reduce %s, %zu x %zu: %s, should be: %s", d->name, m, n, ulp_status_text(got),
             ulp_status_text(right));
    if (n > 0)
        device_floats(c, r, ULP_OK, sums, want, n, "reduce %s, %zu x %zu, seed %llu", d->name, m, n,
                      (unsigned long long)seed);
    c->gpu->release(at), c->gpu->release(sums);
    free(x), free(y), free(want);
}

static void reduces(const check *c) {
    row r = row_of("products: sums of columns");
    static const char *const names[] = {"fp32",
                                        "serial:fp16:rne",
                                        "serial:bf16:sr",
                                        "chunk16:e4m3:rne",
                                        "kahan:fp16:rne",
                                        "pairwise:fp32:rne",
                                        "exact:fp32:rne",
                                        "h100-fp16",
                                        "serial:fp16:rne:promote=32",
                                        "split:e5m2:src/3"};
    static const size_t sizes[][2] = {{0, 3}, {3, 0}, {1, 1}, {5, 2}, {2, 64}, {101, 63}, {33, 130}, {300, 7}};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !r.skipped; i++)
        for (size_t t = 0; t < sizeof sizes / sizeof sizes[0]; t++) {
            ulp_datapath d;
            if (r.stopped || !parsed(&r, &d, names[i]) || (c->small && (t + i) % 2)) continue;
            reduce_one(c, &r, &d, sizes[t][0], sizes[t][1], (data)((t + i) % DATA), 900 + i * 16 + t);
        }
    row_end(&r);
}

/* ---- sizes of real layers ---- */

static void large(const check *c) {
    row r = row_of("products: large ones");
    static const struct {
        const char *name;
        size_t m, n, k;
        unsigned layout;
    } cases[] = {{"fp32", 1024, 1024, 1024, ACCUMULATE},
                 {"fp32", 2000, 130, 777, A_TRANS | C_TRANS},
                 {"fp32", 2049, 2200, 67, ACCUMULATE},
                 {"serial:fp16:rne", 1024, 1024, 1024, B_TRANS},
                 {"serial:bf16:rne", 512, 1000, 513, ACCUMULATE | FAR_STREAM},
                 {"serial:e4m3:rne", 512, 512, 512, 0},
                 {"serial:fp16:sr", 512, 512, 511, FAR_STREAM},
                 {"serial:fp32:sr", 300, 300, 512, C_TRANS},
                 {"chunk64:fp16:rne", 512, 512, 1000, 0},
                 {"serial:fp16:rne:promote=128", 512, 512, 1024, ACCUMULATE},
                 {"kahan:fp16:rne", 300, 500, 512, 0},
                 {"pairwise:fp16:rne", 300, 500, 1000, A_TRANS},
                 {"pairwise:bf16:sr", 200, 300, 500, FAR_STREAM},
                 {"split:bf16:rne", 300, 500, 512, 0},
                 {"h100-fp16", 1024, 1024, 1024, ACCUMULATE},
                 {"h100-bf16", 512, 1000, 1000, B_TRANS},
                 {"h100-e4m3", 1024, 512, 1024, 0},
                 {"h100-e4m3-mma", 512, 512, 1024, C_TRANS},
                 {"h100-fp16-fp16", 512, 512, 1024, ACCUMULATE},
                 {"h100-tf32", 512, 512, 512, 0},
                 {"v100-fp16", 256, 256, 1024, 0},
                 {"b200-e4m3-mx", 512, 512, 1000, PADDED},
                 {"b200-e2m1-nvf4", 512, 512, 1000, 0},
                 {"h100-e4m3:promote=128", 512, 512, 1024, ACCUMULATE},
                 {"exact:fp32:rne", 64, 64, 1000, 0},
                 {"block4:fp16:rne", 128, 128, 512, 0}};
    if (!r.skipped && c->small) row_skip(&r, "sizes for a device");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !r.skipped; i++) {
        ulp_datapath d;
        if (!parsed(&r, &d, cases[i].name)) break;
        compare(c, &r, &(product){&d, cases[i].m, cases[i].n, cases[i].k, cases[i].layout, ORDINARY, 0, 7000 + i});
    }
    row_end(&r);
}

void check_gemm(const check *c) {
    const size_t few = c->small ? 4 : 24;
    try_names(c, "products: the binary32 chain", "fp32", 0, c->small ? 24 : 96);
    every_mode(c);
    try_names(c, "products: every partial sum rounded", serial_names, 0, few);
    try_names(c, "products: chunks", chunk_names, 0, few);
    try_names(c, "products: promoted sums", promote_names, 0, few);
    try_names(c, "products: split, compensated and pairwise sums", several_names, 0, few);
    try_names(c, "products: exact sums, whole or of blocks", exact_names, 0, few);
    every_row(c);
    try_names(c, "products: Tensor Core rows with other fields", odd_rows, 0, few);
    try_names(c, "products: several words for each operand",
              "h100-bf16:words=3 a100-fp16:words=2:first=small mi250-fp16:words=2:split=rz", 0, few);
    try_names(c, "products: parts of k", parts_names, 0, few);
    try_names(c, "products: parts of k in arrays of binary64",
              "int8:split-k=3:q20.0 serial:fp64:rne:split-k=2:fp64 fp32:split-k=2:fp16", 1, few);
    try_names(c, "products: 8-bit integers", integer_names, 1, c->small ? 8 : 48);
    try_names(c, "products: arrays of binary64", wide_names, 1, few);
    check_special_products(c);
    reduces(c);
    large(c);
}

/* elements.c - rounding, operations, updates and largest magnitudes: the device has the bits of the CPU. */
#include "check.h"

/* Formats that are not registered. With the registered formats they cover every case that the kernels distinguish. */
static const char *const ad_hoc[] = {"q1.15", "q8.8",       "q8.8:wrap",    "q6.10:sat",   "e2m5", "e4m11",
                                     "e8m2",  "e5m2:nosub", "binary16:sat", "binary8p3se", "q1.31"};
enum { AD_HOC = sizeof ad_hoc / sizeof ad_hoc[0] };

static int format_at(size_t i, ulp_format *f) {
    if (i < ulp_format_count) return ulp_format_get(i, f, NULL) == ULP_OK;
    return i - ulp_format_count < AD_HOC && ulp_format_parse(f, ad_hoc[i - ulp_format_count]) == ULP_OK;
}

/* Host and device arrays of n + SLACK elements; the additional elements allow an unaligned start. */
typedef struct arrays {
    size_t n;
    float *x, *want, *device_x, *device_y;
} arrays;

enum { SLACK = 8 };

static void arrays_close(const check *c, arrays *a) {
    c->gpu->release(a->device_x), c->gpu->release(a->device_y);
    free(a->x), free(a->want);
}

static int arrays_open(const check *c, row *r, arrays *a, size_t n) {
    *a = (arrays){.n = n, .x = room(n + SLACK, sizeof(float)), .want = room(n + SLACK, sizeof(float))};
    a->device_x = to_device(c, r, a->x, (n + SLACK) * sizeof(float));
    a->device_y = to_device(c, r, a->x, (n + SLACK) * sizeof(float));
    if (!r->stopped) return 1;
    arrays_close(c, a);
    return 0;
}

/* `count` arrays (n) on the host and on the device. */
static void several_open(const check *c, row *r, size_t count, float **host, float **device, size_t n) {
    for (size_t k = 0; k < count; k++) {
        host[k] = room(n, sizeof(float));
        device[k] = to_device(c, r, host[k], n * sizeof(float));
    }
}

static void several_close(const check *c, size_t count, float **host, float **device) {
    for (size_t k = 0; k < count; k++) c->gpu->release(device[k]), free(host[k]);
}

/* Round n elements from element `offset` on, in place or not, with counters or not. */
static void round_case(const check *c, row *r, arrays *a, size_t offset, size_t n, const ulp_format *f, ulp_rule rule,
                       ulp_stream stream, int in_place, int counting) {
    ulp_stats want = {0}, got = {0};
    float *x = a->device_x + offset,
          *y = in_place ? x : a->device_y + (n + offset) % 4; /* x and y can differ in alignment */
    if (!row_ok(r, c->gpu->upload(a->device_x, a->x, (a->n + SLACK) * sizeof(float)), "upload")) return;
    const ulp_status expected =
        ulp_backend_round(c->cpu, a->want, a->x + offset, n, (ulp_rounding){f, rule, stream, counting ? &want : NULL});
    const ulp_status status =
        ulp_backend_round(c->gpu, y, x, n, (ulp_rounding){f, rule, stream, counting ? &got : NULL});
    row_true(r, status == expected, "%s %s: status %d, the CPU's is %d", f->name, ulp_mode_name(rule.mode), (int)status,
             (int)expected);
    if (status != ULP_OK || expected != ULP_OK) return;
    device_floats(c, r, status, y, a->want, n, "%s %s, %u bits, policy %s, offset %zu, first %llu%s", f->name,
                  ulp_mode_name(rule.mode), rule.random_bits, ulp_overflow_name(rule.overflow), offset,
                  (unsigned long long)stream.first, in_place ? ", in place" : "");
    if (counting) row_counters(r, &got, &want, f->name, ulp_mode_name(rule.mode));
}

static void check_round(const check *c) {
    row r = row_of("round: all formats, modes, policies, random bits, with and without counters");
    const uint8_t bits[] = {0, 1, 2, 8, 13, 31};
    arrays a;
    ulp_format f;
    if (!r.skipped && arrays_open(c, &r, &a, c->small ? 601 : 100003)) {
        for (size_t i = 0; format_at(i, &f) && !r.stopped; i++) {
            fill_any(a.x, a.n + SLACK, &f, 17 + i);
            for (uint8_t mode = 0; mode < ULP_MODE_COUNT && !r.stopped; mode++)
                for (uint8_t policy = 0; policy < ULP_OVERFLOW_COUNT && !r.stopped; policy++) {
                    const size_t some = i + mode + policy, offset = some % 5;
                    const uint8_t random_bits = ulp_mode_is_stochastic(mode) ? bits[some % 6] : 0;
                    const ulp_rule rule = {mode, policy, random_bits};
                    const ulp_stream stream = {1 + i, mode, some % 7};
                    if (ulp_rule_check(&f, rule) != ULP_OK) continue;
                    round_case(c, &r, &a, offset, a.n - some % 4, &f, rule, stream, some % 2, some % 3 != 0);
                }
        }
        arrays_close(c, &a);
    }
    row_end(&r);
}

/* Sizes 0 to 40, and sizes at and just below powers of 4, with unaligned starts. */
static void check_sizes(const check *c) {
    row r = row_of("round: sizes 0 to 40 and about powers of two, unaligned");
    arrays a;
    ulp_format f;
    if (!r.skipped && arrays_open(c, &r, &a, c->small ? 4100 : 1u << 20)) {
        ulp_format_parse(&f, "binary16");
        fill_any(a.x, a.n + SLACK, &f, 3);
        const ulp_rule rules[] = {{ULP_RNE, 0, 0}, {ULP_SRA, 0, 0}};
        for (size_t k = 0; k < 2 && !r.stopped; k++) {
            for (size_t n = 0; n <= 40 && !r.stopped; n++)
                for (size_t offset = 0; offset < 4; offset++)
                    round_case(c, &r, &a, offset, n, &f, rules[k], (ulp_stream){5, 6, n + 3 * offset}, 0, 1);
            for (size_t n = 64; n <= a.n && !r.stopped; n *= 4)
                for (size_t d = 0; d < 3; d++)
                    round_case(c, &r, &a, d, n - d, &f, rules[k], (ulp_stream){5, 6, d}, 0, 0);
        }
        arrays_close(c, &a);
    }
    row_end(&r);
}

static void check_round64(const check *c) {
    row r = row_of("round64: all formats and modes");
    const size_t n = c->small ? 203 : 60011, bytes = n * sizeof(double);
    double *x = room(n, sizeof *x), *want = room(n, sizeof *want),
           *device = r.skipped ? NULL : to_device(c, &r, x, bytes);
    ulp_format f;
    for (size_t i = 0; !r.skipped && format_at(i, &f) && !r.stopped; i++) {
        for (size_t e = 0; e < n; e++) {
            const uint64_t any = (uint64_t)word_of(i, 3 * e) << 32 | word_of(i, 3 * e + 1);
            const double near =
                ulp_decode(any >> 7, &f) * (1.0 + (double)((int)(any % 9) - 4) * ulp_scale(1.0, -(int)f.prec - 1));
            memcpy(&x[e], &any, sizeof any);
            if (e % 4 != 0) x[e] = near;
        }
        for (uint8_t mode = 0; mode < ULP_MODE_COUNT && !r.stopped; mode++) {
            const ulp_rule rule = {mode, 0, ulp_mode_is_stochastic(mode) ? (uint8_t)(1 + i % 32) : 0};
            ulp_stats w = {0}, g = {0};
            const ulp_stream stream = {i, mode, 1};
            if (!row_ok(&r, c->gpu->upload(device, x, bytes), "upload")) break;
            row_ok(&r, ulp_backend_round64(c->cpu, want, x, n, (ulp_rounding){&f, rule, stream, &w}),
                   "the CPU's round64");
            device_doubles(c, &r, ulp_backend_round64(c->gpu, device, device, n, (ulp_rounding){&f, rule, stream, &g}),
                           device, want, n, "%s %s", f.name, ulp_mode_name(mode));
            row_counters(&r, &g, &w, f.name, ulp_mode_name(mode));
        }
    }
    c->gpu->release(device);
    free(x), free(want);
    row_end(&r);
}

static void check_map(const check *c) {
    row r = row_of("map: all operations, formats and modes, with and without counters");
    const size_t n = c->small ? 151 : 30011, bytes = n * sizeof(float);
    float *host[4], *device[4], *want = room(n, sizeof *want); /* the last array is the result */
    ulp_format f;
    several_open(c, &r, 4, host, device, n);
    for (size_t i = 0; !r.skipped && format_at(i, &f) && !r.stopped; i++) {
        if (!f.fits_binary32) continue;
        for (size_t k = 0; k < 3; k++) {
            fill_any(host[k], n, &f, 100 * i + k);
            for (size_t e = k; e < n; e += 11) host[k][e] = host[0][e]; /* equal operands: differences are zero */
            for (size_t e = 5; e < n && k == 1; e += 13) host[1][e] = -host[0][e];
            row_ok(&r, c->gpu->upload(device[k], host[k], bytes), "upload");
        }
        for (int op = 0; op < ULP_OP_COUNT && !r.stopped; op++)
            for (uint8_t mode = 0; mode < ULP_MODE_COUNT && !r.stopped; mode++) {
                const ulp_rule rule = {mode, 0, ulp_mode_is_stochastic(mode) ? (uint8_t)((i + (size_t)op) % 33) : 0};
                const ulp_stream stream = {i, (uint64_t)op, mode + i + (size_t)op};
                const int counting = (i + (size_t)op + mode) % 2 == 0;
                ulp_stats w = {0}, g = {0};
                row_ok(&r,
                       ulp_backend_map(c->cpu, want, (ulp_array_op){(ulp_op)op, host[0], host[1], host[2]}, n,
                                       (ulp_rounding){&f, rule, stream, counting ? &w : NULL}),
                       "the CPU's map");
                device_floats(c, &r,
                              ulp_backend_map(c->gpu, device[3],
                                              (ulp_array_op){(ulp_op)op, device[0], device[1], device[2]}, n,
                                              (ulp_rounding){&f, rule, stream, counting ? &g : NULL}),
                              device[3], want, n, "%s %s %s", ulp_op_name((ulp_op)op), f.name, ulp_mode_name(mode));
                if (counting) row_counters(&r, &g, &w, f.name, ulp_mode_name(mode));
            }
    }
    several_close(c, 4, host, device);
    free(want);
    row_end(&r);
}

/* One call of update: random steps on ARRAYS arrays, on constants and on scratch. */
enum { ARRAYS = 4, STEPS = 9 };

static ulp_operand random_operand(float *const *at, uint32_t word, int is_result) {
    const uint32_t kind = word % (is_result ? 2 : 3);
    ulp_operand o = {0};
    if (kind == 0) return (ulp_operand){.kind = ULP_OPERAND_ARRAY, .at = at[word / 8 % ARRAYS]};
    if (kind == 1) return (ulp_operand){.kind = ULP_OPERAND_SCRATCH, .slot = (uint8_t)(word / 8 % ULP_UPDATE_SCRATCH)};
    o.kind = ULP_OPERAND_VALUE;
    o.value = (float)((int)(word >> 20) - 2048) * 0x1p-9f;
    return o;
}

static void random_steps(ulp_update_step *s, float *const *at, uint64_t seed) {
    const char *names[] = {"binary32", "binary16", "bfloat16", "e4m3", "q6.10", "dlfloat16"};
    for (size_t k = 0; k < STEPS; k++) {
        uint64_t i = 16 * k;
        s[k] = (ulp_update_step){.op = (uint8_t)(word_of(seed, i++) % (ULP_OP_COUNT + 1))};
        s[k].y = random_operand(at, k < 4 ? 1 + 8 * (uint32_t)k : word_of(seed, i++),
                                1); /* the first steps write all scratch */
        if (k < 4) s[k].y = (ulp_operand){.kind = ULP_OPERAND_SCRATCH, .slot = (uint8_t)k};
        ulp_operand *const inputs[] = {&s[k].a, &s[k].b, &s[k].c};
        for (size_t j = 0; j < 3; j++) {
            *inputs[j] = random_operand(at, word_of(seed, i++), 0);
            if (k < 4 && inputs[j]->kind == ULP_OPERAND_SCRATCH)
                *inputs[j] = (ulp_operand){.kind = ULP_OPERAND_ARRAY, .at = at[j]};
        }
        ulp_format_parse(&s[k].format, names[word_of(seed, i++) % 6]);
        s[k].rule.mode = (uint8_t)(word_of(seed, i++) % ULP_MODE_COUNT);
        if (ulp_mode_is_stochastic(s[k].rule.mode)) s[k].rule.random_bits = (uint8_t)(1 + word_of(seed, i++) % 32);
        s[k].stream = (ulp_stream){seed, k, word_of(seed, i++) % 9};
    }
}

static void check_update(const check *c) {
    row r = row_of("update: random chains of steps");
    const size_t n = c->small ? 77 : 3000017, bytes = n * sizeof(float);
    float *host[ARRAYS], *device[ARRAYS];
    ulp_format f;
    ulp_format_parse(&f, "binary16");
    several_open(c, &r, ARRAYS, host, device, n);
    for (uint64_t seed = 1; seed <= (c->small ? 40u : 12u) && !r.skipped && !r.stopped; seed++) {
        ulp_update_step on_host[STEPS], on_device[STEPS];
        random_steps(on_host, host, seed);
        random_steps(on_device, device, seed);
        for (size_t k = 0; k < ARRAYS; k++) {
            fill_any(host[k], n, &f, seed + 1000 * k);
            row_ok(&r, c->gpu->upload(device[k], host[k], bytes), "upload");
        }
        row_ok(&r, ulp_backend_update(c->cpu, on_host, STEPS, n), "the CPU's update");
        row_ok(&r, ulp_backend_update(c->gpu, on_device, STEPS, n), "update");
        for (size_t k = 0; k < ARRAYS && !r.stopped; k++)
            device_floats(c, &r, ULP_OK, device[k], host[k], n, "chain %llu, array %zu", (unsigned long long)seed, k);
    }
    several_close(c, ARRAYS, host, device);
    row_end(&r);
}

static void check_largest(const check *c) {
    row r = row_of("largest: sizes, signs, infinities, NaN");
    arrays a;
    ulp_format f;
    ulp_format_parse(&f, "binary32");
    if (!r.skipped && arrays_open(c, &r, &a, c->small ? 3000 : 1000003)) {
        for (size_t k = 0; k < 24 && !r.stopped; k++) {
            const size_t n = k == 0 ? 0 : k < 12 ? 3 * k - 2 : a.n - k;
            fill_normal(a.x, a.n, 1.0, k);
            if (n > 7 && k % 3 == 1) a.x[n / 2] = -INFINITY;
            if (n > 7 && k % 5 == 2)
                memcpy(&a.x[n - 1], &(uint32_t){0xff812345u}, sizeof a.x[0]); /* a NaN with sign and payload */
            if (n > 7 && k % 4 == 3) a.x[0] = -1e30f;
            row_ok(&r, c->gpu->upload(a.device_x, a.x, (a.n + SLACK) * sizeof(float)), "upload");
            for (int finite = 0; finite <= 1; finite++) {
                float got = 0;
                row_ok(&r, ulp_backend_largest(c->cpu, a.want, a.x, n, finite), "the CPU's largest");
                if (row_ok(&r, ulp_backend_largest(c->gpu, &got, a.device_x, n, finite), "largest of %zu", n))
                    row_floats(&r, &got, a.want, 1, "of %zu, finite = %d", n, finite);
            }
        }
        arrays_close(c, &a);
    }
    row_end(&r);
}

/* Chunks of every length, several chunks, and numbers whose squares are Inf or NaN. */
static void check_squares(const check *c) {
    row r = row_of("squares: chunks, the ends of the range, NaN");
    arrays a;
    const size_t n = c->small ? 3 * ULP_SQUARES_CHUNK + 7 : 1000003, chunks = ulp_squares_chunks(n);
    double *got = room(chunks, sizeof *got), *want = room(chunks, sizeof *want);
    if (!r.skipped && arrays_open(c, &r, &a, n)) {
        double *device = to_device(c, &r, got, chunks * sizeof *got);
        for (size_t k = 0; k < 24 && !r.stopped; k++) {
            const size_t m = k == 0 ? 0 : k < 12 ? 7 * k - 6 : a.n - k * k;
            fill_normal(a.x, a.n, k % 2 ? 1.0 : 0x1p-140, k);
            if (m > 40 && k % 3 == 1) a.x[m / 2] = -INFINITY;
            if (m > 40 && k % 5 == 2)
                memcpy(&a.x[m - 1], &(uint32_t){0xff812345u}, sizeof a.x[0]); /* a NaN with sign and payload */
            if (m > 40 && k % 4 == 3) a.x[0] = -0x1.fffffep127f;
            row_ok(&r, c->gpu->upload(a.device_x, a.x, (a.n + SLACK) * sizeof(float)), "upload");
            row_ok(&r, ulp_backend_squares(c->cpu, want, a.x, m), "the CPU's squares");
            if (row_ok(&r, ulp_backend_squares(c->gpu, device, a.device_x, m), "squares of %zu", m) &&
                row_ok(&r, c->gpu->download(got, device, ulp_squares_chunks(m) * sizeof *got), "download"))
                row_doubles(&r, got, want, ulp_squares_chunks(m), "of %zu", m);
        }
        c->gpu->release(device);
        arrays_close(c, &a);
    }
    free(got), free(want);
    row_end(&r);
}

/* The random word of an element does not depend on how an array is divided into pieces. */
static void check_words(const check *c) {
    row r = row_of("stochastic rounding: an array in pieces is the array at once");
    arrays a;
    ulp_format f;
    ulp_format_parse(&f, "bfloat16");
    const ulp_rule rule = {ULP_SRA, 0, 0};
    if (!r.skipped && arrays_open(c, &r, &a, 1021)) {
        fill_normal(a.x, a.n + SLACK, 1.0, 5);
        row_ok(
            &r,
            ulp_backend_round(c->cpu, a.want, a.x, a.n, (ulp_rounding){&f, rule, (ulp_stream){3, 4, 1u << 31}, NULL}),
            "the CPU's round");
        row_ok(&r, c->gpu->upload(a.device_x, a.x, (a.n + SLACK) * sizeof(float)), "upload");
        for (size_t at = 0, n; at < a.n && !r.stopped; at += n) {
            n = at % 13 + 1 < a.n - at ? at % 13 + 1 : a.n - at;
            row_ok(&r,
                   ulp_backend_round(c->gpu, a.device_y + at, a.device_x + at, n,
                                     (ulp_rounding){&f, rule, (ulp_stream){3, 4, (1u << 31) + at}, NULL}),
                   "a piece");
        }
        device_floats(c, &r, ULP_OK, a.device_y, a.want, a.n, "in pieces");
        arrays_close(c, &a);
    }
    row_end(&r);
}

void check_elements(const check *c) {
    check_round(c);
    check_sizes(c);
    check_words(c);
    check_round64(c);
    check_map(c);
    check_update(c);
    check_largest(c);
    check_squares(c);
}

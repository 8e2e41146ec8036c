/* layers.c - batch normalisation, windows, up-sampling, products with a factor and dropout, against the CPU. */
#include "check.h"

/* An array of floats on the host and on the device. */
typedef struct floats {
    float *host, *device;
} floats;

static floats floats_of(const check *c, row *r, float *host, size_t n) {
    return (floats){host, to_device(c, r, host, n * sizeof *host)};
}

/* Normally distributed numbers. With special != 0 some are NaN, Inf, subnormal or any other binary32 number. */
static floats any_floats(const check *c, row *r, size_t n, int special, uint64_t seed) {
    ulp_format binary32;
    float *x = room(n + 1, sizeof *x);
    fill_normal(x, n, 3.0, seed);
    if (row_ok(r, ulp_format_parse(&binary32, "fp32"), "fp32"))
        for (size_t i = 0; special && i < n; i++)
            if (word_of(seed + 1, i) % 101 == 0) fill_any(x + i, 1, &binary32, seed + 2 + i);
    return floats_of(c, r, x, n);
}

static void floats_close(const check *c, floats *x) {
    c->gpu->release(x->device);
    free(x->host);
}

/* The result (n) of a call on the device; `device` has room for it. */
static void same_doubles(const check *c, row *r, ulp_status status, const double *device, const double *want, size_t n,
                         const char *name, const ulp_channels *s) {
    device_doubles(c, r, status, device, want, n, "%s of (%zu,%zu,%zu)", name, s->B, s->c, s->n);
}

/* ---- batch normalisation ---- */

/* special: as in any_floats; a channel with a NaN has NaN in all its results. */
static void check_norm_of(const check *c, row *r, ulp_channels s, int special, uint64_t seed) {
    const size_t n = s.B * s.c * s.n, two = 2 * s.c;
    floats x = any_floats(c, r, n, special, seed), dy = any_floats(c, r, n, special, seed + 10),
           statistics = any_floats(c, r, two, special, seed + 20), w = any_floats(c, r, two, special, seed + 30);
    double *want = room(n + two, sizeof *want), *sums = room(two, sizeof *sums);
    for (size_t i = 0; i < s.c; i++) /* few variances are negative */
        if (word_of(seed + 40, i) % 5) statistics.host[s.c + i] = fabsf(statistics.host[s.c + i]);
    row_ok(r, c->gpu->upload(statistics.device, statistics.host, two * sizeof(float)), "upload");
    double *device = to_device(c, r, want, (n + two) * sizeof *want);
    const ulp_norm by = {s, statistics.host, w.host}, on_device = {s, statistics.device, w.device};
    if (!r->stopped) {
        ulp_backend_norm_statistics(c->cpu, want, x.host, s);
        same_doubles(c, r, ulp_backend_norm_statistics(c->gpu, device, x.device, s), device, want, two, "statistics",
                     &s);
        ulp_backend_norm_running(c->cpu, want, w.host, statistics.host, s);
        same_doubles(c, r, ulp_backend_norm_running(c->gpu, device, w.device, statistics.device, s), device, want, two,
                     "running statistics", &s);
        ulp_backend_norm(c->cpu, want, x.host, by);
        same_doubles(c, r, ulp_backend_norm(c->gpu, device, x.device, on_device), device, want, n, "values", &s);
        ulp_backend_norm_sums(c->cpu, sums, dy.host, x.host, by);
        double *device_sums = device + n;
        same_doubles(c, r, ulp_backend_norm_sums(c->gpu, device_sums, dy.device, x.device, on_device), device_sums,
                     sums, two, "sums", &s);
        ulp_backend_norm_slope(c->cpu, want, dy.host, x.host, sums, by);
        same_doubles(c, r, ulp_backend_norm_slope(c->gpu, device, dy.device, x.device, device_sums, on_device), device,
                     want, n, "gradients", &s);
    }
    c->gpu->release(device);
    floats_close(c, &x), floats_close(c, &dy), floats_close(c, &statistics), floats_close(c, &w);
    free(want), free(sums);
}

/* One channel, one position, one sample, tiles of 128 numbers that are full or not, more channels than a block has
 * threads; large sizes last. */
static void check_norm(const check *c) {
    static const ulp_channels shapes[] = {
        {1, 1, 1},  {1, 5, 1},   {3, 1, 1},  {129, 2, 1}, {1, 3, 127},  {1, 2, 128},  {2, 3, 64},      {5, 4, 33},
        {37, 3, 7}, {11, 6, 31}, {4, 2, 32}, {3, 300, 2}, {257, 33, 1}, {64, 64, 64}, {128, 16, 1024}, {2, 9, 3000}};
    row r = row_of("batch normalisation and its gradient");
    for (size_t i = 0; i < 2 * (c->small ? 13 : sizeof shapes / sizeof shapes[0]) && !r.skipped && !r.stopped; i++)
        check_norm_of(c, &r, shapes[i / 2], i % 2, 300 + 50 * i);
    row_end(&r);
}

/* ---- windows ---- */

static void check_average_of(const check *c, row *r, const ulp_windows *s, uint64_t seed) {
    const size_t to = s->images * (s->h / s->K) * (s->w / s->K), from = s->images * s->h * s->w;
    const ulp_channels shown = {s->images, s->h, s->w};
    floats x = any_floats(c, r, from, 1, seed), dy = any_floats(c, r, to, 1, seed + 1);
    double *want = room(from + 1, sizeof *want), *device = to_device(c, r, want, from * sizeof *want);
    if (!r->stopped) {
        ulp_backend_average(c->cpu, want, x.host, s);
        same_doubles(c, r, ulp_backend_average(c->gpu, device, x.device, s), device, want, to, "means", &shown);
        ulp_backend_average_slope(c->cpu, want, dy.host, s);
        same_doubles(c, r, ulp_backend_average_slope(c->gpu, device, dy.device, s), device, want, from,
                     "gradients of means", &shown);
    }
    c->gpu->release(device);
    floats_close(c, &x), floats_close(c, &dy);
    free(want);
}

static void check_average(const check *c) {
    row r = row_of("average pooling and its gradient");
    for (uint64_t k = 0; k < (c->small ? 30u : 300u) && !r.skipped && !r.stopped; k++) {
        const uint32_t most = c->small ? 9 : 40;
        ulp_windows s = {.images = 1 + word_of(1, k) % 7, .h = 1 + word_of(2, k) % most, .w = 1 + word_of(3, k) % most};
        s.K = 1 + word_of(4, k) % (s.h < s.w ? s.h : s.w) % 5;
        check_average_of(c, &r, &s, 9000 + 10 * k);
    }
    row_end(&r);
}

/* Windows with a stride and a frame. One pixel in two is small and whole, so that some maxima are equal. */
static void check_strided_of(const check *c, row *r, const ulp_strided_windows *s, uint64_t seed) {
    const size_t to = s->images * ulp_strided_count(s->h, s) * ulp_strided_count(s->w, s),
                 from = s->images * s->h * s->w;
    const ulp_channels shown = {s->images, s->h, s->w};
    floats x = any_floats(c, r, from, 1, seed), dy = any_floats(c, r, to, 1, seed + 1);
    floats y = any_floats(c, r, to, 0, seed + 2), place = any_floats(c, r, to, 0, seed + 3);
    double *want = room(from + 1, sizeof *want), *device = to_device(c, r, want, from * sizeof *want);
    for (size_t i = 0; i < from; i++)
        if (word_of(seed + 4, i) % 2) x.host[i] = (float)(word_of(seed + 5, i) % 4) - 1.0f;
    row_ok(r, c->gpu->upload(x.device, x.host, from * sizeof(float)), "upload");
    if (!r->stopped) {
        ulp_backend_pool_strided(c->cpu, y.host, place.host, x.host, s);
        const ulp_status status = ulp_backend_pool_strided(c->gpu, y.device, place.device, x.device, s);
        device_floats(c, r, status, y.device, y.host, to, "maxima of %zux%zu, stride %zu, pad %zu, in (%zu,%zu,%zu)",
                      s->K, s->K, s->stride, s->pad, s->images, s->h, s->w);
        device_floats(c, r, status, place.device, place.host, to,
                      "places of %zux%zu, stride %zu, pad %zu, in (%zu,%zu,%zu)", s->K, s->K, s->stride, s->pad,
                      s->images, s->h, s->w);
        ulp_backend_pool_strided_slope(c->cpu, want, dy.host, place.host, s);
        same_doubles(c, r, ulp_backend_pool_strided_slope(c->gpu, device, dy.device, place.device, s), device, want,
                     from, "gradients of maxima", &shown);
    }
    c->gpu->release(device);
    floats_close(c, &x), floats_close(c, &dy), floats_close(c, &y), floats_close(c, &place);
    free(want);
}

static void check_strided(const check *c) {
    row r = row_of("pooling by windows with a stride and a frame, and its gradient");
    for (uint64_t k = 0; k < (c->small ? 60u : 600u) && !r.skipped && !r.stopped; k++) {
        const uint32_t most = c->small ? 9 : 40;
        ulp_strided_windows s = {
            .images = 1 + word_of(1, k) % 7, .h = 1 + word_of(2, k) % most, .w = 1 + word_of(3, k) % most};
        s.K = 1 + word_of(4, k) % 5;
        s.stride = 1 + word_of(5, k) % 6;
        s.pad = word_of(6, k) % s.K;
        check_strided_of(c, &r, &s, 20000 + 10 * k);
    }
    row_end(&r);
}

/* Copies of pixels, and sums of windows with numbers of many exponents. */
static void check_upsample_of(const check *c, row *r, const ulp_windows *s, uint64_t seed) {
    const size_t small = s->images * (s->h / s->K) * (s->w / s->K), large = s->images * s->h * s->w;
    const ulp_channels shown = {s->images, s->h, s->w};
    floats x = any_floats(c, r, small, 1, seed), dy = any_floats(c, r, large, 1, seed + 1);
    floats y = any_floats(c, r, large, 0, seed + 2);
    double *want = room(small + 1, sizeof *want), *device = to_device(c, r, want, small * sizeof *want);
    for (size_t i = 0; i < large; i++)
        if (word_of(seed + 3, i) % 4 == 0) dy.host[i] = ldexpf(dy.host[i], (int)(word_of(seed + 4, i) % 100) - 50);
    row_ok(r, c->gpu->upload(dy.device, dy.host, large * sizeof(float)), "upload");
    if (!r->stopped) {
        ulp_backend_upsample(c->cpu, y.host, x.host, s);
        device_floats(c, r, ulp_backend_upsample(c->gpu, y.device, x.device, s), y.device, y.host, large,
                      "windows of %zux%zu in (%zu,%zu,%zu)", s->K, s->K, s->images, s->h, s->w);
        ulp_backend_upsample_slope(c->cpu, want, dy.host, s);
        same_doubles(c, r, ulp_backend_upsample_slope(c->gpu, device, dy.device, s), device, want, small,
                     "sums of windows", &shown);
    }
    c->gpu->release(device);
    floats_close(c, &x), floats_close(c, &dy), floats_close(c, &y);
    free(want);
}

static void check_upsample(const check *c) {
    row r = row_of("up-sampling and its gradient");
    for (uint64_t k = 0; k < (c->small ? 30u : 300u) && !r.skipped && !r.stopped; k++) {
        const uint32_t most = c->small ? 9 : 40;
        ulp_windows s = {.images = 1 + word_of(1, k) % 7, .h = 1 + word_of(2, k) % most, .w = 1 + word_of(3, k) % most};
        s.K = 1 + word_of(4, k) % 5;
        check_upsample_of(c, &r, &s, 30000 + 10 * k);
    }
    row_end(&r);
}

/* ---- elements ---- */

static void check_scale(const check *c) {
    static const double factors[] = {0x1p-9, 0x1p62, 0x1p-900, -0.0};
    static const size_t sizes[] = {1, 255, 4099, 100003};
    row r = row_of("products with a factor in binary64");
    for (size_t k = 0; k < 4 * (c->small ? 3u : 4u) && !r.skipped && !r.stopped; k++) {
        const size_t n = sizes[k / 4];
        const ulp_channels shown = {1, k % 4, n};
        double *x = room(n, sizeof *x), *want = room(n, sizeof *want);
        for (size_t i = 0; i < n; i++) {
            const uint64_t bits = (uint64_t)word_of(k, i) << 32 | word_of(k + 50, i);
            memcpy(&x[i], &bits, sizeof bits);
        }
        double *device = to_device(c, &r, x, n * sizeof *x);
        ulp_backend_scale(c->cpu, want, x, n, factors[k % 4]);
        if (!r.stopped) /* in place */
            same_doubles(c, &r, ulp_backend_scale(c->gpu, device, device, n, factors[k % 4]), device, want, n,
                         "products", &shown);
        c->gpu->release(device);
        free(x), free(want);
    }
    row_end(&r);
}

static void check_dropout(const check *c) {
    static const uint32_t percents[] = {0, 1, 30, 50, 99};
    static const size_t sizes[] = {1, 3, 4, 1025, 4099, 100003};
    static const uint64_t firsts[] = {0, 1, 2, 3, UINT64_MAX - 5}; /* index 0 follows the last index */
    row r = row_of("dropout");
    for (size_t k = 0; k < 5 * (c->small ? 5 : sizeof sizes / sizeof sizes[0]) && !r.skipped && !r.stopped; k++) {
        const size_t n = sizes[k / 5];
        const ulp_channels shown = {1, percents[k % 5], n};
        floats x = any_floats(c, &r, n, 1, 50 + k);
        double *want = room(n, sizeof *want), *device = to_device(c, &r, want, n * sizeof *want);
        for (size_t f = 0; f < sizeof firsts / sizeof firsts[0] && !r.stopped; f++) {
            const ulp_dropout how = {percents[k % 5], {7, 8, firsts[f]}};
            ulp_backend_dropout(c->cpu, want, x.host, n, how);
            same_doubles(c, &r, ulp_backend_dropout(c->gpu, device, x.device, n, how), device, want, n, "dropout",
                         &shown);
        }
        c->gpu->release(device);
        floats_close(c, &x);
        free(want);
    }
    row_end(&r);
}

void check_layers(const check *c) {
    check_norm(c);
    check_average(c);
    check_strided(c);
    check_upsample(c);
    check_scale(c);
    check_dropout(c);
}

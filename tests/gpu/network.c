/* network.c - activation functions, max pooling, softmax with cross-entropy and conversion to binary32, against the
 * CPU; layers.c continues. */
#include "check.h"

/* Two arrays of operands and a result, on the host and on the device. */
typedef struct arrays {
    size_t n;
    float *a, *b, *device_a, *device_b;
    void *want, *device; /* room for doubles */
} arrays;

static int arrays_open(const check *c, row *r, arrays *x, size_t n, uint64_t seed) {
    ulp_format binary32;
    memset(x, 0, sizeof *x);
    if (r->skipped || r->stopped || !row_ok(r, ulp_format_parse(&binary32, "fp32"), "fp32")) return 0;
    *x = (arrays){.n = n, .a = room(n, sizeof *x->a), .b = room(n, sizeof *x->b), .want = room(n, sizeof(double))};
    fill_any(x->a, n, &binary32, seed);
    fill_any(x->b, n, &binary32, seed + 1);
    for (size_t i = 0; i < n; i++) { /* most activation functions are flat for large arguments */
        if (word_of(seed + 2, i) % 2) fill_normal(x->a + i, 1, 4.0, seed + 3 + i);
        if (word_of(seed + 2, i) % 4 > 1) fill_normal(x->b + i, 1, 0.5, seed + 4 + i);
    }
    x->device_a = to_device(c, r, x->a, n * sizeof *x->a);
    x->device_b = to_device(c, r, x->b, n * sizeof *x->b);
    x->device = to_device(c, r, x->want, n * sizeof(double));
    return x->device_a != NULL && x->device_b != NULL && x->device != NULL;
}

static void arrays_close(const check *c, arrays *x) {
    c->gpu->release(x->device_a), c->gpu->release(x->device_b), c->gpu->release(x->device);
    free(x->a), free(x->b), free(x->want);
}

static const size_t sizes[] = {1, 31, 1023, 4097, 100003};

static size_t sizes_of(const check *c) { return c->small ? 4 : sizeof sizes / sizeof *sizes; }

static void check_relu(const check *c) {
    row r = row_of("relu and its gradient");
    for (size_t s = 0; s < sizes_of(c); s++) {
        arrays x;
        if (arrays_open(c, &r, &x, sizes[s], 10 * s)) {
            ulp_backend_relu(c->cpu, x.want, x.a, x.n);
            device_floats(c, &r, ulp_backend_relu(c->gpu, x.device, x.device_a, x.n), x.device, x.want, x.n,
                          "relu of %zu", x.n);
            ulp_backend_relu_slope(c->cpu, x.want, x.b, x.a, x.n);
            device_floats(c, &r, ulp_backend_relu_slope(c->gpu, x.device, x.device_b, x.device_a, x.n), x.device,
                          x.want, x.n, "gradient of relu of %zu", x.n);
        }
        arrays_close(c, &x);
    }
    row_end(&r);
}

static void check_curves(const check *c) {
    static const char *const names[] = {
#define NAME(id, name, f, slope) name,
        ULP_ACTIVATIONS(NAME)
#undef NAME
    };
    for (uint8_t kind = 0; kind < ULP_ACTIVATION_COUNT; kind++) {
        char name[64];
        snprintf(name, sizeof name, "%s and its gradient", names[kind]);
        row r = row_of(name);
        const ulp_activation f = {.kind = kind, .a = (double)0.01f};
        for (size_t s = 0; s < sizes_of(c); s++) {
            arrays x;
            if (arrays_open(c, &r, &x, sizes[s], 100 * s + kind)) {
                ulp_backend_activate(c->cpu, x.want, x.a, x.n, f);
                device_doubles(c, &r, ulp_backend_activate(c->gpu, x.device, x.device_a, x.n, f), x.device, x.want, x.n,
                               "%s of %zu", names[kind], x.n);
                ulp_backend_activate_slope(c->cpu, x.want, x.a, x.b, x.n, f);
                device_doubles(c, &r, ulp_backend_activate_slope(c->gpu, x.device, x.device_a, x.device_b, x.n, f),
                               x.device, x.want, x.n, "gradient of %s of %zu", names[kind], x.n);
            }
            arrays_close(c, &x);
        }
        row_end(&r);
    }
}

/* Ties of binary32, its largest and smallest numbers, numbers beyond its range, and NaN with any payload. */
static void check_narrow(const check *c) {
    row r = row_of("binary64 to binary32");
    for (size_t s = 0; s < sizes_of(c); s++) {
        arrays x;
        if (arrays_open(c, &r, &x, sizes[s], 1000 * s)) {
            double *wide = room(x.n, sizeof *wide);
            for (size_t i = 0; i < x.n; i++) {
                const uint64_t bits = (uint64_t)word_of(5, i) << 32 | word_of(6, i);
                wide[i] = (double)x.a[i] * (1.0 + ldexp(1.0, -24) * (double)(word_of(7, i) % 3)) +
                          ldexp((double)x.a[i], -60) * (double)(word_of(8, i) % 2);
                if (word_of(9, i) % 8 == 0) memcpy(&wide[i], &bits, sizeof bits);
            }
            ulp_backend_narrow(c->cpu, x.want, wide, x.n);
            if (row_ok(&r, c->gpu->upload(x.device, wide, x.n * sizeof *wide), "upload"))
                device_floats(c, &r, ulp_backend_narrow(c->gpu, x.device_a, x.device, x.n), x.device_a, x.want, x.n,
                              "%zu numbers", x.n);
            free(wide);
        }
        arrays_close(c, &x);
    }
    row_end(&r);
}

static void check_pool_of(const check *c, row *r, const ulp_windows *s, uint64_t seed) {
    const size_t to = s->images * (s->h / s->K) * (s->w / s->K), from = s->images * s->h * s->w;
    arrays x, y;
    const int open = arrays_open(c, r, &x, from, seed), two = arrays_open(c, r, &y, to, seed + 1);
    if (open && two) {
        float *place = room(to, sizeof *place);
        for (size_t i = 0; i < from; i++) /* some windows have equal maxima */
            if (word_of(seed + 2, i) % 2) x.a[i] = (float)(word_of(seed + 3, i) % 4) - 1.0f;
        row_ok(r, c->gpu->upload(x.device_a, x.a, from * sizeof *x.a), "upload");
        ulp_backend_pool(c->cpu, y.a, place, x.a, s);
        const ulp_status status = ulp_backend_pool(c->gpu, y.device_a, y.device, x.device_a, s);
        device_floats(c, r, status, y.device, place, to, "places of %zux%zu in (%zu,%zu,%zu)", s->K, s->K, s->images,
                      s->h, s->w);
        device_floats(c, r, status, y.device_a, y.a, to, "maxima of %zux%zu in (%zu,%zu,%zu)", s->K, s->K, s->images,
                      s->h, s->w);
        ulp_backend_pool_slope(c->cpu, x.want, y.b, place, s);
        device_floats(c, r, ulp_backend_pool_slope(c->gpu, x.device_b, y.device_b, y.device, s), x.device_b, x.want,
                      from, "gradient of %zux%zu in (%zu,%zu,%zu)", s->K, s->K, s->images, s->h, s->w);
        free(place);
    }
    arrays_close(c, &x);
    arrays_close(c, &y);
}

static void check_pool(const check *c) {
    row r = row_of("pooling and its gradient");
    for (uint64_t k = 0; k < (c->small ? 30u : 300u); k++) {
        const uint32_t most = c->small ? 9 : 40;
        ulp_windows s = {.images = 1 + word_of(1, k) % 7, .h = 1 + word_of(2, k) % most, .w = 1 + word_of(3, k) % most};
        s.K = 1 + word_of(4, k) % (s.h < s.w ? s.h : s.w) % 5;
        check_pool_of(c, &r, &s, 7000 + 10 * k);
    }
    row_end(&r);
}

static void check_softmax_of(const check *c, row *r, size_t B, size_t C, uint64_t seed) {
    arrays x, losses;
    uint8_t label[4096];
    const int open = arrays_open(c, r, &x, B * C, seed), two = arrays_open(c, r, &losses, B, seed + 1);
    if (open && two) {
        for (size_t b = 0; b < B; b++) label[b] = (uint8_t)(word_of(seed, b) % (C + (b % 7 == 0)));
        for (size_t i = 0; i < B * C; i++) /* the other rows keep arbitrary values, NaN included */
            if (word_of(seed + 5, i / C) % 4) x.a[i] = (float)(word_of(seed + 6, i) % 4001) / 100.0f - 20.0f;
        uint8_t *device_label = to_device(c, r, label, B);
        row_ok(r, c->gpu->upload(x.device_a, x.a, x.n * sizeof *x.a), "upload");
        const ulp_labels labels = {label, B, C}, on_device = {device_label, B, C};
        ulp_backend_softmax(c->cpu, x.want, losses.want, x.a, labels);
        const ulp_status status = ulp_backend_softmax(c->gpu, x.device, losses.device, x.device_a, on_device);
        device_doubles(c, r, status, x.device, x.want, x.n, "(%zu,%zu) probabilities", B, C);
        device_doubles(c, r, status, losses.device, losses.want, B, "(%zu,%zu) losses", B, C);
        ulp_backend_softmax_slope(c->cpu, x.want, x.b, labels, 1024.0);
        device_doubles(c, r, ulp_backend_softmax_slope(c->gpu, x.device, x.device_b, on_device, 1024.0), x.device,
                       x.want, x.n, "(%zu,%zu) gradients", B, C);
        c->gpu->release(device_label);
    }
    arrays_close(c, &x);
    arrays_close(c, &losses);
}

static void check_softmax(const check *c) {
    static const size_t shapes[][2] = {{1, 1},   {1, 10},   {7, 3},   {33, 10},   {8, 32},    {9, 33},
                                       {5, 255}, {100, 10}, {2, 300}, {4096, 10}, {1000, 100}};
    row r = row_of("softmax with cross-entropy and its gradient");
    for (size_t s = 0; s < (c->small ? 9 : sizeof shapes / sizeof *shapes); s++)
        check_softmax_of(c, &r, shapes[s][0], shapes[s][1], 50 * s);
    row_end(&r);
}

void check_network(const check *c) {
    check_relu(c);
    check_curves(c);
    check_narrow(c);
    check_pool(c);
    check_softmax(c);
    check_layers(c);
    check_tokens(c);
}

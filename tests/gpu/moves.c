/* moves.c - im2col, permute and device memory, against the CPU. */
#include "check.h"

static void check_patches(const check *c) {
    row r = row_of("patches: kernels, strides, padding, dilation, flips");
    for (uint64_t k = 0; k < (c->small ? 60u : 600u) && !r.skipped && !r.stopped; k++) {
        const uint32_t most = c->small ? 4 : 9;
        ulp_im2col p = {.B = 1 + word_of(1, k) % 3,
                        .c = 1 + word_of(2, k) % 3,
                        .h = 1 + word_of(3, k) % (2 * most),
                        .w = 1 + word_of(4, k) % (2 * most),
                        .kernel = 1 + word_of(5, k) % most,
                        .stride = 1 + word_of(6, k) % 3,
                        .pad = word_of(7, k) % most,
                        .dilate = 1 + word_of(8, k) % 3,
                        .flip = word_of(9, k) % 2};
        p.oh = word_of(10, k) % (3 * most);
        p.ow = 1 + word_of(11, k) % (3 * most);
        const size_t from = p.B * p.c * p.h * p.w, to = p.c * p.kernel * p.kernel * p.B * p.oh * p.ow;
        float *x = room(from, sizeof *x), *want = room(to, sizeof *want);
        fill_normal(x, from, 1.0, k);
        float *dx = to_device(c, &r, x, from * sizeof *x), *dy = c->gpu->alloc(to * sizeof *dy);
        row_ok(&r, ulp_backend_im2col(c->cpu, want, x, &p), "the CPU's patches");
        if (dx != NULL)
            device_floats(c, &r, ulp_backend_im2col(c->gpu, dy, dx, &p), dy, want, to,
                          "B %zu, c %zu, %zux%zu, kernel %zu, stride %zu, pad %zu, dilate %zu, flip %d, to %zux%zu",
                          p.B, p.c, p.h, p.w, p.kernel, p.stride, p.pad, p.dilate, p.flip, p.oh, p.ow);
        c->gpu->release(dx), c->gpu->release(dy);
        free(x), free(want);
    }
    row_end(&r);
}

static void check_permute(const check *c) {
    row r = row_of("permute: transposes and blocks");
    for (uint64_t k = 0; k < (c->small ? 40u : 24u) && !r.skipped && !r.stopped; k++) {
        const uint32_t most = c->small ? 70 : 2100;
        const size_t count = word_of(1, k) % 4, a = word_of(2, k) % most, b = 1 + word_of(3, k) % most,
                     n = k % 2 == 0 ? 1 : word_of(4, k) % 7;
        const size_t all = count * a * b * n;
        const ulp_permute_shape shape = {count, a, b, n};
        float *x = room(all, sizeof *x), *want = room(all, sizeof *want);
        fill_normal(x, all, 1.0, k);
        float *dx = to_device(c, &r, x, all * sizeof *x), *dy = c->gpu->alloc(all * sizeof *dy);
        row_ok(&r, ulp_backend_permute(c->cpu, want, x, shape), "the CPU's permute");
        if (dx != NULL)
            device_floats(c, &r, ulp_backend_permute(c->gpu, dy, dx, shape), dy, want, all, "(%zu,%zu,%zu,%zu)", count,
                          a, b, n);
        c->gpu->release(dx), c->gpu->release(dy);
        free(x), free(want);
    }
    row_end(&r);
}

/* Blocks are allocated and released at random; no block overlaps another block that is in use. */
static void check_memory(const check *c) {
    row r = row_of("memory: blocks in use keep what was written");
    enum { BLOCKS = 16 };
    float *block[BLOCKS] = {0}, got[64], want[64];
    for (uint64_t k = 0; k < 300 && !r.skipped && !r.stopped; k++) {
        const size_t at = word_of(7, k) % BLOCKS, bytes = (1 + at % 3) * 64 * sizeof(float);
        if (block[at] != NULL) {
            fill_normal(want, 64, 1.0, at);
            if (from_device(c, &r, got, block[at], sizeof got)) row_floats(&r, got, want, 64, "block %zu", at);
            c->gpu->release(block[at]);
            block[at] = NULL;
        } else {
            block[at] = c->gpu->alloc(bytes);
            row_true(&r, ((uintptr_t)block[at] & 63u) == 0 && block[at] != NULL, "alignment of 64 bytes");
            fill_normal(want, 64, 1.0, at);
            row_ok(&r, c->gpu->upload(block[at], want, sizeof want), "upload");
        }
    }
    for (size_t at = 0; at < BLOCKS; at++) c->gpu->release(block[at]);
    row_true(&r, c->gpu->alloc((size_t)1 << 60) == NULL, "alloc returned 2^60 bytes");
    row_end(&r);
}

void check_moves(const check *c) {
    check_patches(c);
    check_permute(c);
    check_memory(c);
}

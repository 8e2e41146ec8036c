/* blocks.c - matrices in block-scaled formats, numbers of one or two bits, Hadamard transforms, and sums times scales:
 * the device has the bits of the CPU.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Host and device matrices of n elements. */
typedef struct matrices {
    float *x, *want, *device_x, *device_y;
} matrices;

static void matrices_open(const check *c, row *r, matrices *m, size_t n) {
    *m = (matrices){.x = room(n, sizeof(float)), .want = room(n, sizeof(float))};
    m->device_x = to_device(c, r, m->x, n * sizeof(float));
    m->device_y = to_device(c, r, m->x, n * sizeof(float));
}

static void matrices_close(const check *c, matrices *m) {
    c->gpu->release(m->device_x), c->gpu->release(m->device_y);
    free(m->x), free(m->want);
}

static void cast_case(const check *c, row *r, matrices *m, size_t rows, size_t columns, const ulp_block_cast *cast) {
    const size_t n = rows * columns;
    row_ok(r, c->gpu->upload(m->device_x, m->x, n * sizeof(float)), "upload");
    row_ok(r, ulp_backend_block_cast(c->cpu, m->want, m->x, rows, columns, cast), "the CPU's block_cast");
    device_floats(c, r, ulp_backend_block_cast(c->gpu, m->device_y, m->device_x, rows, columns, cast), m->device_y,
                  m->want, n, "%s:%s %s, along %d, tiles %d", cast->block.name,
                  ulp_scale_rule_name((ulp_scale_rule)cast->block.rule), ulp_mode_name((ulp_mode)cast->rule.mode),
                  cast->along, cast->tiles);
}

static void check_casts(const check *c) {
    row r = row_of("block_cast: all block formats and scale rules, along rows and columns, tiles");
    const size_t rows = c->small ? 19 : 301, columns = c->small ? 37 : 517;
    matrices m;
    if (r.skipped) {
        row_end(&r);
        return;
    }
    matrices_open(c, &r, &m, rows * columns);
    ulp_block_cast cast;
    memset(&cast, 0, sizeof cast);
    for (size_t i = 0; ulp_block_get(i, &cast.block, NULL) == ULP_OK && !r.stopped; i++)
        for (uint32_t rule = 0; rule < ULP_SCALE_RULE_COUNT && !r.stopped; rule++) {
            const size_t some = i + 3 * rule;
            cast.block.rule = rule;
            cast.along = some % 2 == 1;
            cast.tiles = some % 3 == 2;
            cast.has_tensor_scale = cast.block.scale.prec > 1 && some % 4 < 2;
            cast.rule.mode = some % 5 < 2 ? ULP_SRA : ULP_RNE;
            cast.stream = (ulp_stream){some, 2, 3};
            fill_normal(m.x, rows * columns, some % 7 == 0 ? 0x1p-125 : 1.0, some);
            for (size_t e = some; e < rows * columns && some % 4 == 0; e += 97) m.x[e] = e % 2 ? NAN : INFINITY;
            cast_case(c, &r, &m, rows, columns, &cast);
        }
    matrices_close(c, &m);
    row_end(&r);
}

static void check_transforms(const check *c) {
    static const char *const formats[] = {"binary32", "bfloat16", "e4m3:sat"};
    row r = row_of("hadamard: groups of 2 to 256, both directions, signs, inverse, with and without counters");
    const size_t rows = 256, columns = 256;
    matrices m;
    size_t some = 0;
    if (r.skipped) {
        row_end(&r);
        return;
    }
    matrices_open(c, &r, &m, rows * columns);
    fill_normal(m.x, rows * columns, 3.0, 9);
    row_ok(&r, c->gpu->upload(m.device_x, m.x, rows * columns * sizeof(float)), "upload");
    for (uint32_t g = 2; g <= 256 && !r.stopped; g *= 2)
        for (uint8_t along = 0; along < ULP_ALONG_COUNT && !r.stopped; along++, some++) {
            const size_t high = along ? 256 : 3, wide = along ? 5 : 256;
            const uint8_t signs = g == 16 ? ULP_SIGNS_FIXED : ULP_SIGNS_STREAM;
            const ulp_hadamard how = {g, along, signs, (uint8_t)(some / 2 % 2), {4, g, 0}};
            ulp_format f;
            ulp_stats w = {0}, d = {0};
            row_ok(&r, ulp_format_parse(&f, formats[some % 3]), "a format");
            ulp_rounding to = {&f, {some % 2 ? ULP_SRA : ULP_RNE, 0, 0}, {1, 2, 3}, &w};
            row_ok(&r, ulp_backend_hadamard(c->cpu, m.want, m.x, high, wide, &how, to), "the CPU's hadamard");
            to.stats = &d;
            device_floats(c, &r, ulp_backend_hadamard(c->gpu, m.device_y, m.device_x, high, wide, &how, to), m.device_y,
                          m.want, high * wide, "g %u, along %d to %s", (unsigned)g, along, f.name);
            row_counters(&r, &d, &w, f.name, ulp_mode_name((ulp_mode)to.rule.mode));
        }
    matrices_close(c, &m);
    row_end(&r);
}

/* Elements and scales, and groups of blocks with a correction. */
static void check_parts(const check *c) {
    row r = row_of("block_parts, and casts with a correction of groups: along rows and columns, tiles, stochastic");
    const size_t rows = c->small ? 33 : 260, columns = c->small ? 50 : 519, n = rows * columns;
    matrices m, s;
    if (r.skipped) {
        row_end(&r);
        return;
    }
    matrices_open(c, &r, &m, n);
    matrices_open(c, &r, &s, n);
    for (size_t some = 0; some < 24 && !r.stopped; some++) {
        ulp_block_cast cast;
        float t = 0.0f, of_device = 1.0f;
        memset(&cast, 0, sizeof cast);
        row_ok(&r, ulp_block_parse(&cast.block, some % 4 == 3 ? "mxfp8" : "nvfp4"), "a block format");
        cast.along = some % 2;
        cast.eden = some % 3 == 1 ? 64 : 0;
        cast.tiles = some % 3 == 2;
        cast.has_tensor_scale = cast.block.scale.prec > 1 && some % 5 > 1;
        cast.rule.mode = some % 3 == 0 && some % 2 ? ULP_SRA : ULP_RNE;
        cast.stream = (ulp_stream){some, 2, 3};
        fill_normal(m.x, n, 1.0, some);
        for (size_t e = some; e < n && some % 4 == 0; e += 97) m.x[e] = e % 2 ? NAN : INFINITY;
        cast_case(c, &r, &m, rows, columns, &cast);
        const size_t length = cast.along == ULP_ALONG_ROWS ? columns : rows,
                     scales = n / length * ulp_block_scales(length, &cast.block);
        row_ok(&r, ulp_backend_block_parts(c->cpu, m.want, s.want, &t, m.x, rows, columns, &cast), "the CPU's parts");
        device_floats(
            c, &r,
            ulp_backend_block_parts(c->gpu, m.device_y, s.device_y, &of_device, m.device_x, rows, columns, &cast),
            m.device_y, m.want, n, "elements, case %zu", some);
        device_floats(c, &r, ULP_OK, s.device_y, s.want, scales, "scales, case %zu", some);
        row_true(&r, t == of_device, "case %zu: tensor scale %a, not %a", some, (double)of_device, (double)t);
    }
    matrices_close(c, &m);
    matrices_close(c, &s);
    row_end(&r);
}

static void check_low_bits(const check *c) {
    row r = row_of("low_bit and scaled_sums: signs, means of rows and columns, ternary numbers");
    const size_t rows = c->small ? 33 : 300, columns = c->small ? 50 : 1000, n = rows * columns;
    matrices m, s;
    double *work = room(2 * rows + 1, sizeof *work);
    if (r.skipped) {
        free(work);
        row_end(&r);
        return;
    }
    matrices_open(c, &r, &m, n);
    matrices_open(c, &r, &s, n);
    double *device_work = to_device(c, &r, work, (2 * rows + 1) * sizeof *work);
    for (size_t some = 0; some < 24 && !r.stopped; some++) {
        ulp_low_bit how = {.kind = (uint8_t)(some % 3), .along = some / 3 % 2, .threshold = 0.7};
        how.values = some / 6 % 2;
        how.stochastic = how.kind == ULP_LOW_SIGN && some % 2;
        how.stream = (ulp_stream){some, 4, 5};
        fill_normal(m.x, n, 1.0, some);
        for (size_t e = some; e < n && some % 4 == 0; e += 97) m.x[e] = e % 2 ? NAN : INFINITY;
        row_ok(&r, c->gpu->upload(m.device_x, m.x, n * sizeof(float)), "upload");
        row_ok(&r, ulp_backend_low_bit(c->cpu, m.want, s.want, work, m.x, rows, columns, &how), "the CPU's low_bit");
        device_floats(c, &r,
                      ulp_backend_low_bit(c->gpu, m.device_y, s.device_y, device_work, m.device_x, rows, columns, &how),
                      m.device_y, m.want, n, "elements, case %zu", some);
        device_floats(c, &r, ULP_OK, s.device_y, s.want, ulp_low_bit_scales(rows, columns, &how), "scales, case %zu",
                      some);
        ulp_sum_scales by = {.m = rows, .n = columns, .ldc = some % 2 ? rows : columns, .factor = 0.3f};
        by.c_trans = some % 2;
        by.accumulate = some / 2 % 2;
        by.row = some % 3 ? m.x + 7 : NULL;
        by.column = some % 5 ? m.x + 400 : NULL;
        by.column_is_one = some % 7 == 0;
        ulp_sum_scales on = by;
        on.row = by.row ? m.device_x + 7 : NULL;
        on.column = by.column ? m.device_x + 400 : NULL;
        memcpy(s.want, m.x, n * sizeof(float));
        row_ok(&r, c->gpu->upload(s.device_y, m.x, n * sizeof(float)), "upload");
        row_ok(&r, ulp_backend_scaled_sums(c->cpu, s.want, m.want, &by), "the CPU's scaled_sums");
        device_floats(c, &r, ulp_backend_scaled_sums(c->gpu, s.device_y, m.device_y, &on), s.device_y, s.want, n,
                      "sums, case %zu", some);
    }
    c->gpu->release(device_work);
    free(work);
    matrices_close(c, &m);
    matrices_close(c, &s);
    row_end(&r);
}

void check_blocks(const check *c) {
    check_casts(c);
    check_parts(c);
    check_low_bits(c);
    check_transforms(c);
}

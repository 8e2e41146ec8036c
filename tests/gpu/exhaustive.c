/* exhaustive.c - conversions of all binary32 numbers to formats of 8 bits: the device has the bits of the CPU. */
#include "check.h"

#include <stdatomic.h>

/* A piece of the inputs, and its results. */
typedef struct piece {
    size_t n;
    uint64_t first; /* the index of the first input */
    int sparse;     /* the inputs are one of 2^20 each */
    float *x, *want, *got, *device_x, *device_y;
    atomic_int differs;
} piece;

static void fill_part(void *context, size_t begin, size_t end) {
    const piece *p = context;
    for (size_t i = begin; i < end; i++) {
        const uint64_t at = p->first + i;
        const uint32_t u = p->sparse ? (uint32_t)(at << 20) | word_of(1, at) >> 12 : (uint32_t)at;
        memcpy(&p->x[i], &u, sizeof u);
    }
}

static void compare_part(void *context, size_t begin, size_t end) {
    piece *p = context;
    if (memcmp(p->got + begin, p->want + begin, (end - begin) * sizeof *p->got) != 0) p->differs = 1;
}

enum { GRAIN = 1 << 16 };

static void compare_piece(const check *c, row *r, piece *p, const ulp_format *f, ulp_rule rule, ulp_stream stream) {
    ulp_stats want = {0}, got = {0};
    row_ok(r, ulp_backend_round(c->cpu, p->want, p->x, p->n, (ulp_rounding){f, rule, stream, &want}),
           "the CPU's round");
    if (!row_ok(r, ulp_backend_round(c->gpu, p->device_y, p->device_x, p->n, (ulp_rounding){f, rule, stream, &got}),
                "round %s", f->name) ||
        !from_device(c, r, p->got, p->device_y, p->n * sizeof *p->got))
        return;
    p->differs = 0;
    ulp_parallel_for(p->n, GRAIN, compare_part, p);
    if (!p->differs) r->compared += p->n;
    else
        row_floats(r, p->got, p->want, p->n, "%s %s, inputs from %llu on", f->name, ulp_mode_name(rule.mode),
                   (unsigned long long)p->first);
    row_counters(r, &got, &want, f->name, ulp_mode_name(rule.mode));
}

/* Each piece is uploaded once for all formats and rules. A piece of 2^22 inputs with both results fits in the cache of
 * a processor with many cores. A run of all inputs takes two of the rules for each format. */
void check_exhaustive(const check *c) {
    row r = row_of("round: all 2^32 binary32 inputs, formats of 8 bits");
    static const char *const names[] = {"e4m3", "e5m2", "binary8p3se"};
    static const ulp_rule rules[] = {{ULP_RNE, 0, 0}, {ULP_RZ, 0, 0}, {ULP_SRA, 0, 0}, {ULP_SRC, 0, 5}};
    const size_t n = c->small ? 1 << 10 : 1 << 22, bytes = n * sizeof(float);
    const uint64_t inputs = c->small ? 1 << 12 : (uint64_t)1 << 32;
    if (c->small) r.name = "round: binary32 inputs, every 2^20th, formats of 8 bits";
    if (!r.skipped) {
        piece p = {.n = n, .sparse = c->small};
        p.x = room(n, sizeof *p.x), p.want = room(n, sizeof *p.want), p.got = room(n, sizeof *p.got);
        p.device_x = to_device(c, &r, p.x, bytes), p.device_y = to_device(c, &r, p.x, bytes);
        for (; p.first < inputs && !r.stopped; p.first += n) {
            ulp_parallel_for(n, GRAIN, fill_part, &p);
            row_ok(&r, c->gpu->upload(p.device_x, p.x, bytes), "upload");
            for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
                for (size_t m = c->small ? 0 : k % 2; m < sizeof rules / sizeof rules[0] && !r.stopped;
                     m += c->small ? 1 : 2) {
                    ulp_format f;
                    if (row_ok(&r, ulp_format_parse(&f, names[k]), "%s", names[k]))
                        compare_piece(c, &r, &p, &f, rules[m], (ulp_stream){9, k, p.first});
                }
        }
        c->gpu->release(p.device_x);
        c->gpu->release(p.device_y);
        free(p.x);
        free(p.want);
        free(p.got);
    }
    row_end(&r);
}

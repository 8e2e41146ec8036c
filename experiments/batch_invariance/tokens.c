/* tokens.c - the largest of 256 logits under two schedules: how many tokens change, beside the law. */
#include "batch_invariance.h"
#include "experiments/harness/claims/spread.h"
#include "sim/tensor.h"
#include "sim/train/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Arrays in backend memory. */
typedef struct machine {
    ulp_arena arena;
    size_t tokens;
    float *hidden, *head, *logits;          /* (tokens,WIDTH), (VOCABULARY,WIDTH), (tokens,VOCABULARY) */
    double *wide_hidden, *wide_head, *wide; /* the same in binary64 */
} machine;

static void carve(void *own, ulp_arena *arena) {
    machine *m = own;
    m->hidden = ulp_arena_take(arena, m->tokens * WIDTH);
    m->head = ulp_arena_take(arena, VOCABULARY * WIDTH);
    m->logits = ulp_arena_take(arena, m->tokens * VOCABULARY);
    m->wide_hidden = ulp_arena_take64(arena, m->tokens * WIDTH);
    m->wide_head = ulp_arena_take64(arena, VOCABULARY * WIDTH);
    m->wide = ulp_arena_take64(arena, m->tokens * VOCABULARY);
}

/* Host memory: the logits of two schedules and the exact ones (tokens,VOCABULARY), and room for the inputs. */
typedef struct host {
    float *one, *split, *room;
    double *exact, *wide, *gap; /* gap: (tokens) */
} host;

static ulp_gemm_shape shape_of(const machine *m) {
    return (ulp_gemm_shape){
        .m = m->tokens, .n = VOCABULARY, .k = WIDTH, .lda = WIDTH, .ldb = WIDTH, .ldc = VOCABULARY, .b_trans = 1};
}

static ulp_status find_logits(const machine *m, int64_t bits, int parts, float *logits) {
    const ulp_gemm_shape shape = shape_of(m);
    char name[96], split[64] = "";
    ulp_datapath d;
    if (parts > 1) snprintf(split, sizeof split, ":split-k=%d:e8m%d", parts, (int)bits - 1);
    snprintf(name, sizeof name, "block%d:e8m%d:rne%s", TOKEN_TILE, (int)bits - 1, split);
    ULP_TRY(ulp_datapath_parse(&d, name));
    ULP_TRY(ulp_backend_gemm(m->arena.backend, m->logits, m->hidden, m->head, &shape, (ulp_summation){.datapath = &d}));
    return m->arena.backend->download(logits, m->logits, m->tokens * VOCABULARY * sizeof *logits);
}

/* to (n), backend memory = x (n) in binary64. */
static ulp_status widen(const machine *m, double *to, const float *x, double *room, size_t n) {
    for (size_t i = 0; i < n; i++) room[i] = (double)x[i];
    return m->arena.backend->upload(to, room, n * sizeof *to);
}

static ulp_status fill(const ulp_task *task, const machine *m, const host *h) {
    const ulp_gemm_shape shape = shape_of(m);
    ulp_datapath d;
    ULP_TRY(ulp_datapath_parse(&d, "serial:binary64:rne"));
    ULP_TRY(fill_normal(task, m->hidden, h->room, m->tokens * WIDTH, "hidden", 1.0));
    ULP_TRY(widen(m, m->wide_hidden, h->room, h->wide, m->tokens * WIDTH));
    ULP_TRY(fill_normal(task, m->head, h->room, VOCABULARY * WIDTH, "head", 1.0 / sqrt(WIDTH)));
    ULP_TRY(widen(m, m->wide_head, h->room, h->wide, VOCABULARY * WIDTH));
    ULP_TRY(ulp_backend_gemm64(m->arena.backend, m->wide, m->wide_hidden, m->wide_head, &shape,
                               (ulp_summation){.datapath = &d}));
    return m->arena.backend->download(h->exact, m->wide, m->tokens * VOCABULARY * sizeof *h->exact);
}

/* The indices of the two largest numbers. */
static void two_largest(const double *x, size_t at[2]) {
    at[0] = x[1] > x[0], at[1] = !at[0];
    for (size_t j = 2; j < VOCABULARY; j++) {
        if (x[j] > x[at[0]]) at[1] = at[0], at[0] = j;
        else if (x[j] > x[at[1]]) at[1] = j;
    }
}

/* The density at 0 of the gaps (n): from the twentieth of the gaps that are least. */
static double density(double *gap, size_t n) {
    const size_t few = n / 20 > 0 ? n / 20 : 1;
    ulp_sort_numbers(gap, n);
    return (double)few / (double)n / gap[few - 1];
}

static void put_row(const ulp_task *task, const host *h, size_t tokens, int64_t bits) {
    row r = row_of(task, TOKENS);
    double sum = 0;
    r.count = 0;
    for (size_t i = 0; i < tokens; i++) {
        const double *exact = h->exact + i * VOCABULARY;
        const float *one = h->one + i * VOCABULARY, *split = h->split + i * VOCABULARY;
        size_t at[2];
        two_largest(exact, at);
        h->gap[i] = exact[at[0]] - exact[at[1]];
        sum += fabs(((double)split[at[0]] - (double)one[at[0]]) - ((double)split[at[1]] - (double)one[at[1]]));
        r.count += ulp_likeliest(one, VOCABULARY) != ulp_likeliest(split, VOCABULARY);
    }
    r.tile = TOKEN_TILE, r.parts = TOKEN_PARTS, r.bits = bits, r.number = (int64_t)tokens;
    r.value = sum / (double)tokens;
    r.law = (double)tokens * density(h->gap, tokens) * r.value / 2;
    ulp_row_put(task->rows, &r);
}

ulp_status put_tokens(const ulp_task *task, int64_t bits) {
    const settings *s = task->settings;
    machine m = {.tokens = (size_t)s->tokens};
    const size_t logits = m.tokens * VOCABULARY, inputs = (m.tokens > VOCABULARY ? m.tokens : VOCABULARY) * WIDTH;
    host h = {malloc(logits * sizeof(float)),  malloc(logits * sizeof(float)),  malloc(inputs * sizeof(float)),
              malloc(logits * sizeof(double)), malloc(inputs * sizeof(double)), malloc(m.tokens * sizeof(double))};
    ulp_status status = h.one && h.split && h.room && h.exact && h.wide && h.gap ? ULP_OK : ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_arena_make(&m.arena, s->backend, carve, &m);
    if (status == ULP_OK) status = fill(task, &m, &h);
    if (status == ULP_OK) status = find_logits(&m, bits, 1, h.one);
    if (status == ULP_OK) status = find_logits(&m, bits, TOKEN_PARTS, h.split);
    if (status == ULP_OK) put_row(task, &h, m.tokens, bits);
    ulp_arena_release(&m.arena);
    free(h.one), free(h.split), free(h.room), free(h.exact), free(h.wide), free(h.gap);
    return status;
}

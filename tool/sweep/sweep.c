/* sweep.c - rounding the inputs block by block, and finding the runs of their results. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, WORD = 64, LINES = 8192, LINE_MAX_LENGTH = 64, OFTEN = 256 };

const sweep_span sweep_line[SWEEP_SPANS] = {{0xff800000u, 1, -1},        {0xff7fffffu, 0x7f800000u, -1},
                                            {0, 0x7f800000u, 1},         {0x7f800000u, 1, 1},
                                            {0x7f800001u, 0x7fffffu, 1}, {0xff800001u, 0x7fffffu, 1}};

/* A block of inputs as floats or as doubles, their results from y[WORD] on, and the results if no rounding is needed.
 * y[WORD - 1] is the last result of the block before. */
typedef struct floats {
    float x[BLOCK], y[WORD + BLOCK], own[BLOCK];
} floats;
typedef struct doubles {
    double x[BLOCK], y[WORD + BLOCK], own[BLOCK];
} doubles;

/* The run that is not finished yet. */
typedef enum open_kind { OPEN_NONE, OPEN_ONE, OPEN_CONSTANT, OPEN_EXACT } open_kind;

typedef struct scan {
    const sweep_question *q;
    sweep_result *to;
    const sweep_span *span;
    open_kind kind;
    uint32_t begin, count; /* of the open run: index in the span, number of inputs */
    int own;               /* OPEN_ONE: whether its result is its own value */
    uint64_t result;       /* of the first input of the open run */
    sha256 hash;
    char lines[LINES];
    size_t used;
    floats *f; /* one of the two */
    doubles *d;
} scan;

/* ---- the list of runs ---- */

static void flush_lines(scan *s) {
    sha256_add(&s->hash, s->lines, s->used);
    if (s->q->list) s->q->list(s->q->context, s->lines, s->used);
    s->used = 0;
}

static char *put_hex(char *to, uint64_t word, int digits) {
    for (int i = digits; i-- > 0; word >>= 4) to[i] = "0123456789abcdef"[word & 15];
    return to + digits;
}

static void put_line(scan *s, const sweep_run *run) {
    const int digits = s->q->wide ? 16 : 8;
    char *to = s->lines + s->used;
    to = put_hex(to, run->inputs.first, 8);
    *to++ = ' ';
    to = put_hex(to, sweep_word(&run->inputs, run->inputs.count - 1), 8);
    *to++ = ' ';
    to = put_hex(to, run->result, digits);
    if (run->exact) {
        *to++ = ' ';
        to = put_hex(to, run->last, digits);
    }
    *to++ = '\n';
    s->used = (size_t)(to - s->lines);
    if (s->used > LINES - LINE_MAX_LENGTH) flush_lines(s);
}

/* ---- runs ---- */

static uint64_t own_word(const sweep_question *q, uint32_t input) {
    const double own = sweep_exact(q, (double)ulp_from_bits32(input));
    return q->wide ? ulp_bits64(own) : ulp_bits32((float)own);
}

/* Finish the open run with its first `count` inputs. */
static void finish(scan *s, uint32_t count) {
    if (count == 0) return;
    sweep_run run = {{sweep_word(s->span, s->begin), count, s->span->step}, 0, s->result, s->result};
    run.exact = s->kind == OPEN_EXACT && count > 1;
    if (run.exact) run.last = own_word(s->q, sweep_word(&run.inputs, count - 1));
    s->to->runs++;
    put_line(s, &run);
    sweep_judge(s->q, &run, s->to);
}

static uint64_t result_at(const scan *s, int32_t i) {
    return s->q->wide ? ulp_bits64(s->d->y[WORD + i]) : ulp_bits32(s->f->y[WORD + i]);
}

static void open_at(scan *s, uint32_t begin, int32_t i, int own) {
    s->kind = OPEN_ONE;
    s->begin = begin;
    s->count = 1;
    s->own = own;
    s->result = result_at(s, i);
}

/* The number of low ones of a word, at most n. */
static uint32_t low_ones(uint64_t word, uint32_t n) {
    uint32_t ones = 0;
    if (word == UINT64_MAX) return n;
    while (word >> ones & 1u) ones++;
    return ones < n ? ones : n;
}

/* Take n <= 64 results, the first of which is result i of the block that begins at `at` in the span. Bit k of `same` is
 * set if result i + k equals the result before it, bit k of `own` if it is the input's own value. */
static void take(scan *s, uint32_t at, int32_t i, uint32_t n, uint64_t same, uint64_t own) {
    for (uint32_t k = 0, more; k < n; k += more) {
        const int is_own = (int)(own >> k & 1u);
        if (same >> k & 1u) {
            if (s->kind == OPEN_EXACT) { /* its last input is the first of a constant run */
                finish(s, s->count - 1);
                open_at(s, s->begin + s->count - 1, i + (int32_t)k - 1, 1);
            }
            more = low_ones(same >> k, n - k);
            s->kind = OPEN_CONSTANT;
            s->count += more;
        } else if (is_own && (s->kind == OPEN_EXACT || (s->kind == OPEN_ONE && s->own))) {
            more = low_ones((own & ~same) >> k, n - k);
            s->kind = OPEN_EXACT;
            s->count += more;
        } else {
            if (s->kind != OPEN_NONE) finish(s, s->count);
            open_at(s, at + (uint32_t)i + k, i + (int32_t)k, is_own);
            more = 1;
        }
    }
}

/* ---- comparing results ----
 *
 * memcmp compares as many bytes at a time as the processor can; equal bytes are equal words. */

/* Bit k of *same is set if y[k] equals the result before it, bit k of *is_own if it equals own[k]. */
#define MASKS(name, type, bits_of)                                                                                     \
    static void name(const type *y, const type *own, uint64_t *same, uint64_t *is_own) {                               \
        const type *before = y - 1;                                                                                    \
        *same = *is_own = 0;                                                                                           \
        for (int i = 0; i < WORD; i++) {                                                                               \
            *same |= (uint64_t)(bits_of(y[i]) == bits_of(before[i])) << i;                                             \
            *is_own |= (uint64_t)(bits_of(y[i]) == bits_of(own[i])) << i;                                              \
        }                                                                                                              \
    }
MASKS(floats_masks, float, ulp_bits32)
MASKS(doubles_masks, double, ulp_bits64)

/* Whether n results of a block from result i on all belong to the open run; `own` has the values of the inputs. */
static int all_belong(scan *s, uint32_t i, uint32_t n, const void *own) {
    const size_t size = s->q->wide ? sizeof(double) : sizeof(float);
    const char *y = s->q->wide ? (const char *)(s->d->y + WORD + i) : (const char *)(s->f->y + WORD + i);
    if ((s->kind == OPEN_ONE || s->kind == OPEN_CONSTANT) && memcmp(y, y - size, n * size) == 0) {
        s->kind = OPEN_CONSTANT;
        return 1;
    }
    /* without wrap neighbours have different values of their own */
    return s->kind == OPEN_EXACT && !s->q->wraps && memcmp(y, (const char *)own + i * size, n * size) == 0;
}

/* Take results i .. i + 63 of a block; those from n on are not there. */
static void take_word(scan *s, uint32_t at, uint32_t i, uint32_t n, const void *own) {
    const uint32_t count = n - i < WORD ? n - i : WORD;
    uint64_t same, is_own;
    if (all_belong(s, i, count, own)) {
        s->count += count;
        return;
    }
    if (s->q->wide) doubles_masks(s->d->y + WORD + i, (const double *)own + i, &same, &is_own);
    else floats_masks(s->f->y + WORD + i, (const float *)own + i, &same, &is_own);
    if (s->kind == OPEN_NONE) same &= ~(uint64_t)1; /* the first input of a span has none before it */
    take(s, at, (int32_t)i, count, same, is_own);
}

/* Take all n results of a block. */
static void take_results(scan *s, uint32_t at, uint32_t n, const void *own) {
    if (all_belong(s, 0, n, own)) {
        s->count += n;
        return;
    }
    for (uint32_t i = 0; i < n; i += WORD) take_word(s, at, i, n, own);
}

/* ---- blocks ---- */

/* Where every input of the block is its own value, that is x; else own (n). */
static int needs_own(const sweep_question *q, double a, double b) {
    const double half = ulp_scale(0.5, q->format->bits - q->format->frac_bits);
    return q->wraps && !(fabs(a) < half && fabs(b) < half);
}

static ulp_status take_block(scan *s, uint32_t at, uint32_t n) {
    const sweep_question *q = s->q;
    const double first = (double)ulp_from_bits32(sweep_word(s->span, at)),
                 last = (double)ulp_from_bits32(sweep_word(s->span, at + n - 1));
    const int own = needs_own(q, first, last);
    const uint32_t from = sweep_word(s->span, at);
    const int32_t step = s->span->step;
    ulp_status status;
    if (q->wide) {
        doubles *b = s->d;
        b->y[WORD - 1] = b->y[WORD + BLOCK - 1];
        for (uint32_t i = 0; i < n; i++) b->x[i] = (double)ulp_from_bits32(step == 1 ? from + i : from - i);
        for (uint32_t i = 0; own && i < n; i++) b->own[i] = sweep_exact(q, b->x[i]);
        status = q->round(q->rounder, b->y + WORD, b->x, n);
    } else {
        floats *b = s->f;
        b->y[WORD - 1] = b->y[WORD + BLOCK - 1];
        if (step == 1)
            for (uint32_t i = 0; i < n; i++) b->x[i] = ulp_from_bits32(from + i);
        else
            for (uint32_t i = 0; i < n; i++) b->x[i] = ulp_from_bits32(from - i);
        for (uint32_t i = 0; own && i < n; i++) b->own[i] = (float)sweep_exact(q, (double)b->x[i]);
        status = q->round(q->rounder, b->y + WORD, b->x, n);
    }
    const void *values = q->wide ? (own ? s->d->own : s->d->x) : (const void *)(own ? s->f->own : s->f->x);
    if (status == ULP_OK) take_results(s, at, n, values);
    return status;
}

static ulp_status take_span(scan *s, const sweep_span *span) {
    ulp_status status = ULP_OK;
    uint32_t told = 0;
    s->span = span;
    s->kind = OPEN_NONE;
    s->count = 0;
    for (uint32_t at = 0; at < span->count && status == ULP_OK;) {
        const uint32_t n = span->count - at < BLOCK ? span->count - at : BLOCK;
        status = take_block(s, at, n);
        at += n;
        if (s->q->progress && (at - told >= OFTEN * BLOCK || at == span->count)) {
            s->q->progress(s->q->context, at - told);
            told = at;
        }
    }
    if (status == ULP_OK) finish(s, s->count);
    s->to->inputs += span->count;
    return status;
}

ulp_status sweep_inputs(const sweep_question *q, sweep_result *result) {
    scan *s = calloc(1, sizeof *s);
    ulp_status status = ULP_OK;
    *result = (sweep_result){0};
    if (s) {
        s->q = q;
        s->to = result;
        if (q->wide) s->d = calloc(1, sizeof *s->d);
        else s->f = calloc(1, sizeof *s->f);
    }
    if (!s || (!s->d && !s->f)) {
        free(s);
        return ULP_NO_MEMORY;
    }
    sha256_begin(&s->hash);
    for (size_t i = 0; i < q->count && status == ULP_OK; i++) status = take_span(s, &q->spans[i]);
    flush_lines(s);
    sha256_end(&s->hash, result->hash);
    free(s->d);
    free(s->f);
    free(s);
    return status;
}

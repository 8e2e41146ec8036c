/* round64.c - rounding of binary64 arrays whose format and rule kernels/rounding/core.h offers.
 *
 * Most arrays hold only values in the range of the format. A piece of the array is rounded by vectors of
 * lane_rounding.h, with a watch, and rounded again by core.h where the watch found another value.
 */
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "lane_rounding.h"
#include "kernels/cpu/philox.h"

enum { STEP = 32 }; /* vector loops over a piece have no remainder */
_Static_assert(STEP % (4 * DOUBLES) == 0 && ULP_PIECE % STEP == 0, "a step is whole turns of a loop");

/* A piece of the arrays, and the random words of its elements. */
typedef struct piece {
    double *y;
    const double *x; /* not y */
    size_t n;        /* at most ULP_PIECE; a multiple of STEP */
    const uint32_t *words;
} piece;

/* The ways to round a piece, each in fewer instructions than the next. CUT: every number that is not zero is a normal
 * value of the format. ANCHORED: every number is below the overflow. */
enum { CUT, ANCHORED, WAYS };

typedef struct rounding {
    const ulp_rounding *how;
    lane_format format;
    int offers[WAYS];
    uint64_t most;         /* the largest magnitude that is in range */
    uint32_t least, below; /* of the watch of CUT: an input with the upper half of `most` may be larger */
    int ready;             /* whether there is a core. Many calls need none, and take less time than its preparation */
    ulp_core core;
} rounding;

enum { BY_ANCHOR = ULP_NARROW_MODES | 1 << ULP_SRA, BY_CUT = BY_ANCHOR & ~(1 << ULP_RNE | 1 << ULP_RNA) };

static void rounding_of(rounding *r, const ulp_rounding *how) {
    const ulp_format *f = how->format;
    const uint32_t mode = how->rule.mode;
    r->how = how;
    r->ready = 0;
    r->format = lane_format_of(f, ulp_core_random(how->rule));
    r->most = ulp_bits64(f->max < -f->lowest ? f->max : -f->lowest);
    r->least = watch_limit(ulp_bits64(f->min_normal));
    r->below = watch_limit(r->most) - 1;
    r->offers[ANCHORED] = f->has_subnormals && f->emax >= f->emin && ulp_mode_in(mode, BY_ANCHOR);
    /* formats without this condition have small values in most arrays; the lost bits are more than a lower half */
    r->offers[CUT] =
        r->offers[ANCHORED] && f->emin == -126 && f->has_neg_zero && f->prec <= 20 && ulp_mode_in(mode, BY_CUT);
}

/* ---- values in range: mode and way are constants in each instance ---- */

/* Whether all values are in range, where `fields` holds the largest exponent fields. Only if one is the field of the
 * limit are the values looked at once more. */
static int all_in_range(const piece *p, const rounding *r, vbits fields) {
    const uint64_t of_most = r->most & 0x7ff0000000000000u;
    uint64_t each[DOUBLES], largest = 0;
    memcpy(each, &fields, sizeof each);
    for (size_t i = 0; i < DOUBLES; i++) largest = each[i] > largest ? each[i] : largest;
    for (size_t i = 0; i < p->n && largest == of_most; i++) {
        const uint64_t size = ulp_bits64(p->x[i]) & 0x7fffffffffffffffu;
        largest = size > r->most ? size : largest;
    }
    return largest <= of_most;
}

ULP_INLINE int watched_signs(const piece *p, const rounding *r, uint32_t mode, int way, uint64_t signs) {
    lane_format f = r->format;
    f.signs = signs;
    const double *restrict from = p->x;
    double *restrict to = p->y;
    const size_t n = p->n;
    watch w = watch_begin();
    vbits fields = all_bits(0);
    for (size_t i = 0; i < n; i += 4 * DOUBLES) {
        vdouble x[4], y[4];
        UNROLLED for (size_t v = 0; v < 4; v++) {
            memcpy(&x[v], from + i + v * DOUBLES, sizeof x[v]);
            vbits word = all_bits(0);
            if (mode == ULP_SRA) word = random_lanes(p->words + i + v * DOUBLES, &f);
            y[v] = way == CUT ? round_normal(x[v], &f, mode, word) : round_anchored(x[v], &f, mode, word);
            memcpy(to + i + v * DOUBLES, &y[v], sizeof y[v]);
            if (way == ANCHORED) fields = larger_exponents(fields, (vbits)x[v] & 0x7ff0000000000000u);
        }
        UNROLLED for (int v = 0; way == CUT && v < 4; v += 2) {
            w = watch_least(w, y[v], y[v + 1]);
            w = watch_most(w, x[v], x[v + 1]); /* not y: sums of words may wrap around for NaN */
        }
    }
    return way == CUT ? watch_is_within(w, r->least, r->below) : all_in_range(p, r, fields);
}

/* An instance for each kind of zeros. A mask that is no constant lets gcc join two operations of AVX-512. */
ULP_INLINE int watched_run(const piece *p, const rounding *r, uint32_t mode, int way) {
    if (way != CUT && r->format.signs == 0) return watched_signs(p, r, mode, way, 0);
    return watched_signs(p, r, mode, way, ROUNDS_TOWARD ? r->format.signs : 1ull << 63);
}

static int watched_cut(const piece *p, const rounding *r) {
    switch (r->how->rule.mode) {
    case ULP_RZ: return watched_run(p, r, ULP_RZ, CUT);
    case ULP_RU: return watched_run(p, r, ULP_RU, CUT);
    case ULP_RD: return watched_run(p, r, ULP_RD, CUT);
    case ULP_RO: return watched_run(p, r, ULP_RO, CUT);
    case ULP_SRA: return watched_run(p, r, ULP_SRA, CUT);
    default: return 0; /* no mode of BY_CUT */
    }
}

static int watched_anchored(const piece *p, const rounding *r) {
    switch (r->how->rule.mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: return watched_run(p, r, id, ANCHORED);
        ULP_MODES(CASE)
#undef CASE
    default: return 0;
    }
}

/* ---- any values ---- */

ULP_INLINE void any_run(const piece *p, const ulp_core *core, uint32_t mode) {
    const ulp_core c = *core;
    for (size_t i = 0; i < p->n / STEP * STEP; i++)
        p->y[i] = ulp_core_round64(p->x[i], &c, mode, ulp_mode_is_stochastic(mode) ? p->words[i] : 0u);
}

static void round_any(const piece *p, const ulp_core *core) {
    switch (core->mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: any_run(p, core, id); break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* ---- pieces ---- */

/* A value that a way does not serve is likely to have others near. After a piece with such a value, the way is not
 * tried for REST pieces. */
enum { REST = 8 };

/* rest[way] is the number of pieces that are left of them. */
static void round_piece(const piece *p, rounding *r, int rest[WAYS]) {
    static int (*const run[WAYS])(const piece *, const rounding *) = {watched_cut, watched_anchored};
    for (int way = 0; way < WAYS; way++) {
        if (!r->offers[way] || rest[way]-- > 0) continue;
        rest[way] = 0;
        if (run[way](p, r)) return;
        rest[way] = REST;
    }
    if (!r->ready) r->ready = ulp_core_init(&r->core, r->how->format, r->how->rule);
    round_any(p, &r->core);
}

void ULP_CPU(ulp_round64_core)(double *y, const double *x, size_t n, ulp_rounding how) {
    const ulp_stream stream = how.stream;
    double held[ULP_PIECE], last[ULP_PIECE];
    uint32_t words[ULP_PIECE];
    philox source;
    int rest[WAYS] = {0};
    rounding r; /* no initialiser, which would clear the core */
    rounding_of(&r, &how);
    philox_begin(&source, stream.seed, stream.stream);
    for (size_t at = 0; at < n; at += ULP_PIECE) {
        const size_t count = n - at < ULP_PIECE ? n - at : ULP_PIECE, more = (0 - count) % STEP;
        piece p = {y + at, x + at, count + more, words};
        if (y == x || more > 0) { /* zeros fill the last step */
            p.x = memcpy(held, p.x, count * sizeof *held);
            memset(held + count, 0, more * sizeof *held);
        }
        if (more > 0) p.y = last;
        if (ulp_mode_is_stochastic(how.rule.mode)) ULP_CPU(ulp_philox_words)(words, p.n, &source, stream.first + at);
        round_piece(&p, &r, rest);
        if (more > 0) memcpy(y + at, last, count * sizeof *last);
    }
}

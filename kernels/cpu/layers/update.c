/* update.c - several elementwise operations in one pass over memory, and the largest magnitude of an array.
 *
 * All steps run on one piece while the piece is in the first-level cache. A step calls the array operation of map.c or
 * round.c on the piece. The index of its random words starts at the piece's place, so that the bits are those of whole
 * arrays. In fixed point the last steps run as one, the update of weights of spaced.h.
 */
#include <string.h>

#include "kernels/cpu/philox.h"
#include "spaced.h"

/* The last steps of an update that are one step of spaced.h: perhaps f g, and w + a (f g). */
typedef struct joined {
    size_t steps; /* 0: none */
    const ulp_operand *w, *g;
    ulp_stream stream;
    spaced constants;
} joined;

typedef struct work {
    const ulp_update_step *step;
    size_t steps;
    joined last;
} work;

/* The state of a search for the largest magnitude, which the threads share. */
typedef struct search {
    const float *x;
    uint32_t most; /* binary32 bits without the sign */
    int finite;    /* 1: Inf and NaN do not count */
} search;

/* Buffers for the operands of one piece, and the random words of the last step. A buffer of a value holds the value
 * `held` until a step needs another one. */
typedef struct buffers {
    float scratch[ULP_UPDATE_SCRATCH][ULP_PIECE], value[3][ULP_PIECE];
    uint32_t held[3];
    philox source;
} buffers;

static void hold(buffers *r, int which, float value) {
    if (r->held[which] == ulp_bits32(value)) return;
    for (size_t i = 0; i < ULP_PIECE; i++) r->value[which][i] = value;
    r->held[which] = ulp_bits32(value);
}

/* The elements of an operand from `at` on. `which` selects the buffer of a, b or c. */
static float *elements(buffers *r, const ulp_operand *operand, size_t at, int which) {
    switch (operand->kind) {
    case ULP_OPERAND_ARRAY: return operand->at + at;
    case ULP_OPERAND_SCRATCH: return r->scratch[operand->slot];
    case ULP_OPERAND_VALUE: hold(r, which, operand->value); return r->value[which];
    default: return NULL;
    }
}

/* The formats and rules have been checked. */
static void run_step(buffers *r, const ulp_update_step *s, size_t at, size_t n) {
    float *y = elements(r, &s->y, at, 0);
    ulp_rounding how = {&s->format, s->rule, s->stream, NULL};
    how.stream.first += at;
    if (s->op == ULP_STEP_LIMIT) {
        const float *a = elements(r, &s->a, at, 0), *b = elements(r, &s->b, at, 1);
        for (size_t i = 0; i < n; i++) y[i] = ulp_limited(a[i], b[i]);
        ULP_CPU(ulp_cpu_round)(y, y, n, how);
    } else if (s->op == ULP_STEP_ROUND) {
        ULP_CPU(ulp_cpu_round)(y, elements(r, &s->a, at, 0), n, how);
    } else {
        const int operands = ulp_op_operands((ulp_op)s->op);
        const float *a = elements(r, &s->a, at, 0), *b = operands > 1 ? elements(r, &s->b, at, 1) : NULL;
        const float *c = operands > 2 ? elements(r, &s->c, at, 2) : NULL;
        ULP_CPU(ulp_cpu_map)(y, (ulp_array_op){(ulp_op)s->op, a, b, c}, n, how);
    }
}

/* The last steps on a piece. 0 leaves the piece as it is. Zeros fill its last vector. */
static int run_joined(buffers *r, const joined *last, size_t at, size_t n) {
    float *w = elements(r, last->w, at, 0), *g = elements(r, last->g, at, 1), padded[2][ULP_PIECE];
    uint32_t words[ULP_PIECE];
    const size_t whole = (n + FLOATS - 1) / FLOATS * FLOATS;
    if (last->constants.mode == ULP_SRA) ULP_CPU(ulp_philox_words)(words, whole, &r->source, last->stream.first + at);
    if (whole == n) return spaced_update(w, g, words, n, &last->constants);
    memset(padded, 0, sizeof padded);
    memcpy(padded[0], w, n * sizeof *w);
    memcpy(padded[1], g, n * sizeof *g);
    if (!spaced_update(padded[0], padded[1], words, whole, &last->constants)) return 0;
    memcpy(w, padded[0], n * sizeof *w);
    return 1;
}

static void run_steps(buffers *r, const work *w, size_t at, size_t n) {
    const size_t first = w->steps - w->last.steps;
    for (size_t k = 0; k < first; k++) run_step(r, &w->step[k], at, n);
    if (first < w->steps && run_joined(r, &w->last, at, n)) return;
    for (size_t k = first; k < w->steps; k++) run_step(r, &w->step[k], at, n);
}

static void update_part(void *context, size_t begin, size_t end) {
    buffers r;
    memset(r.value, 0, sizeof r.value);
    memset(r.held, 0, sizeof r.held);
    philox_begin(&r.source, ((const work *)context)->last.stream.seed, ((const work *)context)->last.stream.stream);
    for (size_t at = begin; at < end; at += ULP_PIECE)
        run_steps(&r, context, at, end - at < ULP_PIECE ? end - at : ULP_PIECE);
}

static int is_array(const ulp_operand *x) { return x->kind == ULP_OPERAND_ARRAY; }

static int is_same(const ulp_operand *x, const ulp_operand *y) {
    return x->kind == y->kind && (is_array(x) ? x->at == y->at : x->slot == y->slot);
}

/* Whether a step multiplies an array by a value in binary32, mode rne. */
static int is_scaling(const ulp_update_step *s) {
    ulp_core core;
    return s->op == ULP_MUL && is_array(&s->a) && s->b.kind == ULP_OPERAND_VALUE &&
           ulp_core_init(&core, &s->format, s->rule) && ulp_core_is_binary32(&core);
}

static joined join(const ulp_update_step *step, size_t steps) {
    joined j = {.steps = 0};
    if (steps == 0) return j;
    const ulp_update_step *last = &step[steps - 1], *before = steps > 1 ? last - 1 : NULL;
    if (last->op != ULP_FUSED || last->a.kind != ULP_OPERAND_VALUE || last->b.kind == ULP_OPERAND_VALUE ||
        !is_array(&last->y) || !is_same(&last->y, &last->c) || !spaced_of(&j.constants, &last->format, last->rule))
        return j;
    j.w = &last->y;
    j.g = &last->b;
    j.stream = last->stream;
    j.constants.a = last->a.value;
    j.constants.factor = 1.0f;
    j.steps = 1;
    if (before != NULL && last->b.kind == ULP_OPERAND_SCRATCH && is_same(&before->y, &last->b) && is_scaling(before)) {
        j.g = &before->a;
        j.constants.factor = before->b.value;
        j.steps = 2;
    }
    if (is_same(j.w, j.g)) j.steps = 0;
    return j;
}

ulp_status ULP_CPU(ulp_cpu_update)(const ulp_update_step *step, size_t steps, size_t n) {
    work w = {step, steps, join(step, steps)};
    ulp_parallel_for(n, ULP_GRAIN, update_part, &w);
    return ULP_OK;
}

/* The bits of magnitudes have the order of the magnitudes; Inf is above the numbers and NaN is above Inf. With `lift`,
 * the bits of Inf and NaN are below 0 in the signed comparison. */
static void largest_part(void *context, size_t begin, size_t end) {
    search *s = context;
    const uint32_t lift = s->finite ? 0x00800000u : 0u;
    int32_t lifted = (int32_t)lift;
    for (size_t i = begin; i < end; i++) {
        const int32_t own = (int32_t)((ulp_bits32(s->x[i]) & 0x7fffffffu) + lift);
        lifted = own > lifted ? own : lifted;
    }
    const uint32_t most = (uint32_t)lifted - lift;
    uint32_t current = __atomic_load_n(&s->most, __ATOMIC_RELAXED);
    while (most > current &&
           !__atomic_compare_exchange_n(&s->most, &current, most, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

ulp_status ULP_CPU(ulp_cpu_largest)(float *y, const float *x, size_t n, int finite) {
    search s = {x, 0, finite};
    ulp_parallel_for(n, ULP_GRAIN, largest_part, &s);
    *y = ulp_from_bits32(s.most > 0x7f800000u ? 0x7fc00000u : s.most);
    return ULP_OK;
}

/* blocks.c - codes of arrays in block-scaled formats, many blocks at a time: largest magnitudes, scales, elements.
 *
 * The bits are those of formats/block.c. Blocks with special numbers, and formats that no loop serves, are computed by
 * its functions. Why the loops round once:
 *   - a power of two divides exactly, except into subnormal numbers of binary32; such blocks are special, except where
 *     elements are rounded to nearest, which makes all of these numbers zero
 *   - other scales: x has 24 bits, the divisor 28 or less, and an element or scale, or the middle of two of them, 9 or
 *     less. So a quotient that differs from such a point differs by a part of 2^-38, and the quotient in binary64, of
 *     53 bits, is on the same side of the point
 *   - elements of 4 bits: an element is the number of bounds that |x| reaches; a bound is an exact product
 */
#include "block_plan.h"

#include <string.h>

/* ---- plans ---- */

static ulp_rounding element_rounding(const block_plan *p, uint64_t at) {
    ulp_rounding how = {&p->array.block->element, p->rule, p->stream, NULL};
    how.rule.overflow = how.format->is_fixed ? ULP_OVERFLOW_SYM : ULP_OVERFLOW_SAT;
    how.stream.first += at;
    return how;
}

static int is_e8m0(const ulp_format *f) {
    return f->bits == 8 && f->prec == 1 && !f->is_signed && !f->has_zero && f->bias == 127 &&
           f->taper == ULP_TAPER_NONE;
}

/* The scale code of an amax by the definition. */
static int32_t code_of_amax(uint32_t word, const block_plan *p) {
    const double amax = (double)ulp_from_bits32(word);
    return ulp_exact_of(ulp_block_scale_of(ulp_exact_of(amax), p->array.block, 1.0f)).exp + 127 + 127;
}

/* The least fraction, of the binade that begins with this word, from which on the code is larger; it is in (0, 2^23].
 */
static uint32_t fraction_of_change(uint32_t binade, const block_plan *p) {
    const int32_t code = code_of_amax(binade, p);
    uint32_t low = 0, high = 1u << 23;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (code_of_amax(binade + middle, p) > code) high = middle;
        else low = middle;
    }
    return high;
}

/* A power of two from amax doubles with amax; in a binade it changes once. To nearest, the change of every second
 * binade lies one word later: there the middle of two scales is a tie, which goes to the even code. */
static void plan_powers(block_plan *p) {
    const uint32_t one = 0x3f800000u, two = 0x40000000u;
    const uint32_t change[] = {fraction_of_change(one, p), fraction_of_change(two, p)};
    const uint32_t last = change[0] > change[1] ? change[0] : change[1];
    p->carry = (1u << 23) - last;
    p->offset = code_of_amax(one, p) - 127;
    p->tie = change[0] != change[1] ? last - 1 : UINT32_MAX;
}

/* The codes of scales that are no powers of two have the order of their values: 1 is the least scale above zero. */
static void plan_scales(block_plan *p) {
    const ulp_block *const b = p->array.block;
    const ulp_format *const s = &b->scale;
    if (s->bits > 8 || !s->has_zero || s->is_fixed || s->min_positive < 0x1p-50 || s->max > 0x1p50) return;
    p->scale_is_nearest = ULP_CPU(ulp_nearest_begin)(&p->scale_nearest, s, p->scale_rule);
    p->least_code = p->least > 0.0;
    for (size_t i = 0; i < (size_t)1 << s->bits; i++) p->scale_values[i] = ulp_block_scale_value((uint8_t)i, b);
}

void ULP_CPU(ulp_block_plan_of)(block_plan *p, ulp_block_array array, ulp_rule rule, ulp_stream stream) {
    const ulp_block *const b = array.block;
    memset(p, 0, sizeof *p);
    p->array = array;
    p->size = b->size;
    p->rule = rule;
    p->stream = stream;
    p->searches = ulp_scale_rule_searches(b->rule);
    const ulp_format *const e = &b->element, *const s = &b->scale;
    const int stochastic = ulp_mode_is_stochastic(p->rule.mode);
    p->division = BY_DEFINITION;
    if (b->size > ULP_PIECE || !e->is_signed || e->flushes != 0 || s->flushes != 0) return;
    if (p->rule.overflow != ULP_OVERFLOW_DEFAULT && (e->is_fixed || p->rule.overflow != ULP_OVERFLOW_SAT)) return;
    if (is_e8m0(s) && p->array.tensor_scale == 1.0f) {
        p->division = BY_POWER;
        if (!p->searches) plan_powers(p);
    } else if (s->prec > 1 && s->taper == ULP_TAPER_NONE) {
        p->division = BY_NUMBER;
        p->is_wide = stochastic;
        p->times = b->rule == ULP_SCALE_UP17 ? 17.0 : 1.0;
        p->divisor = e->max * (double)p->array.tensor_scale * (b->rule == ULP_SCALE_UP17 ? 16.0 : 1.0);
        p->least = b->rule == ULP_SCALE_TE ? 0.0 : s->min_positive;
        p->scale_rule = ulp_scale_rounding((ulp_scale_rule)b->rule);
        plan_scales(p);
    }
    p->is_nearest = ULP_CPU(ulp_nearest_begin)(&p->nearest, e, element_rounding(p, 0).rule);
    p->multiplies = p->is_nearest && ULP_CPU(ulp_nearest_products_serve)(b->size, &p->nearest);
    p->counts_bounds = has_bounds(e) && !stochastic;
    p->search_counts = p->searches && has_bounds(e);
    if (p->search_counts) {
        element_bounds_of(&p->search_bounds, e, (ulp_rule){ULP_RNE, ULP_OVERFLOW_DEFAULT, 0});
        for (size_t i = 0; i < 16; i++) p->element_values[i] = ulp_decode(i, e);
    }
    if (p->counts_bounds) element_bounds_of(&p->bounds, e, p->rule);
}

/* ---- blocks of a piece ---- */

ULP_INLINE uint32_t most_of(const float *x, size_t n) {
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t size = ulp_bits32(x[i]) & 0x7fffffffu;
        most = (int32_t)size > (int32_t)most ? size : most;
    }
    return most;
}

void ULP_CPU(ulp_blocks_most)(blocks *k, const float *x, size_t n, size_t size) {
    const size_t whole = n / size;
    k->count = whole + (n % size != 0);
#define LARGEST(of)                                                                                                    \
    for (size_t j = 0; j < whole; j++) k->most[j] = most_of(x + j * (of), of)
    BY_SIZE(LARGEST, size)
#undef LARGEST
    if (k->count > whole) k->most[whole] = most_of(x + whole * size, n - whole * size);
}

static void scale_by_powers(blocks *k, uint8_t *scales, const block_plan *p) {
    const uint32_t carry = p->carry;
    const int32_t offset = p->offset;
    const uint32_t tie = p->tie;
    for (size_t j = 0; j < k->count; j++) {
        const uint32_t word = k->most[j], is_tie = (word & 0x7fffffu) == tie;
        const int32_t below = (int32_t)((word + carry) >> 23) + offset, code = below + (below & (int32_t)is_tie),
                      low = word == 0 || code < 0 ? 0 : code;
        /* special: NaN, Inf, a largest magnitude that is subnormal, and 2^127, whose inverse is subnormal */
        k->special[j] = (uint8_t)((word >= 0x7f800000u) | (word - 1u < 0x7fffffu) | (low > 253));
        scales[j] = (uint8_t)low;
        k->power[j] = ulp_from_bits32((254u - (uint32_t)low) << 23);
    }
}

/* y = x / scale. A block where the division loses bits is special. */
ULP_INLINE uint8_t divide_block(float *restrict y, const float *restrict x, size_t n, float power) {
    const float back = ulp_from_bits32((254u << 23) - ulp_bits32(power));
    uint32_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] * power;
        lost |= ulp_bits32(y[i] * back) ^ ulp_bits32(x[i]);
    }
    return lost != 0;
}

static void divide_by_powers(float *y, blocks *k, const float *x, size_t n, size_t size) {
    const size_t whole = n / size;
#define DIVIDE(of)                                                                                                     \
    for (size_t j = 0; j < whole; j++) k->special[j] |= divide_block(y + j * (of), x + j * (of), of, k->power[j])
    BY_SIZE(DIVIDE, size)
#undef DIVIDE
    if (k->count > whole)
        k->special[whole] |= divide_block(y + whole * size, x + whole * size, n - whole * size, k->power[whole]);
}

/* ---- elements of 4 bits ---- */

static void count_by_numbers(uint8_t *to, const blocks *k, const float *x, size_t n, const block_plan *p) {
    const size_t size = p->size, whole = n / size;
#define COUNT(of)                                                                                                      \
    for (size_t j = 0; j < whole; j++) count_block(to + j * (of), x + j * (of), of, k->factor[j], &p->bounds)
    BY_SIZE(COUNT, size)
#undef COUNT
    if (k->count > whole)
        count_block(to + whole * size, x + whole * size, n - whole * size, k->factor[whole], &p->bounds);
}

/* ---- elements of other formats ---- */

/* The elements from about x / factor. 0 if one of them could be another. */
static int divide_nearly(uint8_t *to, const blocks *k, const float *x, size_t n, const block_plan *p) {
    float inverse[ULP_PIECE];
    for (size_t j = 0; j < k->count; j++) {
        const int serves = (k->factor[j] > 0x1p-100) & (k->factor[j] < 0x1p100);
        if (!serves && !k->special[j]) return 0;
        inverse[j] = k->special[j] ? 0.0f : (float)(1.0 / k->factor[j]);
    }
    return ULP_CPU(ulp_nearest_products)(to, x, n, p->size, inverse, 1, &p->nearest);
}

static ulp_status round_by_numbers(uint8_t *to, const blocks *k, const float *x, size_t n, const block_plan *p) {
    const size_t size = p->size;
    double q[ULP_PIECE];
    for (size_t j = 0; j < k->count; j++)
        for (size_t i = j * size; i < n && i < (j + 1) * size; i++)
            q[i] = k->special[j] ? 0.0 : (double)x[i] / k->factor[j];
    ULP_TRY(ULP_CPU(ulp_cpu_round64)(q, q, n, element_rounding(p, 0)));
    return ULP_CPU(ulp_codes_of_doubles)(to, q, n, 8, &p->array.block->element);
}

/* ---- pieces ---- */

static size_t length_of(size_t n, size_t size, size_t block) {
    return n - block * size < size ? n - block * size : size;
}

static ulp_status elements_by_powers(uint8_t *to, blocks *k, const float *x, size_t n, size_t at, const block_plan *p) {
    const size_t size = p->size;
    float y[ULP_PIECE];
    if (p->multiplies && ULP_CPU(ulp_nearest_products)(to, x, n, size, k->power, 0, &p->nearest)) return ULP_OK;
    divide_by_powers(y, k, x, n, size);
    if (p->counts_bounds && !p->is_nearest) {
        count_elements(to, y, n, (const int32_t(*)[LANES])p->bounds.words, &p->bounds);
        return ULP_OK;
    }
    for (size_t j = 0; j < k->count; j++)
        if (k->special[j]) memset(y + j * size, 0, length_of(n, size, j) * sizeof *y);
    if (p->is_nearest && ULP_CPU(ulp_nearest_codes)(to, y, n, 8, &p->nearest)) return ULP_OK;
    ULP_TRY(ULP_CPU(ulp_cpu_round)(y, y, n, element_rounding(p, at)));
    return ULP_CPU(ulp_codes_of_values)(to, y, n, 8, &p->array.block->element);
}

ulp_status ULP_CPU(ulp_blocks_elements)(uint8_t *to, blocks *k, const float *x, size_t n, size_t at,
                                        const block_plan *p) {
    if (p->division == BY_POWER) return elements_by_powers(to, k, x, n, at, p);
    if (p->multiplies && divide_nearly(to, k, x, n, p)) return ULP_OK;
    if (!p->counts_bounds) return round_by_numbers(to, k, x, n, p);
    count_by_numbers(to, k, x, n, p);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_blocks_scales)(blocks *k, uint8_t *scales, const float *x, const ulp_block_part *part,
                                      const block_plan *p) {
    if (p->searches) return ULP_CPU(ulp_blocks_search)(k, scales, x, part, p);
    if (p->division == BY_NUMBER) return ULP_CPU(ulp_blocks_quotients)(k, scales, p->times, p->divisor, p);
    scale_by_powers(k, scales, p);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_blocks_codes)(uint8_t *to, uint8_t *scales, const float *x, size_t n, size_t at,
                                     const block_plan *p) {
    const size_t size = p->size;
    blocks k;
    ulp_block_part part[ULP_PIECE];
    ULP_CPU(ulp_blocks_most)(&k, x, n, size);
    for (size_t j = 0; j < k.count && p->searches; j++)
        part[j] = (ulp_block_part){j * size, {1, 1, length_of(n, size, j)}, {0, 0}};
    ULP_TRY(ULP_CPU(ulp_blocks_scales)(&k, scales, x, part, p));
    ULP_TRY(ULP_CPU(ulp_blocks_elements)(to, &k, x, n, at, p));
    for (size_t j = 0; j < k.count; j++) {
        if (!k.special[j]) continue;
        ulp_block_array one = p->array;
        ulp_stream words = p->stream;
        one.n = length_of(n, size, j);
        words.first += at + j * size;
        ULP_TRY(ulp_block_encode(to + j * size, scales + j, x + j * size, one, p->rule, words));
    }
    return ULP_OK;
}

/* ---- arrays ---- */

typedef struct job {
    uint8_t *elements, *scales;
    const float *x;
    size_t n, per_row; /* elements and blocks of a row */
    block_plan plan;
} job;

/* Blocks begin .. end - 1 of all rows. */
static void encode_part(void *context, size_t begin, size_t end) {
    const job *const j = context;
    const size_t size = j->plan.size, n = j->n, most = ULP_PIECE / size;
    for (size_t block = begin; block < end;) {
        const size_t row = block / j->per_row, first = block % j->per_row, left = j->per_row - first;
        size_t count = end - block < left ? end - block : left;
        if (count > most) count = most;
        const size_t from = first * size, to = (first + count) * size < n ? (first + count) * size : n;
        const size_t at = row * n + from; /* failures were found before */
        (void)ULP_CPU(ulp_blocks_codes)(j->elements + at, j->scales + block, j->x + at, to - from, at, &j->plan);
        block += count;
    }
}

ulp_status ULP_CPU(ulp_cpu_block_encode)(uint8_t *elements, uint8_t *scales, const float *x, size_t rows,
                                         ulp_block_array array, ulp_rule rule, ulp_stream stream) {
    job j = {.elements = elements, .scales = scales, .x = x};
    if (array.n == 0) return ULP_OK;
    rows = ulp_join_rows(&array, rows);
    j.n = array.n;
    j.per_row = ulp_block_scales(array.n, array.block);
    ULP_CPU(ulp_block_plan_of)(&j.plan, array, rule, stream);
    const int by_definition = j.plan.division == BY_DEFINITION || j.plan.is_wide;
    for (size_t i = 0; i < rows && by_definition; i++) {
        ulp_stream words = stream;
        words.first += i * array.n;
        ULP_TRY(ulp_block_encode(elements + i * array.n, scales + i * j.per_row, x + i * array.n, array, rule, words));
    }
    const size_t grain = ULP_GRAIN / array.block->size;
    if (!by_definition) ulp_parallel_for(rows * j.per_row, grain > 0 ? grain : 1, encode_part, &j);
    return ULP_OK;
}

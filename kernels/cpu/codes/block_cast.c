/* block_cast.c - matrices in block-scaled formats, as values: blocks along rows and columns, and tiles.
 *
 * The bits are those of ulp_block_cast_values. Rows, and columns that are copied to rows, become codes and values, a
 * piece at a time. Tiles find the scales of their rows together. Stochastic elements are the quotients in binary64,
 * rounded to odd, and keep the order of the array, whose random words follow each other. Blocks with special numbers,
 * and formats that no loop serves, are computed by the definition. block_groups.c has groups with a correction.
 */
#include "block_plan.h"
#include "formats/block_units.h"

#include <string.h>

/* A matrix, cut into units of work: bands of `high` rows, cut into pieces of `wide` columns. */
typedef struct job {
    float *y;
    const float *x;
    size_t rows, columns, high, wide, across; /* across: the units of a band */
    const ulp_block_cast *cast;
    float tensor_scale;
    block_plan plan;
    block_reading reading;
} job;

/* A unit: `rows` rows from row i on, `columns` columns from column j on. */
typedef struct unit {
    size_t i, j, rows, columns;
} unit;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static unit unit_at(const job *w, size_t number) {
    const size_t i = number / w->across * w->high, j = number % w->across * w->wide;
    return (unit){i, j, least(w->rows - i, w->high), least(w->columns - j, w->wide)};
}

/* ---- blocks of a unit ---- */

/* The rows and the columns of a block. */
static size_t block_rows(const job *w) {
    return w->cast->tiles || w->cast->along == ULP_ALONG_COLUMNS ? w->plan.size : 1;
}
static size_t block_columns(const job *w) {
    return w->cast->tiles || w->cast->along == ULP_ALONG_ROWS ? w->plan.size : 1;
}

/* Block k of the unit; a unit has one row of blocks. */
static ulp_block_part part_of(const job *w, const unit *u, size_t k) {
    const size_t size = block_columns(w), at = k * size;
    return (ulp_block_part){u->i * w->columns + u->j + at, {1, u->rows, least(u->columns - at, size)}, {0, w->columns}};
}

static size_t count_of(const job *w, const unit *u) {
    const size_t size = block_columns(w);
    return u->columns / size + (u->columns % size != 0);
}

static void define(const job *w, const unit *u) {
    const ulp_block_matrix m =
        ulp_block_matrix_of(w->x, w->rows, w->columns, w->cast, w->tensor_scale, (ulp_block_results){.values = w->y});
    for (size_t k = 0, count = count_of(w, u); k < count; k++) {
        const ulp_block_part part = part_of(w, u, k);
        ulp_block_convert_part(&m, &part);
    }
}

/* ---- rows, and columns as rows ---- */

/* y (n) = the values of x (n), blocks that follow each other; `at` is the place of x in the array. */
static ulp_status cast_piece(float *y, const float *x, size_t n, size_t at, const block_plan *p,
                             const block_reading *r) {
    uint8_t elements[ULP_PIECE], scales[ULP_PIECE];
    ULP_TRY(ULP_CPU(ulp_blocks_codes)(elements, scales, x, n, at, p));
    ULP_CPU(ulp_blocks_values)(y, elements, scales, n, r);
    return ULP_OK;
}

/* to (columns,rows) = from (rows,columns), with rows of these lengths in memory. */
ULP_INLINE void transpose(float *restrict to, size_t to_length, const float *restrict from, size_t from_length,
                          size_t rows, size_t columns) {
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) to[j * to_length + i] = from[i * from_length + j];
}

static ulp_status cast_columns(const job *w, const unit *u) {
    float turned[ULP_PIECE];
    const size_t at = u->i * w->columns + u->j, n = u->rows * u->columns;
    transpose(turned, u->rows, w->x + at, w->columns, u->rows, u->columns);
    if (u->rows == w->plan.size) {
        ULP_TRY(cast_piece(turned, turned, n, 0, &w->plan, &w->reading));
    } else { /* the last band has short blocks */
        block_plan plan = w->plan;
        block_reading reading = w->reading;
        plan.size = reading.size = u->rows;
        if (reading.element.table == w->reading.room) reading.element.table = reading.room;
        plan.multiplies = 0;
        ULP_TRY(cast_piece(turned, turned, n, 0, &plan, &reading));
    }
    transpose(w->y + at, w->columns, turned, u->rows, u->columns, u->rows);
    return ULP_OK;
}

/* ---- tiles, and stochastic elements: scales first, then row after row ---- */

/* The words of the largest magnitudes of the blocks. */
static void find_most(blocks *k, const job *w, const unit *u) {
    const size_t size = block_columns(w);
    const float *row = w->x + u->i * w->columns + u->j;
    k->count = count_of(w, u);
    memset(k->most, 0, k->count * sizeof k->most[0]);
    for (size_t r = 0; r < u->rows; r++, row += w->columns) {
        if (size == 1) {
            for (size_t c = 0; c < u->columns; c++) {
                const uint32_t word = ulp_bits32(row[c]) & 0x7fffffffu;
                k->most[c] = (int32_t)word > (int32_t)k->most[c] ? word : k->most[c];
            }
            continue;
        }
        blocks one;
        ULP_CPU(ulp_blocks_most)(&one, row, u->columns, size);
        for (size_t j = 0; j < k->count; j++) k->most[j] = one.most[j] > k->most[j] ? one.most[j] : k->most[j];
    }
}

/* Finds the scales. 0 if one of the blocks is special. */
static int find_scales(blocks *k, uint8_t *scales, const job *w, const unit *u) {
    ulp_block_part part[ULP_PIECE];
    find_most(k, w, u);
    for (size_t j = 0; j < k->count && w->plan.searches; j++) part[j] = part_of(w, u, j);
    if (ULP_CPU(ulp_blocks_scales)(k, scales, w->x, part, &w->plan) != ULP_OK) return 0;
    uint32_t special = 0;
    for (size_t j = 0; j < k->count; j++) special |= k->special[j];
    return special == 0;
}

static ulp_status cast_tiles(const job *w, const unit *u) {
    uint8_t scales[ULP_PIECE], elements[ULP_PIECE];
    blocks k;
    if (!find_scales(&k, scales, w, u)) return define(w, u), ULP_OK;
    const size_t size = w->plan.size;
    for (size_t r = 0; r < u->rows; r++) {
        const size_t at = (u->i + r) * w->columns + u->j;
        float kept[ULP_PIECE];
        memcpy(kept, w->x + at, u->columns * sizeof *kept);
        ULP_TRY(ULP_CPU(ulp_blocks_elements)(elements, &k, kept, u->columns, at, &w->plan));
        ULP_CPU(ulp_blocks_values)(w->y + at, elements, scales, u->columns, &w->reading);
        for (size_t j = 0; j < k.count; j++) { /* a division by a power of two lost bits */
            if (!k.special[j]) continue;
            k.special[j] = 0;
            const ulp_block_part part = {j * size, {1, 1, least(u->columns - j * size, size)}, {0, 0}};
            const double scale = ulp_block_scale_value(scales[j], &w->cast->block);
            ulp_block_round_scaled(w->y + at, kept, &part, &w->cast->block, scale, w->tensor_scale, w->cast->rule);
        }
    }
    return ULP_OK;
}

/* The factor of each element of a row. */
static void spread_factors(double *f, const blocks *k, const job *w, const unit *u) {
    const size_t size = block_columns(w);
    for (size_t j = 0; j < k->count; j++) {
        const double factor = w->plan.division == BY_POWER ? 1.0 / (double)k->power[j] : k->factor[j];
        for (size_t c = j * size, end = least(u->columns, c + size); c < end; c++) f[c] = factor;
    }
}

static void multiply_row(float *restrict y, const double *restrict e, const double *restrict f, size_t n) {
    for (size_t c = 0; c < n; c++) y[c] = (float)(e[c] * f[c]);
}

static ulp_status cast_quotients(const job *w, const unit *u) {
    uint8_t scales[ULP_PIECE];
    double f[ULP_PIECE], q[ULP_PIECE];
    blocks k;
    if (!find_scales(&k, scales, w, u)) return define(w, u), ULP_OK;
    spread_factors(f, &k, w, u);
    for (size_t r = 0; r < u->rows; r++) {
        const size_t at = (u->i + r) * w->columns + u->j;
        ulp_rounding how = {&w->cast->block.element, w->cast->rule, w->cast->stream, NULL};
        how.rule.overflow = how.format->is_fixed ? ULP_OVERFLOW_SYM : ULP_OVERFLOW_SAT;
        how.stream.first += at;
        ulp_blocks_divide(q, w->x + at, f, u->columns);
        ULP_TRY(ULP_CPU(ulp_cpu_round64)(q, q, u->columns, how));
        multiply_row(w->y + at, q, f, u->columns);
    }
    return ULP_OK;
}

/* ---- matrices ---- */

static void cast_units(void *context, size_t begin, size_t end) {
    const job *const w = context;
    const int stochastic = ulp_mode_is_stochastic(w->cast->rule.mode);
    for (size_t number = begin; number < end; number++) {
        const unit u = unit_at(w, number);
        const size_t at = u.i * w->columns + u.j;
        ulp_status status = ULP_OK; /* formats and rules were checked: nothing fails */
        if (w->plan.division == BY_DEFINITION) define(w, &u);
        else if (stochastic) status = cast_quotients(w, &u);
        else if (w->cast->tiles) status = cast_tiles(w, &u);
        else if (w->cast->along == ULP_ALONG_COLUMNS) status = cast_columns(w, &u);
        else status = cast_piece(w->y + at, w->x + at, u.columns, at, &w->plan, &w->reading);
        if (status != ULP_OK) define(w, &u);
    }
}

/* Bands are as high as a block, and pieces as wide as buffers allow. */
static void cut(job *w) {
    const size_t size = w->cast->block.size, across = block_columns(w);
    w->high = block_rows(w);
    if (size > ULP_PIECE) w->wide = across;
    else if (w->cast->along == ULP_ALONG_COLUMNS && !w->cast->tiles) w->wide = ULP_PIECE / size;
    else w->wide = ULP_PIECE / size * size;
    w->across = w->columns / w->wide + (w->columns % w->wide != 0);
}

ulp_status ULP_CPU(ulp_cpu_block_cast)(float *y, const float *x, size_t rows, size_t columns,
                                       const ulp_block_cast *cast) {
    const size_t n = rows * columns, size = cast->block.size;
    job w = {.y = y, .x = x, .rows = rows, .columns = columns, .cast = cast};
    float amax = 0.0f;
    if (n == 0) return ULP_OK;
    if (cast->eden > 0) return ULP_CPU(ulp_block_groups)(y, x, rows, columns, cast);
    if (cast->has_tensor_scale) ULP_TRY(ULP_CPU(ulp_cpu_largest)(&amax, x, n, 1));
    w.tensor_scale = ulp_block_cast_tensor_scale(cast, amax);
    ULP_CPU(ulp_block_plan_of)(&w.plan, (ulp_block_array){&cast->block, n, w.tensor_scale}, cast->rule, cast->stream);
    ULP_TRY(ULP_CPU(ulp_block_reading_begin)(&w.reading, &cast->block, w.tensor_scale));
    if (!cast->tiles && cast->along == ULP_ALONG_ROWS && columns % size == 0) w.rows = 1, w.columns = n;
    cut(&w);
    const size_t units = (w.rows / w.high + (w.rows % w.high != 0)) * w.across, each = w.high * w.wide;
    ulp_parallel_for(units, each < ULP_GRAIN ? ULP_GRAIN / each : 1, cast_units, &w);
    ULP_CPU(ulp_block_reading_end)(&w.reading);
    return ULP_OK;
}

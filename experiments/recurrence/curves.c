/* curves.c - reads the runs among the rows as curves; see curves.h. */
#include "curves.h"

#include <math.h>
#include <string.h>

#include "kernels/functions/elementary.h"

static int is_like(const row *r, const row *like, unsigned same) {
    return r->part == like->part && (!(same & CELL) || r->cell == like->cell) &&
           (!(same & GAIN) || r->gain == like->gain) && (!(same & SEED) || r->seed == like->seed) &&
           (!(same & SUMS) || r->sums == like->sums) && (!(same & SCALE) || r->scale_log2 == like->scale_log2) &&
           (!(same & ARITHMETIC) || strcmp(r->arithmetic, like->arithmetic) == 0) &&
           (!(same & MODE) || strcmp(r->mode, like->mode) == 0);
}

const row *next_run(const ulp_claims *c, size_t *i, const row *like, unsigned same) {
    const row *rows = c->table->rows;
    const int64_t first = like->part == RANDOM_BACK || like->part == TRAINED_BACK ? 0 : 1;
    for (; *i < c->table->count; ++*i)
        if (rows[*i].step == first && is_like(&rows[*i], like, same)) return &rows[*i];
    return NULL;
}

void read_curve(curve *to, const ulp_claims *c, const row *like, unsigned same, size_t at) {
    to->n = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (!is_like(r, like, same) || to->n > ULP_STEPS_MAX) continue;
        to->step[to->n] = (double)r->step;
        memcpy(&to->value[to->n++], (const char *)r + at, sizeof(double));
    }
}

double slope(const curve *c, double from, double to) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < c->n; i++) {
        if (c->step[i] < from || c->step[i] > to || !(c->value[i] > 0)) continue;
        double log_value = ulp_log(c->value[i]);
        n += 1;
        x += c->step[i];
        y += log_value;
        xx += c->step[i] * c->step[i];
        xy += c->step[i] * log_value;
    }
    return n < 5 ? (double)NAN : (n * xy - x * y) / (n * xx - x * x);
}

double reaches(const curve *c, double level) {
    for (int i = 0; i < c->n; i++) {
        if (!(c->value[i] >= level)) continue;
        if (i == 0) return NAN;
        if (!(c->value[i - 1] > 0)) return c->step[i];
        double before = ulp_log(c->value[i - 1]), after = ulp_log(c->value[i]);
        return c->step[i - 1] + (c->step[i] - c->step[i - 1]) * (ulp_log(level) - before) / (after - before);
    }
    return NAN;
}

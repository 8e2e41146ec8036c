/* curves.c - runs among the rows, as curves; see curves.h. */
#include "curves.h"

#include <math.h>
#include <string.h>

#include "kernels/functions/elementary.h"

int is_named(const ulp_run *run, long row, const name *k) {
    const char *const column[] = {"part", "cell", "gain", "seed", "arithmetic", "mode", "sums", "scale_log2"};
    const char *const want[] = {k->part, k->cell, k->gain, k->seed, k->arithmetic, k->mode, k->sums, k->scale};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (want[i] && !ulp_row_is(run, row, column[i], want[i])) return 0;
    return 1;
}

long next_run(const ulp_run *run, long row, const name *k) {
    for (; row < ulp_row_count(run); row++)
        if (is_named(run, row, k) &&
            ulp_row_is(run, row, "step", strstr(ulp_row_text(run, row, "part"), "back") ? "0" : "1"))
            return row;
    return ULP_NO_ROW;
}

name name_of(const ulp_run *run, long row) {
    return (name){ulp_row_text(run, row, "part"), ulp_row_text(run, row, "cell"),       ulp_row_text(run, row, "gain"),
                  ulp_row_text(run, row, "seed"), ulp_row_text(run, row, "arithmetic"), ulp_row_text(run, row, "mode"),
                  ulp_row_text(run, row, "sums"), ulp_row_text(run, row, "scale_log2")};
}

void read_curve(curve *c, const ulp_run *run, const name *k, const char *column) {
    c->n = 0;
    for (long row = 0; row < ulp_row_count(run); row++) {
        if (!is_named(run, row, k) || c->n > ULP_STEPS_MAX) continue;
        c->step[c->n] = ulp_row_number(run, row, "step");
        c->value[c->n++] = ulp_row_number(run, row, column);
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

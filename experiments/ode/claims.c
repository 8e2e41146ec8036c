/* claims.c - the table of ode, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/functions/elementary.h"
#include "ode.h"

static int matches(const void *row_, const void *point_, const void *key_) {
    const point *p = point_, *key = key_;
    (void)row_;
    return p->kind == key->kind && p->format == key->format && p->rule == key->rule && p->n == key->n;
}

/* The first row of a point; NULL if there is no such row. */
static const row *find(const ulp_claims *c, point key) { return ulp_table_find(c->table, &(size_t){0}, matches, &key); }

static const ulp_named_rule *rule(const ulp_claims *c, const char *name) {
    return ulp_rules_find(&((const settings *)c->settings)->modes, name);
}

/* The exact solution of y' = -y at t = 1. */
static double solution(void) { return ODE_START * ulp_exp(-1); }

/* The published case: of all n = 10^(k/3), 46 has the least error, 2.0e-5. */
static void claim_best(ulp_claims *c) {
    const settings *s = c->settings;
    const char *text = "bfloat16 rne: of n = 10, 22, 46, 100, ..., 46 is best, y exactly 189 2^-15, its error 2.0e-5";
    point key = {DECAY, ulp_formats_find(&s->formats, "bfloat16"), rule(c, "rne"), 46};
    const row *r = find(c, key);
    int best = 1;
    if (!r) {
        ulp_claim_skip(c, text, "needs --formats bfloat16 --modes rne");
        return;
    }
    for (int k = 3; k <= ode_thirds(s); k++) {
        key.n = ode_steps(k);
        const row *other = find(c, key);
        best &= other && (other == r || other->most > r->most);
    }
    ulp_claim(c, best && r->u == 189 * 0x1p-15 && fabs(r->most - 2.0e-5) <= 0.05e-5, text, "y %.10g, error %.4g", r->u,
              r->most);
}

/* To nearest, y stays at y0 from n = 2^(p+1) - 1 on, in the rows of decay and of the scan. */
static void claim_stuck(ulp_claims *c, const ulp_format *format) {
    const int64_t from = ((int64_t)2 << format->prec) - 1;
    long rows = 0, moved = 0;
    double error = 0;
    for (size_t i = 0; i < c->table->count; i++) {
        const point *p = c->table->points[i];
        const row *r = (const row *)c->table->rows + i;
        if (p->format != format || p->rule->rule.mode != ULP_RNE || (p->kind != DECAY && p->kind != SCAN)) continue;
        if (r->n < from) continue;
        rows++;
        moved += r->u != ODE_START;
        error = r->u - solution();
    }
    const char *text = ulp_claim_text(c, "%s rne: from n = %lld on y stays exactly at y0, with an error of 9.877e-3",
                                      format->name, (long long)from);
    if (rows == 0) {
        ulp_claim_skip(c, text, "no rows of so many steps");
        return;
    }
    ulp_summary(c, "rows that move", (double)moved, "decay %s rne", format->name);
    ulp_claim(c, moved == 0 && fabs(error - 9.877e-3) <= 0.0005e-3, text, "%ld row%s, %ld moved, error %.7g", rows,
              ulp_plural((size_t)rows), moved, error);
}

/* Results of the scan of a format. last: the last n for which y moves; count: the number of n for which y ends at the
 * number nearest to the solution; first: the first of these n. */
typedef struct scan {
    const char *format;
    int64_t last, count, first;
} scan;

static scan scan_of(const ulp_claims *c, const ulp_format *format) {
    const double nearest = ulp_round(solution(), format, (ulp_rule){0}, 0);
    scan got = {.format = format->name};
    for (size_t i = 0; i < c->table->count; i++) {
        const point *p = c->table->points[i];
        const row *r = (const row *)c->table->rows + i;
        if (p->kind != SCAN || p->format != format) continue;
        if (r->u != ODE_START) got.last = r->n;
        if (r->u == nearest && got.count++ == 0) got.first = r->n;
    }
    return got;
}

static void claim_scan(ulp_claims *c, scan wanted) {
    const ulp_format *format = ulp_formats_find(&((const settings *)c->settings)->formats, wanted.format);
    if (!format) return;
    const scan got = scan_of(c, format);
    const char *text = ulp_claim_text(
        c,
        "%s rne, every n from 10: exactly %lld end at the number nearest to the solution, first n = %lld; the last "
        "that moves is %lld",
        wanted.format, (long long)wanted.count, (long long)wanted.first, (long long)wanted.last);
    ulp_claim(c, got.last == wanted.last && got.count == wanted.count && got.first == wanted.first, text,
              "%lld, the first %lld, the last that moves %lld", (long long)got.count, (long long)got.first,
              (long long)got.last);
}

/* The distances of the runs and of their mean from Euler's exact polygon, in units of the bound of the standard
 * deviation. */
static void claim_decay(ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    const int prec = (int)format->prec;
    const double sd = sqrt(ldexp(1, 1 - prec)), runs = (double)s->runs;
    double run_most = 0, mean_most = 0, better = INFINITY;
    for (int k = 3; k <= ode_thirds(s); k++) {
        const row *r = find(c, (point){DECAY, format, rule(c, "sra"), ode_steps(k)}),
                  *nearest = find(c, (point){DECAY, format, rule(c, "rne"), ode_steps(k)});
        if (!r) return;
        const double unit = (solution() + r->polygon) * sd;
        run_most = fmax(run_most, r->off / unit);
        mean_most = fmax(mean_most, fabs(r->mean - r->polygon) / unit * sqrt(runs));
        if (nearest && r->n > (int64_t)2 << prec) better = fmin(better, nearest->rms / r->rms);
    }
    const char *text = ulp_claim_text(
        c, "%s sra: no run ends farther from Euler's polygon than 5 2^((1-p)/2) of y, for any n", format->name);
    ulp_claim(c, run_most <= 5, text, "%.2f times 2^((1-p)/2) at most", run_most);
    text = ulp_claim_text(c, "%s sra: the mean of the runs follows the polygon, within 4 such deviations / sqrt(runs)",
                          format->name);
    ulp_claim(c, mean_most <= 4, text, "%.2f at most", mean_most);
    text = ulp_claim_text(c, "%s: where steps to nearest vanish, stochastic errors are less than a tenth (rms)",
                          format->name);
    if (isinf(better)) ulp_claim_skip(c, text, "no n above %lld with both modes", (long long)2 << prec);
    else ulp_claim(c, better > 10, text, "%.1f times less at least", better);
}

/* To nearest, u does not move on the circle from a certain number of steps on. */
static void claim_circle_stuck(ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    const int prec = (int)format->prec;
    const double still = 6.2831853 * ldexp(1, prec + 1) * (1 + ldexp(1, -prec));
    double far = INFINITY;
    long stuck = 0, moved = 0;
    for (int k = 3; k <= ode_thirds(s); k++) {
        const row *r = find(c, (point){CIRCLE, format, rule(c, "rne"), ode_steps(k)});
        if (!r || (double)r->n < still) continue;
        stuck++;
        moved += r->u != 1;
        far = fmin(far, r->most);
    }
    const char *text =
        ulp_claim_text(c, "%s rne, circle: from n = %.0f on u stays exactly 1, across from the solution halfway",
                       format->name, ceil(still));
    if (stuck > 0) ulp_summary(c, "rows that move", (double)moved, "circle %s rne", format->name);
    if (stuck > 0)
        ulp_claim(c, moved == 0 && far >= 1.99, text, "%ld row%s, %ld moved, %.4f apart at least", stuck,
                  ulp_plural((size_t)stuck), moved, far);
    else if (find(c, (point){CIRCLE, format, rule(c, "rne"), 10}))
        ulp_claim_skip(c, text, "--longest is %lld", (long long)s->longest);
}

/* Stochastic paths stay near the circle. */
static void claim_circle_near(ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    const int prec = (int)format->prec;
    const double sd = sqrt(ldexp(1, 3 - prec));
    double near = 0;
    long rows = 0;
    for (int k = 3; k <= ode_thirds(s); k++) {
        const row *r = find(c, (point){CIRCLE, format, rule(c, "sra"), ode_steps(k)});
        if (!r || r->n < 1000) continue;
        near = fmax(near, r->most / (r->polygon + ldexp(6.2831853, -prec) + 4 * sd));
        rows++;
    }
    const char *text = ulp_claim_text(
        c, "%s sra, circle, n >= 1000: no run strays by over 4 2^((3-p)/2) = %.2g, Euler's own and h's error added",
        format->name, 4 * sd);
    if (rows > 0)
        ulp_claim(c, near <= 1, text, "%ld row%s, the farthest at %.0f %% of that", rows, ulp_plural((size_t)rows),
                  100 * near);
}

static void print_row(ulp_sheet *sheet, const row *r, const row *circle) {
    ulp_sheet_put_row(sheet, "%s,%s,%lld,%.8g,%.3e,%.2e,%.3f,%.4f", r->format, r->mode, (long long)r->n, r->u, r->rms,
                      r->mean, circle->rms, circle->radius);
}

static void print_table(const ulp_claims *c) {
    const settings *s = c->settings;
    ulp_sheet *sheet = ulp_sheet_new("y' = -y: rms error and mean error; circle: rms of the farthest distance",
                                     "format,mode,n,first y,rms,mean,circle,radius - 1");
    for (size_t f = 0; f < s->formats.count; f++)
        for (size_t m = 0; m < s->modes.count; m++)
            for (int k = 3; k <= ode_thirds(s); k++) {
                const row *r = find(c, (point){DECAY, &s->formats.at[f], &s->modes.at[m], ode_steps(k)}),
                          *circle = find(c, (point){CIRCLE, &s->formats.at[f], &s->modes.at[m], ode_steps(k)});
                if (r && circle) print_row(sheet, r, circle);
            }
    ulp_sheet_print(sheet, c->file);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    ulp_summary(c, "error times n", solution() / 2, "decay exact"); /* the leading term for large n */
    claim_best(c);
    claim_scan(c, (scan){"bfloat16", .last = 510, .count = 6, .first = 40});
    claim_scan(c, (scan){"binary16", .last = 4062, .count = 11, .first = 164});
    for (size_t f = 0; f < s->formats.count; f++) {
        const ulp_format *format = &s->formats.at[f];
        const int published = strcmp(format->name, "binary16") == 0 || strcmp(format->name, "bfloat16") == 0;
        if (!published) continue; /* other formats: figures without claims */
        claim_stuck(c, format);
        claim_decay(c, format);
        claim_circle_stuck(c, format);
        claim_circle_near(c, format);
    }
}

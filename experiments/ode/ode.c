/* ode.c - Euler's method with more and more steps: small steps vanish to nearest, but not with stochastic rounding.
 *
 * The experiment follows Croci et al. 2022 (doi:10.1098/rsos.211631), sections 8.3 and 8.4. Each operation is rounded,
 * first the product and then the sum:
 *
 *  - decay: y' = -y on [0,1], y(0) = y0 = 2^-6:  y <- y - (h y), h = 1 / n
 *  - circle: u' = v, v' = -u for one revolution from u = 1, v = 0:  u <- u + (h v), v <- v - (h u) with the old u,
 *    h = 2 pi / n
 *
 * h is rounded to nearest once. n takes the values 10, 22, 46, 100, ..., which are 10^(k/3) rounded. Rows `scan` are
 * decay to nearest for every n from 10 until y does not move any more. They do not depend on --modes.
 *
 * Decay to nearest: the numbers just below y0 are 2^(-6-p) apart. If h is at most 2^(-p-1), y0 - h y0 therefore rounds
 * back to y0, whose significand is even. 1 / n rounds to 2^(-p-1) from n = 2^(p+1) - 1 on. From this n on y never
 * moves, and its error is y0 (1 - 1/e). In bfloat16 y still moves with one step less, n = 510. In binary16 y moves up
 * to n = 4062, because there the products h y are subnormal and lose bits. With fewer steps y moves at first, and may
 * stop before t = 1, as soon as h y falls to half a spacing.
 *
 * Stochastic decay: the mean is Euler's polygon y0 (1 - h)^n of exact arithmetic, but for the 2^-32 spacings that 32
 * random bits neglect. The error of the polygon falls like 1 / n. One run differs from the mean by its rounding errors.
 * The variance of a step is at most s h y, where the spacing s is at most 2^(1-p) y. Each later step multiplies the
 * error by 1 - h. All variances therefore add up to about 2^(1-p) y^2 at the end, which is a standard deviation of
 * 2^((1-p)/2) of y for every n. With more steps the mean keeps improving, and the error of a single run levels off.
 *
 * Stochastic circle: the variance of a step is 2^(1-p) |u h v| in both coordinates. The standard deviation after one
 * revolution is 2^((3-p)/2) in all.
 *
 * Circle to nearest: from n = 2 pi 2^(p+1) on, |v| stops at 1/2 or earlier, because h is half the spacing of the
 * numbers at 1/2. h v is then too small to move u from 1.
 *
 * The error of the circle is the largest distance to (cos t, -sin t) at 256 equally spaced times, or at every step if
 * n <= 256. The distance at the end alone is not enough: a path that stays at its start ends at the exact solution.
 *
 * The claims are in ode/claims.c.
 */
#include "ode.h"
#include "kernels/functions/elementary.h"
#include "sim/normal.h"

#include <math.h>

static const ulp_named_rule nearest = {"rne", {0}};

static int takes_format(const ulp_format *f) {
    return f->is_signed && !f->is_fixed && f->prec >= 2 && f->prec <= 24 && f->min_positive <= 0x1p-9;
}

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "binary16,bfloat16", NULL, takes_format,
                          "has to be signed floating point with 2 to 24 significant bits and numbers down to 2^-9"),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sra", NULL),
    ULP_OPTION(settings, longest, integer, "5", .quick = "4", .full = "6",
               .help = "log10 of the largest number of steps", .min = 2, .max = 7),
    ULP_OPTION(settings, paths, integers, "100,1000,10000", .help = "steps of the revolutions whose path is written",
               .min = 10, .max = 1e6),
    ULP_OPTION(settings, runs, integer, "32", .full = "100", .help = "runs of every stochastic mode", .min = 2,
               .max = 1e4),
    ULP_OPTION_SEED(settings, seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, kind, KIND_WORDS),
    ULP_COLUMNS(row, format, mode, n, step, u, v),
    ULP_COLUMNS(row, code, mean, rms, most, polygon, off, radius),
    {0},
};

enum { SAMPLES = 256, SCAN_MAX = 5000 };

static void add_point(ulp_plan *plan, point p, double cost) {
    const ulp_word kind = ulp_word_of(KIND_WORDS, (size_t)p.kind);
    ulp_plan_add(plan, &p, cost, "%s %s %s n %lld", kind.text, p.format->name, p.rule->name, (long long)p.n);
}

static void plan_mode(ulp_plan *plan, const settings *s, const ulp_format *format, const ulp_named_rule *rule) {
    const double cost = ulp_mode_is_stochastic(rule->rule.mode) ? (double)s->runs : 1;
    for (int k = 3; k <= ode_thirds(s); k++) {
        const int64_t n = ode_steps(k);
        add_point(plan, (point){DECAY, format, rule, n}, cost * (double)n);
        add_point(plan, (point){CIRCLE, format, rule, n}, 2 * cost * (double)n);
    }
    for (size_t i = 0; i < s->paths.count; i++)
        add_point(plan, (point){PATH, format, rule, s->paths.at[i]}, (double)s->paths.at[i]);
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    for (size_t f = 0; f < s->formats.count; f++) {
        const ulp_format *format = &s->formats.at[f];
        ulp_plan_add(plan, &(point){SCAN, format, &nearest, 0}, 1e6, "scan %s", format->name);
        for (size_t m = 0; m < s->modes.count; m++) plan_mode(plan, s, format, &s->modes.at[m]);
    }
    return ULP_OK;
}

/* ---- the two problems ---- */

/* The arithmetic of a run, with its step size and its next random word. */
typedef struct machine {
    const ulp_format *format;
    ulp_rule rule;
    int stochastic;
    ulp_stream words;
    double h;
} machine;

/* The arithmetic of run `number` of a point. */
static machine machine_of(const settings *s, const point *p, int64_t number) {
    const int decays = p->kind == DECAY || p->kind == SCAN;
    machine m = {.format = p->format, .rule = p->rule->rule, .stochastic = ulp_mode_is_stochastic(p->rule->rule.mode)};
    m.words = ulp_stream_named(s->seed, "ode %s %s %s n %lld run %lld", decays ? "decay" : "circle", p->format->name,
                               p->rule->name, (long long)p->n, (long long)number);
    m.h = ulp_round((decays ? 1 : 0x1.921fb54442d18p+2 /* 2 pi */) / (double)p->n, p->format, (ulp_rule){0}, 0);
    return m;
}

static int64_t runs_of(const settings *s, const point *p) {
    return ulp_mode_is_stochastic(p->rule->rule.mode) ? s->runs : 1;
}

static double operate(machine *m, ulp_op op, double a, double b) {
    const uint32_t word = m->stochastic ? ulp_random_word(m->words, 0) : 0;
    m->words.first++;
    return ulp_arith((ulp_scalar_op){op, a, b, 0}, m->format, m->rule, word);
}

static double decay(machine *m, int64_t n) {
    double y = ODE_START;
    for (int64_t i = 0; i < n; i++) y = operate(m, ULP_SUB, y, operate(m, ULP_MUL, m->h, y));
    return y;
}

static void turn(machine *m, double *u, double *v) {
    const double du = operate(m, ULP_MUL, m->h, *v), dv = operate(m, ULP_MUL, m->h, *u);
    *u = operate(m, ULP_ADD, *u, du);
    *v = operate(m, ULP_SUB, *v, dv);
}

/* Distance of (u, v) to the exact solution after a share of the revolution, 0 <= share <= 1. */
static double distance(double u, double v, double share) {
    const double later = share + 0.25; /* -sin t = cos(t + pi / 2) */
    const double x = u - ulp_cos_turn(share < 1 ? share : 0), y = v - ulp_cos_turn(later < 1 ? later : later - 1);
    return sqrt(x * x + y * y);
}

/* Whether step i of n steps is one of the samples of the path. */
static int is_sample(int64_t i, int64_t n) { return n <= SAMPLES || i * SAMPLES / n != (i - 1) * SAMPLES / n; }

/* Computes one revolution and its end (u, v). Returns the largest distance to the exact solution. */
static double revolve(machine *m, int64_t n, double *u, double *v) {
    double most = 0;
    *u = 1;
    *v = 0;
    for (int64_t i = 1; i <= n; i++) {
        turn(m, u, v);
        if (is_sample(i, n)) most = fmax(most, distance(*u, *v, (double)i / (double)n));
    }
    return most;
}

/* ---- rows ---- */

static row row_of(const ulp_task *task, const point *p) {
    row r;
    ulp_row_clear(task->rows, &r);
    r.kind = p->kind;
    r.format = p->format->name;
    r.mode = p->rule->name;
    r.n = p->n;
    return r;
}

static void put_scan(const ulp_task *task) {
    point p = *(const point *)task->point;
    const double exact = ODE_START * ulp_exp(-1);
    const int64_t last = ((int64_t)2 << p.format->prec) + 8;
    for (p.n = 10; p.n <= last && p.n <= SCAN_MAX; p.n++) {
        machine m = machine_of(task->settings, &p, 0);
        row r = row_of(task, &p);
        r.u = decay(&m, p.n);
        r.code = (ulp_code){p.format, r.u};
        r.mean = r.u - exact;
        ulp_row_put(task->rows, &r);
        if (p.n % 100 == 0 && ulp_task_progress(task, (double)(p.n * p.n) / (double)(last * last))) break;
    }
}

/* y0 (1 - h)^n in binary64, with a relative error of n 2^-52. */
static double polygon(double h, int64_t n) {
    double y = ODE_START;
    for (int64_t i = 0; i < n; i++) y -= h * y;
    return y;
}

static void put_decay(const ulp_task *task) {
    const point *p = task->point;
    const int64_t runs = runs_of(task->settings, p);
    const double exact = ODE_START * ulp_exp(-1), euler = polygon(machine_of(task->settings, p, 1).h, p->n);
    double total = 0, squares = 0;
    row r = row_of(task, p);
    r.most = r.off = 0;
    for (int64_t i = 1; i <= runs; i++) {
        machine m = machine_of(task->settings, p, i);
        const double y = decay(&m, p->n), error = y - exact;
        if (i == 1) r.u = y;
        total += error;
        squares += error * error;
        r.most = fmax(r.most, fabs(error));
        r.off = fmax(r.off, fabs(y - euler));
        if (ulp_task_progress(task, (double)i / (double)runs)) return;
    }
    r.code = (ulp_code){p->format, r.u};
    r.mean = total / (double)runs;
    r.rms = sqrt(squares / (double)runs);
    r.polygon = euler - exact;
    ulp_row_put(task->rows, &r);
}

static void put_circle(const ulp_task *task) {
    const point *p = task->point;
    const int64_t runs = runs_of(task->settings, p);
    const double h = machine_of(task->settings, p, 1).h;
    double squares = 0, radii = 0,
           growth = 1; /* a step of Euler's exact polygon multiplies the radius by sqrt(1 + h^2) */
    row r = row_of(task, p);
    r.most = 0;
    for (int64_t i = 0; i < p->n; i++) growth *= sqrt(1 + h * h);
    for (int64_t i = 1; i <= runs; i++) {
        machine m = machine_of(task->settings, p, i);
        double u, v;
        const double error = revolve(&m, p->n, &u, &v), radius = sqrt(u * u + v * v) - 1;
        if (i == 1) r.u = u, r.v = v;
        squares += error * error;
        r.most = fmax(r.most, error);
        radii += radius * radius;
        if (ulp_task_progress(task, (double)i / (double)runs)) return;
    }
    r.rms = sqrt(squares / (double)runs);
    r.polygon = growth - 1;
    r.radius = sqrt(radii / (double)runs);
    ulp_row_put(task->rows, &r);
}

static void put_path(const ulp_task *task) {
    const point *p = task->point;
    machine m = machine_of(task->settings, p, 1);
    row r = row_of(task, p);
    r.u = 1;
    r.v = 0;
    for (r.step = 0; r.step <= p->n; r.step++) {
        if (r.step > 0) turn(&m, &r.u, &r.v);
        if (r.step == 0 || is_sample(r.step, p->n)) ulp_row_put(task->rows, &r);
    }
}

static ulp_status compute(const ulp_task *task) {
    switch (((const point *)task->point)->kind) {
    case SCAN: put_scan(task); break;
    case DECAY: put_decay(task); break;
    case CIRCLE: put_circle(task); break;
    default: put_path(task); break;
    }
    return ULP_OK;
}

const ulp_experiment experiment = {
    .name = "ode",
    .question = "how small may the steps of Euler's method be before rounding undoes them, to nearest and stochastic?",
    ULP_EXPERIMENT_OF(settings, point, row),
};

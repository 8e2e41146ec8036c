/* ode.c - Euler's method with more and more steps: to nearest, small steps vanish; stochastic ones still count.
 *
 * After Croci et al. 2022 (doi:10.1098/rsos.211631), sections 8.3 and 8.4. Each operation is rounded, the product first
 * and then the sum:
 *   decay    y' = -y on [0,1], y(0) = y0 = 2^-6:  y <- y - (h y), h = 1 / n;
 *   circle   u' = v, v' = -u for one revolution from u = 1, v = 0:  u <- u + (h v), v <- v - (h u) with the old u,
 *            h = 2 pi / n;
 * h is rounded to nearest once. n goes through 10, 22, 46, 100, ..., that is 10^(k/3); rows `scan` are decay to nearest
 * for every n up to where it does not move any more, whatever --modes says.
 * Exact: the numbers just below y0 are 2^(-6-p) apart, so y0 - h y0 goes back to y0, whose significand is even, if h is
 * at most 2^(-p-1). 1 / n rounds to that from n = 2^(p+1) - 1 on: then nothing ever moves, and the error is
 * y0 (1 - 1/e). In bfloat16 y moves with n one less, 510; in binary16, whose products h y are subnormal there and lose
 * bits, up to n = 4062. With less, decay may stop on the way, as soon as h y is half a spacing.
 * Stochastic: the mean is Euler's polygon y0 (1 - h)^n of exact arithmetic (but for the 2^-32 spacings that 32 random
 * bits leave out), whose error falls like 1 / n. One run is off by the rounding errors: a step's variance is at most
 * s h y, the spacing s at most 2^(1-p) y, and later steps shrink it by 1 - h each, so that all add up to about
 * 2^(1-p) y^2 at the end: a standard deviation of 2^((1-p)/2) of y, whatever n is. So with more steps the mean keeps
 * improving, and a single run levels off there. Likewise for the circle, where steps have variances of 2^(1-p) |u h v|
 * in both coordinates: a standard deviation of 2^((3-p)/2) after one revolution, in all. To nearest, from
 * n = 2 pi 2^(p+1) on, v stops at 1/2 or before, where half a spacing is h, and h v is too little to move u from 1.
 * The circle's error is the largest distance to (cos t, -sin t) at 256 equal times, or at every step: a path that stays
 * where it began would be right in the end.
 * The claims are in ode/claims.c.
 */
#include "ode.h"
#include "kernels/functions/elementary.h"
#include "sim/normal.h"

#include <math.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("binary16,bfloat16", NULL),
    ULP_TAKES_MODES("rne,sra", NULL),
    {"longest", ULP_OPTION_INTEGER, "5", "4", "6", "log10 of the largest number of steps", 2, 7, NULL, 0},
    {"paths", ULP_OPTION_INTEGERS, "100,1000,10000", NULL, NULL, "steps of the revolutions whose path is written", 10,
     1e6, NULL, 0},
    {"runs", ULP_OPTION_INTEGER, "32", NULL, "100", "runs of every stochastic mode", 2, 1e4, NULL, 0},
    ULP_TAKES_SEED,
    {0},
};

const char *const ode_kinds[KIND_COUNT] = {"decay", "scan", "circle", "path"};
enum { AT_KIND, AT_FORMAT, AT_MODE, AT_STEPS, SAMPLES = 256, SCAN_MAX = 5000 };

int64_t ode_steps(int k) {
    static const int64_t mantissas[] = {10000000, 21544347, 46415888};
    int64_t scale = 1;
    for (int i = k / 3; i < 7; i++) scale *= 10;
    return (mantissas[k % 3] + scale / 2) / scale;
}

int ode_thirds(const ulp_run *run) { return 3 * (int)ulp_option_integer(run, "longest"); }

static void add_point(ulp_run *run, int kind, size_t f, size_t m, int64_t n, double cost) {
    size_t count;
    const ulp_format *format = ulp_run_formats(run, &count);
    const ulp_named_rule *mode = ulp_run_modes(run, &count);
    ulp_point point = {.at = {kind, (int64_t)f, (int64_t)m, n}, .cost = cost};
    if (kind == SCAN) ulp_point_add(run, point, "scan %s", format[f].name);
    else ulp_point_add(run, point, "%s %s %s n %lld", ode_kinds[kind], format[f].name, mode[m].name, (long long)n);
}

static int takes_format(const ulp_format *f) {
    return f->is_signed && !f->is_fixed && f->prec >= 2 && f->prec <= 24 && f->min_positive <= 0x1p-9;
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, modes, paths;
    ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const double *path = ulp_option_numbers(run, "paths", &paths), runs = (double)ulp_option_integer(run, "runs");
    (void)context;
    for (size_t f = 0; f < formats; f++) {
        add_point(run, SCAN, f, 0, 0, 1e6);
        for (size_t m = 0; m < modes; m++) {
            const double cost = ulp_mode_is_stochastic(mode[m].rule.mode) ? runs : 1;
            for (int k = 3; k <= ode_thirds(run); k++)
                for (int kind = DECAY; kind <= CIRCLE; kind += CIRCLE - DECAY)
                    add_point(run, kind, f, m, ode_steps(k), cost * (double)ode_steps(k) * (kind == DECAY ? 1 : 2));
            for (size_t i = 0; i < paths; i++) add_point(run, PATH, f, m, (int64_t)path[i], path[i]);
        }
    }
    return ULP_OK;
}

/* ---- the two problems ---- */

/* A run under way: the arithmetic, and the next random word. */
typedef struct machine {
    const ulp_format *format;
    ulp_rule rule;
    int stochastic;
    ulp_stream words;
    double h;
} machine;

static machine machine_new(const ulp_run *run, const ulp_format *format, const ulp_named_rule *mode, int kind,
                           int64_t n, int64_t number) {
    machine m = {.format = format, .rule = mode->rule, .stochastic = ulp_mode_is_stochastic(mode->rule.mode)};
    m.words = ulp_stream_named(ulp_run_seed(run), "ode %s %s %s n %lld run %lld", kind == DECAY ? "decay" : "circle",
                               format->name, mode->name, (long long)n, (long long)number);
    m.h = ulp_round((kind == DECAY ? 1 : 0x1.921fb54442d18p+2 /* 2 pi */) / (double)n, format, (ulp_rule){0}, 0);
    return m;
}

static double operate(machine *m, ulp_op op, double a, double b) {
    const uint32_t word = m->stochastic ? ulp_random_word(m->words, 0) : 0;
    m->words.first++;
    return ulp_arith(op, a, b, 0, m->format, m->rule, word);
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

/* Distance of (u, v) to where the exact solution is after a share of the revolution, 0 <= share <= 1. */
static double distance(double u, double v, double share) {
    const double later = share + 0.25; /* -sin t = cos(t + pi / 2) */
    const double x = u - ulp_cos_turn(share < 1 ? share : 0), y = v - ulp_cos_turn(later < 1 ? later : later - 1);
    return sqrt(x * x + y * y);
}

/* Whether a path of n steps is looked at after step i. */
static int is_sample(int64_t i, int64_t n) { return n <= SAMPLES || i * SAMPLES / n != (i - 1) * SAMPLES / n; }

/* One revolution; returns the largest distance to the exact solution. */
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

static void put_key(ulp_rows *rows, int kind, const ulp_format *format, const char *mode, int64_t n) {
    ulp_put_text(rows, ode_kinds[kind]);
    ulp_put_text(rows, format->name);
    ulp_put_text(rows, mode);
    ulp_put_integer(rows, n);
}

static void put_scan(const ulp_run *run, ulp_rows *rows, const ulp_format *format) {
    const ulp_named_rule nearest = {"rne", {0}};
    const double exact = ODE_START * ulp_exp(-1);
    const int64_t last = ((int64_t)2 << format->prec) + 8;
    for (int64_t n = 10; n <= last && n <= SCAN_MAX; n++) {
        machine m = machine_new(run, format, &nearest, DECAY, n, 0);
        const double y = decay(&m, n);
        put_key(rows, SCAN, format, "rne", n);
        ulp_put_none(rows);
        ulp_put_number(rows, y);
        ulp_put_none(rows);
        ulp_put_code(rows, y, format);
        ulp_put_number(rows, y - exact);
        ulp_put_nones(rows, 5);
        ulp_row_end(rows);
        if (n % 100 == 0 && ulp_rows_progress(rows, (double)(n * n) / (double)(last * last))) break;
    }
}

/* y0 (1 - h)^n in binary64: a relative error of n 2^-52. */
static double polygon(double h, int64_t n) {
    double y = ODE_START;
    for (int64_t i = 0; i < n; i++) y -= h * y;
    return y;
}

static void put_decay(const ulp_run *run, ulp_rows *rows, const ulp_format *format, const ulp_named_rule *mode,
                      int64_t n) {
    const int64_t runs = ulp_mode_is_stochastic(mode->rule.mode) ? ulp_option_integer(run, "runs") : 1;
    const double exact = ODE_START * ulp_exp(-1);
    const double euler = polygon(machine_new(run, format, mode, DECAY, n, 1).h, n);
    double first = 0, total = 0, squares = 0, most = 0, off = 0;
    for (int64_t i = 1; i <= runs; i++) {
        machine m = machine_new(run, format, mode, DECAY, n, i);
        const double y = decay(&m, n), error = y - exact;
        if (i == 1) first = y;
        total += error;
        squares += error * error;
        most = fmax(most, fabs(error));
        off = fmax(off, fabs(y - euler));
        if (ulp_rows_progress(rows, (double)i / (double)runs)) return;
    }
    put_key(rows, DECAY, format, mode->name, n);
    ulp_put_none(rows);
    ulp_put_number(rows, first);
    ulp_put_none(rows);
    ulp_put_code(rows, first, format);
    ulp_put_number(rows, total / (double)runs);
    ulp_put_number(rows, sqrt(squares / (double)runs));
    ulp_put_number(rows, most);
    ulp_put_number(rows, euler - exact);
    ulp_put_number(rows, off);
    ulp_put_none(rows);
    ulp_row_end(rows);
}

static void put_circle(const ulp_run *run, ulp_rows *rows, const ulp_format *format, const ulp_named_rule *mode,
                       int64_t n) {
    const int64_t runs = ulp_mode_is_stochastic(mode->rule.mode) ? ulp_option_integer(run, "runs") : 1;
    double u1 = 0, v1 = 0, u, v, squares = 0, most = 0, radii = 0;
    const double h = machine_new(run, format, mode, CIRCLE, n, 1).h;
    double growth = 1; /* Euler's exact polygon moves out by sqrt(1 + h^2) a step */
    for (int64_t i = 0; i < n; i++) growth *= sqrt(1 + h * h);
    for (int64_t i = 1; i <= runs; i++) {
        machine m = machine_new(run, format, mode, CIRCLE, n, i);
        const double error = revolve(&m, n, &u, &v), radius = sqrt(u * u + v * v) - 1;
        if (i == 1) u1 = u, v1 = v;
        squares += error * error;
        most = fmax(most, error);
        radii += radius * radius;
        if (ulp_rows_progress(rows, (double)i / (double)runs)) return;
    }
    put_key(rows, CIRCLE, format, mode->name, n);
    ulp_put_none(rows);
    ulp_put_number(rows, u1);
    ulp_put_number(rows, v1);
    ulp_put_nones(rows, 2);
    ulp_put_number(rows, sqrt(squares / (double)runs));
    ulp_put_number(rows, most);
    ulp_put_number(rows, growth - 1);
    ulp_put_none(rows);
    ulp_put_number(rows, sqrt(radii / (double)runs));
    ulp_row_end(rows);
}

static void put_path(const ulp_run *run, ulp_rows *rows, const ulp_format *format, const ulp_named_rule *mode,
                     int64_t n) {
    machine m = machine_new(run, format, mode, CIRCLE, n, 1);
    double u = 1, v = 0;
    for (int64_t i = 0; i <= n; i++) {
        if (i > 0) turn(&m, &u, &v);
        if (i > 0 && !is_sample(i, n)) continue;
        put_key(rows, PATH, format, mode->name, n);
        ulp_put_integer(rows, i);
        ulp_put_number(rows, u);
        ulp_put_number(rows, v);
        ulp_put_nones(rows, 7);
        ulp_row_end(rows);
    }
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t count;
    const ulp_format *format = &ulp_run_formats(run, &count)[point->at[AT_FORMAT]];
    const ulp_named_rule *mode = &ulp_run_modes(run, &count)[point->at[AT_MODE]];
    const int64_t n = point->at[AT_STEPS];
    (void)context;
    switch (point->at[AT_KIND]) {
    case SCAN: put_scan(run, rows, format); break;
    case DECAY: put_decay(run, rows, format, mode, n); break;
    case CIRCLE: put_circle(run, rows, format, mode, n); break;
    default: put_path(run, rows, format, mode, n); break;
    }
    return ULP_OK;
}

static const ulp_experiment experiment = {
    .name = "ode",
    .question = "how small may the steps of Euler's method be before rounding undoes them, to nearest and stochastic?",
    .columns = "kind,format,mode,n,step,u,v,code,mean,rms,most,polygon,off,radius",
    .options = options,
    .takes_format = takes_format,
    .format_wants = "has to be signed floating point with 2 to 24 significant bits and numbers down to 2^-9",
    .prepare = prepare,
    .compute = compute,
    .check = ode_check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }

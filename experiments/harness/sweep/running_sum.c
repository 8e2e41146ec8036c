/* running_sum.c - running sums, rounded to a format after every addition; see running.h. */
#include "running_sum.h"

#include <string.h>

const char *const ulp_cure_names[] = {"plain", "kahan", "master", "chunks", "first"};

enum { AT_FORMAT, AT_MODE, AT_CURE };

void ulp_running_points(ulp_run *run, size_t f, const ulp_cure *cures, size_t count, ulp_running_costs cost) {
    size_t n;
    const char *name = ulp_run_formats(run, &n)[f].name;
    const ulp_named_rule *mode = ulp_run_modes(run, &n);
    for (size_t m = 0; m < n; m++)
        ulp_point_add(run,
                      (ulp_point){.at = {(int64_t)f, (int64_t)m, ULP_CURE_NONE},
                                  .cost = ulp_mode_is_stochastic(mode[m].rule.mode) ? cost.stochastic : cost.plain},
                      "%s %s plain", name, mode[m].name);
    for (size_t c = 0; c < count; c++)
        ulp_point_add(run, (ulp_point){.at = {(int64_t)f, 0, cures[c]}, .cost = cost.cured}, "%s rne %s", name,
                      ulp_cure_names[cures[c]]);
}

ulp_running ulp_running_start(const ulp_run *run, const ulp_point *point) {
    static const ulp_named_rule nearest = {"rne", {0}};
    size_t n;
    ulp_running s = {.format = &ulp_run_formats(run, &n)[point->at[AT_FORMAT]], .cure = (ulp_cure)point->at[AT_CURE]};
    const ulp_named_rule *mode = s.cure == ULP_CURE_NONE ? &ulp_run_modes(run, &n)[point->at[AT_MODE]] : &nearest;
    s.mode = mode->name;
    s.rule = mode->rule;
    s.native = strcmp(s.format->name, "binary32") == 0 && s.rule.mode == ULP_RNE;
    s.value = ulp_round(0, s.format, (ulp_rule){0}, 0);
    s.kept = s.cure == ULP_CURE_MASTER ? 0 : s.value;
    return s;
}

static double plus(const ulp_running *s, double a, double b) { return ulp_running_plus(s, a, b, 0); }

void ulp_running_add(ulp_running *s, double term, uint32_t word) {
    double corrected, next;
    switch (s->cure) {
    case ULP_CURE_KAHAN:
        corrected = plus(s, term, -s->kept);
        next = plus(s, s->value, corrected);
        s->kept = plus(s, plus(s, next, -s->value), -corrected);
        s->value = next;
        break;
    case ULP_CURE_MASTER:
        s->kept = (double)((float)s->kept + (float)term);
        s->value = ulp_round(s->kept, s->format, s->rule, 0);
        break;
    default: s->value = ulp_running_plus(s, s->value, term, word); break;
    }
}

void ulp_running_key(ulp_rows *rows, const ulp_running *s, const char *what, int64_t number) {
    ulp_put_text(rows, s->format->name);
    ulp_put_text(rows, s->mode);
    ulp_put_text(rows, ulp_cure_names[s->cure]);
    ulp_put_text(rows, what);
    if (number > 0) ulp_put_integer(rows, number);
    else ulp_put_none(rows);
}

long ulp_running_row(const ulp_run *run, const char *format, const char *mode, ulp_cure cure, const char *what) {
    return ulp_row_find(run, 0, "what", what, "format", format, "mode", mode, "cure", ulp_cure_names[cure],
                        (const char *)NULL);
}

long ulp_running_row_at(const ulp_run *run, const char *format, const char *mode, ulp_cure cure, const char *what,
                        const char *column, int64_t n) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)n);
    return ulp_row_find(run, 0, column, text, "what", what, "format", format, "mode", mode, "cure",
                        ulp_cure_names[cure], (const char *)NULL);
}

long ulp_running_stop(const ulp_run *run, const char *format, ulp_cure cure) {
    return ulp_running_row(run, format, "rne", cure, "stop");
}

long ulp_running_stop_claimed(ulp_run *run, const char *format, const char *limit, const char *text) {
    const long stop = ulp_running_stop(run, format, ULP_CURE_NONE);
    if (stop == ULP_NO_ROW && ulp_running_row(run, format, "rne", ULP_CURE_NONE, "open") != ULP_NO_ROW)
        ulp_claim_skip(ulp_run_claims(run), text, "--%s is %lld", limit, (long long)ulp_option_integer(run, limit));
    return stop;
}

void ulp_running_claims(ulp_run *run, void (*claim)(ulp_run *run, const ulp_format *format, const char *mode)) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    for (size_t f = 0; f < formats; f++)
        for (size_t m = 0; m < modes; m++)
            if (ulp_mode_is_stochastic(mode[m].rule.mode) && mode[m].rule.random_bits == 0)
                claim(run, &format[f], mode[m].name);
}

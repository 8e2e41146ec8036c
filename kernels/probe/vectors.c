/* vectors.c - the shared part of the prober: forming and running a vector, reporting, and the modes that fit. */
#include "vectors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ulp_vector_start(prober *p, double c) {
    memset(p->a, 0, sizeof p->a);
    memset(p->b, 0, sizeof p->b);
    p->c = c;
    p->beyond = !ulp_is_member(c, &p->unit->result, 0);
}

void ulp_vector_put_factors(prober *p, int k, double a, double b) {
    if (k < 0 || k >= PROBE_K || !ulp_is_member(a, &p->unit->a, 0) || !ulp_is_member(b, &p->unit->b, 0)) {
        p->beyond = 1;
        return;
    }
    p->a[k] = a;
    p->b[k] = b;
}

double ulp_vector_product(const prober *p, double x, double y) { return ulp_scale(x * y, -p->shift); }

int ulp_vector_factor(const prober *p, double *x, double *y, double product) {
    return ulp_factor(x, y, ulp_scale(product, p->shift), &p->unit->a, &p->unit->b);
}

void ulp_vector_put(prober *p, int k, double product) {
    double x, y;
    if (ulp_vector_factor(p, &x, &y, product)) ulp_vector_put_factors(p, k, x, y);
    else p->beyond = 1;
}

double ulp_vector_run(prober *p) {
    size_t k = PROBE_K;
    if (p->beyond || p->status != ULP_OK) return ulp_quiet_nan();
    while (k > 0 && (ulp_bits64(p->a[k - 1]) | ulp_bits64(p->b[k - 1])) == 0) k--;
    for (size_t span = (size_t)p->span; span > 0 && k < PROBE_K && (k == 0 || k % span != 0);) k++;
    p->status = p->unit->dot(p->unit->context, &p->code, p->c, (ulp_products){p->a, p->b, k, NULL, NULL});
    p->to->runs++;
    return p->status == ULP_OK ? ulp_decode(p->code, &p->unit->result) : ulp_quiet_nan();
}

int ulp_vector_gives(prober *p, double want) {
    const double y = ulp_vector_run(p);
    if (p->beyond || p->status != ULP_OK || !ulp_is_member(want, &p->unit->result, 0)) return -1;
    return y == want;
}

void ulp_vector_pair(prober *p, double x, double y, int avoid) {
    const int group = p->group > 1 ? p->group : 1;
    int first = -1;
    for (int i = 0; i < p->length; i++) {
        const int k = p->place[i];
        if (k == avoid || (first >= 0 && k / group == first / group)) continue;
        ulp_vector_put_factors(p, k, first < 0 ? x : -x, y);
        if (first >= 0) return;
        first = k;
    }
    if (first >= 0 && p->length == 2 && p->c == 0.0) p->c = -ulp_vector_product(p, x, y);
    else p->beyond = 1;
}

int ulp_survives(prober *p, double x, double y, double small, int as_product) {
    ulp_vector_start(p, as_product ? 0.0 : small);
    const int at = as_product ? p->place[p->length - 1] : -1;
    if (as_product) ulp_vector_put(p, at, small);
    ulp_vector_pair(p, x, y, at);
    return ulp_vector_gives(p, small);
}

/* ---- the modes that fit the results ---- */

void ulp_modes_watch(unsigned *modes, int neg, int odd, int quarters, double up) {
    const ulp_fraction lost = {(uint32_t)quarters << 30, 0};
    for (unsigned m = 0; m < ULP_MODE_COUNT; m++)
        if (ulp_mode_in(m, *modes) && up != (double)ulp_round_up(m, (uint32_t)odd, lost, (uint32_t)neg, 0, 32))
            *modes &= ~(1u << m);
}

int ulp_modes_one(unsigned modes) {
    for (int m = 0; m < ULP_MODE_COUNT; m++)
        if (modes == 1u << m) return m;
    return -1;
}

void ulp_report_mode(prober *p, ulp_property_id id, unsigned modes, int seen, const char *how) {
    if (seen == 0) ulp_report(p, id, ULP_NOT_REACHABLE, 0, "the formats do not hold quarters of the unit");
    else if (modes != 0 && ulp_modes_one(modes) < 0)
        ulp_report(p, id, ULP_NOT_REACHABLE, 0, "several modes fit what the formats can show");
    else ulp_report(p, id, ULP_FOUND, modes == 0 ? ULP_MODE_COUNT : ulp_modes_one(modes), "%s", how);
}

/* ---- the report ---- */

void ulp_report(prober *p, ulp_property_id id, ulp_found found, int64_t value, const char *how, ...) {
    ulp_property *to = &p->to->property[id];
    va_list args;
    *to = (ulp_property){.found = found, .value = value};
    va_start(args, how);
    vsnprintf(to->how, sizeof to->how, how, args);
    va_end(args);
}

/* probe.c - the prober: the table of properties, the model as a device, vectors and what is asked in which order. */
#include "vectors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

static const struct {
    const char *name, *words, *meaning;
} properties[] = {
#define ULP_PROPERTY_ROW(id, name, words, meaning) {name, words, meaning},
    ULP_PROPERTIES(ULP_PROPERTY_ROW)
#undef ULP_PROPERTY_ROW
};

const char *ulp_property_name(ulp_property_id id) { return id < ULP_PROPERTY_COUNT ? properties[id].name : NULL; }
const char *ulp_property_meaning(ulp_property_id id) { return id < ULP_PROPERTY_COUNT ? properties[id].meaning : NULL; }

void ulp_property_text(char to[64], ulp_property_id id, ulp_found found, int64_t value) {
    const char *words = id < ULP_PROPERTY_COUNT ? properties[id].words : "",
               *bound = found == ULP_AT_LEAST ? "at least " : "at most ";
    if (found == ULP_FOUND) bound = "";
    if (found == ULP_NOT_REACHABLE) {
        strcpy(to, "not reachable");
    } else if (strcmp(words, "mode") == 0) {
        snprintf(to, 64, "%s%s", bound,
                 value == ULP_STOCHASTIC                ? "stochastic"
                 : value >= 0 && value < ULP_MODE_COUNT ? ulp_mode_name((ulp_mode)value)
                                                        : "no known mode");
    } else if (strcmp(words, "count") == 0 && found == ULP_FOUND && value == 0) {
        strcpy(to, "none");
    } else if (strcmp(words, "code") == 0) {
        snprintf(to, 64, "%s%llx", bound, (unsigned long long)value);
    } else if (words[0] == '\0' || strcmp(words, "count") == 0) {
        snprintf(to, 64, "%s%lld", bound, (long long)value);
    } else {
        for (int64_t i = 0; i < value && strchr(words, '|') != NULL; i++) words = strchr(words, '|') + 1;
        snprintf(to, 64, "%s%.*s", bound, (int)strcspn(words, "|"), words);
    }
}

void ulp_report(prober *p, ulp_property_id id, ulp_found found, int64_t value, const char *how, ...) {
    ulp_property *to = &p->to->property[id];
    va_list args;
    *to = (ulp_property){.found = found, .value = value};
    va_start(args, how);
    vsnprintf(to->how, sizeof to->how, how, args);
    va_end(args);
}

/* ---- the model as a device ---- */

static ulp_status ask_model(void *context, uint64_t *code, double c, const double *a, const double *b, size_t k,
                            ulp_scales scales) {
    const ulp_datapath *d = context;
    return ulp_datapath_code(code, ulp_dot(d, c, a, b, k, scales, (ulp_stream){1, 0, 0}), d);
}

ulp_unit ulp_unit_of(const ulp_datapath *d) {
    ulp_unit unit = {.dot = ask_model, .result = d->result, .scale_block = d->scale_block, .scale = d->scale};
    memcpy(&unit.context, &d, sizeof unit.context); /* only read */
    unit.a = d->has_inputs ? d->a : d->accumulator;
    unit.b = d->has_inputs ? d->b : d->accumulator;
    return unit;
}

/* ---- vectors ---- */

int ulp_is_member(double x, const ulp_format *f, int normal) {
    uint64_t code;
    return ulp_encode(&code, x, f) == ULP_OK && (!normal || (x < 0 ? -x : x) >= f->min_normal);
}

int ulp_factor(double *x, double *y, double value, const ulp_format *a, const ulp_format *b) {
    *x = *y = 0.0;
    if (value == 0.0) return 1;
    if (value - value != 0.0) return 0;
    int e = 0;
    double m = value < 0 ? -value : value;
    while (m >= 0x1p53) m *= 0.5, e++;
    while (m < 0x1p53 && m != (double)(int64_t)m) m *= 2, e--; /* an integer: at most 53 bits are not zero */
    int64_t odd = (int64_t)m;
    while (odd % 2 == 0) odd /= 2, e++;
    for (int normal = 1; normal >= 0; normal--)
        for (int64_t d = 1; d <= odd && d < 1 << 12; d += 2) {
            if (odd % d != 0) continue;
            for (int i = 0; i < 2 * (a->emax - a->qmin + 2); i++) { /* exponents from the middle outwards */
                const int ex = e / 2 + (i % 2 ? i / 2 + 1 : -(i / 2));
                *x = ulp_scale((double)d, ex);
                *y = ulp_scale((double)(odd / d), e - ex);
                if (ulp_is_member(*x, a, normal) && ulp_is_member(*y, b, normal)) {
                    if (value < 0) *x = -*x;
                    return ulp_is_member(*x, a, normal);
                }
            }
        }
    return 0;
}

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

void ulp_vector_put(prober *p, int k, double product) {
    double x, y;
    if (ulp_factor(&x, &y, product, &p->unit->a, &p->unit->b)) ulp_vector_put_factors(p, k, x, y);
    else p->beyond = 1;
}

double ulp_vector_run(prober *p) {
    size_t k = PROBE_K;
    if (p->beyond || p->status != ULP_OK) return ulp_quiet_nan();
    while (k > 0 && (ulp_bits64(p->a[k - 1]) | ulp_bits64(p->b[k - 1])) == 0) k--;
    for (size_t span = (size_t)p->span; span > 0 && k < PROBE_K && (k == 0 || k % span != 0);) k++;
    p->status = p->unit->dot(p->unit->context, &p->code, p->c, p->a, p->b, k, (ulp_scales){NULL, NULL});
    p->to->runs++;
    return p->status == ULP_OK ? ulp_decode(p->code, &p->unit->result) : ulp_quiet_nan();
}

int ulp_vector_gives(prober *p, double want) {
    const double y = ulp_vector_run(p);
    if (p->beyond || p->status != ULP_OK || !ulp_is_member(want, &p->unit->result, 0)) return -1;
    return y == want;
}

/* +x y and -x y in the first sum, in different groups and not at place `avoid`; with two products to a sum one is c. */
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
    if (first >= 0 && p->length == 2 && p->c == 0.0) p->c = -x * y;
    else p->beyond = 1;
}

/* Whether `small` outlives +x y - x y beside it in one sum: as c where c is in the sum, else as a product. */
int ulp_survives(prober *p, double x, double y, double small, int as_product) {
    ulp_vector_start(p, as_product ? 0.0 : small);
    const int at = as_product ? p->place[p->length - 1] : -1;
    if (as_product) ulp_vector_put(p, at, small);
    ulp_vector_pair(p, x, y, at);
    return ulp_vector_gives(p, small);
}

/* ---- which rounding: what the known modes do decides ---- */

/* Cross out the modes that do not take `quarters` / 4 of a unit above an odd or even magnitude up by `up`. */
void ulp_modes_watch(unsigned *modes, int neg, int odd, int quarters, double up) {
    for (unsigned m = 0; m < ULP_SRA; m++)
        if (up != (double)ulp_round_up(m, (uint32_t)odd, (uint32_t)quarters << 30, 0, (uint32_t)neg, 0, 32))
            *modes &= ~(1u << m);
}

int ulp_modes_one(unsigned modes) {
    for (int m = 0; m < ULP_SRA; m++)
        if (modes == 1u << m) return m;
    return -1;
}

void ulp_report_mode(prober *p, ulp_property_id id, unsigned modes, int seen, const char *how) {
    if (seen == 0) ulp_report(p, id, ULP_NOT_REACHABLE, 0, "the formats do not hold quarters of the unit");
    else if (modes != 0 && ulp_modes_one(modes) < 0)
        ulp_report(p, id, ULP_NOT_REACHABLE, 0, "several modes fit what the formats can show");
    else ulp_report(p, id, ULP_FOUND, modes == 0 ? ULP_MODE_COUNT : ulp_modes_one(modes), "%s", how);
}

/* ---- the order of questions: each uses what is known by then ---- */

ulp_status ulp_probe_unit(ulp_probe *probe, const ulp_unit *unit) {
    if (probe == NULL || unit == NULL || unit->dot == NULL) return ULP_BAD_ARGUMENT;
    prober p = {.unit = unit, .to = probe, .inside = 1, .mode = -1, .group = 1, .one = 1.0};
    memset(probe, 0, sizeof *probe);
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++)
        ulp_report(&p, (ulp_property_id)i, ULP_NOT_REACHABLE, 0,
                   unit->result.is_fixed ? "fixed point has no exponents to align" : "does not arise here");
    if (!unit->result.is_fixed) {
        ulp_probe_sum(&p);
        ulp_probe_rounding(&p);
    }
    ulp_probe_values(&p);
    return p.status;
}

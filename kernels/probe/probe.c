/* probe.c - the prober: the table of properties, and the order of the tests. */
#include "vectors.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

/* The kinds of values that have no words: `words` points to one of these. */
static const char NUMBER[] = "", COUNT[] = "", MODE[] = "", CODE[] = "";

static const struct {
    const char *name, *words, *meaning;
} properties[] = {
#define ROW(id, name, words, meaning) {name, words, meaning},
    ULP_PROPERTIES(ROW)
#undef ROW
};

const char *ulp_property_name(ulp_property_id id) { return id < ULP_PROPERTY_COUNT ? properties[id].name : NULL; }
const char *ulp_property_meaning(ulp_property_id id) { return id < ULP_PROPERTY_COUNT ? properties[id].meaning : NULL; }

void ulp_property_text(char to[64], ulp_property_id id, ulp_found found, int64_t value) {
    const char *words = id < ULP_PROPERTY_COUNT ? properties[id].words : NUMBER,
               *bound = found == ULP_AT_LEAST ? "at least " : "at most ";
    if (found == ULP_FOUND) bound = "";
    if (found == ULP_NOT_REACHABLE) {
        strcpy(to, "not reachable");
    } else if (words == MODE) {
        snprintf(to, 64, "%s%s", bound,
                 value == ULP_STOCHASTIC                ? "stochastic"
                 : value >= 0 && value < ULP_MODE_COUNT ? ulp_mode_name((ulp_mode)value)
                                                        : "no known mode");
    } else if (words == COUNT && found == ULP_FOUND && value == 0) {
        strcpy(to, "none");
    } else if (words == CODE) {
        snprintf(to, 64, "%s%llx", bound, (unsigned long long)value);
    } else if (words == NUMBER || words == COUNT) {
        snprintf(to, 64, "%s%lld", bound, (long long)value);
    } else {
        for (int64_t i = 0; i < value && strchr(words, '|') != NULL; i++) words = strchr(words, '|') + 1;
        snprintf(to, 64, "%s%.*s", bound, (int)strcspn(words, "|"), words);
    }
}

/* ---- whether there is a sum ---- */

ulp_status ulp_probe_sums(ulp_error *error, const ulp_unit *unit) {
    /* c and two products, in units of the device's 1 x 1 */
    static const struct {
        double c, a[2], sum;
    } sums[] = {{0, {1, 0}, 1}, {1, {0, 0}, 1},  {1, {1, 0}, 2}, {0, {1, 1}, 2},
                {0, {0, 1}, 1}, {2, {-1, 0}, 1}, {0, {1, -1}, 0}};
    static const double ones[2] = {1.0, 1.0};
    double one = 0.0;
    ulp_error_clear(error);
    if (unit == NULL || unit->dot == NULL) return ULP_BAD_ARGUMENT;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        const double *a = sums[i].a, c = i == 0 ? 0.0 : sums[i].c * one;
        uint64_t code = 0;
        if ((a[0] < 0 || a[1] < 0) && !unit->a.is_signed) continue;
        if (!ulp_is_member(1.0, &unit->a, 0) || !ulp_is_member(1.0, &unit->b, 0) ||
            !ulp_is_member(c, &unit->result, 0) || !ulp_is_member(sums[i].sum * one, &unit->result, 0))
            continue;
        ULP_TRY(unit->dot(unit->context, &code, c, (ulp_products){a, ones, 2, NULL, NULL}));
        const double y = ulp_decode(code, &unit->result);
        if (i == 0) one = y;
        if (y == sums[i].sum * one && y - y == 0.0 && one != 0.0) continue;
        return ulp_fail(error, ULP_UNSUPPORTED, "c = %g and products %g x 1, %g x 1 give %g", c, a[0], a[1], y);
    }
    return ULP_OK;
}

/* ---- the order of the tests: each test uses the results of earlier tests ---- */

ulp_status ulp_probe_unit(ulp_probe *probe, const ulp_unit *unit) {
    if (probe == NULL || unit == NULL || unit->dot == NULL) return ULP_BAD_ARGUMENT;
    prober p = {.unit = unit, .to = probe, .inside = 1, .mode = -1, .group = 1, .one = 1.0};
    memset(probe, 0, sizeof *probe);
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++)
        ulp_report(&p, (ulp_property_id)i, ULP_NOT_REACHABLE, 0,
                   unit->result.is_fixed ? "fixed point has no exponents to align" : "does not arise here");
    if (!unit->result.is_fixed) {
        ulp_probe_shift(&p);
        ulp_probe_sum(&p);
        ulp_probe_rounding(&p);
    }
    ulp_probe_values(&p);
    if (!unit->result.is_fixed) ulp_probe_small(&p);
    return p.status;
}

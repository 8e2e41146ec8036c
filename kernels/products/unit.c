/* unit.c - the model of a datapath as a device, and operands with a given product. */
#include "unit.h"

#include <string.h>

static ulp_status dot_by_model(void *context, uint64_t *code, double c, ulp_products products) {
    const ulp_datapath *d = context;
    return ulp_datapath_code(code, ulp_dot(d, c, products, (ulp_stream){1, 0, 0}), d);
}

ulp_unit ulp_unit_of(const ulp_datapath *d) {
    ulp_unit unit = {.dot = dot_by_model, .result = d->result, .scale_block = d->scale_block, .scale = d->scale};
    memcpy(&unit.context, &d, sizeof unit.context); /* the context is only read */
    unit.a = d->has_inputs ? d->a : d->accumulator;
    unit.b = d->has_inputs ? d->b : d->accumulator;
    return unit;
}

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
    while (m < 0x1p53 && m != (double)(int64_t)m) m *= 2, e--; /* m becomes an integer; at most 53 bits are set */
    int64_t odd = (int64_t)m;
    while (odd % 2 == 0) odd /= 2, e++;
    for (int normal = 1; normal >= 0; normal--)
        for (int64_t d = 1; d <= odd && d < 1 << 12; d += 2) {
            const int64_t other = odd / d;
            if (d * other != odd || d >> a->prec != 0 || other >> b->prec != 0) continue;
            for (int i = 0; i < 2 * (a->emax - a->qmin + 2); i++) { /* exponents from e / 2 outwards */
                const int ex = e / 2 + (i % 2 ? i / 2 + 1 : -(i / 2));
                *x = ulp_scale((double)d, ex);
                *y = ulp_scale((double)other, e - ex);
                if (*x < a->min_positive || *x > a->max || *y < b->min_positive || *y > b->max) continue;
                if (ulp_is_member(*x, a, normal) && ulp_is_member(*y, b, normal)) {
                    if (value < 0) *x = -*x;
                    return ulp_is_member(*x, a, normal);
                }
            }
        }
    return 0;
}

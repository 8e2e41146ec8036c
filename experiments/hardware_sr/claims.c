/* claims.c - the table of hardware_sr, and the claims: exact laws of bias and variance. */
#include "hardware_sr.h"

#include <math.h>
#include <string.h>

/* What the rows of a conversion show. */
typedef struct law {
    size_t rows, unbiased, cut, independent, shared; /* rows that obey a law exactly */
    double most, mean;                               /* largest |bias|, mean bias */
} law;

static law law_of(const ulp_claims *c, const ulp_conversion *conversion) {
    law l = {0};
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (strcmp(r->conversion, conversion->name) != 0) continue;
        const double p = r->probability, cut = floor(ldexp(r->nu, (int)r->bits)) / (double)r->words;
        l.rows++;
        l.unbiased += p == r->nu;
        l.cut += p == cut;
        l.independent += r->variance == 2 * p * (1 - p);
        l.shared += fabs(r->variance - 4 * p * (1 - p)) < 1e-12;
        l.most = fmax(l.most, fabs(r->bias));
        l.mean += r->bias;
    }
    l.mean /= (double)l.rows;
    return l;
}

static int is_split(const ulp_conversion *c) { return strstr(c->name, ":split") != NULL; }
static int is_shared(const ulp_conversion *c) { return strstr(c->name, ":shared") != NULL; }

void judge(ulp_claims *c) {
    const ulp_conversion *x;
    if (c->file != NULL)
        fprintf(c->file, "%-32s %5s %10s %10s  values of a pair\n", "conversion", "bits", "bias, mean", "largest");
    size_t whole = 0, exact = 0, user = 0, user_exact = 0, split = 0, split_cut = 0, split_free = 0, shared = 0,
           shared_equal = 0, shared_cut = 0;
    for (size_t i = 0; (x = ulp_conversion_get(i)) != NULL; i++) {
        if (x->mode != ULP_SRA) continue;
        const law l = law_of(c, x);
        ulp_summary(c, "mean bias", l.mean, "%s", x->name);
        ulp_summary(c, "largest bias", l.most, "%s", x->name);
        if (c->file != NULL)
            fprintf(c->file, "%-32s %5d %10.2g %10.2g  %s\n", x->name, x->bits, l.mean, l.most,
                    x->values == 1            ? "-"
                    : l.shared == l.rows      ? "share their bits"
                    : l.independent == l.rows ? "are independent"
                                              : "neither");
        if (x->values == 1) user++, user_exact += l.unbiased == l.rows && l.rows > 0;
        else if (is_split(x)) split++, split_cut += l.cut == l.rows, split_free += l.independent == l.rows;
        else if (is_shared(x)) shared++, shared_equal += l.shared == l.rows, shared_cut += l.cut == l.rows;
        else whole++, exact += l.unbiased == l.rows && l.independent == l.rows && l.rows > 0;
    }
    if (c->file != NULL) fprintf(c->file, "\n");
    ulp_claim(c, exact == whole && whole == 2,
              "cvt.rs to f16x2 and bf16x2 has as many random bits as it drops: no bias, and the pair is independent",
              "%zu of %zu conversions", exact, whole);
    ulp_claim(c, user_exact == user && user == 4,
              "VCVTBIASPH2BF8 and VCVTBIASPH2HF8 add the user's bits to all bits that they drop: no bias",
              "%zu of %zu conversions", user_exact, user);
    ulp_claim(c, shared_equal == shared && shared_cut == shared && shared == 5,
              "if a pair shares 16 bits: P = floor(2^16 nu) / 2^16, and the sum of two equal values has the variance "
              "4 p (1 - p)",
              "%zu of %zu conversions", shared_equal, shared);
    ulp_claim(c, split_cut == split && split_free == split && split == 5,
              "if a pair splits 16 bits: P = floor(2^8 nu) / 2^8, and the variance is 2 p (1 - p)",
              "%zu of %zu conversions", split_cut, split);
    const law l = law_of(c, ulp_conversion_find("cvt.rs.satfinite.e4m3x4:split"));
    ulp_claim(c, l.mean < 0 && fabs(l.mean + 0x1p-9) < 0x1p-11,
              "8 bits of StochasticA round toward zero too often: the mean bias is -2^-9 of the spacing",
              "%.3g, compared with %.3g", l.mean, -0x1p-9);
}

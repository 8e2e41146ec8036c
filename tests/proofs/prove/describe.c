/* describe.c - the formats of the registry, for the proofs: `describe` lists names, `describe NAME` writes FORMAT_H.
 *
 * SPEC_FORMAT has what decides a format, as its standard states it. LIBRARY_FORMAT has also what ulp_format_init
 * derives.
 */
#include <stdio.h>
#include <string.h>

#include "formats/format.h"

static void describe(const ulp_format *f) {
    const int flat = f->taper == ULP_TAPER_NONE;
    printf("/* %s */\n#define SPEC_FORMAT {.bits = %d, .prec = %d, .bias = %d, .frac = %d, .is_signed = %d, .is_fixed "
           "= %d, "
           ".has_inf = %d, .has_zero = %d, .has_neg_zero = %d, .has_subnormals = %d, .zero_binade = %d, .nan = %d, "
           ".policy = %d, .taper = %d, .es = %d}\n",
           f->name, f->bits, flat && !f->is_fixed ? f->prec : 0, f->bias, f->frac_bits, f->is_signed, f->is_fixed,
           f->has_inf, f->has_zero, f->has_neg_zero, f->has_subnormals, f->zero_binade, f->nan_codes, f->overflow,
           f->taper, f->exponent_bits);
    printf(
        "#define LIBRARY_FORMAT {.bits = %d, .prec = %d, .bias = %d, .is_signed = %d, .is_fixed = %d, .frac_bits = %d, "
        ".has_inf = %d, .has_zero = %d, .has_neg_zero = %d, .has_subnormals = %d, .zero_binade = %d, "
        ".nan_codes = %d, .overflow = %d, .taper = %d, .exponent_bits = %d, ",
        f->bits, f->prec, f->bias, f->is_signed, f->is_fixed, f->frac_bits, f->has_inf, f->has_zero, f->has_neg_zero,
        f->has_subnormals, f->zero_binade, f->nan_codes, f->overflow, f->taper, f->exponent_bits);
    printf(".emin = %d, .emax = %d, .qmin = %d, .fits_binary32 = %d, .max_code = %lluu, .inf_code = %lluu, "
           ".nan_code = %lluu, .max = %a, .lowest = %a, .min_normal = %a, .min_positive = %a}\n",
           f->emin, f->emax, f->qmin, f->fits_binary32, (unsigned long long)f->max_code,
           (unsigned long long)f->inf_code, (unsigned long long)f->nan_code, f->max, f->lowest, f->min_normal,
           f->min_positive);
}

int main(int argc, char **argv) {
    ulp_format f;
    if (argc == 2) {
        if (ulp_format_parse(&f, argv[1]) != ULP_OK) {
            fprintf(stderr, "describe: %s is no format; `ulp help formats` lists them\n", argv[1]);
            return 2;
        }
        describe(&f);
        return 0;
    }
    for (size_t i = 0; ulp_format_get(i, &f, NULL) == ULP_OK; i++)
        printf("%s %d %s\n", f.name, f.bits, f.taper != ULP_TAPER_NONE ? "tapered" : f.is_fixed ? "fixed" : "floating");
    return 0;
}

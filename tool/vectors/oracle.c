/* oracle.c - ulp vectors: the comparison with MPFR, by the oracle of the tests; see vectors.h. */
#include "vectors.h"

#if defined(ULP_WITH_MPFR)

#include "base/decimal.h"
#include "kernels/mpfr/oracle.h"
#include "kernels/mpfr/reference.h"

enum { SHOWN = 5 };

int vectors_oracle_offered(void) { return 1; }

ulp_status vectors_oracle_open(vectors_oracle *oracle, const char *program, const ulp_format *format, int check,
                               ulp_error *error) {
    if (check) ulp_reference_allocate_by(ulp_grow);
    *oracle = (vectors_oracle){.program = program, .reference = check ? ulp_reference_new(format) : NULL};
    return check && oracle->reference == NULL ? ulp_fail(error, ULP_NO_MEMORY, "%s", ulp_status_text(ULP_NO_MEMORY))
                                              : ULP_OK;
}

void vectors_oracle_close(vectors_oracle *oracle) {
    if (oracle->reference != NULL) ulp_reference_free(oracle->reference);
}

static int agree(double got, double want) {
    return ulp_bits64(got) == ulp_bits64(want) || (got != got && want != want);
}

void vectors_oracle_compare_value(vectors_oracle *oracle, uint64_t code, double value) {
    if (oracle->reference == NULL) return;
    const double want = ulp_reference_decode(oracle->reference, code);
    oracle->compared++;
    if (!agree(value, want) && oracle->wrong++ < SHOWN)
        ulp_complain(oracle->program, "code %llx: value %s, the oracle gives %s", (unsigned long long)code,
                     ULP_HEX(value), ULP_HEX(want));
}

void vectors_oracle_compare(vectors_oracle *oracle, uint64_t code, double x, ulp_rule rule, uint32_t word) {
    if (oracle->reference == NULL) return;
    const double want = ulp_reference_round(oracle->reference, x, 0.0, rule, word);
    const double got = ulp_reference_decode(oracle->reference, code);
    oracle->compared++;
    if (!agree(got, want) && oracle->wrong++ < SHOWN)
        ulp_complain(oracle->program, "x = %s, mode %s, overflow %s, word %08x: code %llx is %s, MPFR gives %s",
                     ULP_HEX(x), ulp_mode_name((ulp_mode)rule.mode), ulp_overflow_name((ulp_overflow)rule.overflow),
                     word, (unsigned long long)code, ULP_HEX(got), ULP_HEX(want));
}

#else

int vectors_oracle_offered(void) { return 0; }

ulp_status vectors_oracle_open(vectors_oracle *oracle, const char *program, const ulp_format *format, int check,
                               ulp_error *error) {
    (void)format, (void)check, (void)error;
    *oracle = (vectors_oracle){.program = program};
    return ULP_OK;
}

void vectors_oracle_close(vectors_oracle *oracle) { (void)oracle; }

void vectors_oracle_compare(vectors_oracle *oracle, uint64_t code, double x, ulp_rule rule, uint32_t word) {
    (void)oracle, (void)code, (void)x, (void)rule, (void)word;
}

void vectors_oracle_compare_value(vectors_oracle *oracle, uint64_t code, double value) {
    (void)oracle, (void)code, (void)value;
}

#endif

/* learners.c - texts of optimizers and scalers: keys and values, refusals, rates and loss scales of the rules. */
#include "sim/optim/optim.h"
#include "sim/train/scaler.h"
#include "tests/proofs/fuzz/support/fuzz.h"

static int is_valid(const char *text) {
    ulp_optimizer_rule o;
    ulp_scaler_rule s;
    return ulp_optimizer_parse(&o, text, NULL) == ULP_OK || ulp_scaler_parse(&s, text, NULL) == ULP_OK;
}

static void check_optimizer(const char *text) {
    ulp_error error = {0};
    ulp_optimizer_rule rule;
    const ulp_status status = ulp_optimizer_parse(&rule, text, &error);
    fuzz_check_status(status, error.text, text);
    if (status != ULP_OK) return;
    fuzz_passed();
    fuzz_check(rule.rate >= 0 && rule.rate <= 1e6 && rule.momentum >= 0 && rule.decay >= 0, "'%s': rate %g", text,
               rule.rate);
    for (uint64_t t = 0; t < 64; t++) {
        const double rate = ulp_rate_at(&rule, t << t % 40);
        fuzz_check(rate >= 0 && rate <= rule.rate, "'%s': rate %g in step %llu", text, rate,
                   (unsigned long long)(t << t % 40));
    }
}

static void check_scaler(const char *text) {
    ulp_error error = {0};
    ulp_scaler_rule rule;
    ulp_scaler scaler;
    ulp_status status = ulp_scaler_parse(&rule, text, &error);
    fuzz_check_status(status, error.text, text);
    if (status != ULP_OK) return;
    fuzz_passed();
    status = ulp_scaler_init(&scaler, &rule, &error);
    fuzz_check_status(status, error.text, text);
    if (status != ULP_OK) return;
    for (int step = 0; step < 200; step++) {
        const float largest = step % 7 == 3    ? ulp_from_bits32(0x7f800000u)
                              : step % 31 == 0 ? 0.0f
                                               : 1e-3f * (float)step;
        ulp_scaler_update(&scaler, largest);
        fuzz_check(scaler.log2 >= ULP_SCALE_MIN && scaler.log2 <= ULP_SCALE_MAX, "'%s': loss scale 2^%d", text,
                   scaler.log2);
    }
    fuzz_check(scaler.skipped <= scaler.overflows, "'%s': more steps skipped than overflowed", text);
}

static void run(const uint8_t *data, size_t size) {
    const char *text = fuzz_text(data, size);
    check_optimizer(text);
    check_scaler(text);
}

static void seeds(void) {
    fuzz_seed_words(
        "sgd,rate=0.2,momentum=0.9,decay=0.001,warmup=30,cosine=60 adam,rate=0.01,beta1=0.9,beta2=0.99,eps=1e-8 "
        "adamw,rate=0.01,decay=0.01,drop=0.5/13 sgd,rate=0.2,kahan=1 static:6 static,init=-4 "
        "pytorch,interval=4,init=24,min=-10,max=30 megatron,interval=3,init=26,hysteresis=2 layer,interval=5,skip=1 "
        "logmax,log_max=14,overflow_std_dev=2.5,beta1=0.99,beta2=0.999");
    for (size_t i = 0; ulp_scaler_rule_get(i); i++) fuzz_seed_text("%s", ulp_scaler_rule_get(i)->name);
    for (size_t i = 0; ulp_optimizer_kind_get(i); i++) fuzz_seed_text("%s", ulp_optimizer_kind_get(i)->name);
}

const fuzz_target fuzz_target_learners = {FUZZ_TEXT("learners", 300, 1 << 14, 4)};

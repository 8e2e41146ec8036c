/* policies.c - texts of policies, with selections of layers: canonical texts, refusals, the policies of a net's layers.
 */
#include "sim/net.h"
#include "sim/policy/policy_words.h"
#include "tests/proofs/fuzz/support/fuzz.h"

static int is_valid(const char *text) {
    ulp_policy p;
    return ulp_policy_parse(&p, text, NULL) == ULP_OK;
}

static ulp_error error;

/* The policies of the layers of a net, and of most layers. */
static void check_layers(const ulp_policy *p, const char *text) {
    static ulp_net net;
    ulp_layer_policy *rows = NULL;
    if (!net.count)
        fuzz_check(ulp_net_parse(&net, "conv4@3p1 bn relu fork conv4@3p1 bn join pool2 fc8 relu fc10",
                                 (ulp_dims){1, 8, 8}, &error) == ULP_OK,
                   "the net: %s", error.text);
    ulp_error_clear(&error);
    const ulp_status status = ulp_policy_resolve(&rows, p, &net, &error);
    fuzz_check_status(status, error.text, text);
    if (status == ULP_OK)
        for (size_t i = 0; i <= net.count; i++) {
            const ulp_cast *at = rows ? rows[i].at : p->at;
            for (int k = 0; k < ULP_AT_COUNT; k++)
                fuzz_check(ulp_rule_check(&at[k].format, at[k].rule) == ULP_OK, "'%s': %s has no rule", text,
                           ulp_point_name((ulp_point_kind)k));
        }
    free(rows);
}

/* FORMAT[@WHEN][/MODE[/BITS]] is read from what is written of it. */
static void check_cast(const char *text) {
    ulp_error why = {0};
    char written[ULP_CAST_TEXT_MAX];
    ulp_cast cast = {0}, again = {0};
    ulp_cast_text about = {"act", 1, 0};
    const ulp_status status = ulp_cast_read(&cast, &about, text, &why);
    fuzz_check_status(status, why.text, text);
    if (status != ULP_OK) return;
    ulp_cast_write(written, sizeof written, &cast);
    fuzz_check(ulp_cast_read(&again, &about, written, &why) == ULP_OK, "cast '%s' is '%s': %s", text, written,
               why.text);
    fuzz_check(memcmp(&cast, &again, sizeof cast) == 0, "cast '%s' is '%s', which is another", text, written);
}

static void run(const uint8_t *data, size_t size) {
    static char printed[ULP_POLICY_TEXT_MAX], twice[ULP_POLICY_TEXT_MAX];
    static ulp_policy p, again;
    const char *text = fuzz_text(data, size);
    memset(&p, 0, sizeof p);
    memset(&again, 0, sizeof again);
    ulp_error_clear(&error);
    check_cast(text);
    const ulp_status status = ulp_policy_parse(&p, text, &error);
    fuzz_check_status(status, error.text, text);
    if (status != ULP_OK) return;
    fuzz_passed();
    const ulp_status shown = ulp_policy_print(printed, sizeof printed, &p);
    if (shown == ULP_BAD_ARGUMENT && p.selections > 0) return; /* more than ULP_POLICY_TEXT_MAX characters */
    fuzz_check(shown == ULP_OK, "'%s' cannot be printed", text);
    fuzz_check(ulp_policy_parse(&again, printed, &error) == ULP_OK, "'%s' is '%s': %s", text, printed, error.text);
    fuzz_check(ulp_policy_print(twice, sizeof twice, &again) == ULP_OK && strcmp(printed, twice) == 0,
               "'%s' is '%s', which is '%s'", text, printed, twice);
    ulp_error_clear(&error);
    fuzz_check_status(ulp_policy_check(&p, &error), error.text, text);
    check_layers(&p, text);
}

static void seeds(void) {
    fuzz_seed_words(
        "fp32 fp16 mixed:bf16 mixed:fp16,wgrad=e5m2,agrad=e4m3,acc=serial:fp16:sr/8,master=none,mode=srb/7 "
        "mixed:e4m3,agrad=e4m3:sat q6.10,mode=sr,acc=fp32,loss=fp32 bf16,mode=sr/8,out=fp32,acc=fp32 "
        "mixed:e4m3,act=e4m3@delayed5,agrad=e5m2@delayed5 mixed:fp16,bn.*=fp32,first.weight=bf16,3.act=e4m3@amax "
        "fp32,fwd=h100-fp16,bwd=exact:fp32:rne,norm=fp64,state=bf16/rz mixed:fp16,relu.act=e5m2/sr/4,last.mode=ru "
        "mixed:bf16,input.act=fp16,conv.*=mixed:e4m3,fc.master=none,conv.fwd=a100-fp16,fc.bwd=fp32");
}

const fuzz_target fuzz_target_policies = {FUZZ_TEXT("policies", 600, 1 << 18, 4)};

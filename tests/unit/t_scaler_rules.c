/* t_scaler_rules.c - rules of loss scales: their texts, their defaults, and the scale after every step. */

#include "test.h"

#include "texts.h"

static ulp_error error;

/* Update a scaler with good steps '.' and overflows '!', and compare the scale after every step. */
static void trace(const char *text, const char *events, const int *scales, uint64_t skipped) {
    ulp_scaler s;
    assert_ok(scaler_from_text(&s, text, &error));
    for (size_t i = 0; events[i]; i++) {
        int skip = ulp_scaler_update(&s, events[i] != '!' ? 1.0f : i % 2 ? INFINITY : NAN);
        assert_int_equal(skip, events[i] == '!' && s.rule.skip);
        if (s.log2 != scales[i]) fail_msg("%s, step %zu: 2^%d, want 2^%d", text, i, s.log2, scales[i]);
    }
    assert_int_equal(s.skipped, skipped);
}

TEST(scaler_traces) {
    trace("none", ".!.", (const int[]){0, 0, 0}, 0);
    trace("static:8", "..!!", (const int[]){8, 8, 8, 8}, 0);
    trace("static:8,skip=1", ".!!", (const int[]){8, 8, 8}, 2);
    /* the scale grows after 3 good steps in a row; an overflow halves it and restarts the count */
    trace("pytorch,interval=3", ".....!..!...", (const int[]){16, 16, 17, 17, 17, 16, 16, 16, 15, 15, 15, 16}, 2);
    trace("apex,interval=1,init=23", "....!.", (const int[]){24, 24, 24, 24, 23, 24}, 1);
    trace("keras,interval=2,init=1", "!!!..", (const int[]){0, 0, 0, 0, 1}, 3);
    /* the second and every later overflow halves the scale; after a growth one overflow is tolerated again */
    trace("megatron,interval=2", "!!!..!!..", (const int[]){32, 31, 30, 30, 31, 31, 30, 30, 31}, 5);
    trace("deepspeed,interval=2", "!!!..!!..", (const int[]){16, 15, 14, 14, 15, 15, 14, 14, 15}, 5);
    trace("fairseq,interval=2,min=5", "!!!..", (const int[]){6, 5, 5, 5, 6}, 3);
    trace("backoff", "!..!....", (const int[]){23, 23, 23, 22, 22, 22, 22, 22}, 2);
}

TEST(scaler_rows) {
    static const struct {
        const char *name;
        int init, max;
        unsigned interval;
    } want[] = {{"pytorch", 16, 126, 2000},
                {"apex", 16, 24, 2000},
                {"keras", 15, 126, 2000},
                {"deepspeed", 16, 126, 1000},
                {"fairseq", 7, 126, 16384}};
    ulp_scaler s;
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_ok(scaler_from_text(&s, want[i].name, &error));
        assert_true(s.log2 == want[i].init && s.rule.max == want[i].max && s.rule.interval == want[i].interval &&
                    s.rule.skip);
        for (unsigned k = 1; k < want[i].interval; k++) ulp_scaler_update(&s, 0.0f);
        assert_int_equal(s.log2, want[i].init);
        ulp_scaler_update(&s, 0.0f);
        assert_int_equal(s.log2, want[i].init + 1);
    }
    for (size_t i = 0; ulp_scaler_rule_get(i); i++)
        assert_ok(scaler_from_text(&s, ulp_scaler_rule_get(i)->name, &error));
}

/* The init of a changed rule has to be within its limits. */
TEST(scaler_edited) {
    ulp_scaler s;
    ulp_scaler_rule rule = *ulp_scaler_rule_find("apex");
    rule.init = 25;
    assert_int_equal(ulp_scaler_init(&s, &rule, &error), ULP_BAD_NAME);
    rule = ulp_scaler_static(-7);
    assert_ok(ulp_scaler_init(&s, &rule, &error));
    assert_true(s.log2 == -7 && !s.rule.skip);
    assert_null(ulp_scaler_rule_find("torch"));
}

TEST(scaler_bad) {
    static const char *const bad[][2] = {
        {"", "no rule ''; known: none, static, pytorch, apex, keras"},
        {"torch", "no rule 'torch'; did you mean 'pytorch'?"},
        {"xyzzy", "no rule 'xyzzy'; known: none, static, pytorch, apex, keras, megatron, deepspeed, fairseq, backoff, "
                  "logmax, layer"},
        {"pytorsh", "no rule 'pytorsh'; did you mean 'pytorch'?"},
        {"static:", "'init=': init is a whole number from -126 to 126"},
        {"static:x", "'init=x'"},
        {"static:127", "'init=127'"},
        {"pytorch:3", "no rule 'pytorch:3'"},
        {"pytorch,interval", "interval needs a value, as interval=...: a whole number from 0 to 1e+09 (good steps"},
        {"pytorch,interval=-1", "'interval=-1': interval is a whole number from 0 to 1e+09"},
        {"pytorch,init=12x", "'init=12x'"},
        {"apex,init=25", "init 25 is not between min -126 and max 24"},
        {"pytorch,,init=3", "'' is not key=value"},
        {"pytorch,init=3,init=3", "scaler pytorch: init is given twice"},
        {"pytorch,speed=3", "no key 'speed'; known: init, min, max, skip, interval, hysteresis"},
        {"pytorch,skip=2", "'skip=2': skip is 0 or 1"},
    };
    ulp_scaler s;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(scaler_from_text(&s, bad[i][0], &error), ULP_BAD_NAME);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], error.text);
        assert_int_equal(scaler_from_text(&s, bad[i][0], NULL), ULP_BAD_NAME);
    }
}

TESTS(NULL, NULL)

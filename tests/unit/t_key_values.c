/* t_key_values.c - reading and printing "key=value" texts, and the reference texts of all registries of sim/. */
#include "support.h"

#include "sim/help.h"
#include "sim/losses/loss.h"
#include "sim/optim/optim.h"
#include "sim/train/scaler.h"

typedef struct things {
    double share;
    int16_t small;
    uint8_t flag;
    int64_t large;
    uint32_t natural;
} things;

#define FIELD(field) ULP_KEY_FIELD(things, field)

static const ulp_key some[] = {
    {"share", "a share", ULP_KEY_NUMBER, FIELD(share), 0, 1, NULL, 0, NULL, NULL},
    {"small", "a small one", ULP_KEY_INTEGER, FIELD(small), -300, 300, NULL, 0, NULL, NULL},
    {.name = NULL},
};
static const ulp_key others[] = {
    {"flag", "a flag", ULP_KEY_FLAG, FIELD(flag), 0, 1, NULL, 0, NULL, NULL},
    {"large", "a large one", ULP_KEY_INTEGER, FIELD(large), -1e15, 1e15, NULL, 0, NULL, NULL},
    {"natural", "one of 32 bits", ULP_KEY_INTEGER, FIELD(natural), 0, 4294967295.0, NULL, 0, NULL, NULL},
    {.name = NULL},
};
static const ulp_key *const lists[] = {some, others, NULL};
static const ulp_key_reader reader = {.lists = lists};

TEST(reads_and_prints) {
    static const char *const texts[][2] = {
        {"", "share=0,small=0,flag=0,large=0,natural=0"},
        {"small=-300,share=0.1", "share=0.10000000000000001,small=-300,flag=0,large=0,natural=0"},
        {"large=-1e15,natural=4294967295,flag=1", "share=0,small=0,flag=1,large=-1000000000000000,natural=4294967295"},
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        things t = {0}, again = {0};
        ulp_error why = {0};
        char text[256], second[256];
        if (ulp_keys_read(&t, &reader, texts[i][0], "thing", &why) != ULP_OK) fail_msg("%s", why.text);
        assert_ok(ulp_keys_print(text, sizeof text, &reader, &t, NULL));
        assert_string_equal(text, texts[i][1]);
        assert_ok(ulp_keys_read(&again, &reader, text, "thing", &why));
        assert_ok(ulp_keys_print(second, sizeof second, &reader, &again, NULL));
        assert_string_equal(text, second);
        assert_int_equal(ulp_keys_print(text, 20, &reader, &t, NULL), ULP_BAD_ARGUMENT);
    }
}

TEST(prints_what_differs) {
    static const ulp_key_reader colons = {.lists = lists, .between = ':'};
    const things base = {.share = 0.5, .small = -8, .large = 7};
    things t = base;
    char text[64];
    assert_ok(ulp_keys_print(text, sizeof text, &colons, &t, &base));
    assert_string_equal(text, "");
    t.natural = 3, t.small = 8, t.flag = 1;
    assert_ok(ulp_keys_print(text, sizeof text, &colons, &t, &base));
    assert_string_equal(text, "small=8:flag=1:natural=3");
}

TEST(refuses) {
    static const char *const bad[][2] = {
        {"share=2", "thing: 'share=2': share is a number from 0 to 1"},
        {"small=301", "'small=301': small is a whole number from -300 to 300"},
        {"small=1.5", "'small=1.5'"},
        {"flag=2", "'flag=2': flag is 0 or 1"},
        {"share=", "'share='"},
        {"share= 0.5", "'share= 0.5': share is a number"},
        {"share", "thing: share needs a value, as share=...: a number from 0 to 1 (a share)"},
        {"shares", "'shares' is not key=value"},
        {"share=1,", "''"},
        {",share=1", "''"},
        {"share=0,small=1,share=1", "thing: share is given twice"},
        {"shar=1", "no key 'shar'; did you mean 'share'?"},
        {"smell=1", "no key 'smell'; did you mean 'small'?"},
        {"colour=1", "no key 'colour'; known: share, small, flag, large, natural"},
    };
    char longest[2 * ULP_VALUE_MAX];
    things t = {0};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_error why = {0};
        assert_int_equal(ulp_keys_read(&t, &reader, bad[i][0], "thing", &why), ULP_BAD_NAME);
        if (!strstr(why.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], why.text);
        assert_int_equal(ulp_keys_read(&t, &reader, bad[i][0], "thing", NULL), ULP_BAD_NAME);
    }
    memset(longest, '1', sizeof longest);
    memcpy(longest, "share=", 6);
    longest[sizeof longest - 1] = 0;
    ulp_error why = {0};
    assert_int_equal(ulp_keys_read(&t, &reader, longest, "thing", &why), ULP_BAD_NAME);
    assert_true(strlen(why.text) < 128); /* the message shortens a long word */
}

/* A reader of pairs with colons between them and of plain whole numbers; only things with a share can have a flag. */
static const char *lacks(const void *to, const ulp_key *key) {
    return key->type == ULP_KEY_FLAG && ((const things *)to)->share == 0 ? "is of things with a share" : NULL;
}

TEST(plain) {
    static const ulp_key_reader plain = {.lists = lists, .between = ':', .plain = 1, .lacks = lacks};
    static const struct {
        const char *text, *why;
        ulp_status status;
    } bad[] = {
        {"small=301", "'small=301': small is a whole number from -300 to 300", ULP_NOT_IN_RANGE},
        {"small=99999999999999999999", "small is a whole number", ULP_NOT_IN_RANGE},
        {"small=1e2", "'small=1e2'", ULP_BAD_NAME},
        {"small=0x10", "'small=0x10'", ULP_BAD_NAME},
        {"small= 1", "'small= 1'", ULP_BAD_NAME},
        {"small=", "'small='", ULP_BAD_NAME},
        {"share=1,small=1", "'share=1,small=1'", ULP_BAD_NAME},
        {"small=1:SMALL=1", "thing: small is given twice", ULP_BAD_NAME},
        {"small=1:", "'' is not key=value; words stand between colons", ULP_BAD_NAME},
        {"flag=1", "thing: 'flag=1': flag is of things with a share", ULP_UNSUPPORTED},
        {"small2=1", "no key 'small2'; did you mean 'small'?", ULP_BAD_NAME},
    };
    things t = {0};
    assert_ok(ulp_keys_read(&t, &plain, "Share=1e-1:SMALL=-08:flag=1", "thing", NULL));
    assert_true(t.share == 0.1 && t.small == -8 && t.flag == 1);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_error why = {0};
        t = (things){0};
        assert_int_equal(ulp_keys_read(&t, &plain, bad[i].text, "thing", &why), bad[i].status);
        if (!strstr(why.text, bad[i].why)) fail_msg("%s: %s", bad[i].text, why.text);
    }
}

/* ---- reference texts ---- */

static char all[1 << 16];

static void add_line(void *context, const char *line) {
    (void)context;
    assert_null(strchr(line, '\n'));
    assert_true(strlen(all) + strlen(line) + 2 < sizeof all);
    strcat(strcat(all, line), "\n");
}

/* Check that the text has an entry with this name. */
static void assert_entry(const char *name) {
    char entry[300];
    snprintf(entry, sizeof entry, "\n%s ", name);
    if (!strstr(all, entry)) fail_msg("no entry '%s' in\n%s", name, all);
}

TEST(reference_texts) {
    const ulp_help to = {add_line, NULL};
    const ulp_help_topic *topic;
    char known[256];
    size_t topics = 0;
    for (; (topic = ulp_sim_topic_get(topics)); topics++) {
        const size_t before = strlen(all);
        topic->write(&to);
        assert_true(strlen(all) > before + 80 && strlen(topic->what) > 5);
    }
    assert_int_equal(topics, 7);
    for (size_t i = 0; ulp_optimizer_kind_get(i); i++) assert_entry(ulp_optimizer_kind_get(i)->name);
    for (size_t i = 0; ulp_scaler_rule_get(i); i++) assert_entry(ulp_scaler_rule_get(i)->name);
    for (size_t i = 0; ulp_loss_kind_get(i); i++) assert_entry(ulp_loss_kind_get(i)->name);
    for (size_t i = 0; ulp_data_kind_get(i); i++) assert_entry(ulp_data_kind_get(i)->name);
    for (int i = 0; i < ULP_AT_COUNT; i++) assert_entry(ulp_point_name((ulp_point_kind)i));
    for (size_t i = 0; ulp_layer_kind_get(i); i++) {
        snprintf(known, sizeof known, "%s", ulp_layer_kind_get(i)->usage);
        assert_non_null(strchr(known, ':'));
        *strchr(known, ':') = 0;
        assert_entry(known);
    }
}

TESTS(NULL, NULL)

/* datapath_texts.h - names of datapaths that are taken, with the name that is printed, and names that are refused, with
 * the reason. */
#ifndef ULP_TESTS_DATAPATH_TEXTS_H
#define ULP_TESTS_DATAPATH_TEXTS_H

#include "support.h"

typedef struct taken_name {
    const char *text, *canonical;
} taken_name;

typedef struct refused_name {
    const char *text, *why; /* why: a part of the sentence */
    ulp_status status;
} refused_name;

/* The canonical name is printed, and reads as itself. */
static inline void names_are_taken(const taken_name *names, size_t count) {
    ulp_datapath d;
    char text[ULP_DATAPATH_NAME_MAX];
    for (size_t i = 0; i < count; i++) {
        assert_ok(ulp_datapath_parse(&d, names[i].text));
        assert_string_equal(d.name, names[i].canonical);
        assert_ok(ulp_datapath_print(text, sizeof text, &d));
        assert_string_equal(text, names[i].canonical);
        assert_ok(ulp_datapath_parse(&d, text));
        assert_string_equal(d.name, names[i].canonical);
    }
}

static inline void names_are_refused(const refused_name *names, size_t count) {
    ulp_datapath d;
    ulp_error why;
    for (size_t i = 0; i < count; i++) {
        const ulp_status status = ulp_datapath_parse(&d, names[i].text);
        if (status != names[i].status) fail_msg("%s: %s", names[i].text, ulp_status_text(status));
        assert_int_equal(ulp_datapath_explain(&why, names[i].text), names[i].status);
        if (strstr(why.text, names[i].why) == NULL) fail_msg("%s: %s", names[i].text, why.text);
    }
}

#endif

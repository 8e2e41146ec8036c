/* conditions.c - is a run the one that its claims are about? see setup.h. */
#include "conditions.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/harness/run.h"

int ulp_setup_differs(const ulp_run *run, const char *names, char *why, size_t size) {
    why[0] = 0;
    for (const char *at = names; *at; at += strspn(at, " ")) {
        char name[32];
        size_t length = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        const ulp_option *o = ulp_setting_find(run, name)->option;
        const char *want = o->quick && ulp_option_flag(run, "quick") ? o->quick
                           : o->full && ulp_option_flag(run, "full") ? o->full
                                                                     : o->value;
        const char *have = ulp_option_text(run, name);
        if (strcmp(have, want) == 0) continue;
        if (*want) snprintf(why, size, "--%s is %.60s, the claim is about %s", name, have, want);
        else snprintf(why, size, "--%s is given, the claim is about runs without it", name);
        return 1;
    }
    return 0;
}

int ulp_setup_is_other(const ulp_run *run, const ulp_wanted *wanted, char *why, size_t size) {
    why[0] = 0;
    for (; wanted->name; wanted++) {
        const char *have = ulp_option_text(run, wanted->name);
        if (strcmp(have, wanted->value) == 0 || (wanted->or_more && atof(have) >= atof(wanted->value))) continue;
        snprintf(why, size, "--%s is %.100s, the claim is about %s%s", wanted->name, have, wanted->value,
                 wanted->or_more ? " or more" : "");
        return 1;
    }
    return 0;
}

void ulp_claim_setup(ulp_run *run, const char *why, int pass, const char *text, const char *measured, ...) {
    ulp_text values = {0};
    va_list arguments;
    va_start(arguments, measured);
    ulp_text_print_list(&values, measured, arguments);
    va_end(arguments);
    if (*why) ulp_claim_skip(run, text, "%s; here: %s", why, ulp_text_of(&values));
    else ulp_claim(run, pass, text, "%s", ulp_text_of(&values));
    ulp_text_free(&values);
}

void ulp_list_add(char *text, size_t size, const char *item, ...) {
    va_list arguments;
    size_t used = strlen(text);
    if (used) used += (size_t)snprintf(text + used, size - used, ", ");
    if (used >= size) return;
    va_start(arguments, item);
    vsnprintf(text + used, size - used, item, arguments);
    va_end(arguments);
}

/* strchr finds the end of the list, too. */
int ulp_list_has(const char *list, const char *item) {
    const size_t length = strlen(item);
    for (const char *at = list; length > 0 && (at = strstr(at, item)) != NULL; at += length)
        if ((at == list || strchr(" ,", at[-1])) && strchr(" ,", at[length])) return 1;
    return 0;
}

int ulp_run_has_format(const ulp_run *run, const char *name) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    for (size_t f = 0; f < formats; f++)
        if (strcmp(format[f].name, name) == 0) return 1;
    return 0;
}

/* finding.c - what is measured of several things, and one verdict about all of them; see finding.h. */
#include "finding.h"

void ulp_finding_add(ulp_finding *f, int holds, const char *measured, ...) {
    va_list arguments;
    ulp_text_print(&f->measured, "%s", f->count ? ", " : "");
    va_start(arguments, measured);
    ulp_text_print_list(&f->measured, measured, arguments);
    va_end(arguments);
    f->count++;
    f->against += !holds;
}

void ulp_finding_note(ulp_finding *f, const char *note, ...) {
    va_list arguments;
    ulp_text_print(&f->notes, "; ");
    va_start(arguments, note);
    ulp_text_print_list(&f->notes, note, arguments);
    va_end(arguments);
}

void ulp_claim_found(ulp_claims *c, const char *why, ulp_finding *f, const char *text, ...) {
    ulp_text claim = {0};
    va_list arguments;
    va_start(arguments, text);
    ulp_text_print_list(&claim, text, arguments);
    va_end(arguments);
    if (f->count)
        ulp_claim_if(c, why, f->against == 0, ulp_text_of(&claim), "%s%s", ulp_text_of(&f->measured),
                     ulp_text_of(&f->notes));
    ulp_text_free(&claim);
    ulp_text_free(&f->measured);
    ulp_text_free(&f->notes);
    *f = (ulp_finding){0};
}

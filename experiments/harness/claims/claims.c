/* claims.c - collecting, printing and writing verdicts, published numbers and the summary; see claims.h. */
#include "claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sheet.h"

static void add(ulp_claims *c, ulp_claim_entry entry) {
    c->entries = ulp_room_for(c->entries, c->count, &c->room, sizeof *c->entries);
    c->entries[c->count++] = entry;
}

static char *print_list(const char *text, va_list arguments) {
    ulp_text to = {0};
    ulp_text_print_list(&to, text, arguments);
    return to.data ? to.data : ulp_copy_text("");
}

void ulp_claim(ulp_claims *c, int pass, const char *text, const char *measured, ...) {
    va_list arguments;
    va_start(arguments, measured);
    char *values = print_list(measured, arguments);
    va_end(arguments);
    if (!c->other) {
        add(c, (ulp_claim_entry){pass ? ULP_PASS : ULP_FAIL, ulp_copy_text(text), values, NULL, NULL});
        return;
    }
    ulp_claim_skip(c, text, "%s; here: %s", c->other, values);
    free(values);
}

void ulp_claims_skip_all(ulp_claims *c, const char *why) { c->other = why; }

const char *ulp_claim_text(ulp_claims *c, const char *text, ...) {
    va_list arguments;
    ulp_text_free(&c->text);
    va_start(arguments, text);
    ulp_text_print_list(&c->text, text, arguments);
    va_end(arguments);
    return ulp_text_of(&c->text);
}

void ulp_claim_skip(ulp_claims *c, const char *text, const char *why, ...) {
    va_list arguments;
    va_start(arguments, why);
    add(c, (ulp_claim_entry){ULP_SKIP, ulp_copy_text(text), print_list(why, arguments), NULL, NULL});
    va_end(arguments);
}

void ulp_claim_if(ulp_claims *c, const char *why, int pass, const char *text, const char *measured, ...) {
    va_list arguments;
    va_start(arguments, measured);
    char *values = print_list(measured, arguments);
    va_end(arguments);
    if (*why) ulp_claim_skip(c, text, "%s; here: %s", why, values);
    else ulp_claim(c, pass, text, "%s", values);
    free(values);
}

void ulp_beside(ulp_claims *c, const ulp_published *published, const char *here, ...) {
    va_list arguments;
    va_start(arguments, here);
    add(c, (ulp_claim_entry){ULP_PUBLISHED, ulp_copy_text(published->what), print_list(here, arguments),
                             ulp_copy_text(published->number), ulp_copy_text(published->source)});
    va_end(arguments);
}

void ulp_summary(ulp_claims *c, const char *quantity, double value, const char *of, ...) {
    va_list arguments;
    ulp_text_print(&c->summary, "%s,", quantity);
    va_start(arguments, of);
    ulp_text_print_list(&c->summary, of, arguments);
    va_end(arguments);
    if (isnan(value)) ulp_text_print(&c->summary, ",nan\n");
    else ulp_text_print(&c->summary, ",%.17g\n", value);
}

/* ---- conditions ---- */

/* Adds to c->why how an option is not as an item of ulp_claim_reason() wants it. The item is cut at its name. */
static void compare_option(ulp_claims *c, char *item) {
    const size_t length = strcspn(item, "=>");
    const int or_more = item[length] == '>', has_value = item[length] != '\0';
    item[length] = '\0';
    const ulp_setting *s = ulp_setting_find(c->arguments, item);
    const char *want = has_value ? item + length + 1 + or_more : ulp_option_default(s->option, c->preset);
    if (strcmp(s->value, want) == 0 || (or_more && strtod(s->value, NULL) >= strtod(want, NULL))) return;
    if (*want)
        ulp_text_print(&c->why, "--%s is %.100s, the claim is about %s%s", item, s->value, want,
                       or_more ? " or more" : "");
    else ulp_text_print(&c->why, "--%s is given, the claim is about runs without it", item);
}

const char *ulp_claim_reason(ulp_claims *c, const char *wanted) {
    ulp_text_free(&c->why);
    for (const char *end; *wanted && !c->why.length; wanted = end + strspn(end, ", ")) {
        ulp_text item = {0};
        end = strstr(wanted, ", ");
        if (!end) end = wanted + strlen(wanted);
        ulp_text_add(&item, wanted, (size_t)(end - wanted));
        compare_option(c, item.data);
        ulp_text_free(&item);
    }
    return ulp_text_of(&c->why);
}

/* ---- the printed report ---- */

int ulp_claims_count(const ulp_claims *c, ulp_verdict verdict) {
    int count = 0;
    for (size_t i = 0; i < c->count; i++) count += c->entries[i].verdict == verdict;
    return count;
}

static void print_published(const ulp_claims *c) {
    if (!ulp_claims_count(c, ULP_PUBLISHED) || !c->file) return;
    ulp_sheet *sheet = ulp_sheet_new("compared with the literature", "quantity,published,here,source");
    for (size_t i = 0; i < c->count; i++) {
        const ulp_claim_entry *e = &c->entries[i];
        if (e->verdict != ULP_PUBLISHED) continue;
        ulp_sheet_put(sheet, "%s", e->text);
        ulp_sheet_put(sheet, "%s", e->published);
        ulp_sheet_put(sheet, "%s", e->here);
        ulp_sheet_put(sheet, "%s", e->source);
    }
    ulp_sheet_print(sheet, c->file);
}

static void print_verdict(const ulp_claims *c, const ulp_claim_entry *e) {
    static const char *const words[] = {"FAIL", "PASS", "SKIP"};
    static const char *const colours[] = {"\033[1;31m", "\033[32m", "\033[33m"};
    FILE *file = c->file ? c->file : c->loud;
    const int colour = ulp_colour_on(file);
    ulp_text line = {0}, wrapped = {0};
    ulp_text_print(&line, "%s (%s)", e->text, e->here);
    ulp_text_wrap(&wrapped, ulp_text_of(&line), 5, 5, isatty(fileno(file)) ? ulp_columns_of(file) : 1 << 20);
    fprintf(file, "%s%s%s %s\n", colour ? colours[e->verdict] : "", words[e->verdict], colour ? "\033[0m" : "",
            ulp_text_of(&wrapped));
    ulp_text_free(&line);
    ulp_text_free(&wrapped);
}

int ulp_claims_print(const ulp_claims *c, const char *program) {
    const int passed = ulp_claims_count(c, ULP_PASS), failed = ulp_claims_count(c, ULP_FAIL),
              skipped = ulp_claims_count(c, ULP_SKIP), any = passed + failed + skipped;
    print_published(c);
    if (c->file && any) fprintf(c->file, "\n");
    for (size_t i = 0; i < c->count; i++) {
        const ulp_claim_entry *e = &c->entries[i];
        if (e->verdict != ULP_PUBLISHED && (c->file || e->verdict == ULP_FAIL)) print_verdict(c, e);
    }
    if (c->file && any)
        fprintf(c->file, "%s: %d claims passed, %d failed, %d skipped\n", program, passed, failed, skipped);
    return failed;
}

/* ---- the files for the gallery and the figures ---- */

static void put_cell(FILE *file, const char *text) {
    fputc('\t', file);
    for (; text && *text; text++) fputc(*text == '\t' || *text == '\n' ? ' ' : *text, file);
}

void ulp_claims_write_tsv(FILE *file, const ulp_claims *c, const char *command) {
    static const char *const kinds[] = {"FAIL", "PASS", "SKIP", "published"};
    fprintf(file, "kind\ttext\there\tpublished\tsource\n");
    for (size_t i = 0; i < c->count; i++) {
        const ulp_claim_entry *e = &c->entries[i];
        const char *const cells[] = {e->text, e->here, e->published, e->source};
        fputs(kinds[e->verdict], file);
        for (int k = 0; k < 4; k++) put_cell(file, cells[k]);
        fputc('\n', file);
    }
    fputs("run\tcommand", file);
    put_cell(file, command);
    fputs("\t\t\n", file);
}

void ulp_claims_write_summary(FILE *file, const void *claims) {
    fprintf(file, "quantity,of,value\n%s", ulp_text_of(&((const ulp_claims *)claims)->summary));
}

void ulp_claims_free(ulp_claims *c) {
    for (size_t i = 0; i < c->count; i++) {
        char *const texts[] = {c->entries[i].text, c->entries[i].here, c->entries[i].published, c->entries[i].source};
        for (int k = 0; k < 4; k++) free(texts[k]);
    }
    free(c->entries);
    ulp_text_free(&c->summary);
    ulp_text_free(&c->text);
    ulp_text_free(&c->why);
}

/* ---- findings ---- */

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

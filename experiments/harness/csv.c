/* csv.c - the CSV of a run: its head, which says what decides the numbers, and its rows. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

static void put_format(ulp_text *to, const ulp_format *f) {
    static const char *const nan_names[] = {"none", "ieee", "all-ones", "negative-zero"};
    ulp_text_print(to,
                   "# format %s: bits=%d p=%d bias=%d emin=%d emax=%d max=%.17g lowest=%.17g min_normal=%.17g "
                   "min_positive=%.17g",
                   f->name, f->bits, f->prec, f->bias, f->emin, f->emax, f->max, f->lowest, f->min_normal,
                   f->min_positive);
    ulp_text_print(to, " signed=%d fixed=%d inf=%d nan=%s negative_zero=%d subnormals=%d overflow=%s\n", f->is_signed,
                   f->is_fixed, f->has_inf, nan_names[f->nan_codes], f->has_neg_zero, f->has_subnormals,
                   ulp_overflow_name((ulp_overflow)f->overflow));
}

static void put_setting(ulp_text *to, const ulp_setting *s) {
    ulp_text_print(to, "# %s: ", s->option->name);
    s->option->type->print(to, s->field, s->option);
    ulp_text_add(to, "\n", 1);
    if (strcmp(s->option->name, "seed") == 0)
        ulp_text_print(to, "# generator: %s\n# generator layout: %d\n", ULP_RNG_NAME, ULP_RNG_LAYOUT);
}

void ulp_run_begin_header(ulp_run *run) {
    ulp_text *to = &run->plan.header;
    size_t own = 0; /* the experiment's own options come first */
    while (run->experiment->options && run->experiment->options[own].name) own++;
    ulp_text_print(to, "# experiment: %s\n# version: %s\n", run->experiment->name, ulp_build_version());
    for (size_t i = 0; i < run->arguments.count; i++) {
        const ulp_setting *s = &run->arguments.settings[i];
        if (i < own && !s->option->silent) put_setting(to, s);
    }
    for (size_t i = 0; i < run->arguments.count; i++) {
        const ulp_setting *s = &run->arguments.settings[i];
        if (s->option->type != &ulp_type_formats) continue;
        const ulp_format_list *formats = s->field;
        for (size_t f = 0; f < formats->count; f++) put_format(to, &formats->at[f]);
    }
}

void ulp_run_write_csv(FILE *file, const void *own) {
    const ulp_run *run = own;
    char *columns = ulp_columns_text(run->experiment->columns);
    fputs(ulp_text_of(&run->plan.header), file);
    for (size_t k = 0; k < run->plan.count; k++)
        if (run->sweep.work[k].missing) fprintf(file, "# %s\n", run->sweep.work[k].missing);
    fprintf(file, "%s\n", columns);
    for (size_t k = 0; k < run->plan.count; k++) {
        const ulp_text *text = &run->sweep.work[k].rows.text;
        if (text->length) fwrite(text->data, 1, text->length, file);
    }
    free(columns);
}

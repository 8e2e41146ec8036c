/* listing.c - --list: a command for every point of the plan, for GNU parallel or a job array, and the merge command. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

/* Print the given options, without --out, --list and --quiet. */
static void print_given(const ulp_run *run) {
    static const char left_out[] = "out list quiet";
    ulp_text text = {0};
    ulp_text_quote(&text, run->argv[0]);
    for (size_t i = 0; i < run->arguments.count; i++) {
        const ulp_setting *s = &run->arguments.settings[i];
        if (!s->given || ulp_list_has(left_out, s->option->name)) continue;
        ulp_text_print(&text, " --%s", s->option->name);
        if (!s->option->type->value_name) continue;
        ulp_text_add(&text, " ", 1);
        ulp_text_quote(&text, s->value);
    }
    fputs(ulp_text_of(&text), stdout);
    ulp_text_free(&text);
}

static void print_out(const char *out) {
    ulp_text text = {0};
    if (!*out) return;
    ulp_text_quote(&text, out);
    printf(" --out %s", ulp_text_of(&text));
    ulp_text_free(&text);
}

ulp_status ulp_run_list(const ulp_run *run, ulp_error *error) {
    const char *out = run->common.out;
    const size_t count = run->plan.count;
    ulp_text base = {0}, stem = {0};
    if (run->experiment->whole) {
        print_given(run);
        print_out(out);
        printf(" # all points: this experiment is not cut into shards\n");
        return ULP_OK;
    }
    if (strcmp(out, "-") == 0) return ulp_refuse(error, "--list with --out -: the shards need files");
    if (*out) ulp_text_print(&base, "%s", out);
    else ulp_text_print(&base, "results/%s.csv", run->experiment->name);
    char *cut = ulp_path_replace(ulp_text_of(&base), ".csv", ".shard-");
    ulp_text_quote(&stem, cut);
    for (size_t k = 0; k < count; k++) {
        print_given(run);
        printf(" --quiet --shard %zu/%zu --out %s%zu-of-%zu.csv # %s\n", k, count, ulp_text_of(&stem), k, count,
               run->plan.points[k].label);
    }
    printf("# then: ");
    print_given(run);
    print_out(out);
    printf(" --merge %s*-of-%zu.csv\n", ulp_text_of(&stem), count);
    free(cut);
    ulp_text_free(&base);
    ulp_text_free(&stem);
    return ULP_OK;
}

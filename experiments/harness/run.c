/* run.c - the files that a run writes: the CSV with its head, NAME.run.json, NAME.claims.tsv, and the commands of
 * --list.
 *
 * The head of the CSV says what decides the numbers. NAME.run.json and NAME.claims.tsv have facts that may differ
 * between two runs with the same numbers, and the verdicts. Each line of NAME.run.json has one key, one published
 * number or one claim, so that line-based tools can read the file, too.
 */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

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

/* ---- NAME.run.json and NAME.claims.tsv ---- */

/* The backend of the settings, or else the backend of the CPU. */
static const ulp_backend *backend_of(const ulp_run *run) {
    const ulp_backend *backend = NULL;
    for (size_t i = 0; i < run->arguments.count; i++)
        if (run->arguments.settings[i].option->type == &ulp_type_backend)
            backend = *(const ulp_backend *const *)run->arguments.settings[i].field;
    if (!backend) ulp_backend_get(&backend, NULL);
    return backend;
}

static void put_machine(FILE *file, const ulp_run *run) {
    const ulp_backend *backend = backend_of(run);
    char host[256] = "", what[600];
    struct utsname system;
    ulp_json_date(file);
    gethostname(host, sizeof host - 1);
    ulp_json_pair(file, "host", host);
    if (uname(&system) >= 0) {
        snprintf(what, sizeof what, "%s %s %s", system.sysname, system.release, system.machine);
        ulp_json_pair(file, "system", what);
    }
    ulp_json_pair(file, "backend", backend->name);
    ulp_json_pair(file, "machine", backend->what);
    ulp_json_pair(file, "compiler", ulp_build_compiler());
    ulp_json_pair(file, "flags", ulp_build_flags());
    ulp_json_pair(file, "commit", ulp_build_commit());
    fprintf(file, "  \"threads\": %d,\n  \"ranks\": %d,\n", run->sweep.threads, run->sweep.ranks);
    fprintf(file, "  \"points_by_all_ranks\": %zu,\n", run->sweep.shared);
}

static void put_pairs(FILE *file, const char *const keys[], const char *const texts[], int count) {
    for (int k = 0; k < count; k++) {
        fprintf(file, "%s\"%s\": ", k ? ", " : "", keys[k]);
        ulp_json_text(file, texts[k], SIZE_MAX);
    }
}

/* Write the list of claims, or of published numbers. */
static void put_entries(FILE *file, const ulp_claims *c, int published) {
    static const char *const words[] = {"FAIL", "PASS", "SKIP", ""};
    size_t n = 0;
    fprintf(file, "  \"%s\": [", published ? "published" : "claims");
    for (size_t i = 0; i < c->count; i++) {
        const ulp_claim_entry *e = &c->entries[i];
        if ((e->verdict == ULP_PUBLISHED) != published) continue;
        fprintf(file, "%s\n    {", n++ ? "," : "");
        if (published)
            put_pairs(file, (const char *const[]){"what", "published", "here", "source"},
                      (const char *const[]){e->text, e->published, e->here, e->source}, 4);
        else
            put_pairs(file, (const char *const[]){"verdict", "text", "here"},
                      (const char *const[]){words[e->verdict], e->text, e->here}, 3);
        fprintf(file, "}");
    }
    fprintf(file, "%s]%s\n", n ? "\n  " : "", published ? "," : "");
}

/* The command line of the run, for a shell; the caller frees it. */
static ulp_text command_of(const ulp_run *run) {
    ulp_text command = {0};
    for (int i = 0; i < run->argc; i++) {
        if (i) ulp_text_add(&command, " ", 1);
        ulp_text_quote(&command, run->argv[i]);
    }
    return command;
}

void ulp_run_write_claims(FILE *file, const void *own) {
    const ulp_run *run = own;
    ulp_text command = command_of(run);
    ulp_claims_write_tsv(file, &run->claims, ulp_text_of(&command));
    ulp_text_free(&command);
}

void ulp_run_write_record(FILE *file, const void *own) {
    const ulp_run *run = own;
    ulp_text command = command_of(run);
    fprintf(file, "{\n");
    ulp_json_pair(file, "experiment", run->experiment->name);
    ulp_json_pair(file, "question", run->experiment->question);
    ulp_json_pair(file, "version", ulp_build_version());
    ulp_json_pair(file, "command", ulp_text_of(&command));
    ulp_text_free(&command);
    put_machine(file, run);
    fprintf(file, "  \"wall_seconds\": %.3f,\n  \"points\": %zu,\n  \"points_resumed\": %zu,\n  \"rows\": %zu,\n",
            run->wall_seconds, run->plan.count, run->sweep.resumed, run->row_count);
    put_entries(file, &run->claims, 1);
    put_entries(file, &run->claims, 0);
    fprintf(file, "}\n");
}

/* ---- --list ---- */

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

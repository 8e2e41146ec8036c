/* record.c - writing NAME.run.json and NAME.claims.tsv: facts that may differ between two runs with the same numbers,
 * and the verdicts.
 *
 * Each line of NAME.run.json has one key, one published number or one claim, so that line-based tools can read the
 * file, too.
 */
#include "run.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

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

/* provenance.c - NAME.run.json beside the CSV: what may differ between two runs of the same numbers, and the verdicts.
 *
 * One key per line, one published number and one claim per line, so that line tools can read it as well.
 */
#include "experiments/harness/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The build passes these to this file alone, so that a new commit compiles little. */
#ifndef ULP_VERSION
#define ULP_VERSION "unknown"
#endif
#ifndef ULP_COMMIT
#define ULP_COMMIT "unknown"
#endif
#ifndef ULP_BUILD_FLAGS
#define ULP_BUILD_FLAGS "unknown"
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

const char *ulp_build_version(void) { return ULP_VERSION; }

static void put_string(FILE *file, const char *text) {
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') fprintf(file, "\\%c", *c);
        else if (*c < 0x20) fprintf(file, "\\u%04x", *c);
        else fputc(*c, file);
    }
    fputc('"', file);
}

static void put_pair(FILE *file, const char *key, const char *text) {
    fprintf(file, "  \"%s\": ", key);
    put_string(file, text);
    fprintf(file, ",\n");
}

static void put_machine(FILE *file, const ulp_run *run) {
    char date[40] = "", host[256] = "", what[600];
    time_t now = time(NULL);
    struct tm utc;
    struct utsname system;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    put_pair(file, "date", date);
    gethostname(host, sizeof host - 1);
    put_pair(file, "host", host);
    if (uname(&system) >= 0) {
        snprintf(what, sizeof what, "%s %s %s", system.sysname, system.release, system.machine);
        put_pair(file, "system", what);
    }
    put_pair(file, "backend", run->backend->name);
    put_pair(file, "machine", run->backend->what);
    put_pair(file, "compiler", COMPILER);
    put_pair(file, "flags", ULP_BUILD_FLAGS);
    put_pair(file, "commit", ULP_COMMIT);
    fprintf(file, "  \"threads\": %d,\n  \"ranks\": %d,\n", run->threads, run->ranks);
}

static void put_claims(FILE *file, const ulp_run *run) {
    static const char *const words[] = {"FAIL", "PASS", "SKIP"};
    fprintf(file, "  \"claims\": [");
    for (size_t i = 0; i < run->claim_count; i++) {
        const ulp_claim_entry *c = &run->claims[i];
        fprintf(file, "%s\n    {\"verdict\": \"%s\", \"text\": ", i ? "," : "", words[c->verdict]);
        put_string(file, c->text);
        fprintf(file, ", \"measured\": ");
        put_string(file, c->measured);
        fprintf(file, "}");
    }
    fprintf(file, "%s]\n", run->claim_count ? "\n  " : "");
}

static void put_besides(FILE *file, const ulp_run *run) {
    fprintf(file, "  \"published\": [");
    for (size_t i = 0; i < run->beside_count; i++) {
        const ulp_beside_entry *b = &run->besides[i];
        const char *const keys[] = {"what", "published", "measured", "source"}, *const texts[] = {b->what, b->published,
                                                                                                  b->measured,
                                                                                                  b->source};
        fprintf(file, "%s\n    {", i ? "," : "");
        for (int k = 0; k < 4; k++) {
            fprintf(file, "%s\"%s\": ", k ? ", " : "", keys[k]);
            put_string(file, texts[k]);
        }
        fprintf(file, "}");
    }
    fprintf(file, "%s],\n", run->beside_count ? "\n  " : "");
}

static void put_record(FILE *file, const ulp_run *run) {
    ulp_text command = {0};
    for (int i = 0; i < run->argc; i++) {
        if (i) ulp_text_add(&command, " ", 1);
        ulp_text_quote(&command, run->argv[i]);
    }
    fprintf(file, "{\n");
    put_pair(file, "experiment", run->experiment->name);
    put_pair(file, "question", run->experiment->question);
    put_pair(file, "version", ULP_VERSION);
    put_pair(file, "command", ulp_text_of(&command));
    ulp_text_free(&command);
    put_machine(file, run);
    fprintf(file, "  \"wall_seconds\": %.3f,\n  \"points\": %zu,\n  \"points_resumed\": %zu,\n  \"rows\": %ld,\n",
            run->wall_seconds, run->point_count, run->resumed, run->row_count);
    put_besides(file, run);
    put_claims(file, run);
    fprintf(file, "}\n");
}

int ulp_record_write(const ulp_run *run) {
    if (run->direct) return -1;
    char *path = ulp_path_replace(run->out, ".csv", ".run.json"), *fresh = ulp_path_replace(path, "", ".tmp");
    FILE *file = fopen(fresh, "w");
    int status = file ? -1 : ULP_EXIT_FAILED;
    if (file) {
        put_record(file, run);
        int bad = ferror(file);
        if (fclose(file) != 0 || bad || rename(fresh, path) != 0) status = ULP_EXIT_FAILED;
    }
    if (status >= 0) fprintf(stderr, "%s: cannot write %s: %s\n", run->experiment->name, path, strerror(errno));
    free(path);
    free(fresh);
    return status;
}

/* json.c - writes the rows for machines: one JSON object, with one row of the CSV in each line of its list `rows`. */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* The Makefile defines it for this file alone. */
#ifndef ULP_COMMIT_DATE
#define ULP_COMMIT_DATE "unknown"
#endif

static void put_text(FILE *file, const char *text) {
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') fputc('\\', file);
        fputc((unsigned char)*c < 0x20 ? ' ' : *c, file);
    }
    fputc('"', file);
}

static void put_pair(FILE *file, const char *key, const char *text) {
    fprintf(file, "  \"%s\": ", key);
    put_text(file, text);
    fprintf(file, ",\n");
}

/* The value of the first line of /proc/cpuinfo with this key; "" without it. */
static void read_cpuinfo(char *value, size_t size, const char *key) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    *value = '\0';
    while (file && !*value && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0 || !strchr("\t :", line[strlen(key)])) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    }
    if (file) fclose(file);
}

/* The name of the processor, with family and model: the name of a virtual machine's processor may leave them open. */
static void name_processor(char *name, size_t size) {
    char model_name[200], family[20], model[20];
    struct utsname system;
    read_cpuinfo(model_name, sizeof model_name, "model name");
    read_cpuinfo(family, sizeof family, "cpu family");
    read_cpuinfo(model, sizeof model, "model");
    if (*model_name && *family) snprintf(name, size, "%s (family %s model %s)", model_name, family, model);
    else snprintf(name, size, "%s", *model_name ? model_name : uname(&system) >= 0 ? system.machine : "unknown");
}

static void put_number(FILE *file, const char *key, double x) {
    if (ulp_is_no_number(x)) fprintf(file, ", \"%s\": null", key);
    else fprintf(file, ", \"%s\": %.6g", key, x);
}

static void put_word(FILE *file, const char *key, const char *text) {
    fprintf(file, "%s\"%s\": ", strcmp(key, "group") == 0 ? "    {" : ", ", key);
    if (text) put_text(file, text);
    else fprintf(file, "null");
}

static void put_row(FILE *file, const row *r, int last) {
    put_word(file, "group", r->group);
    put_word(file, "what", r->what);
    put_word(file, "of", r->of);
    put_word(file, "mode", r->mode);
    put_word(file, "by", r->by);
    fprintf(file, ", \"threads\": %lld, \"n\": ", (long long)r->threads);
    if (r->n == ULP_NO_INTEGER) fprintf(file, "null");
    else fprintf(file, "%lld", (long long)r->n);
    put_word(file, "unit", (const char *const[]){"Gelements/s", "Gproducts/s", "steps/s"}[r->unit]);
    put_number(file, "rate", r->rate);
    put_number(file, "q1", r->q1);
    put_number(file, "q3", r->q3);
    fprintf(file, ", \"rounds\": %lld", (long long)r->rounds);
    put_word(file, "beside", r->beside);
    put_word(file, "relation", !r->beside ? NULL : r->relation == TIME ? "time" : "speed");
    put_number(file, "ratio", r->ratio);
    put_number(file, "ratio_q1", r->ratio_q1);
    put_number(file, "ratio_q3", r->ratio_q3);
    put_number(file, "goal", r->goal);
    fprintf(file, "}%s\n", last ? "" : ",");
}

void write_json(FILE *file, const void *own) {
    const bench *b = own;
    const ulp_table *table = *b->rows;
    char name[256], date[40] = "";
    const time_t now = time(NULL);
    struct tm utc;
    name_processor(name, sizeof name);
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    fprintf(file, "{\n");
    put_pair(file, "program", "bench");
    put_pair(file, "version", ulp_build_version());
    put_pair(file, "commit", ulp_build_commit());
    put_pair(file, "commit_date", ULP_COMMIT_DATE);
    put_pair(file, "date", date);
    put_pair(file, "processor", name);
    put_pair(file, "isa", b->backend->what);
    put_pair(file, "compiler", ulp_build_compiler());
    put_pair(file, "flags", ulp_build_flags());
    put_pair(file, "load_before", b->load);
    fprintf(file, "  \"threads\": %d,\n  \"rows\": [\n", b->threads);
    for (size_t i = 0; table && i < table->count; i++)
        put_row(file, (const row *)table->rows + i, i + 1 == table->count);
    fprintf(file, "  ]\n}\n");
}

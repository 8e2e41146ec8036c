/* main.c - goes through committed inputs without inventing any, and writes the valid inputs of the targets.
 *
 *     fuzz FOLDER                every input of FOLDER/NAME.txt for every target NAME; TAP lines
 *     fuzz --input NAME FILE     one input
 *     fuzz --pack FILE...        a line of a corpus for each file: its name and its bytes
 *     fuzz --unpack TXT FOLDER   writes the inputs of a corpus to files of the folder
 *     fuzz --seeds FOLDER        writes the valid inputs to FOLDER/NAME
 *     fuzz --targets             the names of the targets
 *
 * A corpus is a text: a line has the name of an input, a blank, and its bytes; \HH stands for the byte with the
 * hexadecimal digits HH.
 */
#define _XOPEN_SOURCE 700 /* realpath, getline */
#include <sys/stat.h>
#include <sys/types.h>

#include "fuzz.h"

static const fuzz_target *seeding;
static const char *seed_folder;
static size_t seed_number;

static uint8_t *read_file(const char *path, size_t *size) {
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about) != 0) {
        fprintf(stderr, "fuzz: cannot read %s\n", path);
        exit(2);
    }
    *size = (size_t)about.st_size;
    uint8_t *bytes = ulp_grow(NULL, *size); /* no byte after the input: a read there is found */
    if (fread(bytes, 1, *size, file) != *size) exit(2);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        fprintf(stderr, "fuzz: cannot write %s\n", path);
        exit(1);
    }
}

static void write_seed(const void *data, size_t size) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s/seed-%04zu", seed_folder, seeding->name, seed_number++);
    write_file(path, data, size);
}

static int write_seeds(const char *to) {
    mkdir(to, 0777);
    seed_folder = realpath(to, NULL);
    if (!seed_folder) {
        fprintf(stderr, "fuzz: there is no folder %s\n", to);
        return 2;
    }
    fuzz_begin();
    fuzz_seed_to = write_seed;
    for (size_t i = 0; (seeding = fuzz_target_get(i)) != NULL; i++) {
        char path[900];
        snprintf(path, sizeof path, "%s/%s", seed_folder, seeding->name);
        mkdir(path, 0777);
        seed_number = 0;
        seeding->seeds();
    }
    return 0;
}

static void run_file(const fuzz_target *target, const char *path) {
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    fuzz_one(target, bytes, size);
    free(bytes);
}

static uint8_t digit_of(char c) { return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* The next input of a corpus, in memory of exactly its size, and its name. Returns 0 at the end. */
static int next_input(FILE *corpus, char name[64], uint8_t **bytes, size_t *size) {
    char *line = NULL;
    size_t room = 0;
    const ssize_t length = getline(&line, &room, corpus);
    const int is_input = length > 0 && sscanf(line, "%63s", name) == 1 && line[strlen(name)] == ' ';
    if (is_input) {
        const char *end = line + length - (line[length - 1] == '\n');
        *size = 0;
        *bytes = ulp_grow(NULL, (size_t)length);
        for (const char *at = line + strlen(name) + 1; at < end; at += *at == '\\' ? 3 : 1)
            (*bytes)[(*size)++] = (uint8_t)(*at == '\\' ? digit_of(at[1]) << 4 | digit_of(at[2]) : *at);
        *bytes = ulp_grow(*bytes, *size); /* no byte after the input: a read there is found */
    }
    free(line);
    return is_input;
}

static void pack(const char *path) {
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    const char *slash = strrchr(path, '/');
    printf("%s ", slash ? slash + 1 : path);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '\\') putchar(bytes[i]);
        else printf("\\%02x", bytes[i]);
    putchar('\n');
    free(bytes);
}

static FILE *corpus_of(const char *path) {
    FILE *corpus = fopen(path, "r");
    if (!corpus) fprintf(stderr, "fuzz: cannot read %s\n", path);
    return corpus;
}

static int unpack(const char *from, const char *folder) {
    char name[64], path[1000];
    uint8_t *bytes;
    size_t size;
    FILE *corpus = corpus_of(from);
    if (!corpus) return 2;
    while (next_input(corpus, name, &bytes, &size)) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        write_file(path, bytes, size);
        free(bytes);
    }
    fclose(corpus);
    return 0;
}

/* The inputs of a corpus in their order. Returns their number. */
static size_t run_target(const fuzz_target *target, const char *folder) {
    char name[64], path[1200];
    uint8_t *bytes;
    size_t count = 0, size;
    snprintf(path, sizeof path, "%s/%s.txt", folder, target->name);
    FILE *corpus = corpus_of(path);
    if (!corpus) return 0;
    for (; next_input(corpus, name, &bytes, &size); count++) {
        fuzz_one(target, bytes, size);
        free(bytes);
    }
    fclose(corpus);
    return count;
}

static int run_corpus(const char *corpus) {
    int failed = 0;
    char *whole = realpath(corpus, NULL); /* the first input changes the working folder */
    for (size_t i = 0; whole && fuzz_target_get(i); i++) {
        const fuzz_target *t = fuzz_target_get(i);
        fuzz_counted = (fuzz_counts){0};
        const size_t n = run_target(t, whole);
        printf("%sok - %s: %zu inputs, %llu past the first check\n", n ? "" : "not ", t->name, n,
               (unsigned long long)fuzz_counted.passed);
        fflush(stdout);
        failed |= n == 0;
    }
    if (!whole) fprintf(stderr, "fuzz: there is no folder %s\n", corpus);
    failed |= !whole;
    free(whole);
    return failed;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--targets") == 0) {
        for (size_t i = 0; fuzz_target_get(i); i++) puts(fuzz_target_get(i)->name);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0) return write_seeds(argv[2]);
    if (argc == 4 && strcmp(argv[1], "--input") == 0 && fuzz_target_find(argv[2])) {
        run_file(fuzz_target_find(argv[2]), argv[3]);
        puts(fuzz_counted.passed ? "past the first check" : "refused by the first check");
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--pack") == 0) {
        for (int i = 2; i < argc; i++) pack(argv[i]);
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "--unpack") == 0) return unpack(argv[2], argv[3]);
    if (argc == 2 && argv[1][0] != '-') return run_corpus(argv[1]);
    fprintf(
        stderr,
        "usage: fuzz FOLDER | --input NAME FILE | --pack FILE... | --unpack TXT FOLDER | --seeds FOLDER | --targets\n");
    return 2;
}

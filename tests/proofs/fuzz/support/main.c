/* main.c - goes through committed inputs without inventing any, and writes the valid inputs of the targets.
 *
 *     fuzz FOLDER              every file of FOLDER/NAME for every target NAME; TAP lines
 *     fuzz --input NAME FILE   one input
 *     fuzz --seeds FOLDER      writes the valid inputs to FOLDER/NAME
 *     fuzz --targets           the names of the targets
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <dirent.h>
#include <sys/stat.h>

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
    uint8_t *bytes = ulp_grow(NULL, *size); /* no byte behind the input: a read there is found */
    if (fread(bytes, 1, *size, file) != *size) exit(2);
    fclose(file);
    return bytes;
}

static void write_seed(const void *data, size_t size) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s/seed-%04zu", seed_folder, seeding->name, seed_number++);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        fprintf(stderr, "fuzz: cannot write %s\n", path);
        exit(1);
    }
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

/* The files of the corpus in the order of their names. Returns their number. */
static size_t run_target(const fuzz_target *target, const char *corpus) {
    struct dirent **entries;
    char path[1200];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s", corpus, target->name);
    const int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", corpus, target->name, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            run_file(target, path);
            count++;
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
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
    if (argc == 2 && argv[1][0] != '-') return run_corpus(argv[1]);
    fprintf(stderr, "usage: fuzz FOLDER | --input NAME FILE | --seeds FOLDER | --targets\n");
    return 2;
}

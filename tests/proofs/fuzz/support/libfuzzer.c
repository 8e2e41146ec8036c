/* libfuzzer.c - the entries that libFuzzer calls: the target of $FUZZ_TARGET, and mutations that keep inputs valid. */
#include "fuzz.h"
#include "words.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static const fuzz_target *target;

static void print_counts(void) {
    fprintf(stderr, "fuzz: %s: %llu runs, %llu past the first check, largest allocation %llu\n", target->name,
            (unsigned long long)fuzz_counted.runs, (unsigned long long)fuzz_counted.passed,
            (unsigned long long)fuzz_counted.largest);
}

/* libFuzzer reads its arguments after this function; the target says how long an input may be. */
static void add_argument(int *argc, char ***argv) {
    static char argument[40];
    char **all = ulp_grow(NULL, ((size_t)*argc + 2) * sizeof *all);
    memcpy(all, *argv, (size_t)*argc * sizeof *all);
    snprintf(argument, sizeof argument, "-max_len=%zu", target->size_max);
    all[(*argc)++] = argument;
    all[*argc] = NULL;
    *argv = all;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    target = fuzz_target_find(getenv("FUZZ_TARGET"));
    if (!target) {
        fprintf(stderr, "fuzz: FUZZ_TARGET has to name one of these targets:");
        for (size_t i = 0; fuzz_target_get(i); i++) fprintf(stderr, " %s", fuzz_target_get(i)->name);
        fprintf(stderr, "\n");
        exit(2);
    }
    add_argument(argc, argv);
    fuzz_begin();
    if (target->is_valid) {
        fuzz_seed_to = fuzz_words_add;
        target->seeds();
    }
    atexit(print_counts);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_one(target, data, size);
    return 0;
}

static int is_valid(const char *text) { return fuzz_valid(target, text); }

/* Four of five inputs stay valid, where there is a way to make them so. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    if (seed % 5 == 0) return LLVMFuzzerMutate(data, size, room);
    if (target->is_valid) return fuzz_words_mutate(data, size, room, seed, is_valid);
    size = LLVMFuzzerMutate(data, size, room);
    return target->repair ? target->repair(data, size, room) : size;
}

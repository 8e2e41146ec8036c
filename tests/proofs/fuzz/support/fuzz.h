/* fuzz.h - the form of a target, checks, files in memory, captured output, shared by the targets of hostile input.
 *
 * A target is a file tests/proofs/fuzz/NAME.c that exports fuzz_target_NAME by FUZZ_TEXT or FUZZ_BYTES; the Makefile
 * makes the table from the files of the folder. All targets are in one program, since each program with sanitizers has
 * 40 MB; the variable FUZZ_TARGET names the target. Two programs are built of the targets: libFuzzer's, which invents
 * inputs, and one that goes through the committed inputs of tests/proofs/fuzz/corpus, in `make check`.
 */
#ifndef ULP_TESTS_FUZZ_H
#define ULP_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/cli/text.h"

typedef struct fuzz_target {
    const char *name;
    /* Read the input as what the target is about, and check the properties of what was read. */
    void (*run)(const uint8_t *data, size_t size);
    /* Give valid inputs to fuzz_seed(). */
    void (*seeds)(void);
    /* Of inputs that are text: whether the input gets past the first check. Most inputs that are made do. NULL: no
     * text, and `repair` instead. */
    int (*is_valid)(const char *text);
    /* Of inputs that are bytes: put right what a reader checks first, as magic numbers and checksums. Returns the new
     * size, at most `room`. May be NULL. */
    size_t (*repair)(uint8_t *data, size_t size, size_t room);
    /* No allocation may be larger than per_byte times the size of the input plus fixed. */
    size_t per_byte, fixed;
    size_t size_max; /* of an input */
} fuzz_target;

/* The fields of a target, whose file has the functions run, seeds and is_valid, or run, seeds and `repair`. */
#define FUZZ_TEXT(target, most, fixed, each) target, run, seeds, is_valid, NULL, each, fixed, most
#define FUZZ_BYTES(target, repair, most, fixed, each) target, run, seeds, NULL, repair, each, fixed, most

/* The targets in the order of their names; NULL after the last. */
const fuzz_target *fuzz_target_get(size_t i);
const fuzz_target *fuzz_target_find(const char *name);

/* One input of a target, with all checks that hold for every target. */
void fuzz_one(const fuzz_target *target, const uint8_t *data, size_t size);

/* Whether a text is valid for a target, outside of a run. */
int fuzz_valid(const fuzz_target *target, const char *text);

/* ---- for the targets ---- */

/* The input got past the first check of the reader. */
void fuzz_passed(void);

/* End the program with a sentence unless `good`. */
void fuzz_check(int good, const char *sentence, ...) ULP_PRINTF(2, 3);

/* The input as a text, up to its first zero byte, in memory of exactly its size. fuzz_one() frees it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A file with these bytes; returns its name, which stays until the input ends. There are up to FUZZ_FILES of them; the
 * names do not depend on the input. */
enum { FUZZ_FILES = 4 };
const char *fuzz_file(int i, const uint8_t *data, size_t size);
/* The content of file i now; fuzz_one() frees it. */
uint8_t *fuzz_file_bytes(int i, size_t *size);
int fuzz_file_number(int i); /* its descriptor */
/* The bytes become what the program reads from standard input. */
void fuzz_stdin(const uint8_t *data, size_t size);

/* The folder that is the working folder of a target, empty at the beginning of each input. */
const char *fuzz_folder(void);

/* The text written to stdout and stderr since the last call, both ended by a zero; valid until the next call. */
typedef struct fuzz_output {
    const char *out, *error;
    size_t out_size;
} fuzz_output;
fuzz_output fuzz_take_output(void);

/* A refusal has a sentence. */
void fuzz_check_sentence(const char *sentence, const char *of);
/* The exit status of a program or command is 0 to 3, and a failure has a message in printable characters. */
void fuzz_check_exit(int status, const char *of);
/* A status of the library, with a sentence unless it is ULP_OK. */
void fuzz_check_status(ulp_status status, const char *sentence, const char *of);

/* Give a valid input: to the corpus, or as words for new inputs. */
void fuzz_seed(const void *data, size_t size);
void fuzz_seed_text(const char *text, ...) ULP_PRINTF(1, 2);
/* Give each text of a list that NULL ends; each word of a text. */
void fuzz_seed_texts(const char *const *texts);
void fuzz_seed_words(const char *words);
#define FUZZ_SEED_TEXTS(...) fuzz_seed_texts((const char *const[]){__VA_ARGS__, NULL})

/* Word i of a text, and its length, which is 0 after the last word. Blanks divide words. */
const char *fuzz_word(const char *words, size_t i, int *length);

/* Up to `room` bytes of a file in the working folder; 0 without the file. */
size_t fuzz_read(const char *path, uint8_t *bytes, size_t room);

/* Take `n` bytes off an input; zeros at its end. */
typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;
void fuzz_take(fuzz_bytes *from, void *to, size_t n);
uint64_t fuzz_take_number(fuzz_bytes *from, int bytes);

/* ---- tool.c: commands of ulp as functions ---- */

/* Run `ulp` with the words of a line, which blanks separate. The words @0 to @3 are the names of the files. Words that
 * name other places, that start programs or that ask for long work are left out: the function then returns -1. */
int fuzz_tool(const char *line);

/* ---- forms.c: forms of files ---- */

/* Whether the text is one JSON value. */
int fuzz_is_json(const char *text);
/* Put right the numbers and checksums of the end lines of pieces (table/pieces.h). Returns the new size. */
size_t fuzz_repair_pieces(uint8_t *data, size_t size, size_t room);
/* Give a valid input: a byte, and pieces. */
void fuzz_seed_pieces(int byte, const char *pieces);
/* Put right the magic and the lengths of a .npy file. Returns the new size. */
size_t fuzz_repair_npy(uint8_t *data, size_t size, size_t room);
/* Put right the list of members of an archive, and the checksums of stored members. Returns the size. */
size_t fuzz_repair_npz(uint8_t *data, size_t size);

/* ---- for the two programs ---- */

/* Make the working folder and the files; once, before the first input or the first seeds. */
void fuzz_begin(void);

/* Where fuzz_seed() goes. */
extern void (*fuzz_seed_to)(const void *data, size_t size);

typedef struct fuzz_counts {
    uint64_t runs, passed, largest; /* largest: bytes of the largest allocation of a run */
} fuzz_counts;
extern fuzz_counts fuzz_counted;

#endif

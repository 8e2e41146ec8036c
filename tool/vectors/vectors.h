/* vectors.h - the parts of ulp vectors: files, inputs, sums, the oracle, and the vectors of a format and of a datapath.
 */
#ifndef ULP_TOOL_VECTORS_H
#define ULP_TOOL_VECTORS_H

#include "experiments/harness/cli/options.h"
#include "formats/rng.h"
#include "kernels/products/datapath.h"

/* The settings that decide all vectors, and the folder for them. */
typedef struct vectors_request {
    const char *program, *folder;
    uint64_t seed;
    uint64_t sums;   /* of each datapath */
    uint64_t sample; /* breakpoints drawn from each format of more than 8 bits */
    int check;       /* 1: every conversion is compared with MPFR */
} vectors_request;

/* An array that grows. */
typedef struct vectors_array {
    char name[40];
    char kind;   /* 'f': binary64 values; 'u': unsigned integers */
    size_t size; /* bytes of an element */
    ulp_text bytes;
} vectors_array;

enum { VECTORS_ARRAYS = 64 };

/* The arrays of one file; {0} has none. */
typedef struct vectors_file {
    vectors_array at[VECTORS_ARRAYS];
    size_t count;
} vectors_file;

/* Add an empty array; the pointer is good as long as the file. */
vectors_array *vectors_add(vectors_file *file, char kind, size_t size, const char *name, ...) ULP_PRINTF(4, 5);
/* Append an element: an integer, or the bits of a binary64 value. */
void vectors_put(vectors_array *array, uint64_t element);
void vectors_free(vectors_file *file);

/* The bytes of the smallest unsigned integer that holds a code of `bits` bits: 1, 2, 4 or 8. */
size_t vectors_code_bytes(int bits);

/* Append a cell to a CSV: a code of `bits` bits as hex digits, with a comma before every cell but the first. */
void vectors_cell(ulp_text *csv, uint64_t code, int bits);

/* Write FOLDER/PATH, whole or not at all. */
ulp_status vectors_write_npz(const vectors_request *to, const char *path, const vectors_file *file, ulp_error *error);
ulp_status vectors_write_text(const vectors_request *to, const char *path, const ulp_text *text, ulp_error *error);

/* The name of a format or datapath as the name of a file: ':', '/' and '=' become '_'. */
void vectors_file_name(char to[160], const char *folder, const char *name, const char *ending);

/* The random words of one file: a stream of its own. */
typedef struct vectors_draw {
    ulp_stream stream;
    uint64_t next;
} vectors_draw;

vectors_draw vectors_draw_for(uint64_t seed, const char *name);
uint32_t vectors_word(vectors_draw *draw);
/* A whole number from 0 to n - 1. */
uint32_t vectors_below(vectors_draw *draw, uint32_t n);

/* ---- breakpoints.c: the numbers where a conversion to a format can go wrong ---- */

typedef struct vectors_numbers {
    double *at; /* (count) */
    size_t count, room;
} vectors_numbers;

/* *to = the inputs of the conversions to a format, in ascending order, -0 before +0, NaN at the end, none twice. The
 * README of the vectors says which numbers these are. The caller frees to->at. */
void vectors_inputs(vectors_numbers *to, const ulp_format *format, const vectors_request *request);

/* The finite values of a format of up to 8 bits, or the selected values of a wider one, in ascending order, one zero.
 */
void vectors_values(vectors_numbers *to, const ulp_format *format, const vectors_request *request);

/* ---- operands.c: operands of sums of products, of eight kinds ---- */

/* The kinds of sums, in the order of their numbers. */
#define VECTORS_KINDS "random", "near", "cancel", "subnormal", "edge", "special", "carry", "zero"
enum { VECTORS_KIND_COUNT = 8, VECTORS_LONGEST = 128 };

/* A datapath, the formats of its operands, and the number of products about which lengths are chosen. */
typedef struct vectors_product {
    ulp_datapath datapath;
    ulp_format a, b;
    size_t block; /* at most VECTORS_LONGEST / 2 */
} vectors_product;

/* A sum: codes, and the code of the result. */
typedef struct vectors_sum {
    size_t k, blocks;
    uint64_t c, a[VECTORS_LONGEST], b[VECTORS_LONGEST], result;
    uint64_t a_scales[VECTORS_LONGEST], b_scales[VECTORS_LONGEST];
} vectors_sum;

/* *sum = sum number i of a datapath, of kind i mod VECTORS_KIND_COUNT, with its result. Returns the status of
 * ulp_datapath_code. */
ulp_status vectors_sum_make(vectors_sum *sum, const vectors_product *product, uint64_t i, vectors_draw *draw);

/* ---- oracle.c: whether a code is the one that MPFR gives ---- */

typedef struct vectors_oracle {
    const char *program;
    struct ulp_reference *reference; /* NULL: nothing is compared */
    uint64_t compared, wrong;
} vectors_oracle;

/* Whether this build has the oracle. */
int vectors_oracle_offered(void);

/* An oracle for a format, or, without `check`, one that compares nothing. */
ulp_status vectors_oracle_open(vectors_oracle *oracle, const char *program, const ulp_format *format, int check,
                               ulp_error *error);
void vectors_oracle_close(vectors_oracle *oracle);

/* Compare the value of `code` with x, rounded by `rule` with the random word. The first few differences are printed. */
void vectors_oracle_compare(vectors_oracle *oracle, uint64_t code, double x, ulp_rule rule, uint32_t word);

/* Compare `value` with the value that the oracle gives to `code`. */
void vectors_oracle_compare_value(vectors_oracle *oracle, uint64_t code, double value);

/* ---- conversions.c, sums.c ---- */

/* Counts of the written vectors. */
typedef struct vectors_counts {
    uint64_t codes, inputs, overflows, stochastic, compared;
} vectors_counts;

/* Write formats/NAME.npz and formats/NAME.csv, NAME.codes.csv, NAME.overflow.csv, NAME.stochastic.csv. If
 * MPFR gives another result, nothing is written. */
ulp_status vectors_of_format(vectors_counts *counts, const ulp_format *format, const vectors_request *request,
                             ulp_error *error);

/* Datapath i of the vectors: the rows of hardware, then a list of general forms; *in = the format of a and b where the
 * datapath implies none, else unchanged. Returns ULP_BAD_ARGUMENT past the end. */
ulp_status vectors_datapath(size_t i, ulp_datapath *datapath, const char **in);

/* Write datapaths/NAME.npz and NAME.csv, and append a line to `index`, the text of datapaths.csv, whose first line is
 * vectors_index. `in` is the format of a and b, NULL for that of the accumulator. */
ulp_status vectors_of_datapath(ulp_text *index, const ulp_datapath *datapath, const char *in,
                               const vectors_request *request, ulp_error *error);
extern const char vectors_index[];

#endif

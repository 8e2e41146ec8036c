/* job.h - ulp round: a run of the command, which rounds groups of numbers at once, and the forms of input and output.
 */
#ifndef ULP_TOOL_ROUND_JOB_H
#define ULP_TOOL_ROUND_JOB_H

#include "tool/tool.h"

#include "base/decimal.h"
#include "tool/files/numbers.h"
#include "tool/files/npz_write.h"
#include "tool/files/output.h"

/* The forms of input and output, in the order of the words of --from and --to. */
typedef enum round_from {
    FROM_TEXT,
    FROM_F32,
    FROM_F64,
    FROM_CODE,
    FROM_F32LE,
    FROM_F64LE,
    FROM_CODELE,
    FROM_NPY,
    FROM_NPZ
} round_from;
typedef enum round_to {
    TO_CODE,
    TO_VALUE,
    TO_BOTH,
    TO_F32LE,
    TO_F64LE,
    TO_CODELE,
    TO_NPY,
    TO_NPYCODE,
    TO_NPZ,
    TO_NPZCODE
} round_to;

enum { ROUND_GROUP = 4096, ROUND_LINE = 64 }; /* numbers of a group; characters of an output line, and some more */

/* The printed form of a value. */
typedef struct round_text {
    char text[28]; /* 24 characters at most */
    int length;    /* 0: not printed yet */
} round_text;

/* Numbers and results of binary files. */
typedef struct round_arrays {
    file_output output;
    npz_writer archive;
    int is_npy;         /* 1: the output begins with the header of a .npy file, or is a .npz file of such files */
    int is_npz;         /* 1: the output is a .npz file */
    int is_header_late; /* 1: the number of elements in the header is known at the end */
    char npy_kind;      /* 'f': of values, 'u': of codes */
    int to_halves;      /* 1: the codes in the output are of binary16; values are written as <f2 */
    int is_narrow;      /* 1: the numbers and the results of the group are in x and y here */
    float x[ROUND_GROUP], y[ROUND_GROUP];
} round_arrays;

typedef struct round_job {
    tool_target target;
    tool_form given;    /* of --from */
    int from;           /* round_from */
    int to;             /* round_to; of binary output one of TO_F32LE, TO_F64LE, TO_CODELE, once the output is open */
    const char *out;    /* the name of the file for the output; "-": stdout */
    file_reader reader; /* of codes and integers */
    const ulp_backend *backend;
    FILE *file;        /* of the output */
    round_text *texts; /* (2^bits) of the values of each code; NULL: no table */
    size_t n;          /* numbers in the group */
    int is_rounded;    /* 1: the numbers of text are in y, rounded, and not in x */
    int is_random;     /* 1: the mode is stochastic */
    int32_t modulo;    /* of ulp_exact_read */
    uint64_t index;    /* of the first of them, counted over all files */
    double x[ROUND_GROUP], y[ROUND_GROUP];
    uint64_t code[ROUND_GROUP];
    const char *input;               /* of lines: the file */
    unsigned long line[ROUND_GROUP]; /* of lines: the number of the line of each number */
    round_arrays arrays;
    union {
        char text[ROUND_GROUP * ROUND_LINE];
        uint8_t code8[ROUND_GROUP];
        uint16_t code16[ROUND_GROUP];
        uint32_t code32[ROUND_GROUP];
    } output;
} round_job;

/* The format of the codes in the output. */
static inline const ulp_format *round_code_format(const round_job *j) {
    return j->arrays.to_halves ? &ulp_binary16 : &j->target.format;
}

/* How the group is rounded. */
static inline ulp_rounding round_how(const round_job *j) {
    ulp_rounding how = {&j->target.format, j->target.rule, j->target.stream, NULL};
    how.stream.first += j->index;
    return how;
}

/* ---- write.c ---- */

/* The bytes of a number in binary output. */
size_t round_size(const round_job *j);

/* Write the results y of the group before the first one that has no code, and empty the group. Returns their number,
 * which is n if all have codes. */
size_t round_write(round_job *j);

/* ---- arrays.c ---- */

/* Open the output, which is binary or a file. round_close() is called in any case. */
ulp_status round_open(round_job *j, const ulp_arguments *a, ulp_error *error);

/* Round the numbers of binary files; the array of a .npy or .npz file keeps its shape in such a file. */
ulp_status round_binaries(round_job *j, const ulp_arguments *a, ulp_error *error);

/* Close the output; see file_output_close(). */
ulp_status round_close(round_job *j, ulp_status status, ulp_error *error);

#endif

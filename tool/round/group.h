/* group.h - ulp round: groups of numbers that are rounded at once, and the forms of input and output. */
#ifndef ULP_TOOL_ROUND_GROUP_H
#define ULP_TOOL_ROUND_GROUP_H

#include "tool/tool.h"

#include "base/decimal.h"
#include "tool/files/npz_write.h"

/* The forms of input and output, in the order of the words of --from and --to. */
typedef enum round_from { FROM_TEXT, FROM_F32, FROM_F64, FROM_F32LE, FROM_F64LE, FROM_NPY, FROM_NPZ } round_from;
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

typedef struct round_group {
    tool_target target;
    const ulp_backend *backend;
    FILE *out;
    int to;     /* round_to; binary output as one of TO_F32LE, TO_F64LE, TO_CODELE */
    int is_npy; /* 1: the output begins with the header of a .npy file, or is a .npz file of such files */
    int is_npz; /* 1: the output is a .npz file */
    npz_writer archive;
    char npy_kind;     /* 'f': of values, 'u': of codes */
    ulp_format coded;  /* the format of the codes in the output; binary16 where values are written as <f2 */
    int is_narrow;     /* 1: the numbers and the results are in narrow_x and narrow_y */
    size_t n;          /* numbers in the group */
    uint64_t index;    /* of the first of them, counted over all files */
    round_text *texts; /* (2^bits) of the values of each code; NULL: no table */
    double x[ROUND_GROUP], y[ROUND_GROUP];
    float narrow_x[ROUND_GROUP], narrow_y[ROUND_GROUP];
    uint64_t code[ROUND_GROUP];
    union {
        char text[ROUND_GROUP * ROUND_LINE];
        uint8_t code8[ROUND_GROUP];
        uint16_t code16[ROUND_GROUP];
        uint32_t code32[ROUND_GROUP];
    } output;
} round_group;

/* The bytes of a number in binary output. */
size_t round_size(const round_group *g);

/* Round the numbers of the group, and write the results before the first one that has no code. Returns their number,
 * which is n if all have codes; the caller empties the group. */
size_t round_group_write(round_group *g);

/* Add the sentence that the value has no code. */
void round_add_missing(ulp_text *to, double value, const ulp_format *format);

/* Round the numbers of lines of text. */
ulp_status round_texts(round_group *g, int from, const ulp_arguments *a, ulp_error *error);

/* Round the numbers of binary files; the array of a .npy or .npz file keeps its shape in such a file. */
ulp_status round_binaries(round_group *g, int from, const ulp_arguments *a, ulp_error *error);

/* Choose how values are written into a .npy file: as <f4 or <f8, or as <f2 if `size` is 2; the least of at least `size`
 * bytes that holds every value of the format. */
void round_choose_values(round_group *g, size_t size);

#endif

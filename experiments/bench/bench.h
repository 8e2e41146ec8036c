/* bench.h - settings, rows, pieces of work to time, and groups of them, shared by the parts of the benchmark. */
#ifndef ULP_BENCH_H
#define ULP_BENCH_H

#include "experiments/harness/experiment.h"
#include "kernels/cuda/cuda.h"
#include "peers.h"
#include "sim/train/train.h"

typedef struct settings {
    int backend;              /* 1: cuda */
    uint64_t parts, policies; /* bit i stands for part i */
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_datapath_list datapaths;
    ulp_integer_list sizes, bits, codes;
    int64_t cache, memory, arrays, size, native_size, units, batch, rounds;
    double seconds;
    const char *net, *peers;
} settings;

enum {
    PART_CACHE,
    PART_MEMORY,
    PART_BITS,
    PART_CODES,
    PART_PRODUCTS,
    PART_SIZES,
    PART_NATIVE,
    PART_TRAINING,
    PART_POLICIES,
    PART_LIBRARIES,
    PARTS
};
#define PART_WORDS "cache memory bits codes products sizes native training policies libraries"

/* A point of the CPU is a part, or a size of the part `sizes`, with many rows that are measured in the same rounds. A
 * point of a device is one row, so that a row that fails leaves the others; its fields after `part` say what it is. */
typedef struct point {
    int part;
    int64_t size;             /* of the matrices, in the part `sizes`; elements, in the part `codes` */
    const ulp_format *format; /* NULL: the copy */
    ulp_named_rule rule;
    int counts;                   /* 1: the rounding counts events */
    const ulp_datapath *datapath; /* NULL: what products are compared with */
    size_t index;                 /* of a native product or of a training */
} point;

enum { ELEMENTS, PRODUCTS, STEPS, BYTES, OPERATIONS };
#define UNIT_WORDS "Gelements/s Gproducts/s steps/s GB/s Toperations/s"
enum { SPEED, TIME };
#define RELATION_WORDS "speed time"

/* A row of the CSV is a piece of work compared with another one. Work with several comparisons has several rows, and
 * work without a comparison has one. The numbers are medians with quartiles q1 and q3. `speed` is the quotient of the
 * rates, `time` the quotient of the times for equal work; a goal is a least speed or a largest time. */
typedef struct row {
    const char *group, *what, *of, *mode, *by;
    int64_t threads, n;
    int unit;
    double rate, q1, q3;
    int64_t rounds;
    const char *beside;
    int relation;
    double ratio, ratio_q1, ratio_q3, goal;
    double clock; /* of the device's processors after the row, in MHz */
} row;

/* The rate of a row, which later rows of a device are compared with. */
typedef struct kept {
    char name[ULP_DATAPATH_NAME_MAX];
    double rate;
} kept;

/* Data shared by all parts. */
typedef struct bench {
    const ulp_backend *backend, *cpu;
    char device[256], isa[64]; /* the processor or the GPU, and its instruction set or its compute capability */
    int threads;               /* the largest number of threads */
    char load[24];             /* the load average of the minute before the run; empty if it is not known */
    int64_t size, memory;      /* the settings, or the sizes for this machine */
    peers *peers;              /* NULL: no other libraries */
    const ulp_table **rows;    /* the rows for the JSON file, which judge() sets */
    /* for a device; else NULL */
    ulp_cuda_timer *timer;
    struct arrays *arrays;
    struct matrices *matrices;
    struct kept_list {
        kept *at; /* (count) */
        size_t count, room;
    } * kept;
} bench;

/* A piece of work to time. `run` does it once; the fields after it belong to `run`. */
typedef struct job {
    const char *what; /* copy, round, round64, count, words, fma, reference, product, native, dot, step */
    char of[128], mode[ULP_DATAPATH_NAME_MAX], by[64];
    int in_memory; /* 1: the arrays do not fit the caches */
    int threads, unit;
    size_t n;              /* elements, size of the matrices, or samples of a batch */
    double amount;         /* elements, products, steps, bytes or operations of a call */
    ulp_cuda_timer *timer; /* of a device; NULL: the clocks of this machine */
    const char *keep;      /* the name under which the rate is kept; NULL: it is not */
    ulp_status (*run)(struct job *j);

    const bench *b;
    struct arrays *arrays;
    size_t turn;      /* selects the pair of arrays */
    ulp_rounding how; /* ready, so that a call copies it whole */
    const ulp_datapath *datapath;
    const void *x, *y;
    void *z;
    ulp_cuda_product *product;
    ulp_trainer *trainer;
    const peer_offer *offer; /* work of another library, in place of `run` */

    call_time once;      /* of a call, when last measured */
    double spent, ended; /* seconds of all measurements; the clock at the end of the last one */
    double *rates;       /* (count) of the rounds */
    size_t count, room;
} job;

/* The speed or time of job `one` relative to that of job `other` or, if base is not 0, to that rate. */
typedef struct comparison {
    size_t one, other;
    double base;
    const char *name; /* of the other one */
    int relation;
    double *ratios; /* (count) of the rounds */
    size_t count, room;
} comparison;

/* Jobs that are measured in the same rounds. {0} is empty. */
typedef struct group {
    job *jobs; /* (count) */
    size_t count, room;
    comparison *comparisons; /* (pairs) */
    size_t pairs, pairs_room;
    size_t failed; /* index of the job that failed */
} group;

/* measure.c */
extern const char
    *const part_titles[PARTS]; /* the groups of the rows; those of the part `sizes` have the label of the point */
/* A job of ulplab on one thread and, if there is one, on the device; n, unit and amount as of a job. */
job job_new(const bench *b, const char *what, ulp_status (*run)(job *j), size_t n, int unit, double amount);
/* Sets the texts of a job, as far as they fit; NULL: the text stays. */
void job_name(job *j, const char *of, const char *mode, const char *by);
size_t group_add(group *g, job j); /* returns the index of the job */
void group_compare(group *g, size_t one, size_t other, const char *name, int relation);
/* Adds the same work by another library, and compares job `one` with it. */
void group_compare_offer(group *g, size_t one, const peer_offer *offer, int relation);
/* Compares job `one` with the rate that an earlier row of a device has kept. Without this rate there is no comparison.
 */
void group_compare_kept(group *g, const bench *b, size_t one, const char *kept_name, const char *name);
double kept_rate(const bench *b, const char *name); /* 0: it was not measured */
/* Measures the jobs, puts their rows, and empties the group. */
ulp_status group_measure(const ulp_task *task, group *g);

/* arrays.c: numbers on the backend. Release takes also what open has left after a failure. */
typedef struct arrays {
    size_t n, pairs;
    float *x[64], *y[64]; /* (pairs) of n elements, which take turns */
    double *x64, *y64;    /* n elements, and */
    uint32_t *words;      /* n words, if they are wide */
    ulp_stats stats;
} arrays;
ulp_status arrays_open(arrays *a, const bench *b, size_t n, size_t pairs, int wide);
void arrays_release(arrays *a, const bench *b);

/* Matrices of the formats fa and fb, in binary32 and, if they are wide, in binary64. */
typedef struct operands {
    ulp_format fa, fb;
    float *x, *y;
    double *x64, *y64;
} operands;
/* Room for matrices of size n. On the CPU there is a pair of operands for each pair of formats; on a device one pair,
 * which is written anew. */
typedef struct matrices {
    const bench *b;
    size_t n;
    float *unit, *whole; /* numbers in (-2, 2), and integers and fractions in (-128, 128) */
    operands *at;        /* (count) */
    size_t count, room;
    float *c;
    double *c64;
} matrices;
ulp_status matrices_open(matrices *m, const bench *b, size_t n);
void matrices_release(matrices *m);
ulp_status operands_of(matrices *m, const operands **found, size_t n, const ulp_format *fa, const ulp_format *fb,
                       int wide);
ulp_status copy_numbers(const bench *b, void *y, const void *x, size_t bytes); /* both on the backend */

/* roofs.c: jobs that others are compared with. */
job roof_copy(const bench *b, arrays *a, int threads);
job roof_words(const bench *b, uint32_t *words, size_t n);
job roof_fma(const bench *b, int threads);
enum { ROOF_STEP_FLOATS = 1000 * 1000 };
#if defined(ULP_WITH_BLAS)
job roof_sgemm(const bench *b, float *c, const float *x, const float *y, size_t n, int threads);
/* The products of a training step of the network 784-1000-1000-10; the arrays have ROOF_STEP_FLOATS elements. */
job roof_step(const bench *b, float *c, const float *x, const float *y, size_t batch, int threads);
#endif

/* The parts: put_NAME() measures a point and puts its rows; plan_NAME() adds the points of a device. */
ulp_status put_rounding_in_cache(const ulp_task *task); /* rounding.c */
ulp_status put_rounding_in_memory(const ulp_task *task);
ulp_status put_libraries(const ulp_task *task);
ulp_status put_device_rounding(const ulp_task *task);
void plan_device_rounding(ulp_plan *plan, const settings *set, int part);
ulp_status put_codes(const ulp_task *task);    /* codes.c */
ulp_status put_products(const ulp_task *task); /* products.c */
ulp_status put_sizes(const ulp_task *task);
ulp_status put_device_product(const ulp_task *task);
void plan_device_products(ulp_plan *plan, const settings *set, int part);
ulp_status put_native(const ulp_task *task);
void plan_native(ulp_plan *plan, const settings *set, int part);
ulp_status put_training(const ulp_task *task); /* training.c */
ulp_status put_device_training(const ulp_task *task);
void plan_device_training(ulp_plan *plan, const settings *set, int part);
#define POLICY_WORDS "fp32 fp32-emulated tf32 fp16 fp16-mma fp16-emulated bf16 fp8"

/* report.c: writes the rows of `own`, a bench. */
void write_json(FILE *file, const void *own);

#endif

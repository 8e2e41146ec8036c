/* bench.h - what the parts of the benchmark share: settings, rows, pieces of work to time, and groups of them. */
#ifndef ULP_BENCH_H
#define ULP_BENCH_H

#include "experiments/harness/experiment.h"
#include "peers.h"
#include "sim/train/train.h"

typedef struct settings {
    uint64_t parts; /* bit i stands for part i */
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_datapath_list datapaths;
    ulp_integer_list sizes, bits;
    int64_t cache, memory, size, rounds;
    double seconds;
    const char *peers;
    uint64_t seed;
} settings;

enum { PART_CACHE, PART_BITS, PART_MEMORY, PART_PRODUCTS, PART_SIZES, PART_TRAINING, PART_LIBRARIES, PARTS };
#define PART_WORDS "cache bits memory products sizes training libraries"

typedef struct point {
    int part;
    int64_t size; /* of the matrices, in the part `sizes` */
} point;

enum { ELEMENTS, PRODUCTS, STEPS };
#define UNIT_WORDS "Gelements/s Gproducts/s steps/s"
enum { SPEED, TIME };
#define RELATION_WORDS "speed time"

/* A row of the CSV is a piece of work beside another one. Work with several comparisons has several rows, and work
 * without a comparison has one. The numbers are medians with quartiles q1 and q3. `speed` is the quotient of the rates,
 * `time` the quotient of the times for equal work; a goal is a least speed or a largest time. */
typedef struct row {
    const char *group, *what, *of, *mode, *by;
    int64_t threads, n;
    int unit;
    double rate, q1, q3;
    int64_t rounds;
    const char *beside;
    int relation;
    double ratio, ratio_q1, ratio_q3, goal;
} row;

/* What all parts share. */
typedef struct bench {
    const ulp_backend *backend;
    int threads;            /* the largest number of threads */
    char load[24];          /* the load average of the minute before the run; empty if it is not known */
    peers *peers;           /* NULL: no other libraries */
    const ulp_table **rows; /* the rows for the JSON file; judge() sets the pointer behind it */
} bench;

/* A piece of work to time. `run` does it once; the fields after it belong to `run`. */
typedef struct job {
    const char *what; /* copy, round, round64, count, words, fma, product, dot, step */
    char of[ULP_DATAPATH_NAME_MAX], mode[24], by[64];
    int in_memory; /* 1: the arrays do not fit the caches */
    int threads, unit;
    size_t n;      /* elements, size of the matrices, or samples of a batch */
    double amount; /* elements, products or steps of a call */
    ulp_status (*run)(const struct job *j);

    const bench *b;
    ulp_rounding how; /* ready, so that a call copies it whole */
    const ulp_datapath *datapath;
    const void *x, *y;
    void *z;
    ulp_trainer *trainer;
    const peer_offer *offer; /* work of another library, in place of `run` */

    call_time once;      /* of a call, when last measured */
    double spent, ended; /* seconds of all measurements; the clock at the end of the last one */
    double *rates;       /* (count) of the rounds */
    size_t count, room;
} job;

/* The speed or time of a job of job `one` relative to that of job `other`. */
typedef struct comparison {
    size_t one, other;
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
/* Sets the texts of a job, as far as they fit; NULL: the text stays. */
void job_name(job *j, const char *of, const char *mode, const char *by);
size_t group_add(group *g, const job *j); /* returns the index of the job */
void group_compare(group *g, size_t one, size_t other, const char *name, int relation);
/* Measures the jobs, puts their rows, and empties the group. */
ulp_status group_measure(const ulp_task *task, group *g);

/* roofs.c: jobs that others are compared with. */
job roof_copy(const bench *b, float *y, const float *x, size_t n, int threads);
job roof_words(const bench *b, uint32_t *words, size_t n);
job roof_fma(const bench *b, int threads);
enum { ROOF_STEP_FLOATS = 1000 * 1000 };
#if defined(ULP_WITH_BLAS)
job roof_sgemm(const bench *b, float *c, const float *x, const float *y, size_t n, int threads);
/* The products of a training step of the network 784-1000-1000-10; the arrays have ROOF_STEP_FLOATS elements. */
job roof_step(const bench *b, float *c, const float *x, const float *y, size_t batch, int threads);
#endif

/* The parts; each measures its groups and puts their rows. */
ulp_status put_rounding_in_cache(const ulp_task *task); /* rounding.c */
ulp_status put_random_bits(const ulp_task *task);
ulp_status put_rounding_in_memory(const ulp_task *task);
ulp_status put_libraries(const ulp_task *task);
ulp_status put_products(const ulp_task *task); /* products.c */
ulp_status put_sizes(const ulp_task *task);
ulp_status put_training(const ulp_task *task); /* training.c */

/* goals.c: the least speed or the largest time of a job beside another one, ULP_NO_NUMBER if there is no goal. */
double goal_of(const job *j, const comparison *c);

/* json.c: writes the rows behind own, a bench. */
void write_json(FILE *file, const void *own);

#endif

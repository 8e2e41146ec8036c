/* bench.c - throughput of rounding, of matrix products and of training steps, each beside what bounds it, in one run.
 *
 * A row is the median of many rounds, with quartiles. A round measures the row and what it is compared with close
 * together in time, and a ratio is the median of the ratios of the rounds (measure.c). The numbers are timings: they
 * differ from run to run, and no test depends on them. The bounds:
 *   - memcpy, of as many elements, for rounding
 *   - the random words alone, for stochastic rounding
 *   - peak: fused multiply-adds in registers alone, and the sgemm of OpenBLAS, for products
 *   - the same in binary32, for products under datapaths and for trainings
 *   - the products of the step alone, by OpenBLAS, for the training of the network 784-1000-1000-10
 *
 * What binds a row: the instructions of one turn of the inner loop, as `objdump -d` of the library built by gcc 12
 * shows them, over the vectors of a turn. A vector is 16 binary32 or 8 binary64 numbers with AVX-512, and half as many
 * with AVX2. For products it is as many sums, to each of which a product is added.
 *
 *     row                                 instructions a vector, or bytes a number
 *     memcpy and rounding in memory       8 bytes: read 4, write 4
 *     memcpy, cache                       a load and a store
 *     round, cache: bfloat16              rne 10, rz 6, ru 9, ro 9, sra 8 and the words; AVX2 the same
 *     round, cache: other formats         rne 10, rz 11, ru 10, ro 13; AVX2: rne 11, rz 14, ru 14, ro 17
 *     the same, sra                       20 and the words; AVX2: 8 and the words if all are normal, after a test of
 *                                         9; else 25 after this test (fixed point: without it)
 *     random words (part of sra)          34; AVX2: 60 (18 wide multiplications for 16 and 8 words)
 *     counted rounding                    bfloat16 rne 12, other formats rne 13 (AVX2: 16)
 *     binary64 arrays, bfloat16           rne 10, rz 8, ru 11, ro 11, sra 16; AVX2: rne 11, then the same
 *     binary64 arrays, other formats      rne 10, rz 11, ru 11, ro 13, sra 20; AVX2: 11, 14, 14, 17, 31
 *     product fp32                        2.1
 *     serial sums, rne: binary32 lanes    12 (bfloat16 10, saturated 13), AVX-512 alone
 *     the same: rna, rz, ru, rd, ro       9, 9, 8, 8, 15
 *     serial sums, AVX2: binary64 lanes   rne 9 (bfloat16 6, saturated 11), rz 5, ru 9, ro 9
 *     serial sums, mode sr                15 of binary32 lanes, and the words
 *     split, pairwise, rne                15, 17 of binary32 lanes; AVX2: 17, 20
 *     kahan, rne                          22 of binary64 lanes; AVX2: 24
 *     Tensor Core rows                    5.5 and 8.5 for each step of the row (two sums: 21; binary16 results: 20);
 *                                         AVX2: 5.5 and 18 (two sums: 43; binary16 results: 35)
 *     mi300 (AMD CDNA3)                   the products of Tensor Core rows, and more to join a step with c
 *     riscv                               two conversions of each product, for its rounding to odd
 *     mi100, FDOT of Arm                  binary64 lanes, with a conversion to binary32 and back for each step
 *     int8, e2m1, e2m3                    0.4 with VNNI, whose instruction forms 64 products; 1.3 without; AVX2: 1.6
 *     mxf4, nvf4                          0.9, 1.2 with VNNI: a group takes a conversion, a product and an addition
 *     exact, operands of two slices       7: 4 fused multiply-adds of 8 numbers, 3 loads and counts; AVX2: 9
 *
 * The rows of products that miss their goals on a processor with 4 pipes for vectors (Zen 5, where a product of the
 * fp32 row takes half a cycle a vector), and the counts against the goals:
 *   - serial sums in AVX2, goals 8 and 12: mode rne has 8 arithmetic instructions for 4 sums, 2 cycles: 8 times fp32 at
 *     the very best. Saturation adds two. From a sum to the next one they take 15 cycles or more, with changes between
 *     the units of integers and numbers, and 16 registers hold 8 vectors of sums: bfloat16, whose sums need no sign of
 *     zero and no test for subnormal numbers, has 5 and takes 9.4 times fp32. The directed modes have 9 instructions, 9
 *     times fp32, and pieces with a sum near zero are computed twice. No instruction of AVX2 rounds in a direction:
 *     lanes of binary32 leave ties undecided, and with these sums formed once more they take twice the time.
 *   - serial sums, mode sr in AVX2, goal 30, measured 33 to 40: 60 instructions for 8 words, and 15 for the sums, are
 *     18.7 cycles: 37 times fp32. A third of the instructions for the words move data, as 16 registers hold the state
 *     of 4 vectors: arithmetic alone would take 25 times fp32.
 *   - exact with AVX-512, goal 6, measured 5.4 to 6.2: the counts do not forbid the goal, and a processor that other
 *     guests use misses it at times.
 *   - Tensor Core rows with AVX-512, goal 4: only steps of 4 products with binary16 results miss it (v100-fp16-fp16,
 *     which is no row here), measured 5.1 to 5.4. 4.5 arithmetic instructions for a product and 19.3 for a step are
 *     2.3 cycles a vector: 4.7 times fp32 at the very best. Steps of 8 with binary16 results (a100-fp16-fp16), measured
 *     3.85 to 4.0, have 6.9 instructions, 1.73 cycles: 3.45 times. Steps of 4 with binary32 results (v100, tf32 of
 *     a100), measured 3.7 to 3.9, have 6.6, 1.64 cycles: 3.3 times. The loops take 1.85 to 2 cycles, about 3.5
 *     instructions in a cycle. Packing, the check of the operands and the store of C take 5 to 7 percent of a product
 *     of size 512.
 *
 * Units of other vendors, goal 2 beside a100-fp16, on a processor with 2 pipes for vectors of 512 bits (Intel Xeon,
 * family 6 model 167), size 512: mi300-tf32 with AVX-512 takes 2.0 to 2.05, as its steps have 4 products, and each step
 * joins its sum with c. With AVX2 arm-bf16 takes 2.1 to 2.25, since no addition rounds in a direction, and rows of
 * riscv take 1.9 to 2.1.
 *
 * Training steps of 784-1000-1000-10 in q8.8, goals 1.1 and 1.2 (nearest, stochastic): 1.8 million weights and as many
 * gradients are rounded in a step of 6 ms. A gradient is rounded as the product is stored. An update is one pass, which
 * reads two numbers and writes one: 18 instructions a vector to nearest; stochastic 30, AVX2: 52. With AVX-512 nearest
 * takes 1.03 to 1.05 times fp32, stochastic 1.17 to 1.2. Stochastic with AVX2, measured 1.3 to 1.35: words, rounding
 * and update, 60, 25 and 52 instructions for 8 numbers, are 47 million instructions, 2.9 ms at 4 in a cycle, beside a
 * step of 9.6 ms with 0.3 ms of update: 1.27 times. Two threads are 1.7 to 2.0 times as fast as one,
 * goal 1.85, and 1.4 times where other guests use the processor: one thread alone copies the inputs, computes the loss
 * and forms the products of ten columns, 8 of 95 samples of a profile, so that 1.84 times is the most.
 *
 * The rows of rounding that miss their goals there (4 GHz, memcpy takes 1.8 cycles for 64 bytes, a call 100 cycles
 * beside its loops, which are 0.8 a vector of 2048 numbers with AVX-512 and 0.4 with AVX2):
 *   - binary16 rne with AVX-512, goal 0.6, measured 0.57 to 0.6: 3 cycles a vector. 8 of 10 instructions are
 *     arithmetic. Loops over registers alone reach 3.5 to 3.7 vector instructions in a cycle, so that the 8 take 2.2
 *     cycles; the call takes 0.8.
 *   - rne with AVX2, goals 0.6 and 0.35: 1.5 and 2.6 cycles for 32 bytes. 8 operations take 2 (bfloat16: 7, 1.75), the
 *     call 0.4, which leaves 0.2 for the goal 0.35.
 *   - rz, ru, ro with AVX2, goal 0.25: 3.6 cycles for 32 bytes. 11 to 14 operations take 2.8 to 3.5, the call 0.4.
 *   - sra with AVX2, goal 0.07: 13 cycles for 8 numbers. Words and rounding have 49 operations or more: 12.3 cycles,
 *     the call 0.4, and a test of the piece.
 *   - counted rounding with AVX2, goal 1.5: q8.8 measured 1.4 to 1.58. A turn of 4 vectors has 35 instructions without
 *     counts (clang), 48 with counts, and 20 more where a result is zero, one turn in 20, which the processor seldom
 *     predicts. The counts do not forbid the goal.
 *   - binary64, goal 0.5, bfloat16 measured 0.41 to 0.5, other formats 0.45 to 0.5 where they miss the goal: a vector
 *     takes as many instructions as a binary32 vector, which holds twice the numbers, and that of bfloat16 takes more.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static const ulp_option options[] = {
    ULP_OPTION(settings, parts, choices, "all", .words = PART_WORDS, .help = "the parts of the benchmark"),
    ULP_OPTION_FORMATS_OF(settings, formats, "binary16,bfloat16,e4m3,e5m2,q8.8", "binary16,e4m3"),
    ULP_OPTION_MODES_OF(settings, modes, "rne,rz,ru,ro,sr", "rne,sr"),
    ULP_OPTION_DATAPATHS_OF(
        settings, datapaths,
        "fp32,serial:binary16:rne,serial:bfloat16:rne,serial:e4m3:rne,serial:binary16:ru,serial:binary16:ro,"
        "serial:binary16:sr,serial:binary16:sr/8,split:binary16:rne,chunk32:e6m9:rne,pairwise:binary16:rne,"
        "kahan:binary16:rne,exact:binary32:rne,int8,v100-fp16,a100-fp16,a100-bf16,a100-tf32,a100-fp16-fp16,h100-fp16,"
        "h100-bf16,h100-e4m3,h100-e4m3:promote=128,h100-e4m3-mma,b200-e4m3,b200-e4m3-mx,b200-e2m3,b200-e2m1,"
        "b200-e2m1-mxf4,b200-e2m1-nvf4,mi100-bf16,mi250-fp16,mi300-fp16,mi300-tf32,mi300-e4m3fnuz,amx-bf16,arm-bf16,"
        "arm-e4m3-fp16,riscv-bf16,riscv-e4m3",
        NULL),
    ULP_OPTION(settings, sizes, integers, "64,128,256,512,1024", .quick = "64,256",
               .full = "64,128,256,512,1024,2048,4096", .help = "m = n = k of the products by size", .min = 1,
               .max = 1e5),
    ULP_OPTION(settings, bits, integers, "1,4,8,16,32", .help = "random bits of stochastic rounding", .min = 1,
               .max = 32),
    ULP_OPTION(settings, cache, integer, "2048", .help = "elements of an array that stays in the first-level cache",
               .min = 16, .max = 1e9),
    ULP_OPTION(settings, memory, integer, "33554432", .quick = "4194304",
               .help = "elements of an array that does not fit any cache", .min = 16, .max = 1e9),
    ULP_OPTION(settings, size, integer, "512", .quick = "256", .full = "2048",
               .help = "m = n = k of the products under datapaths", .min = 1, .max = 1e5),
    ULP_OPTION(settings, seconds, number, "0.1", .quick = "0.02", .full = "1", .help = "time per row, about",
               .min = 0.001, .max = 60),
    ULP_OPTION(settings, rounds, integer, "15", .quick = "3", .full = "25", .help = "rounds at most", .min = 1,
               .max = 1000),
    ULP_OPTION(settings, peers, text, "", .silent = 1,
               .help = "commands that measure other libraries, with ; between them (make bench PEERS=1)"),
    ULP_OPTION_SEED(settings, seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, group, what, of, mode, by, threads, n), ULP_WORDS(row, unit, UNIT_WORDS),
    ULP_COLUMNS(row, rate, q1, q3, rounds, beside),          ULP_WORDS(row, relation, RELATION_WORDS),
    ULP_COLUMNS(row, ratio, ratio_q1, ratio_q3, goal),       {0},
};

static ulp_status compute(const ulp_task *task) {
    static ulp_status (*const parts[PARTS])(const ulp_task *task) = {
        put_rounding_in_cache, put_random_bits, put_rounding_in_memory, put_products, put_sizes,
        put_training,          put_libraries};
    const int threads = ulp_threads_get();
    const ulp_status status = parts[((const point *)task->point)->part](task);
    ulp_threads_set(threads);
    return status;
}

static void release_nothing(void *own) { (void)own; }
static void print_nothing(const void *own, FILE *screen) {
    (void)own;
    (void)screen;
}

/* Adds the points of a part. The costs are about seconds. */
static void add_part(ulp_plan *plan, const settings *set, int part) {
    static const struct {
        double cost;
        const char *label;
    } about[PARTS] = {{10, "rounding in the first-level cache"},
                      {4, "rounding with some random bits"},
                      {20, "rounding in memory"},
                      {40, "products under datapaths"},
                      {5, "products by size"},
                      {5, "training steps"},
                      {10, "rounding beside other libraries"}};
    if (part != PART_SIZES) {
        ulp_plan_add(plan, &(point){.part = part}, about[part].cost, "%s", about[part].label);
        return;
    }
    for (size_t i = 0; i < set->sizes.count; i++)
        ulp_plan_add(plan, &(point){.part = part, .size = set->sizes.at[i]}, about[part].cost, "products of size %lld",
                     (long long)set->sizes.at[i]);
}

/* Sets the load average, which Linux offers: programs that run beside the benchmark. */
static void read_load(bench *b) {
    FILE *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%20s", b->load) != 1) b->load[0] = '\0';
    if (file) fclose(file);
}

static ulp_status plan(ulp_plan *plan, const void *own, void *shared) {
    const settings *set = own;
    bench *b = shared;
    b->threads = ulp_threads_get();
    read_load(b);
    b->rows = ulp_grow(NULL, sizeof *b->rows);
    *b->rows = NULL;
    ulp_status status = ulp_backend_get(&b->backend, "cpu");
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "ULPLAB_ISA=%s", getenv("ULPLAB_ISA"));
    if (set->parts == 1u << PART_LIBRARIES && !*set->peers)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--parts libraries needs --peers");
    ulp_plan_note(plan, "timing", "yes: two runs of this file differ");
    for (int part = 0; part < PARTS; part++)
        if (set->parts >> part & 1 && (part != PART_LIBRARIES || *set->peers)) add_part(plan, set, part);
    plan->report = (ulp_plan_report){
        .own = b, .ending = ".json", .print = print_nothing, .write = write_json, .release = release_nothing};
    if (!*set->peers || ulp_setting_given(plan->arguments, "list")) return ULP_OK;
    b->peers = ulp_grow(NULL, sizeof *b->peers);
    *b->peers = (peers){0};
    return peers_open(plan, b->peers, set->peers);
}

static void release(void *shared) {
    bench *b = shared;
    if (b->peers) peers_close(b->peers);
    free(b->peers);
    free(b->rows);
}

static const ulp_experiment experiment = {
    .name = "bench",
    .question = "How fast are rounding, matrix products and training steps, each beside what bounds it?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(bench),
    .threads_inside = 1,
    .whole = 1,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }

/* bench.c - throughput of rounding, matrix products and training steps, each compared with what bounds it, in one run.
 *
 * On the CPU a row is the median of many rounds, with quartiles. A round measures the row and what it is compared with
 * close together in time, and a ratio is the median of the ratios of the rounds (measure.c). The bounds:
 *   - memcpy, of as many elements, for rounding; of as many bytes, for codes
 *   - the random words alone, for stochastic rounding
 *   - peak: fused multiply-adds in registers alone, and the sgemm of OpenBLAS, for products
 *   - the same in binary32, for products under datapaths and for trainings
 *   - the products of the step alone, by OpenBLAS, for the training of the network 784-1000-1000-10
 *
 * On a CUDA device each row is a point of its own. OUT.part has the rows so far at every moment, also after a kill, and
 * the CSV is written at the end. A row that fails, or that the device or its library does not offer, is a line
 * `# failed: ` or `# left out: ` with the reason in the head of the CSV, and the run goes on. A device that is lost
 * ends the run. The arrays that are rounded take turns, so that none of them is in the second-level cache. A row is
 * compared with an earlier row, and has no ratio if this row failed:
 *   - rounding with a copy on the device, in bytes per second
 *   - products under datapaths with the row `reference`, which is cuBLASLt in binary32, of the same size; the binary32
 *     chain if the library is not there. The time of a product is that of the call of ulp_backend_gemm, which also
 *     checks that both operands have numbers of the input formats, and waits for the answer
 *   - products of the device itself with the product of the same types by cuBLASLt if it has a row, else with that in
 *     binary32. The time is that of the product of codes alone, without the conversion of operands and result
 *   - training steps with the CPU, or with those in binary32 by products of the device
 *
 * The numbers are timings: they differ from run to run, and no test depends on them. README.md says how long a run
 * takes and what binds each row.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "experiments/harness/training/options.h"

static const ulp_option options[] = {
    ULP_OPTION(settings, backend, choice, "cpu", .words = "cpu cuda", .help = "the machine that is timed"),
    ULP_OPTION(settings, parts, choices, "all", .words = PART_WORDS,
               .help = "the parts; cpu has no native and policies, cuda no cache, sizes and libraries"),
    ULP_OPTION_FORMATS_OF(settings, formats, "binary16,bfloat16,e4m3,e5m2,q8.8", "binary16,e4m3"),
    ULP_OPTION_MODES_OF(settings, modes, "rne,rz,ru,ro,sr", "rne,sr"),
    ULP_OPTION_DATAPATHS_OF(
        settings, datapaths,
        "fp32,serial:binary16:rne,serial:bfloat16:rne,serial:e4m3:rne,serial:binary16:ru,serial:binary16:ro,"
        "serial:binary16:sr,serial:binary16:sr/8,split:binary16:rne,chunk32:e6m9:rne,pairwise:binary16:rne,"
        "kahan:binary16:rne,exact:binary32:rne,serial:binary64:rne,serial:q8.8:rne,serial:posit16:rne,"
        "serial:takum16:rne,serial:hif8:rne,block4:binary32:rne,int8,v100-fp16,a100-fp16,a100-bf16,a100-tf32,"
        "a100-fp16-fp16,h100-fp16,h100-bf16,h100-e4m3,h100-e4m3:promote=128,h100-e4m3-mma,b200-e4m3,b200-e4m3-mx,"
        "b200-e2m3,b200-e2m1,b200-e2m1-mxf4,b200-e2m1-nvf4,mi100-bf16,mi250-fp16,mi300-fp16,mi300-tf32,"
        "mi300-e4m3fnuz,amx-bf16,arm-bf16,arm-e4m3-fp16,riscv-bf16,riscv-e4m3",
        NULL),
    ULP_OPTION(settings, sizes, integers, "64,128,256,512,1024", .quick = "64,256",
               .full = "64,128,256,512,1024,2048,4096", .help = "m = n = k of the products by size", .min = 1,
               .max = 1e5),
    ULP_OPTION(settings, bits, integers, "1,4,8,16,32", .help = "random bits of stochastic rounding", .min = 1,
               .max = 32),
    ULP_OPTION(settings, codes, integers, "1048576,16777216", .quick = "65536",
               .help = "elements of the arrays of the part codes", .min = 1024, .max = 1e9),
    ULP_OPTION(settings, cache, integer, "2048", .help = "elements of an array that stays in the first-level cache",
               .min = 16, .max = 1e9),
    ULP_OPTION(settings, memory, integer, "0", .quick = "4194304",
               .help = "elements of an array that does not fit any cache; 0: 33554432, cuda 134217728", .max = 1e10),
    ULP_OPTION(settings, arrays, integer, "3", .help = "cuda: pairs of such arrays that take turns", .min = 1,
               .max = 64),
    ULP_OPTION(settings, size, integer, "0", .quick = "256",
               .help = "m = n = k of the products under datapaths; 0: 512, cuda 2048; with --full 2048, cuda 4096",
               .max = 1e5),
    ULP_OPTION_AS(settings, native_size, "native-size", integer, "8192", .quick = "256",
                  .help = "cuda: m = n = k of the device's own products", .min = 1, .max = 65536),
    ULP_OPTION(settings, units, integer, "1024", .quick = "16", .help = "cuda: of the layers of the part training",
               .min = 1, .max = 65536),
    ULP_OPTION(settings, batch, integer, "256", .quick = "16",
               .help = "cuda: samples of a training step; the part policies takes twice as many", .min = 1,
               .max = 2048),
    ULP_OPTION(settings, net, text, "fc2048 relu fc2048 relu fc10", .quick = "fc64 relu fc10",
               .full = "fc8192 relu fc8192 relu fc8192 relu fc10", .topic = "nets",
               .help = "cuda: the network of the part policies"),
    ULP_OPTION(settings, policies, choices, "all", .words = POLICY_WORDS,
               .help = "cuda: the rows of the part policies"),
    ULP_OPTION(settings, seconds, number, "0.1", .quick = "0.02", .full = "1",
               .help = "time per row, about; cuda: and as long to warm up", .min = 0.0001, .max = 60),
    ULP_OPTION(settings, rounds, integer, "15", .quick = "3", .full = "25", .help = "rounds at most", .min = 1,
               .max = 1000),
    ULP_OPTION(settings, peers, text, "", .silent = 1,
               .help = "cpu: commands that measure other libraries, with ; between them (make bench PEERS=1)"),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, group, what, of, mode, by, threads, n),  ULP_WORDS(row, unit, UNIT_WORDS),
    ULP_COLUMNS(row, rate, q1, q3, rounds, beside),           ULP_WORDS(row, relation, RELATION_WORDS),
    ULP_COLUMNS(row, ratio, ratio_q1, ratio_q3, goal, clock), {0},
};

/* The parts: on the CPU a point with a cost of about so many seconds; on a device the points that plan() adds. NULL:
 * the machine does not have the part. */
static const struct part {
    double cost;
    ulp_status (*cpu)(const ulp_task *task), (*cuda)(const ulp_task *task);
    void (*plan)(ulp_plan *plan, const settings *set, int part);
} parts[PARTS] = {
    [PART_CACHE] = {10, put_rounding_in_cache, NULL, NULL},
    [PART_MEMORY] = {20, put_rounding_in_memory, put_device_rounding, plan_device_rounding},
    [PART_BITS] = {4, put_rounding_in_cache, put_device_rounding, plan_device_rounding},
    [PART_CODES] = {10, put_codes, NULL, NULL},
    [PART_PRODUCTS] = {40, put_products, put_device_product, plan_device_products},
    [PART_SIZES] = {5, put_sizes, NULL, NULL},
    [PART_NATIVE] = {0, NULL, put_native, plan_native},
    [PART_TRAINING] = {5, put_training, put_device_training, plan_device_training},
    [PART_POLICIES] = {0, NULL, put_device_training, plan_device_training},
    [PART_LIBRARIES] = {10, put_libraries, NULL, NULL},
};

/* A device whose clock cannot be read after a failure runs no kernel any more: every later row would fail. */
static ulp_status compute(const ulp_task *task) {
    const bench *b = task->context;
    const struct part *part = &parts[((const point *)task->point)->part];
    const int threads = ulp_threads_get();
    const ulp_status status = b->timer ? part->cuda(task) : part->cpu(task);
    double hertz;
    ulp_threads_set(threads);
    if (status == ULP_OK || !b->timer) return status;
    const int of_device = status == ULP_UNSUPPORTED || status == ULP_NO_MEMORY || status == ULP_DEVICE_FAILED;
    ulp_task_fail(task, status, "%s", of_device ? ulp_backend_error() : ulp_status_text(status));
    if (status == ULP_UNSUPPORTED) return status;
    return ulp_cuda_clock(&hertz) == ULP_OK ? ULP_DEVICE_FAILED : ULP_NO_DEVICE;
}

/* ---- the plan ---- */

static ulp_status plan_parts(ulp_plan *plan, const settings *set) {
    static const char *const without[] = {"--parts: none of them is timed with --backend cpu",
                                          "--parts: none of them is timed with --backend cuda"};
    const int lists = ulp_setting_given(plan->arguments, "list"); /* the list does not depend on the device */
    for (int i = 0; i < PARTS; i++) {
        if (!(set->parts >> i & 1) || (i == PART_LIBRARIES && !*set->peers) || (i == PART_NATIVE && lists)) continue;
        if (set->backend && parts[i].plan) parts[i].plan(plan, set, i);
        if (set->backend || !parts[i].cpu) continue;
        for (size_t k = 0; i == PART_CODES && k < set->codes.count; k++)
            ulp_plan_add(plan, &(point){.part = i, .size = set->codes.at[k]}, parts[i].cost, "codes of %lld elements",
                         (long long)set->codes.at[k]);
        if (i != PART_SIZES && i != PART_CODES)
            ulp_plan_add(plan, &(point){.part = i}, parts[i].cost, "%s", part_titles[i]);
        for (size_t k = 0; i == PART_SIZES && k < set->sizes.count; k++)
            ulp_plan_add(plan, &(point){.part = i, .size = set->sizes.at[k]}, parts[i].cost, "products of size %lld",
                         (long long)set->sizes.at[k]);
    }
    return plan->count || lists ? ULP_OK : ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "%s", without[set->backend]);
}

/* ---- the machine ---- */

/* Sets the load average, which Linux offers: programs that run at the same time. */
static void read_load(bench *b) {
    FILE *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%20s", b->load) != 1) b->load[0] = '\0';
    if (file) fclose(file);
}

/* The value of the first line of /proc/cpuinfo with this key; "" without it. */
static void read_cpuinfo(char *value, size_t size, const char *key) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    *value = '\0';
    while (file && !*value && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0 || !strchr("\t :", line[strlen(key)])) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    }
    if (file) fclose(file);
}

/* The name of the processor, with family and model: the name of a virtual machine's processor may leave them open. */
static ulp_status open_processor(ulp_plan *plan, bench *b) {
    char name[200], family[20], model[20];
    struct utsname system;
    const ulp_status status = ulp_backend_get(&b->backend, "cpu");
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "ULPLAB_ISA=%s", getenv("ULPLAB_ISA"));
    read_cpuinfo(name, sizeof name, "model name");
    read_cpuinfo(family, sizeof family, "cpu family");
    read_cpuinfo(model, sizeof model, "model");
    if (*name && *family) snprintf(b->device, sizeof b->device, "%s (family %s model %s)", name, family, model);
    else snprintf(b->device, sizeof b->device, "%s", *name ? name : uname(&system) >= 0 ? system.machine : "unknown");
    snprintf(b->isa, sizeof b->isa, "%s", b->backend->what);
    return ULP_OK;
}

static ulp_status open_device(ulp_plan *plan, const settings *set, bench *b) {
    ulp_cuda_info info;
    const ulp_status found = ulp_backend_get(&b->backend, "cuda");
    if (found != ULP_OK) return ulp_plan_fail(plan, found, "--backend cuda: %s", ulp_cuda_lacks());
    const int64_t most = set->native_size > b->size ? set->native_size : b->size;
    ulp_status status = ulp_backend_get(&b->cpu, "cpu");
    if (status == ULP_OK) status = ulp_cuda_describe(&info);
    if (status == ULP_OK) status = ulp_cuda_timer_open(&b->timer);
    b->kept = ulp_grow(NULL, sizeof *b->kept);
    b->arrays = ulp_grow(NULL, sizeof *b->arrays);
    b->matrices = ulp_grow(NULL, sizeof *b->matrices);
    *b->kept = (struct kept_list){0};
    *b->arrays = (arrays){0};
    *b->matrices = (matrices){.b = b};
    if (status == ULP_OK) status = arrays_open(b->arrays, b, (size_t)b->memory, (size_t)set->arrays, 0);
    if (status == ULP_OK) status = matrices_open(b->matrices, b, (size_t)most);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s", ulp_backend_error());
    snprintf(b->device, sizeof b->device, "%s", info.name);
    snprintf(b->isa, sizeof b->isa, "compute capability %d.%d", info.capability / 10, info.capability % 10);
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *set = plan->settings;
    bench *b = plan->context;
    const int cuda = set->backend, full = ulp_setting_given(plan->arguments, "full");
    b->size = set->size ? set->size : full ? (cuda ? 4096 : 2048) : cuda ? 2048 : 512;
    b->memory = set->memory ? set->memory : cuda ? 134217728 : 33554432;
    b->threads = ulp_threads_get();
    read_load(b);
    b->rows = ulp_grow(NULL, sizeof *b->rows);
    *b->rows = NULL;
    if (!cuda && set->parts == 1u << PART_LIBRARIES && !*set->peers)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--parts libraries needs --peers");
    if (ulp_setting_given(plan->arguments, "list")) return plan_parts(plan, set);
    ULP_TRY(cuda ? open_device(plan, set, b) : open_processor(plan, b));
    ULP_TRY(plan_parts(plan, set));
    ulp_plan_note(plan, "timing", "yes: two runs of this file differ");
    ulp_plan_note(plan, "device", "%s, %s", b->device, b->isa);
    plan->report = (ulp_plan_report){.own = b, .ending = ".json", .write = write_json};
    if (!*set->peers) return ULP_OK;
    b->peers = ulp_grow(NULL, sizeof *b->peers);
    *b->peers = (peers){0};
    return peers_open(plan, b->peers, set->peers);
}

static void release(void *shared) {
    bench *b = shared;
    if (b->peers) peers_close(b->peers);
    if (b->matrices) matrices_release(b->matrices);
    if (b->arrays) arrays_release(b->arrays, b);
    if (b->kept) free(b->kept->at);
    ulp_cuda_timer_close(b->timer);
    free(b->kept);
    free(b->matrices);
    free(b->arrays);
    free(b->peers);
    free(b->rows);
}

const ulp_experiment experiment = {
    .name = "bench",
    .question = "How fast are rounding, matrix products and training steps, each compared with what bounds it?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(bench),
    .threads_inside = 1,
    .whole = 1,
    .goes_on = 1,
    .release = release,
};

/* merges.c - a whole experiment that merges shards or resumes a stopped run: its CSV is the one of an unbroken run. */
#include "experiments/harness/experiment.h"
#include "tests/proofs/fuzz/support/fuzz.h"

typedef struct settings {
    int64_t size;
} settings;
typedef struct point {
    int64_t number;
} point;
typedef struct row {
    int64_t number;
    double half;
} row;

static const ulp_option options[] = {ULP_OPTION(settings, size, integer, "3", .help = "points", .min = 1, .max = 9),
                                     {0}};
static const ulp_column columns[] = {ULP_COLUMNS(row, number, half), {0}};

static ulp_status plan(ulp_plan *to) {
    for (int64_t i = 0; i < ((const settings *)to->settings)->size; i++)
        ulp_plan_add(to, &(point){i}, 1, "number %lld", (long long)i);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const point *p = task->point;
    ulp_row_put(task->rows, &(row){p->number, 0.5 * (double)p->number});
    return ULP_OK;
}

static void read_rows(ulp_claims *claims) {
    double sum = 0;
    for (size_t i = 0; i < claims->table->count; i++) sum += ((const row *)claims->table->rows)[i].half;
    ulp_claim(claims, sum >= 0, "halves", "%g", sum);
}

const ulp_experiment experiment = {.name = "fuzz",
                                   .question = "is hostile input refused?",
                                   .options = options,
                                   .columns = columns,
                                   .settings_size = sizeof(settings),
                                   .point_size = sizeof(point),
                                   .row_size = sizeof(row),
                                   .plan = plan,
                                   .compute = compute,
                                   .judge = read_rows};

static const char head[] = "# experiment: fuzz\n";

/* Rows of a file with a right checksum can make the claim fail: the lines of claims are on stdout. */
static void check_status(int status, const char *of) {
    const fuzz_output output = fuzz_take_output();
    const int failed = strstr(output.out, "FAIL") != NULL;
    fputs(output.error, stderr);
    fuzz_check(!failed || status == ULP_EXIT_FAILED, "'%s': a claim failed, exit status %d", of, status);
    if (!failed) fuzz_check_exit(status, of);
}

/* The first byte: 0 a file to merge, 1 the file of a stopped run; 2: the input is the whole file. */
static void run(const uint8_t *data, size_t size) {
    const int resumes = size > 0 && data[0] & 1, whole = size > 0 && data[0] & 2;
    ulp_text file = {0};
    if (!whole)
        ulp_text_print(&file, "%s# version: %s\n# size: 3\n# columns: number,half\n# build: %s\n", head,
                       ulp_build_version(), ulp_build_id());
    if (size) ulp_text_add(&file, (const char *)data + 1, size - 1);
    const char *path = fuzz_file(0, (const uint8_t *)ulp_text_of(&file), file.length);
    if (resumes) {
        FILE *part = fopen("out.csv.part", "wb");
        if (!part || fwrite(ulp_text_of(&file), 1, file.length, part) != file.length || fclose(part) != 0) abort();
    }
    char *argv[] = {(char[]){"fuzz"},
                    (char[]){"--out=out.csv"},
                    (char[]){"--threads=1"},
                    (char[]){"--quiet"},
                    resumes ? (char[]){"--resume"} : (char[]){"--merge"},
                    resumes ? NULL : (char *)(uintptr_t)path,
                    NULL};
    const int status = ulp_experiment_main(&experiment, resumes ? 5 : 6, argv);
    check_status(status, resumes ? "--resume" : "--merge");
    if (status == 0) {
        fuzz_passed();
        FILE *csv = fopen("out.csv", "rb");
        fuzz_check(csv != NULL && fclose(csv) == 0, "there is no CSV");
    }
    ulp_text_free(&file);
}

static size_t repair(uint8_t *data, size_t size, size_t room) {
    if (size < 2) return size;
    data[0] &= 1;
    return 1 + fuzz_repair_pieces(data + 1, size - 1, room - 1);
}

static void seeds(void) {
    for (int kind = 0; kind < 2; kind++) {
        fuzz_seed_pieces(kind, "# piece 0: number 0\n0,0\n# end 0\n# piece 2: number 2\n2,1\n# end 2\n");
        fuzz_seed_pieces(kind, "# piece 1: number 1\n1,0.5\n# end 1\n# piece 0: number 0\n0,0\n");
        fuzz_seed_pieces(kind, "# piece 0: number 0\n");
    }
    fuzz_seed_pieces(2, "# experiment: fuzz\n# version: 0.1.0\n");
}

const fuzz_target fuzz_target_merges = {FUZZ_BYTES("merges", repair, 600, 1 << 17, 8)};

/* t_hardware.c - Tensor Core rows against measured results and against directed cases.
 *
 * The data are in $ULPLAB_DATA, or in a folder beside the tree. */
#include "tensor_cases.h"
#include "instruction_sets.h"

#if defined(ULP_WITH_ZLIB)
#include <zlib.h>
#endif

enum { MEASURED = 5000, DIRECTED = 985, LINE = 4096 };

static size_t failures;

/* ---- files ---- */

static const char *path_of(const char *name) {
    static char path[768];
    const char *given = getenv("ULPLAB_DATA");
    snprintf(path, sizeof path, "%s/tensor-core/%s", given && *given ? given : "../shared/data", name);
    return path;
}

static int data_exists(const char *name) {
    FILE *file = fopen(path_of(name), "rb");
    if (file != NULL) fclose(file);
    return file != NULL;
}

/* Call each(line) for every line of a packed file except comments and the header. Returns the number of lines. */
#if defined(ULP_WITH_ZLIB)
static size_t each_line(const char *name, void (*each)(char *line, const char *row), const char *row) {
    char line[LINE];
    size_t n = 0;
    gzFile file = gzopen(path_of(name), "rb");
    if (file == NULL) fail_msg("%s: cannot be opened", path_of(name));
    while (gzgets(file, line, sizeof line) != NULL)
        if (line[0] != '#' && strncmp(line, "a,b,", 4) != 0) each(line, row), n++;
    gzclose(file);
    return n;
}
#else
static size_t each_line(const char *name, void (*each)(char *line, const char *row), const char *row) {
    char line[LINE], command[1024];
    size_t n = 0;
    snprintf(command, sizeof command, "gzip -dc '%s'", path_of(name));
    FILE *file = popen(command, "r");
    if (file == NULL) fail_msg("%s", command);
    while (fgets(line, sizeof line, file) != NULL)
        if (line[0] != '#' && strncmp(line, "a,b,", 4) != 0) each(line, row), n++;
    assert_int_equal(pclose(file), 0);
    return n;
}
#endif

/* Split a line at its first n - 1 commas. */
static void split(char *line, char **field, size_t n) {
    for (size_t i = 0; i < n; i++) {
        field[i] = line;
        line += strcspn(line, i + 1 < n ? ",\n" : "\n");
        if (i + 1 < n && *line != ',') fail_msg("a line with %zu fields: %s", i + 1, field[0]);
        if (*line != '\0') *line++ = '\0';
    }
}

/* Read codes in hex. A tf32 code is in the upper bits of a 32-bit register. */
static size_t codes(uint32_t *to, const char *text, const oracle_format *f) {
    size_t n = 0;
    char *end;
    for (const char *at = text; *at != '\0'; at = end + (*end == ' ')) {
        const uint32_t code = (uint32_t)strtoul(at, &end, 16);
        assert_true(end != at && n < 256);
        to[n++] = f->e == 8 && f->f == 10 ? code >> 13 : code;
    }
    return n;
}

/* ---- one case: the oracle, the definition, and the product of a row and a column of every instruction set ---- */

static void wrong(const char *what, const char *row, const oracle *o, const tensor_case *t, uint32_t got,
                  uint32_t want) {
    char text[LINE];
    if (failures++ < 20)
        print_message("%s, %s: %s: got %x, want %x\n", what, row, case_text(text, sizeof text, o, t), got, want);
}

static void check(const char *row, const char *a, const char *b, const char *c, const char *d) {
    static oracle o;
    static ulp_datapath datapath;
    static char last[64];
    tensor_case t = {.style = ANY};
    float x[256], y[256], z, end;
    if (strcmp(row, last) != 0) {
        if (!oracle_find(&o, row)) fail_msg("%s: no row of the oracle", row);
        assert_ok(ulp_datapath_parse(&datapath, row));
        snprintf(last, sizeof last, "%s", row);
    }
    t.k = codes(t.a, a, o.a);
    assert_int_equal(codes(t.b, b, o.b), t.k);
    t.c = (uint32_t)strtoul(c, NULL, 16);
    const uint32_t want = (uint32_t)strtoul(d, NULL, 16);
    const uint32_t judged = oracle_dot(&o, t.c, t.a, t.b, t.k, NULL, NULL);
    if (judged != want) wrong("oracle", row, &o, &t, judged, want);
    ulp_status status;
    const uint32_t got = case_model(&datapath, &o, &t, &status);
    assert_ok(status);
    if (got != want) wrong("ulp_dot", row, &o, &t, got, want);
    for (size_t i = 0; i < t.k; i++)
        x[i] = (float)oracle_value(oracle_decode(t.a[i], o.a)), y[i] = (float)oracle_value(oracle_decode(t.b[i], o.b));
    z = (float)oracle_value(oracle_decode(t.c, o.acc)), end = (float)oracle_value(oracle_decode(want, o.acc));
    const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = t.k, .lda = t.k, .ldb = 1, .ldc = 1, .accumulate = 1};
    for (size_t isa = 0; isa < offered; isa++) {
        float result = z;
        assert_ok(ulp_backend_gemm(backends[isa], &result, x, y, &shape, (ulp_summation){.datapath = &datapath}));
        if (!same_result((double)result, (double)end))
            wrong(backends[isa]->what, row, &o, &t, ulp_bits32(result), want);
    }
}

static void check_measured(char *line, const char *row) {
    char *field[4];
    split(line, field, 4);
    check(row, field[0], field[1], field[2], field[3]);
}

TEST(measured) {
    static const struct {
        const char *file, *row;
    } files[] = {
        {"v100-fp16-fp32", "v100-fp16"},      {"v100-fp16-fp16", "v100-fp16-fp16"}, {"a100-fp16-fp32", "a100-fp16"},
        {"a100-fp16-fp16", "a100-fp16-fp16"}, {"a100-bf16-fp32", "a100-bf16"},      {"a100-tf32-fp32", "a100-tf32"},
        {"l40s-fp16-fp32", "l40s-fp16"},      {"l40s-fp16-fp16", "l40s-fp16-fp16"}, {"l40s-bf16-fp32", "l40s-bf16"},
        {"l40s-e4m3-fp32", "l40s-e4m3"},      {"l40s-e5m2-fp32", "l40s-e5m2"},
    };
    enum { FILES = COUNT_OF(files) };
    if (!data_exists("v100-fp16-fp32.csv.gz")) skip();
    size_t total = 0;
    failures = 0;
    for (size_t i = 0; i < FILES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.csv.gz", files[i].file);
        const size_t n = each_line(name, check_measured, files[i].row);
        if (n != MEASURED) fail_msg("%s: %zu results, not %d", name, n, (int)MEASURED);
        total += n;
    }
    print_message("%zu measured results, %zu wrong\n", total, failures);
    assert_int_equal(total, 55000);
    assert_int_equal(failures, 0);
}

/* The name of the row for an architecture and types such as e4m3.e4m3.f16. */
static void row_of(char *row, size_t size, const char *arch, const char *types) {
    static const char *const archs[][2] = {
        {"volta", "v100"}, {"turing", "t4"}, {"ampere", "a100"}, {"ada", "l40s"}, {"hopper", "h100"}};
    const char *gpu = NULL, *acc = strrchr(types, '.');
    char input[16];
    for (size_t i = 0; i < 5; i++)
        if (strcmp(arch, archs[i][0]) == 0) gpu = archs[i][1];
    assert_true(gpu != NULL && acc != NULL);
    snprintf(input, sizeof input, "%.*s", (int)strcspn(types, "."), types);
    snprintf(row, size, "%s-%s%s", gpu, strcmp(input, "f16") == 0 ? "fp16" : input,
             strcmp(acc, ".f16") == 0 ? "-fp16" : "");
}

TEST(directed) {
    if (!data_exists("directed.csv")) skip();
    FILE *file = fopen(path_of("directed.csv"), "r");
    assert_non_null(file);
    char line[LINE], row[64];
    size_t total = 0, open = 0;
    failures = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char *field[11]; /* name, arch, instr, types, k, a, b, c, d, open, comment */
        if (line[0] == '#' || strncmp(line, "name,", 5) == 0) continue;
        split(line, field, 11);
        row_of(row, sizeof row, field[1], field[3]);
        const size_t before = failures;
        check(row, field[5], field[6], field[7], field[8]);
        if (failures > before) print_message("    %s: %s\n", field[0], field[10]);
        total++;
        open += strcmp(field[9], "1") == 0;
    }
    fclose(file);
    print_message("%zu directed cases, %zu of them open, %zu wrong\n", total, open, failures);
    assert_int_equal(total, DIRECTED);
    assert_true(open > 0);
    assert_int_equal(failures, 0);
}

TESTS(find_backends, NULL)

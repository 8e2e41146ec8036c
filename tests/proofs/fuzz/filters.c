/* filters.c - commands of ulp that read lines: the first line of an input is a command, the others are what it reads.
 */
#include "tests/proofs/fuzz/support/fuzz.h"

#include "experiments/harness/cli/options.h"

/* Run the command of the first line on the rest. Returns the exit status, or -1. */
static int run_lines(const char *text) {
    const size_t n = strcspn(text, "\n");
    char *line = ulp_grow(NULL, n + 1);
    memcpy(line, text, n);
    line[n] = '\0';
    const char *rest = text + n + (text[n] == '\n');
    fuzz_stdin((const uint8_t *)rest, strlen(rest));
    const int status = fuzz_tool(line);
    free(line);
    return status;
}

static int is_valid(const char *text) {
    const int status = run_lines(text);
    const fuzz_output o = fuzz_take_output();
    return status == 0 && o.out_size > 0;
}

/* Whether a line has the words of a command and no others that change what it prints. */
static int is_plain(const char *text, const char *command, const char *without) {
    const size_t n = strcspn(text, "\n");
    if (strncmp(text, command, strlen(command)) != 0) return 0;
    for (const char *at = without; *at; at += strlen(at) + 1) {
        const char *found = strstr(text, at);
        if (found && found < text + n) return 0;
    }
    return 1;
}

/* Values that were rounded are rounded to themselves. */
static void check_rounded(const char *text, const char *values) {
    const size_t n = strcspn(text, "\n");
    ulp_text again = {0};
    ulp_text_add(&again, text, n);
    ulp_text_print(&again, "\n%s", values);
    const int status = run_lines(ulp_text_of(&again));
    const fuzz_output second = fuzz_take_output();
    fuzz_check(status == 0 && strcmp(second.out, values) == 0, "'%.*s' rounds '%s' to '%s' %s", (int)n, text, values,
               second.out, second.error);
    ulp_text_free(&again);
}

static void run(const uint8_t *data, size_t size) {
    const char *text = fuzz_text(data, size);
    const int status = run_lines(text);
    const fuzz_output first = fuzz_take_output();
    if (status == 0 && first.out_size > 0) fuzz_passed();
    if (status != 0 || !first.out_size || first.out_size > 10000) return;
    if (is_plain(text, "round ", "--from\0--to\0--help\0--version\0--out\0@\0-h\0"))
        for (size_t i = 0; i < first.out_size; i++)
            fuzz_check(strchr("0123456789abcdef\n", first.out[i]) != NULL, "a code has '%c'", first.out[i]);
    if (strstr(text, "--to value\n") && is_plain(text, "round ", "--from\0--help\0--version\0--out\0@\0wrap\0-h\0"))
        check_rounded(text, first.out);
}

static void seeds(void) {
    FUZZ_SEED_TEXTS(
        "round --format e4m3 --to value\n0.01\n-1e9\ninf\n# comment\n\n0x1.8p-3\n",
        "round --format binary16 --mode sr --bits 8 --seed 2 --to value\n0.1\n0.2\n",
        "round --format q4.12 --mode rd --to both\n1.5\n-2.25\n",
        "round --format posit16 --from f32\n3dcccccd\n7f800000\n",
        "round --format bf16 --from f64 --to value\n3fb999999999999a\n",
        "round --format e5m2 --overflow sat --mode ru\n1e30\n", "arith --format fp16 --op add\n5640 211f\n3c00,bc00\n",
        "arith --format e4m3 --op fma --mode rz\n38 39 3a\n", "arith --format takum16 --op sqrt\n4000\n",
        "dot --datapath a100-fp16\n00000000 3c00 bc00 0400 0400 3c00 3c00 1000 1000\n",
        "dot --datapath serial:fp16:sr/8 --in fp16 --seed 3\n3c00 3c00 3c00\n",
        "dot --datapath b200-e4m3-mx\n00000000 38 38 / 7f / 7f\n", "dot --datapath int8\n00000001 7f 80 01 ff\n",
        "convert --by cvt.rs.f16x2\n10000000 0x1.002p0 0x1.002p0\n", "block --format mxfp4\n1\n2\n-3.5\n0.25\n",
        "block --format nvfp4:even --tensor-scale auto --to both\n1\n448\n-3\n",
        "block --format mxfp8 --decode\n7f 38\n7f b8\n", "block --list\n", "formats --csv\n",
        "show --format fp16 0.01\n", "show --all-formats 1e-3\n", "help formats\n", "help modes\n", "convert --list\n",
        "amp --net conv8@3p1,bn,relu,fc10 --format fp16 --explain\n",

        "block --format nvfp4 --tensor-scale 0.5\n7\n");
}

/* tables of the texts of 65,536 codes */
const fuzz_target fuzz_target_filters = {FUZZ_TEXT("filters", 400, 1 << 21, 256)};

/* binaries.c - commands of ulp that read binary files: the first line of an input is a command, and two files follow.
 */
#include "tests/proofs/fuzz/support/fuzz.h"

/* After the line stand two bytes with the length of file @0, its bytes, and the bytes of file @1. */
typedef struct parts {
    size_t line, first, second, end;
} parts;

static parts cut(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    parts p = {.line = end ? (size_t)(end - data) : size, .end = size};
    p.first = p.line + 3 < size ? p.line + 3 : size;
    const size_t n = p.first < size ? (size_t)(data[p.line + 1] << 8 | data[p.line + 2]) : 0;
    p.second = n < size - p.first ? p.first + n : size;
    return p;
}

static void run(const uint8_t *data, size_t size) {
    const parts p = cut(data, size);
    const char *line = fuzz_text(data, p.line);
    fuzz_file(0, data + p.first, p.second - p.first);
    fuzz_file(1, data + p.second, p.end - p.second);
    fuzz_stdin(data + p.first, p.second - p.first);
    const int status = fuzz_tool(line);
    const fuzz_output o = fuzz_take_output();
    /* a message about a file, but for its first bytes, says that the command was understood */
    const int is_about_file = strstr(o.error, "/proc/self/fd/") || strstr(o.error, "stdin");
    if (status == 0 || (is_about_file && !strstr(o.error, "is no .npy file"))) fuzz_passed();
}

static const char *const lines[] = {"round --format e4m3 --from f32le --to value",
                                    "round --format fp16 --from f64le --to f32le @0",
                                    "round --format e5m2 --from npy --to npycode @0",
                                    "round --format bf16 --mode sr --from npy --to npy @0",
                                    "round --format e4m3 --from npy --to npz --out out.npz @0",
                                    "block --format mxfp8 --from npy --to npy @0",
                                    "block --format nvfp4 --from npy --to npz --tensor-scale auto --out out.npz @0",
                                    "gemm --datapath fp32 --a @0 --b @1 --seconds 0",
                                    "gemm --datapath h100-fp16 --in fp16 --a @0 --b @1 --seconds 0 --out out.npy",
                                    "verify --format e4m3 --mode rne --inputs @0 --results @1",
                                    "verify --format binary16 --mode rz --inputs @0 --results @0",
                                    "round --format e4m3 --from npz --to npz --out out.npz @0",
                                    "round --format bf16 --from npz --to value @0:arr_0",
                                    "block --format mxfp8 --decode --from npz --to npy @0",
                                    "block --format nvfp4 --decode --from npz --to npy @0"};
enum { LINES = sizeof lines / sizeof lines[0] };

/* Three of four inputs get one of the lines above in the place of theirs. */
static size_t set_line(uint8_t *data, size_t size, size_t room) {
    const parts p = cut(data, size);
    const char *line = lines[size % LINES];
    const size_t n = strlen(line), rest = size - p.line;
    if (size % 4 == 3 || n + rest > room) return size;
    memmove(data + n, data + p.line, rest);
    memcpy(data, line, n);
    return n + rest;
}

static size_t repair(uint8_t *data, size_t size, size_t room) {
    size = set_line(data, size, room);
    const parts p = cut(data, size);
    if (p.second > p.first + 16 && p.first >= 3 && data[p.first] == 0x93) {
        uint8_t *copy = ulp_grow(NULL, room + 128);
        const size_t n = p.second - p.first;
        memcpy(copy, data + p.first, n);
        const size_t made = fuzz_repair_npy(copy, n, room);
        if (made < 65536 && p.first + made + (p.end - p.second) <= room) {
            memmove(data + p.first + made, data + p.second, p.end - p.second);
            memcpy(data + p.first, copy, made);
            data[p.first - 2] = (uint8_t)(made >> 8);
            data[p.first - 1] = (uint8_t)made;
            size = p.first + made + (p.end - p.second);
        }
        free(copy);
    }
    const parts q = cut(data, size);
    if (q.second > q.first + 32 && data[q.first] == 'P') fuzz_repair_npz(data + q.first, q.second - q.first);
    if (size > q.second + 16 && data[q.second] == 0x93)
        size = q.second + fuzz_repair_npy(data + q.second, size - q.second, room - q.second);
    return size;
}

/* ---- valid inputs ---- */

static size_t put_npy(uint8_t *to, const char *type, const char *shape, size_t bytes) {
    char header[119];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    memcpy(to, "\x93NUMPY\1\0\x76\0", 10);
    memset(to + 10, ' ', 118);
    memcpy(to + 10, header, strlen(header));
    to[127] = '\n';
    for (size_t i = 0; i < bytes; i++) to[128 + i] = (uint8_t)(i % 4 == 3 ? 0x3f : i % 4 == 1 ? 0x3c : 0);
    return 128 + bytes;
}

static void seed(const char *line, const char *type, const char *shape, size_t bytes, const char *shape2,
                 size_t bytes2) {
    uint8_t input[1200];
    size_t at = strlen(line), n = 0;
    memcpy(input, line, at);
    input[at] = '\n';
    at += 3;
    if (type) n = put_npy(input + at, type, shape, bytes);
    else
        for (; n < bytes; n++) input[at + n] = (uint8_t)(n * 37);
    input[at - 2] = (uint8_t)(n >> 8);
    input[at - 1] = (uint8_t)n;
    at += n;
    if (shape2) at += put_npy(input + at, type, shape2, bytes2);
    fuzz_seed(input, at);
}

/* The archive that a command makes of the array of an input, for the commands that read archives. */
static void seed_archive(const char *command, const char *shape, size_t bytes, int line) {
    uint8_t array[1000], input[2000];
    size_t at = strlen(lines[line]);
    fuzz_file(0, array, put_npy(array, "<f4", shape, bytes));
    fuzz_tool(command);
    memcpy(input, lines[line], at);
    input[at] = '\n';
    const size_t n = fuzz_read("seed.npz", input + at + 3, sizeof input - at - 3);
    remove("seed.npz");
    input[at + 1] = (uint8_t)(n >> 8);
    input[at + 2] = (uint8_t)n;
    fuzz_seed(input, at + 3 + n);
}

static void seeds(void) {
    seed_archive("round --format e5m2 --from npy --to npz --out seed.npz @0", "(2, 3)", 24, 11);
    seed_archive("round --format bf16 --from npy --to npz --out seed.npz @0", "(3,)", 12, 12);
    seed_archive("block --format mxfp8 --from npy --to npz --out seed.npz @0", "(1, 33)", 132, 13);
    seed_archive("block --format nvfp4 --from npy --to npz --tensor-scale auto --out seed.npz @0", "(17,)", 68, 14);
    seed(lines[0], NULL, NULL, 16, NULL, 0);
    seed(lines[1], NULL, NULL, 32, NULL, 0);
    seed(lines[2], "<f4", "(2, 3)", 24, NULL, 0);
    seed(lines[3], "<f2", "(4,)", 8, NULL, 0);
    seed(lines[4], "<f8", "(3,)", 24, NULL, 0);
    seed(lines[5], "<f4", "(2, 33)", 264, NULL, 0);
    seed(lines[6], "<f4", "(17,)", 68, NULL, 0);
    seed(lines[7], "<f4", "(2, 3)", 24, "(3, 2)", 24);
    seed(lines[8], "<f2", "(2, 2)", 8, "(2, 1)", 4);
    seed(lines[9], "<f4", "(3,)", 12, "(3,)", 12);
    seed(lines[10], "<f8", "(1, 2)", 16, NULL, 0);
}

const fuzz_target fuzz_target_binaries = {FUZZ_BYTES("binaries", repair, 1500, 1 << 22, 1 << 14)};

/* foreign.c - the functions for other languages: names, sizes and numbers that a caller may get wrong. */
#include "kernels/foreign/foreign.h"
#include "sim/train/foreign_training.h"
#include "tests/proofs/fuzz/support/fuzz.h"

enum { N = 12 };

/* The first line of an input has numbers, and each line after it is a text; a text "-" is NULL. */
enum { TEXTS = 8 };
typedef struct input {
    unsigned numbers[6];
    const char *text[TEXTS];
} input;

static void read_input(input *in, char *text) {
    char *line = text;
    memset(in, 0, sizeof *in);
    for (int i = -1; i < TEXTS && line; i++) {
        char *next = strchr(line, '\n');
        if (next) *next++ = '\0';
        if (i < 0)
            sscanf(line, "%9u %9u %9u %9u %9u %9u", &in->numbers[0], &in->numbers[1], &in->numbers[2], &in->numbers[3],
                   &in->numbers[4], &in->numbers[5]);
        else in->text[i] = strcmp(line, "-") == 0 ? NULL : line;
        line = next;
    }
}

static void check(ulp_status status, const char *what) { fuzz_check_status(status, ulp_foreign_error(), what); }

static void fill(double *x, unsigned salt) {
    static const double special[] = {0.0, -0.0, 1.0, -1.5, 1e300, 5e-324, 0x1p-20, 3.0};
    for (unsigned i = 0; i < N; i++) x[i] = special[(i * 5 + salt) % 8] * (i % 3 ? 1 : 1 / 3.0);
}

static void check_format(const input *in) {
    ulp_format *f = NULL;
    uint64_t integers[32], codes[N];
    double numbers[8], x[N], y[N];
    size_t at;
    const ulp_status status = ulp_foreign_format(&f, in->text[0]);
    check(status, "a format");
    if (status != ULP_OK) return;
    fuzz_passed();
    fuzz_check(*ulp_foreign_format_fields(f, integers, numbers), "a format without a name");
    fill(x, in->numbers[0]);
    ulp_foreign_next(f, y, x, N, in->numbers[1] & 1);
    ulp_foreign_spacing(f, y, x, N);
    memset(codes, 0xa5, sizeof codes);
    const ulp_status decoded = ulp_foreign_decode(f, y, codes, in->numbers[2] % 10, N);
    check(decoded, "codes");
    if (decoded == ULP_OK) check(ulp_foreign_encode(f, codes, in->numbers[2] % 10, y, 1, N, &at), "values");
    ulp_foreign_release(f);
}

static void check_rounder(const input *in) {
    ulp_rounder *r = NULL;
    double x[N], y[N];
    float z[N];
    uint64_t counts[7] = {0};
    const ulp_status status =
        ulp_foreign_rounder(&r, in->text[1], in->text[2], in->text[3], (int)in->numbers[0] - 1, NULL);
    check(status, "a rounder");
    if (status != ULP_OK) return;
    fuzz_passed();
    fill(x, in->numbers[1]);
    for (int i = 0; i < N; i++) z[i] = (float)x[i];
    check(ulp_foreign_round64(r, y, x, in->numbers[2] % (N + 1)), "numbers");
    check(ulp_foreign_round(r, z, z, in->numbers[2] % (N + 1)), "numbers");
    check(ulp_foreign_round_any(r, y, x, N, 1, 1, 2, UINT64_MAX - 3, counts), "numbers");
    check(ulp_foreign_map(r, (int)in->numbers[3] - 2, y, x, x, x, N, 1, 1, 2, 3), "an operation");
    ulp_foreign_release(r);
}

static void check_product(const input *in) {
    ulp_datapath *d = NULL;
    enum { ROOM = 600 };
    static double a[ROOM], b[ROOM], c[ROOM];
    const ulp_status status = ulp_foreign_datapath(&d, in->text[4]);
    check(status, "a datapath");
    if (status != ULP_OK) return;
    fuzz_passed();
    uint64_t shape[ULP_FOREIGN_SHAPE];
    for (int i = 0; i < ULP_FOREIGN_SHAPE; i++) shape[i] = (in->numbers[i % 6] >> (i > 5)) % (i < 3 ? 5 : 7);
    for (int i = 0; i < ROOM; i++) a[i] = i % 3, b[i] = i % 2 ? 1 : -1, c[i] = 0;
    check(ulp_foreign_gemm(d, NULL, c, a, b, shape, 1, NULL, NULL, 1, 2, 3), "a product");
    for (int i = 0; i < 7; i++) fuzz_check(ulp_foreign_datapath_text(d, i) != NULL, "a datapath without text %d", i);
    fuzz_check(ulp_foreign_datapath_words(d, in->numbers[0]) < UINT64_MAX / 2, "random words");
    ulp_foreign_release(d);
}

static void check_block(const input *in) {
    ulp_block *b = NULL;
    ulp_rounder *r = NULL;
    float x[2 * N], y[2 * N];
    uint8_t elements[2 * N] = {0}, scales[2 * N] = {0};
    const ulp_status status = ulp_foreign_block(&b, in->text[5]);
    check(status, "a block format");
    if (status != ULP_OK) return;
    fuzz_passed();
    for (int i = 0; i < 2 * N; i++) x[i] = (float)(i - 5) * 0.75f;
    if (ulp_foreign_rounder(&r, "fp16", in->text[2], in->text[3], 0, NULL) == ULP_OK) {
        const float scale = in->numbers[1] % 3 ? 1.0f : (float)in->numbers[1] - 3;
        check(ulp_foreign_block_encode(b, elements, scales, x, 0, 2, N, scale, r, 1, 2, 3), "elements");
        check(ulp_foreign_block_decode(b, y, elements, scales, 2, N, scale), "codes");
    }
    ulp_foreign_release(r);
    ulp_foreign_release(b);
}

/* A run on images of 2x2 pixels: nets, policies, scalers and optimizers as texts. */
static void check_run(const input *in) {
    ulp_foreign_run *run = NULL;
    uint8_t pixels[8 * 4], labels[8];
    double report[4];
    const uint64_t images[ULP_FOREIGN_IMAGES_NUMBERS] = {
        8, in->numbers[3] % 10, 1, 2, 2, in->numbers[4] % 12, in->numbers[5] % 256};
    const char *texts[ULP_FOREIGN_RUN_TEXTS] = {in->text[6], in->text[7]};
    if (in->numbers[5] % 4) return; /* a step takes longer than all other functions */
    for (int i = 0; i < 32; i++) pixels[i] = (uint8_t)(i * 7);
    for (int i = 0; i < 8; i++) labels[i] = (uint8_t)(i % 3);
    const ulp_status status = ulp_foreign_run_new(&run, texts, in->numbers[0], 1, 0, images, pixels, labels);
    check(status, "a run");
    if (status != ULP_OK) return;
    fuzz_passed();
    if (ulp_foreign_run_number(run, ULP_FOREIGN_PARAMS) < 10000) {
        check(ulp_foreign_run_step(run, report), "a step");
        check(ulp_foreign_run_score(run, 1, report), "a score");
    }
    ulp_foreign_run_release(run);
}

static void check_words(const input *in) {
    for (int list = -1; list < 5; list++)
        for (size_t i = 0; i < 40; i++) {
            const char *word = ulp_foreign_word(list, i);
            if (!word) break;
            fuzz_check(*word != '\0', "word %zu of list %d is empty", i, list);
        }
    (void)ulp_foreign_format_text(in->numbers[0], (int)in->numbers[1]);
    (void)ulp_foreign_block_text(in->numbers[0], (int)in->numbers[1]);
    (void)ulp_foreign_datapath_row(in->numbers[0]);
    (void)ulp_foreign_point((int)in->numbers[0] - 1);
}

static int is_valid(const char *text) {
    char *copy = ulp_copy_text(text);
    input in;
    void *object = NULL;
    read_input(&in, copy);
    const int good = ulp_foreign_format((ulp_format **)&object, in.text[0]) == ULP_OK ||
                     ulp_foreign_datapath((ulp_datapath **)&object, in.text[4]) == ULP_OK;
    ulp_foreign_release(object);
    free(copy);
    return good;
}

static void run(const uint8_t *data, size_t size) {
    input in;
    read_input(&in, fuzz_text(data, size));
    check_words(&in);
    check_format(&in);
    check_rounder(&in);
    check_product(&in);
    check_block(&in);
    check_run(&in);
}

static void seeds(void) {
    FUZZ_SEED_TEXTS(
        "4 1 2 6 3 16\nfp16\ne4m3\nrne\nsat\nh100-fp16\nmxfp4\nfc3\nmixed:fp16\n",
        "2 3 4 5 3 255\nq8.8\nq4.12\nsr\nwrap\nint8\nnvfp4:even\nfc4 relu fc3\nfp32\n",
        "9 0 8 7 10 16\nposit16\nposit32_1\nrz\n-\nserial:posit16:rne\nmxint8\nconv2@2 fc3\nbf16,acc=fp32\n",
        "1 2 1 8 3 1\n-\n-\n-\n-\n-\n-\n-\n-\n",
        "3 3 3 3 3 3\nbinary64\nbinary64\nsrb\ninf\nexact:fp64:rne\nmxfp8\nfc3\nmixed:e4m3\n");
}

const fuzz_target fuzz_target_foreign = {FUZZ_TEXT("foreign", 400, 1 << 20, 1 << 14)};

/* checkpoints.c - checkpoints of training runs of one and of two networks: a file that is taken is saved as the same.
 */
#include "sim/train/checkpoint.h"
#include "sim/gan/gan.h"
#include "tests/proofs/fuzz/support/fuzz.h"

#include "base/checksum.h"
#include "tests/unit/texts.h"

enum { SAMPLES = 8, FEATURES = 4, BATCH = 4 };

static ulp_error error;

static const ulp_data *small_data(void) {
    static uint8_t pixel[SAMPLES * FEATURES], label[SAMPLES];
    static ulp_data data = {.name = "small",
                            .checksum = 7,
                            .n = SAMPLES,
                            .n_train = SAMPLES - 2,
                            .dims = {1, 2, 2},
                            .features = FEATURES,
                            .classes = 3,
                            .labels = 1,
                            .white = 16,
                            .pixel = pixel,
                            .label = label};
    for (int i = 0; i < SAMPLES * FEATURES; i++) pixel[i] = (uint8_t)(7 * i % 17);
    for (int i = 0; i < SAMPLES; i++) label[i] = (uint8_t)(i % 3);
    return &data;
}

/* The runs whose checkpoints are read; the first byte of an input chooses one. */
static const training_texts runs[] = {
    {.net = "fc3",
     .policy = "mixed:fp16",
     .scaler = "pytorch,interval=2,init=4",
     .optimizer = "sgd,rate=0.1,momentum=0.9"},
    {.net = "fc3 relu fc3",
     .policy = "mixed:e4m3,act=e4m3@delayed3",
     .scaler = "logmax",
     .optimizer = "adam,rate=0.01"},
    {.net = "fc3 tanh fc3",
     .policy = "bf16,acc=fp32",
     .scaler = "none",
     .optimizer = "sgd,rate=0.2,kahan=1,drop=0.5/2"},
    {.net = "fc4 bn fc3", .policy = "mixed:fp16", .scaler = "layer,interval=2", .optimizer = "adamw,rate=0.01"},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static ulp_trainer *trainer(int i) {
    ulp_trainer *t = NULL;
    training_texts texts = runs[i];
    texts.batch = BATCH;
    texts.seed = 3;
    fuzz_check(trainer_from_texts(&t, small_data(), &texts, &error) == ULP_OK, "%s", error.text);
    return t;
}

static ulp_gan *two_networks(void) {
    ulp_gan *gan = NULL;
    ulp_net made, judge;
    ulp_policy policy;
    ulp_scaler_rule scaler;
    ulp_optimizer_rule optimizer;
    fuzz_check(ulp_net_parse(&made, "fc4 reshape1x2x2", (ulp_dims){2, 1, 1}, &error) == ULP_OK, "%s", error.text);
    fuzz_check(ulp_net_parse(&judge, "fc2 tanh fc1", (ulp_dims){1, 2, 2}, &error) == ULP_OK, "%s", error.text);
    ulp_policy_parse(&policy, "mixed:fp16", NULL);
    ulp_scaler_parse(&scaler, "pytorch,interval=2,init=4", NULL);
    ulp_optimizer_parse(&optimizer, "sgd,rate=0.1,momentum=0.5", NULL);
    const ulp_gan_options o = {.generator = {&made, &policy, &scaler, &optimizer},
                               .discriminator = {&judge, &policy, &scaler, &optimizer},
                               .batch = 2,
                               .seed = 3};
    fuzz_check(ulp_gan_new(&gan, small_data(), &o, &error) == ULP_OK, "%s", error.text);
    ulp_net_release(&made);
    ulp_net_release(&judge);
    return gan;
}

/* The file "again" has the bytes of the input. */
static void check_same(const uint8_t *data, size_t size) {
    uint8_t *bytes = ulp_grow(NULL, size + 1);
    const size_t n = fuzz_read("again", bytes, size + 1);
    fuzz_check(n == size && memcmp(bytes, data, size) == 0, "a checkpoint that was taken is saved as another file");
    free(bytes);
}

/* zlib unpacks a file that was packed, whatever its name; then the bytes are others. */
static int is_packed(const uint8_t *data, size_t size) { return size > 1 && data[0] == 0x1f && data[1] == 0x8b; }

static void run_trainer(int which, const char *path, const uint8_t *data, size_t size) {
    ulp_trainer *t = trainer(which);
    void *note;
    size_t bytes;
    ulp_error_clear(&error);
    const ulp_status status = ulp_checkpoint_load(t, path, &note, &bytes, &error);
    fuzz_check_status(status, error.text, "a checkpoint");
    if (status == ULP_OK) {
        fuzz_passed();
        fuzz_check(ulp_checkpoint_save(t, "again", note, bytes, &error) == ULP_OK, "%s", error.text);
        if (!is_packed(data, size)) check_same(data, size);
        ulp_step report;
        fuzz_check(ulp_trainer_step(t, &report) == ULP_OK, "no step follows a checkpoint");
        free(note);
    } else {
        fuzz_check(note == NULL && t->step == 0, "a checkpoint is refused, but the run has changed");
        if (!strstr(error.text, "not a checkpoint")) fuzz_passed();
    }
    ulp_trainer_free(t);
}

static void run_gan(const char *path, const uint8_t *data, size_t size) {
    ulp_gan *g = two_networks();
    void *note;
    size_t bytes;
    ulp_error_clear(&error);
    const ulp_status status = ulp_gan_load(g, path, &note, &bytes, &error);
    fuzz_check_status(status, error.text, "a checkpoint");
    if (status == ULP_OK) {
        fuzz_passed();
        fuzz_check(ulp_gan_save(g, "again", note, bytes, &error) == ULP_OK, "%s", error.text);
        if (!is_packed(data, size)) check_same(data, size);
        fuzz_check(ulp_gan_step(g, NULL) == ULP_OK, "no step follows a checkpoint");
        free(note);
    } else if (!strstr(error.text, "not a checkpoint")) fuzz_passed();
    ulp_gan_free(g);
}

static void run(const uint8_t *data, size_t size) {
    if (!size) return;
    const char *path = fuzz_file(0, data + 1, size - 1);
    const int which = data[0] % (RUNS + 1);
    if (which < RUNS) run_trainer(which, path, data + 1, size - 1);
    else run_gan(path, data + 1, size - 1);
}

/* The first line, and the checksum in the last four bytes. */
static size_t repair(uint8_t *data, size_t size, size_t room) {
    (void)room;
    if (size < 64) return size;
    memcpy(data + 1, "ulplab checkpoint 3, little endian\n", 35);
    const uint32_t crc = ulp_crc32(0, data + 1, size - 5);
    for (int i = 0; i < 4; i++) data[size - 4 + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
    return size;
}

static void seed_file(int which) {
    static uint8_t bytes[1 << 16];
    bytes[0] = (uint8_t)which;
    const size_t n = fuzz_read("seed.tmp.ckpt", bytes + 1, sizeof bytes - 1);
    remove("seed.tmp.ckpt");
    fuzz_seed(bytes, n + 1);
}

static void seeds(void) {
    for (int i = 0; i < RUNS; i++) {
        ulp_trainer *t = trainer(i);
        for (int k = 0; k < 2; k++) ulp_trainer_step(t, NULL);
        ulp_checkpoint_save(t, "seed.tmp.ckpt", "note", i == 0 ? 0 : 4, &error);
        ulp_trainer_free(t);
        seed_file(i);
    }
    ulp_gan *g = two_networks();
    ulp_gan_step(g, NULL);
    ulp_gan_save(g, "seed.tmp.ckpt", "note", 4, &error);
    ulp_gan_free(g);
    seed_file(RUNS);
}

/* the lines that describe a run: 2^18 */
const fuzz_target fuzz_target_checkpoints = {FUZZ_BYTES("checkpoints", repair, 8192, 1 << 19, 1033)};

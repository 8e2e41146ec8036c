/* devices.c - devices and programs that answer anything: the prober and the finder of trees end, and say what they
 * found. */
#include "tool/tree/pipe.h"
#include "kernels/probe/probe.h"
#include "kernels/products/summation_tree.h"
#include "tests/proofs/fuzz/support/fuzz.h"

/* A model whose answers are those of a datapath, but for some: the bytes of the input change codes. */
typedef struct device {
    ulp_datapath path;
    ulp_unit model;
    fuzz_bytes lies;
    int share;                   /* of answers that are changed, in 256 */
    uint64_t runs, random, most; /* most: sums until the device fails */
} device;

static const char *const models[] = {"fp32",
                                     "serial:fp16:rne",
                                     "h100-fp16",
                                     "pairwise:bf16:rne",
                                     "exact:fp32:rne",
                                     "a100-bf16",
                                     "mi250-bf16",
                                     "block4:fp32:rne",
                                     "int8",
                                     "avx512-bf16",
                                     "h100-e4m3",
                                     "kahan:fp32:rne",
                                     "chunk4:fp16:rne",
                                     "mi300-fp16",
                                     "b200-e4m3-mx"};
enum { MODELS = sizeof models / sizeof models[0] };

static ulp_status answer(void *context, uint64_t *code, double c, ulp_products products) {
    device *d = context;
    uint64_t lie = 0;
    fuzz_check(d->runs < 2000000, "the device has formed 2,000,000 sums");
    if (++d->runs > d->most) return ULP_DEVICE_FAILED;
    fuzz_check(c == c || d->model.result.nan_codes != ULP_NAN_NONE, "c is no value");
    const ulp_status status = d->model.dot(d->model.context, code, c, products);
    if (status != ULP_OK) return status;
    d->random = d->random * 6364136223846793005u + 1442695040888963407u;
    if ((int)(d->random >> 56) < d->share && d->lies.left) {
        lie = fuzz_take_number(&d->lies, 1);
        if (lie == 255) return ULP_DEVICE_FAILED;
        if (lie >= 128) lie = fuzz_take_number(&d->lies, 8);
    }
    const int bits = d->model.result.bits;
    *code = (*code ^ lie) & (bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1);
    return ULP_OK;
}

static ulp_unit unit_of(device *d) {
    ulp_unit unit = d->model;
    unit.dot = answer;
    unit.context = d;
    return unit;
}

static void check_tree(device *d, size_t k, int with_c) {
    const ulp_unit unit = unit_of(d);
    ulp_order order;
    char text[2000], shape[300];
    const ulp_status status = ulp_order_find(&order, &unit, k, with_c);
    fuzz_check_status(status, "a status is enough", d->path.name);
    if (status != ULP_OK) return;
    fuzz_passed();
    ulp_order_place *place = ulp_grow(NULL, (size_t)order.count * sizeof *place);
    int32_t leaves = 0;
    fuzz_check(order.count >= 1 && order.root == order.count - 1 && order.k == (int32_t)k, "a tree of %d nodes",
               order.count);
    for (int32_t i = 0; i < order.count; i++) {
        leaves += order.node[i].leaf != ULP_ORDER_NONE;
        for (int32_t child = order.node[i].child; child != ULP_ORDER_NONE; child = order.node[child].next)
            fuzz_check(child >= 0 && child < i, "node %d has the child %d", i, child);
    }
    fuzz_check(leaves == (int32_t)k + with_c, "%d terms for %zu products", leaves, k);
    ulp_order_places(place, &order);
    for (int whole = 0; whole < 2; whole++) ulp_order_text(text, 4 + k * 20, &order, whole);
    ulp_order_shape(shape, sizeof shape, &order);
    fuzz_check(*text && *shape && ulp_order_chain(&order) <= k && ulp_order_depth(&order) < order.count, "a tree '%s'",
               text);
    free(place);
    ulp_order_free(&order);
}

static void check_probe(device *d) {
    static ulp_probe probe;
    ulp_error why;
    char value[64];
    const ulp_unit unit = unit_of(d);
    const ulp_status sums = ulp_probe_sums(&why, &unit);
    if (sums == ULP_UNSUPPORTED) fuzz_check_sentence(why.text, d->path.name);
    if (sums == ULP_OK) fuzz_passed();
    if (ulp_probe_unit(&probe, &unit) != ULP_OK) return;
    fuzz_passed();
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++) {
        const ulp_property *p = &probe.property[i];
        ulp_property_text(value, (ulp_property_id)i, p->found, p->value);
        fuzz_check(*value && strlen(value) < sizeof value && memchr(p->how, 0, sizeof p->how), "%s: '%s'",
                   ulp_property_name((ulp_property_id)i), value);
    }
}

/* A line that a program has answered. */
static void check_line(const uint8_t *data, size_t size) {
    ulp_format result;
    uint64_t code = 0;
    char *answered = ulp_grow(NULL, size + 1), why[200];
    if (size) memcpy(answered, data, size);
    answered[size] = '\n';
    ulp_format_parse(&result, size % 2 ? "binary32" : "e4m3");
    const char *wrong = tool_answer_read(&code, answered, size + 1, &result, why);
    if (wrong) fuzz_check_sentence(wrong, "an answer");
    else fuzz_passed();
    fuzz_check(wrong || result.bits == 64 || code >> result.bits == 0, "code %llx", (unsigned long long)code);
    free(answered);
}

/* The first byte is the kind, the second the model, the third the share of lies. */
static void run(const uint8_t *data, size_t size) {
    device d = {.share = 0};
    if (size < 4) return;
    const int kind = data[0] % 4;
    if (kind == 3) {
        check_line(data + 1, size - 1);
        return;
    }
    if (ulp_datapath_parse(&d.path, models[data[1] % MODELS]) != ULP_OK) abort();
    d.model = ulp_unit_of(&d.path);
    d.share = data[2] > 64 ? 4 : data[2];
    d.lies = (fuzz_bytes){data + 4, size - 4};
    d.random = data[3];
    d.most = (uint64_t)64 << (data[3] % 32 ? data[3] % 6 : 12); /* most devices fail early: a whole probe takes long */
    if (kind == 0) check_probe(&d);
    else check_tree(&d, 1 + data[3] % 40, kind - 1);
}

static void seeds(void) {
    for (int i = 0; i < MODELS; i++) {
        const uint8_t input[] = {
            (uint8_t)(i % 3), (uint8_t)i, (uint8_t)(i % 3), (uint8_t)(7 * i), 1, 2, 128, 64, 0, 0, 0, 0, 0, 0, 1};
        fuzz_seed(input, sizeof input);
    }
    fuzz_seed("\3"
              "0.5\r",
              5);
    fuzz_seed("\3"
              " -0x1.8p3 ",
              11);
    fuzz_seed("\3"
              "nan",
              4);
}

const fuzz_target fuzz_target_devices = {FUZZ_BYTES("devices", NULL, 200, 1 << 20, 64)};

/* t_memory.c - the counted memory of trainers against all their allocations, byte for byte. */
#include "sim/train/memory.h"
#include "support.h"
#include "training.h"

/* ---- every allocation of this process, counted while `counting` is 1 ---- */

#if defined(__GLIBC__) && !THINNED
#define COUNTS_ALLOCATIONS 1
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
void *memalign(size_t alignment, size_t size);

enum { BLOCKS_MAX = 4096 };
static struct {
    void *at;
    size_t size;
} block[BLOCKS_MAX];
static size_t blocks;
static int counting;

static void *enter(void *at, size_t size) {
    if (!counting || !at || blocks == BLOCKS_MAX) return at;
    block[blocks].at = at;
    block[blocks++].size = size;
    return at;
}

static void leave(const void *at) {
    for (size_t i = blocks; counting && i-- > 0;)
        if (block[i].at == at) {
            block[i] = block[--blocks];
            return;
        }
}

void *malloc(size_t size) { return enter(__libc_malloc(size), size); }
void *calloc(size_t n, size_t size) { return enter(__libc_calloc(n, size), n * size); }
void *memalign(size_t alignment, size_t size) { return enter(__libc_memalign(alignment, size), size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **at, size_t alignment, size_t size) { return (*at = memalign(alignment, size)) == NULL; }
void free(void *at) {
    leave(at);
    __libc_free(at);
}
void *realloc(void *at, size_t size) {
    leave(at);
    return enter(__libc_realloc(at, size), size);
}

static void start_counting(void) {
    blocks = 0;
    counting = 1;
}

/* The bytes that were allocated since start_counting() and not freed. */
static size_t stop_counting(void) {
    size_t sum = 0;
    counting = 0;
    assert_true(blocks < BLOCKS_MAX);
    for (size_t i = 0; i < blocks; i++) sum += block[i].size;
    return sum;
}
#else
#define COUNTS_ALLOCATIONS 0
static void start_counting(void) {}
static size_t stop_counting(void) { return 0; }
#endif

/* ---- the memory of trainers ---- */

static ulp_data strips;

/* The allocation of the CPU backend for so many bytes: a multiple of 64, and more than it is asked for. */
static size_t with_guard(size_t bytes) { return bytes ? (bytes + 64) / 64 * 64 : 0; }

static void check_memory(const ulp_data *data, const training_texts *texts) {
    const char *policy = texts->policy ? texts->policy : "fp32";
    training_types types;
    ulp_memory count, measured;
    ulp_trainer *t;
    assert_ok(read_texts(&types, texts, data->dims, &error));
    ulp_status status = ulp_memory_count(&count, data, &types.options, &error);
    if (status != ULP_OK) fail_msg("%s: %s", texts->net, error.text);
    start_counting();
    status = ulp_trainer_new(&t, data, &types.options, &error);
    const size_t allocated = stop_counting();
    if (status != ULP_OK) fail_msg("%s: %s", texts->net, error.text);
    assert_ok(ulp_memory_measure(&measured, t));
    for (int k = 0; k < ULP_MEMORY_RANKS; k++)
        if (count.bytes[k] != measured.bytes[k])
            fail_msg("%s, %s, %s: counted %zu, there are %zu", texts->net, policy,
                     ulp_memory_kind_name((ulp_memory_kind)k), count.bytes[k], measured.bytes[k]);
    assert_int_equal(ulp_memory_arena(&measured), t->arena.bytes);
    const size_t state = t->ranks > 1 ? (types.net.states + 1) * sizeof(float) : 0; /* host memory of the ranks */
    const size_t expected = with_guard(ulp_memory_arena(&count)) + with_guard(count.bytes[ULP_MEMORY_RANKS] - state) +
                            state + count.bytes[ULP_MEMORY_HOST];
    if (COUNTS_ALLOCATIONS && allocated != expected)
        fail_msg("%s, %s: counted %zu, allocated %zu", texts->net, policy, expected, allocated);
    ulp_trainer_free(t);
    ulp_net_release(&types.net);
}

/* The options of a run: the default ones, and all that change which arrays there are. */
static const training_texts runs[] = {
    {.batch = 32},
    {.batch = 300, .policy = "fp16", .optimizer = "sgd,momentum=0.9"},
    {.batch = 1, .policy = "mixed:fp16", .scaler = "layer", .optimizer = "adam"},
    {.batch = 17, .policy = "mixed:bf16,act=e4m3@delayed7,agrad=e5m2@delayed20,out=fp32", .optimizer = "adamw"},
    {.batch = 5, .policy = "mixed:bf16,master=none", .scaler = "pytorch", .optimizer = "sgd,momentum=0.5,kahan=1"},
    {.batch = 256, .policy = "mixed:bf16,master=none", .optimizer = "adam,kahan=1"},
    {.batch = 12, .ranks = 3, .policy = "mixed:fp16"},
    {.batch = 40, .policy = "mixed:fp16,last.*=fp32,0.act=e4m3@delayed33", .optimizer = "sgd,momentum=0.9"},
    {.batch = 40, .policy = "fp16,first.master=fp32", .optimizer = "adam"},
    {.batch = 24, .policy = "mixed:fp16", .optimizer = "adamw,clip=1,decays=weights"},
    {.batch = 24, .policy = "mixed:fp16", .optimizer = "sgd,accumulate=3:bf16"},
    {.batch = 300, .optimizer = "adam,accumulate=1:bf16"},
    {.batch = 24, .ranks = 3, .optimizer = "sgd,accumulate=4:fp32"},
    {.batch = 24, .policy = "mixed:fp16", .tail = "mixed:bf16,act=e4m3@delayed9", .tail_step = 7},
    {.batch = 24, .policy = "mxfp8"},
    {.batch = 24, .policy = "mixed:bf16", .tail = "mxfp8", .tail_step = 2},
    {.batch = 24, .policy = "mixed:fp16", .tail = "mixed:fp16,last.*=fp32,last.master=fp32", .optimizer = "adam"},
    {.batch = 24, .policy = "fp16,first.master=fp32", .scaler = "layer", .optimizer = "sgd,decays=weights"}};

/* Every kind of layer. The examples of the kinds take images of 4 x 4 pixels, or four tokens. */
TEST(memory) {
    enum { N = 320, TRAIN = 300 };
    static uint8_t pixel[N * 16], label[N];
    const ulp_data images = {.name = "images",
                             .n = N,
                             .n_train = TRAIN,
                             .dims = {1, 4, 4},
                             .features = 16,
                             .classes = 10,
                             .labels = 1,
                             .white = 255,
                             .pixel = pixel,
                             .label = label};
    ulp_data tokens = images;
    const ulp_layer_kind *kind;
    tokens.dims = (ulp_dims){1, 4, 1}, tokens.features = 4, tokens.tokens = tokens.white = 1, tokens.classes = 4;
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)) != NULL; i++)
        for (size_t k = 0; k < COUNT_OF(runs); k++) {
            char net[256];
            training_texts texts = runs[k];
            const ulp_data *data = strncmp(kind->example, "embed", 5) == 0 ? &tokens : &images;
            snprintf(net, sizeof net, "%s fc%zu", kind->example, data->classes);
            texts.net = net;
            check_memory(data, &texts);
        }
}

/* Whole nets: no parameters in most layers, none at all, blocks in blocks, and labels in sequences. */
TEST(memory_of_nets) {
    static const char *const nets[] = {
        "fc10", "fork relu fork tanh join join drop20 leaky fc10",
        "conv8@3p1 bn relu pool2 fork conv16@3s2p1 bn shortcut conv16@1s2nobias bn join relu avg2 fc10"};
    static const char *const sequences[] = {"columns2 bigru5 conv11@1", "columns gru4 lstm3 conv11@1"};
    for (size_t k = 0; k < COUNT_OF(runs); k++) {
        training_texts texts = runs[k];
        for (size_t i = 0; i < COUNT_OF(nets); i++) texts.net = nets[i], check_memory(&digits, &texts);
        for (size_t i = 0; i < COUNT_OF(sequences); i++) texts.net = sequences[i], check_memory(&strips, &texts);
    }
}

/* A loss for each of the positions of a sample. */
TEST(memory_of_positions) {
    enum { N = 320, TRAIN = 300 };
    static uint8_t pixel[N * 16], label[N * 4];
    const ulp_data rows = {.name = "rows",
                           .n = N,
                           .n_train = TRAIN,
                           .dims = {1, 4, 4},
                           .features = 16,
                           .classes = 4,
                           .labels = 4,
                           .positions = 1,
                           .white = 255,
                           .pixel = pixel,
                           .label = label};
    for (size_t k = 0; k < COUNT_OF(runs); k++) {
        training_texts texts = runs[k];
        texts.net = "conv3@3p1 relu conv1@3p1";
        check_memory(&rows, &texts);
    }
}

TEST(memory_refuses) {
    training_types types;
    ulp_memory count;
    const training_texts texts = {.net = "fc9", .batch = 4};
    assert_ok(read_texts(&types, &texts, digits.dims, &error));
    assert_int_equal(ulp_memory_count(&count, &digits, &types.options, &error), ULP_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "one output per class"));
    ulp_net_release(&types.net);
}

static void nothing(void *context, size_t begin, size_t end) { (void)context, (void)begin, (void)end; }

/* The first parallel loop of a process allocates memory for its threads, which is no memory of a trainer. */
static int load(void **state) {
    ulp_parallel_for(1 << 20, 1, nothing, NULL);
    return load_digits(state) || ulp_data_load(&strips, "strips", NULL, 1, &error) != ULP_OK;
}

static int unload(void **state) {
    ulp_data_release(&strips);
    return free_digits(state);
}

TESTS(load, unload)

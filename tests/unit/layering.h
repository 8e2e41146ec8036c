/* layering.h - a net with seeded tensors under a policy, on the CPU backend, for tests of layers. */
#ifndef ULP_TESTS_LAYERING_H
#define ULP_TESTS_LAYERING_H

#include "support.h"

#include "texts.h"

/* Policies for layers with products: sums of every kind in both directions. */
static const char *const rig_policies[]
    __attribute__((unused)) = {"fp32",
                               "fp32,acc=serial:fp16:rne",
                               "fp32,acc=serial:fp16:sr/8",
                               "fp32,acc=chunk8:bf16:sr",
                               "fp32,acc=exact:fp32:rz",
                               "fp32,weight=e4m3,act=fp16,out=fp32,fwd=a100-fp16,bwd=pairwise:bf16:rne"};

/* The input of the example net of a kind: an image of 4 x 4 pixels, or four tokens of a text. */
static inline int example_reads_tokens(const ulp_layer_kind *kind) { return strncmp(kind->example, "embed", 5) == 0; }

static inline ulp_dims example_dims(const ulp_layer_kind *kind) {
    return example_reads_tokens(kind) ? (ulp_dims){1, 4, 1} : (ulp_dims){1, 4, 4};
}

typedef struct rig {
    ulp_model model;
    ulp_pass pass;
    ulp_arena arena;
    ulp_policy policy;
    float *w; /* (params) */
} rig;

static inline void rig_carve(void *own, ulp_arena *arena) {
    rig *r = own;
    r->w = ulp_arena_take(arena, r->model.net.params);
    r->model.grad[0] = ulp_arena_take(arena, r->model.batch * ulp_dims_size(r->model.net.in)); /* not in a training */
}

/* Seeded multiples of 1/32 with a magnitude below 2: values of every format with a precision of 7 bits or more. */
static inline void rig_numbers(float *x, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        float value = (float)((int)(next_random(&seed) % 127) - 63) / 32.0f;
        memcpy(x + i, &value, sizeof value);
    }
}

/* A net for at most B samples, with initial weights, and with a seeded input and a seeded gradient of the output. */
static inline void rig_start(rig *r, const char *net, ulp_dims in, size_t B, const char *policy) {
    ulp_error why = {0};
    memset(r, 0, sizeof *r);
    if (ulp_policy_parse(&r->policy, policy, &why) != ULP_OK ||
        model_from_text(&r->model, net, in, B, B, &why) != ULP_OK)
        fail_msg("%s", why.text);
    assert_ok(ulp_backend_get(&r->pass.run.backend, NULL)); /* its memory is host memory */
    r->pass.run.policy = &r->policy;
    r->pass.now.B = B;
    r->pass.run.seed = 11;
    r->pass.now.step = 3;
    assert_ok(ulp_model_alloc(&r->model, &r->pass, &r->arena, rig_carve, r));
    const ulp_net *n = &r->model.net;
    ulp_net_init(n, r->w, r->model.state, 1, 0);
    rig_numbers(r->model.tensor[0], B * ulp_dims_size(n->in), 2);
    for (size_t i = 0; i < B * ulp_dims_size(n->in) && n->layers->kind->reads_tokens; i++)
        r->model.tensor[0][i] = (float)(i * i % 3);
    rig_numbers(r->model.grad[n->count], B * ulp_dims_size(n->out), 3);
}

static inline void rig_forward(rig *r) { assert_ok(ulp_model_forward(&r->model, &r->pass, r->w)); }
static inline void rig_backward(rig *r) { assert_ok(ulp_model_backward(&r->model, &r->pass, r->w)); }

static inline float *rig_input(const rig *r) { return r->model.tensor[0]; }
static inline float *rig_output(const rig *r) { return r->model.tensor[r->model.net.count]; }
static inline float *rig_output_gradient(const rig *r) { return r->model.grad[r->model.net.count]; }

/* An element of a product of layer 0: its place in the matrix, and the number of the product if there are several. */
typedef struct rig_element {
    uint32_t use;
    uint64_t place, lane;
} rig_element;

/* The sum of the element. */
static inline double rig_dot(const rig *r, rig_element e, const ulp_datapath *d, double start, ulp_products products) {
    const uint64_t step = r->pass.now.step | e.lane << 28;
    return ulp_dot(d, start, products,
                   (ulp_stream){r->pass.run.seed, ulp_stream_id(e.use, r->pass.now.evaluation, 0, step),
                                e.place * ulp_datapath_words(d, products.k)});
}

/* Check one number of layer 0 bit for bit. */
static inline void rig_check(const rig *r, const char *what, size_t i, float have, double expected) {
    if (ulp_bits32(have) != ulp_bits32((float)expected))
        fail_msg("%s %s %s, %d threads, element %zu: %a, not %a", r->model.net.layers[0].word, r->policy.forward.name,
                 what, ulp_threads_get(), i, (double)have, expected);
}

static inline void rig_end(rig *r) {
    ulp_model_release(&r->model, &r->pass);
    ulp_arena_release(&r->arena);
}

/* Check that the text of a net is refused with a sentence that contains `part`. */
static inline void refused(const char *net, ulp_dims in, const char *part) {
    ulp_error why = {0};
    ulp_net parsed;
    if (ulp_net_parse(&parsed, net, in, &why) == ULP_OK) fail_msg("'%s' was accepted", net);
    if (strstr(why.text, part) == NULL) fail_msg("'%s': '%s' does not say '%s'", net, why.text, part);
}

#endif

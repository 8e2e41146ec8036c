/* model.c - the memory of a model, and its forward and backward pass; see model.h. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

ulp_status ulp_model_init(ulp_model *m, const ulp_net *net, size_t batch, size_t room) {
    memset(m, 0, sizeof *m);
    ULP_TRY(ulp_net_copy(&m->net, net));
    m->batch = batch;
    m->room = ulp_larger(room, batch);
    m->tensor = calloc(m->net.count + 1, sizeof *m->tensor);
    m->grad = calloc(m->net.count + 1, sizeof *m->grad);
    m->saved = calloc(m->net.count, sizeof *m->saved);
    if (m->tensor && m->grad && m->saved) return ULP_OK;
    ulp_model_release(m, NULL);
    return ULP_NO_MEMORY;
}

/* The number of elements of the largest tensor that is rounded. */
static size_t most_elements(const ulp_model *m) { return ulp_larger(m->room * m->net.widest, m->net.params); }

/* The number of elements of the largest operand of a product: a tensor, or a part of the workspace. */
static size_t most_operands(const ulp_model *m) { return ulp_larger(most_elements(m), m->room * m->net.work); }

static void carve_model(ulp_model *m, ulp_pass *pass, ulp_arena *f) {
    for (size_t i = 0; i <= m->net.count; i++) {
        size_t n = ulp_dims_size(i < m->net.count ? m->net.layers[i].in : m->net.out);
        m->tensor[i] = ulp_arena_take(f, m->room * n);
        m->grad[i] = i ? ulp_arena_take(f, m->batch * n) : NULL;
        if (i < m->net.count) m->saved[i] = ulp_arena_take(f, m->room * m->net.layers[i].saved);
    }
    m->wgrad = ulp_arena_take(f, m->batch ? m->net.params : 0);
    m->state = ulp_arena_take(f, m->net.states);
    m->ones = ulp_arena_take(f, m->room * m->net.ones);
    m->own.work = ulp_arena_take(f, m->room * m->net.work);
    ulp_pass_carve(pass, f, most_elements(m), most_operands(m));
}

/* Allocate the host's memory, and fill the tensor of ones. */
static ulp_status make_ready(ulp_model *m, ulp_pass *pass) {
    size_t elements = most_elements(m);
    ULP_TRY(ulp_pass_alloc(pass, elements, m->net.count + 1));
    return ulp_tensor_fill(pass->run.backend, m->ones, m->room * m->net.ones, 1.0f);
}

ulp_status ulp_model_alloc(ulp_model *m, ulp_pass *pass, ulp_arena *f, void (*carve)(void *own, ulp_arena *f),
                           void *own) {
    ulp_arena_init(f, pass->run.backend);
    carve_model(m, pass, f);
    carve(own, f);
    ULP_TRY(ulp_arena_alloc(f));
    carve_model(m, pass, f);
    carve(own, f);
    return make_ready(m, pass);
}

void ulp_model_release(ulp_model *m, ulp_pass *pass) {
    ulp_net_release(&m->net);
    free(m->tensor);
    free(m->grad);
    free(m->saved);
    memset(m, 0, sizeof *m);
    if (pass) ulp_pass_release(pass);
}

static ulp_layer_tensors tensors_of(const ulp_model *m, const float *w, size_t i) {
    const ulp_layer *layer = &m->net.layers[i];
    ulp_layer_tensors t = {
        .x = m->tensor[i],
        .y = m->tensor[i + 1],
        .w = w + ulp_net_weights(&m->net, i),
        .dy = m->grad[i + 1],
        .dx = m->grad[i],
        .dw = m->wgrad + ulp_net_weights(&m->net, i),
        .saved = m->saved[i],
        .state = m->state + layer->first_state,
        .ones = m->ones,
        .own = m->own,
    };
    if (layer->kind->nesting < 0) t.skip = m->tensor[layer->partner];
    if (layer->kind->turns) t.skip = m->tensor[layer->fork];
    if (layer->kind->nesting > 0 || layer->kind->turns) t.past = m->grad[layer->partner + 1];
    return t;
}

ulp_status ulp_model_forward_layer(ulp_model *m, ulp_pass *pass, const float *w, size_t i) {
    ulp_layer_tensors t = tensors_of(m, w, i);
    const double began = pass->now.evaluation ? -1.0 : ulp_profile_enter(pass->run.profile, i);
    const ulp_status status = m->net.layers[i].kind->forward(&m->net.layers[i], pass, &t);
    ulp_profile_leave(pass->run.profile, began);
    return status;
}

/* The end of a part whose products did not wait for the check of their operands: if `ask`, asks for the answer. */
static ulp_status settle(ulp_pass *pass, ulp_status status, int ask) {
    pass->now.deferred = 0;
    if (!ask && status == ULP_OK) return status;
    const ulp_status answer = ulp_backend_settle(pass->run.backend);
    return status == ULP_OK ? answer : status;
}

/* In training the backward pass asks. */
ulp_status ulp_model_forward(ulp_model *m, ulp_pass *pass, const float *w) {
    ulp_status status = ULP_OK;
    pass->now.deferred = 1;
    for (size_t i = 0; i < m->net.count && status == ULP_OK; i++) status = ulp_model_forward_layer(m, pass, w, i);
    return settle(pass, status, pass->now.evaluation != 0);
}

ulp_status ulp_model_backward(ulp_model *m, ulp_pass *pass, const float *w) {
    ulp_status status = ULP_OK;
    pass->now.deferred = 1;
    for (size_t i = m->net.count; i-- > 0 && status == ULP_OK;) {
        if (!m->grad[i] && !m->net.layers[i].params) continue; /* no gradient is wanted */
        const ulp_layer_tensors t = tensors_of(m, w, i);
        const double began = ulp_profile_enter(pass->run.profile, i);
        status = m->net.layers[i].kind->backward(&m->net.layers[i], pass, &t);
        ulp_profile_leave(pass->run.profile, began);
    }
    return settle(pass, status, 1);
}

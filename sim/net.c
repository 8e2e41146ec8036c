/* net.c - parsing and initialising nets; see net.h. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\n\r,";

static void list_kinds(char *text, size_t size) {
    const ulp_layer_kind *kind;
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "; " : "", kind->usage);
}

static ulp_status fail(ulp_status status, const char *word, const char *why, char *error, size_t error_size) {
    char known[1024];
    list_kinds(known, sizeof known);
    if (error && error_size) snprintf(error, error_size, "net: %s '%s'; known: %s", why, word, known);
    return status;
}

static const ulp_layer_kind *find_kind(const char *word, size_t *length) {
    const ulp_layer_kind *kind;
    *length = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)); i++)
        if (strlen(kind->name) == *length && strncmp(kind->name, word, *length) == 0) return kind;
    return NULL;
}

/* Append the layer that `word` names. */
static ulp_status add_layer(ulp_net *net, const char *word, char *error, size_t error_size) {
    size_t length;
    ulp_layer layer;
    memset(&layer, 0, sizeof layer);
    layer.kind = find_kind(word, &length);
    if (!layer.kind) return fail(ULP_BAD_NAME, word, "no layer called", error, error_size);
    if (net->count >= ULP_LAYERS_MAX) return fail(ULP_BAD_ARGUMENT, word, "too many layers at", error, error_size);
    snprintf(layer.word, sizeof layer.word, "%s", word);
    layer.index = net->count;
    layer.in = net->out;
    layer.first_param = net->params;
    layer.gain = 1.0;
    ulp_status status = layer.kind->shape(&layer, word + length);
    if (status != ULP_OK) return fail(status, word, "bad numbers in", error, error_size);
    ulp_layer *grown = realloc(net->layers, (net->count + 1) * sizeof layer);
    if (!grown) {
        if (error && error_size) snprintf(error, error_size, "net: no memory at '%s'", word);
        return ULP_NO_MEMORY;
    }
    net->layers = grown;
    net->layers[net->count] = layer;
    if (net->count) net->layers[net->count - 1].gain = layer.kind->gain;
    net->count++;
    net->out = layer.out;
    net->params += layer.params;
    if (ulp_dims_size(layer.out) > net->widest) net->widest = ulp_dims_size(layer.out);
    return ULP_OK;
}

ulp_status ulp_net_parse(ulp_net *net, const char *text, ulp_dims in, char *error, size_t error_size) {
    ulp_status status = ULP_OK;
    memset(net, 0, sizeof *net);
    net->in = net->out = in;
    net->widest = ulp_dims_size(in);
    if (!text || net->widest == 0) return fail(ULP_BAD_ARGUMENT, "", "no text or no input for", error, error_size);
    for (text += strspn(text, blanks); *text && status == ULP_OK; text += strspn(text, blanks)) {
        char word[sizeof net->layers->word];
        size_t length = strcspn(text, blanks), kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = 0;
        status = kept == length ? add_layer(net, word, error, error_size)
                                : fail(ULP_BAD_NAME, word, "too long a word", error, error_size);
        text += length;
    }
    if (status == ULP_OK && net->count == 0) status = fail(ULP_BAD_ARGUMENT, "", "no layer in", error, error_size);
    if (status != ULP_OK) ulp_net_release(net);
    return status;
}

void ulp_net_init(const ulp_net *net, float *w, uint64_t seed, double std) {
    for (size_t i = 0; i < net->count; i++) {
        const ulp_layer *layer = &net->layers[i];
        ulp_stream stream = {seed, ulp_stream_id(ULP_USE_INIT, 0, i, 0), 0};
        if (layer->kind->init) layer->kind->init(layer, w + layer->first_param, stream, std);
    }
}

void ulp_net_forward64(const ulp_net *net, double *y, const double *x, const double *w, size_t B, double *scratch) {
    double *half[2] = {scratch, scratch + B * net->widest};
    for (size_t i = 0; i < net->count; i++) {
        double *to = i + 1 == net->count ? y : half[i % 2];
        net->layers[i].kind->forward64(&net->layers[i], to, x, w + net->layers[i].first_param, B);
        x = to;
    }
}

void ulp_net_release(ulp_net *net) {
    free(net->layers);
    memset(net, 0, sizeof *net);
}

/* net.c - parsing and initialising nets; see net.h. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\n\r,";

/* Write how the words of the kinds are written: the part of `usage` before the colon. */
static void list_kinds(char *text, size_t size) {
    const ulp_layer_kind *kind;
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", i ? ", " : "", (int)strcspn(kind->usage, ":"),
                                 kind->usage);
}

static ulp_status fail_unknown(const char *word, ulp_error *error) {
    char known[1024];
    list_kinds(known, sizeof known);
    return ulp_fail(error, ULP_BAD_NAME, "net: no layer called '%s'; known: %s", word, known);
}

/* Write why the shape function refuses the word or its input. */
static ulp_status fail_shape(ulp_status status, const ulp_layer *layer, ulp_error *error) {
    const ulp_layer_kind *kind = layer->kind;
    if (status != ULP_UNSUPPORTED)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "net: '%s' does not fit the form of its kind, %s", layer->word,
                        kind->usage);
    return ulp_fail(error, ULP_BAD_ARGUMENT,
                    "net: '%s' does not take an input of %zu x %zu x %zu (channels, height, width): it wants %s",
                    layer->word, layer->in.c, layer->in.h, layer->in.w, kind->takes);
}

static const ulp_layer_kind *find_kind(const char *word, size_t *length) {
    const ulp_layer_kind *kind;
    *length = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)); i++)
        if (strlen(kind->name) == *length && strncmp(kind->name, word, *length) == 0) return kind;
    return NULL;
}

/* The index of the fork of the innermost open block; net->count if no block is open. */
static size_t open_fork(const ulp_net *net) {
    size_t closed = 0;
    for (size_t i = net->count; i-- > 0;) {
        if (net->layers[i].kind->nesting < 0) closed++;
        if (net->layers[i].kind->nesting > 0 && closed-- == 0) return i;
    }
    return net->count;
}

/* The number of open blocks at the end of the net. */
static size_t open_count(const ulp_net *net) {
    size_t open = 0;
    for (size_t i = 0; i < net->count; i++) open += (size_t)(ptrdiff_t)net->layers[i].kind->nesting;
    return open;
}

/* Link a join with the shortcut of its block, or with the fork if the block has no shortcut. The inputs of the two
 * layers have the same shape, because they are added. */
static ulp_status close_block(ulp_net *net, ulp_layer *join, ulp_error *error) {
    size_t at = open_fork(net);
    if (at == net->count) return ulp_fail(error, ULP_BAD_ARGUMENT, "net: no fork before '%s'", join->word);
    const int branches = net->layers[at].partner != 0;
    if (branches) at = net->layers[at].partner;
    ulp_layer *other = &net->layers[at];
    if (!ulp_dims_equal(join->in, other->in))
        return ulp_fail(error, ULP_BAD_ARGUMENT, "net: %s: it is %zu x %zu x %zu %s and %zu x %zu x %zu %s",
                        branches ? "the branches of a block end with the same shape, because join adds them"
                                 : "between fork and join a tensor keeps its shape, unless the block has a shortcut",
                        other->in.c, other->in.h, other->in.w, branches ? "before the shortcut" : "before", join->in.c,
                        join->in.h, join->in.w, branches ? "before the join" : "after");
    other->partner = join->index;
    join->partner = at;
    return ULP_OK;
}

/* Link a shortcut with its fork, whose input is the shortcut's output. */
static ulp_status turn_block(ulp_net *net, ulp_layer *shortcut, ulp_error *error) {
    shortcut->fork = open_fork(net);
    if (shortcut->fork == net->count)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "net: no fork before '%s'", shortcut->word);
    ulp_layer *fork = &net->layers[shortcut->fork];
    if (fork->partner) return ulp_fail(error, ULP_BAD_ARGUMENT, "net: a block has at most one '%s'", shortcut->word);
    fork->partner = shortcut->index;
    shortcut->out = fork->in;
    return ULP_OK;
}

/* Link a layer without weights of its own with the layer embed, whose table it shares. */
static ulp_status tie(ulp_net *net, ulp_layer *layer, ulp_error *error) {
    ulp_layer *table = net->layers; /* the first layer of a net reads tokens, or none does */
    if (!net->count || !table->kind->reads_tokens)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "net: '%s' shares the table of a layer embed, which the net lacks",
                        layer->word);
    if (table->partner) return ulp_fail(error, ULP_BAD_ARGUMENT, "net: a net has at most one '%s'", layer->word);
    if (table->out.w != layer->in.w)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "net: '%s' takes tokens of %zu features, as '%s' gives them, not %zu",
                        layer->word, table->out.w, table->word, layer->in.w);
    layer->out.w = table->params / table->out.w;
    layer->multiply_adds = layer->in.h * layer->in.w * layer->out.w;
    memcpy(layer->sums, (const size_t[]){layer->in.w, layer->out.w, layer->in.h}, sizeof layer->sums);
    table->partner = layer->index;
    return ULP_OK;
}

/* Append the layer that `word` names. */
static ulp_status add_layer(ulp_net *net, const char *word, ulp_error *error) {
    size_t length;
    ulp_layer layer;
    memset(&layer, 0, sizeof layer);
    layer.kind = find_kind(word, &length);
    if (!layer.kind) return fail_unknown(word, error);
    if (net->count >= ULP_LAYERS_MAX)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "net: '%s' is one layer too many, at most %d", word, ULP_LAYERS_MAX);
    snprintf(layer.word, sizeof layer.word, "%s", word);
    layer.index = net->count;
    layer.in = net->out;
    layer.first_param = net->params;
    layer.gain = 1.0;
    layer.first_state = net->states;
    ulp_status status = layer.kind->shape(&layer, word + length);
    if (status != ULP_OK) return fail_shape(status, &layer, error);
    if (layer.kind->nesting < 0) status = close_block(net, &layer, error);
    if (layer.kind->turns) status = turn_block(net, &layer, error);
    if (layer.kind->ties) status = tie(net, &layer, error); /* partner is 0, the first layer */
    if (status != ULP_OK) return status;
    ulp_layer *grown = realloc(net->layers, (net->count + 1) * sizeof layer);
    if (!grown) return ulp_fail(error, ULP_NO_MEMORY, "net: no memory at '%s'", word);
    net->layers = grown;
    net->layers[net->count] = layer;
    if (net->count && layer.kind->gain > 0.0) net->layers[net->count - 1].gain = layer.kind->gain;
    net->count++;
    net->out = layer.out;
    net->params += layer.params;
    net->states += layer.states;
    net->widest = ulp_larger(net->widest, ulp_larger(ulp_dims_size(layer.out), layer.widest));
    net->work = ulp_larger(net->work, layer.work);
    net->ones = ulp_larger(net->ones, layer.ones);
    net->depth = ulp_larger(net->depth, open_count(net));
    if (layer.scored && (!net->scored || layer.scored < net->scored)) net->scored = layer.scored;
    return ULP_OK;
}

/* Whether a text is one of the words of a list, which blanks separate. */
static int is_listed(const char *text, size_t length, const char *list) {
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        const size_t next = strcspn(at, " ");
        if (next == length && strncmp(at, text, length) == 0) return 1;
        at += next;
    }
    return 0;
}

/* Append to `word` (size) the modifiers of its kind that follow in a text: "attn4 causal" becomes "attn4:causal".
 * Returns the end of the last one. 0 in *fits: they are too long. */
static const char *take_modifiers(char *word, size_t size, const char *text, int *fits) {
    size_t length;
    const ulp_layer_kind *kind = find_kind(word, &length);
    for (;;) {
        const char *next = text + strspn(text, blanks);
        length = strcspn(next, blanks);
        if (!kind || !length || !is_listed(next, length, kind->modifiers)) return text;
        const size_t used = strlen(word);
        *fits = *fits && used + length + 1 < size;
        if (*fits) snprintf(word + used, size - used, ":%.*s", (int)length, next);
        text = next + length;
    }
}

ulp_status ulp_net_parse(ulp_net *net, const char *text, ulp_dims in, ulp_error *error) {
    const char *whole = text;
    ulp_status status = ULP_OK;
    memset(net, 0, sizeof *net);
    net->in = net->out = in;
    net->widest = ulp_dims_size(in);
    net->ones = 1;
    if (!text || net->widest == 0) return ulp_fail(error, ULP_BAD_ARGUMENT, "net: no text or no input");
    for (text += strspn(text, blanks); *text && status == ULP_OK; text += strspn(text, blanks)) {
        char word[sizeof net->layers->word];
        size_t length = strcspn(text, blanks), kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = 0;
        int fits = kept == length;
        text = take_modifiers(word, sizeof word, text + length, &fits);
        status =
            fits ? add_layer(net, word, error) : ulp_fail(error, ULP_BAD_NAME, "net: too long a word, '%s...'", word);
    }
    if (status == ULP_OK && net->count == 0) status = ulp_fail(error, ULP_BAD_ARGUMENT, "net: no layer in '%s'", whole);
    if (status == ULP_OK && open_count(net)) status = ulp_fail(error, ULP_BAD_ARGUMENT, "net: no join after 'fork'");
    if (status != ULP_OK) ulp_net_release(net);
    return status;
}

void ulp_net_init(const ulp_net *net, float *w, float *state, uint64_t seed, double std) {
    if (net->states) memset(state, 0, net->states * sizeof *state);
    for (size_t i = 0; i < net->count; i++) {
        const ulp_layer *layer = &net->layers[i];
        ulp_stream stream = {seed, ulp_stream_id(ULP_USE_INIT, 0, i, 0), 0};
        if (layer->kind->init) layer->kind->init(layer, w + layer->first_param, stream, std);
        if (layer->kind->init_state) layer->kind->init_state(layer, state + layer->first_state);
    }
}

void ulp_net_forward64(const ulp_net *net, double *y, const double *x, const double *w, size_t B, double *scratch) {
    double *half[2] = {scratch, scratch + B * net->widest}, *kept = scratch + 2 * B * net->widest;
    for (size_t i = 0; i < net->count; i++) {
        const ulp_layer *layer = &net->layers[i];
        double *to = i + 1 == net->count ? y : half[i % 2];
        if (layer->kind->nesting < 0 || layer->kind->turns) kept -= B * net->widest;
        const double *own = w + ulp_net_weights(net, i);
        layer->kind->forward64(layer, &(ulp_layer64){.y = to, .x = x, .skip = kept, .w = own}, B);
        if (layer->kind->nesting > 0 || layer->kind->turns) {
            memcpy(kept, x, B * ulp_dims_size(layer->in) * sizeof *kept);
            kept += B * net->widest;
        }
        x = to;
    }
}

ulp_status ulp_net_copy(ulp_net *to, const ulp_net *from) {
    ulp_layer *layers = malloc(from->count * sizeof *layers + 1);
    memset(to, 0, sizeof *to);
    if (!layers) return ULP_NO_MEMORY;
    if (from->count) memcpy(layers, from->layers, from->count * sizeof *layers);
    *to = *from;
    to->layers = layers;
    return ULP_OK;
}

void ulp_net_release(ulp_net *net) {
    free(net->layers);
    memset(net, 0, sizeof *net);
}

/* quantized_inference.c - a trained network put into few bits: how many are enough, in which scheme and accumulator?
 *
 * A network learns the digits in binary32; then its test answers are computed again in integers after Jacob et al. 2018,
 * doi:10.1109/CVPR.2018.00286, and in narrow floating point. A tensor x of weights or activations is held as q of b bits
 * with x = S (q - Z), one S and Z per layer, from its range over the training part (activations) or itself (weights):
 *   affine     S = (high - low) / (2^b - 1), q from 0 on, Z the code of 0                       (their section 2.1)
 *   symmetric  S = largest magnitude / (2^(b-1) - 1), q from -(2^(b-1) - 1) on, Z = 0
 * A layer's sum of products (q - Z)(q' - Z') of integers is formed in int32 (in binary32, where these sums are exact below
 * 2^24: prepare checks it), in int16 that wraps around, or in int16 that saturates (ascending k); then comes the int32 bias
 * and a multiplication by S S' / S'' as a 31-bit integer and a shift, to nearest (their section 2.2), cut to b bits.
 * relu and pooling work on q - Z as they are; the last layer's sums are the answer. Floating point: weights and
 * activations rounded to the format, sums in binary32; `scaled` moves each tensor by a power of two to the format's top.
 * Rows: accuracy and agreement with binary32's answers in percent of the test part; changed: the percentage of sums that a
 * narrow accumulator got wrong.
 */
#include "harness/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/train.h"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp16,bf16,e4m3,e5m2,e3m2,e2m1", NULL),
    {"bits", ULP_OPTION_NUMBERS, "2,3,4,5,6,7,8", NULL, NULL, "bits of weights and activations", 2, 8, NULL, 0},
    {"schemes", ULP_OPTION_CHOICES, "affine,symmetric", NULL, NULL, "how codes stand for values", 0, 0, "affine symmetric", 0},
    {"accumulators", ULP_OPTION_CHOICES, "int32,int16,int16-sat", NULL, NULL, "where sums of products are formed", 0, 0, "int32 int16 int16-sat", 0},
    {"net", ULP_OPTION_TEXT, "fc64 relu fc64 relu fc10 / conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc64 relu fc10", "fc64 relu fc64 relu fc10", NULL,
     "the networks, ' / ' between them: of fc, conv, relu and pool", 0, 0, NULL, 0},
    {"epochs", ULP_OPTION_INTEGER, "20", "10", "40", "of training", 1, 1000, NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "32", NULL, NULL, "samples per training step", 1, 10000, NULL, 0},
    {"optimizer", ULP_OPTION_TEXT, "sgd,rate=0.05,momentum=0.9", NULL, NULL, "of the training", 0, 0, NULL, 0},
    {"set", ULP_OPTION_TEXT, "digits", NULL, NULL, "the data set: digits or mnist", 0, 0, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("5", "2", "10"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { AT_NET, AT_SEED, NETS_MAX = 8, BATCH = 256 };
static const char *const schemes[] = {"affine", "symmetric"};
static const char *const accumulators[] = {"int32", "int16", "int16-sat"};
static const char *const datapaths[] = {"fp32", "serial:q16.0:wrap:rne", "serial:q16.0:sat:rne"};
enum { AFFINE, SYMMETRIC, INT32 = 0 };

/* ---- the grid ---- */

typedef struct shared {
    ulp_data data;
    char net[NETS_MAX][256];
    int nets;
} shared;

/* Whether integers go through a net: sums of products, and what only compares. */
static ulp_status check_net(const ulp_run *run, const shared *s, const char *text) {
    static const char *const known[] = {"fc", "conv", "relu", "pool"};
    char error[1536];
    ulp_net net;
    ulp_status status = ulp_net_parse(&net, text, s->data.dims, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "--net: %s", error);
    for (size_t i = 0; i < net.count && status == ULP_OK; i++) {
        const ulp_layer *layer = &net.layers[i];
        int is_known = 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) is_known |= strcmp(layer->kind->name, known[k]) == 0;
        if (!is_known) status = ulp_run_fail(run, ULP_UNSUPPORTED, "--net: '%s' is not computed in integers; known: fc, conv, relu, pool", layer->word);
        /* products of two numbers below 2^8 */
        size_t k = layer->params ? (layer->params - layer->out.c) / layer->out.c : 0;
        if (status == ULP_OK && k > 256)
            status = ulp_run_fail(run, ULP_UNSUPPORTED, "--net: '%s' sums %zu products, 256 of 8 bits are exact here", layer->word, k);
    }
    if (status == ULP_OK && (net.count == 0 || ulp_dims_size(net.out) != s->data.classes || net.layers[net.count - 1].params == 0))
        status = ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net: '%s' does not end in a layer with one output per class", text);
    ulp_net_release(&net);
    return status;
}

static ulp_status prepare(ulp_run *run, void **context) {
    char error[1024];
    shared *s = calloc(1, sizeof *s);
    if (s == NULL) return ULP_NO_MEMORY;
    *context = s;
    ulp_status status = ulp_data_load(&s->data, ulp_option_text(run, "set"), ulp_run_data(run), ulp_run_seed(run), error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    ulp_header_add(run, "data", "%s, crc32 %08x, %zu for training, %zu for tests", s->data.name, s->data.checksum, s->data.n_train,
                   s->data.n - s->data.n_train);
    for (const char *text = ulp_option_text(run, "net"); status == ULP_OK;) {
        const char *end = strstr(text, " / ");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        if (s->nets == NETS_MAX || length >= sizeof s->net[0] || memchr(text, ',', length))
            return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net: up to %d networks of %zu characters, blanks between layers", NETS_MAX, sizeof s->net[0] - 1);
        memcpy(s->net[s->nets], text, length);
        status = check_net(run, s, s->net[s->nets]);
        for (int64_t seed = 0; seed < ulp_option_integer(run, "seeds") && status == ULP_OK; seed++) {
            ulp_point point = {.at = {s->nets, (int64_t)ulp_run_seed(run) + seed}};
            ulp_point_add(run, point, "net %d seed %lld", s->nets + 1, (long long)point.at[AT_SEED]);
        }
        s->nets++;
        if (!end) break;
        text = end + 3;
    }
    return status;
}

static void release(void *context) {
    shared *s = context;
    if (s != NULL) ulp_data_release(&s->data);
    free(s);
}

/* ---- a trained network, run again ---- */

/* x = S (q - Z); q - Z from low to high. */
typedef struct code {
    double scale;
    double low, high;
} code;

typedef struct engine {
    const ulp_data *data;
    const float *trained; /* (params): the binary32 weights, host memory */
    ulp_model model;
    ulp_pass pass;
    ulp_policy policy;
    ulp_family family;
    float *weight;              /* (params) backend memory */
    float *host, *sums, *wide;  /* host memory: (params), (BATCH widest) of a narrow accumulator and of int32 */
    double *low, *high;         /* (count + 1): the range of each tensor over the training part */
    uint8_t *answer;            /* (n tests) of binary32 */
    size_t right, agreed, changed, formed; /* of the run under way */
} engine;

static void engine_carve(engine *e) {
    ulp_model_carve(&e->model, &e->pass, &e->family);
    e->weight = ulp_family_take(&e->family, e->model.net.params);
}

static ulp_status engine_start(engine *e, const ulp_run *run, const ulp_data *data, const char *net, const float *trained) {
    char error[1536];
    *e = (engine){.data = data, .trained = trained};
    e->pass.backend = ulp_run_backend(run);
    e->pass.policy = &e->policy;
    ulp_status status = ulp_policy_parse(&e->policy, "fp32", error, sizeof error);
    if (status == ULP_OK) status = ulp_model_init(&e->model, net, data->dims, 0, BATCH, error, sizeof error);
    if (status != ULP_OK) return status;
    const ulp_net *n = &e->model.net;
    e->host = calloc(n->params, sizeof *e->host);
    e->sums = calloc(BATCH * n->widest, sizeof *e->sums);
    e->wide = calloc(BATCH * n->widest, sizeof *e->wide);
    e->low = calloc(2 * (n->count + 1), sizeof *e->low);
    e->high = e->low ? e->low + n->count + 1 : NULL;
    e->answer = calloc(data->n - data->n_train + 1, 1);
    if (!e->host || !e->sums || !e->wide || !e->low || !e->answer) return ULP_NO_MEMORY;
    ulp_family_init(&e->family, e->pass.backend);
    engine_carve(e);
    status = ulp_family_alloc(&e->family);
    if (status != ULP_OK) return status;
    engine_carve(e);
    return ulp_model_ready(&e->model, &e->pass);
}

static void engine_end(engine *e) {
    ulp_model_release(&e->model, &e->pass);
    ulp_family_release(&e->family);
    free(e->host);
    free(e->sums);
    free(e->wide);
    free(e->low);
    free(e->answer);
}

/* Samples [first, first + B) as numbers from 0 to 1 into e->sums. */
static void read_samples(engine *e, size_t first, size_t B) {
    const ulp_data *d = e->data;
    for (size_t i = 0; i < B * d->features; i++) e->sums[i] = (float)d->pixel[first * d->features + i] / (float)d->white;
    e->pass.B = B;
}

/* Scores z (B,classes), the answers to samples `first` and after of the test part. */
static void score(engine *e, const float *z, size_t first, size_t B, int reference) {
    size_t C = e->data->classes;
    for (size_t b = 0; b < B; b++, z += C) {
        size_t best = 0, nan = z[0] != z[0];
        for (size_t c = 1; c < C; c++) {
            nan |= z[c] != z[c];
            if (z[c] > z[best]) best = c;
        }
        if (reference) e->answer[first + b] = (uint8_t)best;
        e->agreed += !nan && best == e->answer[first + b];
        e->right += !nan && best == e->data->label[e->data->n_train + first + b];
    }
}

/* Forward in floating point over the training part, to learn the ranges, or over the test part, to score. */
static ulp_status run_floating(engine *e, int learn) {
    const ulp_backend *backend = e->pass.backend;
    const ulp_net *net = &e->model.net;
    size_t begin = learn ? 0 : e->data->n_train, end = learn ? e->data->n_train : e->data->n;
    ulp_status status = ULP_OK;
    e->pass.evaluation = 1;
    for (size_t at = begin; at < end && status == ULP_OK; at += BATCH) {
        size_t B = end - at < BATCH ? end - at : BATCH;
        e->pass.first = at;
        read_samples(e, at, B);
        status = backend->upload(e->model.tensor[0], e->sums, B * e->data->features * sizeof(float));
        if (status == ULP_OK) status = ulp_pass_round(&e->pass, ULP_AT_ACT, 0, e->model.tensor[0], B * e->data->features, e->data->features);
        if (status == ULP_OK) status = ulp_model_forward(&e->model, &e->pass, e->weight);
        for (size_t i = 0; i <= net->count && learn && status == ULP_OK; i++) {
            size_t n = B * ulp_dims_size(i < net->count ? net->layers[i].in : net->out);
            status = backend->download(e->sums, e->model.tensor[i], n * sizeof(float));
            for (size_t j = 0; j < n; j++) {
                e->low[i] = fmin(e->low[i], (double)e->sums[j]);
                e->high[i] = fmax(e->high[i], (double)e->sums[j]);
            }
        }
        if (!learn && status == ULP_OK) {
            status = backend->download(e->sums, e->model.tensor[net->count], B * e->data->classes * sizeof(float));
            score(e, e->sums, at - e->data->n_train, B, e->pass.step == 0);
        }
    }
    return status;
}

/* ---- integers ---- */

static code code_of(double low, double high, int bits, int scheme) {
    code c;
    double levels = ldexp(1, bits) - 1, half = ldexp(1, bits - 1) - 1;
    low = fmin(low, 0);
    high = fmax(high, 0);
    if (scheme == SYMMETRIC) {
        c.scale = fmax(-low, high) / half;
        c.low = -half;
        c.high = half;
    } else {
        c.scale = (high - low) / levels;
        c.low = c.scale > 0 ? -rint(-low / c.scale) : 0;
        c.high = c.low + levels;
    }
    if (!(c.scale > 0)) c.scale = 1;
    return c;
}

static double cut(double q, const code *c) { return q < c->low ? c->low : q > c->high ? c->high : q; }

/* sum S with S = multiplier 2^-shift, multiplier of 31 bits, to nearest, halves up; sums stay below 2^31. */
static double requantize(double sum, double scale) {
    int exponent;
    int64_t multiplier = (int64_t)rint(ldexp(frexp(scale, &exponent), 31));
    int shift = 31 - exponent;
    if (shift > 62) return 0;
    if (shift < 1) return sum * scale;
    int64_t product = (int64_t)sum * multiplier + ((int64_t)1 << (shift - 1));
    /* rounded down for either sign */
    return (double)(product >= 0 ? product >> shift : -((-product + ((int64_t)1 << shift) - 1) >> shift));
}

/* The tensor that the next layer with parameters, from layer i on, multiplies. */
static size_t next_operand(const ulp_net *net, size_t i) {
    while (i < net->count && net->layers[i].params == 0) i++;
    return i;
}

/* Layer i, with parameters: q - Z in tensor[i] to q - Z of the next operand, or to sums if there is none. */
static ulp_status integer_layer(engine *e, size_t i, const code *x, const code *w, const ulp_datapath *narrow, const code *y) {
    const ulp_backend *backend = e->pass.backend;
    const ulp_layer *layer = &e->model.net.layers[i];
    size_t outputs = ulp_dims_size(layer->out), n = e->pass.B * outputs, plane = layer->out.h * layer->out.w;
    const float *bias = e->trained + layer->first_param + layer->params - layer->out.c;
    ulp_status status = ulp_model_forward_layer(&e->model, &e->pass, e->weight, i);
    if (status == ULP_OK) status = backend->download(e->wide, e->model.tensor[i + 1], n * sizeof(float));
    memcpy(e->sums, e->wide, n * sizeof(float));
    if (narrow && status == ULP_OK) {
        const ulp_datapath exact = e->policy.forward;
        e->policy.forward = *narrow;
        status = ulp_model_forward_layer(&e->model, &e->pass, e->weight, i);
        e->policy.forward = exact;
        if (status == ULP_OK) status = backend->download(e->sums, e->model.tensor[i + 1], n * sizeof(float));
    }
    for (size_t j = 0; j < n && status == ULP_OK; j++) {
        size_t channel = j % outputs / plane;
        double sum = (double)e->sums[j] + rint((double)bias[channel] / (x->scale * w->scale));
        e->changed += e->sums[j] != e->wide[j];
        e->sums[j] = (float)(y ? cut(requantize(sum, x->scale * w->scale / y->scale), y) : sum);
    }
    e->formed += n;
    return status == ULP_OK ? backend->upload(e->model.tensor[i + 1], e->sums, n * sizeof(float)) : status;
}

/* The integer weights of every layer, biases 0: they are added after the sums. */
static ulp_status put_weights(engine *e, code *w, int bits, int scheme) {
    const ulp_net *net = &e->model.net;
    memset(e->host, 0, net->params * sizeof *e->host);
    for (size_t i = 0; i < net->count; i++) {
        const ulp_layer *layer = &net->layers[i];
        const float *from = e->trained + layer->first_param;
        size_t n = layer->params ? layer->params - layer->out.c : 0;
        double low = 0, high = 0;
        for (size_t j = 0; j < n; j++) {
            low = fmin(low, (double)from[j]);
            high = fmax(high, (double)from[j]);
        }
        w[i] = code_of(low, high, bits, scheme);
        for (size_t j = 0; j < n; j++) e->host[layer->first_param + j] = (float)cut(rint((double)from[j] / w[i].scale), &w[i]);
    }
    return e->pass.backend->upload(e->weight, e->host, net->params * sizeof *e->host);
}

static ulp_status run_integers(engine *e, const code *x, const code *w, const ulp_datapath *narrow) {
    const ulp_backend *backend = e->pass.backend;
    const ulp_net *net = &e->model.net;
    ulp_status status = ULP_OK;
    for (size_t at = e->data->n_train; at < e->data->n && status == ULP_OK; at += BATCH) {
        size_t B = e->data->n - at < BATCH ? e->data->n - at : BATCH;
        read_samples(e, at, B);
        const code *first = &x[next_operand(net, 0)];
        for (size_t i = 0; i < B * e->data->features; i++) e->sums[i] = (float)cut(rint((double)e->sums[i] / first->scale), first);
        status = backend->upload(e->model.tensor[0], e->sums, B * e->data->features * sizeof(float));
        for (size_t i = 0; i < net->count && status == ULP_OK; i++) {
            size_t next = next_operand(net, i + 1);
            if (net->layers[i].params == 0) status = ulp_model_forward_layer(&e->model, &e->pass, e->weight, i);
            else status = integer_layer(e, i, &x[i], &w[i], narrow, next < net->count ? &x[next] : NULL);
        }
        if (status == ULP_OK) status = backend->download(e->sums, e->model.tensor[net->count], B * e->data->classes * sizeof(float));
        if (status == ULP_OK) score(e, e->sums, at - e->data->n_train, B, 0);
    }
    return status;
}

/* ---- rows ---- */

static void put_row(ulp_rows *rows, const engine *e, const ulp_point *point, const char *kind, const char *scheme, int bits, const char *accumulator) {
    double tests = (double)(e->data->n - e->data->n_train);
    ulp_put_integer(rows, point->at[AT_NET] + 1);
    ulp_put_integer(rows, point->at[AT_SEED]);
    ulp_put_text(rows, kind);
    ulp_put_text(rows, scheme);
    ulp_put_integer(rows, bits);
    ulp_put_text(rows, accumulator);
    ulp_put_number(rows, 100 * (double)e->right / tests);
    ulp_put_number(rows, 100 * (double)e->agreed / tests);
    ulp_put_number(rows, e->formed ? 100 * (double)e->changed / (double)e->formed : 0);
    ulp_row_end(rows);
}

static void begin(engine *e) { e->right = e->agreed = e->changed = e->formed = 0; }

static ulp_status compute_integers(const ulp_run *run, engine *e, const ulp_point *point, int bits, ulp_rows *rows) {
    size_t count = e->model.net.count;
    code *x = calloc(2 * (count + 1), sizeof *x), *w = x + count + 1;
    ulp_status status = x ? ULP_OK : ULP_NO_MEMORY;
    for (int s = 0; s < 2 && status == ULP_OK; s++) {
        if (!ulp_option_chosen(run, "schemes", schemes[s])) continue;
        for (size_t i = 0; i < count; i++) x[i] = code_of(e->low[i], e->high[i], bits, s);
        status = put_weights(e, w, bits, s);
        for (int a = 0; a < 3 && status == ULP_OK; a++) {
            ulp_datapath narrow;
            if (!ulp_option_chosen(run, "accumulators", accumulators[a])) continue;
            begin(e);
            status = ulp_datapath_parse(&narrow, datapaths[a]);
            if (status == ULP_OK) status = run_integers(e, x, w, a == INT32 ? NULL : &narrow);
            if (status == ULP_OK) put_row(rows, e, point, "integer", schemes[s], bits, accumulators[a]);
        }
    }
    free(x);
    return status;
}

/* Weights rounded layer by layer under the policy in force. */
static ulp_status round_weights(engine *e) {
    const ulp_net *net = &e->model.net;
    ulp_status status = e->pass.backend->upload(e->weight, e->trained, net->params * sizeof(float));
    for (size_t i = 0; i < net->count && status == ULP_OK; i++)
        if (net->layers[i].params)
            status = ulp_pass_round(&e->pass, ULP_AT_WEIGHT, i, e->weight + net->layers[i].first_param, net->layers[i].params, 0);
    return status;
}

static ulp_status compute_floating(const ulp_run *run, engine *e, const ulp_point *point, const ulp_format *format, int scaled, ulp_rows *rows) {
    char text[160], error[512];
    const char *mark = scaled ? "@amax" : "";
    snprintf(text, sizeof text, "fp32,weight=%s%s,act=%s%s,master=fp32", format->name, mark, format->name, mark);
    ulp_status status = ulp_policy_parse(&e->policy, text, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "--formats %s: %s", format->name, error);
    begin(e);
    e->pass.step = 1;
    status = round_weights(e);
    if (status == ULP_OK) status = run_floating(e, 0);
    if (status == ULP_OK) put_row(rows, e, point, format->name, scaled ? "scaled" : "plain", format->bits, "binary32");
    return status;
}

static ulp_status train(const ulp_run *run, const shared *s, const ulp_point *point, float **trained, ulp_rows *rows) {
    char error[1536];
    size_t batch = (size_t)ulp_option_integer(run, "batch");
    ulp_train_options o = {.net = s->net[point->at[AT_NET]], .optimizer = ulp_option_text(run, "optimizer"), .batch = batch,
                           .seed = (uint64_t)point->at[AT_SEED], .backend = ulp_run_backend(run)};
    ulp_trainer *t;
    ulp_status status = ulp_trainer_new(&t, &s->data, &o, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    uint64_t steps = (uint64_t)ulp_option_integer(run, "epochs") * (s->data.n_train / batch);
    for (uint64_t i = 0; i < steps && status == ULP_OK; i++) {
        status = ulp_trainer_step(t, NULL);
        if (ulp_rows_progress(rows, 0.9 * (double)i / (double)steps)) break;
    }
    *trained = calloc(t->model.net.params, sizeof **trained);
    if (status == ULP_OK) status = *trained ? ulp_trainer_weights(t, *trained, NULL) : ULP_NO_MEMORY;
    ulp_trainer_free(t);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    const shared *s = context;
    size_t count, formats;
    const double *bits = ulp_option_numbers(run, "bits", &count);
    const ulp_format *format = ulp_run_formats(run, &formats);
    float *trained = NULL;
    engine e = {0};
    ulp_status status = train(run, s, point, &trained, rows);
    if (status == ULP_OK) status = engine_start(&e, run, &s->data, s->net[point->at[AT_NET]], trained);
    if (status == ULP_OK) status = round_weights(&e);
    if (status == ULP_OK) status = run_floating(&e, 1);
    if (status == ULP_OK) status = run_floating(&e, 0);
    if (status == ULP_OK) put_row(rows, &e, point, "binary32", "plain", 32, "binary32");
    for (size_t i = 0; i < count && status == ULP_OK; i++) status = compute_integers(run, &e, point, (int)bits[i], rows);
    for (size_t f = 0; f < formats && status == ULP_OK; f++)
        for (int scaled = 0; scaled < 2 && status == ULP_OK; scaled++) status = compute_floating(run, &e, point, &format[f], scaled, rows);
    engine_end(&e);
    free(trained);
    return status;
}

/* ---- claims ---- */

typedef struct mean {
    double accuracy, agreement, changed, least;
    int n;
} mean;

static mean mean_of(const ulp_run *run, const char *net, const char *kind, const char *scheme, const char *bits, const char *accumulator) {
    mean m = {.least = 100};
    for (long row = 0; (row = ulp_row_find(run, row, "net", net, "kind", kind, "scheme", scheme, "bits", bits, "accumulator", accumulator,
                                           (const char *)NULL)) != ULP_NO_ROW; row++) {
        double accuracy = ulp_row_number(run, row, "accuracy");
        m.accuracy += accuracy;
        m.least = fmin(m.least, accuracy);
        m.agreement += ulp_row_number(run, row, "agreement");
        m.changed += ulp_row_number(run, row, "changed");
        m.n++;
    }
    double n = m.n ? (double)m.n : (double)NAN;
    return (mean){m.accuracy / n, m.agreement / n, m.changed / n, m.least, m.n};
}

static void print_table(const ulp_run *run, const char *net) {
    ulp_table *table = ulp_table_new("test accuracy in percent, mean over the seeds; changed: sums that the accumulator got wrong, in percent",
                                     "net,numbers,scheme,accumulator,accuracy,as binary32,changed");
    for (long row = 0; row < ulp_row_count(run); row++) {
        const char *cells[5] = {ulp_row_text(run, row, "net"), ulp_row_text(run, row, "kind"), ulp_row_text(run, row, "scheme"),
                                ulp_row_text(run, row, "bits"), ulp_row_text(run, row, "accumulator")};
        if (strcmp(cells[0], net) != 0) continue;
        if (ulp_row_find(run, 0, "net", cells[0], "kind", cells[1], "scheme", cells[2], "bits", cells[3], "accumulator", cells[4], (const char *)NULL) != row)
            continue;
        mean m = mean_of(run, cells[0], cells[1], cells[2], cells[3], cells[4]);
        ulp_table_put(table, "%s", cells[0]);
        if (strcmp(cells[1], "integer") == 0) ulp_table_put(table, "%s bits", cells[3]);
        else ulp_table_put(table, "%s", cells[1]);
        ulp_table_put(table, "%s", cells[2]);
        ulp_table_put(table, "%s", cells[4]);
        ulp_table_put(table, "%.2f", m.accuracy);
        ulp_table_put(table, "%.2f", m.agreement);
        ulp_table_put(table, "%.3g", m.changed);
    }
    ulp_table_print(table, run);
}

/* All rows of one kind, against binary32 of the same net: the largest loss of mean accuracy in points. */
static void claim_loss(ulp_run *run, int nets, const char *kind, const char *scheme, const char *bits, const char *accumulator, double most, const char *text) {
    double worst = -100;
    char net[16], measured[128] = "";
    for (int i = 1; i <= nets; i++) {
        snprintf(net, sizeof net, "%d", i);
        mean m = mean_of(run, net, kind, scheme, bits, accumulator), reference = mean_of(run, net, "binary32", "plain", "32", "binary32");
        if (m.n == 0) {
            ulp_claim_skip(run, text, "not in this run");
            return;
        }
        worst = fmax(worst, reference.accuracy - m.accuracy);
        snprintf(measured + strlen(measured), sizeof measured - strlen(measured), "%snet %d: %.2f %% against %.2f %%", i > 1 ? "; " : "", i, m.accuracy,
                 reference.accuracy);
    }
    ulp_claim(run, worst <= most, text, "%s", measured);
}

/* An int16 sum of products of codes of b bits cannot leave the range while k 2^(2 b - 2) < 2^15, symmetric codes. */
static void claim_room(ulp_run *run) {
    int rows = 0, wrong = 0;
    for (long row = 0; row < ulp_row_count(run); row++) {
        if (!ulp_row_is(run, row, "scheme", "symmetric") || !ulp_row_is(run, row, "accumulator", "int16")) continue;
        double bits = ulp_row_number(run, row, "bits"), half = ldexp(1, (int)bits - 1) - 1;
        if (256 * half * half >= 32768) continue;
        rows++;
        wrong += ulp_row_number(run, row, "changed") != 0;
    }
    if (rows) ulp_claim(run, wrong == 0, "where 256 products of two codes stay below 2^15, no int16 sum differs from int32", "%d runs, %d against it", rows, wrong);
}

/* The mean over all nets and bits where one way is better than another. */
static void claim_better(ulp_run *run, int nets, const char *scheme, const char *accumulator, const char *scheme2, const char *accumulator2,
                         const char *bits, double by, const char *text) {
    double gain = 0;
    char net[16];
    for (int i = 1; i <= nets; i++) {
        snprintf(net, sizeof net, "%d", i);
        mean a = mean_of(run, net, "integer", scheme, bits, accumulator), b = mean_of(run, net, "integer", scheme2, bits, accumulator2);
        gain += (a.accuracy - b.accuracy) / nets;
    }
    if (isnan(gain)) ulp_claim_skip(run, text, "not in this run");
    else ulp_claim(run, gain > by, text, "%+.2f points in the mean of the networks", gain);
}

static void check(ulp_run *run, const void *context) {
    const shared *s = context;
    for (int i = 1; i <= s->nets; i++) {
        char net[16];
        snprintf(net, sizeof net, "%d", i);
        print_table(run, net);
    }
    claim_loss(run, s->nets, "integer", "affine", "8", "int32", 0.5, "8 bits, affine, int32: within half a point of binary32, without training again");
    claim_loss(run, s->nets, "integer", "symmetric", "8", "int32", 0.5, "8 bits, symmetric, int32: within half a point");
    claim_loss(run, s->nets, "integer", "affine", "5", "int32", 1.5, "5 bits, affine, int32: within 1.5 points");
    claim_loss(run, s->nets, "binary16", "plain", "16", "binary32", 0.2, "binary16: within 0.2 points, no scale needed");
    claim_loss(run, s->nets, "e4m3", "plain", "8", "binary32", 0.75, "e4m3, sums in binary32: within 0.75 points, no scale needed");
    claim_better(run, s->nets, "affine", "int32", "symmetric", "int32", "3", 2,
                 "3 bits: affine codes beat symmetric ones by over 2 points (after relu nothing is negative: half of the symmetric codes is idle)");
    claim_better(run, s->nets, "affine", "int32", "affine", "int16", "8", 20,
                 "8 bits, affine: an int16 accumulator that wraps around costs over 20 points (codes reach 255, and their products 2^16)");
    claim_better(run, s->nets, "symmetric", "int32", "symmetric", "int16", "8", 2, "8 bits, symmetric: it costs over 2 points");
    claim_better(run, s->nets, "symmetric", "int16-sat", "symmetric", "int16", "8", 2, "8 bits, symmetric: one that saturates gives back over 2 of them");
    claim_room(run);
}

static const ulp_experiment experiment = {
    .name = "quantized_inference",
    .question = "how many bits does a trained network need to answer, and how wide an accumulator?",
    .columns = "net,seed,kind,scheme,bits,accumulator,accuracy,agreement,changed",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }

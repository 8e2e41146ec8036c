/* attention.c - attention with several heads: softmax(scale Q K') V and its projections.
 *
 * Vaswani et al. 2017, arXiv:1706.03762; fewer heads of keys and values: Ainslie et al. 2023, arXiv:2305.13245. The
 * parameters are W (d,w), the columns of all q, then of all k and all v, head by head, and O (d,d); there are no
 * biases. Products with W and O are those of lin: sums over the features, in ascending order, by the policy's
 * datapaths. So are the products of activations, for each sample and head: scores over features, values over keys,
 * their gradients over features, queries and keys; the gradient of a shared k or v goes on from head to head. Each
 * arrow is a rounding:
 *
 *   [q k v] <- x W                 at act
 *   q, k <- turned by their place  at act, with :rope; tokens.h has the formula
 *   s <- scale q k'                at score; scale = 1 / sqrt(e), times log2 e for base 2, rounded to binary32
 *   p <- softmax(s)                at prob, or block by block, see attention_blocks.c
 *   mix <- p v                     at act
 *   y <- mix O                     at act
 *
 *   dmix <- dy O'   dp <- dmix v'   ds <- scale p (dp - sum p dp)   [dq dk dv] <- ds k, ds' q, p' dmix   (turned back)
 *   dx <- [dq dk dv] W'             all at agrad
 *   dW <- x' [dq dk dv]   dO <- mix' dy   at wgrad
 *
 * Angles: row t of the table has the cosine and the sine of t r, r = 10000^(-2i/e); t, r and t r are rounded to the
 * format of :rope=, and so are cosine and sine, correctly (formats/function.h).
 */
#include "attention.h"

#include <stdlib.h>
#include <string.h>

#include "formats/function.h"
#include "sim/normal.h"

/* ---- the word ---- */

/* Lanes of the layer's streams tell products and blocks apart (policy.h: 4,096 lanes). */
enum { HEADS_MAX = 1024, BLOCKS_MAX = 1000 };

/* A format of angles, cosines and sines: of both signs, with a zero, and in binary32. */
static ulp_status read_format(ulp_format *format, const char *text) {
    ULP_TRY(ulp_format_parse(format, text));
    const int good = format->fits_binary32 && format->is_signed && format->has_zero;
    return good ? ulp_function_check(ULP_FUNCTION_COS, format, (ulp_rule){0}) : ULP_BAD_ARGUMENT;
}

/* Read an option; each may stand once, and bit `index` of *seen tells which have been read. */
static ulp_status read_option(ulp_layer *layer, const char **args, unsigned *seen) {
    static const char *const flags[] = {"causal", "rope", "base2", "integer"}, *const values[] = {"rope", "kv", "block",
                                                                                                  "beta"};
    static const size_t places[] = {CAUSAL, ROTATED, BASE2, WHOLE_MAXIMA};
    char value[32], *end = NULL;
    size_t *arg = layer->arg;
    unsigned index = 0, bit;
    while (index < 4 && !ulp_args_option(args, flags[index], NULL, 0)) index++;
    if (index < 4) arg[places[index]] = 1;
    else
        while (index < 8 && !ulp_args_option(args, values[index - 4], value, sizeof value)) index++;
    bit = 1u << (index == 4 ? 1 : index); /* rope with and without a format are one option */
    if (index == 8 || (*seen & bit)) return ULP_BAD_ARGUMENT;
    *seen |= bit;
    switch (index) {
    case 4: arg[ROTATED] = 1; return read_format(&layer->format, value);
    case 5: return ulp_args_number(&arg[SHARED], value, 1, HEADS_MAX);
    case 6: return ulp_args_number(&arg[BLOCK], value, 1, 1 << 20);
    case 7:
        layer->number = (double)strtof(value, &end);
        return *end == 0 && layer->number >= 1.0 && layer->number <= 16.0 ? ULP_OK : ULP_BAD_ARGUMENT;
    default: return ULP_OK;
    }
}

static ulp_status shape(ulp_layer *layer, const char *args) {
    size_t *arg = layer->arg;
    const size_t T = layer->in.h, d = layer->in.w;
    unsigned seen = 0;
    if (ulp_args_read(&arg[HEADS], &args, 1, HEADS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->number = 1.0;
    layer->format = ulp_binary32;
    arg[SHARED] = arg[HEADS];
    while (*args)
        if (read_option(layer, &args, &seen) != ULP_OK) return ULP_BAD_ARGUMENT;
    const size_t H = arg[HEADS], e = d / H, w = (H + 2 * arg[SHARED]) * e, weights = H * T * T;
    const int of_blocks = arg[BLOCK] > 0;
    if ((arg[WHOLE_MAXIMA] || layer->number > 1.0) && !of_blocks) return ULP_BAD_ARGUMENT;
    if (H % arg[SHARED] != 0) return ULP_BAD_ARGUMENT;
    if (of_blocks && T / arg[BLOCK] >= BLOCKS_MAX) return ULP_UNSUPPORTED;
    if (!ulp_dims_is_tokens(layer->in) || d % H != 0 || (arg[ROTATED] && e % 2 != 0)) return ULP_UNSUPPORTED;
    layer->out = layer->in;
    layer->params = layer->decays[0] = d * w + d * d;
    layer->states = arg[ROTATED] ? T * e : 0;
    layer->saved = T * w + weights + T * d + (of_blocks ? 2 * H * T : 0);
    layer->inner = layer->saved;
    layer->work = ulp_larger(weights + (of_blocks ? H * T + T * d : 0),
                             3 * T * d + weights + T * w + (of_blocks ? weights + H * T : 0));
    layer->widest = ulp_larger(ulp_larger(T * w, weights), T * d);
    layer->multiply_adds = T * d * w + T * d * d + 2 * H * T * T * e;
    memcpy(layer->sums, (const size_t[]){d, e, T}, sizeof layer->sums); /* e divides d and w */
    layer->scored = ulp_larger(1, ((size_t)1 << 18) / weights);
    return ULP_OK;
}

/* Glorot and Bengio 2010, for maps from d to d features, as q, k, v and O are with H = K. */
static void init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    if (std <= 0.0) std = 1.0 / sqrt((double)layer->in.w);
    for (size_t i = 0; i < layer->params; i++) w[i] = (float)(std * ulp_random_normal(stream, i));
}

/* x rounded to the format, to nearest even. */
static double to_format(double x, const ulp_format *f) { return ulp_round(x, f, (ulp_rule){0}, 0); }

static void init_state(const ulp_layer *layer, float *state) {
    const size_t e = layer->in.w / layer->arg[HEADS];
    const ulp_format *f = &layer->format;
    for (size_t t = 0; t < layer->in.h && layer->arg[ROTATED]; t++)
        for (size_t i = 0; i < e / 2; i++) {
            const double rate = to_format(ulp_exp(-9.210340371976184 * (double)(2 * i) / (double)e), f); /* ln 10000 */
            const double angle = to_format(to_format((double)t, f) * rate, f);
            state[t * e + 2 * i] = (float)ulp_evaluate(ULP_FUNCTION_COS, angle, f, (ulp_rule){0}, 0);
            state[t * e + 2 * i + 1] = (float)ulp_evaluate(ULP_FUNCTION_SIN, angle, f, (ulp_rule){0}, 0);
        }
}

/* ---- forward ---- */

/* A product with W or O: C (m,n) of the rows of all tokens. */
static ulp_status project(const attention *s, float *y, const float *x, const float *w, size_t k, size_t n,
                          uint32_t lane, const ulp_pass_whole *whole) {
    const size_t rows = s->B * s->T;
    const ulp_gemm_shape shape = {.m = rows, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n};
    const ulp_site site = ulp_attention_with_weights(s, ULP_USE_FORWARD, lane, s->T);
    ULP_TRY(ulp_pass_gemm_part(s->pass, site, y, x, w, &shape, whole));
    return ulp_pass_round_whole(s->pass, whole, rows * n);
}

/* scores (B,H,T,T) = scale q k', rounded. */
static ulp_status find_scores(const attention *s, float *scores) {
    const size_t weights = s->H * s->T * s->T, n = s->B * weights;
    const double log2e = 1.4426950408889634, base = s->layer->arg[BASE2] ? log2e : 1.0;
    const float scale = (float)(base / sqrt((double)s->e));
    const ulp_gemm_batch batch = {
        .shape = {.m = s->T, .n = s->T, .k = s->e, .lda = s->w, .ldb = s->w, .ldc = s->T, .b_trans = 1},
        .outer = s->B,
        .inner = s->H,
        .b_share = s->H / s->K,
        .a_stride = {s->T * s->w, s->e},
        .b_stride = {s->T * s->w, s->e},
        .c_stride = {weights, s->T * s->T}};
    ULP_TRY(ulp_attention_products(s, ulp_attention_site(s, ULP_USE_FORWARD, 1, 0), scores, s->qkv,
                                   s->qkv + s->H * s->e, &batch));
    ULP_TRY(ulp_backend_scaled(s->pass->run.backend, s->pass->scratch.wide, scores, n, (double)scale));
    return ulp_pass_round64(s->pass, ulp_attention_site(s, ULP_AT_SCORE, 0, weights), scores, s->pass->scratch.wide, n);
}

/* mix = the weights p times the values, rounded. */
static ulp_status mix_whole(const attention *s) {
    const size_t weights = s->H * s->T * s->T, values = (s->H + s->K) * s->e;
    const ulp_scores by = ulp_attention_scores(s);
    const ulp_gemm_batch batch = {.shape = {.m = s->T, .n = s->e, .k = s->T, .lda = s->T, .ldb = s->w, .ldc = s->d},
                                  .outer = s->B,
                                  .inner = s->H,
                                  .b_share = s->H / s->K,
                                  .a_stride = {weights, s->T * s->T},
                                  .b_stride = {s->T * s->w, s->e},
                                  .c_stride = {s->T * s->d, s->e}};
    ULP_TRY(ulp_backend_attention_softmax(s->pass->run.backend, s->pass->scratch.wide, s->t->own.work, &by));
    ULP_TRY(ulp_pass_round64(s->pass, ulp_attention_site(s, ULP_AT_PROB, 0, weights), s->p, s->pass->scratch.wide,
                             s->B * weights));
    ULP_TRY(
        ulp_attention_products(s, ulp_attention_site(s, ULP_USE_FORWARD, 2, 0), s->mix, s->p, s->qkv + values, &batch));
    return ulp_pass_round(s->pass, ulp_attention_site(s, ULP_AT_ACT, 3, s->T * s->d), s->mix, s->B * s->T * s->d);
}

static ulp_status forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const attention s = ulp_attention_of(layer, pass, t);
    const int of_blocks = layer->arg[BLOCK] > 0;
    const ulp_pass_whole qkv = {ulp_attention_site(&s, ULP_AT_ACT, 1, s.T * s.w), s.qkv},
                         y = {ulp_site_output(layer), t->y};
    ULP_TRY(project(&s, s.qkv, t->x, s.into, s.d, s.w, 0, &qkv));
    ULP_TRY(ulp_attention_turn(&s, s.qkv, 0, ulp_attention_site(&s, ULP_AT_ACT, 2, s.T * s.w)));
    ULP_TRY(find_scores(&s, of_blocks ? s.p : t->own.work));
    ULP_TRY(of_blocks ? ulp_attention_mix_blocks(&s) : mix_whole(&s));
    return project(&s, t->y, s.mix, s.out, s.d, s.d, 3, &y);
}

/* ---- binary64 ---- */

/* The number of q, k or v at column `at` of a token, turned by its place. */
static double turned(const ulp_layer *layer, const double *qkv, size_t t, size_t at, size_t turned_columns) {
    const size_t e = layer->in.w / layer->arg[HEADS], half = e / 2, i = at % e, pair = half ? i % half : 0;
    if (!layer->arg[ROTATED] || at >= turned_columns) return qkv[at];
    const double angle = (double)t * exp(-log(10000.0) * (double)(2 * pair) / (double)e);
    return i < half ? cos(angle) * qkv[at] - sin(angle) * qkv[at + half]
                    : cos(angle) * qkv[at] + sin(angle) * qkv[at - half];
}

/* to (T,n) = x (T,m) w (m,n). */
static void product64(double *to, const double *x, const double *w, size_t T, size_t m, size_t n) {
    for (size_t i = 0; i < T * n; i++) {
        to[i] = 0.0;
        for (size_t j = 0; j < m; j++) to[i] += x[i / n * m + j] * w[j * n + i % n];
    }
}

static void forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t T = layer->in.h, d = layer->in.w, H = layer->arg[HEADS], K = layer->arg[SHARED], e = d / H;
    const size_t w = (H + 2 * K) * e, rotated = (H + K) * e;
    double *qkv = calloc(2 * T * w + T * d + T, sizeof *qkv);
    double *plain = qkv + T * w, *mix = plain + T * w, *p = mix + T * d;
    for (size_t b = 0; b < B && qkv; b++) {
        product64(plain, t->x + b * T * d, t->w, T, d, w);
        for (size_t i = 0; i < T * w; i++) qkv[i] = turned(layer, plain + i / w * w, i / w, i % w, rotated);
        for (size_t h = 0; h < H; h++)
            for (size_t i = 0; i < T; i++) {
                const size_t seen = layer->arg[CAUSAL] ? i + 1 : T, k = H * e + h * K / H * e, v = k + K * e;
                double sum = 0.0;
                for (size_t j = 0; j < seen; j++) {
                    double score = 0.0;
                    for (size_t f = 0; f < e; f++) score += qkv[i * w + h * e + f] * qkv[j * w + k + f];
                    sum += p[j] = exp(score / sqrt((double)e));
                }
                for (size_t f = 0; f < e; f++) {
                    mix[i * d + h * e + f] = 0.0;
                    for (size_t j = 0; j < seen; j++) mix[i * d + h * e + f] += p[j] / sum * qkv[j * w + v + f];
                }
            }
        product64(t->y + b * T * d, mix, t->w + d * w, T, d, d);
    }
    free(qkv);
}

const ulp_layer_kind ulp_layer_attn = {
    .name = "attn",
    .usage =
        "attnH: attention with H heads; options, each after a colon: causal; kv=K heads of keys and values; rope or "
        "rope=FORMAT turns q and k by their places; block=B keys at a time; with it integer maxima, beta=B times "
        "the maximum is subtracted; base2. causal, rope and base2 may be words of their own",
    .takes = "tokens (an image of one channel, whose rows are the tokens) whose number of features H divides, and 2 H "
             "with rope; in fewer than 1000 blocks",
    .example = "attn2:kv=1:rope tanh attn2 causal attn1:block=3:integer:base2 causal attn2:block=2:beta=1.1",
    .modifiers = "causal rope base2",
    .products = 3,
    .casts = 1,
    .operation = ULP_OPERATION_ATTENTION,
    .reads = ULP_READS_INPUT,
    .shape = shape,
    .init = init,
    .init_state = init_state,
    .forward = forward,
    .backward = ulp_attention_backward,
    .forward64 = forward64,
};

/* optim.h - optimizers and rate schedules: every operation of an update is rounded once, at a declared point.
 *
 * An update starts from dw, the gradient of the loss times 2^k. Each arrow is one rounding of an exact right-hand side:
 *
 *   g <- dw 2^-k                 into the state format (exact in binary32, but for its subnormals)
 *   g <- c g                     into the state format, if the optimizer clips and the coefficient c is not 1; with
 *                                clip-at=scaled this step comes first, g <- c dw and then g <- g 2^-k
 *   g <- decay w + g             into the state format, if decay is not 0 and the kind is not adamw; w are the master
 *                                weights if there are any
 *   d, a direction               all steps into the state format:
 *     sgd    v <- momentum v + g     if momentum is not 0; d = v, else d = g
 *     adam   t <- (1 - beta1) g      m <- beta1 m + t
 *            s <- g g                t <- (1 - beta2) s       v <- beta2 v + t
 *            q <- sqrt(v)            q <- q + eps'            d <- m / q
 *   w <- -(rate decay) w + w     adamw, if decay is not 0; rounded like the line below
 *   w <- -rate' d + w            into the master format, then weights <- w into the weight format;
 *                                without master weights directly into the weight format
 *
 * With kahan=1, these steps, all into the weight format, replace the steps of w. c is the part of the updates that the
 * weights have not taken yet; c starts at 0:
 *
 *   y <- -rate' d + c            y <- -(rate decay) w + y for adamw
 *   s <- w + y                   e <- s - w              c <- y - e              w = s
 *
 *  - sgd: rate' = rate. v is PyTorch's momentum buffer.
 *  - adam: Kingma and Ba 2015, arXiv:1412.6980, algorithm 1 in the order of the end of section 2. j is the number of
 *    updates, this update included, and 1 - beta^j is computed in binary64. The bias corrections are
 *    rate' = rate sqrt(1 - beta2^j) / (1 - beta1^j) and eps' = eps sqrt(1 - beta2^j). The arrays hold m and v without
 *    the corrections: nothing hides a product g g that underflows in the state format. Where v is 0, d is m / eps'.
 *  - adamw: Loshchilov and Hutter 2019, arXiv:1711.05101. As in PyTorch, the weights decay before the step, and the
 *    decay is multiplied by the scheduled rate.
 *  - kahan: Zamirai et al. 2020, arXiv:2010.06192, updates with Kahan summation. Here -rate' d + c is rounded once, and
 *    c has the opposite sign.
 *
 * The constants of an update are binary64 numbers that are rounded once to binary32. beta1 and beta2 are rounded first,
 * so that 1 - beta is exact for beta of 1/2 or more.
 *
 * The key decays says which parameters decay: `all`, or `weights`, which leaves out biases and the parameters of
 * normalisations (ulp_layer.decays).
 *
 * clip=C limits the norm of the gradients of all parameters together, Pascanu et al. 2013, arXiv:1211.5063, with
 * PyTorch's coefficient c = min(1, C / (norm + 1e-6)). The norm is the root of the sum of the squares of dw 2^-k, or of
 * dw itself with clip-at=scaled: the known fault of clipping before unscaling. The squares are summed in binary64 in a
 * fixed order (kernels/functions/squares.h; the chunks of a span follow each other, and so do the spans). Norm and c
 * are computed in binary64, and c is rounded once to binary32. An infinite gradient gives c = 0, and NaN gives NaN.
 * With ranks the norm is that of the mean. Where layers have loss scales of their own, clip-at=scaled is refused.
 *
 * limit=C keeps the parameters that decay within -C .. C: after the steps of w, w <- min(C, max(-C, w)), rounded like
 * them. Weights of one bit are the signs of weights within -1 .. 1 (Courbariaux, Bengio and David 2015,
 * arXiv:1511.00363, section 2.4): a weight outside would not move any more. It is refused with kahan=1.
 *
 * The rate of step t is computed in binary64 (elementary.h; the same on every machine). Steps are counted from 0, and
 * skipped steps are counted, too:
 *
 *   rate  min(1, (t + 1) / warmup)  (floor + (1 - floor) (1 + cos(pi min(1, t / cosine))) / 2)  factor^[t / every]
 *
 * Only the factors that the rule names take part. Warm-up: Goyal et al. 2017, arXiv:1706.02677, 2.2. Cosine: Loshchilov
 * and Hutter 2017, arXiv:1608.03983, equation 5, to the share `floor` of the rate (0) and without restarts.
 *
 * accumulate=N:FORMAT[/MODE] divides the batch of a step into N micro-batches and rounds the sum of their gradients
 * (train.h).
 *
 * The text of a rule is NAME, then key=value pairs between commas: "sgd,rate=0.1,momentum=0.9",
 * "adam,rate=1e-3,warmup=100". ulp_optimizer_help() lists the keys.
 */
#ifndef ULP_OPTIM_H
#define ULP_OPTIM_H

#include "base/error.h"
#include "sim/net.h"
#include "sim/tensor.h"

ULP_C_BEGIN

typedef struct ulp_optimizer_kind ulp_optimizer_kind;

/* The settings of an optimizer. */
typedef struct ulp_optimizer_rule {
    const ulp_optimizer_kind *kind;
    double rate, momentum, decay, beta1, beta2, eps;
    double factor;                  /* multiplies the rate after every `every` steps */
    double floor;                   /* share of the rate that a cosine leaves */
    double clip;                    /* the largest norm of the gradients; 0: none */
    double limit;                   /* the largest magnitude of weights; 0: none */
    uint32_t accumulate;            /* micro-batches of a step; 0: the batch is whole */
    ulp_cast sum;                   /* of the gradients of micro-batches */
    uint32_t warmup, cosine, every; /* steps; 0: none */
    uint8_t kahan;
    uint8_t clip_scaled;    /* 1: clip-at=scaled */
    uint8_t decays_weights; /* 1: decays=weights */
} ulp_optimizer_rule;

typedef struct ulp_optimizer ulp_optimizer;
typedef struct ulp_update_plan ulp_update_plan; /* update.h */

/* A kind of optimizer is a const ulp_optimizer_kind ulp_optimizer_NAME that a file of sim/optim exports; the Makefile
 * makes the table from the files of the folder. */
struct ulp_optimizer_kind {
    const char *name, *what;
    const ulp_key *keys; /* of this kind alone */
    uint8_t decoupled;   /* 1: decay shrinks the weights and is not added to the gradient */
    /* Carve the arrays (n) of this kind alone: momentum, squares. */
    void (*carve)(ulp_optimizer *optimizer, ulp_arena *arena);
    /* Append the steps that compute the direction of the update from the gradient g; returns the direction. *rate may
     * be corrected. */
    ulp_operand (*direction)(ulp_update_plan *plan, ulp_operand g, double *rate);
    ulp_optimizer_rule rule; /* the defaults of this kind; rule.kind is not set */
};

/* Parameters first .. first + n - 1, whose gradients carry the factor 2^scale_log2. */
typedef struct ulp_span {
    size_t first, n;
    int scale_log2;
} ulp_span;

/* Neighbouring parameters that are rounded in the same way, and that all decay or do not. */
typedef struct ulp_update_part {
    size_t first, n;     /* parameters first .. first + n - 1 */
    size_t first_master; /* index of their first master weight among the master weights */
    uint8_t has_master;
    uint8_t decays; /* 0: the decay of the rule leaves these parameters out */
    ulp_cast weight, state, master;
} ulp_update_part;

struct ulp_optimizer {
    ulp_optimizer_rule rule; /* may change between steps, but not so that other arrays are needed */
    uint64_t updates;        /* number of updates so far */
    double norm;             /* of the last update's gradients, before they were clipped; 0 without clipping */
    float coefficient;       /* by which they were multiplied; 1 without clipping */
    size_t n;
    float *weight;   /* (n) */
    float *master;   /* (masters), or NULL without master weights */
    float *momentum; /* (n): v of sgd, m of adam; NULL where sgd's momentum was 0 from the start */
    float *squares;  /* (n): v of adam, else NULL */
    float *lost;     /* (n): c of kahan, else NULL */
    size_t masters;  /* parameters with master weights */
    size_t parts;
    ulp_update_part whole, *part; /* the only part; or (parts) parts, NULL if `whole` is the only part */
};

enum { ULP_MICRO_MAX = 4096 }; /* micro-batches of a rank's step */

/* The i-th row of the table; NULL past the end. */
const ulp_optimizer_kind *ulp_optimizer_kind_get(size_t i);

/* The kinds that code names. */
extern const ulp_optimizer_kind ulp_optimizer_sgd, ulp_optimizer_adam;

/* The row of that name; NULL if there is none. */
const ulp_optimizer_kind *ulp_optimizer_kind_find(const char *name);

/* The rule of a kind with all its defaults. */
ulp_optimizer_rule ulp_optimizer_rule_of(const ulp_optimizer_kind *kind);

/* The rule that `text` describes. On failure `error` (may be NULL) gets a sentence that lists the known words. */
ulp_status ulp_optimizer_parse(ulp_optimizer_rule *rule, const char *text, ulp_error *error);

/* The reference text of `ulp help optimizers`. */
void ulp_optimizer_help(const ulp_help *to);

/* An optimizer for a policy, without arrays. kahan needs a policy without master weights; with them the status is
 * ULP_BAD_NAME, and `error` (may be NULL) gets a sentence. */
ulp_status ulp_optimizer_init(ulp_optimizer *optimizer, const ulp_optimizer_rule *rule, const ulp_policy *policy,
                              ulp_error *error);

/* Give each layer of a net the policy of its row (policy.h; NULL: the policy of all layers), and find the parameters
 * that decay; before this all decay. Status and sentence are those of ulp_optimizer_init(), or ULP_NO_MEMORY. */
ulp_status ulp_optimizer_divide(ulp_optimizer *optimizer, const ulp_net *net, const ulp_layer_policy *rows,
                                ulp_error *error);
void ulp_optimizer_release(ulp_optimizer *optimizer);

/* The number of parts that ulp_optimizer_divide() has room for; 0 if it divides nothing. */
size_t ulp_optimizer_parts(const ulp_optimizer_rule *rule, size_t layers, int has_rows);

/* The rate of step t under the rule's schedule. */
double ulp_rate_at(const ulp_optimizer_rule *rule, uint64_t t);

/* Carve the arrays for n parameters (it runs twice, see tensor.h). */
void ulp_optimizer_carve(ulp_optimizer *optimizer, ulp_arena *arena, size_t n);

/* Start from w (n), host memory. w is rounded to the master weights, and the master weights are rounded to the weights.
 * Without master weights w is rounded to the weights. */
ulp_status ulp_optimizer_start(ulp_optimizer *optimizer, ulp_pass *pass, const float *w);

/* Round weights that have a tensor scale from the master weights; the weights of each layer are one tensor. Then the
 * weights do not change until the next step, and the backend may keep what it derives from them. */
ulp_status ulp_optimizer_scale_weights(const ulp_optimizer *optimizer, ulp_pass *pass, const ulp_net *net);

/* Exchange the ways in which two optimizers of one net round and divide its parameters; the arrays stay. */
void ulp_optimizer_exchange(ulp_optimizer *a, ulp_optimizer *b);

/* Round the weights anew before step pass->now.step: master weights to their format, then the weights from them, as
 * ulp_optimizer_start() does, with random words of their own; then as ulp_optimizer_scale_weights(). */
ulp_status ulp_optimizer_round_weights(ulp_optimizer *optimizer, ulp_pass *pass, const ulp_net *net);

/* Set the initial weights of a net (ulp_net_init() with the seed of the pass), and its state (states) in backend
 * memory. ULP_NO_MEMORY. */
ulp_status ulp_optimizer_start_net(ulp_optimizer *optimizer, ulp_pass *pass, const ulp_net *net, float *state,
                                   double std);

/* w (n) = the weights to which updates are added: master weights where there are any, else the weights. Host memory. */
ulp_status ulp_optimizer_masters(const ulp_optimizer *optimizer, const ulp_backend *backend, float *w);

/* One update from dw (n), in one pass over memory. The spans cover all parameters and give the scale of their
 * gradients; each lies in one layer. Without spans all gradients carry 2^pass->now.scales.log2. */
ulp_status ulp_optimizer_step(ulp_optimizer *optimizer, ulp_pass *pass, const float *dw, const ulp_span *span,
                              size_t spans);

ULP_C_END
#endif

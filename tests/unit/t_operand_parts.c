/* t_operand_parts.c - products of elements and scales in layers: the sums of matrix units recomputed by ulp_dot(), and
 * layers with weights of one or two bits against layers that have these numbers as weights.
 */
#include "layering.h"

#include "kernels/functions/low_bit.h"
#include "kernels/products/datapath.h"
#include "sim/policy/operand_parts.h"

#include <math.h>

enum { B = 3, ROWS = 4, M = 48, OUT = 6, ALL = B * ROWS, MOST = 8192 };

/* An operand as elements (sums,length), scales of blocks, of sums and of the tensor. */
typedef struct part {
    float element[MOST], scale[MOST];
    float factor;
} part;

static float gathered[MOST];

/* Turns x (rows,columns) so that the sums are rows. */
static const float *sums_as_rows(const float *x, size_t rows, size_t columns) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) gathered[j * rows + i] = x[i * columns + j];
    return gathered;
}

/* The parts of sums (sums,length) in blocks; size 0: one block for a sum. */
static void blocks(part *p, const float *x, size_t sums, size_t length, const char *name, int tensor_scale) {
    ulp_block_cast c = {.has_tensor_scale = (uint8_t)tensor_scale};
    assert_ok(ulp_block_parse(&c.block, name));
    assert_ok(ulp_block_cast_elements(p->element, p->scale, &p->factor, x, sums, length, &c));
}

/* One power of two for the tensor, and the numbers in a format. */
static void scaled(part *p, const float *x, size_t n, const char *name) {
    ulp_format f;
    float most = 0.0f;
    assert_ok(ulp_format_parse(&f, name));
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(x[i]));
    int k = -200;
    while (ldexp(f.max, k) < (double)most) k++; /* the least power of two that holds the largest number */
    p->factor = (float)ldexp(1.0, k);
    for (size_t i = 0; i < n; i++) p->element[i] = (float)ulp_round(ldexp((double)x[i], -k), &f, (ulp_rule){0}, 0);
}

/* The sum of products of row i of a and row j of b, by the datapath. */
static double dot(const ulp_datapath *d, double start, const part *a, const part *b, size_t i, size_t j, size_t k) {
    double x[256], y[256], s[256], t[256];
    const size_t n = d->scale_block ? (k + d->scale_block - 1) / d->scale_block : 0;
    for (size_t m = 0; m < k; m++) x[m] = (double)a->element[i * k + m], y[m] = (double)b->element[j * k + m];
    for (size_t m = 0; m < n; m++) s[m] = (double)a->scale[i * n + m], t[m] = (double)b->scale[j * n + m];
    return ulp_dot(d, start, (ulp_products){x, y, k, n ? s : NULL, n ? t : NULL}, (ulp_stream){0});
}

static void close_to(const char *what, float have, double want) {
    if (ulp_bits32(have) != ulp_bits32((float)want)) fail_msg("%s: %a, not %a", what, (double)have, want);
}

/* start + sum scale, rounded once. */
static double plus(double start, double sum, double scale) { return (double)(float)fma(sum, scale, start); }

/* ---- matrix units ---- */

static part a, b;

/* A layer lin under a policy: y, dw and dx of a unit, from parts that `split` makes. */
typedef struct unit_case {
    const char *policy, *forward, *backward;
    const char *x, *w, *g;    /* block formats, or formats with a power of two for the tensor */
    int is_block, has_tensor; /* blocks; with a tensor scale */
    int is_row;               /* blocks are whole sums: their scales stay outside */
} unit_case;

static void split(part *p, const unit_case *c, const float *x, size_t sums, size_t length, const char *name) {
    if (c->is_block) blocks(p, x, sums, length, name, c->has_tensor);
    else scaled(p, x, sums * length, name);
}

static double scale_of(const unit_case *c, size_t i, size_t j) {
    const float both = c->is_row ? a.scale[i] * b.scale[j] : 1.0f, factor = a.factor * b.factor;
    return (double)(both * factor);
}

static void check_unit(const unit_case *c) {
    ulp_datapath forward, backward;
    rig r;
    rig_start(&r, "lin6", (ulp_dims){1, ROWS, M}, B, c->policy);
    assert_ok(ulp_datapath_parse(&forward, c->forward));
    assert_ok(ulp_datapath_parse(&backward, c->backward));
    const float *bias = r.w + M * OUT;
    for (size_t j = 0; j < OUT; j++) r.w[M * OUT + j] = 0.1f * (float)j - 0.3f;
    rig_forward(&r);
    rig_backward(&r);
    split(&a, c, rig_input(&r), ALL, M, c->x);
    split(&b, c, sums_as_rows(r.w, M, OUT), OUT, M, c->w);
    const int inside = c->is_block && !c->has_tensor && !c->is_row; /* the unit starts at the bias */
    for (size_t i = 0; i < ALL; i++)
        for (size_t j = 0; j < OUT; j++) {
            const double start = (double)bias[j],
                         y = inside ? dot(&forward, start, &a, &b, i, j, M)
                                    : plus(start, dot(&forward, 0.0, &a, &b, i, j, M), scale_of(c, i, j));
            close_to(c->policy, rig_output(&r)[i * OUT + j], y);
        }
    /* dw = x' g */
    split(&a, c, sums_as_rows(rig_input(&r), ALL, M), M, ALL, c->x);
    split(&b, c, sums_as_rows(rig_output_gradient(&r), ALL, OUT), OUT, ALL, c->g);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < OUT; j++)
            close_to("dw", r.model.wgrad[i * OUT + j],
                     plus(0.0, dot(&backward, 0.0, &a, &b, i, j, ALL), scale_of(c, i, j)));
    /* dx = g w' */
    split(&a, c, rig_output_gradient(&r), ALL, OUT, c->g);
    split(&b, c, r.w, M, OUT, c->w);
    if (strcmp(c->x, c->g) != 0) assert_ok(ulp_datapath_parse(&backward, "h100-e5m2.e4m3"));
    for (size_t i = 0; i < ALL; i++)
        for (size_t j = 0; j < M; j++)
            close_to("dx", r.model.grad[0][i * M + j],
                     plus(0.0, dot(&backward, 0.0, &a, &b, i, j, OUT), scale_of(c, i, j)));
    rig_end(&r);
}

#define SIX(c) "fwd.x=" c ",fwd.w=" c ",dgrad.g=" c ",dgrad.w=" c ",wgrad.x=" c ",wgrad.g=" c

TEST(units) {
    static const unit_case cases[] = {
        {"fp32," SIX("mxfp8") ",acc=b200-e4m3-mx", "b200-e4m3-mx", "b200-e4m3-mx", "mxfp8", "mxfp8", "mxfp8", 1, 0, 0},
        {"fp32," SIX("mxfp4") ",acc=b200-e2m1-mxf4", "b200-e2m1-mxf4", "b200-e2m1-mxf4", "mxfp4", "mxfp4", "mxfp4", 1,
         0, 0},
        {"fp32," SIX("nvfp4") ",acc=b200-e2m1-nvf4", "b200-e2m1-nvf4", "b200-e2m1-nvf4", "nvfp4", "nvfp4", "nvfp4", 1,
         1, 0},
        {"fp32," SIX("nvfp4") ",acc=rtx5090-e2m1-nvf4", "rtx5090-e2m1-nvf4", "rtx5090-e2m1-nvf4", "nvfp4", "nvfp4",
         "nvfp4", 1, 1, 0},
        {"fp32," SIX("mxfp8:99:noclip") ",acc=h100-e4m3", "h100-e4m3", "h100-e4m3", "mxfp8:99:noclip",
         "mxfp8:99:noclip", "mxfp8:99:noclip", 1, 0, 1},
        {"fp32," SIX("e4m3@amax") ",acc=h100-e4m3", "h100-e4m3", "h100-e4m3", "e4m3", "e4m3", "e4m3", 0, 0, 0},
        /* the gradient is e5m2: wgrad is formed as its transpose */
        {"fp8-tensorwise,weight=fp32,act=fp32,wgrad=fp32,agrad=fp32,fwd=h100-e4m3,bwd=h100-e5m2.e4m3", "h100-e4m3",
         "h100-e4m3.e5m2", "e4m3", "e4m3", "e5m2", 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) check_unit(&cases[i]);
}

/* Integers: products of codes, sums of 32 bits, one scale. */
TEST(integers) {
    static const char *const policies[] = {
        "fp32,fwd.x=int8@amax,fwd.w=int8@amax,fwd=int8", "fp32,fwd.x=int8@amax,fwd.w=int4@amax,fwd=vnni-int16",
        "fp32,fwd.x=int8@amax,fwd.w=sign,fwd=int8", "fp32,fwd.x=int8@amax,fwd.w=xnor,fwd=int8",
        "fp32,fwd.x=int4@amax,fwd.w=ternary,fwd=int8:sat"};
    for (size_t p = 0; p < COUNT_OF(policies); p++) {
        rig r;
        rig_start(&r, "lin6", (ulp_dims){1, ROWS, M}, B, policies[p]);
        rig_forward(&r);
        scaled(&a, rig_input(&r), ALL * M, p == 4 ? "int4" : "int8");
        if (p < 2) {
            scaled(&b, sums_as_rows(r.w, M, OUT), OUT * M, p == 1 ? "int4" : "int8");
        } else {
            const ulp_low_bit how = {.kind = (uint8_t)(p - 2), .along = ULP_ALONG_ROWS, .threshold = 0.7};
            static double work[2 * OUT + 1];
            const float *w = sums_as_rows(r.w, M, OUT);
            assert_ok(ulp_backend_low_bit(r.pass.run.backend, b.element, b.scale, work, w, OUT, M, &how));
            b.factor = 1.0f;
        }
        for (size_t i = 0; i < ALL; i++)
            for (size_t j = 0; j < OUT; j++) {
                const float outside = p == 3 ? b.scale[j] : p == 4 ? b.scale[0] : 1.0f;
                int32_t sum = 0;
                for (size_t k = 0; k < M; k++) sum += (int32_t)a.element[i * M + k] * (int32_t)b.element[j * M + k];
                const double y =
                    plus((double)r.w[M * OUT + j], (double)(float)sum, (double)(outside * (a.factor * b.factor)));
                close_to(policies[p], rig_output(&r)[i * OUT + j], y);
            }
        rig_end(&r);
    }
}

/* A unit of integers has no NaN: an operand with one makes all sums NaN, and no error. */
TEST(nan_in_integers) {
    rig r;
    rig_start(&r, "lin6", (ulp_dims){1, ROWS, M}, B, "fp32,fwd.x=int8@amax,fwd.w=sign,fwd=int8");
    rig_input(&r)[5] = NAN;
    rig_forward(&r);
    for (size_t i = 0; i < ALL * OUT; i++) assert_true(isnan(rig_output(&r)[i]));
    rig_end(&r);
}

/* ---- weights of one or two bits ---- */

/* Weights (rows,columns) as their values. */
static void cast_weights(float *w, size_t rows, size_t columns, int kind, ulp_along along, ulp_stream stream,
                         int stochastic) {
    const ulp_low_bit how = {.kind = (uint8_t)kind,
                             .along = (uint8_t)along,
                             .values = 1,
                             .threshold = 0.7,
                             .stochastic = (uint8_t)stochastic,
                             .stream = stream};
    static float scale[MOST];
    static double work[2 * MOST + 1];
    const ulp_backend *cpu;
    assert_ok(ulp_backend_get(&cpu, NULL));
    assert_ok(ulp_backend_low_bit(cpu, w, scale, work, w, rows, columns, &how));
}

/* Nets of one layer; the weights are `count` matrices (rows,columns), whose outputs lie along rows or columns. */
static const struct {
    const char *net;
    ulp_dims in;
    size_t count, rows, columns;
    ulp_along along; /* of the numbers of a sum */
} layers[] = {{"fc7", {1, 5, 9}, 1, 45, 7, ULP_ALONG_COLUMNS},
              {"lin6", {1, 4, 12}, 1, 12, 6, ULP_ALONG_COLUMNS},
              {"conv6@3p1g2", {4, 5, 5}, 2, 3, 18, ULP_ALONG_ROWS},
              {"conv4@2s2nobias", {3, 6, 6}, 1, 4, 12, ULP_ALONG_ROWS},
              {"tconv6@3s2p1g2", {4, 4, 4}, 2, 2, 27, ULP_ALONG_ROWS}};

TEST(low_bit_weights) {
    static const char *const policies[] = {"binaryconnect", "xnor", "ternary",
                                           "binaryconnect,fwd.w=sign/sr,dgrad.w=sign/sr"};
    static float w[MOST], y[MOST], dx[MOST], dw[MOST];
    for (size_t l = 0; l < COUNT_OF(layers); l++)
        for (int p = 0; p < 4; p++) {
            const size_t size = layers[l].rows * layers[l].columns;
            rig cast, plain;
            rig_start(&cast, layers[l].net, layers[l].in, B, policies[p]);
            const size_t params = cast.model.net.params, ins = B * ulp_dims_size(layers[l].in),
                         outs = B * ulp_dims_size(cast.model.net.out);
            assert_true(params >= layers[l].count * size && params <= MOST);
            memcpy(w, cast.w, params * sizeof *w);
            rig_forward(&cast);
            rig_backward(&cast);
            memcpy(y, rig_output(&cast), outs * sizeof *y);
            memcpy(dx, cast.model.grad[0], ins * sizeof *dx);
            memcpy(dw, cast.model.wgrad, params * sizeof *dw);
            rig_end(&cast);
            for (size_t k = 0; k < layers[l].count; k++) {
                const ulp_stream words = {11, ulp_stream_id(ULP_USE_OPERAND + ULP_FORWARD_W, 0, 0, 3 | k << 28), 0};
                cast_weights(w + k * size, layers[l].rows, layers[l].columns, p % 3, layers[l].along, words, p == 3);
            }
            rig_start(&plain, layers[l].net, layers[l].in, B, "fp32");
            memcpy(plain.w, w, params * sizeof *w);
            rig_forward(&plain);
            rig_backward(&plain);
            if (memcmp(y, rig_output(&plain), outs * sizeof *y) != 0) fail_msg("%s %s: y", layers[l].net, policies[p]);
            if (memcmp(dx, plain.model.grad[0], ins * sizeof *dx) != 0)
                fail_msg("%s %s: dx", layers[l].net, policies[p]);
            if (memcmp(dw, plain.model.wgrad, params * sizeof *dw) != 0)
                fail_msg("%s %s: dw", layers[l].net, policies[p]);
            rig_end(&plain);
        }
}

/* Scores under sign/sr are those of the weights themselves. */
TEST(scores_of_drawn_signs) {
    static float want[B * 7];
    rig plain, drawn;
    rig_start(&plain, "fc7", (ulp_dims){1, 5, 9}, B, "fp32");
    rig_start(&drawn, "fc7", (ulp_dims){1, 5, 9}, B, "fp32,fwd.w=sign/sr");
    plain.pass.now.evaluation = drawn.pass.now.evaluation = 1;
    rig_forward(&plain);
    memcpy(want, rig_output(&plain), sizeof want);
    rig_forward(&drawn);
    assert_memory_equal(rig_output(&drawn), want, sizeof want);
    drawn.pass.now.evaluation = 0;
    rig_forward(&drawn);
    assert_true(memcmp(rig_output(&drawn), want, sizeof want) != 0);
    rig_end(&plain);
    rig_end(&drawn);
}

/* A convolution whose casts have scales of parts of the batch: the parts are the same for every number of threads. */
TEST(parts_of_the_batch) {
    static float want[64 * 16 * 64];
    static const int threads[] = {1, 2, 5};
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        rig r;
        ulp_threads_set(threads[i]);
        rig_start(&r, "conv16@3p1", (ulp_dims){32, 8, 8}, 64, "fp32,fwd.x=nvfp4,dgrad.g=e4m3@amax");
        for (size_t k = 0; k < 64 * 32 * 64; k++) rig_input(&r)[k] *= 1.0f + (float)(k / 2048);
        rig_forward(&r);
        if (i == 0) memcpy(want, rig_output(&r), sizeof want);
        assert_memory_equal(rig_output(&r), want, sizeof want);
        rig_end(&r);
    }
    ulp_threads_set(0);
}

/* ---- texts ---- */

TEST(texts) {
    static const struct {
        const char *text, *written; /* written NULL: refused */
    } casts[] = {{"sign", "sign/rne"},
                 {"sign/sr", "sign/sra"},
                 {"xnor", "xnor/rne"},
                 {"ternary", "ternary/rne"},
                 {"ternary:0.5", "ternary:0.5"},
                 {"nvfp4:eden:rht", "nvfp4:eden:rht/rne"},
                 {"nvfp4:rht32:eden", "nvfp4:eden:rht32/rne"},
                 {"xnor/sr", NULL},
                 {"sign/rd", NULL},
                 {"ternary:", NULL},
                 {"ternary:-1", NULL},
                 {"ternary:x", NULL},
                 {"nvfp4:eden/sr", NULL},
                 {"nvfp4:2d:eden", NULL},
                 {"nvfp4:2d:2d", NULL},
                 {"e4m3:eden", NULL},
                 {"signs", NULL}};
    for (size_t i = 0; i < COUNT_OF(casts); i++) {
        ulp_operand_cast c, again;
        ulp_error why = {0};
        char text[ULP_VALUE_MAX];
        const ulp_status status = ulp_operand_cast_read(&c, ULP_FORWARD_W, casts[i].text, &why);
        if ((status == ULP_OK) != (casts[i].written != NULL)) fail_msg("%s: %s", casts[i].text, why.text);
        if (status != ULP_OK) {
            if (!strstr(why.text, casts[i].text)) fail_msg("'%s' does not name %s", why.text, casts[i].text);
            continue;
        }
        ulp_operand_cast_write(text, sizeof text, &c);
        assert_string_equal(text, casts[i].written);
        assert_ok(ulp_operand_cast_read(&again, ULP_FORWARD_W, text, &why));
        assert_true(ulp_operand_casts_equal(&c, &again));
    }
}

/* Policies that a net does not fit, and a part of the sentence that says why. */
TEST(refusals) {
    static const struct {
        const char *net, *policy, *part;
    } bad[] = {
        {"lin6", "fp32,fwd=int8", "takes integers in q8.0"},
        {"lin6", "fp32,fwd.x=e4m3,fwd.w=sign,fwd=int8", "takes integers in q8.0"},
        {"lin6", "fp32,fwd=b200-e2m1-nvf4", "takes blocks of 16 numbers in e2m1 with scales in e4m3"},
        {"lin6", "mxfp8,acc=b200-e2m1-nvf4", "takes blocks of 16 numbers in e2m1"},
        {"lin6", "fp32," SIX("nvfp4:32") ",acc=b200-e2m1-nvf4", "takes blocks of 16 numbers"},
        {"lin6", "mxfp8,acc=h100-e4m3", "has no block scales and takes one scale for each sum of"},
        {"lin6", "fp32,fwd.x=e5m2@amax,fwd.w=e5m2@amax,fwd=h100-e4m3", "does not hold all elements of fwd.x=e5m2@amax"},
        {"lin6", "fp32,fwd.x=e4m3@amax,fwd=h100-e4m3", "does not hold all of weight=binary32"},
        {"lin6", "xnor,dgrad.g=int8@amax,wgrad.x=int8@amax,wgrad.g=int8@amax,bwd=int8", "scales along the sum"},
        {"conv4@2", "ternary,dgrad.g=int8@amax,wgrad.x=int8@amax,wgrad.g=int8@amax,bwd=int8", "which rearranges them"},
        {"rows gru4", "fp32," SIX("e4m3@amax") ",acc=h100-e4m3", "have no casts; gru.fwd=fp32 leaves it out"},
        {"lin6", "fp32,fwd.x=int8@amax,fwd.w=sign/sr,fwd=int8", "takes a datapath of any numbers"},
        {"lin6", "e4m3,fwd.w=sign/sr,fwd=h100-e4m3", "takes a datapath of any numbers"},
        {"fc6", "fp32,fwd.x=nvfp4:rht,fwd.w=nvfp4:rht32", "need the same Hadamard transform"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        static ulp_policy policy;
        ulp_error why = {0};
        ulp_net net;
        assert_ok(ulp_net_parse(&net, bad[i].net, (ulp_dims){1, 8, 64}, NULL));
        ulp_status status = ulp_policy_parse(&policy, bad[i].policy, &why);
        for (size_t k = 0; k < net.count && status == ULP_OK; k++)
            status =
                ulp_operand_lengths_check(policy.operand, &policy.forward, &policy.backward, &net.layers[k], 64, &why);
        if (status == ULP_OK) fail_msg("%s was accepted", bad[i].policy);
        if (!strstr(why.text, bad[i].part))
            fail_msg("%s: '%s' does not say '%s'", bad[i].policy, why.text, bad[i].part);
        ulp_net_release(&net);
    }
}

/* Signs of inputs and of weights, on a unit of integers. */
TEST(accepted) {
    static ulp_policy policy;
    ulp_net net;
    ulp_error why = {0};
    assert_ok(ulp_net_parse(&net, "fc6", (ulp_dims){1, 8, 64}, NULL));
    assert_ok(ulp_policy_parse(&policy, "fp32,fwd.x=xnor,fwd.w=ternary,fwd=int8", &why));
    if (ulp_operand_lengths_check(policy.operand, &policy.forward, &policy.backward, &net.layers[0], 64, &why) !=
        ULP_OK)
        fail_msg("%s", why.text);
    ulp_net_release(&net);
}

/* A transform that fits: the largest power of two up to 128 that divides the sum. */
TEST(transforms) {
    static const size_t lengths[][2] = {{256, 128}, {128, 128}, {64, 64}, {96, 32}, {65, 0}, {6, 2}, {1, 0}};
    ulp_operand_cast fits, fixed;
    assert_ok(ulp_operand_cast_read(&fits, 0, "nvfp4:rht", NULL));
    assert_ok(ulp_operand_cast_read(&fixed, 0, "nvfp4:rht16", NULL));
    for (size_t i = 0; i < COUNT_OF(lengths); i++)
        assert_int_equal(ulp_operand_transform(&fits, lengths[i][0]), lengths[i][1]);
    assert_int_equal(ulp_operand_transform(&fixed, 64), 16);
}

TESTS(NULL, NULL)

/* t_clipping.c - clipping of gradients by hand and in runs, and which parameters decay. */

#include "training.h"

/* ---- clipping ---- */

/* The gradients 3 and 4 have the norm 5; (12, 16) with the loss scale 4 have the norm 20 before they are unscaled. */
TEST(clipping_by_hand) {
    static const struct {
        const char *text;
        double c; /* before its rounding to binary32 */
    } cases[] = {{"sgd,rate=1,clip=1", 1 / (5 + 1e-6)},
                 {"sgd,rate=1,clip=4.5", 4.5 / (5 + 1e-6)},
                 {"sgd,rate=1,clip=5", 5 / (5 + 1e-6)},
                 {"sgd,rate=1,clip=6", 1},
                 {"sgd,rate=1,clip=0", 1},
                 {"sgd,rate=1,clip-at=scaled", 1},
                 {"sgd,rate=1,clip=6,clip-at=unscaled", 1},
                 {"sgd,rate=1,clip=6,clip-at=scaled", 6 / (20 + 1e-6)},
                 {"sgd,rate=1,clip=21,clip-at=scaled", 1}};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        ulp_policy policy;
        double wide[1], host[1];
        float memory[2] = {0, 0}, dw[2] = {12, 16};
        ulp_pass pass = {.run = {.policy = &policy}, .scratch = {.wide = wide, .host = host}};
        ulp_optimizer o;
        assert_ok(ulp_policy_parse(&policy, "fp32", NULL));
        assert_ok(ulp_backend_get(&pass.run.backend, "cpu"));
        if (optimizer_from_text(&o, cases[k].text, &policy, &error) != ULP_OK) fail_msg("%s", error.text);
        o.n = 2;
        o.weight = memory;
        pass.now.scales.log2 = 2;
        assert_ok(ulp_optimizer_step(&o, &pass, dw, NULL, 0));
        const float c = (float)cases[k].c;
        if (memory[0] != -(3 * c) || memory[1] != -(4 * c))
            fail_msg("%s: %a and %a", cases[k].text, (double)memory[0], (double)memory[1]);
        assert_true(o.coefficient == c && o.norm == (o.rule.clip == 0.0 ? 0.0 : o.rule.clip_scaled ? 20.0 : 5.0));
        /* Inf gives 0 for the others and NaN for itself, NaN gives NaN */
        dw[0] = INFINITY;
        memory[0] = memory[1] = 0;
        assert_ok(ulp_optimizer_step(&o, &pass, dw, NULL, 0));
        if (o.rule.clip > 0) assert_true(o.coefficient == 0 && isnan(memory[0]) && memory[1] == 0);
        dw[0] = NAN;
        assert_ok(ulp_optimizer_step(&o, &pass, dw, NULL, 0));
        if (o.rule.clip > 0) assert_true(isnan(o.coefficient) && isnan(memory[1]));
    }
}

/* A run clips like its optimizer: the norm of a step is that of the gradients, whatever the loss scale. */
TEST(clipping_in_a_run) {
    double norm[3];
    for (int k = 0; k < 3; k++) {
        ulp_step s;
        training_texts o = {.net = "fc16 relu fc10",
                            .scaler = k == 0   ? "none"
                                      : k == 1 ? "static:7"
                                               : "layer",
                            .optimizer = "sgd,rate=0.1,clip=0.25",
                            .batch = 32,
                            .seed = 1};
        ulp_trainer *t = trainer_of(&digits, &o);
        double sum = 0;
        assert_ok(ulp_trainer_step(t, &s));
        for (size_t i = 0; i < t->model.net.params; i++) sum += (double)t->model.wgrad[i] * (double)t->model.wgrad[i];
        norm[k] = s.norm;
        if (k < 2) assert_true(fabs(sqrt(sum) / s.norm / (k ? 128 : 1) - 1) < 1e-12);
        assert_true(s.coefficient == (double)(float)(0.25 / (s.norm + 1e-6)) && s.coefficient < 1);
        ulp_trainer_free(t);
    }
    assert_true(norm[0] == norm[1] && fabs(norm[2] / norm[0] - 1) < 1e-6);
    training_texts bad = {
        .net = "fc10", .scaler = "layer", .optimizer = "sgd,clip=1,clip-at=scaled", .batch = 32, .seed = 1};
    assert_int_equal(check_texts(&digits, &bad, &error), ULP_UNSUPPORTED);
    assert_non_null(strstr(error.text, "clip-at=scaled with scaler layer"));
}

/* The oracle trains with the bits of the processor. */
TEST(clipping_by_the_oracle) {
    static const char *const optimizers[] = {"adamw,rate=0.05,decay=0.1,clip=0.05,decays=weights",
                                             "sgd,rate=0.1,clip=0.5,clip-at=scaled,accumulate=4:bf16/sr"};
    const ulp_backend *mpfr;
    if (ulp_backend_get(&mpfr, "mpfr") != ULP_OK) skip();
    for (size_t k = 0; k < COUNT_OF(optimizers); k++) {
        training_texts o = {.net = "fc70 tanh fc10", /* more than a chunk of squares */
                            .policy = "mixed:bf16,mode=sr",
                            .scaler = "static:3",
                            .optimizer = optimizers[k],
                            .batch = 8,
                            .seed = 1};
        ulp_trainer *a = trainer_of(&digits, &o);
        o.backend = mpfr;
        ulp_trainer *b = trainer_of(&digits, &o);
        for (int i = 0; i < 3; i++) {
            ulp_step s, u;
            assert_ok(ulp_trainer_step(a, &s));
            assert_ok(ulp_trainer_step(b, &u));
            assert_true(s.loss == u.loss && s.norm == u.norm && s.coefficient == u.coefficient && s.coefficient < 1);
        }
        assert_memory_equal(a->optimizer.weight, b->optimizer.weight, a->model.net.params * sizeof(float));
        assert_memory_equal(a->optimizer.master, b->optimizer.master, a->model.net.params * sizeof(float));
        ulp_trainer_free(a);
        ulp_trainer_free(b);
    }
}

/* ---- which parameters decay ---- */

/* Whether parameter i of a layer decays, by the layout that the layer's own file describes. */
static int decays(const ulp_layer *l, size_t i) {
    const size_t in = ulp_dims_size(l->in), F = l->in.c, H = l->out.c;
    if (strncmp(l->word, "fc", 2) == 0) return i < in * H;
    if (strstr(l->word, "nobias")) return 1;
    if (strncmp(l->word, "conv", 4) == 0 || strncmp(l->word, "tconv", 5) == 0) return i < l->params - H;
    if (strncmp(l->word, "rnn", 3) == 0) return i < (F + H) * H;
    if (strncmp(l->word, "lstm", 4) == 0) return i < (F + H) * 4 * H;
    if (strncmp(l->word, "gru", 3) == 0) return i < l->params - 4 * H;
    if (strncmp(l->word, "bigru", 5) == 0) return i % (l->params / 2) < l->params / 2 - 2 * H;
    return 0; /* normalisations */
}

/* Under decays=weights a step is the step with decay for the weights, and the step without decay for the others. */
TEST(decay_masks) {
    static const char *const nets[] = {"conv4@3p1 bn relu pool2 fc8 tanh fc10", "tconv3@2s2 relu fc10",
                                       "conv4@3p1nobias fc10", "columns2 bigru3 gru4 lstm5 rnn3 last fc10"},
                             *const policies[] = {"fp32", "mixed:bf16,first.master=tf32,mode=sr",
                                                  "bf16,last.weight=fp16,last.master=fp32"},
                             *const scalers[] = {"none", "layer"},
                             *const kinds[] = {"sgd,rate=0.5,decay=0.25", "adamw,rate=0.5,decay=0.25",
                                               "adam,rate=0.5,decay=0.25"};
    static float w[3][16384];
    size_t counts[2] = {0};
    for (size_t k = 0; k < COUNT_OF(nets) * COUNT_OF(policies) * COUNT_OF(scalers) * COUNT_OF(kinds); k++) {
        const char *const kind = kinds[k / (COUNT_OF(nets) * COUNT_OF(policies) * COUNT_OF(scalers))];
        training_texts o = {.net = nets[k % COUNT_OF(nets)],
                            .policy = policies[k / COUNT_OF(nets) % COUNT_OF(policies)],
                            .scaler = scalers[k / (COUNT_OF(nets) * COUNT_OF(policies)) % COUNT_OF(scalers)],
                            .batch = 8,
                            .seed = 2,
                            .init_std = 0.3};
        ulp_trainer *t = NULL;
        for (int way = 0; way < 3; way++) { /* all decay, the weights, none */
            char text[80];
            snprintf(text, sizeof text, way == 2 ? "%.*s" : "%.*s,decay=0.25,decays=%s",
                     (int)(strchr(strchr(kind, ',') + 1, ',') - kind), kind, way ? "weights" : "all");
            if (way == 2 && strncmp(kind, "adamw", 5) == 0) snprintf(text, sizeof text, "adamw,rate=0.5,decay=0");
            o.optimizer = text;
            ulp_trainer_free(t);
            t = trainer_of(&digits, &o);
            assert_ok(ulp_trainer_step(t, NULL));
            assert_true(t->model.net.params <= COUNT_OF(w[0]));
            assert_ok(ulp_trainer_weights(t, NULL, w[way]));
        }
        for (size_t l = 0; l < t->model.net.count; l++)
            for (size_t i = 0; i < t->model.net.layers[l].params; i++) {
                const ulp_layer *layer = &t->model.net.layers[l];
                const size_t at = layer->first_param + i;
                const int decaying = decays(layer, i);
                if (ulp_bits32(w[1][at]) != ulp_bits32(w[decaying ? 0 : 2][at]))
                    fail_msg("%s, %s, %s: parameter %zu of %s", o.net, o.policy, kind, i, layer->word);
                counts[decaying] += w[0][at] != w[2][at];
            }
        ulp_trainer_free(t);
    }
    assert_true(counts[0] > 100 && counts[1] > 10000); /* biases and norms would decay, too */
}

/* The runs of every kind fit its parameters. */
TEST(decay_runs) {
    const ulp_layer_kind *kind;
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)) != NULL; i++) {
        ulp_net net;
        const size_t columns = strncmp(kind->example, "embed", 5) == 0 ? 1 : 4; /* tokens, or an image */
        assert_ok(ulp_net_parse(&net, kind->example, (ulp_dims){1, 4, columns}, &error));
        for (size_t l = 0; l < net.count; l++) {
            size_t sum = 0;
            for (size_t k = 0; k < ULP_DECAY_RUNS; k++) sum += net.layers[l].decays[k];
            assert_true(sum <= net.layers[l].params);
        }
        ulp_net_release(&net);
    }
}

TESTS(load_digits, free_digits)

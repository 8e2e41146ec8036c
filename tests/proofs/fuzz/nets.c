/* nets.c - texts of nets: the words of the layers, shapes, initial parameters, and automatic mixed precision. */
#include "sim/policy/amp.h"
#include "tests/proofs/fuzz/support/fuzz.h"

/* The first line is the shape of the inputs, as 1,8,8; the second is the net. */
static const char *shape_of(ulp_dims *in, const char *text) {
    unsigned c = 1, h = 8, w = 8;
    const char *end = strchr(text, '\n');
    if (end && sscanf(text, "%3u,%3u,%3u", &c, &h, &w) == 3 && c && h && w) *in = (ulp_dims){c, h, w};
    else *in = (ulp_dims){1, 8, 8};
    return end ? end + 1 : text;
}

static int is_valid(const char *text) {
    ulp_net net;
    ulp_dims in;
    const char *words = shape_of(&in, text);
    const int good = ulp_net_parse(&net, words, in, NULL) == ULP_OK;
    if (good) ulp_net_release(&net);
    return good;
}

static ulp_error error;

static ulp_text words_of(const ulp_net *net) {
    ulp_text words = {0};
    for (size_t i = 0; i < net->count; i++) ulp_text_print(&words, "%s%s", i ? " " : "", net->layers[i].word);
    return words;
}

static void see(void *context, const ulp_amp_line *line) {
    fuzz_check(line->word && line->what && line->why && line->bytes >= 0, "a line of amp");
    ++*(size_t *)context;
}

static void check_amp(const ulp_net *net, const char *text) {
    static ulp_amp amp;
    ulp_format f;
    size_t lines = 0;
    ulp_format_parse(&f, "binary16");
    ulp_error_clear(&error);
    const ulp_status status = ulp_amp_derive(&amp, net, &f, &error);
    fuzz_check_status(status, error.text, text);
    if (status != ULP_OK) return;
    static ulp_policy again;
    fuzz_check(ulp_policy_parse(&again, amp.text, &error) == ULP_OK, "'%s': policy '%s': %s", text, amp.text,
               error.text);
    const ulp_loss_kind *loss = NULL;
    if (ulp_loss_parse(&loss, "softmax", &error) == ULP_OK && net->count < 64)
        fuzz_check(ulp_amp_explain(&amp, net, loss, 4, see, &lines) != ULP_OK || lines > 0, "'%s': no lines", text);
}

static void check_start(const ulp_net *net, const char *text) {
    if (net->params > 1 << 16 || net->states > 1 << 16) return;
    float *w = calloc(net->params + net->states + 1, sizeof *w);
    ulp_net_init(net, w, net->states ? w + net->params : NULL, 7, 0.0);
    for (size_t i = 0; i < net->params + net->states; i++)
        fuzz_check(w[i] - w[i] == 0, "'%s': initial number %zu is %g", text, i, (double)w[i]);
    free(w);
}

static void run(const uint8_t *data, size_t size) {
    const char *text = fuzz_text(data, size);
    ulp_dims in;
    ulp_net net, again, copy;
    text = shape_of(&in, text);
    ulp_error_clear(&error);
    const ulp_status status = ulp_net_parse(&net, text, in, &error);
    fuzz_check_status(status, error.text, text);
    if (status != ULP_OK) {
        fuzz_check(net.count == 0 && !net.layers, "'%s' is refused, but the net is not empty", text);
        return;
    }
    fuzz_passed();
    fuzz_check(net.count >= 1 && net.count <= ULP_LAYERS_MAX, "'%s': %zu layers", text, net.count);
    ulp_text words = words_of(&net);
    fuzz_check(ulp_net_parse(&again, ulp_text_of(&words), in, &error) == ULP_OK, "'%s' is '%s': %s", text,
               ulp_text_of(&words), error.text);
    fuzz_check(again.count == net.count && again.params == net.params && again.widest == net.widest &&
                   memcmp(&again.out, &net.out, sizeof net.out) == 0,
               "'%s' is '%s', which is another net", text, ulp_text_of(&words));
    fuzz_check(ulp_net_copy(&copy, &net) == ULP_OK && copy.count == net.count, "'%s' cannot be copied", text);
    check_start(&net, text);
    check_amp(&net, text);
    ulp_net_release(&copy);
    ulp_net_release(&again);
    ulp_net_release(&net);
    ulp_text_free(&words);
}

static void seeds(void) {
    FUZZ_SEED_TEXTS("1,8,8\nconv8@3p1 bn relu fork conv8@3p1 bn relu conv8@3p1 bn join relu pool2 fc10",
                    "1,8,8\nrows gru32 last fc10", "1,8,8\nfork conv8@3s2p1 relu conv8@3p1 shortcut conv8@1s2 join",
                    "3,32,32\nconv4@5p2 sigmoid avg2 drop30 fc16 tanh fc10", "1,8,8\nrows lstm8 last leaky fc3",
                    "1,8,16\ncolumns bigru8 fc11", "1,4,4\nfc16 reshape4x2x2 up2 tconv2@3s2p1", "2,8,8\nrnn4 last",
                    "1,1,64\nfc2");
}

const fuzz_target fuzz_target_nets = {FUZZ_TEXT("nets", 600, 1 << 20, 256)};

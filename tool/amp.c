/* amp.c - ulp amp: the policy and the scaler that automatic mixed precision gives a network, and the reasons. */
#include "sim/policy/amp.h"
#include "tool.h"

#include <stdio.h>

typedef struct settings {
    const char *net, *input, *loss;
    ulp_format format;
    int64_t batch;
    int explain;
} settings;

static const ulp_option options[] = {
    ULP_OPTION(settings, net, text, NULL, .value_name = "TEXT", .topic = "nets", .needed = 1,
               .help = "the network, layer by layer"),
    ULP_OPTION(settings, format, format, NULL, .needed = 1,
               .help = "the low precision: a floating-point format with a sign"),
    ULP_OPTION(settings, input, text, "1x8x8", .value_name = "CxHxW",
               .help = "shape of a sample: channels, height, width; the default is that of the digits"),
    ULP_OPTION(settings, loss, text, "softmax", .value_name = "NAME", .topic = "losses", .help = "the loss"),
    ULP_OPTION(settings, batch, integer, "32", .help = "samples of a step, for casts and bytes", .min = 1, .max = 1e6),
    ULP_OPTION(settings, explain, flag, NULL,
               .help = "print a line for each layer and operation: list, formats, casts, bytes, why"),
    {0}};

static ulp_status read_shape(ulp_dims *to, const char *text, ulp_error *error) {
    const char *at = text;
    size_t n[3];
    for (int i = 0; i < 3; i++) {
        if (ulp_args_read(&n[i], &at, 1, 1 << 16) != ULP_OK || (i < 2 && *at++ != 'x') || (i == 2 && *at))
            return ulp_refuse(error,
                              "--input '%s': has to be CxHxW, three whole numbers from 1 to 65536 with x between "
                              "them, as 3x224x224",
                              text);
    }
    *to = (ulp_dims){n[0], n[1], n[2]};
    return ULP_OK;
}

static void print_count(char *to, size_t size, double n, const char *unit) {
    const char *const prefix[] = {"", "k", "M", "G", "T"};
    int i = 0;
    for (; n >= 9999.5 && i < 4; i++) n /= 1000;
    snprintf(to, size, i ? "%.4g %s%s" : "%.0f %s%s", n, prefix[i], unit);
}

static void print_line(void *context, const ulp_amp_line *line) {
    const size_t layers = *(const size_t *)context;
    char number[24] = "", casts[24], bytes[24];
    if (line->layer < layers && line->word[0] != 'i') snprintf(number, sizeof number, "%zu", line->layer);
    print_count(casts, sizeof casts, (double)line->casts, "");
    print_count(bytes, sizeof bytes, line->bytes, "B");
    tool_print_folded(16, "%-4s%-14s %-15s %-8s %-8s %-8s %8s %8s  %s", number, line->word, line->what,
                      ulp_amp_list_name(line->list), line->in, line->out, casts, bytes, line->why);
}

static ulp_status explain(const settings *s, const ulp_amp *amp, const ulp_net *net, const ulp_loss_kind *loss) {
    size_t layers = net->count;
    tool_print_folded(16, "%-4s%-14s %-15s %-8s %-8s %-8s %8s %8s  %s", "no.", "layer", "operation", "list", "in",
                      "out", "casts", "bytes", "why");
    ULP_TRY(ulp_amp_explain(amp, net, loss, (size_t)s->batch, print_line, &layers));
    printf("\n");
    tool_print_folded(0,
                      "list: `ulp help amp` explains the three lists. casts: numbers that a step of %lld samples "
                      "converts between formats. bytes: weights, outputs and their gradients in their formats, and "
                      "master weights.",
                      (long long)s->batch);
    return ULP_OK;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    const settings *s = fields;
    ulp_dims in;
    ulp_net net;
    ulp_amp amp;
    const ulp_loss_kind *loss;
    (void)a;
    ULP_TRY(read_shape(&in, s->input, error));
    if (ulp_loss_parse(&loss, s->loss, error) != ULP_OK) {
        const ulp_error why = *error;
        return ulp_refuse(error, "--loss: %s", why.text);
    }
    if (ulp_net_parse(&net, s->net, in, error) != ULP_OK) return tool_refused(error);
    ulp_status status = ulp_amp_derive(&amp, &net, &s->format, error);
    if (status == ULP_OK) {
        printf("policy  %s\n", amp.text);
        printf("scaler  %s\n", amp.scaler.name);
        tool_print_folded(8, "why     %s", amp.scaler_why);
        if (s->explain) printf("\n");
        if (s->explain) status = explain(s, &amp, &net, loss);
    } else {
        status = tool_refused(error);
    }
    ulp_net_release(&net);
    return status;
}

const tool_command tool_amp = {
    .command = {.name = "ulp amp",
                .usage = "--net TEXT --format F [OPTION...]",
                .summary = "derives the policy of automatic mixed precision for a network",
                .details = "The policy is a text: edit it, and pass it to --policy. `ulp help amp` has the lists of "
                           "operations.\n\n"
                           "  ulp amp --net \"conv8@3p1 bn relu pool2 fc10\" --format fp16 --explain\n"},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};

/* help.c - the topics of `ulp help` about sim/, and the texts about nets, losses and data sets; see help.h. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "sim/policy/amp.h"
#include "sim/data/data.h"
#include "sim/losses/loss.h"
#include "named_nets.h"
#include "net.h"
#include "sim/optim/optim.h"
#include "sim/policy/policy.h"
#include "sim/train/scaler.h"

/* A usage has the form "fcN: description". */
static void add_layer(const ulp_help *to, const ulp_layer_kind *kind) {
    const char *colon = strstr(kind->usage, ": ");
    char word[64], meaning[512];
    snprintf(word, sizeof word, "%.*s", colon ? (int)(colon - kind->usage) : (int)strlen(kind->usage), kind->usage);
    snprintf(meaning, sizeof meaning, "%s%s%s", colon ? colon + 2 : "", kind->takes ? "; takes " : "",
             kind->takes ? kind->takes : "");
    ulp_help_entry(to, word, meaning);
}

void ulp_net_help(const ulp_help *to) {
    const ulp_layer_kind *kind;
    ulp_help_line(
        to,
        "A net is a line of words, one for each layer, from the input to the output, for example conv8@3 relu pool2 "
        "fc128 relu fc10. A word is the name of a kind of layer with its numbers.");
    ulp_help_line(to, "%s", "");
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)); i++) add_layer(to, kind);
    ulp_help_line(to, "%s", "");
    ulp_help_line(to,
                  "The layers between fork and join are a residual block: the input of the block is added to its "
                  "output. In fork A shortcut B join, with layers A and B, both branches begin at the input of the "
                  "block, and their outputs are added. A net has %d layers at most.",
                  ULP_LAYERS_MAX);
    ulp_help_line(to, "%s", "");
    ulp_help_line(to, "A net may be a name; in gpt # stands for the number of characters of the text.");
    ulp_help_line(to, "%s", "");
    const ulp_named_net *row;
    for (size_t i = 0; (row = ulp_named_net_get(i)); i++) ulp_help_entry(to, row->name, row->layers);
}

void ulp_loss_help(const ulp_help *to) {
    const ulp_loss_kind *kind;
    ulp_help_line(to, "A loss is the number that training makes small. Data sets with sequences of labels take ctc, "
                      "others softmax, unless another loss is named.");
    ulp_help_line(to, "%s", "");
    for (size_t i = 0; (kind = ulp_loss_kind_get(i)); i++) ulp_help_entry(to, kind->name, kind->what);
}

void ulp_data_help(const ulp_help *to) {
    const ulp_data_kind *kind;
    ulp_help_line(to, "A data set is read from the folder of --data, else from $ULPLAB_DATA, else from the folder "
                      "of the data that ship with the project.");
    ulp_help_line(to, "%s", "");
    for (size_t i = 0; (kind = ulp_data_kind_get(i)); i++) ulp_help_entry(to, kind->name, kind->what);
    ulp_help_line(to, "%s", "");
    ulp_help_line(to, "The set text takes the path of a file of text in the place of a folder: --set text:32 --data "
                      "book.txt. Its tokens are the different characters of the file, at most 256; nine tenths of the "
                      "text are for training. A net that reads a text begins with a layer of tokens.");
}

static const ulp_help_topic topics[] = {
    {"policies", "which numbers a training run rounds, to which format and how", ulp_policy_help},
    {"amp", "which operations automatic mixed precision computes in which format", ulp_amp_help},
    {"nets", "the layers of a network", ulp_net_help},
    {"optimizers", "how gradients move the weights", ulp_optimizer_help},
    {"scalers", "by which power of two the loss is multiplied", ulp_scaler_help},
    {"losses", "the number that training makes small", ulp_loss_help},
    {"data", "data sets", ulp_data_help},
};

const ulp_help_topic *ulp_sim_topic_get(size_t i) { return i < sizeof topics / sizeof *topics ? &topics[i] : NULL; }

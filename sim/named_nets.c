/* named_nets.c - the table of networks by name; see named_nets.h. */
#include "named_nets.h"

#include <stdio.h>
#include <string.h>

#define GPT_BLOCK "fork ln attn4 causal join fork ln lin256 gelu lin64 join "
#define VIT_BLOCK "fork ln attn4 join fork ln lin64 gelu lin32 join "
#define ADAMW "adamw,beta2=0.99,decay=0.1,decays=weights,clip=1,warmup=50"

/* X(name, layers, rate, cosine, batch, cost, optimizer). gpt: Radford et al. 2019, with layers of the size of a short
 * lesson; vit: Dosovitskiy et al. 2021, arXiv:2010.11929, for images of 8 x 8. */
#define NETS(X)                                                                                                        \
    X(mlp, "fc128 relu fc128 relu fc64 relu fc10", 0.1, 0, 256, 1, "sgd")                                              \
    X(small, "fc64 relu fc64 relu fc10", 0.1, 0, 128, 1, "sgd")                                                        \
    X(cnn, "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc10", 0.05, 1, 32, 1, "sgd")                                   \
    X(resnet, "conv8@3p1 bn relu pool2 fork conv8@3p1 bn relu conv8@3p1 bn join relu pool2 fc10", 0.03, 1, 32, 2,      \
      "sgd")                                                                                                           \
    X(gru, "rows gru16 last fc10", 0.3, 1, 32, 1, "sgd")                                                               \
    X(lstm, "rows lstm16 last fc10", 0.3, 1, 32, 1, "sgd")                                                             \
    X(vit, "patch2x4 lin32 pos8 " VIT_BLOCK VIT_BLOCK "ln mean fc10", 3e-3, 1, 64, 4, ADAMW)                           \
    X(gpt, "embed64:# pos64 " GPT_BLOCK GPT_BLOCK GPT_BLOCK GPT_BLOCK "ln unembed", 3e-3, 1, 16, 40, ADAMW)
#define ROW(name, ...) {#name, __VA_ARGS__},
#define WORD(name, ...) " " #name

static const ulp_named_net table[] = {NETS(ROW)};
const char ulp_net_names[] = NETS(WORD);
_Static_assert(sizeof table / sizeof *table == ULP_NETS_NAMED, "named_nets.h: the number of rows");

const ulp_named_net *ulp_named_net_get(size_t i) { return i < ULP_NETS_NAMED ? &table[i] : NULL; }

const ulp_named_net *ulp_named_net_find(const char *name) {
    for (size_t i = 0; i < ULP_NETS_NAMED; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

const char *ulp_named_net_words(char room[ULP_NAMED_LAYERS_MAX], const char *net, const ulp_data *data) {
    const ulp_named_net *row = ulp_named_net_find(net);
    const char *mark = row ? strchr(row->layers, '#') : NULL;
    if (!mark) return row ? row->layers : net;
    snprintf(room, ULP_NAMED_LAYERS_MAX, "%.*s%zu%s", (int)(mark - row->layers), row->layers, data->classes, mark + 1);
    return room;
}

int ulp_named_net_reads_text(const char *net) {
    const ulp_named_net *row = ulp_named_net_find(net);
    return strncmp(row ? row->layers : net, "embed", strlen("embed")) == 0;
}

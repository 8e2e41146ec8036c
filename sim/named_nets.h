/* named_nets.h - networks by name: their layers, and the batch, rate and optimizer with which they learn. */
#ifndef ULP_NAMED_NETS_H
#define ULP_NAMED_NETS_H

#include "sim/data/data.h"

ULP_C_BEGIN

typedef struct ulp_named_net {
    const char *name;
    const char *layers; /* words of a net; # stands for the number of tokens of the data */
    double rate;
    int cosine; /* 1: the rate falls to 0 along half a cosine, so that the end of a short run does not depend on the
                   accidents of its last step */
    size_t batch;
    double cost;           /* of a step, relative to that of mlp */
    const char *optimizer; /* without its rate; momentum of sgd is the caller's */
} ulp_named_net;

/* The i-th row; NULL past the end. The networks after the first ULP_NETS_OF_ALL are those of tokens: vit and gpt. */
const ulp_named_net *ulp_named_net_get(size_t i);
enum { ULP_NETS_OF_ALL = 6, ULP_NETS_NAMED = 8 };

/* The row of that name; NULL: there is none. */
const ulp_named_net *ulp_named_net_find(const char *name);

/* The names, each with a blank before it. */
extern const char ulp_net_names[];

enum { ULP_NAMED_LAYERS_MAX = 1024 };

/* The words of a net for some data: those of the row that `net` names, written to `room` if they depend on the data, or
 * else `net` itself. */
const char *ulp_named_net_words(char room[ULP_NAMED_LAYERS_MAX], const char *net, const ulp_data *data);

/* Whether a net, by its name or its words, reads numbers of tokens: the data set text suits it. */
int ulp_named_net_reads_text(const char *net);

ULP_C_END
#endif

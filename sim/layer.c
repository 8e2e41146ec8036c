/* layer.c - the table of layer kinds. */
#include "layer.h"

/* One word per file sim/layer_NAME.c. */
#define LAYERS(X) X(dense) X(relu) X(tanh) X(fork) X(join) X(conv) X(pool) X(avg) X(bn) X(sigmoid) X(leaky) X(drop)

#define DECLARE(name) extern const ulp_layer_kind ulp_layer_##name;
LAYERS(DECLARE)

#define ENTRY(name) &ulp_layer_##name,
static const ulp_layer_kind *const kinds[] = {LAYERS(ENTRY)};

const ulp_layer_kind *ulp_layer_kind_get(size_t i) { return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL; }

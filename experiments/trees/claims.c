/* claims.c - the trees of trees in brackets, and the claims: the tree that the text of each machine describes. */
#include "trees.h"

#include <string.h>

/* The tree of a datapath in brackets; NULL if the run has none. */
static const char *tree_of(const ulp_claims *c, const char *datapath) {
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
        if (strcmp(r->datapath, datapath) == 0 && r->tree != NULL && r->tree[0] != '\0') return r->tree;
    return NULL;
}

/* Trees of 16 products, written by hand from the publications that kernels/products/datapath_rows.c cites. */
static const struct {
    const char *datapath, *text, *tree;
} described[] = {
    {"fp32", "a chain of fused multiply-adds takes one product after the other",
     "((((((((((((((((c 0) 1) 2) 3) 4) 5) 6) 7) 8) 9) 10) 11) 12) 13) 14) 15)"},
    {"a100-fp16", "A100 adds c and 8 products at once, then 8 more", "((c 0-7) 8-15)"},
    {"h100-fp16", "H100 adds c and 16 products at once", "(c 0-15)"},
    {"mi100-fp16", "CDNA1 adds the sum so far and 4 products exactly", "[[[[c 0-3] 4-7] 8-11] 12-15]"},
    {"mi250-fp16", "CDNA2 adds 4 products as a binary tree, then the sum so far",
     "((((c ((0 1) (2 3))) ((4 5) (6 7))) ((8 9) (10 11))) ((12 13) (14 15)))"},
    {"mi300-fp16", "CDNA3 adds c and 8 products at once, then 8 more", "((c 0-7) 8-15)"},
    {"avx512-bf16", "VDPBF16PS adds the second product of each pair first",
     "((((((((((((((((c 1) 0) 3) 2) 5) 4) 7) 6) 9) 8) 11) 10) 13) 12) 15) 14)"},
    {"amx-bf16", "AMX adds even and odd products in two chains, and c last",
     "(c ((((((((0 2) 4) 6) 8) 10) 12) 14) (((((((1 3) 5) 7) 9) 11) 13) 15)))"},
    {"arm-bf16", "Arm's BFDOT adds a pair, then the sum so far",
     "((((((((c (0 1)) (2 3)) (4 5)) (6 7)) (8 9)) (10 11)) (12 13)) (14 15))"},
    {"riscv-bf16", "Zvdota adds 8 products at once, then the sum so far", "((c (0-7)) (8-15))"},
};

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    for (size_t p = 0; p < s->datapaths.count && c->file != NULL; p++) {
        const char *tree = tree_of(c, s->datapaths.at[p].name);
        if (tree != NULL) fprintf(c->file, "  %-12s %s\n", s->datapaths.at[p].name, tree);
    }
    for (size_t i = 0; i < sizeof described / sizeof described[0]; i++) {
        const char *tree = tree_of(c, described[i].datapath);
        if (tree == NULL) ulp_claim_skip(c, described[i].text, "%s is not in --datapath", described[i].datapath);
        else if (s->products != 16) ulp_claim_skip(c, described[i].text, "needs --products 16");
        else ulp_claim(c, strcmp(tree, described[i].tree) == 0, described[i].text, "%s", tree);
    }
}

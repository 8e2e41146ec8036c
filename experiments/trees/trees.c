/* trees.c - in which order does each machine add the products of one sum, and which of them at once?
 *
 * The trees are found from results alone, by masked units (kernels/products/summation_tree.h; FPRev: Xie et al. 2025,
 * arXiv 2411.00442), and not read from the rows of the datapaths.
 */
#include "experiments/harness/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/products/summation_tree.h"

typedef struct settings {
    ulp_datapath_list datapaths;
    int64_t products;
} settings;

typedef struct point {
    const ulp_datapath *datapath;
} point;

/* A node of a tree, at its place in the figure (ulp_order_place).
 *   term   c, or the k of a product; a sum has none
 *   terms  number of terms below
 *   over   the sum that takes the node: an addition of two, more terms that are aligned (fused), or more that are added
 *          exactly; the last sum has none
 *   over_line, over_height  the place of that sum
 *   tree   the whole tree in brackets, in the row of the last sum */
typedef struct row {
    const char *datapath;
    int64_t node, terms;
    const char *term;
    const char *over;
    double line, height, over_line, over_height;
    const char *tree;
} row;

enum { TEXT = 4096, TERM = 12 };

static const ulp_option options[] = {
    ULP_OPTION_DATAPATHS_OF(settings, datapaths,
                            "fp32,a100-fp16,h100-fp16,mi100-fp16,mi250-fp16,mi300-fp16,avx512-bf16,amx-bf16,arm-bf16,"
                            "riscv-bf16",
                            NULL),
    ULP_OPTION(settings, products, integer, "16", .help = "products of the sum", .min = 1, .max = 256),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, datapath, node, terms, term, line),
    ULP_COLUMNS(row, height, over, over_line, over_height, tree),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    for (size_t i = 0; i < s->datapaths.count; i++) {
        const ulp_datapath *d = &s->datapaths.at[i];
        if (d->kind == ULP_NATIVE || d->words != 0 || d->result.is_fixed)
            return ulp_plan_fail(plan, ULP_UNSUPPORTED, "--datapath %s: a model of one floating-point sum is needed",
                                 d->name);
        ulp_plan_add(plan, &(point){d}, 1, "%s", d->name);
    }
    return ULP_OK;
}

static const char *kind_of(const ulp_order *o, int32_t at) {
    int children = 0;
    for (int32_t e = o->node[at].child; e != ULP_ORDER_NONE; e = o->node[e].next) children++;
    return children < 3 ? "addition" : o->node[at].exact ? "exact" : "fused";
}

static void put_nodes(const ulp_task *task, const ulp_order *o, const ulp_order_place *place, const char *text) {
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    for (int32_t i = 0; i < o->count; i++) {
        const int32_t over = place[i].parent;
        char term[TERM] = "";
        if (over == ULP_ORDER_NONE) continue;
        if (o->node[i].leaf == ULP_ORDER_C) strcpy(term, "c");
        else if (o->node[i].leaf != ULP_ORDER_NONE) snprintf(term, sizeof term, "%d", o->node[i].leaf);
        row r = {.datapath = d->name,
                 .node = i,
                 .terms = o->node[i].size,
                 .term = term,
                 .over = i == o->root ? "" : kind_of(o, over),
                 .line = place[i].line,
                 .height = place[i].height,
                 .over_line = i == o->root ? NAN : place[over].line,
                 .over_height = i == o->root ? NAN : (double)place[over].height,
                 .tree = i == o->root ? text : ""};
        ulp_row_put(task->rows, &r);
    }
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    const ulp_unit unit = ulp_unit_of(d);
    ulp_order order;
    char text[TEXT];
    ulp_status status = ulp_order_find(&order, &unit, (size_t)s->products, 1);
    if (status != ULP_OK)
        return ulp_task_fail(task, status, "%s: no tree of %lld products was found: %s", d->name,
                             (long long)s->products, ulp_status_text(status));
    ulp_order_place *place = malloc((size_t)order.count * sizeof *place);
    if (place != NULL) {
        ulp_order_places(place, &order);
        ulp_order_text(text, sizeof text, &order, 1);
        put_nodes(task, &order, place, text);
    } else {
        status = ULP_NO_MEMORY;
    }
    free(place);
    ulp_order_free(&order);
    return status;
}

/* ---- the claims ---- */

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

const ulp_experiment experiment = {
    .name = "trees",
    .question = "in which order does each machine add the products of one sum, and which of them at once?",
    ULP_EXPERIMENT_OF(settings, point, row),
};

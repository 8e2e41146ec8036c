/* trees.c - in which order does each machine add the products of one sum, and which of them at once?
 *
 * The trees are found from results alone, by masked units (kernels/products/summation_tree.h; FPRev: Xie et al. 2025,
 * arXiv 2411.00442), and not read from the rows of the datapaths.
 */
#include "trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/products/summation_tree.h"

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

const ulp_experiment experiment = {
    .name = "trees",
    .question = "in which order does each machine add the products of one sum, and which of them at once?",
    ULP_EXPERIMENT_OF(settings, point, row),
};

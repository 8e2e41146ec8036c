/* tree.c - ulp probe --tree: the order of a sum, of a datapath, of a function or of another program. */
#include "tree.h"

#include "kernels/cpu/native/native.h"
#include "kernels/cuda/unit.h"

#include <stdlib.h>
#include <string.h>

const ulp_option tool_tree_options[] = {
    ULP_OPTION(tool_tree_settings, tree, flag, NULL, .help = "the order of the sum, instead of its properties"),
    ULP_OPTION(tool_tree_settings, k, integer, "32", .min = 1, .max = 16384, .help = "with --tree: number of products"),
    ULP_OPTION(tool_tree_settings, plain, flag, NULL, .help = "with --tree: no short forms and no drawing"),
    ULP_OPTION(
        tool_tree_settings, m, integer, "1", .min = 1, .max = 4096,
        .help = "with --tree of cblas_sgemm and of a GPU's product: rows of the result; the sum is its first element"),
    ULP_OPTION(tool_tree_settings, n, integer, "1", .min = 1, .max = 4096, .help = "the same: columns of the result"),
    ULP_OPTION(tool_tree_settings, exec, text, NULL, .value_name = "PROGRAM",
               .help = "probe a program, a command for the shell, which forms sums: a line of operands in, a line out"),
    ULP_OPTION(tool_tree_settings, in, format, "fp32", .help = "with --exec: the format of a and b"),
    ULP_OPTION(tool_tree_settings, result, format, "fp32", .help = "with --exec: the format of c and of the result"),
    ULP_OPTION(tool_tree_settings, timeout, number, "10", .value_name = "S", .min = 0.01, .max = 86400,
               .help = "with --exec: seconds that an answer may take"),
    {0},
};

ulp_status tool_tree_check(const tool_tree_settings *g, const ulp_arguments *a, ulp_error *error) {
    static const char *const of_tree[] = {"k", "plain", "m", "n"}, *const of_exec[] = {"in", "result", "timeout"};
    for (size_t i = 0; !g->tree && i < sizeof of_tree / sizeof of_tree[0]; i++)
        if (ulp_setting_given(a, of_tree[i])) return ulp_refuse(error, "--%s goes with --tree", of_tree[i]);
    for (size_t i = 0; g->exec == NULL && i < sizeof of_exec / sizeof of_exec[0]; i++)
        if (ulp_setting_given(a, of_exec[i])) return ulp_refuse(error, "--%s goes with --exec", of_exec[i]);
    if (!g->tree && a->word_count > 0)
        return ulp_refuse(
            error,
            "'%s' is not an option, and ulp probe takes no words besides, except a name with --tree (see --help)",
            a->words[0]);
    const int named = ulp_setting_given(a, "datapath");
    if (a->word_count + (size_t)named + (g->exec != NULL) > 1)
        return ulp_refuse(error, "one thing is probed at a time: --datapath D, --tree NAME or --exec PROGRAM");
    if (g->exec != NULL && (ulp_setting_given(a, "backend") || ulp_setting_given(a, "list")))
        return ulp_refuse(error, "--exec goes with neither --backend nor --list");
    if (g->tree && ulp_setting_given(a, "list")) return ulp_refuse(error, "--list stands alone");
    if (g->tree && !named && a->word_count == 0 && g->exec == NULL)
        return ulp_refuse(error, "--tree needs the name of a datapath, cblas_sdot, cblas_sgemm, or --exec");
    return ULP_OK;
}

/* ---- programs ---- */

ulp_status tool_exec_open(tool_pipe **pipe, const tool_tree_settings *g, ulp_error *error) {
    const tool_pipe_plan plan = {g->exec, g->timeout, g->in, g->result};
    if (tool_pipe_open(pipe, &plan) == ULP_OK) return ULP_OK;
    tool_pipe_close(*pipe);
    return ulp_fail(error, ULP_DEVICE_FAILED, "--exec %s: the program cannot be started", g->exec);
}

ulp_status tool_exec_close(tool_pipe *pipe, const char *command, ulp_status status, ulp_error *error) {
    const char *problem = tool_pipe_problem(pipe);
    if (problem[0] != '\0') status = ulp_fail(error, ULP_DEVICE_FAILED, "--exec %s: the program %s", command, problem);
    else if (status != ULP_OK)
        status = ulp_fail(error, ULP_DEVICE_FAILED, "--exec %s: %s", command, ulp_status_text(status));
    tool_pipe_close(pipe);
    return status;
}

/* ---- the device that is probed ---- */

typedef struct target {
    const char *name;
    ulp_unit unit;
    int with_c;
    ulp_cpu_native processor;
    ulp_cuda_native native;
    ulp_cuda_place place;
    tool_blas_size size;
    tool_pipe *pipe;
} target;

static ulp_status choose_blas(target *t, const tool_tree_settings *g, ulp_error *error) {
    t->size = (tool_blas_size){(size_t)g->m, (size_t)g->n};
    if (tool_blas_unit(&t->unit, t->name, &t->size, &t->with_c) == ULP_OK) return ULP_OK;
    return ulp_fail(error, ULP_NO_DEVICE, "%s: OpenBLAS is not there (libopenblas0)", t->name);
}

static ulp_status choose_datapath(target *t, const tool_tree_settings *g, const ulp_arguments *a, tool_product *product,
                                  const ulp_backend *backend, ulp_error *error) {
    if (a->word_count == 1) {
        const ulp_option *named = ulp_setting_find(a, "datapath")->option;
        const ulp_status status = tool_type_product.read(product, t->name, named, error);
        const ulp_error why = *error;
        if (status != ULP_OK) return ulp_fail(error, status, "--tree%s%s", why.text[0] == ':' ? "" : " ", why.text);
    }
    ULP_TRY(tool_product_resolve(product, backend, error));
    const char *sized = ulp_setting_given(a, "m") ? "m" : ulp_setting_given(a, "n") ? "n" : NULL;
    if (sized != NULL && (backend == NULL || strcmp(backend->name, "cuda") != 0))
        return ulp_refuse(error,
                          "--%s: the sum of %s does not depend on the size of the result; --m and --n go with "
                          "cblas_sgemm and with a GPU's product",
                          sized, t->name);
    if (product->native == NULL) {
        t->name = product->datapath.name;
        t->unit = tool_model_unit(&product->datapath, backend);
        return ULP_OK;
    }
    t->name = product->datapath.name;
    if (ulp_cpu_native_of(&t->processor, &product->datapath) == ULP_OK) {
        t->unit = ulp_cpu_native_unit(&t->processor);
        return ULP_OK;
    }
    ulp_cuda_native_parse(&t->native, product->native);
    t->place = (ulp_cuda_place){&t->native, (size_t)g->m, (size_t)g->n};
    t->unit = ulp_cuda_unit_in(&t->place);
    return ULP_OK;
}

static ulp_status choose(target *t, const tool_tree_settings *g, const ulp_arguments *a, tool_product *product,
                         const ulp_backend *backend, ulp_error *error) {
    memset(t, 0, sizeof *t);
    t->with_c = 1;
    if (g->exec != NULL) {
        const ulp_status status = tool_exec_open(&t->pipe, g, error);
        t->name = g->exec;
        if (status == ULP_OK) t->unit = tool_pipe_unit(t->pipe);
        return status;
    }
    t->name = a->word_count == 1 ? a->words[0] : ulp_setting_find(a, "datapath")->value;
    return tool_blas_is_name(t->name) ? choose_blas(t, g, error) : choose_datapath(t, g, a, product, backend, error);
}

/* ---- the report ---- */

static void print_legend(const char *text) {
    if (strchr(text, '{') != NULL)
        tool_print_folded(2, "{x a-b:n}: the terms a to b are added to x in this order, n at a time; without :n one at "
                             "a time; :[n] in exact sums");
    if (strchr(text, '/') != NULL) tool_print_folded(2, "a-b/s: the terms a, a + s, ..., b");
    if (strchr(text, '<') != NULL)
        tool_print_folded(
            2, "<a-b>: a binary tree, whose left part has the largest power of two below the number of terms");
    if (strchr(text, '[') != NULL)
        tool_print_folded(2, "[x y z], # in the drawing: added without loss, then rounded once");
}

static void print_tree(const target *t, const ulp_order *o, int plain) {
    const size_t size = 24 * ((size_t)o->k + 2);
    char shape[300], *text = ulp_grow(NULL, size);
    ulp_order_text(text, size, o, plain);
    ulp_order_shape(shape, sizeof shape, o);
    tool_print_folded(2, "%s%s%s: products %s x %s, results %s; %d product%s%s; %llu sums", t->name,
                      tool_blas_is_name(t->name) ? " of " : "", tool_blas_is_name(t->name) ? tool_blas_what() : "",
                      t->unit.a.name, t->unit.b.name, t->unit.result.name, (int)o->k, o->k == 1 ? "" : "s",
                      o->with_c ? " and c" : ", c = 0", (unsigned long long)o->runs);
    puts(text);
    puts(shape);
    if (!plain) {
        print_legend(text);
        const int columns = ulp_columns_of(stdout);
        putchar('\n');
        if (!tool_tree_draw(o, columns, 130))
            printf("the drawing does not fit %d columns and 130 lines; --csv prints the nodes\n", columns);
    }
    free(text);
}

/* The sentence for a tree that was not found. */
static ulp_status refuse(const target *t, int64_t k, ulp_status status, ulp_error *error) {
    const size_t most = ulp_order_limit(&t->unit);
    const char *result = t->unit.result.name;
    if (status == ULP_NOT_IN_RANGE && (most < 2 || (size_t)k < most))
        return ulp_refuse(
            error, "--tree %s: no product of %s and %s is so large, beside a unit, that sums in %s lose the unit",
            t->name, t->unit.a.name, t->unit.b.name, result);
    if (status == ULP_NOT_IN_RANGE)
        return ulp_refuse(
            error,
            "--k %lld: with products of %s and %s and results in %s the tree of %s can be found for up to %zu products",
            (long long)k, t->unit.a.name, t->unit.b.name, result, t->name, most - 1);
    if (status == ULP_UNSUPPORTED && t->unit.result.is_fixed)
        return ulp_refuse(error, "--tree %s: sums in %s lose no bits, so their results do not show an order", t->name,
                          result);
    if (status == ULP_UNSUPPORTED)
        return ulp_fail(error, ULP_BAD_FILE,
                        "%s: the results fit no tree: the order changes from sum to sum, depends on the operands, "
                        "or the function is not a sum",
                        t->name);
    return ulp_fail(error, ULP_BAD_FILE, "%s: %s", t->name, ulp_status_text(status));
}

ulp_status tool_tree_run(const tool_tree_settings *g, const ulp_arguments *a, tool_product *product,
                         const ulp_backend *backend, int csv, ulp_error *error) {
    target t;
    ulp_order order;
    ULP_TRY(choose(&t, g, a, product, backend, error));
    const size_t k = (size_t)g->k;
    ulp_status status = ulp_order_find(&order, &t.unit, k, t.with_c);
    if (status == ULP_UNSUPPORTED && t.with_c) { /* a function may leave c out */
        const ulp_status without = ulp_order_find(&order, &t.unit, k, 0);
        if (without != ULP_UNSUPPORTED) status = without;
    }
    const int broken = t.pipe != NULL && tool_pipe_problem(t.pipe)[0] != '\0';
    if (status != ULP_OK && !broken) status = refuse(&t, g->k, status, error);
    if (broken) status = tool_exec_close(t.pipe, g->exec, status, error);
    else tool_pipe_close(t.pipe);
    ULP_TRY(status);
    if (csv) tool_tree_csv(t.pipe != NULL ? "program" : t.name, &order);
    else print_tree(&t, &order, g->plain);
    ulp_order_free(&order);
    return ULP_OK;
}

/* probe.c - ulp probe: properties of a fused sum, found by test vectors and compared with a datapath's row or model. */
#include "kernels/cpu/native/native.h"
#include "kernels/cuda/unit.h"
#include "kernels/mpfr/oracle.h"
#include "kernels/probe/probe.h"
#include "kernels/products/summation_tree.h"
#include "tool/probe/rows.h"
#include "tool.h"
#include "tool/tree/tree.h"

#include <string.h>

static int agrees(const ulp_property *p, int64_t value) {
    if (p->found == ULP_AT_LEAST) return value >= p->value;
    return p->found == ULP_AT_MOST ? value <= p->value : value == p->value;
}

/* ---- printing ---- */

/* One row of a table of properties. On a narrow terminal the vector goes on in the next line. */
static void print_line(const char *property, const char *found, const char *wanted, const char *verdict,
                       const char *vector) {
    tool_print_folded(4, "%-20s %-24s %-24s %-8s %s", property, found, wanted, verdict, vector);
}

/* Print a row: what was found in a device, what is wanted (NULL: not known), and how it was found. Returns `differs`.
 */
static int print_row(const char *device, const char *property, const char *found, const char *wanted, int differs,
                     const char *how, int csv) {
    const char *verdict = wanted == NULL ? "-" : differs ? "DIFFERS" : "ok";
    if (wanted == NULL) wanted = "-";
    if (csv) printf("%s,%s,%s,%s,%s,\"%s\"\n", device, property, found, wanted, verdict, how);
    else print_line(property, found, wanted, verdict, how);
    return differs;
}

/* The text of the value that a datapath gives a property; returns 0 if it gives none. */
static int wanted_text(char to[64], int64_t *value, const ulp_datapath *d, ulp_property_id id) {
    if (!tool_row_value(d, id, value)) return 0;
    if (*value <= ULP_NO_EXPONENT) strcpy(to, "none");
    else ulp_property_text(to, id, ULP_FOUND, *value);
    return 1;
}

/* Print the properties that were found in a sum, beside those of the row of a datapath. Returns how many differ. */
static int print_properties(const ulp_datapath *d, const ulp_probe *probe, int csv) {
    int differ = 0;
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++) {
        const ulp_property_id id = (ulp_property_id)i;
        const ulp_property *p = &probe->property[i];
        char found[64], wanted[64];
        int64_t value = 0;
        const int known = p->found != ULP_NOT_REACHABLE && wanted_text(wanted, &value, d, id);
        ulp_property_text(found, id, p->found, p->value);
        differ += print_row(d->name, ulp_property_name(id), found, known ? wanted : NULL, known && !agrees(p, value),
                            p->how, csv);
    }
    return differ;
}

/* ---- the order of a sum ---- */

enum { TREE_PRODUCTS = 16, TREE_TEXT = 400 };

/* The summation tree of c and of TREE_PRODUCTS products, or of as many as can be found, as text. */
typedef struct tree {
    char text[TREE_TEXT]; /* or "not reachable" */
    char how[80];         /* or the reason why there is none */
} tree;

static tree tree_of(const ulp_unit *unit) {
    tree t = {.text = "not reachable"};
    const size_t most = ulp_order_limit(unit), k = most > TREE_PRODUCTS ? TREE_PRODUCTS : most > 0 ? most - 1 : 0;
    ulp_order order;
    const ulp_status status = k == 0 ? ULP_NOT_IN_RANGE : ulp_order_find(&order, unit, k, 1);
    if (status == ULP_NO_MEMORY) ulp_out_of_memory(0);
    if (status != ULP_OK) {
        snprintf(t.how, sizeof t.how, "%s",
                 status == ULP_NOT_IN_RANGE  ? "no product is so large that it hides another"
                 : unit->result.is_fixed     ? "sums lose no bits"
                 : status == ULP_UNSUPPORTED ? "the results fit no tree"
                                             : ulp_status_text(status));
        return t;
    }
    ulp_order_text(t.text, sizeof t.text, &order, 0);
    snprintf(t.how, sizeof t.how, "c and %zu products; `ulp help trees`", k);
    ulp_order_free(&order);
    return t;
}

/* Prints the line of a tree and that of the model; NULL: no model. Returns whether they differ. */
static int print_tree(const char *name, const tree *found, const tree *model, int csv) {
    const int differs = model != NULL && strcmp(found->text, model->text) != 0;
    return print_row(name, "tree", found->text, model != NULL ? model->text : NULL, differs, found->how, csv);
}

/* ---- a device compared with its model ---- */

/* Questions on which published sources disagree or that nobody has measured, and the property that decides each. */
typedef enum scope { EVERY, FP8, TF32, NARROW_FP8, FP8_WGMMA } scope;
static const struct open_point {
    ulp_property_id id;
    scope scope;
    const char *text;
} open_points[] = {
    {ULP_P_ZERO_OPERAND, EVERY, "whether a zero operand raises the exponent of the alignment"},
    {ULP_P_ZERO_PRODUCT, EVERY, "whether a product of two zeros does"},
    {ULP_P_ZERO_C, EVERY, "whether c = 0 does"},
    {ULP_P_FLOOR, EVERY, "the lowest exponent of the alignment"},
    {ULP_P_ALIGN, EVERY, "which way the alignment cuts"},
    {ULP_P_UNDERFLOW, EVERY, "the sign of a negative sum that becomes zero"},
    {ULP_P_LENGTH, EVERY, "products in one sum"},
    {ULP_P_FRACTION, FP8, "fraction bits that fp8 products keep"},
    {ULP_P_KEPT, FP8, "fraction bits of an fp8 product's result"},
    {ULP_P_ORDER, FP8, "which products one fp8 sum takes"},
    {ULP_P_FLOOR, TF32, "the floor for tf32, which nobody has published"},
    {ULP_P_OUTPUT, NARROW_FP8, "how fp8 products are rounded to fp16"},
    {ULP_P_FRACTION_C, FP8_WGMMA, "bits of c that an fp8 wgmma keeps"},
    {ULP_P_PLACE, FP8_WGMMA, "where c enters an fp8 wgmma"},
};

static int concerns(scope s, const ulp_cuda_native *native) {
    const int fp8 = native->a.bits == 8 && !native->a.is_fixed;
    switch (s) {
    case FP8: return fp8;
    case TF32: return native->a.bits == 19;
    case NARROW_FP8: return fp8 && native->result.prec < 24;
    case FP8_WGMMA: return fp8 && strstr(native->name, "wgmma") != NULL;
    default: return 1;
    }
}

static void print_open_points(const ulp_cuda_native *native, const ulp_probe *silicon, const ulp_datapath *model) {
    printf("\nopen points: sources disagree, or nobody has measured\n");
    for (size_t i = 0; i < sizeof open_points / sizeof open_points[0]; i++) {
        const struct open_point *p = &open_points[i];
        const ulp_property *found = &silicon->property[p->id];
        char text[64], wanted[64] = "-";
        int64_t value;
        if (!concerns(p->scope, native)) continue;
        ulp_property_text(text, p->id, found->found, found->value);
        if (model != NULL) wanted_text(wanted, &value, model, p->id);
        tool_print_folded(4, "%-52s %-18s found: %-20s the model's default: %s", p->text, ulp_property_name(p->id),
                          text, wanted);
    }
}

static int same_property(const ulp_property *x, const ulp_property *y) {
    return x->found == y->found && x->value == y->value;
}

/* A native product: of the processor, or of a GPU. */
typedef struct own_product {
    const char *name, *what, *model;
    ulp_unit unit;
    const ulp_cuda_native *gpu; /* NULL: of the processor */
} own_product;

/* Print the table of one native product. Returns the number of properties in which the product and its model differ, or
 * -1 if the device failed. */
static int print_silicon(const own_product *native, int csv) {
    ulp_datapath path;
    ulp_probe silicon, model;
    const ulp_unit unit = native->unit;
    const int known = native->model[0] != '\0' && ulp_datapath_parse(&path, native->model) == ULP_OK;
    int differ = 0;
    if (ulp_probe_unit(&silicon, &unit) != ULP_OK) return -1;
    if (known) {
        const ulp_unit row = ulp_unit_of(&path);
        if (ulp_probe_unit(&model, &row) != ULP_OK) return -1;
    }
    if (!csv) {
        tool_print_folded(2, "%s, %s: products %s x %s, results %s; %llu sums; model %s\n", native->name, native->what,
                          unit.a.name, unit.b.name, unit.result.name, (unsigned long long)silicon.runs,
                          known ? native->model : "none known");
        print_line("property", "silicon", "model", "verdict", "vector");
    }
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++) {
        const ulp_property_id id = (ulp_property_id)i;
        const ulp_property *p = &silicon.property[i];
        char found[64], wanted[64];
        ulp_property_text(found, id, p->found, p->value);
        if (known) ulp_property_text(wanted, id, model.property[i].found, model.property[i].value);
        differ += print_row(native->name, ulp_property_name(id), found, known ? wanted : NULL,
                            known && !same_property(p, &model.property[i]), p->how, csv);
    }
    const tree order = tree_of(&unit);
    if (known) {
        const ulp_unit row = ulp_unit_of(&path);
        const tree wanted = tree_of(&row);
        differ += print_tree(native->name, &order, &wanted, csv);
    } else {
        print_tree(native->name, &order, NULL, csv);
    }
    if (!csv && native->gpu != NULL) print_open_points(native->gpu, &silicon, known ? &path : NULL);
    if (!csv && known)
        printf("\n%d %s from the model\n\n", differ, differ == 1 ? "property differs" : "properties differ");
    return differ;
}

static void list_native(void) {
    ulp_cuda_native native;
    for (size_t i = 0; ulp_cuda_native_get(i, &native) == ULP_OK; i++)
        printf("%-32s %-24s %s\n", native.name, native.model[0] != '\0' ? native.model : "no model",
               native.lacks[0] != '\0' ? native.lacks : native.what);
}

typedef struct settings {
    tool_product product;
    int backend, list, csv;
    tool_tree_settings tree;
} settings;

enum { ON_CPU, ON_CUDA, ON_MPFR };
static const char *const backend_names[] = {[ON_CPU] = "cpu", [ON_CUDA] = "cuda", [ON_MPFR] = "mpfr"};

static const ulp_option options[] = {
    {.name = "datapath",
     .type = &tool_type_product,
     ULP_FIELD(settings, product),
     .help = "the datapath; native:... with --backend cuda, all that the device offers unless given"},
    ULP_OPTION(settings, backend, choice, "cpu", .words = "cpu cuda mpfr",
               .help = "the models, the GPU itself, or the models by MPFR from their definitions"),
    ULP_OPTION(
        settings, list, flag, NULL,
        .help = "the rows that stand for hardware: name, L, F, fraction bits kept, accumulator, rounding, instruction"),
    ULP_OPTION(settings, csv, flag, NULL, .help = "device,property,found,row,verdict,vector"),
    {0},
};

static ulp_status lacks_backend(ulp_status status, const char *name, const char *why, ulp_error *error) {
    return ulp_fail(error, status == ULP_NO_DEVICE ? status : ULP_BAD_ARGUMENT, "--backend %s: %s", name, why);
}

/* Probe one native product, or all products that the device offers. */
static ulp_status run_silicon(const settings *s, const char *name, ulp_error *error) {
    const ulp_backend *cuda;
    ulp_cuda_native native;
    int differ = 0;
    ulp_cpu_native of_cpu;
    if (name != NULL && ulp_cpu_native_parse(&of_cpu, name) == ULP_OK)
        return ulp_refuse(error, "--datapath %s: the processor's own product, which takes --backend cpu", name);
    if (name != NULL && ulp_cuda_native_parse(&native, name) == ULP_BAD_NAME)
        return ulp_refuse(error, "--datapath %s: no product of a GPU has that name (`ulp help datapaths`)", name);
    const ulp_status status = ulp_backend_get(&cuda, "cuda");
    if (status != ULP_OK) return lacks_backend(status, "cuda", ulp_cuda_lacks(), error);
    if (s->list) return list_native(), ULP_OK;
    if (name != NULL && native.lacks[0] != '\0') return ulp_fail(error, ULP_NO_DEVICE, "%s: %s", name, native.lacks);
    if (s->csv) puts("device,property,silicon,model,verdict,vector");
    for (size_t i = 0; name != NULL ? i == 0 : ulp_cuda_native_get(i, &native) == ULP_OK; i++) {
        const own_product own = {native.name, native.what, native.model, ulp_cuda_unit_of(&native), &native};
        const int more = native.lacks[0] != '\0' ? 0 : print_silicon(&own, s->csv);
        if (more < 0) return ulp_fail(error, ULP_BAD_FILE, "%s: %s", native.name, ulp_backend_error());
        differ += more;
    }
    return differ > 0 ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
}

/* Probe the processor's own product. */
static ulp_status run_processor(const ulp_datapath *d, int csv, ulp_error *error) {
    ulp_cpu_native native;
    if (ulp_cpu_native_of(&native, d) != ULP_OK) return ulp_fail(error, ULP_BAD_FILE, "%s: it is not offered", d->name);
    const own_product own = {native.name, native.what, native.model, ulp_cpu_native_unit(&native), NULL};
    if (csv) puts("device,property,silicon,model,verdict,vector");
    const int differ = print_silicon(&own, csv);
    if (differ < 0) return ulp_fail(error, ULP_BAD_FILE, "%s: %s", native.name, ulp_status_text(ULP_DEVICE_FAILED));
    return differ > 0 ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
}

/* The backend that is asked for. */
static ulp_status get_backend(const settings *s, const ulp_backend **backend, ulp_error *error) {
    const char *name = backend_names[s->backend];
    if (s->backend == ON_MPFR) ulp_reference_allocate_by(ulp_grow);
    const ulp_status status = ulp_backend_get(backend, name);
    return status == ULP_OK ? ULP_OK : lacks_backend(status, name, ulp_backend_lacks(name), error);
}

static ulp_status run_model(const ulp_datapath *d, const ulp_backend *backend, int csv, ulp_error *error) {
    ulp_probe probe;
    int differ = 0;
    if (d->words != 0)
        return ulp_refuse(error,
                          "%s: a product of several words is many sums; probe the unit, without words=", d->name);
    if (d->split_k != 0)
        return ulp_refuse(error, "%s: a sum of parts is many sums; probe the unit, without split-k=; --tree draws it",
                          d->name);
    const ulp_unit unit = tool_model_unit(d, backend);
    const ulp_status status = ulp_probe_unit(&probe, &unit);
    if (status != ULP_OK) return ulp_refuse(error, "%s: %s", d->name, ulp_status_text(status));
    if (csv) puts("device,property,found,row,verdict,vector");
    else {
        tool_print_folded(2, "model of %s: products %s x %s, results %s; %llu sums%s\n", d->name, unit.a.name,
                          unit.b.name, unit.result.name, (unsigned long long)probe.runs,
                          d->scale_block != 0 ? "; scales are ones except where a vector names them" : "");
        print_line("property", "found", "the row says", "verdict", "vector");
    }
    differ += print_properties(d, &probe, csv);
    const tree order = tree_of(&unit);
    print_tree(d->name, &order, NULL, csv);
    if (!csv && differ > 0)
        printf("\n%d %s from the row\n", differ, differ == 1 ? "property differs" : "properties differ");
    return differ > 0 ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
}

/* ---- a program ---- */

static ulp_status run_exec(const settings *s, ulp_error *error) {
    tool_pipe *pipe = NULL;
    ulp_probe probe;
    ULP_TRY(tool_exec_open(&pipe, &s->tree, error));
    const ulp_unit unit = tool_pipe_unit(pipe);
    ulp_error why;
    tree order = {.text = ""};
    ulp_status status = ulp_probe_sums(&why, &unit);
    const int sums = status != ULP_UNSUPPORTED;
    if (!sums) status = ULP_OK;
    else if (status == ULP_OK) status = ulp_probe_unit(&probe, &unit);
    if (sums && status == ULP_OK) order = tree_of(&unit);
    ULP_TRY(tool_exec_close(pipe, s->tree.exec, status, error));
    if (!sums) return ulp_fail(error, ULP_BAD_FILE, "--exec: the answers are no sums of products: %s", why.text);
    const ulp_datapath nameless = {.kind = ULP_NATIVE, .name = "program"};
    if (s->csv) puts("device,property,found,row,verdict,vector");
    else {
        tool_print_folded(2, "%s: products %s x %s, results %s; %llu sums\n", s->tree.exec, unit.a.name, unit.b.name,
                          unit.result.name, (unsigned long long)probe.runs);
        print_line("property", "found", "the row says", "verdict", "vector");
    }
    print_properties(&nameless, &probe, s->csv);
    print_tree(nameless.name, &order, NULL, s->csv);
    return ULP_OK;
}

static ulp_status run_tree(settings *s, const ulp_arguments *a, ulp_error *error) {
    const ulp_backend *backend;
    ULP_TRY(get_backend(s, &backend, error));
    return tool_tree_run(&s->tree, a, &s->product, backend, s->csv, error);
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    const ulp_setting *datapath = ulp_setting_find(a, "datapath");
    ULP_TRY(tool_tree_check(&s->tree, a, error));
    if (s->tree.tree) return run_tree(s, a, error);
    if (s->tree.exec != NULL) return run_exec(s, error);
    if (s->list && (datapath->given || s->csv)) return ulp_refuse(error, "--list stands alone");
    if (s->backend == ON_CUDA) return run_silicon(s, datapath->value, error);
    if (s->list) return tool_row_list(), ULP_OK;
    if (!datapath->given)
        return ulp_refuse(
            error,
            "--datapath is needed; --list names the rows of hardware, `ulp help datapaths` all that can be probed");
    const ulp_backend *backend;
    ULP_TRY(get_backend(s, &backend, error));
    ULP_TRY(tool_product_resolve(&s->product, backend, error));
    if (s->product.native) return run_processor(&s->product.datapath, s->csv, error);
    return run_model(&s->product.datapath, backend, s->csv, error);
}

#define PROPERTY_LINE(id, name, words, meaning) "  " name ": " meaning "\n"
#define PROPERTY_LINES ULP_PROPERTIES(PROPERTY_LINE)

const tool_command tool_probe = {
    .command =
        {.name = "ulp probe",
         .usage = "--datapath D [--csv] | --exec PROGRAM [--csv] | --tree D [--k N] [--csv] | --tree --exec PROGRAM | "
                  "--backend cuda [--datapath native:N] [--csv] | [--backend cuda] --list",
         .summary = "finds out how a fused sum is formed: block length, bits, rounding, special values",
         .details =
             "Feeds the datapath vectors that tell the cases apart, as one would a Tensor Core, and prints for each "
             "property: the value found, the value that the datapath's row says, the verdict, and the vector. The "
             "verdict compares the found value with the row: ok, DIFFERS, or - where the row does not say. Exit status "
             "1 if a value differs. `at least`, `at most`: the formats of the operands have no further numbers; `not "
             "reachable`: no vector of these formats tells, and why; `another`: an answer that has no name. Block "
             "scales are ones except in the lines about scales. Where roundings are by chance, the properties that "
             "depend on a rounding are not reachable.\n\n"
             "The properties. The terms of a sum are its products and c. They are aligned at the largest exponent of a "
             "term; an exponent of `none` does not count there.\n" PROPERTY_LINES
             "\n`ulp help datapaths` names the sources of the rows.\n\n"
             "A row stands for the instruction that the end of its name says: -mma is mma.sync (fp8 there runs on fp16 "
             "units), -k4, -k8 and -k16 are mma.sync with that k, -mx is mxf8f6f4, -mxf4, -mxf4x16, -nvf4 those of "
             "e2m1; without an end it is mma.sync on v100, t4, a100, l40s and rtx5090, wgmma on h100 and tcgen05 on "
             "b200.\n\n"
             "With --backend cuda the sums are formed by the GPU itself: native:mma:fp16 is one mma.sync instruction, "
             "without --datapath, all that the device offers, one table each. Beside the properties of the "
             "silicon stand those that the same vectors show of its model; exit status 1 if they differ, 3 where there "
             "is no such device. At the end: points on which published sources disagree or that nobody has measured, "
             "and the answers that were found. `ulp help trees` explains --tree and --exec.\n",
         .takes_words = 1},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}, {"trees and programs", tool_tree_options, offsetof(settings, tree)}},
    .run = run};

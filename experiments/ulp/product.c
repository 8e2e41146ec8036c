/* product.c - the option --datapath of subcommands that multiply: a datapath, or a device's own product. */
#include "kernels/cpu/native/native.h"
#include "tool.h"

#include <string.h>
#include <strings.h>

/* Read a datapath, or keep the name of a native product: the device is known only after all options are read. */
static int read_product(void *field, const char *text, const ulp_option *option, ulp_text *error) {
    tool_product product = {.native = ulp_datapath_is_native(text) ? text : NULL};
    int status = ULP_EXIT_FINE;
    if (!product.native) status = ulp_type_datapath.read(&product.datapath, text, option, error);
    if (status == ULP_EXIT_FINE) *(tool_product *)field = product;
    return status;
}

static void print_product(ulp_text *to, const void *field, const ulp_option *option) {
    const tool_product *product = field;
    (void)option;
    ulp_text_print(to, "%s", product->native ? product->native : product->datapath.name);
}

const ulp_option_type tool_type_product = {.value_name = "NAME",
                                           .size = sizeof(tool_product),
                                           .read = read_product,
                                           .print = print_product,
                                           .topic = "datapaths"};

int tool_product_resolve(tool_product *product, const ulp_backend *backend, const char *program) {
    char why[ULP_EXPLAIN_MAX];
    if (!product->native) return ULP_GO_ON;
    ulp_cpu_native native;
    const int of_cpu = ulp_cpu_native_parse(&native, product->native) == ULP_OK;
    const int on_cpu = backend == NULL || strcmp(backend->name, "cuda") != 0;
    if (strcasecmp(product->native, "native:f16c") == 0)
        return ulp_usage_error(program, "--datapath %s: these are conversions; `make check-silicon` compares them",
                               product->native);
    if (of_cpu && !on_cpu)
        return ulp_usage_error(program, "--datapath %s: the processor's own product, which takes --backend cpu",
                               product->native);
    if (!of_cpu && on_cpu)
        return ulp_usage_error(program,
                               "--datapath %s: a GPU's own product, which takes --backend cuda, where there is "
                               "a device, or an unknown one; `ulp backends` lists the processor's",
                               product->native);
    const ulp_status status = ulp_datapath_native(&product->datapath, product->native, why);
    if (status == ULP_OK) return ULP_GO_ON;
    ulp_complain(program, "--datapath %s", why);
    return status == ULP_NO_DEVICE ? ULP_EXIT_LACKING : ULP_EXIT_USAGE;
}

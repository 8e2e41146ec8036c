/* product.c - the option --datapath of subcommands that multiply: a datapath, or a device's own product. */
#include "kernels/cpu/native/native.h"
#include "kernels/cuda/unit.h"
#include "kernels/mpfr/oracle.h"
#include "tool.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Read a datapath, or keep the name of a native product: the device is known only after all options are read. */
static ulp_status read_product(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    tool_product product = {.native = ulp_datapath_is_native(text) ? text : NULL};
    if (!product.native) ULP_TRY(ulp_type_datapath.read(&product.datapath, text, option, error));
    *(tool_product *)field = product;
    return ULP_OK;
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

/* Whether a name is that of a GPU's product. A build without CUDA goes by the beginning: a unit, or a format. */
static int is_of_gpu(const char *name) {
    char first[ULP_NAME_MAX];
    ulp_cuda_native gpu;
    ulp_format f;
    const ulp_status status = ulp_cuda_native_parse(&gpu, name);
    const char *begin = name + strlen("native:");
    if (status == ULP_OK || status == ULP_BAD_NAME) return status == ULP_OK;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(begin, ":.-"), begin);
    return strcasecmp(first, "mma") == 0 || strcasecmp(first, "wgmma") == 0 || strcasecmp(first, "tcgen05") == 0 ||
           ulp_format_parse(&f, first) == ULP_OK;
}

/* A native product that the processor does not know: a GPU's, one with settings, or a misspelt name. */
static ulp_status refuse_native(const char *name, ulp_error *error) {
    char names[600] = "", base[ULP_DATAPATH_NAME_MAX];
    ulp_cpu_native native;
    if (is_of_gpu(name))
        return ulp_refuse(error,
                          "--datapath %s: a GPU's own product, which takes --backend cuda, where there is a "
                          "device; `ulp backends` lists the processor's",
                          name);
    for (size_t i = 0; ulp_cpu_native_get(i, &native) == ULP_OK; i++)
        if (strlen(names) + strlen(native.name) + 2 < sizeof names)
            strcat(strcat(names, names[0] != '\0' ? " " : ""), native.name);
    const char *colon = strchr(name + strlen("native:"), ':');
    snprintf(base, sizeof base, "%.*s", colon != NULL ? (int)(colon - name) : (int)strlen(name), name);
    if (colon != NULL && ulp_cpu_native_parse(&native, base) == ULP_OK)
        return ulp_refuse(error, "--datapath %s: '%s' cannot be set, since the instruction of %s is what it is", name,
                          colon + 1, native.name);
    return ulp_refuse(error, "--datapath %s: no native product of that name%s\nthe processor's: %s", name,
                      ulp_guess_of(name, names, 2, "", "").text, names);
}

ulp_status tool_product_resolve(tool_product *product, const ulp_backend *backend, ulp_error *error) {
    if (!product->native) return ULP_OK;
    ulp_cpu_native native;
    const int of_cpu = ulp_cpu_native_parse(&native, product->native) == ULP_OK;
    const int on_cpu = backend == NULL || strcmp(backend->name, "cuda") != 0;
    if (backend != NULL && strcmp(backend->name, "mpfr") == 0)
        return ulp_refuse(
            error, "--datapath %s: a machine's own product, which MPFR does not form; the backends are cpu and cuda",
            product->native);
    if (strcasecmp(product->native, "native:f16c") == 0)
        return ulp_refuse(error, "--datapath %s: these are conversions; `make check-silicon` compares them",
                          product->native);
    if (of_cpu && !on_cpu)
        return ulp_refuse(error, "--datapath %s: the processor's own product, which takes --backend cpu",
                          product->native);
    if (!of_cpu && on_cpu) return refuse_native(product->native, error);
    const ulp_status status = ulp_datapath_native(&product->datapath, product->native, error);
    if (status == ULP_OK) return ULP_OK;
    const ulp_error why = *error;
    return ulp_fail(error, status == ULP_NO_DEVICE ? status : ULP_BAD_ARGUMENT, "--datapath %s", why.text);
}

ulp_unit tool_model_unit(const ulp_datapath *datapath, const ulp_backend *backend) {
    const int by_mpfr = backend != NULL && strcmp(backend->name, "mpfr") == 0;
    return by_mpfr ? ulp_mpfr_unit_of(datapath) : ulp_unit_of(datapath);
}

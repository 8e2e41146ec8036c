/* datapath_native.c - native products as datapaths: names that begin with native: */
#include "datapath_names.h"

#include <string.h>

#include "kernels/cpu/native/native.h"
#include "kernels/cuda/cuda.h"

static ulp_status refuse(ulp_error *error, ulp_status status, const char *text, const char *sentence) {
    return ulp_fail(error, status, "%.95s: %.250s", text, sentence);
}

/* The product of a row of a processor or a device. */
static ulp_datapath product(const char *name, uint16_t row, const ulp_format *a, const ulp_format *b,
                            const ulp_format *result) {
    ulp_datapath d = {.kind = ULP_NATIVE,
                      .accumulator = *result,
                      .result = *result,
                      .length = 1,
                      .step = 1,
                      .native = row,
                      .has_inputs = 1,
                      .a = *a,
                      .b = *b};
    strcpy(d.name, name);
    return d;
}

static ulp_status from_processor(ulp_datapath *datapath, const ulp_cpu_native *native, ulp_error *error) {
    if (native->lacks[0] != '\0') return refuse(error, ULP_NO_DEVICE, native->name, native->lacks);
    *datapath = product(native->name, native->row, &native->a, &native->b, &native->result);
    datapath->zero_a = native->zero_a;
    return ULP_OK;
}

ulp_status ulp_datapath_native(ulp_datapath *datapath, const char *text, ulp_error *error) {
    ulp_cuda_native native;
    ulp_cpu_native processor;
    ulp_datapath model;
    ulp_datapath_parts parts;
    ulp_error_clear(error);
    if (datapath == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    if (ulp_cpu_native_parse(&processor, text) == ULP_OK) return from_processor(datapath, &processor, error);
    const int is_one = ulp_datapath_is_native(text) && ulp_datapath_cut(&parts, text);
    ulp_status status = is_one ? ulp_cuda_native_parse(&native, text) : ULP_BAD_NAME;
    if (status == ULP_BAD_NAME)
        return refuse(error, status, text, "no native product of that name; `ulp help datapaths` lists them");
    if (status != ULP_OK) return refuse(error, status, text, ulp_cuda_lacks());
    if (native.lacks[0] != '\0') return refuse(error, ULP_NO_DEVICE, text, native.lacks);
    *datapath = product(native.name, native.row, &native.a, &native.b, &native.result);
    datapath->promote = native.promote;
    datapath->scale_block = native.scale_block;
    datapath->scale = native.scale;
    if (native.model[0] != '\0' && ulp_datapath_parse(&model, native.model) == ULP_OK)
        datapath->nan_code = model.nan_code;
    return ULP_OK;
}

/* datapath_native.c - native products as datapaths: names that begin with native: */
#include "datapath_names.h"

#include <string.h>

#include "kernels/cpu/native/native.h"
#include "kernels/cuda/cuda.h"

static ulp_status refuse(ulp_error *error, ulp_status status, const char *text, const char *sentence) {
    return ulp_fail(error, status, "%.95s: %.250s", text, sentence);
}

/* The processor's own product. The model gives the code of NaN. */
static ulp_status from_processor(ulp_datapath *datapath, const ulp_cpu_native *native, ulp_error *error) {
    if (native->lacks[0] != '\0') return refuse(error, ULP_NO_DEVICE, native->name, native->lacks);
    *datapath = (ulp_datapath){.kind = ULP_NATIVE,
                               .accumulator = native->result,
                               .result = native->result,
                               .length = 1,
                               .step = 1,
                               .native = native->row,
                               .has_inputs = 1,
                               .a = native->a,
                               .b = native->b,
                               .zero_a = native->zero_a};
    strcpy(datapath->name, native->name);
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
    *datapath = (ulp_datapath){.kind = ULP_NATIVE,
                               .accumulator = native.result,
                               .result = native.result,
                               .length = 1,
                               .step = 1,
                               .native = native.row,
                               .promote = native.promote,
                               .has_inputs = 1,
                               .a = native.a,
                               .b = native.b,
                               .scale_block = native.scale_block,
                               .scale = native.scale};
    strcpy(datapath->name, native.name);
    if (native.model[0] != '\0' && ulp_datapath_parse(&model, native.model) == ULP_OK)
        datapath->nan_code = model.nan_code;
    return ULP_OK;
}

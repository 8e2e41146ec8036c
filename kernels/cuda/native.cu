// native.cu - native products by name: the list, the products that this device offers, and their models.
#include "native.h"
#include "native_rows.h"
#include "kernels/products/datapath_names.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

namespace {

/* The end of a model's name on each generation of GPUs: the model is GPU-MODEL and this end. NULL: no model is known.
 * `same`: the model has one name on all GPUs. */
struct unit {
    bool same;
    const char *ampere, *hopper, *b200, *rtx; /* ampere: and earlier GPUs */
};
constexpr unit ANY = {true, NULL, NULL, NULL, NULL};
constexpr unit WHOLE = {false, "", "", "-mma", ""};
/* before Hopper, half of k is half of the steps, and the model is the row of the whole k */
constexpr unit HALF_K8 = {false, "", "-k8", NULL, NULL}, HALF_K4 = {false, "", "-k4", NULL, NULL};
constexpr unit EIGHT_BITS = {false, "", "-mma", "-mma", ""};
constexpr unit HOPPER = {false, NULL, "", NULL, NULL}, TCGEN05 = {false, NULL, NULL, "", NULL};

/* The operands of an instruction: codes in 16 bytes, 0 for codes of whole bytes; the format of the scales ("":
 * none), the products that share a scale. */
struct form {
    unsigned in_16_bytes;
    const char *scale;
    unsigned scale_block;
};
constexpr form PLAIN = {0, "", 0};
#define KIND(name, text, products, scale, block) constexpr form name = {(products) / 2, scale, block};
ULP_TCGEN05_KINDS(KIND)
#undef KIND
#define KIND(name, text, ...) constexpr const char *name##_TEXT = "tcgen05.mma m128n16, m128n128 kind::" text;
ULP_TCGEN05_KINDS(KIND)
#undef KIND

struct row {
    ulp_native_family family;
    const char *name, *a, *b, *result, *model;
    unit where;
    const char *what;
    bool fast;
    form operands;
};

const row rows[] = {
#define ROW(row, name, a, b, result, model, unit, instruction, ...)                                                    \
    {ULP_NATIVE_BY_MMA, name, a, b, result, model, unit, "mma.sync " instruction, false, PLAIN},
    ULP_NATIVE_MMA(ROW) ULP_NATIVE_MMA64(ROW)
#undef ROW
#define ROW(row, name, a, b, result, model, unit, types, ...)                                                          \
    {ULP_NATIVE_BY_WGMMA, name, a, b, result, model, unit, "wgmma m64n8, m64n128 " types, false, PLAIN},
        ULP_NATIVE_WGMMA(ROW)
#undef ROW
#define ROW(row, name, a, b, result, model, unit, kind, ...)                                                           \
    {ULP_NATIVE_BY_TCGEN05, name, a, b, result, model, unit, kind##_TEXT, false, kind},
            ULP_NATIVE_TCGEN05(ROW)
#undef ROW
#define ROW(row, name, a, b, result, model, unit, compute, scale, type_a, type_b, type, fast)                          \
    {ULP_NATIVE_BY_LIBRARY, name, a, b, result, model, unit, "cuBLASLt, compute type " #compute, fast != 0, PLAIN},
                ULP_NATIVE_LIBRARY(ROW)
#undef ROW
};

/* Promotions that the list has after the rows. */
const struct {
    ulp_native_row row;
    unsigned promote;
} promoted[] = {{ULP_NATIVE_WGMMA_E4M3, 64}, {ULP_NATIVE_WGMMA_E4M3, 128}};

enum { PROMOTED = sizeof promoted / sizeof promoted[0] };

/* The rows on this device, described once. They depend on the code that was compiled for the device. */
struct {
    pthread_once_t once;
    ulp_status status;
    ulp_native_code code;
    ulp_cuda_native row[ULP_NATIVE_ROWS];
} known = {PTHREAD_ONCE_INIT, ULP_OK, {}, {}};

/* ---- a row on this device ---- */

const char *generation(int capability) {
    switch (capability / 10) {
    case 7: return capability == 75 ? "t4" : "v100";
    case 8: return capability == 89 ? "l40s" : "a100";
    case 9: return "h100";
    case 10: return "b200";
    case 12: return "rtx5090";
    default: return NULL;
    }
}

const char *ending(const unit &where, int capability) {
    switch (capability / 10) {
    case 9: return where.hopper;
    case 10: return where.b200;
    case 12: return where.rtx;
    default: return where.ampere;
    }
}

/* The datapath that is expected to have the bits of the row on a device of this capability. */
void model_of(char to[ULP_DATAPATH_NAME_MAX], const row *r, int capability) {
    const char *gpu = generation(capability), *end = ending(r->where, capability);
    ulp_datapath model;
    to[0] = '\0';
    if (r->where.same) snprintf(to, ULP_DATAPATH_NAME_MAX, "%s", r->model);
    else if (gpu != NULL && end != NULL) snprintf(to, ULP_DATAPATH_NAME_MAX, "%s-%s%s", gpu, r->model, end);
    if (ulp_datapath_parse(&model, to) != ULP_OK) to[0] = '\0';
}

/* The reason why this device does not offer the row: an instruction of one generation, which needs its own code. */
void lacks_generation(char to[200], const char *instruction, int major, bool built) {
    const int capability = ulp_cuda_device()->capability;
    if (capability / 10 != major)
        snprintf(to, 200, "%s is of compute capability %d.0; this device has %d.%d", instruction, major,
                 capability / 10, capability % 10);
    else if (!built) snprintf(to, 200, "%s needs code for sm_%d0a, which this build does not hold", instruction, major);
}

/* The reason why this device does not offer the row. */
void lacks_of(char to[200], const row *r, bool fp8) {
    const int capability = ulp_cuda_device()->capability, built = known.code.architecture;
    to[0] = '\0';
    if (r->family == ULP_NATIVE_BY_WGMMA) lacks_generation(to, "wgmma", 9, known.code.wgmma != 0);
    else if (r->family == ULP_NATIVE_BY_TCGEN05) lacks_generation(to, "tcgen05", 10, known.code.tcgen05 != 0);
    else if (r->family == ULP_NATIVE_BY_MMA && capability < 80)
        snprintf(to, 200, "products by mma.sync need compute capability 8.0; this device has %d.%d", capability / 10,
                 capability % 10);
    else if (fp8 && capability < 89)
        snprintf(to, 200, "fp8 needs compute capability 8.9; this device has %d.%d", capability / 10, capability % 10);
    else if (r->family == ULP_NATIVE_BY_LIBRARY) snprintf(to, 200, "%s", ulp_native_library_lacks());
    else if (fp8 && built < 89)
        snprintf(
            to, 200,
            "fp8 needs code for compute capability 8.9 or more; what this build holds for %d.%d was compiled for %d.%d",
            capability / 10, capability % 10, built / 10, built % 10);
}

ulp_status describe(ulp_cuda_native *n, unsigned index) {
    const row *r = &rows[index];
    ULP_TRY(ulp_format_parse(&n->a, r->a));
    ULP_TRY(ulp_format_parse(&n->b, r->b));
    ULP_TRY(ulp_format_parse(&n->result, r->result));
    if (r->operands.scale_block != 0) ULP_TRY(ulp_format_parse(&n->scale, r->operands.scale));
    n->scale_block = (uint8_t)r->operands.scale_block;
    n->row = (uint16_t)index;
    n->fast = r->fast;
    n->a_scale = n->b_scale = 1.0f;
    snprintf(n->what, sizeof n->what, "%s%s", r->what, r->fast ? ", fast accumulation" : "");
    snprintf(n->name, sizeof n->name, "native:%s", r->name);
    model_of(n->model, r, ulp_cuda_device()->capability);
    lacks_of(n->lacks, r, ulp_native_is_fp8(n));
    return ULP_OK;
}

void describe_all(void) {
    known.status = ulp_native_built(&known.code);
    for (unsigned i = 0; i < ULP_NATIVE_ROWS && known.status == ULP_OK; i++) known.status = describe(&known.row[i], i);
}

} // namespace

ulp_status ulp_native_open(void) {
    ULP_TRY(ulp_cuda_open());
    pthread_once(&known.once, describe_all);
    return known.status;
}

ulp_native_family ulp_native_family_of(const ulp_cuda_native *native) { return rows[native->row].family; }

unsigned ulp_native_operand_codes(const ulp_cuda_native *native) {
    const unsigned given = rows[native->row].operands.in_16_bytes;
    return given != 0 ? given : ulp_native_in_16_bytes(&native->a);
}

/* ---- names ---- */

namespace {

/* Adds a promotion: the sum is added to a binary32 total after each `products` products. */
void promote(ulp_cuda_native *n, unsigned products) {
    const size_t name = strlen(n->name), model = strlen(n->model);
    n->promote = products;
    snprintf(n->name + name, sizeof n->name - name, ":promote=%u", products);
    if (model > 0) snprintf(n->model + model, sizeof n->model - model, ":promote=%u", products);
}

/* The row called native:NAME. -1 if there is none. */
int row_of(const char *text) {
    if (!ulp_datapath_is_native(text)) return -1;
    for (int i = 0; i < ULP_NATIVE_ROWS; i++)
        if (strcmp(text + strlen("native:"), rows[i].name) == 0) return i;
    return -1;
}

/* Whether a promotion can follow each `products` products: a multiple of the products of one instruction. */
bool can_promote(const row *r, unsigned products) {
    ulp_format a, result;
    return r->family == ULP_NATIVE_BY_WGMMA && ulp_format_parse(&result, r->result) == ULP_OK &&
           ulp_format_equal(&result, &ulp_binary32) && ulp_format_parse(&a, r->a) == ULP_OK && products <= 1u << 20 &&
           products * 16 / ulp_native_in_16_bytes(&a) % 32 == 0;
}

} // namespace

ulp_status ulp_cuda_native_get(size_t i, ulp_cuda_native *native) {
    if (native == NULL || i >= ULP_NATIVE_ROWS + PROMOTED) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_native_open());
    *native = known.row[i < ULP_NATIVE_ROWS ? i : (size_t)promoted[i - ULP_NATIVE_ROWS].row];
    if (i >= ULP_NATIVE_ROWS) promote(native, promoted[i - ULP_NATIVE_ROWS].promote);
    return ULP_OK;
}

/* Checks the name before the device is opened. */
ulp_status ulp_cuda_native_parse(ulp_cuda_native *native, const char *text) {
    ulp_datapath_parts parts;
    ulp_datapath given = {};
    given.kind = ULP_NATIVE;
    if (native == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    if (!ulp_datapath_cut(&parts, text) || ulp_datapath_settings(&given, &parts, NULL) != ULP_OK) return ULP_BAD_NAME;
    const int index = row_of(parts.base);
    const unsigned products = given.promote;
    if (index < 0 || (products != 0 && !can_promote(&rows[index], products))) return ULP_BAD_NAME;
    ULP_TRY(ulp_native_open());
    *native = known.row[index];
    if (products != 0) promote(native, products);
    return ULP_OK;
}

ulp_status ulp_native_of(ulp_cuda_native *native, const ulp_datapath *datapath) {
    if (datapath->native >= ULP_NATIVE_ROWS) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_native_open());
    *native = known.row[datapath->native];
    native->promote = datapath->promote;
    return ULP_OK;
}

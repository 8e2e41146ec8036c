/* products.c - sums of products and the prober, for other languages. */
#include "message.h"

#include "base/near_words.h"

#include <stdlib.h>

/* ---- datapaths ---- */

/* Keeps the sentence about a name that is no datapath: the parser's reason, else the nearest rows. */
static ulp_status unknown_datapath(const char *name, ulp_status status) {
    ulp_error why;
    char near[200];
    ulp_foreign_words words = {0};
    ulp_datapath_explain(&why, name);
    if (why.text[0] != '\0') return ulp_foreign_fail(status, "no datapath '%.90s'; %s", name, why.text);
    for (size_t i = 0; ulp_foreign_datapath_row(i) != NULL; i++)
        ulp_foreign_add_word(&words, ulp_foreign_datapath_row(i));
    const int found = ulp_near_words(near, sizeof near, name, words.text, 3);
    return ulp_foreign_fail(status, "no datapath '%.90s'; %s%s", name,
                            found > 0 ? "near names: " : "`ulp help datapaths` lists them", found > 0 ? near : "");
}

ulp_status ulp_foreign_datapath(ulp_datapath **datapath, const char *name) {
    ulp_error why = {0};
    ulp_datapath *const made = ulp_foreign_object(sizeof *made);
    if (made == NULL) return ULP_NO_MEMORY;
    ulp_status status = ULP_BAD_ARGUMENT;
    if (name == NULL) ulp_foreign_fail(status, "a datapath needs a name");
    else if (ulp_datapath_is_native(name)) status = ulp_datapath_native(made, name, &why);
    else status = ulp_datapath_parse(made, name);
    if (status == ULP_OK) {
        *datapath = made;
        return ULP_OK;
    }
    free(made);
    if (why.text[0] != '\0') return ulp_foreign_fail(status, "%s", why.text);
    return name == NULL ? status : unknown_datapath(name, status);
}

const char *ulp_foreign_datapath_row(size_t i) {
    ulp_datapath row;
    if (ulp_datapath_get(i, &row) != ULP_OK) return NULL;
    ulp_foreign_fail(ULP_OK, "%s", row.name);
    return ulp_foreign_error();
}

const char *ulp_foreign_datapath_text(const ulp_datapath *d, int which) {
    switch (which) {
    case ULP_FOREIGN_D_NAME: return d->name;
    case ULP_FOREIGN_D_A: return d->has_inputs ? d->a.name : "";
    case ULP_FOREIGN_D_B: return d->has_inputs ? d->b.name : "";
    case ULP_FOREIGN_D_SCALE: return d->scale_block != 0 ? d->scale.name : "";
    case ULP_FOREIGN_D_ACCUMULATOR: return d->accumulator.name;
    default: return d->result.name;
    }
}

int ulp_foreign_datapath_integer(const ulp_datapath *d, int which) {
    switch (which) {
    case ULP_FOREIGN_D_STEP: return (int)d->step;
    case ULP_FOREIGN_D_SCALE_BLOCK: return d->scale_block;
    case ULP_FOREIGN_D_FITS_BINARY32: return d->result.fits_binary32;
    default: return ulp_mode_is_stochastic(d->rule.mode);
    }
}

uint64_t ulp_foreign_datapath_words(const ulp_datapath *d, uint64_t k) { return ulp_datapath_words(d, k); }

/* ---- products ---- */

ulp_status ulp_foreign_gemm(const ulp_datapath *d, const char *backend, void *c, const void *a, const void *b,
                            const uint64_t shape[ULP_FOREIGN_SHAPE], int wide, const float *a_scales,
                            const float *b_scales, uint64_t seed, uint64_t stream, uint64_t first) {
    const ulp_backend *by;
    ULP_TRY(ulp_foreign_backend(&by, backend));
    const ulp_gemm_shape s = {.m = shape[ULP_FOREIGN_M],
                              .n = shape[ULP_FOREIGN_N],
                              .k = shape[ULP_FOREIGN_K],
                              .lda = shape[ULP_FOREIGN_LDA],
                              .ldb = shape[ULP_FOREIGN_LDB],
                              .ldc = shape[ULP_FOREIGN_LDC],
                              .a_trans = shape[ULP_FOREIGN_A_TRANS] != 0,
                              .b_trans = shape[ULP_FOREIGN_B_TRANS] != 0,
                              .accumulate = shape[ULP_FOREIGN_ACCUMULATE] != 0,
                              .a_scales = a_scales,
                              .b_scales = b_scales};
    const ulp_summation sum = {d, {seed, stream, first}};
    if (wide && d->words != 0)
        return ulp_foreign_fail(ULP_UNSUPPORTED, "%s: the backend %s does not offer the operation gemm64 with words",
                                d->name, by->name);
    const ulp_status status = wide ? ulp_backend_gemm64(by, c, a, b, &s, sum) : ulp_backend_gemm(by, c, a, b, &s, sum);
    return ulp_foreign_status(status, by, d->name);
}

/* ---- probing ---- */

typedef struct device {
    ulp_foreign_device *call;
    int *stopped;
} device;

static ulp_status device_dot(void *context, uint64_t *code, double c, ulp_products products) {
    const device *d = context;
    *d->stopped = d->call(code, c, products.a, products.b, products.k);
    return *d->stopped == 0 ? ULP_OK : ULP_DEVICE_FAILED;
}

ulp_status ulp_foreign_probe(ulp_probe **probe, ulp_foreign_device *call, const char *a, const char *b,
                             const char *result, int *stopped) {
    device d = {call, stopped};
    ulp_unit unit = {.dot = device_dot, .context = &d};
    *stopped = 0;
    ULP_TRY(ulp_foreign_parse(&unit.a, a));
    ULP_TRY(ulp_foreign_parse(&unit.b, b));
    ULP_TRY(ulp_foreign_parse(&unit.result, result));
    ulp_probe *const made = ulp_foreign_object(sizeof *made);
    if (made == NULL) return ULP_NO_MEMORY;
    const ulp_status status = ulp_probe_unit(made, &unit);
    if (status != ULP_OK) free(made);
    else *probe = made;
    return ulp_foreign_status(status, NULL, "the probe");
}

const char *ulp_foreign_property(const ulp_probe *probe, int i, int which) {
    char value[64];
    if (i < 0 || i >= ULP_PROPERTY_COUNT) return NULL;
    const ulp_property *p = &probe->property[i];
    switch (which) {
    case ULP_FOREIGN_P_NAME: return ulp_property_name((ulp_property_id)i);
    case ULP_FOREIGN_P_VALUE:
        ulp_property_text(value, (ulp_property_id)i, p->found, p->value);
        ulp_foreign_fail(ULP_OK, "%s", value);
        return ulp_foreign_error();
    case ULP_FOREIGN_P_MEANING: return ulp_property_meaning((ulp_property_id)i);
    default: return p->how;
    }
}

int ulp_foreign_found(const ulp_probe *probe, int i, int64_t *value) {
    if (i < 0 || i >= ULP_PROPERTY_COUNT) return ULP_NOT_REACHABLE;
    *value = probe->property[i].value;
    return (int)probe->property[i].found;
}

uint64_t ulp_foreign_runs(const ulp_probe *probe) { return probe->runs; }

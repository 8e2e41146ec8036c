/* blas.c - sums of OpenBLAS as devices; see tree.h. */
#include "tree.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef float sdot_function(int n, const float *x, int incx, const float *y, int incy);
typedef void sgemm_function(int order, int transa, int transb, int m, int n, int k, float alpha, const float *a,
                            int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void threads_function(int n);
typedef char *text_function(void);

static struct library {
    void *handle;
    sdot_function *sdot;
    sgemm_function *sgemm;
    char what[160];
} library;

/* Copy the address of a function; ISO C has no cast from a pointer to data. */
static int find(void *function, const char *name) {
    void *at = dlsym(library.handle, name);
    memcpy(function, &at, sizeof at);
    return at != NULL;
}

static int load(void) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    threads_function *threads;
    text_function *config, *core;
    for (size_t i = 0; library.handle == NULL && i < sizeof names / sizeof names[0]; i++)
        library.handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library.handle == NULL || !find(&library.sdot, "cblas_sdot") || !find(&library.sgemm, "cblas_sgemm")) return 0;
    if (find(&threads, "openblas_set_num_threads")) threads(1);
    strcpy(library.what, "OpenBLAS");
    if (find(&config, "openblas_get_config") && find(&core, "openblas_get_corename")) {
        char words[60] = "OpenBLAS";
        snprintf(words, sizeof words, "%.50s", config());
        char *blank = strchr(words, ' ');
        if (blank != NULL && strchr(blank + 1, ' ') != NULL) *strchr(blank + 1, ' ') = '\0';
        snprintf(library.what, sizeof library.what, "%s, kernels for %.40s, one thread", words, core());
    }
    return 1;
}

const char *tool_blas_what(void) { return library.what; }

int tool_blas_is_name(const char *name) { return strcmp(name, "cblas_sdot") == 0 || strcmp(name, "cblas_sgemm") == 0; }

static void floats_of(float *to, const double *from, size_t k) {
    for (size_t i = 0; i < k; i++) to[i] = (float)from[i];
}

static ulp_status binary32_code(uint64_t *code, float y) {
    uint32_t word;
    memcpy(&word, &y, sizeof word);
    *code = word;
    return ULP_OK;
}

static ulp_status dot_by_sdot(void *context, uint64_t *code, double c, ulp_products products) {
    const size_t k = products.k;
    float *x = malloc((2 * k + 1) * sizeof *x);
    (void)context, (void)c; /* the function has no start value */
    if (x == NULL) return ULP_NO_MEMORY;
    floats_of(x, products.a, k);
    floats_of(x + k, products.b, k);
    const float y = library.sdot((int)k, x, 1, x + k, 1);
    free(x);
    return binary32_code(code, y);
}

static ulp_status dot_by_sgemm(void *context, uint64_t *code, double c, ulp_products products) {
    enum { ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112 };
    const tool_blas_size *s = context;
    const size_t k = products.k;
    float *x = calloc(s->m * k + s->n * k + s->m * s->n + 1, sizeof *x);
    if (x == NULL) return ULP_NO_MEMORY;
    float *b = x + s->m * k, *out = b + s->n * k;
    floats_of(x, products.a, k);
    floats_of(b, products.b, k);
    out[0] = (float)c;
    library.sgemm(ROW_MAJOR, AS_IS, TRANSPOSED, (int)s->m, (int)s->n, (int)k, 1.0f, x, (int)k, b, (int)k, 1.0f, out,
                  (int)s->n);
    const float y = out[0];
    free(x);
    return binary32_code(code, y);
}

ulp_status tool_blas_unit(ulp_unit *unit, const char *name, const tool_blas_size *size, int *with_c) {
    memset(unit, 0, sizeof *unit);
    if (!tool_blas_is_name(name)) return ULP_BAD_NAME;
    if (!load()) return ULP_NO_DEVICE;
    *with_c = strcmp(name, "cblas_sgemm") == 0;
    unit->dot = *with_c ? dot_by_sgemm : dot_by_sdot;
    memcpy(&unit->context, &size, sizeof size); /* the context is only read */
    const ulp_status status = ulp_format_parse(&unit->result, "binary32");
    unit->a = unit->b = unit->result;
    return status;
}

/* hadamard.c - the option --hadamard; see hadamard.h. */
#include "tool/hadamard.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"
#include "tool/tool.h"

/* A number of up to 19 digits. */
static int read_number(uint64_t *number, const char *text) {
    const size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 19 || text[n] != '\0') return 0;
    *number = strtoull(text, NULL, 10);
    return 1;
}

ulp_status tool_hadamard_read(tool_hadamard *h, const char *text, uint64_t seed, int inverse, ulp_error *error) {
    uint64_t g = 0, stream = 0;
    *h = (tool_hadamard){{0}};
    if (text == NULL) return ULP_OK;
    char size[8] = "";
    const size_t n = strcspn(text, ":");
    if (n < sizeof size) memcpy(size, text, n);
    if (!read_number(&g, size) || g < 2 || g > ULP_HADAMARD_MOST || (g & (g - 1)) != 0)
        return ulp_refuse(error, "--hadamard %s: G must be a power of two from 2 to %d", text, ULP_HADAMARD_MOST);
    const char *const signs = text[n] == ':' ? text + n + 1 : "none";
    h->how = (ulp_hadamard){.g = (uint32_t)g, .inverse = (uint8_t)(inverse != 0)};
    if (strcmp(signs, "none") == 0) return ULP_OK;
    h->how.signs = ULP_SIGNS_FIXED;
    if (strcmp(signs, "te") == 0 && g == 16) return ULP_OK;
    if (strcmp(signs, "te") == 0)
        return ulp_refuse(error, "--hadamard %s: Transformer Engine has signs for G = 16 alone", text);
    h->how.signs = ULP_SIGNS_STREAM;
    if (!read_number(&stream, signs))
        return ulp_refuse(error, "--hadamard %s: the signs must be none, te, or the number of a stream", text);
    h->how.sign_stream = (ulp_stream){seed, stream, 0};
    return ULP_OK;
}

ulp_status tool_hadamard_floats(const tool_hadamard *h, float *x, size_t rows, size_t n, const char *shown,
                                ulp_error *error) {
    const ulp_backend *backend;
    if (h->how.g == 0 || rows == 0 || n == 0) return ULP_OK;
    if (n % h->how.g != 0)
        return ulp_refuse(error, "--hadamard: %s has rows of %zu numbers, which is no multiple of %u", shown, n,
                          (unsigned)h->how.g);
    ulp_status status = ulp_backend_get(&backend, "cpu");
    if (status == ULP_OK)
        status = ulp_backend_hadamard(backend, x, x, rows, n, &h->how, (ulp_rounding){.format = &ulp_binary32});
    return status == ULP_OK ? ULP_OK : ulp_fail(error, status, "%s", ulp_status_text(status));
}

static float *room_for(size_t count, const char *shown, ulp_error *error) {
    float *const narrow = count < SIZE_MAX / sizeof *narrow ? malloc(count * sizeof *narrow + 1) : NULL;
    if (narrow == NULL) ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its transform", shown);
    return narrow;
}

ulp_status tool_hadamard_doubles(const tool_hadamard *h, double *x, size_t rows, size_t n, const char *shown,
                                 ulp_error *error) {
    if (h->how.g == 0) return ULP_OK;
    float *const narrow = room_for(rows * n, shown, error);
    if (narrow == NULL) return ULP_NO_MEMORY;
    for (size_t i = 0; i < rows * n; i++) narrow[i] = (float)x[i];
    const ulp_status status = tool_hadamard_floats(h, narrow, rows, n, shown, error);
    for (size_t i = 0; i < rows * n && status == ULP_OK; i++) x[i] = (double)narrow[i];
    free(narrow);
    return status;
}

ulp_status tool_hadamard_exact(const tool_hadamard *h, ulp_exact *x, size_t n, const char *shown, ulp_error *error) {
    if (h->how.g == 0) return ULP_OK;
    float *const narrow = room_for(n, shown, error);
    if (narrow == NULL) return ULP_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        narrow[i] = (float)ulp_round_exact(x[i], &ulp_binary32, (ulp_rule){ULP_RNE, ULP_OVERFLOW_INF, 0}, 0);
    const ulp_status status = tool_hadamard_floats(h, narrow, 1, n, shown, error);
    for (size_t i = 0; i < n && status == ULP_OK; i++) x[i] = ulp_exact_of((double)narrow[i]);
    free(narrow);
    return status;
}

/* layer.c - reading the numbers in the words of a net; see layer.h. */
#include "layer.h"

ulp_status ulp_args_read(size_t *n, const char **text, size_t least, size_t most) {
    const char *at = *text;
    size_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (size_t)(*at - '0');
        if (value > most) return ULP_BAD_ARGUMENT;
    }
    if (at == *text || value < least) return ULP_BAD_ARGUMENT;
    *text = at;
    *n = value;
    return ULP_OK;
}

ulp_status ulp_args_number(size_t *n, const char *args, size_t least, size_t most) {
    ulp_status status = ulp_args_read(n, &args, least, most);
    return status == ULP_OK && *args ? ULP_BAD_ARGUMENT : status;
}

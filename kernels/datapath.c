/* datapath.c - the rows of datapaths and the parser of their names. */
#include "datapath.h"

#include <stdlib.h>
#include <string.h>

const char *ulp_datapath_names(void) {
    return "fp32                 serial fused multiply-add in binary32, the reference\n"
           "serial:FORMAT:MODE   acc <- round(acc + a b), any accumulator format and mode; MODE/R for R random bits\n";
}

/* MODE or MODE/R */
static ulp_status parse_rule(ulp_rule *rule, const char *text) {
    char name[16];
    ulp_mode mode;
    const char *slash = strchr(text, '/');
    size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
    if (n >= sizeof name) return ULP_BAD_NAME;
    memcpy(name, text, n);
    name[n] = '\0';
    ulp_status status = ulp_mode_parse(&mode, name);
    if (status != ULP_OK) return status;
    rule->mode = (uint8_t)mode;
    if (slash == NULL) return ULP_OK;
    char *end;
    long bits = strtol(slash + 1, &end, 10);
    if (end == slash + 1 || *end != '\0' || !ulp_mode_is_stochastic(mode)) return ULP_BAD_NAME;
    if (bits < 1 || bits > 32) return ULP_NOT_IN_RANGE;
    rule->random_bits = (uint8_t)bits;
    return ULP_OK;
}

/* FORMAT:MODE, where FORMAT may itself hold suffixes: the mode follows the last colon. */
static ulp_status parse_accumulator(ulp_datapath *d, const char *text) {
    char format[ULP_NAME_MAX];
    const char *colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof format) return ULP_BAD_NAME;
    memcpy(format, text, (size_t)(colon - text));
    format[colon - text] = '\0';
    ulp_status status = ulp_format_parse(&d->accumulator, format);
    return status != ULP_OK ? status : parse_rule(&d->rule, colon + 1);
}

ulp_status ulp_datapath_parse(ulp_datapath *datapath, const char *text) {
    if (datapath == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    ulp_datapath d = {.kind = ULP_SERIAL};
    ulp_status status = ULP_BAD_NAME;
    if (strlen(text) >= sizeof d.name) return ULP_BAD_NAME;
    if (strcmp(text, "fp32") == 0) status = parse_accumulator(&d, "binary32:rne");
    else if (strncmp(text, "serial:", 7) == 0) status = parse_accumulator(&d, text + 7);
    if (status != ULP_OK) return status;
    strcpy(d.name, text);
    *datapath = d;
    return ULP_OK;
}

double ulp_datapath_step(const ulp_datapath *datapath, double acc, double a, double b, uint32_t word) {
    return ulp_arith(ULP_FUSED, a, b, acc, &datapath->accumulator, datapath->rule, word);
}

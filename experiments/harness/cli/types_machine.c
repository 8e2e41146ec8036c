/* types_machine.c - the types of options that name datapaths and backends. */
#include <stdlib.h>
#include <string.h>

#include "kernels/mpfr/oracle.h"
#include "options.h"
#include "types.h"

/* ---- datapaths ---- */

/* Write why a name is refused: the parser's reason, else the nearest known names. */
static ulp_status refuse_datapath(const char *text, ulp_status status, ulp_error *error) {
    ulp_error why;
    ulp_datapath row;
    ulp_text known = {0};
    ulp_datapath_explain(&why, text);
    for (size_t i = 0; ulp_datapath_get(i, &row) == ULP_OK; i++) ulp_text_print(&known, "%s ", row.name);
    const int named = status == ULP_BAD_NAME;
    ulp_refuse(error, "%s%s%s%s%s%s%s\n(`ulp help datapaths` lists them)", named ? ": no datapath '" : "", text,
               named ? "'" : ": ", named ? "" : ulp_status_text(status), why.text[0] ? "; " : "", why.text,
               why.text[0] ? "" : ulp_guess_of(text, ulp_text_of(&known), 3, "", "").text);
    ulp_text_free(&known);
    return ULP_BAD_ARGUMENT;
}

static ulp_status read_datapath(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    const ulp_status status = ulp_datapath_parse(field, text);
    (void)o;
    return status == ULP_OK ? ULP_OK : refuse_datapath(text, status, error);
}

/* ---- backends ---- */

static ulp_status read_backend(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    if (strcmp(text, "mpfr") == 0) ulp_reference_allocate_by(ulp_grow);
    const ulp_status status = ulp_backend_get(field, text);
    (void)o;
    if (status == ULP_OK) return ULP_OK;
    if (status == ULP_BAD_NAME) return ulp_refuse_word(error, "backend", text, ulp_backend_names(), "");
    ulp_refuse(error, "%s: %s", text, ulp_backend_lacks(text));
    return status == ULP_NO_DEVICE ? ULP_NO_DEVICE : ULP_BAD_ARGUMENT;
}

static void list_backends(ulp_text *to) { ulp_text_print(to, "%s", ulp_backend_names()); }

static void print_backend(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%s", (*(const ulp_backend *const *)field)->name);
}

const ulp_option_type ulp_type_datapath = {.value_name = "NAME",
                                           .size = sizeof(ulp_datapath),
                                           .read = read_datapath,
                                           .print = ulp_name_print,
                                           .topic = "datapaths"};
const ulp_option_type ulp_type_datapaths = {.value_name = "LIST",
                                            .size = sizeof(ulp_datapath_list),
                                            .read = ulp_named_list_read,
                                            .print = ulp_named_list_print,
                                            .release = ulp_list_release,
                                            .item = &ulp_type_datapath,
                                            .topic = "datapaths"};
const ulp_option_type ulp_type_backend = {.value_name = "NAME",
                                          .size = sizeof(const ulp_backend *),
                                          .read = read_backend,
                                          .print = print_backend,
                                          .list = list_backends};

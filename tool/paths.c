/* paths.c - product paths of the processor: which path serves a product, and the table of all paths. */
#include "paths.h"

#include "kernels/products/multiword.h"
#include "kernels/products/split_k.h"

int tool_paths_narrow(const ulp_datapath *datapath, const ulp_format *a, const ulp_format *b) {
    return a->fits_binary32 && b->fits_binary32 && datapath->result.fits_binary32;
}

/* ---- ulp gemm --explain ---- */

void tool_paths_explain(const ulp_backend *backend, const ulp_datapath *datapath, int wide,
                        const ulp_gemm_shape *shape) {
    ulp_datapath word, part;
    size_t count;
    const ulp_product_path *paths = ulp_product_paths(backend, &count);
    printf("datapath    %s, in arrays of %s\n", datapath->name, wide ? "binary64" : "binary32");
    printf("backend     %s %s\n", backend->name, backend->what);
    if (paths == NULL) {
        tool_print_folded(12, "path        none: only the backend cpu chooses between paths");
        return;
    }
    ulp_job job = {.datapath = datapath, .wide = wide, .s = *shape, .columns = shape->n};
    if (datapath->words != 0 && ulp_multiword_unit(&word, datapath) == ULP_OK) {
        job.datapath = &word;
        printf("words       %d products under %s\n", ulp_word_pairs(datapath), word.name);
    }
    if (datapath->split_k != 0 && ulp_split_k_part(&part, datapath) == ULP_OK) {
        const size_t length = ulp_split_k_length(datapath, shape->k);
        job.datapath = &part;
        job.s.k = length < shape->k ? length : shape->k;
        job.s.accumulate = 0;
        if (ulp_datapath_print(part.name, sizeof part.name, &part) != ULP_OK) strcpy(part.name, datapath->name);
        tool_print_folded(12, "%-11s %zu sum%s of %zu products under %s; then %s, where they are added", "parts",
                          shape->k / length + (shape->k % length != 0), shape->k <= length ? "" : "s", job.s.k,
                          part.name, datapath->split_k_total.name);
    }
    const char *label = "path";
    for (size_t i = ulp_product_path_for(paths, count, 0, &job); i < count;
         i = ulp_product_path_for(paths, count, i + 1, &job)) {
        tool_print_folded(12, "%-11s %s serves %s", label, paths[i].name, paths[i].what);
        if (paths[i].condition[0] == '\0') return;
        tool_print_folded(12, "condition   %s", paths[i].condition);
        label = "else";
    }
}

/* ---- ulp backends --products ---- */

/* Whether row i of a table is the first row that serves its own example. */
static int serves_example(const ulp_product_path *paths, size_t count, size_t i) {
    ulp_error why;
    ulp_datapath d;
    const ulp_status status = ulp_datapath_is_native(paths[i].example) ? ulp_datapath_native(&d, paths[i].example, &why)
                                                                       : ulp_datapath_parse(&d, paths[i].example);
    const ulp_job job = {.datapath = &d,
                         .wide = status == ULP_OK && !d.result.fits_binary32,
                         .s = {.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64},
                         .columns = 64};
    return status == ULP_OK && ulp_product_path_for(paths, count, 0, &job) == i;
}

void tool_paths_list(const ulp_backend *backend) {
    enum { INDENT = 18 };
    size_t count;
    const ulp_product_path *paths = ulp_product_paths(backend, &count);
    tool_print_folded(
        0, "A product runs on the first of these paths that serves the product and whose condition holds (%s %s):",
        backend->name, backend->what);
    for (size_t i = 0; i < count; i++) {
        tool_print_folded(INDENT, "%-17s %s", paths[i].name, paths[i].what);
        tool_print_folded(INDENT, "%*sexample: %s%s", INDENT, "", paths[i].example,
                          serves_example(paths, count, i) ? "" : ", which another path serves here, or none");
        if (paths[i].condition[0] != '\0')
            tool_print_folded(INDENT, "%*scondition: %s", INDENT, "", paths[i].condition);
    }
}

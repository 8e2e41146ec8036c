/* sums.c - ulp vectors: the sums of a datapath as a table; see vectors.h. */
#include "vectors.h"

#include <string.h>

/* The general forms, with the format of a and b where it is not the accumulator's. */
static const struct form {
    const char *name, *in;
} forms[] = {
    {"fp32", NULL},
    {"serial:fp32:rne", "fp16"},
    {"serial:fp32:rne", "e4m3"},
    {"serial:fp32:rz", NULL},
    {"serial:fp16:rne", NULL},
    {"serial:fp16:rz", NULL},
    {"serial:fp16:ro", NULL},
    {"serial:bf16:rne", NULL},
    {"serial:fp64:rne", NULL},
    {"split:fp16:rne", NULL},
    {"split:bf16:rne", NULL},
    {"split:fp32:rne", NULL},
    {"chunk8:fp16:rne", NULL},
    {"chunk64:fp16:rne", NULL},
    {"chunk64:bf16:rne", NULL},
    {"block4:fp16:rne", NULL},
    {"block16:fp32:rne", "fp16"},
    {"pairwise:fp16:rne", NULL},
    {"pairwise:fp32:rne", NULL},
    {"kahan:fp16:rne", NULL},
    {"kahan:fp32:rne", NULL},
    {"exact:fp16:rne", NULL},
    {"exact:bf16:rne", NULL},
    {"exact:fp32:rne", NULL},
    {"exact:fp32:rne", "e5m2"},
    {"int8", NULL},
    {"int8:sat", NULL},
    {"h100-e4m3:promote=64", NULL},
};

ulp_status vectors_datapath(size_t i, ulp_datapath *datapath, const char **in) {
    size_t rows = 0;
    *in = NULL;
    if (ulp_datapath_get(i, datapath) == ULP_OK) return ULP_OK;
    while (ulp_datapath_get(rows, datapath) == ULP_OK) rows++;
    if (i - rows >= sizeof forms / sizeof forms[0]) return ULP_BAD_ARGUMENT;
    *in = forms[i - rows].in;
    return ulp_datapath_parse(datapath, forms[i - rows].name);
}

/* ---- rows ---- */

typedef struct tables {
    const vectors_product *product;
    vectors_file file;
    ulp_text csv;
    vectors_array *kind, *c, *start, *a, *b, *result, *scale_start, *a_scales, *b_scales;
} tables;

static void add_columns(tables *t) {
    const ulp_datapath *d = &t->product->datapath;
    const size_t c = vectors_code_bytes(d->result.bits), a = vectors_code_bytes(t->product->a.bits);
    t->kind = vectors_add(&t->file, 'u', 1, "kind");
    t->c = vectors_add(&t->file, 'u', c, "c");
    t->start = vectors_add(&t->file, 'u', 4, "start");
    t->a = vectors_add(&t->file, 'u', a, "a");
    t->b = vectors_add(&t->file, 'u', vectors_code_bytes(t->product->b.bits), "b");
    t->result = vectors_add(&t->file, 'u', c, "result");
    vectors_put(t->start, 0);
    ulp_text_print(&t->csv, "kind,k,c,a,b%s,result\n", d->scale_block != 0 ? ",a_scales,b_scales" : "");
    if (d->scale_block == 0) return;
    const size_t scale = vectors_code_bytes(d->scale.bits);
    t->scale_start = vectors_add(&t->file, 'u', 4, "scale_start");
    t->a_scales = vectors_add(&t->file, 'u', scale, "a_scales");
    t->b_scales = vectors_add(&t->file, 'u', scale, "b_scales");
    vectors_put(t->scale_start, 0);
}

/* A cell of codes with blanks between them. */
static void put_codes(tables *t, vectors_array *to, const uint64_t *codes, size_t n, int bits) {
    for (size_t i = 0; i < n; i++) {
        vectors_put(to, codes[i]);
        vectors_cell(&t->csv, codes[i], bits);
        if (i > 0) t->csv.data[t->csv.length - (size_t)(bits + 3) / 4 - 1] = ' ';
    }
}

static void put_sum(tables *t, const vectors_sum *s, uint64_t i) {
    static const char *const kinds[VECTORS_KIND_COUNT] = {VECTORS_KINDS};
    const vectors_product *p = t->product;
    const int c_bits = p->datapath.result.bits, scale_bits = p->datapath.scale.bits;
    ulp_text_print(&t->csv, "%s,%zu", kinds[i % VECTORS_KIND_COUNT], s->k);
    vectors_put(t->kind, i % VECTORS_KIND_COUNT);
    put_codes(t, t->c, &s->c, 1, c_bits);
    put_codes(t, t->a, s->a, s->k, p->a.bits);
    put_codes(t, t->b, s->b, s->k, p->b.bits);
    vectors_put(t->start, t->a->bytes.length / t->a->size);
    if (t->scale_start != NULL) {
        put_codes(t, t->a_scales, s->a_scales, s->blocks, scale_bits);
        put_codes(t, t->b_scales, s->b_scales, s->blocks, scale_bits);
        vectors_put(t->scale_start, t->a_scales->bytes.length / t->a_scales->size);
    }
    put_codes(t, t->result, &s->result, 1, c_bits);
    ulp_text_add(&t->csv, "\n", 1);
}

/* ---- files ---- */

const char vectors_index[] = "datapath,file,a,b,c and result,products in a step,scale,products of a scale\n";

static void set_product(vectors_product *p, const ulp_datapath *d, const char *in) {
    *p = (vectors_product){.datapath = *d, .a = d->accumulator, .b = d->accumulator};
    if (d->has_inputs) p->a = d->a, p->b = d->b;
    else if (in != NULL && ulp_format_parse(&p->a, in) == ULP_OK) p->b = p->a;
    p->block = d->promote != 0 ? d->promote : d->step > d->length ? d->step : d->length;
    if (p->block < 8) p->block = d->kind == ULP_ALIGNED ? p->block : 16;
    if (p->block > VECTORS_LONGEST / 2) p->block = VECTORS_LONGEST / 2;
}

ulp_status vectors_of_datapath(ulp_text *index, const ulp_datapath *d, const char *in, const vectors_request *request,
                               ulp_error *error) {
    vectors_product product;
    vectors_sum sum;
    char name[128], path[160];
    set_product(&product, d, in);
    snprintf(name, sizeof name, "%s%s%s", d->name, in != NULL ? "-" : "", in != NULL ? in : "");
    tables t = {.product = &product};
    vectors_draw draw = vectors_draw_for(request->seed, name);
    ulp_status status = ULP_OK;
    add_columns(&t);
    for (uint64_t i = 0; i < request->sums && status == ULP_OK; i++) {
        if (vectors_sum_make(&sum, &product, i, &draw) == ULP_OK) put_sum(&t, &sum, i);
        else status = ulp_fail(error, ULP_BAD_FILE, "%s: a sum has no code in %s", d->name, d->result.name);
    }
    vectors_file_name(path, "datapaths", name, ".csv");
    if (status == ULP_OK) status = vectors_write_text(request, path, &t.csv, error);
    vectors_file_name(path, "datapaths", name, ".npz");
    if (status == ULP_OK) status = vectors_write_npz(request, path, &t.file, error);
    ulp_text_print(index, "%s,%s,%s,%s,%s,%u,%s,%d\n", d->name, path, product.a.name, product.b.name, d->result.name,
                   d->step, d->scale_block != 0 ? d->scale.name : "", d->scale_block);
    vectors_free(&t.file);
    ulp_text_free(&t.csv);
    return status;
}

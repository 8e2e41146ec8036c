/* dot.c - one dot product on many machines: the results of all datapaths, and the aligned terms of one of them. */
#include "page.h"
#include "kernels/products/sum.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 256 };

/* The products that are set, values of `inputs`. */
static struct products {
    ulp_format inputs;
    double c, a[MOST], b[MOST];
    size_t k;
} set;

/* Datapaths without hardware, in the order of the page; the rows of the hardware follow. */
static const char *const forms[] = {"fp32",
                                    "split:binary32:rne",
                                    "pairwise:binary32:rne",
                                    "kahan:binary32:rne",
                                    "exact:binary32:rne",
                                    "serial:binary16:rne",
                                    "serial:bfloat16:rne"};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* Datapath i of the page. A row is on the page if both inputs have one format and it has no block scales. 0 past the
 * end; -1 for a row that is not on the page. */
static int machine(size_t i, ulp_datapath *d) {
    if (i < FORMS) return ulp_datapath_parse(d, forms[i]) == ULP_OK;
    if (ulp_datapath_get(i - FORMS, d) != ULP_OK) return 0;
    return d->scale_block == 0 && strcmp(d->a.name, d->b.name) == 0 ? 1 : -1;
}

/* The formats of operands: the inputs of the rows, each once. */
WEB_EXPORT(web_inputs) const char *web_inputs(void) {
    char seen[400] = " ";
    ulp_datapath d;
    web_begin();
    web_list("inputs");
    for (size_t i = FORMS; machine(i, &d) != 0; i++) {
        char word[ULP_NAME_MAX + 2];
        snprintf(word, sizeof word, " %s ", d.a.name);
        if (machine(i, &d) < 0 || strstr(seen, word) != NULL) continue;
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s ", d.a.name);
        web_item();
        web_string(d.a.name);
    }
    web_add("]");
    return web_end();
}

/* ---- the products ---- */

static int read_operand(double *to, const char *word, const ulp_format *f, size_t line) {
    double x;
    if (!web_number_read(&x, word)) {
        web_refuse("Line %zu: \"%.40s\" is not a number. Allowed are 0.1, -2.5e-3, 0x1.8p-4, 2^-14, 3*2^-7.", line,
                   word);
        return 0;
    }
    *to = ulp_round(x, f, (ulp_rule){ULP_RNE, ULP_OVERFLOW_INF, 0}, 0);
    if (web_is_too_large(word, x) || (x - x == 0 && (*to - *to != 0 || *to > f->max || *to < f->lowest))) {
        web_refuse("Line %zu: %.40s is beyond %s, whose largest number is %.17g.", line, word, f->name, f->max);
        return 0;
    }
    return 1;
}

/* Reads the words "a b" of a line. Returns the number of words, of which at most 3 are kept; -1: a word is too long. */
static int words_of(char words[3][400], const char *at, const char *end) {
    int n = 0;
    while (at < end) {
        const size_t blanks = strspn(at, " \t\r,;");
        if (at + blanks >= end) break;
        at += blanks;
        size_t length = strcspn(at, " \t\r\n,;");
        if (length >= sizeof words[0]) return -1;
        if (n < 3) snprintf(words[n], sizeof words[n], "%.*s", (int)length, at);
        n++;
        at += length;
    }
    return n;
}

/* The number of lines that hold a word. */
static size_t lines_of(const char *text) {
    size_t n = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        n += strspn(text, " \t\r,;") < length;
        text += length + (text[length] == '\n');
    }
    return n;
}

static int read_products(const char *text) {
    size_t line = 1;
    set.k = 0;
    for (const char *at = text; *at != '\0'; line++) {
        char words[3][400];
        const size_t length = strcspn(at, "\n");
        const int n = words_of(words, at, at + length);
        if (web_comma_unclear(at + strspn(at, " \t\r"), (double)line)) return 0;
        at += length + (at[length] == '\n');
        if (n == 0) continue;
        if (n < 0) return web_refuse("Line %zu has a word of more than 399 characters.", line), 0;
        if (n != 2)
            return web_refuse("Line %zu has %d number%s. Each line needs two, the operands of one product.", line, n,
                              n == 1 ? "" : "s"),
                   0;
        if (set.k == MOST)
            return web_refuse("There are %zu products. Allowed are at most %d.", MOST + lines_of(at) + 1, MOST), 0;
        if (!read_operand(&set.a[set.k], words[0], &set.inputs, line) ||
            !read_operand(&set.b[set.k], words[1], &set.inputs, line))
            return 0;
        set.k++;
    }
    if (set.k == 0) return web_refuse("There is no product. Type two numbers in a line, for example 0.5 2^-12."), 0;
    return 1;
}

/* The exact sum less y, rounded once to binary64. */
static double exact_sum_less(double y) {
    static ulp_wide wide;
    ulp_format f;
    ulp_format_parse(&f, "binary64");
    ulp_wide_clear(&wide);
    ulp_wide_add(&wide, set.c, 1);
    for (size_t i = 0; i < set.k; i++) ulp_wide_add(&wide, set.a[i], set.b[i]);
    ulp_wide_add(&wide, y, -1);
    return ulp_round_exact(ulp_wide_exact(&wide), &f, (ulp_rule){0}, 0);
}

/* Sets the products: lines "a b", and the start c in binary32. The operands are rounded to nearest even in `inputs`. */
WEB_EXPORT(web_dot_set) const char *web_dot_set(const char *c, const char *products, const char *inputs) {
    ulp_format fp32;
    double start;
    ulp_format_parse(&fp32, "binary32");
    if (!web_format_read(&set.inputs, inputs)) return web_answer();
    if (strchr(c, ',') != NULL)
        return web_refuse("The start \"%.40s\" is not a number: write a point, not a comma, as in 0.1.", c);
    if (!web_number_read(&start, c))
        return web_refuse("The start \"%.40s\" is not a number. Allowed are 0, -2.5e-3, 2^-14, 3*2^-7.", c);
    if (!read_products(products)) return web_answer();
    set.c = ulp_round(start, &fp32, (ulp_rule){0}, 0);
    if (web_is_too_large(c, start) || (start - start == 0 && set.c - set.c != 0))
        return web_refuse("The start %.40s is beyond binary32.", c);
    web_begin();
    web_integer_field("k", (int64_t)set.k);
    web_exact_field("c", set.c);
    web_exact_field("exact", exact_sum_less(0));
    web_list("products");
    for (size_t i = 0; i < set.k; i++) web_add("%s[\"%.17g\",\"%.17g\"]", i > 0 ? "," : "", set.a[i], set.b[i]);
    web_add("]");
    return web_end();
}

/* Random products as text: numbers of [1, 2) 2^-e with a random sign, e random from 0 to `spread`. */
WEB_EXPORT(web_dot_random) const char *web_dot_random(double count, double spread, double seed) {
    char text[64 * MOST] = "";
    size_t used = 0;
    if (!(count >= 1 && count <= (double)MOST))
        return web_refuse("%.17g products are not possible. Allowed are 1 to %d.", count, MOST);
    if (!(spread >= 0 && spread <= 100))
        return web_refuse("The spread %.17g is not possible. Allowed are 0 to 100.", spread);
    if (!web_seed_read(seed)) return web_answer();
    for (uint32_t i = 0; i < 2 * (uint32_t)count; i++) {
        const ulp_stream s = {(uint64_t)seed, 0, 0};
        const uint32_t word = ulp_random_word(s, 2 * (uint64_t)i);
        const int e = (int)(ulp_random_uniform(s, 2 * (uint64_t)i + 1) * (spread + 1));
        const double x = ulp_scale(1 + (word >> 22) * 0x1p-10, -e); /* 11 significant bits, as binary16 has */
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%.12g%s", word & 1 ? "-" : "", x, i % 2 ? "\n" : " ");
    }
    web_begin();
    web_text_field("products", text);
    return web_end();
}

/* ---- machines ---- */

static int is_value(double x, const ulp_format *f) {
    uint64_t code;
    return ulp_encode(&code, x, f) == ULP_OK;
}

/* Whether the datapath's formats hold the operands and the start. */
static int holds(const ulp_datapath *d) {
    int yes = is_value(set.c, &d->result);
    for (size_t i = 0; d->has_inputs && i < set.k; i++) yes &= is_value(set.a[i], &d->a) && is_value(set.b[i], &d->b);
    return yes;
}

/* Whether the page draws the aligned terms: c is one of them. */
static int is_drawn(const ulp_datapath *d) {
    return d->kind == ULP_ALIGNED && d->fused.join == 0 && !d->fused.c_last && d->split_k == 0;
}

/* How a row of the hardware that is not drawn forms a sum, in a few words; "" for other datapaths. */
static void add_rule(const ulp_datapath *d) {
    char text[120] = "";
    const ulp_chains *s = &d->chains;
    if (d->kind == ULP_ALIGNED && d->fused.join != 0)
        snprintf(text, sizeof text, "%d products, cut to %d bits; their sum and c are rounded down", d->fused.length,
                 d->fused.fraction);
    else if (d->kind == ULP_ALIGNED && d->fused.c_last)
        snprintf(text, sizeof text, "%d products, rounded to odd at %d bits; c is added last", d->fused.length,
                 d->fused.fraction);
    else if (d->kind == ULP_CHAINS)
        snprintf(text, sizeof text, "%d products in %d chain%s, a rounding after each addition%s", s->length, s->lanes,
                 s->lanes > 1 ? "s" : "", s->c_last ? "; c is added last" : "");
    else if (d->kind == ULP_SERIAL && d->has_inputs && d->length > 1)
        snprintf(text, sizeof text, "the exact sum of c and %u products, rounded once", d->length);
    else if (d->kind == ULP_SERIAL && d->has_inputs)
        snprintf(text, sizeof text, "one fused multiply-add after the other");
    web_text_field("rule", text);
}

static void add_machine(const ulp_datapath *d) {
    const double y = ulp_dot(d, set.c, (ulp_products){set.a, set.b, set.k, NULL, NULL}, (ulp_stream){0}),
                 over = exact_sum_less(y);
    uint64_t code = 0;
    const int known = ulp_datapath_code(&code, y, d) == ULP_OK;
    web_object();
    web_text_field("name", d->name);
    web_text_field("inputs", d->has_inputs ? d->a.name : "");
    web_text_field("result", d->result.name);
    web_integer_field("aligned", is_drawn(d));
    add_rule(d);
    web_integer_field("late", d->kind == ULP_ALIGNED && d->fused.late);
    web_integer_field("length", d->kind == ULP_ALIGNED ? d->fused.length : 1);
    web_integer_field("fraction", d->kind == ULP_ALIGNED ? d->fused.fraction : 0);
    web_integer_field("kept", d->kind == ULP_ALIGNED ? d->fused.kept : d->result.prec - 1);
    web_text_field("output", ulp_mode_name((ulp_mode)(d->kind == ULP_ALIGNED ? d->fused.output : d->rule.mode)));
    web_exact_field("value", y);
    web_bits_field("code", known, code, &d->result);
    web_number_field("error", y - y != 0 ? y : over == 0 ? 0 : -over);
    web_add("}");
}

/* The results of all machines whose formats hold the operands; `left_out` counts the others. */
WEB_EXPORT(web_dot_machines) const char *web_dot_machines(void) {
    ulp_datapath d;
    int64_t others = 0;
    int kind;
    web_begin();
    web_list("machines");
    for (size_t i = 0; (kind = machine(i, &d)) != 0; i++) {
        if (kind < 0) continue;
        if (!holds(&d)) {
            others++;
            continue;
        }
        add_machine(&d);
    }
    web_add("]");
    web_integer_field("others", others);
    return web_end();
}

/* ---- the terms of one machine ---- */

/* Products first .. first + n - 1 as one fused sum that starts at c. */
typedef struct block {
    double c, a[ULP_STEP_MAX], b[ULP_STEP_MAX];
    size_t at[ULP_STEP_MAX]; /* positions in the sum */
    uint32_t n;
} block;

static void add_term(const char *name, size_t index, ulp_term t, int32_t unit, uint32_t align) {
    const int64_t kept = ulp_term_align(t, unit, align);
    web_object();
    web_text_field("name", name);
    web_integer_field("index", (int64_t)index);
    web_integer_field("negative", t.neg);
    web_key("m");
    web_add("\"%llu\"", (unsigned long long)t.m);
    web_integer_field("low", t.e - t.w);
    web_integer_field("top", t.e);
    web_key("kept");
    web_add("\"%lld\"", (long long)kept);
    web_add("}");
}

/* Adds the terms of a fused sum as ulp_fused_sum aligns them, their sum and the rounded result. Returns the result. */
static double add_block(const ulp_datapath *d, const block *k) {
    const ulp_fused *f = &d->fused;
    const ulp_term c = ulp_term_of(k->c, d->accumulator.prec, d->accumulator.emin);
    ulp_term terms[ULP_STEP_MAX];
    const double y = ulp_fused_sum(d, k->c, k->a, k->b, k->n, 0);
    int32_t emax = ulp_max_i32(f->floor, c.m != 0 ? c.e : f->zero_c);
    for (uint32_t i = 0; i < k->n; i++) {
        const ulp_term x = ulp_term_of(k->a[i], d->a_prec, d->a_emin), z = ulp_term_of(k->b[i], d->b_prec, d->b_emin);
        const int32_t e = ulp_product_exponent(f, x, z);
        terms[i] = (ulp_term){x.m * z.m, x.e + z.e, x.w + z.w, x.neg ^ z.neg};
        if (e != ULP_NO_EXPONENT) emax = ulp_max_i32(emax, e);
    }
    web_object();
    web_exact_field("result", y);
    web_exact_field("start", k->c);
    if (ulp_fused_special(k->c, k->a, k->b, k->n) != 0 || emax == ULP_NO_EXPONENT) {
        web_integer_field("drawn", 0);
        web_add("}");
        return y;
    }
    const int32_t unit = emax - f->fraction;
    int64_t total = ulp_term_align(c, unit, f->align);
    for (uint32_t i = 0; i < k->n; i++) total += ulp_term_align(terms[i], unit, f->align);
    web_integer_field("drawn", 1);
    web_integer_field("emax", emax);
    web_integer_field("unit", unit);
    web_key("total");
    web_add("\"%lld\"", (long long)total);
    web_integer_field("agrees", ulp_fused_round(d, total, unit) == y);
    web_list("terms");
    add_term("c", 0, c, unit, f->align);
    for (uint32_t i = 0; i < k->n; i++) add_term("product", k->at[i] + 1, terms[i], unit, f->align);
    web_add("]}");
    return y;
}

/* The blocks of a Tensor Core, one after the other. With `late` a step has two blocks, and c is added last. */
static void add_blocks(const ulp_datapath *d) {
    const uint32_t halves = d->fused.late ? 2 : 1;
    double c = set.c;
    for (size_t first = 0; first < set.k; first += d->step) {
        double partial = d->fused.late ? 0.0 : c;
        for (uint32_t half = 0; half < halves; half++) {
            block k = {.c = partial};
            for (size_t i = first; i < set.k && i < first + d->step; i++) {
                if (halves == 2 && ((i - first) >> 1 & 1u) != half) continue;
                k.a[k.n] = set.a[i];
                k.b[k.n] = set.b[i];
                k.at[k.n++] = i;
            }
            partial = add_block(d, &k);
        }
        const ulp_exact sum = ulp_exact_add(ulp_exact_of(c), ulp_exact_of(partial));
        c = halves == 2 ? ulp_round_exact(sum, &d->accumulator, (ulp_rule){0}, 0) : partial;
    }
}

/* The partial sums of a datapath that adds product after product. */
static void add_partial_sums(const ulp_datapath *d) {
    static ulp_sum s;
    ulp_sum_start(&s, d, set.c, 0);
    for (size_t i = 0; i < set.k; i++) {
        ulp_sum_step(&s, d, &(ulp_products){set.a + i, set.b + i, 1, NULL, NULL}, (ulp_stream){0});
        web_object();
        web_exact_field("sum", s.acc);
        web_add("}");
    }
}

WEB_EXPORT(web_dot_terms) const char *web_dot_terms(const char *name) {
    ulp_datapath d;
    ulp_error why;
    if (ulp_datapath_parse(&d, name) != ULP_OK) {
        ulp_datapath_explain(&why, name);
        return web_refuse("\"%.60s\" is not a machine: %s.", name, why.text);
    }
    if (!holds(&d)) return web_refuse("The formats of %s do not hold all operands.", d.name);
    web_begin();
    web_text_field("name", d.name);
    web_integer_field("fraction", d.fused.fraction);
    web_integer_field("late", d.fused.late);
    web_list("blocks");
    if (is_drawn(&d)) add_blocks(&d);
    web_add("]");
    web_list("sums");
    const int one_by_one = (d.kind == ULP_SERIAL && d.length == 1) || d.kind == ULP_SPLIT || d.kind == ULP_KAHAN;
    if (one_by_one && d.split_k == 0) add_partial_sums(&d);
    web_add("]");
    return web_end();
}

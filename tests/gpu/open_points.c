/* open_points.c - the table of open points: questions, answers, and the sums that tell the answers apart. */
#include "open_points.h"

#include "check.h"
#include "kernels/products/unit.h"

/* ---- numbers ---- */

/* The i-th random word of a sum. */
typedef struct words {
    uint64_t seed, next;
} words;

static uint32_t draw(words *w, uint32_t below) {
    return (uint32_t)((uint64_t)word_of(w->seed, w->next++) * below >> 32);
}

/* A value of f near m 2^e, 1 <= m < 2, of either sign; 0 if 2^e is below the values of f. */
static double value_at(words *w, int e, const ulp_format *f) {
    const ulp_rule rule = {ULP_RZ, ULP_OVERFLOW_SAT, 0};
    const double m = 1.0 + (double)draw(w, 1u << 24) * 0x1p-24, x = ulp_round(ulp_scale(m, e), f, rule, 0);
    return draw(w, 2) ? -x : x;
}

static void put(point_sum *s, size_t at, double a, double b) {
    s->a[at] = a;
    s->b[at] = b;
}

/* Puts two values of the operands' formats whose product is x. 0 if there are none. */
static int put_product(point_sum *s, size_t at, double x, const ulp_datapath *d) {
    double a, b;
    if (!ulp_factor(&a, &b, x, &d->a, &d->b)) return 0;
    put(s, at, a, b);
    return 1;
}

/* An empty sum of one or two instructions, each with 32 bytes of k, or 64 products of 4 bits with scales. */
static words start(point_sum *s, const ulp_datapath *d, uint64_t i) {
    const size_t bytes = d->a.bits == 19 ? 4 : d->a.bits == 16 ? 2 : 1;
    words w = {i + 1, 0};
    memset(s, 0, sizeof *s);
    const size_t whole = 32 / bytes, length = d->fused.length;
    s->k = (length > whole ? length : whole) * (1 + draw(&w, 2));
    return w;
}

/* ---- sums ---- */

/* Numbers of ordinary size in all places, and a start value of their size. */
static void form_ordinary(point_sum *s, const ulp_datapath *now, uint64_t i) {
    words w = start(s, now, i);
    const int spread = 1 + (int)draw(&w, 7);
    for (size_t k = 0; k < s->k; k++) {
        const double a = value_at(&w, (int)draw(&w, 2 * (uint32_t)spread) - spread, &now->a);
        put(s, k, a, value_at(&w, (int)draw(&w, 2 * (uint32_t)spread) - spread, &now->b));
    }
    s->c = value_at(&w, (int)draw(&w, 12) - 6, &now->result);
}

/* A product 0 b or a 0 beside small products and a small start value. */
static void form_zero_operand(point_sum *s, const ulp_datapath *now, uint64_t i) {
    words w = start(s, now, i);
    const size_t first = draw(&w, 4);
    const int large = now->b.emax - (int)draw(&w, 8), small = -(int)draw(&w, 150);
    if (draw(&w, 2)) put(s, first, 0.0, value_at(&w, large, &now->b));
    else put(s, first, value_at(&w, large, &now->a), 0.0);
    put_product(s, first + 1, ulp_scale(1.0, small), now);
    if (draw(&w, 2)) put_product(s, first + 2, -ulp_scale(1.0, small - (int)draw(&w, 12)), now);
    if (draw(&w, 4) == 0) s->c = value_at(&w, small - (int)draw(&w, 6), &now->result);
}

/* Sums near the least result. The last kept bit of tiny terms decides, so that half of the sums lie at the border of
 * two results: h is half the least result, t = 2^-j is far below h, and the sum is h + t for a rounding to nearest, or
 * (h - t) + h/2 + h/2 + t for a rounding toward zero. These terms are the first or the last products. The others are
 * zeros, or tiny products that cancel, and c is zero or tiny. */
static void form_tiny(point_sum *s, const ulp_datapath *now, uint64_t i) {
    words w = start(s, now, i);
    enum { TERMS = 4 };
    const size_t first = draw(&w, 2) ? 0 : s->k - TERMS;
    const double least = now->result.min_positive, h = ulp_scale(1.0, now->result.qmin - 1),
                 t = ulp_scale(1.0, now->result.qmin - 1 - (int)draw(&w, 40)), sign = draw(&w, 2) ? -1.0 : 1.0;
    const double nearest[TERMS] = {h, t, 0.0, 0.0}, zero[TERMS] = {h - t, h / 2, h / 2, t};
    const int border = draw(&w, 2) != 0, lowest = now->result.qmin - 12;
    for (size_t n = 0; n < TERMS; n++) {
        const double term = now->fused.output == ULP_RNE ? nearest[n] : zero[n];
        const int e = lowest + (int)draw(&w, 30), of_a = e / 2 - (int)draw(&w, 3);
        if (border && term != 0.0) put_product(s, first + n, sign * term, now);
        if (!border && draw(&w, 2)) put(s, first + n, value_at(&w, of_a, &now->a), value_at(&w, e - of_a, &now->b));
    }
    const double x = now->a.min_positive, y = now->b.min_positive;
    if (draw(&w, 2))
        for (size_t at = 0; at < s->k; at += 2)
            if (at < first || at >= first + TERMS) put(s, at, x, y), put(s, at + 1, -x, y);
    if (draw(&w, 2)) s->c = (double)((int)draw(&w, 9) - 4) * least;
}

/* Large products of both signs on a start value near the ends of int32. */
static void form_at_the_end(point_sum *s, const ulp_datapath *now, uint64_t i) {
    words w = start(s, now, i);
    for (size_t k = 0; k < s->k; k++) put(s, k, (double)draw(&w, 256) - 128.0, draw(&w, 2) ? 127.0 : -128.0);
    s->c = draw(&w, 2) ? 0x1p31 - 1.0 - (double)draw(&w, 100000) : (double)draw(&w, 100000) - 0x1p31;
}

/* ---- products ---- */

static int has(const char *text, const char *part) { return strstr(text, part) != NULL; }
static int is_fp8(const ulp_cuda_native *d) { return d->a.bits == 8 && !d->a.is_fixed; }

/* A Tensor Core product whose model aligns its terms; promotions have the sums of the product without one. */
static int is_aligned(const ulp_cuda_native *d, int capability) {
    (void)capability;
    return d->model[0] != '\0' && d->promote == 0 && !d->a.is_fixed && d->a.bits <= 19 &&
           (has(d->name, ":mma:") || has(d->name, ":wgmma:") || has(d->name, ":tcgen05:"));
}

static int is_saturating(const ulp_cuda_native *d, int capability) {
    (void)capability;
    return has(d->name, ":mma:int8:sat") || has(d->name, ":tcgen05:int8:sat");
}

static int is_fp8_by_mma(const ulp_cuda_native *d, int capability) {
    return is_fp8(d) && has(d->name, ":mma:") && (capability / 10 == 9 || capability / 10 == 10);
}

static int is_wgmma_fp8(const ulp_cuda_native *d, int capability) {
    return is_fp8(d) && has(d->name, ":wgmma:") && is_aligned(d, capability);
}

static int is_wgmma_fp8_to_half(const ulp_cuda_native *d, int capability) {
    return is_wgmma_fp8(d, capability) && d->result.bits == 16;
}

static int is_fp8_of_blackwell(const ulp_cuda_native *d, int capability) {
    return is_fp8(d) && is_aligned(d, capability) && d->result.bits == 32 &&
           (has(d->name, ":tcgen05:") || (has(d->name, ":mma:") && capability / 10 == 12));
}

/* Instructions with half of k have no model after Hopper. */
static int is_half_of_k(const ulp_cuda_native *d, int capability) {
    return has(d->name, ":mma:") && (has(d->name, "-k8") || has(d->name, "-k4")) && capability >= 100;
}

#define MMA_SIM "MMA-Sim (arXiv 2511.10909)"
#define KM "Khattak and Mikaitis (arXiv 2512.07004)"
#define H100 "; an H100 (h100.txt): "

static const open_point points[] = {
    {"zero operand",
     "With which exponent does the zero of a product 0 b count in the alignment?",
     MMA_SIM " of 2025: -126; " KM ", MMA-Sim 2.1.1: it does not count" H100 "it does not count",
     ".fused.zero_operand of its row",
     is_aligned,
     form_zero_operand,
     {{"*:zero_operand=none", 0, "it does not count"}, {"*:zero_operand=-126", 0, "with -126"}}},
    {"zero start",
     "With which exponent does c = 0 count in the alignment?",
     MMA_SIM " of 2025: -126; " KM ", MMA-Sim 2.1.1: it does not count" H100 "it does not count",
     ".fused.zero_c of its row",
     is_aligned,
     form_tiny,
     {{"*:zero_c=none", 0, "it does not count"}, {"*:zero_c=-126", 0, "with -126"}}},
    {"floor",
     "What is the lowest exponent of the alignment?",
     KM ": measured with fp16 and bf16, -15 for binary16 results in an early version; nobody measured tf32 and fp8" H100
        "as in the model for bf16, tf32 and fp16 with binary16 results; not -15 for fp16 and for e5m2 with binary16 "
        "results",
     "the floor of its row",
     is_aligned,
     form_tiny,
     {{"*", 0, "as in the model"},
      {"*:floor=none", 0, "no floor"},
      {"*:floor=^", 0, "higher by one"},
      {"*:floor=~", 0, "lower by one"},
      {"*:floor=-15", 0, "-15"}}},
    {"negative underflow",
     "What sign has a negative sum that becomes zero?",
     MMA_SIM ": +0; not measured on all units" H100 "+0",
     ".fused.signed_zero of its row",
     is_aligned,
     form_tiny,
     {{"*:signed_zero=0", 0, "+0"}, {"*:signed_zero=1", 0, "-0"}}},
    {"start of wgmma",
     "Is c a term of the sum of fp8 by wgmma?",
     MMA_SIM " alone: it is" H100 "it is",
     ".fused.c_last of its row",
     is_wgmma_fp8,
     form_ordinary,
     {{"*:c_last=0", 0, "it is a term of the sum"}, {"*:c_last=1", 0, "it is added last"}}},
    {"rounding of wgmma",
     "How does wgmma round a sum of fp8 products to binary16?",
     MMA_SIM ": to nearest even; " KM ": not validated" H100 "to nearest even",
     ".rounding of its row",
     is_wgmma_fp8_to_half,
     form_ordinary,
     {{"*:output=rne", 0, "to nearest even"}, {"*:output=rz", 0, "toward zero"}}},
    {"fp8 by mma.sync",
     "Does mma.sync of fp8 run on the units of fp16?",
     "machine code of ptxas 13.0: it does; other releases may differ" H100 "it does",
     "the unit EIGHT_BITS in kernels/cuda/native.cu",
     is_fp8_by_mma,
     form_ordinary,
     {{"*", 0, "it does"}, {"h100-%", 0, "it runs on the fp8 units of wgmma"}, {"b200-%", 0, "on those of tcgen05"}}},
    {"bits of fp8",
     "How many bits of a product does Blackwell keep below the largest exponent?",
     MMA_SIM ": 25; not measured on B200",
     "F and kept of its row",
     is_fp8_of_blackwell,
     form_ordinary,
     {{"*", 0, "25"}, {"*:F=13:kept=13", 0, "13, and 13 of the result"}, {"*:F=13", 0, "13"}}},
    {"half of k",
     "Which sum has an instruction with half of k after Hopper?",
     "nobody measured it",
     "the unit HALF_K8 or HALF_K4 in kernels/cuda/native.cu",
     is_half_of_k,
     form_ordinary,
     {{"h100-%", 0, "the sum of Hopper"},
      {"a100-&", 0, "the sum of Ampere"},
      {"h100-&", 0, "the sum of Hopper's whole k"}}},
    {"clamp of int8",
     "After how many products does .satfinite clamp?",
     "the PTX manual does not say" H100 "after 32",
     "the length of int8:sat in kernels/products/datapath_names.c",
     is_saturating,
     form_at_the_end,
     {{"*", 0, "after the 32 products of an instruction"},
      {"*", 16, "after 16"},
      {"*", 4, "after 4"},
      {"*", 1, "after each one"}}},
};

const open_point *open_point_get(size_t i) { return i < sizeof points / sizeof points[0] ? &points[i] : NULL; }

/* The operands in a product's name: "fp16-k8" of native:mma:fp16-k8. */
static const char *operands_of(const ulp_cuda_native *product) {
    const char *family = strchr(product->name, ':');
    const char *operands = family != NULL ? strchr(family + 1, ':') : NULL;
    return operands != NULL ? operands + 1 : "";
}

static const char floors[] = "#^~";

int open_point_path(ulp_datapath *path, const open_point *p, size_t which, const ulp_cuda_native *product) {
    char name[2 * ULP_DATAPATH_NAME_MAX] = "";
    const char *operands = operands_of(product);
    const point_answer *answer = which < POINT_ANSWERS ? &p->answer[which] : NULL;
    ulp_datapath model;
    memset(path, 0, sizeof *path);
    memset(&model, 0, sizeof model);
    if (answer == NULL || answer->path == NULL) return 0;
    if (strpbrk(answer->path, floors) != NULL && ulp_datapath_parse(&model, product->model) != ULP_OK) return 0;
    for (const char *c = answer->path; *c != '\0'; c++) {
        const size_t used = strlen(name);
        if (*c == '*') snprintf(name + used, sizeof name - used, "%s", product->model);
        else if (strchr(floors, *c) != NULL)
            snprintf(name + used, sizeof name - used, "%d", model.fused.floor + (*c == '^') - (*c == '~'));
        else if (*c == '%') snprintf(name + used, sizeof name - used, "%s", operands);
        else if (*c == '&') snprintf(name + used, sizeof name - used, "%.*s", (int)strcspn(operands, "-"), operands);
        else snprintf(name + used, sizeof name - used, "%c", *c);
    }
    if (name[0] == ':' || ulp_datapath_parse(path, name) != ULP_OK) return 0;
    if (answer->length == 0) return 1;
    path->length = answer->length;
    return ulp_datapath_init(path) == ULP_OK;
}

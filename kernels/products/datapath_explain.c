/* datapath_explain.c - the list of datapath names for help, and the reason why a name is refused. */
#include "datapath_names.h"
#include "base/near_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ulp_datapath_names(void) {
    return "fp32                   serial fused multiply-add in binary32, the reference\n"
           "serial:FORMAT:MODE     acc <- round(acc + a b), any accumulator format and mode; MODE/R for R random bits\n"
           "split:FORMAT:MODE      acc <- round(acc + round(a b))\n"
           "chunkN:FORMAT:MODE     serial sums of N products, and a serial sum of these\n"
           "blockN:FORMAT:MODE     the exact sum of N products (1 to 64) added with one rounding\n"
           "pairwise:FORMAT:MODE   a binary tree over the rounded products\n"
           "kahan:FORMAT:MODE      Kahan's compensated sum\n"
           "exact:FORMAT:MODE      one rounding of the exact sum\n"
           "int8, int8:sat         int8 products in int32 that wraps, or clamps every 32 products\n"
           "uint8, uint8.int8, int8.uint8, each also :sat  the same with uint8 (0 to 255) for both, a, or b;\n"
           "                       :zero-points=ZA,ZB subtracts zero points, as ONNX MatMulInteger\n"
           "vnni-int8[-sat], vnni-int16[-sat]  x86 VPDPBUSD[S] (codes of a have no sign; 128 is subtracted), "
           "VPDPWSSD[S] in int32\n"
           "maddubs-int8[-wrap]    x86 VPMADDUBSW, VPMADDWD, VPADDD: a is uint8, and the sum of two products is\n"
           "                       clamped to int16, or wraps; four products in int32 that wraps\n"
           "MACHINE-INPUT[.INPUT][-ACCUMULATOR][-UNIT]  a matrix or dot-product unit, as h100-fp16, a100-fp16-fp16,\n"
           "                       h100-e4m3.e5m2, b200-e2m1-nvf4; `ulp probe --list` names all. The machines:\n"
           "NVIDIA                 v100 t4 a100 l40s h100 b200 rtx5090. Without a unit: wgmma on h100, tcgen05 on "
           "b200,\n"
           "                       else mma.sync; h100-fp16-wgmma is h100-fp16. -mma: mma.sync, where fp8 of h100 and\n"
           "                       b200 runs on fp16 units; -k4 -k8 -k16: mma.sync with this k; -mx -mxf4 -mxf4x16 "
           "-nvf4:\n"
           "                       scales; -mxf4x16: one of e8m0 for 16 numbers\n"
           "fast accumulation      use_fast_accum of torch._scaled_mm and cuBLASLt: h100-e4m3, l40s-e4m3 add all FP8\n"
           "                       products in the Tensor Core. Without it: h100-e4m3:promote=128, every 128 products\n"
           "                       move to binary32 (N of CUTLASS and DeepGEMM; cuBLASLt documents none)\n"
           "AMD                    mi100 mi250 mi300, MFMA; -p2: the older bf16 instruction\n"
           "x86                    avx512: VDPBF16PS, VDPPHPS; amx: TDPBF16PS, TDPFP16PS and those of FP8\n"
           "Arm                    arm: BFDOT, BFMMLA, FDOT; -ebf: FPCR.EBF = 1; -fmlal, -fmopa\n"
           "RISC-V                 riscv: the draft of Zvdota\n"
           "(mma.sync in f64 forms sums as serial:fp64:rne does)\n"
           "native:...             the processor's own products, next to their models: avx512-bf16 avx512-fp16 "
           "vnni-int8\n"
           "                       vnni-int8-sat vnni-int16 vnni-int16-sat maddubs-int8 amx-bf16 amx-fp16 amx-int8;\n"
           "                       `ulp backends` says which are there.\n"
           "                       With --backend cuda, in `ulp gemm`, `ulp probe` and policies: a GPU's own "
           "products.\n"
           "                       native:mma:INPUT[.INPUT][-ACCUMULATOR][-UNIT]  by mma.sync: fp16 bf16 tf32 e4m3 "
           "e5m2 int8 fp64,\n"
           "                       fp16-fp16 e4m3-fp16 ..., e4m3.e5m2 ..., fp16-k8 bf16-k8 tf32-k4, int8:sat\n"
           "                       native:wgmma:...[:promote=N]  by wgmma: fp16 bf16 tf32 e4m3 e5m2, fp16-fp16 "
           "e4m3-fp16 ...,\n"
           "                       e4m3.e5m2 ...; N a multiple of the products of one instruction\n"
           "                       native:tcgen05:...  by tcgen05.mma: the same, int8, int8:sat; pairs of e4m3 e5m2 "
           "e3m2 "
           "e2m3 e2m1,\n"
           "                       e2m1-fp16 ...; block scales: e4m3-mx ..., e2m1-mxf4, e2m1-nvf4\n"
           "                       native:INPUT...  by cuBLASLt: fp32 tf32 fp16 fp16-fp16 bf16 e4m3 e4m3.e5m2 "
           "e5m2.e4m3 int8, fp8\n"
           "                       also with :fast, fast accumulation\n";
}

/* Appends the part of a text that fits ULP_EXPLAIN_MAX bytes. */
static void say(char *to, const char *text) { strncat(to, text, ULP_EXPLAIN_MAX - 1 - strlen(to)); }

static void say_modes(char *to) {
    for (int m = 0; m < ULP_MODE_COUNT; m++) {
        say(to, " ");
        say(to, ulp_mode_name((ulp_mode)m));
    }
}

/* Explains a bad name of the form KIND:FORMAT:MODE. */
static void explain_form(char *to, const ulp_datapath_form *form, const char *rest) {
    char format[ULP_NAME_MAX];
    ulp_format f;
    ulp_rule rule = {0, 0, 0};
    const unsigned long length = form->numbered ? strtoul(rest, NULL, 10) : 1;
    const int digits = (int)strspn(rest, "0123456789");
    const char *mode = ulp_datapath_split(format, rest[digits] == ':' ? rest + digits + 1 : "");
    if ((form->numbered ? digits == 0 : digits > 0) || mode == NULL) {
        say(to, form->name);
        say(to, form->numbered ? "N:FORMAT:MODE, N a number of products" : ":FORMAT:MODE is the form");
    } else if (length < 1 || length > ULP_LONGEST_SUM) {
        say(to, form->name);
        say(to, form->kind == ULP_SERIAL ? "N: N is 1 to 64" : "N: N is 1 to 16777216");
    } else if (ulp_format_parse(&f, format) != ULP_OK) {
        say(to, "no format '");
        say(to, format);
        say(to, "'; `ulp formats` names them, or eXmY, qI.F");
    } else if (ulp_datapath_rule(&rule, mode) != ULP_OK) {
        say(to, "no mode '");
        say(to, mode);
        say(to, "'; modes are");
        say_modes(to);
        say(to, ", the stochastic ones with /R for 1 to 32 random bits");
    }
}

/* Explains the bad name of a row: names the nearest rows with this beginning, then all of them. */
static void explain_row(char *to, const char *base) {
    enum { SHOWN = 12 };
    char all[4096] = "", near[2 * ULP_DATAPATH_NAME_MAX];
    ulp_datapath d;
    size_t count = 0, used = 0, shown = 0;
    const size_t n = strcspn(base, "-") + 1;
    for (size_t i = 0; base[n - 1] != '\0' && ulp_datapath_get(i, &d) == ULP_OK; i++) {
        const size_t length = strlen(d.name);
        if (strncmp(d.name, base, n) != 0 || used + length + 2 > sizeof all) continue;
        if (count == SHOWN) shown = used;
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", count == 0 ? "" : " ", d.name);
        count++;
    }
    if (count == 0) return;
    say(to, "no row of that name; ");
    if (ulp_near_words(near, sizeof near, base, all, 2) > 0) {
        say(to, "did you mean ");
        say(to, near);
        say(to, "? ");
    }
    if (shown != 0) all[shown] = '\0';
    say(to, "there are ");
    say(to, all);
    if (shown != 0) say(to, " ...; `ulp probe --list` names all");
}

/* Explains settings that cannot be read. Returns 0 if they can. */
static int explain_settings(char *to, ulp_datapath *d, const ulp_datapath_parts *parts) {
    ulp_error error;
    if (ulp_datapath_settings(d, parts, &error) == ULP_OK) return 0;
    say(to, error.text);
    return 1;
}

/* Explains a name whose last word would be a setting if it had a value: h100-fp16:F. Returns 0 for other names. */
static int explain_setting(char *to, const char *base) {
    ulp_datapath d = {.kind = ULP_SERIAL, .length = 1};
    ulp_datapath_parts p = {.settings = ""};
    const char *colon = strrchr(base, ':');
    if (colon == NULL) return 0;
    if (colon[1] == '\0') {
        say(to, "a colon has nothing after it");
        return 1;
    }
    memcpy(p.base, base, (size_t)(colon - base));
    strcpy(p.settings, colon);
    return ulp_datapath_base(&d, p.base) == ULP_OK && explain_settings(to, &d, &p);
}

/* Explains settings of an aligned sum that do not fit each other. */
static void explain_aligned(char *to, const ulp_datapath *d) {
    const ulp_fused *f = &d->fused;
    char range[120] = "";
    if (f->join == 0 && (f->normal != 0 || f->parts != 0 || f->c_cut))
        say(to, "normal, parts and c_cut need join: c is a term of this sum");
    else if (f->c_last && (f->join != 0 || f->late || d->scale_block != 0))
        say(to, "c_last: not with join, with scales, or with two sums of one instruction (-mma of FP8)");
    else if (f->join != 0 && (f->join < f->fraction || f->join > f->fraction + 12))
        snprintf(range, sizeof range, "join=%d: it is F to F + 12, here %d to %d, or 0", f->join, f->fraction,
                 f->fraction + 12);
    else if (f->join != 0 && f->normal > f->join)
        snprintf(range, sizeof range, "normal=%d: it is at most join, here %d", f->normal, f->join);
    else if (f->join != 0) say(to, "join: with parts 1 or 2, without scales and without a floor");
    else if (f->kept >= d->accumulator.prec)
        snprintf(range, sizeof range, "kept=%d: it is at most %d, the fraction bits of the accumulator", f->kept,
                 d->accumulator.prec - 1);
    else say(to, "L: a multiple of the scales' block, at most 64 (-mma of FP8: 32)");
    say(to, range);
}

/* Explains the words of other libraries for sums of FP8 that stay in the Tensor Core. Returns 0 without such a word. */
static int explain_fast_accumulation(char *to, const char *text) {
    char letters[ULP_DATAPATH_NAME_MAX + 1] = "";
    for (size_t n = 0; *text != '\0' && n + 1 < sizeof letters; text++)
        if (strchr("-_ ", *text) == NULL) letters[n++] = *text >= 'A' && *text <= 'Z' ? (char)(*text + 32) : *text;
    if (strstr(letters, "fastacc") == NULL) return 0;
    say(to,
        "fast accumulation is a choice of row: h100-e4m3 (or l40s-e4m3) adds all products of FP8 in the Tensor "
        "Core, use_fast_accum=True; h100-e4m3:promote=128 moves the sum to binary32 every 128 products, "
        "use_fast_accum=False (CUTLASS and DeepGEMM; cuBLASLt documents no number). b200 rows keep 25 bits and need "
        "no promotion");
    return 1;
}

/* Explains a split-k that does not fit the row. Returns 0 if the fault is elsewhere. */
static int explain_split_k(char *to, const ulp_datapath *d) {
    ulp_datapath one = *d;
    one.split_k = 0;
    if (d->split_k == 0 || ulp_datapath_init(&one) != ULP_OK) return 0;
    if (d->words != 0) say(to, "split-k: not with words=, whose sums go on from each other");
    else if (ulp_mode_is_stochastic(d->rule.mode)) say(to, "split-k: not with a stochastic mode");
    else {
        say(to, "split-k: the values of FORMAT have to fit binary32, in which the parts are added; not ");
        say(to, d->split_k_format.name);
    }
    return 1;
}

/* Writes the reason why `text` is refused. */
static void explain(char *to, const char *text) {
    ulp_datapath d;
    ulp_datapath_parts p;
    const char *rest;
    if (!ulp_datapath_is_native(text) && explain_fast_accumulation(to, text)) return;
    if (!ulp_datapath_cut(&p, text)) {
        say(to, "a name has at most 95 characters");
        return;
    }
    d = (ulp_datapath){.kind = ULP_SERIAL, .length = 1};
    const ulp_status status = ulp_datapath_base(&d, p.base);
    const ulp_datapath_form *form = ulp_datapath_form_of(p.base, &rest);
    if (status != ULP_OK) {
        if (ulp_datapath_is_native(p.base))
            say(to, "this native: name is none of the processor's; others are a GPU's own products: for `ulp gemm`, "
                    "`ulp probe` and policies with --backend "
                    "cuda, where there is a device");
        else if (explain_setting(to, p.base)) return;
        else if (form != NULL) explain_form(to, form, rest);
        else explain_row(to, p.base);
        return;
    }
    if (explain_settings(to, &d, &p) || explain_split_k(to, &d)) return;
    if (d.words == 0 && (d.words_small_first || d.words_cut))
        say(to, "split and first need words=N, the number of words of an operand");
    else if (d.promote != 0 && d.kind == ULP_CHUNKED) say(to, "promote: chunks have an outer sum of their own");
    else if (d.promote != 0) {
        char range[120] = "promote: the accumulator has to fit binary32";
        const unsigned promote = d.promote;
        d.promote = 0; /* to find the products of one sum */
        if (ulp_datapath_init(&d) == ULP_OK && promote % d.step != 0)
            snprintf(range, sizeof range, "promote=%u: a multiple of %u, the products of one sum", promote, d.step);
        say(to, range);
    } else if (d.kind == ULP_ALIGNED) explain_aligned(to, &d);
    else if (d.kind == ULP_CHAINS)
        say(to, "length: a multiple of term times lanes, twice that if swapped; lanes: a power of two");
    else say(to, d.length > 1 ? "blockN: N is 1 to 64" : "wrap-around is for fixed point");
}

ulp_status ulp_datapath_explain(ulp_error *error, const char *text) {
    char why[ULP_EXPLAIN_MAX] = "";
    ulp_datapath d = {.kind = ULP_SERIAL, .length = 1};
    ulp_error_clear(error);
    const ulp_status status = ulp_datapath_parse(&d, text);
    if (status == ULP_OK) return ULP_OK;
    explain(why, text);
    return ulp_fail(error, status, "%s", why);
}

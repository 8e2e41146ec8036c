/* datapath.h - how a sum of products is formed, as data.
 *
 * A datapath defines the result of every output of a GEMM element by element: sum over k = 0, 1, ... of
 * a[k] b[k], in the order that the datapath states, from a start value c. Tiles, threads, vectors and devices may not
 * change a bit of it. The definition, one step function for host and device, is sum.h. Names are those of the command
 * line, ulp_datapath_names() lists them.
 */
#ifndef ULP_DATAPATH_H
#define ULP_DATAPATH_H

#include "formats/round.h"
#include "kernels/key_values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ulp_datapath_kind {
    ULP_SERIAL,   /* acc <- round(acc + a b), or with `length` products at a time: their exact sum, one rounding */
    ULP_SPLIT,    /* acc <- round(acc + round(a b)) */
    ULP_CHUNKED,  /* sums of `length` products, each from +0, and a serial sum of these sums from c (Wang et al. 2018,
                     arXiv 1812.08011, section 3.1) */
    ULP_PAIRWISE, /* a binary tree over the rounded products: the left part is the largest power of two below their
                     number; c is added last (Higham 2002, Accuracy and Stability, section 4.2) */
    ULP_KAHAN,    /* y = round(a b - e), t = round(acc + y), e = round(round(t - acc) - y), acc = t (Kahan 1965,
                     doi:10.1145/363707.363723) */
    ULP_EXACT,    /* one rounding of the exact sum of c and all products, whatever their number and range */
    ULP_ALIGNED,  /* blocks of products and the accumulator, aligned, truncated, added, rounded once: Tensor Cores */
    ULP_NATIVE    /* a device's own product, defined by what the device does: for the backend of that device alone */
} ulp_datapath_kind;

/* No exponent: an operand that takes no part in the alignment; no floor. */
enum { ULP_NO_EXPONENT = INT16_MIN };

/* The most products that one step takes. */
enum { ULP_STEP_MAX = 64 };

/* One fused sum of products as Tensor Cores form it (shared facts: Fasi et al. 2021, doi:10.7717/peerj-cs.330; Xie et
 * al. 2025, arXiv 2511.10909; Khattak and Mikaitis 2025, arXiv 2512.07004). Products are exact and not normalised.
 * Emax is the largest exponent of a non-zero term, each term becomes a multiple of 2^(Emax - fraction), the terms are
 * added exactly and rounded once. Fields that no measurement has settled are marked open. */
typedef struct ulp_fused {
    uint8_t length;       /* L, products in one sum */
    uint8_t fraction;     /* F, bits kept below Emax */
    uint8_t kept;         /* fraction bits of the rounded result: 23, 10, or 13 for E8M13 in binary32 */
    uint8_t align;        /* ulp_mode of the alignment: rz */
    uint8_t output;       /* ulp_mode of the final rounding: rz, where only 2^(emax+1) and beyond is Inf, or rne */
    uint8_t late;         /* 2 L products in two sums from zero, k = 0, 1 (mod 4), then k = 2, 3; c is added last, rne:
                             fp8 through fp16 units */
    uint8_t group;        /* products summed exactly before their block scales apply (mxf4, nvf4); 0: no groups */
    uint8_t signed_zero;  /* a negative result that becomes zero is -0; open, default +0 */
    int16_t floor;        /* the lowest Emax; open */
    int16_t zero_operand; /* exponent that an operand of zero counts with in Emax; open, default none: skipped */
    int16_t zero_product; /* exponent that a product of zero counts with; open, default none */
    int16_t zero_c;       /* exponent that c = 0 counts with; open, default none */
} ulp_fused;

enum { ULP_DATAPATH_NAME_MAX = 96, ULP_EXPLAIN_MAX = 400 };

/* A datapath. The first block decides, the second is derived by ulp_datapath_init. Plain data, no pointers. */
typedef struct ulp_datapath {
    char name[ULP_DATAPATH_NAME_MAX];
    uint8_t kind;           /* ulp_datapath_kind */
    ulp_format accumulator; /* every partial sum is a value of this format */
    ulp_rule rule;          /* of the accumulation; ALIGNED: see fused.output */
    uint32_t length;        /* CHUNKED: products in a chunk; SERIAL: products added at once, 1 or more */
    uint32_t promote; /* every so many products the partial sum is added to one in binary32, rne, and starts again from
                         +0; 0: never (DeepSeek-AI 2024, arXiv 2412.19437, section 3.3.2) */
    uint8_t has_inputs; /* a and b are values of the formats below; else any binary64 values */
    ulp_format a, b;
    int32_t zero_a, zero_b; /* zero points: the product is (a - zero_a)(b - zero_b); integers only */
    ulp_fused fused;
    uint8_t scale_block; /* products that share a scale of a and one of b; 0: no scales */
    ulp_format scale;    /* of the scales; the sign of a scale is ignored */
    uint16_t native;     /* NATIVE: the row of the device's list of its own products */
    uint64_t nan_code;   /* the code of a NaN result; 0: the format's canonical one */

    ulp_format result;      /* of start values and results: the accumulator's, binary32 under promotion */
    ulp_format rounded;     /* ALIGNED: the accumulator's with kept + 1 bits of precision */
    uint32_t step;          /* products that one step takes; fewer at the end count as padded with zeros */
    uint8_t a_prec, b_prec; /* ALIGNED: of the significands that are multiplied */
    int16_t a_emin, b_emin; /* ALIGNED: their lowest exponents; subnormals keep it */
} ulp_datapath;

/* Derive the second block of *datapath and check both: ULP_NOT_IN_RANGE for lengths that do not fit, ULP_UNSUPPORTED,
 * or what ulp_rule_check says. */
ulp_status ulp_datapath_init(ulp_datapath *datapath);

/* The datapath called `text`, in any case; a mode may carry its number of random bits: serial:fp16:sr/8.
 * ULP_BAD_NAME, ULP_NOT_IN_RANGE, or what the format parser says. */
ulp_status ulp_datapath_parse(ulp_datapath *datapath, const char *text);

/* The device's own product called `text`, "native:mma:fp16", as a datapath that the backend "cuda" takes where it takes
 * others; no other backend does (ULP_UNSUPPORTED), and ulp_dot gives NaN. ULP_BAD_NAME; ULP_NO_DEVICE without a device,
 * or where it lacks this; ULP_NOT_IN_RANGE for a bad ULPLAB_CUDA_DEVICE. Then `why` is a sentence. */
ulp_status ulp_datapath_native(ulp_datapath *datapath, const char *text, char why[ULP_EXPLAIN_MAX]);

/* Whether a name is one of those: it begins with native:, in any case. */
int ulp_datapath_is_native(const char *text);

/* What keeps `text` from being a datapath and what is allowed there, in a sentence or two: "h100-fp16: 'F=200': F is a
 * whole number from 0 to 40". Empty if it is one. */
void ulp_datapath_explain(char to[ULP_EXPLAIN_MAX], const char *text);

/* The name and fields of the hardware row called exactly `text`, before ulp_datapath_init; ULP_BAD_NAME. The unit may
 * have another name in `text`: h100-fp16-wgmma and h100-fp16-mma are h100-fp16. */
ulp_status ulp_datapath_row(ulp_datapath *datapath, const char *text);

/* The forms of names that ulp_datapath_parse knows, one per line, for messages and help; settings are not among them.
 */
const char *ulp_datapath_names(void);

/* The reference text of the settings ":key=value" that may end a name. */
void ulp_datapath_settings_help(const ulp_help *to);

/* The rows that stand for hardware, one for each pair of input formats: datapath `i`; ULP_BAD_ARGUMENT past the end and
 * for NULL. */
ulp_status ulp_datapath_get(size_t i, ulp_datapath *datapath);

/* Random words that one output of k products uses: one per rounding under `rule`, in the order of the roundings. Those
 * of output (i,j) of an (m,n) result start at index stream.first + (i n + j) words. */
uint64_t ulp_datapath_words(const ulp_datapath *datapath, uint64_t k);

/* Scales of one output's operands: one for each scale_block products, ceil(k / scale_block) of them; NULL means ones.
 */
typedef struct ulp_scales {
    const double *a, *b;
} ulp_scales;

/* One whole sum, the definition that every kernel equals: c + a (k) b (k); its random words start at index
 * stream.first, and {0} is any stream where nothing is random. Values have to be of the datapath's formats: nothing
 * here rounds them or looks (the backend's gemm does, and answers ULP_NO_CODE). */
double ulp_dot(const ulp_datapath *datapath, double c, const double *a, const double *b, size_t k, ulp_scales scales,
               ulp_stream stream);

/* The code of a result in datapath->result, NaN as the hardware writes it; what ulp_encode says. */
ulp_status ulp_datapath_code(uint64_t *code, double result, const ulp_datapath *datapath);

#ifdef __cplusplus
}
#endif
#endif

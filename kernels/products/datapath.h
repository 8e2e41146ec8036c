/* datapath.h - how a sum of products is formed, as data.
 *
 * A datapath defines the result of every output of a GEMM, element by element: the sum over k = 0, 1, ... of a[k] b[k],
 * in the order of the datapath, from a start value c. Tiles, threads, vectors and devices may not change a bit of the
 * result. sum.h has the definition, one step function for host and device. ulp_datapath_names() lists the names of
 * datapaths on the command line.
 */
#ifndef ULP_DATAPATH_H
#define ULP_DATAPATH_H

#include "formats/round.h"
#include "base/key_values.h"

ULP_C_BEGIN

typedef enum ulp_datapath_kind {
    ULP_SERIAL, /* acc <- round(acc + a b); with `length` > 1, acc + the exact sum of `length` products, rounded once */
    ULP_SPLIT,  /* acc <- round(acc + round(a b)) */
    ULP_CHUNKED,  /* sums of `length` products, each from +0, and a serial sum of these sums from c (Wang et al. 2018,
                     arXiv 1812.08011, section 3.1) */
    ULP_PAIRWISE, /* a binary tree over the rounded products: the size of the left part is the largest power of two
                     below the number of products; c is added last (Higham 2002, Accuracy and Stability, section 4.2) */
    ULP_KAHAN,    /* y = round(a b - e), t = round(acc + y), e = round(round(t - acc) - y), acc = t (Kahan 1965,
                     doi:10.1145/363707.363723) */
    ULP_EXACT,    /* one rounding of the exact sum of c and all products, for any number and range of products */
    ULP_ALIGNED,  /* sums of products and the accumulator, aligned, truncated, added, rounded once: Tensor Cores */
    ULP_CHAINS,   /* the products of an instruction in chains, with a rounding after each addition */
    ULP_PAIRS,    /* acc <- round(acc + s0 + s1 + ...); s0, s1, ... are sums of two neighbouring products of integers of
                     8 bits, each clamped to 16 bits or modulo 2^16: VPMADDUBSW, VPMADDWD by ones, VPADDD of x86 */
    ULP_NATIVE    /* a native product, defined by a machine; only the machine's backend offers it */
} ulp_datapath_kind;

/* No exponent: an operand that does not count in the alignment, or no floor. */
enum { ULP_NO_EXPONENT = INT16_MIN };

/* Native products of the processor: `native` of a datapath is this number and the row of kernels/cpu/native/native.c.
 * Numbers below are rows of kernels/cuda/native_rows.h. */
enum { ULP_NATIVE_OF_CPU = 0x8000 };

/* The largest number of products in a step. */
enum { ULP_STEP_MAX = 64 };

/* One fused sum of products, as Tensor Cores form it (facts common to all: Fasi et al. 2021, doi:10.7717/peerj-cs.330;
 * Xie et al. 2025, arXiv 2511.10909; Khattak and Mikaitis 2025, arXiv 2512.07004). Products are exact and not
 * normalised. Emax is the largest exponent of a non-zero term. Each term becomes a multiple of 2^(Emax - fraction). The
 * terms are added exactly, and the sum is rounded once. A field is marked open if no measurement has determined it. */
typedef struct ulp_fused {
    uint8_t length;   /* L, products in one sum */
    uint8_t fraction; /* F, bits kept below Emax */
    uint8_t kept;     /* fraction bits of the rounded result: 23, 10, or 13 for E8M13 in binary32 */
    uint8_t align;    /* ulp_mode of the alignment: rz */
    uint8_t output; /* ulp_mode of the final rounding: rne, or rz, where only 2^(emax+1) and larger values become Inf */
    uint8_t c_last; /* 1: the sum starts at +0; c is added last, rounded in the mode `output` */
    uint8_t late;   /* 1: 2 L products in two sums, the second starts at the first: k = 0, 1 (mod 4), then k = 2, 3; the
                       first starts at zero, c is added last, rne: fp8 on fp16 units */
    uint8_t group;  /* products summed exactly before their block scales apply (mxf4, nvf4); 0: no groups */
    uint8_t signed_zero;  /* 1: a negative result that becomes zero is -0; open, default 0 */
    int16_t floor;        /* the lowest Emax; open */
    int16_t zero_operand; /* exponent of a zero operand in Emax; open, default none: not counted */
    int16_t zero_product; /* exponent of a zero product in Emax; open, default none */
    int16_t zero_c;       /* exponent of c = 0 in Emax; open, default none */

    /* The one-sided sum of AMD CDNA3 (one_sided.h); join = 0: c is a term of the sum above. */
    uint8_t join;   /* bits kept below the exponent of products and c where their sum meets c, rounded down; open */
    uint8_t normal; /* bits kept below the exponent of the normalised sum, rounded down, before the final rounding */
    uint8_t parts;  /* product k belongs to part k mod `parts`; each part is aligned to its own largest exponent */
    uint8_t c_cut;  /* 1: c counts as zero if its exponent is below that of the sum by more than fraction + 1 */
} ulp_fused;

/* The treatment of subnormal operands and start values. */
typedef enum ulp_flush_input { ULP_KEEP_INPUT, ULP_FLUSH_SIGNED, ULP_FLUSH_POSITIVE } ulp_flush_input;

/* The treatment of tiny results, which are below the smallest normal number. A flushed result keeps its sign. */
typedef enum ulp_flush_output {
    ULP_KEEP_OUTPUT,
    ULP_FLUSH_BEFORE, /* the exact result is tiny */
    ULP_FLUSH_AFTER,  /* the result rounded with an unbounded exponent is tiny */
    ULP_FLUSH_ROUNDED /* the rounded result is subnormal */
} ulp_flush_output;

/* The sum of an instruction with a rounding after each addition: the matrix and dot-product instructions of x86, Arm
 * and AMD CDNA2. `term` products form a term, their exact sum. Terms t, t + lanes, t + 2 lanes, ... form a chain. Then
 * the results of the chains are added as a binary tree of neighbours. datapath->rule has the mode of all roundings. */
typedef struct ulp_chains {
    uint8_t length;   /* products of an instruction */
    uint8_t term;     /* products of a term */
    uint8_t fused;    /* 1: chain + term is rounded once; 0: each term is rounded before it is added */
    uint8_t lanes;    /* number of chains, a power of two */
    uint8_t swapped;  /* 1: terms 1, 0, 3, 2, 5, 4, ... */
    uint8_t c_last;   /* 1: chains start at +0, a chain of a single term is this term, and c is added last; 0: the first
                         chain starts at c */
    uint8_t flush_ab; /* ulp_flush_input of a and b, below the smallest normal numbers of their formats */
    uint8_t flush_c;  /* ulp_flush_input of the start value */
    uint8_t flush;    /* ulp_flush_output of every rounding */
    uint8_t shift;    /* all products are times 2^-shift */
    uint8_t saturate; /* 1: a finite sum beyond the range becomes the largest number */
} ulp_chains;

enum { ULP_DATAPATH_NAME_MAX = 96, ULP_EXPLAIN_MAX = 400 };

/* A datapath, plain data without pointers. The first group of fields decides; ulp_datapath_init derives the second
 * group. */
typedef struct ulp_datapath {
    char name[ULP_DATAPATH_NAME_MAX]; /* the canonical text that ulp_datapath_print writes */
    uint8_t kind;                     /* ulp_datapath_kind */
    ulp_format accumulator;           /* every partial sum is a value of this format */
    ulp_rule rule;                    /* rule of the accumulation; ALIGNED: see fused.output */
    uint32_t length;  /* CHUNKED: products in a chunk; SERIAL: products of an exact sum, at least 1; PAIRS: products of
                         an instruction, even */
    uint32_t promote; /* after each `promote` products the partial sum is added to a binary32 total, rne, and starts
                         again from +0; 0: never (DeepSeek-AI 2024, arXiv 2412.19437, section 3.3.2) */
    uint32_t split_k; /* N: the products are divided among N parts, which are summed apart (split_k.h); 0: one sum */
    ulp_format split_k_format; /* with split_k: the sum of a part is rounded to this format, rne */
    uint8_t has_inputs;        /* 1: a and b are values of the formats below; 0: any binary64 values */
    ulp_format a, b;
    uint8_t pairs_wrap; /* PAIRS: 1: sums of pairs are modulo 2^16; 0: they are clamped, as VPMADDUBSW does */
    uint8_t words; /* N: operands are binary32 values, split into N words each (multiword.h); 0: operands of a row */
    uint8_t words_cut;         /* 1: words are rounded toward zero; 0: to nearest */
    uint8_t words_small_first; /* 1: the products of the smallest words are added first */
    int32_t zero_a, zero_b;    /* zero points: the product is (a - zero_a)(b - zero_b); integers only */
    ulp_fused fused;           /* ALIGNED */
    ulp_chains chains;         /* CHAINS */
    uint8_t scale_block;       /* products that share a scale of a and one of b; 0: no scales */
    ulp_format scale;          /* format of the scales; the sign of a scale is ignored */
    uint16_t native;           /* NATIVE: the row of the machine's list of native products */
    uint64_t nan_code;         /* code of a NaN result; 0: the canonical NaN of the format */

    ulp_format word_a, word_b; /* with words: the formats of the words; a and b are binary32 */
    ulp_format result;         /* format of start values and results: the accumulator's, or binary32 under promotion */
    ulp_format split_k_total;  /* with split_k: binary32 or binary64, in which parts and c are added */
    ulp_format rounded;        /* ALIGNED: the accumulator's format with kept + 1 bits of precision */
    uint32_t step; /* products in a step; the last step may have fewer, and zeros replace the missing products */
    uint8_t a_prec, b_prec; /* ALIGNED: precision of the significands that are multiplied */
    int16_t a_emin, b_emin; /* ALIGNED: the lowest exponents of these significands; subnormals have this exponent */
} ulp_datapath;

/* Derives the second group of fields of *datapath and checks both groups. Returns ULP_NOT_IN_RANGE for lengths that do
 * not fit, ULP_UNSUPPORTED, or the status of ulp_rule_check. */
ulp_status ulp_datapath_init(ulp_datapath *datapath);

/* The datapath called `text`, in upper or lower case. A mode may have its number of random bits: serial:fp16:sr/8.
 * Returns ULP_BAD_NAME, ULP_NOT_IN_RANGE, or the status of the format's parser. */
ulp_status ulp_datapath_parse(ulp_datapath *datapath, const char *text);

/* The datapath "fp32": a serial sum in binary32, to nearest even. */
void ulp_datapath_fp32(ulp_datapath *datapath);

/* Whether two datapaths are the same. The canonical text says everything about a datapath. */
int ulp_datapath_equal(const ulp_datapath *a, const ulp_datapath *b);

/* Writes the canonical text of a datapath: the row, form or native product that datapath->name begins with, then
 * ":key=value" for each setting with another value than the row has, in the order of `ulp help datapaths`. The parser
 * makes an equal datapath of the text. Returns ULP_BAD_ARGUMENT if the text does not fit, and ULP_BAD_NAME if
 * datapath->name begins with no row or form. */
ulp_status ulp_datapath_print(char *text, size_t size, const ulp_datapath *datapath);

/* The native product called `text` as a datapath: "native:avx512-bf16" of the processor, "native:mma:fp16" of a GPU.
 * Only the backend "cpu" or "cuda" offers the datapath; the other returns an error, and ulp_dot gives NaN. Returns
 * ULP_BAD_NAME for an unknown name, ULP_NO_DEVICE if there is no device or the machine lacks the product, and
 * ULP_NOT_IN_RANGE for a bad ULPLAB_CUDA_DEVICE. A failure writes a sentence to error (may be NULL). */
ulp_status ulp_datapath_native(ulp_datapath *datapath, const char *text, ulp_error *error);

/* Whether a name is the name of a native product: it begins with native: in upper or lower case. */
int ulp_datapath_is_native(const char *text);

/* Writes the reason why `text` is not a datapath, and the allowed values, in one or two sentences: "h100-fp16: 'F=200':
 * F is a whole number from 0 to 40". The error is empty, and the status ULP_OK, if `text` is a datapath. */
ulp_status ulp_datapath_explain(ulp_error *error, const char *text);

/* The name and fields of the hardware row called exactly `text`, before ulp_datapath_init. Returns ULP_BAD_NAME for an
 * unknown name. The unit may have another name in `text`: h100-fp16-wgmma and h100-fp16-mma are h100-fp16. */
ulp_status ulp_datapath_row(ulp_datapath *datapath, const char *text);

/* The forms of names that ulp_datapath_parse knows, without settings, one per line, for messages and help. */
const char *ulp_datapath_names(void);

/* Prints the help text of the settings ":key=value" at the end of a name. */
void ulp_datapath_settings_help(const ulp_help *to);

/* Datapath `i` of the hardware rows, with one datapath for each pair of input formats. Returns ULP_BAD_ARGUMENT past
 * the end and for NULL. */
ulp_status ulp_datapath_get(size_t i, ulp_datapath *datapath);

/* The number of random words of one output of k products: one for each rounding under `rule`, in the order of the
 * roundings. The words of output (i,j) of an (m,n) result start at index stream.first + (i n + j) words. */
uint64_t ulp_datapath_words(const ulp_datapath *datapath, uint64_t k);

/* The products of a sum: operands and their scales, one scale for each scale_block products, ceil(k / scale_block) in
 * all. NULL means that all scales are 1. */
typedef struct ulp_products {
    const double *a, *b; /* (k) */
    size_t k;
    const double *a_scales, *b_scales;
} ulp_products;

/* One whole sum, c + the products: the definition for every kernel. Its random words start at index stream.first; {0}
 * is a stream for sums without random words. All values must be values of the datapath's formats: ulp_dot neither
 * rounds nor checks values. (The backend's gemm checks values and returns ULP_NO_CODE.) */
double ulp_dot(const ulp_datapath *datapath, double c, ulp_products products, ulp_stream stream);

/* The code of a result in the format datapath->result, with the hardware's code for NaN. Returns the status of
 * ulp_encode. */
ulp_status ulp_datapath_code(uint64_t *code, double result, const ulp_datapath *datapath);

ULP_C_END
#endif

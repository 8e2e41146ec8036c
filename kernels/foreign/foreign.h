/* foreign.h - the library for other languages: functions of pointers, numbers and texts.
 *
 * Languages call C by a description of each function (ctypes in Python, ccall in Julia, mex in Octave). Structures and
 * enumerators would have to be described there a second time. Here every argument is an integer, a double, a text or a
 * pointer to an array, and a structure is an object of the library: ulp_foreign_NAME() makes it, and
 * ulp_foreign_release() frees it. Objects do not change, so that threads may share them.
 *
 * A function that returns ulp_status returns 0 if all is well. ulp_foreign_error() then has the reason of the failure
 * as a sentence that names the value and the allowed values.
 *
 * Arrays are contiguous. `wide` is 1 for arrays of binary64 and 0 for arrays of binary32. `seed`, `stream` and `first`
 * are the fields of ulp_stream.
 */
#ifndef ULP_FOREIGN_H
#define ULP_FOREIGN_H

#include "formats/quantize.h"
#include "kernels/backend.h"
#include "kernels/probe/probe.h"

ULP_C_BEGIN

/* The reason of the last failure on the calling thread. */
const char *ulp_foreign_error(void);

/* Frees an object. NULL is allowed. */
void ulp_foreign_release(void *object);

/* ---- words ---- */

enum { ULP_FOREIGN_MODES, ULP_FOREIGN_POLICIES, ULP_FOREIGN_OPERATIONS, ULP_FOREIGN_SCALE_RULES };

/* Word i of a list above. NULL past the end. */
const char *ulp_foreign_word(int list, size_t i);

/* ---- formats ---- */

/* The fields of a format: X(name) for integers, in this order. */
#define ULP_FOREIGN_FORMAT_INTEGERS(X)                                                                                 \
    X(bits)                                                                                                            \
    X(prec)                                                                                                            \
    X(bias)                                                                                                            \
    X(is_signed)                                                                                                       \
    X(is_fixed)                                                                                                        \
    X(frac_bits)                                                                                                       \
    X(has_inf)                                                                                                         \
    X(has_zero)                                                                                                        \
    X(has_neg_zero)                                                                                                    \
    X(has_subnormals)                                                                                                  \
    X(zero_binade)                                                                                                     \
    X(nan_codes)                                                                                                       \
    X(overflow)                                                                                                        \
    X(taper)                                                                                                           \
    X(exponent_bits)                                                                                                   \
    X(emin)                                                                                                            \
    X(emax)                                                                                                            \
    X(qmin)                                                                                                            \
    X(fits_binary32)                                                                                                   \
    X(max_code)                                                                                                        \
    X(inf_code)                                                                                                        \
    X(nan_code)
#define ULP_FOREIGN_FORMAT_NUMBERS(X)                                                                                  \
    X(max)                                                                                                             \
    X(lowest)                                                                                                          \
    X(min_normal)                                                                                                      \
    X(min_positive)

/* The names of these fields, separated by blanks. */
const char *ulp_foreign_format_names(int of_integers);

/* Makes the format called `name` (ulp_format_parse). */
ulp_status ulp_foreign_format(ulp_format **format, const char *name);

/* The name and the fields of a format, in the order of the names. */
const char *ulp_foreign_format_fields(const ulp_format *format, uint64_t *integers, double *numbers);

/* A text of registered format i: the name, the aliases separated by blanks, the source. NULL past the end. */
enum { ULP_FOREIGN_NAME, ULP_FOREIGN_ALIASES, ULP_FOREIGN_SOURCE };
const char *ulp_foreign_format_text(size_t i, int which);

/* A text of row i of the names in other tools (ulp_other_name): the name, the format or "", the tools. NULL past the
 * end. */
enum { ULP_FOREIGN_OTHER_NAME, ULP_FOREIGN_OTHER_FORMAT, ULP_FOREIGN_OTHER_WHERE };
const char *ulp_foreign_other_name(size_t i, int which);

/* y (n) = the next value of the format above x (n), or below if up = 0. */
void ulp_foreign_next(const ulp_format *format, double *y, const double *x, size_t n, int up);

/* y (n) = the spacing of the format at x (n). */
void ulp_foreign_spacing(const ulp_format *format, double *y, const double *x, size_t n);

/* y (n) = the values of codes (n), each an unsigned integer of `width` bytes: 1, 2, 4 or 8. */
ulp_status ulp_foreign_decode(const ulp_format *format, double *y, const void *codes, size_t width, size_t n);

/* codes (n) of `width` bytes = the codes of x (n). Fails with ULP_NO_CODE or ULP_NO_NAN, and sets *at to the index of
 * the element, if an element of x is not a value of the format. */
ulp_status ulp_foreign_encode(const ulp_format *format, void *codes, size_t width, const void *x, int wide, size_t n,
                              size_t *at);

/* The same for formats of at most 16 bits that fit binary32, and width 1 or 2, in the backend's vectors. */
ulp_status ulp_foreign_decode_floats(const ulp_format *format, float *y, const void *codes, size_t width, size_t n);

/* y (n) = the ordinals of the finite values x (n) among the values of the format (ulp_ordinal). Fails with ULP_NO_CODE,
 * and sets *at to the index. */
ulp_status ulp_foreign_ordinals(const ulp_format *format, int64_t *y, const double *x, size_t n, size_t *at);

/* ---- rounding and arithmetic ---- */

/* A format, a rule and a backend. */
typedef struct ulp_rounder ulp_rounder;

/* Makes a rounder. bits: random bits, 0 for 32. NULL for `mode`, `overflow` and `backend` are rne, default and cpu. */
ulp_status ulp_foreign_rounder(ulp_rounder **rounder, const char *format, const char *mode, const char *overflow,
                               int bits, const char *backend);

/* y (n) = x (n) rounded by a deterministic mode; y may be x. */
ulp_status ulp_foreign_round(const ulp_rounder *rounder, float *y, const float *x, size_t n);
ulp_status ulp_foreign_round64(const ulp_rounder *rounder, double *y, const double *x, size_t n);

/* The same in any mode. counts: NULL, or 7 numbers to which the fields of ulp_stats are added. */
ulp_status ulp_foreign_round_any(const ulp_rounder *rounder, void *y, const void *x, size_t n, int wide, uint64_t seed,
                                 uint64_t stream, uint64_t first, uint64_t *counts);

/* codes (n), of `width` bytes, 1 or 2 = the codes of x (n) rounded, in a format of at most 16 bits. Fails with
 * ULP_NO_NAN where a result is NaN and the format has none. */
ulp_status ulp_foreign_encode_rounded(const ulp_rounder *rounder, void *codes, size_t width, const float *x, size_t n,
                                      uint64_t seed, uint64_t stream, uint64_t first);

/* y (n) = the numbers of n texts, each followed by a zero byte, exact numbers that are rounded once (ulp_number_read).
 * Fails with the first text that is no number, and sets *at to its index. */
ulp_status ulp_foreign_round_texts(const ulp_rounder *rounder, double *y, const char *texts, size_t n, uint64_t seed,
                                   uint64_t stream, uint64_t first, size_t *at);

/* y (n) = op(a (n), b (n), c (n)), the exact result rounded once. An operation does not read operands that it does not
 * use. `op` is an index of ULP_FOREIGN_OPERATIONS. */
ulp_status ulp_foreign_map(const ulp_rounder *rounder, int op, void *y, const void *a, const void *b, const void *c,
                           size_t n, int wide, uint64_t seed, uint64_t stream, uint64_t first);

/* ---- sums of products ---- */

/* Makes the datapath called `name` (ulp_datapath_parse). */
ulp_status ulp_foreign_datapath(ulp_datapath **datapath, const char *name);

/* The canonical name of hardware row i, with one name for each pair of input formats. NULL past the end. The text is
 * valid until the next call on this thread. */
const char *ulp_foreign_datapath_row(size_t i);

/* The texts of a datapath: its canonical name, and the names of its formats: inputs a and b, scales, accumulator,
 * result; "" for a format that it does not have. */
enum {
    ULP_FOREIGN_D_NAME,
    ULP_FOREIGN_D_A,
    ULP_FOREIGN_D_B,
    ULP_FOREIGN_D_SCALE,
    ULP_FOREIGN_D_ACCUMULATOR,
    ULP_FOREIGN_D_RESULT
};
const char *ulp_foreign_datapath_text(const ulp_datapath *datapath, int which);

/* The integers of a datapath: products of a step; products that share a scale, 0 for none; whether results fit
 * binary32; whether sums use random words. */
enum { ULP_FOREIGN_D_STEP, ULP_FOREIGN_D_SCALE_BLOCK, ULP_FOREIGN_D_FITS_BINARY32, ULP_FOREIGN_D_STOCHASTIC };
int ulp_foreign_datapath_integer(const ulp_datapath *datapath, int which);

/* The number of random words of one sum of k products. */
uint64_t ulp_foreign_datapath_words(const ulp_datapath *datapath, uint64_t k);

/* The numbers of a product's shape (ulp_gemm_shape). */
enum {
    ULP_FOREIGN_M,
    ULP_FOREIGN_N,
    ULP_FOREIGN_K,
    ULP_FOREIGN_LDA,
    ULP_FOREIGN_LDB,
    ULP_FOREIGN_LDC,
    ULP_FOREIGN_A_TRANS,
    ULP_FOREIGN_B_TRANS,
    ULP_FOREIGN_ACCUMULATE,
    ULP_FOREIGN_SHAPE
};

/* C = A B under a datapath (ulp_backend_gemm); arrays of binary64 if wide. a_scales and b_scales may be NULL. */
ulp_status ulp_foreign_gemm(const ulp_datapath *datapath, const char *backend, void *c, const void *a, const void *b,
                            const uint64_t shape[ULP_FOREIGN_SHAPE], int wide, const float *a_scales,
                            const float *b_scales, uint64_t seed, uint64_t stream, uint64_t first);

/* ---- block-scaled formats ---- */

/* Makes the block format called `name` (ulp_block_parse). */
ulp_status ulp_foreign_block(ulp_block **block, const char *name);

/* A text of registered block format i, as of ulp_foreign_format_text. */
const char *ulp_foreign_block_text(size_t i, int which);

/* The name of a block format, of its element format, of its scale format, of its scale rule. */
enum { ULP_FOREIGN_B_NAME, ULP_FOREIGN_B_ELEMENT, ULP_FOREIGN_B_SCALE, ULP_FOREIGN_B_RULE };
const char *ulp_foreign_block_part(const ulp_block *block, int which);

/* Elements that share a scale. */
size_t ulp_foreign_block_size(const ulp_block *block);

/* The tensor scale for a largest magnitude (ulp_block_tensor_scale). */
float ulp_foreign_tensor_scale(const ulp_block *block, double amax);

/* elements (rows, n) and scales (rows, ceil(n / size)) = the codes of x (rows, n), binary64 if wide, else binary32:
 * blocks do not cross rows. `rounder` has the rule; its format does not count. */
ulp_status ulp_foreign_block_encode(const ulp_block *block, uint8_t *elements, uint8_t *scales, const void *x, int wide,
                                    size_t rows, size_t n, float tensor_scale, const ulp_rounder *rounder,
                                    uint64_t seed, uint64_t stream, uint64_t first);

/* y (rows, n) = the values of codes. */
ulp_status ulp_foreign_block_decode(const ulp_block *block, float *y, const uint8_t *elements, const uint8_t *scales,
                                    size_t rows, size_t n, float tensor_scale);

/* y (rows, columns) = the Hadamard transform of x (rows, columns) along rows, rounded by `rounder`
 * (functions/hadamard.h). signs: 0 none, 1 those of Transformer Engine, 2 those of the stream (sign_seed, sign_stream).
 */
ulp_status ulp_foreign_hadamard(const ulp_rounder *rounder, float *y, const float *x, size_t rows, size_t columns,
                                uint32_t g, int signs, int inverse, uint64_t sign_seed, uint64_t sign_stream,
                                uint64_t seed, uint64_t stream, uint64_t first);

/* ---- scaled quantisation ---- */

/* Makes a quantizer (ulp_quantizer_parse). rule: a scale rule or mse; NULL is the one of the name. percentile: as of
 * ulp_quantizer. */
ulp_status ulp_foreign_quantizer(ulp_quantizer **quantizer, const char *name, const char *scale, const char *rule,
                                 uint32_t percentile, float tensor_scale, int has_zero_point, int is_narrow);

/* The names of the element, of the scale format and of the scale rule. */
enum { ULP_FOREIGN_Q_ELEMENT, ULP_FOREIGN_Q_SCALE, ULP_FOREIGN_Q_RULE };
const char *ulp_foreign_quantizer_text(const ulp_quantizer *quantizer, int which);

/* The elements of a block (0: the name is that of an element), the bits of a code, the least and the largest integer
 * (both 0: no integers), the bits of the scale format. */
enum { ULP_FOREIGN_Q_SIZE, ULP_FOREIGN_Q_BITS, ULP_FOREIGN_Q_LOW, ULP_FOREIGN_Q_HIGH, ULP_FOREIGN_Q_SCALE_BITS };
int64_t ulp_foreign_quantizer_number(const ulp_quantizer *quantizer, int which);

/* Codes, scales and zero points (may be NULL) of x (ulp_quantize), and y of them (ulp_dequantize). shape: the three
 * lengths of the array, and of a tile. `rounder` has the rule. */
ulp_status ulp_foreign_quantize(const ulp_quantizer *quantizer, uint16_t *codes, double *scales, int32_t *zero_points,
                                const double *x, const uint64_t shape[6], const ulp_rounder *rounder, uint64_t seed,
                                uint64_t stream, uint64_t first);

/* The same of binary32 numbers, for codes of at most 8 bits, in the backend's vectors. */
ulp_status ulp_foreign_quantize_floats(const ulp_quantizer *quantizer, uint8_t *codes, double *scales,
                                       int32_t *zero_points, const float *x, const uint64_t shape[6],
                                       const ulp_rounder *rounder, uint64_t seed, uint64_t stream, uint64_t first);
ulp_status ulp_foreign_dequantize(const ulp_quantizer *quantizer, float *y, uint16_t *codes, double *scales,
                                  int32_t *zero_points, const uint64_t shape[6]);

/* The bytes of a block of a type of GGUF; 0: no type has this name. */
size_t ulp_foreign_ggml_bytes(const char *name);
ulp_status ulp_foreign_ggml_encode(const char *name, uint8_t *bytes, const float *x, size_t blocks);
void ulp_foreign_ggml_decode(const char *name, float *y, const uint8_t *bytes, size_t blocks);

/* ---- probing ---- */

/* A device: sets *code to the code, in the result format, of c + the sum of a (k) times b (k). Returns 0, or another
 * number to stop the probe. */
typedef int ulp_foreign_device(uint64_t *code, double c, const double *a, const double *b, size_t k);

/* Probes a device whose operands and results have formats of these names (ulp_probe_unit). *stopped becomes the number
 * that stopped the probe, else 0. */
ulp_status ulp_foreign_probe(ulp_probe **probe, ulp_foreign_device *device, const char *a, const char *b,
                             const char *result, int *stopped);

/* A text of property i of a probe: its name, its value in words, its meaning, how it was found. NULL past the end. The
 * text is valid until the next call on this thread. */
enum { ULP_FOREIGN_P_NAME, ULP_FOREIGN_P_VALUE, ULP_FOREIGN_P_MEANING, ULP_FOREIGN_P_HOW };
const char *ulp_foreign_property(const ulp_probe *probe, int i, int which);

/* Whether property i was found (ulp_found), its value, and the number of sums that the device formed. */
int ulp_foreign_found(const ulp_probe *probe, int i, int64_t *value);
uint64_t ulp_foreign_runs(const ulp_probe *probe);

ULP_C_END
#endif

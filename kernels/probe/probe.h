/* probe.h - the properties of a device that forms fused sums of products, found by running test vectors.
 *
 * The device is a callback. The prober knows only the formats of operands and results. It reports a property only if
 * the vectors that decide the property can be formed and distinguish the cases. Else the property is not reachable, and
 * `how` states the reason. The vectors follow Fasi et al. 2021 (doi:10.7717/peerj-cs.330), Khattak and Mikaitis 2025
 * (arXiv 2512.07004) and Xie et al. 2025 (arXiv 2511.10909).
 */
#ifndef ULP_PROBE_H
#define ULP_PROBE_H

#include "kernels/products/unit.h"

ULP_C_BEGIN

/* The value of a rounding that is stochastic in any mode. */
enum { ULP_STOCHASTIC = ULP_MODE_COUNT + 1 };

/* Values of ULP_P_SMALL_C and of ULP_P_PAIR. */
enum { ULP_SMALL_LOST, ULP_SMALL_DOWN, ULP_SMALL_UP, ULP_SMALL_TO_ZERO, ULP_SMALL_TO_ODD, ULP_SMALL_ANOTHER };
enum { ULP_PAIR_ASCENDING, ULP_PAIR_SECOND_FIRST, ULP_PAIR_TOGETHER, ULP_PAIR_LOST };

/* The properties: X(enumerator, name, words, meaning). `words`: the names of the values 0, 1, ... with bars between
 * them, or one of NUMBER; COUNT, a number where 0 means none; MODE, an ulp_mode or ULP_STOCHASTIC; CODE of the result
 * format.
 */
#define ULP_PROPERTIES(X)                                                                                              \
    X(ULP_P_LENGTH, "L", NUMBER, "products in one sum")                                                                \
    X(ULP_P_ORDER, "k order", "ascending|k mod 4 = 0 1 then 2 3|another", "which products a sum takes")                \
    X(ULP_P_GROUP, "group", NUMBER, "products added exactly before they are aligned; 1: each alone")                   \
    X(ULP_P_FRACTION, "F products", NUMBER, "fraction bits of a product kept below the largest exponent")              \
    X(ULP_P_FRACTION_C, "F c", NUMBER, "fraction bits of c kept below the largest exponent")                           \
    X(ULP_P_PLACE, "c", "in the sum|added last", "whether c is a term of the sum")                                     \
    X(ULP_P_ALIGN, "alignment", MODE, "what happens to the bits below F")                                              \
    X(ULP_P_NORMALISED, "products normalised", "no|yes", "whether 1.5 x 1.5 = 2.25 aligns at exponent 1, not 0")       \
    X(ULP_P_SUBNORMAL, "subnormal operand", "keeps emin|normalised", "the exponent that it aligns with")               \
    X(ULP_P_KEPT, "bits kept", NUMBER, "fraction bits of a result")                                                    \
    X(ULP_P_OUTPUT, "rounding", MODE, "how the sum is rounded to these bits")                                          \
    X(ULP_P_LAST, "rounding of c", MODE, "how the last addition is rounded where c is added last")                     \
    X(ULP_P_CARRY, "carries", "kept|lost", "whether sums above the largest term keep all bits")                        \
    X(ULP_P_MONOTONIC, "monotonic", "no violation|no", "whether a larger c never gives a smaller sum")                 \
    X(ULP_P_BETWEEN, "between sums", "rounded|carried on", "what one sum hands to the next")                           \
    X(ULP_P_PROMOTION, "promotion", COUNT, "products after which the partial sum leaves for an outer one")             \
    X(ULP_P_PERMUTED, "order inside", "does not count|counts", "whether operands of one sum may change places")        \
    X(ULP_P_SUBNORMAL_IN, "subnormals in", "honoured|flushed", "subnormal values of a and b")                          \
    X(ULP_P_SUBNORMAL_OUT, "subnormals out", "honoured|flushed", "subnormal values of c and of the result")            \
    X(ULP_P_INF_ZERO, "inf x 0", "nan|another", "the result with such a product")                                      \
    X(ULP_P_INF_INF, "inf - inf", "nan|another", "the result with such terms")                                         \
    X(ULP_P_NAN, "nan code", CODE, "the code of a NaN result")                                                         \
    X(ULP_P_OVERFLOW, "overflow", "inf from max + ulp|inf from max + ulp/2|stays max|wraps around|another",            \
      "the result beyond the range")                                                                                   \
    X(ULP_P_CANCEL, "overflow cancels", "yes|no", "whether products beyond the range may cancel")                      \
    X(ULP_P_ZEROS, "all -0", "+0|-0|another", "the sum of negative zeros")                                             \
    X(ULP_P_UNDERFLOW, "negative underflow", "+0|-0|another", "the result of a negative sum that rounds to zero")      \
    X(ULP_P_FLOOR, "floor", NUMBER, "the lowest exponent that terms are aligned at")                                   \
    X(ULP_P_ZERO_C, "zero c", NUMBER, "the exponent that c = 0 aligns with")                                           \
    X(ULP_P_ZERO_PRODUCT, "zero product", NUMBER, "the exponent that 0 x 0 aligns with")                               \
    X(ULP_P_ZERO_OPERAND, "zero operand", NUMBER, "the exponent that the 0 of a product 0 x b aligns with")            \
    X(ULP_P_SCALE, "scales", "of products only|of c too|another", "what block scales multiply")                        \
    X(ULP_P_SCALE_BLOCK, "scale block", NUMBER, "products that share a scale")                                         \
    X(ULP_P_SCALE_NAN, "nan scale", "nan|another", "the result with a scale of NaN")                                   \
    X(ULP_P_SHIFT, "shift", NUMBER, "bits by which every product is shifted down")                                     \
    X(ULP_P_SIGNS, "signs", "symmetric|not symmetric", "whether f(-x) = -f(x)")                                        \
    X(ULP_P_SMALL_C, "small c", "lost|rounded down|rounded up|rounded to zero|rounded to odd|another",                 \
      "what a c far below the products does to the sum")                                                               \
    X(ULP_P_PAIR, "pair", "ascending|second first|together|lost", "the order in which c meets the first two products") \
    X(ULP_P_SUBNORMAL_C, "subnormal c", "kept|flushed", "a subnormal c beside a normal product")                       \
    X(ULP_P_TINY, "tiny result", "kept|flushed", "a subnormal difference of normal terms")                             \
    X(ULP_P_FLUSH, "flush", "before rounding|after rounding|if rounded to a subnormal",                                \
      "which results just below the least normal number are flushed")                                                  \
    X(ULP_P_MINUS_ZERO, "all -1 x 0", "+0|-0|another", "the sum of c = -0 and products -1 x 0")                        \
    X(ULP_P_NEGATIVE_C, "negative tiny c", "kept|-0|+0|another", "a negative subnormal c beside a product of 0")       \
    X(ULP_P_PARTS, "parts", NUMBER, "groups of products that are aligned apart")                                       \
    X(ULP_P_BESIDE_C, "bits beside c", NUMBER, "bits of the products kept below the exponent of a larger c")           \
    X(ULP_P_BEFORE, "bits before rounding", NUMBER, "bits kept below the exponent of the sum until it is rounded")

typedef enum ulp_property_id {
#define ULP_PROPERTY_ID(id, name, words, meaning) id,
    ULP_PROPERTIES(ULP_PROPERTY_ID)
#undef ULP_PROPERTY_ID
        ULP_PROPERTY_COUNT
} ulp_property_id;

/* The certainty of a value. */
typedef enum ulp_found {
    ULP_NOT_REACHABLE, /* no vector of these formats decides */
    ULP_FOUND,         /* value */
    ULP_AT_LEAST,      /* the value or more: the vectors reach no further */
    ULP_AT_MOST        /* the value or less, possibly none */
} ulp_found;

typedef struct ulp_property {
    ulp_found found;
    int64_t value;
    char how[120]; /* the vector that was used, or the reason why there is none */
} ulp_property;

typedef struct ulp_probe {
    ulp_property property[ULP_PROPERTY_COUNT];
    uint64_t runs; /* number of sums that the device formed */
} ulp_probe;

/* Probes a device. Returns the status of its callback if the status is not ULP_OK. */
ulp_status ulp_probe_unit(ulp_probe *probe, const ulp_unit *unit);

/* Whether a device forms sums of products at all, by sums of a few ones. Returns ULP_OK, ULP_UNSUPPORTED with the first
 * sum that is wrong in `error`, or the status of the callback. */
ulp_status ulp_probe_sums(ulp_error *error, const ulp_unit *unit);

/* The name of a property ("L", "F products", ...) and its meaning. NULL past the end. */
const char *ulp_property_name(ulp_property_id id);
const char *ulp_property_meaning(ulp_property_id id);

/* Writes a value in words: "25", "rz", "in the sum", "at least 23", "not reachable". */
void ulp_property_text(char to[64], ulp_property_id id, ulp_found found, int64_t value);

ULP_C_END
#endif
